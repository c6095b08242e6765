"""Pipelines are plans: how a text becomes a proved program (`validate.pipeline`), and how it is run (`plan.run`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fdc_toolchain.api.records import Program, ProgramError, canonical, encode, identity, load
from fdc_toolchain.api.tools import Context, NestedPlan, Proof, ToolFailure, proved

if TYPE_CHECKING:
    from ..shapes.steps import Judged

KEY = "pipeline.plan"
AUTOMATON = "tooling/lgtm_pipeline_fsm.json"
INPUTS = frozenset(("question", "synthesis", "hypotheses", "map"))
MOST = 40_000
CALLS = 12
TOKENS = 240_000
"""What a pipeline may ask of models, all in all: what `plan.run` declares, and what is set aside before it begins."""


def prove(text: str, root: str) -> Judged:
    """The linter's verdict on a pipeline's text, with its worst cost; nothing of it is performed.

    A text in a Markdown fence is taken out of it. Raises nothing for a text that is not a plan: that is a finding.
    """
    plain = _bare(text)
    out: Judged = {
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
    proof = proved(root, KEY, plain)
    program, cost = proof.program, proof.cost
    wrong = proof.findings[:20] if program is None else [*_unread(program)]
    if program is None or wrong:
        return {**out, "findings": wrong}
    plan = program["plans"][program["root"]]
    if str(plan["automaton"]).removeprefix("fdc:") != AUTOMATON:
        wrong.append(f"the automaton must be {AUTOMATON}")
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
    return {**out, "proved": True, "program": identity(program), "cost": dict(cost)}


def run(args: Mapping[str, object], context: Context) -> object:
    """`plan.run`: a pipeline that was proved, as a run of its own. What that spends counts as the step's."""
    pipeline = args.get("pipeline")
    if not isinstance(pipeline, dict):
        raise ToolFailure("argument", "`pipeline` is none that was proved")
    if context.nested is None:
        raise ToolFailure("unavailable", "a pipeline is run within a run only")
    root = context.root.path

    def program() -> Program:
        proof: Proof = proved(root, KEY, str(pipeline.get("text", "")))
        if proof.program is None or identity(proof.program) != pipeline.get("program"):
            why = proof.findings[0] if proof.findings else "it is not the program that was proved"
            raise ToolFailure("pipeline", f"the pipeline is not run: {why}")
        return proof.program

    given = {name: args[name] for name in INPUTS if args.get(name) is not None}
    budget = {"model_calls": CALLS, "tokens": TOKENS}
    path = str(pipeline.get("filePath"))
    return context.nested(NestedPlan(program, given, path, budget, f"runs/{context.run}"), context)


def _unread(program: Program) -> list[str]:
    """What the codec writes is read back and compared (LGTM-44)."""
    try:
        again = load(encode(program))
    except ProgramError as wrong:
        return [f"the program cannot be read back: {wrong}"]
    return (
        []
        if canonical(again) == canonical(program)
        else ["the program does not read back to itself"]
    )


def _bare(text: str) -> str:
    plain = text.replace("\r\n", "\n").strip()
    if plain.startswith("```") and plain.endswith("```"):
        plain = plain.split("\n", 1)[-1].rsplit("```", 1)[0]
    return plain.strip() + "\n"
