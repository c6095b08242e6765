"""How hard Hypothesis tries: `default` in the default run, `soak` with HYPOTHESIS_PROFILE=soak."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"


def share(full: int) -> int:
    """How many of so many generated cases a test takes: half of them in the default run, all in the soak."""
    return full if SOAK else (full + 1) // 2


def load() -> None:
    """Registers the profiles and chooses one. Two shared cores give no honest deadlines, so there are none."""
    slow_machine = [HealthCheck.too_slow]
    # the default run tries the same examples everywhere, so that it fails for a change and not by chance
    settings.register_profile(
        "default", deadline=None, database=None, suppress_health_check=slow_machine, print_blob=True, derandomize=True
    )
    settings.register_profile("soak", settings.get_profile("default"), max_examples=20_000, derandomize=False)
    chosen = os.environ.get("HYPOTHESIS_PROFILE", "default")
    settings.load_profile(chosen)
    if chosen == "default":
        # Hypothesis takes constants out of the modules that are loaded; which those are depends on the tests that ran
        # earlier in the same worker. There is no setting for it (tests/property/test_profiles.py sees whether this works).
        provider: Any = HypothesisProvider
        provider._local_constants = Constants()
