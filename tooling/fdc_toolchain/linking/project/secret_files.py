"""Secrets by name: files, which no plan reads unless it names them in `allow read`, and environment variables.

One list, for the linter's rule, the file tools, what globs find and the sandbox of commands, beside that of
`linking.project.protected`. A path is judged by its names, whether it exists or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...named_tuples import NamedTuple
from ...text.glob_match import matches
from ...text.later_regex import later
from .places import Inside
from .protected import folded_name, folded_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class Secret(NamedTuple):
    """Why a path is secret. `entry`: the part of the path that the list names; `what`: the end of a sentence."""

    entry: str
    what: str


_KEY = "holds a private key"
_LOGIN = "holds credentials"
_ENV = "holds settings that are secrets"

ANYWHERE = {
    ".env": _ENV,
    **dict.fromkeys((".envrc.local", ".vault-token", ".vault_pass"), _ENV),
    **dict.fromkeys(("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"), _KEY),
    **dict.fromkeys((".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"), _LOGIN),
    **dict.fromkeys(
        (
            ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf", ".htpasswd", ".yarnrc.yml",
            "credentials.json", "credentials.toml", "credentials.yaml", "credentials.yml", "secrets.json", "secrets.toml",
            "secrets.yaml", "secrets.yml", "client_secret.json", "service-account.json", "service_account.json",
            ".dockercfg", ".dockerconfigjson", "kubeconfig", ".s3cfg", ".boto", "rclone.conf", ".terraformrc",
            "local.settings.json",
        ),
        _LOGIN,
    ),
}  # fmt: skip
"""Names that are secret in every folder, with all that is below them: name, folded, to what it is."""

ENDINGS = {
    **dict.fromkeys((".pem", ".key", ".ppk", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"), _KEY),
    **dict.fromkeys((".tfvars", ".tfstate"), _LOGIN),
    ".env": _ENV,
}
"""Endings of secret file names: ending to what the file is."""

EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
"""`.env.*` is secret, except for names that end so, and `*.env` except for names that begin so: they are examples."""

_BEGIN = tuple(f"{word[1:]}." for word in EXAMPLES)
_COPIES = (".bak", ".old", ".orig", ".save", ".backup", ".copy", ".swp", ".swo")
"""Endings that editors and people give to a copy, which holds what the file holds."""


_VALUE = later(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|(?<![A-Z])PASS(?![A-Z])|[_.-]PWD$",
    re.IGNORECASE,
)
_PART = later(r"SESSION|DATABASE|_URL$|_URI$|_DSN$", re.IGNORECASE)


def variable(name: str) -> Literal["value", "part", ""]:
    """What of a variable of the environment is a secret, by its name: its whole value, or a part of it (an address may hold a
    password). No tool of a workspace is given either; values and passwords are kept out of records (`workspace.secrets`)."""
    return "value" if _VALUE.search(name) else "part" if _PART.search(name) else ""


def secret(path: str, more: Iterable[str] = ()) -> Secret | None:
    """Why a path is not read unless a plan names it, or None. `more`: globs of a workspace's own (`secret` in its settings)."""
    parts = [name for name in path.split("/") if name not in ("", ".")]
    for at, name in enumerate(parts):
        kind = of_name(name)
        if kind:
            return Secret("/".join(parts[: at + 1]), kind)
    globs = [folded_path(glob) for glob in more]
    for at in range(len(parts) if globs else 0):
        entry = "/".join(parts[: at + 1])
        same = folded_path(entry)
        for glob in globs:
            if matches(same, glob):
                return Secret(entry, "is secret in this workspace (`secret` in its settings)")
    return None


def withheld(inside: Inside, key: str, more: Iterable[str]) -> Secret | None:
    """Why no plan is read from a file, by its name or by that of what it is a link to: findings quote the lines of a plan."""
    if key.startswith(("/", "fdc:", "<")):
        return None
    found, real = secret(key, more), inside.target(key)
    return found or (secret(real, more) if real != key else None)


@lru_cache(maxsize=1 << 14)
def of_name(name: str) -> str:
    """What a file or folder of that name holds; empty for any other."""
    folded = folded_name(name)
    kind = ANYWHERE.get(folded)
    if kind is None and folded.startswith(".env.") and not folded.endswith(EXAMPLES):
        kind = _ENV
    if kind is None:
        dot = folded.rfind(".")
        kind = ENDINGS.get(folded[dot:]) if dot > 0 else None
        if kind is _ENV and folded.startswith(_BEGIN):
            kind = None
    if kind is None and folded.endswith(("~", "#", *_COPIES)):
        copied = folded.strip("~#")
        while copied.endswith(_COPIES):
            copied = copied[: copied.rfind(".")]
        if copied != folded:  # an editor puts a dot before the name
            kind = of_name(copied) or of_name(copied[1:])
    return kind or ""
