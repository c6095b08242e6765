"""Random plan sets that create, use and remove files, with their meaning by brute force.

The reference that the analyses of files and of names are held to. The generator keeps its own
tree, writes the text from it, and walks every run of that tree on concrete files: each
condition either way, each loop every number of turns. A computed path is a symbol of its own:
a parameter of the root stands for a file of which nothing is known, a turn of `for_each_file`
for one that is there. Below a fork that keeps failures each step may be the last of the branch.
What a shell step leaves absent is afterwards there if the command made it. A step that fails has
then had its way: it is said once, not again for all that follows from it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

LITERALS = ("a.txt", "b.txt", "d/c.txt")
ACCESSES = ("read", "create", "delete", "write", "edit")
NAMES = ("r1", "r2")
TURNS = 4
"""Turns of a loop over files that are tried; four states need no more to show all that they can."""

MOST_RUNS = 120
MOST_KEPT_RUNS = 1200
MOST_CHOICES = 60


class TooMany(Exception):
    """The set has more runs than are worth walking, or a run that cannot be walked."""


def _tool(summary: str, parameters: list[tuple[str, str | None]], **more: Any) -> dict[str, Any]:
    return {
        "summary": summary,
        "action": None,
        "effect": "pure",
        "trust": "trusted",
        "parameters": [
            {"name": name, "kind": "path", **({"access": access} if access else {})} for name, access in parameters
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
#   ["each" | "for" | "iterate" | "kept", line, most or None, name, body]    ["if", line, known, then, orelse]
# A target is a text with names in braces, as plans write it.


@dataclass
class FileSet:
    """`bodies[i]` calls plans of higher number, or itself where it says how deep; plan 0 is the root."""

    bodies: list[list]
    params: list[dict[str, str | None]]
    there: frozenset[str]
    files: dict[str, bytes] = field(default_factory=dict)
    kept: bool = False


def file_set(seed: int, *, kept: bool = False) -> FileSet:
    """The plan set of a seed. `kept`: every `for` and half of the `if` are forks of one branch whose failure is kept."""
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2, 2, 3))
    params: list[dict[str, str | None]] = [
        {name: rng.choice((None, None, *LITERALS)) for name in ("p", "q")[: rng.choice((0, 1, 2))]}
        for _ in range(count)
    ]
    there = frozenset(path for path in LITERALS if rng.random() < 0.5)
    writer = _Writer(rng, count, params)
    bodies = [writer.body(number, rng.randint(1, 5), 0, list(params[number])) for number in range(count)]
    if kept:
        bodies = [_with_forks(body, 0) for body in bodies]
    made = FileSet(bodies, params, there, kept=kept)
    for number, body in enumerate(bodies):
        own = number == 0 or rng.random() < 0.3
        lines = ["use fsm any.json"] if own else []
        lines += [f"param {name}" + (f" = {default}" if default else "") for name, default in params[number].items()]
        _write(body, 0, lines)
        made.files[f"p{number}.plan"] = ("\n".join(lines) + "\n").encode()
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
    def __init__(self, rng: random.Random, count: int, params: list[dict[str, str | None]]) -> None:
        self.rng = rng
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
                out.append(["step", 0, "t_rename", [self.target(names), self.target(names)], None])
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
        return [kind, 0, most, name, self.body(number, size, level + 1, inner)]


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
            lines.append(f"{pad}call_plan p{item[2]}.plan{given}" + (f" depth {item[4]}" if item[4] else ""))
        elif kind == "if":
            lines.append(f"{pad}if " + {None: 'cited("x")', True: "true", False: "false"}[item[2]])
            _write(item[3], level + 1, lines)
            if item[4]:
                lines.append(f"{pad}else")
                _write(item[4], level + 1, lines)
        else:
            bound = f" max {item[2]}" if item[2] else ""
            head = {"each": f"for_each_file *.x as {item[3]}{bound}", "for": f'for {item[3]} in "x"{bound}'}
            head["kept"] = f'fork {item[3]} in "x"{bound} keep failures'
            lines.append(pad + head.get(kind, f'iterate{bound} until cited("x")'))
            _write(item[4], level + 1, lines)


# ---- the reference -------------------------------------------------------------------------

Symbol = tuple[object, ...]
"""A concrete path: a tuple of texts and of the tokens of what is not known."""


class _Choices:
    """Answers the questions of one run, so many at most; `following` makes those of the next."""

    def __init__(self, prefix: list[list[int]]) -> None:
        self.made = prefix
        self.at = 0

    def choose(self, options: int) -> int:
        if self.at == MOST_CHOICES:
            raise TooMany
        if self.at == len(self.made):
            self.made.append([0, options])
        self.at += 1
        return self.made[self.at - 1][0]

    def following(self) -> list[list[int]] | None:
        made = self.made
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        if not made:
            return None
        made[-1][0] += 1
        return made


class Stops(Exception):
    """A branch ends here, and the run goes on."""


class Failed(tuple):
    """(line of the root, plan, line, code) of a step that fails in some run."""

    __slots__ = ()


def failures(made: FileSet) -> set[Failed]:
    """Every step that fails in some run of the root; as perhaps failing only what fails in none for certain."""
    found = {item for item in _walked(made, 0) if len(item) == 4}
    return {item for item in found if item[3] != "FDC414" or Failed((*item[:3], "FDC411")) not in found}


def unbound(made: FileSet, number: int) -> set[int]:
    """The lines of one plan that use a name which some run has not bound there, in branches that never run too."""
    return {item[0] for item in _walked(made, number, dead=True) if len(item) == 1}


def _walked(made: FileSet, root: int, *, dead: bool = False) -> set[Any]:
    found: set[Any] = set()
    prefix: list[list[int]] | None = []
    count = 0
    while prefix is not None:
        count += 1
        if count > (MOST_KEPT_RUNS if made.kept else MOST_RUNS):
            raise TooMany
        choices = _Choices(prefix)
        run = _Run(made, choices, found, dead)
        names = {name: (("param", name),) for name in made.params[root]}
        run.body(root, made.bodies[root], names, set(), None, {})
        prefix = choices.following()
    return found


class _Run:
    def __init__(self, made: FileSet, choices: _Choices, found: set[Any], dead: bool) -> None:
        self.made = made
        self.dead = dead
        self.choices = choices
        self.found = found
        self.state: dict[Symbol, str] = {(path,): "present" for path in made.there}
        self.shelled = False
        self.fresh = 0
        self.branches = 0

    def symbol(self, target: str, names: dict[str, Symbol]) -> Symbol:
        if "{" not in target:
            return (target,)
        before, name = target.rstrip("}").split("{")
        name, _, part = name.partition(".")
        inner = names[name]
        if part:
            if isinstance(inner[0], str):
                raise TooMany  # a text has no parts: what such a path names is nobody's business
            inner = ((*inner[0], part),)
        if isinstance(inner[0], str):
            return (before + inner[0], *inner[1:])
        return (before, *inner) if before else inner

    def before(self, path: Symbol) -> str:
        found = self.state.get(path)
        if found is not None:
            return found
        literal = len(path) == 1 and isinstance(path[0], str)
        return "unknown" if not literal else "made" if self.shelled else "absent"

    def access(self, access: str, path: Symbol, where: tuple[int, str, int]) -> None:
        before = self.before(path)
        if access == "create":
            if before == "present":
                self.found.add(Failed((*where, "FDC412")))
        elif access != "write" and before in ("absent", "made"):
            self.found.add(Failed((*where, "FDC411" if before == "absent" else "FDC414")))
        self.state[path] = "absent" if access == "delete" else "present"

    def shell(self) -> None:
        self.shelled = True
        for path, state in self.state.items():
            if state == "absent":
                self.state[path] = "made"

    def turns(self, item: list) -> Iterator[None]:
        least = 1 if item[0] == "iterate" else 0
        most = item[2] or TURNS
        for _ in range(least + self.choices.choose(most - least + 1)):
            yield

    def body(
        self, number: int, body: list, names: dict[str, Symbol], bound: set[str], outer: int | None, calls: dict
    ) -> None:
        for item in body:
            kind, line = item[0], item[1]
            where = (outer or line, f"p{number}.plan", line)
            if kind == "step":
                tool = item[2]
                if tool == "t_shell":
                    self.shell()
                elif tool == "t_make":
                    bound.add(item[4])
                elif tool == "t_rename":
                    self.access("delete", self.symbol(item[3][0], names), where)
                    self.access("create", self.symbol(item[3][1], names), where)
                else:
                    self.access(tool[2:], self.symbol(item[3][0], names), where)
                if self.branches and not self.dead and self.choices.choose(2):
                    raise Stops
            elif kind == "use":
                if item[2] not in bound and outer is None:
                    self.found.add((line,))
            elif kind == "call" and not self.dead:
                self.call(number, item, names, outer, calls)
            elif kind == "call":
                continue
            elif kind == "if":
                holds = self.choices.choose(2) == 0 if item[2] is None else item[2]
                if item[2] is not None and self.dead:
                    self.body(number, item[4] if holds else item[3], names, set(bound), outer, calls)
                self.body(number, item[3] if holds else item[4], names, bound, outer, calls)
            else:
                for _ in self.turns(item):
                    inner = names
                    if item[3]:
                        self.fresh += 1
                        token = (kind, self.fresh)
                        if kind == "each":
                            self.state[(token,)] = "present"
                        inner = {**names, item[3]: (token,)}
                        if kind == "each":
                            inner[f"file{1 + sum(word.startswith('file') for word in names)}"] = (token,)
                    if kind != "kept":
                        self.body(number, item[4], inner, bound, outer, calls)
                        continue
                    self.branches += 1
                    with suppress(Stops):
                        self.body(number, item[4], inner, bound, outer, calls)
                    self.branches -= 1

    def call(self, number: int, item: list, names: dict[str, Symbol], outer: int | None, calls: dict) -> None:
        plan, given, depth = item[2], item[3], item[4]
        if depth is not None:
            edge = (number, item[1])
            if calls.get(edge, 0) >= depth:
                return
            calls = {**calls, edge: calls.get(edge, 0) + 1}
        inner: dict[str, Symbol] = {}
        for name, default in self.made.params[plan].items():
            inner[name] = self.symbol(given[name], names) if name in given else (default,)
        self.body(plan, self.made.bodies[plan], inner, set(), outer or item[1], calls)
