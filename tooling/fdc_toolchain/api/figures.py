"""The cost of a plan, and the names that plans can use, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import Bound, Bounds, Catalogue, Parameter, ToolInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..check import Checked
    from ..linking.catalogue import Tool
    from ..linking.look_up import LookUp


def bounds_of(checked: Checked, root: str) -> Bounds:
    """The upper bounds of what a run of a checked plan uses."""
    from ..runs.cost.figures import MEASURES, figures_of

    known, _ = figures_of(checked, root)
    most = {
        name: Bound(formula=known["worst"][name], number=known["worst_now"][name])
        for name in MEASURES
    }
    return Bounds(
        plan=known["plan"],
        **most,
        degree=known["degree"],
        stack=known["stack"],
        writes=known["modality"].startswith("Construction"),
        shell=known["shell"],
        created=known["worst_created"],
        notes=tuple(known["worst_notes"]),
    )


def known_to(linker: LookUp, packs: Sequence[str]) -> Catalogue:
    """The names for a plan of a workspace that uses these packs."""
    from ..syntax.language import CONSTRUCTS

    seen = linker.using({*linker.settings.packs, *packs}).tools
    tools = (seen[name] for name in sorted(seen))
    return Catalogue(
        tools=tuple(_tool(tool) for tool in tools if not tool.forbidden),
        plans=tuple(linker.callable_names()),
        own_plans=tuple(sorted(linker.registry.entries)),
        packs=tuple(sorted(linker.packs)),
        words={row.word: row.form for row in CONSTRUCTS},
    )


def _tool(tool: Tool) -> ToolInfo:
    parameters = tuple(
        Parameter(
            name=parameter.name,
            kind=parameter.kind,
            required=parameter.required,
            access=parameter.access,
        )
        for parameter in tool.parameters
    )
    return ToolInfo(
        name=tool.name,
        summary=str(tool.row.get("summary", "")),
        action=tool.action,
        effect=tool.effect,
        parameters=parameters,
    )
