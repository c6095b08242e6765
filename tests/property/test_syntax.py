"""Laws of reading and writing plans: every input gives a tree and findings, and formatting changes no meaning."""

from __future__ import annotations

import pytest
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.syntax import values
from fdc_toolchain.syntax.parse import Parsed, parse
from fdc_toolchain.syntax.syntax_errors import FORMS, Malformed
from fdc_toolchain.syntax.tails import malformed_tails, meaning
from fdc_toolchain.syntax.tree import Plan
from fdc_toolchain.syntax.write import canonical
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.plan_texts import broken, conditions, pieces, plans

DEFAULT = Limits()
SMALL = Limits(file_bytes=4_000, line_characters=200, statements=30, nesting=4, findings=10)
LINES = st.lists(
    st.builds(
        lambda indent, line: " " * indent + line,
        st.integers(0, 6),
        st.sampled_from(
            ["a", "a b", "r <- a", "r <- if x", "if x", "else", "else x", "for x in y max 2", "r <- fork x in y max 2",
             "call_plan z", "r<-call_plan z", "use fsm x", "param q", "# note", "", "\t", "while x", "---", "yield 1",
             'require x else "y"', "iterate max 2", "for_each_file *", "x <-", "\tb", "é", "a\tb", "r <- # c", "IF x",
             "else:"]
        ),
    ),
    max_size=14,
)  # fmt: skip


def inside(parsed: Parsed, found: list[Diagnostic]) -> None:
    """Asserts that every span lies in the text; a caret may stand behind the last character of a line."""
    if parsed.text is None:
        return
    lines = parsed.text.split("\n")
    for item in found:
        span = item.span
        assert 1 <= span.line <= span.end_line <= len(lines), item
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1, item
        assert span.column <= span.end_column or span.line < span.end_line, item
        assert span.end_column <= len(lines[span.end_line - 1]) + 2, item
        assert item.message and "\n" not in item.message


def read(data: bytes, limits: Limits = DEFAULT) -> Parsed:
    parsed = parse(data, "p", limits)
    found = list(parsed.diagnostics)
    if parsed.plan is not None:
        found += malformed_tails(parsed.plan)
    else:
        assert any(item.code == "FDC106" for item in found), "refused without saying so"
    inside(parsed, found)
    return parsed


@given(st.binary(max_size=300))
def test_any_bytes_give_a_tree_and_findings(data: bytes) -> None:
    read(data)


@given(st.text(max_size=200))
def test_any_text_gives_a_tree_and_findings(text: str) -> None:
    read(text.encode("utf-8", "surrogatepass"))


@given(broken())
def test_a_broken_plan_gives_a_tree_and_findings(text: str) -> None:
    read(text.encode())
    read(text.encode(), SMALL)


@given(LINES)
def test_whatever_the_lines_are_the_grammar_accepts_their_tokens(lines: list[str]) -> None:
    read("\n".join(lines).encode())


@given(plans())
def test_a_plan_of_the_language_reads_cleanly(text: str) -> None:
    parsed = read(text.encode())
    assert [] == [item for item in parsed.diagnostics if item.severity == "error"]
    assert parsed.plan is not None and [] == malformed_tails(parsed.plan)


@given(plans())
def test_formatting_keeps_the_meaning_and_is_done_once(text: str) -> None:
    before = parse(text.encode(), "p").plan
    once, _ = canonical(text.encode(), "p")
    assert once is not None and before is not None
    after = parse(once, "p").plan
    assert after is not None
    assert meaning(before.statements) == meaning(after.statements)
    assert (once, []) == canonical(once, "p")


@given(plans())
def test_the_canonical_text_has_no_loose_ends(text: str) -> None:
    once, _ = canonical(text.encode(), "p")
    assert once is not None
    assert (
        once.endswith(b"\n")
        and not once.endswith(b"\n\n")
        and not once.startswith((b"\n", b"\r", b"\xef\xbb\xbf"))
    )
    assert (b"\r\n" in once) <= ("\r\n" in text)
    plan = parse(once, "p").plan
    assert plan is not None
    blocks = block_lines(plan)
    lines = once.decode().replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        if number not in blocks:
            assert line == line.rstrip(), line
            assert line or lines[number], "two blank lines"
            assert (len(line) - len(line.lstrip())) % 2 == 0


def block_lines(plan: Plan) -> set[int]:
    found: set[int] = set()

    def walk(nodes: list) -> None:  # type: ignore[type-arg]
        for node in nodes:
            block = getattr(node, "block", None)
            if block:
                found.update(range(block.line, block.end_line + 1))
            walk(getattr(node, "body", []))
            walk(getattr(node, "orelse", []))

    walk(plan.statements)
    return found


@given(st.one_of(broken(), st.text(max_size=80)))
def test_a_text_that_does_not_read_cleanly_is_not_formatted(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    new, found = canonical(data, "p")
    assert (new is None) == any(item.severity == "error" for item in found)
    if new is not None:
        assert (new, []) == canonical(new, "p")


TAIL = st.one_of(
    pieces(
        "ab9 =\"'{}().<>!#-*/\\,é",
        " max ",
        " in ",
        " as ",
        "depth ",
        "not ",
        "and ",
        "len(",
        "{a}",
        "==",
        most=25,
    ),
    conditions(),
)


@given(st.sampled_from(["template", *FORMS]), TAIL)
def test_every_tail_is_read_or_its_flaw_is_placed(start: str, tail: str) -> None:
    keyword = start.removesuffix("_tail")
    if keyword in ("use", "budget", "allow"):
        found = values.header_tail(keyword, tail)
    elif start == "template":
        found = values.template(tail)
    else:
        found = getattr(values, start)(tail)
    if isinstance(found, Malformed):
        assert 0 <= found.start <= len(tail) and found.start < found.end <= len(tail) + 1
        assert found.message


SHORT = {"arguments": "_WORDS", "call_tail": "_WORDS", "for_each_tail": "_EACH", "for_tail": "_ITEMS", "fork_tail": "_ITEMS",
         "yield_tail": "_WORD"}  # fmt: skip
WORD = pieces(
    "ab9.-*/#:;<>!()\\,é~'{}",
    "max",
    "as",
    "in",
    "depth",
    "{a}",
    "{a.b}",
    "{{a}}",
    "12",
    "1.5",
    most=6,
)
PAIRS = st.sampled_from(["max 3", "max 007", "as f", "x in", "k=", "depth=2", "k={a}"])
WORDS = st.lists(st.one_of(WORD, WORD, PAIRS), max_size=6)


@given(st.sampled_from(sorted(SHORT)), WORDS.map(" ".join))
@example("arguments", "depth")
@example("arguments", "12 1.5 a.b max")
@example("call_tail", "depth a=b k={a.b}/c depth=2")
@example("call_tail", "x depth 2")
@example("for_each_tail", "max as as max 3")
@example("for_tail", "in in in max 3")
@example("fork_tail", "x in {a} max 3 keep failures")
def test_the_short_cuts_for_plain_words_agree_with_the_grammar(start: str, tail: str) -> None:
    assert getattr(values, start)(tail) == values._read(start, tail)


@pytest.mark.parametrize("start", SHORT)
def test_plain_words_take_the_short_cut(start: str) -> None:
    tail = {"call_tail": "a/b c={d}", "for_each_tail": "*.py as f max 4", "yield_tail": "{a}"}.get(
        start, "x in {y.z} max 4"
    )
    assert getattr(values, SHORT[start])(tail)


@given(st.text(st.sampled_from(list("ab{}. _9")), max_size=30))
def test_an_escaped_text_stands_for_itself(text: str) -> None:
    assert text == "".join(values.template(values.escape(text)))  # type: ignore[arg-type]


@given(st.text(st.sampled_from(list("ab{}.")), max_size=30))
def test_the_places_of_references_are_where_they_stand(text: str) -> None:
    for part in values.template(text):
        if isinstance(part, values.Ref):
            assert "{" + ".".join(part.path) + "}" == text[part.start : part.end]
