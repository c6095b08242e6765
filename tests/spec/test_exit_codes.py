"""One table of exit codes: the page shows it, every help text keeps to it, and no command returns a number of its own."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from fdc_toolchain import exits
from fdc_toolchain.cli.main import commands as of_fdc
from fdc_toolchain.cli.main import group
from fdc_toolchain.console.run_summary import broken_off, exit_code
from fdc_toolchain.runs import run_driver
from fdc_toolchain.runs.observer import Silent

from tests.support.inside import fdc
from tests.support.repository import ROOT

CODES = {code for code, _, _ in exits.TABLE}
NAMED = ("CLEAN", "FINDINGS", "USAGE", "WORLD", "BUG", "PERSON", "PARTIAL", "NO_RESULT", "INTERRUPTED")  # fmt: skip


def test_the_page_is_the_table() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text("utf-8")
    head, _, rest = text.partition("| code | name | what it means |\n|---|---|---|\n")
    assert head and rest
    shown = [
        tuple(cell.strip() for cell in line.strip("|").split(" | "))
        for line in rest.partition("\n\n")[0].split("\n")
    ]
    assert [(str(code), name, meaning) for code, name, meaning in exits.TABLE] == shown


def test_every_code_has_one_row_and_one_name() -> None:
    assert [getattr(exits, name) for name in NAMED] == [code for code, _, _ in exits.TABLE]
    assert exits.CLEAN == os.EX_OK  # what the start-up path of `fdc lint` returns
    raised = [one for one in vars(exits).values() if isinstance(one, type)]
    assert {one.code for one in raised if issubclass(one, exits.Exit)} <= CODES


@pytest.mark.parametrize("name", ["fdc", *of_fdc()])
def test_a_help_text_names_codes_of_the_table_in_their_order(name: str) -> None:
    for command in everything(name):
        text = " ".join(f"{command.help or ''} {command.epilog or ''}".split())
        _, found, said = text.partition("Exit codes: ")
        codes = [int(one) for one in re.findall(r"(?:^|[,;] )(\d+) (?=[a-z])", said)]
        assert bool(found) == bool(codes), (command.name, text)
        assert set(codes) <= CODES and sorted(codes) == codes, (command.name, codes)


def everything(name: str) -> Iterator[click.Command]:
    """A command and its subcommands; `fdc` itself alone."""
    if name == "fdc":
        top = group()
        assert isinstance(top, click.Group)
        yield top
        return
    all_of_them = group()
    command = all_of_them.get_command(click.Context(all_of_them), name)
    assert command is not None
    waiting = [command]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, click.Group):
            ctx = click.Context(one)
            found = [one.get_command(ctx, word) for word in one.list_commands(ctx)]
            waiting += [child for child in found if child is not None]


def test_a_run_that_waits_is_no_failure_of_the_world(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands that want an answer of a run say what it waits for."""
    (workspace / "ask.plan").write_text(
        'set_plan x\nplan_step_complete x\nwho <- request_user_input "who?"\nclose_task\nsubmit\n'
    )
    assert fdc("run", "ask.plan", cwd=workspace).returncode == exits.PERSON
    with run_driver.reading(str(workspace)) as store:
        name = run_driver.the_run(store, "last").name
    ended = run_driver.drive_run(str(workspace), name, Silent())
    broken_off(ended)
    assert (ended.status, exit_code(ended)) == ("waiting", exits.PERSON)
    said = capsys.readouterr().err
    assert 'question: "who?"\n' in said and f"`fdc answer {name}` asks you" in said


def commands() -> list[Path]:
    """The modules of the command line, and those of the packs that end a command."""
    tooling = ROOT / "tooling"
    packs = [
        path
        for path in (tooling / "fdc_packs").rglob("*.py")
        if "import click" in path.read_text("utf-8")
    ]
    return [*(tooling / "fdc_toolchain" / "cli").rglob("*.py"), *packs]


def test_no_command_ends_with_a_number_that_has_no_name() -> None:
    found = []
    for path in commands():
        tree = ast.parse(path.read_text("utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and is_code(function.returns):
                found += [
                    f"{path.relative_to(ROOT)}:{node.lineno}"
                    for node in ast.walk(function)
                    if isinstance(node, ast.Return) and is_number(node.value)
                ]
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("sys.exit", "os._exit", "ctx.exit")
            and any(is_number(one) for one in node.args)
        ]
    assert not found
    assert any("worker.py" in str(path) for path in commands())


def is_code(returns: ast.expr | None) -> bool:
    return returns is not None and ast.unparse(returns) in ("int", "int | None")


def is_number(value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return is_number(value.body) or is_number(value.orelse)
    return isinstance(value, ast.Constant) and type(value.value) is int
