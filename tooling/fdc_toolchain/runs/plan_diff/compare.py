"""Compares two programs: the differences, and whether access or cost grew or gates got weaker.

"Not worse" must be proved: what cannot be compared counts as worse.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from ...named_tuples import NamedTuple
from ...program.instructions import every
from ...rules.bounds import shown
from .instructions import condition_text, text_of
from .order import asked_otherwise, followed_otherwise, found_otherwise, unguarded
from .walk import walk
from .walked import Walked
from .workspaces import Side, alike, changed, worse

MEASURES = ("steps", "model_calls", "tokens", "money")


class Difference(NamedTuple):
    """`what`: steps, states, files, bounds, capabilities, flows, assumptions or gates. None: missing on that side."""

    what: str
    where: str
    old: str | None
    new: str | None


class Compared(NamedTuple):
    """The differences, and the reasons by kind of growth."""

    differences: list[Difference]
    grown: dict[str, list[str]]


def compare(old: Side, new: Side) -> Compared:
    """The changes from one plan to the other."""
    before, after = walk(old.program), walk(new.program)
    found = [
        *_steps(old.program, new.program),
        *_states(old.program, new.program),
        *_sets("files", _files(old.program), _files(new.program)),
        *_bounds(old, new),
        *_sets("capabilities", _capabilities(old.program), _capabilities(new.program)),
        *_sets("flows", _flows(old.program), _flows(new.program)),
        *_sets("gates", _gates(before), _gates(after)),
        *_sets("assumptions", _assumptions(old.program), _assumptions(new.program)),
        *(Difference(*row) for row in changed(old, new)),
    ]
    grown = {
        "more-access": list(dict.fromkeys(_access(old.program, new.program, before, after))),
        "more-cost": list(dict.fromkeys(_cost(old, new, before, after))),
        "weaker-gate": list(dict.fromkeys(_weaker(old.program, new.program, before, after))),
    }
    for kind, reason in worse(old, new):
        if reason not in grown[kind]:
            grown[kind].append(reason)
    return Compared(found, grown)


# ---- differences ---------------------------------------------------------------------------


def _plans(program: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The plans by name; the root is `main`."""
    out = {"main": program["plans"][program["root"]]}
    for key, plan in program["plans"].items():
        if key != program["root"]:
            out[plan["name"]] = plan
    return out


def _lines(body: Iterable[Mapping[str, Any]], depth: int = 0) -> list[str]:
    """Statements as lines, by meaning: without positions, spaces and comments."""
    out = []
    for row in body:
        op, indent = row["op"], "  " * depth
        bind = f"{row['bind']} <- " if row.get("bind") else ""
        if op == "step":
            args = " ".join(
                f"{name}={text_of(parts)!r}" for name, parts in sorted(row["args"].items())
            )
            out.append(f"{indent}{bind}{row['tool']} {args}".rstrip())
        elif op == "call":
            args = " ".join(
                f"{name}={text_of(parts)!r}" for name, parts in sorted(row["args"].items())
            )
            out.append(f"{indent}{bind}call_plan {row['name']} {args}".rstrip())
        elif op == "each":
            most = "" if row["max"] is None else f" max {row['max']}"
            out.append(
                f"{indent}for_each_file {text_of(row['glob'])} as {row['name'] or row['alias']}{most}"
            )
        elif op in ("for", "fork"):
            kept = " keep failures" if "keep" in row else ""
            out.append(
                f"{indent}{bind}{op} {row['name']} in {text_of(row['in'])} max {row['max']}{kept}"
            )
        elif op == "iterate":
            until = "" if row["until"] is None else f" until {condition_text(row['until'])}"
            out.append(f"{indent}iterate max {row['max']}{until}")
        elif op == "if":
            out.append(f"{indent}if {condition_text(row['cond'])}")
            out += _lines(row["then"], depth + 1)
            if row["else"]:
                out += [f"{indent}else", *_lines(row["else"], depth + 1)]
        elif op == "require":
            out.append(f"{indent}require {condition_text(row['cond'])} else {row['why']!r}")
        elif op == "yield":
            out.append(f"{indent}yield {text_of(row['value'])}")
        if op in ("each", "for", "fork", "iterate"):
            out += _lines(row["body"], depth + 1)
    return out


def _steps(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    found = []
    before, after = _plans(old), _plans(new)
    for name in dict.fromkeys((*before, *after)):
        one, other = (
            _lines(side[name]["body"]) if name in side else [] for side in (before, after)
        )
        for tag, a, b, c, d in difflib.SequenceMatcher(
            None, one, other, autojunk=False
        ).get_opcodes():
            if tag != "equal":
                found += [Difference("steps", name, line.strip(), None) for line in one[a:b]]
                found += [Difference("steps", name, None, line.strip()) for line in other[c:d]]
        inputs = [
            {row["name"]: "needed" if row["default"] is None else f"default {row['default']!r}" for row in side[name]["params"]}
            if name in side else {} for side in (before, after)
        ]  # fmt: skip
        for key in dict.fromkeys((*inputs[0], *inputs[1])):
            if inputs[0].get(key) != inputs[1].get(key):
                found.append(
                    Difference(
                        "steps", f"{name}, input {key}", inputs[0].get(key), inputs[1].get(key)
                    )
                )
    return found


def _states(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    found = []
    one, other = (_plans(side)["main"]["automaton"] or "a fragment" for side in (old, new))
    if one != other:
        found.append(Difference("states", "automaton", one, other))
    sides = [_moves(side["automata"].get(name)) for side, name in ((old, one), (new, other))]
    return found + _sets("states", *sides)


def _moves(automaton: Mapping[str, Any] | None) -> set[str]:
    if automaton is None:
        return set()
    rows = automaton["transitions"].items()
    moves = {f"{state} --{symbol}--> {to}" for state, row in rows for symbol, to in row.items()}
    return (
        moves
        | {f"ends in {state}" for state in automaton["accept"]}
        | {f"starts in {automaton['start']}"}
    )


def _sets(what: str, one: Iterable[str], other: Iterable[str]) -> list[Difference]:
    before, after = set(one), set(other)
    return [Difference(what, "", item, None) for item in sorted(before - after)] + [
        Difference(what, "", None, item) for item in sorted(after - before)
    ]


def _rows(program: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Every statement of every plan."""
    return [row for plan in program["plans"].values() for row in every(plan["body"])]


def _files(program: Mapping[str, Any]) -> set[str]:
    out = set()
    for row in _rows(program):
        if row["op"] == "each":
            out.add(f"read {text_of(row['glob'])}")
        if row["op"] == "step":
            for item in program["tools"][row["tool"]]["parameters"]:
                if item["name"] in row["args"] and (
                    item.get("access") or item["kind"] in ("path", "glob")
                ):
                    out.add(f"{item.get('access', 'read')} {text_of(row['args'][item['name']])}")
    return out


def _capabilities(program: Mapping[str, Any]) -> set[str]:
    out = {f"uses {row['tool']}" for row in _rows(program) if row["op"] == "step"}
    for name, plan in _plans(program).items():
        out |= {
            f"{name} allows {kind} {glob}"
            for kind, globs in plan.get("allow", {}).items()
            for glob in globs
        }
        if not plan.get("allow"):
            out.add(f"{name} allows what the workspace does")
    for row in _rows(program):
        if row["op"] == "step":
            for item in program["tools"][row["tool"]]["parameters"]:
                if item.get("sink") == "command" and item["name"] in row["args"]:
                    out.add(f"runs {text_of(row['args'][item['name']])}")
    return out


def _flows(program: Mapping[str, Any]) -> set[str]:
    """Which tool's result is given to which parameter of which tool, plan by plan; and what is written from outside."""
    out = set()
    plans = program["plans"].values()
    for plan, row in ((one, row) for one in plans for row in every(one["body"])):
        if row["op"] != "step":
            continue
        if "outside" in row:
            out.add(
                f"{row['tool']} writes {'text' if row['outside'] == 'text' else 'what was chosen by text'} from outside"
            )
        for name, parts in row["args"].items():
            for part in parts:
                if isinstance(part, dict):
                    out |= {
                        f"{source} -> {row['tool']}.{name}"
                        for source in _sources(plan, part["ref"][0])
                    }
    return out


def _sources(plan: Mapping[str, Any], name: str) -> set[str]:
    found = {
        row["tool"] if row["op"] == "step" else row.get("name") or row["op"]
        for row in every(plan["body"])
        if row.get("bind") == name
    }
    return found or {f"{{{name}}}"}


def _gates(walked: Walked) -> set[str]:
    return {
        shown for name, shown in walked.shown.items() if not shown.startswith(("if ", "else of"))
    }


def _assumptions(program: Mapping[str, Any]) -> set[str]:
    return {row["text"] for row in program.get("assumptions", ())}


def _bounds(old: Side, new: Side) -> list[Difference]:
    found = []
    for measure in MEASURES:
        one, other = shown(old.worst[measure]), shown(new.worst[measure])
        if one != other:
            found.append(
                Difference("bounds", f"worst case, {measure.replace('_', ' ')}", one, other)
            )
    one, other = old.program["budget"], new.program["budget"]
    for measure in sorted({*one, *other}):
        if one.get(measure) != other.get(measure):
            sides = (f"{side[measure]:g}" if measure in side else None for side in (one, other))
            found.append(Difference("bounds", f"budget, {measure}", *sides))
    return found


# ---- what has grown -----------------------------------------------------------------------


def _access(
    old: Mapping[str, Any], new: Mapping[str, Any], before: Walked, after: Walked
) -> Iterable[str]:
    for name in sorted({*new["tools"]} - {*old["tools"]}):
        yield f"`{name}` was not used before"
    known_steps = {(step.what, names) for step in before.steps for names in {False, step.names}}
    for step in after.steps:
        if (step.what, step.names) not in known_steps:
            yield f"new: {step.shown}"
    # If files that a run reads may choose what it does, the text that is written to them counts too.
    yield from found_otherwise(before, after)
    yield from followed_otherwise(before, after)
    yield from _allowed(old, new)
    for glob in old.get("untrusted", ()):
        if glob not in new.get("untrusted", ()):
            yield f"files of `{glob}` count as trusted"


def _allowed(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    """New permissions in the plans' `allow`."""
    sides = _plans(old), _plans(new)
    for name in sorted(sides[0].keys() - sides[1].keys()):
        if sides[0][name].get("allow") and not _only_removed(*sides):
            yield f"{name}, which has an `allow`, is not called any more"
    for name, plan in _plans(new).items():
        one = _plans(old).get(name, _plans(old)["main"]).get("allow", {})
        other = plan.get("allow", {})
        if one and not other:
            yield f"{name} has no `allow` any more"
        if one:
            for kind, globs in other.items():
                for glob in globs:
                    if glob not in one.get(kind, ()):
                        yield f"{name}: allow {kind} {glob}"
        elif any("*" not in glob for kind in ("read", "write") for glob in other.get(kind, ())):
            # Naming a protected file opens it.
            yield f"{name} has an `allow` that may open a protected file"


def _only_removed(
    one: Mapping[str, Mapping[str, Any]], other: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether the second plans contain only plans and lines of the first ones."""
    return all(
        name in one and not Counter(_lines(plan["body"])) - Counter(_lines(one[name]["body"]))
        for name, plan in other.items()
    )


def _cost(old: Side, new: Side, before: Walked, after: Walked) -> Iterable[str]:
    found = [*_limits(old, new, before, after)]
    yield from found or _oftener(before, after)


def _oftener(before: Walked, after: Walked) -> Iterable[str]:
    """Steps that loops do more often, where the worst case of the plan is the same."""
    then: dict[str, float] = {}
    for step in before.steps:
        then[step.given] = max(step.often, then.get(step.given, 0))
    for step in after.steps:
        if step.often > then.get(step.given, inf):
            once = f"{then[step.given]:g} times at most before, {step.often:g} now"
            yield f"loops do it more often: {step.shown}: {once}"


def _limits(old: Side, new: Side, before: Walked, after: Walked) -> Iterable[str]:
    for measure in MEASURES:
        one, other = old.worst[measure], new.worst[measure]
        if any(count > one.get(key, 0) for key, count in other.items()):
            yield f"worst case, {measure.replace('_', ' ')}: {shown(one)} before, {shown(other)} now"
    for measure, limit in old.program["budget"].items():
        now = new.program["budget"].get(measure)
        if now is None or now > limit:
            yield f"budget {measure}: {limit:g} before, {'none' if now is None else format(now, 'g')} now"
    for over, most in before.limits.items():
        more = after.limits.get(over, most)
        if more > most:
            yield f"a loop goes on with more items: max {most:g} before, {'none' if more == inf else format(more, 'g')} now"
    if after.globs - before.globs:
        yield "a loop goes through other files"
    inner = [_plans(side.program) for side in (old, new)]
    removed = _only_removed(*inner)
    for name, plan in inner[0].items():
        for measure, limit in plan.get("budget", {}).items():
            if name not in inner[1] and removed:
                continue  # it is not called any more, without a replacement
            if inner[1].get(name, {}).get("budget", {}).get(measure, limit + 1) > limit:
                yield f"budget {measure} of {name}: {limit:g} before"


def _weaker(
    old: Mapping[str, Any], new: Mapping[str, Any], before: Walked, after: Walked
) -> Iterable[str]:
    one, other = (_plans(side)["main"]["automaton"] for side in (old, new))
    if one != other or (one and not alike(old["automata"][one], new["automata"][other])):
        yield "its automaton changed"
    for name in sorted({*new["automata"]} - {*old["automata"], other}):
        yield f"the automaton `{name}` of a plan that it calls changed"
    rules = [
        {(row["protocol"], row["rule"]): row for row in side.get("rules", ())}
        for side in (old, new)
    ]
    for key, row in rules[0].items():
        if rules[1].get(key) != row:
            yield f"the rule `{key[1]}` of `{key[0]}` changed or was removed"
    for name, count in before.gates.items():
        shown_gate = before.shown[name]
        now = after.gates.get(name, 0)
        if now < count and not shown_gate.startswith(("if ", "else of")):
            yield f"{'asked less often' if now else 'removed or changed'}: {shown_gate}"
    yield from dict.fromkeys(way for way, _ in after.lenient - before.lenient)
    yield from unguarded(before.steps, after.steps)
    for name, rounds in before.turns.items():
        if after.turns.get(name, rounds) < rounds:
            yield "fewer rounds of an `iterate` give what it binds"
    yield from asked_otherwise(before, after)
