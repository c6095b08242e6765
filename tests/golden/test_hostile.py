"""Texts made to break a reader: each gives its findings, in time, and never an exception.

The rows are those that a security review of plan languages lists: encodings, separators, hidden and
look-alike characters, indentation, sizes, nesting, numbers. They are made here, not stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.tails import malformed_tails
from fdc_toolchain.syntax.write import canonical
from fdc_toolchain.diagnostics.source import Limits

MEBI = 1 << 20


def fill(piece: str, size: int = MEBI) -> bytes:
    data = piece.encode()
    return (data * (size // len(data) + 1))[:size]


def rows(line: Callable[[int], str], count: int = 2) -> bytes:
    """`count` long lines that differ, so that nothing is remembered from one to the next."""
    return "\n".join(line(number) for number in range(count)).encode()


def body_of(head: Callable[[int], str], count: int = 2) -> bytes:
    return rows(lambda number: f"{head(number)}\n  submit", count)


# name: (bytes, codes in the order of the text)
CHARACTERS: dict[str, tuple[bytes, list[str]]] = {
    "a byte that is not UTF-8": (b"submit\nmessage_user caf\xe9\n", ["FDC101"]),
    "a byte that is not UTF-8 in a tool's name": (b"submi\xff\nplan_step_complete\n", ["FDC101"]),
    "overlong encoding": (b"message_user \xc0\xaf\n", ["FDC101"]),
    "a surrogate in UTF-8": (b"message_user \xed\xa0\x80\n", ["FDC101"]),
    "UTF-16": ("\ufeffsubmit\n".encode("utf-16-le"), ["FDC101"] * 8),
    "a truncated character at the end": (b"message_user \xe2\x82", ["FDC101"]),
    "NUL": (b"message_user a\0b\n", ["FDC101"]),
    "a NUL line": (b"submit\n\0\nsubmit\n", ["FDC101"]),
    "an escape sequence": (b"message_user \x1b[2Jgone\n", ["FDC101"]),
    "a C1 control": ("message_user \x9b2J\n".encode(), ["FDC101"]),
    "DEL": (b"message_user a\x7f\n", ["FDC101"]),
    "a byte order mark at the start": ("\ufeffsubmit\n".encode(), ["FDC121"]),
    "a byte order mark and nothing": (b"\xef\xbb\xbf", ["FDC121", "FDC118"]),
    "a byte order mark twice": ("\ufeff\ufeffsubmit\n".encode(), ["FDC121", "FDC102"]),
    "a byte order mark inside": ("submit\n\ufeffsubmit\n".encode(), ["FDC102"]),
    "CRLF": (b"set_plan a\r\nsubmit\r\n", []),
    "CRLF and LF": (b"set_plan a\r\nsubmit\nsubmit\r\n", []),
    "a lone CR between lines": (b"set_plan a\rsubmit\n", ["FDC104"]),
    "CR CR LF": (b"submit\r\r\n", ["FDC104"]),
    "U+2028 inside a line": ("message_user a\u2028submit\n".encode(), ["FDC104"]),
    "U+0085 inside a line": ("message_user a\x85b\n".encode(), ["FDC104"]),
    "a form feed": (b"submit\n\x0c\nsubmit\n", ["FDC104"]),
    "bidirectional override": (
        "message_user \u202etxt.eruces\u202c\n".encode(),
        ["FDC103", "FDC103"],
    ),
    "bidirectional isolate in a comment": ("# \u2066 note\nsubmit\n".encode(), ["FDC103"]),
    "a zero-width space in a tool's name": ("sub\u200bmit\n".encode(), ["FDC103"]),
    "a zero-width joiner in a path": ("read_file a\u200db\n".encode(), ["FDC103"]),
    "a soft hyphen": ("message_user a\u00adb\n".encode(), ["FDC103"]),
    "an invisible letter": ("message_user a\u3164b\n".encode(), ["FDC103"]),
    "tag characters": ("message_user a\U000e0041\n".encode(), ["FDC103"]),
    "hidden text in a text block": ("message_user\n  a\u202eb\n".encode(), ["FDC103"]),
    "a Cyrillic letter in a tool's name": ("r\u0435ad_file a\n".encode(), ["FDC113"]),
    "a Cyrillic letter in a keyword": (
        "if x\n  submit\n\u0435lse\n  submit\n".encode(),
        ["FDC113"],
    ),
    "a full-width letter in a bound name": ("\uff41 <- submit\n".encode(), ["FDC113"]),
    "a parameter outside ASCII": ("param gr\u00f6\u00dfe\nsubmit\n".encode(), ["FDC109"]),
    "a digit outside ASCII as a bound": ("iterate max \u0663\n  submit\n".encode(), ["FDC109"]),
    "a no-break space between words": ("read_file\u00a0a\n".encode(), ["FDC109"]),
    "a no-break space as indentation": ("if x\n\u00a0\u00a0submit\n".encode(), ["FDC105"]),
    "other scripts in texts": ("message_user Grüße, 世界, שלום\n".encode(), []),
}

INDENTATION: dict[str, tuple[bytes, list[str]]] = {
    "a tab": (b"if x\n\tsubmit\n", ["FDC105"]),
    "spaces and then a tab": (b"if x\n  \tsubmit\n", ["FDC105"]),
    "a tab in one line of a body": (b"if x\n  submit\n\tsubmit\n  submit\n", ["FDC105"]),
    "a tab as a block's indentation": (b"message_user\n\thello\n", ["FDC105"]),
    "a tab inside a block": (b"message_user\n  all:\n  \tmake\n", []),
    "a block that starts with a tab": (b"message_user\n  \tmake\n", []),
    "a block whose first line has a tab in it": (b"message_user\n  a\tb\n", []),
    "a tab after a tool": (b"read_file\ta\n", ["FDC109"]),
    "a tab at a line's end": (b"read_file a\t\n", ["FDC109"]),
    "a level that is not open": (b"if x\n    submit\n  submit\n", ["FDC107"]),
    "indentation under a header": (b"use fsm x\n  submit\nsubmit\n", ["FDC107"]),
    "indentation under a call": (b"call_plan x\n  text\n", ["FDC107"]),
    "the first line indented": (b"  submit\nsubmit\n", ["FDC107"]),
    "no body": (b"for_each_file *.py\nsubmit\n", ["FDC108"]),
    "only a comment as body": (b"if x\n  # later\nsubmit\n", ["FDC108"]),
    "an else alone": (b"else\n  submit\n", ["FDC110"]),
    "two elses": (b"if x\n  submit\nelse\n  submit\nelse\n  submit\n", ["FDC110"]),
    "nothing at all": (b"", ["FDC118"]),
    "only blank lines": (b"\n  \n\t\n", ["FDC118"]),
    "only comments": (b"# FSM: a.json\n# b\n", ["FDC118"]),
    "no line end at the end": (b"submit", []),
}

NUMBERS: dict[str, tuple[bytes, list[str]]] = {
    "a negative bound": (b"iterate max -1\n  submit\n", ["FDC109"]),
    "a bound in floating point": (b"iterate max 1e18\n  submit\n", ["FDC109"]),
    "a bound with a fraction": (b"iterate max 2.5\n  submit\n", ["FDC109"]),
    "a bound that is computed": (b"for x in {y} max {n}\n  submit\n", ["FDC109"]),
    "a bound of 60,000 digits": (b"iterate max " + b"9" * 60_000 + b"\n  submit\n", ["FDC109"]),
    "a constant of 60,000 digits": (b"if x > " + b"9" * 60_000 + b"\n  submit\n", ["FDC109"]),
    "a constant that would be infinite": (b"if x > " + b"9" * 400 + b".0\n  submit\n", ["FDC109"]),
    "a budget of 60,000 digits": (b"budget steps " + b"9" * 60_000 + b"\nsubmit\n", ["FDC109"]),
    "1e18 written out": (b"iterate max 1000000000000000000\n  submit\n", ["FDC109"]),
    "the largest bound": (b"iterate max 999999999999999\n  submit\n", []),
}

NEXT = "\n"
DEEP = "".join("  " * level + "if x\n" for level in range(64)) + "  " * 64 + "submit\n"
SIZES: dict[str, tuple[bytes, list[str]]] = {
    "a file of 1 MiB": (b"message_user\n" + fill("  a\n", MEBI - 13), []),
    "a file of 1 MiB and a byte": (b"message_user\n" + fill("  a\n", MEBI - 12), ["FDC106"]),
    "a file of 10 MB": (fill("submit\n", 10_000_000), ["FDC106"]),
    "a line of 64 KiB": (b"message_user " + b"a" * (65536 - 13) + b"\n", []),
    "a line of 64 KiB and a character": (b"message_user " + b"a" * (65536 - 12) + b"\n", ["FDC106"]),
    "a line of 1 MiB": (b"a" * MEBI, ["FDC106"]),
    "a line of 10 MB": (b"a" * 10_000_000, ["FDC106"]),
    "50,000 statements": (b"a\n" * 50_000, []),
    "50,001 statements": (b"a\n" * 50_001, ["FDC106"]),
    "50,001 comments": (b"#\n" * 50_001, ["FDC106"]),
    "50,001 headers": (b"use fsm x\n" * 50_001, ["FDC106"]),
    "1,002 lines of another language": (b"int() {}\n" * 1_002, ["FDC109"] * 1_001 + ["FDC106"]),
    "64 nested bodies": (DEEP.encode(), []),
    "65 nested bodies": (f"if x\n  {DEEP[:-1].replace(NEXT, NEXT + '  ')}\n".encode(), ["FDC106"]),
    "1,000 nested bodies": ("".join(" " * level + "if x\n" for level in range(1_000)).encode(), ["FDC106"]),
    "a condition nested 64 deep": (b"if " + b"not " * 62 + b"x == y\n  submit\n", []),
    "a condition nested 65 deep": (b"if " + b"not " * 63 + b"x == y\n  submit\n", ["FDC109"]),
    "30,000 brackets": (b"if " + b"(" * 30_000 + b"x" + b")" * 30_000 + b"\n  submit\n", []),
    "30,000 open brackets": (b"if " + b"(" * 30_000 + b"x\n  submit\n", ["FDC109"]),
}  # fmt: skip

SLOW: dict[str, tuple[bytes, list[str]]] = {
    "1 MiB of line ends": (b"\n" * MEBI, ["FDC118"]),
    "1 MiB of NUL lines": (fill("\0\n"), ["FDC101"] * 100 + ["FDC109"] * 901 + ["FDC106"]),
    "1 MiB of stray else": (fill("else\n"), ["FDC106"]),
    "1 MiB of short blocks": (fill("a\n b\n"), ["FDC106"]),
    "conditions of `or`": (body_of(lambda n: f"if v{n}" + " or a" * 13_000), []),
    "conditions of brackets": (
        body_of(lambda n: "if " + "(" * 32_000 + f"v{n}" + ")" * 32_000),
        [],
    ),
    "conditions of `and`": (
        body_of(lambda n: f"if v{n} and " + "(a and " * 8_000 + "a" + ")" * 8_000),
        ["FDC109"] * 2,
    ),
    "chains of comparisons": (body_of(lambda n: f"if v{n}" + "<a" * 30_000), ["FDC109"] * 2),
    "references of many fields": (body_of(lambda n: f"if v{n}" + ".a" * 30_000), []),
    "calls of many arguments": (rows(lambda n: f"call_plan v{n}" + " a=1" * 16_000), []),
    "headers of many values": (rows(lambda n: f"allow v{n}" + " a" * 30_000) + b"\nsubmit\n", []),
    "spaces before a tab": (rows(lambda n: f"v{n}" + " " * 60_000 + "\t"), ["FDC109"] * 2),
    "words before a tab": (rows(lambda n: f"v{n} b" + " b" * 30_000 + "\t"), ["FDC109"] * 2),
    "open braces": (rows(lambda n: f"message_user {n}" + "{" * 60_000), []),
    "half placeholders": (rows(lambda n: f"message_user {n}" + "{a." * 20_000), []),
    "open quotes": (rows(lambda n: f"yield v{n}" + '"a ' * 20_000), ["FDC109"] * 2),
    "backslashes": (rows(lambda n: f'yield "{n}' + "\\\\" * 30_000 + '"'), []),
}


DEFAULT = Limits()


def codes(data: bytes, limits: Limits = DEFAULT) -> list[str]:
    """The codes of everything found, tails included, in the order of the text."""
    parsed = parse(data, "hostile.plan", limits)
    found = list(parsed.diagnostics)
    if parsed.plan is not None:
        found += malformed_tails(parsed.plan)
    return [item.code for item in sorted(found, key=lambda item: item.span.line)]


FAST = {**CHARACTERS, **INDENTATION, **NUMBERS, **SIZES}


@pytest.mark.parametrize("name", FAST)
def test_a_hostile_text_gives_its_findings(name: str) -> None:
    data, expected = FAST[name]
    assert expected == codes(data)
    new, found = canonical(data, "hostile.plan")
    assert (new is None) == any(item.severity == "error" for item in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_text_made_to_be_slow_is_read_in_time(name: str) -> None:
    data, expected = SLOW[name]
    assert len(data) <= MEBI
    start = time.process_time()
    found = codes(data)
    assert time.process_time() - start < 10, "reading is not linear"
    assert expected == found


def test_limits_are_settings() -> None:
    limits = Limits(file_bytes=100, line_characters=20, statements=3, nesting=1, findings=2)
    assert ["FDC106"] == codes(b"a\n" * 51, limits)
    assert ["FDC106"] == codes(b"a" * 21, limits)
    assert ["FDC106"] == codes(b"a\n" * 4, limits)
    assert ["FDC106"] == codes(b"if x\n  if x\n    a\n", limits)
    assert [] == codes(b"if x\n  a\n", limits)


def test_a_text_over_a_limit_is_refused_not_half_read() -> None:
    parsed = parse(b"!\n" + b"a\n" * 50_001, "hostile.plan")
    assert parsed.plan is None
    assert ["FDC109", "FDC106"] == [item.code for item in parsed.diagnostics]


def test_a_byte_that_is_not_text_is_named_with_its_offset() -> None:
    """The row of encodings: one error with the byte's offset."""
    for data, place in [
        (b"set_plan \xc3\xa9 \xff", 12),
        (b"\xef\xbb\xbfset_plan \xc3\xa9 \0", 15),
        (b"a\r\nb \x01\r\n", 5),
    ]:
        found = [item for item in parse(data, "p").diagnostics if item.code == "FDC101"]
        assert len(found) == 1 and f"at offset {place}" in found[0].message


def test_lines_count_as_in_every_editor() -> None:
    """CRLF is one line end, and neither U+2028 nor a form feed is any."""
    text = "set_plan a\r\nmessage_user x\u2028y\r\n\x0c\r\nIF\n".encode()
    assert [(2, 15), (3, 1), (4, 1)] == [item.span[1:3] for item in parse(text, "p").diagnostics]
