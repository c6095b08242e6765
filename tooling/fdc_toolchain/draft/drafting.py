"""`drafted`: asks a model for a plan, lints it, gives the findings back, a bounded number of times."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

from ..agent.host.model import Asks
from ..agent.prompts import prompt
from ..grammar_export.export import STEPS, automaton_of, export, tools_for
from ..linking.catalogue import Tool
from ..linking.link import Linker
from ..named_tuples import NamedTuple
from ..report.render import render
from ..syntax import tree
from ..syntax.parse import parse
from ..tools.model.http_model import HttpModel
from ..tools.model.question import Question
from ..tools.plans.plan_text import Proof, proved
from ..workspace.failure import ToolFailure
from ..workspace.secrets.scrubber import Scrubber
from .lines import schema_of, text_of
from .served import add, schema_form
from .skeleton import skeleton

MOST_STEPS = 12
"""Statements of a plan that a grammar allows where no one says it."""


class Drafted(NamedTuple):
    """A plan's last version, and what stands against it ("": nothing). `form`: what held the model."""

    text: str
    findings: str
    tries: int
    usage: dict[str, float]
    form: str


def findings_of(proof: Proof) -> str:
    """What the linter has against a text, for the repairer it; "" where it is proved."""
    if proof.program is not None:
        return ""
    if not proof.errors:
        return f"{proof.fault}\n"
    return render("llm", list(proof.errors), proof.sources, files_checked=1)


def allowed_by(text: str) -> list[str]:
    """What a plan says of itself that it may touch, one remark a line: a person should see it before it is kept."""
    plan = parse(text.encode("utf-8", "surrogateescape"), "draft.plan").plan
    lines = () if plan is None else plan.statements
    return [
        f"the model wrote `{line.keyword} {line.tail}`, which opens what it names to the plan"
        for line in lines
        if isinstance(line, tree.Header) and line.keyword == "allow"
    ]


def plan_rows(linker: Linker, fsm: str, tools: Sequence[str] = ()) -> list[Tool]:
    """The tools that a model is offered: those that its plan can use. Raises UsageError."""
    found = tools_for(linker, automaton_of(linker, fsm), tools)
    return [tool for tool in found if tool.forbidden is None and not tool.broken]


def grammar_of(
    linker: Linker,
    *,
    fsm: str | None = None,
    tools: Sequence[str] = (),
    most: int = MOST_STEPS,
    brief: bool = False,
) -> Callable[[str], str]:
    """The grammar of the workspace by notation, each made when it is first asked for."""

    @cache
    def grammar(form: str) -> str:
        small = most if form == "llguidance" else min(most, STEPS[form])
        return export(linker, form, fsm=fsm, tools=tools, most=small, brief=brief).text

    return grammar


def drafted(
    linker: Linker,
    task: str,
    path: str,
    model: Asks,
    *,
    fsm: str,
    tools: Sequence[str] = (),
    tries: int = 4,
) -> Drafted:
    """The plan that a model writes for a task, as if it lay at `path`. Raises WorldFailed, and ToolFailure for a model that
    refuses."""
    rows = plan_rows(linker, fsm, tools)
    schema = schema_of([tool.name for tool in rows], fsm)
    example = skeleton(linker, "say hello world", fsm=fsm, tools=tools)
    usage: dict[str, float] = {}
    secrets = Scrubber()  # a server knows its key, and a plan goes to a terminal or into git
    text = findings = form = ""
    number = 0
    while number < tries:
        number += 1
        asked = prompt(
            "draft", os.path.dirname(os.path.abspath(__file__)), task=task, fsm=fsm, rows=rows,
            example=example.text, plan=text, findings=findings,
        )  # fmt: skip
        try:
            question = Question("planner", "", asked, schema)
            reply = model.ask(question)
        except ToolFailure as failed:
            add(usage, failed.usage or {})
            if failed.kind != "reply":
                raise
            text, findings = "", f"{failed}\n"
            continue
        add(usage, reply.usage)
        form = str(reply.notes.get("form", ""))
        if not form and isinstance(model, HttpModel):
            form = schema_form(model, question)
        text = secrets.text(text_of(reply.value))
        findings = findings_of(proved(linker.root, path, text))
        if not findings:
            break
    return Drafted(text, findings, number, usage, form)
