"""`fdc lint --fix` and `--diff`: applies fixes until no safe fix is left."""

from __future__ import annotations

import os
import sys

from ...diagnostics.diagnostic import ordered
from ...diagnostics.edits import MOST_ROUNDS, mended
from ...exits import CLEAN, FINDINGS
from ...linking.project.settings import Settings
from .options import Options
from .plans_of_others import OfOthers


def fix(
    options: Options,
    root: str,
    settings: Settings,
    keys: list[str],
    texts: dict[str, bytes],
    more: OfOthers,
) -> int:
    """Applies fixes to the plans (`diff`: prints them instead); reports the remaining findings. Returns the exit code.

    `more`: findings in plans of other tools, which are not fixed.
    """
    from ...console.process import write
    from ...console.terminal import style
    from ...durable import replace_all
    from ...report.diff import unified
    from .judge import judge, report

    original: dict[str, bytes] = {}
    now = dict(texts)
    count = 0
    for _ in range(MOST_ROUNDS):
        found, sources, files = judge(options, root, settings, keys, now)
        round_ = mended(found, keys, files.seen, unsafe=bool(options["unsafe_fixes"]))
        if not round_.applied:
            break
        for key in round_.texts:
            original.setdefault(key, files.seen.get(key) or b"")
        now.update(round_.texts)
        count += len(round_.applied)
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
    replace_all(
        {
            os.path.realpath(os.path.join(root, key)): data
            for key, data in sorted(changed.items())
            if key not in texts
        }
    )
    for key in texts:  # for stdin, stdout has the text only
        write(now[key], sys.stdout)
    if count and not options["quiet"]:
        print(f"{count} finding{'' if count == 1 else 's'} repaired", file=sys.stderr)
    return report(
        options,
        ordered(found + more.found),
        more.sources(sources),
        len(keys) + more.plans,
        settings.strict,
        root=root,
        aside=bool(texts),
        others=more.others,
    )
