"""Which workspace a folder is: an id in `.fdc/workspace`, made with the first run that goes to a database.

A worker drives the runs of its folder's identity, and of those that it is told to stand for. The file also says in which
folder of which machine it was made, so that a second folder with the same identity, a copy, is noticed on that machine. A
folder that was moved keeps its identity; another machine may have the same folder by a network file system, and is believed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess

from ... import durable
from ...engine.ports import WorldFailed
from ...named_tuples import NamedTuple
from ...workspace import run_folders

FILE = "workspace"
UNNAMED = "unnamed"
"""The identity of runs that were begun by an fdc that knew none (0.1.0)."""
_ID = re.compile(r"[0-9a-f]{16}")


class Identity(NamedTuple):
    """A folder's identity. `copied`: the folder of which this one is a copy, where that is still there."""

    id: str
    copied: str | None


def is_id(text: str) -> bool:
    """Whether this can be an identity."""
    return text == UNNAMED or _ID.fullmatch(text) is not None


def of_run(inputs: dict[str, object]) -> str:
    """The identity of the workspace that a run belongs to."""
    said = inputs.get("workspace")
    found = said.get("id") if isinstance(said, dict) else None
    return found if isinstance(found, str) and is_id(found) else UNNAMED


def commit_of(inputs: dict[str, object]) -> str | None:
    """The commit of the workspace with which a run began, where it lay in a repository."""
    said = inputs.get("workspace")
    found = said.get("commit") if isinstance(said, dict) else None
    return found if isinstance(found, str) else None


def here(root: str, inputs: dict[str, object]) -> dict[str, object]:
    """What a part of a run keeps of its workspace: the id, and the commit that is checked out now, which may be the run's own."""
    if "workspace" not in inputs:
        return {}
    now = None if commit_of(inputs) is None else commit(root)
    return {"workspace": {"id": of_run(inputs), "commit": now}}


def identity(root: str) -> Identity:
    """The identity of a folder, made where it has none. Raises WorldFailed."""
    path = os.path.join(run_folders.folder(root), FILE)
    said = _read(path)
    if said is None:
        _make(path, root)
        said = _read(path)
        if said is None:
            raise WorldFailed(f"{path}: it cannot be written; it says which workspace this is")
    here = os.path.realpath(root)
    if said["host"] != _host() or said["folder"] == here:
        return Identity(said["id"], None)
    other = os.path.join(said["folder"], run_folders.FOLDER, FILE)
    try:
        if os.path.samefile(other, path):
            return Identity(said["id"], None)
        theirs = _read(other)
    except (OSError, WorldFailed):
        theirs = None
    if theirs is not None and theirs["id"] == said["id"]:
        return Identity(said["id"], said["folder"])
    _write(path, {**said, "folder": here})  # it was moved
    return Identity(said["id"], None)


def copied(found: Identity, root: str) -> str:
    """Why a copy of a folder is refused, and what mends it."""
    path = os.path.join(root, run_folders.FOLDER, FILE)
    return (
        f"{root} is a copy of {found.copied}: both say that they are the workspace {found.id}. Remove {path} to make this "
        "one a workspace of its own"
    )


def commit(root: str) -> str | None:
    """The commit that is checked out in a workspace; None where it lies in no repository, or git cannot tell."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", root, "rev-parse", "--verify", "--quiet", "HEAD"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, env=environment, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = done.stdout.strip()
    return found if done.returncode == 0 and re.fullmatch("[0-9a-f]{40,64}", found) else None


def _host() -> str:
    return os.uname().nodename


def _read(path: str) -> dict[str, str] | None:
    try:
        if os.path.islink(path):
            raise WorldFailed(f"{path}: a symbolic link, which is not followed")
        data = durable.read(path, limit=64 * 1024)
        said = None if data is None else json.loads(data)
    except OSError as failed:
        raise WorldFailed(f"{path}: {(failed.strerror or str(failed)).lower()}") from failed
    except ValueError:
        said = "no JSON"
    if said is None:
        return None
    keys = ("id", "host", "folder")
    if (
        not isinstance(said, dict)
        or not all(isinstance(said.get(key), str) for key in keys)
        or not _ID.fullmatch(said["id"])
    ):
        raise WorldFailed(
            f"{path}: it does not say which workspace this is; remove it, and fdc makes a new identity"
        )
    return {key: said[key] for key in keys}


def _make(path: str, root: str) -> None:
    """Leaves a new identity; of two that try at once, the first one's stays."""
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        _write(
            temporary,
            {"id": os.urandom(8).hex(), "host": _host(), "folder": os.path.realpath(root)},
        )
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
    except OSError as failed:
        raise WorldFailed(f"{path}: {(failed.strerror or str(failed)).lower()}") from failed


def _write(path: str, said: dict[str, str]) -> None:
    try:
        durable.replace(path, (json.dumps({"format": 1, **said}) + "\n").encode())
    except OSError as failed:
        raise WorldFailed(f"{path}: {(failed.strerror or str(failed)).lower()}") from failed
