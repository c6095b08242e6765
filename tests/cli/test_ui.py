"""`fdc ui` over real HTTP, as a person's browser and as everybody else's: who is let in, and what they can do."""

from __future__ import annotations

import html
import http.client
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from tests.support import browser as browsers
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import fdc

ASKS = """param what = "it"
set_plan {what}
plan_step_complete x
sugar <- request_user_input Sugar?
record_user_approval_for_plan {what}
overwrite_file_with_block order.txt
    {sugar}
read_file order.txt
close_task
submit
"""
HOSTILE = "<script>document.title='owned'</script>\x1b[2J\u202e</pre>"
HEADERS = (
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "Referrer-Policy",
    "Cache-Control",
)


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str


class Ui:
    """A server that runs, and a client that has the cookie unless it says otherwise."""

    def __init__(
        self, process: subprocess.Popen[str], workspace: Path, *, enter: bool = True
    ) -> None:
        self.process, self.workspace = process, workspace
        assert process.stdout is not None
        self.url = process.stdout.readline().split()[-1]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?code=(\S+)", self.url)
        assert found is not None, self.url
        self.port, self.code = int(found[1]), found[2]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.entered = self.enter(self.code) if enter else None
        self.cookie = self.entered.headers["Set-Cookie"].split(";")[0] if self.entered else ""

    def ask(
        self,
        method: str,
        path: str,
        body: str | None = None,
        *,
        cookie: bool = True,
        **headers: str,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Cookie": self.cookie} if cookie else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request(method, path, body, sent)
            reply = connection.getresponse()
            return Reply(reply.status, reply.headers, reply.read().decode("utf-8"))

    def get(self, path: str) -> str:
        reply = self.ask("GET", path)
        assert reply.status == 200, reply
        return reply.text

    def enter(self, code: str, **headers: str) -> Reply:
        return self.form("/enter", {"code": code}, cookie=False, **headers)

    def form(
        self, path: str, fields: dict[str, str], *, cookie: bool = True, **headers: str
    ) -> Reply:
        sent = {
            "Origin": self.origin,
            "Content_Type": "application/x-www-form-urlencoded",
            **headers,
        }
        return self.ask("POST", path, urlencode(fields), cookie=cookie, **sent)

    def told(self, path: str, fields: dict[str, str]) -> str:
        """The page to which a form leads."""
        return self.get(self.form(path, fields).headers["Location"])

    def raw(self, data: bytes, seconds: float = 60) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as line:
            line.sendall(data)
            out = b""
            while piece := line.recv(65536):
                out += piece
            return out


def fields(page: str, form: int = 0) -> dict[str, str]:
    """The hidden fields of a page's form."""
    whole = re.findall(r"<form .*?</form>", page, re.DOTALL)[form]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', whole)
    return {name: html.unescape(value) for name, value in found}


@contextmanager
def ui(workspace: Path, *, enter: bool = True) -> Iterator[Ui]:
    with fdc_started("ui", "--no-open", cwd=workspace) as process:
        yield Ui(process, workspace, enter=enter)


def name_of(workspace: Path) -> str:
    return str(json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"][-1]["run"])


@pytest.fixture
def shop(workspace: Path) -> Path:
    """A workspace with a run that waits for an answer."""
    (workspace / "p.plan").write_text(ASKS)
    assert fdc("run", "p.plan", f"what={HOSTILE}", cwd=workspace).returncode == 5
    return workspace


@pytest.fixture
def served(shop: Path) -> Iterator[Ui]:
    with ui(shop) as running:
        yield running


def test_requests_by_another_name_or_from_another_page_are_refused(served: Ui) -> None:
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", f"127.0.0.1:{served.port}.evil.example",
                 f"0.0.0.0:{served.port}", "", f"127.0.0.1:{served.port}@evil"):  # fmt: skip
        assert served.ask("GET", "/", Host=host).status == 421, host
    assert served.ask("GET", "/", Host=f"localhost:{served.port}").status == 200
    for header in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
                   {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):  # fmt: skip
        refused = served.ask("GET", "/", **header)
        assert refused.status == 403 and "Access-Control-Allow-Origin" not in refused.headers, (
            header
        )
    two = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nHost: evil\r\nCookie: {served.cookie}\r\n\r\n"
    assert b" 421 " in served.raw(two.encode()).split(b"\r\n")[0]


def test_every_reply_forbids_frames_sniffing_foreign_code_and_caches(served: Ui) -> None:
    name = name_of(served.workspace)
    for path, cookie in (("/", True), (f"/runs/{name}", True), (f"/runs/{name}/report", True), ("/nowhere", True),
                         ("/", False), ("/live.js", True)):  # fmt: skip
        reply = served.ask("GET", path, cookie=cookie)
        assert all(reply.headers[header] for header in HEADERS), path
        policy = reply.headers["Content-Security-Policy"]
        assert (
            "default-src 'none'" in policy
            and "frame-ancestors 'none'" in policy
            and "unsafe" not in policy
        )
        assert not [one for one in reply.headers if one.lower().startswith("access-control")]
    assert served.ask("OPTIONS", "/").status == served.ask("DELETE", f"/runs/{name}").status == 405
    assert served.ask("HEAD", "/").text == ""


def test_paths_lead_to_pages_only(served: Ui) -> None:
    for path in ("/../../etc/passwd", "/runs/../../x", "/runs/%2e%2e/x", "/runs/", "//evil.example/", "/style.css/..",
                 "/templates/base.html.j2", "/runs/nobody", "/runs/" + "a" * 65, "/runs/x%00", "/.fdc/runs.sqlite"):  # fmt: skip
        reply = served.ask("GET", path)
        assert reply.status == 404 and "root:" not in reply.text, path
    name = name_of(served.workspace)
    assert served.ask("GET", f"/runs/{name}/answer").status == 404


def test_a_change_needs_a_form_of_this_session_from_this_page(served: Ui) -> None:
    name = name_of(served.workspace)
    path = f"/runs/{name}/answer"
    good = {**fields(served.get(f"/runs/{name}")), "text": "two"}
    assert set(good) == {"csrf", "address", "seen", "text"}
    for change, status in (
        ({"csrf": ""}, 403), ({"csrf": good["csrf"][:-1] + "x"}, 403), ({"csrf": "\u00e9"}, 403),
    ):  # fmt: skip
        assert served.form(path, good | change).status == status
    body = urlencode(good)
    kind = "application/x-www-form-urlencoded"
    assert served.ask("POST", path, body, Content_Type=kind).status == 403  # no Origin
    assert served.ask("POST", path, body, Origin="null", Content_Type=kind).status == 403
    assert (
        served.ask("POST", path, body, Origin="https://evil.example", Content_Type=kind).status
        == 403
    )
    assert (
        served.ask("POST", path, body, Origin=served.origin, Content_Type="text/plain").status
        == 415
    )
    assert (
        served.ask("POST", path, body, Origin=served.origin, Content_Type=kind, cookie=False).status
        == 401
    )
    assert served.form("/runs/..%2f/answer", good).status == served.form("/", good).status == 404
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.origin}\r\nCookie: {served.cookie}\r\n"
    head += f"Content-Type: {kind}\r\n"
    for line, status in (
        ("", 411), ("Content-Length: -1\r\n", 411), ("Content-Length: 99999999\r\n", 413), ("Content-Length: 1e3\r\n", 411),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 411), ("Content-Length: 3\r\nContent-Length: 4\r\n", 411),
        ("Content-Length: 3\r\n\r\n%ff", 400),
    ):  # fmt: skip
        assert (
            f" {status} ".encode() in served.raw(f"{head}{line}\r\n".encode()).split(b"\r\n")[0]
        ), line
    run = served.workspace / ".fdc" / "runs" / name
    assert not (run / "answers.json").exists()
    kept = served.form(path, good)
    assert (kept.status, kept.headers["Location"].split("?")[0]) == (303, f"/runs/{name}")
    assert (run / "answers.json").exists()
    assert "Answered, not used yet: <b>two</b>" in served.get(f"/runs/{name}")


def test_what_is_answered_is_what_was_seen(served: Ui) -> None:
    name = name_of(served.workspace)
    page = served.get(f"/runs/{name}")
    path = f"/runs/{name}/answer"
    said = served.told(path, {**fields(page), "seen": "0" * 32, "text": "two"})
    assert "the run does not ask this question (any more)" in said
    assert "any more" not in served.get(f"/runs/{name}")  # said once
    assert served.form(path, {**fields(page), "text": "two\r\nlumps", "go": "on"}).status == 303
    wait_for(lambda: "Approval" in served.get(f"/runs/{name}"))
    approval = served.get(f"/runs/{name}")
    assert (
        "\\u{1b}[2J\\u{202e}&lt;/pre&gt;" in approval
        and "\x1b" not in approval
        and "<script>document" not in approval
    )
    assert f"exactly these {len(HOSTILE.encode())} bytes" in approval
    before = {**fields(page), "text": "yes"}  # the form of the question before
    assert "any more" in served.told(path, before)
    said = served.told(path, {**fields(approval), "text": "perhaps"})
    assert "yes or no" in said
    served.form(path, {**fields(approval), "text": "yes", "go": "on"})
    wait_for(lambda: "badge finished" in served.get(f"/runs/{name}"))
    assert (served.workspace / "order.txt").read_text() == "two\nlumps\n"
    record = json.loads(
        fdc("show", name, "--step", "main/4", "--format", "json", cwd=served.workspace).stdout
    )
    assert record["records"][-1]["body"]["notes"]["answered"]["by"].endswith(", fdc ui")
    assert "finished" in served.told(f"/runs/{name}/resume", fields(said))
    report = served.ask("GET", f"/runs/{name}/report")
    assert report.text == fdc("report", name, cwd=served.workspace).stdout


def test_an_answer_that_the_page_did_not_show_is_not_replaced(served: Ui) -> None:
    """Two people have the page open: the last one won, and neither heard of it."""
    name = name_of(served.workspace)
    page = served.get(f"/runs/{name}")
    path = f"/runs/{name}/answer"
    said = served.told(path, {**fields(page), "text": "two"})
    assert "the answer for main/3 is stored." in said.lower()
    before = {**fields(page), "text": "three\r\nlumps", "go": "on"}  # the page from before
    late = served.told(path, before)
    assert "was answered meanwhile. Your answer was: three\nlumps<" in late
    assert "not used yet: <b>two</b>" in late
    said = served.told(path, {**fields(late), "text": "four"})
    assert "it replaces the unused answer `two`." in said and "not used yet: <b>four</b>" in said


def test_pages_follow_what_happens(served: Ui) -> None:
    name = name_of(served.workspace)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as line:
        head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {served.cookie}\r\n\r\n"
        line.sendall(head.encode())
        stream = line.makefile("rb")
        first = next(one for one in stream if one.startswith(b"data: "))
        assert fdc("answer", name, "none", cwd=served.workspace).returncode == 0
        second = next(one for one in stream if one.startswith(b"data: "))
        assert first != second
        assert fdc("resume", name, cwd=served.workspace).returncode == 5
        assert next(one for one in stream if one.startswith(b"data: ")) not in (first, second)
        stream.close()
    assert "Approval" in served.get(f"/runs/{name}")


def stamps(served: Ui) -> Iterator[str]:
    """What a new stream sends."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as line:
        head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {served.cookie}\r\n\r\n"
        line.sendall(head.encode())
        with line.makefile("r", encoding="ascii", newline="\n") as stream:
            yield from (one[6:].strip() for one in stream if one.startswith("data: "))


@pytest.mark.parametrize("path", ["/", "/runs/{name}"])
def test_a_page_tells_the_state_that_it_shows_so_that_no_change_before_its_stream_is_lost(
    served: Ui, path: str
) -> None:
    name = name_of(served.workspace)
    page = re.compile(r'<body data-stamp="(\w+)">')

    def shown() -> str:
        found = page.search(served.get(path.format(name=name)))
        assert found is not None
        return found[1]

    first = shown()
    assert fdc("answer", name, "none", "--resume", cwd=served.workspace).returncode == 5
    # The script fetches the page for this stamp, and stops when the page has it.
    while shown() != next(one for one in stamps(served) if one != first):
        pass


def test_clients_that_do_not_hurry_stop_nobody(served: Ui) -> None:
    slow = [socket.create_connection(("127.0.0.1", served.port), timeout=60) for _ in range(20)]
    try:
        for number, line in enumerate(slow):
            line.sendall(
                b"GET / HT" if number % 2 else b"POST / HTTP/1.1\r\nContent-Length: 100\r\n"
            )
        began = time.monotonic()
        assert "Runs" in served.get("/")
        assert time.monotonic() - began < 10
    finally:
        for line in slow:
            line.close()
    for junk in (
        b"\x00\xff\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n",
    ):
        served.raw(junk)
    assert "Runs" in served.get("/")


def test_a_damaged_run_and_one_that_is_not_ours_are_shown_and_not_gone_on_with(
    served: Ui, tmp_path: Path
) -> None:
    name = name_of(served.workspace)
    before = served.get(f"/runs/{name}")
    state = {"XDG_STATE_HOME": str(tmp_path / "other")}
    with fdc_started("ui", "--no-open", cwd=served.workspace, env=state) as process:
        other = Ui(process, served.workspace)
        page = other.get(f"/runs/{name}")
        said = other.told(f"/runs/{name}/answer", {**fields(page), "text": "x", "go": "on"})
        assert "was not started by you on this machine" in said
    assert "sealed by your key" in before


def test_ctrl_c_ends_it_and_a_taken_port_is_a_sentence(served: Ui) -> None:
    taken = fdc("ui", "--no-open", "--port", str(served.port), cwd=served.workspace)
    assert (taken.returncode, taken.stderr) == (
        3,
        f"fdc: port {served.port} is in use; choose another with `--port`, or omit the option\n",
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as line:
        head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {served.cookie}\r\n\r\n"
        line.sendall(head.encode())  # an open stream does not hold it up
        line.recv(100)
        served.process.send_signal(signal.SIGINT)
        _, err = served.process.communicate(timeout=PATIENCE)
    assert (served.process.returncode, err.strip()) == (0, "")


def test_a_workspace_without_runs_has_a_page(workspace: Path) -> None:
    with ui(workspace) as empty:
        assert "No runs yet" in empty.get("/")


@pytest.mark.long
@pytest.mark.skipif(
    not (browsers.DRIVER and browsers.BROWSER), reason="needs Debian's chromium and chromium-driver"
)
def test_in_a_real_browser_a_run_is_answered_approved_and_followed_live(
    shop: Path, tmp_path: Path
) -> None:
    name = name_of(shop)
    with ui(shop, enter=False) as served, browsers.browser(tmp_path) as window:
        opened = (
            tmp_path / "open.html"
        )  # as the file that `fdc ui` opens a browser with: the request comes from elsewhere
        opened.write_text(f'<meta http-equiv="refresh" content="0; url={served.url}">')
        window.go(opened.as_uri())
        window.until(r"(?s)live.*waiting")
        assert window.url == f"{served.origin}/"  # the code is gone from the address
        window.click("table a")
        window.until("Question main/3")
        assert window.script("return document.cookie") == ""
        window.type("textarea", "two")
        assert fdc("answer", name, "from elsewhere", cwd=shop).returncode == 0
        window.until("Question main/3")
        assert (
            window.script("return document.querySelector('textarea').value") == "two"
        )  # nobody's writing is lost
        window.click(".ask button")
        window.until(r"(?s)Your answer was: two.*not used yet: from elsewhere")
        window.type("textarea", "two")
        window.click(".ask button")
        window.until("Approval main/4")
        window.text(".ask pre", re.escape("\\u{1b}[2J\\u{202e}</pre>"))
        other: Any = fdc("run", "p.plan", cwd=shop)
        assert other.returncode == 5
        window.click(".ask button")
        window.until(r"finished p\.plan")
        window.go(f"{served.origin}/")
        window.until("finished")
        assert fdc("answer", "last", "x", "--resume", cwd=shop).returncode == 5
        assert fdc("answer", "last", "yes", "--resume", cwd=shop).returncode == 0
        window.until(r"(?s)finished.*finished")  # without anybody loading the page again
        assert window.script("return document.title") == "Runs"
        assert window.complaints() == []
        for width in (360, 1200):
            window.resize(width, 800)
            window.go(f"{served.origin}/runs/{name}")
            assert window.script(
                "return document.documentElement.scrollWidth <= window.innerWidth"
            ), width


@pytest.mark.slow
@pytest.mark.skipif(
    not (browsers.DRIVER and browsers.BROWSER), reason="needs Debian's chromium and chromium-driver"
)
def test_pages_are_read_and_answered_without_script_and_the_report_opens_from_disk(
    shop: Path, tmp_path: Path
) -> None:
    assert fdc("report", "last", "-o", "run.html", cwd=shop).returncode == 0
    with (
        ui(shop, enter=False) as served,
        browsers.browser(tmp_path, script=False, dark=True) as window,
    ):
        window.go(served.url)
        window.click("button")
        window.click("table a")
        window.text(".ask", r"Sugar\?")
        window.type("textarea", "two")
        window.click(".ask button")
        window.text(".ask", "Do you approve")
        window.go((shop / "run.html").as_uri())
        window.text("header", "waiting")
        window.text(".source", r"request_user_input Sugar\?")
        assert window.complaints() == []


@pytest.mark.long
def test_repairs_are_cases_with_a_page_and_an_api(workspace: Path) -> None:
    """HYP-47: list, detail, run again, refresh, 404 as JSON; whoever has no cookie or no form of ours gets nothing."""
    from tests.support.repaired import CHECK
    from tests.support.repaired import shop as project

    project(workspace)
    assert fdc("fix", "--test", CHECK, cwd=workspace).returncode == 0
    name = name_of(workspace)
    with ui(workspace) as served:
        [case] = json.loads(served.get("/api/cases"))
        assert (name, CHECK, "fix", "finished") == tuple(
            case[key] for key in ("id", "test", "plan", "status")
        )
        detail = json.loads(served.get(f"/api/cases/{name}"))
        assert (
            "fixed" == detail["status"]
            and ">= 100" in detail["diff"]
            and "100 != 90" in detail["failure"]["message"]
        )
        page = served.ask("GET", f"/cases/{name}")
        assert (
            200 == page.status
            and "Loop 1" in page.text
            and "script-src" not in page.headers["Content-Security-Policy"]
        )
        for path in ("/api/cases/nobody", "/api/nowhere", f"/api/cases/{name}/rerun"):
            refused = served.ask("GET", path)
            assert 404 == refused.status and "error" in json.loads(refused.text), path
        assert 401 == served.ask("GET", "/api/cases", cookie=False).status
        assert 403 == served.form(f"/api/cases/{name}/rerun", {"csrf": "x"}).status
        token = {"csrf": fields(served.get(f"/runs/{name}"))["csrf"]}
        assert {"cases": 1} == json.loads(served.form("/api/dataset/refresh", token).text)
        assert 404 == served.form("/api/cases/nobody/rerun", token).status
        again = served.form(f"/api/cases/{name}/rerun", token)
        assert 202 == again.status and name == json.loads(again.text)["id"]
        wait_for(
            lambda: (
                [one["status"] for one in json.loads(served.get("/api/cases"))]
                == ["finished", "finished"]
            )
        )
