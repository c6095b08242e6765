"""What tools need of this machine and its operator, as their rows say it (`tools.tool_rows`, `runs.granted`)."""

from __future__ import annotations

from typing import NamedTuple


class Where(NamedTuple):
    """A need (`what`) of the steps that write one of the `values` out for a parameter."""

    what: str
    parameter: str
    values: tuple[str, ...]


GIT = ("sandbox", "git")
