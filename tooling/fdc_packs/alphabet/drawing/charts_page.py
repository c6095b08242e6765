"""One HTML page that shows an alphabet: figures, drawings, every primitive. Self-contained, no script. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import Alphabet, Primitive
from . import charts
from .charts_svg import SCHEMES, STYLE, escape

_CSS = """
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:1100px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px}h2{font-size:1.15rem;margin:40px 0 12px}
p{margin:0 0 12px}.faint{color:var(--faint)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:12px;margin:20px 0}
.figures div{border:1px solid var(--rim);border-radius:8px;padding:10px 14px}
.figures b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.figures span{font-size:.85rem;color:var(--faint)}
.drawings{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:16px}
.drawings svg{width:100%;height:auto;display:block}.wide{overflow-x:auto}
.wide svg{display:block;margin:0 auto;max-width:100%;height:auto;min-width:680px}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;font-weight:600;color:var(--faint);font-size:.82rem}
th,td{overflow-wrap:normal;padding:6px 12px 6px 0;border-bottom:1px solid var(--rim);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.mono{font-family:ui-monospace,monospace;font-size:.85em;white-space:nowrap}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:0 40px}
.two h2{margin-top:40px}section{overflow-x:auto}td.long{overflow-wrap:anywhere}
.ok::before{content:"✓ ";color:var(--one)}.bad::before{content:"✗ ";color:var(--three)}
.look::before{content:"! ";color:var(--two);font-weight:700}
ul{padding-left:1.2em;margin:0 0 12px}
@media (max-width:640px){.prims thead{display:none}.prims tr{display:block;padding:8px 0;border-bottom:1px solid var(--rim)}
.prims td{display:inline;border:0;padding:0 8px 0 0}.prims td.long{display:block;padding:2px 0 0}}
@media print{body{font-size:11pt}.wide svg{min-width:0}}
"""


def page(alphabet: Alphabet, history: charts.History, report: Mapping[str, Any], title: str) -> str:
    """The page. `report` is what `metrics.report` gives; what it lacks is left out. A `note` in it is said below the title."""
    last = history[-1] if history else {}
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(str(report.get("note") or "An alphabet of primitive concepts, built by fdc."))}</p>',
        _figures(alphabet, history, report, last),
        '<div class="drawings">',
        *(draw(history, alone=False) for draw in (charts.growth, charts.acceptance, charts.coverage)),
        "</div>",
        "<h2>Relationships</h2>", f'<div class="wide">{charts.graph(alphabet, alone=False)}</div>',
        '<div class="two">', _domains(report.get("domains") or {}), _gaps(report.get("coverage") or {}),
        _checks(report.get("consistency") or {}), _expressiveness(report.get("expressiveness") or {}),
        _public(report.get("public_list") or {}), "</div>",
        _primitives(alphabet),
    ]  # fmt: skip
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{SCHEMES}{STYLE}{_CSS}</style></head>\n"
        f"<body><main>\n{chr(10).join(part for part in parts if part)}\n</main></body></html>\n"
    )


def _figures(
    alphabet: Alphabet, history: charts.History, report: Mapping[str, Any], last: Mapping[str, Any]
) -> str:
    accepted = sum(int(row.get("accepted") or 0) for row in history)
    judged = sum(
        int(row.get(key) or 0)
        for row in history
        for key in ("accepted", "rejected", "refined", "deferred")
    )
    covered = (report.get("coverage") or {}).get("coverage", last.get("coverage"))
    sound = (report.get("consistency") or {}).get("overall_score", last.get("consistency"))
    rows = [
        (str(len(alphabet)), "primitives"), (str(len(alphabet.domains)), "domains"), (str(len(history)), "iterations"),
        (_percent(accepted / judged) if judged else "–", "of the candidates accepted"),
        (_percent(covered), "of the test concepts expressible"), (_percent(sound), "consistent"),
    ]  # fmt: skip
    if report.get("public_list"):
        rows.insert(5, (_percent(report["public_list"]["coverage"]), "of Swadesh's 200 meanings"))
    cells = "".join(f"<div><b>{escape(value)}</b><span>{name}</span></div>" for value, name in rows)
    return f'<div class="figures">{cells}</div>'


def _percent(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, int | float) else "–"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of ready cells; a head that begins with # is of figures."""
    kinds = [' class="n"' if head.startswith("#") else "" for head in heads]
    top = "".join(f"<th{kind}>{escape(head.lstrip('#'))}</th>" for head, kind in zip(heads, kinds))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _domains(domains: Mapping[str, Mapping[str, Any]]) -> str:
    kind = {"adequate": "ok", "sparse": "look", "neglected": "bad"}
    rows = [
        [
            escape(name),
            str(row["primitives"]),
            f'<span class="{kind.get(row["coverage"], "")}">{escape(row["coverage"])}</span>',
        ]
        for name, row in domains.items()
    ]
    return (
        f"<section><h2>Domains</h2>{_table(['domain', '#primitives', 'coverage'], rows)}</section>"
        if rows
        else ""
    )


def _gaps(coverage: Mapping[str, Any]) -> str:
    if not coverage:
        return ""
    rows = [
        [escape(str(row["gap"])), str(row["needed_by"])] for row in coverage.get("gaps", ())[:12]
    ]
    done, total = len(coverage.get("expressible", ())), coverage.get("total", 0)
    said = f"<p>{done} of {total} test concepts are expressible, {len(coverage.get('partial', ()))} in part.</p>"
    return f"<section><h2>Gaps</h2>{said}{_table(['missing', '#concepts that need it'], rows) if rows else ''}</section>"


def _checks(consistency: Mapping[str, Any]) -> str:
    if not consistency:
        return ""
    kind = {"pass": "ok", "warning": "look", "fail": "bad"}
    rows = [
        [
            escape(name),
            f'<span class="{kind.get(row["result"], "")}">{escape(row["result"])}</span>',
            str(len(row["findings"])),
        ]
        for name, row in consistency.get("checks", {}).items()
    ]
    found = [one for row in consistency.get("checks", {}).values() for one in row["findings"]][:8]
    listed = f"<ul>{''.join(f'<li>{_coded(one)}</li>' for one in found)}</ul>" if found else ""
    return f"<section><h2>Consistency</h2>{_table(['check', 'result', '#findings'], rows)}{listed}</section>"


def _coded(text: str) -> str:
    """A sentence with what stands in backquotes as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _expressiveness(found: Mapping[str, Any]) -> str:
    if not found:
        return ""
    rows = [
        ["weighted coverage", _percent(found["weighted_coverage"])],
        [
            "primitives that test concepts use",
            f"{found['primitives_used']} of {found['primitives']}",
        ],
        [
            "entropy of their use",
            f"{found['entropy']:.2f} bits ({_percent(found['normalised_entropy'])} of even use)",
        ],
        ["a decomposition takes", f"{found['bits_per_concept']:.1f} bits"],
        [
            "most needed",
            escape(", ".join(row["label"] for row in found["importance"][:6]) or "none"),
        ],
    ]
    return f"<section><h2>Expressiveness</h2>{_table(['measure', 'value'], rows)}</section>"


def _public(found: Mapping[str, Any]) -> str:
    if not found:
        return ""
    rows = [
        ["expressible", f"{found['expressible']} of {found['total']} ({_percent(found['coverage'])})"],
        ["of them primitives themselves", str(found["primitives"])], ["in part", str(found["partial"])],
        ["not in the dictionary", str(found["unknown"])],
        ["with as many of its most used words", _percent(found["frequent_words_coverage"])],
    ]  # fmt: skip
    said = "<p>A list that others made, by the definitions of a dictionary. Nothing was tuned on it.</p>"
    return f"<section><h2>{escape(found['list'])}</h2>{said}{_table(['measure', 'value'], rows)}</section>"


def _primitives(alphabet: Alphabet) -> str:
    rows = []
    for inside in alphabet.domains.values():
        rows += [_primitive(alphabet, one) for one in inside]
    head = "".join(
        f"<th>{name}</th>"
        for name in ("id", "label", "domain", "status", "prime", "definition and relationships")
    )
    if not rows:
        return "<h2>Primitives</h2><p>None yet.</p>"
    table = (
        f'<table class="prims"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
    return f"<section><h2>Primitives</h2>{table}</section>"


def _primitive(alphabet: Alphabet, one: Primitive) -> str:
    said = [escape(one.definition)] if one.definition else []
    for words, others in (
        ("presupposes", one.presupposes),
        ("contrasts with", one.contrasts),
        ("composes with", one.composes),
    ):
        names = [
            other.label if other else name
            for name, other in ((name, alphabet.get(name)) for name in others)
        ]
        if names:
            said.append(f'<span class="faint">{words}</span> {escape(", ".join(names))}')
    return (
        f'<tr><td class="mono">{escape(one.id)}</td><td><b>{escape(one.label)}</b></td><td>{escape(one.domain)}</td>'
        f'<td>{escape(one.status)}</td><td class="mono">{one.prime}</td><td class="long">{"; ".join(said)}</td></tr>'
    )
