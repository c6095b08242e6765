"""Failure test 3 of the engines' study: journals that releases of fdc wrote, under the fdc of today (FDC-31, FDC-33).

`journals/RELEASE/runs.sqlite` holds runs of every kind as that release left them, `before.json` what it said of them,
`after.json` where it got to when it went on with them. `UPDATE_GOLDEN=1` writes those of the release that VERSION
names where there are none yet, and never touches any that are there: when one of these tests fails, the engine has
changed the meaning of records that users have, and `journal.sqlite.ENGINE` must say so.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.exits import PERSON
from fdc_toolchain.journal.sqlite import ENGINE, RunRow, Store
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.replay import digest, replay

from tests.support.golden import FOLDER, updating
from tests.support.killing import killed_at
from tests.support.nursery import Nursery
from tests.support.process import fdc
from tests.support.repository import ROOT

JOURNALS = FOLDER / "journals"
TODAY = (ROOT / "VERSION").read_text().strip()
RELEASES = sorted({path.parent.name for path in JOURNALS.glob("*/before.json")} | {TODAY})
KEY = b"a key for tests, of 32 bytes, ok"
FIRST_FORM = "before-0.1.0"
"""The form that journals had before records were chained; no one can have sealed such runs."""

ON = {
    "sequence": [], "calls": [], "loop": [], "fork": [], "large": [], "gate": [], "cancelled": [], "killed": [],
    "killed in a fork": [], "forked": [],
    "ask": ["--answer", "green"], "answered": ["--answer", "yes"], "refused": ["--retry"],
    "budget": ["--budget", "steps=50"],
}  # fmt: skip
"""How each run is gone on with."""


def prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """A workspace with the files of the plans, and the environment in which the key of these journals is the user's."""
    root, state = folder / "workspace", folder / "state"
    for name, text in (
        ("in/a.in", "a"),
        ("in/b.in", "b"),
        ("in/c.in", "c"),
        ("big/large.txt", "x" * 66_000),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    (root / "knowledge_core").mkdir()
    (state / "fdc").mkdir(parents=True)
    (state / "fdc" / "key").write_bytes(KEY)
    (state / "fdc" / "key").chmod(0o600)
    return root, {"XDG_STATE_HOME": str(state)}


def laid_out(release: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """A workspace in which the runs of a release are."""
    root, env = prepared(folder)
    shutil.copytree(JOURNALS / release / "files", root, dirs_exist_ok=True)
    (root / ".fdc").mkdir()
    shutil.copy(JOURNALS / release / "runs.sqlite", root / ".fdc" / "runs.sqlite")
    return root, env


def told(store: Store, row: RunRow) -> dict[str, Any]:
    """All that is known of a run, but for times and processes."""
    records = store.records(row)
    state = fold(store.program(row), row.inputs, records)
    said = row.ending or {}
    return {
        "run": row.name, "plan": row.plan, "engine": row.engine, "program": row.digest, "status": row.status,
        "inputs": row.inputs, "origin": row.origin, "steps": state.steps, "spent": state.spent,
        "stop": None if state.stop is None else state.stop._asdict(), "result": digest(state.result),
        "wants": sorted([*state.pending, *state.dangling, *state.parked]),
        "questions": [one["text"] for one in said.get("questions", ())],
        "records": [_record(one) for one in records],
    }  # fmt: skip


def _record(one: Record) -> list[Any]:
    body = {
        name: value
        for name, value in one.body.items()
        if name not in ("took", "began", "pid", "notes")
    }
    if len(json.dumps(body)) > 300:
        body = {"digest": digest(body)}
    return [one.kind, one.address, one.turn, one.tool, one.request, body]


def opened(root: Path, names: dict[str, str]) -> dict[str, dict[str, Any]]:
    with closing(Store(str(root / ".fdc" / "runs.sqlite"), KEY)) as store:
        rows = {row.name: row for row in store.runs()}
        return {case: told(store, rows[name]) for case, name in names.items()}


def gone_on(root: Path, env: dict[str, str], names: dict[str, str], folder: Path) -> dict[str, Any]:
    """How each run stands when it was gone on with, and what the command said in the end."""
    said = {}
    with Nursery(root, folder / "said", env) as nursery:
        for case, name in names.items():
            done = nursery.run("resume", name, "-q", *ON[case])
            said[case] = [
                done.code,
                (done.out + done.err).replace(name, "RUN").splitlines()[-1].split(",")[0],
            ]
            assert nursery.run("verify", name).code == nursery.run("replay", name).code == 0, case
    # Branches come back in any order; what they wrote on record is the same.
    return {
        case: {"said": said[case], **one, "records": sorted(one["records"])}
        for case, one in opened(root, names).items()
    }


def check(path: Path, found: dict[str, Any]) -> None:
    expected = json.loads(path.read_text("utf-8"))
    assert list(expected) == list(found)
    for case, one in expected.items():
        now = found[case]
        if now.get("stop"):  # 0.1.0 did not say which failure of a tool it was
            now = {**now, "stop": {key: now["stop"][key] for key in one["stop"]}}
        if str(one.get("said", [0, ""])[1]).startswith("waiting for a person"):  # 0.1.0 said 1 here
            one = {**one, "said": [PERSON, one["said"][1]]}
        assert one == now, case


def provide(release: str, scratch: Path) -> None:
    """Writes the journals of today's release where there are none."""
    if not (JOURNALS / release / "runs.sqlite").exists():
        assert release == TODAY and updating(), (
            f"there are no journals of fdc {release}: UPDATE_GOLDEN=1 writes today's"
        )
        write(scratch, JOURNALS / release)


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The name of a release whose journals are there."""
    provide(str(request.param), tmp_path / "written")
    return str(request.param)


def test_every_record_of_an_older_fdc_is_what_the_program_still_wants(
    release: str, tmp_path: Path
) -> None:
    """Failure test 3: folded, verified and replayed, without anything being performed: the same addresses, the same end."""
    root, _ = laid_out(release, tmp_path)
    names = {
        case: one["run"]
        for case, one in json.loads((JOURNALS / release / "before.json").read_text()).items()
    }
    assert set(ON) == set(names)
    check(JOURNALS / release / "before.json", opened(root, names))
    with closing(Store(str(root / ".fdc" / "runs.sqlite"), KEY)) as store:
        assert ({*names.values()}, 0) == ({row.name for row in store.runs()}, store.strays())
        for row in store.runs():
            assert ((), "ours") == store.check(row.id)[::2]
            found = replay(
                store.program(row), row.inputs, store.records(row), row.status, row.ending
            )
            assert (None, len(store.records(row))) == (found.difference, found.records)
            broken = store.records(row)
            at = next(number for number, one in enumerate(broken) if one.kind == "outcome")
            broken[at] = broken[at]._replace(request="another")
            assert (
                replay(store.program(row), row.inputs, broken, row.status, row.ending).difference
                is not None
            )


@pytest.mark.long
def test_every_run_of_an_older_fdc_goes_on_to_the_end_that_it_had_there(
    release: str, tmp_path: Path
) -> None:
    """Failure test 3."""
    root, env = laid_out(release, tmp_path)
    names = {
        case: one["run"]
        for case, one in json.loads((JOURNALS / release / "before.json").read_text()).items()
    }
    check(JOURNALS / release / "after.json", gone_on(root, env, names, tmp_path))


@pytest.mark.slow
def test_a_run_of_an_engine_that_nobody_here_knows_is_refused_by_a_sentence(tmp_path: Path) -> None:
    root, env = laid_out(TODAY, tmp_path)
    with closing(sqlite3.connect(root / ".fdc" / "runs.sqlite")) as db:
        db.execute(f"UPDATE run SET engine={ENGINE + 1}")
        db.commit()
    for command in (["resume", "last"], ["replay", "last"], ["fork", "last@main/1"]):
        done = fdc(*command, cwd=root, env=env)
        assert (3, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n")), done
        assert (
            f"records this one cannot read (engine {ENGINE + 1}, this is {ENGINE})" in done.stderr
        )


@pytest.mark.slow
def test_a_journal_of_the_first_form_is_migrated_and_its_runs_go_on_for_who_trusts_them(
    tmp_path: Path,
) -> None:
    """Before there were chains and seals: one sentence says why, and what to do."""
    root, env = laid_out(FIRST_FORM, tmp_path)
    for command in (["show", "last"], ["verify", "last"], ["replay", "last"]):
        done = fdc(*command, cwd=root, env=env)
        assert (0, "") == (done.returncode, done.stderr), done
    refused = fdc("resume", "last", cwd=root, env=env)
    assert (
        1 == refused.returncode
        and "it has no seal" in refused.stderr
        and refused.stderr.count("\n") == 1
    )
    went_on = fdc("resume", "last", "--trust", cwd=root, env=env)
    assert 0 == went_on.returncode and "finished" in went_on.stdout, went_on
    assert "sealed by your key" in fdc("verify", "last", cwd=root, env=env).stdout


# Writing those of today


def write(folder: Path, release: Path) -> None:
    """Makes runs of every kind with the fdc of today."""
    root, env = prepared(folder)
    shutil.copytree(JOURNALS / "plans", root / "plans")
    names: dict[str, str] = {}

    def listed() -> list[str]:
        return [
            one["run"]
            for one in json.loads(fdc("runs", "--format", "json", cwd=root, env=env).stdout)["runs"]
        ]

    def begun(case: str, plan: str, code: int, *words: str) -> None:
        done = fdc("run", f"plans/{plan}.plan", *words, cwd=root, env=env)
        assert code == done.returncode, done
        names[case] = listed()[-1]

    for plan, code in (
        ("sequence", 0),
        ("calls", 0),
        ("loop", 0),
        ("fork", 0),
        ("large", 0),
        ("gate", 1),
        ("budget", 1),
    ):
        begun(plan, plan, code)
    begun("ask", "ask", PERSON)
    begun("cancelled", "ask", PERSON)
    assert 0 == fdc("cancel", names["cancelled"], cwd=root, env=env).returncode
    begun("answered", "ask", PERSON)
    assert (
        PERSON
        == fdc("resume", names["answered"], "--answer", "black", cwd=root, env=env).returncode
    )
    begun("refused", "ask", PERSON)
    assert (
        PERSON == fdc("resume", names["refused"], "--answer", "black", cwd=root, env=env).returncode
    )
    assert 1 == fdc("resume", names["refused"], "--answer", "no", cwd=root, env=env).returncode
    done = fdc("fork", "-q", f"{names['sequence']}@main/7", cwd=root, env=env)
    names["forked"] = done.stdout.strip()
    for case, plan, moment in (("killed", "loop", 33), ("killed in a fork", "fork", 12)):
        assert -9 == killed_at(moment, root, "run", f"plans/{plan}.plan", env=env).returncode
        names[case] = listed()[-1]
    with closing(sqlite3.connect(root / ".fdc" / "runs.sqlite")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
    release.mkdir(parents=True)
    before = opened(root, names)
    with closing(sqlite3.connect(root / ".fdc" / "runs.sqlite")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
    shutil.copy(root / ".fdc" / "runs.sqlite", release / "runs.sqlite")
    leave = shutil.ignore_patterns(
        ".fdc", "plans", "in", "big", "knowledge_core", "large", "logs", "runs", ".*"
    )
    shutil.copytree(root, release / "files", ignore=leave)
    (release / "before.json").write_text(json.dumps(before, indent=1) + "\n")
    after = gone_on(root, env, names, folder)
    (release / "after.json").write_text(json.dumps(after, indent=1) + "\n")


def test_journals_that_are_there_are_never_written_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not even when goldens are updated: they are what users have."""
    files = {path: path.read_bytes() for path in JOURNALS.rglob("*") if path.is_file()}
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    for release in RELEASES:
        provide(release, tmp_path)
    assert (
        files == {path: path.read_bytes() for path in JOURNALS.rglob("*") if path.is_file()}
        and len(files) > 10
    )
    with pytest.raises(AssertionError, match="there are no journals of fdc 0"):
        provide("0.0.0", tmp_path)
