"""The promise of the flow analysis (security.md 8.7): in a plan that it accepts, text from outside makes no difference
to which steps are done and to what is chosen for them. Proved by doing: every plan is run with different texts.

The worlds and the comparison are in `tests/support/flow_world.py`. They were there before the rules that they test: an
analysis without one of them is caught below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fdc_toolchain.rules import flow
from fdc_toolchain.rules.solver.flow import plan_files, plan_flow, touched
from fdc_toolchain.rules.solver.flow.bound_names import BoundNames
from fdc_toolchain.rules.solver.flow.file_taint import RUN
from fdc_toolchain.rules.solver.flow.labels import TRUSTED, Labels
from fdc_toolchain.rules.solver.flow.plan_files import PlanFiles
from fdc_toolchain.rules.solver.flow.plan_flow import PlanFlow
from fdc_toolchain.rules.solver.flow.summary import Name, merged
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import flows
from tests.support.profiles import share


@given(st.integers(0, 2**40))
@settings(max_examples=share(400))
def test_in_an_accepted_plan_text_from_outside_changes_nothing_that_is_done(seed: int) -> None:
    checked = flows.checked(flows.made(seed))
    if flows.accepted(checked):
        assert not flows.interferes(checked)


@given(st.integers(0, 2**40))
@settings(max_examples=share(200))
def test_what_failed_branches_say_changes_nothing_that_is_done(seed: int) -> None:
    """LGTM-38: the record of a failure that is kept holds what the failed step knew."""
    checked = flows.checked(flows.made(seed, kept=True))
    if flows.accepted(checked):
        assert not flows.interferes(checked)


@given(st.sampled_from(flows.AIMS), st.integers(0, 2**40))
@settings(max_examples=share(400))
def test_where_it_is_easily_forgotten_the_promise_is_kept_too(aim: str, seed: int) -> None:
    """A5, A6, A21, A26: whether a file is there, what a command can see, failures that are kept, answers under a condition."""
    checked = flows.checked(flows.aimed(seed, aim))
    if flows.accepted(checked):
        assert not flows.interferes(checked)


def test_an_answer_that_every_run_asks_for_is_free_and_nothing_else_of_these_is() -> None:
    """A26: what only looks as if a condition chose it is accepted, to the last plan."""
    for checked in map(flows.checked, (flows.aimed(seed, "clears") for seed in range(100))):
        assert flows.accepted(checked) != flows.interferes(checked)


TELLS = """\
# FSM: any.json
parts <- list_files d
found <- fork part in {{parts}} max 3 keep failures
  {look}
  yield {{part}}
for one in {{found}} max 9
  submit {{one.why}}
"""


@pytest.mark.parametrize(
    "look", ["page <- view_text_website https://e/", "call_plan leaf.plan p=x q=x"]
)
def test_the_reason_of_a_failure_is_text_of_what_the_branch_used(
    look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LGTM-38: it chooses nothing that the page itself may not choose; an analysis that forgets it breaks the promise.

    That there is a failure is a condition as well, which an analysis has to forget too."""
    leaf = "# FSM: any.json\nparam p\nparam q\nview_text_website https://e/{p}{q}\n"
    files = {"a.plan": TELLS.format(look=look), "leaf.plan": leaf}
    checked = flows.checked(files)
    assert not flows.accepted(checked) and flows.interferes(checked)
    monkeypatch.setattr(PlanFlow, "stop", lambda self, label: None)
    monkeypatch.setattr(
        PlanFlow, "fails", property(lambda self: TRUSTED, lambda self, label: None), raising=False
    )
    assert flows.accepted(flows.checked(files))


@pytest.mark.long
def test_the_promise_is_not_kept_by_refusing_everything() -> None:
    """A20: of plans in which no text from outside makes a difference nearly all are accepted, as far as that goes."""
    checked = map(flows.checked, map(flows.made, range(150)))
    accepted = [not flows.concerns_outside(one) for one in checked if not flows.interferes(one)]
    assert sum(accepted) / len(accepted) >= 0.85
    assert len(accepted) < 145


def _then(self: Any, one: Any, other: Any, choices: int) -> Any:
    return one or other


def _unasked(self: Any, one: Any, other: Any, choices: int) -> Any:
    return merged(one, other)


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "conditions do not count": (PlanFlow, "condition", lambda self, condition, at=None: TRUSTED),
    "files are forgotten": (PlanFiles, "write", lambda self, pattern, label: None),
    "what is filled in is forgotten": (BoundNames, "value", lambda self, value: TRUSTED),
}


FORGOTTEN: dict[str, tuple[str, Any, str, Any]] = {
    "who chose that a file is there": (
        "existence",
        PlanFiles,
        "touch",
        lambda self, pattern, label: None,
    ),
    "that a listing tells what is there": (
        "existence",
        PlanFiles,
        "exists",
        lambda self, pattern: TRUSTED,
    ),
    "that a kept failure is a condition": ("kept", PlanFlow, "stop", lambda self, label: None),
    "that a callee may fail, too": ("kept", flow, "kept", lambda units, keys: set()),
    "what only the other branch binds": ("clears", PlanFlow, "joined", _then),
    "what callees do": ("existence", Labels, "filled", lambda self, label, given: TRUSTED),
    "that it was asked because of a condition": ("clears", PlanFlow, "joined", _unasked),
    "what the service was given": ("own", BoundNames, "value", lambda self, value: TRUSTED),
    "who chose which of two a name is": (
        "own",
        PlanFlow,
        "joined",
        lambda self, one, other, choices: merged(one, other),
    ),
    "that only some fields are the service's own": (
        "own",
        BoundNames,
        "ref",
        lambda self, ref: (
            (found := self.names.get(ref.path[0]))
            and (found.inner if found.own else found.label)
            or TRUSTED
        ),
    ),
    "who chose which items there are": (
        "own",
        BoundNames,
        "items",
        lambda self, value: (
            (TRUSTED, self.names[self.refs(value)[0].path[0]])
            if self.refs(value)
            else (TRUSTED, Name(TRUSTED, None))
        ),
    ),
    "that a command executes what it sees": ("code", plan_flow, "executes", lambda node: False),
    "that only one folder is hidden": (
        "code",
        plan_files,
        "hidden",
        lambda pattern: pattern.begins.startswith(RUN),
    ),
    "that settings name files": ("named", PlanFiles, "of_others", lambda self, pattern, where: 0),
    "what a step opens to change it": ("named", plan_flow, "opened", lambda node: ()),
    "that a shell is not a data command": (
        "code",
        touched,
        "is_data_command",
        lambda value: value.text.startswith("cat"),
    ),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_an_analysis_can_forget_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A5, A6, A21, A26: each of these analyses accepts a plan that interferes."""
    aim, place, attribute, mistake = FORGOTTEN[name]
    monkeypatch.setattr(place, attribute, mistake)
    plans = map(flows.checked, (flows.aimed(seed, aim) for seed in range(400)))
    assert any(flows.accepted(one) and flows.interferes(one) for one in plans)


def _seeds() -> Iterator[dict[str, str]]:
    return (flows.made(seed) for seed in range(1200))


@pytest.mark.parametrize("name", MUTANTS)
def test_an_analysis_that_forgets_something_breaks_the_promise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle is worth something: each of these mistakes lets a plan through that interferes."""
    place, attribute, mistake = MUTANTS[name]
    monkeypatch.setattr(place, attribute, mistake)
    assert any(
        flows.accepted(one) and flows.interferes(one) for one in map(flows.checked, _seeds())
    )


def test_an_analysis_that_loses_needs_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    keep: Callable[..., Any] = PlanFlow.summary
    monkeypatch.setattr(PlanFlow, "summary", lambda self: keep(self)._replace(needs={}))
    assert any(
        flows.accepted(one) and flows.interferes(one) for one in map(flows.checked, _seeds())
    )
