"""`fdc research`: runs the registered deep-research plan on a question and says what it found and where.

The run is recorded in the workspace like any other. Where nothing can be written there, or the
report is wanted elsewhere, it happens in a temporary workspace and only the report is kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    Renamed,
    Silent,
    UsageError,
    WorldError,
    budget_option,
    count_option,
    flag_option,
    format_option,
    quiet_option,
    reason,
    say,
    say_json,
    text_option,
    workspace_option,
    written,
)
from fdc_toolchain.api.text import narrow, slug, visible

from .answer_json import as_json, skips, web_of

if TYPE_CHECKING:
    from fdc_toolchain.api.commands import Ended, Operator
    from fdc_toolchain.api.tasks import Task
    from fdc_toolchain.api.tools import Outcome, Perform

PLAN = "deep-research"
_WRAP = textwrap.TextWrapper(80, "- ", "  ", break_long_words=False, break_on_hyphens=False)
_ASKED = ("propose_keywords", "answer_question")
_PHASES = {
    "scan_documents": "reading the documents",
    "propose_keywords": "choosing words to search for",
    "scope_question": "scoping the question",
    "search_passages": "searching passages",
    "search_web": "searching the web",
    "read_web_page": "reading pages",
    "extract_evidence": "extracting sentences",
    "check_citations": "checking citations",
    "note_source": "noting what each source says",
    "answer_question": "answering",
    "synthesise": "writing the report",
}


@click.command(
    epilog="Exit codes: 0 answered, 1 the documents do not answer it, 2 wrong usage, 3 the environment failed, 4 a bug of fdc."
)
@click.argument("question")
@text_option("--docs", "PATH", "The folder of the documents.", default=".")
@flag_option("--code", "Read source files too: definitions, comments, docstrings.")
@click.option(
    "--output",
    "-o",
    "out",
    cls=Renamed,
    old=("--out",),
    metavar="FILE",
    help="The file of the report. [default: a new file in research/]",
)
@click.option(
    "--web/--no-web",
    default=None,
    help="Also search the web and read pages (else FDC_ALLOW_WEB=1).",
)
@text_option(
    "--model", "NAME", "The model that writes the answer (else FDC_MODEL; none: quotations only)."
)
@count_option("--jobs", 1, 256, "Maximum number of pages and sources at the same time.", default=4)
@format_option
@budget_option
@quiet_option
@workspace_option
def command(
    question: str, docs: str, code: bool, out: str | None, web: bool | None, model: str | None, jobs: int, form: str,
    budgets: tuple[str, ...], quiet: bool, workspace: str | None,
) -> int:  # fmt: skip
    """Answer QUESTION from documents and, where that is allowed, the web; everything cites its file or page, and line.

    By default it retrieves and quotes: no model, no key and no network are needed.
    """
    question = written(question, "the question")
    if not question.strip():
        raise UsageError("the question is empty")
    operator = _operator(web, model)
    folder = _folder(docs)
    from fdc_toolchain.api import commands
    from fdc_toolchain.api.commands import budget_of, compile_or_refuse, root_of

    home = root_of(workspace)
    program = compile_or_refuse(PLAN, home)
    if program is None:
        return FINDINGS
    target = _target(question, out, home)
    with _workspace(home, target) as root:
        inside = root == home
        report = os.path.relpath(target, root) if inside else "research/report.md"
        within = _below(folder, root)
        include = "code" if code else "documents"
        searched = "yes" if operator.web else "no"
        given = {
            "question": question, "documents": within or folder, "include": include, "report": report, "web": searched,
        }  # fmt: skip
        task = commands.task_for(home, None)
        inputs = commands.given_for(program, given)
        begun = task if inside else None
        name = commands.begin(root, program, PLAN, inputs, budget_of(budgets), begun, operator)
        if within is None:
            _grant(root, name, folder)
        show = _Watching(quiet)
        ended = commands.drive_run(root, name, show, jobs=jobs, operator=operator)
        show.erase()
        if ended.status == "finished" and not inside:
            try:
                _publish(os.path.join(root, report), target)
                if task is not None:
                    _log(home, task, question, target)
            except WorldError:
                if form == "text":
                    _answer(show)  # what was found is not lost with the place for the report
                raise
        return _tell(question, ended, show, target, folder, name if inside else None, form)


def _operator(web: bool | None, model: str | None) -> Operator:
    """What is allowed: by the options, where they say something, else by the environment."""
    from fdc_toolchain.api.commands import Operator

    operator = Operator.of_environment(model=model)
    return operator if web is None else operator._replace(web=web)


class _Watching(Silent):
    """Keeps what each tool of the plan returned; on a terminal, says which phase is under way."""

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self.results: dict[str, Any] = {}
        self._live = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def begun(self, effect: Perform) -> None:
        super().begun(effect)
        if self._live and effect.tool in _PHASES:
            self.erase()
            click.echo(_PHASES[effect.tool] + " ...", nl=False, err=True)

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        super().done(effect, outcome, took)
        if outcome.failure is None:
            self.results[effect.tool] = outcome.value

    def erase(self) -> None:
        """Takes the line of the phase away."""
        if self._live:
            click.echo("\r\x1b[K", nl=False, err=True)


def _folder(docs: str) -> str:
    if not os.path.exists(docs):
        raise UsageError(f"`{docs}` does not exist")
    if not os.path.isdir(docs):
        raise UsageError(f"`{docs}` is not a folder")
    return os.path.realpath(docs)


def _below(folder: str, root: str) -> str | None:
    """The folder relative to the workspace, or None where it lies outside of it."""
    relative = os.path.relpath(folder, os.path.realpath(root))
    return None if relative.startswith("..") else relative


def _target(question: str, out: str | None, home: str) -> str:
    """The absolute path of the report. Raises UsageError where something else is there."""
    from fdc_toolchain.api.files import MARK, durable

    if out is not None:
        target = os.path.abspath(out)
        if os.path.isdir(target):
            target = os.path.join(target, slug(question) + ".md")
    else:
        place = home if _writable(home) else os.getcwd()
        target = os.path.join(place, "research", slug(question) + ".md")
    if os.path.lexists(target):
        try:
            data = durable.read(target)
            ours = data is not None and data.decode("utf-8", "replace").startswith(MARK)
        except OSError:
            ours = False
        if not ours:
            raise UsageError(
                f"`{os.path.relpath(target)}` exists and is not a report of fdc; choose another file with --output"
            )
    return target


def _writable(folder: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


@contextlib.contextmanager
def _workspace(home: str, target: str) -> Iterator[str]:
    """The workspace of the run: this one where it can take the record and the report, else a temporary one."""
    relative = os.path.relpath(target, home)
    if (
        _writable(home)
        and not relative.startswith("..")
        and relative.split(os.sep)[0] not in (".git", ".fdc")
    ):
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="fdc-research-") as folder:
        yield os.path.realpath(folder)


def _grant(root: str, name: str, folder: str) -> None:
    from fdc_toolchain.api.files import run_folders

    from .retrieval import library

    library.grant(run_folders.run_folder(root, name), folder)


def _publish(written: str, target: str) -> None:
    """Puts the report where it is wanted, whole or not at all."""
    from fdc_toolchain.api.files import durable

    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        durable.replace(target, durable.read(written) or b"")
    except OSError as failed:
        raise WorldError(
            f"the report cannot be written to `{target}`: {reason(failed)}; choose another file with --output"
        ) from failed


def _log(home: str, task: Task, question: str, target: str) -> None:
    """The line of a report that lies outside of the workspace, whose run the workspace has no record of (FDC-57)."""
    import uuid
    from datetime import datetime

    from fdc_toolchain.api.tasks import activity_log, entry

    item = entry(
        "RESEARCH_REPORT", {"path": target, "question": question[:200]}, task_id=task.id, phase=1,
        session_id=task.session, log_id=str(uuid.uuid4()), now=datetime.now().astimezone(),
    )  # fmt: skip
    try:
        activity_log.append(home, item)
    except OSError as failed:
        raise WorldError(
            f"the report is in `{target}`; the activity log cannot be written: {reason(failed)}"
        ) from failed


def _tell(
    question: str,
    ended: Ended,
    show: _Watching,
    target: str,
    folder: str,
    run: str | None,
    form: str,
) -> int:
    from fdc_toolchain.api.commands import exit_code

    code = exit_code(ended)
    if form == "json":
        say_json(as_json(question, ended, show.results, target, run))
        return code
    if code == CLEAN:
        _answer(show)
        _place(show, target, folder, run)
        _unread(show)
        return code
    if ended.stop is not None:
        say(visible(ended.stop["message"]), err=True)
        scan = show.results.get("scan_documents") or {}
        if scan.get("include") == "documents" and not scan.get("documents") and _has_code(folder):
            say("(`--code` reads source files too: definitions, comments and docstrings)", err=True)
        for path, reason in skips(show.results)[:5]:
            say(f"  skipped {visible(path)}: {visible(reason)}", err=True)
        _unread(show)
    elif ended.status == "interrupted":
        say("interrupted" + (f"; `fdc resume {run}` continues it" if run else ""), err=True)
    else:
        say(f"the environment failed: {visible(ended.message)}", err=True)
    return code


def _has_code(folder: str) -> bool:
    """Whether there are source files in a folder, near its top."""
    from itertools import islice

    from .outline.code_outline import is_code

    return any(is_code(name) for _, _, names in islice(os.walk(folder), 50) for name in names)


def _answer(show: _Watching) -> None:
    done = show.results.get("synthesise") or {}
    if done.get("note"):
        click.echo(f"{done['note']}\n")
    for line in str(done.get("answer", "")).split("\n"):
        text, _, where = line.rpartition(" [")
        if text:
            click.echo(_WRAP.fill(visible(text)))
            click.echo(f"  {visible(where.rstrip(']'))}\n")


def _place(show: _Watching, target: str, folder: str, run: str | None) -> None:
    from fdc_toolchain.api.commands import count

    done = show.results.get("synthesise") or {}
    scan = show.results.get("scan_documents") or {}
    checked, held = count(done.get("checked", 0), "citation"), done.get("held", 0)
    pages = len(narrow(web_of(show.results).get("pages", []), list))
    read = f"{count(scan.get('documents', 0), 'document')} read in {visible(folder)}"
    read += f", {count(pages, 'page')} on the web" if pages else ""
    shown = sum(" [" in line for line in str(done.get("answer", "")).split("\n"))
    click.echo(
        f"{read}; {checked} checked, {held} hold"
        + ("; the report lists all of them" if held > shown else "")
    )
    click.echo(f"report: {visible(os.path.relpath(target))}" + (f"  (run {run})" if run else ""))


def _unread(show: _Watching) -> None:
    """What of the web could not be searched or read, and why; and where a model failed, so that quotations stand for it."""
    failed = [
        done["why"]
        for done in (show.results.get(tool) for tool in _ASKED)
        if isinstance(done, dict) and "failed" in done
    ]
    if failed:
        say(
            f"the model did not answer, so the answer consists of quotations only: {visible(str(failed[-1]))[:300]}",
            err=True,
        )
    for row in narrow(web_of(show.results).get("failed", []), list)[:5]:
        say(visible("not read: " + ": ".join(filter(None, (row["what"], row["why"])))), err=True)
