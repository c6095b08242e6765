"""Facts of a tool's declaration, as text and as data: parameters, result, effect, needs, failures, cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..linking.catalogue import Parameter, Tool
from ..linking.own_row import sandboxed
from ..named_tuples import NamedTuple
from ..program.model import ToolRow

if TYPE_CHECKING:
    from ..certificate.forms.rows import Predicate

EFFECTS = {
    "pure": "it computes a value and changes nothing; a lost step is repeated",
    "read": "it reads and changes nothing; a lost step is repeated",
    "idempotent": "it changes something; a lost step is repeated with the same key",
    "once": "it changes something; for a lost step, fdc checks whether it happened, or asks a person",
}
TRUST = {
    "trusted": "the result is made by the tool",
    "workspace": "the result comes from the workspace",
    "model": "the result is a model's output",
    "untrusted": "the result comes from outside, like a web page",
}
FORMS = {
    "pattern": "a regular expression",
    "filled": "more than white space",
    "count": "a number from 1",
    "list": "a list",
    "object": "an object",
    "sections": "SEARCH and REPLACE sections",
}
"""The required content of a value, by the form of its parameter."""

SINKS = {
    "command": "chooses a command",
    "path": "chooses a file",
    "url": "chooses an address",
    "message": "is sent to others",
    "change": "chooses what is changed",
    "plan": "chooses a plan that is run, or its inputs",
    "user": "is shown to the user",
    "data": "chooses nothing",
}
ACCESS = {
    "read": "the file is read",
    "create": "the file is created and must not exist",
    "write": "the file is written, new or not",
    "edit": "the file is changed and must exist",
    "delete": "the file is deleted",
}
NEEDS = {
    "sandbox": "a sandbox",
    "git": "the program `git`",
    "bash": "the program `bash`",
    "model": "a model (`--model NAME` or FDC_MODEL)",
    "web": "the web (`--allow-network` or FDC_ALLOW_WEB=1)",
    "search": "a search provider",
    "pages": "the packages that fetch pages",
    "rerank": "a reranker",
    "network": "the network (`--allow-network` or FDC_ALLOW_NETWORK=1)",
    "nobody": "an implementation, which does not exist: its steps always fail",
}
OF_ACCESS = {
    "read": {"missing", "encoding", "size", "secret"},
    "create": {"exists", "protected"},
    "write": {"protected"},
    "edit": {"missing", "protected", "encoding", "size"},
    "delete": {"missing", "protected"},
    "list": {"missing"},
}
OF_NEED = {
    "sandbox": {"sandbox", "timeout", "spent"},
    "git": {"git"},
    "bash": {"sandbox", "timeout", "spent", "protected", "limit", "size", "unavailable"},
    "model": {"model", "refusal", "reply", "budget"},
    "web": {
        "net",
        "http",
        "url",
        "address",
        "redirect",
        "robots",
        "timeout",
        "size",
        "unavailable",
    },
    "search": {"net", "http", "unavailable", "timeout"},
    "pages": {"unavailable"},
    "rerank": {"unavailable"},
    "nobody": {"unavailable"},
}

OF_TOOL = {
    "among": {"input"},
    "approve_plan": {"refused"},
    "code.apply": {"argument", "diff", "refused"},
    "code.test": {"settings"},
    "code.write": {"model"},
    "create_file_with_block": {"encoding"},
    "generate_code": {"tests", "answer"},
    "git_add": {"protected"},
    "git_commit": {"argument", "input"},
    "google_search": {"argument", "secret"},
    "grep": {"size", "timeout"},
    "overwrite_file_with_block": {"encoding"},
    "read_web_page": {"secret", "unreadable"},
    "record_user_approval_for_plan": {"refused"},
    "reset_all": {"forbidden"},
    "run_in_bash_session": {"input"},
    "run_plan": {"argument", "plan", "outside", "unavailable", "spent", "stated"},
    "search_web": {"argument", "secret"},
    "view_image": {"unreadable"},
    "view_text_website": {"secret", "unreadable"},
}
"""What the functions of the core's tools refuse by themselves, which no declaration says."""


class Origin(NamedTuple):
    """The origin of tools: the core, a pack, or a catalogue of the workspace. `path`: the catalogue's file."""

    kind: str
    name: str
    path: str

    @property
    def title(self) -> str:
        """The heading in the list."""
        if self.kind == "workspace":
            return f"workspace ({self.path})"
        return "core" if self.kind == "core" else f"pack {self.name}"


class Listed(NamedTuple):
    """A tool, or a predicate of conditions (`tool` is None), with its declaration as written."""

    name: str
    origin: Origin
    row: ToolRow | Predicate
    tool: Tool | None

    def seen_with(self, packs: Collection[str]) -> bool:
        """Whether a plan that uses these packs can use it."""
        return self.origin.kind != "pack" or self.origin.name in packs


def summary(entry: Listed) -> str:
    """Its summary, in entry line."""
    if entry.tool is not None and entry.tool.broken:
        return "its declaration is invalid, so plans cannot use it"
    return str(entry.row.get("summary", ""))


_OF_PARAMETER = ("name", "kind", "required", "access", "sink", "form")


def described(entry: Listed) -> dict[str, object]:
    """A tool or a predicate for programs that read it."""
    out: dict[str, Any] = {
        "name": entry.name,
        "kind": "predicate" if entry.tool is None else "tool",
        "from": entry.origin._asdict(),
        "summary": summary(entry),
    }
    if entry.tool is None:
        return {**out, "parameters": list(entry.row["parameters"])}
    if entry.tool.broken:
        return {**out, "broken": True}
    tool, row = entry.tool, entry.row
    return {
        **out,
        "forbidden": tool.forbidden,
        "action": tool.action,
        "actions": row.get("actions", []),
        "parameters": [
            {fact: getattr(item, fact) for fact in _OF_PARAMETER} for item in tool.parameters
        ],
        "need_one_of": list(tool.need_one_of),
        "result": row.get("result"),
        "writes_unknown": tool.writes_unknown,
        "effect": tool.effect,
        "trust": tool.trust,
        "clears": list(tool.clears),
        "own": row.get("own", []),
        "failure": "value" if row.get("failure") == "value" else "stop",
        "failure_kinds": failure_kinds(tool),
        "needs": needs(tool),
        "cost": row.get("cost", {}),
        "limits": row.get("limits", {}),
        "approves": bool(row.get("approves")),
    }


def explained(entry: Listed) -> list[str]:
    """A tool or a predicate, for people."""
    lines = [f"{entry.name}: {summary(entry)}", f"from: {entry.origin.title}, {entry.origin.path}"]
    tool = entry.tool
    if tool is None:
        return [
            *lines,
            f"in a condition: {entry.name}({', '.join(map(str, entry.row['parameters']))})",
        ]
    if tool.broken:
        return [*lines, "`fdc lint` shows the error"]
    if tool.forbidden:
        return [*lines, f"forbidden: {tool.forbidden}"]
    lines += [f"in a plan: {_usage(tool)}", f"action: {tool.action or 'none'}"]
    if tool.parameters:
        lines.append("parameters:")
        lines += [f"  {item.name}: {'; '.join(_of(item, tool))}" for item in tool.parameters]
    if tool.need_one_of:
        lines.append(f"at least one of these is required: {', '.join(tool.need_one_of)}")
    lines.append(f"result: {_result(tool.row.get('result'))}")
    lines.append(f"effect: {tool.effect}: {EFFECTS[tool.effect]}")
    lines.append(f"trust: {tool.trust}: {TRUST[tool.trust]}")
    if tool.clears:
        lines.append(f"the result may choose, whatever was given: {', '.join(tool.clears)}")
    if "own" in tool.row:
        lines.append(f"parts of the result that its service makes: {', '.join(tool.row['own'])}")
    if "one_of" in tool.row.get("run", {}):
        lines.append(f"a model may ask for: {', '.join(tool.row['run']['one_of'])}")
    if tool.writes_unknown:
        lines.append("it may write files that its arguments do not name")
    ends = "is its result: {failed, why}" if tool.row.get("failure") == "value" else "stops the run"
    lines.append(f"a failure {ends}; its kinds: {', '.join(failure_kinds(tool)) or 'none'}")
    lines.append(f"needs: {', '.join(needs(tool)) or 'nothing'}")
    lines.append(f"cost: {_cost(tool.row.get('cost', {}))}")
    limits = tool.row.get("limits", {})
    if limits:
        lines.append(f"limits: {', '.join(f'{key} {value}' for key, value in limits.items())}")
    return lines


def _usage(tool: Tool) -> str:
    """The syntax of a step with the tool."""
    words = [item.name if item.required else f"[{item.name}]" for item in tool.inline]
    result = "[x <- ]" if tool.row.get("result") is not None else ""
    below = f", and {tool.block.name} as a block below" if tool.block is not None else ""
    return f"{result}{' '.join([tool.name, *words])}{below}"


def _of(item: Parameter, tool: Tool) -> list[str]:
    """The facts of a parameter."""
    out = [item.kind if item.required else f"{item.kind}, optional"]
    if item.access:
        out.append(ACCESS[item.access])
    if item.sink:
        out.append(SINKS[item.sink])
    elif tool.effect == "pure" or "prompt" in tool.row.get("run", {}):
        out.append("the tool converts it to a text")
    else:
        out.append("may choose anything; takes no text from outside")
    if item.form in FORMS:
        out.append(FORMS[item.form])
    return out


def _result(declared: Any) -> str:
    if isinstance(declared, dict):
        return "{" + ", ".join(f"{key}: {value}" for key, value in declared.items()) + "}"
    return "none" if declared is None else str(declared)


def _cost(cost: Mapping[str, object]) -> str:
    words = [
        "all the money that is left" if key == "money" and value == "left"
        else f"all {key.replace('_', ' ')} that are left" if value == "left"
        else f"{value} of money" if key == "money"
        else f"{value:,} {key.replace('_', ' ')}"
        for key, value in cost.items()
        if value
    ]  # fmt: skip
    return f"at most {', '.join(words)} a step" if words else "none"


def needs(tool: Tool) -> list[str]:
    """What a step with the tool requires of the machine or its operator."""
    from ..tools import tool_rows
    from ..tools.own_code import is_own

    run = tool.row.get("run", {})
    if "prompt" in run:
        if "embedded" not in run:
            return [NEEDS["model"]]
        return [f"{NEEDS['model']}; without one, `{run['embedded']}` answers"]
    if sandboxed(tool.row):
        if "python" in run and is_own(run["python"]):
            return []
        net = [NEEDS["network"]] if tool.row.get("access", {}).get("net") else []
        return [NEEDS["sandbox"], *net]
    out = []
    row = tool_rows.tool(tool.name)
    for need in row.needs if row is not None else ():
        if isinstance(need, str):
            out.append(NEEDS[need])
        else:
            out.append(f"{NEEDS[need.what]} where {need.parameter} is {' or '.join(need.values)}")
    return out


def failure_kinds(tool: Tool) -> list[str]:
    """The kinds of failures of a tool, by its declaration and its function, in the order of `program.causes.FAILURES`."""
    from ..program.causes import FAILURES
    from ..tools import tool_rows

    found: set[str] = set()
    for item in tool.parameters:
        if item.access or item.kind in ("path", "glob"):
            found |= {"path", "file", "capability"} | OF_ACCESS[item.access or "list"]
        if item.form == "sections":
            found |= {"diff", "encoding"}
        if item.text or item.form:
            found.add("type")
    run = tool.row.get("run", {})
    if "prompt" in run:
        found |= {"model", "refusal", "reply", "prompt", "budget"}
    elif "python" in run:
        found |= {"error", "result", "timeout", "spent", "sandbox", "protected", "limit"}
    elif "mcp" in run:
        found |= {
            "argument",
            "changed",
            "error",
            "tool",
            "result",
            "timeout",
            "spent",
            "sandbox",
            "unavailable",
        }
    elif "command" in run:
        found |= {
            "argument",
            "exit",
            "limit",
            "protected",
            "result",
            "timeout",
            "spent",
            "sandbox",
            "encoding",
            "size",
            "unavailable",
        }
    row = tool_rows.tool(tool.name)
    for need in row.needs if row is not None else ():
        found |= OF_NEED.get(need if isinstance(need, str) else need.what, set())
    found |= OF_TOOL.get(tool.name, set())
    if "command" in (item.sink for item in tool.parameters):
        found.add("exit")
    return [kind for kind in FAILURES if kind in found]
