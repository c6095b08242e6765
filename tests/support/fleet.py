"""What tests of many machines share: a workspace whose tools leave a witness, runs in a database, and what they must come to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from fdc_toolchain.engine.fold import fold
from fdc_toolchain.journal import user_key
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.sqlite import RunRow, Store
from fdc_toolchain.workspace.run_folders import journal_path

from .database import rows
from .process import fdc

OWN_TOOLS = """
import os, time

def numbers(count):
    return {"list": [str(number) for number in range(int(count))]}

def deed(name, idempotency_key):
    handle = os.open("witness.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, f"start {name} {idempotency_key}\\n".encode())
    time.sleep(float(os.environ.get("DEED_SECONDS", "0")))
    while name == "last" and os.path.exists("held"):
        time.sleep(0.01)
    os.write(handle, f"effect {name} {idempotency_key}\\n".encode())
    os.close(handle)
    return {"name": name}
"""
TOOLS = {
    "deed": {
        "summary": "a deed", "action": "step_op", "effect": "idempotent", "trust": "trusted",
        "parameters": [{"name": "name", "kind": "word"}], "result": {"name": "text"}, "run": {"python": "own_deeds:deed"},
        "access": {"write": ["witness.log"], "env": ["DEED_SECONDS"]},
    },
    "numbers": {
        "summary": "so many", "action": "step_op", "effect": "read", "trust": "trusted",
        "parameters": [{"name": "count", "kind": "word"}], "result": {"list": "list"}, "run": {"python": "own_deeds:numbers"},
    },
}  # fmt: skip
PLAN = """param count
set_plan Deeds
plan_step_complete begun
all <- numbers {count}
message_user off we go
got <- fork n in {all.list} max 500
    done <- deed first-{n}
    deed second-{n}
    yield {done.name}
deed last
overwrite_file_with_block out.txt
    {got}
close_task
submit
"""
ASKING = """set_plan Ask
plan_step_complete begun
answer <- request_user_input Which tea?
deed {answer}
close_task
submit
"""
HELD = "held"
"""While there is a file of that name in the workspace, the last deed does not end, and so no run of `big.plan`."""
OVER = ("finished", "stopped", "broken", "waiting", "cancelled")


def laid_out(workspace: Path) -> Path:
    """Makes the tools and the plans."""
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": TOOLS})
    )
    (workspace / "own_deeds.py").write_text(OWN_TOOLS)
    (workspace / "witness.log").write_text(
        ""
    )  # several machines write it: none of them may think that it made it
    (workspace / "big.plan").write_text(PLAN)
    (workspace / "ask.plan").write_text(ASKING)
    return workspace


def key(workspace: Path) -> bytes | None:
    return user_key.key(str(workspace), make=True)


def begun(workspace: Path, url: str, plan: str, *inputs: str) -> str:
    """A run that was put into the database; no one waits for it."""
    done = fdc("run", "--database", url, "--detach", "-q", plan, *inputs, cwd=workspace)
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.strip()


def outcomes(store: Store, row: RunRow) -> Counter[tuple[str, str, int, str]]:
    """What is on record, as often as it is there."""
    return Counter(
        (record.address, record.tool, record.turn, json.dumps(record.body.get("value")))
        for record in store.records(row)
        if record.kind == "outcome"
    )


def witnessed(workspace: Path, word: str = "effect") -> Counter[str]:
    try:
        lines = (workspace / "witness.log").read_text().splitlines()
    except FileNotFoundError:
        return Counter()
    return Counter(line.split()[2] for line in lines if line.startswith(word + " "))


def on_sqlite(workspace: Path, *arguments: str) -> Counter[Any]:
    """The same run on this machine alone."""
    assert 0 == fdc("run", *arguments, cwd=workspace).returncode
    store = Store(journal_path(str(workspace)), key(workspace))
    try:
        return outcomes(store, store.runs()[-1])
    finally:
        store.close()


def is_over(url: str, *names: str) -> bool:
    found = rows(
        url,
        "SELECT count(*) FROM fdc.run WHERE name = ANY(%s) AND status = ANY(%s)",
        list(names),
        list(OVER),
    )
    return found == [(len(names),)]


def whole(workspace: Path, url: str, name: str, expected: Counter[Any]) -> None:
    """A run is finished, its chain is whole and sealed, it folds to its end, and it has every outcome once."""
    store = PgStore(url, key(workspace))
    try:
        row = store.run(name)
        assert row is not None and row.status == "finished", (
            row,
            rows(url, "SELECT * FROM dbos.workflow_status"),
        )
        assert ((), "ours") == store.check(row.id)[::2]
        assert expected == outcomes(store, row)
        assert fold(store.program(row), row.inputs, store.records(row)).ended
        assert [] == store.pieces(row.id)
        assert 0 == store.strays()
    finally:
        store.close()
