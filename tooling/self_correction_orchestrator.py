"""Applies the pending lessons of `knowledge_core/lessons.jsonl` and rebuilds AGENTS.md after each.

    python3 tooling/self_correction_orchestrator.py [--dry-run]

A protocol update goes through the protocol updater. A code change becomes a plan, which is linted and
executed before the lesson counts as applied. Killed at any moment, the next call goes on where it
stopped; each lesson keeps the history of what was done to it.
"""

from fdc_toolchain.cli.scripts.self_correction import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
