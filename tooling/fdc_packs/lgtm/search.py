"""Reasoning about searches: what to ask, which tool to use, what the recommendation was. Pure; nothing is searched here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from .names import generate_file_name
from .statements import content, identifiers, names, plain_words, stem_of, words_missing

if TYPE_CHECKING:
    from .shapes.artifacts import Hypothesis, Targets
    from .shapes.found import Find, Found, Looked, TargetQueries

TOOLS = ("WebSearch", "CodebaseGrep", "FileSearch", "WriteFile", "CreateDirectory", "ReadFile")
"""Every tool that UseTool knows (LGTM-36)."""
QUERIES = 6
LINES = 80
"""Lines of a file that an agent wants read."""
AGAINST = ("obsolete", "unused", "refuses", "untested", "elsewhere")
"""Kinds of find that count against a definition, whatever words they have."""
NEWS = (*AGAINST, "body", "absent")
"""Kinds of find that say something new of a place that is known."""


_TO_DO = re.compile(
    r"\W*(?:please\s+)?(?:add|implement|introduce|provide|support|allow|enable|make|create|fix|change|update|improve|remove|drop)"
    r"\s+(?:(?:an?\s+|the\s+)?(?:support|option|way)\s+(?:for|to|of)\s+)?(?=.)",
    re.IGNORECASE,
)
"""How a task begins: what is to be done with the thing, and no word to look for."""


def queries(question: str) -> dict[str, list[str]]:
    """The first queries: the question itself, without the verb of a task, and each name in it.

    >>> queries("Add support for a CSV output of `Table`")
    {'queries': ['a CSV output of `Table`', '`Table`']}
    """
    return {
        "queries": [subject_of(question), *(f"`{name}`" for name in identifiers(question))][
            :QUERIES
        ]
    }


def subject_of(question: str) -> str:
    """A question without the verb of a task."""
    return question[found.end() :] if (found := _TO_DO.match(question)) else question


def recommend(
    purpose: str, queries: object, tools: object, seen: object = None
) -> dict[str, object]:
    """AgentStep without a model: the first of the tools that fits, with the queries, then with a word of the purpose that
    nothing found speaks of. It does nothing itself (LGTM-33)."""
    turns = seen if isinstance(seen, list) else []
    asked = _unsaid(purpose, turns) if turns else _queries(queries)
    offered = tools.get("tools", []) if isinstance(tools, dict) else str(tools).split(",")
    fitting = [one for one in offered if one in TOOLS]
    if not asked or not fitting:
        return {"say": "There is nothing to look for.", "tool": "", "args": {"queries": []}}
    tool = fitting[0]
    wanted = (
        [f"`{name}`" for one in asked for name in names(one)] if tool == "CodebaseGrep" else asked
    )
    args = {"queries": list(dict.fromkeys(wanted))[:QUERIES]}
    return {"say": f"{tool} looks for that.", "tool": tool, "args": args}


def tool_use(
    result: object, tools: str = "", asked: Sequence[object] | None = None
) -> dict[str, object]:
    """The call that an AgentStep recommends, or none (LGTM-34). `tools`: those that may be called here, the others are
    ignored (LGTM-37).

    `tool` is empty for none, and where the same call is among those that were `asked` for before; a malformed recommendation is
    none, and `warn` says so. A name that is not a tool is kept:
    the caller it says that the tool does not exist (LGTM-35).
    """
    none = {
        "tool": "",
        "queries": [],
        "path": "",
        "first": 1,
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
    said = [str(one).strip() for one in args.get("queries") or ()] if isinstance(args, dict) else []
    queries = [one[:300] for one in said if one][:QUERIES]
    path = args.get("path") if isinstance(args, dict) else None
    searching = tool in ("WebSearch", "CodebaseGrep", "FileSearch")
    if not isinstance(tool, str) or not isinstance(args, dict) or (searching and not queries):
        return {**none, "warn": "the recommendation is malformed; it is taken for none"}
    if tools and tool not in tools.split(","):
        return {
            **none,
            "warn": f"`{tool[:40]}` may not be used here; the recommendation is ignored",
        }
    content = str(args.get("content") or "")
    first = args.get("first") if isinstance(args.get("first"), int) else 1
    call = {
        "tool": tool,
        "queries": queries,
        "path": str(path or ""),
        "first": first,
        "content": content,
    }
    before = [{key: row.get(key) for key in call} for row in asked or () if isinstance(row, dict)]
    return none if call in before else {**none, **call}


FIRST = 6
"""So many finds of a first search are kept where there is a second one."""
BESIDE = 1
"""Words before and behind a missing one that its search has with it."""


def _unsaid(purpose: str, turns: list[Any]) -> list[str]:
    """The rarest word of a purpose that files have and no find has, with the words beside it; none where there is none."""
    found = [one for one in turns if isinstance(one, dict)]
    told = " ".join(
        str(row.get("quote")) for one in found for row in (one.get("rows") or ())[:FIRST]
    )
    words = [word for word in plain_words(subject_of(purpose)) if content(word)]
    missing = {stem_of(word.lower()): word for word in words_missing(" ".join(words), told)}
    rare = [stem_of(word) for one in found[:1] for word in one.get("words") or ()]
    at = next((words.index(missing[one]) for one in rare if one in missing), None)
    beside = (
        () if at is None else (at, *range(max(0, at - BESIDE), at), *range(at + 1, at + 1 + BESIDE))
    )
    return [" ".join(words[one] for one in beside if one < len(words))] if beside else []


def looked(asked: Sequence[Mapping[str, object]], seen: Sequence[object]) -> Looked:
    """What the turns of an agent brought: each find once, the best of every turn first, because not all are kept, and of
    the first turn twice as many; and the warnings of its calls in their order (LGTM-45)."""
    turns: list[list[dict[str, object]]] = []
    warns: list[str] = []
    for request, found in zip(asked, seen):
        found = found if isinstance(found, dict) else {}
        warns += [
            warn for one in (request, found) if isinstance(warn := one.get("warn"), str) and warn
        ]
        turns.append([row for row in found.get("rows") or () if isinstance(row, dict)])
    first = turns[:1] and [turns[0][::2], turns[0][1::2]]
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for rank in zip_longest(*first, *turns[1:]):
        for row in filter(None, rank):
            rows.setdefault((str(row.get("source")), str(row.get("kind"))), row)
    return {"rows": list(rows.values()), "count": len(rows), "tool": "", "warns": warns}


def targets(hypothesis: Hypothesis) -> Targets:
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


def queries_by_target(answer: object, targets: Targets) -> TargetQueries:
    """Queries of each target, and the call that they recommend; none where the answer has none. Unknown targets are dropped
    with a warning (LGTM-34, 65, 66)."""
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
            warn = f"queries for {str(row['targetID'])[:20]}, which is not a target, were dropped"
    every = list(dict.fromkeys(one for rows in found.values() for one in rows))[:QUERIES]
    tool = str(answer.get("tool") or "FileSearch") if isinstance(answer, dict) and every else ""
    return {"by_target": found, "queries": every, "count": len(every), "warn": warn, "tool": tool,
            "args": {"queries": every}}  # fmt: skip


def first_lines(text: object, path: str, first: int = 1) -> Found:
    """A file that an agent wanted read, as one find: its lines from `first` on, and the first that says something, quoted."""
    lines = text.split("\n") if isinstance(text, str) else []
    first = max(1, int(first))
    telling = (at for at, line in enumerate(lines, 1) if at >= first and len(line.split()) > 3)
    line = next(telling, 0)
    quote = " ".join(lines[line - 1].split())[:600] if line else ""
    row: Find = {
        "source": f"{path}:{line}", "path": path, "line": line, "quote": quote, "note": f"`{path}` from line {first}",
        "title": f"{path}, text", "kind": "text", "subject": "", "home": "", "score": 0.5, "confidence": 0.6,
        "snippet": numbered(lines, first, first + LINES - 1),
    }  # fmt: skip
    rows = [row] if line else []
    return {"rows": rows, "count": len(rows), "tool": "ReadFile"}


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Lines of a file with their numbers, as every piece of evidence shows them."""
    first, last = max(1, first), min(len(lines), last)
    return "\n".join(f"{at:>5} {lines[at - 1][:240].rstrip()}" for at in range(first, last + 1))


def _queries(value: Any) -> list[str]:
    for key in ("queries", "questions"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return [str(one) for one in value[key]]
    return []


def note(owner: str, seen: Sequence[object] | None = None) -> dict[str, str]:
    """Where what an agent wants written goes, whatever path it names: into the run folder, under a name of ours; one more for
    each turn."""
    owner = f"{owner}_{len(seen) + 1}" if seen else owner
    return {
        "file": "notes/" + generate_file_name("note", owner, "agent", "md"),
        "folder": f"notes/{owner}",
    }
