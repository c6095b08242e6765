"""What commands can reach from inside each tier of the sandbox (security: G-SBX; threat table "host", "secrets")."""

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from fdc_toolchain.engine.events import Outcome
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import context as context_room
from fdc_toolchain.tools import shell
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import TIERS, Operator

from tests.support.background import PATIENCE, wait_for
from tests.support.process import working_in
from tests.support.repository import PACKAGE
from tests.support.sandboxed import TOLD

ESCAPES = Path(__file__).parents[1] / "support" / "escapes.py"
UPPER = [tier for tier in TIERS if tier != "none"]


@pytest.fixture(params=UPPER)
def tier(request):
    if not sandbox.offered(request.param):
        pytest.skip(f"{request.param}: {sandbox.reason(request.param)}")
    return request.param


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    for name in (".fdc", ".git/hooks"):
        (folder / name).mkdir(parents=True)
    (folder / ".git/config").write_text("[core]\n")
    (folder / ".fdc/runs.sqlite").write_text("journal")
    (folder / "fdc.toml").write_text("# settings\n")
    opened = Root(str(folder))
    yield opened
    opened.close()


def run(root, command, operator, *, bound=True, grants=(), seconds=60.0) -> Outcome:
    context = context_room.Context(
        root=root, key="run:main/1", run="run", run_folder=os.path.join(root.path, ".fdc", "runs", "run"),
        say=print, ask=lambda question: "", bound=bound, cancelled=context_room.Leaving(), shell_seconds=seconds,
        tool={}, grants=grants, operator=operator,
    )  # fmt: skip
    return shell.run_in_bash_session({"command": command}, context)


def only(tier, network=False) -> Operator:
    return Operator(unsandboxed=True, network=network, tiers=(tier,))


ROWS = [
    ("root", "bubblewrap", None), ("user", "bubblewrap", None), ("root", "landlock", None), ("root", "landlock", False),
    ("user", "landlock", None),
]  # fmt: skip
"""Whose command it is, the tier, and false where fdc is to do without mounts: a container's root may make none."""

STRANGER = 54321
"""The number of a user that has no account."""


def probed(who, tier, mounts=None):
    """What the probes of `escapes.py` came to, with an honest command: run by this process's user, or by one without an account.

    That one has a folder of its own with a copy of the package, and the system's Python: nothing on the machine changes.
    """
    if (who == "root" and os.getuid() != 0) or (
        who == "user" and os.getuid() == 0 and stranger_python() is None
    ):
        pytest.skip(f"{who} does not exist here, or no Python for one")
    base = Path(tempfile.mkdtemp(prefix="fdc-probes-"))
    try:
        os.chmod(base, 0o755)
        shutil.copytree(
            PACKAGE, base / "tooling/fdc_toolchain", ignore=shutil.ignore_patterns("__pycache__")
        )
        for source in (ESCAPES, ESCAPES.with_name("sandboxed.py")):
            shutil.copy(source, base / source.name)
        own = base / "own"
        own.mkdir()
        other = {}
        if who == "user" and os.getuid() == 0:
            os.chown(own, STRANGER, STRANGER)
            other = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
        given = json.dumps({"tier": tier, "mounts": mounts, "escapes": str(base / ESCAPES.name)})
        inside = {
            "PATH": os.defpath,
            "HOME": str(own),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(base / "tooling"),
        }
        done = subprocess.run(
            [stranger_python() if other else sys.executable, str(base / "sandboxed.py"), str(own), given], cwd=own,
            env={**inside, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, check=False, timeout=PATIENCE,
            **other,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(base)
    if found["reason"]:
        pytest.skip(f"{tier}, {who}: {found['reason']}")
    return found


@functools.cache
def stranger_python():
    """A Python that a user without an account can run, and that is new enough; None where there is none."""
    for program in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):
            tried = subprocess.run(
                [program, "-c", "import sys, ctypes; sys.exit(sys.version_info < (3, 11))"], cwd="/", env={}, check=False,
                user=STRANGER, group=STRANGER, extra_groups=[], stderr=subprocess.DEVNULL,
            )  # fmt: skip
            if tried.returncode == 0:
                return program
    return None


def test_positive_control_most_probes_get_through_without_a_sandbox():
    """A probe that never gets anywhere proves nothing about a sandbox."""
    found = probed("root" if os.getuid() == 0 else "user", "none")
    never = {  # these need what even a user without a sandbox lacks, or nothing is handed down in any tier
        "inherited descriptor", "type into a terminal", "memory of the controller", "bpf", "kernel keys", "mount", "io_uring",
        "raw packets", "new user namespace", "trace the controller", "write through a hard link",
    }  # fmt: skip
    if os.getuid() != 0:
        never |= {
            "mode of a program",
            "settings of the kernel",
            "settings of the kernel, one of IPC",
        }
    assert "inherited descriptor" not in found["through"]
    assert set(found["all"]) - set(found["through"]) - never == set()


@pytest.mark.slow
@pytest.mark.parametrize(("who", "tier", "mounts"), ROWS)
def test_no_probe_gets_through(who, tier, mounts):
    found = probed(who, tier, mounts)
    through = set(found["through"]) - (
        {"UDP", "raw packets"} if tier == "bubblewrap" else set()
    )  # in a network of its own
    assert (found["failure"], through, found["harm"], found["home"]) == (None, set(), [], True)
    assert found["honest"] == TOLD
    assert (
        found["memory"]
        == "the command had more than 160 MiB of memory in all its processes and was killed"
    )


def test_an_honest_command_works(root, tier):
    """The benign job: reads, writes, runs programs, uses temporary files, gets its exit code back."""
    Path(root.path, "data.txt").write_text("b\na\n")
    Path(root.path, "out").mkdir()
    outcome = run(
        root,
        'sort data.txt > out/sorted.txt && git init -q $TMPDIR/sub && python3 -c "import tempfile, json, subprocess; '
        "tempfile.NamedTemporaryFile().write(b'x'); print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\" "
        "&& mktemp && echo $((6*7)); exit 3",
        only(tier),
    )
    assert (
        outcome.value["exit_code"] == 3
        and "42" in outcome.value["output"]
        and "child" in outcome.value["output"]
    ), outcome
    assert Path(root.path, "out/sorted.txt").read_text() == "a\nb\n"
    assert outcome.notes["sandbox"] == tier


def test_only_what_the_plans_allow_is_writable(root, tier):
    grants = ({"write": (((False, "out/**"),),), "run": ((False, "*"),)},)
    outcome = run(
        root, "echo yes > out/a; echo no > b; ls -d out/a b 2>/dev/null", only(tier), grants=grants
    )
    assert outcome.value["output"].splitlines()[-1] == "out/a"
    assert not Path(root.path, "b").exists()


def test_grants_of_the_whole_stack_count(root, tier):
    grants = tuple({"write": (((False, glob),),)} for glob in ("out/**", "out/deep/**"))
    outcome = run(
        root, "echo > out/a; echo > out/deep/b; find out -type f", only(tier), grants=grants
    )
    assert outcome.value["output"].splitlines()[-1] == "out/deep/b"
    assert not Path(root.path, "out/a").exists()


@pytest.mark.parametrize(
    ("allowed", "granted", "reaches"),
    [(True, True, True), (True, False, False), (False, True, False)],
)
def test_the_network_needs_the_plan_and_the_operator(root, tier, allowed, granted, reaches):
    with socket.create_server(("127.0.0.1", 0)) as server:
        grants = ({"net": (((False, "*"),),)} if granted else {},)
        command = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo connected"
        outcome = run(root, command, only(tier, network=allowed), grants=grants)
    assert ("connected" in outcome.value["output"]) is reaches


LOCAL = """
import os, socket, sys
for address in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(address.replace("@", chr(0)))
        print("reached", address)
    except OSError:
        pass
for address in sys.argv[1:]:
    try:
        socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b"order", address.replace("@", chr(0)) + "d")
        print("told", address)
    except OSError:
        pass
one, other = socket.socketpair()
one.send(b"pair"); print(other.recv(9).decode())
"""


@pytest.mark.parametrize("network", [False, True])
def test_no_command_reaches_a_program_outside_by_a_local_socket(root, tier, tmp_path, network):
    """One of docker, of a session's bus or of a service manager runs what it is told to, outside of every sandbox."""
    Path(root.path, "look.py").write_text(LOCAL)
    names = [f"@fdc-{os.getpid()}", str(tmp_path / "bus"), os.path.join(root.path, "a.sock")]
    with contextlib.ExitStack() as stack:
        for name in names:
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(name.replace("@", chr(0)))
            server.listen()
            letters = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            letters.bind(name.replace("@", chr(0)) + "d")
        command = f"python3 look.py {' '.join(names)}"
        grants = ({"net": (((False, "*"),),)},) if network else ()
        outcome = run(root, command, only(tier, network=network), grants=grants)
    assert "pair\n" == outcome.value["output"]


def test_what_a_command_leaves_behind_is_ended(root, tier):
    """An orphan in a session of its own, whose parent is gone."""
    Path(root.path, "out").mkdir()
    run(
        root,
        "setsid nohup sh -c 'sleep 2; touch out/orphan-was-here' >/dev/null 2>&1 & exit 0",
        only(tier),
    )
    wait_for(lambda: not working_in(Path(root.path)))  # ended, or it has had its two seconds
    assert not Path(root.path, "out/orphan-was-here").exists()


def test_too_many_processes_are_ended(root, tier, monkeypatch):
    """A bomb that stops by itself, without a failure: 2,047 processes at most, if nobody stopped it."""
    monkeypatch.setattr(sandbox, "PROCESSES", 60)
    bomb = "bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; sleep 15; }; bomb 10"
    outcome = run(root, bomb, only(tier), seconds=PATIENCE)
    assert outcome.failure is not None and outcome.failure.kind == "limit", outcome
    wait_for(lambda: not working_in(Path(root.path)))


def test_memory_and_file_size_are_limited(root, tier, monkeypatch):
    monkeypatch.setitem(sandbox.LIMITS, "DATA", 256 << 20)
    monkeypatch.setitem(sandbox.LIMITS, "FSIZE", 1 << 20)
    Path(root.path, "out").mkdir()
    outcome = run(
        root,
        "python3 -c 'x = bytearray(1 << 30)' 2>&1 | tail -1; head -c 3000000 /dev/zero > out/big",
        only(tier),
    )
    assert "MemoryError" in outcome.value["output"]
    assert Path(root.path, "out/big").stat().st_size <= 1 << 20


HOLD = "import time; x = bytearray(b'x') * (40 << 20); time.sleep({sleep})"


@pytest.mark.long
def test_memory_is_limited_in_total(root, tier, monkeypatch):
    """Each process stays below the limit of one; what they share counts once."""
    monkeypatch.setattr(sandbox, "MEMORY", 160 << 20)
    apart = f'for i in 1 2 3 4 5 6; do python3 -c "{HOLD.format(sleep=PATIENCE)}" & done; wait'
    outcome = run(root, apart, only(tier), seconds=PATIENCE)
    assert outcome.failure is not None and outcome.failure.kind == "limit", outcome
    assert "more than 160 MiB of memory in all its processes" in outcome.failure.message
    wait_for(lambda: not working_in(Path(root.path)))
    shared = "import os; x = bytearray(b'x') * (40 << 20); [os.fork() for _ in range(3)]; import time; time.sleep(1)"
    outcome = run(root, f'python3 -c "{shared}"', only(tier), seconds=PATIENCE)
    assert outcome.failure is None and outcome.value["exit_code"] == 0, outcome


def test_files_in_memory_are_limited(root, monkeypatch):
    if not sandbox.offered("bubblewrap"):
        pytest.skip(sandbox.reason("bubblewrap"))
    monkeypatch.setattr(sandbox, "MEMORY", 4 << 20)
    for place in ("/tmp", "/dev/shm", "/dev"):
        outcome = run(
            root,
            f"head -c 20000000 /dev/zero > {place}/x; stat -c %s {place}/x || echo 0",
            only("bubblewrap"),
        )
        assert outcome.failure is None or outcome.failure.kind == "limit"
        if outcome.failure is None:
            assert int(outcome.value["output"].split()[-1]) <= 4 << 20, outcome


def test_without_a_sandbox_nothing_runs(root):
    """Fail closed (SB001): no plan and no file of the workspace can ask for less."""
    outcome = run(root, "touch ran", Operator(tiers=("none",)))
    assert outcome.failure is not None and outcome.failure.kind == "sandbox"
    assert "--allow-unsandboxed" in outcome.failure.message and not Path(root.path, "ran").exists()


def test_settings_that_a_command_makes_are_noticed(root):
    os.unlink(os.path.join(root.path, "fdc.toml"))
    outcome = run(root, "echo 'model = \"x\"' > fdc.toml", only("none"))
    assert (
        outcome.failure is not None
        and outcome.failure.kind == "protected"
        and "fdc.toml" in outcome.failure.message
    )


def test_a_fence_that_cannot_be_made_runs_nothing(root, tier, monkeypatch):
    """The filter is refused by the kernel: the step fails, the command never starts."""
    monkeypatch.setattr(sandbox, "_filter", lambda sockets, namespaces: "00" * 8)
    outcome = run(root, "touch ran", only(tier))
    assert outcome.failure is not None or outcome.value["exit_code"] != 0
    assert not Path(root.path, "ran").exists()


def test_a_missing_program_says_so(root):
    with pytest.raises(ToolFailure, match="not installed"):
        shell._run(["no-such-program-here"], _context(root), {}, merge=True)


def _context(root):
    return context_room.Context(
        root=root, key="k", run="r", run_folder="", say=print, ask=str, bound=True, cancelled=context_room.Leaving(),
        shell_seconds=20.0, tool={}, operator=only("none"),
    )  # fmt: skip


def test_children_of_a_killed_controller_are_ended(root, tier, tmp_path):
    """SIGKILL of the controller: the launcher hears of it and ends what it began, orphans too."""
    import signal

    Path(root.path, "out").mkdir()
    code = (
        "import sys; sys.path.insert(0, 'tooling'); import tests.fault.test_sandbox as t; "
        "from fdc_toolchain.workspace.files import Root; "
        f"t.run(Root({root.path!r}), 'cd out;setsid sh -c \">started;sleep 60;>survived\" & sleep 90', t.only({tier!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    try:
        wait_for(Path(root.path, "out/started").exists)
        assert working_in(Path(root.path))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_for(lambda: not working_in(Path(root.path)))  # ended, or it has had its minute
    assert not Path(root.path, "out/survived").exists()
