"""What the sandboxes of this machine can do, by attempts: with the launcher that starts commands, too.

An attempt that went well is remembered in the cache, for a process of the same kind until the next boot. Where that is not true
any more, a command is not run, and its step says why.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from hashlib import blake2b

from .. import cachedir
from ..linking.project.protected import outside_path
from . import python_process, seccomp

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox_launcher.py")

NAMESPACES = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
_SECONDS = 60.0


_OF_MACHINE = (
    "/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)  # fmt: skip
_OF_PROCESS = ("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
_MOST_KEPT = 16


def look_again() -> None:
    """From now on this process makes each attempt itself, for whoever wants to know how things are now."""
    global _remembers
    attempt.cache_clear()
    spelled_otherwise.cache_clear()
    _remembers = False


_remembers = True


@functools.cache
def attempt(tier: str, mounts: bool = False) -> str:
    """Why no command can be started in a tier here; empty if one can. `mounts`: with mounts of its own, under Landlock."""
    name = f"sandbox/{_kind(tier, mounts)}"
    if _remembers and cachedir.load(name) is True:
        return ""
    wrong = _attempted(tier, mounts)
    if not wrong:
        cachedir.store(name, True)
        cachedir.prune("sandbox", _MOST_KEPT)
    return wrong


def _kind(tier: str, mounts: bool) -> str:
    """What decides how an attempt ends: the machine, the process, the programs."""
    words = [tier, str(mounts)]
    for path in (*_OF_MACHINE, "/proc/self/status"):
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
            lines = [line for line in text.splitlines() if line.startswith(_OF_PROCESS)]
            words += [path, *(lines if path.endswith("status") else [text])]
    for path in (bubblewrap() or "", LAUNCHER, os.path.dirname(LAUNCHER) + "/launcher_fence.py"):
        with suppress(OSError):
            words += [path, str(os.stat(path).st_mtime_ns)]
    for name in ("user", "mnt", "pid"):
        with suppress(OSError):
            words.append(os.readlink(f"/proc/self/ns/{name}"))
    return blake2b("\0".join(words).encode(), digest_size=16).hexdigest()


def _attempted(tier: str, mounts: bool) -> str:
    namespaces = tier == "bubblewrap"
    plan = {
        "parent": os.getpid(), "argv": ["true"], "environment": {"PATH": outside_path()}, "fence": tier, "limits": {},
        "processes": 512, "memory": 8 << 30, "seccomp": seccomp.program(False, namespaces).hex(), "nothing": "",
        "root": "/", "read": [], "reads": ["."], "lists": [], "devices": [], "writes": [], "write": [], "closed": [],
        "asked": seccomp.asked(), "mounts": [(tempfile.gettempdir(), "kept")] if mounts else [],
    }  # fmt: skip
    if namespaces:
        plan["argv"] = [bubblewrap(), *NAMESPACES, "--ro-bind", "/", "/", "--seccomp", "FILTER", "--", "true"]  # fmt: skip
    told, status = os.pipe()
    try:
        done = subprocess.run(
            [*python_process.plain(LAUNCHER, json.dumps(plan)), str(status)], pass_fds=(status,), env={}, cwd="/",
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"a command did not start in it within {_SECONDS:g} s"
    finally:
        os.close(status)
        with os.fdopen(told) as said:
            words = json.loads(said.read() or "{}")
    if words.get("code") == 0:
        return ""
    wrong = words.get("refused") or words.get("lost") or done.stderr.strip().rpartition("\n")[2]
    return f"no command can be started in it here: {wrong[:300] or 'it says no reason'}"


_OWN_NAMES = (".fdc", ".git", "knowledge_core", "fdc.toml", "AGENTS.md")


@functools.cache
def spelled_otherwise(root: str, tier: str) -> str:
    """A name in a folder whose file a command reaches under another spelling although the sandbox closes it; empty if none is.

    Some file systems take `.FDC` for `.fdc` (Windows' and macOS's, as WSL 2 and containers see them). Where the kernel does
    not know that, a mount closes one spelling only.
    """
    for name in _OWN_NAMES:
        path, other = (os.path.join(root, one) for one in (name, name.swapcase()))
        try:
            os.lstat(other)
            names = os.listdir(root)
        except OSError:
            continue
        if name in names and name.swapcase() not in names:
            closed = _closes(path, other) if tier == "bubblewrap" else not mounting()
            return "" if closed else name
    return ""


def _closes(path: str, other: str) -> bool:
    """Whether a mount at a path is there under the other spelling, too."""
    mount = ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", LAUNCHER, path]
    look = ["stat", "-c", "%d:%i", "--", path, other]
    done = subprocess.run(
        [str(bubblewrap()), *NAMESPACES, "--ro-bind", "/", "/", *mount, "--", *look], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=_SECONDS, check=False, env={"PATH": outside_path()},
    )  # fmt: skip
    return done.returncode == 0 and len(set(done.stdout.split())) == 1


def mounting() -> bool:
    """True if a command of this user can get mounts of its own under Landlock."""
    return attempt("landlock", True) == ""


def bubblewrap() -> str | None:
    """The path of the program."""
    return shutil.which("bwrap", path=outside_path())


@functools.cache
def sized() -> bool:
    """Whether this bubblewrap limits the size of a file system in memory."""
    said = subprocess.run(
        [str(bubblewrap()), "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False, env={}
    )  # fmt: skip
    return b"--size" in said.stdout + said.stderr


def landlock_abi() -> int:
    """The kernel's Landlock version; 0 or less if it has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(444, None, ctypes.c_size_t(0), 1))
