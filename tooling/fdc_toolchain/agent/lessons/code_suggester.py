"""Writes the plan of a proposed code change where it can be linted and run (FDC-84)."""

from __future__ import annotations

import errno
import hashlib
import os

from ... import durable
from .code_change import code_change_plan

PLANS = ".fdc/lessons"
"""The folder of these plans in a workspace: not committed, and steps cannot access it."""


def suggest(root: str, filepath: str, diff: str) -> str:
    """The path, in the workspace, of a plan that applies `diff` to `filepath`; the same change has the same path.

    Raises ValueError for a path or a diff that no such plan can have, OSError where the system refuses.
    """
    text = code_change_plan(filepath, diff)
    plan = f"{PLANS}/{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}.plan.txt"
    write_plan(root, plan, text)
    return plan


def write_plan(root: str, plan: str, text: str) -> None:
    """Writes a plan, whole or not at all. Raises OSError, also where `.fdc` is a link to somewhere else."""
    path = os.path.join(root, *plan.split("/"))
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    top = os.path.realpath(root)
    if os.path.realpath(folder) != os.path.join(top, *PLANS.split("/")):
        raise OSError(
            errno.EPERM, "it is a link, so plans would be written outside the workspace", folder
        )
    data = text.encode("utf-8", "replace")
    if durable.read(path) != data:
        durable.replace(path, data)
