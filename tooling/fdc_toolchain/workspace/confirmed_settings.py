"""The settings of a workspace, and whether what they allow was confirmed on this machine."""

from __future__ import annotations

from ..exits import UsageError
from ..linking.project.settings import Settings, SettingsError, read_settings


def settings_of(root: str, *, trust: bool = False) -> Settings:
    """The workspace's settings, and whether what they allow counts: it was confirmed here, or `trust` says so.

    Raises UsageError where the settings' file is wrong, WorldError where the user's key cannot be trusted.
    """
    try:
        settings = read_settings(root)
    except SettingsError as wrong:
        raise UsageError(str(wrong)) from wrong
    if not settings.allow:
        return settings
    from . import allowances

    return settings._replace(trusted=trust or allowances.confirmed(root, settings.allow))
