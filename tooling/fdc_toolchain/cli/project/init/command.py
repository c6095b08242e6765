"""`fdc init`: sets up a repository for fdc. It shows each file, writes all or none, and keeps existing content."""

from __future__ import annotations

import json
import os

import click

from ....console.terminal import say, style
from ....durable import replace_all
from ....exits import CLEAN, UsageError, WorldError
from ....linking.project.root import find_root, has_settings
from ....report.diff import unified
from ....report.terminal.terminal_text import visible
from ....workspace.confirmed_settings import settings_of
from . import agent_files, file_edits, test_command

_MOST_CHARACTERS = 200


@click.command(
    epilog="Exit codes: 0 done, 2 wrong usage, 3 the environment failed.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("folder", required=False, type=click.Path())
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([*agent_files.AGENTS]),
    help="Also write this agent's files: instructions, a skill, a hook. May be repeated.",
)
@click.option(
    "--test-command",
    "test",
    metavar="TEXT",
    help="The command that runs the tests. [default: found in the files of the repository]",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, without writing.")
def command(folder: str | None, agents: tuple[str, ...], test: str | None, dry_run: bool) -> int:
    """Write what a repository needs to work with fdc: settings, a plan that runs, a rule, hooks.

    FOLDER is the repository. [default: the repository of the current folder] Existing files keep their content: fdc
    adds a block or a hook to some, once, and a second `fdc init` changes nothing.
    """
    root = os.path.abspath(folder) if folder else find_root(os.getcwd())
    if not os.path.isdir(root):
        raise UsageError(f"the folder `{folder}` does not exist")
    settings = settings_of(root)
    stated = has_settings(root)
    if stated and test is not None and settings.test_command not in (None, test):
        raise UsageError(
            f"the settings say `test-command = {json.dumps(settings.test_command, ensure_ascii=False)}`, and `fdc init`"
            " changes no setting: change it there and in the rule in protocols/, then run `fdc protocols build`"
        )
    chosen = test if test is not None else settings.test_command or test_command.found(root)
    if chosen is not None and not (
        chosen.strip() and chosen.isprintable() and len(chosen) <= _MOST_CHARACTERS
    ):
        name = "`--test-command`" if test is not None else "the setting `test-command`"
        raise UsageError(f"{name} must be one line of at most {_MOST_CHARACTERS} characters")
    work = file_edits.Work(root)
    git = os.path.exists(os.path.join(root, ".git"))
    rules = file_edits.wanted(work, settings, stated, chosen or test_command.ASSUMED, git)
    for name in dict.fromkeys(agents):
        agent_files.wanted(work, name, rules, chosen or test_command.ASSUMED)
    _show(work, root, dry_run)
    hidden = file_edits.hidden(work) if git else []
    if hidden:
        names = ", ".join(f"`{visible(path)}`" for path in hidden)
        say(
            f"\nThe .gitignore of this repository ignores {names}: git does not share it."
            " `git add --force PATH` adds it anyway."
        )
    if not dry_run:
        try:
            replace_all(work.files)
        except OSError as failed:
            where = f" ({visible(str(failed.filename))})" if failed.filename else ""
            raise WorldError(f"nothing was written: {failed.strerror or failed}{where}") from failed
        _next(work, chosen, git)
        if work.files and "codex" in agents:
            say(
                "Codex runs the hook only after you trust this folder and the hook: start `codex` here, and confirm both."
            )
    return CLEAN


def _show(work: file_edits.Work, root: str, dry_run: bool) -> None:
    click.echo(f"workspace: {visible(root)}")
    for done in work.done:
        why = "\n  ".join(visible(line) for line in done.why.splitlines())
        click.echo(f"{done.word:<8}{visible(done.path)}" + (f": {why}" if why else ""))
    if dry_run:
        for real, data in work.files.items():
            old = (work.before[real] or b"").decode("utf-8", "replace")
            path = os.path.relpath(real, work.root)
            click.echo(unified(path, old, data.decode("utf-8", "replace"), style()), nl=False)
        click.echo("nothing was written (--dry-run)")


def _next(work: file_edits.Work, chosen: str | None, git: bool) -> None:
    """The next steps; nothing to do if nothing changed."""
    if not work.files:
        say("nothing to do: every file exists")
        return
    if chosen is None:
        say(
            f"\nNo file shows how to run the tests: `{test_command.ASSUMED}` is assumed. Correct it in fdc.toml and protocols/."
        )
    else:
        say(
            f"\nThe tests are run with `{chosen}`: fdc.toml has it, and the rule in protocols/ asks for it before a plan submits."
        )
    say("\nnext:")
    say("  fdc run plans/first.plan    run the first plan")
    say("  fdc lint                    prove every plan of this repository")
    if git:
        say("  pre-commit install          hooks before each commit (`pip install pre-commit`)")
    say(
        "\nHooks and agents call `fdc`: it must be on PATH, for example after `uv tool install fdc-toolchain` or"
        " `pipx install fdc-toolchain`."
    )
