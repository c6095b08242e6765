"""An `allow write` that names what is protected waits for a person: what is asked, when, and what a yes is for."""

import json
import os
import re
from pathlib import Path

import pytest
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.workers import remote
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools.approvals.openings import Openings, approved
from fdc_toolchain.tools.runtime import LocalTools, Workbench

from tests.cli.test_run import run_name
from tests.fault.test_protected import grant, root, tier  # noqa: F401  (fixtures)
from tests.fault.test_sandbox import only, run
from tests.support import inside
from tests.support.background import PATIENCE, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.fleet import begun, is_over, key
from tests.support.process import fdc
from tests.support.programs import program, step

CI = ".github/workflows/ci.yml"
HEAD = [
    "allow read **",
    f"allow write {CI} AGENTS.md .vscode/** out/**",
    "allow run *",
    "set_plan Set up",
    "plan_step_complete ready",
]
TAIL = ["close_task", "submit", ""]
COMMAND = f"run_in_bash_session echo changed > {CI}"
TOOL = ["overwrite_file_with_block AGENTS.md", "    be kind"]


@pytest.fixture
def repository(workspace: Path) -> Path:
    (workspace / ".git").mkdir()
    (workspace / CI).parent.mkdir(parents=True)
    (workspace / CI).write_text("was\n")
    return workspace


def write(workspace: Path, *steps: str, name: str = "a.plan", head: list[str] = HEAD) -> None:
    (workspace / name).write_text("\n".join([*head, *steps, *TAIL]))


def notes(workspace: Path, run: str) -> dict[str, dict]:
    shown = json.loads(fdc("show", run, "--format", "json", cwd=workspace).stdout)
    return {
        row["address"]: row["body"].get("notes", {})
        for row in shown["records"]
        if row["kind"] == "outcome"
    }


def test_lint_lists_what_a_plan_opens_with_the_reason(repository: Path) -> None:
    write(repository, COMMAND)
    found = json.loads(fdc("lint", "a.plan", "--format", "json", cwd=repository).stdout)
    said = [one["message"] for one in found["assumptions"] if one["code"] == "FDC716"]
    assert said == [
        f"a person approves a change of {one}"
        for one in (
            f"`{CI}`, which is protected: `.github` is run by the CI",
            "`AGENTS.md`, which is protected: it is obeyed by agents",
            "`.vscode/**`, which is protected: `.vscode` is obeyed by an editor, which may run what it says",
        )
    ]
    (repository / "fdc.toml").write_text('assumptions = ["opened-file"]\n')
    assert "error[FDC716]" in fdc("lint", "a.plan", cwd=repository).stdout


@pytest.mark.parametrize(
    ("step", "path", "after"),
    [
        ([COMMAND], CI, "changed\n"),
        (TOOL, "AGENTS.md", "be kind\n"),
        (["create_file_with_block .vscode/tasks.json", "    {}"], ".vscode/tasks.json", "{}\n"),
    ],
    ids=["command", "tool", "folder"],
)
def test_the_first_step_that_may_change_it_waits_and_nothing_is_changed(
    repository: Path, step, path, after
) -> None:
    write(repository, *step)
    before = (repository / path).read_text() if (repository / path).exists() else None
    done = fdc("run", "a.plan", cwd=repository)
    name = run_name(done.stdout)
    assert done.returncode == 5 and "waiting for a person after 2 steps" in done.stdout
    assert "question: May this run change these protected files?" in done.stdout
    assert f"  a.plan: may change {CI}: `.github` is run by the CI" in done.stdout
    assert f"  a.plan:6: {'runs' if step == [COMMAND] else 'does'} {step[0]}"[:60] in done.stdout
    assert ((repository / path).read_text() if (repository / path).exists() else None) == before
    asked = fdc("answer", name, stdin="", cwd=repository)
    assert "May this run change these protected files?" in asked.stdout + asked.stderr
    done = fdc("resume", name, "--answer", "yes", cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (repository / path).read_text() == after
    noted = notes(repository, name)["main/3"]
    assert noted["answered"] == {"by": "command line"} and noted["opened"]["paths"] == [
        CI,
        ".vscode/**",
        "AGENTS.md",
    ]
    assert (
        fdc("verify", name, cwd=repository).returncode
        == fdc("replay", name, cwd=repository).returncode
        == 0
    )


def test_one_yes_is_for_the_whole_run_also_in_another_process(repository: Path) -> None:
    write(
        repository, COMMAND, "answer <- request_user_input Go on?", *TOOL, "message_user {answer}"
    )
    name = run_name(fdc("run", "a.plan", cwd=repository).stdout)
    done = fdc("resume", name, "--answer", "yes", cwd=repository)
    assert "question: Go on?" in done.stdout and (repository / CI).read_text() == "changed\n"
    assert fdc("resume", name, "--answer", "sure", cwd=repository).returncode == 0
    assert (repository / "AGENTS.md").read_text() == "be kind\n"


def test_a_no_stops_the_run_and_an_unclear_answer_is_none(repository: Path) -> None:
    write(repository, COMMAND)
    name = run_name(fdc("run", "a.plan", cwd=repository).stdout)
    done = fdc("resume", name, "--answer", "perhaps", cwd=repository)
    assert (
        done.returncode == 5
        and "answered with yes or no" in done.stdout
        and "waiting for a person" in done.stdout
    )
    done = fdc("resume", name, "--answer", "no", "--format", "json", cwd=repository)
    ended = json.loads(done.stdout)
    assert ended["status"] == "stopped" and ended["stop"]["cause"]["kind"] == "person"
    assert (repository / CI).read_text() == "was\n"


def test_another_program_needs_another_yes(repository: Path) -> None:
    write(repository, COMMAND)
    first = run_name(fdc("run", "a.plan", cwd=repository).stdout)
    assert fdc("answer", first, "yes", cwd=repository).returncode == 0
    assert fdc("resume", first, cwd=repository).returncode == 0
    write(repository, COMMAND.replace("changed", "otherwise"))
    done = fdc("run", "a.plan", cwd=repository)
    assert (
        "May this run change these protected files?" in done.stdout
        and (repository / CI).read_text() == "changed\n"
    )


def test_a_plan_within_a_plan_opens_what_all_of_them_name(repository: Path) -> None:
    (repository / "inner.plan").write_text(f"allow write {CI}\nallow run *\n{COMMAND}\n")
    write(
        repository,
        "call_plan inner.plan",
        head=["allow read **", f"allow write {CI}", "allow run *", *HEAD[3:]],
    )
    name = run_name(fdc("run", "a.plan", cwd=repository).stdout)
    assert (repository / CI).read_text() == "was\n"
    assert fdc("resume", name, "--answer", "yes", cwd=repository).returncode == 0
    assert (repository / CI).read_text() == "changed\n"
    write(
        repository,
        "call_plan inner.plan",
        head=["allow read **", "allow write **", "allow run *", *HEAD[3:]],
    )
    assert (
        fdc("run", "a.plan", cwd=repository).returncode == 1
        and (repository / CI).read_text() == "changed\n"
    )


def test_what_opens_nothing_is_not_asked_about(repository: Path) -> None:
    steps = ["run_in_bash_session echo made > out/x", "create_file_with_block out/y", "    y"]
    write(
        repository,
        *steps,
        head=["allow read **", "allow write ** out/**", "allow run *", *HEAD[3:]],
    )
    done = fdc("run", "a.plan", cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr
    write(repository, "create_file_with_block out/z", "    z")
    assert (
        fdc("run", "a.plan", cwd=repository).returncode == 0
    )  # a file tool asks for what it changes only


def test_branches_that_ask_at_once_need_one_yes(repository: Path) -> None:
    (repository / "out").mkdir()
    for name in ("a", "b"):
        (repository / "out" / name).touch()
    body = [
        "names <- list_files out",
        "fork name in {names} max 2",
        "    create_file_with_block .vscode/{name}.json",
    ]
    write(repository, *body, "        {name}")
    done = fdc("run", "a.plan", cwd=repository)
    assert done.returncode == 5, done.stdout + done.stderr
    name = run_name(done.stdout)
    address = re.findall(r"\((main/\S+)\); answer with", done.stdout)[0]
    done = fdc("resume", name, "--answer", f"{address}=yes", cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(os.listdir(repository / ".vscode/out")) == ["a.json", "b.json"]


def test_a_command_that_was_lost_while_it_asked_is_not_a_command_that_was_begun(
    repository: Path, tmp_path: Path
) -> None:
    """The caller at a terminal may be killed there: the step happens once, and certainly has not."""
    from fdc_toolchain.workspace.files import Root

    made = program(step("run_in_bash_session", command="true"))
    made["tools"] = {
        "run_in_bash_session": {"effect": "once", "parameters": [], "writes": "unknown"}
    }
    made["plans"][made["root"]]["allow"] = {"write": [CI], "run": ["*"]}

    def killed(question, above):
        assert any(".github" in line for line in above)
        raise KeyboardInterrupt

    opened = Root(str(repository))
    bench = Workbench("run", opened, str(tmp_path / "run"), print, killed, {}, 60.0)
    effect = Perform(
        "main/1",
        "tool",
        "run_in_bash_session",
        {"command": "true"},
        "r",
        "once",
        "a.plan",
        1,
        grants=(grant(CI),),
    )
    with pytest.raises(KeyboardInterrupt):
        LocalTools(made, bench).perform(effect)
    assert LocalTools(made, bench).probe(effect) == "not-done"
    agreed = LocalTools(made, bench._replace(ask=lambda question, above: "yes"))
    agreed.perform(effect)
    assert LocalTools(made, bench).probe(effect) == "unknown"  # now it was begun
    opened.close()


def test_an_approval_of_another_program_is_none_of_this_one() -> None:
    def of(path):
        made = program(step("put"))
        made["plans"][made["root"]]["allow"] = {"write": [path]}
        return made

    bench = Workbench("run", Fake(), "", print, print, {}, 60.0)
    given = Openings(of("AGENTS.md"), bench).shows()["opened"]
    record = Outcome("outcome", {"notes": {"opened": given}})
    assert approved(of("AGENTS.md"), [record]) and not approved(of("CLAUDE.md"), [record])
    assert not approved(of("AGENTS.md"), [])


@pytest.mark.long
@needs_database
def test_a_worker_waits_too_and_goes_on_with_the_answer(repository: Path) -> None:
    write(repository, COMMAND, *TOOL)
    with database() as url, Workers(url, repository) as ours:
        ours.start()
        name = begun(repository, url, "a.plan")
        wait_for(lambda: is_over(url, name))
        store = PgStore(url, key(repository))
        row = store.run(name)
        assert (
            row is not None and row.status == "waiting" and (repository / CI).read_text() == "was\n"
        )
        assert remote.answer(url, str(repository), row, "main/3", "yes", "test", PATIENCE)
        wait_for(lambda: rows(url, "SELECT status FROM fdc.run") == [("finished",)])
        store.close()
    assert (repository / CI).read_text() == "changed\n" and (
        repository / "AGENTS.md"
    ).read_text() == "be kind\n"


class Fake:
    protected = protect = ()


class Outcome:
    def __init__(self, kind, body):
        self.kind, self.body = kind, body


def test_only_what_is_named_opens(root, tier):  # noqa: F811
    folder = Path(root.path)
    for path in (CI, ".github/workflows/other.yml", "AGENTS.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("was\n")
    command = f"echo now > {CI}; for f in .github/workflows/other.yml AGENTS.md; do echo now > $f; done; exit 0"
    outcome = run(root, command, only(tier), grants=(grant(CI, "src/**"),))
    assert outcome.failure is None, outcome
    assert (folder / CI).read_text() == "now\n"
    assert (
        (folder / ".github/workflows/other.yml").read_text()
        == (folder / "AGENTS.md").read_text()
        == "was\n"
    )


def test_it_waits_in_every_tier(repository: Path, tier, monkeypatch) -> None:  # noqa: F811
    real = sandbox.reason
    monkeypatch.setattr(
        sandbox, "reason", lambda one: real(one) if one in (tier, "none") else "not in this test"
    )
    write(repository, COMMAND)
    name = run_name(inside.fdc("run", "a.plan", cwd=repository).stdout)
    assert (repository / CI).read_text() == "was\n"
    done = inside.fdc("resume", name, "--answer", "yes", cwd=repository)
    assert done.returncode == 0 and (repository / CI).read_text() == "changed\n", (
        done.stdout + done.stderr
    )
