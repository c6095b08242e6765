"""Parses the action of a lesson from a sentence of a post-mortem, or from JSON (FDC-74 to FDC-77, C-14). Pure.

An action is the JSON object that a lesson keeps under `action`: `type`, `command` and `parameters`. Only the three
sentences below and a code change are ever carried out; every other text is a `placeholder`, for a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..named_tuples import NamedTuple

UPDATE, CODE = "UPDATE_PROTOCOL", "PROPOSE_CODE_CHANGE"
PLACEHOLDER = "placeholder"

NEEDS: dict[str, tuple[str, ...]] = {
    "add-tool": ("protocol_id", "tool_name"),
    "update-rule": ("protocol_id", "rule_id", "description"),
    "deprecate-tool": ("protocol_id", "tool_name"),
}
"""The commands of UPDATE_PROTOCOL, and the parameters that each must have."""

_NAME = r"['\"`\u2018\u201c]([^'\"`\u2018\u2019\u201c\u201d]+)['\"`\u2019\u201d]"
_SENTENCES = (
    (
        "add-tool",
        re.compile(rf"add (?:the )?tool {_NAME} to (?:the )?protocol {_NAME}", re.IGNORECASE),
    ),
    (
        "deprecate-tool",
        re.compile(
            rf"deprecate (?:the )?tool {_NAME} from (?:the )?protocol {_NAME}", re.IGNORECASE
        ),
    ),
    (
        "update-rule",
        # The new text begins at the first quote after `to` and ends at the last one of the sentence: the
        # apostrophes between them are its own (T-30).
        re.compile(
            rf"update (?:the )?rule {_NAME} in (?:the )?protocol {_NAME} to "
            r"(?:'(.+)'|\"(.+)\"|`(.+)`|\u2018(.+)\u2019|\u201c(.+)\u201d)",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
)
_CHANGE = re.compile(rf"change (?:the )?file {_NAME}(?: as follows)?[.:]?", re.IGNORECASE)


class Fault(NamedTuple):
    """Why an action cannot be carried out. `skipped`: the lesson stays pending (FDC-82); otherwise it has failed."""

    message: str
    skipped: bool


class Wish(NamedTuple):
    """An action that can be carried out: its command (`change-file` for a code change) and its parameters."""

    command: str
    parameters: Mapping[str, str]


def parse_action_to_command(text: str, block: str | None = None) -> dict[str, object]:
    """The action that a sentence asks for; `block` is the code block below it, if there is one.

    The whole sentence must have one of the forms: `Never add tool 'x' to protocol 'y'` adds nothing. Anything
    else is UPDATE_PROTOCOL/placeholder with the text as `description` (FDC-77).
    """
    sentence = " ".join(text.split())
    bare = sentence.removesuffix(".").rstrip()
    if len(bare) > 1 and bare[0] == bare[-1] == "`" and bare.count("`") == 2:
        bare = bare[1:-1].removesuffix(".")
    for command, form in _SENTENCES:
        match = form.fullmatch(bare)
        if match is None:
            continue
        words = [word for word in match.groups() if word is not None]
        if command == "update-rule":
            rule, protocol, description = words
            return _update(command, protocol_id=protocol, rule_id=rule, description=description)
        tool, protocol = words
        return _update(command, protocol_id=protocol, tool_name=tool)
    change = _CHANGE.fullmatch(sentence)
    if change is not None and block is not None:
        return {"type": CODE, "parameters": {"filepath": change[1], "diff": block}}
    return _update(
        PLACEHOLDER, description=sentence if block is None else f"{sentence}\n{block}".strip()
    )


def _update(command: str, **parameters: str) -> dict[str, Any]:
    return {"type": UPDATE, "command": command, "parameters": parameters}


def canonical(action: Mapping[str, object]) -> dict[str, object]:
    """An action with the current names; older spellings are converted (C-14).

    `propose-code-change` becomes PROPOSE_CODE_CHANGE; `details`, the diff itself or an object with it, becomes
    `parameters`. What is unknown is kept.
    """
    out = dict(action)
    kind = out.get("type")
    if isinstance(kind, str):
        out["type"] = kind.strip().upper().replace("-", "_")
    if out.get("type") == CODE:
        raw = out.get("parameters")
        parameters = dict(raw) if isinstance(raw, dict) else {}
        details = out.pop("details", None)
        if isinstance(details, str):
            details = {"diff": details}
        if isinstance(details, dict):
            parameters = {**details, **parameters}
        for name in ("filepath", "diff"):
            if name not in parameters and isinstance(out.get(name), str):
                parameters[name] = out.pop(name)
        out["parameters"] = parameters
    return out


def wish_of(action: object) -> Wish | Fault:
    """What to do for an action, or why nothing can be done.

    A code change without `filepath` or `diff` has failed (FDC-84); any other thing that is missing or unknown
    leaves the lesson pending (FDC-82), and so does a placeholder (FDC-77).
    """
    if not isinstance(action, dict):
        return Fault("it has no action", True)
    known = canonical(action)
    raw = known.get("parameters")
    parameters = raw if isinstance(raw, dict) else {}
    kind, command = known.get("type"), known.get("command")
    if kind == CODE:
        fault = _missing(parameters, ("filepath", "diff"))
        return (
            Fault(f"the code change has no {fault}", False)
            if fault
            else _wish("change-file", parameters)
        )
    if command == PLACEHOLDER:
        return Fault("its action is a sentence for people, never applied by itself", True)
    if kind != UPDATE:
        return Fault(f"the action type `{_short(kind)}` is unknown", True)
    if not isinstance(command, str) or command not in NEEDS:
        return Fault(f"the command `{_short(command)}` is unknown", True)
    fault = _missing(parameters, NEEDS[command])
    if fault:
        return Fault(f"`{command}` has no {fault}", True)
    return _wish(command, {name: parameters[name] for name in NEEDS[command]})


def shown(action: object) -> str:
    """An action in one line, for lists."""
    if not isinstance(action, dict):
        return "no action"
    known = canonical(action)
    raw = known.get("parameters")
    values = raw if isinstance(raw, dict) else {}

    def of(name: str) -> str:
        return _short(values.get(name), 200)

    command = known.get("command")
    if known.get("type") == CODE:
        return f"change {of('filepath')}"
    if command == "update-rule":
        return f"update rule {of('rule_id')} in {of('protocol_id')}"
    if command in ("add-tool", "deprecate-tool"):
        way = ("add", "to") if command == "add-tool" else ("deprecate", "from")
        return f"{way[0]} {of('tool_name')} {way[1]} {of('protocol_id')}"
    if command == PLACEHOLDER:
        return f"for a person: {of('description')}"
    return f"unknown: {_short(known.get('type'))}"


def _wish(command: str, parameters: Mapping[str, Any]) -> Wish:
    return Wish(
        command, {name: value for name, value in parameters.items() if isinstance(value, str)}
    )


def _missing(parameters: Mapping[str, Any], names: tuple[str, ...]) -> str:
    wrong = [
        f"`{name}`"
        for name in names
        if not isinstance(parameters.get(name), str) or not parameters[name].strip()
    ]
    return " and no ".join(wrong)


def _short(value: object, most: int = 60) -> str:
    text = value if isinstance(value, str) else "" if value is None else type(value).__name__
    return text if len(text) <= most else text[: most - 3] + "..."
