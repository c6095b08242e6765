"""`fdc init`: sets up a repository for fdc. It shows each file, writes all or none, and keeps existing content."""

from __future__ import annotations

import json
import os
import shutil
import sys

import click

from ....console.options import choice_option, flag_option, text_option
from ....console.terminal import say, style
from ....durable import replace_all
from ....exits import CLEAN, UsageError, WorldError
from ....linking.project.root import find_root, has_settings
from ....linking.project.settings import Settings
from ....report.diff import unified
from ....report.terminal.terminal_text import visible
from ....workspace.confirmed_settings import settings_of
from . import agent_files, bare, file_edits, hooks_folder, removal, test_command

_MOST_CHARACTERS = 200


@click.command(epilog="Exit codes: 0 done, 2 wrong usage, 3 the environment failed.")
@click.argument("folder", required=False, type=click.Path())
@choice_option(
    "--agent agents",
    [*agent_files.AGENTS],
    "Also write this agent's files: instructions, a skill, a hook. May be repeated.",
    many=True,
)
@text_option(
    "--test-command test",
    "TEXT",
    "The command that runs the tests. [default: found in the files of the repository]",
)
@flag_option("--remove", "Remove what `fdc init` wrote and nobody changed.")
@flag_option("--dry-run", "Show every change, without writing.")
def command(
    folder: str | None, agents: tuple[str, ...], test: str | None, remove: bool, dry_run: bool
) -> int:
    """Write what a repository needs to work with fdc: settings, a plan that runs, a rule, hooks.

    FOLDER is the repository. [default: the repository of the current folder] Existing files keep their content: fdc
    adds a block or a hook to some, once, and a second `fdc init` changes nothing. `fdc init --remove` takes that back.
    """
    root = os.path.abspath(folder) if folder else find_root(os.getcwd())
    if not os.path.isdir(root):
        raise UsageError(f"the folder `{folder}` does not exist")
    own = bare.repository_of(root)
    if own is not None:
        raise UsageError(
            f"`{visible(own)}` belongs to git and has no working tree (it is a bare repository or a `.git` folder):"
            " start `fdc init` in a clone or a worktree"
        )
    if remove and (agents or test is not None):
        raise UsageError(
            "`--remove` removes the files of every agent: it takes no `--agent` and no `--test-command`"
        )
    settings = settings_of(root)
    if remove:
        return _remove(root, settings, dry_run)
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


def _remove(root: str, settings: Settings, dry_run: bool) -> int:
    """Removes what `fdc init` wrote, and shows it file by file, with what stays."""
    root = os.path.realpath(root)
    tests = [settings.test_command, test_command.found(root), test_command.ASSUMED]
    plan = removal.planned(root, settings, [test for test in dict.fromkeys(tests) if test])
    click.echo(f"workspace: {visible(root)}")
    for path in plan.gone:
        click.echo(f"remove  {visible(path)}")
    for path in plan.changed:
        click.echo(f"change  {visible(path)}: without what `fdc init` added")
    for path, why in plan.left:
        click.echo(f"leave   {visible(path)}: {visible(why)}")
    if dry_run:
        for path, data in plan.changed.items():
            old, new = (text.decode("utf-8", "replace") for text in (plan.old[path], data))
            click.echo(unified(path, old, new, style()), nl=False)
        click.echo("nothing was removed (--dry-run)")
        return CLEAN
    try:
        removal.apply(root, plan)
    except OSError as failed:
        where = f" ({visible(str(failed.filename))})" if failed.filename else ""
        raise WorldError(f"nothing was removed: {failed.strerror or failed}{where}") from failed
    if not plan.gone and not plan.changed:
        say("nothing to do: `fdc init` wrote nothing that is here")
    hook = os.path.join(root, ".git", "hooks", "pre-commit")
    if ".pre-commit-config.yaml" in plan.gone and os.path.exists(hook):
        say(
            "\nGit still starts pre-commit before each commit, which fails without its file: `pre-commit uninstall` ends that."
        )
    return CLEAN


def _next(work: file_edits.Work, chosen: str | None, git: bool) -> None:
    """The next steps; nothing to do if nothing changed."""
    if not work.files:
        say("nothing to do: every file exists")
        return
    if chosen is None:
        say(
            f"\nNo file shows how to run the tests: `{test_command.ASSUMED}` is assumed. If that is wrong: `fdc init --remove`,"
            " then `fdc init --test-command COMMAND`."
        )
    else:
        say(
            f"\nThe tests are run with `{chosen}`: fdc.toml has it, and the rule in protocols/ asks for it before a plan submits."
        )
        lacking = test_command.lacks(work.root, chosen)
        if lacking:
            say(
                f"{lacking} Install it, or let fdc run another command: `fdc init --remove`, then"
                " `fdc init --test-command COMMAND` (for example `python3 -m unittest`)."
            )
    say("\nnext:")
    say("  fdc run plans/first.plan    run the first plan")
    say("  fdc lint                    prove every plan of this repository")
    own = hooks_folder.of_repository(work.root) if git else None
    if git and own is None:
        say("  pre-commit install          hooks before each commit (`pip install pre-commit`)")
    if own is not None:
        name = visible(os.path.join(own, "pre-commit"))
        say(
            f"\nGit runs the hooks of `{visible(own)}` here, and `pre-commit install` refuses that or has no effect. To lint"
            f" before each commit, add the line `fdc lint --staged` to `{name}`; a new file must be executable."
        )
    beside = os.path.join(sys.prefix, "bin")  # of an environment that may not be on PATH tomorrow
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if not shutil.which("fdc", path=os.pathsep.join(name for name in folders if name != beside)):
        say(
            "\nHooks and agents call `fdc`: it must be on their PATH, for example after `uv tool install PLACE` or"
            " `pipx install PLACE` (a checkout or a wheel of fdc)."
        )
