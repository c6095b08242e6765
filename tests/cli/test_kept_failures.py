"""A fork that keeps failures as its user sees it: run, shown, reported, resumed, forked, replayed (LGTM-38)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.process import fdc

PLAN = """\
# FSM: tooling/fdc_fsm.json
set_plan Look at three pages
plan_step_complete ready
names <- list_files docs
pages <- fork name in {names} max 6 keep failures
  page <- read_file {name}
  yield {page}
  require not ("draft" in page) else "it is a draft"
  read_file facts/{name}
overwrite_file_with_block pages.txt
  {pages}
read_file pages.txt
yield {pages}
close_task
submit
"""


def world(folder: Path) -> None:
    (folder / "knowledge_core").mkdir()
    (folder / "docs").mkdir()
    (folder / "facts" / "docs").mkdir(parents=True)
    for name, text in (("a", "a draft"), ("b", "whole"), ("c", "whole too")):
        (folder / "docs" / f"{name}.md").write_text(text)
    (folder / "facts" / "docs" / "c.md").write_text("so it is")
    (folder / "look.plan").write_text(PLAN)


def test_a_run_whose_branches_fail_goes_on_and_says_so_everywhere(tmp_path: Path) -> None:
    world(tmp_path)
    done = fdc("run", "look.plan", "--format", "json", cwd=tmp_path)
    assert 0 == done.returncode, done.stdout + done.stderr
    said = json.loads(done.stdout)
    missing = "`read_file`: `facts/docs/b.md` does not exist"
    place = {"path": "look.plan"}
    draft = {
        "failed": "require",
        "why": "it is a draft",
        "item": "docs/a.md",
        "at": "main/4#1/3",
        "line": 8,
        **place,
    }
    lost = {
        "failed": "failure",
        "why": missing,
        "item": "docs/b.md",
        "at": "main/4#2/4",
        "line": 9,
        **place,
    }
    assert [draft, lost, "whole too"] == said["result"]
    assert [("require", "main/4#1/3"), ("failure", "main/4#2/4")] == sorted(
        ((one["kind"], one["address"]) for one in said["kept"]), key=lambda one: one[1]
    )

    shown = fdc("show", "last", cwd=tmp_path)
    assert "does not exist  (kept: only its branch ends)" in shown.stdout
    assert "2 branches failed, and the run continued:" in shown.stdout
    assert "require: it is a draft\n  at look.plan:8 (main/4#1/3)" in shown.stdout
    assert 2 == len(
        json.loads(fdc("show", "last", "--format", "json", cwd=tmp_path).stdout)["kept"]
    )
    assert 0 == fdc("report", "last", "-o", "run.html", cwd=tmp_path).returncode
    page = (tmp_path / "run.html").read_text()
    assert (
        "a branch failed, and the run continued: require: it is a draft" in page
        and "(kept: only its branch ended)" in page
    )
    assert 0 == fdc("replay", "last", cwd=tmp_path).returncode
    dry = fdc("run", "look.plan", "--dry-run", cwd=tmp_path)
    assert "at most 6; a failed one gives a record of its failure" in dry.stdout

    # The run went on with the failures: nothing of it is to be tried again.
    again = fdc("resume", "last", "--retry", "--format", "json", cwd=tmp_path)
    assert (
        0 == again.returncode and [draft, lost, "whole too"] == json.loads(again.stdout)["result"]
    )


def test_a_new_run_takes_kept_failures_over_or_tries_one_again(tmp_path: Path) -> None:
    world(tmp_path)
    first = json.loads(fdc("run", "look.plan", "--format", "json", cwd=tmp_path).stdout)
    later = fdc("fork", f"{first['run']}@main/5", "--quiet", cwd=tmp_path)
    assert 0 == later.returncode, later.stderr
    assert (
        first["result"]
        == json.loads(fdc("resume", later.stdout.strip(), "--format", "json", cwd=tmp_path).stdout)[
            "result"
        ]
    )

    (tmp_path / "facts" / "docs" / "b.md").write_text("now it is there")
    anew = fdc("fork", f"{first['run']}@main/4#2/4", "--quiet", cwd=tmp_path)
    assert 0 == anew.returncode, anew.stderr
    resumed = json.loads(
        fdc("resume", anew.stdout.strip(), "--format", "json", cwd=tmp_path).stdout
    )
    assert [first["result"][0], "whole", "whole too"] == resumed["result"]
    assert ["require"] == [one["kind"] for one in resumed["kept"]]
    assert 0 == fdc("verify", cwd=tmp_path).returncode


def test_keep_failures_stands_behind_a_fork_only(tmp_path: Path) -> None:
    world(tmp_path)
    (tmp_path / "look.plan").write_text(PLAN.replace("fork name", "for name"))
    done = fdc("lint", "look.plan", cwd=tmp_path)
    assert 1 == done.returncode
    assert "only the branches of a `fork` can fail alone" in done.stdout
