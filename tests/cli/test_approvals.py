"""An approval binds what it shows: lists and contents as they were when it was asked, and nothing else (findings B11, C5)."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_ui import fields, name_of, ui
from tests.support.process import fdc

HEAD = "set_plan x\nplan_step_complete x\n"
TAIL = "close_task\nsubmit\n"
DELETES = f"""{HEAD}record_user_approval_for_plan that the old files go
for_each_file tmp/*.txt
  delete_file {{file1}}
{TAIL}"""


def plan(workspace: Path, text: str, **files: str) -> None:
    (workspace / "p.plan").write_text(text)
    (workspace / "tmp").mkdir(exist_ok=True)
    for name, content in {"a": "one\ntwo\n", "b": "three\n", **files}.items():
        (workspace / "tmp" / f"{name}.txt").write_text(content)


def asked(workspace: Path, text: str, **files: str) -> Any:
    """A run that waits for an approval; what it prints."""
    plan(workspace, text, **files)
    done = fdc("run", "p.plan", cwd=workspace)
    assert done.returncode == 5 and "Do you approve" in done.stdout, done
    return done.stdout


def left(workspace: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((workspace / "tmp").iterdir())}


def resumed(workspace: Path, *options: str) -> Any:
    """How the run goes on when its approval is answered."""
    return json.loads(
        fdc(
            "resume", "last", *(options or ("--answer", "yes")), "--format", "json", cwd=workspace
        ).stdout
    )


def test_a_file_that_was_added_after_the_approval_was_asked_is_not_touched(workspace: Path) -> None:
    """Finding B11: it was deleted, too."""
    shown = asked(workspace, DELETES)
    assert (
        "2 files match tmp/*.txt, and no others are used" in shown
        and "tmp/a.txt" in shown
        and "  -two" in shown
    )
    (workspace / "tmp" / "late.txt").write_text("mine\n")
    assert resumed(workspace)["status"] == "finished"
    assert left(workspace) == {"late.txt": "mine\n"}
    for check in ("replay", "verify"):
        assert fdc(check, "last", cwd=workspace).returncode == 0
    record = json.loads(
        fdc("show", "last", "--step", "main/3", "--format", "json", cwd=workspace).stdout
    )["records"][-1]
    approved = record["body"]["notes"]["approved"]
    assert approved["lists"] == {"tmp/*.txt": ["tmp/a.txt", "tmp/b.txt"]} and set(
        approved["files"]
    ) == {"tmp/a.txt", "tmp/b.txt"}


@pytest.mark.parametrize("how", ["changed", "gone", "link"])
def test_a_listed_file_that_is_another_one_by_now_stops_the_run_before_anything_is_done(
    workspace: Path, how: str
) -> None:
    asked(workspace, DELETES)
    file = workspace / "tmp" / "b.txt"
    file.unlink()
    if how == "changed":
        file.write_text("precious\n")
    elif how == "link":
        file.symlink_to("a.txt")
    ended = resumed(workspace)
    assert (
        ended["status"] == "stopped" and "after the approval showed it" in ended["stop"]["message"]
    ), ended
    assert {"kind": "assumption", "rule": "alone"}.items() <= ended["stop"]["cause"].items()
    assert (workspace / "tmp" / "a.txt").exists()
    assert (
        resumed(workspace, "--retry")["status"] == "waiting"
    )  # it is asked again, about the files as they are now
    assert resumed(workspace)["status"] == "finished"
    assert not (workspace / "tmp" / "a.txt").exists()


def test_a_file_that_changes_between_the_answer_and_the_step_stops_the_run_there(
    workspace: Path,
) -> None:
    """The run waits for another answer in between; the files of the approval stay bound."""
    text = DELETES.replace("for_each_file", "request_user_input go?\nfor_each_file")
    asked(workspace, text)
    assert resumed(workspace)["status"] == "waiting"
    (workspace / "tmp" / "a.txt").write_text("precious\n")
    (workspace / "tmp" / "c.txt").write_text("late\n")
    ended = resumed(workspace)
    assert ended["status"] == "stopped" and ended["stop"]["cause"]["kind"] == "assumption", ended
    assert set(left(workspace)) == {"a.txt", "b.txt", "c.txt"}


def test_what_a_listing_and_a_file_that_is_read_bring_is_bound_too(workspace: Path) -> None:
    """By the mechanism, whichever tool looks: the value of `names` and `text` is what was shown."""
    text = (
        f"{HEAD}record_user_approval_for_plan it\nnames <- list_files tmp\ntext <- read_file tmp/a.txt\n"
        "for name in {names} max 9\n  delete_file {name}\noverwrite_file_with_block out.md\n    {text}{names}\n"
        + TAIL
    )
    shown = asked(workspace, text)
    assert "+one" in shown and '+["tmp/a.txt","tmp/b.txt"]' in shown.replace("\n  ", "\n"), shown
    (workspace / "tmp" / "late.txt").write_text("mine\n")
    assert resumed(workspace)["status"] == "finished"
    assert left(workspace) == {"late.txt": "mine\n"}
    assert (workspace / "out.md").read_text() == 'one\ntwo\n["tmp/a.txt","tmp/b.txt"]\n'


def test_what_the_run_itself_changes_and_makes_is_its_own(workspace: Path) -> None:
    text = (
        f"{HEAD}record_user_approval_for_plan it\noverwrite_file_with_block tmp/a.txt\n    new\n"
        "create_file_with_block tmp/made.txt\n    made\nreplace_with_git_merge_diff tmp/a.txt\n    <<<<<<< SEARCH\n    new\n"
        "    =======\n    newer\n    >>>>>>> REPLACE\n"
        "for_each_file tmp/*.txt\n  text <- read_file {file1}\n  overwrite_file_with_block {file1}\n    {text}!\n"
        + TAIL
    )
    shown = asked(workspace, text)
    assert "create tmp/made.txt" in shown and "+newer" in shown and "3 files match" in shown, shown
    (workspace / "tmp" / "late.txt").write_text("mine\n")
    assert resumed(workspace)["status"] == "finished"
    assert left(workspace) == {
        "a.txt": "newer\n!\n",
        "b.txt": "three\n!\n",
        "late.txt": "mine\n",
        "made.txt": "made\n!\n",
    }


def test_a_new_file_in_the_place_of_one_that_was_shown_as_new_is_not_written_over(
    workspace: Path,
) -> None:
    asked(
        workspace,
        f"{HEAD}record_user_approval_for_plan it\noverwrite_file_with_block tmp/new.txt\n    x\n{TAIL}",
    )
    (workspace / "tmp" / "new.txt").write_text("somebody's\n")
    ended = resumed(workspace)
    assert ended["status"] == "stopped" and "was created after" in ended["stop"]["message"]
    assert left(workspace)["new.txt"] == "somebody's\n"


def test_each_approval_shows_what_follows_up_to_the_next(workspace: Path) -> None:
    text = (
        f"{HEAD}for_each_file tmp/*.txt\n  record_user_approval_for_plan {{file1}}\n  delete_file {{file1}}\n"
        f"record_user_approval_for_plan the end\ndelete_file c.md\n{TAIL}"
    )
    (workspace / "c.md").write_text("see\n")
    shown = asked(workspace, text)
    assert (
        "delete tmp/a.txt" in shown
        and "delete tmp/b.txt" not in shown
        and "what follows is asked for then" in shown
    )
    (workspace / "tmp" / "b.txt").write_text("changed before it was shown\n")
    again = fdc("resume", "last", "--answer", "yes", cwd=workspace).stdout
    assert "-changed before it was shown" in again and "delete c.md" not in again, again
    last = resumed(workspace)
    assert last["status"] == "waiting" and ["c.md"] == [row["file"] for row in
                                                              last["questions"][0]["shows"]["rows"] if "file" in row]  # fmt: skip
    assert left(workspace) == {}


def test_what_is_not_known_yet_is_said_to_be(workspace: Path) -> None:
    text = (
        f'{HEAD}record_user_approval_for_plan it\nx <- request_user_input Which?\nif x == "a"\n  delete_file tmp/a.txt\n'
        "overwrite_file_with_block out.md\n    so: {x}\nfor_each_file {x}/*\n  delete_file {file1}\n"
        f"run_in_bash_session echo {{x}}\nfor_each_file tmp/*\n  message_user {{file1}}\n{TAIL}"
    )
    shown = asked(workspace, text)
    for part in ("perhaps: delete tmp/a.txt", "+so: {x}", "what stands as `{name}` is not known yet",
                 "not known yet: which files match", "runs run_in_bash_session echo {x}",
                 "not known yet: which file `delete_file` changes"):  # fmt: skip
        assert part in shown, (part, shown)
    assert "the files that match `tmp/*` after the steps before" in shown


HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e"


def test_a_difference_is_bounded_and_escaped_on_the_page_and_in_the_terminal(
    workspace: Path,
) -> None:
    large = "".join(f"line {number} {HOSTILE}\n" for number in range(2000))
    asked(workspace, DELETES, c=large, d=HOSTILE)
    shown = fdc("answer", "last", cwd=workspace).stdout
    assert (
        "\x1b" not in shown
        and "\u202e" not in shown
        and "-line 0 <script>alert(1)</script>\\u{1b}[2J\\u{202e}" in shown
    )
    left_out = sum(
        int(line.split()[0])
        for line in shown.splitlines()
        if "bytes of the difference are left out" in line
    )
    whole = sum(len(f"-{line}\n".encode()) for line in large.splitlines()) + len(
        b"@@ -1,2000 +0,0 @@\n"
    )
    printed = sum(len(line.encode()) + 1 for line in shown.replace("\\u{1b}", "\x1b").replace("\\u{202e}", "\u202e").splitlines()
                  if line.startswith("    -line"))  # fmt: skip
    kept = printed - 4 * shown.count("    -line") + len(b"@@ -1,2000 +0,0 @@\n")
    assert whole == kept + left_out and len(shown) < 40_000
    name = name_of(workspace)
    with ui(workspace) as served:
        page = served.get(f"/runs/{name}")
        assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
        assert (
            f"{left_out} bytes of the difference are left out" in page
            and "4 files match tmp/*.txt" in html.unescape(page)
        )
        assert '<span class="del">-two</span>' in page
        (workspace / "tmp" / "late.txt").write_text("mine\n")
        assert (
            fdc("resume", name, cwd=workspace).returncode == 5
        )  # asked again: it shows another list now
        said = served.told(f"/runs/{name}/answer", {**fields(page), "text": "yes"})
        assert "the run does not ask this question (any more)" in said
        page = served.get(f"/runs/{name}")
        assert "5 files match" in page
        served.form(f"/runs/{name}/answer", {**fields(page), "text": "yes"})
    assert resumed(workspace, "--jobs", "1")["status"] == "finished" and left(workspace) == {}


def test_an_answer_that_was_kept_is_for_what_was_shown_when_it_was_given(workspace: Path) -> None:
    asked(workspace, DELETES)
    assert fdc("answer", "last", "yes", cwd=workspace).returncode == 0
    kept = next((workspace / ".fdc" / "runs").iterdir()) / "answers.json"
    old = kept.read_bytes()
    changed = json.loads(old)
    changed["answers"][0]["shown"] = "0" * 32
    kept.write_text(json.dumps(changed))
    assert resumed(workspace, "--jobs", "1")["status"] == "waiting"
    (workspace / "tmp" / "late.txt").write_text("mine\n")
    assert resumed(workspace, "--jobs", "1")["status"] == "waiting"
    kept.write_bytes(old)  # for the list without late.txt, which is not what is asked now
    assert resumed(workspace, "--jobs", "1")["status"] == "waiting" and len(left(workspace)) == 3


def test_an_approval_in_advance_is_bound_and_recorded(workspace: Path) -> None:
    plan(workspace, DELETES)
    assert fdc("run", "p.plan", "--approve", "plan", cwd=workspace).returncode == 0
    record = json.loads(
        fdc("show", "last", "--step", "main/3", "--format", "json", cwd=workspace).stdout
    )["records"][-1]
    assert (
        set(record["body"]["notes"]["approved"]["files"]) == {"tmp/a.txt", "tmp/b.txt"}
        and left(workspace) == {}
    )


ALLOWED = {"FDC_ALLOW_UNSANDBOXED": "1"}


@pytest.mark.parametrize(
    "command",
    [
        "bash tmp/s.sh", "(cd tmp && bash ./s.sh)", "sh -c '. tmp/s.sh' x", "cat <tmp/s.sh | bash", "X=tmp/s.sh; bash $X",
        'bash "tmp/s.sh"', "bash $PWD/tmp/none --with=tmp/s.sh; bash {run}/../../tmp/s.sh",
    ],
)  # fmt: skip
def test_the_files_that_a_command_names_are_those_that_were_there_when_it_was_shown(
    workspace: Path, command: str
) -> None:
    """What the person approved is the script as it was; an output of the command may change meanwhile."""
    text = f"{HEAD}record_user_approval_for_plan it\nrun_in_bash_session {command} >> tmp/log.txt\n{TAIL}"
    (workspace / "tmp").mkdir()
    script = workspace / "tmp/s.sh"
    script.write_text("echo good\n")
    asked(workspace, text, log="")
    script.write_text("echo evil\n")
    (workspace / "tmp/log.txt").write_text("of another program\n")
    ended = resumed(workspace)
    assert ended["status"] == "stopped" and "`tmp/s.sh` changed after" in ended["stop"]["message"]
    assert "evil" not in (workspace / "tmp/log.txt").read_text()


@pytest.mark.parametrize("name", ["tmp/new.sh", "new.sh", "tmp/link.sh"])
def test_a_script_that_was_not_there_or_a_link_when_its_command_was_shown_is_not_run(
    workspace: Path, name: str
) -> None:
    (workspace / "tmp").mkdir()
    (workspace / "tmp/link.sh").symlink_to("none")
    asked(
        workspace,
        f"{HEAD}record_user_approval_for_plan it\nrun_in_bash_session test -e {name} && bash ./{name}\n{TAIL}",
    )
    (workspace / name).unlink(missing_ok=True)
    (workspace / name).write_text("echo evil > tmp/ran\n")
    ended = resumed(workspace)
    assert ended["status"] == "stopped" and f"`{name}` " in ended["stop"]["message"], ended
    assert not (workspace / "tmp/ran").exists()


@pytest.mark.parametrize("link", [False, True])
def test_a_script_that_changes_before_its_command_is_not_run_and_one_that_changes_itself_is(
    workspace: Path, link: bool
) -> None:
    text = (
        f"{HEAD}record_user_approval_for_plan it\nrequest_user_input go?\nrun_in_bash_session bash tmp/s.sh\n"
        f"run_in_bash_session bash tmp/s.sh\n{TAIL}"
    )
    (workspace / "tmp").mkdir()
    script = workspace / "tmp/s.sh"
    good = "echo '# it ran' >> tmp/s.sh\ntest -e tmp/ready || exit 3\n"
    script.write_text(good)
    assert "Do you approve" in asked(workspace, text)
    assert resumed(workspace)["status"] == "waiting"
    script.unlink()
    if link:
        script.symlink_to("a.txt")
    else:
        script.write_text("echo evil\n")
    stopped = fdc("resume", "last", "--answer", "a", cwd=workspace, env=ALLOWED)
    assert stopped.returncode == 1 and "changed after the approval" in stopped.stdout, stopped
    script.unlink()
    script.write_text(good)
    failed = fdc("resume", "last", "--retry", cwd=workspace, env=ALLOWED)
    assert failed.returncode == 1 and "exit" in failed.stdout, failed
    assert "changed after" not in failed.stdout and script.read_text() != good
    (workspace / "tmp/ready").write_text("")
    done = fdc("resume", "last", "--retry", cwd=workspace, env=ALLOWED)
    assert done.returncode == 0, done


SENDS = {
    "summary": "send", "action": "tool_exec", "effect": "once", "trust": "workspace", "result": "text", "access": {"read": []},
    "parameters": [{"name": "path", "kind": "path", "access": "read"}], "run": {"command": ["cat", "{path}"]},
}  # fmt: skip
MAKES = {
    "summary": "make", "action": "tool_exec", "effect": "idempotent", "trust": "workspace", "result": "text", "parameters": [],
    "access": {"read": [], "write": ["tmp/**"]}, "run": {"command": ["cp", "tmp/b.txt", "tmp/a.txt"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("step", "answered"), [("sends", False), ("sends", True), ("git_add", False)]
)
def test_a_file_that_a_later_step_is_given_to_read_is_bound(
    workspace: Path, step: str, answered: bool
) -> None:
    """A message, or the next commit, had what somebody wrote there after the approval was asked."""
    tools = {"format": 1, "name": "t", "tools": {"sends": SENDS, "makes": MAKES}}
    (workspace / "fdc_tools.json").write_text(json.dumps(tools))
    gate = "request_user_input go?\n" if answered else ""
    asked(workspace, f"{HEAD}record_user_approval_for_plan it\n{gate}{step} tmp/a.txt\n{TAIL}")
    if answered:
        assert resumed(workspace)["status"] == "waiting"
    (workspace / "tmp/a.txt").write_text("evil\n")
    ended = resumed(workspace)
    assert ended["status"] == "stopped" and "`tmp/a.txt` changed after" in ended["stop"]["message"]


def test_a_file_that_a_tool_of_the_workspace_writes_before_it_is_read_is_the_runs_own(
    workspace: Path,
) -> None:
    tools = {"format": 1, "name": "t", "tools": {"sends": SENDS, "makes": MAKES}}
    (workspace / "fdc_tools.json").write_text(json.dumps(tools))
    asked(
        workspace,
        f"{HEAD}_s <- sends tmp/b.txt\nrecord_user_approval_for_plan it\nmakes\nsends tmp/a.txt\nread_file tmp/a.txt\n{TAIL}",
    )
    ended = resumed(workspace)
    assert ended["status"] == "finished", ended
