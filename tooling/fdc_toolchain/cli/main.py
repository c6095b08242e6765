"""The command line of `fdc`: finds the command, imports only its module, turns failures into exit codes."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import click

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (module below fdc_toolchain.cli, one line)
    "init": (
        "project.init.command",
        "make a repository ready: settings, a first plan, a rule, hooks, files of agents",
    ),
    "lint": (
        "plan.lint",
        "prove plans: every run ends, obeys its automaton, uses only what exists",
    ),
    "fmt": ("plan.fmt", "write plans in the one canonical form"),
    "migrate": ("plan.migrate", "convert plans from older notations, and say what changed"),
    "import": ("plan.import_plan", "write a plan from the task list of another tool"),
    "explain": ("plan.explain", "explain a diagnostic's code"),
    "rules": ("plan.rules", "list every rule"),
    "tools": ("tools", "list the tools that plans may use, or explain one"),
    "graph": ("plan.graph", "draw an automaton or a plan with its sub-plans"),
    "analyze": ("plan.analyze", "show complexity, modality and worst-case cost of a plan"),
    "validate": ("plan.validate", "follow a plan through its automaton, line by line"),
    "expand": ("plan.expand", "list the steps of a plan, or print the program it compiles to"),
    "grammar": (
        "plan.grammar",
        "print the plan language as a grammar that restricts a model's output to valid plans",
    ),
    "draft": ("plan.draft", "write a plan for a task: by a model, or as a skeleton without one"),
    "certify": (
        "plan.certify",
        "write a certificate of a plan, or check one with an independent checker",
    ),
    "run": ("run.run_plan", "execute a plan that was proved, durably"),
    "worker": ("run.worker", "drive the runs of a database, with other workers on other machines"),
    "resume": ("run.resume", "continue a run where it stopped"),
    "answer": ("run.answer", "answer a run's question"),
    "runs": ("run.runs", "list runs"),
    "show": ("run.show", "show a run, step by step"),
    "report": ("run.report", "write a run as one self-contained HTML page"),
    "ui": (
        "run.web_page.ui",
        "show all runs on a local web page: live, with answers and approvals",
    ),
    "cancel": ("run.cancel", "cancel a run, even while it is executing"),
    "fork": ("run.fork", "begin a new run from a step of an old one"),
    "replay": ("run.replay", "execute a run again from its record, without effects, and compare"),
    "verify": ("run.verify", "check that the record of a run was not changed"),
    "diff": ("run.diff", "compare two runs step by step, or two plans by meaning"),
    "agent": ("project.agent", "take a task from orientation to submission, durably"),
    "start": ("project.start", "begin a task: orientation, then TASK_START in the log"),
    "close": ("project.close", "end a task: post-mortem, then TASK_END in the log"),
    "knowledge": (
        "project.knowledge",
        "index the workspace, and show what it contains about a task",
    ),
    "lsp": ("project.lsp", "serve plans to an editor: findings, fixes, completion"),
    "probe": ("project.probe", "report what this machine lets an agent do"),
    "doctor": ("project.doctor", "check model, sandbox, disk, journal, terminal, git"),
    "registry": (
        "project.registry",
        "manage the registry of reusable sub-plans (also: plan_manager)",
    ),
    "csdc": ("plan.csdc", "check a plan against CSDC model A or B"),
    "protocols": ("project.protocols.build", "compile protocols/ into AGENTS.md"),
    "lessons": ("project.lessons", "turn the lessons of post-mortems into changes"),
    "trust": ("project.trust", "confirm on this machine what the settings allow"),
    "audit": (
        "project.audit",
        "count the rules that are enforced; compare protocols with what was done",
    ),
    "pack": ("project.pack", "list, show, create, check or install packs"),
    "mcp": ("mcp", "serve fdc's tools to an agent over MCP"),
    "hook": ("hooks.hook", "answer a hook of Claude Code or Codex"),
    "cache": ("project.cache", "show or clear the verdict cache"),
    "schema": ("schema", "print a JSON Schema: of settings, rules, automata, tools, reports"),
    "completion": ("completion", "print a shell completion script"),
    "help": ("help", "list every command, or explain one"),
}


PROGRAMS = {
    "plan_manager": "registry",
    "protocol_compiler": "protocols",
    "knowledge_compiler": "lessons",
    "master_control": "agent",
}
"""Commands by the names of the scripts that are the same."""

OUTSIDE_ONLY = frozenset(
    "start run resume agent worker answer cancel fork ui mcp"
    " master_control self_correction_orchestrator".split()
)  # fmt: skip
"""Commands that begin, drive or answer runs and tasks. A command of a run may not use them (FDC-37). Packs mark their own."""


def commands() -> dict[str, tuple[str, str]]:
    """The commands of the core, then those of packs. A pack's command cannot replace one of the core."""
    from ..report.terminal.terminal_text import visible
    from .pack_command import of_packs

    added = {row.name: (row.module, visible(row.help)) for row in of_packs().values()}
    return {**COMMANDS, **{name: row for name, row in added.items() if name not in COMMANDS}}


def _version() -> str:
    from .. import resources

    return resources.read("VERSION").decode("ascii").strip()


def group() -> click.Group:
    """Every command as one click group; each is imported when it is used."""

    import os

    import click

    from .. import exits

    class Commands(click.Group):
        """Commands by name."""

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(commands())

        def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
            found = _command(name)
            if found is None or "_FDC_COMPLETE" not in os.environ:
                return found
            from .completed import complete

            return complete(found, name)

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            from . import headings

            found = commands()
            for heading, names in headings.arranged(found, bool(ctx.meta.get(headings.EVERYTHING))):
                with formatter.section(heading):
                    formatter.write_dl([(name, found[name][1]) for name in names])

        def resolve_command(self, ctx: click.Context, args: list[str]):  # type: ignore[no-untyped-def]
            from ..text.suggest import did_you_mean

            if args and args[0] not in COMMANDS and not args[0].startswith("-"):
                found = commands()
                if args[0] not in found:
                    other = f"use `fdc {PROGRAMS[args[0]]}`" if args[0] in PROGRAMS else ""
                    hints = [other or did_you_mean(args[0], found), *unusable_packs()]
                    raise click.UsageError(
                        "; ".join([f"no such command `{args[0]}`", *filter(None, hints)])
                    )
            return super().resolve_command(ctx, args)

    made = Commands(
        name="fdc",
        help="Compiler, verifier and runner for the plans that AI agents write.",
        epilog="`fdc help --all` lists every command, `fdc help COMMAND` explains one. "
        + exits.summary(),
    )
    made.params.append(
        click.Option(["--version"], is_flag=True, is_eager=True, help="Print the version and exit.")
    )
    return made


def _command(name: str) -> click.Command | None:
    """A command of the core or of a pack. Raises WorldError if its pack cannot be used."""
    import click

    from ..exits import WorldError
    from ..narrow import narrow
    from ..packs.imported import imported
    from ..packs.model import PackError
    from .pack_command import command_of, of_packs

    if name in COMMANDS:
        found = imported(f"fdc_toolchain.cli.{COMMANDS[name][0]}", "command")
        return outside(_whole(narrow(found, click.Command)), name)
    row = of_packs().get(name)
    if row is None:
        return None
    try:
        return outside(_whole(command_of(row)), name)
    except PackError as wrong:
        raise WorldError(f"{wrong}; `fdc doctor` checks every pack") from wrong


def _whole(command: click.Command) -> click.Command:
    """The command, whose help shows the first sentence of each subcommand in full; click cuts it at the line's end."""
    import sys

    for one in getattr(command, "commands", {}).values():
        one.short_help = one.get_short_help_str(sys.maxsize)
    return command


def unusable_packs() -> list[str]:
    """A hint for messages about missing names: each pack that cannot be used, and why."""
    import os

    from ..packs.index import index
    from ..report.terminal.terminal_text import visible
    from .pack_command import of_workspace

    problems = [*index().problems, *of_workspace(os.getcwd()).problems]
    return [f"a pack cannot be used: {visible(str(problem))}" for problem in problems]


def _outside_only(name: str) -> bool:
    if name in COMMANDS or name in OUTSIDE_ONLY:
        return name in OUTSIDE_ONLY
    from .pack_command import of_packs

    row = of_packs().get(name)
    return row is not None and row.outside_only


def outside(command: click.Command, name: str) -> click.Command:
    """The command. If this process is a command of a run, and the command begins or drives runs, it is
    refused when its arguments are parsed. Its help always works."""
    import copy
    import os

    inside = os.environ.get("FDC_RUN")
    if not inside or not _outside_only(name):
        return command
    import click

    from ..exits import UsageError

    def parse(ctx: click.Context, args: list[str]) -> list[str]:
        try:
            command.parse_args(ctx, args)  # --help is processed first and ends the command
        except click.UsageError:
            pass
        raise UsageError(
            f"a command of the run {inside} may not start `fdc {name}`; a plan calls another with `call_plan`"
        )

    refused = copy.copy(command)
    refused.parse_args = parse  # type: ignore[method-assign]
    return refused


def run(argv: list[str] | None, commands: click.Command | None = None, name: str = "fdc") -> int:
    """Runs one command line (None: that of the process), or refuses it inside a run. Returns the exit code."""
    from ..console.process import run as run_command

    given = sys.argv[1:] if argv is None else argv
    return run_command(
        given, lambda: outside(_whole(commands) if commands else group(), name), name
    )


def main(argv: list[str] | None = None) -> int:
    """`fdc ARGUMENTS`. Returns the exit code (`exits`)."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["--version"]:
        from ..console.process import flushed
        from ..console.streams import open_streams

        open_streams()
        return flushed(0, "fdc", f"fdc {_version()}")
    if arguments[:1] == ["lint"]:
        from .linting import fast_lint

        code = fast_lint.main(arguments[1:])
        if code is not None:
            return code
    return run(arguments)
