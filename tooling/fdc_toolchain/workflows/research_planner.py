"""Writes the plan for a piece of deep research (FDC-48, FDC-49)."""

from __future__ import annotations

import re

from ..knowledge.research_plan import research_plan

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
        raise ValueError(f"`{research_id[:80]}` is no research id: letters, digits, `.`, `_`, `-`, at most 80 characters")
    return research_plan(topic, f"research/research_report_{research_id}.md")
