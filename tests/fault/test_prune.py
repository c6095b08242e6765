"""`fdc runs prune`: what is over and old goes, whole; what can go on or is needed stays. A kill loses nothing (issue 12)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fdc_toolchain.agent.host import files
from fdc_toolchain.journal import hash_chain
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.runs.records.prune import choose
from fdc_toolchain.workspace import run_folders
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support.process import fdc, run
from tests.support.repository import ROOT

HEAD = "set_plan P\nplan_step_complete planned\n"
END = "close_task\nsubmit\n"
NOTE = "overwrite_file_with_block {run}/note.md\n    x\n"
READ = "text <- read_file large.txt\n"
PLANS = {
    "done.plan": HEAD + NOTE + READ + END,
    "ask.plan": HEAD + NOTE + READ + "answer <- request_user_input Sugar?\n" + END,
    "fails.plan": HEAD + READ + 'require {text} == "coffee" else "no coffee"\n' + END,
}  # fmt: skip

HARNESS = textwrap.dedent(
    """
    import os, signal, sys
    sys.path.insert(0, sys.argv[1])
    last = int(sys.argv[2])
    files = ("runs/records/prune.py", "durable.py", "journal/counter.py", "journal/sqlite.py", "journal/database.py")
    from fdc_toolchain.cli import main
    from fdc_toolchain.runs.records import prune
    count = 0

    def reach(frame, event, argument):
        global count
        if event in ("c_call", "c_return", "call") and frame.f_code.co_filename.endswith(files):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    pruned = prune.prune

    def watched(*arguments):
        sys.setprofile(reach)
        try:
            return pruned(*arguments)
        finally:
            sys.setprofile(None)

    prune.prune = watched
    code = main.main(sys.argv[3:])
    print("moments", count, file=sys.stderr)
    sys.exit(code)
    """
)


@pytest.fixture
def shop(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with plans and a state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, text in PLANS.items():
        (workspace / name).write_text(text)
    (workspace / "large.txt").write_text("tea, " * 20_000)
    return workspace


def ran(shop: Path, plan: str, *options: str) -> str:
    """Runs a plan; its name."""
    done = fdc("run", plan, "--format", "json", *options, cwd=shop)
    assert done.returncode in (0, 1, 5), done
    return str(json.loads(done.stdout)["run"])


def answered(shop: Path, name: str) -> None:
    """Takes a forked run to its end."""
    assert [5, 0] == [
        fdc("resume", name, *more, cwd=shop).returncode for more in ((), ("--answer", "two"))
    ]


def listed(shop: Path) -> list[str]:
    return [
        one["run"] for one in json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"]
    ]


def prune(shop: Path, *arguments: str) -> str:
    done = fdc("runs", "prune", *arguments, cwd=shop)
    assert (0, "") == (done.returncode, done.stderr), done
    return done.stdout


def notes(tmp_path: Path) -> int:
    return len(list((tmp_path / "state" / "fdc" / "seen").iterdir()))


def blobs(shop: Path) -> int:
    with closing(sqlite3.connect(shop / ".fdc" / "runs.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM blob").fetchone()[0])


@pytest.mark.slow
def test_what_is_over_goes_whole_and_what_can_go_on_stays(shop: Path, tmp_path: Path) -> None:
    done, stopped, waiting = ran(shop, "done.plan"), ran(shop, "fails.plan"), ran(shop, "ask.plan")
    cancelled = ran(shop, "ask.plan")
    assert 0 == fdc("cancel", cancelled, cwd=shop).returncode
    size = (shop / ".fdc" / "runs.sqlite").stat().st_size
    assert 4 == notes(tmp_path) and 3 < blobs(shop) <= 3 + 4, (
        "three programs, and what four steps read, with their seconds"
    )
    assert "0 runs removed, 0 bytes freed\n" == prune(shop, "--older", "30d")
    dry = prune(shop, "--older", "0h", "--dry-run")
    assert [f"would remove {name}" for name in (done, stopped, cancelled)] == [
        line[:33] for line in dry.splitlines()[:-1]
    ]
    assert 4 == len(listed(shop))
    said = prune(shop, "--older", "0h")
    assert dry.replace("would remove", "removed").splitlines()[:-1] == said.splitlines()[:-1]
    assert said.splitlines()[-1].startswith("3 runs removed, ") and said.endswith(" KiB freed\n"), (
        said
    )
    assert [waiting] == listed(shop) and (1, 2) == (notes(tmp_path), blobs(shop))
    for folder in (shop / "runs", shop / ".fdc" / "runs"):
        assert [waiting] == [path.name for path in folder.iterdir()]
    assert (shop / ".fdc" / "runs.sqlite").stat().st_size <= size - 4096 and not (
        shop / ".fdc" / "pruning.json"
    ).exists()
    verified = fdc("verify", cwd=shop)
    assert 0 == verified.returncode and 1 == verified.stdout.count(": whole, "), verified
    assert 0 == fdc("resume", waiting, "--answer", "two", cwd=shop).returncode
    assert "1 run removed" in prune(shop, "--older", "0h")
    assert (0, 0) == (notes(tmp_path), blobs(shop)) and not (shop / "runs").exists()
    assert 0 == fdc("verify", cwd=shop).returncode == fdc("run", "done.plan", cwd=shop).returncode


@pytest.mark.slow
def test_a_run_that_another_one_was_made_from_stays_as_long_as_that(shop: Path) -> None:
    first = ran(shop, "ask.plan")
    assert 0 == fdc("resume", first, "--answer", "one", cwd=shop).returncode
    second = fdc("fork", f"{first}@main/5", "-q", cwd=shop).stdout.strip()
    third = fdc("fork", f"{second}@main/4", "-q", cwd=shop).stdout.strip()
    answered(shop, second)
    said = prune(shop, "--older", "0h")
    assert (
        "0 runs removed" in said and f"kept {second}: the run {third} was forked from it" in said
    ), said
    assert f"kept {first}: the run " in said
    for name in (first, second):
        assert (
            0
            == fdc("verify", name, cwd=shop).returncode
            == fdc("replay", name, cwd=shop).returncode
        )
    answered(shop, third)
    assert "3 runs removed" in prune(shop, "--older", "0h") and not listed(shop)


def test_a_run_within_stays_as_long_as_the_run_that_it_is_a_step_of(workspace: Path) -> None:
    """`run_plan` gives the run within a folder of its own; the outer one asks for its record when it goes on."""
    (workspace / ".fdc").mkdir()
    held = Store(journal_path(str(workspace)))
    for name, inputs in (
        ("outer", {}),
        ("inner", {"within": "outer"}),
        ("left", {"within": "gone"}),
    ):
        held.create(name, f"{name}.plan", {"root": name}, inputs, 1.0)

    def chosen(*over: str) -> tuple[list[str], list[str]]:
        rows = [
            row._replace(status="finished" if row.name in over else "waiting")
            for row in held.runs()
        ]
        found = choose(SimpleNamespace(runs=lambda: rows), str(workspace), 2.0)  # type: ignore[arg-type]
        return [row.name for row in found.rows], [f"{row.name}: {why}" for row, why in found.kept]

    assert (["left"], ["inner: it is nested in the run outer"]) == chosen("inner", "left")
    assert (["outer", "inner", "left"], []) == chosen("outer", "inner", "left")
    held.close()


@pytest.mark.slow
def test_a_run_of_an_agents_open_task_stays(shop: Path) -> None:
    name = ran(shop, "done.plan")
    for state, kept in (("EXECUTING", True), ("AWAITING_SUBMISSION", False)):
        files.save(str(shop), "tea", {"task_id": "tea", "state": state, "control": {"run": name}})
        said = prune(shop, "--older", "0h")
        assert (
            kept
            == (f"kept {name}: the task tea of `fdc agent` needs it" in said)
            == (name in listed(shop))
        ), said


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_damaged_task_is_named_and_its_runs_stay(shop: Path, more: tuple[str, ...]) -> None:
    """Which runs it needs is unknown, and what is removed does not come back. It was passed over without a word."""
    name = ran(shop, "done.plan")
    files.save(str(shop), "tea", {"task_id": "tea", "state": "EXECUTING", "control": {"run": name}})
    state = shop / ".fdc" / "agents" / "tea" / "state.json"
    state.write_bytes(state.read_bytes()[:20])
    done = fdc("runs", "prune", "--older", "0h", *more, cwd=shop)
    assert (3, "") == (done.returncode, done.stdout) and [name] == listed(shop)
    assert ".fdc/agents/tea/state.json is damaged (" in done.stderr
    assert "remove the folder .fdc/agents/tea if the task is over" in done.stderr
    shutil.rmtree(state.parent)
    assert "1 run" in prune(shop, "--older", "0h", *more)


@pytest.mark.slow
def test_a_run_that_is_driven_or_changed_stays(shop: Path) -> None:
    name = ran(shop, "done.plan")
    lock = run_folders.Lock(run_folders.run_folder(str(shop), name))
    assert lock.take() is None
    assert "0 runs removed" in prune(shop, "--older", "0h") and [name] == listed(shop)
    lock.release()


@pytest.mark.long
def test_a_kill_at_any_moment_leaves_what_the_next_call_takes_away(
    shop: Path, tmp_path: Path
) -> None:
    waiting = ran(shop, "ask.plan")
    ran(shop, "done.plan")
    ran(shop, "fails.plan")
    state = tmp_path / "state"

    def killed(number: int) -> tuple[Any, Path, dict[str, str]]:
        folder = tmp_path / f"copy-{number}"
        shutil.copytree(shop, folder / "workspace")
        shutil.copytree(state, folder / "state")
        env = {"XDG_STATE_HOME": str(folder / "state")}
        argv = [
            sys.executable,
            "-c",
            HARNESS,
            str(ROOT / "tooling"),
            str(number),
            "runs",
            "prune",
            "--older",
            "0h",
        ]
        return run(argv, cwd=folder / "workspace", env=env), folder, env

    whole, _, _ = killed(0)
    moments = int(whole.stderr.split()[-1])
    assert 0 == whole.returncode and moments > 100, whole
    for number in range(1, moments, moments // 24):
        dead, folder, env = killed(number)
        assert -signal.SIGKILL == dead.returncode
        place = folder / "workspace"
        between = fdc("verify", cwd=place, env=env)
        assert 0 == between.returncode, between
        assert 0 == fdc("runs", "prune", "--older", "0h", cwd=place, env=env).returncode
        verified = fdc("verify", cwd=place, env=env)
        assert 0 == verified.returncode and 1 == verified.stdout.count("whole"), verified
        for above in (place / "runs", place / ".fdc" / "runs"):
            assert [waiting] == os.listdir(above), number
        assert 1 == len(os.listdir(folder / "state" / "fdc" / "seen"))
        with closing(sqlite3.connect(place / ".fdc" / "runs.sqlite")) as db:
            assert [(1,), (2,)] == [
                db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("run", "blob")
            ]
            assert (0,) == db.execute("PRAGMA freelist_count").fetchone()
        shutil.rmtree(folder)


def test_names_and_links_of_a_clone_lead_nowhere(workspace: Path, tmp_path: Path) -> None:
    """`pruning.json` and run folders may come with a clone: nothing outside of its own run folders is removed."""
    (tmp_path / "precious").mkdir()
    (workspace / ".fdc" / "runs").mkdir(parents=True)
    (workspace / "runs").mkdir()
    (workspace / "runs" / "linked").symlink_to(tmp_path / "precious")
    names = ["../../precious", "linked", "..", ".", "", 7]
    (workspace / ".fdc" / "pruning.json").write_text(json.dumps({"runs": names}))
    Store(journal_path(str(workspace))).close()
    assert "0 runs removed" in prune(workspace, "--older", "1h")
    assert (tmp_path / "precious").is_dir() and (workspace / "runs" / "linked").is_symlink()


def test_a_file_of_a_clone_makes_this_machine_forget_no_run(shop: Path, tmp_path: Path) -> None:
    """Without its note an older copy of the run would be taken: only fdc itself, with the user's key, may say what goes."""
    name = ran(shop, "done.plan")
    with closing(Store(journal_path(str(shop)), readonly=True)) as store:
        row = store.run(name)
        assert row is not None
        start = hash_chain.beginning(store._owner(row.id)).hex()
    for note in ([start, ""], [start, "0" * 32], [start], start, [7, 8], None):
        todo = {"runs": ["gone", name], "notes": {"gone": note, name: note}}
        (shop / ".fdc" / "pruning.json").write_text(json.dumps(todo))
        assert "0 runs removed" in prune(shop, "--older", "1h")
        assert 1 == notes(tmp_path), note


@pytest.mark.parametrize("age", ["30", "d", "-1d", "1y", "1.5h", ""])
def test_an_age_that_is_none_is_wrong_usage(workspace: Path, age: str) -> None:
    wrong = fdc("runs", "prune", "--older", age, cwd=workspace)
    assert 2 == wrong.returncode and "`12h`, `30d`, `2w`" in wrong.stderr, wrong


def test_a_run_that_ended_by_a_clock_that_was_set_back_is_not_old(workspace: Path) -> None:
    """A machine whose clock starts in 1970, until it knows the time."""
    (workspace / "ask.plan").write_text(HEAD + "answer <- request_user_input Sugar?\n" + END)
    assert 5 == fdc("run", "ask.plan", cwd=workspace).returncode
    back = "import sys, time; time.time = lambda: 9.5; from fdc_toolchain.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", back, "resume", "--answer", "none"]
    assert 0 == run(words, cwd=workspace).returncode
    assert "0 runs removed" in fdc("runs", "prune", "--older", "1h", cwd=workspace).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="`ulimit -f` is in other units elsewhere")
def test_a_run_that_could_not_be_removed_is_still_known_by_its_note(
    shop: Path, tmp_path: Path
) -> None:
    """A file that may not grow stands for a full disk: without the note an older copy of the run would be taken for it."""
    (shop / "many.plan").write_text(f"{HEAD}iterate max 400\n    read_file README.md\n{END}")
    (shop / "README.md").write_text("tea\n")
    name = ran(shop, "many.plan")
    argv = ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash", sys.executable, "-m", "fdc_toolchain"]
    refused = run([*argv, "runs", "prune", "--older", "0h"], cwd=shop)
    assert (3, "") == (refused.returncode, refused.stdout), refused
    assert ([name], 1) == (listed(shop), notes(tmp_path))
    prune(shop, "--older", "0h")
    assert ([], 0) == (listed(shop), notes(tmp_path))
