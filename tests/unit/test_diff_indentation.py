"""A diff whose lines the file has with another indentation is told where they stand (FDC484, and the step)."""

from __future__ import annotations

import pytest
from fdc_toolchain.text import merge_diff

from tests.support.linting import findings, lint

DIFF = "<<<<<<< SEARCH\n{}\n=======\nnew\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("text", "search", "told"),
    [
        (
            "x\n    a\n\n     b\n",
            "a\n\n b",
            ": from line 2 on it has these lines, indented by 4, and the section indents them by 0",
        ),
        (
            "x\na\n",
            "  a",
            ": from line 2 on it has these lines, indented by 0, and the section indents them by 2",
        ),
        ("a  b\n c \n", " c", ": from line 2 on it has these lines, with other white space"),
        ("ab\n", "a", ""),
        ("x\n", "\n", ""),
    ],
)
def test_it_says_where_the_lines_stand(text: str, search: str, told: str) -> None:
    with pytest.raises(merge_diff.NoMerge) as no:
        merge_diff.apply(text, DIFF.format(search))
    assert f"the section at line 1 of the diff is not in the file{told}" == str(no.value)


def test_the_linter_says_it_too() -> None:
    block = "".join(f"  {line}\n" for line in DIFF.format("  a").split("\n"))
    plan = "use fsm any.json\nreplace_with_git_merge_diff a.txt\n" + block
    (found,) = findings(lint({"a.plan": plan, "a.txt": "    a\n"}, "a.plan"), "FDC484")
    assert "indented by 4, and the section indents them by 2" in found.message
    assert "a text block loses the indentation" in str(found.help)


def test_what_is_assumed_of_a_diff_is_said_once_however_often_a_call_comes_to_it() -> None:
    edit = "replace_with_git_merge_diff x.md\n" + "".join(
        f"  {line}\n" for line in DIFF.format("a").splitlines()
    )
    plans = {"a.plan": "call_plan b.plan\n", "b.plan": "call_plan c.plan\n" * 2, "c.plan": edit}
    checked = lint(plans, "a.plan", there=("x.md",))
    found = [item for item in checked.assumptions if item.code == "FDC713"]
    assert [str(item.span) for item in found if item.span.path == "a.plan"] == ["a.plan:1:1"]
    assert len({(item.span, item.message) for item in found}) == len(found)
