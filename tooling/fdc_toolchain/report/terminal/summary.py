"""The last line of a report: how much was found, in how many files."""

from __future__ import annotations

from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.plural import plural


def counts(diagnostics: list[Diagnostic]) -> dict[str, int]:
    """The number of findings by severity, the most serious first. Assumptions and fragments do not count."""
    out = {"error": 0, "warning": 0, "info": 0}
    for item in diagnostics:
        if item.severity in out:
            out[item.severity] += 1
    return out


def line(diagnostics: list[Diagnostic], files_checked: int) -> str:
    """`2 errors, 1 warning in 3 files; 1 of them can be fixed with `--fix``, or `no findings in 3 files`."""
    words = {"error": "error", "warning": "warning", "info": "note"}
    parts = [plural(number, words[name]) for name, number in counts(diagnostics).items() if number]
    text = f"{', '.join(parts) or 'no findings'} in {plural(files_checked, 'file')}"
    fixable = sum(1 for item in diagnostics if item.fix is not None and item.fix.safe)
    if fixable:
        of_all = "all" if fixable == len(diagnostics) else fixable
        text += f"; `--fix` repairs {'it' if len(diagnostics) == 1 else f'{of_all} of them'}"
    return text
