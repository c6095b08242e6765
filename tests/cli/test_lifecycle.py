"""`fdc start`, `fdc close` and the probe as real processes (FDC-07, 08, 17, 60 to 62, 65, 70)."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.tasks import lifecycle
from fdc_toolchain.tasks.activity import LOG, faults

from tests.support.background import PATIENCE
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

META = {"model_name": "test-model", "knowledge_cutoff": "2026-01"}


@pytest.fixture
def oriented(workspace: Path) -> Path:
    (workspace / lifecycle.META).write_text(json.dumps(META), "utf-8")
    return workspace


def begin(root: Path, task: str = "T-1", network: str = "off") -> tuple[int, str, str]:
    done = fdc("start", "--task-id", task, "--network", network, cwd=root)
    return done.returncode, done.stdout, done.stderr


def end(root: Path, task: str = "T-1") -> tuple[int, str, str]:
    done = fdc("close", "--task-id", task, cwd=root)
    return done.returncode, done.stdout, done.stderr


def logged(root: Path) -> list[dict[str, Any]]:
    entries = (
        [json.loads(raw) for raw in (root / LOG).read_bytes().splitlines()]
        if (root / LOG).exists()
        else []
    )
    assert [] == [fault for item in entries for fault in faults(item)]
    return entries


def types(root: Path) -> list[tuple[str, str]]:
    return [(item["action"]["type"], item["task"]["id"]) for item in logged(root)]


def test_start_orients_and_logs_exactly_one_start(oriented: Path) -> None:
    """FDC-07, FDC-60, FDC-61, FDC-62."""
    (oriented / "knowledge_core" / "lessons.jsonl").write_text("{}\n", "utf-8")
    code, out, err = begin(oriented)
    assert (0, "") == (code, err)
    assert [("TASK_START", "T-1")] == types(oriented)
    found = logged(oriented)[0]["action"]["details"]["orientation"]
    assert META == found["identity"]
    assert ["agent_meta.json", "lessons.jsonl"] == [
        line.split(":")[0] for line in found["artifacts"]
    ]
    assert "[PASS] write, read and delete" in found["vm_capability_report"]
    for said in (
        "test-model",
        "2026-01",
        "lessons.jsonl",
        "[PASS] write, read and delete",
        "TASK_START logged",
    ):
        assert said in out


def test_a_task_that_is_open_is_not_started_again(oriented: Path) -> None:
    """FDC-07: exactly one TASK_START, independent of who starts it and how often."""
    begin(oriented)
    code, out, _ = begin(oriented)
    assert 0 == code and "was started before" in out
    command = [
        sys.executable,
        ROOT / "tooling" / "fdc_cli.py",
        "start",
        "--task-id",
        "T-2",
        "--network",
        "off",
    ]
    children = [
        subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE) for _ in range(4)
    ]
    for child in children:
        child.communicate(timeout=PATIENCE)
    assert [0] * 4 == [child.returncode for child in children]
    assert [("TASK_START", "T-1"), ("TASK_START", "T-2")] == types(oriented)


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        (None, "does not exist"),
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"model_name": "m"}', "`knowledge_cutoff`"),
        ('{"model_name": "", "knowledge_cutoff": "c"}', "`model_name`"),
        ('{"model_name": "m", "knowledge_cutoff": 2026}', "`knowledge_cutoff`"),
    ],
)
def test_without_an_identity_nothing_is_logged(
    workspace: Path, meta: str | None, words: str
) -> None:
    """FDC-08, FDC-60."""
    if meta is not None:
        (workspace / lifecycle.META).write_text(meta, "utf-8")
    code, _, err = begin(workspace)
    assert (
        1 == code and "L1 self-awareness failed" in err and words in err and "Traceback" not in err
    )
    assert not (workspace / LOG).exists()


def test_without_knowledge_core_nothing_is_logged(tmp_path: Path) -> None:
    """FDC-61."""
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    code, _, err = begin(tmp_path)
    assert 1 == code and "failed" in err
    assert ["fdc.toml"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("task", ["", "   ", "a\nb", "///", "x`y"])
@pytest.mark.parametrize("act", [begin, end])
def test_a_task_needs_an_id(oriented: Path, act: Any, task: str) -> None:
    """FDC-07, FDC-17."""
    code, _, err = act(oriented, task)
    assert 1 == code and "the task id" in err
    assert not (oriented / LOG).exists() and not (oriented / "postmortems").exists()


@pytest.mark.parametrize("command", ["start", "close"])
def test_a_command_line_without_an_id_is_wrong_usage(oriented: Path, command: str) -> None:
    done = fdc(command, cwd=oriented)
    assert (2, "") == (done.returncode, done.stdout) and "--task-id" in done.stderr


def test_a_task_that_was_never_started_cannot_be_closed(oriented: Path) -> None:
    """FDC-07."""
    begin(oriented, "other")
    code, _, err = end(oriented)
    assert 1 == code and "`T-1` was never started" in err
    assert [("TASK_START", "other")] == types(oriented)
    assert not (oriented / "postmortems").exists()


def test_close_writes_the_post_mortem_and_logs_the_end(oriented: Path) -> None:
    """FDC-17, FDC-70."""
    begin(oriented, "feature/x.1")
    code, out, err = end(oriented, "feature/x.1")
    assert (0, "") == (code, err)
    [page] = (oriented / "postmortems").iterdir()
    path = f"postmortems/{page.name}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-featurex1\.md", page.name)
    assert path in out and "TASK_END logged" in out
    text = (oriented / path).read_text("utf-8")
    assert re.search(r"\*\*Task ID:\*\* `feature/x\.1`", text)
    assert re.search(r"\*\*Completion Date:\*\* `\d{4}-\d\d-\d\d`", text)
    headers = re.findall(r"^## \d\. (.*)$", text, re.M)
    assert [
        "Summary", "What Went Well", "What Could Be Improved", "Root Cause Analysis", "Proposed Corrective Actions"
    ] == headers  # fmt: skip
    assert text.index("**Lesson:**") < text.index("**Action:**")
    start, finish = logged(oriented)
    assert ("TASK_END", {"postmortem": path}) == (
        finish["action"]["type"],
        finish["action"]["details"],
    )
    assert start["session_id"] == finish["session_id"]


def test_a_second_close_changes_nothing(oriented: Path) -> None:
    """C-07."""
    begin(oriented)
    end(oriented)
    (page,) = (oriented / "postmortems").iterdir()
    page.write_text("**Task ID:** `T-1`\nfilled in\n", "utf-8")
    code, out, _ = end(oriented)
    assert 0 == code and "nothing was logged" in out
    assert "**Task ID:** `T-1`\nfilled in\n" == page.read_text("utf-8")
    assert [("TASK_START", "T-1"), ("TASK_END", "T-1")] == types(oriented)
    code, _, err = begin(oriented)
    assert 1 == code and "was closed at" in err


def test_a_post_mortem_that_is_there_already_is_kept(oriented: Path) -> None:
    """C-07: the controller has made it, or a close was killed before it could log."""
    begin(oriented)
    page = oriented / "postmortems" / "2020-01-01-T-1.md"
    page.parent.mkdir()
    page.write_text("- **Task ID:** `T-1`\n", "utf-8")
    code, out, _ = end(oriented)
    assert 0 == code and "kept as it is: postmortems/2020-01-01-T-1.md" in out
    assert [page] == list(page.parent.iterdir())
    assert (
        "postmortems/2020-01-01-T-1.md" == logged(oriented)[-1]["action"]["details"]["postmortem"]
    )


def test_two_tasks_with_one_safe_form_have_two_post_mortems(oriented: Path) -> None:
    for task in ("a/b", "a.b"):
        begin(oriented, task)
        assert 0 == end(oriented, task)[0]
    texts = [path.read_text("utf-8") for path in (oriented / "postmortems").iterdir()]
    assert {"`a/b`", "`a.b`"} == {re.findall(r"Task ID:\*\* (`.*`)", text)[0] for text in texts}


def test_without_its_template_a_task_is_not_closed(oriented: Path) -> None:
    """FDC-17: no TASK_END, nothing half done."""
    from functools import partial

    from fdc_toolchain.tasks import activity_log

    begin(oriented)
    report = lifecycle.close(
        str(oriented), "T-1", transact=partial(activity_log.transact, str(oriented)),
        now=datetime.now().astimezone(), new_id=str, template=str(oriented / "absent.j2"),
    )  # fmt: skip
    assert report.refused and "absent.j2 does not exist" in report.refused
    assert [("TASK_START", "T-1")] == types(oriented)


def test_a_damaged_log_is_named_and_goes_on(oriented: Path) -> None:
    """FDC-108."""
    begin(oriented)
    with open(oriented / LOG, "ab") as file:
        file.write(b'{"torn": ')
    code, _, err = end(oriented)
    assert 0 == code and f"warning: {LOG}:2 is not a log entry" in err
    assert 3 == len((oriented / LOG).read_bytes().splitlines())


@pytest.fixture
def listener() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_the_probe_reports_and_never_fails(workspace: Path, listener: str) -> None:
    """FDC-65: an offline machine is a line, not an error."""
    done = fdc("--network", listener, cwd=workspace, script="environmental_probe.py")
    assert (0, "") == (done.returncode, done.stderr)
    assert (
        "[PASS] write, read and delete" in done.stdout
        and f"[PASS] connection to {listener}: " in done.stdout
    )
    done = fdc(
        "probe", "--network", "127.0.0.1:1", "--folder", "/absent", cwd=workspace, env={"PATH": ""}
    )
    assert 0 == done.returncode
    assert ["FAIL", "FAIL", "FAIL"] == re.findall(r"\[(\w+)\]", done.stdout)
    assert [] == [path for path in workspace.iterdir() if path.name != "knowledge_core"]


def test_a_probe_that_fails_is_recorded_and_the_task_begins(oriented: Path) -> None:
    """FDC-62."""
    code, out, _ = begin(oriented, network="127.0.0.1:1")
    assert 0 == code and "[FAIL] no connection to 127.0.0.1:1" in out
    assert (
        "[FAIL] no connection"
        in logged(oriented)[0]["action"]["details"]["orientation"]["vm_capability_report"]
    )


def finish(root: Path, task: str = "T-1") -> tuple[int, str, str]:
    done = fdc("close", "--task-id", task, "--finalize", cwd=root)
    return done.returncode, done.stdout, done.stderr


def test_a_post_mortem_that_nobody_wrote_is_refused_and_names_each_gap(oriented: Path) -> None:
    """FDC-69: close, fill in, finalize; each once."""
    begin(oriented)
    code, out, err = finish(oriented)
    assert 1 == code and "is not filled in: 6 places left" in err
    (page,) = (oriented / "postmortems").iterdir()
    text = page.read_text("utf-8")
    lines = text.splitlines()
    gaps = re.findall(r"^(postmortems/\S+\.md):(\d+): ([^:]+): (\[.*\])$", out, re.M)
    assert 6 == len(gaps)
    for path, number, section, said in gaps:
        assert oriented / path == page and said in lines[int(number) - 1]
        assert any(line.endswith(f". {section}") for line in lines)
    assert [("TASK_START", "T-1"), ("TASK_END", "T-1")] == types(oriented)
    page.write_text(re.sub(r"\[[^\]\n]*\]", "It went so, see [the plan](p.plan).", text), "utf-8")
    code, out, err = finish(oriented)
    assert (0, "") == (code, err) and "POST_MORTEM logged" in out
    last = logged(oriented)[-1]
    assert ("POST_MORTEM", {"path": f"postmortems/{page.name}"}) == (
        last["action"]["type"],
        last["action"]["details"],
    )
    assert logged(oriented)[0]["session_id"] == last["session_id"] and "Phase 4" == last["phase"]
    assert 0 == finish(oriented)[0]
    assert 3 == len(types(oriented))


def test_a_task_that_was_never_started_or_whose_post_mortem_is_gone_is_not_finalized(
    oriented: Path,
) -> None:
    code, _, err = finish(oriented)
    assert 1 == code and "was never started" in err
    begin(oriented)
    end(oriented)
    (page,) = (oriented / "postmortems").iterdir()
    page.unlink()
    code, _, err = finish(oriented)
    assert 1 == code and "has no post-mortem" in err
    assert [("TASK_START", "T-1"), ("TASK_END", "T-1")] == types(oriented)


def test_start_says_which_documents_cannot_be_read(oriented: Path) -> None:
    """FDC-53."""
    (oriented / "a.md").write_text("# Words\n")
    (oriented / "b.txt").write_text("words\n")
    (oriented / "c.pdf").write_bytes(b"%PDF-1.7\n")
    (oriented / "d.md").write_bytes(b"\xff\xfe\x00")
    code, out, _ = begin(oriented)
    assert (
        0 == code
        and "documents: 2 can be read, 2 cannot" in out
        and "skipped c.pdf: the PDF cannot be read" in out
    )
    found = logged(oriented)[0]["action"]["details"]["orientation"]["documents"]
    assert (2, 2, ["c.pdf", "d.md"]) == (
        found["read"],
        found["skipped_count"],
        [row["path"] for row in found["skipped"]],
    )


# What a plan's `close_task` closes (finding A15)

CLOSING = "set_plan x\nplan_step_complete x\nclose_task{}\nsubmit\n"


def run_closing(root: Path, task: str = "") -> tuple[int, str]:
    (root / "a.plan").write_text(CLOSING.format(task and f" {task}"))
    done = fdc("run", "a.plan", cwd=root)
    shown = fdc("show", "last", "--step", "main/3", cwd=root)
    return done.returncode, done.stdout + shown.stdout


def test_a_plan_s_close_closes_the_open_task_and_says_so(oriented: Path) -> None:
    code, out = run_closing(oriented)
    assert code == 0 and "no task was open in this workspace, so none was closed" in out
    assert [] == types(oriented)
    begin(oriented, "T-1")
    code, out = run_closing(oriented)
    assert code == 0 and "TASK_END logged for task `T-1`" in out
    assert [("TASK_START", "T-1"), ("TASK_END", "T-1")] == [
        row for row in types(oriented) if row[0].startswith("TASK")
    ]
    assert (oriented / "postmortems").is_dir()
    code, out = run_closing(oriented)
    assert code == 0 and "no task was open" in out


def test_of_several_open_tasks_a_plan_closes_the_one_that_its_run_is_for(oriented: Path) -> None:
    for name in ("T-1", "T-2", "T-3"):
        begin(oriented, name)
    code, out = run_closing(oriented)
    assert code == 0, out
    assert "for the task `T-3` (the newest of 3 that are open; `--task-id ID` names another)" in out
    assert "TASK_END logged for task `T-3`" in out
    assert run_closing(oriented, "T-1")[0] == 0
    assert ["T-3", "T-1"] == [task for kind, task in types(oriented) if kind == "TASK_END"]


def test_a_task_can_be_said_in_words_and_closed_without_its_id_where_one_is_open(
    oriented: Path,
) -> None:
    none = fdc("close", cwd=oriented)
    assert 2 == none.returncode and "no task is open: name the one" in none.stderr
    begun = fdc("start", "Add a page", "--network", "off", cwd=oriented)
    assert 0 == begun.returncode, begun.stderr
    [(_, task)] = types(oriented)
    assert task.startswith("add-a-page-")
    assert 2 == fdc("start", cwd=oriented).returncode
    begin(oriented, "T-2")
    several = fdc("close", cwd=oriented)
    assert 2 == several.returncode and f"several tasks are open (`{task}`, `T-2`)" in several.stderr
    assert 0 == fdc("close", "--task-id", "T-2", cwd=oriented).returncode
    assert 0 == fdc("close", cwd=oriented).returncode
    assert ("TASK_END", task) == types(oriented)[-1]


def test_a_run_for_a_task_that_is_named_closes_that_task_of_several(oriented: Path) -> None:
    begin(oriented, "T-1")
    begin(oriented, "T-2")
    (oriented / "a.plan").write_text(CLOSING.format(""))
    done = fdc("run", "a.plan", "--task-id", "T-1", cwd=oriented)
    assert 0 == done.returncode, done.stdout
    assert ("TASK_END", "T-1") in types(oriented) and ("TASK_END", "T-2") not in types(oriented)


def test_a_plan_that_comes_with_fdc_leaves_the_task_open_in_which_it_is_run(oriented: Path) -> None:
    begin(oriented, "T-1")
    (oriented / "tea.md").write_text("# Tea\n\nGreen tea is brewed at 80 degrees.\n")
    done = fdc("research", "How hot is green tea brewed?", "--docs", ".", cwd=oriented)
    assert done.returncode == 0, done.stderr
    assert [("TASK_START", "T-1")] == [row for row in types(oriented) if row[0].startswith("TASK")]


# What a command of a run may not do (FDC-37, finding A16)


def test_a_command_of_a_run_starts_no_task_and_no_run_however_it_is_hidden(oriented: Path) -> None:
    """The text names only a script; whether fdc starts inside of a run is asked where it starts."""
    for folder in ("tooling", "grammar", "plans"):
        shutil.copytree(
            ROOT / folder, oriented / "own" / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "VERSION", oriented / "own")
    script = f'"{sys.executable}" own/tooling/fdc_cli.py start --task-id T-9 --network off; echo "code $?"\n'
    (oriented / "go.sh").write_text(script)
    (oriented / "a.plan").write_text(
        "set_plan x\nplan_step_complete x\nx <- run_in_bash_session bash go.sh\nmessage_user {x}\nclose_task\nsubmit\n"
    )
    done = fdc("run", "a.plan", cwd=oriented)
    assert "may not start `fdc start`; a plan calls another with `call_plan`" in done.stdout, (
        done.stdout + done.stderr
    )
    assert "code 2" in done.stdout
    assert ("TASK_START", "T-9") not in types(oriented)


@pytest.mark.parametrize(
    "command", ["start", "run", "resume", "agent", "answer", "cancel", "fork", "fix", "mcp"]
)
def test_fdc_that_is_started_inside_a_run_says_so_in_one_sentence(
    oriented: Path, command: str
) -> None:
    from tests.support import inside

    done = inside.fdc(command, "x", cwd=oriented, env={"FDC_RUN": "20261122-150536-ybry"})
    run = "20261122-150536-ybry"
    said = f"fdc: a command of the run {run} may not start `fdc {command}`; a plan calls another with `call_plan`\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert inside.fdc("close", "--task-id", "x", cwd=oriented, env={"FDC_RUN": "r"}).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["explore", "--", "-h"], ["lgtm", "--", "--help"], ["run", "a.plan", "--task-id", "-h"]],
)
def test_a_word_that_looks_like_help_opens_no_way_around(oriented: Path, words: list[str]) -> None:
    """FDC-37: what asks for help gets it, and what only looks so is refused."""
    (oriented / "a.plan").write_text("set_plan x\n")
    env = {"FDC_RUN": "some-run"}
    done = fdc(*words, cwd=oriented, env=env)
    assert 2 == done.returncode and "may not start" in done.stderr, done
    done = fdc(words[0], "--help", cwd=oriented, env=env)
    assert 0 == done.returncode and done.stdout.startswith("Usage: "), done
    assert 0 == fdc("help", words[0], cwd=oriented, env=env).returncode
