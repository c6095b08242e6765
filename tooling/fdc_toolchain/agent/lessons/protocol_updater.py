"""Changes a protocol source of a workspace: take the lock, read, decide, write whole, let go (FDC-78 to FDC-80)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ... import durable
from ...diagnostics.diagnostic import Diagnostic
from ...named_tuples import NamedTuple
from ...protocols.build import source_files
from ...protocols.update import Edit, Refusal, edit


class Outcome(NamedTuple):
    """The result of an update: done or refused, with a message and the findings that explain a refusal."""

    done: bool
    message: str
    findings: tuple[Diagnostic, ...] = ()


def update(root: str, folder: str, command: str, parameters: Mapping[str, str]) -> Outcome:
    """Carries out `add-tool`, `update-rule` or `deprecate-tool` on the sources in a folder of a workspace.

    Every word of `protocols.update.edit` holds; a change
    that is made already is done again by doing nothing. Raises TimeoutError for a lock that stays taken, OSError
    where the system refuses; the file is as it was then.
    """
    with changing(root, folder) as files:
        found = edit(files, command, parameters)
        if isinstance(found, Refusal):
            return Outcome(False, found.message, found.findings)
        save(root, found)
        return Outcome(True, found.message)


@contextmanager
def changing(root: str, folder: str) -> Iterator[dict[str, bytes]]:
    """While it lasts no other process changes the sources; gives what they are, by their paths in the workspace."""
    if not os.path.isdir(folder):
        yield {}
        return
    with durable.exclusive(os.path.join(folder, "sources")):
        yield source_files(folder, root)


def save(root: str, change: Edit) -> None:
    """Writes a change, where there is one. Raises OSError, also for a source that is a link to somewhere else."""
    if change.before == change.after:
        return
    path = os.path.join(root, change.path)
    if os.path.islink(path):
        raise OSError(None, "the protocol source is a link, which fdc does not write", path)
    durable.sweep(path)
    durable.replace(path, change.after)
