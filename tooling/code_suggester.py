"""Writes the plan of one step that makes a proposed code change, and prints the plan's path.

    python3 tooling/code_suggester.py --filepath FILE --diff-file CHANGE

The change is SEARCH and REPLACE sections. `fdc lint` proves the plan and `fdc run` executes it; this
script changes nothing.
"""

from fdc_toolchain.cli.scripts.code_suggester import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
