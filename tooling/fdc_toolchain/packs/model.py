"""The contents of a `pack.toml` for the core. Python names are texts until their objects are needed."""

from __future__ import annotations

from ..named_tuples import NamedTuple
from ..narrow import narrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "packs/"
"""The prefix of names of pack files, followed by the pack's name and the path in its folder."""


class PackError(Exception):
    """A pack that cannot be used: one sentence with the file and, where there is one, the line.

    `said` is the sentence alone, `path` and `line` are its place; a path is empty where no file is to blame.
    """

    def __init__(self, said: str, path: str = "", line: int = 0) -> None:
        place = f"{path}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(f"{place}{said}")
        self.said, self.path, self.line = said, path, line


class Command(NamedTuple):
    """A command of `fdc`. `outside_only`: no command of a run may start it.

    Either `module` defines `command`, a click command, and, where it `tells` the ends of runs of some plans,
    `tell(root, ended, store)`, which prints one and returns the exit code; or `plan` is the plan that it runs, by the name of its
    file, and `parameters` are that plan's, in their order, each with what it is for.
    """

    name: str
    module: str
    help: str
    outside_only: bool
    plan: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    tells: tuple[str, ...] = ()


class Function(NamedTuple):
    """What performs a tool or answers a predicate. `needs`: names, or (what, parameter, values) for some arguments only."""

    module: str
    function: str
    probe: str | None
    needs: tuple[str | tuple[str, str, tuple[str, ...]], ...]


class Page(NamedTuple):
    """A page of `fdc ui` about runs of some plans, at `/PATH/RUN`.

    `module` defines `row(row)`: more of a run for the list; `told(store, row)`: all of a run, as JSON; `render(told)`: its
    page; `style_hash()`: what the page's content policy allows; `again(row)`: the arguments of `fdc` that do the same again.
    """

    path: str
    module: str
    plans: tuple[str, ...]
    title: str
    again: str


class Pack(NamedTuple):
    """One pack. `folder` is where its `pack.toml` lies, `package` what its modules begin with; `beside`: shipped with fdc."""

    name: str
    summary: str
    folder: str
    package: str
    beside: bool
    commands: dict[str, Command]
    tools: dict[str, Function]
    predicates: dict[str, Function]
    pages: dict[str, Page]
    catalogues: tuple[str, ...]
    """Names of shipped files (`shipped`), as are those of automata and plans."""
    automata: dict[str, str]
    plans: dict[str, str]
    renamed: dict[str, str]
    """What names of functions began with in older versions, and what they begin with now."""
    moved: dict[str, str]
    """The same of names of shipped files."""
    checks: dict[str, Function]
    """The function that `fdc doctor` calls with a workspace's folder; returns `ok`, `note` or `bad`, and a message."""


def pack_of(document: dict[str, object], folder: str, package: str, beside: bool) -> Pack:
    """The pack of a document that `read` found to be right."""

    def table(key: str, within: dict[str, Any] = document) -> dict[str, Any]:
        return narrow(within.get(key, {}), dict)

    def file(path: str) -> str:
        return f"{PREFIX}{document['name']}/{path}"

    def absolute(module: str) -> str:
        return f"{package}.{module}" if module else package

    def function(row: str | dict[str, Any]) -> Function:
        row = {"function": row} if isinstance(row, str) else row
        module, _, name = row["function"].partition(":")
        needs = tuple(
            need
            if isinstance(need, str)
            else (need["what"], need["parameter"], tuple(need["values"]))
            for need in row.get("needs", ())
        )
        return Function(absolute(module), name, row.get("probe"), needs)

    return Pack(
        str(document["name"]),
        str(document["summary"]),
        folder,
        package,
        beside,
        {
            name: Command(
                name,
                "",
                row["help"],
                True,
                file(row["plan"]),
                tuple(row.get("parameters", {}).items()),
            )
            if "plan" in row
            else Command(
                name,
                absolute(row["module"]),
                row["help"],
                row.get("outside_only", False),
                tells=tuple(row.get("tells", ())),
            )
            for name, row in table("commands").items()
        },
        {name: function(row) for name, row in table("tools").items()},
        {name: function(row) for name, row in table("predicates").items()},
        {
            path: Page(
                path, absolute(row["module"]), tuple(row["plans"]), row["title"], row["again"]
            )
            for path, row in table("pages").items()
        },
        tuple(map(file, narrow(document.get("catalogues", []), list))),
        {name: file(path) for name, path in table("automata").items()},
        {name: file(path) for name, path in table("plans").items()},
        {old: f"{package}.{new}" for old, new in table("functions", table("renamed")).items()},
        {old: file(new) for old, new in table("files", table("renamed")).items()},
        {name: function(row) for name, row in table("checks").items()},
    )
