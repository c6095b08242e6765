"""`config.yaml`: how an alphabet is built. An unknown key or a wrong type is an error that names its path (ALPH-64)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple


class ConfigError(ValueError):
    """The configuration is wrong; the sentence names file and key."""


class Rule(NamedTuple):
    """What a key has by itself, its least and its most, the words it can be; and its type, where the default does not tell."""

    default: Any
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    kind: type | None = None


MAX_CYCLES = 20
"""Cycles of a phase in one iteration: the plan's loops are as long."""
_FOLDERS = ("alphabet", "calculus", "reasoning", "validation")
_TEMPERATURES = {"proposer": 0.7, "critic": 0.3, "refiner": 0.5, "meta_reasoner": 0.5}
RULES: dict[str, Rule] = {
    "version": Rule("1.0.0"),
    "llm.provider": Rule("local", words=("local", "anthropic", "openai")),
    "llm.model": Rule(""),
    "llm.max_tokens": Rule(4096, 64, 200_000),
    "llm.timeout_seconds": Rule(120, 1, 3600, kind=float),
    "llm.retry_attempts": Rule(3, 1, 20),
    "llm.retry_delay_seconds": Rule(5, 0, 600, kind=float),
    **{f"temperatures.{role}": Rule(value, 0, 2) for role, value in _TEMPERATURES.items()},
    "iteration.expansion_cycles": Rule(4, 0, MAX_CYCLES),
    "iteration.consolidation_cycles": Rule(2, 0, MAX_CYCLES),
    "iteration.composition_cycles": Rule(3, 0, MAX_CYCLES),
    "iteration.meta_reflection_interval": Rule(5, 1, 1000),
    "iteration.candidates_per_cycle": Rule(3, 1, 20),
    "stopping.coverage_threshold": Rule(0.90, 0, 1),
    "stopping.diminishing_returns_window": Rule(10, 1, 100),
    "stopping.diminishing_returns_threshold": Rule(2, 0, 1000),
    "stopping.max_iterations": Rule(500, 1, 1_000_000),
    "stopping.stability_window": Rule(10, 1, 100),
    "logging.level": Rule("DEBUG", words=("DEBUG", "INFO", "WARNING", "ERROR")),
    "logging.include_raw_llm_output": Rule(True),
    "validation.run_consistency_check": Rule(True),
    "validation.run_coverage_check": Rule(True),
    "validation.check_interval": Rule(10, 1, 1000),
    "pretty_print_yaml": Rule(False),
    **{f"paths.{name}": Rule(name, words=(name,)) for name in _FOLDERS},
}
DEFAULTS: dict[str, Any] = {}
for _path, _rule in RULES.items():
    _table, _, _name = _path.rpartition(".")
    (DEFAULTS.setdefault(_table, {}) if _table else DEFAULTS)[_name] = _rule.default
_KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def config_of(value: object, file: str = "config.yaml") -> dict[str, object]:
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
    kind: Any = rule.kind or type(rule.default)
    value: Any = float(given) if kind is float and type(given) is int else given
    if type(value) is not kind:
        raise ConfigError(f"{file}: `{path}` takes {_KINDS[kind]}, found {_shown(value)}")
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
