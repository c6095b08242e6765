"""What earlier runs left in the files of the workspace (`linking.project.outside_files`), as labels.

And which steps leave such text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator

from ....linking.model import Act
from ....linking.project.outside_files import Row
from ....linking.project.protected import RECORDS
from ....named_tuples import NamedTuple
from .file_taint import Pattern, Stored
from .labels import TRUSTED, Labels
from .summary import Store

MOST = 40
"""Files that are told apart; all further ones count as the last of these."""


class Earlier(NamedTuple):
    """What is from outside before anything runs: texts, whether files are there, and what commands see."""

    texts: Stored
    there: Stored
    sees: int


def earlier(rows: Collection[Row], labels: Labels) -> Earlier:
    """The labels of the rows that hold."""
    texts, there, sees = Stored(), Stored(), TRUSTED
    label = TRUSTED
    for number, row in enumerate(rows):
        if number < MOST:
            label = labels.earlier(
                row.path, f"the run {row.run} stored at {row.at}, {row.plan}:{row.line}"
            )
        pattern = Pattern(row.path, row.path, True)
        if row.sha256:
            texts.put(pattern, label)
        if row.there:
            there.put(pattern, label)
        sees = sees or label
    return Earlier(texts, there, sees)


def of_earlier_run(node: Act) -> bool:
    """True where a step may read what lies in the folder of some run for text from outside, or fdc's records of runs, as far
    as its text says that. A computed path that does not say it reads no record (`workspace.files`)."""
    for parameter in node.bound.tool.parameters:
        if parameter.sink != "path":
            continue
        value = node.bound.arguments.get(parameter.name)
        if value is None:
            continue
        if RECORDS.search(value.text):
            return True
        if "runs/" not in value.text:
            continue
        path = posixpath.normpath(value.text)
        if path.startswith("runs/") and (
            any(mark in path for mark in "*?[{") or "/outside/" in path + "/"
        ):
            return True
    return False


def steps(found: Collection[Store]) -> dict[tuple[str, int], str]:
    """By plan and line what the program says of a step: `choice` where there is both."""
    return {
        (key, line): what for key, line, what in sorted(found, key=lambda one: one[2], reverse=True)
    }


def stores(
    node: Act, key: str, label: int, choices: int, deletes: bool, labels: Labels
) -> Iterator[tuple[int, Store]]:
    """What a step leaves in files, with its label."""
    line = node.step.line
    if choices & labels.lasting:
        yield choices & labels.lasting, (key, line, "choice")
    if label & labels.lasting and not deletes:
        yield label & labels.lasting, (key, line, "text")
