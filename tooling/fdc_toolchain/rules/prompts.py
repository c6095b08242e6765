"""Checks the needs of prompts: the text, the schema of the reply, and the tools that a model may request.

The verdict of a plan depends on these files, whether they exist or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..linking.arguments import one_of
from .solver.rule import Context


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC309 at every step whose tool's prompt or schema is missing; FDC308 if a model may not request a listed tool."""
    tools = context.linker.catalogue.tools
    seen: set[str] = set()
    for instance in context.order:
        unit = instance.unit
        if unit.key in seen:
            continue
        seen.add(unit.key)
        running = [acts for tool, acts in context.by_tool[unit.key] if tool.row.get("run")]
        for act in (act for acts in running for act in acts):
            run = act.bound.tool.row["run"]
            if "one_of" in run:
                for why in one_of.unfit(act.bound.tool.row, tools):
                    message = f"the tool `{act.step.tool}` lists calls that a model may not request: {why}"
                    yield Diagnostic(unit.span(act.step), "FDC308", message)
            if "prompt" not in run:
                continue
            if "calls" in run and (why := one_of.no_calls(run["calls"], tools)):
                message = f"the tool `{act.step.tool}` cannot offer calls: {why}"
                yield Diagnostic(unit.span(act.step), "FDC308", message)
            for kind, path in (("prompt", run.get("prompt")), ("schema", run.get("schema"))):
                if path is None:
                    continue
                files = context.linker.files
                files.log = set()
                key = files.find(path)
                unit.asked |= files.log
                files.log = None
                why = "" if key is None else files.refused(key)
                if key is None or why:
                    said = f"cannot be used: {why}" if why else "does not exist"
                    message = f"the {kind} `{path}` of the tool `{act.step.tool}` {said}"
                    yield Diagnostic(unit.span(act.step), "FDC309", message)
                elif kind == "schema" and (wrong := _no_schema(files.read(key) or b"")):
                    message = f"the schema `{path}` of the tool `{act.step.tool}` {wrong}"
                    yield Diagnostic(unit.span(act.step), "FDC309", message)


def _no_schema(data: bytes) -> str:
    """Why a file cannot be the schema of a reply; empty if it can."""
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError):
        schema = None
    if not isinstance(schema, dict):
        return "is not a JSON object"
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        if lost := next((one for one in _references(schema) if not _leads(one, schema)), ""):
            return f"refers to `{lost}`, which is not in it"
    except SchemaError as wrong:
        message = wrong.message if len(wrong.message) < 200 else f"wrong `{wrong.validator}`"
        return f"is not a JSON Schema: {wrong.json_path}: {message}"
    except RecursionError:
        return "is nested too deep"
    return ""


def _references(value: object) -> Iterator[str]:
    """The references in a schema, without those that are relative to a part with a name of its own (`$id`)."""
    inner: Iterable[object] = value if isinstance(value, list) else ()
    if isinstance(value, dict) and "$id" not in value:
        inner = value.values()
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
    for one in inner:
        yield from _references(one)


def _leads(reference: str, schema: object) -> bool:
    """Whether a reference leads to a part of the schema, or to the schema of schemas. Anchors are not followed."""
    if not reference.startswith("#/"):
        return reference.startswith(("#", "https://json-schema.org/draft/"))
    from urllib.parse import unquote  # no proof of a plan without a schema needs it

    for part in unquote(reference[2:]).split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        elif isinstance(schema, dict) and name in schema:
            schema = schema[name]
        else:
            return False
    return True
