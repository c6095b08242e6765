"""File systems that take `.FDC` for `.fdc`: a mount closes one spelling of a name, and commands reach the other."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.sandbox import attempts

from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete x\nrun_in_bash_session echo '# more' >> FDC.TOML\nclose_task\nsubmit\n"
SAID = "the file system of the workspace takes `.FDC` for `.fdc`"


def test_a_mount_is_looked_for_under_both_spellings(tmp_path: Path) -> None:
    if attempts.attempt("bubblewrap"):
        pytest.skip("this machine has no bubblewrap")
    (tmp_path / "fdc.toml").write_text("")
    (tmp_path / "FDC.TOML").write_text("")
    for one, other, closed in (
        ("fdc.toml", "fdc.toml", True), ("fdc.toml", "FDC.TOML", False), (".", ".", True)
    ):  # fmt: skip
        assert attempts._closes(str(tmp_path / one), str(tmp_path / other)) is closed
    assert attempts.spelled_otherwise(str(tmp_path), "bubblewrap") == "", "two files, as Linux has"


@pytest.fixture
def other_names(tmp_path: Path) -> Iterator[Path]:
    """A workspace on exFAT as FUSE gives it: the kernel holds each spelling for a file of its own."""
    if os.geteuid() or not all(map(shutil.which, ("mkfs.exfat", "mount.exfat-fuse", "losetup"))):
        pytest.skip("no exFAT can be mounted here")
    image, folder = tmp_path / "image", tmp_path / "exfat"
    image.write_bytes(bytes(32 << 20))
    folder.mkdir()
    subprocess.run(["mkfs.exfat", str(image)], check=True, capture_output=True)
    loop = subprocess.run(["losetup", "-f", "--show", str(image)], capture_output=True, text=True)
    device = loop.stdout.strip()
    mount = ["mount.exfat-fuse", "-o", "allow_other", device, str(folder)]
    try:
        if loop.returncode or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("no exFAT can be mounted here")
        (folder / "w/knowledge_core").mkdir(parents=True)
        yield folder / "w"
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True)
        if device:
            subprocess.run(["losetup", "-d", device], capture_output=True)


@pytest.mark.slow
def test_commands_on_exfat_are_refused_and_all_else_works(other_names: Path) -> None:
    (other_names / "fdc.toml").write_text("max-stack = 5\n")
    (other_names / "a.plan").write_text(PLAN)
    (other_names / "b.plan").write_text(PLAN.replace("run_in_bash_session", "message_user"))
    assert fdc("run", "b.plan", cwd=other_names).returncode == 0
    done = fdc("run", "a.plan", cwd=other_names)
    assert done.returncode == 3 and SAID in done.stderr, done
    assert "Move the workspace to a file system of Linux" in done.stderr
    assert SAID in fdc("doctor", cwd=other_names).stdout
    assert (other_names / "fdc.toml").read_text() == "max-stack = 5\n"
    done = fdc("run", "a.plan", "--allow-weak-sandbox", cwd=other_names)
    assert SAID in done.stderr, done
    # Whether fdc sees the change depends on how long the kernel holds what it knows of the other spelling.
    seen = (
        "the command changed `fdc.toml`, settings of fdc that steps must not change" in done.stdout
    )
    assert done.returncode == int(seen), done
    assert fdc("verify", cwd=other_names).returncode == 0
