"""Reports checks of rules that are invalid at the build too, as the linter does."""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics.diagnostic import Diagnostic
from ..linking.link import Linker
from ..linking.project.files import Files
from ..linking.project.settings import SettingsError, read_settings


def unusable(root: str, source: str, sources: Mapping[str, bytes]) -> list[Diagnostic]:
    """FDC462 for every check in `sources` (path in the workspace to bytes) that no linter could enforce."""
    try:
        settings = read_settings(root)._replace(protocols=source)
    except SettingsError:
        return []  # `fdc lint` reports it; without settings fdc does not know the workspace's tools
    files = Files(root)
    files.seen.update(sources)
    return [
        item
        for item in Linker(root, settings, files).diagnostics
        if item.code == "FDC462" and item.span.path in sources
    ]
