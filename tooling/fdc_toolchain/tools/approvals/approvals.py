"""Approvals and the steps after them: what is shown, what it binds, and whether it is still valid.

`workspace.preview` determines the steps after an approval. The answered question's content is binding, also if the
answer comes later; if one of its files has changed by then, the answer is not valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...engine.events import Failure, Outcome, Perform
from ...engine.files.released import NONE, Released
from ...program.model import Program
from ...text.glob_match import plain
from ...workspace import preview, shown_files
from ...workspace.failure import ToolFailure
from ...workspace.files import Root
from .. import intent_files
from ..context import Context, text

if TYPE_CHECKING:
    from ...engine.state import RunState
    from ...program.model import ToolRow


class Approvals:
    """The approvals of a run. `shown`: by address, what answered approvals showed."""

    def __init__(
        self,
        program: Program,
        root: Root,
        shown: Mapping[str, dict[str, object]],
        perform: Callable[[Perform, Root], object],
        scrub: Callable[[object], object],
    ) -> None:
        """`perform` performs a reading step, `scrub` removes secrets from a value."""
        self.state: RunState | None = None
        self._program, self._root, self._before = program, root, shown
        self._perform, self._scrub = perform, scrub
        self._shows: dict[str, dict[str, Any]] = {}

    def about(self, effect: Perform, declared: ToolRow, answered: bool) -> dict[str, object] | None:
        """What an approval shows, None for any other step: as it was when the question was put that is `answered`, otherwise as
        it is now. Raises ToolFailure."""
        want = None if self.state is None else self.state.running.get(effect.address)
        if want is None or not declared.get("approves"):
            return None
        if answered and effect.address in self._before:
            shows = self._before[effect.address]
        else:
            try:
                shows = preview.preview(self._program, want.strand, self._root, self._perform)
            except shown_files.TooMuch as much:
                raise ToolFailure("size", str(much)) from None
            shows = {**shows, "rows": self._scrub(shows["rows"])}
        self._shows[effect.address] = shows
        return shows

    def forget(self, address: str) -> dict[str, object] | None:
        """The approval was not given; keeps what it showed."""
        return self._shows.pop(address, None)

    def bound(self, address: str, outcome: Outcome) -> Outcome:
        """The outcome of a step; of an approval that was given, with what it binds, or that it is one of nothing by now."""
        shows = self._shows.pop(address, None)
        if shows is None or outcome.failure is not None:
            return outcome
        changed = preview.differences(shows, self._root)
        if changed:
            said = f"{changed}, so the answer is not valid any more; `fdc resume RUN --retry` asks again"
            return outcome._replace(value=None, failure=Failure("changed", said))
        return outcome._replace(notes={**(outcome.notes or {}), "approved": shows})


def as_shown(
    released: Released, declared: ToolRow, args: Mapping[str, object], context: Context
) -> None:
    """Raises ToolFailure if a file that a step changes or reads, or a command names, differs from what the approval showed.

    A file may be as this very step leaves it: its first attempt was lost in a crash.
    """
    begun = f"{context.key} approved"
    _reads_as_shown(released, declared, args, context)
    if declared.get("writes") == "unknown" and intent_files.read(context.run_folder, begun) is None:
        said = (*declared.get("run", {}).get("command", ()), *args.values())
        try:
            for path in shown_files.named(said, context.root, released.files):
                if changed := shown_files.difference(released, context.root, path):
                    raise ToolFailure("changed", changed)
        except shown_files.TooMuch as much:
            raise ToolFailure("size", str(much)) from None
        intent_files.write(context.run_folder, begun, {})
    parameters = declared.get("parameters", ())
    block = next(
        (parameter["name"] for parameter in parameters if parameter["kind"] == "block"), None
    )
    for parameter in parameters:
        access, given = parameter.get("access"), args.get(parameter["name"])
        if access in (None, "read") or not isinstance(given, str):
            continue
        path = plain(given)
        shown = released.shown(path)
        if shown is None:
            continue
        now = shown_files.now_at(context.root, path)
        if now == shown:
            if access == "delete":
                intent_files.write(context.run_folder, begun, {"path": path})
            continue
        gone = (
            access == "delete"
            and now == NONE
            and intent_files.read(context.run_folder, begun) is not None
        )
        written = (
            access in ("create", "write")
            and block is not None
            and now == shown_files.digest(_leaves(args, block))
        )
        if not gone and not written:
            raise ToolFailure("changed", shown_files.difference(released, context.root, path))


def _reads_as_shown(
    released: Released, declared: ToolRow, args: Mapping[str, object], context: Context
) -> None:
    """The tools of fdc that only read get each file by `context.root`, which compares it."""
    looks = declared.get("effect") in ("pure", "read")
    given = [args.get(one["name"]) for one in declared["parameters"] if one.get("access") == "read"]
    paths = [plain(path) for path in given if isinstance(path, str)]
    begun = f"{context.key} read"
    if not paths or looks and "run" not in declared:
        return
    if not looks and intent_files.read(context.run_folder, begun) is not None:
        return
    for path in paths:
        if changed := shown_files.difference(released, context.root, path):
            raise ToolFailure("changed", changed)
    if not looks:
        intent_files.write(context.run_folder, begun, {})


def _leaves(args: Mapping[str, object], block: str) -> bytes:
    return text(args, block, "").encode("utf-8", "replace")
