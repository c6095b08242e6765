"""Builds the system-call filter of shell steps: a classic BPF program, as bytes (security: G-SBX).

What is refused: new namespaces and mounts, other processes' memory, the kernel's keys, modules, clocks
and tracing, io_uring (which would go around the filter), typing into a terminal, files that run as
their owner (setuid) or are made to run as their group (setgid), and, where no network namespace can do
it, sockets. Where no other namespace exists either: limits and scheduling of other processes, and
memory, semaphores and queues that they could share; changes of a file's mode, owner and times are put
before the process that watches the command (`confine`), since Landlock does not judge them. Everything
else is allowed: a command is an ordinary program, and what it may touch is the file system policy's
business.
"""

from __future__ import annotations

import errno
import platform
import struct

_ARCHES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32 = 0x40000000

# name: number on x86_64, number on aarch64 (None: the architecture has no such call)
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "open_by_handle_at": (304, 265),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "syslog": (103, 116),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "iopl": (172, None), "ioperm": (173, None), "vhangup": (153, 58), "quotactl_fd": (443, 443), "file_setattr": (469, 469),
}  # fmt: skip

# Without namespaces of its own, a command shares these with every process of its user.
_SHARED: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "migrate_pages": (256, 238), "move_pages": (279, 239),
}  # fmt: skip

# Allowed for the caller itself only, which these calls name by 0.
_OWN: dict[str, tuple[int | None, int | None]] = {
    "prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}  # fmt: skip
_PRIORITY = {"setpriority": (141, 140), "ioprio_set": (251, 30)}
_OF_USER = {"setpriority": 2, "ioprio_set": 3}
"""The flag that sets the priority of all processes of a user."""

# No file of ours has these: programs go on without where the answer is that there are none.
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
}  # fmt: skip

# Memory that no process holds, and that is counted nowhere: programs use files instead where there is none.
_UNCOUNTED: dict[str, tuple[int | None, int | None]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
_MOST_SEGMENT = 1 << 20
"""Bytes of a piece of shared memory of System V, of which the kernel allows 4,096: that is counted nowhere either."""

# Asked of the process that watches the command; `confine` reads them by these names.
_ASKED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
_SETUID = 0o4000
"""The bit of a file's mode with which anybody runs it as its owner. Nothing that a command writes may have it."""
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}
"""The argument with the new mode."""

_RUN_AS = 0o6000
"""The bits of a new file's mode with which others run it as its owner or group: only a change gives it these afterwards."""
_MAKES = 0o20000100
"""O_CREAT and O_TMPFILE: without them the mode that stands there counts for nothing."""
_OPENS = {"open": ((2, None), 1), "openat": ((257, 56), 2)}
"""With the argument of the flags, which the mode follows."""
_NEW = {"creat": ((85, None), 1), "mknod": ((133, None), 1), "mknodat": ((259, 33), 2)}
_OPENAT2 = (437, 437)
"""It keeps flags and mode in memory, where no filter can look: programs that know of it go on with `openat`."""

_SOCKET, _CLONE, _CLONE3, _IOCTL, _SHMGET = (41, 198), (56, 220), (435, 435), (16, 29), (29, 194)
_SOCKETPAIR = (53, 199)

_NAMESPACES = 0x7E020080
"""CLONE_NEW*: time, mount, cgroup, UTS, IPC, user, PID, network."""

_CONTROLS = (0x5412, 0x541C, 0x40086602, 0x40046602, 0x401C5820)
"""TIOCSTI and TIOCLINUX: putting characters into the controlling terminal's input; then changes of a file's flags."""

_FAMILIES = (2, 10, 16)
"""AF_INET, AF_INET6, AF_NETLINK: what ordinary programs need of a network."""
_LOCAL = 1
"""AF_UNIX. With the machine's network it reaches programs that run outside, which do what they are told: refused then."""

_LETTERS = 2
"""The bit of SOCK_DGRAM and SOCK_RAW: one of a pair of such sockets can send to any other local one, too."""

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL = 0x80000000
_NOTIFY = 0x7FC00000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH = 0, 4


def supported() -> bool:
    """True if fdc knows this machine's system calls."""
    return platform.machine() in _ARCHES


def asked() -> dict[int, str]:
    """The system calls of this machine that a filter without `namespaces` asks about: number to name."""
    column = _ARCHES[platform.machine()][1]
    return {
        number: name for name, numbers in _ASKED.items() if (number := numbers[column]) is not None
    }


def program(network: bool, namespaces: bool) -> bytes:
    """The filter for this machine; `network`: the command has the machine's. Raises KeyError where it is not known.

    `namespaces`: the command has namespaces of its own for processes and files. Without them the filter needs a listener.
    """
    arch, column = _ARCHES[platform.machine()]
    refuse = [_instruction(_RETURN, _ERRNO | errno.EPERM)]
    absent = [_instruction(_RETURN, _ERRNO | errno.ENOSYS)]
    allow = [_instruction(_RETURN, _ALLOW)]
    code = [
        _instruction(_LOAD, _ARCH),
        _instruction(_EQUAL, arch, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NR),
    ]
    if column == 0:
        code += _when(_AT_LEAST, _X32, refuse)
    code += _each(_REFUSED, column, refuse)
    code += _each({**_UNCOUNTED, "openat2": _OPENAT2}, column, absent)
    for name, (numbers, mode) in _NEW.items():
        code += _each({name: numbers}, column, [*_with_mode(mode, refuse), *allow])
    for name, (numbers, flags) in _OPENS.items():
        new = _when(_ANY_BIT, _MAKES, _with_mode(flags + 1, refuse))
        code += _each({name: numbers}, column, [_argument(flags), *new, *allow])
    if namespaces:
        large = [_argument(1, high=True), *_when(_AT_LEAST, 1, refuse)]
        large += [_argument(1), *_when(_AT_LEAST, _MOST_SEGMENT + 1, refuse), *allow]
        code += _when(_EQUAL, _SHMGET[column], large)
        for name, argument in _MODES.items():
            run_as = [_argument(argument), *_when(_ANY_BIT, _SETUID, refuse), *allow]
            code += _each({name: _ASKED[name]}, column, run_as)
    if not namespaces:
        code += _each(_SHARED, column, refuse)
        code += _each(_ATTRIBUTES, column, [_instruction(_RETURN, _ERRNO | errno.ENOTSUP)])
        code += _each(_ASKED, column, [_instruction(_RETURN, _NOTIFY)])
        own = [_argument(0), *_when(_EQUAL, 0, allow), *refuse]
        code += _each(_OWN, column, own)
        for name, numbers in _PRIORITY.items():
            mine = [
                _argument(0),
                *_when(_EQUAL, _OF_USER[name], refuse),
                _argument(1),
                *_when(_EQUAL, 0, allow),
                *refuse,
            ]
            code += _when(_EQUAL, numbers[column], mine)
    # clone3 keeps its flags in memory, where no filter can look: libraries then fall back to clone.
    code += _when(_EQUAL, _CLONE3[column], absent)
    code += _when(
        _EQUAL, _CLONE[column], [_argument(0), *_when(_ANY_BIT, _NAMESPACES, refuse), *allow]
    )
    controls = [step for request in _CONTROLS for step in _when(_EQUAL, request, refuse)]
    code += _when(_EQUAL, _IOCTL[column], [_argument(1), *controls, *allow])
    known = _FAMILIES if network else (_LOCAL, *_FAMILIES) if namespaces else ()
    if _LOCAL not in known:
        pair = [_argument(1), *_when(_ANY_BIT, _LETTERS, refuse), *allow]
        code += _when(
            _EQUAL, _SOCKETPAIR[column], [_argument(0), *_when(_EQUAL, _LOCAL, pair), *refuse]
        )
    families = [step for family in known for step in _when(_EQUAL, family, allow)]
    code += _when(_EQUAL, _SOCKET[column], [_argument(0), *families, *refuse])
    code += allow
    return b"".join(code)


def _with_mode(argument: int, then: list[bytes]) -> list[bytes]:
    """The instructions `then` where a new file would have a bit of `_RUN_AS`."""
    return [_argument(argument), *_when(_ANY_BIT, _RUN_AS, then)]


def _each(
    calls: dict[str, tuple[int | None, int | None]], column: int, then: list[bytes]
) -> list[bytes]:
    numbers = [numbers[column] for numbers in calls.values()]
    return [
        step for number in numbers if number is not None for step in _when(_EQUAL, number, then)
    ]


def _instruction(code: int, k: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, k)


def _when(test: int, k: int, then: list[bytes]) -> list[bytes]:
    """The instructions `then` where the accumulator passes the test; they must return or fall through unharmed."""
    return [_instruction(test, k, 0, len(then)), *then]


def _argument(number: int, *, high: bool = False) -> bytes:
    """Loads half of an argument of the call, the low one (little-endian machines only, which both known ones are)."""
    return _instruction(_LOAD, 16 + 8 * number + (4 if high else 0))
