"""What lint says of generated plan sets, as short lines: all that the generators of the tests can make, by seed.

A line keeps places, codes, and of messages what stands in backticks and the numbers: a sentence may be worded anew.

    python -m tests.support.generated files 17

prints the plans of a line and all that is said of them.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fdc_toolchain.check import Checked
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.linking.project.settings import SettingsError

from tests.property import test_called_again, test_files, test_rules_of_protocols, test_verdicts
from tests.reference import generate, wide
from tests.reference.runs import PlanSet, folder
from tests.support import filesets, flow_claims, flows, linting, plansets, rulesets, typed
from tests.support import second_opinion as product

Made = tuple[Mapping[str, Any], Checked | None]
"""The files of a set, and the verdict; None where its settings are refused."""


def _automata(seed: int) -> Made:
    made = plansets.plan_set(seed, kept=seed % 3 == 0)
    return made.files, test_verdicts.checked(made)


def _files(seed: int) -> Made:
    made = filesets.file_set(seed, kept=seed % 4 == 0, rich=seed % 2 == 1)
    return made.files, test_files.checked(made)


def _flows(seed: int) -> Made:
    aim = flows.AIMS[seed // 2 % len(flows.AIMS)]
    files = flows.aimed(seed, aim) if seed % 2 else flows.made(seed, kept=seed % 4 == 0)
    return files, flows.checked(files)


def _declared(seed: int) -> Made:
    checked = flow_claims.under_other_declarations(seed)
    return checked.context.linker.files.seen, checked


def _types(seed: int) -> Made:
    made = typed.plan_set(seed)
    return made.files, typed.lint(made)


def _rules(seed: int) -> Made:
    made = rulesets.rule_set(seed, same=seed % 3 != 0, forks=seed % 5 == 0, kept=seed % 7 == 0)
    return made.files, test_rules_of_protocols.linted(made)[1]


def _calls(seed: int) -> Made:
    made = test_called_again._Plans(seed)
    return made.files, linting.lint(made.files, there=made.there)


def _worlds(seed: int) -> Made:
    return _in_a_folder(generate.plan_set(seed))


def _wide(seed: int) -> Made:
    maker = wide.DeepMaker if seed % 8 == 7 else wide.WideMaker
    return _in_a_folder(maker(seed).plan_set())


def _in_a_folder(made: PlanSet) -> Made:
    with folder(made.files) as root:
        try:
            return made.files, product.lint(made, root)
        except SettingsError:
            return made.files, None


WAYS: dict[str, Callable[[int], Made]] = {
    "automata": _automata,
    "files": _files,
    "flows": _flows,
    "declared": _declared,
    "types": _types,
    "rules": _rules,
    "calls": _calls,
    "worlds": _worlds,
    "wide": _wide,
}
"""By name: the plan set of a seed, and what lint says of it."""


def _facts(item: Diagnostic) -> Iterator[str]:
    said = [
        item.message,
        item.help or "",
        *(label.message for label in (*item.labels, *item.trace)),
    ]
    yield f"{item.span} {item.code} {item.severity}"
    yield from (str(label.span) for label in (*item.labels, *item.trace))
    for text in said:
        yield from re.findall(r"`[^`]*`|\d+", text)


def everything(checked: Checked) -> list[Diagnostic]:
    """The findings, and what is assumed or not judged."""
    return [*checked.diagnostics, *checked.assumptions, *checked.fragments]


def line(way: str, seed: int) -> str:
    """What `told` says of the set of a seed."""
    return told(seed, WAYS[way](seed)[1])


def told(seed: int, checked: Checked | None) -> str:
    """The seed, a digest of all that is said, and the place and code of each finding."""
    if checked is None:
        return f"{seed} refused"
    found = everything(checked)
    text = "\n".join(fact for item in found for fact in _facts(item))
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    places = (f"{item.span.path.split('.')[0]}:{item.span.line}:{item.code[3:]}" for item in found)
    return " ".join((str(seed), digest, *places))


def main(way: str, seed: str) -> None:
    files, checked = WAYS[way](int(seed))
    for name, text in files.items():
        if name.endswith((".plan", ".json", ".toml")) and text:
            print(f"--- {name}\n{text.decode() if isinstance(text, bytes) else text}")
    for item in everything(checked) if checked else ():
        print(item, "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
