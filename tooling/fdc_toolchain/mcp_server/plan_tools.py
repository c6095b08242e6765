"""The tools that look at plans and change nothing."""

from __future__ import annotations

import dataclasses

from .. import api
from ..diagnostics.plural import plural
from .results import MOST_EXACT, Result, in_line
from .tool_table import Arguments, Wrong, text
from .workspace_paths import is_hidden, plan_in


def lint(root: str, given: Arguments) -> Result:
    """`fdc_lint`."""
    path, unsaved = _plan(root, given)
    return verdict(root, api.check(path, workspace=root, text=unsaved))


def fix(root: str, given: Arguments) -> Result:
    """`fdc_fix`."""
    path, unsaved = _plan(root, given)
    done = api.fix(path, workspace=root, text=unsaved, unsafe=given.get("unsafe") is True)
    left = verdict(root, done.result)
    words = f"Repairs applied: {len(done.applied)}. {left.words}"
    if not done.applied or is_hidden(root, done.result.plan):
        return Result(words=words, data=left.data)
    if len(done.text) > MOST_EXACT:
        words += "\nThe text is too long to be sent; `fdc lint --fix` writes it to the file."
        return Result(words=words, data=left.data)
    words += f"\nLeft: {plural(len(done.result.diagnostics), 'finding')}. The repaired text follows; nothing was written."
    return Result(words=words, data=done.text, exact=True)


def explain(root: str, given: Arguments) -> Result:
    """`fdc_explain`."""
    page = api.explain(text(given, "code"))
    return Result(words=f"{page.code} ({page.rule}), {page.severity}.", data=page.markdown)


def tools(root: str, given: Arguments) -> Result:
    """`fdc_tools`."""
    known = api.catalogue(workspace=root).tools
    name = text(given, "name")
    if not name:
        names = " ".join(tool.name for tool in known)
        words = f"{len(known)} tools; `name` shows one, or all tools whose name contains it."
        return Result(words=words, data=names)
    found = next((tool for tool in known if tool.name == name), None)
    if found is None:
        lines = [
            f"{tool.name}({', '.join(one.name if one.required else one.name + '?' for one in tool.parameters)})"
            for tool in known if name in tool.name
        ]  # fmt: skip
        if not lines:
            raise Wrong(f"no tool has `{in_line(name, 80)}` in its name; `fdc_tools` lists all")
        words = f"No tool has this name; the names of {len(lines)} contain it."
        return Result(words=words, data="\n".join(lines))
    rows = [
        f"{one.name}: {one.kind}{'' if one.required else ', optional'}{f', to {one.access}' if one.access else ''}"
        for one in found.parameters
    ]
    head = f"{found.name}: {found.summary}\naction {found.action}, effect {found.effect}"
    return Result(words="1 tool.", data="\n".join([head, *rows]))


def registry(root: str, given: Arguments) -> Result:
    """`fdc_registry`."""
    known = api.catalogue(workspace=root)
    name = text(given, "name")
    if not name:
        others = [plan for plan in known.plans if plan not in known.own_plans]
        here = len(known.own_plans)
        many = "plan" if here == 1 else "plans"
        words = (
            f"{here} {many} of this workspace, {len(others)} that come with fdc; `name` shows one."
        )
        return Result(words=words, data="\n".join([*known.own_plans, *others]))
    named = f"the registered plan `{in_line(name, 80)}`"
    if name not in known.plans:
        raise Wrong(f"{named} does not exist; `fdc_registry` lists them")
    found = api.check(name, workspace=root)
    if is_hidden(root, found.plan):
        raise Wrong(f"{named} lies outside of the workspace, or holds secrets")
    words = verdict(root, found).words
    if not found.errors:
        most = api.bounds(name, workspace=root)
        words += f" Worst case: {most.steps.formula} steps, {most.model_calls.formula} model calls."
    return Result(words=words, data=f"{found.plan}\n\n{found.text}")


def _plan(root: str, given: Arguments) -> tuple[str, str | None]:
    """The plan that the arguments name, and its text where it is not saved. Raises Wrong."""
    unsaved = text(given, "text") if "text" in given else None
    return plan_in(root, text(given, "path"), unsaved=unsaved is not None), unsaved


def verdict(root: str, result: api.CheckResult) -> Result:
    """What the proof says, and the findings with their repairs. Those in files outside of the workspace, to which a link in it
    leads, and in files that hold secrets would quote these files, and are counted only."""
    words = _VERDICTS[result.verdict]
    seen = tuple(item for item in result.diagnostics if not is_hidden(root, item.span.path))
    if not (left := len(result.diagnostics) - len(seen)):
        return Result(words=words, data=api.brief(result))
    words += f" Not shown: {plural(left, 'finding')} in files outside of the workspace, or that hold secrets."
    shown = api.brief(dataclasses.replace(result, diagnostics=seen)) if seen else ""
    return Result(words=words, data=shown)


_VERDICTS: dict[api.Verdict, str] = {
    "proved": "Proved: it can be run.",
    "fragment": "No error, and no whole run: it is a part of other plans.",
    "error": "Not proved: repair it before anything is done.",
}
