"""Commands that tools of packs start, fenced in as those of plans are."""

from __future__ import annotations

from ..sandbox import views
from ..sandbox.sandbox import fence
from ..sandbox.scratch import scratch
from ..tools import shell

__all__ = ["fence", "scratch", "shell", "views"]  # fmt: skip
