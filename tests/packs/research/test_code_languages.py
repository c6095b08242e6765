"""What each language writes in a way of its own, and which lines tell where no grammar is installed (EXP-31, EXP-32)."""

from __future__ import annotations

import pytest
from fdc_packs.research.outline import code_outline, code_trees
from fdc_packs.research.outline.comment_sentences import sentence
from fdc_toolchain.tools.files.documents import Document

JAVASCRIPT = """\
/**
 * Answers one request.
 */
app.route = function route(path) { var done = 1; return done; };
Pot.prototype.pour = async (n) => { const q = 1; };
exports.brew = brew;
module.exports.heat = 3;
module.exports = Pot;
getter(req, 'query', function query() { return 1; });
const api = { open(n) { return n; }, close: function () {}, ready: 3 };
class Cup { fill = () => 3; size = 4; #seal() {} }
(function () { var seen = 1; function shown() { var not = 1; } root.it = function () {}; })();
"""
CPP = """\
#include <vector>
namespace tea {
// A pot.
class Pot : public Base { public: int pour(int n) const; };
int Pot::pour(int n) const { int inner = 1; return brew(n); }
template <typename T> T brew(T n) { return n; }
enum class Kind { Green };
using Cup = int;
static const int LIMIT = 3;
}
"""
CSHARP = """\
using System;
namespace Tea {
  // A pot.
  class Pot : Base { public int Pour(int n) { var inner = 1; return Brew(n); } static int LIMIT = 3; }
  interface ICup { int Fill(int n); }
  struct Leaf { }
}
"""
RUBY = """\
require 'set'
# A pot.
class Pot < Base
  LIMIT = 3
  def pour(n)
    inner = 1
    brew(n)
  end
  def self.brew(n) = n
end
"""
PHP = """\
<?php
use Foo\\Bar;
// A pot.
class Pot extends Base { const LIMIT = 3; public function pour($n) { return brew($n); } }
trait Holds { }
function brew($n) { return $n; }
"""
GO = """\
package tea

import "errors"

// ErrCold is said of tea.
var ErrCold = errors.New("cold")

type Cup interface{ Fill(n int) error }

var pour = func(n int) { var inner = 1; brew(inner) }
"""
TYPESCRIPT = """\
import { Base } from "./base";
export namespace Tea { export const heat = 3; }
abstract class Pot extends Base { abstract pour(n: number): void; fill = (n: number) => { const inner = 1; } }
export function brew(n: number): number;
"""
WANTED = {
    "a.js": (JAVASCRIPT, 0, """
function app.route 4 2|function Pot.pour 5|export brew 6|constant heat 7|function query 9|constant api 10|method api.open 10
method api.close 10|class Cup 11|method Cup.fill 11|method Cup.#seal 11|constant seen 12|function shown 12|function root.it 12
"""),
    "a.cpp": (CPP, 1, """
module tea 2|class tea.Pot 4 3|function tea.Pot.pour 5|function tea.brew 6|enum tea.Kind 7|type tea.Cup 8|constant tea.LIMIT 9
"""),
    "a.cs": (CSHARP, 1, """
module Tea 2|class Tea.Pot 4 3|method Tea.Pot.Pour 4 3|constant Tea.Pot.LIMIT 4 3|interface Tea.ICup 5|method Tea.ICup.Fill 5
struct Tea.Leaf 6
"""),
    "a.rb": (RUBY, 1, "class Pot 3 2|constant Pot.LIMIT 4|method Pot.pour 5|method Pot.brew 9"),
    "a.php": (PHP, 1, "class Pot 4 3|constant Pot.LIMIT 4 3|method Pot.pour 4 3|trait Holds 5|function brew 6"),
    "a.go": (GO, 1, "constant ErrCold 6 5|type Cup 8|method Cup.Fill 8|constant pour 10"),
    "a.ts": (TYPESCRIPT, 1, "module Tea 2|constant Tea.heat 2|class Pot 3|method Pot.pour 3|method Pot.fill 3|function brew 4"),
}  # fmt: skip


def document(name: str, text: str) -> Document:
    return Document(name, tuple(text.split("\n")), "", len(text))


@pytest.mark.parametrize("name", WANTED)
def test_what_a_language_binds_in_its_own_way_is_a_definition_and_what_is_local_is_none(
    name: str,
) -> None:
    text, imports, wanted = WANTED[name]
    found = code_outline.outline(document(name, text))
    assert "tree-sitter" == found.how and imports == len(found.imports)
    rows = [
        f"{one.kind} {one.qualified} {one.line}" + (f" {one.doc}" if one.doc else "")
        for one in found.definitions
    ]
    assert wanted.strip().replace("\n", "|").split("|") == rows


@pytest.mark.parametrize("name", ["a.js", "a.ts", "a.go", "a.c"])
def test_a_remark_behind_code_documents_nothing_below_it(name: str) -> None:
    """A function below constants with remarks was said to be what the first comment above them says."""
    constants = {
        "a.go": "const wait = 120 // for an answer\nconst idle = 600 // for a word\n",
        "a.c": "static int wait = 120; // for an answer\nstatic int idle = 600; // for a word\n",
    }.get(name, "const wait = 120; // for an answer\nconst idle = 600; // for a word\n")
    head = {"a.go": "package tea\n", "a.c": "#include <tea.h>\n"}.get(name, "import 'tea';\n")
    begins = {"a.go": "func shuffle() {\n}\n", "a.c": "int shuffle(void) {\n}\n"}
    text = f"{head}// limits in seconds\n{constants}{begins.get(name, 'function shuffle() {}')}"
    found = {one.name: one.doc for one in code_outline.outline(document(name, text)).definitions}
    assert (found["wait"], found.get("idle", 0), found["shuffle"]) == (2, 0, 0)


LINES = {
    "a.js": ("/** Pours. */\napp.pour = function pour(n) {\n  var in_ = n;\n\n  return in_;\n};\n\nvar heat = 3;\nbrew(heat);\n",
             [("pour", 2, 6, 1), ("heat", 8, 8, 0)]),
    "a.kt": ("class Pot {\n    fun pour(n: Int) {\n        brew(n)\n    }\n}\n\nfun brew(n: Int)\n{\n    n\n}\nprintln(1)\n",
             [("Pot", 1, 5, 0), ("pour", 2, 4, 0), ("brew", 7, 10, 0)]),
    "a.lua": ("function pour(n)\n  brew(n)\nend\n\n-- Brews.\nfunction brew(n)\n  return n\nend\nprint(1)\n",
              [("pour", 1, 3, 0), ("brew", 6, 8, 5)]),
    "a.toml": ("# Heat.\nheat = 3\n\n[cup]\nsize = 4\n", [("heat", 2, 2, 1), ("size", 5, 5, 0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_by_lines_a_definition_ends_with_what_is_indented_in_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it went on to the next definition: all calls of a file belonged to its last one."""
    monkeypatch.setattr(code_trees, "_parser", lambda extension: None)
    text, wanted = LINES[name]
    found = code_outline.outline(document(name, text))
    assert ("lines", wanted) == (
        found.how,
        [(one.name, one.line, one.end, one.doc) for one in found.definitions],
    )


def test_a_sentence_of_a_comment_ends_with_the_comment() -> None:
    lines = ("// the last one", "var done = back(req, {", "  env: this.get('env')")
    assert "the last one" == sentence(lines, 1, frozenset((1,)))


def test_a_grammar_that_is_not_there_is_named_once_and_an_unknown_ending_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [] == code_trees.missing([".js", ".py", ".kt"])
    monkeypatch.setattr(code_trees, "_parser", lambda extension: None)
    assert [".js", ".ts"] == code_trees.missing([".ts", ".py", ".kt", ".js"])
