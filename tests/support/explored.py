"""A small source tree to explore, and a model that answers each prompt of the explore pack by what it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .messages_api import Item, Server, messages_api, reply
from .process import clean_environment
from .research import write

SHOP = {
    "README.md": "# Shop\n\nAn order that cannot be paid is refused; the stock stays as it is.\n\nThe settings name the store.\n",
    "shop/__init__.py": 'from .orders import place_order\nfrom .stock import reserve\n\n__all__ = ["place_order", "reserve"]\n',
    "shop/orders.py": (
        '"""Orders: placed, paid, refused."""\n\nfrom .stock import reserve, release\n\n\n'
        "class OrderRefused(Exception):\n"
        '    """The order cannot be paid for."""\n\n\n'
        "def place_order(basket, purse):\n"
        '    """Places an order: reserves the stock first, then takes the money."""\n'
        "    reserve(basket)\n"
        "    if purse < basket.price:\n"
        "        release(basket)  # an order that is refused gives its stock back\n"
        '        raise OrderRefused("the order is too dear")\n'
        "    return basket\n"
    ),
    "shop/stock.py": (
        "# The stock of the shop: what an order may reserve.\n\n\n"
        "def reserve(basket):\n"
        '    """Reserves stock for an order."""\n'
        "    if not basket.items:\n"
        '        raise ValueError("the order has no items")\n\n\n'
        "def release(basket):\n"
        '    """Gives the stock of an order back."""\n'
    ),
    "shop/cli.py": (
        "import argparse\n\nfrom .orders import place_order\n\n\n"
        "def main():\n"
        '    parser = argparse.ArgumentParser("shop")\n'
        '    parser.add_argument("--order", help="the order to place")\n'
        "    place_order(parser.parse_args().order, 3)\n"
    ),
    "tests/test_orders.py": "from shop.orders import place_order\n\n\ndef test_order():\n    assert place_order\n",
}
QUESTION = "What happens to the stock when an order is refused?"
CITED = re.compile(
    r"^  - `(?P<path>[^`]+):(?P<line>\d+)` (?P<fence>`+) ?(?P<quote>.*?) ?(?P=fence)$", re.MULTILINE
)


def shop(folder: Path, more: dict[str, str] | None = None) -> Path:
    """The source tree, in a folder."""
    return write(folder, {**SHOP, **(more or {})})


def wrong_citations(root: Path, page: str) -> list[str]:
    """The citations of a page that do not hold, found without any of the product's code."""
    wrong = []
    for found in CITED.finditer(page):
        lines = (root / found["path"]).read_text("utf-8").split("\n")
        line = " ".join(lines[int(found["line"]) - 1].split())
        if found["quote"] not in line:
            wrong.append(found[0])
    return wrong


def data(body: dict[str, Any]) -> list[Any]:
    """What a request fences as data: parsed where it is JSON."""
    text = body["messages"][0]["content"]
    text = text if isinstance(text, str) else "".join(part["text"] for part in text)
    out = []
    for found in re.finditer(r"<data-(\w+)>\n(.*?)\n</data-\1>", text, re.DOTALL):
        try:
            out.append(json.loads(found[2]))
        except ValueError:
            out.append(found[2])
    return out


def plan(*rows: tuple[str, str, list[str]]) -> dict[str, Any]:
    """A track plan: (name, approach, terms) rows."""
    tracks = [
        {
            "name": name,
            "focus": f"what of {name}",
            "approach": approach,
            "deliverable": "places",
            "terms": terms,
        }
        for name, approach, terms in rows
    ]
    return {"tracks": tracks, "rationale": "as scripted"}


PLAN = plan(
    ("code", "ImplementationScan", ["order", "stock"]),
    ("users", "DependencyTrace", ["reserve", "order"]),
    ("words", "PatternSearch", ["refused", "stock"]),
)


def documented(body: dict[str, Any]) -> dict[str, Any]:
    """An honest reply to the prompt of a track: its first piece of evidence."""
    first = data(body)[2][0]
    cited = {key: first[key] for key in ("path", "line", "quote")}
    return {
        "findings": [{"claim": f"{first['path']} says it", "citations": [cited]}],
        "conclusions": "It does.",
        "gaps": [],
    }


def looked(body: dict[str, Any]) -> dict[str, Any]:
    """An agent on a track: it asks for the track's places, then reads the beginning of the file of the best, then is done."""
    brought = [row for row in data(body)[3:] if isinstance(row, dict) and "call" in row]
    calls: list[dict[str, Any]] = [] if brought else [{"tool": "track_places", "args": {}}]
    if len(brought) == 1 and brought[0].get("got", {}).get("places"):
        path = brought[0]["got"]["places"][0]["path"]
        calls = [{"tool": "read_lines", "args": {"path": path, "first": 1, "last": 30}}]
    return {"done": not calls, "thought": "looking", "calls": calls}


def aggregated(body: dict[str, Any]) -> dict[str, Any]:
    """An honest reply to the prompt of the synthesis: the first finding of each track that has one."""
    rows = [row["findings"][0] for row in data(body)[1] if row["findings"]]
    unified = [{"claim": row["claim"], "citations": row["citations"]} for row in rows]
    return {"unified": unified[:8], "nuances": [], "open_questions": []}


def agreeing(body: dict[str, Any]) -> dict[str, Any]:
    """A judge that confirms every claim."""
    return {
        "verdicts": [
            {"number": row["number"], "says_so": True, "why": "so"} for row in data(body)[0]
        ]
    }


Answer = Callable[[dict[str, Any]], "dict[str, Any] | Item"]


@contextmanager
def thinking(**answers: Answer) -> Iterator[tuple[Server, dict[str, str]]]:
    """A model: `plan`, `turn`, `document`, `aggregate` and `judge` answer the prompts. Yields it and the environment that
    names it."""
    known: dict[str, Answer] = {
        "plan": lambda body: PLAN,
        "turn": looked,
        "document": documented,
        "aggregate": aggregated,
        "judge": agreeing,
        **answers,
    }

    def take(body: dict[str, Any], headers: dict[str, str]) -> Item:
        with server.lock:
            server.requests.append(body)
        system = body["system"][0]["text"]
        kind = (
            "judge"
            if "You are a judge" in system
            else "plan"
            if "You plan" in system
            else "turn"
            if "You follow one track" in system
            else "document"
            if "You document" in system
            else "aggregate"
        )
        said = known[kind](body)
        return said if isinstance(said, Item) else reply(json.dumps(said))

    with messages_api([]) as server:
        server.take = take  # type: ignore[method-assign]
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "test",
            "FDC_MODEL": "claude-sonnet-5",
        }
        yield server, {**clean_environment(), **env}
