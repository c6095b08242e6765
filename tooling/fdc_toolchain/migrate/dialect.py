"""Which notation a plan is written in."""

from __future__ import annotations

import re

from ..linking.arguments.bind import Binder
from ..syntax.parse import parse
from ..syntax.tails import malformed_tails, walk
from ..syntax.tree import Call, For, ForEach, Header, If, Iterate, Plan, Require, Step, Yield
from . import words
from .model import Numbered, Tools

LANGUAGE = "the language"
LINES = "D1 (a command a line)"
BLANK = "D2 (blocks between blank lines)"
DASHES = "D3 (blocks between `---`)"
COLON = "D4 (`tool: arguments`)"
DIRECTIVES = "D5 (`# VERIFICATION:` and `# ON_FAILURE:`)"
MIXED = "D6 (commands with arguments on their line, blank lines and file contents)"
PROSE = "numbered lines"
UNKNOWN = "no known notation"

DIRECTIVE = re.compile(r"#\s*(VERIFICATION|ON_FAILURE):\s*(.*)")
_COLON = re.compile(r"([A-Za-z_.][A-Za-z0-9_./-]*):(?:\s+(.*))?")
_NUMBER = re.compile(r"\d+[.)]\s+(.*)")
_FSM = re.compile(r"#\s*FSM:\s*(\S.*)")
CONSTRUCTS = ("call_plan", "for_each_file")


def numbered(text: str) -> list[Numbered]:
    """The lines of a text with their numbers."""
    return list(enumerate(text.removesuffix("\n").split("\n"), 1))


def automaton(line: str) -> str | None:
    """The path of a `# FSM:` line."""
    match = _FSM.fullmatch(line.strip())
    return match and match[1].strip()


def colon(line: str, tools: Tools) -> tuple[str, str] | None:
    """(tool, arguments) of a line `tool: arguments`, where the tool is known or is a path."""
    match = _COLON.fullmatch(line.rstrip())
    if match is None:
        return None
    name = match[1]
    runs = name in tools or name in CONSTRUCTS or "/" in name or name.endswith(".py")
    return (name, (match[2] or "").strip()) if runs else None


def number(line: str) -> str | None:
    """What follows the number of a line `1. ...`."""
    match = _NUMBER.fullmatch(line.rstrip())
    return match and match[1]


def known(line: str, tools: Tools) -> bool:
    """True where a line begins with a tool or a construct."""
    first = line.split(None, 1)[0] if line.strip() else ""
    return first in tools or first in CONSTRUCTS or (first.startswith("run:") and first != "run:")


def paragraphs(lines: list[Numbered]) -> list[list[Numbered]]:
    """The stretches between blank lines."""
    out: list[list[Numbered]] = [[]]
    for line in lines:
        if line[1].strip():
            out[-1].append(line)
        elif out[-1]:
            out.append([])
    return out if out[-1] else out[:-1]


def detect(text: str, tools: Tools) -> str:
    """The notation of a plan, as one of the names above."""
    lines = numbered(text)
    plan = parse(text.encode("utf-8", "surrogatepass"), "").plan
    if plan is not None and _is_language(text, plan, tools):
        return LANGUAGE
    code = [line for _, line in lines if line.strip() and not line.startswith("#")]
    directives = any(DIRECTIVE.fullmatch(line) for _, line in lines)
    if any(line.rstrip() == "---" for _, line in lines) or directives:
        if directives:
            return DIRECTIVES
        heads = [block[0][1] for block in dashes(lines) if block]
        heads = [head for head in heads if not head.startswith("set_plan")]
        return COLON if any(colon(head, tools) for head in heads) else DASHES
    if code and all(number(line) for line in code):
        return PROSE
    if code and all(colon(line, tools) for line in code):
        return COLON
    parts = [[line for line in part if not line[1].startswith("#")] for part in paragraphs(lines)]
    parts = [part for part in parts if part]
    names = {*tools, *CONSTRUCTS}
    bare = [part for part in parts if part[0][1].strip() in names]
    if len(parts) == 1 and sum(known(line, tools) for _, line in parts[0]) > 1:
        return LINES  # nothing separates blocks
    inline = [part for part in parts if part not in bare and known(part[0][1], tools)]
    below = any(len(part) > 1 and not known(part[1][1], tools) for part in bare)
    if len(bare) >= len(inline) and below:
        return BLANK
    longer = len(bare) == len(parts) and any(len(part) > 1 for part in parts)
    if longer and plan and _lacks_arguments(plan, tools):
        return BLANK
    rows = map(str.strip, code)
    if not any(known(line, tools) or number(line) or colon(line, tools) for line in rows):
        return UNKNOWN
    comments = [line for _, line in lines if line.startswith("#") and not automaton(line)]
    return MIXED if comments or "\n\n" in text.strip("\n") else LINES


def dashes(lines: list[Numbered]) -> list[list[Numbered]]:
    """The code lines of each block between `---`, comments above its first left out."""
    out: list[list[Numbered]] = [[]]
    for line in lines:
        if line[1].rstrip() == "---":
            out.append([])
        elif out[-1] or (line[1].strip() and not line[1].startswith("#")):
            out[-1].append(line)
    return out


def _is_language(text: str, plan: Plan, tools: Tools) -> bool:
    """True for a plan that needs nothing: it reads cleanly and has what only the language has, or nothing old in it."""
    found = parse(text.encode("utf-8", "surrogatepass"), "").diagnostics
    if any(item.severity == "error" for item in found) or malformed_tails(plan):
        return False
    nodes = list(walk(plan.statements))
    steps = [node for node in nodes if isinstance(node, Step)]
    if any(_below(node, tools) for node in steps):
        return False
    bound = [node for node in nodes if isinstance(node, Step | Call)]
    if any(isinstance(node, Header | If | For | Iterate | Require | Yield) for node in nodes):
        return True
    if any(node.bind or getattr(node, "block", None) for node in bound):
        return True
    if not all(node.tool in tools for node in steps) or _lacks_arguments(plan, tools):
        return False
    tails = [node.tail for node in nodes if isinstance(node, Step | Call | ForEach)]
    if any(words.placeholders(tail) for tail in tails):
        return False
    first = next((at for at, line in numbered(text) if line.strip()), 1)
    return not any(automaton(line) and at != first for at, line in numbered(text))


def _below(node: Step, tools: Tools) -> bool:
    """True for a step with something below it, indented, whose tool takes no block: its argument."""
    return node.block is not None and node.tool in tools and tools[node.tool].block is None


def _lacks_arguments(plan: Plan, tools: Tools) -> bool:
    binder = Binder()
    for node in walk(plan.statements):
        if isinstance(node, Step) and node.tool in tools:
            block = node.block.text if node.block else None
            bound = binder.bind(tools[node.tool], node.tail, block)
            if any(problem.code in ("FDC302", "FDC305") for problem in bound.problems):
                return True
    return False
