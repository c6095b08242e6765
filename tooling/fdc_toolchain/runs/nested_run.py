"""`plan.run`: a pipeline that was proved, as a run of its own within a step of another run.

The inner run is recorded, resumed, shown and replayed like any other. The step's mark names it before it begins, so that
the same step, done again after a crash, goes on with the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .observer import Observer, Silent

if TYPE_CHECKING:
    from ..tools.context import Context
    from ..workspace.operator import Operator
    from .records.run_outcome import Ended

Drive = Callable[..., "Ended"]
"""`run_driver.drive_run`: takes a run as far as it goes. It is handed in, since the run driver drives the outer run too."""


def pipeline_in(
    root: str, show: Observer, operator: Operator, drive: Drive
) -> Callable[[dict[str, Any], Context], Any]:
    """The handler of `plan.run` in a workspace. What the inner run spends counts as the step's."""

    def perform(args: dict[str, Any], context: Context) -> Any:
        from ..engine.events import Outcome
        from ..engine.ports import Cancelled, WorldFailed
        from ..exits import Exit, NotGranted
        from ..program.codec import identity
        from ..tools import intent_files
        from ..workspace import run_folders
        from ..workspace.failure import ToolFailure
        from . import nested_plan
        from .records.open_journal import writing

        pipeline = args.get("pipeline")
        if not isinstance(pipeline, dict):
            raise ToolFailure("argument", "`pipeline` is none that was proved")
        mark = intent_files.read(context.run_folder, context.key)
        name = mark["run"] if mark else run_folders.RunIds().run_id()
        if mark is None:
            intent_files.write(context.run_folder, context.key, {"run": name})
        store = writing(root)
        try:
            if store.run(name) is None:
                program, findings, _ = nested_plan.compiled(str(pipeline.get("text", "")), root)
                if program is None or identity(program) != pipeline.get("program"):
                    why = findings[0] if findings else "it is not the program that was proved"
                    raise ToolFailure("pipeline", f"the pipeline is not run: {why}")
                taken = {param["name"] for param in program["plans"][program["root"]]["params"]}
                given = {key: args[key] for key in taken if args.get(key) is not None}
                budget = {"model_calls": nested_plan.CALLS, "tokens": nested_plan.TOKENS}
                inputs = {
                    "given": given,
                    "builtin": {"run": f"runs/{context.run}"},
                    "budget": budget,
                }
                store.create(
                    name,
                    f"runs/{context.run}/{pipeline.get('filePath')}",
                    program,
                    inputs,
                    time.time(),
                )
        finally:
            store.close()
        watching = _Inner(show)
        try:
            ended = drive(root, name, watching, operator=operator, within=context.run)
        except NotGranted as lacks:
            raise ToolFailure("unavailable", str(lacks), None, {"run": name}) from lacks
        except Exit as failed:
            raise WorldFailed(str(failed)) from failed
        if ended.status in ("interrupted", "cancelled") or context.cancelled.is_set():
            raise Cancelled("the run within is left in the middle")
        if ended.status == "broken":
            raise WorldFailed(ended.message)
        usage = {
            measure: ended.spent.get(measure, 0.0) for measure in ("model_calls", "tokens", "money")
        }
        if ended.status != "finished":
            why = ended.stop["message"] if ended.stop else "it waits for a person"
            raise ToolFailure("pipeline", f"the pipeline stopped: {why}", usage, {"run": name})
        return Outcome(ended.result, None, usage, {"run": name})

    return perform


class _Inner(Silent):
    """Shows what the inner run says where the outer one shows such things."""

    def __init__(self, outer: Observer) -> None:
        super().__init__()
        self._outer = outer

    def say(self, text: str) -> None:
        """Port `Progress`."""
        self._outer.say(text)
