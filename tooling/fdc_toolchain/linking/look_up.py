"""What the names in a workspace's plans stand for: tools, automata, plans.

One look-up serves the linter and, through the program, the runner (FDC-28, FDC-41): a call's
name is sought in the workspace's registry, then among the shipped plans, then as a path of
the workspace, then as a shipped path. Files are read once, through `files.Files`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable

from ..automata.load import load as load_automaton
from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..packs import shipped
from ..packs.index import index
from ..packs.model import Pack
from ..packs.workspace import local
from ..syntax.language import WORDS
from ..text.suggest import did_you_mean
from .arguments.bind import Binder, Bound
from .catalogue import Catalogue, Tool, read_catalogue
from .project.files import SHIPPED, Files
from .project.outside_files import Row, active
from .project.settings import Settings
from .registry import REGISTRY, read_registry, shipped_registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Loaded = tuple[Automaton | None, list[Diagnostic]]
"""An automaton (None: it has errors), and what is wrong with it."""

MOST_HINTS = 200
"""Maximum unknown tools for which a similar name is searched, because each search is slow."""


_AUTOMATA = (".json", ".yaml", ".yml")


class LookUp:
    """Names of one workspace."""

    def __init__(self, root: str, settings: Settings, files: Files | None = None) -> None:
        self.root = root
        self.settings = settings
        self.files = files or Files(root)
        self.files.secret = settings.secret
        self.diagnostics: list[Diagnostic] = []
        self.catalogue: Catalogue
        own_packs = local(self.files.packs(), self.files.definition, root, index().packs)
        self.packs: dict[str, Pack] = {**index().packs, **own_packs.packs}
        """The packs that plans of the workspace can use, by name: those that are installed, and its own."""
        for problem in own_packs.problems:
            span = Span(problem.path, problem.line or 1, 1, problem.line or 1, 1)
            message = f"the pack cannot be used: {problem.said}"
            self.diagnostics.append(Diagnostic(span, "FDC332", message))
        self.catalogue, findings = read_catalogue(
            settings.catalogues, self.files.definition, own_packs.packs.values()
        )
        self.diagnostics += findings
        self._using: dict[frozenset[str], Catalogue] = {}
        for name in settings.packs:
            if name not in self.packs:
                span = Span("fdc.toml", 1, 1, 1, 1)
                message, help_ = self.no_pack(name)
                self.diagnostics.append(Diagnostic(span, "FDC332", message, help=help_))
        if settings.stated_catalogues:
            for name in settings.catalogues:
                if self.files.read(name) is None:
                    span = Span(name, 1, 1, 1, 1)
                    self.diagnostics.append(
                        Diagnostic(span, "FDC308", f"the catalogue `{name}` does not exist")
                    )
        self.registry, findings = read_registry(self.files.definition(REGISTRY), REGISTRY)
        self.diagnostics += findings
        workspace_packs = [*own_packs.packs.values()]
        self.shipped = shipped_registry(
            {n: p for pack in workspace_packs for n, p in pack.plans.items()}
        )
        self.automata = {n: p for pack in workspace_packs for n, p in pack.automata.items()}
        self.automata |= index().automata
        self.bind: Callable[[Tool, str, str | None], Bound] = Binder().bind
        self.obligations: tuple[
            Any, ...
        ] = ()  # of `obligations.Obligation`, read where there are protocols
        sources = self.files.protocols(settings.protocols) if settings.protocols else []
        if sources:
            from .protocol_rules.read_checks import Workspace, read_obligations

            workspace = Workspace(self.files.definition, self._automaton_key, self.catalogue)
            self.obligations = read_obligations(sources, workspace, self.diagnostics)
        elif settings.protocols and (compiled := self._compiled()):
            from .protocol_rules.lost_sources import lost_sources

            self.diagnostics += lost_sources(settings.protocols, compiled)
        self._outside: tuple[Row, ...] | None = None
        self._nearest: dict[tuple[str, int], str | None] = {}
        self._automata: dict[str, Loaded] = {}
        # By key and content, what was read before; a process that links the same plans again keeps it.
        self.loaded: dict[tuple[str, bytes], Loaded] = {}

    def _compiled(self) -> bytes | None:
        """What agents obey, where there is such a file and it can be read."""
        try:
            return self.files.read("AGENTS.md")
        except OSError:
            return None

    @property
    def outside(self) -> tuple[Row, ...]:
        """The files that hold text from outside which earlier runs wrote. Raises OSError if the table cannot be read."""
        if self._outside is None:
            self._outside = active(self.files)
        return self._outside

    def resolve(self, name: str) -> tuple[str | None, str | None]:
        """(key, the registered path if it came from a registry) of a call's name."""
        path = self.registry.resolve(name)
        if path is not None:
            key = posixpath.normpath(path)
            return (key if self.files.read(key) is not None else None), path
        path = self.shipped.resolve(name)
        if path is not None:
            found = self.files.find(path)
            if found is not None:
                return found, path
        return self.files.find(name), None

    def own_plan(self, name: str) -> str | None:
        """The key of the plan that a call's name stands for, if it is a file of the workspace. No shipped file is read."""
        path = self.registry.resolve(name)
        if path is not None:
            key = posixpath.normpath(path)
            return key if self.files.read(key) is not None else None
        path = self.shipped.resolve(name)
        if path is not None:
            found = self.files.find_own(path)
            if found is not None or self.files.is_shipped(path):
                return found
        return self.files.find_own(name)

    def own_plans(self) -> list[str]:
        """The keys of the files of the workspace that registered names stand for: steps may not change these."""
        found = map(self.own_plan, self.callable_names())
        return [key for key in found if key and ":" not in key]

    def callable_names(self) -> list[str]:
        """Every registered name."""
        return sorted({*self.registry.entries, *self.shipped.entries})

    def nearest_tool(self, word: str, catalogue: Catalogue) -> str | None:
        """The hint for a tool that is not in the catalogue of a plan; None once MOST_HINTS words were looked up."""
        key = word, id(catalogue)  # which `using` keeps
        if key not in self._nearest and len(self._nearest) < MOST_HINTS:
            called = self.registry.resolve(word) or self.shipped.resolve(word)
            self._nearest[key] = (
                f"`{word}` is a registered plan: write `call_plan {word} key=value`"
                if called
                else did_you_mean(word, [*catalogue.tools, *WORDS]) or "`fdc tools` lists the tools"
            )
        return self._nearest.get(key)

    # ---- packs -------------------------------------------------------------------------

    def using(self, packs: Collection[str]) -> Catalogue:
        """The catalogue of a plan that uses these packs."""
        names = frozenset(packs)
        if names not in self._using:
            self._using[names] = self.catalogue.using(names)
        return self._using[names]

    @property
    def in_force(self) -> Catalogue:
        """The catalogue of the workspace's plans that name no pack: it has the packs of the settings."""
        return self.using(self.settings.packs)

    def packs_of(self, key: str) -> list[str]:
        """The packs that a plan uses without naming them: those of the settings, and the one that it belongs to.

        A shipped plan is the same in every workspace: settings do not count for it.
        """
        owner = shipped.pack_of(key.removeprefix(SHIPPED))
        stated = () if key.startswith(SHIPPED) else self.settings.packs
        return [*stated, *([owner] if owner is not None else [])]

    def no_pack(self, name: str) -> tuple[str, str]:
        """The message and the hint for a pack that does not exist."""
        known = [*self.packs]
        hint = did_you_mean(name, known) or f"the packs are: {', '.join(sorted(known))}"
        return f"the pack `{name}` does not exist", f"{hint}; `fdc doctor` checks every pack"

    # ---- automata ----------------------------------------------------------------------

    def automaton(self, reference: str) -> tuple[str | None, Automaton | None, list[Diagnostic]]:
        """(key, automaton, findings) of a path, or of a name: `tooling/NAME_fsm.json`, `tooling/NAME.json`, a pack's."""
        key = self._automaton_key(reference)
        if key is None:
            return None, None, []
        if key not in self._automata:
            self._automata[key] = self._load(key)
        return key, *self._automata[key]

    def _load(self, key: str) -> Loaded:
        if why := self.files.refused(key):
            message = f"the automaton `{key}` cannot be used: {why}"
            return None, [Diagnostic(Span(key, 1, 1, 1, 1), "FDC202", message)]
        data = self.files.read(key) or b""
        if (key, data) not in self.loaded:
            self.loaded[key, data] = load_automaton(data, key)
        return self.loaded[key, data]

    def _automaton_key(self, reference: str) -> str | None:
        candidates = [reference]
        if "/" not in reference and not reference.endswith(_AUTOMATA):
            forms = (f"tooling/{reference}{end}" for end in ("_fsm.json", ".json", "_fsm.yaml"))
            candidates = [*forms, reference]
            candidates += [self.automata[reference]] if reference in self.automata else []
        return next((key for key in map(self.files.find, candidates) if key is not None), None)

    def automaton_findings(self, keys: Iterable[str] | None = None) -> list[Diagnostic]:
        """What is wrong with the automata under `keys`, or with all that were looked at."""
        selected = (
            self._automata if keys is None else [key for key in keys if key in self._automata]
        )
        return [item for key in selected for item in self._automata[key][1]]
