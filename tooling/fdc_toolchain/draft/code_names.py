"""The files that define the names of code in a task: `Signal.connect`, `parse_line`, `total()`, the class Basket."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..linking.project.discover import SKIPPED
from ..linking.project.ignored import Ignored
from ..linking.project.regular_file import read

MOST_FILES, MOST_BYTES = 5_000, 1 << 20
"""Files of code that are looked at; bytes of one of them."""

_CODE = frozenset(
    "c cc cpp cs ex go h hpp java js jsx kt lua mjs php py pyi rb rs scala sh swift ts tsx".split()
)
ENDINGS = _CODE | frozenset(
    "adoc bash bat cfg conf css csv dat db diff doc docx env gif html ini ipynb jpeg jpg json jsonl lock log md old patch pdf pl"
    " plan png ps1 rst scss sql sqlite svg tex text toml tsv txt vue webp xml yaml yml zip zsh".split()
)
"""What names of files end in; another word with a point in it is a name of code."""
_NAME = re.compile(r"(?<![\w./-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(\))?(?![\w/-]|\.\w)")
_SAID = re.compile(
    r"\b(?:class|constant|enum|error|exception|function|interface|method|struct|type|variable)\s+[\"'`“]?$",
    re.IGNORECASE,
)
"""Before a name of code that looks like a word."""
_SPELLED = re.compile(r"\w_\w|^__|[a-z][A-Z]|\.")
_DEFINED = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\([^)\n]*\))?)[ \t]+)*"
    r"(?:def|class|function\*?|func(?:[ \t]*\([^)\n]*\))?|fn|struct|enum|interface|trait|type|const|let|var|module)[ \t]+(\w+)"
    r"|^[ \t]*(\w+)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.MULTILINE,
)
_PLAIN = re.compile(r"[\w./+-]+", re.ASCII)
"""A path that a plan can name as it is, and a terminal can show."""
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)(?:test_[^/]*|[^/]*[_.](?:test|spec)\.\w+)$"
)


def defined(root: str, text: str) -> dict[str, str]:
    """By name of code in the text: the one file of the workspace that defines it, or the class that it shall belong to.

    A name that several files define is left out; tests count only where no other file defines it.
    """
    names = {
        match[1]
        for match in _NAME.finditer(text)
        if (
            match[2]
            or _SPELLED.search(match[1])
            or _SAID.search(text[max(0, match.start() - 30) : match.start()])
        )
        and match[1].rpartition(".")[2].lower() not in ENDINGS
        and not os.path.lexists(os.path.join(root, match[1]))
    }
    if not names:
        return {}
    words = {word for name in names for word in name.split(".")}
    files: dict[str, list[str]] = {word: [] for word in words}
    for path in _files(root):
        for word in _definitions(root, path) & words:
            files[word].append(path)
    found = {name: _place(name.split("."), files) for name in names}
    return {name: path for name, path in found.items() if path}


def _place(parts: list[str], files: dict[str, list[str]]) -> str:
    """The file that defines the last part, of several the one that defines the part before it, too; else the latter."""
    paths = files[parts[-1]]
    above = files[parts[-2]] if len(parts) > 1 else []
    if above:
        paths = [path for path in paths if path in above] or above
    paths = [path for path in paths if not _TESTS.search(path)] or paths
    return paths[0] if len(paths) == 1 else ""


def _files(root: str) -> Iterator[str]:
    """The files of code, below the root, that git does not ignore."""
    count = 0
    ignored = Ignored(root)
    for folder, below, names in os.walk(root):
        here = os.path.relpath(folder, root)
        ignored.enter(here)
        below[:] = sorted(
            name
            for name in below
            if name not in SKIPPED
            and name[:1] != "."
            and not ignored(os.path.join(here, name), True)
        )
        for name in sorted(names):
            path = os.path.normpath(os.path.join(here, name))
            if (
                name.rpartition(".")[2].lower() in _CODE
                and not os.path.islink(os.path.join(folder, name))
                and not ignored(path, False)
            ):
                count += 1
                if count > MOST_FILES:
                    return
                if _PLAIN.fullmatch(path):
                    yield path


def _definitions(root: str, path: str) -> set[str]:
    try:
        text = read(os.path.join(root, path), MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return set()
    return {one or other for one, other in _DEFINED.findall(text)}
