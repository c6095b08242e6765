"""Files with which a step fails (FDC484).

Files that steps read as text or as an image and that are none now, or larger than a tool reads: only literal paths of files that
are there now count, and only where nothing before the step may have changed the file. Then every run that comes to the step stops
there. Code of a Python tool that an earlier step changes: the tool does not run. Files are looked at first, and plans are walked
only where there is one of these.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....diagnostics.diagnostic import Diagnostic, Label
from ....diagnostics.span import Span
from ....linking.graph import Instance
from ....linking.model import Act, Choice, Invoke, Loop, Node, Unit
from ....linking.own_row import targets
from ....linking.project import own_modules
from ....text.glob_match import plain
from ...merges import CHANGES, NOTHING, Changes, Reach, changes, literal
from ..flow import programs
from ..rule import Context

_IMAGES = "view_image"
_READERS = {
    **dict.fromkeys(("read_file", "read_lines", _IMAGES), "read"),
    "replace_with_git_merge_diff": "edit",
}
"""The tools that read a file as text, and the one that reads an image, with their access to it."""


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root, in the root: the place of a step in a called plan is the call."""
    wrong: dict[tuple[str, bool], str | None] = {}
    unfit: dict[int, tuple[str, str]] = {}
    for unit in {instance.unit.key: instance.unit for instance in context.order}.values():
        read = set()
        for tool, acts in context.by_tool[unit.key]:
            wanted, image = _READERS.get(tool.name), tool.name == _IMAGES
            for act in acts if wanted else ():
                path = _read(unit, act, wanted)
                if path is None:
                    continue
                read.add(path)
                key = path, image
                if key not in wrong:
                    wrong[key] = context.linker.files.unfit(path, image=image)
                why = wrong[key]
                if why is not None:
                    unfit[id(act)] = path, why
        unit.asked = unit.asked.union(read)
    code = _changed_code(context)
    if unfit or code:
        reach = Reach(context)
        for instance, _ in context.roots:
            yield from _Walk(reach, unfit, code).body(instance, instance.unit.body, None)


def _changed_code(context: Context) -> dict[int, frozenset[str]]:
    """The code of the tools that steps call, by step, as far as a step with a literal path changes it."""
    units = {instance.unit.key: instance.unit for instance in context.order}.values()
    written = frozenset(
        plain(path)
        for unit in units
        for act in unit.acts
        for access, value in act.bound.files
        if access in CHANGES and (path := literal(unit, value) or "").endswith(".py")
    )
    found: dict[int, frozenset[str]] = {}
    of_tool: dict[int, frozenset[str]] = {}  # by the id of a tool, which the catalogue holds
    for unit in units if written else ():
        for tool, acts in context.by_tool[unit.key]:
            code = of_tool.get(id(tool))
            if code is None:
                named = [*targets(tool.row)]
                own = own_modules.modules(named, context.linker.files)
                code = of_tool[id(tool)] = written.intersection(own or own_modules.places_of(named))
            if code:
                found |= {id(act): code for act in acts}
    return found


def _read(unit: Unit, act: Act, wanted: str | None) -> str | None:
    """The file to which a step has the access that is wanted, by a literal path."""
    for access, value in act.bound.files:
        path = literal(unit, value) if access == wanted else None
        if path is not None and programs.inside(path):
            return plain(path)
    return None


class _Walk:
    """Walks a root. `done`: what steps before may have changed; `again`: what another round or branch may have changed.

    A called plan is looked at where it is called first, and for its code once more where more code was changed before.
    `only_code`: files that are read do not count, as in a branch whose failures are kept: changed code always stops the run.
    """

    def __init__(
        self, reach: Reach, unfit: dict[int, tuple[str, str]], code: dict[int, frozenset[str]]
    ) -> None:
        self.reach = reach
        self.unfit = unfit
        self.code = code
        self.done: Changes = NOTHING
        self.again: Changes = NOTHING
        self.only_code = False
        self.watched = frozenset[str]().union(*code.values())
        self.walked: set[int] = set()
        self.walked_for: set[tuple[int, frozenset[str]]] = set()

    def body(
        self, instance: Instance, nodes: list[Node], call: Span | None
    ) -> Iterator[Diagnostic]:
        """The findings of a body; `call` is the call in the root that leads here."""
        for node in nodes:
            if self.done.anything:
                return
            if isinstance(node, Act):
                if id(node) in self.unfit and not self.only_code:
                    yield from self.act(instance.unit, node, call)
                if id(node) in self.code:
                    yield from self.caller(instance.unit, node, call)
                self.done |= changes(instance.unit, node)
            elif isinstance(node, Loop):
                yield from self.loop(instance, node, call)
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
                    yield from self.callee(callee, call or instance.unit.span(node.call))
                    self.done |= self.reach.plan(callee)

    def loop(self, instance: Instance, node: Loop, call: Span | None) -> Iterator[Diagnostic]:
        inside = self.reach.body(instance, node.body)
        again, only_code = self.again, self.only_code
        if node.most != 1:
            self.again |= inside
            if node.kind == "fork":  # another branch may be ahead
                self.done |= inside
        self.only_code = only_code or node.keeps
        yield from self.body(instance, node.body, call)
        self.again, self.only_code = again, only_code
        self.done |= inside

    def callee(self, callee: Instance, call: Span) -> Iterator[Diagnostic]:
        only_code = self.only_code
        self.only_code = only_code or id(callee) in self.walked
        if not self.only_code:
            self.walked.add(id(callee))
        key = id(callee), (self.done.paths | self.again.paths) & self.watched
        if not self.only_code or (key[1] and key not in self.walked_for):
            self.walked_for.add(key)
            yield from self.body(callee, callee.unit.body, call)
        self.only_code = only_code

    def caller(self, unit: Unit, act: Act, call: Span | None) -> Iterator[Diagnostic]:
        """The finding of a step with a tool whose code is not as it was proved."""
        for path in sorted(self.code[id(act)] & (self.done.paths | self.again.paths)):
            span = unit.span(act.step)
            labels = () if call is None else (Label(span, "this step"),)
            name = act.bound.tool.name
            message = f"the step fails: `{path}` is code of `{name}`, and a step before it changes this file"
            help_ = "change the code in a plan of its own, and call the tool in the next one"
            yield Diagnostic(call or span, "FDC484", message, labels, help=help_)

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
