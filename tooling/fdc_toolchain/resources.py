"""Where shipped data lies: the only file that knows.

A wheel carries `_data/`, which mirrors the checkout's relative paths; a checkout has them
above `tooling/`. So `tooling/research_fsm.json` names the same thing in both.
"""

from __future__ import annotations

import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_DATA = os.path.join(_HERE, "_data")
ROOT = _DATA if os.path.isdir(_DATA) else os.path.dirname(os.path.dirname(_HERE))


def path(name: str) -> str:
    """The absolute path of a shipped file named by its path in the checkout, such as `grammar/plan.lark`."""
    return os.path.join(ROOT, *name.split("/"))


def exists(name: str) -> bool:
    """True where the checkout or wheel ships such a file. Names that leave the root never exist."""
    parts = name.split("/")
    return ".." not in parts and not name.startswith("/") and os.path.isfile(path(name))


def read(name: str) -> bytes:
    """The bytes of a shipped file. Raises OSError when there is none."""
    with open(path(name), "rb") as file:
        return file.read()
