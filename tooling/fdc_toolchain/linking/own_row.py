"""Catalogue rows that run code: a function, a command or an MCP server, and what it may touch (`access`)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from ..program.model import ToolRow
from ..text.later_regex import later
from .project.secret_files import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..certificate.forms.rows import Server

LOCK = "fdc_tools.lock.json"
"""The catalogue of what MCP servers offer, which `fdc tools lock` writes."""

_RULES = later(
    r"(PYTHON|LD_|DYLD_|FDC_|GIT_|SSH_|BASH_|HOME$|PATH$|TMPDIR$|PWD$|ENV$|IFS$|XDG_|__)",
    re.IGNORECASE,
)
_PROGRAM = later(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def targets(row: Mapping[str, object]) -> Iterator[str]:
    """The `module:function` of a tool or predicate, and of what answers a prompt where no model exists."""
    run = row.get("run")
    found = [run.get(key) for key in ("python", "embedded")] if isinstance(run, dict) else []
    yield from (one for one in found if isinstance(one, str))


def programs(row: Mapping[str, object]) -> Iterator[str]:
    """The files of the workspace that the command of a tool, or of its server, may name: each word that no value is part of."""
    run: Mapping[str, Any] = row.get("run") or {}  # type: ignore[assignment]  # as its schema says
    for word in run.get("command") or run.get("mcp", {}).get("command", ()):
        path = word.partition("=")[2] if word.startswith("-") else word
        if path and "{" not in path:
            yield posixpath.normpath(path)


def sandboxed(row: ToolRow) -> bool:
    """True for a tool that is a Python function, a command or an MCP server's: only its row states what it does."""
    run = row.get("run") or {}
    return "python" in run or "command" in run or "mcp" in run


def reads_all(row: ToolRow) -> bool:
    """True for a tool whose function may read the whole workspace: not one that is pure, that answers for a model, or that is
    asked in a condition."""
    return (
        sandboxed(row)
        and row.get("effect", "pure") != "pure"
        and "read" not in row.get("access", {})
    )


def no_variable(name: str) -> str | None:
    """Why no tool is given an environment variable of this name, or None."""
    if variable(name):
        return f"`{name}` is named like a secret, and no tool is given those"
    if _RULES.match(name):
        return f"`{name}` controls how programs run, and no tool is given those"
    return None


def wrong(row: ToolRow) -> Iterator[tuple[list[str | int], str, str | None]]:
    """The faults of a row that a schema cannot express: where in the row, message, hint."""
    yield from _command(row)
    yield from _mcp(row)
    yield from _one_of(row)
    if "own" in row and ("prompt" in row.get("run", ()) or row["trust"] == "model"):
        yield ["own"], "the model chooses the whole answer, so no field is fdc's `own`", None
    access = row.get("access")
    folders = [glob for glob in (access or {}).get("write", ()) if glob.endswith("**")]
    for number, item in enumerate(row["parameters"] if sandboxed(row) and not folders else ()):
        if item.get("access") == "delete":
            help_ = 'name the folder in `access`: `"write": ["out/**"]`'
            message = "a tool can delete only what is in a folder that its row names"
            yield ["parameters", number, "access"], message, help_
    if access is None:
        return
    if row.get("run") and not sandboxed(row) and not any(True for _ in targets(row)):
        yield (
            ["access"],
            "`access` is for tools that are Python functions or commands (`run`: `python`, `embedded` or `command`)",
            None,
        )
    for key in ("read", "write"):
        for number, glob in enumerate(access.get(key, ())):
            if ".." in glob.split("/"):
                yield ["access", key, number], f"`{glob}` leads out of the workspace", None
    for number, name in enumerate(access.get("env", ())):
        reason = no_variable(name)
        if reason is not None:
            yield ["access", "env", number], reason, None
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


_EFFECTS = ("pure", "read", "idempotent", "once")


def looser(effect: str, than: str) -> bool:
    """Whether an effect lets a controller do more than another one."""
    return _EFFECTS.index(effect) < _EFFECTS.index(than)


def pinned(server: Mapping[str, object]) -> str:
    """The hash of how a catalogue declares a server."""
    import hashlib
    import json

    return hashlib.sha256(json.dumps(server, sort_keys=True).encode()).hexdigest()


def unlocked(
    servers: Mapping[str, Server], locked: Mapping[str, str], rows: Mapping[str, ToolRow]
) -> Iterator[str]:
    """The differences between the lock and the catalogues, as sentences. `rows`: all tools that a server performs."""
    for name, row in rows.items():
        mcp = row["run"]["mcp"]
        declared = servers.get(mcp["server"])
        if locked.get(mcp["server"]) != (pinned(declared) if declared else None):
            continue  # said below
        access: dict[str, list[str]] = {
            "read": [],
            **(declared.get("access", {}) if declared else {}),
        }
        if not declared or (mcp["command"], row.get("access")) != (declared["command"], access):
            yield f"`{name}` starts or opens something else than a catalogue declares for the server `{mcp['server']}`"
    for name in sorted(servers.keys() | locked.keys()):
        if name not in locked:
            yield f"the tools of the server `{name}` are not in `{LOCK}`"
        elif name not in servers:
            yield f"`{LOCK}` has the tools of the server `{name}`, which no catalogue declares"
        elif pinned(servers[name]) != locked[name]:
            yield f"the server `{name}` is declared in another way than when `{LOCK}` was written"


def _mcp(row: ToolRow) -> Iterator[tuple[list[str | int], str, str | None]]:
    """The faults in the row of an MCP server's tool: it may not allow a plan more than the server itself promises."""
    mcp = (row.get("run") or {}).get("mcp")
    if mcp is None:
        return
    if row["trust"] != "untrusted":
        yield ["trust"], "what an MCP server answers is not trusted", "say `untrusted`"
    if looser(row["effect"], mcp["says"]):
        message = (
            f"the server says `{mcp['says']}` of the tool, so its effect is not `{row['effect']}`"
        )
        yield ["effect"], message, None
    for key in ("clears", "own", "repeatable", "creates", "approves", "reads"):
        if key in row:
            yield (
                [key],
                f"`{key}` is not allowed for tools of MCP servers: fdc cannot check it",
                None,
            )
    for number, item in enumerate(row["parameters"]):
        if "sink" in item:
            message = "fdc does not know what an MCP server does with an argument, so a row cannot state it"
            yield ["parameters", number, "sink"], message, "leave `sink` out"


PLACEHOLDER = later(r"(?:[^{}]*=)?\{([a-z_][a-z0-9_]*)\}")
"""A word of a command that holds a parameter's value: `{path}`, or `--file={path}`."""


def bare(row: ToolRow) -> frozenset[str]:
    """The parameters of a command that may not begin with `-`, because nothing before them says that they are no option."""
    words: list[str] = (row.get("run") or {}).get("command", [])
    before = words[: words.index("--")] if "--" in words else words
    return frozenset(
        word[1:-1] for word in before if word[0] == "{" and PLACEHOLDER.fullmatch(word)
    )


def _command(row: ToolRow) -> Iterator[tuple[list[str | int], str, str | None]]:
    """The faults in the words of a command that a schema cannot express."""
    words = (row.get("run") or {}).get("command")
    if not isinstance(words, list):
        return
    names = [item["name"] for item in row["parameters"]]
    for number, word in enumerate(words):
        place: list[str | int] = ["run", "command", number]
        placeholder = PLACEHOLDER.fullmatch(word)
        if "\0" in word:
            yield place, "a word of a command holds no NUL byte", None
        elif number == 0 and not _PROGRAM.fullmatch(word):
            help_ = "it is looked for in /usr/local/bin, /usr/bin and /bin"
            yield place, f"`{word}` is not the plain name of a program", help_
        elif placeholder is not None and placeholder[1] not in names:
            yield place, f"the parameter `{placeholder[1]}` does not exist", None
        elif placeholder is None and re.search(r"\{[a-z_][a-z0-9_]*\}", word):
            help_ = "write `{name}` or `--option={name}` as a word of its own"
            yield place, f"`{word}` has a parameter inside of other text", help_
    used = {found[1] for word in words if (found := PLACEHOLDER.fullmatch(word))}
    for name in sorted({*names} - used):
        yield ["run", "command"], f"the command does not use the parameter `{name}`", None


_CALL_PARAMETERS = {"call": "data", "files": "path"}


def _one_of(row: ToolRow) -> Iterator[tuple[list[str | int], str, str | None]]:
    """The faults in a row that performs a model's calls (`one_of`) that a schema cannot express."""
    if "one_of" not in (row.get("run") or {}):
        return
    parameters = {item["name"]: item for item in row["parameters"]}
    for name, sink in _CALL_PARAMETERS.items():
        item = parameters.get(name)
        if (
            not item
            or item.get("sink") != sink
            or item["kind"] != "word"
            or not item.get("required", True)
        ):
            yield (
                ["parameters"],
                f"a tool that performs `one_of` a list has the parameter `{name}`, a word with the sink `{sink}`",
                None,
            )
    required = {"effect": "read", "trust": "workspace", "failure": "value"}
    for key, value in required.items():
        if row.get(key) != value:
            yield [key], f"`{key}` of a tool that performs `one_of` a list is `{value}`", None
    for key in ("access", "cost", "clears", "own", "approves", "limits"):
        if key in row:
            yield [key], f"a tool that performs `one_of` a list has no `{key}`", None
