"""What an approval binds, one rule at a time: at the engine's record, and at the files where a step uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Perform, Record, request_of
from fdc_toolchain.engine.files.released import NONE, Released
from fdc_toolchain.engine.fold import fold, launch, start
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace import shown_files
from fdc_toolchain.workspace.files import Root

from tests.support.linting import lint

HEAD = "# FSM: any.json\n"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.txt").write_text("one\n")
    (tmp_path / "w" / "b.txt").write_text("two\n")
    return Root(str(tmp_path / "w"))


def program(text: str, **plans: str) -> dict[str, Any]:
    from fdc_toolchain.check import program_of

    files = {"p.plan": HEAD + text, **{f"{name}.plan": one for name, one in plans.items()}}
    checked = lint(files, "p.plan", there=("a.txt", "b.txt"))
    assert not [one for one in checked.diagnostics if one.severity == "error"], checked.diagnostics
    return dict(program_of(checked))


def bench(root: Root, tmp_path: Path) -> Workbench:
    run_folder = tmp_path / "run"
    run_folder.mkdir(exist_ok=True)
    return Workbench("r", root, str(run_folder), print, lambda *asked: "yes", {}, 9.0)


def shown(root: Root, tmp_path: Path, text: str, **plans: str) -> dict[str, Any]:
    """What the first step, an approval, shows."""
    return _shown(root, tmp_path, program("record_user_approval_for_plan it\n" + text, **plans))


def _shown(root: Root, tmp_path: Path, made: dict[str, Any]) -> dict[str, Any]:
    state = start(made, {})
    launch(state, "main/1")
    tools = LocalTools(made, bench(root, tmp_path))
    tools.follow(state)
    outcome = tools.perform(state.running["main/1"].effect)
    assert outcome.failure is None and outcome.notes is not None, outcome
    return dict(outcome.notes["approved"])


def words(shows: dict[str, Any]) -> list[str]:
    keys = ("perhaps", "what", "file", "glob", "text")
    return [" ".join(str(row[key]) for key in keys if key in row) for row in shows["rows"]]


def step(tool: str, released: Released, **args: Any) -> Perform:
    made = Perform(
        "main/2", "tool", tool, args, request_of("tool", tool, args), "idempotent", "p.plan", 3
    )
    return made._replace(released=released)


def test_a_deletion_whose_outcome_was_lost_in_a_crash_goes_on_and_a_stranger_s_does_not(
    root: Root, tmp_path: Path
) -> None:
    shows = shown(root, tmp_path, "delete_file a.txt\ndelete_file b.txt\n")
    made = program("delete_file a.txt\n")
    tools = LocalTools(made, bench(root, tmp_path))
    released = Released(shows["lists"], shows["files"])
    first = step("delete_file", released, path="a.txt")
    assert tools.perform(first).failure is None and not Path(root.path, "a.txt").exists()
    assert tools.perform(first).failure is None  # done again: its own first attempt has deleted it
    Path(root.path, "b.txt").unlink()
    failed = tools.perform(
        step("delete_file", released, path="b.txt")._replace(address="main/3")
    ).failure
    assert failed is not None and failed.kind == "changed"


def test_a_write_whose_outcome_was_lost_goes_on_and_one_over_another_content_does_not(
    root: Root, tmp_path: Path
) -> None:
    shows = shown(root, tmp_path, "overwrite_file_with_block a.txt\n    new\n")
    tools = LocalTools(program("overwrite_file_with_block a.txt\n    new\n"), bench(root, tmp_path))
    effect = step(
        "overwrite_file_with_block",
        Released(shows["lists"], shows["files"]),
        path="./a.txt",
        content="new\n",
    )
    assert [tools.perform(effect).failure for _ in range(2)] == [None, None]
    Path(root.path, "a.txt").write_text("other\n")
    failed = tools.perform(effect).failure
    assert (
        failed is not None
        and failed.kind == "changed"
        and Path(root.path, "a.txt").read_text() == "other\n"
    )


def test_what_a_command_may_write_is_not_held_against_it_and_the_rest_is() -> None:
    allowed = ({"write": (((False, "out/**"),),)},)
    released = Released({}, {"out/x": "1", "a.txt": "2"})
    released.changed([], allowed)
    assert (released.shown("out/x"), released.shown("a.txt")) == (None, "2")
    released.changed(["./a.txt"], None)
    assert released.shown("a.txt") is None
    everything = Released({}, {"a.txt": "2"}, outer := Released({}, {"a.txt": "2", "b.txt": NONE}))
    everything.changed(["b.txt"], ())
    assert everything.shown("a.txt") is None and outer.shown("b.txt") is None


def test_loops_calls_branches_and_forks_are_followed_with_the_values_that_are_known(
    root: Root, tmp_path: Path
) -> None:
    text = (
        "x <- plan_step_complete word\nnames <- list_files *.txt\nfork name in {names} max 9\n  call_plan sub.plan path={name}\n"
        'if "b.txt" in names\n  create_file_with_block new.md\n    {x}\n'
        "for name in {names} max 9\n  rename_file {name} {name}.old\n"
    )
    shows = shown(
        root,
        tmp_path,
        text,
        sub='param path\nif path == "a.txt"\n  overwrite_file_with_block {path}\n    changed\n',
    )
    assert words(shows) == [
        "write a.txt", "create new.md", "rename a.txt", "rename b.txt",
    ]  # fmt: skip
    assert shows["rows"][0]["diff"] == ["@@ -1 +1 @@", "-one", "+changed"]
    assert shows["lists"] == {"*.txt": ["a.txt", "b.txt"]} and shows["files"]["new.md"] == NONE


def test_only_the_record_of_an_approval_releases_and_a_branch_keeps_what_it_began_with() -> None:
    made = program(
        "record_user_approval_for_plan it\nnames <- list_files\nfork name in {names} max 9\n  delete_file {name}\n"
    )
    state = start(made, {})
    approved = {"rows": [], "lists": {"**": ["a.txt"]}, "files": {"a.txt": "1", "b.txt": "2"}}

    def record(address: str, tool: str, args: dict[str, Any], kind: str, **body: Any) -> Record:
        return Record(kind, address, 1, tool, request_of("tool", tool, args), 0.1, body)

    ask = "record_user_approval_for_plan", {"text": "it"}
    records = [
        record("main/1", *ask, "intent"), record("main/1", *ask, "outcome", value="yes", notes={"approved": approved}),
        record("main/2", "list_files", {}, "outcome", value=["a.txt", "b.txt"]),
        record("main/3#1/1", "delete_file", {"path": "a.txt"}, "outcome", value="deleted"),
    ]  # fmt: skip
    state = fold(made, {}, records[:3])
    one, other = (want.effect.released for want in state.pending.values())
    assert (
        one is other
        and one is not None
        and one.lists == {"**": ["a.txt"]}
        and one.shown("a.txt") == "1"
    )
    state = fold(made, {}, records)
    [want] = state.pending.values()
    assert want.effect.released is not None
    assert (want.effect.released.shown("a.txt"), want.effect.released.shown("b.txt")) == (None, "2")
    refused = [records[0], record("main/1", *ask, "outcome", value="yes")]
    [want] = fold(made, {}, refused).pending.values()
    assert want.effect.released is None  # of an fdc that bound nothing


def test_more_files_than_anybody_looks_through_are_refused(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_files, "BOUND", 1)
    made = program("record_user_approval_for_plan it\nfor_each_file *.txt\n  delete_file {file1}\n")
    state = start(made, {})
    launch(state, "main/1")
    tools = LocalTools(made, bench(root, tmp_path))
    tools.follow(state)
    failed = tools.perform(state.running["main/1"].effect).failure
    assert failed is not None and failed.kind == "size" and "more than 1 files" in failed.message


@pytest.mark.parametrize(
    "command",
    [
        "make -fa.txt", "make -sfa.txt", "tar -xT@a.txt", "gcc @a.txt", "bash ./a.t\"\"xt", "bash a\\\\.txt", "bash 'a'.txt",
        f"true {' '.join(map(str, range(600)))}; bash a.txt", f"cd {' '.join(f'd{one}' for one in range(30))}; bash b.sh",
    ],
)  # fmt: skip
def test_the_files_that_a_command_names_are_bound_however_it_writes_them(
    root: Root, tmp_path: Path, command: str
) -> None:
    for one in range(30):
        (tmp_path / f"w/d{one}").mkdir()
    (tmp_path / "w/d29/b.sh").write_text("true\n")
    shows = shown(root, tmp_path, f"run_in_bash_session {command}\n")
    assert ("d29/b.sh" if "b.sh" in command else "a.txt") in shows["files"]


def test_an_approval_of_a_command_with_too_many_words_is_refused(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_files, "LOOKED_AT", 5)
    made = program("record_user_approval_for_plan it\nrun_in_bash_session echo a b c d e f\n")
    state = start(made, {})
    launch(state, "main/1")
    tools = LocalTools(made, bench(root, tmp_path))
    tools.follow(state)
    failed = tools.perform(state.running["main/1"].effect).failure
    assert failed is not None and failed.kind == "size" and "too many words" in failed.message


def test_a_command_unbinds_what_it_may_write_and_no_more(root: Root, tmp_path: Path) -> None:
    made = "allow read **\nallow write out/**\nallow write *.txt\nallow run *\n"
    loops = (
        "for_each_file out/*\n  message_user {file1}\nfor_each_file sub/*\n  message_user {file1}\n"
    )
    text = f"record_user_approval_for_plan it\nrun_in_bash_session make\n{loops}overwrite_file_with_block a.txt\n    x\n"
    shows = _shown(root, tmp_path, program(made + text))
    assert set(shows["lists"]) == {"sub/*"}
    assert [row.get("note") for row in shows["rows"] if row.get("file")] == [
        "an earlier step may change this file first"
    ]
    assert words(shows)[:2] == [
        "command run_in_bash_session make", "unknown the files that match `out/*` after the steps before",
    ]  # fmt: skip


def test_an_iteration_is_followed_to_its_end_where_that_is_known_and_for_two_rounds_otherwise(
    root: Root, tmp_path: Path
) -> None:
    text = '{}\niterate max 3 until x == "a"\n  overwrite_file_with_block a.txt\n      {{x}}\n'
    assert (
        len(
            words(
                shown(
                    root, tmp_path, text.format("names <- list_files *.txt\nx <- read_file a.txt")
                )
            )
        )
        == 3
    )
    known = words(shown(root, tmp_path, text.format("x <- request_user_input Which?")))
    assert known == ["write a.txt", "True write a.txt", "unknown how many rounds follow"]
