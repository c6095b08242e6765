"""`allow read` holds what lists, searches and loops over files too, at lint and at run time (finding A25, G-CAP)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.text.glob_match import compiled, within

from tests.support.inside import fdc
from tests.support.linting import ANY, findings, lint

OUTSIDE = [
    "list_files", "list_files .", "list_files docs", "list_files docs/*.md", "list_files *", "list_files s*/**",
    "list_files src/../docs",
    "grep x", "grep x docs", "grep x **", "grep x src{x}", "grep x /etc/**", "map_code paths=docs", "scan_documents docs",
    "for_each_file docs/*\n  set_plan", "for_each_file *\n  set_plan", "for_each_file {x}/*\n  set_plan",
    "for_each_file src/*\n  for_each_file **\n    set_plan", 'if "a" == "b"\n  for_each_file ./docs/*\n    set_plan',
    "scope_question x", "call_plan b.plan", "execute_research_protocol local_filesystem file path=docs/a.md",
    "execute_research_protocol local_filesystem directory path={x}", "execute_research_protocol knowledge_graph enrich query=x",
]  # fmt: skip
INSIDE = [
    "list_files src", "list_files src/", "list_files ./src/a", "list_files src/**/*.py", "grep x src", "grep x src/[ab]*.py",
    "for_each_file src/*\n  set_plan", "for_each_file src/{x}/*.py\n  set_plan", "grep x src/{x}",
]  # fmt: skip
HEAD = 'param x = "docs"\nallow read src/**\n'
CALLED = {"b.plan": "for_each_file docs/*\n  set_plan\n"}


@pytest.mark.parametrize("text", OUTSIDE)
def test_what_may_list_or_search_outside_of_it_is_refused(text: str) -> None:
    assert findings(lint({"a.plan": f"{HEAD}{text}\n", **CALLED}, "a.plan"), "FDC451"), text


@pytest.mark.parametrize("text", INSIDE)
def test_what_stays_inside_is_not(text: str) -> None:
    assert not findings(lint(f"{HEAD}{text}\n"), "FDC451"), text
    assert not findings(lint(f"allow read **\n{text}\n".replace("{x}", "y")), "FDC451"), text


def test_a_plan_that_says_nothing_allows_everything_and_one_that_allows_something_else_nothing() -> (
    None
):
    assert not findings(lint("list_files\nfor_each_file *\n  set_plan\n"), "FDC451")
    assert findings(lint("allow run *\nlist_files\n"), "FDC451")


def test_a_python_tool_may_open_any_file_unless_it_is_declared_pure() -> None:
    """What it does with a word it is unknown: only `allow read **` covers it."""

    def found(effect: str, allow: str) -> bool:
        tool = {
            "summary": "x", "action": None, "effect": effect, "trust": "trusted", "run": {"python": "own:look"},
            "parameters": [{"name": "path", "kind": "word"}],
        }  # fmt: skip
        own = json.dumps({"format": 1, "name": "own", "tools": {"look": tool}})
        files = {"fdc_tools.json": own, "a.plan": f"{allow}\nlook /etc/x\n"}
        return bool(findings(lint(files, "a.plan"), "FDC451"))

    assert found("read", "allow read src/**") and found("read", "allow net *")
    assert not found("pure", "allow read src/**") and not found("read", "allow read **")


@pytest.mark.parametrize(
    "step",
    [
        "x <- list_files src/{w}",
        "x <- grep key src/{w}",
        "for_each_file src/{w}\n  x <- hello_world {file1}",
        "x <- map_code src/{w}",
    ],
)
@pytest.mark.parametrize(("value", "stops"), [("../*.txt", True), ("*.txt", False)])
def test_a_run_asks_again_with_the_values_that_it_has(
    workspace: Path, step: str, value: str, stops: bool
) -> None:
    (workspace / "src").mkdir()
    (workspace / "src/a.txt").write_text("key inside\n")
    (workspace / "secret.txt").write_text("key outside\n")
    (workspace / "any.json").write_text(ANY)
    (workspace / "a.plan").write_text(
        f'param w = "{value}"\nuse fsm any.json\nuse pack research\nallow read src/**\n{step}\n'
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert (done.returncode == 1) == stops, done.stdout + done.stderr
    assert ("the plan's `allow read` does not name `src/../*.txt`" in done.stdout) == stops, (
        done.stdout + done.stderr
    )
    assert "key outside" not in done.stdout and "secret" not in done.stdout


@pytest.mark.parametrize(
    ("glob", "allowed", "expected"),
    [
        ("a/*", "a/**", True),
        ("a/**", "a/*", False),
        ("*", "**", True),
        ("[ab]/x", "a/x", False),
        ("../a", "**", False),
        ("a", "a/**", False),
    ],
)
def test_a_glob_is_within_another(glob: str, allowed: str, expected: bool) -> None:
    assert within(glob, [compiled([(False, allowed)])]) is expected
    assert within("a", [compiled([(False, "a/**")])], folder=True)


@pytest.mark.parametrize(
    ("access", "allowed", "says"),
    [
        ({"read": ["docs/**"]}, "read docs/**", []),
        ({"read": ["docs/a.md"]}, "read docs/**", []),
        ({"read": ["docs/**"]}, "read src/**", ["may read `docs/**`"]),
        ({"read": ["docs/**", "src/**"]}, "read src/**", ["may read `docs/**`"]),
        ({"read": [], "write": ["out/**"]}, "read **", ["may write `out/**`"]),
        ({"read": [], "write": ["out/**"]}, "write out/**", []),
        ({"read": [], "env": ["TEAPOT"]}, "read docs/**", []),
        ({"read": [], "net": True}, "net *", []),
    ],
)
def test_a_tool_that_says_what_its_code_reads_and_writes_needs_a_grant_for_just_that(
    access: dict[str, object], allowed: str, says: list[str]
) -> None:
    row = {"summary": "x", "action": "tool_exec", "effect": "read", "trust": "trusted", "parameters": [],
           "run": {"python": "own:look"}, "access": access}  # fmt: skip
    own = json.dumps({"format": 1, "name": "own", "tools": {"look": row}})
    checked = lint({"fdc_tools.json": own, "a.plan": f"allow {allowed}\nlook\n"}, "a.plan")
    found = [
        item.message.partition("` ")[2].partition(",")[0] for item in findings(checked, "FDC451")
    ]
    assert found == says
