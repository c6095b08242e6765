"""Programs over files in concrete worlds: the judge of the part `files` of certificates. It knows nothing of the checker.

Each name holds a real text, each path is there or not. What is not known before a run is chosen: which further files there are,
what values are, how conditions come out, how often loops run, in which order branches of a fork do their steps, which file a
command changes, and where a branch whose failure is kept stops. A step that does not find what it needs ends the run, or the
branch; `wrong` is told of it where neither a listed assumption is false in that run nor the use is claimed as open.
"""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from fdc_toolchain.text.glob_match import matches

from tests.support.filewalks import EXTRAS, UNIVERSE, Choices, TooMany

RUN = "runs/r"
PLACES = (*UNIVERSE, "out/a.txt", f"{RUN}/x", f"{RUN}/y.x")
MOST_STEPS = 60
Place = tuple[str, int]


class Text(NamedTuple):
    """What a name holds: a text, and who chose it (`plan`, `glob`: a file that is there, `nobody`)."""

    text: str
    by: str
    bare: bool = True


class Stops(Exception):
    """A branch, or the run, ends here."""


class Change(NamedTuple):
    """What put a path where it is: the place, whether a command did, who chose the path, how it is written there."""

    place: Place
    command: bool
    by: str
    template: str


class Failed(NamedTuple):
    """A use that does not find what it needs."""

    place: Place
    access: str
    path: Text
    template: str


def wrong(
    program: dict[str, Any], certificate: dict[str, Any], runs: int, seed: int
) -> Failed | None:
    """A use that fails in one of some runs and must not; None where there is none among them."""
    chance = random.Random(seed)
    prefix: list[list[int]] | None = []
    for number in range(runs):
        choices = Choices([], chance)
        if prefix is not None and number < runs // 3:
            choices = Choices(prefix)
        run = Run(program, certificate, choices)
        with suppress(TooMany):
            run.root()
        if run.failed is not None:
            return run.failed
        if choices.rng is None:
            prefix = choices.following()
    return None


class Run:
    """One run in one world."""

    def __init__(
        self, program: dict[str, Any], certificate: dict[str, Any], choices: Choices
    ) -> None:
        self.program, self.certificate, self.choices = program, certificate, choices
        self.failed: Failed | None = None
        self.present: set[str] = set()
        self.last: dict[str, Change] = {}
        self.commands: list[tuple[Place, frozenset[str], frozenset[str]]] = []
        self.steps = 0

    def root(self) -> None:
        facts = self.certificate["facts"]
        self.present = {path for path, kind in facts.items() if kind != "missing"}
        self.present |= {path for path in EXTRAS if path not in facts and self.choices.choose(2)}
        root = self.program["root"]
        names = {
            param["name"]: self.value() for param in self.program["plans"][root].get("params", ())
        }
        with suppress(Stops):
            for _ in self.plan(root, names, [], 0, False):
                pass

    def value(self) -> Text:
        return Text(PLACES[self.choices.choose(len(PLACES))], "nobody")

    # ---- the walk: it yields after each step, so that branches can take turns ---------------------------

    def plan(
        self, key: str, names: dict[str, Text], limits: list[Any], depth: int, kept: bool
    ) -> Iterator[None]:
        plan = self.program["plans"][key]
        if depth > 10:
            raise TooMany
        allow = plan.get("allow")
        limits = [*limits, allow.get("write", [])] if allow else limits
        yield from self.body(
            plan, plan["body"], {**names, "run": Text(RUN, "plan")}, limits, depth, kept
        )

    def body(
        self,
        plan: Any,
        body: Any,
        names: dict[str, Text],
        limits: list[Any],
        depth: int,
        kept: bool,
    ) -> Iterator[None]:
        choose = self.choices.choose
        for node in body:
            op = node["op"]
            if kept and choose(4) == 1:
                raise Stops
            if op == "step":
                yield from self.step(plan, node, names, limits)
            elif op == "call":
                given = {}
                for param in self.program["plans"][node["plan"]].get("params", ()):
                    default = param.get("default")
                    if param["name"] in node["args"]:
                        given[param["name"]] = self.text(node["args"][param["name"]], names)
                    elif default is not None:
                        given[param["name"]] = Text(default, "plan")
                yield from self.plan(node["plan"], given, limits, depth + 1, kept)
            elif op == "if":
                known = node["cond"].get("value", {}).get("const")
                holds = known if known is not None else choose(2) == 0
                yield from self.body(
                    plan, node["then" if holds else "else"], names, limits, depth, kept
                )
            elif op == "iterate":
                least = node["max"] if node["until"] is None else 1
                for _ in range(least + choose(node["max"] - least + 1)):
                    yield from self.body(plan, node["body"], names, limits, depth, kept)
            elif op in ("each", "for", "fork"):
                yield from self.loop(plan, node, names, limits, depth, kept)
            if node.get("bind"):
                names[node["bind"]] = self.value()

    def loop(
        self,
        plan: Any,
        node: Any,
        names: dict[str, Text],
        limits: list[Any],
        depth: int,
        kept: bool,
    ) -> Iterator[None]:
        own = [name for name in (node.get("name"), node.get("alias")) if name]
        before = {name: names[name] for name in own if name in names}
        if node["op"] == "each":
            items = self.listed(plan, node, names)
        else:
            items = [self.value() for _ in range(self.choices.choose(min(node["max"], 3) + 1))]
        if node["op"] != "fork":
            for item in items:
                names.update(dict.fromkeys(own, item))
                yield from self.body(plan, node["body"], names, limits, depth, kept)
        else:
            keeps = "keep" in node
            branches = [self.body(plan, node["body"], {**names, **dict.fromkeys(own, item)}, limits, depth, kept or keeps)
                        for item in items]  # fmt: skip
            stopped = False
            while branches:
                branch = branches[self.choices.choose(len(branches))]
                try:
                    next(branch)
                except StopIteration:
                    branches.remove(branch)
                except Stops:
                    branches.remove(branch)
                    stopped = True
                yield
            if stopped and not keeps:
                raise Stops
        for name in own:
            names.pop(name, None)
        names.update(before)

    def listed(self, plan: Any, node: Any, names: dict[str, Text]) -> list[Text]:
        glob = self.text(node["glob"], names)
        place = plan["path"], node["line"]
        if glob.by == "nobody":
            self.use(place, "match", glob, str(node["glob"]), True)
        found = sorted(path for path in self.present
                       if fnmatch.fnmatch(path, glob.text) and path.count("/") == glob.text.count("/"))  # fmt: skip
        if node["max"] is not None and len(found) > node["max"]:
            raise Stops
        return [Text(path, "glob") for path in found]

    def text(self, template: list[Any], names: dict[str, Text]) -> Text:
        parts = []
        for part in template:
            if type(part) is str:
                parts.append(Text(part, "plan"))
            elif len(part["ref"]) > 1 or part["ref"][0] not in names:
                raise TooMany  # a text has no fields, and nothing is in a name that nothing has bound
            else:
                parts.append(names[part["ref"][0]])
        kinds = {part.by for part in parts} - {"plan"}
        by = "nobody" if "nobody" in kinds else "glob" if kinds else "plan"
        text = "".join(part.text for part in parts)
        while "/./" in f"/{text}":
            text = f"/{text}".replace("/./", "/")[1:]
        return Text(text, by, len(template) == 1 and all(part.bare for part in parts))

    # ---- steps ----------------------------------------------------------------------------------------

    def step(
        self, plan: Any, node: Any, names: dict[str, Text], limits: list[Any]
    ) -> Iterator[None]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMany
        tool, place = self.program["tools"][node["tool"]], (plan["path"], node["line"])
        uses = [(row["access"], self.text(node["args"][row["name"]], names), str(node["args"][row["name"]]))
                for row in tool["parameters"] if row.get("access") and row["name"] in node["args"]]  # fmt: skip
        if [access for access, _, _ in uses] == ["delete", "create"] and uses[0][1].text == uses[1][
            1
        ].text in self.present:
            self.use(place, "create", uses[1][1], uses[1][2], False, same=True)
        for access, path, template in uses:
            there = path.text in self.present
            self.use(
                place,
                access,
                path,
                template,
                not there if access == "create" else there or access == "write",
            )
            if access in ("create", "write", "delete"):
                (self.present.discard if access == "delete" else self.present.add)(path.text)
                if there is (access == "delete"):
                    self.last[path.text] = Change(place, False, path.by, template)
        if tool.get("writes") == "unknown":
            before = frozenset(self.present)
            able = [
                path
                for path in PLACES
                if all(any(matches(path, glob) for glob in globs) for globs in limits)
            ]
            choice = self.choices.choose(len(able) + 1)
            if choice:
                self.present ^= {able[choice - 1]}
                self.last[able[choice - 1]] = Change(place, True, "", "")
            self.commands.append((place, before, frozenset(self.present)))
        yield

    def use(
        self,
        place: Place,
        access: str,
        path: Text,
        template: str,
        fine: bool,
        *,
        same: bool = False,
    ) -> None:
        """Raises Stops where a use fails."""
        if not fine:
            failed = Failed(place, access, path, template)
            if not self.excused(failed, same):
                self.failed = self.failed or failed
            raise Stops

    def excused(self, failed: Failed, same: bool) -> bool:
        """Whether the use is claimed as open, or an assumption that the certificate lists is false in this run."""
        if list(failed.place) in self.certificate["open"]:
            return True
        assumed = (self.program["assumptions"][number] for number in self.certificate["assumes"])
        return any(
            self.untrue(one, failed, same) for one in assumed if list(failed.place) in one["uses"]
        )

    def untrue(self, one: Any, failed: Failed, same: bool) -> bool:
        path, code = failed.path, one["code"]
        if (
            path.by == "plan"
            and not path.text.startswith(RUN)
            and f"`{path.text}`" not in one["text"]
        ):
            return False
        ran = [row for row in self.commands if list(row[0]) in one["uses"]]
        if code == "FDC414":
            return any(path.text not in after for _, _, after in ran)
        if code == "FDC702":
            return any(
                (path.text in before) is not (path.text in after) for _, before, after in ran
            )
        if code == "FDC703":
            return path.by == "nobody" or path.by == "glob" and not path.bare
        last = self.last.get(path.text)
        other = last is not None and not last.command and "nobody" in (path.by, last.by)
        return code == "FDC704" and (other or same and path.by == "nobody")
