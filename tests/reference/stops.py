"""Why a run stops: the closed list of causes, and which of them a proved plan may meet."""

from __future__ import annotations

#: What may stop a proved plan.
ALLOWED = frozenset({"gate", "person", "budget", "limit", "world"})

#: What the linter refuses, or names as an assumption.
NEVER = frozenset(
    {
        "missing",
        "exists",
        "path",
        "argument",
        "type",
        "value",
        "capability",
        "protected",
        "encoding",
        "diff",
        "unavailable",
        "unbound",
        "automaton",
        "unfinished",
        "stack",
        "name",
        "syntax",
        "registry",
    }
)

#: The `failed` of a kept failure (docs/branches.md) for a cause; a cause that is not here ends the run wherever it is met.
KINDS = {
    "gate": "require",
    "value": "value",
    "limit": "bound",
    "stalled": "stalled",
    **dict.fromkeys(
        (
            "missing",
            "exists",
            "path",
            "argument",
            "type",
            "protected",
            "encoding",
            "diff",
            "unavailable",
            "capability",
            "world",
            "person",
        ),
        "failure",
    ),
}


class Stop(Exception):
    """The run (or the branch that keeps its failures) ends here.

    `cause` is one of `ALLOWED` or `NEVER`, `why` a sentence, `path` the file that it is about, if any.
    The interpreter adds `at` (the address) and `place` (plan, line).
    """

    def __init__(self, cause: str, why: str, path: str | None = None) -> None:
        super().__init__(f"{cause}: {why}")
        assert cause in ALLOWED or cause in NEVER, cause
        self.cause, self.why, self.path = cause, why, path
        self.at: str | None = None
        self.place: tuple[str, int] | None = None
