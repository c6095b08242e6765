"""The environment of `agent.lessons.self_correction`: the build of AGENTS.md, diffs of files, and runs of plans."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

from ...program.model import Program
from .self_correction import Built, CannotPatch, Ports, Ran


def ports(root: str) -> Ports:
    """The ports of the workspace at `root`."""
    return Ports(
        sources=os.path.join(root, sources_of(root)),
        now=lambda: datetime.now().astimezone(),
        build=lambda overlay: build(root, overlay),
        patched=lambda path, diff, base: patched(root, path, diff, base),
        run_plan=lambda plan: run_plan(root, plan),
    )


def build(root: str, overlay: Mapping[str, bytes]) -> Built:
    """What the protocols would compile to if the files in `overlay` had these bytes; nothing is written.

    A workspace without protocols has nothing to build.
    """
    from ...protocols.build import foresee
    from ...protocols.options import how_of

    if not os.path.isdir(os.path.join(root, sources_of(root))):
        return Built({})
    made, removed = foresee(root, how_of(root)[1], overlay)
    if not made.outputs:
        return Built(None, (), tuple(made.findings))
    files = dict(made.memory)
    files.update((output.path, output.text.encode("utf-8")) for output in reversed(made.outputs))
    return Built(files, removed, tuple(made.findings))


def sources_of(root: str) -> str:
    """The folder of the protocols' sources, as the settings of a workspace say."""
    from ...linking.project.settings import read_settings

    return read_settings(root).protocols or "protocols"


def patched(root: str, path: str, diff: str, base: bytes | None) -> tuple[bytes, bytes]:
    """The bytes of a file of the workspace, or `base`, and what they are after the diff. Raises CannotPatch."""
    from ...engine.ports import WorldFailed
    from ...workspace import merge_diff
    from ...workspace.failure import ToolFailure
    from ...workspace.files import Root

    opened = Root(root)
    try:
        before = opened.read(path) if base is None else base
        after, _ = merge_diff.apply(before.decode("utf-8"), diff.replace("\r\n", "\n"))
        return before, after.encode("utf-8")
    except (ToolFailure, WorldFailed) as failed:
        raise CannotPatch(str(failed)) from failed
    except UnicodeError as wrong:
        raise CannotPatch(f"`{path}`, before or after the change, is not UTF-8 text") from wrong
    finally:
        opened.close()


def run_plan(root: str, plan: str) -> Ran:
    """Lints and executes the plan at a path in the workspace, durably; continues an existing run of it.

    Raises WorldError where its run is being driven by somebody else, or cannot be read.
    """
    from ...runs import run_driver
    from ...runs.observer import Silent

    with run_driver.reading(root) as store:
        begun = [] if store is None else [row for row in store.runs() if row.plan == plan]
    row = next((row for row in begun if row.status == "finished"), begun[-1] if begun else None)
    if row is not None and row.status == "finished":
        return Ran("finished", row.name)
    if row is not None and row.status == "stopped":
        stop = (row.ending or {}).get("stop") or {}
        return Ran("failed", row.name, str(stop.get("message", "the run stopped")))
    if row is None:
        program, why = _proved(root, plan)
        if program is None:
            return Ran("failed", None, why)
        name = run_driver.begin(root, program, plan, {}, {}, run_driver.task_for(root, None))
    else:
        name = row.name
    ended = run_driver.drive_run(root, name, Silent())
    if ended.status == "finished":
        return Ran("finished", name)
    if ended.status == "stopped":
        return Ran("failed", name, ended.stop["message"] if ended.stop else "the run stopped")
    if ended.status == "waiting":
        return Ran(
            "unfinished",
            name,
            f"the run {name} waits for a person; run `fdc resume {name}`, then apply again",
        )
    return Ran(
        "unfinished",
        name,
        ended.message or f"the run {name} was interrupted; apply again to continue",
    )


def _proved(root: str, plan: str) -> tuple[Program | None, str]:
    from ...check import check, program_of
    from ...linking.link import Linker
    from ...linking.project.settings import read_settings

    checked = check(Linker(root, read_settings(root)), [plan], whole=True, own_comments=False)
    errors = [item for item in checked.diagnostics if item.severity == "error"]
    if errors:
        first = errors[0]
        return (
            None,
            f"the plan of the change was refused: {first.span}: {first.code} {first.message}",
        )
    return program_of(checked), ""
