"""The part `files` of certificates: what the checker says yes to, construct by construct, and the claims that it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fdc_toolchain.certificate import file_sets
from fdc_toolchain.certificate.files import places
from fdc_toolchain.certificate.files.paths import check
from fdc_toolchain.certificate.making import make_files
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import compile_plan, program_of
from fdc_toolchain.linking.project.files import Files

from tests.support import linting
from tests.support.repository import ROOT, plans

THERE = ("a.md", "docs/c.md")
ITEMS = "items <- list_files docs\n"


def program(steps: str, **files: str) -> dict[str, Any]:
    plans = {
        "a.plan": "use fsm any.json\n" + steps,
        **{f"{name}.plan": text for name, text in files.items()},
    }
    return program_of(linting.lint(plans, "a.plan", there=THERE, whole=True))


def kind(path: str) -> str:
    return "file" if path in THERE else "folder" if path == "docs" else "missing"


def made(of: dict[str, Any]) -> dict[str, Any]:
    found = make_files.make(of, kind)
    assert found is not None
    return found


def wrong(of: dict[str, Any]) -> tuple[str | None, list[int]]:
    """Why nothing can be claimed (None: it can), and the lines whose uses are open."""
    try:
        claims = made(of)
    except Wrong as found:
        return str(found).partition(": ")[2], []
    assert check(of, json.loads(json.dumps(claims))) is None
    return None, [line for _, line in claims["open"]]


def refused(path: str) -> tuple[str, list[int]]:
    return f"`{path}` may not be as the step needs it", []


CREATE = "create_file_with_block"
SURE: tuple[str | None, list[int]] = (None, [])


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("read_file a.md\ndelete_file a.md\n", SURE),
        ("delete_file a.md\nread_file ./a.md\n", refused("a.md")),
        (f"{CREATE} b.md\n  x\nread_file b.md\n", SURE),
        (f"{CREATE} a.md\n  x\n", refused("a.md")),
        ("rename_file a.md b.md\nread_file b.md\n", SURE),
        ('if cited("x")\n  delete_file a.md\nread_file a.md\n', refused("a.md")),
        (f"iterate max 1\n  {CREATE} b.md\n    x\nread_file b.md\n", SURE),
        (f'iterate max 2 until cited("x")\n  {CREATE} b.md\n    x\n', refused("b.md")),
        (ITEMS + f"for x in {{items}} max 3\n  {CREATE} b.md\n    x\n  delete_file b.md\n", SURE),
        (
            ITEMS + f"fork x in {{items}} max 3\n  {CREATE} b.md\n    x\n  delete_file b.md\n",
            refused("b.md"),
        ),
        (
            ITEMS
            + f"fork x in {{items}} max 1 keep failures\n  {CREATE} b.md\n    x\nread_file b.md\n",
            refused("b.md"),
        ),
        ("for_each_file *.md\n  delete_file {file1}\nread_file a.md\n", refused("a.md")),
        ("for_each_file docs/*.md\n  delete_file {file1}\nread_file a.md\n", SURE),
        ("for_each_file *.md as f\n  delete_file {f}\n  read_file {file1}\n", refused("{file1}")),
        ("for_each_file *.md\n  delete_file {file1}.md\n  read_file {file1}\n", (None, [4])),
        ("run_in_bash_session make\nread_file a.md\nread_file b.md\n", SURE),
        (
            "allow run *\nallow read **\nallow write build/**\nrun_in_bash_session make\nread_file a.md\n",
            SURE,
        ),
        ("run_in_bash_session make\ncreate_file_with_block {run}/b.md\n  x\n", SURE),
        (f"{CREATE} {{run}}/b.md\n  x\n{CREATE} {{run}}/b.md\n  x\n", refused("{run}/b.md")),
        ("param x\nread_file {x}\nread_file {x}\ndelete_file {x}\nread_file {x}\n", refused("{x}")),
        ("call_plan b.plan p=a.md\nread_file a.md\n", refused("a.md")),
        ("call_plan b.plan p=docs/c.md\nread_file a.md\n", SURE),
        ("read_file docs\n", refused("docs")),
        (
            "list_files docs\nfor_each_file docs/*.md\n  delete_file {file1}\nlist_files docs\n",
            SURE,
        ),
        ("list_files new\n", refused("new")),
        (f"{CREATE} new/b.md\n  x\nlist_files new\n", SURE),
        ("for_each_file *.md\n  delete_file {file1}\ngrep x a.md\n", (None, [4])),
    ],
)
def test_what_is_shown_what_is_open_and_what_is_refused(
    steps: str, expected: tuple[str | None, list[int]]
) -> None:
    assert expected == wrong(program(steps, b="param p\ndelete_file {p}\n"))


def test_what_a_command_does_needs_the_assumption_about_this_command_line_and_path() -> None:
    of = program("run_in_bash_session make\nread_file a.md\nread_file b.md\n")
    assert {"FDC702", "FDC414"} == {
        of["assumptions"][number]["code"] for number in made(of)["assumes"]
    }
    for change in ("uses", "text", "code"):
        other = json.loads(json.dumps(of))
        for one in other["assumptions"]:
            one[change] = [] if change == "uses" else "x"
        assert (
            "no assumption says what the command in line 2 of `a.plan` does to `a.md`"
            == wrong(other)[0]
        ), change
    claims = made(of)
    claims["assumes"].pop()
    assert "no assumption says" in str(check(of, claims))


def test_claims_that_are_dropped_or_changed_are_refused() -> None:
    of = program(f"for_each_file docs/*.md\n  {CREATE} out/{{file1}}\n    x\n{CREATE} b.md\n  x\ncall_plan b.plan p=b.md\n",
                 b="param p\ndelete_file {p}\n")  # fmt: skip
    claims = made(of)
    assert check(of, claims) is None

    def changed(change: Any) -> str:
        other = json.loads(json.dumps(claims))
        change(other)
        return str(check(of, other))

    row = "rows"
    assert "begin with the facts" in changed(lambda one: one["facts"].update({"b.md": "file"}))
    assert "nothing shows" in changed(lambda one: one[row][0]["entry"].clear())
    assert "may change more paths" in changed(lambda one: one[row][1]["entry"].clear())
    assert "may leave paths in another way" in changed(
        lambda one: one[row][1]["gives"]["ends"].clear()
    )
    assert "may do more to paths" in changed(lambda one: one[row][1]["did"].clear())
    assert "for another one" in changed(lambda one: one[row][1].update(params={"p": ["a.md"]}))
    assert "lacks a claim" in changed(lambda one: one[row][0]["loops"].clear())
    assert "may do more to paths" in changed(
        lambda one: one[row][0]["loops"]["/1"][0]["did"].clear()
    )
    assert "nothing shows" in changed(lambda one: one["assumes"].clear())
    assert "not that of the root" in changed(lambda one: one[row].reverse())


def test_a_dot_beside_a_value_is_no_name() -> None:
    """`d/.{x}` is `d/c.md` where `x` is `/c.md`."""
    for text, path in (
        ("d/.\0", "d/c.md"),
        ("\0.", "d"),
        ("\0a/.", "a"),
        ("\0/", "a.md"),
        (".\0", "a.md"),
    ):
        assert not file_sets.apart(file_sets.files_of(text), file_sets.files_of(path)), text
    assert file_sets.apart(file_sets.files_of("d/x.\0"), file_sets.files_of("d/y.md"))


def test_paths_are_apart_for_a_reason_that_needs_no_search() -> None:
    f, x = ("a/1|f", "", "docs/*.md"), ("a/2|x", "", "")
    apart = [(("a",), ("b",)), (("docs/x.txt",), (f,)), ((f,), (f, ".md")), ((x,), (x, "b")), (("a/", x), ("b/", x)),
             (("docs/a/x.md",), (f,)), (("d/",), ("e/x",))]  # fmt: skip
    meet = [(("docs/x.md",), (f,)), ((f,), (x,)), ((f, ".md"), (("a/3|f", "", "docs/*.md"),)), (("a",), (x,)), ((x, "/"), (x,)),
            (("d/",), ("d/x",)), (("d/",), ("d",)), (("runs/r/x",), (file_sets.RUN + "x",))]  # fmt: skip
    assert all(places.apart(*pair) and places.apart(*pair[::-1]) for pair in apart)
    assert not any(places.apart(*pair) or places.apart(*pair[::-1]) for pair in meet)


def test_every_shipped_plan_is_certified() -> None:
    for one in plans():
        if any(
            line.startswith(("use fsm", "# FSM:")) for line in one.read_text("utf-8").splitlines()
        ):
            found, _ = compile_plan(str(one), str(ROOT))
            assert found is not None, one
            claims = make_files.make(found, Files(str(ROOT)).kind)
            assert claims is not None and check(found, claims) is None and not claims["open"], one
