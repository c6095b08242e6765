"""Texts of plans, read by docs/language.md: lines, bodies, headers, statements. One flaw is enough to refuse a text."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
TOOL = r"[A-Za-z_][A-Za-z0-9_.-]*"
NO_WORDS = frozenset(
    "elif elseif elsif else_if while until unless loop repeat foreach for_each goto jump break continue return def "
    "function try catch except finally then end endif endfor done".split()
)


class PlanError(Exception):
    """The text is not of the language."""


class Step(NamedTuple):
    line: int
    bind: str | None
    tool: str
    tail: str
    block: str | None


class Call(NamedTuple):
    line: int
    bind: str | None
    target: str
    arguments: dict[str, str]
    depth: int | None


class EachFile(NamedTuple):
    line: int
    glob: str
    name: str | None
    most: int | None
    body: list[Statement]


class For(NamedTuple):
    """A `for` or a `fork`; `keep` says `keep failures`."""

    line: int
    bind: str | None
    name: str
    value: str
    most: int
    fork: bool
    keep: bool
    body: list[Statement]


class Iterate(NamedTuple):
    line: int
    most: int
    until: str | None
    body: list[Statement]


class If(NamedTuple):
    line: int
    condition: str
    then: list[Statement]
    orelse: list[Statement]


class Require(NamedTuple):
    line: int
    condition: str
    reason: str


class Yield(NamedTuple):
    line: int
    value: str


Statement = Step | Call | EachFile | For | Iterate | If | Require | Yield


class Plan(NamedTuple):
    path: str
    automaton: str | None
    parameters: dict[str, str | None]
    budgets: dict[str, float]
    allows: list[tuple[str, list[str]]]
    body: list[Statement]


class Line(NamedTuple):
    number: int
    indent: int
    text: str  # without indentation and without spaces at the end
    raw: str


def words(tail: str) -> list[tuple[str | None, str]]:
    """The arguments in a tail: (name or None, template). Quoted texts are unescaped. PlanError where they are malformed."""
    found: list[tuple[str | None, str]] = []
    rest = tail.strip(" ")
    while rest:
        name = None
        if match := re.match(rf"({NAME})=", rest):
            name, rest = match[1], rest[match.end() :]
        if rest.startswith('"'):
            match = re.match(r'"((?:[^"\\]|\\["\\nt])*)"(?= |$)', rest)
            if not match:
                raise PlanError(f"a quoted text that does not close: {rest}")
            found.append((name, unquote(match[1])))
        else:
            match = re.match(r'[^ "]*(?= |$)', rest)
            if not match:
                raise PlanError(f"a quotation mark inside a word: {rest}")
            found.append((name, match[0]))
        rest = rest[match.end() :].lstrip(" ")
    return found


def unquote(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def parse(path: str, text: str) -> Plan:
    """The plan in `text`. PlanError (with line) where it is not of the language."""
    lines = []
    for number, raw in enumerate(text.lstrip("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        stripped = raw.strip(" ")
        lines.append(
            Line(number, len(raw) - len(raw.lstrip(" ")) if stripped else -1, stripped, raw)
        )
    reader = _Reader(lines)
    headers = reader.headers()
    body = reader.body(0)
    if reader.at < len(lines):
        raise PlanError(f"{lines[reader.at].number}: an indentation that no body has")
    if not body:
        raise PlanError("a plan without a step")
    return Plan(path, *headers, body)


class _Reader:
    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.at = lines, 0

    def fail(self, line: Line, why: str) -> PlanError:
        return PlanError(f"{line.number}: {why}: {line.text}")

    def peek(self) -> Line | None:
        """The next line that is not a comment and not blank."""
        while self.at < len(self.lines) and (
            self.lines[self.at].indent < 0 or self.lines[self.at].text.startswith("#")
        ):
            self.at += 1
        return self.lines[self.at] if self.at < len(self.lines) else None

    def headers(
        self,
    ) -> tuple[str | None, dict[str, str | None], dict[str, float], list[tuple[str, list[str]]]]:
        automaton: str | None = None
        parameters: dict[str, str | None] = {}
        budgets: dict[str, float] = {}
        allows: list[tuple[str, list[str]]] = []
        first = next((line for line in self.lines if line.indent >= 0), None)
        if first and (match := re.match(r"# *FSM: *(\S+)$", first.text)):
            automaton = match[1]
        while line := self.peek():
            word, _, tail = line.text.partition(" ")
            tail = tail.strip(" ")
            if word not in ("use", "param", "budget", "allow"):
                break
            if word == "use":
                kind, _, what = tail.partition(" ")
                if kind != "fsm" or automaton is not None:
                    raise self.fail(line, "not one automaton")
                automaton = what.strip(" ")
            elif word == "param":
                match = re.match(rf'({NAME})(?: *= *("(?:[^"\\]|\\["\\nt])*"|[^ "]+))?$', tail)
                if not match or match[1] in parameters:
                    raise self.fail(line, "no parameter")
                default = match[2]
                parameters[match[1]] = (
                    unquote(default[1:-1]) if default and default.startswith('"') else default
                )
            elif word == "budget":
                measure, _, number = tail.partition(" ")
                measure = {"llm_calls": "model_calls"}.get(measure, measure)
                if (
                    measure not in ("steps", "model_calls", "tokens", "money", "seconds")
                    or measure in budgets
                ):
                    raise self.fail(line, "no budget")
                budgets[measure] = float(number)
            else:
                access, *patterns = tail.split()
                if access not in ("read", "write", "run", "net") or not patterns:
                    raise self.fail(line, "nothing is allowed")
                allows.append((access, patterns))
            self.at += 1
        return automaton, parameters, budgets, allows

    def body(self, least: int) -> list[Statement]:
        """The statements of the next body, whose indentation is that of its first line and at least `least`."""
        first = self.peek()
        if first is None or first.indent < least:
            return []
        statements: list[Statement] = []
        while (line := self.peek()) and line.indent >= least:
            if line.indent != first.indent:
                raise self.fail(line, "an indentation that no open body has")
            self.at += 1
            statements.append(self.statement(line))
        return statements

    def inner(self, line: Line) -> list[Statement]:
        body = self.body(line.indent + 1)
        if not body:
            raise self.fail(line, "an empty body")
        return body

    def block(self, line: Line) -> str | None:
        """The text block below a step, or None."""
        taken: list[str] = []
        end = self.at
        for at in range(self.at, len(self.lines)):
            below = self.lines[at]
            if below.indent >= 0 and below.indent <= line.indent:
                break
            taken.append(below.raw if below.indent >= 0 else "")
            if below.indent >= 0:
                end = at + 1
        taken = taken[: end - self.at]
        while taken and not taken[0]:
            taken.pop(0)
        if not taken:
            return None
        self.at = end
        common = min(len(text) - len(text.lstrip(" ")) for text in taken if text)
        return "\n".join(text[common:] for text in taken) + "\n"

    def statement(self, line: Line) -> Statement:
        text, bind = line.text, None
        if match := re.match(rf"({NAME}) <- *(.*)$", text):
            bind, text = match[1], match[2]
        word, _, tail = text.partition(" ")
        tail = tail.strip(" ")
        number = line.number
        if word in ("use", "param", "budget", "allow"):
            raise self.fail(line, "a header below a statement")
        if word in NO_WORDS:
            raise self.fail(line, "a word that this language does not have")
        if word == "call_plan":
            return self.call(line, bind, tail)
        if word in ("for", "fork"):
            match = re.match(rf"({NAME}) in (.+?) max (\d{{1,15}})( keep failures)?$", tail)
            if not match or int(match[3]) < 1 or match[4] and word == "for":
                raise self.fail(line, f"no `{word}`")
            return For(
                number,
                bind,
                match[1],
                match[2].strip(" "),
                int(match[3]),
                word == "fork",
                bool(match[4]),
                self.inner(line),
            )
        if bind is not None and word in (
            "for_each_file",
            "iterate",
            "if",
            "else",
            "require",
            "yield",
        ):
            raise self.fail(line, "it has no result")
        if word == "for_each_file":
            match = re.match(rf"(\S+)(?: as ({NAME}))?(?: max (\d{{1,15}}))?$", tail)
            if not match:
                raise self.fail(line, "no `for_each_file`")
            return EachFile(
                number, match[1], match[2], int(match[3]) if match[3] else None, self.inner(line)
            )
        if word == "iterate":
            match = re.match(r"max (\d{1,15})(?: until (.+))?$", tail)
            if not match or int(match[1]) < 1:
                raise self.fail(line, "no `iterate`")
            return Iterate(number, int(match[1]), match[2], self.inner(line))
        if word == "if":
            then = self.inner(line)
            orelse: list[Statement] = []
            below = self.peek()
            if below and below.text == "else" and below.indent == line.indent:
                self.at += 1
                orelse = self.inner(below)
            return If(number, tail, then, orelse)
        if word == "else":
            raise self.fail(line, "`else` without an `if`")
        if word == "require":
            match = re.match(r'(.+) else ("(?:[^"\\]|\\["\\nt])*")$', tail)
            if not match:
                raise self.fail(line, "no gate")
            return Require(number, match[1], unquote(match[2][1:-1]))
        if word == "yield":
            [(name, value)] = words(tail) if len(words(tail)) == 1 else [(None, tail)]
            return Yield(number, tail if name else value)
        if not re.match(rf"{TOOL}$", word):
            raise self.fail(line, "no first word of a statement")
        return Step(number, bind, word, tail, self.block(line))

    def call(self, line: Line, bind: str | None, tail: str) -> Call:
        depth = None
        if match := re.search(r" depth (\d{1,15})$", tail):
            depth, tail = int(match[1]), tail[: match.start()]
        (first, target), *rest = words(tail)
        if first is not None or "{" in target or any(name is None for name, _ in rest):
            raise self.fail(line, "no call")
        arguments = {str(name): value for name, value in rest}
        if len(arguments) != len(rest):
            raise self.fail(line, "an argument twice")
        return Call(line.number, bind, target, arguments, depth)


def registry(text: str) -> dict[str, str]:
    """knowledge_core/plan_registry.json: names to paths."""
    return {str(name): str(path) for name, path in json.loads(text).items()}


def bound_names(body: list[Statement]) -> set[str]:
    """Every name that something in the body binds."""
    names: set[str] = set()
    for one in body:
        names |= {
            str(getattr(one, field)) for field in ("bind", "name") if getattr(one, field, None)
        }
        if isinstance(one, EachFile):
            names |= {f"file{number}" for number in range(1, 10)}
        for field in ("body", "then", "orelse"):
            names |= bound_names(getattr(one, field, []))
    return names
