"""The tables in tests/README.md name tests that exist: the four sentences of a verdict, the fifteen failure tests, each of
which says its number, and the rows of the threat table that concern running."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.repository import ROOT

ROW = re.compile(r"^\| (\d+) \| [^|]+ \| (.+) \|$", re.M)
THREAT = re.compile(r"^\| ([a-z' ]+) \| [^|]+ \| (`(?:unit|fault|cli|property)/.+) \|$", re.M)
SENTENCE = re.compile(r"^\| (Safety|Noninterference|Cost|Agreement) \| [^|]+ \| (.+) \|$", re.M)
SAID = re.compile(r"[Ff]ailure tests? (\d+(?:(?:, | and )\d+)*)")


def rows() -> dict[int, list[str]]:
    text = (ROOT / "tests" / "README.md").read_text("utf-8")
    return {int(number): re.findall(r"`([^`]+)`", tests) for number, tests in ROW.findall(text)}


def numbers(test: str) -> set[int]:
    """The numbers that a test, or the module that it stands in, says of itself. Raises KeyError where the test does not exist."""
    path, name = test.split("::")
    module = ast.parse((ROOT / "tests" / path).read_text("utf-8"))
    found = {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}
    said = f"{ast.get_docstring(module)} {ast.get_docstring(found[name])}"
    return {int(number) for group in SAID.findall(said) for number in re.findall(r"\d+", group)}


def test_every_one_of_the_fifteen_has_tests_and_they_know_it() -> None:
    assert list(range(1, 16)) == list(rows())
    for number, tests in rows().items():
        assert tests
        for test in tests:
            assert number in numbers(test), f"{test} does not say that it is failure test {number}"


def test_a_test_that_is_not_there_is_noticed() -> None:
    with pytest.raises(KeyError):
        numbers("fault/test_soak.py::test_that_nobody_wrote")
    assert 14 not in numbers("fault/test_soak.py::test_a_long_run_costs_the_same_for_every_step")


def test_every_threat_to_a_run_has_tests_that_are_there() -> None:
    """Issue 4: every row of the threat table that concerns running is a test."""
    text = (ROOT / "tests" / "README.md").read_text("utf-8")
    found = {row: re.findall(r"`([^`]+)`", tests) for row, tests in THREAT.findall(text)}
    assert 16 == len(found)
    for tests in found.values():
        for test in tests:
            numbers(test)


def test_every_sentence_of_a_verdict_has_tests_that_are_there() -> None:
    """docs/verdicts.md, "What is promised"."""
    promised = re.findall(
        r"^\d\. \*\*(\w+)\.\*\*", (ROOT / "docs" / "verdicts.md").read_text("utf-8"), re.M
    )
    rows_ = SENTENCE.findall((ROOT / "tests" / "README.md").read_text("utf-8"))
    found = {row: re.findall(r"`([^`]+)`", tests) for row, tests in rows_}
    assert promised == list(found)
    for tests in found.values():
        for test in tests:
            numbers(test)
