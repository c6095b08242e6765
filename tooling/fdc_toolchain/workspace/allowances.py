"""The safety errors that this user allows in a workspace: the rows of `[[allow]]` confirmed on this machine.

A clone brings settings, and must not bring its own permission. So the rows count only once somebody confirmed
exactly these rows for exactly this folder. The confirmation lies with the user's key, outside of any workspace,
and is sealed by it.
"""

from __future__ import annotations

import os

from ..cachedir import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def path_of(root: str) -> str:
    """The path of the confirmation for the workspace at `root`."""
    from ..linking.project.stat_cache import sha1

    name = sha1(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(state_dir(), "allowed", name)


def stored(root: str) -> str:
    """The content of the confirmation file; "" if it does not exist. Verdicts depend on it."""
    from ..linking.project import regular_file

    try:
        return regular_file.read(path_of(root), 128).decode("ascii", "replace").strip()
    except OSError:
        return ""


def confirmed(root: str, rows: Sequence[Sequence[str]]) -> bool:
    """True where these rows, and no others, were confirmed for this folder with the key of this user."""
    found = stored(root)
    if not rows or not found:
        return False
    import hmac

    from ..journal.user_key import key

    secret = key(root, make=False)
    if secret is None:
        return False

    return hmac.compare_digest(found, _seal(root, rows, secret))


def confirm(root: str, rows: Sequence[Sequence[str]]) -> None:
    """Stores the confirmation of these rows; deletes it if there are none. Raises OSError, WorldFailed."""
    from .. import durable
    from ..journal.user_key import key

    path = path_of(root)
    if not rows:
        if os.path.lexists(path):
            os.unlink(path)
        return
    secret = key(root, make=True)
    assert secret is not None
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    durable.replace(path, _seal(root, rows, secret).encode("ascii") + b"\n")


def _seal(root: str, rows: Sequence[Sequence[str]], secret: bytes) -> str:
    import hmac
    import json

    text = json.dumps(["fdc-allow", os.path.realpath(root), sorted(list(row) for row in rows)])
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
