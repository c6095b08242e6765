"""A plan without a model: the automaton's shortest accepted word that has the tools in it which fit the task's words.

What a step needs is taken from the task (files, globs, addresses, text between quotes), from the step before it, or asked;
where no person answers it is an input of the plan. After the last change of a file the test command of the settings runs.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..grammar_export.export import automaton_of, head_of, tools_for
from ..grammar_export.place import LEVELS, kind_of, with_closing
from ..linking.types import TEXTS
from ..named_tuples import NamedTuple
from ..rules.bounds import WRITES

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.catalogue import Parameter, Tool
    from ..linking.link import Linker

Ask = Callable[[str, str], str]
"""Asks a person for the value of a parameter (its tool, its name); "" for none."""
_MOST = 4
_LEAST = 0.7
_FEW = frozenset(
    "a an and are as at be but by each every for from has have how if in into is it its may of on or that the their them"
    " then there these they this those to was were what when where which who why with".split()
)
_GETS = frozenset("find get look show".split())
"""Verbs that ask a tool which only reads for what it gives: its summary often begins with that, not with a verb."""
_ORDER = re.compile(
    r"(?:^|[.,;:!?(]|\b(?:(?:like|me|need|try|want|us|you) to|and|also|please|then|use|using|run|you)\b)(?=\s*([a-z]+))"
)
"""A word where a task says what is to be done: at its beginning, behind a sign, behind such words."""
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`")
_WORDS = re.compile(r"[a-z]+")


class Skeleton(NamedTuple):
    """A plan's text; its inputs, each with what it is for; the tools that fit the task but no accepted word has; whether any
    tool fits the task's words."""

    text: str
    inputs: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    fits: bool


def skeleton(
    linker: Linker, task: str, *, fsm: str, tools: Sequence[str] = (), ask: Ask | None = None
) -> Skeleton:
    """The plan. Raises UsageError for an automaton or a tool that is not there, or that accept no plan together."""
    from ..exits import UsageError

    automaton = automaton_of(linker, fsm)
    order = [*linker.catalogue.tools]
    rows = sorted(tools_for(linker, automaton, tools), key=lambda tool: order.index(tool.name))
    rows = [tool for tool in rows if _usable(tool)]
    seen = _Task(linker.root, task)
    wanted = _fitting(rows, task, seen)
    fits = bool(wanted)
    there = ("read", "edit", "delete")
    if seen.files and not any(item.access in there for tool in wanted for item in tool.inline):
        wanted = [
            *[tool for tool in rows if _reads(tool) and kind_of(tool).kinds & TEXTS][:1],
            *wanted,
        ]
    command = linker.settings.test_command
    tests = next(
        (tool for tool in rows if any(item.sink == "command" for item in tool.inline)), None
    )
    last = max((at for at, tool in enumerate(wanted) if tool.action in WRITES), default=None)
    if command and tests and last is not None:
        wanted.insert(last + 1, tests)
    both, ended = with_closing(automaton, fragment=False)
    left_out: list[str] = []
    while (found := _word(both, ended, rows, wanted)) is None:
        if not wanted:
            raise UsageError(f"`{automaton.name}` accepts no plan of these tools")
        left_out.append(wanted.pop().name)
    writer = _Writer(seen, ask)
    changed = False
    for tool in found:
        of_tests = changed and tool is tests
        writer.step(tool, command if of_tests else "")
        changed = tool.action in WRITES or (changed and not of_tests)
    params = [f"param {name}\n" for name, _ in writer.inputs]
    text = f"{head_of(linker, fsm, found)[0]}{''.join(params)}{''.join(writer.lines)}"
    return Skeleton(text, tuple(writer.inputs), tuple(reversed(left_out)), fits)


def _usable(tool: Tool) -> bool:
    forms = any(item.form == "sections" for item in tool.parameters)
    return not (tool.forbidden or tool.broken or forms)


def _plain(task: str) -> str:
    """A task without its files, globs, addresses and what stands between quotes."""
    return re.sub(r"\S*[/.*]\w\S*|\"[^\"]*\"|`[^`]*`", " ", task.lower())


def _stems(text: str) -> list[str]:
    words = ("user" if word in ("me", "us") else word for word in _WORDS.findall(text.lower()))
    return [_stem(word) for word in words if word not in _FEW]


def _stem(word: str) -> str:
    """A word without the endings of English verbs and nouns."""
    for end in ("ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) > 2:
            return word.removesuffix(end)
    return word


class _Words:
    """What stands in the name and the summary of a tool. `verbs`: the words that a task orders it by, with which it begins."""

    def __init__(self, tool: Tool) -> None:
        summary = _stems(str(tool.row["summary"]))
        name = _stems(re.sub(r"[_.]", " ", tool.name))
        self.name = {*name}
        self.said = {*name, *summary}
        self.verbs = {*name[:1], *summary[:1]}
        self.plain = {*summary[:1]} & self.name if len(self.name) < 3 else set[str]()
        if tool.effect in ("pure", "read"):
            self.verbs |= _GETS
        self.alone = not any(item.required and item.kind != "rest" for item in tool.parameters)

    def shared(self, left: set[str], orders: set[str], given: bool) -> set[str]:
        """The words that speak for the tool, none where they do not suffice: it fits by its whole name (one of one word must be
        ordered), or by an ordered verb next to what it is done to: another word, or what the task gives (`given`). A tool that
        needs nothing fits by a verb that its summary begins with and that is half of its name at least."""
        shared, ordered = self.said & left, self.verbs & left & orders
        if self.name <= left and (len(self.name) > 1 or ordered):
            return shared
        enough = given or shared - ordered or self.alone and ordered & self.plain
        return shared | ordered if ordered and enough else set()


def _fitting(tools: Sequence[Tool], task: str, seen: _Task) -> list[Tool]:
    """The tools that share the rarest words with the task, in the order of these words in it. Each word of the task speaks for
    one tool; so does what only few tools take: an address, a command between backticks, a file."""
    words = {tool.name: _Words(tool) for tool in tools}
    spread = Counter(word for one in words.values() for word in one.said)
    asked = _stems(_plain(task))
    orders = {_stem(word) for word in _ORDER.findall(_plain(task))}
    left = {*asked}
    chosen: list[tuple[int, Tool]] = []
    while len(chosen) < _MOST:
        scores: dict[str, float] = {}
        found: dict[str, set[str]] = {}
        for tool in tools:
            own = words[tool.name]
            shared = own.shared(left, orders, seen.gives(tool))
            if shared and tool not in [one for _, one in chosen]:
                score = sum(1 / spread[one] ** 0.5 for one in shared & own.said)
                score *= 1 + len(shared & own.name) / max(1, len(own.name))
                scores[tool.name] = score + seen.speaks_for(tool)
                found[tool.name] = shared
        if not scores or max(scores.values()) < _LEAST:
            break
        best = max(
            (tool for tool in tools if tool.name in scores), key=lambda one: scores[one.name]
        )
        chosen.append((min(asked.index(one) for one in found[best.name]), best))
        left -= found[best.name]
    chosen.sort(key=lambda pair: pair[0])
    return [tool for _, tool in chosen]


def _reads(tool: Tool) -> bool:
    """Whether all that a tool needs is a file to read."""
    return [item.access for item in tool.inline if item.required] == ["read"]


def _word(
    automaton: Automaton, ended: frozenset[str], tools: Sequence[Tool], wanted: Sequence[Tool]
) -> list[Tool] | None:
    """The shortest accepted sequence of tools that has those wanted in it, in their order."""
    plain: dict[str | None, Tool] = {}
    for tool in sorted(tools, key=_weight):
        plain.setdefault(tool.action, tool)
    start = (automaton.start, 0)
    ways: dict[tuple[str, int], list[Tool]] = {start: []}
    work = deque([start])
    while work:
        state, at = work.popleft()
        done = ways[state, at]
        if state in automaton.accept and at == len(wanted):
            return done
        row = automaton.transitions[state]
        moves = [(plain[action], to, at) for action, to in row.items() if action in plain]
        if at < len(wanted):
            next_one = wanted[at]
            to = state if next_one.action is None else row.get(next_one.action, "")
            if to and (next_one.action is not None or state not in ended):
                moves.insert(0, (next_one, to, at + 1))
        for tool, to, next_at in moves:
            if (to, next_at) not in ways:
                ways[to, next_at] = [*done, tool]
                work.append((to, next_at))
    return None


def _weight(tool: Tool) -> tuple[int, int]:
    """How much a tool does and needs: the least is taken where any tool of an action will do, of these the first declared."""
    effects = {"pure": 0, "read": 1, "idempotent": 2}
    needs = sum(item.required and item.kind != "rest" for item in tool.parameters)
    return needs + 2 * (tool.trust == "untrusted"), effects.get(tool.effect, 3)


class _Task:
    """What stands in the words of a task: files, globs, addresses, text between quotes."""

    def __init__(self, root: str, task: str) -> None:
        self.text = " ".join(task.replace("{", "(").replace("}", ")").split())
        words = [word.strip("\"'`,;:()?!").rstrip(".") for word in self.text.split()]
        found = _QUOTED.findall(self.text)
        self.quoted = [one for one, _ in found if one]
        self.commands = [one for _, one in found if one]
        self.pages = [word for word in words if word.startswith(("http://", "https://"))]
        self.globs = [word for word in words if "*" in word and word not in self.pages]
        paths = [word for word in words if re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", word)]
        self.files = [word for word in paths if os.path.isfile(os.path.join(root, word))]
        self.folders = [word for word in paths if os.path.isdir(os.path.join(root, word))]
        self.new = [word for word in paths if re.search(r"\w\.[a-z]\w*$", word)
                    and not os.path.exists(os.path.join(root, word))]  # fmt: skip

    def gives(self, tool: Tool) -> bool:
        """Whether it has something that the tool takes."""
        of_path = {"create": self.new, "write": self.new or self.files}
        return self.speaks_for(tool) > 0 or any(
            item.kind == "path" and of_path.get(item.access or "read", self.files)
            or item.kind == "glob" and (self.globs or self.folders)
            for item in tool.inline
        )  # fmt: skip

    def speaks_for(self, tool: Tool) -> float:
        """Whether it has what the tool takes and few others do."""
        sinks = {item.sink for item in tool.inline}
        forms = {item.form for item in tool.inline}
        return float(
            bool(self.commands and "command" in sinks)
            + bool(self.pages and "url" in sinks)
            + bool(self.quoted and "pattern" in forms)
            + bool(self.new and {"create", "write"} & {item.access for item in tool.inline})
        )


class _Writer:
    """Writes steps, with what they need."""

    def __init__(self, task: _Task, ask: Ask | None) -> None:
        self.task = task
        self.ask = ask
        self.lines: list[str] = []
        self.inputs: list[tuple[str, str]] = []
        self.results: list[tuple[str, Tool]] = []

    def step(self, tool: Tool, command: str = "") -> None:
        """One step, with `command` where one is given. Where its result is a text that a later step can use, it has a name."""
        given = []
        for item in tool.inline:
            value = command or self._value(tool, item)
            if value is None and not item.required:
                break  # what follows would take its place
            given.append(self._input(tool, item) if value is None else value)
        line = " ".join([tool.name, *given])
        block = ""
        if tool.block is not None and (tool.block.required or not given):
            value = self._value(tool, tool.block)
            block = f"  {self._input(tool, tool.block) if value is None else value}\n"
        if kind_of(tool).kinds & TEXTS and tool.effect == "read":
            name = f"text{len(self.results) + 1}"
            self.results.append((name, tool))
            line = f"{name} <- {line}"
        self.lines.append(f"{line}\n{block}")

    def _value(self, tool: Tool, item: Parameter) -> str | None:
        """What the task says, or the steps before, for a parameter; None where neither does."""
        task = self.task
        found: list[str] = []
        if item.kind == "path":
            found = task.new if item.access in ("create", "write") else task.files
        elif item.kind == "glob":
            found = task.globs + task.folders
        elif item.sink == "url":
            found = task.pages
        elif item.sink == "command":
            found = task.commands + task.quoted
        elif item.form == "pattern":
            found = [_quote(one) for one in task.quoted]
        elif item.kind in ("rest", "block"):
            level = LEVELS["model" if item.sink in ("message", "change") else "untrusted"]
            texts = [f"{{{name}}}" for name, one in self.results if LEVELS[one.trust] <= level]
            if item.kind == "block" or tool.action is None and texts:
                found = [" ".join(texts)] if texts else []
            elif item.required or not self.lines:
                found = [task.text]
        return found[0] if found else None

    def _input(self, tool: Tool, item: Parameter) -> str:
        said = "" if self.ask is None else " ".join(self.ask(tool.name, item.name).split())
        if said:
            return said if item.kind in ("rest", "block") else _quote(said)
        taken = {name for name, _ in self.inputs}
        name = item.name if item.name not in taken else f"{item.name}{len(taken) + 1}"
        self.inputs.append((name, f"{item.name} of {tool.name}"))
        return f"{{{name}}}"


def _quote(text: str) -> str:
    return text if re.fullmatch(r"[\w./:*+-]+", text) else '"' + text.replace('"', "'") + '"'
