"""The plan registry when the world breaks: kills, a stuck lock, a folder that cannot be written, links."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fdc_toolchain import durable
from fdc_toolchain.agent.audit import registry as work
from fdc_toolchain.linking.registry import REGISTRY

from tests.support.repository import ROOT

# A child that registers a name and is killed by the kernel at the n-th call of one system function.
CHILD = """
import os, signal, sys
sys.path.insert(0, {tooling!r})
from fdc_toolchain.agent.audit import registry
real = getattr(os, {function!r})
calls = 0
def deadly(*arguments, **options):
    global calls
    calls += 1
    if calls == {number} and not {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*arguments, **options)
    if calls == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(os, {function!r}, deadly)
print(registry.register({root!r}, "new", "x.plan").message, flush=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "knowledge_core").mkdir()
    (tmp_path / "x.plan").write_text("set_plan x\n", "utf-8")
    assert work.register(str(tmp_path), "old", "x.plan").done
    return tmp_path


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("function", "number"),
    [
        ("ftruncate", 1),
        ("pwrite", 1),
        ("listdir", 1),
        ("fchmod", 1),
        ("fsync", 1),
        ("replace", 1),
        ("fsync", 2),
    ],
)
def test_a_kill_anywhere_in_a_change_leaves_the_old_registry_or_the_new(
    root: Path, function: str, number: int, after: bool
) -> None:
    before = (root / REGISTRY).read_bytes()
    program = CHILD.format(
        tooling=str(ROOT / "tooling"), function=function, number=number, after=after, root=str(root)
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (-signal.SIGKILL, "") == (done.returncode, done.stdout), done.stderr
    renamed = function == "replace" and after or (function, number) == ("fsync", 2)
    now = (root / REGISTRY).read_bytes()
    assert ({"new": "x.plan", "old": "x.plan"} if renamed else {"old": "x.plan"}) == json.loads(now)
    assert renamed or before == now
    assert work.register(str(root), "next", "x.plan").done, "the dead holder's lock is free"
    left = sorted(os.listdir(root / "knowledge_core"))
    assert [".plan_registry.json.lock", "plan_registry.json"] == left, (
        "what the killed writer left is swept"
    )


def test_a_kill_at_random_moments_loses_no_answer_that_was_given(root: Path) -> None:
    """SIGKILL to a process that registers without pause: whatever it has announced is in the registry."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tooling')!r})\n"
        "from fdc_toolchain.agent.audit import registry\n"
        "for n in range(100_000):\n"
        f"    assert registry.register({str(root)!r}, f'{{sys.argv[1]}}-{{n}}', 'x.plan').done\n"
        "    print(f'{sys.argv[1]}-{n}', flush=True)\n"
    )
    announced = {"old"}
    for number in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", program, f"k{number}"], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(3 + number):
            announced.add(child.stdout.readline().strip())
        child.send_signal(signal.SIGKILL)
        announced.update(child.stdout.read().split())
        child.stdout.close()
        child.wait()
        registry, findings = work.load(str(root))
        assert ([], set()) == (findings, announced - set(registry.entries))


def test_a_lock_that_stays_taken_is_a_clear_error_and_changes_nothing(root: Path) -> None:
    before = (root / REGISTRY).read_bytes()
    with durable.exclusive(str(root / REGISTRY)):
        with pytest.raises(
            TimeoutError, match=f"process {os.getpid()} has held the lock for 0.05 s"
        ):
            work.register(str(root), "new", "x.plan", timeout=0.05)
        with pytest.raises(TimeoutError):
            work.deregister(str(root), "old", timeout=0.05)
        assert {"old": "x.plan"} == dict(work.load(str(root))[0].entries), "readers do not wait"
    assert before == (root / REGISTRY).read_bytes()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def as_nobody(act: Callable[[], object]) -> str:
    """What `act` returns or raises in a child process that may not write where root may."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            answer = repr(act())
        except OSError as error:
            answer = type(error).__name__
        except BaseException:
            answer = traceback.format_exc()
        os.write(writer, answer.encode()[:4096])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as stream:
        answer = stream.read().decode()
    os.waitpid(child, 0)
    return answer


def test_a_folder_that_cannot_be_written_is_an_error_of_the_world(open_folder: Path) -> None:
    (open_folder / "knowledge_core").mkdir()
    (open_folder / "x.plan").write_text("set_plan x\n", "utf-8")
    (open_folder / REGISTRY).write_text('{"old": "x.plan"}\n', "utf-8")
    for path in (open_folder / REGISTRY, open_folder / "knowledge_core", open_folder):
        path.chmod(0o444 if path.is_file() else 0o555)
    assert "PermissionError" == as_nobody(lambda: work.register(str(open_folder), "new", "x.plan"))
    assert "PermissionError" == as_nobody(lambda: work.deregister(str(open_folder), "old"))
    assert "{'old': 'x.plan'}" == as_nobody(lambda: dict(work.load(str(open_folder))[0].entries))
    assert '{"old": "x.plan"}\n' == (open_folder / REGISTRY).read_text("utf-8")


def test_permissions_of_the_registry_stay(root: Path) -> None:
    (root / REGISTRY).chmod(0o640)
    assert work.register(str(root), "new", "x.plan").done
    assert 0o640 == (root / REGISTRY).stat().st_mode & 0o777


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


def test_links_that_leave_the_workspace_are_refused_and_audited(root: Path, outside: Path) -> None:
    (outside / "evil.plan").write_text("set_plan x\n", "utf-8")
    (root / "file.plan").symlink_to(outside / "evil.plan")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe.plan")
    for path in (
        "file.plan",
        "folder/evil.plan",
        str(outside / "evil.plan"),
        f"../{outside.name}/evil.plan",
    ):
        outcome = work.register(str(root), "new", path)
        assert not outcome.done and (
            "outside the workspace" in outcome.message or "does not exist" in outcome.message
        )
    for path, words in {
        "loop": "cannot be reached",
        "pipe.plan": "not a regular file",
        "x\0": "cannot be shown",
    }.items():
        assert words in work.register(str(root), "new", path).message
    (root / REGISTRY).write_text(
        '{"a": "file.plan", "b": "folder/evil.plan", "c": "x.plan", "d": "loop"}', "utf-8"
    )
    assert ["`a` leads", "`b` leads", "`d` leads"] == [
        item.message[:9] for item in work.audit(str(root))
    ]


def test_a_link_inside_the_workspace_keeps_its_name_and_a_linked_workspace_is_the_workspace(
    root: Path,
) -> None:
    (root / "plans").mkdir()
    (root / "plans" / "current.plan").symlink_to("../x.plan")
    alias = root / "alias"
    alias.symlink_to(".")
    assert work.register(str(root), "c", "plans/current.plan").done
    assert work.register(str(alias), "d", str(alias / "x.plan")).done
    assert {"c": "plans/current.plan", "d": "x.plan", "old": "x.plan"} == json.loads(
        (root / REGISTRY).read_bytes()
    )


def test_a_linked_registry_is_changed_where_it_lies(root: Path) -> None:
    (root / "kept").mkdir()
    (root / REGISTRY).rename(root / "kept" / "registry.json")
    (root / REGISTRY).symlink_to("../kept/registry.json")
    assert work.register(str(root), "new", "x.plan").done
    assert (root / REGISTRY).is_symlink()
    assert {"new", "old"} == set(json.loads((root / "kept" / "registry.json").read_bytes()))


def test_a_registry_that_is_a_link_out_of_the_workspace_is_refused(
    root: Path, outside: Path
) -> None:
    target = outside / "registry.json"
    target.write_text("{}", "utf-8")
    (root / REGISTRY).unlink()
    (root / REGISTRY).symlink_to(target)
    with pytest.raises(PermissionError, match="out of the workspace"):
        work.register(str(root), "new", "x.plan")
    assert "{}" == target.read_text("utf-8")
