"""Paths that a call gives: a called plan is refused what a plan that says the same itself is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.rules.places import given

from tests.unit.test_file_places import READS, WRITES, root

__all__ = ["root"]

HEAD = "set_plan x\nplan_step_complete y\n"
WRITE = "overwrite_file_with_block {}\n    x\nread_file {}\n"


def codes(root: Path, text: str, **plans: str) -> list[str]:
    for name, body in plans.items():
        (root / f"{name}.plan").write_text(body)
    (root / "main.plan").write_text(text)
    found = check_paths([str(root / "main.plan")], str(root)).diagnostics
    return sorted({item.code for item in found if "FDC411" <= item.code <= "FDC419"})


@pytest.mark.parametrize("path", [*WRITES, "new/../a.md", "docs/", "."])
@pytest.mark.parametrize("deep", [False, True])
def test_a_path_that_a_call_gives_is_judged_as_a_path_in_the_text(
    root: Path, path: str, deep: bool
) -> None:
    word = path
    here = codes(root, HEAD + WRITE.format(word, word))
    inner = "param page\n" + WRITE.format("{page}", "{page}")
    outer = f"param page\ncall_plan {'inner.plan'} page={{page}}\n"
    called = codes(
        root,
        f"{HEAD}call_plan {'outer.plan' if deep else 'inner.plan'} page={word}\n",
        inner=inner,
        outer=outer,
    )
    assert called == here


@pytest.mark.parametrize("path", READS)
def test_a_path_that_a_call_gives_to_read_is_judged_so_too(root: Path, path: str) -> None:
    here = codes(root, f"{HEAD}read_file {path}\n")
    called = codes(
        root, f"{HEAD}call_plan inner.plan page={path}\n", inner="param page\nread_file {page}\n"
    )
    assert called == here


@pytest.mark.parametrize(
    ("given", "step", "code"),
    [
        ("..", "for_each_file docs/{page}/*.md\n  read_file {file1}\n", "FDC416"),
        ("..", "list_files docs/{page}\n", "FDC416"),
        ("fdc.toml", WRITE.format("new/{page}", "new/{page}"), "FDC417"),
        (".env", "read_file {page}\n", "FDC418"),
    ],
)
def test_a_part_of_a_path_is_judged_with_what_is_around_it(
    root: Path, given: str, step: str, code: str
) -> None:
    (root / ".env").write_text("x")
    assert codes(
        root, f"{HEAD}call_plan inner.plan page={given}\n", inner=f"param page\n{step}"
    ) == [code]


def test_a_default_is_judged_where_the_call_gives_nothing(root: Path) -> None:
    inner = "param page = fdc.toml\n" + WRITE.format("{page}", "{page}")
    assert codes(root, f"{HEAD}call_plan inner.plan\n", inner=inner) == ["FDC417"]
    assert codes(root, f"{HEAD}call_plan inner.plan page=new.md\n", inner=inner) == []


def test_a_name_that_the_called_plan_binds_anew_is_not_what_was_given(root: Path) -> None:
    inner = "param page\npage <- request_user_input Which?\nread_file {page}\n"
    assert "FDC416" not in codes(root, f"{HEAD}call_plan inner.plan page=../x\n", inner=inner)


@pytest.mark.parametrize(
    ("glob", "assumed"),
    [
        ("{page}/*.md", True),
        ("d*/{page}/*.md", True),
        ("docs/{page}", True),
        ("new/{page}/*.md", False),
    ],
)
def test_the_files_of_a_glob_with_a_value_may_be_any_below_its_beginning(
    root: Path, glob: str, assumed: bool
) -> None:
    """The run must find the assumption that its proof names: `docs/a.md` may be one of the files that are deleted."""
    text = f"param page\n{HEAD}for_each_file {glob}\n  delete_file {{file1}}\nread_file docs/a.md\n"
    (root / "main.plan").write_text(text)
    found = check_paths([str(root / "main.plan")], str(root))
    said = [item.message for item in found.assumptions if item.code == "FDC704"]
    assert said == (["no other value names the same file as `docs/a.md`"] if assumed else [])
    assert not [item for item in found.diagnostics if item.severity == "error"]


def test_calls_that_give_too_many_paths_are_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given, "MOST_VISITS", 3)
    inner = "param page\n" + WRITE.format("{page}", "{page}")
    for count, found in ((3, []), (4, ["FDC419"])):
        calls = "".join(f"call_plan inner.plan page=new/{number}.md\n" for number in range(count))
        assert codes(root, HEAD + calls, inner=inner) == found, count
