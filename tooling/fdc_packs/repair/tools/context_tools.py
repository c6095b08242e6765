"""The tools of the repair pack that read what a diagnosis needs to see: spectra, places, files that are asked for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.files import durable
from fdc_toolchain.api.text import narrow
from fdc_toolchain.api.tools import Context, object_of

from . import repair_copy
from .repair_tools import MOST_SOURCE, SOURCES
from .run_tests import spectrum_file

if TYPE_CHECKING:
    from ..shapes import Collected, Gathered

_IMPORT = re.compile(r"\s*(?:import|from|#include|using|use|package)\b")
_OPENS = "def|class|struct|interface|type|enum|fn|func|function|const|let|var"


def collect_context(args: Mapping[str, object], context: Context) -> Collected:
    """What answers are made of: what the coverage says, and the files that may be wrong, as they are in the copy now."""
    state = object_of(args, "state")
    held = repair_copy.held(context)
    stored = json.loads(durable.read(spectrum_file(context)) or b"{}")
    spectra = stored.get("spectra") or []
    first = narrow(state.get("failure") or {}, dict)
    gathered = narrow(state.get("context") or [], list)
    paths = [file["path"] for run in spectra for file in run["files"]]
    paths += [path for part in gathered for path in part.get("paths", ())]
    paths += [str(first.get("path"))] + (list(held) if len(held) <= SOURCES else [])
    sources: dict[str, str] = {}
    for path in dict.fromkeys(path for path in paths if path in held):
        source = _source(context, path)
        if source is not None and len(sources) < SOURCES:
            sources[path] = source
    why = str(stored.get("why") or "")
    return {
        "sources": sources,
        "spectra": spectra,
        "gathered": gathered,
        "why": why,
        "files": list(held)[:5000],
    }


def _source(context: Context, path: str) -> str | None:
    try:
        data = repair_copy.read(repair_copy.base_of(context), path)
        return data.decode("utf-8") if len(data) <= MOST_SOURCE else None
    except UnicodeDecodeError:
        return None


def gather_context(args: Mapping[str, object], context: Context) -> Gathered:
    """The code that was asked for, numbered; what is not there is left out (HYP-45)."""
    state, wanted = object_of(args, "state"), object_of(args, "wanted")
    held = repair_copy.held(context)
    first, parts = narrow(state.get("failure") or {}, dict), []
    for row in narrow(wanted["requests"], list):
        shown, paths = _requested(row, held, context, first)
        if shown:
            parts.append({**row, "text": shown, "paths": paths})
    return {"parts": parts}


def _requested(
    row: dict[str, Any], held: Mapping[str, str], context: Context, first: dict[str, Any]
) -> tuple[str, list[str]]:
    """The lines that a request is about, numbered, and their files; empty where there are none."""
    name, category = row["name"], row["category"]
    word_of = re.compile(rf"\b{re.escape(name)}\b") if name else None
    paths = sorted(held, key=lambda path: (path != first.get("path"), path))
    out: dict[str, str] = {}
    for path in paths[:400]:
        lines = (_source(context, path) or "").replace("\r\n", "\n").split("\n")
        if category in ("FILE_CONTEXT", "IMPORTS_NAMESPACE"):
            if (
                path not in (name, first.get("path"))
                and os.path.basename(path) != name
                and (name or first.get("path") in held)
            ):
                continue
            wanted = [
                at
                for at, line in enumerate(lines, 1)
                if category == "FILE_CONTEXT" or _IMPORT.match(line)
            ]
        elif category == "ENCLOSING_SCOPE" and not name:
            near = int(first.get("line") or 0) if path == first.get("path") else 0
            wanted = list(range(max(1, near - 30), near + 31)) if near else []
        elif word_of is None:
            continue
        elif category == "USAGE_CONTEXT":
            wanted = [at for at, line in enumerate(lines, 1) if word_of.search(line)]
        else:
            opens = re.compile(
                rf"\b(?:{_OPENS})\s+{re.escape(name)}\b|^\s*{re.escape(name)}\s*[:=]"
            )
            wanted = [
                one
                for at, line in enumerate(lines, 1)
                if opens.search(line)
                for one in range(at, at + 30)
            ]
        wanted = [at for at in dict.fromkeys(wanted) if at <= len(lines)][:80]
        if wanted:
            out[path] = f"{path}:\n" + "\n".join(f"{at:>5} | {lines[at - 1]}" for at in wanted)
    return "\n\n".join(out.values())[:4000], list(out)[:3]
