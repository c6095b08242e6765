"""Compiles the protocol sources in `protocols/` into `AGENTS.md`, which agents read.

    python3 tooling/protocol_compiler.py build [--source DIR] [--output FILE]
    python3 tooling/protocol_compiler.py check

`build` writes the whole file or nothing, and the same bytes for the same sources. `check` fails when
the file is absent, was edited by hand, or is older than a source, and says which.
"""

from fdc_toolchain.cli.scripts.protocol_compiler import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
