"""What a role is told: within its budgets, whole values or none, never a text that breaks off (ALPH-06, 10, 20, 57, 63).

context = composed(work, "critic", 1, candidates)
context["sections"]["alphabet"]     YAML, of at most 20,000 tokens
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..budgets import BUDGETS, CHARACTERS, TASK_BUDGET, instructions, tokens
from ..model import Alphabet, Primitive, normal
from ..schemas import Context
from ..yamltext import dump
from .work import Work

SUMMARISED = ("iteration", "candidates", "primitives_added", "metrics_after", "insights")
"""What is told of an earlier iteration."""


class TooLarge(ValueError):
    """One thing alone is larger than its part of the context; the sentence lists the sizes."""


def composed(work: Work, role: str, cycle: int, task: Context) -> Context:
    """The context of one question: sections for a model, the same as values for what is embedded. Raises TooLarge."""
    strategy = work.state["current_strategy"]
    temperature = work.base.config["temperatures"][role]
    if role == "proposer" and strategy["proposer_temperature"] != 0.7:  # a pivot has set it
        temperature = strategy["proposer_temperature"]
    about = [str(row.get("label", "")) for row in task.get("candidates", ())] + list(
        task.get("words", ())
    )
    domains = {str(row.get("domain", "")) for row in task.get("candidates", ())} or set(
        strategy["domains_priority"]
    )
    sections = {
        "fixed": _fixed(work),
        "alphabet": alphabet_section(work, about, domains),
        "reasoning": reasoning_section(work),
        "task": _task(task),
    }
    sizes = {name: tokens(text) for name, text in sections.items()}
    return {
        "role": role, "iteration": work.iteration, "cycle": cycle, "temperature": temperature, **task,
        "sections": sections, "sizes": {"instructions": instructions(role), **sizes},
    }  # fmt: skip


def _fixed(work: Work) -> str:
    """The state of the work, and what the last reflection says. Its parts are left out, longest first, until it fits."""
    reflection = work.base.reflection
    said = {
        "decision": reflection.get("decision"),
        "corrections": reflection.get("course_corrections"),
        "insights": reflection.get("insights_for_archive"),
    }
    state = {key: work.state[key] for key in ("current_strategy", "metrics", "history")}
    pending = {key: len(value) for key, value in work.state["pending"].items()}
    value = {
        "iteration": work.iteration,
        "state": state,
        "pending": pending,
        "last_reflection": said if reflection else None,
    }
    text = dump(value)
    for key in ("insights", "corrections"):
        if tokens(text) <= BUDGETS["fixed"]:
            break
        said[key] = "left out: it is too long"
        text = dump(value)
    return text


def alphabet_section(work: Work, about: Iterable[str], domains: set[str]) -> str:
    """The index, or counts where it is long; then whole entries: relevant, recent, of the same domain; their relations."""
    alphabet = work.alphabet
    room = BUDGETS["alphabet"] * CHARACTERS
    index = dump(
        {"index": [f"{one.id} {one.label} ({one.domain}, {one.prime})" for one in alphabet]}
    )
    if len(index) > room // 2:
        index = dump(
            {
                "index": f"{len(alphabet)} primitives, too many to list",
                "by_domain": _summary(alphabet, room // 4),
            }
        )
    room -= len(index)
    chosen: list[str] = []
    entries = []
    for one in _relevant(alphabet, about, domains):
        entry = {
            "id": one.id,
            "label": one.label,
            "domain": one.domain,
            "definition": one.definition,
        }
        size = len(dump([entry])) + 8
        if room - size < BUDGETS["alphabet"]:  # a quarter is for the relations
            break
        room -= size
        entries.append(entry)
        chosen.append(one.id)
    relations = []
    for one in (alphabet.primitives[name] for name in chosen):
        related = {
            key: list(getattr(one, key))
            for key in ("presupposes", "contrasts", "composes")
            if getattr(one, key)
        }
        size = len(dump([{"id": one.id, **related}])) + 8
        if related and room - size > 400:
            room -= size
            relations.append({"id": one.id, **related})
    left = len(alphabet) - len(entries)
    return index + dump({"entries": entries, "entries_left_out": left, "relations": relations})


def _summary(alphabet: Alphabet, room: int) -> dict[str, Any]:
    """ALPH-63: of each domain its number and as many labels as there is room for, the newest first."""
    each = room // max(1, len(alphabet.domains))
    out: dict[str, Any] = {}
    for domain, found in alphabet.domains.items():
        labels: list[str] = []
        size = 0
        for one in reversed(found):
            size += len(one.label) + 5
            if size > each:
                break
            labels.append(one.label)
        out[domain] = {"total": len(found), "newest": labels}
    return out


def _relevant(alphabet: Alphabet, about: Iterable[str], domains: set[str]) -> list[Primitive]:
    """Each once: what is spoken of and its neighbours, the last ten, the same domains, newest first."""
    found: dict[str, Primitive] = {}
    for label in about:
        one = alphabet.labelled(normal(label))
        if one is not None:
            for name in (
                one.id,
                *one.presupposes,
                *one.contrasts,
                *one.composes,
                *alphabet.dependants.get(one.id, ()),
            ):
                other = alphabet.get(name)
                if other is not None and other.in_use:
                    found[name] = other
    newest = sorted(alphabet, key=lambda one: (-one.added, one.id))
    for one in [*newest[:10], *(one for one in newest if one.domain in domains)]:
        found.setdefault(one.id, one)
    return list(found.values())


def rejection_patterns(work: Work) -> dict[str, object]:
    """ALPH-20: which attacks candidates failed, and the last of them with the reasons."""
    rows = [*work.base.rejected, *work.rejected]
    counted = Counter(str(row.get("failed_attack", "")) for row in rows)
    last = [
        {
            "label": row.get("label"),
            "failed_attack": row.get("failed_attack"),
            "why": str(row.get("reason", ""))[:300],
        }
        for row in rows[-20:]
    ]
    return {"by_attack": dict(counted.most_common()), "last": last}


def reasoning_section(work: Work) -> str:
    """The last five iterations, summarised; why candidates were rejected; what is missing."""
    room = BUDGETS["reasoning"] * CHARACTERS
    patterns = dump({"rejections": rejection_patterns(work)})
    priorities = work.state["current_strategy"]["domains_priority"]
    gaps = dump({"gaps": work.state["pending"]["gaps_to_fill"][:50], "priorities": priorities})
    room -= len(patterns) + len(gaps)
    kept: list[dict[str, Any]] = []
    for summary in reversed(work.base.summaries[-5:]):
        row = {key: summary[key] for key in SUMMARISED if key in summary}
        size = len(dump([row])) + 8
        if size > room:
            break
        room -= size
        kept.insert(0, row)
    return dump({"iterations": kept}) + patterns + gaps


def _task(task: Context) -> str:
    shown = {key: value for key, value in task.items() if key not in ("primitives", "taken")}
    text = dump({"task": shown})
    if tokens(text) > TASK_BUDGET:
        sizes = ", ".join(f"{key} {tokens(dump({key: value}))}" for key, value in shown.items())
        raise TooLarge(f"the task has {tokens(text)} tokens, {TASK_BUDGET} are its share: {sizes}")
    return text


def primitives_of(alphabet: Alphabet, most: int = 2000) -> list[dict[str, str]]:
    """The primitives in use as what is embedded is told of them; the newest where there are more."""
    some = alphabet.in_use[-most:]
    return [
        {"id": one.id, "label": one.label, "domain": one.domain, "definition": one.definition}
        for one in some
    ]
