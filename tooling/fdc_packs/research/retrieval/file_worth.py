"""What a file is worth to a question by what it is for: tests, examples and other people's code are worth less."""

from __future__ import annotations

import re

from fdc_toolchain.api.files import Document

from .kinds import WEIGHT, asks_about, kind_of

TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|__tests__)/|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec)|conftest)\.\w+$"
)
EXAMPLES = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?)/")
FOREIGN = re.compile(
    r"(?:^|/)(?:_?vendor(?:ed)?|third_party|external|node_modules|dist|build|migrations)/|\.min\."
)


def worth_of(document: Document, asked: set[str]) -> float:
    """What a file is worth to a question with these words, from 0 to 1."""
    factor = 1.0
    if TESTS.search(document.path) and not asked & {"test", "tests", "testing"}:
        factor *= 0.45
    if EXAMPLES.search(document.path) and not asked & {
        "example",
        "examples",
        "sample",
        "demo",
        "benchmark",
    }:
        factor *= 0.7
    if FOREIGN.search(document.path):
        factor *= 0.6
    kind = kind_of(document)
    return factor if asks_about(kind, asked) else factor * WEIGHT[kind]
