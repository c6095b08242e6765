"""Names of runs are told apart by chance: a new run whose name is taken gets another one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from fdc_toolchain.check import check, program_of
from fdc_toolchain.engine.ports import NameTaken
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.runs.certified import certified, put_new, put_on_record
from fdc_toolchain.workspace import run_folders
from fdc_toolchain.workspace.confirmed_settings import settings_of

from tests.support.inside import fdc
from tests.support.linting import ANY


@pytest.fixture
def plan(workspace: Path) -> Path:
    (workspace / "any.json").write_text(ANY)
    (workspace / "a.plan").write_text("use fsm any.json\nmessage_user {run}\n")
    return workspace


def test_a_new_run_gets_another_name_where_its_own_is_taken(plan: Path) -> None:
    linker = Linker(str(plan), settings_of(str(plan)))
    program = program_of(check(linker, ["a.plan"], whole=True))
    proved = certified(program, "a.plan", str(plan))
    with closing(Store(str(plan / "runs.sqlite"))) as store:
        inputs = [{"given": {}, "builtin": {"run": "runs/x"}, "budget": {}} for _ in range(2)]
        names = [put_new(store, proved, "x", one) for one in inputs]
        assert names[0] == "x" != names[1]
        assert [one["builtin"] for one in inputs] == [{"run": f"runs/{name}"} for name in names]
        with pytest.raises(NameTaken, match="another run has the name x"):
            put_on_record(store, proved, "x", inputs[0])
        assert sorted(row.name for row in store.runs()) == sorted(names)


def test_many_runs_in_one_second_are_all_started(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folders, "_ALPHABET", "ab")  # 16 names a second
    told = [fdc("run", "a.plan", "--quiet", cwd=plan) for _ in range(8)]
    assert [done.returncode for done in told] == [0] * 8, told
    folders = [done.stdout.split()[0] for done in told]
    assert len(set(folders)) == 8
