"""The recipes of docs/design.md for a rule, a tool, a command and an output format, followed in a copy of fdc."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.house import Recipe, copied, fdc, follow

TOOLCHAIN = "tooling/fdc_toolchain"
RULE: Recipe = {
    f"{TOOLCHAIN}/rules/greetings.py": [
        (
            "",
            '''"""Greetings in plans."""

from ..diagnostics.diagnostic import Diagnostic


def check(context):
    for instance in context.order:
        for act in instance.unit.acts:
            if act.step.tool == "hello_world":
                yield Diagnostic(instance.unit.span(act.step), "FDC499", "a plan greets nobody")
''',
        ),
    ],
    f"{TOOLCHAIN}/rules/__init__.py": [
        ("    flow,\n    merges,", "    flow,\n    greetings,\n    merges,"),
        ("    flow.check,\n", "    flow.check,\n    greetings.check,\n"),
    ],
    f"{TOOLCHAIN}/diagnostics/codes.py": [
        ('    "FDC441": Code(', '    "FDC499": Code("greeting", "error", "a step that greets"),\n    "FDC441": Code('),
    ],
    f"{TOOLCHAIN}/explain/greeting.md": [("", "# greeting (FDC499)\n\n## What it flags\n\nA greeting.\n")],
}  # fmt: skip
TOOL: Recipe = {
    "grammar/tools.json": [
        (
            '  "hello_world": {\n',
            (
                '  "good_bye": {"summary": "a farewell", "action": "step_op", "effect": "pure", "trust": "trusted",'
                ' "parameters": [], "result": "text"},\n  "hello_world": {\n'
            ),
        ),
    ],
    f"{TOOLCHAIN}/tools/tool_rows.py": [
        (
            '    "hello_world": Row(',
            '    "good_bye": Row("fdc_toolchain.tools.farewells", "good_bye"),\n    "hello_world": Row(',
        ),
    ],
    f"{TOOLCHAIN}/tools/farewells.py": [
        ("", "def good_bye(args, context):\n    return 'so long'\n"),
    ],
}
COMMAND: Recipe = {
    f"{TOOLCHAIN}/cli/plan/count.py": [
        (
            "",
            '''import click

from ...exits import CLEAN


@click.command("count")
@click.argument("plan")
def command(plan):
    """Count the lines of PLAN."""
    with open(plan) as file:
        click.echo(len(file.readlines()))
    return CLEAN
''',
        ),
    ],
    f"{TOOLCHAIN}/cli/main.py": [
        ('    "explain": (', '    "count": ("plan.count", "count lines"),\n    "explain": ('),
    ],
    f"{TOOLCHAIN}/cli/headings.py": [('"lint explain tools"', '"lint fmt explain count tools"')],
}  # fmt: skip
FORMAT: Recipe = {
    f"{TOOLCHAIN}/report/codes_only.py": [
        (
            "",
            "def render(report):\n    return ''.join(f'{item.code}\\n' for item in report.found)\n",
        ),
    ],
    f"{TOOLCHAIN}/report/render.py": [
        (
            '    elif format == "concise":',
            (
                '    elif format == "codes":\n        from .codes_only import render as rendered\n'
                '    elif format == "concise":'
            ),
        ),
    ],
    f"{TOOLCHAIN}/diagnostics/formats.py": [('"concise", ', '"concise", "codes", ')],
}
FILES = {*RULE, *TOOL, *COMMAND, *FORMAT}
END = "plan_step_complete ready\nclose_task\nsubmit\n"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of fdc with a plan that greets, and one that says good-bye."""
    home = copied(tmp_path_factory.mktemp("house"))
    (home / "workspace" / "hello.plan").write_text(f"set_plan x\nhello_world\n{END}")
    (home / "workspace" / "bye.plan").write_text(
        f"set_plan x\nplan_step_complete one\nx <- good_bye\nmessage_user {{x}}\n{END}"
    )
    return home


def test_a_rule(house: Path) -> None:
    follow(house, RULE, FILES)
    done = fdc(house, "lint", "--format", "concise", "hello.plan")
    assert 1 == done.returncode and "error[FDC499]" in done.stdout.replace(" ", ""), done
    done = fdc(house, "explain", "greeting")
    assert 0 == done.returncode and "A greeting." in done.stdout, done


def test_a_tool(house: Path) -> None:
    follow(house, TOOL, FILES)
    done = fdc(house, "run", "bye.plan", "--format", "json")
    assert 0 == done.returncode and ["so long"] == json.loads(done.stdout)["said"], done
    assert "a farewell" in fdc(house, "tools", "good_bye").stdout


def test_a_command(house: Path) -> None:
    follow(house, COMMAND, FILES)
    assert "5\n" == fdc(house, "count", "hello.plan").stdout
    assert "  count    count lines\n" in fdc(house, "--help").stdout


def test_a_format(house: Path) -> None:
    follow(house, FORMAT, FILES)
    (house / "workspace" / "wrong.plan").write_text("no_such_tool\n")
    done = fdc(house, "lint", "--format", "codes", "wrong.plan")
    assert (1, "FDC301") == (done.returncode, done.stdout.split()[0]), done
    assert "codes" in fdc(house, "lint", "--help").stdout
