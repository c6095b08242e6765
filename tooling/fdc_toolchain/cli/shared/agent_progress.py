"""What the user sees of a run that `fdc agent` drives."""

from __future__ import annotations

from collections.abc import Sequence

from ...console.progress import Lines, Quiet


class AgentQuiet(Quiet):
    """Requests for code are the controller's own business and are not put to a person."""

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """Port `Progress`."""
        from ...tools.code_tools import ASKED

        return None if question.startswith(ASKED) else super().ask(question, above)


class AgentLines(AgentQuiet, Lines):
    """The same, with a line a step."""
