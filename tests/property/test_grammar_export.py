"""What a grammar of `fdc grammar` spells is a plan that holds; what does not hold it does not spell."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.check import check
from fdc_toolchain.grammar_export.export import Grammar, export
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import any_to_lark

from tests.support.changed_lines import mutated
from tests.support.gbnf_sampler import read, sample
from tests.support.profiles import cases, quick_and_whole

BYTES = LLTokenizer("byte")
FILE_RULES = re.compile(r"FDC41\d")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with some files."""
    root = tmp_path_factory.mktemp("grammar")
    for name in ("docs/tea.md", "docs/coffee.md", "src/brew.py", "notes/open.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("one line\n", "utf-8")
    (root / "Makefile").write_text("tea:\n\ttrue\n", "utf-8")
    (root / "fdc.toml").write_text("", "utf-8")
    return root


def linker(root: Path) -> Linker:
    return Linker(str(root), read_settings(str(root)))


def errors(here: Linker, text: str) -> list[str]:
    """The codes of the errors of a text as a whole run."""
    here.units.pop("p.plan", None)
    found = check(here, ["p.plan"], {"p.plan": text.encode()}, whole=True)
    return [item.code for item in found.diagnostics if item.severity == "error"]


def matcher(grammar: str) -> LLMatcher:
    made = LLMatcher(BYTES, LLMatcher.grammar_from_lark(grammar))
    assert not made.is_error(), made.get_error()[:400]
    return made


def spells(made: LLMatcher, text: str) -> bool:
    """Whether the matcher takes the whole text and could end there."""
    tokens = BYTES.tokenize_bytes(text.encode())
    if made.validate_tokens(tokens) != len(tokens):
        return False
    made.reset()
    return made.consume_tokens(tokens) and made.is_accepting() and made.reset()


def judged(place: Path, texts: Iterator[str]) -> Counter[str]:
    here, found = linker(place), Counter[str]()
    for text in texts:
        found.update(set(errors(here, text)) or {"none"})
    return found


def hold(found: Counter[str]) -> None:
    """No error but of the rules about files, and of these at most two in a hundred."""
    others = {
        code: count
        for code, count in found.items()
        if code != "none" and not FILE_RULES.fullmatch(code)
    }
    assert not others, found
    assert sum(count for code, count in found.items() if code != "none") <= 0.02 * found["none"], (
        found
    )


@pytest.fixture(scope="module")
def gbnf(place: Path) -> Grammar:
    return export(linker(place), "gbnf", most=5, tools=SOME)


@pytest.fixture(scope="module")
def parametric(place: Path) -> Grammar:
    return export(linker(place), "llguidance")


SOME = (
    "set_plan plan_step_complete message_user request_user_input read_file list_files grep google_search view_text_website"
    " overwrite_file_with_block create_file_with_block run_in_bash_session generate_code git_commit close_task submit"
).split()
"""Tools of every kind."""


def derivations(text: str, count: int) -> Iterator[str]:
    rules = read(text)
    for seed in cases(count):
        yield sample(rules, random.Random(seed))


@pytest.mark.parametrize("count", quick_and_whole(15, 60))
def test_derivations_hold(place: Path, gbnf: Grammar, count: int) -> None:
    texts = list(derivations(gbnf.text, count))
    assert count // 6 < sum("\nbudget " in text for text in texts) < count * 5 // 6
    hold(judged(place, iter(texts)))


@pytest.mark.soak
@pytest.mark.parametrize("most", [6, 8])
def test_two_thousand_derivations_hold(place: Path, most: int) -> None:
    hold(judged(place, derivations(export(linker(place), "gbnf", most=most).text, 2000)))


PACKS_AUTOMATA = ("repair", "repair_plain", "repair_write", "lgtm", "explore", "look", "alphabet")


@pytest.mark.parametrize("count", quick_and_whole(8, 30))
def test_derivations_hold_with_the_automaton_of_a_pack(place: Path, count: int) -> None:
    """With the tools of the pack, whose commands may write anywhere, and its `use pack` line."""
    made = export(linker(place), "gbnf", fsm="repair_plain", most=5).text
    assert '"# FSM: repair_plain\\nuse pack repair\\n' in made and "use pack lgtm" not in made
    hold(judged(place, derivations(made, count)))


@pytest.mark.soak
@pytest.mark.parametrize("fsm", [*PACKS_AUTOMATA, "tooling/research_fsm.json"])
def test_two_thousand_derivations_hold_with_other_automata(place: Path, fsm: str) -> None:
    hold(judged(place, derivations(export(linker(place), "gbnf", fsm=fsm, most=8).text, 2000)))


@pytest.mark.long
@pytest.mark.parametrize("fsm", [*PACKS_AUTOMATA, "tooling/research_fsm.json"])
def test_walks_with_and_without_a_budget_hold_with_other_automata(place: Path, fsm: str) -> None:
    made = matcher(export(linker(place), "llguidance", fsm=fsm).text)
    texts = list(walked(made, 30))
    assert any("budget" not in text for text in texts)
    hold(judged(place, iter(texts)))


PLAIN_REPAIR = "set_plan x\n{bound}run_tests {given}\nclose_repair case\nclose_task\n"


def test_a_command_of_a_pack_is_given_no_text_from_outside(place: Path) -> None:
    """What such a command is given may be in files that it runs; the command itself is the author's."""
    few = "set_plan google_search read_file run_tests close_repair close_task".split()
    made = matcher(export(linker(place), "llguidance", fsm="repair_plain", tools=few, most=8).text)
    head = "# FSM: repair_plain\nuse pack repair\nbudget steps 1000000\n"
    here, told = linker(place), set()
    for bound, given in (
        ("", "case make"),
        ("outside_list1 <- google_search tea\n", "{outside_list1} make\nrun_tests case make"),
        ("outside_list1 <- google_search tea\n", "case {outside_list1}"),
        ("text1 <- read_file docs/tea.md\n", "{text1} make"),
        ("text1 <- read_file docs/tea.md\n", "case {text1}"),
    ):
        text = f"{head}{PLAIN_REPAIR.format(bound=bound, given=given)}"
        told.add(bool(errors(here, text)))
        assert spells(made, text) != bool(errors(here, text)), (errors(here, text), text)
    assert told == {False, True}


def test_a_reference_alone_in_quotes_is_no_text(place: Path) -> None:
    made = matcher(export(linker(place), "llguidance", tools=[*TOOLS, "among"], most=8).text)
    here, head = linker(place), GOOD.partition("for ")[0]
    for word in ('"{list1}"', '"{list1}."', '"a {list1}"', "a{list1}", "{list1}"):
        text = f"{head}among {word} {{list1}}\nclose_task\nsubmit\n"
        assert spells(made, text) == (errors(here, text) == [])
        assert spells(made, text) == (word.strip('"') != "{list1}"), word


def test_no_argument_is_begun_that_no_name_can_end(place: Path) -> None:
    """The plan of `run_plan` is a text that a step gave, and its inputs are an object: without a name for one, the line ends."""
    tools = [*TOOLS, "request_user_input", "run_plan"]
    made = matcher(export(linker(place), "llguidance", tools=tools, most=8).text)
    stores = "# It may store text from outside, and runs no command.\nbudget"
    head = GOOD.partition("text1")[0].replace("budget", stores)
    text = f"{head}text1 <- request_user_input which?\nrun_plan "
    for more, spelled in (("t", 0), ("{text1}\n", 8), ('"{text1}"\n', 10), ("{text1} ", 7)):
        tokens = BYTES.tokenize_bytes((text + more).encode())
        assert made.validate_tokens(tokens) == len(tokens) - len(more) + spelled
    assert made.validate_tokens(BYTES.tokenize_bytes(f"{head}run_plan ".encode())) < len(head) + 8


def test_a_value_that_may_have_fields_is_compared_with_no_number(
    place: Path, parametric: Grammar
) -> None:
    """Lint knows of what equals a number that it has no fields, and a later line may use one."""
    made = matcher(parametric.text)
    head = f"{GOOD.partition('text1')[0]}list3 <- grep tea\nfor item3 in {{list3}} max 4\n  if "
    for line, spelled in (("item3 and item3.path == 12\n", True), ("item3 == 12\n", False)):
        tokens = BYTES.tokenize_bytes((head + line).encode())
        assert (made.validate_tokens(tokens) == len(tokens)) == spelled


def walked(first: LLMatcher, count: int) -> Iterator[str]:
    """Random texts, byte by byte, as the masks of the matcher allow."""
    for seed in cases(count):
        choices, made, out = random.Random(seed), first.deep_copy(), bytearray()
        while not made.is_stopped():
            mask = made.compute_bitmask()
            able = [code for code in range(257) if mask[code >> 3] >> (code & 7) & 1]
            assert able, f"abandoned: {bytes(out)[-200:]!r}"
            ends = [code for code in able if code in (10, BYTES.eos_token)]
            text = len(able) > 60
            if text and ends and choices.random() < 0.2:
                code = choices.choice(ends)
            elif text and ord("{") in able and choices.random() < 0.15:
                code = ord("{")
            else:
                code = choices.choice([code for code in able if code < 128] or able)
            assert made.consume_token(code)
            if code == BYTES.eos_token:
                break
            out.append(code)
            assert len(out) < 60_000
        yield out.decode()


@pytest.mark.parametrize("count", quick_and_whole(3, 12))
def test_what_the_masks_allow_holds(place: Path, parametric: Grammar, count: int) -> None:
    hold(judged(place, walked(matcher(parametric.text), count)))


def test_a_workspace_without_files_has_a_grammar_too(tmp_path: Path) -> None:
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    made = export(linker(tmp_path), "llguidance", tools=SOME, files="nothing/*", most=6)
    assert made.files == 0
    hold(judged(tmp_path, walked(matcher(made.text), 8)))


def test_files_that_git_ignores_are_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / ".gitignore").write_text("/runs/\n", "utf-8")
    for name in ("runs/old/page.md", "docs/tea.md", "docs/draft/a.md", "docs/draft/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one line\n", "utf-8")
    (tmp_path / "docs" / "draft" / ".gitignore").write_text("b.md\n", "utf-8")
    made = export(linker(tmp_path), "llguidance", tools=SOME, most=6)
    assert "docs/draft/a.md" in made.text and "docs/draft/b.md" not in made.text
    assert "runs/" not in made.text
    assert made.files == 3


def test_calls_are_offered_of_plans_that_take_any_text(tmp_path: Path) -> None:
    head = "# FSM: tooling/fdc_fsm.json\nparam it\nset_plan x\nplan_step_complete r\n"
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "knowledge_core").mkdir()
    names = '{"says": "says.plan", "two words": "says.plan", "goes": "goes.plan"}'
    (tmp_path / "knowledge_core" / "plan_registry.json").write_text(names, "utf-8")
    for name, step in (
        ("says", "message_user {it}"),
        ("goes", "for i in {it} max 3\n  hello_world"),
    ):
        (tmp_path / f"{name}.plan").write_text(f"{head}{step}\nclose_task\nsubmit\n", "utf-8")
    made = export(linker(tmp_path), "gbnf", tools=FEW, most=4)
    assert {"says"} == set(re.findall(r"call_plan ([a-z ]*[a-z])", made.text))


def test_what_a_call_gives_is_no_value_for_a_step_that_needs_one(tmp_path: Path) -> None:
    """A plan without a `yield` gives null, which may stand in a text and is not all that a step is given."""
    head, end = (
        "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\n",
        "close_task\nsubmit\n",
    )
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "knowledge_core").mkdir()
    (tmp_path / "knowledge_core" / "plan_registry.json").write_text('{"few": "few.plan"}', "utf-8")
    (tmp_path / "few.plan").write_text(f"{head}hello_world\n{end}", "utf-8")
    tools = [*FEW, "plan_deep_research"]
    made = matcher(export(linker(tmp_path), "llguidance", tools=tools, most=6).text)
    for step, spelled in (("plan_deep_research {answer1}", False), ("plan_deep_research a {answer1}", True),
                          ("message_user {answer1}", False), ("message_user a {answer1}", True)):  # fmt: skip
        text = f"{head}answer1 <- call_plan few\n{step}\n{end}"
        assert (errors(linker(tmp_path), text) == []) == spelled == spells(made, text), text
        made.reset()


def test_a_plan_that_costs_much_is_called_with_a_budget_only(tmp_path: Path) -> None:
    head, end = (
        "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\n",
        "close_task\nsubmit\n",
    )
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "knowledge_core").mkdir()
    names = '{"few": "few.plan", "many": "many.plan"}'
    (tmp_path / "knowledge_core" / "plan_registry.json").write_text(names, "utf-8")
    for name, rounds in (("few", 7), ("many", 20_000)):
        loop = f"iterate max {rounds}\n  list_files *\n"
        (tmp_path / f"{name}.plan").write_text(f"{head}{loop}{end}", "utf-8")
    made = matcher(export(linker(tmp_path), "llguidance", tools=FEW, most=5).text)
    budget = "budget steps 1000000\n"
    for name, stated, spelled in (("few", "", True), ("many", "", False), ("many", budget, True)):
        text = head.replace("set_plan", f"{stated}set_plan") + f"call_plan {name}\n{end}"
        assert errors(linker(tmp_path), text) == []
        assert spells(made, text) == spelled, text
    small = export(linker(tmp_path), "gbnf", tools=FEW, most=4).text
    assert "call_plan few" in small and "call_plan many" not in small


def test_what_is_committed_was_added_before(place: Path) -> None:
    tools = [*TOOLS, "git_add", "git_commit"]
    made = matcher(export(linker(place), "llguidance", tools=tools, most=10).text)
    head, end = GOOD.partition("text1")[0], "close_task\nsubmit\n"
    add, commit = "git_add docs/tea.md\n", "git_commit Tea\n"
    some = "list1 <- list_files docs/*\n"
    for body, spelled in (
        (add + commit, True),
        (add + "hello_world\n" + commit + add + commit, True),
        (f"{some}if list1\n  {add}  {commit}", True),
        (f"{some}for item1 in {{list1}} max 5\n  {add}  {commit}", True),
        (commit, False),
        (commit + add, False),
        (add + commit + commit, False),
        (f"{some}if list1\n  {add}{commit}", False),
        (f"{some}{add}for item1 in {{list1}} max 5\n  {commit}", False),
        (f"{some}{add}if list1\n  {add}  {commit}{commit}", False),
    ):
        assert spells(made, head + body + end) == spelled, body
    few = export(linker(place), "llguidance", tools=[*TOOLS, "git_commit"], most=6)
    assert "git_commit" not in few.text and "git_commit" in few.remarks[0]


@pytest.mark.soak
def test_a_thousand_walks_hold(place: Path, parametric: Grammar) -> None:
    hold(judged(place, walked(matcher(parametric.text), 1000)))


GOOD = """\
# FSM: tooling/fdc_fsm.json
budget steps 1000000
set_plan Look at the tea
plan_step_complete ready
text1 <- read_file docs/tea.md
list1 <- list_files docs/*
for item1 in {list1} max 5
  message_user {item1}: {text1}
if len(list1) > 1
  overwrite_file_with_block out/tea.md
    {text1}
  require list1 else "there is nothing"
else
  hello_world
close_task
submit
"""
BAD = {
    "syntax": ("if len(list1) > 1", "if len(list1) = 1"),
    "indentation": ("close_task", " close_task"),
    "tool": ("hello_world", "hello_wurld"),
    "name": ("{item1}: {text1}", "{item1}: {text2}"),
    "item": ("if len(list1) > 1", "if len(item1) > 1"),
    "loop": (" max 5", ""),
    "argument": ("read_file docs/tea.md", "read_file"),
    "automaton": ("close_task\nsubmit", "submit"),
    "early": ("plan_step_complete ready\n", ""),
    "behind": ("submit\n", "submit\nmessage_user Bye\n"),
    "type": ("{list1} max 5", "{text1} max 5"),
    "statement": ("hello_world", "while list1"),
}


TOOLS = (
    "set_plan plan_step_complete message_user hello_world read_file list_files overwrite_file_with_block close_task submit"
).split()


def test_a_plan_is_spelled_and_its_faults_are_not(place: Path) -> None:
    faulty(
        place,
        matcher(export(linker(place), "llguidance", tools=TOOLS, most=10).text),
        GOOD,
        list(BAD),
    )


def test_what_the_linter_refuses_of_changed_plans_is_not_spelled(place: Path) -> None:
    """Whatever one line becomes: what has an error is not spelled, but for rules about files."""
    here, made = (
        linker(place),
        matcher(export(linker(place), "llguidance", tools=TOOLS, most=10).text),
    )
    refused = 0
    for seed in cases(100):
        chance = random.Random(seed)
        text = mutated(GOOD, chance)
        if chance.random() < 0.5:  # a letter of it is another one
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice('{}a1= \n"') + text[at + 1 :]
        found = errors(here, text)
        if any(not FILE_RULES.fullmatch(code) for code in found):
            refused += 1
            assert not spells(made, text), (found, text)
    assert refused > 40


PLAIN = """\
# FSM: tooling/fdc_fsm.json
budget steps 1000000
set_plan Look at the tea
plan_step_complete ready
text1 <- read_file docs/tea.md
for_each_file docs/*.md max 5
  message_user {file1}: {text1}
close_task
submit
"""
FEW = ("set_plan", "plan_step_complete", "message_user", "read_file", "close_task", "submit")


@pytest.mark.parametrize("form", ["gbnf", "lark"])
def test_so_it_is_in_the_notations_without_parameters(place: Path, form: str) -> None:
    text = export(linker(place), form, tools=FEW, most=6).text
    faulty(place, matcher(any_to_lark(text) if form == "gbnf" else text), PLAIN, [
        "indentation", "loop file", "argument", "automaton", "early", "behind", "name file", "tool few",
    ])  # fmt: skip


def faulty(place: Path, made: LLMatcher, good: str, faults: list[str]) -> None:
    """A plan is spelled, and none of its faults, which the linter refuses."""
    here = linker(place)
    assert errors(here, good) == [] and spells(made, good)
    for what in faults:
        old, new = {**BAD, **MORE}[what]
        assert good.count(old) == 1, what
        text = good.replace(old, new)
        assert errors(here, text) and not spells(made, text), what


MORE = {
    "loop file": ("for_each_file docs/*.md", "for_each docs/*.md"),
    "name file": ("{file1}", "{file2}"),
    "tool few": ("message_user", "mesage_user"),
    "argument": ("read_file docs/tea.md", "read_file"),
}


def test_text_from_outside_has_names_of_its_own(place: Path, parametric: Grammar) -> None:
    made = matcher(parametric.text)
    head = "# FSM: tooling/fdc_fsm.json\nbudget steps 1000000\nset_plan x\nplan_step_complete x\n"
    fetch, end = (
        "outside_text1 <- view_text_website https://example.org/tea\n",
        "close_task\nsubmit\n",
    )
    storing = head.replace(
        "json\n", "json\n# It may store text from outside, and runs no command.\n"
    )
    write, run = (
        "overwrite_file_with_block out/a.md\n  {outside_text1}\n",
        "run_in_bash_session make tea\n",
    )
    assert spells(made, head + fetch + "message_user {outside_text1}\n" + end)
    assert spells(made, head + fetch + run + end)
    assert spells(made, storing + fetch + write + end)
    for wrong in (
        head + fetch.replace("outside_", "") + end,
        head + fetch + "read_file {outside_text1}\n" + end,
        head + fetch + "run_in_bash_session wc {outside_text1}\n" + end,
        head + fetch + 'if outside_text1 == "yes"\n  ' + run + end,
        head + fetch + write + run + end,
        storing + fetch + write + run + end,
    ):
        assert not spells(made, wrong)
