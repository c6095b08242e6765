"""What protocols are compiled to: as the settings of the workspace say, unless a caller does."""

from __future__ import annotations

import os
from typing import Any

from .. import durable
from ..exits import UsageError
from ..linking.project.root import find_root
from ..linking.project.settings import read_settings
from ..text.suggest import did_you_mean
from . import layout
from .build import shown
from .compile import PROFILES, How
from .seal import is_ours
from .targets import TARGETS


def how_of(
    root: str | None = None, targets: tuple[str, ...] = (), **options: Any
) -> tuple[str, How]:
    """The workspace and what to write: as the settings say, unless the command line does. Raises UsageError."""
    root = root or find_root(os.curdir)
    settings = read_settings(root)
    stated = {key: value for key, value in options.items() if value is not None}
    source = os.path.join(root, settings.protocols or "protocols")
    if "source" in stated:
        source = os.path.abspath(stated["source"])
    if not os.path.isdir(source):
        raise UsageError(
            f"no folder `{shown(source, root)}` with protocols was found; name one with --source"
        )
    if "output" in stated:
        stated["output"] = shown(os.path.abspath(stated["output"]), root)
    agents = settings.agents._asdict()
    if agents["profile"] not in PROFILES:
        raise UsageError(
            f"the setting `agents.profile` is {' or '.join(PROFILES)}, not `{agents['profile']}`"
        )
    stated["targets"] = _targets(targets or agents["targets"])
    how = How(**{**agents, **stated, "source": shown(source, root)})
    if "/" in how.output and (how.split or how.targets):
        raise UsageError(
            f"nested files and those of other agents need an output at the top of the workspace, not `{how.output}`"
        )
    if how.profile == "original" and (how.split or how.targets):
        raise UsageError(
            "the profile `original` is one file: it goes with no --split and no --target"
        )
    laid = f"{how.source}/{layout.NAME}"
    if (how.split or how.targets) and os.path.exists(os.path.join(root, laid)):
        raise UsageError(
            f"`{laid}` lays out one AGENTS.md as it was imported: delete it to write more files than that one"
        )
    return root, how


def uncompiled(root: str) -> str | None:
    """Why the workspace has nothing to compile, where it has not: no folder of protocols, and no file made from one."""
    settings = read_settings(root)
    source = settings.protocols or "protocols"
    if os.path.isdir(os.path.join(root, source)):
        return None
    made = durable.read(os.path.join(root, settings.agents.output))
    if made is not None and made.strip() and is_ours(made.decode("utf-8", "replace")):
        return None
    return f"the folder `{shown(os.path.join(root, source), root)}` does not exist, so there is nothing to compile"


def _targets(named: tuple[str, ...]) -> tuple[str, ...]:
    """The targets by name, each once. Raises UsageError for a name that is none."""
    found: list[str] = []
    for name in (part for text in named for part in text.split(",")):
        if name not in (*TARGETS, "all", "none"):
            hint = did_you_mean(name, TARGETS)
            raise UsageError(
                f"the target `{name}` does not exist"
                + (f"; {hint}" if hint else f"; expected {', '.join(TARGETS)}")
            )
        found = [*TARGETS] if name == "all" else [] if name == "none" else [*found, name]
    return tuple(dict.fromkeys(found))
