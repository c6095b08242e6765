"""The type rule against the engine: what it refuses stops, and what it does not speak of does not stop for a type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.diagnostic import Diagnostic

from tests.support.profiles import quick_and_whole
from tests.support.typed import Made, came, lint, plan_set

TYPES = frozenset(("value", "argument", "type"))
"""How a run stops that uses a value where it cannot be."""

OTHERS = frozenset(("FDC313", "FDC314"))
"""Warnings about names, which say nothing of runs."""


def names_in(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]+[0-9]*", text))


def spoken_of(made: Made, place: tuple[str, int], assumptions: list[Diagnostic]) -> bool:
    """Whether an assumption names what the statement at a place uses, or the plan that it is in."""
    path, line = place
    used = names_in(made.files[path].split("\n")[line - 1])
    for one in assumptions:
        needs = one.message.split("the plan needs: ")[1]
        if used & names_in(needs) and (
            path == "a.plan" or f"in `{path}`" in needs or one.span.path == path
        ):
            return True
    return False


@pytest.mark.parametrize(
    "count", [*quick_and_whole(120, 250), pytest.param(5_000, marks=pytest.mark.soak)]
)
def test_only_what_is_spoken_of_stops_a_run_for_a_type_and_what_is_refused_stops_it(
    count: int, tmp_path: Path
) -> None:
    """Law 1: without an error, a run that stops for a type stops at a use that an assumption names.
    Law 2: a root with an error that every run comes to never comes to its end, and its first stops there."""
    tally = dict.fromkeys(("proved", "free", "stopped", "refused", "certain", "confirmed"), 0)
    for seed in range(count):
        made = plan_set(seed)
        checked = lint(made)
        found = [item for item in checked.diagnostics if item.code not in OTHERS]
        if any(item.code != "FDC481" for item in found):
            continue
        shown = f"seed {seed}\n{made.files['a.plan']}--\n{made.files['s.plan']}--\n" + "\n".join(
            f"{item.span.path}:{item.span.line} {item.code} {item.message}"
            for item in (*found, *checked.assumptions)
        )
        worlds = [came(checked, 1000 * seed + number, tmp_path) for number in range(6)]
        if not found:
            tally["proved"] += 1
            tally["free"] += not checked.assumptions
            for world in worlds:
                if world.stop in TYPES:
                    tally["stopped"] += 1
                    assert spoken_of(made, world.place, checked.assumptions), f"{world}\n{shown}"
            continue
        tally["refused"] += 1
        lines = made.files["a.plan"].split("\n")
        wrong = {(item.span.path, item.span.line) for item in found}
        for world in worlds:  # no step that is refused ever comes to its end
            steps = {
                (path, line)
                for path, line in wrong & world.done
                if is_step(made.files[path].split("\n")[line - 1])
            }
            assert not steps, f"{world}\n{shown}"
        first = min(
            (
                line
                for path, line in wrong
                if path == "a.plan" and not lines[line - 1].startswith(" ")
            ),
            default=None,
        )
        if (
            first is None
            or lines[first - 1].startswith(("if", "require", "iterate"))
            and re.search(" (and|or) ", lines[first - 1])
        ):
            continue
        tally["certain"] += 1
        for world in worlds:
            assert world.stop is not None, f"{world}\n{shown}"
            tally["confirmed"] += world.place == ("a.plan", first) or world.place[0] == "s.plan"
    print(tally)
    assert (
        tally["proved"] > count / 10
        and tally["free"] > 0
        and tally["stopped"] > 0
        and tally["confirmed"] > tally["certain"]
    )


def is_step(line: str) -> bool:
    """True for a step of a tool: it is done only where its arguments were taken."""
    return (
        re.match(r" *v[0-9]+ <- (?!call_plan|for|fork)|.* <- (eat|word|maybe|amount)\b", line)
        is not None
    )
