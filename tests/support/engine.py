"""Short ways to drive the engine on doubles."""

from __future__ import annotations

from typing import Any

from fdc_toolchain.engine.drive import Ending
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.program.shape import problems
from fdc_toolchain.testing import FunctionTools, MemoryJournal, run

from tests.support.programs import program


def echo(effect: Perform) -> Any:
    return effect.args.get("value", effect.args)


def tools(**more: Any) -> FunctionTools:
    functions: dict[str, Any] = dict.fromkeys(("read", "put", "fire", "note"), echo)
    return FunctionTools({**functions, **more})


def addresses(journal: MemoryJournal) -> list[str]:
    return [record.address for record in journal.records if record.kind == "outcome"]


def done(
    *body: dict[str, Any], given: dict[str, Any] | None = None, **more: Any
) -> tuple[Ending, FunctionTools]:
    works = more.pop("works", tools())
    options = {name: more.pop(name) for name in ("clock", "room", "journal") if name in more}
    made = program(*body, **more)
    assert problems(made) == []
    return run(made, works, inputs={"given": given or {}}, **options), works
