"""Notations with a command a line (D1, D6, numbered lines): line by line, file contents indented under their step."""

from __future__ import annotations

from ..syntax.language import WORDS
from . import words
from .dialect import CONSTRUCTS, automaton, colon, known, number
from .model import Draft, Numbered, Refused, Tools, Unknown
from .steps import step

ONE_AUTOMATON = "one automaton governs a plan: name it in the first line"
_INDENT_IT = "indent the content by two spaces, and migrate again"
_ENGLISH = ("submit",)
"""Tools whose name alone on a line is not an English sentence."""


def convert(draft: Draft, lines: list[Numbered], tools: Tools) -> None:
    """Writes the lines as statements. Raises Refused where a line could be a step or content."""
    outer = draft.loops
    open_loops: list[int] = []
    at = 0
    while at < len(lines):
        here, raw = lines[at]
        at += 1
        text = raw.strip()
        indent = len(raw) - len(raw.lstrip(" "))
        if not text or text.startswith("#"):
            if text and automaton(text) and outer == 0:
                raise Refused(here, raw, "`# FSM:` below the first step", ONE_AUTOMATON)
            draft.put(text, indent)
            continue
        while open_loops and indent <= open_loops[-1]:
            open_loops.pop()
        draft.loops = outer + len(open_loops)
        first, rest = _command(draft, (here, text), tools)
        if first in CONSTRUCTS:
            operand, at = _operand(draft, lines, at, here, rest, first)
            draft.put(f"{first} {words.argument(draft, here, operand)}", indent)
            open_loops += [indent] if first == "for_each_file" else []
        elif first in tools:
            tool = tools[first]
            if not rest and tool.inline:
                rest, at = _below(draft, lines, at, first, tools)
            free = bool(tool.inline) and tool.inline[-1].kind == "rest"
            end = _deeper(lines, at, indent)
            if tool.block is not None and end == at and bool(rest) != free:
                end = _content(lines, at, (here, raw), rest or first, tools)
            step(draft, tool, (here, text), rest, lines[at:end], indent)
            if end > at and end < len(lines):
                draft.put("")
            at = end
        elif first in WORDS:
            draft.put(text, indent)
        else:
            message = f"`{text[:60]}` is neither a step nor a comment"
            raise Unknown(here, raw, message, _above(lines, at - 1, tools))
    draft.loops = outer


def _command(draft: Draft, line: Numbered, tools: Tools) -> tuple[str, str]:
    """(first word, rest) of a command, its number, colon or `run:` gone."""
    here, text = line
    bare = number(text)
    if bare and known(bare.replace(":", " ", 1), tools):
        draft.say(here, "the number is gone")
        text = bare
    found = colon(text, tools)
    if found and (found[0] in tools or found[0] in WORDS):
        draft.say(here, f"the colon after `{found[0]}` is gone")
        return found
    if found:
        return script(draft, here, *found)
    if text.startswith("run:") and len(text) > 4 and not text[4].isspace():
        program, _, rest = text[4:].partition(" ")
        return script(draft, here, program, rest.strip())
    first, _, rest = text.partition(" ")
    return first, rest.strip()


def script(draft: Draft, line: int, name: str, rest: str) -> tuple[str, str]:
    """The step that runs a script which an older notation used as a tool. Raises Refused for other programs."""
    if not name.endswith(".py"):
        message = f"how to run `{name}` is not said"
        raise Refused(line, name, message, "write `run_in_bash_session COMMAND`")
    path = f"tooling/{name}" if "/" not in name else name
    draft.say(line, f"`{name}` is run by `run_in_bash_session python3 {path}`")
    return "run_in_bash_session", f"python3 {path} {rest}".rstrip()


def _operand(
    draft: Draft, lines: list[Numbered], at: int, here: int, rest: str, word: str
) -> tuple[str, int]:
    """What a construct is about, from its own line or the next, and the index of the line after it."""
    if rest:
        return rest, at
    if at < len(lines) and lines[at][1].strip():
        draft.say(lines[at][0], f"`{lines[at][1].strip()}` moved up to `{word}`")
        return lines[at][1].strip(), at + 1
    raise Refused(here, word, f"`{word}` stands alone", None)


def _below(
    draft: Draft, lines: list[Numbered], at: int, word: str, tools: Tools
) -> tuple[str, int]:
    """What a step that stands alone is about, where the line below it is not a step, and the index of the line after it."""
    text = lines[at][1].strip() if at < len(lines) else ""
    if not text or text.startswith("#") or known(text, tools):
        return "", at
    draft.say(lines[at][0], f"`{text[:60]}` moved up to `{word}`")
    return text, at + 1


def _deeper(lines: list[Numbered], at: int, indent: int) -> int:
    """The index after the lines that are indented below a step: its text block as the language has it."""
    end = at
    for index, (_, raw) in enumerate(lines[at:], at + 1):
        if raw.strip():
            if len(raw) - len(raw.lstrip(" ")) <= indent:
                break
            end = index
    return end


def _content(lines: list[Numbered], at: int, head: Numbered, name: str, tools: Tools) -> int:
    """The index after the content that stands, not indented, below the step on the line `head`.

    Content ends at a blank line with a step below it. Raises Refused where that is not certain.
    """
    found = False  # a line that can only be content
    blank = True
    comment: Numbered | None = None
    for index in range(at, len(lines)):
        here, raw = lines[index]
        text = raw.strip()
        if not text:
            blank = True
            continue
        if known(text, tools):
            sure = "_" in text.split()[0] or text in _ENGLISH
            if not found and sure:
                return at
            if comment is not None:
                said = comment[1].strip()[:60]
                message = f"`{said}` may be a comment or a line of the content of `{name}` (line {head[0]})"
                raise Refused(*comment, message, _INDENT_IT)
            if not sure or not blank:
                message = f"`{text[:60]}` may be a step or a line of the content of `{name}` (line {head[0]})"
                raise Refused(here, raw, message, _INDENT_IT)
            return index
        comment = (here, raw) if text.startswith("#") else None
        found = found or comment is None
        blank = False
    return len(lines) if found else at


def _above(lines: list[Numbered], at: int, tools: Tools) -> str | None:
    """Where an unknown line may belong: to the content of a file further up."""
    for index in range(at - 1, -1, -1):
        text = lines[index][1].strip()
        tool = tools.get(text.split()[0]) if text else None
        if tool is not None and tool.block is not None:
            return f"if it belongs to the content of `{text[:60]}` (line {lines[index][0]}), indent that by two spaces"
    return None
