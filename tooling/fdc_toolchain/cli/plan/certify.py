"""`fdc certify`: writes the certificate of a program, or checks one with a checker that shares no code with lint."""

from __future__ import annotations

import json
from typing import Any

import click

from ...console.options import flag_option, root_of, text_option, workspace_option
from ...console.terminal import say
from ...exits import CLEAN, FINDINGS, UsageError
from ...program.model import Program

_SHOWN = 16
"""Digits of a digest that a message shows."""


@click.command(
    epilog="Exit codes: 0 written, or it holds; 1 the plan has errors, or the certificate does not hold; 2 wrong usage, "
    "3 the environment failed, 4 a bug of fdc."
)
@click.argument("plan")
@click.argument("certificate", required=False, metavar="[FILE]")
@flag_option("--check checks", "Compile PLAN, and check the certificate in FILE against it.")
@text_option("--output -o", "FILE", "Write the certificate there instead of stdout.")
@workspace_option
def command(
    plan: str, certificate: str | None, checks: bool, output: str | None, workspace: str | None
) -> int:
    """Write a certificate of the program that PLAN compiles to: claims that a small independent checker can check.

    It claims where runs can be in their automata and rules, how deep calls go, which names are bound, how many steps a
    run takes at most, what text from outside can reach, and that a path is there, or free, where a step needs that.
    `fdc run` makes and checks one before it begins a run.
    """
    from ...console.compiling import compile_or_refuse
    from ...runs.certified import certified

    if checks and output:
        raise UsageError("`--output` and `--check` exclude each other")
    if checks != (certificate is not None):
        raise UsageError(
            "`--check` takes PLAN and FILE"
            if checks
            else "FILE needs `--check`; use `--output FILE` to write a certificate"
        )
    root = root_of(workspace)
    given = None if certificate is None else _read(certificate)
    program = compile_or_refuse(plan, root)
    if program is None:
        return FINDINGS
    if certificate is not None:
        return _check(plan, program, certificate, given, root)
    made = certified(program, plan, root).certificate()
    text = json.dumps(made, sort_keys=True) + "\n"
    if output is None or output == "-":
        click.echo(text, nl=False)
        return CLEAN
    from ... import durable

    durable.output(output, text.encode("utf-8"))
    click.echo(f"{plan}: {_claims(program, made)}")
    return CLEAN


def _read(path: str) -> Any:
    """The JSON value in a file; `Ellipsis` if it is not JSON. Raises UsageError, OSError."""
    from ...durable import read

    data = read(path)
    if data is None:
        raise UsageError(f"Could not find file `{path}`")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return ...


def _check(plan: str, program: Program, path: str, given: Any, root: str) -> int:
    """Prints whether a certificate holds of a program; returns the exit code."""
    from ...certificate.check import check
    from ...certificate.control import digest

    named = given.get("program") if isinstance(given, dict) else None
    if not isinstance(given, dict):
        wrong: str | None = "it is not a JSON object"
    elif named != digest(program):
        wrong = f"it is for the program {str(named)[:_SHOWN]}, and `{plan}` compiles to {digest(program)[:_SHOWN]}"
    else:
        wrong = check(program, given) or _untrue(given, root)
    if wrong is not None:
        say(f"{path}: does not hold: {wrong}", err=True)
        return FINDINGS
    click.echo(f"{path}: holds of {plan}: {_claims(program, given)}")
    return CLEAN


def _untrue(made: dict[str, Any], root: str) -> str | None:
    """A claim of the certificate about the workspace's files that is false there; None: all are true."""
    from ...linking.project.files import Files

    files = Files(root)
    for path, kind in ((made["files"] or {}).get("facts", {})).items():
        if (found := files.kind(path)) != kind:
            return f"part `files`: it says of `{path}`: {kind}; in this workspace it is: {found}"
    return None


def _claims(program: Program, made: dict[str, Any]) -> str:
    """The claims of a valid certificate in one line."""
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
    within = [
        name for name, row in program["tools"].items() if row.get("cost", {}).get("steps") == "left"
    ]
    more = f" besides those of the runs of `{within[0]}`" if within else ""
    return f"at most {_steps(root['steps'])} steps{more}, {root['height']} deep{rules}{paths}"


def _steps(terms: list[Any]) -> str:
    """The bound in text: `3*|a.plan:4| + 5`; a size is the number of files that the loop in that line finds."""
    shown = []
    for number, sizes in sorted(terms, key=lambda term: -len(term[1])):
        factors = [f"|{size}|" for size in sizes]
        shown.append("*".join(factors if number == 1 and factors else [str(number), *factors]))
    return " + ".join(shown) or "0"
