"""Files in packs: documents that are read, folders of runs, whole-file writes, the cache of the user."""

from __future__ import annotations

from .. import cachedir, durable
from ..linking.project.ignored import Ignored
from ..linking.project.protected import outside_path
from ..linking.project.quiet_git import ask_git
from ..tools.files.documents import (
    CODE,
    MARK,
    Document,
    Scan,
    Skipped,
    lines_in,
    read_beneath,
    scan,
)
from ..tools.files.find_tools import list_files
from ..workspace import globs, merge_diff, run_folders
from ..workspace.files import Root, parts_of

__all__ = [
    "ask_git", "CODE", "MARK", "cachedir", "Document", "durable", "globs", "Ignored", "lines_in", "list_files", "merge_diff",
    "outside_path", "parts_of", "read_beneath", "Root", "run_folders", "Scan", "scan", "Skipped",
]  # fmt: skip
