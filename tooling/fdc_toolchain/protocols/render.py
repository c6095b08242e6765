"""Protocol sources to documents: a document is what one folder's agents read, in sections (FDC-97, FDC-98).

The layout of each file that is written is a template in `templates/`; there is no logic in them.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .load import Prose, Protocol, Sources

HEADING = "**Associated Tool Documentation (`{path}`):**"
TEMPLATE_CODE = "FDC461"
"""What a broken check by template is reported as."""

_MARK = "\n\n" + HEADING.split("{", 1)[0]
_STATUS = re.compile(r"(?:enforced by FDC[0-9]{3}(?:, FDC[0-9]{3})*|advice): ")
_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
_WIDTH = 118


class Section(NamedTuple):
    """One source as it stands in a compiled file."""

    path: str
    text: str


class Document(NamedTuple):
    """What is written for one folder ("" for the repository): its sections, the important ones first."""

    folder: str
    sections: tuple[Section, ...]
    tools: tuple[str, ...]


def documents(sources: Sources, docs: Mapping[str, str] | None, split: bool) -> list[Document]:
    """The repository's document first, then, where `split`, one for each folder that a protocol is for, by path.

    `docs` is the documentation of tools by path, or None where none is to be added. In a document the
    higher priority comes first; of the same priority all prose, then all rules, each by path.
    """
    items: list[Prose | Protocol] = [*sources.prose, *sources.protocols]
    folders = sorted({item.scope for item in items} | {""}) if split else [""]
    made = []
    for folder in folders:
        mine = [item for item in items if not split or item.scope == folder]
        mine.sort(key=lambda item: (-item.priority, isinstance(item, Protocol), item.path))
        sections = tuple(Section(item.path, _text(item, docs)) for item in mine)
        tools = (
            {path for item in mine if isinstance(item, Protocol) for path, _ in item.scripts}
            if docs
            else ()
        )
        made.append(Document(folder, sections, tuple(sorted(tools))))
    return made


def page(template: str, **rows: object) -> str:
    """The text that `templates/TEMPLATE` gives for the rows."""
    return str(_templates().get_template(template).render(**rows))


def bare(description: str) -> str:
    """A description without the documentation that an earlier build has added: it is replaced, never doubled."""
    return ("\n\n" + description).split(_MARK, 1)[0].removeprefix("\n\n")


def unmarked(enforcement: str) -> str:
    """An enforcement without what an earlier build has said of the rule's status."""
    return enforcement[match.end() :] if (match := _STATUS.match(enforcement)) else enforcement


def status(rule: Mapping[str, Any]) -> str:
    """`enforced by CODES` where the rule has a check, else `advice`."""
    check = rule.get("check")
    if check is None:
        return "advice"
    codes = check.get("code", TEMPLATE_CODE)
    return "enforced by " + ", ".join([codes] if isinstance(codes, str) else codes)


def laid_out(value: Any, indent: int = 0) -> str:
    """The value as JSON that people can read and that spends few bytes: what fits on a line is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (indent and indent + len(line) <= _WIDTH):
        return line
    pad = "\n" + " " * (indent + 1)
    if isinstance(value, list):
        return (
            f"[{pad}"
            + f",{pad}".join(laid_out(item, indent + 1) for item in value)
            + f"\n{' ' * indent}]"
        )
    rows = (
        f"{json.dumps(key, ensure_ascii=False)}: {laid_out(item, indent + 1)}"
        for key, item in value.items()
    )
    return f"{{{pad}" + f",{pad}".join(rows) + f"\n{' ' * indent}}}"


def _text(item: Prose | Protocol, docs: Mapping[str, str] | None) -> str:
    if isinstance(item, Prose):
        return item.text
    body: dict[str, Any] = {key: value for key, value in item.body.items() if key != "$schema"}
    parts = [bare(body["description"])]
    if docs is not None:
        parts += [f"{HEADING.format(path=path)}\n\n{docs[path]}" for path, _ in item.scripts]
    body["description"] = "\n\n".join(filter(None, parts))
    body["rules"] = [
        {
            key: f"{status(rule)}: {unmarked(value)}" if key == "enforcement" else value
            for key, value in rule.items()
        }
        for rule in body["rules"]
    ]
    return f"```json\n{laid_out(body)}\n```"


@functools.cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, autoescape=False,
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
