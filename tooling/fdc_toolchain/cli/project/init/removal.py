"""What `fdc init --remove` takes back: what `fdc init` wrote and nobody changed since. Nothing is recorded of an init:
a file, a block or an entry goes if it is byte for byte what `fdc init` would write here, for any of its options."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial

from .... import durable
from ....exits import reason
from ....linking.project.settings import Settings
from ....named_tuples import NamedTuple
from . import file_edits, merged
from .agent_files import AGENTS, instructions, skill
from .file_edits import (
    COMPILED_BESIDE,
    IGNORED,
    IGNORED_HEAD,
    MARK,
    PRE_COMMIT,
    PRE_COMMIT_BEFORE,
    template,
)
from .merged import ByHand

_CHANGED = "it is not what `fdc init` writes"

_RECORDS = (".fdc", ".fdc_cache", "logs/activity.log.jsonl", "postmortems")
"""What other commands of fdc write; nothing of it is removed."""

_NAMED = ("reports", "research", "runs", "plan.txt", "plan.findings.txt")
"""What work with fdc makes where only the lines of `fdc init` have git ignore it."""


class Removal(NamedTuple):
    """Paths relative to the workspace. `gone`: files to remove; `changed`: the new bytes of others, and the `old` ones.

    `left`: what stays, with the reason.
    """

    gone: list[str]
    changed: dict[str, bytes]
    old: dict[str, bytes]
    left: list[tuple[str, str]]


def planned(root: str, settings: Settings, tests: list[str]) -> Removal:
    """What to remove. `tests`: the commands that `fdc init` may have written as the one that runs the tests."""
    removal = Removal([], {}, {}, [])
    for path, texts in _whole_files(settings, tests).items():
        _whole(removal, root, path, texts)
    rules = ("", "AGENTS.md", settings.agents.output, COMPILED_BESIDE)
    for name, agent in AGENTS.items():
        blocks = [instructions(name, output) for output in rules]
        _part(
            removal,
            root,
            agent.instructions,
            partial(_block, blocks),
            agent.head,
        )
        _part(
            removal,
            root,
            agent.hooks,
            partial(merged.without_hooks, wanted=agent.wanted),
        )
    pointers = [file_edits.pointer(output) for output in rules]
    _part(removal, root, "AGENTS.md", partial(_block, pointers))
    _part(removal, root, ".gitignore", _without_ignored)
    entries = [text.format(mark=MARK) for text in (PRE_COMMIT, PRE_COMMIT_BEFORE)]
    _part(
        removal,
        root,
        ".pre-commit-config.yaml",
        partial(_repository, entries),
        "repos:\n",
    )
    ignored = _without_ignored(data) is not None if (data := _ignoring(root)) else False
    for path in (*_RECORDS, *(_NAMED if ignored else ())):
        if os.path.exists(os.path.join(root, path)):
            removal.left.append((path, "it was made at work, and not by `fdc init`"))
    return removal


def apply(root: str, removal: Removal) -> None:
    """Writes and removes all files, or none, then the folders that are empty without them. Raises OSError."""
    durable.replace_all(
        {os.path.join(root, path): data for path, data in removal.changed.items()},
        [os.path.join(root, path) for path in removal.gone],
    )
    for path in removal.gone:
        folder = os.path.dirname(path)
        while folder:
            try:
                os.rmdir(os.path.join(root, folder))
            except OSError:
                break  # it has other files
            folder = os.path.dirname(folder)


def _whole_files(settings: Settings, tests: list[str]) -> dict[str, set[bytes]]:
    """Every file that `fdc init` writes as a whole, with each content that it may have."""
    texts: dict[str, set[str]] = {
        "knowledge_core/agent_meta.json": {file_edits.identity()},
        "knowledge_core/plan_registry.json": {"{}\n"},
        "plans/first.plan": {file_edits.first_plan(settings)},
        "fdc.toml": {
            file_edits.settings_text(test, output)
            for test in tests
            for output in ("", COMPILED_BESIDE)
        },
    }
    for name in AGENTS:
        texts[skill(name)] = {template("skill_of_plans.md", test) for test in tests}
    folder, output = settings.protocols, settings.agents.output
    if folder:
        source, prose = f"{folder}/house.protocol.json", f"{folder}/house.protocol.md"
        words, version = template("house.protocol.md"), file_edits.VERSION
        texts[source] = {file_edits.rule(test) for test in tests}
        texts[prose], texts[f"{folder}/VERSION"] = {words}, {version}
        made = (
            file_edits.compiled(
                settings, output, {source: text.encode(), prose: words.encode()}, version.encode()
            )
            for text in texts[source]
        )
        texts[output] = {text for text in made if text is not None}
    return {path: {text.encode() for text in made} for path, made in texts.items()}


def _read(root: str, path: str) -> bytes | None:
    """The bytes of a file of the workspace; None where there is none. Raises ByHand for what is not removed."""
    whole = os.path.join(root, *path.split("/"))
    real = os.path.realpath(whole)
    if os.path.commonpath([root, real]) != root:
        return None  # `fdc init` does not write there
    try:
        data = durable.read(whole)
    except OSError as failed:
        raise ByHand(reason(failed)) from failed
    if real == whole or data is None:
        return data
    if _is_marked(data):
        raise ByHand(f"a link leads to `{os.path.relpath(real, root)}`")
    return None


def _is_marked(data: bytes) -> bool:
    return any(mark in data for mark in (f"{MARK}:".encode(), b"fdc hook", b"fdc lint"))


def _whole(removal: Removal, root: str, path: str, texts: set[bytes]) -> None:
    try:
        data = _read(root, path)
    except ByHand as wrong:
        removal.left.append((path, str(wrong)))
        return
    if data in texts:
        removal.gone.append(path)
    elif data is not None and not (path.endswith("AGENTS.md") and file_edits.is_foreign(data)):
        removal.left.append((path, _CHANGED))


def _part(
    removal: Removal,
    root: str,
    path: str,
    take: Callable[[bytes], bytes | None],
    head: str = "",
) -> None:
    """Plans a file without what `fdc init` added to it; `head`: what a file that it wrote begins with."""
    if path in removal.gone:
        return
    try:
        data = removal.changed.get(path) or _read(root, path)
        made = None if data is None else take(data)
    except ByHand as wrong:
        removal.left.append((path, str(wrong)))
        return
    if data is None:
        return
    if made is None:
        if _is_marked(data):
            _leave(removal, path)
        return
    removal.left[:] = [item for item in removal.left if item[0] != path]
    if made.strip() == head.strip().encode():
        removal.gone.append(path)
        removal.changed.pop(path, None)
        return
    removal.old.setdefault(path, data)
    removal.changed[path] = made
    if _is_marked(made):
        _leave(removal, path)


def _leave(removal: Removal, path: str) -> None:
    if all(name != path for name, _ in removal.left):
        removal.left.append((path, "its part for fdc is not what `fdc init` writes"))


def _block(texts: list[str], old: bytes) -> bytes | None:
    """Takes out the longest of the texts that the file has."""
    for text in sorted(texts, key=len, reverse=True):
        made = merged.without(old, text)
        if made is not None:
            return made
    return None


def _repository(entries: list[str], old: bytes) -> bytes | None:
    """Takes out the hooks that this fdc or an older one wrote."""
    found = (merged.without_repository(old, entry) for entry in entries)
    return next((made for made in found if made is not None), None)


def _ignoring(root: str) -> bytes | None:
    try:
        return _read(root, ".gitignore")
    except ByHand:
        return None


def _without_ignored(old: bytes) -> bytes | None:
    """Takes the lines of `fdc init` out of a .gitignore: which ones it wrote depends on what git tracked then."""
    lines = "|".join(re.escape(line) for line in IGNORED)
    found = re.search(
        rf"(?m)^{re.escape(IGNORED_HEAD)}(?:\r?\n(?:{lines}))*\r?$", old.decode("utf-8", "replace")
    )
    if found is None:
        return None
    return merged.without(old, found[0].replace("\r", ""))
