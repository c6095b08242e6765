"""Where packs lie beside fdc: the only file of the core that knows the name of their package."""

from __future__ import annotations

import os

PACKAGE = "fdc_packs"
DISTRIBUTION = "fdc-toolchain"
FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), PACKAGE
)
GROUP = "fdc.packs"
"""The entry-point group of packs of other distributions; a value is the name of the pack's package."""
FILE = "pack.toml"
