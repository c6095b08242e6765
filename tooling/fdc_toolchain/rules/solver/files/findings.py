"""What the analysis of files found, in words: errors, and what is assumed (one assumption a command, or a plan)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from unicodedata import normalize

from ....diagnostics.diagnostic import Diagnostic, Label
from ....diagnostics.span import Span
from ....linking.graph import Instance
from ....linking.model import Invoke, Loop
from ....named_tuples import NamedTuple
from ....text.later_regex import later
from .bodies import is_literal
from .called import MOST_COMPUTED, MOST_LITERAL
from .command_causes import STEP, Commands, Places, listed
from .failures import Cause, CauseTable, Failure
from .nesting import MAKES, Nested, Nesting, Place
from .path_language import CHANCE, SETTLED, opaque
from .paths import Path, written

_HELP = {
    "FDC703": "name the files literally, or use `for_each_file`",
    "FDC704": "name the files literally, by a glob, or in separate folders",
}

WITHIN = "inside the workspace and outside of protected files"
"""Where a path that is known only in a run must lead: the runner refuses the others."""

Doubt = tuple[Instance, Loop, dict[tuple[Path, Path], int]]
"""A fork of an instance, with pairs of paths that two branches may use at the same time."""


class Found(NamedTuple):
    """A failure of a root: the path, what fails, and the path's state before the plan (0 absent, 1 present, 2 unknown)."""

    path: Path
    failure: Failure
    entry: int


class _Assumed:
    """One assumption of a plan: the place where it is shown, the paths, and the steps that fail where it is false."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.names: dict[str, None] = {}
        self.steps: dict[int, str] = {}
        """What each place is: steps that fail where the assumption is false, and what brings them there."""

    def finding(self, code: str, message: str, places: Places) -> Diagnostic:
        """The assumption as a diagnostic."""
        return Diagnostic(
            self.span, code, message, places.labels(self.steps, self.span), help=_HELP[code]
        )


def of_root(
    found: list[Found],
    doubts: list[Doubt],
    nested: Mapping[str, list[Place]],
    causes: CauseTable,
    adds: frozenset[Span],
) -> Iterator[Diagnostic]:
    """The errors, and the assumptions: one a command and kind, or one a plan and kind. `adds`: the steps `git_add`."""
    certain = {
        (name_of(item.path), item.failure.step, item.failure.outer)
        for item in found
        if item.failure.kind == "error"
    }
    places = Places()
    commands = Commands(causes)
    by_plan: dict[str, _Assumed] = {}
    ranked = sorted([(_order(item), item) for item in found], key=itemgetter(0))
    for number, ((_, _, name, _, kind), item) in enumerate(ranked):
        failure = item.failure
        if kind == "error":
            yield _error(item, name, causes, adds)
        elif (
            (name, failure.step, failure.outer) in certain
            or kind == "unknown"
            and not _uncertain(item)
        ):
            continue
        elif kind in ("made", "kept"):
            commands.may_cause(failure, number)
        else:
            repeats = kind == "unknown" and _repeats(item)
            codes = ["FDC704"] if repeats or kind == "distinct" else []
            if not codes or repeats and opaque(item.path):
                codes.append("FDC703")
            for code in codes:
                made = by_plan.setdefault(code, _Assumed(failure.outer))
                made.names[name] = None
                made.steps[places.number(failure.step)] = STEP
    yield from commands.findings([(order[2], item.failure.step) for order, item in ranked], places)
    for instance, fork, pairs in doubts:
        chances = [pair for pair, met in pairs.items() if met == CHANCE]
        if chances:
            span = instance.unit.span(fork.node)
            made = by_plan.setdefault("FDC704", _Assumed(span))
            made.steps.setdefault(places.number(span), "the branches of this fork")
            made.names.update((name_of(path), None) for pair in chances for path in pair)
    if "FDC703" in by_plan:
        made = by_plan["FDC703"]
        said = f"stay {WITHIN}, exist where a step reads them, and are absent where a step creates them"
        if len(made.names) == 1:
            said = f"stays {WITHIN}, exists where a step reads it, and is absent where a step creates it"
        yield made.finding("FDC703", f"{listed(sorted(made.names))} {said}", places)
    yield from _distinct(by_plan.get("FDC704"), nested, places)


def _distinct(
    made: _Assumed | None, nested: Mapping[str, list[Place]], places: Places
) -> Iterator[Diagnostic]:
    """The assumption about values that are unknown: one a plan, for files of one name and for files in files."""
    parts = []
    if made is not None:
        parts.append(f"no other value names the same file as {listed(sorted(made.names))}")
    for steps in nested.values():
        made = made or _Assumed(steps[0].outer)
        made.steps.update((places.number(step.step), STEP) for step in steps)
    if nested:
        inside = listed(sorted(name.rstrip("/") or name for name in nested))
        parts.append(f"no value names a folder of {inside}, or a file in it")
    if made is not None:
        yield made.finding("FDC704", "; ".join(parts), places)


def of_cut(instance: Instance, call: Invoke) -> Diagnostic:
    """A plan whose calls name too many files (FDC419), at the first call that is not followed."""
    message = (
        f"calls name more than {MOST_COMPUTED:,} files by values, or {MOST_LITERAL:,} literally: "
        "from here on they are not followed"
    )
    help_ = "name files by a `for` loop over a list, or in fewer calls"
    return Diagnostic(instance.unit.span(call.call), "FDC419", message, help=help_)


def of_nested(nesting: Nesting, pair: Nested) -> Diagnostic:
    """A file that is a folder of another one."""
    first = nesting.files(pair.above)[0]
    other = min(nesting.made[pair.below])
    above, below = name_of(pair.above), name_of(pair.below)
    labels = [] if first.outer == first.step else [Label(first.step, "this step")]
    labels += [Label(other.step, f"`{below}` here")] if other.step != first.outer else []
    message = f"`{above}` is used as a file here, and as a folder by `{below}`"
    help_ = "give the file a name that differs from the folder's"
    return Diagnostic(first.outer, "FDC415", message, tuple(labels), help=help_)


def _order(item: Found) -> tuple[Span, Span, str, str, str]:
    failure = item.failure
    return failure.outer, failure.step, name_of(item.path), failure.access, failure.kind


def _uncertain(item: Found) -> bool:
    """True where nothing of the path itself says that the step succeeds."""
    path = tuple(part for part in item.path if part != SETTLED)
    if item.failure.access in ("write", "match"):
        return opaque(path)
    # Nothing is in the folder of a run before it begins.
    return not (
        item.failure.access == "create"
        and path[0] == ("run",)
        and all(type(part) is str for part in path[1:])
    )


def _repeats(item: Found) -> bool:
    """True for what is created in the folder of the run, which holds nothing before: so it is free if values differ."""
    path = [part for part in item.path if part != SETTLED]
    return item.failure.access == "create" and bool(path) and path[0] == ("run",)


def name_of(path: Path) -> str:
    """The path as a plan writes it, without our marks."""
    if is_literal(path):
        return str(path[0]).rstrip("/") or str(path[0])
    name = written(tuple(part for part in path if part != SETTLED))
    return name.rstrip("/") or name


_SHELL = later(r"\$([A-Za-z_][A-Za-z0-9_]*)")
"""A value as shells write it, which a plan takes for text."""


def _error(item: Found, name: str, causes: CauseTable, adds: frozenset[Span]) -> Diagnostic:
    failure = item.failure
    labels = [] if failure.outer == failure.step else [Label(failure.step, "this step")]
    every = sorted(causes.each(failure.causes))
    why = [cause for cause in every if _explains(failure, cause)][:2]
    if failure.access == "through":
        code, message = "FDC415", f"`{name}` is a file here, and this step uses it as a folder"
        help_ = "use a path that goes through folders only"
        labels += [
            Label(cause.step, "this step makes the file")
            for cause in why
            if cause.step != failure.step
        ]
    elif not why and (folder := [one for one in every if one.access == "through"][:1]):
        code, message = "FDC415", f"`{name}` is a folder here, and this step uses it as a file"
        help_ = "name a file"
        labels += [Label(cause.step, "this step goes through the folder") for cause in folder]
    elif failure.access == "same":
        code, message = "FDC412", f"Cannot rename `{name}` to `{name}`: it already exists"
        help_ = "name another target"
    elif failure.access == "create":
        gone = [cause for cause in every if cause.access == "delete"][:1]  # on some runs only
        said = "may exist here" if gone else "already exists"
        code, message = "FDC412", f"Cannot create `{name}`: it {said}"
        help_ = "an earlier step, or an earlier round of the loop, creates it"
        if gone or item.entry == 1 and not why:
            help_ = "use `overwrite_file_with_block` to replace it"
        labels += [Label(cause.step, "this step may delete it, or not") for cause in gone]
        labels += [
            Label(cause.step, "this step may create it")
            for cause in why
            if cause.step != failure.step
        ]
    else:
        code, message = "FDC411", f"Cannot access `{name}`: it does not exist at this point"
        help_ = "an earlier step deletes or renames it"
        if failure.step in adds:
            help_ = "to commit the removal, write a command between these two steps, such as the one that runs the tests"
        if item.entry == 0 and not why:
            help_ = "a step that creates it must come before, on every run"
            shell = _SHELL.search(name)
            if shell:
                help_ = f"a value is written `{{{shell[1]}}}`; `{shell[0]}` is text in a plan"
            elif name == "~" or name.startswith("~/"):
                help_ = "`~` is text in a plan, not a home folder: write a path relative to the workspace's root"
            elif not name.isascii() and normalize("NFC", name) != normalize("NFD", name):
                help_ += _FORMS
        labels += [
            Label(cause.step, "this step may delete or rename it")
            for cause in why
            if cause.step != failure.step
        ]
    return Diagnostic(failure.outer, code, message, tuple(labels), help=help_)


_FORMS = (
    "; if a file whose name looks the same exists, its letters are other code points (Unicode NFC or NFD): "
    "copy its name into the plan"
)


def _explains(failure: Failure, cause: Cause) -> bool:
    wanted = MAKES if failure.access in ("create", "through") else ("delete",)
    return cause.access in wanted


def of_forks(
    conflicts: Mapping[tuple[int, Path], tuple[Instance, Loop]],
    doubts: Mapping[int, Doubt],
) -> Iterator[Diagnostic]:
    """What branches that run at the same time do to one file, or may do."""
    for (_, path), (instance, fork) in conflicts.items():
        name = fork.name or "NAME"
        message = (
            f"every branch of this fork writes `{written(path)}`, and they run at the same time"
        )
        help_ = f"give each branch its own path, for example with `{{{name}}}` in it"
        yield Diagnostic(instance.unit.span(fork.node), "FDC413", message, help=help_)
    for instance, fork, pairs in doubts.values():
        for (one, other), met in pairs.items():
            if met != CHANCE:
                span = instance.unit.span(fork.node)
                message = f"one branch of this fork may use `{name_of(other)}` while another changes `{name_of(one)}`"
                if one == other:
                    message = (
                        f"two branches of this fork may change `{name_of(one)}` at the same time"
                    )
                yield Diagnostic(
                    span,
                    "FDC413",
                    message,
                    help="use separate files for each branch, or `for` instead of `fork`",
                )
