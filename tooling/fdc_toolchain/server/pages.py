"""The pages: templates filled with data of the port. Everything is escaped, as on the page of `fdc report`."""

from __future__ import annotations

import functools
import os
from typing import Any

from ..packs.index import index
from ..packs.model import Page
from ..packs.pages import module_of
from ..report import run_page
from ..report.run_page import Run
from .port import Runs

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
MOST = 200
OVER = ("finished", "cancelled")


@functools.cache
def _environment() -> Any:
    return run_page.environment(TEMPLATES)


def _fill(name: str, **values: Any) -> str:
    text: str = _environment().get_template(name).render(**values)
    return text


def overview(runs: Runs, stamp: str, said: list[str], csrf: str) -> str:
    """All runs, the newest first. `stamp`: of the state before this call (port `Runs`)."""
    rows, older = runs.rows(MOST)
    return _fill(
        "runs.html.j2", rows=rows, older=older, workspace=runs.title, stamp=stamp, said=said, csrf=csrf,
    )  # fmt: skip


def run(found: Run, runs: Runs, stamp: str, said: list[str], csrf: str) -> str:
    """One run: its questions with forms, and the report. `stamp`: of the state before `found` was read."""
    asks = runs.asks(found.name)
    can_go_on = found.status not in ("running", *OVER) and not found.faults
    can_go_on = can_go_on and (not asks or any(ask.given is not None for ask in asks))
    about = [page for page in index().pages.values() if found.plan in page.plans]
    return _fill(
        "run.html.j2", asks=asks, can_go_on=can_go_on, stamp=stamp, said=said, csrf=csrf, workspace=runs.title,
        goes_on=runs.goes_on, about=about, **run_page.parts(found, None),
    )  # fmt: skip


def report(found: Run) -> tuple[str, str]:
    """The page that stands by itself, and its policy as a header."""
    style = run_page.shell()["style_hash"]
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return run_page.render(found), policy


def record(page: Page, found: dict[str, object]) -> tuple[str, str]:
    """The page of a pack about a run, and its policy as a header."""
    module = module_of(page)
    style = module.style_hash()
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return module.render(found), policy


def enter(code: str) -> str:
    """The form that exchanges a code for the session."""
    return _fill("enter.html.j2", code=code)


def trouble(status: int, sentence: str) -> str:
    """A refusal."""
    return _fill("trouble.html.j2", status=status, sentence=sentence)


def file(name: str) -> bytes:
    """The style or the script."""
    names = [os.path.join(TEMPLATES, name)]
    if name == "style.css":
        names.insert(0, os.path.join(run_page.TEMPLATES, "run_page.css"))
    data = b""
    for path in names:
        with open(path, "rb") as opened:
            data += opened.read()
    return data
