"""The plan registry as a value, and the folder that counts as the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_toolchain.linking.project.root import find_root
from fdc_toolchain.linking.registry import name_fault, path_fault, places, read_registry

PATH = "knowledge_core/plan_registry.json"


def test_no_file_is_an_empty_registry() -> None:
    """FDC-40."""
    registry, findings = read_registry(None, PATH)
    assert ({}, [], None) == (dict(registry.entries), findings, registry.resolve("deep-research"))


def test_a_sound_registry_resolves_its_names_and_no_others() -> None:
    """FDC-40, FDC-41."""
    registry, findings = read_registry(
        b'{"deep-research": "plans/library/deep_research.plan"}', PATH
    )
    assert [] == findings
    assert ("plans/library/deep_research.plan", None) == (
        registry.resolve("deep-research"),
        registry.resolve("deep"),
    )


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "1:1", "the text ends"),
        ("{", "1:2", "the text ends"),
        ('{"a": "x.plan"', "1:15", "the text ends"),
        ('{\n  "a": "x.plan",\n  "a": "y.plan"\n}', "3:3", "`a` twice"),
        ('{\n  "a": "x.plan",\n}', "3:1", "expected a key"),
        ('{"a": 1}', "1:7", "`a` stands for a number"),
        ('{"a": null}', "1:7", "`a` stands for null"),
        ('{"a": {"b": "c"}}', "1:7", "`a` stands for an object"),
        ('{"a": ["b"]}', "1:7", "`a` stands for an array"),
        ('["a"]', "1:1", "expected an object of names and paths, found an array"),
        ('"a"', "1:1", "found a string"),
        ("null", "1:1", "found null"),
        ('{"a": NaN}', "1:7", "found `NaN`"),
        ('{"a": "/etc/passwd"}', "1:7", "absolute"),
        ('{"a": "C:/plans/x.plan"}', "1:7", "absolute"),
        ('{"a": "../x.plan"}', "1:7", "goes up"),
        ('{"a": "plans/../../x.plan"}', "1:7", "goes up"),
        ('{"a": "plans\\\\x.plan"}', "1:7", "backslash"),
        ('{"a": ""}', "1:7", "the path is empty"),
        ('{"a": "x\\u0000.plan"}', "1:7", "cannot be shown"),
        ('{"a": "x\\u001b[2J"}', "1:7", "`x\\u001b[2J`"),
        ('{"a": "\\ud800"}', "1:8", "half of a character"),
        ('{"\\u202e": "x.plan"}', "1:12", "`\\u202e`"),
        ('{"": "x.plan"}', "1:6", "the name `` is empty"),
        ('{"a": "x.plan"} trailing', "1:17", "after the end"),
        ("[" * 200_000, "1:65", "nested deeper than 64"),
        ('{"a": ' + "9" * 5_000 + "}", "1:7", "a number longer"),
    ],
)
def test_damage_is_found_with_its_place(text: str, place: str, words: str) -> None:
    """FDC-40: a damaged registry is reported, never silently empty."""
    _, findings = read_registry(text.encode(), PATH)
    assert [("FDC325", f"{PATH}:{place}")] == [(item.code, str(item.span)) for item in findings]
    assert words in findings[0].message


def test_bytes_that_are_not_utf_8_are_placed_by_characters() -> None:
    _, findings = read_registry('{\n "ä": "x'.encode() + b"\xff", PATH)
    assert [f"{PATH}:2:9"] == [str(item.span) for item in findings]
    assert "byte 0xff at offset 11" in findings[0].message


def test_all_damage_is_reported_and_the_sound_entries_are_kept() -> None:
    registry, findings = read_registry(
        b'{"a": 1, "b": "plans/b.plan", "c": "/c", "b": "plans/other.plan"}', PATH
    )
    assert {"b": "plans/b.plan"} == dict(registry.entries)
    assert 3 == len(findings)


def test_a_byte_order_mark_at_the_start_is_no_damage() -> None:
    registry, findings = read_registry(b'\xef\xbb\xbf{"a": "x.plan"}', PATH)
    assert ({"a": "x.plan"}, []) == (dict(registry.entries), findings)


def test_every_name_has_its_place() -> None:
    assert {"a": f"{PATH}:2:2", "b": f"{PATH}:3:2"} == {
        name: str(span) for name, span in places(b'{\n "a": "x",\n "b": "y"}', PATH).items()
    }


@pytest.mark.parametrize(
    "name", ["deep-research", "explore/track", "a", "Run.all_tests-2", "0", "a" * 100]
)
def test_a_plan_name_is_allowed(name: str) -> None:
    assert name_fault(name) is None


HOSTILE = [
    "", " ", "a b", "-a", "--help", ".", "..", "../a", "a/../b", "a//b", "/a", "a/", "a/.b", "a\\b", "a\nb", "a\0b",
    "{file1}", "$(id)", "`id`", "a;b", "a'b", 'a"b', "ä", "а", "a\u200bb", "a\u202eb", "\x1b[31m", "a" * 101, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_refused_in_one_printable_line(name: str) -> None:
    fault = name_fault(name)
    assert fault is not None and fault.isprintable()


@pytest.mark.parametrize(
    "path", ["a", "a/b.plan", "./a", "..a/b", "a..b", "with space/x.txt", "ünicode.plan"]
)
def test_a_path_inside_the_workspace_is_allowed(path: str) -> None:
    assert path_fault(path) is None


@pytest.mark.parametrize(
    "marker", ["knowledge_core/", "fdc.toml", "pyproject.toml", ".git/", ".git"]
)
def test_the_workspace_is_the_nearest_folder_with_a_marker(tmp_path: Path, marker: str) -> None:
    outer = tmp_path / "outer"
    (outer / "knowledge_core").mkdir(parents=True)
    inner = outer / "inner"
    deep = inner / "a" / "b"
    deep.mkdir(parents=True)
    if marker.endswith("/"):
        (inner / marker).mkdir()
    else:
        (inner / marker).write_text("[project]\n\n[tool.fdc.lint]\nx = 1\n", "utf-8")
    assert str(inner) == find_root(str(deep))


def test_a_project_that_does_not_speak_of_fdc_is_no_marker(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    (outer / "fdc.toml").write_text("", "utf-8")
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\n# [tool.fdc]\n', "utf-8")
    (inner / "knowledge_core").write_text("a file, not a folder", "utf-8")
    assert str(outer) == find_root(str(inner))


def test_without_a_marker_the_folder_itself_is_the_workspace(tmp_path: Path) -> None:
    assert os.path.abspath(tmp_path) == find_root(str(tmp_path))
