"""`export`: a grammar for a workspace, an automaton and a choice of tools and files, in one of three notations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..exits import UsageError
from ..linking.link import Linker
from ..named_tuples import NamedTuple
from ..rules.bounds import MOST_STEPS
from ..rules.solver.flow.touched import ACTING, sinks
from ..syntax.language import STATEMENTS
from .bodies import Bodies
from .form import MOST_LEFT, MOST_NAMES, Form, TooLarge
from .loops import opening
from .own_names import call_of, place_of
from .place import (
    Call,
    Place,
    Slot,
    automaton_reads,
    files_of,
    reached,
    slots_of,
    with_closing,
)  # fmt: skip
from .written import gbnf, lark, llguidance

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.catalogue import Tool

FORMS: dict[str, Callable[[Form], str]] = {"llguidance": llguidance, "gbnf": gbnf, "lark": lark}
"""The notations, by name."""
STEPS = {"llguidance": 20, "gbnf": 8, "lark": 8}
"""The most statements of a plan where no one says it."""


class Grammar(NamedTuple):
    """A grammar: its text, what is to be said of it, and the names of what it is made of."""

    text: str
    remarks: tuple[str, ...]
    tools: tuple[str, ...]
    files: int
    names: tuple[str, ...]


def export(
    linker: Linker,
    form: str,
    *,
    fsm: str | None = None,
    tools: Sequence[str] = (),
    files: str = "**",
    most: int | None = None,
    names_of: str | None = None,
    brief: bool = False,
) -> Grammar:
    """The grammar of the plans of a workspace. `names_of`: the plan (its key) whose names, headers and tools it takes.

    Raises UsageError for an automaton, a tool or a plan that is not there, for wrong declarations, and where no plan is accepted.
    """
    fault = next((item for item in linker.diagnostics if item.severity == "error"), None)
    if fault is not None:
        raise UsageError(
            f"no plan holds until this is repaired: {fault.span.path}: {fault.message} ({fault.code})"
        )
    most = STEPS[form] if most is None else most
    if not 1 <= most <= MOST_LEFT:
        raise UsageError(f"--most-steps is 1 to {MOST_LEFT}")
    if names_of is not None:
        place, remarks = place_of(linker, names_of, most), list[str]()
    else:
        place, remarks = _place(linker, form, fsm or linker.settings.fsm, tools, files, most)
        place = place._replace(brief=brief, depth=1 if brief else place.depth)
    bodies = Bodies(place)
    made = bodies.plan()
    if not made.rules["first"]:
        raise UsageError(
            f"`{place.automaton.name}` accepts no plan of {most} steps with these tools"
        )
    if bodies.steps.left_out:
        remarks.append(
            f"left out: {', '.join(sorted(bodies.steps.left_out))} (their steps cannot be right by form alone)"
        )
    try:
        text = FORMS[form](made)
    except TooLarge as too_large:
        raise UsageError(
            f"this grammar has more than {too_large.args[0]} rules as {form}: choose fewer --tools or --most-steps, or llguidance"
        ) from too_large
    shown = tuple(tool.name for tool in place.tools if tool.name not in bodies.steps.left_out)
    return Grammar(
        text, tuple(remarks), shown, len(place.files), tuple(slot.name for slot in place.slots)
    )


def _place(
    linker: Linker, form: str, fsm: str, tools: Sequence[str], files: str, most: int
) -> tuple[Place, list[str]]:
    automaton = automaton_of(linker, fsm)
    rows = tools_for(linker, automaton, tools)
    paths, remarks = files_of(linker.root, files, linker)
    small = form != "llguidance"
    slots = slots_of(rows, small)[:MOST_NAMES]
    calls = tuple(_calls(linker, most))
    if calls and not small:
        slots = (*slots[: MOST_NAMES - 1], Slot("answer1", (), 3, "call"))
    both, ended = with_closing(automaton, fragment=False)
    head, packs = head_of(linker, fsm, rows)
    place = Place(
        both, ended, head, tuple(rows), paths, slots, calls, dict(linker.using(packs).predicates),
        bool(linker.settings.untrusted or linker.outside), False, small, 0, (), False, 1 if small else 3, most,
        ((both.start, tuple(sorted(both.accept))),),
    )  # fmt: skip
    return place, remarks


def tools_for(linker: Linker, automaton: Automaton, names: Sequence[str] = ()) -> list[Tool]:
    """The tools that an automaton reads: those named, otherwise those that plans of the workspace see (where no plan could end
    with these, those of the automaton's pack too, then all). Raises UsageError for a name that no catalogue declares."""
    catalogue = linker.catalogue.tools
    unknown = [name for name in names if name not in catalogue]
    if unknown:
        raise UsageError(f"no catalogue declares the tool `{unknown[0]}` (see `fdc tools`)")
    alphabet = {None, *automaton.alphabet}
    packs = (*linker.settings.packs, *linker.packs_of(automaton.path))
    choices = [linker.in_force.tools, linker.using(packs).tools, catalogue]
    if names:
        choices = [{name: catalogue[name] for name in names}]
    rows: list[Tool] = []
    for choice in choices:
        rows = [choice[name] for name in sorted(choice) if choice[name].action in alphabet]
        if automaton_reads(automaton, rows):
            break
    return rows


def head_of(linker: Linker, fsm: str, tools: Sequence[Tool]) -> tuple[str, tuple[str, ...]]:
    """The first lines of a plan of an automaton and of tools, and the packs that it uses."""
    stated = linker.settings.packs
    of_tools = {linker.catalogue.packs.get(("tools", tool.name)) for tool in tools}
    named = sorted(pack for pack in of_tools if pack is not None and pack not in stated)
    lines = "".join(f"{opening('use')}pack {pack}\n" for pack in named)
    return f"# FSM: {fsm}\n{lines}", (*stated, *named)


def automaton_of(linker: Linker, fsm: str) -> Automaton:
    """An automaton by path or name. Raises UsageError where it cannot be used."""
    _, automaton, found = linker.automaton(fsm)
    if automaton is None:
        why = found[0].message if found else "the file does not exist"
        raise UsageError(f"the automaton `{fsm}` cannot be used: {why}")
    return automaton


def _calls(linker: Linker, most: int) -> list[Call]:
    """The registered plans that are whole runs without an error, which a plan may call as often as it has statements (`most`):
    their own automaton governs them.

    One that brings text of a model or from outside and does what such text must not choose is none of them.
    """
    from ..check import check

    out = []
    for name in linker.callable_names():
        key, _ = linker.resolve(name)
        if key is None:
            continue
        unit = linker.link(key)
        if unit.automaton is None:
            continue
        tools = [act.bound.tool for one in reached(linker, unit) for act in one.acts]
        outside = any(tool.trust == "untrusted" for tool in tools)
        does = any(tool.writes_unknown or not ACTING.isdisjoint(sinks(tool)) for tool in tools)
        if does and (outside or any(tool.trust == "model" for tool in tools)):
            continue
        if any(item.severity == "error" for item in check(linker, [key]).diagnostics):
            continue
        call = call_of(name, unit.params)._replace(outside=outside, acts=does)
        if _takes_texts(linker, call) and _FAR.isdisjoint(_when_called(linker, call, most, _HALF)):
            out.append(call._replace(costs=_costs(linker, call)))
    return out


def _takes_texts(linker: Linker, call: Call) -> bool:
    """Whether a call can be written, and goes on, whatever text its inputs are given."""
    for names in (call.required, call.required + call.optional):
        given = "".join(f' {name}="x {{value}}"' for name in names)
        if any(line == 2 and code in _REFUSED for line, code in _probed(linker, call.name + given)):
            return False
    return True


def _costs(linker: Linker, call: Call) -> bool:
    """Whether a plan that calls it and nothing else as often as a plan may, twice, would have to state a budget."""
    return "FDC422" in _when_called(linker, call, 2 * MOST_LEFT)


_HALF = f"{STATEMENTS['budget'].word} steps {MOST_STEPS // 2}\n"
"""What all calls of a plan of a grammar may take together."""


def _when_called(linker: Linker, call: Call, often: int, head: str = "") -> set[str]:
    """The codes of what is wrong with a plan that makes a call so often."""
    given = "".join(f' {name}="x {{value}}"' for name in call.required)
    return {code for _, code in _probed(linker, call.name + given, often, head)}


def _probed(linker: Linker, call: str, often: int = 1, head: str = "") -> list[tuple[int, str]]:
    """The lines and codes of what is wrong with a plan that makes a call."""
    from ..check import check

    text = f"{head}value <- request_user_input x\n" + f"call_plan {call}\n" * often
    found = check(
        linker, [_PROBE], {_PROBE: text.encode()}, whole=bool(head) or often > 1
    ).diagnostics
    linker.units.pop(_PROBE, None)
    return [(item.span.line, item.code) for item in found]


_PROBE = "<call>"
_REFUSED = frozenset(("FDC101", "FDC109", "FDC481"))
"""Errors of a call by its form, or by what it gives."""
_FAR = frozenset(("FDC323", "FDC421"))
"""Errors of a call by how deep it goes, or by what it costs."""


def key_in(linker: Linker, path: str) -> str:
    """The key of a plan by a path or a registered name. Raises UsageError where there is none."""
    from ..check import key_of

    if os.path.isfile(path):
        return key_of(path, linker.root)
    key, _ = linker.resolve(path)
    if key is None:
        raise UsageError(f"the plan `{path}` does not exist")
    return key
