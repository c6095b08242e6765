"""What the output of a test command says: the first error, its place, the tests that fail, a fingerprint."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair import failure


def said(text: str, code: int = 1, root: str = "/w/copy") -> dict[str, Any]:
    return failure.read({"exit_code": code, "output": text}, [root])


def test_a_fingerprint_is_of_the_error_and_not_of_the_place_or_time() -> None:
    """HYP-18."""
    one = 'Traceback (most recent call last):\n  File "/w/copy/a.py", line 3\n    g(<X at 0x7f11aa>)\nValueError: no\n0.02s\n'
    two = (
        one.replace("/w/copy", "/home/u/p")
        .replace("0x7f11aa", "0x99ffee1")
        .replace("0.02s", "1.7s")
    )
    two = two.replace("    g", "\tg")
    assert said(one)["fingerprint"] == said(two, root="/home/u/p")["fingerprint"]
    assert said(one)["fingerprint"] != said(one.replace("line 3", "line 4"))["fingerprint"]
    assert said(one)["fingerprint"] != said(one.replace("no", "yes"))["fingerprint"]
    assert said("all well", 0)["fingerprint"] is None
    named = "error in /tmp/pytest-of-root/pytest-12/test_a0/x.txt: gone"
    assert (
        said(named)["fingerprint"] == said(named.replace("pytest-12", "pytest-13"))["fingerprint"]
    )
    assert (
        said("err")["fingerprint"]
        == failure.read({"exit_code": 1, "stdout": "noise", "stderr": "err"})["fingerprint"]
    )


NODE = """\
node:assert:90
  throw new AssertionError(obj);
  ^

AssertionError [ERR_ASSERTION]: Not equal:

0 !== 2

    at check (/w/copy/node_modules/a/a.js:9:1)
    at Object.<anonymous> (/w/copy/x.js:3:5)
    at node:internal/main/run_main_module:28:49 {
  code: 'ERR_ASSERTION'
}

Node.js v20.20.2
"""
UNREADABLE = """\
/w/copy/bad.js:1
const x = (1;
            ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)

Node.js v20.20.2
"""
TAP = """\
TAP version 13
not ok 1 - adds
  ---
  duration_ms: 1.4
  location: '/w/copy/t.test.js:3:1'
  error: 'too small'
  name: 'TypeError'
  stack: |-
    exports.f (/w/copy/lib.js:1:32)
    Test.run (node:internal/test_runner/test:796:25)
  ...
# fail 1
"""


@pytest.mark.parametrize(
    ("text", "message", "path", "line"),
    [
        ("a.c:1:20: error: x undeclared\n    1 | return x;\n      |        ^\nb.c:2:1: error: y\n", "x undeclared", "a.c", 1),
        ("Main.java:3: error: ';' expected\n  int a\n       ^\n1 error\n", "';' expected", "Main.java", 3),
        ("src/a.ts(4,7): error TS2322: Type 'x' is not 'y'.\n", "Type 'x' is not 'y'.", "src/a.ts", 4),
        ("error[E0308]: mismatched types\n --> src/main.rs:7:9\n  |\n", "mismatched types", "src/main.rs", 7),
        ("./main.go:5:2: undefined: x\n", "undefined: x", "main.go", 5),
        ('  File "/w/copy/s.py", line 1\n    def f(:\n          ^\nSyntaxError: bad\n', "SyntaxError: bad", "s.py", 1),
        (
            '__ ERROR t.py __\nE     File "/w/copy/s.py", line 2\nE       <<< ours\nE   SyntaxError: invalid\nERROR t.py\n',
            "SyntaxError: invalid", "s.py", 2,
        ),
        ("__ test_a __\n\n> assert 1 == 2\nE   assert 1 == 2\n\nt.py:3: AssertionError\n", "assert 1 == 2", "t.py", 3),
        ('Traceback (most recent call last):\n  File "a.py", line 2, in f\n    raise\nKeyError: 1\n', "KeyError: 1", "a.py", 2),
        (NODE, "AssertionError [ERR_ASSERTION]: Not equal:", "x.js", 3),
        (UNREADABLE, "SyntaxError: Unexpected token ';'", "bad.js", 1),
        (TAP, "too small", "lib.js", 1),
        ("nothing known\nlast words\n", "exit code 1: last words", "", 0),
    ],
)  # fmt: skip
def test_the_first_error(text: str, message: str, path: str, line: int) -> None:
    """HYP-39."""
    found = said(text)
    assert (message, path, line) == (found["message"], found["path"], found["line"])


def test_the_block_of_an_error_has_its_caret() -> None:
    """HYP-39."""
    block = said(
        "a.c:1:20: error: x undeclared\n    1 | return x;\n      |        ^\nb.c:2:1: error: y\n"
    )["block"]
    assert block.endswith("^") and "b.c" not in block


def test_the_tests_that_fail_have_names() -> None:
    pytest_said = (
        "FAILED t/test_a.py::test_x[1 2] - assert 0\nERROR t/test_b.py\nFAILED (failures=1)\n"
    )
    assert ["t/test_a.py::test_x[1 2]", "t/test_b.py"] == failure.failing(pytest_said)
    assert ["test_x (m.T.test_x)"] == failure.failing(
        "FAIL: test_x (m.T.test_x)\n-----\nFAILED (failures=1)\n"
    )
    assert ["a.c: x", "b.c: y"] == failure.failing("a.c:1:2: error: x\nb.c:2:1: error: y\n")
