"""The crash matrix: before and after every append and every effect of reference runs, the controller dies.

The journal is the real one, the tools are the real ones, the files are real; only the death is an
exception (`testing.CrashPoint`), so that hundreds fit into seconds. tests/fault/test_kill.py and
the last tests here kill real processes.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fdc_toolchain.console.compiling import compile_or_refuse
from fdc_toolchain.engine.drive import Ending, Ports, drive
from fdc_toolchain.engine.events import Outcome
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.replay import replay
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.testing import Crash, CrashPoint, FakeClock, Silence
from fdc_toolchain.tools.context import Context
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.files import Root

KEY = b"k" * 32


def _note(context: Context, log: str) -> None:
    handle = os.open(
        os.path.join(context.root.path, log), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
    )
    os.write(handle, f"{context.key}\n".encode())
    os.close(handle)


def deed(args: dict[str, Any], context: Context) -> Any:
    _note(context, "deeds.log")
    return {"name": args["name"], "list": ["x", "y", "z"]}


def keep(args: dict[str, Any], context: Context) -> Any:
    _note(context, "kept.log")
    return {"name": args["name"], "list": []}


def declared(effect: str) -> dict[str, Any]:
    return {
        "summary": "a deed", "action": "step_op", "effect": effect, "trust": "trusted",
        "parameters": [{"name": "name", "kind": "word"}], "result": {"name": "text", "list": "list"},
    }  # fmt: skip


HEAD = "set_plan x\nplan_step_complete x\n"
TAIL = "close_task\nsubmit\n"
PLANS = {
    "sequence": HEAD + "deed one\ncreate_file_with_block a.txt\n    first\nx <- read_file a.txt\n"
    "overwrite_file_with_block b.txt\n    {x}\nrename_file b.txt c.txt\nreplace_with_git_merge_diff c.txt\n"
    "    <<<<<<< SEARCH\n    first\n    =======\n    second\n    >>>>>>> REPLACE\nmessage_user done\n"
    "second <- deed two\ndelete_file a.txt\nkeep {second.name}\n" + TAIL,
    "calls": HEAD + "deed outer\ny <- call_plan inner.plan who=one\ncall_plan inner.plan who=two\n"
    "create_file_with_block out.txt\n    {y}\n" + TAIL,
    "loops": HEAD + "first <- deed one\nfor_each_file *.in\n    x <- read_file {file1}\n"
    "    overwrite_file_with_block {file1}\n        {x}!\n    deed {file1}\nfor item in {first.list} max 3\n"
    "    create_file_with_block {item}.txt\n        {item}\niterate max 2\n    deed turn\n" + TAIL,
    "forks": HEAD + "first <- deed one\ngot <- fork x in {first.list} max 3\n    done <- deed branch-{x}\n"
    "    create_file_with_block {x}.txt\n        {x}\n    call_plan inner.plan who={x}\n    yield {done.name}\n"
    "create_file_with_block out.txt\n    {got}\n" + TAIL,
    "kept": HEAD + "first <- deed one\ngot <- fork x in {first.list} max 3 keep failures\n    done <- deed branch-{x}\n"
    "    yield {done.name}\n    require x != \"y\" else \"not y\"\n    if x == \"z\"\n        read_file none-{x}.txt\n"
    "    create_file_with_block {x}.txt\n        {x}\ncreate_file_with_block out.txt\n    {got}\ndeed last\n" + TAIL,
    "asks": HEAD + "a <- request_user_input which?\nf <- deed {a}\nfork x in {f.list} max 3\n"
    "    b <- request_user_input for {x}?\n    create_file_with_block {x}-{b}.txt\n        {b}\n"
    "record_user_approval_for_plan\ndeed last\n" + TAIL,
}  # fmt: skip
INNER = "param who\ndeed in-{who}\ncreate_file_with_block in-{who}.txt\n    {who}\nx <- read_file in-{who}.txt\nyield {x}\n"


class Matrix(NamedTuple):
    """A workspace to copy, and the programs of its plans."""

    folder: Path
    programs: dict[str, dict[str, Any]]


class End(NamedTuple):
    """All that must be the same whenever the controller died."""

    ending: Ending
    outcomes: dict[str, Any]
    files: dict[str, bytes]
    deeds: Counter[str]


@pytest.fixture(scope="module")
def matrix() -> Iterator[Matrix]:
    """In memory where the machine can do that: these are hundreds of synced commits."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fdc-matrix-", dir=where) as made:
        folder = Path(made, "w")
        folder.mkdir()
        (folder / "knowledge_core").mkdir()
        tools = {"deed": declared("once"), "keep": declared("idempotent")}
        (folder / "fdc_tools.json").write_text(
            json.dumps({"format": 1, "name": "own", "tools": tools})
        )
        (folder / "inner.plan").write_text(INNER)
        (folder / "a.in").write_text("a\n")
        (folder / "b.in").write_text("b\n")
        programs = {}
        for name, text in PLANS.items():
            (folder / f"{name}.plan").write_text(text)
            program = compile_or_refuse(str(folder / f"{name}.plan"), str(folder))
            assert program is not None, name
            programs[name] = program
        yield Matrix(folder, programs)


class Runner:
    """One run in a copy of the workspace, driven by one controller after another."""

    def __init__(self, matrix: Matrix, plan: str, room: int) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=matrix.folder.parent))
        shutil.copytree(matrix.folder, self.folder, dirs_exist_ok=True)
        (self.folder / ".fdc" / "r").mkdir(parents=True)
        self.program, self.room = matrix.programs[plan], room
        self.path = str(self.folder.parent / f"{self.folder.name}.sqlite")
        with closing(Store(self.path, KEY)) as store:
            store.create("r", plan, self.program, {"builtin": {"run": "runs/r"}}, 1.0)

    def drive(self, point: CrashPoint, **options: Any) -> Ending:
        """A controller, from taking the run over to the end of its driving or of itself."""
        answers = options.pop("answers", {})
        with closing(Store(self.path, KEY)) as store:
            row = store.run("r")
            assert row is not None
            journal = store.claim(row)
            bench = Workbench(
                run="r", root=(root := Root(str(self.folder), ())), run_folder=str(self.folder / ".fdc" / "r"),
                say=lambda text: None, ask=lambda question: None, answers=answers, shell_seconds=5.0,
                overrides={"deed": deed, "keep": keep},
            )  # fmt: skip
            tools = point.tools(LocalTools(self.program, bench))
            state = fold(self.program, row.inputs, journal.records)
            before = os.getcwd()
            os.chdir(self.folder)
            try:
                ports = Ports(point.journal(journal), tools, FakeClock(), Silence())
                return drive(self.program, state, ports, room=self.room, **options)
            finally:
                os.chdir(before)
                root.close()

    def finish(self, point: CrashPoint | None = None) -> Ending:
        """Drives until the run ends, over several controllers; who is asked what happened looks at the witness."""
        options: dict[str, Any] = {"answers": {}, "assume": {}}
        for _ in range(12):
            ending = self.drive(point or CrashPoint(), **options)
            if ending.status != "waiting":
                return ending
            for question in ending.questions:
                effect = question.effect
                if question.how == "answer":
                    options["answers"][effect.address] = (
                        "yes" if effect.tool.startswith("record") else "tea"
                    )
                elif effect.tool == "deed" and self.deeds()[f"r:{effect.address}"]:
                    name = effect.args["name"]
                    options["assume"][effect.address] = Outcome(
                        {"name": name, "list": ["x", "y", "z"]}
                    )
                else:
                    options["assume"][effect.address] = "not-done"
        raise AssertionError("the run does not end")

    def deeds(self) -> Counter[str]:
        """How often each deed really happened, by its idempotency key."""
        log = self.folder / "deeds.log"
        return Counter(log.read_text().split()) if log.exists() else Counter()

    def end(self, ending: Ending) -> End:
        with closing(Store(self.path, KEY, readonly=True)) as store:
            row = store.run("r")
            assert row is not None
            records = store.records(row)
            assert store.check(row.id).faults == () and store.check(row.id).signature == "ours"
        assert replay(self.program, row.inputs, records, "running", None).difference is None
        outcomes = {one.address: one.body.get("value") for one in records if one.kind == "outcome"}
        for address, value in outcomes.items():
            if (
                value == "a.txt was already deleted"
            ):  # done again, `delete_file` says so; nothing else differs
                outcomes[address] = "deleted a.txt"
        files = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
            and not {".fdc", "__pycache__"} & set(path.parts)
            and path.suffix != ".log"
        }
        return End(ending, outcomes, files, self.deeds())

    def remove(self) -> None:
        shutil.rmtree(self.folder)
        for tail in ("", "-wal", "-shm"):
            Path(self.path + tail).unlink(missing_ok=True)


def reference(matrix: Matrix, plan: str, room: int) -> tuple[End, int]:
    """What an undisturbed run comes to, and how many moments its controllers have."""
    runner = Runner(matrix, plan, room)
    point = CrashPoint()
    ending = runner.finish(point)
    assert ending.status == "finished", ending
    end = runner.end(ending)
    runner.remove()
    return end, len(point.moments)


def crash_everywhere(matrix: Matrix, plan: str, room: int, second: int = 0) -> int:
    """A crash at each moment, and `second` moments into the controller after it; returns how many there were."""
    expected, moments = reference(matrix, plan, room)
    assert expected.deeds and max(expected.deeds.values()) == 1
    crashes = 0
    for number in range(1, moments + 1):
        runner = Runner(matrix, plan, room)
        for at in (number, second) if second else (number,):
            try:
                runner.finish(CrashPoint(at))
            except Crash:
                crashes += 1
        found = runner.end(runner.finish())
        assert found.files == expected.files, number
        assert found.outcomes == expected.outcomes, number
        assert found.ending == expected.ending, number
        assert found.deeds == expected.deeds, number  # each once, none lost
        runner.remove()
    return crashes


CASES = [
    (plan, room)
    for plan in PLANS
    for room in {"forks": (1, 2, 4), "asks": (1, 4), "kept": (2,)}.get(plan, (1,))
]
"""`kept` is LGTM-38: a branch stops at a gate, another because a tool fails, and the run goes on."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan, room", [*CASES[:2], *(pytest.param(*case, marks=pytest.mark.long) for case in CASES[2:])]
)
def test_whenever_the_controller_dies_the_run_comes_to_the_same_end(
    matrix: Matrix, plan: str, room: int
) -> None:
    """Failure test 2: issue 4, "Durable": same final state, same files, every `once` effect exactly once, nothing lost."""
    assert crash_everywhere(matrix, plan, room) > 40


@pytest.mark.slow
def test_the_default_matrix_has_at_least_five_hundred_points(matrix: Matrix) -> None:
    """The moments are counted anew, so that the test passes alone."""
    assert sum(reference(matrix, plan, room)[1] for plan, room in CASES) >= 500


@pytest.mark.soak
@pytest.mark.parametrize("plan, room", [(plan, room) for plan in PLANS for room in (1, 2, 8)])
def test_a_second_crash_at_any_moment_after_the_first_is_no_worse(
    matrix: Matrix, plan: str, room: int
) -> None:
    for second in range(1, 60, 2):
        crash_everywhere(matrix, plan, room, second)
