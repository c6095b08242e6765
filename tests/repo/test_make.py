"""`make` says what it can do, and its set-up says in one sentence what it lacks."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support import process
from tests.support.machine import Guarded
from tests.support.repository import ROOT, copy_to

TEXT = (ROOT / "Makefile").read_text("utf-8")
BARE = "-p no:pytest-lsp -p no:anyio -p no:hypothesispytest -p no:xdist"
"""Without the plugins that take most of a second to load."""
TARGETS = re.findall(r"^([A-Za-z][\w.-]*):", TEXT, re.MULTILINE)


def test_make_alone_lists_every_verb() -> None:
    done = process.run(["make"], cwd=ROOT)
    assert (0, "") == (done.returncode, done.stderr)
    assert TARGETS == re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE)


def test_every_verb_but_the_file_is_phony() -> None:
    phony = re.findall(r"^\.PHONY: (.*)$", TEXT, re.MULTILINE)[0].split()
    assert sorted(set(TARGETS) - {"AGENTS.md"}) == sorted(phony)


@pytest.mark.parametrize("verb", TARGETS)
def test_a_verb_can_be_planned(verb: str) -> None:
    done = process.run(["make", "--dry-run", "--always-make", verb], cwd=ROOT)
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.long
def test_the_demo_answers_from_these_documents_and_prints_where_the_report_is(
    tmp_path: Path,
) -> None:
    checkout = copy_to(tmp_path / "fdc")
    fdc = f"{sys.executable} tooling/fdc_cli.py"
    done = process.run(["make", "demo", "SETUP=true", f"FDC={fdc}"], cwd=checkout)
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    report = re.search(r"^report: (research/\S+\.md)\b", done.stdout, re.MULTILINE)
    assert report is not None, done.stdout
    checked = re.search(r"(\d+) citations checked, (\d+) hold", done.stdout)
    assert checked is not None and checked[1] == checked[2] != "0"
    cited = re.findall(r"^  ([\w./-]+):(\d+)(?:-\d+)?$", done.stdout, re.MULTILINE)
    assert 0 < len(cited) <= int(checked[1])  # the short answer quotes some of what was checked
    for name, line in cited:
        assert int(line) <= len((checkout / name).read_text("utf-8").splitlines())
        assert f"{name}:{line}" in (checkout / report[1]).read_text("utf-8")


class Machine:
    """A fresh machine: a copy of what set-up reads, and a PATH with nothing but what the test puts there."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "check out"  # a space, as people have
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        (self.checkout / ".ci").mkdir(parents=True)
        self.bin.mkdir()
        shutil.copy(ROOT / ".ci" / "setup", self.checkout / ".ci")
        (self.checkout / "pyproject.toml").write_text("[project]\n", "utf-8")
        for tool in ("sh", "dirname", "cat", "cmp", "grep", "mkdir", "chmod", "mv", "rm", "ln"):
            found = shutil.which(tool)
            assert found is not None, tool
            (self.bin / tool).symlink_to(found)

    def put_python(
        self, name: str, version: tuple[int, int], *, ensurepip: bool = True, pip: int = 0
    ) -> None:
        """A stand-in for a Python of some version: it notes what it is asked to install and can make environments."""
        script = self.bin / name
        script.write_text(
            f"""#!{sys.executable}
import os, sys
arguments = sys.argv[1:]
with open({str(self.calls)!r}, "a") as log:
    log.write({name!r} + " " + " ".join(arguments) + "\\n")
if arguments[:1] == ["-c"]:
    class Version(tuple):
        pass
    sys.version_info = {version!r}
    if "ensurepip" in arguments[1] and not {ensurepip!r}:
        sys.exit(1)
    exec(arguments[1])
elif arguments[:2] == ["-m", "venv"]:
    folder = os.path.join(arguments[-1], "bin")
    os.makedirs(folder, exist_ok=True)
    for command in ("python", "pip"):
        path = os.path.join(folder, command)
        with open(path, "w") as file, open(__file__) as own:
            file.write(own.read() + "# " + os.getcwd() + "/.venv")
        os.chmod(path, 0o755)
elif arguments[:2] == ["-m", "pip"]:
    sys.exit({pip})
elif arguments == ["--version"]:
    print("Python {version[0]}.{version[1]}.0")
""",
            "utf-8",
        )
        script.chmod(0o755)

    def setup(self, want: str = "dev", **env: str) -> tuple[int, str]:
        done = process.run(
            ["/bin/sh", ".ci/setup", want], cwd=self.checkout, env={"PATH": str(self.bin), **env}
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    def installs(self) -> list[str]:
        calls = self.calls.read_text("utf-8").splitlines() if self.calls.exists() else []
        return [call.rpartition(" ")[2] for call in calls if " -m pip install " in call]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_no_python_is_said_in_one_sentence(machine: Machine) -> None:
    code, said = machine.setup()
    assert (3, 1) == (code, len(said.splitlines()))
    assert "Python 3.11 or newer is needed" in said


def test_an_old_python_is_said_in_one_sentence(machine: Machine) -> None:
    machine.put_python("python3", (3, 9))
    code, said = machine.setup()
    assert (3, 1) == (code, len(said.splitlines()))
    assert "Python 3.11 or newer is needed" in said


def test_a_newer_python_beside_an_old_one_is_found(machine: Machine) -> None:
    machine.put_python("python3", (3, 9))
    machine.put_python("python3.12", (3, 12))
    code, said = machine.setup()
    assert code == 0, said
    assert [".[dev]"] == machine.installs()


def test_a_python_without_ensurepip_says_what_to_install(machine: Machine) -> None:
    machine.put_python("python3", (3, 11), ensurepip=False)
    code, said = machine.setup()
    assert (3, 1) == (code, len(said.splitlines()))
    assert "apt-get install python3.11-venv" in said
    assert not (machine.checkout / ".venv").exists()


def test_a_named_python_is_the_only_one_tried(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    machine.put_python("other", (3, 9))
    code, said = machine.setup(PYTHON=str(machine.bin / "other"))
    assert code == 3 and str(machine.bin / "other") in said


def test_set_up_happens_once_until_pyproject_changes(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    first, again = machine.setup(), machine.setup()
    assert (0, 0, "") == (first[0], again[0], again[1])
    assert [".[dev]"] == machine.installs()
    os.utime(machine.checkout / "pyproject.toml", (1, 1))
    machine.setup()
    assert [".[dev]"] == machine.installs(), "a new time is not a new content"
    (machine.checkout / "pyproject.toml").write_text("[project]\n# more\n", "utf-8")
    machine.setup()
    assert [".[dev]", ".[dev]"] == machine.installs()


def test_an_environment_for_development_is_enough_for_use(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    assert [0] * 3 == [machine.setup(want)[0] for want in ("base", "dev", "base")]
    assert [".", ".[dev]"] == machine.installs()


def test_a_moved_checkout_is_set_up_again(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    machine.setup()
    machine.checkout = machine.checkout.rename(machine.checkout.with_name("moved"))
    code, said = machine.setup()
    assert code == 0 and "setting up" in said
    assert str(machine.checkout) in (machine.checkout / ".venv" / "bin" / "pip").read_text("utf-8")


def test_a_failed_install_is_said_and_tried_again(machine: Machine) -> None:
    machine.put_python("python3", (3, 12), pip=1)
    code, said = machine.setup()
    assert code == 3 and "check the network" in said.splitlines()[-1]
    code, said = machine.setup()
    assert code == 3, "a failed set-up must not count as done"


def test_a_failed_addition_leaves_what_was_there_in_use(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    machine.setup("base")
    python = machine.checkout / ".venv" / "bin" / "python"
    python.write_text(python.read_text("utf-8").replace("sys.exit(0)", "sys.exit(1)"), "utf-8")
    assert 3 == machine.setup("dev")[0]
    assert (0, "") == machine.setup("base")


def test_a_lock_is_installed_with_its_hashes_and_nothing_beside_it(machine: Machine) -> None:
    machine.put_python("python3", (3, 12))
    code, said = machine.setup(FDC_LOCK=".ci/requirements.lock")
    assert code == 0, said
    first, second = (
        call for call in machine.calls.read_text("utf-8").splitlines() if " -m pip install " in call
    )
    assert first.endswith("--require-hashes --requirement .ci/requirements.lock")
    assert second.endswith("--no-deps --no-build-isolation --editable .")


def test_a_lock_that_cannot_be_installed_ends_the_set_up(machine: Machine) -> None:
    machine.put_python("python3", (3, 12), pip=1)
    code, said = machine.setup(FDC_LOCK="lock")
    assert code == 3 and "exactly what lock lists" in said
    assert 1 == len(machine.installs())


def test_an_unknown_level_is_refused(machine: Machine) -> None:
    assert (2, "fdc: `all` is neither base nor dev.\n") == machine.setup("all")


@pytest.mark.parametrize(
    ("test", "long", "said", "passes"),
    [
        ("1 failed", "2 passed", ["1 failed"], False),
        ("1 passed", "2 failed", ["1 passed", "2 failed"], False),
        ("1 passed", "2 passed", ["1 passed", "2 passed"], True),
    ],
)
def test_ci_ends_with_pytest_s_own_line_and_its_exit_code(
    test: str, long: str, said: list[str], passes: bool, tmp_path: Path
) -> None:
    """On a machine that has all that it looks for, and nothing that could install more (finding B17)."""
    programs = tmp_path / "programs"
    programs.mkdir()
    tools = "bash sh git make python3 mktemp dirname chmod rm sed echo env"
    for name in tools.split():
        (programs / name).symlink_to(shutil.which(name) or "/bin/false")
    for name in ("bwrap", "mona", "chromium", "chromedriver"):
        (programs / name).symlink_to("/bin/true")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    verbs = {"test": test, "long": long}
    rules = (
        f"{name}:\n\t@echo '{line}'; exit {int('failed' in line)}\n" for name, line in verbs.items()
    )
    (tmp_path / "Makefile").write_text("".join(rules), "utf-8")
    done = process.run(["bash", ".ci/run"], cwd=tmp_path, env={"PATH": str(programs)})
    assert passes == (done.returncode == 0)
    assert said == done.stdout.splitlines(), done.stderr


def test_every_test_runs_in_ci_or_in_the_soak_and_none_twice(tmp_path: Path) -> None:
    """The selections of `make test`, `make long` and `make soak`, as the Makefile writes them."""
    marks = ["", "slow", "long", "soak", "live", "slow long", "long soak"]
    tests = "".join(
        "\n".join(f"@pytest.mark.{mark}" for mark in some.split())
        + f"\ndef test_{some.replace(' ', '_') or 'plain'}() -> None: ...\n\n"
        for some in marks
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_marks.py").write_text(f"import pytest\n\n{tests}", "utf-8")
    (tmp_path / "tests" / "test_plain.py").write_text("def test_other() -> None: ...\n", "utf-8")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        (ROOT / "pyproject.toml").read_text("utf-8").replace('"error"', '"ignore"'), "utf-8"
    )

    def chosen(verb: str) -> set[str]:
        done = process.run(
            ["make", verb, "SETUP=true", "COMPILE=true", "PARALLEL=--quiet", f"PY={sys.executable}",
             f"ARGS=--collect-only {BARE}"],
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done
        return {*re.findall(r"(?:::|<Function )test_(\w+)", done.stdout)}

    assert {"plain", "slow", "other"} == chosen("test")
    assert {"long", "slow_long"} == chosen("long")
    assert {"other", *(some.replace(" ", "_") or "plain" for some in marks)} - {"live"} == chosen(
        "soak"
    )


def test_a_test_that_would_change_the_machine_is_told(
    tmp_path: Path, guarded_machine: Guarded
) -> None:
    """Finding B17: the test above ran the real .ci/run with the machine's own PATH, which installed packages as root."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / "Makefile").write_text("test long:\n\t@echo '1 passed in 0.01s'\n", "utf-8")
    hidden = 'command() { [[ $2 != mona ]] && builtin command "$@"; }; export -f command; '
    assert guarded_machine.told() == ""
    done = process.run(["bash", "-c", f"{hidden}bash .ci/run"], cwd=tmp_path)
    assert (
        "mona cannot be installed" in done.stderr
        and "a test may not change this machine" in done.stderr
    ), done.stderr
    told = guarded_machine.told()
    assert "apt-get" in told or "sudo" in told
    for name in ("apt", "sudo"):
        assert process.run([name, "install", "x"], cwd=tmp_path).returncode == 1
    assert guarded_machine.told() == "apt install x\nsudo install x\n"
