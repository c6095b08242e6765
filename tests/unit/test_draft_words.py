"""Skeletons of `fdc draft`: changes that a task spells out, questions that a command answers, and words that no step is for."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.draft.details import answering
from fdc_toolchain.draft.edits import edits, spelled
from fdc_toolchain.draft.skeleton import Skeleton, skeleton
from fdc_toolchain.draft.unplanned import unplanned
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.text.merge_diff import apply
from fdc_toolchain.tools.plans.plan_text import proved

FSM = "tooling/fdc_fsm.json"
TEA = "# Tea\n\nGreen tea.\nGreen tea.\n\nBlack tea for {guest}.\n"


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A workspace with two pages and a module."""
    root = tmp_path_factory.mktemp("words")
    (root / "docs").mkdir()
    (root / "docs" / "tea.md").write_text(TEA, "utf-8")
    (root / "docs" / "old.md").write_text("Tea\n===\n", "utf-8")
    (root / "kettle.py").write_text("class Kettle:\n    def boil(self):\n        pass\n", "utf-8")
    (root / "fdc.toml").write_text("", "utf-8")
    (root / "my tea.md").write_text("Green tea.\n", "utf-8")
    return Linker(str(root), read_settings(str(root)))


def made(linker: Linker, task: str) -> Skeleton:
    """The skeleton, which has to hold."""
    found = skeleton(linker, task, fsm=FSM)
    assert proved(linker.root, "p.plan", found.text).findings == []
    return found


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ('Replace "Green" with "White" in docs/tea.md', TEA.replace("Green", "White")),
        ("change 'Black tea' to 'Oolong' in docs/tea.md", TEA.replace("Black tea", "Oolong")),
        ('Replace every "tea" by "{guest}" in docs/tea.md', TEA.replace("tea", "{guest}")),
        ('Append "See also: oolong" to docs/tea.md', f"{TEA}See also: oolong\n"),
        ('Add the line "First" at the top of docs/tea.md', f"First\n{TEA}"),
    ],
)
def test_a_change_that_the_task_spells_out_is_in_the_plan(
    linker: Linker, task: str, text: str
) -> None:
    """The plan changes the file as it is now, by the sections alone: nobody has to write its text."""
    plan = made(linker, task)
    assert plan.inputs == () and plan.fits
    assert "complete\nreplace_with_git_merge_diff docs/tea.md\n" in plan.text
    assert "overwrite" not in plan.text and plan.text.count("read_file") == 1  # after the change
    lines = spelled(linker.root, "docs/tea.md", edits(task))
    assert apply(TEA, "\n".join(lines).replace("{{guest}}", "{guest}"))[0] == text


def test_a_name_in_a_text_is_no_file_to_change(linker: Linker) -> None:
    """`Kettle` is defined in kettle.py, but here it is a word in another file."""
    plan = made(linker, 'Replace "Black" by "Kettle" in docs/tea.md')
    assert "kettle.py" not in plan.text


def test_what_was_changed_is_added_to_the_commit(linker: Linker) -> None:
    plan = made(linker, 'Replace "Black" by "White" in docs/tea.md and commit')
    assert "git_add docs/tea.md\ngit_commit " in plan.text and not plan.adds_nothing


def test_what_was_moved_or_deleted_is_added_to_the_commit(tmp_path: Path) -> None:
    """Behind the tests: directly behind the change the linter misses the file."""
    (tmp_path / "fdc.toml").write_text('test-command = "make test"\n', "utf-8")
    (tmp_path / "a.md").write_text("tea\n", "utf-8")
    there = Linker(str(tmp_path), read_settings(str(tmp_path)))
    plan = made(there, "Rename a.md to b.md and commit it")
    tests = "run_in_bash_session make test\n"
    assert f"rename_file a.md b.md\n{tests}git_add a.md\ngit_add b.md\ngit_commit " in plan.text
    assert (
        f"delete_file a.md\n{tests}git_add a.md\ngit_commit "
        in made(there, "Delete a.md and commit").text
    )
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    plan = made(Linker(str(tmp_path), read_settings(str(tmp_path))), "Delete a.md and commit")
    assert plan.adds_nothing and "git_add" not in plan.text


def test_a_change_that_changes_nothing_is_said(linker: Linker) -> None:
    plan = made(linker, 'Replace "Oolong" by "Tea" in docs/tea.md')
    assert plan.unfit == ("docs/tea.md",) and plan.inputs == ()
    plan = made(linker, 'Replace "Tea" by "Te" in docs/old.md')  # its second line is that of a diff
    assert plan.unfit == () and "  Tea\n  =======\n  Te\n" in plan.text
    assert spelled(linker.root, "docs/old.md", edits('replace "===" by "=======" in docs')) == []


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("Count the lines of docs/tea.md", "result1 <- run_in_bash_session wc -l docs/tea.md\n"),
        ("How many words does docs/tea.md have?", "run_in_bash_session wc -w docs/tea.md\n"),
        ("Tell me how many lines docs/tea.md and docs/old.md have", "wc -l docs/tea.md docs/old.md\n"),
        ("Show the difference between docs/tea.md and docs/old.md", "diff -u docs/tea.md docs/old.md\n"),
        ("Run ruff check and show me the output", "result1 <- run_in_bash_session ruff check\n"),
        ("Run gofmt -l . and go vet ./... and report the results",
         "result1 <- run_in_bash_session gofmt -l .\nresult2 <- run_in_bash_session go vet ./...\n"),
    ],
)  # fmt: skip
def test_what_a_command_tells_is_shown(linker: Linker, task: str, steps: str) -> None:
    plan = made(linker, task)
    assert steps in plan.text and "{result1.output}" in plan.text
    assert "read_file" not in plan.text and "grep" not in plan.text


@pytest.mark.parametrize(
    ("task", "step"),
    [
        ("Run make test and make lint, then commit", "session make test\nrun_in_bash_session make lint\n"),
        ("Run make all while there are errors", "run_in_bash_session make all\nclose_task"),
        ("Rename docs/old.md to docs/new.md, update the links in docs/tea.md",
         "rename_file docs/old.md docs/new.md\noverwrite_file_with_block docs/tea.md\n"),
        ("grep for \"Green\" in docs and save the hits to hits.txt",
         "list1 <- grep Green docs\noverwrite_file_with_block hits.txt\n  {list1}\n"),
        ("Run make. Then commit", "run_in_bash_session make\ngit_commit"),
        ('Commit with the message "Fix Kettle"', "git_commit Fix Kettle\n"),
        ("Show lines 2 to 4 of docs/tea.md", "read_lines docs/tea.md 2 4\n"),
        ("Print the first 3 lines of docs/tea.md", "read_lines docs/tea.md 1 3\n"),
        ("Ask me for a version number and write it to VERSION",
         "text1 <- request_user_input A version number?\noverwrite_file_with_block VERSION\n  {text1}\n"),
        ("Get my approval before you delete docs/old.md", "record_user_approval_for_plan\ndelete_file docs/old.md\n"),
        ("Ask for approval, then delete docs/old.md", "record_user_approval_for_plan\ndelete_file docs/old.md\n"),
        ("Where is kettle used?", "list1 <- grep kettle\n"),
    ],
)  # fmt: skip
def test_the_details_of_a_task_are_in_its_steps(linker: Linker, task: str, step: str) -> None:
    plan = made(linker, task)
    assert step in plan.text
    assert plan.adds_nothing is ("git_commit" in plan.text)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("If the tests fail, restore docs/tea.md", ["If the tests fail"]),
        ("Delete docs/old.md unless docs/tea.md names it", ["unless docs/tea.md names it"]),
        (
            "Run `make test` until it passes, at most 5 times",
            ["until it passes", "at most 5 times"],
        ),
        ("Add a function to kettle.py with a test", ["with a test"]),
        ("Add a function to kettle.py, including tests", ["including tests"]),
        ("Run make all while there are errors", ["while there are errors"]),
        ("Rename docs/old.md to docs/new.md and update the links", ["update the links"]),
        ("For each page, show its title", ["For each page"]),
        ("Check if docs/tea.md names oolong", []),
        ("Fix the links in docs/tea.md", []),
        ("Read every Markdown file in docs", []),
        ("List every file in docs", []),
        ("Add a function to kettle.py with a test in tests/test_kettle.py", []),
    ],
)
def test_words_that_a_skeleton_has_no_form_for_are_said(
    linker: Linker, task: str, words: list[str]
) -> None:
    assert [one for one, _ in made(linker, task).unplanned] == words


def test_what_is_not_planned_orders_no_step(linker: Linker) -> None:
    """A test that is a condition is not run, and a moved file is not written because imports are to be updated."""
    plan = made(linker, "If the tests fail, restore docs/tea.md")
    assert "run_in_bash_session" not in plan.text
    plan = made(linker, "Move docs/old.md to docs/new.md and update the links")
    assert "overwrite" not in plan.text and plan.inputs == ()
    plan = made(linker, "Only if docs/tea.md names oolong, delete docs/old.md")
    assert "read_file docs/tea.md\ndelete_file docs/old.md\n" in plan.text
    assert "delete_file docs/tea.md" not in plan.text
    assert [one.instead for one in unplanned("test it twice")] == [
        "a skeleton repeats nothing: write an `iterate`"
    ]


def test_the_command_says_what_the_plan_does_not_do(tmp_path: Path) -> None:
    from tests.support.process import fdc

    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "a.md").write_text("tea\n", "utf-8")
    done = fdc("draft", 'Replace "oolong" by "tea" in a.md', "-o", "-", cwd=tmp_path)
    assert done.stderr.startswith(
        "fdc: no step changes `a.md`: what is to be replaced is not in it"
    )
    task = "Rename a.md to b.md twice, then commit"
    done = fdc("draft", task, "-o", "-", cwd=tmp_path)
    assert done.stderr.split("\n")[:2] == [
        "fdc: no step adds a file to the commit: write `git_add FILE` for each",
        "fdc: the plan does not have `twice`: a skeleton repeats nothing: write an `iterate`",
    ]


def test_a_command_quotes_the_names_of_files() -> None:
    found = answering("count the lines", ["a b;id", "docs/tea.md"])
    assert found is not None and found.command == "wc -l 'a b;id' docs/tea.md"


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ('Read "my tea.md"', ['text1 <- read_file "my tea.md"']),
        ("delete 'my tea.md'", ['delete_file "my tea.md"']),
        ('rename "my tea.md" to "old tea.md"', ['rename_file "my tea.md" "old tea.md"']),
        ('Append "Oolong" to "my tea.md"', ['replace_with_git_merge_diff "my tea.md"']),
        ('copy docs/tea.md to "out/my tea.md"', ['overwrite_file_with_block "out/my tea.md"']),
        (
            'How many lines does "my tea.md" have?',
            ["result1 <- run_in_bash_session wc -l 'my tea.md'"],
        ),
        ('write "see the tea.md" to out.md', ["overwrite_file_with_block out.md"]),
    ],
)
def test_a_file_name_with_spaces_is_one_name(linker: Linker, task: str, steps: list[str]) -> None:
    """It was taken for its last word: `my tea.md` for `tea.md`, which the plan then wrote."""
    plan = made(linker, task)
    lines = plan.text.splitlines()
    assert all(step in lines for step in steps), plan.text
    assert not [line for line in lines[2:] if line.endswith(" tea.md") and line.count(" ") == 1]
    assert plan.missing == () and plan.fits


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "docs/../../x.md"])
def test_a_file_outside_of_the_workspace_is_named(linker: Linker, path: str) -> None:
    plan = made(linker, f"Read docs/tea.md and {path}")
    assert (path,) == plan.outside and "read_file docs/tea.md" in plan.text


def test_a_quotation_behind_commit_is_its_message(linker: Linker) -> None:
    assert "git_commit Drop it\n" in made(linker, 'Delete kettle.py and commit "Drop it"').text
    assert "git_add docs/tea.md\n" in made(linker, 'Commit "docs/tea.md"').text


@pytest.mark.parametrize(
    ("task", "spared", "changed"),
    [
        ("Delete all files in docs except docs/tea.md", "docs/tea.md", ""),
        ("Delete kettle.py but keep docs/tea.md", "docs/tea.md", "delete_file kettle.py"),
        ("Don't touch docs/tea.md; delete kettle.py", "docs/tea.md", "delete_file kettle.py"),
        ("Never delete docs/tea.md. Delete kettle.py", "docs/tea.md", "delete_file kettle.py"),
        ("Delete kettle.py, not docs/tea.md", "docs/tea.md", "delete_file kettle.py"),
        ("Delete kettle.py if it is named in docs/tea.md", "docs/tea.md", "delete_file kettle.py"),
        ("Delete kettle.py instead of docs/tea.md", "docs/tea.md", "delete_file kettle.py"),
        ("Compare docs/old.md with docs/tea.md and delete the older one", "docs/tea.md", ""),
        ("Copy docs/tea.md over docs/old.md", "docs/tea.md", "overwrite_file_with_block docs/old"),
        ("Copy docs/tea.md to docs/old.md", "docs/tea.md", "overwrite_file_with_block docs/old.md"),
        ("Append the contents of docs/tea.md to docs/old.md", "docs/old.md", ""),
    ],
)
def test_a_file_that_is_to_stay_as_it_is_is_not_changed(
    linker: Linker, task: str, spared: str, changed: str
) -> None:
    """Each of these plans deleted or overwrote the file that the task spares, and nothing said so."""
    lines = made(linker, task).text.splitlines()[2:]
    touching = [
        line for line in lines if spared in line and not line.startswith(("  ", "set_plan "))
    ]
    assert all("read_file" in line for line in touching), lines
    assert any(line.startswith(changed) for line in lines)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Delete all files in docs except docs/tea.md", "except docs/tea.md"),
        ("Delete kettle.py but keep docs/tea.md", "but keep docs/tea.md"),
        (
            "Append the contents of docs/tea.md to docs/old.md",
            "Append the contents of docs/tea.md to docs/old.md",
        ),
    ],
)
def test_an_exception_is_said(linker: Linker, task: str, words: str) -> None:
    assert [words] == [one for one, _ in made(linker, task).unplanned]


@pytest.mark.parametrize(
    "task", ["Ask me before you delete kettle.py", "Delete kettle.py, but ask me first"]
)
def test_a_person_who_is_to_be_asked_before_is_asked_before(linker: Linker, task: str) -> None:
    """The file was deleted at once."""
    lines = made(linker, task).text.splitlines()
    steps = [line.split()[0] for line in lines[2:]]
    assert "record_user_approval_for_plan" in steps[: steps.index("delete_file")]


def test_a_line_that_is_a_place_is_not_the_text_of_the_file(linker: Linker) -> None:
    plan = made(linker, 'Add "Oolong." after the line "Tea" in docs/tea.md')
    assert "docs/tea.md\n  {content}\n" in plan.text and ["content"] == [
        name for name, _ in plan.inputs
    ]


def test_several_replacements_are_all_made(linker: Linker) -> None:
    """The second was left out, and nothing said so."""
    plan = made(linker, 'Replace "Green" with "White" and "Black" by "Red" in docs/tea.md')
    assert "White tea." in plan.text and "Red tea" in plan.text
    swapped = made(linker, 'Replace "Green" with "Black" and "Black" with "Green" in docs/tea.md')
    assert ("docs/tea.md",) == swapped.unfit


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ('Remove the line "Green tea." from docs/tea.md', TEA.replace("Green tea.\n", "")),
        ('Delete the word "Green " from docs/tea.md', TEA.replace("Green ", "")),
        ('Remove "Black " in docs/tea.md', TEA.replace("Black ", "")),
    ],
)
def test_what_is_to_go_from_a_file_goes(linker: Linker, task: str, text: str) -> None:
    """The plan overwrote the file with the very line that was to go."""
    plan = made(linker, task)
    assert "replace_with_git_merge_diff docs/tea.md" in plan.text and "overwrite" not in plan.text
    lines = spelled(linker.root, "docs/tea.md", edits(task))
    assert apply(TEA, "\n".join(lines).replace("{{guest}}", "{guest}"))[0] == text
