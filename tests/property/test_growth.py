"""What a lint costs: linear in the text of the distinct plans, whatever they call (design 5, "Cost"; never a clock).

Work is counted in lines of our code that run, so the same plans cost the same on any machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from fdc_toolchain.certificate.files.known import Point, joined
from fdc_toolchain.certificate.files.places import Key
from fdc_toolchain.check import check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import World
from tests.support.repository import PACKAGE

pytestmark = pytest.mark.slow

LIMITS = Settings().limits._replace(file_bytes=1 << 24, statements=1 << 20)


def work(files: dict[str, str], *keys: str) -> int:
    """Lines of the package that run to judge the plans, memories of texts filled before."""
    lint(files, keys)
    return lines_of(lambda: lint(files, keys))


def lines_of(what: Callable[[], object]) -> int:
    """Lines of the package that run."""
    lines = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return (
            line(frame, "line", None) if frame.f_code.co_filename.startswith(str(PACKAGE)) else None
        )

    before = sys.gettrace()
    sys.settrace(call)
    try:
        what()
    finally:
        sys.settrace(before)
    return lines


def lint(files: dict[str, str], keys: tuple[str, ...]) -> None:
    settings = Settings(fsm="any.json", limits=LIMITS)
    check(Linker("/nonexistent", settings, World(files)), keys or tuple(files))


def steps(n: int) -> dict[str, str]:
    return {
        "a.plan": "".join(f"read_file any.json\nplan_step_complete {i}\n" for i in range(n // 2))
    }


def named(n: int) -> dict[str, str]:
    return {
        "a.plan": "".join(f"r{i} <- list_files\nmessage_user {{r{i}}}\n" for i in range(n // 2))
    }


def branches(n: int) -> dict[str, str]:
    one = 'if cited("a")\n  r{0} <- list_files\nelse\n  r{0} <- grep x\nmessage_user {{r{0}}}\n'
    return {"a.plan": "".join(one.format(i) for i in range(n // 5))}


def loops(n: int) -> dict[str, str]:
    one = "for_each_file d{0}/*\n  read_file {{file1}}\n  overwrite_file_with_block out/{{file1}}\n    {{file1}}\n"
    return {"a.plan": "".join(one.format(i) for i in range(n // 4))}


def files(n: int) -> dict[str, str]:
    return {
        "a.plan": "".join(
            f"create_file_with_block f{i}\nread_file f{i}\ndelete_file f{i}\n"
            for i in range(n // 3)
        )
    }


def shells(n: int) -> dict[str, str]:
    return {
        "a.plan": "".join(
            f"overwrite_file_with_block f{i}\n  x\nrun_in_bash_session true\n"
            for i in range(n // 3)
        )
    }


def texts(n: int) -> dict[str, str]:
    return {
        "a.plan": "message_user\n" + "".join(f"  line {{nobody{i}}} of many\n" for i in range(n))
    }


def mistakes(n: int) -> dict[str, str]:
    return {"a.plan": "".join(f"nonsense{i}\nread_file gone{i}\n" for i in range(n // 2))}


def suppressed(n: int) -> dict[str, str]:
    return {
        "a.plan": "".join(f"# fdc: ignore[FDC313] {i}\nx{i} <- list_files\n" for i in range(n // 2))
    }


def called(n: int) -> dict[str, str]:
    """One plan that calls another one everywhere."""
    return {"a.plan": "call_plan b.plan\n" * n, "b.plan": "list_files\nread_file any.json\n"}


def callers(n: int) -> dict[str, str]:
    """Many plans of one line that call the same few."""
    return {f"p{i:05}.plan": f"call_plan q{i % 10}.plan\n" for i in range(n)} | {
        f"q{i}.plan": "list_files\n" for i in range(10)
    }


def chain(n: int) -> dict[str, str]:
    """Chains of ten plans."""
    return {
        f"c{i}-{j}.plan": (f"call_plan c{i}-{j + 1}.plan\n" if j < 9 else "")
        + f"read_file any.json\nlist_files d{i}\n"
        for i in range(n // 30)
        for j in range(10)
    }


def passed_on(n: int) -> dict[str, str]:
    """Paths handed down as arguments."""
    return {
        "a.plan": "".join(f"call_plan b.plan p=f{i} q=g{i}\n" for i in range(n)),
        "b.plan": "param p\nparam q\noverwrite_file_with_block {p}\n  x\nrename_file {p} {q}\nread_file {q}\n",
    }


def nested(n: int) -> dict[str, str]:
    one = 'for_each_file *\n  if cited("a")\n    iterate max 3\n      for x in "y" max 2\n        read_file {file1}\n'
    return {"a.plan": one * (n // 5)}


def forks(n: int) -> dict[str, str]:
    one = "fork x{0} in {{run}} max 3\n  read_file any.json\n  plan_step_complete {{x{0}}}\n"
    return {"a.plan": "".join(one.format(i) for i in range(n // 3))}


def pages(n: int) -> dict[str, str]:
    """Text from outside in names and files."""
    one = "p{0} <- view_text_website https://e/{0}\noverwrite_file_with_block f{0}\n  {{p{0}}}\n"
    one += "q{0} <- read_file f{0}\nmessage_user {{q{0}}}\n"
    return {"a.plan": "".join(one.format(i) for i in range(n // 5))}


def choices(n: int) -> dict[str, str]:
    """Names, and branches and loops that text from outside chooses."""
    one = 'p{0} <- view_text_website https://e/{0}\nif "a" in p{0}\n  r{0} <- list_files\nelse\n  r{0} <- grep x\n'
    one += "for x{0} in {{r{0}}} max 3\n  message_user {{x{0}}} {{p{0}}}\n"
    return {"a.plan": "".join(one.format(i) for i in range(n // 7))}


SHAPES: list[Callable[[int], dict[str, str]]] = [
    steps, named, branches, loops, files, shells, texts, mistakes, suppressed, called, callers, chain, passed_on, nested,
    forks, pages, choices,
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_the_text_is_about_twice_the_work(shape: Callable[[int], dict[str, str]]):
    n = 120
    once, twice = work(shape(n)), work(shape(2 * n))
    assert twice < 2.4 * once, f"{once} lines, then {twice}: {twice / once:.2f} times as many"


def test_a_tree_of_calls_costs_what_its_files_cost():
    """Stack 10, fan-out 10: 10^9 calls in a run; each file is gone through once for each state it is entered in."""
    body = "plan_step_complete\nread_file any.json\n"
    tree = {f"p{n}.plan": body + f"call_plan p{n + 1}.plan\n" * 10 for n in range(1, 10)} | {
        "p10.plan": body * 6
    }
    alone = {name: text.replace("call_plan p", "message_user p") for name, text in tree.items()}
    connected, apart = work(tree, "p1.plan"), work(alone)
    assert connected < 3 * apart, f"{connected} lines against {apart}"


def test_a_tree_of_calls_with_commands_and_files_costs_a_few_times_its_files():
    """The third call in a row assumes nothing that the second one did not: each of ten plans names what the others run."""
    body = "".join(f"read_file d/{{0}}/{n}\nrun_in_bash_session make {{0}}-{n}\n" for n in range(5))
    tree = {
        f"p{level}.plan": body.format(level) + f"call_plan p{level + 1}.plan\n" * 10
        for level in range(9)
    } | {"p9.plan": body.format(9)}
    alone = {name: text.replace("call_plan p", "message_user p") for name, text in tree.items()}
    connected, apart = work(tree), work(alone)
    assert connected < 7 * apart, f"{connected} lines against {apart}"


def test_a_deeper_tree_costs_its_files_and_no_more():
    def tree(depth: int) -> dict[str, str]:
        inner = {
            f"p{n}.plan": "list_files\n" + f"call_plan p{n + 1}.plan\n" * 10
            for n in range(1, depth)
        }
        return inner | {f"p{depth}.plan": "list_files\n"}

    assert work(tree(10), "p1.plan") < 2.4 * work(tree(5), "p1.plan")


DEEP = {
    "carried": ('iterate max 3 until "a" in t{before}', "t{0} <- plan_step_complete {{p}} {{t}}"),
    "walked": ('iterate max 3 until "a" in t', "read_file any.json"),
    "listed": ("for x{0} in {{t}} max 3", "read_file any.json\n{1}plan_step_complete {{p}}"),
    "forked": ("fork x{0} in {{t}} max 3", "read_file any.json"),
    "refused": ('iterate max 3 until "a" in t', "reset_all"),
    "each": ("for_each_file docs/*.md as x{0}", "overwrite_file_with_block {{x{0}}}\n{1}  {{p}}"),
    "chosen": ('if "a" in t', "read_file any.json"),
}


@pytest.mark.parametrize("shape", DEEP)
def test_what_is_nested_is_not_gone_through_in_powers(shape: str) -> None:
    """Loops in loops in loops, each with something to carry round: twice as deep is some times the work, not its square."""
    head, body = DEEP[shape]

    def cost(depth: int) -> int:
        lines = ["p <- view_text_website https://e/", "t <- plan_step_complete x"]
        lines += ["  " * n + head.format(n, before=n - 1 if n else "") for n in range(depth)]
        lines += ["  " * depth + body.format(n, "  " * depth) for n in range(depth)]
        return work({"a.plan": "\n".join(lines) + "\n"})

    assert cost(16) < 5 * cost(8)


def test_a_plan_called_in_every_state_costs_its_text_times_the_states():
    """The prover's only other factor (design 5)."""

    def cost(states: int) -> int:
        names = [f"S{n}" for n in range(states)]
        moves = {
            name: {"read_op": names[(n + 1) % states], "step_op": name}
            for n, name in enumerate(names)
        }
        automaton = {
            "states": names, "alphabet": ["read_op", "step_op"], "transitions": moves,
            "start_state": "S0", "accept_states": names,
        }  # fmt: skip
        return work(
            {
                "m.json": json.dumps(automaton),
                "a.plan": "use fsm m.json\n" + "read_file any.json\ncall_plan b.plan\n" * states,
                "b.plan": "plan_step_complete\n" * 40,
            },
            "a.plan",
        )

    assert cost(40) < 2.4 * cost(20)


def test_a_branch_that_binds_no_name_costs_the_checker_no_line_per_name():
    """8,000 names and as many branches took two minutes, before the first step of a run."""

    def cost(names: int) -> int:
        held: dict[str, Key] = {f"x{n}": ((f"x{n}", "", ""),) for n in range(names)}
        return lines_of(lambda: joined([Point(held, {}), Point(dict(held), {})], "main/4"))

    assert cost(500) == cost(5)
