"""The names of a plan while its types are found: what each may be here, and what conditions have tested."""

from __future__ import annotations

from ....linking import types
from ....linking.types import ANY, TEXT, Type
from ....syntax.values import Ref, Value
from .known import Known, either
from .tested import Tested, limited, without

RESULT = "\0"
"""The key, among names, of what the plan yields."""


class Names:
    """`names` is what is known here; `trail` what to put back where a branch or loop ends; `facts` what was tested."""

    def __init__(self) -> None:
        self.names: dict[str, Known] = {}
        self.facts: Tested = {}
        self.trail: list[tuple[str, Known | None]] = []

    def put(self, name: str, known: Known) -> None:
        self.trail.append((name, self.names.get(name)))
        self.names[name] = known
        if (name,) in self.facts:
            self.facts = without(self.facts, {name})

    def undo(self, mark: int) -> dict[str, Known]:
        """Takes back what was bound since `mark`; returns it."""
        changed = {name: self.names[name] for name, _ in self.trail[mark:] if name in self.names}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                self.names.pop(name, None)
            else:
                self.names[name] = before
        return changed

    def join(self, one: dict[str, Known], other: dict[str, Known]) -> None:
        """Binds what one of two ways binds, as it is after either."""
        for name in {**one, **other}:
            left, right = (
                one.get(name) or self.names.get(name),
                other.get(name) or self.names.get(name),
            )
            if left is None or right is None:  # unbound on one way, which is reported
                self.put(name, left or right)  # type: ignore[arg-type]
            else:
                self.put(name, either(left, right))

    def look(self, path: tuple[str, ...] | list[str]) -> Known | None:
        """What is known of a reference; None: nothing binds it."""
        known = self.names.get(path[0])
        if known is None:
            return None
        for size in range(1, len(path) + 1):
            if size > 1:
                known = known.made(lambda kind, field=path[size - 1]: kind.field(field))  # type: ignore[misc]
            fact = self.facts.get(tuple(path[:size])) if self.facts else None
            if fact is not None:
                known = known.made(
                    lambda kind, fact=fact: kind._replace(  # type: ignore[misc]
                        kinds=limited(kind.kinds, fact)
                    )
                )
        return known

    def single(self, value: Value | None) -> Ref | None:
        """The reference that a template is, if it is nothing else: then it has that value, and is not text."""
        if value is None or len(value.parts) != 1 or not isinstance(value.parts[0], Ref):
            return None
        return value.parts[0] if value.parts[0].path[0] in self.names else None

    def given(self, value: Value) -> Type:
        """The type of a template."""
        ref = self.single(value)
        if ref is not None:
            known = self.look(ref.path)
            return ANY if known is None else known.type
        if value.parts and isinstance(value.parts[0], Ref) and len(value.parts) == 1:
            return ANY  # unbound, which is reported
        literal = value.literal
        return TEXT if literal is None else types.of_constant(literal)
