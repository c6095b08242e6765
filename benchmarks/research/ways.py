"""Ways to answer a question from a folder: ripgrep, BM25, `fdc research` and `fdc explore`, with or without the reranker.

Each returns places in the order in which a reader meets them. ripgrep and BM25 return windows of lines;
fdc returns cited lines, of which those near each other in one file are one place.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import fdc_packs.research
from fdc_packs.research.retrieval.stop_words import STOP
from fdc_toolchain.tools.files.documents import Document, scan

WINDOW = 20
"""Lines of a window of ripgrep's, and within which citations are one place. On the development part it does best with 20."""
DEPTH = 5


class Place(NamedTuple):
    """Lines of one file that a way points at."""

    path: str
    lines: tuple[int, ...]


class Answer(NamedTuple):
    """What a way said: places in reading order, how many citations it has and which are wrong, the tokens to read (of four
    characters each), and the CPU seconds, those of making an index included."""

    places: list[Place]
    cited: int
    wrong: list[str]
    read: int
    seconds: float
    sure: str = ""
    """What it says of how sure it is; `None` where it says that it does not find it."""


def folded(cited: Iterable[tuple[str, int, int]]) -> list[Place]:
    """Citations in reading order as places: one that lies within a window's length of an earlier one belongs to it."""
    out: list[tuple[str, list[int]]] = []
    for path, first, last in cited:
        for known, lines in out:
            if known == path and max(lines[0], last) - min(lines[0], first) < WINDOW:
                lines += range(first, last + 1)
                break
        else:
            out.append((path, list(range(first, last + 1))))
    return [Place(path, tuple(lines)) for path, lines in out]


class Ran(NamedTuple):
    """What a program said, how it ended, and the CPU seconds that it took."""

    out: bytes
    err: bytes
    code: int
    seconds: float


def ran(argv: list[str], folder: Path, env: dict[str, str] | None) -> Ran:
    """Runs a program to its end; several at once do not count for each other."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env
        )
        done = _ended(child.pid, out, err)
        child.returncode = done.code
        return done


def fdc(argv: list[str], folder: Path) -> Ran:
    """Runs fdc in a fork of this process, which has its modules loaded: what a user's machine does once is not counted."""
    main = _loaded()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if not pid:
            code = 70
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
                os.chdir(folder)
                for name in [name for name in os.environ if name.startswith("FDC_")]:
                    del os.environ[name]
                code = main(argv) or 0
                sys.stdout.flush()
            finally:
                os._exit(code)
        return _ended(pid, out, err)


@cache
def _loaded() -> Any:
    """The command line, with the modules that an answer needs."""
    for one in pkgutil.walk_packages(fdc_packs.research.__path__, "fdc_packs.research."):
        importlib.import_module(one.name)
    return importlib.import_module("fdc_toolchain.cli.main").main


def _ended(pid: int, out: IO[bytes], err: IO[bytes]) -> Ran:
    _, status, used = os.wait4(pid, 0)
    out.seek(0)
    err.seek(0)
    code = os.waitstatus_to_exitcode(status)
    return Ran(out.read(), err.read(), code, used.ru_utime + used.ru_stime)


class Command(NamedTuple):
    """`fdc explore` or `fdc research --code`, as a user starts it, with extra options."""

    verb: str
    more: tuple[str, ...] = ()

    def ask(self, folder: Path, question: str) -> Answer:
        """Runs it in the folder. Its citations are opened here, with none of fdc's code."""
        done = fdc([self.verb, question, "--format", "json", "--quiet", *self.more], folder)
        if done.code not in ((0, 5, 6, 7) if self.verb == "explore" else (0, 1)):
            raise RuntimeError(
                f"fdc {self.verb} {question!r} ended with {done.code}: {done.err[-2000:]!r}"
            )
        said = json.loads(done.out)
        cited, text = _explored(said) if self.verb == "explore" else _researched(said)
        wrong = [
            f"{path}:{first}"
            for path, first, last, quote in cited
            if not _holds(folder, path, first, last, quote)
        ]
        places = folded((path, first, last) for path, first, last, _ in cited)
        sure = str((said.get("result") or {}).get("confidence") or "None")
        return Answer(places, len(cited), wrong, len(text) // 4, done.seconds, sure)


Cited = list[tuple[str, int, int, str]]


def _explored(said: dict[str, Any]) -> tuple[Cited, str]:
    """The lines of the first places, in their order; those that come nearest where it says that it does not find it."""
    result = said.get("result") or {}
    rows = list(result.get("places") or ())[:DEPTH]
    cited = [
        (
            row["path"],
            one["line"],
            one["line"],
            str(one["text"]).removesuffix("...").strip() or "...",
        )
        for row in rows
        for one in row["code"]
    ]
    return cited, str(result.get("text") or "")


def _researched(said: dict[str, Any]) -> tuple[Cited, str]:
    """The short answer as it is printed, then the rest of what was quoted."""
    by_place = {(one["path"], one["line"], one["end_line"]): one for one in said["citations"]}
    order = []
    for line in said["answer"]:
        found = re.search(r"\[(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?\]$", line)
        if found is not None:
            order.append((found["path"], int(found["first"]), int(found["last"] or found["first"])))
    order += [place for place in by_place if place not in order]
    cited = [(*place, by_place[place]["text"]) for place in order if place in by_place]
    return cited, "\n".join(said["answer"])


_MARKUP = re.compile(r"[\s>#:*/;%!|\\-]+")


def _holds(folder: Path, path: str, first: int, last: int, quote: str) -> bool:
    try:
        lines = (folder / path).read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return False
    there = _MARKUP.sub("", " ".join(lines[first - 1 : last]))
    return (
        1 <= first <= last <= len(lines) and bool(quote.strip()) and _MARKUP.sub("", quote) in there
    )


class Ripgrep:
    """Windows of lines by how often they have words of the question, stop words left out."""

    def __init__(self, folder: Path, documents: list[Document]) -> None:
        self.folder, self.documents = folder, {one.path: one for one in documents}
        self.program = shutil.which("rg")

    def ask(self, question: str) -> Answer:
        words = [
            word
            for word in re.findall(r"\w+", question.lower())
            if word not in STOP and len(word) > 1
        ]
        if self.program:
            argv = [
                self.program,
                "--no-config",
                "-uuu",
                "-i",
                "-o",
                "-n",
                "-F",
                "--no-heading",
                "-0",
            ]
        else:
            argv = ["grep", "-r", "-I", "-i", "-o", "-n", "-F", "-Z"]
        for word in words:
            argv += ["-e", word]
        done = ran([*argv, "."], self.folder, None)
        counts: Counter[tuple[str, int]] = Counter()
        for row in done.out.split(b"\n"):
            path, _, rest = row.partition(b"\0")
            name = path.decode("utf-8", "replace").removeprefix("./")
            if name in self.documents:
                counts[name, (int(rest.partition(b":")[0]) - 1) // WINDOW] += 1
        best = sorted(counts, key=lambda key: (-counts[key], key))[:DEPTH]
        places = [
            Place(path, tuple(range(at * WINDOW + 1, at * WINDOW + WINDOW + 1)))
            for path, at in best
        ]
        read = sum(
            len(line) + 1
            for one in places
            for line in self.documents[one.path].lines[one.lines[0] - 1 : one.lines[-1]]
        )
        return Answer(places, 0, [], read // 4, done.seconds)


class Bm25:
    """BM25 (bm25s: English stop words, stems where PyStemmer is installed) over windows of lines with their path; identifiers
    count as they stand and in parts."""

    def __init__(self, documents: list[Document], window: int = WINDOW) -> None:
        import bm25s

        self.documents = {one.path: one for one in documents}
        self.places = [
            Place(one.path, tuple(range(at + 1, min(at + window, len(one.lines)) + 1)))
            for one in documents for at in range(0, len(one.lines), window)
        ]  # fmt: skip
        self.stemmer = self._stemmer()
        started = time.process_time()
        texts = [_split("\n".join([place.path, *self._lines(place)])) for place in self.places]
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)
        self.index = bm25s.BM25()
        self.index.index(tokens, show_progress=False)
        self.built = time.process_time() - started

    def _stemmer(self) -> Any:
        try:
            import Stemmer
        except ImportError:
            return None
        return Stemmer.Stemmer("english")

    def _lines(self, place: Place) -> tuple[str, ...]:
        return self.documents[place.path].lines[place.lines[0] - 1 : place.lines[-1]]

    def ask(self, question: str) -> Answer:
        import bm25s

        started = time.process_time()
        tokens = bm25s.tokenize(
            [_split(question)], stopwords="en", stemmer=self.stemmer, show_progress=False
        )
        found, _ = self.index.retrieve(tokens, k=min(DEPTH, len(self.places)), show_progress=False)
        places = [self.places[number] for number in found[0]]
        spent = self.built + time.process_time() - started
        return Answer(
            places,
            0,
            [],
            sum(len(line) + 1 for one in places for line in self._lines(one)) // 4,
            spent,
        )


def _split(text: str) -> str:
    """The text with the parts of its identifiers beside them."""
    return re.sub(r"\w*(?:_|[a-z][A-Z])\w*", lambda found: f"{found[0]} {_parted(found[0])}", text)


def _parted(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name)


class Embedding:
    """Windows of lines with their path, by how near the reranker's model has them to the question."""

    def __init__(self, documents: list[Document], window: int = WINDOW) -> None:
        from fdc_toolchain.tools.model.embedder import embedded

        self._embedded = embedded
        self.documents = {one.path: one for one in documents}
        self.places = [
            Place(one.path, tuple(range(at + 1, min(at + window, len(one.lines)) + 1)))
            for one in documents for at in range(0, len(one.lines), window)
        ]  # fmt: skip
        started = time.process_time()
        self.index = embedded(
            ["\n".join([one.path, *self._lines(one)]) for one in self.places], 128
        )
        self.built = time.process_time() - started

    def _lines(self, place: Place) -> tuple[str, ...]:
        return self.documents[place.path].lines[place.lines[0] - 1 : place.lines[-1]]

    def ask(self, question: str) -> Answer:
        started = time.process_time()
        near = self.index @ self._embedded([question], 64)[0]
        places = [self.places[number] for number in (-near).argsort()[:DEPTH]]
        spent = self.built + time.process_time() - started
        read = sum(len(line) + 1 for one in places for line in self._lines(one)) // 4
        return Answer(places, 0, [], read, spent)


def documents_of(folder: Path) -> list[Document]:
    """The files that all ways look at: what fdc reads of the folder, sources and documents."""
    return scan(str(folder), code=True).documents
