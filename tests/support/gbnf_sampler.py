"""Random derivations of a GBNF grammar, read from its text alone: independent of what wrote it."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import NamedTuple

_TOKEN = re.compile(
    r'\s*(?:("(?:[^"\\]|\\.)*")|(\[(?:[^\]\\]|\\.)*\])(?:\{(\d+),(\d+)\})?|(\|)|([A-Za-z][A-Za-z0-9-]*))'
)


class Text(NamedTuple):
    text: str


class Class(NamedTuple):
    characters: str
    least: int
    most: int


class Name(NamedTuple):
    name: str


Item = Text | Class | Name


class Abandoned(Exception):
    """A derivation came to a rule that spells nothing."""


@cache
def _characters(text: str) -> str:
    """The characters of a class; of a large range, some."""
    inner = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text[1:-1])
    inner = re.sub(
        r"\\([\[\]\\])",
        lambda found: {"[": "\ue000", "]": "\ue001", "\\": "\ue002"}[found[1]],
        inner,
    )
    back = {"\ue000": "[", "\ue001": "]", "\ue002": "\\"}
    out, at = [], 0
    while at < len(inner):
        one = back.get(inner[at], inner[at])
        if at + 2 < len(inner) and inner[at + 1] == "-":
            end = back.get(inner[at + 2], inner[at + 2])
            found = [chr(code) for code in range(ord(one), ord(end) + 1)]
            out += found if len(found) < 128 else [found[0], found[-1]]
            at += 3
        else:
            out.append(one)
            at += 1
    return "".join(out)


def read(text: str) -> dict[str, list[list[Item]]]:
    """The rules of a grammar, by name. Raises ValueError for a text that is none."""
    rules: dict[str, list[list[Item]]] = {}
    for line in text.splitlines():
        name, _, right = line.partition(" ::= ")
        ways: list[list[Item]] = [[]]
        at = 0
        while at < len(right):
            found = _TOKEN.match(right, at)
            if found is None:
                raise ValueError(f"{name}: {right[at : at + 40]!r}")
            at = found.end()
            if found[1]:
                ways[-1].append(Text(json.loads(found[1])))
            elif found[2]:
                ways[-1].append(
                    Class(_characters(found[2]), int(found[3] or 1), int(found[4] or 1))
                )
            elif found[5]:
                ways.append([])
            else:
                ways[-1].append(Name(found[6]))
        if name in rules:
            raise ValueError(f"two rules `{name}`")
        rules[name] = ways
    return rules


def sample(rules: dict[str, list[list[Item]]], choices: random.Random) -> str:
    """A derivation from `root`, every alternative as likely as the others; no text longer than some words."""
    out: list[str] = []
    work: list[Item] = [Name("root")]
    while work:
        item = work.pop()
        if isinstance(item, Text):
            out.append(item.text)
        elif isinstance(item, Class):
            count = choices.randint(item.least, min(item.most, item.least + 8))
            out.append("".join(choices.choices(item.characters, k=count)))
        else:
            ways = rules.get(item.name)
            if not ways:
                raise Abandoned(item.name)
            work += reversed(choices.choice(ways))
    return "".join(out)
