"""`plan_manager` and `fdc registry` as real processes (FDC-42 to FDC-45)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.background import PATIENCE
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

WARNED = (
    "warning: the plan has errors, and plans that call it will have them too; run `fdc lint {}`\n"
)
SCRIPT = ROOT / "tooling" / "plan_manager.py"


def manager(cwd: Path, *arguments: str) -> tuple[int, str, str]:
    done = fdc(*arguments, cwd=cwd, script="plan_manager.py")
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def plans(workspace: Path) -> Path:
    (workspace / "plans").mkdir()
    for name in ("a", "b"):
        (workspace / "plans" / f"{name}.plan").write_text("set_plan x\n", "utf-8")
    return workspace


def registry(root: Path) -> bytes:
    return (root / "knowledge_core" / "plan_registry.json").read_bytes()


def test_the_printed_lines_are_those_of_the_rows(plans: Path) -> None:
    """FDC-43, FDC-44, FDC-45."""
    assert (0, "The plan registry is currently empty.\n") == manager(plans, "list")[:2]
    for name, path in (("second", "plans/b.plan"), ("a", "plans/a.plan")):
        assert (
            0,
            f"Successfully registered '{name}' -> '{path}'\n",
            WARNED.format(path),
        ) == manager(plans, "register", name, path)
    assert (0, "a      : plans/a.plan\nsecond : plans/b.plan\n", "") == manager(plans, "list")
    code, out, err = manager(plans, "register", "a", "plans/b.plan")
    assert (1, "") == (code, out) and "`plans/a.plan`" in err, "a duplicate shows the current path"
    code, out, err = manager(plans, "deregister", "secnod")
    assert (1, "") == (code, out) and "did you mean `second`?" in err
    assert (0, "Successfully deregistered 'a'\n", "") == manager(plans, "deregister", "a")
    assert b'{\n  "second": "plans/b.plan"\n}\n' == registry(plans), "only that key is gone"


def test_a_plan_without_errors_is_registered_without_a_warning(plans: Path) -> None:
    (plans / "plans/a.plan").write_text(
        "set_plan x\nplan_step_complete y\nclose_task\nsubmit\n", "utf-8"
    )
    assert (0, "") == manager(plans, "register", "a", "plans/a.plan")[::2]
    done = fdc("plan_manager", cwd=plans)
    assert 2 == done.returncode and "use `fdc registry`" in done.stderr


def test_the_file_does_not_depend_on_the_order_of_changes(plans: Path) -> None:
    for name in ("b", "a", "c"):
        manager(plans, "register", name, "plans/a.plan")
    first = registry(plans)
    for name in ("c", "a"):
        manager(plans, "deregister", name)
        manager(plans, "register", name, "plans/a.plan")
    assert first == registry(plans)
    assert ["a", "b", "c"] == list(json.loads(first))


def test_a_path_counts_from_where_the_user_stands(plans: Path) -> None:
    assert 0 == manager(plans / "plans", "register", "x", "a.plan")[0]
    elsewhere = plans.parent
    assert 0 == manager(elsewhere, "--workspace", str(plans), "register", "y", "plans/b.plan")[0]
    assert 0 == manager(elsewhere, "register", "z", "plans/b.plan", "--workspace", str(plans))[0]
    assert {"x": "plans/a.plan", "y": "plans/b.plan", "z": "plans/b.plan"} == json.loads(
        registry(plans)
    )


@pytest.mark.parametrize(
    ("name", "path", "words"),
    [
        ("x", "plans/absent.plan", "`plans/absent.plan` does not exist"),
        ("x", "plans", "`plans` is a folder"),
        ("x", "/etc/hostname", "outside the workspace"),
        ("../x", "plans/a.plan", "`../x` is not a plan name"),
        ("x\x1b[2J", "plans/a.plan", "`x\\u001b[2J` is not a plan name"),
    ],
)
def test_what_cannot_be_registered_is_refused(
    plans: Path, name: str, path: str, words: str
) -> None:
    """FDC-43."""
    code, out, err = manager(plans, "register", name, path)
    assert (1, "") == (code, out) and words in err and "Traceback" not in err
    assert not (plans / "knowledge_core" / "plan_registry.json").exists()


def test_a_damaged_registry_is_reported_by_every_command_and_left_untouched(plans: Path) -> None:
    """FDC-40."""
    damaged = b'{"a": "plans/a.plan",\n "a": 7}'
    (plans / "knowledge_core" / "plan_registry.json").write_bytes(damaged)
    for arguments in (["list"], ["audit"], ["deregister", "a"], ["register", "b", "plans/b.plan"]):
        code, out, err = manager(plans, *arguments)
        assert 1 == code, arguments
        assert (
            "knowledge_core/plan_registry.json:2:2: error[FDC325] the plan registry is damaged"
            in out + err
        ), arguments
        assert damaged == registry(plans)


def test_the_audit_fails_without_a_registry_and_passes_a_sound_one(plans: Path) -> None:
    """C-13."""
    code, out, _ = manager(plans, "audit")
    assert 1 == code and "FDC329" in out
    manager(plans, "register", "a", "plans/a.plan")
    assert (0, "The plan registry has no errors: 1 plan.\n", "") == manager(plans, "audit")


def test_the_audit_reports_dead_links_and_hidden_files(plans: Path) -> None:
    """FDC-41, FDC-42."""
    manager(plans, "register", "a", "plans/a.plan")
    code, _, err = manager(plans, "register", "plans/b.plan", "plans/a.plan")
    assert 0 == code and "FDC324" in err, "registering over a file's name is done, with a warning"
    (plans / "plans" / "a.plan").rename(plans / "plans" / "moved.plan")
    code, out, _ = manager(plans, "audit")
    assert 1 == code
    assert ["FDC328", "FDC324", "FDC328"] == re.findall(r"\[(FDC\d+)\]", out)
    assert "`plans/a.plan` does not exist" in out


def test_the_list_is_also_data(plans: Path) -> None:
    manager(plans, "register", "b", "plans/b.plan")
    manager(plans, "register", "a", "plans/a.plan")
    code, out, _ = manager(plans, "list", "--format", "json")
    said = json.loads(out)
    assert (0, 1) == (code, said["format"])
    assert [("a", "plans/a.plan"), ("b", "plans/b.plan")] == list(said["plans"].items())


def test_fdc_registry_is_the_same_command(plans: Path) -> None:
    manager(plans, "register", "a", "plans/a.plan")
    done = fdc("registry", "list", cwd=plans)
    assert (0, "a : plans/a.plan\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["register"],
        ["register", "a"],
        ["lst"],
        ["list", "--format", "yaml"],
        ["list", "--workspace", "/absent"],
    ],
)
def test_wrong_usage_is_told_apart(plans: Path, arguments: list[str]) -> None:
    code, out, err = manager(plans, *arguments)
    assert (2, "") == (code, out) and "Traceback" not in err


def test_a_world_that_fails_is_told_apart(plans: Path) -> None:
    (plans / "knowledge_core").rmdir()
    (plans / "knowledge_core").write_text("a file where the folder should be", "utf-8")
    code, out, err = manager(plans, "--workspace", str(plans), "register", "a", "plans/a.plan")
    assert (3, "") == (code, out) and "knowledge_core" in err and "Traceback" not in err


@pytest.mark.long
def test_many_registers_at_once_lose_none(plans: Path) -> None:
    """Real processes, each with a name of its own, started together."""
    children = [
        subprocess.Popen(
            [sys.executable, SCRIPT, "register", f"name-{number}", "plans/a.plan"],
            cwd=plans, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(24)
    ]  # fmt: skip
    answers = [child.communicate(timeout=PATIENCE) for child in children]
    assert [0] * 24 == [child.returncode for child in children], answers
    assert {f"name-{number}": "plans/a.plan" for number in range(24)} == json.loads(registry(plans))


@pytest.mark.slow
def test_of_many_registers_of_one_name_exactly_one_wins(plans: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, SCRIPT, "register", "name", f"plans/{'ab'[number % 2]}.plan"],
            cwd=plans, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(8)
    ]  # fmt: skip
    answers = [child.communicate(timeout=PATIENCE) for child in children]
    assert [0] + [1] * 7 == sorted(child.returncode for child in children)
    won = next(
        out for child, (out, _) in zip(children, answers, strict=True) if child.returncode == 0
    )
    assert won == f"Successfully registered 'name' -> '{json.loads(registry(plans))['name']}'\n"
