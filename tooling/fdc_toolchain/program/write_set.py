"""Which paths a run of a program may write: what keeps two runs in one workspace apart (`runs.records.claims`).

    written = write_set(program, inputs)

A path is known where the program writes it out, and where it is made of parameters whose values `inputs` have, of the
files of a glob, or of the run's own folder. Whatever else stands in a path is taken for any text. A command writes what
every `allow write` on the way to it names, and anything where there is none. What is said is never less than the run writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..certificate.touches import Step
from ..narrow import narrow
from ..text.glob_match import compare, compiled, fits, meet
from .instructions import names_bound
from .model import Instruction, Program

if TYPE_CHECKING:
    from .model import Template

Pieces = tuple[tuple[bool, str], ...]
"""A glob as `text.glob_match.compiled` takes it: a piece with True stands for itself."""

ANY: Pieces = ((False, "**"),)
MOST_GLOBS = 100
"""Maximum globs; with more of them, or more than `MOST_CALLS` different calls of plans, any path counts as written."""
MOST_CALLS = 1000

# Compiled where they are used, which few plans need: programs start without them.
_REFERENCE = r"\{([A-Za-z_][A-Za-z0-9_.]*)\}"
_UNSTEADY = r"//|(^|/)\.{1,2}(/|$)"
_EDGES = r"(^|/)\.+\0|\0\.+(/|$)"
_INDEX = frozenset(("git_add", "git_commit"))
"""Tools that write git's index, which no parameter of theirs names."""


class Written(NamedTuple):
    """Paths that are written out, each with all that is below it, and globs."""

    names: frozenset[str]
    globs: frozenset[Pieces]

    def meets(self, other: Written) -> str | None:
        """A path that both may hold, or the glob for it; None where there is none."""
        ours, theirs = (
            {glob: compiled(glob) for glob in sorted(side.globs)} for side in (self, other)
        )
        for names, others, globs in (
            (self.names, other.names, theirs),
            (other.names, self.names, ours),
        ):
            for name in sorted(names):
                if not others.isdisjoint(_above(name)):
                    return name
                if any(
                    fits(name, tokens) or _beginning(glob).startswith(name + "/")
                    for glob, tokens in globs.items()
                ):
                    return name
        for our_glob, left in ours.items():
            for their_glob, right in theirs.items():
                if meet(left, right):
                    return shown(their_glob if our_glob == ANY else our_glob)
        return None


class WriteSet(NamedTuple):
    """What a run may write: in the workspace, and in its own `folder`, where other runs write nothing."""

    shared: Written
    own: Written
    folder: str

    def meets(self, other: WriteSet) -> str | None:
        """Like `Written.meets`; a forked run has the folder of the original run."""
        path = self.shared.meets(other.shared)
        return path or (self.own.meets(other.own) if self.folder == other.folder else None)

    def __bool__(self) -> bool:
        return any((*self.shared, *self.own))

    def to_json(self) -> dict[str, object]:
        """As plain data, for `of_json`."""
        shared, own = ([sorted(part) for part in side] for side in (self.shared, self.own))
        return {"shared": shared, "own": own, "folder": self.folder}


NOTHING = Written(frozenset(), frozenset())
EVERYTHING = Written(frozenset(), frozenset((ANY,)))


def of_json(data: object) -> WriteSet:
    """The value of a `to_json` result. Raises KeyError, TypeError or ValueError for anything else."""
    data = narrow(data, dict)
    shared, own = (
        Written(
            frozenset(map(str, names)),
            frozenset(tuple((bool(is_), str(text)) for is_, text in glob) for glob in globs),
        )
        for names, globs in (data["shared"], data["own"])
    )
    return WriteSet(shared, own, str(data["folder"]))


def shown(glob: Pieces) -> str:
    """A glob as people write it."""
    return "".join(text for _, text in glob)


def write_set(program: Program, inputs: Mapping[str, object]) -> WriteSet:
    """What a run of a program with these inputs (`engine.fold`) may write. A run that is simulated writes nothing."""
    builtin = narrow(inputs.get("builtin", {}), dict)
    folder = str(builtin.get("run", ""))
    if "simulate" in inputs:
        return WriteSet(NOTHING, NOTHING, folder)
    known: dict[str, Pieces] = {name: ((True, str(text)),) for name, text in builtin.items()}
    parameters = {
        name: ((True, text),)
        for name, text in narrow(inputs.get("given", {}), dict).items()
        if isinstance(text, str)
    }
    walk = _Walk(program, known)
    walk.plan(program["root"], parameters, None)
    if len(walk.seen) > MOST_CALLS:
        walk.found = {ANY}
    by_place: list[tuple[set[str], set[Pieces]]] = [(set(), set()), (set(), set())]
    for pieces in walk.found:
        names, globs = by_place[bool(folder) and _beginning(pieces).startswith(folder + "/")]
        if _is_name(pieces):
            names.add(shown(pieces))
        else:
            globs.add(pieces)
    shared, own = (
        EVERYTHING
        if ANY in globs or len(globs) > MOST_GLOBS
        else Written(frozenset(names), frozenset(globs))
        for names, globs in by_place
    )
    return WriteSet(shared, own, folder)


class _Walk:
    """Goes through every plan once for each set of values that it is called with."""

    def __init__(self, program: Program, builtin: dict[str, Pieces]) -> None:
        self.program = program
        self.builtin = builtin
        self.found: set[Pieces] = set()
        self.seen: set[Any] = set()

    def plan(
        self, plan_id: str, arguments: Mapping[str, Pieces], allowed: tuple[Pieces, ...] | None
    ) -> None:
        """`allowed`: the globs that every plan above lets it write; None: anything."""
        plan = self.program["plans"][plan_id]
        names = dict(self.builtin)
        for param in plan["params"]:
            default = param.get("default")
            names[param["name"]] = arguments.get(
                param["name"], ANY if default is None else ((True, default),)
            )
        if plan.get("allow"):
            globs = tuple(self.glob(glob, names) for glob in plan["allow"].get("write", ()))
            allowed = globs if allowed is None else _common(allowed, globs)
        key = plan_id, tuple(sorted(names.items())), allowed
        if key in self.seen or len(self.seen) > MOST_CALLS:
            return
        self.seen.add(key)
        bound = names_bound(plan["body"])
        self.block(
            plan["body"],
            {name: value for name, value in names.items() if name not in bound},
            allowed,
            bound,
        )

    def block(
        self,
        body: list[Instruction],
        names: Mapping[str, Pieces],
        allowed: tuple[Pieces, ...] | None,
        bound: set[str],
    ) -> None:
        """`bound`: names that steps of the plan give values, which is unknown before."""
        for item in body:
            if item["op"] == "step":
                for pieces in self.step(item, names):
                    self.add(pieces, allowed)
            elif item["op"] == "call":
                self.plan(
                    item["plan"],
                    {name: _rendered(value, names) for name, value in item["args"].items()},
                    allowed,
                )
            inner = names
            if item["op"] in ("each", "for", "fork"):
                value = self.files(item, names) if item["op"] == "each" else ANY
                mine = {
                    item["name"] or "": value,
                    **({alias: value} if (alias := item.get("alias")) else {}),
                }
                inner = {
                    **names,
                    **{name: value for name, value in mine.items() if name not in bound},
                }
            for part in ("body", "then", "else"):
                if part in item:
                    self.block(item[part], inner, allowed, bound)

    def step(self, item: Instruction, names: Mapping[str, Pieces]) -> Iterator[Pieces]:
        """What one step may write."""
        tool = self.program["tools"][item["tool"]]
        for parameter in tool.get("parameters", ()):
            if parameter.get("access", "read") != "read" and parameter["name"] in item["args"]:
                yield _rendered(item["args"][parameter["name"]], names)
        for glob in tool.get("access", {}).get("write", ()):
            yield ((False, glob),)
        if tool.get("writes") == "unknown" and self.is_unknown(item):
            yield ANY
        if item["tool"] in _INDEX:
            yield ((False, ".git/**"),)

    def is_unknown(self, item: Instruction) -> bool:
        """Whether a step may write what its arguments do not name: commands that only look at data write nothing."""
        try:
            return Step(self.program, item).unknown
        except ValueError:
            return True

    def add(self, pieces: Pieces, allowed: tuple[Pieces, ...] | None) -> None:
        """Adds what a step writes, as far as it is allowed."""
        path = _normal(pieces)
        if path is None:
            return  # no tool follows it
        self.found.update((path,) if allowed is None else _common((path,), allowed))

    def glob(self, glob: str, names: Mapping[str, Pieces]) -> Pieces:
        """A glob of an `allow` line."""
        out: list[tuple[bool, str]] = []
        for number, part in enumerate(re.split(_REFERENCE, glob) if "{" in glob else (glob,)):
            out += names.get(part, ANY) if number % 2 else [(False, part)] if part else []
        return tuple(out)

    def files(self, item: Instruction, names: Mapping[str, Pieces]) -> Pieces:
        """The files that a loop goes through: a part with `[` counts as any name."""
        glob = shown(_rendered(item["glob"], names))
        return ((False, "/".join("*" if "[" in part else part for part in glob.split("/"))),)


def _rendered(template: Template, names: Mapping[str, Pieces]) -> Pieces:
    out: list[tuple[bool, str]] = []
    for part in template:
        if isinstance(part, str):
            out.append((True, part))
        else:
            out += names.get(part["ref"][0], ANY) if len(part["ref"]) == 1 else ANY
    return tuple(out)


def _is_name(pieces: Pieces) -> bool:
    return all(is_value or not any(mark in text for mark in "*?") for is_value, text in pieces)


def _beginning(pieces: Pieces) -> str:
    """What every path of a glob begins with."""
    out = ""
    for is_value, text in pieces:
        cut = (
            len(text)
            if is_value
            else next((at for at, letter in enumerate(text) if letter in "*?"), len(text))
        )
        out += text[:cut]
        if cut < len(text):
            break
    return out


def _normal(pieces: Pieces) -> Pieces | None:
    """The path as tools read it, without `.` and empty parts; None for one that every tool refuses.

    A value that is unknown may be empty, or end with a slash: so the slash behind it is a part of it.
    """
    if _is_name(pieces):
        parts = [part for part in shown(pieces).split("/") if part not in ("", ".")]
        return (
            None
            if ".." in parts or not parts or shown(pieces).startswith("/")
            else ((True, "/".join(parts)),)
        )
    out: list[tuple[bool, str]] = []
    for is_value, text in pieces:
        if out and out[-1] == ANY[0] and text.startswith("/"):
            text = text[1:]
        if text:
            out.append((is_value, text))
    marked = "".join(text if is_value else "\0" for is_value, text in out)
    return (
        ANY
        if re.search(_EDGES, marked) or any(re.search(_UNSTEADY, text) for _, text in out)
        else tuple(out)
    )


def _common(ours: Iterable[Pieces], theirs: Iterable[Pieces]) -> tuple[Pieces, ...]:
    """Globs that name at least the paths that both sides name."""
    common: dict[Pieces, None] = {}
    theirs = tuple(theirs)
    for our_glob in ours:
        for their_glob in theirs:
            if ANY in (our_glob, their_glob):
                common[their_glob if our_glob == ANY else our_glob] = None
                continue
            left, right = compiled(our_glob), compiled(their_glob)
            if fits(shown(our_glob), right) if _is_name(our_glob) else meet(left, right):
                common[
                    their_glob if not _is_name(our_glob) and compare(right, left) else our_glob
                ] = None
    return tuple(common)


def _above(name: str) -> Iterator[str]:
    """A path, and the folders above it."""
    yield name
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name
