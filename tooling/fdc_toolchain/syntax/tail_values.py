"""The values that tails stand for, and what builds them as the parser reduces.

A text may hold references: `template` splits it into literal stretches and `{name.field}`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..named_tuples import NamedTuple
from ..narrow import narrow
from .conditions import Condition, Conditions, Part, Ref, condition, number
from .grammar.lalr import Word
from .grammar.tables import grammar
from .language import STATEMENTS, complete
from .syntax_errors import Wrong


class Value(NamedTuple):
    """One argument as written: its text (unquoted), the template in it, and where it stands."""

    text: str
    parts: tuple[str | Ref, ...]
    start: int
    end: int

    @property
    def refs(self) -> list[Ref]:
        """The references in it, in order."""
        return [part for part in self.parts if isinstance(part, Ref)]

    @property
    def literal(self) -> str | None:
        """The text, where nothing in it is computed."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is str:
            return parts[0]
        return "".join(parts) if not self.refs else None  # type: ignore[arg-type]


class Argument(NamedTuple):
    """`key=value`, or a value in order (key None)."""

    key: str | None
    value: Value
    start: int


class CallTail(NamedTuple):
    """`NAME key=value ... [depth N]`."""

    target: Value
    arguments: tuple[Argument, ...]
    depth: int | None


class LoopTail(NamedTuple):
    """The head of `for_each_file`, `for` or `fork`: the name bound (or None), what is gone through, the bound.

    `keeps`: of a `fork` that says `keep failures`, whose branches can stop alone.
    """

    name: str | None
    over: Value
    most: int | None
    keeps: bool = False


class IterateTail(NamedTuple):
    """`max N [until COND]`."""

    most: int | None
    until: Condition | None


class RequireTail(NamedTuple):
    """`COND else "why"`."""

    condition: Condition
    why: str


class ParamTail(NamedTuple):
    """`NAME [= DEFAULT]`."""

    name: str
    default: str | None


class NamedValues(NamedTuple):
    """`NAME value ...` of `use`, `budget` and `allow`."""

    name: str
    values: tuple[Value, ...]


@lru_cache(maxsize=1)
def placeholder() -> re.Pattern[str]:
    """`{name}`, `{name.field}` or `{{name}}` in a text."""
    return re.compile(grammar().terminals["PLACEHOLDER"])


def template(text: str) -> tuple[str | Ref, ...]:
    """The parts of a text: literal stretches and references; `{{name}}` is the text `{name}`."""
    if "{" not in text:
        return (text,) if text else ()
    return _template(text)


@lru_cache(maxsize=1 << 14)
def _template(text: str) -> tuple[str | Ref, ...]:
    parts: list[str | Ref] = []
    literal: list[str] = []
    last = 0
    for match in placeholder().finditer(text):
        literal.append(text[last : match.start()])
        reference = match.group()
        last = match.end()
        if reference.startswith("{{"):
            literal.append(reference[1:-1])
            continue
        before = "".join(literal)
        if before:
            parts.append(before)
        literal = []
        parts.append(Ref(tuple(reference[1:-1].split(".")), match.start(), match.end()))
    literal.append(text[last:])
    rest = "".join(literal)
    if rest:
        parts.append(rest)
    return tuple(parts)


def escape(text: str) -> str:
    """The template that stands for `text` and nothing else: every `{name}` in it is written `{{name}}`."""
    return placeholder().sub(lambda match: "{" + match.group() + "}", text)


_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def _string(token: Word) -> str:
    def escaped(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            at = token.start_pos + 1 + match.start()
            help_ = f"a backslash is written `\\\\`: `\\\\{match[1]}`"
            raise Wrong(at, at + 2, f"`\\{match[1]}` means nothing in a quoted text", help_)
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", escaped, token[1:-1]) if "\\" in token else token[1:-1]


def _fixed(token: Word, subject: str) -> str:
    """The text of a STRING that may not be a template. Raises Wrong where it has a reference."""
    text = _string(token)
    for part in template(text):
        if isinstance(part, Ref):
            name = ".".join(part.path)
            raise Wrong(
                token.start_pos,
                token.end_pos,
                f"{subject} is a fixed text; `{{{name}}}` in it is not filled in",
            )
    return text


def count(token: object) -> int | None:
    """The whole number of a token, None without one."""
    return None if token is None else int(number(narrow(token, Word)))


class TailBuilder(Conditions):
    """Builds the values above as the parser reduces."""

    transparent = frozenset(("conjunction", "disjunction", "target"))
    """Rules whose result is their only part, unchanged."""

    def _value(self, children: list[Word]) -> Value:
        token = children[0]
        start, end = token.start_pos, token.start_pos + len(token)
        if token.type == "STRING":
            text = _string(token)
            shift = start + 1 if len(text) == len(token) - 2 else None
        else:
            text, shift = str(token), start
        parts = template(text)
        if "{" in text:
            parts = tuple(
                part
                if isinstance(part, str)
                else Ref(
                    part.path,
                    *(
                        (part.start + shift, part.end + shift)
                        if shift is not None
                        else (start, end)
                    ),
                )
                for part in parts
            )
        return Value(text, parts, start, end)

    value = call_value = loop_value = _value

    def amount(self, children: list[Word]) -> Value:
        number(children[0])
        return self._value(children)

    def target(self, children: list[Value]) -> Value:
        return children[0]

    def positional(self, children: list[Value]) -> Argument:
        return Argument(None, children[0], children[0].start)

    def named(self, children: list[object]) -> Argument:
        key = narrow(children[0], Word)
        return Argument(key[:-1], narrow(children[1], Value), key.start_pos)

    def arguments(self, children: list[Argument]) -> tuple[Argument, ...]:
        return tuple(children)

    def call_tail(self, children: list[object]) -> CallTail:
        target, *given, depth = children
        arguments = tuple(narrow(one, Argument) for one in given)
        return CallTail(narrow(target, Value), arguments, count(depth))

    def for_each_tail(self, children: list[object]) -> LoopTail:
        over, name, most = children
        return LoopTail(None if name is None else str(name), narrow(over, Value), count(most))

    def for_tail(self, children: list[object]) -> LoopTail:
        name, over, most = children
        return LoopTail(str(name), narrow(over, Value), count(most))

    def fork_tail(self, children: list[object]) -> LoopTail:
        name, over, most, keeps = children
        return LoopTail(str(name), narrow(over, Value), count(most), keeps is not None)

    def iterate_tail(self, children: list[object]) -> IterateTail:
        most, until = children
        holds = None if until is None else condition(narrow(until, Part))
        return IterateTail(count(most), holds)

    def require_tail(self, children: list[object]) -> RequireTail:
        holds, reason = narrow(children[0], Part), narrow(children[1], Word)
        return RequireTail(condition(holds), _fixed(reason, "the reason of a `require`"))

    def if_tail(self, children: list[Part]) -> Condition:
        return condition(children[0])

    def constant(self, token: Word) -> str:
        return _fixed(token, "a quoted text in a condition")

    def yield_tail(self, children: list[Value]) -> Value:
        return children[0]

    def param_tail(self, children: list[object]) -> ParamTail:
        name, default = narrow(children[0], Word), children[-1]
        if not isinstance(default, Value):
            return ParamTail(str(name), None)
        if default.literal is None:
            raise Wrong(
                default.start, default.end, "a default is a fixed text; nothing in it is filled in"
            )
        return ParamTail(name[:-1] if name.type == "KEY" else str(name), default.literal)

    def use_tail(self, children: list[object]) -> NamedValues:
        return NamedValues(str(children[0]), tuple(narrow(one, Value) for one in children[1:]))

    budget_tail = allow_tail = use_tail


complete(
    [word for word, row in STATEMENTS.items() if hasattr(TailBuilder, row.tail)],
    "method for its tail in syntax/tail_values.py",
)
