"""The rules of the workspace's protocols that are checks over the steps of every run (issue 3, *Rules that bite*).

Every lint imports this, so it uses the standard library only. The rest of a protocol is for `fdc protocols`.
An invalid check is a finding here too (FDC462), and so is a source that cannot be read (FDC501): a lost part of it may have
had checks. A source is parsed with places only to report a finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ...automata import declare
from ...diagnostics.codes import CODES
from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...named_tuples import NamedTuple
from ...text.suggest import did_you_mean
from ..catalogue import Catalogue, Tool
from .obligation import Event, Obligation

Place = tuple["str | int", ...]
"""Where something stands in a JSON text: keys and positions from the outside in."""


class Workspace(NamedTuple):
    """What the reader needs of the workspace: the bytes under a key, the key of an automaton's name, the tools."""

    read: Callable[[str], bytes | None]
    automaton: Callable[[str], str | None]
    catalogue: Catalogue


class _Wrong(Exception):
    def __init__(
        self, place: Place, message: str, help: str | None = None, code: str = "FDC462"
    ) -> None:
        self.place = place
        self.message = message
        self.help = help
        self.code = code


def read_obligations(
    paths: Iterable[str], workspace: Workspace, findings: list[Diagnostic]
) -> tuple[Obligation, ...]:
    """The checks in the sources under `paths`, in order; what is wrong with them is added to `found` (FDC462, FDC501)."""
    out: list[Obligation] = []
    for path in paths:
        data = workspace.read(path)
        if data is None:
            findings.append(_unread(path, "there is no regular file of this name"))
            continue
        try:
            document = _document(path, data)
        except ValueError as wrong:
            findings += _unreadable(path, data, str(wrong))
            continue
        for number, rule in enumerate(document["rules"]):
            if "check" not in rule:
                continue
            try:
                obligation = _check(document, rule, path, number, workspace)
            except _Wrong as wrong:
                span = place(data, path, ("rules", number, "check", *wrong.place))
                findings.append(Diagnostic(span, wrong.code, wrong.message, help=wrong.help))
                continue
            if obligation is not None:
                out.append(obligation)
    return tuple(out)


def _undecodable(data: bytes) -> str | None:
    """Why a text is not UTF-8; None if it is."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key twice in one object")
    return out


def _document(path: str, data: bytes) -> dict[str, Any]:
    """The source, checked as far as its checks need it. Raises ValueError."""
    wrong = _undecodable(data)
    if wrong is not None:
        raise ValueError(wrong)
    text = data.decode("utf-8-sig")
    try:
        if path.endswith(".json"):
            body = json.loads(text, object_pairs_hook=_once)
        else:
            body = _yaml(path, text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(body, dict) or not isinstance(body.get("protocol_id"), str):
        raise ValueError("expected an object with a `protocol_id`")
    rules = body.get("rules")
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError("`rules` is not a list of objects")
    for rule in rules:
        if "check" in rule and not (
            isinstance(rule.get("rule_id"), str) and isinstance(rule.get("description"), str)
        ):
            raise ValueError("a rule with a `check` has a `rule_id` and a `description`")
    return body


def _yaml(path: str, text: str) -> Any:
    """The plain value of a YAML text. Raises ValueError."""
    from ...text.json_text import plain
    from ...text.yaml_text import parse

    root, problems = parse(path, text)
    if root is None or problems:
        raise ValueError(problems[0].message)
    return plain(root)


def _unreadable(path: str, data: bytes, reason: str) -> list[Diagnostic]:
    """Where and why a source is not valid: it may have checks that cannot be read."""
    from ...text.json_text import Places
    from ...text.yaml_text import parse

    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    places = Places(path, text)
    problems = parse(path, text)[1] if _undecodable(data) is None else []
    if not problems:
        return [_unread(path, reason)]
    return [
        Diagnostic(
            places.span(problem.start, problem.end), "FDC501", problem.message, help=problem.help
        )
        for problem in problems
    ]


def _unread(path: str, reason: str) -> Diagnostic:
    """The finding for a source of which nothing more exact is known."""
    message = f"its checks cannot be read: {reason}"
    help_ = "`fdc protocols check` says all that is wrong with it"
    return Diagnostic(Span(path, 1, 1, 1, 2), "FDC501", message, help=help_)


def place(data: bytes, path: str, where: Place) -> Span:
    """The span of a value in a JSON text, or of the innermost existing value around it."""
    from ...text.json_text import Places
    from ...text.yaml_text import parse

    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    node, _ = parse(path, text)
    if node is None:
        return Span(path, 1, 1, 1, 2)
    for part in where:
        if isinstance(part, int) and node.kind == "array" and part < len(node.value):
            node = node.value[part]
        elif isinstance(part, str) and node.kind == "object":
            inner = [member for member in node.value if member.key.value == part]
            if not inner:
                break
            node = inner[-1].value
    return Places(path, text).span(node.start, node.end)


# ---- one check -------------------------------------------------------------------------------------

_KEYS = ("template", "a", "b", "c", "n", "same", "where", "severity", "on_abort")


def _check(
    document: dict[str, Any], rule: dict[str, Any], path: str, number: int, workspace: Workspace
) -> Obligation | None:
    """The obligation, or None for a check by codes. Raises _Wrong."""
    check = rule["check"]
    if not isinstance(check, dict):
        raise _Wrong((), "a check is an object")
    if "code" in check:
        _codes(check)
        return None
    _known(check, _KEYS, (), "a check")
    template = _choice(check, "template", declare.NAMES)
    letters = declare.compiled(template).letters
    for at, letter in enumerate("abc"):
        if (letter in check) != bool(letters >> at & 1):
            takes = ", ".join(
                f"`{expected}`"
                for position, expected in enumerate("abc")
                if letters >> position & 1
            )
            where: Place = (letter,) if letter in check else ()
            raise _Wrong(
                where,
                f"`{template}` takes {takes}{'' if letter in check else f'; `{letter}` is missing'}",
            )
    n = check.get("n", 1)
    if "n" in check and template not in declare.COUNTED:
        raise _Wrong(
            ("n",), f"`{template}` takes no `n`", f"only {', '.join(declare.COUNTED)} count"
        )
    if type(n) is not int or not 1 <= n <= 100:
        raise _Wrong(("n",), "`n` is a whole number from 1 to 100")
    events = tuple(
        _events(check[letter], (letter,), workspace.catalogue) if letter in check else ()
        for letter in "abc"
    )
    automata, plans = _where(check.get("where", {}), workspace)
    return Obligation(
        document["protocol_id"],
        rule["rule_id"],
        rule["description"],
        path,
        number,
        template,
        n,
        events,  # type: ignore[arg-type]
        _same(check, events, workspace.catalogue),
        automata,
        plans,
        _choice(check, "severity", ("error", "warning"), "error"),
        _choice(check, "on_abort", ("ignore", "check"), "ignore") == "check",
    )


def _known(table: dict[str, Any], keys: Iterable[str], where: Place, what: str) -> None:
    names = tuple(keys)
    for key in table:
        if key not in names:
            raise _Wrong((*where, key), f"unknown key `{key}` in {what}", did_you_mean(key, names))


def _choice(
    check: dict[str, Any], key: str, choices: tuple[str, ...], default: str | None = None
) -> str:
    value = check.get(key, default)
    if value not in choices:
        if key not in check:
            raise _Wrong((), f"a check has a `{key}` or a `code`")
        hint = did_you_mean(value, choices) if isinstance(value, str) else None
        raise _Wrong(
            (key,), f"`{value}` is not a valid {key}", hint or f"expected {', '.join(choices)}"
        )
    return str(value)


def _codes(check: dict[str, Any]) -> None:
    _known(check, ("code",), (), "a check by code")
    codes = check["code"] if isinstance(check["code"], list) else [check["code"]]
    if not codes:
        raise _Wrong(("code",), "the check names no code")
    for code in codes:
        if not isinstance(code, str) or code not in CODES:
            hint = did_you_mean(code, CODES) if isinstance(code, str) else None
            raise _Wrong(
                ("code",),
                f"`{code}` is not a code of a diagnostic",
                hint or "`fdc rules` lists them",
            )


def _events(value: Any, where: Place, catalogue: Catalogue) -> tuple[Event, ...]:
    if not isinstance(value, list):
        return (_event(value, where, catalogue),)
    if not value:
        raise _Wrong(where, "the list of events is empty")
    return tuple(_event(item, (*where, number), catalogue) for number, item in enumerate(value))


def actions_of(catalogue: Catalogue) -> set[str]:
    """Every action type that some tool's step can have."""
    return {
        action
        for tool in catalogue.tools.values()
        for action in (tool.action, *(symbol for _, symbol in tool.actions))
        if action is not None
    }


def _event(value: Any, where: Place, catalogue: Catalogue) -> Event:
    if isinstance(value, str):
        if value not in catalogue.tools and value not in actions_of(catalogue):
            known = [*catalogue.tools, *sorted(actions_of(catalogue))]
            shell = 'a command is an argument: {"tool": "run_in_bash_session", "arguments": {"command": "GLOB"}}'
            near = did_you_mean(value, known) or (shell if " " in value else None)
            raise _Wrong(where, f"`{value}` is neither a tool nor an action type", near)
        return Event(value, None, None, ())
    if not isinstance(value, dict) or not value:
        raise _Wrong(where, "an event is an action type, the name of a tool, or an object")
    _known(value, ("tool", "action", "arguments"), where, "an event")
    tool, action = value.get("tool"), value.get("action")
    if "tool" in value and tool not in catalogue.tools:
        hint = did_you_mean(tool, catalogue.tools) if isinstance(tool, str) else None
        raise _Wrong((*where, "tool"), f"no catalogue declares a tool `{tool}`", hint)
    if "action" in value and action not in actions_of(catalogue):
        hint = (
            did_you_mean(action, sorted(actions_of(catalogue))) if isinstance(action, str) else None
        )
        raise _Wrong((*where, "action"), f"no tool has the action type `{action}`", hint)
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict) or "arguments" in value and not arguments:
        raise _Wrong((*where, "arguments"), "`arguments` is an object of globs by parameter")
    event = Event(None, tool, action, tuple(arguments.items()))
    tools = _tools((event,), catalogue)
    if not tools:
        raise _Wrong(where, f"no step of `{tool}` is a `{action}`")
    for name, glob in arguments.items():
        if not isinstance(glob, str) or not glob:
            raise _Wrong((*where, "arguments", name), "an argument is described by a glob")
        names = [item.name for candidate in tools for item in candidate.parameters]
        if name not in names:
            whose = f"`{tool}`" if tool else "the tool of such a step"
            hint = did_you_mean(name, names)
            raise _Wrong((*where, "arguments", name), f"{whose} has no parameter `{name}`", hint)
    return event


def _tools(events: Iterable[Event], catalogue: Catalogue) -> list[Tool]:
    """The tools whose steps may be one of the events."""
    return [
        tool
        for tool in catalogue.tools.values()
        if any(
            event.may_be(tool.name, action)
            for event in events
            for action in (tool.action, *(symbol for _, symbol in tool.actions))
        )
    ]


def _same(
    check: dict[str, Any], events: Iterable[tuple[Event, ...]], catalogue: Catalogue
) -> str | None:
    if "same" not in check:
        return None
    same = check["same"]
    if not isinstance(same, str) or not same:
        raise _Wrong(("same",), "`same` names a parameter")
    for letter, group in zip("abc", events, strict=True):
        names = [item.name for tool in _tools(group, catalogue) for item in tool.parameters]
        if group and same not in names:
            raise _Wrong(
                ("same",),
                f"no step of `{letter}` has a parameter `{same}`",
                did_you_mean(same, names),
            )
    return same


def _where(where: Any, workspace: Workspace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(where, dict):
        raise _Wrong(("where",), "`where` is an object")
    _known(where, ("automata", "plans"), ("where",), "`where`")
    for key, names in where.items():
        if (
            not isinstance(names, list)
            or not names
            or not all(isinstance(name, str) and name for name in names)
        ):
            raise _Wrong(("where", key), f"`{key}` is a list of texts")
    keys = []
    for number, name in enumerate(where.get("automata", ())):
        key = workspace.automaton(name)
        if key is None:
            help_ = "expected a path in the workspace, or a name for `tooling/NAME_fsm.json`"
            raise _Wrong(
                ("where", "automata", number), f"the automaton `{name}` does not exist", help_
            )
        keys.append(key)
    return tuple(keys), tuple(where.get("plans", ()))
