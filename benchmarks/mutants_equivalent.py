"""Changes that `benchmarks.mutants` does not count, because every finding is as before, each with the reason."""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("rules/solver/files/log.py", "if entry.rest is SAME:", "0: if ... -> if False"):
        "quicker only: what changes nothing is joined with the others, and changes nothing",
    ("rules/solver/files/log.py", "if start == len(self.entries):", "0: if ... -> if False"):
        "quicker only: where no entry follows, what is joined below is what was found",
    ("rules/solver/files/log.py", "if by_commands:", "0: if ... -> if False"):
        "quicker only: the entries one by one come to what their blocks come to (tests/unit/test_file_log.py)",
    ("rules/solver/files/step_paths.py", "if found is None:", "0: if ... -> if True"):
        "a cache: the names of a plan are found anew, and are the same",
    ("rules/solver/files/called.py", "if self._before is not None:", "0: if ... -> if False"):
        "quicker only: a call that is not passed over is looked at, and says the same (tests/property/test_called_again.py)",
    ("rules/solver/files/guard.py", "self._above[folder] = found", "0: left out: self._above[folder] = found"):
        "a cache: the way to the folder is looked at again, and is the same",
    ("linking/graph.py", "descended = True", "0: left out: descended = True"):
        "the height of a plan is computed once more when all that it calls is known, and only grows",
}  # fmt: skip
"""By file, line, and column in the line with the change: why no test can notice it. A line that is gone ends the run."""

SURVIVORS: dict[tuple[str, str, str], str] = {}
"""The same for changes that are counted, and that no test noticed: what is known of each."""
