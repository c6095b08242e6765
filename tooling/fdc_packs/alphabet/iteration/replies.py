"""What a role answered: read from YAML or JSON, held against its schema, bounded (ALPH-07, 13, 26, 29, 69).

heard = read_reply("proposer", "```yaml\\nproposer_output: ...```")
heard.value, heard.wrong
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any, NamedTuple

from ..schemas import schema
from ..yamltext import MAX_TEXT, NotYaml, parse_foreign

ROLES = {
    "proposer": "proposer_output", "critic": "critic_output", "refiner": "refiner_output", "meta_reasoner": "meta_reflection",
}  # fmt: skip
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)


class Heard(NamedTuple):
    """A reply. `raw`: as it came. `embedded`: no one was asked. `wrong`: why no value exists, else empty."""

    raw: Any
    value: Any
    wrong: str
    embedded: bool


def read_reply(role: str, said: object) -> Heard:
    """A role's answer: a model's text, what is embedded (a table), or a step that failed (`failed`, `why`)."""
    if isinstance(said, dict) and "failed" in said:
        return Heard(said, None, f"{said['failed']}: {said.get('why', '')}"[:500], False)
    if isinstance(said, dict):
        return Heard(None, said, unfit(role, said) if role != "critic" else "", True)
    if not isinstance(said, str):
        return Heard(said, None, "it is not text", False)
    value, wrong = _value(said, ROLES[role])
    if not wrong and role != "critic":
        wrong = unfit(role, value)
    return Heard(said, None if wrong else value, wrong, False)


def _value(text: str, key: str) -> tuple[Any, str]:
    """The first value in a text that has the key: the text itself, what is fenced in it, or what begins with the key."""
    if len(text) > MAX_TEXT:
        return None, f"it has more than {MAX_TEXT} characters"
    tries = [text.strip(), *(found[1] for found in _FENCE.finditer(text))]
    at = re.search(rf"^(?:- )?{key}:", text, re.MULTILINE)
    if at:
        tries.append(text[at.start() :].split("\n```")[0])
    for start in (rf'\{{\s*"(?:{key}|evaluations)"', r"[{\[]"):
        at = re.search(start, text)
        if at:
            tries.append(text[at.start() :])
    why = "it is neither YAML nor JSON"
    for one in tries:
        value = _json(one)
        if value is None:
            try:
                value = parse_foreign(one)
            except NotYaml as wrong:
                why = f"it is not valid YAML ({wrong})"
                continue
        if _has(value, key):
            return value, ""
    return None, why if why.startswith("it is not valid YAML") else f"it has no `{key}`"


def _has(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return key in value or (
            key == "critic_output" and isinstance(value.get("evaluations"), list)
        )
    return (
        key == "critic_output"
        and isinstance(value, list)
        and any(isinstance(row, dict) and key in row for row in value)
    )


def _json(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text)[0] if text.startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


@functools.cache
def _schema(role: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(f"{role}.schema.json"))


def unfit(role: str, value: object) -> str:
    """Why a value does not follow the role's schema; empty where it does."""
    errors = sorted(_schema(role).iter_errors(value), key=lambda error: error.json_path)
    return "; ".join(f"{error.json_path}: {error.message[:160]}" for error in errors[:5])


def evaluations(value: object) -> dict[str, tuple[dict[str, object] | None, str]]:
    """Of a critic's reply, by candidate: its `critic_output`, or None and why it cannot be used."""
    rows = value.get("evaluations", [value]) if isinstance(value, dict) else value
    found: dict[str, tuple[dict[str, Any] | None, str]] = {}
    for row in rows if isinstance(rows, list) else ():
        inner = row.get("critic_output", row) if isinstance(row, dict) else None
        if not isinstance(inner, dict):
            continue
        name = str(inner.get("candidate_id", ""))[:40]
        wrong = unfit("critic", {"critic_output": inner})
        if name not in found or found[name][0] is None:
            found[name] = (None, wrong) if wrong else (inner, "")
    return found
