"""One name for one option, whatever the command; spellings of 0.1.0 go on working, and no help shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from fdc_toolchain.cli.main import commands, group
from fdc_toolchain.cli.scripts import code_suggester, protocol_updater
from fdc_toolchain.console.options import Renamed, folder_named

from tests.support.inside import fdc

OLD = {"lint": "--output-file", "research": "--out", "protocols import": "--out"}
CODE = "def reserve(order):\n    '''Reserves stock for an order.'''\n    return order\n"
USE = "from stock import reserve\n\n\ndef sell(order):\n    return reserve(order)\n"


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for word in command.list_commands(ctx):
            one = command.get_command(ctx, word)
            assert one is not None
            yield from leaves(f"{name} {word}", one)
    else:
        yield name, command


def every() -> dict[str, click.Command]:
    all_of_them = group()
    found = {name: all_of_them.get_command(click.Context(all_of_them), name) for name in commands()}
    assert all(found.values())
    return dict(one for name, command in found.items() if command for one in leaves(name, command))


def test_options_with_one_meaning_have_one_name() -> None:
    renamed: dict[str, str] = {}
    for name, command in every().items():
        for option in command.params:
            if isinstance(option, click.Option):
                assert not {"--out", "--output-file", "--root", "--dir"} & {*option.opts}, name
                if {"-o", "-q"} & {*option.opts}:
                    assert {"--output", "--quiet"} & {*option.opts}, name
            if isinstance(option, Renamed) and option.old:
                [renamed[name]] = option.old
    assert OLD == renamed


@pytest.mark.parametrize("words", [("lint",), ("research",), ("protocols", "import")])
def test_no_help_shows_an_old_spelling(tmp_path: Path, words: tuple[str, ...]) -> None:
    shown = fdc(*words, "--help", cwd=tmp_path).stdout
    assert "--output " in shown and OLD[" ".join(words)] + " " not in shown


@pytest.mark.parametrize("name", ["--output", "--output-file", "-o"])
@pytest.mark.parametrize("form", ["{} report.txt", "{}=report.txt"])
def test_the_report_of_a_lint_goes_where_either_spelling_says(
    workspace: Path, name: str, form: str
) -> None:
    if name == "-o" and "=" in form:
        form = "{} report.txt"
    (workspace / "a.plan").write_text("raed_file a.md\n")
    done = fdc("lint", "a.plan", *form.format(name).split(), cwd=workspace)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert "raed_file" in (workspace / "report.txt").read_text()


@pytest.mark.parametrize("name", ["--output", "--out", "-o"])
def test_a_report_of_research_goes_where_either_spelling_says(workspace: Path, name: str) -> None:
    (workspace / "tea.md").write_text("# Tea\n\nGreen tea wants water of eighty degrees.\n")
    done = fdc("research", "How hot is water for green tea?", name, "r.md", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "eighty degrees" in (workspace / "r.md").read_text()


@pytest.fixture
def shop(workspace: Path) -> Path:
    (workspace / "stock.py").write_text(CODE)
    (workspace / "use.py").write_text(USE)
    return workspace


def test_systems_work_in_the_workspace_that_is_named(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> None:  # fmt: skip
    away = tmp_path_factory.mktemp("away")
    there = ("--workspace", str(shop))
    for words in (
        ("explore", "Who calls `reserve`?"),
        ("fix", "--test", "true", "--allow-unsandboxed"),
        ("research", "Who reserves stock?", "--docs", str(shop), "--code"),
        ("lgtm", "How is stock reserved for an order?"),
    ):
        before = len(runs(shop))
        done = fdc(*words, *there, cwd=away)
        assert done.returncode in (0, 1, 7), done
        assert before < len(runs(shop)), (words, done)
    assert [] == list(away.iterdir())
    refused = fdc("explore", "Who calls `reserve`?", "--workspace", "nowhere", cwd=away)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the workspace `nowhere` is not a folder" in refused.stderr


def test_a_workspace_that_is_no_folder_is_refused_by_every_command(tmp_path: Path) -> None:
    found = {
        name: option
        for name, command in every().items()
        for option in command.params
        if {"--workspace", "--old-workspace"} & {*option.opts}
        and name != "lint"  # its options are read without click
    }
    assert [] == [name for name, option in found.items() if option.callback is not folder_named]
    for words in ("lint a.plan", "tools", "analyze a.plan", "diff a.plan a.plan", "registry list"):
        refused = fdc(*words.split(), "--workspace", "nowhere", cwd=tmp_path)
        assert (2, "") == (refused.returncode, refused.stdout), words
        assert "the workspace `nowhere` is not a folder" in refused.stderr


def runs(workspace: Path) -> list[object]:
    done = fdc("runs", "--format", "json", cwd=workspace)
    return list(json.loads(done.stdout)["runs"])


@pytest.mark.parametrize(
    "words", [("explore", "Who calls `reserve`?"), ("research", "Who reserves stock?", "--code")]
)
def test_a_budget_ends_a_question_too(shop: Path, words: tuple[str, ...]) -> None:
    done = fdc(*words, "--budget", "steps=2", cwd=shop)
    assert done.returncode == 1 and "the budget of 2 steps is used up" in done.stderr, done
    wrong = fdc(*words, "--budget", "tea=2", cwd=shop)
    assert wrong.returncode == 2 and "expected MEASURE=NUMBER" in wrong.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("explore", "Who calls `reserve`?"),
        ("lgtm", "How is stock reserved for an order?"),
        ("fix", "--test", "python3 use.py", "--allow-unsandboxed"),
    ],
)
def test_a_quiet_command_prints_the_same_result_and_less_beside_it(
    shop: Path, words: tuple[str, ...]
) -> None:
    aloud, quiet = fdc(*words, cwd=shop), fdc(*words, "--quiet", cwd=shop)
    assert aloud.returncode == quiet.returncode == (7 if words[0] == "lgtm" else 0), aloud
    assert without_runs(aloud.stdout) == without_runs(quiet.stdout)
    assert len(quiet.stderr.splitlines()) <= 3 and len(quiet.stderr) < len(aloud.stderr), quiet


def without_runs(text: str) -> str:
    """A text without the names of runs."""
    return re.sub(r"\d{8}-\d{6}-\w{4}", "RUN", text)


WITHOUT_WORKSPACE = set(
    "explain rules probe schema completion help init lsp".split()
) | {f"pack {name}" for name in "check install list new show".split()} | {"cache clear", "cache show"}  # fmt: skip
"""Commands that look at no workspace, or are given the folder that they write."""


def test_every_command_of_the_core_that_looks_at_a_workspace_can_be_given_one() -> None:
    without = {
        name
        for name, command in every().items()
        if not any("--workspace" in option.opts for option in command.params)
        and not name.startswith(
            ("hook ", "alphabet ", "protocols import", "protocols diff", "protocols graph")
        )
    }
    assert WITHOUT_WORKSPACE == without


def test_protocols_and_models_are_checked_in_another_workspace(
    workspace: Path, tmp_path: Path
) -> None:
    there = str(workspace)
    (workspace / "protocols").mkdir()
    done = fdc("protocols", "check", "--workspace", there, cwd=tmp_path)
    assert done.returncode == 1 and "VERSION does not exist" in done.stderr
    (workspace / "a.plan").write_text("define_set_of_names N\n")
    done = fdc(
        "csdc", str(workspace / "a.plan"), "--model", "B", "--workspace", there, cwd=tmp_path
    )
    assert done.returncode == 1 and "define_set_of_names" in done.stdout


def scripts() -> dict[str, click.Command]:
    made = (protocol_updater.command, code_suggester.command)
    return dict(one for command in made for one in leaves(command.callback.__module__, command))


def test_a_required_option_is_asked_for(tmp_path: Path) -> None:
    asked = set()
    for name, command in {**every(), **scripts()}.items():
        needed = [one for one in command.params if isinstance(one, click.Option) and one.required]
        for option in needed:
            asked.add(name)
            others = [[one.opts[0], "A"] for one in needed if one is not option]
            given = [*(word for pair in others for word in pair), str(tmp_path / "plan")]
            with pytest.raises(click.MissingParameter):
                command.main(given, prog_name=name, standalone_mode=False)
    assert {"runs prune", "csdc", "fdc_toolchain.cli.scripts.protocol_updater add-tool"} <= asked, (
        asked
    )


@pytest.mark.parametrize(
    "words",
    [
        ["run", "a.plan", "--shell-timeout"],
        ["cancel", "last", "--wait"],
        ["runs", "--stalled"],
        ["lgtm", "why?", "--confidence"],
    ],
)
def test_nan_is_no_number(tmp_path: Path, words: list[str]) -> None:
    """It was taken, and was a limit that nothing reaches."""
    (tmp_path / "fdc.toml").write_text("")
    (tmp_path / "a.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n")
    done = fdc(*words, "nan", cwd=tmp_path)
    assert 2 == done.returncode and f"'{words[-1]}': `nan` is not a number" in done.stderr, done
