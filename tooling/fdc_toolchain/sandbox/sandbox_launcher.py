"""Starts one command in the sandbox and outlives it: a separate program, not a module of fdc.

    python -I -S sandbox_launcher.py JSON STATUS_FD          (or @FILE, which is read and deleted)

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
import select
import signal
import struct
import sys
import time

_PDEATHSIG, _NO_NEW_PRIVS, _CHILD_SUBREAPER = 1, 38, 36
_TICK = 0.05
_POLITE = 1.0
_LOOK = 0.2  # seconds between looks at the memory
_TELLS = 9  # as in `replaced`
_WAITED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Refused(Exception):
    """The machine does not support what the sandbox needs."""


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
        json.loads(told) if told else {"lost": "the process that monitors a command was killed"}
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
    """Waits for the monitoring process, passes requests to it, and ends processes that it left."""
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
    """Starts and monitors the command. Writes its result to `tell` as one JSON object after all processes have ended."""
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
    wrong = _wrong(report)
    if wrong:
        _end(child)
        said = {"refused": wrong.decode("utf-8", "replace"), "code": 125}
    else:
        code, why = _watch(child, plan["processes"], plan["memory"])
        said = {"killed": why, "code": code} if why else {"code": code}
    os.write(tell, json.dumps(said).encode())
    return 0


def _wrong(report: int) -> bytes:
    """Why the command was not started; empty where it was, which the end of what is told says, or an empty line."""
    wrong = b""
    while True:
        while not select.select([report], [], [], 1.0)[0]:
            if set(_WAITED[1:]) & signal.sigpending():
                return b""  # `_watch` ends the command
        piece = os.read(report, 4096)
        if not piece or piece == b"\n":
            return wrong
        wrong += piece


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
    """Counts the command's processes while they are stopped, because a fork bomb could not be counted otherwise."""
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
    """Reaps ended processes; returns the command's status once it has ended."""
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
    """Kills all descendants repeatedly until none is left."""
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

    _, handed, _, _ = ours.recvmsg(1, 64)
    ours.close()
    if not handed:
        return  # the command was not run, and its process says why
    listener = struct.unpack("i", handed[0][2][:4])[0]
    answer = _program("launcher_answers")["answer"]
    names = {int(number): name for number, name in plan["asked"].items()}
    _thread.start_new_thread(answer, (listener, names, plan["write"], plan["closed"]))


def _program(name: str) -> dict:
    """Loads a file in this folder by path, since it cannot be imported."""
    from importlib.machinery import SourceFileLoader

    room = os.path.dirname(os.path.abspath(__file__))
    found: dict = {"__name__": name}
    exec(SourceFileLoader(name, os.path.join(room, f"{name}.py")).get_code(name) or "", found)
    return found


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
        if plan.get("compares"):  # the first program in the sandbox says how that went
            os.dup2(told, _TELLS)
            os.set_inheritable(_TELLS, True)
            kept.add(_TELLS)
        handle = os.memfd_create("filter", 0)
        os.write(handle, seccomp)
        os.lseek(handle, 0, os.SEEK_SET)
        os.set_inheritable(handle, True)
        kept.add(handle)
        argv[argv.index("FILTER")] = str(handle)
    _close_all_but(kept)
    if plan["fence"] == "landlock":
        fence = _program("launcher_fence")
        fence["mount"](plan["mounts"], plan.get("nothing", ""), plan["root"])
        os.chdir(plan["root"])  # where it stands is below the mounts still
        fence["drop_capabilities"]()
        _prctl(_NO_NEW_PRIVS, 1)
        fence["landlock"](plan)
        fence["install_filter"](seccomp, theirs)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, plan["environment"])
    except FileNotFoundError:
        raise Refused(f"`{argv[0]}` is not installed on this machine") from None


def _mine() -> int:
    """The number of this user's threads."""
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


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise Refused(f"prctl({option}): {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    sys.exit(main())
