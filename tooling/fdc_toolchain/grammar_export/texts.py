"""Rules for what stands on a line: references, texts, words, values, conditions. Made when they are first asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..linking import types
from ..linking.types import KINDS, LIST, NULL, NUMBER, OBJECT, TEXTS, Type
from .form import STORES, Chars, Form, Guard, Item, Literal, Use, Way, word
from .place import OUTSIDE, Place, Slot

_LETTERS = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0391-\u03a1\u03b1-\u03c9\u0410-\u044f\u4e00-\u9fa5"
)
_FIRST = f"A-Za-z0-9({_LETTERS}"
_MORE = f" -z|~{_LETTERS}"
_WORD = "A-Za-z0-9_.:/+-"
_GLOB = f"*?@~,%{_WORD}"
_INNER = f" !#-\\[\\]-z|~{_LETTERS}"
_NAME = "A-Za-z0-9_"
_FIELDS = 3
MOST_LITERAL = 60


class Sizes(NamedTuple):
    """The most characters of a part of a text, parts of a text, and lines of a block."""

    long: int
    pieces: int
    lines: int


class Reference(NamedTuple):
    """A way to name a value: the text between braces, the bit of its slot, its type (None: it is unknown), its level."""

    path: str
    bit: int
    kind: Type | None
    level: int


class Texts:
    """Rules of one place. What names a value asks for the bit of its slot."""

    def __init__(self, place: Place, form: Form) -> None:
        self.place = place
        self.form = form
        self.sizes = Sizes(60, 2, 2) if place.brief else Sizes(200, 5, 6)
        self.references = [
            one for number, slot in enumerate(place.slots) for one in _named(slot, 1 << number)
        ]
        self.files = self._files()
        self.shared: dict[tuple[object, ...], Use] = {}

    def put(self, name: str, ways: list[Way]) -> Use:
        """Adds a rule, unless it is there, and uses it."""
        if name not in self.form.rules:
            self.form.put(name, ways)
        return Use(name)

    def share(self, name: str, ways: list[Way], apart: object = None) -> Use:
        """A rule of these alternatives; one that is there already, where it has the same and is not to be kept `apart`."""
        key = (apart, *ways)
        if key not in self.shared:
            self.shared[key] = self.put(f"{name}_{len(self.shared)}", ways)
        return self.shared[key]

    # ---- references --------------------------------------------------------------------

    def fitting(self, need: str, level: int, only: bool = False) -> list[Reference]:
        """The references that may stand where a kind is needed: any, value, text, number, length, list. `only`: of that
        level, none of a better one."""
        return [
            one
            for one in self.references
            if one.level <= level and (one.level == level or not only) and self._fits(one, need)
        ]

    def _fits(self, one: Reference, need: str) -> bool:
        if self.place.free or need == "any":
            return True
        if one.kind is None:
            return False
        kinds = one.kind.kinds & KINDS
        if need == "value":
            return bool(kinds & ~NULL)
        wanted = {
            "text": TEXTS,
            "number": NUMBER,
            "length": NULL | TEXTS | LIST | OBJECT,
            "list": LIST,
        }[need]
        return bool(kinds & wanted) and not kinds & ~(wanted | NULL)

    def mask(self, need: str, level: int, only: bool = False) -> int:
        """The slots of which one must be bound for such a reference."""
        out = 0
        for one in self.fitting(need, level, only):
            out |= one.bit
        return out

    def reference(
        self,
        need: str,
        level: int,
        *,
        braces: bool = True,
        stored: bool = False,
        only: bool = False,
    ) -> Use | None:
        """A reference; `stored`: into a file, which a model's text and text from outside
        go into only where the plan says so."""
        found = self.fitting(need, level, only)
        if not found:
            return None
        ways = []
        for one in found:
            guard = Guard(one.bit | (STORES if stored and one.level > 1 else 0))
            inner: tuple[Item, ...] = (Literal(one.path),)
            ways.append(Way((Literal("{"), *inner, Literal("}")) if braces else inner, guard))
            if self.place.free:
                field = self.field()
                ways.append(
                    Way(
                        (Literal("{"), *inner, field, Literal("}")) if braces else (*inner, field),
                        guard,
                    )
                )
        name = f"r_{need}_{level}" + "_s" * stored + "_n" * (not braces) + "_only" * only
        return self.put(name, ways)

    def field(self) -> Use:
        """Fields below a name whose type it is unknown."""
        part = (Literal("."), Chars("A-Za-z_"), Chars(_NAME, 0, 40))
        for number in range(1, _FIELDS + 1):
            more = (*part, Use(f"field{number - 1}")) if number > 1 else part
            self.put(f"field{number}", [Way(part), Way(more)] if number > 1 else [Way(part)])
        return Use(f"field{_FIELDS}")

    # ---- texts -------------------------------------------------------------------------

    def text(self, level: int, *, stored: bool = False, first: str = _FIRST) -> Use:
        """Text to the end of the line, with references in it."""
        name = f"text_{level}" + "_s" * stored + "_b" * (first != _FIRST)
        begin: tuple[Item, ...] = (Chars(first), Chars(_MORE, 0, self.sizes.long))
        return self._mixed(
            name,
            begin,
            Chars(_MORE, 1, self.sizes.long),
            self.reference("any", level, stored=stored),
            self.sizes.pieces,
        )

    def _mixed(
        self, name: str, begin: tuple[Item, ...], more: Item, ref: Use | None, most: int
    ) -> Use:
        """Characters and references in turn: `begin` is what it may begin with, `more` stands behind a reference."""
        if ref is None:
            return self.put(name, [Way(begin)])
        for number in range(1, most + 1):
            ways = [Way((ref,)), Way((ref, more))]
            if number > 1:
                ways += [
                    Way((ref, Use(f"{name}_{number - 1}"))),
                    Way((ref, more, Use(f"{name}_{number - 1}"))),
                ]
            self.put(f"{name}_{number}", ways)
        # A reference can come to nothing where no name is bound: what begins without one can always end.
        tail = Use(f"{name}_{most}")
        return self.put(name, [Way(begin), Way((*begin, tail)), Way((tail,))])

    def block(self, depth: int, level: int, *, stored: bool) -> Use:
        """The lines below a step, each with its indentation and its line end."""
        indent = Literal("  " * (depth + 1))
        name = f"block{depth}_{level}" + "_s" * stored
        line = (indent, self.text(level, stored=stored, first=_FIRST + "#*>`_\"'-"), Literal("\n"))
        for number in range(1, self.sizes.lines + 1):
            ways = [Way(line)]
            if number > 1:
                ways.append(Way((*line, Use(f"{name}_{number - 1}"))))
            self.put(f"{name}_{number}", ways)
        return Use(f"{name}_{self.sizes.lines}")

    def value(self, need: str, level: int, *, stored: bool = False) -> Use:
        """A word, a quoted text or a reference, as an argument."""
        name = f"value_{need}_{level}" + "_s" * stored
        lone = need != "text" or self.place.free
        inside = Use(f"inner_{level}" if lone else f"spoken_{level}")
        ways = [Way((Use("word"),)), Way((Literal('"'), inside, Literal('"')))]
        first, letters = ("A-Za-z0-9_.*/?~", _GLOB) if self.place.free else ("A-Za-z0-9", _WORD)
        self.put("word", [Way((Chars(first), Chars(letters, 0, 40)))])
        embedded = self.reference("any", level, stored=stored)
        self._mixed(
            f"inner_{level}",
            (Chars(_INNER, 1, 60),),
            Chars(_INNER, 1, 60),
            self.reference("any", level),
            3,
        )
        if not lone:
            self._spoken(level)
        one = self.reference(need, level, stored=stored)
        if one is not None:
            ways.append(Way((one,)))
        if embedded is not None:
            ways.append(Way((Use("word"), embedded)))
            if self.place.free:
                more = Chars(letters, 1, 40)
                ways += [
                    Way((embedded, more)),
                    Way((Use("word"), embedded, more, embedded)),
                    Way((embedded, more, embedded)),
                ]
                ways.append(Way((Literal('"'), Literal('"'))))
        return self.put(name, ways)

    def _spoken(self, level: int) -> None:
        """The inside of a quoted text that is more than one reference alone, which would be the value itself."""
        more, one = Chars(_INNER, 1, 60), self.reference("any", level)
        ways = [Way((more,))]
        if one is not None:
            last = Use(f"inner_{level}_2")
            ways += [Way((more, Use(f"inner_{level}_3")))]
            ways += [Way((one, *rest)) for rest in ((more,), (last,), (more, last))]
        self.put(f"spoken_{level}", ways)

    def pattern(self) -> Use:
        """A pattern to search for that is surely one."""
        plain = Chars("A-Za-z0-9_", 1, 30)
        return self.put(
            "pattern",
            [Way((plain,)), Way((Literal('"'), Chars("A-Za-z0-9_ :=#^", 1, 40), Literal('"')))],
        )

    def number(self, most: int = 4) -> Use:
        """A whole number."""
        return self.put(f"number{most}", [Way((Chars("1-9"), Chars("0-9", 0, most - 1)))])

    # ---- arguments ---------------------------------------------------------------------

    def arguments(
        self,
        title: str,
        given: Mapping[str, list[Item]],
        required: Collection[str],
        some: Collection[str],
        placed: bool,
    ) -> Use:
        """A plan's own way to give arguments: by place as long as none is named (`placed`), then by name in the order of the
        declaration or in one of those that the plan has (`Place.orders`). `given`: what may stand for each; `some`: of which one
        must be given."""
        orders = {tuple(given)}
        for order in self.place.orders.get(title, ()):
            orders.add((*order, *(name for name in given if name not in order)))
        declared = tuple(given)

        def value(name: str, more: Use, named: bool) -> Iterator[Way]:
            key = (Literal(" "), Literal(f"{name}=")) if named else (Literal(" "),)
            for item in given[name]:
                yield Way((*key, item, more))

        def by_name(left: tuple[str, ...], met: bool) -> Use:
            ways = [Way(())] if met and not set(left) & set(required) else []
            for at, name in enumerate(left):
                ways += value(name, by_name(left[at + 1 :], met or name in some), True)
                if name in required:
                    break
            return self.share("args", ways)

        def by_place(at: int, met: bool) -> Use:
            left = {tuple(name for name in order if name not in declared[:at]) for order in orders}
            ways = [Way((by_name(order, met),)) for order in sorted(left)]
            if placed and at < len(declared):
                met = met or declared[at] in some
                ways += value(declared[at], by_place(at + 1, met), False)
            return self.share("args", ways)

        return by_place(0, not some)

    # ---- files -------------------------------------------------------------------------

    def _files(self) -> dict[str, Use]:
        place = self.place
        folders = sorted({name.rpartition("/")[0] for name in place.files} - {""})[:MOST_LITERAL]
        endings = sorted(
            {name.rpartition(".")[2] for name in place.files if "." in name.rpartition("/")[2]}
        )[:12]
        out = {}
        if place.files:
            out["read"] = self.put("file", [Way(word(name)) for name in place.files])
        globs = [f"**/*.{end}" for end in endings] + [f"{folder}/*" for folder in folders]
        globs += sorted({f"{name.rpartition('/')[0]}/*.{name.rpartition('.')[2]}" for name in place.files
                         if "/" in name and "." in name.rpartition("/")[2]})[:MOST_LITERAL]  # fmt: skip
        out["glob"] = self.put(
            "glob", [Way(word(one)) for one in dict.fromkeys(globs)] or [Way(word("**/*"))]
        )
        named = (Chars("a-z"), Chars("a-z0-9_", 0, 30), Use("ending"))
        self.put("ending", [Way(word(f".{end}")) for end in ("md", "txt", "json", "csv")])
        run = (Literal("run"), Literal("}"), Literal("/"))
        out["new"] = self.put("newfile", [Way(word("out/", *named)), Way(word("{", *run, *named))])
        out["outside"] = self.put(
            "outsidefile", [Way(word("{", *run, Literal("outside/"), *named))]
        )
        return out

    def path(self, access: str, level: int) -> list[Item]:
        """What may stand for a path that a step reads or writes."""
        if self.place.free:
            return [self.value("any", OUTSIDE)]
        out: list[Item] = []
        one = self.reference("text", min(level, 1))
        if access == "read" and "read" in self.files:
            out.append(self.files["read"])
        if access in ("create", "write"):
            out += [self.files["new"]]
        if one is not None and access == "read":
            out.append(one)
        return out

    # ---- conditions --------------------------------------------------------------------

    def condition(self, level: int, *, only: bool = False) -> tuple[Use, int] | None:
        """A condition over values of a level, and the slots of which one must be bound. `only`: it begins with one that has
        no better level."""
        mask = self.mask("any", level, only)
        if not mask:
            return None
        atom = self._atom(level, False)
        first = self._atom(level, only)
        joined = self.put("joint", [Way(word(" and ")), Way(word(" or "))])
        ways = [Way((first,)), Way((first, joined, atom)), Way((first, joined, atom, joined, atom))]
        return self.put(f"condition_{level}" + "_only" * only, ways), mask

    def _atom(self, level: int, only: bool) -> Use:
        """One comparison, or a value alone."""
        one = self.reference("any", level, braces=False, only=only)
        assert one is not None
        ways = [Way((Literal("not "), one)), Way((one,)), Way((one, Use("equals"), Use("fixed")))]
        self.put("equals", [Way(word(" == ")), Way(word(" != "))])
        self.put("order", [Way(word(f" {sign} ")) for sign in ("<", "<=", ">", ">=")])
        self.put("fixed", [Way((Literal('"'), Literal('"'))), Way((Literal('"'), Chars(_INNER, 1, 40), Literal('"'))),
                           Way((self.number(),))])  # fmt: skip
        compare = (Use("order"), Use("count"))
        self.put("count", [Way(word("0")), Way((self.number(),))])
        length = self.reference("length", level, braces=False, only=only)
        if length is not None:
            some = Guard(some=self.mask("length", level, only))
            ways.append(Way((Literal("len("), length, Literal(")"), *compare), some))
            if self.place.free:
                ways.append(
                    Way((Literal("len("), length, Literal(")"), Use("equals"), Use("count")))
                )
        number = self.reference("number", level, braces=False, only=only)
        if number is not None:
            ways.append(Way((number, *compare)))
            ways.append(Way((number, Use("equals"), Use("count"))))
        if self.place.free:
            ways += [Way((one, Use("order"), one)), Way((one, Use("equals"), one))]
        ways += self._predicates(one)
        return self.put(f"atom_{level}" + "_only" * only, ways)

    def _predicates(self, one: Use) -> Iterator[Way]:
        """Predicates of the catalogue; none looks at files where text from outside may stand in them."""
        for name, count in sorted(self.place.predicates.items()):
            if count > 0:
                items: list[Item] = [Literal(f"{name}("), one]
                for _ in range(count - 1):
                    items += [Literal(", "), one]
                yield Way((*items, Literal(")")), Guard(clear=STORES))


def _named(slot: Slot, bit: int) -> Iterator[Reference]:
    """A name, and the fields that its value is known to have."""
    yield Reference(slot.name, bit, slot.kind, slot.level)
    if slot.kind is not None and slot.kind.kinds & KINDS == OBJECT:
        for field, kind in slot.kind.fields or ():
            yield Reference(
                f"{slot.name}.{field}", bit, kind if kind != types.ANY else None, slot.level
            )
