"""Laws of research for every folder and every question: what is quoted is there, and nothing else is said."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fdc_packs.research import cite
from fdc_packs.research.outline.outline import outline
from fdc_packs.research.outline.sentences import sentences
from fdc_packs.research.research_planner import plan_deep_research
from fdc_packs.research.retrieval.citations import Citation
from fdc_packs.research.retrieval.extract import extract
from fdc_packs.research.retrieval.question import concepts_of
from fdc_packs.research.retrieval.retrieve import Index, refine, search
from fdc_packs.research.synthesise import quotation
from fdc_toolchain.agent.lessons.research_plan import clean
from fdc_toolchain.tools.files.documents import Document, lines_of, scan
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.cited import check_report
from tests.support.linting import lint
from tests.support.profiles import share
from tests.support.repository import ROOT
from tests.support.research import report_of, research, write

WORDS = (
    "the tea water is hot Green kettle boils journal A record of runs `code x.y` **bold** e.g. Dr. 80 degrees; über 茶 水很热。 "
    "[link](u.md)"
).split()
ENDS = [".", "!", "?", ":", "", "...", ".)", '."', ";", " |", ". ", "。"]
STARTS = [
    "",
    "",
    "",
    "- ",
    "1. ",
    "> ",
    "# ",
    "## ",
    "    ",
    "| ",
    "\t",
    "* ",
    "> - ",
    "```",
    ".. note:: ",
    "<b>",
    "-- ",
    "\ufeff",
    "~~~",
    "===",
]

sentence = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
    st.sampled_from(ENDS),
)
line = st.builds(
    lambda start, parts: start + " ".join(parts),
    st.sampled_from(STARTS),
    st.lists(sentence, max_size=3),
)
strange = st.text(st.characters(codec="utf-8"), max_size=30)
lines = st.lists(st.one_of(line, line, line, st.just(""), strange), max_size=25)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A document as bytes: LF, CRLF or mixed, with or without a byte order mark and an end of the last line."""
    out = []
    rows = draw(lines)
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\n\n"]]))
    for number, row in enumerate(rows):
        out.append(
            row
            + ("" if number == len(rows) - 1 and draw(st.booleans()) else ends[number % len(ends)])
        )
    if draw(st.integers(0, 9)) == 0:
        out.append("The kettle is very long. " * 200)
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + "".join(out).encode("utf-8")


folders = st.dictionaries(
    st.sampled_from(
        [
            "a.md",
            "b.rst",
            "c.txt",
            "README",
            "d/e.md",
            "d/f.adoc",
            "g.org",
            "d/LICENSE",
            "CHANGES.md",
        ]
    ),
    files(),
    min_size=1,
)
questions = st.one_of(
    st.sampled_from(
        ["How hot is the water for green tea?", "What is a journal?", "茶水多热", "kettle"]
    ),
    sentence,
    strange,
)
HOSTILE = [
    '"', '""', "'", "*", "a*", "a OR b", "NEAR(tea water, 2)", "NOT tea", "tea AND", "(", "body:tea", "{body head}: tea", "^tea",
    "-tea", "tea + water", "'); DROP TABLE f; --", "a\0b", "☕🫖", "\u202etea", "tea\nwater\r\n", "# tea", "--- tea",
    "{tea} {{tea}} {a.b}", "\\",
    "%s%n", "?", "   .  ", "the of and", "tea " * 25_000, "x" * 100_000, "a.b.c:d/e_f-g", '"unclosed tea', "`tea`",
    "<script>tea</script>", "\ud83d",
]  # fmt: skip


def citations(folder: str, question: str) -> list[Citation]:
    """The pipeline without plan and journal."""
    documents = scan(folder).documents
    index = Index(documents)
    concepts = concepts_of(question)
    found = refine(index, concepts, search(index, concepts, 200), question)
    passages = []
    for one in found:
        passage = index.passages[one.passage]
        passages.append(
            (index.documents[passage.document].path, passage.line, passage.end_line, one.score)
        )
    return extract(
        documents, passages, concepts, [index.rarity(concept) for concept in concepts], question, 20
    )


def stands(data: bytes, one: Citation) -> bool:
    """Whether the quoted text is at its span, told in another way than `cite` does: line by line, on the bytes."""
    rows = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    parts = one.text.split("\n")
    if len(parts) == 1:
        return (
            rows[one.line - 1][one.column - 1 : one.end_column - 1] == one.text
            and one.line == one.end_line
        )
    first, *middle, last = rows[one.line - 1 : one.end_line]
    return (
        first[one.column - 1 :].rstrip() == parts[0].rstrip()
        and last[: one.end_column - 1].endswith(parts[-1])
        and [
            row.rstrip()[-len(part.rstrip()) :] == part.rstrip()
            for row, part in zip(middle, parts[1:-1])
        ]
        == [True] * len(middle)
    )


@given(files(), st.sampled_from(["a.md", "a.rst", "a.txt", "a.adoc", "a.org"]))
def test_every_sentence_stands_exactly_where_it_says(data: bytes, name: str) -> None:
    rows = lines_of(data)
    for block in outline(name, rows).blocks:
        for one in sentences(block, rows) if block.kind != "code" else ():
            assert stands(
                data, Citation(name, one.line, one.column, one.end_line, one.end_column, one.text)
            )
            assert one.text == one.text.strip() != ""


@settings(max_examples=share(80))
@given(folders, questions)
def test_every_citation_of_every_folder_holds(content: dict[str, bytes], question: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), content)
        found = citations(folder, question)
        checked = cite.check(folder, found)
        assert ([], len(found)) == (checked.failures, len(checked.held))
        assert all(stands(content[one.path], one) for one in found)


@settings(max_examples=share(50))
@given(folders, questions, st.data())
def test_a_quotation_that_was_touched_is_found_out(
    content: dict[str, bytes], question: str, data: st.DataObject
) -> None:
    """EXP-17: the check can fail. One character of the quoted text, or of its place, is another."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), content)
        found = citations(folder, question)
        if not found:
            return
        one = data.draw(st.sampled_from(found))
        at = data.draw(st.integers(0, len(one.text) - 1))
        other = "\u2603" if one.text[at] != "\n" else " "
        forged = [
            Citation(
                one.path,
                one.line,
                one.column,
                one.end_line,
                one.end_column,
                one.text[:at] + other + one.text[at + 1 :],
            ),
            Citation(
                one.path, one.line + 1000, one.column, one.end_line + 1000, one.end_column, one.text
            ),
            Citation(one.path, one.line, one.column, one.end_line, one.end_column + 1, one.text),
            Citation(
                "../" + one.path, one.line, one.column, one.end_line, one.end_column, one.text
            ),
            Citation(
                "no-" + one.path, one.line, one.column, one.end_line, one.end_column, one.text
            ),
            Citation(one.path, one.line, one.column, one.end_line, one.end_column, ""),
        ]
        assert [] == cite.check(folder, forged).held


PIECES = [
    "`", "``", "```", "~~~", "\\", "<", ">", "<script>", "<!--", "<a href=x>", "![", "[", "]", "](", ")", "(", "]:", "tea",
    "javascript:x", "http://e.example/x", "&#58;", "# ", "- ", "1. ", "===", "---", "|", "White tea.", " ", "\n", "*", "_", "!",
]  # fmt: skip


@settings(max_examples=share(800))
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("\\<script>alert(1)\\</script>")
@example("\\`<script>alert(1)</script>\\`")
@example("``` <script>alert(1)</script> `x`")
@example("[click](javascript:alert(1))")
@example("[click](&#106;avascript:alert(1))")
@example("[x]: javascript:alert(1)")
@example("~~~ and all that follows is code")
def test_whatever_a_stranger_writes_is_one_quotation_of_a_report(text: str) -> None:
    """Issue 5, hostile text: quoted in a report it is not a tag, image, heading or fence, and no link but to pages and files.

    Read by a Markdown parser that has nothing of ours."""
    from markdown_it import MarkdownIt

    page = f"# Report\n\n- {quotation(text)} `a.md:1`\n- after `b.md:2`\n\n## End\n"
    tokens = MarkdownIt("commonmark").parse(page)
    blocks = [token.type for token in tokens if token.nesting >= 0 and token.type != "inline"]
    item = ["list_item_open", "paragraph_open"]
    assert ["heading_open", "bullet_list_open", *item, *item, "heading_open"] == blocks, page
    inside = [child for token in tokens for child in token.children or ()]
    assert not {"html_inline", "image", "hardbreak"} & {child.type for child in inside}, page
    links = [str(child.attrs["href"]) for child in inside if child.type == "link_open"]
    assert all(link.startswith(("http://", "https://")) or ":" not in link for link in links), page
    assert {"a.md:1", "b.md:2"} <= {
        child.content for child in inside if child.type == "code_inline"
    }, page


@settings(max_examples=share(30))
@given(folders, questions)
def test_the_report_is_the_same_for_the_same_folder_and_all_that_it_quotes_is_there(
    content: dict[str, bytes], question: str
) -> None:
    """FDC-52: through the plan, the engine and the journal; files made in another order give the same bytes."""
    reports = []
    for order in (list(content), list(reversed(content))):
        with tempfile.TemporaryDirectory() as place:
            root = Path(place)
            write(root, {name: content[name] for name in order})
            ending = research(root, question)
            assert ending.status in ("finished", "stopped"), ending
            if ending.status == "stopped":
                assert ending.stop is not None and ending.stop.kind in ("require", "failure"), (
                    ending
                )
                reports.append(ending.stop.message)
                continue
            report = report_of(root)
            checked = check_report(str(root), report)
            assert [] == checked.failures and checked.checked > 0
            reports.append(report)
    assert reports[0] == reports[1]


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=200)))
@example("tea")
def test_no_question_is_query_syntax(question: str) -> None:
    document = Document(
        "a.md",
        ("Green tea wants water of eighty degrees.", "", "Or and near not body: the words."),
        "0",
        10,
    )
    index = Index([document])
    for one in search(index, concepts_of(question), 10):
        assert 0 <= one.passage < len(index.passages)


def shipped(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@settings(max_examples=share(120))
@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=300)))
@example('What "is" a {plan} of {{two}}? # --- \\ `x`\nsecond line\ttab')
def test_every_topic_has_a_plan_that_lints(topic: str) -> None:
    """FDC-48, FDC-49: and the plan asks for exactly the topic."""
    if not clean(topic):
        return
    text = plan_deep_research(topic, "r-1")
    assert text.startswith("# FSM: tooling/research_fsm.json\n")
    checked = lint(
        {"a.plan": text, "tooling/research_fsm.json": shipped("tooling/research_fsm.json")},
        "a.plan",
    )
    assert [] == [item for item in checked.diagnostics if item.severity == "error"]
    from fdc_toolchain.check import program_of

    made = program_of(checked)
    defaults = {param["name"]: param["default"] for param in made["plans"][made["root"]]["params"]}
    assert (clean(topic), "research/research_report_r-1.md") == (
        defaults["question"],
        defaults["report"],
    )
