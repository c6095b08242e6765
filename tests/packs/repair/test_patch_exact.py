"""What a tool made of two texts is applied to the byte: line ends of both kinds, marks, lines that look like a patch's own.

The other side is git: what both of us apply comes out the same, however the diff was damaged.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.repair.patch.patch import Patched, PatchRefused, apply_patch, unified
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.support.profiles import share

LOOKS = [
    "", "a", "b", "  a", "\ta", "a ", "}", "\x0c", "a\x0cb", "\u2028", "x\x85y", "\x1c", "a\rb", "\ufeffa", "é",
    "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "<<<<<<< HEAD", "--- a/f.py", "+++ b/f.py", "-- a", "++ b", "@@ -1 +1 @@",
    "@@ -1,2 +1,2 @@", "\\ No newline at end of file", "ORIGINAL LINES:", "CHANGED LINES:", "```", "~~~", "1 | a", "2 | b",
    "diff --git a/f.py b/f.py", "rename from x", "Binary files a and b differ", "- a", "+ b",
]  # fmt: skip
ended = st.tuples(st.sampled_from(LOOKS), st.sampled_from(["\n", "\n", "\r\n"]))


def joined(draw: st.DrawFn, rows: list[tuple[str, str]], mark: str) -> str:
    text = mark + "".join(line + end for line, end in rows)
    return text if draw(st.booleans()) else re.sub("\r?\n$", "", text)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts, the second as edits of any kind leave the first; the lines of each end as they like."""
    before = draw(st.lists(ended, max_size=8))
    after: list[tuple[str, str]] = []
    for line, end in before:
        other = "\n" if end == "\r\n" else "\r\n"
        kinds = [[(line, end)]] * 4 + [
            [],
            [("new", end)],
            [(line, end), draw(ended)],
            [(line, other)],
            [(line, end)] * 2,
        ]
        after += draw(st.sampled_from(kinds))
    after += draw(st.lists(ended, max_size=1))
    marks = draw(
        st.sampled_from(
            [("", "")] * 3 + [("\ufeff", "\ufeff")] * 2 + [("\ufeff", ""), ("", "\ufeff")]
        )
    )
    return joined(draw, before, marks[0]), joined(draw, after, marks[1])


def by_difflib(before: str, after: str, context: int) -> str:
    from difflib import unified_diff

    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    rows = unified_diff(old, new, "a/f.py", "b/f.py", n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in rows
    )


def attempt(before: str, answer: str) -> Patched | PatchRefused:
    try:
        return apply_patch(before, answer)
    except PatchRefused as refused:
        return refused


@settings(max_examples=share(400))
@given(edited(), st.integers(0, 4), st.booleans())
@example(("a\r\nb\nc\r\n", "a\nb\nc\r\n"), 3, False)
@example(("\ufeffa\n", "a\n"), 3, False)
@example(("a\r\nx", "a\r\nx\ny"), 0, False)
@example(("a\nb", "a\nnew\nb"), 0, True)
def test_the_diff_of_two_texts_makes_one_of_the_other(
    texts: tuple[str, str], context: int, fenced: bool
) -> None:
    """HYP-35: from no context to four lines of it; never anything but the second text."""
    before, after = texts
    assume(before != after)
    for diff in (by_difflib(before, after, context), unified("f.py", before, after)):
        answer = f"This is it:\n\n~~~diff\n{diff}~~~\n\nI hope that it helps.\n" if fenced else diff
        found = attempt(before, answer)
        if isinstance(found, PatchRefused):
            unsaid = (
                found.why == "nothing in a section says how its new lines end"
                and "\r\n" in before
                and "\r\n" not in diff
            )
            numbered = re.search(
                r"(?m)^\ufeff? *\d+ \|", before
            )  # the number may be the file's or the answer's
            marked = (
                before[:1] == "\ufeff"
                and ("byte order mark" in found.why or "says where" in found.why)
                and not context
            )
            marked = marked or (
                "begins with a byte order mark" in found.why and "\ufeff" in after[1:]
            )
            assert unsaid or numbered or marked, found
        else:
            assert after == found.text


def damaged(draw: Callable[..., Any], diff: str) -> str:
    """A diff as it may come: a line lost, doubled or changed, numbers that are off, hunks in another order. Its counts are right:
    where they are not, git leaves lines out, and we look where the text fits."""
    rows = diff.split("\n")[:-1]
    heads = [at for at, row in enumerate(rows) if row.startswith("@@ ")]
    what = draw(st.sampled_from(["none", "lost", "doubled", "mark", "shift", "order", "again"]))
    at = draw(st.integers(3, len(rows) - 1))
    if what in ("lost", "doubled", "mark") and at not in heads:
        rows[at : at + 1] = {
            "lost": [],
            "doubled": [rows[at]] * 2,
            "mark": [draw(st.sampled_from(" +-")) + rows[at][1:]],
        }[what]
    elif what == "shift":
        head = draw(st.sampled_from(heads))
        rows[head] = re.sub(r"-(\d+)", lambda found: f"-{int(found[1]) + 1}", rows[head], count=1)
    elif what in ("order", "again") and len(heads) > 1:
        one, two = rows[heads[0] : heads[1]], rows[heads[1] :]
        rows = rows[: heads[0]] + (two + one if what == "order" else one + two + one)
    return "\n".join([*rows[:2], *counted(rows[2:])]) + "\n"


def counted(rows: list[str]) -> list[str]:
    """Hunks whose heads count their lines."""
    heads = [at for at, row in enumerate(rows) if row.startswith("@@ ")] + [len(rows)]
    for at, stop in zip(heads, heads[1:], strict=False):
        old, new = (sum(row[:1] in (" ", side) for row in rows[at + 1 : stop]) for side in "-+")
        rows[at] = re.sub(r"-(\d+)(?:,\d+)? \+(\d+)(?:,\d+)?", rf"-\1,{old} +\2,{new}", rows[at])
    return rows


@settings(max_examples=share(80))
@given(data=st.data())
def test_what_git_applies_too_comes_out_the_same(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """HYP-36: beside git, which is lenient where two places fit; we never say anything else than it does."""
    before, after = data.draw(edited())
    assume(before and after and before != after)
    diff = damaged(data.draw, by_difflib(before, after, data.draw(st.integers(1, 3))))
    found = attempt(before, diff)
    if isinstance(found, PatchRefused):
        return
    folder = tmp_path_factory.mktemp("git")
    (folder / "f.py").write_bytes(before.encode())
    done = git_apply(folder, diff)
    if done == 0:
        assert (folder / "f.py").read_bytes() == found.text.encode()


def git_apply(folder: Path, diff: str) -> int:
    """git's own way with a diff, to the letter: no fuzz, no white space that is ignored."""
    command = ["git", "-c", "core.autocrlf=false", "-c", "apply.whitespace=nowarn", "apply", "-"]
    return subprocess.run(
        command, input=diff.encode(), cwd=folder, capture_output=True, check=False
    ).returncode
