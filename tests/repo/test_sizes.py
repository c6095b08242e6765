"""No file of the product over 400 lines and no other over 500, but for a list that may only shrink.

What people write counts: code, grammar, prose, make and shell. Data (JSON, goldens, corpora) and pages
that say in their first lines that they are generated do not.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.support.repository import ROOT, files

PRODUCT, LIMITS = "tooling/", (500, 400)
LIST = "tests/repo/sizes.txt"
WRITTEN = {
    ".py",
    ".lark",
    ".md",
    ".toml",
    ".yaml",
    ".yml",
    ".sh",
    ".js",
    ".ts",
    ".css",
    ".html",
    ".j2",
    ".plan",
}
DATA = ("tests/golden/", "tests/replay/", "benchmarks/corpus/")


def written_by_hand(name: str, text: str) -> bool:
    path = PurePosixPath(name)
    if name.startswith(DATA) or not (
        path.suffix in WRITTEN or path.name == "Makefile" or name.startswith(".ci/")
    ):
        return False
    return "generated" not in "\n".join(text.splitlines()[:5]).lower() or path.suffix == ".py"


def sizes() -> dict[str, int]:
    found = {}
    for name in files():
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        if written_by_hand(name, text):
            found[name] = len(text.splitlines())
    return found


def limit(name: str) -> int:
    return LIMITS[name.startswith(PRODUCT)]


def parse(text: str) -> dict[str, int]:
    rows = (
        line.rsplit(" ", 1)
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    )
    return {name: int(count) for name, count in rows}


def oversized(found: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    """One line for each file that is too long and for each entry of the list that is not exactly true."""
    wrong = []
    for name, lines in sorted(found.items()):
        if lines > limit(name) and name not in allowed:
            wrong.append(f"{name} has {lines} lines, the limit is {limit(name)}: split it by job")
        elif name in allowed and lines > allowed[name]:
            wrong.append(
                f"{name} has {lines} lines and was allowed {allowed[name]}: the list may only shrink"
            )
        elif name in allowed and lines <= limit(name):
            wrong.append(f"{name} has {lines} lines: it needs no entry in {LIST} any more")
        elif name in allowed and lines < allowed[name]:
            wrong.append(
                f"{name} has {lines} lines: write that instead of {allowed[name]} into {LIST}"
            )
    wrong.extend(
        f"{name} is gone: so is its entry in {LIST}" for name in sorted(set(allowed) - set(found))
    )
    return wrong


def grown(older: Mapping[str, int], newer: Mapping[str, int]) -> list[int]:
    """The sizes of a newer list that an older one does not cover, each entry used once: a file may be renamed."""
    free = sorted(older.values(), reverse=True)
    return [
        lines
        for place, lines in enumerate(sorted(newer.values(), reverse=True))
        if place >= len(free) or lines > free[place]
    ]


def test_no_file_is_longer_than_it_may_be() -> None:
    assert [] == oversized(sizes(), parse((ROOT / LIST).read_text("utf-8")))


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the list's history is in git")
def test_the_list_has_only_shrunk() -> None:
    def git(*arguments: str, check: bool = True) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=check
        ).stdout

    @cache
    def version(commit: str) -> dict[str, int]:
        """The list in a commit, empty where there was none."""
        return parse(git("show", f"{commit}:{LIST}", check=False))

    log = git("log", "--full-history", "--format=%H %P", "--", LIST)
    pairs = [(new, old) for new, *before in map(str.split, log.splitlines()) for old in before]
    assert [] == grown(version("HEAD"), parse((ROOT / LIST).read_text("utf-8")))
    assert {} == {
        new: grow
        for new, old in pairs
        if version(old) and (grow := grown(version(old), version(new)))
    }


def test_each_way_to_break_the_rule_is_found() -> None:
    found = {
        "new.py": 501,
        "grew.py": 701,
        "shrank.py": 650,
        "small.py": 500,
        "same.py": 600,
        "fine.py": 500,
    }
    allowed = {"grew.py": 700, "shrank.py": 700, "small.py": 700, "same.py": 600, "gone.py": 700}
    assert [
        ("grew.py", "was allowed 700"), ("new.py", "split it"), ("shrank.py", "write that instead of 700"),
        ("small.py", "needs no entry"), ("gone.py", "is gone"),
    ] == [
        (line.split(" ")[0], next(mark for mark in
            ("was allowed 700", "split it", "write that instead of 700", "needs no entry", "is gone") if mark in line))
        for line in oversized(found, allowed)
    ]  # fmt: skip


def test_a_list_that_grew_is_found() -> None:
    older = {"a": 600, "b": 700}
    assert [] == grown(older, {"b": 650, "renamed": 600})
    assert [601, 501] == grown(older, {"a": 601, "b": 650, "c": 501})
    assert [701] == grown(older, {"a": 701, "b": 600})


def test_generated_pages_do_not_count_and_code_always_does() -> None:
    assert not written_by_hand("AGENTS.md", "<!-- GENERATED from protocols/ -->\n" + "x\n" * 600)
    assert written_by_hand("docs/guide.md", "# A guide\n" + "x\n" * 600)
    assert written_by_hand(
        "tooling/fdc_toolchain/a.py", '"""Generated by hand, says the author."""\n'
    )
    assert not written_by_hand("grammar/tools.json", "{}\n" * 600)
