"""`Inside` says of every key what `leads_out` says, whose links are resolved anew each time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_toolchain.linking.project.places import Inside, leads_out

KEYS = (
    "a.plan", "sub/a.plan", "sub/deep/a.plan", "missing", "no/such/folder/x", "out.plan", "away/a.plan", "away/none",
    "away/../a.plan", "sub/../a.plan", "sub/../../beside/a.plan", "../beside/a.plan", "..", ".", "", "sub", "sub/", "away",
    "home/a.plan", "home", "loop/x", "loop", "back/a.plan", "back/out.plan", "inner.plan", "broken", "broken/x", "sub//a.plan",
    "sub/./a.plan", "a\0b", "sub/a\0b", "a\0b/c", "fdc:plans/x.plan", "/etc/hostname", "<stdin>", "sub/out.plan", "a.plan/x",
    "x" * 300, "sub/" + "x" * 300,
)  # fmt: skip


@pytest.fixture(params=["real", "linked"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A workspace with every kind of link, named by its own path or through a link."""
    top, beside = tmp_path / "top", tmp_path / "beside"
    (top / "sub" / "deep").mkdir(parents=True)
    beside.mkdir()
    for place in (top, top / "sub", top / "sub" / "deep", beside):
        (place / "a.plan").write_text("submit\n")
    links = {
        "out.plan": beside / "a.plan", "away": beside, "home": top, "loop": top / "loop", "back": top / "sub" / "..",
        "inner.plan": top / "sub" / "a.plan", "broken": tmp_path / "nothing", "sub/out.plan": beside / "a.plan",
    }  # fmt: skip
    for name, target in links.items():
        os.symlink(target, top / name)
    os.symlink(top, tmp_path / "linked")
    return str(top if request.param == "real" else tmp_path / "linked")


def test_it_says_what_is_said_of_each_key_alone(root: str) -> None:
    inside = Inside(root)
    for _ in range(2):  # the second time, every folder is known
        for key in KEYS:
            assert leads_out(root, key) == inside.leads_out(key), key
    assert {leads_out(root, key) for key in KEYS} == {True, False}


def test_a_file_that_becomes_a_link_is_seen(root: str) -> None:
    inside = Inside(root)
    assert not inside.leads_out("sub/a.plan")
    os.unlink(f"{root}/sub/a.plan")
    os.symlink(f"{os.path.dirname(os.path.realpath(root))}/beside/a.plan", f"{root}/sub/a.plan")
    assert inside.leads_out("sub/a.plan")
