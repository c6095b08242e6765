"""Starts a program on a kernel that has less: `python lesser_kernel.py WHAT ARGV...`; the system calls are really refused.

`WHAT` is the name of what is missing, or `landlock=N`: a Landlock of version N, where this process (a tracer) answers the call
that makes a set of rules as that kernel would. Linux on x86_64 only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import sys

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE, TRACE = 0x7FFF0000, 0x50000, 0x7FF00000
CREATE_RULESET, RESTRICT, OPENAT2, SECCOMP, PRCTL, UNSHARE = 444, 446, 437, 317, 157, 272
HANDLED = {3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""The rights to files that each version knows."""

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def step(code: int, k: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, k)


def refuse(call: int, error: int) -> bytes:
    return step(EQUAL, call, 0, 1) + step(RETURN, REFUSE | error)


def refuse_flag(call: int, argument: int, test: int, value: int, error: int) -> bytes:
    """The call is refused where an argument has the value or flag; leaves another word loaded."""
    inner = step(LOAD, 16 + 8 * argument) + step(test, value, 0, 1) + step(RETURN, REFUSE | error)
    return step(EQUAL, call, 0, 3) + inner + step(LOAD, 0)


MISSING = {
    "landlock": refuse(CREATE_RULESET, errno.ENOSYS),
    "landlock_restrict": refuse(RESTRICT, errno.E2BIG),
    "openat2": refuse(OPENAT2, errno.ENOSYS),
    "mounts": refuse(UNSHARE, errno.EPERM),
    "listener": refuse_flag(SECCOMP, 1, ANY_BIT, 8, errno.EBUSY),
    "seccomp": refuse(SECCOMP, errno.ENOSYS) + refuse_flag(PRCTL, 0, EQUAL, 22, errno.EINVAL),
}


def take_away(code: bytes) -> None:
    """Installs a filter on this process and all that it starts."""
    whole = step(LOAD, 0) + code + step(RETURN, ALLOW)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    program = Program(len(whole) // 8, whole)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter can be installed here")


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
    ).split()]  # fmt: skip


def older(version: int, argv: list[str]) -> int:
    """Runs a program as on a kernel with that version of Landlock; its exit code."""
    child = os.fork()
    if child == 0:
        libc.ptrace(0, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        take_away(step(EQUAL, CREATE_RULESET, 0, 1) + step(RETURN, TRACE))
        os.execv(argv[0], argv)
    os.waitpid(child, 0)
    libc.ptrace(0x4200, child, None, 0x10009E)  # ends with me; filters, all that it starts
    libc.ptrace(7, child, None, None)
    known = {child}
    while True:
        pid, status = os.waitpid(-1, 0x40000000)
        if not os.WIFSTOPPED(status):
            if pid == child:
                return os.waitstatus_to_exitcode(status)
            continue
        number, event = os.WSTOPSIG(status), status >> 16
        if event == 7:
            _answer(pid, version)
        new = pid not in known
        known.add(pid)
        passed = 0 if event or (new and number == signal.SIGSTOP) else number
        libc.ptrace(7, pid, None, passed)


def _answer(pid: int, version: int) -> None:
    found = Registers()
    libc.ptrace(12, pid, None, ctypes.byref(found))
    if found.rdx == 1:
        said = version
    elif found.rsi > (16 if version >= 4 else 8):
        said = -errno.E2BIG
    elif libc.ptrace(1, pid, found.rdi, None) & ~HANDLED[version]:
        said = -errno.EINVAL
    else:
        return
    found.orig_rax, found.rax = 2**64 - 1, said % 2**64
    libc.ptrace(13, pid, None, ctypes.byref(found))


if __name__ == "__main__":
    what, _, number = sys.argv[1].partition("=")
    if number:
        sys.exit(older(int(number), sys.argv[2:]))
    take_away(MISSING[what])
    os.execv(sys.argv[2], sys.argv[2:])
