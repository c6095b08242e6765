"""GENERATE_PATCH with git beside it: what fits nowhere is merged by `git merge-file`, or refused (HYP-37)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any

from .context import Context

SECONDS = 30.0


def check_patch(args: dict[str, Any], context: Context) -> Any:
    """Holds a patch to its hypothesis and region; applies it nowhere (HYP-13 to 16, 34 to 37)."""
    from ..packs.repair.context import checked

    return checked(args["context"], args.get("answer"), args.get("hypothesis"), merge_file)


def merge_file(ours: str, base: str, theirs: str) -> str | None:
    """The three texts as `git merge-file` merges them; None for a conflict, and where there is no git."""
    with tempfile.TemporaryDirectory(prefix="fdc-") as folder:
        try:
            for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
                with open(os.path.join(folder, name), "wb") as out:
                    out.write(text.encode("utf-8"))
            plain = {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}
            command = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
            done = subprocess.run(command, cwd=folder, env=plain, capture_output=True, check=False, timeout=SECONDS)
        except (OSError, UnicodeEncodeError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode("utf-8") if done.returncode == 0 else None
