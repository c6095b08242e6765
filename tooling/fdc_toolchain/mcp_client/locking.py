"""`fdc tools lock`: starts the servers of the catalogues once each, and writes what they offer as a catalogue, the lock."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import durable
from ..agent.host.tool_context import opened
from ..exits import UsageError, WorldError
from ..linking.catalogue_check import examined
from ..linking.look_up import LookUp
from ..linking.own_row import LOCK, looser, pinned
from ..workspace.failure import ToolFailure
from .calling import offered
from .inside import hinted
from .rows import Unfit, row_of

if TYPE_CHECKING:
    from ..certificate.forms.rows import Server

EACH, TOGETHER = 60.0, 180.0
"""Seconds for one server, and for all of them."""


def lock(names: LookUp) -> Iterator[str]:
    """Writes the lock; tells what changed, line by line. Raises UsageError and WorldError, and writes nothing then."""
    servers = _servers(names)
    before = _rows(names.files.read(LOCK))
    rows: dict[str, Any] = {}
    left: list[str] = []
    last = time.monotonic() + TOGETHER
    with opened(names.root, "lock") as context:
        for server, declared in servers.items():
            seconds = max(0.1, min(EACH, last - time.monotonic()))
            try:
                offers = offered(server, declared, replace(context, shell_seconds=seconds))
            except ToolFailure as failed:
                late = f"the server `{server}` has not said within {seconds:.1f} s what it offers"
                raise WorldError(late if failed.kind == "timeout" else str(failed)) from failed
            _fits(server, declared, {one["name"]: one for one in offers})
            for offer in offers:
                try:
                    rows[f"{server}.{offer['name']}"] = row_of(server, declared, offer)
                except Unfit as unfit:
                    left.append(f"left out: {server}.{str(offer['name'])[:80]}: {unfit}")
    locked = {server: pinned(declared) for server, declared in servers.items()}
    document = {"format": 1, "name": "locked", "locked": locked, "tools": rows}
    data = (json.dumps(document, indent=1) + "\n").encode()
    wrong = [one for one in examined(data, LOCK, frozenset(), {})[0] if one.severity == "error"]
    if wrong:
        raise UsageError(f"what the servers offer makes no catalogue: {wrong[0].message}")
    durable.replace(os.path.join(names.root, LOCK), data)
    for name in sorted(before.keys() | rows.keys()):
        if before.get(name) != rows.get(name):
            how = "new" if name not in before else "gone" if name not in rows else "changed"
            yield f"{how:8}{name}"
    yield from left
    many = f"{len(rows)} tool{'' if len(rows) == 1 else 's'} of {len(servers)} server"
    yield f"{LOCK}: {many}{'' if len(servers) == 1 else 's'}"


def _servers(names: LookUp) -> dict[str, Server]:
    paths = names.settings.catalogues
    if LOCK not in paths:
        raise UsageError(f"`catalogues` in the settings does not name `{LOCK}`: add it there")
    found: dict[str, Server] = {}
    for path in paths:
        data = names.files.read(path)
        if data is None or path == LOCK:
            continue
        wrong = [one for one in examined(data, path, frozenset(), {})[0] if one.severity == "error"]
        if wrong:
            place = f"{wrong[0].span.path}:{wrong[0].span.line}"
            raise UsageError(f"{place}: {wrong[0].message}")
        found |= json.loads(data.decode("utf-8-sig")).get("servers", {})
    if not found:
        raise UsageError(f"no catalogue declares `servers` ({', '.join(paths)})")
    return found


def _fits(server: str, declared: Server, offers: Mapping[str, Any]) -> None:
    for name, more in declared.get("tools", {}).items():
        if name not in offers:
            raise UsageError(f"the server `{server}` offers no `{name}`; it offers {_some(offers)}")
        says = hinted(offers[name])
        if looser(more.get("effect", "once"), says):
            declares = f"`{name}` of `{server}` cannot be declared `{more['effect']}`"
            raise UsageError(f"{declares}: the server itself says `{says}`")


def _some(offers: Mapping[str, Any]) -> str:
    names = [f"`{one[:80]}`" for one in list(offers)[:8]]
    return ", ".join(names) + (f" and {len(offers) - 8} more" if len(offers) > 8 else "") or "none"


def _rows(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}").get("tools", {})
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}
