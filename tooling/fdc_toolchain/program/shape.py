"""Checks the form of a program, as `model` describes it.

The engine trusts what passes here: every plan, automaton and tool that an instruction names is
in the program, and the call graph has no cycle. Nothing is said about proofs; that is the
linter's job, and the engine's dynamic checks are the second line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .instructions import every
from .model import FORMAT, KEEPING, QUOTES

MAX_NESTING = 200
"""Maximum nesting of blocks and conditions. The linter's own limit is far below it."""

OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in")

_TEXT = (str,)
_NAME = (str, type(None))
_FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "step": {"tool": _TEXT, "action": _NAME, "bind": _NAME, "args": (dict,)},
    "call": {"plan": _TEXT, "name": _TEXT, "args": (dict,), "bind": _NAME},
    "skip": {"bind": _NAME},
    "each": {
        "glob": (list,),
        "name": _NAME,
        "alias": _NAME,
        "max": (int, type(None)),
        "body": (list,),
    },
    "for": {"name": _TEXT, "in": (list,), "max": (int,), "bind": _NAME, "body": (list,)},
    "fork": {"name": _TEXT, "in": (list,), "max": (int,), "bind": _NAME, "body": (list,)},
    "iterate": {"max": (int,), "until": (dict, type(None)), "body": (list,)},
    "if": {"cond": (dict,), "then": (list,), "else": (list,)},
    "require": {"cond": (dict,), "why": _TEXT},
    "yield": {"value": (list,)},
}


def problems(program: object) -> list[str]:
    """Every way in which a JSON value is not a program; empty for a program."""
    if not isinstance(program, dict):
        return ["it is not an object"]
    if program.get("format") not in (FORMAT, KEEPING):
        return [
            f"its format is {program.get('format')!r}, and this fdc knows the formats {FORMAT} and {KEEPING}"
        ]
    out = list(_parts(program))
    if not out:
        for plan_id, plan in program["plans"].items():
            out.extend(f"plan `{plan_id}`: {text}" for text in _plan(program, plan))
    if not out:
        out.extend(_cycles(program))
    return out


def _parts(program: dict[str, Any]) -> Iterator[str]:
    for key in ("plans", "automata", "tools", "budget", "allow", "sources"):
        if not isinstance(program.get(key), dict):
            yield f"`{key}` is not an object"
            return
    if program.get("root") not in program["plans"]:
        yield "`root` names no plan of it"
    yield from _budget(program["budget"])
    for name, automaton in program["automata"].items():
        if (
            not isinstance(automaton, dict)
            or not isinstance(automaton.get("start"), str)
            or not isinstance(automaton.get("accept"), list)
            or not isinstance(automaton.get("transitions"), dict)
            or not all(isinstance(row, dict) for row in automaton["transitions"].values())
        ):
            yield f"the automaton `{name}` has no start, accept and transitions"
    predicates = program.get("predicates", {})
    if not isinstance(predicates, dict) or not all(
        isinstance(row, dict) for row in predicates.values()
    ):
        yield "`predicates` is not an object of declarations"
    modules = program.get("modules", {})
    if not isinstance(modules, dict) or not all(
        isinstance(digest, str) for digest in modules.values()
    ):
        yield "`modules` is not an object of hashes"
    assumed = program.get("assumptions", [])
    if not isinstance(assumed, list) or not all(isinstance(row, dict) for row in assumed):
        yield "`assumptions` is not a list of objects"
    for key in ("stored", "chosen"):
        paths = program.get(key, [])
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            yield f"`{key}` is not a list of paths"
    for rule in program.get("rules", []) if isinstance(program.get("rules", []), list) else [None]:
        if not _rule(rule):
            yield "a rule of it is not of its form"
    for name, tool in program["tools"].items():
        if not isinstance(tool, dict) or tool.get("effect") not in (
            "pure",
            "read",
            "idempotent",
            "once",
        ):
            yield f"the tool `{name}` states no effect class"


def _budget(budget: dict[str, Any]) -> Iterator[str]:
    for measure, number in budget.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or number < 0:
            yield f"the budget of `{measure}` is not a number"


def _rule(rule: Any) -> bool:
    if not isinstance(rule, dict) or not all(
        isinstance(rule.get(key), str) for key in ("protocol", "rule", "description")
    ):
        return False
    parts = [rule.get(key) for key in ("states", "accept", "table", "events")]
    if not all(isinstance(part, list) for part in parts) or not isinstance(
        rule.get("same"), (str, type(None))
    ):
        return False
    if not all(isinstance(name, str) for name in rule.get("automata", ())):
        return False
    states: list[Any] = rule["states"]
    events: list[Any] = rule["events"]
    letters = 1 << max((number + 1 for number, group in enumerate(events) if group), default=0)
    return (
        bool(states)
        and all(isinstance(state, str) for state in states)
        and all(type(state) is int and 0 <= state < len(states) for state in rule["accept"])
        and all(
            isinstance(group, list) and all(_event(event) for event in group) for group in events
        )
        and len(rule["table"]) >= letters
        and all(isinstance(row, list) and len(row) == len(states) for row in rule["table"])
        and all(
            type(target) is int and -1 <= target < len(states)
            for row in rule["table"]
            for target in row
        )
    )


def _event(event: Any) -> bool:
    if not isinstance(event, dict) or not all(
        isinstance(event.get(key, ""), str) for key in ("name", "tool", "action")
    ):
        return False
    globs = event.get("arguments", {})
    return isinstance(globs, dict) and all(isinstance(glob, str) for glob in globs.values())


def _plan(program: dict[str, Any], plan: Any) -> Iterator[str]:
    if not isinstance(plan, dict) or not isinstance(plan.get("body"), list):
        yield "it has no body"
        return
    if not isinstance(plan.get("path"), str) or not isinstance(plan.get("name"), str):
        yield "it has no path and name"
    automaton = plan.get("automaton")
    if automaton is not None and automaton not in program["automata"]:
        yield f"its automaton `{automaton}` is not in the program"
    if not all(
        isinstance(p, dict) and isinstance(p.get("name"), str) for p in plan.get("params", [None])
    ):
        yield "a parameter of it has no name"
    allow = plan.get("allow", {})
    if not isinstance(allow, dict) or not all(
        isinstance(globs, list) and all(isinstance(glob, str) for glob in globs)
        for globs in allow.values()
    ):
        yield "what it allows is not a list of globs for each kind"
    budget = plan.get("budget", {})
    if isinstance(budget, dict):
        yield from _budget(budget)
    else:
        yield "its budget is not an object"
    yield from _block(program, plan["body"], 0)


def _block(program: dict[str, Any], block: list[Any], depth: int) -> Iterator[str]:
    if depth > MAX_NESTING:
        yield f"blocks are nested deeper than {MAX_NESTING}"
        return
    for item in block:
        op = item.get("op") if isinstance(item, dict) else None
        fields = _FIELDS.get(op) if isinstance(op, str) else None
        if fields is None:
            yield f"an instruction has the unknown op {op!r}"
            continue
        prefix = f"line {item.get('line')}"
        wrong = [name for name, kinds in fields.items() if not _is(item.get(name), kinds)]
        if wrong:
            yield f"{prefix}: `{op}` has no proper `{wrong[0]}`"
            continue
        yield from (f"{prefix}: {text}" for text in _content(program, item, depth))


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds)


def _content(program: dict[str, Any], item: dict[str, Any], depth: int) -> Iterator[str]:
    if item["op"] == "step" and item["tool"] not in program["tools"]:
        yield f"the tool `{item['tool']}` is not in the program"
    if item.get("outside", "text") not in ("text", "choice"):
        yield "what it writes from outside is neither `text` nor `choice`"
    if "keep" in item and not (
        item["op"] == "fork" and item["keep"] == "failures" and program["format"] == KEEPING
    ):
        yield f"only a fork keeps anything, and failures only, in format {KEEPING}"
    if item["op"] == "call" and item["plan"] not in program["plans"]:
        yield f"the plan `{item['plan']}` is not in the program"
    templates = [item[key] for key in ("glob", "in", "value") if isinstance(item.get(key), list)]
    templates += item.get("args", {}).values()
    if not all(_template(template) for template in templates):
        yield "a template has a part that is neither text nor a reference"
    for key in ("cond", "until"):
        if isinstance(item.get(key), dict) and not _condition(item[key], 0):
            yield f"the condition `{key}` is not of its form"
    for key in ("body", "then", "else"):
        if isinstance(item.get(key), list):
            yield from _block(program, item[key], depth + 1)


def _template(template: Any) -> bool:
    return isinstance(template, list) and all(
        isinstance(part, str) or _ref(part) for part in template
    )


def _ref(part: Any) -> bool:
    ref = (
        part.get("ref") if isinstance(part, dict) and part.get("quote", "word") in QUOTES else None
    )
    return isinstance(ref, list) and bool(ref) and all(isinstance(field, str) for field in ref)


def _condition(cond: Any, depth: int) -> bool:
    if not isinstance(cond, dict) or depth > MAX_NESTING:
        return False
    if "not" in cond:
        return _condition(cond["not"], depth + 1)
    for key in ("and", "or"):
        if key in cond:
            return isinstance(cond[key], list) and all(
                _condition(part, depth + 1) for part in cond[key]
            )
    if "test" in cond:
        return (
            cond["test"] in OPERATORS
            and _value(cond.get("left"), depth)
            and _value(cond.get("right"), depth)
        )
    return "value" in cond and _value(cond["value"], depth)


def _value(value: Any, depth: int) -> bool:
    if not isinstance(value, dict) or depth > MAX_NESTING:
        return False
    if "call" in value:
        args = value.get("args")
        return (
            isinstance(value["call"], str)
            and isinstance(args, list)
            and all(_value(argument, depth + 1) for argument in args)
        )
    if "len" in value:
        return _value(value["len"], depth + 1)
    return "const" in value or _ref(value)


def _cycles(program: dict[str, Any]) -> Iterator[str]:
    """A depth-first walk with an explicit stack; `grey` is what lies on it."""
    calls = {
        plan_id: sorted({item["plan"] for item in every(plan["body"]) if item["op"] == "call"})
        for plan_id, plan in program["plans"].items()
    }
    black: set[str] = set()
    for root in sorted(calls):
        if root in black:
            continue
        grey = {root}
        stack = [(root, iter(calls[root]))]
        while stack:
            plan_id, rest = stack[-1]
            callee = next(rest, None)
            if callee is None:
                stack.pop()
                grey.discard(plan_id)
                black.add(plan_id)
            elif callee in grey:
                yield f"the plans `{plan_id}` and `{callee}` call each other without end"
                return
            elif callee not in black:
                grey.add(callee)
                stack.append((callee, iter(calls[callee])))
