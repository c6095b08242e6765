"""Reads an automaton from bytes: both written forms, checked and normalised.

`load` is pure: the caller reads the file, and reports `missing-automaton` when there is
none. The input may be any bytes; every finding is reported, with its place in the JSON
text. With an error there is no automaton; with warnings there is one.
"""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic, Label, ordered
from ..diagnostics.source import Limits, decode
from ..text.json_text import Places
from ..text.suggest import did_you_mean
from ..text.yaml_text import ENDS, parse
from . import wellformed
from .model import Automaton, build
from .shape import Declaration, Name, Transition, read

MAX_CELLS = 1 << 20
"""States times symbols: the size of the tables that are built from a file, which its length does not bound."""

# A machine may write an automaton in one line; what matters is the size of the whole.
_LIMITS = Limits(line_characters=Limits().file_bytes)

# Hints cost time that grows with the number of names; a machine-made file full of errors gets none.
_MAX_HINTS = 20
_MAX_KNOWN = 200


def load(data: bytes, path: str) -> tuple[Automaton | None, list[Diagnostic]]:
    """The automaton in `data`, and every finding about it, in the order of the text.

    `path` is how the user knows the file; its stem is the automaton's name. The automaton is
    None exactly when one of the findings is an error.
    """
    text, findings = decode(data, path, _LIMITS)
    if text is None or _has_error(findings):
        return None, findings  # a text with hidden characters may not mean what it shows
    places = Places(path, text)
    root, problems = parse(path, text)
    findings += [
        Diagnostic(
            places.span(problem.start, problem.end),
            "FDC106" if problem.limit else "FDC202",
            problem.message,
            labels=(Label(places.span(problem.earlier.start, problem.earlier.end), "first here"),)
            if problem.earlier
            else (),
            help=problem.help,
        )
        for problem in problems
    ]
    if root is None:
        return None, ordered(findings)
    declaration, shape = read(root, places)
    findings += shape
    automaton = None
    if declaration is not None:
        automaton = _NameChecker(declaration, places, findings).automaton(path)
    return automaton, ordered(findings)


def _has_error(findings: list[Diagnostic]) -> bool:
    return any(item.severity == "error" for item in findings)


class _NameChecker:
    """Checks the names of a declaration against each other, and builds the automaton when nothing is wrong."""

    def __init__(
        self, declaration: Declaration, places: Places, findings: list[Diagnostic]
    ) -> None:
        self.declaration = declaration
        self.places = places
        self.findings = findings
        self.hints = 0

    def report(
        self, code: str, place: Name | Transition, message: str, hint: str | None = None
    ) -> None:
        self.findings.append(
            Diagnostic(self.places.span(place.start, place.end), code, message, help=hint)
        )

    def automaton(self, path: str) -> Automaton | None:
        declaration = self.declaration
        self.states()
        self.symbols()
        moves = self.determinism()
        if _has_error(self.findings):
            return None
        # Without an error every part is there: a missing one would have been reported.
        assert (
            declaration.states is not None
            and declaration.start is not None
            and declaration.accept is not None
        )
        states = [name.text for name in declaration.states]
        if declaration.alphabet is None:
            alphabet = list(dict.fromkeys(move.symbol.text for move in declaration.transitions))
        else:
            alphabet = [name.text for name in declaration.alphabet]
        if len(states) * len(alphabet) > MAX_CELLS:
            message = f"{len(states)} states and {len(alphabet)} symbols make a table of more than {MAX_CELLS} cells"
            self.report("FDC106", declaration.states[0], message)
            return None
        stem = path.replace("\\", "/").rsplit("/", 1)[-1]
        for end in (".json", *ENDS):
            stem = stem.removesuffix(end)
        accept = [name.text for name in declaration.accept]
        automaton = build(stem, path, states, alphabet, declaration.start.text, accept, moves)
        self.use(automaton)
        return automaton

    def hint(self, word: str, known: list[Name]) -> str | None:
        self.hints += 1
        if self.hints > _MAX_HINTS or len(known) > _MAX_KNOWN:
            return None
        return did_you_mean(word, (name.text for name in known))

    def states(self) -> None:
        """Every state that is mentioned is declared."""
        declaration = self.declaration
        declared = declaration.states
        if declared is None:
            return
        known = {name.text for name in declared}
        mentioned = [(declaration.start, "the start state")] if declaration.start else []
        mentioned += [(name, "the accepting state") for name in declaration.accept or ()]
        mentioned += [(name, "the state") for name in declaration.rows]
        if declaration.form == "list":
            mentioned += [(move.source, "the state") for move in declaration.transitions]
        mentioned += [(move.target, "the state") for move in declaration.transitions]
        for name, role in mentioned:
            if name.text not in known:
                message = f"{role} `{name.text}` is not among the declared states"
                self.report("FDC203", name, message, self.hint(name.text, declared))

    def symbols(self) -> None:
        """In the table form, every symbol is of the alphabet."""
        alphabet = self.declaration.alphabet
        if alphabet is None:
            return
        known = {name.text for name in alphabet}
        for move in self.declaration.transitions:
            if move.symbol.text not in known:
                message = f"the symbol `{move.symbol.text}` is not in the alphabet"
                self.report("FDC204", move.symbol, message, self.hint(move.symbol.text, alphabet))

    def determinism(self) -> dict[str, dict[str, str]]:
        """The transitions by state and symbol. Only the list form can have two transitions for one pair."""
        rows: dict[str, dict[str, str]] = {}
        first: dict[tuple[str, str], Transition] = {}
        for move in self.declaration.transitions:
            source, symbol, target = move.source.text, move.symbol.text, move.target.text
            earlier = first.setdefault((source, symbol), move)
            if earlier is move:
                rows.setdefault(source, {})[symbol] = target
            elif self.declaration.form == "list":
                self.repeated(move, earlier)
        return rows

    def repeated(self, move: Transition, earlier: Transition) -> None:
        pair = f"`{move.symbol.text}` in `{move.source.text}`"
        other = self.places.span(earlier.start, earlier.end)
        span = self.places.span(move.start, move.end)
        if move.target.text == earlier.target.text:
            message = f"the transition for {pair} is written twice"
            self.findings.append(
                Diagnostic(span, "FDC208", message, labels=(Label(other, "first here"),))
            )
            return
        message = f"{pair} leads to `{earlier.target.text}` and to `{move.target.text}`"
        labels = (Label(other, f"to `{earlier.target.text}` here"),)
        self.findings.append(
            Diagnostic(span, "FDC205", message, labels=labels, help="keep one of the two")
        )

    def use(self, automaton: Automaton) -> None:
        """Warnings about states that no accepted run can use."""
        declaration = self.declaration
        declared = {name.text: name for name in declaration.states or ()}
        for state in wellformed.unreachable(automaton):
            self.report("FDC206", declared[state], f"no run reaches the state `{state}`")
        if not automaton.accept:
            span = self.places.span(*declaration.accept_place)
            self.findings.append(
                Diagnostic(span, "FDC207", "no state accepts, so every run is refused in the end")
            )
            return
        for state in wellformed.dead(automaton):
            self.report(
                "FDC207", declared[state], f"no run that enters the state `{state}` is accepted"
            )
