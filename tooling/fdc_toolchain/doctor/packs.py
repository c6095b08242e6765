"""Lists the packs that can be used, and why others cannot."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..automata.load import load
from ..exits import reason
from ..linking.catalogue import CORE, document
from ..linking.catalogue_check import explain
from ..linking.project.places import MAX_FILE
from ..linking.project.regular_file import read
from ..linking.registry import core_plans
from ..packs import shipped
from ..packs.beside import FILE
from ..packs.imported import imported
from ..packs.index import TABLES, index
from ..packs.model import PREFIX, Function, Pack, PackError
from ..packs.shipped import core_automaton
from ..packs.workspace import NONE, Local
from ..syntax.parse import parse
from ..tools.tool_rows import TOOLS
from .machine import Found


def examine(commands: Collection[str], own: Local = NONE, *, root: str) -> list[Found]:
    """One row for each pack, one for each check of its own, and one for each problem. A pack with a problem was asked for, and
    will not work.

    `commands`: the names of the core's own commands, which no pack may take. `own`: the packs of the workspace `root`. The
    checks of installed packs are called, and of no others: their code is trusted as fdc is.
    """
    found = index()
    packs = [*found.packs.values(), *own.packs.values()]
    good = [
        Found(f"pack: {pack.name}", "ok", pack.summary if pack.beside else pack.folder)
        for pack in packs
    ]
    wrong = [*found.problems, *map(str, own.problems)]
    for pack in found.packs.values():
        wrong += faults(pack, commands)
    for at, pack in enumerate(own.packs.values()):
        wrong += faults(pack, commands, [*own.packs.values()][:at])
    checked = [
        _checked(f"{pack.name}: {name}", row, root)
        for pack in found.packs.values()
        for name, row in pack.checks.items()
    ]
    return good + checked + [Found("pack", "bad", said) for said in wrong]


def _checked(name: str, row: Function, root: str) -> Found:
    """The result of a pack's own check in a workspace."""
    try:
        found: Any = imported(row.module, row.function)(root)
        grade, detail = found
        if grade not in ("ok", "note", "bad"):
            raise ValueError(f"`{grade}` is not `ok`, `note` or `bad`")
    except PackError as wrong:
        return Found(name, "bad", str(wrong))
    except Exception as wrong:
        return Found(name, "bad", f"the check itself failed: {type(wrong).__name__}: {wrong}")
    return Found(name, grade, str(detail))


def faults(pack: Pack, commands: Collection[str], beside: Sequence[Pack] = ()) -> list[str]:
    """One sentence for each error in a pack whose `pack.toml` can be read, with the file.

    `beside`: other packs of its workspace, whose names it may not take either."""
    others = [*_before(pack), *beside]
    files = list(_files(pack, others))
    return [
        *_taken(pack, commands, others),
        *files,
        *([] if files else _rows(pack)),
        *_functions(pack),
    ]


def _taken(pack: Pack, commands: Collection[str], others: Sequence[Pack]) -> Iterator[str]:
    """The names that both a pack and the core, or another pack that fdc finds, have; theirs are used."""
    path = os.path.join(pack.folder, FILE)
    packs = index().packs
    ours = packs.get(pack.name)
    if ours is not None and ours.beside and os.path.realpath(pack.folder) != ours.folder:
        yield f"{path}: `name`: the pack `{pack.name}` comes with fdc"
    plans = core_plans()
    for kind, names, core in (
        ("commands", pack.commands, commands),
        ("tools", pack.tools, TOOLS),
        ("automata", pack.automata, [name for name in pack.automata if core_automaton(name)]),
        ("plans", pack.plans, plans),
    ):
        for name in names:
            if name in core:
                yield f"{path}: `{kind}.{name}` is already used by the core"
    if pack.folder in (one.folder for one in packs.values()):
        return  # the index has said what other packs had before it
    for kind in TABLES:
        for name in getattr(pack, kind):
            for other in others:
                if name in getattr(other, kind):
                    yield f"{path}: `{kind}.{name}` is already used by the pack `{other.name}`"


def _files(pack: Pack, others: Sequence[Pack]) -> Iterator[str]:
    """The missing files of a pack, and the errors in its catalogues and automata, and in the syntax of its plans."""
    plans = (row.plan for row in pack.commands.values() if row.plan)
    for name in dict.fromkeys(
        (*pack.catalogues, *pack.automata.values(), *pack.plans.values(), *plans)
    ):
        inside = name.removeprefix(f"{PREFIX}{pack.name}/")
        path = os.path.join(pack.folder, inside)
        try:
            data = read(path, MAX_FILE)
        except OSError as failed:
            why = reason(failed)
            yield f"{os.path.join(pack.folder, FILE)}: `{inside}`: {why}"
            continue
        if name in pack.catalogues:
            items = explain(data, path, _declared(others), {})
        elif name in pack.automata.values():
            items = [one for one in load(data, path)[1] if one.severity == "error"]
        else:
            items = [one for one in parse(data, path).diagnostics if one.severity == "error"]
        for item in items:
            help_ = f"; {item.help}" if item.help else ""
            yield f"{path}:{item.span.line}: {item.message}{help_}"


def _before(pack: Pack) -> list[Pack]:
    """The packs whose names this one may not take: those that fdc finds before it, so all for one that is not installed."""
    found: list[Pack] = []
    for other in index().packs.values():
        if os.path.realpath(other.folder) == os.path.realpath(pack.folder):
            break
        if other.name != pack.name:
            found.append(other)
    return found


def _declared(others: Sequence[Pack]) -> frozenset[str]:
    """The tools that the core and other packs declare. What cannot be read of these is told where they are checked."""
    found = {*document(CORE)["tools"]}
    for other in others:
        for name in other.catalogues:
            inside = name.removeprefix(f"{PREFIX}{other.name}/")
            with suppress(OSError, ValueError, KeyError, TypeError):
                found.update(
                    json.loads(read(os.path.join(other.folder, inside), MAX_FILE))["tools"]
                )
    return frozenset(found)


def _rows(pack: Pack) -> Iterator[str]:
    """The tools and predicates of `pack.toml` that no catalogue declares, and those declared that nothing performs."""
    names = (name.removeprefix(f"{PREFIX}{pack.name}/") for name in pack.catalogues)
    core: dict[str, dict[str, object]] = json.loads(shipped.read(CORE) or b"{}")
    own = [json.loads(read(os.path.join(pack.folder, name), MAX_FILE)) for name in names]
    path = os.path.join(pack.folder, FILE)
    for kind, functions in (("tools", pack.tools), ("predicates", pack.predicates)):
        rows = {name: row for one in own for name, row in one.get(kind, {}).items()}
        for name in functions:
            if name not in rows and name not in core.get(kind, {}):
                yield f"{path}: `{kind}.{name}`: no catalogue of the pack declares it"
        for name, row in rows.items():
            if name not in functions and name not in TOOLS and "run" not in row:
                yield f"{path}: `{name}` is declared without a `run`, and `[{kind}]` does not name its function"
            for part in ("prompt", "schema"):
                needed = row.get("run", {}).get(part, "")
                inside = needed.removeprefix(f"{PREFIX}{pack.name}/")
                if inside != needed and not os.path.isfile(os.path.join(pack.folder, inside)):
                    yield f"{path}: the {part} `{needed}` of the tool `{name}` does not exist"


def _functions(pack: Pack) -> Iterator[str]:
    """The missing modules of a pack, and the missing functions of its modules. Imports nothing."""
    wanted = {(row.module, "command") for row in pack.commands.values() if not row.plan}
    wanted |= {(row.module, "tell") for row in pack.commands.values() if row.tells}
    for row in (*pack.tools.values(), *pack.predicates.values(), *pack.checks.values()):
        wanted |= {(row.module, name) for name in (row.function, row.probe) if name}
    for page in pack.pages.values():
        parts = ("row", "told", "render", "style_hash", "again")
        wanted |= {(page.module, name) for name in parts}
    path = os.path.join(pack.folder, FILE)
    for module in sorted({module for module, _ in wanted}):
        names = _defined(pack, module)
        if names is None:
            yield f"{path}: the module `{module}` does not exist, or it cannot be read"
            continue
        for missing in sorted(name for where, name in wanted if where == module):
            if missing not in names:
                yield f"{path}: the module `{module}` has no `{missing}`"


def _defined(pack: Pack, module: str) -> set[str] | None:
    """The names that a module defines or imports at its top level; None if it cannot be read."""
    parts = module.removeprefix(pack.package).strip(".").split(".")
    base = os.path.join(pack.folder, *parts)
    for path in (f"{base}.py", os.path.join(base, "__init__.py")):
        try:
            tree = ast.parse(read(path, MAX_FILE))
        except FileNotFoundError:
            continue
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        return {name for node in tree.body for name in _bound(node)}
    return None


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
