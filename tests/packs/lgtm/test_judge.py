"""An honest judge of `fdc lgtm`: it decides only from the evidence it is shown, of true and false statements on real packages.

What decides each statement was read in the packages by hand. The judge is a script behind real HTTP; it has no other way to
know than the pieces of evidence in the request, so a false statement that stands means that the pipeline did not show it.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.explored import data
from tests.support.inside import fdc
from tests.support.lgtm import evidence_of, targets_of, thinking, unchanged, worldview


class Stated(NamedTuple):
    """A statement, whether it is true, and what lines of the package show that."""

    true: bool
    said: str
    shown_by: str


PACKAGES = {
    "click": (
        "How does click write to a terminal?",
        [
            Stated(False, "There is no function that strips ANSI codes from a text; `strip_ansi` must be written.",
                   r"def strip_ansi"),
            Stated(False, "`get_app_dir` creates the folder whose name it returns.", r"\"XDG_CONFIG_HOME\""),
            Stated(False, "click.confirm() takes silence for a yes.", r"default: bool \| None = False"),
            Stated(True, "`open_stream` refuses to append to a file atomically.", r"Appending to an existing file is not supp"),
            Stated(True, "`launch` tells the exit code of the application.", r"the exit code of the launched application"),
            Stated(True, "_expand_args expands the home folder of the user.", r"expanduser"),
        ],
    ),
    "jinja2": (
        "Which filters are there for lists?",
        [
            Stated(False, "No filter groups the items of a sequence into batches of a given number.", r"def do_batch"),
            Stated(False, "`do_random` raises IndexError for an empty sequence.", r"No random item, sequence was empty"),
            Stated(False, "Nothing calls `import_string`.", r"import_string\(extension"),
            Stated(True, "`do_truncate` cuts a text at 255 characters where no length is given.", r"length: int = 255"),
            Stated(True, "`select_autoescape` escapes in templates whose name ends with .xml.", r"\"html\", \"htm\", \"xml\""),
            Stated(True, "do_default() leaves an empty text alone unless it is told otherwise.", r"boolean: bool = False"),
        ],
    ),
    "networkx/algorithms/shortest_paths": (
        "What happens where no path exists?",
        [
            Stated(False, "`bidirectional_shortest_path` returns None where no path exists.", r"NetworkXNoPath"),
            Stated(False, "average_shortest_path_length() is 0 for the null graph.", r"NetworkXPointlessConcept"),
            Stated(False, "These modules have no A* search.", r"def astar_path"),
            Stated(True, "`shortest_path` refuses a method that it does not know.", r"method not supported|not among the supp"),
            Stated(True, "`astar_path` raises NetworkXNoPath where the target cannot be reached.", r"NetworkXNoPath"),
        ],
    ),
    "yaml": (
        "Which documents may be loaded safely?",
        [
            Stated(False, "`yaml.safe_load` constructs any Python object.", r"SafeLoader\)|only basic YAML tags"),
            Stated(False, "`yaml.dump_all` keeps mappings in the order of their keys' insertion.", r"sort_keys=True"),
            Stated(False, "construct_yaml_bool() knows only true and false.", r"'yes': +True"),
            Stated(True, "`safe_dump` writes with the SafeDumper.", r"Dumper=SafeDumper"),
            Stated(True, "A simple key is limited to a single line of 1024 characters.", r"1024 characters"),
        ],
    ),
}  # fmt: skip

LEFT = {"networkx/algorithms/shortest_paths": 1}
"""Statements whose deciding lines are not shown, so that the judge says that it cannot tell: no search knows the word `A*`."""


def judging(stated: list[Stated]) -> Any:
    def judge(body: dict[str, Any]) -> Any:
        targets, evidence = data(body)[:2]
        verdicts = []
        for ident, described in targets_of(targets):
            one = next(row for row in stated if row.said in described)
            found = [
                row["id"] for row in evidence_of(evidence) if re.search(one.shown_by, row["lines"])
            ]
            verdict = ("supported" if one.true else "disproved") if found else "undecided"
            why = "The lines say so." if found else "No line that I am shown says anything of it."
            verdicts.append(
                {"target": ident, "verdict": verdict, "analysis": why, "decisive": found[:1]}
            )
        return {"verdicts": verdicts}

    return judge


def scripted(question: str, stated: list[Stated]) -> dict[str, Any]:
    """The other answers: the statements as hypotheses, an obedient refinement, and nothing that helps the judge."""
    areas = [{"areaID": f"A_{at}", "description": row.said} for at, row in enumerate(stated, 1)]
    nothing = {"tool": "", "say": "", "args": {}}
    return {
        "agent": lambda body: {**nothing, "tool": "FileSearch", "args": {"queries": [question]}}
        if data(body)[0] == question
        else nothing,
        "areas": lambda body: {"areas": areas},
        "hypothesis": lambda body: {
            "statement": data(body)[1], "confidence": 0.9, "gapCharacterization": "g", "rationale": "r", "keyAssumptions": [],
            "validationCriteria": [], "critiquePoints": [], "questions": [], "alternativeApproaches": [],
        },
        "refined": unchanged,
        "critique": lambda body: {"points": [], "questions": []},
        "falsification": lambda body: {"queries": []},
        "evidence": judging(stated),
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_no_false_statement_stands_and_most_true_ones_do(package: str, tmp_path: Path) -> None:
    """LGTM-65, 67, 69, 71: of ten false statements none, of ten true ones nine at least, and no plan beside a false one."""
    question, stated = PACKAGES[package]
    found = importlib.util.find_spec(package.partition("/")[0])
    assert found is not None and found.origin is not None
    source = Path(found.origin).parent / package.partition("/")[2]
    shutil.copytree(
        source,
        tmp_path / source.name,
        ignore=shutil.ignore_patterns("__pycache__", "tests", "*.so"),
    )
    with thinking(**scripted(question, stated)) as (_, env):
        done = fdc("lgtm", question, cwd=tmp_path, env=env)
    assert 7 == done.returncode and "Challenge Failed. Aborting planning." in done.stdout, (
        done.stderr
    )
    rows = worldview(tmp_path)["microHypotheses"]
    assert len(stated) == len(rows), done.stderr
    lost = []
    for one, row in zip(stated, rows):
        assert (row["status"] == "Validated") <= one.true, one.said
        if row["nullChallengeOutcome"] == "Undecided":
            lost.append(one.said)
    assert len(lost) <= LEFT.get(package, 0), lost
    for row in rows:
        challenge = json.loads(
            (next((tmp_path / "runs").iterdir()) / row["nullChallengeFilePath"]).read_text("utf-8")
        )
        for attempt in challenge["falsificationAttempts"]:
            assert bool(attempt["falsificationEvidenceFound"]) == (
                attempt["outcome"] != "Undecided"
            )
