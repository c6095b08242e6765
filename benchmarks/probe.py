"""Times checks inside one process, in the environment that is measured: P5 to P7. Prints seconds as JSON.

Called as `python probe.py ROOT:PLAN,PLAN,... ROOT:PLAN,...`: each argument is a workspace and plans of it, linked and
judged by a linker of its own; only that is timed. The first one warms up. Called as `python probe.py --edit ROOT:PLAN
...`, it judges each plan and then, several times, the plan with one line edited, in one session and in a new one each time, in
turns: the times are those after the edits.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median

EDITS = 9


def main(groups: list[tuple[str, list[str]]]) -> list[tuple[float, int]]:
    """(CPU seconds, findings) of each group."""
    from fdc_toolchain.check import check
    from fdc_toolchain.linking.link import Linker
    from fdc_toolchain.linking.project.settings import read_settings

    out = []
    for root, paths in groups:
        linker = Linker(root, read_settings(root))
        before = time.process_time()
        found = check(linker, paths).diagnostics
        out.append((time.process_time() - before, len(found)))
    return out


def after_edits(groups: list[tuple[str, list[str]]]) -> list[tuple[float, float, int]]:
    """(CPU seconds to judge a plan again after an edit of one line, the same in a session that saw nothing before, findings)."""
    from fdc_toolchain import api

    out = []
    for root, (path,) in groups:
        lines = (Path(root) / path).read_text("utf-8").splitlines()
        steps = [
            number for number, line in enumerate(lines) if line.startswith(("grep ", "read_file "))
        ]
        session = api.Session(workspace=root)
        taken: list[list[float]] = [[], []]
        count = 0
        for edit in range(EDITS + 1):
            number = steps[(len(steps) // 2 + edit) % len(steps)] if edit else 0
            if edit:
                lines[number] = f"grep edited_{edit} src"
            text = "\n".join(lines) + "\n"
            new = api.Session(workspace=root)
            for judge, times in ((session, taken[0]), (new, taken[1]))[:: -1 if edit % 2 else 1]:
                before = time.process_time()
                found = judge.check(path, text=text)
                if edit:
                    times.append(time.process_time() - before)
                count = len(found.diagnostics)
        out.append((median(taken[0]), median(taken[1]), count))
    return out


if __name__ == "__main__":
    edits = sys.argv[1:2] == ["--edit"]
    pairs = [word.rpartition(":") for word in sys.argv[1 + edits :]]
    groups = [(root, paths.split(",")) for root, _, paths in pairs]
    print(json.dumps(after_edits(groups) if edits else main(groups)))
