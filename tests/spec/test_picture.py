"""The pictures of terminals are what fdc prints now, and those of pages are there."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from tests.support.repository import ROOT

PICTURES = ROOT / "docs" / "pictures"
SHOWN = {"refused.svg": "README.md", "run.svg": "docs/seeing.md"}


@pytest.fixture(scope="module")
def draw() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw", PICTURES / "draw.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_what_a_terminal_shows(draw: ModuleType, name: str) -> None:
    assert {*SHOWN} == {*draw.PICTURES}
    made = draw.PICTURES[name]()
    assert made == (PICTURES / name).read_text("utf-8"), "run `python3 docs/pictures/draw.py`"
    words = (
        ("FDC461", "FDC471") if name == "refused.svg" else ("pass", "then", "exit 0", "finished")
    )
    assert all(word in made for word in words)
    assert f"pictures/{name})" in (ROOT / SHOWN[name]).read_text("utf-8")


@pytest.mark.parametrize("name", ["approval", "report", "runs"])
def test_pictures_of_pages_are_pictures_and_shown(name: str) -> None:
    """`python3 -m docs.pictures.shoot` takes them; fonts differ, so they are not compared."""
    data = (PICTURES / f"{name}.png").read_bytes()
    assert data.startswith(b"\x89PNG") and 10_000 < len(data) < 200_000
    page = (ROOT / "docs" / "seeing.md").read_text("utf-8")
    assert f"](pictures/{name}.png)" in page
    assert f'"{name}"' in (PICTURES / "shoot.py").read_text("utf-8")
