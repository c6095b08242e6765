"""`fdc --help` shows what is used most, `fdc help --all` everything, `fdc help COMMAND` one command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from fdc_toolchain.cli.headings import HEADINGS, arranged
from fdc_toolchain.cli.main import COMMANDS, _command, commands

from tests.support import process
from tests.support.inside import fdc


def shown(text: str) -> dict[str, list[str]]:
    """The commands of a page of help, by heading."""
    out: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if heading := re.fullmatch(r"(\w+):", line):
            rows = out.setdefault(heading[1], [])
        elif command := re.match(r"  ([a-z]\w*)  +\S", line):
            rows.append(command[1])
    return {name: found for name, found in out.items() if name != "Options"}


def test_the_first_page_is_short_and_says_where_the_rest_is(tmp_path: Path) -> None:
    done = fdc("--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    page = shown(done.stdout)
    assert ["Plans", "Runs", "Systems", "Project"] == list(page)
    assert len([one for rows in page.values() for one in rows]) <= 17
    assert {"lint", "explain", "tools"} <= {*page["Plans"]} and {"run", "answer"} <= {*page["Runs"]}
    assert "fdc help --all" in done.stdout and "5 a person has to" in done.stdout
    assert done.stdout == fdc("help", cwd=tmp_path).stdout == fdc("-h", cwd=tmp_path).stdout


def test_the_whole_page_has_every_command_once(tmp_path: Path) -> None:
    done = fdc("help", "--all", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    page = shown(done.stdout)
    assert sorted(commands()) == sorted(one for rows in page.values() for one in rows)
    first = shown(fdc("--help", cwd=tmp_path).stdout)
    for heading, rows in first.items():
        assert {*rows} <= {*page[heading]}


def test_every_command_of_the_core_has_a_heading_and_no_other_has() -> None:
    placed = [one for _, first, more in HEADINGS for one in (*first.split(), *more.split())]
    assert sorted(COMMANDS) == sorted(placed)


def test_a_command_of_a_pack_stands_among_the_systems() -> None:
    assert [("Runs", ["run"]), ("Systems", ["agent", "brew"])] == arranged(
        ["agent", "brew", "run", "fork"], everything=False
    )


@pytest.mark.parametrize("words", [("lint",), ("run",), ("lessons", "apply")])
def test_help_of_a_command_is_its_own(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = fdc("help", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        fdc(*words, "--help", cwd=tmp_path).stdout,
        "",
    )
    assert f"Usage: fdc {' '.join(words)} " in done.stdout


def test_what_cannot_be_explained_is_one_sentence(tmp_path: Path) -> None:
    done = fdc("help", "lintt", cwd=tmp_path)
    assert done.returncode == 2 and "no such command `lintt`; did you mean `lint`?" in done.stderr
    both = fdc("help", "lint", "--all", cwd=tmp_path)
    assert (both.returncode, both.stderr) == (2, "fdc: name a COMMAND or use --all, not both\n")


def test_a_command_of_a_run_may_read_the_help_and_begin_nothing(workspace: Path) -> None:
    """FDC-37."""
    inside = {"FDC_RUN": "r"}
    done = process.fdc("help", "run", cwd=workspace, env=inside)
    assert done.returncode == 0 and "Usage: fdc run" in done.stdout, done.stderr
    for words in (("run", "help"), ("help", "run", "--all")):
        assert process.fdc(*words, cwd=workspace, env=inside).returncode == 2


def test_plan_manager_cuts_no_sentence_either(tmp_path: Path) -> None:
    there = process.fdc("--help", cwd=tmp_path, script="plan_manager.py")
    assert "are any." in there.stdout and "...\n" not in there.stdout.partition("Commands:")[2]


def test_no_sentence_is_cut_in_the_list_of_subcommands() -> None:
    for name in COMMANDS:
        command = _command(name)
        for one in getattr(command, "commands", {}).values():
            assert not one.get_short_help_str(45).endswith("..."), (name, one.name)


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it."""
    with click.Context(command, info_name=name) as context:
        yield name, command.get_help(context)
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                found = command.get_command(context, below)
                assert found is not None, below
                yield from helps(found, f"{name} {below}")


def test_each_help_is_written_and_gives_ranges_in_words() -> None:
    """An option with a type of numbers and no bounds made `fdc fix --help` end as a bug of fdc."""
    found = {name: _command(name) for name in commands()}
    pages = [page for name, one in found.items() if one is not None for page in helps(one, name)]
    assert len(pages) > 80
    assert {"fix", "grammar", "alphabet ground", "explore"} <= {name for name, _ in pages}
    for name, page in pages:
        assert not re.search(r"\[[^\]]*<=?\s*x|x\s*<=?", page), name
