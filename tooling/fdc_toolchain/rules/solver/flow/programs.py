"""The programs that commands name literally, as far as that is certain: what cannot be made out is not spoken of."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache

from ....named_tuples import NamedTuple
from ....syntax.values import Value

_WITHIN = frozenset(
    ". : [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable"
    " eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read"
    " readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset"
    " wait".split()
)
"""Commands that are inside of bash."""

_BEYOND = frozenset(
    "! { } if then elif else fi while until do done for in case esac time function select coproc alias source . eval hash"
    " exec trap enable set shopt export declare typeset readonly unset".split()
)
"""Words after which a command is not as simple as it looks: nothing is said of it."""

_SHELLS = re.compile(r"(python|python3(\.\d+)?|bash|sh)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_PLAIN = re.compile(r"[A-Za-z0-9_./+@%:,=-]+")
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9_./+@%:,= -]*")


class Simple(NamedTuple):
    """A simple command: its words (None: one that is not known before the run), and what stands before it."""

    words: tuple[str | None, ...]
    before: str


def named(command: str) -> list[str]:
    """The programs, by name, that a command looks for on the PATH, each once, in order. What is not known stands as `{name}`."""
    out: dict[str, None] = {}
    for simple in _simples(command):
        word = simple.words[0] if simple.words else None
        if word is not None and "/" not in word and word not in _WITHIN:
            out[word] = None
    return list(out)


def found(name: str, exists: Callable[[str], bool]) -> tuple[list[str], bool]:
    """(the paths that were asked for, whether one of them is there) of a program on the PATH."""
    asked = []
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if folder.startswith("/"):
            path = os.path.join(folder, name)
            asked.append(path)
            if exists(path):
                return asked, True
    return asked, False


_SPECIAL, _WORDS = re.compile(r"[\\'\";&|]"), re.compile(r"[^ \t\r\n]+")
"""What a shell reads in another way than as words, and the words of a text without it."""
_MARKS = re.compile(r"[`$\\\n(){}*?\[\]~#<>!\0]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_TOKENS = re.compile(r"[;&|]+|(?:[^ \t\r\n'\";&|]|'[^']*'|\"[^\"]*\")+|['\"]")
"""Operators and words; a quote alone where it has no end. For texts without a backslash."""


def script(value: Value) -> str | None:
    """The file of the workspace without which a command certainly fails: it is run first, and what follows needs it."""
    simples = _simples(value.text)
    if not simples or any(one.before not in ("", "&&") for one in simples):
        return None
    words = simples[0].words
    if words and words[0] is not None and _SHELLS.fullmatch(words[0]) and len(words) > 1:
        words = words[1:]
    elif not words or words[0] is None or "/" not in words[0]:
        return None
    path = words[0]
    return (
        path.removeprefix("./")
        if path is not None and not path.startswith("-") and inside(path)
        else None
    )


def inside(path: str) -> bool:
    """True for a plain path that counts from the workspace and stays in it."""
    return (
        not path.startswith(("/", "~")) and ".." not in path.split("/") and path.strip("./") != ""
    )


@lru_cache(maxsize=1 << 12)
def _simples(text: str) -> tuple[Simple, ...]:
    """The simple commands of a text, in order; none where something in it makes them less than certain."""
    if _MARKS.search(text) is not None and not _only_data(text):
        return ()
    if _SPECIAL.search(text) is None:
        words = _WORDS.findall(text)
    else:
        words = _TOKENS.findall(text)
        if "'" in words or '"' in words:
            return ()  # a quote without its end
        words = [_QUOTED.sub(lambda quoted: quoted[0][1:-1], word) for word in words]
    all_plain = _PLAIN_WORDS.fullmatch(text) is not None
    out: list[Simple] = []
    here: list[str | None] = []
    before = ""
    for word in [*words, ";"]:
        if word and not word.strip(";&|"):
            if word not in (";", "&&", "||", "|", "&"):
                return ()
            while here and here[0] is not None and _ASSIGNMENT.match(here[0]):
                if here[0].startswith("PATH"):
                    return ()
                here.pop(0)
            if here:
                out.append(Simple(tuple(here), before))
            before, here = word, []
            continue
        if not here and word in _BEYOND or not here and word == "cd":
            return ()
        here.append(word if all_plain or _PLAIN.fullmatch(word) else None)
    return tuple(out)


def _only_data(text: str) -> bool:
    """True where the marks of the shell stand in words after the first of a single command, and change nothing about it."""
    head, _, rest = text.partition(" ")
    return bool(_PLAIN.fullmatch(head)) and not any(mark in rest for mark in "`$\\\n();&|<>#!\0")
