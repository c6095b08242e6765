"""What is protected or secret in a workspace, and which plans may touch it all the same (`allow write`, `allow read`)."""

from __future__ import annotations

from ....linking.catalogue import Tool
from ....linking.graph import Instance
from ....linking.model import Unit
from ....linking.project.obeyed import of_workspace
from ....linking.project.protected import ANYWHERE, TOP, Protected, Protection, named
from ....linking.project.secret_files import Secret, secret
from ....syntax.values import Ref, Value
from ..rule import Context
from .path_language import APART, GLOB, hits


class KnownPaths:
    """Literal paths of which their text says all: `plain`, in their plain form, those that every step may change, as far as the
    disk lets it; `open`: those that every step may read."""

    def __init__(self) -> None:
        self.plain: dict[str, str] = {}
        self.open: set[str] = set()
        self._ground: object = None

    def stand_on(self, ground: object) -> None:
        """Forgets all where something else is protected or secret than before."""
        if ground != self._ground:
            self.plain, self.open, self._ground = {}, set(), ground


class Guard:
    """The files of one workspace that no step may change, or read, unless every run that does so allows it by name."""

    def __init__(self, context: Context) -> None:
        linker = context.linker
        self.context = context
        self.settings = linker.settings.catalogues
        self.files = linker.files
        protect, hidden = linker.files.leads()
        self.secret = (*linker.settings.secret, *hidden)
        self.more = of_workspace(protect, linker.settings, linker.own_plans())
        self._protection = Protection(self.settings, self.more)
        kept = linker.kept
        known = KnownPaths() if kept is None else kept.fact(KnownPaths, KnownPaths)
        known.stand_on((self.settings, self.more, self.secret))
        self.plain, self.open = known.plain, known.open
        self._secrets: dict[str, Secret | None] = {}
        self._above: dict[str, tuple[str, str]] = {}
        self._looks: dict[
            int, tuple[tuple[str, ...], tuple[str, ...]]
        ] = {}  # by the id of a tool, which the catalogue holds
        self._meant: dict[str, list[str]] = {}

    def looks(self, tool: Tool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parameters of a tool that say what it looks through, and those that are commands."""
        found = self._looks.get(id(tool))
        if found is None:
            globs = tuple(item.name for item in tool.parameters if item.kind == "glob")
            commands = tuple(
                item.name
                for item in tool.parameters
                if item.kind != "glob" and item.sink == "command"
            )
            found = self._looks[id(tool)] = globs, commands
        return found

    def above(self, folder: str) -> tuple[str, str]:
        """What is not a folder on the way to a folder and what it is, or two empty words."""
        found = self._above.get(folder)
        if found is None:
            parent = folder.rpartition("/")[0]
            found = self.above(parent) if parent else ("", "")
            if not found[0] and (kind := self.files.kind(folder)) != "folder":
                found = folder, kind
            self._above[folder] = found
        return found

    def meant(self, glob: str) -> list[str]:
        """The names of protected files that a glob may name."""
        found = self._meant.get(glob)
        if found is None:
            path = (("\1", GLOB + glob),)
            names = {*TOP, *ANYWHERE, *self.settings}
            found = self._meant[glob] = sorted(
                name for name in names if hits(path, (name,)) != APART
            )
        return found

    def refuses(self, path: str, unit: Unit) -> Protected | None:
        """Why a step of a plan may not change a path on some run; None where no run of a root refuses it."""
        found = self.protected(path)
        if found is None or found.never or self.unnamed(found.entry, unit, "write"):
            return found
        return None

    def protected(self, path: str) -> Protected | None:
        """Why no step may change a path without leave."""
        return self._protection.of(path)

    def withholds(self, path: str, unit: Unit) -> Secret | None:
        """Why a step of a plan may not read a path on some run; None where no run of a root refuses it."""
        found = self.secret_at(path)
        return found if found is not None and self.unnamed(found.entry, unit, "read") else None

    def secret_at(self, path: str) -> Secret | None:
        """Why no step may read a path without leave."""
        if path not in self._secrets:
            self._secrets[path] = secret(path, self.secret)
        return self._secrets[path]

    def unnamed(self, entry: str, unit: Unit, kind: str) -> bool:
        """True where on some run of a root a plan with `allow` lines does not name the entry, or no plan has such lines."""
        seen: set[tuple[int, bool]] = set()
        work: list[tuple[Instance, bool, bool]] = [
            (root, False, True) for root, _ in self.context.roots
        ]
        while work:
            here, some, every = work.pop()
            globs = here.unit.allow.get(kind, ())
            if here.unit.allow:
                some, every = True, every and any(named(entry, _pieces(glob)) for glob in globs)
            if here.unit.key == unit.key and not (some and every):
                return True
            if (id(here), some and every) not in seen:
                seen.add((id(here), some and every))
                work += [(callee, some, every) for callee in here.callees if callee is not None]
        return False


def _pieces(glob: Value) -> list[tuple[bool, str]]:
    return [(True, "") if isinstance(part, Ref) else (False, part) for part in glob.parts]
