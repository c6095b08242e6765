"""`--database` and FDC_DATABASE on the command line: which URLs they take, and whose runs a database has."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.database import database, needs_database
from tests.support.fleet import begun
from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete one\nmessage_user yes\nclose_task\nsubmit\n"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///runs.db", "found one of `sqlite://`"),
        ("mysql://ada:secret@db/fdc", "found one of `mysql://`"),
        ("postgresql+psycopg://ada:secret@db/fdc", "found one of `postgresql+psycopg://`"),
        ("secret.db", "this is none"),
        ("postgresql://ada:secret%@db/fdc", "invalid percent-encoded token"),
        ("postgresql://ada:secret@[db/fdc", "in IPv6 host address"),
    ],
)
def test_an_url_that_fdc_cannot_use_is_wrong_usage_and_its_password_is_not_shown(
    workspace: Path, url: str, said: str
) -> None:
    pytest.importorskip("psycopg")
    (workspace / "p.plan").write_text(PLAN)
    for words in (("runs",), ("run", "p.plan"), ("resume", "last"), ("worker",)):
        done = fdc(*words, "--database", url, cwd=workspace)
        assert 2 == done.returncode and said in done.stderr, done
        assert "postgresql://USER:PASSWORD@HOST/NAME" in done.stderr
        assert "secret" not in done.stdout + done.stderr
    doctor = fdc("doctor", cwd=workspace, env={"FDC_DATABASE": url})
    assert said in doctor.stdout and "secret" not in doctor.stdout
    assert ["p.plan"] == [name for name in os.listdir(workspace) if name.endswith(("plan", "db"))]


@needs_database
@pytest.mark.slow
def test_the_list_says_to_which_workspace_a_run_belongs(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for place in (one, two):
        place.mkdir()
        (place / "fdc.toml").touch()
        (place / "p.plan").write_text(PLAN)
    with database() as url:
        env = {"FDC_DATABASE": url}
        mine, theirs = begun(one, url, "p.plan"), begun(two, url, "p.plan")
        other = json.loads((two / ".fdc" / "workspace").read_text())["id"]
        heading, *lines = fdc("runs", cwd=one, env=env).stdout.splitlines()
        assert ["run", "workspace", "status"] == heading.split()[:3]
        assert [f"{mine:<20}  this one          new", f"{theirs:<20}  {other}  new"] == [
            line.partition("new")[0] + "new" for line in lines
        ]
        listed = json.loads(fdc("runs", "--format", "json", cwd=one, env=env).stdout)["runs"]
        assert other == listed[1]["workspace"] != listed[0]["workspace"]
    assert "workspace" not in fdc("runs", cwd=one).stdout.partition("\n")[0]
