"""Files where generated plans do not look: results as paths, words of findings, forks (FDC-19 to FDC-22, FDC413)."""

from __future__ import annotations

import pytest
from fdc_toolchain.check import check_paths

from tests.support.linting import ANY, findings, lint, places

FILES = ("FDC411", "FDC412", "FDC413", "FDC414")
ASSUMED = ("FDC414", "FDC702", "FDC703", "FDC704")
"""What is assumed of files; of programs (FDC707) and of types (FDC706) other tests speak."""


def told(text: str, there: tuple[str, ...] = (), **more: str) -> list[tuple[int, str, str]]:
    files = {"a.plan": text, **{name.replace("_", "."): body for name, body in more.items()}}
    return [
        (item.span.line, item.code, item.message)
        for item in findings(lint(files, "a.plan", there=there), *FILES)
    ]


def test_a_result_that_names_a_file_is_followed_until_it_is_bound_again():
    text = "r <- grep x\ndelete_file {r}\nread_file {r}\n"
    assert [(line, code) for line, code, _ in told(text)] == [(3, "FDC411")]
    assert told("r <- grep x\ndelete_file {r}\nr <- grep y\nread_file {r}\n") == []
    assert told('r <- grep x\ndelete_file {r}\nif cited("a")\n  r <- grep y\nread_file {r}\n') == []
    assert (
        told("for_each_file *\n  r <- grep x\n  delete_file {r}\nr <- grep y\nread_file {r}\n")
        == []
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("r <- grep x\ndelete_file {r}\nread_file {r}\nr <- grep y\n", 3),
        ("r <- grep x\nr <- grep y\ndelete_file {r}\nread_file {r}\n", 4),
        ("param r\ndelete_file {r}\nread_file {r}\nr <- grep x\n", 3),
        ('r <- grep x\nif cited("a")\n  r <- grep y\ndelete_file {r}\nread_file {r}\n', 5),
        ("for_each_file d/* as r\n  create_file_with_block {r}\n    x\n  r <- grep x\n", 2),
        ("for_each_file d/* as r\n  delete_file {r}\n  r <- grep x\n  read_file {file1}\n", 4),
        ("l <- grep x\nfor r in {l} max 2\n  delete_file {r}\n  read_file {r}\n  r <- grep x\n", 4),
        (
            "l <- grep x\nfork r in {l} max 2\n  delete_file {r}\n  read_file {r}\n  r <- grep x\n",
            4,
        ),
        ("r <- grep x\nfork i in {r} max 1\n  delete_file {r}\n  r <- grep x\nread_file {r}\n", 5),
        (
            "param r\nl <- grep x\nfork i in {l} max 2\n  overwrite_file_with_block {r}\n    x\n  r <- grep x\n",
            3,
        ),
        ("iterate max 2\n  r <- grep x\n  delete_file {r}\n  read_file {r}\n  r <- grep x\n", 4),
    ],
)
def test_a_name_that_is_bound_again_is_followed_from_binding_to_binding(text: str, line: int):
    """The checker of certificates does so too: `fdc run` refused such a plan, which lint had proved."""
    assert [(at, code[:5]) for at, code, _ in told(text)] == [(line, "FDC41")]


def test_each_turn_of_a_loop_has_a_result_of_its_own():
    assert told("for_each_file *\n  r <- grep {file1}\n  create_file_with_block {r}\n") == []
    assert told("r <- grep x\nfor_each_file *\n  create_file_with_block {r}\n") == [
        (3, "FDC412", "Cannot create `{r}`: it already exists")
    ]


def test_a_file_that_a_step_may_have_deleted_may_exist():
    text = "for_each_file d/*\n  delete_file {file1}\ncreate_file_with_block d/b\n"
    assert told(text, there=("d/b",)) == [(3, "FDC412", "Cannot create `d/b`: it may exist here")]


def test_two_names_of_the_same_file_are_one_file():
    text = "for_each_file *.x as f\n  delete_file {f}\n  read_file {file1}\n"
    assert told(text) == [(3, "FDC411", "Cannot access `{f}`: it does not exist at this point")]


def test_a_file_of_a_loop_is_called_what_the_plan_calls_it():
    """Two loops with one name are two files all the same."""
    text = (
        "for_each_file *.x as f\n  for_each_file *.x as f\n    delete_file {f}\n    read_file {f}\n"
    )
    said = "Cannot access `{f}`: it does not exist at this point"
    assert [(at, code, what) for at, code, what in told(text)] == [(4, "FDC411", said)]
    text = "for_each_file *.x as f\n  for_each_file *.x as f\n    delete_file {f}\n  read_file {file1}\n"
    assert [(at, code) for at, code, _ in told(text)] == [(4, "FDC411")]


def test_arguments_that_make_two_paths_one_are_seen():
    sub = "param a\nparam b\ndelete_file {a}\nread_file {b}\n"
    assert told("call_plan b.plan a=x b=y\n", there=("x", "y"), b_plan=sub) == []
    assert [
        code for _, code, _ in told("call_plan b.plan a=x b=x\n", there=("x",), b_plan=sub)
    ] == ["FDC411"]
    assert [
        code for _, code, _ in told("call_plan b.plan a=./x b=x\n", there=("x",), b_plan=sub)
    ] == ["FDC411"]


def test_a_field_of_an_argument_is_the_callers():
    """Not a file of the callee's own name in the caller."""
    sub = "param r\ndelete_file {r.path}\n"
    text = "r <- call_plan c.plan\nq <- call_plan c.plan\ncall_plan b.plan r={q}\nread_file {r.path}\nread_file {q.path}\n"
    assert [(line, code) for line, code, _ in told(text, b_plan=sub, c_plan="set_plan\n")] == [
        (5, "FDC411")
    ]


def test_a_path_that_only_the_callee_can_name_is_told_without_our_marks():
    sub = "for_each_file *\n  delete_file out/{file1}\n  read_file out/{file1}\n"
    [(line, code, message)] = told("call_plan b.plan\n", b_plan=sub)
    assert (line, code) == (1, "FDC411")
    assert message == "Cannot access `out/{file1}`: it does not exist at this point"
    assert message.isprintable()


def test_the_step_below_is_pointed_at():
    files = {
        "a.plan": "set_plan\ncall_plan b.plan\n",
        "b.plan": "call_plan c.plan\n",
        "c.plan": "\nread_file gone\n",
    }
    [found] = findings(lint(files, "a.plan"), "FDC411")
    assert (found.span.path, found.span.line) == ("a.plan", 2)
    assert [(label.span.path, label.span.line, label.message) for label in found.labels] == [
        ("c.plan", 2, "this step")
    ]


@pytest.mark.parametrize(
    ("text", "there", "help_"),
    [
        ("create_file_with_block x\n", ("x",), "use `overwrite_file_with_block` to replace it"),
        (
            "create_file_with_block x\n" * 2,
            (),
            "an earlier step, or an earlier round of the loop, creates it",
        ),
        ("read_file x\n", (), "a step that creates it must come before, on every run"),
        (
            "read_file ~/x\n",
            (),
            "`~` is text in a plan, not a home folder: write a path relative to the workspace's root",
        ),
        ("delete_file x\nread_file x\n", ("x",), "an earlier step deletes or renames it"),
        (
            "delete_file x\ngit_add x\n",
            ("x",),
            "to commit the removal, write a command between these two steps, such as the one that runs the tests",
        ),
        ("git_add x\n", (), "a step that creates it must come before, on every run"),
    ],
)
def test_the_help_fits_what_went_wrong(text: str, there: tuple[str, ...], help_: str):
    assert findings(lint(text, there=there), *FILES)[-1].help == help_


def assumed(text: str, there: tuple[str, ...] = (), **more: str) -> list[tuple[int, str, str]]:
    files = {"a.plan": text, **{name.replace("_", "."): body for name, body in more.items()}}
    found = lint(files, "a.plan", there=there)
    assert not findings(found, *FILES)
    return [
        (item.span.line, item.code, item.message)
        for item in found.assumptions
        if item.code in ASSUMED
    ]


def test_a_command_on_some_runs_only_is_not_taken_for_granted():
    """What a shell step may have made is assumed after it; where it did not run, nothing was made."""
    makes, leaves = "this command makes `x`", "this command leaves `x` alone"
    assert assumed("run_in_bash_session make\nread_file x\n") == [(1, "FDC414", makes)]
    assert assumed("run_in_bash_session make\nread_file x\n", there=("x",)) == [
        (1, "FDC702", leaves)
    ]
    assert assumed("run_in_bash_session make\ncreate_file_with_block x\n") == [
        (1, "FDC702", leaves)
    ]
    assert assumed("delete_file x\nrun_in_bash_session make\ndelete_file x\n", there=("x",)) == [
        (2, "FDC414", makes)
    ]
    for head in ('if cited("a")', "for_each_file *", 'for i in "a" max 2'):
        assert [
            code for _, code, _ in told(f"{head}\n  run_in_bash_session make\nread_file x\n")
        ] == ["FDC411"]
    assert assumed("iterate max 2\n  run_in_bash_session make\nread_file x\n") == [
        (2, "FDC414", makes)
    ]
    twice = "iterate max 2\n  read_file x\n  delete_file x\n  run_in_bash_session make\n"
    assert [code for _, code, _ in assumed(twice, there=("x",))] == ["FDC414"]
    assert [code for _, code, _ in told(twice)] == ["FDC411"]


def test_one_assumption_a_command_names_all_the_paths_and_the_steps_that_stop_where_it_is_false():
    text = "run_in_bash_session make\nread_file x\nread_file y\nrun_in_bash_session make\nread_file y\n"
    found = [item for item in lint(text, there=("x", "y")).assumptions if item.code in ASSUMED]
    assert [(item.span.line, item.message) for item in found] == [
        (1, "this command leaves `x` and `y` alone"),
        (4, "this command leaves `y` alone"),
    ]
    assert [label.span.line for label in found[0].labels] == [2, 3]


def test_what_a_command_may_not_write_needs_no_assumption():
    head = "allow read **\nallow run *\nallow write "
    body = "\nrun_in_bash_session make\nread_file x\n"
    assert assumed(head + "build/**" + body, there=("x",)) == []
    assert [code for _, code, _ in assumed(head + "build/** x" + body, there=("x",))] == ["FDC702"]
    # A plan that is called may write no more than its caller lets it.
    assert (
        assumed(
            head + "build/**\ncall_plan b.plan\n",
            there=("x",),
            b_plan="run_in_bash_session make\nread_file x\n",
        )
        == []
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for_each_file d/*.t\n  delete_file {file1}\nread_file d/a.t\n", 3),
        ("for_each_file d/*.t as f\n  rename_file {f} e/{f}\nread_file d/a.t\n", 3),
        ("for_each_file d/**\n  call_plan b.plan p={file1}\nread_file d/a.t\n", 3),
        ("for_each_file d/*.t\n  read_file {file1}\n  delete_file d/a.t\n", 3),
        (
            "for_each_file d/*.t\n  read_file {file1}\n  for_each_file d/*\n    delete_file {file2}\n",
            2,
        ),
        ("for_each_file d/?.t\n  delete_file d/./a.t\n", 2),
        ('for_each_file d/*.t\n  if cited("x")\n    delete_file {file1}\ndelete_file d//a.t\n', 4),
        ('for_each_file d/*.t\n  if "a" == "a"\n    delete_file {file1}\ndelete_file d//a.t\n', 4),
        (
            "delete_file d/a.t\nfor_each_file d/*.t\n  overwrite_file_with_block e\n    x\nread_file d/a.t\n",
            5,
        ),
    ],
)
def test_a_path_that_a_glob_may_name_is_touched(text: str, line: int):
    """A4: a computed path stands for every file that it may name."""
    found = told(text, there=("d/a.t",), b_plan="param p\ndelete_file {p}\n")
    assert (line, "FDC411") in [(at, code) for at, code, _ in found]


@pytest.mark.parametrize(
    "text",
    [
        "for_each_file d/*.u\n  delete_file {file1}\nread_file d/a.t\n",
        "for_each_file *.t\n  delete_file {file1}\nread_file d/a.t\n",
        "for_each_file d/*.t\n  read_file {file1}\n  delete_file {file1}\n",
        "for_each_file d/*.t\n  overwrite_file_with_block {file1}\n    x\nread_file d/a.t\n",
        "for_each_file *\n  delete_file {file1}\nread_file .hidden\n",
        "for_each_file d/*.t\n  delete_file {run}/{file1}\nread_file d/a.t\n",
        'for_each_file d/*.t\n  if "a" == "b"\n    delete_file {file1}\ndelete_file d//a.t\n',
    ],
)
def test_a_path_that_no_glob_names_is_left_alone(text: str):
    assert told(text, there=("d/a.t", ".hidden")) == []


def test_values_that_nobody_knows_are_assumed_to_be_different():
    text = "param p\ndelete_file {p}\nread_file x\n"
    assert [(line, code) for line, code, _ in assumed(text, there=("x",))] == [
        (2, "FDC703"),
        (3, "FDC704"),
    ]
    fork = "param items\nfork x in {items} max 3\n  overwrite_file_with_block out/{x}\n    y\n"
    assert [(line, code) for line, code, _ in assumed(fork)] == [(2, "FDC704"), (3, "FDC703")]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("  create_file_with_block out.md\n", "out.md"),
        ("  overwrite_file_with_block out.md\n    x\n", "out.md"),
        ("  delete_file out.md\n", "out.md"),
        ("  rename_file in/{x} out.md\n", "out.md"),
        ("  call_plan b.plan\n", "sub.md"),
        ("  for_each_file *\n    restore_file out.md\n", "out.md"),
        ("  overwrite_file_with_block {run}/out.md\n    x\n", "{run}/out.md"),
    ],
)
def test_branches_that_change_one_file_are_told_once(body: str, path: str):
    """Formal core, "Fork": files written by different branches must be disjoint."""
    text = f"items <- list_files\nfork x in {{items}} max 3\n{body}"
    found = told(text, there=("out.md", "sub.md"), b_plan="overwrite_file_with_block sub.md\n  x\n")
    assert [(line, code) for line, code, _ in found if code == "FDC413"] == [(2, "FDC413")]
    assert f"`{path}`" in next(message for _, code, message in found if code == "FDC413")


@pytest.mark.parametrize(
    "text",
    [
        "fork x in {items} max 3\n  overwrite_file_with_block out/{x}.md\n    y\n",
        "fork x in {items} max 1\n  overwrite_file_with_block out.md\n    y\n",
        "for x in {items} max 3\n  overwrite_file_with_block out.md\n    y\n",
        "fork x in {items} max 3\n  read_file any.json\n",
        "fork x in {items} max 3\n  r <- grep {x}\n  overwrite_file_with_block out/{r}\n    y\n",
        "fork x in {items} max 3\n  call_plan c.plan p={x}\n",
    ],
)
def test_branches_with_files_of_their_own_are_fine(text: str):
    sub = "param p\noverwrite_file_with_block out/{p}\n  x\n"
    assert not [
        item for item in told(f"items <- list_files\n{text}", c_plan=sub) if item[1] == "FDC413"
    ]


EACH = "  for_each_file in/* as q\n    overwrite_file_with_block {q}\n      z\n"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (EACH + "  read_file in/1\n", ["FDC413", "FDC413"]),
        (EACH + "  read_file out.md\n", ["FDC413"]),
        ("  for_each_file {x}/* as q\n    delete_file {q}\n", ["FDC704"]),
        ("  overwrite_file_with_block out/{x}\n    z\n  read_file out/1\n", ["FDC704"]),
        ("  run_in_bash_session make\n  read_file out/1\n", []),
    ],
)
def test_a_branch_that_uses_what_another_may_change_is_told_or_assumed(body: str, codes: list[str]):
    """A glob that names the file is an error; a value that is unknown is assumed to be another one."""
    text = f"allow write **\nallow run *\nallow read **\nitems <- list_files\nfork x in {{items}} max 3\n{body}"
    checked = lint(text, there=("in/1", "in/2", "out.md", "out/1"))
    told_ = [
        item
        for item in (*checked.diagnostics, *checked.assumptions)
        if item.code in ("FDC413", "FDC704")
    ]
    assert [(5, code) for code in codes] == [(item.span.line, item.code) for item in told_]
    if "in/1" in body:
        assert ["`in/1`" in item.message for item in told_] == [True, False] and told_[0].help


def test_a_fork_in_a_sub_plan_is_told_there_whoever_calls_it():
    files = {
        "a.plan": "call_plan b.plan p=x\ncall_plan b.plan p=y\n",
        "b.plan": "param p\nitems <- list_files\nfork x in {items} max 3\n  overwrite_file_with_block {p}\n    {x}\n",
    }
    assert places(lint(files, "a.plan"), "FDC413") == [("b.plan", 3, "FDC413")]
    assert "`{p}`" in findings(lint(files, "a.plan"), "FDC413")[0].message


@pytest.mark.parametrize(
    "steps",
    ["read_file {file1}\n  delete_file {file1}.md", "delete_file {file1}.md\n  read_file {file1}"],
)
def test_what_another_round_names_by_its_file_may_be_the_file_of_this_one(steps: str):
    """`a.md` and `a.md.md` are both found; the round of the first one deletes the second one."""
    found = told(f"for_each_file *.md\n  {steps}\n", there=("a.md",))
    assert {("FDC411", "Cannot access `{file1}`: it does not exist at this point")} == {
        item[1:] for item in found
    }
    assert (
        told(
            "for_each_file *.md\n  delete_file {file1}.old\n  read_file {file1}\n", there=("a.md",)
        )
        == []
    )


def test_a_file_that_is_searched_is_gone_when_a_loop_deleted_it(workspace):
    """A folder stays when the files in it go; a file that is searched does not."""
    (workspace / "a.md").write_text("x", "utf-8")
    (workspace / "docs").mkdir()
    (workspace / "docs" / "c.md").write_text("x", "utf-8")
    for glob, place, code in (("*.md", "a.md", "FDC411"), ("docs/*.md", "docs", None)):
        text = f"# FSM: any.json\nfor_each_file {glob}\n  delete_file {{file1}}\ngrep x {place}\n"
        (workspace / "a.plan").write_text(text, "utf-8")
        (workspace / "any.json").write_text(ANY, "utf-8")
        found = check_paths([str(workspace / "a.plan")], str(workspace)).diagnostics
        assert [code] * bool(code) == [item.code for item in found if item.code in FILES], glob


def test_what_a_command_may_put_in_the_folder_of_the_run_is_assumed_not_to_be_there():
    checked = lint("run_in_bash_session make\ncreate_file_with_block {run}/a.md\n  x\n")
    assert [("FDC702", "this command leaves `{run}/a.md` alone")] == [
        (item.code, item.message) for item in checked.assumptions if item.code in ASSUMED
    ]
    assert not [
        item
        for item in lint("create_file_with_block {run}/a.md\n  x\n").assumptions
        if item.code in ASSUMED
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("read_file {run}/a.md\n", "FDC411"),
        ("delete_file {run}/a.md\n", "FDC411"),
        (
            'if cited("x")\n  create_file_with_block {run}/a.md\n    x\nread_file {run}/a.md\n',
            "FDC411",
        ),
        ("create_file_with_block {run}/a.md\n  x\nread_file {run}/a.md\n", ""),
    ],
)
def test_nothing_is_in_the_folder_of_a_run_before_it_begins(text, code):
    checked = lint(text)
    assert [code] * bool(code) == [item.code for item in checked.diagnostics if item.code in FILES]
    assert not [item for item in checked.assumptions if item.code == "FDC703"]


def test_a_command_may_put_something_into_the_folder_of_the_run():
    checked = lint("run_in_bash_session make\nread_file {run}/a.md\n")
    assert not [item for item in checked.diagnostics if item.code in FILES]
    assert checked.assumptions


def test_the_same_assumption_of_two_commands_of_a_call_names_both():
    sub = 'if cited("x")\n  run_in_bash_session make\nrun_in_bash_session make all\n'
    checked = lint({"a.plan": "call_plan b.plan\nread_file a.txt\n", "b.plan": sub}, "a.plan")
    [found] = [item for item in checked.assumptions if item.code == "FDC414"]
    assert {("b.plan", 2), ("b.plan", 3), ("a.plan", 2)} == {
        (label.span.path, label.span.line) for label in found.labels
    }


def test_that_a_computed_folder_is_there_is_assumed_where_it_is_listed():
    for looked in ("docs/{p}", "docs/{p}/*.md"):
        checked = lint(
            f"param p\nfound <- list_files {looked}\nmessage_user {{found}}\n", there=("docs/a.md",)
        )
        made = [
            (item.code, item.span.line) for item in checked.assumptions if looked in item.message
        ]
        assert [("FDC703", 2)] == made
