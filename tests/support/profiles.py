"""How hard the tests try, and where they begin: `default` in the default run; HYPOTHESIS_PROFILE names `mutants` or `soak`."""

from __future__ import annotations

import os
import random
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
SOAK = _PROFILE == "soak"
_PARTS = {"soak": 1, "mutants": 2}.get(_PROFILE, 4)


def share(full: int) -> int:
    """How many of so many generated cases a test takes: a quarter of them by default, half for mutants, all in the soak."""
    return -(-full // _PARTS)


def quick_and_whole(quick: int, whole: int) -> list[Any]:
    """How many cases a law takes in `make test`, and in `make long`: for `pytest.mark.parametrize`."""
    return [quick, pytest.param(whole, marks=pytest.mark.long)]


@cache
def seed() -> int:
    """Where the tests that make their own cases begin: FDC_TEST_SEED, a new number in the soak, otherwise the commit's files.

    So each commit is tried in new places, and a run of the tests says of one commit what another run says of it.
    """
    given = os.environ.get("FDC_TEST_SEED")
    if given:
        return int(given)
    if SOAK:
        return random.SystemRandom().randrange(10**9)
    command = ["git", "-C", str(Path(__file__).parents[2]), "rev-parse", "HEAD:"]
    tree = subprocess.run(command, capture_output=True, check=False).stdout
    return int.from_bytes(sha256(tree).digest()[:4], "big") % 10**9


_BEGIN = seed() if SOAK or os.environ.get("FDC_TEST_SEED") else 0


def cases(count: int) -> range:
    """The seeds of so many cases of a law that is always tried at the same places, but in the soak and for FDC_TEST_SEED."""
    return range(_BEGIN, _BEGIN + count)


LONG_PART = os.environ.get("FDC_LONG_PART", "1/1")


def in_part(nodeid: str, part: str, first: int) -> bool:
    """Whether a long test is in a part of them, for example `2/3`.

    CI has fifteen minutes: a commit leaves out some, and another commit, with another number `first`, others.
    """
    wanted, _, parts = part.partition("/")
    drawn = int.from_bytes(sha256(nodeid.encode()).digest()[:4], "big") + first
    return drawn % int(parts) < int(wanted)


def load() -> None:
    """Registers the profiles and chooses one. Two shared cores give no honest deadlines, so there are none."""
    slow_machine = [HealthCheck.too_slow]
    # the default run tries the same examples everywhere, so that it fails for a change and not by chance
    settings.register_profile(
        "default", max_examples=50, deadline=None, database=None, suppress_health_check=slow_machine, print_blob=True,
        derandomize=True,
    )  # fmt: skip
    settings.register_profile("mutants", settings.get_profile("default"))
    settings.register_profile(
        "soak", settings.get_profile("default"), max_examples=20_000, derandomize=False
    )
    settings.load_profile(_PROFILE)
    if not SOAK:
        # Hypothesis takes constants out of the modules that are loaded; which those are depends on the tests that ran
        # earlier in the same worker. There is no setting for it (tests/property/test_profiles.py sees whether this works).
        # Its plugin for pytest asks too, in each worker: half a second.
        providers._get_local_constants = Constants
