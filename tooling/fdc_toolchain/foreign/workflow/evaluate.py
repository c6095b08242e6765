"""Follows a script through every branch, and counts what it can start at most.

Two rules keep the bound sound. What calls a function that starts agents is followed; where such a function goes
out of sight, the script is not bounded. And a list whose length is not known has a size of its own in the formula:
the most items that it has where the script goes through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .calls import called
from .expressions import HANDLERS
from .formula import ONE, ZERO, Formula
from .formula import size as size_of
from .language import HARMLESS, SESSION, STARTERS, VALUES
from .naming import named
from .refused import refuse
from .rounds import decides, most_rounds
from .rounds import number as number_of
from .script import FUNCTIONS, LOOPS, Declared, NotBounded, Script, arguments, parameters, parts
from .uses import Uses
from .values import ABSENT, DATA, FREE, Cost, Env, Function, Size, Value, as_item, one_agent

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_STEPS = 60_000
MOST_CALLS = 60


class Evaluation:
    """One look at one script. `sizes`, `unbounded`, `fans`, `groups` and `sessions` are what it found."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.uses = Uses(script)
        self.sizes: dict[str, Size] = {}
        self.unbounded: dict[int, tuple[Node, str]] = {}
        self.fans: dict[int, tuple[Node, Formula]] = {}
        self.groups: dict[int, tuple[Node, Formula]] = {}
        self.sessions: dict[int, Node] = {}
        self._steps = 0
        self._stack: list[tuple[int, int]] = []
        self._recursions = 0
        self._called: dict[tuple[object, ...], tuple[Env | None, tuple[Cost, Value]]] = {}
        self._again: set[tuple[int, int]] = set()
        self._results = [DATA]
        self._probing = 0
        refuse(script)

    def whole(self) -> Cost:
        """What one run of the script can cost. Raises NotBounded."""
        return self.block(self.script.root, Env(self.script.root.id, None))

    # statements

    def block(self, node: Node, env: Env) -> Cost:
        return sum((self.cost(child, env) for child in node.named_children), FREE)

    def cost(self, node: Node, env: Env) -> Cost:
        """What evaluating a node costs where its value is used up here."""
        cost, value = self.evaluate(node, env)
        self.escape(value, node)
        return cost

    def evaluate(self, node: Node, env: Env) -> tuple[Cost, Value]:
        """(cost, value) of a node."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NotBounded(node, "the script is too long to be followed")
        kind = node.type
        if kind in FUNCTIONS:
            if kind in ("function_declaration", "generator_function_declaration"):
                return FREE, DATA
            return FREE, Value((Function(node, env),))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(self, node, env)
        return self.block(node, env), DATA

    def _leave(self, node: Node, env: Env) -> tuple[Cost, Value]:
        cost = FREE
        for child in node.named_children:
            more, value = self.evaluate(child, env)
            cost = cost + more
            self._results[-1] = self._results[-1].either(value)
        return cost, DATA

    def _declaration(self, node: Node, env: Env) -> tuple[Cost, Value]:
        [name], right = parts(node, "name"), node.child_by_field_name("value")
        cost = self.pattern(name, env)
        if right is None:
            return cost, DATA
        more, value = self.evaluate(right, env)
        if name.type != "identifier":
            self.escape(value, right)
            return cost + more, DATA
        declared = self.script.at[name.id]
        if declared.writes:
            self.escape(value, right)
        elif declared.value is not None:
            env.home(declared).values[declared] = value
        return cost + more, DATA

    def pattern(self, node: Node, env: Env) -> Cost:
        """The default values and computed names in a pattern."""
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            return FREE
        if node.type in ("assignment_pattern", "object_assignment_pattern"):
            left, right = parts(node, "left", "right")
            return self.pattern(left, env) + self.cost(right, env)
        if node.type in ("object_pattern", "array_pattern", "rest_pattern", "pair_pattern"):
            return sum((self.pattern(child, env) for child in node.named_children), FREE)
        return self.cost(node, env)

    # loops

    def _loop(self, node: Node, env: Env) -> tuple[Cost, Value]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        steps = [node.child_by_field_name(name) for name in ("condition", "increment", "body")]
        before = FREE
        if node.type == "for_in_statement" and left is not None and right is not None:
            before, value = self.evaluate(right, env)
            if node.child_by_field_name("kind") is not None:
                self.bind(left, value.element or DATA, env)
            else:
                self.escape(value, right)
            steps.append(left)
        initial = node.child_by_field_name("initializer")
        before += sum((self.cost(one, env) for one in (initial, steps[0]) if one is not None), FREE)
        each = sum((self.pattern(part, env) for part in steps if part is not None), FREE)
        if not each.agents:
            return before, DATA
        return before + self.multiplied(node, each, most_rounds(self, node, env)), DATA

    def multiplied(
        self, node: Node, each: Cost, most: Formula | None, *, together: bool = False
    ) -> Cost:
        """So many times the cost; what is above one by a size that nothing limits is noted."""
        if most is None:
            self.endless(node, "nothing limits how often this loop starts agents")
            most = ONE
        if each.agents and most.names and not self._probing:
            self.fans.setdefault(node.id, (node, most))
        out = each.times(most, together=together)
        if out.agents and not self._probing:
            before = self.groups.get(node.id, (node, ZERO))[1]
            self.groups[node.id] = node, before.either(out.agents)
        return out

    def endless(self, node: Node, reason: str) -> None:
        """Notes that agents are started without end."""
        if self._probing:
            raise NotBounded(node, reason)
        self.unbounded.setdefault(node.id, (node, reason))

    def bind(self, pattern: Node, value: Value, env: Env) -> None:
        """Binds a parameter, or the name of a loop, to what it can be."""
        if pattern.type == "identifier":
            found = self.script.at[pattern.id]
            if found.writes:
                self.escape(value, pattern)
                value = DATA
            elif not self.uses.fixed(found):
                value = value._replace(size=None)
            env.home(found).values[found] = value
            return
        self.escape(value, pattern)

    # names

    def _name(self, node: Node, env: Env) -> tuple[Cost, Value]:
        declared = self.script.resolved.get(node.id)
        if declared is not None:
            return FREE, self.value(declared, env, node)
        name = self.script.text(node)
        if name in STARTERS:
            return FREE, Value((Function(None, None, name),))
        if name in HARMLESS or name in VALUES:
            return FREE, DATA
        raise NotBounded(node, f"`{name}` is not known: it may start agents")

    def value(self, declared: Declared, env: Env, use: Node) -> Value:
        """What a name stands for where it is used."""
        home = env.home(declared)
        if declared not in home.values:
            if declared.value is None:
                return DATA
            if declared.value.type in FUNCTIONS and declared.kind == "function":
                value = Value((Function(declared.value, home),))
                if declared.writes:
                    self.escape(value, declared.node)
                return value
            home.values[declared] = None
            try:
                _, value = self.evaluate(declared.value, home)
            except BaseException:
                del home.values[declared]
                raise
            if declared.writes:  # what is assigned is looked at where it is assigned
                self.escape(value, declared.node)
                value = DATA
            home.values[declared] = value
        found = home.values[declared]
        if found is None:  # it is being evaluated
            return DATA
        return found if self._keeps_size(declared) else self._grown(declared, found, home, use)

    def _keeps_size(self, declared: Declared) -> bool:
        return declared.kind in ("parameter", "item") or self.uses.fixed(declared)

    def _grown(self, declared: Declared, value: Value, env: Env, use: Node) -> Value:
        """A list that `push` makes longer: with what is pushed, and its length where that can be known."""
        pushes = self.uses.pushes(declared)
        if pushes is None:
            return value._replace(size=None)
        home = self.script.function_of(declared.node)
        outer = {loop.id for loop in self.script.loops_between(declared.node, home)}
        size, element = value.size, value.element or (None if value.size == ZERO else DATA)
        if not self.uses.same_place(declared, use):
            size = None
        for call in pushes:
            if self.script.function_of(call).id != home.id:
                size = None  # what is pushed there starts nothing, or is refused
                continue
            count: Formula | None = ZERO
            for item in arguments(call):
                _, pushed = self.evaluate(item, env)
                more: Formula | None = ONE
                if item.type == "spread_element":
                    more, pushed = pushed.size, pushed.element or DATA
                count = count + more if count is not None and more is not None else None
                pushed = as_item(self, pushed)
                element = pushed if element is None else element.either(pushed)
            for loop in self.script.loops_between(call, home) if size is not None else ():
                if loop.id not in outer and count is not None:
                    itself = decides(loop, declared)
                    most = None if itself else most_rounds(self, loop, env)
                    count = count * most if most is not None else None
            size = size + count if size is not None and count is not None else None
        return Value(value.functions, element or DATA, size)

    # functions

    def escape(self, value: Value, node: Node) -> None:
        """Raises NotBounded where a value that may start agents goes where it is not followed."""
        if (value.functions or value.element) and self.starts(value):
            raise NotBounded(node, "a function that starts agents goes where it cannot be followed")

    def starts(self, value: Value) -> bool:
        """Whether calling a value, or what it holds or returns, may start agents."""
        if value.element is not None and self.starts(value.element):
            return True
        for function in value.functions:
            if function.node is None:
                return True
            if (function.node.id, id(function.env)) in self._stack:
                return True  # not known yet
            depths = len(self._stack), len(self._results)
            self._probing += 1
            try:
                cost, result = self.call(function, [], function.node)
                if cost.agents or self.starts(result):
                    return True
            except NotBounded:
                return True
            finally:
                self._probing -= 1
                del self._stack[depths[0] :], self._results[depths[1] :]
        return False

    def call(self, function: Function, values: list[Value], at: Node) -> tuple[Cost, Value]:
        """(cost, result) of one call."""
        node = function.node
        if node is None:
            if function.native != "agent":
                raise NotBounded(at, f"`{function.native}` is called where it cannot be followed")
            self.note_session(at)
            return one_agent(SESSION), DATA
        key = node.id, id(function.env)
        if len(self._stack) > MOST_CALLS:
            raise NotBounded(at, "calls are nested too deeply to be followed")
        if key in self._stack:
            if any(self.starts(value) for value in values):
                raise NotBounded(at, "a function that calls itself is given what starts agents")
            self._again.add(key)
            self._recursions += 1
            return FREE, DATA
        plain = all(not value.functions and value.element is None for value in values)
        memory = (*key, tuple(values))
        if plain and memory in self._called:
            return self._called[memory][1]
        before = self._recursions
        self._stack.append(key)
        self._results.append(DATA)
        env = Env(node.id, function.env)
        cost = self._given(node, values, env)
        [body] = parts(node, "body")
        if body.type == "statement_block":
            cost = cost + self.block(body, env)
            result = self._results.pop()
        else:
            self._results.pop()
            more, result = self.evaluate(body, env)
            cost = cost + more
        self._stack.pop()
        if key in self._again and key not in self._stack:
            self._again.discard(key)
            if cost.agents:
                self.endless(at, "a function that starts agents calls itself")
        if node.type.startswith("generator") and (cost.agents or self.starts(result)):
            raise NotBounded(node, "a generator starts agents")
        if plain and not self._probing and before == self._recursions:
            self._called[memory] = function.env, (cost, result)
        return cost, result

    def _given(self, node: Node, values: list[Value], env: Env) -> Cost:
        """Binds the parameters of a function; what their default values cost."""
        cost = FREE
        for number, pattern in enumerate(parameters(node)):
            given = values[number] if number < len(values) else DATA
            if pattern.type == "rest_pattern":
                element = DATA
                for value in values[number:]:
                    element = element.either(value)
                given = Value((), element, None)
                pattern = pattern.named_children[0]
            elif pattern.type == "assignment_pattern":
                left, right = parts(pattern, "left", "right")
                more, default = self.evaluate(right, env)
                cost = cost + more
                if default == DATA:
                    default = default._replace(number=number_of(self, right, env))
                given, pattern = default if given == ABSENT else given.either(default), left
            cost = cost + self.pattern(pattern, env)
            self.bind(pattern, given, env)
        return cost

    def calls(self, value: Value, values: list[Value], at: Node) -> tuple[Cost, Value]:
        """(cost, result) of one call of whatever a value may be."""
        self.escape(Value((), value.element), at)  # it is not a list where it can be called
        cost, result = FREE, DATA
        for number, function in enumerate(value.functions):
            more, returned = self.call(function, values, at)
            cost = cost.either(more) if number else more
            result = result.either(returned) if number else returned
        return cost, result

    def note_session(self, node: Node) -> None:
        if not self._probing:
            self.sessions.setdefault(node.id, node)

    # sizes

    def size(self, node: Node, value: Value) -> Formula:
        """At most so many items; a size of its own where that is not known."""
        return value.size if value.size is not None else self.unknown(node, "items")

    def unknown(self, node: Node, kind: str) -> Formula:
        """The size that stands for an expression of which nothing is known."""
        name = named(self.script, self.uses, node, kind)
        found = self.sizes.get(name)
        if found is None:
            found = self.sizes[name] = Size(name, kind, node, {})
        found.places[node.start_byte, node.end_byte, kind] = node
        return size_of(name)


_Handler = Callable[[Evaluation, "Node", Env], "tuple[Cost, Value]"]
_HANDLERS: dict[str, _Handler] = {
    **HANDLERS,
    **dict.fromkeys(("call_expression", "new_expression"), called),
    **dict.fromkeys(("identifier", "shorthand_property_identifier"), Evaluation._name),
    **dict.fromkeys(LOOPS, Evaluation._loop),
    "return_statement": Evaluation._leave,
    "variable_declarator": Evaluation._declaration,
}
