"""The module of a pack that makes a page of `fdc ui`; imported when somebody looks."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .model import Page


def module_of(page: Page) -> ModuleType:
    """The module with the functions that `Page` names."""
    return import_module(page.module)
