"""Values and templates: `{name}` and `{name.field}` in texts."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from tests.reference.stops import Stop

REFERENCE = re.compile(r"\{\{([A-Za-z_][\w.]*)\}\}|\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\}", re.ASCII)

Names = dict[str, Any]


def text_of(value: Any) -> str:
    """A value as it stands in a text: text as it is, everything else as compact JSON."""
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    )


def look_up(reference: str, names: Names) -> Any:
    """`name` or `name.field`; Stop `unbound` where nothing binds the name; a field that is not there gives null."""
    name, *fields = reference.split(".")
    if name not in names:
        raise Stop("unbound", f"nothing binds `{name}`")
    value = names[name]
    for field in fields:
        value = value.get(field) if isinstance(value, dict) else None
    return value


def fill(
    template: str, names: Names, lenient: frozenset[str] | None = None, show: Any = text_of
) -> Any:
    """The value of a template. `lenient` (in text blocks) are the names that the plan binds somewhere: others are text."""

    def foreign(reference: str) -> bool:
        name = reference.split(".")[0]
        return lenient is not None and name not in names and name not in lenient

    whole = REFERENCE.fullmatch(template)
    if whole and whole[2] and show is text_of and not foreign(whole[2]):
        return look_up(whole[2], names)

    def one(match: re.Match[str]) -> str:
        if match[1]:
            return "{" + match[1] + "}"
        return match[0] if foreign(match[2]) else show(look_up(match[2], names))

    return REFERENCE.sub(one, template)


def quoted(value: Any) -> str:
    """A value as one word of a shell."""
    return shlex.quote(text_of(value))
