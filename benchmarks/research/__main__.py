"""`python -m benchmarks.research [--part NAME ...] [--way NAME ...] [--output PAGE]`."""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tooling"))

from fdc_toolchain.tools.model.embedder import missing  # noqa: E402

from benchmarks.research.questions import (  # noqa: E402
    DEVELOPMENT,
    PARTS,
    Package,
    Question,
    absent,
    read,
    unpacked,
)
from benchmarks.research.remarks import RERANKED, confidence, refused, remarks  # noqa: E402
from benchmarks.research.row import Row, within  # noqa: E402
from benchmarks.research.ways import Answer, Bm25, Command, Embedding, Place, Ripgrep, documents_of  # noqa: E402

Ask = Callable[[str], Answer]
WAYS = (
    "ripgrep",
    "BM25, 20 lines",
    "BM25, 40 lines",
    "fdc research",
    "fdc explore",
)


def rank(places: Sequence[Place], answers: Iterable[tuple[str, int, int]]) -> int:
    """At which place a line that answers is met first; 0 where at none."""
    right = list(answers)
    for number, place in enumerate(places, 1):
        if any(
            place.path == path and first <= line <= last
            for path, first, last in right
            for line in place.lines
        ):
            return number
    return 0


def ways_of(folder: Path, names: Sequence[str]) -> dict[str, Ask]:
    """How each way is asked about a folder."""
    documents = documents_of(folder)
    out: dict[str, Ask] = {}
    for name in names:
        if name == "ripgrep":
            out[name] = Ripgrep(folder, documents).ask
        elif name.startswith("BM25"):
            out[name] = Bm25(documents, int(re.findall(r"\d+", name)[1])).ask
        elif name.startswith("embedding"):
            out[name] = Embedding(documents, int(re.findall(r"\d+", name)[0])).ask
        else:
            verb, *more = name.removeprefix("fdc ").split()
            extra = "--code" if verb == "research" else "" if more else "--no-rerank"
            command = Command(verb, (*filter(None, [extra]), *more))
            out[name] = lambda question, command=command: command.ask(folder, question)  # type: ignore[misc]
    return out


def measure(
    questions: Sequence[Question],
    folders: dict[str, Path],
    names: Sequence[str],
    say: Callable[[str], None],
) -> list[Row]:
    """Every question in every way."""
    rows: list[Row] = []
    for package in dict.fromkeys(one.package for one in questions):
        asks = ways_of(folders[package], names)
        here = [one for one in questions if one.package == package]

        def answered(question: Question, asks: dict[str, Ask] = asks) -> list[Row]:
            found = []
            for name, ask in asks.items():
                answer = ask(question.ask)
                found.append(Row(question, name, rank(answer.places, question.answers), answer))
            say(f"{question.id}: " + ", ".join(f"{row.way} {row.rank or '-'}" for row in found))
            return found

        rows += [row for question in here for row in answered(question)]
    return rows


def table(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """The rows as a Markdown table, by part and kind of question."""
    head = "questions | way | in top 1 | in top 5 | code, 1 / 5 | documents, 1 / 5 | citations that hold | CPU s | tokens read"
    out = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    for part in PARTS:
        for number, name in enumerate(names):
            here = [row for row in rows if row.question.part == part and row.way == name]
            if not here:
                continue
            kinds = [
                [row for row in here if row.question.kind == kind] for kind in ("code", "docs")
            ]
            cited = sum(row.answer.cited for row in here)
            held = cited - sum(len(row.answer.wrong) for row in here)
            cells = [
                f"{part} ({len(here)})" if not number else "", name, _part(here, 1), _part(here, 5),
                *(f"{within(some, 1)} / {within(some, 5)} of {len(some)}" for some in kinds),
                f"{held:,} of {cited:,}" if cited else "",
                f"{statistics.fmean(row.answer.seconds for row in here):.2f}",
                f"{statistics.fmean(row.answer.read for row in here):,.0f}",
            ]  # fmt: skip
            out.append("| " + " | ".join(cells) + " |")
    return out


def _part(rows: Sequence[Row], limit: int) -> str:
    return f"{within(rows, limit)} ({within(rows, limit) / len(rows):.0%})"


def main(arguments: list[str]) -> int:
    """Prints the table, or writes the page. Returns the exit code: 1 where a citation does not hold."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.research", description="Measure answers beside ripgrep and BM25."
    )
    reader.add_argument("--part", choices=PARTS, action="append", help="only these questions")
    reader.add_argument(
        "--way",
        action="append",
        help=f"only this way; one of {', '.join(WAYS)}, or with an option behind it",
    )
    reader.add_argument("--only", help="only questions whose id begins so")
    reader.add_argument(
        "--output", type=Path, help="write the page there instead of printing the table"
    )
    options = reader.parse_args(arguments)
    questions, packages = read()
    questions = [
        one
        for one in questions
        if one.part in (options.part or PARTS) and one.id.startswith(options.only or "")
    ]
    ours = [
        one
        for one in absent()
        if one.part in (options.part or PARTS) and (options.only or "") in one.id
    ]
    names = options.way or (WAYS if missing() else (*WAYS, RERANKED))
    with tempfile.TemporaryDirectory(prefix="fdc-bench-") as scratch:
        folders = {}
        for name in dict.fromkeys(one.package for one in [*questions, *ours]):
            folders[name] = Path(scratch) / name
            shutil.copytree(unpacked(packages[name]), folders[name])

        def say(text: str) -> None:
            print(text, file=sys.stderr, flush=True)

        rows = measure(questions, folders, names, say)
        explored = [name for name in names if name.startswith("fdc explore")]
        unanswered = measure(ours, folders, explored, say)
    lines = table(rows, names)
    wrong = [f"{row.way}: {row.question.id}: {place}" for row in rows for place in row.answer.wrong]
    said = remarks(rows, missing() if options.way is None else "")
    said += [*refused(rows, unanswered), *confidence([*rows, *unanswered])]
    print("\n".join([*lines, "", *said, *(f"does not hold: {one}" for one in wrong)]))
    if options.output is not None:
        options.output.write_text(page(questions, packages.values(), lines, said), "utf-8")
    return 1 if wrong else 0


def page(
    questions: Sequence[Question],
    packages: Iterable[Package],
    lines: Sequence[str],
    said: Sequence[str],
) -> str:
    """The page with the table and what it says."""
    asked = {one.package for one in questions}
    about = ", ".join(f"{one.name} {one.version}" for one in packages if one.name in asked)
    counts = [sum(one.kind == kind for one in questions) for kind in ("code", "docs")]
    search = "ripgrep" if shutil.which("rg") else "GNU grep, as ripgrep is not installed here,"
    tuned = [one for one in read()[0] if one.part == "tuned"]
    head = HEAD.format(
        count=len(questions), about=about, search=search, code=counts[0], docs=counts[1], tuned=len(tuned),
        packages=len({one.package for one in tuned}), absent=sum(one.part == "tuned" for one in absent()),
        large=sum(one.part == "large" for one in read()[0]), no_large=sum(one.part == "large" for one in absent()),
        developed=len(read(DEVELOPMENT)[0]), others=len(read(DEVELOPMENT)[1]), no_developed=len(absent(DEVELOPMENT)),
        fresh=sum(one.part == "absent-held-out" for one in absent()),
    )  # fmt: skip
    return "\n".join(
        [
            head.strip(),
            "",
            *lines,
            "",
            "## What this says",
            "",
            *said,
            "",
            *TAIL.strip().split("\n"),
            "",
        ]
    )


HEAD = """
<!-- Generated by `make bench-research` from a real run; edits are overwritten. -->

# How well questions about a source tree are answered

{count} questions with known answers (a file and its lines) over the sources of {about}: {code} of them
about code, {docs} about what documents and docstrings say. Those who make fdc wrote them from the sources, with
none of these ways at hand. On the tuned part ({tuned} questions over {packages} packages and {absent} without an answer,
not shown where the page was made with `--part held-out`) the ranking and the confidence were made, and its
answers were read. So was the confidence on the part `large`: {large} questions over packages of 400,000 lines and more, and
{no_large} without an answer, and on {developed} questions of `development.json` over {others} more packages, and {no_developed}
without an answer. The held-out part was written and committed before that, over packages of which no answer was looked
at: two of PyPI with 60 questions and 20 without an answer, then two more of PyPI and one of Debian (Go) with 30
questions and 12 without an answer. Of earlier runs of it only the totals were read. It has no JavaScript: the three
packages of npm are in the tuned part. The part `large-held-out` is about SQLAlchemy: its questions were written before its
answers were looked at, and only totals of these were read. It is not asked in the way of embeddings, nor counted in the goals.
The part `absent-held-out` has {fresh} questions without an answer over 8 packages of PyPI that no other part has. They were
written and committed before their first run, each after a feature that one would expect in such a package, and that it has not.

A question counts where one of the first places that a way names, in reading order, lies inside of the known lines.
Where `fdc explore` says that it does not find it, the lines that it prints as nearest count as places.
For {search} and BM25 a place is a window of lines (any overlap counts); for fdc it is a cited line, and citations within
20 lines of each other are one place. {search} ranks windows of 20 lines by how many words of the question they have,
without stop words; BM25 is bm25s with stop words, stems and the parts of identifiers; `--way "embedding, 20
lines"` ranks windows by the reranker's model (MiniLM), which takes minutes a package. Every citation was opened by the
benchmark itself. CPU
seconds are for one question, reading and indexing included, without the start of Python; tokens are what there is to read (four
characters each: five windows, or the printed answer). None of these ways asks a model, so no model tokens are spent.
"""
TAIL = """
Chance alone: how likely a difference of that size or more is between two ways that are equally good (exact sign test over the
questions that only one of the two answers).
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
