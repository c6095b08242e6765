"""Packs of a workspace are data: what is wrong with one is said at its place, and what a hostile one does leads nowhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support import inside
from tests.support.process import fdc

HEAD = 'format = 1\nname = "tea"\nsummary = "makes tea"\n'
TOML = (
    HEAD
    + 'catalogues = ["tools.json"]\n[tools]\npour = "deeds:pour"\n[predicates]\nwarm = "deeds:warm"\n'
)
ROW = {
    "summary": "pours", "action": "step_op", "effect": "idempotent", "trust": "workspace", "result": "any",
    "parameters": [], "access": {"read": []},
}  # fmt: skip
CATALOGUE = {
    "format": 1, "name": "tea", "tools": {"pour": ROW},
    "predicates": {"warm": {"summary": "x", "parameters": ["cup"]}},
}  # fmt: skip
PLAN = "use pack tea\nset_plan x\nplan_step_complete x\n{steps}close_task\nsubmit\n"
POUR = "x <- pour\nmessage_user {x}\n"


def put(
    workspace: Path, toml: str = TOML, code: str = "", name: str = "tea", **row: object
) -> Path:
    folder = workspace / "packs" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.toml").write_text(toml)
    document = {**CATALOGUE, "tools": {"pour": {**ROW, **row}}}
    (folder / "tools.json").write_text(json.dumps(document))
    (folder / "deeds.py").write_text(code)
    (workspace / "a.plan").write_text(PLAN.replace("{steps}", POUR))
    return folder


@pytest.mark.parametrize(
    ("toml", "line", "said"),
    [
        ("format = 1\nname =\n", 2, "invalid TOML"),
        (HEAD.replace('"tea"', '"coffee"'), 1, "`name` must be `tea`, the name of its folder"),
        (HEAD + '[commands.boo]\nmodule = "cli"\nhelp = "x"\n', 5, "`commands.boo` must name a plan (`plan`)"),
        (HEAD + '[commands.boo]\nhelp = "x"\n', 4, "must have either `module` or `plan`"),
        (HEAD + '[commands.boo]\nplan = "../x.plan"\nhelp = "x"\n', 5, "must be the path of a plan below the pack's folder"),
        (HEAD + '[commands.boo]\nplan = "x"\nhelp = "x"\nparameters = {"a b" = "x"}\n', 7, "a table of the plan's parameters"),
        (HEAD + '[pages.cups]\nmodule = "p"\nplans = ["x"]\ntitle = "x"\nagain = "x"\n', 4, "has no pages"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_is_said_at_its_place(
    workspace: Path, toml: str, line: int, said: str
) -> None:
    put(workspace, toml)
    done = inside.fdc("lint", "a.plan", cwd=workspace)
    assert 1 == done.returncode and f"packs/tea/pack.toml:{line}:1" in done.stdout, done.stdout
    assert "error[FDC332] missing-pack: the pack cannot be used:" in done.stdout
    assert said in done.stdout and "the pack `tea` does not exist" in done.stdout
    listed = inside.fdc("pack", "list", cwd=workspace)
    assert 1 == listed.returncode and said in listed.stderr
    assert 0 == inside.fdc("--help", cwd=workspace).returncode
    unknown = inside.fdc("boo", cwd=workspace)
    assert 2 == unknown.returncode and said in unknown.stderr


def test_a_pipe_in_the_place_of_a_file_is_told_and_nothing_waits(workspace: Path) -> None:
    folder = put(workspace)
    (folder / "tools.json").unlink()
    os.mkfifo(folder / "tools.json")
    done = fdc("pack", "check", "packs/tea", cwd=workspace)
    assert 1 == done.returncode and "`tools.json`: it is not a regular file" in done.stdout
    (folder / "pack.toml").unlink()
    os.mkfifo(folder / "pack.toml")
    done = fdc("lint", "a.plan", cwd=workspace)
    assert 1 == done.returncode and "cannot be used: it is not a regular file" in done.stdout


def test_bytes_that_are_no_text_and_names_that_are_taken_are_told(workspace: Path) -> None:
    folder = put(workspace)
    (folder / "pack.toml").write_bytes(b"\xff\xfe")
    assert (
        "the file is not UTF-8 text (byte 0)" in inside.fdc("lint", "a.plan", cwd=workspace).stdout
    )
    put(workspace, HEAD.replace("tea", "research"), name="research")
    said = inside.fdc("lint", "a.plan", cwd=workspace).stdout
    assert "a pack `research` is installed; remove one of them" in said
    put(workspace)
    (folder / "tools.json").write_text(json.dumps({**CATALOGUE, "tools": {"read_file": ROW}}))
    said = inside.fdc("lint", "a.plan", cwd=workspace).stdout
    assert "packs/tea/tools.json:1" in said and "`read_file` is a built-in tool" in said
    (folder / "tools.json").unlink()
    said = inside.fdc("lint", "a.plan", cwd=workspace).stdout
    assert "the catalogue `packs/tea/tools.json` does not exist" in said


def test_what_is_said_of_a_bad_pack_has_no_control_characters(workspace: Path) -> None:
    put(workspace, HEAD + '"\\u001b[2J" = 1\n')
    (workspace / "packs" / "\x1b[2J").mkdir()
    (workspace / "packs" / "\x1b[2J" / "pack.toml").write_text("")
    for words in (("boo",), ("doctor",), ("lint", "a.plan"), ("pack", "list"), ("tools",)):
        done = inside.fdc(*words, cwd=workspace)
        said = done.stdout + done.stderr
        assert "\x1b[2J" not in said and "\\u{1b}[2J" in said and "Traceback" not in said, words
    assert "\\u{1b}[2J" in inside.fdc("pack", "check", "packs/tea", cwd=workspace).stdout


def test_a_command_of_a_run_starts_none_of_its_commands(workspace: Path) -> None:
    put(workspace, HEAD + '[commands.brew]\nplan = "x.plan"\nhelp = "x"\n')
    done = fdc("brew", cwd=workspace, env={"FDC_RUN": "some-run"})
    assert 2 == done.returncode and "may not start `fdc brew`" in done.stderr
    assert 0 == fdc("brew", "--help", cwd=workspace, env={"FDC_RUN": "some-run"}).returncode


def test_a_pack_takes_no_command_of_fdc_and_shows_no_control_characters(workspace: Path) -> None:
    evil = "\\u001b[2Jgone"
    toml = HEAD.replace("makes tea", evil) + "".join(
        f'[commands.{name}]\nplan = "x.plan"\nhelp = "{evil}"\nparameters = {{cup = "{evil}"}}\n'
        for name in ("lint", "fix", "brew")
    )
    put(workspace, toml)
    pages = [("--help",), ("brew", "--help"), ("pack", "list"), ("pack", "show", "tea"), ("tools",)]
    for words in pages:
        done = inside.fdc(*words, cwd=workspace)
        assert 0 == done.returncode and "\x1b[2J" not in done.stdout, words
        assert "\\u{1b}[2Jgone" in done.stdout, (words, done.stdout)
    for name in ("lint", "fix"):
        assert "2Jgone" not in inside.fdc(name, "--help", cwd=workspace).stdout


@pytest.mark.slow
def test_a_verdict_that_is_kept_knows_the_packs_of_the_workspace(workspace: Path) -> None:
    """The fast path by times, and the cache by content."""
    folder = put(workspace, code="def pour(args, context):\n    return 1\n")
    (workspace / ".git").mkdir()

    def code(*words: str) -> int:
        return fdc("lint", "a.plan", *words, cwd=workspace).returncode

    assert [0, 0] == [code(), code()]
    (folder / "pack.toml").rename(folder / "pack.off")
    assert [1, 1] == [code(), code()]
    (folder / "pack.off").rename(folder / "pack.toml")
    assert [0, 0] == [code(), code()]
    (folder / "tools.json").write_text("{}")
    assert [1, 1] == [code(), code()]


def ran(workspace: Path, code: str, steps: str = POUR, **row: object) -> tuple[int, str]:
    put(workspace, code=code, **row)
    (workspace / "a.plan").write_text(PLAN.replace("{steps}", steps))
    done = inside.fdc("run", "a.plan", cwd=workspace)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_a_function_keeps_files_for_later_steps_of_its_run(workspace: Path) -> None:
    code = (
        "import os\ndef pour(args, context):\n    path = os.path.join(context.run_folder, 'n')\n"
        "    n = int(open(path).read()) + 1 if os.path.exists(path) else 1\n    open(path, 'w').write(str(n))\n"
        "    return {'n': n, 'key': context.key}\n"
    )
    done, said = ran(workspace, code, POUR + "y <- pour\nmessage_user {y}\n")
    assert 0 == done and '"n":1' in said and '"n":2' in said and ":main/3" in said, said
    done, said = ran(workspace, code)
    assert '"n":1' in said  # another run has nothing of it


def test_arguments_of_many_megabytes_arrive(workspace: Path) -> None:
    code = "def pour(args, context):\n    return len(args['cup']) if args.get('cup') else 'x' * 2_000_000\n"
    parameters = [{"name": "cup", "kind": "word", "required": False, "sink": "data"}]
    done, said = ran(
        workspace, code, "x <- pour\ny <- pour {x}\nmessage_user {y}\n", parameters=parameters
    )
    assert 0 == done and "\n2000000\n" in said, said[-500:]


def test_an_answer_that_is_none_is_asked_for_again(workspace: Path) -> None:
    code = "def pour(args, context):\n    return context.ask('sugar?', lambda given: '' if given == 'yes' else 'say yes')\n"
    assert 5 == ran(workspace, code)[0]
    assert 0 == inside.fdc("answer", "last", "no", cwd=workspace).returncode
    for answer in ((), ("--answer", "perhaps")):
        done = inside.fdc("resume", "last", *answer, cwd=workspace)
        said = done.stdout + done.stderr
        assert 5 == done.returncode and 1 == said.count("say yes") and "is not accepted" in said
    assert 0 == inside.fdc("resume", "last", "--answer", "yes", cwd=workspace).returncode


def test_a_predicate_of_the_pack_is_asked_in_the_sandbox(workspace: Path) -> None:
    code = "def pour(args, context):\n    return 1\ndef warm(args, context):\n    return args['args'] == [7]\n"
    for value, word in ((7, "hot"), (8, "cold")):
        steps = f"if warm({value})\n  message_user hot\nelse\n  message_user cold\n"
        done, said = ran(workspace, code, steps)
        assert 0 == done and f"\n{word}\n" in said, said


HOSTILE = {
    "link in place of the folder": (
        ("import os\ndef pour(args, context):\n    os.rmdir(context.run_folder)\n"
         "    os.symlink('/etc', context.run_folder)\n    return 1\n"),
        0, "",
    ),
    "a link in the folder": (
        ("import os\ndef pour(args, context):\n    os.symlink('/etc/hostname', context.run_folder + '/x')\n"
         "    os.mkfifo(context.run_folder + '/y')\n    os.mkdir(context.run_folder + '/z')\n    return 1\n"),
        0, "",
    ),
    "too much": (
        "def pour(args, context):\n    open(context.run_folder + '/x', 'wb').write(bytes(17 << 20))\n    return 1\n",
        1, "more than 256 files or 16,777,216 bytes in the folder of the run",
    ),
    "garbage on the line": (
        "import os\ndef pour(args, context):\n    os.write(context._line, b'garbage\\n')\n    return context.say('x')\n",
        1, "it sent an unknown request to fdc",
    ),
    "a flood": (
        "def pour(args, context):\n    for number in range(2000):\n        context.say('')\n",
        1, "it sent more than 1,000 requests to fdc",
    ),
    "a flood of large texts": (
        "def pour(args, context):\n    for number in range(500):\n        context.say('x' * 60_000)\n",
        1, "it sent more than 1,048,576 bytes to fdc",
    ),
    "another request": (
        "def pour(args, context):\n    return context._asked({'read': '/etc/passwd'})\n",
        1, "it sent an unknown request to fdc",
    ),
    "a request without an end": (
        "import os\ndef pour(args, context):\n    while True:\n        os.write(context._line, b'x' * 100_000)\n",
        1, "it sent a request of more than 65,536 bytes",
    ),
    "a file outside": (
        "def pour(args, context):\n    return len(context.read('../../../etc/passwd'))\n",
        1, "leaves the workspace",
    ),
    "fdc's own records": ("import os\ndef pour(args, context):\n    return os.listdir('.fdc')\n", 1, ".fdc"),
    "the controller": ("def pour(args, context):\n    return str(context.root)\n", 1, "has no attribute 'root'"),
    "a file that the row does not name": (
        "def pour(args, context):\n    return len(context.read('a.plan'))\n", 1, "a.plan",
    ),
    "a text with control characters": (
        "def pour(args, context):\n    context.say('\\x1b[2Jgone')\n    return 1\n", 0, "\\u{1b}[2Jgone",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_what_a_hostile_function_does_leads_nowhere(workspace: Path, case: str) -> None:
    code, expected, said = HOSTILE[case]
    done, told = ran(workspace, code)
    assert expected == done and said in told, told
    kept = [path for path in workspace.rglob("kept/tea/*") if ".fdc" in path.parts]
    assert [] == kept and "\x1b[2J" not in told


@pytest.mark.parametrize("kind", ["budget", "spent", "changed", "sandbox", "missing"])
def test_a_function_declares_no_failure_that_only_fdc_can_find(workspace: Path, kind: str) -> None:
    """The run was told to be out of its budget, or an assumption of the proof to be false."""
    code = f"from fdc_toolchain.api import ToolFailure\ndef pour(args, context):\n    raise ToolFailure({kind!r}, 'x' * 9000)\n"
    ran(workspace, code)
    done = inside.fdc("run", "a.plan", "--format", "json", cwd=workspace)
    stop = json.loads(done.stdout)["stop"]
    assert stop["cause"] == {"kind": "world"} and len(stop["message"]) < 5000, stop


def test_a_function_may_speak_from_several_threads(workspace: Path) -> None:
    """One thread took the answer of another, and the call waited until its time was up."""
    code = (
        "import threading\ndef pour(args, context):\n"
        "    many = [threading.Thread(target=lambda: [context.say('t') for _ in range(50)]) for _ in range(8)]\n"
        "    [one.start() for one in many]\n    [one.join() for one in many]\n    return 1\n"
    )
    done, said = ran(workspace, code)
    assert 0 == done and 400 == said.splitlines().count("t"), said


def test_where_nobody_answers_the_run_waits_and_the_process_is_gone(workspace: Path) -> None:
    code = "def pour(args, context):\n    return context.ask('how much?')\n"
    done, said = ran(workspace, code)
    assert 5 == done and "how much?" in said
    assert 0 == inside.fdc("answer", "last", "plenty", cwd=workspace).returncode
    done_ = inside.fdc("resume", "last", cwd=workspace)
    assert 0 == done_.returncode and "\nplenty\n" in done_.stdout


def test_a_step_that_writes_into_a_pack_is_refused_unless_it_is_named(workspace: Path) -> None:
    put(workspace, code="")
    (workspace / "b.plan").write_text(
        PLAN.replace("{steps}", "create_file_with_block packs/tea/new.py\n  x\n")
    )
    said = inside.fdc("lint", "b.plan", cwd=workspace).stdout
    assert "`packs/tea/new.py`" in said and "holds packs" in said
