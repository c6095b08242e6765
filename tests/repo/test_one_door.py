"""Runs come on record through one door, `runs/certified.py`, which asks for a certificate that was checked (issue 12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.repository import PACKAGE, python_of_packs

DOOR = {"runs/certified.py": {"store.create"}, "journal/postgres.py": {"super().create"}}
"""Where a run may be put into a journal. The second is the journal in a database, which adds a column of its own."""
OTHERS = {"self._client.chat.completions.create", "Resource.create", "hypotheses.create"}
"""Calls of functions of that name that make no runs."""
TO_THE_DOOR = {"world.create", "turn.world.create", "task_runs.create"}
"""Calls that lead to `put_on_record` (`agent/host/task_runs.py`)."""


def beside(source: str, allowed: set[str]) -> Iterator[str]:
    """Calls of something's `create`, certificates made by hand, and SQL that adds a run, that are not allowed."""
    if not any(word in source for word in ("create", "Certified", "INSERT INTO run(")):
        return  # to parse all files takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            name = called.rpartition(".")[2]
            if (name == "create" and called not in allowed) or (
                name == "Certified" and not allowed & {"store.create"}
            ):
                yield f"{node.lineno}: {called}"
        elif (
            isinstance(node, ast.Attribute)
            and node.attr == "create"
            and not isinstance(node.ctx, ast.Load)
        ):
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "INSERT INTO run(" in node.value
        ):
            yield f"{node.lineno}: SQL"


def test_no_run_is_put_on_record_beside_the_door() -> None:
    found = []
    for path in (*sorted(PACKAGE.rglob("*.py")), *python_of_packs()):
        place = (
            path.relative_to(PACKAGE).as_posix()
            if path.is_relative_to(PACKAGE)
            else path.as_posix()
        )
        allowed = OTHERS | TO_THE_DOOR | DOOR.get(place, set())
        found += [f"{place}:{line}" for line in beside(path.read_text("utf-8"), allowed)]
    journal = [
        line
        for line in found
        if line.startswith(("journal/sqlite.py", "journal/tables.py")) and line.endswith("SQL")
    ]
    assert [] == [line for line in found if line not in journal]
    assert 2 == len(journal), (
        "the journal adds a run in `create`, and where it brings an old file up to date"
    )


@pytest.mark.parametrize(
    "text",
    [
        "store.create(name, plan, program, inputs, 1.0)",
        "Certified(program, plan, {})",
        'db.execute("INSERT INTO run(id) VALUES(1)")',
    ],
)
def test_a_planted_way_past_the_door_is_found(text: str) -> None:
    assert 1 == len(list(beside(f"def f(store, db):\n    {text}\n", OTHERS | TO_THE_DOOR)))


def test_the_door_takes_nothing_but_what_was_certified() -> None:
    tree = ast.parse((PACKAGE / "runs" / "certified.py").read_text("utf-8"))
    [door] = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "put_on_record"
    ]
    assert "proved: Certified" in ast.unparse(door.args)
    [made] = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Certified"
    ]
    [maker] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and made in ast.walk(node)
    ]
    assert "certified" == maker.name
