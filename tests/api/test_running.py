"""Runs through the API: begun, driven, answered; threads, two folders at once, Ctrl-C, notices, bugs."""

from __future__ import annotations

import json
import logging
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest
from fdc_toolchain import api
from fdc_toolchain.program.causes import CAUSES

from tests.support import process
from tests.support.background import wait_for
from tests.support.plans import CLEAN
from tests.support.process import fdc
from tests.support.workspaces import ASKS, WRITES, made


def test_a_run_waits_is_answered_and_ends(home: Path) -> None:
    seen: list[str] = []

    class Watching(api.Watcher):
        def ended(self, step: api.Step) -> None:
            seen.append(f"{step.tool} {step.status}")

        def say(self, text: str) -> None:
            seen.append(text)

    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    assert "new" == api.show(run, workspace=home).status
    waiting = api.drive(run, workspace=home)
    (question,) = waiting.questions
    assert ("waiting", "Who is there?", False) == (waiting.status, question.text, question.approval)
    assert question in api.show(run, workspace=home).questions
    with pytest.raises(api.InvalidInput, match="has no question at `main/9`"):
        api.answer(run, "you", address="main/9", workspace=home)
    with pytest.raises(api.RunRefused, match="asks something else at main/3"):
        api.answer(run, "you", seen="0" * 32, workspace=home)
    with pytest.raises(api.InvalidInput, match="not UTF-8"):
        api.answer(run, "\ud800", workspace=home)
    assert "you" == api.answer(run, "you", seen=question.seen, workspace=home).given
    second = api.resume(run, workspace=home)
    (approval,) = second.questions
    assert approval.approval and any("you" in line for line in approval.screen), approval
    with pytest.raises(api.RunRefused, match="asks something else"):
        api.answer(run, "yes", seen=question.seen, workspace=home)
    with pytest.raises(api.InvalidInput, match="answered with yes or no"):
        api.resume(run, answers={approval.address: "perhaps"}, workspace=home)
    with pytest.raises(api.InvalidInput, match="nothing to assume"):
        api.resume(run, assume={approval.address: "done"}, workspace=home)
    ended = api.resume(run, answers={approval.address: "yes"}, workspace=home, watcher=Watching())
    assert ("finished", ("hello.txt",), ("done",)) == (ended.status, ended.wrote, ended.said)
    assert "hello you\n" == (home / "hello.txt").read_text("utf-8")
    assert "done" in seen and "overwrite_file_with_block done" in seen
    state = api.show(run[:-2], workspace=home)
    assert ("finished", True, "ours", {"who": "there"}) == (
        state.status, state.whole, state.seal, state.inputs
    )  # fmt: skip
    assert {"done"} == {step.status for step in state.steps}
    (row,) = api.runs(workspace=home, status="finished")
    assert (run, len(state.steps)) == (row.run, row.steps) and () == api.runs(
        workspace=home, status="new"
    )
    with pytest.raises(api.RunRefused, match="has no question"):
        api.answer(run, "you", workspace=home)
    json.dumps([asdict(one) for one in (waiting, ended, state, row)])


def test_a_watcher_answers_at_once_and_its_own_faults_are_logged(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Helpful(api.Watcher):
        def ask(self, question: str, screen: tuple[str, ...]) -> str | None:
            return "yes" if "approve" in question else "you"

    class Broken(api.Watcher):
        def began(self, step: api.Step) -> None:
            raise ValueError("a fault of the watcher")

        def ask(self, question: str, screen: tuple[str, ...]) -> str | None:
            raise ValueError("a fault of the watcher")

    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    assert "waiting" == api.drive(run, workspace=home, watcher=Broken()).status
    told = [record for record in caplog.records if record.name == "fdc"]
    assert told and all(record.exc_info for record in told)
    assert "finished" == api.resume(run, workspace=home, watcher=Helpful()).status


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"inputs": {}}, api.InvalidInput, "the plan needs `who=VALUE`"),
        ({"inputs": {"who": "x", "why": "y"}}, api.InvalidInput, "no parameter `why`"),
        ({"inputs": {"who": "\ud800"}}, api.InvalidInput, "not UTF-8"),
        ({"inputs": {"who": "x"}, "budget": {"setps": 1}}, api.InvalidInput, "`setps` is not a measure"),
        ({"inputs": {"who": "x"}, "budget": {"seconds": 0}}, api.InvalidInput, "0 seconds is used up"),
        ({"inputs": {"who": "x"}, "budget": {"steps": -1}}, api.InvalidInput, "cannot be -1"),
        ({"inputs": {"who": "x"}, "budget": {"steps": float("nan")}}, api.InvalidInput, "cannot be nan"),
        ({"inputs": {"who": "x"}, "task": "T-0"}, api.InvalidInput, "the task `T-0` is not open"),
    ],
)  # fmt: skip
def test_wrong_inputs_begin_nothing(
    home: Path, given: dict[str, dict[str, str]], kind: type[api.FdcError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        api.begin("asks.plan", workspace=home, **given)  # type: ignore[arg-type]
    assert () == api.runs(workspace=home)


def test_a_stop_has_a_cause_of_the_closed_list(home: Path) -> None:
    plan = 'param who\nset_plan x\nplan_step_complete y\nrequire who == "x" else "no"\nclose_task\nsubmit\n'
    (home / "gate.plan").write_text(plan, "utf-8")
    run = api.begin("gate.plan", workspace=home, inputs={"who": "y"})
    ended = api.drive(run, workspace=home)
    assert ended.stop is not None and ("require", "gate") == (ended.stop.kind, ended.stop.cause)
    assert api.show(run, workspace=home).stop == ended.stop
    assert get_args(api.Cause) == CAUSES


# Threads


def test_many_threads_in_two_folders_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [made(tmp_path / name, clean_plan=CLEAN, asks_plan=ASKS) for name in ("one", "two")]
    (folders[1] / "docs" / "tea.md").unlink()

    def work(number: int) -> tuple[str, ...]:
        folder = folders[number % 2]
        verdict = api.check("clean.plan", workspace=folder).verdict
        plan = WRITES.format(path=f"out-{number}.txt", text=number)
        (folder / f"w{number}.plan").write_text(plan, "utf-8")
        run = api.begin(f"w{number}.plan", workspace=folder)
        return verdict, api.drive(run, workspace=folder).status, api.explain("FDC301").rule

    with monkeypatch.context() as first, ThreadPoolExecutor(8) as pool:
        first.setenv(
            "XDG_STATE_HOME", str(tmp_path / "state")
        )  # the key that seals runs is made here
        found = list(pool.map(work, range(16)))
    assert [
        ("proved" if number % 2 == 0 else "error", "finished", "unknown-tool")
        for number in range(16)
    ] == found
    for number in range(16):
        assert f"{number}\n" == (folders[number % 2] / f"out-{number}.txt").read_text("utf-8")
    assert [8, 8] == [len(api.runs(workspace=folder, status="finished")) for folder in folders]


class Held(api.Watcher):
    """Keeps a run where it asks, until it is let go."""

    def __init__(self) -> None:
        self.there, self.go = threading.Event(), threading.Event()

    def ask(self, question: str, screen: tuple[str, ...]) -> str | None:
        self.there.set()
        assert self.go.wait(60)
        return None


def test_of_two_threads_one_drives_a_run(home: Path) -> None:
    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    held = Held()
    with ThreadPoolExecutor(1) as pool:
        driving = pool.submit(api.drive, run, workspace=home, watcher=held)
        assert held.there.wait(60)
        with pytest.raises(api.RunBusy, match="is being driven by"):
            api.drive(run, workspace=home)
        assert "running" == api.show(run, workspace=home).status
        held.go.set()
        assert "waiting" == driving.result(60).status


def test_a_run_is_cancelled_whoever_drives_it(home: Path) -> None:
    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    held = Held()
    with ThreadPoolExecutor(2) as pool:
        driving = pool.submit(api.drive, run, workspace=home, watcher=held)
        assert held.there.wait(60)
        with pytest.raises(api.RunBusy, match="has not stopped yet"):
            api.cancel(run, workspace=home, seconds=0)
        cancelling = pool.submit(api.cancel, run, workspace=home)
        held.go.set()
        assert driving.result(60).status in ("waiting", "cancelled")
        cancelling.result(60)
    assert "cancelled" == api.show(run, workspace=home).status
    with pytest.raises(api.RunRefused, match="was cancelled"):
        api.drive(run, workspace=home)
    assert "waiting" == api.resume(run, workspace=home, force=True).status
    clean = api.begin("clean.plan", workspace=home)
    api.drive(clean, workspace=home)
    with pytest.raises(api.RunRefused, match="has ended"):
        api.cancel(clean, workspace=home)


def test_threads_of_one_program_are_in_each_other_s_way_where_they_write_the_same(
    home: Path,
) -> None:
    (home / "same.plan").write_text(WRITES.format(path="hello.txt", text="other"), "utf-8")
    (home / "else.plan").write_text(WRITES.format(path="else.txt", text="other"), "utf-8")
    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    early = api.begin("same.plan", workspace=home)
    at_once = api.begin("same.plan", workspace=home, at_once=True)
    held = Held()
    with ThreadPoolExecutor(1) as pool:
        driving = pool.submit(api.drive, run, workspace=home, watcher=held)
        assert held.there.wait(60)
        with pytest.raises(api.RunBusy, match=r"hello\.txt"):
            api.begin("same.plan", workspace=home)
        with pytest.raises(api.RunBusy, match=r"hello\.txt"):
            api.drive(early, workspace=home)
        with pytest.raises(api.RunBusy, match=r"hello\.txt"):
            api.drive(at_once, workspace=home)
        assert {run, early} == {row.run for row in api.runs(workspace=home)}
        assert (
            "finished" == api.drive(api.begin("else.plan", workspace=home), workspace=home).status
        )
        held.go.set()
        driving.result(60)
    assert "finished" == api.drive(early, workspace=home).status


def test_a_run_waits_for_one_that_is_in_its_way_and_says_so_to_the_logger(home: Path) -> None:
    (home / "same.plan").write_text(WRITES.format(path="hello.txt", text="other"), "utf-8")
    told = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("waiting: "):
                told.set()

    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    held, heard = Held(), Heard()
    logging.getLogger("fdc").addHandler(heard)
    try:
        with ThreadPoolExecutor(2) as pool:
            driving = pool.submit(api.drive, run, workspace=home, watcher=held)
            assert held.there.wait(60)
            later = api.begin("same.plan", workspace=home, wait=True)
            waiting = pool.submit(api.drive, later, workspace=home, wait=True)
            assert told.wait(60) and not waiting.done()
            held.go.set()
            assert "waiting" == driving.result(60).status
            assert "finished" == waiting.result(60).status
    finally:
        logging.getLogger("fdc").removeHandler(heard)


def test_ctrl_c_leaves_the_run_so_that_it_can_be_resumed(home: Path) -> None:
    program = f"""
import signal, sys, threading
from fdc_toolchain import api
class Slow(api.Watcher):
    def ask(self, question, screen):
        print("asking", flush=True)
        threading.Event().wait(1)
        return None
home = {str(home)!r}
run = api.begin("asks.plan", workspace=home, inputs={{"who": "there"}})
before = signal.getsignal(signal.SIGINT)
try:
    api.drive(run, workspace=home, watcher=Slow())
except KeyboardInterrupt:
    print(api.show(run, workspace=home).status, before is signal.getsignal(signal.SIGINT))
print(api.resume(run, workspace=home).status)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=process.clean_environment(),
    ) as child:  # fmt: skip
        assert child.stdout is not None and child.stderr is not None
        assert "asking\n" == child.stdout.readline()
        child.send_signal(signal.SIGINT)
        said, trouble = child.communicate(timeout=60)
    assert ("interrupted True\nwaiting\n", "") == (said, trouble)


def test_a_program_interrupts_a_run_from_another_thread_and_resumes_it(home: Path) -> None:
    (home / "slow.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session echo x >> log; test -e go || sleep 600\n"
        "close_task\nsubmit\n"
    )
    (home / "log").write_text("")
    run, leave = api.begin("slow.plan", workspace=home), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        driven = pool.submit(api.drive, run, workspace=home, leave=leave)
        wait_for(lambda: "x\n" == (home / "log").read_text())
        leave.set()
        assert "interrupted" == driven.result().status
    assert "interrupted" in [step.status for step in api.show(run, workspace=home).steps]
    (home / "go").write_text("")
    assert "finished" == api.resume(run, workspace=home).status
    assert "x\nx\n" == (home / "log").read_text()


def test_notices_go_to_the_logger_of_the_program_and_to_nobody_else(
    home: Path, tmp_path: Path
) -> None:
    """A key that cannot be kept is a notice; a program without handlers prints nothing of it."""
    program = f"""
import logging, sys
from fdc_toolchain import api
if len(sys.argv) > 1:
    logging.basicConfig(stream=sys.stdout, format="%(name)s %(levelname)s")
api.begin("clean.plan", workspace={str(home)!r})
"""
    (tmp_path / "file").write_text("no folder", "utf-8")
    env = {"XDG_STATE_HOME": str(tmp_path / "file")}
    silent = process.run([sys.executable, "-c", program], cwd=tmp_path, env=env)
    loud = process.run([sys.executable, "-c", program, "loud"], cwd=tmp_path, env=env)
    assert (0, "", "") == (silent.returncode, silent.stdout, silent.stderr)
    assert (0, "fdc WARNING\n", "") == (loud.returncode, loud.stdout, loud.stderr)


def test_a_bug_of_fdc_is_an_error_of_the_api_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "proved" == api.check("clean.plan", workspace=home).verdict
    import fdc_toolchain.check

    def broken(*given: object, **named: object) -> None:
        raise KeyError("planted")

    with monkeypatch.context() as planted:
        planted.setattr(fdc_toolchain.check, "judge", broken)
        with pytest.raises(api.InternalError, match="a bug of fdc: KeyError: 'planted'") as found:
            api.check("clean.plan", workspace=home)
    assert isinstance(found.value.__cause__, KeyError)


def test_the_limit_of_recursion_is_as_before_and_deep_plans_are_judged(home: Path) -> None:
    deep = "set_plan x\nplan_step_complete x\n" + "".join(
        "  " * depth + "iterate max 2\n" for depth in range(60)
    )
    text = deep + "  " * 60 + "read_file docs/tea.md\nclose_task\nsubmit\n"
    before = sys.getrecursionlimit()
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(api.check, "d.plan", text=text, workspace=home) for _ in range(4)]
        assert all(one.result().diagnostics is not None for one in found)
    assert before == sys.getrecursionlimit()


@pytest.mark.parametrize(("hours", "listed"), [(0, False), (-2, True), (48, True)])
def test_a_run_that_nobody_drives_is_stalled_also_where_the_clock_was_set_back(
    home: Path, hours: int, listed: bool
) -> None:
    """It seemed to begin in the future, and was not listed until then."""
    run = api.begin("clean.plan", workspace=home)
    with closing(sqlite3.connect(home / ".fdc" / "runs.sqlite")) as database:
        database.execute("UPDATE run SET started = started + ?", (hours * 3600,))
        database.commit()
    said = fdc("runs", "--stalled", "3600", cwd=home).stdout
    assert listed == (run in said), said
