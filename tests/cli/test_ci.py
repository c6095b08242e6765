"""Lint in CI: what changed since a revision, findings that are known, and a lint that goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_packs.repair.tools import repair_patch
from fdc_toolchain.cli.linting import changed
from fdc_toolchain.linking.project.quiet_git import ask_git

from tests.support.inside import fdc
from tests.support.plans import CLEAN
from tests.support.process import clean_environment, run
from tests.support.repository import ROOT

CALLER = CLEAN.replace("read_file docs/tea.md", "call_plan plans/step.plan")
WRONG = CLEAN.replace("read_file", "raed_file")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_plan", ".plan").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def git(folder: Path, *arguments: str) -> None:
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    assert 0 == run(["git", *name, *arguments], cwd=folder).returncode


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, docs__tea_md="Tea.\n", plans__caller_plan=CALLER, plans__alone_plan=CLEAN)
    write(
        tmp_path,
        plans__step_plan="read_file docs/tea.md\n",
        docs__other_md="x\n",
        plans__wrong_plan=WRONG,
    )
    write(tmp_path, plans__coffee_plan=CLEAN.replace("docs/tea.md", "docs/other.md"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def plans(folder: Path, *options: str) -> set[str]:
    """The plans that a lint means: each has a finding once its rule about names is broken."""
    done = fdc("lint", "--format", "json", *options, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    said = {
        item["path"]
        for item in document["diagnostics"] + document["assumptions"] + document["fragments"]
    }
    return {name.removeprefix("plans/").removesuffix(".plan") for name in said} | {
        str(document["summary"]["files"])
    }


def test_changed_means_the_plans_whose_verdict_rests_on_what_changed(shop: Path) -> None:
    assert {"0"} == plans(shop, "--changed")
    assert "no plan depends on a change since HEAD\n" == fdc("lint", "--changed", cwd=shop).stdout
    (shop / "docs/other.md").unlink()
    assert {"coffee", "1"} == plans(shop, "--changed")
    git(shop, "checkout", "-q", "--", ".")
    write(shop, plans__step_plan="submit\n")
    assert {"caller", "step", "2"} == plans(shop, "--changed=HEAD")
    git(shop, "commit", "-q", "-a", "-m", "second")
    assert {"0"} == plans(shop, "--changed", "HEAD")
    assert {"caller", "step", "2"} == plans(shop, "--changed", "HEAD~1")
    write(shop, **{"fdc.toml": "strict = true\n"})
    assert "5" in plans(shop, "--changed")
    assert "1" in plans(shop, "plans/alone.plan", "--changed", "--no-cache")


def verdicts(folder: Path, *options: str) -> dict[str, list[str]]:
    """By plan, everything that a lint of the workspace says of it."""
    document = json.loads(fdc("lint", "--format", "json", *options, cwd=folder).stdout)
    out: dict[str, list[str]] = {}
    for kind in ("diagnostics", "assumptions", "fragments"):
        for item in document[kind]:
            out.setdefault(item["path"], []).append(f"{item['code']} {item['message']}")
    return out


HOUSE = """{"protocol_id": "house", "description": "d", "rules": [{"rule_id": "r", "description": "d", "enforcement": "e",
"check": {"template": "absence", "a": {"tool": "read_file", "arguments": {"path": "docs/other.md"}}}}]}"""
EDITS: dict[str, dict[str, str | None]] = {
    "a file is deleted": {"docs/other.md": None},
    "a plan that is called changes": {"plans/step.plan": "read_file docs/none.md\n"},
    "a plan that is called is deleted": {"plans/step.plan": None},
    "a file becomes a folder": {"docs/tea.md": None, "docs/tea.md/x": "x"},
    "a rule comes": {"protocols/house.protocol.json": HOUSE},
    "a tool comes": {"fdc_tools.json": '{"format": 1, "name": "own", "tools": {}}'},
    "a damaged catalogue comes": {"fdc_tools.json": "{"},
    "a registry comes": {
        "knowledge_core/plan_registry.json": '{"plans/step.plan": "plans/alone.plan"}'
    },
    "the automaton comes": {
        "tooling/fdc_fsm.json": (ROOT / "tooling/fdc_fsm.json")
        .read_text("utf-8")
        .replace("read_op", "look_op")
    },
    "settings come": {"fdc.toml": 'secret = ["docs/tea.md"]\n'},
    "nothing that counts": {"README.md": "x\n"},
}


@pytest.mark.parametrize("edit", EDITS)
def test_no_verdict_changes_that_changed_does_not_mean(shop: Path, edit: str) -> None:
    before = verdicts(shop)
    for name, text in EDITS[edit].items():
        path = shop / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    after = verdicts(shop)
    differ = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert bool(differ) == (edit not in ("nothing that counts", "a tool comes"))
    said = verdicts(shop, "--changed")
    assert {name: after.get(name) for name in differ} == {name: said.get(name) for name in differ}


def test_changed_means_plans_of_other_tools_and_plans_behind_links(shop: Path) -> None:
    script = "export const meta = { name: 'a', description: 'b' }\n"
    write(shop, docs__linked_md=CLEAN, specs__a__tasks_md="- [x] T001 Write docs/other.md\n")
    (shop / ".claude" / "workflows").mkdir(parents=True)
    workflow = shop / ".claude" / "workflows" / "w.js"
    workflow.write_text(script, "utf-8")
    (shop / "plans" / "linked.plan").symlink_to("../docs/linked.md")
    git(shop, "add", "--all")
    git(shop, "commit", "-q", "-m", "second")
    assert {} == verdicts(shop, "--changed")
    workflow.write_text(script + "while (true) await agent('x', { model: 'm' })\n", "utf-8")
    (shop / "docs" / "linked.md").write_text(WRONG, "utf-8")
    said = verdicts(shop, "--changed")
    assert [".claude/workflows/w.js", "plans/linked.plan"] == sorted(said)
    (shop / "docs" / "other.md").unlink()
    assert "specs/a/tasks.md" in verdicts(shop, "--changed")
    assert {".claude/workflows/w.js"} == set(verdicts(shop, ".claude/workflows/w.js", "--changed"))


def test_an_automaton_that_changed_means_the_plans_under_it(shop: Path) -> None:
    text = (ROOT / "tooling/fdc_fsm.json").read_text("utf-8")
    write(shop, **{"tooling/own.json": text})
    write(shop, plans__own_plan=CLEAN.replace("tooling/fdc_fsm.json", "tooling/own.json"))
    git(shop, "add", "--all")
    git(shop, "commit", "-q", "-m", "own")
    write(
        shop,
        **{"tooling/own.json": text.replace('"close_op": "POST_MORTEM"', '"close_op": "IDLE"')},
    )
    assert {"own", "1", "tooling/own.json"} >= plans(shop, "--changed") >= {"own", "1"}


def test_a_repository_below_that_is_not_as_it_was_counts(shop: Path) -> None:
    """git says of a submodule only that it is another one, and of a clone only that it is there."""
    for name in ("module", "clone"):
        (shop / name).mkdir()
        write(shop / name, page_md="Tea.\n")
        git(shop / name, "init", "-q")
        git(shop / name, "add", "--all")
        git(shop / name, "commit", "-q", "-m", "first")
        text = WRONG.replace("close_task", f"read_file {name}/page.md\nclose_task")
        (shop / "plans" / f"{name}.plan").write_text(text, "utf-8")
    git(shop, "add", "plans", "module")
    git(shop, "commit", "-q", "-m", "second")
    assert {"clone", "1"} == plans(shop, "--changed"), "git does not know it at all"
    (shop / "module" / "page.md").unlink()
    assert {"clone", "module", "2"} == plans(shop, "--changed")


def test_a_hook_of_git_asks_each_repository_about_itself(shop: Path) -> None:
    """git names its own index to its hooks. In a submodule that was another index, or none, and no commit was possible."""
    write(shop / "module", page_md="Tea.\n")
    git(shop / "module", "init", "-q")
    git(shop / "module", "add", "--all")
    git(shop / "module", "commit", "-q", "-m", "first")
    write(shop, plans__wrong_plan=CLEAN, plans__page_plan=CLEAN.replace("docs/tea", "module/page"))
    git(shop, "add", "--all")
    git(shop, "commit", "-q", "-m", "second")
    hook, said = shop / ".git/hooks/pre-commit", shop / ".git/said"
    words = f"{sys.executable} {ROOT}/tooling/fdc_cli.py lint --changed"
    hook.write_text(f"#!/bin/sh\nenv | grep ^GIT_INDEX_FILE= || exit 9\n{words} > {said} 2>&1\n")
    hook.chmod(0o755)
    for number, how in enumerate([[], ["--all"], ["docs/other.md"]]):
        write(shop, docs__other_md=f"{number}\n")
        git(shop, "add", *(["--all"] if not how else ["docs/other.md"]))
        git(shop, "commit", "-q", "-m", "one more", *how)
        assert said.read_text() == "1 plan proved, no findings\n", how
    elsewhere = shop / "module"
    write(shop, plans__wrong_plan=WRONG)
    env = {"GIT_DIR": f"{elsewhere}/.git", "GIT_WORK_TREE": str(elsewhere)}
    assert "1 error in 1 file" in run(words.split(), cwd=shop, env=env).stdout


def test_what_changed_is_asked_without_a_program_of_a_repository(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git would start the filters of the workspace and of a submodule in it, and the monitor of both; also one that the settings
    of `git -c` name, which a hook is started with and git reads after all others."""
    (shop / "module").mkdir()
    for folder in (shop / "module", shop):
        write(folder, page_md="Tea.\n")
        (folder / ".gitattributes").write_text("*.md filter=f\n")
        if folder != shop:
            git(folder, "init", "-q")
        git(folder, "add", "--all")
        git(folder, "commit", "-q", "-m", "first")
    for folder in (shop / "module", shop):
        for name in ("filter.f.clean", "core.fsmonitor", "diff.external"):
            git(folder, "config", name, f"touch '{shop / 'started'}'; cat")
        write(folder, page_md="Mug.\n")
    assert {"module/", "page.md"} == set(changed.paths(str(shop), "HEAD"))
    assert not (shop / "started").exists()
    assert {"page.md": [(1, 1)]} == repair_patch.recent(str(shop), ["page.md"])
    for name, value in (
        ("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin"), ("remote.origin.url", f"file://{shop}"),
        ("remote.origin.uploadpack", f"touch '{shop / 'started'}'; false"), ("protocol.file.allow", "always"),
    ):  # fmt: skip
        git(shop, "config", name, value)
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='touch {shop}/started'")
    assert {"module/", "page.md"} == set(changed.paths(str(shop), "HEAD"))
    assert ask_git(str(shop), "cat-file", "-p", 39 * "0" + "1").returncode
    assert not (shop / "started").exists()
    assert not (shop / "started").exists()


def test_before_the_first_commit_all_is_new(tmp_path: Path) -> None:
    write(tmp_path, a_plan=CLEAN, docs__tea_md="Tea.\n")
    git(tmp_path, "init", "-q")
    assert "1 plan proved, no findings\n" == fdc("lint", "--changed", cwd=tmp_path).stdout


@pytest.mark.parametrize("revision", ["nothing", "HEAD:docs", "a\nb"])
def test_what_is_no_revision_is_refused(shop: Path, revision: str) -> None:
    done = fdc("lint", f"--changed={revision}", cwd=shop)
    assert done.returncode == 2 and "revision" in done.stderr and "Traceback" not in done.stderr


def test_outside_of_a_repository_changed_says_so(tmp_path: Path) -> None:
    write(tmp_path, a_plan=CLEAN, docs__tea_md="Tea.\n")
    done = fdc("lint", "--changed", cwd=tmp_path)
    assert done.returncode == 2 and "git repository" in done.stderr


def test_a_baseline_keeps_known_findings_quiet_and_lets_nothing_run(shop: Path) -> None:
    wrote = fdc("lint", "--write-baseline", cwd=shop)
    assert (0, "fdc-baseline.json written: 1 known\n") == (wrote.returncode, wrote.stdout)
    options = ("lint", "--baseline", "fdc-baseline.json")
    for _ in range(2):
        done = fdc(*options, cwd=shop)
        assert (0, "no new findings\n") == (done.returncode, done.stdout)
        assert (
            "1 known finding in fdc-baseline.json: a plan with an error is not proved"
            in done.stderr
        )
    write(shop, plans__wrong_plan="\n\n" + WRONG)
    assert 0 == fdc(*options, cwd=shop).returncode
    refused = fdc("run", "plans/wrong.plan", cwd=shop)
    assert refused.returncode == 1 and "raed_file" in refused.stdout + refused.stderr
    write(shop, plans__wrong_plan=WRONG.replace("close_task", "raed_file docs/tea.md\nclose_task"))
    more = fdc(*options, "--format", "concise", cwd=shop)
    assert more.returncode == 1 and 1 == more.stdout.count("FDC301")
    warned = CLEAN.replace("read_file", "unused <- read_file")
    write(shop, plans__wrong_plan=WRONG, plans__new_plan=warned)
    for form in ("text", "concise", "llm"):
        more = fdc(*options, "--format", form, cwd=shop)
        assert (
            more.returncode == 0 and "FDC313" in more.stdout and "plans proved" not in more.stdout
        )
    write(shop, plans__new_plan=WRONG)
    more = fdc(*options, "--format", "json", cwd=shop)
    assert ["plans/new.plan"] == [item["path"] for item in json.loads(more.stdout)["diagnostics"]]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 2}', "[" * 50_000, '{"format": 1, "findings": [{"path": 1}]}']
)
def test_what_is_no_baseline_is_refused(shop: Path, text: str) -> None:
    (shop / "b.json").write_text(text, "utf-8")
    for name in ("b.json", "missing.json", "docs"):
        done = fdc("lint", "--baseline", name, "plans/alone.plan", cwd=shop)
        assert (
            done.returncode in (2, 3)
            and "baseline" in done.stderr
            and "Traceback" not in done.stderr
        )


def test_no_other_file_becomes_a_baseline(shop: Path) -> None:
    before = (shop / "plans/alone.plan").read_bytes()
    done = fdc("lint", "--write-baseline", "--baseline", "plans/alone.plan", cwd=shop)
    assert done.returncode == 2 and before == (shop / "plans/alone.plan").read_bytes()
    assert 2 == fdc("lint", "--watch", "-", cwd=shop).returncode


@pytest.mark.slow
def test_watch_lints_again_after_a_change_until_it_is_interrupted(shop: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, ROOT / "tooling/fdc_cli.py", "lint", "--watch", "plans/alone.plan"],
        cwd=shop, env=clean_environment({"PYTHONUNBUFFERED": "1"}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    assert "1 plan proved, no findings\n" == process.stdout.readline()
    os.replace(shop / "plans/wrong.plan", shop / "plans/alone.plan")
    assert "\n" == process.stderr.readline()
    assert "changed: plans/alone.plan and 1 more\n" == process.stderr.readline()
    assert "raed_file" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert 130 == process.returncode and "Traceback" not in out + err


@pytest.mark.slow
def test_watch_ends_when_its_reader_has_gone_though_no_file_changes(shop: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, ROOT / "tooling/fdc_cli.py", "lint", "--watch", "plans/alone.plan"],
        cwd=shop, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    try:
        assert "1 plan proved, no findings\n" == process.stdout.readline()
        process.stdout.close()
        assert 0 == process.wait(timeout=60)
        assert "" == process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()
