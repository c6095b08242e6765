"""Catalogues: what is wrong with one is said at its place, and a bad one never brings the linter down (C-10, security 5)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from fdc_toolchain.linking.catalogue import read_catalogue
from fdc_toolchain.linking.catalogue_check import explain
from fdc_toolchain.linking.project.settings import Settings

from tests.support import repository
from tests.support.linting import findings, lint, places

TOOL: dict[str, Any] = {
    "summary": "x", "action": "read_op", "effect": "pure", "trust": "trusted",
    "parameters": [{"name": "page", "kind": "word"}],
}  # fmt: skip


def catalogue(**tools: Any) -> str:
    return json.dumps({"format": 1, "name": "own", "tools": tools}, indent=1)


def wrong(text: str | bytes) -> list[tuple[int, int, str]]:
    """(line, column, message) of what is wrong with this catalogue."""
    data = text.encode() if isinstance(text, str) else text
    found = read_catalogue(["own.json"], {"own.json": data}.get)[1]
    assert all(item.span.path == "own.json" for item in found)
    return [(item.span.line, item.span.column, item.message) for item in found]


def at(text: str, needle: str) -> tuple[int, int]:
    """Where a piece of the text stands."""
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def test_the_shipped_catalogues_have_no_fault():
    for path in repository.catalogues():
        assert [] == explain(path.read_bytes(), path.name, frozenset(), {})


def test_a_tool_of_the_workspace_is_one_like_any_other():
    files = {
        "fdc_tools.json": catalogue(open_page=TOOL),
        "a.plan": "open_page x\nopen_page\nopen_pag x\n",
    }
    found = findings(lint(files))
    assert [(item.span.line, item.code) for item in found] == [(2, "FDC302"), (3, "FDC301")]
    assert found[1].help == "did you mean `open_page`?"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", (1, 1), "the catalogue is not JSON"),
        ("{", (1, 2), "the catalogue is not JSON"),
        ('{\n "format": 1,\n "name" "x"\n}', (3, 9), "the catalogue is not JSON"),
        ('{"format": 1, "name": "x", "tools": {}, }', (1, 41), "the catalogue is not JSON"),
        ('{"format": NaN, "name": "x", "tools": {}}', (1, 12), "the catalogue is not JSON"),
        ("[]", (1, 1), "the catalogue is []; expected an object"),
        ("null", (1, 1), "the catalogue is null; expected an object"),
        ('{"format": 2, "name": "x", "tools": {}}', (1, 2), "`format` is 2; expected 1"),
        (
            '{"format": 1, "name": "X x", "tools": {}}',
            (1, 15),
            '`name` is "X x"; expected a text like',
        ),
        ('{"format": 1, "tools": {}}', (1, 1), "the catalogue lacks `name`"),
        (
            '{"format": 1, "name": "x", "tools": [],\n "tols": {}}',
            (2, 2),
            "unknown key `tols` in the catalogue",
        ),
    ],
)
def test_what_is_no_catalogue_is_told_where_it_goes_wrong(
    text: str, place: tuple[int, int], message: str
):
    assert any((line, column) == place and message in said for line, column, said in wrong(text)), (
        wrong(text)
    )


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe{}", b'{"format": 1, "name": "\xff", "tools": {}}', b"\0", "{}".encode("utf-16")],
)
def test_bytes_that_are_no_text_are_told_as_such(data: bytes):
    found = read_catalogue(["own.json"], {"own.json": data}.get)[1]
    assert found[0].code == "FDC101"
    assert found[0].span.path == "own.json"


def test_a_mark_at_the_start_and_other_line_ends_do_no_harm():
    text = catalogue(open_page=TOOL)
    for data in (b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n").encode()):
        for _ in range(2):
            found, problems = read_catalogue(["own.json"], {"own.json": data}.get)
            assert problems == []
            assert "open_page" in found.tools


def test_a_tool_that_is_declared_twice_is_told_and_neither_wins():
    """Security 5: of two equal keys, JSON's readers take one in silence."""
    rows = f' "t": {json.dumps(TOOL)},\n "t": {json.dumps({**TOOL, "action": None})}'
    text = '{"format": 1, "name": "x", "tools": {\n' + rows + "}}"
    [(line, column, message)] = wrong(text)
    assert (line, column) == (3, 2)
    assert "`t`" in message
    assert "FDC301" in {
        item.code for item in findings(lint({"fdc_tools.json": text, "a.plan": "t x\n"}))
    }


def test_a_built_in_tool_cannot_be_declared_anew():
    text = catalogue(mine=TOOL, read_file=TOOL)
    [(line, column, message)] = wrong(text)
    assert (line, column) == at(text, '"read_file"')
    assert message == "`read_file` is a built-in tool; give this one another name"


def test_two_catalogues_of_a_workspace_may_not_both_declare_a_tool():
    files = {"one.json": catalogue(t=TOOL), "two.json": catalogue(u=TOOL, t=TOOL)}
    found = read_catalogue(files, lambda name: files[name].encode())[1]
    assert [(item.span.path, item.message) for item in found] == [
        ("two.json", "`t` is declared in `one.json` already; give one of the two another name")
    ]


def takes(*parameters: tuple[str, str]) -> dict[str, Any]:
    return {"parameters": [{"name": name, "kind": kind} for name, kind in parameters]}


NOBODY = {"when": {"parameter": "x", "program": "p"}}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    # what is wrong: (what replaces rows of TOOL, where, what is said)
    "lacks a row": ({"summary": None}, '"t"', "`tools.t` lacks `summary`"),
    "row of another kind": ({"parameters": {}}, '"parameters"', "`tools.t.parameters` is {}; expected a list"),
    "unknown row": ({"sumary": "x"}, '"sumary"', "unknown key `sumary` in `tools.t`"),
    "unknown effect": ({"effect": "pur"}, '"effect"', '`tools.t.effect` is "pur"; expected one of'),
    "action that is not a symbol": ({"action": "Read Op"}, '"action"', '`tools.t.action` is "Read Op"; expected a text like'),
    "unknown kind": (takes(("a", "words")), '"kind"', "expected one of word, path"),
    "two of one name": (
        {"parameters": [{"name": "a", "kind": "word"}, {"kind": "word", "name": "a"}]},
        '"name": "a"\n    }\n', "two parameters are called `a`",
    ),
    "something after the rest": (takes(("a", "rest"), ("b", "word")), '"name": "a"', "nothing on the line can follow it"),
    "two blocks": (takes(("a", "block"), ("b", "block")), '"name": "b"', "only one parameter can be it"),
    "required after optional": (
        {"parameters": [{"name": "a", "kind": "word", "required": False}, {"name": "b", "kind": "word"}]},
        '"name": "b"', "the optional `a` stands before it",
    ),
    "access to no file": (
        {"parameters": [{"name": "a", "kind": "number", "access": "read"}]}, '"access"', "`a` names no file: it is a number",
    ),
    "need of no parameter": ({"need_one_of": ["pag"]}, '"pag"', "the parameter `pag` does not exist"),
    "choice by no parameter": ({"actions": [{**NOBODY, "action": None}]}, '"parameter": "x"', "the parameter `x` does not exist"),
    "refusal by no parameter": ({"refuse": [{**NOBODY, "why": "w"}]}, '"parameter": "x"', "the parameter `x` does not exist"),
    "negative cost": ({"cost": {"tokens": -1}}, '"tokens"', "`tools.t.cost.tokens`"),
    "unknown result": ({"result": "texts"}, '"result"', "`tools.t.result`"),
    "unknown result field": ({"result": {"a": "texts"}}, '"a"', '`tools.t.result.a` is "texts"; expected one of'),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_in_a_tool_is_told_at_its_place(name: str):
    change, needle, message = BAD[name]
    text = catalogue(
        t={
            key: value
            for key, value in {**TOOL, **change}.items()
            if value is not None or key == "action"
        }
    )
    found = wrong(text)
    assert len(found) == 1, found
    line, column, said = found[0]
    assert message in said
    expected = at(text, needle)
    assert line == expected[0]
    assert column == expected[1]


def test_a_name_that_is_none_is_told():
    found = wrong(catalogue(**{"bad name": TOOL}))
    assert [message for _, _, message in found if "bad name" in message]


def test_all_mistakes_are_told_at_once():
    text = catalogue(t={**TOOL, "effect": "x", "trust": "y"}, u={})
    messages = " ".join(message for _, _, message in wrong(text))
    for word in ("effect", "trust", "`tools.u` lacks `summary`", "`tools.u` lacks `parameters`"):
        assert word in messages


def test_the_tool_of_a_wrong_row_is_known_and_the_plan_still_judged():
    files = {
        "fdc_tools.json": catalogue(t={**TOOL, "effect": "x"}),
        "a.plan": "t x\nread_file gone\n",
    }
    assert places(lint(files)) == [("a.plan", 2, "FDC411"), ("fdc_tools.json", 8, "FDC308")]


def test_a_catalogue_that_the_settings_name_must_be_there():
    settings = Settings(fsm="any.json", catalogues=("own.json",), stated_catalogues=True)
    [found] = findings(lint("set_plan\n", settings=settings))
    assert (found.code, found.message) == ("FDC308", "the catalogue `own.json` does not exist")
    assert not findings(lint("set_plan\n")), "the one that no one named need not be"


@pytest.mark.parametrize("depth", [65, 5_000, 200_000])
def test_a_catalogue_nested_without_end_is_refused(depth: int):
    """Security 5: no JSON exhausts the stack."""
    found = wrong(
        '{"format": 1, "name": "x", "tools": ' + '{"a": ' * depth + "1" + "}" * depth + "}"
    )
    assert found
    assert found[0][0] == 1


def test_nothing_that_is_put_into_a_catalogue_makes_it_raise():
    """Random damage to a good one: findings at places that are in it, or none at all."""
    rng = random.Random(7)
    good = catalogue(
        t={**TOOL, "result": {"a": "text"}, "cost": {"tokens": 1}},
        u={**TOOL, "need_one_of": ["page"]},
    )
    pieces = (
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "1e999",
        "-",
        "\\",
        "\\ud800",
        "\u202e",
        "true",
        '"a"',
        "",
        "9" * 500,
    )
    bad = 0
    for _ in range(400):
        text = good
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice(pieces) + text[place + rng.choice((0, 1, 5)) :]
        lines = text.split("\n")
        found = wrong(text)
        bad += bool(found)
        for line, column, message in found:
            assert 1 <= line <= len(lines), message
            assert 1 <= column <= len(lines[line - 1]) + 1, message
    assert bad > 300
