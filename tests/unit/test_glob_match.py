"""Globs of plans and settings: the same verdict as a regular expression, in linear time (security 5, "regex")."""

from __future__ import annotations

import random
import re

import pytest
from fdc_toolchain.text.glob_match import compiled, fits, matches

from tests.support.profiles import quick_and_whole


def expression(glob: str) -> str:
    out, at = "", 0
    while at < len(glob):
        for piece, means in (
            ("**/", "(?:[^/]+/)*"),
            ("**", "(?s:.*)"),
            ("*", "[^/]*"),
            ("?", "[^/]"),
        ):
            if glob.startswith(piece, at):
                out, at = out + means, at + len(piece)
                break
        else:
            out, at = out + re.escape(glob[at]), at + 1
    return out


@pytest.mark.parametrize("globs", quick_and_whole(5_000, 20_000))
def test_a_glob_matches_what_its_regular_expression_does(globs: int):
    rng = random.Random(5)
    yes = 0
    for _ in range(globs):
        glob = "".join(
            rng.choice(("a", "b", "/", "*", "**", "**/", "?", "."))
            for _ in range(rng.randint(0, 6))
        )
        path = "".join(rng.choice("aab/.\n") for _ in range(rng.randint(0, 7)))
        expected = re.fullmatch(expression(glob), path) is not None
        assert matches(path, glob) == expected, (glob, path)
        yes += expected
    assert yes > globs // 20


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.md", "a.md", True), ("*.md", "d/a.md", False), ("**/*.md", "a.md", True), ("**/*.md", "d/e/a.md", True),
        ("docs/**", "docs/a/b", True), ("docs/**", "docs", False), ("docs/**/x", "docs/x", True), ("", "", True),
        ("**/passwd", "/etc/passwd", False), ("a?c", "a/c", False), ("[a]", "[a]", True), ("[a]", "a", False),
    ],
)  # fmt: skip
def test_what_the_signs_stand_for(glob: str, path: str, expected: bool):
    assert matches(path, glob) == expected


def test_a_value_in_a_glob_stands_for_itself():
    tokens = compiled([(False, "out/"), (True, "a*b"), (False, "/*")])
    assert fits("out/a*b/c", tokens)
    assert not fits("out/axb/c", tokens)


@pytest.mark.parametrize(
    "glob", ["*a" * 300 + "z", "**/" * 300 + "z", "**" * 300 + "z", "?*" * 300 + "z"]
)
def test_no_glob_takes_long(glob: str):
    """With backtracking the first of these takes longer than anybody lives."""
    assert not matches("a" * 300, glob)
    assert not matches("a/" * 150, glob)
