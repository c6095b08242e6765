"""What the tools of one run work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..named_tuples import NamedTuple
from ..workspace.files import Root
from ..workspace.operator import OPERATOR, Operator
from .context import Handler, Nested
from .model.prompt_tools import Model


class Workbench(NamedTuple):
    """What a run's tools work with. `ask` returns a person's answer, or None without a person.

    `answers` are those that were given already, by address, and `givers` what the journal says of who gave them.
    `overrides` are handlers of tools that live above this room. `model` answers the tools that are prompts. `met`: the run
    may have looked at text from outside before. `taken`: the steps that a fork took over, by run and address. `nested`
    drives plans within steps. `shown`: by address, what the approvals showed that `answers` are for. `opened`: a person let
    the run change what its plans name of what is protected (`approvals.openings.approved`). `ask` takes, of an approval, the
    lines of what it shows as well.
    """

    run: str
    root: Root
    run_folder: str
    say: Callable[[str], None]
    ask: Callable[..., str | None]
    answers: Mapping[str, str]
    shell_seconds: float
    operator: Operator = OPERATOR
    model: Model | None = None
    overrides: Mapping[str, Handler] = MappingProxyType({})
    givers: Mapping[str, dict[str, Any]] = MappingProxyType({})
    met: bool = True
    taken: frozenset[tuple[str, str]] = frozenset()
    shown: Mapping[str, dict[str, Any]] = MappingProxyType({})
    opened: bool = False
    nested: Nested | None = None

    def close(self) -> None:
        """Closes what was opened for the run: its root, and the lines to the model."""
        self.root.close()
        if self.model is not None:
            self.model.close()
