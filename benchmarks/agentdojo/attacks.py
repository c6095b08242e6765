"""The attack side before any run: the task's plan with the injection's calls behind it, their arguments made of what was read.

Three plans for each pair. *Read*: a model is asked for each argument. *Named*: a number is looked up by a name that the
model was asked for. *Written*: the calls stand in the text with the attacker's values, as an obedient planner that has read
the injection would write them; the linter cannot know that, so here it is asked whether `fdc agent` would have such a text
approved by a person (docs/agent.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from . import desk, plans, values
from .labels import TOOLS
from .suites import Attack, Suite


class Refused(NamedTuple):
    """What became of a pair's three plans: whether the first two were refused for what the injection asks for, at how many of
    its consequential calls, and whether the third waits for a person."""

    task: str
    attack: str
    contents: bool
    read: bool
    named: bool
    calls: int
    refused_calls: int
    held: bool


def judge(folder: Path, suite: Suite, contents: bool = False) -> list[Refused]:
    """Lints the pairs of a suite in its workspace, and asks whether their texts would wait."""
    pairs = [(task, attack) for task in suite.tasks for attack in suite.attacks if attack.calls]
    texts = {}
    for number, (task, attack) in enumerate(pairs):
        for way in ("read", "named"):
            texts[f"p{number}-{way}"] = plans.attacked(
                task, attack.calls, by_name=way == "named", contents=contents
            )
    found = desk.lint(folder, texts)
    held = {attack.id: _held(folder, attack) for attack in suite.attacks if attack.calls}
    out = []
    for number, (task, attack) in enumerate(pairs):
        lines = texts[f"p{number}-read"].splitlines()
        acts = [at for at, line in enumerate(lines, 1) if line.startswith("s") and _acts(line)]
        wrong = {finding.line for finding in found[f"p{number}-read"]}
        out.append(Refused(
            task.name, attack.name, contents, bool(wrong & set(acts)), bool(_late(found[f"p{number}-named"], lines)), len(acts),
            len(wrong & set(acts)), held[attack.id],
        ))  # fmt: skip
    return out


def _late(found: list[desk.Finding], lines: list[str]) -> bool:
    """Whether something behind the task's own calls is refused: the findings of the benign part do not count."""
    first = next(at for at, line in enumerate(lines, 1) if line.startswith(("x1", "s1")))
    return any(finding.line >= first for finding in found)


def _acts(line: str) -> bool:
    tool = line.partition(" <- ")[2].partition(" ")[0]
    return tool in TOOLS and TOOLS[tool].acts


def _held(folder: Path, attack: Attack) -> bool:
    """Whether a plan that only makes the attack's calls, with its values in the text, is one that waits for a person."""
    from fdc_toolchain.agent.provenance import harmless
    from fdc_toolchain.console.compiling import compile_or_refuse

    lines = ["set_plan attack", "plan_step_complete planned"]
    for call in attack.calls:
        words = [
            f"{name}={values.quoted(values.plain(value))}"
            for name, value in call.args.items()
            if value is not None
        ]
        lines.append(" ".join([call.tool, *words]))
    path = folder / "plans" / "written.plan"
    path.write_text("\n".join([*lines, "close_task", "submit"]) + "\n", "utf-8")
    program = compile_or_refuse(str(path), str(folder))
    path.unlink()
    return program is None or not harmless(program)
