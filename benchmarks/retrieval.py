"""How well the embedded research finds: `python -m benchmarks.retrieval`, beside plain SQLite FTS5.

Each question of `retrieval_questions.json` names texts that answer it, one of which must be found, in documents
that are on every machine with the development set-up. Rank 1 counts 1, rank 2 a half, and so on; the table
gives the mean (MRR). Both sides rank the same passages of the same documents.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tooling"))

from fdc_packs.research.retrieval.extract import extract  # noqa: E402
from fdc_packs.research.retrieval.question import concepts_of  # noqa: E402
from fdc_packs.research.retrieval.retrieve import Index, refine, search  # noqa: E402
from fdc_packs.research.retrieval.stop_words import STOP  # noqa: E402
from fdc_toolchain.tools.files.documents import Document, scan  # noqa: E402

QUESTIONS = Path(__file__).with_name("retrieval_questions.json")
DEPTH = 50


class Asked(NamedTuple):
    """A question with the lines that answer it: (document, line)."""

    question: str
    lines: frozenset[tuple[int, int]]


class Score(NamedTuple):
    """What a way of ranking reached on one set. `ranks` has 0 for what was not found."""

    ranks: list[int]
    seconds: float

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank."""
        return statistics.fmean(1 / rank if rank else 0.0 for rank in self.ranks)

    def within(self, limit: int) -> int:
        """How many were found among the first `limit`."""
        return sum(0 < rank <= limit for rank in self.ranks)


def python_topics(folder: Path) -> None:
    """Writes the topics of `help()` below a folder."""
    import pydoc_data.topics

    for name, text in pydoc_data.topics.topics.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")


def readmes(folder: Path) -> None:
    """Writes the README of each installed distribution below a folder."""
    from importlib.metadata import distributions

    for found in distributions():
        text = found.metadata.get_payload() or found.metadata.get("Description") or ""  # type: ignore[attr-defined]
        kind = (
            "md" if "markdown" in (found.metadata.get("Description-Content-Type") or "") else "rst"
        )
        if len(text) > 300:
            (folder / f"{found.metadata['Name'].lower().replace('-', '_')}.{kind}").write_text(
                text, "utf-8", "replace"
            )


def documents(name: str) -> list[Document]:
    """The documents of a set of questions."""
    if name == "fdc":
        found = scan(str(ROOT)).documents
        return [
            document
            for document in found
            if not document.path.startswith(("research/", "tests/golden/"))
        ]
    with tempfile.TemporaryDirectory() as folder:
        {"python": python_topics, "readmes": readmes}[name](Path(folder))
        return scan(folder).documents


def answered(found: Sequence[Document], texts: Sequence[str]) -> frozenset[tuple[int, int]]:
    """The lines on which one of the texts stands, white space and line breaks aside."""
    out = set()
    for number, document in enumerate(found):
        starts: list[tuple[int, int]] = []
        whole = ""
        for line, row in enumerate(document.lines, 1):
            words = " ".join(re.sub(r"^\s*[>#]\s", "", row).split())
            if words:
                whole += " " if whole else ""
                starts.append((len(whole), line))
                whole += words
        for text in texts:
            wanted = " ".join(text.split())
            at = whole.find(wanted)
            while at >= 0:
                first = max(line for start, line in starts if start <= at)
                last = max(line for start, line in starts if start < at + len(wanted))
                out.update((number, line) for line in range(first, last + 1))
                at = whole.find(wanted, at + 1)
    return frozenset(out)


def plain(index: Index, stop: bool) -> Callable[[str], list[int]]:
    """FTS5 as most people use it: the words of the question joined by OR, ranked by bm25."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(body, tokenize='porter unicode61')")
    rows = (
        (n, " ".join(index.headings(n)) + "\n" + index.text(passage))
        for n, passage in enumerate(index.passages)
    )
    database.executemany("INSERT INTO f(rowid, body) VALUES (?, ?)", rows)

    def rank(question: str) -> list[int]:
        words = [
            word for word in re.findall(r"\w+", question.lower()) if not (stop and word in STOP)
        ]
        query = " OR ".join(f'"{word}"' for word in words)
        best = "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f), rowid LIMIT ?"
        return [row for (row,) in database.execute(best, (query, DEPTH))]

    return rank


def ours(index: Index) -> Callable[[str], list[int]]:
    """What `fdc research` does."""

    def rank(question: str) -> list[int]:
        concepts = concepts_of(question)
        return [
            found.passage
            for found in refine(index, concepts, search(index, concepts, 200), question)
        ][:DEPTH]

    return rank


def passage_ranks(index: Index, asked: Sequence[Asked], rank: Callable[[str], list[int]]) -> Score:
    """At which rank the first passage with an answering line comes."""
    ranks = []
    started = time.process_time()
    for one in asked:
        right = {
            number
            for number, passage in enumerate(index.passages)
            if any(
                (passage.document, line) in one.lines
                for line in range(passage.line, passage.end_line + 1)
            )
        }
        ranks.append(
            next(
                (place for place, number in enumerate(rank(one.question), 1) if number in right), 0
            )
        )
    return Score(ranks, time.process_time() - started)


def sentence_ranks(index: Index, asked: Sequence[Asked]) -> Score:
    """At which rank the first quoted sentence with an answering line comes."""
    ranks = []
    started = time.process_time()
    names = {document.path: number for number, document in enumerate(index.documents)}
    for one in asked:
        concepts = concepts_of(one.question)
        passages = []
        for found in refine(index, concepts, search(index, concepts, 200), one.question)[:40]:
            passage = index.passages[found.passage]
            passages.append(
                (
                    index.documents[passage.document].path,
                    passage.line,
                    passage.end_line,
                    found.score,
                )
            )
        weights = [index.rarity(concept) for concept in concepts]
        quoted = extract(index.documents, passages, concepts, weights, one.question, 20)
        chosen = [citation for citation in quoted if citation.role == "answer"]
        right = [
            any(
                (names[citation.path], line) in one.lines
                for line in range(citation.line, citation.end_line + 1)
            )
            for citation in chosen
        ]
        ranks.append(right.index(True) + 1 if True in right else 0)
    return Score(ranks, time.process_time() - started)


def measure() -> list[str]:
    """Every set, as rows of a Markdown table, and what had to be left out."""
    rows = [
        "| documents | questions | passages | method | MRR | first | in 5 | in 10 | CPU ms a question |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    notes = []
    for name, one in json.loads(QUESTIONS.read_text("utf-8"))["sets"].items():
        found = documents(name)
        index = Index(found)
        asked = [Asked(row["ask"], answered(found, row["answered_by"])) for row in one["questions"]]
        known = [row for row in asked if row.lines]
        lost = [row.question for row in asked if not row.lines]
        notes += [
            f"- Left out of `{name}`, because no document here has the answer: {question}"
            for question in lost
        ]
        if not known:
            continue
        ways = [
            ("FTS5, all words", passage_ranks(index, known, plain(index, stop=False))),
            ("FTS5, without stop words", passage_ranks(index, known, plain(index, stop=True))),
            ("fdc: passages", passage_ranks(index, known, ours(index))),
            ("fdc: quoted sentences", sentence_ranks(index, known)),
        ]
        head = f"{one['what']} ({len(found)})"
        for way, score in ways:
            counts = f"{score.within(1)} | {score.within(5)} | {score.within(10)}"
            pace = 1000 * score.seconds / len(known)
            rows.append(
                f"| {head} | {len(known)} | {len(index.passages)} | {way} | {score.mrr:.3f} | {counts} | {pace:.0f} |"
            )
            head = ""
    return rows + ([""] + notes if notes else [])


def main(arguments: list[str]) -> int:
    """Prints the table, or writes it into a page between its markers. Returns the exit code."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval", description="Measure retrieval beside plain FTS5."
    )
    reader.add_argument(
        "--output", type=Path, help="write the page there instead of printing the table"
    )
    options = reader.parse_args(arguments)
    rows = measure()
    if options.output is None:
        print("\n".join(rows))
    else:
        options.output.write_text("\n".join([*PAGE.split("\n"), *rows]) + "\n", "utf-8")
        print(f"wrote {options.output}")
    return 0


PAGE = """\
<!-- Generated by `python -m benchmarks.retrieval --output docs/retrieval.md`; edits are overwritten. -->

# What the embedded research finds

Without a model, `fdc research` ranks passages by the question's words and quotes sentences. The table compares
it with plain SQLite FTS5 (porter stemming, bm25, the question's words joined by OR) on the same passages.

The score is the mean reciprocal rank (MRR) of the first passage, or quoted sentence, that contains a line with the answer: 1 for
rank 1, 0.5 for rank 2, 0 if none of the first fifty has it. Questions use other words than their answers where a person would.
The ranking was developed with the sets on Python and on README files. The set on fdc's own documents was written
afterwards; its first measurement, before any change for it, was 0.679.

Compare rows of one table only: the README files are those of the packages on the machine, and the number of fdc's documents
grows, so that both methods find more passages that look like an answer.
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
