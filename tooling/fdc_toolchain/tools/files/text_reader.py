"""A separate program that converts a page or a PDF to text: `python text_reader.py html|pdf < BYTES > JSON`.

A hostile file attacks its parser: an endless table, unlimited nesting, a stream that
decompresses to gigabytes. So parsers run in this process, with limits of time and memory, and
a failure ends only this process. It does not import fdc.
"""

from __future__ import annotations

import json
import re
import resource
import sys

SECONDS = 15
MEMORY = 1_500_000_000
MOST = 2_000_000
"""Characters of text that are kept."""
SHORT = 200
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def main(kind: str) -> int:
    """Reads stdin, writes `{"title", "text"}` or `{"failed"}`; returns the exit code."""
    for what, most in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
    ):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            continue  # a system that does not have this ceiling; the clock on the wall remains
    data = sys.stdin.buffer.read()
    try:
        title, text = (_html if kind == "html" else _pdf)(data)
        said = {"title": " ".join(plain(title).split())[:300], "text": plain(text)[:MOST]}
    except ImportError as missing:
        said = {"missing": str(missing.name or missing)}
    except MemoryError:
        said = {"failed": "it needs too much memory"}
    except Exception as failed:  # whatever a parser makes of hostile bytes
        said = {"failed": f"{type(failed).__name__}: {' '.join(str(failed).split())[:160]}"}
    sys.stdout.write(json.dumps(said))
    return 0


def plain(text: str) -> str:
    """A text without invisible characters, with LF line ends."""
    return _HIDDEN.sub(
        "",
        text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8"),
    )


def _html(data: bytes) -> tuple[str, str]:
    from html import unescape

    from trafilatura import extract, html2txt

    page = data.decode("utf-8", "replace")
    title = re.search(r"<title[^>]{0,200}>([^<]{0,1000})", page, re.IGNORECASE)
    text = (
        extract(page, output_format="markdown", include_comments=False, include_tables=True) or ""
    )
    if len(text) < SHORT:  # a page that is not an article: all of its text is better than nothing
        whole = html2txt(page) or ""
        text = whole if len(whole) > 3 * len(text) else text
    return unescape(title[1]) if title else "", text


def _pdf(data: bytes) -> tuple[str, str]:
    import io
    import logging

    from pypdf import PdfReader

    logging.disable(logging.CRITICAL)
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is encrypted")
    known = reader.metadata
    title = "" if known is None else str(known.get("/Title") or "")
    pages: list[str] = []
    size = 0
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text().strip()
        if text:
            pages.append(f"## Page {number}\n\n{text}\n")
            size += len(text)
        if size > MOST:
            break
    return title, "\n".join(pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
