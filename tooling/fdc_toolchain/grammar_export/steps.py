"""Rules for the steps of tools: a tool's name, what its declaration takes, its text block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ..rules.solver.flow.labels import MOST
from ..rules.solver.flow.touched import ACTING, sinks
from .form import BRANCH, CHOSEN, STAGED, STORES, Chars, Guard, Item, Literal, Use, Way
from .own_values import chooses, given_by
from .place import OUTSIDE, Slot, kind_of, level_of
from .texts import Texts

if TYPE_CHECKING:
    from ..linking.catalogue import Parameter, Tool

_LOOKING = ("cat", "head", "tail", "wc", "sha256sum")
ADDS, COMMITS = "git_add", "git_commit"
"""Tools of which the second fails unless the first came before, since the last of the second."""
_SHAPELESS = (None, "text", "filled")
"""What a parameter may have to be that every text with a visible character is."""
LOOKS = "view_image"
"""The tool that fails with a text, which all files of a grammar are."""


class Steps:
    """The steps of one place, by the action that the automaton reads, in all the forms that are asked for."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.place = texts.place
        self.left_out: list[str] = []
        self.made: dict[tuple[str, tuple[str | None, ...], int, str], Use | None] = {}
        self.kinds: dict[object, int] = {}
        self.given: dict[str, list[Item]] = {}
        self.makes = False
        self.by_action: dict[str | None, list[Tool]] = {}
        usable = [tool for tool in self.place.tools if self._usable(tool)]
        if not self.place.free and (
            self.place.small or not any(tool.name == ADDS for tool in usable)
        ):
            usable = [tool for tool in usable if tool.name != COMMITS]
        self.left_out += [tool.name for tool in self.place.tools if tool not in usable]
        self.makes = any(tool.writes_unknown and level_of(tool) > 1 for tool in usable)
        self.staged = STAGED * (
            not self.place.free and any(tool.name == COMMITS for tool in usable)
        )
        for tool in usable:
            self.by_action.setdefault(tool.action, []).append(tool)

    def _usable(self, tool: Tool) -> bool:
        if (
            tool.broken
            or tool.forbidden
            or (tool.name == LOOKS and not self.place.free)
            or any(item.form == "sections" for item in tool.parameters)
        ):
            return False
        if self.place.free:
            return True
        guard = self._guard(tool, None)
        if (
            guard.bits & guard.clear
            or tool.writes_unknown
            and guard.bits & self.place.outside * STORES
        ):
            return False  # then text from outside would say which files there are
        return all(
            bool(self.texts.path(item.access or "read", 1))
            and item.access not in ("delete", "edit")
            for item in tool.inline
            if item.kind == "path" and item.required
        )

    def unbound(self, actions: Sequence[str | None], depth: int, own: str = "") -> Use | None:
        """A step of one of these actions whose result no name takes, with its line end and its block. `own`: of this tool, which
        does something to what git will commit; otherwise of one that does not."""
        return self._rule("step", actions, depth, None, own)

    def bound(
        self,
        actions: Sequence[str | None],
        depth: int,
        slot: Slot,
        owed: bool = False,
        own: str = "",
    ) -> Use | None:
        """What may stand behind `NAME <- ` for a slot. One that a body still has to bind (`owed`) any step may give: those
        that give such values may be none that the automaton still accepts."""
        if owed:
            return self._rule("give_owed", actions, depth, None, own)
        if slot.made not in ("step", "any", "both"):
            return None
        same: object = slot.by if self.place.free else (slot.kinds, slot.level)
        kind = f"give{self.kinds.setdefault(same, len(self.kinds))}"
        return self._rule(kind, actions, depth, slot, own)

    def _gives(self, tool: Tool, slot: Slot) -> bool:
        if self.place.free:
            return tool.name in slot.by
        return kind_of(tool) in slot.kinds and level_of(tool) <= slot.level

    def _rule(
        self, kind: str, actions: Sequence[str | None], depth: int, slot: Slot | None, own: str
    ) -> Use | None:
        key = (kind, tuple(actions), depth, own)
        if key not in self.made:
            self.made[key] = self._new_rule(kind, actions, depth, slot, own)
        return self.made[key]

    def _new_rule(
        self, kind: str, actions: Sequence[str | None], depth: int, slot: Slot | None, own: str
    ) -> Use | None:
        uses = []
        for action in actions:
            tools = [
                tool
                for tool in self.by_action.get(action, [])
                if own == (tool.name if tool.name in (ADDS, COMMITS) else "")
                and (slot is None or self._gives(tool, slot))
            ]
            made = [self._tool(kind, tool, depth, slot) for tool in tools]
            ways = [Way((use,)) for use in made if use is not None]
            if ways:
                uses.append(self.texts.share(f"{kind}_{_short(action)}", ways))
        if len(uses) < 2:
            return uses[0] if uses else None
        return self.texts.share(kind, [Way((use,)) for use in uses])

    def _tool(self, kind: str, tool: Tool, depth: int, slot: Slot | None) -> Use | None:
        ways = self._step(tool, depth, slot)
        return self.texts.share(f"{kind}_of_{_short(tool.name)}", ways) if ways else None

    def _step(self, tool: Tool, depth: int, slot: Slot | None) -> list[Way]:
        """All forms of a step of a tool. `slot`: what takes the result, whose level what is given must not exceed."""
        if not self.place.free:
            guard = self._guard(tool, slot)
            return [] if guard.bits & guard.clear else self._forms(tool, depth, slot, guard)
        rows = self.place.automaton.transitions.items()
        moves = any(row.get(tool.action or "", state) != state for state, row in rows)
        clear, out = BRANCH if "shares" in tool.row else 0, list[Way]()
        numbers = {item.name for item in tool.inline if item.kind == "number"}
        for given, asks in given_by(self.texts, tool.name, moves, numbers):
            self.given = {**{name: [] for name in chooses(tool)}, **given}
            out += self._forms(tool, depth, slot, asks._replace(clear=asks.clear | clear))
        return out

    def _forms(self, tool: Tool, depth: int, slot: Slot | None, guard: Guard) -> list[Way]:
        """As `_step`, with what a plan gives to the parameters that choose something (`given`)."""
        level = OUTSIDE if slot is None else slot.level
        out = []
        limits = dict(zip((item.name for item in tool.parameters), sinks(tool), strict=True))
        if tool.writes_unknown:  # what it is given may be in files, which commands see
            limits = {name: sink or "anything" for name, sink in limits.items()}
        writes = any(item.access not in (None, "read") for item in tool.parameters)
        if (
            depth
            and not self.place.free
            and any(item.access == "create" for item in tool.parameters)
        ):
            return []  # in a loop it would be there the second time
        if self.place.free and not (tool.inline and tool.inline[-1].kind == "rest"):
            return self._free(tool, depth, limits, guard)
        for chosen in _selections(tool):
            block = tool.block if tool.block in chosen else None
            if block is not None and block.form not in _SHAPELESS and not self.place.free:
                continue
            inline = [item for item in chosen if item is not block]
            for outside in (False, True) if writes and not self.place.free else (False,):
                tails = self._tails(tool, inline, limits, level, outside)
                for tail in tails:
                    items: tuple[Item, ...] = (Literal(tool.name), *tail, Literal("\n"))
                    if block is not None:
                        most = min(level, _limit(limits[block.name]))
                        items += (self.texts.block(depth, most, stored=writes and not outside),)
                    some = () if self.place.free else self._named(inline, limits, level)
                    out.append(Way(items, guard._replace(some=some)))
        return out

    def _free(
        self, tool: Tool, depth: int, limits: dict[str, str | None], guard: Guard
    ) -> list[Way]:
        """A step with a plan's own names."""
        given = {item.name: self._values(item, limits, OUTSIDE, False) for item in tool.inline}
        required = {item.name for item in tool.inline if item.required}
        required |= {name for name, texts in self.given.items() if texts}
        out = []
        for block in (
            (None, tool.block) if tool.block and not tool.block.required else (tool.block,)
        ):
            some = () if block and block.name in tool.need_one_of else tool.need_one_of
            tail = (self.texts.arguments(tool.name, given, required, some, True),) if given else ()
            lines = () if block is None else (self.texts.block(depth, OUTSIDE, stored=False),)
            out.append(Way((Literal(tool.name), *tail, Literal("\n"), *lines), guard))
        return out

    def _named(
        self, inline: list[Parameter], limits: dict[str, str | None], level: int
    ) -> tuple[int, ...]:
        """The names of which one must be bound for each argument that only a name can be: a list, an object, a plan, a path where
        no file exists."""
        out = []
        for item in inline:
            most = min(level, _limit(limits[item.name]))
            need = self.texts.needs(item.form) if item.form in ("list", "object") else None
            need = self.texts.needs("text") if item.sink == "plan" and item.text else need
            opens = item.kind == "path" and item.access not in ("create", "write")
            if opens and "read" not in self.texts.files:
                need = self.texts.to_read(most)
            if need is not None:
                out.append(sum(one.bit for one in self.texts.fitting(need, min(most, 1))))
        return tuple(out)

    def _guard(self, tool: Tool, slot: Slot | None) -> Guard:
        """Where such a step may stand."""
        clear = 0
        given = [*sinks(tool)]
        changes = any(item.access not in (None, "read") for item in tool.parameters)
        talks = bool(tool.parameters) and all(item.sink == "user" for item in tool.parameters)
        if (
            tool.row.get("approves") or tool.writes_unknown or changes or tool.row.get("access", {}).get("write")
            or tool.effect in ("once", "idempotent") and not talks or not ACTING.isdisjoint(given)
        ):  # fmt: skip
            clear |= CHOSEN
        if changes or tool.writes_unknown or "shares" in tool.row:
            clear |= BRANCH
        stores = level_of(tool) > 1 and (changes or tool.writes_unknown)
        if "command" in given or tool.writes_unknown and not changes and not stores:
            clear |= STORES
        if slot is not None and slot.level < OUTSIDE:
            clear |= CHOSEN
            opens = "run" in tool.row or self.makes and any(item.access for item in tool.parameters)
            if tool.trust != "trusted" or tool.effect != "pure" and opens:
                clear |= STORES
        if stores:
            return Guard(STORES, clear)
        return Guard(STAGED if tool.name == COMMITS else 0, clear)

    # ---- the line ----------------------------------------------------------------------

    def _tails(
        self,
        tool: Tool,
        inline: list[Parameter],
        limits: dict[str, str | None],
        level: int,
        outside: bool,
    ) -> list[list[Item]]:
        """What may follow the tool's name. `outside`: the file is one below `{run}/outside/`."""
        if tool.inline and tool.inline[-1].kind == "rest":
            out: list[list[Item]] = [[]]
            for item in inline:
                out = [
                    [*tail, Literal(" "), one]
                    for tail in out
                    for one in self._rest_values(tool, item, limits, level)
                ]
            return out
        out = [[]]
        positional = True
        for item in tool.inline:
            if item not in inline:
                positional = False
                continue
            key = [Literal(" ")] if positional else [Literal(" "), Literal(f"{item.name}=")]
            out = [
                [*tail, *key, one]
                for tail in out
                for one in self._values(item, limits, level, outside)
            ]
        return out

    def _values(
        self, item: Parameter, limits: dict[str, str | None], level: int, outside: bool
    ) -> list[Item]:
        """What may stand for a parameter: one rule, or none."""
        if item.name in self.given:
            return self.given[item.name]
        found = self._kinds(item, limits, level, outside)
        if len(found) < 2 or not all(isinstance(one, Use) for one in found):
            return found
        name = "or_" + "_".join(one.rule for one in found if isinstance(one, Use))
        return [self.texts.put(name, [Way((one,)) for one in found])]

    def _kinds(
        self, item: Parameter, limits: dict[str, str | None], level: int, outside: bool
    ) -> list[Item]:
        texts = self.texts
        level = min(level, _limit(limits[item.name]))
        if item.kind == "path":
            if item.access in ("create", "write") and outside:
                return [texts.files["outside"]]
            return texts.path(item.access or "read", level)
        if item.kind == "glob":
            one = texts.reference(texts.to_read(level), min(level, 1))
            return [texts.files["glob"], *([one] if one is not None else [])]
        if item.kind == "number" or item.form == "count":
            sure = item.form != "count" or self.place.free
            one = texts.reference("number", level) if sure else None
            return [texts.number(), *([one] if one is not None else [])]
        if item.form in ("list", "object"):
            one = texts.reference(item.form, level if self.place.free else min(level, 1))
            alone = texts.either_quoted if item.kind != "rest" else lambda one: one
            return [alone(one)] if one is not None else []
        if item.form == "pattern" and not self.place.free:
            return [texts.pattern()]
        if item.sink == "plan" and item.text and not self.place.free:  # a text that a step gave
            one = texts.reference("text", level)
            return [texts.either_quoted(one)] if one is not None else []
        if item.sink == "command":
            one = texts.reference("text", level)
            program = self.texts.put("program", [Way((Chars("a-z", 2, 16),))])
            return [program, *([one] if one is not None else [])]
        if item.sink == "url":
            one = texts.reference("text", level)
            return [self._address(), *([one] if one is not None else [])]
        return [texts.value("text" if item.text else "value", level)]

    def _rest_values(
        self, tool: Tool, item: Parameter, limits: dict[str, str | None], level: int
    ) -> list[Item]:
        if item.name in self.given:
            return self.given[item.name]
        if item.kind == "rest" and limits[item.name] == "command":
            return [self._command(level)]
        shapeless = self.place.free or item.form in _SHAPELESS
        if item.kind == "rest" and shapeless:
            most = min(level, _limit(limits[item.name]))
            filled = self.place.free or item.required or item.name in tool.need_one_of
            need = "text" if item.text else "value" if filled else "any"
            return [self.texts.text(most, need=need)]
        if item.kind == "word" and shapeless:
            return [Use(self.texts.value("value", 1).rule and "word")]
        return self._values(item, limits, level, False)

    def _address(self) -> Use:
        host = (Chars("a-z", 2, 20), Use("domain"))
        self.texts.put("domain", [Way((Literal(end),)) for end in (".org", ".com", ".net")])
        page = (Literal("/"), Chars("A-Za-z0-9_-", 1, 40))
        return self.texts.put(
            "address", [Way((Literal("https://"), *host)), Way((Literal("https://"), *host, *page))]
        )

    def _command(self, level: int) -> Use:
        """Commands that look at files, and the targets of a Makefile."""
        files: list[Item] = [self.texts.files["bare"]] if "bare" in self.texts.files else []
        one = self.texts.reference("text", min(level, 1))
        if one is not None:
            files.append(one)
        looking = self.texts.put("looking", [Way((Literal(f"{name} "),)) for name in _LOOKING])
        some = () if "bare" in self.texts.files else (self.texts.mask("text", 1),)
        ways = [Way((looking, file), Guard(some=some)) for file in files]
        if "Makefile" in self.place.files:
            ways.append(Way((Literal("make "), Chars("a-z", 2, 16))))
        ways.append(Way((Literal("ls"),)))
        return self.texts.put(f"command_{min(level, 1)}", ways)


def _limit(sink: str | None) -> int:
    return OUTSIDE if sink is None else MOST.get(sink, OUTSIDE)


def _short(name: str | None) -> str:
    return "none" if name is None else "".join(c if c.isalnum() else "_" for c in name.lower())


def _selections(tool: Tool) -> list[list[Parameter]]:
    """Which parameters may be given: all that must be, with some of the others."""
    optional = [item for item in tool.parameters if not item.required]
    must = [item for item in tool.parameters if item.required]
    chosen = [
        list(some) for count in range(len(optional) + 1) for some in combinations(optional, count)
    ][:32]
    out = []
    for some in chosen:
        given = [item for item in tool.parameters if item in must or item in some]
        names = {item.name for item in given}
        last = tool.inline[-1] if tool.inline else None
        gaps = (
            last is not None
            and last.kind == "rest"
            and any(item not in given for item in tool.inline[:-1])
        )
        if not gaps and (not tool.need_one_of or names & set(tool.need_one_of)):
            out.append(given)
    return out
