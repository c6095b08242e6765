"""Pages fetched over real HTTP from servers that misbehave (issue 5, "Tested over real HTTP"; security.md 7, web and SSRF)."""

from __future__ import annotations

import gzip
import itertools
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fdc_toolchain.tools.files import readable
from fdc_toolchain.tools.web.fetch import Fetched, Manners, decoded, fetch
from fdc_toolchain.tools.web.http import Door, public, target
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.background import PATIENCE
from tests.support.process import run
from tests.support.web import Handler, Reply, Route, Site, page, redirect, site

TEA = """<p>Green tea wants water of eighty degrees, and it is brewed for two minutes at most by those who like it mild.</p>
<h2>Black tea</h2><p>Black tea takes boiling water. It is ready after four minutes, or after five where it is drunk with milk.</p>
<p>Whoever brews white tea takes water of seventy degrees, and a great deal of patience besides.</p>"""
BOMB = 50_000_000
GERMAN = (
    "Für grünen Tee soll das Wasser nicht zu heiß sein: grüner Tee wird mit achtzig Grad aufgegossen, schwarzer kocht.\n"
    * 3
)


def got(server: Site, path: str, manners: Manners | None = None, **door: object) -> Fetched:
    """The page at a path of a server that the operator named."""
    return fetch(server.url + path, Door((server.host,), **door), manners=manners or Manners())  # type: ignore[arg-type]


def refused(
    server: Site, path: str, manners: Manners | None = None, **door: object
) -> tuple[str, str]:
    with pytest.raises(ToolFailure) as caught:
        got(server, path, manners, **door)
    return caught.value.kind, str(caught.value)


def dripping(handler: Handler, pieces: Iterable[bytes]) -> None:
    """Sends the pieces, each in time and all of them too late."""
    for piece in pieces:
        try:
            handler.wfile.write(piece)
            handler.wfile.flush()
        except OSError:
            return
        if handler.server.closing.wait(0.05):
            return


def drip_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
    dripping(handler, [b"y"] * 20_000)


def drip_status(handler: Handler) -> None:
    dripping(handler, [b"HTTP/1.1 200 "] + [b"O"] * 20_000)


@pytest.fixture(scope="module")
def web() -> Iterator[Site]:
    """A site of everything that can go wrong."""
    drip = [b"a"] * 20_000
    routes: dict[str, Route] = {
        "/tea": page("On tea", TEA),
        "/huge": Reply(b"x" * 300_000, "text/plain"),
        "/endless": Reply(kind="text/plain", pieces=[b"x" * 65536] * 40),
        "/slow": Reply(kind="text/plain", pieces=drip, wait=0.05),
        "/silent": Reply(kind="text/plain", pieces=[b"", b"late"], wait=1000),
        "/bomb": Reply(
            gzip.compress(bytes(BOMB)), "text/html", headers={"content-encoding": "gzip"}
        ),
        "/packed": Reply(
            gzip.compress(page("On tea", TEA).body), headers={"content-encoding": "gzip"}
        ),
        "/deflated": Reply(
            zlib.compress(page("On tea", TEA).body), headers={"content-encoding": "deflate"}
        ),
        "/brotli": Reply(b"\x1b\x00", headers={"content-encoding": "br"}),
        "/garbled": Reply(b"no gzip at all", headers={"content-encoding": "gzip"}),
        "/short": Reply(kind="text/plain", pieces=[b"half"], headers={"content-length": "9999"}),
        "/loop": redirect("/loop2"),
        "/loop2": redirect("/loop"),
        "/nowhere": Reply(status=302),
        "/old": redirect("/tea", 301),
        "/metadata": redirect("http://169.254.169.254/latest/meta-data/"),
        "/file": redirect("file:///etc/passwd"),
        "/inside": redirect("http://127.0.0.1:1/"),
        "/decimal": redirect("http://2130706433:1/"),
        "/octal": redirect("http://0177.0.0.1:1/"),
        "/mapped": redirect("http://[::ffff:10.0.0.1]/"),
        "/inside2": redirect("/inside", 307),
        "/user": redirect("http://user:word@example.org/"),
        "/headers": drip_headers,
        "/status": drip_status,
        "/binary": Reply(b"\x7fELF\0\0\0", "application/octet-stream"),
        "/liar": Reply(b"\x7fELF\0\0\0" + bytes(200), "text/html"),
        "/image": Reply(b"\x89PNG", "image/png"),
        "/gone": Reply(b"gone", "text/plain", 404),
        "/busy": Reply(b"later", "text/plain", 429),
        "/private": Reply(b"not for guests", "text/plain"),
        "/robots.txt": Reply(
            b"User-agent: *\nDisallow: /private\nDisallow: /*secret\n", "text/plain"
        ),
        "/a/secret/page": Reply(b"no", "text/plain"),
    }
    routes |= {f"/hop{number}": redirect(f"/hop{number + 1}") for number in range(20)}
    with site(routes) as server:
        yield server


def test_a_page_is_fetched_and_read(web: Site) -> None:
    found = got(web, "/tea")
    text, charset = decoded(found)
    assert ("html", 0, "utf-8", f"{web.url}/tea") == (found.kind, found.hops, charset, found.url)
    read = readable.readable("html", text.encode())
    assert "On tea" == read.title and "eighty degrees" in read.text and "Home" not in read.text


@pytest.mark.parametrize("path", ["/packed", "/deflated"])
def test_a_page_that_comes_packed_is_unpacked(web: Site, path: str) -> None:
    assert page("On tea", TEA).body == got(web, path).body


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("/huge", "size", "announces 300,000 bytes"),
        ("/endless", "size", "sends more than 200,000 bytes"),
        ("/bomb", "size", "sends more than 200,000 bytes"),
        ("/brotli", "encoding", "a compression that was not requested"),
        ("/garbled", "encoding", "cannot be decompressed"),
        ("/short", "net", "ended after 4 of 9,999 bytes"),
        ("/loop", "redirect", "has a redirect loop"),
        ("/hop0", "redirect", "redirects more than 5 times"),
        ("/nowhere", "redirect", "without a target"),
        ("/metadata", "address", "169.254.169.254, an address of a private network"),
        ("/file", "url", "not an http or https address"),
        ("/inside", "address", "127.0.0.1, an address of a private network"),
        ("/decimal", "address", "127.0.0.1, an address of a private network"),
        ("/octal", "address", "127.0.0.1, an address of a private network"),
        ("/mapped", "address", "an address of a private network"),
        ("/inside2", "address", "127.0.0.1, an address of a private network"),
        ("/user", "url", "a user name or a password"),
        ("/binary", "unreadable", "`application/octet-stream`, which is not text"),
        ("/liar", "unreadable", "bytes that are not text"),
        ("/image", "unreadable", "`image/png`"),
        ("/gone", "http", "status 404"),
        ("/busy", "busy", "limits the rate of requests"),
        ("/private", "robots", "does not allow fetching /private"),
        ("/a/secret/page", "robots", "does not allow fetching"),
    ],
)
def test_what_misbehaves_is_refused_with_its_reason(
    web: Site, path: str, kind: str, said: str
) -> None:
    found, message = refused(web, path, most=200_000)
    assert kind == found and said in message, message


def test_what_is_not_allowed_is_never_asked_for(web: Site) -> None:
    """robots.txt comes first; the page that it closes sees no request."""
    before = len(web.paths())
    refused(web, "/private")
    assert ["/robots.txt"] == web.paths()[before:]


@pytest.mark.parametrize("path", ["/slow", "/silent", "/headers", "/status"])
def test_a_server_that_takes_its_time_is_given_up_though_each_byte_is_in_time(
    web: Site, path: str
) -> None:
    """The server would take a thousand seconds."""
    manners = Manners()
    got(web, "/tea", manners)  # its robots.txt is known by now
    assert "timeout" == refused(web, path, manners, seconds=0.6)[0]


def test_whoever_leaves_does_not_wait_for_a_server(web: Site) -> None:
    from fdc_toolchain.engine.ports import Cancelled

    asked = itertools.count()
    with pytest.raises(Cancelled):
        got(web, "/silent", stop=lambda: next(asked) > 3)


def test_a_redirect_is_followed_and_the_last_address_counts(web: Site) -> None:
    found = got(web, "/old")
    assert (f"{web.url}/tea", f"{web.url}/old", 1) == (found.url, found.asked, 1)


def test_a_plan_that_allows_some_hosts_allows_no_other(web: Site) -> None:
    with pytest.raises(ToolFailure, match=r"does not name `127\.0\.0\.1`"):
        fetch(web.url + "/tea", Door((web.host,)), lambda host: host == "example.org", Manners())


# Addresses


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2001:0:7f00:1::1", "fec0::1", "3fff::1", "192.88.99.1", "::127.0.0.1", "64:ff9b:1::7f00:1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07::1", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_addresses_that_are_public(address: str) -> None:
    assert public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0x7f000001", "0", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "①②⑦.⓪.⓪.①", "127。0。0。1",
    ],
)  # fmt: skip
def test_this_machine_is_not_fetched_however_it_is_written(web: Site, host: str) -> None:
    """No one but the operator opens it, and it is impossible for a plan or an argument to."""
    port = web.server_address[1]
    before = len(web.paths())
    with pytest.raises(ToolFailure) as caught:
        fetch(f"http://{host}:{port}/tea", Door(), manners=Manners())
    assert caught.value.kind in ("address", "net"), caught.value
    assert before == len(web.paths())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/x", "file:///etc/passwd", "gopher://example.org", "javascript:alert(1)", "//example.org/x", "tea", "",
        "http://", "http://user:secret@example.org/", "http://exa mple.org/", "http://example.org/\r\nX: y", "http://[::1",
        "http://example.org:99999/", "http://" + "a" * 3000, "http://exam\\ple.org/", "http://example.org\\@127.0.0.1/", "http://../",
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_refused_before_anything_is_looked_up(url: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        target(url)
    assert "url" == caught.value.kind


def test_the_address_that_was_looked_at_is_the_one_that_is_connected_to(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means a public address when it is checked and this machine when it is used (DNS rebinding)."""
    port = web.server_address[1]
    answers = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"])
    looked: list[str] = []

    def look_up(host: str, *_: object, **__: object) -> list[object]:
        looked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    reached: list[tuple[str, int]] = []

    def connect(self: socket.socket, where: tuple[str, int]) -> None:
        reached.append(where)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(ToolFailure, match="refused"):
        fetch(f"http://rebound.example:{port}/", Door(), manners=Manners())
    assert (["rebound.example"], [("93.184.215.14", port)]) == (looked, reached)


# TLS


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    """A site over TLS whose certificate, for `localhost`, no one has vouched for; and that certificate."""
    folder = tmp_path_factory.mktemp("tls")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    done = run(
        ["openssl", "req", "-x509", *kind, *names, "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder,
    )
    assert 0 == done.returncode, done.stderr
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with site({"/tea": page("On tea", TEA)}, context) as server:
        yield server, folder / "cert.pem"


@pytest.mark.parametrize(
    ("trusted", "host", "why"),
    [
        (False, "localhost", "verify failed"),
        (True, "127.0.0.1", "verify failed"),
        (True, "localhost", ""),
    ],
)
def test_a_server_over_tls_is_who_its_certificate_says(
    sealed: tuple[Site, Path], monkeypatch: pytest.MonkeyPatch, trusted: bool, host: str, why: str
) -> None:
    """The name counts, though the connection goes to an address."""
    server, certificate = sealed
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    door = Door((host,), seconds=PATIENCE)
    url = f"https://{host}:{server.server_address[1]}/tea"
    if not why:
        assert b"eighty" in fetch(url, door, manners=Manners()).body
        return
    with pytest.raises(ToolFailure) as caught:
        fetch(url, door, manners=Manners())
    assert "net" == caught.value.kind and why in str(caught.value)


# robots.txt and manners


@pytest.mark.parametrize(
    ("robots", "goes"),
    [
        (Reply(b"User-agent: fdc\nDisallow: /\n", "text/plain"), False),
        (Reply(b"User-agent: *\nDisallow: /\n\nUser-agent: fdc\nAllow: /\n", "text/plain"), True),
        (Reply(b"User-agent: other\nDisallow: /\n", "text/plain"), True),
        (Reply(b"", "text/plain", 404), True),
        (Reply(b"", "text/plain", 503), False),
        (redirect("/elsewhere.txt"), False),
        (redirect("/robots.txt"), False),
        (Reply(b"\xff\xfe\0garbage", "text/plain"), True),
        (Reply(b"User-agent: *\nDisallow: /" + b"*a" * 200 + b"$\n", "text/plain"), True),
    ],
)
def test_robots_txt_is_kept_to(robots: Reply, goes: bool) -> None:
    closed = Reply(b"User-agent: *\nDisallow: /tea\n", "text/plain")
    with site(
        {"/robots.txt": robots, "/elsewhere.txt": closed, "/tea": page("On tea", TEA)}
    ) as server:
        if goes:
            assert "html" == got(server, "/tea").kind
        else:
            assert "robots" == refused(server, "/tea")[0]


def test_a_host_is_left_alone_between_two_requests() -> None:
    """A second, or what its robots.txt asks for; another host need not wait."""
    now = [100.0]
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        now[0] += seconds

    manners = Manners(lambda: now[0], pause)
    manners.wait("http://a", 1.0, lambda: False)
    manners.wait("http://b", 1.0, lambda: False)
    assert [] == paused
    manners.wait("http://a", 1.0, lambda: False)
    assert pytest.approx(1.0) == sum(paused)


def test_what_a_robots_txt_asks_for_in_patience_is_given() -> None:
    now = [0.0]
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        now[0] += seconds

    manners = Manners(lambda: now[0], pause)
    slowly = Reply(b"User-agent: *\nCrawl-delay: 7\n", "text/plain")
    with site({"/robots.txt": slowly, "/tea": page("On tea", TEA)}) as server:
        for _ in range(2):
            fetch(server.url + "/tea", Door((server.host,)), manners=manners)
        assert ["/robots.txt", "/tea", "/tea"] == server.paths()
    assert pytest.approx(7.0) == sum(paused)


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [("100000", 15.0), ("1e300", 15.0), ("inf", 0.0), ("nan", 0.0), ("-3", 0.0), ("0.5", 0.5)],
)
def test_a_robots_txt_that_asks_for_too_much_patience_gets_some(
    stated: str, seconds: float
) -> None:
    """A quarter of a minute at most, so that no page is waited for without end."""
    now = [0.0]
    paused: list[float] = []

    def pause(length: float) -> None:
        paused.append(length)
        now[0] += length

    manners = Manners(lambda: now[0], pause)
    slowly = Reply(f"User-agent: *\nCrawl-delay: {stated}\n".encode(), "text/plain")
    with site({"/robots.txt": slowly, "/tea": page("On tea", TEA)}) as server:
        for _ in range(2):
            fetch(server.url + "/tea", Door((server.host,)), manners=manners)
    assert pytest.approx(seconds, abs=0.01) == sum(paused)


@pytest.mark.parametrize(
    "where",
    [
        "http://127.0.0.1:1/robots.txt",
        "http://169.254.169.254/",
        "http://[::1]:1/",
        "ftp://example.org/",
    ],
)
def test_a_robots_txt_leads_nowhere_inside(where: str) -> None:
    """It is looked at as any page is; nothing of the site is fetched then."""
    with site({"/robots.txt": redirect(where), "/tea": page("On tea", TEA)}) as server:
        assert refused(server, "/tea")[0] in ("address", "url")
        assert ["/robots.txt"] == server.paths()


@pytest.mark.parametrize("line", ["tls", "plain"])
def test_a_server_that_takes_the_line_and_says_nothing_is_given_up(line: str) -> None:
    """Also before TLS has begun."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        scheme = "https" if line == "tls" else "http"
        with pytest.raises(ToolFailure) as caught:
            fetch(f"{scheme}://{host}:{port}/", Door((host,), seconds=0.6), manners=Manners())
    assert "timeout" == caught.value.kind


def test_who_asks_says_who_it_is(web: Site) -> None:
    got(web, "/tea")
    assert web.asked[-1].headers["user-agent"].startswith("fdc/")


# Charsets


@pytest.mark.parametrize(
    ("kind", "body", "charset"),
    [
        ("text/plain; charset=utf-8", GERMAN.encode("latin-1"), ""),
        ("text/plain; charset=iso-8859-1", "grüner Tee".encode(), "utf-8"),
        ("text/plain; charset=iso-8859-1", "grüner “Tee”".encode("windows-1252"), "windows-1252"),
        ("text/plain; charset=shift_jis", "緑茶を飲みます".encode("shift_jis"), "shift_jis"),
        ("text/plain; charset=nonsense-7", "grüner Tee".encode(), "utf-8"),
        ("text/plain", "grüner Tee".encode("utf-16"), "utf-16"),
        ("text/plain", b"\xef\xbb\xbf" + "grüner Tee".encode(), "utf-8"),
        (
            "text/html",
            '<meta charset="windows-1251"><p>зелёный чай</p>'.encode("windows-1251"),
            "windows-1251",
        ),
        ("text/html; charset=", "<p>grüner Tee</p>".encode(), "utf-8"),
    ],
)
def test_a_wrong_or_missing_charset_is_seen_through(kind: str, body: bytes, charset: str) -> None:
    with site({"/x": Reply(body, kind)}) as server:
        text, found = decoded(got(server, "/x"))
    assert any(word in text for word in ("grüner", "緑茶", "зелёный")) and (
        not charset or charset == found
    )


@pytest.mark.parametrize(
    "name", ["punycode", "idna", "unicode_escape", "raw_unicode_escape", "utf-7", "undefined"]
)
def test_a_codec_that_is_no_charset_of_pages_is_not_used(name: str) -> None:
    """Half a megabyte said to be punycode kept a processor busy for minutes."""
    page = Fetched(
        "http://x/",
        "http://x/",
        0,
        "text",
        f"text/plain; charset={name}",
        b"a" * 400_000 + b"\xfc-" + b"b9" * 60_000,
    )
    assert decoded(page)[1] != name


# Hostile text


def test_a_page_that_no_parser_can_get_through_ends_its_reader_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Attributes without end keep the parser busy for half a minute; its process is ended."""
    monkeypatch.setattr(readable, "SECONDS", 1.5)
    hostile = "<a " + " ".join(f"a{number}=1" for number in range(100_000)) + ">x</a>"
    with pytest.raises(ToolFailure, match=r"could not be read within 1\.5 s"):
        readable.readable("html", hostile.encode())


@pytest.mark.parametrize(
    "body", ["<div>" * 50_000, "", "\x00\x01", "<script>alert(1)</script>", "&#" * 10_000]
)
def test_a_page_without_text_is_a_failure_or_nothing(body: str) -> None:
    try:
        assert "<" not in readable.readable("html", body.encode()).text
    except ToolFailure as failed:
        assert "unreadable" == failed.kind


def test_characters_that_cannot_be_seen_do_not_get_into_the_text() -> None:
    hidden = page(
        "On tea",
        f"{TEA}<p>Do\u202e not\u200b obey \x1b[31mthis sentence, which is long enough to be kept.</p>",
    ).body
    text = readable.readable("html", hidden).text
    assert "not obey" in text and not any(char in text for char in "\u202e\u200b\x1b")


def test_a_name_that_the_operator_gives_is_one_host_and_port() -> None:
    where = target("http://127.0.0.1:8080/x")
    assert Door(("127.0.0.1:8080",)).opens(where) and Door(("127.0.0.1",)).opens(where)
    assert not Door(("127.0.0.1:80",)).opens(where) and not Door(("127.0.0.2",)).opens(where)


def test_a_server_that_sends_headers_without_end_is_refused() -> None:
    def flood(handler: Handler) -> None:
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\n"
            + b"".join(b"x-%d: y\r\n" % number for number in range(500))
            + b"\r\n"
        )

    with site({"/x": flood}) as server:
        assert "net" == refused(server, "/x")[0]
