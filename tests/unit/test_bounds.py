"""Bounds: complexity, modality, and costs as polynomials against the counting of steps (FDC-13 to FDC-15, T-09)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from fdc_toolchain.program.polynomial import MOST_TERMS, Polynomial
from fdc_toolchain.rules.bounds import Bounds, Cost, shown
from fdc_toolchain.runs.cost.figures import figures

from tests.support.linting import findings, lint

LOOPS = {
    "none": ("set_plan\nread_file a.txt\n", "Constant (O(1))", "P", 0),
    "one": ("for_each_file *.py\n  read_file {file1}\n", "Polynomial (P-Class)", "P", 1),
    "two in a row": (
        "for_each_file *.py\n  read_file {file1}\nfor_each_file *.md\n  read_file {file1}\n",
        "Polynomial (P-Class)", "P", 1,
    ),
    "nested": (
        "for_each_file *.py\n  for_each_file *.md\n    grep {file1} {file2}\n", "Exponential (EXPTIME-Class)", "EXP", 2,
    ),
    "thrice": (
        "for_each_file a/*\n  for_each_file b/*\n    for_each_file c/*\n      read_file {file3}\n",
        "Exponential (EXPTIME-Class)", "EXP", 3,
    ),
    "nested, one of them bounded": (
        "for_each_file *.py\n  for_each_file *.md max 3\n    read_file {file2}\n", "Exponential (EXPTIME-Class)", "EXP", 1,
    ),
    "a loop of another kind in it": (
        "for_each_file *.py\n  iterate max 3\n    read_file {file1}\n", "Polynomial (P-Class)", "P", 1,
    ),
    "nested through a call": ("for_each_file *.py\n  call_plan one.plan\n", "Exponential (EXPTIME-Class)", "EXP", 2),
    "nested through two calls": ("for_each_file *.py\n  call_plan two.plan\n", "Exponential (EXPTIME-Class)", "EXP", 3),
    "none, and a plan is run": ("run_plan one.plan\n", "Constant (O(1))", "P", 0),
    "in a branch": (
        'if cited("x")\n  for_each_file *.py\n    read_file {file1}\n', "Polynomial (P-Class)", "P", 1,
    ),
}  # fmt: skip
CALLED = {
    "one.plan": "for_each_file *.md\n  read_file {file1}\n",
    "two.plan": "for_each_file *.rst\n  call_plan one.plan\n",
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_class_is_named_as_the_seeds_name_it_and_the_degree_is_the_true_one(
    workspace: Path, name: str
):
    """FDC-13, FDC-14: a loop in a loop is Exponential by name, and n^2 by degree; through calls too."""
    text, label, short, degree = LOOPS[name]
    for path, other in {**CALLED, "a.plan": text}.items():
        (workspace / path).write_text(other)
    found, _ = figures("a.plan", str(workspace))
    assert (found["complexity"], found["complexity_class"], found["degree"]) == (
        label,
        short,
        degree,
    )


MODALITY = {
    "read_file a": (False, False),
    "list_files": (False, False),
    "create_file_with_block a": (True, False),
    "delete_file a": (True, False),
    "rename_file a b": (True, False),
    "restore_file a": (True, False),
    "for_each_file *\n  delete_file {file1}": (True, False),
    "fork x in {y} max 2\n  delete_file {x}": (True, False),
    'if cited("x")\n  set_plan\nelse\n  delete_file a': (True, False),
    "if false\n  delete_file a": (True, False),
    "call_plan writer.plan": (True, False),
    "run_in_bash_session rm -rf a": (True, True),
    "run_in_bash_session python3 tooling/fdc_cli.py close --task-id x; rm a": (True, True),
    "run_in_bash_session python3 tooling/fdc_cli.py close --task-id x": (False, False),
    "run_in_bash_session fdc close --task-id x": (False, False),
    "generate_code x": (True, True),
    "message_user delete_file a": (False, False),
}


@pytest.mark.parametrize("text", MODALITY)
def test_a_plan_constructs_where_it_writes_at_all_and_a_shell_step_is_flagged(
    workspace: Path, text: str
):
    """FDC-15: inside loops, branches and sub-plans; a command may write anything, so it is never read-only (T-09)."""
    (workspace / "writer.plan").write_text(
        "for_each_file *\n  overwrite_file_with_block {file1}\n    x\n"
    )
    (workspace / "a.plan").write_text(text + "\n")
    found, _ = figures("a.plan", str(workspace))
    assert (found["modality"] == "Construction (Read-Write)", found["shell"]) == MODALITY[text]
    assert found["modality"] in ("Construction (Read-Write)", "Analysis (Read-Only)")


def test_a_tool_of_the_workspace_that_changes_a_file_constructs_whatever_its_action(
    workspace: Path,
):
    tool = {
        "summary": "x", "action": "step_op", "effect": "once", "trust": "trusted",
        "parameters": [{"name": "path", "kind": "path", "access": "edit"}],
    }  # fmt: skip
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"stamp": tool}})
    )
    (workspace / "a.plan").write_text("stamp a.txt\n")
    found, _ = figures("a.plan", str(workspace))
    assert found["modality"] == "Construction (Read-Write)"


# ---- costs against counting ---------------------------------------------------------------------

GLOBS = ("a/*", "b/*", "c/*")
TOOLS = {
    name: {
        "summary": name, "action": None, "effect": "pure", "trust": "trusted", "parameters": [],
        "cost": {"model_calls": calls, "tokens": tokens, "money": money},
    }
    for name, (calls, tokens, money) in {"t0": (0, 0, 0), "t1": (1, 50, 0.25), "t2": (2, 7, 0)}.items()
}  # fmt: skip
CATALOGUE = json.dumps({"format": 1, "name": "costs", "tools": TOOLS})


def body(rng: random.Random, number: int, count: int, level: int = 0) -> list:
    out: list = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if level < 2 and kind < 0.2:
            out.append(
                (
                    "each",
                    rng.choice(GLOBS),
                    rng.choice((None, None, 2)),
                    body(rng, number, count, level + 1),
                )
            )
        elif level < 2 and kind < 0.35:
            out.append(
                (
                    rng.choice(("for", "fork", "iterate")),
                    None,
                    rng.randint(1, 3),
                    body(rng, number, count, level + 1),
                )
            )
        elif level < 2 and kind < 0.5:
            orelse = body(rng, number, count, level + 1) if rng.random() < 0.6 else []
            out.append(
                (
                    "if",
                    rng.choice(("true", "false", *['cited("x")'] * 4)),
                    body(rng, number, count, level + 1),
                    orelse,
                )
            )
        elif kind < 0.65 and number + 1 < count:
            out.append(("call", rng.randrange(number + 1, count)))
        else:
            out.append(("step", rng.choice(tuple(TOOLS))))
    return out


def write(items: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for kind, *rest in items:
        if kind == "step":
            lines.append(f"{pad}{rest[0]}")
        elif kind == "call":
            lines.append(f"{pad}call_plan p{rest[0]}.plan")
        elif kind == "if":
            lines.append(f"{pad}if {rest[0]}")
            write(rest[1], level + 1, lines)
            if rest[2]:
                lines.append(f"{pad}else")
                write(rest[2], level + 1, lines)
        else:
            glob, most, inner = rest
            bound = f" max {most}" if most else ""
            lines.append(
                pad
                + {"each": f"for_each_file {glob}", "iterate": "iterate"}.get(
                    kind, f'{kind} x in "y"'
                )
                + bound
            )
            write(inner, level + 1, lines)


def runs(bodies: list, items: list, sizes: dict[str, int]) -> set[tuple[int, int, int]]:
    """What full runs can cost (steps, model calls, tokens), each loop as often as it may run."""
    out = {(0, 0, 0)}

    def add(
        left: set[tuple[int, int, int]], right: set[tuple[int, int, int]]
    ) -> set[tuple[int, int, int]]:
        return {(a + x, b + y, c + z) for a, b, c in left for x, y, z in right}

    for kind, *rest in items:
        if kind == "step":
            cost = TOOLS[rest[0]]["cost"]
            out = add(out, {(1, cost["model_calls"], cost["tokens"])})
        elif kind == "call":
            out = add(out, runs(bodies, bodies[rest[0]], sizes))
        elif kind == "if":
            branches = {"true": [rest[1]], "false": [rest[2]]}.get(rest[0], [rest[1], rest[2]])
            out = add(out, set().union(*(runs(bodies, branch, sizes) for branch in branches)))
        else:
            glob, most, inner = rest
            times = min(sizes[glob], most or sizes[glob]) if kind == "each" else most
            turn = runs(bodies, inner, sizes)
            for _ in range(times):
                out = add(out, turn)
        if len(out) > 3000:
            raise OverflowError
    return out


def value(poly: Polynomial, sizes: dict[str, int]) -> float:
    total = 0.0
    for names, coefficient in poly.items():
        for name in names:
            coefficient *= sizes[name]
        total += coefficient
    return total


def free_branches(bodies: list, items: list) -> bool:
    return any(
        (kind == "if" and '"x"' in rest[0])
        or (kind == "call" and free_branches(bodies, bodies[rest[0]]))
        or any(free_branches(bodies, part) for part in rest if isinstance(part, list))
        for kind, *rest in items
    )


def test_polynomials_bound_every_run_and_are_reached_where_nothing_is_chosen():
    """The worst run of every file count, counted step by step, is never above the polynomial; without a choice it is it.

    `max` on a loop over files is taken in full, however few files there are: counted so too, where it binds.
    """
    compared = exact = 0
    for seed in range(300):
        rng = random.Random(seed)
        count = rng.choice((1, 2, 3))
        bodies = [body(rng, number, count) for number in range(count)]
        files = {"fdc_tools.json": CATALOGUE}
        for number, items in enumerate(bodies):
            lines: list[str] = []
            write(items, 0, lines)
            files[f"p{number}.plan"] = "\n".join(lines) + "\n"
        checked = lint(files, "p0.plan")
        assert not findings(checked, "FDC109", "FDC301", "FDC321")
        cost: Cost = Bounds().plan(checked.context.graph.instance("p0.plan"))
        for sizes in (
            {"a/*": 2, "b/*": 2, "c/*": 2},
            {"a/*": 3, "b/*": 2, "c/*": 4},
            {"a/*": 0, "b/*": 5, "c/*": 1},
        ):
            try:
                seen = runs(bodies, bodies[0], sizes)
            except OverflowError:
                continue
            for measure, poly in enumerate((cost.steps, cost.model_calls, cost.tokens)):
                worst = max(item[measure] for item in seen)
                assert worst <= value(poly, sizes), (seed, files["p0.plan"])
                if not free_branches(bodies, bodies[0]) and min(sizes.values()) >= 2:
                    assert worst == value(poly, sizes), (seed, files["p0.plan"])
                    exact += 1
            compared += 1
    assert compared > 400
    assert exact > 150


def test_a_call_is_no_step_of_its_own():
    """As the runner counts: a budget of steps that the linter accepts is one that the run keeps to."""
    files = {"a.plan": "budget steps 1\ncall_plan b.plan\n", "b.plan": "set_plan\n"}
    assert not findings(lint(files, "a.plan"), "FDC421")
    [found] = findings(lint({**files, "b.plan": "set_plan\nset_plan\n"}, "a.plan"), "FDC421")
    assert found.message == "the worst run takes 2 steps, more than the budget of 1"
    assert (found.span.line, found.span.column) == (1, 8)


def test_a_budget_is_exceeded_where_a_number_says_so_and_left_to_the_runner_where_files_decide():
    assert findings(lint("budget steps 5\niterate max 6\n  set_plan\n"), "FDC421")
    assert not findings(lint("budget steps 6\niterate max 6\n  set_plan\n"), "FDC421")
    assert not findings(lint("budget steps 1\nfor_each_file *\n  read_file {file1}\n"), "FDC421")
    [found] = findings(
        lint({"fdc_tools.json": CATALOGUE, "a.plan": "budget llm_calls 3\nt1\nt1\nt2\n"}), "FDC421"
    )
    assert found.message == "the worst run takes 4 model calls, more than the budget of 3"


def test_a_budget_of_no_seconds_is_refused_where_a_step_is_certain():
    for budget in ("0", "0.0"):
        [found] = findings(lint(f"budget seconds {budget}\nset_plan\n"), "FDC421")
        assert "0 seconds is used up before the first step" in found.message
    assert findings(
        lint({"a.plan": "set_plan\ncall_plan b.plan\n", "b.plan": "budget seconds 0\nset_plan\n"}),
        "FDC421",
    )
    assert not findings(lint("budget seconds 0.5\nset_plan\n"), "FDC421")
    assert not findings(lint("budget money 0\nbudget tokens 0\nset_plan\n"), "FDC421")
    assert not findings(
        lint("budget seconds 0\nfor_each_file *.none\n  read_file {file1}\n"), "FDC421"
    )


def test_a_call_costs_no_more_than_the_budget_that_its_plan_states(workspace: Path):
    """The run holds each call to it; what a caller certainly takes, whatever the files, does not grow by that."""
    files = {
        "a.plan": "budget steps 20\niterate max 3\n  call_plan b.plan\nset_plan\n",
        "b.plan": "budget steps 10\nfor_each_file *.md\n  iterate max 600000\n    read_file {file1}\n",
        "c.plan": "call_plan b.plan\ncall_plan b.plan\n",
        "d.plan": "budget steps 10\nfor_each_file *.md\n  read_file {file1}\n",
        "e.plan": "iterate max 4\n  call_plan d.plan\n",
    }
    for path, text in files.items():
        (workspace / path).write_text(text)
    for plan in ("a.plan", "b.plan", "c.plan", "e.plan"):
        assert not findings(lint(files, plan), "FDC421", "FDC422")
    without = {**files, "b.plan": files["b.plan"].replace("budget steps 10\n", "")}
    assert findings(lint(without, "c.plan"), "FDC422")
    assert "600000*|*.md|" == figures("b.plan", str(workspace))[0]["worst"]["steps"]
    callers = ("a.plan", "c.plan", "e.plan")
    assert ["31", "20", "4*|*.md|"] == [
        figures(plan, str(workspace))[0]["worst"]["steps"] for plan in callers
    ]
    for number in range(12):
        (workspace / f"{number}.md").write_text("x")
    assert [31, 20, 40] == [
        figures(plan, str(workspace))[0]["worst_now"]["steps"] for plan in callers
    ]


def test_the_branch_that_never_runs_costs_nothing():
    assert not findings(
        lint("budget steps 1\nif false\n  set_plan\n  set_plan\nelse\n  set_plan\n"), "FDC421"
    )


def test_a_plan_called_from_everywhere_is_counted_once_and_costs_as_often_as_it_is_called():
    """Ten plans that call the next one ten times each: 10^9 runs of the last, in a moment."""
    files = {f"p{n}.plan": f"call_plan p{n + 1}.plan\n" * 10 for n in range(1, 10)} | {
        "p10.plan": "set_plan\n"
    }
    checked = lint(files, "p1.plan")
    assert {(): 10**9} == Bounds().plan(checked.context.graph.instance("p1.plan")).steps


def test_polynomials_are_shown_highest_degree_first():
    assert shown({(): 5, ("a", "a"): 3, ("a",): 1}) == "3*|a|^2 + |a| + 5"
    assert shown({}) == "0"
    assert shown({("a", "b"): 1.5}) == "1.5*|a|*|b|"


def test_a_polynomial_of_too_many_sizes_becomes_one_in_the_largest():
    """Still a bound, and still small: the sizes are taken for one, `n`."""
    text = "".join(f"for_each_file d{n}/*\n  read_file {{file1}}\n" for n in range(MOST_TERMS + 5))
    cost = Bounds().plan(lint(text).context.graph.instance("a.plan"))
    assert len(cost.steps) <= MOST_TERMS < sum(cost.steps.values()) == MOST_TERMS + 5
    assert {len(names) for names in cost.steps} == {1}
    assert cost.degree == 1


def test_files_are_counted_as_the_runner_counts_them(workspace: Path):
    """Links and what begins with a dot are not files of a `for_each_file *`; nothing outside of the workspace is."""
    for name in ("a.txt", "b.txt", ".hidden", "sub/c.txt"):
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (workspace / "link.txt").symlink_to("a.txt")
    for glob, count in (("*.txt", 2), ("**/*.txt", 3), ("**", 4), ("../*", 0), (".hid*", 1)):
        (workspace / "plan").write_text(f"for_each_file {glob}\n  read_file {{file1}}\n")
        found, _ = figures("plan", str(workspace))
        assert found["worst_now"]["steps"] == count, glob


def test_terms_of_one_degree_are_shown_by_the_names_of_their_globs() -> None:
    poly = {(): 3, ("b",): 1, ("a",): 2, ("a", "b"): 1, ("a", "a"): 4}
    assert shown(poly) == "4*|a|^2 + |a|*|b| + 2*|a| + |b| + 3"
