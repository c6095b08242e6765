"""A hunk whose context is remembered wrongly is placed by `git merge-file`, and where its lines stand once (HYP-37)."""

from __future__ import annotations

import pytest
from fdc_packs.repair.patch.hunk import Hunk, changes
from fdc_packs.repair.patch.merge import merged
from fdc_packs.repair.patch.patch import PatchRefused, apply_patch
from fdc_packs.repair.patch.region import Region
from fdc_packs.repair.patch.text import edited, put_together, take_apart
from fdc_packs.repair.tools.repair_patch import merge_file
from hypothesis import assume, given, settings
from hypothesis import strategies as st

NAMES = "alpha beta gamma delta epsilon zeta eta theta".split()
FILE = "".join(f"{name} = {number}\n" for number, name in enumerate(NAMES))


@settings(max_examples=60)
@given(data=st.data())
def test_where_the_lines_stand_once_git_merges_and_says_the_same(data: st.DataObject) -> None:
    """The base is the text with lines remembered otherwise, the wanted one is the base with an edit."""
    lines = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=9))
    base = [
        data.draw(st.sampled_from([[line], [line], [line], [line, "z"], [], ["y"]]))
        for line in lines
    ]
    old = [line for row in base for line in row]
    assume(old)
    at = data.draw(st.integers(0, len(old) - 1))
    new = [
        *old[:at],
        *data.draw(st.sampled_from([["new"], [], ["new", old[at]], [old[at], "new"]])),
        *old[at + 1 :],
    ]
    text = "".join(f"{line}\n" for line in lines)
    parts = take_apart(text)
    asked: list[tuple[str, str, str]] = []

    def merge(*texts: str) -> str | None:
        asked.append(texts)  # type: ignore[arg-type]
        return merge_file(*texts)

    found = merged(parts, Hunk(changes(old, new)), None, merge)
    assert (found is not None) == bool(asked)
    if found is not None:
        assert asked == [(text, *("".join(f"{line}\n" for line in lines) for lines in (old, new)))]
        assert put_together(edited(parts, found.edits)) == merge_file(*asked[0])


def test_context_that_is_remembered_wrongly_is_merged() -> None:
    """Only the lines next to the change must be there; the others may be invented."""
    answer = "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n epsilon = 4\n nothing of this is there\n"
    found = apply_patch(FILE, answer, region=Region("f.py", 4, 4, "lines"), merge=merge_file)
    assert ("merge", ((4, 4),), FILE.replace("= 3\n", "= 30\n")) == (
        found.how,
        found.spans,
        found.text,
    )
    assert found == apply_patch(FILE, answer, merge=merge_file)


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        (
            FILE,
            "@@ @@\n nowhere at all\n-delta = 3\n+delta = 30\n epsilon = 4\n",
        ),  # a conflict: the line above is another one
        (
            FILE,
            "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n",
        ),  # at the end of what is believed to be there
        (
            FILE + FILE,
            "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n epsilon = 4\n other",
        ),  # twice
    ],
)
def test_a_conflict_and_a_twin_are_refused(before: str, answer: str) -> None:
    with pytest.raises(PatchRefused, match="patch-apply"):
        apply_patch(before, answer, merge=merge_file)


CONTEXT = "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n epsilon = 4\n nothing of this is there\n"


def test_the_window_of_five_lines_comes_before_the_file() -> None:
    """HYP-37: the lines stand twice in the file, and once within five lines of the region."""
    text = FILE + "".join(f"filler {number}\n" for number in range(9)) + FILE
    with pytest.raises(PatchRefused, match="patch-apply"):
        apply_patch(text, CONTEXT, merge=merge_file)
    found = apply_patch(text, CONTEXT, region=Region("f.py", 21, 21, "lines"), merge=merge_file)
    assert ("merge", ((21, 21),)) == (found.how, found.spans)


def test_without_git_or_with_a_conflict_nothing_is_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """HYP-37: what git does not merge is not applied, whatever we think of it."""
    assert merge_file("a\nours\nb\n", "a\nbase\nb\n", "a\ntheirs\nb\n") is None
    assert "a\nx\nb\nc\ny\n" == merge_file("a\nx\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nb\nc\ny\n")
    assert "merge" == apply_patch(FILE, CONTEXT, merge=merge_file).how
    for merge in (None, lambda *texts: None, lambda *texts: "another text\n"):
        with pytest.raises(PatchRefused, match="not in the file"):
            apply_patch(FILE, CONTEXT, merge=merge)
    monkeypatch.setenv("PATH", "/nowhere")
    assert merge_file("a\n", "a\n", "b\n") is None
