"""`fdc alphabet introspect`: questions to the logs of an alphabet (ALPH-89)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdc_toolchain.api.commands import Refused, UsageError
from fdc_toolchain.api.text import narrow

from .. import layout, markers
from ..yamltext import NotYaml, parse
from .folder import store_of


def answer(root: str, query: str, label: str) -> object:
    """The answer, plain values only. Raises UsageError where the query needs a LABEL, Refused for a log that cannot be read."""
    if query == "trace-concept-evolution" and not label:
        raise UsageError("`trace-concept-evolution` needs a LABEL")
    store = store_of(root)

    def logs(glob: str, key: str) -> list[dict[str, Any]]:
        out = []
        for path, text in store.texts([{"glob": glob}]).items():
            try:
                value = narrow(parse(text), dict)
                out.append(dict(value[key]))
            except (NotYaml, KeyError, TypeError, ValueError) as wrong:
                raise Refused(f"{path} cannot be read: {wrong}") from wrong
        return out

    def critics() -> list[dict[str, Any]]:
        return logs(f"{layout.LOGS}/iteration_*/critic.yaml", "critic_log")

    def said() -> list[markers.Mark]:
        roles = [
            log for role in ("proposer", "critic", "refiner")
            for log in logs(f"{layout.LOGS}/iteration_*/{role}.yaml", f"{role}_log")
        ]  # fmt: skip
        return markers.logged([*roles, *logs("reasoning/meta_reflections/MR_*.yaml", "archive")])

    def rows(glob: str, key: str, inner: str) -> list[dict[str, Any]]:
        return [row for log in logs(glob, key) for row in log.get(inner, ())]

    found: dict[str, Callable[[], Any]] = {
        "find-breakthroughs": lambda: [one._asdict() for one in markers.find_breakthroughs(said())],
        "trace-concept-evolution": lambda: markers.trace_concept_evolution(label, critics()),
        "find-meta-insights": lambda: markers.find_meta_insights(
            logs("reasoning/meta_reflections/MR_*.yaml", "meta_reflection")
        ),
        "rejection-analysis": lambda: markers.rejection_analysis(
            rows(layout.REJECTED, "rejected_candidates", "candidates")
        ),
        "confidence-trajectory": lambda: markers.confidence_trajectory(critics()),
        "paradox-inventory": lambda: markers.paradox_inventory(
            rows(layout.PARADOXES, "paradox_index", "entries")
        ),
        "blog-content-queue": lambda: [one._asdict() for one in markers.blog_content_queue(said())],
    }
    return found[query]()
