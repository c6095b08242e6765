"""Walks a program once and lists what each step does, with which values, and behind which gates.

A value is identified by its origin: the tool with its arguments, an input, an item of a list. So renaming is not
a difference, and a step whose arguments differ under the same name is. A value that a loop carries to the
next round is identified by the whole loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import Any

from ...exits import UsageError
from ...narrow import narrow
from ...program.instructions import every, names_bound
from ...program.model import Instruction
from .files import NO_FILE, Paths, asks_a_person, files_changed, files_read
from .instructions import (
    acts,
    chooses,
    condition_text,
    numbered,
    stores,
    text_of,
    without_lines,
)
from .walked import Done, Env, Loops, Origin, Seen, Walked, told

MOST = 20_000
"""Maximum number of statements, with calls followed; a larger plan is not compared."""


def walk(program: Mapping[str, object]) -> Walked:
    """Everything that runs of a program may do."""
    walker = _Walker(program)
    root = walker.plans[str(program["root"])]
    env = {row["name"]: told("input", row["name"], row["default"]) for row in root["params"]}
    walker.fixed |= {*env.values(), told("run")}
    walker.plan(str(program["root"]), env, frozenset())
    return Walked(
        walker.steps, walker.gates, walker.shown, walker.globs, walker.acted, walker.said, walker.seen, walker.branches,
        walker.opposite, walker.turns, walker.limits, walker.lenient,
    )  # fmt: skip


class _Walker:
    def __init__(self, program: Mapping[str, object]) -> None:
        self.plans: dict[str, Any] = narrow(program["plans"], dict)
        self.tools: dict[str, Any] = narrow(program["tools"], dict)
        self.steps: list[Done] = []
        self.gates: dict[str, int] = {}
        self.rounds = 1  # the bounds of the enclosing `iterate`s
        self.shown: dict[str, str] = {}
        self.globs: set[str] = set()
        self.acted: list[Done] = []
        self.said: list[Done] = []
        self.seen: dict[str, Seen] = {}
        self.turns: dict[Origin, int] = {}
        self.limits: dict[Origin, float] = {}
        self.passing: dict[Origin, float] = {}  # the most items with which a run comes here
        self.often = 1.0
        self.times: dict[Origin, int] = {}
        self.over: list[Origin] = []
        self.loops: Loops = ()
        self.number = 0
        self.branches: set[str] = set()
        self.opposite: dict[str, str] = {}
        self.fixed: set[Origin] = set()
        self.literals: dict[Origin, str] = {}
        self.texts: dict[str, Origin] = {}
        self.left = MOST
        self.kept = False
        self.lenient: Counter[tuple[str, Origin]] = Counter()
        self.results: list[Origin] = []
        self.passed: frozenset[str] = frozenset()
        self.behind: frozenset[str] = frozenset()
        self.here: frozenset[str] = frozenset()

    def plan(self, key: str, env: Env, gates: frozenset[str]) -> Origin:
        """The origin of a plan's result. Its gates also hold after the call."""
        outer, self.results = self.results, []
        behind, self.behind = self.behind, gates
        env = {**env, "run": told("run")}
        self.passed = self.body(self.plans[key]["body"], env, gates)
        found, self.results = self.results, outer
        self.behind = behind
        return found[0] if len(found) == 1 else told("result", found)

    # ---- values ------------------------------------------------------------------------

    def reference(self, path: list[str], env: Env) -> Origin:
        whole = env.get(path[0], told("nothing"))
        return told("field", whole, path[1:]) if path[1:] else whole

    def template(self, parts: Any, env: Env) -> Origin:
        """A text. What is one reference alone is its value; a text of the plan is the same text where it comes by a name."""
        found: list[Any] = []
        for part in parts or ():
            one = self.part(part, env)
            if isinstance(one, str) and found and isinstance(found[-1], str):
                found[-1] += one
            else:
                found.append(one)
        alone = len(found) == 1 and isinstance(found[0], list) and not any(found[0][1:])
        out: Origin = found[0][0] if alone else told("text", found)
        if all(isinstance(one, str) for one in found):
            self.literals[out] = "".join(found)
        if all(
            isinstance(part, str) or env.get(part["ref"][0]) in self.fixed for part in parts or ()
        ):
            self.fixed.add(out)
        return out

    def part(self, part: Any, env: Env) -> object:
        if not isinstance(part, dict):
            return part
        value, quoting = (
            self.reference(part["ref"], env),
            [part.get("quote"), bool(part.get("code"))],
        )
        literal = None if any(quoting) else self.literals.get(value)
        return [value, *quoting] if literal is None else literal

    def condition(self, tree: Any, env: Env) -> object:
        if isinstance(tree, dict):
            if "ref" in tree:
                return self.reference(tree["ref"], env)
            if "call" in tree:  # a predicate reads the current state
                self.look(told("call", tree["call"]), condition_text(tree), reads=None)
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
            self.here = gates
            gates = getattr(self, f"do_{row['op']}")(row, env, gates)
        return gates

    def gate(self, kind: str, what: Origin, shown: str) -> str:
        name = told(kind, what, self.kept)
        self.gates[name] = self.gates.get(name, 0) + self.rounds
        self.shown.setdefault(name, shown)
        if kind in ("if", "else"):
            self.branches.add(name)
        return name

    def look(self, what: Origin, shown: str, asks: bool = False, reads: Paths = NO_FILE) -> Origin:
        """Records a question or read, and returns a fresh identifier of its result."""
        self.times[what] = time = self.times.get(what, 0) + 1
        name = told(what, time)
        place = len(self.acted)
        said = len(self.said)
        self.seen[name] = Seen(self.here, place, place, said, said, asks, shown, reads, self.loops)
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
        names = any(
            all(isinstance(part, str) for part in args[name])
            for name, item in kinds.items()
            if name in args
            and (
                item.get("access") or item["kind"] in ("path", "glob") or item.get("sink") == "path"
            )
        )
        known = {name: self.literals.get(origin) for name, origin in given.items()}
        looked_at = files_read(tool, known)
        named = (f"{name}={text_of(args[name])}" for name in kinds if name in args)
        line = f"{row['tool']} {' '.join(named)}"
        place = len(self.acted)
        done = Done(
            row["tool"], what, everything, gates, found, line.strip(), acts(tool), stores(tool), place, place, names,
            looked_at if acts(tool) else NO_FILE, files_changed(tool, known), self.loops, self.often,
        )  # fmt: skip
        self.steps.append(done)
        asks = asks_a_person(tool)
        if row["bind"] or asks:
            looked_at = NO_FILE if asks else looked_at
            found_here = self.look(told("step", everything), line.strip(), asks, looked_at)
        if row["bind"]:
            env[row["bind"]] = found_here
        if done.stores:
            self.acted.append(done)
        elif done.acts and not asks:
            self.said.append(done)
        if asks:
            return gates | {self.gate("asked", everything, line.strip())}
        return gates

    def do_call(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        plan = self.plans[row["plan"]]
        given = {
            param["name"]: self.template([param["default"]], env)
            for param in plan["params"]
            if param["default"] is not None
        }
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
        value = self.template(row["value"], env)
        self.results.append(told("yield", value, under) if under else value)
        return gates

    def do_require(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        return gates | {
            self.gate(
                "require",
                told(self.condition(row["cond"], env)),
                f"require {condition_text(row['cond'])}",
            )
        }

    def do_if(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        asked = told(self.condition(row["cond"], env))
        then, orelse = dict(env), dict(env)
        shown = f"if {condition_text(row['cond'])}"
        holds, fails = (
            self.gate("if", asked, shown),
            self.gate("else", asked, f"else of {shown}"),
        )
        self.opposite |= {holds: fails, fails: holds}
        passing = self.passing
        one = self.body(row["then"], then, gates | {holds})
        here, self.passing = self.passing, passing
        other = self.body(row["else"], orelse, gates | {fails})
        self.passing = {
            over: max(here[over], self.passing[over]) for over in here.keys() & self.passing.keys()
        }
        for name in {*then, *orelse}:
            if then.get(name) != orelse.get(name):
                env[name] = told("either", asked, then.get(name), orelse.get(name))
            else:
                env[name] = then[name]
        return one & other

    def do_each(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        over = self.template(row["glob"], env)
        self.globs.add(over)
        if over in self.fixed:  # the set of files; a step that creates one is listed itself
            self.fixed.add(told("item", over, self.over.count(over)))
        shown, place = f"for_each_file {text_of(row['glob'])}", len(self.acted)
        self.look(told("glob", over), shown, reads=None)
        self.steps.append(Done("for_each_file", told("glob", over), told("glob", over), gates, False, shown, False, False,
                               place, place))  # fmt: skip
        return self.loop(row, env, gates, over, [row["name"], row["alias"]])

    def do_for(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        return self.loop(row, env, gates, self.template(row["in"], env), [row["name"]])

    do_fork = do_for

    def do_iterate(self, row: dict[str, Any], env: Env, gates: frozenset[str]) -> frozenset[str]:
        """A body that runs once at least: its gates hold behind it. What `until` asks is asked in each round, too: with fewer
        of them the run goes on earlier, although the condition does not hold. Only without an `until` are all rounds done."""
        outer, most = self.rounds, self.rounds * int(row["max"])
        self.rounds = most if row["until"] is None else outer
        after = self.loop(row, env, gates, told("rounds"), [])
        if row["until"] is not None:
            self.rounds = most
            until = told(self.condition(row["until"], env))
            after |= {self.gate("until", until, f"until {condition_text(row['until'])}")}
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
        body, numbers = numbered(without_lines(row["body"]), [name for name in names if name])
        used = sorted((number, env[name]) for name, number in numbers.items() if name in env)
        whole = told(row["op"], over, body, used, row.get("keep"), self.called(row["body"]))
        inner, kept = dict(env), self.kept
        carried = names_bound(row["body"])
        inner |= {name: told("carried", whole, numbers[name]) for name in carried}
        inner |= {name: told("item", over, self.over.count(over)) for name in names if name}
        self.kept |= "keep" in row
        if "keep" in row:
            self.lenient[
                "a branch of a fork may fail while the run continues (`keep failures`)", over
            ] += 1
        most = inf if row.get("max") is None else float(row["max"])
        if row["op"] != "iterate":  # which goes on after its last round
            self.limits[over] = min(most, self.limits.get(over, inf))
            most = min(most, self.passing.get(over, inf))
            self.passing = {**self.passing, over: most}
        often, passing = self.often, self.passing
        self.often *= most
        asked = self.asked()
        outer, self.results = self.results, []
        self.over.append(over)
        self.number += 1
        begun = len(self.steps), len(self.seen)
        some = self.gate("if", over, f"if {row['op']} goes round")
        around, self.loops = self.loops, (*self.loops, (self.number, some))
        after = self.body(row["body"], inner, gates | {some}) - {some}
        self.over.pop()
        self.loops, self.often = around, often
        if row["op"] != "iterate":  # it may do no round
            self.passing = passing
        if not self.over:
            self._again(*begun)
        if row["op"] == "iterate" and carried:
            self.turns[whole] = self.rounds
        if row["op"] == "fork" and self.asked() > asked:
            self.lenient["other branches of a fork continue when a gate stops one", over] += 1
        self.kept = kept
        self.results = outer
        for name in carried:
            env[name] = told("after", whole, numbers[name])
        if row.get("bind"):
            env[row["bind"]] = told("gathered", whole)
        if row["op"] == "iterate":
            return after
        # Steps after the loop are behind the gates of each completed round.
        held = [] if "keep" in row else sorted(after - gates)
        return gates | (
            {self.gate("if", told(over, held), "if every round held")} if held else set()
        )

    def called(self, body: list[Instruction]) -> list[Origin]:
        """Digests of the plans that a body calls; they may differ in two workspaces."""
        keys = dict.fromkeys(item["plan"] for item in every(body) if item["op"] == "call")
        return [self.texts[key] if key in self.texts else self.text(key) for key in keys]

    def text(self, key: str) -> Origin:
        """A digest of a plan, with those that it calls, without its names of values."""
        self.texts[key] = told("recursion", key)
        plan = self.plans[key]
        body, _ = numbered(without_lines(plan["body"]), [row["name"] for row in plan["params"]])
        self.texts[key] = told(plan["params"], body, self.called(plan["body"]))
        return self.texts[key]

    def _again(self, steps: int, seen: int) -> None:
        """What stands in a loop, from these places on, stands behind all that the loop does, too: in the next round."""
        until, heard = len(self.acted), len(self.said)
        self.steps[steps:] = [step._replace(until=until) for step in self.steps[steps:]]
        for name in list(self.seen)[seen:]:
            self.seen[name] = self.seen[name]._replace(until=until, heard=heard)

    def asked(self) -> int:
        """The number of gates passed that can stop a run."""
        ways = ("if ", "else of")
        return sum(
            count for name, count in self.gates.items() if not self.shown[name].startswith(ways)
        )
