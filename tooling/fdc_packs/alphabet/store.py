"""A folder whose state changes from one iteration to the next, whole or not at all (ALPH-03, 46 to 48, 70).

    store = Store("/alphabets/mine")
    store.lock(run, iteration, phase, at)      `.iteration_lock`, one holder
    store.stage("expansion-1-proposer", {...}) what a step has found, with its hash in a manifest
    store.commit(run, change)                  every file of the iteration

A commit first lays all new contents down beside the tree (`.staging/commit/`), forced to the disk, with a manifest
of their hashes; from then on it has happened, and the next process finishes it. Before that, nothing of the tree
has changed. What the files mean is not known here.
"""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, cast

from fdc_toolchain.api.files import durable

from .iteration_lock import LOCK, Lock, began, holder, lock_of, lock_text
from .schemas import Manifest, Prepared

STAGING = ".staging"
PRIVATE = os.path.join(".fdc", "alphabet")


class Busy(Exception):
    """Another process is at work in the folder; the sentence says which."""


class Refused(ValueError):
    """A path leads elsewhere, or a commit cannot be made; nothing has changed."""


class Store:
    """One folder. Raises OSError where the system refuses."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    def path(self, name: str) -> str:
        """The absolute path of something in the folder."""
        return os.path.join(self.root, name)

    # The lock

    def held(self) -> Lock | None:
        """The lock; None where there is none. Raises ValueError for one that cannot be read."""
        data = durable.read(self.path(LOCK))
        return None if data is None else lock_of(data)

    def lock(self, run: str, iteration: int, phase: str, at: str) -> None:
        """Takes the lock for a run; once more for the same run is not trouble. Raises Busy, ValueError."""
        mine = Lock(
            iteration, at, phase, "IN_PROGRESS", "begun", os.getpid(), began(os.getpid()), run
        )
        os.makedirs(self.path(PRIVATE), exist_ok=True)
        temporary = self.path(os.path.join(PRIVATE, f"lock.{os.getpid()}"))
        _write(temporary, lock_text(mine))
        try:
            os.link(temporary, self.path(LOCK))  # fails where there is one: two cannot both take it
        except FileExistsError:
            found = self.held()
            if found is not None and found.run != run:
                raise Busy(holder(found)) from None
            os.replace(temporary, self.path(LOCK))
            return
        os.unlink(temporary)
        durable.sync_folder(self.root)

    def mark(self, phase: str, checkpoint: str) -> None:
        """Says in the lock how far the iteration has come, and that this process goes on with it."""
        found = self.held()
        if found is not None:
            now = found._replace(
                phase=phase, checkpoint=checkpoint, pid=os.getpid(), began=began(os.getpid())
            )
            durable.replace(self.path(LOCK), lock_text(now))

    # Reading

    def texts(self, patterns: Iterable[Mapping[str, object]]) -> dict[str, str]:
        """The files that globs name, by path; of each glob the `last` ones, where it says so. Links lead nowhere.

        Raises ValueError for a file that is not UTF-8.
        """
        out: dict[str, str] = {}
        for row in patterns:
            found = sorted(glob.glob(str(row["glob"]), root_dir=self.root))
            for name in (
                found[-last:] if isinstance(last := row.get("last"), int) and last else found
            ):
                out |= self.text(name)
        return out

    def text(self, name: str) -> dict[str, str]:
        """One file's text by its path; nothing where there is none."""
        path = self.safe(name)
        if os.path.islink(path):
            return {}
        data = durable.read(path)
        try:
            return {} if data is None else {name: data.decode("utf-8")}
        except UnicodeDecodeError:
            raise ValueError(f"{name} is not UTF-8") from None

    def safe(self, name: str) -> str:
        """The absolute path of a file below the folder. Raises Refused for one that is not, or that is fdc's own."""
        parts = name.split("/")
        if name.startswith("/") or "\0" in name or any(part in ("", ".", "..") for part in parts):
            raise Refused(f"`{name}` is not a path below the folder")
        if parts[0].startswith(".") or name in ("fdc.toml", "fdc_tools.json", "pyproject.toml"):
            raise Refused(f"`{name}` is not an alphabet's to write")
        at = self.root
        for part in parts[:-1]:
            at = os.path.join(at, part)
            if os.path.islink(at):
                raise Refused(f"`{name}` leads through a symbolic link")
        return os.path.join(at, parts[-1])

    # Staging

    def open_staging(self, run: str, digest: str, at: str) -> None:
        """Begins with nothing staged, on files that have this digest."""
        shutil.rmtree(self.path(STAGING), ignore_errors=True)
        os.makedirs(self.path(STAGING))
        self._manifest({"run": run, "base": digest, "at": at, "events": []})

    def manifest(self) -> Manifest:
        """What is staged. Raises ValueError where that cannot be said."""
        data = durable.read(self.path(f"{STAGING}/manifest.json"))
        if data is None:
            raise ValueError("nothing is staged")
        value = json.loads(data)
        if not isinstance(value, dict) or not isinstance(value.get("events"), list):
            raise ValueError("the manifest of what is staged is damaged")
        return cast("Manifest", value)

    def _manifest(self, value: Manifest) -> None:
        durable.replace(self.path(f"{STAGING}/manifest.json"), _json(value))

    def stage(self, name: str, value: object) -> None:
        """Keeps what a step has found. The same name again takes the old one's place."""
        manifest = self.manifest()
        events = manifest["events"]
        at = next((number for number, row in enumerate(events) if row["name"] == name), len(events))
        data = _json(value)
        file = f"{at:03d}.json"
        durable.replace(self.path(f"{STAGING}/{file}"), data)
        events[at : at + 1] = [{"name": name, "file": file, "sha256": sha256(data).hexdigest()}]
        self._manifest(manifest)

    def staged(self) -> list[object]:
        """Everything that is staged, oldest first. Raises ValueError where a file is not what its hash says."""
        out = []
        for row in self.manifest()["events"]:
            data = durable.read(self.path(f"{STAGING}/{row['file']}"))
            if data is None or sha256(data).hexdigest() != row["sha256"]:
                raise ValueError(f"what was staged as {row['name']} is damaged")
            out.append(json.loads(data))
        return out

    # Commit and recovery

    def commit(self, run: str, change: Mapping[str, object]) -> None:
        """Makes the change, all of it or nothing; once more for the same run is not trouble. Raises Refused, ValueError."""
        done = self._committed()
        if done.get("run") == run and done.get("iteration") == change["iteration"]:
            self._clean()
            return
        if not os.path.exists(self.path(f"{STAGING}/commit.json")):
            self._prepare(run, change)
        self.finish()

    def _prepare(self, run: str, change: Mapping[str, Any]) -> None:
        """Everything that may fail, before anything is changed."""
        folder = self.path(f"{STAGING}/commit")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        rows = []
        for number, (name, text) in enumerate(sorted(change["files"].items())):
            data = str(text).encode("utf-8")
            path = self.safe(name)
            fixed = change.get("immutable")
            if (
                fixed
                and name.startswith(fixed)
                and os.path.lexists(path)
                and durable.read(path) != data
            ):
                raise Refused(f"`{name}` is a snapshot, which is never written again")
            _write(os.path.join(folder, f"{number:05d}"), data)
            rows.append({"path": name, "blob": f"{number:05d}", "sha256": sha256(data).hexdigest()})
        remove = sorted(change.get("remove", ()))
        for name in remove:
            self.safe(name)
        durable.sync_folder(folder)
        manifest = {"run": run, "iteration": change["iteration"], "files": rows, "remove": remove}
        durable.replace(
            self.path(f"{STAGING}/commit.json"),
            _json({**manifest, "mirror": list(change["mirror"])}),
        )

    def prepared(self) -> Prepared | None:
        """A commit that has happened, all its contents whole; None where there is none."""
        data = durable.read(self.path(f"{STAGING}/commit.json"))
        if data is None:
            return None
        try:
            value: Prepared = json.loads(data)
            for row in value["files"]:
                blob = durable.read(self.path(f"{STAGING}/commit/{row['blob']}"))
                if blob is None or sha256(blob).hexdigest() != row["sha256"]:
                    return None
        except (ValueError, KeyError, TypeError):
            return None
        return value

    def finish(self) -> None:
        """Puts a prepared commit into the tree; may be done any number of times. Raises ValueError where there is none."""
        found = self.prepared()
        if found is None:
            raise ValueError("no commit is open")
        contents = {}
        for row in found["files"]:
            data = durable.read(self.path(f"{STAGING}/commit/{row['blob']}"))
            assert data is not None
            contents[row["path"]] = data
        for name, data in contents.items():
            path = self.safe(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            durable.sweep(path)  # of a process that was killed while writing it
            if durable.read(path) != data:
                durable.replace(path, data)
        for name in found["remove"]:
            if os.path.lexists(self.safe(name)):
                os.unlink(self.safe(name))
        self._mirror(contents, found["remove"], found["mirror"])
        os.makedirs(self.path(PRIVATE), exist_ok=True)
        said = {"run": found["run"], "iteration": found["iteration"]}
        durable.replace(self.path(os.path.join(PRIVATE, "committed.json")), _json(said))
        self._clean()

    def _committed(self) -> dict[str, Any]:
        data = durable.read(self.path(os.path.join(PRIVATE, "committed.json")))
        try:
            value = json.loads(data) if data is not None else {}
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def _clean(self) -> None:
        """The iteration is over: the lock goes first, and what is staged without a lock has no owner."""
        durable.sweep(self.path(LOCK))
        if os.path.lexists(self.path(LOCK)):
            os.unlink(self.path(LOCK))
            durable.sync_folder(self.root)
        shutil.rmtree(self.path(STAGING), ignore_errors=True)

    def roll_back(self) -> None:
        """Forgets what is staged; the tree is as the last complete iteration left it."""
        self._clean()

    def recover(self, resumable: bool = True) -> tuple[str, str]:
        """What became of an interrupted iteration, and its run: `none`, `finished`, `rolled back`, or `resume` (ALPH-47, C-24).

        Raises Busy where it is not interrupted but under way.
        """
        try:
            lock = self.held()
        except ValueError:
            if self.prepared() is not None:
                self.finish()
                return "finished", ""
            self.roll_back()
            return "rolled back", ""
        if lock is None:
            self._clean()
            return "none", ""
        if lock.pid != os.getpid() and began(lock.pid) == lock.began:
            raise Busy(holder(lock))
        if self.prepared() is not None:
            self.finish()
            return "finished", lock.run
        try:
            valid = self.manifest().get("run") == lock.run and self.staged() is not None
        except (ValueError, KeyError, TypeError):
            valid = False
        if valid and resumable:
            self.mark(lock.phase, lock.checkpoint)  # from now on it is under way here
            return "resume", lock.run
        self.roll_back()
        return "rolled back", lock.run

    # The last complete state, kept aside

    def _mirror(
        self, contents: Mapping[str, bytes], remove: Iterable[str], patterns: Iterable[str]
    ) -> None:
        wanted = [str(one) for one in patterns]
        folder = self.path(os.path.join(PRIVATE, "checkpoint"))
        hashes = self._hashes()
        for name, data in contents.items():
            if any(fnmatch.fnmatchcase(name, one) for one in wanted):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)
                hashes[name] = sha256(data).hexdigest()
        for name in remove:
            hashes.pop(name, None)
        os.makedirs(folder, exist_ok=True)
        durable.replace(os.path.join(folder, "hashes.json"), _json(hashes))

    def _hashes(self) -> dict[str, str]:
        data = durable.read(self.path(os.path.join(PRIVATE, "checkpoint", "hashes.json")))
        try:
            value = json.loads(data) if data is not None else {}
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def keep(self, names: Iterable[str]) -> None:
        """Takes these files, as they are, for the last complete state."""
        contents = {
            name: data for name in names if (data := durable.read(self.safe(name))) is not None
        }
        self._mirror(contents, (), ("*",))

    def damaged(self) -> list[str]:
        """Files that are not as the last commit left them."""
        out = []
        for name, wanted in sorted(self._hashes().items()):
            try:
                data = durable.read(self.safe(name))
            except (OSError, Refused):
                data = None
            if data is None or sha256(data).hexdigest() != wanted:
                out.append(name)
        return out

    def restore(self, names: Iterable[str]) -> list[str]:
        """Puts files back as the last commit left them; what was there is kept below `.fdc/alphabet/damaged/` (ALPH-70).

        Returns those that were put back: where the copy is not what its hash says, a file is left as it is.
        """
        hashes, back = self._hashes(), []
        for name in names:
            kept = durable.read(self.path(os.path.join(PRIVATE, "checkpoint", name)))
            if kept is None or sha256(kept).hexdigest() != hashes.get(name):
                continue
            path = self.safe(name)
            if os.path.lexists(path):
                aside = self.path(os.path.join(PRIVATE, "damaged", name))
                os.makedirs(os.path.dirname(aside), exist_ok=True)
                os.replace(path, aside)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            durable.replace(path, kept)
            back.append(name)
        return back


def digest(files: Mapping[str, str]) -> str:
    """One hash for what was read."""
    return sha256(json.dumps(files, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def walk(root: str) -> Iterator[str]:
    """The paths of all files below a folder, `/` between their parts, but for what begins with a dot."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
