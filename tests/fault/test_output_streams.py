"""A report may go to a pipe or a device: it is written to, and stays what it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fdc_toolchain import durable

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    durable.output(str(pipe), b"report")
    reader.join()
    assert got == [b"report"] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes devices")
def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    """As root, `--output /dev/null` made a file of the device."""
    full = tmp_path / "full"
    try:
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        full.open("wb").close()
    except OSError:
        pytest.skip("no devices can be made or opened here")
    with pytest.raises(OSError, match="No space left"):
        durable.output(str(full), b"report")
    assert stat.S_ISCHR(full.stat().st_mode)


def test_a_report_takes_the_place_of_a_link_to_a_file(tmp_path: Path) -> None:
    """A clone may have a link of the name of a report."""
    (tmp_path / "mine").write_text("mine\n")
    for target in ("mine", "not-there"):
        link = tmp_path / f"to-{target}"
        link.symlink_to(target)
        durable.output(str(link), b"report")
        assert link.read_text() == "report" and not link.is_symlink()
    assert (tmp_path / "mine").read_text() == "mine\n" and not (tmp_path / "not-there").exists()


def test_a_report_may_go_to_the_standard_output(workspace: Path) -> None:
    (workspace / "a.plan").write_text("raed_file x\n")
    words = ["lint", "--format", "concise", "--output", "/dev/stdout", "a.plan"]
    before = os.readlink("/dev/stdout")
    done = fdc(*words, cwd=workspace)
    assert done.returncode == 1 and "a.plan:1:1: error[FDC301]" in done.stdout, done
    kept = workspace / "kept.txt"
    with kept.open("wb") as file:
        file.write(b"first\n")
        file.flush()
        subprocess.run(
            [sys.executable, ROOT / "tooling/fdc_cli.py", *words], cwd=workspace, env=clean_environment(), stdout=file
        )  # fmt: skip
    said = kept.read_text()
    assert said.startswith("first\n") and "a.plan:1:1: error[FDC301]" in said
    assert os.readlink("/dev/stdout") == before
