"""Labels: where text comes from and what it may choose (security.md 8.1, 8.3).

A label is a set of atoms, written as the bits of a number, so that two texts are joined by one operation. An atom is
a step that brought text, with its level of trust; or it stands for what a plan is given: a parameter, the choices that
led to it, what its callers wrote into files. With it goes what a check or a person has cleared the text for. No atom
at all: the text is the author's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_

from ....diagnostics.span import Span
from ....linking.model import Unit
from ....named_tuples import NamedTuple
from ....syntax import tree

LEVELS = {"trusted": 0, "workspace": 1, "model": 2, "untrusted": 3}

MOST = {
    "command": 0, "argument": 1, "path": 1, "url": 1, "anything": 1, "message": 2, "change": 2, "choice": 2, "code": 2, "plan": 2,
}  # fmt: skip
"""The least trusted level that may choose each: a command is the author's, its arguments, paths and addresses may be
the workspace's too, and a model may choose words to send, what is changed, which steps are done, and write what a
command runs and a plan that is proved before it is run. `anything` is what a parameter chooses whose declaration does not
say it."""

_WITH = {"command": frozenset(("argument", "code", "plan")), "message": frozenset(("change",))}
"""What text may choose, too, that is cleared for a sink."""

CHOICES = "\0choices"
"""Stands for the choices that led to the plan."""

FILES = "\0files:"
"""Begins what stands for the text that callers put into files."""

THERE = "\0there:"
"""Begins what stands for the choices of callers whether files are there."""

SEES = "\0sees"
"""Stands for what callers left where commands see it."""

DECIDES = "\0decides:"
"""Begins what stands for something given that decided something, whatever it was cleared for."""

TRUSTED = 0
"""The label of what the author says."""


@lru_cache(maxsize=64)
def _cleared_with(sinks: frozenset[str]) -> frozenset[str]:
    """What text may choose that is cleared for some sinks, and what goes with them."""
    more = sinks.union(*(_WITH.get(sink, ()) for sink in sinks))
    return more | {"anything"} if more >= {"command", "path", "url", "message"} else more


def sum_of(labels: Iterable[int]) -> int:
    """The join of some labels."""
    return reduce(or_, labels, TRUSTED)


class Origin(NamedTuple):
    """A step that brought text, and its tool."""

    unit: Unit
    step: tree.Statement
    tool: str

    @property
    def span(self) -> Span:
        return self.unit.span(self.step)


class Earlier(NamedTuple):
    """A file that holds text from outside, and the step of an earlier run that wrote it, in words."""

    tool: str
    said: str


class Atom(NamedTuple):
    """A level with the step that brought it, or a name that stands for what is given (no step).

    `cleared`: what the text may choose all the same.
    """

    source: str
    origin: Origin | Earlier | None
    cleared: frozenset[str]


class Labels:
    """The atoms of one check, each with its bit."""

    def __init__(self) -> None:
        self._atoms: list[Atom] = []
        self._bits: dict[tuple[str, int, str, frozenset[str]], int] = {}
        self._keys: list[tuple[str, int, str, frozenset[str]]] = []
        self._cleared: dict[tuple[int, Collection[str]], int] = {}
        self._deciding: dict[int, int] = {}
        self.given = 0
        """The bits of what stands for something given."""
        self.tainting = 0
        """The bits of what must be remembered of text in files: all but the author's and the workspace's."""
        self.outside = 0
        """The bits of what is from outside, or stands for something given."""
        self.lasting = 0
        """The bits of those that no person and no check has cleared: what is remembered when the run is over."""
        self.refusing = dict.fromkeys(MOST, 0)
        """By sink: the bits of what may not choose it, what is given included."""

    def bit(self, atom: Atom) -> int:
        """The bit of an atom."""
        unit, line = "", 0
        if isinstance(atom.origin, Origin):
            unit, line = atom.origin.unit.key, id(atom.origin.step)
        elif atom.origin is not None:
            unit = atom.origin.tool
        key = (atom.source, line, unit, atom.cleared)
        bit = self._bits.get(key)
        if bit is None:
            bit = self._bits[key] = 1 << len(self._atoms)
            self._atoms.append(atom)
            self._keys.append(key)
            level = LEVELS.get(atom.source)
            if level is None:
                self.given |= bit
            if level is None or level > 1:
                self.tainting |= bit
            if level is None or level > 2:
                self.outside |= bit
                if "anything" not in atom.cleared:
                    self.lasting |= bit
            for sink, most in MOST.items():
                if sink not in atom.cleared and (level is None or level > most):
                    self.refusing[sink] |= bit
        return bit

    def mark(self) -> int:
        """How many atoms there are."""
        return len(self._atoms)

    def release(self, mark: int) -> None:
        """Forgets the atoms since a mark: no one has a label with them any more, and the numbers stay short."""
        kept = (1 << mark) - 1
        for key in self._keys[mark:]:
            del self._bits[key]
        del self._atoms[mark:], self._keys[mark:]
        self._cleared.clear()
        self._deciding.clear()
        self.given &= kept
        self.tainting &= kept
        self.outside &= kept
        self.lasting &= kept
        self.refusing = {sink: bits & kept for sink, bits in self.refusing.items()}

    def of(self, level: str, unit: Unit, step: tree.Statement, tool: str) -> int:
        """The label of what a step brings."""
        return (
            TRUSTED
            if level == "trusted"
            else self.bit(Atom(level, Origin(unit, step, tool), frozenset()))
        )

    def earlier(self, path: str, said: str) -> int:
        """The label of what an earlier run wrote into a file."""
        return self.bit(Atom("untrusted", Earlier(f"the file {path}", said), frozenset()))

    def stands_for(self, name: str) -> int:
        """The label of what a plan is given under a name."""
        return self.bit(Atom(name, None, frozenset()))

    def atoms(self, label: int) -> Iterator[Atom]:
        """The atoms of a label, the first ones first."""
        while label:
            low = label & -label
            yield self._atoms[low.bit_length() - 1]
            label ^= low

    def cleared(self, label: int, sinks: Collection[str]) -> int:
        """The label after a check that clears text for some sinks (a tuple or a frozen set)."""
        if not sinks or not label:
            return label
        known = self._cleared.get((label, sinks))
        if known is None:
            more = _cleared_with(frozenset(sinks))
            known = 0
            for atom in self.atoms(label):
                known |= self.bit(
                    atom if atom.cleared >= more else atom._replace(cleared=atom.cleared | more)
                )
            self._cleared[label, sinks] = known
        return known

    def deciding(self, label: int) -> int:
        """The label of what is decided by a text that chose a path: no clearing holds for that, but one for the choice.

        Which of some files was changed is no item of a list, but a choice like that of a condition.
        """
        out = self._deciding.get(label)
        if out is None:
            out = label
            for atom in self.atoms(label & self.outside & self.refusing["choice"]):
                out |= (
                    self.bit(atom._replace(cleared=frozenset()))
                    if atom.origin is not None
                    else self.stands_for(DECIDES + atom.source.removeprefix(DECIDES))
                )
            self._deciding[label] = out
        return out

    def refused(self, label: int, sink: str) -> list[Atom]:
        """The atoms that may not choose `sink`, those that are trusted least first."""
        return sorted(
            self.atoms(label & self.refusing[sink]), key=lambda atom: -LEVELS.get(atom.source, 0)
        )

    def filled(self, label: int, given: Mapping[str, int]) -> int:
        """A callee's label in its caller: for what it is given the labels of that; what is not given is trusted."""
        out = label & ~self.given
        for atom in self.atoms(label & self.given):
            out |= self.cleared(given.get(atom.source, TRUSTED), atom.cleared)
        return out
