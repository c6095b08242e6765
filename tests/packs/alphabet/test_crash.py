"""An iteration of ALPHABETUM is killed: at every touch of the disk in the store, and by a real SIGKILL of a real process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.alphabet.iteration_lock import LOCK
from fdc_packs.alphabet.store import STAGING, Busy, Refused, Store, digest

from tests.support.alphabets import AT, CONFIG, answering, good, made, tree
from tests.support.background import PATIENCE
from tests.support.inside import fdc
from tests.support.messages_api import Item, broken, fault, reply
from tests.support.process import clean_environment
from tests.support.process import fdc as process
from tests.support.repository import ROOT

OLD = {
    "alphabet/index.yaml": "old\n",
    "reasoning/state.yaml": "iteration: 1\n",
    "alphabet/gone.yaml": "gone\n",
}
NEW = {
    "alphabet/index.yaml": "new\n", "reasoning/state.yaml": "iteration: 2\n", "reasoning/logs/iteration_002/summary.yaml": "s\n",
}  # fmt: skip
CHANGE = {
    "files": NEW, "remove": ["alphabet/gone.yaml"], "iteration": 2, "immutable": "alphabet/versions/", "mirror": ["alphabet/*"],
}  # fmt: skip

KILLED = """
import json, os, shutil, signal, sys
sys.path.insert(0, sys.argv[1])
from fdc_packs.alphabet.store import Store

base, given, change = sys.argv[2], *map(json.loads, sys.argv[3:])

def child(folder, count):
    def touched(event, arguments):
        nonlocal count
        if event in ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"):
            if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
                return
            count -= 1
            if count == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    store = Store(folder)
    sys.addaudithook(touched)
    store.lock("run-1", 2, "EXPANSION", "2026-01-31T12:00:00Z")
    store.open_staging("run-1", "d", "2026-01-31T12:00:00Z")
    store.stage("expansion-1-after_proposer", {"kind": "proposer", "n": 1})
    store.mark("EXPANSION", "after_proposer_1")
    store.stage("expansion-1-after_critic", {"kind": "critic", "n": 2})
    store.commit("run-1", change)
    os._exit(0)

for count in range(1, 300):
    folder = os.path.join(base, str(count))
    for path, text in given.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)
    pid = os.fork()
    if pid == 0:
        child(folder, count)
    status = os.waitpid(pid, 0)[1]
    print(count, os.waitstatus_to_exitcode(status), flush=True)
    if os.waitstatus_to_exitcode(status) == 0:
        break
"""


def old(folder: Path) -> Path:
    for path, text in OLD.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def shown(folder: Path) -> dict[str, str]:
    return {path: data.decode() for path, data in tree(folder).items()}


@pytest.mark.long
def test_killed_at_any_touch_of_the_disk_the_tree_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    """ALPH-03, 47, 48: every boundary of lock, staging and commit, each by SIGKILL of a process of its own."""
    argv = [
        sys.executable,
        "-c",
        KILLED,
        str(ROOT / "tooling"),
        str(tmp_path),
        json.dumps(OLD),
        json.dumps(CHANGE),
    ]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
        timeout=2 * PATIENCE,
    )
    rows = [
        (int(count), int(code))
        for count, code in (line.split() for line in done.stdout.split("\n") if line)
    ]
    assert 25 < len(rows) < 299 and [-signal.SIGKILL] * (len(rows) - 1) + [0] == [
        code for _, code in rows
    ], done.stderr
    ends = set()
    for count, code in rows:
        folder = tmp_path / str(count)
        what, _ = Store(str(folder)).recover(resumable=False)
        found = shown(folder)
        assert found in (OLD, NEW), (count, what, sorted(found))
        assert found == NEW or code != 0
        ends.add((what, found == NEW))
        Store(str(folder)).lock("run-2", 2, "EXPANSION", AT)  # and the folder is free
    assert {("none", False), ("rolled back", False), ("finished", True), ("none", True)} <= ends


def test_a_commit_that_was_interrupted_can_be_finished_twice(tmp_path: Path) -> None:
    """ALPH-48: `finish` is idempotent, and so is the commit of one run."""
    store = Store(str(old(tmp_path)))
    store.lock("run-1", 2, "EXPANSION", AT)
    store.open_staging("run-1", "d", AT)
    store._prepare("run-1", CHANGE)
    shutil.copytree(tmp_path / STAGING, tmp_path / "kept")
    store.finish()
    shutil.move(tmp_path / "kept", tmp_path / STAGING)
    store.finish()
    store.commit("run-1", CHANGE)
    assert NEW == shown(tmp_path)


@pytest.mark.parametrize("what", ["event", "manifest", "missing", "foreign"])
def test_staged_files_that_do_not_match_their_hashes_are_rolled_back(
    tmp_path: Path, what: str
) -> None:
    """ALPH-47, 70, C-24: it is resumed only where everything staged is what the manifest says."""
    store = Store(str(old(tmp_path)))
    store.lock("run-1", 2, "EXPANSION", AT)
    store.open_staging("run-1", "d", AT)
    store.stage("expansion-1-after_proposer", {"n": 1})
    _of_a_dead_process(tmp_path)
    assert ("resume", "run-1") == store.recover()
    staged = tmp_path / STAGING
    if what == "event":
        (staged / "000.json").write_text('{"n": 2}\n')
    elif what == "manifest":
        (staged / "manifest.json").write_text("{")
    elif what == "missing":
        (staged / "000.json").unlink()
    else:
        (staged / "manifest.json").write_text(
            (staged / "manifest.json").read_text().replace("run-1", "run-9")
        )
    assert ("rolled back", "run-1") == store.recover()
    assert OLD == shown(tmp_path)


def _of_a_dead_process(folder: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    text = (folder / LOCK).read_text()
    (folder / LOCK).write_text(text.replace(f"pid: {os.getpid()}", f"pid: {dead.pid}"))


@pytest.mark.parametrize(
    "text", ["", "{", "iteration_lock: 3\n", "iteration_lock:\n  pid: x\n", "\0\xff"]
)
def test_a_lock_that_cannot_be_read_is_rolled_back(tmp_path: Path, text: str) -> None:
    """ALPH-47."""
    old(tmp_path)
    (tmp_path / LOCK).write_text(text, "latin-1")
    assert ("rolled back", "") == Store(str(tmp_path)).recover()
    assert OLD == shown(tmp_path)


def test_a_lock_of_a_process_that_lives_is_respected(tmp_path: Path) -> None:
    """ALPH-46: by its number and when it began; a number that was given again is another process."""
    store = Store(str(old(tmp_path)))
    store.lock("run-1", 2, "EXPANSION", AT)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        from fdc_packs.alphabet.iteration_lock import began

        mine = (tmp_path / LOCK).read_text()
        theirs = mine.replace(f"pid: {os.getpid()}", f"pid: {other.pid}")
        theirs = theirs.replace(f'"{began(os.getpid())}"', f'"{began(other.pid)}"')
        (tmp_path / LOCK).write_text(theirs)
        with pytest.raises(Busy, match=str(other.pid)):
            store.recover()
        with pytest.raises(Busy):
            store.lock("run-2", 2, "EXPANSION", AT)
        (tmp_path / LOCK).write_text(theirs.replace(f'"{began(other.pid)}"', '"12"'))
        assert "rolled back" == store.recover(resumable=False)[0]
    finally:
        other.communicate()


def test_a_snapshot_is_never_written_again_and_nothing_leaves_the_folder(tmp_path: Path) -> None:
    """ALPH-37; and a refused commit has changed nothing."""
    store = Store(str(old(tmp_path)))
    (tmp_path / "alphabet/versions/v0.1.0").mkdir(parents=True)
    (tmp_path / "alphabet/versions/v0.1.0/index.yaml").write_text("first\n")
    (tmp_path / "link").symlink_to(tmp_path.parent)
    before = shown(tmp_path)
    for path in (
        "alphabet/versions/v0.1.0/index.yaml",
        "../out",
        "/out",
        "a/../../out",
        "link/out",
        ".fdc/x",
        "fdc.toml",
    ):
        store.lock("run-1", 2, "EXPANSION", AT)
        store.open_staging("run-1", digest({}), AT)
        with pytest.raises(Refused):
            store.commit("run-1", {**CHANGE, "files": {**NEW, path: "second\n"}})
        store.roll_back()
        assert before == shown(tmp_path), path


# Whole processes


def run(folder: Path, *more: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return fdc("alphabet", "run", *more, cwd=folder, env=env)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tree after two iterations that nothing disturbed."""
    folder = made(tmp_path_factory.mktemp("whole") / "a", CONFIG)
    with answering(good) as (_, env):
        done = run(folder, "--iterations", "2", env=env)
    assert 0 == done.returncode, done.stderr
    return tree(folder)


@pytest.mark.long
@pytest.mark.parametrize(
    "role",
    [
        "critic",
        pytest.param("proposer", marks=pytest.mark.soak),
        pytest.param("refiner", marks=pytest.mark.soak),
    ],
)
def test_killed_while_a_role_answers_it_goes_on_and_ends_the_same(
    tmp_path: Path, role: str, uninterrupted: dict[str, bytes]
) -> None:
    """ALPH-01, 04, 46, 47: SIGKILL of the real process; what was answered is not asked again."""
    folder = made(tmp_path / "a", CONFIG)
    asked: list[str] = []
    child: subprocess.Popen[bytes] | None = None

    def deadly(which: str, body: dict[str, Any]) -> str | Item:
        asked.append(which)
        if which == role and asked.count(role) == 1:
            assert child is not None
            held = (folder / LOCK).read_text()
            assert "IN_PROGRESS" in held and f"pid: {child.pid}" in held
            child.send_signal(signal.SIGKILL)
            child.wait()
            return broken("hang-up")
        return good(which, body)

    with answering(deadly) as (_, env):
        argv = [sys.executable, str(ROOT / "tooling/fdc_cli.py"), "alphabet", "run"]
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env=clean_environment(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert -signal.SIGKILL == child.wait(timeout=PATIENCE)
        status = fdc("alphabet", "status", cwd=folder).stdout
        assert "iteration 1 is interrupted; continue with `fdc alphabet run`" in status
        assert "iteration 0, version 0.0.0, 0 primitives" in status
        done = run(folder, "--iterations", "2", env=env)
        assert 0 == done.returncode and "continuing an interrupted iteration" in done.stderr, (
            done.stderr
        )
    assert uninterrupted == tree(folder)
    assert [role] == [one for one in ("proposer", "critic", "refiner") if asked.count(one) == 3]


def test_a_second_process_is_refused_while_the_first_is_at_work(tmp_path: Path) -> None:
    """ALPH-46: two processes on one folder."""
    folder = made(tmp_path / "a", CONFIG)
    second: list[subprocess.CompletedProcess[str]] = []

    def watching(role: str, body: dict[str, Any]) -> str:
        if not second:
            second.append(process("alphabet", "run", cwd=folder, env=env))
        return good(role, body)

    with answering(watching) as (_, env):
        first = run(folder, env=env)
    assert 0 == first.returncode, first.stderr
    assert 3 == second[0].returncode and "another process" in second[0].stderr
    assert "1 iteration" in fdc("alphabet", "check", cwd=folder).stdout


def test_a_provider_that_is_away_leaves_a_checkpoint_and_the_same_command_goes_on(
    tmp_path: Path,
) -> None:
    """ALPH-59: retried, then given up with everything kept."""
    folder = made(tmp_path / "a", CONFIG)
    away = [True]
    asked: list[str] = []

    def flaky(role: str, body: dict[str, Any]) -> str | Item:
        asked.append(role)
        return fault(529) if away[0] and role == "critic" else reply(good(role, body))

    with answering(flaky) as (_, env):
        done = run(folder, env=env)
        assert 3 == done.returncode and "fdc alphabet run" in done.stderr, done.stderr
        assert 2 == asked.count("critic")  # retry_attempts
        assert (folder / LOCK).exists() and "0 primitives" in fdc(
            "alphabet", "status", cwd=folder
        ).stdout
        away[0] = False
        done = run(folder, env=env)
    assert 0 == done.returncode, done.stderr
    assert (
        1 == asked.count("proposer")
        and not (folder / LOCK).exists()
        and not (folder / STAGING).exists()
    )


def test_a_damaged_state_file_is_put_back_and_kept_aside(tmp_path: Path) -> None:
    """ALPH-70: from the last commit, hash by hash."""
    folder = made(tmp_path / "a", CONFIG)
    with answering(good) as (_, env):
        assert 0 == run(folder, env=env).returncode
        before = tree(folder)
        (folder / "reasoning/iteration_state.yaml").write_text(
            "iteration_state: {phase: COMPLETENESS_CONFIRMED}\n"
        )
        said = fdc("alphabet", "check", cwd=folder)
        assert (
            1 == said.returncode
            and "`phase`" in said.stdout
            and "COMPLETENESS_CONFIRMED" in said.stdout
        )
        done = run(folder, env=env)
    assert (
        0 == done.returncode
        and "as the last complete iteration left them: reasoning/iteration_state.yaml"
        in done.stderr
    )
    kept = (folder / ".fdc/alphabet/damaged/reasoning/iteration_state.yaml").read_text()
    assert "COMPLETENESS_CONFIRMED" in kept and before.keys() < tree(folder).keys()


def test_files_that_change_under_an_iteration_stop_it(tmp_path: Path) -> None:
    """ALPH-03: what was read is what is committed upon."""
    folder = made(tmp_path / "a", CONFIG)

    def meddling(role: str, body: dict[str, Any]) -> str:
        path = folder / "reasoning/rejected/rejected_candidates.yaml"
        path.write_text(path.read_text() + "# mine\n")
        return good(role, body)

    with answering(meddling) as (_, env):
        done = run(folder, env=env)
    assert 1 == done.returncode and "were changed while the iteration was under way" in done.stderr
    assert (
        not (folder / LOCK).exists()
        and "# mine" in (folder / "reasoning/rejected/rejected_candidates.yaml").read_text()
    )
    assert not (folder / "reasoning/logs/iteration_001").exists()
