"""Plans of every older notation (`migrate/NAME.txt`), and what `fdc migrate` says and writes (`migrate/NAME.out`)."""

from __future__ import annotations

import pytest
from fdc_toolchain.migrate.convert import migrate
from fdc_toolchain.migrate.dialect import LANGUAGE
from fdc_toolchain.migrate.model import Migration
from fdc_toolchain.linking.catalogue import read_catalogue
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.tails import malformed_tails
from fdc_toolchain.diagnostics.source import Limits

from tests.support.golden import FOLDER, check

NAMES = sorted(path.stem for path in (FOLDER / "migrate").glob("*.txt"))
CATALOGUE = read_catalogue((), lambda path: None)[0]


def run(data: bytes, name: str = "plan.txt") -> Migration:
    return migrate(data, name, CATALOGUE, Limits())


def source(name: str) -> bytes:
    return (FOLDER / "migrate" / f"{name}.txt").read_bytes()


def told(done: Migration) -> str:
    """Everything that a migration says, as one text."""
    out = [f"notation: {done.dialect}"]
    out += [f"line {change.line}: {change.what}" for change in done.changes]
    for item in done.diagnostics:
        out.append(f"refused: {item.span.line}:{item.span.column}: {item.message} [{item.code}]")
        out += [f"  help: {item.help}"] if item.help else []
    return "\n".join(out) + "\n" + (f"\n{done.text.decode()}" if done.text is not None else "")


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_converted_or_refused_as_somebody_found_right(name: str) -> None:
    check(f"migrate/{name}.out", told(run(source(name))))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_converted_reads_cleanly_and_needs_nothing_more(name: str) -> None:
    done = run(source(name))
    if done.text is None:
        assert done.diagnostics and done.changes == ()
        return
    parsed = parse(done.text, name)
    assert (
        parsed.plan is not None and parsed.diagnostics == [] and malformed_tails(parsed.plan) == []
    )
    assert Migration(LANGUAGE, done.text, (), ()) == run(done.text)


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_are_kept_and_change_nothing_else(name: str) -> None:
    """T-07: CRLF made one command of a whole plan."""
    done, dos = run(source(name)), run(source(name).replace(b"\n", b"\r\n"))
    assert (done.dialect, done.changes, done.diagnostics) == (
        dos.dialect,
        dos.changes,
        dos.diagnostics,
    )
    assert (done.text and done.text.replace(b"\n", b"\r\n")) == dos.text


@pytest.mark.parametrize("name", NAMES)
def test_a_change_or_refusal_names_a_line_of_the_old_text(name: str) -> None:
    done = run(source(name))
    count = source(name).count(b"\n")
    assert all(1 <= change.line <= count for change in done.changes)
    assert all(1 <= item.span.line <= count and item.span.column >= 1 for item in done.diagnostics)


def test_every_notation_has_a_plan_that_is_converted() -> None:
    converted = {run(source(name)).dialect[:2] for name in NAMES if run(source(name)).changes}
    assert {"D1", "D2", "D3", "D4", "D5", "D6", "nu"} == converted


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"set_plan \xff\n", "FDC101"),
        (b"a" * 2_000_000, "FDC106"),
        ("set_plan\n\u202ex\n---\n".encode(), "FDC103"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_with_its_own_findings(
    data: bytes, code: str
) -> None:
    done = run(data)
    assert done.text is None and code in {item.code for item in done.diagnostics}


def test_a_byte_order_mark_goes_where_something_else_changes() -> None:
    done = run(b"\xef\xbb\xbfset_plan\nx\n---\nsubmit\n")
    assert b"set_plan x\nsubmit\n" == done.text
    assert (1, "the byte order mark is gone") == done.changes[0]
