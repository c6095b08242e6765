"""The benchmarks run, on a corpus too small to mean anything, and their corpora are what they say."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks import engine, measure, page, shapes
from benchmarks.corpus import python_file, write_others, write_plans, write_workspace, yaml_file
from benchmarks.environment import current
from benchmarks.rows import Row, Session
from tests.support import process
from tests.support.repository import ROOT


@pytest.mark.long
def test_every_measurement_runs_on_a_tiny_corpus(tmp_path: Path) -> None:
    """A benchmark that no one runs rots; this one needs no network and no tool but fdc."""
    target = tmp_path / "page.md"
    target.write_text(f"# Of an earlier run\n\n{engine.HEADING}\nits figures\n", "utf-8")
    done = process.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--here", "--output", target], cwd=ROOT
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    text = target.read_text("utf-8")
    assert "Warm output equalled cold output byte for byte in all" in text
    assert "Of an earlier run" not in text
    assert text.endswith(f"\n\n{engine.HEADING}\nits figures\n"), (
        "the engine is measured by another command"
    )
    rows = json.loads(target.with_suffix(".json").read_text("utf-8"))["rows"]
    assert {"P1", "P3", "P4", "P5", "P6", "P7"} <= {row["id"] for row in rows}
    assert all(row["wall"]["median"] > 0 and 1 == row["cpu"]["count"] for row in rows)


def test_the_page_has_the_figures_of_the_engine() -> None:
    """The page is written by two commands; `docs/comparison.md` sends its readers there for these figures."""
    assert "a durable step / LangGraph" in engine.kept(ROOT / "docs" / "benchmarks.md")


def test_the_plans_of_the_corpus_lint_clean_and_are_the_same_every_time(tmp_path: Path) -> None:
    texts = {}
    for name in ("one", "two"):
        write_workspace(tmp_path / name)
        texts[name] = write_plans(tmp_path / name, 40, seed=7)
    done = process.fdc("lint", "--no-cache", cwd=tmp_path / "one")
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    said = [line for line in done.stdout.split("\n") if line]
    fragments = [
        f"plans/fragment_{number}.plan: a fragment of `fdc_fsm`: from `EXECUTING` to `EXECUTING`"
        for number in range(4)
    ]
    assert fragments == said[:-1] and re.match(
        r"36 plans proved, 4 fragments(, \d+ assumptions? .*)?$", said[-1]
    ), said[-1]
    assert texts["one"] == texts["two"]
    assert 40 == len(set(texts["one"]))
    assert 40 < sum(text.count("\n") for text in texts["one"]) / 40 < 60


def test_a_corpus_with_findings_has_one_in_each_plan(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    write_plans(tmp_path, 40, seed=7, finding=True)
    done = process.fdc("lint", "--no-cache", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)["diagnostics"]
    assert 40 == len({item["path"] for item in found}) == len(found)


def test_the_other_corpora_have_as_many_lines_as_the_plans(tmp_path: Path) -> None:
    texts = ["x\n" * lines for lines in (12, 49, 55)]
    write_others(tmp_path, texts, seed=7)
    for folder in ("py", "yaml"):
        counts = [
            path.read_text("utf-8").count("\n") for path in sorted((tmp_path / folder).iterdir())
        ]
        assert [12, 49, 55] == counts
    assert python_file(Random(1), 50) != python_file(Random(2), 50)
    assert yaml_file(Random(1), 50) != yaml_file(Random(2), 50)


@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_long_plans_of_every_shape_lint_clean(shape: str, tmp_path: Path) -> None:
    write_workspace(tmp_path)
    path = shapes.write_long(tmp_path, shape, 120, seed=3)
    assert 90 < (tmp_path / path).read_text("utf-8").count("\n") < 150
    assert 0 == process.fdc("lint", "--no-cache", path, cwd=tmp_path).returncode


def test_the_call_tree_is_as_deep_as_a_stack_may_be(tmp_path: Path) -> None:
    tree, flat = shapes.write_tree(tmp_path, 10, 10, 50)
    assert 0 == process.fdc("lint", "--no-cache", *tree, *flat, cwd=tmp_path).returncode
    texts = [(tmp_path / path).read_text("utf-8") for path in tree]
    assert [10] * 9 + [0] == [text.count("call_plan") for text in texts]


def test_a_spread_is_of_the_ratios_and_not_a_ratio_of_averages() -> None:
    slow = [measure.Sample(2, 4), measure.Sample(20, 40), measure.Sample(3, 6)]
    fast = [measure.Sample(1, 1), measure.Sample(10, 20), measure.Sample(1, 3)]
    assert 2 == measure.ratio(slow, fast).median
    assert measure.Spread(2, 2, 3.6, 3) == measure.ratio(slow, fast, cpu=True)._replace(p90=3.6)
    assert measure.Spread(3, 1.4, 4.6, 5) == measure.spread([5, 1, 2, 3, 4])


def test_a_command_that_ends_otherwise_than_it_must_stops_the_run(tmp_path: Path) -> None:
    command = measure.Command((sys.executable, "-c", "raise SystemExit(3)"), tmp_path)
    with pytest.raises(measure.Unexpected, match="ended with 3"):
        measure.run(command, {})


def test_a_goal_is_judged_by_cpu_time_where_the_machine_is_crowded(tmp_path: Path) -> None:
    one = measure.Spread(1.0, 1.0, 1.0, 3)
    row = Row("P1", "what", "1 ms", "beside", "x", one._replace(median=2.0), one, 1.5)
    assert (False, True) == (row.met(by_cpu=False), row.met(by_cpu=True))
    session = Session(current(), tmp_path, rows=[row], loads=[99.0, 99.0, 0.0])
    assert "| <= 1.5 | yes |" in page.page(session, "")
    session.loads[0] = 0.0
    assert "| <= 1.5 | **no** |" in page.page(session, "")
