"""The forms of rows of a catalogue, as `grammar/catalogue.schema.json` defines them, for the reader and for mypy."""

from __future__ import annotations

from typing import NotRequired, Required, TypedDict


class Parameter(TypedDict):
    """A parameter of a tool."""

    name: str
    kind: str
    access: NotRequired[str]
    sink: NotRequired[str]
    type: NotRequired[str]
    required: NotRequired[bool]


class Mcp(TypedDict):
    """A tool of an MCP server, as `fdc tools lock` writes it."""

    server: str
    tool: str
    schema: str
    says: str
    command: list[str]
    names: NotRequired[dict[str, str]]
    json: NotRequired[list[str]]


class Run(TypedDict, total=False):
    """How a tool or a predicate that is not the core's is performed: it has `python`, `command`, `mcp`, `one_of` or `prompt`."""

    python: str
    context: bool
    command: list[str]
    mcp: Mcp
    one_of: list[str]
    most: int
    prompt: str
    role: str
    schema: str
    calls: str
    temperature: str
    embedded: str
    texts: dict[str, str]


class Predicate(TypedDict):
    """A predicate's row of the catalogue."""

    parameters: list[str]
    run: NotRequired[Run]


class When(TypedDict):
    """Which commands a row speaks of."""

    parameter: str
    program: str
    subcommand: NotRequired[str]


class Symbol(TypedDict):
    """The symbol of the commands that fit."""

    when: When
    action: str | None


class Refusal(TypedDict):
    """Why no plan may have the commands that fit."""

    when: When
    why: str


class Tool(TypedDict, total=False):
    """A tool's row of the catalogue."""

    effect: Required[str]
    trust: Required[str]
    parameters: Required[list[Parameter]]
    writes: str
    reads: str
    shares: str
    failure: str
    access: dict[str, list[str]]
    run: Run
    result: str | dict[str, str]
    own: list[str]
    clears: list[str]
    approves: bool
    cost: dict[str, float | str]
    limits: dict[str, float]
    summary: str
    action: str | None
    forbidden: str
    actions: list[Symbol]
    refuse: list[Refusal]
    need_one_of: list[str]
    creates: str
    repeatable: bool


class Server(TypedDict):
    """An MCP server as a catalogue declares it."""

    command: list[str]
    access: NotRequired[dict[str, list[str]]]
    tools: NotRequired[dict[str, Tool]]


class Offer(TypedDict):
    """A tool as its server says it; `inputSchema` is a JSON Schema."""

    name: str
    description: NotRequired[str]
    inputSchema: NotRequired[dict[str, object]]
    outputSchema: NotRequired[dict[str, object]]
    annotations: NotRequired[dict[str, object]]
