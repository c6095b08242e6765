"""The steps of an ALPHABETUM iteration that touch the folder: begin, stage, commit, give up.

`packs/alphabet/` knows what they write.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from fdc_toolchain.api.text import narrow
from fdc_toolchain.api.tools import Context, ToolFailure, object_of, word

from .store import Busy, Store, digest


def begin_alphabet(args: Mapping[str, object], context: Context) -> object:
    """Takes the iteration's lock and reads everything that it starts from (ALPH-44: read)."""
    store = _store(context)
    wanted = object_of(args, "paths")
    at = now()
    try:
        store.lock(context.run, _iteration(store), "EXPANSION", at)
    except Busy as busy:
        raise ToolFailure("busy", str(busy)) from None
    except ValueError as wrong:
        raise ToolFailure("lock", str(wrong)) from None
    try:
        files = store.texts(narrow(wanted["globs"], list))
    except ValueError as wrong:
        raise ToolFailure("file", str(wrong)) from None
    found = digest(files)
    store.open_staging(context.run, found, at)
    return {"files": files, "digest": found, "at": at}


def staged_alphabet(args: Mapping[str, object], context: Context) -> object:
    """What the steps of this iteration have found so far."""
    try:
        return {"events": _store(context).staged()}
    except ValueError as wrong:
        raise ToolFailure("staged", f"{wrong}; the iteration must be rolled back") from None


def stage_alphabet(args: Mapping[str, object], context: Context) -> object:
    """Keeps what a step has found, and says so in the lock (ALPH-46)."""
    store = _store(context)
    event = object_of(args, "event")
    checkpoint = word(args, "checkpoint")
    phase = str(event["phase"])
    try:
        store.stage(f"{phase.lower()}-{event['cycle']}-{checkpoint}", event)
        store.mark(phase, f"{checkpoint}_{event['cycle']}")
        return {"events": store.staged()}
    except ValueError as wrong:
        raise ToolFailure("staged", f"{wrong}; the iteration must be rolled back") from None


def read_entries(args: Mapping[str, object], context: Context) -> object:
    """The texts of the files that are named."""
    store = _store(context)
    out: dict[str, str] = {}
    try:
        for name in narrow(object_of(args, "wanted")["paths"], list):
            out |= store.text(str(name))
    except ValueError as wrong:
        raise ToolFailure("file", str(wrong)) from None
    return {"files": out}


def commit_alphabet(args: Mapping[str, object], context: Context) -> object:
    """Writes every file of the iteration, or none (ALPH-03, 48)."""
    change = object_of(args, "change")
    tree = object_of(args, "tree")
    store = _store(context)
    try:
        if store.prepared() is None and store.held() is not None:
            files = store.texts([{"glob": glob_of(name)} for name in narrow(tree["files"], dict)])
            if digest(files) != tree["digest"]:
                raise ToolFailure(
                    "changed",
                    "files of the alphabet were changed while the iteration was under way",
                )
        store.commit(context.run, change)
    except ValueError as wrong:
        raise ToolFailure("staged", str(wrong)) from None
    return {"iteration": change["iteration"], "files": len(narrow(change["files"], dict))}


def abandon_alphabet(args: Mapping[str, object], context: Context) -> object:
    """Gives the iteration up: nothing of it is written, the lock is free."""
    _store(context).roll_back()
    return {"why": word(args, "why")}


def _iteration(store: Store) -> int:
    """The number of the iteration that begins. The reader the state says what is wrong with it."""
    import yaml

    name = "reasoning/iteration_state.yaml"
    try:
        value = yaml.safe_load(store.text(name).get(name, ""))
        return int(value["iteration_state"]["current_iteration"]) + 1
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        return 1


def now() -> str:
    """The time as files state it; SOURCE_DATE_EPOCH fixes it, so that a tree can be made twice."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(fixed) if fixed.isdecimal() else int(time.time())
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def glob_of(name: str) -> str:
    """A path as a glob that names it and nothing else."""
    import glob

    return glob.escape(name)


def _store(context: Context) -> Store:
    return Store(context.root.path)
