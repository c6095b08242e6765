"""Sandboxes shell steps with the strongest available tier (security: G-SBX).

    bubblewrap   namespaces of its own for files, processes, network, users; a system-call filter
    landlock     the kernel's Landlock for files, the filter for sockets and the rest
    none         an ordinary process with a clean environment and limits

`none` is only taken where the operator says so (`--allow-unsandboxed`, or FDC_ALLOW_UNSANDBOXED=1);
no plan and no file of the workspace can. Where no tier is left, the command is not run.

What a command may touch in the upper two: the system's programs and its own scratch folder, the
workspace to read, and of it to write what the plans' `allow write` name (`sandbox.writable`); all
of it where no plan on the stack has such a line. Never what is protected (`linking.project.protected`), but
for what the plans name; and it does not see the text from outside that runs keep, and files that hold secrets (`sandbox.views`).
Network where the plans allow it (`allow net *`) and the operator too (`--allow-network`, or
FDC_ALLOW_NETWORK=1).

Landlock only adds rights. Where fdc may make mounts (root), these take rights away again; where it
may not, the command gets the entries of a folder one by one, and makes no new ones in it.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..named_tuples import NamedTuple
from ..program.model import Grant
from ..workspace.failure import ToolFailure
from ..workspace.files import Root
from ..workspace.operator import OPERATOR, Operator, Tier
from . import python_process, replaced, seccomp, views
from .attempts import (
    LAUNCHER,
    NAMESPACES,
    attempt,
    bubblewrap,
    landlock_abi,
    mounting,
    sized,
    spelled_otherwise,
)
from .programs import SYSTEM, program_folders

if TYPE_CHECKING:
    from .own_access import Access

LIMITS = {"CORE": 0, "FSIZE": 2 << 30, "NOFILE": 4096, "DATA": 8 << 30}
"""Resource limits of each process: bytes of a core dump, of a file, open files, bytes of memory that it writes."""

PROCESSES = 512
"""Maximum number of simultaneous processes of a command."""

MEMORY = 8 << 30
"""Bytes of memory that all processes of a command may hold together; and as much in each of its temporary file systems."""


_KERNEL = (
    "/sys/devices/system/cpu", "/sys/fs/cgroup",
    *(f"/proc/{name}" for name in "self cpuinfo meminfo stat loadavg uptime version filesystems vmstat sys".split()),
)  # fmt: skip
"""What a command may read of `/proc` under Landlock."""

_NOT_TOLD = (
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/services",
    "/etc/protocols", "/etc/gitconfig", "/etc/inputrc", "/etc/bash.bashrc", "/etc/profile",
)  # fmt: skip
"""Files that a Python tool without network cannot read: users and network settings of this machine."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MOST_ARGUMENT = 100_000


class Fenced(NamedTuple):
    """A command ready to be started: `argv` misses the status descriptor, which comes last.

    `made`: files that were made for it to write; `writable.withdraw` takes back what it left empty."""

    argv: list[str]
    tier: Tier
    notes: dict[str, Any]
    made: Sequence[str] = ()


_MOST_WORDS = 8_900
"""bubblewrap takes 9,000 words of options; some are those of each command."""


def fence(
    argv: Sequence[str],
    *,
    root: Root,
    scratch: str,
    environment: dict[str, str],
    was: views.Before,
    run: str = "",
    grants: Sequence[Grant] = (),
    operator: Operator | None = None,
    git: bool = False,
    access: Access | None = None,
) -> Fenced:
    """How to start `argv` in the workspace `root`. `scratch`: an empty folder, its home and temporary folder.

    `was`: what `views.before` found there. `run`: the name of the run. `git`: it writes `.git` and
    nothing else. `access`: it is a Python tool of the workspace, and may touch this. Raises ToolFailure (`sandbox`) where no
    tier that is allowed is offered here.
    """
    allowed = operator or OPERATOR
    tier = chosen(allowed, root.path)
    network = allowed.network and all(
        _anywhere(grant) for grant in (*grants, *([access.grant] if access else []))
    )
    try:
        if tier == "none":
            seen = views.View([], [], [], [])
        elif access is not None:
            seen = views.of_tool(root, grants, access, was)
        else:
            seen = (views.of_git if git else views.view)(root, grants, run, was)
    except OSError as failed:
        raise ToolFailure(
            "sandbox",
            f"the folders that the plans allow a command to write cannot be created: {failed}",
        ) from failed
    system = (
        SYSTEM
        if access is None
        else tuple(path for path in SYSTEM if network or path not in _NOT_TOLD)
    )
    programs = [
        *system,
        *program_folders(environment),
        *([] if access is None else [python_process.PACKAGE]),
    ]
    inside = (
        environment
        if tier == "none"
        else {**environment, "HOME": scratch, "TMPDIR": scratch, "PWD": root.path}
    )
    plan: dict[str, Any] = {
        "parent": os.getpid(),
        "argv": list(argv),
        "environment": inside,
        "fence": tier,
        # the launcher counts processes and says so; the kernel's limit, which a command meets as a fork that fails, is behind it
        "limits": LIMITS if os.getuid() == 0 else {**LIMITS, "NPROC": 2 * PROCESSES},
        "processes": PROCESSES,
        "memory": MEMORY,
        "seccomp": "" if tier == "none" else _filter(network, tier == "bubblewrap"),
    }
    notes: dict[str, Any] = {"sandbox": tier, "network": network} if network else {"sandbox": tier}
    if tier == "bubblewrap":
        plan["argv"], plan["compares"] = _bubblewrap(
            argv, root.path, scratch, inside, programs, seen, network
        )
    elif tier == "landlock":
        plan.update(_landlock(root.path, scratch, programs, seen))
        if plan["whole"]:
            notes["no new files in"] = [
                os.path.relpath(path, root.path) for path in plan.pop("whole")
            ]
    if lacking(tier, root.path):
        notes["lacking"] = list(lacking(tier, root.path))
    written = json.dumps(plan, separators=(",", ":"))
    if len(written) > _MOST_ARGUMENT:
        with open(os.path.join(scratch, ".fdc-plan"), "w", encoding="utf-8") as file:
            file.write(written)
        written = f"@{file.name}"
    return Fenced(python_process.plain(LAUNCHER, written), tier, notes, seen.made)


def chosen(allowed: Operator, root: str) -> Tier:
    """The strongest available and allowed tier for commands in a workspace. Raises ToolFailure (`sandbox`)."""
    tier = next(
        (one for one in allowed.tiers if offered(one) and (one != "none" or allowed.unsandboxed)),
        None,
    )
    if tier is None:
        said = "; ".join(f"{one}: {reason(one)}" for one in allowed.tiers if one != "none")
        raise ToolFailure(
            "sandbox",
            f"this machine has no sandbox for commands ({said}); {_remedy()}, or run commands "
            "without a sandbox with --allow-unsandboxed",
        )
    if lacking(tier) and not allowed.weak and not allowed.unsandboxed:
        raise ToolFailure(
            "sandbox",
            f"the sandbox of this machine ({tier}) is weaker than fdc requires: {'; '.join(lacking(tier))}; "
            f"{_remedy()}, or accept this sandbox with --allow-weak-sandbox",
        )
    if _spelled(tier, root) and not allowed.weak and not allowed.unsandboxed:
        raise ToolFailure(
            "sandbox",
            f"{'; '.join(_spelled(tier, root))}. Move the workspace to a file system of Linux (in WSL 2 below /home, in a "
            "container to a volume), or accept this with --allow-weak-sandbox",
        )
    return tier


def _remedy() -> str:
    """What makes bubblewrap work on this machine."""
    if bubblewrap() is None:
        return "install bubblewrap"
    return "let bubblewrap make user namespaces (docs/sandbox.md says how)"


def outlook(allowed: Operator, root: str) -> tuple[Literal["ok", "note", "bad"], str]:
    """The tier for commands in a workspace and for this operator, and a message about it."""
    try:
        tier = chosen(allowed, root)
    except ToolFailure as refusal:
        return "bad", f"commands will be refused: {refusal}"
    if tier == "none":
        return "note", "commands run with your rights: they are not sandboxed"
    if lacks := lacking(tier, root):
        return "note", f"commands run in a weak sandbox ({tier}): {'; '.join(lacks)}"
    if tier == "landlock" and not mounting():
        return (
            "note",
            "commands run in a sandbox (landlock); they can create files in existing folders only",
        )
    return "ok", f"commands run in a sandbox ({tier})"


def lacking(tier: Tier, root: str | None = None) -> tuple[str, ...]:
    """The promises of docs/sandbox.md that a tier does not keep on this machine, and in a workspace; empty if it keeps all."""
    found = () if root is None else _spelled(tier, root)
    if tier != "landlock" or not offered(tier):
        return found
    abi = landlock_abi()
    if abi < 5:
        found += ("commands can open and control devices that they may read (before Linux 6.10)",)
    if abi < 6:
        found += ("commands can signal other processes (before Linux 6.12)",)
    return found


def _spelled(tier: Tier, root: str) -> tuple[str, ...]:
    name = "" if tier == "none" else spelled_otherwise(root, tier)
    said = "commands reach files that are closed to them: the file system of the workspace"
    return (f"{said} takes `{name.swapcase()}` for `{name}`",) if name else ()


def _anywhere(grant: Grant) -> bool:
    """Whether a plan allows commands the network. Sandboxes cannot distinguish hosts, so it must allow all of them."""
    return any("".join(text for _, text in glob) in ("*", "**") for glob in grant.get("net", ()))


def offered(tier: Tier) -> bool:
    """True if this machine offers the tier."""
    return reason(tier) == ""


@functools.cache
def reason(tier: Tier) -> str:
    """Why this machine does not offer a tier; empty if it does. Tested once, by an attempt."""
    if tier == "none":
        return ""
    if not sys.platform.startswith("linux"):
        return "it requires Linux"
    if not seccomp.supported():
        return "fdc does not support this processor's system calls"
    if tier == "landlock":
        abi = landlock_abi()
        if abi < 3:
            return (
                f"the kernel's version {abi} is too old"
                if abi > 0
                else "the kernel does not support it"
            )
        return "" if mounting() else attempt("landlock")
    return "not installed" if bubblewrap() is None else attempt("bubblewrap")


def _bubblewrap(
    argv: Sequence[str],
    root: str,
    scratch: str,
    environment: dict[str, str],
    programs: Sequence[str],
    seen: views.View,
    network: bool,
) -> tuple[list[str], bool]:
    """The command line, and whether what it starts compares first what is mounted (`replaced`)."""
    made = [str(bubblewrap()), *NAMESPACES, *(["--share-net"] if network else []), "--clearenv"]
    for name, value in environment.items():
        made += ["--setenv", name, value]
    size = ["--size", str(MEMORY)] if sized() else []
    made += ["--tmpfs", "/", "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    made += [*size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", *size, "--tmpfs", "/tmp"]
    made += [
        "--dir",
        "/run",
        "--dir",
        "/var/tmp",
        *([] if seen.reads is None else ["--tmpfs", root]),
    ]
    for path in programs:
        if os.path.islink(path):
            made += ["--symlink", os.readlink(path), path]
        else:
            made += ["--ro-bind-try", path, path]
    rows = views.mounts(seen)
    bound = [*(seen.reads or ()), *(path for path, how in rows if how in ("open", "kept"))]
    there = replaced.identities(root, bound)
    wanted = {path: said for path, said in there.items() if said}
    for path in [root] if seen.reads is None else seen.reads:
        made += ["--ro-bind", path, path] if path == root or path in there else []
    for path, how in rows:
        if how in ("open", "kept") and path not in there:
            continue  # it is gone, or a link is in its place
        if how == "hidden" and os.path.isdir(path):
            made += ["--tmpfs", path, "--remount-ro", path]
        elif how == "nothing":
            made += ["--ro-bind-try", nothing(scratch), path]
        else:
            made += ["--bind-try" if how == "open" else "--ro-bind-try", path, path]
    made += [] if seen.reads is None or root in seen.write else ["--remount-ro", root]
    if len(made) > _MOST_WORDS:
        said = "the workspace has more protected files, or files with secrets, than bubblewrap can mount"
        raise ToolFailure("sandbox", f"{said}: {len(rows)} files and folders")
    made += [
        "--bind",
        scratch,
        scratch,
        "--chdir",
        root,
        "--remount-ro",
        "/",
        "--seccomp",
        "FILTER",
        "--",
        *(replaced.compared(argv, root, wanted, scratch) if wanted else argv),
    ]
    return made, bool(wanted)


def _landlock(root: str, scratch: str, programs: Sequence[str], seen: views.View) -> dict[str, Any]:
    """What the launcher needs beside: mounts where it may make some, else the entries of folders one by one.

    `whole`: folders of which the command gets what is in them, and can make nothing new there.
    """
    reads = [root] if seen.reads is None else seen.reads
    write, rows = seen.write, views.mounts(seen)
    whole: list[str] = []
    lists: list[str] = []
    real = os.path.realpath(root)
    if not mounting():
        rows = []
        closed = [*seen.kept, *seen.hidden]
        write = [
            path
            for folder in seen.write
            for path in views.without(folder, [one for one in closed if one != folder])
        ]
        whole = [folder for folder in seen.write if folder not in write]
        shown = [path for one in reads for path in views.without(one, seen.hidden)]
        reads, lists = shown, [one for one in reads if one not in shown]
    return {
        "root": root,
        "mounts": rows,
        "nothing": nothing(scratch) if any(how == "nothing" for _, how in rows) else "",
        "read": [*_KERNEL, *programs],
        "devices": [*_DEVICES, scratch],
        "lists": [os.path.relpath(path, root) for path in lists],
        "reads": [os.path.relpath(path, root) for path in reads],
        "writes": [os.path.relpath(path, root) for path in write],
        "write": [os.path.realpath(scratch), *(real + path[len(root) :] for path in write)],
        "closed": [os.path.realpath(path) for path in (*seen.kept, *seen.hidden)],
        "asked": seccomp.asked(),
        "whole": whole,
    }


def nothing(scratch: str) -> str:
    """An unreadable empty file, to mount over a file that a command must not see."""
    path = os.path.join(scratch, ".fdc-nothing")
    if not os.path.lexists(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0))
    return path


@functools.lru_cache(maxsize=4)
def _filter(network: bool, namespaces: bool) -> str:
    return seccomp.program(network, namespaces).hex()
