"""ALPHABETUM at 10,000 primitives: loading, the incremental check after one change, composition; `python -m benchmarks.alphabet`.

Each figure is the median of several rounds in one process, by CPU time, with the goal of `anchors.md` and the ratio to it.
Beside loading stands what PyYAML's C loader alone takes for the same files.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tooling"))

AT = "2026-01-31T12:00:00Z"
GOALS = {"load": 2.0, "incremental check": 0.050, "composition": 0.001}
ROUNDS = 5


def primitives(count: int, seed: int = 7) -> list[Any]:
    """Primitives with affinities, and with presuppositions that form no circle and are some five deep, as a dictionary's."""
    from fdc_packs.alphabet.calculus.primes import next_unused
    from fdc_packs.alphabet.model import DOMAINS, Primitive

    chance, found, prime = random.Random(seed), [], 1
    for number in range(1, count + 1):
        prime = next_unused([prime])
        below = (
            [f"PRM_{chance.randrange(1, number // 10 + 1):04d}" for _ in range(2)]
            if number > 20
            else []
        )
        found.append(Primitive(
            f"PRM_{number:04d}", f"concept_{number}", prime, DOMAINS[number % 9], "stable",
            f"the concept with the number {number}", presupposes=tuple(dict.fromkeys(below)),
        ))  # fmt: skip
    for at in range(0, count - 1, 2):
        one, other = found[at], found[at + 1]
        found[at] = one._replace(composes=(other.id,))
        found[at + 1] = other._replace(composes=(one.id,))
    return found


def median(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """CPU seconds of the middle round."""
    took = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return statistics.median(took)


def measure(count: int = 10_000) -> dict[str, float]:
    """CPU seconds of each piece of work."""
    import yaml
    from fdc_packs.alphabet import calculus
    from fdc_packs.alphabet.calculus.consistency import violations, violations_near
    from fdc_packs.alphabet.layout import wanted
    from fdc_packs.alphabet.model import alphabet_of
    from fdc_packs.alphabet.state import read
    from fdc_packs.alphabet.state_files import files_of
    from fdc_packs.alphabet.store import Store

    some = primitives(count)
    files = files_of(alphabet_of(some), "0.1.0", 0, AT, {}, pretty=False)
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text, "utf-8")
        store = Store(folder)

        def load() -> Any:
            return read(store.texts(wanted()["globs"]))

        def plain() -> None:
            for text in store.texts(wanted()["globs"]).values():
                yaml.load(text, Loader=yaml.CSafeLoader)

        base = load()
        assert len(base.alphabet) == count
        found = {"load": median(load), "load, PyYAML alone": median(plain, 1)}
    alphabet = base.alphabet
    assert [] == violations_near(
        alphabet, {"PRM_0001"}
    )  # an alphabet that is in use knows its indices

    def change() -> None:
        one = alphabet.primitives[f"PRM_{chance.randrange(10, count):04d}"]
        after = alphabet.replaced(
            one._replace(definition=f"otherwise {chance.random()}", presupposes=("PRM_0001",))
        )
        assert [] == violations_near(after, {one.id})

    labels = [one.label for one in chance.sample(some, 40)]
    calculus.compose(alphabet, labels[0])

    def compose() -> None:
        calculus.compose(alphabet, ", ".join(chance.sample(labels, 5)))

    found["incremental check"] = median(change, 15)
    found["check of everything"] = median(lambda: violations(alphabet), 3)
    found["composition"] = median(compose, 25)
    return found


def main() -> int:
    """Prints the figures as JSON: seconds, goal, ratio to the goal, and whether it is met."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    found = measure(count)
    rows = []
    for name, took in found.items():
        goal = GOALS.get(name)
        more = (
            {}
            if goal is None
            else {"goal": goal, "ratio": round(took / goal, 3), "met": took <= goal}
        )
        rows.append({"what": name, "seconds": round(took, 6), **more})
    print(json.dumps({"primitives": count, "rows": rows}, indent=1))
    return 0 if all(row.get("met", True) for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
