"""The last line of a lint without findings. Imports nothing, because the fast path to a verdict prints it."""

from __future__ import annotations

from .plural import plural


def verdict_line(
    plans: int, assumptions: int = 0, fragments: int = 0, *, listed: bool = True, others: int = 0
) -> str:
    """`2 plans proved, 1 fragment, 3 assumptions`; `no findings` where there is nothing to add.

    `others`: how many plans of other tools were checked: nothing was proved of them.
    `listed` False: the assumptions are counted only, and the line says what lists them.
    """
    if not plans and not others:
        return "no plans found"
    rest = [
        plural(number, word)
        for number, word in ((fragments, "fragment"), (assumptions, "assumption"))
        if number
    ]
    seen = [f"{plural(plans - fragments, 'plan')} proved"] if plans > fragments else []
    if others:
        seen.append(f"{plural(others, 'plan')} of other tools checked")
    line = ", ".join([*seen, *(rest or ["no findings"])])
    return line if listed or not assumptions else f"{line} (`--assumptions` lists them)"
