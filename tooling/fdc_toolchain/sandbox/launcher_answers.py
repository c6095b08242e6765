"""Decides for the system-call filter of a command whether to change a file's mode, owner or times.

Landlock does not judge these, and a filter of system calls cannot read paths. So the kernel stops the command and asks
the process that watches it, which opens the file once, judges what it has opened, and makes the change itself. Part of
the program `sandbox_launcher.py`: standard library only, and nothing of fdc's.
"""

import ctypes
import fcntl
import os
import stat
import struct

_RECEIVE, _SEND, _STILL = 0xC0502100, 0xC0182101, 0x40082102
_HERE, _NO_FOLLOW, _OF_HANDLE = -100, 0x100, 0x1000
_LEFT, _EPERM, _EINVAL, _ENOENT = 0xFFFFFFFF, 1, 22, 2

_libc = ctypes.CDLL(None, use_errno=True)


def answer(listener: int, names: dict, write: list, closed: list) -> None:
    """Answers for ever. `names`: of system calls, by number; `write`: paths that the command may write; `closed`: of those, what
    it may not."""
    while True:
        asked = bytearray(80)
        try:
            fcntl.ioctl(listener, _RECEIVE, asked, True)
        except FileNotFoundError:
            continue  # the caller is gone
        except InterruptedError:
            continue
        number, pid, _, call, _, _, *args = struct.unpack("=QIIiIQ6Q", asked)
        try:
            wrong = _done(
                names[call], pid, args, write, closed, (listener, struct.pack("=Q", number))
            )
        except OSError as failed:
            wrong = failed.errno or _EPERM
        except Exception:
            wrong = _EPERM
        try:
            fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", number, 0, -wrong, 0))
        except OSError:
            continue


def _done(name: str, pid: int, args: list, write: list, closed: list, asking: tuple) -> int:
    """Does what a process of the command asks, to a file that it may write. Returns an error's number, or 0. Raises OSError.

    `asking`: the listener, and the number of what was asked. The file is opened once; what is judged and what is changed is
    that one, whatever its name leads to meanwhile.
    """
    folder, place, rest, flags = _HERE, args[0], args[1:], 0
    if name in ("fchmodat", "fchmodat2", "fchownat", "futimesat", "utimensat"):
        folder, place, rest = _signed(args[0]), args[1], args[2:]
    if name in ("fchmodat2", "utimensat", "fchownat"):
        flags = rest[2] if name == "fchownat" else rest[1]
        if flags & ~(_NO_FOLLOW | _OF_HANDLE):
            return _EINVAL
    follow = name != "lchown" and not flags & _NO_FOLLOW
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        path = b"" if name in ("fchmod", "fchown") or not place else _text(memory, place)
        times = _times(name, memory, rest[0]) if name.startswith(("utime", "futimes")) else None
    finally:
        os.close(memory)
    if name in ("fchmod", "fchown"):
        folder = _signed(args[0])
    elif not path and place and not flags & _OF_HANDLE:
        return _ENOENT
    handle = _opened(pid, folder, path, follow)
    try:
        fcntl.ioctl(asking[0], _STILL, asking[1])  # else `pid` may be another process by now
        real = os.readlink(f"/proc/self/fd/{handle}")
        found = os.fstat(handle)
        if not _inside(real, write) or _inside(real, closed) or found.st_uid != os.geteuid():
            return _EPERM
        if "chmod" in name:
            mode = rest[0] & 0o7777
            if mode & 0o6000 and not stat.S_ISDIR(found.st_mode):
                return _EPERM
            os.chmod(f"/proc/self/fd/{handle}", mode)
            return 0
        if "chown" in name:
            same = all(
                one & _LEFT in (_LEFT, is_now)
                for one, is_now in ((rest[0], found.st_uid), (rest[1], found.st_gid))
            )
            return 0 if same else _EPERM
        done = _libc.utimensat(handle, b"", times, _OF_HANDLE)
        return 0 if done == 0 else ctypes.get_errno()
    finally:
        os.close(handle)


def _signed(argument: int) -> int:
    return struct.unpack("=i", struct.pack("=I", argument & _LEFT))[0]


def _opened(pid: int, folder: int, path: bytes, follow: bool) -> int:
    """A handle of a file that the process `pid` names, used only for the check and the change."""
    how = os.O_PATH | os.O_CLOEXEC
    for own in (b"/proc/self/", b"/proc/thread-self/"):
        if path.startswith(own):
            path = b"/proc/%d/" % pid + path[len(own) :]
    at = f"/proc/{pid}/cwd" if folder == _HERE else f"/proc/{pid}/fd/{folder}"
    if not path:
        return os.open(at, how)
    if path.startswith(b"/"):
        return os.open(path, how if follow else how | os.O_NOFOLLOW)
    above = os.open(at, how)
    try:
        return os.open(path, how if follow else how | os.O_NOFOLLOW, dir_fd=above)
    finally:
        os.close(above)


def _text(memory: int, place: int) -> bytes:
    found = b""
    while b"\0" not in found and len(found) <= 4096:
        step = 4096 - (place + len(found)) % 4096
        piece = os.pread(memory, step, place + len(found))
        if not piece:
            raise OSError(14, "bad address")
        found += piece
    if b"\0" not in found:
        raise OSError(36, "name too long")
    return found.partition(b"\0")[0]


def _times(name: str, memory: int, place: int) -> bytes | None:
    """Two times for `utimensat`; None: the current time."""
    if not place:
        return None
    if name == "utime":
        first, second = struct.unpack("=qq", os.pread(memory, 16, place))
        return struct.pack("=qqqq", first, 0, second, 0)
    found = os.pread(memory, 32, place)
    if name == "utimensat":
        return found
    first, micro, second, more = struct.unpack("=qqqq", found)
    return struct.pack("=qqqq", first, micro * 1000, second, more * 1000)


def _inside(path: str, folders: list) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
