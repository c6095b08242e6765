"""`git merge-file` for patches that fit nowhere (HYP-37); what is to be merged, and what it means, `packs.repair` says."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Mapping

from fdc_toolchain.api.files import ask_git, outside_path
from fdc_toolchain.api.tools import Context, ToolFailure

SECONDS = 30.0
_CHANGED = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def merge_files(args: Mapping[str, object], context: Context) -> object:
    """A patch with what git makes of each of its `merges` (`ours`, `base`, `theirs`): `merged`, null for a conflict."""
    patch = args.get("patch")
    if not isinstance(patch, dict) or not isinstance(patch.get("merges"), list):
        raise ToolFailure("argument", "`patch` is not what the step before it returns")
    rows = [
        {**row, "merged": merge_file(row["ours"], row["base"], row["theirs"])}
        for row in patch["merges"]
    ]
    return {**patch, "merges": rows}


def merge_file(ours: str, base: str, theirs: str) -> str | None:
    """The three texts as `git merge-file` merges them; None for a conflict, and where no git exists."""
    with tempfile.TemporaryDirectory(prefix="fdc-") as folder:
        try:
            for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
                with open(os.path.join(folder, name), "wb") as out:
                    out.write(text.encode("utf-8"))
            plain = {
                "PATH": outside_path(),
                "HOME": folder,
                "LC_ALL": "C",
                "GIT_CONFIG_NOSYSTEM": "1",
            }
            command = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
            done = subprocess.run(
                command, cwd=folder, env=plain, capture_output=True, check=False, timeout=SECONDS
            )
        except (OSError, UnicodeEncodeError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


def recent(root: str, paths: Collection[str]) -> dict[str, list[tuple[int, int]]]:
    """The lines that were changed in the last five commits or since, by file; empty where git does not say."""
    found: dict[str, list[tuple[int, int]]] = {}
    for since in ("HEAD~5", "HEAD"):
        try:
            done = ask_git(
                root, "diff", "-U0", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color", "--relative",
                since, seconds=SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return found
        if done.returncode == 0:
            break
    path = ""
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("+++ "):
            path = line[6:].rstrip("\t")
        elif (hunk := _CHANGED.match(line)) and path in paths:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(path, []).append((first, first + max(count, 1) - 1))
    return found
