"""`fdc alphabet status`: where the work is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from fdc_toolchain.api.commands import CLEAN, say_json
from fdc_toolchain.api.text import visible

from .folder import base_here, store_of

if TYPE_CHECKING:
    from ..store import Store


def shown(root: str, form: str) -> int:
    """Prints the state of an alphabet; the exit code."""
    store = store_of(root)
    base = base_here(store)
    lock = _lock(store)
    state = base.state
    value = {
        "iteration": state["current_iteration"], "phase": state["phase"], "version": base.version,
        "stopped": state["history"]["stopped"],
        "primitives": len(base.alphabet), "strategy": state["current_strategy"], "metrics": state["metrics"],
        "pending": {key: len(found) for key, found in state["pending"].items()}, "history": state["history"], "lock": lock,
    }  # fmt: skip
    if form == "json":
        say_json(value)
        return CLEAN
    history, metrics = state["history"], state["metrics"]
    click.echo(
        f"iteration {value['iteration']}, version {base.version}, {len(base.alphabet)} primitives"
    )
    for domain, found in base.alphabet.domains.items():
        click.echo(
            f"  {domain}: {visible(', '.join(one.label for one in found[-12:]))}{' ...' if len(found) > 12 else ''}"
        )
    kinds = ("proposed", "accepted", "rejected", "refined", "deferred")
    counted = ", ".join(f"{history[f'total_{kind}']} {kind}" for kind in kinds)
    click.echo(f"candidates: {counted}")
    click.echo(f"coverage {metrics['coverage_score']:.1%} of the test concepts, consistency {metrics['consistency_score']:.1%}, "
               f"recent acceptance {metrics['recent_acceptance_rate']:.1%}")  # fmt: skip
    click.echo(f"next strategy: {state['current_strategy']['proposer_mode']}")
    if history["stopped"]:
        click.echo(f"the work has ended: {history['stopped']}")
    if lock:
        click.echo(visible(lock))
    return CLEAN


def _lock(store: Store) -> str:
    try:
        held = store.held()
    except ValueError as wrong:
        return str(wrong)
    from ..iteration_lock import began

    if held is None:
        return ""
    alive = (
        "running"
        if began(held.pid) == held.began
        else "interrupted; continue with `fdc alphabet run`"
    )
    return f"iteration {held.iteration} is {alive} ({held.phase}, {held.checkpoint})"
