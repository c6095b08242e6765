"""The form of every file that fdc writes in an alphabet: keys, ids, times, enumerations (ALPH-91). Pure.

unfit("reasoning/iteration_state.yaml", text)    sentences, none where the file is as it must be
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Required, TypedDict

from fdc_toolchain.api.text import narrow

from .yamltext import NotYaml, parse

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
"""Where prompts, schemas and what is laid down in a new alphabet lie."""
SCHEMA = "files.schema.json"
MOST = 20
"""Findings that are told of one file."""


@functools.cache
def _shipped() -> dict[str, Any]:
    return schema(SCHEMA)


def schema(name: str) -> dict[str, object]:
    """A JSON Schema of this pack."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return narrow(json.load(file), dict)


@functools.cache
def _validator(kind: int) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("date-time", raises=ValueError)(
        lambda text: not isinstance(text, str) or datetime.fromisoformat(text)
    )
    shipped = _shipped()
    return Draft202012Validator(
        {"$defs": shipped["$defs"], **shipped["kinds"][kind]["schema"]}, format_checker=checker
    )


def kind_of(path: str) -> int | None:
    """The place of a file's schema among those that are shipped; None for a file whose form is only its owner's."""
    return next(
        (
            number
            for number, row in enumerate(_shipped()["kinds"])
            if re.fullmatch(row["path"], path)
        ),
        None,
    )


def unfit(path: str, text: str) -> list[str]:
    """Why a file is not as it must be, a sentence each, at most twenty; none for a file that has no schema."""
    kind = kind_of(path)
    if kind is None:
        return []
    try:
        value = parse(text)
    except NotYaml as wrong:
        return [f"{path}: is not valid YAML: {wrong}"]
    found: list[str] = []
    for sentence in _sentences(_validator(kind), value):
        if len(found) == MOST:
            return [*found, f"{path}: and more"]
        found.append(f"{path}: {sentence}")
    return found


def _sentences(validator: Validator, value: Any) -> Iterator[str]:
    for error in validator.iter_errors(value):
        where = error.json_path.removeprefix("$").lstrip(".")
        named = f"`{where}` " if where else ""
        given = str(error.instance)[:40]
        if error.validator == "enum":
            yield f"{named}is none of {', '.join(map(str, error.validator_value))[:300]}, found {given!r}"
        elif error.validator == "pattern":
            yield f"{named}is not written like {error.schema['examples'][0]}, found {given!r}"
        elif error.validator == "format":
            yield f"{named}is not time that there is, found {given!r}"
        elif error.validator == "required":
            yield f"{named}lacks {error.message.partition(' is a required')[0]}".replace("'", "`")
        elif error.validator == "type":
            yield f"{named}is not of type {error.validator_value}, found {given!r}"
        else:
            yield f"{named}is wrong: {error.message[:160]}"


class Staged(TypedDict):
    """What a step has found, in a file of its own."""

    name: str
    file: str
    sha256: str


class Manifest(TypedDict):
    """What is staged: of which run, and on files with which digest."""

    run: str
    base: str
    at: str
    events: list[Staged]


class Blob(TypedDict):
    """A file of a commit, and where its content lies until then."""

    path: str
    blob: str
    sha256: str


class Prepared(TypedDict):
    """A commit whose contents are all there."""

    run: str
    iteration: int
    files: list[Blob]
    remove: list[str]
    mirror: list[str]


class Tree(TypedDict):
    """The files that an iteration starts from, their digest, and when they were read."""

    digest: str
    files: dict[str, str]
    at: str


Rows = list[dict[str, Any]]  # as the schema of the role has them

Event = TypedDict(  # noqa: UP013 - as a class it is three times as long
    "Event",
    {
        "kind": Required[str], "cycle": int, "embedded": bool, "attempts": Rows, "sizes": dict[str, object], "strategy": str,
        "action": str, "candidates": Rows, "evaluations": Rows, "primitives": Rows, "examples": dict[str, dict[str, Any]],
        "integrations": Rows, "revisions": Rows, "merges": Rows, "splits": Rows, "conflicts_detected": Rows,
        "conflicts_resolved": Rows, "conflicts_left": list[str], "work": str, "result": dict[str, Any],
        "output": dict[str, Any], "period": dict[str, Any], "reasons": list[str], "mismatches": list[str], "wrong": str,
    },
    total=False,
)  # fmt: skip
"""A staged step. Which keys it has depends on its `kind`."""


class Events(TypedDict):
    """The staged steps of an iteration."""

    events: list[Event]


Context = TypedDict(  # noqa: UP013
    "Context",
    {
        "role": str, "iteration": int, "cycle": int, "temperature": float, "sections": dict[str, str],
        "sizes": dict[str, object], "kind": str, "strategy": str, "count": int, "strictness": float, "candidates": Rows,
        "primitives": list[dict[str, str]], "revise": Rows, "rejections": Rows, "issues": Rows, "words": list[str],
        "taken": list[str], "gaps": list[str], "domains": dict[str, int], "priorities": list[str],
        "period": dict[str, Any], "reasons": list[str],
    },
    total=False,
)  # fmt: skip
"""What a role is asked: sections for a model, and the same as values, by the kind of the task."""


class Entries(TypedDict, total=False):
    """What the dictionary says to a role: rows with their evidence, or why it is missing."""

    missing: str
    rows: list[dict[str, Any]]
    tokens: int
