"""The process in which a server runs, inside of the sandbox: starts it, asks what it offers, and calls one tool.

Input, as JSON: `command`; to call, `tool`, `schema` (the digest of what is locked), `says` (the effect that it speaks of) and
`arguments` too. Output: one JSON object, `offers`, `result`, `changed` (whether the tool is still there) or `failed` (why).
Not imported by fdc, but for `digest` and `hinted`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ..certificate.forms.rows import Offer

    class Asked(TypedDict, total=False):
        command: list[str]
        tool: str
        schema: str
        says: str
        arguments: dict[str, object]


MOST_TOOLS, MOST_PAGES = 1000, 100
LOCKED = ("name", "description", "inputSchema", "outputSchema", "annotations")
"""What of a tool is locked: all that a person or a model goes by."""


def digest(offer: Mapping[str, object]) -> str:
    """The hash of what is locked of a tool."""
    kept = {key: offer[key] for key in LOCKED if key in offer}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def hinted(offer: Offer) -> str:
    """The effect that the server's hints speak of."""
    hints = offer.get("annotations", {})
    if hints.get("readOnlyHint") is True:
        return "read"
    return "idempotent" if hints.get("idempotentHint") is True else "once"


def _plain(model: Any) -> Offer:
    dumped: Offer = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


async def answered(given: Asked) -> dict[str, object]:
    """What the server says."""
    from mcp import Client, StdioServerParameters

    program, *words = given["command"]
    env, here = dict(os.environ), os.getcwd()
    server = StdioServerParameters(command=program, args=words, env=env, cwd=here)
    async with Client(server) as client:
        offers: list[Offer] = []
        cursor = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            offers += map(_plain, page.tools[: MOST_TOOLS + 1])
            cursor = page.next_cursor
            if not cursor or len(offers) > MOST_TOOLS:
                break
        if cursor or len(offers) > MOST_TOOLS:
            tools = f"more than {MOST_TOOLS} tools, or more than {MOST_PAGES} pages of them"
            raise ValueError(f"it offers {tools}")
        if "tool" not in given:
            return {"offers": offers}
        found = next((one for one in offers if one["name"] == given["tool"]), None)
        if found is None or (digest(found), hinted(found)) != (given["schema"], given["says"]):
            return {"changed": found is not None}
        said = await client.call_tool(given["tool"], given["arguments"])
        return {"result": _plain(said)}


def main() -> None:
    """Answers once."""
    given = json.loads(sys.stdin.buffer.read())
    try:
        told = asyncio.run(answered(given))
    except ImportError:
        told = {"missing": "mcp"}
    except BaseException as raised:
        while isinstance(raised, BaseExceptionGroup):
            raised = raised.exceptions[0]
        told = {"failed": f"{type(raised).__name__}: {str(raised)[:500]}"}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
