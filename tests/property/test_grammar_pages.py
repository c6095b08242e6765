"""Plans of the pages in docs under both kinds of grammars: as they are, and with their names renamed to those of the pool."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from fdc_toolchain.grammar_export.export import export
from llguidance import LLMatcher

from tests.property.test_grammar_export import (
    BYTES,
    FILE_RULES,
    GOOD,
    errors,
    linker,
    matcher,
    spells,
)
from tests.property.test_grammar_names import PLANS, TOLD, canonical, of_plan
from tests.support.changed_lines import mutated
from tests.support.pool_names import bound, renamed, renamings
from tests.support.profiles import cases
from tests.support.repository import ROOT

NOT_SPELLED = re.compile(r'\\u\{|len\("|^ *replace_with_git_merge_diff', re.M)
"""What `--names-of` may not spell of a plan: docs/grammar.md says it."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    for name in ("docs/tea.md", "docs/coffee.md", "src/brew.py", "notes/open.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("one line\n", "utf-8")
    (root / "Makefile").write_text("tea:\n\ttrue\n", "utf-8")
    (root / "fdc.toml").write_text("", "utf-8")
    return root


@cache
def pages(place: Path) -> tuple[str, ...]:
    """The plans of the pages that the linter accepts there, in their canonical form."""
    found: dict[str, None] = {}
    for page in (Path(ROOT, "README.md"), *sorted(Path(ROOT, "docs").glob("*.md"))):
        for text in re.findall(r"^(# FSM: .*?)^(?:```|END)", page.read_text("utf-8"), re.M | re.S):
            if not errors(linker(place), text):
                found[canonical(text)] = None
    return tuple(found)


def pooled(place: Path, text: str) -> tuple[LLMatcher, str] | None:
    """The grammar of the plan's automaton and tools, and the plan with its names renamed as that spells it."""
    here = linker(place)
    tools = sorted({*re.findall(r"[a-z_]+", text)} & {*here.catalogue.tools})
    made = export(here, "llguidance", fsm=text.split()[2], tools=tools, most=20)
    judge = matcher(made.text)

    def begins(some: str) -> bool:
        tokens = BYTES.tokenize_bytes(some.encode())
        return judge.reset() and judge.validate_tokens(tokens) == len(tokens)

    for names in renamings(text, made.names, begins):
        other = "".join(renamed(line, names) for line in text.splitlines(keepends=True))
        if judge.reset() and spells(judge, other):
            return judge, other
    return None


def changes(text: str, count: int) -> Iterator[str]:
    """The plan with one line or one letter changed."""
    for seed in cases(count):
        chance = random.Random(f"{seed} {text}")
        if seed % 2:
            yield mutated(text, chance)
            continue
        at = chance.randrange(len(text))
        yield text[:at] + chance.choice('{}a1= \n"') + text[at + 1 :]


def refused(place: Path, judge: LLMatcher, text: str, count: int, told: re.Pattern[str]) -> int:
    """How many changes of a plan have an error that the grammar must know: none of them is spelled."""
    out = 0
    for wrong in changes(text, count):
        found = [code for code in errors(linker(place), wrong) if told.fullmatch(code)]
        judge.reset()
        assert not found or not spells(judge, wrong), (found, wrong)
        out += bool(found)
    return out


KNOWN = re.compile(rf"(?!{FILE_RULES.pattern}).*")


def test_a_plan_without_budget_is_spelled_with_names_of_the_pool(place: Path) -> None:
    text = GOOD.replace("budget steps 1000000\n", "")
    for old, new in (("text1", "page"), ("list1", "found"), ("item1", "path")):
        text = text.replace(old, new)
    found = pooled(place, text)
    assert found is not None
    assert refused(place, *found, 12, KNOWN) > 3
    many = found[1].replace("max 5\n", "max 500\n")
    assert errors(linker(place), many) == [] and not spells(found[0], many)


@pytest.mark.soak
def test_a_third_of_the_plans_of_pages_is_spelled_with_names_of_the_pool(place: Path) -> None:
    """The others delete or move files, write where no new file goes, state `allow`, and so on: docs/grammar.md."""
    spelled = wrong = 0
    for text in pages(place):
        if (found := pooled(place, text)) is not None:
            spelled += 1
            assert errors(linker(place), found[1]) == []
            wrong += refused(place, *found, 20, KNOWN)
    assert spelled >= 0.3 * len(pages(place)) and wrong > 5 * spelled


@pytest.mark.long
def test_plans_of_pages_are_spelled_with_their_own_names(place: Path) -> None:
    wrong = 0
    for text in pages(place):
        (place / "own.plan").write_text(text, "utf-8")
        judge = of_plan(linker(place), "own.plan")
        assert spells(judge, text) or NOT_SPELLED.search(text), text
        wrong += refused(place, judge, text, 6, TOLD)
    assert wrong > len(pages(place))


@pytest.mark.parametrize(
    "loop",
    ["for_each_file docs/*.md\n  read_file {file1}\n", "for_each_file docs/*.md as page\n  read_file {page}\n",
     "for_each_file docs/*.md as page\n  for_each_file src/*.py max 50\n    message_user {page} {file1} {file2}\n",
     "iterate max 5000\n  hello_world\n", 'grep "^- \\\\[ \\\\]" docs\n'],
)  # fmt: skip
def test_what_is_optional_in_a_loop_is_so_with_the_names_of_a_plan(place: Path, loop: str) -> None:
    text = (
        f"# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\n{loop}close_task\nsubmit\n"
    )
    (place / "loop.plan").write_text(text, "utf-8")
    assert errors(linker(place), text) == []
    judge = of_plan(linker(place), "loop.plan")
    assert spells(judge, text)
    refused(place, judge, text, 10, TOLD)


def test_a_shipped_plan_is_a_fragment_or_says_what_it_may_touch(place: Path) -> None:
    """So no grammar spells one but that for its own names: others have neither fragments nor `allow`."""
    texts = [Path(ROOT, key).read_text("utf-8") for key in PLANS]
    whole = [text for text in texts if re.search(r"^(# FSM:|use fsm)", text, re.M)]
    assert 0 < len(whole) < len(texts)
    assert all(re.search(r"^allow ", text, re.M) for text in whole)
    assert '"allow' not in export(linker(place), "llguidance", most=6).text


def test_names_are_renamed_where_they_are_names() -> None:
    names = {"tea": "text1", "one": "item1"}
    for line, told in (
        ("param tea = tea", "param text1 = tea"),
        ("tea <- read_file tea", "text1 <- read_file tea"),
        ("  tea <- for one in {tea} max 3", "  text1 <- for item1 in {text1} max 3"),
        ('if tea.one == "tea" and len(one) > 1\n', 'if text1.one == "tea" and len(item1) > 1\n'),
        ('require tea else "no tea"', 'require text1 else "no tea"'),
        ("message_user tea {tea.one}", "message_user tea {text1.one}"),
    ):
        assert renamed(line, names) == told
    assert bound("  tea <- for one in {tea} max 3") == ["tea", "one"]
