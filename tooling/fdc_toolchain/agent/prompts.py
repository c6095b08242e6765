"""Prompts are Jinja2 files in `templates/`; an undefined variable is an error."""

from __future__ import annotations

import os

from ..text.fence import RULE, fenced

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def prompt(name: str, /, in_folder: str = FOLDER, **values: object) -> str:
    """The text of `NAME.md.j2` in a folder of templates; `| data` fences what comes from elsewhere, and `fence_rule` says so.

    Raises jinja2.UndefinedError for a variable that is not given.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    page = Environment(
        undefined=StrictUndefined, loader=FileSystemLoader(in_folder), keep_trailing_newline=True, autoescape=False,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    page.filters["data"] = fenced
    page.globals["fence_rule"] = RULE
    return page.get_template(f"{name}.md.j2").render(**values)
