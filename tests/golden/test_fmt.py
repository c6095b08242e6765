"""Plans as they are typed (`fmt/NAME.plan`) and as `fdc fmt` writes them (`fmt/NAME.out`)."""

from __future__ import annotations

import pytest
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.tails import meaning
from fdc_toolchain.syntax.write import canonical

from tests.support.golden import FOLDER, check

NAMES = sorted(path.stem for path in (FOLDER / "fmt").glob("*.plan"))


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_written_in_its_canonical_form(name: str) -> None:
    data = (FOLDER / "fmt" / f"{name}.plan").read_bytes()
    new, found = canonical(data, name)
    assert [] == found and new is not None
    check(f"fmt/{name}.out", new.decode())


@pytest.mark.parametrize("name", NAMES)
def test_the_canonical_form_is_stable_and_means_the_same(name: str) -> None:
    data, out = ((FOLDER / "fmt" / f"{name}.{end}").read_bytes() for end in ("plan", "out"))
    assert (out, []) == canonical(out, name)
    before, after = parse(data, name).plan, parse(out, name).plan
    assert before is not None and after is not None
    assert meaning(before.statements) == meaning(after.statements)


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_are_kept(name: str) -> None:
    """The first line decides: a file with mixed line ends gets one kind."""
    data, out = ((FOLDER / "fmt" / f"{name}.{end}").read_bytes() for end in ("plan", "out"))
    dos = out.replace(b"\n", b"\r\n")
    assert (dos, []) == canonical(data.replace(b"\n", b"\r\n"), name)
    assert (dos, []) == canonical(data.replace(b"\n", b"\r\n", 9), name)
    assert (out, []) == canonical(b"\n" + data.replace(b"\n", b"\r\n"), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_byte_order_mark_goes_and_is_mentioned(name: str) -> None:
    data, out = ((FOLDER / "fmt" / f"{name}.{end}").read_bytes() for end in ("plan", "out"))
    new, found = canonical(b"\xef\xbb\xbf" + data, name)
    assert (out, ["FDC121"]) == (new, [item.code for item in found])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("submit\n\tsubmit\n", "FDC105"),
        ("if x = 3\n  submit\n", "FDC109"),
        ("elif x\n  submit\n", "FDC109"),
        ("set_plan: x\n", "FDC119"),
        ("message_user \u202ex\n", "FDC103"),
        ("# only a comment\n", "FDC118"),
        ("", "FDC118"),
    ],
)
def test_a_text_that_is_not_understood_is_not_rewritten(text: str, code: str) -> None:
    new, found = canonical(text.encode(), "p")
    assert new is None and [code] == [item.code for item in found]
