"""Files must exist before use and be absent before creation, on every run (FDC-19 to FDC-22, FDC-32).

`solver.files.plan_effects` computes what plans do to files; this rule starts with the current workspace.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from .file_places import refused
from .solver.files import findings
from .solver.files.bodies import is_literal
from .solver.files.failures import CauseTable, Failure
from .solver.files.nesting import MAKES, Nesting, Place, makes_folder, may_nest
from .solver.files.paths import Path, looked_through, path_of
from .solver.files.plan_effects import Files
from .solver.files.step_paths import LOOKS
from .solver.kept_effects import KeptEffects
from .solver.rule import Context


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root for the current workspace, those of every fork, and the assumptions."""
    files = _files(context)
    roots = [(instance, files.plan(instance)) for instance, _ in context.roots]
    for instance in context.order:
        files.plan(instance)
    yield from (findings.of_cut(instance, call) for instance, call in files.cut.values())
    exists = context.linker.files.exists
    forks = files.forks
    folders = frozenset(
        instance.unit.span(act.step)
        for instance in context.order
        for act in instance.unit.acts
        if act.bound.files and any(makes_folder(act, access) for access, _ in act.bound.files)
    )
    adds = frozenset(
        instance.unit.span(act.step)
        for instance in context.order
        for tool, acts in context.by_tool[instance.unit.key]
        if tool.name == "git_add"
        for act in acts
    )
    for instance, effects in roots:
        if files.cut and any(id(one) in files.cut for one in context.graph.order([instance])):
            continue  # refused, and what its calls do is not known
        probes = context.probes.setdefault(instance.unit.key, set())
        found: list[findings.Found] = []
        table = files.table(instance)
        for path, effect in effects.paths.items():
            entry = 2
            if is_literal(path):
                literal = str(path[0]).rstrip("/") or "/"
                probes.add(literal)
                if literal in files.folders:
                    probes.add(literal + "/")
                entry = 1 if exists(literal) else 0
                failures = effect.failures[entry]
                if failures and refused(literal, context.linker.files):
                    continue  # it is said there
            else:
                if ("run",) in path and all(type(part) is str or part == ("run",) for part in path):
                    entry = 0  # no path has the name of the run before the run begins
                failures = effect.failures[entry]
            found += [
                findings.Found(path, failure, entry)
                for failure in failures
                if failure.access != "through"
                or _through_file(path, failure, table, folders, context)
            ]
        doubts = []
        if forks.doubts:
            reached = {id(one) for one in context.graph.order([instance])}
            doubts = [row for row in forks.doubts.values() if id(row[0]) in reached]
        nested: dict[str, list[Place]] = {}
        if may_nest(effects.paths):
            nesting = Nesting(instance, context.graph.order([instance]), effects, table)
            pairs = list(nesting.pairs())
            certain = [pair for pair in pairs if pair.certain]
            yield from (findings.of_nested(nesting, pair) for pair in certain)
            said = {pair.above for pair in certain}
            found = [
                one for one in found if one.path not in said or not _passes(one.failure, table)
            ]
            nested = nesting.doubts(pairs)
        yield from findings.of_root(found, doubts, nested, table, adds)
    yield from findings.of_forks(forks.conflicts, forks.doubts)


def _passes(failure: Failure, table: CauseTable) -> bool:
    """True where a step fails since it, or one before it, goes through the path."""
    return "through" in {failure.access, *(one.access for one in table.each(failure.causes))}


def _through_file(
    path: Path, failure: Failure, table: CauseTable, folders: frozenset[Span], context: Context
) -> bool:
    """True where a step goes through a file. What is so of files of the workspace, `file_places` says.

    A literal path is a file only where a step names it: what a glob may find is taken for more than it is.
    """
    made = table.each(failure.causes)
    if not folders.isdisjoint(cause.step for cause in made):
        return False
    if not is_literal(path):
        return True
    return any(cause.access in MAKES for cause in made) and any(
        path_of(value) == path
        for instance in context.order
        for act in instance.unit.acts
        for _, value in act.bound.files
    )


def _files(context: Context) -> Files:
    """The effects of the plans on files, each plan once."""
    computed = commands = False
    folders: set[str] = set()
    for unit in {id(instance.unit): instance.unit for instance in context.order}.values():
        for tool, acts in context.by_tool[unit.key]:
            commands = commands or tool.writes_unknown
            computed = computed or any(
                "{" in value.text for act in acts for _, value in act.bound.files
            )
            globs = [item.name for item in tool.parameters if item.kind == "glob"]
            for act in acts if tool.name in LOOKS else ():
                named = [act.bound.arguments[name] for name in globs if name in act.bound.arguments]
                folders.update(filter(None, map(looked_through, named)))
    single = {name for name in folders if context.linker.files.kind(name) == "file"}
    kept = context.linker.kept
    return Files(
        computed=computed,
        commands=commands,
        folders=sorted(folders - single),
        single=single,
        kept=None if kept is None else kept.fact(KeptEffects, lambda: KeptEffects(lasting=True)),
    )
