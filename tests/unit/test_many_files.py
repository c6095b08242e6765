"""Files that nested calls name: each level multiplies them. Work is counted in comparisons of paths, never in time."""

from __future__ import annotations

import pytest
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.rules.solver.files import bodies, called, path_language

from tests.support.linting import findings, lint

LEAF = "param a = q/z\ncreate_file_with_block {a}/x.md\n  text\nread_file {a}/x.md\n"


def nested(levels: int, fan: int, leaf: str = LEAF) -> dict[str, str]:
    """Plans that call each other `fan` times a level, so that `fan ** levels` files are named."""
    plans = {f"p{levels}.plan": leaf}
    for level in range(levels):
        calls = "".join(f"call_plan p{level + 1}.plan a={{a}}/{n}\n" for n in range(fan))
        plans[f"p{level}.plan"] = "param a = q/a\n" + calls
    return plans


def said(plans: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> tuple[list[Diagnostic], int]:
    """The findings about these calls, and how many pairs of paths were compared."""
    compared = 0
    real = path_language.hits

    def hits(path: tuple[str], other: tuple[str]) -> int:
        nonlocal compared
        compared += 1
        return real(path, other)

    monkeypatch.setattr(bodies, "hits", hits)
    return findings(lint(plans, "p0.plan"), "FDC419"), compared


@pytest.mark.long
@pytest.mark.parametrize(("levels", "fan"), [(4, 8), (9, 10)])
def test_calls_that_name_too_many_files_are_refused_and_not_compared(
    levels: int, fan: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, compared = said(nested(levels, fan), monkeypatch)
    assert [item.span.path for item in found if "by values" in item.message] == [
        f"p{levels - 3}.plan"
    ]
    assert compared < 4 * called.MOST_COMPUTED**2


def test_calls_that_name_fewer_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = nested(2, 8)
    found, compared = said(plans, monkeypatch)
    assert (found, compared > 0) == ([], True)
    plans["p0.plan"] = "call_plan p1.plan a=q/b\ncall_plan p1.plan a=q/b\n"
    again = findings(lint(plans, "p0.plan"), "FDC412")
    assert {item.span.line for item in again} == {2}


def test_plans_that_are_looked_at_again_for_each_argument_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whether the two files are one depends on what is given, so each argument is another plan.
    leaf = "param a = q/z\nparam b = q/y\ndelete_file {a}\ndelete_file {b}\n"
    plans = nested(5, 8, leaf)
    found, _ = said(plans, monkeypatch)
    assert found
    assert not findings(lint(plans, "p5.plan"), "FDC419")


def test_a_loop_keeps_nothing_of_calls_that_are_not_followed() -> None:
    plans = nested(4, 8)
    plans["p0.plan"] = "read_file absent.md\ncall_plan p1.plan\n"
    # What such a plan does is not known, so nothing more is said of its files.
    assert [item.code for item in findings(lint(plans, "p0.plan"), "FDC411", "FDC419")] == [
        "FDC419"
    ]


def test_a_plan_beside_one_that_is_not_followed_is_judged() -> None:
    plans = nested(4, 8) | {"other.plan": "read_file absent.md\n"}
    found = findings(lint(plans, "p0.plan", "other.plan"), "FDC411", "FDC419")
    assert [(item.span.path, item.code) for item in found] == [
        ("other.plan", "FDC411"),
        ("p1.plan", "FDC419"),
    ]


def test_paths_around_other_values_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    real = path_language._meet

    def meet(*rows: tuple[tuple[path_language.Token, ...], ...]) -> bool:
        nonlocal compared
        compared += 1
        return real(*rows)

    monkeypatch.setattr(path_language, "_meet", meet)
    plan = "".join(
        f"a{n} <- grep w{n} .\noverwrite_file_with_block made/{{a{n}}}.txt\n    text\n"
        for n in range(40)
    )
    found = lint({"p.plan": plan}, "p.plan").assumptions
    assert ["FDC703"] == [item.code for item in found]
    assert compared < 40
