"""Pipelines of the LGTM pack are plans: how a text becomes a proved program, and how it is read again.

`runs/nested_run.py` runs such a program as a run of its own.
"""

from __future__ import annotations

from typing import Any

from ..check import check, program_of
from ..linking.link import Linker
from ..linking.project.settings import read_settings
from ..program.codec import ProgramError, canonical, encode, identity, load
from ..rules.bounds import Bounds, Polynomial

KEY = "pipeline.plan"
AUTOMATON = "tooling/lgtm_pipeline_fsm.json"
INPUTS = frozenset(("question", "synthesis", "hypotheses", "map"))
MOST = 40_000
CALLS = 12
TOKENS = 240_000
"""What a pipeline may ask of models, all in all: what `plan.run` declares, and what is set aside before it begins."""


def prove(text: str, root: str) -> dict[str, Any]:
    """The linter's verdict on a pipeline's text, with its worst cost; nothing of it is performed.

    A text in a Markdown fence is taken out of it. Raises nothing for a text that is no plan: that is a finding.
    """
    plain = _bare(text)
    out: dict[str, Any] = {
        "proved": False,
        "text": plain,
        "findings": [],
        "program": "",
        "cost": {},
    }
    if len(plain) > MOST:
        return {
            **out,
            "text": "",
            "findings": [f"a pipeline has at most {MOST} characters, this one {len(plain)}"],
        }
    program, findings, cost = compiled(plain, root)
    if program is None:
        return {**out, "findings": findings[:20]}
    plan = program["plans"][program["root"]]
    wrong = (
        []
        if str(plan["automaton"]).removeprefix("fdc:") == AUTOMATON
        else [f"the automaton must be {AUTOMATON}"]
    )
    wrong += [f"`{name}` does more than reading and thinking" for name, tool in program["tools"].items()
              if tool["effect"] not in ("pure", "read") and name != "close_task"]  # fmt: skip
    names = {param["name"] for param in plan["params"]}
    wrong += [f"the parameter `{one}` is given to no pipeline" for one in sorted(names - INPUTS)]
    wrong += [
        f"`allow {kind}` is more than a pipeline may do" for kind in plan["allow"] if kind != "read"
    ]
    wrong += [] if plan["allow"].get("read") else ["`allow read **` is missing"]
    if cost["model_calls"] > CALLS:
        wrong.append(
            f"a pipeline may ask the model {CALLS} times at most, this one {cost['model_calls']:.0f} times"
        )
    elif cost["tokens"] > TOKENS:
        wrong.append(f"a pipeline may use {TOKENS} tokens at most, this one {cost['tokens']:.0f}")
    if wrong:
        return {**out, "findings": wrong}
    return {**out, "proved": True, "program": identity(program), "cost": cost}


def compiled(text: str, root: str) -> tuple[dict[str, Any] | None, list[str], dict[str, float]]:
    """The program of a pipeline's text, or the linter's errors; and what a run of it takes at most.

    What the codec writes is read back and compared (LGTM-44).
    """
    linker = Linker(root, read_settings(root))
    checked = check(
        linker, [KEY], {KEY: text.encode("utf-8", "replace")}, whole=True, own_comments=False
    )
    errors = [item for item in checked.diagnostics if item.severity == "error"]
    if errors:
        return None, [f"line {item.span.line}: [{item.rule}] {item.message}" + (f" ({item.help})" if item.help else "")
                      for item in errors], {}  # fmt: skip
    program = program_of(checked)
    try:
        again = load(encode(program))
    except ProgramError as wrong:
        return None, [f"the program cannot be read back: {wrong}"], {}
    if canonical(again) != canonical(program):
        return None, ["the program does not read back to itself"], {}
    worst = Bounds().plan(checked.context.graph.instance(KEY))
    return program, [], {"steps": _number(worst.steps), "model_calls": _number(worst.model_calls),
                         "tokens": _number(worst.tokens)}  # fmt: skip


def _bare(text: str) -> str:
    plain = text.replace("\r\n", "\n").strip()
    if plain.startswith("```") and plain.endswith("```"):
        plain = plain.split("\n", 1)[-1].rsplit("```", 1)[0]
    return plain.strip() + "\n"


def _number(poly: Polynomial) -> float:
    """A bound that depends on nothing; one that does is more than any."""
    return float(sum(poly.values())) if all(not sizes for sizes in poly) else 1e18
