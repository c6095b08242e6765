"""Protocol sources to the text of AGENTS.md, laid out by `templates/agents.md.j2` (FDC-97, FDC-98)."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from .load import Protocol, Sources

HEADING = "**Associated Tool Documentation (`{path}`):**"
_MARK = "\n\n" + HEADING.split("{", 1)[0]
_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def render(sources: Sources, docs: Mapping[str, str], version: str, inputs: Mapping[str, str]) -> str:
    """The compiled text, without its seal. `docs` is the documentation of tools by path, `inputs` digests by path."""
    return str(
        _template().render(
            version=version,
            prose=[item.text for item in sources.prose],
            protocols=[_block(item, docs) for item in sources.protocols],
            inputs=sorted(inputs.items()),
        )
    )


def bare(description: str) -> str:
    """A description without the documentation that an earlier build has added: it is replaced, never doubled."""
    return ("\n\n" + description).split(_MARK, 1)[0].removeprefix("\n\n")


def _block(protocol: Protocol, docs: Mapping[str, str]) -> str:
    body: dict[str, Any] = {key: value for key, value in protocol.body.items() if key != "$schema"}
    parts = [bare(body["description"])]
    parts += [f"{HEADING.format(path=path)}\n\n{docs[path]}" for path, _ in protocol.scripts]
    body["description"] = "\n\n".join(filter(None, parts))
    return json.dumps(body, indent=2, ensure_ascii=False)


@functools.cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, autoescape=False,
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return pages.get_template("agents.md.j2")
