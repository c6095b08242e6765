"""`fdc certify`: writes the certificate of a program, and checks one with a checker that shares nothing with lint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from ..exits import CLEAN, FINDINGS, Exit, Refused, UsageError

_SHOWN = 16
"""Digits of a digest that a message shows."""

_OF_FILES = ("FDC411", "FDC412", "FDC415")
"""Findings that begin with the file that they are about: it is not there, is there, or is no file."""


@click.command(
    epilog="Exit codes: 0 written, or it holds; 1 the plan has errors, or the certificate does not hold; 2 wrong usage, "
    "3 the world failed, 4 a bug of ours.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("plan")
@click.argument("certificate", required=False, metavar="[FILE]")
@click.option(
    "--check",
    "checks",
    is_flag=True,
    help="Compile PLAN, and check the certificate in FILE against it.",
)
@click.option(
    "--output", "-o", metavar="FILE", help="Write the certificate there instead of stdout."
)
@click.option(
    "--workspace", metavar="DIR", help="The workspace; otherwise the nearest one above here."
)
def command(
    plan: str, certificate: str | None, checks: bool, output: str | None, workspace: str | None
) -> int:
    """Write a certificate of the program that PLAN compiles to: claims that a small independent checker can check.

    It claims where runs can be in their automata and rules, how deep calls go, which names are bound, how many steps a
    run takes at most, what text from outside can reach, and that a path is there, or free, where a step needs that.
    `fdc run` makes and checks one before it begins a run.
    """
    from .beginning import compile_or_refuse
    from .run_options import root_of

    if checks and output:
        raise UsageError("`--output` writes and `--check` does not; use one of them")
    if checks != (certificate is not None):
        raise UsageError(
            "`--check` takes PLAN and FILE"
            if checks
            else "FILE goes with `--check`; `--output FILE` writes one"
        )
    root = root_of(workspace)
    given = None if certificate is None else _read(certificate)
    program = compile_or_refuse(plan, root)
    if program is None:
        return FINDINGS
    if certificate is not None:
        return _check(plan, program, certificate, given, root)
    made = certified(program, plan, root)
    text = json.dumps(made, sort_keys=True) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return CLEAN
    from ..durable import replace

    replace(output, text.encode("utf-8"))
    click.echo(f"{plan}: {_said(program, made)}")
    return CLEAN


def certified(program: dict[str, Any], plan: str, root: str) -> dict[str, Any]:
    """The certificate of a program that was proved, checked; the facts in it are those of the workspace now.

    Raises Refused where a file changed since the program was proved, and Exit, for a bug of ours, where there is none that holds.
    """
    parts, wrong = _parts(program, root)
    if wrong is not None and wrong.startswith(
        "part `files`"
    ):  # the other parts speak of the program alone
        changed = _changed(program, root)
        if changed is not None:
            raise Refused(f"{changed} changed while it was being checked; run the command again")
        parts, wrong = _parts(program, root)  # what changed meanwhile may be as it was
    if wrong is not None:
        raise Exit(
            f"lint proved `{plan}`, and the independent check of its program found: {wrong}; nothing was run. "
            "This is a bug of fdc, please report it"
        )
    return {"format": 3, "program": parts["control"]["program"], **parts}


def _parts(program: dict[str, Any], root: str) -> tuple[dict[str, Any], str | None]:
    """The parts of a certificate, and what is wrong with one of them."""
    from ..certificate.check import PARTS
    from ..certificate.making import make_control, make_data, make_files
    from ..certificate.plans import Wrong
    from ..linking.project.files import Files

    parts: dict[str, Any] = {}
    makers: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
        "control": make_control.make, "data": make_data.make, "files": partial(make_files.make, kind=Files(root).kind)
    }  # fmt: skip
    for name, makes in makers.items():
        try:
            parts[name] = makes(program)
            found = None if parts[name] is None else PARTS[name](program, parts[name])
        except Wrong as refused:
            found = str(refused)
        if found is not None:
            return parts, f"part `{name}`: {found}"
    return parts, None


def _changed(program: dict[str, Any], root: str) -> str | None:
    """The file whose change made the plan another one than the program that was proved; None: it is proved as it was."""
    from ..certificate.control import digest
    from ..check import check, program_of
    from ..linking.link import Linker
    from .lint import settings_of

    checked = check(Linker(root, settings_of(root, trust=True)), [program["root"]], whole=True)
    wrong = [item for item in checked.diagnostics if item.severity == "error"]
    if not wrong:
        return (
            None
            if digest(program_of(checked)) == digest(program)
            else f"`{program['root']}`, or what it reaches,"
        )
    named = re.search(r"`([^`]+)`", wrong[0].message) if wrong[0].code in _OF_FILES else None
    return f"`{named[1] if named else program['root']}`"


def _read(path: str) -> Any:
    """The JSON value in a file, `Ellipsis` where it is none. Raises UsageError, OSError."""
    from ..durable import read

    data = read(path)
    if data is None:
        raise UsageError(f"Could not find file `{path}`")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return ...


def _check(plan: str, program: dict[str, Any], path: str, given: Any, root: str) -> int:
    """Says whether a certificate holds of a program."""
    from ..certificate.check import check
    from ..certificate.control import digest

    named = given.get("program") if isinstance(given, dict) else None
    if not isinstance(given, dict):
        wrong: str | None = "it is not a JSON object"
    elif named != digest(program):
        wrong = f"it is for the program {str(named)[:_SHOWN]}, and `{plan}` compiles to {digest(program)[:_SHOWN]}"
    else:
        wrong = check(program, given) or _untrue(given, root)
    if wrong is not None:
        click.echo(f"{path}: does not hold: {wrong}", err=True)
        return FINDINGS
    click.echo(f"{path}: holds of {plan}: {_said(program, given)}")
    return CLEAN


def _untrue(made: dict[str, Any], root: str) -> str | None:
    """What a certificate that holds says of the files of a workspace, and is not so; None: nothing."""
    from ..linking.project.files import Files

    files = Files(root)
    for path, kind in ((made["files"] or {}).get("facts", {})).items():
        if (found := files.kind(path)) != kind:
            return f"part `files`: it says of `{path}`: {kind}; in this workspace it is: {found}"
    return None


def _said(program: dict[str, Any], made: dict[str, Any]) -> str:
    """What a certificate that holds claims, in one line."""
    control = made["control"]
    root = control["plans"][program["root"]]
    kept = sum(
        1 for _, claims in zip(program.get("rules", ()), control["rules"]) if claims is not None
    )
    watched = len(program.get("rules", ())) - kept
    rules = (
        f"; rules kept: {kept}" + (f", only watched by the runner: {watched}" if watched else "")
        if kept + watched
        else ""
    )
    open_uses = None if made["files"] is None else len(made["files"]["open"])
    paths = (
        "; paths: nothing claimed"
        if open_uses is None
        else f"; uses of paths not shown: {open_uses}"
        if open_uses
        else ""
    )
    return f"at most {_steps(root['steps'])} steps, {root['height']} deep{rules}{paths}"


def _steps(terms: list[Any]) -> str:
    """The bound in text: `3*|a.plan:4| + 5`; a size is the number of files that the loop in that line finds."""
    shown = []
    for number, sizes in sorted(terms, key=lambda term: -len(term[1])):
        factors = [f"|{size}|" for size in sizes]
        shown.append("*".join(factors if number == 1 and factors else [str(number), *factors]))
    return " + ".join(shown) or "0"
