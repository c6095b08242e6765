"""One command of an older notation to one step: its argument lines put where the tool's declaration wants them."""

from __future__ import annotations

from ..linking.catalogue import Tool
from ..syntax.parse import parse
from ..syntax.tree import Step
from . import words
from .model import Draft, Numbered, Refused

_SHELL = "run_in_bash_session"


def step(
    draft: Draft, tool: Tool, head: Numbered, inline: str, lines: list[Numbered], indent: int = 0
) -> None:
    """Writes the step of `tool` whose name stands on the line `head`, with `inline` after it and `lines` below it.

    Raises Refused where the argument lines could be read in two ways.
    """
    while lines and not lines[-1][1].strip():
        lines = lines[:-1]
    taken = [item for item in tool.parameters if item.kind != "block"]
    if tool.block is not None and not (taken and taken[-1].kind == "rest"):
        tail, block = _path_and_content(draft, tool, head, inline, lines, len(taken))
    elif taken and taken[-1].kind == "rest":
        tail, block = _text(draft, tool, head, inline, lines)
    else:
        tail, block = _arguments(draft, tool, head, inline, lines, len(taken)), []
    first = f"{tool.name} {tail}".rstrip()
    _check(tool, head, tail, first)
    draft.put(first, indent)
    for text in block:
        draft.put(text, indent + 2)


def _path_and_content(
    draft: Draft, tool: Tool, head: Numbered, inline: str, lines: list[Numbered], count: int
) -> tuple[str, list[str]]:
    while lines and not inline and not lines[0][1].strip():
        lines = lines[1:]
    if inline:
        tail = words.argument(draft, head[0], inline)
    elif not lines or count != 1:
        raise Refused(*head, f"`{tool.name}` names no file", "write the path after the tool")
    else:
        tail = words.quoted(words.argument(draft, lines[0][0], lines[0][1].strip()))
        draft.say(lines[0][0], f"the path moved up to `{tool.name}`")
        lines = lines[1:]
    return tail, _block(draft, tool, lines)


def _block(draft: Draft, tool: Tool, lines: list[Numbered]) -> list[str]:
    if not lines:
        return []
    if not lines[0][1].strip():
        message = (
            f"the content of `{tool.name}` begins with a blank line, which a text block cannot"
        )
        raise Refused(*lines[0], message)
    draft.say(lines[0][0], f"{_lines(len(lines))} became the text block of `{tool.name}`")
    margin = min(len(text) - len(text.lstrip(" ")) for _, text in lines if text.strip())
    if margin:
        draft.say(lines[0][0], "the indentation that all lines of the text block share is gone")
    return [words.argument(draft, number, text[margin:], content=True) for number, text in lines]


def _text(
    draft: Draft, tool: Tool, head: Numbered, inline: str, lines: list[Numbered]
) -> tuple[str, list[str]]:
    """For a tool that takes the rest of its line: one line goes there, several into a text block if it takes one."""
    lines = [line for line in lines if line[1].strip() or tool.block is not None]
    if tool.block is not None and len(lines) > (0 if inline else 1):
        return words.argument(draft, head[0], inline), _block(draft, tool, lines)
    texts = [words.argument(draft, head[0], inline)] if inline else []
    texts += [words.argument(draft, number, text.strip()) for number, text in lines]
    if tool.name == _SHELL:
        joined = _continued(texts)
        if len(joined) < len(texts):
            draft.say(lines[-1][0], "the lines that a `\\` continues became one")
        texts = joined
        if len(texts) > 1:
            number, text = lines[-1]
            message = f"the command of `{tool.name}` has {len(texts)} lines, and a step runs one"
            help_ = "join them with `&&` or `;`, or put them into a script"
            raise Refused(number, text, message, help_)
    if lines and not inline:
        draft.say(lines[0][0], f"the text moved up to `{tool.name}`")
    if len(texts) > 1:
        draft.say(lines[-1][0], f"the {len(texts)} lines of the text of `{tool.name}` became one")
    return " ".join(texts), []


def _continued(texts: list[str]) -> list[str]:
    """Lines that end with a backslash, joined with the next as the shell joins them."""
    out: list[str] = []
    for text in texts:
        if out and out[-1].endswith("\\"):
            out[-1] = f"{out[-1][:-1].rstrip()} {text}"
        else:
            out.append(text)
    return out


def _arguments(
    draft: Draft, tool: Tool, head: Numbered, inline: str, lines: list[Numbered], count: int
) -> str:
    lines = [line for line in lines if line[1].strip()]
    texts = [words.argument(draft, number, text.strip()) for number, text in lines]
    if inline and texts:
        message = f"`{tool.name}` has arguments on its own line and below it"
        raise Refused(*lines[0], message, "write them on one line")
    if inline:
        return words.argument(draft, head[0], inline)
    if not texts:
        return ""
    draft.say(lines[0][0], f"the argument{'s' * (len(texts) != 1)} moved up to `{tool.name}`")
    if len(texts) > count:
        takes = f"`{tool.name}` takes {count} argument{'s' * (count != 1)}"
        raise Refused(*lines[count], f"{takes}, and has {len(texts)} lines")
    if len(texts) > 1 or count == 1:
        return " ".join(words.quoted(text) for text in texts)
    required = sum(item.required for item in tool.parameters)
    if len(texts[0].split()) == 1 or len(texts[0].split()) == required == count:
        return texts[0]
    message = f"`{lines[0][1].strip()}` may be one argument of `{tool.name}` or several"
    raise Refused(*lines[0], message, "write each on its own line")


def _check(tool: Tool, head: Numbered, tail: str, first: str) -> None:
    plan = parse(first.encode("utf-8", "replace"), "").plan
    found = (
        [(one.tool, one.tail) for one in plan.statements if isinstance(one, Step)] if plan else []
    )
    if plan is None or len(plan.statements) != 1 or found != [(tool.name, tail)]:
        raise Refused(*head, f"what `{tool.name}` was given cannot stand on its line as it is")


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count != 1)}"
