"""Commands: fenced in, with a clean environment, a time limit and a cap on their output.

A command gets the variables of `PASSED` and nothing else of the controller's environment, so
keys and tokens are not there to be read. It has no terminal and no input. When its time is up,
when it ends, or when the controller leaves or is lost, every process that it began is killed.

What it can touch is decided in `sandbox.sandbox`; the journal says which tier it was.
"""

from __future__ import annotations

import errno
import json
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..certificate.touches import only_looks
from ..engine.events import Failure, Outcome
from ..engine.ports import Interrupted, InterruptedHere, WorldFailed
from ..linking.project.protected import outside_path, protected
from ..linking.project.quiet_git import refuse_pipes
from ..named_tuples import NamedTuple
from ..sandbox import listing, replaced, views
from ..sandbox.sandbox import fence
from ..sandbox.scratch import scratch
from ..sandbox.writable import withdraw
from ..workspace.access import project_file
from ..workspace.failure import ToolFailure
from ..workspace.files import MAX_FILE
from .context import Context, text
from .under_way import noted

if TYPE_CHECKING:
    from .sandboxed.conversation import Conversation

PASSED = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR VIRTUAL_ENV SOURCE_DATE_EPOCH"
    " XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME PYTHONDONTWRITEBYTECODE".split()
)
"""Variables that a command may see, beside those that begin with `LC_`. None of them holds a secret."""

HEAD, TAIL = 192 * 1024, 64 * 1024
"""Bytes of output that are kept, from its beginning and from its end."""

SECONDS = 600.0
"""How long a command may take, unless the operator says otherwise."""

_SHOWN = 8 * 1024
_LINGER = 0.5
_TERM_GRACE = 10.0


class Done(NamedTuple):
    """A command that has ended. `errors` are apart only where the streams were not merged."""

    exit_code: int
    output: bytes
    cut: int
    errors: bytes = b""


def run_in_bash_session(args: Mapping[str, object], context: Context) -> object:
    """`run_in_bash_session`: what the command printed (both streams) and its exit code.

    An exit code other than 0 fails the step, unless the plan keeps the result and so can look.
    """
    command = text(args, "command")
    if "\0" in command:
        raise ToolFailure("input", "the command contains a NUL byte")
    notes: dict[str, Any] = {}
    context.root.open_named()
    settings = context.root.settings()
    # what only reads data is no program of the workspace, which text from outside may have written
    path = {} if only_looks(command) is None else {"PATH": outside_path()}
    try:
        words = ["bash", "-c", command]
        done = replaced.again(lambda: _run(words, context, notes, True, variables=path))
    except ToolFailure as failure:
        return Outcome(failure=Failure(failure.kind, str(failure)), notes=notes)
    changed = context.root.changed(settings)
    if changed:
        message = f"the command changed {', '.join(f'`{name}`' for name in changed)}, settings of fdc that steps must not change"
        return Outcome(failure=Failure("protected", message), notes=notes)
    output = done.output.decode("utf-8", "replace")
    if done.cut:
        notes["cut"] = f"{done.cut} bytes in the middle of the output"
    if "no new files in" in notes and "ermission denied" in output:
        where = ", ".join(f"`{folder}`" for folder in notes["no new files in"])
        notes["hint"] = (
            f"in this sandbox a command cannot create files in {where} itself; allow a folder: "
            "`allow write build/**`"
        )
    if done.exit_code != 0 and not context.bound:
        last = next(
            (line for line in reversed(output.splitlines()) if line.strip()), "it had no output"
        )
        message = f"the command ended with exit code {done.exit_code}: {last.strip()[:300]}"
        if "hint" in notes:
            message += f" ({notes.pop('hint')})"
        return Outcome(
            failure=Failure("exit", message), notes={**notes, "output": output[-_SHOWN:]}
        )
    return Outcome({"output": output, "exit_code": done.exit_code}, None, None, notes)


def run_git(
    arguments: list[str], context: Context, variables: dict[str, str], looks: str | None = None
) -> Done:
    """A git command that can write `.git` and nothing else, and sees these variables too. Its errors are its output where
    it fails. Raises ToolFailure (`git`) where git would wait for a pipe (`looks`: as for `refuse_pipes`)."""
    try:
        refuse_pipes(context.root.path, looks)
    except OSError as failed:
        raise ToolFailure("git", str(failed.strerror)) from None
    if (program := shutil.which("git", path=outside_path())) is None:
        raise ToolFailure("git", "git is not installed on this machine")
    words = [program, *arguments]
    done = replaced.again(lambda: _run(words, context, {}, False, MAX_FILE, variables, git=True))
    if done.cut:
        raise ToolFailure("size", f"git printed more than {MAX_FILE} bytes")
    return done._replace(output=done.errors) if done.exit_code and not done.output else done


def environment(context: Context) -> dict[str, str]:
    """The variables that a command sees. By `FDC_RUN` fdc itself knows that it was started inside a run (`cli.main`)."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED or name.startswith("LC_")
    }
    return {**passed, "FDC_RUN": context.run, "FDC_KEY": context.key, "PWD": context.root.path}


def _run(
    argv: list[str],
    context: Context,
    notes: dict[str, Any],
    merge: bool,
    most: int = HEAD,
    variables: Mapping[str, str] = MappingProxyType({}),
    git: bool = False,
) -> Done:
    """Runs a command to its end. `notes` is told how it was fenced in; `git`: it may write `.git`.

    Raises ToolFailure, WorldFailed or Interrupted.
    """
    made: Sequence[str] = ()
    root = context.root
    was = views.before(root)
    with scratch() as folder:
        try:
            fenced = fence(
                argv, root=root, scratch=folder, environment={**environment(context), **variables}, was=was,
                run=context.run, grants=context.grants, operator=context.operator, git=git,
            )  # fmt: skip
            made = fenced.made
            notes.update(fenced.notes)
            held = fenced.tier != "none" and not git
            with noted(
                root, context.key, context.run_folder if held else "", was, context.grants, made
            ):
                try:
                    done = started(fenced.argv, context, root.path, merge, most)
                finally:
                    withdraw(made, root.path)
                    made = ()
                    wrong = _took(context, was, notes)
        finally:
            withdraw(made, root.path)
    if wrong:
        raise ToolFailure("protected", wrong)
    return done


def _took(context: Context, was: views.Before, notes: dict[str, Any]) -> str:
    """What the command made that no command makes, once it has been taken away: a sentence, or an empty text."""
    if notes.get("sandbox", "none") == "none":
        return ""  # it was not started, or may do what its user may do
    into = os.path.join(context.run_folder, "refused") if context.run_folder else ""
    wrong = views.taken(context.root, was, context.grants, into)
    if not wrong:
        return ""
    notes["refused"] = wrong
    return "the command created " + told_of(wrong, into, context.root.path)


def told_of(wrong: Sequence[str], into: str, root: str) -> str:
    """The protected files and folders that were created, where they are now, and whether a plan can allow them."""
    shown = [name if len(name) <= 200 else f"{name[:60]}...{name[-60:]}" for name in wrong[:5]]
    others = " (with other settings of fdc)"
    names = ", ".join(f"`{name}`{others if name == project_file.NAME else ''}" for name in shown)
    more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    kept = f"; moved to `{os.path.relpath(into, root)}`" if into else ""
    named = [path for path in wrong if path != project_file.NAME]
    may = [path for path in named if (found := protected(path)) is None or not found.never]
    help_ = (
        f"a plan can allow it by name (`allow write {may[0]}`)" if may else "no plan can allow it"
    )
    if any(listing.too_long(os.path.join(root, path)) for path in wrong):
        help_ = f"a folder whose path is longer than {listing.LONGEST} bytes counts as protected"
    return f"{names}{more}, which is protected{kept}; {help_}"


def started(
    argv: list[str],
    context: Context,
    folder: str,
    merge: bool = True,
    most: int = HEAD,
    given: int = subprocess.DEVNULL,
    talk: Conversation | None = None,
) -> Done:
    """Runs a command that is fenced in already, in a folder, to its end. `given`: a descriptor of its input; `talk`: what it
    asks meanwhile. Raises as `_run`, and what answering raises."""
    if context.cancelled.is_set():
        raise Interrupted("the run is being interrupted", begun=False)
    deadline = time.monotonic() + context.shell_seconds
    told, status = os.pipe()
    try:
        try:
            process = subprocess.Popen(
                [*argv, str(status)],
                cwd=folder,
                env={},
                pass_fds=(status,),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merge else subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as failed:
            raise WorldFailed(
                f"a command could not be started: {(failed.strerror or '').lower()}"
            ) from failed
        finally:
            os.close(status)
        context.cancelled.add(process.pid)
        try:
            if talk is not None:
                talk.theirs.close()  # the process has it
            done = _watch(process, context, deadline, most, talk)
        except KeyboardInterrupt as heard:
            raise (InterruptedHere() if process.poll() is None else heard) from None
        finally:
            if talk is not None:
                talk.close()  # a process that waits for an answer ends by itself
            _kill(process)
            context.cancelled.discard(process.pid)
        said = os.read(told, 65536)
    finally:
        os.close(told)
    _refused(
        json.loads(said) if said else {"lost": "the process that monitors a command was killed"}
    )
    return done


def _refused(said: dict[str, str]) -> None:
    """Raises what the launcher said, unless all went well."""
    if "lost" in said:
        raise ToolFailure(
            "sandbox",
            f"{said['lost']}, so the outcome of the command is unknown; all of its processes were ended",
        )
    if "killed" in said:
        raise ToolFailure("limit", f"the command had {said['killed']} and was killed")
    if "refused" not in said:
        return
    why = said["refused"]
    if why.endswith("is not installed on this machine"):
        raise ToolFailure("unavailable", why)
    if why.startswith(f"[Errno {errno.E2BIG}]"):
        raise ToolFailure("size", "the command is longer than the operating system allows")
    failure = replaced.Replaced if why == replaced.REPLACED else ToolFailure
    raise failure(
        "sandbox", f"the command was not run, because its sandbox could not be created: {why}"
    )


def _watch(
    process: subprocess.Popen[bytes],
    context: Context,
    deadline: float,
    most: int,
    talk: Conversation | None = None,
) -> Done:
    kept = _Kept(most)
    errors = _Kept(HEAD)
    with selectors.DefaultSelector() as selector:
        for stream, into in ((process.stdout, kept), (process.stderr, errors)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, into)
        if talk is not None:
            selector.register(talk, selectors.EVENT_READ | selectors.EVENT_WRITE, talk)
        ended = 0.0
        while selector.get_map():
            for key, events in selector.select(0.05):
                if key.data is talk and talk is not None:
                    deadline += _talked(talk, selector, events)
                    continue
                data = os.read(key.fd, 65536)
                if data:
                    key.data.add(data)
                else:
                    selector.unregister(key.fileobj)
            now = time.monotonic()
            if process.poll() is None and context.cancelled.is_set():
                raise Interrupted("the command was killed because the run is being interrupted")
            if process.poll() is None:
                context.in_time(now, deadline)
            if process.poll() is not None:
                # What it left running in the background may hold the pipe open for ever.
                ended = ended or now
                if now - ended > _LINGER:
                    break
    while not _ended(process) or (process.returncode < 0 and context.cancelled.is_set()):
        if context.cancelled.is_set():
            raise Interrupted("the command was killed because the run is being interrupted")
        context.in_time(time.monotonic(), deadline)
    return Done(process.returncode, kept.value(), kept.cut, errors.value())


def _talked(talk: Conversation, selector: selectors.BaseSelector, events: int) -> float:
    """Writes and reads what can be; the seconds that a person took, which are not the command's."""
    open_, took = True, 0.0
    if events & selectors.EVENT_WRITE:
        open_ = talk.write()
    if open_ and events & selectors.EVENT_READ:
        answered = talk.read()
        open_, took = answered is not None, answered or 0.0
    if not open_:
        selector.unregister(talk)
    else:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if talk.writes else 0)
        selector.modify(talk, wanted, talk)
    return took


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the whole group: politely while the command itself lives, then certainly."""
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(_TERM_GRACE)
            except subprocess.TimeoutExpired:
                pass
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # no one of the group is left, or what is left is not ours
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _Kept:
    """Output as it comes: its beginning and its end."""

    def __init__(self, most: int) -> None:
        self.size = 0
        self._most = most
        self._head, self._tail = bytearray(), bytearray()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._most - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 4 * TAIL:
            del self._tail[:-TAIL]

    @property
    def cut(self) -> int:
        return max(0, self.size - len(self._head) - min(TAIL, len(self._tail)))

    def value(self) -> bytes:
        tail = bytes(self._tail[-TAIL:])
        middle = f"\n[{self.cut} bytes left out]\n".encode() if self.cut else b""
        return bytes(self._head) + middle + tail
