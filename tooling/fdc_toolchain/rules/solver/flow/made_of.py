"""Which files a plan is made of: what stands in them is executed or obeyed, so it must not be from outside."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ....automata.model import Automaton
from ....diagnostics.diagnostic import Diagnostic
from ....diagnostics.span import Span
from ....linking.link import Linker
from ....linking.model import Unit
from ....linking.own_row import programs, targets
from ....linking.project import own_modules
from ....program.model import ToolRow
from .file_taint import Pattern, meet, pattern_of_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ....certificate.forms.rows import Predicate


def check(units: Iterable[Unit], linker: Linker, default: Automaton | None) -> Iterator[Diagnostic]:
    """FDC474 for each file with text from outside that is a plan, its automaton, or the code or prompt of a tool that it uses,
    and where such text chose that another file takes its place."""
    outside = [pattern_of_glob(glob) for glob in linker.settings.untrusted]
    rows = {row.path: row for row in linker.outside}
    gone = [row.path for row in linker.outside if not row.sha256 and row.path.endswith(".py")]
    for unit in units if outside or rows else ():
        for span, what, path in _made_of(unit, linker, unit.automaton or default, gone):
            shipped = path.startswith("fdc:")
            file = path.removeprefix("fdc:") if shipped else _behind(linker.root, path)
            row = rows.get(file) or rows.get(path)
            said = "which the settings name as `untrusted`"
            help_ = "put it elsewhere once you have read it"
            if row is not None and (not shipped or not row.sha256):
                how = "stored" if row.sha256 else "removed"
                said = f"which the run {row.run} {how} at {row.at}, {row.plan}:{row.line}"
                help_ = f"check it and approve it (`fdc trust --file {row.path}`), or replace it"
            elif shipped or not any(
                meet(Pattern(one, one, True), other) for one in (path, file) for other in outside
            ):
                continue
            message = f"text from outside (the file {file}, {said}) is {what}"
            yield Diagnostic(span, "FDC474", message, help=help_)


def _behind(root: str, path: str) -> str:
    """The path of the file itself, where links lead to it."""
    return os.path.relpath(os.path.realpath(os.path.join(root, path)), os.path.realpath(root))


def _made_of(
    unit: Unit, linker: Linker, automaton: Automaton | None, gone: list[str]
) -> Iterator[tuple[Span, str, str]]:
    """Each file, with what it is and where the plan says so. A module that is `gone` may have been found before another."""
    top = Span(unit.key, 1, 1, 1, 1)
    yield top, "a plan that is run", unit.key
    if automaton is not None:
        yield top, "the automaton of this plan", automaton.path
    used: list[tuple[Span, str, ToolRow | Predicate]] = []
    used += [(top, *one) for one in linker.catalogue.rows.items() if one[0] in unit.text]
    acts = {act.bound.tool.name: act for act in reversed(unit.acts)}
    used += [(unit.span(act.step), name, act.bound.tool.row) for name, act in acts.items()]
    for span, name, row in used:
        run = row.get("run") or {}
        for path in (run[kind] for kind in ("prompt", "schema") if kind in run):
            yield span, f"the prompt of `{name}`", linker.files.find(path) or path
        code = own_modules.modules(targets(row), linker.files)
        for path in (*code, *programs(row), *(gone if [*targets(row)] else ())):
            yield span, f"the code of `{name}`", path
