"""The part `data` of certificates: what the checker says yes to, rule by rule of `docs/trust.md`, and the claims that it refuses.

The programs are what plans compile to, also plans that lint refuses.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.certificate import check as whole
from fdc_toolchain.certificate import file_sets, touches
from fdc_toolchain.certificate.control import digest
from fdc_toolchain.certificate.data import check
from fdc_toolchain.certificate.labels import POWERS, label_of, written
from fdc_toolchain.certificate.making import make_control, make_data, make_files
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import compile_plan, program_of
from fdc_toolchain.linking.project.settings import Allowed, Settings
from fdc_toolchain.program.shape import problems
from fdc_toolchain.rules.solver.flow.data_commands import is_data_command
from fdc_toolchain.syntax.values import Value, template

from tests.support import flow_claims, linting
from tests.support.repository import PACKAGE, ROOT, plans

HEAD = "# FSM: any.json\n"
WEB = "page <- view_text_website https://example.org/\n"
THERE = ("a.txt", "b.txt", "docs/c.md")
CHECKER = ("__init__", "check", "control", "plans", "constants", "readers", "words", "data", "flow", "labels", "steps", "touches",
           "made_of", "file_sets", "files/__init__", "files/paths", "files/rounds", "files/uses", "files/reasons", "files/known",
           "files/places")  # fmt: skip


def program(steps: str, settings: Settings | None = None, **files: str) -> dict[str, Any]:
    plans = {
        "a.plan": HEAD + steps,
        **{f"{name}.plan": HEAD + text for name, text in files.items()},
    }
    found = linting.lint(
        plans, "a.plan", there=THERE, settings=settings or Settings(fsm="any.json"), whole=True
    )
    made = program_of(found)
    assert [] == problems(made)
    return made


def wrong(of: dict[str, Any]) -> str | None:
    """Why nothing can be claimed; None where a certificate holds. A careless certificate is refused for no other reason."""
    try:
        made = make_data.make(of)
    except Wrong as found:
        assert str(check(of, flow_claims.careless(of))).split(":")[0] == str(found).split(":")[0]
        return str(found)
    found = check(of, made)
    assert found is None, found
    return None


KEPT = """\
items <- list_files docs
fork x in {items} max 3 keep failures
  p <- view_text_website https://e/
  require "x" in p else "no"
  run_in_bash_session ls
"""


@pytest.mark.parametrize(
    ("steps", "power"),
    [
        (WEB + "run_in_bash_session echo {page}\n", "argument"),
        (WEB + "read_file {page}\n", "path"),
        (WEB + "list_files {page}\n", "path"),
        (WEB + "view_text_website {page}\n", "url"),
        (WEB + "submit {page}\n", "message"),
        (WEB + "run_plan {page}\n", "plan"),
        ("got <- run_plan x\nread_file {got.result}\n", "path"),
        (WEB + "close_task {page}\n", "change"),
        (WEB + "for_each_file {page}\n  message_user {file1}\n", "path"),
        (WEB + 'if "x" in page\n  run_in_bash_session ls\n', "choice"),
        (WEB + "overwrite_file_with_block Makefile\n  {page}\nrun_in_bash_session make\n", "code"),
        ("name <- read_file a.txt\nrun_in_bash_session ls; {name}\n", "command"),
        ('name <- read_file a.txt\nrun_in_bash_session sh -c "{name}"\n', "command"),
        ("hits <- google_search tea\nfor hit in {hits} max 3\n  submit x\n", "choice"),
        ("text <- generate_code docs/* x\nread_file {text}\n", "path"),
        (WEB + "iterate max 3\n  x <- read_file a.txt\n  read_file {x}\n  overwrite_file_with_block a.txt\n    {page}\n", "path"),
        (WEB + "call_plan s.plan p={page}\n", "message"),
        (WEB + 'if "x" in page\n  call_plan s.plan p=x\n', "choice"),
        (WEB + "overwrite_file_with_block {run}/x\n  {page}\nx <- call_plan r.plan\nread_file {x}\n", "path"),
        (KEPT, "choice"),
    ],
)  # fmt: skip
def test_text_chooses_nothing_that_it_may_not(steps: str, power: str) -> None:
    of = program(steps, s="param p\nsubmit {p}\n", r="x <- read_file {run}/x\nyield {x}\n")
    assert f"may choose {POWERS[power]}" in str(wrong(of))


@pytest.mark.parametrize(
    "steps",
    [
        WEB + "message_user {page}\n",
        WEB + "overwrite_file_with_block notes.md\n  {page}\n",
        WEB + "answer <- request_user_input Run it? {page}\nrun_in_bash_session {answer}\n",
        WEB + 'require page else "it is empty"\nrun_in_bash_session ls\n',
        WEB
        + 'if page == ""\n  read_file a.txt\n  overwrite_file_with_block {run}/seen\n    text\n',
        WEB + "overwrite_file_with_block {run}/outside/x\n  {page}\nrun_in_bash_session make\n",
        WEB + "overwrite_file_with_block x.md\n  {page}\nrun_in_bash_session wc -l x.md\n",
        "run_in_bash_session make\n" + WEB + "overwrite_file_with_block x.md\n  {page}\n",
        "x <- run_in_bash_session ls\nrun_in_bash_session exit {x.exit_code}\n",
        "name <- read_file a.txt\nrun_in_bash_session cat {name}\nread_file {name}\n",
        WEB + "call_plan s.plan p=tea\nmessage_user {page}\n",
        "text <- read_file a.txt\ngot <- run_plan {text}\nmessage_user {got.result}\n",
        WEB + "text <- approve_plan {page}\nrun_plan {text}\n",
        # a failure that is kept decides what a round does, and not the name of a loop around it
        """l <- list_files d
for_each_file d/* as f
  k <- fork x in {l} max 9 keep failures
    iterate max 2 until n == f
      view_text_website {f}
      n <- plan_step_complete y
    yield {x}
""",
    ],
)
def test_what_may_be_chosen_has_a_certificate(steps: str) -> None:
    assert None is wrong(program(steps, s="param p\nsubmit {p}\n"))


def test_files_that_the_settings_name_hold_text_from_outside() -> None:
    steps = "mail <- read_file a.txt\nsubmit {mail}\n"
    assert None is wrong(program(steps))
    of = program(steps, Settings(fsm="any.json", untrusted=("*.txt",)))
    assert ["*.txt"] == of["untrusted"] and "may choose a message" in str(wrong(of))
    del of["untrusted"]
    assert None is wrong(of)


@pytest.mark.parametrize(
    "path",
    [".fdc/runs/a/messages.jsonl", "./.fdc/runs.sqlite", "d/.FDC/{p}", "runs/a/outside/x", "./runs/{p}/x", "d/../runs/a/outside"],
)  # fmt: skip
def test_records_of_runs_hold_text_from_outside(path: str) -> None:
    for tool in ("read_file", "list_files"):
        steps = f"p <- set_plan x\nt <- {tool} {path}\nread_file {{t}}\n"
        assert "line 4: text from outside may choose a path" in str(wrong(program(steps))), tool
    assert None is wrong(
        program("t <- read_file a.fdc/x\nread_file {t}\nu <- read_file runs/a/x\nread_file {u}\n")
    )


def test_a_predicate_of_the_workspace_may_look_at_every_file() -> None:
    of = program(
        WEB + 'overwrite_file_with_block {run}/outside/p\n  {page}\nif cited("x")\n  submit done\n'
    )
    assert None is wrong(of)
    of["predicates"]["cited"]["run"] = {"python": "mine:cited"}
    assert "may choose whether this is done" in str(wrong(of))
    of["plans"]["a.plan"]["body"][1]["args"]["content"] = ["tea"]
    assert None is wrong(of)


def test_what_an_operator_allowed_is_an_assumption_of_the_program_and_of_no_other_line() -> None:
    row = Allowed("FDC471", "a.plan", "it is our own page")
    settings = Settings(fsm="any.json", allow=(row,), trusted=True)
    of = program(WEB + "submit {page}\n", settings)
    assert ["FDC712"] == [one["code"] for one in of["assumptions"]]
    assert None is wrong(of)
    certificate = make_data.make(of)
    of["assumptions"] = []
    assert "may choose a message" in str(check(of, {**certificate, "program": digest(of)}))
    inside = program(WEB + "call_plan s.plan p={page}\n", settings, s="param p\nsubmit {p}\n")
    assert None is wrong(inside)
    inside["plans"][next(key for key in inside["plans"] if "s.plan" in key)]["body"][0]["line"] += 1
    assert "may choose a message" in str(wrong(inside))


@cache
def looping() -> dict[str, Any]:
    return program(
        "x <- plan_step_complete tea\n"
        + WEB
        + "iterate max 3\n  message_user {x}\n  x <- plan_step_complete {page}\n"
    )


@cache
def calling() -> dict[str, Any]:
    return program(
        WEB + "x <- call_plan s.plan p={page}\nmessage_user {x}\n", s="param p\nyield {p}\n"
    )


@cache
def keeping() -> dict[str, Any]:
    return program(
        "x <- read_file {run}/y\nmessage_user {x}\n"
        + WEB
        + "overwrite_file_with_block notes.md\n  {page}\n"
    )


OUTSIDE = ["untrusted"]


@pytest.mark.parametrize(
    ("made", "way", "value", "said"),
    [
        (
            looping,
            ("rows", 0, "loops", "/3", "names", "x"),
            [[], []],
            "a round of the loop may bring more",
        ),
        (looping, ("rows", 0, "loops", "/3", "names"), {}, "a round of the loop may bring more"),
        (looping, ("rows", 0, "loops"), {}, "lacks a claim"),
        (calling, ("rows", 1, "params"), {}, "may begin in another way"),
        (calling, ("rows", 1, "gives", "result"), [], "of more than is claimed"),
        (calling, ("rows", 1, "kept"), True, "for another one"),
        (calling, ("rows", 1, "kept"), 0, "for another one"),
        (calling, ("rows", 1, "plan"), "a.plan", "for another one"),
        (calling, ("rows", 0, "calls", "/2"), 0, "for another one"),
        (calling, ("rows", 0, "calls"), {}, "lacks a claim"),
        (calling, ("rows", 0, "kept"), True, "not that of the root"),
        (calling, ("rows", 0, "plan"), "s.plan", "not that of the root"),
        (keeping, ("left",), [], "left in files for a later run"),
        (keeping, ("rows", 0, "gives", "texts"), [], "come into files"),
        (keeping, ("format",), 2, "not of the form"),
        (keeping, ("rows",), [], "lacks a claim"),
        (keeping, ("rows", 0, "choices"), ["outside"], "lacks a claim"),
        (keeping, ("rows", 0, "choices"), ["untrusted all"], "lacks a claim"),
    ],
)
def test_a_wrong_claim_is_found(
    made: Callable[[], dict[str, Any]], way: tuple[Any, ...], value: Any, said: str
) -> None:
    of = made()
    certificate = make_data.make(of)
    assert None is check(of, certificate)
    holder: Any = certificate
    for key in way[:-1]:
        holder = holder[key]
    assert holder[way[-1]] != value or type(holder[way[-1]]) is not type(value)
    holder[way[-1]] = value
    assert said in str(check(of, certificate))


@pytest.mark.parametrize(
    "value", [None, [], "x", 3, {}, {"format": 1}, {"format": 1, "part": "data", "program": "x"}]
)
def test_what_is_no_certificate_is_refused_in_a_sentence(value: Any) -> None:
    assert isinstance(check(looping(), value), str)
    assert isinstance(whole.check(looping(), value), str)


def test_a_whole_certificate_has_all_parts() -> None:
    control, data = make_control.make(looping()), make_data.make(looping())
    files = make_files.make(looping(), lambda path: "file")
    assert None is whole.check(
        looping(), {"format": 3, "control": control, "data": data, "files": files}
    )
    assert None is whole.check(
        looping(), {"format": 3, "control": control, "data": data, "files": None}
    )
    assert "it has no part `data`" == whole.check(looping(), {"format": 3, "control": control})
    assert "it has no part `files`" == whole.check(
        looping(), {"format": 3, "control": control, "data": data}
    )
    assert "part `control`: " in str(
        whole.check(looping(), {"format": 3, "control": data, "data": data})
    )
    assert "part `control`: " in str(
        whole.check(looping(), {"format": 3, "control": None, "data": data, "files": files})
    )
    assert "part `data`: " in str(
        whole.check(looping(), {"format": 3, "control": control, "data": control})
    )
    assert "part `files`: " in str(
        whole.check(looping(), {"format": 3, "control": control, "data": data, "files": data})
    )
    assert "form 3" in str(whole.check(looping(), control))  # a file of an older fdc


def test_labels_are_read_as_they_are_written() -> None:
    for facts in (
        [],
        ["workspace"],
        ["workspace", "untrusted path url"],
        ["model", "untrusted"],
        ["untrusted code"],
    ):
        assert facts == written(label_of(facts))


def test_paths_that_are_apart_begin_or_end_differently() -> None:
    def files(text: str) -> file_sets.Files:
        return file_sets.files_of(text.replace("{run}", "runs/\1").replace("{x}", "\0"))

    for one, other in (
        ("a/b", "a/c"),
        ("a/{x}.md", "a/{x}.txt"),
        ("a/{x}", "b/{x}"),
        ("{run}/x", "x"),
        ("{run}/x", "{run}/y"),
    ):
        assert file_sets.apart(files(one), files(other)), (one, other)
    for one, other in (("a/./b", "a/b"), ("a/{x}.md", "a/b.md"), ("{x}", "{run}/x"), ("runs/old/x", "{run}/x"), ("a/*", "a/b"),
                       ("a/../{x}", "c"), ("{run}/{x}", "{run}/y"), ("a{run}b", "axb")):  # fmt: skip
        assert not file_sets.apart(files(one), files(other)), (one, other)
    assert not file_sets.apart(file_sets.SEEN, files("{run}/x")) and file_sets.apart(
        file_sets.SEEN, files("{run}/outside/x")
    )


def test_a_value_in_an_option_is_no_plain_argument() -> None:
    for command in ("wc -l a", "sort -n a", "diff a b", "head -n 3 {x}", "head -{x} a", "wc {x}"):
        assert touches.only_looks(command.replace("{x}", "\0")) is not None, command
        assert is_data_command(Value(command, template(command), 0, len(command))), command
    for command in (
        "sort -{x} a",
        "sort -n{x} a",
        "diff -{x} a b",
        "sort {x}",
        "sort -o a b",
        "wc a;ls",
        "cat <a",
        "sha256sum -c a",
        "sha256sum -bcz a",
        "sha256sum --chec a",
        "sha256sum a --check",
        "wc --files0-from=a",
        "wc --f a",
        "tail -f a",
        "tail -5F a",
        "tail --fol=name a",
        "tail -{x} a",
        "cat 'a'",
    ):
        assert touches.only_looks(command.replace("{x}", "\0")) is None, command
        assert not is_data_command(Value(command, template(command), 0, len(command))), command


def test_every_shipped_plan_is_certified() -> None:
    for one in plans():
        if any(
            line.startswith(("use fsm", "# FSM:")) for line in one.read_text("utf-8").splitlines()
        ):
            found, _ = compile_plan(str(one), str(ROOT))
            assert found is not None, one
            assert None is wrong(found), one


# ---- the checker by itself ----------------------------------------------------------------------------------


def test_the_checker_needs_nothing_else_of_fdc(tmp_path: Path) -> None:
    folder = tmp_path / "checker"
    (folder / "files").mkdir(parents=True)
    for name in CHECKER:
        text = (PACKAGE / "certificate" / f"{name}.py").read_text("utf-8")
        assert len(text.splitlines()) <= 200, name
        (folder / f"{name}.py").write_text(text, "utf-8")
    made = {"format": 3, "control": make_control.make(calling()), "data": make_data.make(calling())}
    made["files"] = make_files.make(calling(), lambda path: "file")
    (tmp_path / "p.json").write_text(json.dumps(calling()), "utf-8")
    (tmp_path / "c.json").write_text(json.dumps(made), "utf-8")
    script = (
        "import json, sys; sys.path.insert(0, '.'); from checker.check import check; "
        "print(check(json.load(open('p.json')), json.load(open('c.json'))), sorted(n for n in sys.modules if 'fdc' in n))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert ("None []\n", "") == (done.stdout, done.stderr)
