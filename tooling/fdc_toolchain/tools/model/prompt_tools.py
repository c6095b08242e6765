"""Tools that are prompts: `run: {prompt, role, schema?, embedded?}` in a catalogue.

The prompt is a Jinja2 text whose variables are the tool's parameters. A line of three dashes parts
it: what stands above tells the model what it is, what stands below is the question. Values come
from files, pages and other models, so a prompt puts them in as `{{ value | data }}`: fenced by a
mark that the value cannot hold, and named as data to the model. What stands above a `{{ cache }}` is
the same in the next question of its kind, so that a server need not read it again.
"""

from __future__ import annotations

import functools
import json
import re
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ...engine.events import Outcome
from ...text.fence import RULE, fenced
from ...workspace.failure import ToolFailure

if TYPE_CHECKING:
    from ...program.model import ToolRow
    from .question import Question, Reply

_PART = re.compile(r"^---\n", re.MULTILINE)


class Model(Protocol):
    """The model or person that answers: `tools.model.http_model.HttpModel`, or a double."""

    def ask(self, question: Question) -> Reply:
        """The answer. Raises ToolFailure and WorldFailed."""

    def close(self) -> None:
        """Closes the model; no questions follow."""


Embedded = Callable[[str, dict[str, object]], object]
"""Calls `module:function` with the step's arguments."""


def perform(
    declared: ToolRow, args: Mapping[str, object], model: Model | None, embedded: Embedded
) -> Outcome:
    """Asks the model, or without a model the embedded function. Raises ToolFailure if both are missing."""
    run = declared["run"]
    given = {parameter["name"]: args.get(parameter["name"]) for parameter in declared["parameters"]}
    if model is None:
        if "embedded" not in run:
            raise ToolFailure(
                "unavailable",
                "no model is configured (FDC_MODEL, or --model), and the tool needs one",
            )
        value = embedded(
            run["embedded"], {name: value for name, value in given.items() if value is not None}
        )
        nothing: dict[str, float] = dict.fromkeys(
            declared.get("cost", {}), 0.0
        )  # what was set aside for a model is not spent
        return (
            value
            if isinstance(value, Outcome)
            else Outcome(value, None, nothing, {"model": "embedded"})
        )
    from .question import Question

    texts = run["texts"]
    if "tools" in texts:
        given["tools"] = texts["tools"]
    system, *kept, text = parts(texts["prompt"], given)
    schema = json.loads(texts["schema"]) if "schema" in texts else None
    cost = declared.get("cost", {})
    warm = _temperature(run, given)
    reply = model.ask(
        Question(
            run["role"],
            system,
            text,
            schema,
            _most(cost, "tokens"),
            _most(cost, "model_calls"),
            warm,
            tuple(kept),
        )
    )
    return Outcome(reply.value, None, reply.usage, reply.notes)


def _most(cost: Mapping[str, float | str], measure: str) -> int | None:
    most = cost.get(measure)
    return None if most is None or isinstance(most, str) else int(most)


def _temperature(run: Mapping[str, Any], given: Mapping[str, Any]) -> float | None:
    """The temperature; None: the server's default. Raises ToolFailure."""
    value = given.get(run.get("temperature", ""))
    if value is None:
        return None
    try:
        warm = float(value)
    except (TypeError, ValueError):
        raise ToolFailure("argument", f"`{run['temperature']}` is not a number") from None
    if not 0 <= warm <= 2:
        raise ToolFailure("argument", f"`{run['temperature']}` is between 0 and 2, found {warm:g}")
    return warm


def rendered(prompt: str, values: Mapping[str, object]) -> tuple[str, str]:
    """The system prompt and the question. Raises ToolFailure for a prompt that cannot be filled in."""
    system, *text = parts(prompt, values)
    return system, "".join(text)


def parts(prompt: str, values: Mapping[str, object]) -> list[str]:
    """The system prompt and the question, split at `{{ cache }}`. Raises ToolFailure."""
    from .prompt_pages import filled

    halves = _PART.split(prompt.replace("\r\n", "\n"), 1)
    system, text = halves if len(halves) == 2 else ("", halves[0])
    mark = f"<{secrets.token_hex(16)}>"  # no value knows it
    try:
        made = [filled(_page(half), {**values, "cache": mark}).strip() for half in (system, text)]
    except RecursionError:
        raise ToolFailure("prompt", "the prompt cannot be filled in: it calls itself") from None
    except Exception as wrong:  # a template can make every operator and filter raise
        raise ToolFailure("prompt", f"the prompt cannot be filled in: {wrong}") from wrong
    system, text = made[0].replace(mark, ""), made[1]
    if "<data-" in text:
        system = f"{system}\n\n{RULE}".strip()
    return [system, *text.split(mark)]


def variables(prompt: str) -> set[str]:
    """The variables of a prompt."""
    from jinja2 import meta

    return set(meta.find_undeclared_variables(_pages().parse(prompt))) - {"cache"}


def _numbered(text: str, first: int = 1) -> str:
    """Lines with their numbers."""
    return "\n".join(
        f"{number}: {line}" for number, line in enumerate(text.split("\n"), int(first))
    )


@functools.lru_cache(maxsize=64)
def _page(text: str) -> Any:
    return _pages().from_string(text)


@functools.cache
def _pages() -> Any:
    from .prompt_pages import environment

    return environment({"data": fenced, "numbered": _numbered})
