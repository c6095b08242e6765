"""`fdc diff --fail-on`: what somebody who had read the page only found to pass, and what must pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.runs.plan_diff.compare import compare

from tests.property.test_plan_diff import side, small
from tests.support.weaker_pairs import inner, plan, write

PLAN = "p <- read_file docs/tea.md\n"
ASK, RUN = "approve_plan {p}\n", "run_plan {p}\n"
ROUND = "iterate max 3{}\n  s <- read_file docs/tea.md\n"
LIST, EACH = "p <- list_files docs\n", "for f in {p} max 9\n"
OK = "ok <- request_user_input Fine?\nrequire ok == 'yes' else 'no'\n"
WRITE, ADD = write("Tea", "docs/tea.md"), "git_add docs/tea.md\n"
SEE, GREEN = "s <- read_file docs/tea.md\n", "git_add docs/green.md\n"
PAGE = "  overwrite_file_with_block out/page.md\n    {f}\n"
FILES = "for_each_file docs/*.md max 5\n  hello_world {file1}\n"
GO = "require s == 'go' else 'x'\n"
WEAKER = {
    "a plan is run that nobody approved": (PLAN + ASK + RUN, PLAN + RUN),
    "a plan is approved after its run": (PLAN + ASK + RUN, PLAN + RUN + ASK),
    "an `until` ends a loop whose rounds all have a gate": (
        ROUND.format("") + "  " + GO, ROUND.format(" until s == 'go'") + "  message_user {s}\n  " + GO),
    "an `until` ends a loop that binds what a gate asks about": (ROUND.format("") + GO, ROUND.format(" until s == 'tea'") + GO),
    "the user is told nothing of the items": (LIST + EACH + "  message_user {f}\n" + OK, LIST + OK),
    "the user is told of some items only": (
        LIST + EACH + "  message_user {f}\n" + OK, LIST + EACH + "  if f != 'a'\n    message_user {f}\n" + OK),
    "the user is not told in a branch": (LIST + "if len(p) > 5\n  message_user many\n" + OK, LIST + OK),
    "the user is told in another order": ("message_user A\nmessage_user B\n" + OK, "message_user B\nmessage_user A\n" + OK),
    "the user is not told before the question of the next round": (
        LIST + EACH + inner(OK) + "  message_user {f}\n", LIST + EACH + inner(OK) + "for f in {p} max 9\n  message_user {f}\n"),
    "the user is told before each question, and not all before the first": (
        LIST + EACH + "  message_user {f}\n" + EACH + inner(OK), LIST + EACH + "  message_user {f}\n" + inner(OK)),
    "a question is asked when not all files are written": (
        LIST + EACH + PAGE + EACH + inner(OK), LIST + EACH + PAGE + inner(OK)),
}  # fmt: skip
MORE = {
    "a page is committed as it was": (WRITE + ADD, "read_file docs/tea.md\n" + ADD),
    "another text is committed": (WRITE + ADD, WRITE.replace("Tea", "Coffee") + ADD),
    "a page is committed before it is rewritten": (WRITE + ADD, ADD + WRITE),
    "a file is in a loop that was deleted before": ("delete_file docs/tea.md\n" + FILES, FILES),
    "a file that was deleted before is in a list": (
        "delete_file docs/tea.md\n" + LIST + "require len(p) > 1 else 'x'\n", LIST + "require len(p) > 1 else 'x'\n"),
    "a file that was rewritten before is read": (WRITE + SEE + GO, SEE + GO),
}  # fmt: skip
NO_MORE = {
    "a page that nobody reads": (WRITE + "s <- read_file docs/green.md\n" + GO, "s <- read_file docs/green.md\n" + GO),
    "another text that nobody reads": (WRITE + GREEN, WRITE.replace("Tea", "Coffee") + GREEN),
    "a page that was read before": (SEE + GO + WRITE, SEE + GO),
}  # fmt: skip
THREE, NINE = (EACH.replace("9", most) + "  hello_world {f}\n" for most in "39")
MORE_THREE, MORE_NINE = (text.replace("hello_world", "hello_world more") for text in (THREE, NINE))
MORE_FILES = FILES.replace("hello_world", "hello_world more")
GATHERS = (
    "  p <- list_files docs\n  q <- for f in {p} max 9\n    s <- read_file {f}\n    yield {s}\n"
)
ROUNDS = GATHERS + "  t <- read_file docs/tea.md\n  message_user {q}\n"
CARRIES = "iterate max 3 until t == 'go'\n" + ROUNDS + "require t == 'go' else 'x'\n"
ITERATES = "iterate max {}\n  hello_world a\niterate max {}\n  hello_world b\n"
COSTLIER = {
    "loops over a list exchange their bounds": (LIST + THREE + MORE_NINE, LIST + NINE + MORE_THREE),
    "loops over a list change places": (LIST + THREE + MORE_NINE, LIST + MORE_NINE + THREE),
    "branches exchange the bounds of their loops": (
        LIST + "if a == 'x'\n" + inner(THREE) + "else\n" + inner(MORE_NINE),
        LIST + "if a == 'x'\n" + inner(NINE) + "else\n" + inner(MORE_THREE)),
    "a bound holds in a branch only": (LIST + THREE + MORE_NINE, LIST + "if a == 'x'\n" + inner(THREE) + MORE_NINE),
    "a bound holds in a loop only": (
        LIST + THREE + MORE_NINE, LIST + "for g in {p} max 9\n" + inner(THREE) + MORE_NINE),
    "loops over files exchange their bounds": (FILES + MORE_FILES.replace("5", "9"), FILES.replace("5", "9") + MORE_FILES),
    "`iterate`s exchange their rounds": (ITERATES.format(3, 9), ITERATES.format(9, 3)),
    "a loop in one that carries a value goes on with more items": (CARRIES, CARRIES.replace("max 9", "max 10")),
}  # fmt: skip
NO_COSTLIER = {
    "the first of two loops has the lower bound afterwards": (LIST + NINE + MORE_THREE, LIST + THREE + MORE_NINE),
    "a loop in one that carries a value has a lower bound": (CARRIES, CARRIES.replace("max 9", "max 8")),
}  # fmt: skip
HARMLESS = {
    "a message where the question is not asked": (
        LIST + "if len(p) > 5\n" + inner(OK) + "else\n  message_user few\n", LIST + "if len(p) > 5\n" + inner(OK)),
    "one more message": ("message_user A\nmessage_user B\n" + OK, "message_user A\nmessage_user C\nmessage_user B\n" + OK),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("found")
    return laid(root, CHECK)


def laid(root: Path, check_plan: str) -> Path:
    (root / "docs").mkdir(parents=True)
    for name, text in {
        "docs/tea.md": "tea\n",
        "docs/green.md": "green\n",
        "Makefile": "tea:\n\ttrue\n",
        "fdc.toml": "",
        "check.plan": check_plan,
    }.items():
        (root / name).write_text(text, "utf-8")
    return root


@pytest.mark.parametrize("what", WEAKER)
def test_a_weaker_gate_is_told(place: Path, what: str) -> None:
    old, new = (side(place, small(body)) for body in WEAKER[what])
    assert compare(old, new).grown["weaker-gate"]
    assert not any(compare(old, old).grown.values())


@pytest.mark.parametrize("what", MORE)
def test_more_access_is_told(place: Path, what: str) -> None:
    old, new = (side(place, plan(body)) for body in MORE[what])
    assert compare(old, new).grown["more-access"]
    assert not any(compare(old, old).grown.values())


@pytest.mark.parametrize("what", COSTLIER)
def test_more_cost_is_told(place: Path, what: str) -> None:
    old, new = (side(place, small(body)) for body in COSTLIER[what])
    found = compare(old, new)
    assert found.grown["more-cost"] and not found.grown["more-access"]
    assert not any(compare(old, old).grown.values())


@pytest.mark.parametrize("what", NO_COSTLIER)
def test_bounds_that_let_no_step_be_done_more_often_pass(place: Path, what: str) -> None:
    old, new = (side(place, small(body)) for body in NO_COSTLIER[what])
    assert not any(compare(old, new).grown.values())


@pytest.mark.parametrize("what", NO_MORE)
def test_no_more_access_passes(place: Path, what: str) -> None:
    old, new = (side(place, plan(body)) for body in NO_MORE[what])
    found = compare(old, new)
    assert found.differences and not any(found.grown.values()), found.grown


@pytest.mark.parametrize("what", HARMLESS)
def test_a_gate_that_is_as_strong_passes(place: Path, what: str) -> None:
    old, new = (side(place, small(body)) for body in HARMLESS[what])
    found = compare(old, new)
    assert found.differences and not found.grown["weaker-gate"]


CHECK = "param path\ns <- read_file {path}\nt <- read_file docs/tea.md\nyield {s}\n"
CALL = "  s <- call_plan check.plan path={f}\n"
PAGES = "p <- list_files docs\ns <- read_file docs/tea.md\n"
CALLING = {
    "carried": PAGES + "for f in {p} max 9\n  " + GO + CALL,
    "bound after the loop": PAGES + "for f in {p} max 9\n" + CALL + GO,
    "gathered": PAGES + "s <- for f in {p} max 9\n" + CALL + "  yield {s}\n" + GO,
    "until": "f <- hello_world\niterate max 3 until s == 'go'\n  s <- call_plan check.plan path=docs/{f}\n",
}  # fmt: skip


@pytest.mark.parametrize("what", CALLING)
def test_a_loop_calls_a_plan_that_gives_something_else_in_the_new_workspace(tmp_path: Path, what: str) -> None:  # fmt: skip
    """The text of the loop is the same, and what it binds is not."""
    text = small(CALLING[what])
    old = side(laid(tmp_path / "old", CHECK), text)
    for number, other in enumerate((CHECK.replace("yield {s}", "yield {t}"), CHECK.replace("tea.md", "green.md"))):  # fmt: skip
        new = side(laid(tmp_path / f"new{number}", other), text)
        assert compare(old, new).grown["weaker-gate"], other
    renamed = CHECK.replace("s <-", "what <-").replace("{s}", "{what}")
    same = side(laid(tmp_path / "same", "# A note.\n" + renamed), text)
    assert not any(compare(old, same).grown.values())
