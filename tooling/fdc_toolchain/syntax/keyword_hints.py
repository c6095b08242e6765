"""Hints for words of other languages and notations at the start of a line.

Words for control flow that this language does not have are reserved: `while` at
the start of a line is an error even where a catalogue declares a tool of that name.
"""

from __future__ import annotations

import re
from collections.abc import Container

from ..named_tuples import NamedTuple
from ..text.later_regex import later
from ..text.suggest import did_you_mean
from .language import WORDS
from .syntax_errors import clip


class Advice(NamedTuple):
    """What is wrong with the first word of a line: code, sentence, and what to write instead."""

    code: str
    message: str
    help: str | None


_NESTED_IF = "write `else`, and an `if` inside its body"
_BOUNDED = "write `iterate max N until CONDITION`: every loop says how often it may run"
_EACH = "write `for_each_file GLOB` for files, or `for NAME in VALUE max N` for a list"
_NO_JUMP = "a plan has no jumps; use `if`, `iterate` or `require`"
_NO_END = "a body ends where its indentation ends"
_NO_DEFINITION = "put the steps into a plan of their own, and call it with `call_plan NAME`"
_NO_RESCUE = "look at the result of a step with `if`, or stop with `require`"

RESERVED: dict[str, str] = {
    **dict.fromkeys(("elif", "elseif", "elsif", "else_if"), _NESTED_IF),
    **dict.fromkeys(("while", "until", "loop", "repeat"), _BOUNDED),
    **dict.fromkeys(("foreach", "for_each"), _EACH),
    **dict.fromkeys(("goto", "jump", "break", "continue"), _NO_JUMP),
    **dict.fromkeys(("end", "endif", "endfor", "done", "then"), _NO_END),
    **dict.fromkeys(("def", "function"), _NO_DEFINITION),
    **dict.fromkeys(("try", "catch", "except", "finally"), _NO_RESCUE),
    "unless": "write `if not CONDITION`",
    "return": "write `yield VALUE` for the plan's result",
}
"""Words of other languages that cannot start a line, and what to write instead."""

_SHOUTED = {
    form: word for word in WORDS for form in (word.upper(), word.capitalize()) if form != word
}

FOREIGN = frozenset(RESERVED) | frozenset(_SHOUTED)
"""Every word that looks like a tool's name and cannot start a line, for one look-up a line."""

_WORD = later(r"[A-Za-z0-9_./-]+")
_CALLED = later(r"([A-Za-z_][A-Za-z0-9_.-]*)\((.*)\)?")


def advise(head: str, tail: str) -> Advice:
    """The error for a line that cannot start with the word `head`. `tail` is the rest of the line."""
    head = clip(head)
    if head in _SHOUTED:
        word = _SHOUTED[head]
        return Advice("FDC109", f"`{head}` is not `{word}`", "keywords are written in lower case")
    if head in RESERVED:
        return Advice("FDC109", f"a plan has no `{head}`", RESERVED[head])
    if not head.isascii():
        other = next(character for character in head if not character.isascii())
        message = f"`{head}` has a `{other}` (U+{ord(other):04X}); names are ASCII letters, digits, `_`, `.` and `-`"
        return Advice("FDC113", message, None)
    migrate = "convert the plan with `fdc migrate`"
    if head == "---":
        return Advice(
            "FDC119", "`---` separates steps in an older notation; here a step is a line", migrate
        )
    if re.fullmatch(r"[0-9]+[.)]", head):
        message = (
            f"`{head}` numbers a step in an older notation; here the order of the lines counts"
        )
        return Advice("FDC119", message, migrate)
    if re.fullmatch(r"<[A-Za-z_][A-Za-z0-9_]*>", head):
        message = f"`{head}` is a placeholder of an older notation; here it is `{{{head[1:-1]}}}`"
        return Advice("FDC119", message, migrate)
    word = head.rstrip(":")
    if word in WORDS:
        return Advice("FDC109", f"a colon after `{word}`", f"write `{word}` without the colon")
    if word in RESERVED:
        return Advice("FDC109", f"a plan has no `{word}`", RESERVED[word])
    if head.endswith(":") and _WORD.fullmatch(word):
        help_ = f"write `{word}` without the colon, or convert the plan with `fdc migrate`"
        return Advice("FDC119", f"`{head}` is the older `tool: arguments` notation", help_)
    if head.startswith("run:"):
        message = f"`{head}` is an older notation for a shell command"
        return Advice("FDC119", message, "write `run_in_bash_session COMMAND`")
    return Advice(
        "FDC109",
        f"`{head}` does not start a line; expected a tool, a keyword or `#`",
        _instead(head, tail),
    )


def _instead(head: str, tail: str) -> str | None:
    if head in ("<<<<<<<", "=======", ">>>>>>>"):
        from ..text.json_text import CONFLICT

        return CONFLICT
    if head in ("-", "*", "+", "•"):
        return "a step is a line without a list mark"
    if head.startswith(("//", "--", ";", "/*", "<!--", "%")):
        return "a comment starts with `#`"
    called = _CALLED.match(head)
    if called:
        return f"arguments follow the tool after a space: `{called[1]} ARGUMENT`"
    if tail.startswith("<-"):
        return "a result is bound to a plain name: `name <- TOOL ARGUMENTS`"
    return did_you_mean(head, WORDS)


def unbound_arrow(head: str, tail: str) -> Advice | None:
    """The error for `head <- ...` where no step follows the arrow or `head` is not a plain name, else None."""
    if not tail.startswith("<-"):
        return None
    head = clip(head)
    if not tail[2:].strip():
        help_ = f"write a step after the arrow: `{head} <- TOOL ARGUMENTS`"
        return Advice("FDC109", f"`{head} <-` binds nothing", help_)
    message = (
        f"`{head}` cannot be bound; a result is bound to a name of ASCII letters, digits and `_`"
    )
    return Advice("FDC109", message, None)


OTHERS: dict[str, tuple[str, ...]] = {
    "run_in_bash_session": ("bash", "shell", "sh", "run", "run_command", "exec", "execute", "terminal"),
    "read_file": ("cat", "read", "open", "open_file", "view", "view_file"),
    "replace_with_git_merge_diff": (
        "edit", "edit_file", "replace", "replace_in_file", "str_replace", "search_replace", "patch",
        "apply_patch", "apply_diff", "multi_edit", "modify_file", "update_file", "insert",
    ),
    "overwrite_file_with_block": ("write", "write_file", "write_to_file", "save_file", "overwrite_file"),
    "create_file_with_block": ("create", "create_file", "new_file", "touch"),
    "delete_file": ("rm", "remove", "remove_file", "delete"),
    "restore_file": ("revert", "undo", "git_restore", "revert_file", "undo_edit"),
    "rename_file": ("mv", "move", "move_file", "rename"),
    "list_files": ("ls", "glob", "find", "find_files", "list_dir", "list_directory", "tree"),
    "grep": ("rg", "search", "search_files", "grep_search", "search_code"),
    "message_user": ("echo", "print", "say", "log", "tell_user", "notify_user"),
    "request_user_input": ("ask", "ask_user", "ask_question", "input", "prompt"),
    "view_text_website": ("fetch", "web_fetch", "webfetch", "curl", "wget", "browse", "download"),
    "google_search": ("web_search", "websearch"),
    "git_add": ("add", "stage"),
    "git_commit": ("commit",),
}  # fmt: skip
"""Names of tools in other agents and shells, by our tool."""

_KNOWN_AS = {name: tool for tool, names in OTHERS.items() for name in names}

COMMANDS = frozenset(
    "git python python3 pip pip3 uv pytest tox nox ruff mypy black make cmake npm npx yarn pnpm node go cargo"
    " mvn gradle docker cd cp mkdir chmod sed awk head tail sort wc diff export source sudo".split()
)
"""Commands of shells."""

_CALLS = ("call", "invoke", "subplan", "sub_plan", "include")
"""Words by which others call a plan."""


def other_name(word: str, tail: str, tools: Container[str]) -> str | None:
    """The help for an unknown tool whose name other agents or shells use, else None."""
    after = tail.split(maxsplit=1)[0] if tail.strip() else ""
    if word == "version" and after.startswith("https://git-lfs.github.com/"):
        return "this file is a pointer of Git LFS: `git lfs pull` fetches the plan"
    if word == "git" and (tool := f"git_{after}") in tools:
        return f"the tool for `git {after}` is `{tool}`: see `fdc tools {tool}`"
    if word in COMMANDS and "run_in_bash_session" in tools:
        return f"a command is run by a tool: `run_in_bash_session {word} ...`"
    if word in _CALLS:
        return "another plan is called by `call_plan NAME key=value`"
    tool = _KNOWN_AS.get(word.lower(), "")
    if tool not in tools:
        return None
    return f"`{tool}` does that here: see `fdc tools {tool}`"


def assignment(head: str, tail: str) -> str | None:
    """A help sentence where an unknown tool looks like an assignment (`x = ...`), else None."""
    if re.match(r":?=(?!=)", tail):
        return f"a name is bound to a step's result: `{head} <- TOOL ARGUMENTS`"
    return None
