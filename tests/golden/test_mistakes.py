"""What people type by mistake, and what they are told (`syntax/mistakes.out`): one finding for one mistake."""

from __future__ import annotations

import pytest
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.tails import malformed_tails
from fdc_toolchain.diagnostics.diagnostic import Diagnostic

from tests.support.golden import check

BODY = "\n  submit\n"

MISTAKES = [
    # quotes and arguments
    'call_plan x topic="a b', "yield 'a b'", 'yield "a"b', 'yield a"b', 'yield "a\\d"', "yield", "yield a b",
    # bindings
    "x <-", "a.b <- read_file x", "{x} <- read_file x", "x <- # note", "x <- if y" + BODY, "x <- use fsm a\nsubmit",
    # branches and conditions
    "if x = 3" + BODY, "if x is 3" + BODY, "if x then" + BODY, "if x:" + BODY, "if {a} && {b}" + BODY, "if a || b" + BODY,
    "if !a" + BODY, "if a <> b" + BODY, "if a => b" + BODY, "if a == b == c" + BODY, "if a == 'x'" + BODY,
    "if {a b}" + BODY, "if {a}.b" + BODY, "if len x > 3" + BODY, "if (a" + BODY, "if a and" + BODY, "if not" + BODY,
    "if x + 1 > 3" + BODY, 'if x == "a' + BODY, 'if x == "{y}"' + BODY, "if (a or b) == c" + BODY, "if" + BODY,
    "if x > 12345678901234567890" + BODY, "if x\nsubmit", "else" + BODY, f"if x{BODY}else:{BODY}", f"if x{BODY}elif y{BODY}",
    f"if x{BODY}else if y{BODY}", "IF x" + BODY, "unless x" + BODY,
    "require x", "require x else why", 'require x else "{y} is missing"', 'require x, else "why"',
    # loops
    "for x in {a} max" + BODY, "for x" + BODY, "for x of {a} max 3" + BODY, "for x, y in {a} max 3" + BODY,
    "for each file in {files} max 3" + BODY, "foreach f in *.py" + BODY, "for x in {a} max {n}" + BODY,
    "for x in {a} max 1e3" + BODY, "iterate max 3:" + BODY, "for_each_file" + BODY, "for_each_file a in *.py" + BODY,
    "for_each_file *.py *.txt" + BODY, "fork {a} max 3" + BODY, "iterate 3" + BODY, "iterate max 3 while x" + BODY,
    "iterate max 3 until" + BODY, "iterate max 3 until x = 1" + BODY, "while x" + BODY, "loop 3" + BODY, "break", "goto start",
    "return x",
    # calls
    "call_plan", "call_plan x a", "call_plan x a = 1", "call_plan x a=", "call_plan x depth", "call_plan x depth two",
    "call_plan x\n  text",
    # headers
    "use fsm\nsubmit", "use\nsubmit", "param\nsubmit", "param q =\nsubmit", "param 3x\nsubmit", "param größe\nsubmit",
    "param q a\nsubmit", "param q = a b\nsubmit", "budget steps\nsubmit", "budget steps many\nsubmit", "allow read\nsubmit",
    "submit\nuse fsm x",
    # lines
    "- read_file x", "1. read_file x", "// comment", "read_file(x)", "read_file: x", "---\nsubmit", "<topic>",
    "run:fdc_cli.py close", "$x", "read_file\tx", "\tsubmit", "  submit", "if x\n    submit\n  submit",
    "use fsm x\n  submit\nsubmit", "end", "def f()" + BODY, "try" + BODY, "r\u0435ad_file x",
]  # fmt: skip


def findings(text: str) -> list[Diagnostic]:
    parsed = parse(text.encode(), "p")
    assert parsed.plan is not None
    return parsed.diagnostics + malformed_tails(parsed.plan)


def test_every_mistake_is_told_in_words_that_help() -> None:
    out = []
    for text in MISTAKES:
        out += [f"    {line}" for line in text.removesuffix(BODY).split("\n")]
        for item in findings(text):
            span = item.span
            out.append(f"{span.line}:{span.column}-{span.end_column} {item.code} {item.message}")
            out += [f"help: {item.help}"] if item.help else []
        out.append("")
    check("syntax/mistakes.out", "\n".join(out))


@pytest.mark.parametrize("text", MISTAKES)
def test_one_mistake_gives_one_finding(text: str) -> None:
    assert 1 == len(findings(text)), findings(text)
