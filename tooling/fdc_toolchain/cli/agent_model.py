"""A model in the chair of planner, coder and debugger: the port of the master controller over that of plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..workflows.model_port import Message, ModelFailed, ModelWaiting, validated

if TYPE_CHECKING:
    from ..effects.model import MessagesModel


class AskedModel:
    """Asks a model (port `workflows.model_port.ModelPort`); settings by role are those of the workspace."""

    def __init__(self, model: MessagesModel) -> None:
        self._model = model

    def complete(self, role: str, messages: Sequence[Message], schema: dict[str, Any]) -> dict[str, Any]:
        """The reply. Raises ModelFailed, and ModelWaiting for trouble that passes: the task can be resumed."""
        from ..effects.failure import ToolFailure
        from ..effects.model import Question
        from ..engine.ports import WorldFailed

        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        turns = [message for message in messages if message["role"] != "system"]
        text = turns[0]["content"] if len(turns) == 1 else "\n\n".join(f"{one['role']}: {one['content']}" for one in turns)
        try:
            reply = self._model.ask(Question(role, system, text, schema))
        except ToolFailure as failed:
            raise ModelFailed(f"the {role}: {failed}") from failed
        except WorldFailed as failed:
            raise ModelWaiting(f"the {role} cannot be asked now: {failed}") from failed
        return validated(reply.value, schema)


def tools_of(root: str) -> tuple[str, ...]:
    """The tools that a plan here may use, one line each: name, parameters, what it is for."""
    from ..resolve.link import Linker
    from ..resolve.settings import read_settings

    rows = []
    for name, tool in sorted(Linker(root, read_settings(root)).catalogue.tools.items()):
        if tool.forbidden is None:
            words = [item.name.upper() if item.required else f"[{item.name.upper()}]" for item in tool.parameters]
            rows.append(f"{' '.join([name, *words])}: {tool.row['summary']}")
    return tuple(rows)
