"""No renderer ever raises, and none lets a hostile text out: any findings, any texts, spans anywhere."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from functools import cache
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from fdc_toolchain.diagnostics.codes import CODES
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.report import sarif
from fdc_toolchain.report.render import FORMATS, render
from fdc_toolchain.report.terminal import excerpt, terminal_text
from fdc_toolchain.report.terminal.style import Style
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft202012Validator
from jsonschema.protocols import Validator

from tests.support import findings, workflow_commands
from tests.support.repository import ROOT

few = settings(max_examples=max(40, settings.default.max_examples // 2))
"""What renders every format is slow to make up; the soak run still goes far."""

items = st.lists(findings.diagnostics, max_size=3)


def of(found: list[Diagnostic], *severities: str) -> list[Diagnostic]:
    """Those of these severities; an assumption and a fragment are results, not findings."""
    return [item for item in found if item.severity in severities]


FINDINGS = ("error", "warning", "info")


@cache
def schema(path: str, kind: type[Validator] = Draft202012Validator, part: str = "") -> Validator:
    document = json.loads((ROOT / path).read_text("utf-8"))
    if part:
        document["$ref"] = part
    return kind(document)


@given(
    items, findings.sources, st.builds(Style, st.booleans(), st.sampled_from([0, 1, 20, 80, 200]))
)
@few
def test_every_format_renders_anything_as_valid_utf_8(
    found: list[Diagnostic], sources: dict[str, str], style: Style
) -> None:
    for form in FORMATS:
        text = render(form, found, sources.get, style=style, files_checked=len(sources))
        text.encode("utf-8")
        assert text == render(form, found, sources.get, style=style, files_checked=len(sources))
        assert text.endswith("\n") or not found


@given(items, findings.sources, st.sampled_from([0, 80]))
@few
def test_nothing_hidden_reaches_a_terminal(
    found: list[Diagnostic], sources: dict[str, str], width: int
) -> None:
    for form in FORMATS:
        text = render(form, found, sources.get, style=Style(width=width), files_checked=1)
        assert set() == {c for c in text if c != "\n" and not c.isprintable() and c != "\u3000"}, (
            form
        )


@given(items, findings.sources)
@few
def test_colours_add_only_colours(found: list[Diagnostic], sources: dict[str, str]) -> None:
    for form in ("text", "concise"):
        plain = render(form, found, sources.get, style=Style(False, 80))
        assert plain == re.sub(
            "\x1b\\[[0-9;]*m", "", render(form, found, sources.get, style=Style(True, 80))
        )


@given(items)
@few
def test_concise_is_one_line_a_finding(found: list[Diagnostic]) -> None:
    """One more line says the verdict, where there is nothing but assumptions and fragments."""
    verdict = 1 if found and not of(found, *FINDINGS) else 0
    listed = render("concise", found, {}.get, assumptions=True).splitlines()
    assert len(found) + verdict == len(listed)
    short = render("concise", found, {}.get).splitlines()
    assert len(of(found, *FINDINGS, "fragment")) + verdict == len(short)


@given(items, findings.sources)
@few
def test_no_text_of_a_user_becomes_a_command_of_the_ci_runner(
    found: list[Diagnostic], sources: dict[str, str]
) -> None:
    for form in FORMATS:
        log = render(form, found, sources.get)
        commands = [line for line in workflow_commands.lines(log) if workflow_commands.read(line)]
        assert len(commands) == (len(of(found, *FINDINGS)) if form == "github" else 0), form


@given(items)
@few
def test_a_github_annotation_says_what_the_finding_says(found: list[Diagnostic]) -> None:
    log = render("github", found, {}.get, files_checked=2)
    *commands, summary, end = workflow_commands.lines(log)
    assert end == "" and workflow_commands.read(summary) is None
    found = of(found, *FINDINGS)
    assert len(found) == len(commands)
    for item, line in zip(found, commands, strict=True):
        read = workflow_commands.read(line)
        assert read is not None
        assert {"error": "error", "warning": "warning", "info": "notice"}[
            item.severity
        ] == read.name
        assert (terminal_text.visible(item.span.path) or None) == read.properties.get("file")
        assert f"{item.code} {item.rule}" == read.properties["title"]
        help_ = (
            ""
            if item.help is None
            else "\n" + "\n".join(terminal_text.visible(part) for part in item.help.split("\n"))
        )
        message = "\n".join(terminal_text.visible(part) for part in item.message.split("\n"))
        assert message + help_ == read.data
        line_, end_line = int(read.properties["line"]), int(read.properties["endLine"])
        assert 1 <= line_ <= end_line
        if line_ == end_line:
            assert 1 <= int(read.properties["col"]) <= int(read.properties["endColumn"])
        else:  # the runner refuses columns that are not in one line
            assert "col" not in read.properties and "endColumn" not in read.properties


@given(items)
@few
def test_json_follows_its_schema_and_keeps_every_word(found: list[Diagnostic]) -> None:
    document = json.loads(render("json", found, {}.get, files_checked=7))
    schema("grammar/diagnostics.schema.json").validate(document)
    for key, severities in {
        "diagnostics": FINDINGS,
        "assumptions": ("assumption",),
        "fragments": ("fragment",),
    }.items():
        said = of(found, *severities)
        assert [whole(item.message) for item in said] == [row["message"] for row in document[key]]
        assert [[whole(step.message.lstrip(" ")) for step in item.trace] for item in said] == [
            [step["message"] for step in row["trace"]] for row in document[key]
        ]
    assert 7 == document["summary"]["files"]
    assert len(of(found, *FINDINGS)) == sum(
        document["summary"][key] for key in ("errors", "warnings", "infos")
    )
    assert len(of(found, "assumption")) == document["summary"]["assumptions"]


@given(items)
@few
def test_jsonl_is_the_same_findings_a_line_each(found: list[Diagnostic]) -> None:
    rows = [json.loads(line) for line in render("jsonl", found, {}.get).splitlines()]
    validator = schema("grammar/diagnostics.schema.json", part="#/$defs/line")
    for row in rows:
        validator.validate(row)
    whole_ = json.loads(render("json", found, {}.get))
    for kind in ("diagnostic", "assumption", "fragment"):
        assert whole_[kind + "s"] == [
            {key: value for key, value in row.items() if key not in ("format", "kind")}
            for row in rows
            if row["kind"] == kind
        ]
    assert whole_["summary"] == {
        key: value for key, value in rows[-1].items() if key not in ("format", "kind")
    }


def whole(text: str) -> str:
    """The text without halves of surrogate pairs, as this test understands it."""
    if re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@given(items, findings.sources)
@example(findings.SAMPLE, findings.SAMPLE_TEXTS)
@few
def test_sarif_follows_the_official_schema(
    found: list[Diagnostic], sources: dict[str, str]
) -> None:
    log = json.loads(render("sarif", found, sources.get))
    schema("tests/support/sarif-2.1.0.schema.json", Draft4Validator).validate(log)
    results = log["runs"][0]["results"]
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [item.code for item in found] == [result["ruleId"] for result in results]
    assert [item.code for item in found] == [rules[result["ruleIndex"]]["id"] for result in results]
    for region in _regions(log):
        start = region["startLine"], region.get("startColumn", 1)
        assert start <= (region["endLine"], region.get("endColumn", 10**12))


def _regions(value: Any) -> list[dict[str, int]]:
    if isinstance(value, dict):
        own = [value] if "startLine" in value else []
        return own + [region for item in value.values() for region in _regions(item)]
    return (
        [region for item in value for region in _regions(item)] if isinstance(value, list) else []
    )


@given(st.one_of(findings.texts, st.sampled_from(findings.PATHS)))
def test_a_uri_is_a_uri_and_gives_the_path_back(path: str) -> None:
    found = sarif.uri(path)
    assert re.fullmatch(r"(file://)?[A-Za-z0-9/_.~%-]+", found), found
    back = unquote_to_bytes(found.removeprefix("file://"))
    if path and not path.startswith("./") and "\\ud" not in ascii(path):
        assert path.encode("utf-8") == back


@given(items)
@few
def test_junit_is_xml_with_a_failure_for_each_error(found: list[Diagnostic]) -> None:
    tree = xml.fromstring(render("junit", found, {}.get, files_checked=1).encode("utf-8"))
    errors, found = len(of(found, "error")), of(found, *FINDINGS)
    assert [errors] * 3 == [
        len(tree.findall(".//failure")), int(tree.attrib["failures"]), sum(int(s.attrib["failures"]) for s in tree),
    ]  # fmt: skip
    cases = tree.findall(".//testcase")
    assert (
        max(1, len(found))
        == len(cases)
        == int(tree.attrib["tests"])
        == sum(int(s.attrib["tests"]) for s in tree)
    )
    by_path: dict[str, list[Diagnostic]] = {}
    for item in found:
        by_path.setdefault(item.span.path, []).append(item)
    for item, case in zip(
        [item for group in by_path.values() for item in group], cases, strict=False
    ):
        said = "".join(case.itertext())
        assert terminal_text.visible(item.message) in said


SAFE = "abc déf 日本\t{x} \u0301\u202e\x1b😀"


@given(st.text(st.sampled_from(SAFE), max_size=60), st.data())
def test_carets_stand_under_exactly_what_the_span_covers(line: str, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(line)))
    right = data.draw(st.integers(left, len(line)))
    span = Span("p", 1, left + 1, 1, right + 1)
    text = render(
        "text", [Diagnostic(span, "FDC301", "x")], {"p": line}.get, style=Style(width=1000)
    )
    rows = text.split("\n")
    shown, carets = rows[3], rows[4]
    assert (
        shown == ("1 | " + "".join(piece for piece, _ in terminal_text.cells(line))).rstrip()
        or not line.strip()
    )
    widths = [width for _, width in terminal_text.cells(line)]
    assert 4 + sum(widths[:left]) == carets.index("^")
    assert max(1, sum(widths[left:right])) == carets.count("^")


@given(
    st.builds(lambda text, times: text * times, st.text(st.sampled_from(SAFE), max_size=40), st.integers(1, 80)),
    st.integers(0, 3000), st.integers(0, 200), st.integers(20, 120),
)  # fmt: skip
def test_a_window_is_never_wider_than_its_room_and_shows_where_the_mark_begins(
    line: str, left: int, size: int, room: int
) -> None:
    left = min(left, len(line))
    right = min(left + size, len(line))
    shown, place = excerpt._window(line, left, right, room)
    assert terminal_text.columns(shown.replace("\t", " ")) <= room
    assert 0 <= place(left) <= place(right) <= room
    if (
        left < len(line)
        and "\u0301" not in line
        and line[left].isprintable()
        and not line[left].isspace()
    ):
        rest = "".join(piece for piece, _ in terminal_text.cells(shown))
        at = sum(1 for _ in _taken(rest, place(left)))
        assert rest[at:].startswith(line[left])


def _taken(text: str, width: int) -> list[str]:
    out: list[str] = []
    for piece, size in terminal_text.cells(text):
        if width <= 0:
            break
        width -= size
        out.append(piece)
    return out


def test_every_code_renders_in_every_format() -> None:
    found = [Diagnostic(Span("a", 1, 1, 1, 2), code, "x") for code in CODES]
    for form in FORMATS:
        if form == "llm":  # has no room for all of them at once
            texts = [render(form, [item], {}.get, assumptions=True) for item in found]
            assert all(item.code in text for item, text in zip(found, texts, strict=True))
            continue
        text = render(form, found, {"a": "abc"}.get, assumptions=True)
        silent = {
            "github": ("assumption", "fragment"),
            "gitlab": ("assumption", "fragment"),
            "junit": ("assumption", "fragment"),
            "text": ("fragment",),
        }.get(form, ())
        assert [] == [
            item.code for item in found if item.code not in text and item.severity not in silent
        ], form


def test_an_unknown_format_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(
        ValueError, match="unknown output format `xml`; expected one of text, concise"
    ):
        render("xml", [], {}.get)
