"""The tools that fit a task's words, and the steps that they become: each with the files that the task says there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..grammar_export.place import kind_of
from ..grammar_export.steps import ADDS, COMMITS, LOOKS
from ..linking.types import TEXTS
from ..named_tuples import NamedTuple
from ..rules.bounds import WRITES
from ..syntax.keyword_hints import OTHERS
from .task import IMAGE, Task, fetches, merges, puts, reads, tells

if TYPE_CHECKING:
    from ..linking.catalogue import Tool

_MOST = 4
_LEAST = 0.7
_FEW = frozenset(
    "a an and are as at be but by each every for from has have how if in into is it its may of on or out that the their them"
    " let then there these they this those to was were what when where which who why with".split()
)
_GETS = frozenset("find get look show".split())
"""Verbs that ask a tool which only reads for what it gives: its summary often begins with that, not with a verb."""
_PUTS = (
    "add adjust append bump change copy correct document edit extend fix implement improve increase increment insert introduce"
    " make merge modify put reduce refactor replace rewrite save simplify store update"
).split()
"""Verbs that ask for a tool which writes a text block into a file, new or not."""
_ORDER = re.compile(
    r"(?:^|[.,;:!?(]|\b(?:(?:like|me|need|try|want|us|you) to|and|also|please|then|use|using|run|you)\b)(?=\s*([a-z]+))"
)
"""A word where a task says what is to be done: at its beginning, behind a sign, behind such words."""
_KEPT = re.compile(r"\b([a-z]+)\s+(?:it|them|this|that|the\s+\w+)\s+(?:as|in|into|to|under)\b")
"""An order to put something somewhere."""
MOVES = frozenset(("delete_op", "move_op"))
_WORDS = re.compile(r"[a-z]+")


class Want(NamedTuple):
    """A step that a plan has to have: its tool, where the task asks for it, the file that it is about, or the glob of the files
    that it is about one after another; whether it fits words of the task."""

    tool: Tool
    at: int = 0
    file: str = ""
    each: str = ""
    of_words: bool = True


def wants(
    tools: Sequence[Tool], task: Task, loops: bool
) -> tuple[list[Want], bool, bool, list[str]]:
    """The steps, in their order; whether any tool fits the words, whether the tools do all that is ordered, and the ordered
    changes that no step makes. A file or an address of the task that none of them takes is read."""
    chosen, known, undone = _fitting(tools, task)
    task.moves = len(task.new) == 1 and any(tool.action == "move_op" for _, tool in chosen)
    taken: dict[str, list[str]] = {tool.name: [] for _, tool in chosen}
    loose: list[str] = []
    alone_with = {*task.measured, *(file for file, lines in task.edits.items() if lines)}
    for file, at in task.files.items():
        if file in alone_with:
            continue
        takers = [(place, tool) for place, tool in chosen if task.takes(tool, file)]
        before = [tool for place, tool in takers if place < at]
        found = before[-1] if before else takers[0][1] if takers else None
        alone = found is not None and sum(item.required for item in found.inline) == 1
        if found is not None and (alone or not taken[found.name]):
            taken[found.name].append(file)
        else:
            loose.append(file)
    places = {**task.files, **dict.fromkeys(task.asides, 0)}
    loose += task.asides
    each = task.each if loops else []
    out: list[Want] = []
    for at, tool in chosen:
        files = taken[tool.name]
        if not files and each and reads(tool):
            out += [Want(tool, at, each=glob) for glob in each]
            each = []
        elif tool.name == COMMITS and ADDS not in taken:
            files = [
                one for _, other in chosen if puts(other) for one in (*task.new, *taken[other.name])
            ]
            files += [one for one, lines in task.edits.items() if lines]
            if task.tested:  # right behind a removal, the linter misses the file
                moves = [other for _, other in chosen if other.action in MOVES]
                files += [one for other in moves for one in (*taken[other.name], *task.new)]
            adds = [one for one in tools if one.name == ADDS]
            out += [Want(one, at, file) for one in adds for file in files or loose]
            loose = loose if files else []
            out.append(Want(tool, at))
        else:
            out += [Want(tool, at, file) for file in files or task.goals(tool) or [""]]
    open_ = [
        tool
        for _, tool in chosen
        if not taken[tool.name] and {"edit", "delete"} & {item.access for item in tool.inline}
    ]
    if open_ or any(item.kind == "glob" for _, tool in chosen for item in tool.inline):
        each = []  # these are about the files
    made = [
        tool for _, tool in chosen if {"create", "write"} & {item.access for item in tool.inline}
    ]
    for tool in [tool for tool in tools if puts(tool) and not made][:1]:
        out += [Want(tool, task.new[file], file) for file in task.targets]
    loose += [
        file for _, tool in chosen if puts(tool) for file in taken[tool.name] if file not in loose
    ]
    out += [
        Want(tool, task.edited_at, file)
        for tool in [tool for tool in tools if merges(tool)][:1]
        for file, lines in task.edits.items()
        if lines
    ]
    fits = bool(chosen or task.unfit) or any(merges(one.tool) for one in out)
    first = min([one.at for one in out if one.tool.effect != "read"], default=len(task.text))
    for tool in [tool for tool in tools if reads(tool) and kind_of(tool).kinds & TEXTS][:1]:
        out += [Want(tool, min(first, places[file]) - 1, file) for file in loose]
        out += [Want(tool, first - 1, each=glob) for glob in each]
    taken_pages = {one.file for one in out if fetches(one.tool)}
    for tool in [tool for tool in tools if fetches(tool) and kind_of(tool).kinds & TEXTS][:1]:
        pages = [page for page in dict.fromkeys(task.pages) if page not in taken_pages]
        out += [Want(tool, min(first, task.text.find(page)) - 1, page) for page in pages]
    return sorted(out, key=lambda one: one.at), fits, known, undone


def _stems(text: str) -> list[tuple[int, str]]:
    """The words that say something, without endings, with their places."""
    found = [(match.start(), match[0]) for match in _WORDS.finditer(text.lower())]
    return [
        (at, _stem("user" if word in ("me", "us") else word))
        for at, word in found
        if word not in _FEW
    ]


def _stem(word: str) -> str:
    """A word without the endings of English verbs and nouns."""
    for end in ("ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) > 2:
            return word.removesuffix(end)
    return word


class _Words:
    """What stands in the name and the summary of a tool. `verbs`: the words that a task orders it by: those that name and summary
    begin with, and its names elsewhere."""

    def __init__(self, tool: Tool) -> None:
        summary = [word for _, word in _stems(str(tool.row["summary"]))]
        name = [word for _, word in _stems(re.sub(r"[_.]", " ", tool.name))]
        self.name = {*name}
        self.verbs = {*name[:1], *summary[:1]}
        self.plain = {*summary[:1]} & self.name if len(self.name) < 3 else set[str]()
        elsewhere = {*OTHERS.get(tool.name, ()), *(_PUTS if puts(tool) else ())}
        self.verbs |= {_stem(word) for word in elsewhere if "_" not in word} - self.name - _GETS
        self.said = {*name, *summary}
        self.gets = _GETS if tool.effect in ("pure", "read") else frozenset[str]()
        needs = any(item.required and item.kind != "rest" for item in tool.parameters)
        self.alone = not needs and tool.trust != "untrusted"

    def shared(self, left: set[str], orders: set[str], given: bool) -> set[str]:
        """The words that speak for the tool, none where they do not suffice: it fits by its whole name (one of one word must be
        ordered), or by an ordered verb next to what it is done to: another word, or what the task gives (`given`). A tool that
        needs nothing fits by a verb that its summary begins with and that is half of its name at least."""
        shared = self.said & (left - orders) | self.name & left
        ordered = (self.verbs | self.gets) & left & orders
        if self.name <= left and (len(self.name) > 1 or ordered):
            return shared
        enough = given or shared - ordered or self.alone and ordered & self.plain
        return shared | ordered if ordered and enough else set()


def _fitting(tools: Sequence[Tool], task: Task) -> tuple[list[tuple[int, Tool]], bool, list[str]]:
    """The tools that share the rarest words with the task, in the order of these words in it (what is read and not ordered comes
    first), whether each ordered word is one of theirs, and the ordered verbs of tools that write which none of them has.
    Each verb of the task speaks for one tool; so does what only few tools take: an address, a command between backticks, a
    file."""
    tools = [
        tool for tool in tools if (tool.action is not None or tells(tool)) and not merges(tool)
    ]
    image = any(IMAGE.search(file) for file in task.files)
    tools = [tool for tool in tools if image or tool.name != LOOKS]
    words = {tool.name: _Words(tool) for tool in tools}
    spread = Counter(word for one in words.values() for word in one.said)
    ordering = Counter(word for one in words.values() for word in one.verbs)
    meant = {at: _stem(verb) for at, verb in task.meant.items()}
    asked = [row for row in _stems(task.plain) if row[0] not in meant]
    asked = sorted([*asked, *meant.items()])
    orders = {
        *meant.values(),
        *(_stem(row[1]) for row in _ORDER.finditer(task.plain) if row.start(1) not in meant),
    }
    left = {word for _, word in asked}
    known: set[str] = set()
    chosen: list[tuple[int, Tool]] = []
    while len(chosen) < _MOST:
        scores: dict[str, float] = {}
        found: dict[str, set[str]] = {}
        for tool in tools:
            own = words[tool.name]
            shared = own.shared(left, orders, task.gives(tool))
            if shared and tool not in [one for _, one in chosen]:
                verbs = own.verbs & orders
                score = sum(ordering[one] ** -0.5 for one in shared & verbs)
                score += sum(spread[one] ** -0.5 for one in shared & own.said - verbs)
                score *= 1 + len(shared & own.name) / max(1, len(own.name))
                scores[tool.name] = score + task.speaks_for(tool)
                found[tool.name] = shared
        if not scores or max(scores.values()) < _LEAST:
            break
        best = max(
            (tool for tool in tools if tool.name in scores), key=lambda one: scores[one.name]
        )
        place = min(at for at, word in asked if word in found[best.name])
        source = best.effect == "read" and not orders & found[best.name]
        chosen.append((-1 if source else place, best))
        left -= orders & found[best.name]
        known |= found[best.name]
    writing = {verb for tool in tools if tool.action in WRITES for verb in words[tool.name].verbs}
    at = {row.start(1): row[1] for row in _KEPT.finditer(task.plain)}
    at |= {row.start(1): row[1] for row in _ORDER.finditer(task.plain) if row.start(1) not in meant}
    lost = orders & writing - known
    undone = dict.fromkeys(task.word_at(one) for one in sorted(at) if _stem(at[one]) in lost)
    return sorted(chosen, key=lambda pair: pair[0]), orders <= known, list(undone)
