"""The addresses that `fdc ui` prints or opens a browser with: who they let in, and what tells them (finding B12)."""

from __future__ import annotations

import ast
import os
import pty
import re
import signal
import sys
from pathlib import Path

from fdc_toolchain.server.guard import Guard, Refusal

from tests.cli.test_ui import Ui, fields, name_of, served, shop, ui  # noqa: F401
from tests.support.background import PATIENCE, fdc_started, wait_for


def test_only_the_printed_address_lets_in(served: Ui) -> None:  # noqa: F811
    name = name_of(served.workspace)
    for path in (
        "/",
        f"/runs/{name}",
        f"/runs/{name}/report",
        "/events",
        "/live.js",
        "/style.css",
        "/nowhere",
    ):
        assert served.ask("GET", path, cookie=False).status == 401, path
    for code in ("", "x", served.code[:-1], served.code + "x", "%00", "\u00e9".encode().hex()):
        for refused in (served.ask("GET", f"/?code={code}", cookie=False), served.enter(code)):
            assert refused.status == 403 and "Set-Cookie" not in refused.headers, code
    assert served.ask("GET", "/", cookie=False, Cookie=served.cookie[:-1]).status == 401
    for two in (f"{served.cookie}x; {served.cookie}", f"{served.cookie}; {served.cookie}x"):
        assert served.ask("GET", "/", cookie=False, Cookie=two).status == 401
    assert served.entered is not None and served.entered.status == 303
    cookie = served.entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and served.code not in cookie
    assert (
        served.code not in served.entered.text + served.get("/")
        and served.ask("GET", f"/?code={served.code}").status == 303
    )


def test_an_address_lets_in_once_and_its_second_use_is_said_on_the_terminal(
    served: Ui,  # noqa: F811
) -> None:
    """Finding B12: whoever read the address later, from a list of processes or a log, answered, too."""
    for method, site in (("GET", "none"), ("HEAD", "none"), ("GET", "cross-site")):
        late = served.ask(method, f"/?code={served.code}", cookie=False, Sec_Fetch_Site=site)
        assert late.status == (410 if method == "GET" else 401) and "Set-Cookie" not in late.headers
    assert served.enter(served.code).status == 410
    served.process.send_signal(signal.SIGINT)
    out, err = served.process.communicate(timeout=PATIENCE)
    assert 3 == err.count("this address was already used, and was refused")
    assert "another user of this machine did" in err
    assert served.code not in out + err


def test_a_browser_that_loads_the_address_in_advance_does_not_spend_it(workspace: Path) -> None:
    with ui(workspace, enter=False) as opened:
        for _ in range(2):
            page = opened.ask("GET", f"/?code={opened.code}", cookie=False, Sec_Purpose="prefetch")
            assert page.status == 200 and "Set-Cookie" not in page.headers
            assert {"code": opened.code} == fields(page.text)
        for wrong in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
            assert opened.enter(opened.code, **wrong).status == 403
        assert opened.enter("x" * 300).status == 413
        assert opened.enter(opened.code).status == 303


def test_a_code_is_too_old_after_its_time_and_tells_nothing() -> None:
    now = [100.0]
    guard = Guard(1, lambda: now[0])
    code = guard.code(5)
    now[0] = 105.0
    refused = guard.exchange(code)
    assert not guard.waits(code) and Refusal(403, "this address has expired") == refused
    code = guard.code(5)
    assert guard.waits(code) and guard.exchange(code) is None and not guard.waits(code)
    refused = guard.exchange(code)
    assert refused is not None and refused.status == 410


BROWSER = """import os, stat, sys, time, urllib.request
address, = sys.argv[1:]
path = address.removeprefix("file://")
page = open(path).read()
url = page.split("url=")[1].split('"')[0]
seen = [os.readlink(f"/proc/{os.getpid()}/exe")]
for pid in filter(str.isdecimal, os.listdir("/proc")):
    try:
        seen.append(open(f"/proc/{pid}/cmdline").read())
    except OSError:
        pass
secret = url.partition("code=")[2]
modes = [stat.S_IMODE(os.stat(one).st_mode) for one in (path, os.path.dirname(path))]
ask = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor()).open
form = urllib.request.Request(url.partition("?")[0] + "enter", b"code=" + secret.encode())
form.add_header("Origin", url.partition("/?")[0])
told = [address, oct(modes[0]), oct(modes[1]), len(secret) > 20 and any(secret in one for one in seen),
        secret in ask(url).read().decode(), "Runs" in ask(form).read().decode()]
while os.path.exists(path):
    time.sleep(0.01)
with open(sys.argv[0] + ".tmp", "w") as file:
    file.write(repr(told))
os.rename(sys.argv[0] + ".tmp", sys.argv[0] + ".said")
"""


def test_no_command_line_holds_a_secret_when_a_browser_is_opened(
    workspace: Path, tmp_path: Path
) -> None:
    """Finding B12: the browser was started with the address and its token. Now with a file that only the user reads."""
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER)
    env = {
        "DISPLAY": ":9",
        "BROWSER": f"{sys.executable} {browser} %s",
        "XDG_RUNTIME_DIR": str(tmp_path),
    }
    with fdc_started("ui", cwd=workspace, env=env) as process:
        printed = Ui(process, workspace)  # the printed address is one of its own
        said = tmp_path / "browser.py.said"
        wait_for(said.exists)
        address, file, folder, leaks, offered, entered = ast.literal_eval(said.read_text())
        assert address.startswith(f"file://{tmp_path}/fdc-ui-") and (file, folder) == (
            "0o600",
            "0o700",
        )
        assert (leaks, offered, entered) == (False, True, True)
        assert "Runs" in printed.get("/")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0
    assert not list(tmp_path.glob("fdc-ui-*"))


def test_at_a_terminal_enter_prints_another_address(workspace: Path) -> None:
    controller, terminal = pty.openpty()
    options = {"stdin": terminal, "stdout": terminal, "stderr": terminal, "text": False}
    with fdc_started("ui", "--no-open", cwd=workspace, env={"TERM": "xterm"}, **options):
        os.close(terminal)
        shown = b""
        while shown.count(b"?code=") < 2 or not shown.endswith(b"\n"):
            if b"ends it" in shown and shown.count(b"\n") == 2:
                os.write(controller, b"\n")
                shown += b"\n"
            shown += os.read(controller, 4096)
        os.close(controller)
    codes = re.findall(rb"code=(\S+)", shown)
    assert 2 == len(set(codes)) and b"Enter prints another address" in shown


def test_without_a_browser_nothing_is_left_in_the_temporary_folder(
    workspace: Path, tmp_path: Path
) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":9"}
    with fdc_started("ui", "--no-open", cwd=workspace, env=env) as process:
        assert "Runs" in Ui(process, workspace).get("/")
        process.kill()
    assert not list(tmp_path.glob("fdc-ui-*"))
