"""A plan as JSON for models that no grammar holds: its lines, each with a first word that is a tool or a statement.

A planner that may ask for research gives the one line `research QUESTION` instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..syntax.language import STATEMENTS

DEEPEST = 6


RESEARCH = "research"


def schema_of(tools: Sequence[str], fsm: str, research: bool = False) -> dict[str, object]:
    """The strict JSON Schema of a plan of these tools. `research`: or of a request for it."""
    more = {RESEARCH} if research else set()
    words = sorted({row.word for row in STATEMENTS.values()} | {"else"} | {*tools} | more)
    fields: dict[str, object] = {
        "depth": {"type": "integer", "minimum": 0, "maximum": DEEPEST},
        "gives": {"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*)?$"},
        "word": {"type": "string", "enum": words},
        "rest": {"type": "string", "pattern": "^[^\\n\\r]*$"},
        "block": {"type": "array", "items": {"type": "string", "pattern": "^[^\\n\\r]*$"}},
    }
    line = {
        "type": "object", "required": [*fields], "additionalProperties": False, "properties": fields,
    }  # fmt: skip
    return {
        "type": "object", "required": ["fsm", "lines"], "additionalProperties": False,
        "properties": {
            "fsm": {"type": "string", "enum": [fsm]},
            "lines": {"type": "array", "minItems": 1, "items": line},
        },
    }  # fmt: skip


def text_of(reply: Mapping[str, object]) -> str:
    """The plan of a reply: as text (`plan`), or as lines that follow the schema."""
    if "plan" in reply:
        return str(reply["plan"])
    lines = reply["lines"]
    assert isinstance(lines, list)
    if [line["word"] for line in lines] == [RESEARCH]:
        return f"{RESEARCH} {lines[0]['rest']}"
    out = [f"# FSM: {reply['fsm']}"]
    for line in lines:
        indent = "  " * int(line["depth"])  # 1.0 is a whole number in JSON
        gives = f"{line['gives']} <- " if line["gives"] else ""
        out.append(f"{indent}{gives}{line['word']} {line['rest']}".rstrip())
        out += [f"{indent}  {text}".rstrip() for text in line["block"]]
    return "\n".join(out) + "\n"
