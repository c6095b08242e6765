"""Drafts for tasks that name code and no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_toolchain.draft.code_names import defined
from fdc_toolchain.draft.skeleton import skeleton
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.tools.plans.plan_text import proved

FSM = "tooling/fdc_fsm.json"
FILES = {
    "fdc.toml": 'test-command = "make test"\n',
    "README.md": "# Shop\n\nparse_line and Basket.\n",
    "src/shop/basket.py": "LIMIT = 3\n\nclass Basket:\n    def total(self):\n        return 0\n\n    def clear(self): ...\n",
    "src/shop/lines.py": "def parse_line(text):\n    return text\n\ndef clear(): ...\n",
    "src/shop/late.py": "def parse_late(text):\n    return text == parse_line(text)\n",
    "web/cart.ts": "export default async function loadCart() {}\nconst cartSize = 3;\ninterface CartRow {}\n",
    "go/cart.go": "func (c *Cart) AddRow(n int) {}\ntype Cart struct{}\n",
    "tests/test_lines.py": "def parse_line(): ...\n\ndef only_here(): ...\n",
    ".venv/lib/basket.py": "class Basket: ...\n",
    "node_modules/x/basket.js": "class Basket {}\n",
    "build/lib/basket.py": "class Basket: ...\n",
    "src/shop/made.py": "class Basket: ...\n",
    ".gitignore": "/build/\n",
    "src/.gitignore": "made.py\n",
}


@pytest.fixture
def root(tmp_path: Path) -> str:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "src" / "again.py").symlink_to("shop/basket.py")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ("Rename the class Basket to Trolley", {"Basket": "src/shop/basket.py"}),
        ("Put a Basket on the page", {}),
        ("Add a docstring to parse_line", {"parse_line": "src/shop/lines.py"}),
        ("Speed up parse_line() and loadCart", {"parse_line": "src/shop/lines.py", "loadCart": "web/cart.ts"}),
        ("Make total() faster", {"total": "src/shop/basket.py"}),
        ("Make the total faster", {}),
        ("Add Basket.discount, which takes a percentage", {"Basket.discount": "src/shop/basket.py"}),
        ("Fix Basket.clear", {"Basket.clear": "src/shop/basket.py"}),
        ("Fix clear()", {}),
        ("Raise the constant LIMIT to 4", {"LIMIT": "src/shop/basket.py"}),
        ("Use cartSize, CartRow and AddRow()", {"cartSize": "web/cart.ts", "CartRow": "web/cart.ts", "AddRow": "go/cart.go"}),
        ("Test only_here", {"only_here": "tests/test_lines.py"}),
        ("Write Basket.md, config.toml and e.g. a note", {}),
        ("Change nowhere_defined", {}),
    ],
)  # fmt: skip
def test_a_name_of_code_stands_for_the_one_file_that_defines_it(
    root: str, task: str, found: dict[str, str]
) -> None:
    assert defined(root, task) == found


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("Rename the class Basket to Trolley and run the tests", "src/shop/basket.py"),
        ("Add a method Basket.discount with a test", "src/shop/basket.py"),
        ("Document parse_line", "src/shop/lines.py"),
        ("Fix the bug in `loadCart`", "web/cart.ts"),
    ],
)
def test_a_change_of_code_reads_and_writes_its_file_and_runs_the_tests(
    root: str, task: str, file: str
) -> None:
    made = skeleton(Linker(root, read_settings(root)), task, fsm=FSM)
    steps = f"read_file {file}\noverwrite_file_with_block {file}\n  {{content}}\nrun_in_bash_session make test\n"
    assert steps in made.text
    assert made.undone == ()
    assert proved(root, "p.plan", made.text).findings == []


def test_files_that_are_hostile_neither_hang_nor_get_into_a_plan(root: str) -> None:
    """A file of `export` in each line took quadratic time; a plan cannot name a path with a blank as it is."""
    place = Path(root)
    (place / "big.js").write_text("export\n" * 140_000)
    (place / "one.js").write_text("pub(" * 200_000)
    (place / "my file.py").write_text("def in_two_words(): ...\n")
    (place / "a{x}\n.py").write_text("def in_odd_file(): ...\n")
    os.mkfifo(place / "pipe.py")
    text = "Fix in_two_words, in_odd_file and the class parse_line " + "word " * 20_000
    assert defined(root, text) == {"parse_line": "src/shop/lines.py"}


def test_a_search_for_a_name_reads_no_file(root: str) -> None:
    made = skeleton(Linker(root, read_settings(root)), "Find where parse_line is used", fsm=FSM)
    assert "grep parse_line" in made.text
    assert "read_file" not in made.text
