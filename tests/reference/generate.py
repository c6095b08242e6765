"""Plan sets made of a seed: every construct, every joint, near the border between accepted and refused.

The maker keeps a rough picture of what is bound and which files are there, so that most statements make sense; a `slip`
now and then does not look at the picture. It need not be right: the linter and the interpreter judge what it makes.
"""

from __future__ import annotations

import json
import random
from typing import NamedTuple

from tests.reference.pools import (
    BESIDE,
    CODES,
    COMMANDS,
    COMPUTED_GLOBS,
    FDC,
    FOLDERS,
    GLOBS,
    NESTED,
    ODD,
    OWN,
    PATHS,
    SPELLED,
)
from tests.reference.runs import PlanSet


class Picture(NamedTuple):
    """What the maker believes: names with their kinds, files that are there and files that are not."""

    names: dict[str, str]
    there: set[str]
    absent: set[str]

    def copy(self) -> Picture:
        return Picture(dict(self.names), set(self.there), set(self.absent))

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.names.items() if kind in kinds]


class Callee(NamedTuple):
    """A plan that others may call."""

    target: str
    parameters: dict[str, bool]  # name: whether it has a default
    gives: bool


class Maker:
    deepest = 3

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.slip = self.random.choice((0.0, 0.0, 0.03, 0.1))
        self.slipped = False
        self.hidden = self.chance(0.1)  # suppressions stand above slips
        self.planned: list[str] = []
        self.left = 0
        self.fresh = 0
        self.callees: list[Callee] = []
        self.myself: str | None = None
        self.collecting = False
        self.each = 0
        self.kinds: tuple[str, ...] = ()

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def slips(self) -> bool:
        made = self.chance(self.slip)
        self.slipped = self.slipped or made
        return made

    def name(self, kind: str, picture: Picture) -> str:
        self.fresh += 1
        again = sorted(picture.names) if self.chance(0.06) else ()
        name = self.random.choice(again or (f"{kind[0]}{self.fresh}",))
        picture.names[name] = kind
        return name

    # -- a plan set

    def plan_set(self) -> PlanSet:
        files = {path: f"text of {path}\nkeep\n" for path in PATHS if self.chance(0.6)}
        if self.chance(0.1):
            files["docs/empty.md"] = ""
        files["knowledge_core/plan_registry.json"] = "{}"
        registry: dict[str, str] = {}
        automaton = self.random.choice((FDC, FDC, *OWN))
        for path, own in OWN.items():
            files[path] = json.dumps(
                {
                    "states": list(own["ways"]),
                    "start_state": own["start"],
                    "accept_states": own["accept"],
                    "alphabet": sorted({symbol for row in own["ways"].values() for symbol in row}),
                    "transitions": own["ways"],
                }
            )
        count = self.random.choice((0, 0, 0, 1, 1, 2))
        self.planned = [f"plans/p{number}.plan" for number in range(count)]
        for number in range(count):
            path = f"plans/p{number}.plan"
            target = path
            if self.chance(0.35):
                registry[f"job-{number}"] = path
                target = self.random.choice((path, f"job-{number}"))
            own = self.random.choice((FDC, *OWN)) if self.chance(0.35) else None
            files[path], callee = self.plan(
                files, target, own or automaton, own is not None, called=True
            )
            self.callees.append(callee)
        settings = ""
        if self.chance(0.05):
            settings += "max-stack = 3\n"
        named = True
        if self.chance(0.03):
            settings += f'ignore = ["{self.random.choice(CODES)}"]\n'
        if self.chance(0.08):
            settings += f'fsm = "{automaton}"\n'
            named = False
        elif self.chance(0.15):
            named = False
        if settings:
            files["fdc.toml"] = settings
        if self.chance(0.15 if named else 0.4):
            registry["main"] = "main.plan"
        files["knowledge_core/plan_registry.json"] = json.dumps(registry)
        self.myself = None
        files["main.plan"], _ = self.plan(files, "main.plan", automaton, named, called=False)
        return PlanSet("main.plan", files)

    def plan(
        self, files: dict[str, str], target: str, automaton: str, named: bool, called: bool
    ) -> tuple[str, Callee]:
        """The text of a plan under an automaton; `named` says whether it names it."""
        lines: list[str] = []
        if named:
            lines.append(f"# FSM: {automaton}")
        if self.chance(0.07):
            lines.append(f"# fdc: ignore-file[{self.random.choice(CODES)}] it is known")
        picture = Picture(
            {},
            {path for path in PATHS if path in files},
            {path for path in PATHS if path not in files},
        )
        parameters: dict[str, bool] = {}
        if called and self.chance(0.4) or self.chance(0.15):
            default = not called or self.chance(0.5)
            given = self.path(picture) if self.chance(0.9) else self.random.choice(('""', "."))
            lines.append("param page" + (f" = {given}" if default else ""))
            parameters["page"] = default
            picture.names["page"] = "item"
        if self.chance(0.15):
            lines.append(
                f"budget steps {self.random.choice((2, 3, 4, 8, 60) if called else (4, 8, 12, 20, 60))}"
            )
        if self.chance(0.2):
            lines.append("allow read **")
            lines.append(
                f"allow write {self.random.choice(('**', 'out/**', 'docs/** out/**', 'README.md'))}"
            )
            if self.chance(0.6):
                lines.append("allow run *")
        self.left = self.random.randint(1, 4) if called else self.random.randint(2, 7)
        self.fresh, self.each, self.collecting = 0, 0, False
        whole = automaton == FDC and (named or not called)
        self.kinds = symbols(automaton)
        self.myself = target if called else None
        inner = self.body(picture, 0)
        if self.chance(0.15):
            wide = self.random.choice((1, 4, 7))
            inner = [
                " " * (wide * (len(line) - len(line.lstrip())) // 2) + line.lstrip()
                for line in inner
            ]
        if whole:
            inner = ["set_plan The aim", "plan_step_complete ready", *inner, "close_task", "submit"]
        gives = called and self.chance(0.5)
        if gives:
            names = list(picture.names)
            inner.append(f"yield {{{self.random.choice(names)}}}" if names else "yield nothing")
        if not inner:
            inner = ["message_user Nothing"]
        return "\n".join([*lines, *inner]) + "\n", Callee(target, parameters, gives)

    # -- statements

    def body(self, picture: Picture, depth: int, least: int = 0) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(max(least, 1), (5, 3, 3, 3, 1)[min(depth, 4)])):
            if self.left <= 0 and len(lines) >= least:
                break
            self.left -= 1
            made = self.statement(picture, depth)
            if made and (self.slipped and self.hidden or self.chance(0.02)):
                codes = ", ".join(CODES) if self.slipped else self.random.choice(CODES)
                lines.append(f"# fdc: ignore[{codes}] it is known")
            self.slipped = False
            if self.chance(0.03):
                lines.append(self.random.choice(("", "# a comment", "    # another one, deeper")))
            lines.extend(made)
        return lines or (["message_user Go on"] if least else [])

    def inner(self, picture: Picture, depth: int) -> list[str]:
        lines = self.body(picture, depth + 1, least=1)
        return ["  " + line for text in lines for line in text.split("\n")]

    def statement(self, picture: Picture, depth: int) -> list[str]:
        options = [*self.kinds, "message", "require"]
        if depth < self.deepest:
            options += ["if", "if", "each", "for", "fork", "iterate"]
        if self.callees or self.myself:
            options += ["call", "call"]
        if self.collecting:
            options += ["yield", "yield"]
        kind = self.random.choice(options)
        return list(getattr(self, f"make_{kind}")(picture, depth))

    def reference(self, picture: Picture, *kinds: str) -> str | None:
        names = picture.of(*kinds) if kinds else list(picture.names)
        if self.slips():
            names = [*picture.names, "never"]
        return self.random.choice(names) if names else None

    def path(self, picture: Picture, *, absent: bool = False) -> str:
        pool = sorted(picture.absent if absent else picture.there)
        self.slipped = self.slipped or not pool
        if self.slips() or not pool:
            pool = [*PATHS]
        return self.random.choice(pool)

    def used_path(self, picture: Picture) -> str:
        item = self.reference(picture, "item", "path")
        if item and self.chance(0.5):
            return f"{{{item}}}"
        if item and self.chance(0.1):
            both = [f"{{{one}}}" for one in (item, self.reference(picture, "item", "answer"))]
            return self.random.choice(BESIDE).format(*both)
        path = self.path(picture)
        return self.random.choice(SPELLED).format(path) if self.chance(0.03) else path

    def glob(self, picture: Picture, *pool: str) -> str:
        """A glob, sometimes with a value in it."""
        item = self.reference(picture, "item", "text", "answer") if self.chance(0.2) else None
        if item is None:
            return self.random.choice(pool)
        return self.random.choice(COMPUTED_GLOBS).format(f"{{{item}}}")

    def make_read(self, picture: Picture, depth: int) -> list[str]:
        kind = self.random.choice(("list", "list", "read", "read", "grep"))
        if kind == "list":
            pool = (
                (*FOLDERS, *GLOBS) if self.slips() else ("docs/*.md", "docs/**", "out/*", "**/*.md")
            )
            where = self.glob(picture, *pool)
            bound = "" if self.chance(0.2) else f"{self.name('list', picture)} <- "
            return [f"{bound}list_files {where}"]
        if kind == "grep" and self.chance(0.4):
            form = self.random.choice(
                ('"text of" path={}', "path={} pattern=keep", '"^keep$" "{}"', "keep|text {}")
            )
            return [
                f"{self.name('hits', picture)} <- grep {form.format(self.random.choice(GLOBS))}"
            ]
        if kind == "grep":
            return [f"{self.name('hits', picture)} <- grep keep {self.glob(picture, *GLOBS)}"]
        path = self.used_path(picture)
        bound = f"{self.name('text', picture)} <- " if self.chance(0.6) else ""
        return [f"{bound}read_file {path}"]

    def make_write(self, picture: Picture, depth: int) -> list[str]:
        kind = self.random.choice(("create", "create", "overwrite", "overwrite", "edit"))
        text = self.reference(picture)
        block = [
            f"  text {{{text}}}" if text and self.chance(0.4) else "  text",
            *(["  keep"] if self.chance(0.5) else []),
        ]
        if kind == "edit":
            path = self.used_path(picture)
            keep = ("  <<<<<<< SEARCH", "  keep", "  =======", "  keep", "  >>>>>>> REPLACE")
            return [f"replace_with_git_merge_diff {path}", *keep]
        item = self.reference(picture, "item")
        nested = self.random.choice(NESTED) if self.chance(0.08) else ""
        if nested:
            path = nested
        elif item and self.chance(0.5):
            both = [f"{{{one}}}" for one in (item, self.reference(picture, "item", "answer"))]
            path = self.random.choice(("new/{0}", "{{run}}/{0}", *BESIDE)).format(*both)
        else:
            path = self.path(picture, absent=kind == "create")
            picture.there.add(path)
            picture.absent.discard(path)
        tool = "create_file_with_block" if kind == "create" else "overwrite_file_with_block"
        return [f"{tool} {path}", *block]

    def make_delete(self, picture: Picture, depth: int) -> list[str]:
        path = self.used_path(picture)
        picture.there.discard(path)
        if path in PATHS:
            picture.absent.add(path)
        return [f"delete_file {path}"]

    def make_move(self, picture: Picture, depth: int) -> list[str]:
        path, target = self.path(picture), self.path(picture, absent=True)
        item = self.reference(picture, "item") if self.chance(0.4) else None
        if item is not None:
            computed = f"{{{item}}}"
            beside = self.random.choice((f"new/{computed}", f"out/{computed}", f"{computed}.bak"))
            return [
                self.random.choice(
                    (
                        f"rename_file {computed} {beside}",
                        f"rename_file {computed} {target}",
                        f"rename_file {path} {beside}",
                    )
                )
            ]
        picture.there.discard(path)
        picture.absent.add(path)
        picture.absent.discard(target)
        picture.there.add(target)
        return [f"rename_file {path} {target}"]

    def make_step(self, picture: Picture, depth: int) -> list[str]:
        if self.chance(0.1):
            return ["record_user_approval_for_plan all of it"]
        if self.chance(0.5):
            return [f"{self.name('answer', picture)} <- request_user_input What now?"]
        return ["plan_step_complete one more"]

    def make_run(self, picture: Picture, depth: int) -> list[str]:
        command = self.random.choice(COMMANDS)
        if self.chance(0.1):
            return [f"run_in_bash_session {command}"]
        if self.chance(0.3) and (item := self.reference(picture, "item")):
            command += f" {{{item}}}"
        return [f"{self.name('done', picture)} <- run_in_bash_session {command}"]

    def make_message(self, picture: Picture, depth: int) -> list[str]:
        name = self.reference(picture)
        if name and self.chance(0.15):
            return [f"message_user {{{name}}}"]
        if name and self.chance(0.15):
            return [
                self.random.choice(
                    (
                        'message_user {{{{{0}}}}} is {{{0}}}, {{"a": 1}} and {{}}',
                        "message_user {0} {{{0}}}",
                        "message_user\n  {{{0}}} and {{nobody}}",
                    )
                ).format(name)
            ]
        return [f"message_user See {{{name}}}" if name else "message_user Hello"]

    def condition(self, picture: Picture) -> str:
        name = self.reference(picture)
        kind = picture.names.get(name or "", "")
        if not name:
            return self.random.choice(("true", "1 < 2", "false"))
        made = {
            "list": (
                f"len({name}) > 1",
                f'"docs/a.md" in {name}',
                f"{name}",
                f"len({name}) == 0 or not {name}",
            ),
            "hits": (f"len({name}) > 0", f"not {name}"),
            "text": (f'"keep" in {name}', f'len({name}) > 3 and {name} != ""', f"{name}"),
            "item": (f'{name} == "docs/a.md"', f'"docs" in {name}', f'{name} < "m"'),
            "answer": (f'{name} == "yes"', f"{name} == 3", f"{name}", f'not ({name} == "no")'),
            "done": (
                f"{name}.exit_code == 0",
                f"{name}.exit_code > 0",
                f'"ready" in {name}.output',
            ),
            "any": (f"{name}", f"{name}.failed", f'{name} == "same"'),
            "kept": (f"len({name}) > 1", f"{name}"),
        }.get(kind, (f"{name}",))
        if self.slips():
            made = (f"{name} < 3", f"{name} in {name}", f"len({name}) > 0")
        one = self.random.choice(made)
        if self.chance(0.25):
            other = self.random.choice(
                (
                    "true",
                    "false",
                    '"b" > "a"',
                    "not 1 == 2",
                    '3 == "3.0"',
                    f"{{{name}}} == {name}",
                    "2 <= 1",
                )
            )
            one = self.random.choice(
                (
                    "{} or {}",
                    "{} and {}",
                    "not {} and {}",
                    "({} or false) and not ({})",
                    "{} and {} or true",
                )
            )
            one = one.format(self.random.choice(made), other)
        return one

    def make_require(self, picture: Picture, depth: int) -> list[str]:
        return [f'require {self.condition(picture)} else "it is not so"']

    def make_if(self, picture: Picture, depth: int) -> list[str]:
        one, other = picture.copy(), picture.copy()
        lines = [f"if {self.condition(picture)}", *self.inner(one, depth)]
        if self.chance(0.5):
            lines += ["else", *self.inner(other, depth)]
        self.join(picture, one, other)
        return lines

    def join(self, picture: Picture, one: Picture, other: Picture) -> None:
        for field in ("there", "absent"):
            both = getattr(one, field) & getattr(other, field)
            getattr(picture, field).intersection_update(both)
            getattr(picture, field).update(both)

    def make_each(self, picture: Picture, depth: int) -> list[str]:
        inside = picture.copy()
        glob = self.glob(picture, *GLOBS)
        self.each += 1
        inside.names[f"file{self.each}"] = "item"
        head = f"for_each_file {glob}"
        if self.chance(0.4):
            head += f" as {self.name('item', inside)}"
        if self.chance(0.4):
            head += f" max {self.random.choice((1, 3, 9))}"
        collecting, self.collecting = self.collecting, False
        lines = [head, *self.inner(inside, depth)]
        self.collecting = collecting
        self.each -= 1
        self.join(picture, inside, picture.copy())
        return lines

    def make_for(self, picture: Picture, depth: int, fork: bool = False) -> list[str]:
        lines = []
        value = self.reference(picture, "list", "kept")
        if value is None:
            value = self.name("list", picture)
            lines.append(f"{value} <- list_files {self.random.choice(GLOBS)}")
        inside = picture.copy()
        kind = "item" if picture.names.get(value) == "list" or self.chance(0.3) else "any"
        item = self.name(kind, inside)
        head = f"{'fork' if fork else 'for'} {item} in {{{value}}} max {self.random.choice((2, 9, 9, 9))}"
        collecting, self.collecting = self.collecting, self.chance(0.5)
        bound = self.name("kept", picture) + " <- " if self.collecting else ""
        if fork and self.chance(0.45):
            head += " keep failures"
        lines += [bound + head, *self.inner(inside, depth)]
        self.collecting = collecting
        self.join(picture, inside, picture.copy())
        return lines

    def make_fork(self, picture: Picture, depth: int) -> list[str]:
        return self.make_for(picture, depth, fork=True)

    def make_iterate(self, picture: Picture, depth: int) -> list[str]:
        inside = picture.copy()
        collecting, self.collecting = self.collecting, False
        body = self.inner(inside, depth)
        self.collecting = collecting
        picture.names.update(inside.names)
        picture.there.clear()
        picture.there.update(inside.there)
        picture.absent.clear()
        picture.absent.update(inside.absent)
        until = f" until {self.condition(picture)}" if self.chance(0.6) else ""
        return [f"iterate max {self.random.choice((1, 2, 3))}{until}", *body]

    def make_yield(self, picture: Picture, depth: int) -> list[str]:
        name = self.reference(picture)
        return [
            f"yield {{{name}}}"
            if name and self.chance(0.7)
            else self.random.choice(("yield same", "yield docs/a.md"))
        ]

    def make_call(self, picture: Picture, depth: int) -> list[str]:
        if self.myself and self.planned and self.chance(0.3):
            return [
                f"call_plan {self.random.choice(self.planned)} depth {self.random.choice((1, 2))}"
            ]
        if self.myself and (not self.callees or self.chance(0.4)):
            deep = "" if self.slips() else f" depth {self.random.choice((1, 2))}"
            arguments = " page={page}" if "page" in picture.names else ""
            return [f"call_plan {self.myself}{arguments}{deep}"]
        callee = self.random.choice(self.callees)
        arguments = ""
        for name, default in callee.parameters.items():
            if not default or self.chance(0.5):
                path = self.random.choice(ODD) if self.chance(0.05) else self.used_path(picture)
                arguments += f" {name}={path}"
        bound = f"{self.name('any', picture)} <- " if callee.gives and self.chance(0.7) else ""
        return [f"{bound}call_plan {callee.target}{arguments}"]


def symbols(automaton: str) -> tuple[str, ...]:
    """The kinds of steps that a plan under the automaton is made of."""
    if automaton == FDC or "free" in automaton:
        return ("read", "read", "write", "write", "delete", "move", "step", "run")
    if "looks" in automaton:
        return ("read", "read", "read", "write", "step", "run")
    return ("read", "write", "write", "delete", "step")


def plan_set(seed: int) -> PlanSet:
    """The plan set of a seed."""
    return Maker(seed).plan_set()
