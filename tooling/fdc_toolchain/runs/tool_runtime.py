"""The tool runtime of one run: its workspace, the model or person that answers, what the operator allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..exits import reason
from ..linking.project.guarded_paths import guarded
from ..narrow import narrow
from .cost.models import model_for
from .nested_run import Driver, nested_in
from .observer import Observer

if TYPE_CHECKING:
    from ..tools.context import Context
    from ..tools.workbench import Workbench
    from ..workspace.files import Root
    from ..workspace.operator import Operator
    from .records.answers import Answer


def bench_for(
    root: str,
    run: str,
    show: Observer,
    answers: Mapping[str, str],
    shell_seconds: float | None,
    operator: Operator | None,
    ready: Mapping[str, Answer],
    shown: Mapping[str, dict[str, object]],
    driver: Driver,
    inputs: Mapping[str, object],
) -> Workbench:
    """The workbench of a run; the caller closes its `root`. `answers` come before those that lie `ready`; `shown` is what
    the approvals showed that they are for (`runs.records.answers.shown`). `driver` drives runs within a step.
    `inputs`: those of the run.

    Raises UsageError.
    """
    from ..tools.shell import SECONDS
    from ..tools.workbench import Workbench
    from ..workspace import run_folders
    from ..workspace.operator import Operator

    allowed = operator or Operator.of_environment()
    model = model_for(root, allowed.model, allowed.asks)
    return Workbench(
        run=run,
        root=opened(root),
        run_folder=run_folders.run_folder(root, run),
        say=show.say,
        ask=show.ask,
        answers={**{address: one.text for address, one in ready.items()}, **answers},
        shell_seconds=SECONDS if shell_seconds is None else shell_seconds,
        operator=allowed,
        model=model,
        overrides={"close_task": _closing(root, narrow(inputs.get("task") or {}, dict))},
        nested=nested_in(root, show, allowed, driver, shown),
        shown=shown,
        givers={address: one.note() for address, one in ready.items() if address not in answers},
    )


def opened(root: str) -> Root:
    """Opens the workspace, with its protected and secret paths."""
    from ..workspace.files import Root

    catalogues, protect, secret = guarded(root)
    return Root(root, catalogues, protect, secret=secret)


def take_away(root: str) -> None:
    """Moves away protected files that a killed fdc's commands created, and reports them (`notices`). Raises WorldError."""
    from ..tools import under_way

    if not under_way.lost(root):
        return
    from ..exits import WorldError
    from ..report.terminal.terminal_text import visible
    from .notices import notice

    held = opened(root)
    try:
        for paths, into in under_way.cleared(held):
            names = ", ".join(f"`{path}`" for path in paths[:5]) + (
                f" and {len(paths) - 5} more" if len(paths) > 5 else ""
            )
            said = f"fdc: a command that was killed with its fdc had created the protected {names}; moved to `{into}`"
            notice(visible(said))
    except OSError as failed:
        raise WorldError(
            f"the protected files that a killed command created cannot be moved away: {failed}"
        ) from failed
    finally:
        held.close()


def _closing(
    root: str, own: Mapping[str, Any]
) -> Callable[[Mapping[str, object], Context], object]:
    """`close_task` as `fdc close`: of the task named in the plan, else of the run's own task (`own`, `tasks.activity.Task`),
    else of the one that is open.

    A plan that comes with fdc closes its own cycle only: it knows nothing of the task that somebody runs it in.
    """

    def close(args: Mapping[str, object], context: Context) -> object:
        from ..engine.ports import WorldFailed
        from ..linking.project.files import SHIPPED
        from ..tools import talk_tools
        from ..tools.context import text
        from ..workspace.failure import ToolFailure

        task = text(args, "task", "").strip()
        if not task and context.plan.startswith(SHIPPED):
            return talk_tools.close_task(args, context)
        import uuid
        from datetime import datetime
        from functools import partial

        from ..tasks import activity, activity_log, lifecycle

        task = task or str(own.get("id", ""))
        if not task:  # a run of a database has no task of its own
            found = [one.id for one in activity.open_tasks(activity_log.content(root))]
            if len(found) > 1:
                names = ", ".join(f"`{name}`" for name in found)
                raise ToolFailure(
                    "tool",
                    f"several tasks are open ({names}): name the one to close (`close_task ID`)",
                )
            if not found:
                talk_tools.end_cycle(context, "")
                return "no task was open in this workspace, so none was closed"
            task = found[0]
        try:
            report = lifecycle.close(
                root,
                task,
                transact=partial(activity_log.transact, root),
                now=datetime.now().astimezone(),
                new_id=lambda: str(uuid.uuid4()),
            )
        except (
            OSError
        ) as failed:  # the log is the record of the task: the run continues once it can be written
            raise WorldFailed(f"the activity log cannot be written: {reason(failed)}") from failed
        if report.refused:
            raise ToolFailure("tool", report.refused)
        talk_tools.end_cycle(context, task)
        return "\n".join(report.lines)

    return close
