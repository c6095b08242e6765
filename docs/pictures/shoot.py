"""Takes the pictures of pages in the manual (`runs.png`, `approval.png`, `report.png`) with headless Chromium, of a real run.

    python3 -m docs.pictures.shoot

It needs Debian's `chromium` and `chromium-driver`. Pictures of two machines differ in their fonts: look at them before a commit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.browser import Browser, browser

from .draw import teas

HERE = Path(__file__).resolve().parent
FDC = [sys.executable, str(HERE.parent.parent / "tooling" / "fdc_cli.py")]
PLAN = """\
set_plan Correct the price of oolong
plan_step_complete The price is known.
prices <- grep oolong prices
record_user_approval_for_plan
overwrite_file_with_block prices/oolong.txt
    oolong 12
    genmaicha 9
read_file prices/oolong.txt
close_task
submit
"""
SIZES = {"runs": (960, 240), "approval": (960, 720), "report": (960, 900)}


def shoot(target: Path) -> None:
    """Writes the pictures into a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tearoom"
        (folder / "prices").mkdir(parents=True)
        (folder / "knowledge_core").mkdir()
        (folder / "prices" / "oolong.txt").write_text("oolong 11\ngenmaicha 9\n", "utf-8")
        (folder / "price.plan").write_text(PLAN, "utf-8")
        teas(folder)
        _fdc(folder, "run", "words.plan")
        _fdc(folder, "run", "price.plan")
        with (
            subprocess.Popen(
                [*FDC, "ui", "--no-open"], cwd=folder, env=_environment(folder), text=True, stdout=subprocess.PIPE,
            ) as server,
            browser(Path(name)) as window,
        ):  # fmt: skip
            assert server.stdout is not None
            window.go(server.stdout.readline().split()[-1])
            window.until("waiting")
            _take(window, target, "runs")
            window.click("table a")
            window.until("Approval main/4")
            _take(window, target, "approval")
            window.click(".ask button")
            window.until("finished")
            _fdc(folder, "report", "last", "-o", "report.html")
            window.go((folder / "report.html").as_uri())
            window.until("finished")
            _take(window, target, "report")
            server.terminate()


def _take(window: Browser, target: Path, name: str) -> None:
    window.resize(*SIZES[name])
    window.picture(target / f"{name}.png")


def _fdc(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [*FDC, *arguments], cwd=folder, env=_environment(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "FDC_CACHE_DIR": str(folder.parent / "cache"),
        "XDG_STATE_HOME": str(folder.parent / "state"),
    }


if __name__ == "__main__":
    shoot(HERE)
