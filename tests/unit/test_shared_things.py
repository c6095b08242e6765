"""Branches of a fork that use one thing which is no file of the plan: the index of git (FDC413)."""

from __future__ import annotations

import pytest

from tests.support.linting import lint, places

HEAD = "# FSM: any.json\n"
FORK = "l <- list_files d/*\nfork f in {l} max 2\n"


def found(text: str, **plans: str) -> list[tuple[str, int, str]]:
    files = {"a.plan": HEAD + text, **{f"{name}.plan": HEAD + body for name, body in plans.items()}}
    return places(lint(files, "a.plan", there=("d/x.md", "d/y.md")), "FDC413")


@pytest.mark.parametrize(
    "body",
    [
        "  git_add {f}\n",
        "  git_commit Done\n",
        "  git_add {f}\n  git_commit Done\n",
        '  if f == "d/x.md"\n    git_add {f}\n',
        "  iterate max 2\n    git_add {f}\n",
        "  call_plan b.plan\n",
    ],
)
def test_branches_that_use_gits_index_at_the_same_time_are_refused(body: str) -> None:
    assert found(FORK + body, b="call_plan c.plan\n", c="git_add d/x.md\n") == [
        ("a.plan", 3, "FDC413")
    ]
    assert found(FORK.replace("max 2", "max 1") + body, b="git_add d/x.md\n") == []
    assert found(FORK.replace("fork", "for") + body, b="git_add d/x.md\n") == []


def test_a_fork_in_a_called_plan_is_refused_there() -> None:
    assert found("call_plan b.plan\n", b=FORK + "  git_commit Done\n") == [("b.plan", 3, "FDC413")]


def test_after_the_fork_it_is_allowed() -> None:
    text = FORK + "  read_file {f}\ngit_add d/x.md\ngit_commit Done\n"
    assert found(text) == []


@pytest.mark.parametrize(
    "body", ["  read_file out/{f}\n", "  read_file out/x.md\n  read_file {f}\n"]
)
def test_commands_that_may_write_some_files_are_no_conflict_of_the_branches(body: str) -> None:
    """What they change is another assumption, also in a plan that says where they may write."""
    allow = "allow read **\nallow write out/**\nallow run *\n"
    assert found(f"{allow}{FORK}  run_in_bash_session make all\n{body}") == []


def test_a_fork_in_a_branch_is_looked_at_too() -> None:
    inside = "".join(f"  {line}\n" for line in f"{FORK}  git_add {{f}}".splitlines())
    assert [row[:2] for row in found(f"a <- request_user_input Go?\nif a == yes\n{inside}")] == [
        ("a.plan", 5)
    ]
    other = f"a <- request_user_input Go?\nif a == yes\n  message_user Yes.\nelse\n{inside}"
    assert [row[:2] for row in found(other)] == [("a.plan", 7)]
