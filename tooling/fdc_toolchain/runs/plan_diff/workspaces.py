"""Compares what two workspaces give to their plans: settings, declarations of tools, automata, protocol rules.

In one workspace none of it differs; with a workspace for each plan (`fdc diff --old-workspace`) it may.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...named_tuples import NamedTuple
from ...rules.bounds import Polynomial

if TYPE_CHECKING:
    from ...linking.project.settings import Settings

Facts = Mapping[str, tuple[str, ...]]
"""What settings decide about runs, by what they say."""


class Side(NamedTuple):
    """A plan: its program, the worst case of each measure, and what the settings of its workspace decide."""

    program: Mapping[str, Any]
    worst: Mapping[str, Polynomial]
    facts: Facts = MappingProxyType({})


_WORSE = {
    "protect": ("more-access", "lost"),
    "keep secret": ("more-access", "lost"),
    "allow": ("more-access", "new"),
    "run as test": ("more-access", "new"),
    "ask models": ("more-cost", "new"),
    "let it take seconds": ("more-cost", "new"),
    "deny the assumption": ("weaker-gate", "lost"),
    "take the profile": ("weaker-gate", "new"),
}
"""By what settings say: what has grown where they say it no longer (`lost`) or for the first time (`new`)."""


def facts_of(settings: Settings) -> Facts:
    """What the settings of a workspace decide about runs of its plans, beside what a program says itself."""
    return {
        "protect": settings.protect,
        "keep secret": settings.secret,
        "allow": tuple(f"{row.code} in {row.files}" for row in settings.allow),
        "run as test": (settings.test_command,),
        "ask models": tuple(
            f"{role}: {json.dumps(row, sort_keys=True, default=str)}"
            for role, row in settings.models
        ),
        "let it take seconds": (f"test {settings.test_seconds}",),
        "deny the assumption": settings.assumptions,
        "take the profile": (settings.profile,),
    }


def changed(one: Side, other: Side) -> Iterable[tuple[str, str, str | None, str | None]]:
    """What the workspaces give to both programs, but differently: the kind of difference, where, and both sides."""
    old, new, facts = one.program, other.program, (one.facts, other.facts)
    for kind, name in _redeclared(old, new):
        rows = old[kind][name], new[kind][name]
        yield "capabilities", f"declaration of `{name}`", shown(rows[0]), shown(rows[1])
    for name in _edited(old, new):
        was, now = (side.get("modules", {}).get(name, "")[:12] or None for side in (old, new))
        yield "capabilities", f"Python file {name}", was, now
    for name in sorted({*old["automata"]} & {*new["automata"]}):
        if not alike(old["automata"][name], new["automata"][name]):
            yield (
                "states", f"automaton {name}", shown(old["automata"][name]), shown(new["automata"][name])
            )  # fmt: skip
    for what in _WORSE:
        before, after = ({*side.get(what, ())} - {""} for side in facts)
        yield from (
            ("capabilities", "settings", f"{what} {item}", None) for item in sorted(before - after)
        )
        yield from (
            ("capabilities", "settings", None, f"{what} {item}") for item in sorted(after - before)
        )
    for key, where in (("untrusted", "settings"), ("rules", "protocol")):
        left, right = ([shown(row) for row in side.get(key, ())] for side in (old, new))
        kind = "gates" if key == "rules" else "capabilities"
        yield from ((kind, where, f"{key} {row}", None) for row in left if row not in right)
        yield from ((kind, where, None, f"{key} {row}") for row in right if row not in left)


def worse(one: Side, other: Side) -> Iterable[tuple[str, str]]:
    """The kinds of growth for such reasons, each with the reason."""
    old, new, facts = one.program, other.program, (one.facts, other.facts)
    for _, name in _redeclared(old, new):
        yield "more-access", f"`{name}` is declared differently"
        yield "weaker-gate", f"`{name}`, about whose result a gate may ask, is declared differently"
    if _edited(old, new):
        yield "more-access", "the Python files of its tools changed"
        yield "weaker-gate", "the Python files of tools changed, about whose results a gate may ask"
    for name in sorted({*old["automata"]} & {*new["automata"]}):
        if not alike(old["automata"][name], new["automata"][name]):
            yield "weaker-gate", f"the automaton `{name}` changed"
    for what, (kind, which) in _WORSE.items():
        before, after = ({*side.get(what, ())} - {""} for side in facts)
        for item in sorted(before - after if which == "lost" else after - before):
            yield kind, f"the settings {'no longer ' if which == 'lost' else ''}{what} `{item}`"


def alike(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two automata are the same, in whatever order their states are listed."""
    rows = [
        {key: sorted(value) if isinstance(value, list) else value for key, value in row.items()}
        for row in (one, other)
    ]
    return rows[0] == rows[1]


def shown(row: object) -> str:
    """A row of a declaration as JSON; a text as it is."""
    return row if isinstance(row, str) else json.dumps(row, sort_keys=True, ensure_ascii=False)


def _redeclared(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The tools and predicates of both programs whose rows differ in more than their summaries."""
    return [
        (kind, name)
        for kind in ("tools", "predicates")
        for name in sorted({*old[kind]} & {*new[kind]})
        if {**old[kind][name], "summary": ""} != {**new[kind][name], "summary": ""}
    ]


def _edited(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The Python files of tools that are new or differ; those that are gone, too, where both programs use the same tools."""
    one, other = old.get("modules", {}), new.get("modules", {})
    same = all({*old[kind]} == {*new[kind]} for kind in ("tools", "predicates"))
    return sorted(
        name
        for name in {*one, *other}
        if (same or name in other) and one.get(name) != other.get(name)
    )
