"""The text of a research plan for one question: the shipped plan with the question and the report filled in. Pure.

The shipped `plans/library/deep_research.plan` is the only place that says how research goes.
"""

from __future__ import annotations

import re

from ... import resources

LIBRARY_PLAN = "plans/library/deep_research.plan"
MAX_TOPIC = 20_000
"""Maximum characters of a topic, because a plan's line is limited."""

_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters that count as printable but are invisible, so that plans must not have them."""
_PARAM = r"^param {name}(?= |$).*$"


def research_plan(topic: str, report: str) -> str:
    """A plan (FDC-49: governed by `tooling/research_fsm.json`) that researches `topic` and writes `report`.

    Control and invisible characters of the topic, which no plan may have, become spaces. Raises
    ValueError where nothing is left of it.
    """
    question = clean(topic)
    if not question:
        raise ValueError("the topic is empty")
    text = resources.read(LIBRARY_PLAN).decode("utf-8")
    for name, value in (("question", question), ("report", report)):
        row = f"param {name} = {quoted(value)}"
        found = re.search(_PARAM.format(name=name), text, re.MULTILINE)
        if found is None:
            raise ValueError(f"{LIBRARY_PLAN} has no parameter `{name}`")
        text = text[: found.start()] + row + text[found.end() :]
    return text


def clean(topic: str) -> str:
    """A topic as a plan can hold it: line breaks and tabs stay, what cannot be seen becomes a space."""
    kept = [char if _shows(char) else " " for char in topic.replace("\r\n", "\n")]
    return "".join(kept).strip()[:MAX_TOPIC].strip()


def _shows(char: str) -> bool:
    return char in "\n\t" or (char.isprintable() and char not in _FILLERS)


def quoted(text: str) -> str:
    """A fixed text of the plan language that stands for exactly `text`."""
    from ...syntax.values import escape

    plain = escape(text)
    for char, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        plain = plain.replace(char, written)
    return f'"{plain}"'
