"""A choice with its branches swapped and its condition negated is the same choice, whatever paths stand beside each other."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

from fdc_toolchain import api

from tests.support import profiles

HEAD = "# FSM: tooling/fdc_fsm.json\nparam p = a\nparam q = b\nset_plan x\nplan_step_complete x\n"
TAIL = "close_task\nsubmit\n"
PATHS = ("out/a.md", "out/b.md", "out/{p}.md", "out/{q}", "out/a.md/c.md", "{run}/a.md")
STEPS = (
    "delete_file {}", "create_file_with_block {}\n  x", "overwrite_file_with_block {}\n  x", "rename_file {} out/d.md",
    "rename_file out/b.md {}", "t <- read_file {}\nmessage_user {{t}}", "message_user hi", "run_in_bash_session ls",
    'if q == "2"\n  delete_file {}', "iterate max 2\n  overwrite_file_with_block {}\n    y",
    "for_each_file out/*.md as f max 3\n  overwrite_file_with_block {}\n    z",
)  # fmt: skip


def steps(rng: Random, most: int) -> str:
    lines = (
        rng.choice(STEPS).format(rng.choice(PATHS)) for _ in range(1 + rng.randrange(max(1, most)))
    )
    return "\n".join(lines)


def indented(text: str, depth: int = 1) -> str:
    return "\n".join("  " * depth + line for line in text.split("\n"))


def said(session: api.Session, text: str) -> Counter[tuple[str, str]]:
    """What lint says, whatever line it says it of."""
    result = session.check("a.plan", text=text)
    found = [(one.code, one.message) for one in (*result.diagnostics, *result.assumptions)]
    return Counter((code, re.sub(r"\bline \d+|:\d+", "line N", message)) for code, message in found)


def test_a_choice_says_the_same_the_other_way_round(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text("a\n")
    rng = Random(profiles.seed())
    around = ("{}", "iterate max 2\n{}", 'if p == "1"\n{}')
    for _ in range(profiles.share(400)):
        first, one, other, last = (steps(rng, most) for most in (2, 2, 2, 3))
        wrap = rng.choice(around)
        found = []
        for sign, then, instead in (("==", one, other), ("!=", other, one)):
            choice = f'if q {sign} "0"\n{indented(then)}\nelse\n{indented(instead)}'
            middle = wrap.format(indented(choice) if wrap != "{}" else choice)
            text = f"{HEAD}{first}\n{middle}\n{last}\n{TAIL}"
            found.append(said(api.Session(workspace=tmp_path), text))
        assert found[0] == found[1], text
