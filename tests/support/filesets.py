"""Random plan sets that create, use and remove files. `filewalks` has their meaning, by brute force."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

LITERALS = ("a.txt", "b.txt", "d/c.txt")
ACCESSES = ("read", "create", "delete", "write", "edit")
NAMES = ("r1", "r2")
GLOBS = ("*.x", "*.txt", "d/*", "d/*.txt", "out/*")
WRITES = ("d/", "out/", "a")
TURNS = 4
MOST_KEPT_RUNS = 1200
MOST_CHOICES = 60


def _tool(summary: str, parameters: list[tuple[str, str | None]], **more: Any) -> dict[str, Any]:
    return {
        "summary": summary,
        "action": None,
        "effect": "pure",
        "trust": "trusted",
        "parameters": [
            {"name": name, "kind": "path", **({"access": access} if access else {})}
            for name, access in parameters
        ],
        **more,
    }


CATALOGUE = json.dumps(
    {
        "format": 1,
        "name": "files",
        "tools": {
            **{f"t_{access}": _tool(access, [("path", access)]) for access in ACCESSES},
            "t_rename": _tool("rename", [("path", "delete"), ("target", "create")]),
            "t_shell": _tool("shell", [], writes="unknown"),
            "t_make": _tool("make a value", []),
            "t_use": _tool("use a value", [("value", None)]),
        },
    }
).encode()

AUTOMATON = b"""\
{"states": ["S"], "alphabet": ["x_op"], "transitions": {"S": {"x_op": "S"}}, "start_state": "S", "accept_states": ["S"]}
"""

# An item is a list whose second place is its line, filled in when the text is written:
#   ["step", line, tool, targets, bind]    ["use", line, name]
#   ["call", line, plan, {param: target}, depth or None]
#   ["each" | "for" | "iterate" | "kept", line, most or None, name, body, glob]    ["if", line, known, then, orelse]
# A target is a text with names in braces, as plans write it.


@dataclass
class FileSet:
    """`bodies[i]` calls plans of higher number, or itself where it says how deep; plan 0 is the root.

    `there`: which of the literal paths are there. `allow[i]`: the beginnings of the paths that commands may change.
    """

    bodies: list[list]
    params: list[dict[str, str | None]]
    there: frozenset[str]
    files: dict[str, bytes] = field(default_factory=dict)
    kept: bool = False
    allow: list[tuple[str, ...] | None] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    """The paths that the plans name literally: of those it is known whether they are there."""


def file_set(seed: int, *, kept: bool = False, rich: bool = False) -> FileSet:
    """The plan set of a seed. `kept`: every `for` and half of the `if` are forks of one branch whose failure is kept.

    `rich`: with globs that meet the literal paths, with paths that only worlds have, and with `allow write`.
    """
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2, 2, 3))
    params: list[dict[str, str | None]] = [
        {name: rng.choice((None, None, *LITERALS)) for name in ("p", "q")[: rng.choice((0, 1, 2))]}
        for _ in range(count)
    ]
    there = frozenset(path for path in LITERALS if rng.random() < 0.5)
    writer = _Writer(rng, count, params, rich)
    bodies = [
        writer.body(number, rng.randint(1, 5), 0, list(params[number])) for number in range(count)
    ]
    if kept:
        bodies = [_with_forks(body, 0) for body in bodies]
    allow = [
        tuple(rng.sample(WRITES, rng.randint(0, 2))) if rich and rng.random() < 0.3 else None
        for _ in range(count)
    ]
    made = FileSet(bodies, params, there, kept=kept, allow=allow)
    for number, body in enumerate(bodies):
        own = number == 0 or rng.random() < 0.3
        lines = ["use fsm any.json"] if own else []
        lines += [
            f"param {name}" + (f" = {default}" if default else "")
            for name, default in params[number].items()
        ]
        lines += ["param items = x"]
        writes = allow[number]
        if writes is not None:
            globs = "".join(f" {start}**" for start in writes)
            lines += ["allow run *", "allow read **", "allow write" + (globs or " nothing")]
        _write(body, 0, lines)
        made.files[f"p{number}.plan"] = ("\n".join(lines) + "\n").encode()
    text = b"".join(made.files.values()).decode()
    made.named = frozenset(path for path in (*LITERALS, "out/a.txt") if path in text)
    return made


def _with_forks(body: list, level: int) -> list:
    out: list = []
    for at, item in enumerate(body):
        made = list(item)
        if item[0] in ("each", "for", "iterate", "if"):
            made[4] = _with_forks(item[4], level + 1)
        if item[0] == "if":
            made[3] = _with_forks(item[3], level + 1)
        if item[0] == "for":
            made[0], made[2] = "kept", 1
        elif item[0] == "if" and at % 2:
            made = ["kept", 0, 1, f"k{level}", made[3]]
        out.append(made)
    return out


class _Writer:
    def __init__(
        self, rng: random.Random, count: int, params: list[dict[str, str | None]], rich: bool
    ) -> None:
        self.rng = rng
        self.rich = rich
        self.count = count
        self.params = params

    def target(self, names: list[str]) -> str:
        rng = self.rng
        if names and rng.random() < 0.45:
            name = rng.choice(names)
            if name in ("p", "q") and rng.random() < 0.12:
                name += ".path"
            return f"{{{name}}}" if rng.random() < 0.8 else f"out/{{{name}}}"
        return rng.choice(LITERALS)

    def two(self, names: list[str]) -> list[str]:
        """Two paths, not the same text: renaming a file to its own name is another error."""
        one, other = self.target(names), self.target(names)
        return [one, other if other != one else f"new_{len(other)}.txt"]

    def body(self, number: int, size: int, level: int, names: list[str]) -> list:
        rng = self.rng
        out: list = []
        for _ in range(size):
            kind = rng.random()
            if level < 2 and kind < 0.30:
                out.append(self.block(number, level, names))
            elif kind < 0.48 and number + 1 < self.count:
                out.append(self.call(rng.randrange(number + 1, self.count), None, names))
            elif kind < 0.50 and number > 0:
                out.append(self.call(number, 1, names))
            elif kind < 0.55:
                out.append(["step", 0, "t_shell", [], None])
            elif kind < 0.61:
                out.append(["step", 0, "t_rename", self.two(names), None])
            elif kind < 0.66:
                out.append(["step", 0, "t_make", [], rng.choice(NAMES)])
            elif kind < 0.72:
                out.append(["use", 0, rng.choice(NAMES)])
            else:
                out.append(["step", 0, f"t_{rng.choice(ACCESSES)}", [self.target(names)], None])
        return out

    def call(self, plan: int, depth: int | None, names: list[str]) -> list:
        given = {}
        for name, default in self.params[plan].items():
            if default is None or self.rng.random() < 0.5:
                given[name] = self.target(names)
        return ["call", 0, plan, given, depth]

    def block(self, number: int, level: int, names: list[str]) -> list:
        rng = self.rng
        kind = rng.choice(("each", "for", "iterate", "if", "if"))
        size = rng.randint(1, 2)
        if kind == "if":
            known = rng.choice((None, None, None, None, True, False))
            orelse = self.body(number, 1, level + 1, names) if rng.random() < 0.5 else []
            return ["if", 0, known, self.body(number, size, level + 1, names), orelse]
        name = {"each": f"f{level}", "for": f"i{level}"}.get(kind)
        most = None if kind == "each" and rng.random() < 0.7 else rng.randint(1, 2)
        inner = [*names, name] if name else names
        if kind == "each":  # the same file under the name that it has by its depth
            inner = [*inner, f"file{1 + sum(word.startswith('file') for word in names)}"]
        glob = rng.choice(GLOBS) if self.rich else "*.x"
        return [kind, 0, most, name, self.body(number, size, level + 1, inner), glob]


def _write(body: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for item in body:
        kind = item[0]
        item[1] = len(lines) + 1
        if kind == "step":
            bind = f"{item[4]} <- " if item[4] else ""
            lines.append(" ".join((f"{pad}{bind}{item[2]}", *item[3])))
        elif kind == "use":
            lines.append(f"{pad}t_use {{{item[2]}}}")
        elif kind == "call":
            given = "".join(f" {name}={target}" for name, target in item[3].items())
            lines.append(
                f"{pad}call_plan p{item[2]}.plan{given}" + (f" depth {item[4]}" if item[4] else "")
            )
        elif kind == "if":
            lines.append(f"{pad}if " + {None: 'cited("x")', True: "true", False: "false"}[item[2]])
            _write(item[3], level + 1, lines)
            if item[4]:
                lines.append(f"{pad}else")
                _write(item[4], level + 1, lines)
        else:
            bound = f" max {item[2]}" if item[2] else ""
            glob = item[5] if len(item) > 5 else "*.x"
            head = {
                "each": f"for_each_file {glob} as {item[3]}{bound}",
                "for": f"for {item[3]} in {{items}}{bound}",
            }
            head["kept"] = f"fork {item[3]} in {{items}}{bound} keep failures"
            lines.append(pad + head.get(kind, f'iterate{bound} until cited("x")'))
            _write(item[4], level + 1, lines)
