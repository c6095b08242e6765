"""`fdc grammar`: the plan language as a grammar for constrained decoding."""

from __future__ import annotations

import os

import click

from ...exits import CLEAN


@click.command(
    "grammar",
    epilog="Exit codes: 0 written, 2 wrong usage (no such automaton, tool or plan; nothing is accepted; too large).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["gbnf", "lark", "llguidance"]),
    default="llguidance",
    show_default=True,
    help="The notation.",
)
@click.option(
    "--fsm",
    metavar="F",
    help="The automaton, by path or name. [default: the automaton of the settings]",
)
@click.option(
    "--tools",
    metavar="NAMES",
    help="The tools, separated by commas. [default: the tools of fdc and of the workspace]",
)
@click.option(
    "--files",
    metavar="GLOB",
    default="**",
    show_default=True,
    help="The files that steps may read: the first 2000 that match.",
)
@click.option(
    "--most-steps",
    type=int,
    metavar="N",
    help="The most statements of the plan (20; 8 for gbnf and lark); a body inside has half as many.",
)
@click.option(
    "--brief",
    is_flag=True,
    help="Short texts, bodies one deep with two statements: for small models, which may never end a long text.",
)
@click.option(
    "--names-of",
    metavar="PLAN",
    help="Take headers, names, tools and calls of PLAN; values are not followed then.",
)
@click.option(
    "--workspace",
    metavar="DIR",
    help="The workspace. [default: the nearest above the current folder]",
)
def command(
    form: str,
    fsm: str | None,
    tools: str | None,
    files: str,
    most_steps: int | None,
    brief: bool,
    names_of: str | None,
    workspace: str | None,
) -> int:
    """Print a grammar of the plans that this workspace accepts, for servers of models that follow grammars.

    What it spells is right by form, names, types of arguments, automaton and flow of text; lint it all the same, for files.
    """
    from ...exits import UsageError
    from ...grammar_export.export import export, key_in
    from ...linking.link import Linker
    from ...linking.project.root import find_root
    from ...report.terminal.terminal_text import visible
    from ...workspace.confirmed_settings import settings_of

    root = os.path.abspath(workspace) if workspace else find_root(os.getcwd())
    linker = Linker(root, settings_of(root))
    if names_of is not None and (fsm or tools or files != "**"):
        raise UsageError(
            "--names-of takes automaton and tools of the plan: leave --fsm, --tools and --files out"
        )
    chosen = [name.strip() for name in (tools or "").split(",") if name.strip()]
    key = None if names_of is None else key_in(linker, names_of)
    made = export(
        linker, form, fsm=fsm, tools=chosen, files=files, most=most_steps, names_of=key, brief=brief
    )
    click.echo(made.text, nl=False)
    for remark in made.remarks:
        click.echo(f"fdc: {visible(remark)}", err=True)
    return CLEAN
