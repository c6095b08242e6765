"""Checks what the machine lets an agent do: files, network, environment (FDC-65)."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from .capabilities import Check

NETWORK = "example.com:443"
"""The default host for the connection test."""

SLOW_FILES = 250.0
SLOW_NETWORK = 1000.0
NETWORK_TIMEOUT = 3.0


def probe(
    folder: str, *, network: str = NETWORK, environment: Mapping[str, str] = os.environ
) -> list[Check]:
    """All checks, in the order of the report. Never raises: what cannot be done is a FAIL."""
    return [
        probe_filesystem(folder),
        probe_network(network),
        *probe_environment_variables(environment),
    ]


def probe_filesystem(folder: str) -> Check:
    """Writes, reads and deletes a file in `folder`, and says how long that took."""
    import secrets

    token = secrets.token_bytes(32)
    path = os.path.join(folder, f".fdc-probe-{token[:6].hex()}")
    start = time.perf_counter()
    doing = "create"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            doing = "write"
            os.write(handle, token)
            os.fsync(handle)
            doing = "read"
            same = os.pread(handle, 64, 0) == token
        finally:
            os.close(handle)
            os.unlink(path)
    except OSError as refused:
        return Check(
            "Filesystem", "FAIL", f"cannot {doing} a file in `{folder}`: {refused.strerror}"
        )
    took = (time.perf_counter() - start) * 1000
    if not same:
        return Check(
            "Filesystem", "FAIL", f"a file in `{folder}` does not read back as it was written"
        )
    return Check(
        "Filesystem",
        "WARN" if took > SLOW_FILES else "PASS",
        f"write, read and delete in `{folder}`: {took:.1f} ms",
    )


def probe_network(network: str = NETWORK) -> Check:
    """Opens a connection to `HOST:PORT` and closes it; sends nothing. `off` tries nothing."""
    if network == "off":
        return Check("Network", "WARN", "not tried")
    host, _, port = network.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        return Check("Network", "FAIL", f"`{network}` is not HOST:PORT")
    answer = _connect(host.strip("[]"), int(port))
    if isinstance(answer, str):
        return Check("Network", "FAIL", f"no connection to {network}: {answer}")
    return Check(
        "Network",
        "WARN" if answer > SLOW_NETWORK else "PASS",
        f"connection to {network}: {answer:.1f} ms",
    )


def probe_environment_variables(environment: Mapping[str, str] = os.environ) -> list[Check]:
    """Looks at PATH, and at the folders in it."""
    folders = [part for part in environment.get("PATH", "").split(os.pathsep) if part]
    present = [part for part in folders if os.path.isdir(part)]
    if not folders:
        return [Check("Environment variables", "FAIL", "PATH is not set")]
    if not present:
        return [Check("Environment variables", "FAIL", "PATH has no folder that exists")]
    finding, absent = f"PATH has {len(folders)} folders", len(folders) - len(present)
    if absent:
        return [Check("Environment variables", "WARN", f"{finding}, {absent} of them do not exist")]
    return [Check("Environment variables", "PASS", finding)]


def _connect(host: str, port: int) -> float | str:
    """Milliseconds to a connection, or why there is none.

    Runs in its own thread: a resolver without network may take half a minute, and cannot be stopped.
    """
    import socket
    import threading

    answer: list[float | str] = []

    def attempt() -> None:
        start = time.perf_counter()
        try:
            socket.create_connection((host, port), timeout=NETWORK_TIMEOUT).close()
            answer.append((time.perf_counter() - start) * 1000)
        except (OSError, UnicodeError) as refused:
            answer.append(
                getattr(refused, "strerror", None) or str(refused) or type(refused).__name__
            )

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(NETWORK_TIMEOUT)
    return answer[0] if answer else f"no answer within {NETWORK_TIMEOUT:g} s"
