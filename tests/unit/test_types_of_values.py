"""A value beside the type that a catalogue declares: what does not fit is named, by its first part."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fdc_toolchain.linking.types import NULL, misfit, parsed

from tests.support import repository


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("any", None), ("value", 0), ("text", ""), ("text", "3"), ("number", 2.5), ("boolean", False), ("null", None),
        ("list[text]", []), ("list", [1, None]), ("list[number]", [1, 2]), ("object", {"a": 1}),
        ("object{a: text, b: any}", {"a": "x"}), ("object{a: text}", {"a": "x", "more": 1}),
        ("list[object{a: list[any]}]", [{"a": [None]}]), ("text?", None), ("list[object{a: number?}]?", [{}]), ("number?", 1),
    ],
)  # fmt: skip
def test_what_fits(kind: str, value: Any) -> None:
    assert misfit(value, parsed(kind)) is None


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("text", None, "it is null, not text"),
        ("number", "3", "it is text, not a number"),
        ("number", True, "it is true or false, not a number"),
        ("value", None, "it is null, not true or false or a number or text or a list or an object"),
        ("list[text]", ["a", 3], "`[1]` is a number, not text"),
        ("object{a: text}", {}, "`a` is null, not text"),
        (
            "list[object{a: object{b: number}}]",
            [{"a": {"b": 1}}, {"a": {"b": "x"}}],
            "`[1].a.b` is text, not a number",
        ),
    ],
)
def test_what_does_not_fit_is_named(kind: str, value: Any, said: str) -> None:
    assert misfit(value, parsed(kind)) == said


def test_a_field_that_a_models_answer_need_not_have_may_be_null() -> None:
    """The schema of a prompt says what an answer must have; the catalogue may not say more of the result."""
    wrong, seen = [], 0
    for path in repository.catalogues():
        for name, row in json.loads(path.read_text("utf-8"))["tools"].items():
            schema = row.get("run", {}).get("schema")
            result = row.get("result")
            if schema is None or not isinstance(result, dict):
                continue
            seen += 1
            must = json.loads(repository.shipped(schema).read_text("utf-8")).get("required", [])
            must += ["calls"] if "calls" in row["run"] else []
            wrong += [
                (name, key)
                for key, kind in result.items()
                if key not in must and not parsed(kind).kinds & NULL
            ]
    assert seen > 5 and wrong == []
