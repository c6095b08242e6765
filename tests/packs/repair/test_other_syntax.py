"""What the parsers of other languages do not read is repaired by small edits near to where they stop (D7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.repair import context
from fdc_packs.repair.grammars import edits, judge

from tests.support.process import fdc

SCRIPT = """\
import { price } from "./price.js";

export function total(cart, rate = 2) {
  const out = [];
  for (const item of cart.items) {
    if (item.price > 0 && (rate || item)) {
      out.push(item.price * rate);
    } else {
      console.log("none", item);
    }
  }
  return out.reduce((a, b) => a + b, 0);
}

class Cart {
  names = { a: [1, 2, 3], b: [4, 5] };

  get(name) {
    try {
      return this.names[name];
    } catch (error) {
      return null;
    }
  }
}
"""
DATA = """\
{
  "name": "tea",
  "list": [1, 2, {"a": true}],
  "deep": {"b": null, "c": "x, y"},
  "last": "end"
}
"""
FAULTS = [
    ("x.js", right, wrong)
    for right, wrong in [
        ("rate = 2) {", "rate = 2 {"), ("rate = 2) {", "rate = 2)"), ("* rate);", "* rate;"), ('"none", item', '"none, item'),
        ('log("none"', 'log(none"'), ("[1, 2, 3]", "[1, 2, 3"), ("[1, 2, 3]", "1, 2, 3]"), ("[4, 5] };", "[4, 5] ;"),
        ("    } else {", "    else {"), ("b, 0);", "b, 0));"), ("[1, 2, 3]", "[1 2, 3]"), ("|| item)) {", "|| item) {"),
        ("0 &&", "0 && &&"), ("  }\n  return out", "  return out"), ("null;\n    }\n", "null;\n"),
        ("  return out.reduce", "  }\n  return out.reduce"), ("a: [1", "a [1"), ("a: [1", "a = [1"),
        ('"./price.js"', '"./price.js'), ("cart.items) {", "cart.items {"), ("const out", "cosnt out"),
        ("function total", "functoin total"), ("class Cart {", "class Cart"),
    ]
] + [
    ("x.json", right, wrong)
    for right, wrong in [
        ('"tea",', '"tea"'), ('"name": "tea"', '"name" "tea"'), ('"end"\n', '"end",\n'), ("true}]", "true}"), ("true}]", "true]"),
        ('null, "c"', 'null "c"'), ('"tea",', "'tea',"), ('"name":', "name:"), ('y"},', "y},"), ("}\n", "}}\n"),
        ('"deep": {', '"deep": '), ('"list": [', '"list": '), ('"last": "end"', '"last": "end'), ('"end"\n}', '"end"'),
        ("true}", "True}"), ('"tea",', '"tea";'), ('"name":', '"name" ='), ('"tea",', '"tea",,'), ("null", "undefined"),
    ]
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong"), FAULTS)
def test_a_sign_that_is_lost_or_too_many_is_put_right(name: str, right: str, wrong: str) -> None:
    """Every candidate is read by the parser, and the text as it was is among the first three."""
    good = SCRIPT if name == "x.js" else DATA
    text = good.replace(right, wrong, 1)
    assert text != good and judge.trouble(name, good) is None
    meant = []
    for row in edits.repairs(text, name, set()):
        after = text
        for start, end, instead in sorted(row["pieces"], reverse=True):
            after = after[:start] + instead + after[end:]
        assert judge.trouble(name, after) is None
        meant.append("".join(after.split()))
    assert "".join(good.split()) in meant[:3]


def test_two_faults_are_repaired_one_after_the_other() -> None:
    text = DATA.replace('"tea",', '"tea"').replace("true}]", "true]")
    assert edits.repairs(text, "x.json", set())


def test_what_can_be_read_or_has_no_parser_has_no_repair() -> None:
    assert [] == edits.repairs(SCRIPT, "x.js", set()) == edits.repairs(DATA, "x.json", set())
    assert (
        [] == edits.repairs("a (b", "x.txt", set()) == edits.repairs("[" * 10_000, "x.toml", set())
    )
    assert [] == edits.repairs("[" * 300_000, "x.json", set())
    for text in ("", "[" * 3000, "\ufeff{", '{"a": \ud800', "\0", '"' * 999):
        for name in ("x.json", "x.js"):
            edits.repairs(text, name, set())  # nothing is raised, and it ends


def test_the_suspect_is_where_the_parser_stops_unless_the_failure_names_another_file() -> None:
    sources = {"a.json": '{"a" 1}\n', "b.js": "let a = 1;\n"}
    seen: context.Collected = {
        "sources": sources,
        "spectra": [],
        "gathered": [],
        "files": [*sources],
        "why": "",
    }  # type: ignore[typeddict-item]
    for path, expected in (("", ["a.json"]), ("a.json", ["a.json"]), ("b.js", ["b.js"])):
        found = context.ranked(seen, {"path": path, "line": 1})  # type: ignore[typeddict-item]
        assert expected == sorted({row["path"] for row in found["suspects"]})


def test_fix_repairs_a_file_of_json_without_a_model(workspace: Path) -> None:
    (workspace / "a.json").write_text(DATA.replace("true}]", "true]"))
    done = fdc("fix", "--test", "python3 -m json.tool a.json", "a.json", "--write", cwd=workspace)
    assert 0 == done.returncode and "fixed" in done.stderr, done.stderr
    assert DATA == (workspace / "a.json").read_text()
