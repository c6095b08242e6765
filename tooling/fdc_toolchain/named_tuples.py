"""`typing.NamedTuple`, made in a tenth of the time: no text is compiled, and all classes share their methods.

A command of fdc defines about a hundred of these classes before it does anything.
"""

from __future__ import annotations

from types import CodeType, FunctionType

TYPE_CHECKING = False
new_tuple = tuple.__new__
"""Makes a named tuple of its class and a plain tuple of all its fields, in half the time of a call of the class."""

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter
    except ImportError:  # pragma: no cover - an interpreter that is not CPython
        from operator import itemgetter

        def _tuplegetter(index, doc):
            return property(itemgetter(index), doc=doc)

    @classmethod
    def _make(cls, values):
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, **values):
        made = self._make(map(values.pop, self._fields, self))
        if values:
            raise ValueError(f"Got unexpected field names: {list(values)!r}")
        return made

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        shown = ", ".join(
            f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
        )
        return f"{type(self).__name__}({shown})"

    def _plain(self):
        return tuple(self)

    _SHARED = {
        "__slots__": (),
        "_make": _make,
        "_replace": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": _plain,
    }

    _GETTERS: list[object] = []
    _CODES: dict[int, CodeType] = {}
    """By number of fields: the code of `__new__`, which is the same for all names of fields."""

    def _new_of(fields: tuple[str, ...], defaults: tuple[object, ...]) -> FunctionType:
        """The `__new__` of a class with these fields, of which the last ones have defaults."""
        code = _CODES.get(len(fields))
        if code is None:
            names = "".join(f"_{number}, " for number in range(len(fields)))
            made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))")
            code = _CODES[len(fields)] = made.__code__.replace(co_name="__new__")
        code = code.replace(co_varnames=("_cls", *fields))
        return FunctionType(code, {"_new": tuple.__new__}, "__new__", defaults)

    class _Maker(type):
        """Makes of the body of a class the named tuple that it describes."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            types = body.get("__annotations__", {})
            fields = tuple(types)
            defaults = {field: body[field] for field in fields if field in body}
            if fields[len(fields) - len(defaults) :] != tuple(defaults):
                raise TypeError(f"fields of {name} without a default follow one with a default")
            while len(_GETTERS) < len(fields):
                number = len(_GETTERS)
                _GETTERS.append(_tuplegetter(number, f"Alias for field number {number}"))
            new = _new_of(fields, tuple(defaults.values()))
            new.__annotations__ = types
            new.__qualname__ = f"{name}.__new__"  # which errors name
            space = {
                **_SHARED,
                "__new__": new,
                "__match_args__": fields,
                **body,
                **dict(zip(fields, _GETTERS, strict=False)),
                "_fields": fields,
                "_field_defaults": defaults,
            }
            return type(name, (tuple,), space)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
