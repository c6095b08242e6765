"""Random plan sets that create, use and remove files, with their meaning by brute force.

The reference that the analyses of files and of names are held to. The generator keeps its own
tree, writes the text from it, and walks runs of that tree on concrete files in concrete worlds: each
condition either way, each loop over the files that are really there or over any items, equal ones too,
every name with a real path in it, every command with any change of a file that it may change. Below a
fork that keeps failures each step may be the last of the branch. A step that fails has then had its way,
so that what fails later is seen too.
"""

from __future__ import annotations

import fnmatch
import json
import random
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    bodies = [writer.body(number, rng.randint(1, 5), 0, list(params[number])) for number in range(count)]
    if kept:
        bodies = [_with_forks(body, 0) for body in bodies]
    allow = [tuple(rng.sample(WRITES, rng.randint(0, 2))) if rich and rng.random() < 0.3 else None for _ in range(count)]
    made = FileSet(bodies, params, there, kept=kept, allow=allow)
    for number, body in enumerate(bodies):
        own = number == 0 or rng.random() < 0.3
        lines = ["use fsm any.json"] if own else []
        lines += [f"param {name}" + (f" = {default}" if default else "") for name, default in params[number].items()]
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
    def __init__(self, rng: random.Random, count: int, params: list[dict[str, str | None]], rich: bool) -> None:
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
            lines.append(f"{pad}call_plan p{item[2]}.plan{given}" + (f" depth {item[4]}" if item[4] else ""))
        elif kind == "if":
            lines.append(f"{pad}if " + {None: 'cited("x")', True: "true", False: "false"}[item[2]])
            _write(item[3], level + 1, lines)
            if item[4]:
                lines.append(f"{pad}else")
                _write(item[4], level + 1, lines)
        else:
            bound = f" max {item[2]}" if item[2] else ""
            glob = item[5] if len(item) > 5 else "*.x"
            head = {"each": f"for_each_file {glob} as {item[3]}{bound}", "for": f"for {item[3]} in {{items}}{bound}"}
            head["kept"] = f"fork {item[3]} in {{items}}{bound} keep failures"
            lines.append(pad + head.get(kind, f'iterate{bound} until cited("x")'))
            _write(item[4], level + 1, lines)


# ---- the reference -------------------------------------------------------------------------
#
# Real files in a set, real values in every name: nothing here is a symbol, and nothing is joined.
# A run is a list of choices; all runs are walked where they are few, many random ones where not.

EXTRAS = ("y.x", "d/e.txt", "out/y.x")
"""Files that worlds have beside those that a plan names."""

UNIVERSE = (*LITERALS, *EXTRAS, "new.x")
MOST_RUNS = 40
SAMPLES = 40


class TooMany(Exception):
    """The set has a run that cannot be walked."""


class Choices:
    """Answers the questions of one run: those of `made` first, then 0 (or at random); `following` makes those of the next."""

    def __init__(self, made: list[list[int]], rng: random.Random | None = None) -> None:
        self.made = made
        self.rng = rng
        self.at = 0

    def choose(self, options: int) -> int:
        if self.at == MOST_CHOICES:
            raise TooMany
        if self.rng is not None:
            self.at += 1
            return self.rng.randrange(options)
        if self.at == len(self.made):
            self.made.append([0, options])
        self.at += 1
        return self.made[self.at - 1][0]

    def following(self) -> list[list[int]] | None:
        made = self.made[: self.at]
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        if not made:
            return None
        made[-1][0] += 1
        return made


class Stops(Exception):
    """A branch ends here, and the run goes on."""


class Ends(Exception):
    """The run ends here."""


class Text(NamedTuple):
    """What a name holds: a text, and who chose it (`plan`: a literal, `glob`: a file that is there, `nobody`)."""

    text: str
    by: str
    bare: bool = True
    """The value itself, with nothing around it."""


Place = tuple[str, int]


class Failed(NamedTuple):
    """A step that fails in a run: line of the root, plan, line, code; the rest says why.

    `path` by whom it was chosen; `last`: the kind and place of what changed the file last, and who chose its path;
    `commands`: the places of the commands that ran before.
    """

    outer: int
    plan: str
    line: int
    code: str
    path: Text
    last: tuple[str, Place, str] | None
    commands: frozenset[Place]


def failures(made: FileSet) -> tuple[list[Failed], bool]:
    """Steps that fail in some run in some world, and whether all runs in all worlds were walked."""
    return _walked(made, 0)


def excused(item: Failed, told: Collection[tuple[str, Place, str]]) -> bool:
    """True where one of the assumptions (code, place of the step, sentence) is false in that run."""
    names = f"`{item.path.text}`" if item.path.by == "plan" else ""
    for code, place, sentence in told:
        if code in ("FDC414", "FDC702") and place in item.commands and names in sentence:
            by_command = item.last is not None and item.last[0] == "command" and item.last[1] == place
            if by_command or code == "FDC414" and item.code == "FDC411":
                return True
        if code == "FDC704" and item.last is not None and item.last[0] == "step" and names in sentence:
            if "nobody" in (item.path.by, item.last[2]):
                return True
        if code == "FDC703" and not (item.path.by == "plan" or item.path.by == "glob" and item.path.bare):
            return True
    return False


def unbound(made: FileSet, number: int) -> set[int]:
    """The lines of one plan that use a name which some run has not bound there, in branches that never run too."""
    found: set[int] = set()
    prefix: list[list[int]] | None = []
    count = 0
    while prefix is not None:
        count += 1
        if count > (MOST_KEPT_RUNS if made.kept else MOST_RUNS):
            raise TooMany
        choices = Choices(prefix)
        _Names(choices, found).body(made.bodies[number], set())
        prefix = choices.following()
    return found


class _Names:
    """One run of a plan, looked at for its names only."""

    def __init__(self, choices: Choices, found: set[int]) -> None:
        self.choices = choices
        self.found = found

    def body(self, body: list, bound: set[str]) -> None:
        for item in body:
            kind = item[0]
            if kind == "step" and item[4]:
                bound.add(item[4])
            elif kind == "use" and item[2] not in bound:
                self.found.add(item[1])
            elif kind == "if":
                holds = self.choices.choose(2) == 0 if item[2] is None else item[2]
                if item[2] is not None:
                    self.body(item[4] if holds else item[3], set(bound))
                self.body(item[3] if holds else item[4], bound)
            elif kind in ("each", "for", "iterate", "kept"):
                least = 1 if kind == "iterate" else 0
                for _ in range(least + self.choices.choose((item[2] or TURNS) - least + 1)):
                    self.body(item[4], bound)


def _walked(made: FileSet, root: int) -> tuple[list[Failed], bool]:
    found: dict[Failed, None] = {}
    prefix: list[list[int]] | None = []
    count = 0
    while prefix is not None and count < MOST_RUNS:
        count += 1
        choices = Choices(prefix)
        _Run(made, choices, found).root(root)
        prefix = choices.following()
    if prefix is not None:
        rng = random.Random(count)
        for _ in range(SAMPLES):
            _Run(made, Choices([], rng), found).root(root)
    return list(found), prefix is None


class _Run:
    """One run in one world. A step that fails has then had its way: the run goes on, to see what else fails."""

    def __init__(self, made: FileSet, choices: Choices, found: dict[Failed, None]) -> None:
        self.made = made
        self.choices = choices
        self.found = found
        self.present = set(made.there)
        self.last: dict[str, tuple[str, Place, str]] = {}
        self.commands: set[Place] = set()
        self.branches = 0

    def root(self, number: int) -> None:
        choose = self.choices.choose
        self.present.update(path for path in EXTRAS if path not in self.made.named and choose(2))
        names = {name: Text(UNIVERSE[choose(len(UNIVERSE))], "nobody") for name in self.made.params[number]}
        with suppress(Stops, Ends):
            self.body(number, self.made.bodies[number], names, None, {}, self.made.allow[number])

    def text(self, target: str, names: dict[str, Text]) -> Text:
        if "{" not in target:
            return Text(target, "plan")
        before, name = target.rstrip("}").split("{")
        if "." in name or name not in names:
            raise TooMany  # a text has no fields: what such a path names is nobody's business
        held = names[name]
        return Text(before + held.text, held.by, held.bare and not before)

    def access(self, access: str, path: Text, where: tuple[int, str, int]) -> None:
        there = path.text in self.present
        code = "FDC412" if access == "create" and there else "FDC411" if access not in ("create", "write") and not there else None
        if code is not None:
            last = self.last.get(path.text)
            self.found[Failed(*where, code, path, last, frozenset(self.commands))] = None
            known = path.by == "plan" or path.by == "glob" and path.bare
            if not known or self.commands or last is not None and last[2] == "nobody":
                raise Ends  # it may be that an assumption is false here: nothing is said of what follows
        if access == "delete" and (there or code):
            self.present.discard(path.text)
            self.last[path.text] = "step", where[1:], path.by
        elif access in ("create", "write") and (not there or code) or code:
            self.present.add(path.text)
            self.last[path.text] = "step", where[1:], path.by

    def command(self, place: Place, allow: tuple[str, ...] | None) -> None:
        """It changes no file, or one: which is enough to see what it can do to one."""
        self.commands.add(place)
        paths = [path for path in UNIVERSE if allow is None or any(path.startswith(start) for start in allow)]
        choice = self.choices.choose(len(paths) + 1)
        if choice:
            self.present ^= {paths[choice - 1]}
            self.last[paths[choice - 1]] = "command", place, ""

    def turns(self, item: list) -> Iterator[Text | None]:
        kind, most, choose = item[0], item[2], self.choices.choose
        if kind == "each":
            glob = item[5] if len(item) > 5 else "*.x"
            files = sorted(path for path in self.present if fnmatch.fnmatch(path, glob) and path.count("/") == glob.count("/"))
            if most is not None and len(files) > most:
                raise Stops if self.branches else TooMany
            yield from (Text(path, "glob") for path in files)
        elif kind == "iterate":
            for _ in range(1 + choose(most)):
                yield None
        else:
            for _ in range(choose(most + 1)):
                yield Text(UNIVERSE[choose(len(UNIVERSE))], "nobody")

    def body(
        self,
        number: int,
        body: list,
        names: dict[str, Text],
        outer: int | None,
        calls: dict,
        allow: tuple[str, ...] | None,
    ) -> None:
        for item in body:
            kind, line = item[0], item[1]
            where = (outer or line, f"p{number}.plan", line)
            if kind == "step":
                self.step(item, names, where, allow)
            elif kind == "call":
                self.call(number, item, names, outer, calls, allow)
            elif kind == "if":
                holds = self.choices.choose(2) == 0 if item[2] is None else item[2]
                self.body(number, item[3] if holds else item[4], names, outer, calls, allow)
            elif kind != "use":
                for value in self.turns(item):
                    inner = names
                    if item[3]:
                        assert value is not None
                        inner = {**names, item[3]: value}
                        if kind == "each":
                            inner[f"file{1 + sum(word.startswith('file') for word in names)}"] = value
                    if kind != "kept":
                        self.body(number, item[4], inner, outer, calls, allow)
                        continue
                    self.branches += 1
                    with suppress(Stops):
                        self.body(number, item[4], inner, outer, calls, allow)
                    self.branches -= 1

    def step(self, item: list, names: dict[str, Text], where: tuple[int, str, int], allow: tuple[str, ...] | None) -> None:
        tool = item[2]
        if tool == "t_shell":
            self.command(where[1:], allow)
        elif tool == "t_rename":
            source, target = (self.text(words, names) for words in item[3])
            if source.text == target.text:  # the new name is not free
                by = target if target.by == "nobody" else source
                self.found[Failed(*where, "FDC412", by, ("step", where[1:], by.by), frozenset(self.commands))] = None
                raise Ends
            self.access("delete", source, where)
            self.access("create", target, where)
        elif tool != "t_make":
            self.access(tool[2:], self.text(item[3][0], names), where)
        if self.branches and self.choices.choose(2):
            raise Stops

    def call(
        self, number: int, item: list, names: dict[str, Text], outer: int | None, calls: dict, allow: tuple[str, ...] | None
    ) -> None:
        plan, given, depth = item[2], item[3], item[4]
        if depth is not None:
            edge = (number, item[1])
            if calls.get(edge, 0) >= depth:
                return
            calls = {**calls, edge: calls.get(edge, 0) + 1}
        inner: dict[str, Text] = {}
        for name, default in self.made.params[plan].items():
            inner[name] = self.text(given[name], names) if name in given else Text(str(default), "plan")
        own = self.made.allow[plan]
        if allow is not None and own is not None:
            allow = tuple(max(a, b, key=len) for a in allow for b in own if a.startswith(b) or b.startswith(a))
        self.body(plan, self.made.bodies[plan], inner, outer or item[1], calls, own if allow is None else allow)
