"""`fdc lint --fix` and `--diff`: repairs, applied until nothing safe is left to repair."""

from __future__ import annotations

import os
import sys
from typing import Any

from ...diagnostics.diagnostic import Fix
from ...diagnostics.edits import apply
from ...exits import CLEAN, FINDINGS
from .lint_options import Options

MOST_ROUNDS = 10
"""A repair may make room for the next one; so many times at most."""


def fix(
    options: Options, root: str, settings: Any, keys: list[str], texts: dict[str, bytes]
) -> int:
    """Repairs the plans (or, with `diff`, shows how); reports what is left. Returns the exit code."""
    from ...durable import replace
    from ...report.diff import unified
    from ..shared.terminal import style
    from .lint import _judge, report, write

    original: dict[str, bytes] = {}
    now = dict(texts)
    count = 0
    for _ in range(MOST_ROUNDS):
        found, sources, files = _judge(options, root, settings, keys, now)
        fixes: dict[str, list[Fix]] = {}
        for item in found:
            repair = item.fix
            if repair is None or not (repair.safe or options["unsafe_fixes"]):
                continue
            paths = {edit.span.path for edit in repair.edits}
            if len(paths) == 1 and paths <= set(keys):
                fixes.setdefault(paths.pop(), []).append(repair)
        done = 0
        for key, repairs in sorted(fixes.items()):
            data = files.seen.get(key) or b""
            original.setdefault(key, data)
            text, applied = apply(data.decode("utf-8", "surrogateescape"), repairs)
            if applied:
                now[key] = text.encode("utf-8", "surrogateescape")
                done += len(applied)
        if not done:
            break
        count += done
    changed = {key: data for key, data in now.items() if key in original and data != original[key]}
    if options["diff"]:
        for key, data in sorted(changed.items()):
            before, after = (
                original[key].decode("utf-8", "replace"),
                data.decode("utf-8", "replace"),
            )
            write(
                unified(key, before, after, style(options["color"])).encode("utf-8", "replace"),
                sys.stdout,
            )
        return FINDINGS if changed and not options["exit_zero"] else CLEAN
    for key, data in sorted(changed.items()):
        if key not in texts:
            replace(os.path.realpath(os.path.join(root, key)), data)
    for key in texts:  # who pipes a text in wants it back, and nothing else
        write(now[key], sys.stdout)
    if count and not options["quiet"]:
        print(f"{count} finding{'' if count == 1 else 's'} repaired", file=sys.stderr)
    return report(options, found, sources, len(keys), settings.strict, aside=bool(texts))
