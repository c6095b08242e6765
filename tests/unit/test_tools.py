"""The tools on a real workspace: what they do, and that they make nothing up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.engine.events import Outcome, Perform, request_of
from fdc_toolchain.engine.ports import Cancelled, Waiting
from fdc_toolchain.sandbox.sandbox import offered
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.merge_diff import apply
from fdc_toolchain.workspace.operator import TIERS, Operator

from tests.support.background import wait_for
from tests.support.own_code import hashes
from tests.support.process import working_in

CATALOGUE: dict[str, Any] = json.loads(resources.read("grammar/tools.json"))["tools"]

TIER = next(tier for tier in TIERS if offered(tier))

Do = Callable[..., Outcome]


class Bench:
    """The tools of one run in a workspace."""

    def __init__(self, workspace: Path, folder: Path, **more: Any) -> None:
        self.said: list[str] = []
        self.root = Root(str(workspace))
        tools = {**CATALOGUE, **more.pop("tools", {})}
        options: dict[str, Any] = {
            "ask": lambda question: None,
            "answers": {},
            "shell_seconds": 20.0,
            **more,
        }
        options.setdefault("operator", Operator(unsandboxed=True))
        bench = Workbench("run", self.root, str(folder), self.said.append, **options)
        made = {
            "tools": tools,
            "predicates": options.get("predicates", {}),
            "modules": hashes(workspace, tools.values()),
        }
        self.tools = LocalTools(made, bench)

    def effect(
        self, tool: str, at: str = "main/1", bound: bool = True, grants: Any = (), **args: Any
    ) -> Perform:
        return Perform(
            at, "tool", tool, args, request_of("tool", tool, args), "once", "p", 1, bound, grants
        )

    def do(self, tool: str, **more: Any) -> Outcome:
        return self.tools.perform(self.effect(tool, **more))

    def value(self, tool: str, **more: Any) -> Any:
        outcome = self.do(tool, **more)
        assert outcome.failure is None, outcome.failure
        return outcome.value

    def refused(self, tool: str, **more: Any) -> str:
        outcome = self.do(tool, **more)
        assert outcome.failure is not None, outcome
        return outcome.failure.message


@pytest.fixture
def bench(workspace: Path, tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "run"
    folder.mkdir()
    made = Bench(workspace, folder)
    yield made
    made.root.close()


@pytest.mark.parametrize(
    "tool", ["google_search", "view_text_website", "research", "reply_to_pr_comments"]
)
def test_a_tool_that_cannot_run_here_says_so_and_brings_nothing(bench: Bench, tool: str) -> None:
    """T-23: results are never made up."""
    args = {parameter["name"]: "x" for parameter in CATALOGUE[tool]["parameters"]}
    outcome = bench.do(tool, **args)
    assert (
        outcome.failure is not None
        and outcome.failure.kind == "unavailable"
        and outcome.value is None
    )


def test_a_tool_that_no_plan_may_use_is_refused_here_too(bench: Bench) -> None:
    assert bench.do("reset_all").failure is not None


# Files


def test_files_are_made_read_renamed_and_deleted(bench: Bench, workspace: Path) -> None:
    assert bench.value("create_file_with_block", path="d/a.txt", content="ä\n") == {
        "path": "d/a.txt",
        "bytes": 3,
    }
    assert bench.value("read_file", path="d/a.txt") == "ä\n"
    bench.value("overwrite_file_with_block", path="d/a.txt", content="b\n")
    assert (
        bench.value("rename_file", path="d/a.txt", target="e/b.txt") == "renamed d/a.txt to e/b.txt"
    )
    assert bench.value("delete_file", path="e/b.txt") == "deleted e/b.txt"
    assert bench.value("delete_file", path="e/b.txt") == "e/b.txt was already deleted"
    assert bench.refused("read_file", path="e/b.txt") == "`e/b.txt` does not exist"
    assert bench.refused("rename_file", path="no", target="x") == "`no` does not exist"


def test_renaming_never_overwrites(bench: Bench, workspace: Path) -> None:
    (workspace / "a").write_text("a")
    (workspace / "b").write_text("b")
    assert bench.refused("rename_file", path="a", target="b") == "`b` already exists"
    assert ((workspace / "a").read_text(), (workspace / "b").read_text()) == ("a", "b")


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        (True, False, "not-done"),
        (False, True, "done"),
        (False, False, "unknown"),
        ("same", True, "done"),
    ],
)
def test_a_lost_renaming_is_found_out(
    bench: Bench, workspace: Path, here: Any, there: bool, expected: str
) -> None:
    if there:
        (workspace / "b").write_text("x")
    if here == "same":
        os.link(workspace / "b", workspace / "a")
    elif here:
        (workspace / "a").write_text("x")
    found = bench.tools.probe(bench.effect("rename_file", path="a", target="b"))
    assert (found if isinstance(found, str) else "done") == expected
    if expected == "done":
        assert not (workspace / "a").exists() and os.stat(workspace / "b").st_nlink == 1


def test_a_text_that_is_not_utf8_is_refused_with_the_place(bench: Bench, workspace: Path) -> None:
    (workspace / "f").write_bytes(b"ab\xff")
    assert bench.refused("read_file", path="f") == "`f` is not UTF-8 text (byte 2)"


def test_an_image_is_described_by_its_head(bench: Bench, workspace: Path) -> None:
    head = (
        b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")
    )
    (workspace / "i.png").write_bytes(head)
    assert bench.value("view_image", path="i.png").startswith("i.png: PNG image, 640 x 480 pixels")
    (workspace / "t").write_text("text")
    assert "not a PNG" in bench.refused("view_image", path="t")


def test_restoring_brings_back_the_bytes_of_the_last_commit(bench: Bench, workspace: Path) -> None:
    def git(*args: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *args], cwd=workspace, check=True, capture_output=True)

    git("init", "-q")
    (workspace / "sub").mkdir()
    (workspace / "sub" / "f.bin").write_bytes(b"\xff\x00good")
    git("add", ".")
    git("commit", "-qm", "x")
    (workspace / "sub" / "f.bin").write_text("bad")
    assert bench.value("restore_file", path="sub/f.bin")["bytes"] == 6
    assert (workspace / "sub" / "f.bin").read_bytes() == b"\xff\x00good"
    assert "cannot be restored" in bench.refused("restore_file", path="sub/none")
    assert "`..`" in bench.refused("restore_file", path="sub/../../f")


# SEARCH and REPLACE


def section(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_sections_replace_whole_lines_exactly_once(bench: Bench, workspace: Path) -> None:
    """FDC-85."""
    (workspace / "f").write_text("one\ntwo\nthree\n")
    diff = section("three\n", "3\n3b\n") + "\n" + section("one\n", "")
    assert bench.value("replace_with_git_merge_diff", path="f", diff=diff)["replaced"] == 2
    assert (workspace / "f").read_text() == "two\n3\n3b\n"


@pytest.mark.parametrize(
    ("text", "diff", "why"),
    [
        ("a\nb\n", section("c\n", "d\n"), "is not in the file"),
        ("a\nb\na\n", section("a\n", "d\n"), "is in the file 2 times"),
        ("ab\n", section("a\n", "d\n"), "is not in the file"),  # whole lines, not parts of them
        ("a\nb\nc\n", section("a\nb\n", "x\n") + section("b\nc\n", "y\n"), "overlap"),
        ("a\n", "", "no `<<<<<<< SEARCH` section"),
        ("a\n", "<<<<<<< SEARCH\na\n=======\nb\n", "without `>>>>>>> REPLACE`"),
        ("a\n", "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "without `<<<<<<< SEARCH` and `=======`"),
        ("a\n", section("", "b\n"), "searches for nothing"),
        ("a\n", "prose\n" + section("a\n", "b\n"), "text outside of the sections"),
        ("a\n", section("a\n", "=======\nb\n"), "for the second time"),
        (
            "a\n",
            "<<<<<<< SEARCH\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            "inside a section",
        ),
        (
            "a\n",
            "<<<<<<< SEARCHED\na\n=======\nb\n>>>>>>> REPLACE\n",
            "text outside of the sections",
        ),
    ],
)
def test_a_section_that_does_not_fit_leaves_the_file_untouched(
    bench: Bench, workspace: Path, text: str, diff: str, why: str
) -> None:
    (workspace / "f").write_text(text)
    before = os.stat(workspace / "f").st_mtime_ns
    assert why in bench.refused("replace_with_git_merge_diff", path="f", diff=diff)
    assert ((workspace / "f").read_text(), os.stat(workspace / "f").st_mtime_ns) == (text, before)


def test_line_ends_and_a_missing_last_one_stay_as_they_are() -> None:
    assert apply("a\r\nb\r\n", section("b\n", "c\nd\n")) == ("a\r\nc\r\nd\r\n", 1)
    assert apply("a\nb", section("b\n", "c\n")) == ("a\nc", 1)
    with pytest.raises(ToolFailure):
        apply("", section("a\n", "b\n"))


def test_a_lost_replacement_is_found_out_by_what_the_file_holds(
    bench: Bench, workspace: Path
) -> None:
    args = {"path": "f", "diff": section("a\n", "b\n")}
    (workspace / "f").write_text("a\n")
    effect = bench.effect("replace_with_git_merge_diff", **args)
    assert bench.tools.probe(effect) == "not-done"
    done = bench.tools.perform(effect)
    assert bench.tools.probe(effect) == Outcome(done.value)
    (workspace / "f").write_text("a\n")
    assert bench.tools.probe(effect) == "not-done"
    (workspace / "f").write_text("somebody else\n")
    assert bench.tools.probe(effect) == "unknown"


# Search


def test_lines_are_found_by_regular_expression(bench: Bench, workspace: Path) -> None:
    (workspace / "a.md").write_text("one\ntwo 22\r\n")
    (workspace / "b.bin").write_bytes(b"22\0")
    (workspace / "d").mkdir()
    (workspace / "d" / "c.md").write_text("x22")
    assert bench.value("grep", pattern=r"\d\d") == [
        {"path": "a.md", "line": 2, "text": "two 22"}, {"path": "d/c.md", "line": 1, "text": "x22"},
    ]  # fmt: skip
    assert [hit["path"] for hit in bench.value("grep", pattern="22", path="d")] == ["d/c.md"]
    assert "not a regular expression" in bench.refused("grep", pattern="(")
    assert bench.refused("grep", pattern="x", path="no/such") == "`no/such` does not exist"


def test_a_pattern_that_would_take_for_ever_is_stopped(
    bench: Bench, workspace: Path, monkeypatch: Any
) -> None:
    from fdc_toolchain.tools.files import find_tools

    monkeypatch.setattr(find_tools, "GREP_SECONDS", 0.4)
    (workspace / "f").write_text("a" * 40 + "!")
    assert "took longer" in bench.refused("grep", pattern="(a+)+$")


def test_files_are_listed_by_folder_or_glob(bench: Bench, workspace: Path) -> None:
    for name in ("a.md", "d/b.md", "d/c.txt"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("")
    assert bench.value("list_files") == ["a.md", "d/b.md", "d/c.txt"]
    assert bench.value("list_files", path="d/") == ["d/b.md", "d/c.txt"]
    assert bench.value("list_files", path="**/*.md") == ["a.md", "d/b.md"]


# Commands


def test_a_command_brings_its_output_and_exit_code_and_the_journal_hears_how_it_was_fenced(
    bench: Bench,
) -> None:
    outcome = bench.do("run_in_bash_session", command="echo out; echo err >&2; exit 3")
    assert outcome.value == {"output": "out\nerr\n", "exit_code": 3}
    assert outcome.notes == {"sandbox": TIER}


def test_a_failing_command_whose_result_nobody_keeps_fails_the_step(bench: Bench) -> None:
    """T-23: failures are not logged as success."""
    outcome = bench.do("run_in_bash_session", command="echo why; false", bound=False)
    assert (
        outcome.failure is not None
        and outcome.failure.message == "the command ended with exit code 1: why"
    )
    assert outcome.notes == {"sandbox": TIER, "output": "why\n"}


def test_no_secret_of_the_environment_reaches_a_command(bench: Bench, monkeypatch: Any) -> None:
    """G-SBX: variables are passed by name, whatever they hold."""
    for name in (
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "MY_PASSWORD",
        "BASH_ENV",
    ):
        monkeypatch.setenv(name, "hunter2")
    output = bench.value(
        "run_in_bash_session", command="env; cat /proc/self/environ /proc/$$/environ"
    )["output"]
    assert "hunter2" not in output
    assert "FDC_KEY=run:main/1" in output and "PATH=" in output


def test_a_secret_that_a_file_holds_too_does_not_reach_the_journal(
    workspace: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Design 6: secrets are never journaled, who says them: a file, a command's output, a failure."""
    monkeypatch.setenv("SERVICE_TOKEN", "tok-0123456789")
    monkeypatch.setenv("SHORT_KEY", "a")
    (workspace / "service.txt").write_text("SERVICE_TOKEN=tok-0123456789 a\n")
    bench = Bench(workspace, tmp_path)
    assert (
        bench.value("read_file", path="service.txt") == "SERVICE_TOKEN=[secret SERVICE_TOKEN] a\n"
    )
    outcome = bench.do("run_in_bash_session", command="cat service.txt; exit 1", bound=False)
    assert "tok-" not in repr(outcome) and "[secret SERVICE_TOKEN]" in repr(outcome)


def test_a_command_that_takes_too_long_is_killed_with_all_its_children(
    workspace: Path, tmp_path: Path
) -> None:
    bench = Bench(workspace, tmp_path, shell_seconds=0.4)
    message = bench.refused("run_in_bash_session", command="(sleep 60; touch late) & sleep 60")
    assert message == "the command took longer than 0.4 s and was killed"
    gone(workspace)


def test_what_a_command_leaves_in_the_background_does_not_outlive_it(
    bench: Bench, workspace: Path
) -> None:
    bench.value("run_in_bash_session", command="sleep 60 &")
    gone(workspace)


def test_a_cancelled_command_dies_at_once_and_has_no_outcome(bench: Bench, workspace: Path) -> None:
    """Left alone, it would be given up after the bench's twenty seconds, as a failure."""
    started = threading.Thread(
        target=lambda: (wait_for(lambda: working_in(workspace)), bench.tools.cancel())
    )
    started.start()
    with pytest.raises(Cancelled):
        bench.do("run_in_bash_session", command="sleep 60")
    started.join()
    gone(workspace)


def test_the_middle_of_a_long_output_is_left_out_and_that_is_said(bench: Bench) -> None:
    outcome = bench.do(
        "run_in_bash_session", command="echo first; yes x | head -c 5000000; echo last"
    )
    output = outcome.value["output"]
    assert output.startswith("first\n") and output.endswith("last\n") and len(output) < 300_000
    assert "bytes left out]" in output and "cut" in (outcome.notes or {})


def test_a_command_has_no_terminal_and_no_input(bench: Bench) -> None:
    assert bench.value("run_in_bash_session", command="cat; tty")["output"] == "not a tty\n"


def gone(workspace: Path) -> None:
    """No process of a command is left, the outcome of its parents."""
    wait_for(lambda: not working_in(workspace))


# People


def test_a_message_is_said_once_and_found_again_after_a_crash(bench: Bench) -> None:
    effect = bench.effect("message_user", text="hello")
    assert bench.tools.probe(effect) == "not-done"
    bench.tools.perform(effect)
    assert bench.said == ["hello"]
    assert bench.tools.probe(effect) == Outcome("hello")
    assert bench.tools.probe(bench.effect("message_user", at="main/2", text="hello")) == "not-done"


def test_a_list_of_messages_that_a_crash_cut_off_is_taken_up_again(
    bench: Bench, tmp_path: Path
) -> None:
    bench.value("message_user", text="one")
    with open(tmp_path / "run" / "messages.jsonl", "ab") as file:
        file.write(b'{"key":"run:main/2","te')
    bench.value("message_user", at="main/3", text="three")
    assert bench.tools.probe(bench.effect("message_user", at="main/1", text="one")) == Outcome(
        "one"
    )
    assert bench.tools.probe(bench.effect("message_user", at="main/2", text="two")) == "not-done"
    assert bench.tools.probe(bench.effect("message_user", at="main/3", text="three")) == Outcome(
        "three"
    )


def test_a_question_without_anybody_there_waits(bench: Bench) -> None:
    with pytest.raises(Waiting) as raised:
        bench.do("request_user_input", text="which?")
    assert str(raised.value) == "which?"
    assert bench.tools.probe(bench.effect("request_user_input", text="which?")) == "not-done"


def test_only_a_persons_yes_is_an_approval(workspace: Path, tmp_path: Path) -> None:
    def asked(answer: str) -> Outcome:
        return Bench(workspace, tmp_path, answers={"main/1": answer}).do(
            "record_user_approval_for_plan", text="it"
        )

    assert asked(" Yes ").value == "approved: it"
    assert asked("no").failure is not None
    with pytest.raises(Waiting):  # an answer given beforehand that is none leaves the question open
        asked("whatever")
    asker = Bench(workspace, tmp_path, ask=lambda question: "y")
    assert asker.value("record_user_approval_for_plan") == "approved: the plan"


def test_an_answer_that_is_none_is_asked_for_again(workspace: Path, tmp_path: Path) -> None:
    """Finding C5: "maybe" at the prompt failed the run."""
    said = iter(["maybe", "", "yes"])
    asker = Bench(workspace, tmp_path, ask=lambda question: next(said))
    assert asker.value("record_user_approval_for_plan") == "approved: the plan"
    assert next(said, None) is None
    gone = iter(["maybe", None])
    with pytest.raises(Waiting):
        Bench(workspace, tmp_path, ask=lambda question: next(gone)).do(
            "record_user_approval_for_plan"
        )


# Declarations


def python_tool(function: str, **parameters: bool) -> dict[str, Any]:
    return {
        "effect": "read", "run": {"python": f"own_tools:{function}"},
        "parameters": [{"name": name, "kind": "word", "required": required} for name, required in parameters.items()],
    }  # fmt: skip


@pytest.fixture
def own(workspace: Path, tmp_path: Path) -> Iterator[Bench]:
    (workspace / "own_tools.py").write_text(
        "import sys\n"
        "def double(text, more=None): return {'twice': text * 2, 'more': more, 'tuple': (1, 2)}\n"
        "def broken(): raise ValueError('bad luck')\n"
        "def leaves(): sys.exit(7)\n"
        "def strange(): return object()\n"
        "def deep():\n    v = 1\n    for _ in range(500): v = [v]\n    return v\n"
        "def gone(): open('/no/such/file')\n"
        "def keyed(idempotency_key): return idempotency_key\n"
    )
    names = {"keyed", "broken", "leaves", "strange", "deep", "gone"}
    tools = {name: python_tool(name) for name in names} | {
        "double": python_tool("double", text=True, more=False)
    }
    tools["absent"] = python_tool("no_such_function")
    yield Bench(workspace, tmp_path, tools=tools)


def test_a_python_tool_of_the_workspace_is_called_by_keyword_and_brings_json(
    own: Bench, workspace: Path
) -> None:
    assert own.value("double", text="ab") == {"twice": "abab", "more": None, "tuple": [1, 2]}
    assert own.value("keyed") == "run:main/1"
    assert str(workspace) not in sys.path and "own_tools" not in sys.modules


@pytest.mark.parametrize(
    ("tool", "kind", "says"),
    [
        ("broken", "error", "`own_tools:broken` raised ValueError: bad luck"),
        ("leaves", "error", "raised SystemExit"),
        ("strange", "tool", "JSON cannot represent"),
        ("deep", "size", "nested"),
        ("gone", "error", "no such file"),
        ("absent", "unavailable", "cannot be imported"),
    ],
)
def test_whatever_a_python_tool_does_is_an_outcome(
    own: Bench, tool: str, kind: str, says: str
) -> None:
    failure = own.do(tool).failure
    assert failure is not None and failure.kind == kind and says in failure.message


def test_what_a_declaration_requires_is_there_and_numbers_are_numbers(
    workspace: Path, tmp_path: Path
) -> None:
    counted = {
        "effect": "read",
        "run": {"python": "builtins:dict"},
        "parameters": [{"name": "n", "kind": "number"}],
    }
    bench = Bench(workspace, tmp_path, tools={"counted": counted})
    assert bench.value("counted", n="3") == {"n": 3} and bench.value("counted", n="-2.5") == {
        "n": -2.5
    }
    assert bench.refused("counted", n="many") == "`n` takes a number, found `many`"
    assert bench.refused("counted", n=None) == "`n` has no value in this run"
    assert "`text`, `body`" in bench.refused("message_user")


# Capabilities


def grant(**kinds: str) -> dict[str, Any]:
    return {
        kind: tuple(((False, glob),) for glob in globs.split()) for kind, globs in kinds.items()
    }


def test_what_the_plans_on_the_stack_do_not_all_allow_is_not_touched(
    bench: Bench, workspace: Path
) -> None:
    (workspace / "a.md").write_text("x")
    wide, narrow = grant(read="**", write="out/**", run="*"), grant(read="**", write="out/sub/*")
    assert bench.value("read_file", path="a.md", grants=(wide, narrow)) == "x"
    bench.value("create_file_with_block", path="out/sub/f", content="", grants=(wide, narrow))
    for path in ("out/f", "out/sub/deep/f", "elsewhere"):
        message = bench.refused(
            "create_file_with_block", path=path, content="", grants=(wide, narrow)
        )
        assert message == f"the plan's `allow write` does not name `{path}`"
    assert "allow run" in bench.refused(
        "run_in_bash_session", command="true", grants=(wide, narrow)
    )
    assert bench.do("run_in_bash_session", command="true", grants=(wide,)).failure is None


def test_a_value_in_a_grant_matches_itself_and_nothing_more(bench: Bench) -> None:
    """A parameter `**` must not turn `allow write out/{name}` into everything."""
    stated = {"write": (((False, "out/"), (True, "**")),)}
    assert "does not name" in bench.refused(
        "create_file_with_block", path="out/x", content="", grants=(stated,)
    )
    bench.value("create_file_with_block", path="out/**", content="", grants=(stated,))
