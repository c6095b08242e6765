"""`config.yaml`: how an alphabet is built. An unknown key or a wrong type is an error that names its path (ALPH-64)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple


class ConfigError(ValueError):
    """The configuration is wrong; the sentence names file and key."""


class Rule(NamedTuple):
    """What a key takes: its type, its least and its most, or the words it can be."""

    kind: type
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()


MAX_CYCLES = 20
"""Cycles of a phase in one iteration: the plan's loops are as long."""

DEFAULTS: dict[str, Any] = {
    "version": "1.0.0",
    "llm": {
        "provider": "local", "model": "", "max_tokens": 4096,
        "timeout_seconds": 120, "retry_attempts": 3, "retry_delay_seconds": 5,
    },
    "temperatures": {"proposer": 0.7, "critic": 0.3, "refiner": 0.5, "meta_reasoner": 0.5},
    "iteration": {
        "expansion_cycles": 4, "consolidation_cycles": 2, "composition_cycles": 3,
        "meta_reflection_interval": 5, "candidates_per_cycle": 3,
    },
    "stopping": {
        "coverage_threshold": 0.90, "diminishing_returns_window": 10, "diminishing_returns_threshold": 2,
        "max_iterations": 500, "stability_window": 10,
    },
    "logging": {"level": "DEBUG", "include_raw_llm_output": True},
    "validation": {"run_consistency_check": True, "run_coverage_check": True, "check_interval": 10},
    "pretty_print_yaml": False,
    "paths": {"alphabet": "alphabet", "calculus": "calculus", "reasoning": "reasoning", "validation": "validation"},
}  # fmt: skip

_T = Rule(float, 0, 2)
_CYCLES = Rule(int, 0, MAX_CYCLES)
RULES: dict[str, Rule] = {
    "version": Rule(str),
    "llm.provider": Rule(str, words=("local", "anthropic", "openai")),
    "llm.model": Rule(str),
    "llm.max_tokens": Rule(int, 64, 200_000),
    "llm.timeout_seconds": Rule(float, 1, 3600),
    "llm.retry_attempts": Rule(int, 1, 20),
    "llm.retry_delay_seconds": Rule(float, 0, 600),
    **{f"temperatures.{role}": _T for role in DEFAULTS["temperatures"]},
    "iteration.expansion_cycles": _CYCLES,
    "iteration.consolidation_cycles": _CYCLES,
    "iteration.composition_cycles": _CYCLES,
    "iteration.meta_reflection_interval": Rule(int, 1, 1000),
    "iteration.candidates_per_cycle": Rule(int, 1, 20),
    "stopping.coverage_threshold": Rule(float, 0, 1),
    "stopping.diminishing_returns_window": Rule(int, 1, 100),
    "stopping.diminishing_returns_threshold": Rule(int, 0, 1000),
    "stopping.max_iterations": Rule(int, 1, 1_000_000),
    "stopping.stability_window": Rule(int, 1, 100),
    "logging.level": Rule(str, words=("DEBUG", "INFO", "WARNING", "ERROR")),
    "logging.include_raw_llm_output": Rule(bool),
    "validation.run_consistency_check": Rule(bool),
    "validation.run_coverage_check": Rule(bool),
    "validation.check_interval": Rule(int, 1, 1000),
    "pretty_print_yaml": Rule(bool),
    **{f"paths.{name}": Rule(str, words=(name,)) for name in DEFAULTS["paths"]},
}
_KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
}


def config_of(value: Any, file: str = "config.yaml") -> dict[str, Any]:
    """The configuration with its defaults. Raises ConfigError."""
    from fdc_toolchain.api.text import did_you_mean

    found = copy.deepcopy(DEFAULTS)
    if value is None:
        return found
    if not isinstance(value, Mapping):
        raise ConfigError(f"{file}: expected a table")
    for key, given in value.items():
        if key not in found:
            raise ConfigError(f"{file}: unknown key `{key}`{_hint(did_you_mean(str(key), found))}")
        if not isinstance(found[key], dict):
            found[key] = _fitting(given, str(key), file)
            continue
        if not isinstance(given, Mapping):
            raise ConfigError(f"{file}: `{key}` takes a table, found {_shown(given)}")
        for name, inner in given.items():
            if name not in found[key]:
                raise ConfigError(
                    f"{file}: unknown key `{key}.{name}`{_hint(did_you_mean(str(name), found[key]))}"
                )
            found[key][name] = _fitting(inner, f"{key}.{name}", file)
    if found["llm"]["provider"] != "local" and not found["llm"]["model"]:
        raise ConfigError(
            f"{file}: `llm.provider` is {found['llm']['provider']}, and `llm.model` names no model"
        )
    return found


def _fitting(given: Any, path: str, file: str) -> Any:
    rule = RULES[path]
    value: Any = float(given) if rule.kind is float and type(given) is int else given
    kind: Any = rule.kind
    if type(value) is not kind:
        raise ConfigError(f"{file}: `{path}` takes {_KINDS[rule.kind]}, found {_shown(value)}")
    if rule.words and value not in rule.words:
        raise ConfigError(
            f"{file}: `{path}` is {' or '.join(f'`{word}`' for word in rule.words)}, found {_shown(value)}"
        )
    if (
        rule.least is not None
        and rule.most is not None
        and not rule.least <= float(value) <= rule.most
    ):
        raise ConfigError(
            f"{file}: `{path}` is between {rule.least:g} and {rule.most:g}, found {_shown(value)}"
        )
    return value


def _hint(hint: str | None) -> str:
    return f"; {hint}" if hint else ""


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)[:60]
