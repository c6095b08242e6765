"""The pipeline, as one readable function: link, graph, rules, suppress, sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .automata.model import Automaton
from .diagnostics.codes import SAFETY
from .diagnostics.diagnostic import Diagnostic, ordered, parted
from .diagnostics.span import Span
from .linking.graph import Graph, Instance
from .linking.link import Linker
from .linking.project.guarded_paths import guarded
from .linking.project.places import Inside
from .linking.project.root import typed
from .linking.project.secret_files import withheld
from .linking.project.settings import Settings, read_settings
from .named_tuples import NamedTuple
from .program.model import Program
from .recursion import deepen, uncollected
from .rules import RULES, Context
from .rules.solver.fragment import as_fragment
from .syntax.tree import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .certificate.forms import Assumption

deepen()


class Checked(NamedTuple):
    """What a check found. `diagnostics` are sorted and final; `keys` are the plans that were judged.

    `assumptions` are what the proofs rest on, `fragments` the plans that are not proved as whole runs; both
    sorted, and neither are findings.
    """

    diagnostics: list[Diagnostic]
    keys: tuple[str, ...]
    context: Context
    sources: Callable[[str], str | None]
    assumptions: list[Diagnostic]
    fragments: list[Diagnostic]


def key_of(path: str, root: str) -> str:
    """The key of a plan by the path that a user gave: relative to the workspace where it lies in it."""
    return typed(root, path)


def check_paths(paths: Sequence[str], workspace: str, settings: Settings | None = None) -> Checked:
    """Checks the plans at `paths` (as the user gave them) in the workspace at the absolute path `workspace`.

    Raises OSError for a file that cannot be read, SettingsError for wrong settings.
    """
    linker = Linker(workspace, settings if settings is not None else read_settings(workspace))
    return check(linker, [key_of(path, workspace) for path in paths])


@uncollected()
def check(
    linker: Linker,
    keys: Sequence[str],
    texts: dict[str, bytes] | None = None,
    *,
    whole: bool = False,
    own_comments: bool = True,
) -> Checked:
    """Links and judges the plans under `keys`; `texts` stands for files that are not on disk.

    `whole`: as runs of their own, as `fdc run` begins them, also those that are only fragments. What is protected and secret
    is then what a run finds so: the links of all folders count, and PATH.
    `own_comments` False: the suppressions in the plans' texts silence nothing (for plans that an agent wrote).
    """
    deepen()  # the API puts the limit back behind each of its calls
    if whole:
        linker.files.led_to = guarded(linker.root)[1:]
    for key in keys:
        linker.link(key, (texts or {}).get(key))
    judged = [key for key in dict.fromkeys(keys) if linker.units[key].body]
    found, context = judge(linker, keys, judged, whole=whole)
    found += linker.diagnostics + linker.automaton_findings()
    runs = {instance.unit.key for instance, _ in context.roots}
    marked = {
        unit.key: (unit.plan, unit.key in runs)
        for unit in linker.units.values()
        if own_comments and unit.plan and "fdc:" in unit.text
    }
    parts = parted(settle(linker.settings, found, marked))
    return Checked(
        parts.findings, tuple(keys), context, _sources(linker), parts.assumptions, parts.fragments
    )


def default_automaton(linker: Linker) -> Automaton | None:
    """The automaton of the settings; a missing one is reported once."""
    _, default, found = linker.automaton(linker.settings.fsm)
    if default is None and not found:
        span = Span("fdc.toml", 1, 1, 1, 1)
        message = f"the automaton `{linker.settings.fsm}` of the settings does not exist"
        linker.diagnostics.append(Diagnostic(span, "FDC201", message))
    return default


def judge(
    linker: Linker, keys: Sequence[str], judged: Sequence[str], *, whole: bool = False
) -> tuple[list[Diagnostic], Context]:
    """Everything found in the linked plans under `keys` and in what they reach, with `judged` taken as roots.

    A plan of `judged` that names no automaton, is refused as a whole run, and can be called from some
    state of the default automaton, is a fragment: it gets no verdict of a whole run (unless `whole`).

    A finding in a plan depends on that plan, on what it reaches, and on whether it is in `judged`; neither on
    who calls it nor on any registry. The verdict cache rests on this.
    """
    default = default_automaton(linker)
    graph = Graph(linker.units)
    roots: list[tuple[Instance, Automaton | None]] = []
    for key in judged:
        unit = linker.units[key]
        governing = (
            unit.automaton
            if unit.stated is not None
            else unit.continues
            if unit.part is not None
            else default
        )
        roots.append((graph.instance(key), governing))
    reached = dict.fromkeys(keys)
    work = list(reached)
    while work:  # along every call, those that close a cycle too: what is wrong in such a plan is said as well
        for call in linker.units[work.pop()].calls:
            if call.key in linker.units and call.key not in reached:
                reached[call.key] = None
                work.append(call.key)
    rings = [key for ring in graph.rings if ring[0] in reached for key in ring]
    order = graph.order([graph.instance(key) for key in dict.fromkeys((*rings, *reached))])
    context = Context(linker, graph, roots, order, default)
    found: list[Diagnostic] = []
    if not whole:
        for root in list(roots):
            fragment = as_fragment(context, *root)
            if fragment is not None:
                context.roots.remove(root)
                found.append(fragment)
    for key in dict.fromkeys(instance.unit.key for instance in order):
        found += _advised(linker, key)
    for rule in RULES:
        found += rule(context)
    return found, context


def _advised(linker: Linker, key: str) -> list[Diagnostic]:
    """What is wrong with the text of a plan; no one is sent to `fdc migrate` with a plan that it refuses."""
    unit = linker.units[key]
    found = list(unit.diagnostics)
    if not any(item.code == "FDC119" for item in found):
        return found
    from .migrate.advice import checked

    data = unit.text.encode("utf-8", "surrogateescape")
    return checked(found, key, data, linker.catalogue, linker.settings.limits)


def settle(
    settings: Settings, found: list[Diagnostic], marked: Mapping[str, tuple[Plan, bool]]
) -> list[Diagnostic]:
    """Without what comments and settings silence, in order, each once.

    `marked`: the plans with such comments, and whether each was judged as a whole run. Errors stay, but for
    safety errors that the settings allow and a person confirmed: those become assumptions. Assumptions
    that the settings deny become errors.
    """
    out = ordered(found)
    if not (marked or settings.ignore or settings.per_file_ignores or settings.allow):
        if not settings.assumptions:
            return out
    if marked:
        by_file: dict[str, list[Diagnostic]] = {key: [] for key in marked}
        before, out = out, []
        for item in before:
            by_file.get(item.span.path, out).append(item)
        from .syntax import suppressions  # loaded where something may be silenced

        for key, (plan, whole) in marked.items():
            out += suppressions.apply(plan, by_file[key], judged=whole)
    if settings.ignore or settings.per_file_ignores:
        out = [item for item in out if not _ignored(settings, item)]
    if settings.allow:
        out = [_allowed(settings, item) for item in out]
    if settings.assumptions:
        out = [_denied(settings, item) for item in out]
    return ordered(out)


def _ignored(settings: Settings, item: Diagnostic) -> bool:
    from .syntax import suppressions

    if not suppressions.silences(item.code, item.severity):
        return False
    if item.code in settings.ignore:
        return True
    from .text.glob_match import matches

    return any(
        item.code in codes and matches(item.span.path, glob)
        for glob, codes in settings.per_file_ignores
    )


def _allowed(settings: Settings, item: Diagnostic) -> Diagnostic:
    """A safety error that the settings allow is an assumption, once somebody confirmed it on this machine."""
    if item.code not in SAFETY or item.severity != "error":
        return item
    from .text.glob_match import matches

    for row in settings.allow:
        if row.code == item.code and matches(item.span.path, row.files):
            if not settings.trusted:
                help_ = "the settings allow this; that counts on this machine once you confirm it with `fdc trust`"
                return item._replace(help=help_)
            message = f"the operator allowed {item.code} here ({row.reason}): {item.message}"
            return item._replace(
                code="FDC712",
                message=message,
                help="mend the plan, and remove the row of `allow`",
                fix=None,
            )
    return item


def _denied(settings: Settings, item: Diagnostic) -> Diagnostic:
    if item.severity == "assumption" and (
        "deny" in settings.assumptions or item.rule in settings.assumptions
    ):
        return item._replace(grade="error")
    return item


def _sources(linker: Linker) -> Callable[[str], str | None]:
    inside = Inside(linker.root)

    def source(key: str) -> str | None:
        unit = linker.units.get(key)
        if unit is not None and unit.text:  # a plan over a limit was not read as text
            return unit.text
        data = linker.files.seen.get(key)
        if data is None or inside.leads_out(key):
            return None
        if withheld(inside, key, linker.settings.secret):
            return None
        return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")

    return source


def compile_plan(path: str, workspace: str) -> tuple[Program | None, list[Diagnostic]]:
    """The program of a plan that was proved, or None with the findings that forbid it (FDC-04)."""
    linker = Linker(workspace, read_settings(workspace))
    checked = check(linker, [key_of(path, workspace)], whole=True)
    if any(item.severity == "error" for item in checked.diagnostics):
        return None, checked.diagnostics
    return program_of(checked), checked.diagnostics


def program_of(checked: Checked) -> Program:
    """The program of the first plan that was judged, which must have no error."""
    from .lower import lower

    context = checked.context
    linker = context.linker
    key = checked.keys[0]
    unit = linker.units[key]
    default = context.default if unit.part is None else unit.continues
    rows, untrusted = linker.catalogue.rows, linker.settings.untrusted
    program = lower(
        context.graph,
        key,
        default,
        linker.files,
        rows,
        linker.obligations,
        untrusted,
        context.marks,
        linker.catalogue.tools,
    )
    reached = {plan["path"] for plan in program["plans"].values()}
    program["assumptions"] = [
        _assumption(item) for item in checked.assumptions if item.span.path in reached
    ]
    stored = [row.path for row in linker.outside if row.sha256]
    chosen = [row.path for row in linker.outside if row.there]
    if stored:
        program["stored"] = stored
    if chosen:
        program["chosen"] = chosen
    return program


def _assumption(item: Diagnostic) -> Assumption:
    """An assumption as a program carries it: its places are the lines that stop the run where it is false."""
    places = dict.fromkeys(
        (span.path, span.line) for span in (item.span, *(label.span for label in item.labels))
    )
    return {
        "rule": item.rule,
        "code": item.code,
        "text": item.message,
        "help": item.help,
        "path": item.span.path,
        "line": item.span.line,
        "uses": [list(place) for place in places],
    }
