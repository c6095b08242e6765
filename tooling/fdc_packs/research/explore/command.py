"""`fdc explore`: runs the registered exploration on a question and prints its answer as Markdown.

The answer goes to stdout, the tracks and what is under way to stderr. The run and its page
`runs/RUN/synthesis.md` stay in the workspace.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    NO_RESULT,
    PERSON,
    Aside,
    Json,
    UsageError,
    budget_option,
    count_option,
    flag_option,
    format_option,
    quiet_option,
    say,
    say_json,
    text_option,
    workspace_option,
    written,
)
from fdc_toolchain.api.text import visible

if TYPE_CHECKING:
    from fdc_toolchain.api.commands import Ended
    from fdc_toolchain.api.records import Store
    from fdc_toolchain.api.tools import Outcome, Perform

PLAN = "explore"
OUTSIDE = """\
Some files of this workspace are text from outside, and such text must not choose which files are read. You can do one of these:
- explore a folder that has no such files: `fdc explore "QUESTION" --workspace FOLDER`
- read what an earlier run stored, and approve it: `fdc trust --file FILE`
- move the files out of the workspace; if `untrusted` in fdc.toml names them, remove their entry"""
"""What a person can do where the files of a workspace are from outside (FDC471)."""
_NAME = re.compile(r"^  \d+\. (.+?) \(", re.MULTILINE)
"""The name of a track, in the plan of the tracks that is said (`tracks`)."""
EXITS = {
    "success": CLEAN,
    "confusion": PERSON,
    "ambiguity": PERSON,
    "blocked": NO_RESULT,
    "absent": NO_RESULT,
}


@click.command(
    epilog="Exit codes: 0 answered, 1 the run stopped, 2 wrong usage, 3 the environment failed, 4 a bug of fdc, 5 the question "
    "must be rephrased or is ambiguous, 7 blocked or not found."
)
@click.argument("question")
@text_option("--paths", "GLOB", "A pattern of the files to analyse.", default="**")
@flag_option("--broad", "Take an ambiguous name for all of its meanings.")
@count_option(
    "--deepen-above", 0, None, "Divide a track that finds more places than this.", default=120
)
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Also sort results by meaning (default: if the extra `semantic` is installed).",
)
@flag_option(
    "--full", "Print the whole page instead of its first lines, and the plan of the tracks."
)
@text_option(
    "--model", "NAME", "The model that reasons (else FDC_MODEL; none: embedded functions)."
)
@count_option("--jobs", 1, 256, "Maximum number of tracks at the same time.", default=8)
@format_option
@budget_option
@quiet_option
@workspace_option
def command(
    question: str,
    paths: str,
    broad: bool,
    deepen_above: int,
    rerank: bool | None,
    full: bool,
    model: str | None,
    jobs: int,
    form: str,
    budgets: tuple[str, ...],
    quiet: bool,
    workspace: str | None,
) -> int:
    """Answer QUESTION about the source code here: three to six independent tracks, one answer, every claim cited."""
    if paths.startswith("/") or ".." in paths.split("/"):
        raise UsageError(f"`{paths}` leaves the workspace; --paths needs a glob inside it")
    from fdc_toolchain.api.models import missing

    lacks = missing() if rerank is not False else "not asked for"
    if rerank and lacks:
        raise UsageError(lacks)
    given = {
        "paths": paths or "**",
        "broad": _said(broad),
        "deepen_above": str(deepen_above),
        "rerank": _said(not lacks),
    }
    from fdc_toolchain.api.commands import budget_of, root_of

    root, budget = root_of(workspace), budget_of(budgets)
    explored = partial(
        _explored,
        root,
        budget,
        model=model,
        jobs=jobs,
        form="full" if full and form == "text" else form,
        quiet=quiet,
    )
    code, outcome = explored({**given, "question": written(question, "the question").strip()})
    if outcome.get("ended") == "confusion" and sys.stdin.isatty() and sys.stdout.isatty():
        again = _again()
        if again:
            code, _ = explored({**given, "question": written(again, "the question").strip()})
    return code


def _said(flag: bool) -> str:
    return "yes" if flag else "no"


def _again() -> str:
    """The question as the person at the terminal puts it now; empty where they leave it."""
    try:
        return input("> ").strip()
    except EOFError:
        click.echo()
        return ""


def _explored(
    root: str,
    budget: dict[str, float],
    given: dict[str, str],
    *,
    model: str | None,
    jobs: int,
    form: str,
    quiet: bool,
) -> tuple[int, dict[str, Any]]:
    from fdc_toolchain.api import commands
    from fdc_toolchain.api.commands import Operator, compile_or_refuse

    program = compile_or_refuse(PLAN, root, advice={"FDC471": OUTSIDE})
    if program is None:
        return FINDINGS, {}
    operator = Operator.of_environment()
    if model:
        operator = operator._replace(model=model)
    name = commands.begin(
        root,
        program,
        PLAN,
        commands.given_for(program, given),
        budget,
        commands.task_for(root, None),
    )
    show = Json() if quiet else _Watching(form == "full")
    ended = commands.drive_run(root, name, show, jobs=jobs, operator=operator)
    outcome = ended.result if isinstance(ended.result, dict) else {}
    return _tell(ended, outcome, form), outcome


class _Watching(Aside):
    """What is read and which tracks look, on stderr; stdout belongs to the answer. `full`: the whole plan of the tracks, too,
    and what each of them found. Without it a terminal shows how many ended, until the answer is there."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self._full = full
        self._ended = 0
        self._shown = not full and sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Port `Progress`: the plan of the tracks."""
        names = _NAME.findall(text)
        if self._full or not names:
            super().say(text)
        else:
            self._tell(f"{_many(len(names), 'track')}: {', '.join(names)}")

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        super().done(effect, outcome, took)
        value = outcome.value
        if effect.tool == "map_code" and isinstance(value, dict):
            skipped = f"; {value['skipped_count']} skipped" if value["skipped_count"] else ""
            self._tell(f"{_many(value['files'], 'file')}, {_many(value['lines'], 'line')}{skipped}")
            from ..outline import code_trees

            unread = code_trees.missing(value["kinds"])
            if unread:
                way = "`pip install 'fdc-toolchain[code]'` brings their grammars"
                self._tell(
                    f"{', '.join(unread)}: read line by line, so definitions are guessed; {way}"
                )
        if effect.tool == "gate_track" and isinstance(value, dict):
            self._ended += 1
            if value["blocked"]:
                self._tell(f"{value['track']}: blocked: {value['why']}")
            elif self._full:
                found, checked = _many(len(value["findings"]), "finding"), value["checked"]
                self._tell(f"{value['track']}: {found}, {_many(checked, 'citation')} checked")
            elif self._shown:
                click.echo(f"\r{_many(self._ended, 'track')} ended", nl=False, err=True)

    def _tell(self, text: str) -> None:
        self.close()
        say(visible(text), err=True)

    def close(self) -> None:
        """Takes the line away that says how many tracks ended."""
        if self._shown and self._ended:
            click.echo("\r\x1b[2K", nl=False, err=True)


_QUOTED = re.compile(r"\s*(?:[>|]|\S+:\d+\b)")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def tell(root: str, ended: Ended, store: Store) -> int:
    """Prints the answer of a resumed exploration; returns the exit code."""
    outcome = ended.result if isinstance(ended.result, dict) else {}
    return _tell(ended, outcome, "text")


def _tell(ended: Ended, outcome: dict[str, Any], form: str) -> int:
    from fdc_toolchain.api.commands import as_json, broken_off, exit_code

    code = exit_code(ended)
    if code == CLEAN:
        code = EXITS[outcome["ended"]]
    if form == "json":
        say_json({**as_json(ended), "page": f"runs/{ended.run}/synthesis.md"})
        return code
    if "markdown" in outcome:
        lines = outcome["text"].split("\n")
        if form == "full":
            lines = outcome["markdown"].split("\n")[1:]
        for line in lines:  # what is quoted, behind its place, stays as it is
            (click.echo if _QUOTED.match(line) else say)(visible(line))
        say(f"page: runs/{ended.run}/synthesis.md  (run {ended.run})", err=True)
        return code
    broken_off(ended)
    return code
