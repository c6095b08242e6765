"""The rows of the development cycle that a user can see, each as `python3 tooling/fdc_cli.py ...` from a folder of their own.

One test a row (FDC-07 to FDC-49, FDC-93b to 93d, FDC-103, FDC-104). `start`, `close` and the registry have more elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

pytestmark = pytest.mark.slow

HEAD = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete ready\n"
CLOSE = "run_in_bash_session python3 tooling/fdc_cli.py close --task-id x\n"
TAIL = CLOSE + "submit\n"


class Desk:
    """A workspace and the three commands on its plan `a.plan`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, text: str) -> Desk:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self

    def __call__(self, command: str, *arguments: str, text: str | None = None) -> tuple[int, str]:
        """(exit code, what is printed) of a command; on the plan `text`, where there is one."""
        if text is not None:
            self.put("a.plan", text)
            arguments = ("a.plan", *arguments)
        done = fdc(command, *arguments, cwd=self.folder)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode != 4, done.stderr
        return done.returncode, done.stdout + done.stderr

    def lint(self, body: str) -> tuple[int, str]:
        """Of a plan in the default cycle with these steps in it."""
        return self("lint", text=HEAD + body + TAIL)


@pytest.fixture
def desk(workspace: Path) -> Desk:
    return Desk(workspace)


# ---- the toolchain's commands -------------------------------------------------------------------


def test_fdc_07_start_is_the_first_command_of_a_task(desk: Desk):
    desk.put("knowledge_core/agent_meta.json", '{"model_name": "m", "knowledge_cutoff": "2026-01"}')
    code, out = desk("start", "--task-id", "T-1", "--network", "off")
    assert code == 0, out
    assert desk("start", "--task-id", "", "--network", "off")[0] != 0
    assert desk("start")[0] == 2
    code, out = desk("close", "--task-id", "never-started")
    assert code != 0
    assert "never-started" in out


def test_fdc_08_start_fails_without_the_agents_meta_file(desk: Desk):
    for text in (None, "{"):
        if text:
            desk.put("knowledge_core/agent_meta.json", text)
        code, out = desk("start", "--task-id", "T-1", "--network", "off")
        assert code == 1
        assert "agent_meta.json" in out
        assert not list(desk.folder.rglob("*.jsonl"))


def test_fdc_09_lint_prints_every_failure_with_its_line(desk: Desk):
    code, out = desk.lint("nonsense\nread_file gone.txt\ndelete_fil x\ncall_plan gone\n")
    assert code == 1
    for line in (4, 5, 6, 7):
        assert f"a.plan:{line}:" in out
    assert desk("lint", "gone.plan") == (2, "fdc: Could not find file `gone.plan`\n")
    assert desk.lint("")[0] == 0


def test_fdc_10_the_last_work_step_is_close(desk: Desk):
    code, out = desk("lint", text=HEAD + "list_files\n")
    assert code == 1
    assert "must end with the 'close' command" in out
    assert desk("lint", text=HEAD + TAIL)[0] == 0


def test_fdc_11_validate_follows_the_plan_line_by_line(desk: Desk):
    code, out = desk("validate", text=HEAD + TAIL)
    assert code == 0
    lines = out.splitlines()
    assert "Line 2: OK. Action 'set_plan' (plan_op) transitions from IDLE -> PLANNING" in lines
    assert (
        "Line 4: OK. Action 'run_in_bash_session' (close_op) transitions from EXECUTING -> POST_MORTEM"
        in lines
    )
    assert "Line 5: OK. Action 'submit' (submit_op) transitions from POST_MORTEM -> DONE" in lines
    for text, line, state in (
        (HEAD + "nonsense\n" + TAIL, 4, ""),
        ("# FSM: tooling/fdc_fsm.json\nlist_files\n", 2, "IDLE"),
        (HEAD + CLOSE, 4, "POST_MORTEM"),
    ):
        code, out = desk("validate", text=text)
        assert code == 1
        assert f"a.plan:{line}:" in out
        assert state in out
    assert desk("validate", "gone.plan") == (2, "fdc: Could not find file `gone.plan`\n")


def test_fdc_12_the_five_commands_are_there(desk: Desk):
    for command in ("start", "validate", "analyze", "lint", "close"):
        code, out = desk(command, "--help")
        assert (code, f"Usage: fdc {command}" in out) == (0, True)


@pytest.mark.parametrize(
    ("body", "complexity", "modality"),
    [
        ("list_files\n", "Constant (O(1))", "Analysis (Read-Only)"),
        ("for_each_file *\n  read_file {file1}\n", "Polynomial (P-Class)", "Analysis (Read-Only)"),
        (
            "for_each_file *\n  for_each_file *\n    overwrite_file_with_block {file2}\n      x\n",
            "Exponential (EXPTIME-Class)", "Construction (Read-Write)",
        ),
    ],
)  # fmt: skip
def test_fdc_13_analyze_prints_complexity_and_modality(
    desk: Desk, body: str, complexity: str, modality: str
):
    code, out = desk("analyze", text=HEAD + body + TAIL)
    assert (code, out.splitlines()[:2]) == (
        0,
        [f"Complexity: {complexity}", f"Modality: {modality}"],
    )
    found = json.loads(desk("analyze", "a.plan", "--format", "json")[1])
    assert found["complexity_class"] == ("EXP" if "EXP" in complexity else "P")
    assert found["modality"] == modality
    assert desk("analyze", "gone.plan")[0] != 0


def test_fdc_14_complexity_goes_by_nesting_and_the_true_degree_stands_beside_it(desk: Desk):
    loop = "for_each_file *\n  read_file {file1}\n"
    out = desk("analyze", text=HEAD + loop + loop + TAIL)[1]
    assert "Complexity: Polynomial (P-Class)\n" in out
    assert "Degree: 1\n" in out
    nested = "for_each_file *\n  for_each_file *\n    for_each_file *\n      read_file {file3}\n"
    out = desk("analyze", text=HEAD + nested + TAIL)[1]
    assert "Complexity: Exponential (EXPTIME-Class)\n" in out
    assert "Degree: 3 (n^3 in the number of files; polynomial)\n" in out


def test_fdc_15_modality_looks_into_loops_and_sub_plans_and_flags_shells(desk: Desk):
    desk.put("sub.plan", "for_each_file *.tmp\n  delete_file {file1}\n")
    assert (
        "Modality: Construction (Read-Write)"
        in desk("analyze", text=HEAD + "call_plan sub.plan\n" + TAIL)[1]
    )
    out = desk("analyze", text=HEAD + "run_in_bash_session rm -rf x\n" + TAIL)[1]
    assert "Modality: Construction (Read-Write)\n" in out
    assert "Shell: yes (what its commands touch is unknown)\n" in out
    out = desk("analyze", text=HEAD + "read_file README.md\n" + TAIL)[1]
    assert "Modality: Analysis (Read-Only)\n" in out
    assert "Shell:" not in out


def test_fdc_16_a_plan_is_valid_where_the_automaton_accepts_its_actions(desk: Desk):
    code, out = desk("lint", text="# FSM: tooling/fdc_fsm.json\nplan_step_complete ready\n" + TAIL)
    assert (code, "FDC401" in out) == (1, True)
    code, out = desk.lint("research tea\n")
    assert (code, "FDC404" in out) == (1, True)
    assert "research_requested" in out


def test_fdc_18_close_is_known_by_its_parsed_words(desk: Desk):
    for command, closes in (
        ("run_in_bash_session python3 tooling/fdc_cli.py close --task-id x\n", True),
        ("run_in_bash_session echo close the door\n", False),
        ("run_in_bash_session grep -n close tooling/fdc_cli.py\n", False),
    ):
        assert (
            f"({'close_op' if closes else 'tool_exec'})" in desk("validate", text=HEAD + command)[1]
        )
        assert (desk("lint", text=HEAD + command + "submit\n")[0] == 0) == closes


def test_fdc_19_a_file_that_exists_cannot_be_created(desk: Desk):
    desk.put("there.md", "x")
    code, out = desk.lint("create_file_with_block there.md\nlist_files\n")
    assert code == 1
    assert "Cannot create `there.md`: it already exists" in out
    assert "a.plan:4:" in out
    assert desk.lint("create_file_with_block fresh.md\nlist_files\n")[0] == 0


SECTIONS = "  <<<<<<< SEARCH\n  x\n  =======\n  y\n  >>>>>>> REPLACE"


@pytest.mark.parametrize(
    "step", ["read_file x.md", "delete_file x.md", f"replace_with_git_merge_diff x.md\n{SECTIONS}"]
)
def test_fdc_20_a_file_that_is_absent_cannot_be_used(desk: Desk, step: str):
    code, out = desk.lint(step + "\nlist_files\n")
    assert code == 1
    assert "Cannot access `x.md`: it does not exist" in out
    desk.put("x.md", "x")
    assert desk.lint(step + "\nlist_files\n")[0] == 0
    (desk.folder / "x.md").unlink()
    assert desk.lint("create_file_with_block x.md\n  x\n" + step + "\nlist_files\n")[0] == 0


def test_fdc_21_files_are_followed_in_the_order_of_the_plan(desk: Desk):
    desk.put("old.md", "x")
    assert desk.lint("rename_file old.md new.md\nread_file new.md\n")[0] == 0
    code, out = desk.lint("rename_file old.md new.md\nread_file old.md\n")
    assert (code, "Cannot access `old.md`" in out) == (1, True)
    code, out = desk.lint("delete_file old.md\nread_file old.md\n")
    assert (code, "a.plan:5:" in out) == (1, True)
    assert (
        desk.lint("delete_file old.md\ncreate_file_with_block old.md\nread_file old.md\n")[0] == 0
    )


def test_fdc_22_a_file_made_in_a_loop_is_not_taken_for_granted(desk: Desk):
    """T-13."""
    code, out = desk.lint(
        "for_each_file *.none\n  overwrite_file_with_block made.md\n    x\nread_file made.md\n"
    )
    assert (code, "Cannot access `made.md`" in out) == (1, True)
    assert desk.lint("for_each_file *\n  read_file {file1}\n")[0] == 0


@pytest.mark.parametrize(
    "step",
    [
        "read_file",
        "rename_file a",
        "run_in_bash_session",
        "overwrite_file_with_block a",
        "call_plan",
    ],
)
def test_fdc_23_a_missing_argument_is_told(desk: Desk, step: str):
    """T-10."""
    code, out = desk.lint(step + "\n")
    assert code == 1
    assert "a.plan:4:" in out


def test_fdc_24_an_unknown_command_is_told_with_its_line_and_the_one_that_was_meant(desk: Desk):
    code, out = desk.lint("read_fil there.md\n")
    assert code == 1
    assert "Unknown command `read_fil`" in out
    assert "a.plan:4:1" in out
    assert "did you mean `read_file`?" in out


@pytest.mark.parametrize(
    "body",
    ["  list_files\n", "for_each_file *\n\tread_file {file1}\n", "for_each_file *\nlist_files\n"],
)
def test_fdc_25_indentation_that_means_nothing_is_told(desk: Desk, body: str):
    code, out = desk.lint(body)
    assert (code, "a.plan:" in out) == (1, True)


def test_fdc_26_a_plan_chooses_its_automaton_on_its_first_line(desk: Desk):
    research = (
        "set_plan x\nlist_files\nplan_step_complete\ncreate_file_with_block r.md\nclose_task\n"
    )
    assert desk("lint", text="# FSM: tooling/research_fsm.json\n" + research)[0] == 0
    assert desk("lint", text=research)[0] == 1
    code, out = desk("lint", text="# FSM: tooling/gone.json\n" + research)
    assert (code, "a.plan:1:8" in out, "tooling/gone.json" in out) == (1, True, True)
    desk.put("bad.json", "{")
    code, out = desk("lint", text="# FSM: bad.json\n" + research)
    assert (code, "a.plan:1:8" in out) == (1, True)
    code, out = desk("lint", text="set_plan x\n# FSM: tooling/research_fsm.json\n")
    assert (code, "a.plan:2:1" in out) == (1, True)


def test_fdc_27_looking_changes_nothing(desk: Desk):
    body = (
        "create_file_with_block made.md\ndelete_file a.plan\nrun_in_bash_session touch made.too\n"
    )
    for command in ("lint", "validate", "analyze"):
        desk(command, text=HEAD + body + TAIL)
        assert sorted(path.name for path in desk.folder.iterdir()) == ["a.plan", "knowledge_core"]


def test_fdc_28_what_runs_is_what_was_followed(desk: Desk):
    """T-02: `validate` and the program that the runner gets have the same steps."""
    body = "for_each_file *\n  read_file {file1}\n# a comment\n\nmessage_user\n  read_file not.a.step\n"
    desk.put("a.plan", HEAD + body + TAIL)
    followed = [
        line.split("'")[1]
        for line in desk("validate", "a.plan")[1].splitlines()
        if line.startswith("Line ")
    ]
    program = json.loads(desk("expand", "a.plan", "--format", "json")[1])

    def tools(body: list[dict]) -> list[str]:
        return [
            name
            for item in body
            for name in ([item["tool"]] if "tool" in item else tools(item.get("body", [])))
        ]

    assert followed == tools(program["plans"][program["root"]]["body"])
    assert followed == [
        "set_plan",
        "plan_step_complete",
        "read_file",
        "message_user",
        "run_in_bash_session",
        "submit",
    ]


# ---- the pushdown -------------------------------------------------------------------------------


def test_fdc_29_and_38_a_sub_plan_runs_and_its_caller_goes_on(desk: Desk):
    desk.put("sub.plan", "message_user from below\n")
    desk.put("a.plan", HEAD + "call_plan sub.plan\nmessage_user from above\nclose_task\nsubmit\n")
    code, out = desk("run", "a.plan")
    assert code == 0, out
    assert out.index("from below") < out.index("from above")


def test_fdc_30_a_sub_plan_is_judged_with_its_caller(desk: Desk):
    desk.put("sub.plan", "# FSM: tooling/research_fsm.json\nset_plan x\n")
    code, out = desk.lint("call_plan sub.plan\n")
    assert (code, "sub.plan:2:" in out, "FDC402" in out) == (1, True, True)
    desk.put("sub.plan", "\nset_plan again\n")
    code, out = desk.lint("call_plan sub.plan\n")
    assert code == 1
    assert "a.plan:4:1" in out
    assert "sub.plan:2:1" in out
    code, out = desk("validate", "a.plan")
    assert "Line 4: call of 'sub.plan'" in out


def test_fdc_31_a_sub_plan_runs_in_its_callers_automaton_unless_it_names_one(desk: Desk):
    desk.put("sub.plan", "list_files\n")
    assert desk.lint("call_plan sub.plan\n")[0] == 0
    desk.put("sub.plan", "# FSM: tooling/research_fsm.json\nlist_files\n")
    assert desk.lint("call_plan sub.plan\n")[0] == 1


def test_fdc_32_what_a_sub_plan_does_to_files_its_caller_sees(desk: Desk):
    """T-05."""
    desk.put("sub.plan", "create_file_with_block made.md\n")
    assert desk.lint("call_plan sub.plan\nread_file made.md\n")[0] == 0
    assert desk.lint("read_file made.md\ncall_plan sub.plan\nlist_files\n")[0] == 1


@pytest.mark.parametrize(("plans", "code"), [(10, 0), (11, 1)])
def test_fdc_33_a_stack_of_ten_and_no_more(desk: Desk, plans: int, code: int):
    """T-04."""
    for number in range(2, plans):
        desk.put(f"p{number}.plan", f"call_plan p{number + 1}.plan\n")
    desk.put(f"p{plans}.plan", "list_files\n")
    found, out = desk.lint("call_plan p2.plan\n")
    assert found == code, out
    if code:
        assert (
            " -> ".join(["a.plan", *(f"p{number}.plan" for number in range(2, plans + 1))]) in out
        )


def test_fdc_34_recursion_is_told_as_a_cycle(desk: Desk):
    code, out = desk.lint("call_plan a.plan\n")
    assert (code, "a.plan -> a.plan" in out) == (1, True)
    desk.put("b.plan", "call_plan a.plan\n")
    code, out = desk.lint("call_plan b.plan\n")
    assert (code, "a.plan -> b.plan -> a.plan" in out) == (1, True)


@pytest.mark.parametrize(
    "head", ["iterate", 'for x in "a"', 'fork x in "a"', "while true", "goto 3"]
)
def test_fdc_35_and_36_nothing_loops_or_jumps_without_a_bound(desk: Desk, head: str):
    assert desk.lint(f"{head}\n  list_files\n")[0] == 1


def test_fdc_36_a_call_is_written_out_and_an_accepted_plan_has_a_finite_program(desk: Desk):
    code, out = desk.lint("for_each_file *.plan\n  call_plan {file1}\n")
    assert (code, "`{file1}`, is computed" in out) == (1, True)
    assert desk.lint("iterate max 3\n  list_files\n")[0] == 0
    program = json.loads(desk("expand", "a.plan", "--format", "json")[1])
    assert program["plans"]["a.plan"]["body"][2]["max"] == 3


@pytest.mark.parametrize(
    "subcommand", ["start --task-id x", "lint a.plan", "validate a.plan", "analyze a.plan"]
)
def test_fdc_37_a_plan_does_not_start_the_toolchain_that_governs_it(desk: Desk, subcommand: str):
    code, out = desk.lint(f"run_in_bash_session python3 tooling/fdc_cli.py {subcommand}\n")
    assert code == 1
    assert "disallowed recursive call" in out.lower()
    assert desk.lint(f"run_in_bash_session echo python3 tooling/fdc_cli.py {subcommand}\n")[0] == 0
    assert desk.lint("run_in_bash_session cd /tmp && python3 tooling/master_control.py\n")[0] == 1


def test_fdc_39_a_sub_plan_that_is_not_there_is_told(desk: Desk):
    code, out = desk.lint("call_plan gone.plan\n")
    assert (code, "Sub-plan file not found: `gone.plan`" in out) == (1, True)
    assert desk("run", "a.plan")[0] == 1, "and nothing of it runs"


# ---- the registry -------------------------------------------------------------------------------

REGISTRY = "knowledge_core/plan_registry.json"


def test_fdc_40_a_missing_registry_is_empty_and_a_damaged_one_is_told(desk: Desk):
    assert desk.lint("list_files\n")[0] == 0
    for text in ("{", "[]", '{"a": 3}', '{"a": "x", "a": "y"}'):
        desk.put(REGISTRY, text)
        code, out = desk.lint("list_files\n")
        assert code == 1
        assert f"{REGISTRY}:1:" in out


def test_fdc_41_the_registry_is_asked_first_and_hiding_a_file_is_told(desk: Desk):
    desk.put(REGISTRY, '{"sub.plan": "lib/real.plan"}').put("lib/real.plan", "list_files\n").put(
        "sub.plan", "set_plan x\n"
    )
    code, out = desk.lint("call_plan sub.plan\n")
    assert code == 0
    assert "FDC324" in out
    program = json.loads(desk("expand", "a.plan", "--format", "json")[1])
    assert "lib/real.plan" in program["plans"]


def test_fdc_42_a_plan_moves_and_its_callers_do_not_change(desk: Desk):
    desk.put(REGISTRY, '{"sub": "old/sub.plan"}').put("old/sub.plan", "list_files\n")
    assert desk.lint("call_plan sub\n")[0] == 0
    (desk.folder / "old/sub.plan").rename(desk.folder / "sub.plan")
    assert desk.lint("call_plan sub\n")[0] == 1
    desk.put(REGISTRY, '{"sub": "sub.plan"}')
    assert desk.lint("call_plan sub\n")[0] == 0


def test_fdc_43_to_45_the_registry_is_changed_by_its_own_command(desk: Desk):
    desk.put("sub.plan", "list_files\n")

    def manage(*arguments: str) -> tuple[int, str]:
        done = fdc(*arguments, cwd=desk.folder, script="plan_manager.py")
        return done.returncode, done.stdout + done.stderr

    assert "The plan registry is currently empty." in manage("list")[1]
    assert "Successfully registered 'sub' -> 'sub.plan'" in manage("register", "sub", "sub.plan")[1]
    assert manage("register", "sub", "sub.plan")[0] == 1
    assert manage("register", "other", "gone.plan")[0] == 1
    assert "sub : sub.plan" in manage("list")[1]
    assert desk.lint("call_plan sub\n")[0] == 0
    assert manage("deregister", "gone")[0] == 1
    assert manage("deregister", "sub")[0] == 0


# ---- research -----------------------------------------------------------------------------------

RESEARCH = "set_plan x\nlist_files\nplan_step_complete\ncreate_file_with_block r.md\nclose_task\n"


def test_fdc_46_a_research_plan_gathers_before_it_writes(desk: Desk):
    early = RESEARCH.replace("list_files\n", "create_file_with_block early.md\n")
    code, out = desk("lint", text="# FSM: tooling/research_fsm.json\n" + early)
    assert (code, "GATHERING" in out, "a.plan:3:1" in out) == (1, True, True)


def test_fdc_47_one_engine_reads_both_automata_and_each_refuses_the_others_plans(desk: Desk):
    development = HEAD.split("\n", 1)[1] + TAIL
    for head, good, bad in (("research", RESEARCH, development), ("fdc", development, RESEARCH)):
        assert desk("lint", text=f"# FSM: tooling/{head}_fsm.json\n{good}")[0] == 0
        assert desk("lint", text=f"# FSM: tooling/{head}_fsm.json\n{bad}")[0] == 1


TOPICS = (
    "tea",
    'say "x"',
    "a\nb",
    "# no comment",
    "---",
    "{file1} {{x}}",
    "it's",
    "\\",
    "日本",
    "x" * 5000,
    "-n",
    "a = b",
)


def test_fdc_48_and_49_a_generated_research_plan_is_accepted_whatever_its_topic(desk: Desk):
    for topic in TOPICS:
        done = fdc("--", topic, cwd=desk.folder, script="research_planner.py")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("# FSM: tooling/research_fsm.json\n")
        code, out = desk("lint", text=done.stdout)
        assert code == 0, (topic, out)
    assert 0 != fdc("", cwd=desk.folder, script="research_planner.py").returncode


# ---- models, prohibitions, habits ---------------------------------------------------------------


def test_fdc_93b_to_93d_the_models_forbid_each_others_definitions(desk: Desk):
    body = HEAD.split("\n", 1)[1] + "{}\n" + TAIL
    names, diagonal = "define_set_of_names S", "define_diagonalization_function d"
    for model, allowed, refused in (("A", names, diagonal), ("B", diagonal, names)):
        assert desk("csdc", "--model", model, text=body.format(allowed))[0] == 0
        code, out = desk("csdc", "--model", model, text=body.format(refused))
        assert (code, "FDC431" in out) == (1, True)
        assert desk("csdc", "--model", model, text=body.format(f"{names}\n{diagonal}"))[0] == 1
        assert desk("csdc", "--model", model, text=body.format(f"message_user {refused}"))[0] == 0
    assert desk("csdc", "--model", "A", "--complexity", "EXP", text=body.format(names))[0] == 1
    assert desk("csdc", "--model", "X", text=body.format(names))[0] == 2


def test_fdc_103_reset_all_is_refused_and_its_mention_is_not(desk: Desk):
    """T-08."""
    desk.put("sub.plan", "for_each_file *\n  reset_all now\n")
    for body in ("reset_all\n", "call_plan sub.plan\n"):
        code, out = desk.lint(body)
        assert (code, "CRITICAL" in out, "reset_all" in out) == (1, True, True)
        assert desk("run", "a.plan")[0] == 1
    assert desk.lint("message_user do not reset_all\nrun_in_bash_session echo reset_all\n")[0] == 0


def test_fdc_104_a_write_that_nothing_looks_at_is_a_warning(desk: Desk):
    write = "create_file_with_block made.md\n"
    code, out = desk("lint", text=HEAD + write + "close_task\nsubmit\n")
    assert (code, "warning[FDC441]" in out) == (0, True)
    for look in ("read_file made.md\n", "list_files\n", "grep x\n"):
        code, out = desk("lint", text=HEAD + write + look + "close_task\nsubmit\n")
        assert (code, "FDC441" in out) == (0, False)
    assert desk("lint", "--strict", text=HEAD + write + "close_task\nsubmit\n")[0] == 1
