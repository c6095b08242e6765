"""Changes that `benchmarks.mutants` does not count, because every finding is as before, each with the reason."""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {
}  # fmt: skip
"""By file, line and change: why no test can notice it. A line that is there no more ends the run of the mutants."""
