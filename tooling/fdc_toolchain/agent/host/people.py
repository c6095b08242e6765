"""Asks an agent or a person through files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model_port import Message, ModelFailed, ModelWaiting, validated


class PersonModel:
    """A person or another agent that answers by writing a file (port `ModelPort`)."""

    def __init__(self, root: str, task_id: str) -> None:
        self._root = root
        self._task = task_id

    def complete(
        self, role: str, messages: Sequence[Message], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """The answer in the file. Raises ModelWaiting if it does not exist yet, ModelFailed if it is invalid."""
        from . import files

        try:
            path, found, begun = files.ask(self._root, self._task, role, messages, schema)
        except OSError as failed:
            raise ModelFailed(f"the request cannot be written: {failed.strerror}") from failed
        if found is None:
            yet = ", which is not a JSON object yet" if begun else ""
            raise ModelWaiting(
                f"waiting for the {role}'s answer in {path}{yet}; the request is in the same folder"
            )
        return validated(found, schema)
