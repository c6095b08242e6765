"""Running a plan: its steps, its stack of calls, its automata, its branches.

`run(files, root, plan, world)` gives an `End` for texts of plans and automata in `files` and the real folder `root`.
A statement is a generator: before each step it yields the addresses at which the run could go on (several in a fork) and is
sent the one that the world chose, so that the branches of a fork can be let go in any order.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.reference import automata, branches, parse, tools
from tests.reference.conditions import Condition, holds
from tests.reference.stops import KINDS, Stop
from tests.reference.values import Names, fill, look_up, quoted, text_of
from tests.reference.world import FreeWorld, World

DEFAULT_AUTOMATON = "tooling/fdc_fsm.json"
MAX_STACK = 10
SETTINGS = "fdc.toml"
REGISTRY = "knowledge_core/plan_registry.json"
RUN = "runs/R"
MADE = "made"
"""What a value is, or begins with, that no one computed: in a world where nothing is known about values."""
HERE = Path(__file__).parents[2]


@cache
def catalogue() -> dict[str, Any]:
    """The declarations of the core's tools."""
    return dict(json.loads((HERE / "grammar" / "tools.json").read_text())["tools"])


Going = Generator[list[str], str, None]


class Done(NamedTuple):
    """A step of a run. `outcome` is `ok` or the cause of the failure."""

    address: str
    plan: str
    line: int
    tool: str
    request: dict[str, Any]
    outcome: str


class End(NamedTuple):
    """`cause` is None where the run finished and every automaton accepts."""

    cause: str | None
    why: str
    address: str | None
    place: tuple[str, int] | None
    path: str | None
    trace: list[Done]
    state: str
    steps: int
    messages: list[str]


class Frame:
    """A plan on the stack: what its statements see."""

    def __init__(
        self,
        plan: parse.Plan,
        names: Names,
        cursor: automata.Cursor,
        above: Frame | None,
        chain: tuple[tuple[str, int], ...],
    ) -> None:
        self.plan, self.names, self.cursor, self.chain = plan, names, cursor, chain
        self.depth = 1 + (above.depth if above else 0)
        self.allows = (above.allows if above else []) + ([plan.allows] if plan.allows else [])
        own = (
            [[plan.budgets["steps"]]] if "steps" in plan.budgets else []
        )  # docs/headers.md: for each call by itself
        self.meters = [*(above.meters if above else []), *own]
        self.files = 0  # how many `for_each_file` are around the statement
        self.forks: tuple[tuple[branches.Fork, int], ...] = above.forks if above else ()
        self.collect: list[Any] | None = None
        self.result: Any = None
        self.bound = frozenset(parse.bound_names(plan.body) | set(plan.parameters) | {"run"})

    def branch(self) -> Frame:
        """The same place with names of its own."""
        other = copy.copy(self)
        other.names = dict(self.names)
        return other


class Interpreter:
    def __init__(self, files: dict[str, str], root: Path, world: World) -> None:
        self.files, self.root, self.world = files, root, world
        self.free = world.free
        self.trace: list[Done] = []
        self.messages: list[str] = []
        self.steps = 0
        self.plans: dict[str, parse.Plan] = {}
        settings = tomllib.loads(files.get(SETTINGS, ""))
        self.default = settings.get("fsm", DEFAULT_AUTOMATON)
        self.max_stack = settings.get("max-stack", MAX_STACK)

    # -- names of plans and automata

    def plan(self, path: str) -> parse.Plan:
        if path not in self.plans:
            if path not in self.files:
                raise Stop("name", f"no plan `{path}`")
            try:
                self.plans[path] = parse.parse(path, self.files[path])
            except parse.PlanError as error:
                raise Stop("syntax", f"{path}: {error}") from None
        return self.plans[path]

    def resolve(self, target: str) -> str:
        """The path of a called plan: the registry first, then the paths of the workspace."""
        registered = parse.registry(self.files[REGISTRY]) if REGISTRY in self.files else {}
        path = registered.get(target, target)
        if path not in self.files:
            raise Stop("registry" if target in registered else "name", f"no plan `{target}`")
        return path

    def automaton(self, name: str) -> automata.Automaton:
        for path in (name, f"tooling/{name}_fsm.json", f"tooling/{name}.json"):
            if path in self.files:
                return automata.read(self.files[path])
            if (HERE / path).is_file():
                return automata.read((HERE / path).read_text())
        raise Stop("name", f"no automaton `{name}`")

    # -- the run

    def run(self, path: str, inputs: dict[str, str]) -> End:
        cursor = None
        try:
            plan = self.plan(path)
            cursor = automata.Cursor(self.automaton(plan.automaton or self.default))
            names: Names = {"run": RUN, **self.inputs(plan, dict(inputs))}
            frame = Frame(plan, names, cursor, None, ())
            going = self.body(plan.body, frame, "main/")
            try:
                wanted = next(going)
                while True:
                    wanted = going.send(self.world.order(wanted))
            except StopIteration:
                pass
            if not cursor.accepts():
                raise Stop("unfinished", f"the run ends in {cursor.state}")
        except Stop as stop:
            state = cursor.state if cursor else ""
            return End(
                stop.cause,
                stop.why,
                stop.at,
                stop.place,
                stop.path,
                self.trace,
                state,
                self.steps,
                self.messages,
            )
        return End(None, "", None, None, None, self.trace, cursor.state, self.steps, self.messages)

    def inputs(self, plan: parse.Plan, given: dict[str, Any]) -> Names:
        names: Names = {}
        for name, default in plan.parameters.items():
            if name in given:
                names[name] = given.pop(name)
            elif default is not None:
                names[name] = default
            else:
                raise Stop("argument", f"`{plan.path}` needs `{name}`")
        if given:
            raise Stop("argument", f"`{plan.path}` takes no {sorted(given)}")
        return names

    def body(self, statements: list[parse.Statement], frame: Frame, address: str) -> Going:
        for number, statement in enumerate(statements, 1):
            here = f"{address}{number}"
            try:
                yield from self.statement(statement, frame, here)
            except Stop as stop:
                if stop.at is None:
                    stop.at, stop.place = here, (frame.plan.path, statement.line)
                raise

    def statement(self, one: parse.Statement, frame: Frame, here: str) -> Going:
        if isinstance(one, parse.Step):
            if frame.forks and not self.free:
                self.meets(one, frame, here)
            yield [here]
            result = self.step(one, frame, here)
            if one.bind:
                frame.names[one.bind] = result
        elif isinstance(one, parse.Call):
            yield from self.call(one, frame, here)
        elif isinstance(one, parse.If):
            taken = self.condition(one.condition, frame)
            yield from self.body(
                one.then if taken else one.orelse, frame, f"{here}.{'then' if taken else 'else'}/"
            )
        elif isinstance(one, parse.Require):
            if not self.condition(one.condition, frame):
                raise Stop("gate", one.reason)
        elif isinstance(one, parse.Yield):
            value = self.template(one.value, frame)
            if frame.collect is None:
                frame.result = value
            else:
                frame.collect.append(value)
        elif isinstance(one, parse.Iterate):
            for turn in range(1, one.most + 1):
                yield from self.body(one.body, frame, f"{here}[{turn}]/")
                if one.until and self.condition(one.until, frame):
                    break
        elif isinstance(one, parse.EachFile):
            yield from self.each_file(one, frame, here)
        else:
            yield from self.loop(one, frame, here)

    def template(self, template: str, frame: Frame) -> Any:
        return fill(template, frame.names)

    def condition(self, text: str, frame: Frame) -> bool:
        condition = Condition(text)
        if self.free and isinstance(self.world, FreeWorld) and not condition.constant():
            for name in condition.names():
                look_up(name, frame.names)
            return bool(self.world.choose(2))
        return holds(condition.value(frame.names, self.world.predicate))

    # -- loops

    def rounds(self, items: list[Any], most: int | None, made: str) -> list[Any]:
        """The items of a loop; in a free world any number of them from none to two."""
        if self.free and isinstance(self.world, FreeWorld):
            count = self.world.choose(min(2, most or 2) + 1)
            return [*items, *(made.format(number) for number in range(1, 3))][:count]
        if most is not None and len(items) > most:
            raise Stop("limit", f"{len(items)} items, and the plan allows {most}")
        return items

    def bound(self, frame: Frame, names: dict[str, Any]) -> dict[str, Any]:
        """Bind names of a loop; gives what they hid, for `unbind`."""
        before = {name: frame.names[name] for name in names if name in frame.names}
        frame.names.update(names)
        return before

    def unbind(self, frame: Frame, names: dict[str, Any], before: dict[str, Any]) -> None:
        for name in names:
            frame.names.pop(name, None)
        frame.names.update(before)

    def each_file(self, one: parse.EachFile, frame: Frame, here: str) -> Going:
        glob = self.template(one.glob, frame)
        yield [f"{here}*"]
        paths = tools.glob_files(self.root, tools.glob_of(glob))
        frame.files += 1
        paths = self.rounds(paths, one.most, "found/{}.md")
        if self.free:  # what the glob may match is there, whatever it is called
            for path in paths:
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                (self.root / path).touch()
        for number, path in enumerate(paths, 1):
            names = {f"file{frame.files}": path, **({one.name: path} if one.name else {})}
            before = self.bound(frame, names)
            yield from self.body(one.body, frame, f"{here}[{number}]/")
            self.unbind(frame, names, before)
        frame.files -= 1

    def loop(self, one: parse.For, frame: Frame, here: str) -> Going:
        items = self.template(one.value, frame)
        if not isinstance(items, list):
            if not self.free:
                raise Stop("value", "this is not a list")
            items = []
        items = self.rounds(items, one.most, MADE + "{}")
        collected: list[list[Any]] = [[] for _ in items]
        if one.fork:
            yield from self.fork(one, frame, here, items, collected)
        else:
            for number, item in enumerate(items, 1):
                before, outer = self.bound(frame, {one.name: item}), frame.collect
                frame.collect = collected[number - 1]
                yield from self.body(one.body, frame, f"{here}[{number}]/")
                frame.collect = outer
                self.unbind(frame, {one.name: item}, before)
        if one.bind:
            frame.names[one.bind] = [value for values in collected for value in values]

    def fork(
        self, one: parse.For, frame: Frame, here: str, items: list[Any], collected: list[list[Any]]
    ) -> Going:
        going: dict[int, tuple[Going, list[str]]] = {}
        stops: dict[int, Stop] = {}
        at_work = branches.Fork((frame.plan.path, one.line))

        def let_go(number: int, branch: Going, chosen: str | None) -> None:
            """Lets a branch go on to its next step, or to its end."""
            going.pop(number, None)
            try:
                going[number] = branch, next(branch) if chosen is None else branch.send(chosen)
            except StopIteration:
                pass
            except Stop as stop:
                if stop.cause not in KINDS:
                    raise
                stops[number] = stop

        for number, item in enumerate(items):
            own = frame.branch()
            own.forks = (*frame.forks, (at_work, number))
            own.names[one.name] = item
            own.collect = collected[number]
            let_go(number, self.body(one.body, own, f"{here}#{number + 1}/"), None)
        while going:
            chosen = yield [
                address for _, (_, wanted) in sorted(going.items()) for address in wanted
            ]
            number = next(number for number, (_, wanted) in going.items() if chosen in wanted)
            let_go(number, going[number][0], chosen)
        for number, stop in sorted(stops.items()):
            if not one.keep:
                raise stop
            path, line = stop.place or ("", 0)
            collected[number][:] = [
                {
                    "failed": KINDS[stop.cause],
                    "why": stop.why,
                    "item": items[number],
                    "at": stop.at,
                    "path": path,
                    "line": line,
                }
            ]

    def meets(self, one: parse.Step, frame: Frame, here: str) -> None:
        """Stop `value` where a branch comes to a file that another one named, and one of the two steps changes it."""
        try:
            tool = catalogue()[one.tool]
            uses = branches.uses(tool, self.request(one, tool, frame))
        except (KeyError, Stop):  # it is told when the step's turn comes
            return
        branches.meet(frame.forks, uses, here)

    # -- calls

    def call(self, one: parse.Call, frame: Frame, here: str) -> Going:
        site = (frame.plan.path, one.line)
        result = None
        if one.depth is None or frame.chain.count(site) < one.depth:
            path = self.resolve(one.target)
            plan = self.plan(path)
            if frame.depth >= self.max_stack:
                raise Stop("stack", "the stack is too deep")
            given = {name: self.template(value, frame) for name, value in one.arguments.items()}
            cursor = (
                automata.Cursor(self.automaton(plan.automaton)) if plan.automaton else frame.cursor
            )
            called = Frame(
                plan, {"run": RUN, **self.inputs(plan, given)}, cursor, frame, (*frame.chain, site)
            )
            yield from self.body(plan.body, called, f"{here}>{one.target}/")
            if plan.automaton and not cursor.accepts():
                raise Stop("unfinished", f"`{path}` ends in {cursor.state}")
            result = called.result
        if one.bind:
            frame.names[one.bind] = result

    # -- steps

    def step(self, one: parse.Step, frame: Frame, here: str) -> Any:
        tool = catalogue().get(one.tool)
        if tool is None or tool.get("forbidden"):
            raise Stop("name", f"no tool `{one.tool}`")
        for meter in frame.meters:
            meter[0] -= 1
            if meter[0] < 0:
                raise Stop("budget", "the budget of steps is spent")
        symbol = action(tool, one.tail)
        if symbol is not None and not frame.cursor.move(symbol):
            raise Stop("automaton", f"`{symbol}` in {frame.cursor.state}")
        self.steps += 1
        request: dict[str, Any] = {}
        self.world.at = here
        try:
            request = self.request(one, tool, frame)
            result = self.perform(one.tool, tool, request, frame)
        except Stop as stop:
            shown = stop.cause in ("missing", "exists") and MADE not in str(stop.path)
            if self.free and stop.cause in KINDS and not shown:
                self.trace.append(Done(here, frame.plan.path, one.line, one.tool, request, "ok"))
                return MADE
            self.trace.append(Done(here, frame.plan.path, one.line, one.tool, request, stop.cause))
            raise
        self.trace.append(Done(here, frame.plan.path, one.line, one.tool, request, "ok"))
        return json.loads(json.dumps(result, sort_keys=True))

    def request(self, one: parse.Step, tool: dict[str, Any], frame: Frame) -> dict[str, Any]:
        """What the tool is asked. Stop `argument` where something is missing."""
        parameters = tool["parameters"]
        request: dict[str, Any] = {}
        tail = one.tail
        rest = next((one["name"] for one in parameters if one["kind"] == "rest"), None)
        singles = [one["name"] for one in parameters if one["kind"] not in ("rest", "block")]
        if rest:
            for name in singles:
                word, _, tail = tail.partition(" ")
                request[name] = fill(word, frame.names)
            if tail:
                request[rest] = fill(
                    tail, frame.names, show=quoted if one.tool == "run_in_bash_session" else text_of
                )
        else:
            free = iter(singles)
            for name, template in parse.words(tail):
                name = name or next((other for other in free if other not in request), None)
                if name not in singles or name in request:
                    raise Stop("argument", f"`{one.tool}` takes no `{name or template}`")
                request[name] = fill(template, frame.names)
        if one.block is not None:
            block = next((one["name"] for one in parameters if one["kind"] == "block"), None)
            if block is None:
                raise Stop("argument", f"`{one.tool}` takes no text block")
            request[block] = fill(one.block, frame.names, lenient=frame.bound)
        request = {name: value for name, value in request.items() if value is not None}
        for parameter in parameters:
            name = parameter["name"]
            if parameter.get("required", True) and request.get(name) is None:
                raise Stop("argument", f"`{one.tool}` needs `{name}`")
        if tool.get("need_one_of") and not any(name in request for name in tool["need_one_of"]):
            raise Stop("argument", f"`{one.tool}` needs one of {tool['need_one_of']}")
        return request

    def perform(
        self, name: str, tool: dict[str, Any], request: dict[str, Any], frame: Frame
    ) -> Any:
        self.capable(name, tool, request, frame)
        if name in tools.FILE_TOOLS:
            strict = {"strict": True} if self.free and name in tools.REPEATED else {}
            return tools.FILE_TOOLS[name](self.root, **request, **strict)
        if name == "run_in_bash_session":
            return self.world.command(
                request["command"], self.root, lambda path: may_write(frame, path)
            )
        if name in ("request_user_input", "record_user_approval_for_plan", "request_code_review"):
            return self.world.person(name, request.get("text", ""))
        if tool["trust"] == "untrusted":
            return self.world.outside(name, request)
        text = request.get("text", request.get("body", ""))
        if name == "message_user":
            self.messages.append(
                "\n".join(
                    text_of(request[part]).strip() for part in ("text", "body") if part in request
                )
            )
        if name in ("generate_code", "restore_file", "view_image"):
            raise Stop("unavailable", f"nobody does `{name}` here")
        return text

    def capable(
        self, name: str, tool: dict[str, Any], request: dict[str, Any], frame: Frame
    ) -> None:
        """Stop `capability` where a plan on the stack does not allow what the step touches."""
        for parameter in tool["parameters"]:
            if parameter["kind"] == "path" and parameter["name"] in request:
                tools.one_name(request[parameter["name"]], parameter["name"])
        if name == "run_in_bash_session" and not allowed(frame, "run", None):
            raise Stop("capability", "no commands")
        if tool["trust"] == "untrusted" and not allowed(frame, "net", None):
            raise Stop("capability", "no network")
        for parameter in tool["parameters"]:
            if parameter["kind"] != "path" or parameter["name"] not in request:
                continue
            path = tools.clean(request[parameter["name"]], parameter["name"])
            access = "read" if parameter["access"] == "read" else "write"
            if not allowed(frame, access, path):
                raise Stop("capability", f"may not {access} `{path}`", path)


def allowed(frame: Frame, access: str, path: str | None) -> bool:
    """Whether every plan on the stack that allows anything allows this."""

    def fits(globs: list[str]) -> bool:
        return path is None or any(tools.matches(glob, path, dots=True) for glob in globs)

    return all(
        any(kind == access and fits(globs) for kind, globs in allows) for allows in frame.allows
    )


def may_write(frame: Frame, path: str) -> bool:
    """Whether a command may change the path."""
    return not tools.is_protected(path) and allowed(frame, "write", path)


INTERPRETERS = re.compile(r"python[\d.]*|bash|sh|env$")


def action(tool: dict[str, Any], tail: str) -> str | None:
    """The symbol of a step: the first of the tool's `actions` that fits its command, else its `action`."""
    for one in tool.get("actions", []):
        parts = [part for part in tail.split() if not part.startswith("-")]
        while parts and INTERPRETERS.match(parts[0]):
            parts.pop(0)
        when = one["when"]
        if (
            parts
            and parts[0].rsplit("/", 1)[-1] == when["program"]
            and when.get("subcommand") in (None, *parts[1:2])
        ):
            return str(one["action"])
    symbol: str | None = tool["action"]
    return symbol
