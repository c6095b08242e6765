"""`fdc draft`: skeletons hold, a model is held to the grammar where its server can, findings go back."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_toolchain.draft.drafting import Drafted, allowed_by, drafted, grammar_of
from fdc_toolchain.draft.lines import text_of
from fdc_toolchain.draft.served import Served, served
from fdc_toolchain.draft.skeleton import skeleton
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.exits import UsageError
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.tools.model.question import Choice, Question
from fdc_toolchain.tools.plans.plan_text import proved
from fdc_toolchain.workspace.failure import ToolFailure
from jsonschema import Draft202012Validator
from llguidance import LLMatcher, LLTokenizer

from tests.support.openai_api import VLLM, Server, openai_api
from tests.support.raw_server import raw_server

FSM = "tooling/fdc_fsm.json"
TOOLS = ("set_plan", "plan_step_complete", "message_user", "read_file", "close_task", "submit")
GOOD = f"""\
# FSM: {FSM}
budget steps 1000000
set_plan x
plan_step_complete x
text1 <- read_file docs/green.md
message_user {{text1}}
close_task
submit
"""
BAD = GOOD.replace("read_file", "reed_file")


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A workspace with a page."""
    root = tmp_path_factory.mktemp("draft")
    (root / "docs").mkdir()
    (root / "out").mkdir()
    (root / "docs" / "green.md").write_text("# Green tea\n", "utf-8")
    (root / "README.rst").write_text("Tea\n===\n", "utf-8")
    (root / "fdc.toml").write_text("", "utf-8")
    return Linker(str(root), read_settings(str(root)))


# ---- without a model -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("Read docs/green.md and tell the user what it says", ["read_file docs/green.md", "message_user {text1}"]),
        ("search the web for green tea", ["google_search search the web for green tea"]),
        ("copy docs/green.md to out/s.md", ["text1 <- read_file docs/green.md\noverwrite_file_with_block out/s.md\n  {text1}"]),
        ("please go through the docs folder and tell me what is open",
         ["for_each_file docs/** max 100\n  text1 <- read_file {file1}\n  message_user {text1}\nclose_task"]),
        ("look at all markdown files", ["for_each_file **/*.md max 100\n  text1 <- read_file {file1}\n"]),
        ("search docs for TODO", ["list1 <- grep TODO docs\nmessage_user {list1}\n"]),
        ("Look for the word open in docs", ["grep open docs\n"]),
        ("Move docs/green.md into out", ["rename_file docs/green.md out/green.md\n"]),
        ("compare docs/green.md and fdc.toml",
         ["text1 <- read_file docs/green.md\ntext2 <- read_file fdc.toml\nmessage_user\n  {text1}\n  {text2}\n"]),
        ("run make test and tell me the result", ["result1 <- run_in_bash_session make test\nmessage_user {result1.output}\n"]),
        ("commit the changes to docs/green.md", ["git_add docs/green.md\ngit_commit commit the"]),
        ('create out/a.md with the text "to do"', ["create_file_with_block out/a.md\n  to do\n"]),
        ("download https://example.org/tea and save it to out/tea.md",
         ["text1 <- view_text_website https://example.org/tea\noverwrite_file_with_block out/tea.md\n  {text1}\n"]),
        ("Read https://example.org/tea and save it to tea.md",
         ["text1 <- view_text_website https://example.org/tea\noverwrite_file_with_block tea.md\n  {text1}\n"]),
        ("what does https://example.org/tea say?",
         ["text1 <- view_text_website https://example.org/tea\nmessage_user {text1}\n"]),
        ("compare docs/green.md with https://example.org/tea",
         ["text1 <- read_file docs/green.md\ntext2 <- view_text_website https://example.org/tea\nmessage_user\n"]),
        ("run `make test` and commit", ["run_in_bash_session make test", "git_commit"]),
        ('Find lines with "T O" in docs', ['grep "T O" docs']),
        ("fetch https://example.org/tea and tell me", ["view_text_website https://example.org/tea"]),
        ("delete docs/green.md", ["delete_file docs/green.md"]),
        ("Undo the last change in docs/green.md", ["restore_file docs/green.md"]),
        ("Ask me for a name and write it to out/n.md",
         ["\ntext1 <- request_user_input A name?", "overwrite_file_with_block out/n.md\n  {text1}\n"]),
        ("delete the old test file docs/green.md", ["delete_file docs/green.md"]),
        ("say {hello} world", ["hello_world"]),
        ("I want you to search the web for tea", ["google_search I want"]),
        ("Show the lines of docs/green.md", ["read_lines docs/green.md"]),
        ("zzz", ["set_plan zzz"]),
        ("show me the folder docs", ["\nlist1 <- list_files docs\nmessage_user {list1}\nclose_task"]),
        ("tell me what is in docs", ["\nlist1 <- list_files docs\nmessage_user {list1}\nclose_task"]),
        ("check what docs contains", ["\nlist1 <- list_files docs\nmessage_user {list1}\nclose_task"]),
        ("which files are there?", ["\nlist1 <- list_files\nmessage_user {list1}\nclose_task"]),
        ("let me see docs/green.md", ["complete\ntext1 <- read_file docs/green.md\nmessage_user {text1}\nclose_task"]),
        ("what does docs/green.md say?", ["text1 <- read_file docs/green.md\nmessage_user {text1}\nclose_task"]),
        ("where is tea used in docs", ["list1 <- grep tea docs\nmessage_user {list1}\nclose_task"]),
        ("Find all uses of brew_tea in docs", ["list1 <- grep brew_tea docs\nmessage_user {list1}\nclose_task"]),
        ("Find where brew is called in docs", ["list1 <- grep brew docs\nmessage_user {list1}\nclose_task"]),
        ("Download https://example.org/tea into out/tea.md",
         ["text1 <- view_text_website https://example.org/tea\noverwrite_file_with_block out/tea.md\n  {text1}\n"]),
        ("how many markdown files are in docs", ["list1 <- list_files docs/**/*.md\nmessage_user {list1}\nclose_task"]),
        ("list what is in docs, and which of them is old", ["list_files docs\nmessage_user {list1}\nclose_task"]),
    ],
)  # fmt: skip
def test_a_skeleton_holds_and_has_the_tools_of_the_task(
    linker: Linker, task: str, steps: list[str]
) -> None:
    made = skeleton(linker, task, fsm=FSM)
    assert made.inputs == ()
    assert made.fits is not task.startswith(("compare", "zzz"))
    for step in steps:
        assert step in made.text
    assert proved(linker.root, "p.plan", made.text).findings == []


@pytest.mark.parametrize(
    "task",
    [
        "Add a --verbose flag to the command line",
        "Add `--verbose` to the command line",
        "Add a function to the parser",
        "Fix the bug in the login page",
        "Create a login page",
        "Delete the user account",
        "Improve the session handling",
        "Make Kettle.boil faster",
        "Set the timeout to 5",
        "Choose among three names",
        "Record the temperature",
        "Summarise docs/green.md",
    ],
)
def test_a_word_alone_takes_no_tool(linker: Linker, task: str) -> None:
    """The plan has the steps that the automaton asks for, and the look at a file that the task names."""
    made = skeleton(linker, task, fsm=FSM)
    words = [line.split()[0] for line in made.text.splitlines()[1:]]
    named = ["text1", "message_user"] * ("docs/" in task)
    assert words == ["set_plan", "plan_step_complete", *named, "close_task", "submit"]
    assert not made.fits and made.inputs == ()


def test_a_tool_fits_by_its_whole_name_or_its_verb_and_what_it_is_done_to(linker: Linker) -> None:
    for task, name in (("run git add", "git_add"), ("Read the config file", "read_file"), ("Commit the work", "git_commit"),
                       ("Answer the review comments", "reply_to_pr_comments")):  # fmt: skip
        made = skeleton(linker, task, fsm=FSM)
        assert made.fits and re.search(rf"^(text1 <- )?{name}\b", made.text, re.M), made.text


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("read every page in docs and write a summary",
         "for_each_file docs/** max 100\n  read_file {file1}\noverwrite_file_with_block {path}\n"),
        ("Summarise the docs folder into out/s.md",
         "for_each_file docs/** max 100\n  read_file {file1}\noverwrite_file_with_block out/s.md\n"),
        ("translate docs/green.md and save it as out/de.md", "read_file docs/green.md\noverwrite_file_with_block out/de.md\n"),
        ("Fix the typo in docs/green.md", "read_file docs/green.md\noverwrite_file_with_block docs/green.md\n"),
        ("Rename the word tea to cha in docs/green.md", "read_file docs/green.md\noverwrite_file_with_block docs/green.md\n"),
        ("Remove the old lines from docs/green.md", "read_file docs/green.md\noverwrite_file_with_block docs/green.md\n"),
        ("Remove the dead code in docs/green.md", "read_file docs/green.md\noverwrite_file_with_block docs/green.md\n"),
        ("Delete everything about milk from the README", "read_file README.rst\noverwrite_file_with_block README.rst\n"),
        ("Bump the version in docs/green.md", "read_file docs/green.md\noverwrite_file_with_block docs/green.md\n"),
        ("fetch https://example.org/tea and write a summary into out/tea.md",
         "view_text_website https://example.org/tea\noverwrite_file_with_block out/tea.md\n"),
    ],
)  # fmt: skip
def test_what_only_a_person_can_write_is_asked(linker: Linker, task: str, steps: str) -> None:
    made = skeleton(linker, task, fsm=FSM)
    file = steps.split("overwrite_file_with_block ")[1].strip().removeprefix("{path}")
    asked = f"content of overwrite_file_with_block {file}".strip()
    assert steps in made.text and made.inputs[-1] == ("content", asked)
    assert proved(linker.root, "p.plan", made.text).findings == []
    assert re.search(r"(\S+)\n  \{content\}\nread_file \1\n", made.text)  # FDC441 warns otherwise
    assert "for_each_file" not in skeleton(linker, task, fsm=FSM, loops=False).text


def test_a_part_that_moves_changes_both_files(linker: Linker) -> None:
    made = skeleton(linker, "Move the section milk from docs/green.md to README.rst", fsm=FSM)
    said = "content of overwrite_file_with_block"
    assert [what for _, what in made.inputs] == [f"{said} docs/green.md", f"{said} README.rst"]
    assert proved(linker.root, "p.plan", made.text).findings == []


def test_a_page_is_kept_where_the_tests_cannot_execute_it(tmp_path: Path) -> None:
    (tmp_path / "fdc.toml").write_text('test-command = "make test"\n', "utf-8")
    linker = Linker(str(tmp_path), read_settings(str(tmp_path)))
    task = "fetch https://example.org/tea and save it to out/tea.md"
    refused = skeleton(linker, task, fsm=FSM)
    assert [one.code for one in proved(linker.root, "p.plan", refused.text).errors] == ["FDC474"]
    made = skeleton(linker, task, fsm=FSM, apart=True)
    assert made.moved == (("out/tea.md", "{run}/outside/tea.md"),) and made.missing == ()
    assert proved(linker.root, "p.plan", made.text).findings == []


def test_what_the_task_does_not_say_is_an_input_or_asked(linker: Linker) -> None:
    made = skeleton(linker, "rename a file", fsm=FSM)
    assert made.inputs == (("path", "path of rename_file"), ("target", "target of rename_file"))
    assert (
        "param path\nparam target\n" in made.text and "rename_file {path} {target}\n" in made.text
    )
    assert proved(linker.root, "p.plan", made.text).findings == []
    asked: list[tuple[str, str]] = []

    def ask(tool: str, name: str) -> str:
        asked.append((tool, name))
        return "docs/green.md" if name == "path" else "docs/a b.md"

    made = skeleton(linker, "rename a file", fsm=FSM, ask=ask)
    assert asked == [("rename_file", "path"), ("rename_file", "target")]
    assert made.inputs == () and 'rename_file docs/green.md "docs/a b.md"\n' in made.text


@pytest.mark.parametrize(
    "task", ["delete docs/green.md", "delete docs/green.md and commit", "run `ls` and delete docs/green.md",
             "delete docs/green.md and run the tests"]
)  # fmt: skip
def test_the_tests_of_the_settings_run_after_a_change(linker: Linker, task: str) -> None:
    tested = Linker(linker.root, linker.settings._replace(test_command="make test"))
    made = skeleton(tested, task, fsm=FSM)
    assert "delete_file docs/green.md\nrun_in_bash_session make test\n" in made.text
    assert made.text.count("make test") == 1 and ("`ls`" not in task or "session ls\n" in made.text)
    assert proved(linker.root, "p.plan", made.text).findings == []


def test_a_tool_that_no_accepted_word_has_is_left_out(linker: Linker) -> None:
    made = skeleton(linker, "submit the work, then grep in docs", fsm=FSM)
    assert proved(linker.root, "p.plan", made.text).findings == [] and made.left_out == ("grep",)
    with pytest.raises(UsageError, match="accepts no plan of these tools"):
        skeleton(linker, "x", fsm=FSM, tools=["submit"])
    with pytest.raises(UsageError, match="the file does not exist"):
        skeleton(linker, "x", fsm="nowhere")


# ---- with a model ----------------------------------------------------------------------


KEY = "sk-the-key-of-this-test"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def model_at(address: str, choice: Choice, grammar: Callable[[str], str] = str) -> Served:
    os.environ["OPENAI_BASE_URL"] = address  # `key` takes it away again
    model = Served(choice, grammar)
    model.pause = lambda _: None
    return model


def asked(server: Server, linker: Linker, tries: int = 2) -> Drafted:
    grammar = grammar_of(linker, fsm=FSM, tools=TOOLS, most=6)
    choice = Choice("m", max_tokens=500, attempts=2, seconds=10)
    model = model_at(server.address, choice, grammar)
    return drafted(linker, "Tell about tea", "p.plan", model, fsm=FSM, tools=TOOLS, tries=tries)


@pytest.mark.parametrize(
    ("kind", "form", "passed"),
    [("llama", "llama.cpp, llguidance", 0), ("llama-old", "llama.cpp, GBNF", 1), ("vllm", "vLLM, llguidance", 0),
     ("vllm-xgrammar", "vLLM, GBNF", 1), ("vllm-built", "vLLM, llguidance", 0), ("vllm-0.10", "vLLM, llguidance", 0),
     ("vllm-0.10-built", "vLLM, llguidance", 1), ("vllm-0.6", "vLLM, llguidance", 0), ("vllm-0.6-built", "vLLM, llguidance", 2)],
)  # fmt: skip
def test_a_server_is_sent_a_grammar_that_spells_the_plan(
    linker: Linker, kind: str, form: str, passed: int
) -> None:
    """`passed`: requests before that the server refuses, or answers as if they had no grammar, which costs a call."""
    with openai_api(kind, [GOOD]) as server:
        found = asked(server, linker)
    calls = 1 + (kind == "vllm-0.10-built")
    assert found == Drafted(GOOD, "", 1, {"model_calls": calls, "tokens": 120.0 * calls}, form)
    assert len(server.bodies) == passed + 1 and server.keys[-1] == f"Bearer {KEY}"
    body = server.bodies[-1]
    known = VLLM[kind][1] if kind in VLLM else "grammar"
    sent = body[known]["grammar"] if known == "structured_outputs" else body[known]
    if "GBNF" in form:
        assert sent.startswith("root ::= ")
        return
    made = LLMatcher(
        LLTokenizer("byte"), LLMatcher.grammar_from_lark(sent.removeprefix("%llguidance {}\n"))
    )
    assert not made.is_error() and made.try_consume_tokens([*GOOD.encode()]) == len(GOOD)
    made.reset()
    assert made.try_consume_tokens([*BAD.encode()]) < len(BAD)


LINES = {"fsm": FSM, "lines": [
    {"depth": 0, "gives": "", "word": "set_plan", "rest": "x", "block": []},
    {"depth": 0, "gives": "", "word": "plan_step_complete", "rest": "x", "block": []},
    {"depth": 0, "gives": "t", "word": "read_file", "rest": "docs/green.md", "block": []},
    {"depth": 0, "gives": "", "word": "if", "rest": "len(t) > 2", "block": []},
    {"depth": 1, "gives": "", "word": "message_user", "rest": "", "block": ["{t}"]},
    {"depth": 0, "gives": "", "word": "close_task", "rest": "", "block": []},
    {"depth": 0, "gives": "", "word": "submit", "rest": "", "block": []},
]}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "form"), [("plain", "a strict schema"), ("bare", "a schema in words")]
)
def test_another_server_is_given_a_schema_and_lines_become_a_plan(
    linker: Linker, kind: str, form: str
) -> None:
    with openai_api(kind, [json.dumps(LINES)]) as server:
        found = asked(server, linker)
    assert (found.findings, found.form) == ("", form)
    assert "if len(t) > 2\n  message_user\n    {t}\nclose_task\n" in found.text
    if kind == "plain":
        form_sent = server.bodies[0]["response_format"]["json_schema"]
        schema = Draft202012Validator(form_sent["schema"])
        assert form_sent["strict"] and schema.is_valid(LINES)
        wrong = {**LINES, "lines": [{**LINES["lines"][0], "word": "reed_file"}]}  # type: ignore[dict-item]
        assert not schema.is_valid(wrong)


def test_findings_go_back_and_the_cost_is_summed(linker: Linker) -> None:
    with openai_api("llama", [BAD, None, GOOD]) as server:
        found = asked(server, linker, tries=3)
    assert (found.text, found.findings, found.tries) == (GOOD, "", 3)
    assert found.usage == {"model_calls": 3.0, "tokens": 360.0}
    first, second, third = (body["messages"][0]["content"] for body in server.bodies)
    assert "refused" not in first
    assert BAD in second and "reed_file" in second.split("What is wrong")[1]
    assert "cut off at the maximum number of tokens" in third and BAD not in third


@pytest.mark.parametrize("kind", ["llama", "vllm"])
def test_a_server_that_answers_in_prose_is_not_said_to_keep_a_grammar(linker: Linker, kind: str) -> None:  # fmt: skip
    """A line of prose is a step of an unknown tool, and no error of syntax."""
    with openai_api(kind, ["I will read it first", json.dumps(LINES)]) as server:
        found = asked(server, linker)
    assert found.findings == "" and found.form == "a strict schema"
    calls = {"llama": 2, "vllm": 3}[kind]  # vLLM has two parameters
    assert found.usage == {"model_calls": calls, "tokens": 120.0 * calls}


def test_a_plan_that_holds_the_key_is_written_without_it(linker: Linker) -> None:
    with openai_api("llama", [GOOD.replace("set_plan x", f"set_plan {KEY}")]) as server:
        found = asked(server, linker)
    assert found.findings == "" and KEY not in found.text and "set_plan" in found.text


def test_the_last_version_is_refused_with_its_findings(linker: Linker) -> None:
    with openai_api("llama", [BAD, BAD]) as server:
        found = asked(server, linker)
    assert found.tries == 2 and "reed_file" in found.findings


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        ([500, 503], WorldFailed, "did not answer in 2 attempts: Error code: 503"),
        ([401], WorldFailed, "does not accept the key"),
        ([404], ToolFailure, "status 404"),
    ],
)
def test_trouble_of_the_server_is_said(
    linker: Linker, script: list[str | int | None], error: type[Exception], said: str
) -> None:
    with openai_api("llama", script) as server, pytest.raises(error, match=said):
        asked(server, linker)


def test_trouble_that_passes_is_tried_again(linker: Linker) -> None:
    with openai_api("llama", [429, GOOD]) as server:
        assert asked(server, linker).findings == ""


def test_a_ceiling_of_tokens_is_kept(linker: Linker) -> None:
    with openai_api("llama", [GOOD]) as server:
        grammar = grammar_of(linker, fsm=FSM, tools=TOOLS, most=6)
        model = model_at(server.address, Choice("m", 500), grammar)
        with pytest.raises(ToolFailure, match="none for a reply"):
            model.ask(Question("planner", "", "x" * 100, tokens=1150))
        model.ask(Question("planner", "", "x" * 100, tokens=1300))
    [body] = server.bodies
    assert 64 <= body["max_tokens"] < 1300 - 100


def test_what_no_step_does_is_said(linker: Linker) -> None:
    made = skeleton(linker, "Read https://example.org/tea and save it to y", fsm=FSM)
    assert "view_text_website https://example.org/tea\n" in made.text
    assert (made.unused, made.undone) == ((), ("save",))
    made = skeleton(
        linker, "rename the function pour everywhere, run `make test` and commit", fsm=FSM
    )
    assert ("rename",) == made.undone
    few = ("set_plan", "plan_step_complete", "read_file", "close_task", "submit")
    made = skeleton(linker, "Read https://example.org/tea", fsm=FSM, tools=few)
    assert (made.unused, made.undone) == (("https://example.org/tea",), ())


def test_no_address_no_model(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert served(linker.root, "m", str) is None
    monkeypatch.setenv("OPENAI_BASE_URL", "file:///etc")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        served(linker.root, "m", str)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1\r\nHost: elsewhere")
    made = served(linker.root, "m", str)
    assert made is not None
    with pytest.raises(WorldFailed, match="OPENAI_API_KEY") as said:
        made.ask(Question("planner", "", "x"))
    assert "sk-1" not in str(said.value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1\n")
    made = served(linker.root, "m", str)
    assert made is not None and made.choice("planner").model == "m"


SAYS = (
    f'Content-Type: application/json\r\n\r\n{{"error": {{"message": "wrong key: Bearer {KEY}"}}}}'
)
EVENTS = b"HTTP/1.0 200 ok\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (f"HTTP/1.0 400 no\r\n{SAYS}".encode(), "wrong key: Bearer .secret"),
        (f"HTTP/1.0 500 no\r\n{SAYS}".encode(), "wrong key: Bearer .secret"),
        (b"HTTP/1.1 307 go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "status 307"),
        (b"HTTP/1.1 200 ok\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "did not answer in 1 attempts"),
        (b"HTTP/1.1 200 ok\r\nA: " + b"x" * 700_000 + b"\r\n\r\n", "did not answer in 1 attempts"),
        (EVENTS + b"data: [1]\n\ndata: {}\n\n", "did not answer in 1 attempts"),
    ],
)  # fmt: skip
def test_a_hostile_server_is_one_sentence_without_the_key(raw: bytes, said: str) -> None:
    with raw_server(lambda there: there.sendall(raw)) as address:
        model = model_at(f"{address}/v1", Choice("m", attempts=1, seconds=5))
        with pytest.raises((WorldFailed, ToolFailure), match=said) as failed:
            model.ask(Question("planner", "", "x"))
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("number", ["1e999", "-1000000000", '"many"'])
def test_numbers_that_a_server_makes_up_are_not_believed(number: str) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    used = f'{{"choices": [], "usage": {{"prompt_tokens": {number}, "completion_tokens": 1}}}}'
    raw = EVENTS + f"data: {json.dumps(chunk)}\n\ndata: {used}\n\ndata: [DONE]\n\n".encode()
    with raw_server(lambda there: there.sendall(raw)) as address:
        reply = model_at(f"{address}/v1", Choice("m", attempts=1, seconds=5)).ask(
            Question("planner", "", "x")
        )
    assert reply.value == "x" and 0 < reply.usage["tokens"] < 100


@pytest.mark.parametrize(
    "begins", [b"", EVENTS, EVENTS + b'data: {"choices": [{"index": 0, "delta": {"content": "']
)
def test_a_server_that_sends_byte_by_byte_holds_nobody(begins: bytes) -> None:
    """Each byte comes in time, and the answer never: the attempt ends all the same."""

    def drip(there: socket.socket) -> None:
        there.sendall(begins)
        for _ in range(200):
            there.sendall(b"x")
            time.sleep(0.02)

    with raw_server(drip) as address:
        model = model_at(f"{address}/v1", Choice("m", attempts=1, seconds=0.2))
        start = time.monotonic()
        with pytest.raises(WorldFailed, match="did not complete its answer in"):
            model.ask(Question("planner", "", "x"))
        assert time.monotonic() - start < 3
        model.close()


def test_what_a_plan_says_that_it_may_touch_is_shown() -> None:
    text = GOOD.replace("set_plan", "allow write .github/**\nallow run *\nset_plan")
    first, second = allowed_by(text)
    assert "`allow write .github/**`" in first and "`allow run *`" in second
    assert allowed_by(GOOD) == []


def test_a_whole_number_may_have_a_point() -> None:
    line = {"depth": 1.0, "gives": "", "word": "submit", "rest": "", "block": []}
    assert text_of({"fsm": FSM, "lines": [line]}) == f"# FSM: {FSM}\n  submit\n"


def test_a_plan_as_text_is_taken_as_it_is() -> None:
    assert text_of({"plan": GOOD}) == GOOD
