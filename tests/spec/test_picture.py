"""The picture in README.md is what fdc prints now."""

from __future__ import annotations

import importlib.util

import pytest

from tests.support.repository import ROOT


@pytest.mark.slow
def test_the_picture_is_what_a_terminal_shows() -> None:
    path = ROOT / "docs" / "pictures" / "draw.py"
    spec = importlib.util.spec_from_file_location("draw", path)
    assert spec is not None and spec.loader is not None
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    screen = draw.session()
    assert draw.svg(screen) == draw.FILE.read_text("utf-8"), "run `python3 docs/pictures/draw.py`"
    assert 1 == screen.count("FDC461") and 1 == screen.count("FDC471")
    assert "docs/pictures/refused.svg" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["approval", "report"])
def test_pictures_of_pages_are_pictures_and_shown(name: str) -> None:
    """`python3 -m docs.pictures.shoot` takes them; fonts differ, so they are not compared."""
    data = (ROOT / "docs" / "pictures" / f"{name}.png").read_bytes()
    assert data.startswith(b"\x89PNG") and 20_000 < len(data) < 200_000
    page = (ROOT / "docs" / "seeing.md").read_text("utf-8")
    assert f"](pictures/{name}.png)" in page
    assert f'"{name}"' in (ROOT / "docs" / "pictures" / "shoot.py").read_text("utf-8")
