"""`fdc grammar`: the plan language as a grammar for constrained decoding."""

from __future__ import annotations

import click

from ...console.options import (
    choice_option,
    count_option,
    flag_option,
    root_of,
    text_option,
    workspace_option,
)
from ...console.terminal import say
from ...exits import CLEAN


@click.command(
    "grammar",
    epilog="Exit codes: 0 written, 2 wrong usage (no such automaton, tool or plan; nothing is accepted; too large).",
)
@choice_option(
    "--format form", ["gbnf", "lark", "llguidance"], "The notation.", default="llguidance"
)
@text_option(
    "--fsm", "F", "The automaton, by path or name. [default: the automaton of the settings]"
)
@text_option(
    "--tools",
    "NAMES",
    "The tools, separated by commas. [default: the tools of fdc and of the workspace]",
)
@text_option(
    "--files",
    "GLOB",
    "A pattern of the files that steps may read (at most 2000 files).",
    default="**",
)
@count_option(
    "--most-steps",
    None,
    None,
    "Maximum number of statements, 1 to 63 (20; 8 for gbnf and lark); a body inside has half as many.",
)
@flag_option(
    "--brief",
    "Short texts, and bodies without nesting of two statements: for small models, which may not end a long text.",
)
@text_option(
    "--names-of",
    "PLAN",
    "Use only the headers, names, tools and calls of PLAN; information flow is not checked then.",
)
@workspace_option
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
    """Print a grammar of the plans that this workspace accepts, for model servers that support grammars.

    Its plans have valid syntax, names, argument types, order of tools and information flow. Lint them too: files are not checked.
    """
    from ...exits import UsageError
    from ...grammar_export.export import export, key_in
    from ...linking.link import Linker
    from ...report.terminal.terminal_text import visible
    from ...workspace.confirmed_settings import settings_of

    root = root_of(workspace)
    linker = Linker(root, settings_of(root))
    if names_of is not None and (fsm or tools or files != "**"):
        raise UsageError(
            "--names-of uses the automaton and tools of the plan: omit --fsm, --tools and --files"
        )
    chosen = [name.strip() for name in (tools or "").split(",") if name.strip()]
    key = None if names_of is None else key_in(linker, names_of)
    made = export(
        linker, form, fsm=fsm, tools=chosen, files=files, most=most_steps, names_of=key, brief=brief
    )
    click.echo(made.text, nl=False)
    for remark in made.remarks:
        say(f"fdc: {visible(remark)}", err=True)
    return CLEAN
