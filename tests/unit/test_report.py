"""Single habits of the renderers that the goldens and the laws do not name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.codes import CODES
from fdc_toolchain.diagnostics.diagnostic import Diagnostic, Label
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.report import sarif
from fdc_toolchain.report.render import render
from fdc_toolchain.report.terminal import terminal_text, trace
from fdc_toolchain.report.terminal.style import Style

from tests.support.repository import ROOT

ERROR = Diagnostic(Span("p.plan", 2, 3, 2, 5), "FDC301", "x is y")


def text(item: Diagnostic, source: str | None, width: int = 0) -> str:
    return render("text", [item], {"p.plan": source}.get, style=Style(width=width), files_checked=1)


def test_a_file_with_crlf_looks_like_one_with_lf() -> None:
    assert text(ERROR, "one\ntwo\nthree\n") == text(ERROR, "one\r\ntwo\r\nthree\r\n")


def test_without_its_text_a_finding_still_says_where_it_is() -> None:
    assert "error[FDC301] unknown-tool: x is y\n --> p.plan:2:3\n\n1 error in 1 file\n" == text(
        ERROR, None
    )


def test_one_line_between_two_marks_is_shown_and_more_are_left_out() -> None:
    near = ERROR._replace(labels=(Label(Span("p.plan", 4, 1, 4, 2), "near"),))
    far = ERROR._replace(labels=(Label(Span("p.plan", 5, 1, 5, 2), "far"),))
    source = "a\nbbbbb\nc\nd\ne\n"
    assert "2 | bbbbb\n  |   ^^\n3 | c\n4 | d\n  | - near\n" in text(near, source)
    assert "2 | bbbbb\n  |   ^^\n...\n5 | e\n  | - far\n" in text(far, source)


def test_a_long_run_is_shown_with_its_beginning_and_its_end() -> None:
    steps = tuple(Label(Span("p.plan", n, 1, n, 2), "") for n in range(1, 501))
    shown = text(ERROR._replace(trace=steps), "\n".join(f"step {n}" for n in range(1, 501)))
    assert " 12. p.plan:12   step 12\n" in shown
    assert "... 480 steps more\n" in shown
    assert "493. p.plan:493  step 493\n" in shown
    assert " 13." not in shown and "492." not in shown


def test_a_run_is_indented_by_its_calls_and_comes_back_from_them() -> None:
    steps = tuple(Label(Span(path, 1, 1, 1, 2), "") for path in ("a", "b", "c", "b", "a", "c"))
    assert [0, 1, 2, 1, 0, 1] == trace.depths(steps)


def test_a_run_that_says_its_depth_is_indented_by_that() -> None:
    steps = tuple(Label(Span("a", 1, 1, 1, 2), message) for message in ("x", "  x", "    x", "  x"))
    assert [0, 1, 2, 1] == trace.depths(steps)
    assert [0, 1, 2, 1, 1] == trace.depths(
        (*steps, Label(Span("b", 1, 1, 1, 2), "in another plan"))
    )


def test_every_line_of_a_report_fits_into_eighty_columns_where_words_are_short() -> None:
    path = "plans/some/deep/folder/name.plan"
    item = Diagnostic(
        Span(path, 1, 400, 1, 410), "FDC401", "a word " * 40,
        labels=(Label(Span(path, 1, 300, 1, 310), "another place " * 20),),
        trace=tuple(Label(Span(path, 1, 1, 1, 2), "state A to state B " * n) for n in range(4)),
        help="help " * 60,
    )  # fmt: skip
    shown = render(
        "text", [item], {path: "word " * 200}.get, style=Style(width=80), files_checked=1
    )
    assert [] == [line for line in shown.split("\n") if len(line) > 80]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\u{1b}[31mred"),
        ("a\u202eb", "a\\u{202e}b"),
        ("a\tb\n", "a\\u{9}b\\u{a}"),
        ("\udcff", "\\u{dcff}"),
        ("日本語", "日本語"),
        ("e\u0301", "e\u0301"),
        ("\u0301", "\u25cc\u0301"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("a\ufe0f", "a\\u{fe0f}"),
        ("\u3164", "\\u{3164}"),
        ("##[error]", "##\\u{5b}error]"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "\\u{301}\\u{301}"),
    ],
)
def test_what_is_hidden_is_written_out_and_what_is_seen_is_kept(raw: str, shown: str) -> None:
    assert shown == terminal_text.visible(raw)


@pytest.mark.parametrize(
    ("raw", "width"),
    [
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("\u2764\ufe0f", 2),
        ("😀", 2),
        ("ｗ", 2),
        ("\u1100", 2),
        ("ä", 1),
    ],
)
def test_widths_are_those_of_a_terminal(raw: str, width: int) -> None:
    assert width == terminal_text.columns(raw)


def test_sarif_leaves_out_what_github_would_refuse_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 25_000 == sarif.MOST_RESULTS
    monkeypatch.setattr(sarif, "MOST_RESULTS", 250)
    many = [Diagnostic(Span("p", n, 1, n, 2), "FDC441", "w") for n in range(1, 251)]
    last = Diagnostic(Span("z", 1, 1, 1, 2), "FDC301", "kept, as errors come first")
    run = json.loads(render("sarif", [*many, last], {}.get))["runs"][0]
    assert 250 == len(run["results"])
    assert "FDC301" == run["results"][0]["ruleId"]
    note = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert "left out: 1 finding; a run holds at most 250" == note


def test_sarif_cuts_runs_and_places_to_what_github_stores() -> None:
    labels = tuple(Label(Span("p", n, 1, n, 2), "") for n in range(1, 2001))
    result = json.loads(render("sarif", [ERROR._replace(labels=labels, trace=labels)], {}.get))[
        "runs"
    ][0]["results"][0]
    assert 100 == len(result["locations"]) + len(result["relatedLocations"])
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert 1000 == len(steps)
    assert 2000 == steps[-1]["location"]["physicalLocation"]["region"]["startLine"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("plans/a.plan", "plans/a.plan"), ("./a", "a"), ("a b#c%?.plan", "a%20b%23c%25%3F.plan"), ("ä", "%C3%A4"),
        ("c:d", "c%3Ad"), ("/abs/x y", "file:///abs/x%20y"), ("../up", "../up"), ("\udcff", "%FF"), ("", "."),
    ],
)  # fmt: skip
def test_paths_become_uris(path: str, uri: str) -> None:
    assert uri == sarif.uri(path)


def test_what_fdc_ships_is_not_sought_in_the_users_repository() -> None:
    item = Diagnostic(Span("fdc:plans/library/x.plan", 1, 1, 1, 2), "FDC301", "m")
    place = json.loads(render("sarif", [item], {}.get))["runs"][0]["results"][0]["locations"][0][
        "physicalLocation"
    ]
    assert {"uri": "plans/library/x.plan", "uriBaseId": "%FDC%"} == place["artifactLocation"]


def test_a_message_cannot_carry_a_link_or_a_placeholder_into_a_viewer() -> None:
    assert {"text": "`{{0}}` and [x] (http://evil)"} == sarif.message("`{0}` and [x](http://evil)")


def test_a_fingerprint_outlives_lines_above_it_and_tells_twins_apart() -> None:
    def marks(source: str, *lines: int) -> list[str]:
        found = [Diagnostic(Span("p.plan", n, 1, n, 2), "FDC301", "m") for n in lines]
        results = json.loads(render("sarif", found, {"p.plan": source}.get))["runs"][0]["results"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]

    assert marks("x  y\nz\nx y\n", 1, 3) == marks("# new\n\nx y\nz\n  x y\n", 3, 5)
    one, two = marks("x\nx\n", 1, 2)
    assert one.split(":")[0] == two.split(":")[0] and ["1", "2"] == [
        one.split(":")[1],
        two.split(":")[1],
    ]
    assert marks("x\n", 1) != marks("y\n", 1)


JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id"},
        {"system-out", "system-err", "properties", "testsuite", "testcase"},
    ),
    "testcase": (
        {"name", "time", "classname", "group"},
        {"skipped", "error", "failure", "rerunFailure", "flakyFailure", "flakyError", "system-out", "system-err"},
    ),
    "failure": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}  # fmt: skip
"""What Jenkins' schema for JUnit files allows: attributes and children of each element that we write."""


def test_junit_has_only_elements_and_attributes_that_ci_servers_know() -> None:
    import xml.etree.ElementTree as xml

    from tests.support import findings

    tree = xml.fromstring(
        render("junit", findings.SAMPLE, findings.SAMPLE_TEXTS.get, files_checked=3)
    )
    for element in tree.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag


def test_the_renderers_for_terminals_load_next_to_nothing() -> None:
    script = (
        "import sys; import fdc_toolchain.diagnostics.diagnostic, types, collections.abc; before = set(sys.modules)\n"
        "from fdc_toolchain.report import concise; from fdc_toolchain.report.terminal import human\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('fdc_toolchain')))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(ROOT, 'tooling'))!r})\n{script}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "" == run.stdout.strip()


def test_severities_have_the_words_of_each_format() -> None:
    by_severity = {row.severity: code for code, row in CODES.items()}
    found = [Diagnostic(Span("p", 1, 1, 1, 2), code, "m") for code in by_severity.values()]
    levels = [
        result["level"]
        for result in json.loads(render("sarif", found, {}.get))["runs"][0]["results"]
    ]
    expected = {
        severity: severity if severity in ("error", "warning") else "note"
        for severity in by_severity
    }
    assert expected == dict(zip(by_severity, levels, strict=True))


@pytest.mark.parametrize("width", [20, 40, 79])
@pytest.mark.parametrize(
    "line",
    [
        "stopped after 3 steps; `fdc resume 20261123-234129-18j8` retries the failed step, and then some",
        "  \x1b[31mfailed\x1b[0m main/3     run_in_bash_session  two  blanks stay where nothing is broken off",
        "茶 " * 40,
        "short",
    ],
)
def test_a_long_line_is_broken_between_words_only(line: str, width: int) -> None:
    rows = terminal_text.folded(line, width).split("\n")
    assert line.split() == " ".join(rows).split()
    start = len(line) - len(line.lstrip(" "))
    for row in rows:
        bare = re.sub(r"\x1b\[\d*m", "", row)
        alone = re.sub(r"`[^`]*`", "x", bare)
        assert terminal_text.columns(bare) <= width or 1 == len(alone.split())
        assert 0 == bare.count("`") % 2, "a command is never broken"
    assert all(row.startswith(" " * (start + 2)) for row in rows[1:])
    assert line == terminal_text.folded(line, 0) and (
        1 < len(rows) or "short" == line or width >= 79
    )
