"""Post-mortems to lessons, sentences to actions, and the lessons file with whatever is in it (FDC-70 to FDC-77, FDC-82)."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from fdc_toolchain.agent.lessons import lessons
from fdc_toolchain.agent.lessons.code_change import path_fault
from fdc_toolchain.tasks.actions import (
    Fault,
    Wish,
    canonical,
    parse_action_to_command,
    shown,
    wish_of,
)
from fdc_toolchain.tasks.postmortem import is_placeholder, read
from jinja2 import Environment, StrictUndefined

from tests.support.repository import PACKAGE

TODAY = date(2026, 11, 21)


def found(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(item.insight, item.action) for item in read(text, TODAY).lessons]


def section(body: str, heading: str = "## 5. Proposed Corrective Actions") -> str:
    return f"# Post-mortem\n\n- **Task ID:** `T-1`\n- **Completion Date:** `2026-11-20`\n\n{heading}\n\n{body}\n"


ADD = {
    "type": "UPDATE_PROTOCOL",
    "command": "add-tool",
    "parameters": {"protocol_id": "p", "tool_name": "t"},
}


# The sentences


@pytest.mark.parametrize(
    ("text", "command", "parameters"),
    [
        ("Add tool 'T' to protocol 'P'", "add-tool", {"protocol_id": "P", "tool_name": "T"}),
        ("add the tool `a/b.py` to protocol \"p-1\".", "add-tool", {"protocol_id": "p-1", "tool_name": "a/b.py"}),
        ("Deprecate tool 'T' from protocol 'P'.", "deprecate-tool", {"protocol_id": "P", "tool_name": "T"}),
        (
            "Update rule 'R' in protocol 'P' to 'D'",
            "update-rule", {"protocol_id": "P", "rule_id": "R", "description": "D"},
        ),
        (
            "Update rule 'R' in protocol 'P' to 'Don't write what the agent's log can't show.'",
            "update-rule", {"protocol_id": "P", "rule_id": "R", "description": "Don't write what the agent's log can't show."},
        ),
        (
            "Update rule 'R' in protocol 'P' to \"It's 'quoted'\".",
            "update-rule", {"protocol_id": "P", "rule_id": "R", "description": "It's 'quoted'"},
        ),
        (
            "`Update rule 'R' in protocol 'P' to 'in protocol 'X' to 'Y''`",
            "update-rule", {"protocol_id": "P", "rule_id": "R", "description": "in protocol 'X' to 'Y'"},
        ),
    ],
)  # fmt: skip
def test_the_three_sentences_are_understood(
    text: str, command: str, parameters: dict[str, str]
) -> None:
    """FDC-74, FDC-75, FDC-76; T-30: the text of a rule does not stop at an apostrophe."""
    assert {
        "type": "UPDATE_PROTOCOL",
        "command": command,
        "parameters": parameters,
    } == parse_action_to_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "Be more careful.",
        "Never add tool 'x' to protocol 'y'",
        "Add tool 'x' to protocol 'y' and to protocol 'z'",
        "Add tool x to protocol y",
        "Update rule 'R' in protocol 'P'",
        "Change file 'x.py'",
    ],
)
def test_anything_else_is_a_placeholder_and_is_never_applied(text: str) -> None:
    """FDC-77, T-34."""
    action = parse_action_to_command(text)
    assert {
        "type": "UPDATE_PROTOCOL",
        "command": "placeholder",
        "parameters": {"description": text},
    } == action
    wish = wish_of(action)
    assert isinstance(wish, Fault) and wish.skipped


def test_a_code_change_is_a_sentence_with_a_block_below_it() -> None:
    """FDC-84."""
    action = parse_action_to_command("Change file 'a/b.py' as follows:", "<<<<<<< SEARCH\nx")
    assert {
        "type": "PROPOSE_CODE_CHANGE",
        "parameters": {"filepath": "a/b.py", "diff": "<<<<<<< SEARCH\nx"},
    } == action


@pytest.mark.parametrize(
    "written",
    [
        {"type": "PROPOSE_CODE_CHANGE", "parameters": {"filepath": "f", "diff": "d"}},
        {"type": "propose-code-change", "parameters": {"filepath": "f", "diff": "d"}},
        {"type": "propose-code-change", "details": {"filepath": "f", "diff": "d"}},
        {"type": "propose-code-change", "filepath": "f", "details": "d"},
        {"type": "propose_code_change", "parameters": {"filepath": "f"}, "details": "d"},
    ],
)
def test_both_spellings_of_a_code_change_are_read(written: dict[str, Any]) -> None:
    """C-14."""
    assert {
        "type": "PROPOSE_CODE_CHANGE",
        "parameters": {"filepath": "f", "diff": "d"},
    } == canonical(written)
    assert Wish("change-file", {"filepath": "f", "diff": "d"}) == wish_of(written)


@pytest.mark.parametrize(
    ("action", "message", "skipped"),
    [
        (
            {"type": "PROPOSE_CODE_CHANGE", "parameters": {"filepath": "f"}},
            "the code change has no `diff`",
            False,
        ),
        ({"type": "PROPOSE_CODE_CHANGE"}, "no `filepath` and no `diff`", False),
        ({"type": "REBOOT"}, "the action type `REBOOT` is unknown", True),
        ({"type": "UPDATE_PROTOCOL", "command": "drop"}, "the command `drop` is unknown", True),
        (
            {"type": "UPDATE_PROTOCOL", "command": "add-tool", "parameters": {"tool_name": 7}},
            "`add-tool` has no",
            True,
        ),
        ("text", "it has no action", True),
    ],
)
def test_what_cannot_be_carried_out_says_why(action: object, message: str, skipped: bool) -> None:
    """FDC-82, FDC-84."""
    fault = wish_of(action)
    assert isinstance(fault, Fault) and message in fault.message and skipped == fault.skipped
    assert shown(action)


# Post-mortems


@pytest.mark.parametrize(
    "heading", ["## 3. Corrective Actions & Lessons Learned", "## 5. Proposed Corrective Actions"]
)
def test_both_headings_of_history_are_read(heading: str) -> None:
    """FDC-73."""
    body = "1. **Lesson:** One.\n   **Action:** Add tool 't' to protocol 'p'.\n"
    assert [("One.", ADD)] == found(section(body, heading))


def test_items_from_ten_on_are_lessons_too() -> None:
    """FDC-73, T-31."""
    body = "\n".join(
        f"{n}.  **Lesson:** Number {n}.\n    **Action:** Do {n}." for n in range(1, 13)
    )
    assert [f"Number {n}." for n in range(1, 13)] == [
        insight for insight, _ in found(section(body))
    ]


def test_three_formats_say_the_same() -> None:
    """C-33: the list, the table, JSON in a code block."""
    listed = (
        "- **Lesson:** It takes\n  two lines.\n- **Action:** Add tool 't' to\n  protocol 'p'.\n"
    )
    tabled = "| # | Lesson | Action |\n|---|:--|---|\n| 1 | It takes two lines. | Add tool 't' to protocol 'p' |\n"
    encoded = (
        "```json\n"
        + json.dumps([{"insight": "It takes two lines.", "action": ADD}], indent=1)
        + "\n```\n"
    )
    spoken = '~~~json\n{"lessons": [{"lesson": "It takes two lines.", "action": "Add tool \'t\' to protocol \'p\'"}]}\n~~~\n'
    for body in (listed, tabled, encoded, spoken):
        assert [("It takes two lines.", ADD)] == found(section(body)), body
    both = found(section(listed + tabled))
    assert 2 == len(both)


def test_a_change_is_read_with_its_block_as_it_stands() -> None:
    block = "<<<<<<< SEARCH\n# no heading\n\n**Lesson:** no lesson\n=======\n    <!-- x -->\n>>>>>>> REPLACE"
    body = "1. **Lesson:** L.\n   **Action:** Change file 'a.md':\n\n   ```diff\n" + "".join(
        f"   {line}\n" if line else "\n" for line in block.split("\n")
    )
    assert [
        ("L.", {"type": "PROPOSE_CODE_CHANGE", "parameters": {"filepath": "a.md", "diff": block}})
    ] == found(section(body + "   ```\n2. **Lesson:** M.\n   **Action:** Sleep.\n"))[:1]


@pytest.mark.parametrize(
    "text",
    [
        section("1. **Lesson:**\n   **Action:**\n2. **Lesson:**\n   **Action:**\n"),
        section("1. **Lesson:** [What was learned]\n   **Action:** [What to [change]]\n"),
        section("| Lesson | Action |\n|---|---|\n| [lesson] | ... |\n| | |\n"),
        section("<!-- 1. **Lesson:** An example.\n**Action:** Add tool 't' to protocol 'p' -->\n"),
        section("> 1. **Lesson:** Somebody else's words.\n> **Action:** Add tool 't' to protocol 'p'\n"),
        section("1. **Lesson:** L.\n   **Action:** Add tool 't' to protocol 'p'", "## 2. What Went Well"),
        section("## 6. Notes\n1. **Lesson:** L.\n   **Action:** Add tool 't' to protocol 'p'"),
        "",
    ],
)  # fmt: skip
def test_what_is_not_filled_in_or_stands_elsewhere_is_no_lesson(text: str) -> None:
    """T-33."""
    assert [] == found(text)


def test_our_own_template_unfilled_has_no_lesson() -> None:
    """FDC-70, FDC-72, T-33."""
    source = (PACKAGE / "tasks" / "templates" / "postmortem.md.j2").read_text("utf-8")
    empty = type(
        "Nothing",
        (),
        {
            "__str__": lambda self: "x",
            "__iter__": lambda self: iter(()),
            "__getattr__": lambda *_: "x",
        },
    )()
    page = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    from jinja2 import meta

    names = meta.find_undeclared_variables(page.parse(source))
    text = page.from_string(source).render(
        {name: 0 if name in ("entries", "failures") else empty for name in names}
        | {"task_id": "T-9", "date": "2026-11-01"}
    )
    made = read(text, TODAY)
    assert ("T-9", "2026-11-01", ()) == (made.task_id, made.date, made.lessons)
    filled = text.replace("[One sentence that will still be true for the next task.]", "L.")
    assert [] == found(filled) and read(filled, TODAY).notes, "half a lesson is said"
    both = filled.replace(
        "[The change that makes it impossible to forget.]", "Add tool 't' to protocol 'p'."
    )
    assert [("L.", ADD)] == found(both)
    for part in (
        "Summary",
        "What Went Well",
        "What Could Be Improved",
        "Root Cause",
        "Corrective Actions",
    ):
        assert part in source


@pytest.mark.parametrize(
    ("text", "task", "when"),
    [
        ("**Task ID:** `a b`\n**Completion Date:** `2026-01-02`", "a b", "2026-01-02"),
        ("| **Task ID** | X-1 |\n| Completion Date | `2026-01-02` |", "X-1", "2026-01-02"),
        ("nothing", "Unknown", "2026-11-21"),
        ("**Task ID:** `[id]`\n```\n**Task ID:** `fenced`\n```", "Unknown", "2026-11-21"),
    ],
)
def test_metadata_and_what_stands_in_for_it(text: str, task: str, when: str) -> None:
    """FDC-71."""
    made = read(text, TODAY)
    assert (task, when) == (made.task_id, made.date)


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("1. **Lesson:** L.\n   **Action:**\n", 8, "without an action"),
        ("1. **Action:** Add tool 't' to protocol 'p'\n", 8, "without its lesson"),
        ("```json\n{]\n```\n", 8, "cannot be read"),
        ('```json\n[{"insight": "L."}]\n```\n', 8, "`insight` and an `action`"),
        ('```json\n{"insight": "L.", "action": NaN}\n```\n', 8, "cannot be read"),
    ],
)
def test_what_is_half_written_is_said_with_its_line(body: str, line: int, words: str) -> None:
    made = read(section(body), TODAY)
    assert () == made.lessons
    assert [line] == [at for at, _ in made.notes] and words in made.notes[0][1]


@pytest.mark.parametrize(
    ("text", "unsaid"),
    [("[x]", True), ("[a] b [c]", False), ("**[x]**.", True), ("", True), ("x", False)],
)
def test_brackets_are_a_templates_only_around_everything(text: str, unsaid: bool) -> None:
    assert unsaid == is_placeholder(text)


# The records


def test_a_record_has_what_the_row_asks_for_and_the_same_text_gives_the_same_id() -> None:
    """FDC-72."""
    text = section("1. **Lesson:** L.\n   **Action:** Add tool 't' to protocol 'p'\n")
    (record,) = lessons.made(read(text, TODAY), "postmortems/x.md")
    assert record == lessons.made(read("\n" + text, TODAY), "y.md")[0] | {
        "source": "postmortems/x.md:8"
    }
    assert {
        "lesson_id": record["lesson_id"], "task_id": "T-1", "date": "2026-11-20", "insight": "L.", "action": ADD,
        "status": "pending", "source": "postmortems/x.md:8",
    } == record  # fmt: skip
    assert 36 == len(record["lesson_id"]) and [] == lessons.faults(record)


GOOD = b'{"lesson_id": "a", "insight": "L.", "action": {"type": "X"}, "status": "pending", "mine": [1.50, "\\u00e9"]}'


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a lesson"),
        (b'{"lesson_id": "a"', "not JSON"),
        (
            b'{"lesson_id": "b", "insight": "", "action": {"type": "X"}, "status": "done"}',
            "$.status",
        ),
        (
            b'{"lesson_id": "b", "lesson_id": "c", "insight": "", "action": {"type": "X"}, "status": "pending"}',
            "duplicate key",
        ),
        (
            b'{"lesson_id": "b", "insight": "", "action": {"type": "X"}, "status": "pending", "x": NaN}',
            "`NaN`",
        ),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "too deeply"),
        (GOOD, "the lesson of line 1 again"),
    ],
)
def test_a_damaged_line_is_reported_by_number_and_kept_byte_for_byte(
    bad: bytes, words: str
) -> None:
    """FDC-82, T-36."""
    data = GOOD + b"\n\n" + bad + b"\r\n" + GOOD.replace(b'"a"', b'"z"')
    book = lessons.read(data)
    assert [3] == [line.number for line in book.damaged] and words in (book.damaged[0].fault or "")
    assert ["a", "z"] == [lesson["lesson_id"] for lesson in book.lessons]
    assert data == lessons.write(book)
    entered = lessons.entered(book.lessons[1], "failed", "2026-11-21T00:00:00+00:00", why="w")
    after = lessons.write(lessons.changed(book, entered)).split(b"\n")
    assert data.split(b"\n")[:3] == after[:3]
    assert json.loads(GOOD) | {
        "lesson_id": "z",
        "status": "failed",
        "history": entered["history"],
    } == json.loads(after[3])


def test_a_line_is_added_below_a_file_that_was_cut_off() -> None:
    book, new = lessons.added(lessons.read(b'{"cut'), [json.loads(GOOD)])
    assert 1 == len(new)
    assert [b'{"cut', b""] == [
        line for line in lessons.write(book).split(b"\n") if b"lesson_id" not in line
    ]
    assert [1] == [line.number for line in lessons.read(lessons.write(book)).damaged]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/etc/passwd", "not a path inside"), ("../x", "not a path inside"), ("a/../../x", "not a path inside"),
        ("~/x", "not a path inside"), ("", "cannot be named in a plan"), (".", "not a path inside"),
        ("a*", "cannot be named in a plan"), ("a\nb", "cannot be named in a plan"),
        ("{run}", "cannot be named in a plan"), ("a\u202eb", "cannot be named in a plan"),
        (".git/config", "lies in `.git/`"), ("./.GIT/config", "lies in"),
        (".fdc/x", "lies in `.fdc/`"), ("protocols/x.protocol.json", "tooling/protocol_updater.py"),
        ("knowledge_core/lessons.jsonl", "lies in `knowledge_core/`"), ("AGENTS.md", "must not be changed by lessons"),
        ("./agents.md", "must not be changed by lessons"), ("fdc.toml", "must not be changed by lessons"),
        ("\uff21GENTS.md", "must not be changed by lessons"),
    ],
)  # fmt: skip
def test_a_lesson_changes_no_file_outside_and_none_that_decides_what_is_allowed(
    path: str, words: str
) -> None:
    assert words in (path_fault(path) or "")


@pytest.mark.parametrize(
    "path", ["a.py", "src/Agents.md", "tooling/fdc_toolchain/x.py", "a b/ü.txt", "./x"]
)
def test_any_other_file_may_be_named(path: str) -> None:
    assert path_fault(path) is None
