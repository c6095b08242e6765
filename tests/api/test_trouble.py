"""The API against the world: threads, two folders, paths, broken files, names of nothing. What fails is an FdcError."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest
from fdc_toolchain import api
from fdc_toolchain.workspace import run_folders

from tests.support import process
from tests.support.plans import CLEAN

ASKS = """param who
set_plan Greet
plan_step_complete ready
name <- request_user_input Who is {who}?
record_user_approval_for_plan {name}
overwrite_file_with_block hello.txt
    hello {name}
message_user done
close_task
submit
"""
WRITES = """set_plan Write
plan_step_complete ready
overwrite_file_with_block {path}
    {text}
close_task
submit
"""


def made(folder: Path, **files: str) -> Path:
    """A workspace with files; `a_plan` is `a.plan`."""
    (folder / "knowledge_core").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs" / "tea.md").write_text("Tea.\n", "utf-8")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made(tmp_path / "home", clean_plan=CLEAN, asks_plan=ASKS)


def process_state() -> dict[str, object]:
    """What every part of a process shares."""
    umask = os.umask(0o22)
    os.umask(umask)
    environment = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {
        "working folder": os.getcwd(),
        "environment": environment,
        "recursion": sys.getrecursionlimit(),
        "import path": [*sys.path],
        "umask": umask,
        "signals": [
            signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ],
        "warnings": [*warnings.filters],
        "logging": logging.root.level,
        "threads": {*threading.enumerate()},
    }


@pytest.fixture(autouse=True)
def nothing_changes(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Whatever is called: nothing is printed, and the process is as it was."""
    before = process_state()
    yield
    assert before == process_state()
    assert ("", "") == tuple(capfd.readouterr())


# Plans


@pytest.mark.parametrize("form", ["relative", "absolute", "path", "dotted", "through a link"])
def test_a_plan_has_one_key_however_its_path_is_written(home: Path, form: str) -> None:
    link = home.parent / "link"
    link.symlink_to(home)
    plan: Path | str = {
        "relative": "clean.plan", "absolute": str(home / "clean.plan"), "path": home / "clean.plan",
        "dotted": "./docs/../clean.plan", "through a link": str(link / "clean.plan"),
    }[form]  # fmt: skip
    found = api.check(plan, workspace=home)
    assert ("clean.plan", "proved", ()) == (found.plan, found.verdict, found.diagnostics)
    assert "clean.plan" == api.check("clean.plan", workspace=link).plan
    assert "clean.plan" == api.check(home / "clean.plan", workspace=link).plan


def test_a_relative_path_counts_from_the_workspace_and_not_from_the_working_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "only-here.plan").write_text("raed_file x\n", "utf-8")
    (elsewhere / "clean.plan").write_text("raed_file x\n", "utf-8")
    with monkeypatch.context() as moved:
        moved.chdir(elsewhere)
        assert "proved" == api.check("clean.plan", workspace=home).verdict
        assert "proved" == api.check("clean.plan", workspace="../home").verdict
        with pytest.raises(api.NotFound, match=r"no plan `only-here\.plan`"):
            api.check("only-here.plan", workspace=home)
        with pytest.raises(api.NotFound):
            api.begin("only-here.plan", workspace=home)
        run = api.begin("clean.plan", workspace=home)
        assert "finished" == api.drive(run, workspace=home).status
    assert {"only-here.plan", "clean.plan"} == {path.name for path in elsewhere.iterdir()}


def test_a_working_folder_that_is_gone_is_no_trouble(home: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = f"""
import os
os.rmdir(os.getcwd())
from fdc_toolchain import api
print(api.check("clean.plan", workspace={str(home)!r}).verdict)
print(api.drive(api.begin("clean.plan", workspace={str(home)!r}), workspace={str(home)!r}).status)
try:
    api.check("clean.plan", workspace=".")
except api.WorldTrouble as trouble:
    print(trouble)
"""
    done = process.run([sys.executable, "-c", program], cwd=gone)
    said = ["proved", "finished", "no such file or directory"]
    assert (0, said, "") == (done.returncode, done.stdout.splitlines(), done.stderr)


TAKES_PLANS: dict[str, Callable[[str, Path], object]] = {
    "check": lambda plan, folder: api.check(plan, workspace=folder),
    "fix": lambda plan, folder: api.fix(plan, workspace=folder),
    "compile_plan": lambda plan, folder: api.compile_plan(plan, workspace=folder),
    "bounds": lambda plan, folder: api.bounds(plan, workspace=folder),
    "begin": lambda plan, folder: api.begin(plan, workspace=folder),
}
TAKES_RUNS: dict[str, Callable[[str, Path], object]] = {
    "drive": lambda run, folder: api.drive(run, workspace=folder),
    "resume": lambda run, folder: api.resume(run, workspace=folder),
    "answer": lambda run, folder: api.answer(run, "yes", workspace=folder),
    "show": lambda run, folder: api.show(run, workspace=folder),
}


NO_PLANS = [
    "",
    "no.plan",
    "docs",
    "no/such/x.plan",
    "x" * 5000,
    "a\0b",
    "a\ud800b",
    "/dev/null",
    "../home",
]


@pytest.mark.parametrize("plan", NO_PLANS)
@pytest.mark.parametrize("name", TAKES_PLANS)
def test_a_plan_that_is_not_there_is_not_found(home: Path, name: str, plan: str) -> None:
    with pytest.raises(api.NotFound, match="there is no plan"):
        TAKES_PLANS[name](plan, home)


@pytest.mark.parametrize("run", ["", "no-such-run", "last", "a/b", "../x", "%", "a\0b", "a\ud800b"])
@pytest.mark.parametrize("name", TAKES_RUNS)
def test_a_run_that_is_not_there_is_not_found(home: Path, name: str, run: str) -> None:
    with pytest.raises(api.NotFound, match="no run begins with"):
        TAKES_RUNS[name](run, home)
    assert not (home / ".fdc").exists()


@pytest.mark.parametrize("name", [*TAKES_PLANS, *TAKES_RUNS])
@pytest.mark.parametrize("folder", ["nowhere", "file", "a\0b", "a\ud800b"])
def test_a_workspace_that_is_not_there_is_not_found(home: Path, name: str, folder: str) -> None:
    (home / "file").write_text("x", "utf-8")
    call = TAKES_PLANS.get(name) or TAKES_RUNS[name]
    with pytest.raises(api.NotFound, match="is not a folder"):
        call("clean.plan", home / folder)


def test_a_rule_that_is_not_there_is_not_found() -> None:
    with pytest.raises(api.NotFound, match="did you mean `FDC301`"):
        api.explain("FDC30l")
    assert ("FDC301", "error") == (lambda found: (found.code, found.severity))(
        api.explain("unknown-tool")
    )


def test_bytes_that_are_not_utf_8_are_a_finding_and_are_not_repaired(home: Path) -> None:
    (home / "latin.plan").write_bytes(b"set_plan caf\xe9\n")
    found = api.check("latin.plan", workspace=home)
    assert "error" == found.verdict and ("FDC101", 1, 13) in [
        (item.code, item.span.line, item.span.column) for item in found.errors
    ]
    with pytest.raises(api.InvalidInput, match=r"`latin.plan` is not UTF-8 text \(byte 12\)"):
        api.fix("latin.plan", workspace=home)
    with pytest.raises(api.PlanRefused) as refused:
        api.begin("latin.plan", workspace=home)
    assert "FDC101" in [item.code for item in refused.value.result.errors]
    assert "error" == api.check("x.plan", text="set_plan \ud800\n", workspace=home).verdict
    with pytest.raises(api.InvalidInput, match="not UTF-8"):
        api.fix("x.plan", text="set_plan \ud800\n", workspace=home)


def test_settings_that_are_wrong_are_invalid_input(home: Path) -> None:
    (home / "fdc.toml").write_text("fsm = 3\n", "utf-8")
    for call in TAKES_PLANS.values():
        with pytest.raises(api.InvalidInput, match=r"fdc\.toml: `fsm` takes a text"):
            call("clean.plan", home)


def test_files_that_cannot_be_read_are_trouble_of_the_world(home: Path) -> None:
    (home / "fdc.toml").mkdir()
    with pytest.raises(api.FdcError, match=r"fdc\.toml cannot be read"):
        api.check("clean.plan", workspace=home)


def test_a_text_stands_for_a_file_that_need_not_be_there(home: Path) -> None:
    found = api.check("new.plan", text=CLEAN.replace("read_file", "raed_file"), workspace=home)
    (item,) = found.errors
    assert ("new.plan", "FDC301", 5, 1, 5, 10) == (
        found.plan, item.code, item.span.line, item.span.column, item.span.end_line, item.span.end_column
    )  # fmt: skip
    assert item.fix is not None
    done = api.apply_fixes(CLEAN.replace("read_file", "raed_file"), [item.fix])
    assert (CLEAN, (item.fix,)) == (done.text, done.applied)
    assert (
        not (home / "new.plan").exists()
        and "proved" == api.check("clean.plan", workspace=home).verdict
    )
    assert "error" == api.check("clean.plan", text="raed_file x\n", workspace=home).verdict


def test_texts_that_are_not_saved_count_for_the_plans_that_call_them(home: Path) -> None:
    text = CLEAN.replace("read_file docs/tea.md", "call_plan part.plan")
    assert "error" == api.check("outer.plan", text=text, workspace=home).verdict
    part = {str(home / "part.plan"): "read_file docs/tea.md\n"}
    found = api.check("outer.plan", text=text, unsaved=part, workspace=home)
    assert "proved" == found.verdict, found.errors
    (call,) = found.calls
    assert ("part.plan", "part.plan", 5) == (call.name, call.target, call.span.line)
    assert "fragment" == api.check("part.plan", unsaved=part, workspace=home).verdict
    assert "error" == api.check("part.plan", unsaved=part, workspace=home, whole=True).verdict


def test_fixes_that_do_not_fit_are_left_out() -> None:
    def place(line: int) -> api.Span:
        return api.Span(path="p", line=line, column=1, end_line=line, end_column=3)

    good = api.Fix(title="a", edits=(api.Edit(span=place(1), replacement="xy"),), safe=True)
    same = api.Fix(title="b", edits=(api.Edit(span=place(1), replacement="z"),), safe=True)
    gone = api.Fix(title="c", edits=(api.Edit(span=place(9), replacement="z"),), safe=True)
    done = api.apply_fixes("ab\r\ncd", [good, same, gone])
    assert ("xy\r\ncd", (good,)) == (done.text, done.applied)


def test_bounds_are_formulas_and_numbers(home: Path) -> None:
    text = CLEAN.replace("read_file docs/tea.md", "for_each_file docs/*.md\n  read_file {file1}")
    found = api.bounds("loop.plan", text=text, workspace=home)
    assert ("|docs/*.md| + 4", 5) == (found.steps.formula, found.steps.number), found
    assert (1, False, False) == (found.degree, found.writes, found.shell)
    with pytest.raises(api.PlanRefused, match="FDC301"):
        api.bounds("loop.plan", text="raed_file x\n", workspace=home)


def test_a_program_is_its_json(home: Path) -> None:
    from hashlib import blake2b

    program = api.compile_plan("clean.plan", workspace=home)
    assert program.hash == blake2b(program.json.encode("ascii"), digest_size=32).hexdigest()
    assert "clean.plan" == json.loads(program.json)["root"]
    assert json.loads(json.dumps(asdict(program)))["hash"] == program.hash


# Runs


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
    with pytest.raises(api.InvalidInput, match="asks nothing at `main/9`"):
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
    with pytest.raises(api.RunRefused, match="waits for no answer"):
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


def test_a_command_of_a_run_begins_drives_and_answers_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FDC-37: as on the command line."""
    run = api.begin("clean.plan", workspace=home)
    with monkeypatch.context() as inside:
        inside.setenv("FDC_RUN", "outer")
        for call in (
            TAKES_PLANS["begin"],
            *(TAKES_RUNS[name] for name in ("drive", "resume", "answer")),
        ):
            with pytest.raises(api.RunRefused, match="a command of the run outer may not"):
                call("clean.plan", home)
        assert "new" == api.show(run, workspace=home).status


def test_a_journal_that_is_damaged_is_trouble_of_the_world(home: Path) -> None:
    run = api.begin("clean.plan", workspace=home)
    Path(run_folders.journal_path(str(home))).write_bytes(b"no database" * 1000)
    for call in TAKES_RUNS.values():
        with pytest.raises(api.WorldTrouble):
            call(run, home)
    with pytest.raises(api.WorldTrouble):
        api.runs(workspace=home)


# Threads


def test_many_threads_in_two_folders_do_not_meet(tmp_path: Path) -> None:
    folders = [made(tmp_path / name, clean_plan=CLEAN, asks_plan=ASKS) for name in ("one", "two")]
    (folders[1] / "docs" / "tea.md").unlink()

    def work(number: int) -> tuple[str, ...]:
        folder = folders[number % 2]
        verdict = api.check("clean.plan", workspace=folder).verdict
        plan = WRITES.format(path=f"out-{number}.txt", text=number)
        (folder / f"w{number}.plan").write_text(plan, "utf-8")
        run = api.begin(f"w{number}.plan", workspace=folder)
        return verdict, api.drive(run, workspace=folder).status, api.explain("FDC301").rule

    with ThreadPoolExecutor(8) as pool:
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


def test_threads_of_one_program_are_in_each_other_s_way_where_they_write_the_same(
    home: Path,
) -> None:
    (home / "same.plan").write_text(WRITES.format(path="hello.txt", text="other"), "utf-8")
    (home / "else.plan").write_text(WRITES.format(path="else.txt", text="other"), "utf-8")
    run = api.begin("asks.plan", workspace=home, inputs={"who": "there"})
    early = api.begin("same.plan", workspace=home)
    held = Held()
    with ThreadPoolExecutor(1) as pool:
        driving = pool.submit(api.drive, run, workspace=home, watcher=held)
        assert held.there.wait(60)
        with pytest.raises(api.RunBusy, match=r"hello\.txt"):
            api.begin("same.plan", workspace=home)
        with pytest.raises(api.RunBusy, match=r"hello\.txt"):
            api.drive(early, workspace=home)
        assert (
            "finished" == api.drive(api.begin("else.plan", workspace=home), workspace=home).status
        )
        held.go.set()
        driving.result(60)
    assert "finished" == api.drive(early, workspace=home).status


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
