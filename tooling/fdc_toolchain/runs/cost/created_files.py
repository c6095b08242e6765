"""The files that the steps of a program may have created: those that a loop over files finds in addition to the present ones.

A known path is one file. A computed path can be any path with its known prefix and suffix; it may be another
one each time, so it counts as often as its step runs. What is deleted is not subtracted: the numbers are an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.values import resolved
from ...named_tuples import NamedTuple
from ...program.instructions import every
from ...program.model import Instruction, PlanBody, Program
from ...text.glob_match import Tokens, compare, compiled, fits, plain

_CREATES = ("create", "write")
_ANYTHING = compiled([(False, "**")])


class Made(NamedTuple):
    """What may have been created: known paths, computed ones with how often (None: the number is unknown).

    `doubts` are the steps that may have changed any file; `all`: it has everything that the program may ever create.
    """

    paths: frozenset[str] = frozenset()
    computed: tuple[tuple[Tokens, int | None], ...] = ()
    doubts: tuple[str, ...] = ()
    all: bool = False

    def joined(self, other: Made) -> Made:
        """The union: after either of two ways."""
        if self == other:
            return self
        counts = dict(self.computed)
        for tokens, count in other.computed:
            mine = counts.get(tokens, 0)
            counts[tokens] = None if mine is None or count is None else max(mine, count)
        return self._replace(
            paths=self.paths | other.paths,
            computed=tuple(counts.items()),
            doubts=_both(self, other),
        )

    def grown(self, after: Made, times: int) -> Made:
        """After `times` rounds, each of which changes this to `after`."""
        before = dict(self.computed)
        counts = dict(self.computed)
        for tokens, count in after.computed:
            start = before.get(tokens, 0)
            counts[tokens] = (
                None if start is None or count is None else start + times * (count - start)
            )
        return after._replace(computed=tuple(counts.items()))

    def widened(self, after: Made) -> Made:
        """After any number of rounds, each of which changes this to `after`."""
        before = dict(self.computed)
        counts = tuple(
            (tokens, count if before.get(tokens, 0) == count else None)
            for tokens, count in after.computed
        )
        return after._replace(computed=counts)


def creates(
    item: Instruction,
    names: Mapping[str, object],
    made: Made,
    program: Program,
    plan: PlanBody,
) -> Made:
    """Adds what a step may create."""
    tool = program["tools"][item["tool"]]
    declared = tool.get("parameters", ())
    touches = [
        (row["access"], item["args"].get(row["name"])) for row in declared if row.get("access")
    ]
    for access, template in touches:
        if access not in _CREATES or template is None:
            continue
        path = resolved(template, names)
        if _is_known(template, names):
            made = made._replace(paths=made.paths | {plain(path)})
        else:
            counts = dict(made.computed)
            tokens = _computed(template, names)
            before = counts.get(tokens, 0)
            counts[tokens] = None if before is None else before + 1
            made = made._replace(computed=tuple(counts.items()))
    if _may_change_anything(tool, bool(touches)):
        doubt = f"{plan['path']}:{item['line']} ({item['tool']})"
        if doubt not in made.doubts:
            made = made._replace(doubts=tuple(sorted((*made.doubts, doubt))))
    return made


def fixed(program: Program) -> Made:
    """Everything that the steps of a program may create."""
    made = Made(all=True)
    for plan in program["plans"].values():
        for item in every(plan["body"]):
            if item["op"] == "step":
                made = creates(item, {}, made, program, plan)
    return made._replace(computed=tuple((tokens, None) for tokens, _ in made.computed))


def matching(made: Made, glob: Tokens) -> tuple[frozenset[str], int] | None:
    """The known paths that a glob may match, and the number of computed ones; None if they cannot be counted."""
    number = 0
    for tokens, count in made.computed:
        if compare(tokens, glob) is not False:
            if count is None:
                return None
            number += count
    return frozenset(path for path in made.paths if fits(path, glob)), number


def pattern(glob: str) -> Tokens:
    """Every path that a glob of the runner may match, and perhaps more: a set of characters counts as anything."""
    segments = ["*" if "[" in segment else segment for segment in plain(glob).split("/")]
    return compiled([(False, "/".join(segments))])


def _is_known(template: list[Any], names: Mapping[str, Any]) -> bool:
    return all(
        isinstance(part, str) or len(part["ref"]) == 1 and names.get(part["ref"][0]) is not None
        for part in template
    )


def _computed(template: list[Any], names: Mapping[str, Any]) -> Tokens:
    """A pattern of every path that a template may give: its known prefix up to a slash, anything, its known suffix."""
    known = [resolved([part], names) if _is_known([part], names) else None for part in template]
    head, tail = known[0] or "", known[-1] or ""
    if template[0] == {"ref": ["run"]}:
        head = "runs/"
    head = plain(head[: head.rfind("/") + 1])
    tail = tail[tail.rfind("/") + 1 :]
    if ".." in head or not tail.strip("."):
        return _ANYTHING if ".." in head else compiled([(True, head), (False, "**")])
    return compiled([(True, head), (False, "**"), (True, tail)])


def _may_change_anything(tool: Mapping[str, Any], touches: bool) -> bool:
    """Whether a tool may change any file: commands, and tools whose effect names no file. Messages to a person change none."""
    if tool.get("writes") == "unknown":
        return True
    spoken = any(row.get("sink") in ("user", "message") for row in tool.get("parameters", ()))
    return tool["effect"] in ("idempotent", "once") and not touches and not spoken


def _both(one: Made, other: Made) -> tuple[str, ...]:
    return one.doubts if one.doubts == other.doubts else tuple(sorted({*one.doubts, *other.doubts}))
