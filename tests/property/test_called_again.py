"""Calls of one plan in a row are not all gone through (`solver.files.called.Row`): what is said is as if they were."""

from __future__ import annotations

import random

import pytest
from fdc_toolchain.diagnostics.diagnostic import plain
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.rules.solver.files import called, failures

from tests.support.linting import lint
from tests.support.profiles import share

SETS = share(320)
PATHS = ("d/f0", "d/f1", "d/f2", "src/a.md", "q", "q/page.md")


class _Plans:
    """Plans that call each other many times, with steps that use the same few files."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"called again/{seed}")
        self.depth = self.rng.randint(2, 4)
        self.there = [path for path in PATHS[:-1] if self.rng.random() < 0.85]
        self.files = {f"p{level}.plan": self.plan(level) for level in range(self.depth)}

    def plan(self, level: int) -> str:
        head = ["param a"] + self.rng.choice([[], [], [], ["allow write d/*"], ["allow write **"]])
        return "\n".join(head + self.body(level, "", self.rng.randint(2, 7))) + "\n"

    def step(self, pad: str) -> list[str]:
        path = self.rng.choice(PATHS)
        certain = (
            f"read_file {path}", f"read_file {path}", "run_in_bash_session make", "run_in_bash_session make all",
            f"overwrite_file_with_block {path}\n{pad}    x", f"grep x {path}",
        )  # fmt: skip
        others = (
            f"create_file_with_block {path}\n{pad}    x", f"delete_file {path}", "list_files d", "read_file {a}",
            f"rename_file {path} {self.rng.choice(PATHS)}", f"overwrite_file_with_block {{a}}\n{pad}    x",
        )  # fmt: skip
        return [pad + self.rng.choice(others if self.rng.random() < 0.1 else certain)]

    def body(self, level: int, pad: str, count: int) -> list[str]:
        out: list[str] = []
        for _ in range(count):
            chance = self.rng.random()
            if chance < 0.5 and level + 1 < self.depth:
                name = self.rng.randint(level + 1, self.depth - 1)
                for _ in range(self.rng.choice([1, 2, 4, 6, 6])):
                    out.append(f"{pad}call_plan p{name}.plan a={self.rng.choice('vwx')}")
                    out += [f"{pad}plan_step_complete x"] if self.rng.random() < 0.2 else []
                    out += self.step(pad) if self.rng.random() < 0.1 else []
            elif chance < 0.6 and len(pad) < 4:
                out.append(pad + self.rng.choice(["for_each_file d/* max 3", 'if exists("q")']))
                out += self.body(level, pad + "  ", 2)
            else:
                out += self.step(pad)
        return out


def _said(made: _Plans) -> list[object]:
    checked = lint(made.files, there=made.there)
    return [
        [plain(item) for item in part]
        for part in (checked.diagnostics, checked.assumptions, checked.fragments)
    ]


@pytest.mark.long
def test_calls_that_are_passed_over_change_nothing_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = [0]
    over = called.Row.over

    def counted(*given: object) -> bool:
        found = over(*given)  # type: ignore[arg-type]
        passed[0] += found
        return found

    for seed in range(SETS):
        made = _Plans(seed)
        monkeypatch.setattr(called.Row, "over", counted)
        short = _said(made)
        monkeypatch.setattr(called.Row, "over", lambda *_: False)
        assert short == _said(made), f"seed {seed}, there: {made.there}\n{made.files}"
    assert passed[0] > SETS // 2, passed


def test_errors_are_found_without_making_the_failures() -> None:
    """`has_error` agrees with the failures, whatever was asked before, of rows, branches and calls in each other."""
    rng = random.Random("errors")
    found = [0, 0]
    for _ in range(400):
        table = failures.CauseTable()
        parts: list[failures.AllFailures] = [
            failures.OfStep(
                "read",
                Span("p.plan", line, 1, line, 2),
                tuple(rng.choice(("", "", "unknown", "error unknown")) for _ in range(9)),
            )
            for line in range(1, 5)
        ]
        for _ in range(rng.randint(1, 8)):
            one, other = rng.choice(parts), rng.choice(parts)
            exits = tuple(rng.choice((1, 2, 4, 6, 256)) for _ in range(9))
            moves = failures.Moves(table, table, Span("q.plan", 1, 1, 1, 2))
            made = (
                failures.After(one, exits, 0, other),
                failures.Either(one, other),
                failures.Moved(one, moves),
            )
            parts.append(rng.choice(made))
        for part in rng.sample(parts, len(parts)):
            mask = rng.randrange(1, 512)
            states = failures.STATES_IN[mask]
            error = failures.has_error(part, mask)
            assert error == any(item.kind == "error" for state in states for item in part[state])
            found[error] += 1
    assert min(found) > 200, found
