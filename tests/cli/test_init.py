"""`fdc init` in repositories of other people: what it writes works, a second run changes nothing, nothing of theirs is lost."""

from __future__ import annotations

import json
import os
import re
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from fdc_toolchain.cli.project.init import merged, test_command
from fdc_toolchain.tasks.activity import LOG

from tests.support.inside import fdc
from tests.support.plans import CLEAN
from tests.support.process import run
from tests.support.repository import ROOT

AGENTS = ("claude", "codex", "cursor", "copilot")
ALL = [word for name in AGENTS for word in ("--agent", name)]
PLAN = CLEAN.replace(
    "read_file docs/tea.md",
    "overwrite_file_with_block docs/tea.md\n    Tea.\nread_file docs/tea.md",
)
TESTED = PLAN.replace("close_task", "run_in_bash_session make test\nclose_task")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for those of git and the records of fdc."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", ".fdc"} & set(path.relative_to(folder).parts)
    }


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    run(["git", "init", "-q", "."], cwd=tmp_path)
    return tmp_path


def test_a_fresh_repository_is_ready_and_a_second_run_changes_nothing(fresh: Path) -> None:
    told = fdc("init", *ALL, "--dry-run", cwd=fresh)
    assert (0, {}) == (told.returncode, tree(fresh)), told.stderr
    done = fdc("init", *ALL, cwd=fresh)
    assert done.returncode == 0, done.stderr
    made = tree(fresh)
    assert set(re.findall(r"(?m)^write   (\S+)$", done.stdout)) == set(made)
    assert set(re.findall(r"(?m)^\+\+\+ b/(\S+)$", told.stdout)) == set(made)
    assert 0 == fdc("lint", "--strict", cwd=fresh).returncode
    assert 0 == fdc("protocols", "--check", cwd=fresh).returncode
    assert 0 == fdc("fmt", "--check", cwd=fresh).returncode
    for _ in range(2):
        ran = fdc("run", "plans/first.plan", cwd=fresh)
        assert ran.returncode == 0 and "AGENTS.md" in ran.stdout, ran.stderr
    again = fdc("init", *ALL, cwd=fresh)
    assert (0, made) == (again.returncode, tree(fresh))
    assert again.stdout.endswith("nothing to do: every file exists\n")
    changed = run(["git", "status", "--short", "--untracked-files=all"], cwd=fresh).stdout
    assert {line[3:] for line in changed.splitlines()} == set(made)


def test_who_wants_codex_is_told_that_its_hook_has_to_be_trusted(fresh: Path) -> None:
    out = fdc("init", "--agent", "codex", cwd=fresh).stdout
    assert "only after you trust this folder and the hook" in out


def test_the_rule_bites_at_once_and_the_skill_shows_a_plan_that_keeps_it(fresh: Path) -> None:
    fdc("init", "--agent", "claude", cwd=fresh)
    refused = fdc("lint", "-", cwd=fresh, stdin="")
    (fresh / "plan.txt").write_text(PLAN, "utf-8")
    refused = fdc("lint", "plan.txt", cwd=fresh)
    assert refused.returncode == 1 and "`tests-before-submit` of `house`" in refused.stdout
    (fresh / "plan.txt").write_text(TESTED, "utf-8")
    assert 0 == fdc("lint", "--strict", "plan.txt", cwd=fresh).returncode
    skill = (fresh / ".claude/skills/fdc-plan/SKILL.md").read_text("utf-8")
    [shown] = re.findall(r"(?ms)^   ```plan\n(.*?)^   ```$", skill)
    (fresh / "plan.txt").write_text(re.sub(r"(?m)^   ", "", shown), "utf-8")
    assert 0 == fdc("lint", "--strict", "plan.txt", cwd=fresh).returncode


@pytest.mark.parametrize("command", ["make test -s", "make tests", "python3 -m pytest"])
def test_a_step_that_is_nearly_the_one_of_the_rule_is_named(fresh: Path, command: str) -> None:
    """Whoever ran the tests, but not by the command of the rule, does not see why it is broken."""
    fdc("init", cwd=fresh)
    (fresh / "plan.txt").write_text(
        TESTED.replace("session make test", f"session {command}"), "utf-8"
    )
    refused = fdc("lint", "plan.txt", cwd=fresh)
    assert refused.returncode == 1
    near = f"; `{command}` (line 8) is not `make test`\n"
    assert (near in refused.stdout) is command.startswith("make")


def test_start_and_agent_work_afterwards(fresh: Path) -> None:
    """C3."""
    fdc("init", cwd=fresh)
    started = fdc("start", "--task-id", "A", "--network", "off", cwd=fresh)
    assert started.returncode == 0 and "TASK_START logged" in started.stdout, started.stderr
    waiting = fdc("agent", "Write a page", "--task-id", "B", "--network", "off", cwd=fresh)
    assert waiting.returncode == 5 and "waiting for plan.txt" in waiting.stdout, waiting.stderr


def test_what_people_wrote_stays_byte_for_byte(fresh: Path) -> None:
    theirs = {
        "AGENTS.md": "# Mine\r\nno line end",
        ".gitignore": "*.o",
        ".claude/settings.json": '{\n    "model": "m",\n    "hooks": {"PreToolUse": [{"matcher": "X", "hooks": []}]}\n}\n',
        ".pre-commit-config.yaml": "# c\nrepos:\n  - repo: https://example.org/y\n    rev: v1\n    hooks:\n"
        "      - id: a  # x\n\nci:\n  skip: []\n",
        "logs/ours.txt": "a folder of the repository\n",
        ".github/copilot-instructions.md": "Be kind.\n",
    }
    for name, text in theirs.items():
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).write_bytes(text.encode())
    (fresh / "CLAUDE.md").symlink_to("AGENTS.md")
    run(["git", "add", "--all"], cwd=fresh)
    done = fdc("init", *ALL, cwd=fresh)
    assert done.returncode == 0, done.stderr
    made = tree(fresh)
    for name in ("AGENTS.md", ".gitignore", ".github/copilot-instructions.md"):
        assert made[name].startswith(theirs[name].encode()) and made[name] != theirs[name].encode()
    assert made["AGENTS.md"].count(b"\n") == made["AGENTS.md"].count(b"\r\n")
    assert made["AGENTS.md"].count(b"fdc init") == 1 and (fresh / "CLAUDE.md").is_symlink()
    assert b"/runs/\n/knowledge_core/.*.lock\n/protocols/.*.lock\n" in made[".gitignore"]
    assert b"/logs/" not in made[".gitignore"]
    config = made[".pre-commit-config.yaml"].decode()
    before, after = theirs[".pre-commit-config.yaml"].split("\n\nci:")
    assert config.startswith(before) and config.endswith("\n\nci:" + after)
    assert 2 == len(yaml.safe_load(config)["repos"])
    hooks = json.loads(made[".claude/settings.json"])
    assert hooks["model"] == "m" and 2 == len(hooks["hooks"]["PreToolUse"])
    assert b"protocols/AGENTS.md" in made["AGENTS.md"] and "protocols/AGENTS.md" in made
    assert 0 == fdc("protocols", "--check", cwd=fresh).returncode
    assert 0 == fdc("init", *ALL, cwd=fresh).returncode and made == tree(fresh)


def test_a_file_that_git_would_not_give_to_others_is_named(fresh: Path) -> None:
    (fresh / ".gitignore").write_text("*.toml\n/protocols/\n.claude/\n")
    (fresh / "knowledge_core").mkdir()
    (fresh / "knowledge_core" / ".gitignore").write_text("/agent_meta.json\n")
    (fresh / ".git" / "info").mkdir(exist_ok=True)
    (fresh / ".git" / "info" / "exclude").write_text("CLAUDE.md\n")
    hidden = r"(?m)^The \.gitignore of this repository ignores (.*): git does not share it\."
    told = fdc("init", "--agent", "claude", "--dry-run", cwd=fresh).stdout
    said = re.findall(hidden, told)
    assert 1 == len(said), told
    assert said == re.findall(hidden, fdc("init", "--agent", "claude", cwd=fresh).stdout)
    run(["git", "add", "."], cwd=fresh)
    given = run(["git", "ls-files"], cwd=fresh).stdout.split()
    assert set(tree(fresh)) - set(given) == set(re.findall(r"`(\S+)`", said[0]))
    run(["git", "add", "--force", "."], cwd=fresh)
    assert "hides" not in fdc("init", "--agent", "claude", cwd=fresh).stdout


def test_outside_of_git_and_with_settings_rules_or_tests_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fdc]\ntest-command = "tox -q"\n', "utf-8")
    done = fdc("init", str(tmp_path), cwd="/")
    assert done.returncode == 0 and "not the top of a git repository" in done.stdout, done.stderr
    made = tree(tmp_path)
    assert not {"fdc.toml", ".gitignore", ".pre-commit-config.yaml"} & set(made)
    assert b'"command": "tox -q"' in made["protocols/house.protocol.json"]
    done = fdc("init", "--test-command", "pytest", cwd=tmp_path)
    assert (
        done.returncode == 2
        and '`test-command = "tox -q"`' in done.stderr
        and made == tree(tmp_path)
    )
    assert fdc("init", "--test-command", "tox -q", cwd=tmp_path).returncode == 0
    (tmp_path / "b").mkdir()
    (tmp_path / "b/protocols").mkdir()
    (tmp_path / "b/protocols/own.protocol.md").write_text("# Own\n", "utf-8")
    done = fdc("init", "b", "--test-command", "tox", cwd=tmp_path)
    assert done.returncode == 0 and "it already contains rules" in done.stdout
    assert ["protocols/own.protocol.md"] == [
        one for one in tree(tmp_path / "b") if "protocols" in one
    ]


def broken_json(root: Path) -> str:
    (root / ".claude").mkdir()
    (root / ".claude/settings.json").write_text("{ // mine\n}", "utf-8")
    return "by hand .claude/settings.json: it is not JSON"


def flow_yaml(root: Path) -> str:
    (root / ".pre-commit-config.yaml").write_text(
        "repos: [{repo: meta, hooks: [{id: identity}]}]\n", "utf-8"
    )
    return "by hand .pre-commit-config.yaml: its list `repos` is not in block style"


def link_out(root: Path) -> str:
    (root / "AGENTS.md").symlink_to("/etc/hostname")
    (root / "plans").symlink_to("/tmp")
    return "by hand plans/first.plan: it is a link out of the workspace"


def same_key_twice(root: Path) -> str:
    (root / ".cursor").mkdir()
    (root / ".cursor/hooks.json").write_text('{"version": 1, "version": 1}', "utf-8")
    return "by hand .cursor/hooks.json: it has a duplicate key"


def deep_json(root: Path) -> str:
    (root / ".codex").mkdir()
    (root / ".codex/hooks.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000, "utf-8")
    return "by hand .codex/hooks.json: it is not JSON"


def aliases(root: Path) -> str:
    lines = ["a0: &a0 [x, x]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)
    ]
    (root / ".pre-commit-config.yaml").write_text(
        "\n".join([*lines, "repos:", "- *a29", ""]), "utf-8"
    )
    return "by hand .pre-commit-config.yaml: it uses YAML aliases"


def wide_characters(root: Path) -> str:
    (root / "AGENTS.md").write_bytes("# Mine\n".encode("utf-16"))
    return "by hand AGENTS.md: it is not UTF-8"


def settings_that_lead_away(root: Path) -> str:
    (root / "fdc.toml").write_text(
        'protocols = "/"\n[agents]\noutput = ".git/hooks/pre-push"\n', "utf-8"
    )
    return "skip    //: the settings place the protocols outside the workspace"


def output_of_git(root: Path) -> str:
    (root / "fdc.toml").write_text('[agents]\noutput = ".git/hooks/pre-push"\n', "utf-8")
    return "by hand .git/hooks/pre-push: it is inside the folder `.git`"


@pytest.mark.parametrize(
    "make",
    [
        broken_json, flow_yaml, link_out, same_key_twice, deep_json, aliases, wide_characters,
        settings_that_lead_away, output_of_git,
    ],
)  # fmt: skip
def test_what_cannot_be_added_to_is_left_and_said(fresh: Path, make: Callable[[Path], str]) -> None:
    said = make(fresh)
    before = tree(fresh)
    done = fdc("init", *ALL, cwd=fresh)
    assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr
    assert before.items() <= tree(fresh).items()


def test_a_file_that_is_too_large_is_left_and_said(fresh: Path) -> None:
    large = b"a: b\n" * 300_000
    for name in ("AGENTS.md", ".gitignore", ".pre-commit-config.yaml"):
        (fresh / name).write_bytes(large)
    done = fdc("init", cwd=fresh)
    assert done.returncode == 0 and done.stdout.count("more than 1,048,576 bytes") == 3
    for name in ("AGENTS.md", ".gitignore", ".pre-commit-config.yaml"):
        assert (fresh / name).read_bytes() == large


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [("protocols", "file", 3), ("plans/first.plan", "pipe", 3), ("fdc.toml", "x = 1", 2)],
)
def test_where_one_file_cannot_be_written_none_is(
    fresh: Path, name: str, kind: str, code: int
) -> None:
    (fresh / name).parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(fresh / name)
    else:
        (fresh / name).write_text(kind, "utf-8")
    before = tree(fresh)
    done = fdc("init", cwd=fresh)
    assert (code, before) == (done.returncode, tree(fresh)), done.stdout + done.stderr
    assert "Traceback" not in done.stderr and done.stderr.startswith("fdc: ")


@pytest.mark.slow
def test_a_command_that_cannot_start_here_is_told(tmp_path: Path) -> None:
    """`python3 -m pytest` was written as if pytest were installed."""
    programs, work = tmp_path / "bin", tmp_path / "work"
    work.mkdir()
    programs.mkdir()
    (work / "test_a.py").write_text("def test_a():\n    pass\n")
    python, without = programs / "python3", tmp_path / "without"
    venv.create(without)
    env = {"PATH": f"{programs}:/usr/bin:/bin", "PYTHONPATH": ""}
    for target, said in ((f"{without}/bin/python3", True), (sys.executable, False)):
        python.write_text(f'#!/bin/sh\nexec {target} "$@"\n')
        python.chmod(0o755)
        done = fdc("init", cwd=work, env=env)
        assert 0 == done.returncode and "`python3 -m pytest`" in done.stdout, done
        assert said == ("But `python3` has no pytest. Install it, or" in done.stdout)
        assert 0 == fdc("init", "--remove", cwd=work).returncode


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("\truff-of-nobody check .\n\tpytest\n", "ruff-of-nobody"),
        ("\t@echo x\n\n# why\n\tTZ=UTC pytest-of-nobody tests\n", "pytest-of-nobody"),
        ("\tcd a && of-nobody\n\t-of-nobody\n\t$(OF) a\n\t./of-nobody\nlint:\n\tof-nobody\n", ""),
    ],
)
def test_a_program_of_the_makefile_that_is_not_here_is_told(
    tmp_path: Path, recipe: str, said: str
) -> None:
    """A newcomer's first plan wrote its files, and stopped at `make test`, which wanted `uv`."""
    (tmp_path / "Makefile").write_text(f"all:\n\tof-nobody\ntest: all\n{recipe}")
    done = fdc("init", cwd=tmp_path)
    assert 0 == done.returncode and "The tests are run with `make test`" in done.stdout
    sentence = f"But there is no `{said}` on PATH, which `make test` starts. Install it, or let fdc"
    assert (sentence in done.stdout) is bool(said) and ("But there is" in done.stdout) is bool(said)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all:\n\ttrue\ntest: all\n", "package.json": "{}"}, "make test"),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}}'}, None),
        ({"package.json": "[" * 100_000}, None),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "python3 -m pytest"),
        ({"setup.py": "", "tests/test_a.py": ""}, "python3 -m pytest"),
        ({"setup.py": "", "test_a.py": ""}, "python3 -m pytest"),
        ({"setup.py": "", "test_a.py": "", ".venv/bin/python": ""}, "python3 -m pytest"),
        (
            {
                "setup.py": "", "test_a.py": "", ".venv/bin/python": "",
                ".venv/lib/python3.13/site-packages/pytest/__init__.py": "",
            },
            ".venv/bin/python -m pytest",
        ),
        ({"tests/test_a.py": ""}, "python3 -m pytest"),
        ({"setup.py": "", "contest.py": ""}, None),
        ({"README.md": "pytest"}, None),
    ],
)  # fmt: skip
def test_the_command_of_the_tests_is_found(
    tmp_path: Path, files: dict[str, str], command: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert command == test_command.found(str(tmp_path))


def test_a_file_that_is_half_done_is_a_person_s(tmp_path: Path) -> None:
    with pytest.raises(merged.ByHand, match="only some of"):
        merged.with_hooks(b'{"a": "fdc hook one"}', {}, ("fdc hook one", "fdc hook two"))
    with pytest.raises(merged.ByHand, match="`hooks` is not an object"):
        merged.with_hooks(b'{"hooks": []}', {"hooks": {"a": []}}, ("x",))
    with pytest.raises(merged.ByHand, match="is missing"):
        merged.with_repository(b"repos: {}\n", "- repo: local\n")


@pytest.mark.slow
def test_a_hook_refuses_a_commit_while_a_plan_has_errors_and_nothing_else(fresh: Path) -> None:
    fdc("init", *ALL, cwd=fresh)
    (fresh / "plans/new.plan").write_text(PLAN, "utf-8")
    cursor = json.loads((fresh / ".cursor/hooks.json").read_text("utf-8"))
    copilot = json.loads((fresh / ".github/hooks/fdc.json").read_text("utf-8"))
    path = {"PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}

    def answer(command: str, event: str) -> object:
        done = run(["sh", "-c", command], cwd=fresh, stdin=json.dumps({"command": event}), env=path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout else None

    commands = [
        cursor["hooks"]["beforeShellExecution"][0]["command"],
        copilot["hooks"]["preToolUse"][0]["bash"],
    ]
    assert [None, None] == [answer(command, "ls") for command in commands]
    refusals = [answer(command, "git commit -m x") for command in commands]
    assert ["deny", "deny"] == [
        one[key] for one, key in zip(refusals, ("permission", "permissionDecision"))
    ]  # type: ignore[index]
    (fresh / "plans/new.plan").write_text(TESTED, "utf-8")
    assert [None, None] == [answer(command, "git commit -m x") for command in commands]


def test_the_checker_of_rules_finds_nothing_in_those_of_init(fresh: Path) -> None:
    fdc("init", cwd=fresh)
    assert (0, "") == (
        (found := fdc("protocols", "graph", "--check", cwd=fresh)).returncode,
        found.stderr,
    )


@pytest.mark.slow
def test_the_checker_of_agents_files_finds_nothing(fresh: Path) -> None:
    fdc("init", *ALL, cwd=fresh)
    done = run([ROOT / ".venv/bin/agnix", "--format", "json", "."], cwd=fresh)
    found = [item for item in json.loads(done.stdout)["diagnostics"] if item["level"] == "error"]
    assert [] == found


def test_the_rules_that_come_with_init_bite(fresh: Path) -> None:
    """Research order and tools, and a look outside before other people's technology is written about (FDC-52, 55, 64)."""
    assert 0 == fdc("init", cwd=fresh).returncode
    plans = {
        "plan.txt": "set_plan external: x\nplan_step_complete y\n{}"
        "create_file_with_block a.md\n    x\nread_file a.md\nclose_task\n",
        "r.plan": "# FSM: tooling/research_fsm.json\nset_plan x\nread_file AGENTS.md\nplan_step_complete y\n"
        "create_file_with_block r.md\n    x\nclose_task\n",
        "home.plan": "set_plan x\nplan_step_complete y\ncreate_file_with_block b.md\n    x\nread_file b.md\nclose_task\n",
    }  # fmt: skip
    for name, text in plans.items():
        (fresh / name).write_text(text.format(""), "utf-8")
    said = fdc("lint", *plans, cwd=fresh).stdout
    assert ["rag-mandate", "research-tools", "research-report"] == [
        line.split("rule `")[1].split("`")[0] for line in said.splitlines() if "FDC461" in line
    ]
    (fresh / "plan.txt").write_text(plans["plan.txt"].format("google_search tea\n"), "utf-8")
    assert "FDC461" not in fdc("lint", "plan.txt", cwd=fresh).stdout


def unignored(folder: Path) -> set[str]:
    """The untracked files that git shows."""
    listing = run(["git", "ls-files", "--others", "--exclude-standard"], cwd=folder).stdout
    return set(listing.split("\n"))


def test_work_after_init_leaves_nothing_of_fdc_for_git(fresh: Path) -> None:
    """Registry, task log and runs: all that git shows afterwards is what `fdc init` wrote, and what was asked for."""
    assert fdc("init", cwd=fresh).returncode == 0
    before = unignored(fresh)
    for words in (
        ("registry", "register", "first", "plans/first.plan"),
        ("run", "plans/first.plan"),
        ("lint",),
        ("start", "--task-id", "T-1", "--network", "off"),
    ):
        done = fdc(*words, cwd=fresh)
        assert done.returncode == 0, done.stdout + done.stderr
    after = unignored(fresh)
    assert after == before and ".gitignore" in after


def test_the_first_plan_runs_whatever_the_settings_and_the_open_tasks_are(fresh: Path) -> None:
    """It names no file that the repository does not have, and the audit after it has nothing to say."""
    assert 0 == fdc("init", *ALL, cwd=fresh).returncode
    for path in ("plans/first.plan", ".claude/skills/fdc-plan/SKILL.md"):
        assert "FSM" not in (fresh / path).read_text("utf-8")
    for task in ("T-1", "T-2"):
        assert 0 == fdc("start", "--task-id", task, "--network", "off", cwd=fresh).returncode
    for task in ("T-2", "T-1"):
        ran = fdc("run", "plans/first.plan", cwd=fresh)
        assert ran.returncode == 0 and f"for the task `{task}`" in ran.stdout, ran.stderr
    with open(fresh / LOG, "ab") as file:  # as `fdc research` logs it, whose tools belong to a pack
        line = (fresh / LOG).read_bytes().splitlines()[-1]
        file.write(line.replace(b'"submit"', b'"note_source"') + b"\n")
    audit = fdc("audit", cwd=fresh)
    assert audit.returncode == 0 and not re.search("FDC5", audit.stdout), audit.stdout
    assert "3 of them apply to no step of the plans here" in audit.stdout


def test_the_first_plan_names_its_automaton_where_the_settings_have_another(fresh: Path) -> None:
    (fresh / "own.json").write_text(
        '{"states": ["S"], "start_state": "S", "accept_states": ["S"], "alphabet": ["read_op"],'
        ' "transitions": {"S": {"read_op": "S"}}}'
    )
    (fresh / "fdc.toml").write_text('fsm = "own.json"\n')
    assert 0 == fdc("init", cwd=fresh).returncode
    assert 0 == fdc("run", "plans/first.plan", cwd=fresh).returncode
    assert 0 == fdc("init", "--remove", cwd=fresh).returncode
    assert {"fdc.toml", "own.json"} == set(tree(fresh))
