"""Fences shell steps in: a ladder of tiers, the strongest that this machine offers, or none at all (security: G-SBX).

    bubblewrap   namespaces of its own for files, processes, network, users; a system-call filter
    landlock     the kernel's Landlock for files, the filter for sockets and the rest
    none         an ordinary process with a clean environment and limits

`none` is only taken where the operator says so (`--allow-unsandboxed`, or FDC_ALLOW_UNSANDBOXED=1);
no plan and no file of the workspace can. Where no tier is left, the command is not run.

What a command may touch in the upper two: the system's programs and its own scratch folder, the
workspace to read, and of it to write what the plans' `allow write` name (`effects.writable`); all
of it where no plan on the stack has such a line. Never fdc's own files, nor git's hooks and
settings. Network where the plans allow it (`allow net *`) and the operator too (`--allow-network`,
or FDC_ALLOW_NETWORK=1).
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engine.events import Grant
from . import seccomp
from .failure import ToolFailure
from .operator import OPERATOR, Operator, Tier
from .writable import writable

LIMITS = {"CORE": 0, "FSIZE": 2 << 30, "NOFILE": 4096, "DATA": 8 << 30}
"""Resource limits of each process: bytes of a core dump, of a file, open files, bytes of memory that it writes."""

PROCESSES = 512
"""Processes that a command may have at once."""

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ssl", "/etc/ca-certificates",
    "/etc/pki", "/etc/crypto-policies", "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/services", "/etc/protocols", "/etc/mime.types",
    "/etc/gitconfig", "/etc/magic", "/etc/os-release", "/etc/debian_version", "/etc/python3", "/etc/perl", "/etc/terminfo",
    "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/inputrc", "/etc/bash.bashrc", "/etc/profile", "/etc/locale.alias",
)  # fmt: skip
"""What programs need of the system, to read; no secrets lie there."""

_KERNEL = ("/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_GIT = (".git/hooks", ".git/config")
_LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "confine.py")


class Fenced(NamedTuple):
    """A command ready to be started: `argv` misses the status descriptor, which comes last.

    `made`: files that were made for it to write; `writable.withdraw` takes back what it left empty."""

    argv: list[str]
    tier: Tier
    notes: dict[str, Any]
    made: Sequence[str] = ()


def fence(
    argv: Sequence[str],
    *,
    root: str,
    scratch: str,
    environment: dict[str, str],
    grants: Sequence[Grant] = (),
    operator: Operator | None = None,
    protected: Sequence[str] = (),
    writes: bool = True,
) -> Fenced:
    """How to start `argv` in the workspace `root`. `scratch`: an empty folder, its home and temporary folder.

    `protected`: more paths in the workspace that it must not change. `writes` false: none of it.
    Raises ToolFailure (`sandbox`) where no tier that is allowed is offered here.
    """
    allowed = operator or OPERATOR
    tier = next((one for one in allowed.tiers if offered(one) and (one != "none" or allowed.unsandboxed)), None)
    if tier is None:
        said = "; ".join(f"{one}: {reason(one)}" for one in allowed.tiers if one != "none")
        raise ToolFailure(
            "sandbox",
            f"no sandbox for commands is to be had here ({said}); install bubblewrap, or let commands run "
            "without one by --allow-unsandboxed",
        )
    network = allowed.network and all(_anywhere(grant) for grant in grants)
    never = (".fdc", *protected, *_GIT)
    kept = [os.path.join(root, name) for name in never if os.path.exists(os.path.join(root, name))]
    try:
        paths, made = writable(root, grants, never) if writes and tier != "none" else ([], [])
    except OSError as failed:
        raise ToolFailure("sandbox", f"what the plans allow a command to write cannot be made: {failed}") from failed
    programs = _programs(environment)
    inside = environment if tier == "none" else {**environment, "HOME": scratch, "TMPDIR": scratch, "PWD": root}
    plan: dict[str, Any] = {
        "parent": os.getpid(),
        "argv": list(argv),
        "environment": inside,
        "fence": tier,
        "limits": LIMITS if os.getuid() == 0 else {**LIMITS, "NPROC": PROCESSES},
        "processes": PROCESSES,
        "seccomp": "" if tier == "none" else _filter(sockets=network or tier == "bubblewrap"),
        "protect": kept,
        "read": [*SYSTEM, *_KERNEL, *programs, root],
        "write": [*_DEVICES, scratch, *paths],
    }
    if tier == "bubblewrap":
        plan["argv"] = _bubblewrap(argv, root, scratch, inside, programs, paths, kept, network)
    notes = {"sandbox": tier, "network": network} if network else {"sandbox": tier}
    return Fenced([sys.executable, "-I", "-S", _LAUNCHER, json.dumps(plan, separators=(",", ":"))], tier, notes, made)


def _anywhere(grant: Grant) -> bool:
    """Whether a plan lets commands out: no sandbox can tell one host from another, so it has to allow all of them."""
    return any("".join(text for _, text in glob) in ("*", "**") for glob in grant.get("net", ()))


def offered(tier: Tier) -> bool:
    """True where this machine can fence commands in so."""
    return reason(tier) == ""


@functools.cache
def reason(tier: Tier) -> str:
    """Why this machine does not offer a tier; empty where it does. Found out by trying, once."""
    if tier == "none":
        return ""
    if not sys.platform.startswith("linux"):
        return "only Linux has it"
    if not seccomp.supported():
        return "this processor's system calls are not known"
    if tier == "landlock":
        abi = landlock_abi()
        return "" if abi >= 3 else "the kernel does not offer it" if abi <= 0 else f"the kernel's version {abi} is too old"
    program = shutil.which("bwrap")
    if program is None:
        return "not installed"
    tried = subprocess.run(
        [program, *_NAMESPACES, "--ro-bind", "/", "/", "true"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False, env={},
    )  # fmt: skip
    return "" if tried.returncode == 0 else "it may not make namespaces here"


def landlock_abi() -> int:
    """The version of Landlock that the kernel speaks; 0 or less where it has none."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(444, None, ctypes.c_size_t(0), 1))


_NAMESPACES = ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL")


def _bubblewrap(
    argv: Sequence[str],
    root: str,
    scratch: str,
    environment: dict[str, str],
    programs: Sequence[str],
    writable: Sequence[str],
    kept: Sequence[str],
    network: bool,
) -> list[str]:
    made = ["bwrap", *_NAMESPACES, *(["--share-net"] if network else []), "--clearenv"]
    for name, value in environment.items():
        made += ["--setenv", name, value]
    made += ["--tmpfs", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/var/tmp"]
    for path in (*SYSTEM, *programs):
        if os.path.islink(path):
            made += ["--symlink", os.readlink(path), path]
        else:
            made += ["--ro-bind-try", path, path]
    made += ["--ro-bind", root, root]
    for path in writable:
        made += ["--bind-try", path, path]
    for path in kept:
        made += ["--ro-bind-try", path, path]
    made += ["--bind", scratch, scratch, "--chdir", root, "--remount-ro", "/", "--seccomp", "FILTER", "--", *argv]
    return made


@functools.lru_cache(maxsize=4)
def _filter(sockets: bool) -> str:
    return seccomp.program(sockets).hex()


def _programs(environment: dict[str, str]) -> list[str]:
    """Where else programs lie: what PATH names, and the Python that runs fdc; never a home folder itself."""
    home = os.path.realpath(os.path.expanduser("~"))
    found: dict[str, None] = {}
    for entry in (sys.prefix, sys.base_prefix, environment.get("VIRTUAL_ENV", "")):
        if entry:
            found[os.path.realpath(entry)] = None
    for entry in environment.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(entry) or not os.path.isdir(entry):
            continue
        real = os.path.realpath(entry)
        above, name = os.path.split(real)
        whole = name in ("bin", "sbin", "shims") and above not in ("/", home, os.path.join(home, ".local"))
        found[above if whole else real] = None
    homes = {home, "/", "/root", "/home", os.path.dirname(home)}
    inside = tuple(f"{folder}/" for folder in SYSTEM)
    return [path for path in found if path not in homes and not f"{path}/".startswith(inside)]
