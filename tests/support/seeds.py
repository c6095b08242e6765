"""The seed documents, where somebody has put them beside the checkout (or in $FDC_SEEDS); most people have not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .repository import ROOT

_FOLDER = Path(os.environ.get("FDC_SEEDS") or ROOT.parent.joinpath("shared", "seeds"))


def seed(name: str) -> Path:
    """The path of a seed document. Skips the test that asks where it is absent."""
    path = _FOLDER / name
    if not path.is_file():
        pytest.skip(f"the seed document {name} is not here")
    return path
