"""For tools of packs that start commands: the sandbox that plans use."""

from __future__ import annotations

from ..sandbox import views
from ..sandbox.sandbox import fence
from ..sandbox.scratch import scratch
from ..tools import shell

__all__ = ["fence", "scratch", "shell", "views"]  # fmt: skip
