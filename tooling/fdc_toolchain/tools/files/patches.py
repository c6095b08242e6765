"""Patches of several files: stored first, then applied completely or not at all; a crash is completed later.

What a patch does to each file is worked out and written down (`patch-NAME.json`: content before and after, by digest) before
the first file changes. The next process finds each file on one side or the other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ... import durable
from ...text.glob_match import matches
from ...workspace import merge_diff
from ...workspace.failure import ToolFailure
from ...workspace.files import Root, parts_of
from ...workspace.shown_files import digest

MOST_EDITS = 200


def keep(root: Root, folder: str, name: str, edits: Sequence[Mapping[str, str]], glob: str) -> None:
    """Computes and records the patch. Raises ToolFailure, without recording, if it does not fit."""
    if len(edits) > MOST_EDITS:
        raise ToolFailure("diff", f"{len(edits)} edits; the maximum is {MOST_EDITS}")
    files: dict[str, dict[str, Any]] = {}
    for edit in edits:
        path = "/".join(parts_of(edit["path"]))
        if not matches(path, glob):
            raise ToolFailure(
                "capability", f"`{path}` is not among the files that may change (`{glob}`)"
            )
        if path in files:
            raise ToolFailure("diff", f"`{path}` is edited twice")
        before = root.find(path)
        files[path] = {
            "before": None if before is None else digest(before),
            "text": _after(path, before, edit),
        }
    os.makedirs(folder, exist_ok=True)
    record = {"format": 1, "files": files}
    durable.replace(
        _file(folder, name), json.dumps(record, indent=1, sort_keys=True).encode("ascii") + b"\n"
    )


def finish(root: Root, folder: str, name: str) -> list[str] | None:
    """Completes a recorded patch; returns its paths, or None without a patch.

    Raises ToolFailure if a file has neither the old nor the new content: another process has changed it.
    """
    data = durable.read(_file(folder, name))
    if data is None:
        return None
    files: dict[str, dict[str, Any]] = json.loads(data)["files"]
    for path, change in files.items():
        found = root.find(path)
        now = None if found is None else digest(found)
        text = change["text"].encode("utf-8")
        if now == digest(text):
            continue
        if now != change["before"]:
            raise ToolFailure(
                "changed",
                f"`{path}` was changed by another process while a patch was being applied",
            )
        root.write(path, text, "write", f"patch-{name}:{path}")
    return sorted(files)


def _after(path: str, before: bytes | None, edit: Mapping[str, str]) -> str:
    if "content" in edit:
        if before is not None and before != edit["content"].encode("utf-8", "replace"):
            raise ToolFailure(
                "exists", f"`{path}` exists; change it with SEARCH and REPLACE sections"
            )
        text = edit["content"]
    elif before is None:
        raise ToolFailure("file", f"`{path}` does not exist")
    else:
        try:
            text, _ = merge_diff.apply(before.decode("utf-8"), edit["diff"].rstrip("\n"))
        except UnicodeDecodeError:
            raise ToolFailure("encoding", f"`{path}` is not UTF-8 text") from None
        except ToolFailure as wrong:
            raise ToolFailure(wrong.kind, f"`{path}`: {wrong}") from None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFailure("encoding", f"the text for `{path}` contains a lone surrogate") from None
    return text


def _file(folder: str, name: str) -> str:
    return os.path.join(folder, f"patch-{name}.json")
