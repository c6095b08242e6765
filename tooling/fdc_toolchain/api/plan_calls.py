"""Calls about plans: check, repair, compile, bound the cost, explain findings. They write no files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .errors import InvalidInput, NotFound, PlanRefused, calling
from .values import (
    Bounds,
    Call,
    Catalogue,
    CheckResult,
    Diagnostic,
    Edit,
    Explanation,
    Fix,
    FixedText,
    FixResult,
    Label,
    Program,
    Span,
)

if TYPE_CHECKING:
    from ..check import Checked
    from ..diagnostics import diagnostic as below
    from ..diagnostics.span import Span as SpanBelow
    from ..linking.kept import Kept

Path = str | os.PathLike[str]
_NO_TEXTS: Mapping[str, str] = {}


def find_workspace(start: Path) -> str:
    """The nearest folder from `start` upwards that is a workspace, as an absolute path; `start` itself where none is."""
    with calling():
        from ..linking.project.root import find_root

        return find_root(root_of(start))


def check(
    plan: Path,
    *,
    workspace: Path,
    text: str | None = None,
    unsaved: Mapping[str, str] = _NO_TEXTS,
    whole: bool = False,
) -> CheckResult:
    """Checks a plan: a path from the workspace, an absolute path, or a registered name.

    `text` replaces the content of the file, which need not exist; `unsaved` does so for other files, by their paths.
    `whole`: check also a fragment as a run of its own. Faults of the plan are findings, never
    exceptions. Raises NotFound, InvalidInput (the settings are wrong), WorldTrouble.
    """
    with calling():
        return result_of(checked(root_of(workspace), plan, text, unsaved, whole))


def brief(result: CheckResult) -> str:
    """The findings with their repairs in words, in at most 1,500 characters, for an agent that repairs the plan.

    The most serious ones come first; what is left out is counted. It is `fdc lint --format llm` without the names of commands.
    """
    with calling():
        from ..report.llm import render
        from ..report.report import Report

        items = [*result.diagnostics, *result.assumptions, *result.fragments]
        return render(Report([*map(_diagnostic_below, items)], checked=1, commands=False))


def apply_fixes(text: str, fixes: Iterable[Fix]) -> FixedText:
    """The text after as many of the fixes as fit together. A fix is applied whole or not at all."""
    with calling():
        from ..diagnostics.edits import apply

        requested = list(fixes)
        converted = [_fix_below(fix) for fix in requested]
        done, applied = apply(text, converted)
        numbers = {id(fix): number for number, fix in enumerate(converted)}
        return FixedText(text=done, applied=tuple(requested[numbers[id(fix)]] for fix in applied))


def fix(
    plan: Path,
    *,
    workspace: Path,
    text: str | None = None,
    unsaved: Mapping[str, str] = _NO_TEXTS,
    unsafe: bool = False,
) -> FixResult:
    """A plan's text with its safe fixes applied, in rounds until none is left; `unsafe`: the others too.

    The file stays as it is. Raises as `check`, and InvalidInput where the text is not UTF-8.
    """
    with calling():
        from ..diagnostics.edits import MOST_ROUNDS, mended

        root = root_of(workspace)
        current = checked(root, plan, text, unsaved, False)
        applied: list[Fix] = []
        for _ in range(MOST_ROUNDS):
            key, files = current.keys[0], current.context.linker.files
            _text(key, files.seen.get(key) or b"")
            done = mended(current.diagnostics, [key], files.seen, unsafe=unsafe)
            if not done.applied:
                break
            applied += [_fix(item) for item in done.applied]
            current = checked(root, key, _text(key, done.texts[key]), unsaved, False)
        key = current.keys[0]
        final_text = _text(key, current.context.linker.files.seen.get(key) or b"")
        return FixResult(text=final_text, applied=tuple(applied), result=result_of(current))


def format_plan(text: str) -> str | None:
    """The text in the canonical form, with the same meaning; None where it is not a valid plan (`check` says why)."""
    with calling():
        from ..syntax.write import canonical

        formatted, _ = canonical(_bytes(text), "plan.txt")
        return None if formatted is None else formatted.decode("utf-8")


def compile_plan(
    plan: Path,
    *,
    workspace: Path,
    text: str | None = None,
    unsaved: Mapping[str, str] = _NO_TEXTS,
) -> Program:
    """The program of a plan that is proved as a run of its own. Raises as `check`, and PlanRefused."""
    with calling():
        from ..check import program_of
        from ..program.codec import canonical, digest

        proved_plan = proved(checked(root_of(workspace), plan, text, unsaved, True))
        program = program_of(proved_plan)
        return Program(plan=proved_plan.keys[0], hash=digest(program), json=canonical(program))


def bounds(
    plan: Path,
    *,
    workspace: Path,
    text: str | None = None,
    unsaved: Mapping[str, str] = _NO_TEXTS,
) -> Bounds:
    """The most that any run of a plan uses. Raises as `check`, and PlanRefused for a plan with errors."""
    with calling():
        from .figures import bounds_of

        root = root_of(workspace)
        return bounds_of(proved(checked(root, plan, text, unsaved, False)), root)


def explain(rule: str) -> Explanation:
    """What a rule flags, why it matters, and what to write instead; `rule` is a code or a name. Raises NotFound."""
    with calling():
        from ..report.explanations import of

        explanation = of(rule)
        severity: below.Severity = explanation.severity  # type: ignore[assignment]
        return Explanation(
            code=explanation.code,
            rule=explanation.rule,
            severity=severity,
            summary=explanation.summary,
            markdown=explanation.markdown,
        )


def catalogue(*, workspace: Path, packs: Sequence[str] = ()) -> Catalogue:
    """The tools, registered plans and packs that a plan of the workspace can name, by name. Raises NotFound, InvalidInput.

    `packs`: those that the plan uses (`use pack NAME`), beside those of the workspace's settings.
    """
    with calling():
        return catalogue_of(root_of(workspace), _NO_TEXTS, packs)


# Functions that `run_calls` and `editing` use too


def catalogue_of(root: str, unsaved: Mapping[str, str], packs: Sequence[str] = ()) -> Catalogue:
    """The names for a plan of a workspace that uses these packs. Raises NotFound for a pack that does not exist."""
    from ..linking.link import Linker
    from ..linking.project.files import Files
    from ..workspace.confirmed_settings import settings_of
    from .figures import known_to

    files = Files(root)
    files.seen.update({_key(root, path): _bytes(content) for path, content in unsaved.items()})
    linker = Linker(root, settings_of(root), files)
    for name in packs:
        if name not in linker.packs:
            raise NotFound("; ".join(linker.no_pack(name)))
    return known_to(linker, packs)


def root_of(workspace: Path) -> str:
    """The absolute path of a workspace. Raises NotFound where it is not a folder."""
    root = os.path.abspath(text_of(workspace))
    if not os.path.isdir(root):
        raise NotFound(f"the workspace `{root}` is not a folder")
    return root


def text_of(value: Path) -> str:
    """A path or another argument as text. Raises InvalidInput for a wrong type."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise InvalidInput(f"expected text or a path of text, found {type(text).__name__}")
    return text


def checked(
    root: str,
    plan: Path,
    text: str | None,
    unsaved: Mapping[str, str],
    whole: bool,
    kept: Kept | None = None,
) -> Checked:
    """The internal result of a check of one plan."""
    from ..check import check as judge
    from ..linking.link import Linker
    from ..linking.project.files import Files
    from ..runs.create_run import plan_key
    from ..workspace.confirmed_settings import settings_of

    files = Files(root)
    texts = {_key(root, path): _bytes(content) for path, content in unsaved.items()}
    files.seen.update(texts)
    linker = Linker(root, settings_of(root), files, kept)
    key = _key(root, plan)
    if text is not None:
        texts[key] = _bytes(text)
    elif key not in texts:
        name = text_of(plan)
        key = plan_key(linker, name, os.path.join(root, key))
    return judge(linker, [key], texts, whole=whole)


def proved(plan: Checked) -> Checked:
    """The plan itself, if it has no error. Raises PlanRefused."""
    errors = [item for item in plan.diagnostics if item.severity == "error"]
    if errors:
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        first = f"{errors[0].span}: {errors[0].code} {errors[0].message}"
        raise PlanRefused(f"the plan `{plan.keys[0]}` is refused: {first}{more}", result_of(plan))
    return plan


def result_of(plan: Checked, *, labelled: bool = True) -> CheckResult:
    """The result of a check as plain values. `labelled` False: assumptions without their labels."""
    from ..syntax.tree import span

    key = plan.keys[0]
    known: dict[
        int, Label
    ] = {}  # by the id of a label below: assumptions share them by the thousand
    diagnostics = tuple(map(_diagnostic, plan.diagnostics))
    wrong = any(item.severity == "error" for item in diagnostics)
    part = any(item.span.path == key for item in plan.fragments)
    return CheckResult(
        plan=key,
        text=plan.sources(key) or "",
        verdict="error" if wrong else "fragment" if part else "proved",
        diagnostics=diagnostics,
        assumptions=tuple(
            _diagnostic(item, known if labelled else None) for item in plan.assumptions
        ),
        fragments=tuple(map(_diagnostic, plan.fragments)),
        calls=tuple(
            Call(span=_span(span(key, call.call)), name=call.name, target=call.key)
            for call in plan.context.linker.units[key].calls
        ),
    )


def _key(root: str, plan: Path) -> str:
    """The key of a path: relative to the workspace if it is in it, also when it is written through links."""
    path = os.path.normpath(os.path.join(root, text_of(plan)))
    if path.startswith(root + os.sep):
        return path[len(root) + 1 :]
    real, folder = os.path.realpath(root), os.path.realpath(os.path.dirname(path))
    if folder == real or folder.startswith(real + os.sep):
        return os.path.join(folder, os.path.basename(path))[len(real) + 1 :]
    return path


def _bytes(text: str) -> bytes:
    """A text as the file that an editor would save; halves of surrogate pairs become a finding."""
    return text_of(text).encode("utf-8", "surrogatepass")


def _text(key: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise InvalidInput(
            f"`{key}` is not UTF-8 text (byte {wrong.start}); save it as UTF-8 first"
        ) from wrong


def _span(span: SpanBelow) -> Span:
    path, line, column, end_line, end_column = span
    return Span(path=path, line=line, column=column, end_line=end_line, end_column=end_column)


def _fix(fix: below.Fix) -> Fix:
    edits = tuple(Edit(span=_span(edit.span), replacement=edit.replacement) for edit in fix.edits)
    return Fix(title=fix.title, edits=edits, safe=fix.safe)


def _fix_below(fix: Fix) -> below.Fix:
    from ..diagnostics.diagnostic import Edit, Fix

    edits = [Edit(_span_below(edit.span), edit.replacement) for edit in fix.edits]
    return Fix(fix.title, tuple(edits), fix.safe)


def _span_below(at: Span) -> SpanBelow:
    from ..diagnostics.span import Span

    return Span(at.path, at.line, at.column, at.end_line, at.end_column)


def _diagnostic_below(item: Diagnostic) -> below.Diagnostic:
    """A finding without its labels and its trace."""
    from ..diagnostics.diagnostic import Diagnostic

    fix = None if item.fix is None else _fix_below(item.fix)
    return Diagnostic(
        _span_below(item.span),
        item.code,
        item.message,
        help=item.help,
        fix=fix,
        grade=item.severity,
    )


_NO_LABELS: dict[int, Label] = {}


def _labels(item: below.Diagnostic, known: dict[int, Label]) -> Iterator[Label]:
    for label in item.labels:
        converted = known.get(id(label))
        if converted is None:
            converted = Label(span=_span(label.span), message=label.message)
            if known is not _NO_LABELS:
                known[id(label)] = converted
        yield converted


def _trace(item: below.Diagnostic) -> tuple[Label, ...]:
    from ..report.terminal.trace import depths

    return tuple(
        Label(span=_span(step.span), message=step.message.lstrip(" "), depth=depth)
        for step, depth in zip(item.trace, depths(item.trace), strict=True)
    )


def _diagnostic(item: below.Diagnostic, known: dict[int, Label] | None = _NO_LABELS) -> Diagnostic:
    return Diagnostic(
        code=item.code,
        rule=item.rule,
        severity=item.severity,
        message=item.message,
        span=_span(item.span),
        labels=() if known is None else tuple(_labels(item, known)),
        trace=_trace(item) if item.trace else (),
        help=item.help,
        fix=None if item.fix is None else _fix(item.fix),
    )
