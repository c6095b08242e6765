"""Split files, byte plans, regions and other agents' files, built by real processes (FDC-97, FDC-98, FDC-102)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.support.process import fdc, run
from tests.support.repository import ROOT

BIN = ROOT / ".venv" / "bin"
REGION = "<!-- fdc:keep mine -->\nAsk Ada before you touch the kettle.\n<!-- /fdc:keep -->\n"


def source(name: str, *, scope: str = "", **more: object) -> dict[str, object]:
    rule = {
        "rule_id": "draw",
        "description": f"{name} draws three minutes.",
        "enforcement": "A clock.",
    }
    return {
        "protocol_id": name,
        "description": f"About {name}.",
        "rules": [rule],
        **({"scope": scope} if scope else {}),
        **more,
    }


def write(folder: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


@pytest.fixture
def root(workspace: Path) -> Path:
    """A repository with one protocol for all of it and two for folders, one below the other."""
    (workspace / ".git").mkdir()
    write(workspace, {
        "VERSION": "1.0.0\n",
        "protocols/10_tea.protocol.json": source("tea", associated_tools=["tools/t.py"]),
        "protocols/10_tea.protocol.md": "# Tea\n\nThis project makes tea. Build it with `make`.\n",
        "protocols/20_api.protocol.json": source("api", scope="src/api"),
        "protocols/20_api.protocol.md": "# The API\n\nRead the tests first.\n",
        "protocols/30_src.protocol.json": source("src", scope="src"),
        "tools/t.py": '"""What t does."""\n',
        "src/api/a.py": "", "Makefile": "all:\n",
    })  # fmt: skip
    return workspace


def protocols(cwd: Path, *arguments: str, status: int = 0) -> str:
    done = fdc("protocols", *arguments, cwd=cwd)
    assert status == done.returncode and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout + done.stderr


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_a_check_that_no_linter_can_enforce_stops_the_build(root: Path) -> None:
    """Issue 3: AGENTS.md never says *enforced* of a rule whose check cannot be made out (FDC462)."""
    protocols(root, "build")
    before = (root / "AGENTS.md").read_bytes()
    rule = {
        "rule_id": "r",
        "description": "d",
        "enforcement": "e",
        "check": {"template": "absence", "a": "wriet_op"},
    }
    write(root, {"protocols/10_tea.protocol.json": {**source("tea"), "rules": [rule]}})
    said = protocols(root, "build", status=1)
    assert "FDC462" in said and "write_op" in said and "10_tea.protocol.json" in said
    assert (root / "AGENTS.md").read_bytes() == before


def test_every_rule_says_what_enforces_it(root: Path) -> None:
    """Issue 3: beside each rule *enforced by CODE* or *advice*, inside of JSON that is still the source's."""
    rules = [
        {
            "rule_id": "a",
            "description": "d",
            "enforcement": "e",
            "check": {"code": ["FDC401", "FDC403"]},
        },
        {
            "rule_id": "b",
            "description": "d",
            "enforcement": "e",
            "check": {"template": "precedence", "a": "read_op", "b": "write_op"},
        },
        {"rule_id": "c", "description": "d", "enforcement": "enforced by FDC401: e"},
    ]
    write(root, {"protocols/10_tea.protocol.json": {**source("tea"), "rules": rules}})
    protocols(root, "build")
    text = (root / "AGENTS.md").read_text("utf-8")
    block = json.loads(text.split("```json\n")[1].split("\n```")[0])
    said = ["enforced by FDC401, FDC403: e", "enforced by FDC461: e", "advice: e"]
    assert said == [rule["enforcement"] for rule in block["rules"]]
    assert [rule.get("check") for rule in rules] == [rule.get("check") for rule in block["rules"]]


def test_a_check_by_a_code_that_does_not_exist_stops_the_build(root: Path) -> None:
    """FDC-96."""
    body = source("tea")
    body["rules"] = [
        {"rule_id": "a", "description": "d", "enforcement": "e", "check": {"code": "FDC999"}}
    ]
    write(root, {"protocols/10_tea.protocol.json": body})
    assert "$.rules[0].check.code: fdc has no `FDC999`" in protocols(root, "build", status=1)


def test_a_split_build_writes_each_folder_its_own_and_agents_doctor_agrees_on_the_bytes(
    root: Path,
) -> None:
    out = protocols(root, "build", "--split", "--show-bytes")
    texts = {
        name: (root / name).read_text("utf-8")
        for name in ("AGENTS.md", "src/AGENTS.md", "src/api/AGENTS.md")
    }
    for name, marks in {
        "AGENTS.md": (1, 0, 0),
        "src/AGENTS.md": (0, 1, 0),
        "src/api/AGENTS.md": (0, 0, 1),
    }.items():
        assert marks == tuple(
            texts[name].count(f'"protocol_id": "{part}"') for part in ("tea", "src", "api")
        )
    assert "# The API" in texts["src/api/AGENTS.md"] and "# The API" not in texts["AGENTS.md"]
    seen = run([BIN / "agents-doctor", "explain", "src/api", "--format", "json"], cwd=root)
    plan = json.loads(seen.stdout)
    assert (0, 0) == (seen.returncode, plan["lost_bytes"])
    assert (
        f"AGENTS.md + src/AGENTS.md + src/api/AGENTS.md: {plan['requested_bytes']:,} of 32,768 bytes"
        in out
    )
    assert "up to date" in protocols(root, "check", "--split")
    assert "FDC504" in protocols(root, "check", status=1)


def test_a_chain_that_agents_would_cut_is_an_error_with_ways_out(root: Path) -> None:
    """FDC505 exactly where a model of Codex's loader finds lost bytes, for the whole file and for the split."""
    protocols(root, "build", "--split")
    whole = json.loads(
        run([BIN / "agents-doctor", "explain", "src/api", "--format", "json"], cwd=root).stdout
    )["requested_bytes"]
    before = tree(root)
    out = protocols(root, "build", "--split", "--max-bytes", str(whole - 1), status=1)
    assert (
        f"src/api/AGENTS.md:1:1: error[FDC505] {whole} bytes, read in `src/api/` with `AGENTS.md`"
        in out
    )
    assert (
        "`--profile compact` leaves" in out
        and "shorten the longest: " in out
        and "CUT after" in out
    )
    assert before == tree(root)
    assert "FDC505" not in protocols(root, "build", "--split", "--max-bytes", str(whole))
    limited = [
        BIN / "agents-doctor",
        "--max-bytes",
        str(whole - 1),
        "check",
        "--rule",
        "AD001",
        ".",
    ]
    assert 1 == run(limited, cwd=root).returncode
    write(
        root,
        {
            "protocols/60_big.protocol.json": source("big", scope="tools"),
            "protocols/60_big.protocol.md": "x" * 9000,
        },
    )
    assert "`--split` leaves" in protocols(root, "build", "--max-bytes", "5000", status=1)


def test_the_compact_profile_leaves_tool_documentation_out(root: Path) -> None:
    protocols(root, "build", "--profile", "compact")
    assert "What t does" not in (root / "AGENTS.md").read_text("utf-8")
    assert "other settings" in protocols(root, "check", status=1) or "tools/t.py" in protocols(
        root, "check", status=1
    )
    protocols(root, "build")
    protocols(root, "build")
    assert 1 == (root / "AGENTS.md").read_text("utf-8").count("What t does")


def test_what_is_more_important_comes_first(root: Path) -> None:
    """What agents cut off is the end: of the same priority prose comes before rules, each by path (FDC-97)."""
    write(root, {
        "protocols/40_first.protocol.json": source("first", priority=90), "protocols/40_first.protocol.md": "FIRST",
        "protocols/05_last.protocol.json": source("last", priority=0), "protocols/05_last.protocol.md": "LAST",
    })  # fmt: skip
    protocols(root, "build")
    text = (root / "AGENTS.md").read_text("utf-8")
    marks = ["FIRST", '"first"', "# Tea", "# The API", '"tea"', '"api"', '"src"', "LAST", '"last"']
    assert marks == sorted(marks, key=text.index)


def test_files_of_an_earlier_split_go_unless_somebody_changed_them(root: Path) -> None:
    protocols(root, "build", "--split", "--target", "cursor", "--target", "gemini")
    (root / "src" / "api" / "CLAUDE.md").symlink_to("AGENTS.md")
    assert "removed" not in protocols(root, "build", "--split", "--target", "claude")
    assert (root / "src" / "api" / "CLAUDE.md").is_symlink()
    nested = root / "src" / "AGENTS.md"
    assert "left over" in protocols(root, "check", status=1)
    nested.write_text(nested.read_text("utf-8") + "\n" + REGION, "utf-8")
    (root / "src" / "api" / "other").mkdir()
    foreign = root / "src" / "api" / "other" / "AGENTS.md"
    foreign.write_text("Nobody's.\n", "utf-8")
    out = protocols(root, "build", "--target", "cursor")
    assert "src/api/AGENTS.md removed" in out and "src/AGENTS.md:1:1: warning[FDC511]" in out
    assert (
        not (root / "src" / "api" / "AGENTS.md").exists() and nested.exists() and foreign.exists()
    )
    assert [".cursor/rules/fdc.mdc"] == [name for name in tree(root) if name.endswith(".mdc")]
    assert ["CLAUDE.md", "GEMINI.md"] == [
        name for name in tree(root) if name.endswith(("CLAUDE.md", "GEMINI.md"))
    ]


def test_a_scope_that_is_no_folder_stops_the_build(root: Path) -> None:
    write(root, {"protocols/20_api.protocol.json": source("api", scope="src/ipa")})
    out = protocols(root, "build", status=1)
    assert (
        "protocols/20_api.protocol.json:1:" in out
        and "error[FDC509] $.scope: the folder `src/ipa` does not exist" in out
    )
    assert not (root / "AGENTS.md").exists()


def test_text_between_marks_survives_every_build(root: Path) -> None:
    protocols(root, "build")
    path = root / "AGENTS.md"
    path.write_text(path.read_text("utf-8").replace("`make`.\n", "`make`.\n" + REGION), "utf-8")
    assert "up to date" in protocols(root, "check")
    write(
        root,
        {
            "protocols/10_tea.protocol.md": "# Tea\n\nWe boil.\n\nThis project makes tea. Build it with `make`.\n"
        },
    )
    out = protocols(root, "check", status=1)
    assert "10_tea.protocol.md` is newer" in out and "by hand" not in out
    for _ in range(2):
        protocols(root, "build")
        text = path.read_text("utf-8")
        assert 1 == text.count(REGION) and text.index("We boil.") < text.index(
            "Ask Ada"
        ) < text.index("# The API")
        assert "up to date" in protocols(root, "check")
    path.write_text(text.replace("We boil.", "We toil."), "utf-8")
    assert "was edited by hand" in protocols(root, "check", status=1)


def test_a_source_may_keep_the_place_of_a_region(root: Path) -> None:
    prose = "# Tea\n\n<!-- fdc:keep mine -->\nNobody yet.\n<!-- /fdc:keep -->\n\nBoil."
    write(root, {"protocols/10_tea.protocol.md": prose})
    protocols(root, "build")
    path = root / "AGENTS.md"
    path.write_text(path.read_text("utf-8").replace("Nobody yet.", "Ask Ada."), "utf-8")
    write(root, {"protocols/10_tea.protocol.md": prose.replace("Boil.", "Boil twice.")})
    protocols(root, "build")
    kept = "# Tea\n\n<!-- fdc:keep mine -->\nAsk Ada.\n<!-- /fdc:keep -->\n\nBoil twice."
    assert kept in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (REGION.replace("<!-- /fdc:keep -->", ""), "region `mine` has no `<!-- /fdc:keep -->`"),
        ("<!-- /fdc:keep -->\n", "ends nothing"),
        (REGION + REGION, "region `mine` is there twice"),
        (REGION.replace("keep mine", "keep"), "is not a marker"),
        (REGION.replace("Ask", "<!-- fdc:keep other -->\nAsk"), "begins inside of region `mine`"),
        ("```\n" + REGION + "```\n", "stands inside of a code block"),
        (REGION.replace("Ask", "```\nAsk"), "opens a code block that does not end in it"),
    ],
)  # fmt: skip
def test_damaged_marks_are_an_error_that_changes_nothing(
    root: Path, broken: str, words: str
) -> None:
    protocols(root, "build")
    path = root / "AGENTS.md"
    path.write_text(
        path.read_text("utf-8").replace("makes tea.", "makes tea.\n\n" + broken), "utf-8"
    )
    write(root, {"protocols/20_api.protocol.md": "# New\n"})
    before = tree(root)
    out = protocols(root, "build", status=1)
    assert "AGENTS.md:1" in out and "error[FDC507]" in out and words in out, out
    assert before == tree(root)


def test_other_agents_get_their_own_files_in_their_own_form(root: Path) -> None:
    protocols(
        root,
        "build",
        "--split",
        "--target",
        "claude,gemini",
        "--target",
        "cursor",
        "--target",
        "copilot",
    )
    files = {name: data.decode() for name, data in tree(root).items()}
    for name in (
        "CLAUDE.md",
        "src/CLAUDE.md",
        "src/api/CLAUDE.md",
        "GEMINI.md",
        "src/api/GEMINI.md",
    ):
        assert "\n@AGENTS.md\n" in files[name] and len(files[name]) < 300
    always, scoped = files[".cursor/rules/fdc.mdc"], files[".cursor/rules/src/api/fdc.mdc"]
    assert {"alwaysApply": True} == {
        k: v for k, v in yaml.safe_load(always.split("---\n")[1]).items() if k != "description"
    }
    front = yaml.safe_load(scoped.split("---\n")[1])
    assert ("src/api/**", False) == (front["globs"], front["alwaysApply"])
    nested = files[".github/instructions/src/api/fdc.instructions.md"]
    assert {"applyTo": "src/api/**"} == yaml.safe_load(nested.split("---\n")[1])
    assert files[".github/copilot-instructions.md"].startswith("<!-- GENERATED")
    for text in (always, files[".github/copilot-instructions.md"]):
        assert "# Tea" in text and '"protocol_id": "tea"' in text and "# The API" not in text
    assert "# The API" in scoped and "# Tea" not in scoped
    assert "the target `claud` does not exist; did you mean `claude`?" in protocols(
        root, "build", "--target", "claud", status=2
    )


@pytest.mark.parametrize("name", ["fdc.toml", "pyproject.toml"])
def test_settings_say_what_is_built_and_checked(root: Path, name: str) -> None:
    table = "agents" if name == "fdc.toml" else "tool.fdc.agents"
    settings = f'[{table}]\nsplit = true\ntargets = ["claude"]\nprofile = "compact"\n'
    write(root, {name: settings})
    protocols(root)
    assert (root / "src" / "CLAUDE.md").exists() and b"What t" not in (
        root / "AGENTS.md"
    ).read_bytes()
    assert "src/CLAUDE.md is up to date" in protocols(root, "check")
    (root / "src" / "CLAUDE.md").unlink()
    assert "`src/CLAUDE.md` does not exist" in protocols(root, "check", status=1)
    protocols(root, "build", "--no-split", "--target", "none")
    assert not (root / "src" / "AGENTS.md").exists()
    for wrong, words in {
        'targets = ["emacs"]': "the target `emacs` does not exist",
        'profile = "tiny"': "full or compact", "splot = true": "did you mean `split`",
        "split = 1": "`agents.split` takes true or false", "max-bytes = 0": "1 or more", "targets = [1]": "a list of texts",
    }.items():  # fmt: skip
        write(root, {name: f"[{table}]\n{wrong}\n"})
        assert words in protocols(root, "check", status=2)


def test_a_file_that_fdc_did_not_write_is_not_written_over(root: Path) -> None:
    """No file at all is written then; a link to AGENTS.md is as good as the file."""
    write(root, {"GEMINI.md": "My own.\n"})
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(root)
    assert "GEMINI.md:1:1: error[FDC508]" in protocols(root, "build", "--target", "all", status=1)
    assert before == tree(root)
    protocols(root, "build", "--target", "all", "--force")
    assert (
        b"@AGENTS.md" in (root / "GEMINI.md").read_bytes()
        and b"# Tea" in (root / "CLAUDE.md").read_bytes()
    )


def test_an_override_beside_a_compiled_file_is_told_and_counted(root: Path) -> None:
    write(root, {"AGENTS.override.md": "x" * 500, "src/api/deep/AGENTS.md": "y" * 70})
    out = protocols(root, "build", "--show-bytes")
    assert (
        "AGENTS.override.md:1:1: warning[FDC510] agents read `AGENTS.override.md` in place of `AGENTS.md`"
        in out
    )
    assert "AGENTS.override.md + src/api/deep/AGENTS.md: 570 of 32,768 bytes" in out


def test_what_git_ignores_is_not_read(root: Path) -> None:
    """An unpacked program of somebody else had a long AGENTS.md, and the check failed on this machine only."""
    write(root, dict.fromkeys(("out/other/AGENTS.md", "src/own/AGENTS.md"), "x" * 40000))
    own = "src/own/AGENTS.md:1:1: error[FDC505]"
    write(root, {".gitignore": "/out/\n"})
    found = protocols(root, "build", status=1)
    assert own in found and "out/other" not in found
    write(root, {"src/.gitignore": "own\n"})
    assert "FDC505" not in protocols(root, "build")
    write(root, {"src/.gitignore": "", ".git/info/exclude": "own/\n"})
    assert "FDC505" not in protocols(root, "check")


def test_files_above_the_workspace_count(root: Path) -> None:
    """Codex begins at the folder with `.git`, wherever the workspace is."""
    below = root / "inner"
    write(below, {"fdc.toml": "", "VERSION": "1.0.0\n", "protocols/a.protocol.md": "INNER"})
    (root / "AGENTS.md").write_text("z" * 33_000, "utf-8")
    out = protocols(below, "build", status=1)
    assert "../AGENTS.md: (above the workspace)  CUT after 32,768 bytes" in out


def test_the_same_bytes_in_every_folder_and_locale(root: Path) -> None:
    """Sorted, LF, UTF-8, no time, whatever the machine."""
    write(root, {"protocols/50_u.protocol.md": "é ü 漢\r\n\r\nline\r\n"})
    seen = set()
    for locale, seed in (("C", "0"), ("C.UTF-8", "1"), ("POSIX", "2")):
        env = {
            "LC_ALL": locale,
            "PYTHONHASHSEED": seed,
            "PYTHONUTF8": "0",
            "TZ": "Asia/Tokyo",
            "SOURCE_DATE_EPOCH": "1",
        }
        done = fdc("protocols", "build", "--split", "--target", "all", cwd=root / "src", env=env)
        assert 0 == done.returncode, done.stderr
        names = [
            name
            for name in tree(root)
            if (root / name).suffix in (".md", ".mdc") and not name.startswith("protocols/")
        ]
        seen.add(tuple((name, (root / name).read_bytes()) for name in names))
        for name in names:
            os.unlink(root / name)
    assert 1 == len(seen) and not any(b"\r" in data for files in seen for _, data in files)


def test_a_build_that_fails_in_its_middle_leaves_every_file(root: Path) -> None:
    """All outputs or none: one of them cannot be written."""
    protocols(root, "build", "--split")
    write(
        root,
        {
            "protocols/10_tea.protocol.md": "# Coffee\n",
            "protocols/30_src.protocol.md": "# Source\n",
        },
    )
    (root / "CLAUDE.md").mkdir()
    before = tree(root)
    assert "CLAUDE.md" in protocols(root, "build", "--split", "--target", "claude", status=3)
    assert before == tree(root)


def test_an_imported_layout_is_one_file(root: Path) -> None:
    """`layout.json` says where everything stands in AGENTS.md; nothing says it of other files."""
    (root / "AGENTS.md").write_text("# Ours\n\nBoil.\n", "utf-8")
    protocols(root, "import", "AGENTS.md", "--out", "own")
    assert "lays out one AGENTS.md" in protocols(
        root, "build", "--source", "own", "--split", status=2
    )
    assert "up to date" in protocols(root, "build", "--source", "own")
    assert "up to date" in protocols(root, "check", "--source", "own")


def test_a_repository_without_protocols_passes_the_check_and_one_that_lost_them_does_not(
    tmp_path: Path,
) -> None:
    """C2: the hook `fdc-protocols` runs in repositories that compile nothing."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("# Ours\n", "utf-8")
    done = fdc("protocols", "--check", cwd=tmp_path)
    assert (0, "") == (done.returncode, done.stdout)
    assert "the folder `protocols` does not exist, so there is nothing to compile\n" == done.stderr
    assert 2 == fdc("protocols", "check", "--source", "protocols", cwd=tmp_path).returncode
    assert 2 == fdc("protocols", "build", cwd=tmp_path).returncode
    source = tmp_path / "protocols"
    source.mkdir()
    (source / "a.protocol.md").write_text("# A\n", "utf-8")
    (source / "VERSION").write_text("1.0.0\n", "ascii")
    (tmp_path / "VERSION").write_text("the product's own\n", "utf-8")
    assert 0 == fdc("protocols", "build", "--force", cwd=tmp_path).returncode
    assert 0 == fdc("protocols", "--check", cwd=tmp_path).returncode
    (source / "VERSION").write_text("\ufeff1.0.0\r\n", "utf-8")
    assert 0 == fdc("protocols", "--check", cwd=tmp_path).returncode, (
        "as an editor of Windows has it"
    )
    (source / "VERSION").write_text("one\n", "ascii")
    assert "protocols/VERSION holds `one`" in fdc("protocols", "--check", cwd=tmp_path).stderr
    source.rename(tmp_path / "gone")
    assert 2 == fdc("protocols", "--check", cwd=tmp_path).returncode


def test_one_source_is_one_source(workspace: Path) -> None:
    write(workspace, {"VERSION": "1.0.0\n", "protocols/a.protocol.md": "# A\n\nText.\n"})
    assert protocols(workspace, "build").rstrip().endswith(", from 1 source")
