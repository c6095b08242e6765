"""Writes the plan for a piece of deep research (FDC-48, FDC-49)."""

from __future__ import annotations

import os
import re

from fdc_toolchain.api.files import durable
from fdc_toolchain.api.tasks import clean, research_plan

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates", "research_plan.md")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def plan_deep_research(topic: str, research_id: str) -> str:
    """Generates the plan that researches a topic, in the five phases of the research protocol.

    Args:
        topic: what to find out, any text: quotes, line breaks and braces stay what they are.
        research_id: names this piece of research; letters, digits, `.`, `_`, `-`. The report goes to
            `research/research_report_<research_id>.md`.

    Returns:
        The text of a plan that is governed by `tooling/research_fsm.json` and that `fdc lint` accepts.

    Raises:
        ValueError: the topic is empty, or the id cannot be part of a file name.
    """
    if not _ID.fullmatch(research_id):
        raise ValueError(
            f"`{research_id[:80]}` is not a research id: letters, digits, `.`, `_`, `-`, at most 80 characters"
        )
    return research_plan(topic, f"research/research_report_{research_id}.md")


def research_files(topic: str, research_id: str, template: str = TEMPLATE) -> dict[str, str]:
    """The files of a piece of research by their paths: its page from the template, and its plan (FDC-50).

    In the template `[Topic]` and `[RESEARCH_ID]` stand for what they say. Raises ValueError as
    `plan_deep_research` does, FileNotFoundError, naming it, where no template exists, OSError.
    """
    plan = plan_deep_research(topic, research_id)
    source = durable.read(template)
    if source is None:
        raise FileNotFoundError(2, "the template of the research plan does not exist", template)
    values = {"[Topic]": " ".join(clean(topic).split()), "[RESEARCH_ID]": research_id}
    page = re.sub(
        r"\[(?:Topic|RESEARCH_ID)\]", lambda found: values[found[0]], source.decode("utf-8")
    )
    stem = f"research/research_plan_{research_id}"
    return {f"{stem}.md": page, f"{stem}.plan": plan}
