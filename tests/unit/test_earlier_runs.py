"""What earlier runs left in the workspace (`.fdc/outside.jsonl`) is text from outside in every later plan, and is named so."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.linking.project.outside_files import TABLE, check, digest
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules.solver.flow import earlier

from tests.support.linting import ANY, findings, lint

PYTHON = '{"format": 1, "name": "own", "tools": {"save": {"summary": "s", "action": "write_op", "effect": "once", \
"trust": "trusted", "parameters": [], "run": {"python": "own:save"}}, "ask": {"summary": "s", "action": "step_op", \
"effect": "once", "trust": "untrusted", "parameters": [], "run": {"prompt": "ask.md", "role": "writer"}}}}'
SAID = "which the run r stored at 1.2, one.plan:7"


def row(path: str, content: str | None, there: bool = True) -> str:
    """A line of the table; `content` None: text from outside chose that the file is gone."""
    told = {
        "path": path,
        "sha256": "" if content is None else digest(content.encode()),
        "there": there,
        "run": "r",
        "at": "1.2",
        "plan": "one.plan",
        "line": 7,
    }
    return json.dumps({**told, "check": check(told)}) + "\n"


def found_in(text: str, *rows: str, settings: str = "", **files: str) -> list[Diagnostic]:
    texts = {
        "a.plan": text,
        TABLE: "".join(rows),
        **{k.replace("_", "."): v for k, v in files.items()},
    }
    world = Settings(fsm="any.json", catalogues=(settings,) if settings else ())
    return findings(lint(texts, "a.plan", settings=world), "FDC471", "FDC472", "FDC474")


def told(text: str, *rows: str, settings: str = "", **files: str) -> list[tuple[str, int, str]]:
    found = found_in(text, *rows, settings=settings, **files)
    return [(item.code, item.span.line, item.message) for item in found]


PAGE = "# a page\n"
READS = "page <- read_file page.md\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("delete_file {page}\n", ("FDC471", 2, "the path that `delete_file` uses")),
        ('if "x" in page\n  delete_file b.md\n', ("FDC472", 3, "whether `delete_file` runs")),
        ("overwrite_file_with_block b.md\n  {page}\n", None),
    ],
)
def test_text_of_an_earlier_run_chooses_nothing(
    text: str, found: tuple[str, int, str] | None
) -> None:
    rows = row("page.md", PAGE)
    expected = []
    if found:
        code, line, what = found
        message = f"text from outside (the file page.md, {SAID}) chooses {what}"
        expected = [(code, line, message)]
    assert told(READS + text, rows, page_md=PAGE, b_md="") == expected
    helps = [item.help for item in found_in(READS + text, rows, page_md=PAGE, b_md="")]
    approve = "check the file and approve it (`fdc trust --file page.md`), or move it away"
    assert helps == [approve] * len(expected)
    assert told(READS + text, rows, page_md=PAGE + "changed since\n", b_md="") == []
    assert told(READS + text, page_md=PAGE, b_md="") == []


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        (row("page.md", PAGE), "page.md"),
        (row("page.md", PAGE, there=False), "page.md"),
        (row("gone.md", None), "gone.md"),
        (row("gone.md", None, there=False), "gone.md"),
        (row("gone.md", "x"), None),
    ],
)
def test_a_command_sees_what_an_earlier_run_left(rows: str, name: str | None) -> None:
    seen = f"text from outside (the file {name}, {SAID}) is in files that `run_in_bash_session` can see, and may execute"
    found = told("run_in_bash_session pytest\n", rows, page_md=PAGE)
    assert found == ([("FDC474", 1, seen)] if name else [])


MADE = "text from outside (the file {}, which the run r {} at 1.2, one.plan:7) is {}"


@pytest.mark.parametrize(
    ("rows", "line", "what"),
    [
        (row("a.plan", "save\nask\n"), 1, ("a.plan", "stored", "a plan that is run")),
        (row("any.json", ANY), 1, ("any.json", "stored", "the automaton of this plan")),
        (row("ask.md", "Ask.\n"), 2, ("ask.md", "stored", "the prompt of `ask`")),
        (row("own.py", None), 1, ("own.py", "removed", "the code of `save`")),
        (row("other.py", None), 1, ("other.py", "removed", "the code of `save`")),
        (row("other.md", None), 0, ()),
        (row("other.py", "x"), 0, ()),
    ],
)
def test_what_an_earlier_run_left_is_no_part_of_a_plan(
    rows: str, line: int, what: tuple[str, str, str]
) -> None:
    found = told("save\nask\n", rows, settings="own.json", ask_md="Ask.\n", own_json=PYTHON)
    found = [one for one in found if "can see" not in one[2]]
    assert found == ([("FDC474", line, MADE.format(*what))] if what else [])


def test_what_lies_beyond_the_most_files_counts_as_the_last_that_is_told_apart() -> None:
    names = [f"f{number:02}.md" for number in range(earlier.MOST + 2)]
    rows = [row(name, "t\n") for name in names]
    files = {name.replace(".", "_"): "t\n" for name in names}
    for number, shown in ((-4, -4), (-3, -3), (-2, -3), (-1, -3)):
        found = told(f"page <- read_file {names[number]}\ndelete_file {{page}}\n", *rows, **files)
        assert [message.split(",")[0] for *_, message in found] == [
            f"text from outside (the file {names[shown]}"
        ]
