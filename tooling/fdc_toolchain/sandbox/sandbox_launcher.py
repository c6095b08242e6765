"""Starts one command fenced in, and outlives it: a program of its own, not a module of fdc's.

    python -I -S confine.py JSON STATUS_FD          (or @FILE, which is read and deleted)

`JSON` says what to run and how (`fence` in sandbox.py writes it). Three processes. The first one is
the guard: it waits. The second one watches: it adopts every process that the command leaves behind,
counts them, answers what the system-call filter asks, and ends them all when the command has ended,
when it is told to, or when fdc is gone, however it went. If the second one dies, the guard ends what
is left. The third one gives up what the command must not have, then becomes the command. If any of
that cannot be done, nothing is run. One JSON line on STATUS_FD says how it went.

Standard library only, and nothing of fdc's: it runs without a path to import from.
"""

import _socket
import ctypes
import json
import os
import resource
import signal
import stat
import struct
import sys
import time

_PDEATHSIG, _NO_NEW_PRIVS, _CHILD_SUBREAPER, _CAPBSET_DROP = 1, 38, 36, 24
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
_TICK = 0.05
_POLITE = 1.0
_LOOK = 0.2  # seconds between looks at the memory
_WAITED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Refused(Exception):
    """The machine does not do what the fence needs."""


def main() -> int:
    plan = _plan(sys.argv[1])
    status = int(sys.argv[2])
    _prctl(_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != plan["parent"]:
        return 143  # fdc was gone before it could be noticed
    _prctl(_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
    heard, tell = os.pipe2(os.O_CLOEXEC)
    guard = os.getpid()
    watching = os.fork()
    if watching == 0:
        os.close(heard)
        os.close(status)
        os._exit(_watcher(plan, tell, guard))
    os.close(tell)
    _guard(watching)
    told = os.read(heard, 65536)
    said: dict = (
        json.loads(told) if told else {"lost": "the process that watches a command was killed"}
    )
    os.write(status, json.dumps(said).encode() + b"\n")
    return int(said.get("code", 125))


def _plan(given: str) -> dict:
    if not given.startswith("@"):
        return json.loads(given)
    with open(given[1:], encoding="utf-8") as file:
        text = file.read()
    os.unlink(given[1:])
    return json.loads(text)


def _guard(watching: int) -> None:
    """Waits for the process that watches, hands it what it is told, and ends what it may have left."""
    ended = None
    while ended is None:
        heard = signal.sigtimedwait(_WAITED, 1.0)
        if heard is not None and heard.si_signo != signal.SIGCHLD:
            try:
                os.kill(watching, signal.SIGTERM)
            except OSError:
                pass
        ended = _reap(watching)
    _end(watching)


def _watcher(plan: dict, tell: int, guard: int) -> int:
    """Starts the command and watches it. Writes what became of it on `tell`: only a JSON object, once all has ended."""
    os.setsid()
    _prctl(_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != guard:
        return 143
    _prctl(_CHILD_SUBREAPER, 1)
    report, told = os.pipe2(os.O_CLOEXEC)
    ours, theirs = _pair()
    child = os.fork()
    if child == 0:
        os.close(report)
        os.close(tell)
        ours.close()
        try:
            _become(plan, told, theirs)
        except BaseException as failed:
            os.write(told, str(failed).encode("utf-8", "replace")[:2000])
        os._exit(125)
    os.close(told)
    theirs.close()
    if plan["fence"] == "landlock":
        _answer(ours, plan)
    wrong = b""
    while piece := os.read(report, 4096):
        wrong += piece
    if wrong:
        _end(child)
        said = {"refused": wrong.decode("utf-8", "replace"), "code": 125}
    else:
        code, why = _watch(child, plan["processes"], plan["memory"])
        said = {"killed": why, "code": code} if why else {"code": code}
    os.write(tell, json.dumps(said).encode())
    return 0


# The one that stays


def _watch(child: int, most: int, memory: int) -> tuple[int, str]:
    leaving = 0.0
    look = 0.0
    why = ""
    ended = None
    try:
        before = _everywhere()
        while ended is None:
            heard = signal.sigtimedwait(_WAITED, _TICK)
            if heard is not None and heard.si_signo != signal.SIGCHLD and not leaving:
                leaving = time.monotonic() + _POLITE
                _signal_group(child, signal.SIGTERM)
            if leaving and time.monotonic() > leaving:
                _end(child)
            if not why and _everywhere() - before > most and _too_many(child, most):
                why = f"more than {most} processes at once"
                _end(child)
            if not why and time.monotonic() > look:
                began = time.monotonic()
                if _resident(_below()) > memory and _held(_below()) > memory:
                    why = f"more than {memory >> 20} MiB of memory in all its processes"
                    _end(child)
                look = max(began + _LOOK, time.monotonic() + 20 * (time.monotonic() - began))
            ended = _reap(child)
    finally:
        _end(child)
    return (os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else 128 + os.WTERMSIG(ended)), why


def _everywhere() -> int:
    """How many processes and threads the machine has: one small read, however many they are."""
    with open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].split(b"/")[1])


def _too_many(child: int, most: int) -> bool:
    """Counts the command's processes. It stands still meanwhile, or one that multiplies would never be counted."""
    _signal_group(child, signal.SIGSTOP)
    if len(_below(most + 1)) > most:
        return True
    _signal_group(child, signal.SIGCONT)
    return False


def _resident(pids: list[int]) -> int:
    """At most so many bytes processes hold in memory: what they share counts for each."""
    found = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                found += int(file.read().split()[1])
        except (OSError, IndexError):
            continue
    return found * resource.getpagesize()


def _held(pids: list[int]) -> int:
    """The bytes that processes hold, what they share by its share, and no files; of one that hides that, all of it."""
    found = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                rows = [line.split() for line in file]
            found += sum(
                int(row[1]) << 10
                for row in rows
                if row[0] in (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
            )
        except (OSError, IndexError):
            found += _resident([pid])
    return found


def _reap(child: int) -> int | None:
    """Takes what has ended away; returns the command's status once it is among it."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _end(child: int) -> None:
    """Kills every process below this one, again and again until nothing is left to fork."""
    _signal_group(child, signal.SIGKILL)
    until = time.monotonic() + 5
    while time.monotonic() < until:
        left = _below()
        for group in {_group(pid) for pid in left} - {os.getpgrp(), 0}:
            _signal_group(group, signal.SIGKILL)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if not left:
            return
        for pid in left:
            try:
                if pid != child:
                    os.waitpid(pid, os.WNOHANG)
            except OSError:
                pass
        if all(_is_dead(pid) for pid in left):
            return
        time.sleep(0.002)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def _signal_group(child: int, number: int) -> None:
    try:
        os.killpg(child, number)
    except OSError:
        pass


def _below(most: int = 1 << 20) -> list[int]:
    """Processes that descend from this one: all, or the first `most` and a few."""
    found: list[int] = []
    work = [os.getpid()]
    while work and len(found) < most:
        pid = work.pop()
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except (FileNotFoundError, ProcessLookupError):
            continue
        for task in tasks:
            try:
                with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                    children = [int(word) for word in file.read().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += children
            work += children
    return found


# What the filter asks: changes of a file's mode, owner and times, which Landlock does not judge


def _pair() -> tuple:
    return _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)


def _answer(ours: _socket.socket, plan: dict) -> None:
    """Takes the filter's listener from the command's process and answers on a thread, as long as this process lives."""
    import _thread
    from importlib.machinery import SourceFileLoader

    _, handed, _, _ = ours.recvmsg(1, 64)
    ours.close()
    if not handed:
        return  # the command was not run, and its process says why
    listener = struct.unpack("i", handed[0][2][:4])[0]
    room = os.path.dirname(os.path.abspath(__file__))
    answers: dict = {"__name__": "confine_answers"}
    exec(
        SourceFileLoader("confine_answers", os.path.join(room, "launcher_answers.py")).get_code(
            "confine_answers"
        )
        or "",
        answers,
    )
    names = {int(number): name for number, name in plan["asked"].items()}
    _thread.start_new_thread(answers["answer"], (listener, names, plan["write"], plan["closed"]))


# The one that becomes the command


def _become(plan: dict, told: int, theirs: _socket.socket) -> None:
    os.setpgid(0, 0)
    os.nice(5)  # the one that stays must get its turn, whatever the command does
    _prctl(_PDEATHSIG, signal.SIGKILL)
    for name, most in plan["limits"].items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        if name == "NPROC":
            most += _mine()  # the kernel counts all that this user runs; root it does not count
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    argv = plan["argv"]
    kept = {told, theirs.fileno()}
    seccomp = bytes.fromhex(plan["seccomp"])
    if plan["fence"] == "bubblewrap":
        handle = os.memfd_create("filter", 0)
        os.write(handle, seccomp)
        os.lseek(handle, 0, os.SEEK_SET)
        os.set_inheritable(handle, True)
        kept.add(handle)
        argv = [str(handle) if word == "FILTER" else word for word in argv]
    _close_all_but(kept)
    if plan["fence"] == "landlock":
        _mount(plan["mounts"], plan.get("nothing", ""))
        os.chdir(plan["root"])  # where it stands is below the mounts still
        _drop_capabilities()
        _prctl(_NO_NEW_PRIVS, 1)
        _landlock(plan)
        _filter(seccomp, theirs)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, plan["environment"])
    except FileNotFoundError:
        raise Refused(f"`{argv[0]}` is not installed here") from None


def _mine() -> int:
    """Threads that this user has now."""
    mine = os.getuid()
    count = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                if os.stat(f"/proc/{name}").st_uid == mine:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return count


def _close_all_but(kept: set[int]) -> None:
    at = 3
    for handle in sorted(kept):
        os.closerange(at, handle)
        at = handle + 1
    os.closerange(at, 65536)


def _prctl(option: int, value: int, third: object = 0) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), third, 0, 0) != 0:
        raise Refused(f"prctl({option}): {os.strerror(ctypes.get_errno())}")


def _mount(rows: list, nothing: str) -> None:
    """Gives the command a view of files of its own: `[path, how]`, `open` and `kept` folders and files, `hidden` folders.

    Over a file with `nothing` the file of that name is laid, which nobody may read.
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
        if how == "hidden" and os.path.isdir(path):
            _mounted("none", path, "tmpfs", empty)
            continue
        if how == "nothing":
            _mounted(nothing, path, None, bind)
            _mounted(None, path, None, remount)
            continue
        _mounted(path, path, None, bind)
        if how == "kept":
            _mounted(None, path, None, remount)
            shut.append(path + "/")
        elif path.startswith(tuple(shut)):
            _mounted(None, path, None, remount & ~0x1)  # it took after the mount that it lies below


def _mounted(what: str | None, where: str, kind: str | None, flags: int) -> None:
    words = [None if word is None else os.fsencode(word) for word in (what, where, kind)]
    if _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), None) != 0:
        raise Refused(f"mount {where}: {os.strerror(ctypes.get_errno())}")


def _drop_capabilities() -> None:
    """A command of root's is an ordinary program: no capability, and none to be had by running another."""
    for number in range(64):
        if _libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    if _libc.capset(ctypes.byref(header), ctypes.byref(none)) != 0:
        raise Refused(f"capset: {os.strerror(ctypes.get_errno())}")


def _landlock(plan: dict) -> None:
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
    """A handle of a path below the root, or -1 where a link is on the way or nothing is there any more."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _IN_ROOT)
    return int(
        _libc.syscall(_OPENAT2, root, os.fsencode(path or "."), how, ctypes.c_size_t(len(how)))
    )


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


def _filter(program: bytes, theirs: _socket.socket) -> None:
    """Puts the filter in force and hands its listener to the process that watches."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    filled = Program(len(program) // 8, program)
    listener = _libc.syscall(_SECCOMP[os.uname().machine], 1, 8, ctypes.byref(filled))
    if listener < 0:
        raise Refused(f"seccomp: {os.strerror(ctypes.get_errno())}")
    theirs.sendmsg([b"x"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", listener))])
    theirs.close()
    os.close(listener)


if __name__ == "__main__":
    sys.exit(main())
