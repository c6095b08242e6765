"""P5 to P7: a tree of a thousand million calls, a plan that is being edited, and what doubling the text costs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from .corpus import write_plans, write_workspace
from .measure import Spread, Unexpected, spread
from .rows import Row, Session
from .shapes import SHAPES, write_long, write_tree

STACK, FAN_OUT, LINES = 10, 10, 50
LONG, MANY, WARM_UP = 2_500, 1_000, 30
EDITED = (1_000, 20.0), (5_000, 100.0)
"""Lines of a plan that is being edited, and the milliseconds in which it is to be judged again."""

PROBE = Path(__file__).with_name("probe.py")


def measure(session: Session) -> None:
    """Adds the rows of P5, P6 and P7."""
    folder = session.home / "growth"
    shutil.rmtree(folder, ignore_errors=True)
    write_workspace(folder / "warm-up")
    write_plans(folder / "warm-up", WARM_UP, 3)
    what = (
        f"call tree, stack {STACK}, fan-out {FAN_OUT} / {STACK} such files that call a leaf instead"
    )
    _tree(session, folder / "tree", what, 1.5)
    _tree(
        session,
        folder / "page-tree",
        "the same, where each file reads a page from outside",
        None,
        page=True,
    )
    _edited(session, folder)
    _doubling(session, folder)


def _plans(root: Path) -> list[str]:
    return sorted(f"plans/{path.name}" for path in (root / "plans").iterdir())


Group = tuple[Path, list[str]]


def _probe(session: Session, folder: Path, groups: list[Group]) -> list[float]:
    """CPU seconds of each group, in a process of its own, after the same warm-up."""
    warm_up = folder / "warm-up"  # enough plans to meet every construct once
    found = _measured(session, folder, [(warm_up, _plans(warm_up)), *groups])
    return [row[0] for row in found[1:]]


def _measured(
    session: Session, folder: Path, groups: list[Group], *options: str
) -> list[list[float]]:
    """What the probe says of each group, without its number of findings, which must be none."""
    argv = [str(session.tools.python), str(PROBE), *options]
    for root, paths in groups:
        argv.append(f"{root}:{','.join(paths)}")
    env = session.env()
    if session.tools.versions["fdc"].endswith("(checkout)"):
        env["PYTHONPATH"] = str(PROBE.parent.parent / "tooling")
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unexpected(f"the probe failed:\n{done.stderr}")
    found = json.loads(done.stdout)
    if any(row[-1] for row in found):
        raise Unexpected(
            f"plans of {groups[0][0]} do not lint clean; explaining findings would be measured too"
        )
    return [row[:-1] for row in found]


def _pairs(
    session: Session, folder: Path, above: Group, below: Group, rounds: int
) -> tuple[Spread, Spread, Spread]:
    """(ratio, milliseconds above, milliseconds below), the order of the two alternating from process to process."""
    ratios, over, under = [], [], []
    for number in range(session.rounds(rounds)):
        turn = -1 if number % 2 else 1
        one, two = _probe(session, folder, [above, below][::turn])[::turn]
        ratios.append(one / two)
        over.append(1000 * one)
        under.append(1000 * two)
    session.watch()
    return spread(ratios), spread(over), spread(under)


def _tree(
    session: Session, root: Path, what: str, goal: float | None, *, page: bool = False
) -> None:
    tree, flat = write_tree(root, STACK, FAN_OUT, LINES, page=page)
    ratio, over, under = _pairs(session, root.parent, (root, tree), (root, flat), 21)
    calls = sum(FAN_OUT**level for level in range(1, STACK))
    beside = f"the files {under.median:.0f} ms; inlining would make {calls:,} calls"
    session.rows.append(Row("P5", what, f"{over.median:.0f} ms", beside, "x", ratio, ratio, goal))


def _edited(session: Session, folder: Path) -> None:
    root = folder / "edited"
    write_workspace(root)
    sizes = ((60, 20), (120, 100)) if session.quick else EDITED
    for shape in ("mixed", "steps"):
        for lines, goal in sizes:
            path = write_long(root, shape, lines, 3)
            pairs = [
                _measured(session, folder, [(root, [path])], "--edit")[0]
                for _ in range(session.rounds(5))
            ]
            session.watch()
            again = spread([1000 * after for after, _ in pairs])
            anew = spread([1000 * new for _, new in pairs])
            ratio = spread([after / new for after, new in pairs])
            what = f"one edited line ({shape}), judged again in the same process, {lines:,} lines"
            shown = f"{again.median:.0f} ms of CPU"
            beside = f"by one that saw nothing before {anew.median:.0f} ms"
            session.rows.append(Row("P6", what, shown, "", "ms", again, again, goal))
            session.rows.append(
                Row("P6", "the same / judged anew", shown, beside, "x", ratio, ratio)
            )


def _doubling(session: Session, folder: Path) -> None:
    long, many = (60, 10) if session.quick else (LONG, MANY)
    root = folder / "long"
    write_workspace(root)
    for shape in SHAPES:
        above, below = write_long(root, shape, 2 * long, 1), write_long(root, shape, long, 2)
        pairs = _pairs(session, folder, (root, [above]), (root, [below]), 9)
        _row(session, f"one plan of {2 * long:,} lines ({shape}) / of {long:,}", *pairs)
    groups = []
    for count, seed in ((2 * many, 5), (many, 6)):
        home = folder / f"many-{count}"
        write_workspace(home)
        write_plans(home, count, seed)
        groups.append((home, _plans(home)))
    _row(
        session,
        f"{2 * many:,} plans / {many:,} plans",
        *_pairs(session, folder, groups[0], groups[1], 7),
    )


def _row(session: Session, what: str, ratio: Spread, over: Spread, under: Spread) -> None:
    session.rows.append(
        Row("P7", what, f"{over.median:.0f} ms", f"{under.median:.0f} ms", "x", ratio, ratio, 2.2)
    )
