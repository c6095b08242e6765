"""The closure mandate: the last work step closes the task, at most a submit follows (FDC-10, C-06, C-09, FDC-18, T-12)."""

from __future__ import annotations

import itertools
import random

import pytest
from fdc_toolchain.check import Checked
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import findings, lint

CLOSE = "run_in_bash_session python3 tooling/fdc_cli.py close --task-id x"
STEPS = {"w": "plan_step_complete", "c": "close_task", "s": "submit", "m": 'message_user "x"'}

# refuses nothing, so that only the closure rule speaks
FREE = """\
{"states": ["S"], "start_state": "S", "accept_states": ["S"], "alphabet": ["step_op", "close_op", "submit_op", "tool_exec"],
 "transitions": {"S": {"step_op": "S", "close_op": "S", "submit_op": "S", "tool_exec": "S"}}}
"""
SETTINGS = Settings(fsm="free.json")


def unclosed(text: str, **more: str) -> list[str]:
    files = {
        "a.plan": text,
        "free.json": FREE,
        **{name.replace("_", "."): body for name, body in more.items()},
    }
    return [item.message for item in findings(lint(files, "a.plan", settings=SETTINGS), "FDC403")]


def absent(checked: Checked) -> list[Diagnostic]:
    """What is assumed of the script that closes; that its interpreter is there is assumed too, but elsewhere (FDC707)."""
    return [item for item in checked.assumptions if item.code == "FDC715"]


@pytest.mark.long
def test_a_word_is_closed_where_a_close_comes_last_or_a_submit_right_after_it():
    """Every word of up to five steps. No automaton notices a message, so it may follow a close; nothing follows a submit."""
    for length in range(1, 6):
        for word in itertools.product(STEPS, repeat=length):
            heard = "".join(letter for letter in word if letter != "m")
            closed = heard.endswith(("c", "cs")) and not "".join(word).partition("s")[2].strip("s")
            assert bool(unclosed("\n".join(STEPS[letter] for letter in word) + "\n")) != closed, (
                word
            )


def test_the_message_is_that_of_the_row():
    """FDC-10."""
    [message] = unclosed("plan_step_complete\n")
    assert "must end with the 'close' command" in message


STRICT = """\
{"states": ["S", "D"], "start_state": "S", "accept_states": ["D"], "alphabet": ["step_op", "close_op", "submit_op"],
 "transitions": {"S": {"step_op": "S", "close_op": "D", "submit_op": "S"}, "D": {"submit_op": "D"}}}
"""


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("plan_step_complete\n", ["FDC402"]),
        (f'if cited("x")\n  {CLOSE}\nelse\n  plan_step_complete\n', ["FDC402"]),
        ("iterate max 3\n  plan_step_complete\n", ["FDC402"]),
        ("call_plan b.plan\n", ["FDC402"]),
        # the automaton refuses a step of this run, and its shortest unaccepted end is another run's
        (f"{CLOSE}\nsubmit\nplan_step_complete\n", ["FDC401", "FDC403", "FDC403"]),
        (f'if cited("x")\n  {CLOSE}\n  submit\n  submit\nelse\n  {CLOSE}\n', ["FDC403"]),
    ],
)
def test_a_run_that_the_automaton_refuses_at_its_end_is_reported_once(
    text: str, codes: list[str]
) -> None:
    """FDC402 reports it, with the sentence of FDC-10 in its help."""
    files = {"a.plan": text, "b.plan": "plan_step_complete\n", "free.json": STRICT}
    found = findings(lint(files, "a.plan", settings=SETTINGS), "FDC401", "FDC402", "FDC403")
    assert codes == sorted(item.code for item in found)
    said = [item for item in found if "must end with the 'close' command" in f"{item.help}"]
    assert ["FDC402"] * codes.count("FDC402") == [item.code for item in said]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("set_plan\nplan_step_complete\n# that is all\n", "a.plan:2:1"),
        ("# a plan\nset_plan\nif true\n  plan_step_complete\n\n# one\n# two\n", "a.plan:3:1"),
    ],
)
def test_an_end_that_comes_too_early_is_the_last_statement_and_no_remark(
    text: str, place: str
) -> None:
    files = {"a.plan": text, "free.json": STRICT.replace('"step_op",', '"step_op", "plan_op",')}
    files["free.json"] = files["free.json"].replace('"S": {', '"S": {"plan_op": "S", ')
    [found] = findings(lint(files, settings=SETTINGS), "FDC402")
    assert str(found.span) == place


def test_a_run_that_closes_and_ends_too_early_has_no_sentence_about_the_close() -> None:
    ends = STRICT.replace('"accept_states": ["D"]', '"accept_states": ["E"]')
    ends = ends.replace('["S", "D"]', '["S", "D", "E"]').replace(
        '"submit_op": "D"}}', '"submit_op": "E"}}'
    )
    [found] = findings(
        lint({"a.plan": f"{CLOSE}\n", "free.json": ends}, settings=SETTINGS), "FDC402"
    )
    assert "close" not in f"{found.help}"


@pytest.mark.parametrize(
    ("command", "closes"),
    [
        (CLOSE, True),
        ("run_in_bash_session python3 tooling/fdc_cli.py close", True),
        ("run_in_bash_session fdc close --task-id x", True),
        ("run_in_bash_session python3 -m fdc_toolchain.cli.main close", True),
        ("run_in_bash_session TASK=x python3.11 ./tooling/fdc_cli.py --quiet close", True),
        ('run_in_bash_session "python3" "tooling/fdc_cli.py" "close"', True),
        ("run_in_bash_session echo close the door", False),
        ("run_in_bash_session echo python3 tooling/fdc_cli.py close", False),
        ("run_in_bash_session grep close tooling/fdc_cli.py", False),
        ("run_in_bash_session python3 tooling/fdc_cli.py analyze close", False),
        ("run_in_bash_session python3 tooling/fdc_cli.py close && rm -rf .", False),
        ("run_in_bash_session true; python3 tooling/fdc_cli.py close", False),
        ("run_in_bash_session python3 tooling/fdc_cli.pyc close", False),
        ("run_in_bash_session # python3 tooling/fdc_cli.py close", False),
        ("run_in_bash_session cat fdc close", False),
        ("close_task", True),
        ("close_task x", True),
    ],
)
def test_a_command_closes_where_it_is_that_program_and_nothing_else(command: str, closes: bool):
    """FDC-18: by parsed words, not by the word `close` in it (T-12); and more than that program is a command."""
    assert bool(unclosed(f"{command}\n")) != closes


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("close_task\nsubmit\nmessage_user bye\n", [3]),
        ('if cited("x")\n  submit\nmessage_user bye\nclose_task\n', [3, 4]),
        ("iterate max 2\n  message_user bye\n  close_task\n  submit\n", [2, 3]),
        ("iterate max 1\n  message_user bye\n  close_task\n  submit\n", []),
        ("iterate max 1\n  message_user bye\n  close_task\n  submit\nmessage_user bye\n", [5]),
        ("close_task\nsubmit\ncall_plan b.plan\n", [3]),
        ("close_task\ncall_plan c.plan\nsubmit\n", []),
        ("call_plan d.plan\nsubmit\nmessage_user bye\nclose_task\n", [3, 4]),
        ("call_plan d.plan\nmessage_user bye\nclose_task\nsubmit\n", []),
        ("if false\n  submit\nmessage_user bye\nclose_task\nsubmit\n", []),
        ("message_user bye\nclose_task\nmessage_user bye\nsubmit\n", []),
    ],
)
def test_nothing_follows_a_submit(text: str, lines: list[int]) -> None:
    """Finding A15: a message could, since no automaton notices it. A callee with an automaton of its own submits its own work."""
    called = {
        "b.plan": "message_user hi\n",
        "c.plan": "submit\n",
        "d.plan": "use fsm free.json\nclose_task\nsubmit\n",
    }
    files = {"a.plan": text, "free.json": FREE, **called}
    found = findings(lint(files, "a.plan", settings=SETTINGS), "FDC403")
    assert lines == [
        item.span.line
        for item in found
        if "comes after `submit`" in item.message and item.span.path == "a.plan"
    ]


def test_a_called_plan_that_submits_is_named_once() -> None:
    """Each step behind the call was reported, with the advice to move it before a close that stands in another file."""
    files = {
        "a.plan": "call_plan c.plan\nmessage_user bye\nclose_task\n",
        "c.plan": "submit\n",
        "free.json": FREE,
    }
    found = findings(lint(files, "a.plan", settings=SETTINGS), "FDC403")
    [item] = [one for one in found if "comes after" in one.message]
    assert item.span.line == 2 and "the `submit` of `c.plan`" in item.message
    assert item.help and "from `c.plan`" in item.help


def test_a_close_by_a_script_that_is_not_there_is_an_assumption() -> None:
    """Finding A15: it was proved without a word, and the run failed at its last step."""
    files = {"a.plan": f"{CLOSE}\n", "free.json": FREE}
    [item] = absent(lint(files, settings=SETTINGS))
    assert item.span.line == 1 and "tooling/fdc_cli.py" in item.message
    assert not absent(lint(files, settings=SETTINGS, there=["tooling/fdc_cli.py"]))
    assert not absent(
        lint({**files, "a.plan": "run_in_bash_session fdc close --task-id x\n"}, settings=SETTINGS)
    )
    [unclosed] = findings(
        lint({"a.plan": "plan_step_complete x\n", "free.json": FREE}, settings=SETTINGS), "FDC403"
    )
    assert unclosed.help == "end with `close_task`, then `submit`"


def test_closing_in_some_runs_only_is_not_closing():
    assert unclosed(f'if cited("x")\n  {CLOSE}\n')
    assert unclosed(f"for_each_file *\n  {CLOSE}\n")
    assert unclosed(f'for x in "y" max 2\n  {CLOSE}\n')
    assert not unclosed(f'if cited("x")\n  {CLOSE}\nelse\n  {CLOSE}\n')
    assert not unclosed(f"iterate max 3\n  plan_step_complete\n  {CLOSE}\n")
    assert not unclosed(f"if true\n  {CLOSE}\n")
    assert unclosed(f"{CLOSE}\nfor_each_file *\n  plan_step_complete\n")


def test_a_fragment_may_close_for_its_caller():
    assert not unclosed("call_plan b.plan\n", b_plan=f"plan_step_complete\n{CLOSE}\n")
    assert unclosed(f"{CLOSE}\ncall_plan b.plan\n", b_plan="plan_step_complete\n")


def test_a_cycle_of_its_own_closes_for_itself():
    """A sub-plan with an automaton is a nested cycle: what it closes is its own task."""
    assert unclosed("call_plan b.plan\n", b_plan=f"use fsm free.json\n{CLOSE}\n")
    assert not unclosed(
        f"{CLOSE}\ncall_plan b.plan\n", b_plan=f"use fsm free.json\nplan_step_complete\n{CLOSE}\n"
    )


def test_nothing_is_asked_where_the_automaton_knows_no_close():
    """C-09."""
    assert not findings(lint("plan_step_complete\n"), "FDC403")


def test_the_trace_is_the_shortest_run_that_ends_open():
    files = {
        "free.json": FREE,
        "a.plan": f'plan_step_complete\nif cited("x")\n  {CLOSE}\nelse\n  submit\n',
    }
    [found] = findings(lint(files, settings=SETTINGS), "FDC403")
    assert [(label.span.line, label.message) for label in found.trace] == [
        (1, "open -> open"), (2, "(does not hold)"), (5, "open -> open"),
    ]  # fmt: skip


def test_the_verdict_is_that_of_every_run_of_random_plans():
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        lines: list[str] = []
        words = {""}
        for _ in range(rng.randint(1, 5)):
            kind = rng.random()
            letter = rng.choice("wwccs")
            if kind < 0.5:
                lines.append(STEPS[letter])
                words = {word + letter for word in words}
            elif kind < 0.75:
                other = rng.choice("wwccs")
                lines += ['if cited("x")', f"  {STEPS[letter]}", "else", f"  {STEPS[other]}"]
                words = {word + each for word in words for each in (letter, other)}
            else:
                lines += ["for_each_file *", f"  {STEPS[letter]}"]
                words = {word + letter * times for word in words for times in range(4)}
        closed = all(
            word.endswith(("c", "cs")) and not word.partition("s")[2].strip("s") for word in words
        )
        assert bool(unclosed("\n".join(lines) + "\n")) != closed, lines
        compared += closed
    assert compared > 30
