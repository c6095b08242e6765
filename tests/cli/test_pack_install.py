"""`fdc pack install`: it shows what a pack may touch, asks, and leaves nothing behind where it refuses."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from fdc_toolchain.cli.project import pack_install
from fdc_toolchain.exits import Refused
from fdc_toolchain.packs.offered import beside_packs, offered

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

CLI = str(ROOT / "tooling" / "fdc_cli.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a pack that `fdc pack new` wrote."""
    home = tmp_path_factory.mktemp("tea")
    assert 0 == fdc("pack", "new", "tea", "made", cwd=home).returncode
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", ".", "made"]
    subprocess.run(build, cwd=home, env=clean_environment(), check=True, capture_output=True)
    return next(home.glob("*.whl"))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment of its own with pip, fdc, and what fdc needs."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, symlinks=True, with_pip=True)
    site = next(folder.glob("lib/python*/site-packages"))
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "those.pth").write_text("".join(f"{path}\n" for path in sorted(paths)))
    return str(folder / "bin" / "python")


def install(
    python: str, *words: str, cwd: Path, stdin: int = subprocess.DEVNULL, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, CLI, "pack", "install", *words],
        cwd=cwd,
        env=clean_environment({"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, **env}),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.long
def test_a_wheel_is_shown_and_installed_once_somebody_says_yes(
    wheel: Path, python: str, workspace: Path
) -> None:
    nobody = install(python, str(wheel), cwd=workspace)
    assert 1 == nobody.returncode and "add `--yes`" in nobody.stderr
    for word, code in (("n", 1), ("y", 0)):
        ours, theirs = pty.openpty()
        os.write(ours, f"{word}\n".encode())
        done = install(python, str(wheel), cwd=workspace, stdin=theirs)
        os.close(ours), os.close(theirs)
        assert code == done.returncode, done.stderr
        assert "  command fdc tea: count the words of a file\n" in done.stdout
        assert "  tool tea_count: read, reads the file that a plan names in `path`\n" in done.stdout
        assert ("installed: tea\n" in done.stdout) == (word == "y")
    (workspace / "cup.md").write_text("one two\n")
    told = subprocess.run(
        [python, CLI, "tea", "cup.md"], cwd=workspace, env=clean_environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert (0, "cup.md: 2 words\n") == (told.returncode, told.stdout), told.stderr


@pytest.mark.long
def test_where_pip_fails_the_pack_is_not_said_to_be_there(
    wheel: Path, python: str, workspace: Path
) -> None:
    # The folder has to be built, and what builds it cannot be had without an index.
    done = install(python, str(wheel.parent / "made"), "--yes", cwd=workspace)
    assert 3 == done.returncode and "installed: " not in done.stdout
    assert "fdc: pip ended with exit code 1, and the pack is not installed" in done.stderr


def test_what_is_no_distribution_with_a_pack_is_wrong_usage(wheel: Path, workspace: Path) -> None:
    (workspace / "empty").mkdir()
    (workspace / "text.whl").write_text("text")
    (workspace / "other").mkdir()
    (workspace / "other" / "pyproject.toml").write_text('[project]\nname = "other"\n')
    (workspace / "torn").mkdir()
    (workspace / "torn" / "pyproject.toml").write_text("[project\n")
    with zipfile.ZipFile(workspace / "plain.whl", "w") as made:
        made.writestr("a-1.dist-info/entry_points.txt", "[console_scripts]\na = a:b\n")
    cases = {
        "nowhere": "neither a folder nor a wheel",
        "empty": "has no `pyproject.toml`",
        "text.whl": "is not a wheel",
        "other": "contains no pack",
        "torn": "cannot be read",
        "plain.whl": "contains no pack",
    }
    for name, said in cases.items():
        done = fdc("pack", "install", name, "--yes", cwd=workspace)
        assert 2 == done.returncode and said in done.stderr, (name, done)
        assert "Traceback" not in done.stderr


def test_a_hostile_wheel_writes_nothing_and_is_refused(wheel: Path, workspace: Path) -> None:
    entry = "[fdc.packs]\nx = x\n"
    hostile: dict[str, dict[str, bytes]] = {
        "climbs": {"x/../../out.txt": b"x", "x/pack.toml": b"format = 1\n"},
        "absolute": {"x//etc/out.txt": b"x", "x/pack.toml": b"format = 1\n"},
        "bomb": {"x/zeros": bytes(40_000_000), "x/pack.toml": b"format = 1\n"},
    }
    for name, files in hostile.items():
        path = workspace / f"{name}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("x-1.dist-info/entry_points.txt", entry)
            for inside, data in files.items():
                made.writestr(inside, data)
        before = sorted(workspace.rglob("*"))
        done = fdc("pack", "install", path.name, "--yes", cwd=workspace)
        assert 2 == done.returncode and "Traceback" not in done.stderr, (name, done)
        assert before == sorted(workspace.rglob("*"))
    bad = workspace / "bad.whl"
    with zipfile.ZipFile(bad, "w") as made:
        made.writestr("x-1.dist-info/entry_points.txt", entry)
        made.writestr("x/pack.toml", "format = 2\n")
    done = fdc("pack", "install", "bad.whl", "--yes", cwd=workspace)
    assert 1 == done.returncode and "`format` must be 1" in done.stderr


def test_what_comes_with_the_packs_is_told_before_the_question(workspace: Path) -> None:
    """A `.pth` is run by every Python of the environment, and pip fetches what a wheel says that it needs."""
    made = workspace / "x.whl"
    needs = "Metadata-Version: 2.1\nName: x\nRequires-Dist: evil @ http://127.0.0.1:9/evil.whl\n"
    files = {"entry_points.txt": "[fdc.packs]\nx = x\n", "METADATA": needs}
    with zipfile.ZipFile(made, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(f"x-1.dist-info/{name}", text)
        wheel.writestr("x/pack.toml", 'format = 1\nname = "x"\nsummary = "x"\n')
        wheel.writestr("zz.pth", "import os")
        wheel.writestr("x-1.data/scripts/git", "#!/bin/sh")
    folder = workspace / "folder"
    (folder / "x").mkdir(parents=True)
    (folder / "x/pack.toml").write_text('format = 1\nname = "x"\nsummary = "x"\n')
    head = '[build-system]\nrequires = ["more"]\n[project]\nname = "x"\ndependencies = [NEEDS]\ndynamic = ["dependencies"]\n'
    more = (
        "fdc-toolchain>=0.1",
        "evil",
        "fdc-toolchain>=99",
        "fdc-toolchain[web]",
        "fdc-toolchain @ http://x",
    )
    head = head.replace("NEEDS", ", ".join(f'"{one}"' for one in more))
    head += '[project.entry-points."fdc.packs"]\nx = "x"\n'
    (folder / "pyproject.toml").write_text(head)
    for path, told in (
        (
            made,
            [
                "also installs `bin/git`",
                "also installs `zz.pth`",
                "downloads its dependency: evil @ http://127.0.0.1:9/evil.whl",
            ],
        ),
        (
            folder,
            [
                "builds it first, which runs its build code",
                "downloads for building: more",
                "downloads the dependencies that its build code names",
                "downloads its dependency: evil",
                "downloads its dependency: fdc-toolchain>=99",
                "downloads its dependency: fdc-toolchain[web]",
                "downloads its dependency: fdc-toolchain @ http://x",
            ],
        ),
    ):
        with offered(str(path)) as packs:
            assert told == list(beside_packs(str(path), packs))


def test_a_pack_inside_of_a_package_of_others_hides_no_file_of_theirs(workspace: Path) -> None:
    made = workspace / "x.whl"
    with zipfile.ZipFile(made, "w") as wheel:
        wheel.writestr("x-1.dist-info/entry_points.txt", "[fdc.packs]\nx = fdc_toolchain.x\n")
        for name in ("x/pack.toml", "__init__.py", "xy.py", "x/a.py"):
            text = 'format = 1\nname = "x"\nsummary = "x"\n' if name == "x/pack.toml" else ""
            wheel.writestr(f"fdc_toolchain/{name}", text)
    with offered(str(made)) as packs:
        told = ["also installs `fdc_toolchain/__init__.py`", "also installs `fdc_toolchain/xy.py`"]
        assert told == list(beside_packs(str(made), packs))


def _wheel(path: Path, files: dict[str, str], head: str = "", entries: str = "") -> Path:
    """A wheel of the pack `zz`, with more files, lines of METADATA and entry points."""
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("zz/pack.toml", 'format = 1\nname = "zz"\nsummary = "x"\n')
        wheel.writestr("zz-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: zz\n{head}")
        wheel.writestr("zz-1.dist-info/entry_points.txt", f"[fdc.packs]\nzz = zz\n{entries}")
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("name", "head", "entries"),
    [
        ("fdc_toolchain/new.py", "", ""),
        ("FDC_Packs/new.py", "", ""),
        ("zz-1.data/purelib/fdc_toolchain/api.py", "", ""),
        ("zz-1.data/platlib/fdc_packs/look/cli.py", "", ""),
        ("zz-1.data/data/lib/python{}.{}/site-packages/fdc_toolchain/api.py", "", ""),
        ("zz-1.data/scripts/fdc", "", ""),
        ("zz-1.data/data/bin/fdc", "", ""),
        ("fdc_toolchain-9.dist-info/entry_points.txt", "", ""),
        ("", "", "[console_scripts]\nfdc = zz:main\n"),
        ("", "", "[gui_scripts]\n  fdc = zz:main\n"),
        ("", "Requires-Dist: fdc-toolchain==99.0\n", ""),
        ("", "Requires-Dist: FDC_Toolchain (<0.1)\n", ""),
        ("", "Requires-Dist:\n fdc.toolchain[web] @ file:///evil.whl\n", ""),
        ("", "Requires-Dist: fdc-toolchain~=99.1; python_version > '3'\n", ""),
    ],
)
def test_a_wheel_that_takes_the_place_of_files_of_fdc_is_refused(
    workspace: Path, name: str, head: str, entries: str
) -> None:
    """Only the name of the pack's own package was compared."""
    name = name.format(*sys.version_info[:2])
    _wheel(workspace / "zz.whl", {name: "x"} if name else {}, head, entries)
    done = fdc("pack", "install", "zz.whl", "--yes", cwd=workspace)
    assert 1 == done.returncode and "would replace f" in done.stderr, done


def test_what_pip_replaces_is_told_before_the_question(workspace: Path) -> None:
    """A package that is there, and programs, were told as `also installs`, or not at all."""
    made = _wheel(
        workspace / "zz.whl",
        {"click/core.py": "", "click/zz.py": "", "zz-1.data/data/bin/python3": "", "new/a.py": "", "new/b.py": ""},
        "Requires-Dist: fdc-toolchain>=0.1,<99\n",
        "[console_scripts]\n Zz_more = zz:main\n",
    )  # fmt: skip
    with offered(str(made)) as packs:
        told = [*beside_packs(str(made), packs)]
    assert told == [
        "replaces `bin/python3`",
        "replaces `click/core.py`",
        "also installs `bin/Zz_more`",
        "also installs `click/zz.py`",
        "also installs `new`",
    ]
    folder = workspace / "folder"
    _tea(folder, "x")
    with (folder / "pyproject.toml").open("a") as file:
        file.write('[project.scripts]\nzz_more = "x:y"\n')
    with offered(str(folder)) as packs:
        assert "also installs `bin/zz_more`" in list(beside_packs(str(folder), packs))


def test_a_program_is_installed_in_the_folder_of_programs_only(workspace: Path) -> None:
    _wheel(workspace / "zz.whl", {}, "", "[console_scripts]\n../../zz = zz:main\n")
    done = fdc("pack", "install", "zz.whl", "--yes", cwd=workspace)
    assert 2 == done.returncode and "is not the name of a program" in done.stderr, done


def _tea(folder: Path, summary: str) -> None:
    (folder / "x").mkdir(parents=True, exist_ok=True)
    (folder / "x/pack.toml").write_text(f'format = 1\nname = "x"\nsummary = "{summary}"\n')
    (folder / "x/code.py").write_text(f"# {summary}\n")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\n[project.entry-points."fdc.packs"]\nx = "x"\n'
    )


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("swaps", [True, False])
def test_what_was_shown_is_what_is_installed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, packed: bool, swaps: bool
) -> None:
    """The file is changed while the person reads."""
    folder, asked = workspace / "made", []
    _tea(folder, "good")

    def answer(*_: object, **__: object) -> bool:
        if swaps:
            (folder / "x/code.py").write_text("# evil\n")
            pack()
        return True

    def pack() -> None:
        with zipfile.ZipFile(workspace / "x.whl", "w") as wheel:
            wheel.writestr("x-1.dist-info/entry_points.txt", "[fdc.packs]\nx = x\n")
            for path in sorted((folder / "x").iterdir()):
                wheel.writestr(f"x/{path.name}", path.read_bytes())

    pack()
    target = str(workspace / "x.whl") if packed else str(folder)
    monkeypatch.setattr(pack_install, "_pip", asked.append)
    monkeypatch.setattr(pack_install, "_is_there", lambda name: None)
    monkeypatch.setattr(click, "confirm", answer)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    if swaps:
        with pytest.raises(Refused, match="was changed after it was shown; nothing is installed"):
            pack_install.install(target, (), yes=False)
    else:
        assert 0 == pack_install.install(target, (), yes=False)
    assert asked == ([] if swaps else [target])


@pytest.mark.long
def test_a_name_that_pip_takes_apart_installs_no_other_folder(
    wheel: Path, python: str, workspace: Path
) -> None:
    """pip takes `made[net]` as `made` with extras, and `made;x` as `made` with a marker."""
    for name in ("made[net]", "made;x"):
        _tea(workspace / name, "good")
    shutil.copytree(wheel.parent / "made", workspace / "made")
    for name in ("made[net]", "made;x"):
        done = install(python, name, "--yes", cwd=workspace)
        assert 3 == done.returncode, done
        assert f"Processing ./{name}\n" in done.stderr


def test_a_pipe_in_the_place_of_a_file_of_a_pack_stops_nothing(workspace: Path) -> None:
    (workspace / "made").mkdir()
    os.mkfifo(workspace / "made/pyproject.toml")
    os.mkfifo(workspace / "made/pack.toml")
    for words in (("install", "made", "--yes"), ("check", "made")):
        done = fdc("pack", *words, cwd=workspace)
        assert done.returncode != 0 and "not a regular file" in done.stdout + done.stderr, done


@pytest.mark.parametrize(
    ("name", "package", "distribution", "said"),
    [
        ("research", "x", "x", "the pack `research` comes with fdc"),
        ("x", "fdc_packs.x", "x", "would replace files of fdc"),
        ("research", "fdc_packs.research", "x", "the pack `research` comes with fdc"),
        ("x", "x", "FDC_toolchain", "would replace files of fdc"),
    ],
)
def test_a_pack_in_the_place_of_what_comes_with_fdc_is_refused(
    workspace: Path, name: str, package: str, distribution: str, said: str
) -> None:
    """It was shown as any other pack, and fdc would have used its own, or been replaced."""
    text = f'format = 1\nname = "{name}"\nsummary = "x"\n'
    folder = package.replace(".", "/")
    with zipfile.ZipFile(workspace / "x-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("x-1.dist-info/entry_points.txt", f"[fdc.packs]\n{name} = {package}\n")
        wheel.writestr("x-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\n")
        wheel.writestr(f"{folder}/pack.toml", text)
    made = workspace / "made" / folder
    made.mkdir(parents=True)
    (made / "pack.toml").write_text(text)
    (workspace / "made/pyproject.toml").write_text(
        f'[project]\nname = "{distribution}"\n[project.entry-points."fdc.packs"]\n{name} = "{package}"\n'
    )
    for path in ("x-1-py3-none-any.whl", "made"):
        done = fdc("pack", "install", path, "--yes", cwd=workspace)
        assert (1, "") == (done.returncode, done.stdout) and said in done.stderr, done
    if name == "research":
        checked = fdc("pack", "check", str(made), cwd=workspace)
        assert 1 == checked.returncode and "the pack `research` comes with fdc" in checked.stdout


@pytest.mark.long
def test_a_changed_wheel_of_the_same_version_replaces_the_pack_that_is_there(
    python: str, workspace: Path
) -> None:
    """pip kept the old one, and `installed` was said of the new."""
    for what in ("old", "new"):
        with zipfile.ZipFile(workspace / "zz-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("zz/__init__.py", "")
            wheel.writestr("zz/pack.toml", f'format = 1\nname = "zz"\nsummary = "{what}"\n')
            head = "zz-1.dist-info"
            wheel.writestr(f"{head}/METADATA", "Metadata-Version: 2.1\nName: zz\nVersion: 1\n")
            tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            wheel.writestr(f"{head}/WHEEL", tag)
            wheel.writestr(f"{head}/entry_points.txt", "[fdc.packs]\nzz = zz\n")
            wheel.writestr(f"{head}/RECORD", "zz/__init__.py,,\nzz/pack.toml,,\n")
        done = install(python, "zz-1-py3-none-any.whl", "--yes", cwd=workspace)
        assert 0 == done.returncode, done.stderr
        assert ("replaces the installed `zz 1`" in done.stdout) == (what == "new")
    shown = subprocess.run(
        [python, CLI, "pack", "show", "zz"], cwd=workspace, env=clean_environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert shown.stdout.startswith("zz: new\n"), shown
