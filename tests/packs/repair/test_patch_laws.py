"""The patch applier of guided repair: the diff of (a, b) applied to a gives b or is refused, nothing else (HYP-34 to 36)."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable

import pytest
from fdc_packs.repair.patch.patch import Patched, PatchRefused, apply_patch, unified
from fdc_packs.repair.patch.region import Region
from hypothesis import assume, example, given
from hypothesis import strategies as st

words = st.sampled_from(
    [
        "a",
        "b",
        "  a",
        "\ta",
        "",
        "é x",
        "-- a",
        "++ b",
        "@@ c",
        "\x0c",
        "\u2028",
        "a | b",
        "}",
        "\\ e",
    ]
)
rows = st.lists(words | st.text("ab -+@`#|}", max_size=5), max_size=8)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts as an edit leaves them: some lines go, some come; one kind of line ends, which the first one shows."""
    before = draw(rows)
    after: list[str] = []
    for line in before:
        after += draw(
            st.sampled_from([[line], [line], [line], [], ["new"], [line, "more"], [line, line]])
        )
    after += draw(st.sampled_from([[], [], ["last"]]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    one, two = (end.join(lines) + (end if draw(st.booleans()) else "") for lines in (before, after))
    return bom + one, bom + (two if end in one else two.replace("\r", ""))


def lines_of(text: str) -> list[str]:
    *lines, last = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return lines + ([last] if last else [])


def by_difflib(before: str, after: str, context: int) -> str:
    """A unified diff from another hand than ours: the standard library's, with the markers that it leaves out."""
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    out = []
    for line in difflib.unified_diff(old, new, "a/f.py", "b/f.py", n=context):
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)


def section(before: str, after: str, context: int) -> tuple[list[str], list[str], int]:
    """The changed lines with context around them, more and more of it until their place in the text is the only one."""
    old, new = lines_of(before), lines_of(after)
    head = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new))])
    most = min(len(old), len(new)) - head
    tail = len(
        [
            *itertools.takewhile(
                lambda pair: pair[0] == pair[1], zip(old[::-1][:most], new[::-1][:most])
            )
        ]
    )
    while True:
        first, after_last = max(0, head - context), min(len(old), len(old) - tail + context)
        wanted = old[first:after_last]
        places = [at for at in range(len(old)) if old[at : at + len(wanted)] == wanted]
        if (len(places) == 1 and any(line.strip() for line in wanted)) or len(wanted) == len(old):
            return wanted, new[first : len(new) - len(old) + after_last], first
        context += 1


def search_replace(old: list[str], new: list[str]) -> str:
    return "\n".join(["<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"])


def blocks(old: list[str], new: list[str], word: str = "CHANGED") -> str:
    return "\n".join(
        [
            "ORIGINAL LINES:",
            "```python",
            *old,
            "```",
            "",
            f"{word} LINES:",
            "```python",
            *new,
            "```",
        ]
    )


def numbered(lines: list[str], first: int) -> list[str]:
    return [f"{number} | {line}" for number, line in enumerate(lines, first)]


def expressible(before: str, after: str) -> bool:
    """Blocks say nothing of the end of a file's last line, so they cannot change it."""
    ends = {text[-1:] == "\n" for text in (before, after) if lines_of(text)}
    return len(ends) < 2 and (bool(lines_of(before)) or ends == {True} or before.endswith("\n"))


def transports(answer: str) -> list[str]:
    """The same answer as it may arrive: bare, fenced and talked about, with the other line ends."""
    fence = "~~~" if "```" in answer else "```"
    return [
        answer,
        f"I think it is this:\n\n{fence}diff\n{answer.removesuffix(chr(10))}\n{fence}\n\n- it should help\n",
        answer.replace("\r\n", "\n").replace("\n", "\r\n"),
    ]


def attempt(before: str, answer: str, region: Region | None = None) -> Patched | str:
    try:
        return apply_patch(before, answer, region=region)
    except PatchRefused as refused:
        assert (
            refused.reason in ("missing-diff", "empty-diff", "scope-violation", "patch-apply")
            and refused.why
        )
        return refused.reason


@given(pairs(), st.integers(1, 4))
@example(("", "x"), 3)
@example(("x", ""), 3)
@example(("x\n", "x"), 3)
@example(("-- a\n++ b\n", "++ b\n-- a\n"), 1)
def test_a_unified_diff_gives_what_it_was_made_of(texts: tuple[str, str], context: int) -> None:
    """HYP-35: ours and the standard library's, whatever the line ends, with and without a final newline, from and to nothing."""
    before, after = texts
    assume(before != after)
    for diff in (unified("f.py", before, after), by_difflib(before, after, context)):
        for answer in transports(diff):
            assert after == apply_patch(before, answer).text


@given(pairs(), st.integers(0, 2))
def test_blocks_give_what_they_were_made_of(texts: tuple[str, str], context: int) -> None:
    """HYP-35: SEARCH/REPLACE and ORIGINAL/CHANGED (NEW), with and without line numbers; where two readings differ, refused."""
    before, after = texts
    assume(before != after and expressible(before, after))
    old, new, first = section(before, after, context)
    assume(not any("```" in line for line in old + new))
    for wrap in (search_replace, blocks, lambda one, two: blocks(one, two, "NEW")):
        for sides in ((old, new), (numbered(old, first + 1), numbered(new, first + 1))):
            sides = sides if old else (old, new)  # nothing has no number
            for answer in transports(wrap(*sides)):
                found = apply_patch(before, answer)
                assert (after, "exact") == (found.text, found.how)


marks = st.sampled_from(
    ["a", "b", "", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "ORIGINAL LINES:", "CHANGED LINES:", "NEW LINES:", "```",
     "~~~", "--- a/f.py", "+++ b/f.py", "@@ -1 +1 @@", "1 | a", "\x0c", "\u2028", "\\ No newline at end of file"]
)  # fmt: skip


@given(st.lists(marks, min_size=1, max_size=6), st.lists(marks, max_size=6), st.integers(0, 2))
def test_lines_that_look_like_marks_are_applied_or_refused(
    old: list[str], new: list[str], context: int
) -> None:
    """HYP-35: a section whose own lines look like the ends of sections says what it says, or is not a section. Fenced or not."""
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    assume(before != after)
    one, two, _ = section(before, after, context)
    answers = [search_replace(one, two), blocks(one, two)]
    if not any(
        side and "" in (side[0], side[-1]) for side in (one, two)
    ):  # without a fence one blank line ends a block
        answers.append("\n".join(["ORIGINAL LINES:", *one, "", "CHANGED LINES:", *two, ""]))
    assume(
        not {"<<<<<<< SEARCH", "ORIGINAL LINES:"} & {*two}
    )  # what comes with it is a section like any other
    for answer in answers:
        found = attempt(before, answer)
        assert found in ("patch-apply", "empty-diff") or (
            isinstance(found, Patched) and after == found.text
        ), found


@given(pairs(), st.integers(1, 3))
def test_a_diff_with_wrong_numbers_gives_what_was_meant_or_nothing(
    texts: tuple[str, str], context: int
) -> None:
    """A hunk's text is believed before its header: wrong counts and no counts change nothing, but that twins are refused."""
    before, after = texts
    assume(before != after)
    diff = by_difflib(before, after, context)
    loose = re.sub(r"(?m)^@@ .* @@$", "@@ ... @@", diff.replace("\r", ""))
    wrong = re.sub(
        r"(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@$", r"@@ -7,90 +\1,91 @@", diff.replace("\r", "")
    )
    for answer in (loose, wrong):
        found = attempt(before, answer)
        meant = (
            [after]
            if before.endswith("\n") == after.endswith("\n")
            else [after, after.rstrip("\r\n")]
        )
        assert found == "patch-apply" or (isinstance(found, Patched) and found.text in meant), found


def occurrences(lines: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    """Where lines stand in lines, found in the joined text and not by comparing slices."""
    text, needle = (
        "\n" + "".join(f"{line}\n" for line in lines),
        "\n" + "".join(f"{line}\n" for line in wanted),
    )
    return [
        text.count("\n", 0, found.start())
        for found in re.finditer(f"(?={re.escape(needle)})", text)
    ]


@pytest.mark.parametrize("wrap", [search_replace, blocks])
def test_no_ambiguous_place_is_ever_taken(wrap: Callable[[list[str], list[str]], str]) -> None:
    """HYP-36 by brute force: texts of up to four lines over three, sections of up to two; the oracle counts in the text."""
    alphabet = ("a", "  a", "b")
    for size in range(1, 5):
        for lines in itertools.product(alphabet, repeat=size):
            for width in (1, 2):
                for old in itertools.product(alphabet, repeat=width):
                    new = ["c", *old[1:]]
                    found = attempt("".join(f"{line}\n" for line in lines), wrap([*old], new))
                    exact = occurrences(lines, old)
                    bare = occurrences(
                        tuple(line.strip() for line in lines), tuple(line.strip() for line in old)
                    )
                    if len(exact) == 1 or (not exact and len(bare) == 1):
                        at = (exact or bare)[0]
                        if isinstance(found, str):  # the indentation of one section says two things
                            assert not exact and found == "patch-apply"
                            continue
                        after = found.text.split("\n")[:-1]
                        assert [*lines[:at]] == after[:at] and "c" == after[at].strip()
                        assert [*lines[at + 1 :]] == after[at + 1 :]
                    else:
                        assert "patch-apply" == found, (lines, old)


def test_of_two_like_places_the_number_of_a_header_decides_or_nothing() -> None:
    """HYP-36, D8: a hunk stands where its lines stand once; of several places the one nearest to its header's line is meant."""
    for size in range(1, 6):
        for lines in itertools.product("ab", repeat=size):
            for width in (1, 2, 3):
                for old in itertools.product("ab", repeat=width):
                    body = "".join(f" {line}\n" for line in old[:-1]) + f"-{old[-1]}\n+c\n"
                    found = attempt(
                        "".join(f"{line}\n" for line in lines), f"@@ -1,9 +1,9 @@\n{body}"
                    )
                    places = occurrences(lines, old)
                    if len(places) == 1:
                        at = places[0] + width - 1
                        wanted = "".join(
                            f"{line}\n" for line in (*lines[:at], "c", *lines[at + 1 :])
                        )
                        assert isinstance(found, Patched) and wanted == found.text
                    elif places:
                        at = places[0] + width - 1
                        assert isinstance(found, Patched) and found.spans == ((at + 1, at + 1),)
                        bare = "".join(f"{line}\n" for line in lines), f"@@ ... @@\n{body}"
                        assert "patch-apply" == attempt(*bare)
                    else:
                        assert "patch-apply" == found


pieces = st.sampled_from(
    ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "ORIGINAL LINES:", "CHANGED LINES:", "NEW LINES:", "```", "```diff", "~~~",
     "--- a/f.py", "+++ b/f.py", "--- /dev/null", "@@ -1 +1 @@", "@@ -1,2 +1,2 @@", "@@ ... @@", "@@ -0,0 +1 @@", " a",
     "-a", "+b", "a", "b", "", "1 | a", "2 | b", "-1 | a", "+1 | b", "\\ No newline at end of file",
     "diff --git a/f.py b/f.py", "\ufeffa", "  a"]
)  # fmt: skip


@given(
    rows.map("\n".join),
    st.lists(pieces, max_size=14).map("\n".join) | st.text(),
    st.sampled_from([None, (1, 1), (2, 4)]),
)
@example("a\n", "@@ -1 +1 @@\n-a\n+b", None)
def test_any_text_is_applied_or_refused_and_the_rest_stays(
    before: str, answer: str, lines: tuple[int, int] | None
) -> None:
    """HYP-14, T-40: nothing but a PatchRefused is raised; what is applied touches the lines that it names, all in its region."""
    region = Region("f.py", *lines, "lines") if lines else None
    found = attempt(before, answer, region)
    if isinstance(found, str):
        return
    assert found.text != before and found.spans
    old, new = before.split("\n"), found.text.split("\n")
    first, last = found.spans[0][0], max(found.spans[-1])
    assert old[: first - 1] == new[: first - 1]
    rest = old[last:]
    assert rest == new[len(new) - len(rest) :] or not "".join(rest)
    if lines:
        assert all(lines[0] <= one and two <= lines[1] for one, two in found.spans)


@given(st.text())
def test_no_text_alone_becomes_the_file(answer: str) -> None:
    """T-40: the applier that this one replaces took an apology for the new file."""
    assume(not re.search("@@|---|<<<|>>>|LINES:", answer))
    assert "missing-diff" == attempt("a\nb\n", answer)
