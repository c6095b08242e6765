"""Catalogues: the tools that plans may use, read from data (`grammar/catalogue.schema.json`).

The shipped ones and a workspace's own are read alike. A workspace's tool may not take the
name of a shipped one, so that the name has one action type for automata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from .. import cachedir, resources
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from ..packs import shipped
from ..packs.beside import FILE
from ..packs.index import index
from ..packs.model import PREFIX, Pack
from ..program.model import LEFT
from .own_row import LOCK, reads_all, sandboxed, unlocked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..certificate.forms import rows as forms
    from ..program.model import ToolRow

CORE = "grammar/tools.json"
"""The core's own catalogue."""


class Parameter(NamedTuple):
    """One parameter of a tool. `kind`: word, path, glob, number, rest or block. `access`: what happens to the file it names.

    `sink`: what the text given chooses: command, path, url, message, user, or nothing (None). `text`: the tool refuses
    every other value. `form`: what the value has to be: text, filled (more than white space), list, pattern (a regular
    expression of Python), sections (SEARCH and REPLACE, for the file that the step edits), or whatever it is (None).
    """

    name: str
    kind: str
    required: bool
    access: str | None
    sink: str | None
    text: bool = False
    form: str | None = None


class When(NamedTuple):
    """A condition on the parsed command in a parameter: its program's base name, and its first argument (None: any)."""

    parameter: str
    program: str
    subcommand: str | None


class Tool(NamedTuple):
    """A tool's declaration; `row` is the declaration as written."""

    name: str
    action: str | None
    actions: tuple[tuple[When, str | None], ...]
    refuse: tuple[tuple[When, str], ...]
    forbidden: str | None
    effect: str
    trust: str
    clears: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    need_one_of: tuple[str, ...]
    fields: dict[str, str] | None
    result: str | None
    writes_unknown: bool
    model_calls: int
    tokens: int
    money: float
    row: ToolRow
    inline: tuple[Parameter, ...]
    """The parameters on the step's line."""
    block: Parameter | None
    """The parameter that the text block fills."""
    programs: frozenset[str]
    """Words of which one must be in a command for `actions` or `refuse` to matter."""
    left: frozenset[str] = frozenset()
    """The measures of which a step may use all that is left of the budget."""
    broken: bool = False
    """Its row is invalid. That was reported at the row, so its steps get no findings."""


ANY_NUMBER = -1
"""How many arguments a predicate takes whose row is wrong."""


class Catalogue(NamedTuple):
    """Tools and predicates: of the core, of a workspace, and of packs.

    Predicates map to their number of arguments (ANY_NUMBER: the row is wrong); `rows` has their declarations as written.
    `packs` maps (`tools` or `predicates`, name) to the pack that it belongs to; every plan sees the rows that are not in it.
    """

    tools: dict[str, Tool]
    predicates: dict[str, int]
    rows: dict[str, forms.Predicate]
    packs: Mapping[tuple[str, str], str] = MappingProxyType({})

    def using(self, packs: Collection[str]) -> Catalogue:
        """The catalogue of a plan that uses these packs."""
        hidden = {key for key, pack in self.packs.items() if pack not in packs}
        if not hidden:
            return self
        return Catalogue(
            {name: tool for name, tool in self.tools.items() if ("tools", name) not in hidden},
            {n: count for n, count in self.predicates.items() if ("predicates", n) not in hidden},
            {name: row for name, row in self.rows.items() if ("predicates", name) not in hidden},
            {key: pack for key, pack in self.packs.items() if key not in hidden},
        )


def reads_at_large(row: ToolRow) -> bool:
    """True for a tool that reads the workspace without a parameter that says where.

    A Python function or a command of a catalogue that is not pure may open any file, unless it says which (`access`): how it
    uses an argument is not known.
    """
    if sandboxed(row):
        return reads_all(row)
    has_path_parameter = any(
        item.get("access") or item["kind"] in ("path", "glob") for item in row["parameters"]
    )
    return (
        row["effect"] == "read"
        and row["trust"] == "workspace"
        and not has_path_parameter
        and "run" not in row
    )


def runs_plan(row: ToolRow) -> bool:
    """True for a tool that runs a plan given as an argument, under the limits of the plans on the stack."""
    return "run" not in row and any(
        item.get("sink") == "plan" for item in row.get("parameters", ())
    )


def _read_when(row: forms.When) -> When:
    return When(row["parameter"], row["program"], row.get("subcommand"))


def _sink_of(row: forms.Parameter) -> str | None:
    return row.get("sink", "path" if row["kind"] in ("path", "glob") else None)


def tool_of(name: str, row: ToolRow) -> Tool:
    """Builds a tool from its declaration."""
    result = row.get("result")
    if (
        row.get("failure") == "value"
    ):  # then the result may be the failure's `failed` and `why` instead
        result = {**result, "failed": "text", "why": "text"} if isinstance(result, dict) else None
    stated = row.get("cost", {})
    left = frozenset(measure for measure, most in stated.items() if most == LEFT)
    cost = {measure: most for measure, most in stated.items() if not isinstance(most, str)}
    parameters = tuple(
        Parameter(
            item["name"],
            item["kind"],
            item.get("required", True),
            item.get("access"),
            _sink_of(item),
            item.get("type") in ("text", "filled", "pattern")
            or (item["kind"] in ("path", "glob") and "run" not in row),
            item.get("type"),
        )
        for item in row["parameters"]
    )
    return Tool(
        name,
        row["action"],
        tuple((_read_when(item["when"]), item["action"]) for item in row.get("actions", ())),
        tuple((_read_when(item["when"]), item["why"]) for item in row.get("refuse", ())),
        row.get("forbidden"),
        row["effect"],
        row["trust"],
        tuple(row.get("clears", ())),
        parameters,
        tuple(row.get("need_one_of", ())),
        result if isinstance(result, dict) else None,
        result if isinstance(result, str) else None,
        row.get("writes") == "unknown" or bool(row.get("access", {}).get("write")),
        int(cost.get("model_calls", 0)),
        int(cost.get("tokens", 0)),
        cost.get("money", 0),
        row,
        tuple(item for item in parameters if item.kind != "block"),
        next((item for item in parameters if item.kind == "block"), None),
        frozenset(
            when["program"].split(".")[0]
            for when in (
                *(item["when"] for item in row.get("actions", ())),
                *(item["when"] for item in row.get("refuse", ())),
            )
        ),
        left,
    )


def read_catalogue(
    paths: Iterable[str], read: Callable[[str], bytes | None], local: Iterable[Pack] = ()
) -> tuple[Catalogue, list[Diagnostic]]:
    """The shipped catalogues and those at `paths` (read by `read`; None: no such file), with what is wrong as FDC308.

    `local`: the packs of the workspace, whose catalogues are read like its own.
    """
    known, predicates, installed = _shipped()
    tools, rows, packs = dict(known), dict(predicates), dict(installed)
    findings: list[Diagnostic] = []
    shipped = frozenset(tools)
    owners: dict[str, str] = {}
    unsound: dict[str, int] = {}
    servers: dict[str, Any] = {}
    locked: dict[str, Any] = {}
    performed: dict[str, Any] = {}
    of_packs = {path: pack for pack in local for path in pack.catalogues}
    for path in (*paths, *of_packs):
        data = read(path)
        pack = of_packs.get(path)
        if data is None:
            if pack is not None:
                findings.append(_missing_catalogue(path, pack))
            continue
        document, broken = _check_catalogue(data, path, shipped, owners, findings)
        if document is not None:
            owners.update(dict.fromkeys(document["tools"], path))
            servers |= document.get("servers", {})
            locked |= document.get("locked", {}) if path == LOCK else {}
            performed |= {
                name: row for name, row in document["tools"].items() if "mcp" in row.get("run", ())
            }
            if pack is not None:
                packs.update(_pack_rows(document, pack))
            _add_rows(document, tools, rows)
        for kind, name in broken:
            if kind == "predicates":
                unsound[name] = ANY_NUMBER
            elif name not in tools:
                tools[name] = _broken_tool(name, _row_as_written(data, name))
    for message in unlocked(servers, locked, performed):
        span = Span(LOCK, 1, 1, 1, 1)
        findings.append(Diagnostic(span, "FDC308", message, help="run `fdc tools lock`"))
    counts = {name: len(row["parameters"]) for name, row in rows.items()}
    return Catalogue(tools, {**unsound, **counts}, rows, packs), findings


def _missing_catalogue(path: str, pack: Pack) -> Diagnostic:
    place = f"{PREFIX}{pack.name}/{FILE}"
    return Diagnostic(Span(place, 1, 1, 1, 1), "FDC308", f"the catalogue `{path}` does not exist")


def _pack_rows(document: dict[str, Any], pack: Pack) -> Iterator[tuple[tuple[str, str], str]]:
    """The pack of each row in the catalogue of a workspace's pack. Rows whose function `pack.toml` names also get a `run` entry:
    that Python function, called with the step's `context`."""
    for kind, functions in (("tools", pack.tools), ("predicates", pack.predicates)):
        for name, row in document.get(kind, {}).items():
            yield (kind, name), pack.name
            if name in functions and "run" not in row:
                function = functions[name]
                row["run"] = {"python": f"{function.module}:{function.function}", "context": True}


@lru_cache(maxsize=1)
def _shipped() -> tuple[dict[str, Tool], dict[str, forms.Predicate], Mapping[tuple[str, str], str]]:
    """The tools and the predicates of the shipped catalogues, and of which pack each is; read once in a process.

    Of two rows of one name the first counts: a pack takes no name of the core's.
    """
    tools: dict[str, Tool] = {}
    rows: dict[str, forms.Predicate] = {}
    packs: dict[tuple[str, str], str] = {}
    for name in catalogues():
        shipped_document = document(name)
        for kind, known in (("tools", tools), ("predicates", rows)):
            shipped_document[kind] = {
                key: row for key, row in shipped_document[kind].items() if key not in known
            }
            if name.startswith(PREFIX):
                pack = name.removeprefix(PREFIX).partition("/")[0]
                packs.update(((kind, key), pack) for key in shipped_document[kind])
        _add_rows(shipped_document, tools, rows)
    return tools, rows, MappingProxyType(packs)


def catalogues() -> tuple[str, ...]:
    """The names of the shipped catalogues: the core's and those of packs."""
    return (CORE, *index().catalogues)


def document(name: str) -> dict[str, dict[str, dict[str, object]]]:
    """A shipped catalogue; of a pack that others made, its valid rows (`fdc doctor` reports the rest)."""
    data = shipped.read(name) or b""
    content: dict[str, Any] | None
    if name == CORE or name in index().ours:
        content = json.loads(data)
    else:
        content, _ = _check_catalogue(data, name, frozenset(), {}, [])
    return {"tools": {}, "predicates": {}, **(content or {})}


def _row_as_written(data: bytes, name: str) -> dict[str, Any]:
    """The row of a tool as it is written, not checked."""
    row = json.loads(data.decode("utf-8-sig"))["tools"].get(name)
    return row if isinstance(row, dict) else {}


def _broken_tool(name: str, row: dict[str, Any]) -> Tool:
    """A tool whose row is invalid: only its name and its action are known."""
    action = row.get("action")
    minimal_row: ToolRow = {
        "action": action if isinstance(action, str) else None,
        "parameters": [],
        "effect": "once",
        "trust": "trusted",
    }
    return tool_of(name, minimal_row)._replace(broken=True)


def _add_rows(
    document: dict[str, Any], tools: dict[str, Tool], rows: dict[str, forms.Predicate]
) -> None:
    for name, row in document["tools"].items():
        tools[name] = tool_of(name, row)
    for name, row in document.get("predicates", {}).items():
        rows[name] = row


def _check_catalogue(
    data: bytes,
    path: str,
    shipped: frozenset[str],
    owners: dict[str, str],
    findings: list[Diagnostic],
) -> tuple[dict[str, Any] | None, Iterable[tuple[str, str]]]:
    """The document without its invalid rows (None: nothing in it can be used), and the names of those rows.

    That a content is valid is cached, if no other catalogue of the workspace came before it.
    """
    import hashlib

    schema = resources.read("grammar/catalogue.schema.json")
    names = "\0".join(sorted(shipped)).encode()
    key = (
        "catalogue-"
        + hashlib.blake2b(b"\1".join((schema, names, data)), digest_size=16).hexdigest()
    )
    if not owners and cachedir.load(key) == "ok":
        document: dict[str, Any] = json.loads(data.decode("utf-8-sig"))
        return document, ()
    from .catalogue_check import examined

    wrong, broken = examined(data, path, shipped, owners)
    findings += wrong
    if broken is None:
        return None, ()
    document = json.loads(data.decode("utf-8-sig"))
    for kind, name in broken:
        document[kind].pop(name, None)
    if not wrong:
        cachedir.store(key, "ok")
    return document, sorted(broken)
