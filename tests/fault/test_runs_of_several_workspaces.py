"""One database with the runs of two workspaces: what a person types in one of them is not for a run of the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.runs.records.questions import user

from tests.support.database import Workers, database, needs_database
from tests.support.fleet import begun
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.slow]

PLAN = "set_plan x\nplan_step_complete one\nrequest_user_input Sugar?\nclose_task\nsubmit\n"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three workspaces; the plans of the first two are the same."""
    for name in ("one", "two", "none"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fdc.toml").touch()
        (tmp_path / name / "p.plan").write_text(PLAN)
    return tmp_path / "one", tmp_path / "two", tmp_path / "none"


def test_the_last_run_is_one_of_the_workspace(places: tuple[Path, Path, Path]) -> None:
    one, two, none = places
    with database() as url:
        env = {"FDC_DATABASE": url}
        mine, theirs = begun(one, url, "p.plan"), begun(two, url, "p.plan")
        for place, name in ((one, mine), (two, theirs)):
            for command in ("show", "verify", "replay"):
                done = fdc(command, "last", cwd=place, env=env)
                assert f"run {name}" in done.stdout, (command, done)
        for words in (("show",), ("verify",), ("cancel",), ("answer",), ("resume",)):
            done = fdc(*words, "last", cwd=none, env=env)
            assert (
                done.returncode == 2 and "this workspace has no run in the database" in done.stderr
            )
        done = fdc("resume", cwd=none, env=env)
        assert done.returncode == 2 and "no run here can continue" in done.stderr, done
        assert not (none / ".fdc").exists()
        assert f"run {theirs}" in fdc("show", theirs, cwd=one, env=env).stdout, "by its name"
        assert theirs in fdc("runs", cwd=one, env=env).stdout


@pytest.mark.long
def test_the_record_has_who_answered(places: tuple[Path, Path, Path]) -> None:
    one = places[0]
    with database() as url, Workers(url, one) as workers:
        env = {"FDC_DATABASE": url}
        workers.start()
        assert 5 == fdc("run", "p.plan", cwd=one, env=env).returncode
        assert 0 == fdc("answer", "last", "two", cwd=one, env=env).returncode
        assert 0 == fdc("resume", "last", cwd=one, env=env).returncode
        assert f"(answered by {user()}, fdc answer)" in fdc("show", "last", cwd=one, env=env).stdout
        assert 5 == fdc("run", "p.plan", cwd=one, env=env).returncode
        assert 0 == fdc("resume", "last", "--answer", "two", cwd=one, env=env).returncode
        assert f"(answered by {user()}, fdc resume)" in fdc("show", "last", cwd=one, env=env).stdout


@pytest.mark.long
def test_what_has_ended_is_told_also_when_no_worker_is_there(
    places: tuple[Path, Path, Path],
) -> None:
    one = places[0]
    (one / "ends.plan").write_text(
        "set_plan x\nplan_step_complete one\nmessage_user yes\nclose_task\nsubmit\n"
    )
    (one / "stops.plan").write_text(
        "set_plan x\nplan_step_complete one\nread_file a.md\nclose_task\nsubmit\n"
    )
    (one / "a.md").write_text("a\n")
    with database() as url:
        env = {"FDC_DATABASE": url}
        began = begun(one, url, "ends.plan"), begun(one, url, "stops.plan")
        (one / "a.md").unlink()
        with Workers(url, one) as workers:
            workers.start()
            before = [fdc("resume", name, cwd=one, env=env) for name in began]
            assert [0, 1] == [done.returncode for done in before]
        after = [fdc("resume", name, cwd=one, env=env) for name in began]
        assert [0, 1] == [done.returncode for done in after]
        assert [done.stdout.splitlines()[-1] for done in before] == [
            done.stdout.splitlines()[-1] for done in after
        ]
