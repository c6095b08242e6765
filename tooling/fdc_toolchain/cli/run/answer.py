"""`fdc answer`: answers a run's question without continuing the run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from ...console.options import flag_option, root_of, workspace_option
from ...console.run_options import database_option, is_terminal
from ...exits import CLEAN, PERSON, UsageError

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow
    from ...runs.records.answers import Open


@click.command(
    epilog="Exit codes: 0 the answer is stored (with --resume: those of `fdc run`), 1 the run has no question, "
    "2 wrong usage, 3 the environment failed, 5 no question was answered, the run still waits."
)
@click.argument("run")
@click.argument("words", nargs=-1, metavar="[[ADDRESS] TEXT]")
@flag_option("--resume", "Continue the run at once, as `fdc resume` does.")
@database_option
@workspace_option
@click.pass_context
def command(
    ctx: click.Context,
    run: str,
    words: tuple[str, ...],
    resume: bool,
    database: str | None,
    workspace: str | None,
) -> int:
    """Answer the question of RUN (a name or its beginning); ADDRESS selects one of several.

    Without TEXT, fdc shows the questions with hidden characters escaped, including the exact bytes to approve,
    and asks at the terminal. The next `fdc resume` uses the answer once, if the question is still
    the same; until then another answer replaces it. In a database, a worker uses it at once and continues.
    """
    from ...runs import run_driver
    from ...runs.records import questions
    from ...runs.workers import remote

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        row = run_driver.the_run(store, run)
        run_driver.known(row)
        assert store is not None  # a run was found in it
        found = questions.questions(root, store, row)
        status = remote.status_of(store, root, row)
    if not found:
        raise questions.none_open(row, status)
    if words:
        if len(words) > 2:
            raise UsageError("expected RUN [ADDRESS] TEXT; quote a TEXT of several words")
        text = words[-1]
        question = questions.chosen(row, found, words[0] if len(words) == 2 else None, text)
        for line in questions.screen(question._replace(given=None)):
            click.echo(line)
        _keep(database, root, row, question, text)
    elif not _by_hand(database, root, row, found):
        return PERSON
    if resume:
        from .resume import command as go_on

        return int(ctx.invoke(go_on, run=row.name, database=database, workspace=workspace))
    click.echo(f"`fdc resume {row.name}` {'follows it' if database else 'goes on'}")
    return CLEAN


def _keep(
    database: str | None,
    root: str,
    row: RunRow,
    question: Open,
    text: str,
    over: tuple[str, ...] | None = None,
) -> None:
    from ...runs.records import questions
    from ...runs.workers import remote

    address = question.effect.address
    if not database:
        click.echo(questions.give(root, row, question, text, "fdc answer", time.time(), over=over))
    elif remote.answer(database, root, row, address, text, "fdc answer"):
        click.echo(f"a worker has the answer for {address}, and continues")
    else:
        click.echo(f"the answer for {address} is in the queue; a worker has not taken it yet")


def _by_hand(database: str | None, root: str, row: RunRow, found: list[Open]) -> bool:
    """Shows the questions, and asks at the terminal. Returns whether one was answered."""
    import sys

    from ...runs.records import questions

    asking = is_terminal() and sys.stdin.isatty()
    answered = False
    for question in found:
        if not asking or questions.in_doubt(question.shows):
            for line in questions.screen(question):
                click.echo(line)
            if not questions.in_doubt(question.shows):
                click.echo(f"  answer with: fdc answer {row.name} {question.effect.address} TEXT")
            continue
        for line in questions.screen(question):
            click.echo(line)
        while True:
            try:
                text = input("> ")
            except EOFError:
                return answered
            wrong = questions.unfit(question, text)
            if not wrong:
                break
            click.echo(wrong)
        _keep(database, root, row, question, text, questions.seen(question))
        if database:
            return True  # the run continues at once, and asks the rest again
        answered = True
    return answered
