"""A journal with a row that makes no sense is one sentence, never an internal error (finding B13)."""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from tests.support import profiles
from tests.support.inside import fdc

SEED = profiles.seed()
PLAN = """set_plan x
plan_step_complete x
overwrite_file_with_block o.md
  tea
read_file o.md
request_user_input hm?
close_task
submit
"""
COMMANDS = (
    ["runs"], ["show", "last"], ["show", "last", "--format", "json"], ["verify", "last"], ["verify"], ["replay", "last"],
    ["report", "last", "--output", "p.html"], ["resume", "last"], ["answer", "last", "yes"], ["fork", "last@main/2"],
    ["diff", "last", "last"], ["cancel", "last"],
)  # fmt: skip
TORN = object()
"""A text with a byte that begins no character: a text to SQLite, none to anybody else."""
TEXTS = {
    "run": ("name", "plan", "program", "inputs", "origin", "status", "ending"),
    "record": ("kind", "address", "tool", "request", "body", "blob"),
}
ROWS = (
    ("run", "ending", '"x"'), ("run", "ending", "[]"), ("run", "ending", '{"stop":5}'), ("run", "ending", 2**62),
    ("run", "started", "[[[["), ("run", "started", 1e300), ("run", "name", b"\0\xff"), ("run", "plan", b"\0\xff"),
    ("run", "status", "great"), ("run", "inputs", "[]"), ("run", "inputs", '{"given":5}'), ("run", "origin", '{"a":1}'),
    ("record", "body", "[]"), ("record", "body", '{"took":"long"}'), ("record", "body", '{"failed":{}}'),
    ("record", "at", "soon"), ("record", "kind", b"\xff"), ("record", "turn", "x"), ("blob", "bytes", "{}"),
    *((table, column, TORN) for table, columns in TEXTS.items() for column in columns),
)  # fmt: skip


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one run, which waits, all of it in one file."""
    folder = tmp_path_factory.mktemp("damaged") / "w"
    (folder / "knowledge_core").mkdir(parents=True)
    (folder / "a.plan").write_text(PLAN)
    assert "waiting" in fdc("run", "a.plan", cwd=folder).stdout
    with sqlite3.connect(folder / ".fdc/runs.sqlite") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return folder


def complaints(folder: Path, commands: tuple[list[str], ...] | list[list[str]]) -> list[str]:
    out = []
    for command in commands:
        done = fdc(*command, cwd=folder)
        if done.returncode == 4 or "internal error" in done.stderr or "Traceback" in done.stderr:
            out.append(f"{' '.join(command)}: {done.stderr}")
    return out


@pytest.mark.parametrize(("table", "column", "value"), ROWS)
def test_a_row_that_makes_no_sense_is_one_sentence(
    waiting: Path, tmp_path: Path, table: str, column: str, value: object
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(waiting, copy)
    with sqlite3.connect(copy / ".fdc/runs.sqlite") as db:
        which = (
            "seq=(SELECT max(seq) FROM record WHERE kind='outcome')" if table == "record" else "1"
        )
        new, given = ("CAST(x'61fb62' AS TEXT)", ()) if value is TORN else ("?", (value,))
        assert db.execute(f"UPDATE {table} SET {column}={new} WHERE {which}", given).rowcount
    db.close()
    assert [] == complaints(copy, COMMANDS)


@pytest.mark.long
def test_bytes_changed_anywhere_are_one_sentence(waiting: Path, tmp_path: Path) -> None:
    """New places in every commit; the seed is in the message."""
    chance = random.Random(SEED)
    start, number = time.monotonic(), 0
    while time.monotonic() - start < 5:
        number += 1
        copy = tmp_path / str(number)
        shutil.copytree(waiting, copy)
        file = copy / ".fdc/runs.sqlite"
        data = bytearray(file.read_bytes())
        for _ in range(chance.choice((1, 3, 20))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data)
        assert [] == complaints(copy, chance.sample(COMMANDS, 4)), (SEED, number)
        shutil.rmtree(copy)
    assert number > 1
