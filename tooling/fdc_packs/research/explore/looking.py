"""What an agent on a track asks for, turn by turn, where no model is configured; and what of its turns is evidence. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fdc_toolchain.api.text import narrow

PLACES, HITS, BODIES = 24, 24, 20
"""The most places of the ranking, lines of other searches, and stretches of files, that are handed on as evidence."""


def turn(
    question: str, track: Mapping[str, object], context: object, seen: Sequence[object]
) -> dict[str, object]:
    """The rules: the places that the track's approach finds; when they are there, no more."""
    calls = [] if seen else [{"tool": "track_places", "args": {}}]
    return {"done": not calls, "thought": str(track.get("focus", "")), "calls": calls}


def next_calls(turn: object) -> dict[str, object]:
    """What a turn asks for. One that failed, or asks for nothing, is the last."""
    turn = turn if isinstance(turn, dict) else {"failed": "no turn"}
    calls = turn.get("calls") if "failed" not in turn else []
    kept = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return {"done": not kept or turn.get("done") is True, "calls": kept}


def brought(seen: object) -> Iterator[tuple[str, dict[str, object], object]]:
    """What the calls of all turns brought, in their order: the tool, its arguments, the result."""
    for found in seen if isinstance(seen, list) else ():
        for one in found if isinstance(found, list) else ():
            if isinstance(one, dict) and "got" in one and isinstance(one.get("call"), dict):
                yield str(one["call"].get("tool")), one["call"].get("args") or {}, one["got"]


def places(seen: object) -> tuple[list[dict[str, object]], int, Counter[str]]:
    """The lines that were found, each once; how many there were; how many in which file."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    ranked, hits, of = 0, 0, 0
    spread = Counter[str]()
    for tool, args, got in brought(seen):
        if tool in ("track_places", "code_references"):
            got = narrow(got, dict)
            of = max(of, int(got["of"]))
            spread |= Counter(got.get("spread") or ())
            for row in got["places"]:
                if (row["path"], row["line"]) not in rows and ranked < PLACES:
                    rows[row["path"], row["line"]] = row
                    ranked += 1
        elif tool == "grep":
            for row in narrow(got, list):
                if (row["path"], row["line"]) not in rows and hits < HITS:
                    said = f"has `{str(args.get('pattern'))[:60]}`"
                    rows[row["path"], row["line"]] = {
                        "path": row["path"], "line": row["line"], "kind": "line", "subject": row["path"],
                        "home": "", "description": said, "score": 0.0, "said": "",
                    }  # fmt: skip
                    hits += 1
    return list(rows.values()), max(of, len(rows)), spread


def bodies(seen: object) -> list[dict[str, object]]:
    """The stretches of files that were read."""
    read = [
        {"path": str(args.get("path")), "first": int(got["first"]), "text": str(got["text"])}
        for args, got in [
            (args, narrow(got, dict)) for tool, args, got in brought(seen) if tool == "read_lines"
        ]
    ]
    return read[-BODIES:]
