"""The model, agent or person for a task by writing files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model_port import Message, ModelFailed, ModelWaiting, validated


class PersonModel:
    """The model or person that answers by writing a file: a person, or another agent (port `ModelPort`)."""

    def __init__(self, root: str, task_id: str) -> None:
        self._root = root
        self._task = task_id

    def complete(
        self, role: str, messages: Sequence[Message], schema: dict[str, Any]
    ) -> dict[str, Any]:
        """The answer that lies there. Raises ModelWaiting while there is none, ModelFailed for one that is wrong."""
        from . import files

        try:
            path, found = files.ask(self._root, self._task, role, messages, schema)
        except OSError as failed:
            raise ModelFailed(f"the request cannot be left: {failed.strerror}") from failed
        if found is None:
            raise ModelWaiting(
                f"the {role}'s answer is awaited in {path}; the request lies beside it"
            )
        return validated(found, schema)
