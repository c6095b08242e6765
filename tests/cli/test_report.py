"""`fdc report`: one page, whatever stood in the plan, safe to open; it says what the journal says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
import time
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fdc_toolchain.cli.run.report import command
from fdc_toolchain.exits import UsageError
from fdc_toolchain.report.run_page import Budget, Line, Plan, Run, Step, Value, link, render

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc

VOID = {"meta", "link", "br", "hr", "img", "input"}
HOSTILE = (
    "</pre></details></style><script>alert(1)</script><img src=x onerror=alert(1)>\" ' onload=x {{ 7*7 }} "
    "\x1b[2J\u202e\u200b\x00&lt;"
)


class Page(HTMLParser):
    """A page taken apart: it must be well nested."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = text
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> where {self.open[-1:]} is open"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def safe(page: Page) -> None:
    """Nothing runs, nothing loads, nothing is hidden; links within the page lead somewhere."""
    assert not {tag for tag, _ in page.tags} & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "video",
    }
    assert not [
        attrs
        for _, attrs in page.tags
        if any(name.startswith("on") or name in ("style", "src") for name in attrs)
    ]
    policy = next(
        one["content"]
        for one in page.all("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    assert len(style) == 1 and "url(" not in style[0] and "@import" not in style[0]
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    assert (
        policy
        == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    names = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(names) == len(set(names))
    for anchor in page.all("a"):
        to = anchor["href"] or ""
        if to.startswith("#"):
            assert to[1:] in names, to
        else:
            assert to.startswith(("https://", "http://", "./", "../")), to
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069]", page.source)


def run_of(text: str, steps: int = 1) -> Run:
    """A run every text of which is `text`."""
    value = Value(text, text, 3)
    made = tuple(
        Step(number, text, text, text, "p.plan", 1, "failed" if number % 7 == 0 else "ok", number * 0.01, 0.01, text,
             (value,), value, text, text, ((text, text),))
        for number in range(1, steps + 1)
    )  # fmt: skip
    lines = (
        Line(1, text, (("failed", 1), ("ok", 2)), 1),
        Line(2, text, (("not reached", 0),)),
        Line(3, text),
    )
    return Run(
        "r", text, "stopped", text, text, 1.0, (value,), text, 3, text, (text,), ((text, 2),), (Budget(text, 1, 2.5),),
        (Plan(text, lines, text),), made, 0, ((0.5, text),), ((text, text),), ((text, text),), text, value,
    )  # fmt: skip


def test_no_text_of_a_run_gets_out_of_its_place() -> None:
    page = Page(render(run_of(HOSTILE), "."))
    safe(page)
    harmless = Page(render(run_of("x y"), "."))
    assert [tag for tag, _ in page.tags if tag != "a"] == [
        tag for tag, _ in harmless.tags if tag != "a"
    ]
    assert (
        "<script>alert(1)</script>" in page.text
        and "{{ 7*7 }}" in page.text
        and "\\u{1b}[2J\\u{202e}\\u{200b}" in page.text
    )


@pytest.mark.parametrize(
    "citation, leads",
    [
        ("docs/design.md:42", "./docs/design.md"),
        ("docs/a%b.md:1", "./docs/a%25b.md"),
        ("https://example.org/x", "https://example.org/x"),
        ("javascript:alert(1)", None),  # asked below with a base: a file of that name at most
        ("data:text/html,x", None),
        ("//evil.example/x", None),
        ("/etc/passwd", None),
        ("../../x", None),
        ("https://", None),
        ("https://a\x1bb", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_links_lead_to_files_of_the_workspace_and_to_the_web_only(
    citation: str, leads: str | None
) -> None:
    found = link(citation, ".")
    assert found == leads or (leads is None and found is not None and found.startswith("./"))
    assert link("docs/a.md", None) is None


def test_a_page_of_five_thousand_steps_is_usable_and_a_longer_run_says_what_is_left_out() -> None:
    begun = time.perf_counter()
    page = render(run_of("a text of a step " * 40, 5000)._replace(left=123), ".")
    assert time.perf_counter() - begun < 60
    assert len(page) < 40_000_000
    assert "123 steps in the middle are not on this page" in page and "longest steps" in page
    assert page.count('class="group"') == 50


@pytest.fixture
def reported(workspace: Path) -> Path:
    (workspace / "docs").mkdir()
    (workspace / "docs" / "a.md").write_text("one\n")
    (workspace / "sub.plan").write_text("param name\ntext <- read_file {name}\nyield {text}\n")
    (workspace / "p.plan").write_text(
        'param who = "x"\nbudget steps 40\nset_plan for {who}\nplan_step_complete x\n# evidence: docs/a.md:1\n'
        "got <- call_plan sub.plan name=docs/a.md\noverwrite_file_with_block docs/b.md\n    {got} {who}\n"
        "# evidence: docs/a.md:1\nread_file docs/b.md\nsaid <- request_user_input {who}?\nclose_task\nsubmit\n"
    )
    assert fdc("run", "p.plan", f"who={HOSTILE}".replace("\x00", ""), cwd=workspace).returncode == 5
    return workspace


def page_of(workspace: Path, *options: str) -> Page:
    made = fdc("report", "last", "-o", "run.html", *options, cwd=workspace)
    assert (made.returncode, made.stdout) == (0, "wrote run.html\n"), made.stderr
    return Page((workspace / "run.html").read_text("utf-8"))


def test_the_page_of_a_waiting_run(reported: Path) -> None:
    page = page_of(reported)
    safe(page)
    steps = [attrs for attrs in page.all("details") if "step" in (attrs.get("class") or "").split()]
    assert [attrs["class"] for attrs in steps] == ["step ok"] * 5 + ["step waiting"]
    rows = [attrs.get("class") for attrs in page.all("tr")]
    assert rows.count("waiting") == 1 and rows.count("not-reached") == 2
    assert "./docs/a.md" in [attrs["href"] for attrs in page.all("a")]
    for words in (
        "sub.plan",
        "6 of 40",
        "Whole: ",
        "sealed by your key",
        "request_user_input at main/6 waits for a person",
    ):
        assert words in page.text, words
    assert re.search(r"overwrite_file_with_block\s+docs/b\.md\s+one", page.text), "the path first"
    first = page.source
    assert page_of(reported).source == first  # equal runs make equal pages
    assert fdc("report", "last", cwd=reported).stdout == first
    (reported / "out").mkdir()
    assert fdc("report", "last", "-o", "out/run.html", cwd=reported).returncode == 0
    assert 'href="../docs/a.md"' in (reported / "out" / "run.html").read_text()


def test_a_plan_that_was_edited_since_is_shown_as_the_program_knows_it(reported: Path) -> None:
    (reported / "p.plan").write_text("reset_all\n")
    page = page_of(reported)
    assert "has changed since the run began" in page.text and "reset_all" not in page.text
    assert "overwrite_file_with_block docs/b.md {got} {who}" in page.text


def test_the_page_of_a_damaged_run_says_so(reported: Path) -> None:
    with closing(sqlite3.connect(reported / ".fdc" / "runs.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE record SET request='no' WHERE address='main/4' AND kind='outcome'")
    page = page_of(reported)
    safe(page)
    assert (
        "journal DAMAGED" in page.text
        and "cannot be followed further" in page.text
        and "main/5" in page.text
    )


def test_a_step_of_which_nobody_knows_whether_it_happened_says_what_to_do(workspace: Path) -> None:
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session echo x > begun; exec sleep 300\nclose_task\nsubmit\n"
    )
    (workspace / "begun").touch()
    with fdc_started("run", "p.plan", "--allow-unsandboxed", cwd=workspace) as driver:
        wait_for((workspace / "begun").read_text)
        driver.kill()
        driver.wait()
    interrupted = page_of(workspace)
    assert (
        "interrupted" in interrupted.text
        and "run_in_bash_session at main/3 was begun" in interrupted.text
    )
    assert "step begun" in [one.get("class") for one in interrupted.all("details")]
    assert fdc("resume", "last", cwd=workspace).returncode == 5
    assert re.search(
        "it is unknown whether it happened.*--assume main/3=done", page_of(workspace).text
    )
    refused = fdc("answer", "last", "x", cwd=workspace)
    assert refused.returncode == 1 and "--assume" in refused.stderr


def test_the_stack_of_a_branch_goes_up_to_the_root(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs" / "a").write_text("")
    (workspace / "sub.plan").write_text(
        "param name\nsaid <- request_user_input {name}?\nyield {said}\n"
    )
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nnames <- list_files docs\nall <- fork name in {names} max 3\n"
        "    got <- call_plan sub.plan name={name}\n    yield {got}\nmessage_user {all}\nclose_task\nsubmit\n"
    )
    assert fdc("run", "p.plan", cwd=workspace).returncode == 5
    stack = re.search(r'<ul class="stack">(.*?)</ul>', page_of(workspace).source, re.DOTALL)
    assert stack is not None
    assert re.findall("<code>(.*?)</code>", stack[1]) == [
        "p.plan", "sub.plan", "request_user_input at main/4#1/1&gt;sub.plan/1 waits for a person, state EXECUTING",
    ]  # fmt: skip


def test_a_simulated_run_says_so(reported: Path) -> None:
    assert "Simulated" not in page_of(reported).text
    assert fdc("run", "p.plan", "--simulate", "last", cwd=reported).returncode == 1
    assert "Simulated: no effect was performed" in page_of(reported).text


def test_what_cannot_be_done_is_one_sentence(reported: Path) -> None:
    for arguments, code, said in (
        (("report", "zzz"), 2, "no run begins with"),
        (("report", "last", "-o", "docs"), 2, "is a folder"),
        (("report", "last", "-o", "nowhere/run.html"), 3, "cannot be written"),
    ):
        found = fdc(*arguments, cwd=reported)
        assert (
            found.returncode == code and said in found.stderr and found.stderr.count("\n") == 1
        ), found.stderr


def test_the_page_agrees_with_fdc_show(reported: Path) -> None:
    assert fdc("resume", "last", "--answer", "yes", cwd=reported).returncode == 0
    page = page_of(reported)
    shown = json.loads(fdc("show", "last", "--format", "json", cwd=reported).stdout)
    done = [one for one in shown["records"] if one["kind"] == "outcome"]
    assert len([one for one in page.all("details") if one.get("class") == "step ok"]) == len(done)
    assert page.text.count("waits for a person") == 1  # in the legend only
    assert all(one["address"] in page.text for one in done) and shown["program"] in page.text


def test_a_terminal_is_told_to_name_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(UsageError, match=r"-o run\.html"):
        command.main(["last"], standalone_mode=False)
