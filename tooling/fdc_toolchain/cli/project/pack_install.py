"""`fdc pack install`: shows what a pack contains and may access, asks, and runs pip."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import click

from ...exits import CLEAN, FINDINGS, Refused, WorldError
from ...packs.beside import DISTRIBUTION, PACKAGE
from ...packs.model import PREFIX, Pack
from ...report.terminal.terminal_text import visible

_PIP = 900
"""Time limit of pip in seconds."""


def install(path: str, commands: Collection[str], *, yes: bool) -> int:
    """Shows the packs of a folder or wheel, asks, and installs them. Raises Refused, UsageError, WorldError.

    `commands`: the names of the core's own commands.
    """
    from ...doctor.packs import faults
    from ...packs.model import PackError
    from ...packs.offered import beside_packs, digest, distribution, offered

    began = digest(path)
    try:
        with offered(path) as packs:
            for pack in packs:
                found = faults(pack, commands)
                if found:
                    raise Refused(f"the pack `{pack.name}` cannot be used: {found[0]}")
                _may_come(pack, path)
                for line in _told(pack):
                    click.echo(visible(line))
            _leaves_fdc(path)
            replaced = list(_replaced(distribution(path)))
            for line in (*replaced, *beside_packs(path, packs)):
                click.echo(f"  pip {visible(line)}")
    except PackError as wrong:
        raise Refused(f"the pack cannot be used: {wrong}") from wrong
    click.echo(
        f"It is installed into {sys.prefix} and trusted like fdc: its Python code is not sandboxed."
    )
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise Refused(
                "the installation needs a confirmation, and stdin is not a terminal; add `--yes`"
            )
        if not click.confirm("Install it?", default=False):
            click.echo("Not installed.")
            return FINDINGS
    if digest(path) != began:
        raise Refused(f"`{path}` was changed after it was shown; nothing is installed")
    _pip(path)
    if replaced and os.path.isfile(path):  # of a wheel of the same version pip keeps what is there
        _pip(path, "--force-reinstall", "--no-deps")
    for pack in packs:
        _is_there(pack.name)
        click.echo(f"installed: {pack.name}")
    return CLEAN


def _may_come(pack: Pack, path: str) -> None:
    """Checks that fdc would find the pack, and that it takes the place of nothing of fdc. Raises Refused."""
    from ...packs.index import index
    from ...packs.offered import distribution

    there = index().packs.get(pack.name)
    if there is not None and there.package != pack.package:
        raise Refused(
            f"the pack `{pack.name}` would not be used: there is one of this name already, {there.folder}"
        )
    of_fdc = {__name__.partition(".")[0], PACKAGE}
    if pack.package.partition(".")[0] in of_fdc or distribution(path) == DISTRIBUTION:
        raise Refused(f"the pack `{pack.name}` would replace files of fdc: rename its package")


def _leaves_fdc(path: str) -> None:
    """Checks that pip would leave fdc as it is. Raises Refused, UsageError."""
    from ...packs.offered import other_fdc, targets
    from ...packs.targets import of_fdc, shown

    for target in targets(path):
        if of_fdc(target):
            raise Refused(f"`{path}` would replace files of fdc: it installs `{shown(target)}`")
    need = other_fdc(path)
    if need is not None:
        raise Refused(f"`{path}` would replace fdc: it needs `{need}`")


def _replaced(name: str) -> Iterator[str]:
    """The installed distribution of this name, which pip removes."""
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError):
        yield f"replaces the installed `{name} {metadata.version(name)}`"


def _told(pack: Pack) -> Iterator[str]:
    """Lines about a pack: what it contains, and what each of its tools may access."""
    yield f"{pack.name}: {pack.summary}"
    for command in pack.commands.values():
        yield f"  command fdc {command.name}: {command.help}"
    for kind, names in (("automata", pack.automata), ("plans", pack.plans)):
        if names:
            yield f"  {kind}: {', '.join(names)}"
    for catalogue in pack.catalogues:
        inside = catalogue.removeprefix(f"{PREFIX}{pack.name}/")
        with open(os.path.join(pack.folder, inside), "rb") as file:
            rows: dict[str, dict[str, Any]] = json.load(file).get("tools", {})
        for name, row in rows.items():
            yield f"  tool {name}: {', '.join(_accesses(row))}"


def _accesses(row: dict[str, Any]) -> Iterator[str]:
    """The accesses that a tool declares."""
    yield str(row.get("effect"))
    access = row.get("access") or {}
    for parameter in row.get("parameters", ()):
        if parameter.get("access"):
            yield f"{parameter['access']}s the file that a plan names in `{parameter['name']}`"
        elif parameter.get("sink") in ("command", "url", "message"):
            yield f"`{parameter['name']}` is a {parameter['sink']}"
    for word in ("read", "write", "env"):
        if access.get(word):
            yield f"{word} {' '.join(access[word])}"
    if access.get("net"):
        yield "reaches the network"
    if row.get("trust") == "untrusted":
        yield "returns text from outside"


def _pip(path: str, *options: str) -> None:
    from ...sandbox import python_process

    # An address has no part that pip takes as an option, as extras (`pack[net]`) or as a marker (`pack;...`).
    target = os.path.abspath(path)
    argv = python_process.packages(
        "-m",
        "pip",
        "install",
        *options,
        "--no-input",
        "--disable-pip-version-check",
        Path(target).as_uri(),
    )
    try:
        done = subprocess.run(
            argv, env=python_process.environment(), stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=_PIP, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise WorldError(
            f"pip was stopped after {_PIP} seconds; the pack may not be installed"
        ) from late
    if done.returncode:
        raise WorldError(
            f"pip ended with exit code {done.returncode}, and the pack is not installed; where fdc was installed"
            f" without pip, install it as you installed fdc (`uv tool install --with {target} fdc-toolchain`)"
        )


def _is_there(name: str) -> None:
    """Checks in a new process that fdc finds the pack. Raises WorldError."""
    from ...sandbox import python_process

    argv = python_process.fdc("pack", "show", name)
    done = subprocess.run(
        argv, env=python_process.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    if done.returncode:
        raise WorldError(
            f"pip installed the pack `{name}`, but fdc does not find it: run `fdc doctor`"
        )
