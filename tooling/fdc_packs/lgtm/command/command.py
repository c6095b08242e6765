"""`fdc lgtm`: runs the registered LGTM plan on a question; the document that it ends with goes to stdout.

The log of the run goes to stderr. The run folder `runs/RUN/` keeps every artifact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    NO_RESULT,
    Aside,
    Json,
    UsageError,
    budget_option,
    choice_option,
    count_option,
    flag_option,
    format_option,
    number_option,
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
    from fdc_toolchain.api.records import Program
    from fdc_toolchain.api.tools import Outcome, Perform

PLAN = "lgtm"


@click.command(
    epilog="Exit codes: 0 planned, 1 the run stopped, 2 wrong usage, 3 the environment failed, 4 a bug of fdc, 7 no plan: "
    "a hypothesis was disproved, the synthesis failed, or every pipeline or document was invalid."
)
@click.argument("question", required=False)
@text_option("--prior", "TEXT", "Known facts, which become part of the question.", default="")
@text_option("--paths --docs", "GLOB", "A pattern of the files to analyse.", default="**")
@count_option("--max-iterations", 1, 10, "Maximum number of rounds of refinement.", default=5)
@count_option(
    "--areas",
    1,
    6,
    "Maximum number of areas of analysis; the cost grows with each area.",
    default=6,
)
@number_option(
    "--confidence",
    0,
    1,
    "The mean confidence at which refinement may stop.",
    default=0.7,
    metavar="X",
)
@count_option(
    "--conflicts", 0, None, "Maximum number of open conflicts when refinement stops.", default=0
)
@choice_option(
    "--gate",
    ["all", "subset"],
    "all: every hypothesis must survive its challenge; subset: continue with those that do.",
    default="all",
)
@text_option(
    "--model", "NAME", "The model that reasons (else FDC_MODEL; none: embedded functions)."
)
@flag_option("--web", "Let WebSearch use the web, through a configured search provider.")
@budget_option
@count_option("--jobs", 1, 256, "Maximum number of branches at the same time.", default=8)
@text_option("--check checked", "RUN", "Check the artifacts of a run, and print their errors.")
@format_option
@quiet_option
@workspace_option
def command(
    question: str | None, prior: str, paths: str, max_iterations: int, areas: int, confidence: float, conflicts: int, gate: str,
    model: str | None, web: bool, budgets: tuple[str, ...], jobs: int, checked: str | None,
    form: str, quiet: bool, workspace: str | None,
) -> int:  # fmt: skip
    """Plan an implementation for QUESTION: refined and challenged micro-hypotheses, one document with checked links.

    It plans, and changes nothing outside of its run folder.
    """
    from fdc_toolchain.api.commands import budget_of, root_of

    if checked is not None:
        from .check import check

        if question is not None:
            raise UsageError("--check needs a run instead of a question")
        return check(checked, root_of(workspace), form)
    if question is None:
        raise click.MissingParameter(param_hint="'QUESTION'", param_type="argument")
    if paths.startswith("/") or ".." in paths.split("/"):
        raise UsageError(f"`{paths}` leaves the workspace; --paths needs a glob inside it")
    if not question.strip():
        raise UsageError("the question is empty")
    given = {
        "question": written(question, "the question").strip(), "prior": written(prior, "--prior").strip(), "paths": paths or "**",
        "max_iterations": str(max_iterations), "confidence": str(confidence), "conflicts": str(conflicts), "gate": gate,
        "areas": str(areas),
    }  # fmt: skip
    from fdc_toolchain.api import commands
    from fdc_toolchain.api.commands import Operator, compile_or_refuse

    root = root_of(workspace)
    program = compile_or_refuse(PLAN, root)
    if program is None:
        return FINDINGS
    operator = Operator.of_environment(web=web)
    if model:
        operator = operator._replace(model=model)
    task = commands.task_for(root, None)
    budget = budget_of(budgets)
    name = commands.begin(
        root, program, PLAN, commands.given_for(program, given), budget, task, operator
    )
    for line in _too_small(program, budget, operator.model):
        say(line, err=True)
    show = Json() if quiet else _Watching()
    ended = commands.drive_run(root, name, show, jobs=jobs, operator=operator)
    return _tell(ended, form)


def _too_small(program: Program, budget: dict[str, float], model: str | None) -> Iterator[str]:
    """What is said at once of a budget that is less than one step alone sets aside: the run would stop before that step."""
    from fdc_toolchain.api.models import most as price

    for measure, ceiling in budget.items() if model else ():
        row = program["tools"]["plan.run"]["cost"]  # no other step sets more aside
        cost = {name: most for name, most in row.items() if not isinstance(most, str)}
        needs = (
            (price(model or "", cost["tokens"]) or 0.0)
            if measure == "money"
            else cost.get(measure, 0)
        )
        if needs > ceiling:
            yield (f"the budget of {ceiling:g} {measure} is less than the {needs:g} that `plan.run` reserves: the run will "
                   f"stop before it; continue it with `fdc resume RUN --budget {measure}=N`")  # fmt: skip


class _Watching(Aside):
    """The lines of the run's log on stderr; stdout belongs to the document."""

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        super().done(effect, outcome, took)
        value = outcome.value
        if effect.tool == "log_message" and isinstance(value, dict):
            mark = "" if value["level"] == "Info" else f"{value['level']}: "
            say(visible(f"{mark}{value['message']}"), err=True)


def _folded(page: str) -> Iterator[str]:
    """A page as a terminal shows it: prose in lines of 80 columns, code as it stands."""
    from ..collected import folded

    fence = ""
    for line in page.split("\n"):
        mark = line[: len(line) - len(line.lstrip("`"))]
        yield from [line] if fence or len(mark) > 2 else folded(line)
        if len(mark) > 2:
            fence = "" if line == fence else fence or mark


def _tell(ended: Ended, form: str) -> int:
    from fdc_toolchain.api.commands import as_json, broken_off, exit_code

    from ..collected import folded

    outcome: dict[str, Any] = ended.result if isinstance(ended.result, dict) else {}
    code = exit_code(ended)
    if code == CLEAN and outcome["ended"] != "planned":
        code = NO_RESULT
    if form == "json":
        say_json(as_json(ended))
        return code
    if outcome:
        counts = (
            f"{outcome['knowledge']} entries of knowledge, {outcome['hypotheses']} micro-hypotheses"
        )
        if outcome["hypotheses"]:
            left = outcome["hypotheses"] - outcome["validated"] - outcome["invalidated"]
            counts += f" ({outcome['validated']} validated, {outcome['invalidated']} disproved, {left} undecided)"
        if outcome["ended"] not in ("planned", "collected"):
            more = " `--gate subset` continues with the other hypotheses."
            stand = more if outcome["validated"] and outcome["ended"] == "challenge" else ""
            click.echo("\n".join(folded(f"No plan was made. {visible(outcome['why'])}{stand}")))
        for line in _folded(outcome["markdown"]) if outcome["markdown"] else ():
            click.echo(visible(line))
        say(
            f"{counts}\nrun folder: {outcome['run']}"
            + (f"/{outcome['plan']}" if outcome["plan"] else ""),
            err=True,
        )
    else:
        broken_off(ended)
    return code
