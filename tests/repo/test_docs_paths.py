"""Documents tell the truth about where things are: every path and every link in them leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest

from tests.support import repository
from tests.support.repository import ROOT, files, is_ignored

PAGES = [
    name
    for name in files()
    if name.endswith(".md") and not name.startswith(("tests/", "benchmarks/corpus/"))
]
TOP_FOLDERS = (
    "grammar",
    "protocols",
    "tooling",
    "knowledge_core",
    "plans",
    "tests",
    "docs",
    "editors",
    "benchmarks",
    ".ci",
)
TOP_FILES = (
    "README.md",
    "VERSION",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "AGENTS.md",
    "pyproject.toml",
    ".pre-commit-hooks.yaml",
)
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,}).*?^\s*\2`*\s*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = {"plans/first.plan"}
"""What `fdc init` makes in other repositories."""
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}[A-Z_]*\b|[<>{}]|\.\.\.|…")


def named(text: str) -> Iterator[str]:
    """The paths of this repository that inline code of a page names, without `:line` and trailing slashes."""
    for _, code in CODE.findall(FENCE.sub("", text)):
        for word in code.split():
            path = re.sub(r"[:#][\w-]*$", "", word.strip("\"'(),;")).removesuffix(".")
            first = path.split("/")[0]
            if (first in TOP_FOLDERS and "/" in path) or path in TOP_FILES:
                yield path.rstrip("/")


def linked(text: str) -> Iterator[str]:
    """The relative targets of a page's links."""
    for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if not re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            yield target.partition("#")[0]


def leads_somewhere(path: str) -> bool:
    """True for a file or folder of the repository, a pattern that fits one, and what a run or a build makes."""
    if PLACEHOLDER.search(PurePosixPath(path).stem) and path not in TOP_FILES:
        parent = PurePosixPath(path).parent.as_posix()
        return PLACEHOLDER.search(parent) is not None or (ROOT / parent).is_dir()
    if "*" in path:
        return any(fnmatchcase(name, path) for name in files())
    return repository.shipped(path).exists() or is_ignored(path) or path in MADE


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    if page == "docs/rules.md":
        pytest.skip(
            "its examples are small workspaces of their own, with files of their own; tests run them"
        )
    assert [] == sorted({path for path in named(text) if not leads_somewhere(path)})


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    folder = Path(ROOT, page).parent
    assert [] == sorted(
        {
            target
            for target in linked((ROOT / page).read_text("utf-8"))
            if not (folder / target).exists()
        }
    )


def test_the_reader_finds_paths_and_leaves_the_rest() -> None:
    text = (
        "See `docs/language.md`, `python3 tooling/fdc_cli.py lint plan.txt` and `tooling/fdc_cli.py:12`.\n"
        "Not docs/prose.md, nor `research/x.md`; but `grammar/` and `VERSION`.\n"
        "```\n`docs/in-a-fence.md`\n```\n"
    )
    assert [
        "docs/language.md",
        "tooling/fdc_cli.py",
        "tooling/fdc_cli.py",
        "grammar",
        "VERSION",
    ] == list(named(text))


@pytest.mark.parametrize(
    "path", ["docs/no-such-page.md", "tooling/fdc_toolchain/nowhere.py", "plans/library/*.nothing"]
)
def test_a_planted_lie_is_found(path: str) -> None:
    assert not leads_somewhere(path)


@pytest.mark.parametrize(
    "path", ["tooling/*.py", "protocols/NAME.protocol.json", "grammar", "VERSION"]
)
def test_patterns_placeholders_and_folders_are_understood(path: str) -> None:
    assert leads_somewhere(path)


def test_a_dead_link_is_found_and_an_address_is_left_alone() -> None:
    text = "[a](docs/none.md) [b](https://example.org/x) [c](#part) [d](README.md#map) `[e](no.md)`"
    assert ["docs/none.md", "README.md"] == list(linked(text))
