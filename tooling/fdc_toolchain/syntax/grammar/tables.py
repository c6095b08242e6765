"""Lark's parse tables for `grammar/plan.lark` as plain data, kept in the cache folder.

Importing Lark takes several times as long as reading a plan. What it makes of the grammar (its
LALR tables, which terminals each state accepts and in which order it tries them, which children
a rule keeps) is therefore written down once for each version of the grammar and of Lark, and
read back by `syntax.grammar.lalr`. All values are Lark's; this module only stores them.
"""

from __future__ import annotations

import sys
from functools import lru_cache

from ... import cachedir, resources
from ..language import CONSTRUCTS
from .table_form import Grammar, Tables


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """The tables, from the cache folder or, where they are missing or stale, from Lark."""
    text = resources.read("grammar/plan.lark")
    name = f"tables-{_key(text)}"
    stored = cachedir.load(name)
    if isinstance(stored, tuple) and len(stored) == 3:
        return Grammar(Tables(*stored[0]), Tables(*stored[1]), stored[2])
    from .compile_tables import compiled

    tables = compiled(text.decode("ascii"))
    cachedir.store(name, (tuple(tables.shape), tuple(tables.tails), tables.terminals))
    return tables


def _key(text: bytes) -> str:
    import os

    try:
        from _sha1 import sha1
    except ImportError:  # pragma: no cover - an interpreter built without it
        from hashlib import sha1
    specs = (finder.find_spec("lark", None) for finder in sys.meta_path)
    spec = next(
        (found for found in specs if found is not None), None
    )  # `importlib.util` is slow to import
    folder = os.path.dirname(os.path.abspath(__file__))
    sources = [spec.origin if spec is not None else None, f"{folder}/compile_tables.py", __file__]
    made_by = [_version(source) for source in sources]
    return sha1(text + repr((sys.version, CONSTRUCTS, made_by)).encode()).hexdigest()


def _version(source: str | None) -> tuple[str, int, int] | None:
    """Path, time and size of a source file; None where there is none."""
    import os

    try:
        info = os.stat(source or "")
    except OSError:
        return None
    return source or "", info.st_mtime_ns, info.st_size
