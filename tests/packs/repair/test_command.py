"""`fdc fix` as a user starts it, without a model and with one behind real HTTP: good, bad and hostile."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.repair.command import trace as fix_trace
from fdc_toolchain.runs import run_driver

from tests.support import inside, process
from tests.support.background import fdc_started, wait_for
from tests.support.database import Workers, database, needs_database
from tests.support.repaired import (
    CHECK,
    GOOD,
    held,
    shop,
    thinking,
)


def fixed(folder: Path, env: dict[str, str], *more: str) -> dict[str, Any]:
    """`fdc fix` in this process; its JSON, with the exit code. The tree is as it was."""
    before = held(folder)
    done = inside.fdc("fix", "--test", CHECK, "--format", "json", *more, cwd=folder, env=env)
    assert held(folder) == before or "--write" in more
    said: dict[str, Any] = {
        **json.loads(done.stdout),
        "code": done.returncode,
        "stderr": done.stderr,
    }
    return said


def traced(folder: Path, said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (folder / "runs" / said["run"] / "trace.json").read_text("utf-8")
    )
    return found


def reasons(folder: Path, said: dict[str, Any]) -> list[str | None]:
    return [one["failureReason"] for one in traced(folder, said)["iterations"]]


# ---- without a model -----------------------------------------------------------------------


def test_a_fault_of_one_line_is_repaired_without_a_model(tmp_path: Path) -> None:
    """HYP-08, 33, 46: the diff alone on stdout, the story on stderr, 0; the workspace is not touched; git takes the diff."""
    before = held(shop(tmp_path))
    done = process.fdc("fix", "--test", CHECK, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert done.stdout.startswith("--- a/shop/price.py\n+++ b/shop/price.py\n@@ ")
    assert "+    if members and total >= 100:" in done.stdout
    assert before == held(tmp_path) and {"check.py", "shop", "runs", ".fdc"} == set(
        os.listdir(tmp_path)
    )
    for part in (
        "fails: AssertionError: 100 != 90 (check.py:11)",
        "hypotheses, each tried in memory",
        "-> passes",
        "the workspace was not changed",
    ):
        assert part in done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert (folder / "repair.diff").read_text("utf-8") == done.stdout
    assert (folder / "original/shop/price.py").read_bytes() == before["shop/price.py"]
    subprocess.run(["git", "apply", "-"], input=done.stdout, text=True, cwd=tmp_path, check=True)
    assert (
        0
        == subprocess.run(
            shlex.split(CHECK), cwd=tmp_path, capture_output=True, check=False
        ).returncode
    )
    again = process.fdc("fix", "--test", CHECK, cwd=tmp_path)
    assert (0, "") == (again.returncode, again.stdout) and "already passes" in again.stderr


@pytest.mark.long
def test_a_resumed_repair_ends_with_the_diff_and_not_with_its_result_as_json(
    tmp_path: Path,
) -> None:
    shop(tmp_path)
    done = process.fdc("fix", "--test", CHECK, cwd=tmp_path)
    resumed = process.fdc("resume", "last", cwd=tmp_path)
    assert (0, 0) == (done.returncode, resumed.returncode)
    assert done.stdout == resumed.stdout.partition("fix, going on\n")[2]


@needs_database
@pytest.mark.long
def test_a_repair_of_a_database_ends_as_its_own_command_does(tmp_path: Path) -> None:
    """It printed the result as JSON there, and wrote no page."""
    shop(tmp_path)
    done = process.fdc("fix", "--test", "false", "--max-iterations", "1", cwd=tmp_path)
    with database() as url, Workers(url, tmp_path, "--allow-unsandboxed") as workers:
        workers.start()
        words = ("fix", "test=false", "iterations=1", "--database", url)
        process.fdc("run", *words, cwd=tmp_path)
        resumed = process.fdc("resume", "last", "--database", url, cwd=tmp_path)
    assert (1, 1) == (done.returncode, resumed.returncode), resumed
    assert "" == done.stdout == resumed.stdout.partition("fix, going on\n")[2]
    [page] = [word for word in resumed.stderr.split() if word.endswith("case.html")]
    assert (tmp_path / page).is_file()
    assert done.stderr[done.stderr.index("given up") :].splitlines()[0] in resumed.stderr


def test_write_puts_it_into_the_workspace_and_says_where_the_original_is(tmp_path: Path) -> None:
    """HYP-46; nothing else changes."""
    before = held(shop(tmp_path))
    done = process.fdc("fix", "--test", CHECK, "--write", "shop", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    now = held(tmp_path)
    assert {"shop/price.py"} == {name for name in now if now[name] != before[name]}
    assert b">= 100" in now["shop/price.py"] and "written: shop/price.py" in done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert (folder / "original/shop/price.py").read_bytes() == before["shop/price.py"]


def test_what_no_failing_test_runs_is_no_suspect_and_what_cannot_be_had_is_said(
    tmp_path: Path,
) -> None:
    """HYP-46: 1 where nothing helped, with nothing on stdout."""
    shop(
        tmp_path,
        {
            "check.py": "import sys\n\nfrom shop import price\n\nsys.exit('no such thing as success')\n"
        },
    )
    done = process.fdc("fix", "--test", CHECK, "--max-iterations", "3", cwd=tmp_path)
    assert (1, "") == (done.returncode, done.stdout) and "given up" in done.stderr


@pytest.mark.soak
def test_some_failures_gone_and_others_left_is_partial(tmp_path: Path) -> None:
    """HYP-46: 3; each cycle takes on the first error; what is partial is not written."""
    more = "    def test_never(self):\n        self.assertEqual(discount(1, False), 'a pony')\n\n\nunittest.main()\n"
    text = held(shop(tmp_path))["check.py"].decode().replace("\nunittest.main()\n", more)
    shop(tmp_path, {"check.py": text})
    before = held(tmp_path)
    done = process.fdc("fix", "--test", CHECK, "--write", "--max-iterations", "4", cwd=tmp_path)
    assert 6 == done.returncode, done.stderr
    assert (
        ">= 100" in done.stdout
        and "fewer failures; now first:" in done.stderr
        and before == held(tmp_path)
    )


@pytest.mark.long
def test_a_patch_that_never_ends_is_stopped_and_the_repair_goes_on(tmp_path: Path) -> None:
    """HYP-38, T-48: a run of the command has a limit."""
    shop(tmp_path)
    endless = GOOD.replace("+    if", "+    __import__('time').sleep(99)\n+    if").replace(
        "-6 +6 @@", "-6 +6,2 @@"
    )
    with thinking(patch=[endless, GOOD]) as (_, env):
        said = fixed(tmp_path, env, "--test-timeout", "6")
    assert (
        0 == said["code"]
        and ["compile-124", None] == reasons(tmp_path, said)
        and "took longer than 6 s" in said["stderr"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--test COMMAND is missing"), (("--test", " "), "--test COMMAND is missing"),
        (("--test", "true", "gone.py"), "`gone.py` does not exist"), (("--test", "true", "../x"), "not in the workspace"),
        (("--test", "true", "--max-iterations", "201"), "201"),
        (("--resume", "nobody"), "no run begins with"), (("--test", "true", "--budget", "hope=3"), "hope"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_a_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = inside.fdc("fix", *arguments, cwd=tmp_path)
    assert 2 == done.returncode and said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.long
def test_without_discipline_it_is_generate_and_test(tmp_path: Path) -> None:
    """The same patches, run and told, without a hypothesis."""
    said = fixed(shop(tmp_path), {"FDC_MODEL": ""}, "--no-discipline")
    assert (0, "fixed") == (said["code"], said["status"]) and ">= 100" in said["diff"]
    assert all(not rows for rows in said["hypotheses"].values())


SLOW = {
    "check.py": "import time\nimport unittest\n\nfrom shop.price import discount\n\n\nclass P(unittest.TestCase):\n"
    "    def test(self):\n        time.sleep(0.5)\n        self.assertEqual(discount(100, True), 90)\n\n\nunittest.main()\n"
}


@pytest.mark.long
def test_kill_9_in_the_middle_leaves_the_tree_and_the_repair_goes_on(tmp_path: Path) -> None:
    """The copy was patched when it was killed; what is recorded is not done again."""
    before = held(shop(tmp_path, SLOW))
    with fdc_started(
        "fix", "--test", CHECK, "--write", cwd=tmp_path, start_new_session=True
    ) as killed:
        wait_for(
            lambda: (
                b">= 100"
                in next(
                    iter([p.read_bytes() for p in tmp_path.glob(".fdc/runs/*/copy/shop/price.py")]),
                    b"",
                )
            )
        )
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    assert before == held(tmp_path)
    with run_driver.reading(str(tmp_path)) as store:
        told, _ = fix_trace.told(store, run_driver.the_run(store, "last"))  # type: ignore[arg-type]
    assert (
        "running" in {phase["status"] for phase in told["iterations"][-1]["phases"]}
        and "" == told["status"]
    )
    done = process.fdc("fix", "--resume", "last", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert ">= 100" in done.stdout and b">= 100" in held(tmp_path)["shop/price.py"]
    assert (
        1 == len(list((tmp_path / "runs").iterdir()))
        and 0 == process.fdc("replay", "last", cwd=tmp_path).returncode
    )


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    """The edit of somebody else survives, and nothing is half-written."""
    theirs = b"# mine now\n"

    def patch(body: dict[str, Any], number: int) -> str:
        (tmp_path / "shop/price.py").write_bytes(theirs)
        return GOOD

    shop(tmp_path)
    with thinking(patch=patch) as (_, env):
        done = inside.fdc("fix", "--test", CHECK, "--write", cwd=tmp_path, env=env)
    assert (
        1 == done.returncode
        and "`shop/price.py` was changed while it was repaired; nothing was written" in done.stderr
    )
    assert theirs == (tmp_path / "shop/price.py").read_bytes() and "Traceback" not in done.stderr


@pytest.mark.long
def test_a_provider_that_is_gone_is_the_world_and_the_repair_can_be_resumed(tmp_path: Path) -> None:
    """HYP-46 takes 3; the world is 5 here."""
    shop(tmp_path)
    with thinking() as (_, env):
        gone = {**env, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        failed = inside.fdc(
            "fix", "--test", CHECK, "--budget", "seconds=600", cwd=tmp_path, env=gone
        )
        assert 3 == failed.returncode and "--resume" in failed.stderr, failed.stderr
        done = inside.fdc("fix", "--resume", "last", cwd=tmp_path, env=env)
    assert 0 == done.returncode and GOOD.splitlines()[-1] in done.stdout, done.stderr


@pytest.mark.long
def test_a_package_that_is_installed_from_the_workspace_is_not_tested_instead_of_the_copy(
    tmp_path: Path,
) -> None:
    """PYTHONPATH of the copy comes before a `.pth` that leads back to the workspace."""
    shop(tmp_path / "w")
    check = f"import site, sys; site.addsitedir({str(tmp_path / 'site')!r})\n"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "shop.pth").write_text(f"{tmp_path / 'w'}\n")
    (tmp_path / "w" / "tests").mkdir()
    text = (tmp_path / "w" / "check.py").read_text("utf-8")
    (tmp_path / "w" / "tests" / "check.py").write_text(check + text)
    done = process.fdc(
        "fix", "--test", f"{shlex.quote(sys.executable)} tests/check.py", cwd=tmp_path / "w"
    )
    assert 0 == done.returncode and ">= 100" in done.stdout, done.stderr
