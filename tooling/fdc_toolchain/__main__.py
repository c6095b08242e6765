"""`python -m fdc_toolchain`, and how fdc starts itself: `python -E -P .../fdc_toolchain/__main__.py ARGUMENTS`.

Started by its path, the packages are taken from where this file lies, and nothing is added to the import path.
"""

from __future__ import annotations

import os
import sys


def _found() -> None:
    """Makes the packages beside this file those that are imported: fdc's own and its packs'."""
    _make("fdc_toolchain", os.path.dirname(os.path.abspath(__file__)))
    from fdc_toolchain.packs import beside

    _make(beside.PACKAGE, beside.FOLDER)


def _make(name: str, folder: str) -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a package")
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    if not __package__:
        _found()
    from fdc_toolchain.cli.fast_path import entry

    entry()
