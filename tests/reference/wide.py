"""More plan sets made of a seed: in half of them values have fields, and lists are made item by item.

The other half is what `generate.Maker` makes of the same seed.
"""

from __future__ import annotations

import random

from tests.reference.generate import Maker, Picture
from tests.reference.pools import GLOBS
from tests.reference.runs import PlanSet

NUMBERS = ("1", "2", "3", "007", '"2"')
NO_NUMBERS = ("x", "-1", "0", "1.5", '""', "{}")
FIELDS = {
    "hit": ("path", "line", "text"),
    "lines": ("text", "first", "last", "lines"),
    "done": ("output", "exit_code"),
}


class WideMaker(Maker):
    """Steps with fields of results, `read_lines`, `append` and `among`."""

    def statement(self, picture: Picture, depth: int) -> list[str]:
        if self.chance(0.25):
            made = ["lines", "append", "hits"]
            if picture.of("list", "bag", "kept"):
                made += ["among", "append"]
            return list(getattr(self, f"make_{self.random.choice(made)}")(picture, depth))
        return super().statement(picture, depth)

    def reference(self, picture: Picture, *kinds: str) -> str | None:
        """Where the name of a file is wanted, often a field that holds one."""
        if "item" in kinds and self.chance(0.35) and (hits := picture.of("hit", "lines", "answer")):
            name = self.random.choice(hits)
            field = {"hit": ".path", "lines": ".text"}.get(picture.names[name], "")
            return f"{name}{field}"
        return super().reference(picture, *kinds)

    def field(self, picture: Picture) -> str | None:
        """A value or a field of it, `NAME` or `NAME.FIELD`; None if nothing is bound."""
        name = self.reference(picture)
        known = FIELDS.get(picture.names.get(name or "", ""), ())
        if name and self.slips():
            return f"{name}.nothing"
        return f"{name}.{self.random.choice(known)}" if name and known else name

    def condition(self, picture: Picture) -> str:
        name = self.reference(picture)
        made = {
            "hit": (f"{name}.line > 1", f'{name}.path == "docs/a.md"', f'"keep" in {name}.text'),
            "lines": (
                f"{name}.lines > 1",
                f'"keep" in {name}.text',
                f"{name}.first <= {name}.last",
            ),
            "bag": (f"len({name}) > 1", f'"same" in {name}', f"{name}"),
        }.get(picture.names.get(name or "", ""))
        return self.random.choice(made) if made else super().condition(picture)

    def make_lines(self, picture: Picture, depth: int) -> list[str]:
        words = [self.used_path(picture)]
        if self.chance(0.6):
            words.append(self.number(picture))
            if self.chance(0.5):
                words.append(f"last={self.number(picture)}")
        return [f"{self.fresh_name('lines', picture)}read_lines {' '.join(words)}"]

    def number(self, picture: Picture) -> str:
        if self.slips():
            return self.random.choice(NO_NUMBERS).format(f"{{{self.field(picture) or 'never'}}}")
        if self.chance(0.4) and (name := self.reference(picture, "lines", "hit")):
            kind = picture.names.get(name, "")
            return f"{{{name}.{'lines' if kind == 'lines' else 'line'}}}"
        return self.random.choice(NUMBERS)

    def fresh_name(self, kind: str, picture: Picture) -> str:
        return "" if self.chance(0.1) else f"{self.name(kind, picture)} <- "

    def make_append(self, picture: Picture, depth: int) -> list[str]:
        item = self.field(picture) if self.chance(0.6) else None
        text = f"{{{item}}}" if item else self.random.choice(("same", self.path(picture), '""', ""))
        into = self.reference(picture, "list", "bag", "kept")
        words = [text, f"to={{{into}}}" if into and self.chance(0.7) else ""]
        names = [name for name in picture.of("bag") if self.chance(0.5)]
        bound = self.random.choice(names) if names else self.name("bag", picture)
        return [" ".join(word for word in (f"{bound} <- append", *words) if word)]

    def make_among(self, picture: Picture, depth: int) -> list[str]:
        of = self.reference(picture, "list", "bag", "kept") or "never"
        value = self.field(picture) if self.chance(0.6) else None
        text = f"{{{value}}}" if value else self.path(picture)
        return [f"{self.fresh_name('item', picture)}among {text} {{{of}}}"]

    def make_hits(self, picture: Picture, depth: int) -> list[str]:
        """A loop over the lines that `grep` finds, or over a list that `append` made."""
        bag = self.reference(picture, "bag") if self.chance(0.5) else None
        lines = []
        if bag is None and depth < self.deepest:
            bag = self.name("hits", picture)
            most = f" most={self.random.choice((1, 3))}" if self.chance(0.3) else ""
            lines.append(f"{bag} <- grep keep {self.random.choice(GLOBS)}{most}")
        if depth >= self.deepest or bag is None:
            return [*lines, "message_user Too deep"]
        inside = picture.copy()
        kind = {"hits": "hit"}.get(picture.names.get(bag, ""), self.random.choice(("any", "item")))
        item = self.name(kind, inside)
        fork = self.random.choice(("for", "for", "for", "fork"))
        collecting, self.collecting = self.collecting, self.chance(0.4)
        bound = f"{self.name('kept', picture)} <- " if self.collecting else ""
        head = f"{bound}{fork} {item} in {{{bag}}} max {self.random.choice((2, 9, 9, 9))}"
        lines += [head, *self.inner(inside, depth)]
        self.collecting = collecting
        self.join(picture, inside, picture.copy())
        return lines


class DeepMaker(WideMaker):
    """Loops and conditions in each other, deeper than the analyses follow round by round."""

    deepest = 7

    def statement(self, picture: Picture, depth: int) -> list[str]:
        if 0 < depth < self.deepest and self.chance(0.4):
            made = self.random.choice(("if", "each", "for", "for", "hits", "iterate"))
            return list(getattr(self, f"make_{made}")(picture, depth))
        return super().statement(picture, depth)


def plan_set(seed: int) -> PlanSet:
    """The plan set of a seed."""
    which = random.Random(f"wide {seed}").random()
    return (DeepMaker if which < 0.1 else WideMaker if which < 0.5 else Maker)(seed).plan_set()
