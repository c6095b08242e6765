"""The options of a build: from the caller, else from the settings of the workspace."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

from .. import durable
from ..exits import UsageError
from ..linking.project.quiet_git import ask_git
from ..linking.project.root import find_root
from ..linking.project.settings import read_settings
from ..narrow import narrow
from ..text.suggest import did_you_mean
from . import layout
from .build import shown
from .compile import PROFILES, BuildOptions
from .seal import is_ours
from .targets import TARGETS


def how_of(
    root: str | None = None, targets: tuple[str, ...] = (), **options: object
) -> tuple[str, BuildOptions]:
    """The workspace and the build options: those of the command line, else of the settings. Raises UsageError."""
    root = root or find_root(os.curdir)
    settings = read_settings(root)
    stated = {key: value for key, value in options.items() if value is not None}
    source = os.path.join(root, settings.protocols or "protocols")
    if "source" in stated:
        source = os.path.abspath(narrow(stated["source"], str))
    if not os.path.isdir(source):
        folder = shown(source, root)
        raise UsageError(
            f"no folder `{folder}` with protocols was found; name one with --source{_sparse(root, folder)}"
        )
    if "output" in stated:
        stated["output"] = shown(os.path.abspath(narrow(stated["output"], str)), root)
    agents = settings.agents._asdict()
    if agents["profile"] not in PROFILES:
        raise UsageError(
            f"the setting `agents.profile` is {' or '.join(PROFILES)}, not `{agents['profile']}`"
        )
    stated["targets"] = _targets(targets or agents["targets"])
    build_options = BuildOptions(**{**agents, **stated, "source": shown(source, root)})
    if "/" in build_options.output and (build_options.split or build_options.targets):
        raise UsageError(
            f"nested files and those of other agents need an output at the top of the workspace, not `{build_options.output}`"
        )
    if build_options.profile == "original" and (build_options.split or build_options.targets):
        raise UsageError(
            "the profile `original` is one file: it goes with no --split and no --target"
        )
    laid = f"{build_options.source}/{layout.NAME}"
    if (build_options.split or build_options.targets) and os.path.exists(os.path.join(root, laid)):
        raise UsageError(
            f"`{laid}` lays out one AGENTS.md as it was imported: delete it to write more files than that one"
        )
    return root, build_options


def _sparse(root: str, folder: str) -> str:
    """What a person can do where git left files out of a checkout; empty where it did not."""
    with suppress(OSError, subprocess.TimeoutExpired):
        if ask_git(root, "config", "--bool", "core.sparseCheckout").stdout == b"true\n":
            return f"; this checkout is sparse: `git sparse-checkout add {folder}` writes the folder if git has it"
    return ""


def uncompiled(root: str) -> str | None:
    """Why the workspace has nothing to compile (no folder of protocols, and no file built from one); else None."""
    settings = read_settings(root)
    source = settings.protocols or "protocols"
    if os.path.isdir(os.path.join(root, source)):
        return None
    compiled = durable.read(os.path.join(root, settings.agents.output))
    if compiled is not None and compiled.strip() and is_ours(compiled.decode("utf-8", "replace")):
        return None
    return f"the folder `{shown(os.path.join(root, source), root)}` does not exist, so there is nothing to compile"


def _targets(names: tuple[str, ...]) -> tuple[str, ...]:
    """The targets by name, each once. Raises UsageError for a name that is none."""
    targets: list[str] = []
    for name in (part for text in names for part in text.split(",")):
        if name not in (*TARGETS, "all", "none"):
            hint = did_you_mean(name, TARGETS)
            raise UsageError(
                f"the target `{name}` does not exist"
                + (f"; {hint}" if hint else f"; expected {', '.join(TARGETS)}")
            )
        targets = [*TARGETS] if name == "all" else [] if name == "none" else [*targets, name]
    return tuple(dict.fromkeys(targets))
