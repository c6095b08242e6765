"""What a Python tool of a workspace may access, as declared in the catalogue (docs/own-tools.md).

    "access": {"read": ["docs/**", "AGENTS.md"], "write": ["out/**"], "env": ["TEAPOT"], "net": true}

Beside that, the files that its parameters with `access` name. Nothing else: a tool that says nothing reads the workspace,
without what is protected and what is named like a secret, and writes nothing; one that is `pure` reads nothing either. What
the plans on the stack allow holds as well: the row is one more grant.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..linking.own_row import reads_all
from ..named_tuples import NamedTuple
from ..program.model import Grant, ToolRow
from ..workspace.files import parts_of

PASSED = ("LANG", "LANGUAGE", "TZ")
"""Environment variables of a tool, besides those that begin with `LC_` and those that its row names."""


class Access(NamedTuple):
    """`grant`: what it may write, and whether it reaches the network. `reads`: paths below the workspace's root, a folder with
    all that is in it; None: the whole workspace. `named`: those of them that open what is protected or a secret. `git`: the
    `.git` that the row itself names, which is read then, and never written."""

    grant: Grant
    reads: tuple[str, ...] | None
    named: tuple[str, ...]
    env: tuple[str, ...]
    git: tuple[str, ...]

    @property
    def writes(self) -> bool:
        """Whether it may write anything."""
        return bool(self.grant["write"])


def access_of(declared: ToolRow, args: Mapping[str, object]) -> Access:
    """What a step may access with these arguments. Raises ToolFailure for a path outside the workspace."""
    row = declared.get("access", {})
    write: list[tuple[tuple[bool, str], ...]] = [((False, glob),) for glob in row.get("write", ())]
    named = []
    for parameter in declared.get("parameters", ()):
        how = parameter.get("access") if isinstance(parameter, dict) else None
        value = args.get(parameter["name"]) if how else None
        if isinstance(value, str):
            path = "/".join(parts_of(value))
            named.append(path)
            if how != "read":
                write.append(((True, path),))
    read = row.get("read", ())
    trees = [glob.removesuffix("**").rstrip("/") for glob in read]
    whole = reads_all(declared) or "" in trees
    named += [glob for glob in read if not glob.endswith("**")]
    grant: dict[str, Any] = {"read": (), "write": tuple(write)}
    if row.get("net"):
        grant["net"] = (((False, "*"),),)
    reads = None if whole else tuple(dict.fromkeys([*trees, *named]))
    git = tuple(tree for tree in trees if os.path.basename(tree) == ".git")
    return Access(grant, reads, tuple(named), tuple(row.get("env", ())), git)


def environment(access: Access, scratch: str) -> dict[str, str]:
    """The environment variables of a tool, without those that could contain a secret of the operator."""
    from ..linking.own_row import no_variable

    passed = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED or name.startswith("LC_")
    }
    wanted = {
        name: os.environ[name]
        for name in access.env
        if name in os.environ and no_variable(name) is None
    }
    # A git that may not open /etc/gitconfig ends; one that only looks at a repository takes no lock in it.
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0"} if access.git else {}
    return {
        **git,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        **passed,
        **wanted,
        "HOME": scratch,
        "TMPDIR": scratch,
    }
