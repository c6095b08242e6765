"""An audit as text, JSON or Markdown (FDC-101)."""

from __future__ import annotations

import os

from ... import durable
from ...diagnostics.plural import plural
from ...report.json_ import finding_json
from .audit import ADVICE, BROKEN, ENFORCED, Audit

TEMPLATE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "templates", "audit_report.md.j2"
)


def as_text(found: Audit) -> str:
    """The counts, a protocol a line, then the log; the findings are not in it."""
    lines = []
    names = _protocols(found)
    if names:
        width = max(map(len, names))
        lines.append(f"{'protocol':<{width}}  enforced  advice  broken")
        for name in names:
            counts = [found.count(state, name) for state in (ENFORCED, ADVICE, BROKEN)]
            lines.append(f"{name:<{width}}  {counts[0]:>8}  {counts[1]:>6}  {counts[2] or '-':>6}")
    return "".join(f"{line}\n" for line in (*lines, *summary(found)))


def summary(found: Audit) -> list[str]:
    """What the audit comes to, in at most three sentences."""
    rules, seen = len(found.rules), found.usage
    broken = found.count(BROKEN)
    idle = sum(item.code == "FDC539" for item in found.findings)
    lines = [
        f"{found.count(ENFORCED)} of {plural(rules, 'rule')} enforced, {found.count(ADVICE)} advice"
        + (f", {broken} call themselves enforced and are not" if broken else "")
        + (
            f"; {idle} of them apply to no step of the plans here (`--strict` lists them)"
            if idle
            else ""
        )
    ]
    if seen.entries or seen.damaged or seen.invalid:
        bad = len(seen.damaged) + len(seen.invalid)
        lines.append(
            f"log: {plural(seen.entries, 'entry', 'entries')} of {plural(seen.tasks, 'task')}, "
            f"{plural(seen.steps, 'step')}, {seen.cited} of them with evidence, {plural(seen.failures, 'failure')}"
            + (f"; {plural(bad, 'damaged line')} passed over" if bad else "")
        )
    else:
        lines.append("log: nothing is on record, since no task was started (`fdc start`)")
    return lines


def as_json(found: Audit) -> dict[str, object]:
    """All of it as plain values."""
    seen = found.usage
    return {
        "format": 1,
        "rules": {
            "enforced": found.count(ENFORCED),
            "advice": found.count(ADVICE),
            "broken": found.count(BROKEN),
            "each": [
                {"protocol": row.protocol, "rule": row.rule, "state": row.state, "by": row.by,
                 "path": row.at.path, "line": row.at.line}
                for row in found.rules
            ],
        },
        "log": {
            "entries": seen.entries, "tasks": seen.tasks, "steps": seen.steps, "with_evidence": seen.cited,
            "failures": seen.failures, "damaged": list(seen.damaged),
            "invalid": [{"line": line, "reason": why} for line, why in seen.invalid],
            "unclosed": [task for task, _ in seen.unclosed],
        },
        "tools": [{**row._asdict(), "protocols": list(row.protocols)} for row in found.tools],
        "plans": found.plans,
        "findings": [finding_json(item) for item in found.findings],
    }  # fmt: skip


def as_markdown(found: Audit, version: str) -> str:
    """The report as a page. Raises FileNotFoundError, naming it, where its template is absent."""
    from jinja2 import Environment, StrictUndefined

    source = durable.read(TEMPLATE)
    if source is None:
        raise FileNotFoundError(2, "the template of the report does not exist", TEMPLATE)
    page = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    page.filters["cell"] = _cell
    return page.from_string(source.decode("utf-8")).render(
        audit=found,
        version=version,
        summary=summary(found),
        protocols=[
            (name, *(found.count(state, name) for state in (ENFORCED, ADVICE, BROKEN)))
            for name in _protocols(found)
        ],
    )


def _protocols(found: Audit) -> list[str]:
    return list(dict.fromkeys(row.protocol for row in found.rules))


def _cell(value: object) -> str:
    """A text that stays in its cell of a Markdown table."""
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
