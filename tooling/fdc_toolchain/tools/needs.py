"""What tools need of this machine and its operator, as their rows say it (`tools.runtime`, `runs.granted`)."""

from __future__ import annotations

from typing import NamedTuple


class Where(NamedTuple):
    """A need (`what`) of the steps that write one of the `values` out for a parameter."""

    what: str
    parameter: str
    values: tuple[str, ...]


GIT = ("sandbox", "git")
RERANK = (Where("rerank", "rerank", ("yes",)),)
BY_TARGET = (
    Where("web", "target", ("external_web", "external_repository")), Where("search", "scope", ("narrow",)),
    Where("pages", "scope", ("broad",)), Where("pages", "target", ("external_repository",)),
)  # fmt: skip
