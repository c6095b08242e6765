"""A plan that is edited again and again in one process is judged as one that no one has seen before (`linking.kept`)."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from fdc_toolchain.check import check
from fdc_toolchain.diagnostics.diagnostic import plain
from fdc_toolchain.linking.kept import Kept
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import SettingsError, read_settings
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.parse_again import parse_again

from tests.reference.runs import folder
from tests.reference.wide import plan_set
from tests.support import profiles

LINES = (
    "", "# a note", "    # a deeper note", "else", "    else", "submit", "read_file docs/a.md", "creat_file x.md", "param late",
    "use fragment tooling/fdc_fsm.json", "# FSM: tooling/fdc_fsm.json", "if len({run}) > 1", "for_each_file docs/*.md as page",
    "    read_file {page}", "yield {run}", "x <- list_files docs", "message_user {x}", "\tmessage_user x", "call_plan",
    "call_plan plans/none.plan", "# fdc: ignore[FDC313] it is kept", "allow write docs/*", "iterate max 2", "budget steps 3",
    "create_file_with_block notes/new.md", "    text of {x}", "run_in_bash_session make test", "grep word docs/sub",
    "use pack research", "use pack repair", "use pack nothing", "found <- scan_documents docs", "scan_documents {x}",
    "close_repair x", "require cited(x) else \"no\"",
    "read_file docs/{x}", "    read_file docs/{x}/a.md", "x <- request_user_input Which?", "    x <- request_user_input Which?",
    "delete_file docs/{x}", "    create_file_with_block docs/{x}.md", "fork x in {run} max 2", "if x == a",
    "    call_plan a.plan x={x}",
)  # fmt: skip


def edited(rng: Random, text: str) -> str:
    """The text after one edit as people make them: lines typed, taken out, moved, indented, a word changed."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0 | 1:
            lines[at] = lines[at][:-1] if rng.random() < 0.5 else lines[at] + rng.choice("x {}0")
        case 2:
            lines.insert(at, rng.choice(LINES))
        case 3:
            lines[at] = rng.choice(LINES)
        case 4:
            del lines[at]
        case 5:
            lines[at] = "    " + lines[at]
        case 6:
            lines[at] = lines[at].removeprefix("    ")
        case 7:
            lines.insert(rng.randrange(len(lines)), lines[at])
    return "\n".join(lines)


def judged(root: Path, key: str, texts: dict[str, str], kept: Kept | None) -> list[object]:
    """All that a check says, with every label."""
    files = Files(str(root))
    files.seen.update({name: text.encode() for name, text in texts.items()})
    linker = Linker(str(root), read_settings(str(root)), files, kept)
    found = check(linker, [key])
    parts = (found.diagnostics, found.assumptions, found.fragments)
    return [[plain(item) for item in part] for part in parts]


def compare(seed: int, edits: int) -> int:
    """Edits the files of a plan set at random; returns how many texts were compared."""
    rng, plans = Random(seed), plan_set(seed)
    kept, texts, compared = Kept(), dict(plans.files), 0
    with folder(plans.files) as root:
        for _ in range(edits):
            name = plans.root if rng.random() < 0.7 else rng.choice(sorted(texts))
            before = texts[name]
            if name.endswith(".json") and rng.random() < 0.7:
                continue
            texts[name] = edited(rng, before)
            if not name.endswith((".plan", ".txt")):  # what is read from the disk
                (root / name).write_text(texts[name], "utf-8")
            try:
                cold = judged(root, plans.root, texts, None)
            except SettingsError:
                texts[name] = before
                (root / name).write_text(before, "utf-8")
                continue
            assert judged(root, plans.root, texts, kept) == cold, (seed, name, texts[name])
            compared += 1
            if rng.random() < 0.3:  # undone
                texts[name] = before
                if not name.endswith((".plan", ".txt")):
                    (root / name).write_text(before, "utf-8")
    return compared


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 3))])
def test_what_is_kept_changes_no_finding(part: int) -> None:
    first = profiles.seed() + part * 1_000_003
    assert sum(compare(first + number, 12) for number in range(profiles.share(24))) > 30


def test_a_text_that_is_read_again_has_the_tree_of_one_that_is_read_first() -> None:
    rng = Random(profiles.seed())
    for _ in range(profiles.share(60)):
        plans = plan_set(rng.randrange(10**9))
        text = plans.files[plans.root]
        before = parse(text.encode(), "a.plan")
        for _ in range(8):
            text = edited(rng, text)
            after = parse_again(before, text.encode(), "a.plan")
            assert after == parse(text.encode(), "a.plan"), text
            before = after


def test_only_the_changed_statement_is_read_again() -> None:
    text = "".join(f"grep word_{number} src\n" for number in range(100))
    before = parse(text.encode(), "a.plan")
    after = parse_again(before, text.replace("word_50 ", "other ").encode(), "a.plan")
    assert before.plan is not None and after.plan is not None
    pairs = list(zip(before.plan.statements, after.plan.statements, strict=True))
    assert 2 >= sum(old is not new for old, new in pairs) >= 1


def test_a_changed_catalogue_changes_what_is_kept(tmp_path: Path) -> None:
    def catalogue(*tools: str) -> None:
        row = {
            "summary": "look",
            "action": "read_op",
            "effect": "read",
            "trust": "workspace",
            "parameters": [],
        }
        document = {"format": 1, "name": "own", "tools": dict.fromkeys(tools, row)}
        (tmp_path / "fdc_tools.json").write_text(json.dumps(document), "utf-8")

    kept, texts = Kept(), {"a.plan": "look\n"}
    catalogue("look")
    assert "FDC301" not in str(judged(tmp_path, "a.plan", texts, kept))
    catalogue("listen")
    assert "FDC301" in str(judged(tmp_path, "a.plan", texts, kept))


def test_what_branches_do_to_each_other_is_said_after_each_edit(tmp_path: Path) -> None:
    diff = "      <<<<<<< SEARCH\n      a\n      =======\n      b\n      >>>>>>> REPLACE\n"
    fork = "  fork x in {l} max 9 keep failures\n    replace_with_git_merge_diff {x}\n" + diff
    again = "  call_plan child.plan page={page} depth 1\n"
    child = f'param page\nif page < "m"\n{again}else\n  l <- list_files none/*.md\n{fork}'
    kept = Kept()
    for word in "abc":
        main = f"set_plan {word}\nplan_step_complete x\ncall_plan child.plan page=x\nclose_task\nsubmit\n"
        texts = {"child.plan": child, "a.plan": main}
        cold = judged(tmp_path, "a.plan", texts, None)
        assert "FDC704" in str(cold)
        assert judged(tmp_path, "a.plan", texts, kept) == cold
