"""The merge that places a hunk whose context is remembered wrongly says what `git merge-file` says, or nothing (HYP-37)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fdc_toolchain.packs.repair.patch import PatchRefused, apply_patch
from fdc_toolchain.packs.repair.patch_merge import merged
from fdc_toolchain.packs.repair.patch_read import Hunk, changes
from fdc_toolchain.packs.repair.patch_text import edited, put_together, take_apart
from fdc_toolchain.packs.repair.region import Region
from hypothesis import assume, given, settings
from hypothesis import strategies as st

NAMES = "alpha beta gamma delta epsilon zeta eta theta".split()
FILE = "".join(f"{name} = {number}\n" for number, name in enumerate(NAMES))


def git(folder: Path, ours: str, base: str, theirs: str) -> str | None:
    """What git makes of three texts; None where they conflict."""
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(text.encode("utf-8"))
    done = subprocess.run(["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


@settings(max_examples=60)
@given(data=st.data())
def test_where_it_merges_git_does_and_says_the_same(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The base is the text with lines remembered otherwise, the wanted one is the base with an edit."""
    lines = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=9))
    base = [data.draw(st.sampled_from([[line], [line], [line], [line, "z"], [], ["y"]])) for line in lines]
    old = [line for row in base for line in row]
    assume(old)
    at = data.draw(st.integers(0, len(old) - 1))
    new = [*old[:at], *data.draw(st.sampled_from([["new"], [], ["new", old[at]], [old[at], "new"]])), *old[at + 1 :]]
    text = "".join(f"{line}\n" for line in lines)
    parts = take_apart(text)
    found = merged(parts, Hunk(changes(old, new)), None)
    if found is not None:
        whole = (text, "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
        assert put_together(edited(parts, found.edits)) == git(tmp_path_factory.mktemp("m"), *whole)


def test_context_that_is_remembered_wrongly_is_merged() -> None:
    """Only the lines next to the change must be there; the others may be invented."""
    answer = "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n epsilon = 4\n nothing of this is there\n"
    found = apply_patch(FILE, answer, region=Region("f.py", 4, 4, "lines"))
    assert ("merge", ((4, 4),), FILE.replace("= 3\n", "= 30\n")) == (found.how, found.spans, found.text)
    assert found == apply_patch(FILE, answer)


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        (FILE, "@@ @@\n nowhere at all\n-delta = 3\n+delta = 30\n epsilon = 4\n"),  # a conflict: the line above is another one
        (FILE, "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n"),  # at the end of what is believed to be there
        (FILE + FILE, "@@ @@\n something else\n gamma = 2\n-delta = 3\n+delta = 30\n epsilon = 4\n other"),  # twice
    ],
)
def test_a_conflict_and_a_twin_are_refused(before: str, answer: str) -> None:
    with pytest.raises(PatchRefused, match="patch-apply"):
        apply_patch(before, answer)
