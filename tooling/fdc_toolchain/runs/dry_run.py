"""Prints what a run would do, without doing it (`fdc run --dry-run`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ..engine.values import resolved
from ..narrow import narrow
from ..report.terminal.terminal_text import cut, visible

if TYPE_CHECKING:
    from ..program.model import Instruction, Program
    from .cost.cost_bound import Worst

MOST = 2_000
"""Maximum number of lines; a plan that is called from several places is listed at each."""


def steps(program: Program, root: str) -> Iterator[str]:
    """The steps of every plan that would run, in order, one per line; called plans are below their calls."""
    return _Reader(program, root).plan(program["root"], {}, 0)


def outline(
    program: Program,
    root: str,
    given: Mapping[str, str],
    budget: Mapping[str, float],
    models: Mapping[str, object] | None = None,
    absent: Sequence[str] = (),
) -> str:
    """The steps of every plan that would run, with known values filled in, and the worst-case cost.

    `models`: those that would be asked (`pricing.settle`); `absent`: missing needs of the run (`runs.granted`).
    """
    from .cost.cost_bound import worst

    reader = _Reader(program, root)
    lines: list[str] = []
    for line in reader.plan(program["root"], dict(given), 0):
        if len(lines) >= MOST:
            lines.append(f"... only the first {MOST} lines are shown")
            break
        lines.append(line)
    effects: dict[str, list[str]] = {}
    for name in sorted(reader.tools):
        effects.setdefault(program["tools"][name]["effect"], []).append(name)
    lines.append("")
    for effect in ("pure", "read", "idempotent", "once"):
        if effect in effects:
            lines.append(f"{effect}: {', '.join(effects[effect])}")
    limits = {**program["budget"], **budget}
    lines += _costs(
        worst(program, given, narrow((models or {}).get("rate") or 0.0, float), reader.listing),
        limits,
        models,
    )
    if limits:
        lines.append(
            "budget: "
            + ", ".join(f"{measure} {number:g}" for measure, number in sorted(limits.items()))
        )
    if any(program["tools"][name].get("writes") == "unknown" for name in reader.tools):
        lines.append(_commands(root))
    lines += _opened(program, root)
    for row in program.get("assumptions", []):
        lines.append(f"assumes ({visible(row['path'])}:{row['line']}): {visible(row['text'])}")
    lines += [f"the run cannot begin without {visible(one)}" for one in absent]
    lines.append("no step was performed")
    return "\n".join(lines) + "\n"


class _Reader:
    def __init__(self, program: Program, root: str) -> None:
        self.program = program
        self.root = root
        self.tools: set[str] = set()
        self.listed: dict[str, list[str] | None] = {}

    def plan(self, plan_id: str, names: dict[str, Any], depth: int) -> Iterator[str]:
        plan = self.program["plans"][plan_id]
        known = {
            param["name"]: param["default"]
            for param in plan["params"]
            if param.get("default") is not None
        }
        yield from self.block(plan["body"], {**known, **names}, depth)

    def block(self, block: list[Instruction], names: dict[str, Any], depth: int) -> Iterator[str]:
        for item in block:
            yield from self.item(item, names, depth)

    def item(self, item: Instruction, names: dict[str, Any], depth: int) -> Iterator[str]:
        op = item["op"]
        margin = "  " * depth
        if op == "step":
            self.tools.add(item["tool"])
            shown = " ".join(self.text(template, names) for template in item["args"].values())
            bound = f"{item['bind']} <- " if item["bind"] else ""
            yield f"{margin}{bound}{item['tool']} {cut(visible(shown), 100)}".rstrip()
        elif op == "call":
            yield f"{margin}call {visible(item['name'] or '')}"
            # An argument is known if it is text without unknown references.
            handed = {name: self.text(template, names) for name, template in item["args"].items()}
            settled = {name: value for name, value in handed.items() if "{" not in value}
            yield from self.plan(item["plan"], settled, depth + 1)
        elif op == "each":
            glob = self.text(item["glob"], names)
            yield f"{margin}for each file of {visible(glob)}{self.files(glob)}"
            yield from self.block(item["body"], names, depth + 1)
        elif op in ("for", "fork"):
            how = "at once, for each" if op == "fork" else "for each"
            keeps = "; a failed one gives a record of its failure" if "keep" in item else ""
            yield f"{margin}{how} {item['name']} of {visible(self.text(item['in'], names))}, at most {item['max']}{keeps}"
            yield from self.block(item["body"], names, depth + 1)
        elif op == "iterate":
            until = ", until its condition holds" if item.get("until") else ""
            yield f"{margin}at most {item['max']} times{until}"
            yield from self.block(item["body"], names, depth + 1)
        elif op == "if":
            yield f"{margin}if its condition holds"
            yield from self.block(item["then"], names, depth + 1)
            if item["else"]:
                yield f"{margin}else"
                yield from self.block(item["else"], names, depth + 1)
        elif op == "require":
            yield f"{margin}stop unless its condition holds: {visible(item['why'])}"

    def text(self, template: list[Any], names: dict[str, Any]) -> str:
        return " ".join(resolved(template, names).split())

    def files(self, glob: str) -> str:
        listed = None if "{" in glob else self.listing(glob)
        return "" if listed is None else f" ({len(listed)} now)"

    def listing(self, glob: str) -> list[str] | None:
        """The current files of a glob; None if they cannot be listed."""
        if glob not in self.listed:
            self.listed[glob] = listing(self.root, glob)
        return self.listed[glob]


def listing(root: str, glob: str) -> list[str] | None:
    """The files that the runner would find for a glob now; none for a glob that leaves the workspace, where the run stops."""
    from ..workspace.failure import ToolFailure
    from ..workspace.files import Root
    from ..workspace.globs import files

    try:
        with closing(Root(root)) as opened:
            return files(opened, glob)
    except ToolFailure as failure:
        return [] if failure.kind == "path" else None
    except OSError:
        return None


def _costs(
    found: Worst, limits: Mapping[str, float], models: Mapping[str, object] | None
) -> list[str]:
    """The worst-case cost, and the budget that would stop the run."""
    from ..rules.bounds import shown as written

    shown = []
    for measure, number in found.cost.items():
        if number or measure == "steps":
            text = visible(written(number))
            shown.append(
                f"{text} {measure.replace('_', ' ')}" if measure != "money" else f"${text}"
            )
    created = " and those that the plan creates" * found.created
    lines = [f"at worst: {', '.join(shown)}, with the files that exist now{created}"]
    lines += [visible(line) for line in said(found)]
    if models is not None and models["names"] and models["rate"] is None:
        lines.append(
            f"the price of {', '.join(narrow(models['names'], list))} is not known, so money is not counted"
        )
    if models is not None and not models["names"]:
        lines.append(
            "no model is selected (FDC_MODEL, --model): embedded functions answer prompts, or the prompts fail"
        )
    for measure, most in sorted(limits.items()):
        cost = found.cost.get(measure, {})
        if cost.get((), 0) > most or any(cost):
            lines.append(f"the budget of {most:g} {measure} may stop the run before its end")
    for path, measure, most in found.short:
        lines.append(
            f"the budget of {most:g} {measure} that `{visible(path)}` states may stop the run before its end"
        )
    return lines


def said(found: Worst) -> list[str]:
    """Notes about the numbers of a worst case, one per line."""
    lines = [
        f"|{glob}| is the number of files of {glob}, which is unknown before the run"
        for glob in found.unknown
    ]
    lines += [
        f"|{glob}| is the number of files of {glob}; the plan itself creates more"
        for glob in found.growing
    ]
    steps: dict[str, list[str]] = {}
    for step, glob in found.assumed:
        steps.setdefault(glob, []).append(step)
    for glob, names in steps.items():
        lines.append(f"this assumes that no file of {glob} is created by {', '.join(names)}")
    return lines


def _opened(program: Program, root: str) -> Iterator[str]:
    """The protected files that the plans may write because they name them."""
    from ..linking.project.guarded_paths import guarded
    from ..tools.approvals.openings import named_by

    for _, glob, found in named_by(program, *guarded(root)[:2]):
        yield f"may write `{visible(glob)}`, after an approval: `{visible(found.entry)}` {found.what}"


def _commands(root: str) -> str:
    """The sandbox of commands in a workspace."""
    from ..sandbox.sandbox import outlook
    from ..workspace.operator import Operator

    return outlook(Operator.of_environment(), root)[1]
