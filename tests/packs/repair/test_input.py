"""`fdc fix` where what it is given is odd: test commands that say nothing of the code, files that are not as most are."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.report.diff import unified

from tests.support import inside
from tests.support.repaired import CHECK, GOOD, held, hypothesis, region, shop, thinking

PYTHON = shlex.quote(sys.executable)


def fixed(
    folder: Path, test: str, *more: str, env: dict[str, str] | None = None
) -> tuple[int, dict[str, Any], str]:
    """`fdc fix` in this process: its exit code, its JSON and its story."""
    done = inside.fdc(
        "fix", "--test", test, "--format", "json", *more, cwd=folder, env=env or {"FDC_MODEL": ""}
    )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def measured(folder: Path, run: str) -> dict[str, Any]:
    """What the first run of the test command recorded."""
    done = inside.fdc("show", run, "--format", "json", cwd=folder)
    assert 0 == done.returncode, done.stderr
    steps = json.loads(done.stdout)["records"]
    told: dict[str, Any] = next(
        row["body"]["value"] for row in steps if row.get("tool") == "run_tests"
    )
    return told


# ---- the test command ----------------------------------------------------------------------


def test_a_command_that_is_not_found_ends_it_before_any_hypothesis(tmp_path: Path) -> None:
    """HYP-38: no exit code, and what bash says on stderr. It was taken for a fault of the code, with 15 patches against it."""
    code, said, _ = fixed(shop(tmp_path), "nosuchprogram --x")
    assert (1, "no-command", "none", 0) == (code, said["ended"], said["status"], said["iterations"])
    value = measured(tmp_path, said["run"])
    assert (
        value["exit_code"] is None and "nosuchprogram" in value["stderr"] and "" == value["stdout"]
    )


def test_both_streams_and_the_exit_code_are_recorded(tmp_path: Path) -> None:
    """HYP-38, 18: apart; the error counts that stdout tells, though stderr has a warning that is always the same."""
    say = "import sys; print('a.c:1:2: error: the one'); print('a warning', file=sys.stderr); sys.exit(9)"
    code, said, _ = fixed(shop(tmp_path), f'{PYTHON} -c "{say}"', "--max-iterations", "1")
    value = measured(tmp_path, said["run"])
    assert (9, "a.c:1:2: error: the one\n", "a warning\n") == (
        value["exit_code"],
        value["stdout"],
        value["stderr"],
    )
    assert 1 == code and "the one" == said["failure"]["message"]


@pytest.mark.long
def test_a_test_that_fails_now_and_then_repairs_nothing(tmp_path: Path) -> None:
    """With the patch it passes once and then never: what passes by luck is not a repair."""
    turn = "import os, sys\nimport shop.price\nshop.price.discount(100, True)\n"
    turn += "if '>=' not in open('shop/price.py').read() or os.path.exists('seen'):\n    sys.exit('not this time')\n"
    shop(tmp_path, {"turn.py": f"{turn}open('seen', 'w').close()\n"})
    with thinking(patch=GOOD) as (_, env):
        code, said, story = fixed(tmp_path, f"{PYTHON} turn.py", "--max-iterations", "2", env=env)
    assert (1, "bound", "") == (code, said["ended"], said["diff"]), story
    assert "it passed, and failed when it was run again" in said["history"][0]


def test_a_test_that_passes_when_nothing_was_changed_is_called_flaky(tmp_path: Path) -> None:
    """It fails only the first time: no repair can be measured with it, and none is tried."""
    shop(tmp_path, {"once.py": "import os, sys\nfrom shop import price\nif not os.path.exists('seen'):\n"
                               "    open('seen', 'w').close()\n    sys.exit('not this time')\n"})  # fmt: skip
    done = inside.fdc("fix", "--test", f"{PYTHON} once.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert (1, "") == (done.returncode, done.stdout) and "0 iterations" in done.stderr
    assert "passed when it was repeated without a change" in done.stderr


@pytest.mark.long
def test_a_test_that_prints_very_much_is_cut(tmp_path: Path) -> None:
    """Beginning and end are kept; the repair goes on."""
    text = held(shop(tmp_path))["check.py"].decode()
    (tmp_path / "check.py").write_text(f"for _ in range(20_000):\n    print('x' * 1000)\n{text}")
    code, said, _ = fixed(tmp_path, CHECK)
    assert (0, "fixed") == (code, said["status"])
    journal = sum(path.stat().st_size for path in (tmp_path / ".fdc").rglob("*") if path.is_file())
    assert journal < 20_000_000


@pytest.mark.parametrize(
    "more",
    [("--max-iterations", "201"), ("--passes", "201"), ("--passes", "many"),
     ("--max-iterations", "100", "--refine-sub-iterations", "1", "--passes", "2")],
)  # fmt: skip
def test_a_bound_that_no_plan_allows_is_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    """HYP-32: 200 iterations in all; what is below the least counts as the least."""
    done = inside.fdc("fix", "--test", "true", *more, cwd=shop(tmp_path))
    assert 2 == done.returncode and "Traceback" not in done.stderr


def test_numbers_below_the_least_are_the_least(tmp_path: Path) -> None:
    """HYP-32: (max(1, 0) + max(0, -1)) x max(1, -5) is one iteration."""
    with thinking(patch=GOOD.replace(">= 100", "> 101")) as (_, env):
        more = ("--max-iterations", "0", "--refine-sub-iterations", "-1", "--passes", "-5")
        code, said, _ = fixed(shop(tmp_path), CHECK, *more, env=env)
    assert (1, "bound", 1) == (code, said["ended"], said["iterations"])


def test_the_command_can_run_with_the_patched_files_alone(tmp_path: Path) -> None:
    """HYP-38: a folder with FILES and nothing else; the workspace's other files are not there."""
    (tmp_path / "one.py").write_text("limit = 100\nassert 100 > limit, 'limit'\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    test = f"test ! -e other.py && {PYTHON} one.py"
    code, said, story = fixed(tmp_path, test, "--alone", "one.py")
    assert 0 == code and "-assert 100 > limit" in said["diff"], story
    assert 2 == inside.fdc("fix", "--test", test, "--alone", cwd=tmp_path).returncode


# ---- the files -----------------------------------------------------------------------------


@pytest.mark.soak
def test_who_names_a_folder_does_not_mean_its_tests(tmp_path: Path) -> None:
    """E17: a repair of a package that has its tests inside changed one of them, and passed. Tests that are named are meant."""
    (tests := tmp_path / "pkg" / "tests").mkdir(parents=True)
    (tmp_path / "pkg" / "code.py").write_text("x = 1\n")
    (tests / "test_code.py").write_text("assert True\n")
    for names, count in (
        (["pkg"], "1 file"),
        (["."], "1 file"),
        (["pkg/tests"], "1 file"),
        (["pkg", "pkg/tests/test_code.py"], "2 files"),
        ([], "1 file"),
    ):
        test = f"{PYTHON} -c 'raise SystemExit(7)'"
        code, _, story = fixed(tmp_path, test, *names)
        assert 1 == code and f"copied; {count} may be changed" in story, (names, story)


ENDS = {
    "crlf": lambda text: text.replace(b"\n", b"\r\n"), "bom": lambda text: b"\xef\xbb\xbf" + text,
    "no-end": lambda text: text.rstrip(b"\n"), "tabs": lambda text: text.replace(b"    ", b"\t"),
    "mixed": lambda text: text.replace(b"\n", b"\r\n", 5),
    "form-feed": lambda text: text.replace(b"\n\n\ndef", b"\n\n\x0c\ndef"),
    "separators": lambda text: text.replace(b'"""Prices."""', '"""Prices\u2028of\x85\x1c things."""'.encode()),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [name if name == "crlf" else pytest.param(name, marks=pytest.mark.soak) for name in ENDS],
)
def test_only_the_line_of_the_fault_changes_by_a_byte(tmp_path: Path, name: str) -> None:
    """What ends lines, begins files and indents stays; git takes the diff as it is printed."""
    shop(tmp_path)
    path = tmp_path / "shop/price.py"
    before = ENDS[name](path.read_bytes())
    path.write_bytes(before)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/shop").mkdir()
    (tmp_path / "copy/shop/price.py").write_bytes(before)
    code, said, story = fixed(tmp_path, CHECK, "--write", "shop/price.py")
    assert 0 == code, story
    after = path.read_bytes()
    assert after == before.replace(b"total > 100", b"total >= 100")
    subprocess.run(
        ["git", "apply", "-"], input=said["diff"].encode(), cwd=tmp_path / "copy", check=True
    )
    assert after == (tmp_path / "copy/shop/price.py").read_bytes()


@pytest.mark.long
def test_a_file_that_is_not_utf_8_is_left_alone_and_others_are_repaired(tmp_path: Path) -> None:
    shop(tmp_path, {"shop/other.py": "x = 1\n"})
    latin = b"# -*- coding: latin-1 -*-\nname = '\xe9'\n"
    (tmp_path / "shop/other.py").write_bytes(latin)
    code, _, story = fixed(tmp_path, CHECK, "--write", "shop")
    assert 0 == code and latin == (tmp_path / "shop/other.py").read_bytes(), story
    price = tmp_path / "shop/price.py"
    price.write_bytes(
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n" + price.read_bytes().replace(b">=", b">")
    )
    done = inside.fdc("fix", "--test", CHECK, "shop/price.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert (1, "") == (
        done.returncode,
        done.stdout,
    ) and "`shop/price.py` is not UTF-8" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_the_world(tmp_path: Path) -> None:
    shop(tmp_path)
    (tmp_path / "shop").chmod(0o555)
    try:
        code, _, story = fixed(tmp_path, CHECK, "--write", "shop")
    finally:
        (tmp_path / "shop").chmod(0o755)
    assert code in (1, 5) and b"> 100" in (tmp_path / "shop/price.py").read_bytes(), story


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """The file that may be changed is a link to one outside of the workspace."""
    shop(tmp_path / "w")
    real = tmp_path / "price.py"
    (tmp_path / "w/shop/price.py").rename(real)
    before = real.read_bytes()
    (tmp_path / "w/shop/price.py").symlink_to(real)
    done = inside.fdc(
        "fix",
        "--test",
        CHECK,
        "--write",
        "shop/price.py",
        cwd=tmp_path / "w",
        env={"FDC_MODEL": ""},
    )
    assert done.returncode != 0 and before == real.read_bytes() and "Traceback" not in done.stderr
    assert "link" in done.stderr, done.stderr


@pytest.mark.long
def test_a_git_tree_with_changes_keeps_them(tmp_path: Path) -> None:
    """What was not committed is repaired as it is; nothing is staged, stashed or committed."""
    shop(tmp_path)

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        return subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    git("add", "check.py", "shop/__init__.py")
    git("commit", "-qm", "one")
    (tmp_path / "check.py").write_text((tmp_path / "check.py").read_text() + "# mine\n")
    before = git("status", "--porcelain"), git("rev-parse", "HEAD")
    code, _, story = fixed(tmp_path, CHECK, "--write", "shop")
    assert 0 == code, story
    now = [
        line
        for line in git("status", "--porcelain").splitlines()
        if ".fdc" not in line and "runs" not in line
    ]
    assert (now, git("rev-parse", "HEAD")) == (before[0].splitlines(), before[1])
    assert (tmp_path / "check.py").read_text().endswith("# mine\n")


# ---- the loop ------------------------------------------------------------------------------


def test_without_a_model_too_a_stall_replaces_the_hypothesis(tmp_path: Path) -> None:
    """HYP-29: message, place and region as in the iteration before. Nothing can be tried in memory here, so stalls occur."""
    (tmp_path / "one.py").write_text("def limit(a, b):\n    return a > 100 and b + 1 < 3\n")
    code, said, _ = fixed(tmp_path, "exit 7", "--max-stalls", "3", "one.py")
    assert (1, "stalled") == (code, said["ended"])
    told = json.loads((tmp_path / "runs" / said["run"] / "trace.json").read_text("utf-8"))[
        "iterations"
    ]
    assert [True] * 3 == [one["telemetry"]["stall"] for one in told[-3:]] and not told[0][
        "telemetry"
    ]["stall"]
    for before, one in zip(told, told[1:], strict=False):
        same = before["region"] == one["region"]
        assert one["telemetry"]["stall"] == same and (one["failureReason"] == "stall") == same
    tried = [one["selectedHypothesisId"] for one in told]
    assert len(set(tried)) == len(tried)
    assert {"archived"} == {told[-1]["telemetry"]["hypothesisStatuses"][one] for one in tried}


THREE = "bad one\nbad two\nbad three\n"
COMPILER = """import sys
errors = [f"a.c:{at}:1: error: {line}" for at, line in enumerate(open("a.c").read().splitlines(), 1) if "bad" in line]
print("\\n".join(errors), file=sys.stderr)
sys.exit(bool(errors))
"""


def answers() -> dict[str, Any]:
    """A model that repairs the error that is the first one."""

    def diagnose(body: dict[str, Any], number: int) -> dict[str, Any]:
        where = region(number, number, "a.c")
        rivals = [
            hypothesis(f"line {number} is bad", where, 0.9),
            hypothesis(f"{number} is not", where, 0.1, "none"),
        ]
        return {"hypotheses": rivals}

    def patch(body: dict[str, Any], number: int) -> str:
        bad = THREE.splitlines()[number - 1]
        return f"--- a/a.c\n+++ b/a.c\n@@ -{number} +{number} @@\n-{bad}\n+{bad.replace('bad', 'good')}\n"

    return {"diagnose": diagnose, "patch": patch}


@pytest.mark.long
@pytest.mark.parametrize(("most", "code", "ended"), [("9", 0, "fixed"), ("2", 6, "bound")])
def test_each_cycle_repairs_the_first_error(
    tmp_path: Path, most: str, code: int, ended: str
) -> None:
    """HYP-46: three errors, three cycles; 6 where some are left; stdout is the diff and nothing else."""
    (tmp_path / "a.c").write_text(THREE)
    (tmp_path / "compiler.py").write_text(COMPILER)
    with thinking(**answers()) as (_, env):
        done = inside.fdc(
            "fix",
            "--test",
            f"{PYTHON} compiler.py",
            "--max-iterations",
            most,
            "a.c",
            cwd=tmp_path,
            env=env,
        )
    assert code == done.returncode, done.stderr
    count = min(3, int(most))
    good = THREE.replace("bad", "good", count)
    assert unified("a.c", THREE, good) == done.stdout
    assert count == done.stderr.count(" hypotheses") and THREE == (tmp_path / "a.c").read_text()
    [folder] = (tmp_path / "runs").iterdir()
    told = json.loads((folder / "trace.json").read_text("utf-8"))
    assert ["primary"] * count == [one["kind"] for one in told["iterations"]] and ended == told[
        "ended"
    ]


def test_a_patch_with_wrong_context_is_merged_by_git(tmp_path: Path) -> None:
    """HYP-37: as a step of the plan; the tests decide, as of every patch."""
    doc = '     """Members get ten percent off from 100 on."""'
    lines = [
        " a line that is not there",
        doc,
        *GOOD.splitlines()[3:],
        "         return total * 0.9",
        " this is invented as well",
    ]
    with thinking(patch="\n".join(["@@ @@", *lines])) as (_, env):
        got, said, story = fixed(shop(tmp_path), CHECK, env=env)
    assert (0, 1) == (got, said["iterations"]), story
    shown = json.loads(inside.fdc("show", said["run"], "--format", "json", cwd=tmp_path).stdout)
    assert ["check_patch", "merge_files", "check_patch"] == [
        row["tool"]
        for row in shown["records"]
        if row.get("tool") in ("check_patch", "merge_files") and row["kind"] == "outcome"
    ][-3:]


def test_a_folder_without_python_is_told_from_a_file_that_is_not_there(tmp_path: Path) -> None:
    """HYP-46: `no file is lib` of a folder that is there sent its reader looking for a typing error."""
    shop(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.js").write_text("module.exports = 1\n")
    told = (
        ("lib", 1, "no Python file lies below `lib`; name files of other languages"),
        ("gone", 2, "`gone` does not exist"),
    )
    for given, code, says in told:
        done = inside.fdc("fix", "--test", CHECK, given, cwd=tmp_path, env={"FDC_MODEL": ""})
        assert code == done.returncode and says in done.stderr
