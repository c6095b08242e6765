"""The whole words of each rule, and all their places: what is said of the examples of the pages, as somebody found it right.

tests/spec sees that a page's example has the finding that the page promises. This keeps the rest of it: the words, the help,
the labels, the run that is shown, what is assumed, and where each of them is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.diagnostics.span import Span

from tests.spec.test_language import PAGES
from tests.spec.test_rules import RULES, page
from tests.support import spec
from tests.support.golden import FOLDER, check, updating

TEXTS = {rule: page(rule) for rule in RULES} | {name[:-3]: text for name, text in PAGES.items()}


def at(span: Span | None) -> str:
    return f"{span}-{span.end_line}:{span.end_column}" if span else "nowhere"


def told(item: Diagnostic) -> Iterator[str]:
    yield f"{at(item.span)} {item.severity} {item.rule}: {item.message}"
    if item.help:
        yield f"  help: {item.help}"
    yield from (f"  {at(label.span)}: {label.message}" for label in item.labels)
    yield from (f"  then {at(label.span)}: {label.message}" for label in item.trace)
    if item.fix is not None:
        yield f"  fix: {item.fix}"


@pytest.mark.parametrize("name", TEXTS)
def test_the_examples_of_a_page_are_told_in_the_words_they_were(name: str, tmp_path: Path) -> None:
    out = []
    for number, section in enumerate(spec.sections(TEXTS[name])):
        if section.command is None and section.plans:
            workspace = tmp_path / str(number)
            (workspace / "knowledge_core").mkdir(parents=True)
            spec.write(section, workspace)
            plans = [str(workspace / plan) for plan in section.plans]
            checked = check_paths(plans, str(workspace))
            out.append(f"## {section.heading}")
            for item in (*checked.diagnostics, *checked.assumptions, *checked.fragments):
                if item.rule != "program-present":  # it depends on the machine
                    out += told(item)
            out.append("")
    check(f"words/{name}.txt", "\n".join(out))


def test_there_is_a_text_for_each_page() -> None:
    if not updating():
        assert {f"{name}.txt" for name in TEXTS} == {p.name for p in (FOLDER / "words").iterdir()}
