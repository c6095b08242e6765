"""Restrictions of a command under Landlock: own mounts, capabilities, files, system calls.

Part of the program `sandbox_launcher.py`, in the process that becomes the command: standard library only, and nothing of
fdc's.
"""

import _socket
import contextlib
import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator

_CAPBSET_DROP = 24
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_OPENAT2, _IN_ROOT = 437, 0x08 | 0x04  # beneath the folder, and through no symbolic link
_FOR_FILES = 1 | 2 | 4 | 1 << 14 | 1 << 15  # execute, write, read, truncate, control a device
_READ = 1 | 4 | 8  # execute, read a file, read a folder
_LIST = 8
_ALL_FILE = (1 << 13) - 1
_BY_ABI = {
    1: _ALL_FILE,
    2: _ALL_FILE | 1 << 13,
    3: _ALL_FILE | 1 << 13 | 1 << 14,
    5: _ALL_FILE | 1 << 13 | 1 << 14 | 1 << 15,
}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Refused(Exception):
    """The machine does not support what the sandbox needs."""


def mount(rows: list, nothing: str, top: str) -> None:
    """Gives the command a view of files of its own: `[path, how]`, `open` and `kept` folders and files, `hidden` folders.

    Over a file with `nothing` the file of that name is laid, which no one may read. The paths are in the folder `top`, and
    followed through no link: another command may put one there at any moment.
    """
    if not rows:
        return
    private, bind, empty = 0x40000 | 0x4000, 0x1000 | 0x4000, 0x1 | 0x2 | 0x4 | 0x8
    remount = 0x1000 | 0x20 | 0x1
    if _libc.unshare(0x00020000) != 0:
        raise Refused(f"unshare: {os.strerror(ctypes.get_errno())}")
    _mounted(None, "/", None, private)
    shut: list[str] = []
    for path, how in rows:
        with _place(top, path) as place:
            if how == "hidden" and os.path.isdir(place):
                _mounted("none", place, "tmpfs", empty)
                continue
            _mounted(nothing if how == "nothing" else place, place, None, bind)
        if how == "kept":
            shut.append(path + "/")
        elif how != "nothing" and not path.startswith(tuple(shut)):
            continue
        with _place(top, path) as place:  # what is mounted there now
            # `open` took after the mount that it lies below
            _mounted(None, place, None, remount if how != "open" else remount & ~0x1)


@contextlib.contextmanager
def _place(top: str, path: str) -> Iterator[str]:
    """A name for what lies at a path in a folder, which stays its name whatever is put there."""
    root = os.open(
        top, os.O_PATH | os.O_CLOEXEC
    )  # anew each time: below what was mounted, the old one is
    handle = _beneath(root, os.path.relpath(path, top))
    os.close(root)
    if handle < 0:
        raise Refused(f"{path}: it is gone, or a link is in its place")
    try:
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)


def _mounted(what: str | None, where: str, kind: str | None, flags: int) -> None:
    words = [None if word is None else os.fsencode(word) for word in (what, where, kind)]
    if _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), None) != 0:
        raise Refused(f"mount {where}: {os.strerror(ctypes.get_errno())}")


def drop_capabilities() -> None:
    """Removes all capabilities of a command of root, also for programs that it starts."""
    for number in range(64):
        if _libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    if _libc.capset(ctypes.byref(header), ctypes.byref(none)) != 0:
        raise Refused(f"capset: {os.strerror(ctypes.get_errno())}")


def landlock(plan: dict) -> None:
    """Leaves the command `read` and `write`, paths wherever they lead, and `inside`: paths below the root, through no link."""
    abi = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if abi < 3:
        raise Refused("the kernel's Landlock is too old")
    handled = next(_BY_ABI[known] for known in sorted(_BY_ABI, reverse=True) if known <= abi)
    scoped = 0b11 if abi >= 6 else 0
    attributes = (ctypes.c_uint64 * 3)(handled, 0, scoped)  # sockets are the filter's business
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = _libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    if rules < 0:
        raise Refused(f"landlock: {os.strerror(ctypes.get_errno())}")
    for paths, rights in ((plan["read"], _READ), (plan["devices"], handled)):
        for path in paths:
            try:
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what is not there needs no permission
            _allow(rules, handle, path, rights & handled)
    root = os.open(plan["root"], os.O_PATH | os.O_CLOEXEC)
    for paths, rights in (
        (plan["lists"], _LIST),
        (plan["reads"], _READ),
        (plan["writes"], handled),
    ):
        for path in paths:
            handle = _beneath(root, path)
            if handle >= 0:
                _allow(rules, handle, path, rights & handled)
    os.close(root)
    if _libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
        raise Refused(f"landlock: {os.strerror(ctypes.get_errno())}")
    os.close(rules)


def _beneath(root: int, path: str) -> int:
    """A handle of a path below the root; -1 if it goes through a link or does not exist any more."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _IN_ROOT)
    found = int(
        _libc.syscall(_OPENAT2, root, os.fsencode(path or "."), how, ctypes.c_size_t(len(how)))
    )
    if found < 0 and ctypes.get_errno() in (errno.ENOSYS, errno.EPERM):
        raise Refused(f"openat2: {os.strerror(ctypes.get_errno())}")
    return found


def _allow(rules: int, handle: int, path: str, rights: int) -> None:
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _FOR_FILES
        rule = ctypes.create_string_buffer(
            rights.to_bytes(8, sys.byteorder) + handle.to_bytes(4, sys.byteorder), 12
        )
        if _libc.syscall(_ADD_RULE, rules, 1, ctypes.byref(rule), 0) != 0:
            raise Refused(f"landlock: {path}: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(handle)


def install_filter(program: bytes, theirs: _socket.socket) -> None:
    """Installs the filter and passes its listener to the monitoring process."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    filled = Program(len(program) // 8, program)
    listener = _libc.syscall(_SECCOMP[os.uname().machine], 1, 8, ctypes.byref(filled))
    if listener < 0:
        raise Refused(f"seccomp: {os.strerror(ctypes.get_errno())}")
    theirs.sendmsg([b"x"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", listener))])
    theirs.close()
    os.close(listener)
