"""Plans and names through the API: paths, broken files, names of nothing. What fails is an FdcError."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from fdc_toolchain import api
from fdc_toolchain.workspace import run_folders

from tests.support import process
from tests.support.plans import CLEAN


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
        with pytest.raises(api.NotFound, match=r"the plan `only-here\.plan` is neither"):
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


OWN_TOOLS = """{"format": 1, "name": "words", "tools": {"count_words": {
  "summary": "count words", "action": "step_op", "effect": "pure", "trust": "workspace",
  "parameters": [{"name": "path", "kind": "path", "access": "read"}],
  "result": "number", "run": {"python": "counting:words"}}}}"""
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
    "cancel": lambda run, folder: api.cancel(run, workspace=folder),
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
    with pytest.raises(api.NotFound, match="is neither a file nor a registered name"):
        TAKES_PLANS[name](plan, home)


@pytest.mark.parametrize("run", ["", "no-such-run", "last", "a/b", "../x", "%", "a\0b", "a\ud800b"])
@pytest.mark.parametrize("name", TAKES_RUNS)
def test_a_run_that_is_not_there_is_not_found(home: Path, name: str, run: str) -> None:
    with pytest.raises(api.NotFound, match=r"no run (yet|begins with)"):
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


@pytest.mark.parametrize("wrong", [None, 3, b"clean.plan", Path])
def test_what_the_types_forbid_is_invalid_input(home: Path, wrong: object) -> None:
    for call in (*TAKES_PLANS.values(), *TAKES_RUNS.values()):
        with pytest.raises(api.InvalidInput, match="expected text"):
            call(wrong, home)  # type: ignore[arg-type]
        with pytest.raises(api.InvalidInput, match="expected text"):
            call("clean.plan", wrong)  # type: ignore[arg-type]
    with pytest.raises(api.InvalidInput, match="expected text"):
        api.check("clean.plan", text=b"x", workspace=home)  # type: ignore[arg-type]


def test_a_folder_for_records_that_is_a_file_is_trouble_of_the_world(home: Path) -> None:
    (home / ".fdc").write_text("no folder", "utf-8")
    with pytest.raises(api.WorldTrouble):
        api.begin("clean.plan", workspace=home)
    assert () == api.runs(workspace=home)


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


def test_the_canonical_form_is_that_of_fmt(home: Path) -> None:
    untidy = CLEAN.replace("read_file docs", "read_file    docs").replace("\n", "\r\n")
    assert CLEAN.replace("\n", "\r\n") == api.format_plan(untidy)
    assert CLEAN == api.format_plan(CLEAN)
    assert api.format_plan("if\n") is None and api.format_plan("set_plan \ud800\n") is None


def test_bounds_are_formulas_and_numbers(home: Path) -> None:
    text = CLEAN.replace("read_file docs/tea.md", "for_each_file docs/*.md\n  read_file {file1}")
    found = api.bounds("loop.plan", text=text, workspace=home)
    assert ("|docs/*.md| + 4", 5) == (found.steps.formula, found.steps.number), found
    assert (1, False, False) == (found.degree, found.writes, found.shell)
    with pytest.raises(api.PlanRefused, match="FDC301"):
        api.bounds("loop.plan", text="raed_file x\n", workspace=home)


def test_the_catalogue_says_what_plans_can_name(home: Path) -> None:
    (home / "fdc_tools.json").write_text(OWN_TOOLS, "utf-8")
    found = api.catalogue(workspace=home)
    tools = {tool.name: tool for tool in found.tools}
    assert [*tools] == sorted(tools) and "deep-research" in found.plans
    assert ("read a file", "read_op", "read") == (
        tools["read_file"].summary, tools["read_file"].action, tools["read_file"].effect
    )  # fmt: skip
    (path,) = tools["read_file"].parameters
    assert api.Parameter(name="path", kind="path", required=True, access="read") == path
    assert "count words" == tools["count_words"].summary and "hello_world" in tools


def test_spans_count_in_the_text_of_the_result(home: Path) -> None:
    found = api.check("x.plan", text="set_plan x\r\n  \u00e9raed x\r\n", workspace=home)
    lines = found.text.split("\n")
    assert "  \u00e9raed x" == lines[1] and found.errors
    for item in found.errors:
        assert 1 <= item.span.column <= item.span.end_column <= len(lines[item.span.line - 1]) + 2


def test_a_program_is_its_json(home: Path) -> None:
    from hashlib import blake2b

    program = api.compile_plan("clean.plan", workspace=home)
    assert program.hash == blake2b(program.json.encode("ascii"), digest_size=32).hexdigest()
    assert "clean.plan" == json.loads(program.json)["root"]
    assert json.loads(json.dumps(asdict(program)))["hash"] == program.hash


def test_a_command_of_a_run_begins_drives_and_answers_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FDC-37: as on the command line."""
    run = api.begin("clean.plan", workspace=home)
    with monkeypatch.context() as inside:
        inside.setenv("FDC_RUN", "outer")
        for call in (
            TAKES_PLANS["begin"],
            *(TAKES_RUNS[name] for name in ("drive", "resume", "answer", "cancel")),
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
