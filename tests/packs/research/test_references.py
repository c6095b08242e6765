"""Who calls, uses and raises a name, by the syntax tree: what lists keep, what handlers raise again, what is exported (E10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.research.answering.found import find_places
from fdc_packs.research.answering.references import Relation, asked, find
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

from tests.support.process import fdc


def tree(folder: Path, **files: str) -> Tree:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    found = scan(str(folder), code=True)
    return Tree(found, found.documents)


def lines(made: Tree, kind: str, name: str) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.through) for one in find(made, Relation(kind, name))]


KEPT = {
    "a list": ("STEPS = [wash, pour]\nfor step in STEPS:\n    step()\n", [3]),
    "a dictionary": ("BY = {'a': pour}\ndef run(key):\n    return BY[key](1)\n", [3]),
    "get": ("BY = dict(a=pour)\ndef run(key):\n    found = BY.get(key)\n    return found(1)\n", [4]),
    "items": ("BY = {'a': (pour, 1)}\nfor key, (one, much) in BY.items():\n    one(much)\n", [3]),
    "a comprehension": ("STEPS = (pour,)\nprint([step(1) for step in reversed(STEPS)])\n", [2]),
    "append": ("STEPS = []\nSTEPS.append(pour)\nSTEPS[0]()\nSTEPS.pop()()\n", [3, 4]),
    "an item": ("BY = {}\nBY['a'] = pour\nBY['a']()\n", [3]),
    "an attribute": (
        "class A:\n  def __init__(self):\n    self.all = [pour]\n  def go(self):\n    for one in self.all:\n      one()\n",
        [6],
    ),
    "of one function": (
        "def f():\n    some = [pour]\n    some[0]()\ndef g(some):\n    some[0]()\n", [3]
    ),
    "next": ("STEPS = [pour]\nnext(iter(STEPS))()\n", [2]),
    "what it returns": ("VALUES = [pour()]\nVALUES[0]()\n", [1]),
    "no element": ("STEPS = [wash]\nSTEPS[0]()\nother = pour\n", []),
    "a method of an element": ("STEPS = [pour]\nSTEPS[0].name()\n", []),
    "a parameter of that name": ("STEPS = [pour]\ndef run(STEPS):\n    STEPS[0]()\n", []),
    "its keys": ("BY = {pour: 1}\nBY[pour]()\n", []),
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT)
def test_what_a_container_keeps_is_called_where_the_container_says(
    tmp_path: Path, case: str
) -> None:
    text, wanted = KEPT[case]
    made = tree(tmp_path, a__py=text)
    assert wanted == [line for _, line, _ in lines(made, "call", "pour")]


def test_a_container_is_followed_where_it_is_imported_and_nowhere_else(tmp_path: Path) -> None:
    made = tree(
        tmp_path,
        kept__py="STEPS = [pour]\n",
        one__py="from kept import STEPS\nfor step in STEPS:\n    step()\n",
        two__py="import kept\nkept.STEPS[0]()\n",
        other__py="STEPS = [print]\nSTEPS[0]()\n",
    )
    assert [("one.py", 3, "STEPS"), ("two.py", 2, "STEPS")] == lines(made, "call", "pour")


def test_an_exception_is_raised_where_its_handler_raises_it_again(tmp_path: Path) -> None:
    text = (
        "def f(n):\n    try:\n        raise ValueError('n')\n    except (KeyError, ValueError) as failed:\n        if n:\n"
        "            raise\n        raise failed\n    except OSError:\n        raise\n"
    )
    found = lines(tree(tmp_path, a__py=text), "raise", "ValueError")
    assert [3, 6, 7] == [line for _, line, _ in found]


def test_a_question_after_one_relation_is_answered_though_it_has_few_sides(tmp_path: Path) -> None:
    """Before, it was "cannot be explored as it stands"."""
    tree(tmp_path, a__py="def f(n):\n    if n < 0:\n        raise ValueError('n')\n    return n\n")
    for question in ("Who raises ValueError?", "Who raises `ValueError`?"):
        done = fdc("explore", question, cwd=tmp_path)
        assert (0, "a.py:3  in f: raise ValueError('n')") == (
            done.returncode,
            done.stdout.split("\n")[0],
        )


def test_what_is_never_called_is_said_with_the_lines_that_use_it(tmp_path: Path) -> None:
    made = tree(tmp_path, a__py="def pour(): ...\n\nhand(pour)\n", b__py="from a import pour\n")
    question = "Who calls `pour`?"
    found = find_places(made, searched(made, question), question)
    assert ("None", "nothing here calls `pour`") == (found.sure, found.why)
    assert [("a.py", 3)] == [(one.path, one.line) for one in found.places]
    made = tree(tmp_path, c__py="from a import pour\npour()\n")
    found = find_places(made, searched(made, question), question)
    assert "1 found by the syntax tree; 1 line uses the name without a call" == found.why


EXPORTS = "function pour(n) { return n; }\nexports.pour = pour;\nexports.LIMIT = 3;\n"


def test_an_export_is_no_second_definition_and_a_value_that_only_exports_name_is_one(
    tmp_path: Path,
) -> None:
    """Before, `pour` was said to be defined in two files, and `LIMIT` in none."""
    made = tree(tmp_path, pot__js=EXPORTS, index__js="exports.pour = require('./pot').pour;\n")
    assert [("pot.js", 1, "function")] == [
        (path, one.line, one.kind) for path, one in made.defined("pour")
    ]
    assert [("pot.js", 3, "constant")] == [
        (path, one.line, one.kind) for path, one in made.defined("LIMIT")
    ]
    done = fdc("explore", "What does `pour` do?", cwd=tmp_path)
    assert done.stdout.startswith("pot.js:1  pour (function)\n"), done.stdout
    done = fdc("explore", "What does `LIMIT` do?", cwd=tmp_path)
    assert (0, True) == (done.returncode, done.stdout.startswith("pot.js:3  LIMIT (constant)\n"))


def test_what_no_file_defines_but_one_exports_is_found_there(tmp_path: Path) -> None:
    made = tree(tmp_path, index__js="exports.heat = require('stove').heat;\n")
    assert [("index.js", "export")] == [(path, one.kind) for path, one in made.defined("heat")]
    assert Relation("raise", "heat", "throws") == asked("Who throws `heat`?")


def test_a_workspace_with_text_from_outside_is_refused_with_what_to_do_and_that_works(
    tmp_path: Path,
) -> None:
    (tmp_path / "src").mkdir()
    tree(tmp_path, fdc__toml='untrusted = ["mail/**"]\n')
    tree(tmp_path / "src", a__py="def pour(n):\n    return n\n\n\npour(1)\n")
    done = fdc("explore", "Who calls `pour`?", cwd=tmp_path)
    assert 1 == done.returncode and "FDC471" in done.stderr
    assert "explore a folder that has no such files" in done.stderr.split("\n\n")[-1]
    done = fdc("explore", "Who calls `pour`?", "--workspace", "src", cwd=tmp_path)
    assert (0, "a.py:5: pour(1)") == (done.returncode, done.stdout.split("\n")[0])


ASKED = {
    "callers of `pour`": "call", "All calls to pour_tea": "call", "Does anything call `pour`?": "call",
    "Show me all usages of `pour`": "use", "Is `pour` used anywhere?": "use", "references to `pour`": "use",
    "importers of `pour`": "import", "Is `pour` still imported by tests?": "import",
    "Does `wash` call `pour`?": "", "Is `pour` called before `wash`?": "", "How is `pour` used?": "",
}  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_a_relation_is_asked_for_in_many_ways(question: str) -> None:
    relation = asked(question)
    assert ASKED[question] == ("" if relation is None else relation.kind)


def test_what_imports_a_module_is_asked_without_marks_around_its_name(tmp_path: Path) -> None:
    made = tree(tmp_path, kettle__py="HOT = 1\n", a__py="import kettle\n", b__py="from kettle import HOT\n")  # fmt: skip
    question = "Which files import kettle?"
    found = find_places(made, searched(made, question), question)
    assert [("a.py", 1), ("b.py", 1)] == [(one.path, one.line) for one in found.places]


def test_require_imports_and_the_name_of_a_function_expression_is_no_call(tmp_path: Path) -> None:
    made = tree(
        tmp_path,
        tax__js="exports.tax = function tax(cart) { return 1 }\n",
        cart__js="const { tax } = require('./tax');\nimport price from './price.js';\ntax(1);\n",
    )
    assert [("cart.js", 1, "")] == lines(made, "import", "tax")
    for name in ("price", "price.js"):
        assert [("cart.js", 2, "")] == lines(made, "import", name)
    assert [("cart.js", 3, "")] == lines(made, "call", "tax")


def test_a_question_back_names_what_the_question_wrote_as_code(workspace: Path) -> None:
    """And what a small tree defines: it asked for another name, and named none."""
    (workspace / "a.py").write_text("def f():\n    pass\n\n\ndef other():\n    f()\n")
    done = fdc("explore", "Where is `zebra` defined?", cwd=workspace)
    assert 5 == done.returncode and "No file has `zebra`. What" in done.stdout, done.stdout
    assert "This code defines `f` (a.py:1), `other` (a.py:5)." in done.stdout
    (workspace / "b.py").write_text("".join(f"def g{at}():\n    pass\n" for at in range(9)))
    assert "This code defines" not in fdc("explore", "Where is `zebra`?", cwd=workspace).stdout


def test_a_name_of_one_letter_is_looked_for(workspace: Path) -> None:
    """It was `too short to be looked for`, or the question was told that no file has `what` and `is`."""
    (workspace / "a.py").write_text("def f():\n    return 1\n\n\nx = 3\nt = f()\n")
    for question, first in (
        ("Who calls `f`?", "a.py:6  in t: t = f()"),
        ("What is `x`?", "a.py:5  x (variable)"),
        ("what is x", "a.py:5  x (variable)"),
        ("where is x set", "a.py:5  x (variable)"),
        ("what is t", "a.py:6  t (variable)"),
    ):
        done = fdc("explore", question, cwd=workspace)
        assert 0 == done.returncode and first == done.stdout.split("\n")[0], done.stdout


def test_a_declaration_of_c_neither_calls_nor_uses_what_it_names(tmp_path: Path) -> None:
    head = "extern _Noreturn void pour (int n);\nvoid *brew (int n)\n  MALLOC;\n"
    text = "static int pour (int n);\nstruct Pot { int (*pour) (int); };\nint go (void)\n{\n  return pour (1) + brew (2);\n}\n"
    made = tree(tmp_path, a__h=head, a__c=text)
    assert [("a.c", 5, "")] == lines(made, "call", "pour")
    assert [("a.c", 5, "")] == lines(made, "call", "brew")
    assert [("a.c", 5, "")] == lines(made, "use", "brew")
