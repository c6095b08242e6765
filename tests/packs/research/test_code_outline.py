"""Outlines of source files, by three ways of reading them, and the search over them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_packs.research.answering.found import NONE, find_places
from fdc_packs.research.explore import findings, mapped, tools
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.strategies import STRATEGIES, places
from fdc_packs.research.outline import code_outline, code_trees
from fdc_packs.research.outline.comment_sentences import around, sentence
from fdc_packs.research.retrieval.question import concepts_of, faint
from fdc_packs.research.retrieval.stop_words import forms
from fdc_toolchain.tools.files.documents import Document, scan

from tests.support.explored import shop
from tests.support.research import write

SOURCES = {
    "a.py": '"""Tea."""\nimport os\n\n\nclass Pot:\n    """Holds tea."""\n\n    def pour(self, n):\n        # a cup\n'
            "        if n < 0:\n            raise ValueError\n        return brew(n)\n\n\ndef brew(n):\n    return n\n",
    "a.ts": 'import { S } from "./s";\n/** Holds tea. */\nexport class Pot extends S {\n  // a cup\n'
            '  pour(n: number) { if (n < 0) { throw new Error("no"); }\n    return brew(n); }\n}\n'
            "export const brew = (n: number) => `${n}`;\n",
    "a.js": 'const s = require("./s");\nclass Pot {\n  // a cup\n  pour(n) {\n    return brew(n);\n  }\n}\n'
            "function brew(n) { return s; }\n",
    "a.go": 'package tea\n\nimport "fmt"\n\n// Pot holds tea.\ntype Pot struct{ heat int }\n\n'
            'func (p *Pot) pour(n int) error {\n\treturn brew(n)\n}\n\nfunc brew(n int) error { return fmt.Errorf("no") }\n',
    "a.rs": "use std::fmt;\n/// Holds tea.\npub struct Pot { heat: u8 }\nimpl Pot {\n"
            "    pub fn pour(&self, n: u8) -> u8 { brew(n) }\n}\nfn brew(n: u8) -> u8 { n }\n",
    "A.java": "import java.util.List;\n/** Holds tea. */\npublic class Pot {\n    public int pour(int n) { return brew(n); }\n"
              "    static int brew(int n) { return n; }\n}\n",
    "a.c": "#include <stdio.h>\n/* Holds tea. */\nstruct Pot { int heat; };\nstatic int brew(int n) { return n; }\n"
           "int pour(struct Pot *p) { return brew(1); }\n",
}  # fmt: skip
USED = {"a.py": 12, "a.ts": 6, "a.js": 5, "a.go": 9, "a.rs": 5, "A.java": 4, "a.c": 5}


def document(name: str) -> Document:
    text = SOURCES[name]
    return Document(name, tuple(text.split("\n")), "", len(text))


@pytest.mark.parametrize("name", SOURCES)
def test_each_language_has_its_definitions_uses_imports_and_prose(name: str) -> None:
    """EXP-31, 32: symbol-aware for the common languages."""
    found = code_outline.outline(document(name))
    assert ("ast" if name == "a.py" else "tree-sitter") == found.how
    rows = {one.qualified.rpartition(".")[2]: one for one in found.definitions}
    lines = SOURCES[name].split("\n")
    assert {"Pot", "pour", "brew"} <= rows.keys()
    assert all(
        one.name in lines[one.line - 1] and one.line <= one.end <= len(lines)
        for one in found.definitions
    )
    assert (USED[name],) == found.uses["brew"] and len(found.imports) == 1
    assert (name != "a.js") == ("tea" in lines[rows["Pot"].doc - 1])
    assert found.prose and all(
        any(word in lines[line - 1] for word in ("tea", "Tea", "cup")) for line in found.prose
    )


@pytest.mark.parametrize("ends", ["\r", "\x0c\r", "\r\r"])
def test_a_carriage_return_that_ends_no_line_moves_no_citation(ends: str) -> None:
    """EXP-17: lines are counted as editors count them, and by Python's parser, too."""
    text = f'# old{ends}# files\n\ndef pour(cup):\n    """Fills{ends} a cup."""\n    return cup\n'
    lines = tuple(text.split("\n"))
    found = code_outline.outline(Document("a.py", lines, "", len(text)))
    assert [("pour", 3, 4)] == [
        (one.name, one.line, one.doc) for one in found.definitions
    ] and "ast" == found.how
    macintosh = f'def pour(cup):{ends}    """Fills a cup."""{ends}    return cup{ends}'
    found = code_outline.outline(Document("a.py", (macintosh,), "", len(macintosh)))
    assert {1} >= {one.line for one in found.definitions} and {1, 0} >= {
        one.doc for one in found.definitions
    }


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "a.py"])
def test_without_a_grammar_lines_tell_the_most_of_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_trees, "_parser", lambda extension: None)
    found = code_outline.outline(document(name))
    assert "lines" == found.how and USED[name] in found.uses["brew"] and found.imports
    exact = {(one.name, one.line) for one in code_outline.outline(document(name)).definitions}
    assert "Pot" in {one for one, _ in exact}


@pytest.mark.parametrize(
    "text", ["", "def (:\n", "class\n" * 50, "{" * 5000, "\x00\ufeff", "a" * 100_000, "/* " * 3000]
)
@pytest.mark.parametrize("name", ["x.py", "x.ts", "x.go", "x.c", "x.rb", "x.toml"])
def test_no_text_breaks_an_outline_or_keeps_it_busy(
    text: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one takes a grammar eleven seconds, if it is let."""
    monkeypatch.setattr(code_trees, "SECONDS", 0.1)
    found = code_outline.outline(Document(name, tuple(text.split("\n")), "", len(text)))
    assert all(1 <= one.line <= one.end for one in found.definitions)


def tree_of(folder: Path) -> Tree:
    found = scan(str(folder), True)
    return Tree(found, found.documents)


def test_words_are_found_inside_names_in_every_form(tmp_path: Path) -> None:
    text = "def resume_run(): pass\ndef resumeRun(): pass\nRESUMED = 1\nclass Resuming: pass\npresume = 2\nresumé = 3\n"
    tree = tree_of(write(tmp_path, {"a.py": text}))
    assert {1, 2, 3, 4} == set(tree.search(concepts_of("resume")).hits["a.py"]) - {6}


def test_a_definition_comes_before_those_who_use_it_and_tests_come_last(tmp_path: Path) -> None:
    tree = tree_of(shop(tmp_path))
    best = tree.search(concepts_of("Which function places an order?")).units()
    assert best[0].definition is not None and "place_order" == best[0].definition.qualified
    ranks = {unit.path: number for number, unit in reversed(list(enumerate(best)))}
    assert ranks["tests/test_orders.py"] > ranks["shop/orders.py"]


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How does brew decide how hot the water is?", True),
        ("How does brew choose the boiler?", False),
    ],
)
def test_the_verb_of_a_question_need_not_stand_in_the_code(
    tmp_path: Path, question: str, answered: bool
) -> None:
    text = "def brew(water):\n    return water if hot(water) else None\n"
    tree = tree_of(write(tmp_path, {"a.py": text}))
    found = find_places(tree, tree.search(concepts_of(question)), question)
    assert answered == (found.sure != NONE)
    assert "decide" not in found.why and "choose" not in found.why


@pytest.mark.parametrize("approach", STRATEGIES)
def test_a_strategy_names_places_that_exist_each_once(tmp_path: Path, approach: str) -> None:
    """EXP-30 to 33."""
    tree = tree_of(shop(tmp_path))
    found = places(
        tree, tree.search(concepts_of("How is an order placed and the stock reserved?")), approach
    )
    at = [(one.path, one.line) for one in found]
    assert at and len(at) == len(set(at))
    assert all(1 <= line <= len(tree.documents[path].lines) for path, line in at)
    kinds = {one.kind for one in found}
    assert kinds <= {
        "PatternSearch": {"prose", "text", "passage", "variation"}, "DependencyTrace": {"use", "import"},
        "ImplementationScan": {"definition", "documentation", "code", "error", "effect", "implementation"},
        "BoundaryExplore": {"export", "boundary", "configuration", "internal", "dependency"},
    }[approach]  # fmt: skip
    assert [one for one in found if one.path.startswith("shop/")]
    only = places(tree, tree.search(concepts_of("order stock")), approach, "shop/orders.py")
    assert {"shop/orders.py"} >= {one.path for one in only}


LEDGER = {
    "bank/__init__.py": 'from .ledger import Ledger\n\n__all__ = ["Ledger"]\n',
    "bank/ledger.py": (
        "from .paper import Paper\n\n\n"
        'class Ledger:\n    """Where entries of the ledger are kept."""\n\n'
        '    def enter(self, entry):\n        """Adds an entry to the ledger."""\n'
        '        if not entry:\n            raise ValueError("an empty entry")\n'
        "        self.entries += [entry]\n\n\n"
        "def _balance_entry(ledger):\n    return sum(ledger.entries)\n"
    ),
    "bank/disk.py": "from .ledger import Ledger\n\n\nclass DiskLedger(Ledger):\n    pass\n",
    "bank/paper.py": "class Paper:\n    pass\n",
}


def test_an_implementation_scan_finds_types_implementations_effects_and_errors(
    tmp_path: Path,
) -> None:
    """EXP-32."""
    tree = tree_of(write(tmp_path, LEDGER))
    found = places(
        tree, tree.search(concepts_of("How is an entry put into the ledger?")), "ImplementationScan"
    )
    at = {(one.kind, one.path, one.line) for one in found}
    assert {
        ("definition", "bank/ledger.py", 4), ("documentation", "bank/ledger.py", 5), ("definition", "bank/ledger.py", 7),
        ("implementation", "bank/disk.py", 4), ("effect", "bank/ledger.py", 11), ("error", "bank/ledger.py", 10),
    } <= at, at  # fmt: skip


def test_a_boundary_exploration_tells_exported_from_internal_and_what_both_depend_on(
    tmp_path: Path,
) -> None:
    """EXP-33."""
    tree = tree_of(write(tmp_path, LEDGER))
    found = places(
        tree, tree.search(concepts_of("How is an entry of the ledger balanced?")), "BoundaryExplore"
    )
    at = {(one.kind, one.path, one.line) for one in found}
    assert {
        ("export", "bank/__init__.py", 1),
        ("internal", "bank/ledger.py", 14),
        ("dependency", "bank/ledger.py", 1),
    } <= at, at
    assert ("internal", "bank/ledger.py", 4) not in at


@pytest.mark.parametrize(
    ("question", "known", "several"),
    [
        ("How is the storage layered?", 1, True),  # architecture
        ("How do orders, stock, money and refunds go together?", 4, True),  # many dimensions
        ("Why does placing an order sometimes fail?", 2, True),  # a bug with a cause
        ("Where are errors logged throughout the code?", 2, True),  # it cuts across
        ("What does `reserve` do?", 1, False),
        ("Where is stock reserved?", 2, False),
    ],
)
def test_tracks_are_for_questions_with_several_sides(
    question: str, known: int, several: bool
) -> None:
    """EXP-36."""
    assert several == tools.trigger(question, known)


def test_a_sentence_is_told_whole_though_a_line_of_it_is_cited() -> None:
    text = "What is left over goes to the heap, which\n    is emptied at night. Then it\n    ends."
    lines = tuple(f'def f():\n    """Does it.\n\n    {text}\n    """'.split("\n"))
    prose = frozenset(range(2, 8))
    assert "Does it." == sentence(lines, 2, frozenset((2, 3)))
    assert "What is left over goes to the heap, which is emptied at night." == around(
        lines, 4, prose
    )
    assert "Then it ends." == around(lines, 6, prose) and "" == around(lines, 1, frozenset())


def test_who_uses_a_name_is_told_by_the_definition_around_it(tmp_path: Path) -> None:
    """EXP-31."""
    tree = tree_of(shop(tmp_path))
    found = places(tree, tree.search(concepts_of("`release`"), ["release"]), "DependencyTrace")
    assert ("shop/orders.py", 14, "use", "place_order") in {
        (one.path, one.line, one.kind, one.said) for one in found
    }


def test_a_folder_that_is_read_twice_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fdc_packs.research.outline import files

    tree = tree_of(shop(tmp_path))
    seen: list[str] = []
    real = files.outline
    monkeypatch.setattr(files, "outline", lambda one: (seen.append(one.path), real(one))[1])
    for question in ("order", "stock", "order stock"):
        tree.search(concepts_of(question)).units()
    assert len(seen) == len(set(seen)) and os.path.join("shop", "orders.py") in seen


def test_the_files_of_a_search_are_ranked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every track asks for the best files of the same search."""
    from fdc_packs.research.explore import code_search

    tree = tree_of(shop(tmp_path))
    seen: list[str] = []
    real = code_search.worth_of
    monkeypatch.setattr(
        code_search, "worth_of", lambda one, *more: (seen.append(one.path), real(one, *more))[1]
    )
    search = tree.search(concepts_of("order stock"))
    best = search.best_files()
    assert best and sorted(best) == sorted(seen)
    assert best[:1] == search.best_files(1) and len(seen) == len(best)


NOTES = {
    "a.py": 'def seal(jar):\n    """Closes a jar that was kept warm."""\n    return jar\n',
    "b.py": 'def stir(jar):\n    """Moves a spoon in a jar."""\n    return jar\n',
    "notes.md": "# Jars\n\nTo keep a jar warm, close it. The same jar can be closed twice.\n",
}


def _paths(folder: Path, question: str, code: bool = False) -> list[str]:
    """Where something is found, best first."""
    found = scan(str(write(folder, NOTES)), code=True)
    asked = concepts_of(question)
    return [
        one.path
        for one in Tree(found, found.documents)
        .search([*asked, *faint(question, asked)], code=code)
        .units()
    ]


def test_a_word_is_found_in_its_irregular_forms(tmp_path: Path) -> None:
    assert [["keep"], ["write", "wrote", "written"], [], []] == [
        forms(one) for one in ("kept", "writing", "splitting", "cat")
    ]
    assert {"a.py", "notes.md"} == set(_paths(tmp_path, "keeping")) == set(_paths(tmp_path, "kept"))


def test_a_word_that_tells_little_decides_only_between_those_that_tell_as_much(
    tmp_path: Path,
) -> None:
    question = "Is it the same?"
    assert ["same"] == [one.word for one in faint(question, concepts_of("jar"))]
    assert (
        []
        == faint("the a of", concepts_of("jar"))
        == faint("same", concepts_of("the same same same"))
    )
    assert "notes.md" == _paths(tmp_path, "Which is the same jar?")[0]
    assert "b.py" == _paths(tmp_path, "Does the same spoon move?")[0]


def test_what_code_does_is_answered_from_code_before_documents(tmp_path: Path) -> None:
    question = "close a warm jar twice"
    assert "notes.md" == _paths(tmp_path, question)[0]
    assert "a.py" == _paths(tmp_path, question, code=True)[0]
    asked = {"Where is it?": True, "How are they kept?": True, "Which function calls it?": True, "How do I keep it?": False,
             "Why is it warm?": False, "Can a jar be closed where it is?": False}  # fmt: skip
    assert asked == {one: mapped._HOW_DONE.search(one) is not None for one in asked}


def test_a_comment_above_a_method_is_its_documentation_and_a_rare_synonym_is_a_word(
    tmp_path: Path,
) -> None:
    """Not the class's, though it lies in it; a block may end a line above. `unpacked` is found as `inflate`."""
    text = "class Pipe {\n  /**\n   * Inflates what came.\n   */\n  read() {}\n}\n\n"
    text += "/**\n * Heats it.\n */\n\nfunction warm() {}\n"
    tree = tree_of(write(tmp_path, {"a.js": text + "// chosen\n"}))
    for question, name in (("What is unpacked?", "Pipe.read"), ("What heats?", "warm")):
        [unit, *_] = tree.search(concepts_of(question)).units()
        assert unit.definition is not None and name == unit.definition.qualified
    search = tree.search(concepts_of("Which chosen thing heats?"))
    assert "warm" == next(one.definition.name for one in search.units() if one.definition)


def test_a_pattern_search_documents_in_which_variations_a_word_is_written(tmp_path: Path) -> None:
    """EXP-30: names of code, each at its first line, the most frequent first; not tests, not what is written in one way only."""
    text = "def follow_redirect(redirects):\n    # redirected\n    seen = redirects\n    return isRedirected(redirects), seldom\n"
    folder = write(tmp_path, {"a.py": text, "tests/test_a.py": "from a import redirect_test\n"})
    tree = tree_of(folder)
    search = tree.search(concepts_of("Where are redirects seldom?"))
    found = [one for one in places(tree, search, "PatternSearch") if one.kind == "variation"]
    written = [
        ("a.py", 3, "`redirects` 3 times"),
        ("a.py", 1, "`follow_redirect` 1 time"),
        ("a.py", 4, "`isRedirected` 1 time"),
    ]
    assert written == [(one.path, one.line, one.said) for one in found]
    rows = [{**one._asdict(), "quote": "x"} for one in found]
    [told] = findings.document(
        "Why?", {"name": "t", "focus": "f"}, {"evidence": rows, "of": len(rows)}
    )["findings"]
    assert (
        told["claim"].startswith("`redirects` is written")
        and "`isRedirected` 1 time" in told["claim"]
    )
