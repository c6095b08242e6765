"""A model as planner, coder and debugger: implements the master controller's port with that of plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..model_port import Malformed, Message, ModelFailed, ModelWaiting, validated

if TYPE_CHECKING:
    from ...tools.model.question import Choice, Question, Reply
    from .budget import Purse


class Asks(Protocol):
    """The model or person that answers a question, with its settings."""

    def ask(self, question: Question) -> Reply:
        """The answer. Raises ToolFailure and WorldFailed."""

    def choice(self, role: str) -> Choice:
        """The settings of a role."""


class PlanForm(NamedTuple):
    """How a planner writes a plan as JSON."""

    schema: dict[str, Any]
    text: Callable[[Any], str]


class AskedModel:
    """Asks a model (port `agent.model_port.ModelPort`); settings by role are those of the workspace.

    `purse`: the task's account, where it has a budget. `plans`: the schema that the planner is asked for in place of its own, and
    the text of the plan in such a reply.
    """

    def __init__(
        self, model: Asks, purse: Purse | None = None, plans: PlanForm | None = None
    ) -> None:
        self._model = model
        self._plans = plans
        self._purse = purse if purse is not None and purse.budget else None

    def complete(
        self, role: str, messages: Sequence[Message], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """The reply. Raises ModelFailed, and ModelWaiting for temporary failures and a used-up budget."""
        from ...engine.ports import WorldFailed
        from ...tools.model.question import Question
        from ...workspace.failure import ToolFailure
        from .budget import Exhausted

        system = "\n\n".join(
            message["content"] for message in messages if message["role"] == "system"
        )
        turns = [message for message in messages if message["role"] != "system"]
        text = (
            turns[0]["content"]
            if len(turns) == 1
            else "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
        )
        plans = self._plans if role == "planner" else None
        try:
            asked = schema if plans is None else plans.schema
            question = self._limited(Question(role, system, text, asked))
        except Exhausted as none:
            raise ModelWaiting(str(none)) from none
        try:
            reply = self._model.ask(question)
        except ToolFailure as failed:
            self._settle(failed.usage)
            if self._purse is not None and failed.kind == "budget":
                measure = next(one for one in ("tokens", "money") if one in self._purse.budget)
                raise ModelWaiting(str(self._purse.exhausted(measure))) from failed
            kind = Malformed if failed.kind == "reply" else ModelFailed
            raise kind(f"the {role}: {failed}") from failed
        except WorldFailed as failed:
            self._settle(None)
            raise ModelWaiting(f"the {role} is not available now: {failed}") from failed
        self._settle(reply.usage)
        return validated(
            reply.value if plans is None else {"plan": plans.text(reply.value)}, schema
        )

    def _limited(self, question: Question) -> Question:
        """The question with the reserved amounts as its limits. Raises Exhausted."""
        if self._purse is None:
            return question
        from ...tools.model.prices import most

        choice = self._model.choice(question.role)
        turns = choice.repairs + 1
        size = (
            len(f"{question.system}{question.text}{question.schema}".encode("utf-8", "replace"))
            + 2000
        )
        held = self._purse.reserve(
            turns, turns * (size + turns * choice.max_tokens), most(choice.model, 1)
        )
        calls, tokens = held.get("model_calls"), held.get("tokens")
        return question._replace(
            calls=None if calls is None else int(calls),
            tokens=None if tokens is None else int(tokens),
        )

    def _settle(self, usage: dict[str, float] | None) -> None:
        if self._purse is not None:
            self._purse.settle(usage)


def tools_of(root: str) -> tuple[str, ...]:
    """The tools that a plan here may use, one line each: name, parameters, summary."""
    from ...linking.link import Linker
    from ...linking.project.settings import read_settings

    rows = []
    linker = Linker(root, read_settings(root))
    for name, tool in sorted(linker.in_force.tools.items()):
        if tool.forbidden is None:
            words = [
                item.name.upper() if item.required else f"[{item.name.upper()}]"
                for item in tool.parameters
            ]
            rows.append(f"{' '.join([name, *words])}: {tool.row['summary']}")
    return tuple(rows)
