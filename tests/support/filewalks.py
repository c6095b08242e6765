"""What plan sets of `filesets` do to files, by brute force: the reference that the analyses of files and of names are held to.

Real files in a set, real values in every name: nothing here is a symbol, and nothing is joined. Runs are walked in
concrete worlds: each condition either way, each loop over the files that are really there or over any items, equal
ones too, every name with a real path in it, every command with any change of a file that it may change. Below a
fork that keeps failures each step may be the last of the branch. A run is a list of choices; all runs are walked
where they are few, many random ones where not. A step that fails has then had its way, so that what fails later
is seen too; only where an assumption may be the reason, the run ends.
"""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from fdc_toolchain.diagnostics.diagnostic import Diagnostic

from tests.support.filesets import LITERALS, MOST_CHOICES, MOST_KEPT_RUNS, TURNS, FileSet

EXTRAS = ("y.x", "d/e.txt", "out/y.x")
"""Files that worlds have beside those that a plan names."""

UNIVERSE = (*LITERALS, *EXTRAS, "new.x")
MOST_RUNS = 40
SAMPLES = 40


class TooMany(Exception):
    """The set has a run that cannot be walked."""


class Choices:
    """Answers the questions of one run: those of `made` first, then 0 (or at random); `following` makes those of the next."""

    def __init__(self, made: list[list[int]], rng: random.Random | None = None) -> None:
        self.made = made
        self.rng = rng
        self.at = 0

    def choose(self, options: int) -> int:
        if self.at == MOST_CHOICES:
            raise TooMany
        if self.rng is not None:
            self.at += 1
            return self.rng.randrange(options)
        if self.at == len(self.made):
            self.made.append([0, options])
        self.at += 1
        return self.made[self.at - 1][0]

    def following(self) -> list[list[int]] | None:
        made = self.made[: self.at]
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        if not made:
            return None
        made[-1][0] += 1
        return made


class Stops(Exception):
    """A branch ends here, and the run goes on."""


class Ends(Exception):
    """The run ends here."""


class Text(NamedTuple):
    """What a name holds: a text, and who chose it (`plan`: a literal, `glob`: a file that is there, `nobody`)."""

    text: str
    by: str
    bare: bool = True
    """The value itself, with nothing around it."""


Place = tuple[str, int]


class Failed(NamedTuple):
    """A step that fails in a run: line of the root, plan, line, code; the rest says why.

    `path` by whom it was chosen; `last`: the kind and place of what changed the file last, and who chose its path;
    `commands`: the places of the commands that ran before.
    """

    outer: int
    plan: str
    line: int
    code: str
    path: Text
    last: tuple[str, Place, str] | None
    commands: frozenset[Place]


def failures(made: FileSet) -> tuple[list[Failed], bool]:
    """Steps that fail in some run in some world, and whether all runs in all worlds were walked."""
    return _walked(made, 0)


def told_of(
    findings: Collection[Diagnostic],
) -> tuple[set[tuple[int, str, int, str]], list[tuple[str, Place, str]]]:
    """Findings of the analysis of files as errors (root line, plan, line, code) and assumptions (see `excused`)."""
    errors, assumed = set(), []
    for item in findings:
        wanted = "this command" if item.severity == "assumption" else "this step"
        step = next((label.span for label in item.labels if label.message == wanted), item.span)
        if item.code in ("FDC411", "FDC412"):
            errors.add((item.span.line, step.path, step.line, item.code))
        elif item.severity == "assumption":
            assumed.append((item.code, (step.path, step.line), item.message))
    return errors, assumed


def unsaid(found: Collection[Failed], findings: Collection[Diagnostic]) -> Failed | None:
    """A step that fails in some run and of which nothing is said: no error there, and no assumption is false."""
    errors, assumed = told_of(findings)
    places = {error[:3] for error in errors}
    return next(
        (item for item in found if item[:3] not in places and not excused(item, assumed)), None
    )


def excused(item: Failed, told: Collection[tuple[str, Place, str]]) -> bool:
    """True where one of the assumptions (code, place of the step, sentence) is false in that run."""
    names = f"`{item.path.text}`" if item.path.by == "plan" else ""
    for code, place, sentence in told:
        if code in ("FDC414", "FDC702") and place in item.commands and names in sentence:
            by_command = (
                item.last is not None and item.last[0] == "command" and item.last[1] == place
            )
            if by_command or code == "FDC414" and item.code == "FDC411":
                return True
        if (
            code == "FDC704"
            and item.last is not None
            and item.last[0] == "step"
            and names in sentence
        ):
            if "nobody" in (item.path.by, item.last[2]):
                return True
        if code == "FDC703" and not (
            item.path.by == "plan" or item.path.by == "glob" and item.path.bare
        ):
            return True
    return False


def unbound(made: FileSet, number: int) -> set[int]:
    """The lines of one plan that use a name which some run has not bound there, in branches that never run too."""
    found: set[int] = set()
    prefix: list[list[int]] | None = []
    count = 0
    while prefix is not None:
        count += 1
        if count > (MOST_KEPT_RUNS if made.kept else MOST_RUNS):
            raise TooMany
        choices = Choices(prefix)
        _Names(choices, found).body(made.bodies[number], set())
        prefix = choices.following()
    return found


class _Names:
    """One run of a plan, looked at for its names only."""

    def __init__(self, choices: Choices, found: set[int]) -> None:
        self.choices = choices
        self.found = found

    def body(self, body: list, bound: set[str]) -> None:
        for item in body:
            kind = item[0]
            if kind == "step" and item[4]:
                bound.add(item[4])
            elif kind == "use" and item[2] not in bound:
                self.found.add(item[1])
            elif kind == "if":
                holds = self.choices.choose(2) == 0 if item[2] is None else item[2]
                if item[2] is not None:
                    self.body(item[4] if holds else item[3], set(bound))
                self.body(item[3] if holds else item[4], bound)
            elif kind in ("each", "for", "iterate", "kept"):
                least = 1 if kind == "iterate" else 0
                for _ in range(least + self.choices.choose((item[2] or TURNS) - least + 1)):
                    self.body(item[4], bound)


def _walked(made: FileSet, root: int) -> tuple[list[Failed], bool]:
    found: dict[Failed, None] = {}
    prefix: list[list[int]] | None = []
    count = 0
    while prefix is not None and count < MOST_RUNS:
        count += 1
        choices = Choices(prefix)
        _Run(made, choices, found).root(root)
        prefix = choices.following()
    if prefix is not None:
        rng = random.Random(count)
        for _ in range(SAMPLES):
            _Run(made, Choices([], rng), found).root(root)
    return list(found), prefix is None


class _Run:
    """One run in one world. A step that fails has then had its way: the run goes on, to see what else fails."""

    def __init__(self, made: FileSet, choices: Choices, found: dict[Failed, None]) -> None:
        self.made = made
        self.choices = choices
        self.found = found
        self.present = set(made.there)
        self.last: dict[str, tuple[str, Place, str]] = {}
        self.commands: set[Place] = set()
        self.branches = 0

    def root(self, number: int) -> None:
        choose = self.choices.choose
        self.present.update(path for path in EXTRAS if path not in self.made.named and choose(2))
        names = {
            name: Text(UNIVERSE[choose(len(UNIVERSE))], "nobody")
            for name in self.made.params[number]
        }
        with suppress(Stops, Ends):
            self.body(number, self.made.bodies[number], names, None, {}, self.made.allow[number])

    def text(self, target: str, names: dict[str, Text]) -> Text:
        if "{" not in target:
            return Text(target, "plan")
        before, name = target.rstrip("}").split("{")
        if "." in name or name not in names:
            raise TooMany  # a text has no fields: what such a path names has no owner business
        held = names[name]
        return Text(before + held.text, held.by, held.bare and not before)

    def access(self, access: str, path: Text, where: tuple[int, str, int]) -> None:
        there = path.text in self.present
        code = (
            "FDC412"
            if access == "create" and there
            else "FDC411"
            if access not in ("create", "write") and not there
            else None
        )
        if code is not None:
            last = self.last.get(path.text)
            self.found[Failed(*where, code, path, last, frozenset(self.commands))] = None
            known = path.by == "plan" or path.by == "glob" and path.bare
            if not known or self.commands or last is not None and last[2] == "nobody":
                raise Ends  # it may be that an assumption is false here: nothing is said of what follows
        if access == "delete" and (there or code):
            self.present.discard(path.text)
            self.last[path.text] = "step", where[1:], path.by
        elif access in ("create", "write") and (not there or code) or code:
            self.present.add(path.text)
            self.last[path.text] = "step", where[1:], path.by

    def command(self, place: Place, allow: tuple[str, ...] | None) -> None:
        """It changes no file, or one: which is enough to see what it can do to one."""
        self.commands.add(place)
        paths = [
            path
            for path in UNIVERSE
            if allow is None or any(path.startswith(start) for start in allow)
        ]
        choice = self.choices.choose(len(paths) + 1)
        if choice:
            self.present ^= {paths[choice - 1]}
            self.last[paths[choice - 1]] = "command", place, ""

    def turns(self, item: list) -> Iterator[Text | None]:
        kind, most, choose = item[0], item[2], self.choices.choose
        if kind == "each":
            glob = item[5] if len(item) > 5 else "*.x"
            files = sorted(
                path
                for path in self.present
                if fnmatch.fnmatch(path, glob) and path.count("/") == glob.count("/")
            )
            if most is not None and len(files) > most:
                raise Stops if self.branches else TooMany
            yield from (Text(path, "glob") for path in files)
        elif kind == "iterate":
            for _ in range(1 + choose(most)):
                yield None
        else:
            for _ in range(choose(most + 1)):
                yield Text(UNIVERSE[choose(len(UNIVERSE))], "nobody")

    def body(
        self,
        number: int,
        body: list,
        names: dict[str, Text],
        outer: int | None,
        calls: dict,
        allow: tuple[str, ...] | None,
    ) -> None:
        for item in body:
            kind, line = item[0], item[1]
            where = (outer or line, f"p{number}.plan", line)
            if kind == "step":
                self.step(item, names, where, allow)
            elif kind == "call":
                self.call(number, item, names, outer, calls, allow)
            elif kind == "if":
                holds = self.choices.choose(2) == 0 if item[2] is None else item[2]
                self.body(number, item[3] if holds else item[4], names, outer, calls, allow)
            elif kind != "use":
                for value in self.turns(item):
                    inner = names
                    if item[3]:
                        assert value is not None
                        inner = {**names, item[3]: value}
                        if kind == "each":
                            inner[f"file{1 + sum(word.startswith('file') for word in names)}"] = (
                                value
                            )
                    if kind != "kept":
                        self.body(number, item[4], inner, outer, calls, allow)
                        continue
                    self.branches += 1
                    with suppress(Stops):
                        self.body(number, item[4], inner, outer, calls, allow)
                    self.branches -= 1

    def step(
        self,
        item: list,
        names: dict[str, Text],
        where: tuple[int, str, int],
        allow: tuple[str, ...] | None,
    ) -> None:
        tool = item[2]
        if tool == "t_shell":
            self.command(where[1:], allow)
        elif tool == "t_rename":
            source, target = (self.text(words, names) for words in item[3])
            if source.text == target.text:  # the new name is not free
                by = target if target.by == "nobody" else source
                self.found[
                    Failed(
                        *where, "FDC412", by, ("step", where[1:], by.by), frozenset(self.commands)
                    )
                ] = None
                raise Ends
            self.access("delete", source, where)
            self.access("create", target, where)
        elif tool != "t_make":
            self.access(tool[2:], self.text(item[3][0], names), where)
        if self.branches and self.choices.choose(2):
            raise Stops

    def call(
        self,
        number: int,
        item: list,
        names: dict[str, Text],
        outer: int | None,
        calls: dict,
        allow: tuple[str, ...] | None,
    ) -> None:
        plan, given, depth = item[2], item[3], item[4]
        if depth is not None:
            edge = (number, item[1])
            if calls.get(edge, 0) >= depth:
                return
            calls = {**calls, edge: calls.get(edge, 0) + 1}
        inner: dict[str, Text] = {}
        for name, default in self.made.params[plan].items():
            inner[name] = (
                self.text(given[name], names) if name in given else Text(str(default), "plan")
            )
        own = self.made.allow[plan]
        if allow is not None and own is not None:
            allow = tuple(
                max(a, b, key=len) for a in allow for b in own if a.startswith(b) or b.startswith(a)
            )
        self.body(
            plan,
            self.made.bodies[plan],
            inner,
            outer or item[1],
            calls,
            own if allow is None else allow,
        )
