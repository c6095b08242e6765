"""The names that a plan has bound while its flow is followed, and what values made of them may say."""

from __future__ import annotations

from ....linking.model import Unit
from ....syntax.values import Ref, Value
from .labels import TRUSTED
from .summary import ITEMS, Name


class BoundNames:
    """`names`: what is bound here; `trail`: what to put back where a branch or loop ends; `known`: all names of the plan."""

    def __init__(self, unit: Unit) -> None:
        self.known = unit.names
        self.names: dict[str, Name] = {}
        self.trail: list[tuple[str, Name | None]] = []

    def begin(self, names: dict[str, Name]) -> None:
        """Back to the start of the plan, where these are its parameters."""
        self.names, self.trail = names, []

    def refs(self, value: Value | None) -> list[Ref]:
        return (
            []
            if value is None or "{" not in value.text
            else [ref for ref in value.refs if ref.path[0] in self.known]
        )

    def ref(self, ref: Ref) -> int:
        found = self.names.get(ref.path[0])
        if found is None:
            return TRUSTED
        return found.inner if len(ref.path) > 1 and ref.path[1] in found.own else found.label

    def value(self, value: Value | None) -> int:
        out = TRUSTED
        for ref in self.refs(value):
            out |= self.ref(ref)
        return out

    def items(self, value: Value | None) -> tuple[int, Name]:
        """What decides which items a loop goes over, and what is known of one of them."""
        refs = self.refs(value)
        found = self.names.get(refs[0].path[0]) if refs else None
        if found is None or value is None or value.parts != (refs[0],) or len(refs[0].path) > 1:
            label = self.value(value)
            return label, Name(label, None)
        over = found.inner if ITEMS in found.own else found.label
        return over, Name(found.label, None, found.own - {ITEMS}, found.inner | over)

    def words(self, value: Value) -> int:
        """The label of the words that the value can say: a declared number or truth value has none."""
        out = TRUSTED
        for ref in self.refs(value):
            out |= TRUSTED if self._bare(ref) else self.ref(ref)
        return out

    def _bare(self, ref: Ref) -> bool:
        found = self.names.get(ref.path[0])
        return (
            found is not None and found.fields is not None and len(ref.path) == 2
            and found.fields.get(ref.path[1]) in ("number", "boolean")
        )  # fmt: skip

    def bind(self, name: str | None, value: Name) -> None:
        if name is not None:
            self.keep(name, value)

    def keep(self, name: str, value: Name) -> None:
        self.trail.append((name, self.names.get(name)))
        self.names[name] = value

    def undo(self, mark: int) -> dict[str, Name]:
        """Takes back what was bound since `mark`; returns it."""
        changed = {name: self.names[name] for name, _ in self.trail[mark:]}
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                del self.names[name]
            else:
                self.names[name] = before
        return changed
