"""`fdc import`: converts the task list of another tool to a plan of fdc."""

from __future__ import annotations

import click

from ...console.options import choice_option, root_of, there, workspace_option
from ...console.terminal import say
from ...exits import CLEAN, FINDINGS, UsageError
from ...report.terminal.terminal_text import visible

FORMS = {
    "spec-kit": "Spec Kit tasks",
    "openspec": "OpenSpec tasks",
    "kiro": "Kiro tasks",
    "task-master": "Task Master tasks",
    "exec-plan": "ExecPlan",
}


@click.command(
    "import",
    epilog="Exit codes: 0 converted, 1 this file cannot become a plan, 2 wrong usage, 3 the environment failed.",
)
@click.argument("file")
@choice_option(
    "--from form",
    [*FORMS, "auto"],
    "The tool that FILE belongs to; `auto` uses its path and content.",
    default="auto",
)
@workspace_option
def command(file: str, form: str, workspace: str | None) -> int:
    """Write a plan to stdout that asks for each open task of FILE, in an order that its dependencies allow.

    The step for a task shows it and waits until a person answers that it is done. If FILE cannot become
    a plan, stderr has the reason.
    """
    from ...check import key_of
    from ...foreign.convert import NotConverted, converted
    from ...foreign.read import read
    from ...linking.link import closed
    from ...linking.project.regular_file import read as content
    from ...workspace.confirmed_settings import settings_of

    there(file)
    root = root_of(workspace)
    key = key_of(file, root)
    settings = settings_of(root)
    if refused := closed(root, key, settings.secret):
        raise UsageError(f"{refused.message}; {refused.help}")
    found = read(key, content(file), root, settings, FORMS.get(form))
    if found is None or found.kind == "Markdown":
        hint = "; if it is one, name the tool with `--from`" if form == "auto" else ""
        raise UsageError(f"`{visible(file)}` is not a plan of another tool that fdc knows{hint}")
    if form != "auto" and found.kind != FORMS[form]:
        raise UsageError(f"`{visible(file)}` has the form of {found.kind}, not of {FORMS[form]}")
    try:
        text = converted(found, key)
    except NotConverted as wrong:
        say(f"fdc: {visible(str(wrong))}", err=True)
        return FINDINGS
    click.echo(text, nl=False)
    return CLEAN
