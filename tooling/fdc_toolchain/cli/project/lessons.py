"""`fdc lessons`: lists lessons of post-mortems, and applies them (FDC-72, FDC-81 to FDC-84)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import click

from ...agent.lessons import lessons_file as store
from ...agent.lessons.lessons import LESSONS, PENDING, STATUSES, Book, Lesson, history
from ...agent.lessons.self_correction import Report, apply
from ...console.options import choice_option, flag_option, format_option, text_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, FINDINGS, UsageError
from ...narrow import narrow
from ...report.terminal.terminal_text import visible
from ...tasks.actions import Fault, parse_action_to_command, shown, wish_of
from ...text.suggest import did_you_mean
from ..shared.findings import show as show_findings
from ..shared.lifecycle_options import root_of
from ..shared.lifecycle_options import workspace_option as workspace

form = format_option
dry = flag_option("--dry-run", "Show what would happen, without writing.")


@click.group(
    epilog="Exit codes: 0 done or nothing to do, 1 a lesson failed or was refused, 2 wrong usage, 3 the environment failed.",
)
def command() -> None:
    """Apply lessons of post-mortems to protocols and code."""


@command.command("list")
@choice_option("--status", STATUSES, "Only lessons with this status.")
@form
@workspace
def list_(status: str | None, form: str, workspace: str | None) -> int:
    """List the recorded lessons: id, status, action, insight."""
    book = store.load(root_of(workspace))
    tell_damage([(line.number, line.fault or "") for line in book.damaged])
    found = [lesson for lesson in book.lessons if status in (None, lesson["status"])]
    if form == "json":
        say_json({"lessons": found})
    elif not found:
        click.echo("No lessons are on record." if status is None else f"No lesson is {status}.")
    short = _short(book)
    for lesson in found if form == "text" else ():
        click.echo(
            f"{short[lesson['lesson_id']]}  {lesson['status']:<9}  {visible(shown(lesson['action']))}"
        )
        click.echo(f"{'':8}  {'':9}  {visible(lesson['insight'])}")
    return CLEAN


@command.command()
@click.argument("lesson_id", metavar="LESSON")
@form
@workspace
def show(lesson_id: str, form: str, workspace: str | None) -> int:
    """Show a lesson with its history. LESSON is an id, or its first characters."""
    lesson = _find_lesson(store.load(root_of(workspace)), lesson_id)
    if form == "json":
        say_json(lesson)
        return CLEAN
    action = lesson["action"]
    rows = [
        ("lesson", lesson["lesson_id"]), ("task", lesson.get("task_id")), ("date", lesson.get("date")),
        ("from", lesson.get("source")), ("insight", lesson["insight"]), ("action", shown(action)),
        ("status", lesson["status"]),
    ]  # fmt: skip
    for name, value in rows:
        if value:
            click.echo(f"{name:<8} {visible(str(value))}")
    parameters = action.get("parameters")
    for name, value in (parameters if isinstance(parameters, dict) else {}).items():
        if name in ("description", "diff"):
            click.echo(f"{name}:")
            for line in str(value).split("\n"):
                click.echo(f"  {visible(line)}")
    for step in history(lesson):
        more = [visible(f"{name} {step[name]}") for name in ("run", "why") if step.get(name)]
        click.echo(
            "  ".join(
                [f"{visible(str(step.get('at')))}  {visible(str(step.get('status')))}", *more]
            )
        )
        for change in step.get("changes") or ():
            before, after = (str(change.get(side) or "none")[:12] for side in ("before", "after"))
            click.echo(f"    {visible(str(change.get('path')))}: {before} -> {after}")
    return CLEAN


@command.command()
@click.argument("postmortem", type=click.Path())
@dry
@form
@workspace
def add(postmortem: str, dry_run: bool, form: str, workspace: str | None) -> int:
    """Read the lessons of POSTMORTEM and record the new ones as pending."""
    return compile_postmortem(root_of(workspace), postmortem, dry_run=dry_run, form=form)


@command.command("apply")
@click.argument("ids", nargs=-1, metavar="[LESSON]...")
@click.option(
    "--from",
    "source",
    metavar="POSTMORTEM",
    type=click.Path(),
    help="Read this post-mortem first, and apply its lessons.",
)
@dry
@form
@workspace
def apply_(
    ids: tuple[str, ...], source: str | None, dry_run: bool, form: str, workspace: str | None
) -> int:
    """Apply the pending lessons, or the given ones, and rebuild AGENTS.md after each.

    To retry a failed lesson, name it. An interrupted attempt is completed first.
    """
    root = root_of(workspace)
    chosen: list[str] | None = None
    if ids:
        book = store.load(root)
        chosen = [_find_lesson(book, lesson_id)["lesson_id"] for lesson_id in ids]
    if source is not None:
        if dry_run:
            raise UsageError(
                "--from cannot be combined with --dry-run; use `fdc lessons add --dry-run` to show the lessons"
            )
        added = _added(root, source, False)
        if form == "text":
            _tell_added(added, source, False)
        book = store.load(root)
        mine = {lesson["lesson_id"] for lesson in added.lessons}
        pending = [lesson["lesson_id"] for lesson in book.lessons if lesson["status"] == PENDING]
        chosen = [*(chosen or ()), *(lesson_id for lesson_id in pending if lesson_id in mine)]
    return correct(root, chosen, dry_run=dry_run, form=form)


@command.command()
@click.argument("lesson_id", metavar="LESSON")
@text_option("--action", "SENTENCE", "The action, in a form that fdc can apply.")
@text_option("--dismiss", "WHY", "Dismiss the lesson, with a reason.")
@workspace
def settle(lesson_id: str, action: str | None, dismiss: str | None, workspace: str | None) -> int:
    """Give an action to a lesson that fdc cannot apply or that failed, or dismiss it."""
    if (action is None) == (dismiss is None):
        raise UsageError("use either --action SENTENCE or --dismiss WHY")
    if dismiss is not None and not dismiss.strip():
        raise UsageError("--dismiss needs a reason")
    made = None if action is None else parse_action_to_command(action)
    if made is not None and isinstance(wish := wish_of(made), Fault):
        raise UsageError(f"`{action}` is not an action that fdc can apply: {wish.message}")
    done = store.settle(
        root_of(workspace),
        lesson_id,
        lambda _: made or str(dismiss).strip(),
        datetime.now().astimezone(),
    )
    say(done.message if done.done else f"error: {done.message}", err=not done.done)
    return CLEAN if done.done else FINDINGS


def compile_postmortem(root: str, path: str, *, dry_run: bool = False, form: str = "text") -> int:
    """Records a post-mortem's lessons and prints them. Returns the exit code."""
    added = _added(root, path, dry_run)
    if form == "json":
        say_json(_added_json(added))
    else:
        _tell_added(added, path, dry_run)
    return CLEAN


def correct(
    root: str, chosen: Sequence[str] | None = None, *, dry_run: bool = False, form: str = "text"
) -> int:
    """Applies lessons and prints the result of each. Returns the exit code."""
    from ...agent.lessons import host

    report = apply(root, host.ports(root), chosen, dry_run=dry_run)
    tell_damage(report.damaged)
    if form == "json":
        say_json(_as_json(report))
    else:
        _tell(report, chosen)
    _tell_unknown(root, report)
    failed = report.refused or any(
        result.outcome in ("failed", "unfinished") for result in report.results
    )
    return FINDINGS if failed else CLEAN


def tell_damage(damaged: Sequence[tuple[int, str]]) -> None:
    """Warns of lines in the file that are not lessons (FDC-82)."""
    for number, fault in damaged:
        say(f"warning: {LESSONS}:{number}: {visible(fault)}; the line is kept as it is", err=True)


def _added(root: str, path: str, dry_run: bool) -> store.Added:
    try:
        return store.add(root, path, date.today(), dry_run=dry_run)
    except store.Unreadable as wrong:
        raise UsageError(str(wrong)) from wrong


def _added_json(added: store.Added) -> dict[str, Any]:
    return {
        "format": 1,
        "lessons": added.lessons,
        "new": [lesson["lesson_id"] for lesson in added.new],
        "notes": [{"line": line, "message": said} for line, said in added.notes],
    }


def _tell_added(added: store.Added, path: str, dry_run: bool) -> None:
    for line, said in added.notes:
        say(f"warning: {visible(path)}:{line}: {visible(said)}", err=True)
    known = len(added.lessons) - len(added.new)
    if not added.lessons:
        click.echo(f"No lessons found in {visible(path)}.")
        return
    for lesson in added.new:
        click.echo(f"{lesson['lesson_id']}  {visible(shown(lesson['action']))}")
    what = f"{len(added.new)} new lesson{'s' * (len(added.new) != 1)}"
    more = f", {known} already known" if known else ""
    click.echo(f"{'Would add' if dry_run else 'Added'} {what} to {LESSONS}{more}.")


def _tell(report: Report, chosen: Sequence[str] | None) -> None:
    show_findings(report.findings)
    if report.refused:
        say(f"error: {report.refused}", err=True)
        return
    people = 0
    for result in report.results:
        name = result.lesson["lesson_id"]
        people += result.outcome == "skipped"
        if result.outcome == "skipped":
            say(
                f"warning: {visible(name)} stays {result.lesson['status']}: {visible(result.message)}",
                err=True,
            )
        else:
            say(
                f"{visible(name)}  {result.outcome}: {visible(result.message)}",
                err=result.outcome == "failed",
            )
            show_findings(result.findings)
    done = [result for result in report.results if result.outcome != "skipped"]
    if not done:
        click.echo(
            "No pending lessons"
            + (f" that fdc can apply; {people} need a person." if people else " to process.")
        )
        return
    kinds = ("applied", "would apply", "failed", "unfinished")
    counts = {kind: sum(result.outcome == kind for result in done) for kind in kinds}
    said = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    again = "; retry a failed one with `fdc lessons apply LESSON`" if counts["failed"] else ""
    click.echo(said + again)


def _tell_unknown(root: str, report: Report) -> None:
    """Warns of each tool that a lesson adds and nothing declares. A path that does not exist has a finding."""
    from .protocols.graph import world_of

    added = [
        (result.lesson["lesson_id"], str(narrow(action["parameters"], dict)["tool_name"]))
        for result in report.results
        if result.outcome in ("applied", "would apply")
        and isinstance(action := result.lesson["action"], dict)
        and action.get("command") == "add-tool"
    ]
    world = world_of(root) if added else None
    for lesson, name in added:
        if world is not None and "/" not in name and world.kind(name) == "unresolved":
            hint = did_you_mean(name, world.tools)
            more = f"; {hint}" if hint else ""
            say(
                f"warning: {visible(lesson)}: no catalogue has a tool `{visible(name)}`{more}",
                err=True,
            )


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "format": 1,
        "refused": report.refused,
        "results": [
            {
                "lesson_id": result.lesson["lesson_id"],
                "outcome": result.outcome,
                "message": result.message,
                "lesson": result.lesson,
                "findings": [
                    f"{item.span}: {item.severity}[{item.code}] {item.message}"
                    for item in result.findings
                ],
            }
            for result in report.results
        ],
        "damaged": [{"line": number, "message": fault} for number, fault in report.damaged],
        "findings": [
            f"{item.span}: {item.severity}[{item.code}] {item.message}" for item in report.findings
        ],
    }


def _find_lesson(book: Book, prefix: str) -> Lesson:
    found = book.find(prefix)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no lesson begins with `{prefix}`; `fdc lessons list` lists them")
    raise UsageError(f"{len(found)} lessons begin with `{prefix}`")


def _short(book: Book) -> dict[str, str]:
    """The first eight characters of each id; the whole id if they are ambiguous or not fdc's."""
    names = [str(lesson["lesson_id"]) for lesson in book.lessons]
    heads = Counter(name[:8] for name in names)
    return {
        name: name[:8] if heads[name[:8]] == 1 and name[:8].isalnum() else visible(name)
        for name in names
    }
