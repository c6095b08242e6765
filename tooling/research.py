"""Executes a piece of research by a dictionary of constraints: which target, which scope, and what these need.

    python3 tooling/research.py --target local_filesystem --scope file --path README.md
    python3 tooling/research.py --target local_filesystem --scope directory --path docs

It reads the workspace's own files and folders. What lies outside is out of reach here, and it says so.
"""

from fdc_packs.research.gather_script import execute_research_protocol, main

__all__ = ["execute_research_protocol", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
