"""The JSON value in a model's reply, and whether it follows the requested schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...text.whole import whole

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""A mark that may be half of a character."""
MOST, FIRST = 200, 60
"""Characters of a finding that are kept, and how many of them from its beginning."""


def fitting(text: str, schema: Mapping[str, object]) -> tuple[object, str]:
    """The JSON value in a reply, and why it does not follow the schema (empty: it does)."""
    try:
        value = _json(text)
        if _HALF.search(text):
            value = json.loads(whole(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError) as wrong:
        return None, f"it is not JSON ({str(wrong)[:200]})"
    from jsonschema import Draft202012Validator
    from jsonschema.validators import SPECIFICATIONS

    # with another registry, addresses in the schema would be fetched
    errors = sorted(
        Draft202012Validator(schema, registry=SPECIFICATIONS).iter_errors(value),
        key=lambda error: error.json_path,
    )
    return value, "; ".join(f"{error.json_path}: {_short(error.message)}" for error in errors[:5])


def _short(message: str) -> str:
    """What jsonschema says: the value and then the reason, which is kept where the value is long."""
    return message if len(message) <= MOST else f"{message[:FIRST]} ... {message[FIRST - MOST :]}"


def _json(text: str) -> Any:
    """The value: alone, in a fence, or as the first object or list in the text."""
    bare = text.strip()
    if bare.startswith("```"):
        bare = bare.split("\n", 1)[-1].rsplit("```", 1)[0].strip()
    try:
        return json.loads(bare, parse_constant=_no_constant)
    except ValueError:
        starts = [at for at in (bare.find("{"), bare.find("[")) if at >= 0]
        if not starts:
            raise
        decoder = json.JSONDecoder(parse_constant=_no_constant)
        return decoder.raw_decode(bare[min(starts) :])[0]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON")
