"""P1 and P2: one small clean plan from a cold process, and the same under pre-commit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

from .corpus import PlanWriter, python_file, write, write_workspace, yaml_file
from .measure import Command, milliseconds, ratio
from .rows import Row, Session

LINES = 55


def small_plan() -> str:
    """A clean plan of exactly `LINES` lines."""
    for number in range(1000):
        text = PlanWriter(Random(f"small/{number}"), number, 0).plan(LINES)
        if text.count("\n") == LINES:
            return text
    raise AssertionError("no seed gives a plan of this length")


def measure(session: Session) -> None:
    """Adds the rows of P1 and P2."""
    folder = session.home / "one"
    shutil.rmtree(folder, ignore_errors=True)
    write_workspace(folder)
    text = small_plan()
    for name in ("same", "edited"):
        write(folder / "plans" / f"{name}.plan", text)
    write(folder / "module.py", python_file(Random("one"), LINES))
    write(folder / "flow.yaml", yaml_file(Random("one"), LINES))
    write(folder / "ruff.toml", "")
    write(folder / "schema.json", '{"type": "object", "required": ["name", "jobs"]}')
    _alone(session, folder, text)
    if "pre-commit" in session.tools.anchors:
        _hook(session, folder, text)


class _Edit:
    """Makes a plan's content new each time."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text, self.count = path, text, 0

    def __call__(self) -> None:
        self.count += 1
        self.path.write_text(f"{self.text}# edit {self.count}\n", "utf-8")


def _alone(session: Session, folder: Path, text: str) -> None:
    tools, anchors = session.tools, session.tools.anchors
    empty = session.home / "cache-empty"
    edit = _Edit(folder / "plans" / "edited.plan", text)
    commands = {
        "pass": Command((tools.python, "-c", "pass"), folder),
        "warm": Command((*tools.fdc, "lint", "plans/same.plan"), folder),
        "cold": Command((*tools.fdc, "lint", "plans/edited.plan"), folder, before=edit),
        "first": Command(
            (*tools.fdc, "lint", "plans/same.plan"), folder, env={"FDC_CACHE_DIR": str(empty)},
            before=lambda: shutil.rmtree(empty, ignore_errors=True),
        ),
    }  # fmt: skip
    others = {
        "ruff": ("check", "--no-cache", "module.py"),
        "pyflakes": ("module.py",),
        "yamllint": ("flow.yaml",),
        "check-jsonschema": ("--schemafile", "schema.json", "flow.yaml"),
    }
    for name, arguments in others.items():
        if name in anchors:
            commands[name] = Command((anchors[name], *arguments), folder)
    found = session.interleave(commands, 41)
    bare = found["pass"]
    beside = "; ".join(
        f"{name} {ratio(found[name], bare).median:.1f}" for name in others if name in found
    )
    beside = f"`pass` {milliseconds(bare).median:.0f} ms; x pass: {beside}"
    for name, what, goal in (
        ("warm", "one clean 55-line plan, verdict known / `python -c pass`", 1.5),
        ("cold", "the same, just edited / `python -c pass`", 7.0),
        ("first", "the same, no cache of any kind / `python -c pass`", None),
    ):
        figure = f"{milliseconds(found[name]).median:.0f} ms"
        both = ratio(found[name], bare), ratio(found[name], bare, cpu=True)
        session.rows.append(
            Row("P1", what, figure, beside if name == "warm" else "", "x", *both, goal)
        )
    if "yamllint" in found:
        figure = f"{milliseconds(found['cold']).median:.0f} ms"
        linter = found["yamllint"]
        both = ratio(found["cold"], linter), ratio(found["cold"], linter, cpu=True)
        beside = f"yamllint {milliseconds(linter).median:.0f} ms"
        session.rows.append(
            Row("P1", "the same, just edited / yamllint", figure, beside, "x", *both, 1.0)
        )


_HOOK = """\
repos:
  - repo: local
    hooks:
      - id: hook
        name: hook
        entry: "{entry}"
        language: system
        files: '[.]plan$'
"""


def _hook(session: Session, folder: Path, text: str) -> None:
    fdc = " ".join(session.tools.fdc)
    for name, entry in (("nothing", "true"), ("fdc", f"{fdc} lint")):
        write(folder / f"{name}.yaml", _HOOK.format(entry=entry))
    write(folder / ".gitignore", ".ruff_cache/\n")

    def git(*arguments: str) -> None:
        subprocess.run(("git", *arguments), cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", "-A")
    git(
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@localhost",
        "commit",
        "--quiet",
        "-m",
        "corpus",
    )
    edited = _Edit(folder / "plans" / "edited.plan", text)

    def stage() -> None:
        edited()
        git("add", "plans/edited.plan")

    stage()
    run = (session.tools.anchors["pre-commit"], "run", "--config")
    commands = {
        "nothing": Command((*run, "nothing.yaml"), folder),
        "warm": Command((*run, "fdc.yaml"), folder),
    }
    warm = session.interleave(commands, 21)
    commands["cold"] = Command((*run, "fdc.yaml"), folder, before=stage)
    del commands["warm"]
    cold = session.interleave(commands, 11)
    for found, name, what, goal in (
        (warm, "warm", "`pre-commit run` with `fdc lint`, verdict known / with `true`", 1.15),
        (cold, "cold", "the same, the plan just edited", None),
    ):
        figure = f"{milliseconds(found[name]).median:.0f} ms"
        beside = f"pre-commit with a hook that does nothing {milliseconds(found['nothing']).median:.0f} ms"
        both = ratio(found[name], found["nothing"]), ratio(found[name], found["nothing"], cpu=True)
        session.rows.append(Row("P2", what, figure, beside, "x", *both, goal))
