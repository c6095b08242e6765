"""Where everything of an alphabet lies, and what it is called (ALPH-71, 72)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .model import PATTERNS

CONFIG = "config.yaml"
INDEX = "alphabet/primitives/index.yaml"
DOMAIN_INDEX = "alphabet/primitives/by_domain/_domain_index.yaml"
DETAILED = "alphabet/primitives/detailed"
GRAPH = "alphabet/relationships/graph.yaml"
CONTRASTS = "alphabet/relationships/contrasts.yaml"
PRESUPPOSITIONS = "alphabet/relationships/presuppositions.yaml"
AFFINITIES = "alphabet/relationships/affinities.yaml"
VERSIONS = "alphabet/versions"
STATE = "reasoning/iteration_state.yaml"
CANDIDATES = "reasoning/pending_candidates.yaml"
HANDOFF = "reasoning/session_handoff.yaml"
LOGS = "reasoning/logs"
DECISIONS = "reasoning/decisions/_decision_index.yaml"
PARADOXES = "reasoning/paradoxes/_paradox_index.yaml"
REFLECTIONS = "reasoning/meta_reflections/_reflection_index.yaml"
REJECTED = "reasoning/rejected/rejected_candidates.yaml"
REJECTED_INDEX = "reasoning/rejected/_rejected_index.yaml"
CONCEPTS = "validation/benchmarks/test_concepts.yaml"
PRACTICE = "validation/benchmarks/practice_concepts.yaml"
COVERAGE = "validation/benchmarks/results/coverage_report.yaml"
DECOMPOSITIONS = "validation/benchmarks/decompositions/test_concepts.yaml"
CONSISTENCY = "validation/consistency/report.yaml"
CIRCULARITY = "validation/consistency/circularity_check.yaml"
REDUNDANCY = "validation/consistency/redundancy_check.yaml"
REPORT_MD, REPORT_YAML = "FINAL_REPORT.md", "FINAL_REPORT.yaml"

FOLDERS = (
    "alphabet/primitives/by_domain", DETAILED, "alphabet/relationships", VERSIONS,
    "calculus/implementations", "calculus/examples",
    LOGS, "reasoning/decisions", "reasoning/paradoxes", "reasoning/rejected", "reasoning/meta_reflections",
    "validation/benchmarks/results/coverage_by_iteration", "validation/benchmarks/decompositions",
    "validation/comparisons", "validation/consistency",
    "sources/leibniz", "sources/philosophical", "sources/modern_ontologies", "tools", "docs",
)  # fmt: skip


def domain_file(domain: str) -> str:
    """The file of a domain's primitives."""
    return f"alphabet/primitives/by_domain/{domain}.yaml"


def wanted() -> dict[str, list[dict[str, object]]]:
    """The files that hold the alphabet and the state of its making: an iteration reads them all, as globs."""
    names = [
        CONFIG, INDEX, DOMAIN_INDEX, "alphabet/primitives/by_domain/[a-z]*.yaml", "alphabet/relationships/*.yaml",
        "reasoning/*.yaml", DECISIONS, PARADOXES, REFLECTIONS, REJECTED, REJECTED_INDEX, CONCEPTS, PRACTICE,
        "validation/consistency/*.yaml",
    ]  # fmt: skip
    everything: list[dict[str, Any]] = [{"glob": name} for name in names]
    return {"globs": [
        *everything,
        {"glob": f"{LOGS}/iteration_*/summary.yaml", "last": 100},
        {"glob": "reasoning/meta_reflections/MR_*.yaml", "last": 1},
    ]}  # fmt: skip


RESTORABLE = (
    INDEX, "alphabet/primitives/by_domain/*.yaml", "alphabet/relationships/*.yaml", STATE, CANDIDATES, REJECTED, REJECTED_INDEX,
    HANDOFF, DECISIONS, PARADOXES, REFLECTIONS,
)  # fmt: skip
"""The files of a new alphabet that can be put back where they are damaged (ALPH-70)."""


def iteration_folder(iteration: int) -> str:
    """The folder of an iteration's logs."""
    return f"{LOGS}/iteration_{iteration:03d}"


_WANTED = (
    (re.compile(rf"{DETAILED}/([^/]+)"), "primitive_file"),
    (re.compile(r"reasoning/decisions/([^_/][^/]*)"), "decision"),
    (re.compile(r"reasoning/paradoxes/([^_/][^/]*)"), "paradox"),
    (re.compile(r"reasoning/meta_reflections/([^_/][^/]*)"), "reflection"),
    (re.compile(rf"{LOGS}/([^/]+)/.*"), "iteration"),
    (re.compile(rf"{VERSIONS}/([^/]+)/.*"), "version"),
)


def misnamed(paths: Iterable[str]) -> Iterator[str]:
    """One sentence for each file whose name is not of the pattern that its folder asks for."""
    for path in sorted(paths):
        for where, kind in _WANTED:
            found = where.fullmatch(path)
            if (
                found
                and not found[1].startswith(".")
                and PATTERNS[kind].fullmatch(found[1]) is None
            ):
                yield f"{path}: `{found[1]}` is not named like {PATTERNS[kind].pattern}"
                break
