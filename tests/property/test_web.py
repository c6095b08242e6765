"""Laws of addresses and of what servers send, for every input (security.md 7: web, SSRF)."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from fdc_toolchain.tools.web.fetch import Fetched, decoded
from fdc_toolchain.tools.web.http import public, target
from fdc_toolchain.tools.web.search import PROVIDERS, _clean, _Refused
from fdc_toolchain.workspace.failure import ToolFailure
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.sampled_from(["example.org", "[::1]", "a@b", "x:y", "..", "ü.de"])
HOSTS = st.one_of(st.text(max_size=20), st.ip_addresses().map(str), NAMES)
SCHEMES = st.sampled_from(["http", "https", "ftp"])
URLS = st.text(max_size=60) | st.builds("{}://{}/{}".format, SCHEMES, HOSTS, st.text(max_size=30))


@given(URLS)
def test_an_address_is_taken_apart_or_refused_and_what_is_sent_is_plain(url: str) -> None:
    """Nothing that a server could take for another header or another host comes through, and a second look says the same."""
    try:
        where = target(url)
    except ToolFailure as refused:
        assert "url" == refused.kind
        return
    assert where.scheme in ("http", "https") and 0 <= where.port < 65536
    assert all(33 <= ord(char) < 127 for char in where.url) and where.path.startswith("/")
    assert "@" not in urlsplit(where.url).netloc and where.host == urlsplit(where.url).hostname
    assert where == target(where.url)


@given(st.ip_addresses(v=4))
def test_an_address_inside_of_another_is_as_private_as_it_is_alone(address: Any) -> None:
    alone = public(str(address))
    mapped = ipaddress.IPv6Address(0xFFFF << 32 | int(address))
    translated = ipaddress.IPv6Address((0x0064FF9B << 96) | int(address))
    assert alone == public(str(mapped)) == public(str(translated))
    assert alone or not public(str(ipaddress.IPv6Address(0x2002 << 112 | int(address) << 80 | 1)))
    relay = address in ipaddress.ip_network(
        "192.88.99.0/24"
    )  # of 6to4: given up, and global by Python's list
    assert alone == (
        address.is_global and not (address.is_multicast or address.is_reserved or relay)
    )


@given(st.binary(max_size=300), st.text(max_size=40), st.sampled_from(["html", "text"]))
def test_any_bytes_under_any_charset_are_some_text(body: bytes, claimed: str, kind: str) -> None:
    text, charset = decoded(
        Fetched("http://a/", "http://a/", 0, kind, f"text/plain; charset={claimed}", body)
    )
    assert isinstance(text, str) and charset


KEYS = st.sampled_from(["results", "web", "url", "title", "content"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(st.sampled_from([name for name, row in PROVIDERS.items() if row.read is not None]), JSON)
def test_whatever_a_provider_says_is_results_or_a_refusal(name: str, said: Any) -> None:
    read = PROVIDERS[name].read
    assert read is not None
    try:
        hits = _clean(read(said))
    except _Refused:
        return
    for hit in hits:
        assert hit.url.startswith(("http://", "https://")) and "<b>" not in hit.title
