"""Real bugs as a user meets them: the newer release with the older code and its test files; `fdc fix`; the whole suite judges.

`python -m benchmarks.repair.real PYTHON FOLDER` repairs what `mine` has found and `real_bugs.json` calls a bug, and writes into
that file what came of it; `--add` first puts there what FOLDER/pairs.jsonl has, to be read: `bug` is null until a person has.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import environment
from . import cases, mine, releases, run

READ = Path(__file__).with_name("real_bugs.json")
"""`pairs` that were mined (package, old, new, tests that ran, red ones, parts that mend one, `large` where that was
why it was left out), and the accepted candidates: the
releases, the `functions` that the authors changed and the `hunks` of their diff (file, first line from 0, end: the text is in the
releases), the red test and what it says, the `command` that fdc fix is given; `bug` says whether it is one, `said` what it is,
`result` what came, `seen` that a bug of the half that is held out was read when operators were added."""
MOST_LEFT_OUT = 60
EARLIER, DAYS, TIME = 29, "2026-12-03", 330
"""Pairs that were mined before 2026-11-30; the days of the last measurements, and the seconds that a repair had then."""
ITERATIONS = 12
VERDICTS = ("right", "wrong", "choice shown", "given up")
_KEPT = (
    "package",
    "old",
    "new",
    "functions",
    "hunks",
    "added",
    "removed",
    "test",
    "error",
    "mended",
    "red",
)


def load() -> dict[str, Any]:
    """What was mined, read and judged so far."""
    found: dict[str, Any] = json.loads(READ.read_text("utf-8"))
    return found


def save(known: Mapping[str, Any]) -> None:
    """Keeps it."""
    cases.replace(READ, json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def add(known: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds mined pairs, with their accepted candidates, that are not there yet."""
    for row in rows:
        pair = [row["package"], row["old"], row["new"]]
        if pair in [one[:3] for one in known["pairs"]]:
            continue
        counted = [row.get("tests", 0), row.get("red", 0), len(row["cases"])]
        known["pairs"].append([*pair, *counted, *(["large"] if row.get("why") == "large" else [])])
        for case in row["cases"]:
            whole = {**row, **case}
            if case["accept"]:
                kept = {name: whole[name] for name in _KEPT}
                kept["error"] = str(kept["error"]).split("\n")[0][:200]
                known["candidates"].append(
                    {**kept, "command": command(whole), "bug": None, "said": "", "result": None}
                )


def command(case: Mapping[str, Any]) -> str:
    """The test files of what is red, without the tests that are red for other reasons, or the red tests alone."""
    base = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider -o addopts= -o filterwarnings=default"
    files = sorted({one.split("::")[0] for one in case["mended"]})
    left_out = [one for one in case["red"] if "\n" not in one]
    if len(left_out) > MOST_LEFT_OUT or len(left_out) < len(case["red"]):
        named = sorted({one if "\n" not in one else one.split("[")[0] for one in case["mended"]})
        return " ".join((base, *map(shlex.quote, named)))
    without = (f"--deselect={shlex.quote(one)}" for one in left_out)
    return " ".join((base, *map(shlex.quote, files), *without))


def lay_out(case: Mapping[str, Any], python: str, sources: Path, folder: Path) -> mine.Tree:
    """The newer release with the older code."""
    shutil.rmtree(folder, ignore_errors=True)
    pair = releases.Pair(case["package"], case["old"], case["new"])
    tree = mine.Tree(pair, python, sources, folder)
    tree.lay(tree.old)
    own = folder / f"{pair.package}-0.dist-info"
    shutil.copytree(own, tree.folder / own.name)
    (tree.folder / "knowledge_core").mkdir(exist_ok=True)
    return tree


def repair(
    case: Mapping[str, Any], python: str, sources: Path, folder: Path, seconds: float
) -> dict[str, Any]:
    """What `fdc fix` makes of a case in so many seconds, and what its diff is worth."""
    tree = lay_out(case, python, sources, folder)
    tops = {name.split("/")[0] for name in tree.old}
    named = sorted(
        tree.prefix + one for one in tops if (tree.folder / (tree.prefix + one)).exists()
    )
    path = str(Path(python).parent)
    done = run.fix(
        tree.folder, case["command"], named, ITERATIONS, [], folder / "cache", path, seconds
    )
    said = done.said
    shown = [str(row.get("diff") or "") for row in said.get("choices") or ()]
    diff = str(said.get("diff") or "") if done.exit_code == 0 else ""
    wanted = passing(case, python, sources, folder) if diff or shown else set()
    if (diff or shown) and not wanted:
        raise RuntimeError("no test passes with the authors' patch: nothing is judged")
    lost = lost_with(case, python, sources, folder, wanted, diff) if diff else []
    verdict = "choice shown" if shown else "given up"
    if diff:
        verdict = "wrong" if lost else "right"
    right = [at for at, one in enumerate(shown) if one and not lost_with(case, python, sources, folder, wanted, one)]  # fmt: skip
    shutil.rmtree(folder, ignore_errors=True)
    choices = [row["claim"] for row in said.get("choices") or ()]
    return {"verdict": verdict, "lost": lost[:8], "ended": done.ended, "seconds": done.seconds, "probes": said.get("probes"),
            "iterations": said.get("iterations"), "fdc": _commit(), "diff": said.get("diff"), "choices": choices,
            "right": right}  # fmt: skip


def _commit() -> str:
    """Of which commit fdc is, so that a result says what it was of."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=environment.ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    return done.stdout.strip()


def passing(case: Mapping[str, Any], python: str, sources: Path, folder: Path) -> set[str]:
    """The tests and doctests of the whole release that pass with the authors' patch, in each of two runs.

    Some packages name a test by the time at which it is collected: it has another name in the next run, and says nothing.
    What the command leaves out is red for another bug, which the authors' patch may mend by chance: it is not asked.
    """
    work = folder / "judge"
    tree = lay_out(case, python, sources, work)
    tree.lay(tree.texts(at for at, one in enumerate(tree.hunks) if list(one[:3]) in case["hunks"]))
    runs = [mine.passed(mine.outcomes(python, tree.folder, work, doctests=True)) for _ in range(2)]
    words = shlex.split(case["command"])
    return set.intersection(*map(set, runs)) - {
        one.removeprefix("--deselect=") for one in words if one.startswith("--deselect=")
    }


def lost_with(
    case: Mapping[str, Any], python: str, sources: Path, folder: Path, wanted: set[str], diff: str
) -> list[str]:
    """Which of the `wanted` tests do not pass with a patch.

    A patch that changes a test, or another file beside the package's code, is wrong whatever passes.
    What fails is run once more by itself, for load is no defect.
    """
    changed = {line[6:].strip() for line in diff.split("\n") if line.startswith("+++ b/")}
    work = folder / "judge"
    tree = lay_out(case, python, sources, work)
    if not {one.removeprefix(tree.prefix) for one in changed} <= tree.old.keys():
        return ["the patch changes what is no code of the package"]
    if problem := _applied(tree, diff, work):
        return [problem]
    lost = sorted(wanted - mine.passed(mine.outcomes(python, tree.folder, work, doctests=True)))
    if lost and len(lost) <= 50:
        again = mine.passed(mine.outcomes(python, tree.folder, work, lost, True))
        lost = sorted(set(lost) - again)
    return lost


def _applied(tree: mine.Tree, patch: str, work: Path) -> str:
    """Applies a diff with git; what is wrong with it, or nothing."""
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-p1"], cwd=tree.folder, input=patch.encode(), capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(work)},
    )  # fmt: skip
    return f"the patch does not apply: {done.stderr.decode()[:200]}" if done.returncode else ""


def section() -> list[str]:
    """The lines of the page: every figure from `real_bugs.json`."""
    known = load()
    read = [one for one in known["candidates"] if one["bug"] is not None]
    bugs = [one for one in read if one["bug"]]
    judged = [one for one in bugs if one["result"]]
    count = Counter(one["result"]["verdict"] for one in judged)
    claimed = count["right"] + count["wrong"]
    packages = len({one[0] for one in known["pairs"]})
    parts, within = sum(one[5] for one in known["pairs"]), len(known["candidates"])
    ran = sum(one[3] > 0 for one in known["pairs"])
    large = sum(one[-1] == "large" for one in known["pairs"])
    late = sum(one["result"]["ended"] == run.LATE for one in judged)
    limits = f"{mine.ADDED} lines added, {mine.FUNCTIONS} functions, no new name"
    seen = sum(bool(one.get("seen")) for one in bugs)
    held = sum(bool(one["result"].get("right")) for one in judged)
    shown = f"{held} of {count['choice shown']} cases" if count["choice shown"] else ""
    counted = ", ".join(f"{count[one]} {one}" for one in VERDICTS)
    out = [
        "## Real bugs",
        "",
        f"{len(known['pairs'])} pairs of consecutive releases of {packages} packages were mined; `benchmarks/repair/releases.py`",
        f"names 25, before anybody had looked. The first {EARLIER} pairs were mined earlier; on 2026-11-30 older releases of the",
        f"same packages were added, the newest first, until 30 bugs had been read. Of {', '.join(releases.SLOW)}, whose suites",
        f"take longest, only the first pairs were mined, and of the added pairs none with more than {mine.LARGEST} changed",
        f"places (hunks) of code: {large} were left out for that.",
        "The newer release's tests were put beside the older code, and the smallest part of the diff was searched that makes a",
        "red test green, for a bounded time. Of pairs that differ only in code and test files, the tests that changed were run,",
        "and of others the whole suite. A part within the bounds that breaks a test of these files, or of the suite, is none.",
        f"The tests of {ran} pairs ran here. Of {parts} such parts {within} are within bounds ({limits}).",
        f"Each was read: {len(bugs)} are bugs, {len(read) - len(bugs)} are none, {within - len(read)} are not read yet.",
        "`fdc fix` is given the test files of what is red, and the package; it has no model. *Right*: every test and doctest of",
        "the newer release passes that passes with the authors' own part of the diff.",
        "The packages are of two halves by a digest of their names: fdc was changed with the bugs of the tuning half in view,",
        "those that are held out were only read for being bugs. Bugs of that half whose authors' change was read when operators",
        f"were added count as tuning since: {seen} of these bugs. `benchmarks/repair/real_bugs.json` has them with file,",
        "function, red test and command; bugs without a result were not run.",
        f"They were measured on {DAYS}, two at a time, while tests of fdc ran beside them; a repair had {TIME} seconds,",
        f"and {late} were stopped then and count as given up. Earlier versions of fdc had met the same bugs; the file says",
        "of each by which commit its result is. A test that has another name in a second run of the authors' version",
        "(some packages name tests by the time of day) is not asked, nor is one that the command leaves out, since another",
        "bug makes it red.",
        *(
            [
                f"Where a choice is shown, each shown edit is judged, too: right edits were among them in {shown}."
            ]
            if shown
            else ()
        ),
        "",
        f"**{len(judged)} bugs were measured (asked for: 30): {counted}.**",
        f"**Of {claimed} repairs that were claimed {count['right']} are right.**",
        *(f"Of those {half}: {_counted(judged, half)}." for half in ("tuning", "held out")),
        "",
        "| release | half | what is wrong | lines the authors changed | result | fdc's change |",
        "|---|---|---|---|---|---|",
    ]
    for one in bugs:
        size = one["added"] + one["removed"]
        result = one["result"] or {"verdict": "not run", "diff": "", "fdc": "none"}
        verdict = result["verdict"] + (", out of time" if result.get("ended") == run.LATE else "")
        verdict += "" if result.get("fdc") else ", by an earlier fdc"
        change = " ".join(
            line.strip() for line in (result["diff"] or "").split("\n")
            if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")
        )  # fmt: skip
        change = change.replace("|", "\\|").replace("`", "'")
        change = f"`{change[:120]}`" if change else ""
        out.append(
            f"| {one['package']} {one['old']} | {half_of(one)} | {one['said']} | {size} |"
            f" {verdict}{result.get('note', '')} | {change} |"
        )
    return [*out, ""]


def half_of(bug: Mapping[str, Any]) -> str:
    """`tuning` or `held out`: what operators were written for is held out no more."""
    return "tuning" if bug.get("seen") else releases.half(bug["package"])


def _counted(judged: Sequence[Mapping[str, Any]], half: str) -> str:
    of_half = [one["result"]["verdict"] for one in judged if half_of(one) == half]
    return ", ".join(f"{of_half.count(one)} {one}" for one in VERDICTS)


def publish(page: Path) -> None:
    """Puts the section anew into the page, before its last line."""
    text = page.read_text("utf-8")
    last = text.rindex("\nPython ") + 1
    head = text[:last].partition("## Real bugs\n")[0]
    page.write_text("\n".join([head.rstrip(), "", *section(), text[last:]]), "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Repairs the bugs that have no result yet. Returns the exit code: 0."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.repair.real")
    reader.add_argument("python")
    reader.add_argument("folder", type=Path)
    reader.add_argument("--add", action="store_true", help="take what was mined")
    reader.add_argument("--half", choices=("tuning", "held out"), help="only these bugs")
    reader.add_argument("--anew", action="store_true", help="also those that have a result")
    reader.add_argument("--only", default="", help="only bugs of this package")
    reader.add_argument("--seconds", type=float, default=run.LONGEST, help="that a repair may take")
    options = reader.parse_args(arguments)
    known = load() if READ.exists() else {"pairs": [], "candidates": []}
    if options.add:
        rows = (options.folder / "pairs.jsonl").read_text("utf-8").splitlines()
        add(known, [json.loads(line) for line in rows])
        save(known)
    wanted = [
        one for one in known["candidates"]
        if one["bug"] and (options.anew or not one["result"]) and options.half in (None, half_of(one))
        and options.only in ("", one["package"])
    ]  # fmt: skip
    for case in wanted:
        place = options.folder / f"real-{os.getpid()}"
        try:
            result = repair(
                case, options.python, options.folder / "sources", place, options.seconds
            )
        except RuntimeError as problem:  # no result: it is run again the next time
            print(case["package"], case["new"], str(problem)[-300:], flush=True)
            continue
        known = load()  # a person may have read more since
        for one in known["candidates"]:
            if all(one[name] == case[name] for name in ("package", "new", "test")):
                one["result"] = result
        save(known)
        print(case["package"], case["new"], case["test"], result["verdict"], flush=True)
    publish(environment.ROOT / "docs" / "benchmarks-repair.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
