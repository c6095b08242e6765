"""A small project with a fault of one line, and a model that answers each prompt of the repair by what it is asked."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .explored import data
from .messages_api import Item, Server, messages_api, reply
from .process import clean_environment
from .research import write

CHECK = f"{shlex.quote(sys.executable)} check.py"
"""A test command that starts in a few milliseconds."""

SHOP = {
    "shop/__init__.py": "",
    "shop/price.py": (
        '"""Prices."""\n\n\n'
        "def discount(total, members):\n"
        '    """Members get ten percent off from 100 on."""\n'
        "    if members and total > 100:\n"
        "        return total * 0.9\n"
        "    return total\n\n\n"
        "def basket(prices, members=False):\n"
        "    total = 0\n"
        "    for price in prices:\n"
        "        total += price\n"
        "    return discount(total, members)\n"
    ),
    "check.py": (
        "import unittest\n\nfrom shop.price import basket, discount\n\n\n"
        "class Prices(unittest.TestCase):\n"
        "    def test_below(self):\n        self.assertEqual(discount(99, True), 99)\n\n"
        "    def test_limit(self):\n        self.assertEqual(discount(100, True), 90)\n\n"
        "    def test_nobody(self):\n        self.assertEqual(basket([50, 60]), 110)\n\n\n"
        "unittest.main()\n"
    ),
}
LINE = 6
"""The line of the fault in shop/price.py."""
GOOD = (
    "--- a/shop/price.py\n+++ b/shop/price.py\n@@ -6 +6 @@\n"
    "-    if members and total > 100:\n+    if members and total >= 100:\n"
)
USELESS = GOOD.replace(">= 100", "> 100.5")
WORSE = GOOD.replace("total >= 100", "total < 100")
OUTSIDE = "--- a/shop/price.py\n+++ b/shop/price.py\n@@ -7 +7 @@\n-        return total * 0.9\n+        return total * 0.8\n"
TWO = GOOD + "@@ -14 +14 @@\n-        total += price\n+        total += price + 0\n"
WHY = "EXPLANATION-THAT-STAYS-AT-HOME"


def shop(folder: Path, more: dict[str, str] | None = None) -> Path:
    """The project, in a folder."""
    return write(folder, {**SHOP, **(more or {})})


def held(folder: Path) -> dict[str, bytes]:
    """What the project's own files hold."""
    return {name: (folder / name).read_bytes() for name in SHOP}


def region(
    first: int = LINE, last: int | None = None, path: str = "shop/price.py"
) -> dict[str, Any]:
    return {"path": path, "first": first, "last": last or first, "kind": "lines"}


def hypothesis(
    claim: str, where: Any, confidence: Any = 0.5, effect: str = "test_limit passes"
) -> dict[str, Any]:
    return {
        "claim": claim, "affected_region": where, "expected_effect": effect, "confidence": confidence,
        "interpretation": f"about {claim}", "explanation": WHY,
    }  # fmt: skip


RIGHT = hypothesis("the comparison leaves the limit out", region(), 0.9)
WRONG = hypothesis("the factor is applied to the wrong operand", region(7), 0.4)
OTHER = hypothesis("the sum loses a price", region(14), 0.3)

ANSWERS: dict[str, Any] = {
    "gather": {"needs_more_context": False, "why": "it is all there", "requests": []},
    "interpret": {"interpretation": "the condition of discount", "explanation": WHY},
    "diagnose": {"hypotheses": [RIGHT, WRONG]},
    "falsify": {
        "hypothesis_id": "",
        "contradictions": [
            {
                "observation": "no failing test runs the line",
                "status": "pending",
                "kind": "not-executed",
            }
        ],
    },
    "propose": {
        "intent": "Rebind the comparison so that the limit belongs to the branch.",
        "structural_change": {"type": "scope", "operation": "rebind_operator"},
    },
    "patch": GOOD,
    "guess": GOOD,
    "critique": {"assessment": "as measured"},
}
_KINDS = {
    "You are about to": "gather", "You interpret": "interpret", "You diagnose": "diagnose", "You are a sceptic": "falsify",
    "You propose": "propose", "You write": "patch", "You repair": "guess", "You look at": "critique",
}  # fmt: skip

Answer = Callable[[dict[str, Any], int], Any]


def kind_of(body: dict[str, Any]) -> str:
    """Which prompt a request is."""
    system = body["system"][0]["text"]
    return next(kind for start, kind in _KINDS.items() if system.startswith(start))


@contextmanager
def thinking(**answers: Any) -> Iterator[tuple[Server, dict[str, str]]]:
    """A model. An answer is a value, a list of them (the last one stays), or a function of the request and its number."""
    known = {**ANSWERS, **answers}
    asked: dict[str, int] = {}

    def take(body: dict[str, Any], headers: dict[str, str]) -> Item:
        kind = kind_of(body)
        with server.lock:
            server.requests.append(body)
            number = asked[kind] = asked.get(kind, 0) + 1
        said = known[kind]
        if isinstance(said, list):
            said = said[min(number, len(said)) - 1]
        elif callable(said):
            said = said(body, number)
        if isinstance(said, Item):
            return said
        if kind == "falsify" and isinstance(said, dict) and said.get("hypothesis_id") == "":
            said = {**said, "hypothesis_id": data(body)[0]["id"]}
        return reply(said if isinstance(said, str) else json.dumps(said))

    with messages_api([]) as server:
        server.take = take  # type: ignore[method-assign]
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "test",
            "FDC_MODEL": "claude-sonnet-5",
        }
        yield server, {**clean_environment(), **env}
