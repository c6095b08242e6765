"""Laws of regions: a compiled file keeps them wherever somebody put them, and says the same besides."""

from __future__ import annotations

from fdc_toolchain.protocols.budget import measure
from fdc_toolchain.protocols.drift import drift
from fdc_toolchain.protocols.regions import put, take
from fdc_toolchain.protocols.seal import is_ours, is_sealed, seal
from hypothesis import assume, given
from hypothesis import strategies as st

BODY = (
    "<!-- head -->\n\nProtocol version: 1\n\n---\n\n# A\n\nOne.\nTwo.\n\n---\n\n"
    '```json\n{\n "a": 1\n}\n```\n\n---\n\n<!-- built from\nab x\n-->\n'
)
PAGE = f"{BODY}{seal(BODY)}\n"
SECTIONS = [("a.md", "# A\n\nOne.\nTwo."), ("a.json", '```json\n{\n "a": 1\n}\n```')]
LINES = PAGE.split("\n")
inner = st.lists(st.sampled_from(["mine", "", "```sh\nx\n```", "---", "# B", "One."]), max_size=4)
spots = st.lists(
    st.tuples(st.integers(0, len(LINES) - 1), inner, st.booleans(), st.booleans()),
    min_size=1,
    max_size=3,
)
marks = st.sampled_from(
    [
        "<!-- fdc:keep a -->",
        "<!-- /fdc:keep -->",
        "<!-- fdc:keep b -->",
        "<!--fdc:keep-->",
        "```",
        "",
        "x",
        "~~~",
    ]
)


def edited(page: str, where: list[tuple[int, list[str], bool, bool]]) -> str:
    """The page with a region behind each of the lines, with or without empty lines around it."""
    lines = page.split("\n")
    for number, (at, body, above, below) in reversed(list(enumerate(sorted(where)))):
        region = [
            f"<!-- fdc:keep r{number} -->",
            *"\n".join(body).split("\n"),
            "<!-- /fdc:keep -->",
        ]
        lines[at:at] = [*[""][: int(above)], *region, *[""][: int(below)]]
    return "\n".join(lines)


def full(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip()]


@given(spots)
def test_regions_come_out_as_they_went_in_and_the_seal_holds(
    where: list[tuple[int, list[str], bool, bool]],
) -> None:
    text = edited(PAGE, where)
    taken = take(text)
    assume(not taken.damaged and not taken.fenced)
    assert full(LINES) == full(taken.rest) and is_sealed(text) and is_ours(text)
    woven = put(PAGE, taken.regions, taken.rest)
    again = take(woven)
    assert sorted(r.lines for r in taken.regions) == sorted(
        r.lines for r in again.regions
    ) and full(LINES) == full(again.rest)
    assert woven == put(PAGE, again.regions, again.rest) and is_sealed(woven)
    assert [] == list(drift(woven, woven.encode(), "AGENTS.md"))
    assert len(woven.encode()) == sum(
        row.size for row in measure("AGENTS.md", PAGE, SECTIONS, woven)
    )


@given(spots, st.lists(st.sampled_from(["New.", "One.", "Three."]), max_size=3))
def test_regions_survive_a_change_of_what_is_around_them(
    where: list[tuple[int, list[str], bool, bool]], more: list[str]
) -> None:
    taken = take(edited(PAGE, where))
    assume(not taken.damaged and not taken.fenced)
    body = BODY.replace("One.", "\n".join(["Zero.", *more]))
    page = f"{body}{seal(body)}\n"
    woven = put(page, taken.regions, taken.rest)
    again = take(woven)
    assert not again.damaged and not again.fenced and is_sealed(woven)
    assert sorted(r.lines for r in taken.regions) == sorted(r.lines for r in again.regions)
    assert full(page.split("\n")) == full(again.rest)


@given(st.lists(marks, max_size=10))
def test_any_marks_are_regions_or_damage(lines: list[str]) -> None:
    """Nothing is lost: what is in no region is in the rest, or told as damage."""
    text = "\n".join(lines)
    taken = take(text)
    assert len(lines or [""]) == len(taken.names)
    held = sum(len(full(list(region.lines))) for region in taken.regions) + len(full(taken.rest))
    assert taken.damaged or len(full(lines)) == held


@given(st.text(), st.text())
def test_a_seal_holds_for_its_text_only(left: str, right: str) -> None:
    """Up to empty lines, which the build puts around regions."""
    assume("fdc:keep" not in left + right)
    whole = f"{left}\n{seal(left)}\n"
    assert is_sealed(whole)
    assume(full(left.split("\n")) != full(right.split("\n")))
    assert not is_sealed(f"{right}\n{seal(left)}\n")
