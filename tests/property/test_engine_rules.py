"""Runs under rules: what is refused, what a run owes at its end, and that a journal folds to where its run was."""

from __future__ import annotations

import random
import time
from itertools import product
from typing import Any

import pytest
from fdc_toolchain.automata import declare
from fdc_toolchain.engine.events import Perform, Stop
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.linking.protocol_rules.obligation import Event, Obligation
from fdc_toolchain.program.codec import ProgramError, encode, load
from fdc_toolchain.program.shape import problems
from fdc_toolchain.testing import FunctionTools, MemoryJournal, run

from tests.support import ltlf, rulesets
from tests.support.profiles import quick_and_whole
from tests.support.programs import choose, loop, program, step

DECLARED = {
    name: {"effect": effect, "parameters": [{"name": "path", "kind": "path"}]}
    for name, effect in (("ta", "once"), ("tb", "idempotent"), ("tc", "read"), ("tn", "pure"))
}


def event(written: Any) -> Event:
    if isinstance(written, str):
        return Event(written, None, None, ())
    return Event(
        None,
        written.get("tool"),
        written.get("action"),
        tuple(written.get("arguments", {}).items()),
    )


def rule(check: dict[str, Any]) -> dict[str, Any]:
    """A check as a program carries it."""
    groups = [check.get(letter, []) for letter in "abc"]
    events = tuple(
        tuple(event(one) for one in (group if isinstance(group, list) else [group]))
        for group in groups
    )
    strict = check.get("on_abort") == "check"
    made = Obligation(
        "house", "tea", "Tea first.", "p.json", 0, check["template"], check.get("n", 1), events,  # type: ignore[arg-type]
        check.get("same"), (), (), "error", strict,
    )  # fmt: skip
    return made.plain()


def made(*body: dict[str, Any], rules: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    out = program(*body, tools=DECLARED, **more)
    out["rules"] = [rule(one) for one in rules]
    assert problems(out) == []
    return out


def act(tool: str, path: str | None = None) -> dict[str, Any]:
    given = {} if path is None else {"path": path}
    return step(tool, action=rulesets.ACTIONS[tool], **given)


def tools(chance: random.Random | None = None) -> FunctionTools:
    def work(effect: Perform) -> None:
        if chance is not None:
            time.sleep(chance.choice((0, 0, 0.0005, 0.001)))

    return FunctionTools(dict.fromkeys(DECLARED, work))


def stop_of(
    body: list[dict[str, Any]], check: dict[str, Any], **given: Any
) -> tuple[Stop | None, list[str]]:
    works = tools()
    ending = run(
        made(*body, rules=[check], params=dict.fromkeys(given)), works, inputs={"given": given}
    )
    return ending.stop, [effect.tool for effect in works.calls]


def test_a_step_that_breaks_a_rule_is_refused_before_it_is_made() -> None:
    check = {"template": "precedence", "a": "a_op", "b": "tb"}
    stop, calls = stop_of([act("tc"), act("tb"), act("ta")], check)
    assert calls == ["tc"]
    assert stop == Stop(
        "rule", "`tb` breaks the rule `tea` of `house`: Tea first.", "main/2", "main.plan", 1
    )
    assert stop_of([act("ta"), act("tb")], check) == (None, ["ta", "tb"])


def test_a_run_that_owes_something_at_its_end_stops_as_that() -> None:
    stop, calls = stop_of([act("ta")], {"template": "response", "a": "ta", "b": "b_op"})
    assert calls == ["ta"]
    assert stop is not None and stop.kind == "rule"
    assert (
        stop.message
        == "the run breaks the rule `tea` of `house`: Tea first. (at its end, `b_op` is owed)"
    )


def test_a_rule_for_each_path_knows_its_files_by_what_they_are_called_in_this_run() -> None:
    check = {"template": "precedence", "a": "tc", "b": "ta", "same": "path"}
    body = [act("tc", "docs/{name}"), act("ta", "./docs/a.md")]
    assert stop_of(body, check, name="a.md") == (None, ["tc", "ta"])
    stop, calls = stop_of(body, check, name="b.md")
    assert calls == ["tc"]
    assert stop is not None
    assert (
        stop.message == "`ta` breaks the rule `tea` of `house` for the path `docs/a.md`: Tea first."
    )


def test_arguments_are_matched_as_they_are_in_this_run() -> None:
    check = {"template": "absence", "a": {"action": "a_op", "arguments": {"path": "secret/**"}}}
    assert stop_of([act("ta", "{name}")], check, name="open/a")[0] is None
    assert stop_of([act("ta", "{name}")], check, name="./secret//a")[1] == []


def test_a_program_without_rules_has_nothing_to_watch() -> None:
    plain = program(act("ta"), tools=DECLARED)
    assert fold(plain, {}, []).rules == ()


@pytest.mark.parametrize(
    "damage",
    [
        {"table": [[0], [2]]}, {"table": [[0]]}, {"states": []}, {"accept": [9]}, {"events": [["ta"]]}, {"same": 3},
        {"events": [[{"arguments": {"path": 1}}]]}, {"rule": None},
    ],
)  # fmt: skip
def test_a_program_with_damaged_rules_is_refused(damage: dict[str, Any]) -> None:
    body = made(act("ta"), rules=[{"template": "existence", "a": "ta"}])
    load(encode(body))
    body["rules"][0] |= damage
    with pytest.raises(ProgramError, match="rule"):
        load(encode(body))


# ---- by chance -------------------------------------------------------------------------------------


def body(rng: random.Random, level: int = 0) -> list[dict[str, Any]]:
    out = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if level < 2 and kind < 0.4:
            out.append(
                loop(
                    rng.choice(("fork", "fork", "for")),
                    f"i{level}",
                    "{list}",
                    *body(rng, level + 1),
                )
            )
        elif level < 2 and kind < 0.5:
            out.append(
                choose(
                    {"value": {"const": rng.random() < 0.5}},
                    body(rng, level + 1),
                    body(rng, level + 1),
                )
            )
        else:
            path = rng.choice((*rulesets.FILES, "./a.txt", None))
            if level and rng.random() < 0.5:
                path = f"{{i{rng.randrange(level)}}}"
            out.append(act(rng.choice(tuple(rulesets.ACTIONS)), path))
    return out


def rows(check: dict[str, Any], steps: list[Perform]) -> list[tuple[ltlf.Letter, ...]]:
    """The words of a run under a check: one, or one for each value."""
    word = [
        (one.tool, rulesets.plain(one.args["path"] or "null") if "path" in one.args else None)
        for one in steps
    ]
    if "same" not in check:
        return [tuple(rulesets.letter(check, one) for one in word)]
    return [
        tuple(rulesets.letter(check, one) for one in word if one[1] == path)
        for path in {one[1] for one in word} - {None}
    ]


def kept(check: dict[str, Any], word: tuple[ltlf.Letter, ...]) -> bool:
    return ltlf.keeps(check["template"], check.get("n", 1), word)


LETTERS = [frozenset(letter) for letter in ("", "a", "b", "c", "ab")]


def lost(check: dict[str, Any], word: tuple[ltlf.Letter, ...]) -> bool:
    """True where no continuation keeps the rule; two steps more repair whatever can be repaired, but for a count."""
    return not any(
        kept(check, (*word, *more))
        for length in range(3)
        for more in product(LETTERS, repeat=length)
    )


@pytest.mark.parametrize("runs", quick_and_whole(130, 500))
def test_runs_are_stopped_exactly_where_no_continuation_keeps_the_rule_and_every_prefix_folds(
    runs: int,
) -> None:
    """Forks too, whose steps come back in any order: the journal's order is the one that the rules have seen."""
    seen = {"finished": 0, "refused": 0, "owing": 0}
    for seed in range(runs):
        rng = random.Random(seed)
        check = rulesets.check(rng, same=rng.random() < 0.4)
        check.pop("on_abort", None)
        compiled = made(*body(rng), rules=[check], params={"list": None})
        inputs = {"given": {"list": ["a.txt", "e.md"]}}
        works, journal = tools(rng), MemoryJournal()
        ending = run(compiled, works, inputs=inputs, journal=journal)
        for end in range(len(journal.records) + 1):
            state = fold(compiled, inputs, journal.records[:end])
        assert state.rules
        said = f"seed {seed}: {check}, {ending}, {[(one.tool, one.args) for one in works.calls]}"
        words = rows(check, works.calls)
        if ending.stop is None:
            assert all(kept(check, word) for word in words), said
            seen["finished"] += 1
            continue
        assert ending.stop.kind == "rule", said
        assert (
            run(compiled, tools(), inputs=inputs, journal=MemoryJournal(list(journal.records))).stop
            == ending.stop
        )
        if ending.stop.address == "main":
            assert not all(kept(check, word) for word in words), said
            seen["owing"] += 1
        else:
            want = state.pending[ending.stop.address].effect
            assert not any(lost(check, word) for word in words), said
            assert any(lost(check, word) for word in rows(check, [*works.calls, want])), said
            seen["refused"] += 1
    assert min(seen.values()) > runs // 9, seen


def test_every_template_is_watched_as_it_is_proved() -> None:
    for name in declare.NAMES:
        wanted = declare.compiled(name).letters
        check = {
            "template": name,
            **{letter: f"t{letter}" for at, letter in enumerate("abc") if wanted >> at & 1},
        }
        for letters in product("abc", repeat=3):
            stop, _ = stop_of([act(f"t{letter}") for letter in letters], check)
            word = tuple(rulesets.letter(check, (f"t{letter}", None)) for letter in letters)
            assert (stop is None) == kept(check, word), (name, word)
