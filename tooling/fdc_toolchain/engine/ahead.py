"""What a run will do behind the step at which a strand stands, as far as that can be known now. Nothing is done.

Values that no step has brought yet are `UNKNOWN`. Where a condition hangs on one, both branches are followed, and what they
do is done perhaps; a loop over one is followed for one round. It ends where the next approval certainly is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..program.model import Program
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


UNKNOWN: Any = _Unknown()
"""In the place of a value that nothing has brought yet."""


class Visitor(Protocol):
    """Who is told what comes, in its order."""

    def step(self, item: dict[str, Any], args: dict[str, Any], scope: Scope, perhaps: bool) -> Any:
        """A step with its arguments, of which some may be UNKNOWN; returns what it will bring."""

    def files(self, item: dict[str, Any], glob: Any, scope: Scope, perhaps: bool) -> Any:
        """A loop over files; returns their list, or UNKNOWN."""

    def left(self, line: int, why: str, scope: Scope) -> None:
        """Something behind this line is not followed."""


class _Enough(Exception):
    """The next approval, or the end of what is followed."""


def follow(program: Program, strand: Strand, visitor: Visitor) -> None:
    """Tells a visitor what comes behind the step at which a strand stands, to the strand's end."""
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
    except _Enough:
        return


def filled(template: list[Any], names: dict[str, Any]) -> tuple[Any, bool]:
    """The value of a template, and whether it is known. In a text, what is unknown stands as `{name}`."""
    if len(template) == 1 and type(template[0]) is not str:
        found = _found(template[0], names)
        return found, found is not UNKNOWN
    known, out = True, []
    for part in template:
        if type(part) is str:
            out.append(part)
            continue
        found = _found(part, names)
        if found is UNKNOWN:
            known = False
            out.append("{" + ".".join(part["ref"]) + "}")
        elif "quote" in part:
            from ..syntax.shell_text import quoted

            out.append(quoted(text(found), part["quote"]))
        else:
            out.append(text(found))
    return "".join(out), known


class Hole(str):
    """A text with `{name}` in it where something is not known yet."""

    __slots__ = ()


def _found(part: dict[str, Any], names: dict[str, Any]) -> Any:
    return UNKNOWN if names.get(part["ref"][0]) is UNKNOWN else lookup(part["ref"], names)


class _Walk:
    def __init__(self, program: Program, visitor: Visitor) -> None:
        self.program = program
        self.visitor = visitor
        self.count = 0
        self.deep = 0
        self.perhaps = 0

    def rest(self, frame: Frame, names: dict[str, Any]) -> None:
        """What is left of a frame: its block behind the instruction under way, and its loop's further rounds."""
        self.block(frame.block[frame.at + 1 :], names, frame.scope)
        loop = frame.loop
        if loop is None:
            return
        item = {"line": loop.line, "body": frame.block, "until": loop.until}
        left = list(loop.items[loop.at + 1 :])
        if loop.op == "iterate":
            if not self._verdict(loop.until, names):
                self._turns(item, len(left), names, frame.scope)
        else:
            self._rounds(item, loop.names, left, names, frame.scope)
        names.update({name: value for name, value in loop.hidden.items() if name in loop.names})

    def block(self, items: list[dict[str, Any]], names: dict[str, Any], scope: Scope) -> None:
        self.deep += 1
        try:
            for item in items:
                self.count += 1
                if self.count > MOST or self.deep > DEEP:
                    self.visitor.left(item["line"], "more steps follow than are shown", scope)
                    raise _Enough
                _FOLLOW[item["op"]](self, item, names, scope)
        finally:
            self.deep -= 1

    def _aside(
        self, items: list[dict[str, Any]], names: dict[str, Any], scope: Scope
    ) -> dict[str, Any]:
        """The names after a body that is done perhaps. An approval in it ends it, and not what comes behind."""
        mine = dict(names)
        self.perhaps += 1
        try:
            self.block(items, mine, scope)
        except _Enough:
            if self.count > MOST:
                raise
        finally:
            self.perhaps -= 1
        return mine

    def _join(self, names: dict[str, Any], *others: dict[str, Any]) -> None:
        """Which of several ways was gone is not known: a name that is another one on one of them is unknown."""
        first, *more = others
        for name in {key for one in others for key in one}:
            value = first.get(name)
            names[name] = value if all(one.get(name) is value for one in more) else UNKNOWN

    def _verdict(self, cond: dict[str, Any] | None, names: dict[str, Any]) -> bool | None:
        if cond is None:
            return False
        try:
            return None if _hangs(cond, names) else holds(cond, names, [])
        except (PredicateWanted, Unusable):
            return None

    def _bind(self, item: dict[str, Any], names: dict[str, Any], value: Any) -> None:
        if item.get("bind") is not None:
            names[item["bind"]] = value

    # One function an operation

    def _step(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        if self.program["tools"][item["tool"]].get("approves"):
            self.visitor.left(item["line"], "what follows is asked for then", scope)
            raise _Enough
        args: dict[str, Any] = {}
        for name, template in item["args"].items():
            value, known = filled(template, names)
            args[name] = value if known else UNKNOWN if value is UNKNOWN else Hole(value)
        self._bind(item, names, self.visitor.step(item, args, scope, self.perhaps > 0))

    def _call(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
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

    def _skip(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        self._bind(item, names, None)

    def _each(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        glob, known = filled(item["glob"], names)
        found = self.visitor.files(item, glob if known else UNKNOWN, scope, self.perhaps > 0)
        bound = tuple({name for name in (item["name"], item["alias"]) if name is not None})
        self._over(item, found, bound, names, scope)

    def _for(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        found, _ = filled(item["in"], names)
        self._over(item, found, (item["name"],), names, scope)
        self._bind(item, names, UNKNOWN)

    def _fork(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        found, _ = filled(item["in"], names)
        if not isinstance(found, list):
            self._over(item, found, (item["name"],), names, scope)
        for value in found if isinstance(found, list) else ():
            try:
                self.block(item["body"], {**names, item["name"]: value}, scope)
            except _Enough:
                if self.count > MOST:
                    raise
        self._bind(item, names, UNKNOWN)

    def _over(
        self,
        item: dict[str, Any],
        found: Any,
        bound: tuple[str, ...],
        names: dict[str, Any],
        scope: Scope,
    ) -> None:
        if isinstance(found, list):
            self._rounds(item, bound, found, names, scope)
        elif found is UNKNOWN:
            after = self._aside(item["body"], {**names, **dict.fromkeys(bound, UNKNOWN)}, scope)
            self._join(
                names, names, {name: value for name, value in after.items() if name not in bound}
            )

    def _rounds(
        self,
        item: dict[str, Any],
        bound: tuple[str, ...],
        items: list[Any],
        names: dict[str, Any],
        scope: Scope,
    ) -> None:
        before = {name: names.get(name) for name in bound}
        for value in items:
            names.update(dict.fromkeys(bound, value))
            self.block(item["body"], names, scope)
        names.update(before)

    def _iterate(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        self._turns(item, item["max"], names, scope)

    def _turns(
        self, item: dict[str, Any], rounds: int, names: dict[str, Any], scope: Scope
    ) -> None:
        sure = True
        for _ in range(rounds):
            if sure:
                self.block(item["body"], names, scope)
            else:
                self._join(names, names, self._aside(item["body"], names, scope))
                self.visitor.left(item["line"], "how many rounds follow", scope)
                return
            verdict = self._verdict(item.get("until"), names)
            if verdict:
                return
            sure = verdict is not None

    def _if(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        verdict = self._verdict(item["cond"], names)
        if verdict is not None:
            self.block(item["then" if verdict else "else"], names, scope)
            return
        self._join(
            names, self._aside(item["then"], names, scope), self._aside(item["else"], names, scope)
        )

    def _require(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        """A gate stops the run or does nothing."""

    def _yield(self, item: dict[str, Any], names: dict[str, Any], scope: Scope) -> None:
        """Results are not followed."""


def _hangs(value: Any, names: dict[str, Any]) -> bool:
    """Whether a condition looks at something unknown."""
    if isinstance(value, dict):
        if "ref" in value:
            return names.get(value["ref"][0]) is UNKNOWN
        return "call" in value or any(_hangs(inner, names) for inner in value.values())
    return isinstance(value, list) and any(_hangs(inner, names) for inner in value)


_FOLLOW: dict[str, Callable[[_Walk, dict[str, Any], dict[str, Any], Scope], None]] = {
    "step": _Walk._step, "call": _Walk._call, "skip": _Walk._skip, "each": _Walk._each, "for": _Walk._for,
    "fork": _Walk._fork, "iterate": _Walk._iterate, "if": _Walk._if, "require": _Walk._require, "yield": _Walk._yield,
}  # fmt: skip
