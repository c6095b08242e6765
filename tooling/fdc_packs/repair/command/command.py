"""`fdc fix`: repairs code until a test command passes; the diff goes to stdout, what is under way to stderr.

It runs the registered plan `fix` (`fix-plain` with --no-discipline, `fix-write` with --write). The workspace is
copied, and only the copy is patched and tested; see docs/fix.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    PARTIAL,
    Json,
    UsageError,
    budget_option,
    count_option,
    flag_option,
    format_option,
    number_option,
    quiet_option,
    say,
    say_json,
    text_option,
    workspace_option,
)
from fdc_toolchain.api.text import visible

if TYPE_CHECKING:
    from fdc_toolchain.api.commands import Ended
    from fdc_toolchain.api.records import Store

EXITS = {"fixed": CLEAN, "passing": CLEAN, "partial": PARTIAL, "none": FINDINGS}
PLANS = ("fix", "fix-plain", "fix-write")
ENDED = {
    "fixed": "fixed: the test command passes in the copy",
    "passing": "the test command already passes, so there is nothing to fix",
    "stalled": "given up: the last iterations had no new result",
    "exhausted": "given up: no further hypothesis is left",
    "no-hypotheses": "given up: two competing hypotheses could not be made",
    "bound": "given up: the maximum number of iterations is reached",
    "choice": "not decided",
    "no-command": "given up: the test command is not found in the copy",
    "no-tests": "given up: the test command ran no test",
    "flaky": "given up: the test command failed, but passed when it was repeated without a change",
}


@click.command(
    epilog="Exit codes: 0 the test command passes, 1 no progress, or the run was stopped; 2 wrong usage, "
    "3 the environment failed, 4 a bug of fdc, 6 some failures are gone and others are left, 130 interrupted.",
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@text_option(
    "--test", "COMMAND", "The command that fails now and passes when the code is repaired."
)
@flag_option(
    "--write",
    "Write the repair to the workspace if the command passes. [default: only print it]",
)
@count_option(
    "--max-iterations iterations",
    None,
    None,
    "Iterations of a pass (at least 1), each with one patch at most.",
    default=40,
)
@count_option(
    "--refine-sub-iterations refine", None, None, "Additional iterations of a pass.", default=0
)
@count_option(
    "--passes",
    None,
    None,
    "Passes (at least 1); each begins with a new interpretation and new hypotheses. 200 iterations in all.",
    default=1,
)
@count_option(
    "--max-stalls stalls",
    1,
    200,
    "Maximum number of consecutive iterations without a new result.",
    default=6,
)
@flag_option("--no-discipline", "Try patches without hypotheses (the baseline of the benchmark).")
@number_option(
    "--test-timeout",
    0.1,
    None,
    "Time limit of one run of the command. [default: 30 s for the first, later five times as long plus 10 s]",
)
@flag_option("--alone", "Run the command in a folder that contains only FILES.")
@text_option(
    "--resume", "RUN", "Continue an interrupted repair (`last`, or the beginning of its name)."
)
@text_option(
    "--model", "NAME", "The model that reasons (else FDC_MODEL; none: embedded functions)."
)
@budget_option
@flag_option("--allow-unsandboxed", "Run the command even if no sandbox is available.")
@flag_option("--allow-weak-sandbox", "Run commands in a weaker sandbox; fdc prints what it lacks.")
@format_option
@quiet_option
@workspace_option
def command(
    files: tuple[str, ...], test: str | None, write: bool, iterations: int, refine: int, passes: int, stalls: int,
    no_discipline: bool, test_timeout: float | None, alone: bool, resume: str | None, model: str | None,
    budgets: tuple[str, ...], allow_unsandboxed: bool, allow_weak_sandbox: bool, form: str, quiet: bool, workspace: str | None,
) -> int:  # fmt: skip
    """Repair FILES (otherwise every Python file that is not a test) until COMMAND passes.

    Rival hypotheses are put to the test before any code is written; each patch belongs to one of them and touches its
    lines only. The workspace stays as it is: a copy is patched and tested. The repair is printed as a unified diff.
    """
    from fdc_toolchain.api import commands
    from fdc_toolchain.api.commands import (
        Operator,
        budget_of,
        compile_or_refuse,
        root_of,
        tell_weakness,
    )

    from .watch import Watching

    root = root_of(workspace)
    operator = Operator.of_environment(
        unsandboxed=allow_unsandboxed, model=model, weak=allow_weak_sandbox
    )
    tell_weakness(operator)
    ceilings = budget_of(budgets)
    show = Json() if quiet else Watching()
    if resume is not None:
        name = _resumed(root, resume)
        options = {
            "budget": ceilings,
            "shell_seconds": test_timeout,
            "operator": operator,
            "retry": True,
        }
        ended = commands.drive_run(root, name, show, **options)  # type: ignore[arg-type]
    else:
        _bounded(iterations, refine, passes)
        if alone and not files:
            raise UsageError("--alone needs the FILES to copy for the command")
        given = {"test": _command(test), "files": "\n".join(_named(root, files)), "alone": "yes" if alone else "no",
                 "iterations": str(iterations), "refine": str(refine), "passes": str(passes),
                 "patience": str(test_timeout or 0)}  # fmt: skip
        if not no_discipline:
            given["stalls"] = str(stalls)
        plan = "fix-plain" if no_discipline else "fix"
        if write:
            plan, given["discipline"] = "fix-write", "no" if no_discipline else "yes"
        program = compile_or_refuse(plan, root)
        if program is None:
            return FINDINGS
        inputs, task = commands.given_for(program, given), commands.task_for(root, None)
        name = commands.begin(root, program, plan, inputs, ceilings, task, operator)
        ended = commands.drive_run(root, name, show, shell_seconds=test_timeout, operator=operator)
    return _tell(root, ended, form, bool(files))


def _bounded(iterations: int, refine: int, passes: int) -> None:
    from ..loop_state import MOST, bound

    most = bound(iterations, refine, passes)
    if most > MOST:
        bounds = "(max(1, max-iterations) + max(0, refine-sub-iterations)) x max(1, passes)"
        raise UsageError(f"that is {most} iterations: the maximum of {bounds} is {MOST}")


def _command(test: str | None) -> str:
    if test is None or not test.strip():
        raise UsageError(
            "--test COMMAND is missing: the command that fails now and passes when the code is repaired"
        )
    try:
        test.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the test command is not UTF-8 text") from None
    if "\0" in test or "\n" in test:
        raise UsageError("the test command must be one line")
    return test


def _named(root: str, files: tuple[str, ...]) -> list[str]:
    """The files as paths from the workspace. Raises UsageError for one that is not there, or not below it."""
    found = []
    for name in files:
        path = os.path.relpath(
            os.path.abspath(name), os.path.realpath(root) if os.path.isabs(name) else root
        )
        if path.startswith(".."):
            raise UsageError(f"`{name}` is not in the workspace {root}")
        if not any(mark in name for mark in "*?[") and not os.path.exists(name):
            raise UsageError(f"`{name}` does not exist")
        if "\n" in path:
            raise UsageError("a file's name contains a line end")
        found.append("**/*.py" if path == "." else path)
    return found


def _resumed(root: str, prefix: str) -> str:

    from fdc_toolchain.api.records import reading, the_run

    with reading(root) as store:
        row = the_run(store, prefix)
        if row.plan not in PLANS:
            raise UsageError(
                f"the run {row.name} is one of `{row.plan}`, not a repair; continue it with `fdc resume`"
            )
        return row.name


def tell(root: str, ended: Ended, store: Store) -> int:
    """Prints the diff of a resumed repair, whose record is in `store`; returns the exit code."""
    return _tell(root, ended, "text", True, store)


def _tell(root: str, ended: Ended, form: str, named: bool, store: Store | None = None) -> int:
    from fdc_toolchain.api import commands

    from . import trace as fix_trace

    code = commands.exit_code(ended)
    outcome = ended.result if isinstance(ended.result, dict) else {}
    pages = fix_trace.write(root, ended.run, store) if outcome or ended.stop is not None else ""
    if code == CLEAN and outcome:
        code = EXITS[outcome["status"]]
    if form == "json":
        say_json({**_summary(ended, outcome), "page": pages})
        return code
    if outcome.get("diff"):
        click.echo(outcome["diff"], nl=False)
    for line in _story(ended, outcome, pages, named):
        say(visible(line), err=True)
    return code


def _summary(ended: Ended, outcome: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "ended",
        "status",
        "diff",
        "changes",
        "iterations",
        "probes",
        "cycles",
        "written",
        "history",
        "hypotheses",
        "failure",
        "choices",
        "notes",
    )
    said = {name: outcome.get(name) for name in kept}
    return {
        "format": 1, "run": ended.run, **said, "ended": outcome.get("ended") or ended.status, "seconds": round(ended.seconds, 3),
        "spent": ended.spent, "stop": ended.stop, "message": ended.message,
    }  # fmt: skip


_IMPORT = (
    "ModuleNotFoundError",
    "ImportError",
    "error during collection",
    "errors during collection",
)


def _advice(outcome: dict[str, Any], named: bool) -> list[str]:
    """What can be done where the repair did not come to its end."""
    if outcome["status"] not in ("none", "partial"):
        return []
    first = "apply the diff first; " if outcome["status"] == "partial" else ""
    if outcome["ended"] == "choice" and len(outcome["choices"]) == 1:
        return [f"{first}take it with `git apply` if it is what is meant"]
    if outcome["ended"] == "choice":
        return [f"{first}a test that one of them fails would decide; or take one with `git apply`"]
    failure = outcome["failure"]
    said = f"{failure.get('message', '')}\n{failure.get('block', '')}"
    if any(word in said for word in _IMPORT) and not any(
        row["applied"] for row in outcome["attempts"]
    ):
        return [
            "a test cannot be imported: check that the command finds the package and its dependencies"
        ]
    if outcome["ended"] == "no-command":
        return ["use its path; the sandbox may hide programs outside the workspace"]
    if outcome["ended"] == "no-tests":
        return ["run the command in a shell, and correct it (or the settings of the tests) first"]
    if outcome["ended"] == "flaky":
        return [
            "fdc cannot distinguish a repair from chance: make the test fail every time first (a fixed seed, no clock)"
        ]
    if outcome["ended"] in ("bound", "stalled"):
        return [
            "`--max-iterations` and `--max-stalls` allow more; a model (`--model`) can write larger changes"
        ]
    more = "let a model reason (`--model`): it can write more than one small edit"
    return [more if named else f"give the FILES that may be wrong, or {more}"]


def _story(ended: Ended, outcome: dict[str, Any], pages: str, named: bool) -> list[str]:
    from fdc_toolchain.api import commands

    if outcome:
        out = [ENDED.get(outcome["ended"], outcome["ended"])]
        if outcome["status"] == "partial":
            left = len(outcome["failure"].get("failing") or ())
            out[0] += (
                f"; the diff takes failures away and leaves {left or 'others'}: {outcome['failure'].get('message', '')}"
            )
        if outcome["choices"]:
            none = "none of them is" if len(outcome["choices"]) > 1 else "it is not"
            why = f"{outcome['why'].partition('; this was answer')[0]}; {none} applied"
            out = [*out, f"  {why}"] if outcome["status"] == "partial" else [f"{out[0]}: {why}"]
        elif outcome["status"] == "none" and outcome.get("why"):
            out.append(f"  {outcome['why']}")
        for row in outcome["choices"]:
            differ, every = row["change"][:2]
            effect = (
                f"another result for {differ} of {every} generated inputs"
                if every
                else "its effect was not measured"
            )
            out += [f"  {row['claim']} ({effect})", f"    git apply {row['file']}"]
        notes = () if outcome["choices"] else outcome["notes"]  # which speak of what is tried first
        out += [f"  {note}" for note in dict.fromkeys(notes)]
        out += [f"  {line}" for line in _advice(outcome, named)]
        work = f"{commands.count(outcome['iterations'], 'iteration')}, {ended.seconds:.1f} s"
        written = outcome.get("written")
        if written:
            out.append(
                f"written: {', '.join(written)}; the files as they were: runs/{ended.run}/original/"
            )
        elif outcome["changes"]:
            more = ", or use --write" * (outcome["status"] == "fixed")
            out.append(f"the workspace was not changed; apply the diff with `git apply`{more}")
        return [*out, f"{work}; page: {pages}  (run {ended.run})"]
    if ended.status == "interrupted":
        return [
            f"interrupted; the workspace was not changed; continue with `fdc fix --resume {ended.run}`"
        ]
    if ended.stop is not None:
        kind = "this is a bug of fdc; please report it: " if ended.stop["kind"] == "bug" else ""
        more = (ended.stop.get("cause") or {}).get("kind") == "budget"
        on = f"`fdc fix --resume {ended.run} --budget MEASURE=NUMBER` continues with more; " * more
        return [f"{kind}{ended.stop['message']}", f"{on}`fdc show {ended.run}` shows every step"]
    return [
        f"{ended.message}; all steps are recorded; continue with `fdc fix --resume {ended.run}`"
    ]
