"""Reasoning about searches: what to ask, which tool to use, what the recommendation was. Pure; nothing is searched here."""

from __future__ import annotations

from typing import Any

from .names import generate_file_name
from .statements import content, names, quoted

TOOLS = ("WebSearch", "CodebaseGrep", "FileSearch", "WriteFile", "CreateDirectory", "ReadFile")
"""Every tool that UseTool knows (LGTM-36)."""
QUERIES = 6
LINES = 6
"""Lines of a file that an agent wants read."""
AGAINST = ("obsolete", "unused", "refuses", "untested", "elsewhere")
"""Kinds of find that count against a definition, whatever words they have."""


def queries(question: str) -> dict[str, Any]:
    """The first queries: the question itself, and each name in it."""
    return {"queries": [question, *(f"`{name}`" for name in names(question))][:QUERIES]}


def recommend(purpose: str, queries: Any, tools: Any) -> dict[str, Any]:
    """AgentStep without a model: the first of the tools that fits, with the queries. It recommends and does nothing (LGTM-33)."""
    asked = _queries(queries)
    offered = tools.get("tools", []) if isinstance(tools, dict) else str(tools).split(",")
    fitting = [one for one in offered if one in TOOLS]
    if not asked or not fitting:
        return {"say": "There is nothing to look for.", "tool": "", "args": {"queries": []}}
    tool = fitting[0]
    wanted = (
        [f"`{name}`" for one in asked for name in names(one)] if tool == "CodebaseGrep" else asked
    )
    args: dict[str, Any] = {"queries": list(dict.fromkeys(wanted))[:QUERIES]}
    if purpose == "falsification":
        args["contradicting"] = True
    return {"say": f"{tool} looks for that.", "tool": tool, "args": args}


def tool_use(result: Any, tools: str = "") -> dict[str, Any]:
    """The call that an AgentStep recommends, or none (LGTM-34). `tools`: those that may be called here, the others are
    ignored (LGTM-37).

    `tool` is empty for none; a malformed recommendation is none, and `warn` says so. A name that is no tool is kept:
    whoever calls it says that there is no such tool (LGTM-35).
    """
    none = {
        "tool": "",
        "queries": [],
        "contradicting": False,
        "path": "",
        "content": "",
        "warn": "",
        "agent": result,
    }
    if not isinstance(result, dict) or "failed" in result:
        return {
            **none,
            "warn": "the agent's answer cannot be used; it is taken for no recommendation",
        }
    tool, args = result.get("tool"), result.get("args")
    if tool in (None, ""):
        return none
    asked = (
        [str(one).strip() for one in args.get("queries") or ()] if isinstance(args, dict) else []
    )
    asked = [one[:300] for one in asked if one][:QUERIES]
    path = args.get("path") if isinstance(args, dict) else None
    searching = tool in ("WebSearch", "CodebaseGrep", "FileSearch")
    if not isinstance(tool, str) or not isinstance(args, dict) or (searching and not asked):
        return {**none, "warn": "the recommendation is malformed; it is taken for none"}
    if tools and tool not in tools.split(","):
        return {
            **none,
            "warn": f"`{tool[:40]}` may not be used here; the recommendation is ignored",
        }
    given = {
        "queries": asked,
        "contradicting": args.get("contradicting") is True,
        "path": str(path or ""),
    }
    return {**none, **given, "tool": tool, "content": str(args.get("content") or "")}


def targets(hypothesis: dict[str, Any]) -> dict[str, Any]:
    """What of a hypothesis could be wrong: its statement and its first assumptions (LGTM-10)."""
    rows = [f"Statement: {hypothesis['statement']}"]
    rows += [f"Assumption {row['id']}: {row['statement']}" for row in hypothesis["keyAssumptions"]
             if row["statement"] != hypothesis["statement"]][:3]  # fmt: skip
    return {
        "targets": [
            {"targetID": f"T{number:02d}", "targetDescription": row}
            for number, row in enumerate(rows, 1)
        ]
    }


def falsifying(targets: dict[str, Any]) -> dict[str, Any]:
    """Queries that would find what speaks against each target, without a model: its names and its words.

    Whoever looks for them knows that they are meant `contradicting`.
    """
    rows = []
    for row in targets["targets"]:
        said = quoted(row["targetDescription"].partition(": ")[2])
        found = names(row["targetDescription"])[:1]
        core = " ".join([*(f"`{name}`" for name in found), said])[:160]
        rows.append({"targetID": row["targetID"], "queries": [core]})
    return {"queries": rows}


def queries_by_target(answer: Any, targets: dict[str, Any]) -> dict[str, Any]:
    """Queries of each target; none where the answer has none, and unknown targets are dropped with a warning (LGTM-65, 66)."""
    ids = [row["targetID"] for row in targets["targets"]]
    rows = answer.get("queries") if isinstance(answer, dict) and "failed" not in answer else None
    warn = (
        ""
        if isinstance(rows, list)
        else "the queries cannot be read; every target is judged by what is there"
    )
    found: dict[str, list[str]] = {ident: [] for ident in ids}
    for row in rows if isinstance(rows, list) else ():
        if row["targetID"] in found:
            found[row["targetID"]] += [str(one) for one in row["queries"]][:QUERIES]
        else:
            warn = f"queries for {str(row['targetID'])[:20]}, which is no target, were dropped"
    every = list(dict.fromkeys(one for rows in found.values() for one in rows))
    return {"by_target": found, "queries": every[:12], "count": len(every), "warn": warn}


def relevant(description: str, evidence: list[Any]) -> list[dict[str, Any]]:
    """The evidence that bears on a target (LGTM-67): it is about what that names, or shares words with it."""
    wanted, named = content(description), {name.rpartition(".")[2] for name in names(description)}
    return [
        row for row in evidence
        if (row["stub"].get("kind") in AGAINST and str(row["stub"].get("subject", "")).rpartition(".")[2] in named)
        or len(wanted & content(str(row["stub"].get("quote", "")))) >= 2
    ]  # fmt: skip


def first_lines(text: Any, path: str) -> dict[str, Any]:
    """The first lines of a file that say something, as finds with their places."""
    lines = text.split("\n") if isinstance(text, str) else []
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        quote = " ".join(line.split())
        if len(rows) < LINES and len(quote.split()) > 3 and len(quote) <= 600:
            rows.append({
                "source": f"{path}:{number}", "path": path, "line": number, "quote": quote, "note": f"A line of `{path}`",
                "title": f"{path}, text", "kind": "text", "subject": "", "home": "", "score": 0.5, "confidence": 0.6,
                "snippet": "\n".join(lines[max(0, number - 2) : number + 3]),
            })  # fmt: skip
    return {"rows": rows, "count": len(rows), "tool": "ReadFile"}


def _queries(value: Any) -> list[str]:
    for key in ("queries", "questions"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return [str(one) for one in value[key]]
    return []


def note(owner: str) -> dict[str, str]:
    """Where what an agent wants written goes, whatever path it names: into the run folder, under a name of ours."""
    return {
        "file": "notes/" + generate_file_name("note", owner, "agent", "md"),
        "folder": f"notes/{owner}",
    }
