"""What a research run found, as JSON for programs, from what the tools of its plan returned. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdc_toolchain.api.commands import Ended


def web_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """What was searched and read on the web."""
    found = (results.get("join_pages") or {}).get("web")
    return found if isinstance(found, dict) else {}


def skips(results: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The files that were not read, and why."""
    scan = results.get("scan_documents") or {}
    return [(str(row["path"]), str(row["reason"])) for row in scan.get("skipped", ())]


def trust_of(findings: Sequence[Mapping[str, object]], web: Mapping[str, object]) -> str:
    """How far all of it can be trusted: as far as the least of it, and no further than a page that was read."""
    labels = {row.get("trust") for row in findings}
    if web.get("pages") or labels - {"workspace", "model"}:
        return "untrusted"
    return "model" if "model" in labels else "workspace"


def as_json(
    question: str, ended: Ended, results: Mapping[str, Any], target: str, run: str | None
) -> dict[str, Any]:
    """All of a run that a program may want to know."""
    done = results.get("synthesise") or {}
    scan = results.get("scan_documents") or {}
    evidence = results.get("check_citations") or {}
    return {
        "format": 1,
        "question": question,
        "status": ended.status,
        "stop": ended.stop["kind"] if ended.stop is not None else None,
        "why": ended.stop["message"] if ended.stop is not None else ended.message,
        "answer": [line for line in str(done.get("answer", "")).split("\n") if line],
        "findings": done.get("findings", []),
        "trust": trust_of(done.get("findings", []), web_of(results)),
        "note": done.get("note", ""),
        "citations": evidence.get("citations", []),
        "checked": done.get("checked", 0),
        "held": done.get("held", 0),
        "missing": (results.get("scope_question") or {}).get("missing", []),
        "documents": scan.get("documents", 0),
        "skipped": scan.get("skipped_count", 0),
        "web": web_of(results),
        "report": target if ended.status == "finished" else None,
        "run": run,
    }
