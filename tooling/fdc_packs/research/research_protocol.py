"""The research protocol's two tools: a plan for a topic, and gathering under stated constraints (FDC-55, FDC-56)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from fdc_toolchain.api.files import list_files
from fdc_toolchain.api.tasks import research_plan
from fdc_toolchain.api.tools import Context, ToolFailure, text, word

ROUTES: dict[tuple[str, str], str] = {
    # (target, scope): the constraint that it needs
    ("local_filesystem", "file"): "path",
    ("local_filesystem", "directory"): "path",
    ("external_web", "narrow"): "query",
    ("external_web", "broad"): "url",
    ("external_repository", ""): "url",
    ("knowledge_graph", "enrich"): "query",
}


def plan_deep_research(args: Mapping[str, object], context: Context) -> object:
    """`plan_deep_research`: the text of a plan that researches the topic; its report is named after it. Pure."""
    topic = text(args, "topic")
    name = hashlib.blake2b(topic.encode("utf-8", "replace"), digest_size=4).hexdigest()
    try:
        return research_plan(topic, f"research/research_report_{name}.md")
    except ValueError as wrong:
        raise ToolFailure("argument", str(wrong)) from None


_OWN = ("argument", "missing", "file", "encoding")
"""What nothing was proved of: which constraints fit together, and what lies where they lead."""


def execute_research_protocol(args: Mapping[str, object], context: Context) -> object:
    """`execute_research_protocol`: the file, the folder, the definitions, the results or the page that the constraints name.

    What cannot be had is a failure that says why (`input` where the constraints ask for nothing that is there): nothing
    is made up. A repository is read as the page that its address shows. `knowledge_graph` is what `fdc knowledge build`
    wrote, enriched with the documents that speak of what is asked for.
    """
    try:
        return _routed(args, context)
    except ToolFailure as failure:
        raise ToolFailure("input", str(failure)) if failure.kind in _OWN else failure from None


def _routed(args: Mapping[str, object], context: Context) -> object:
    target, scope = word(args, "target"), word(args, "scope", "")
    key = ROUTES.get((target, scope)) or ROUTES.get((target, ""))
    if key is None:
        raise ToolFailure(
            "argument", "Error: the constraints do not map to a recognized research protocol."
        )
    value = word(args, key, "")
    if not value:
        raise ToolFailure(
            "argument", f"Error: '{key}' not specified for {target} {scope}".rstrip() + "."
        )
    if (target, scope) == ("local_filesystem", "file"):
        try:
            return context.root.read(value).decode("utf-8")
        except UnicodeDecodeError:
            raise ToolFailure("encoding", f"`{value}` is not UTF-8 text") from None
    if target == "local_filesystem":
        return "\n".join(list_files({"path": value}, context))
    if target == "knowledge_graph":
        from .knowledge_graph import enrich

        return enrich(value, context)
    from fdc_toolchain.api.tools import web_tools

    if key == "query":
        found = web_tools.google_search({"query": value}, context)
        shown = "\n\n".join(
            "\n".join(filter(None, (hit["title"], hit["url"], hit["snippet"])))
            for hit in found.value
        )
        return found._replace(value=shown or "nothing was found")
    return web_tools.view_text_website(
        {"url": value.removesuffix(".git") if target == "external_repository" else value}, context
    )
