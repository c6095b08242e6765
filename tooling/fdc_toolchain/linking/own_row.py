"""What a row of a catalogue says of the code that it runs: which functions, and what these may touch (`access`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .project.secret_files import variable

_RULES = re.compile(
    r"(PYTHON|LD_|DYLD_|FDC_|GIT_|SSH_|BASH_|HOME$|PATH$|TMPDIR$|PWD$|ENV$|IFS$|XDG_|__)",
    re.IGNORECASE,
)


def targets(row: Mapping[str, Any]) -> Iterator[str]:
    """The `module:function` of a tool or predicate, and of what answers a prompt where there is no model."""
    run = row.get("run") or {}
    for key in ("python", "embedded"):
        if isinstance(run.get(key), str):
            yield run[key]


def reads_all(row: Mapping[str, Any]) -> bool:
    """True for a tool whose function may read the whole workspace: not one that is pure, that answers for a model, or that is
    asked in a condition."""
    return (
        "python" in row.get("run", {})
        and row.get("effect", "pure") != "pure"
        and "read" not in row.get("access", {})
    )


def no_variable(name: str) -> str | None:
    """Why no tool is given an environment variable of this name, or None."""
    if variable(name):
        return f"`{name}` is named like a secret, and no tool is given those"
    if _RULES.match(name):
        return f"`{name}` rules how programs run, and no tool is given those"
    return None


def wrong(row: Mapping[str, Any]) -> Iterator[tuple[list[Any], str, str | None]]:
    """What a schema cannot say of `access`: where in the row, what, and what to do."""
    access = row.get("access")
    if access is None:
        return
    if not any(True for _ in targets(row)):
        yield (
            ["access"],
            "`access` is for tools that are Python functions (`run`: `python` or `embedded`)",
            None,
        )
    for key in ("read", "write"):
        for number, glob in enumerate(access.get(key, ())):
            if ".." in glob.split("/"):
                yield ["access", key, number], f"`{glob}` leads out of the workspace", None
    for number, name in enumerate(access.get("env", ())):
        why = no_variable(name)
        if why is not None:
            yield ["access", "env", number], why, None
    if row.get("effect") == "pure" and any(access.get(key) for key in ("read", "write", "net")):
        help_ = "say `read`, `idempotent` or `once` as its effect"
        yield (
            ["access"],
            "a pure tool makes its result of its arguments alone, and touches nothing else",
            help_,
        )
    if access.get("net") and row.get("trust") != "untrusted":
        yield (
            ["access", "net"],
            "what comes from the network is not trusted",
            "say `untrusted` as its `trust`",
        )
