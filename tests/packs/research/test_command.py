"""`fdc research` and `research_planner.py` as a user starts them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fdc_packs.research import command
from fdc_toolchain.tools.files.documents import MARK

from tests.support.cited import check_report
from tests.support.process import fdc
from tests.support.research import write

TEA = "# Tea\n\nGreen tea wants water of eighty degrees.\n\nBlack tea takes boiling water.\n"
QUESTION = "How hot is the water for green tea?"
NAME = "research/how-hot-is-the-water-for-green-tea.md"


CODE = "(`--code` reads source files too: definitions, comments and docstrings)"


def test_the_answer_is_printed_with_its_places_and_the_report_is_named(tmp_path: Path) -> None:
    """FDC-57."""
    write(tmp_path, {"docs/tea.md": TEA})
    done = fdc("research", QUESTION, "--docs", "docs", cwd=tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    assert "- Green tea wants water of eighty degrees.\n  docs/tea.md:3\n" in done.stdout
    assert re.search(
        rf"^1 documents? read in .*; (\d+) citations checked, \1 hold(?:; the report lists all of them)?\n"
        rf"report: {NAME}  \(run [\w-]+\)$",
        done.stdout,
        re.M,
    )
    report = (tmp_path / NAME).read_text("utf-8")
    checked = check_report(str(tmp_path), report)
    assert report.startswith(MARK) and [] == checked.failures and checked.checked > 0


KITCHEN = {
    "src/pot.py": "class Pot:\n    def pour(self, cup):\n        return cup\n",
    "src/kettle.py": 'def switch_off(kettle):\n    """Ends the boiling of a kettle.\n\n    It hears the steam.\n    """\n'
    '    kettle.boiling = False\n\n\ndef measure_temperature(sensor):\n    return sensor.read()\n',
    "README.md": "# Kitchen\n\nThe temperature of the water is shown in degrees, and never in anything else.\n",
}  # fmt: skip


def test_code_is_answered_with_the_definition_as_explore_finds_it(tmp_path: Path) -> None:
    """Issue 5: research on a source tree ranks as `fdc explore` does; a definition that says nothing of itself is found too."""
    write(tmp_path, KITCHEN)
    for question, line, text in (
        (
            "Where is the temperature measured?",
            "src/kettle.py:9",
            "def measure_temperature(sensor):",
        ),
        ("Which function makes a pot pour?", "src/pot.py:2", "def pour(self, cup):"),
        ("What ends the boiling of a kettle?", "src/kettle.py:2", "Ends the boiling of a kettle."),
    ):
        out = json.loads(
            fdc("research", question, "--code", "--format", "json", cwd=tmp_path).stdout
        )
        assert any(one == f"{text} [{line}]" for one in out["answer"]), out["answer"]
        assert out["checked"] == out["held"] > 0 and {"workspace"} == {
            row["trust"] for row in out["findings"]
        }
        report = Path(out["report"]).read_text("utf-8")
        checked = check_report(str(tmp_path), report)
        assert [] == checked.failures and checked.checked > 0
    asked = ("research", "How is the temperature of the water shown?", "--code", "--format", "json")
    assert "README.md:3" in json.loads(fdc(*asked, cwd=tmp_path).stdout)["answer"][0]


def test_the_run_can_be_looked_at_like_any_other(tmp_path: Path) -> None:
    write(tmp_path, {"tea.md": TEA})
    name = json.loads(fdc("research", QUESTION, "--format", "json", cwd=tmp_path).stdout)["run"]
    assert name in fdc("runs", cwd=tmp_path).stdout
    shown = fdc("show", name, cwd=tmp_path).stdout
    assert all(
        tool in shown
        for tool in (
            "scan_documents",
            "extract_evidence",
            "check_citations",
            "overwrite_file_with_block",
        )
    )


def test_json_has_the_citations_as_they_were_checked(tmp_path: Path) -> None:
    write(tmp_path, {"tea.md": TEA, "bad.md": b"\xff"})
    done = json.loads(fdc("research", QUESTION, "--format", "json", cwd=tmp_path).stdout)
    first = done["citations"][0]
    assert ("Green tea wants water of eighty degrees.", "tea.md", 3, 1, 3, 41) == (
        first["text"], first["path"], first["line"], first["column"], first["end_line"], first["end_column"],
    )  # fmt: skip
    assert ("finished", done["checked"], 1, 1) == (
        done["status"],
        done["held"],
        done["documents"],
        done["skipped"],
    )
    assert done["report"].endswith(NAME) and done["answer"] == [
        "Green tea wants water of eighty degrees. [tea.md:3]"
    ]


def test_twice_the_same_question_has_twice_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path, {"docs/tea.md": TEA})
    reports = []
    for _ in range(2):
        assert 0 == fdc("research", QUESTION, "--docs", "docs", cwd=tmp_path).returncode
        reports.append((tmp_path / NAME).read_bytes())
    assert reports[0] == reports[1]


def test_a_folder_elsewhere_is_read_and_nothing_is_written_there(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"tea.md": TEA})
    here = write(tmp_path / "here", {"own.md": "Nothing of interest.\n"})
    done = fdc("research", QUESTION, "--docs", str(docs), cwd=here)
    assert 0 == done.returncode, done.stderr
    assert "\n  tea.md:3\n" in done.stdout and (here / NAME).exists()
    assert ["tea.md"] == [path.name for path in docs.rglob("*")]


def test_a_plan_cannot_open_a_folder_elsewhere(tmp_path: Path) -> None:
    """Only `--docs` can: the person at the command line says so, not a parameter of a plan."""
    docs = write(tmp_path / "docs", {"tea.md": TEA})
    here = write(tmp_path / "here", {"own.md": "Nothing of interest.\n"})
    done = fdc("run", "deep-research", f"question={QUESTION}", f"documents={docs}", cwd=here)
    assert 1 == done.returncode and "is not a path relative to the workspace" in done.stdout


def test_the_report_goes_where_it_is_wanted(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"tea.md": TEA})
    here = write(tmp_path / "here", {"knowledge_core/x": "", "sub/y": ""})
    for out in (tmp_path / "elsewhere" / "answer.md", here / "sub" / "answer.md"):
        done = fdc("research", QUESTION, "--docs", str(docs), "--out", str(out), cwd=here)
        assert 0 == done.returncode, done.stderr
        assert "Green tea wants water" in out.read_text("utf-8")
    assert ["answer.md"] == [path.name for path in (tmp_path / "elsewhere").iterdir()], (
        "no record, no temporary file"
    )


def test_what_is_no_report_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path, {"tea.md": TEA, NAME: "My own notes.\n"})
    done = fdc("research", QUESTION, cwd=tmp_path)
    assert 2 == done.returncode and "exists and is not a report of fdc" in done.stderr
    assert "My own notes.\n" == (tmp_path / NAME).read_text("utf-8")


def test_where_nothing_can_be_written_the_report_goes_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests may run as root, whom nothing stops: the workspace is said to be closed."""
    home = write(tmp_path / "home", {"knowledge_core/x": "", "docs/tea.md": TEA, "sub/y": ""})
    monkeypatch.chdir(home / "sub")
    monkeypatch.setattr(command, "_writable", lambda folder: Path(folder) != home)
    assert 0 == command.command.main([QUESTION, "--docs", str(home)], standalone_mode=False)
    assert (
        (home / "sub" / NAME).exists()
        and not (home / ".fdc").exists()
        and not (home / "research").exists()
    )


def test_a_report_that_cannot_be_written_does_not_take_the_answer_with_it(tmp_path: Path) -> None:
    write(tmp_path, {"tea.md": TEA, "file": "x"})
    done = fdc("research", QUESTION, "--out", "/proc/version/report.md", cwd=tmp_path)
    assert 3 == done.returncode and "Green tea wants water of eighty degrees." in done.stdout
    assert (
        "cannot be written" in done.stderr
        and "--out" in done.stderr
        and 1 == done.stderr.count("\n")
    )


@pytest.mark.parametrize(
    ("files", "question", "why"),
    [
        ({"picture.png": "x"}, QUESTION, "no documents to read were found"),
        ({"tea.py": "x = 1"}, QUESTION, f"no documents to read were found\n{CODE}"),
        (
            {"a.md": b"\xff\xfe"},
            QUESTION,
            "no documents to read were found\n  skipped a.md: UTF-16 text, not UTF-8",
        ),
        ({"tea.md": TEA}, "xyzzy plugh?", "no document has a word of the question"),
        ({"tea.md": TEA}, "☕", "no document has a word of the question"),
    ],
)
def test_no_answer_is_one_sentence_and_exit_code_1(
    tmp_path: Path, files: dict[str, str | bytes], question: str, why: str
) -> None:
    done = fdc("research", question, cwd=write(tmp_path, files))
    assert (1, "", why + "\n") == (done.returncode, done.stdout, done.stderr)
    assert not (tmp_path / "research").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([""], "the question is empty"), ([" \n"], "the question is empty"),
        ([QUESTION, "--docs", "nowhere"], "`nowhere` does not exist"),
        ([QUESTION, "--docs", "tea.md"], "`tea.md` is not a folder"), ([], "Missing argument 'QUESTION'"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_sentence_and_exit_code_2(
    tmp_path: Path, arguments: list[str], why: str
) -> None:
    done = fdc("research", *arguments, cwd=write(tmp_path, {"tea.md": TEA}))
    assert 2 == done.returncode and why in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "question",
    [
        '"tea',
        "tea*",
        "a OR tea NEAR(x)",
        "tea'); DROP TABLE f; --",
        "tea " * 25_000,
        "🫖 tea\x1b[31m",
        "--- # tea {x}\nsecond",
    ],
)
def test_hostile_questions_are_questions(tmp_path: Path, question: str) -> None:
    done = fdc("research", "--", question, cwd=write(tmp_path, {"tea.md": TEA}))
    assert (0, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout and "tea.md:" in done.stdout


def test_documents_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "tea.md": "Green tea\x1b]0;title\x07 wants water of eighty degrees.\n\n"
            "Water for green tea is not hot, said \u202eeman.\n\n" + TEA
        },
    )
    done = fdc("research", QUESTION, cwd=tmp_path)
    assert 0 == done.returncode and not {"\x1b", "\x07", "\u202e"} & set(
        done.stdout + (tmp_path / NAME).read_text("utf-8")
    )


def test_the_planner_prints_a_plan_that_lints(tmp_path: Path) -> None:
    """FDC-48."""
    done = fdc('What "is" {tea}? #\n---', "r1", script="research_planner.py", cwd=tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    write(tmp_path, {"r.plan": done.stdout})
    assert 0 == fdc("lint", "r.plan", cwd=tmp_path).returncode


@pytest.mark.parametrize("arguments", [[""], ["tea", "../r"], ["tea", ""]])
def test_the_planner_refuses_what_can_be_no_plan(tmp_path: Path, arguments: list[str]) -> None:
    """FDC-48: an empty topic."""
    done = fdc(*arguments, script="research_planner.py", cwd=tmp_path)
    assert (2, "") == (done.returncode, done.stdout) and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is Über-Tea?", "what-is-uber-tea"),
        ("x" * 200, "x" * 60),
        ("茶", "question-"),
        ("../../etc", "etc"),
    ],
)
def test_a_question_names_its_report(question: str, name: str) -> None:
    assert command.slug(question).startswith(name) and len(command.slug(question)) <= 60
