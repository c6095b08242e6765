"""Finds and reads the documents of a folder; lists skipped files with reasons (FDC-53).

Documents are sorted by path. Symbolic links are skipped, and every file is opened
relative to its folder without following links, so that nothing outside the
folder is read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from dataclasses import dataclass, field

from ...linking.project.ignored import Ignored
from ...linking.project.secret_files import secret

MARK = "<!-- fdc: research report -->"
"""First line of every report, which excludes it from the evidence of later reports."""

TEXT = frozenset(
    (".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".rest", ".adoc", ".asciidoc", ".org")
)
CODE = frozenset(
    ".py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .go .rs .c .h .cc .cpp .hpp .cxx .cs .swift .rb .pl .pm"
    " .php .lua .sh .bash .zsh .sql .r .jl .ex .exs .erl .hs .ml .clj .el .lisp .vim .cmake .mk .tf .proto .lark"
    " .toml .yaml .yml .ini .cfg .plan".split()
)
PDF = ".pdf"
UNREAD = {".doc": "Word", ".docx": "Word", ".odt": "OpenDocument", ".rtf": "RTF", ".epub": "EPUB"}
NAMES = frozenset(
    "readme install news todo hacking faq authors changes changelog contributing copying copyright license licence"
    " notice history upgrading security thanks bugs".split()
)
NOT_PROSE = frozenset(("cmakelists.txt", "requirements.txt", "robots.txt", "sources.txt", "top_level.txt",
                       "entry_points.txt", "constraints.txt", "record.txt", "meson_options.txt"))  # fmt: skip
FOREIGN = frozenset((".git", ".hg", ".svn", ".fdc", "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache",
                     ".ruff_cache", ".pytest_cache", ".hypothesis"))  # fmt: skip
_RUN = re.compile(r"runs/\d{8}-\d{6}-[0-9a-z]{4}\Z")
"""Folders of runs: their files are copies from elsewhere, so they are not evidence."""

MAX_FILE = 2_000_000
MAX_TOTAL = 200_000_000
MAX_FILES = 50_000
MAX_PDF = 20_000_000
MAX_PDFS = 200
PDF_SECONDS = 60
"""Time limit in seconds for the PDFs of one scan; their text is cached, so the next scan continues after them."""
MAX_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Document:
    """One file that was read: `path` relative to the folder, `lines` without their line ends."""

    path: str
    lines: tuple[str, ...]
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """One file or folder that was not read, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class Scan:
    """The documents of a folder. `digest` identifies these documents and paths."""

    documents: list[Document] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """SHA-256 over paths and contents, in order."""
        total = hashlib.sha256()
        for document in self.documents:
            total.update(f"{document.path}\0{document.sha256}\n".encode("utf-8", "surrogateescape"))
        return total.hexdigest()


def scan(
    folder: str,
    code: bool = False,
    opened: int | None = None,
    prefix: str = "",
    repeated: bool = False,
) -> Scan:
    """Reads the documents below `folder`, and its source files too where `code` is true.

    `opened` is a descriptor of the folder, for callers that reached it in a way of their own; `prefix`
    is put before every path. Of several files with the same text only the first is read, unless `repeated`.
    Raises OSError when the folder itself cannot be opened; anything below it that cannot be read is listed
    in `skipped`.
    """
    walk = _Walk(folder, code, prefix)
    # not a copy of `opened`: copies share one place in the folder, and two that list it see a part each
    top = os.open(
        folder if opened is None else ".",
        os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC,
        dir_fd=opened,
    )
    try:
        walk.enter(top, "", 0)
    finally:
        os.close(top)
    walk.out.documents.sort(key=lambda document: document.path)
    if not repeated:
        _drop_repeated(walk.out)
    walk.out.skipped.sort(key=lambda one: (one.path, one.reason))
    return walk.out


def lines_of(data: bytes) -> tuple[str, ...]:
    """The lines of a UTF-8 text as editors count them: LF or CRLF ends a line, nothing else does.

    A byte order mark at the start is not part of the text. Raises UnicodeDecodeError.
    """
    text = data.decode("utf-8").removeprefix("\ufeff")
    return tuple(line.removesuffix("\r") for line in text.split("\n"))


class _Walk:
    def __init__(self, folder: str, code: bool, prefix: str) -> None:
        self.prefix = prefix
        self.out = Scan()
        self.code = code
        self.ignored = Ignored(folder)
        self.total = 0
        self.pdfs = 0
        self.seconds = 0.0

    def skip(self, path: str, reason: str) -> None:
        self.out.skipped.append(Skipped(_printable(self.prefix + path), reason))

    def enter(self, folder: int, relative: str, depth: int) -> None:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as failed:
            return self.skip(relative or ".", _why(failed))
        names = {entry.name for entry in found}
        if depth and ".gitignore" in names:
            self.ignored.enter(relative)
        for entry in found:
            path = f"{relative}/{entry.name}" if relative else entry.name
            if entry.is_symlink():
                if _wanted(entry.name, self.code) or _leads_to_folder(entry):
                    self.skip(path, "a symbolic link, which fdc does not follow")
            elif entry.is_dir(follow_symlinks=False):
                self._folder(folder, entry.name, path, depth)
            elif (
                _wanted(entry.name, self.code)
                and not self.ignored(path, False)
                and secret(path) is None
            ):
                self._file(folder, entry.name, path)

    def _folder(self, above: int, name: str, path: str, depth: int) -> None:
        if name in FOREIGN or _RUN.match(path) or self.ignored(path, True):
            return
        if depth >= MAX_DEPTH:
            return self.skip(path, f"deeper than {MAX_DEPTH} folders")
        try:
            inside = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above
            )
        except OSError as failed:
            return self.skip(path, _why(failed))
        try:
            if os.access("pyvenv.cfg", os.F_OK, dir_fd=inside):
                return self.skip(
                    path, "a virtual environment, which has no documents of the folder"
                )
            self.enter(inside, path, depth + 1)
        finally:
            os.close(inside)

    def _file(self, folder: int, name: str, path: str) -> None:
        if not name.isprintable() or not path.isprintable():
            return self.skip(path, "a name with characters that cannot be shown")
        kind = UNREAD.get(os.path.splitext(name)[1].lower())
        if kind:
            return self.skip(path, f"{kind} is not read, because it is not text")
        if len(self.out.documents) >= MAX_FILES:
            return self.skip(path, f"more than {MAX_FILES} documents")
        if is_pdf(name):
            return self._pdf(folder, name, path)
        try:
            data = _read(folder, name)
        except OSError as failed:
            return self.skip(path, _why(failed))
        if data is None:
            return self.skip(path, "not a regular file")
        if len(data) > MAX_FILE:
            return self.skip(path, f"larger than {MAX_FILE:,} bytes")
        if self.total + len(data) > MAX_TOTAL:
            return self.skip(path, f"beyond {MAX_TOTAL:,} bytes in total")
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return self.skip(path, "UTF-16 text, not UTF-8")
        if b"\0" in data:
            return self.skip(path, "binary")
        try:
            lines = lines_of(data)
        except UnicodeDecodeError as wrong:
            return self.skip(path, f"not UTF-8 (byte {wrong.start})")
        if not any(lines):
            return self.skip(path, "empty")
        if lines[0].startswith(MARK):
            return self.skip(path, "a report of earlier research, which cannot be evidence")
        self.total += len(data)
        self.out.documents.append(
            Document(self.prefix + path, lines, hashlib.sha256(data).hexdigest(), len(data))
        )

    def _pdf(self, folder: int, name: str, path: str) -> None:
        """The text of a PDF, where the extra that reads them is installed (FDC-53)."""
        from importlib.util import find_spec

        if find_spec("pypdf") is None:
            return self.skip(path, "a PDF; `pip install fdc-toolchain[pdf]` reads them")
        self.pdfs += 1
        if self.pdfs > MAX_PDFS:
            return self.skip(path, f"more than {MAX_PDFS} PDFs")
        if self.seconds > PDF_SECONDS:
            return self.skip(
                path,
                f"PDFs took longer than {PDF_SECONDS} s; the texts read so far are kept, and another scan continues",
            )
        began = time.monotonic()
        try:
            data = _read(folder, name, MAX_PDF)
            if data is None:
                return self.skip(path, "not a regular file")
            if len(data) > MAX_PDF:
                return self.skip(path, f"larger than {MAX_PDF:,} bytes")
            lines = lines_in(name, data)
        except OSError as failed:
            return self.skip(
                path, str(failed.strerror) if failed.errno == errno.EINVAL else _why(failed)
            )
        finally:
            self.seconds += time.monotonic() - began
        if not any(lines):
            return self.skip(path, "a PDF without text")
        self.total += sum(map(len, lines))
        self.out.documents.append(
            Document(self.prefix + path, lines, hashlib.sha256(data).hexdigest(), len(data))
        )


def is_pdf(name: str) -> bool:
    """Whether a file is a PDF by its name."""
    return name.lower().endswith(PDF)


def lines_in(name: str, data: bytes) -> tuple[str, ...]:
    """The lines of a document's bytes; those of a PDF are the lines of its text, a heading before each page.

    Raises UnicodeDecodeError, and OSError for a PDF that cannot be read.
    """
    if not is_pdf(name):
        return lines_of(data)
    from ...workspace.failure import ToolFailure
    from .readable import readable

    try:
        return tuple(readable("pdf", data).text.split("\n"))
    except ToolFailure as failed:
        raise OSError(errno.EINVAL, str(failed)) from None


def _wanted(name: str, code: bool) -> bool:
    stem, extension = os.path.splitext(name.lower())
    if name.lower() in NOT_PROSE:
        return False
    if extension in TEXT or extension in UNREAD or extension == PDF or (code and extension in CODE):
        return True
    return stem in NAMES and (not extension or extension == ".debian")


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _read(folder: int, name: str, most: int = MAX_FILE) -> bytes | None:
    # O_NONBLOCK: a named pipe must not stop the walk
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return opened.read(most + 1)


def read_beneath(folder: str | int, path: str) -> bytes:
    """The bytes of a regular file below `folder` (its path or a descriptor of it), opened part by part without following links.

    Raises OSError, also for a path that tries to leave the folder.
    """
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise OSError(errno.EINVAL, "the path leaves the folder")
    opened = (
        os.dup(folder)
        if isinstance(folder, int)
        else os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    )
    try:
        for part in parts[:-1]:
            below = os.open(
                part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=opened
            )
            os.close(opened)
            opened = below
        most = MAX_PDF if is_pdf(path) else MAX_FILE
        data = _read(opened, parts[-1], most)
    finally:
        os.close(opened)
    if data is None or len(data) > most:
        raise OSError(errno.EINVAL, "not a readable document")
    return data


def _drop_repeated(out: Scan) -> None:
    first: dict[str, str] = {}
    kept = []
    for document in out.documents:
        original = first.setdefault(document.sha256, document.path)
        if original == document.path:
            kept.append(document)
        else:
            out.skipped.append(Skipped(document.path, f"the same text as {original}"))
    out.documents[:] = kept


def _why(failed: OSError) -> str:
    return (failed.strerror or "cannot be read").lower()


def _printable(path: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in path
    )
