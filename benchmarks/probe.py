"""Times checks inside one process, in the environment that is measured: P5 and P7. Prints seconds as JSON.

Called as `python probe.py ROOT:PLAN,PLAN,... ROOT:PLAN,...`: each argument is a workspace and plans of it, linked and
judged by a linker of its own; only that is timed. The first one warms up.
"""

from __future__ import annotations

import json
import sys
import time


def main(groups: list[tuple[str, list[str]]]) -> list[tuple[float, int]]:
    """(CPU seconds, findings) of each group."""
    from fdc_toolchain.check import check
    from fdc_toolchain.resolve.link import Linker
    from fdc_toolchain.resolve.settings import read_settings

    out = []
    for root, paths in groups:
        linker = Linker(root, read_settings(root))
        before = time.process_time()
        found = check(linker, paths).diagnostics
        out.append((time.process_time() - before, len(found)))
    return out


if __name__ == "__main__":
    pairs = [word.rpartition(":") for word in sys.argv[1:]]
    print(json.dumps(main([(root, paths.split(",")) for root, _, paths in pairs])))
