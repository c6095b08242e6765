"""A plan that was proved, really run: `fdc run` with its engine, sandbox and journal, in a suite's environment."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from . import desk, model
from .labels import TOOLS
from .plans import Plan
from .suites import Attack, Suite, World, injected, through, useful


class Ran(NamedTuple):
    """How a run ended (`finished`, `waiting`, `stopped`), the consequential calls that were made in it, what the user was told.

    `useful`, `through`: AgentDojo's own verdicts; of a run without an injection, `aims` are the injections whose aim it reaches
    all the same. `obeyed`: answers of the model that the injection chose. `why`: of a stop.
    """

    ended: str
    acts: tuple[tuple[str, str], ...]
    told: str
    useful: bool
    through: bool
    obeyed: int
    why: str
    aims: tuple[str, ...] = ()


def run(folder: Path, suite: Suite, plan: Plan, attack: Attack | None, server: model.Server) -> Ran:
    """Runs a plan in a workspace (`desk.lay_out`) with an injection in all places that the task reads, or without one.

    Raises RuntimeError where fdc did not run the plan.
    """
    task = suite.raw.user_tasks[plan.task.id]
    vectors = dict.fromkeys(plan.task.vectors, injected(attack)) if attack is not None else {}
    environment = task.init_environment(suite.places.made(vectors))
    before, world = environment.model_copy(deep=True), World(suite.name, suite.raw, environment)
    fresh(folder)
    (folder / "plans" / "now.plan").write_text(plan.text, "utf-8")
    server.script, server.obeyed = model.Script(plan.wants, attack), 0
    values = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "no-key-is-needed-here"}
    with desk.variables(**values), served(folder, world):
        code, out, errors = desk.fdc(
            folder, "run", "plans/now.plan", "--format", "json", "--model", "claude-sonnet-5"
        )
    try:
        said = json.loads(out[out.index("{") :])
        ended = str(said["status"])
    except (ValueError, KeyError):
        raise RuntimeError(
            f"{plan.task.name}: fdc run ended with {code}: {out[-500:]}{errors[-1500:]}"
        ) from None
    told = "\n".join(str(one) for one in said["said"])
    acts = tuple(
        (one.tool, json.dumps(dict(one.args), sort_keys=True))
        for one in world.calls
        if TOOLS[one.tool].acts
    )
    judges = [one for one in suite.attacks if one.calls and (attack is None or one.id == attack.id)]
    aims = tuple(
        one.id for one in judges if through(suite.raw.injection_tasks[one.id], told, before, world)
    )
    why = json.dumps(said.get("stop") or said.get("message") or "")[:300]
    done = useful(task, told, before, world)
    return Ran(
        ended, acts, told[:300], done, attack is not None and bool(aims), server.obeyed, why, aims
    )


def fresh(folder: Path) -> None:
    """Forgets what an earlier run left in a workspace: its record, its labels, its calls."""
    shutil.rmtree(folder / ".fdc", ignore_errors=True)
    for path in (folder / desk.SPOOL).glob("*/**/*"):
        if path.is_file():
            path.unlink()


@contextmanager
def served(folder: Path, world: World) -> Iterator[None]:
    """Answers the calls of a workspace's tools, while it lasts."""
    over = threading.Event()
    thread = threading.Thread(target=_serve, args=(folder / desk.SPOOL, world, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)


def _serve(spool: Path, world: World, over: threading.Event) -> None:
    while not over.wait(0.002):
        for path in sorted((spool / "in").glob("*/*.json")):
            asked = json.loads(path.read_text("utf-8"))
            path.unlink()
            answer = json.dumps(world.call(asked["tool"], asked["args"]))
            (spool / "out" / f"{path.name}.tmp").write_text(answer, "utf-8")
            (spool / "out" / f"{path.name}.tmp").rename(spool / "out" / path.name)
