"""What people install: built from the sdist, complete, alone on the import path, and working far from a checkout."""

from __future__ import annotations

import os
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support import process
from tests.support.plans import CLEAN
from tests.support.repository import ROOT, copy_to, files

pytestmark = pytest.mark.long

SHIPPED_FOLDERS = ("grammar/", "protocols/", "plans/library/")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel that is built from it, once for all tests here."""
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_to(folder / "source")
    out = folder / "dist"
    done = process.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source], cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def pip(commands: Path) -> list[str | Path]:
    """This environment's pip, working on another one: to install pip there takes longer than all the rest."""
    return [
        sys.executable,
        "-m",
        "pip",
        "--python",
        commands / "python",
        "--disable-pip-version-check",
    ]


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a clean environment that holds the wheel and what it depends on, nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    done = process.run(
        [*pip(folder / "bin"), "install", "--quiet", "--no-compile", "--retries", "10", built[1]],
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "bin"


@pytest.fixture
def far_away(installed: Path, tmp_path: Path) -> Path:
    """A workspace of somebody who has never seen the checkout."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text(
        "# Tea\n\nGreen tea is brewed with water at eighty degrees. Black tea takes boiling water.\n",
        "utf-8",
    )
    return tmp_path


def expected_names() -> set[str]:
    version = (ROOT / "VERSION").read_text("ascii").strip()
    info = f"fdc_toolchain-{version}.dist-info"
    loose = {
        name
        for name in files()
        if name.startswith("tooling/") and name.endswith(".json") and name.count("/") == 1
    }
    data = {name for name in files() if name.startswith(SHIPPED_FOLDERS)} | loose | {"VERSION"}
    package = {
        name.removeprefix("tooling/")
        for name in files()
        if name.startswith(("tooling/fdc_toolchain/", "tooling/fdc_packs/"))
    }
    meta = {
        f"{info}/{name}"
        for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }
    return package | meta | {f"fdc_toolchain/_data/{name}" for name in data}


def test_the_wheel_holds_exactly_the_package_and_its_data(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        assert expected_names() == set(wheel.namelist())


@pytest.mark.soak
def test_the_same_files_give_the_same_bytes_elsewhere_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders, two years of the files, two masks; `SOURCE_DATE_EPOCH` is the only time that the files in it have."""
    made = []
    for name, when, mask in (
        ("one", 1_700_000_000, 0o022),
        ("another/place", 1_760_000_000, 0o077),
    ):
        before = os.umask(mask)
        try:
            source = copy_to(tmp_path / name)
        finally:
            os.umask(before)
        for path in source.rglob("*"):
            os.utime(path, (when, when))
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
        out = tmp_path / "dist" / name
        done = process.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source], cwd=source
        )
        assert done.returncode == 0, done.stdout + done.stderr
        made.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert made[0] == made[1] and 2 == len(made[0])


def test_shipped_data_is_the_checkout_s_byte_for_byte(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        for name in wheel.namelist():
            if name.startswith("fdc_toolchain/_data/"):
                assert (
                    ROOT / name.removeprefix("fdc_toolchain/_data/")
                ).read_bytes() == wheel.read(name), name


def test_the_sdist_holds_every_file_of_the_repository(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert set() == set(files()) - names


def test_every_loose_automaton_is_named_in_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    loose = {
        name
        for name in files()
        if name.startswith("tooling/") and name.endswith(".json") and name.count("/") == 1
    }
    assert {"VERSION": "fdc_toolchain/_data/VERSION"} | {
        name: f"fdc_toolchain/_data/{name}" for name in loose
    } == included


@pytest.mark.parametrize(
    "name",
    [
        "tooling",
        "research_planner",
        "plan_manager",
        "research",
        "fdc_cli",
        "tests",
        "grammar",
        "plans",
    ],
)
def test_nothing_else_is_on_the_import_path(installed: Path, name: str, tmp_path: Path) -> None:
    done = process.run([installed / "python", "-c", f"import {name}"], cwd=tmp_path)
    assert done.returncode == 1 and "ModuleNotFoundError" in done.stderr


@pytest.mark.parametrize("name", ["fdc", "fdc-toolchain"])
def test_the_installed_command_knows_its_version(
    installed: Path, far_away: Path, name: str
) -> None:
    done = process.run([installed / name, "--version"], cwd=far_away)
    assert (0, f"fdc {(ROOT / 'VERSION').read_text('ascii').strip()}\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


def test_the_installed_linter_accepts_and_rejects_far_from_the_checkout(
    installed: Path, far_away: Path
) -> None:
    (far_away / "good.plan").write_text(CLEAN, "utf-8")
    (far_away / "bad.plan").write_text(CLEAN.replace("read_file", "raed_file"), "utf-8")
    fine = process.run([installed / "fdc", "lint", "good.plan"], cwd=far_away)
    wrong = process.run([installed / "fdc", "lint", "bad.plan"], cwd=far_away)
    assert (0, "") == (fine.returncode, fine.stderr), fine.stdout
    assert wrong.returncode == 1 and "raed_file" in wrong.stdout and "read_file" in wrong.stdout


def test_the_installed_research_cites_a_folder_it_never_saw(
    installed: Path, far_away: Path
) -> None:
    done = process.run(
        [installed / "fdc", "research", "How hot is the water for green tea?", "--docs", "docs"],
        cwd=far_away,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = "\n".join(path.read_text("utf-8") for path in (far_away / "research").rglob("*.md"))
    assert "eighty degrees" in report and "tea.md:3" in report


def test_the_installed_registry_command_runs(installed: Path, far_away: Path) -> None:
    (far_away / "knowledge_core").mkdir()
    done = process.run([installed / "plan_manager", "list"], cwd=far_away)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_installed_api_is_typed_and_runs_a_consumer(
    installed: Path, far_away: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`py.typed` is in the wheel: mypy of this environment reads the package of the other one."""
    text = tmp_path_factory.mktemp("consumer") / "consumer.py"
    text.write_bytes((ROOT / "tests" / "api" / "consumer.py").read_bytes())
    (far_away / "knowledge_core").mkdir()
    options = (
        "--strict",
        "--config-file=",
        "--cache-dir",
        text.parent / "cache",
        "--python-executable",
        installed / "python",
    )
    typed = process.run([sys.executable, "-m", "mypy", *options, text], cwd=far_away)
    assert typed.returncode == 0, typed.stdout + typed.stderr
    done = process.run([installed / "python", text, far_away], cwd=text.parent)
    assert (0, "") == (done.returncode, done.stderr), done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("finished True ")


def test_nothing_is_written_beside_the_installed_package(installed: Path, far_away: Path) -> None:
    package = next(installed.parent.glob("lib/python*/site-packages/fdc_toolchain"))

    def listing() -> set[str]:
        return {path.as_posix() for path in package.rglob("*") if "__pycache__" not in path.parts}

    before = listing()
    process.run([installed / "fdc", "lint", "."], cwd=far_away)
    process.run(
        [installed / "fdc", "research", "What takes boiling water?", "--docs", "docs"], cwd=far_away
    )
    assert before == listing()


def test_the_metadata_is_consistent(installed: Path) -> None:
    done = process.run([*pip(installed), "check"], cwd=installed)
    assert done.returncode == 0, done.stdout
