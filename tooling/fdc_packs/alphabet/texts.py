"""The texts of an alphabet in Markdown, from one template (`data/texts.jinja`): logs, decisions, reports. Pure."""

from __future__ import annotations

import functools
import re
from typing import Any

from .schemas import DATA


def text(name: str, *values: object) -> str:
    """The text of that name; `values` are what its macro takes. Every value stands on one line."""
    return str(getattr(_macros(), name)(*values))


def line(value: object) -> str:
    """A text on one line, without what a terminal or an editor would act on."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", str(value))


class _Line(str):
    """A value as it stands in a text: it is no HTML, and nothing in it is escaped. What macros give has this already."""

    def __html__(self) -> str:
        return self


@functools.cache
def _macros() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    jinja = Environment(
        loader=FileSystemLoader(DATA), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else _Line(line(value)),
    )  # fmt: skip
    jinja.filters |= {"percent": "{:.1%}".format, "cell": _cell}
    return jinja.get_template("texts.jinja").module


def _cell(value: str) -> str:
    """A text in a table's cell: no bar that would end it, nothing that a page would read as markup."""
    return line(value).replace("|", "\\|").replace("<", "&lt;")
