"""What a step of a research plan was given: results of earlier steps, checked, and the documents and pages that they name."""

from __future__ import annotations

from collections.abc import Mapping

from fdc_toolchain.api.files import Document
from fdc_toolchain.api.tools import Context, Outcome, ToolFailure, object_of, web_pages

from .retrieval import library


def words_of(value: object) -> list[str]:
    """Short texts of a list, or those that a record has as its `terms`, as a model may have proposed them."""
    rows = value.get("terms") if isinstance(value, dict) else value
    rows = rows if isinstance(rows, list) else []
    return [" ".join(one.split())[:200] for one in rows if isinstance(one, str) and one.strip()][
        :12
    ]


def with_code(args: Mapping[str, object]) -> bool:
    """Whether the documents are those of a source tree."""
    return object_of(args, "scan").get("include") == "code"


def pages_of(args: Mapping[str, object], context: Context) -> list[Document]:
    """The pages that a step was given, as documents; their text is that which was read."""
    return web_pages.documents(context.run_folder, web_pages.read_pages(args.get("pages")))


def labelled(value: object, args: Mapping[str, object]) -> object:
    """What a step brings, marked in the journal as text from outside where it was made of pages of the web."""
    pages = web_pages.read_pages(args.get("pages"))
    return (
        Outcome(value, notes={"trust": "untrusted", "from": [row["url"] for row in pages]})
        if pages
        else value
    )


def shelf_of(args: Mapping[str, object], context: Context) -> tuple[library.Shelf, bool]:
    """The documents of the scan that a step was given, and whether they have changed since."""
    scan = object_of(args, "scan")
    digest = text_of(scan, "digest")
    with library.folder(text_of(scan, "folder"), context) as opened:
        shelf = library.get(opened, scan.get("include") == "code", digest)
    return shelf, shelf.scan.digest != digest


def list_of(args: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """A list of objects from an earlier step. Raises ToolFailure where it is none."""
    value = args.get(name)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ToolFailure("argument", f"`{name}` is not a list from an earlier step")
    return value


def text_of(row: Mapping[str, object], name: str) -> str:
    """A text from an earlier step. Raises ToolFailure where it is none."""
    value = row.get(name)
    if not isinstance(value, str):
        raise ToolFailure("argument", f"`{name}` is missing from the result of an earlier step")
    return value


def number_of(row: Mapping[str, object], name: str) -> float:
    """A number from an earlier step; 0 where it is left out. Raises ToolFailure where it is none."""
    value = row.get(name, 0)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ToolFailure("argument", f"`{name}` of an earlier step's result is not a number")
    return float(value)


def count_of(row: Mapping[str, object], name: str) -> int:
    """A whole number from an earlier step. Raises ToolFailure where it is none."""
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolFailure("argument", f"`{name}` is missing from the result of an earlier step")
    return value
