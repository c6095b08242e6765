"""Two runs that write the same text from outside into the same file: each of them takes it for its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.test_outside_lasts import PAGES, SAVES, TOOLS
from tests.support.linting import ANY
from tests.support.process import fdc


def test_runs_that_stored_the_same_read_it_after_a_question(workspace: Path) -> None:
    """The row of the first run stood for both, so the second took its own file for that one's when it went on."""
    (workspace / "any.json").write_text(ANY)
    (workspace / "fdc_tools.json").write_text(json.dumps(TOOLS))
    (workspace / "pages_of_the_test.py").write_text(PAGES)
    (workspace / "docs").mkdir()
    (workspace / "wait.plan").write_text(
        SAVES + "request_user_input Go on?\nsaid <- read_file docs/page.md\nmessage_user {said}\n"
    )
    names = []
    for _ in range(2):
        (workspace / "docs/page.md").unlink(missing_ok=True)
        waits = fdc("run", "wait.plan", cwd=workspace)
        found = re.search(r"\d{8}-\d{6}-\w{4}", waits.stdout)
        assert waits.returncode == 5 and found is not None, waits
        names.append(found.group())
    for name in names:
        done = fdc("resume", name, "--answer", "yes", cwd=workspace)
        assert done.returncode == 0, done.stdout
