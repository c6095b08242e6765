"""The advice to migrate a plan, where migrating it works; where it would be refused, why."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.source import Limits
from ..linking.catalogue import Catalogue
from .convert import migrate

_ADVICE = "`fdc migrate`"


def checked(
    found: list[Diagnostic], path: str, data: bytes, catalogue: Catalogue, limits: Limits
) -> list[Diagnostic]:
    """The findings about one plan; those that advise to migrate it say what is in the way."""
    advising = [item for item in found if item.code == "FDC119" and _ADVICE in (item.help or "")]
    if not advising:
        return found
    done = migrate(data, path, catalogue, limits)
    if done.text is not None or not done.diagnostics:
        return found
    first = done.diagnostics[0]
    help_ = f"write a step a line; {_ADVICE} cannot do it: line {first.span.line}: {first.message}"
    return [item._replace(help=help_) if item in advising else item for item in found]
