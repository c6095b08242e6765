"""The guard that keeps tests on this machine."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

LOCAL_NAMES = {"", "localhost", "localhost.localdomain", "ip6-localhost"}


class LeftTheMachine(AssertionError):
    """A test tried to reach another machine."""


def is_local(host: object) -> bool:
    """True for loopback addresses, local names and no name at all."""
    if host is None:
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if text.lower() in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every connection and name look-up that leaves the machine raise `LeftTheMachine`."""

    def check(host: object) -> None:
        if not is_local(host):
            raise LeftTheMachine(f"a test may only talk to this machine, not to `{host!r}`")

    def guarded(name: str) -> None:
        original = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            address = arguments[-1]
            if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
                check(address[0])
            return original(self, *arguments)

        monkeypatch.setattr(socket.socket, name, call)

    for name in ("connect", "connect_ex", "sendto"):
        guarded(name)

    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        check(host)
        return look_up(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
