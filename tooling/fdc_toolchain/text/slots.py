"""Base classes for records without `dataclasses`, whose import takes as long as starting Python.

A class lists its fields and their types, as a data class does; its `__slots__` and `__init__` follow from them.
All classes with as many fields share the code of one constructor, so that few texts are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, dataclass_transform

T = TypeVar("T")

if TYPE_CHECKING:

    def own(make: Callable[[], T], *, init: Literal[False] = False) -> T:
        """The value of a field that the constructor does not take: each record begins with what `make` returns."""

    @dataclass_transform(eq_default=False, field_specifiers=(own,))
    class Fields:
        """A record that equals only itself."""

        __slots__: tuple[str, ...]

    class Record(Fields):
        """A record that equals others of its class by their fields."""

else:

    class own:
        def __init__(self, make):
            self.make = make

    class _Comparable:
        __slots__ = ()

        def __eq__(self, other):
            return type(other) is type(self) and all(
                getattr(self, name) == getattr(other, name) for name in self.__slots__
            )

        def __hash__(self):
            raise TypeError(f"a {type(self).__name__} changes, and cannot be a key")

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"

    _CODES: dict[int, CodeType] = {}
    """By number of fields: the code of the constructor, which is the same for all names of fields."""

    def _constructor(fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        """The `__init__` of a class with these fields, of which the last ones have defaults."""
        code = _CODES.get(len(fields))
        if code is None:
            names = [f"_{number}" for number in range(len(fields))]
            space: dict[str, Any] = {}
            put = "; ".join(f"self.{name} = {name}" for name in names)
            exec(f"def __init__(self, {', '.join(names)}): {put}", space)
            code = _CODES[len(fields)] = space["__init__"].__code__
        code = code.replace(co_varnames=("self", *fields), co_names=fields)
        return FunctionType(code, {}, "__init__", defaults)

    def _with_own(given: FunctionType, owns: list[tuple[str, Callable[[], Any]]]) -> FunctionType:
        def __init__(self, *values, **named):
            given(self, *values, **named)
            for name, make in owns:
                setattr(self, name, make())

        return __init__

    class _Maker(type):
        """Makes of the body of a class the record that it describes."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            values = {field: body.pop(field) for field in fields if field in body}
            owns = [(field, value.make) for field, value in values.items() if type(value) is own]
            given = tuple(field for field in fields if type(values.get(field)) is not own)
            defaults = tuple(values[field] for field in given if field in values)
            if any(field in values for field in given[: len(given) - len(defaults)]):
                raise TypeError(f"fields of {name} without a default follow one with a default")
            if "__init__" not in body:
                made = _constructor(given, defaults)
                made.__qualname__ = f"{name}.__init__"  # which errors name
                body["__init__"] = _with_own(made, owns) if owns else made
            body["__slots__"] = fields
            return type(name, (_Comparable,) if Record in bases else (), body)

    Fields = type.__new__(_Maker, "Fields", (), {})
    Record = type.__new__(_Maker, "Record", (), {})
