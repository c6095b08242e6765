"""Which tests fail, as unittest's results say; a script without tests says it by its exit code alone."""

from __future__ import annotations

from typing import Any

from . import time_limit


def watch(outcomes: dict[str, bool]) -> None:
    """From here on it is taken down how each test ends."""
    from unittest import case, result

    tests: Any = case.TestCase
    run = tests.run

    def limited(self: Any, *rest: Any, **named: Any) -> Any:
        time_limit.start(self.id())
        try:
            return run(self, *rest, **named)
        finally:
            time_limit.end()

    tests.run = limited
    results: Any = result.TestResult
    for name in ("addSuccess", "addError", "addFailure", "addSubTest"):
        _watch(results, name, outcomes)


def _watch(owner: Any, name: str, outcomes: dict[str, bool]) -> None:
    inner = getattr(owner, name)

    def ended(self: Any, test: Any, *rest: Any) -> Any:
        if name != "addSubTest" or rest[-1] is not None:
            outcomes[test.id()] = outcomes.get(test.id(), True) and name == "addSuccess"
        return inner(self, test, *rest)

    setattr(owner, name, ended)
