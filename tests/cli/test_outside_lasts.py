"""Text from outside that a run wrote into a file stays text from outside in later plans (finding A23)."""

from __future__ import annotations

import json
import multiprocessing
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.linking.project.outside_files import Row
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.outside_table import Book, Keeper, as_proved, paths

from tests.support.linting import ANY
from tests.support.process import fdc

TOOLS = {
    "format": 1,
    "name": "test",
    "tools": {
        "page": {
            "summary": "a page",
            "action": "read_op",
            "effect": "read",
            "trust": "untrusted",
            "parameters": [{"name": "name", "kind": "rest", "sink": "data"}],
            "run": {"python": "pages_of_the_test:page"},
        },
        "save": {
            "summary": "save",
            "action": "write_op",
            "effect": "idempotent",
            "trust": "trusted",
            "parameters": [
                {"name": "path", "kind": "path", "access": "write", "sink": "path"},
                {"name": "content", "kind": "block", "sink": "data"},
            ],
            "run": {"python": "pages_of_the_test:save"},
        },
    },
}
PAGES = """
def page(name):
    return f"{name}.md"

def save(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
"""
HEAD = "# FSM: any.json\n"
SAVES = HEAD + "text <- page tea\ncreate_file_with_block docs/page.md\n  {text}\n"
COMMAND = HEAD + "run_in_bash_session python3 -m pytest tests\n"


@pytest.fixture
def place(workspace: Path) -> Path:
    (workspace / "any.json").write_text(ANY)
    (workspace / "fdc_tools.json").write_text(json.dumps(TOOLS))
    (workspace / "pages_of_the_test.py").write_text(PAGES)
    (workspace / "docs").mkdir()
    (workspace / "tea.md").write_text("tea\n")
    return workspace


def runs(place: Path, text: str, *arguments: str) -> str:
    """Runs a plan to its end; returns the run's name."""
    (place / "one.plan").write_text(text)
    done = fdc("run", "one.plan", *arguments, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"\d{8}-\d{6}-\w{4}", done.stdout)
    assert found is not None
    return found.group()


def codes(place: Path, text: str) -> list[str]:
    """What is found in a plan that comes later."""
    (place / "two.plan").write_text(text)
    done = fdc("lint", "two.plan", "--format", "json", cwd=place)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [
        item["code"]
        for item in json.loads(done.stdout)["diagnostics"]
        if item["severity"] == "error"
    ]


USES = {
    "address": "t <- read_file docs/page.md\nview_text_website {t}\n",
    "path": "t <- read_file docs/page.md\nread_file {t}\n",
    "argument": "t <- read_file docs/page.md\nmessage_user {t}\nrun_in_bash_session cat {t}\n",
}


@pytest.mark.parametrize("use", USES)
def test_what_one_plan_saves_of_a_page_chooses_nothing_in_a_later_plan(
    place: Path, use: str
) -> None:
    (place / "docs/page.md").write_text("tea.md")
    assert codes(place, HEAD + USES[use]) == []
    (place / "docs/page.md").unlink()
    name = runs(place, SAVES)
    assert codes(place, HEAD + USES[use]) == ["FDC471"]
    said = fdc("lint", "two.plan", cwd=place).stdout
    assert f"the file docs/page.md, which the run {name} stored at main/2, one.plan:3" in said
    assert "fdc trust --file docs/page.md" in said
    refused = fdc("run", "two.plan", cwd=place)
    assert refused.returncode == 1 and "FDC471" in refused.stderr


@pytest.mark.parametrize(
    ("stored", "use"),
    [
        ("part.plan", "call_plan part.plan\n"),
        ("two.plan", "list_files docs\n"),
        ("docs_fsm.json", "use fsm docs_fsm.json\nlist_files docs\n"),
        ("pages_of_the_test.py", "x <- page tea\nmessage_user {x}\n"),
    ],
)
def test_a_later_plan_is_not_made_of_what_an_earlier_one_stored(
    place: Path, stored: str, use: str
) -> None:
    use = use if use.startswith("use") else HEAD + use
    for path, text in (("part.plan", "list_files docs\n"), ("docs_fsm.json", ANY)):
        (place / path).write_text(text)
    assert codes(place, use) == []
    text = (place / stored).read_text()
    page = PAGES.replace('f"{name}.md"', repr(text.rstrip("\n")))
    (place / "pages_of_the_test.py").write_text(page)
    saves = SAVES.replace("create", "overwrite").replace("docs/page.md", stored)
    runs(place, saves)
    assert codes(place, use)[:1] == ["FDC474"]
    said = fdc("run", "two.plan", cwd=place)
    assert said.returncode == 1 and f"fdc trust --file {stored}" in said.stderr
    (place / stored).write_text(f"# read\n{text}" if stored != "docs_fsm.json" else f" {text}")
    assert codes(place, f"{use}# read\n") == []


def test_a_later_command_sees_the_folder_for_text_from_outside_whatever_was_put_there(
    place: Path,
) -> None:
    """A command prints which folders there are, so that one is there where its run may write into it."""
    for page in ("tea", "coffee"):
        steps = f'text <- page {page}\nif "tea" in text\n  create_file_with_block {{run}}/outside/x\n    y\n'
        name = runs(place, HEAD + steps)
        assert (place / "runs" / name / "outside/x").exists() is (page == "tea")
        assert (place / "runs" / name / "outside").is_dir()


def test_a_command_of_a_later_plan_may_execute_what_an_earlier_one_stored(place: Path) -> None:
    assert codes(place, COMMAND) == []
    runs(place, SAVES.replace("docs/page.md", "tests/conftest.py"))
    assert codes(place, COMMAND) == ["FDC474"]
    assert codes(place, HEAD + "run_in_bash_session wc tests/conftest.py\n") == []
    (place / "tests/conftest.py").write_text("# I looked at it\n")
    assert codes(place, COMMAND) == []


def test_what_lies_in_the_folder_for_text_from_outside_is_known_by_its_path(place: Path) -> None:
    name = runs(place, SAVES.replace("docs/page.md", "{run}/outside/page.md"))
    assert not (place / ".fdc/outside.jsonl").exists()
    assert codes(place, COMMAND) == []
    assert codes(
        place, HEAD + f"t <- read_file runs/{name}/outside/page.md\nread_file {{t}}\n"
    ) == ["FDC471"]


def test_a_person_approves_the_bytes_that_are_there_and_no_others(place: Path) -> None:
    use = HEAD + USES["path"]
    runs(place, SAVES)
    assert codes(place, use) == ["FDC471"]
    asked = fdc("trust", "--file", "docs/page.md", cwd=place, stdin="n\n")
    assert asked.returncode == 1
    assert "docs/page.md: 7 bytes, sha256 " in asked.stdout and codes(place, use) == ["FDC471"]
    assert fdc("trust", "--file", "docs/page.md", cwd=place, stdin="y\n").returncode == 0
    assert codes(place, use) == []
    assert "a run did not write text" in fdc("trust", "--file", "docs/page.md", cwd=place).stdout
    (place / "docs/page.md").unlink()
    runs(place, SAVES.replace("page tea", "page green"))
    assert codes(place, use) == ["FDC471"]
    (place / "docs/page.md").write_text("tea.md\n")
    assert codes(place, use) == []
    assert fdc("trust", "--file", "docs/page.md", "--withdraw", cwd=place).returncode == 0
    assert codes(place, use) == ["FDC471"]


def test_a_file_that_a_plan_moves_or_edits_takes_it_along(place: Path) -> None:
    runs(place, SAVES)
    runs(place, HEAD + "rename_file docs/page.md docs/moved.md\n")
    assert codes(place, HEAD + "t <- read_file docs/moved.md\nread_file {t}\n") == ["FDC471"]
    sections = "  <<<<<<< SEARCH\n  tea.md\n  =======\n  tea.md and more\n  >>>>>>> REPLACE\n"
    runs(place, HEAD + "replace_with_git_merge_diff docs/moved.md\n" + sections)
    assert (place / "docs/moved.md").read_text().startswith("tea.md and more")
    assert codes(place, HEAD + "t <- read_file docs/moved.md\nread_file {t}\n") == ["FDC471"]
    runs(place, HEAD + "t <- read_file docs/moved.md\ncreate_file_with_block docs/copy.md\n  {t}\n")
    assert codes(place, HEAD + "t <- read_file docs/copy.md\nread_file {t}\n") == ["FDC471"]


def test_what_a_callee_writes_for_its_caller_and_what_a_tool_writes_by_itself_counts(
    place: Path,
) -> None:
    (place / "sub.plan").write_text("param what\nsave docs/sub.md\n  {what}\n")
    runs(place, HEAD + "call_plan sub.plan what=tea\n")
    assert codes(place, HEAD + "t <- read_file docs/sub.md\nread_file {t}\n") == []
    runs(place, HEAD + "text <- page tea\ncall_plan sub.plan what={text}\n")
    assert paths(str(place)) == {"docs/sub.md"}
    assert codes(place, HEAD + "t <- read_file docs/sub.md\nread_file {t}\n") == ["FDC471"]


def test_whether_a_file_is_there_may_be_from_outside_too(place: Path) -> None:
    text = (
        HEAD
        + 'text <- page tea\nif "tea" in text\n  overwrite_file_with_block {run}/found\n    yes\n'
    )
    name = runs(place, text)
    assert codes(place, HEAD + f"for_each_file runs/{name}/*\n  submit x\n") == ["FDC472"]


def test_what_a_command_writes_that_was_allowed_to_see_such_a_file_counts(place: Path) -> None:
    runs(place, SAVES)
    (place / "fdc.toml").write_text(
        '[[allow]]\ncode = "FDC474"\nfiles = "one.plan"\nreason = "a test"\n'
    )
    assert fdc("trust", "--yes", cwd=place).returncode == 0
    (place / "docs/mine.md").write_text("mine\n")
    runs(place, HEAD + "run_in_bash_session cp docs/page.md docs/copied.md\n")
    assert paths(str(place)) == {"docs/page.md", "docs/copied.md"}
    assert codes(place, HEAD + "t <- read_file docs/copied.md\nread_file {t}\n") == ["FDC471"]
    assert codes(place, HEAD + "t <- read_file docs/mine.md\nread_file {t}\n") == []


def keeper(root: Path, address: str = "main/1") -> Keeper:
    effect = Perform(address, "tool", "t", {}, "", "once", "a.plan", 1, outside="text")
    return Keeper(Book(str(root)), "run", effect)


def damage(table: Path, how: str) -> None:
    data = table.read_bytes()
    if how == "folder":
        table.unlink()
        table.mkdir()
    else:
        other = {
            "byte": data.replace(b"page", b"pagf"),
            "line": b"{}\n" + data,
            "zeros": b"\0" * len(data) + b"\n",
        }
        table.write_bytes(other[how])


@pytest.mark.parametrize("how", ["byte", "line", "zeros", "folder"])
def test_a_damaged_table_is_refused_and_nothing_is_written(place: Path, how: str) -> None:
    runs(place, SAVES)
    damage(place / ".fdc/outside.jsonl", how)
    (place / "two.plan").write_text(COMMAND)
    for command in (("lint", "two.plan"), ("run", "two.plan"), ("trust", "--file", "docs/page.md")):
        done = fdc(*command, cwd=place)
        assert done.returncode == 3 and "hold text from outside" in done.stderr, (
            done.stdout + done.stderr
        )
        assert len(done.stderr.strip().splitlines()) == 1
    root = Root(str(place))
    try:
        with pytest.raises(WorldFailed):
            root.granted((), keeper(place)).write("docs/more.md", b"x", "create", "key")
        assert not (place / "docs/more.md").exists()
    finally:
        root.close()


def test_an_append_that_was_cut_off_wrote_no_file_and_the_next_one_goes_on(place: Path) -> None:
    runs(place, SAVES)
    table = place / ".fdc/outside.jsonl"
    whole = table.read_bytes()
    for at in range(1, len(whole), 7):
        table.write_bytes(whole + whole[:at].replace(b"page", b"more"))
        assert paths(str(place)) == {"docs/page.md"}
    keeper(place).wrote("docs/other.md", b"x")
    assert table.read_bytes().startswith(whole) and table.read_bytes().count(b"\n") == 2


def _writes(root: Path, number: int) -> None:
    for at in range(20):
        keeper(root, f"main/{number}[{at}]").wrote(f"docs/{number}-{at}.md", b"x")


def test_runs_that_write_at_once_lose_nothing(place: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_writes, args=(place, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    for number in range(4):
        for at in range(20):
            (place / f"docs/{number}-{at}.md").write_bytes(b"x")
    assert paths(str(place)) == {
        f"docs/{number}-{at}.md" for number in range(4) for at in range(20)
    }


def test_what_a_lost_step_may_have_written_counts_until_it_is_done_again(place: Path) -> None:
    """The controller is lost inside the step: the table says of the path that anything may stand there."""
    declared = {"parameters": [{"name": "path", "access": "write"}], "writes": ""}
    (place / "docs/by_tool.md").write_text("before\n")
    lost = keeper(place).around(declared, {"path": "docs/by_tool.md"})
    lost.__enter__()
    (place / "docs/by_tool.md").write_text("half\n")
    assert paths(str(place)) == {"docs/by_tool.md"}
    with keeper(place).around(declared, {"path": "docs/by_tool.md"}):
        (place / "docs/by_tool.md").write_text("whole\n")
    assert paths(str(place)) == {"docs/by_tool.md"}
    (place / "docs/by_tool.md").write_text("mine\n")
    assert paths(str(place)) == set()


def test_a_run_that_was_proved_before_does_not_use_what_another_stored_meanwhile(
    place: Path,
) -> None:
    (place / "docs/page.md").write_text("tea.md")
    plan = (
        HEAD + "answer <- request_user_input go on?\nt <- read_file docs/page.md\nread_file {t}\n"
    )
    (place / "waits.plan").write_text(plan)
    waits = fdc("run", "waits.plan", cwd=place)
    name = re.search(r"\d{8}-\d{6}-\w{4}", waits.stdout)
    assert "waiting for a person" in waits.stdout and name is not None, waits.stdout + waits.stderr
    (place / "docs/page.md").unlink()
    runs(place, SAVES)
    done = fdc("resume", name.group(), "--answer", "yes", cwd=place)
    assert done.returncode == 1 and "not when this plan was proved" in done.stdout + done.stderr, (
        done.stdout + done.stderr
    )


@pytest.mark.parametrize("how", ["read", "write", "parameter"])
def test_code_of_the_workspace_does_not_open_what_another_run_stored_meanwhile(how: str) -> None:
    path = {"name": "path", "kind": "path", "access": "write"}
    named = {"parameters": [path], "access": {"read": []}}
    globs = {"parameters": [], "access": {"read": [], how: ["docs/**"]}}
    declared = {**TOOLS["tools"]["save"], **(named if how == "parameter" else globs)}
    effect = Perform("main/1", "tool", "save", {"path": "docs/a.md"}, "", "idempotent", "a", 1)
    row = Row("docs/a.md", "x", False, "run", "main/1", "a.plan", 1)
    with pytest.raises(ToolFailure, match="which the run run stored there"):
        as_proved({"docs/a.md": row}, effect, declared)
    as_proved({"docs.md": row}, effect, declared)


PICK = "p <- page docs/a\nl <- list_files docs\nc <- among {p} {l}\n"
LISTS = HEAD + "m <- list_files docs\nfor x in {m} max 9\n  read_file {x}\n"
"""A listing's names are paths of the workspace, but where text from outside chose which there are."""


@pytest.mark.parametrize(
    "change",
    [
        "create_file_with_block docs/k/{c}\n  ours",
        "delete_file {c}",
        "rename_file {c} docs/k/new.md",
        "restore_file {c}",
    ],
)
def test_which_files_are_there_may_be_chosen_from_outside_in_an_earlier_run(
    place: Path, change: str
) -> None:
    """Only what such text was stored in had a label: a listing's names were trusted after it had chosen what to create."""
    (place / "docs/a.md").write_text("tea\n")
    (place / "docs/b.md").write_text("tea\n")
    for command in (
        ("init", "-q"),
        ("add", "docs"),
        ("-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "t"),
    ):
        subprocess.run(["git", *command], cwd=place, check=True)
    (place / "docs/a.md").write_text("tea\nmore\n")
    waits = "answer <- request_user_input go on?\n"
    (place / "waits.plan").write_text(LISTS.replace(HEAD, HEAD + waits))
    name = re.search(r"\d{8}-\d{6}-\w{4}", fdc("run", "waits.plan", cwd=place).stdout)
    assert name is not None and codes(place, LISTS) == []
    runs(place, HEAD + PICK + change + "\n")
    assert codes(place, LISTS) == ["FDC471"]
    assert codes(place, HEAD + "for_each_file docs/**\n  submit x\n") == ["FDC472"]
    assert codes(place, HEAD + "g <- grep . docs\nsubmit {g}\n") == ["FDC471"]
    assert codes(place, HEAD + "run_in_bash_session ls\n") == ["FDC474"]
    assert codes(place, LISTS.replace("list_files docs", "list_files tests")) == ["FDC411"]
    done = fdc("resume", name.group(), "--answer", "yes", cwd=place)
    assert done.returncode == 1 and "when this plan was proved" in done.stdout + done.stderr, done
    done = fdc("certify", "two.plan", "--output", "two.certificate", cwd=place)
    assert done.returncode == 1, done


@pytest.mark.parametrize(
    ("early", "stops"),
    [("l <- list_files {run}", "main/4"), ("l <- list_files docs", "main/8.then/1")],
)
def test_a_forked_run_finds_what_the_other_one_did_before_the_fork_and_nothing_later(
    place: Path, early: str, stops: str
) -> None:
    """The folder `{run}` is that of the first run, in which a later step may have done what text from outside chose."""
    text = "page <- page tea\noverwrite_file_with_block {run}/page\n  {page}\n"
    text += f"create_file_with_block {{run}}/seed.txt\n  x\n{early}\n"
    text += "message_user {l}\nt <- read_file {run}/page\nmessage_user {t}\n"
    text += 'if "tea" in page\n  delete_file {run}/seed.txt\n'
    runs(place, HEAD + text)
    assert fdc("fork", "last@main/4", cwd=place).returncode == 0
    done = fdc("resume", "last", cwd=place)
    assert f"failed {stops}" in done.stdout and "seed.txt` is gone" in done.stdout, done


def test_a_run_that_met_no_text_from_outside_leaves_none(place: Path) -> None:
    plan = (
        HEAD + 'param web = "no"\ntext <- read_file tea.md\nif web == "yes"\n  text <- page tea\n'
    )
    plan += "overwrite_file_with_block docs/page.md\n  {text}\n"
    runs(place, plan)
    assert (place / "docs/page.md").read_text() and paths(str(place)) == set()
    runs(place, plan, "web=yes")
    assert paths(str(place)) == {"docs/page.md"}


@pytest.mark.parametrize(
    "text",
    [
        "a <- read_file docs/page.md\nmessage_user done\n",
        "overwrite_file_with_block docs/page.md\n  mine\na <- read_file docs/page.md\ngrep {a} docs\n",
        "a <- read_file docs/page.md\noverwrite_file_with_block {run}/outside/copy.md\n  {a}\n",
        "delete_file docs/page.md\ncreate_file_with_block docs/page.md\n  mine\na <- read_file docs/page.md\nmessage_user {a}\n",
        "rename_file docs/page.md docs/other.md\nb <- read_file docs/other.md\nmessage_user done\n",
    ],
)
def test_what_lint_proves_beside_such_files_certifies(place: Path, text: str) -> None:
    runs(place, SAVES)
    (place / "two.plan").write_text(HEAD + text)
    proved = fdc("lint", "two.plan", cwd=place).returncode == 0
    done = fdc("certify", "two.plan", "--output", "two.certificate", cwd=place)
    assert (done.returncode == 0) is proved, done.stdout + done.stderr


def test_a_certificate_that_says_nothing_of_such_files_does_not_hold(place: Path) -> None:
    runs(place, SAVES)
    (place / "two.plan").write_text(HEAD + "a <- read_file docs/page.md\nmessage_user done\n")
    assert fdc("certify", "two.plan", "--output", "two.certificate", cwd=place).returncode == 0
    made = json.loads((place / "two.certificate").read_text())
    assert made["data"]["rows"][0]["texts"]
    made["data"]["rows"][0]["texts"] = []
    (place / "two.certificate").write_text(json.dumps(made))
    done = fdc("certify", "--check", "two.plan", "two.certificate", cwd=place)
    assert (
        done.returncode == 1 and "what earlier runs left in files" in done.stdout + done.stderr
    ), done


def test_a_command_that_only_reads_does_not_follow_a_link_that_another_command_made(
    place: Path,
) -> None:
    saves = HEAD + "{}text <- page tea\ncreate_file_with_block docs/page.md\n  {{text}}\n{}"
    cat = "a <- run_in_bash_session cat {}\nread_file {{a.output}}\n"
    for word in (f"{place}/docs/page.md", f"../{place.name}/docs/page.md", "docs/page.md"):
        (place / "two.plan").write_text(saves.format("", cat.format(word)))
        assert "FDC471" in fdc("lint", "two.plan", cwd=place).stdout, word
    (place / "made").mkdir()
    link = "run_in_bash_session ln -s ../docs/page.md made/led.md\n"
    (place / "two.plan").write_text(saves.format(link, cat.format("made/led.md")))
    done = fdc("run", "two.plan", cwd=place)
    assert done.returncode == 1 and "leads through the link `made/led.md`" in done.stdout, done
    effect = Perform("main/1", "tool", "sh", {"command": "diff -r docs tea.md"}, "", "once", "a", 1)
    shell = json.loads(resources.read("grammar/tools.json"))["tools"]["run_in_bash_session"]
    program: Any = {"stored": ["docs/page.md"]}
    Book(str(place)).check("r", program, effect, shell)
    (place / "docs/link.md").symlink_to("../tea.md")
    with pytest.raises(ToolFailure, match="through the link `docs/link"):
        Book(str(place)).check("r", program, effect, shell)
    (place / "docs/page.md").unlink()
    again = fdc("run", "two.plan", cwd=place)  # now lint sees it
    assert again.returncode == 1 and "FDC415" in again.stdout + again.stderr, again


@pytest.mark.parametrize(
    "step", ["run_in_bash_session cp saved docs/page.md", "restore_file docs/page.md"]
)
def test_what_comes_back_into_a_file_is_known_again(place: Path, step: str) -> None:
    runs(place, SAVES)
    for command in (
        ("init", "-q"),
        ("add", "docs"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"),
    ):
        subprocess.run(["git", *command], cwd=place, check=True)
    (place / "docs/page.md").rename(place / "saved")
    (place / "docs/page.md").write_text("mine\n")
    (place / "two.plan").write_text(f"{HEAD}{step}\nt <- read_file docs/page.md\nread_file {{t}}\n")
    assert fdc("lint", "two.plan", cwd=place).returncode == 0
    done = fdc("run", "two.plan", cwd=place)
    assert done.returncode == 1 and "not when this plan was proved" in done.stdout, done
