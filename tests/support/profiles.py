"""How hard Hypothesis tries: `default` in the default run, `soak` with HYPOTHESIS_PROFILE=soak."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def load() -> None:
    """Registers the profiles and chooses one. Two shared cores give no honest deadlines, so there are none."""
    slow_machine = [HealthCheck.too_slow]
    # the default run tries the same examples everywhere, so that it fails for a change and not by chance
    settings.register_profile(
        "default", deadline=None, suppress_health_check=slow_machine, print_blob=True, derandomize=True
    )
    settings.register_profile("soak", settings.get_profile("default"), max_examples=20_000, derandomize=False)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
