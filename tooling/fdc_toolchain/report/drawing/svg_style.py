"""The style of an SVG drawing: colours for both schemes, and the shapes of the kinds of node."""

from __future__ import annotations

_LIGHT = {
    "ground": "#ffffff", "rim": "#d0d7de", "ink": "#1f2328", "faint": "#59636e", "line": "#6e7781", "call": "#8250df",
    "frame": "#f6f8fa", "state": "#ddf4ff", "state-rim": "#0969da", "accept": "#dafbe1", "accept-rim": "#1a7f37",
    "step": "#ffffff", "step-rim": "#6e7781", "plan": "#fbefff", "plan-rim": "#8250df", "loop": "#fff8c5",
    "loop-rim": "#9a6700", "test": "#fff1e5", "test-rim": "#bc4c00",
}  # fmt: skip
_DARK = {
    "ground": "#0d1117", "rim": "#3d444d", "ink": "#f0f6fc", "faint": "#9198a1", "line": "#9198a1", "call": "#b392f0",
    "frame": "#151b23", "state": "#0c2d4d", "state-rim": "#4493f8", "accept": "#10301b", "accept-rim": "#3fb950",
    "step": "#212830", "step-rim": "#7d8590", "plan": "#2b1f45", "plan-rim": "#ab7df8", "loop": "#332a08",
    "loop-rim": "#d29922", "test": "#3a1f0d", "test-rim": "#db6d28",
}  # fmt: skip
_KINDS = {
    "state": "state", "accept": "accept", "step": "step", "call": "plan", "loop": "loop", "fork": "loop",
    "branch": "test", "gate": "test", "end": "accept",
}  # fmt: skip
_FACE = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


def _rules(colours: dict[str, str]) -> str:
    rules = [
        f".ground{{fill:{colours['ground']};stroke:{colours['rim']}}}",
        f".plate{{fill:{colours['ground']}}}",
        f".frame{{fill:{colours['frame']};stroke:{colours['rim']}}}",
        f".title,.head,.label{{fill:{colours['ink']}}}",
        f".word{{fill:{colours['ink']}}}",
        f".note{{fill:{colours['faint']}}}",
        f".edge{{stroke:{colours['line']}}}",
        f".tip,.dot{{fill:{colours['line']}}}",
        f".edge.call{{stroke:{colours['call']}}}",
        f".tip.call{{fill:{colours['call']}}}",
    ]
    for kind, name in _KINDS.items():
        rules.append(f".{kind} .body{{fill:{colours[name]};stroke:{colours[f'{name}-rim']}}}")
    return "".join(rules)


def _tip(kind: str) -> str:
    return (
        f'<marker id="fdc-{kind}" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="tip {kind}" d="M0 1L10 5L0 9L2.5 5Z"/></marker>'
    )


_SHAPE = (
    f"text{{font-family:{_FACE};font-size:13px;text-anchor:middle;white-space:pre}}"
    ".title{font-size:15px;font-weight:600;text-anchor:start}"
    ".head{font-weight:600;text-anchor:start}.label{font-weight:500}"
    ".note{font-size:11.5px}.word{font-size:11.5px}.left{text-anchor:start}"
    ".edge{fill:none;stroke-width:1.4}.edge.back{stroke-dasharray:2 3}.edge.call{stroke-dasharray:6 4}"
    ".body{stroke-width:1.5}.inner{fill:none!important}"
)
_TIPS = "".join(_tip(kind) for kind in ("flow", "back", "call"))

_SCHEMES = f"{_rules(_LIGHT)}@media (prefers-color-scheme:dark){{{_rules(_DARK)}}}"

STYLE = f"<style>{_SHAPE}{_SCHEMES}</style>\n<defs>{_TIPS}</defs>"


def escaped(text: str) -> str:
    """Text for an element or a quoted attribute. The caller escapes hidden characters (`drawing.shown`)."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def body(kind: str, x: float, y: float, width: float, height: float) -> list[str]:
    """The outline of a node of some kind around its centre."""
    left, top = x - width / 2, y - height / 2
    right, bottom = left + width, top + height
    if kind in ("branch", "gate"):
        inner, outer = left + 14, right - 14
        return _polygon(
            [(inner, top), (outer, top), (right, y), (outer, bottom), (inner, bottom), (left, y)]
        )
    if kind == "loop":
        inner, outer, low = left + 10, right - 10, top + 10
        return _polygon(
            [(inner, top), (outer, top), (right, low), (right, bottom), (left, bottom), (left, low)]
        )
    if kind == "fork":
        return _polygon([(left + 12, top), (right, top), (right - 12, bottom), (left, bottom)])
    lines = [
        _rect(
            left, top, width, height, {"step": 3.0, "call": 3.0, "end": height / 2}.get(kind, 9.0)
        )
    ]
    if kind == "accept":
        lines.append(_rect(left + 4, top + 4, width - 8, height - 8, 6, " inner"))
    elif kind == "call":
        bars = f"M{left + 6:.1f} {top:.1f}V{bottom:.1f}M{right - 6:.1f} {top:.1f}V{bottom:.1f}"
        lines.append(f'<path class="body inner" d="{bars}"/>')
    return lines


def _polygon(points: list[tuple[float, float]]) -> list[str]:
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [f'<polygon class="body" points="{corners}"/>']


def _rect(
    left: float, top: float, width: float, height: float, radius: float, more: str = ""
) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
    return f'<rect class="body{more}" x="{left:.1f}" y="{top:.1f}" {size}/>'
