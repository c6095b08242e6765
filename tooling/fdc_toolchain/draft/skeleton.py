"""A plan without a model: the automaton's shortest accepted word that has the tools in it which fit the task's words.

What a step needs is taken from the task (files, globs, addresses, text between quotes), from the steps before it, or asked;
where no person answers it is an input of the plan. After the last change of a file the test command of the settings runs; without
one, a file that was written is read. What was read, and no step uses, is shown at the end.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..grammar_export.export import automaton_of, head_of, tools_for
from ..grammar_export.place import LEVELS, kind_of, with_closing
from ..grammar_export.steps import ADDS, COMMITS
from ..linking.types import LIST, OBJECT, TEXTS
from ..named_tuples import NamedTuple
from ..rules.bounds import WRITES
from ..runs.dry_run import listing
from .fitting import Want, wants
from .task import Task, merges, reads, tells
from .unplanned import each

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.catalogue import Parameter, Tool
    from ..linking.link import Linker

Ask = Callable[[str, str], str]
"""Asks a person for the value of a parameter (its tool, its name); "" for none."""
_ROUNDS = 100
_WRITTEN = "{written}"
"""The file of a step that looks at what was written last."""
_SAME = re.compile(
    r"\b(?:copy|outputs?|results?|contents?|findings|hits|matches|lines|list|what)\b"
)
_TOLD = re.compile(r"\b(?:outputs?|print|report|results?|see|show|tell)\b")
"""Words by which what a command prints is to be shown."""
_IT = re.compile(r"\b(?:it|them|both)\b")
"""Words for that which was read, as it is; the second where the task wants nothing done that no tool does."""


class Skeleton(NamedTuple):
    """A plan's text; its inputs, each with what it is for; the tools that fit the task but no accepted word has; whether any
    tool fits the task's words; the files that it names, which are not there and which no step makes; the files and addresses
    that it names and no step uses; its verbs for changes that no step makes; files for text from outside, each with the place
    that it has got instead; its words that a skeleton has no form for, each with what to write instead; the
    files in which a change that it spells out changes nothing; whether it commits, and no step adds a file to the commit; the
    paths that it names, and that leave the workspace."""

    text: str
    inputs: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    fits: bool
    missing: tuple[str, ...]
    unused: tuple[str, ...]
    undone: tuple[str, ...]
    moved: tuple[tuple[str, str], ...] = ()
    unplanned: tuple[tuple[str, str], ...] = ()
    unfit: tuple[str, ...] = ()
    adds_nothing: bool = False
    outside: tuple[str, ...] = ()


def skeleton(
    linker: Linker,
    said: str,
    *,
    fsm: str,
    tools: Sequence[str] = (),
    ask: Ask | None = None,
    loops: bool = True,
    apart: bool = False,
) -> Skeleton:
    """The plan; without `loops`, files of which the task gives no names are not read; `apart`: text from outside is written
    where no command sees it. Raises UsageError for an automaton or a tool that is not there, or that accept no plan together."""
    from ..exits import UsageError

    automaton = automaton_of(linker, fsm)
    order = [*linker.catalogue.tools]
    rows = sorted(tools_for(linker, automaton, tools), key=lambda tool: order.index(tool.name))
    rows = [tool for tool in rows if _usable(tool)]
    command = linker.settings.test_command
    task = Task(linker.root, said, command)
    wanted, fits, known, undone = wants(rows, task, loops)
    rows = [tool for tool in rows if not merges(tool)]
    tests = next(
        (tool for tool in rows if any(item.sink == "command" for item in tool.inline)), None
    )
    last = max((at for at, one in enumerate(wanted) if one.tool.action in WRITES), default=None)
    if command and tests and last is not None:
        asked = any(one.tool is tests for one in wanted[last + 1 :]) and task.commands == [command]
        wanted[last + 1 : last + 1] = [] if asked else [Want(tests)]
    else:
        wanted = [other for one in wanted for other in (one, *_check(one, rows))]
    tell = next((tool for tool in rows if tells(tool)), None)
    shown = [one for one in wanted if one.tool.effect == "read" and _part(one.tool) is not None]
    blocks = any(one.tool.block is not None for one in wanted)
    ran = any(item.sink == "command" for one in wanted for item in one.tool.inline)
    told = shown or ran and (task.measured or _TOLD.search(task.plain))
    if tell and told and last is None and not blocks and not any(tells(one.tool) for one in wanted):
        wanted.append(Want(tell, of_words=False))
    both, ended = with_closing(automaton, fragment=False)
    left_out: list[str] = []
    while (found := _word(both, ended, rows, wanted)) is None:
        if not wanted:
            raise UsageError(f"`{automaton.name}` accepts no plan of these tools")
        added = [at for at, one in enumerate(wanted) if not one.of_words]
        out = wanted.pop(added[-1] if added else -1)
        left_out += [out.tool.name] * out.of_words
    same = task.kept or _SAME.search(task.plain) or known and _IT.search(task.plain)
    writer = _Writer(task, ask, bool(same), apart)
    changed = False
    for at, one in enumerate(found):
        of_tests = changed and one.tool is tests
        shows = [other.tool for other in found[at:] if tells(other.tool)][:1]
        if one.each:
            number = len(listing(linker.root, one.each) or ())
            writer.loop(one, shows, _ROUNDS * max(1, -(-number // _ROUNDS)))
        elif not (tells(one.tool) and writer.told and not writer.results):
            writer.step(one, command if of_tests else "")
        changed = one.tool.action in WRITES or (changed and not of_tests)
    params = [f"param {name}\n" for name, _ in writer.inputs]
    text = f"{head_of(linker, fsm, [one.tool for one in found])[0]}{''.join(params)}{''.join(writer.lines)}"
    steps = "".join(writer.lines[1:])
    missing = tuple(file for file in task.new if file not in steps and file not in writer.moved)
    unused = tuple(one for one in dict.fromkeys([*task.files, *task.pages]) if one not in steps)
    inputs, others = tuple(writer.inputs), tuple(reversed(left_out))
    moved = tuple(writer.moved.items())
    open_ = [*task.unplanned]
    names = [one.tool.name for one in found]
    looped = any(one.each or item.kind == "glob" for one in found for item in one.tool.inline)
    if not looped and (several := each(task.plain)) is not None:
        open_.append(several)
    uncommitted = COMMITS in names and ADDS not in names
    unplanned = tuple((task.text[one.start : one.end], one.instead) for one in open_)
    return Skeleton(
        text,
        inputs,
        others,
        fits,
        missing,
        unused,
        tuple(undone),
        moved,
        unplanned,
        tuple(task.unfit),
        uncommitted,
        tuple(dict.fromkeys(task.outside)),
    )


def _usable(tool: Tool) -> bool:
    return not (tool.forbidden or tool.broken)


def _check(want: Want, tools: Sequence[Tool]) -> list[Want]:
    """The step that looks at what a step wrote."""
    writes = want.tool.block is not None and want.tool.action in WRITES
    return [Want(tool, file=_WRITTEN, of_words=False) for tool in tools if writes and reads(tool)][
        :1
    ]


def _hears(tool: Tool) -> bool:
    """Whether a tool gives what the user answers."""
    return tool.action is not None and [item.sink for item in tool.inline] == ["user"]


def _part(tool: Tool) -> str | None:
    """The part of a tool's result that people read: "" for all of it, a field with its point; None for none."""
    kind = kind_of(tool)
    if kind.kinds & (TEXTS | LIST):
        return ""
    fields = kind.fields or () if kind.kinds & OBJECT else ()
    return next((f".{name}" for name, inner in fields if inner.kinds & TEXTS), None)


def _word(
    automaton: Automaton, ended: frozenset[str], tools: Sequence[Tool], wanted: Sequence[Want]
) -> list[Want] | None:
    """The shortest accepted sequence of steps that has those wanted in it, in their order."""
    plain: dict[str | None, Tool] = {}
    for tool in sorted(tools, key=_weight):
        plain.setdefault(tool.action, tool)
    start = (automaton.start, 0)
    ways: dict[tuple[str, int], list[Want]] = {start: []}
    work = deque([start])
    while work:
        state, at = work.popleft()
        done = ways[state, at]
        if state in automaton.accept and at == len(wanted):
            return done
        row = automaton.transitions[state]
        moves = [(Want(plain[action]), to, at) for action, to in row.items() if action in plain]
        if at < len(wanted):
            action = wanted[at].tool.action
            if action is None and state not in ended:
                first = (
                    len(moves) if state == automaton.start else 0
                )  # rather behind the plan's aim
                moves.insert(first, (wanted[at], state, at + 1))
            elif action is not None and action in row:
                moves.insert(0, (wanted[at], row[action], at + 1))
        for step, to, next_at in moves:
            if (to, next_at) not in ways:
                ways[to, next_at] = [*done, step]
                work.append((to, next_at))
    return None


def _weight(tool: Tool) -> tuple[int, int]:
    """How much a tool does and needs: the least is taken where any tool of an action will do, of these the first declared."""
    effects = {"pure": 0, "read": 1, "idempotent": 2}
    needs = sum(item.required and item.kind != "rest" for item in tool.parameters)
    return needs + 2 * (tool.trust == "untrusted"), effects.get(tool.effect, 3)


class _Result(NamedTuple):
    """What a step gives: the step's line, its tool, the name that it gets where it is used, the file that it is about."""

    line: int
    tool: Tool
    name: str
    file: str


class _Writer:
    """Writes steps, with what they need. `same`: a file that is written gets what was read; `told`: loops have shown it;
    `written`: the last file that a step wrote; `moved`: with `apart`, the places of files for text from outside."""

    def __init__(self, task: Task, ask: Ask | None, same: bool, apart: bool) -> None:
        self.task = task
        self.ask = ask
        self.same = same
        self.apart = apart
        self.moved: dict[str, str] = {}
        self.told = False
        self.written = ""
        self.lines: list[str] = []
        self.inputs: list[tuple[str, str]] = []
        self.results: list[_Result] = []
        self.number = 0

    def step(self, want: Want, command: str = "") -> None:
        """One step, with `command` where one is given."""
        tool = want.tool
        given = []
        for item in tool.inline:
            value = command or self._value(want, item)
            if value is None and not item.required:
                break  # what follows would take its place
            given.append(self._input(want, item) if value is None else value)
            if item.access in ("create", "edit", "write"):
                if self.apart and self._from_outside(want):
                    place = f"{{run}}/outside/{os.path.basename(given[-1])}"
                    given[-1] = self.moved.setdefault(given[-1], place)
                self.written = given[-1]
        block = ""
        if tool.block is not None and (tool.block.required or tool.action or not given):
            value = self._value(want, tool.block)
            block = f"  {self._input(want, tool.block) if value is None else value}\n"
        if (
            (tool.effect == "read" or tool.trust != "trusted" or _hears(tool))
            and _part(tool) is not None
            and not command
        ):
            self.number += 1
            kind = kind_of(tool).kinds
            prefix = "text" if kind & TEXTS else "list" if kind & LIST else "result"
            self.results.append(_Result(len(self.lines), tool, f"{prefix}{self.number}", want.file))
        shown = [
            _quote(value) if item.kind == "path" and " " in value and value[0] != '"' else value
            for item, value in zip(tool.inline, given, strict=False)
        ]
        self.lines.append(f"{' '.join([tool.name, *shown])}\n{block}")

    def loop(self, want: Want, shows: Sequence[Tool], most: int) -> None:
        """The step for each file of a glob; what it reads is shown there, if anything is to be shown."""
        before, self.results = self.results, []
        start = len(self.lines)
        self.step(want._replace(file="{file1}"))
        for tool in shows:
            self.step(Want(tool))
            self.told = True
        self.results = before
        body = "".join(self.lines[start:]).splitlines(keepends=True)
        self.lines[start:] = [
            f"for_each_file {want.each} max {most}\n",
            *(f"  {line}" for line in body),
        ]

    def _value(self, want: Want, item: Parameter) -> str | None:
        """What the task says, or the steps before, for a parameter; None where neither does."""
        task = self.task
        found: list[str] = []
        if item.kind == "path":
            found = [self.written if want.file == _WRITTEN else want.file] if want.file else []
            moved = task.moves and item.access == "write"  # the new file is not the one to write
            if item.access in ("create", "write") and want.file not in task.new and not moved:
                found = [*task.new][-1:] or (found if item.access == "write" else [])
        elif item.kind == "glob":
            found = [want.file] if want.file else []
        elif item.sink == "url":
            found = [want.file] if want.file else task.pages
        elif item.sink == "command":
            found = [*filter(None, [want.file]), *task.commands, *task.quoted]
        elif item.kind == "number":
            found = _number(want.tool, item, task)
        elif item.form == "sections":
            found = ["\n  ".join(task.edits.get(want.file, ()))]
        elif item.form == "pattern":
            found = [_quote(one if _compiles(one) else re.escape(one)) for one in task.sought]
        elif item.kind in ("rest", "block"):
            found = self._text(want, item)
        return found[0] if found else None

    def _text(self, want: Want, item: Parameter) -> list[str]:
        """What is said or written: what steps before it gave, what the task says, or the task itself."""
        task = self.task
        found: list[str] = []
        shows = tells(want.tool)
        level = LEVELS["model" if item.sink in ("message", "change") else "untrusted"]
        usable = [one for one in self.results if LEVELS[one.tool.trust] <= level]
        if not shows and want.file:
            usable = [one for one in usable if one.file != want.file]
        if shows or item.kind == "block" and self.same:
            if item.kind == "block" or len(usable) == 1:
                found = ["\n  ".join(map(self._use, usable))] if usable else []
        elif item.kind == "rest" and (item.required or not self.lines):
            other = task.question if _hears(want.tool) else task.message if self.lines else ""
            found = [other or task.text]
        if item.kind == "block" or shows:
            found = found or task.content
        return found

    def _from_outside(self, want: Want) -> bool:
        """Whether a step writes what a step before it got from outside."""
        block = want.tool.block
        text = None if block is None else self._value(want, block)
        got = [one.name for one in self.results if one.tool.trust == "untrusted"]
        return text is not None and any(f"{{{name}" in text for name in got)

    def _use(self, result: _Result) -> str:
        """A result's template; its step binds it from now on."""
        line = self.lines[result.line]
        if not line.startswith(f"{result.name} <- "):
            self.lines[result.line] = f"{result.name} <- {line}"
        return f"{{{result.name}{_part(result.tool)}}}"

    def _input(self, want: Want, item: Parameter) -> str:
        tool = want.tool
        said = "" if self.ask is None else " ".join(self.ask(tool.name, item.name).split())
        if said:
            return said if item.kind in ("rest", "block") else _quote(said)
        taken = {name for name, _ in self.inputs}
        name = item.name if item.name not in taken else f"{item.name}{len(taken) + 1}"
        file = f" {want.file}" if want.file and "{" not in want.file else ""
        self.inputs.append((name, f"{item.name} of {tool.name}{file}"))
        return f"{{{name}}}"


def _number(tool: Tool, item: Parameter, task: Task) -> list[str]:
    """One of the two numbers of a tool that shows lines, where the task says which."""
    both = [one for one in tool.inline if one.kind == "number"]
    return [task.span[both.index(item)]] if task.span is not None and len(both) == 2 else []


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _quote(text: str) -> str:
    if re.fullmatch(r"[\w./:*+-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
