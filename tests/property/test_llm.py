"""`--format llm` keeps its limit whatever is found, leaves nothing out silently, and shows the worst first."""

from __future__ import annotations

import re

from fdc_toolchain.diagnostics.diagnostic import Diagnostic, Fix
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.report.llm import LIMIT, render
from fdc_toolchain.report.report import Report
from hypothesis import given
from hypothesis import strategies as st

from tests.support import findings

ORDER = ("error", "warning", "info", "fragment", "assumption")
_long = st.integers(0, 4000).map(lambda count: "x\x1b" * count)
_wordy = st.builds(
    lambda item, path, message, help_: item._replace(
        span=item.span._replace(path=path), message=message, help=help_
    ),
    findings.diagnostics,
    st.sampled_from(["a.plan", "deep/" * 90 + "b.plan", "::" + "\x1b" * 500]),
    _long,
    st.none() | _long,
)
items = st.lists(findings.diagnostics | _wordy, max_size=40)


def shown(text: str) -> list[tuple[str, str]]:
    """The (severity, code) of each finding in a report, in its order."""
    return re.findall(r"^.*:-?\d+:-?\d+: ([a-z]+) (FDC\d+): ", text, re.MULTILINE)


@given(items, st.booleans(), st.integers(0, 10**9))
def test_the_whole_text_stays_within_its_limit(
    found: list[Diagnostic], assumptions: bool, uncounted: int
) -> None:
    text = render(Report(found, checked=10**9, listed=assumptions, uncounted=uncounted))
    assert len(text) <= LIMIT and text.endswith("\n")
    assert text == render(Report(found, checked=10**9, listed=assumptions, uncounted=uncounted))
    plain = render(
        Report(found, checked=10**9, listed=assumptions, uncounted=uncounted, commands=False)
    )
    assert len(plain) <= LIMIT and "--fix" not in plain


@given(items)
def test_what_is_not_shown_is_counted_and_less_serious(found: list[Diagnostic]) -> None:
    text = render(Report(found, checked=3))
    expected = [item for item in found if item.severity != "assumption"]
    expected.sort(key=lambda item: ORDER.index(item.severity))
    listed = shown(text)
    assert listed == [(item.severity, item.code) for item in expected[: len(listed)]]
    assert listed or not expected, "one finding always has room"
    last = text.splitlines()[-1]
    left = len(expected) - len(listed)
    if left:
        counted, _, _ = last.removeprefix("left out: ").partition(";")
        assert sum(int(number) for number in re.findall(r"\d+", counted)) == left
    else:
        assert not last.startswith("left out: ")


def finding(code: str, line: int, fix: Fix | None = None, help_: str | None = None) -> Diagnostic:
    return Diagnostic(Span("a.plan", line, 1, line, 2), code, "what", help=help_, fix=fix)


def test_the_repair_is_said_in_words_and_the_command_that_applies_it() -> None:
    safe, unsafe = Fix("write `b`", (), True), Fix("drop the line", (), False)
    found = [
        finding("FDC301", 1, safe),
        finding("FDC301", 2, unsafe),
        finding("FDC301", 3, None, "say more"),
    ]
    assert render(Report(found, checked=1)).splitlines() == [
        "3 errors. `fdc lint --fix` applies 1 repair. `fdc lint --fix --unsafe-fixes` applies 1 more; check the result.",
        "a.plan:1:1: error FDC301: what",
        "  repair: write `b` (--fix)",
        "a.plan:2:1: error FDC301: what",
        "  repair: drop the line (--fix --unsafe-fixes)",
        "a.plan:3:1: error FDC301: what",
        "  repair: say more",
    ]  # fmt: skip


def test_an_error_behind_a_hundred_warnings_is_shown_first() -> None:
    warnings = [finding("FDC313", line) for line in range(1, 101)]
    assert warnings[0].severity == "warning"
    text = render(Report([*warnings, finding("FDC301", 200)], checked=1))
    assert shown(text)[:2] == [("error", "FDC301"), ("warning", "FDC313")]
    assert "100 warnings" in text.splitlines()[0]
    assert re.fullmatch(r"left out: \d\d warnings; .*", text.splitlines()[-1])


def test_warnings_do_not_hide_that_the_plans_are_proved() -> None:
    at = Span("a.plan", 1, 1, 1, 2)
    warning, error = Diagnostic(at, "FDC313", "unused"), Diagnostic(at, "FDC301", "unknown")
    assert "2 plans proved" == render(Report([warning], checked=2)).splitlines()[1]
    assert "proved" not in render(Report([warning, error], checked=2))
