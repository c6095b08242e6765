"""What an `allow` line with a parameter names, and what is known of a computed path: lint and run agree (FDC451, G-CAP)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.inside import fdc
from tests.support.linting import ANY, findings, lint

WRITE = "overwrite_file_with_block {}\n    text\n"
SUB = f"param x\n{WRITE.format('{x}')}"
INNER = f"param x = b.md\n{WRITE.format('{x}')}"
OUTER = "param x = a.md\nallow write {x}\n"

REFUSED = {
    "the name of a called plan is another": (OUTER, "call_plan sub.plan x=b.md\n"),
    "a default of a called plan, too": (OUTER, "call_plan inner.plan\n"),
    "what a called plan is given of a step": (
        f"{OUTER}allow read **\n",
        "y <- read_file in.md\ncall_plan sub.plan x={y}\n",
    ),
    "a parameter that a step binds again": (
        f"{OUTER}allow read **\n",
        f"x <- read_file in.md\n{WRITE.format('{x}')}",
    ),
    "a brace in a name is no reference": (OUTER, WRITE.format("{{x}}")),
    "and none in an allow line": ("allow write {{x}}.md\n", WRITE.format("{{x}}.md")),
    "a parameter that may be a glob": (
        "param x = docs/*\nallow read {x}\n",
        "for_each_file {x}\n  hello_world\n",
    ),
    "a folder beside": ("allow write {run}/a/**\n", WRITE.format("{run}/ab/c.md")),
    "files of another glob": (
        "allow read docs/*.md\n",
        "for_each_file docs/* as page\n  read_file {page}\n",
    ),
    "a name of a loop that a step binds again": (
        "allow read docs/*.md\n",
        "for_each_file docs/*.md as page\n  page <- read_file {file1}\n  read_file {page}\n",
    ),
    "files of the run in a folder beside": (
        "allow read {run}/a/**\nallow read {run}/b/*\n",
        "for_each_file {run}/b/*\n  call_plan reads.plan x={file1}\nfor_each_file {run}/a*\n  read_file {file1}\n",
    ),
    "items of a list that may be another": (
        "allow read docs/**\nallow read in.md\n",
        "f <- list_files docs\nif len(f) > 0\n  f <- read_file in.md\nfor one in {f} max 9\n  read_file {one}\n",
    ),
}
PROVED = {
    "the parameter itself, by another name": (OUTER, "call_plan sub.plan x={x}\n"),
    "a literal that the line names": ("allow write b.md\n", "call_plan sub.plan x=b.md\n"),
    "a folder of a parameter": (
        "param d = out\nallow write {d}/**\n",
        WRITE.format("{d}/sub/b.md"),
    ),
    "the folder of the run": ("allow write {run}/**\n", WRITE.format("{run}/b.md")),
    "the files of a loop": (
        "allow read docs/**\n",
        "for_each_file docs/*.md as page\n  t <- read_file {page}\n  h <- grep a {file1}\n",
    ),
    "the files of a loop in a called plan": (
        "allow read docs/*.md\n",
        "for_each_file docs/*.md\n  call_plan reads.plan x={file1}\n",
    ),
    "the items of a listing": (
        "allow read docs/**\n",
        "fs <- list_files docs\nfor one in {fs} max 9\n  t <- read_file {one}\n",
    ),
    "the paths of a search": (
        "allow read docs/**\n",
        "hits <- grep a docs/*.md\nfor hit in {hits} max 9\n  t <- read_file {hit.path}\n",
    ),
    "what is beside the files of a loop": (
        "allow read docs/*\nallow write docs/*.bak\n",
        "for_each_file docs/*.md\n  overwrite_file_with_block {file1}.bak\n    text\n",
    ),
    "the files of a loop in the folder of the run": (
        "allow read {run}/**\nallow write {run}/**\n",
        WRITE.format("{run}/a/b.md") + "for_each_file {run}/a/*.md\n  t <- read_file {file1}\n",
    ),
    "the items of a listing of the folder of the run": (
        "allow read {run}/a/**\nallow write {run}/**\n",
        WRITE.format("{run}/a/b.md")
        + "fs <- list_files {run}/a\nfor one in {fs} max 9\n  t <- read_file {one}\n",
    ),
    "a folder of a parameter that is looked through": (
        "param d = docs\nallow read {d}/**\n",
        "fs <- list_files {d}\nmessage_user {fs}\n",
    ),
}
NET = {
    "x <- view_text_website https://other.example/x": True,
    "x <- view_text_website https://OTHER.example:8080": True,
    "x <- view_text_website https://bücher.example/": True,
    "x <- view_text_website https://other.example/{w}": True,
    "x <- fetch": True,
    "x <- view_text_website https://Docs.example.org/x?y#z": False,
    "x <- view_text_website https://me@docs.example.org": False,
    "x <- view_text_website https://{w}": False,
    "x <- view_text_website https://docs.{w}.org/x": False,
    "x <- view_text_website {w}": False,
    "x <- google_search tea": False,
}
FETCH = {
    "summary": "x", "action": "read_op", "effect": "read", "trust": "untrusted", "parameters": [],
    "run": {"python": "own:fetch"}, "access": {"read": [], "net": True},
}  # fmt: skip
FILES = {
    "sub.plan": SUB,
    "inner.plan": INNER,
    "reads.plan": "param x\nt <- read_file {x}\n",
    "in.md": "zz.md",
    "docs/a.md": "a\n",
    "docs/b.txt": "b\n",
    "any.json": ANY,
}


def _plan(head: str, body: str) -> str:
    return f"use fsm any.json\n{head}{body}"


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_its_run_would_stop_for_what_it_allows_is_refused(name: str) -> None:
    text = _plan(*REFUSED[name])
    assert findings(lint({**FILES, "a.plan": text}, "a.plan"), "FDC451"), text


@pytest.mark.parametrize("name", PROVED)
def test_a_plan_whose_paths_are_all_named_is_proved_and_runs_to_its_end(
    workspace: Path, name: str
) -> None:
    for path, text in {**FILES, "a.plan": _plan(*PROVED[name])}.items():
        (workspace / path).parent.mkdir(exist_ok=True)
        (workspace / path).write_text(text)
    done = fdc("run", "a.plan", "--quiet", cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_step_of_a_called_plan_is_reported_once_for_calls_that_do_not_matter_to_it() -> None:
    body = "call_plan reads.plan x=docs/a.md\ncall_plan reads.plan x=docs/b.txt\n"
    found = findings(lint({**FILES, "a.plan": _plan("allow run *\n", body)}, "a.plan"), "FDC451")
    assert [item.span.line for item in found] == [3]


@pytest.mark.parametrize(("step", "refused"), NET.items())
def test_a_host_that_a_plan_names_is_one_that_it_allows(step: str, refused: bool) -> None:
    own = json.dumps({"format": 1, "name": "own", "tools": {"fetch": FETCH}})
    for hosts, found in (("*.example.org example.net", refused), ("*", False)):
        text = f"param w\nallow net {hosts}\nuse fsm any.json\n{step}\n"
        files = {"fdc_tools.json": own, "own.py": "", "any.json": ANY, "a.plan": text}
        assert bool(findings(lint(files, "a.plan"), "FDC451")) == found, text


@pytest.mark.parametrize(("allow", "refused"), [("make", True), ("* make", True), ("*", False)])
def test_commands_are_allowed_all_or_none(allow: str, refused: bool) -> None:
    """What a command does is not looked into, so a plan cannot allow some of them: it would read as if it did."""
    found = findings(lint(f"allow run {allow}\nrun_in_bash_session ls\n"), "FDC109")
    assert bool(found) == refused and all("takes only `*`" in item.message for item in found)
