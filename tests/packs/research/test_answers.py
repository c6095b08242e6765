"""What research finds and how it says it: ranking, spelling, scripts, context, report, and the shelf of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_packs.research import cite
from fdc_packs.research.arguments import number_of
from fdc_packs.research.retrieval import prefilter
from fdc_packs.research.retrieval.answer_cues import asks_what, cue_of, defined_term
from fdc_packs.research.retrieval.citations import Citation
from fdc_packs.research.retrieval.kinds import kind_of, section_kind
from fdc_packs.research.retrieval.question import concepts_of
from fdc_packs.research.retrieval.retrieve import Index, search
from fdc_packs.research.retrieval.spelling import respell
from fdc_packs.research.retrieval.stems import Stemmer
from fdc_packs.research.synthesise import quotation, synthesise
from fdc_packs.research.tools import _citation, _inert
from fdc_toolchain.testing import Crash, CrashPoint, MemoryJournal
from fdc_toolchain.tools.files.documents import MARK, Document
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.cited import check_report
from tests.support.research import report_of, research, write

LICENCE = """\
The MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of the kettle, to deal in the
kettle without restriction, without warranty of any kind. The kettle, the water and the tea are provided as is.
"""
TEA = """\
# Tea

- [Green tea](#green-tea)
- [Kettle, water and tea](#kettle)

## Green tea

Green tea is made with water that does not boil. Water of eighty degrees is best for it, because
hotter water makes it bitter.

## Kettle

The kettle switches itself off when the water boils. It may be refilled at once:

```sh
kettle --refill
```

There are three settings:

- `low` keeps the water at seventy degrees
- `high` keeps the water boiling

| setting | what it costs a day |
|---|---|
| low | two cents for the water of a small kettle |
| high | nine cents for the water of a small kettle |
"""
CHANGES = "# Changes\n\n## 1.2.0 (2026-01-02)\n\nGreen tea of eighty degrees no longer crashes the kettle of water.\n"
GERMAN = "# Tee\n\nGrüner Tee wird mit Wasser von achtzig Grad aufgegossen, damit er nicht bitter schmeckt.\n"
CHINESE = "# 茶\n\n绿茶应该用八十度的水冲泡。水太热会让茶变苦。\n"


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    return write(tmp_path, {
        "docs/tea.md": TEA, "docs/copy/tea.md": TEA, "LICENSE": LICENCE, "CHANGES.md": CHANGES,
        "docs/tee.md": GERMAN, "docs/cha.md": CHINESE,
    })  # fmt: skip


def short_answer(root: Path, question: str, **given: str) -> str:
    ending = research(root, question, **given)
    assert "finished" == ending.status, ending
    return report_of(root).split("## Evidence")[0]


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("How hot should the water for green tea be?", "Water of eighty degrees is best for it"),
        ("Why is hot water bad for green tea?", "because hotter water makes it bitter"),
        (
            "What happens when the water boils?",
            "The kettle switches itself off when the water boils.",
        ),
        ("What does the high setting cost?", "nine cents for the water of a small kettle"),
        ("Which settings are there?", "There are three settings:"),
        (
            "Mit wieviel Grad wird grüner Tee aufgegossen?",
            "Grüner Tee wird mit Wasser von achtzig Grad",
        ),
        ("绿茶用多少度的水", "绿茶应该用八十度的水冲泡。"),
        ("May I copy the kettle under this license?", "Permission is hereby granted"),
        ("What changed about green tea in release 1.2.0?", "no longer crashes"),
    ],
)
def test_the_first_sentences_of_the_answer_answer(
    kitchen: Path, question: str, quoted: str
) -> None:
    """FDC-52."""
    quotes = [row for row in short_answer(kitchen, question).split("\n") if row.startswith("- ")]
    assert quoted in "\n".join(quotes[:2]), quotes


def test_licences_change_logs_contents_and_copies_are_no_evidence(kitchen: Path) -> None:
    research(kitchen, "How hot should the water for green tea be?")
    report = report_of(kitchen)
    assert "docs/copy/tea.md:" in report and "docs/tea.md:" not in report, (
        "one of two equal files is quoted"
    )
    assert "LICENSE:" not in report and "](#green-tea)" not in report
    answer = report.split("## Evidence")[0]
    assert "CHANGES.md:" not in answer


def test_a_licence_answers_no_question_about_something_else(tmp_path: Path) -> None:
    """Its words stand in many questions: one that nothing else spoke of was answered from it."""
    root = write(tmp_path, {"docs/tea.md": TEA, "LICENSE": LICENCE})
    question = "How does the software deal with a lost connection?"
    ending = research(root, question)
    assert "LICENSE:" not in str(ending)
    assert "LICENSE:" not in "".join(one.read_text("utf-8") for one in root.glob("research/*.md"))


def test_what_is_announced_is_shown_with_its_place(kitchen: Path) -> None:
    research(kitchen, "When can the kettle be refilled?")
    report = report_of(kitchen)
    assert "- It may be refilled at once: `docs/copy/tea.md:13`\n" in report
    assert "  `docs/copy/tea.md:16`\n\n  ```\n  kettle --refill\n  ```" in report


def test_a_fragment_brings_the_sentence_that_it_leans_on(kitchen: Path) -> None:
    answer = short_answer(kitchen, "May it be refilled?")
    assert (
        "- The kettle switches itself off when the water boils. `docs/copy/tea.md:13`\n- It may be refilled"
        in answer
    )


def test_an_earlier_report_is_no_evidence_for_the_next(kitchen: Path) -> None:
    question = "How hot should the water for green tea be?"
    research(kitchen, question)
    first = report_of(kitchen)
    assert first.startswith(MARK)
    research(kitchen, question)
    again = report_of(kitchen)
    assert first.split("## What was not found")[0] == again.split("## What was not found")[0]
    assert "1 a report of earlier research, which cannot be evidence" in again


def test_what_nobody_wrote_of_is_said(kitchen: Path) -> None:
    research(kitchen, "How hot is the samovar for green tea?")
    assert "- No document has: `samovar`." in report_of(kitchen)


def test_a_slip_of_the_pen_is_read_as_the_nearest_word_and_said(kitchen: Path) -> None:
    research(kitchen, "When does the kettel switch off?")
    report = report_of(kitchen)
    assert "No document has `kettel`; `kettle` was looked for instead." in report
    assert "The kettle switches itself off" in report.split("## Evidence")[0]


@pytest.mark.parametrize(
    ("files", "question", "why"),
    [
        ({}, "What?", "no documents to read were found"),
        ({"a.md": "Green tea.\n"}, "xyzzy plugh", "no document has a word of the question"),
        ({"a.md": "Green tea.\n"}, "☕🫖", "no document has a word of the question"),
        (
            {"a.md": "# Green tea\n\n`green`\n"},
            "green tea",
            "no sentence of the documents speaks of the question",
        ),
    ],
)
def test_a_run_that_finds_nothing_stops_and_says_so(
    tmp_path: Path, files: dict[str, str], question: str, why: str
) -> None:
    ending = research(write(tmp_path, files), question)
    assert ending.stop is not None and ("require", why) == (ending.stop.kind, ending.stop.message)
    assert not (tmp_path / "research").exists()


def test_an_empty_question_is_refused(tmp_path: Path) -> None:
    ending = research(write(tmp_path, {"a.md": "Tea.\n"}), "  ")
    assert ending.stop is not None and ("failure", "`scope_question`: the question is empty") == (
        ending.stop.kind,
        ending.stop.message,
    )


def test_a_folder_outside_of_the_workspace_needs_a_grant(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"tea.md": TEA})
    inside = write(tmp_path / "inside", {"x.md": "X.\n"})
    (inside / "link").symlink_to(outside)
    for name in (str(outside), "../outside", "link", "missing", "x.md"):
        ending = research(inside, "green tea", documents=name)
        assert ending.stop is not None and "failure" == ending.stop.kind, name
    ending = research(inside, "How hot is the water for green tea?", granted=outside)
    assert "finished" == ending.status
    assert "`tea.md:8" in report_of(inside)


def test_documents_of_a_folder_inside_are_cited_from_the_workspace(kitchen: Path) -> None:
    answer = short_answer(kitchen, "When does the kettle switch off?", documents="docs/copy")
    assert "`docs/copy/tea.md:13`" in answer


def test_comments_of_source_files_are_evidence_when_asked_for(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "boil.py": '"""Boils water."""\n\n\ndef boil():\n'
            "    # Stops at ninety degrees, since steam is dangerous.\n    stop(90)\n"
        },
    )
    assert "`boil.py:5`" in short_answer(
        tmp_path, "Why does it stop at ninety degrees?", include="code"
    )


def test_results_of_steps_stay_small(tmp_path: Path) -> None:
    """They are journaled: a folder of 400 documents leaves some tens of kilobytes."""
    write(
        tmp_path,
        {
            f"d{n}/doc{n}.md": f"# Tea {n}\n\n"
            + f"Green tea number {n} wants water of {n} degrees.\n\n" * 20
            for n in range(400)
        },
    )
    journal = MemoryJournal()
    assert (
        "finished"
        == research(tmp_path, "How hot is the water for green tea?", journal=journal).status
    )
    assert sum(len(str(record.body)) for record in journal.records) < 100_000


@pytest.mark.long
def test_a_controller_that_dies_at_any_moment_changes_nothing_of_the_report(
    kitchen: Path, tmp_path: Path
) -> None:
    """The next controller has no index in memory, and reads again."""
    from fdc_packs.research.retrieval import library

    question = "How hot should the water for green tea be?"
    whole = CrashPoint()
    assert "finished" == research(kitchen, question, point=whole).status
    expected = report_of(kitchen)
    for number in range(1, len(whole.moments) + 1):
        (kitchen / "research" / "report.md").unlink(missing_ok=True)
        journal = MemoryJournal()
        with pytest.raises(Crash):
            research(kitchen, question, journal=journal, point=CrashPoint(number))
        library._shelf.clear()
        assert "finished" == research(kitchen, question, journal=journal).status
        assert expected == report_of(kitchen), whole.moments[number - 1]


def test_a_document_that_changed_after_it_was_quoted_is_found_out(kitchen: Path) -> None:
    """EXP-17: the check reads the file as it is now."""
    journal = MemoryJournal()
    research(kitchen, "When does the kettle switch itself off?", journal=journal)
    extracted = next(
        record for record in journal.records if record.tool == "extract_evidence"
    ).body["value"]
    path = kitchen / "docs" / "copy" / "tea.md"
    path.write_text(path.read_text("utf-8").replace("switches itself off", "explodes"), "utf-8")
    checked = cite.check(
        str(kitchen),
        [_citation({**row, "section": (), "has": ()}) for row in extracted["citations"]],
    )
    assert ["the quoted text is not there"] == [failure.why for failure in checked.failures]


def test_large_collections_are_narrowed_to_what_can_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [
        Document(f"d{n}.md", (f"Nothing of interest, number {n}.",), str(n), 500) for n in range(50)
    ]
    documents[17] = Document("d17.md", ("Kettles are boiling.",), "17", 500)
    concepts = concepts_of("Why does the kettle boil?")
    assert documents == prefilter.narrow(documents, concepts)
    monkeypatch.setattr(prefilter, "WHOLE", 1000)
    monkeypatch.setattr(prefilter, "KEPT", 1000)
    assert [documents[17]] == prefilter.narrow(documents, concepts)
    assert [] == prefilter.narrow(documents, concepts_of("samovar"))


def test_a_word_and_its_kin_have_one_stem() -> None:
    assert [["run", "run", "runner"], ["茶", "水"]] == Stemmer()(["running runs runners", "茶水"])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            "What does `call_plan` do when the registry is damaged?",
            ["call plan", "registry", "damaged"],
        ),
        ('Where is "plan registry" kept?', ["plan registry", "kept"]),
        ("the of and", ["the", "of", "and"]),
        ("What is AGENTS.md?", ["agents md"]),
        ("茶水多热", ["茶 水", "水 多", "多 热"]),
        ("☕ !? --", []),
    ],
)
def test_a_question_is_its_words_that_tell_something(question: str, words: list[str]) -> None:
    assert words == [concept.word for concept in concepts_of(question)]


def test_other_words_for_the_same_thing_find_it_but_less() -> None:
    index = Index(
        [
            Document(name, (text,), name, 1)
            for name, text in (
                ("a", "How to remove a file."),
                ("b", "How to delete a file."),
                ("c", "Tea."),
            )
        ]
    )
    found = search(index, concepts_of("delete a file"), 5)
    assert ["b", "a"] == [
        index.documents[index.passages[one.passage].document].path for one in found
    ]


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("registri", "registry"),
        ("linterr", "linter"),
        ("zzzzzz", None),
        ("tea", None),
        ("r2d2x", None),
    ],
)
def test_the_nearest_word_is_one_of_the_documents(word: str, nearest: str | None) -> None:
    index = Index([Document("a", ("The linter reads the registry of plans.",), "a", 1)])
    assert nearest == respell(index, concepts_of(word)[0])


@pytest.mark.parametrize(
    ("path", "first", "kind"),
    [
        ("LICENSE", "x", "licence"), ("doc/COPYING.txt", "x", "licence"), ("a.md", LICENCE, "licence"),
        ("licenses/x.md", "x", "licence"),
        ("CHANGELOG.md", "x", "changelog"), ("RelNotes/2.0.txt", "x", "changelog"), ("news.rst", "x", "changelog"),
        ("licensing-howto-guide.md", "x", "text"), ("exchange.md", "x", "text"), ("a.md", TEA, "text"),
    ],
)  # fmt: skip
def test_kinds_of_documents(path: str, first: str, kind: str) -> None:
    assert kind == kind_of(Document(path, tuple(first.split("\n")), "", 1))


def test_kinds_of_sections() -> None:
    changes = ["Changelog", "1.2.0 (2026-01-02)", "v3.1", "What's new", "Changed in 2"]
    texts = ["4.5 Embedded default", "1. Install", "History of tea", "Release process"]
    assert ["changelog"] * 5 + ["text"] * 4 == [
        section_kind("text", ("Title", one)) for one in changes + texts
    ]
    assert ["licence", "text"] == [
        section_kind("text", ("Title", one)) for one in ("License", "Title of licences")
    ]


def test_the_form_of_a_question_prefers_the_form_of_an_answer() -> None:
    assert cue_of("Why is it?")("It is, because it is.") > cue_of("Why is it?")("It is.")
    assert cue_of("How many?")("There are 12.") > cue_of("How many?")("There are some.")
    assert 1.0 == cue_of("tea")("It is, because of 12.")
    assert [True, True, False] == [
        asks_what(one) for one in ("What is a plan?", "meaning of plan", "How is a plan run?")
    ]
    said = [
        "**Plan**: a text.",
        "A plan is a text.",
        "plan (the word) means text",
        "The text, if any, is a plan.",
        "Run it.",
    ]
    assert ["Plan", "plan", "plan", None, None] == [defined_term(one) for one in said]


def cited(text: str, **more: Any) -> Citation:
    rows = text.split("\n")
    given = {
        "path": "a.md",
        "line": 3,
        "column": 1,
        "end_line": 2 + len(rows),
        "end_column": len(rows[-1]) + 1,
        "score": 1.0,
        "group": 1,
    }
    return Citation(text=text, **{**given, **more})


def test_words_of_others_in_a_fact_have_no_effect_in_markdown() -> None:
    """Issue 5, hostile text: a server's own words, as in `image/<script>`, stand in the report's list of what was not read."""
    pairs = [
        ("\\<b> ![x](y) `z`", "\\<b> !\\[x](y) 'z'"),
        ("\\\\[x](y)\\", "\\[x](y)"),
        ("a  <c>", "a \\<c>"),
    ]
    assert [expected for _, expected in pairs] == [_inert(text) for text, _ in pairs]


def test_quotations_have_no_effect_in_markdown() -> None:
    pairs = [
        ("<script>x</script> and `<b>`", "\\<script>x\\</script> and `<b>`"), ("![img](http://x)", "!\\[img](http://x)"),
        ("# not a heading", "\\# not a heading"), ("1. not an item", "1\\. not an item"), ("- nor this", "\\- nor this"),
        ("a stray ` mark", "a stray \\` mark"), ("two\n   lines", "two lines"), ("#tag stays", "#tag stays"),
    ]  # fmt: skip
    assert [expected for _, expected in pairs] == [quotation(text) for text, _ in pairs]


def test_a_report_says_what_it_rests_on() -> None:
    one = cited("The kettle\nboils.", section=("Tea", "Kettle <b>"), has=("kettle",))
    report = synthesise(
        "Why <does> it\nboil?",
        [one],
        {"kettle": 2.0, "boil": 1.0, "samovar": 0.0},
        {},
        ["A fact."],
        ["`b.md:1`: gone"],
        ["Not read: 1 file."],
    )
    assert (
        f"{MARK}\n# Why \\<does> it boil?\n\n## Short answer\n\n**Kettle \\<b>**, a.md:\n\n- The kettle boils. `a.md:3-4`\n\n"
        "## Evidence\n\n### a.md\n\n*Kettle \\<b>*\n\n- The kettle boils. `a.md:3-4`\n\n## What was not found\n\n"
        "- No document has: `samovar`.\n- In the documents, but in none of the sentences quoted here: `boil`.\n"
        "- Not read: 1 file.\n\n"
        "## How this was made\n\n- A fact.\n- Left out, because it does not hold: `b.md:1`: gone\n"
    ) == report.markdown
    assert ("The kettle boils. [a.md:3-4]", "") == (report.answer, report.note)


def test_a_report_of_nothing_says_so() -> None:
    report = synthesise("Why?", [], {}, {}, [])
    assert (
        "The documents do not answer this: no sentence speaks of it." in report.markdown
        and "" == report.answer
    )


def test_a_written_report_is_checked_from_its_text_alone(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "One.\n\n> The *kettle*\n> boils at once.\n"})
    good = "- The *kettle* boils at once. `a.md:3-4`"
    bad = [
        "- The kettle explodes. `a.md:3-4`",
        "- One. `b.md:1`",
        "- One. `a.md:9`",
        "- One. `../a.md:1`",
    ]
    assert (1, 1) == ((found := check_report(str(tmp_path), good)).checked, len(found.held))
    assert (4, 0) == (
        (found := check_report(str(tmp_path), "\n".join(bad))).checked,
        len(found.held),
    )


def test_one_index_serves_many_branches_at_once() -> None:
    """Branches of a fork search the same index: each finds what it would have found alone."""
    from concurrent.futures import ThreadPoolExecutor

    words = [f"w{n}" for n in range(60)]
    texts = [tuple(f"{a} {b} tea" for a in words[n::7] for b in words[::9]) for n in range(40)]
    documents = [Document(f"d{n}.md", text, str(n), 500) for n, text in enumerate(texts)]
    alone = Index(documents)
    expected = {word: alone.hits(word) for word in words} | {"": dict(alone.vocabulary("w"))}
    for _ in range(6):
        shared = Index(documents)

        def ask(word: str, index: Index = shared) -> bool:
            return (index.hits(word) if word else dict(index.vocabulary("w"))) == expected[word]

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, [*words, "", "", *words, ""]))


def test_a_number_of_an_earlier_step_is_a_number() -> None:
    assert [number_of({"score": 2}, "score"), number_of({}, "score")] == [2.0, 0.0]
    with pytest.raises(ToolFailure, match="is not a number"):
        number_of({"score": "high"}, "score")
