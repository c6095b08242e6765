"""`python -m benchmarks.engine`: the engine beside the bare commit, LangGraph and DBOS; its section of docs/benchmarks.md.

The others live in a virtual environment of their own below build/, made from the extra `bench-engines`. Every
round runs each contender once, in a process of its own, in an order of its own; ratios divide
figures of the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from random import Random

from . import environment
from .measure import Spread, clean_environment, cores, load, spread

PAGE = environment.ROOT / "docs" / "benchmarks.md"
WORK = Path(__file__).with_name("engine_work.py")
HEADING = "## The engine\n"

Found = dict[str, list[dict[str, float]]]

CASES: dict[str, tuple[str, dict[str, int], int]] = {
    # name: (case of engine_work, contenders with how much each does, rounds)
    "steps": ("steps", {"raw": 2000, "fdc": 2000, "langgraph": 300, "dbos": 100}, 7),
    "long": ("steps", {"fdc": 8000, "langgraph": 900}, 1),
    "branches": ("branches", {"gather": 1000, "fdc": 1000, "langgraph": 1000}, 5),
    "resume": ("resume", {"raw": 5000, "fdc": 5000, "langgraph": 1000}, 3),
    "fold": ("fold", {"fdc": 5000}, 3),
    "replay": ("replay", {"fdc": 5000}, 3),
}


def python() -> Path:
    """The interpreter of the environment with the other engines, which is made if need be."""
    venv = environment.HOME / "engine-venv"
    made, stamp = venv / "bin" / "python", environment.HOME / "engine-requirements"
    project = tomllib.loads((environment.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = project["optional-dependencies"]["bench-engines"]
    recipe = "\n".join([sys.version, *wanted])
    if not made.exists() or not stamp.exists() or stamp.read_text("utf-8") != recipe:
        print("benchmarks: installing the engines to measure", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([made, "-m", "pip", "install", "--quiet", *wanted], check=True)
        stamp.write_text(recipe, "utf-8")
    return made


def measure(interpreter: Path, case: str, contenders: dict[str, int], rounds: int) -> Found:
    """What each contender took, a round at a time, per unit of its work."""
    rng = Random(1)
    found: Found = {name: [] for name in contenders}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for _ in range(rounds):
        order = list(contenders)
        rng.shuffle(order)
        for name in order:
            with tempfile.TemporaryDirectory(prefix="fdc-bench-", dir=memory) as folder:
                command = [interpreter, WORK, case, name, str(contenders[name]), folder]
                done = subprocess.run(
                    command, env=clean_environment({}), capture_output=True, text=True
                )
            if done.returncode:
                raise SystemExit(f"benchmarks: {name} {case} failed:\n{done.stderr[-3000:]}")
            took = json.loads(done.stdout.splitlines()[-1])
            found[name].append({key: value / contenders[name] for key, value in took.items()})
    return found


def ratio(above: list[dict[str, float]], below: list[dict[str, float]], clock: str) -> Spread:
    """One contender's figures by another's, round by round."""
    return spread([a[clock] / max(b[clock], 1e-12) for a, b in zip(above, below, strict=True)])


def section(all_: dict[str, Found], versions: str) -> str:
    """The section of the page."""
    steps, branches, resume = all_["steps"], all_["branches"], all_["resume"]
    rows = []

    def row(what: str, figure: str, value: Spread, goal: float | None) -> None:
        met = "" if goal is None else "yes" if value.median <= goal else "**no**"
        rows.append(
            f"| {what} | {figure} | {value.text()} | {'' if goal is None else f'<= {goal:g}'} | {met} |"
        )

    def micro(found: list[dict[str, float]]) -> str:
        return f"{1e6 * spread([one['cpu'] for one in found]).median:.0f} us"

    for name, goal, who in (
        ("raw", 2, "bare commit"),
        ("langgraph", 0.1, "LangGraph"),
        ("dbos", 0.05, "DBOS"),
    ):
        figure = f"{micro(steps['fdc'])}; {who} {micro(steps[name])}"
        row(f"a durable step / {who}, CPU", figure, ratio(steps["fdc"], steps[name], "cpu"), goal)
    wall = {
        name: 1000 * spread([one["wall"] for one in found]).median
        for name, found in branches.items()
    }
    for name, goal, who in (("gather", 4, "asyncio.gather"), ("langgraph", 0.1, "LangGraph")):
        figure = f"{wall['fdc']:.2f} s; {who} {wall[name]:.2f} s"
        row(
            f"1,000 branches of 10 ms / {who}, wall",
            figure,
            ratio(branches["fdc"], branches[name], "wall"),
            goal,
        )
    for name, goal, who in (("fdc", 1.1, "fdc"), ("langgraph", None, "LangGraph")):
        long, short = all_["long"][name][:1], steps[name][:1]
        figure = f"{long[0]['bytes']:.0f} / {short[0]['bytes']:.0f} bytes"
        row(f"bytes a step, long run / short run, {who}", figure, ratio(long, short, "bytes"), goal)
    for what, found, goal in (
        ("resume", resume["fdc"], 3),
        ("replay", all_["replay"]["fdc"], None),
    ):
        figure = f"{5e6 * spread([one['cpu'] for one in found]).median:.0f} ms"
        value = ratio(found, all_["fold"]["fdc"], "cpu")
        row(
            f"{what} of 5,000 steps / reading and folding the rows, CPU",
            figure.replace("000 ms", " ms"),
            value,
            goal,
        )
    table = "\n".join(("| what | figures | ratio | goal | met |", "|---|---|---|---|---|", *rows))
    return f"""{HEADING}
{table}

- Date: {time.strftime("%Y-%m-%d")}, commit {environment.commit()}; {versions}; load {load():.1f} on {cores()} CPUs.
- A ratio is the median over the rounds, with the 10th and 90th percentile; each round runs every contender once, in a
  process of its own, on a file system in memory. `bare commit` is one INSERT with SQLite's WAL and synchronous=FULL.
- A step of fdc decides, performs a tool that does nothing, chains and seals the record, and commits it. Its arguments
  stand in the plan; a step whose arguments are computed costs about a tenth more. Resume checks the whole chain and the
  seals before it folds. LangGraph saves with `durability="sync"` (its branches with the default);
  it loads the newest snapshot on resume, which takes under a millisecond at any length. DBOS is on SQLite, in WAL mode.
"""


def kept(page: Path) -> str:
    """The section of a page as it stands there, or nothing: what writes the rest of the page puts it back."""
    _, heading, rest = page.read_text("utf-8").partition(HEADING) if page.exists() else ("",) * 3
    return heading + rest


def write(page: Path, text: str) -> None:
    """Puts the section at the end of the page, in the place of the one that was there."""
    before = page.read_text("utf-8").partition(HEADING)[0].rstrip("\n")
    temporary = page.with_name(f".{page.name}.{os.getpid()}.tmp")
    temporary.write_text(f"{before}\n\n{text}", "utf-8")
    os.replace(temporary, page)


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0. A missed goal is no failure."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.engine", description="Measure the engine beside others."
    )
    reader.add_argument(
        "--output", type=Path, default=PAGE, help="the page whose section is written"
    )
    reader.add_argument("--rounds", type=int, help="as many rounds of everything")
    options = reader.parse_args(arguments)
    interpreter = python()
    ask = "from importlib.metadata import version as v; print(*(f'{n} {v(n)}' for n in ('langgraph', 'dbos')), sep=', ')"
    versions = subprocess.run(
        [interpreter, "-c", ask], capture_output=True, text=True, check=True
    ).stdout.strip()
    found = {
        name: measure(interpreter, case, contenders, options.rounds or rounds)
        for name, (case, contenders, rounds) in CASES.items()
    }
    write(options.output, section(found, versions))
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
