"""Progress of a run that `fdc agent` drives."""

from __future__ import annotations

from collections.abc import Sequence

from ...console.progress import Lines, Quiet


class AgentQuiet(Quiet):
    """Does not ask a person for code, because the controller answers such requests."""

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """Port `Progress`."""
        from ...tools.code_tools import ASKED

        return None if question.startswith(ASKED) else super().ask(question, above)


class AgentLines(AgentQuiet, Lines):
    """The same, with a line a step."""
