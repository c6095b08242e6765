"""Needs of a program that this machine or its operator provides: a sandbox, a model, the web, programs (docs/verdicts.md).

They are checked before the first step, so that a run does not stop in the middle because one is missing. No request is sent,
so it is not checked whether a server answers. The needs of each tool are in its row (`tools.tool_rows`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import lru_cache
from importlib import util
from typing import Any

from ..engine.reach import Reach
from ..engine.values import resolved
from ..linking.own_row import sandboxed
from ..named_tuples import NamedTuple
from ..program.model import Instruction, Program
from ..tools.model.wire import OPENAI
from ..workspace.failure import ToolFailure
from ..workspace.operator import Operator

ABSENT = "this machine or its operator does not provide what the plan needs"


class Needs(NamedTuple):
    """By need (`sandbox`, `model`, `web`, ...), the names of the tools and programs that have it."""

    rows: dict[str, dict[str, None]]

    def add(self, need: str, who: str) -> None:
        """Adds a tool or program with the need."""
        self.rows.setdefault(need, {})[who] = None

    def by(self, need: str) -> str:
        """The names that have the need, as text; empty if there is none."""
        names = [f"`{name}`" for name in self.rows.get(need, ())]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def absent(program: Program, root: str, operator: Operator, reach: Reach) -> list[str]:
    """One sentence for each missing need, with its remedy; empty if nothing is missing.

    `reach`: what the run can reach (`engine.reach`). A tool whose failure is a value for the plan needs nothing:
    such a plan continues without it. The key of a selected model is checked anyway, since a missing key stops a run.
    """
    needs = _needs(program, operator, reach)
    return list(_looked(needs, program, root, operator, reach)) if needs.rows else []


def _needs(program: Program, operator: Operator, reach: Reach) -> Needs:  # noqa: C901
    from ..tools import tool_rows
    from ..tools.own_code import is_own

    needs = Needs({})
    for item in reach.steps:
        name = item["tool"]
        declared = program["tools"][name]
        run = declared.get("run", {})
        if "prompt" in run and operator.model:
            needs.add("key", name)
        if declared.get("failure") == "value":
            continue
        if "prompt" in run:
            if not operator.model and "embedded" not in run:
                needs.add("model", name)
            elif not operator.model and not is_own(run["embedded"]):
                needs.add("sandbox", name)
        elif sandboxed(declared):
            if "python" not in run or not is_own(run["python"]):
                needs.add("sandbox", name)
                program_of = "".join(run.get("command", ())[:1])
                if program_of and not {"/", "{"} & set(program_of):
                    needs.add("program", program_of)
                if declared.get("access", {}).get("net"):
                    needs.add("network", name)
        elif (row := tool_rows.tool(name)) is not None:
            for need in row.needs:
                if isinstance(need, str):
                    needs.add(need, name)
                elif _literal(item["args"].get(need.parameter)) in need.values:
                    needs.add(need.what, name)
            if name == "run_in_bash_session":
                _of_command(item, needs)
        elif not run:
            needs.add("code", name)
    for name in sorted(reach.predicates):
        predicate = program.get("predicates", {}).get(name)
        run = predicate.get("run", {}) if predicate else {}
        if "python" in run and not is_own(run["python"]):
            needs.add("sandbox", name)
        elif not run and tool_rows.predicate(name) is None:
            needs.add("code", name)
    return needs


def _of_command(item: Instruction, needs: Needs) -> None:
    """The programs that a command names literally, as lint finds them (FDC707)."""
    from ..rules.solver.flow.programs import named

    for template in item["args"].values():
        for name in named(resolved(template, {})):
            needs.add("program", name)


def _literal(template: Any) -> str | None:
    """The text of a literal argument."""
    return (
        "".join(template) if template and all(isinstance(part, str) for part in template) else None
    )


def _looked(
    needs: Needs, program: Program, root: str, operator: Operator, reach: Reach
) -> Iterator[str]:
    for name in needs.rows.get("nobody", ()):
        yield f"an implementation of `{name}`: this machine has none; remove the step from the plan"
    for name in needs.rows.get("code", ()):
        yield f"an implementation of `{name}`: its row has no `run`, and no `pack.toml` names its function; add one of them"
    tier = ""
    if who := needs.by("sandbox"):
        from ..sandbox.sandbox import chosen

        try:
            tier = chosen(operator, root)
        except ToolFailure as failed:
            yield f"a sandbox, for {who}: {failed}"
    lost = [name for name in needs.rows.get("program", ()) if not _found(name)]
    if tier != "none" and not _made_in(root):
        for name in lost:
            yield f"the program `{name}`, which a command names: it is not on the PATH of this machine; install it"
    for name in ("bash", "git"):
        if (who := needs.by(name)) and not _found(name):
            yield f"the program `{name}`, for {who}: it is not on the PATH of this machine; install it"
    if who := needs.by("model"):
        yield f"a model, for {who}: no model is selected; select one with `--model NAME` or FDC_MODEL"
    if who := needs.by("key"):
        why = _unasked(operator.model)
        if why:
            yield f"the model `{operator.model}`, for {who}: {why}"
    yield from _network(needs, program, operator, reach, tier)
    if (who := needs.by("rerank")) and _reranker():
        yield f"a reranker, for {who}: {_reranker()}"


def _network(
    needs: Needs, program: Program, operator: Operator, reach: Reach, tier: str
) -> Iterator[str]:
    out = not (operator.web or operator.network)
    if (who := needs.by("web")) and out:
        yield f"the web, for {who}: the operator must allow it with `--allow-network` or FDC_ALLOW_WEB=1"
    if who := needs.by("search"):
        why = _unsearched()
        if why:
            yield f"a search provider, for {who}: {why}"
    if (who := needs.by("pages")) and util.find_spec("protego") is None:
        from ..tools.web.fetch import INSTALL

        yield f"the packages that fetch pages, for {who}: {INSTALL}"
    if operator.network:
        return
    how = "the operator must allow it with `--allow-network` or FDC_ALLOW_NETWORK=1"
    if who := needs.by("network"):
        yield f"the network, for {who}: {how}"
    if tier and tier != "none" and (who := needs.by("bash")) and _for_commands(program, reach):
        yield f"the network, for {who}, for whose commands the plan says `allow net *`: {how}"


def _for_commands(program: Program, reach: Reach) -> bool:
    """Whether `allow net *` is for commands only: every plan with `allow` has it, and no other step uses the network."""
    allows = [plan["allow"] for plan in program["plans"].values() if plan.get("allow")]
    everywhere = all(any(glob in ("*", "**") for glob in allow.get("net", ())) for allow in allows)
    outside = any(program["tools"][item["tool"]]["trust"] == "untrusted" for item in reach.steps)
    return bool(allows) and everywhere and not outside


def _found(name: str) -> bool:
    return shutil.which(name) is not None


def _made_in(root: str) -> bool:
    """Whether a step of the run may install a program: PATH has a folder of the workspace, which commands can write."""
    here = os.path.realpath(root) + "/"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any(
        f"{os.path.realpath(os.path.join(root, folder))}/".startswith(here)
        for folder in folders
        if folder
    )


def _unasked(model: str) -> str:
    """Why the model cannot be asked, as far as known without a request; empty if it can."""
    kept = tuple(os.environ.get(name, "") for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
    if not model.startswith(OPENAI) and util.find_spec("anthropic") is not None and any(kept):
        return ""
    return _without_key(model, tuple(sorted(os.environ.items())))


@lru_cache(maxsize=1)
def _without_key(model: str, _environment: tuple[tuple[str, str], ...]) -> str:
    """The SDK's error about missing credentials, which it may find in several places."""
    from ..engine.ports import WorldFailed
    from ..tools.model.servers import known_by

    try:
        known_by(model)().close()
    except WorldFailed as failed:
        return str(failed)
    return ""


def _unsearched() -> str:
    """Why no search provider can be asked; empty if one can."""
    from ..tools.web.search import PROVIDERS, answer, ready

    try:
        found = ready(os.environ)
        if not found:
            answer([])
    except ToolFailure as failed:
        return str(failed)
    lacks = [
        package
        for one in found
        if (package := PROVIDERS[one.name].package)[0] and util.find_spec(package[0]) is None
    ]
    if len(lacks) < len(found):
        return ""
    return f"its package is not installed: `pip install 'fdc-toolchain[{lacks[0][1]}]'`"


def _reranker() -> str:
    from ..tools.model.embedder import missing

    return missing()
