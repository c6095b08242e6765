"""Files of any name are in a grammar, each as the linter reads it; a file that is left out is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.exits import UsageError
from fdc_toolchain.grammar_export.export import export
from llguidance.gbnf_to_lark import any_to_lark

from tests.property.test_grammar_export import errors, hold, judged, linker, matcher, spells, walked
from tests.support.profiles import quick_and_whole

TOOLS = (
    "set_plan plan_step_complete read_file list_files git_add grep run_in_bash_session close_task submit"
).split()
NAMES = (
    "docs/a b.md", "docs/Kr\u00e4uter tee.md", "docs/it's.md", 'docs/"q".md', "-lead.md", "docs/{x}.md", "docs/{{x}}.md",
    "docs/back\\slash.md", "docs/$x.md", "docs/a;b.md", "docs/a #b.md", "#a.md", "docs/a=b.md",
    "path=b.md", "docs/[a].md", "docs/*.md", "a|b.md", "docs/\u4e2d\u6587.md", "docs/\\u{41}.md", "max 5", "<<.md",
    "`a`.md",
)  # fmt: skip
HEAD = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\n"
END = "close_task\nsubmit\n"


def written(name: str) -> str:
    """The name between quotes, as docs/language.md says; JSON writes the two escapes in the same way."""
    return json.dumps(name, ensure_ascii=False).replace("{x}", "{{x}}")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (*NAMES, "docs/tea.md", "docs/to\tb.md", "docs/no\u200bspace.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one line\n", "utf-8")
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    return tmp_path


@pytest.mark.parametrize("form", ["llguidance", "gbnf", "lark"])
def test_files_of_any_name_are_spelled_as_the_linter_reads_them(place: Path, form: str) -> None:
    made = export(linker(place), form, tools=TOOLS, most=6)
    assert made.files == len(NAMES) + 2
    assert "left out: files whose names have invisible characters (2)" in made.remarks
    judge = matcher(any_to_lark(made.text) if form == "gbnf" else made.text)
    for name in NAMES:
        text = f"{HEAD}read_file {written(name)}\n{END}"
        assert errors(linker(place), text) == [] and spells(judge, text), name
        assert not spells(judge, text.replace("read_file", "run_in_bash_session cat")), name
        for wrong in (f"read_file {name}x", f'read_file "{name}x"'):
            assert not spells(judge, f"{HEAD}{wrong}\n{END}"), name


@pytest.mark.parametrize("count", quick_and_whole(6, 60))
def test_what_is_derived_with_such_files_holds(place: Path, count: int) -> None:
    few = [tool for tool in TOOLS if tool not in ("grep", "run_in_bash_session")]
    made = matcher(export(linker(place), "llguidance", tools=few, most=20).text)
    texts = list(walked(made, count))
    assert any('read_file "' in text or 'git_add "' in text for text in texts)
    hold(judged(place, iter(texts)))


def test_a_workspace_whose_declarations_are_wrong_has_no_grammar(place: Path) -> None:
    """There the linter accepts no plan: a grammar would be one of plans that all have an error."""
    row = {
        "summary": "x",
        "action": "read_op",
        "effect": "read",
        "trust": "workspace",
        "parameters": 1,
    }
    own = {"format": 1, "name": "own", "tools": {"wrong": row}}
    (place / "fdc_tools.json").write_text(json.dumps(own), "utf-8")
    assert errors(linker(place), f"{HEAD}{END}") == ["FDC308"]
    with pytest.raises(UsageError, match=r"fdc_tools\.json.*FDC308"):
        export(linker(place), "llguidance", tools=TOOLS)


def test_a_workspace_of_such_files_alone_has_a_grammar(tmp_path: Path) -> None:
    (tmp_path / "a b.md").write_text("one line\n", "utf-8")
    made = export(linker(tmp_path), "llguidance", tools=TOOLS, files="*.md", most=6)
    assert made.files == 1
    hold(judged(tmp_path, walked(matcher(made.text), 8)))
