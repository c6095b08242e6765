"""Laws of lessons: the file survives everything, an update changes one field, a change's plan says exactly that change."""

from __future__ import annotations

import json
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from fdc_toolchain.agent.lessons import lessons
from fdc_toolchain.agent.lessons.code_change import code_change_plan
from fdc_toolchain.check import check, program_of
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.protocols.compile import compile_agents
from fdc_toolchain.protocols.reader import read_protocols
from fdc_toolchain.protocols.update import Edit, Refusal, edit
from fdc_toolchain.report.terminal.terminal_text import visible
from fdc_toolchain.tasks.actions import parse_action_to_command
from fdc_toolchain.tasks.postmortem import read
from hypothesis import assume, given, settings
from hypothesis import strategies as st

TODAY = date(2026, 11, 21)
WORDS = st.builds(
    lambda left, middle, right: left + middle + right,
    st.sampled_from("abc"), st.text("abc '\"`.,{}[]<>#|*", max_size=20), st.sampled_from("abc"),
)  # fmt: skip


# The file


def record(name: str, extra: Any, status: str) -> bytes:
    body = {
        "lesson_id": name,
        "insight": "i",
        "action": {"type": "X"},
        "status": status,
        "own": extra,
    }
    return json.dumps(body).encode()


LINE = st.one_of(
    st.binary(max_size=12).filter(lambda raw: b"\n" not in raw),
    st.builds(
        record,
        st.sampled_from("abc"),
        st.recursive(
            st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            st.lists,
            max_leaves=3,
        ),
        st.sampled_from(["pending", "applied", "odd"]),
    ),
)


@given(st.lists(LINE, max_size=6), st.sampled_from([b"", b"\n"]))
def test_what_is_read_is_written_back_byte_for_byte_and_a_change_touches_one_line(
    rows: list[bytes], end: bytes
) -> None:
    """FDC-82, FDC-83."""
    data = b"\n".join(rows) + end
    book = lessons.read(data)
    assert data == lessons.write(book)
    for lesson in book.lessons:
        entered = lessons.entered(lesson, "applied", "now", changes=[])
        after = lessons.read(lessons.write(lessons.changed(book, entered)))
        assert book.damaged == after.damaged
        for line, new in zip(book.lines, after.lines, strict=True):
            if line.lesson is lesson:
                assert new.lesson == {**lesson, "status": "applied", "history": entered["history"]}
            else:
                assert line == new


# Post-mortems

MARKS = st.sampled_from("#*|`~-> \n1.[]<!:\\")


@given(
    st.lists(MARKS | st.sampled_from(["Lesson", "Action", "**", "```json\n", "<!--"]), max_size=60)
)
def test_no_text_is_too_odd_to_be_read(parts: list[str]) -> None:
    made = read("## Lessons\n" + "".join(parts), TODAY)
    for item in made.lessons:
        said = {
            "lesson_id": "x",
            "status": "pending",
            "insight": item.insight,
            "action": item.action,
        }
        assert item.insight.strip() and [] == lessons.faults(said)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=13))
def test_every_pair_of_a_list_is_found_whatever_its_words(pairs: list[tuple[str, str]]) -> None:
    """FDC-72, FDC-73."""
    body = "\n".join(
        f"{n}. **Lesson:** {a}\n   **Action:** {b}" for n, (a, b) in enumerate(pairs, 1)
    )
    made = read(f"## 5. Proposed Corrective Actions\n\n{body}\n", TODAY)
    expected = [(" ".join(a.split()), parse_action_to_command(b)) for a, b in pairs]
    assert expected == [(item.insight, item.action) for item in made.lessons]


@given(st.text("abc 'don`{}.,\"", min_size=1, max_size=40))
def test_a_rules_new_text_is_what_stands_between_the_outer_quotes(text: str) -> None:
    """FDC-75, T-30."""
    assume(" ".join(text.split()) == text)
    action = parse_action_to_command(f"Update rule 'r' in protocol 'p' to '{text}'.")
    assert {"protocol_id": "p", "rule_id": "r", "description": text} == action["parameters"]


# Protocol sources

NAMES = st.lists(st.sampled_from(["read_file", "a/b.py", "x.y", "grep"]), unique=True, max_size=4)
SPACE = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "  \n   "])


class Draft:
    """A value as JSON with white space wherever it may stand."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw

    def json(self, value: Any) -> str:
        gap = self.draw(SPACE)
        if isinstance(value, dict):
            rows = [
                f"{gap}{json.dumps(key)}{self.draw(SPACE)}:{gap}{self.json(one)}"
                for key, one in value.items()
            ]
            return f"{{{','.join(rows)}{gap}}}"
        if isinstance(value, list):
            return f"[{','.join(gap + self.json(one) for one in value)}{gap}]"
        return json.dumps(value, ensure_ascii=self.draw(st.booleans()))


@settings(max_examples=60)
@given(st.data(), NAMES, st.booleans(), st.booleans())
def test_an_update_changes_the_one_field_and_no_other_byte(
    data: st.DataObject, tools: list[str], listed: bool, bom: bool
) -> None:
    """FDC-76, FDC-78, FDC-79, FDC-80."""
    rules = [
        {"rule_id": name, "description": f"old {name}", "enforcement": "E", "own": 1}
        for name in ("r1", "r2")
    ]
    body: dict[str, Any] = {
        "own": {"x": [1.50, None]},
        "protocol_id": "p",
        "description": "D",
        "rules": rules,
    }
    if listed:
        body["associated_tools"] = tools
    if data.draw(st.booleans()):
        body["rules"], body["own"] = body.pop("rules"), body.pop("own")
    text = Draft(data).json(body)
    raw = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    path = "protocols/p.protocol.json"
    files = {path: raw, "protocols/other.protocol.json": b"{"}
    tool = data.draw(st.sampled_from(["grep", "new", "a/b.py"]))
    new = data.draw(st.sampled_from(["old r2", 'n"e\\', "{x}"]))
    wishes = {
        "add-tool": {"protocol_id": "p", "tool_name": tool},
        "deprecate-tool": {"protocol_id": "p", "tool_name": tool},
        "update-rule": {"protocol_id": "p", "rule_id": "r2", "description": new},
    }
    command = data.draw(st.sampled_from(sorted(wishes)))
    change = edit(files, command, wishes[command])
    assert isinstance(change, Edit), change
    expected = json.loads(text)
    had = expected.get("associated_tools", [])
    if command == "add-tool" and tool not in had:
        expected["associated_tools"] = [*had, tool]
    elif command == "deprecate-tool" and tool in had:
        expected["associated_tools"] = [name for name in had if name != tool]
    elif command == "update-rule":
        expected["rules"][1]["description"] = new
    now = json.loads(change.after.decode("utf-8-sig"))
    assert expected == now and list(expected) == list(now)
    assert (
        (expected == json.loads(text))
        == (change.after == raw)
        == ("No changes made." in change.message)
    )
    # One stretch of the file is another; before it and after it every byte is the old one.
    start = next(
        (n for n, (a, b) in enumerate(zip(raw, change.after)) if a != b),
        min(len(raw), len(change.after)),
    )
    rest = min(len(raw), len(change.after)) - start
    tail = next((n for n in range(rest) if raw[-1 - n] != change.after[-1 - n]), rest)
    assert len(raw) - start - tail <= 60 and len(change.after) - start - tail <= 80
    again = edit({**files, path: change.after}, command, wishes[command])
    assert isinstance(again, Edit) and again.after == change.after, "doing it twice changes nothing"


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=12)
BREAKS = ("```", "~~~", "<!--", "-->", "\n", "\u2028", "\u202e", "\x1b[2J", "\u200b")


PARTS = st.lists(
    st.sampled_from(["---", "# H", "`x`", "{{ x }}", "{% if %}", "</b>", "\\", '"', "]", "}"]),
    min_size=1,
)


def described(text: str) -> Edit | Refusal:
    raw = b'{"protocol_id": "p", "description": "D", "rules": [{"rule_id": "r", "description": "x", "enforcement": "E"}]}'
    return edit(
        {"p.protocol.json": raw},
        "update-rule",
        {"protocol_id": "p", "rule_id": "r", "description": text},
    )


@given(ANYTHING, st.sampled_from(BREAKS), ANYTHING)
def test_a_description_that_could_break_agents_md_is_refused(
    left: str, mark: str, right: str
) -> None:
    """FDC-79: a hostile post-mortem writes into a file that agents obey."""
    assert isinstance(described(left + mark + right), Refusal)


@given(ANYTHING | PARTS.map(" ".join))
def test_any_other_description_comes_out_of_agents_md_as_it_went_in(text: str) -> None:
    """FDC-79, T-35: a reader of the compiled text finds the block, and in it these words."""
    done = described(text)
    if isinstance(done, Refusal):
        assert not text.strip() or any(mark in text for mark in BREAKS) or visible(text) != text
        return
    made = compile_agents({"p.protocol.json": done.after}, b"1.0.0", lambda path: None)
    assert made.text is not None
    (protocol,) = read_protocols(made.text)
    assert text == protocol["rules"][0]["description"]


# Code changes

LINES = st.lists(st.text("ab {}#\"\\'", max_size=8), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES, st.sampled_from(["a.py", "src/a b.txt", "u/x-1.md"]))
def test_the_plan_of_a_change_is_proved_and_says_exactly_that_change(
    old: list[str], new: list[str], path: str
) -> None:
    """FDC-84: one step, the path and the diff letter by letter, braces and all."""
    diff = "\n".join(["<<<<<<< SEARCH", *old, "=======", *new, "{run} {{x}}", ">>>>>>> REPLACE"])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x.plan").write_text(code_change_plan(path, diff), "utf-8")
        Path(folder, path).parent.mkdir(exist_ok=True)
        Path(folder, path).write_text("x\n", "utf-8")
        checked = check(Linker(folder, read_settings(folder)), ["x.plan"])
        # FDC484: the file that is there has none of these lines
        assert [] == [
            item
            for item in checked.diagnostics
            if item.severity == "error" and item.code != "FDC484"
        ]
        program = program_of(checked)
    (step,) = program["plans"][program["root"]]["body"]
    assert step["tool"] == "replace_with_git_merge_diff"
    assert [[path], [diff + "\n"]] == [step["args"]["path"], step["args"]["diff"]]
