"""Selects the model that answers: `--model` or FDC_MODEL, else the workspace's settings by role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...exits import UsageError

if TYPE_CHECKING:
    from ...tools.model.http_model import HttpModel


def model_for(root: str, name: str, asks: tuple[tuple[str, float], ...] = ()) -> HttpModel | None:
    """The model port, or None where no model is named. Settings may name others for some roles, and say how it is asked;
    `asks` says that where they do not. Raises UsageError."""
    if not name:
        return None
    from ...linking.project.settings import SettingsError, read_settings
    from ...tools.model.http_model import HttpModel
    from ...tools.model.question import Choice
    from ...workspace.secrets.scrubber import Scrubber
    from ...workspace.secrets.values import values_of

    try:
        rows = dict(read_settings(root).models)
    except SettingsError as wrong:
        raise UsageError(str(wrong)) from wrong
    asked: dict[str, Any] = dict(asks)
    asked |= {key: value for key, value in rows.pop("default", {}).items() if key != "model"}
    choice = Choice(name)._replace(**asked)
    model = HttpModel(choice, {role: choice._replace(**row) for role, row in rows.items()})
    model.secrets = Scrubber(more=lambda: values_of(root))
    return model


def names(root: str, name: str) -> list[str]:
    """All models that a run may ask."""
    found = model_for(root, name)
    return [] if found is None else sorted({choice.model for choice in found.choices()})
