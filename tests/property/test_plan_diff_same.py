"""`fdc diff --fail-on`: a plan that is written in another way passes, and a plan that only looks the same does not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_toolchain.runs.plan_diff.compare import compare

from tests.property.test_grammar_names import PLANS
from tests.property.test_plan_diff import canonical, holding, side, small
from tests.support.pool_names import bound, renamed
from tests.support.repository import ROOT

ARGUMENT = re.compile(r'(?<!\S)[a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]+)')


def other_names(text: str) -> str:
    """The plan with another name for whatever it binds; inputs keep theirs, which callers know."""
    lines = text.splitlines(keepends=True)
    kept = {"run", *re.findall(r"^param (\w+)", text, re.M)}
    names = {name: f"zz_{name}" for line in lines for name in bound(line) if name not in kept}
    return "".join(renamed(line, names) for line in lines)


def arguments_turned(text: str) -> str:
    """The plan with the named arguments that end a line in the opposite order."""
    out = []
    for line in text.splitlines():
        found = [one for one in ARGUMENT.finditer(line) if " <- " not in line[one.start() :]]
        at = found[0].start() if found else len(line)
        if found and not ARGUMENT.sub("", line[at:]).strip():
            line = line[:at] + " ".join(one[0] for one in reversed(found))
        out.append(line)
    return "\n".join(out) + "\n"


def notes(text: str) -> str:
    """The plan with comments and blank lines before statements that are in no body."""
    out = list[str]()
    for line in text.splitlines(keepends=True):
        if out and not line.startswith((" ", "else")):
            out.append(("\n", "# require false\n")[len(out) % 2])
        out.append(line)
    return "".join(out)


@pytest.mark.long
@pytest.mark.parametrize("key", PLANS)
def test_a_shipped_plan_that_is_written_in_another_way_passes(key: str) -> None:
    text = canonical(Path(ROOT, key).read_text("utf-8"))
    assert rewritten(Path(ROOT), text, key) >= 2


def rewritten(root: Path, text: str, key: str = "p.plan") -> int:
    """How many ways there were to write a plan otherwise: none of them fails, and only other names are a difference."""
    ways: tuple[Callable[[str], str], ...] = (notes, arguments_turned, other_names)
    old, judged = side(root, text, key), 0
    for way in ways:
        if (other := way(text)) != text:
            judged += 1
            found = compare(old, side(root, other, key))
            assert not any(found.grown.values()), (way.__name__, found.grown)
            assert way is other_names or not found.differences, (way.__name__, found.differences)
    return judged


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text("tea\n", "utf-8")
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    return tmp_path


CARRIED = """\
iterate max 3 until found == 'tea'
  found <- grep pattern={word} path=docs/{name}
  for page in {pages} max 5
    word <- read_file {page}
  word <- request_user_input About {found}?
require word else 'x'
require found else 'x'
"""


def test_names_in_a_loop_that_carries_values_do_not_matter(place: Path) -> None:
    head = "pages <- list_files docs\nname <- request_user_input Which?\nword <- read_file docs/tea.md\n"
    assert rewritten(place, small(head + CARRIED)) == 3


def test_what_looks_the_same_under_other_names_fails(place: Path) -> None:
    """The item of a loop hides a name; values of a loop are exchanged."""
    head = "pages <- list_files docs\nword <- read_file docs/tea.md\nname <- hello_world tea\n"
    gather = "all <- for word in {pages} max 5\n  yield {word}\nrequire len(all) > 1 else 'x'\n"
    turn = "iterate max 3\n  word <- hello_world {word} a\n  name <- hello_world {name} b\nrequire word == 'a' else 'x'\n"
    for old, new in (
        (gather, gather.replace("for word", "for item")),
        (turn, turn.replace("require word", "require name")),
        (turn, turn.replace("{word}", "{name}", 1)),
    ):
        one, other = side(place, small(head + old)), holding(place, small(head + new))
        assert other is not None and compare(one, other).grown["weaker-gate"], new
        assert not any(compare(one, one).grown.values())


def test_a_parameter_may_have_a_word_of_the_program_as_its_name(place: Path) -> None:
    tool = {
        "summary": "look", "action": "read_op", "effect": "read", "trust": "workspace", "result": "text",
        "parameters": [{"name": name, "kind": "word", "sink": "data"} for name in ("ref", "op", "bind")],
        "run": {"python": "own:look"},
    }  # fmt: skip
    (place / "own.py").write_text("def look(**given):\n    return ''\n", "utf-8")
    own = {"format": 1, "name": "own", "tools": {"look_up": tool}}
    (place / "fdc_tools.json").write_text(json.dumps(own), "utf-8")
    loop = "word <- read_file docs/tea.md\niterate max 3\n  word <- look_up ref={word} op=word bind=x\nrequire word else 'x'\n"
    assert rewritten(place, small(loop)) == 3
    changed = holding(place, small(loop.replace("ref={word}", "ref=word")))
    assert changed is not None
    assert compare(side(place, small(loop)), changed).grown["weaker-gate"]


FRAGMENT = "use fragment tooling/fdc_fsm.json\n"
FRAGMENTS = {
    "reads": FRAGMENT + 'param path = "docs/tea.md"\nfound <- read_file {path}\nyield {found}\n',
    "tells": FRAGMENT + "param words\nmessage_user I say {words}\nok <- request_user_input {words}?\nrequire ok else \"x\"\n",
    "names": FRAGMENT + 'hits <- list_files docs\nyield {hits}\n',
}  # fmt: skip
REFACTORED = [
    ("text <- read_file docs/tea.md\n", "text <- call_plan reads.plan path=docs/tea.md\n"),
    ("text <- read_file docs/tea.md\n", "text <- call_plan reads.plan\n"),
    ("text <- call_plan reads.plan\n", "text <- call_plan reads.plan path=docs/tea.md\n"),
    (
        "message_user I say tea\ntext <- request_user_input tea?\nrequire text else 'x'\n",
        "call_plan tells.plan words=tea\ntext <- hello_world a\n",
    ),
    (
        "text <- list_files docs\nfor one in {text} max 5\n  text <- read_file {one}\n",
        "text <- call_plan names.plan\nfor one in {text} max 5\n  text <- read_file {one}\n",
    ),
]


@pytest.mark.parametrize(("old", "new"), REFACTORED)
def test_steps_that_move_into_a_called_plan_gain_no_access(place: Path, old: str, new: str) -> None:
    for name, text in FRAGMENTS.items():
        (place / f"{name}.plan").write_text(text, "utf-8")
    end = "message_user {text}\n"
    one, other = (side(place, small(body + end)) for body in (old, new))
    grown = compare(one, other).grown
    assert [row for row in grown["more-access"] if "hello_world" not in row] == []
    assert not [row for row in grown["weaker-gate"] if "hello_world" not in row]
    for less, more in (
        ("docs/tea.md", "docs/other.md"),
        ("words=tea", "words=coffee"),
        ("names.plan", "reads.plan"),
    ):
        if (
            less in new
            and (found := holding(place, small(new.replace(less, more) + end))) is not None
        ):
            gained = compare(one, found).grown
            assert gained["more-access"] or gained["weaker-gate"], more


def test_a_file_that_a_plan_names_itself_is_more_than_the_same_as_a_value(place: Path) -> None:
    """Only a plan's own text opens a file that is protected."""
    (place / "reads.plan").write_text(
        FRAGMENTS["reads"].replace("docs/tea.md", "fdc.toml"), "utf-8"
    )
    value, named = (
        side(place, small(f"text <- {step}\nmessage_user {{text}}\n"))
        for step in ("call_plan reads.plan", "read_file fdc.toml")
    )
    assert (
        compare(value, named).grown["more-access"]
        and not compare(named, value).grown["more-access"]
    )
