"""A plan without a model: the automaton's shortest accepted word that has the tools in it which fit the task's words.

What a step needs is taken from the task (files, globs, addresses, text between quotes), from the step before it, or asked;
where nobody answers it is an input of the plan.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..grammar_export.export import automaton_of, tools_for
from ..grammar_export.place import LEVELS, kind_of, with_closing
from ..linking.types import TEXTS

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.catalogue import Parameter, Tool
    from ..linking.link import Linker

Ask = Callable[[str, str], str]
"""Asks a person for the value of a parameter (its tool, its name); "" for none."""
_MOST = 4
_FEW = frozenset(
    "a an and as at be by for from in into is it its of on or that the then this to what with".split()
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`")
_WORDS = re.compile(r"[a-z]+")


class Skeleton(NamedTuple):
    """A plan's text; its inputs, each with what it is for; the tools that fit the task but no accepted word has."""

    text: str
    inputs: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def skeleton(
    linker: Linker, task: str, *, fsm: str, tools: Sequence[str] = (), ask: Ask | None = None
) -> Skeleton:
    """The plan. Raises UsageError for an automaton or a tool that is not there, or that accept no plan together."""
    from ..exits import UsageError

    automaton = automaton_of(linker, fsm)
    rows = [tool for tool in tools_for(linker, automaton, tools) if _usable(tool)]
    wanted = _fitting(rows, task)
    both, ended = with_closing(automaton, fragment=False)
    left_out: list[str] = []
    while (found := _word(both, ended, rows, wanted)) is None:
        if not wanted:
            raise UsageError(f"`{automaton.name}` accepts no plan of these tools")
        left_out.append(wanted.pop().name)
    writer = _Writer(linker.root, task, ask)
    for tool in found:
        writer.step(tool)
    params = [f"param {name}\n" for name, _ in writer.inputs]
    text = f"# FSM: {fsm}\n{''.join(params)}{''.join(writer.lines)}"
    return Skeleton(text, tuple(writer.inputs), tuple(reversed(left_out)))


def _usable(tool: Tool) -> bool:
    forms = any(item.form == "sections" for item in tool.parameters)
    return not (tool.forbidden or tool.broken or tool.refuse or forms) or tool.name == (
        "run_in_bash_session"
    )


def _stems(text: str) -> list[str]:
    words = _WORDS.findall(re.sub(r"\S*[/.*]\w\S*|\"[^\"]*\"|`[^`]*`", " ", text.lower()))
    return [_stem(word) for word in words if word not in _FEW]


def _stem(word: str) -> str:
    """A word without the endings of English verbs and nouns."""
    for end in ("ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) > 2:
            return word.removesuffix(end)
    return word


def _fitting(tools: Sequence[Tool], task: str) -> list[Tool]:
    """The tools whose names and summaries share the rarest words with the task, in the order of these words in it."""
    names = {
        tool.name: set(_stems(tool.name.replace("_", " ").replace(".", " "))) for tool in tools
    }
    said = {tool.name: set(_stems(str(tool.row["summary"]))) | names[tool.name] for tool in tools}
    spread = Counter(word for words in said.values() for word in words)
    asked = _stems(task)
    scores = {}
    for tool in tools:
        shared = said[tool.name] & {*asked}
        score = sum((2 if word in names[tool.name] else 1) / spread[word] for word in shared)
        if score >= 0.5:
            scores[tool.name] = (score, min(asked.index(word) for word in shared))
    best = sorted(scores, key=lambda name: (-scores[name][0], name))[:_MOST]
    taken: dict[int, str] = {}
    for name in best:  # one tool for each word of the task that chose it
        taken.setdefault(scores[name][1], name)
    by_name = {tool.name: tool for tool in tools}
    return [by_name[taken[at]] for at in sorted(taken)]


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
        moves = [(tool, to, at) for action, to in row.items() if (tool := plain.get(action))]
        if at < len(wanted):
            tool = wanted[at]
            to = state if tool.action is None else row.get(tool.action, "")
            if to and (tool.action is not None or state not in ended):
                moves.insert(0, (tool, to, at + 1))
        for tool, to, next_at in moves:
            if (to, next_at) not in ways:
                ways[to, next_at] = [*done, tool]
                work.append((to, next_at))
    return None


def _weight(tool: Tool) -> tuple[int, int, str]:
    """How much a tool does and needs: the least is taken where any tool of an action will do."""
    effects = {"pure": 0, "read": 1, "idempotent": 2}
    return (
        sum(item.required for item in tool.parameters) + 2 * (tool.trust == "untrusted"),
        effects.get(tool.effect, 3),
        tool.name,
    )


class _Writer:
    """Writes steps, with what they need."""

    def __init__(self, root: str, task: str, ask: Ask | None) -> None:
        self.task = " ".join(task.replace("{", "(").replace("}", ")").split())
        self.ask = ask
        self.lines: list[str] = []
        self.inputs: list[tuple[str, str]] = []
        words = [word.strip("\"'`,;:()?!").rstrip(".") for word in self.task.split()]
        self.quoted = ["".join(found) for found in _QUOTED.findall(self.task)]
        self.pages = [word for word in words if word.startswith(("http://", "https://"))]
        self.globs = [word for word in words if "*" in word and word not in self.pages]
        paths = [word for word in words if re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", word)]
        self.files = [word for word in paths if os.path.isfile(os.path.join(root, word))]
        self.folders = [word for word in paths if os.path.isdir(os.path.join(root, word))]
        self.new = [word for word in paths if re.search(r"\w\.[a-z]\w*$", word)
                    and not os.path.exists(os.path.join(root, word))]  # fmt: skip
        self.results: list[tuple[str, Tool]] = []

    def step(self, tool: Tool) -> None:
        """One step. Its result has a name where it is a text that a later step can tell or store."""
        given = []
        for item in tool.inline:
            value = self._value(tool, item)
            if value is None and not item.required:
                break  # what follows would take its place
            given.append(self._input(tool, item) if value is None else value)
        line = " ".join([tool.name, *given])
        block = ""
        if tool.block is not None:
            value = self._value(tool, tool.block)
            block = "" if value is None and not tool.block.required else (
                f"  {self._input(tool, tool.block) if value is None else value}\n"
            )  # fmt: skip
        if kind_of(tool).kinds & TEXTS and tool.effect in ("pure", "read"):
            name = f"text{len(self.results) + 1}"
            self.results.append((name, tool))
            line = f"{name} <- {line}"
        self.lines.append(f"{line}\n{block}")

    def _value(self, tool: Tool, item: Parameter) -> str | None:
        """What the task says, or the steps before, for a parameter; None where neither does."""
        if item.kind == "path":
            found = self.new if item.access in ("create", "write") else self.files
            return found[0] if found else None
        if item.kind == "glob":
            found = self.globs + self.folders
            return found[0] if found else None
        if item.sink == "url":
            return self.pages[0] if self.pages else None
        level = LEVELS["model" if item.sink in ("message", "change") else "untrusted"]
        texts = [name for name, one in self.results if LEVELS[one.trust] <= level]
        if item.sink == "command" or item.form == "pattern":
            value = self.quoted[0] if self.quoted else None
            return _quote(value) if value and item.kind != "rest" else value
        if item.kind == "block":
            return f"{{{texts[-1]}}}" if texts else None
        if item.kind == "rest" and tool.action is None and texts:
            return " ".join(f"{{{name}}}" for name in texts)
        return self.task if item.kind == "rest" else None

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
