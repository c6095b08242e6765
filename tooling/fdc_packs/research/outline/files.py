"""The files of one scan: their texts, outlines and sections, each made once when it is needed; where a name stands in them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence

from fdc_toolchain.api.files import Document, Scan

from ..retrieval.name_words import whole
from .blocks import Outline as Shape
from .code_outline import Definition, Outline, is_code, outline

MOST_FILES = 150
"""Files that are parsed for one question."""


class Files:
    """The files of one scan, their texts for searching and their outlines. For several threads at once."""

    def __init__(self, scan: Scan, documents: Sequence[Document]) -> None:
        self.scan = scan
        self.documents = {document.path: document for document in documents}
        self.sources = [path for path in self.documents if is_code(path)]
        self._texts: dict[str, tuple[str, str, list[int]]] = {}
        self._outlines: dict[str, Outline | None] = {}
        self._shapes: dict[str, Shape] = {}
        self._users: dict[str, list[tuple[str, int, bool]]] = {}
        self.lock = threading.RLock()

    def text(self, path: str) -> tuple[str, str, list[int]]:
        """A file's text, the same in lower case, and where its lines begin."""
        found = self._texts.get(path)
        if found is None:
            lines = self.documents[path].lines
            text = "\n".join(lines)
            low = text.lower()
            if len(low) != len(text):  # a letter whose small form is longer
                low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
            starts, at = [], 0
            for line in lines:
                starts.append(at)
                at += len(line) + 1
            found = self._texts[path] = (text, low, starts)
        return found

    def outline(self, path: str) -> Outline | None:
        """The outline of a source file; None for prose."""
        with self.lock:
            if path not in self._outlines:
                self._outlines[path] = outline(self.documents[path]) if is_code(path) else None
            return self._outlines[path]

    def shape(self, path: str) -> Shape:
        """The sections and blocks of a document that is not source file."""
        with self.lock:
            if path not in self._shapes:
                from .outline import outline as read

                self._shapes[path] = read(path, self.documents[path].lines)
            return self._shapes[path]

    def around(self, path: str, line: int) -> Definition | None:
        """The innermost definition around a line of a source file."""
        found = self.outline(path)
        inside = (
            [one for one in found.definitions if one.line <= line <= one.end]
            if found is not None
            else []
        )
        return min(inside, key=lambda one: one.end - one.line, default=None)

    def users(self, name: str) -> list[tuple[str, int, bool]]:
        """Where a name is used: (path, line, whether it is an import). Only files that have it are parsed."""
        with self.lock:
            if name not in self._users:
                self._users[name] = list(self._using(name))
            return self._users[name]

    def _using(self, name: str) -> Iterator[tuple[str, int, bool]]:
        alone = whole(name)
        parsed = 0
        for path in self.sources:
            text = self.text(path)[0]
            if name in text and alone.search(text):
                found = self.outline(path)
                parsed += 1
                if found is not None:
                    for line in found.uses.get(name, ()):
                        yield path, line, line in found.imports
                if parsed == MOST_FILES:
                    break

    def defined(self, name: str, exported: bool = False) -> list[tuple[str, Definition]]:
        """Where a name, plain or qualified, is defined; where it is only exported too if that is asked or no file defines it."""
        last = name.rpartition(".")[2]
        coined = re.compile(
            rf"(?:^|[\s*&#:(,{{]){re.escape(last)}(?![\w$])|\.{re.escape(last)}\s*=(?!=)",
            re.MULTILINE,
        )
        out = []
        for path in self.sources:
            text = self.text(path)[0]
            if last in text and coined.search(text):
                found = self.outline(path)
                for one in found.definitions if found is not None else ():
                    if name in (one.name, one.qualified) or one.qualified.endswith(f".{name}"):
                        out.append((path, one))
        return [row for row in out if exported or row[1].kind != "export"] or out
