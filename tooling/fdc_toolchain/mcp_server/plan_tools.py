"""The tools that look at plans and change nothing."""

from __future__ import annotations

import dataclasses

from .. import api
from .results import MOST_EXACT, Result, cut, in_line
from .tool_table import Arguments, Wrong, text
from .workspace_paths import hidden, is_elsewhere, plan_in


def lint(root: str, given: Arguments) -> Result:
    """`fdc_lint`."""
    result = api.check(plan_in(root, text(given, "path")), workspace=root, text=_unsaved(given))
    return Result(words=_verdict(result, root), data=_report(result, root))


def fix(root: str, given: Arguments) -> Result:
    """`fdc_fix`."""
    path = plan_in(root, text(given, "path"))
    done = api.fix(path, workspace=root, text=_unsaved(given), unsafe=given.get("unsafe") is True)
    count = len(done.applied)
    words = (
        f"{count} {'repair' if count == 1 else 'repairs'} applied. {_verdict(done.result, root)}"
    )
    if done.result.diagnostics:
        words += f"\n{_codes(done.result)}"
    if not count:
        return Result(words=words)
    if len(done.text) > MOST_EXACT:
        return Result(
            words=f"{words}\nThe text is too long to be sent; `fdc lint --fix` writes it to the file."
        )
    return Result(
        words=f"{words}\nThe repaired text follows; nothing was written.",
        data=done.text,
        exact=True,
    )


def explain(root: str, given: Arguments) -> Result:
    """`fdc_explain`."""
    page = api.explain(text(given, "code"))
    return Result(
        words=f"{page.code} ({page.rule}), {page.severity}: {page.summary}", data=page.markdown
    )


def tools(root: str, given: Arguments) -> Result:
    """`fdc_tools`."""
    known = api.catalogue(workspace=root).tools
    name = text(given, "name")
    if not name:
        lines = [f"{tool.name}({_parameters(tool)})" for tool in known]
        return Result(words=f"{len(known)} tools; `name` shows one.", data="\n".join(lines))
    found = next((tool for tool in known if tool.name == name), None)
    if found is None:
        raise Wrong(f"no catalogue declares a tool `{in_line(name, 80)}`; `fdc_tools` lists them")
    rows = [
        f"{one.name}: {one.kind}{'' if one.required else ', optional'}{f', to {one.access}' if one.access else ''}"
        for one in found.parameters
    ]
    head = f"{found.name}: {found.summary}\naction {found.action}, effect {found.effect}"
    return Result(words="1 tool.", data="\n".join([head, *rows]))


def registry(root: str, given: Arguments) -> Result:
    """`fdc_registry`."""
    known = api.catalogue(workspace=root).plans
    name = text(given, "name")
    if not name:
        return Result(
            words=f"{len(known)} registered plans; `name` shows one.", data="\n".join(known)
        )
    if name not in known:
        raise Wrong(f"there is no registered plan `{in_line(name, 80)}`; `fdc_registry` lists them")
    found = api.check(name, workspace=root)
    if is_elsewhere(root, found.plan):
        raise Wrong(f"the registered plan `{in_line(name, 80)}` lies outside of the workspace")
    cost = ""
    if not found.errors:
        bound = api.bounds(name, workspace=root)
        cost = f" Worst case: {bound.steps.formula} steps, {bound.model_calls.formula} model calls."
    return Result(words=f"{_verdict(found, root)}{cost}", data=f"{found.plan}\n\n{found.text}")


def _unsaved(given: Arguments) -> str | None:
    return text(given, "text") if "text" in given else None


def _verdict(result: api.CheckResult, root: str) -> str:
    """What the proof says, in fdc's words."""
    if result.verdict == "proved":
        words = "Proved: it can be run."
    elif result.verdict == "fragment":
        words = "No error, and no whole run: it is a part of other plans."
    else:
        words = "Not proved: repair it before anything is done."
    secret = hidden(root, result)
    return words + (
        f" {secret} findings in files outside of the workspace are not shown." if secret else ""
    )


def _report(result: api.CheckResult, root: str) -> str:
    """The findings with their repairs, without those that would quote a file outside of the workspace."""
    seen = tuple(item for item in result.diagnostics if not is_elsewhere(root, item.span.path))
    return api.brief(dataclasses.replace(result, diagnostics=seen))


def _codes(result: api.CheckResult) -> str:
    found = [f"{item.code} in line {item.span.line}" for item in result.diagnostics[:20]]
    return cut(f"Left: {', '.join(found)}.", 600)


def _parameters(tool: api.ToolInfo) -> str:
    return ", ".join(one.name if one.required else f"{one.name}?" for one in tool.parameters)
