"""What a Python tool of a workspace can reach from inside each tier of the sandbox, and which code it is (finding B6)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Outcome
from fdc_toolchain.engine.ports import Waiting, WorldFailed
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import own_code
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

from tests.fault.test_sandbox import STRANGER, stranger_python
from tests.support.background import PATIENCE, wait_for
from tests.support.own_code import hashes
from tests.support.process import working_in
from tests.support.repository import PACKAGE

TIERS = [("bubblewrap", None), ("landlock", True), ("landlock", False)]
READ = {"effect": "read", "run": {"python": "own:tool"}, "parameters": []}
ONCE = {**READ, "effect": "once"}
FILES = {
    "data.txt": "data", "docs/a.md": "text", "docs/AGENTS.md": "rules below", ".env": "KEY=x", "conf/secrets.yaml": "key: x",
    "conf/app.pem": "key", "AGENTS.md": "rules", ".git/config": "[core]\n", ".git/hooks/x": "", ".fdc/runs.sqlite": "journal",
    "fdc.toml": "", "runs/r/outside/page.txt": "from outside", "runs/r/report.md": "report", "src/mine.py": "",
}  # fmt: skip
LOOK = """
import os

def _read(path):
    try:
        with open(path, "rb") as file:
            return len(file.read(64))
    except OSError as failed:
        return 0

def tool(paths=()):
    return {path: _read(path) for path in paths}
"""


@pytest.fixture(params=TIERS, ids=str)
def tier(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tier; Landlock also as where fdc may make no mounts, which is an ordinary user's."""
    name, mounts = request.param
    if not sandbox.offered(name):
        pytest.skip(f"{name}: {sandbox.reason(name)}")
    if mounts and not sandbox.mounting():
        pytest.skip("no mounts can be made here")
    if mounts is False:
        monkeypatch.setattr(sandbox, "mounting", lambda: False)
    return str(name)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    folder = tmp_path / "workspace"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    opened = Root(str(folder))
    yield opened
    opened.close()


def only(tier: str, **more: Any) -> Operator:
    return Operator(unsandboxed=tier == "none", tiers=(tier,), **more)  # type: ignore[arg-type]


def context(root: Root, operator: Operator, grants: Any = (), seconds: float = 60.0) -> Context:
    return Context(
        root=root, key="run:main/1", run="run", run_folder=os.path.join(root.path, ".fdc", "runs", "run"), say=print,
        ask=lambda question: "", bound=True, cancelled=Leaving(), shell_seconds=seconds, tool={}, grants=grants,
        operator=operator,
    )  # fmt: skip


def called(
    root: Root, tier: str, code: str, row: dict[str, Any] = READ, grants: Any = (), *, network: bool = False,
    seconds: float = 60.0, modules: dict[str, str] | None = None, **named: Any,
) -> Outcome:  # fmt: skip
    """What `own:tool` of the workspace brings in a tier."""
    if code:
        Path(root.path, "own.py").write_text(code)
    known = hashes(Path(root.path), [row]) if modules is None else modules
    where = context(root, only(tier, network=network), grants, seconds)
    return own_code.call("own:tool", row, where, known, [], named, "run:main/1")


def seen(root: Root, tier: str, row: dict[str, Any], *paths: str, **more: Any) -> set[str]:
    """Which of the files a tool with this row can read."""
    given = [os.path.join(root.path, path) for path in paths]
    value = called(root, tier, LOOK, row, paths=given, **more).value
    return {path for path, whole in zip(paths, given, strict=True) if value[whole]}


def test_a_tool_that_declares_nothing_reads_the_workspace_without_secrets_and_what_is_protected(
    root: Root, tier: str
) -> None:
    """What is left is what an honest tool needs; `docs/AGENTS.md` and the text of other runs are not among it."""
    found = seen(root, tier, READ, *FILES)
    assert {"data.txt", "docs/a.md", "runs/r/report.md"} == found


def test_a_pure_tool_reads_nothing_of_the_workspace(root: Root, tier: str) -> None:
    assert set() == seen(root, tier, {**READ, "effect": "pure"}, *FILES)


def test_a_tool_reads_what_its_row_names_and_what_its_parameters_name(
    root: Root, tier: str
) -> None:
    row = {**READ, "access": {"read": ["docs/**"]}}
    assert {"docs/a.md"} == seen(root, tier, row, *FILES)
    row = {**READ, "access": {"read": ["docs/**", "docs/AGENTS.md", ".env", ".git/config"]}}
    assert {"docs/a.md", "docs/AGENTS.md"} == seen(root, tier, row, *FILES)
    plan = ({"read": (tuple((False, name) for name in ("docs", "**")), ((False, ".env"),))},)
    assert {"docs/a.md", "docs/AGENTS.md", ".env"} == seen(
        root, tier, row, *FILES, grants=plan
    )  # by a plan, too
    named = {
        **READ,
        "access": {"read": []},
        "parameters": [{"name": "path", "kind": "path", "access": "read"}],
    }
    code = LOOK.replace("def tool(paths=()):", "def tool(path, paths=()):")
    given = [os.path.join(root.path, path) for path in FILES]
    value = called(root, tier, code, named, paths=given, path="data.txt").value
    assert ["data.txt"] == [path for path, whole in zip(FILES, given, strict=True) if value[whole]]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/shadow",
        "~/.ssh/id",
        "~/notes",
        "{outside}/precious",
        "/proc/{pid}/environ",
        "/proc/{pid}/mem",
    ],
)
def test_a_tool_reads_nothing_of_the_machine_and_of_the_user(
    root: Root, tier: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("home/.ssh/id", "home/notes", "outside/precious"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    there = os.path.expanduser(path).format(outside=tmp_path / "outside", pid=os.getpid())
    for row in (READ, {**READ, "effect": "pure"}):
        assert {there: 0} == called(root, tier, LOOK, row, paths=[there]).value


def test_a_tool_sees_no_secret_of_the_environment(
    root: Root, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_TOKEN", "TEAPOT", "PYTHONSTARTUP", "MY_API_KEY"):
        monkeypatch.setenv(name, "hunter2")
    code = """
import os

def tool():
    found = dict(os.environ)
    for number in range(1, 1 << 16):
        try:
            found[str(number)] = open(f"/proc/{number}/environ").read()
        except OSError:
            pass
    return found
"""
    found = called(root, tier, code).value
    assert "hunter2" not in json.dumps(found)
    row = {**READ, "access": {"env": ["TEAPOT", "MY_API_KEY"]}}
    found = called(root, tier, code, row).value
    assert ["TEAPOT"] == [name for name, text in found.items() if text == "hunter2"]


WRITE = """
import os

def _write(path):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "a") as file:
            file.write("x")
        return True
    except OSError:
        return False

def tool(paths):
    return [path for path in paths if _write(path)]
"""
TARGETS = [
    "data.txt", "new.txt", "out/a", "out/deep/b", ".git/hooks/pre-commit", ".git/config", ".fdc/runs.sqlite", "fdc.toml",
    "AGENTS.md", "docs/AGENTS.md", ".vscode/tasks.json", "own.py", "src/mine.py",
]  # fmt: skip


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
def test_a_tool_that_declares_nothing_writes_nothing(root: Root, tier: str, effect: str) -> None:
    before = sorted(str(path) for path in Path(root.path).rglob("*"))
    texts = {path: Path(root.path, path).read_text() for path in FILES}
    called(root, tier, WRITE, {**READ, "effect": effect}, paths=TARGETS)
    assert texts == {path: Path(root.path, path).read_text() for path in FILES}
    assert {*before, f"{root.path}/own.py", f"{root.path}/.fdc/runs"} >= {
        str(path) for path in Path(root.path).rglob("*")
    }


def grant(**kinds: str) -> dict[str, Any]:
    return {
        kind: tuple(((False, glob),) for glob in globs.split()) for kind, globs in kinds.items()
    }


def test_a_tool_writes_what_its_row_and_the_plans_name(root: Root, tier: str) -> None:
    row = {**ONCE, "access": {"write": ["out/**", "report.md"]}}
    assert {"out/a", "out/deep/b", "report.md"} == set(
        called(root, tier, WRITE, row, paths=[*TARGETS, "report.md"]).value
    )
    narrow = (grant(write="out/deep/**"),)
    assert {"out/deep/b"} == set(
        called(root, tier, WRITE, row, narrow, paths=[*TARGETS, "report.md"]).value
    )
    named = {**ONCE, "parameters": [{"name": "path", "kind": "path", "access": "write"}]}
    code = WRITE.replace("def tool(paths):", "def tool(path, paths):")
    assert ["data.txt"] == called(root, tier, code, named, path="data.txt", paths=TARGETS).value


def test_a_row_that_names_everything_opens_nothing_that_is_protected(root: Root, tier: str) -> None:
    """A row is the workspace's own word: for what is protected a plan has to name it, too."""
    texts = {path: Path(root.path, path).read_text() for path in FILES}
    row = {**ONCE, "access": {"write": ["**", "AGENTS.md", ".git/**", ".vscode/**", "fdc.toml"]}}
    for grants in ((), (grant(write="**"),)):
        try:
            called(
                root,
                tier,
                WRITE,
                row,
                grants,
                paths=[path for path in TARGETS if path not in ("own.py", "data.txt")],
            )
        except ToolFailure as failed:
            assert failed.kind == "protected"
        for path, text in texts.items():
            assert (
                path in ("src/mine.py", "data.txt") or text == Path(root.path, path).read_text()
            ), path
        assert (
            not Path(root.path, ".vscode/tasks.json").exists()
            and not Path(root.path, ".git/hooks/pre-commit").exists()
        )
    opened = (grant(write="AGENTS.md"),)
    assert ["AGENTS.md"] == called(
        root, tier, WRITE, row, opened, paths=["AGENTS.md", "docs/AGENTS.md"]
    ).value


CONNECT = """
import socket

def tool(port, path):
    found = []
    for family, address in ((socket.AF_INET, ("127.0.0.1", port)), (socket.AF_UNIX, path)):
        try:
            with socket.socket(family) as line:
                line.settimeout(5)
                line.connect(address)
                found.append(family.name)
        except OSError:
            pass
    return found
"""


@pytest.mark.parametrize(
    ("declared", "allowed", "granted"),
    [(False, True, True), (True, False, True), (True, True, False), (True, True, True)],
)
def test_the_network_needs_the_row_and_the_plan_and_the_operator(
    root: Root, tier: str, declared: bool, allowed: bool, granted: bool, tmp_path: Path
) -> None:
    row = {**READ, "trust": "untrusted", "access": {"net": True}} if declared else READ
    grants = (grant(net="*") if granted else {},)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "line"))
        local.listen()
        given = {"port": server.getsockname()[1], "path": str(tmp_path / "line")}
        value = called(root, tier, CONNECT, row, grants, network=allowed, **given).value
    assert ("AF_INET" in value) == (declared and allowed and granted)


def test_what_a_tool_leaves_behind_is_ended(root: Root, tier: str) -> None:
    code = """
import os, subprocess

def tool():
    subprocess.Popen(["/bin/sh", "-c", "sleep 2; echo > out/orphan"], start_new_session=True, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
    return "begun"
"""
    row = {**ONCE, "access": {"write": ["out/**"]}}
    assert "begun" == called(root, tier, code, row).value
    wait_for(lambda: not working_in(Path(root.path)))
    assert not Path(root.path, "out/orphan").exists()


def test_a_tool_that_takes_too_long_is_killed(root: Root, tier: str) -> None:
    code = "import time\n\ndef tool():\n    while True:\n        time.sleep(0.1)\n"
    with pytest.raises(ToolFailure, match="`own:tool`: the command took longer than 1 s") as failed:
        called(root, tier, code, {**READ, "limits": {"seconds": 1}})
    assert failed.value.kind == "timeout" and failed.value.notes["sandbox"] == tier
    wait_for(lambda: not working_in(Path(root.path)))


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ("raise ValueError('bad luck')", "error", "`own:tool` raised ValueError: bad luck"),
        ("raise SystemExit(7)", "error", "`own:tool` raised SystemExit: 7"),
        ("os._exit(7)", "error", "`own:tool` ended with exit code 7 before it returned"),
        ("os.kill(os.getpid(), 9)", "error", "`own:tool` ended with signal 9 before it returned"),
        (
            "os.write(3, b'[]'); os._exit(0)",
            "error",
            "`own:tool` ended with exit code 0 before it returned",
        ),
        ("return object()", "tool", "JSON cannot represent"),
        ("return float('nan')", "tool", "JSON cannot represent"),
        ("open('no-such-file')", "error", "`own:tool`, no-such-file: no such file or directory"),
        (
            "open('data.txt', 'w')",
            "error",
            "can access only what its row declares (`access`) and the plans allow",
        ),
        ("import absent_module", "error", "ModuleNotFoundError: No module named"),
        ("raise ToolFailure('busy', 'come back later')", "busy", "come back later"),
        ("raise ToolFailure('exists', 'it is there')", "error", "it is there"),
    ],
)
def test_whatever_a_tool_does_is_a_failure_of_its_step(
    root: Root, tier: str, body: str, kind: str, says: str
) -> None:
    code = f"import os\nfrom fdc_toolchain.workspace.failure import ToolFailure\n\ndef tool():\n    {body}\n"
    with pytest.raises(ToolFailure) as failed:
        called(root, tier, code)
    assert failed.value.kind == kind and says in str(failed.value), failed.value


def test_a_tool_may_wait_and_may_say_that_the_world_failed(root: Root, tier: str) -> None:
    code = "from fdc_toolchain.engine.ports import Waiting, WorldFailed\n\ndef tool(): raise {}\n"
    with pytest.raises(Waiting, match=r"who\?"):
        called(root, tier, code.format("Waiting('who?')"))
    with pytest.raises(WorldFailed, match="no space"):
        called(root, tier, code.format("WorldFailed('no space')"))


def test_what_a_tool_prints_is_no_result(root: Root, tier: str) -> None:
    code = "import subprocess\n\ndef tool():\n    print('{}')\n    subprocess.run(['echo', 'x'])\n    return 'mine'\n"
    assert "mine" == called(root, tier, code).value
    assert "ü" * 100_000 == called(root, tier, "def tool(): return 'ü' * 100_000\n").value


def test_without_a_sandbox_no_tool_is_run(root: Root) -> None:
    with pytest.raises(
        ToolFailure, match="`own:tool`: this machine has no sandbox for commands"
    ) as failed:
        own_code.call("own:tool", READ, context(root, Operator(tiers=("none",))), {}, [], {})
    assert failed.value.kind == "sandbox"


def test_a_weak_sandbox_needs_the_operators_word(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sandbox, "lacking", lambda tier, root=None: ("commands can signal processes (Linux 6.12)",)
    )
    Path(root.path, "own.py").write_text("def tool(): return 1\n")
    known = hashes(Path(root.path), [READ])
    tiers = tuple(one for one in ("bubblewrap", "landlock") if sandbox.offered(one))  # type: ignore[arg-type]
    with pytest.raises(ToolFailure, match="--allow-weak-sandbox"):
        own_code.call("own:tool", READ, context(root, Operator(tiers=tiers)), known, [], {})
    assert (
        1
        == own_code.call(
            "own:tool", READ, context(root, Operator(tiers=tiers, weak=True)), known, [], {}
        ).value
    )


# Which code it is

CODE = "from helper import one\nimport pack.inner\n\ndef tool(): return [one(), pack.inner.TWO]\n"


def code_files(root: Root) -> None:
    for path, text in (
        ("own.py", CODE),
        ("helper.py", "def one(): return 1\n"),
        ("pack/inner.py", "TWO = 2\n"),
    ):
        Path(root.path, path).parent.mkdir(exist_ok=True)
        Path(root.path, path).write_text(text)


def test_a_tool_is_made_of_all_that_it_imports_from_the_workspace(root: Root, tier: str) -> None:
    code_files(root)
    known = hashes(Path(root.path), [READ])
    assert ["helper.py", "own.py", "pack/inner.py"] == sorted(known)
    assert [1, 2] == called(root, tier, "", modules=known).value


@pytest.mark.parametrize("path", ["own.py", "helper.py", "pack/inner.py"])
def test_no_changed_file_is_run(root: Root, path: str) -> None:
    code_files(root)
    known = hashes(Path(root.path), [READ])
    whole = Path(root.path, path)
    for change in (
        lambda: whole.write_text("open('ran', 'w')\n"),
        whole.unlink,
        lambda: whole.symlink_to("/etc/hostname"),
    ):
        change()
        with pytest.raises(
            ToolFailure, match=f"`{path}` .* since the plan was proved, so `own:tool` is not run"
        ) as failed:
            called(root, "none", "", {**ONCE, "access": {"write": ["**"]}}, modules=known)
        assert failed.value.kind == "changed" and not Path(root.path, "ran").exists()


@pytest.mark.parametrize(
    "code",
    [
        "import importlib\ndef tool(): return importlib.import_module('hel' + 'per').one()\n",
        "def tool():\n    import sys\n    sys.path.insert(0, ROOT)\n    return __import__('hel' + 'per').one()\n",
    ],
)
def test_a_file_that_the_program_does_not_know_is_not_imported_by_a_computed_name(
    root: Root, tier: str, code: str
) -> None:
    """Whatever a tool puts on the import path."""
    Path(root.path, "helper.py").write_text("def one(): return 1\n")
    code = code.replace("ROOT", repr(root.path))
    with pytest.raises(
        ToolFailure,
        match=r"ImportError: `helper\.py` is not among the files that the plan was compiled with",
    ):
        called(root, tier, code)


def test_an_installed_module_goes_before_one_of_the_workspace(root: Root, tier: str) -> None:
    """A file of the workspace that is named like one of Python's own stands in for nothing."""
    Path(root.path, "json.py").write_text("raise RuntimeError('mine')\n")
    code = "import json\n\ndef tool(): return json.dumps([1])\n"
    assert "[1]" == called(root, tier, code).value


def test_a_source_folder_that_an_installation_points_at_is_the_workspaces_own(root: Root) -> None:
    """`pip install -e .` puts the workspace on the path of its environment: what lies there is compared all the same."""
    folder = Path(root.path, "src/shop")
    folder.mkdir()
    folder.joinpath("__init__.py").write_text("from .tea import brew\n")
    folder.joinpath("tea.py").write_text("def brew(): return 'tea'\n")
    row = {**READ, "run": {"python": "shop:brew"}}
    known = hashes(Path(root.path), [row])
    assert {"src/shop/__init__.py", "src/shop/tea.py"} == set(known)
    where = context(root, only("none"))
    assert "tea" == own_code.call("shop:brew", row, where, known, [], {}).value
    folder.joinpath("tea.py").write_text("def brew(): return 'poison'\n")
    with pytest.raises(ToolFailure, match="has changed"):
        own_code.call("shop:brew", row, where, known, [], {})


def test_an_ordinary_users_tools_are_held_too() -> None:
    """The same by a user without an account, who may make no mounts: what leads out, and what is declared."""
    if os.getuid() != 0:
        pytest.skip("this process is an ordinary user's: all of these tests are")
    python = stranger_python()
    if python is None:
        pytest.skip("there is no Python for a user without an account")
    base = Path(tempfile.mkdtemp(prefix="fdc-own-"))
    try:
        os.chmod(base, 0o755)
        shutil.copytree(
            PACKAGE, base / "tooling/fdc_toolchain", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.copy(Path(__file__).parents[1] / "support" / "own_code_user.py", base / "probe.py")
        home = base / "home"
        home.mkdir()
        (home / "precious").write_text("x")
        for path in (home, home / "precious"):
            os.chown(path, STRANGER, STRANGER)
        done = subprocess.run(
            [python, str(base / "probe.py"), str(home)], cwd=home, user=STRANGER, group=STRANGER, extra_groups=[],
            env={"PATH": os.defpath, "HOME": str(home), "PYTHONPATH": str(base / "tooling"), "SECRET_TOKEN": "hunter2hunter2",
                 "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(base)
    assert found, "no tier is offered to an ordinary user here"
    for tier, came in found.items():
        assert (
            [] == came["through"] and ["data.txt"] == came["read"] and ["out/a"] == came["written"]
        ), (tier, came)
