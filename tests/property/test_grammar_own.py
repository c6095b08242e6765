"""A grammar of a workspace with tools, an automaton, plans and settings of its own: what lint refuses there is not spelled,
and what is begun can be ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.grammar_export.export import export

from tests.property.test_grammar_export import BYTES, errors, linker, matcher, spells

STEPS = ("plan_op", "step_op", "read_op", "write_op", "tool_exec", "close_op")


def row(action: str | None = "tool_exec", **more: Any) -> dict[str, Any]:
    parameters = [{"name": f"p{number}", **one} for number, one in enumerate(more.pop("takes", ()))]
    return {
        "summary": "x", "action": action, "effect": "read", "trust": "trusted", "parameters": parameters,
        "run": {"python": "own:work"}, **more,
    }  # fmt: skip


WORD, REST, NUMBER = ({"kind": kind} for kind in ("word", "rest", "number"))
OWN = {
    "record": row(result="object", effect="pure"),
    "cup": row(result={"size": "number"}, effect="pure"),
    "pot": row(result={"lid": "boolean"}, effect="pure"),
    "dial": row(takes=[NUMBER | {"sink": "url"}]),
    "count": row(takes=[WORD | {"type": "count"}]),
    "each": row(takes=[WORD, REST | {"type": "list"}]),
    "tell": row(takes=[WORD | {"type": "object"}, REST | {"required": False}]),
    "prove": row(takes=[REST | {"sink": "plan"}]),
    "order": row(trust="model", effect="once", access={"write": ["out/**"]}, takes=[WORD | {"sink": "command"}]),
    "fetch": row(trust="untrusted", takes=[{"kind": "path", "access": "write"}]),
    "end": row("close_op", effect="pure", takes=[WORD | {"type": "object"}]),
}  # fmt: skip
FSM = {
    "states": ["work", "closed", "sent"],
    "initial_state": "work",
    "final_states": ["sent"],
    "transitions": [
        *({"source": "work", "dest": "work", "trigger": name} for name in STEPS[:-1]),
        *({"source": "closed", "dest": "sent", "trigger": name} for name in ("submit_op", "step_op")),
        {"source": "work", "dest": "closed", "trigger": "close_op"},
        {"source": "work", "dest": "sent", "trigger": "submit_op"},
        {"source": "sent", "dest": "sent", "trigger": "tool_exec"},
    ],
}  # fmt: skip
OPEN = {
    "states": ["on"],
    "initial_state": "on",
    "final_states": ["on"],
    "transitions": [
        {"source": "on", "dest": "on", "trigger": name} for name in (*STEPS[:-1], "submit_op")
    ],
}
"""An automaton that knows no close and accepts everything."""
HEAD = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\n"
END = "close_task\nsubmit\n"


def workspace(root: Path, settings: str = "") -> Path:
    (root / "tooling").mkdir()
    (root / "docs").mkdir()
    (root / "docs" / "tea.md").write_text("tea\n", "utf-8")
    (root / "own.py").write_text("def work(**given):\n    return None\n", "utf-8")
    (root / "fdc.toml").write_text(settings, "utf-8")
    own = {"format": 1, "name": "own", "tools": OWN, "predicates": {
        "warm": {"summary": "x", "parameters": ["it"], "run": {"python": "own:work"}}}}  # fmt: skip
    (root / "fdc_tools.json").write_text(json.dumps(own), "utf-8")
    for name, fsm in (("my", FSM), ("open", OPEN)):
        (root / "tooling" / f"{name}_fsm.json").write_text(json.dumps(fsm), "utf-8")
    (root / "knowledge_core").mkdir()
    (root / "knowledge_core" / "plan_registry.json").write_text(
        '{"far": "far.plan", "dear": "dear.plan"}', "utf-8"
    )
    loops = "l <- list_files docs\nfor i in {l} max 10000\n  for j in {l} max 100\n    record\n"
    (root / "far.plan").write_text(f"{HEAD}record\n{END}", "utf-8")
    (root / "dear.plan").write_text(
        HEAD.replace("set_plan", "budget steps 3000000\nset_plan") + loops + END, "utf-8"
    )
    return root


UNTRUSTED = 'untrusted = ["docs/tea.md"]\n'
STORING = "# It may store text from outside, and runs no command.\n"
SEARCHED = "outside_list1 <- google_search tea\nif outside_list1\n"
CASES = {
    "a number that chooses an address": ("", "dial https://tea.org\n", "dial 5\n"),
    "a word that is a count": ("", "count tea\n", "count 7\n"),
    "a rest that is a list": ("", "each a b\n", "list1 <- list_files docs\neach a {list1}\n"),
    "an object before a rest": ("", "tell a b\n", "record1 <- record\ntell {record1} b\n"),
    "a field of another object": (
        "", "record1 <- cup\nif record1.lid\n  dial 5\n", "record1 <- cup\nif record1.size\n  dial 5\n"),
    "a field of another object of the same level": (
        "", "record1 <- pot\nrecord2 <- cup\nrecord3 <- cup\nif record3.lid\n  dial 5\n",
        "record1 <- cup\nrecord2 <- cup\nrecord3 <- pot\nif record3.lid\n  dial 5\n"),
    "a plan is chosen by text from outside": ("", SEARCHED + "  prove x\n", SEARCHED + "  hello_world\n"),
    "a command of a model that writes": ("", "order make\norder make\n", "dial 5\ndial 6\n"),
    "a page is written where a question is asked": (
        "", "if warm(input1)\n  fetch out/a.md\n", "if warm(input1)\n  hello_world\n"),
    "a model makes files where text is from outside": (
        UNTRUSTED, "for_each_file docs/* max 5\n  generate_code docs x\n  message_user {file1}\n  view_text_website {file1}\n",
        "for_each_file docs/* max 5\n  message_user {file1}\n"),
    "a result of a step that opens a file which a model may have made": (
        "", "record1 <- restore_file out/a.md\nview_text_website {record1.path}\nrun_plan x\n",
        "outside_text1 <- view_text_website https://tea.org\nmessage_user {outside_text1}\n"),
    "a stack that is too deep": ("max-stack = 1\n", "call_plan far\n", "dial 5\n"),
    "a call that costs more than the budget": ("", "call_plan dear\n", "call_plan far\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_lint_refuses_is_not_spelled(tmp_path: Path, name: str) -> None:
    settings, bad, good = CASES[name]
    root = workspace(tmp_path, settings)
    used = {line.split(" <- ")[-1].split()[0] for line in (bad + good).splitlines()}
    tools = [*linker(root).catalogue.tools.keys() & used]
    tools += ["set_plan", "plan_step_complete", "hello_world", "close_task", "submit"]
    made = matcher(export(linker(root), "llguidance", tools=tools, most=8).text)
    told = set()
    for body in (bad, good):
        for storing in (STORING, "") if not settings.startswith("untrusted") else (STORING,):
            param = "param input1\n" if "input1" in body else ""
            head = HEAD.replace("set_plan", f"{storing}budget steps 1000000\n{param}set_plan")
            text = f"{head}{body}{END}"
            assert not errors(linker(root), text) or not spells(made, text), text
            told.add((body == good, spells(made, text)))
            made.reset()
    assert told >= {(True, True), (False, False)} and (False, True) not in told, told


def test_nothing_follows_a_submit_whatever_the_automaton_says(tmp_path: Path) -> None:
    root = workspace(tmp_path)
    tools = ["set_plan", "record", "hello_world", "close_task", "submit"]
    for fsm in ("my", "open"):
        made = matcher(export(linker(root), "llguidance", fsm=fsm, tools=tools, most=6).text)
        head = f"# FSM: {fsm}\nset_plan x\n" + "close_task\n" * (fsm == "my")
        for end, holds in (
            ("submit\n", True),
            ("submit\nrecord\n", False),
            ("submit\nhello_world\n", False),
        ):
            assert (errors(linker(root), head + end) == []) == holds == spells(made, head + end), (
                end
            )
            made.reset()


LONG = {
    "states": ["a", "b", "c"],
    "initial_state": "a",
    "final_states": ["c"],
    "transitions": [
        {"source": "a", "dest": "b", "trigger": "read_op"},
        {"source": "a", "dest": "c", "trigger": "tool_exec"},
        {"source": "b", "dest": "c", "trigger": "step_op"},
        {"source": "c", "dest": "a", "trigger": "plan_op"},
    ],
}
"""From `a` to `c` it is one command, or two other steps where no command may run."""


def test_what_is_begun_can_be_ended_in_its_place(tmp_path: Path) -> None:
    """The shortest way round is a command, which this plan must not run: the loop needs one step more than it has."""
    root = workspace(tmp_path)
    (root / "tooling" / "long_fsm.json").write_text(json.dumps(LONG), "utf-8")
    tools = [
        "grep",
        "run_in_bash_session",
        "set_plan",
        "plan_step_complete",
        "close_task",
        "submit",
    ]
    made = matcher(export(linker(root), "llguidance", fsm="long", tools=tools, most=5).text)
    text = f"# FSM: long\n{STORING}grep a\nplan_step_complete\niterate max 7\n  set_plan\n"
    tokens = BYTES.tokenize_bytes(text.encode())
    assert made.validate_tokens(tokens) < len(tokens)
