"""Why a run stopped, as one of a closed list of causes (docs/verdicts.md).

Two tables: the engine's kinds of stops, and the kinds of failures that the tools of fdc declare. A test reads the
sources for kinds without a row. A tool of a workspace may have a word of its own: that is a failure of the world.
"""

from __future__ import annotations

from collections.abc import Mapping

from .model import Program

CAUSES = (
    "gate",
    "person",
    "budget",
    "limit",
    "rule",
    "world",
    "assumption",
    "bug",
    "unproved",
    "unknown",
)
"""`unproved`: no assumption of the proof explains the stop, so the proof was wrong. `unknown`: the program is of 0.1.0."""

STOPS: dict[str, str] = {
    "require": "gate",
    "failure": "",  # what the tool's failure says
    "value": "assumption",
    "bound": "limit",
    "budget": "budget",
    "plan_budget": "budget",
    "overrun": "assumption",
    "stalled": "limit",
    "rule": "rule",
    "bug": "bug",
}
"""By kind of a stop (`engine.events.Stop`): its cause."""

FAILURES: dict[str, str] = {
    # what the proof forbids, unless an assumption was false
    **dict.fromkeys(
        ("missing", "exists", "path", "file", "protected", "encoding", "diff", "changed", "shared"),
        "assumption",
    ),
    **dict.fromkeys(("capability", "argument", "type", "result"), "assumption"),
    **dict.fromkeys(
        ("unavailable", "sandbox", "url", "address", "forbidden", "secret"), "assumption"
    ),
    # the person who was asked
    **dict.fromkeys(("answer", "refused"), "person"),
    # a number that was set
    **dict.fromkeys(("timeout", "size", "limit"), "limit"),
    # the operating system, the network, servers and models, commands, and what tools declare of themselves
    **dict.fromkeys(
        (
            "world",
            "busy",
            "lock",
            "net",
            "http",
            "redirect",
            "robots",
            "reply",
            "error",
            "unreadable",
        ),
        "world",
    ),
    **dict.fromkeys(("model", "refusal"), "world"),
    **dict.fromkeys(("budget", "spent", "stated"), "budget"),
    **dict.fromkeys(
        (
            "git",
            "tests",
            "exit",
            "tool",
            "input",
            "prompt",
            "pipeline",
            "staged",
            "simulation",
            "plan",
            "outside",
            "settings",
        ),
        "world",
    ),
}
"""By kind of a tool's failure (`workspace.failure.ToolFailure`): its cause. `shared` is the engine's: two branches of a fork name
one file."""

FINAL = frozenset(("changed", "outside", "spent", "stated"))
"""Failures that stop the run wherever they are met: of a file that is not as it was proved, where text from outside decided
that a plan within a step fails, and where the seconds of a budget ended it: the run's (`spent`), or one that a plan within
states itself (`stated`). What follows may not depend on them."""

LARGER = "`--budget` does not raise it: write a larger `budget` into that plan, and begin a new run"
"""What helps where the budget of a called plan is used up."""

FILES = frozenset(("missing", "exists", "path", "file", "protected", "encoding", "diff", "changed"))
"""Failures that can be caused by another process that changes the files meanwhile."""

EXPLAINS: dict[str, frozenset[str]] = {
    "unproved-file": frozenset(("missing", "path", "file", "encoding")),
    "kept-file": FILES,
    "inside-workspace": frozenset(
        ("path", "protected", "capability", "missing", "exists", "file", "encoding")
    ),
    "fitting-diff": frozenset(("diff",)),
    "distinct-items": frozenset(("missing", "exists", "file", "path", "shared")),
    "result-shape": frozenset(("argument", "type", "value", "size")),
    "program-present": frozenset(("exit", "tool", "unavailable")),
    "shipped-automaton": frozenset(),
    "opened-file": frozenset(),  # it is asked for, and a no is a person's
    "allowed-error": frozenset(
        ("capability", "protected", "path", "url", "address", "argument", "type")
    ),
}
"""By rule of an assumption: the failures that it explains where it is false. `value` stands for the stop of that kind."""

ALONE = (
    "no other process changes the files that the plan uses while it runs, tools of the workspace, of packs and of "
    "servers change what their rows declare, and no command, tool or computed path changes the code of a later tool"
)
"""An assumption of every proof. It is checked when a file is used."""

ROWS = "tools of the workspace, of packs and of servers take and return what their rows declare"
"""An assumption of every proof about tools that are not the core's. It is checked when such a tool is called and has ended; that
an argument has the type in its row (`type`) is proved."""

FORM = "the files that steps read as text are UTF-8"
"""An assumption of every proof. It is checked when a file is read."""

REGULAR = (
    "where the plan writes a file there is no folder and no second name of it, and no link or file on its way, "
    "and its path is not too long; and where a command only reads data after text from outside there is no link"
)
"""An assumption of every proof about paths that are written, where no file has to exist, and those that commands follow."""

OBEYED = (
    "commands and tools of the workspace make nothing that is protected, and no path that is made of the names of files "
    "is one that is"
)
"""An assumption of every proof. It is checked when they have ended."""

GRANTED = (
    "this machine and its operator give what the plan needs: network, model, sandbox, packages"
)
"""The last assumption of every proof; it is checked before the first step, as far as it can be."""

_GRANTED = frozenset(("unavailable", "sandbox", "url", "address", "forbidden", "secret"))


def explain(program: Program, stop: Mapping[str, object]) -> dict[str, object]:
    """The cause of a stop: `kind` (one of CAUSES) and, of an assumption that was false, its `text` and place; of a budget its
    `measure`, and `of`: "plan" where a called plan states it, so that a larger budget of the run changes nothing.

    `stop` has `kind`, `path`, `line`, `failure` (the kind of the tool's failure, "" where no tool failed) and `core` (false
    where a tool or predicate failed that is not the core's).
    """
    kind = STOPS[str(stop["kind"])] or FAILURES.get(str(stop.get("failure") or ""), "world")
    if kind == "budget":
        stated = "plan_budget" == stop["kind"] or "stated" == stop.get("failure")
        named = {"measure": stop["measure"]} if stop.get("measure") else {}
        return {"kind": kind, **named, **({"of": "plan"} if stated else {})}
    if kind != "assumption":
        return {"kind": kind}
    if "assumptions" not in program:
        return {"kind": "unknown"}
    failure = stop.get("failure") or stop["kind"]
    at = [stop["path"], stop["line"]]
    rows = [
        row
        for row in program["assumptions"]
        if failure in EXPLAINS.get(row["rule"], ()) and at in row["uses"]
    ]
    each = dict.fromkeys(f"{row['text']} ({row['path']}:{row['line']})" for row in rows)
    if rows and failure == "argument" and not stop.get("core", True):
        each[ROWS] = None  # the tool may refuse what has the form that its row declares
    if len(each) > 1:  # which of them gave the value is not followed
        return {"kind": kind, "rule": rows[0]["rule"], "text": "one of these: " + "; ".join(each)}
    if rows:
        return {"kind": kind, **{key: rows[0][key] for key in ("rule", "text", "path", "line")}}
    if stop["kind"] == "overrun":
        return {
            "kind": kind,
            "rule": "usage",
            "text": "tools and models report no more use than they declare",
        }
    if failure == "encoding":
        return {"kind": kind, "rule": "form", "text": FORM}
    if failure in (
        "path",
        "file",
    ):  # of a literal path lint has looked, and a computed one has a row
        return {"kind": kind, "rule": "form", "text": REGULAR}
    if (
        failure == "protected"
    ):  # of a literal path lint says it, and of a computed one a row of the list
        return {"kind": kind, "rule": "obeyed", "text": OBEYED}
    if failure in FILES:
        return {"kind": kind, "rule": "alone", "text": ALONE}
    if failure in ("argument", "result") and not stop.get("core", True):
        return {"kind": kind, "rule": "rows", "text": ROWS}
    if failure in _GRANTED:
        return {"kind": kind, "rule": "granted", "text": GRANTED}
    return {"kind": "unproved"}
