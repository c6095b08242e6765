"""The files of an alphabet that a person writes and an iteration only reads: settings, test and practice concepts. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from .. import layout
from ..state import Base, has_concepts
from ..yamltext import NotYaml, parse
from .metrics import BenchmarkError, tests_of

_NEW = "put it back, or take the one that `fdc alphabet init` writes into a new folder"


def input_faults(base: Base) -> Iterator[str]:
    """Why an iteration cannot begin with them, file by file (T-51: a file that is broken or gone is not an empty one)."""
    text = base.files.get(layout.CONFIG)
    if text is None or not text.strip():
        yield f"{layout.CONFIG} is {'missing' if text is None else 'empty'}: {_NEW}"
    for path, concepts in ((layout.CONCEPTS, base.concepts), (layout.PRACTICE, base.practice)):
        text = base.files.get(path)
        if text is None:
            yield f"{path} is missing: {_NEW}"
            continue
        try:
            if not has_concepts(parse(text)):
                yield f"{path}: it has no list `test_concepts`: {_NEW}"
            tests_of(concepts)
        except BenchmarkError as wrong:
            yield f"{path}: {wrong}"
        except NotYaml as wrong:
            yield f"{path}: is not valid YAML: {wrong}"
