"""The tests of what holds commands in, made by a user without an account: root passes where a right is missing.

That user has a copy of this checkout, an environment made of the system's Python, and the packages of ours to read. Nothing on
the machine changes. Where this process is an ordinary user's, all tests are made by one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.test_sandbox import STRANGER, stranger_python
from tests.support.background import PATIENCE
from tests.support.repository import ROOT

pytestmark = pytest.mark.long
MODULES = [
    "fault/test_closed_folders.py", "fault/test_git_tools.py", "fault/test_led_to.py", "fault/test_opened.py",
    "fault/test_own_git.py", "fault/test_protected.py", "fault/test_secret_files.py", "fault/test_secrets_masked.py",
    "fault/test_writable.py", "unit/test_hostile_files.py", "cli/test_hooks.py", "cli/test_pack_install.py",
]  # fmt: skip
_OTHER = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "node_modules")


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder of that user with `repo` and `env/bin/python`."""
    python = stranger_python() if os.getuid() == 0 else None
    if python is None:
        pytest.skip("this process is an ordinary user's, or there is no Python for one")
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    base = Path(tempfile.mkdtemp(prefix="fdc-user-"))
    try:
        base.chmod(0o755)
        shutil.copytree(ROOT, base / "repo", ignore=_NOT_COPIED)
        for name in (".ci", ".gitignore", ".pre-commit-hooks.yaml"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, base / "repo" / name)
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, base / "repo" / name)
        subprocess.run([python, "-m", "venv", "--without-pip", str(base / "env")], check=True)
        site = next(base.glob("env/lib/python*/site-packages"))
        (site / "ours.pth").write_text("\n".join([str(base / "repo" / "tooling"), *packages]))
        (base / "home").mkdir()
        for path in (base, *base.rglob("*")):
            os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        tried = subprocess.run(
            [base / "env/bin/python", "-c", "import pytest, hypothesis, fdc_toolchain, pydantic"],
            cwd=base, env={}, check=False, capture_output=True, text=True, **_OTHER,
        )  # fmt: skip
        if tried.returncode != 0:
            pytest.skip(f"that user cannot read our packages: {tried.stderr[-200:]}")
        yield base
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", str(base)], check=False)
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.parametrize("module", MODULES)
def test_what_holds_commands_in_holds_those_of_an_ordinary_user(home: Path, module: str) -> None:
    done = subprocess.run(
        [home / "env/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long and not soak and not live",
         f"tests/{module}"],
        cwd=home / "repo", capture_output=True, text=True, check=False, timeout=4 * PATIENCE, **_OTHER,
        env={"PATH": os.defpath, "HOME": str(home / "home"), "TMPDIR": str(home / "home"), "LANG": "C.UTF-8",
             "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    said = re.search(r"(\d+) passed", done.stdout)
    assert said is not None and int(said[1]) >= 3, done.stdout[-500:]
