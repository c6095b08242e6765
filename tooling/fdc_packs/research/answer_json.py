"""What a research run found, as JSON for programs, from what the tools of its plan returned. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.text import narrow

if TYPE_CHECKING:
    from fdc_toolchain.api.commands import Ended


def _of(results: Mapping[str, object], tool: str) -> dict[str, Any]:
    return narrow(results.get(tool) or {}, dict)


def web_of(results: Mapping[str, object]) -> dict[str, object]:
    """What was searched and read on the web."""
    found = _of(results, "join_pages").get("web")
    return found if isinstance(found, dict) else {}


def skips(results: Mapping[str, object]) -> list[tuple[str, str]]:
    """The files that were not read, and why."""
    scan = _of(results, "scan_documents")
    return [(str(row["path"]), str(row["reason"])) for row in scan.get("skipped", ())]


def trust_of(findings: Sequence[Mapping[str, object]], web: Mapping[str, object]) -> str:
    """How far all of it can be trusted: as far as the least of it, and no further than a page that was read."""
    labels = {row.get("trust") for row in findings}
    if web.get("pages") or labels - {"workspace", "model"}:
        return "untrusted"
    return "model" if "model" in labels else "workspace"


def as_json(
    question: str, ended: Ended, results: Mapping[str, object], target: str, run: str | None
) -> dict[str, object]:
    """All of a run that a program may want to know."""
    done, scan = _of(results, "synthesise"), _of(results, "scan_documents")
    evidence = _of(results, "check_citations")
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
        "missing": _of(results, "scope_question").get("missing", []),
        "documents": scan.get("documents", 0),
        "skipped": scan.get("skipped_count", 0),
        "web": web_of(results),
        "report": target if ended.status == "finished" else None,
        "run": run,
    }
