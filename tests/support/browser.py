"""A real browser, driven over its WebDriver protocol: headless Chromium, where Debian's `chromium-driver` is installed."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .background import PATIENCE

DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_GONE = (
    "stale element reference",
    "no such element",
    "element not interactable",
    "element click intercepted",
)
"""Answers of a page that is being left or drawn anew: nothing has been done."""
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """What the driver answers instead of a value. `name`: the error code of the WebDriver specification."""

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__(f"{said['error']}: {said['message']}")
        self.name = str(said["error"])


class Browser:
    """One window. Elements are found by CSS selectors; whatever is asked for is waited for."""

    def __init__(self, port: int, folder: Path, *, script: bool = True, dark: bool = False) -> None:
        self._base = f"http://127.0.0.1:{port}/session"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder}",
        ]  # fmt: skip
        prefs = {} if script else {"profile.managed_default_content_settings.javascript": 2}
        options: dict[str, Any] = {"args": arguments, "binary": BROWSER, "prefs": prefs}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self._base += f"/{made['sessionId']}"
        if dark:
            media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            self._call(
                "POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": media}
            )

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with _DIRECT.open(request, timeout=PATIENCE) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as refused:
            with refused:
                raise Refused(json.load(refused)["value"]) from None

    def go(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    @property
    def url(self) -> str:
        return str(self._call("GET", "/url"))

    def all(self, selector: str) -> list[str]:
        found = self._call("POST", "/elements", {"using": "css selector", "value": selector})
        return [one[_ELEMENT] for one in found]

    def one(self, selector: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while not (found := self.all(selector)):
            assert time.monotonic() < deadline, f"no {selector} in {self.source[:3000]}"
            time.sleep(0.05)
        return found[0]

    def _on(self, selector: str, act: Callable[[str], Any]) -> Any:
        """Acts on the element that is there now: one found on a page that has been left since is looked for again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return act(f"/element/{self.one(selector)}")
            except Refused as refused:
                if refused.name not in _GONE or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def text(self, selector: str, pattern: str = "") -> str:
        """The element's visible text, once it has the pattern."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = str(self._on(selector, lambda path: self._call("GET", f"{path}/text")))
            if re.search(pattern, text):
                return text
            assert time.monotonic() < deadline, f"no {pattern} in {selector}: {text[:3000]}"
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        self._on(selector, lambda path: self._call("POST", f"{path}/click", {}))

    def type(self, selector: str, text: str) -> None:
        self._on(selector, lambda path: self._call("POST", f"{path}/value", {"text": text}))

    def until(self, pattern: str) -> str:
        """Waits until the page's visible text has the pattern."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                text = str(self.script("return document.body ? document.body.innerText : ''"))
            except Refused as refused:  # the page went while it was read
                text = str(refused)
            if re.search(pattern, text):
                return text
            assert time.monotonic() < deadline, f"no {pattern} in {text[:3000]}"
            time.sleep(0.1)

    def script(self, text: str) -> Any:
        return self._call("POST", "/execute/sync", {"script": text, "args": []})

    def complaints(self) -> list[str]:
        """What the browser wrote to its console."""
        return [str(one["message"]) for one in self._call("POST", "/se/log", {"type": "browser"})]

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call(
            "POST",
            "/goog/cdp/execute",
            {"cmd": "Emulation.setDeviceMetricsOverride", "params": size},
        )

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    @property
    def source(self) -> str:
        return str(self._call("GET", "/source"))

    def quit(self) -> None:
        self._call("DELETE", "")


@contextmanager
def browser(folder: Path, *, script: bool = True, dark: bool = False) -> Iterator[Browser]:
    """A browser that is gone afterwards."""
    assert DRIVER is not None
    process = subprocess.Popen(
        [DRIVER, "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    window = None
    try:
        assert process.stdout is not None
        port = next(
            int(found[1])
            for line in process.stdout
            if (found := re.search(r"successfully on port (\d+)", line))
        )
        window = Browser(port, folder / "chromium", script=script, dark=dark)
        yield window
    finally:
        try:
            if window is not None:
                window.quit()
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)
            if process.stdout is not None:
                process.stdout.close()
