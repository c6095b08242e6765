"""The identity of a workspace: an id in `.fdc/workspace`, created with the first run in a database.

A worker drives the runs of its folder's identity, and of those in --serve. The file also has the folder and the
machine where it was created, so that a copy with the same identity is detected on that machine. A moved folder
keeps its identity. Another machine is trusted, because it may have the same folder through a network file system.
"""

from __future__ import annotations

import json
import os
import re
import subprocess

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...named_tuples import NamedTuple
from ...workspace import run_folders

FILE = "workspace"
UNNAMED = "unnamed"
"""The identity of runs that an fdc without identities (0.1.0) began."""
_ID = re.compile(r"[0-9a-f]{16}")


class Identity(NamedTuple):
    """A folder's identity. `copied`: the folder of which this one is a copy, if that still exists."""

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
    """The commit of the workspace when a run began, if it was in a repository."""
    said = inputs.get("workspace")
    found = said.get("commit") if isinstance(said, dict) else None
    return found if isinstance(found, str) else None


def here(root: str, inputs: dict[str, object]) -> dict[str, object]:
    """The workspace data of a part of a run: the id, and the current commit, which the run itself may have made."""
    if "workspace" not in inputs:
        return {}
    now = None if commit_of(inputs) is None else commit(root)
    return {"workspace": {"id": of_run(inputs), "commit": now}}


def known(root: str) -> str | None:
    """The id of a folder that has one. Raises WorldFailed."""
    said = _read(os.path.join(root, run_folders.FOLDER, FILE))
    return None if said is None else said["id"]


def identity(root: str) -> Identity:
    """The identity of a folder, created if it has none. Raises WorldFailed."""
    path = os.path.join(run_folders.folder(root), FILE)
    said = _read(path)
    if said is None:
        _make(path, root)
        said = _read(path)
        if said is None:
            raise WorldFailed(
                f"{path}: cannot be written; it must contain the identity of this workspace"
            )
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
    """The message that a copied folder is refused, and how to fix it."""
    path = os.path.join(root, run_folders.FOLDER, FILE)
    return (
        f"{root} is a copy of {found.copied}: both have the identity {found.id}. Remove {path} to make this "
        "copy a separate workspace"
    )


def commit(root: str) -> str | None:
    """The commit that is checked out in a workspace; None outside a repository or if git fails."""
    from ...linking.project.protected import outside_path
    from ...linking.project.quiet_git import refuse_pipes

    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["PATH"] = outside_path()
    try:
        refuse_pipes(root)
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
        raise WorldFailed(f"{path}: {reason(failed)}") from failed
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
            f"{path}: does not contain an identity; remove it, and fdc creates a new one"
        )
    return {key: said[key] for key in keys}


def _make(path: str, root: str) -> None:
    """Creates a new identity; of two concurrent attempts, the first wins."""
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
        raise WorldFailed(f"{path}: {reason(failed)}") from failed


def _write(path: str, said: dict[str, str]) -> None:
    try:
        durable.replace(path, (json.dumps({"format": 1, **said}) + "\n").encode())
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed
