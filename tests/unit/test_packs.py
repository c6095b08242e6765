"""Packs are found by their `pack.toml`; a bad one is named with file and line, and the others go on working."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.cli import main
from fdc_toolchain.doctor import packs as doctor
from fdc_toolchain.linking.catalogue import read_catalogue
from fdc_toolchain.packs import beside
from fdc_toolchain.packs import index as index_module
from fdc_toolchain.packs.index import index
from fdc_toolchain.packs.model import PackError
from fdc_toolchain.packs.read import read
from fdc_toolchain.tools import tool_rows

from tests.support.foreign_pack import HEAD, install, put


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A cache of its own, and nothing remembered in the process, before and after."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    index.cache_clear()
    yield
    index.cache_clear()


def test_the_packs_beside_fdc_are_found() -> None:
    found = index()
    assert () == found.problems
    assert {"alphabet", "lgtm", "repair", "research"} <= set(found.packs)
    assert all(pack.beside for pack in found.packs.values())
    for row in (*found.tools.values(), *found.predicates.values()):
        assert row.module.startswith(f"{beside.PACKAGE}.")


def test_every_tool_of_a_catalogue_can_be_performed() -> None:
    """By a row of the core or of a pack, or by what its declaration says itself (`run`)."""
    found, wrong = read_catalogue((), lambda path: None)
    plain = [name for name, tool in found.tools.items() if "run" not in tool.row]
    assert [] == wrong and len(plain) > 80
    missing = [name for name in plain if tool_rows.tool(name) is None]
    assert [] == missing
    asked = [name for name, row in found.rows.items() if "run" not in row]
    assert ["cited"] == [name for name in asked if tool_rows.predicate(name) is not None] == asked
    assert {*index().tools} <= {*plain} and {*index().predicates} <= {*asked}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("format = 1\nname = \n", 2, "invalid TOML"),
        ('format = 1\nname = "a', 2, "invalid TOML"),
        ('name = "tea"\nformat = 2\n', 2, "`format` must be 1"),
        ('format = 1\nsummary = "x"\nname = "Tea"\n', 3, "`name` must be"),
        ('format = 1\nname = "tea"\n\nsummary = 3\n', 4, "`summary` must be a text"),
        (HEAD + "[tool]\n", 4, "unknown key `tool`"),
        (HEAD + '\n[commands.brew]\nmodule = "a"\n', 5, "`commands.brew` lacks `help`"),
        (HEAD + '[commands.brew]\nmodule = "a"\nhelp = "b"\noutside_only = 1\n', 7, "true or false"),
        (HEAD + '[commands.brew]\nmodule = "a"\nhelp = "b"\ntells = "c"\n', 7, "a list of texts"),
        (HEAD + '[commands.brew]\nplan = "a"\nhelp = "b"\ntells = ["c"]\n', 4, "needs `module`"),
        (HEAD + '[commands.brew]\nmodule = "a/b"\nhelp = "b"\n', 5, "`module` of `commands.brew`"),
        (HEAD + '[tools]\na = "x:y"\nb = "xy"\n', 6, "`function` of `tools.b` must be `module:function`"),
        (HEAD + '[tools."x.y"]\nfunction = "x:y"\nneeds = [3]\n', 6, "`needs` of `tools.x.y`"),
        (HEAD + '[tools]\n"a b" = "x:y"\n', 5, "`a b` cannot be a name"),
        (HEAD + '[pages.runs]\nmodule = "a"\nplans = []\ntitle = "a"\nagain = "b"\n', 4, "fdc itself"),
        (HEAD + "[renamed]\nfiles = 3\n", 5, "`renamed.files`"),
        (HEAD + "[renamed]\nplans = 3\n", 4, "`renamed` may have"),
        (HEAD + 'catalogues = ["../tools.json"]\n', 4, "`catalogues` must be"),
        (HEAD + '[automata]\na = "a.json"\nb = "/b.json"\n', 6, "`automata.b` must be"),
        (HEAD + '[plans]\nbrew = 3\n', 5, "`plans.brew` must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    folder = put(tmp_path / "tea", text)
    with pytest.raises(PackError) as caught:
        read(str(folder))
    sentence = str(caught.value)
    assert sentence.startswith(f"{folder}/pack.toml:{line}: ") and said in sentence
    assert "\n" not in sentence


def test_a_pack_that_is_not_text_is_said_too(tmp_path: Path) -> None:
    folder = put(tmp_path / "tea", "")
    (folder / "pack.toml").write_bytes(b"\xff")
    with pytest.raises(PackError, match=r"pack\.toml: the file is not UTF-8 text"):
        read(str(folder))


def test_an_installed_pack_is_found_without_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = '[tools]\npour = "deeds:pour"\n[commands.brew]\nmodule = "cli"\nhelp = "brew tea"\n'
    folder = install(tmp_path / "site", "tea", HEAD + tools)
    (folder / "__init__.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = index()
    assert () == found.problems and not found.packs["tea"].beside
    assert ("tea_pack.deeds", "pour") == found.tools["pour"][:2]
    assert "tea_pack.cli" == found.commands["brew"].module


def test_what_is_remembered_follows_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    folder = install(site, "tea", HEAD)
    monkeypatch.syspath_prepend(str(site))

    def seen() -> str:
        index.cache_clear()
        return index().packs["tea"].summary

    assert "makes tea" == seen()
    with monkeypatch.context() as patch:  # nothing is read again where nothing has changed
        patch.setattr(index_module, "_found", None)
        assert "makes tea" == seen()
    put(folder, HEAD.replace("makes tea", "makes green tea"))
    assert "makes green tea" == seen()
    install(site, "mug", HEAD.replace("tea", "mug"))
    assert "makes green tea" == seen() and "mug" in index().packs


def test_a_bad_pack_stops_no_other_and_doctor_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = install(tmp_path / "site", "tea", HEAD + "[tool]\n")
    (tmp_path / "site" / "mug-1.0.dist-info").mkdir()
    (tmp_path / "site" / "mug-1.0.dist-info" / "METADATA").write_text("Name: mug\nVersion: 1\n")
    points = tmp_path / "site" / "mug-1.0.dist-info" / "entry_points.txt"
    points.write_text("[fdc.packs]\nmug = nowhere.at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = index()
    assert "research" in found.packs and "tea" not in found.packs
    missing, broken = sorted(found.problems, key=lambda one: one.startswith("/"))
    assert broken == f"{bad}/pack.toml:4: unknown key `tool`"
    assert missing.startswith("entry point `mug` of `fdc.packs`: package `nowhere.at_all`")
    told = [one.detail for one in doctor.examine(main.COMMANDS, root="/") if one.grade == "bad"]
    assert sorted(found.problems) == sorted(told)


def test_a_pack_s_own_checks_are_rows_of_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that fails, or answers with something else, is bad and stops no other."""
    rows = "".join(
        f'{name} = "deeds:{name}"\n' for name in ("kettle", "stove", "mug", "spoon", "tray")
    )
    folder = install(tmp_path / "site", "cup", HEAD.replace("tea", "cup") + "[checks]\n" + rows)
    (folder / "deeds.py").write_text(
        "def kettle(root): return 'note', f'cold in {root}'\ndef stove(root): return 1 / 0\n"
        "def mug(root): return 'fine', ''\ntray = 5\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    told = {one.name: one for one in doctor.examine(main.COMMANDS, root="/here")}
    assert ("note", "cold in /here") == told["cup: kettle"][1:]
    wrong = {
        "stove": "ZeroDivisionError",
        "mug": "fine",
        "spoon": "no `spoon`",
        "tray": "cannot be called",
    }
    for name, said in wrong.items():
        assert "bad" == told[f"cup: {name}"].grade and said in told[f"cup: {name}"].detail


def test_the_first_of_two_packs_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = '[tools]\nsynthesise = "deeds:pour"\n'
    folder = install(tmp_path / "site", "tea", HEAD + tools)
    same = install(tmp_path / "site", "other", HEAD.replace('"tea"', '"repair"'))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = index()
    assert f"{beside.PACKAGE}.research.tools" == found.tools["synthesise"].module
    ours = os.path.join(beside.FOLDER, "repair")
    assert {
        f"{folder}/pack.toml: `tools.synthesise` is already used by the pack `research`",
        f"{same}/pack.toml: a pack `repair` already exists: {ours}",
    } == set(found.problems)


COMMAND = """
import click

@click.command()
@click.argument("what")
def command(what: str) -> None:
    click.echo(f"{what} tea")
"""


@pytest.fixture
def tea(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed pack with a command and a tool of its own, and two names that are the core's."""
    text = """
        [commands.brew]
        module = "cli"
        help = "brew tea"
        outside_only = true
        [commands.runs]
        module = "cli"
        help = "not this one"
        [tools]
        pour = "deeds:pour"
        read_file = "deeds:pour"
        [tools.boil]
        function = "deeds:boil"
        probe = "boiled"
        needs = ["sandbox", { what = "web", parameter = "where", values = ["far"] }]
        """
    folder = install(tmp_path / "site", "tea", HEAD + text)
    (folder / "cli.py").write_text(COMMAND)
    (folder / "deeds.py").write_text("def pour(args, context): ...\nboil = boiled = pour\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield folder
    for name in [one for one in sys.modules if one.partition(".")[0] == "tea_pack"]:
        del sys.modules[name]


def test_a_command_of_a_pack_is_one_of_fdc(
    tea: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 0 == main.run(["brew", "green"])
    assert "green tea\n" == capsys.readouterr().out
    assert 0 == main.run(["--help"])
    assert "  brew " in capsys.readouterr().out
    assert main.COMMANDS["runs"] == main.commands()["runs"]
    monkeypatch.setenv("FDC_RUN", "some-run")
    assert 2 == main.run(["brew", "green"])
    assert "a command of the run some-run may not start `fdc brew`" in capsys.readouterr().err
    assert 0 == main.run(["rules"])


def test_a_pack_s_command_that_is_none_is_no_bug_of_fdc(
    tea: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tea / "cli.py").write_text("def command(): ...\n")
    assert 3 == main.run(["brew", "green"])
    assert "`command` of the module `tea_pack.cli` of a pack is no click" in capsys.readouterr().err


def test_a_tool_of_a_pack_has_a_row_and_takes_none_of_the_core_s(tea: Path) -> None:
    far = ("web", "where", ("far",))
    assert ("tea_pack.deeds", "boil", "boiled", ("sandbox", far)) == tool_rows.tool("boil")
    assert ("tea_pack.deeds", "pour", None, ()) == tool_rows.tool("pour")
    assert tool_rows.TOOLS["read_file"] == tool_rows.tool("read_file")
    assert tool_rows.tool("nothing") is None and tool_rows.predicate("nothing") is None
    ours = f"{tea}/pack.toml: "
    assert {
        f"{ours}`commands.runs` is already used by the core",
        f"{ours}`tools.read_file` is already used by the core",
        *(
            f"{ours}`tools.{name}`: no catalogue of the pack declares it"
            for name in ("pour", "boil")
        ),
    } == {one.detail for one in doctor.examine(main.COMMANDS, root="/") if one.grade == "bad"}


def test_an_unknown_command_may_be_that_of_a_pack_that_cannot_be_used(
    tea: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tea / "pack.toml").write_text(HEAD + "[commands\n")
    assert 2 == main.run(["brew", "green"])
    said = capsys.readouterr().err
    assert "no such command `brew`" in said and f"{tea}/pack.toml:4: invalid TOML" in said
