"""What is protected and secret in a workspace when a run begins: its settings, plans, links in all folders, git and PATH."""

from __future__ import annotations


def guarded(
    root: str, *, whole: bool = True, other_names: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What `workspace.files.Root` guards in a workspace, beside what it always does: files of settings, globs of what is
    protected, and of what is secret. `whole`: links in every folder count, `other_names`: hard links too, as in `Leads`."""
    import os

    from ... import cachedir, durable
    from ..registry import REGISTRY, read_registry
    from .obeyed import Leads, below, of_environment, of_workspace
    from .settings import Settings, SettingsError, read_settings

    try:
        settings = read_settings(root)
    except SettingsError:
        settings = Settings()
    try:
        data = durable.read(os.path.join(root, REGISTRY))
    except OSError:
        data = None
    registry, _ = read_registry(data, REGISTRY)
    plans = registry.entries.values()
    leads = Leads(root, settings.protect, settings.secret, whole=whole, other_names=other_names)
    folders = of_environment(root, os.environ.get("PATH", ""))
    protect = of_workspace(leads.protect, settings, plans, folders)
    secret = (*settings.secret, *leads.secret, *below(root, [cachedir.state_dir()]))
    return settings.catalogues, protect, secret
