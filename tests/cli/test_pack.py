"""`fdc pack`: what there is, what one brings, and what is wrong with one that somebody writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.foreign_pack import HEAD, install, put
from tests.support.process import fdc
from tests.support.repository import PACKS


def test_the_shipped_packs_are_listed_and_right(workspace: Path) -> None:
    done = fdc("pack", "list", "--format", "json", cwd=workspace)
    rows = json.loads(done.stdout)["packs"]
    assert 0 == done.returncode
    assert {"alphabet", "lgtm", "repair", "research"} <= {row["name"] for row in rows}
    for row in rows:
        checked = fdc("pack", "check", row["folder"], cwd=workspace)
        assert (0, "") == (checked.returncode, checked.stderr), checked.stdout
        assert checked.stdout.endswith(f"the pack `{row['name']}` is valid\n")


def test_a_pack_is_shown_with_what_it_brings(workspace: Path) -> None:
    done = fdc("pack", "show", "repair", cwd=workspace)
    assert 0 == done.returncode and f"\n{PACKS / 'repair'}\n" in done.stdout
    assert "\ncommands: fix\n" in done.stdout and "\npages: cases\n" in done.stdout
    said = json.loads(fdc("pack", "show", "research", "--format", "json", cwd=workspace).stdout)
    assert ["research", "explore"] == said["commands"] and ["cited"] == said["predicates"]
    assert "map_code" in said["tools"] and "explore-track" in said["plans"]


def test_a_pack_that_is_not_there_is_wrong_usage(workspace: Path) -> None:
    done = fdc("pack", "show", "repare", cwd=workspace)
    assert (2, "") == (done.returncode, done.stdout)
    assert "fdc: the pack `repare` does not exist; did you mean `repair`?\n" == done.stderr
    assert 2 == fdc("pack", "check", "nowhere", cwd=workspace).returncode


@pytest.mark.slow
def test_a_pack_that_cannot_be_used_is_a_finding(workspace: Path, tmp_path: Path) -> None:
    folder = install(tmp_path / "site", "tea", HEAD + "[commands\n")
    done = fdc("pack", "list", cwd=workspace, env={"PYTHONPATH": str(tmp_path / "site")})
    assert 1 == done.returncode and "research" in done.stdout
    assert done.stderr.startswith(f"fdc: {folder}/pack.toml:4: invalid TOML: ")


@pytest.mark.slow
def test_the_fault_of_a_pack_is_not_called_a_bug_of_fdc(workspace: Path, tmp_path: Path) -> None:
    """A command and a tool whose code cannot be imported; the run can be resumed once it can."""
    text = """
        catalogues = ["tools.json"]
        [commands.boo]
        module = "cli"
        help = "not there"
        [tools]
        pour = "deeds:pour"
        """
    row = {
        "summary": "s",
        "action": "step_op",
        "effect": "pure",
        "trust": "trusted",
        "parameters": [],
        "result": "text",
    }
    folder = install(tmp_path / "site", "tea", HEAD + text)
    (folder / "tools.json").write_text(
        json.dumps({"format": 1, "name": "tea", "tools": {"pour": row}})
    )
    (folder / "deeds.py").write_text("import nothing_that_is_there\n")
    (workspace / "tea.plan").write_text(
        "use pack tea\nset_plan x\npour\nplan_step_complete y\nclose_task\nsubmit\n"
    )
    env = {"PYTHONPATH": str(tmp_path / "site")}
    for words in (["boo"], ["run", "tea.plan"]):
        done = fdc(*words, cwd=workspace, env=env)
        said = done.stdout + done.stderr
        assert (
            3 == done.returncode and "of a pack cannot be imported: ModuleNotFoundError" in said
        ), said
        assert "bug" not in said and "Traceback" not in said
    (folder / "deeds.py").write_text("def pour(args, context):\n    return ''\n")
    assert 0 == fdc("resume", "last", cwd=workspace, env=env).returncode


def test_check_finds_what_is_missing(workspace: Path, tmp_path: Path) -> None:
    text = """
        catalogues = ["tools.json"]
        [commands.lint]
        module = "cli"
        help = "not fdc's"
        [tools]
        read_file = "deeds:pour"
        stir = "deeds:stir"
        [tools.boil]
        function = "sub:boil"
        probe = "boiled"
        [plans]
        cup = "cup.plan"
        """
    folder = put(tmp_path / "tea", HEAD + text)
    (folder / "tools.json").write_text(
        '{"format": 1,\n "name": "tea",\n "tools": {"pour": {"summry": "x"}}}\n'
    )
    (folder / "deeds.py").write_text("from elsewhere import pour as pour\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "__init__.py").write_text("def boil(args, context): ...\n")
    done = fdc("pack", "check", str(folder), cwd=workspace)
    toml = f"{folder}/pack.toml"
    assert 1 == done.returncode
    lines = done.stdout.splitlines()
    rows = [line for line in lines if line.startswith(f"{folder}/tools.json:3: ")]
    assert any(row.endswith("`tools.pour`; did you mean `summary`?") for row in rows)
    assert {*lines} - {*rows} == {
        f"{toml}: `commands.lint` is already used by the core",
        f"{toml}: `tools.read_file` is already used by the core",
        f"{toml}: `cup.plan`: no such file or directory",
        f"{toml}: the module `tea.cli` does not exist, or it cannot be read",
        f"{toml}: the module `tea.deeds` has no `stir`",
        f"{toml}: the module `tea.sub` has no `boiled`",
    }
    put(folder, "format = 2\n")
    said = json.loads(fdc("pack", "check", str(folder), "--format", "json", cwd=workspace).stdout)
    assert not said["ok"] and [f"{toml}:1: `format` must be 1"] == said["findings"]


def test_a_tool_without_a_function_and_a_function_without_a_row_are_found_before_a_run(
    workspace: Path,
) -> None:
    row = {"summary": "x", "action": "read_op", "effect": "read", "trust": "workspace", "parameters": []}  # fmt: skip
    folder = workspace / "packs" / "tea"
    folder.mkdir(parents=True)
    (folder / "pack.toml").write_text(
        'format = 1\nname = "tea"\nsummary = "x"\ncatalogues = ["tools.json"]\n'
        '[tools]\npour = "deeds:pour"\nboil = "deeds:pour"\n[predicates]\nwarm = "deeds:pour"\n'
    )
    (folder / "deeds.py").write_text("def pour(args, context):\n    return 1\n")
    tools = {"format": 1, "name": "tea", "tools": {"pour": row, "stir": row}}
    (folder / "tools.json").write_text(json.dumps(tools))
    checked = fdc("pack", "check", "packs/tea", cwd=workspace)
    assert 1 == checked.returncode and 3 == checked.stdout.count("\n"), checked.stdout
    for name in ("`tools.boil`", "`stir`", "`predicates.warm`"):
        assert name in checked.stdout
    (workspace / "a.plan").write_text(
        "use pack tea\nset_plan x\nplan_step_complete y\n_x <- stir\nclose_task\nsubmit\n"
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert 3 == done.returncode and "an implementation of `stir`" in done.stderr, done.stderr
    assert "set_plan" not in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tea_count", "scan_documents", "`tools.scan_documents` is already used by the pack `research`"),
        ("tea_count", "read_file", "`tools.read_file` is already used by the core"),
        ("[plans]\ntea", "[plans]\nexplore-track", "is already used by the pack `research`"),
        ("[automata]\ntea", "[automata]\nexplore", "is already used by the pack `research`"),
        ("[commands.tea]", "[commands.explore]", "`commands.explore` is already used by the pack `research`"),
        ("[automata]\ntea", "[automata]\nfdc", "`automata.fdc` is already used by the core"),
        ("[automata]\ntea", "[automata]\nfsm", "`automata.fsm` is already used by the core"),
        ("[plans]\ntea", "[plans]\ndeep-research", "`plans.deep-research` is already used by the core"),
    ],
)  # fmt: skip
def test_a_name_of_another_pack_is_found_before_the_pack_is_installed(
    workspace: Path, old: str, new: str, said: str
) -> None:
    """It was said to be valid, was installed, and could not be used."""
    assert 0 == fdc("pack", "new", "tea", "made", cwd=workspace).returncode
    for name in ("pack.toml", "tools.json"):
        file = workspace / "made/tea_pack" / name
        file.write_text(file.read_text().replace(old, new))
    for words in (["check", "made/tea_pack"], ["install", "made", "--yes"]):
        done = fdc("pack", *words, cwd=workspace)
        assert 1 == done.returncode and said in done.stdout + done.stderr, done


def test_a_tool_of_the_core_that_only_the_catalogue_declares_is_found(workspace: Path) -> None:
    assert 0 == fdc("pack", "new", "tea", "made", cwd=workspace).returncode
    file = workspace / "made/tea_pack/tools.json"
    document = json.loads(file.read_text())
    row = {**document["tools"]["tea_count"], "run": {"command": ["wc", "-w", "{path}"]}}
    file.write_text(json.dumps({**document, "tools": {**document["tools"], "read_file": row}}))
    done = fdc("pack", "check", "made/tea_pack", cwd=workspace)
    assert 1 == done.returncode and "`read_file` is a built-in tool" in done.stdout, done


def test_the_folder_that_new_wrote_and_install_takes_is_checked_too(workspace: Path) -> None:
    """It was said that `made/pack.toml` does not exist."""
    assert 0 == fdc("pack", "new", "tea", "made", cwd=workspace).returncode
    done = fdc("pack", "check", "made", cwd=workspace)
    assert (0, "made/tea_pack: the pack `tea` is valid\n") == (done.returncode, done.stdout)
    (workspace / "made/tea_pack/tools.json").unlink()
    done = fdc("pack", "check", "made", cwd=workspace)
    assert 1 == done.returncode and "tools.json" in done.stdout, done
    (workspace / "made/tea_pack/pack.toml").unlink()
    done = fdc("pack", "check", "made", cwd=workspace)
    assert 2 == done.returncode and "`made` has no `tea_pack/pack.toml`" in done.stderr, done
    (workspace / "made/pyproject.toml").unlink()
    done = fdc("pack", "check", "made", cwd=workspace)
    assert (1, "made/pack.toml: no such file or directory\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("tea_fsm.json", "{}", ":1: an object of neither automaton form"),
        ("tea_fsm.json", '{"states": [', ":1: "),
        ("plans/tea.plan", "use fsm tea\nif x\n", ":2: `if` has no body"),
    ],
)
def test_an_automaton_or_a_plan_that_cannot_be_read_is_found(
    workspace: Path, file: str, text: str, said: str
) -> None:
    """Such a pack was said to be valid, and each of its runs was refused."""
    assert 0 == fdc("pack", "new", "tea", "made", cwd=workspace).returncode
    (workspace / "made/tea_pack" / file).write_text(text)
    done = fdc("pack", "check", "made", cwd=workspace)
    assert 1 == done.returncode and done.stdout.startswith(f"made/tea_pack/{file}{said}"), done


def test_check_finds_that_a_prompt_or_schema_of_a_tool_is_missing(workspace: Path) -> None:
    folder = put(workspace / "packs" / "tea", HEAD + 'catalogues = ["tools.json"]\n')
    run = {"prompt": "packs/tea/name.md", "role": "writer", "schema": "packs/tea/name.json"}
    row = {"summary": "x", "action": "step_op", "effect": "read", "trust": "model", "parameters": [], "run": run}  # fmt: skip
    tools = {"format": 1, "name": "tea", "tools": {"name_tea": row}}
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "name.md").write_text("Name a tea.\n")
    checked = fdc("pack", "check", "packs/tea", cwd=workspace)
    missing = "the schema `packs/tea/name.json` of the tool `name_tea` does not exist"
    assert checked.stdout == f"packs/tea/pack.toml: {missing}\n", checked
    (folder / "name.json").write_text("{}")
    assert 0 == fdc("pack", "check", "packs/tea", cwd=workspace).returncode


def test_a_pack_of_a_workspace_is_checked_beside_the_others_of_it(workspace: Path) -> None:
    """It was said to be valid, and `fdc lint` refused each plan that used both."""
    row = {
        "summary": "x",
        "action": "step_op",
        "effect": "read",
        "trust": "workspace",
        "parameters": [],
    }
    row["run"] = {"command": ["true"]}
    for name in ("oolong", "tea"):
        folder = put(
            workspace / "packs" / name,
            HEAD.replace('"tea"', f'"{name}"') + 'catalogues = ["tools.json"]\n',
        )
        tools = {"format": 1, "name": name, "tools": {"brew": row}}
        (folder / "tools.json").write_text(json.dumps(tools))
    checked = fdc("pack", "check", "packs/tea", cwd=workspace)
    assert 1 == checked.returncode and "brew" in checked.stdout, checked
    assert checked.stdout.startswith("packs/tea/tools.json:"), checked
    (workspace / "packs" / "tea").rename(workspace / "packs" / "green")
    checked = fdc("pack", "check", "packs/green", cwd=workspace)
    said = "packs/green/pack.toml:1: `name` must be `green`, the name of its folder\n"
    assert (1, said) == (checked.returncode, checked.stdout), checked
    (workspace / "packs" / "green").rename(workspace / "packs" / "tea")
    (workspace / "packs" / "oolong" / "tools.json").write_text("{")
    assert 0 == fdc("pack", "check", "packs/tea", cwd=workspace).returncode
