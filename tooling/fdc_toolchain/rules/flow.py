"""Text from outside must not choose commands, paths, addresses or which steps run, on any run (security.md 8).

Every plan is analysed once (`solver.flow.plan_flow`), and plans that call each other until their summaries
do not change.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.graph import calls_of, components
from .solver.flow import made_of
from .solver.flow.earlier import earlier, steps
from .solver.flow.file_taint import pattern_of_glob
from .solver.flow.heard import heard, kept
from .solver.flow.labels import Labels
from .solver.flow.summary import Store, Summary, same
from .solver.rule import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .solver.flow.plan_flow import Key


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC471, FDC472, FDC473 and FDC474 in every plan that the judged ones reach."""
    units = {instance.unit.key: instance.unit for instance in context.order}
    summaries: dict[Key, Summary] = {}
    labels = Labels()
    yield from made_of.check(units.values(), context.linker, context.default)
    outside = tuple(map(pattern_of_glob, context.linker.settings.untrusted))
    asking = frozenset(name for name, row in context.linker.catalogue.rows.items() if "run" in row)
    called = {call.key for unit in units.values() for call in unit.calls}
    calls = calls_of(units)
    before = earlier(context.linker.outside, labels)
    marks: set[Store] = set()
    followed = set(units) if outside or before.sees else heard(units, calls)
    if not followed:
        return
    from .solver.flow.plan_flow import PlanFlow  # loaded where there is something to follow

    alone = kept(units, followed)
    for group in components(calls):
        if followed.isdisjoint(group):
            continue
        looping = len(group) > 1 or any(call.key == group[0] for call in units[group[0]].calls)
        changed = True
        while changed:
            changed = False
            mark = labels.mark()
            flows = [
                PlanFlow(units[key], summaries, labels, key in called, outside, before, asking)
                for key in group
            ]
            flows += [
                PlanFlow(units[key], summaries, labels, True, outside, before, asking, kept=True)
                for key in group
                if key in alone
            ]
            for flow in flows:
                key = flow.unit.key, flow.kept
                known = summaries.get(key)
                summaries[key] = flow.summary()
                changed |= looping and not same(known, summaries[key])
                marks |= flow.marks
        found: dict[tuple[Span, str, str], Diagnostic] = {}
        for flow in flows:
            found = {**flow.found, **found}
        yield from found.values()
        if called.isdisjoint(group):
            labels.release(mark)
    context.marks = steps(marks)
