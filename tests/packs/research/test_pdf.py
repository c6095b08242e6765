"""PDFs are documents where the extra is installed: scanned, quoted with their lines, checked again (FDC-53)."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from fdc_toolchain.tools.files.documents import lines_in, scan

from tests.support.cited import check_report
from tests.support.pdf import pdf
from tests.support.research import report_of, research, write
from tests.support.web import Reply, allowing, searxng, site

TEXT = [
    "Green tea wants water of eighty degrees.\nIt is brewed for two minutes.",
    "Black tea takes boiling water (always).",
]


def reasons(folder: Path) -> dict[str, str]:
    return {one.path: one.reason for one in scan(str(folder)).skipped}


def test_a_pdf_is_read_with_its_pages_as_sections(tmp_path: Path) -> None:
    write(tmp_path, {"docs/tea.pdf": pdf(TEXT)})
    [found] = scan(str(tmp_path)).documents
    assert "docs/tea.pdf" == found.path
    assert ["## Page 1", "## Page 2"] == [line for line in found.lines if line.startswith("#")]
    assert (
        "Green tea wants water of eighty degrees." in found.lines
        and "Black tea takes boiling water (always)." in found.lines
    )


def test_research_quotes_a_pdf_and_every_citation_holds(tmp_path: Path) -> None:
    """FDC-53, EXP-17."""
    write(tmp_path, {"docs/tea.pdf": pdf(TEXT)})
    ending = research(tmp_path, "How hot is the water for green tea?", documents="docs")
    assert "finished" == ending.status, ending
    report = report_of(tmp_path)
    assert (
        "**Page 1**, docs/tea.pdf:" in report
        and "- Green tea wants water of eighty degrees. `docs/tea.pdf:" in report
    )
    checked = check_report(str(tmp_path), report)
    assert [] == checked.failures and checked.checked > 1
    write(tmp_path, {"docs/tea.pdf": pdf(["Nothing of the kind.", "And no more."])})
    assert [] == check_report(str(tmp_path), report).held


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"%PDF-1.7", "the PDF cannot be read"),
        (b"%PDF-1.7\n" + b"\xff\0" * 5000, "the PDF cannot be read"),
        (b"no PDF at all", "the PDF cannot be read"),
        (pdf(TEXT)[:300], "the PDF cannot be read"),
        (pdf([""]), "a PDF without text"),
        (b"", "the PDF cannot be read"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_listed_with_the_reason(
    tmp_path: Path, data: bytes, why: str
) -> None:
    write(tmp_path, {"bad.pdf": data, "good.md": "Tea.\n"})
    found = reasons(tmp_path)
    assert ["bad.pdf"] == list(found) and found["bad.pdf"].startswith(why), found


def test_a_pdf_that_unpacks_without_end_is_given_up(tmp_path: Path) -> None:
    """Its reader is a process with a ceiling; fdc goes on."""
    bomb = zlib.compress(zlib.compress(bytes(100_000_000)))
    body = b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream" % (
        len(bomb),
        bomb,
    )
    whole = pdf(["x"])
    start = whole.index(b"<< /Length ")
    end = whole.index(b"endstream", start) + len(b"endstream")
    write(tmp_path, {"bomb.pdf": whole[:start] + body + whole[end:], "good.md": "Tea.\n"})
    assert "bomb.pdf" in reasons(tmp_path)
    assert ["good.md"] == [one.path for one in scan(str(tmp_path)).documents]


def test_the_same_bytes_have_the_same_lines_and_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    data = pdf(["Tea that is read once only."])
    first = lines_in("a.pdf", data)
    monkeypatch.setattr("fdc_toolchain.tools.files.readable._asked", None)
    assert first == lines_in("b.PDF", data) and any("read once" in line for line in first)


@pytest.mark.slow
def test_a_pdf_of_the_web_is_read_like_a_page(tmp_path: Path) -> None:
    from tests.support.process import fdc

    (tmp_path / "docs").mkdir()
    served = {"/tea.pdf": Reply(pdf(TEXT, "On tea"), "application/pdf")}
    with site(served) as tea, searxng([(f"{tea.url}/tea.pdf", "On tea", "green tea")]) as engine:
        env = allowing(tea, search=engine)
        done = fdc(
            "research",
            "How hot is the water for green tea?",
            "--docs",
            "docs",
            cwd=tmp_path,
            env=env,
        )
    assert (
        0 == done.returncode
        and f"{tea.url}/tea.pdf:" in done.stdout
        and "eighty degrees" in done.stdout
    ), done.stderr


def test_pdfs_do_not_keep_a_scan_busy_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdc_toolchain.tools.files.documents.PDF_SECONDS", 0)
    write(tmp_path, {"a.pdf": pdf(["First tea."]), "b.pdf": pdf(["Second tea."])})
    assert ["a.pdf"] == [one.path for one in scan(str(tmp_path)).documents]
    assert "another scan continues" in reasons(tmp_path)["b.pdf"]
