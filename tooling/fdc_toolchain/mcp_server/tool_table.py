"""The tools: their names, what they say of themselves, and what they take. All of it together is at most 4 kB.

An argument that is not in the table is refused by name: a caller that believes to have approved or allowed something
has to learn that it did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ..api import JSON

Arguments: TypeAlias = Mapping[str, JSON]

_TEXT: JSON = {"type": "string"}
_PATH: JSON = {"type": "string", "description": "Plan: path in the workspace, or registered name"}
_UNSAVED: JSON = {"type": "string", "description": "Text to judge instead of the file's"}

MOST_TEXT = 400_000
"""Characters of a text argument."""


class Wrong(Exception):
    """An argument is wrong; one sentence says which, and what is expected."""


class Row(NamedTuple):
    """A tool: what it says of itself, its arguments, those of them that it needs, and whether it changes nothing."""

    description: str
    arguments: dict[str, JSON]
    required: tuple[str, ...] = ()
    looks: bool = True


TOOLS: dict[str, Row] = {
    "fdc_lint": Row(
        "Prove a plan before acting on it: every run ends, obeys its automaton, uses only what exists. "
        "Findings come with their repair.",
        {"path": _PATH, "text": _UNSAVED},
        ("path",),
    ),
    "fdc_fix": Row(
        "The plan's text with its safe repairs applied, and what is left to repair. Writes nothing.",
        {
            "path": _PATH,
            "text": _UNSAVED,
            "unsafe": {"type": "boolean", "description": "Also repairs that change what runs do"},
        },
        ("path",),
    ),
    "fdc_explain": Row(
        "What a finding's code means, with an example and its repair.",
        {"code": {"type": "string", "description": "FDC301, or the rule's name"}},
        ("code",),
    ),
    "fdc_run": Row(
        "Execute a proved plan durably (start), go on with a run that stopped or waits (resume), or look at runs "
        "(status; without `run`, the list). Questions and approvals go to the person; no argument answers them. "
        "A run that takes long goes on: ask for its status.",
        {
            "op": {"type": "string", "enum": ["start", "resume", "status"]},
            "plan": _PATH,
            "inputs": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "The plan's parameters",
            },
            "run": {"type": "string", "description": "Name of a run, or `last`"},
        },
        ("op",),
        looks=False,
    ),
    "fdc_tools": Row(
        "The tools that plans may call; with `name`, one of them, or those with it in their names, with parameters.",
        {"name": _TEXT},
    ),
    "fdc_registry": Row(
        "The registered plans; with `name`, one of them with its verdict, worst-case cost and text.",
        {"name": _TEXT},
    ),
}


def schema(name: str) -> dict[str, JSON]:
    """The JSON Schema of a tool's arguments."""
    _, properties, required, _ = TOOLS[name]
    made: dict[str, JSON] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return {**made, "required": list(required)} if required else made


def checked(name: str, given: Arguments) -> Arguments:
    """The arguments, which are as the schema says. Raises Wrong."""
    if name not in TOOLS:
        raise Wrong(f"there is no such tool; there are {', '.join(TOOLS)}")
    _, properties, required, _ = TOOLS[name]
    for key in given:
        if key not in properties:
            raise Wrong(
                f"`{name}` takes no argument `{key[:80]}`; it takes {', '.join(properties)}"
            )
    for key in required:
        if key not in given:
            raise Wrong(f"`{name}` needs the argument `{key}`")
    for key, value in given.items():
        _fits(key, properties[key], value)
    return given


def _fits(name: str, row: JSON, value: JSON) -> None:
    assert isinstance(row, dict)
    if row["type"] == "boolean":
        if not isinstance(value, bool):
            raise Wrong(f"`{name}` is true or false")
    elif row["type"] == "object":
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise Wrong(f"`{name}` is an object whose values are texts")
        if sum(map(len, value)) + sum(len(str(one)) for one in value.values()) > MOST_TEXT:
            raise Wrong(f"`{name}` has more than {MOST_TEXT} characters")
    elif not isinstance(value, str):
        raise Wrong(f"`{name}` is a text")
    elif len(value) > MOST_TEXT:
        raise Wrong(f"`{name}` has more than {MOST_TEXT} characters")
    choices = row.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise Wrong(f"`{name}` is one of {', '.join(map(str, choices))}")


def text(given: Arguments, name: str) -> str:
    """A text argument; empty where it is not given."""
    value = given.get(name, "")
    assert isinstance(value, str)
    return value
