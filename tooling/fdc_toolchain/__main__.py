"""`python -m fdc_toolchain`, and how fdc starts itself: `python -E -P .../fdc_toolchain/__main__.py ARGUMENTS`.

Started by its path, the package is taken from where this file lies, and nothing is added to the import path.
"""

from __future__ import annotations

import os
import sys


def _found() -> None:
    """Makes the package of this file the one that is imported."""
    from importlib.util import module_from_spec, spec_from_file_location

    here = os.path.dirname(os.path.abspath(__file__))
    spec = spec_from_file_location(
        "fdc_toolchain", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{here} is no package")
    module = sys.modules["fdc_toolchain"] = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    if not __package__:
        _found()
    from fdc_toolchain.cli.fast_path import entry

    entry()
