"""Files that steps read as text or as an image and that are none now, or larger than a tool reads (FDC484).

Only literal paths of files that are there now count, and only where nothing before the step may have changed the file: then
every run that comes to the step stops there. Files are looked at first, and plans are walked only where one is unfit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....diagnostics.diagnostic import Diagnostic, Label
from ....diagnostics.span import Span
from ....linking.graph import Instance
from ....linking.model import Act, Choice, Invoke, Loop, Node, Unit
from ....text.glob_match import plain
from ...merges import NOTHING, Changes, Reach, changes, literal
from ..flow import programs
from ..rule import Context

_IMAGES = "view_image"
_READERS = {"read_file": "read", "replace_with_git_merge_diff": "edit", _IMAGES: "read"}
"""The tools that read a file as text, and the one that reads an image, with their access to it."""


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root, in the root: the place of a step in a called plan is the call."""
    wrong: dict[tuple[str, bool], str | None] = {}
    unfit: dict[int, tuple[str, str]] = {}
    for unit in {instance.unit.key: instance.unit for instance in context.order}.values():
        read = set()
        for act in unit.acts:
            path = _read(unit, act)
            if path is None:
                continue
            read.add(path)
            key = path, act.bound.tool.name == _IMAGES
            if key not in wrong:
                wrong[key] = context.linker.files.unfit(path, image=key[1])
            why = wrong[key]
            if why is not None:
                unfit[id(act)] = path, why
        unit.asked = unit.asked.union(read)
    if unfit:
        reach = Reach()
        for instance, _ in context.roots:
            yield from _Walk(reach, unfit).body(instance, instance.unit.body, None)


def _read(unit: Unit, act: Act) -> str | None:
    """The file that a step reads as text or as an image, by a literal path."""
    wanted = _READERS.get(act.bound.tool.name)
    for access, value in act.bound.files if wanted else ():
        path = literal(unit, value) if access == wanted else None
        if path is not None and programs.inside(path):
            return plain(path)
    return None


class _Walk:
    """Walks a root. `done`: what steps before may have changed. A called plan is looked at where it is called first."""

    def __init__(self, reach: Reach, unfit: dict[int, tuple[str, str]]) -> None:
        self.reach = reach
        self.unfit = unfit
        self.done: Changes = NOTHING
        self.walked: set[int] = set()

    def body(
        self, instance: Instance, nodes: list[Node], call: Span | None
    ) -> Iterator[Diagnostic]:
        """The findings of a body; `call` is the call in the root that leads here."""
        for node in nodes:
            if self.done.anything:
                return
            if isinstance(node, Act):
                if id(node) in self.unfit:
                    yield from self.act(instance.unit, node, call)
                self.done |= changes(instance.unit, node)
            elif isinstance(node, Loop):
                inside = self.reach.body(instance, node.body)
                if node.kind == "fork" and node.most != 1:  # another branch may be ahead
                    self.done |= inside
                if not node.keeps:
                    yield from self.body(instance, node.body, call)
                self.done |= inside
            elif isinstance(node, Choice):
                before, after = self.done, self.done
                for holds, inner in ((True, node.then), (False, node.orelse)):
                    self.done = before
                    if node.known is not (not holds):
                        yield from self.body(instance, inner, call)
                        after |= self.reach.body(instance, inner)
                self.done = after
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    if id(callee) not in self.walked:
                        self.walked.add(id(callee))
                        yield from self.body(
                            callee, callee.unit.body, call or instance.unit.span(node.call)
                        )
                    self.done |= self.reach.plan(callee)

    def act(self, unit: Unit, act: Act, call: Span | None) -> Iterator[Diagnostic]:
        path, why = self.unfit[id(act)]
        if path not in self.done.paths:
            span = unit.span(act.step)
            labels = () if call is None else (Label(span, "this step"),)
            help_ = "read another file, or convert this one to smaller UTF-8 text"
            if act.bound.tool.name == _IMAGES:
                help_ = "name an image; `read_file` reads a text"
            yield Diagnostic(
                call or span,
                "FDC484",
                f"the step fails with `{path}` as it is now: {why}",
                labels,
                help=help_,
            )
