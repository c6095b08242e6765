"""What the flow rule notes beside its findings: steps that leave text from outside in files."""

from __future__ import annotations

import pytest

from tests.support.linting import findings, lint

HEAD = "# FSM: any.json\n"
WEB = HEAD + "page <- view_text_website https://example.org/\n"


def test_of_a_name_that_nothing_binds_only_that_is_said() -> None:
    checked = lint({"a.plan": HEAD + "run_in_bash_session python3 -c '{page}'\n"}, "a.plan")
    assert [item.code for item in findings(checked)] == ["FDC311"]


@pytest.mark.parametrize(
    ("step", "mark"),
    [
        ("overwrite_file_with_block notes.md\n  {page}", "text"),
        ("overwrite_file_with_block notes.md\n  of our own", None),
        ('if page == ""\n  overwrite_file_with_block {run}/x\n    ours', "choice"),
    ],
)
def test_a_step_that_leaves_text_from_outside_in_a_file_is_marked(
    step: str, mark: str | None
) -> None:
    context = lint({"a.plan": WEB + step + "\n"}, "a.plan").context
    assert [what for _, what in sorted(context.marks.items())] == ([mark] if mark else [])


def test_a_finding_shows_where_the_text_comes_into_a_file_that_commands_see() -> None:
    kept = (
        WEB
        + "overwrite_file_with_block {run}/outside/p\n  {page}\nh <- request_user_input Which?\n"
    )
    copied = "t <- grep x {h}\noverwrite_file_with_block copy.md\n  {t}\nrun_in_bash_session ls\n"
    sub = "param t\noverwrite_file_with_block copy.md\n  {t}\n"
    called = "t <- grep x {h}\ncall_plan sub.plan t={t}\nrun_in_bash_session ls\n"
    for steps, wanted in ((copied, [2, 7]), (called, [2, 7])):
        checked = lint({"a.plan": kept + steps, "sub.plan": sub}, "a.plan", there=("a.txt",))
        (item,) = findings(checked, "FDC474")
        assert wanted == [label.span.line for label in item.labels], item
        assert "commands see" in item.labels[-1].message
    (item,) = findings(
        lint(WEB + "overwrite_file_with_block notes.md\n  {page}\nrun_in_bash_session ls\n"),
        "FDC474",
    )
    assert [2, 3] == [label.span.line for label in item.labels]
