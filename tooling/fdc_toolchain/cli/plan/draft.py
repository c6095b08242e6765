"""`fdc draft`: writes a plan for a task, if it has no findings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ...console.options import count_option, flag_option, root_of, text_option, workspace_option
from ...console.terminal import say
from ...exits import CLEAN, FINDINGS, UsageError, WorldError, reason

if TYPE_CHECKING:
    from ...linking.link import Linker


@click.command(
    "draft",
    epilog="Exit codes: 0 written, 1 no version lints clean (nothing is written), 2 wrong usage, 3 the model cannot be asked.",
)
@click.argument("task")
@text_option(
    "--fsm", "F", "The automaton, by path or name. [default: the automaton of the settings]"
)
@text_option(
    "--tools",
    "NAMES",
    "The tools, separated by commas. [default: the tools of fdc and of the workspace]",
)
@text_option("-o --output", "FILE", "The file of the plan; `-` prints it.", default="draft.plan")
@flag_option("--force", "Overwrite an existing file.")
@text_option(
    "--model",
    "NAME",
    "The model that writes it (else FDC_MODEL; none: a skeleton from the automaton).",
)
@count_option("--tries", 1, 20, "Maximum number of versions.", default=4)
@count_option("--most-steps", 1, 63, "Maximum number of statements in the grammar.", default=12)
@flag_option(
    "--brief",
    "Restrict texts and bodies to short ones: for small models, which may not end a long text.",
)
@workspace_option
def command(
    task: str,
    fsm: str | None,
    tools: str | None,
    output: str,
    force: bool,
    model: str | None,
    tries: int,
    most_steps: int,
    brief: bool,
    workspace: str | None,
) -> int:
    """Write a plan for TASK: a model writes it, restricted to the language if its server can; else fdc writes a skeleton.

    The skeleton uses the tools that match words of TASK. fdc asks for missing arguments, or makes them inputs.
    """  # fmt: skip
    from ... import durable
    from ...linking.link import Linker
    from ...report.terminal.terminal_text import visible
    from ...workspace.confirmed_settings import settings_of
    from ...workspace.operator import Operator

    if not task.strip():
        raise UsageError("the task is empty")
    root = root_of(workspace)
    linker = Linker(root, settings_of(root))
    if output != "-" and os.path.exists(output) and not force:
        raise UsageError(
            f"`{output}` exists: choose another --output, or overwrite it with --force"
        )
    names = tuple(name.strip() for name in (tools or "").split(",") if name.strip())
    path = os.path.abspath("draft.plan" if output == "-" else output)
    asked = Operator.of_environment(model=model).model
    text, findings, remarks = _made(
        linker, task, path, asked, fsm or linker.settings.fsm, names, tries, most_steps, brief
    )
    for remark in remarks:
        say(f"fdc: {visible(remark)}", err=True)
    if findings:
        click.echo("\n".join(map(visible, findings.rstrip("\n").split("\n"))))
        say("fdc: nothing is written: every version has errors. The last one:", err=True)
        for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
            say(f"{number:>4}  {visible(line)}", err=True)
        return FINDINGS
    if output == "-":
        if sys.stdout.isatty():
            text = "".join(f"{visible(line)}\n" for line in text.rstrip("\n").split("\n"))
        click.echo(text, nl=False)
        return CLEAN
    try:
        durable.output(path, text.encode())
    except OSError as failed:  # a model may have been paid for it
        click.echo(text, nl=False)
        why = f"`{visible(output)}` cannot be written: {reason(failed)}"
        raise WorldError(f"{why}; the plan is on stdout instead") from failed
    click.echo(f"{visible(output)} written; lint found no errors")
    return CLEAN


def _made(
    linker: Linker, task: str, path: str, asked: str, fsm: str, tools: tuple[str, ...], tries: int, most: int,
    brief: bool,
) -> tuple[str, str, list[str]]:  # fmt: skip
    """The text, its errors, and remarks."""
    from ...draft.drafting import allowed_by, drafted, findings_of, grammar_of
    from ...draft.served import served
    from ...draft.skeleton import skeleton
    from ...runs.cost.models import model_for
    from ...tools.plans.plan_text import proved
    from ...workspace.failure import ToolFailure

    grammar = grammar_of(linker, fsm=fsm, tools=tools, most=most, brief=brief)
    held = served(linker.root, asked, grammar)
    model = held or model_for(linker.root, asked)
    if model is None:
        terminal = sys.stdin is not None and sys.stdin.isatty()
        ask = _ask if terminal else None
        made, loops, apart = skeleton(linker, task, fsm=fsm, tools=tools), True, False
        against = findings_of(proved(linker.root, path, made.text))
        if "FDC474" in against:  # the tests could execute what a page says
            apart = True
            made = skeleton(linker, task, fsm=fsm, tools=tools, apart=True)
            against = findings_of(proved(linker.root, path, made.text))
        if terminal or against:
            loops = not against
            made = skeleton(linker, task, fsm=fsm, tools=tools, ask=ask, loops=loops, apart=apart)
        remarks = [
            f"`{name}` matches the task, but the automaton does not accept it at this point of the plan"
            for name in made.left_out
        ]
        remarks += [f"`{file}` does not exist, and no step makes it" for file in made.missing]
        remarks += [
            f"the page is written to `{place}`, not to `{file}`: a command runs afterwards, and it could execute text from"
            f" outside. Read it in the run's folder (`runs/RUN/outside/`), then move it"
            for file, place in made.moved
        ]
        remarks += [f"no step of the plan uses `{name}`" for name in made.unused]
        remarks += [
            f"no step of the plan uses `{name}`: it is outside of the workspace, and plans only use files in it"
            for name in made.outside
        ]
        remarks += [
            f"no step changes `{file}`: what is to be replaced is not in it, or a plan cannot spell the change out"
            for file in made.unfit
        ]
        if made.adds_nothing:
            remarks.append("no step adds a file to the commit: write `git_add FILE` for each")
        remarks += [
            f"the plan does not have `{words}`: {instead}" for words, instead in made.unplanned
        ]
        remarks += [
            f"no step of the plan is for the word `{word}` of the task: name its file, or write the step yourself"
            for word in (made.undone if made.fits else ())
        ]
        if "for_each_file" in made.text and any(
            what.startswith("path of") for _, what in made.inputs
        ):
            remarks.append(
                "the plan changes one file (`path`), not each of the files that it reads"
            )
        if not made.fits:
            remarks.append(
                "no tool matches the words of the task, so the plan has steps only for the files that it names: write a"
                " verb and its object (`read docs/a.md`), put commands between backticks, or write the steps yourself"
                " (`fdc tools` lists the tools)"
            )
        if made.inputs:
            given = " ".join(f"{name}=..." for name, _ in made.inputs)
            what = ", ".join(what for _, what in made.inputs)
            remarks.append(
                f"the plan has inputs: fdc run {os.path.basename(path)} {given} ({what})"
            )
        return made.text, findings_of(proved(linker.root, path, made.text)), remarks
    try:
        found = drafted(linker, task, path, model, fsm=fsm, tools=tools, tries=tries)
    except ToolFailure as failed:
        raise WorldError(f"the model wrote no plan: {failed}") from failed
    finally:
        model.close()
    cost = ", ".join(f"{measure} {amount:g}" for measure, amount in sorted(found.usage.items()))
    said = f"version {found.tries} of at most {tries}, held by {found.form or 'nothing'}: {cost or 'no answer'}"
    remarks = [said] if found.findings else [said, *allowed_by(found.text)]
    return found.text, found.findings, remarks


def _ask(tool: str, parameter: str) -> str:
    """Asks at the terminal; an empty answer makes it an input of the plan."""
    said = click.prompt(
        f"{tool}: {parameter} (empty: an input of the plan)",
        default="",
        show_default=False,
        err=True,
    )
    return str(said)
