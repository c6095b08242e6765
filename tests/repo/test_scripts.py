"""The scripts in tooling/ are thin, and run from any folder."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.support import process
from tests.support.repository import ROOT

SCRIPTS = sorted((ROOT / "tooling").glob("*.py"))


def fat(source: str) -> list[str]:
    """What a script holds besides a docstring, one import from the package, `__all__` and the guard."""
    tree = ast.parse(source)
    body = list(tree.body)
    wrong = [] if ast.get_docstring(tree) else ["no docstring"]
    if ast.get_docstring(tree):
        body.pop(0)
    shapes = [
        ("one `from fdc_toolchain... import ...`, or from a pack", lambda n: isinstance(n, ast.ImportFrom) and n.level == 0
            and (n.module or "").split(".")[0] in ("fdc_toolchain", "fdc_packs")),
        ("`__all__`", lambda n: isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"),
        ("the guard", lambda n: isinstance(n, ast.If) and ast.unparse(n.test) == "__name__ == '__main__'"
            and [ast.unparse(line) for line in n.body] == ["raise SystemExit(main())"] and not n.orelse),
    ]  # fmt: skip
    for (name, fits), node in zip(shapes, [*body, None, None, None], strict=False):
        if node is None or not fits(node):
            wrong.append(f"expected {name}, found {ast.unparse(node) if node else 'the end'}")
            return wrong
    wrong.extend(f"more than thin: {ast.unparse(node)}" for node in body[3:])
    imported = {alias.asname or alias.name for alias in body[0].names}  # type: ignore[union-attr]
    listed = set(ast.literal_eval(body[1].value))  # type: ignore[union-attr]
    if imported != listed:
        wrong.append(f"imports {sorted(imported)} but lists {sorted(listed)}")
    return wrong


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_thin(script: Path) -> None:
    assert [] == fat(script.read_text("utf-8"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_shadows_nothing_of_the_standard_library(script: Path) -> None:
    assert script.stem not in sys.stdlib_module_names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_helps_from_any_folder(script: Path, tmp_path: Path) -> None:
    done = process.run([sys.executable, script, "--help"], cwd=tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    assert "usage" in done.stdout.lower()


@pytest.mark.parametrize("name", ["fdc_cli", "plan_manager"])
def test_the_seeds_scripts_are_there(name: str) -> None:
    assert name in [script.stem for script in SCRIPTS]


IMPORT = "from fdc_toolchain.a import main\n"
ALL = "__all__ = ['main']\n"
GUARD = "if __name__ == '__main__':\n    raise SystemExit(main())\n"


@pytest.mark.parametrize(
    ("source", "finding"),
    [
        (IMPORT + ALL + GUARD, "no docstring"),
        ("'D.'\nimport sys\n", "expected one `from"),
        ("'D.'\n" + IMPORT + "x = 1\n", "expected `__all__`"),
        ("'D.'\n" + IMPORT + ALL, "expected the guard, found the end"),
        ("'D.'\n" + IMPORT + ALL.replace("main", "run") + GUARD, "but lists"),
        ("'D.'\n" + IMPORT + ALL + GUARD + "x = 1", "more than thin"),
    ],
)
def test_a_planted_fat_script_is_found(source: str, finding: str) -> None:
    assert any(finding in line for line in fat(source)), fat(source)
