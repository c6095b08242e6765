"""Values that a run makes have a most: a text, and what a loop or a fork collects."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.engine import values
from fdc_toolchain.program.causes import explain

from tests.support.engine import done
from tests.support.programs import give, loop, step

XS: dict[str, Any] = {"xs": ["12345", "67890"]}


@pytest.mark.parametrize(
    ("body", "what", "at"),
    [
        ([step("note", value="{xs}{xs}")], "text", "main/1"),
        ([step("note", value="{xs}!")], "text", "main/1"),
        ([loop("for", "x", "{xs}", give("{x}{x}"), bind="got")], "list", "main/1[2]"),
        ([loop("fork", "x", "{xs}", give("{x}{x}"), bind="got")], "list", "main/1"),
        ([loop("fork", "x", "{xs}", give("{xs}"), bind="got")], "list", "main/1"),
    ],
)
def test_what_is_longer_stops_the_run_with_the_cause_limit(
    monkeypatch: pytest.MonkeyPatch, body: list[dict[str, Any]], what: str, at: str
) -> None:
    monkeypatch.setattr(values, "MOST_TEXT", 17)
    ending, works = done(*body, given=XS)
    assert ending.status == "stopped" and ending.stop is not None and not works.calls
    said = f"the {what} would have more than 17 characters"
    assert (ending.stop.kind, ending.stop.message, ending.stop.address) == ("bound", said, at)
    assert ending.stop.failure == "size"
    assert explain({}, ending.stop._asdict()) == {"kind": "limit"}


def test_what_is_as_long_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_TEXT", 17)
    body = loop("for", "x", "{xs}", give("{x}"), bind="got"), step("note", value="{got}")
    ending, works = done(*body, step("note", value="{xs.none}1234567890123"), given=XS)
    assert ending.status == "finished" and len(works.calls) == 2
