"""The folder of an alphabet, as the commands find and read it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fdc_toolchain.api.commands import Refused, UsageError, WorldError, reason

if TYPE_CHECKING:
    from ..lexicon.lexicon import Lexicon
    from ..state import Base
    from ..store import Store


def root_here() -> str:
    """The alphabet's folder: the nearest one from here upwards. Raises UsageError where there is none."""
    from .. import layout

    folder = os.getcwd()
    while not (
        any(os.path.isfile(os.path.join(folder, name)) for name in (layout.CONFIG, layout.STATE))
        and os.path.isdir(os.path.join(folder, "alphabet/primitives"))
    ):
        parent = os.path.dirname(folder)
        if parent == folder:
            raise UsageError("this folder has no alphabet; create one with `fdc alphabet init DIR`")
        folder = parent
    return folder


def dictionary(root: str) -> Lexicon:
    """The dictionary of a folder. Raises WorldError with the command that brings one where there is none."""
    from ..lexicon.tools import lexicon_of

    try:
        return lexicon_of(root)
    except LookupError as missing:
        raise WorldError(str(missing.args[0])) from missing


def world_failure(failed: OSError, name: str) -> WorldError:
    """What the system refused, and for which file; `name` where it does not say."""
    return WorldError(f"{failed.filename or name}: {reason(failed)}")


def store_of(root: str) -> Store:
    """The folder, with a commit that was interrupted brought to its end: what is read is never half of an iteration."""
    from ..iteration_lock import began
    from ..store import Busy, Store

    store = Store(root)
    try:
        held = store.held()
        if held is not None and began(held.pid) != held.began and store.prepared() is not None:
            store.recover()
    except (ValueError, Busy):
        pass  # the next iteration decides
    except OSError as failed:
        raise world_failure(failed, root) from failed
    return store


def base_here(store: Store) -> Base:
    """As `base_of`; a reader is told who mends."""
    try:
        return base_of(store)
    except Refused as wrong:
        known = any(
            str(wrong).startswith(f"{name}:") or str(wrong).startswith(f"{name} ")
            for name in store.damaged()
        )
        hint = "; `fdc alphabet run` restores the last complete iteration" if known else ""
        raise Refused(f"{wrong}{hint}") from wrong


def base_of(store: Store) -> Base:
    """What the files say. Raises Refused for files that cannot be understood, WorldError where they cannot be read."""
    from .. import layout
    from ..config import ConfigError
    from ..state import StateError, read

    try:
        return read(store.texts(layout.wanted()["globs"]))
    except (StateError, ConfigError, ValueError) as wrong:
        raise Refused(str(wrong)) from wrong
    except OSError as failed:
        raise world_failure(failed, store.root) from failed


def measurable(base: Base) -> None:
    """Raises Refused for settings or concepts that cannot be read (T-51): before anything has begun."""
    from ..calculus.inputs import input_faults

    for sentence in input_faults(base):
        raise Refused(sentence)
