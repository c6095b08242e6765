"""Files must exist before use and be absent before creation, on every run (FDC-19 to FDC-22, FDC-32).

`solver.files.plan_effects` computes what plans do to files; this rule starts with the current workspace.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from .file_places import refused
from .solver.files import findings
from .solver.files.bodies import is_literal
from .solver.files.nesting import Nesting, Place, may_nest
from .solver.files.paths import looked_through
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
    for instance, effects in roots:
        if files.cut and any(id(one) in files.cut for one in context.graph.order([instance])):
            continue  # refused, and what its calls do is not known
        probes = context.probes.setdefault(instance.unit.key, set())
        found: list[findings.Found] = []
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
                if path[0] == ("run",) and all(type(part) is str for part in path[1:]):
                    entry = 0  # nothing is in the run's folder before the run begins
                failures = effect.failures[entry]
            found += [findings.Found(path, failure, entry) for failure in failures]
        doubts = []
        if forks.doubts:
            reached = {id(one) for one in context.graph.order([instance])}
            doubts = [row for row in forks.doubts.values() if id(row[0]) in reached]
        nested: dict[str, list[Place]] = {}
        if may_nest(effects.paths):
            nesting = Nesting(
                instance, context.graph.order([instance]), effects, files.table(instance)
            )
            pairs = list(nesting.pairs())
            yield from (findings.of_nested(nesting, pair) for pair in pairs if pair.certain)
            nested = nesting.doubts(pairs)
        yield from findings.of_root(found, doubts, nested, files.table(instance))
    yield from findings.of_forks(forks.conflicts, forks.doubts)


def _files(context: Context) -> Files:
    """The effects of the plans on files, each plan once."""
    computed = commands = False
    folders: set[str] = set()
    for unit in {id(instance.unit): instance.unit for instance in context.order}.values():
        for act in unit.acts:
            bound = act.bound
            for _, value in bound.files:
                computed = computed or "{" in value.text
            commands = commands or bound.tool.writes_unknown
            if bound.tool.name in LOOKS:
                for parameter in bound.tool.parameters:
                    if parameter.kind == "glob" and parameter.name in bound.arguments:
                        name = looked_through(bound.arguments[parameter.name])
                        folders |= {name} if name is not None else set()
    single = {name for name in folders if context.linker.files.kind(name) == "file"}
    kept = context.linker.kept
    return Files(
        computed=computed,
        commands=commands,
        folders=sorted(folders - single),
        single=single,
        kept=None if kept is None else kept.fact(KeptEffects, lambda: KeptEffects(lasting=True)),
    )
