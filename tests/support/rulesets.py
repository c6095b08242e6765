"""Random plan sets under random rules, with what their runs do by brute force: the reference for rules of protocols.

The generator keeps its own tree, writes the text from it, and walks every run of that tree on concrete files and
values: each condition either way, each loop every number of turns, each parameter every value, each `for_each_file`
in the order of names. The rule is read as the formula that it stands for (`tests.support.ltlf`), never as an automaton.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import permutations
from typing import Any

from tests.support import ltlf

ACTIONS = {"ta": "a_op", "tb": "b_op", "tc": "c_op", "tn": None}
ACCESS = {"ta": "write", "tb": "delete", "tc": "create", "tn": "read"}
FILES = ("a.txt", "b.txt", "d/c.txt")
GLOBS = ("*.txt", "d/*", "**/*.txt", "a.txt")
TURNS = 2
MOST_RUNS = 1000


class TooMany(Exception):
    """The set has more runs than are worth walking."""


CATALOGUE = json.dumps(
    {
        "format": 1,
        "name": "letters",
        "tools": {
            name: {
                "summary": name,
                "action": action,
                "effect": "pure",
                "trust": "trusted",
                "parameters": [
                    {"name": "path", "kind": "path", "required": False, "access": ACCESS[name]}
                ],
            }
            for name, action in ACTIONS.items()
        },
    }
).encode()

ANY = json.dumps(
    {"states": ["S"], "alphabet": ["a_op", "b_op", "c_op"], "start_state": "S", "accept_states": ["S"],
     "transitions": {"S": {"a_op": "S", "b_op": "S", "c_op": "S"}}}
).encode()  # fmt: skip

# An item: ["step", tool, target or None]  ["call", plan, target or None]  ["require"]
# ["each", glob, most or None, name, body]  ["for" | "fork" | "kept" | "iterate", most, name, body]  ["if", then, orelse]


@dataclass
class RuleSet:
    """`bodies[i]` calls plans of higher number; `own[i]`: it has an automaton of its own. `params[i]`: its parameter, if any."""

    bodies: list[list]
    own: list[bool]
    params: list[str | None]
    defaults: list[str | None]
    check: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)


def rule_set(seed: int, *, same: bool, forks: bool = False, kept: bool = False) -> RuleSet:
    """The plan set and the rule of a seed. `kept`: most forks keep failures."""
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2, 2, 3))
    params = [
        rng.choice(("p", "q", None)) if same or rng.random() < 0.2 else None for _ in range(count)
    ]
    defaults = [rng.choice((None, None, *FILES[:2])) if param else None for param in params]
    writer = _Writer(rng, count, params, defaults, same, forks)
    bodies = [
        writer.body(number, rng.randint(1, 4), 0, [params[number]] if params[number] else [])
        for number in range(count)
    ]
    own = [number == 0 or rng.random() < 0.3 for number in range(count)]
    if kept:
        _keep_most(rng, bodies)
    made = RuleSet(bodies, own, params, defaults, check(rng, same))
    for number, body in enumerate(bodies):
        lines = ["use fsm any.json"] if own[number] else []
        if params[number]:
            lines.append(
                f"param {params[number]}" + (f" = {defaults[number]}" if defaults[number] else "")
            )
        _write(body, 0, lines)
        lines = [
            re.sub(r"@(\d+)=", lambda found: f"{params[int(found[1])]}=", line) for line in lines
        ]
        made.files[f"p{number}.plan"] = ("\n".join(lines) + "\n").encode()
    rule = {
        "rule_id": "r",
        "description": "Tea first.",
        "enforcement": "Proved.",
        "check": made.check,
    }
    made.files["protocols/p.protocol.json"] = json.dumps(
        {"protocol_id": "p", "description": "Tea.", "rules": [rule]}
    ).encode()
    made.files |= {"fdc_tools.json": CATALOGUE, "any.json": ANY, "protocols/": b"p.protocol.json"}
    return made


def _keep_most(rng: random.Random, parts: list) -> None:
    for part in parts:
        if isinstance(part, list):
            if part and part[0] == "fork" and rng.random() < 0.8:
                part[0] = "kept"
            _keep_most(rng, part)


def check(rng: random.Random, same: bool) -> dict[str, Any]:
    """A random check."""
    from fdc_toolchain.automata import declare  # the names only

    template = rng.choice(declare.NAMES)
    wanted = (
        "abc"
        if template in ("fresh", "held")
        else "a"
        if template in (*declare.COUNTED, "init", "last")
        else "ab"
    )
    made: dict[str, Any] = {"template": template}
    for letter in wanted:
        events = [_event(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
        made[letter] = events[0] if len(events) == 1 else events
    if template in declare.COUNTED:
        made["n"] = rng.randint(1, 2)
    if same:
        made["same"] = "path"
    if rng.random() < 0.15:
        made["on_abort"] = "check"
    return made


def _event(rng: random.Random) -> Any:
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(("a_op", "b_op", "c_op"))
    if kind < 0.7:
        return rng.choice(tuple(ACTIONS))
    if kind < 0.8:
        return {"tool": rng.choice(tuple(ACTIONS))}
    return {
        "action": rng.choice(("a_op", "b_op")),
        "arguments": {"path": rng.choice((*GLOBS[:3], "d/c.txt"))},
    }


class _Writer:
    def __init__(
        self,
        rng: random.Random,
        count: int,
        params: list[str | None],
        defaults: list[str | None],
        same: bool,
        forks: bool,
    ) -> None:
        self.rng, self.count, self.params, self.defaults = rng, count, params, defaults
        self.same, self.forks = same, forks

    def target(self, names: list[str]) -> str | None:
        rng = self.rng
        kind = rng.random()
        if names and kind < (0.6 if self.same else 0.2):
            name = rng.choice(names)
            return f"d/{{{name}}}" if rng.random() < 0.15 else f"{{{name}}}"
        if kind < 0.85 if self.same else kind < 0.5:
            return rng.choice((*FILES, "./a.txt") if rng.random() < 0.9 else ("d//c.txt",))
        return None

    def body(self, number: int, size: int, level: int, names: list[str]) -> list:
        rng = self.rng
        out: list = []
        for _ in range(size):
            kind = rng.random()
            inner = rng.randint(1, 2)
            if level < 2 and kind < (0.25 if self.same else 0.1):
                most = rng.choice((None, None, None, 1, 2))
                bound = f"f{level}"
                glob = rng.choice((*GLOBS, "[ab].txt"))
                out.append(
                    [
                        "each",
                        glob,
                        most,
                        bound,
                        self.body(number, inner, level + 1, [*names, bound]),
                    ]
                )
            elif level < 2 and kind < 0.32:
                word = (
                    "fork" if self.forks and rng.random() < 0.6 else rng.choice(("for", "iterate"))
                )
                bound = f"i{level}"
                seen = names if word == "iterate" else [*names, bound]
                out.append(
                    [word, rng.randint(1, TURNS), bound, self.body(number, inner, level + 1, seen)]
                )
            elif level < 2 and kind < 0.42:
                orelse = self.body(number, 1, level + 1, names) if rng.random() < 0.5 else []
                out.append(["if", self.body(number, inner, level + 1, names), orelse])
            elif kind < 0.55 and number + 1 < self.count:
                callee = rng.randrange(number + 1, self.count)
                given = None
                if self.params[callee] and not (self.defaults[callee] and rng.random() < 0.5):
                    given = self.target(names) or "a.txt"
                out.append(["call", callee, given])
            elif kind < 0.58:
                out.append(["require"])
            else:
                out.append(
                    ["step", rng.choice(("ta", "ta", "tb", "tb", "tc", "tn")), self.target(names)]
                )
        return out


def _write(body: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for item in body:
        kind = item[0]
        if kind == "step":
            lines.append(f"{pad}{item[1]}" + (f" {item[2]}" if item[2] else ""))
        elif kind == "require":
            lines.append(f'{pad}require cited("x") else "no"')
        elif kind == "call":
            lines.append(
                f"{pad}call_plan p{item[1]}.plan" + (f" @{item[1]}={item[2]}" if item[2] else "")
            )
        elif kind == "if":
            lines.append(f'{pad}if cited("x")')
            _write(item[1], level + 1, lines)
            if item[2]:
                lines.append(f"{pad}else")
                _write(item[2], level + 1, lines)
        elif kind == "each":
            lines.append(
                f"{pad}for_each_file {item[1]} as {item[3]}"
                + (f" max {item[2]}" if item[2] else "")
            )
            _write(item[4], level + 1, lines)
        elif kind == "iterate":
            lines.append(f'{pad}iterate max {item[1]} until cited("x")')
            _write(item[3], level + 1, lines)
        else:
            head, tail = ("fork", " keep failures") if kind == "kept" else (kind, "")
            lines.append(f'{pad}{head} {item[2]} in "x" max {item[1]}{tail}')
            _write(item[3], level + 1, lines)


# ---- the reference -------------------------------------------------------------------------

Step = tuple[str, str | None]
"""A tool and the path that it was given, in its plain form."""


def plain(path: str) -> str:
    """A path without what means nothing."""
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def matches(path: str, glob: str) -> bool:
    """The globs of this file, by another way than the product's."""
    if glob == "**/*.txt":
        return path.endswith(".txt")
    return fnmatchcase(path, glob) and path.count("/") == glob.count("/")


class _Walk:
    """All runs from one state of the world; a run that stops at a `require` is kept too.

    `passed`, in a branch whose failure is kept: the words with which it may stop, and its run goes on.
    """

    def __init__(self, made: RuleSet, values: tuple[str, ...], free: bool) -> None:
        self.made = made
        self.values = values
        self.free = free
        self.stopped: set[tuple[Step, ...]] = set()
        self.passed: set[tuple[Step, ...]] | None = None

    def body(
        self,
        items: list,
        names: dict[str, str],
        worlds: set[tuple[frozenset[str], tuple[Step, ...]]],
    ) -> set:
        if self.passed is not None:
            self.passed |= {word for _, word in worlds}
        for item in items:
            worlds = self.item(item, names, worlds)
            if self.passed is not None:
                self.passed |= {word for _, word in worlds}
            if len(worlds) > MOST_RUNS:
                raise TooMany
        return worlds

    def path(self, target: str | None, names: dict[str, str]) -> str | None:
        if target is None:
            return None
        for name, value in names.items():
            target = target.replace(f"{{{name}}}", value)
        return plain(target)

    def item(self, item: list, names: dict[str, str], worlds: set) -> set:
        kind = item[0]
        if kind == "step":
            path = self.path(item[2], names)
            out = set()
            for there, word in worlds:
                if path is not None and ACCESS[item[1]] in ("write", "create"):
                    there = there | {path}
                elif path is not None and ACCESS[item[1]] == "delete":
                    there = there - {path}
                out.add((there, (*word, (item[1], path))))
            return out
        if kind == "require":
            self.stopped |= {word for _, word in worlds} if self.passed is None else set()
            return worlds
        if kind == "call":
            param = self.made.params[item[1]]
            path = self.path(item[2], names) or self.made.defaults[item[1]]
            return self.body(
                self.made.bodies[item[1]],
                {param: path} if param and path is not None else {},
                worlds,
            )
        if kind == "if":
            return self.body(item[1], names, worlds) | self.body(item[2], names, worlds)
        if kind == "each":
            return self.each(item, names, worlds)
        if kind in ("fork", "kept"):
            return self.fork(item, names, worlds)
        out = set() if kind == "iterate" else set(worlds)
        for _ in range(item[1]):
            if kind == "iterate":
                worlds = self.body(item[3], names, worlds)
            else:
                worlds = {
                    one
                    for value in self.values
                    for one in self.body(item[3], {**names, item[2]: value}, worlds)
                }
            out |= worlds
            if len(out) > MOST_RUNS:
                raise TooMany
        return out

    def each(self, item: list, names: dict[str, str], worlds: set) -> set:
        if self.free:
            return self.item(["for", item[2] or TURNS + 1, item[3], item[4]], names, worlds)
        out = set()
        by_list: dict[tuple[str, ...], set] = {}
        for world in worlds:
            by_list.setdefault(
                tuple(sorted(path for path in world[0] if matches(path, item[1]))), set()
            ).add(world)
        for files, group in by_list.items():
            if item[2] is not None and len(files) > item[2]:
                self.stopped |= {word for _, word in group} if self.passed is None else set()
                continue
            for path in files:
                group = self.body(item[4], {**names, item[3]: path}, group)
            out |= group
        return out

    def fork(self, item: list, names: dict[str, str], worlds: set) -> set:
        """Every interleaving of every run of the branches; they change no file in the sets that have forks."""
        out = set(worlds)
        outside, around = self.stopped, self.passed
        for there, word in worlds:
            self.stopped, self.passed = (
                set(),
                set() if item[0] == "kept" or around is not None else None,
            )
            branch = {
                tail
                for value in self.values
                for _, tail in self.body(item[3], {**names, item[2]: value}, {(there, ())})
            }
            outside |= {word + tail for tail in self.stopped}
            stopping = branch | (self.passed or set())
            if around is not None:
                around |= {word + one for one in self.at_once(stopping, item[1])}
            out |= {
                (there, word + one)
                for one in self.at_once(stopping if item[0] == "kept" else branch, item[1])
            }
            if len(out) > MOST_RUNS:
                raise TooMany
        self.stopped, self.passed = outside, around
        return out

    @staticmethod
    def at_once(branch: set[tuple[Step, ...]], most: int) -> set[tuple[Step, ...]]:
        """What up to so many branches do together."""
        out: set[tuple[Step, ...]] = set()
        merged: set[tuple[Step, ...]] = {()}
        for _ in range(most):
            if len(merged) * len(branch) > 400:
                raise TooMany
            merged = {one for left in merged for right in branch for one in _merged(left, right)}
            out |= merged
            if len(out) > MOST_RUNS:
                raise TooMany
        return out


def _merged(left: tuple, right: tuple) -> set[tuple]:
    if len(left) + len(right) > 6:
        raise TooMany
    places = set(permutations([0] * len(left) + [1] * len(right)))
    out = set()
    for order in places:
        sources = (iter(left), iter(right))
        out.add(tuple(next(sources[which]) for which in order))
    return out


VALUES = (*FILES, "e.md")


def breaks(made: RuleSet, values: tuple[str, ...] = VALUES, *, free: bool = False) -> bool:
    """Whether some run of plan 0 breaks the rule, whatever files there are, with these as the values of its names.

    `free`: a loop over files runs any number of times, whatever files there are, as everywhere in the linter
    but where a rule is about each value.
    """
    initial = [
        frozenset(path for at, path in enumerate(values) if bits >> at & 1)
        for bits in range(1 << len(values))
    ]
    uses_files = not free and b"for_each_file" in b"".join(made.files.values())
    strict = made.check.get("on_abort") == "check"
    param = made.params[0]
    done: set[tuple[Step, ...]] = set()
    for value in values if param else ("",):
        walk = _Walk(made, values, free)
        worlds = {(there, ()) for there in (initial if uses_files else initial[:1])}
        done |= {
            word for _, word in walk.body(made.bodies[0], {param: value} if param else {}, worlds)
        }
        if strict:
            done |= walk.stopped
    return any(not _kept(made, word, strict) for word in done)


def _kept(made: RuleSet, word: tuple[Step, ...], strict: bool) -> bool:
    rows: list[tuple[Step, ...]] = [word]
    if made.check.get("same"):
        rows = [
            tuple(step for step in word if step[1] == path)
            for path in {step[1] for step in word} - {None}
        ]
    n = made.check.get("n", 1)
    for row in rows:
        letters = tuple(letter(made.check, step) for step in row)
        if not ltlf.keeps(made.check["template"], n, letters):
            return False
        if strict and not all(
            ltlf.keeps(made.check["template"], n, letters[:at]) for at in range(1, len(letters))
        ):
            return False
    return True


def letter(check: dict[str, Any], step: Step) -> ltlf.Letter:
    """Which of the check's events a step is."""
    out = set()
    for name in "abc":
        events = check.get(name, [])
        for event in events if isinstance(events, list) else [events]:
            if _is(event, step):
                out.add(name)
    return frozenset(out)


def _is(event: Any, step: Step) -> bool:
    tool, path = step
    if isinstance(event, str):
        return event in (tool, ACTIONS[tool])
    if event.get("tool", tool) != tool or event.get("action", ACTIONS[tool]) != ACTIONS[tool]:
        return False
    glob = event.get("arguments", {}).get("path")
    return glob is None or path is not None and matches(path, glob)
