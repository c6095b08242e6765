"""The plan that carries a final document out: the code that a model wrote, in place of the definitions that it was written for.

It is a plan of its own, proved before it is written, and its first work step asks for approval (LGTM-79). Which places it
changes follows from the hypotheses and the files, never from what a model says of places.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from fdc_toolchain.api.files import merge_diff
from fdc_toolchain.api.tasks import path_fault, quoted
from fdc_toolchain.api.text import escape
from fdc_toolchain.api.tools import Context, ToolFailure, proved, word

from .pipelines import KEY
from .tools import CODE_LINES, home, tree_of

if TYPE_CHECKING:
    from fdc_packs.research.explore.code_search import Tree

    from ..shapes.steps import Changes, Component


class Change(NamedTuple):
    """Lines of a file, and those that a step of the document puts in their place."""

    step: int
    name: str
    path: str
    first: int
    search: list[str]
    replace: list[str]


def plan_changes(args: Mapping[str, object], context: Context) -> Changes:
    """The text of that plan, its path, what it changes, and of each step that it leaves out why; no text where nothing is left.

    `ok` says that the linter has proved it.
    """
    rows, run = args.get("components"), word(args, "run")
    hypotheses = args.get("hypotheses")
    if not isinstance(rows, dict) or not isinstance(hypotheses, list):
        raise ToolFailure(
            "argument", "`components` and `hypotheses` are not what the plan made of them"
        )
    tree = tree_of(args, context)
    stated = {row["microHypothesisID"]: str(row["statement"]) for row in hypotheses}
    found: list[Change] = []
    left: list[str] = []
    for number, row in enumerate(rows["components"], 1):
        made = _change(tree, number, row, stated, found)
        if isinstance(made, str):
            left.append(f"Step {number} is left out: {made}")
        else:
            found.append(made)
    out: Changes = {"ok": False, "text": "", "path": "", "changes": len(found), "left": left}
    if not found:
        return out
    name = run.rpartition("/")[2]
    text = _plan(found, f"{run}/plan_synth_{name}_final.md")
    proof = proved(context.root.path, KEY, text)
    if proof.program is None:
        return {
            **out,
            "changes": 0,
            "left": [*left, f"No plan carries it out: {proof.findings[0]}"],
        }
    files = sorted({one.path for one in found})
    return {
        **out,
        "ok": True,
        "text": text,
        "path": f"plan_synth_{name}_execute.plan",
        "files": files,
    }


def _change(
    tree: Tree, number: int, row: Component, stated: dict[str, str], before: list[Change]
) -> Change | str:
    """What a step of the document changes, or why it cannot be done by a program."""
    place = next(
        (one for ident in row["hypotheses"] if (one := home(tree, stated.get(ident, "")))), None
    )
    if place is None or not place[0]:
        return "its hypothesis names no definition"
    name, path, first, last = place
    lines = list(tree.documents[path].lines)
    search, replace = list(lines[first - 1 : last]), _fitting(row["code"], lines[first - 1])
    if last - first + 1 > CODE_LINES:
        return f"`{name}` is longer than what the model was shown"
    if search == replace:
        return "its code is the code as it stands"
    markers = {merge_diff.OPEN, merge_diff.MIDDLE, merge_diff.CLOSE}
    if markers & {*search, *replace} or any("\r" in line for line in (*search, *replace)):
        return "its lines could be taken for marks of a merge"
    while _times(lines, search) > 1 and first > 1:  # the lines above tell it from its like
        first -= 1
        search, replace = [lines[first - 1], *search], [lines[first - 1], *replace]
    if _times(lines, search) != 1:
        return f"the lines of `{name}` are there twice"
    for other in before:
        if (
            other.path == path
            and other.first < first + len(search)
            and first < other.first + len(other.search)
        ):
            return f"it changes lines of step {other.step}"
    return path_fault(path) or Change(number, name, path, first, search, replace)


def _times(lines: list[str], part: list[str]) -> int:
    return sum(lines[at : at + len(part)] == part for at in range(len(lines)))


def _fitting(code: str, head: str) -> list[str]:
    """The code, indented as the line that it replaces."""
    plain = textwrap.dedent(code.replace("\r\n", "\n").strip("\n"))
    return textwrap.indent(plain, head[: len(head) - len(head.lstrip())]).split("\n")


def _plan(found: list[Change], document: str) -> str:
    files = list(dict.fromkeys(one.path for one in found))
    count = (
        f"{len(found)} {'definition' if len(found) == 1 else 'definitions'} in {', '.join(files)}"
    )
    out = ["# FSM: tooling/fdc_fsm.json", f"# Carries out {document}: {count}.", ""]
    out += ["allow read **", *(f"allow write {quoted(path)}" for path in files)]
    out += ["", f"set_plan Carry out {escape(document)}", "plan_step_complete It was proved when it was written.",
            f"record_user_approval_for_plan that the code of {escape(document)} replaces {escape(count)}"]  # fmt: skip
    for path in files:
        rows = [one for one in found if one.path == path]
        out.append(f"# {', '.join(f'step {one.step}: {one.name}' for one in rows)}")
        out.append(f"replace_with_git_merge_diff {quoted(path)}")
        for one in rows:
            block = [
                merge_diff.OPEN,
                *one.search,
                merge_diff.MIDDLE,
                *one.replace,
                merge_diff.CLOSE,
            ]
            out += [f"  {escape(line)}" if line else "" for line in block]
        out.append(f"read_file {quoted(path)}")
    return "\n".join([*out, "close_task", "submit"])
