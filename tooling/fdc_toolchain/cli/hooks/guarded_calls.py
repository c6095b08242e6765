"""Refuses calls of an agent's tools: edits of files that control fdc or agents, commands that only a person may give,
and calls that a protocol of the workspace forbids at every point.

An edit is judged by the file that the edit tool names. A shell command is judged by its words only:
this finds `fdc answer` in a command, but not what a script does. It prevents an agent from acting for the person by mistake
or because of a prompt injection. Only a sandbox confines a hostile program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ...console.of_a_person import COMMANDS, OPTIONS
from ...linking.project import regular_file
from ...linking.project.root import find_root, is_root
from . import forbidden_calls, hook_answer
from .hook_answer import (
    MOST_PATH,
    Answer,
    CannotDecide,
    Event,
    before_a_tool,
    folder_of,
    object_in,
    text_in,
    usable,
)

if TYPE_CHECKING:
    from ...linking.project.protected import Protected

_FILE_OF = {
    **dict.fromkeys(("Edit", "MultiEdit", "Write"), "file_path"),
    "NotebookEdit": "notebook_path",
}
_SHELLS = ("Bash", "PowerShell", "shell")
_PATCH = "apply_patch"
MOST_COMMAND = 50_000  # longer commands could take more than the time limit to judge
_NAMES = tuple(f"*** {word}: " for word in ("Add File", "Update File", "Delete File", "Move to"))
"""Prefixes of the lines in a patch that name a file. Codex allows spaces around them."""

_LINE_END = re.compile(r"\n|\\n")
_CD = re.compile(r"\bcd\s+(?:--\s+)?([^\s;&|]+)")

_FDC = r"(?:\b|-m)(?:fdc(?:-toolchain|_toolchain|_cli(?:\.py)?)?|master_control(?:\.py)?)"


def _any(names: Iterable[str]) -> str:
    """A pattern of some names; the words of one may stand apart."""
    return "(?:" + "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in names) + ")"


def _options(options: Iterable[str]) -> str:
    return rf"\s(?P<what>{_any(options)})(?![\w-])"


_COMMAND = re.compile(rf"{_FDC}(?:\s+-\S{{1,80}}){{0,8}}\s+(?P<what>{_any(COMMANDS)})\b")
_COMMANDS = re.compile(rf"{_FDC}\s")
_OPTION = re.compile(_options(name for name, commands in OPTIONS.items() if not commands))
_OF_COMMANDS = tuple(
    re.compile(
        rf"{_FDC}\s+{_any(some)}\b[^;|&\n]{{0,2000}}?"
        + _options(name for name, commands in OPTIONS.items() if commands == some)
    )
    for some in dict.fromkeys(filter(None, OPTIONS.values()))
)
_VARIABLE = re.compile(r"\b(?P<what>FDC_ALLOW_[A-Z_]+|FDC_WEB_PRIVATE|FDC_MCP_TOKEN)\+?=")
_DOLLAR = re.compile(r"\$(?=[\"'])")
_UNQUOTED = str.maketrans("", "", "\"'\\")
"""Commands that only a person may give: answers, approvals, permissions of runs and settings."""

_OF_CLAUDE = re.compile(
    r"(?:^|/)\.claude/(?:(?:plans|projects)/.+|worktrees/[^/]+/(?P<rest>.+))", re.DOTALL
)
"""Subfolders of Claude Code's folder that do not control it: plans, notes and work trees."""


def protecting(help: str) -> click.Command:
    """A hook that answers with `decided`, and refuses calls that it cannot decide."""

    def callback(seconds: float) -> int:
        return hook_answer.answer(
            decided, lambda why: refused("PreToolUse", f"the hook cannot decide: {why}"), seconds
        )

    epilog = "Exit codes: 0 answered, 2 wrong usage, 4 a bug of fdc."
    return click.command(help=help, epilog=epilog)(hook_answer.seconds_option(5.0)(callback))


def decided(event: Event) -> Answer | None:
    """The answer to a PreToolUse or PermissionRequest event; None: leave it to the program. Raises CannotDecide."""
    name = before_a_tool(event)
    why = refusal_of(text_in(event, "tool_name"), object_in(event, "tool_input"), folder_of(event))
    return None if why is None else refused(name, why)


def refused(event_name: str, why: str) -> Answer:
    """An answer that refuses a call."""
    said: Answer = {"permissionDecision": "deny", "permissionDecisionReason": f"fdc: {why}"}
    if event_name == "PermissionRequest":
        said = {"decision": {"behavior": "deny", "message": f"fdc: {why}"}}
    return {"hookSpecificOutput": {"hookEventName": event_name, **said}}


def refusal_of(tool: str, given: Event, folder: str) -> str | None:
    """The reason to refuse a call, or None. Relative paths start at `folder`. Raises CannotDecide."""
    if tool in _SHELLS:
        command = text_in(given, "command")
        if len(command) > MOST_COMMAND:
            raise CannotDecide(f"the command has more than {MOST_COMMAND} characters")
        why = _for_a_person(command) or forbidden_calls.of_command(find_root(folder), command)
        if why is not None:
            return why
    for name in _files(tool, given):
        path = os.path.join(folder, name)
        found = guarded(path)
        if found is not None:
            return f"`{name}`: agents must not edit it: `{found.entry}` {found.what}. Tell the person which change you propose."
        if path.lower().endswith("/pyproject.toml") and _changes_settings(path, tool, given):
            return f"`{name}`: an agent must not edit [tool.fdc], the settings of fdc. Tell the person which change you propose."
        why = _forbidden(path)
        if why is not None:
            return f"`{name}`: {why}"
    return None


def guarded(path: str) -> Protected | None:
    """The entry that protects the file at an absolute path, or the target of its links; None: not protected."""
    from ...cachedir import state_dir
    from ...linking.project.guarded_paths import guarded as of_workspace
    from ...linking.project.protected import Protected

    real = os.path.realpath(path)
    if _is_in(real, os.path.realpath(state_dir())):
        return Protected(real, "holds the key that seals runs", True)
    root = _root_of(os.path.normpath(path))
    # Outside of workspaces, where a folder may be a home with all that is in it, only links near its top are followed.
    catalogues, globs, _ = of_workspace(
        root, whole=is_root(root), other_names=_has_other_names(real)
    )
    for one, top in ((os.path.normpath(path), root), (real, os.path.realpath(root))):
        inside = _is_in(one, top)
        found = _listed(os.path.relpath(one, top), catalogues, globs) if inside else None
        whole = inside and is_root(top) and _listed(os.path.join(top, "_"), (), ()) is None
        if (
            found is None and not whole
        ):  # no workspace, or one in `~/.claude`, or `~/.claude` itself
            found = _listed(one, (), ())
        if found is not None:
            return found
    return None


def _has_other_names(path: str) -> bool:
    """Whether the file at a path has more than one name. False if there is no file: it has no name yet."""
    try:
        return os.stat(path).st_nlink > 1
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _listed(path: str, catalogues: tuple[str, ...], globs: tuple[str, ...]) -> Protected | None:
    from ...linking.project.protected import obeyed, protected

    works = _OF_CLAUDE.search(path)
    parts = [path] if works is None else [path[: works.start()], works["rest"] or ""]
    found = next(filter(None, (protected(part, catalogues, globs) for part in parts)), None)
    return found if found is not None and obeyed(found) else None


def _forbidden(path: str) -> str | None:
    """The reason why a protocol of the file's workspace forbids writing it, or None."""
    real = os.path.realpath(path)
    root = os.path.realpath(_root_of(real))
    inside = _is_in(real, root)
    return forbidden_calls.of_edit(root, os.path.relpath(real, root)) if inside else None


def _files(tool: str, given: Event) -> list[str]:
    """The files that an edit tool changes. Raises CannotDecide if the event does not name them."""
    found = [text_in(given, _FILE_OF[tool])] if tool in _FILE_OF else []
    if tool == _PATCH or tool in _SHELLS:
        # Codex treats a command that runs `apply_patch`, also after `cd`, as an edit.
        command = text_in(given, "command")
        # A shell command can contain line ends in escaped form: `$'a\nb'`.
        lines = [line.strip() for line in _LINE_END.split(command)]
        names = [line.split(": ", 1)[1] for line in lines if line.startswith(_NAMES)]
        folders = ["", *_CD.findall(command.translate(_UNQUOTED))] if tool in _SHELLS else [""]
        found = [os.path.join(folder, name) for folder in folders for name in names]
        if not found and tool == _PATCH:
            raise CannotDecide("the patch names no file")
    names = [os.path.normpath(usable(path, "the name of a file")) for path in found]
    return [path for path, name in zip(found, names) if len(os.fsencode(name)) <= MOST_PATH]


def _changes_settings(path: str, tool: str, given: Event) -> bool:
    """Whether an edit of a pyproject.toml may change [tool.fdc]. True if it cannot be determined."""
    from ...workspace.access.named_files import fdc_table

    if tool == _PATCH or tool in _SHELLS:
        return "fdc" in text_in(given, "command")
    try:
        before = regular_file.read(path)
    except FileNotFoundError:
        before = b""
    except OSError:
        return True
    if tool == "Write":
        after = text_in(given, "content")
    else:
        after = before.decode("utf-8", "replace")
        edits = given.get("edits", [given])
        for edit in edits if isinstance(edits, list) else []:
            if isinstance(edit, dict):
                old, new = text_in(edit, "old_string"), text_in(edit, "new_string")
                after = after.replace(old, new, -1 if edit.get("replace_all") is True else 1)
    return fdc_table(before) != fdc_table(after.encode("utf-8", "surrogatepass"))


def _for_a_person(command: str) -> str | None:
    words = _DOLLAR.sub("", command.replace("\\\n", "")).translate(_UNQUOTED)
    patterns = (_VARIABLE, _COMMAND, *_OF_COMMANDS)
    found = next(filter(None, (pattern.search(words) for pattern in patterns)), None)
    if found is None and (fdc := _COMMANDS.search(words)) is not None:
        found = _OPTION.search(words, fdc.end() - 1)
    if found is None:
        return None
    what = " ".join(found["what"].split())
    what = what if what.startswith(("-", "FDC")) else f"fdc {what}"
    return (
        f"`{what}` is for the person only: it answers, approves, allows, or removes what guards."
        " Tell them what waits, and show them the command."
    )


def _root_of(path: str) -> str:
    """The workspace of a file. The file and its folder need not exist."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return find_root(folder)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
