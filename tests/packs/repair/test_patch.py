"""Answers as models write them, the traps of earlier appliers (T-40 to T-45), regions (HYP-14 to 16)."""

from __future__ import annotations

import pytest
from fdc_packs.repair.patch.patch import Patched, PatchRefused, apply_patch
from fdc_packs.repair.patch.region import Region, as_dict, contains, parse_region

SOURCE = """\
def first(items):
    if not items:
        return None
    return items[1]


def last(items):
    if not items:
        return None
    return items[-1]
"""
FIXED = SOURCE.replace("items[1]", "items[0]")


def refused(original: str, answer: str, **more: object) -> tuple[str, str]:
    with pytest.raises(PatchRefused) as caught:
        apply_patch(original, answer, **more)  # type: ignore[arg-type]
    return caught.value.reason, caught.value.why


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        (
            "--- a/f.py\n+++ b/f.py\n@@ -4 +4 @@\n-    return items[1]\n+    return items[0]\n",
            "exact",
        ),
        (
            "```diff\n@@ -40,7 +40,9 @@ def\n         return None\n-    return items[1]\n+    return items[0]\n```\nB.",
            "exact",
        ),
        ("```diff\n-    return items[1]\n+    return items[0]\n```", "exact"),
        ("@@ -4 +4 @@\n-4 |     return items[1]\n+4 |     return items[0]", "exact"),
        ("@@ -4 +4 @@\n4 | -    return items[1]\n4 | +    return items[0]", "exact"),
        (
            "<<<<<<< SEARCH\n    return items[1]\n=======\n    return items[0]\n>>>>>>> REPLACE",
            "exact",
        ),
        (
            "```py\n<<<<<<< SEARCH\n4 |     return items[1]\n=======\n4 |     return items[0]\n>>>>>>> REPLACE\n```",
            "exact",
        ),
        (
            "```\nORIGINAL LINES:\n    return items[1]\n\nCHANGED LINES:\n    return items[0]\n```\nThat is all.",
            "exact",
        ),
        (
            "**ORIGINAL LINES:**\n```py\n  4 |     return items[1]\n```\n**NEW LINES:**\n```\n    return items[0]\n```",
            "exact",
        ),
        ("ORIGINAL LINES:\nreturn items[1]\nCHANGED LINES:\nreturn items[0]", "whitespace"),
        ("ORIGINAL LINES:\n\treturn items[1]   \nCHANGED LINES:\n\treturn items[0]", "whitespace"),
        ("@@ @@\n-  return items [1]\n+  return items[0]\n\n\n def last(items):\n", "fuzzy"),
    ],
)
def test_every_way_to_say_it_says_the_same(answer: str, how: str) -> None:
    """HYP-35, 36: three formats, fences, line numbers, wrong counts; the same text, and the line that was touched."""
    assert Patched(FIXED, ((4, 4),), how) == apply_patch(SOURCE, answer)


def test_text_without_a_patch_is_refused() -> None:
    """T-40, T-43: an apology, an empty answer and a whole new file are not patches."""
    for answer in (
        "Sorry, I cannot help.",
        "",
        "```python\n" + FIXED + "```",
        "- one thing\n+ another",
    ):
        assert "missing-diff" == refused(SOURCE, answer)[0]


def test_a_patch_that_changes_nothing_is_refused() -> None:
    """T-43 (HYP-34): an empty patch was a success once."""
    same = "<<<<<<< SEARCH\n    return items[1]\n=======\n    return items[1]\n>>>>>>> REPLACE"
    for answer in (same, "--- a/f.py\n+++ b/f.py\n", "@@ -4 +4 @@\n     return items[1]\n"):
        assert "empty-diff" == refused(SOURCE, answer)[0]


def test_context_lines_decide_which_of_two_twins_is_meant() -> None:
    """T-41: an applier that drops context edits the wrong twin."""
    text = "a\nb\nx\na\nc\nx\n"
    assert "a\nb\nx\na\nc\ny\n" == apply_patch(text, "@@ ... @@\n c\n-x\n+y").text
    assert "a\nb\ny\na\nc\nx\n" == apply_patch(text, "@@ ... @@\n b\n-x\n+y").text


def test_equal_lines_are_not_one_too_many() -> None:
    """T-42: `}` twice is `}` twice, and a new last line may equal the one below it."""
    text = "f {\n  g {\n  }\n}\nend\n"
    answer = "ORIGINAL LINES:\n  g {\nCHANGED LINES:\n  g {\n    h {\n    }\n    }\n  }"
    assert "f {\n  g {\n    h {\n    }\n    }\n  }\n  }\n}\nend\n" == apply_patch(text, answer).text


def test_two_equally_good_places_are_none() -> None:
    """HYP-36: to the letter, but for white space and nearly; a number decides only where the text is there to the letter."""
    twice = "<<<<<<< SEARCH\n        return None\n=======\n        return 0\n>>>>>>> REPLACE"
    assert ("patch-apply", "a section fits equally well at lines 3, 9") == refused(SOURCE, twice)
    assert "fits equally well" in refused(SOURCE, twice.replace("        ", "  "))[1]
    assert (
        "about equally well"
        in refused(SOURCE, "@@ @@\n     if not items:\n-        return Nome\n+        return 0")[1]
    )
    numbered = "ORIGINAL LINES:\n9 |         return None\nCHANGED LINES:\n9 |         return 0"
    assert ((9, 9),) == apply_patch(SOURCE, numbered).spans
    assert "fits equally well" in refused(SOURCE, numbered.replace("9 |", "8 |"))[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [("before.c", "after.c"), ("x.py.orig", "x.py"), ("old/x.py", "new/x.py"), ("a/f.py", "b/f.fixed.py"),
     ("x_old.py", "x_new.py"), ("buggy.py", "fixed.py"), ("x.py (original)", "x.py (fixed)"), ("src/x.py", "x.py")],
)  # fmt: skip
def test_two_names_of_a_model_for_one_file_are_no_renaming(old: str, new: str) -> None:
    """D8: 216 of 485 recorded patches name the two sides of one file."""
    assert "b\n" == apply_patch("a\n", f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n").text


def test_the_number_of_a_header_breaks_a_tie() -> None:
    """D8: the place that is nearest to the header's line, though its counts are wrong; none where two are as near."""
    text, change = "x\na\ny\nz\nx\na\ny\n", " x\n-a\n+b\n"
    assert [((2, 2),), ((6, 6),)] == [
        apply_patch(text, f"@@ -{at},9 +{at},9 @@\n{change}").spans for at in (2, 4)
    ]
    assert "fits equally well" in refused(text, f"@@ -3,9 +3,9 @@\n{change}")[1]


def test_a_line_that_goes_must_be_like_the_one_that_is_there() -> None:
    """HYP-36: 0.8 of the section is not enough where the line that is removed is another one."""
    text = "alpha beta gamma delta\nepsilon zeta eta theta\nx = 1\niota kappa lambda mu\n"
    answer = "@@ @@\n alpha beta gamma delta\n epsilon zeta eta theta\n-y += 22\n+x = 2\n iota kappa lambda mu"
    assert "too unlike" in refused(text, answer)[1]


def test_the_indentation_of_the_file_is_kept() -> None:
    """HYP-36: a section that is indented otherwise brings its new lines as the file indents; unclear: refused."""
    old = "@@ @@\n if not items:\n     return None\n-return items[1]\n"
    found = apply_patch(SOURCE, f"{old}+for x in items:\n+    return x")
    assert "whitespace" == found.how
    assert (
        SOURCE.replace("    return items[1]\n", "    for x in items:\n        return x\n")
        == found.text
    )
    unclear = "@@ @@\n   if not items:\n    return None\n-  return items[1]\n+      return items[0]"
    assert "indentation" in refused(SOURCE, unclear)[1]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "without"),
        ("<<<<<<< SEARCH\na\n=======\nb", "a section without"),
        ("ORIGINAL LINES:\na\nORIGINAL LINES:\nb\nCHANGED LINES:\nc", "do not alternate"),
        ("```diff\n@@ -1 +1 @@\n-def first(items):\ndef one(items):\n```", "neither blank"),
        ("@@ -1 +1 @@\n-def first(items):\n+def one(items):\nreturn\n+x", "neither blank"),
        ("@@ -1,0 +2 @@\n+import os", "where its new lines belong"),
        ("<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE", "where its new lines belong"),
        ("@@ @@\n-nowhere\n+here", "not in the file"),
        (
            "@@ @@\n-    return items[1]\n+A\n@@ @@\n-    return items[1]\n+B",
            "change the same place",
        ),
        ("ORIGINAL LINES:\n```\na\nCHANGED LINES:\n```\nb\n```", "fence"),
    ],
)
def test_what_is_malformed_or_has_no_place_is_refused(answer: str, why: str) -> None:
    reason, said = refused(SOURCE, answer)
    assert "patch-apply" == reason and why in said


HEAD = "--- a/f.py\n+++ b/f.py\n"
CHANGE = "@@ -4 +4 @@\n-    return items[1]\n+    return items[0]\n"
LATER = "@@ -10 +10 @@\n-    return items[-1]\n+    return items[-2]\n"


@pytest.mark.parametrize(
    ("answer", "reason", "why"),
    [
        ("--- /dev/null\n+++ b/f.py\n@@ -0,0 +1 @@\n+x\n", "scope-violation", "makes a file"),
        ("--- a/f.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "scope-violation", "deletes a file"),
        (f"--- a/f.py\n+++ b/g.py\n{CHANGE}", "scope-violation", "renames `f.py` to `g.py`"),
        (f"diff --git a/f.py b/g.py\nsimilarity index 90%\nrename from f.py\nrename to g.py\n{HEAD}{CHANGE}",
         "scope-violation", "more than change lines"),
        (f"diff --git a/f.py b/f.py\nold mode 100644\nnew mode 100755\n{HEAD}{CHANGE}", "scope-violation", "`old mode 100644`"),
        ("diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 3\n", "scope-violation", "binary"),
        (HEAD + LATER + CHANGE, "patch-apply", "not in the order of the file"),
        (f"{HEAD}@@ ... @@\n{LATER[16:]}@@ ... @@\n{CHANGE[12:]}", "patch-apply", "not in the order of the file"),
        (f"{HEAD}@@ -3,2 +3,2 @@\n-        return None\n+        return 0\n     return items[1]\n{CHANGE}",
         "patch-apply", "speak of the same line, 4"),
        (f"{HEAD}{CHANGE}{CHANGE}", "patch-apply", "change the same place"),
        ("@@ @@\n-    return items[1]\n+--- x\n+++ y.py\n@@ @@\n--- x\n+++ y\n a\n", "patch-apply", "not in the file"),
        ("@@ @@\n-    return items[1]\n+    return 0\n--- x\n+++ y\n b\n", "patch-apply", "the head of another file"),
        (f"{HEAD}@@ -10 +10 @@\n-    return items[-1]\n\\ No newline\n+    return 0\n", "patch-apply", "is not ended"),
        (f"{HEAD}@@ -3,2 +3,2 @@\n         return None\n\\ No newline\n-    return items[1]\n+x\n", "patch-apply", "others"),
        (f"{HEAD}@@ -1,0 +2 @@\n\\ No newline\n+x\n", "patch-apply", "before any line"),
        (f"{HEAD}@@ -99,0 +100 @@\n+x\n", "patch-apply", "where its new lines belong"),
        ("ORIGINAL LINES:\n    return items[1]\nCHANGED LINES:\n    return items[0]\n\nIt helps.", "patch-apply", "prose"),
        ("ORIGINAL LINES:\n    return items[1]\nCHANGED LINES:\n", "patch-apply", "cut off"),
        ("ORIGINAL LINES:\n\n\n    return items[1]\nCHANGED LINES:\n    return items[0]\n", "patch-apply", "at the edge"),
        ("ORIGINAL LINES:\n    return items[1]\nCHANGED LINES:\n    return items[0]\n\n\n\n", "patch-apply", "at the edge"),
        (f"{HEAD}{CHANGE}\nOr:\nORIGINAL LINES:\nx\nCHANGED LINES:\ny\n", "patch-apply", "two patches"),
        (f"{CHANGE}\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", "patch-apply", "another kind"),
        ("<<<<<<< SEARCH\n    return items[1]\n=======\n=======\n>>>>>>> REPLACE", "patch-apply", "second time"),
    ],
)  # fmt: skip
def test_what_may_mean_something_else_is_refused(answer: str, reason: str, why: str) -> None:
    """HYP-34, 36: files made, deleted, renamed; hunks out of order or about the same line; marks that contradict the file."""
    assert reason == refused(SOURCE, answer)[0] and why in refused(SOURCE, answer)[1]


def test_a_file_that_speaks_of_sections_is_changed_by_a_diff() -> None:
    """HYP-35: lines of a file that look like marks would cut a section in two."""
    text = "b\nCHANGED LINES:\nORIGINAL LINES:\na\n"
    section = "ORIGINAL LINES:\nb\nCHANGED LINES:\nORIGINAL LINES:\na\nCHANGED LINES:\nx\n"
    assert "bound a section" in refused(text, section)[1]
    marked = "b\n=======\na\n"
    assert "bound a section" in refused(marked, "<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE")[1]
    assert "b\n=======\nc\n" == apply_patch(marked, "@@ @@\n =======\n-a\n+c").text


def test_line_ends_and_the_byte_order_mark_are_taken_where_the_answer_has_them() -> None:
    """HYP-35: an answer that came as a tool made it says how lines end; one that was sent otherwise does not."""
    text = "one\r\ntwo\nthree\r\n"
    assert (
        "one\ntwo\nthree\r\n"
        == apply_patch(text, f"{HEAD}@@ -1,2 +1,2 @@\n-one\r\n+one\n two\n").text
    )
    assert (
        "one\r\nTWO\r\nthree\r\n"
        == apply_patch(text, f"{HEAD}@@ -2,2 +2,2 @@\n-two\n+TWO\r\n three\r\n").text
    )
    assert (
        "one\r\nTWO\nthree\r\n"
        == apply_patch(text, f"{HEAD}@@ -2,2 +2,2 @@\n-two\n+TWO\n three\n").text
    )
    assert (
        "do not end as those" in refused(text, f"{HEAD}@@ -2,2 +2,2 @@\n-two\r\n+TWO\n three\n")[1]
    )
    assert "how its new lines end" in refused(text, f"{HEAD}@@ -2,0 +3 @@\n+more\n")[1]
    assert "one\n" == apply_patch("\ufeffone\n", f"{HEAD}@@ -1 +1 @@\n-\ufeffone\n+one\n").text
    assert "\ufefftwo\n" == apply_patch("\ufeffone\n", f"{HEAD}@@ -1 +1 @@\n-one\n+two\n").text
    assert "byte order mark" in refused("\ufeffone\n", f"{HEAD}@@ -1 +1 @@\n-one\n+\ufefftwo\n")[1]


def test_a_patch_stays_in_its_region() -> None:
    """HYP-14, 16: one line outside refuses the whole patch, however good; so does a second file, or another one."""
    region = Region("pkg/f.py", 2, 4, "lines")
    inside = "@@ -4 +4 @@\n-    return items[1]\n+    return items[0]\n"
    outside = "@@ -10 +10 @@\n-    return items[-1]\n+    return items[-2]\n"
    assert FIXED == apply_patch(SOURCE, inside, region=region).text
    assert "scope-violation" == refused(SOURCE, outside, region=region)[0]
    assert "scope-violation" == refused(SOURCE, inside + outside, region=region)[0]
    other = "--- a/g.py\n+++ b/g.py\n"
    assert "scope-violation" == refused(SOURCE, other + inside, region=region)[0]
    assert (
        "several files" in refused(SOURCE, "--- a/f.py\n+++ b/f.py\n" + inside + other + outside)[1]
    )
    for name in ("a/pkg/f.py", "f.py", "b/f.py"):
        assert FIXED == apply_patch(SOURCE, f"--- {name}\n+++ {name}\n{inside}", region=region).text
    after = "@@ @@\n     return items[1]\n+    # end\n"
    assert ((5, 4),) == apply_patch(SOURCE, after, region=region).spans
    assert "scope-violation" == refused(SOURCE, after, region=region._replace(last=3))[0]


def test_what_is_around_a_patch_keeps_its_bytes() -> None:
    """Line ends of both kinds in one file, tabs, form feeds, a mark at its beginning, no end at its end."""
    text = "\ufeffone\r\n\ttwo\x0c\nthree\u2028x\r\nfour"
    assert (
        "\ufeffone\r\n\tTWO\nand\nthree\u2028x\r\nfour"
        == apply_patch(text, "@@ @@\n-\ttwo\x0c\n+\tTWO\n+and").text
    )
    assert (
        "\ufeffone\r\n\ttwo\x0c\nthree\u2028x\r\nFOUR"
        == apply_patch(text, "@@ @@\n-four\n+FOUR").text
    )
    ending = "@@ @@\n-four\n\\ No newline at end of file\n+FOUR"
    assert ("patch-apply", "nothing in a section says how its new lines end") == refused(
        text, ending
    )
    assert "one\nFOUR\n" == apply_patch("one\nfour", ending).text
    assert "" == apply_patch("a\nb\n", "<<<<<<< SEARCH\na\nb\n=======\n>>>>>>> REPLACE").text
    assert "a\n" == apply_patch("", "ORIGINAL LINES:\nCHANGED LINES:\na").text


def test_two_readings_that_differ_are_no_reading() -> None:
    """A file whose lines begin with numbers, and an answer that may mean them: only where both readings do the same."""
    answer = "ORIGINAL LINES:\n1 | a\nCHANGED LINES:\n1 | b"
    assert "1 | b\n" == apply_patch("1 | a\n", answer).text
    assert "b\n" == apply_patch("a\n", answer).text
    assert "read in two ways" in refused("1 | a\na\n", answer)[1]


@pytest.mark.parametrize("similarity", [-0.1, 1.1, float("nan")])
def test_a_similarity_is_between_0_and_1(similarity: float) -> None:
    """HYP-36."""
    with pytest.raises(ValueError, match="from 0 to 1"):
        apply_patch(SOURCE, "", similarity=similarity)


@pytest.mark.parametrize(
    "value",
    ["column 5 of line 1", None, [1, 2], {"first": 1, "last": 2}, {"path": "f.py", "first": 0, "last": 2},
     {"path": "f.py", "first": 3, "last": 2}, {"path": "f.py", "first": "1", "last": 2},
     {"path": "f.py", "first": True, "last": 2}, {"path": "../f.py", "first": 1, "last": 2},
     {"path": "/f.py", "first": 1, "last": 2},
     {"path": "f.py", "first": 1, "last": 2, "kind": "somewhere"}],
)  # fmt: skip
def test_prose_and_impossible_lines_are_no_region(value: object) -> None:
    """HYP-15, T-45: a region is a span that a machine can check."""
    with pytest.raises(ValueError, match="region"):
        parse_region(value)


def test_a_region_is_read_back_as_it_was_written() -> None:
    region = Region("pkg/f.py", 3, 7, "function")
    assert (
        region
        == parse_region(as_dict(region))
        == parse_region({**as_dict(region), "path": "./pkg/f.py"})
    )
    assert Region("f.py", 1, 1, "lines") == parse_region({"path": "f.py", "first": 1, "last": 1})
    assert [True, True, True, False, False] == [
        contains(region, *span) for span in ((3, 7), (3, 2), (8, 7), (2, 3), (9, 8))
    ]
