"""Walks a program once and lists what each step does, with which values, and behind which gates.

A value is identified by its origin: the tool with its arguments, an input, an item of a list. So renaming is not
a difference, and a step whose arguments differ under the same name is. A value that a loop carries to the
next round is identified by the whole loop.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...exits import UsageError

MOST = 20_000
"""Maximum number of statements, with calls followed; a larger plan is not compared."""
Origin = str
_REFERENCE = re.compile(r"\{[\w.]+\}")
Env = dict[str, Origin]


class Done(NamedTuple):
    """A step where it stands: `what` with the texts that choose something, `given` with everything. `gates`: what must
    have held before. `found`: what it chooses depends on what a run finds out. `stores`: what
    it is given may be found by a later step."""

    tool: str
    what: str
    given: str
    gates: frozenset[str]
    found: bool
    shown: str
    acts: bool
    stores: bool


class Walked(NamedTuple):
    """A whole program: its steps, its gates (how often each is asked: in an `iterate`, as often as that goes round), the
    globs of its loops; `acted`: what its steps change, in the order of the text; `seen`: how many of these stand before what
    is asked or looked at; `lenient`: the ways in which something goes on beside what was stopped, each with what
    its fork goes over."""

    steps: list[Done]
    gates: dict[str, int]
    shown: dict[str, str]
    globs: set[str]
    acted: list[str]
    seen: dict[str, tuple[int, str]]
    lenient: Counter[tuple[str, Origin]]


def told(*parts: object) -> Origin:
    """A short digest of a value's origins."""
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()


def walk(program: Mapping[str, Any]) -> Walked:
    """Everything that runs of a program may do."""
    walker = _Walker(program)
    root = program["plans"][program["root"]]
    env = {row["name"]: told("input", row["name"], row["default"]) for row in root["params"]}
    walker.fixed |= {*env.values(), told("run")}
    walker.plan(program["root"], env, frozenset())
    return Walked(
        walker.steps, walker.gates, walker.shown, walker.globs, walker.acted, walker.seen, walker.lenient
    )  # fmt: skip


class _Walker:
    def __init__(self, program: Mapping[str, Any]) -> None:
        self.plans: dict[str, Any] = program["plans"]
        self.tools: dict[str, Any] = program["tools"]
        self.steps: list[Done] = []
        self.gates: dict[str, int] = {}
        self.rounds = 1  # the bounds of the enclosing `iterate`s
        self.shown: dict[str, str] = {}
        self.globs: set[str] = set()
        self.acted: list[str] = []
        self.seen: dict[str, tuple[int, str]] = {}
        self.times: dict[Origin, int] = {}
        self.over: list[Origin] = []
        self.branches: set[str] = set()
        self.fixed: set[Origin] = set()
        self.left = MOST
        self.kept = False
        self.lenient: Counter[tuple[str, Origin]] = Counter()
        self.results: list[Origin] = []
        self.passed: frozenset[str] = frozenset()
        self.behind: frozenset[str] = frozenset()

    def plan(self, key: str, env: Env, gates: frozenset[str]) -> Origin:
        """The origin of a plan's result. Its gates also hold after the call."""
        outer, self.results = self.results, []
        behind, self.behind = self.behind, gates
        env = {**env, "run": told("run")}
        self.passed = self.body(self.plans[key]["body"], env, gates)
        found, self.results = self.results, outer
        self.behind = behind
        return told("result", found)

    # ---- values ------------------------------------------------------------------------

    def reference(self, path: list[str], env: Env) -> Origin:
        return told("field", env.get(path[0], told("nothing")), path[1:])

    def template(self, parts: Any, env: Env) -> Origin:
        out = told("text", [self.part(part, env) for part in parts or ()])
        if all(
            isinstance(part, str) or env.get(part["ref"][0]) in self.fixed for part in parts or ()
        ):
            self.fixed.add(out)
        return out

    def part(self, part: Any, env: Env) -> object:
        if isinstance(part, dict):
            return [self.reference(part["ref"], env), part.get("quote"), bool(part.get("code"))]
        return part

    def condition(self, tree: Any, env: Env) -> object:
        if isinstance(tree, dict):
            if "ref" in tree:
                return self.reference(tree["ref"], env)
            if "call" in tree:  # a predicate reads the current state
                self.look(told("call", tree["call"]), _condition(tree))
            return {key: self.condition(value, env) for key, value in sorted(tree.items())}
        return [self.condition(item, env) for item in tree] if isinstance(tree, list) else tree

    # ---- statements --------------------------------------------------------------------

    def body(self, body: list[dict[str, Any]], env: Env, gates: frozenset[str]) -> frozenset[str]:
        """Follows a body; afterwards `env` has its bindings. Returns the gates that hold after it."""
        for row in body:
            self.left -= 1
            if self.left < 0:
                raise UsageError(
                    f"a plan of more than {MOST} statements, calls followed, is not compared"
                )
            gates = getattr(self, f"do_{row['op']}")(row, env, gates)
        return gates

    def gate(self, kind: str, what: Origin, shown: str) -> str:
        name = told(kind, what, self.kept)
        self.gates[name] = self.gates.get(name, 0) + self.rounds
        self.shown.setdefault(name, shown)
        if kind in ("if", "else"):
            self.branches.add(name)
        return name

    def look(self, what: Origin, shown: str) -> Origin:
        """Records a question or read, and returns a fresh identifier of its result."""
        self.times[what] = time = self.times.get(what, 0) + 1
        name = told(what, time)
        self.seen[name] = len(self.acted), shown
        return name

    def do_step(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        tool, args = self.tools[row["tool"]], row["args"]
        kinds = {item["name"]: item for item in tool["parameters"]}
        choosing = {name: args[name] for name in sorted(args) if chooses(tool, kinds[name])}
        given = {name: self.template(args[name], env) for name in sorted(args)}
        what = told(
            row["tool"], row["action"], {name: given[name] for name in choosing}, row.get("outside")
        )
        everything = told(row["tool"], row["action"], given, row.get("outside"))
        # A command may execute files, so their contents choose what it does.
        found = any(kinds[name].get("sink") == "command" for name in choosing) or any(
            isinstance(part, dict) and env.get(part["ref"][0]) not in self.fixed
            for parts in choosing.values()
            for part in parts
        )
        line = f"{row['tool']} " + " ".join(f"{name}={_text(args[name])}" for name in args)
        self.steps.append(
            Done(
                row["tool"], what, everything, gates, found, line.strip(), acts(tool), stores(tool)
            )
        )
        asks = bool(tool.get("approves")) or "choice" in tool.get("clears", ())
        if row["bind"] or asks:
            found_here = self.look(told("step", everything), line.strip())
        if row["bind"]:
            env[row["bind"]] = found_here
        if acts(tool) and stores(tool):
            self.acted.append(what)
        if asks:
            return gates | {self.gate("asked", everything, line.strip())}
        return gates

    def do_call(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        plan = self.plans[row["plan"]]
        given = {param["name"]: told("default", param["default"]) for param in plan["params"]}
        self.fixed |= {*given.values()}
        given |= {name: self.template(parts, env) for name, parts in row["args"].items()}
        result = self.plan(row["plan"], given, gates)
        if row["bind"]:
            env[row["bind"]] = result
        return self.passed

    def do_skip(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        if row["bind"]:
            env[row["bind"]] = told("null")
        return gates

    def do_yield(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        under = sorted((gates - self.behind) & self.branches)
        self.results.append(told("yield", self.template(row["value"], env), under))
        return gates

    def do_require(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        return gates | {
            self.gate(
                "require",
                told(self.condition(row["cond"], env)),
                f"require {_condition(row['cond'])}",
            )
        }

    def do_if(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        condition = told(self.condition(row["cond"], env))
        then, orelse = dict(env), dict(env)
        shown = f"if {_condition(row['cond'])}"
        one = self.body(row["then"], then, gates | {self.gate("if", condition, shown)})
        other = self.body(
            row["else"], orelse, gates | {self.gate("else", condition, f"else of {shown}")}
        )
        for name in {*then, *orelse}:
            if then.get(name) != orelse.get(name):
                env[name] = told("either", condition, then.get(name), orelse.get(name))
            else:
                env[name] = then[name]
        return one & other

    def do_each(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        over = self.template(row["glob"], env)
        self.globs.add(over)
        if over in self.fixed:  # the set of files; a step that creates one is listed itself
            self.fixed.add(told("item", over, self.over.count(over)))
        self.steps.append(Done("for_each_file", told("glob", over), told("glob", over), gates, False,
                               f"for_each_file {_text(row['glob'])}", False, False))  # fmt: skip
        return self.loop(row, env, gates, over, [row["name"], row["alias"]])

    def do_for(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        return self.loop(row, env, gates, self.template(row["in"], env), [row["name"]])

    do_fork = do_for

    def do_iterate(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        """A body that runs once at least: its gates hold behind it. What `until` asks is asked in each round, too: with fewer
        of them the run goes on earlier, although the condition does not hold."""
        outer, self.rounds = self.rounds, self.rounds * int(row["max"])
        after = self.loop(row, env, gates, told("rounds"), [])
        if row["until"] is not None:
            until = told(self.condition(row["until"], env))
            after |= {self.gate("until", until, f"until {_condition(row['until'])}")}
        self.rounds = outer
        return after

    def loop(
        self,
        row: dict[str, Any],
        env: Env,
        gates: frozenset[str],
        over: Origin,
        names: list[str | None],
    ) -> frozenset[str]:
        used = {name: origin for name, origin in env.items() if name in _used(row["body"])}
        whole = told(row["op"], over, _plain(row["body"]), sorted(used.items()), row.get("keep"))
        inner, kept = dict(env), self.kept
        carried = _bound(row["body"])
        inner |= {name: told("carried", whole, name) for name in carried}
        inner |= {name: told("item", over, self.over.count(over)) for name in names if name}
        self.kept |= "keep" in row
        if "keep" in row:
            self.lenient[
                "a branch of a fork may fail while the run continues (`keep failures`)", over
            ] += 1
        asked = self.asked()
        outer, self.results = self.results, []
        self.over.append(over)
        some = {self.gate("if", over, f"if {row['op']} goes round")}
        after = self.body(row["body"], inner, gates | some) - some
        self.over.pop()
        if row["op"] == "fork" and self.asked() > asked:
            self.lenient["other branches of a fork continue when a gate stops one", over] += 1
        self.kept = kept
        self.results = outer
        for name in carried:
            env[name] = told("after", whole, name)
        if row.get("bind"):
            env[row["bind"]] = told("gathered", whole)
        if row["op"] == "iterate":
            return after
        # Steps after the loop are behind the gates of each completed round.
        held = [] if "keep" in row else sorted(after - gates)
        every = {self.gate("if", told(over, held), "if every round held")} if held else set()
        return gates | every

    def asked(self) -> int:
        """The number of gates passed that can stop a run."""
        ways = ("if ", "else of")
        return sum(
            count for name, count in self.gates.items() if not self.shown[name].startswith(ways)
        )


def chooses(tool: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether what is given for a parameter chooses something, or is told somebody: all that is not said to be data or
    shown to the user, and whatever a tool is given that reaches outside."""
    chosen = item.get("sink") not in ("data", "user") or bool(item.get("access"))
    return chosen or tool.get("trust") == "untrusted"


def acts(tool: Mapping[str, Any]) -> bool:
    """Whether a tool changes something outside of the run, tells somebody, or runs a command."""
    changes = any(item.get("access") not in (None, "read") for item in tool["parameters"])
    return (
        changes
        or tool["effect"] not in ("pure", "read")
        or "writes" in tool
        or tool.get("trust") == "untrusted"
    )


def stores(tool: Mapping[str, Any]) -> bool:
    """Whether a later step may find what such a step was given: it acts, and does more than to tell the user something."""
    return acts(tool) and not all(item.get("sink") == "user" for item in tool["parameters"])


def _bound(body: list[dict[str, Any]]) -> set[str]:
    names: set[str] = set()
    for row in body:
        if row.get("bind"):
            names.add(row["bind"])
        for part in ("body", "then", "else"):
            names |= _bound(row.get(part) or [])
    return names


def _used(value: Any) -> set[str]:
    """The names that instructions refer to."""
    if isinstance(value, dict):
        own = {value["ref"][0]} if "ref" in value else set()
        return own.union(*(_used(inner) for inner in value.values()))
    return set().union(*map(_used, value)) if isinstance(value, list) else set()


def _plain(value: Any) -> Any:
    """Instructions without line numbers."""
    if isinstance(value, dict):
        return {
            key: _plain(inner)
            for key, inner in value.items()
            if key not in ("line", "evidence", "why")
        }
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _text(parts: Any) -> str:
    """A template in plan syntax."""
    return "".join(
        _REFERENCE.sub(r"{\g<0>}", part)
        if isinstance(part, str)
        else "{" + ".".join(part["ref"]) + "}"
        for part in parts or ()
    )


def _condition(tree: Any) -> str:
    """A condition in a syntax close to that of plans."""
    if "ref" in tree:
        return ".".join(tree["ref"])
    if "const" in tree:
        return json.dumps(tree["const"], ensure_ascii=False)
    if "len" in tree:
        return f"len({_condition(tree['len'])})"
    if "call" in tree:
        return f"{tree['call']}({', '.join(map(_condition, tree['args']))})"
    if "test" in tree:
        return f"{_condition(tree['left'])} {tree['test']} {_condition(tree['right'])}"
    if "not" in tree:
        return f"not ({_condition(tree['not'])})"
    word = next((word for word in ("and", "or") if word in tree), None)
    if not word:
        return _condition(tree["value"])
    return f" {word} ".join(
        f"({_condition(item)})" if "and" in item or "or" in item else _condition(item)
        for item in tree[word]
    )
