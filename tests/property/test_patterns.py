"""Arguments as patterns and as paths (`rules.solver`) against all that their values may make of them, for short values."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from fdc_toolchain.certificate.file_sets import HOLE, apart, files_of
from fdc_toolchain.rules.solver.events import fits, pattern_of
from fdc_toolchain.rules.solver.files.path_language import ALLOW, APART, GLOB, hits
from fdc_toolchain.rules.solver.files.paths import Path, filled, path_of
from fdc_toolchain.rules.solver.flow.file_taint import meet as meet_in_flow
from fdc_toolchain.rules.solver.flow.file_taint import pattern_of as pattern_of_path
from fdc_toolchain.syntax.values import rest
from fdc_toolchain.text.glob_match import compiled, matches, meet, plain

from tests.support.profiles import quick_and_whole, share

PIECES = ("a", "b.md", "docs/", "/", "./", "//", ".", "a/", "/a", "d/./", ".md", "x")
VALUES = ("", "a", ".", "x", "a/b", "docs", "docs/", "/a", "b.md", "./a")
GLOBS = (
    "docs/*",
    "docs/**",
    "**/*.md",
    "a",
    "*",
    "**",
    "docs/a",
    "a/b.md",
    "a/*",
    "*.md",
    "d/**",
    "x/**/a",
)
FILES = (
    "a", "x", "b.md", "a.md", "docs/a", "docs/b.md", "docs/a/b.md", "docsa", "a/b.md", "a/x", "ab.md", "d/a", "d/x/a", "x/a",
    "x/a/a", "x/d/e/a", "docs/x", "x/ba", "x/b/ca", "xa", "dx", "d/xa", "docs/ab.md", ".d/a", "x/.h/a", "d/.a",
)  # fmt: skip


def found_by(glob: str, path: str) -> bool:
    """Whether a loop over the glob finds the file: none of GLOBS writes the dot that a hidden name begins with."""
    return matches(path, glob) and not any(part.startswith(".") for part in path.split("/"))


def refused(path: str) -> bool:
    """Whether a step refuses the path (docs/rules.md, FDC416)."""
    return path.startswith("/") or path.rpartition("/")[2] in ("", ".")


@pytest.mark.parametrize("texts", quick_and_whole(share(2_000), share(8_000)))
def test_what_a_pattern_says_of_a_glob_holds_for_every_value(texts: int) -> None:
    said = {True: 0, False: 0, None: 0}
    for seed in range(texts):
        rng = Random(seed)
        parts = [rng.choice((*PIECES, *("{p}", "{q}") * 3)) for _ in range(rng.randrange(1, 6))]
        text = "".join(parts)
        if "{" not in text or text.startswith("/"):
            continue
        pattern, glob = pattern_of(rest(text), "path"), rng.choice(GLOBS)
        verdict = fits(pattern, glob)
        said[verdict] += 1
        for p, q in product(VALUES, repeat=2) if verdict is not None else ():
            whole = text.replace("{p}", p).replace("{q}", q)
            if refused(whole):
                continue
            assert matches(plain(whole), glob) == verdict, (text, glob, whole, pattern)
    assert min(said.values()) > sum(said.values()) // 40, said


def _template(rng: Random, glob: str) -> tuple[str, Path]:
    """A text with values in it, and the path of the analysis that it stands for: `{f}` is a file that the glob matches."""
    words = [rng.choice((*PIECES, *("{p}", "{q}") * 3, "{f}")) for _ in range(rng.randrange(1, 7))]
    text = "".join(words).lstrip("/") or "a"
    path = path_of(rest(text))
    return text, tuple((*part, GLOB + glob) if part == ("f",) else part for part in path)


def _holes(text: str) -> str:
    for name in ("{p}", "{q}", "{f}"):
        text = text.replace(name, HOLE)
    return text


@pytest.mark.parametrize("texts", quick_and_whole(share(1_000), share(16_000)))
def test_a_path_meets_each_literal_path_that_its_values_make(texts: int) -> None:
    """For the analysis of files, for that of text that goes through them, and for the checker of certificates."""
    checked = 0
    for seed in range(texts):
        rng = Random(seed)
        glob = rng.choice(GLOBS)
        text, path = _template(rng, glob)
        files = [name for name in FILES if found_by(glob, name)] or ["none"]
        for p, q in product(VALUES, VALUES):
            whole = text.replace("{p}", p).replace("{q}", q).replace("{f}", rng.choice(files))
            if refused(whole) or ".." in whole.split("/"):
                continue
            checked += 1
            name = plain(whole)
            assert hits(path, (name,)) != APART, (text, whole, path)
            assert meet_in_flow(pattern_of_path(rest(text)), pattern_of_path(rest(name))), text
            assert not apart(files_of(_holes(text)), files_of(name)), text
    assert checked > 20 * texts


def test_text_that_goes_through_a_file_taints_no_file_that_no_value_names() -> None:
    """Whoever writes to `src/.{p}` has not written to `srcfile`, which would be refused to a later step for no reason."""
    kept = 0
    for before, after, name in product(("", "a/.", *PIECES), ("", *PIECES), FILES):
        text = f"{before}{{p}}{after}"
        if before.startswith("/") or any(one in text for one in ("..", "//", "./")):
            continue  # not followed: any file
        parts = {name[i:j] for i in range(len(name)) for j in range(i, len(name) + 1)}
        values = parts | {f"/{part}" for part in parts}
        made = any(plain(before + value + after) == name for value in values)
        if not made and len(before + after) <= len(name):
            kept += 1
            assert not meet_in_flow(pattern_of_path(rest(text)), pattern_of_path(rest(name))), text
    assert kept > 500


@pytest.mark.parametrize("pairs", quick_and_whole(share(1_500), share(6_000)))
def test_paths_that_lie_apart_never_name_one_file(pairs: int) -> None:
    """The same name is the same value in both; a value may be any text, `{f}` one of the files that a glob matches."""
    apart = met = 0
    for seed in range(pairs):
        rng = Random(seed)
        glob = rng.choice(GLOBS)
        (left, one), (right, other) = _template(rng, glob), _template(rng, glob)
        files = [name for name in FILES if found_by(glob, name)] or ["none"]
        if hits(one, other) != APART:
            met += 1
            continue
        apart += 1
        for p, q, f in product(VALUES, VALUES, files):
            values = {"{p}": p, "{q}": q, "{f}": f}
            names = [left, right]
            for name, value in values.items():
                names = [text.replace(name, value) for text in names]
            if any(map(refused, names)):
                continue
            first, second = map(plain, names)
            assert first != second, (left, right, values, one, other)
    assert min(apart, met) > (apart + met) // 10, (apart, met)


def test_a_file_that_a_glob_matches_meets_literal_paths_and_globs_just_as_the_glob_does() -> None:
    for glob in GLOBS:
        found = (("f", GLOB + glob),)
        for name in FILES:
            met = hits(found, (name,)) != APART
            assert met or not found_by(glob, name), (glob, name)
            if not matches(name, glob) or name.startswith("."):
                assert not met, (glob, name)
        for second in GLOBS:
            both = meet(compiled([(False, glob)]), compiled([(False, second)]))
            assert (hits(found, (("g", GLOB + second),)) != APART) == both, (glob, second)


def test_a_question_mark_is_one_character_that_is_no_dot_where_the_name_begins() -> None:
    found = (("f", f"{GLOB}?.md"),)
    for name, met in (
        ("a.md", True),
        ("ab.md", False),
        ("..md", False),
        (".md", False),
        ("a.mdx", False),
    ):
        assert (hits(found, (name,)) != APART) is met, name


def test_a_command_may_change_just_the_files_that_an_allowed_glob_matches() -> None:
    """A `**` in it is any number of folders, hidden ones too."""
    for glob, file in product(GLOBS, FILES):
        may = hits(((ALLOW, ALLOW + glob),), (file,)) != APART
        assert may == matches(file, glob), (glob, file)


@pytest.mark.parametrize(
    ("path", "given", "made", "whole"),
    [
        ("docs/{p}.md", "a", "docs/a.md", True),
        ("docs/{p}.md", "{q}", "docs/{q}.md", True),
        ("docs/{p.x}.md", "{q}", "docs/{q.x}.md", True),
        ("{p}/{run}", "a", "a/{run}", True),
        ("docs/{p.x}.md", "a", "docs/{p.x}.md", False),  # a text has no fields
        ("docs/{p.x}.md", "a/{q}", "docs/{p.x}.md", False),
        ("docs/{other}.md", "a", "docs/{other}.md", False),
    ],
)
def test_a_path_of_a_called_plan_is_that_of_its_caller_where_all_its_names_stand_for_something(
    path: str, given: str, made: str, whole: bool
) -> None:
    found = filled(path_of(rest(path)), {"p": path_of(rest(given))})
    assert found == (path_of(rest(made)), whole)
