"""Would we notice? Mistakes planted into the prover one at a time, which the generated plan sets must find (formal core, C 3).

Each mutant changes one place of `rules/solver/words.py`, `rules/files.py`, `rules/closure.py` or another: the text is
compiled again and the changed functions get the changed code, for as long as one comparison lasts.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from fdc_toolchain.check import Checked, check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules import files as file_rule
from fdc_toolchain.rules.solver.counterexample import Search
from fdc_toolchain.rules.solver.files import effects
from fdc_toolchain.rules.solver.words import Machine

from tests.support import filesets, filewalks, plansets, rulesets
from tests.support.linting import World
from tests.support.profiles import share

pytestmark = pytest.mark.long

SETS = 700
"""Plan sets that each mutant has to survive; nearly all die within the first few."""

FILE_SETS = 250
"""The same for sets of files, which take longer to walk."""

MUTANTS: list[tuple[str, str, str]] = [
    # the words of a plan
    (
        "solver.words",
        "out |= self.body(instance, node.then, mask)",
        "out = self.body(instance, node.orelse, mask)",
    ),
    ("solver.words", "out |= self.body(instance, node.orelse, mask)", "out |= 0"),
    ("solver.words", "        if node.least:\n", "        if not node.least:\n"),
    (
        "solver.words",
        "        reached = mask\n        frontier = mask & ~",
        "        reached = 0\n        frontier = mask & ~",
    ),
    ("solver.words", "else self.machine.size\n        while", "else 1\n        while"),
    ("solver.words", "            left -= 1\n", "            left -= 2\n"),
    ("solver.words", "while frontier and left > 0", "while frontier and left > 1"),
    ("solver.words", "left = node.most - node.least", "left = node.most"),
    (
        "solver.words",
        "after & ~reached & ~self.machine.sink",
        "after & reached & ~self.machine.sink",
    ),
    ("solver.words", "(callee.unit.stated is not None and", "(callee.unit.stated is None and"),
    ("solver.words", "            out |= known[0]", "            out = known[0]"),
    ("solver.words", "key = (id(instance), low)", "key = (id(instance), 0)"),
    (
        "solver.words",
        "            rest ^= low\n            key",
        "            rest = 0\n            key",
    ),
    ("solver.words", "after |= sink if target < 0", "after |= 0 if target < 0"),
    ("solver.words", "instance.unit.body, 1 << self.machine.start)", "instance.unit.body, 1)"),
    (
        "solver.words",
        "self._exits[key] = self.apart(self.body, instance, instance.unit.body, low)",
        "self._exits[key] = out, 0",
    ),
    ("solver.words", "unit.body, low)\n            out", "unit.body, mask)\n            out"),
    # the shortest run
    ("solver.counterexample", "if found is None or total + cost < found[0]", "if found is None"),
    ("solver.counterexample", "length + 1, (path, leaf), out", "length, (path, leaf), out"),
    (
        "solver.trace",
        "if known is None or length < known[0]",
        "if known is None or length + 1 < known[0]",
    ),
    (
        "solver.counterexample",
        "frontier = merge(reached, after)",
        "frontier = {} if merge(reached, after) else after",
    ),
    (
        "solver.counterexample",
        "if target < 0:\n                    outer",
        "if target <= 0:\n                    outer",
    ),
    (
        "solver.counterexample",
        "(refusal.length, refusal.state) < (known.length, known.state)",
        "(known.length, known.state) < (refusal.length, refusal.state)",
    ),
    # files
    ("solver.files.failures", "found.append(blamed(more, one.tail))", "found.append(more)"),
    ("solver.files.effects", "out |= second[state]", "out = second[state]"),
    ("solver.files.effects", "total = body if least else SAME", "total = body"),
    (
        "solver.files.effects",
        "range(MOST_ROUNDS if most is None else",
        "range(0 if most is None else",
    ),
    (
        "solver.files.effects",
        "'delete': (GONE, _NEEDS, WRITES)",
        "'delete': (THERE, _NEEDS, WRITES)",
    ),
    (
        "solver.files.effects",
        "'create': (THERE, _WANTS_FREE, WRITES)",
        '"create": (THERE, ("",) * STATES, WRITES)',
    ),
    ("solver.files.effects", "anyhow = _union(anyhow, exits)", "anyhow = anyhow"),
    ("solver.files.bodies", "either(one.of(path), other.of(path))", "one.of(path)"),
    (
        "solver.files.bodies",
        "Effects(paths, either(one.rest, other.rest), wild, fixed)",
        "Effects(paths, one.rest, wild, fixed)",
    ),
    (
        "solver.files.bodies",
        "bits |= done << BY_CHANCE if met == CHANCE",
        "bits |= 0 if met == CHANCE",
    ),
    (
        "solver.files.bodies",
        "settled(effect, before.exits[1], before.tail)",
        "settled(effect, UNKNOWN)",
    ),
    (
        "solver.files.plan_effects",
        "return log.since(path, found, seen[path], by_commands=by_commands)",
        "return found",
    ),
    ("solver.files.plan_effects", "rest = then(rest, entry.rest)", "pass"),
    ("solver.files.step_paths", "dict.fromkeys(own, present)", "{loop.alias: present}"),
    ("solver.files.step_paths", "given[name] = (param.default,)", "pass"),
    ("files", "entry = 1 if exists(literal) else 0", "entry = 0 if exists(literal) else 1"),
    ("solver.files.fork_conflicts", "repeat(outer.rest, node.least, node.most)", "outer.rest"),
    # the closure mandate
    ("closure", "'close_op': [1, 1, 1]", '"close_op": [1, 0, 1]'),
    ("closure", "'submit_op': [0, 2, 0]", '"submit_op": [0, 2, 2]'),
    ("closure", "return [0, 0, 0]", "return [0, 1, 0]"),
    (
        "closure",
        "summaries.root(instance) & ~CLOSURE.accept",
        "not summaries.root(instance) & CLOSURE.accept",
    ),
    # rules of protocols
    ("solver.events", "verdict = None if one is None else verdict", "verdict = verdict"),
    ("solver.events", "letter | bit << number", "bit << number"),
    (
        "solver.events",
        "            return False\n        if known is not None",
        "            continue\n        if known is not None",
    ),
    (
        "protocol_rules.proved",
        "return (-1, *events.letters(rule, node))",
        "return events.letters(rule, node)",
    ),
    ("protocol_rules.proved", "states & ~made.accept:", "states >> len(made.states):"),
    (
        "protocol_rules.proved",
        "1 << (sink if target < 0 else target)",
        "1 << (state if target < 0 else target)",
    ),
    ("protocol_rules.per_value", "return out | self._visiting(", "return out and self._visiting("),
    ("protocol_rules.per_value", "mask & ~visiting if listed else mask", "mask & ~visiting"),
    ("protocol_rules.per_value", "(same if relation else other).add(name)", "other.add(name)"),
    (
        "protocol_rules.per_value",
        "assumed = dict.fromkeys((one.value.text for one in fixed if one not in possible), False)",
        "assumed = dict.fromkeys((one.value.text for one in fixed), True)",
    ),
    (
        "protocol_rules.per_value",
        "relation = plain(param.default, self.kind) == self.value",
        "relation = False",
    ),
]


def test_each_mutant_has_its_place() -> None:
    """Also those that the default run does not plant."""
    sources = {
        name: plain_source(importlib.import_module(f"fdc_toolchain.rules.{name}"))
        for name in {row[0] for row in MUTANTS}
    }
    assert [] == [(name, old) for name, old, _ in MUTANTS if sources[name].count(old) != 1]


TRIED = MUTANTS if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else MUTANTS[::3]
"""All of them take most of a minute: `make soak` plants each, the default run every third."""
SURVIVORS = len(TRIED) // 20
"""Mutants that may live: one in twenty is the measure. `tests/unit/test_words.py` is there for them."""


# ---- planting -----------------------------------------------------------------------------------


def functions(module: ModuleType | type) -> dict[str, FunctionType]:
    """The functions of a module and of its classes, by name."""
    out: dict[str, FunctionType] = {}
    for name, value in vars(module).items():
        if isinstance(value, classmethod):
            value = value.__func__
        if isinstance(value, FunctionType) and (
            isinstance(module, type) or value.__module__ == module.__name__
        ):
            out[name] = value
        elif isinstance(value, type) and value.__module__ == getattr(module, "__name__", None):
            out |= {f"{name}.{inner}": found for inner, found in functions(value).items()}
    return out


def plain_source(module: ModuleType) -> str:
    """The source of a module as `ast.unparse` writes it: no comments, one layout, whatever the formatter does."""
    return ast.unparse(ast.parse(inspect.getsource(module)))


@contextmanager
def planted(name: str, old: str, new: str) -> Iterator[None]:
    """One mistake in one module of the analyses."""
    module = importlib.import_module(f"fdc_toolchain.rules.{name}")
    source = plain_source(module)
    assert source.count(old) == 1, (
        f"the place of this mutant has changed: {old!r} is there {source.count(old)} times"
    )
    other = ModuleType(module.__name__)
    other.__dict__.update(__package__=module.__package__, __file__=module.__file__)
    exec(compile(source.replace(old, new), str(module.__file__), "exec"), other.__dict__)
    mine, theirs = functions(module), functions(other)
    kept: list[tuple[FunctionType, CodeType]] = []
    tables: list[tuple[dict, dict]] = []
    for key, function in theirs.items():
        if key in mine and mine[key].__code__ != function.__code__:
            kept.append((mine[key], mine[key].__code__))
            mine[key].__code__ = function.__code__
    for key, value in vars(other).items():
        if (
            isinstance(value, dict)
            and key.startswith("_")
            and not key.startswith("__")
            and value != vars(module)[key]
        ):
            tables.append((vars(module)[key], dict(vars(module)[key])))
            vars(module)[key].update(value)
        elif isinstance(value, other.__dict__.get("Machine", ())):
            tables.append((vars(module)[key].table, dict(vars(module)[key].table)))
            vars(module)[key].table.update(value.table)
    assert kept or tables, "the mistake changes nothing"
    try:
        yield
    finally:
        for function, code in kept:
            function.__code__ = code
        for table, before in tables:
            table.clear()
            table.update(before)


# ---- comparing ----------------------------------------------------------------------------------


def looked_at(files: dict[str, bytes], there: frozenset[str] = frozenset()) -> Checked:
    world = World(dict(files), there)
    world.there = set(there)
    return check(Linker("/nonexistent", Settings(), world), ["p0.plan"])


@functools.cache
def word_set(seed: int) -> tuple[plansets.PlanSet, dict[int, Any]]:
    """Made when it is first wanted: most mistakes are found within the first few. One that is too large says nothing."""
    made = plansets.plan_set(seed)
    try:
        return made, {
            n: (plansets.verdict(made, n), plansets.exits(made, n)) for n in plansets.judged(made)
        }
    except plansets.TooMany:
        return made, {}


def words_differ(sets: int = SETS) -> bool:
    for made, expected in map(word_set, range(sets)):
        if not expected:
            continue
        result = looked_at(made.files | {"fdc_tools.json": plansets.CATALOGUE})
        for number, (verdict, exits) in expected.items():
            instance = result.context.graph.instance(f"p{number}.plan")
            summaries = result.context.summaries(Machine.of(instance.unit.automaton))
            if summaries.root(instance) != exits:
                return True
            finding = Search(summaries).root(instance)
            shortest = min((item.length for item in finding.refusals), default=None)
            if (shortest, finding.unfinished and finding.unfinished[1]) != verdict:
                return True
            told = {
                d.code
                for d in result.diagnostics
                if d.code in ("FDC401", "FDC402") and d.span.path == f"p{number}.plan"
            }
            if told != {
                code
                for code, found in zip(("FDC401", "FDC402"), verdict, strict=True)
                if found is not None
            }:
                return True
    return False


@functools.cache
def file_set(seed: int) -> tuple[filesets.FileSet, list[filewalks.Failed], bool] | None:
    made = filesets.file_set(seed, rich=seed % 2 == 1)
    try:
        return made, *filewalks.failures(made)
    except filewalks.TooMany:
        return None


def files_differ(sets: int = FILE_SETS) -> bool:
    """A step fails of which nothing is said; or more steps are refused that no run makes fail than without a mistake."""
    tables = effects._composed, effects._known
    for table in tables:  # what is remembered there was made without the mistake
        table.clear()
    try:
        return _files_differ(sets)
    finally:
        for table in tables:
            table.clear()


def _files_differ(sets: int) -> bool:
    spurious = 0
    for made, found, whole in filter(None, map(file_set, range(sets))):
        files = made.files | {"fdc_tools.json": filesets.CATALOGUE, "any.json": filesets.AUTOMATON}
        findings = list(file_rule.check(looked_at(files, made.there).context))
        if filewalks.unsaid(found, findings) is not None:
            return True
        spurious += whole and not filewalks.told_of(findings)[0] <= {item[:4] for item in found}
    return spurious > 3


CLOSING = {"ta": "close_op", "tb": "submit_op", "tc": "step_op", "tn": None}


@functools.cache
def closing_sets() -> list[tuple[dict[str, bytes], bool, bool]]:
    """Plan sets whose letters close, submit and work, under an automaton that refuses nothing.

    With each: does every run of the root end closed; does a run of any plan do something else after a submit.
    """
    catalogue = json.loads(plansets.CATALOGUE)
    for name, action in CLOSING.items():
        catalogue["tools"][name]["action"] = action
    moves = {symbol: "S" for symbol in CLOSING.values() if symbol}
    free = {
        "states": ["S"],
        "alphabet": sorted(moves),
        "transitions": {"S": moves},
        "start_state": "S",
        "accept_states": ["S"],
    }
    out = []
    for seed in range(SETS // 2):
        made = plansets.plan_set(seed)
        try:
            words = [
                "".join(letter[0] for letter in run if letter) for run in plansets.runs(made, 0)
            ]
            behind = any(
                more_than_submits(run)
                for number in plansets.judged(made)
                for run in plansets.runs(made, number)
            )
        except plansets.TooMany:
            continue
        files = made.files | {"fdc_tools.json": json.dumps(catalogue).encode()}
        files |= {name: json.dumps(free).encode() for name in files if name.startswith("m")}
        out.append((files, all(word.endswith(("a", "ab")) for word in words), behind))
    return out


def more_than_submits(run: tuple[str | None, ...]) -> bool:
    """A step that is not a submit, or a call, comes after a submit; whether an automaton notices it or not."""
    return "b_op" in run and any(item != "b_op" for item in run[run.index("b_op") :])


def closings_differ() -> bool:
    for files, closed, behind in closing_sets():
        told = [item.message for item in looked_at(files).diagnostics if item.code == "FDC403"]
        after = [re.search("comes after (the )?`submit`", message) is not None for message in told]
        if (all(after), any(after)) != (closed, behind):
            return True
    return False


@functools.cache
def rule_sets() -> list[tuple[rulesets.RuleSet, bool]]:
    out = []
    for seed in range(SETS):
        made = rulesets.rule_set(seed, same=seed % 4 > 0)
        try:
            out.append((made, rulesets.breaks(made)))
        except rulesets.TooMany:
            continue
    return out


def rules_differ() -> bool:
    """An accepted plan with a run that breaks the rule; or too many that are refused, or in doubt, without one."""
    spoken = doubts = 0
    for made, broken in rule_sets():
        codes = {item.code for item in looked_at(made.files).diagnostics}
        if broken and not codes & {"FDC461", "FDC463"}:
            return True
        spoken += not broken and "FDC461" in codes
        doubts += "FDC463" in codes
    return spoken > 6 or not 40 < doubts < 60


_CHANGES = {
    words_differ: "solver.words solver.counterexample solver.trace",
    files_differ: "files solver.files.plan_effects solver.files.effects solver.files.failures solver.files.bodies"
    " solver.files.step_paths solver.files.fork_conflicts",
    closings_differ: "closure",
    rules_differ: "solver.events protocol_rules.proved protocol_rules.per_value",
}
"""What a mistake in a module of the rules changes."""
DIFFER = {name: differ for differ, names in _CHANGES.items() for name in names.split()}


def test_nothing_differs_without_a_mistake():
    assert not words_differ(share(SETS))
    assert not files_differ(share(FILE_SETS))
    assert not closings_differ()
    assert not rules_differ()


def test_nearly_every_planted_mistake_is_found():
    living = []
    for name, old, new in TRIED:
        differs = DIFFER[name]
        with planted(name, old, new):
            try:
                found = differs()
            except Exception:  # a mutant that falls over is found too
                found = True
        if not found:
            living.append((name, new))
    assert len(MUTANTS) >= 40
    assert len(living) <= SURVIVORS, living
    assert not words_differ(share(SETS)), "and all of them are gone again"
