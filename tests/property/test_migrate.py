"""Laws of conversion: what an old plan says is what the new one says, and no text breaks the converter."""

from __future__ import annotations

from typing import Any

from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.linking.arguments.bind import Binder
from fdc_toolchain.linking.catalogue import read_catalogue
from fdc_toolchain.migrate import dialect
from fdc_toolchain.migrate.convert import migrate
from fdc_toolchain.syntax import tree
from fdc_toolchain.syntax.parse import parse
from hypothesis import given
from hypothesis import strategies as st

from tests.support.plan_texts import broken, pieces

CATALOGUE = read_catalogue((), lambda path: None)[0]

WORDS = pieces("abc XY.,-{}<>\"'=", "{name}", "{{x}}", "<b>", " ", most=8).map(str.strip)
LINE = WORDS.filter(lambda text: text and not text.startswith(("#", "<-", "---")))
CONTENT_LINE = st.one_of(LINE, st.sampled_from(["  deeper", "# heading", "", "x: y"]))
CONTENT = st.lists(CONTENT_LINE, min_size=1, max_size=4).filter(
    lambda lines: (
        lines[0].strip()
        and lines[-1].strip()
        and any(line[:1] != " " for line in lines if line.strip())
    )
)
COMMAND = st.one_of(
    st.tuples(st.just("set_plan"), st.lists(LINE, max_size=1)),
    st.tuples(st.just("message_user"), st.lists(LINE, min_size=1, max_size=3)),
    st.tuples(st.just("read_file"), st.lists(LINE, min_size=1, max_size=1)),
    st.tuples(st.just("run_in_bash_session"), st.lists(LINE, min_size=1, max_size=1)),
    st.tuples(
        st.just("create_file_with_block"),
        st.builds(lambda path, lines: [path, *lines], LINE, CONTENT),
    ),
)
COMMANDS = st.lists(COMMAND, min_size=1, max_size=5).map(
    lambda commands: [*commands, ("submit", [])]
)


def said(command: tuple[str, list[str]]) -> dict[str, str]:
    """What an old command says, by the parameters of its tool."""
    tool, lines = command
    if tool == "create_file_with_block":
        return {"path": lines[0], "content": "\n".join(lines[1:]) + "\n"}
    if tool == "message_user" and len(lines) > 1:
        return {"body": "\n".join(lines) + "\n"}
    name = {"read_file": "path", "run_in_bash_session": "command"}.get(tool, "text")
    return {name: lines[0]} if lines else {}


def meant(node: Any) -> tuple[str, dict[str, str | None]]:
    """What a step of the new plan says."""
    assert isinstance(node, tree.Step)
    bound = Binder().bind(
        CATALOGUE.tools[node.tool], node.tail, node.block.text if node.block else None
    )
    assert [] == [problem for problem in bound.problems if problem.code != "FDC306"]
    return node.tool, {name: value.literal for name, value in bound.arguments.items()}


def converted(text: str, notation: str) -> list[Any]:
    done = migrate(text.encode(), "old.txt", CATALOGUE, Limits())
    assert () == done.diagnostics and notation == done.dialect and done.text is not None
    again = migrate(done.text, "old.txt", CATALOGUE, Limits())
    assert (dialect.LANGUAGE, done.text) == (again.dialect, again.text)
    plan = parse(done.text, "new").plan
    assert plan is not None
    return [meant(node) for node in plan.statements]


@given(COMMANDS)
def test_blocks_between_dashes_say_the_same_afterwards(
    commands: list[tuple[str, list[str]]],
) -> None:
    text = "\n---\n".join("\n".join([tool, *lines]) for tool, lines in commands) + "\n"
    assert [(command[0], said(command)) for command in commands] == converted(text, dialect.DASHES)


@given(COMMANDS)
def test_tools_with_colons_say_the_same_afterwards(commands: list[tuple[str, list[str]]]) -> None:
    commands = [("message_user", ["first"]), *commands]
    text = "\n---\n".join(
        "\n".join([f"{tool}: {lines[0]}" if lines else tool, *lines[1:]])
        for tool, lines in commands
    )
    expected = [(command[0], said(command)) for command in commands]
    for number, (tool, lines) in enumerate(commands):
        if tool == "message_user" and len(lines) > 1:
            expected[number] = (tool, {"text": lines[0], "body": "\n".join(lines[1:]) + "\n"})
        if tool == "create_file_with_block" and lines[0].split() != [lines[0]]:
            return  # a path with spaces on the tool's line is two arguments
        if tool in ("create_file_with_block", "read_file") and set(lines[0]) & set("\"'= "):
            return
    assert expected == converted(text, dialect.COLON)


SCRAPS = st.sampled_from(
    ["set_plan", "message_user", "create_file_with_block a.md", "create_file_with_block", "---", "", "", "# c",
     "# FSM: a.json", "# VERIFICATION:", "# ON_FAILURE:", "for_each_file *.py", "  read_file {file}", "call_plan",
     "run:fdc_cli.py close", "1. submit", "read_file: a", "a/b.py: c", "submit", "# META", "# END META", "x \\",
     "run_in_bash_session", "grep", "research is"]
)  # fmt: skip


@given(st.one_of(broken(), st.lists(st.one_of(LINE, SCRAPS), max_size=10).map("\n".join)))
def test_every_text_is_converted_or_refused_with_a_place(text: str) -> None:
    done = migrate(text.encode(), "old.txt", CATALOGUE, Limits())
    lines = text.count("\n") + 1
    if done.text is None:
        assert done.diagnostics
        assert all(1 <= item.span.line <= lines for item in done.diagnostics)
        return
    assert [] == [item for item in parse(done.text, "new").diagnostics if item.severity == "error"]
    assert all(1 <= change.line <= lines for change in done.changes)
    assert (done.dialect == dialect.LANGUAGE) == (not done.changes)
    again = migrate(done.text, "old.txt", CATALOGUE, Limits())
    assert (dialect.LANGUAGE, done.text, ()) == (again.dialect, again.text, again.changes)
