"""The promise of the flow analysis (security.md 8.7): in a plan that it accepts, text from outside makes no difference
to which steps are done and to what is chosen for them. Proved by doing: every plan is run with different texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fdc_toolchain.analyses import flow
from fdc_toolchain.analyses.labels import TRUSTED, Labels
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import flows


@given(st.integers(0, 2**40))
@settings(max_examples=400)
def test_in_an_accepted_plan_text_from_outside_changes_nothing_that_is_done(seed: int) -> None:
    checked = flows.checked(flows.made(seed))
    if flows.accepted(checked):
        assert not flows.interferes(checked)


@given(st.integers(0, 2**40))
@settings(max_examples=200)
def test_what_failed_branches_say_changes_nothing_that_is_done(seed: int) -> None:
    """LGTM-38: the record of a failure that is kept holds what the failed step knew."""
    checked = flows.checked(flows.made(seed, kept=True))
    if flows.accepted(checked):
        assert not flows.interferes(checked)


TELLS = """\
# FSM: any.json
parts <- list_files d
found <- fork part in {{parts}} max 3 keep failures
  {look}
  yield {{part}}
for one in {{found}} max 9
  submit {{one.why}}
"""


@pytest.mark.parametrize("look", ["page <- view_text_website https://e/", "call_plan leaf.plan p=x q=x"])
def test_the_reason_of_a_failure_is_text_of_what_the_branch_used(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LGTM-38: it chooses nothing that the page itself may not choose; an analysis that forgets it breaks the promise."""
    leaf = "# FSM: any.json\nparam p\nparam q\nview_text_website https://e/{p}{q}\n"
    files = {"a.plan": TELLS.format(look=look), "leaf.plan": leaf}
    checked = flows.checked(files)
    assert not flows.accepted(checked) and flows.interferes(checked)
    monkeypatch.setattr(flow._Flow, "fails", property(lambda self: TRUSTED, lambda self, label: None), raising=False)
    assert flows.accepted(flows.checked(files))


def test_the_promise_is_not_kept_by_refusing_everything() -> None:
    """Of plans that use what they read, most are accepted, and of those refused most do interfere."""
    verdicts = [(flows.accepted(one), flows.interferes(one)) for one in map(flows.checked, map(flows.made, range(300)))]
    refused = [interferes for accepted, interferes in verdicts if not accepted]
    assert 0.4 < 1 - len(refused) / len(verdicts) < 0.9
    assert sum(refused) / len(refused) > 0.6


def _then(one: Any, other: Any) -> Any:
    return one or other


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "one branch is enough": (flow, "_merged", _then),
    "conditions do not count": (flow._Flow, "condition", lambda self, condition: TRUSTED),
    "files are forgotten": (flow._Flow, "write", lambda self, pattern, label: None),
    "callees are forgotten": (Labels, "filled", lambda self, label, given: TRUSTED),
    "what is filled in is forgotten": (flow._Flow, "value", lambda self, value: TRUSTED),
}


def _seeds() -> Iterator[dict[str, str]]:
    return (flows.made(seed) for seed in range(1200))


@pytest.mark.parametrize("name", MUTANTS)
def test_an_analysis_that_forgets_something_breaks_the_promise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle is worth something: each of these mistakes lets a plan through that interferes."""
    place, attribute, mistake = MUTANTS[name]
    monkeypatch.setattr(place, attribute, mistake)
    assert any(flows.accepted(one) and flows.interferes(one) for one in map(flows.checked, _seeds()))


def test_an_analysis_that_loses_needs_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    keep: Callable[..., Any] = flow._Flow.summary
    monkeypatch.setattr(flow._Flow, "summary", lambda self: keep(self)._replace(needs={}))
    assert any(flows.accepted(one) and flows.interferes(one) for one in map(flows.checked, _seeds()))
