"""Commands of fdc as real processes without Python's start: one process imports fdc and forks itself for each of them.

Every command is a process of its own: own memory, environment, folder, streams (pipes), exit code. What is saved is the start of
Python, the imports and the reading of fdc's own files, most of what a short command costs. `make soak` starts every command anew
(`process.fdc`).
"""

from __future__ import annotations

import atexit
import functools
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .repository import ROOT

_PROGRAM = (
    "import sys; sys.path[:1] = sys.argv[1:3]; from tests.support.forks import _serve;"
    " del sys.path[1]; _serve(int(sys.argv[3]))"
)
_BEFORE_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_")
"""Variables that count when a process starts, and not any more when it is forked."""
_LARGE = {
    "ANTHROPIC_BASE_URL": ("anthropic", "anthropic.resources.messages"),
    "--database": ("dbos", "psycopg"),
    "lsp": ("fdc_toolchain.language_server.server",),
    "mcp": ("fdc_toolchain.mcp_server.run_tool", "fdc_toolchain.mcp_server.transports"),
}
"""Packages that take a second to import: ahead of the first command with such a variable or such an argument."""


class _Server:
    """The process that forks, and the socket on which it hears of what."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(ROOT / "tooling"), str(ROOT), str(its.fileno())],
                cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=[its.fileno()],
            )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self._socket.close()
        with self._process:  # it ends, and its pipes are closed
            pass

    @property
    def handle(self) -> int:
        """Where whoever inherits it asks for commands (`program`)."""
        return self._socket.fileno()

    def last_words(self) -> str:
        """What it said before it ended."""
        return self._process.communicate()[1].decode()

    def start(self, request: Mapping[str, object], handles: Sequence[int]) -> None:
        """Asks for a command with these: stdin, stdout, stderr, and where its number and then its end are told."""
        socket.send_fds(self._socket, [marshal.dumps(request)], handles)


@functools.cache
def _server(*environment: tuple[str, str]) -> _Server:
    return _Server(dict(environment))


def _for_the_start(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        sorted(
            (name, value) for name, value in environment.items() if name.startswith(_BEFORE_PYTHON)
        )
    )


def can_run(environment: Mapping[str, str], usual: Mapping[str, str]) -> bool:
    """Whether a forked process would be what a started one is: on Linux, and nothing that Python starts with is unusual."""
    return sys.platform == "linux" and _for_the_start(environment) == _for_the_start(usual)


def run(
    argv: Sequence[str], *, cwd: str, stdin: bytes, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Runs `python3 SCRIPT ARGUMENTS` (`argv` begins with the script) to its end and captures what it says."""
    pipes = [os.pipe() for _ in range(4)]
    ours = [pipes[0][1], *(read for read, _ in pipes[1:])]
    theirs = [pipes[0][0], *(write for _, write in pipes[1:])]
    said: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=_all_of, args=(ours[one], said, one), daemon=True)
        for one in (1, 2, 3)
    ]
    threads.append(threading.Thread(target=_write, args=(ours[0], stdin), daemon=True))
    server = _server(*_for_the_start(env))
    umask = os.umask(0)
    os.umask(umask)
    try:
        server.start({"argv": argv, "cwd": cwd, "env": dict(env), "umask": umask}, theirs)
    finally:
        for handle in theirs:
            os.close(handle)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
    if any(thread.is_alive() for thread in threads):
        raise subprocess.TimeoutExpired(argv, timeout)
    if len(said[3]) <= 20:
        raise RuntimeError(f"the process that forks has ended: {server.last_words()}")
    return subprocess.CompletedProcess(list(argv), int(said[3][20:]), said[1], said[2])


class Started(subprocess.Popen):  # type: ignore[type-arg]
    """A command as `subprocess.Popen` gives it, forked: `python3 SCRIPT ARGUMENTS` (`args` begins with Python)."""

    _heard = -1

    def _execute_child(self, args: Sequence[str], *more: Any) -> None:
        """Asks for the process, with the streams that Popen made."""
        cwd, env = more[4:6]
        into, _, _, out, _, err = more[9:15]
        server = _server(*_for_the_start(env))
        umask = os.umask(0)
        os.umask(umask)
        self._heard, told = os.pipe()
        request = {"argv": args[1:], "cwd": os.fspath(cwd), "env": dict(env), "umask": umask}
        streams = [
            given if given != -1 else number for number, given in enumerate((into, out, err))
        ]
        try:
            server.start(request, [*streams, told])
        finally:
            os.close(told)
            self._close_pipe_fds(*more[9:15])
        self.pid = int(os.read(self._heard, 20) or server.last_words())
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """As `os.waitpid`, for a process that is the server's child."""
        if wait_flags and not select.select([self._heard], [], [], 0)[0]:
            return 0, 0
        code = int(os.read(self._heard, 20) or -signal.SIGKILL)  # the server dies with its children
        os.close(self._heard)
        return self.pid, code << 8 if code >= 0 else -code

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


_CLIENT = """#!{python} -IS
import _signal, _socket, array, marshal, os, sys
heard, told = os.pipe()
request = {{"argv": [{script!r}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ), "umask": os.umask(0)}}
handles = array.array("i", [0, 1, 2, told])
server = _socket.socket(fileno={handle})
server.sendmsg([marshal.dumps(request)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
os.close(told)
process = int(os.read(heard, 20))
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(number, lambda number, frame: os.kill(process, number))
code = int(os.read(heard, 20))
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def program(script: str, env: Mapping[str, str]) -> tuple[str, int]:
    """The text of a program for a shell, which is `script` to its starter, and the handle that it has to inherit."""
    handle = _server(*_for_the_start(env)).handle
    return _CLIENT.format(python=sys.executable, script=script, handle=handle), handle


def _all_of(handle: int, said: dict[int, bytes], number: int) -> None:
    with open(handle, "rb") as stream:
        said[number] = stream.read()


def _write(handle: int, data: bytes) -> None:
    try:
        with open(handle, "wb", buffering=0) as stream:
            while data:
                data = data[stream.write(data) :]
    except BrokenPipeError:  # it ended without reading all
        pass


# ---- the process that forks -----------------------------------------------------------------------


def _serve(handle: int) -> None:
    """Forks on demand, and tells who ended how, until no caller asks any more."""
    import gc
    import importlib
    import pkgutil

    import fdc_toolchain

    def load(names: Iterable[str]) -> None:
        for name in names:
            try:
                importlib.import_module(name)
            except ImportError:  # it is asked for by an extra, and a command says so itself
                pass
        assert threading.active_count() == 1, "a process with threads cannot be forked"
        gc.collect()
        gc.freeze()

    rooms = {name.split(".")[1] for names in _LARGE.values() for name in names if "fdc_" in name}
    packages = pkgutil.walk_packages(fdc_toolchain.__path__, "fdc_toolchain.")
    names = (found.name for found in packages)
    load(name for name in names if name.split(".")[1] not in {"__main__", *rooms})
    load(("jinja2", "jsonschema", "markdown_it", "networkx", "pathspec", "yaml"))
    _read_own_files()
    for name in ("tests", "tests.support", "tests.support.repository", __name__):
        sys.modules.pop(name, None)  # a command knows nothing of tests
    large = dict(_LARGE)
    asked = socket.socket(fileno=handle)
    asked.setblocking(False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    living: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([asked, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        for process, told in list(living.items()):
            found_one, status = os.waitpid(process, os.WNOHANG)
            if found_one:
                del living[process]
                _tell(told, os.waitstatus_to_exitcode(status))
        if asked not in ready:
            continue
        data, handles, _, _ = socket.recv_fds(asked, 1 << 20, 4)
        if not data:
            for process in living:
                os.kill(process, signal.SIGKILL)
            os._exit(0)
        request = marshal.loads(data)
        for name in [one for one in large if one in request["env"] or one in request["argv"]]:
            load(large.pop(name))
        process = os.fork()
        if process == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.detach()
            _be(request, handles)
        for number in handles[:3]:
            os.close(number)
        living[process] = handles[3]
        os.write(handles[3], f"{process:20}".encode())


def _read_own_files() -> None:
    """Has fdc read what it reads of its own files once in a process: catalogues, grammar, packs, which files they are."""
    from fdc_toolchain.check import check_paths
    from fdc_toolchain.linking.project.stat_cache import tool_identity

    deepest = sys.getrecursionlimit()
    check_paths([str(ROOT / "plans" / "library" / "deep_research.plan")], str(ROOT))
    tool_identity()
    sys.setrecursionlimit(deepest)


def _tell(handle: int, code: int) -> None:
    try:
        os.write(handle, str(code).encode())
    except BrokenPipeError:  # the caller has gone
        pass
    os.close(handle)


def _be(request: dict, handles: Sequence[int]) -> None:
    """Becomes the command, as `python3 SCRIPT ARGUMENTS` would be it."""
    import runpy
    import tempfile
    import time

    code: object = 1
    try:
        for number in (0, 1, 2):
            os.dup2(handles[number], number)
        os.closerange(3, 1024)
        os.chdir(request["cwd"])
        os.umask(request["umask"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        tempfile.tempdir = None
        sys.argv[:] = request["argv"]
        sys.path[0] = os.path.dirname(sys.argv[0])
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as left:
        code = left.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(_tidied(code or 0))


def _tidied(code: object) -> int:
    """What Python does on its way out."""
    assert isinstance(code, int)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120
    return code & 0xFF
