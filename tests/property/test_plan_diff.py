"""`fdc diff` of plans: whatever a plan gains is told, and a change that means nothing is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.check import check, program_of
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.rules.bounds import Bounds
from fdc_toolchain.runs.plan_diff.compare import MEASURES, Compared, Side, compare
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.write import write

from tests.support.profiles import quick_and_whole
from tests.support.repository import ROOT
from tests.support.weaker import disguised, weakened

PLAN = """\
# FSM: tooling/fdc_fsm.json
param topic = "tea"
budget steps 500
allow read **
allow write out/**
allow run *
allow net *
set_plan Work on {topic}
plan_step_complete ready
pages <- list_files docs
require len(pages) > 0 else "there is nothing"
for_each_file docs/*.md as page max 20
  text <- read_file {page}
  message_user {page}: {text}
for page in {pages} max 9
  found <- grep "tea" {page}
  require len(found) < 90 else "too many"
state <- hello_world
iterate max 5 until state == "done"
  state <- hello_world again
ok <- request_user_input May I write about {topic}?
if ok == "yes"
  overwrite_file_with_block out/tea.md
    Tea, {topic}
  tests <- run_in_bash_session make tea
  require tests.exit_code == 0 else "it fails"
  git_commit Tea
else
  message_user Nothing done
close_task
submit
"""
SUB = """\
use fsm tooling/fdc_fsm.json
param what
set_plan Again
plan_step_complete ready
ok <- request_user_input Again {what}?
require ok == "yes" else "no"
git_commit {what}
close_task
submit
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("diff")
    (root / "docs" / "inner").mkdir(parents=True)
    (root / "docs" / "inner" / "green.md").write_text("tea\n", "utf-8")
    (root / "docs" / "tea.md").write_text("tea\n", "utf-8")
    (root / "Makefile").write_text("tea:\n\ttrue\n", "utf-8")
    (root / "fdc.toml").write_text("", "utf-8")
    (root / "sub.plan").write_text(SUB, "utf-8")
    (root / "other.plan").write_text(SUB.replace('require ok == "yes" else "no"\n', ""), "utf-8")
    return root


def side(root: Path, text: str, key: str = "p.plan") -> Side:
    here = Linker(str(root), read_settings(str(root)))
    found = check(here, [key], {key: text.encode()} if text else None)
    assert [item for item in found.diagnostics if item.severity == "error"] == [], text
    cost = Bounds().plan(found.context.graph.instance(key))
    return Side(program_of(found), {name: getattr(cost, name) for name in MEASURES})


def compared(root: Path, old: str, new: str) -> Compared:
    return compare(side(root, old), side(root, new))


def replaced(*pairs: tuple[str, str]) -> Iterator[str]:
    for old, new in pairs:
        assert PLAN.count(old) == 1, old
        yield PLAN.replace(old, new)


COMMAND = "  tests <- run_in_bash_session make tea\n"
ACCESS = list(
    replaced(
        ("list_files docs", "list_files docs/inner"),
        ("close_task", "run_in_bash_session make coffee\nclose_task"),
        ("close_task", "view_text_website https://example.org\nclose_task"),
        ("close_task", "read_file docs/tea.md\nclose_task"),
        ("out/tea.md", "out/coffee.md"),
        ("make tea", "make coffee"),
        ("make tea", "make {topic}"),
        ("allow write out/**", "allow write **"),
        ("allow run *\n", "allow run *\nallow write notes/**\n"),
        ('topic = "tea"', 'topic = "coffee"'),
        ("allow read **\nallow write out/**\nallow run *\nallow net *\n", ""),
        ("docs/*.md", "docs/**/*.md"),
        ("    Tea, {topic}", "    all: ; something else"),
        ("git_commit Tea", "git_commit {topic}"),
        ("close_task", "call_plan sub.plan what=tea\nclose_task"),
    )
)
COST = list(
    replaced(
        ("budget steps 500\n", ""),
        ("budget steps 500", "budget steps 501"),
        ("max 20", "max 21"),
        ("max 9", "max 10"),
        ("max 5", "max 6"),
        ("  message_user Nothing done", "  hello_world\n" * 6 + "  message_user done"),
        ("close_task", "hello_world\nclose_task"),
        ("  text <- read_file {page}\n", "  text <- read_file {page}\n  hello_world\n"),
        (" max 20", ""),
        ("close_task", "call_plan sub.plan what=tea\nclose_task"),
    )
)
GATES = list(
    replaced(
        ('require len(pages) > 0 else "there is nothing"\n', ""),
        ("len(pages) > 0", "len(pages) >= 0"),
        ("len(pages) > 0", "len(pages) > 0 or 1 < 2"),
        ('  require len(found) < 90 else "too many"\n', ""),
        ('  require tests.exit_code == 0 else "it fails"\n  git_commit Tea\n',
         '  git_commit Tea\n  require tests.exit_code == 0 else "it fails"\n'),
        ('ok == "yes"', 'ok != "no"'),
        ("May I write about {topic}?", "Is the weather fine?"),
        ("ok <- request_user_input May I write about {topic}?\n", 'ok <- hello_world\n'),
        ("  git_commit Tea\nelse\n  message_user Nothing done\n", "else\n  message_user Nothing done\ngit_commit Tea\n"),
        ("  git_commit Tea\nelse\n  message_user Nothing done\n", "else\n  git_commit Tea\n"),
        ("  git_commit Tea\nelse\n  message_user Nothing done\n", "else\n  message_user Nothing done\ngit_commit Coffee\n"),
        ('until state == "done"', 'until state == "do"'),
        (' until state == "done"', ""),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "texts"), [("more-access", ACCESS), ("more-cost", COST), ("weaker-gate", GATES)]
)
def test_what_a_plan_gains_is_told(place: Path, kind: str, texts: list[str]) -> None:
    old = side(place, PLAN)
    for text in texts:
        found = compare(old, side(place, text))
        assert found.grown[kind], text
        assert found.differences, text


def test_what_a_called_plan_loses_is_told(place: Path) -> None:
    old = PLAN.replace("close_task", "call_plan sub.plan what=tea\nclose_task")
    found = compared(place, old, old.replace("sub.plan", "other.plan"))
    assert found.grown["weaker-gate"]
    found = compared(place, old, old.replace("what=tea", "what={topic}"))
    assert found.grown["more-access"]


def test_what_is_sent_outside_is_access(place: Path) -> None:
    old = PLAN.replace(
        "close_task", "readme <- read_file docs/tea.md\ngoogle_search tea\nclose_task"
    )
    assert compared(place, old, old.replace("google_search tea", "google_search {readme}")).grown[
        "more-access"
    ]


WRITE = "overwrite_file_with_block out/tea.md\n  Tea\n"
LOOK = "tests <- run_in_bash_session make tea\n"
GOOD = 'require tests.exit_code == 0 else "no"\n'
PAIR = "for_each_file docs/*.md as a max 5\n  for_each_file docs/*.md as b max 5\n    require a == b else 'x'\n"
ASK = "ok <- request_user_input Fine?\nrequire ok else 'x'\n"
ROUNDS = "iterate max 5\n  " + LOOK + "  " + GOOD
EACH = (
    "l <- list_files docs\nfor i in {l} max 5\n  t <- read_file {i}\n  require t == 'go' else 'x'\n"
)
READ = "t <- read_file docs/tea.md\n"
WEAKER = (
    (EACH + "  delete_file {i}\n", EACH.replace("for", "fork") + "  delete_file {i}\n"),
    (EACH + "for i in {l} max 5\n  git_commit {i}\n", EACH + "  git_commit {i}\n"),
    ("iterate max 3\n  " + READ + "  require t == 'go' else 'x'\n  git_commit x\n",
     READ + "iterate max 3\n  require t == 'go' else 'x'\n  git_commit x\n"),
    (WRITE + LOOK + GOOD, LOOK + GOOD + WRITE),
    (LOOK + WRITE + "last <- " + LOOK[9:] + GOOD.replace("tests", "last") + "message_user {tests} {last}\n",
     LOOK + WRITE + "last <- " + LOOK[9:] + GOOD + "message_user {tests} {last}\n"),
    (WRITE + ASK, ASK + WRITE),
    (PAIR, PAIR.replace("a == b", "a == a")),
    ("r <- call_plan good.plan\nrequire r == 'good' else 'x'\n", "r <- call_plan bad.plan\nrequire r == 'good' else 'x'\n"),
    (ROUNDS, ROUNDS.replace("5", "4")),
    ("for_each_file docs/none*.md max 5\n  " + LOOK, LOOK),
    ("l <- list_files docs\nfor i in {l} max 5\n  " + LOOK, "l <- list_files docs\niterate max 1\n  " + LOOK),
    (ROUNDS, ROUNDS.replace("iterate max 5\n", "for_each_file docs/*.md max 5\n")),
    ("iterate max 5 until tests.exit_code == 0\n  " + LOOK, "if 1 > 2\n  iterate max 5 until tests.exit_code == 0\n    " + LOOK),
)  # fmt: skip


def small(body: str) -> str:
    head = '# FSM: tooling/fdc_fsm.json\nparam a = "x"\nset_plan Tea\nplan_step_complete ready\n'
    return head + body.replace("'", '"') + "git_commit Tea\nread_file docs/tea.md\nclose_task\nsubmit\n"  # fmt: skip


def test_a_gate_that_asks_about_something_else_or_earlier_is_weaker(place: Path) -> None:
    judged = small(LOOK + "if tests.exit_code == 0\n  yield good\nelse\n  yield bad\n")
    (place / "good.plan").write_text(judged, "utf-8")
    (place / "bad.plan").write_text(judged.replace("==", "!="), "utf-8")
    for old, new in WEAKER:
        assert compared(place, small(old), small(new)).grown["weaker-gate"], new
        assert not any(compared(place, small(old), small(old)).grown.values())


def test_more_rounds_that_cost_nothing_themselves_are_more_cost(place: Path) -> None:
    """A run that finds more files went no further."""
    loop = "for_each_file docs/*.md max {}\n  require len(file1) > 1 else 'short'\n"
    assert compared(place, small(loop.format(3)), small(loop.format(4))).grown["more-cost"]
    assert not compared(place, small(loop.format(4)), small(loop.format(3))).grown["more-cost"]


def test_fewer_attempts_at_a_condition_are_weaker_and_more_are_not(place: Path) -> None:
    """Behind the loop the condition holds, or so many attempts were made: more of them are the stronger sentence."""
    loop = "iterate max {} until a == 'y'\n  hello_world\n"
    old = small(loop.format(5))
    assert compared(place, old, small(loop.format(4))).grown["weaker-gate"]
    assert not compared(place, old, small(loop.format(6))).grown["weaker-gate"]
    assert compared(place, old, small(loop.format(6))).grown["more-cost"]
    without = loop.partition(" until")[0] + "\n  hello_world\n"
    found = compared(place, small(without.format(5)), small(without.format(4)))
    assert found.differences and not any(found.grown.values())


def test_a_budget_of_a_called_plan_that_another_one_lacks_is_cost(place: Path) -> None:
    quick = small("").replace("set_plan", "budget seconds 9\nset_plan")
    (place / "quick.plan").write_text(quick, "utf-8")
    (place / "slow.plan").write_text(small(""), "utf-8")
    found = compared(place, small("call_plan quick.plan\n"), small("call_plan slow.plan\n"))
    assert found.grown["more-cost"]


def test_a_called_plan_that_may_touch_more_is_access(place: Path) -> None:
    narrow = small("").replace("set_plan", "allow read docs/**\nallow run *\nset_plan")
    (place / "narrow.plan").write_text(narrow, "utf-8")
    (place / "wide.plan").write_text(narrow.replace("docs/**", "**"), "utf-8")
    old = small("call_plan narrow.plan\n")
    for new in (small("call_plan wide.plan\n"), small("read_file docs/tea.md\n")):
        assert compared(place, old, new).grown["more-access"]
    assert not compared(place, old, small("")).grown["more-access"]


def test_brackets_and_braces_are_differences(place: Path) -> None:
    for old, new in (
        ('if a == "1" and (a == "2" or a == "3")\n  message_user x\n',
         'if (a == "1" and a == "2") or a == "3"\n  message_user x\n'),
        ("message_user {a}\nmessage_user {a}\n", "message_user {{a}}\nmessage_user {a}\n"),
    ):  # fmt: skip
        assert compared(place, small(old), small(new)).differences


RICH = PLAN.replace("set_plan", "allow write notes/a.md\nset_plan", 1).replace(
    "state <- hello_world\n",
    """\
fork item in {pages} max 7
  line <- read_file docs/tea.md
  require line else "it is empty"
  message_user {item}: {line}
again <- call_plan sub.plan what=tea depth 2
iterate max 3
  hello_world once more
  require len(pages) > 1 else "gone"
if topic == "tea"
  if len(pages) > 2
    create_file_with_block out/{topic}.md
      {topic}
state <- hello_world
""",
)
"""A plan with all that the language has for bounds, gates and capabilities."""


@pytest.mark.parametrize("step", quick_and_whole(4, 1))
def test_a_plan_that_is_weakened_anywhere_in_any_way_is_told(place: Path, step: int) -> None:
    """Each way at each place, alone and beside changes that mean nothing."""
    old, judged = side(place, RICH), Counter[str]()
    for kind, what, text in list(weakened(RICH))[::step]:
        new = holding(place, text)
        if new is None:
            continue  # the linter refuses it
        judged[what.partition(":")[0]] += 1
        assert compare(old, new).grown[kind], (kind, what)
        for other in disguised(kind, text):
            hidden = holding(place, other)
            assert hidden is None or compare(old, hidden).grown[kind], (kind, what, other)
    assert len(judged) > 25 // step, judged


@pytest.mark.soak
def test_a_shipped_plan_that_is_weakened_is_told() -> None:
    judged = 0
    for path in sorted(Path(ROOT, "plans", "library").glob("*.plan")) + sorted(
        Path(ROOT, "tooling", "fdc_packs").rglob("*.plan")
    ):
        key = path.relative_to(ROOT).as_posix()
        text = canonical(path.read_text("utf-8"))
        old = holding(Path(ROOT), text, key)
        assert old is not None
        for kind, what, new in weakened(text):
            found = holding(Path(ROOT), new, key)
            if found is not None:
                judged += 1
                if (path.name, what) not in HARMLESS:
                    assert compare(old, found).grown[kind], (key, kind, what)
    assert judged > 100


HARMLESS = {
    ("lgtm_use_tool.plan", 'no branch: if request.tool == ""'): "the branch only yields",
    ("explore_track.plan", 'another default: param deepen_above = "120"'): "the value is compared",
}
"""Changes of shipped plans that let no step do more, each with the reason."""


def holding(root: Path, text: str, key: str = "p.plan") -> Side | None:
    """A plan, where the linter has nothing against it."""
    try:
        return side(root, text, key)
    except AssertionError:
        return None


def canonical(text: str) -> str:
    plan = parse(text.encode(), "p.plan").plan
    assert plan is not None
    lines = write(plan).splitlines(keepends=True)
    return "".join(
        line
        for line in lines
        if line.strip() and (not line.lstrip().startswith("#") or line.startswith("# FSM"))
    )


SAME = [
    PLAN,
    PLAN.replace("set_plan", "# a comment\n\nset_plan"),
    PLAN.replace("  ", "    ").replace("        Tea", "      Tea"),
    PLAN.replace("list_files docs", 'list_files  "docs"'),
]
FINE = [
    PLAN.replace("pages", "found_pages"),
    PLAN.replace("max 20", "max 10"),
    PLAN.replace("steps 500", "steps 400"),
    PLAN.replace("  git_commit Tea\n", ""),
    PLAN.replace("allow net *\n", ""),
    PLAN.replace("Nothing done", "Nothing was done"),
    PLAN.replace("close_task", 'require ok else "nobody answered"\nclose_task'),
]


def test_what_means_the_same_is_no_difference(place: Path) -> None:
    old = side(place, PLAN)
    for text in SAME:
        assert compare(old, side(place, text)) == Compared([], {kind: [] for kind in GROWN}), text
    for text in FINE:
        found = compare(old, side(place, text))
        assert found.differences and not any(found.grown.values()), (text, found.grown)


GROWN = ("more-access", "more-cost", "weaker-gate")


@pytest.mark.parametrize(
    "key", ["plans/library/deep_research.plan", "tooling/fdc_packs/repair/plans/fix.plan"]
)
def test_a_shipped_plan_is_the_same_as_itself(key: str) -> None:
    one, other = side(Path(ROOT), "", key), side(Path(ROOT), "", key)
    assert compare(one, other) == Compared([], {kind: [] for kind in GROWN})
