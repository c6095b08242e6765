"""Every output format of one list of findings that has a bit of everything, as somebody found it right."""

from __future__ import annotations

import pytest
from fdc_toolchain.report.render import FORMATS, render
from fdc_toolchain.report.terminal.style import Style

from tests.support import findings, golden


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_is_what_it_was(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdc_toolchain.report.json_.version", lambda: "0.0.0")
    monkeypatch.setattr("fdc_toolchain.report.sarif.version", lambda: "0.0.0")
    monkeypatch.setattr(
        "fdc_toolchain.report.explanations._FOLDER", ""
    )  # their words change, the form does not
    golden.check(
        f"report/sample.{form}",
        render(form, findings.SAMPLE, findings.SAMPLE_TEXTS.get, files_checked=3),
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_is_what_it_was_in_terminals_of_several_widths(width: int) -> None:
    text = render(
        "text",
        findings.SAMPLE,
        findings.SAMPLE_TEXTS.get,
        style=Style(width=width),
        files_checked=3,
    )
    golden.check(f"report/sample.width{width}", text)


def test_colours_are_where_they_were() -> None:
    text = render(
        "text", findings.SAMPLE, findings.SAMPLE_TEXTS.get, style=Style(True, 80), files_checked=3
    )
    golden.check("report/sample.colours", text.replace("\x1b", "ESC"))


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found_is_said_in_each_format(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdc_toolchain.report.json_.version", lambda: "0.0.0")
    monkeypatch.setattr("fdc_toolchain.report.sarif.version", lambda: "0.0.0")
    golden.check(
        f"report/clean.{form}", render(form, [], findings.SAMPLE_TEXTS.get, files_checked=3)
    )


def test_golden_files_are_written_by_people_and_never_by_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError, match="unset UPDATE_GOLDEN"):
        golden.check("report/never", "x")
    assert not (golden.FOLDER / "report" / "never").exists()


def test_a_text_that_differs_from_its_golden_file_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPDATE_GOLDEN", raising=False)
    with pytest.raises(AssertionError, match=r"sample\.text differs"):
        golden.check("report/sample.text", "x")
    with pytest.raises(AssertionError, match="is missing: UPDATE_GOLDEN=1 writes it"):
        golden.check("report/none", "x")
