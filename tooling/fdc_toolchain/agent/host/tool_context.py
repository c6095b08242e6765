"""The surroundings in which a controller uses single tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...program.model import Program
    from ...tools.context import Context
    from ...tools.runtime import LocalTools


@contextmanager
def opened(root: str, run: str = "agent", seconds: float = 60.0) -> Iterator[Context]:
    """The surroundings of single tools, outside of a run's journal."""
    from ...runs import tool_runtime
    from ...tools.context import Context, Leaving
    from ...workspace import run_folders
    from ...workspace.operator import Operator
    from . import files as agent_files

    with closing(tool_runtime.opened(root)) as files:
        yield Context(
            root=files, key=f"{run}:agent", run=run, run_folder=os.path.join(root, run_folders.FOLDER, agent_files.AGENTS),
            say=lambda text: None, ask=_nobody, bound=True, cancelled=Leaving(), shell_seconds=seconds, tool={},
            operator=Operator.of_environment(),
        )  # fmt: skip


def tools_of(program: Program, context: Context) -> LocalTools:
    """The tools of a program, for single steps of a run that is held open."""
    from ...tools.runtime import LocalTools, Workbench

    bench = Workbench(
        context.run, context.root, context.run_folder, context.say, lambda text: None, {}, 60.0
    )
    return LocalTools(program, bench)


def _nobody(question: str, unfit: Callable[[str], str] | None = None, /) -> str:
    from ...engine.ports import Waiting

    raise Waiting(question)
