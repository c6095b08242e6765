"""The worst case that is printed before a run, against what real runs of generated plans take (FDC-13 to FDC-15)."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from fdc_toolchain.runs.cost.figures import figures

from tests.support.inside import fdc
from tests.support.linting import ANY

GLOBS = ("a/*", "b/*.md", "**/*.md", "c/**", "{file1}", "a/*.t", "b/./*", "a/p/*")
PATHS = (
    "a/1.md",
    "b/2.md",
    "c/d/3.md",
    "a/{x}.md",
    "b/{x}.t",
    "{file1}.md",
    "{x}/n.md",
    "./a//4.md",
    "{run}/o.md",
    "a/{p}.t",
)


def body(rng: random.Random, names: set[str], plans: tuple[int, ...], level: int = 0) -> list[str]:
    """Some statements; `names` are those that may be used here."""
    pad = "  " * level
    out: list[str] = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if level < 3 and kind < 0.3:
            glob = rng.choice([glob for glob in GLOBS if "file1" not in glob or "file1" in names])
            inner = names | ({"file1"} if "file1" not in names else set())
            out += [
                f"{pad}for_each_file {glob}" + rng.choice(("", "", " max 3")),
                *body(rng, inner, plans, level + 1),
            ]
        elif level < 3 and kind < 0.45:
            how = rng.choice(("for x in {items} max 2", "iterate max 2", "fork x in {items} max 2"))
            if "fork" in how:
                made = body(rng, names | {"x"}, (), level + 1)
                inner = [line for line in made if "overwrite" not in line and "    one" not in line]
                if all(
                    line.strip().startswith(("for", "iterate", "if", "else")) for line in inner[-1:]
                ):
                    inner = [f"{pad}  hello_world"]
            else:
                inner = body(rng, names | ({"x"} if "for x" in how else set()), plans, level + 1)
            out += [pad + how, *inner]
        elif level < 3 and kind < 0.55:
            word = rng.choice(("p", "q"))
            out += [f'{pad}if "{word}" == "p"', *body(rng, names, plans, level + 1)]
            out += [f"{pad}else", *body(rng, names, plans, level + 1)]
        elif kind < 0.62 and plans:
            out.append(
                f"{pad}call_plan s{rng.choice(plans)}.plan p={rng.choice(['k', '{x}'] if 'x' in names else ['k'])}"
            )
        elif kind < 0.85:
            free = [
                path for path in PATHS if set(re.findall(r"\{(\w+)\}", path)) <= names | {"run"}
            ]
            out += [f"{pad}overwrite_file_with_block {rng.choice(free)}", f"{pad}    one"]
        else:
            out.append(f"{pad}hello_world")
    return out


def generated(seed: int, folder: Path) -> None:
    """A set of plans and some files, written down."""
    rng = random.Random(seed)
    (folder / "any.json").write_text(ANY)
    for name in ("a", "b", "c", "p"):
        (folder / name).mkdir()
        for number in range(rng.randint(0, 2)):
            (folder / name / f"{number}.{rng.choice(('md', 't'))}").write_text("x")
    for number in (2, 1, 0):
        text = body(rng, {"p"} if number else set(), tuple(range(number + 1, 3)))
        head = ["use fsm any.json"] if not number else ['param p = "z"']
        head.append("items <- list_files p")
        (folder / (f"s{number}.plan" if number else "a.plan")).write_text(
            "\n".join([*head, *text]) + "\n"
        )


def numbers(text: str) -> int | None:
    found = re.search(r"at worst: (\d+) steps", text)
    return int(found[1]) if found else None


@pytest.mark.long
def test_no_run_takes_more_steps_than_the_number_that_was_printed_before(tmp_path: Path) -> None:
    """Plans that create files which their own loops match, in calls, branches and loops; each really run."""
    start = time.monotonic()
    compared = symbols = created = tight = 0
    for seed in range(10_000):
        if time.monotonic() - start > 10 and compared >= 20 and created and symbols and tight:
            break
        folder = tmp_path / str(seed)
        folder.mkdir()
        generated(seed, folder)
        before = fdc("run", "a.plan", "--dry-run", cwd=folder)
        if before.returncode != 0:
            continue
        analysed, _ = figures(str(folder / "a.plan"), str(folder))
        done = fdc("run", "a.plan", cwd=folder)
        took = re.search(r"finished: (\d+) steps?,", done.stdout)
        if took is None:
            continue
        bound = numbers(before.stdout)
        assert analysed["worst_now"]["steps"] == bound, seed
        if bound is None:
            symbols += 1
            continue
        compared += 1
        created += "those that the plan creates" in before.stdout
        tight += int(took[1]) == bound
        assert int(took[1]) <= bound, (seed, before.stdout, done.stdout)
    assert compared >= 20 and created and symbols and tight, (compared, created, symbols, tight)


def test_files_that_the_plan_creates_are_counted_where_its_loop_finds_them(workspace: Path) -> None:
    """Finding A9: it said 7 where the run took 10."""
    (workspace / "any.json").write_text(ANY)
    (workspace / "d").mkdir()
    (workspace / "d/0.md").write_text("x")
    (workspace / "a.plan").write_text(
        "use fsm any.json\n"
        + "".join(f"overwrite_file_with_block d/{n}.md\n    x\n" for n in (0, 1, 2, 3))
        + "for_each_file d/*.md\n  read_file {file1}\n"
    )
    done = fdc("run", "a.plan", "--dry-run", cwd=workspace)
    assert (
        "at worst: 8 steps, with the files that exist now and those that the plan creates\n"
        in done.stdout
    )
    assert "finished: 8 steps" in fdc("run", "a.plan", cwd=workspace).stdout


@pytest.mark.parametrize(
    ("text", "number", "note"),
    [
        (
            "run_in_bash_session true\nfor_each_file d/*\n  read_file {file1}\n",
            "2 steps", "this assumes that no file of d/* is created by a.plan:2",
        ),
        ("run_in_bash_session true\nfor_each_file d/* max 9\n  read_file {file1}\n", "10 steps", ""),
        ("for_each_file d/*\n  read_file {file1}\nrun_in_bash_session true\n", "2 steps", ""),
        (
            "names <- list_files d\nfor x in {names} max 3\n  for_each_file {x}/*\n    set_plan\n",
            "3*|{x}/*| + 1 steps", "|{x}/*| is the number",
        ),
        (
            "for_each_file d/*\n  for_each_file e/*\n    overwrite_file_with_block e/{file2}.x\n      y\n",
            "1 steps", "",
        ),
    ],
)  # fmt: skip
def test_a_number_says_what_it_assumes_and_what_nobody_knows_is_no_number(
    workspace: Path, text: str, number: str, note: str
) -> None:
    (workspace / "any.json").write_text(ANY)
    for name in ("d", "e"):
        (workspace / name).mkdir()
        (workspace / name / "0").write_text("x")
    (workspace / "a.plan").write_text("use fsm any.json\n" + text)
    done = fdc("run", "a.plan", "--dry-run", cwd=workspace)
    assert f"at worst: {number}, with" in done.stdout, done.stdout + done.stderr
    assert note in done.stdout and ("assumes" in done.stdout or "|" in done.stdout) == bool(note)


def test_a_plan_that_feeds_its_own_loops_without_end_has_a_formula_and_no_number(
    workspace: Path,
) -> None:
    """Each round doubles the files: sixty rounds are more than anybody can count, and they are not tried."""
    (workspace / "any.json").write_text(ANY)
    (workspace / "d").mkdir()
    (workspace / "d/0").write_text("x")
    (workspace / "a.plan").write_text(
        "use fsm any.json\niterate max 60\n  for_each_file d/*\n    overwrite_file_with_block {file1}.x\n      y\n"
    )
    done = fdc("run", "a.plan", "--dry-run", cwd=workspace)
    assert "at worst: 60*|d/*| steps, " in done.stdout, done.stdout + done.stderr
    assert "|d/*| is the number of files of d/*; the plan itself creates more" in done.stdout
