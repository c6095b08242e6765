"""Models in packs: which one answers, what it costs, what it was asked, and the local embedder."""

from __future__ import annotations

from ..runs.cost.models import model_for
from ..tools.model.embedder import embedded, missing
from ..tools.model.prices import most
from ..tools.model.prompt_tools import rendered

__all__ = ["embedded", "missing", "model_for", "most", "rendered"]  # fmt: skip
