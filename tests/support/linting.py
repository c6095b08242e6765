"""Plans as texts, linted in this process: what a test of one rule needs to write down, and no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fdc_toolchain.check import Checked, check
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings

ANY = """\
{"states": ["S"], "start_state": "S", "accept_states": ["S"],
 "alphabet": ["plan_op", "step_op", "read_op", "write_op", "delete_op", "move_op", "tool_exec", "submit_op"],
 "transitions": {"S": {"plan_op": "S", "step_op": "S", "read_op": "S", "write_op": "S", "delete_op": "S",
                       "move_op": "S", "tool_exec": "S", "submit_op": "S"}}}
"""
"""An automaton that refuses nothing, for tests of something else. It is `any.json` in every world here."""

_SETTINGS = Settings(fsm="any.json")


class World(Files):
    """A workspace in memory: files with their texts, and files that are only `there`."""

    def __init__(self, files: Mapping[str, str | bytes], there: Collection[str] = ()) -> None:
        super().__init__("/nonexistent")
        texts = {"any.json": ANY, **files}
        self.seen |= {
            name: text.encode() if isinstance(text, str) else text for name, text in texts.items()
        }
        self.there = {*there, *texts}

    def exists(self, path: str) -> bool:
        return path in self.there or any(name.startswith(path + "/") for name in self.there)


def lint(
    files: Mapping[str, str | bytes] | str,
    *keys: str,
    there: Collection[str] = (),
    settings: Settings = _SETTINGS,
    whole: bool = False,
) -> Checked:
    """Everything found in the plans under `keys`: in all that are in `files`, where none is named.

    `whole`: as runs of their own, also those that are only fragments.
    A text alone is the plan `a.plan`. A root that names no automaton is refused nothing.
    """
    if isinstance(files, str):
        files = {"a.plan": files}
    judged = keys or tuple(name for name in files if name.endswith(".plan"))
    return check(Linker("/nonexistent", settings, World(files, there)), judged, whole=whole)


def findings(checked: Checked, *codes: str) -> list[Diagnostic]:
    """The findings of some codes (all of them, where none is named), in the order of the report."""
    return [item for item in checked.diagnostics if not codes or item.code in codes]


def places(checked: Checked, *codes: str) -> list[tuple[str, int, str]]:
    """(path, line, code) of those findings."""
    return [(item.span.path, item.span.line, item.code) for item in findings(checked, *codes)]
