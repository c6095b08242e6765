"""Checks the plans' `allow` again before every step of a run (G-CAP).

The linter has proved that no step goes beyond the grants of its plan and of the plans that
call it. Here the values are known, so the same rule is applied to what really would be touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..linking.catalogue import reads_at_large, runs_plan
from ..linking.project import places
from ..program.model import Grant, ToolRow
from ..text.glob_match import compiled, fits, within
from .failure import ToolFailure
from .files import parts_of

_WRITES = ("create", "write", "edit", "delete")


def _one_name(declared: ToolRow, args: Mapping[str, object]) -> None:
    """Raises ToolFailure for a file whose path ends with a slash: rules and assumptions speak of the other name."""
    for parameter in declared.get("parameters", ()):
        value = args.get(parameter["name"])
        if parameter.get("access") is not None and isinstance(value, str):
            refused = places.of_folder(value)
            if refused is not None:
                raise ToolFailure("path", refused)


def check(declared: ToolRow, args: Mapping[str, object], grants: Sequence[Grant]) -> None:
    """Raises ToolFailure if a step accesses something that a grant in force does not name, or uses another name of a file."""
    _one_name(declared, args)
    for grant in grants:
        for parameter in declared.get("parameters", ()):
            access = parameter.get("access")
            value = args.get(parameter["name"])
            if access is not None and isinstance(value, str):
                path = "/".join(parts_of(value))
                kind = "write" if access in _WRITES else "read"
                if not any(fits(path, _tokens(glob)) for glob in grant.get(kind, ())):
                    raise ToolFailure(
                        "capability", f"the plan's `allow {kind}` does not name `{path}`"
                    )
            if access is None and parameter["kind"] == "glob":
                listing("**" if value is None else str(value), [grant], folder=True)
        if reads_at_large(declared) and not _everything(grant):
            raise ToolFailure(
                "capability", "the plan does not allow reading any file (`allow read **`)"
            )
        for kind in ("read", "write"):
            for glob in declared.get("access", {}).get(kind, ()):
                if not _everything(grant, kind) and not within(
                    glob, map(_tokens, grant.get(kind, ()))
                ):
                    raise ToolFailure(
                        "capability", f"the plan's `allow {kind}` does not name `{glob}`"
                    )
        if runs_plan(declared):
            continue  # each step of the plan that it runs is held to the same grants
        if declared.get("writes") == "unknown" and "run" not in grant:
            raise ToolFailure("capability", "the plan does not allow commands (`allow run *`)")
        if declared.get("trust") == "untrusted" and "net" not in grant:
            raise ToolFailure("capability", "the plan does not allow the network (`allow net *`)")


def listing(glob: str, grants: Sequence[Grant], *, folder: bool = False) -> None:
    """Raises ToolFailure where a glob may name files that one of the grants in force does not name."""
    for grant in grants:
        if not _everything(grant) and not within(
            glob, map(_tokens, grant.get("read", ())), folder=folder
        ):
            raise ToolFailure("capability", f"the plan's `allow read` does not name `{glob}`")


def _everything(grant: Grant, kind: str = "read") -> bool:
    return any(glob in (((False, "**"),), ((False, "**/*"),)) for glob in grant.get(kind, ()))


_tokens = lru_cache(maxsize=1024)(compiled)
