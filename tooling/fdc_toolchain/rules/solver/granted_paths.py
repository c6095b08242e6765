"""Whether the paths of steps are certainly among those that `allow` lines name.

The references of an `allow` line are parameters of its plan, with the values that they have where the plan begins. So what
a name stands for is followed into called plans, and told in the words of the plan with the lines. A name is unknown
where another step may bind it again. The file of a `for_each_file` and the items of a listing match the glob of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...linking.model import Act, Choice, Invoke, Loop, Node, Unit
from ...syntax.values import Ref, Value
from ...text.glob_match import Tokens, compare, compiled, matches, plain, within
from .files.bodies import is_literal
from .files.path_language import GLOB, NOBODY
from .files.paths import Part, Path, path_of, plain_path

Known = dict[tuple[str, ...], Path]
"""What references stand for, in the words of the plan with the `allow` lines."""

_RUN: Part = ("run",)
_EVERYTHING = ("**", "**/*")
_WILD = frozenset("*?[")


class Meaning:
    """What the names of one plan stand for. `folder` tells whether a literal path is that of a folder."""

    def __init__(self, unit: Unit, given: Known, folder: Callable[[str], bool]) -> None:
        self.unit = unit
        self._folder = folder
        again = {*unit.loops, *unit.results}
        self.known = {ref: path for ref, path in given.items() if ref[0] not in again}
        taken = {*unit.params, *unit.loops}
        self._once = {
            name for name in unit.results if name not in taken and unit.results.count(name) == 1
        }
        self._listings = {
            act.step.bind: act for act in unit.acts if act.step.bind in self._once and _looks(act)
        }

    @classmethod
    def of_root(cls, unit: Unit, folder: Callable[[str], bool]) -> Meaning:
        """That of the plan with the lines: its parameters stand for themselves."""
        return cls(unit, {(name,): ((name,),) for name in unit.params}, folder)

    def called(self, call: Invoke, callee: Unit, known: Known) -> Known:
        """What the parameters of a called plan stand for."""
        given: Known = {}
        for name, param in callee.params.items():
            value = call.arguments.get(name)
            if value is not None:
                given[(name,)] = meant(value, known) if value.text else ("",)
            elif param.default is not None:
                given[(name,)] = (param.default,)
        return given

    def steps(self) -> Iterator[tuple[Act | Invoke | Loop, Known]]:
        """The steps, calls and loops over files of the plan, with what references stand for there."""
        yield from self._steps(self.unit.body, self.known)

    def _steps(
        self, nodes: list[Node], known: Known
    ) -> Iterator[tuple[Act | Invoke | Loop, Known]]:
        for node in nodes:
            if isinstance(node, Choice):
                yield from self._steps(node.then, known)
                yield from self._steps(node.orelse, known)
            elif isinstance(node, Loop):
                if node.kind == "each":
                    yield node, known
                yield from self._steps(node.body, self._inside(node, known))
            elif isinstance(node, Act | Invoke):
                yield node, known

    def _inside(self, loop: Loop, known: Known) -> Known:
        own = set(filter(None, (loop.name, loop.alias)))
        inner = {ref: path for ref, path in known.items() if ref[0] not in own}
        held = own - {*self.unit.params, *self.unit.results}
        if not held or loop.over is None:
            return inner
        if loop.kind == "each":
            found = self._matches(meant(loop.over, known), listing=False)
            return inner if found is None else inner | {(name,): found for name in held}
        listing = self._listings.get(_name_of(loop.over) or "")
        if listing is None:
            return inner
        found = self._matches(_looked_at(listing, self.known), listing=True)
        field = () if listing.bound.tool.name == "list_files" else ("path",)
        return inner if found is None else inner | {(name, *field): found for name in held}

    def _matches(self, path: Path, *, listing: bool) -> Path | None:
        """A file that a glob matches; None if too little is known of it."""
        if len(path) == 2 and path[0] == _RUN and isinstance(path[1], str):
            return _of_run(path[1], listing=listing)
        text = str(path[0]) if is_literal(path) else _folder_of(path)
        if text is None or text.startswith("/") or ".." in text.split("/"):
            return None
        if is_literal(path) and listing and not _WILD & {*text}:
            if text.strip("/") in ("", "."):
                text = "**"
            elif self._folder(text.rstrip("/")):
                text = f"{text.rstrip('/')}/**"
        return ((GLOB + text,),)


def _of_run(text: str, *, listing: bool) -> Path:
    """A file that a glob in the folder of the run matches."""
    if listing and not _WILD & {*text}:
        text = f"{text.rstrip('/')}/**"
    wild = next((at for at, letter in enumerate(text) if letter in _WILD), len(text))
    name = text.rfind("/", 0, wild) + 1
    return (_RUN, text[:name], (GLOB + text[name:],)) if name else (_RUN, (GLOB + text,))


def meant(value: Value, known: Known) -> Path:
    """The path that an argument names, with the references of which too little is known marked."""
    parts: list[Part] = []
    for part in path_of(value):
        if isinstance(part, str) or part == _RUN:
            parts.append(part)
        else:
            parts += known.get(part, ((NOBODY, *part),))
    return plain_path(parts)


def everything(globs: Iterable[Value]) -> bool:
    """Whether the globs of `allow` lines name every file."""
    return any(glob.text in _EVERYTHING for glob in globs)


def listed(value: Value, known: Known, globs: list[Value], *, folder: bool) -> bool:
    """True where every file of a listing is certainly named by one of the globs; `folder`: the value may be a folder's path."""
    path = meant(value, known)
    if is_literal(path):
        return everything(globs) or within(
            str(path[0]), [_tokens(glob) for glob in globs if "{" not in glob.text], folder=folder
        )
    own = [path_of(glob) for glob in globs if "{" in glob.text]
    if folder:
        return covered(path, globs) or plain_path([*path, "/**"]) in own
    return covered(path, [glob for glob in globs if path_of(glob) != path])


def covered(path: Path, globs: list[Value]) -> bool:
    """True where every path that a step may name is certainly named by one of the globs."""
    files = _files(path)
    return everything(globs) or any(_names(glob, path, files) for glob in globs)


def _names(glob: Value, path: Path, files: Tokens | None) -> bool:
    if "{" in glob.text:
        own = path_of(glob)
        return not is_literal(own) and (path == own or _below(path, own))
    if is_literal(path):
        return matches(str(path[0]), glob.text)
    if glob.text.endswith("/**") and _start(path).startswith(glob.text[:-2]):
        return True
    return files is not None and compare(files, _tokens(glob)) is True


def _below(path: Path, glob: Path) -> bool:
    """Whether the path begins with the folder of a glob `FOLDER/**` that has references in it."""
    *before, last = glob
    if not isinstance(last, str) or not last.endswith("/**") or len(path) < len(glob):
        return False
    same = path[len(before)]
    return (
        path[: len(before)] == tuple(before)
        and isinstance(same, str)
        and same.startswith(last[:-2])
    )


def _files(path: Path) -> Tokens | None:
    """The paths of files that a path stands for, as a glob; None where it may be any text."""
    pieces: list[tuple[bool, str]] = []
    for part in path:
        if isinstance(part, str):
            pieces.append((True, part))
        elif part == _RUN:
            pieces.append((False, "runs/*"))
        elif part[0].startswith(GLOB):
            names = plain(part[0][1:]).split("/")
            pieces.append((False, "/".join("*" if "[" in name else name for name in names)))
        else:
            return None
    return compiled(pieces)


def _start(path: Path) -> str:
    first = path[0] if path else ""
    return "runs/" if first == _RUN else first if isinstance(first, str) else ""


def _folder_of(path: Path) -> str | None:
    """What a glob with an unknown value in it matches: files somewhere below the folder that it begins with."""
    folder, slash, _ = _start(path).rpartition("/")
    return f"{folder}/**" if slash and folder else None


def _tokens(glob: Value) -> Tokens:
    return compiled([(False, glob.text)])


def _looks(act: Act) -> bool:
    return act.bound.tool.name in ("list_files", "grep")


def _looked_at(act: Act, known: Known) -> Path:
    for parameter in act.bound.tool.parameters:
        value = act.bound.arguments.get(parameter.name)
        if parameter.kind == "glob" and value is not None:
            return meant(value, known)
    return ("**",)


def _name_of(value: Value) -> str | None:
    """The name that is all of a value."""
    match value.parts:
        case (Ref() as ref,) if len(ref.path) == 1:
            return ref.path[0]
    return None
