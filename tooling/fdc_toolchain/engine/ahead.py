"""Predicts what a run will do after the step at which a strand stands. Nothing is executed.

Values that no step has returned yet are `UNKNOWN`. Where a condition depends on one, both branches are followed and count as
possible; a loop over one is followed for one round. The prediction ends at the next approval that is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from ..program.model import Condition, Instruction, Program, Ref, Template
from .state import Frame, Scope, Strand
from .values import PredicateWanted, Unusable, granted, holds, lookup, text

MOST = 2_000
"""Instructions that are followed."""
DEEP = 60
"""Bodies inside each other that are followed."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: object) -> _Unknown:
        return self


UNKNOWN: Final[object] = _Unknown()
"""Stands for a value that no step has returned yet."""


class Visitor(Protocol):
    """Receives the predicted steps, in order."""

    def step(
        self, item: Instruction, args: dict[str, object], scope: Scope, perhaps: bool
    ) -> object:
        """A step with its arguments, of which some may be UNKNOWN; returns its expected result."""

    def files(self, item: Instruction, glob: object, scope: Scope, perhaps: bool) -> object:
        """A loop over files; returns their list, or UNKNOWN."""

    def left(self, line: int, why: str, scope: Scope) -> None:
        """What comes after this line is not predicted; `why` says for what reason."""


class _StopFollowing(Exception):
    """Ends the prediction: at the next approval, or at a limit."""


def follow(program: Program, strand: Strand, visitor: Visitor) -> None:
    """Tells a visitor what comes after the step at which a strand stands, up to the strand's end."""
    walk = _Walk(program, visitor)
    names = {id(frame.scope): dict(frame.scope.names) for frame in strand.frames}
    try:
        for at in range(len(strand.frames) - 1, -1, -1):
            frame = strand.frames[at]
            walk.rest(frame, names[id(frame.scope)])
            below = strand.frames[at - 1] if at else None
            bound = below.block[below.at].get("bind") if below is not None else None
            if below is not None and bound is not None:
                names[id(below.scope)][bound] = UNKNOWN
    except _StopFollowing:
        return


def filled(template: Template, names: Mapping[str, object]) -> tuple[object, bool]:
    """The value of a template, and whether it is known. In a text, what is unknown stands as `{name}`."""
    if len(template) == 1 and not isinstance(template[0], str):
        value = _lookup(template[0], names)
        return value, value is not UNKNOWN
    known, out = True, []
    for part in template:
        if isinstance(part, str):
            out.append(part)
            continue
        value = _lookup(part, names)
        if value is UNKNOWN:
            known = False
            out.append("{" + ".".join(part["ref"]) + "}")
        elif "quote" in part:
            from ..syntax.shell_text import quoted

            out.append(quoted(text(value), part["quote"]))
        else:
            out.append(text(value))
    return "".join(out), known


class Hole(str):
    """A text with `{name}` in it where something is not known yet."""

    __slots__ = ()


def _lookup(part: Ref, names: Mapping[str, object]) -> object:
    return UNKNOWN if names.get(part["ref"][0]) is UNKNOWN else lookup(part["ref"], names)


class _Walk:
    def __init__(self, program: Program, visitor: Visitor) -> None:
        self.program = program
        self.visitor = visitor
        self.count = 0
        self.deep = 0
        self.perhaps = 0

    def rest(self, frame: Frame, names: dict[str, object]) -> None:
        """Follows the rest of a frame: its block after the current instruction, and its loop's further rounds."""
        self.block(frame.block[frame.at + 1 :], names, frame.scope)
        loop = frame.loop
        if loop is None:
            return
        item: Instruction = {
            "op": loop.op, "line": loop.line, "body": frame.block, "until": loop.until,
        }  # fmt: skip
        left = list(loop.items[loop.at + 1 :])
        if loop.op == "iterate":
            if not self._verdict(loop.until, names):
                self._turns(item, len(left), names, frame.scope)
        else:
            self._rounds(item, loop.names, left, names, frame.scope)
        names.update({name: value for name, value in loop.hidden.items() if name in loop.names})

    def block(self, items: list[Instruction], names: dict[str, object], scope: Scope) -> None:
        self.deep += 1
        try:
            for item in items:
                self.count += 1
                if self.count > MOST or self.deep > DEEP:
                    self.visitor.left(item["line"], "more steps follow than are shown", scope)
                    raise _StopFollowing
                _FOLLOW[item["op"]](self, item, names, scope)
        finally:
            self.deep -= 1

    def _possible_block(
        self, items: list[Instruction], names: dict[str, object], scope: Scope
    ) -> dict[str, object]:
        """The names after a body that may not run. An approval in it ends the body, and not what comes after it."""
        mine = dict(names)
        self.perhaps += 1
        try:
            self.block(items, mine, scope)
        except _StopFollowing:
            if self.count > MOST:
                raise
        finally:
            self.perhaps -= 1
        return mine

    def _join(self, names: dict[str, object], *others: dict[str, object]) -> None:
        """Joins the names of several possible branches: a name with different values is unknown."""
        first, *more = others
        for name in {key for other in others for key in other}:
            value = first.get(name)
            names[name] = value if all(other.get(name) is value for other in more) else UNKNOWN

    def _verdict(self, cond: Condition | None, names: dict[str, object]) -> bool | None:
        if cond is None:
            return False
        try:
            return None if _depends_on_unknown(cond, names) else holds(cond, names, [])
        except (PredicateWanted, Unusable):
            return None

    def _bind(self, item: Instruction, names: dict[str, object], value: object) -> None:
        name = item.get("bind")
        if name is not None:
            names[name] = value

    # One function an operation

    def _step(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        if self.program["tools"][item["tool"]].get("approves"):
            self.visitor.left(item["line"], "what follows is asked for then", scope)
            raise _StopFollowing
        args: dict[str, object] = {}
        for name, template in item["args"].items():
            value, known = filled(template, names)
            args[name] = value if known else UNKNOWN if value is UNKNOWN else Hole(str(value))
        self._bind(item, names, self.visitor.step(item, args, scope, self.perhaps > 0))

    def _call(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        plan = self.program["plans"][item["plan"]]
        inner = {name: names[name] for name in ("run",) if name in names}
        inner.update({param["name"]: param.get("default") for param in plan["params"]})
        for name, template in item["args"].items():
            value, known = filled(template, names)
            inner[name] = value if known else UNKNOWN
        grants = scope.grants
        if plan.get("allow"):
            try:
                grants = (
                    *grants,
                    {
                        kind: tuple(granted(glob, inner) for glob in globs)
                        for kind, globs in plan["allow"].items()
                    },
                )
            except (TypeError, Unusable):
                self.visitor.left(item["line"], "what the plan called here may touch", scope)
        self.block(
            plan["body"],
            inner,
            Scope(item["plan"], plan["path"], inner, None, False, scope.depth + 1, grants),
        )
        self._bind(item, names, UNKNOWN)

    def _skip(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        self._bind(item, names, None)

    def _each(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        glob, known = filled(item["glob"], names)
        files = self.visitor.files(item, glob if known else UNKNOWN, scope, self.perhaps > 0)
        bound = tuple({name for name in (item["name"], item["alias"]) if name is not None})
        self._over(item, files, bound, names, scope)

    def _for(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        items, _ = filled(item["in"], names)
        self._over(item, items, (item["name"] or "",), names, scope)
        self._bind(item, names, UNKNOWN)

    def _fork(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        items, _ = filled(item["in"], names)
        if not isinstance(items, list):
            self._over(item, items, (item["name"] or "",), names, scope)
        for value in items if isinstance(items, list) else ():
            try:
                self.block(item["body"], {**names, item["name"] or "": value}, scope)
            except _StopFollowing:
                if self.count > MOST:
                    raise
        self._bind(item, names, UNKNOWN)

    def _over(
        self,
        item: Instruction,
        items: object,
        bound: tuple[str, ...],
        names: dict[str, object],
        scope: Scope,
    ) -> None:
        if isinstance(items, list):
            self._rounds(item, bound, items, names, scope)
        elif items is UNKNOWN:
            after = self._possible_block(
                item["body"], {**names, **dict.fromkeys(bound, UNKNOWN)}, scope
            )
            self._join(
                names, names, {name: value for name, value in after.items() if name not in bound}
            )

    def _rounds(
        self,
        item: Instruction,
        bound: tuple[str, ...],
        items: list[object],
        names: dict[str, object],
        scope: Scope,
    ) -> None:
        before = {name: names.get(name) for name in bound}
        for value in items:
            names.update(dict.fromkeys(bound, value))
            self.block(item["body"], names, scope)
        names.update(before)

    def _iterate(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        self._turns(item, item["max"] or 0, names, scope)

    def _turns(
        self, item: Instruction, rounds: int, names: dict[str, object], scope: Scope
    ) -> None:
        sure = True
        for _ in range(rounds):
            if sure:
                self.block(item["body"], names, scope)
            else:
                self._join(names, names, self._possible_block(item["body"], names, scope))
                self.visitor.left(item["line"], "how many rounds follow", scope)
                return
            verdict = self._verdict(item.get("until"), names)
            if verdict:
                return
            sure = verdict is not None

    def _if(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        verdict = self._verdict(item["cond"], names)
        if verdict is not None:
            self.block(item["then" if verdict else "else"], names, scope)
            return
        self._join(
            names,
            self._possible_block(item["then"], names, scope),
            self._possible_block(item["else"], names, scope),
        )

    def _require(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        """A gate stops the run or does nothing."""

    def _yield(self, item: Instruction, names: dict[str, object], scope: Scope) -> None:
        """Results are not followed."""


def _depends_on_unknown(value: object, names: Mapping[str, object]) -> bool:
    """Whether a condition looks at something unknown."""
    if isinstance(value, dict):
        if "ref" in value:
            return names.get(value["ref"][0]) is UNKNOWN
        return "call" in value or any(_depends_on_unknown(inner, names) for inner in value.values())
    return isinstance(value, list) and any(_depends_on_unknown(inner, names) for inner in value)


_FOLLOW: dict[str, Callable[[_Walk, Instruction, dict[str, object], Scope], None]] = {
    "step": _Walk._step, "call": _Walk._call, "skip": _Walk._skip, "each": _Walk._each, "for": _Walk._for,
    "fork": _Walk._fork, "iterate": _Walk._iterate, "if": _Walk._if, "require": _Walk._require, "yield": _Walk._yield,
}  # fmt: skip
