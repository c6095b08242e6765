"""Plans that grow: a tree of calls, and long plans of one shape each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from .corpus import PlanWriter, write, write_workspace

HEAD = [
    "# FSM: tooling/fdc_fsm.json",
    "set_plan measure: how time grows",
    "plan_step_complete begin",
]
TAIL = ["run_in_bash_session python3 tooling/fdc_cli.py close --task-id grow", "submit"]

STEPS = 10**12
"""What a run of the tree may take: its calls are as many as the fan-out to the power of the depth."""


def write_tree(
    folder: Path, stack: int, fan_out: int, lines: int, *, page: bool = False
) -> tuple[list[str], list[str]]:
    """`stack` plans, each calling the next one `fan_out` times, and as many with the same mix that call a small leaf.

    `page`: each of them reads a page from outside, so that all text has to be followed. Returns the paths of the tree
    (its root first) and of the flat ones.
    """
    write_workspace(folder)
    write(folder / "plans" / "leaf.plan", "param subject\ngrep {subject} src\n")
    tree, flat = [], []
    for level in range(stack):
        count = fan_out if level < stack - 1 else 0
        for name, called, paths in (("tree", f"tree_{level + 1}", tree), ("flat", "leaf", flat)):
            writer = PlanWriter(Random(f"tree/{level}"), level, 0)
            whole = level == 0 or name == "flat"
            body = (writer.plan if whole else writer.fragment)(lines - count).splitlines()
            if name == "tree" and level == 0:
                body.insert(3, f"budget steps {STEPS}")
            at = (
                next(
                    number
                    for number, line in enumerate(body)
                    if line.startswith(("plan_step_complete", "grep"))
                )
                + 1
            )
            calls = [
                f"call_plan plans/{called}.plan subject=s{level}_{number}"
                for number in range(count)
            ]
            if page:
                calls += [
                    f"page <- view_text_website https://example.org/{level}",
                    "message_user {page}",
                ]
            path = f"plans/{name}_{level}.plan"
            write(folder / path, "\n".join([*body[:at], *calls, *body[at:]]) + "\n")
            paths.append(path)
    return tree, flat


def _mixed(rng: Random, count: int) -> list[str]:
    writer = PlanWriter(rng, rng.randrange(1_000_000), 0)
    return writer.plan(count).splitlines()[5 : -len(TAIL)]


def _steps(rng: Random, count: int) -> list[str]:
    tag = _tag(rng)
    return [f"grep {tag}_{number} src" for number in range(count)]


def _files(rng: Random, count: int) -> list[str]:
    tag = _tag(rng)
    names = [f"notes/{tag}_{number}.md" for number in range(count // 3)]
    made = [line for name in names for line in (f"create_file_with_block {name}", f"    {tag}")]
    return [*made, *(f"read_file {name}" for name in names)]


def _names(rng: Random, count: int) -> list[str]:
    tag = _tag(rng)
    bound = [f"{tag}_{number} <- grep word_{tag}_{number} src" for number in range(count // 2)]
    return [*bound, *(f"message_user {{{tag}_{number}}}" for number in range(count // 2))]


def _branches(rng: Random, count: int) -> list[str]:
    tag = _tag(rng)
    out = [f"{tag} <- list_files src"]
    for number in range(count // 4):
        word = f"{tag}_{number}"
        out += [
            f"if len({tag}) > {number}",
            f"    grep yes_{word} src",
            "else",
            f"    grep no_{word} src",
        ]
    return out


def _loops(rng: Random, count: int) -> list[str]:
    tag = _tag(rng)
    out = []
    for number in range(count // 5):
        out += [
            f"for_each_file src/{tag}_{number}_*.py max {rng.randrange(5, 50)}",
            f"    {tag}_{number} <- read_file {{file1}}",
            f"    overwrite_file_with_block notes/{tag}_{number}.md",
            f"        {{{tag}_{number}}}",
            f"    read_file notes/{tag}_{number}.md",
        ]
    return out


def _tag(rng: Random) -> str:
    """A part of every argument of one plan: what is remembered from another plan must not help with it."""
    return f"t{rng.randrange(1_000_000)}"


SHAPES: dict[str, Callable[[Random, int], list[str]]] = {
    "mixed": _mixed,
    "steps": _steps,
    "files made, then read": _files,
    "names bound, then used": _names,
    "branches in a row": _branches,
    "loops in a row": _loops,
}


def write_long(folder: Path, shape: str, count: int, seed: int) -> str:
    """A plan of about `count` lines of one shape. Returns its path."""
    body = SHAPES[shape](Random(f"{shape}/{count}/{seed}"), count)
    path = f"plans/{shape.split()[0].strip(',')}_{count}_{seed}.plan"
    write(folder / path, "\n".join([*HEAD, *body, *TAIL]) + "\n")
    return path
