"""What the flow rule notes beside its findings: steps that leave text from outside in files."""

from __future__ import annotations

import pytest
from fdc_toolchain.certificate.data import check
from fdc_toolchain.certificate.making import make_data
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import program_of
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules.solver.flow.labels import Atom, Earlier, Labels

from tests.support.linting import findings, lint

HEAD = "# FSM: any.json\n"
WEB = HEAD + "page <- view_text_website https://example.org/\n"
PICK = "l <- list_files docs\nc <- among {page} {l}\n"


def test_of_a_name_that_nothing_binds_only_that_is_said() -> None:
    checked = lint({"a.plan": HEAD + "run_in_bash_session python3 -c '{page}'\n"}, "a.plan")
    assert [item.code for item in findings(checked)] == ["FDC311"]


@pytest.mark.parametrize(
    ("step", "mark"),
    [
        ("overwrite_file_with_block notes.md\n  {page}", "text"),
        ("overwrite_file_with_block notes.md\n  of our own", None),
        ("rename_file mail/a.md notes.md", "text"),
        (
            "replace_with_git_merge_diff mail/a.md\n  <<<<<<< SEARCH\n  a\n  =======\n  b\n  >>>>>>> REPLACE",
            None,
        ),
        ('if page == ""\n  overwrite_file_with_block {run}/x\n    ours', "choice"),
        (PICK + "overwrite_file_with_block docs/{c}\n  of our own", "choice"),
        (PICK + "delete_file {c}", "choice"),
        (PICK + "call_plan sub.plan p={c}", "choice"),
        (PICK + "t <- read_file {c}\nmessage_user {t}", None),
        ("c <- request_user_input {page}\ndelete_file {c}", None),
    ],
)
def test_a_step_that_leaves_text_from_outside_in_a_file_is_marked(
    step: str, mark: str | None
) -> None:
    settings = Settings(fsm="any.json", untrusted=("mail/**",))
    plans = {"a.plan": WEB + step + "\n", "sub.plan": "param p\ndelete_file {p}\n"}
    context = lint(plans, "a.plan", there=("mail/a.md",), settings=settings).context
    assert [what for _, what in sorted(context.marks.items())] == ([mark] if mark else [])


def test_a_finding_shows_where_the_text_comes_into_a_file_that_commands_see() -> None:
    kept = (
        WEB
        + "overwrite_file_with_block {run}/outside/p\n  {page}\nh <- request_user_input Which?\n"
    )
    copied = "t <- grep x {h}\noverwrite_file_with_block copy.md\n  {t}\nrun_in_bash_session ls\n"
    sub = "param t\noverwrite_file_with_block copy.md\n  {t}\n"
    called = "t <- grep x {h}\ncall_plan sub.plan t={t}\nrun_in_bash_session ls\n"
    for steps, wanted in ((copied, [2, 7]), (called, [2, 7])):
        checked = lint({"a.plan": kept + steps, "sub.plan": sub}, "a.plan", there=("a.txt",))
        (item,) = findings(checked, "FDC474")
        assert wanted == [label.span.line for label in item.labels], item
        assert "commands see" in item.labels[-1].message
    (item,) = findings(
        lint(WEB + "overwrite_file_with_block notes.md\n  {page}\nrun_in_bash_session ls\n"),
        "FDC474",
    )
    assert [2, 3] == [label.span.line for label in item.labels]


LOOKS = {
    "echo": ("m <- list_files docs\nrun_in_bash_session echo {m}", ["FDC471", "FDC474"]),
    "test": ("run_in_bash_session test -e docs/c.md", ["FDC474"]),
    "if": ("m <- list_files docs\nif len(m) == 1\n  submit", ["FDC472"]),
    "path": ("t <- read_file docs/c.md\nread_file {t}", ["FDC471"]),
    "search": ("t <- grep x docs\nread_file {t}", ["FDC471"]),
}


@pytest.mark.parametrize(
    ("change", "looks"),
    [
        ("delete_file {c}", ("echo", "test", "if", "search")),
        ("overwrite_file_with_block {c}\n  ours", ("echo", "test", "if", "path", "search")),
        ("restore_file {c}", ("test", "path")),
        ("rename_file {c} docs/new.md", ("echo", "search")),
        ("rename_file docs/c.md {c}", ("echo", "if")),
        ("call_plan sub.plan p={c}", ("echo", "test", "if")),
        ("d <- read_file {c}", ()),
    ],
)
def test_what_is_done_to_a_file_that_text_from_outside_chose_is_chosen_by_it(
    change: str, looks: tuple[str, ...]
) -> None:
    """Which path it is such text may choose (`among`), and not what depends on that; lint and the checker agree."""
    for name, (steps, codes) in LOOKS.items():
        if name in looks or not looks:
            plans = {
                "a.plan": WEB + PICK + f"{change}\n{steps}\n",
                "sub.plan": "param p\ndelete_file {p}\n",
            }
            checked = lint(plans, "a.plan", there=("docs/c.md", "docs/d.md"), whole=True)
            found = [item.code for item in findings(checked, "FDC471", "FDC472", "FDC474")]
            assert found == (codes if looks else []), (name, found)
            made = program_of(checked)
            if looks:
                with pytest.raises(Wrong, match="text from outside"):
                    make_data.make(made)
            else:
                assert check(made, make_data.make(made)) is None


def test_the_folder_of_a_run_may_be_named_in_part() -> None:
    """Whatever the plan writes of the run's name: it may be the name of this run."""
    ask = "h <- request_user_input Which?\n"
    for path, found in (("runs/2{h}/p.txt", True), ("runs/{h}", True), ("run/2{h}/p.txt", False)):
        write = f"overwrite_file_with_block {path}\n  {{page}}\n"
        read = "a <- read_file {run}/p.txt\nread_file {a}\n"
        checked = lint({"a.plan": WEB + ask + write + read}, "a.plan")
        assert bool(findings(checked, "FDC471")) is found, path


def test_what_is_released_is_in_no_sum_of_atoms() -> None:
    labels = Labels()
    kept = labels.bit(Atom("untrusted", Earlier("the file a", "said"), frozenset()))
    sums = ("given", "tainting", "outside", "lasting", "refusing")
    before = {name: str(getattr(labels, name)) for name in sums}
    mark = labels.mark()
    labels.bit(Atom("untrusted", Earlier("the file b", "said"), frozenset()))
    labels.stands_for("page")
    assert all(str(getattr(labels, name)) != before[name] for name in sums)
    labels.release(mark)
    assert before == {name: str(getattr(labels, name)) for name in sums}
    trusted = labels.bit(Atom("workspace", Earlier("the file c", "said"), frozenset()))
    assert trusted != kept and not trusted & (labels.outside | labels.given)


def test_each_call_that_gives_text_from_outside_is_told() -> None:
    """Also one that is the same as a call before it, of which nothing is found out anew."""
    plan = "page <- view_text_website https://e.org\n" + "call_plan b.plan p={page}\n" * 3
    found = lint({"a.plan": plan, "b.plan": "param p\nview_text_website {p}\n"}, "a.plan")
    assert [item.span.line for item in findings(found, "FDC471")] == [2, 3, 4]


@pytest.mark.parametrize(
    ("turns", "codes"), [("p={q} q=ls", ["FDC471", "FDC474"]), ("p=ls q={q}", [])]
)
def test_what_a_plan_that_calls_itself_is_given_is_followed_round_after_round(
    turns: str, codes: list[str]
) -> None:
    """The text from outside is no command in the first round: it is what the second round is given for one."""
    inner = f"param p\nparam q\nrun_in_bash_session {{p}}\ncall_plan s.plan {turns} depth 3\n"
    plans = {"a.plan": WEB + "call_plan s.plan p=ls q={page}\n", "s.plan": HEAD + inner}
    assert [item.code for item in findings(lint(plans, "a.plan"))] == codes
