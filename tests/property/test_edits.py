"""Fixes applied to any text: whole or not at all, never overlapping, the rest of the text untouched."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fdc_toolchain.diagnostics.diagnostic import Edit, Fix
from fdc_toolchain.diagnostics.edits import apply
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.report.diff import unified
from fdc_toolchain.report.terminal.style import Style
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.profiles import share

lines = st.text("abc é\t", max_size=6)
texts = st.builds(
    lambda bom, rows, last: bom + "".join(row + end for row, end in rows) + last,
    st.sampled_from(["", "", "\ufeff"]),
    st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n"])), max_size=6),
    lines,
)


def edit(line: int, column: int, down: int, right: int, text: str) -> Edit:
    return Edit(Span("p", line, column, line + down, right if down else column + right), text)


edits = st.builds(
    edit,
    st.integers(1, 7),
    st.integers(1, 6),
    st.sampled_from([0, 0, 0, 1]),
    st.integers(0, 4),
    st.sampled_from(["", "X", "Y\n", "Z\nW"]),
)
fixes = st.lists(
    st.builds(Fix, st.just("t"), st.lists(edits, max_size=2).map(tuple), st.booleans()), max_size=6
)


def places(text: str) -> dict[tuple[int, int], int]:
    """Every place of a text as a span may name it, found by walking through it: (line, column) to offset."""
    found = {}
    line, column = 1, 1
    for at, c in enumerate(text):
        if at == 0 and c == "\ufeff":
            continue
        if not (c == "\n" and at and text[at - 1] == "\r" and column > 1):
            found[line, column] = at
        column += 1
        if c == "\n":
            line, column = line + 1, 1
    found[line, column] = len(text)
    found[line + 1, 1] = len(text)
    return found


def reference(text: str, given_: list[Fix]) -> tuple[str, list[Fix]]:
    """The same by the slowest way: try each fix against all characters taken so far."""
    where = places(text)
    rows = text.split("\n")
    candidates = []
    for number, fix in enumerate(given_):
        pieces = set()
        for edit in fix.edits:
            span = edit.span
            start, end = (
                where.get((span.line, span.column)),
                where.get((span.end_line, span.end_column)),
            )
            if start is None or end is None or end < start:
                break
            above = min(span.line, len(rows) - 1)
            crlf = above >= 1 and rows[above - 1].endswith("\r")
            pieces.add(
                (start, end, edit.replacement.replace("\n", "\r\n") if crlf else edit.replacement)
            )
        else:
            if pieces:
                candidates.append((min(pieces)[:2], number, pieces, fix))
    taken: set[tuple[int, int, str]] = set()
    applied = []
    for _, _, pieces, fix in sorted(candidates, key=lambda row: row[:2]):
        together = taken | pieces
        if all(apart(a, b) for a in together for b in together if a != b):
            taken = together
            applied.append(fix)
    for start, end, replacement in sorted(taken, key=lambda p: (p[0], p[1]), reverse=True):
        text = text[:start] + replacement + text[end:]
    return text, applied


def apart(a: tuple[int, int, str], b: tuple[int, int, str]) -> bool:
    if a[0] == a[1] == b[0] == b[1]:
        return False
    return a[1] <= b[0] or b[1] <= a[0]


@given(texts, fixes)
@settings(max_examples=share(600))
def test_fixes_do_what_the_slow_way_does(text: str, given_: list[Fix]) -> None:
    assert reference(text, given_) == apply(text, given_)


@given(texts, fixes)
def test_applying_is_deterministic_and_says_what_it_applied(text: str, given_: list[Fix]) -> None:
    new, applied = apply(text, given_)
    assert (new, applied) == apply(text, given_)
    assert (new, applied) == apply(text, applied)
    assert [] != applied or text == new


@given(texts, fixes)
def test_a_text_with_one_kind_of_line_end_keeps_to_it(text: str, given_: list[Fix]) -> None:
    unix = text.replace("\r\n", "\n")
    dos = unix.replace("\n", "\r\n")
    assert apply(unix, given_)[0].replace("\n", "\r\n") == apply(dos, given_)[0] or "\n" not in unix


@given(texts, texts)
@settings(max_examples=share(50))
def test_git_applies_a_diff_and_gets_the_text_it_tells_of(
    tmp_path_factory: object, before: str, after: str
) -> None:
    folder = Path(tmp_path_factory.mktemp("diff"))  # type: ignore[attr-defined]
    (folder / "p").write_bytes(before.encode())
    diff = unified("p", before, after)
    assert (diff == "") == (before == after)
    if diff and before and after:
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        run = subprocess.run(
            command, cwd=folder, input=diff.encode(), capture_output=True, check=False
        )
        assert (0, b"") == (run.returncode, run.stderr)
        assert after.encode() == (folder / "p").read_bytes()


def test_a_diff_for_a_terminal_shows_hidden_characters_and_one_for_a_pipe_keeps_them() -> None:
    before, after = "a\x1b[31m\nb\n", "a\x1b[31m\nc\u202e\n"
    assert "--- a/p\n+++ b/p\n@@ -1,2 +1,2 @@\n a\x1b[31m\n-b\n+c\u202e\n" == unified(
        "p", before, after
    )
    shown = unified("p", before, after, Style(width=80))
    assert "--- a/p\n+++ b/p\n@@ -1,2 +1,2 @@\n a\\u{1b}[31m\n-b\n+c\\u{202e}\n" == shown
    assert "\x1b[31m-b\x1b[0m\n\x1b[32m+c\\u{202e}\x1b[0m" in unified(
        "p", before, after, Style(True)
    )


def test_a_diff_of_a_large_file_takes_as_long_as_its_change() -> None:
    many = "".join(f"line {n % 7}\n" for n in range(200_000))
    diff = unified("p", many + "end\n", many + "END\n")
    assert "@@ -199998,4 +199998,4 @@\n line 0\n line 1\n line 2\n-end\n+END\n" in diff


def fix(*parts: tuple[int, int, int, int, str]) -> Fix:
    return Fix("t", tuple(Edit(Span("p", *where), text) for *where, text in parts), True)  # type: ignore[misc]


def test_what_fits_together_is_applied_in_one_pass() -> None:
    first, second = fix((1, 1, 1, 3, "XY")), fix((1, 3, 1, 5, ""), (2, 1, 2, 1, "> "))
    assert ("XYe\n> f\n", [first, second]) == apply("abcde\nf\n", [second, first])


def test_of_two_that_overlap_the_first_in_the_text_wins_whole() -> None:
    wide, narrow = fix((1, 1, 1, 4, "X"), (2, 1, 2, 2, "Y")), fix((1, 3, 1, 5, "Z"))
    assert ("Xde\nY\n", [wide]) == apply("abcde\nf\n", [narrow, wide])


def test_two_insertions_at_one_place_do_not_guess_their_order() -> None:
    one, two = fix((1, 1, 1, 1, "1")), fix((1, 1, 1, 1, "2"))
    assert ("1b", [one]) == apply("b", [one, two])


def test_an_edit_that_two_fixes_share_happens_once() -> None:
    shared = (1, 1, 1, 1, "param x\n")
    both = [fix(shared, (1, 1, 1, 2, "A")), fix(shared, (1, 2, 1, 3, "B"))]
    assert ("param x\nABc", both) == apply("abc", both)


def test_a_last_line_without_a_line_end_can_be_deleted_whole() -> None:
    gone = fix((2, 1, 3, 1, ""))
    assert ("a\n", [gone]) == apply("a\nb", [gone])
