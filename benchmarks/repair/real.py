"""Real bugs as a user meets them: the newer release with the older code, its test files, `fdc fix`; judged by the whole suite.

`python -m benchmarks.repair.real PYTHON FOLDER [--half tuning] [--jobs 2]` repairs what `mine` has found and `real_bugs.json` calls
a bug, and writes FOLDER/results-CODE.jsonl.
"""

from __future__ import annotations

import argparse
import ast
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from . import mine, releases, run

READ = Path(__file__).with_name("real_bugs.json")
"""The accepted candidates, each read by a person: `bug` says whether it is one, `said` what it is."""
MOST_LEFT_OUT = 60


def command(case: Mapping[str, Any]) -> str:
    """The test files of what is red, without the tests that are red for other reasons; or these tests alone where that is long."""
    base = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider -o addopts= -o filterwarnings=default"
    files = sorted({one.split("::")[0] for one in case["mended"]})
    left_out = [one for one in case["red"] if "\n" not in one]
    if len(left_out) > MOST_LEFT_OUT or len(left_out) < len(case["red"]):
        named = sorted({one if "\n" not in one else one.split("[")[0] for one in case["mended"]})
        return " ".join((base, *(shlex.quote(one) for one in named)))
    return " ".join((base, *(shlex.quote(one) for one in files), *(f"--deselect={shlex.quote(one)}" for one in left_out)))


def lay_out(case: Mapping[str, Any], python: str, sources: Path, folder: Path) -> mine.Tree:
    """The newer release with the older code, and the plugin beside it."""
    pair = releases.Pair(case["package"], case["old"], case["new"])
    tree = mine.Tree(pair, python, sources, folder)
    tree.lay(tree.old)
    own = folder / f"{pair.package}-0.dist-info"
    shutil.copytree(own, tree.folder / own.name)
    (tree.folder / "knowledge_core").mkdir()
    return tree


def code_folders(tree: mine.Tree) -> list[str]:
    """What the user of `fdc fix` names: the package."""
    tops = {name.split("/")[0] for name in tree.old}
    return sorted(tree.prefix + one for one in tops if (tree.folder / (tree.prefix + one)).exists())


def repair(case: Mapping[str, Any], python: str, sources: Path, folder: Path, iterations: int) -> dict[str, Any]:
    """What `fdc fix` makes of a case, and what its diff is worth."""
    shutil.rmtree(folder, ignore_errors=True)
    tree = lay_out(case, python, sources, folder)
    done = run.fix(tree.folder, command(case), code_folders(tree), iterations, [], folder / "cache", str(Path(python).parent))
    said = done.said
    verdict, lost, same = "given up", [], False
    if done.exit_code == 0 and said.get("diff"):
        verdict, lost, same = judge(case, python, sources, folder, str(said["diff"]))
    elif said.get("choices"):
        verdict = "choice shown"
    shutil.rmtree(folder, ignore_errors=True)
    return {"package": case["package"], "new": case["new"], "test": case["test"], "verdict": verdict, "same": same, "lost": lost[:8],
            "ended": done.ended, "exit_code": done.exit_code, "seconds": done.seconds, "probes": said.get("probes"),
            "iterations": said.get("iterations"), "diff": said.get("diff"), "choices": said.get("choices"),
            "notes": said.get("notes"), "history": said.get("history")}  # fmt: skip


def judge(case: Mapping[str, Any], python: str, sources: Path, folder: Path, diff: str) -> tuple[str, list[str], bool]:
    """`right` or `wrong`, the tests that the newer release's authors' patch passes and this does not, and whether the code is theirs.

    The suite and the doctests of all modules; what fails is run once more by itself, for load is no defect.
    """
    texts = []
    wanted: set[str] = set()
    found: dict[str, list[str]] = {}
    for patch in (case["diff"], diff):
        work = folder / "judge"
        tree = lay_out(case, python, sources, work)
        applied = subprocess.run(["git", "apply", "--whitespace=nowarn", "--unsafe-paths", "-p1"], cwd=tree.folder, input=patch.encode(),
                                 capture_output=True, check=False, env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(work)})  # fmt: skip
        if applied.returncode:
            return "wrong", [f"does not apply: {applied.stderr.decode()[:200]}"], False
        texts.append({name: ast.dump(ast.parse(text)) for name, text in mine.code(tree.folder).items() if mine.meaning(text)})
        found = mine.outcomes(python, tree.folder, work, doctests=True)
        wanted = wanted or mine.passed(found)
        lost = sorted(wanted - mine.passed(found))
        if lost:
            again = mine.outcomes(python, tree.folder, work, lost[:50], doctests=True)
            lost = sorted(set(lost) - mine.passed(again))
    return "wrong" if lost or not wanted else "right", lost, texts[0] == texts[1]


def main(arguments: Sequence[str]) -> int:
    """Repairs the cases of one half or both. Returns the exit code: 0."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.repair.real")
    reader.add_argument("python")
    reader.add_argument("folder", type=Path)
    reader.add_argument("--half", choices=("tuning", "held out"))
    reader.add_argument("--jobs", type=int, default=1)
    reader.add_argument("--iterations", type=int, default=12)
    reader.add_argument("--only", type=int, nargs="*")
    reader.add_argument("--name", default="results")
    options = reader.parse_args(arguments)
    cases = [one for one in json.loads(READ.read_text("utf-8")) if one["bug"] and options.half in (None, one["half"])]
    picked = [one for at, one in enumerate(cases) if options.only is None or at in options.only]
    out = options.folder / f"{options.name}.jsonl"
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []
    done = {(row["package"], row["new"], row["test"]) for row in rows}
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = {
            pool.submit(repair, one, options.python, options.folder / "sources", options.folder / f"{options.name}-{at}",
                        options.iterations): one
            for at, one in enumerate(picked) if (one["package"], one["new"], one["test"]) not in done
        }  # fmt: skip
        for future in as_completed(waiting):
            row = future.result()
            with open(out, "a", encoding="utf-8") as text:
                text.write(json.dumps(row) + "\n")
            print(row["package"], row["new"], row["test"], row["verdict"], row["ended"], row["seconds"], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
