"""Protected files: which ones the plans on the stack open by naming them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...linking.project.protected import Protected, named, protected
from ...program.model import Grant
from ..failure import ToolFailure


def refused(
    path: str, grants: Sequence[Grant], settings: Sequence[str], more: Sequence[str]
) -> Protected | None:
    """What the plans open by naming it, None for a path like any other. Raises ToolFailure (`protected`) where nothing may
    write a path, or only a plan that names it and none does."""
    found = protected(path, settings, more)
    if found is None or by_name(found.entry, grants) and not found.never:
        return found
    if found.never:
        raise ToolFailure(
            "protected", f"`{path}`: `{found.entry}` {found.what}; steps must not change it"
        )
    name = path if path.isprintable() else found.entry
    raise ToolFailure(
        "protected",
        f"`{path}`: `{found.entry}` {found.what}; a plan that changes it must have `allow write {name}`",
    )


def opened_names(grant: Grant) -> Iterator[str]:
    """The literal prefixes of the globs of `allow write`."""
    for glob in grant.get("write", ()):
        is_value, text = glob[0] if glob else (True, "")
        if not is_value:
            yield text[
                : next((at for at, character in enumerate(text) if character in "*?"), len(text))
            ]


def by_name(entry: str, grants: Sequence[Grant], kind: str = "write") -> bool:
    """True where every plan with `allow` lines names a protected (or secret) entry, and there is such a plan."""
    return bool(grants) and all(
        any(named(entry, glob) for glob in grant.get(kind, ())) for grant in grants
    )


def fdc_table(data: bytes | None) -> object:
    """The [tool.fdc] table of a pyproject.toml; what cannot be read is like nothing else."""
    if data is None or b"fdc" not in data:
        return None
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8")).get("tool", {}).get("fdc")
    except (ValueError, AttributeError, RecursionError):
        return object()
