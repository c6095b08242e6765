"""Alphabets to test with, answers of the roles, and a model that answers each role by what it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.alphabet.calculus import primes
from fdc_packs.alphabet.iteration.scaffold import new_files
from fdc_packs.alphabet.lexicon import wordnet
from fdc_packs.alphabet.model import EMPTY, Alphabet, Primitive, alphabet_of
from fdc_packs.alphabet.state_files import files_of
from fdc_packs.alphabet.store import digest

from .inside import fdc
from .messages_api import Item, Server, messages_api, reply

AT = "2026-01-31T12:00:00Z"
FIXED = {"SOURCE_DATE_EPOCH": "1769860800"}


def need_dictionary() -> None:
    """Skips a test of what is embedded where WordNet's files are not installed."""
    if wordnet.find("/") is None:
        pytest.skip("WordNet's files are not installed (apt-get install wordnet-base)")


def primitive(number: int, label: str, **more: Any) -> Primitive:
    """A primitive with that number as its id, and a prime of its own."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    fields: dict[str, Any] = {"domain": "being", "definition": f"what {label} is", **more}
    return Primitive(f"PRM_{number:04d}", label, primes[number - 1], **fields)


def alphabet(*labels: str, **more: Any) -> Alphabet:
    """Primitives of these labels; keywords by label say more of each."""
    return alphabet_of(
        primitive(number, label, **more.get(label, {})) for number, label in enumerate(labels, 1)
    )


def tree_of(some: Alphabet = EMPTY, **files: str) -> dict[str, Any]:
    """What an iteration reads of an alphabet, as `begin_alphabet` returns it."""
    texts = new_files(AT, {"validation/benchmarks/test_concepts.yaml": "test_concepts: []\n"}, "")
    texts |= files_of(some, "0.0.0", 0, AT, {}, pretty=False) | files
    texts = {path: text for path, text in texts.items() if path.endswith(".yaml")}
    return {"files": texts, "digest": digest(texts), "at": AT}


def candidate(label: str, **more: Any) -> dict[str, Any]:
    """A candidate with every key of ALPH-07."""
    return {
        "label": label, "informal_definition": f"what {label} is", "domain": "being", "proposed_symbol": label[:1].upper(),
        "ostensive_examples": [f"a {label}"], "negative_examples": ["nothing"], "primitiveness_argument": "it is simple",
        "decomposition_resistance": "it has no parts",
        "sources": [{"philosophical_tradition": "Leibniz", "specific_reference": "Monadology 1"}], **more,
    }  # fmt: skip


def proposal(*labels: str) -> dict[str, Any]:
    """A proposer's answer."""
    return {"proposer_output": {"candidates": [candidate(label) for label in labels]}}


def criticism(name: str, verdict: str = "ACCEPT", **attacks: dict[str, Any]) -> dict[str, Any]:
    """A critic's answer on one candidate; keywords change attacks."""
    made: dict[str, dict[str, Any]] = {
        "decomposition": {"attempts": ["analytic: -", "synthetic: -", "functional: -"], "survived": True, "notes": "none"},
        "circularity": {"dependency_trace": [], "circular_paths": [], "survived": True, "notes": ""},
        "redundancy": {"expression_attempts": [], "can_be_expressed": False, "using_primitives": None, "notes": ""},
        "edge_cases": {"cases_found": [], "severity": "low", "notes": ""},
        "cultural_variance": {
            "evidence_for_universality": [], "evidence_against": [], "assessment": "universal", "notes": "",
        },
        "parsimony": {"expressiveness_value": "high", "alternatives_considered": [], "necessary": True, "notes": ""},
    }  # fmt: skip
    made = {key: {**value, **attacks.get(key, {})} for key, value in made.items()}
    return {"critic_output": {
        "candidate_id": name, "attacks": made, "verdict": verdict, "confidence": 0.9,
        "reasoning_summary": "it withstood", "key_insight": None,
    }}  # fmt: skip


def refinement(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A refiner's answer."""
    body = {
        "action": "INTEGRATE",
        "integrations": list(rows),
        "conflicts_detected": [],
        "conflicts_resolved": [],
        **more,
    }
    return {"refiner_output": body}


def meta(decision: str = "CONTINUE", **more: Any) -> dict[str, Any]:
    """A reflection; keywords go into its corrections."""
    return {"meta_reflection": {
        "progress": {
            "primitives_added": 0, "primitives_rejected": 0, "acceptance_rate": 0.0,
            "coverage_before": 0.0, "coverage_after": 0.0,
        },
        "patterns_observed": [{"pattern": "p", "frequency": 1, "implications": "i"}],
        "strategy_assessment": {
            "proposer_effectiveness": 3, "critic_calibration": "balanced", "domain_coverage_balance": "even",
        },
        "philosophical_observations": {"assumptions_identified": [], "tradition_bias": "none", "leibniz_alignment": 3},
        "course_corrections": {
            "strategy_adjustments": [], "domain_priorities": ["time"], "criterion_calibration": "nothing more is to be had",
            **more,
        },
        "decision": decision, "next_period_predictions": [],
        "insights_for_archive": [{"insight": "words are few", "category": "substantive"}],
    }}  # fmt: skip


CONFIG = """iteration: {expansion_cycles: 1, consolidation_cycles: 1, composition_cycles: 3, candidates_per_cycle: 2}
llm: {provider: anthropic, model: m, retry_attempts: 2, retry_delay_seconds: 0}
"""


def made(folder: Path, config: str = "") -> Path:
    """A new alphabet made by `fdc alphabet init`."""
    done = fdc("alphabet", "init", str(folder), cwd=folder.parent, env=FIXED)
    assert 0 == done.returncode, done.stderr
    if config:
        (folder / "config.yaml").write_text(config)
    return folder


def role_of(body: dict[str, Any]) -> str:
    """Which role a request is for."""
    found = re.match(r"You are the ([A-Z-]+) of", body["system"][0]["text"])
    assert found is not None
    return found[1].lower().replace("-", "_")


def asked_candidates(body: dict[str, Any]) -> list[str]:
    """The ids of the candidates in a request, in order."""
    return list(dict.fromkeys(re.findall(r"CAND_\d{3}_\d{3}", body["messages"][0]["content"])))


@contextmanager
def answering(
    answer: Callable[[str, dict[str, Any]], str | Item],
) -> Iterator[tuple[Server, dict[str, str]]]:
    """A model that answers with what the function makes of the role and the request; the environment that leads to it."""
    with messages_api([]) as server:

        def take(body: dict[str, Any], headers: dict[str, str]) -> Item:
            with server.lock:
                server.requests.append(body)
                server.headers.append(headers)
            if "system" not in body:  # of the API of OpenAI
                told, *turns = body["messages"]
                body = {**body, "system": [{"text": told["content"]}], "messages": turns}
            said = answer(role_of(body), body)
            return reply(said) if isinstance(said, str) else said

        server.take = take  # type: ignore[method-assign]
        yield (
            server,
            {**FIXED, "FDC_MODEL": "m", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"},
        )


def good(role: str, body: dict[str, Any]) -> str:
    """A model that does as it is told: new labels, everything accepted."""
    ids = asked_candidates(body)
    if role == "proposer":
        found = re.search(r"Iteration (\d+), cycle (\d+)", body["messages"][0]["content"])
        assert found is not None
        return json.dumps(
            proposal(*(f"{word} {found[1]} {found[2]}" for word in ("alpha", "beta")))
        )
    if role == "critic":
        return json.dumps({"evaluations": [criticism(name) for name in ids]})
    if role == "refiner":
        return json.dumps(
            refinement(*({"candidate_id": name, "relationships_added": []} for name in ids))
        )
    return json.dumps(meta())


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of an alphabet but fdc's own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".fdc" not in path.relative_to(folder).parts
    }


def first_primes(count: int) -> list[int]:
    """The first primes; the n-th is below 20 n for every n that a test asks for."""
    return primes.up_to(20 * count)[:count]
