"""The tools: their names, what they say of themselves, and what they take. All of it together is at most 4 kB.

An argument that is not in the table is refused by name: a caller that believes to have approved or allowed something
has to learn that it did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..api import JSON
from ..named_tuples import NamedTuple
from .results import in_line

Arguments: TypeAlias = Mapping[str, JSON]


def _described(words: str, kind: str = "string") -> dict[str, JSON]:
    return {"type": kind, "description": words}


_PATH = _described("Plan: path in the workspace, or registered name")
_UNSAVED = _described("Text to judge instead of the file's")

MOST_TEXT = 400_000  # characters of an argument


class Wrong(Exception):
    """An argument is wrong; one sentence says which, and what is expected."""


class Row(NamedTuple):
    """A tool: what it says of itself, its arguments, those of them that it needs, and whether it changes nothing."""

    description: str
    arguments: Mapping[str, Mapping[str, JSON]]
    required: tuple[str, ...] = ()
    looks: bool = True


TOOLS: dict[str, Row] = {
    "fdc_lint": Row(
        "Prove a plan before acting on it: every run ends, obeys its automaton, uses only what exists. "
        "Findings come with their repair.",
        {"path": _PATH, "text": _UNSAVED}, ("path",),
    ),
    "fdc_fix": Row(
        "The plan's text with its safe repairs applied, and what is left to repair. Writes nothing.",
        {"path": _PATH, "text": _UNSAVED, "unsafe": _described("Also repairs that change what runs do", "boolean")}, ("path",),
    ),
    "fdc_explain": Row(
        "What a finding's code means, with an example and its repair.",
        {"code": _described("FDC301, or the rule's name")}, ("code",),
    ),
    "fdc_run": Row(
        "Execute a proved plan durably (start), go on with a run that stopped or waits (resume), or look at runs "
        "(status; without `run`, the list). Questions and approvals go to the person; no argument answers them. "
        "A run that takes long goes on: ask for its status.",
        {
            "op": {"type": "string", "enum": ["start", "resume", "status"]}, "plan": _PATH,
            "inputs": {**_described("The plan's parameters", "object"), "additionalProperties": {"type": "string"}},
            "run": _described("Name of a run, or `last`"),
        },
        ("op",), looks=False,
    ),
    "fdc_tools": Row(
        "The tools that plans may call; with `name`, one of them, or those with it in their names, with parameters.",
        {"name": {"type": "string"}},
    ),
    "fdc_registry": Row(
        "The registered plans, first of this workspace; with `name`, one of them with its verdict, worst-case cost and text.",
        {"name": {"type": "string"}},
    ),
}  # fmt: skip


def schema(name: str) -> dict[str, JSON]:
    """The JSON Schema of a tool's arguments."""
    row = TOOLS[name]
    properties: JSON = {key: {**value} for key, value in row.arguments.items()}
    required: dict[str, JSON] = {"required": list(row.required)} if row.required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **required}


def checked(name: str, given: Arguments) -> Arguments:
    """The arguments, which are as the schema says. Raises Wrong."""
    if name not in TOOLS:
        raise Wrong(f"the tool does not exist; there are {', '.join(TOOLS)}")
    row = TOOLS[name]
    for key in row.required:
        if key not in given:
            raise Wrong(f"`{name}` needs the argument `{key}`")
    for key, value in given.items():
        if key not in row.arguments:
            takes = f"it takes {', '.join(row.arguments)}"
            raise Wrong(f"`{name}` takes no argument `{in_line(key, 80)}`; {takes}")
        expected = row.arguments[key]
        kind, sentence = _KINDS[str(expected["type"])]
        texts = list(value.values()) if isinstance(value, dict) else [value]
        plain = kind is bool or all(isinstance(one, str) for one in texts)
        if not isinstance(value, kind) or not plain:
            raise Wrong(f"`{key}` is {sentence}")
        if sum(len(str(one)) for one in texts) > MOST_TEXT:
            raise Wrong(f"`{key}` has more than {MOST_TEXT} characters")
        choices = expected.get("enum", [value])
        if isinstance(choices, list) and value not in choices:
            raise Wrong(f"`{key}` is one of {', '.join(map(str, choices))}")
    return given


_KINDS: dict[str, tuple[type, str]] = {
    "string": (str, "a text"), "boolean": (bool, "true or false"), "object": (dict, "an object whose values are texts"),
}  # fmt: skip


def text(given: Arguments, name: str) -> str:
    """A text argument; empty where it is not given."""
    value = given.get(name, "")
    assert isinstance(value, str)
    return value
