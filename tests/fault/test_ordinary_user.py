"""The tests of what holds commands in, made by a user without an account: root passes where a right is missing.

That user has a copy of this checkout, an environment made of the system's Python, and the packages of ours to read. Nothing on
the machine changes. Where this process is an ordinary user's, all tests are made by one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fault.test_sandbox import STRANGER, stranger_python
from tests.support.background import PATIENCE
from tests.support.repository import ROOT

pytestmark = pytest.mark.long
WITHOUT_LONG = "cli/test_pack_install.py"
"""Its long tests make environments beside this one, which would not find the packages that are read here."""
IN_CI = ["fault/test_git_tools.py", "fault/test_protected.py", "fault/test_secret_files.py"]
MORE = [
    "cli/test_answer.py", "cli/test_approvals.py", "cli/test_hooks.py", "cli/test_interrupted.py",
    "cli/test_pack_install.py", "cli/test_shadowed.py", "cli/test_ui_address.py", "cli/test_outside_lasts.py",
    "cli/test_replay_left.py", "cli/test_report.py", "cli/test_run.py", "fault/test_closed_folders.py",
    "fault/test_damaged_rows.py", "fault/test_first_start.py", "fault/test_identity.py", "fault/test_kill.py",
    "fault/test_led_to.py", "fault/test_lesser_kernel.py",
    "fault/test_older_record.py", "fault/test_opened.py", "fault/test_own_code.py",
    "fault/test_own_git.py", "fault/test_pg_world_fails.py", "fault/test_prune.py", "fault/test_scratch.py",
    "fault/test_secrets_masked.py", "fault/test_swapped_files.py", "fault/test_tamper.py", "fault/test_two_runs.py",
    "fault/test_web_fetch.py", "fault/test_workers.py", "fault/test_world_fails.py", "fault/test_writable.py",
    "mcp_server/test_approvals.py", "unit/test_hostile_files.py", "cli/test_kept_failures.py",
    "cli/test_outside_code.py", "cli/test_own_tools.py", "fault/test_cancel.py", "fault/test_prune_database.py",
    "fault/test_under_way.py", "fault/test_worker_keys.py",
]  # fmt: skip
_DATABASE = {name: value for name, value in os.environ.items() if name == "FDC_TEST_DATABASE"}
_OTHER = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "node_modules")


def _readable(packages: str, copy: Path) -> str:
    """A folder of packages that this user can read: a copy where they are in somebody's closed home."""
    if subprocess.run(["test", "-x", packages], check=False, **_OTHER).returncode != 0:
        shutil.copytree(packages, copy, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        return str(copy)
    return packages


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
        packages = [_readable(path, base / f"packages{at}") for at, path in enumerate(packages)]
        site = next(base.glob("env/lib/python*/site-packages"))
        (site / "ours.pth").write_text("\n".join([str(base / "repo" / "tooling"), *packages]))
        entry = "from fdc_toolchain.cli.fast_path import entry\nentry()\n"
        (base / "env/bin/fdc").write_text(f"#!{base}/env/bin/python\n{entry}")
        (base / "env/bin/fdc").chmod(0o755)
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


_HIDDEN = 'mount --make-rprivate / && mount --bind /dev/null "$1" && shift && exec "$@"'


def _alone(user: bool) -> list[str]:
    """The words before a command for which bubblewrap is not installed: its program is hidden from this process's children."""
    program = shutil.which("bwrap")
    words = ["unshare", "-m", "sh", "-c", _HIDDEN, "sh", program or "none"]
    if (
        program is None
        or subprocess.run([*words, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("there is no bubblewrap here, or nothing can be hidden")
    who = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    return [*words, *(who if user else [])]


def _passes(module: str, argv: Sequence[str | Path], home: Path, folder: Path, **who: Any) -> None:
    chosen = "not soak and not live" + " and not long" * (module in (*IN_CI, WITHOUT_LONG))
    done = subprocess.run(
        [*argv, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen, f"tests/{module}"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=4 * PATIENCE, **who,
        env={**_DATABASE, "PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8",
             "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    said = re.search(r"(\d+) passed", done.stdout)
    assert said is not None and int(said[1]) >= 1, done.stdout[-500:]


@pytest.mark.parametrize(
    "module", [*IN_CI, *(pytest.param(one, marks=pytest.mark.soak) for one in MORE)]
)
def test_what_holds_commands_in_holds_those_of_an_ordinary_user(home: Path, module: str) -> None:
    _passes(module, [home / "env/bin/python"], home / "home", home / "repo", **_OTHER)


@pytest.mark.soak
@pytest.mark.parametrize("module", [*IN_CI, *MORE])
def test_landlock_alone_holds_an_ordinary_users_commands(home: Path, module: str) -> None:
    _passes(module, [*_alone(True), home / "env/bin/python"], home / "home", home / "repo")


@pytest.fixture
def opened() -> Iterator[Path]:
    """A folder of root that others may enter, as some of its tests become another user; those above `tmp_path` are closed."""
    base = Path(tempfile.mkdtemp(prefix="fdc-root-"))
    try:
        base.chmod(0o755)
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.soak
@pytest.mark.parametrize("module", [*IN_CI, *MORE])
def test_landlock_alone_holds_roots_commands(opened: Path, module: str) -> None:
    _passes(module, [*_alone(False), sys.executable], opened, ROOT)


def test_who_has_no_home_gets_no_folder_of_it_in_the_workspace(home: Path) -> None:
    """`~` was a folder there: a clone that brought one had its cache obeyed, and no run began."""
    place = home / "place"
    place.mkdir()
    (place / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    os.chown(place, STRANGER, STRANGER)
    done = subprocess.run(
        [home / "env/bin/fdc", "run", "p.plan"], cwd=place, env={"PATH": os.defpath}, capture_output=True, text=True, check=False,
        **_OTHER,
    )  # fmt: skip
    assert done.returncode == 0 and "later: `fdc resume` will need --trust" in done.stderr, done
    assert {path.name for path in place.iterdir()} == {".fdc", "p.plan"}


def test_a_folder_that_may_not_be_read_is_told(home: Path) -> None:
    """Its files were left out of loops and searches without a word: a search found nothing, and said no more."""
    place = home / "glob"
    (place / "docs/shut").mkdir(parents=True)
    (place / "docs/shut/b.md").write_text("b\n")
    (place / "docs/a.md").write_text("a\n")
    plan = "set_plan x\nplan_step_complete x\nfor_each_file docs/**\n  message_user {file1}\ng <- grep b path=docs/**\n"
    (place / "p.plan").write_text(plan + "message_user {g}\nclose_task\nsubmit\n")
    for path in (place, *place.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    (place / "docs/shut").chmod(0)
    done = subprocess.run(
        [home / "env/bin/fdc", "run", "p.plan"], cwd=place, env={"PATH": os.defpath, "HOME": str(home / "home")},
        capture_output=True, text=True, check=False, **_OTHER,
    )  # fmt: skip
    assert done.returncode == 0, done
    assert 2 == done.stdout.count("left out, because the folder may not be read: 1"), done.stdout


@pytest.mark.parametrize("shut", ["protocols", "protocols/more", "knowledge_core", ".fdc"])
def test_what_may_not_be_looked_at_is_not_taken_for_absent(home: Path, shut: str) -> None:
    """Rules, registered names and labels of text from outside were dropped, and the plan was proved and run without them."""
    place = home / f"shut-{shut.replace('/', '-')}"
    for folder in {shut, "protocols/more"}:
        (place / folder).mkdir(parents=True, exist_ok=True)
    plan = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"
    (place / "p.plan").write_text(plan)
    rule = {
        "rule_id": "r",
        "description": "R.",
        "enforcement": "R.",
        "check": {"template": "absence", "a": "submit"},
    }
    source = {"protocol_id": "p", "description": "P.", "rules": [rule]}
    (place / "protocols/more/p.protocol.json").write_text(json.dumps(source))
    (place / "protocols/q.protocol.md").write_text("Prose.\n")
    (place / "VERSION").write_text("1.0.0\n")
    for path in (place, *place.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    (place / shut).chmod(0)
    for words in (["lint", "p.plan"], ["run", "p.plan"], ["protocols", "build"]):
        if words[0] == "protocols" and not shut.startswith("protocols"):
            continue
        done = subprocess.run(
            [home / "env/bin/fdc", *words], cwd=place, env={"PATH": os.defpath, "HOME": str(home / "home")},
            capture_output=True, text=True, check=False, **_OTHER,
        )  # fmt: skip
        said = "may not be read" if shut == ".fdc" else "ermission denied"
        assert done.returncode == 3 and said in done.stderr, (words, done)
    assert not (place / "AGENTS.md").exists()


def test_the_runs_of_an_archive_can_be_read(home: Path) -> None:
    """Whose files nobody may write: SQLite wants to make the files that its readers share there."""
    place = home / "archive"
    (place / "knowledge_core").mkdir(parents=True)
    (place / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    for path in (place, *place.rglob("*")):
        os.chown(path, STRANGER, STRANGER)

    def fdc(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [home / "env/bin/fdc", *words], cwd=place, env={"PATH": os.defpath, "HOME": str(home / "home")},
            capture_output=True, text=True, check=False, **_OTHER,
        )  # fmt: skip

    assert fdc("run", "p.plan").returncode == 0
    subprocess.run(["chmod", "-R", "a-w", str(place)], check=True)
    for words in (("runs",), ("show", "last"), ("verify",), ("replay", "last")):
        done = fdc(*words)
        assert (done.returncode, done.stderr) == (0, ""), done
    refused = fdc("run", "p.plan")
    said = "runs.sqlite: attempt to write a readonly database (permission denied)"
    assert refused.returncode == 3 and said in refused.stderr, refused
