"""Jinja2 for prompts: a file of the workspace may be wrong or hostile, so what filling it in may cost has a bound.

Loops, calls, operators and filters are counted, also where they print nothing, and no text grows over a limit.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter, SecurityError

WORK, CALL, LONGEST, WIDEST = 3_000_000, 50, 8 * 1024 * 1024, 100_000
"""The work of one prompt (a round of a loop, an item or a hundred characters that a filter reads), what a call counts, the
characters of a text, and the greatest number that what is `_SIZED` is given."""
_SIZED = frozenset(
    "batch center expandtabs indent ljust rjust round slice tojson to_bytes zfill".split()
)
"""Filters and methods to which a number says how long what they make is."""
_left: ContextVar[list[int]] = ContextVar("left")


def filled(page: Template, values: dict[str, object]) -> str:
    """A template with its values. Raises SecurityError for one that costs too much, and what Jinja2 and its filters raise."""
    mark = _left.set([WORK])
    try:
        out, many = [], 0
        for part in page.generate(values):
            many += len(part)
            out.append(part)
            if many > LONGEST:
                raise SecurityError(f"it makes a text of more than {LONGEST:,} characters")
        return "".join(out)
    finally:
        _left.reset(mark)


def environment(filters: dict[str, Callable[..., object]]) -> Environment:
    """The templates' environment, with the filters of fdc."""
    pages = _Pages(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_weighed,
    )
    pages.filters.update(filters)
    pages.filters = {name: _bounded(name, one) for name, one in pages.filters.items()}
    pages.filters.update(_each=_each, _joined=_joined, _checked=_checked)
    pages.globals.pop("lipsum")
    return pages


class _Formatter(SandboxedFormatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        """A value in its form. What the form says of widths is known here, also where it is given."""
        if _wide(format_spec):
            raise SecurityError("it makes a text that is too long")
        return str(super().format_field(value, format_spec))


class _Pages(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in tree.find_all(nodes.For):
            loop.iter = _through("_each", loop.iter)
        for block in tree.find_all(nodes.AssignBlock):
            block.filter = _through("_checked", block.filter)
        for concat in list(tree.find_all(nodes.Concat)):
            concat.nodes = [_through("_joined", nodes.List(concat.nodes))]
        return tree

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`"...".format`, with a form that asks for no text that is too long."""
        if super().wrap_str_format(value) is None:
            return None
        form, filled_in = str(value.__self__), _Formatter(self)
        if value.__name__ == "format_map":
            return lambda named: filled_in.vformat(form, (), named)
        return lambda *args, **named: filled_in.vformat(form, args, named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _spend(1)
        many = max(_size(left), _size(right))
        if operator == "*":
            many *= max((one for one in (left, right) if isinstance(one, int)), default=1)
        if many > LONGEST or (operator == "%" and isinstance(left, str) and _wide(left)):
            raise SecurityError("it makes a text that is too long")
        if operator == "**" and any(abs(one) > 1000 for one in (left, right)):
            raise SecurityError("it computes a number that is too large")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, *args: Any, **named: Any) -> Any:
        _spend(CALL)
        name, owner = getattr(obj, "__name__", ""), getattr(obj, "__self__", None)
        _given((*args, *named.values()), sized=name in _SIZED)
        if isinstance(owner, str):
            _grows(name, owner, args)
        return _checked(super().call(context, obj, *args, **named))


def _through(name: str, node: Any) -> Any:
    return nodes.Filter(node, name, [], [], None, None)


def _each(items: Iterable[Any]) -> Iterator[Any]:
    for one in items:
        _spend(1)
        yield one


def _joined(parts: list[Any]) -> str:
    return str(_checked("".join(str(_weighed(one)) for one in parts)))


def _checked(value: Any) -> Any:
    _spend(1 + _size(value) // 100)
    if _size(value) > LONGEST:
        raise SecurityError(f"it makes a text of more than {LONGEST:,} characters")
    return value


def _bounded(name: str, function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def inner(*args: Any, **named: Any) -> object:
        at = 1 if hasattr(function, "jinja_pass_arg") else 0
        _weighed(args[at])
        _given((*args[at + 1 :], *named.values()), sized=name in _SIZED)
        if isinstance(args[at], str):
            _grows(name, args[at], args[at + 1 :])
        return _checked(function(*args, **named))

    return inner


def _given(args: Iterable[object], *, sized: bool) -> None:
    """Counts arguments. Raises SecurityError for a number that could make something huge."""
    for one in args:
        _weighed(one)
        if sized and isinstance(one, (int, float)) and abs(one) > WIDEST:
            raise SecurityError(f"a number over {WIDEST:,} says how long a text is to be")


def _weighed(value: Any) -> Any:
    """The value, after all that it holds was counted: a list may hold another one many times."""
    work = [value]
    while work:
        one = work.pop()
        _spend(1 + (len(one) // 100 if isinstance(one, (str, bytes)) else 0))
        if isinstance(one, range):
            _spend(len(one))
        elif isinstance(one, dict):
            work += one.values()
        elif isinstance(one, (list, tuple)):
            work += one
    return value


def _grows(name: str, text: str, args: tuple[Any, ...]) -> None:
    """Raises SecurityError where replacing, joining or formatting makes a text that is too long."""
    many = len(text)
    if name == "replace" and len(args) > 1 and isinstance(args[0], str):
        many += (text.count(args[0]) if args[0] else len(text) + 1) * _size(args[1])
    elif name == "join" and args:
        many *= _size(args[0])
    elif name == "format" and _wide(text):
        many = LONGEST + 1
    if many > LONGEST:
        raise SecurityError("it makes a text that is too long")


def _wide(form: str) -> bool:
    """Whether a form asks for a width of more than five digits, or for one that is given (`%*d`)."""
    many = 0
    for sign in form:
        many = many + 1 if sign.isdigit() else 0
        if many > 5:
            return True
    return re.search(r"%[^a-zA-Z%]*\*", form) is not None


def _spend(much: int) -> None:
    left = _left.get(None)
    if left is not None:
        left[0] -= much
        if left[0] < 0:
            raise SecurityError("its loops and calls take too long")


def _size(value: object) -> int:
    return len(value) if isinstance(value, (str, bytes, list, tuple, dict)) else 0
