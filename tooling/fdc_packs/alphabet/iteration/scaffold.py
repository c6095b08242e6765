"""The files of a new alphabet: the whole layout of the seed's section 5.1, empty (ALPH-68, 71)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import layout
from ..calculus.metrics import coverage
from ..config import DEFAULTS
from ..foreign.importing import KEPT, NOTES, Imported
from ..model import EMPTY
from ..state import REGISTERS, START
from ..state_files import files_of
from ..yamltext import dump, parse
from .archive import rejections
from .closing import consistency_files, entry_path, entry_row

_SETTINGS = "# This folder is an alphabet, and a workspace of fdc: `fdc runs` lists its iterations. See config.yaml.\n"
_COMPARISONS = ("vs_wordnet.md", "vs_cyc.md", "vs_nsm_primes.md", "vs_aristotle.md")


def new_files(at: str, shipped: Mapping[str, str], model: str) -> dict[str, str]:
    """Every file by its path. `shipped`: texts that are laid down as they are. `model`: its name, or empty for none."""
    config: dict[str, Any] = {**DEFAULTS, "llm": dict(DEFAULTS["llm"])}
    if model:
        config["llm"] |= {"provider": "anthropic", "model": model}
    out = {
        f"validation/comparisons/{name}": "Not compared yet: `fdc alphabet report` does.\n"
        for name in _COMPARISONS
    }
    out |= files_of(EMPTY, "0.0.0", 0, at, {}, pretty=False)
    out |= consistency_files(EMPTY, 0, at)
    out |= {path: dump({key: {"total": 0, "entries": []}}) for path, key in REGISTERS.items()}
    covered = coverage(EMPTY, parse(shipped[layout.CONCEPTS]))
    out |= {
        "fdc.toml": _SETTINGS,
        ".gitignore": ".fdc/\n.staging/\n.iteration_lock\n",
        layout.CONFIG: dump(config),
        layout.STATE: dump({"iteration_state": START}),
        layout.CANDIDATES: dump({"to_evaluate": [], "to_revise": []}),
        layout.HANDOFF: dump({"session_handoff": {
            "written": at, "after_iteration": 0, "next": START["phase"], "stopped": "", "strategy": START["current_strategy"],
            "pending": dict.fromkeys(START["pending"], 0), "gaps": [], "last": {"candidates": {}, "primitives_added": []},
        }}),
        **rejections((), at),
        layout.COVERAGE: dump({"coverage_report": {"iteration": 0, "at": at, **covered}}),
    }  # fmt: skip
    out |= shipped
    empty = [
        folder
        for folder in layout.FOLDERS
        if not any(path.startswith(f"{folder}/") for path in out)
    ]
    return {**out, **{f"{folder}/.gitkeep": "" for folder in empty}}


def imported_files(
    found: Imported, originals: Mapping[str, str], at: str, shipped: Mapping[str, str]
) -> dict[str, str]:
    """Every file of a new alphabet with what was imported in it, and the folder's own files as they were."""
    more = {layout.CONCEPTS: found.concepts} if found.concepts else {}
    out = new_files(at, {**shipped, **more}, "")
    alphabet, iteration, rejected = found.alphabet, found.iteration, found.rejected
    history = {
        **START["history"], "total_proposed": len(alphabet) + len(rejected), "total_accepted": len(alphabet),
        "total_rejected": len(rejected),
    }  # fmt: skip
    covered = coverage(alphabet, parse(out[layout.CONCEPTS]), rejected)
    metrics = {**START["metrics"], "coverage_score": covered["coverage"]}
    state = {**START, "current_iteration": iteration, "history": history, "metrics": metrics}
    out |= files_of(alphabet, "0.0.0", iteration, at, found.examples, pretty=False)
    out |= consistency_files(alphabet, iteration, at)
    for one in alphabet.primitives.values():
        out[entry_path(one)] = dump({"primitive": {**entry_row(one), **found.entries[one.id]}})
    out |= {
        layout.CONFIG: dump(found.config),
        layout.STATE: dump({"iteration_state": state}),
        **rejections(rejected, at),
        layout.COVERAGE: dump({"coverage_report": {"iteration": iteration, "at": at, **covered}}),
        layout.HANDOFF: out[layout.HANDOFF].replace(
            "after_iteration: 0", f"after_iteration: {iteration}"
        ),
        NOTES: dump({"imported": {"at": at, "kept_and_named": found.notes}}),
    }
    out |= {f"{KEPT}/{path}": text for path, text in originals.items()}
    return {path: text for path, text in out.items() if not _filled(path, out)}


def _filled(path: str, out: Mapping[str, str]) -> bool:
    """Whether a file only holds the place of a folder that is empty no longer."""
    folder = path.removesuffix(".gitkeep")
    return path.endswith("/.gitkeep") and any(one.startswith(folder) and one != path for one in out)
