"""Runs an edited module once more in a fork: for code that ran while the tests were imported, and for the data of a module.

Functions and classes stay the objects that the tests hold, with the edited code and defaults in them; data are renewed, and
containers and objects of the module's own classes are filled anew. It orders edits and judges none: what passes here is tried
again in a fork that imports the edited file.
"""

from __future__ import annotations

import contextlib
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from .edited_files import edited, given, note_use, text_of
from .function_code import put

_KEPT = (FunctionType, ModuleType, staticmethod, classmethod, property)
_CONTAINERS = (list, dict, set)


def rerun(number: int) -> None:
    """Puts the edited code into the functions, and runs the edited file beside its modules; ends the fork where it cannot run."""
    put(number)
    _renewals.clear()
    edit = given["edits"][number]
    path = edit["path"]
    code = compile(edited(text_of(path), edit["pieces"]), path, "exec", dont_inherit=True)
    for module in list(sys.modules.values()):
        place = getattr(module, "__file__", None)
        if isinstance(place, str) and os.path.realpath(place) == path:
            now = vars(module)
            fresh = {name: one for name, one in now.items() if name[:2] == "__"}
            try:
                exec(code, fresh)
            except BaseException:
                os._exit(1)
            for name, value in fresh.items():
                if name in now and name[:2] == "__":
                    continue  # `__builtins__` among them
                now[name] = _renewed(now.get(name), value)
    note_use(number)


_renewals: dict[int, tuple[Any, Any]] = {}
"""By the identity of an object that was made anew: it, and the old one that has got what is in it."""


def _of_one_class(old: Any, new: Any) -> bool:
    """True for two objects of a class that was made anew, if what they hold can be put from one into the other."""
    kind, now = type(old), type(new)
    named = (kind.__module__, kind.__qualname__) == (now.__module__, now.__qualname__)
    return (
        kind is not now
        and named
        and all(type(getattr(one, "__dict__", None)) is dict for one in (old, new))
    )


def _filled(old: Any, new: Any) -> Any:
    """The old object with what the new one holds."""
    _renewals[id(new)] = new, old
    before = dict(vars(old))
    held = {name: _renewed(before.get(name), value) for name, value in vars(new).items()}
    vars(old).clear()
    vars(old).update(held)
    return old


def _renewed(old: Any, new: Any) -> Any:
    """The object for a name: the old one where it is code or a container, with what is new in it."""
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    if isinstance(old, type) and isinstance(new, type):
        for name, value in list(vars(new).items()):
            if isinstance(value, FunctionType):
                _renewed(vars(old).get(name), value)
            elif name[:2] != "__" and not isinstance(value, (*_KEPT, type)):
                with contextlib.suppress(AttributeError, TypeError):
                    setattr(old, name, _renewed(vars(old).get(name), value))
        return old
    if old is new or isinstance(old, (*_KEPT, type)):
        return old
    if _of_one_class(old, new):
        return _renewals[id(new)][1] if id(new) in _renewals else _filled(old, new)
    if type(old) is type(new) and isinstance(old, _CONTAINERS):
        held = new.copy()
        old.clear()
        (old.extend if isinstance(old, list) else old.update)(held)
        return old
    return new
