"""Every way in which the language lets a plan be weakened, at every place of a plan: `weakened(text)`.

The plan is in canonical form: two spaces for each body. What a way makes worse is more-access, more-cost or weaker-gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Weaker = tuple[str, str, str]
"""What it makes worse, what was done, and the plan that it gives."""
_BOUND = re.compile(r" max (\d+)")
_SWAPS = {
    "overwrite_file_with_block": "create_file_with_block",
    "create_file_with_block": "overwrite_file_with_block",
    "read_file": "delete_file",
    "message_user": "git_commit",
    "list_files": "view_text_website",
    "grep": "google_search",
}


def weakened(text: str) -> Iterator[Weaker]:
    """All of them, each at one place."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        for kind, what, new in (*_headers(line), *_bounds(line), *_gates(line), *_steps(line)):
            yield kind, f"{what}: {line.strip()}", _joined(lines[:at], new, lines[at + 1 :])
        if line.lstrip().startswith("if "):
            yield from _branches(lines, at)
        if line.lstrip().startswith("require ") and at:
            yield from _later(lines, at)


def _joined(before: list[str], new: str | None, after: list[str]) -> str:
    return "\n".join([*before, *([] if new is None else [new]), *after]) + "\n"


def _headers(line: str) -> Iterator[tuple[str, str, str | None]]:
    first, _, tail = line.partition(" ")
    if first == "budget":
        measure, number = tail.split()
        yield "more-cost", "no budget", None
        yield "more-cost", "a higher budget", f"budget {measure} {int(number) + 1}"
    if first == "allow":
        access, *globs = tail.split()
        if globs != ["**"] and globs != ["*"]:
            yield (
                "more-access",
                "a wider allow",
                f"allow {access} {'**' if access in ('read', 'write') else '*'}",
            )
        yield "more-access", "one more allow", f"{line}\nallow {access} elsewhere/**"
    if first == "param" and " = " in tail:
        yield "more-access", "another default", f"{line.partition(' = ')[0]} = elsewhere"


def _bounds(line: str) -> Iterator[tuple[str, str, str | None]]:
    found = _BOUND.search(line)
    if found is None:
        return
    number = int(found[1])
    yield "more-cost", "a higher bound", _BOUND.sub(f" max {number + 1}", line)
    words = line.split()
    if "for_each_file" in words:
        yield "more-cost", "no bound", _BOUND.sub("", line)
    if "fork" in words and "keep" not in words:
        yield "weaker-gate", "failures are kept", f"{line} keep failures"
    if "iterate" in words and "until" in words:
        if number > 1:
            yield "weaker-gate", "fewer attempts", _BOUND.sub(f" max {number - 1}", line)
        yield "weaker-gate", "no condition", line.partition(" until ")[0]
        yield "weaker-gate", "another condition", line.replace(" until ", " until 1 < 2 or ")


def _gates(line: str) -> Iterator[tuple[str, str, str | None]]:
    indent = line[: len(line) - len(line.lstrip())]
    if line.startswith(f"{indent}require "):
        yield "weaker-gate", "no gate", None
        condition, _, why = line.strip().removeprefix("require ").partition(" else ")
        yield (
            "weaker-gate",
            "a gate that lets more through",
            f"{indent}require ({condition}) or 1 < 2 else {why}",
        )
        yield "weaker-gate", "the other gate", f"{indent}require not ({condition}) else {why}"
    if line.startswith(f"{indent}if "):
        yield "weaker-gate", "the other branch", f"{indent}if not ({line.strip()[3:]})"
        yield (
            "weaker-gate",
            "a branch that more runs take",
            f"{indent}if ({line.strip()[3:]}) or 1 < 2",
        )


def _steps(line: str) -> Iterator[tuple[str, str, str | None]]:
    found = re.fullmatch(r"( *)((?:\w+ <- )?)(\w+)(.*)", line)
    if found is None:
        return
    indent, bind, tool, tail = found.groups()
    if tool in _SWAPS and _SWAPS[tool] != tool:
        yield "more-access", "another tool", f"{indent}{bind}{_SWAPS[tool]}{tail}"
    if tool == "request_user_input":
        yield "weaker-gate", "nobody is asked", f"{indent}{bind}hello_world yes"
        yield "weaker-gate", "something else is asked", f"{indent}{bind}{tool} Is it fine?"
    if tool == "record_user_approval_for_plan":
        yield "weaker-gate", "no approval", None
    if tool == "run_in_bash_session":
        yield "more-access", "another command", f"{indent}{bind}{tool} make elsewhere"
    if tool in ("read_file", "list_files", "overwrite_file_with_block", "create_file_with_block"):
        yield "more-access", "another file", f"{indent}{bind}{tool} elsewhere/it.md"
    if tool == "call_plan":
        other = tail.replace("sub.plan", "other.plan")
        if other != tail:  # a shipped plan calls none of these
            yield "weaker-gate", "another plan", f"{indent}{bind}{tool}{other}"
        yield "weaker-gate", "the plan is not called, its work is done", f"{indent}git_commit Again"


def _body(lines: list[str], at: int) -> int:
    """The line behind the body of a statement."""
    depth = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < len(lines) and lines[end].startswith(" " * (depth + 1)):
        end += 1
    return end


def _branches(lines: list[str], at: int) -> Iterator[Weaker]:
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    end = _body(lines, at)
    then = [line.removeprefix("  ") for line in lines[at + 1 : end]]
    has_else = end < len(lines) and lines[end] == f"{indent}else"
    last = _body(lines, end) if has_else else end
    other = [line.removeprefix("  ") for line in lines[end + 1 : last]]
    what = lines[at].strip()
    yield "weaker-gate", f"no branch: {what}", _joined(lines[:at] + then, None, lines[last:])
    if has_else:
        yield (
            "weaker-gate",
            f"both branches: {what}",
            _joined(lines[:at] + then + other, None, lines[last:]),
        )
        yield (
            "weaker-gate",
            f"no else, its work is done: {what}",
            _joined(lines[:end] + other, None, lines[last:]),
        )
        swapped = [lines[at], *lines[end + 1 : last], lines[end], *lines[at + 1 : end]]
        yield (
            "weaker-gate",
            f"branches changed places: {what}",
            _joined(lines[:at] + swapped, None, lines[last:]),
        )


def _later(lines: list[str], at: int) -> Iterator[Weaker]:
    """The gate behind what it guarded: below the next statement of its body."""
    depth = len(lines[at]) - len(lines[at].lstrip())
    if at + 1 < len(lines) and len(lines[at + 1]) - len(lines[at + 1].lstrip()) == depth:
        end = _body(lines, at + 1)
        if end < len(lines) and lines[end].strip() == "else":
            end = _body(lines, end)
        if not lines[at + 1].strip().startswith(("close_task", "submit", "require ")):
            new = [*lines[:at], *lines[at + 1 : end], lines[at], *lines[end:]]
            yield (
                "weaker-gate",
                f"a gate behind what it guarded: {lines[at].strip()}",
                _joined(new, None, []),
            )


def disguised(kind: str, text: str) -> Iterator[str]:
    """The same plan with changes beside it that mean nothing; for access also without the messages to the user."""
    if "my_" not in text:
        yield re.sub(r"\b(pages|found|ok|tests|state|text|it)\b(?!\.plan)", r"my_\1", text)
    if kind == "more-access":
        yield "".join(
            line for line in text.splitlines(True) if not re.match(r" *message_user .*\{", line)
        )
