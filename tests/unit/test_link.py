"""Linking: tools, automata, calls and arguments looked up; one look-up for linter and runner (FDC-26 to FDC-42)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.check import check_paths, program_of
from fdc_toolchain.linking.arguments import bind
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.linking.registry import REGISTRY
from fdc_toolchain.program.codec import digest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.linting import ANY, findings, lint, places


def registry(**entries: str) -> dict[str, str]:
    return {REGISTRY: json.dumps({name.replace("_", "-"): path for name, path in entries.items()})}


def first(files: dict[str, str] | str, *codes: str, **more: Any):
    return findings(
        lint(files, "a.plan", **more) if not isinstance(files, str) else lint(files, **more), *codes
    )[0]


# ---- calls --------------------------------------------------------------------------------------


def callee(files: dict[str, str], name: str = "a.plan") -> list[str | None]:
    checked = lint(files, name)
    return [call.key for call in checked.context.linker.units[name].calls]


def test_a_registered_name_goes_before_a_path():
    """FDC-41: registry first, else the literal path."""
    files = {
        "a.plan": "call_plan sub\ncall_plan sub.plan\n",
        "sub.plan": "set_plan\n",
        "lib/x.plan": "set_plan\n",
    }
    assert callee({**files, **registry(sub="lib/x.plan")}) == ["lib/x.plan", "sub.plan"]


def test_a_registered_name_that_hides_a_file_is_told():
    """FDC-41: the registry wins, and a warning says so."""
    files = {
        "a.plan": "call_plan sub\n",
        "sub": "set_plan\n",
        "lib/x.plan": "set_plan\n",
        **registry(sub="lib/x.plan"),
    }
    checked = lint(files, "a.plan")
    assert callee(files) == ["lib/x.plan"]
    [found] = findings(checked, "FDC324")
    assert (found.severity, found.span.line, found.span.column) == ("warning", 1, 11)


def test_a_shipped_plan_is_found_by_its_name_and_a_workspace_may_have_its_own():
    assert callee({"a.plan": "call_plan deep-research topic=x\n"}) == [
        "fdc:plans/library/deep_research.plan"
    ]
    files = {
        "a.plan": "call_plan deep-research\n",
        "own.plan": "set_plan\n",
        **registry(deep_research="own.plan"),
    }
    assert callee(files) == ["own.plan"]


def test_a_registered_plan_that_stands_as_a_tool_is_answered_with_the_call():
    files = {"a.plan": "set_plan\nsub x=1\n", "s.plan": "set_plan\n", **registry(sub="s.plan")}
    assert "write `call_plan sub key=value`" in (first(files, "FDC301").help or "")


def test_a_plan_that_is_nowhere_is_told_at_its_name():
    """FDC-39."""
    found = first("set_plan\ncall_plan lib/gone.plan x=1\n", "FDC321")
    assert (found.span.line, found.span.column, found.span.end_column) == (2, 11, 24)
    assert found.message == "Sub-plan file not found: `lib/gone.plan`"
    assert found.help is not None and "`fdc registry register NAME PATH`" in found.help
    found = first({"a.plan": "call_plan sub\n", **registry(sub="gone.plan")}, "FDC321")
    assert found.message == "Sub-plan file not found: `sub` (registered as `gone.plan`)"
    assert found.help is not None and "`fdc registry deregister sub`" in found.help
    assert (
        first("call_plan deep-reserch topic=x\n", "FDC321").help == "did you mean `deep-research`?"
    )


def test_a_path_that_counts_from_the_calling_plan_is_met_with_the_one_that_counts_from_the_root():
    text = "call_plan b.plan\ncall_plan ../c.plan\ncall_plan /x.plan\n"
    files = {"lib/a.plan": text, "lib/b.plan": "set_plan\n", "c.plan": "set_plan\n"}
    found = findings(lint(files, "lib/a.plan"), "FDC321")
    assert [item.help for item in found] == [
        "paths count from the workspace's root: write `lib/b.plan`",
        "paths count from the workspace's root: write `c.plan`",
        "only plans of the workspace can be called: by a registered name, or by a path from its root",
    ]


@pytest.mark.parametrize(
    "name",
    ["../a.plan", "/etc/passwd", "b/../../a.plan", "x\\..\\y", "b.plan/", '""', '"\\n"', "~/x"],
)
def test_nothing_outside_of_the_workspace_is_called(name: str):
    assert first({"a.plan": f"call_plan {name}\n", "b.plan": "set_plan\n"}).code in (
        "FDC321",
        "FDC109",
    )


def test_one_file_is_one_plan_however_its_path_is_written():
    """Else a plan could call itself under another name, and be a sub-plan and none at once."""
    files = {
        "a.plan": "call_plan ./lib//b.plan\ncall_plan lib/./b.plan\n",
        "lib/b.plan": "set_plan\n",
    }
    assert callee(files) == ["lib/b.plan", "lib/b.plan"]
    assert first({"a.plan": "call_plan ./a.plan\n"}, "FDC322")
    assert callee(
        {"a.plan": "call_plan sub\n", "lib/b.plan": "set_plan\n", **registry(sub="./lib/b.plan")}
    ) == ["lib/b.plan"]


@pytest.mark.parametrize("target", ["{file1}", "lib/{file1}", "{plan}", '"{plan}"'])
def test_a_target_that_is_computed_is_refused(target: str):
    """FDC-36: the graph of calls is known before anything runs."""
    text = f"param plan\nfor_each_file *.plan\n  call_plan {target}\n"
    found = findings(lint(text), "FDC117")
    assert [item.span.line for item in found] == [3]


def test_a_plan_is_read_once_however_often_it_is_called():
    files = {
        "a.plan": "call_plan b.plan\n" * 50 + "call_plan c.plan\n",
        "c.plan": "call_plan b.plan\n",
        "b.plan": "nonsense\n",
    }
    assert places(lint(files, "a.plan")) == [("b.plan", 1, "FDC301")]


# ---- arguments ----------------------------------------------------------------------------------

CALLEE = {"b.plan": "param topic\nparam size = 3\nmessage_user {topic} {size}\n"}


@pytest.mark.parametrize(
    ("call", "code", "column", "message"),
    [
        ("call_plan b.plan topic=x", None, 0, ""),
        ("call_plan b.plan topic=x size=4", None, 0, ""),
        ("call_plan b.plan", "FDC302", 1, "`b.plan` needs `topic`"),
        ("call_plan b.plan size=4", "FDC302", 1, "`b.plan` needs `topic`"),
        ("call_plan b.plan topc=x topic=y", "FDC303", 18, "`b.plan` has no parameter `topc`"),
        ("call_plan b.plan topic=x topic=y", "FDC303", 26, "`topic` is given twice"),
        ("call_plan b.plan x", "FDC109", 18, ""),
    ],
)
def test_arguments_are_those_that_the_plan_declares(
    call: str, code: str | None, column: int, message: str
):
    found = [
        item
        for item in findings(lint({"a.plan": call + "\n", **CALLEE}, "a.plan"))
        if item.severity == "error"
    ]
    assert [(item.code, item.span.column) for item in found] == ([(code, column)] if code else [])
    assert all(message in item.message for item in found)


def test_arguments_of_a_plan_that_cannot_be_read_are_not_judged():
    files = {"a.plan": "call_plan b.plan x=1\n", "b.plan": "set_plan\n" * 5}
    settings = Settings(fsm="any.json")._replace(limits=Settings().limits._replace(file_bytes=20))
    assert {code for _, _, code in places(lint(files, "a.plan", settings=settings))} == {"FDC106"}


# ---- automata -----------------------------------------------------------------------------------

STRICT = json.dumps(
    {"states": ["A", "B"], "alphabet": ["plan_op", "read_op"], "transitions": {"A": {"plan_op": "B"}},
     "start_state": "A", "accept_states": ["B"]}
)  # fmt: skip


@pytest.mark.parametrize(
    "head",
    [
        "# FSM: strict.json",
        "#FSM:strict.json",
        "#   FSM:   strict.json  ",
        "use fsm strict.json",
        'use fsm "strict.json"',
    ],
)
def test_a_plan_names_its_automaton(head: str):
    """FDC-26."""
    files = {"strict.json": STRICT, "a.plan": f"{head}\nread_file any.json\n"}
    [found] = findings(lint(files, "a.plan"), "FDC401")
    assert "`A` of `strict`" in found.message


@pytest.mark.parametrize("word", ["research", "fdc", "csdc_a"])
def test_a_name_alone_stands_for_a_shipped_automaton(word: str):
    checked = lint(f"use fsm {word}\nset_plan\n")
    automaton = checked.context.linker.units["a.plan"].automaton
    assert automaton is not None
    assert automaton.path == f"fdc:tooling/{word}_fsm.json"


def test_the_workspaces_own_automaton_goes_before_a_shipped_one_of_the_same_path():
    files = {"tooling/fdc_fsm.json": STRICT, "a.plan": "# FSM: tooling/fdc_fsm.json\nset_plan\n"}
    assert not findings(lint(files, "a.plan"))


def test_an_automaton_that_is_missing_or_malformed_is_told_at_its_name():
    """FDC-26, T-15: never taken for a comment."""
    found = first("# FSM: tooling/gone.json\nset_plan\n", "FDC201")
    assert (found.span.line, found.span.column, found.span.end_column) == (1, 8, 25)
    checked = lint({"bad.json": "{", "a.plan": "use fsm bad.json\nset_plan\n"}, "a.plan")
    assert {(path, line) for path, line, code in places(checked, "FDC202")} == {
        ("a.plan", 1),
        ("bad.json", 1),
    }
    assert findings(checked, "FDC202")[0].labels


def test_a_plan_whose_automaton_is_missing_is_no_fragment():
    files = {
        "a.plan": "call_plan b.plan\n",
        "b.plan": "use fsm gone.json\nread_file x\n",
        "strict.json": STRICT,
    }
    assert places(lint(files, "a.plan", settings=Settings(fsm="strict.json")), "FDC401") == []


def test_the_directive_is_read_on_the_first_line_only():
    """FDC-26."""
    for text in ("set_plan\n# FSM: any.json\n", "# a comment\n# FSM: any.json\nset_plan\n"):
        assert places(lint(text), "FDC112") == [("a.plan", 2, "FDC112")]
    assert not findings(lint("\n\n# FSM: any.json\nset_plan\n"))


def test_an_automaton_is_named_once():
    found = first("# FSM: any.json\nuse fsm any.json\nset_plan\n", "FDC111")
    assert found.span.line == 2
    assert found.labels[0].span.line == 1


def test_a_sub_plan_without_an_automaton_runs_in_its_callers_and_one_with_leaves_it_as_it_was():
    """FDC-30, FDC-31, T-05."""
    settings = Settings(fsm="strict.json")
    for head, expected in (("", [("a.plan", 2, "FDC401")]), ("use fsm any.json\n", [])):
        files = {
            "strict.json": STRICT,
            "a.plan": "set_plan\ncall_plan b.plan\n",
            "b.plan": f"{head}read_file any.json\n",
        }
        assert places(lint(files, "a.plan", settings=settings), "FDC401") == expected


def test_a_refused_step_in_a_sub_plan_is_told_at_the_call_with_the_way_to_it():
    """FDC-30: parent:line, then sub:line."""
    files = {
        "strict.json": STRICT, "a.plan": "set_plan\ncall_plan b.plan\n",
        "b.plan": "message_user hello\ncall_plan c.plan\n", "c.plan": "\nread_file any.json\n",
    }  # fmt: skip
    [found] = findings(lint(files, "a.plan", settings=Settings(fsm="strict.json")), "FDC401")
    assert (found.span.path, found.span.line) == ("a.plan", 2)
    assert [(label.span.path, label.span.line) for label in found.labels] == [("c.plan", 2)]
    steps = [(label.span.path, label.span.line) for label in found.trace]
    assert steps == [("a.plan", 1), ("a.plan", 2), ("b.plan", 1), ("b.plan", 2), ("c.plan", 2)]


# ---- headers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("use fsn any.json", "FDC109", 5),
        ("use fsm", "FDC109", 8),
        ("use fsm {x}", "FDC109", 9),
        ("param", "FDC109", 6),
        ("param 3", "FDC109", 7),
        ("param a = {b}", "FDC109", 11),
        ("param a\nparam a", "FDC111", 7),
        ("budget minutes 3", "FDC109", 8),
        ("budget steps", "FDC109", 13),
        ("budget steps -1", "FDC109", 14),
        ("budget steps 1\nbudget steps 2", "FDC111", 8),
        ("budget llm_calls 1\nbudget model_calls 2", "FDC111", 8),
        ("allow reed x", "FDC109", 7),
        ("allow read", "FDC109", 11),
    ],
)
def test_a_header_that_is_not_of_its_form_is_told_where(text: str, code: str, column: int):
    found = [item for item in findings(lint(f"{text}\nset_plan\n")) if item.code != "FDC313"]
    assert [(item.code, item.span.column) for item in found] == [(code, column)]


# ---- loops and predicates -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        'for x in "a"',
        'fork x in "a"',
        "iterate",
        'for x in "a" max 0',
        "iterate max 0",
        "for_each_file * max 0",
    ],
)
def test_a_loop_says_how_often_it_may_run(head: str):
    """FDC-35, FDC-36: no loop without a bound; a loop over files has the files that are there on entry."""
    assert [code for _, _, code in places(lint(f"{head}\n  set_plan\n"), "FDC116")] == ["FDC116"]


def test_predicates_are_those_that_a_catalogue_declares():
    text = 'x <- read_file any.json\nif citd({x})\n  set_plan\nrequire len({x}) > 1 else "short"\n'
    found = findings(lint(text), "FDC301")
    assert [(item.span.line, item.span.column, item.message) for item in found] == [
        (2, 4, "unknown predicate `citd`")
    ]


# ---- one reading for all ------------------------------------------------------------------------


def commands(nodes: list[Any]) -> list[tuple[int, str]]:
    out = []
    for node in nodes:
        if "tool" in node:
            out.append((node["line"], node["tool"]))
        for part in ("body", "then", "else"):
            out += commands(node.get(part) or [])
    return out


def test_the_runner_gets_the_commands_that_the_linter_saw():
    """FDC-28, T-02: one parser, one linker; every step is there, in its order."""
    text = (
        "set_plan x\nfor_each_file *.md\n  read_file {file1}\n  if true\n    plan_step_complete\n  else\n    list_files\n"
        "iterate max 2\n  grep a\nmessage_user\n  set_plan\n  # FSM: not a step\n"
    )
    checked = lint(text)
    assert not [item for item in checked.diagnostics if item.severity == "error"]
    program = program_of(checked)
    expected = [
        (1, "set_plan"), (3, "read_file"), (5, "plan_step_complete"), (7, "list_files"), (9, "grep"), (10, "message_user"),
    ]  # fmt: skip
    assert commands(program["plans"][program["root"]]["body"]) == expected


def test_a_plan_that_does_not_exist_is_said_to_be_missing_and_not_to_be_empty(tmp_path: Path):
    """Finding A18: `check` of a missing file said that the plan has no step."""
    [item] = check_paths([str(tmp_path / "gone.plan")], str(tmp_path)).diagnostics
    assert (item.code, item.message, item.span.path) == (
        "FDC321",
        "the file `gone.plan` does not exist",
        "gone.plan",
    )
    (tmp_path / "docs").mkdir()
    assert ["FDC321"] == [
        item.code for item in check_paths([str(tmp_path / "docs")], str(tmp_path)).diagnostics
    ]
    (tmp_path / "empty.plan").write_text("")
    assert ["FDC118"] == [
        item.code for item in check_paths([str(tmp_path / "empty.plan")], str(tmp_path)).diagnostics
    ]


def test_what_was_read_is_what_the_program_is_bound_to():
    program = program_of(lint({"a.plan": "call_plan b.plan\n", "b.plan": "set_plan\n"}, "a.plan"))
    assert {"a.plan", "b.plan", "any.json"} == set(program["sources"])


def test_what_a_plan_does_not_reach_does_not_change_its_program():
    """Finding A14: a plan registered elsewhere, another tool, another automaton and another setting are not in the digest."""
    tool = {"summary": "x", "action": None, "effect": "pure", "trust": "trusted", "parameters": []}
    prompt = {
        **tool,
        "effect": "read",
        "trust": "model",
        "run": {"prompt": "ask.md", "role": "critic"},
    }

    def digest_of(**more: str) -> str:
        tools = {"own": tool, "ask": prompt, **json.loads(more.get("tools", "{}"))}
        files = {
            "a.plan": more.get("plan", "own\ncall_plan b.plan\nask\n"),
            "b.plan": more.get("callee", "set_plan\n"),
            "c.plan": "hello_world\n",
            "ask.md": more.get("prompt", "Well?\n"),
            "any.json": more.get("automaton", ANY),
            "knowledge_core/plan_registry.json": more.get("registry", "{}"),
            "fdc_tools.json": json.dumps({"format": 1, "name": "own", "tools": tools}),
        }
        checked = lint(files, "a.plan")
        assert not [item for item in checked.diagnostics if item.severity == "error"], (
            checked.diagnostics
        )
        return digest(program_of(checked))

    first = digest_of()
    assert first == digest_of()
    assert first == digest_of(registry='{"other": "c.plan"}')
    assert first == digest_of(tools=json.dumps({"more": tool, "ask_more": prompt}))
    assert first != digest_of(plan="own\ncall_plan b.plan\nask\nown\n")
    assert first != digest_of(callee="set_plan\nset_plan\n")
    assert first != digest_of(prompt="How?\n")
    assert first != digest_of(automaton=ANY.replace('"S"', '"T"'))
    assert first != digest_of(tools=json.dumps({"own": {**tool, "summary": "another"}}))


@given(
    st.lists(
        st.text(st.sampled_from("ab9_é./:=@%+,-"), min_size=1, max_size=5), min_size=1, max_size=5
    ).map(" ".join)
)
def test_a_command_of_plain_words_is_split_as_the_shell_splits_it(command: str) -> None:
    """FDC-18: what needs no reading is not read; the result is the same."""
    assert bind._PLAIN(command)
    assert bind._shell_words(command) == command.split(" ")
