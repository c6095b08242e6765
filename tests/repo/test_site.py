"""The documentation as a site: every link leads somewhere, every page is in the menu, every rule has a page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.codes import CODES

from tests.support.repository import ROOT

PLANTED = "\n[a](nowhere.md) [b](types.md#no-such-part)\n"
WARNED = [
    "'verdicts.md' contains a link 'nowhere.md', but the target is not found",
    "'verdicts.md' contains a link 'types.md#no-such-part', but the doc 'types.md' does not contain an anchor",
    'pages exist in the docs directory, but are not included in the "nav" configuration',
]


@pytest.mark.long
def test_only_planted_mistakes_are_found_and_every_rule_and_command_has_its_place(
    tmp_path: Path,
) -> None:
    """One build, of a copy with three mistakes: it says all of them, and nothing else."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("README.md", "CHANGELOG.md", "LICENSE", "grammar", "protocols"):
        (tmp_path / name).symlink_to(ROOT / name)
    with (tmp_path / "docs" / "verdicts.md").open("a", encoding="utf-8") as file:
        file.write(PLANTED)
    (tmp_path / "docs" / "planted.md").write_text("# Planted\n", "utf-8")
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "docs/site/mkdocs.yml", "--site-dir", str(out)],
        cwd=tmp_path, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if re.match(r"(WARNING|ERROR)", line)]
    said += re.findall(r"^.*does not contain an anchor.*$", done.stderr, re.MULTILINE)
    assert done.returncode == 1
    assert sorted(WARNED) == sorted(
        wanted for wanted in WARNED for line in {*said} if wanted in line
    ), done.stderr
    assert "Aborted with 3 warnings" in done.stdout + done.stderr
    assert ["planted.md"] == re.findall(r"^  - (\S+)$", done.stderr, re.MULTILINE), (
        "not in the menu"
    )
    pages = {path.relative_to(out).as_posix() for path in out.rglob("*.html")}
    assert {f"rules/{row.name}.html" for row in CODES.values()} <= pages
    assert {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} <= pages
    assert "fdc lint [OPTIONS]" in (out / "commands.html").read_text("utf-8")
    assert "unknown-tool" in (out / "search" / "search_index.json").read_text("utf-8")
    outside = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["']?https?:""")
    assert [] == [page for page in pages if outside.search((out / page).read_text("utf-8"))]
