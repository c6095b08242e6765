"""Kernels that have less than the sandbox needs: doctor and run name what is missing, and nothing is run in less than was said.

What is missing is taken away from the real process, and from all that it starts (`tests/support/lesser_kernel.py`).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from fdc_toolchain.sandbox import sandbox

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the filters are for x86_64"),
    pytest.mark.skipif(not sandbox.offered("landlock"), reason=sandbox.reason("landlock")),
]
LESSER = Path(ROOT, "tests/support/lesser_kernel.py")
PLAN = "set_plan x\nplan_step_complete y\nrun_in_bash_session touch src/ran\nclose_task\nsubmit\n"
DEVICES = "commands can open and control devices that they may read (before Linux 6.10)"
SIGNALS = "commands can signal other processes (before Linux 6.12)"


@pytest.fixture
def without(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of a machine without bubblewrap, for a workspace with a plan."""
    (workspace / "src").mkdir()
    (workspace / "p.plan").write_text(PLAN)
    programs = tmp_path_factory.mktemp("programs")
    for folder in (os.environ["PATH"] + ":/usr/bin:/bin").split(os.pathsep):
        for path in map(Path, (f"{folder}/bash", f"{folder}/true", f"{folder}/touch")):
            if path.exists() and not (programs / path.name).exists():
                (programs / path.name).symlink_to(path)
    return {"PATH": str(programs), "FDC_CACHE_DIR": str(programs / "cache")}


def on_less(what: str, *words: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    argv = [
        sys.executable,
        str(LESSER),
        what,
        sys.executable,
        str(Path(ROOT, "tooling/fdc_cli.py")),
    ]
    return subprocess.run(
        [*argv, *words], env=clean_environment(env), capture_output=True, text=True, check=False, timeout=300
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "lacking"), [(5, [SIGNALS]), (4, [DEVICES, SIGNALS]), (3, [DEVICES, SIGNALS])]
)
def test_an_older_landlock_is_refused_by_name_and_accepted_by_the_operator_only(
    workspace: Path, without: Mapping[str, str], version: int, lacking: list[str]
) -> None:
    kernel = f"landlock={version}"
    found = on_less(kernel, "doctor", env=without)
    assert found.returncode != 0 and all(word in found.stdout for word in lacking)
    refused = on_less(kernel, "run", "p.plan", env=without)
    assert refused.returncode != 0 and not (workspace / "src/ran").exists()
    assert all(word in refused.stderr for word in (*lacking, "--allow-weak-sandbox"))
    accepted = on_less(kernel, "run", "p.plan", "--allow-weak-sandbox", env=without)
    assert accepted.returncode == 0 and (workspace / "src/ran").exists(), accepted.stderr
    assert all(word in accepted.stderr for word in lacking)
    shown = fdc("show", "last", "--format", "json", cwd=workspace).stdout
    assert f'"lacking": {json.dumps(lacking)}' in " ".join(shown.split()).replace(
        "[ ", "["
    ).replace(" ]", "]")


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("landlock", "the kernel does not support it"), ("landlock_restrict", "landlock: Argument list too long"),
        ("openat2", "openat2: Function not implemented"), ("listener", "seccomp: Device or resource busy"),
        ("seccomp", "seccomp: Function not implemented"),
    ],
)  # fmt: skip
def test_what_a_sandbox_cannot_do_without_is_named_and_nothing_is_run(
    workspace: Path, without: Mapping[str, str], missing: str, named: str
) -> None:
    """`--allow-weak-sandbox` accepts a weaker sandbox, and not none."""
    found = on_less(missing, "doctor", env=without)
    assert (
        found.returncode != 0
        and "commands will be refused: this machine has no sandbox" in found.stdout
    )
    assert named in found.stdout
    refused = on_less(missing, "run", "p.plan", "--allow-weak-sandbox", env=without)
    assert refused.returncode != 0 and named in refused.stderr
    assert not (workspace / "src/ran").exists()


def test_a_bubblewrap_that_may_make_no_namespaces_is_not_to_be_installed(
    workspace: Path, without: Mapping[str, str]
) -> None:
    """As on Ubuntu, whose AppArmor forbids it: `install bubblewrap` was said of the one that is installed."""
    program = shutil.which("bwrap")
    words = [
        shutil.which("unshare") or "",
        "-Ur",
        "/bin/sh",
        "-c",
        'echo 0 > /proc/sys/user/max_user_namespaces && "$@"',
    ]
    if program is None or subprocess.run([*words, "sh", "true"], check=False).returncode:
        pytest.skip("there is no bubblewrap here, or no namespace in which it can fail")
    (Path(without["PATH"]) / "bwrap").symlink_to(program)
    fdc_there = [str(LESSER), "landlock", sys.executable, str(Path(ROOT, "tooling/fdc_cli.py"))]
    found = subprocess.run(
        [*words, "sh", sys.executable, *fdc_there, "doctor"],
        env=clean_environment(without), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert "let bubblewrap make user namespaces (docs/sandbox.md says how), or" in found.stdout
    assert "install bubblewrap" not in found.stdout


def test_without_mounts_the_doctor_says_what_commands_cannot_do(
    workspace: Path, without: Mapping[str, str]
) -> None:
    """As in a container that may not `unshare`: for root, too."""
    found = on_less("mounts", "doctor", env=without)
    assert "they can create files in existing folders only" in found.stdout
    assert on_less("mounts", "run", "p.plan", env=without).returncode == 0
    (workspace / "src/ran").unlink()


def test_an_attempt_that_is_remembered_runs_nothing_where_it_is_not_true_any_more(
    workspace: Path, without: Mapping[str, str]
) -> None:
    assert on_less("mounts", "run", "p.plan", env=without).returncode == 0
    (workspace / "src/ran").unlink()
    assert [path.parent.name for path in Path(without["FDC_CACHE_DIR"]).glob("sandbox/*")]
    failed = on_less("listener", "run", "p.plan", env=without)
    assert failed.returncode != 0 and "seccomp: Device or resource busy" in failed.stdout
    assert not (workspace / "src/ran").exists()
    assert "seccomp: Device or resource busy" in on_less("listener", "doctor", env=without).stdout
