"""Rules for what stands on a line: references, texts, words, values, conditions. Made when they are first asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..linking import types
from ..linking.types import KINDS, NULL, NUMBER, OBJECT, OPEN, Type
from ..named_tuples import NamedTuple
from .form import STORES, Chars, Form, Guard, Item, Literal, Use, Way, word
from .place import OUTSIDE, WANTED, Need, Place, plain, spelled

_LETTERS = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0391-\u03a1\u03b1-\u03c9\u0410-\u044f\u4e00-\u9fa5"
)
_FIRST = f"A-Za-z0-9({_LETTERS}"
_MORE = f" -z|~{_LETTERS}"
_WORD = "A-Za-z0-9_.:/+-"
_GLOB = f"*?@~,%{_WORD}"
_INNER = f" !#-\\[\\]-z|~{_LETTERS}"
_FIELDS = 3
"""Fields of fields that are followed."""
MOST_LITERAL = 60


class Sizes(NamedTuple):
    """The most characters of a part of a text, parts of a text, and lines of a block."""

    long: int
    pieces: int
    lines: int


class Reference(NamedTuple):
    """A way to name a value: a slot's name, its bit, its level; whether the name alone is one, and which of its fields are."""

    name: str
    bit: int
    level: int
    whole: bool
    field: Use | None

    def tails(self) -> list[tuple[Item, ...]]:
        """What may follow the name."""
        return ([()] if self.whole else []) + ([(self.field,)] if self.field else [])


class Texts:
    """Rules of one place. What names a value asks for the bit of its slot."""

    def __init__(self, place: Place, form: Form) -> None:
        self.place = place
        self.form = form
        self.sizes = Sizes(60, 2, 2) if place.brief else Sizes(200, 5, 6)
        self.shared: dict[tuple[object, ...], Use] = {}
        self.fitted: dict[tuple[str, int, bool], list[Reference]] = {}
        self.apart = ""
        self.files = self._files()

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

    def needs(self, need: str) -> Need:
        """What a use asks of a value: a key of `WANTED`."""
        wanted = WANTED[need]
        if self.place.free:
            return Need(need, lambda kinds: all(kind.kinds & (wanted | OPEN) for kind in kinds))

        def all_fit(kinds: tuple[Type, ...]) -> bool:
            found = [kind.kinds & KINDS for kind in kinds]
            if need == "compared":  # what equals a text or number has no fields
                return not any(kind & OBJECT for kind in found)
            if need in ("any", "value"):
                return need == "any" or bool(found) and all(kind & wanted for kind in found)
            fits = wanted | NULL if need != "number" else NUMBER | NULL
            return bool(found) and all(kind & fits & ~NULL and not kind & ~fits for kind in found)

        return Need(need, all_fit)

    def fitting(self, need: Need, level: int, only: bool = False) -> list[Reference]:
        """The references that may stand where a value is needed. `only`: of that level, none of a better one."""
        key = (need.name, level, only)
        if key not in self.fitted:
            found = []
            for number, slot in enumerate(self.place.slots):
                if need.made not in ("", slot.made):
                    continue
                if slot.level <= level and (slot.level == level or not only):
                    whole, field = need.fits(slot.kinds), self._below(slot.kinds, need, slot.reads)
                    if whole or field:
                        found.append(Reference(slot.name, 1 << number, slot.level, whole, field))
            self.fitted[key] = found
        return self.fitted[key]

    def _below(
        self, kinds: tuple[Type, ...], need: Need, reads: tuple[tuple[str, ...], ...], deep: int = 0
    ) -> Use | None:
        """The fields of such a value that fit, each with its point: those that it is known to have, whatever has bound it, and
        those that a plan `reads`."""
        free = self.place.free
        objects = [
            kind for kind in kinds if kind.kinds & OBJECT and (free or kind.kinds & KINDS == OBJECT)
        ]
        if deep > (_FIELDS if free else 0):
            return None
        known = [{name for name, _ in kind.fields} for kind in objects if kind.fields is not None]
        names = set.intersection(*known) if known and len(objects) == len(kinds) else set()
        names |= {path[0] for path in reads if path}
        ways = []
        for name in sorted(names):
            found = {kind.field(name) for kind in objects if name in dict(kind.fields or ())}
            inner = tuple(sorted(found - {types.ANY}, key=repr))
            if need.fits(inner):
                ways.append(Way(word(f".{name}")))
            below = tuple(path[1:] for path in reads if path[:1] == (name,))
            more = self._below(inner, need, below, deep + 1)
            ways += [Way(word(f".{name}", more))] if more else []
        return self.share(f"fields_{need.name}", ways) if ways else None

    def mask(self, need: str, level: int, only: bool = False) -> int:
        """The slots of which one must be bound for such a reference."""
        return sum(one.bit for one in self.fitting(self.needs(need), level, only))

    def reference(
        self,
        need: str | Need,
        level: int,
        *,
        braces: bool = True,
        stored: bool = False,
        only: bool = False,
    ) -> Use | None:
        """A reference; `stored`: into a file, which a model's text and text from outside
        go into only where the plan says so."""
        need = self.needs(need) if isinstance(need, str) else need
        name = f"r_{need.name}_{level}" + "_s" * stored + "_n" * (not braces) + "_only" * only
        name += self.apart
        if name in self.form.rules:
            return Use(name)
        ways = []
        for one in self.fitting(need, level, only):
            guard = Guard(one.bit | (STORES if stored and one.level > 1 else 0))
            for tail in one.tails():
                inner: tuple[Item, ...] = (Literal(one.name), *tail)
                ways.append(Way((Literal("{"), *inner, Literal("}")) if braces else inner, guard))
        return self.put(name, ways) if ways else None

    # ---- texts -------------------------------------------------------------------------

    def text(
        self, level: int, *, stored: bool = False, first: str = _FIRST, need: str = "any"
    ) -> Use:
        """Text to the end of the line, with references in it; what is one reference alone is what it `need`s to be."""
        name = f"text_{need}_{level}" + "_s" * stored + "_b" * (first != _FIRST)
        more = Chars(_MORE, 1, self.sizes.long)
        begin: tuple[Item, ...] = (Chars(first), Chars(_MORE, 0, self.sizes.long))
        one, alone = (self.reference(kind, level, stored=stored) for kind in ("any", need))
        return self._mixed(name, begin, more, one, alone, self.sizes.pieces)

    def _mixed(
        self,
        name: str,
        begin: tuple[Item, ...],
        more: Item,
        ref: Use | None,
        alone: Use | None,
        most: int,
    ) -> Use:
        """Characters and references in turn: `begin` is what it may begin with, `more` stands behind a reference; `alone` is
        what it may be besides, and one reference is not."""
        if ref is None:
            return self.put(name, [Way(begin)])
        for number in range(1, most + 1):
            ways = [Way((ref,)), Way((ref, more))]
            if number > 1:
                rest = Use(f"{name}_{number - 1}")
                ways += [Way((ref, rest)), Way((ref, more, rest))]
            self.put(f"{name}_{number}", ways)
        # A reference can come to nothing where no name is bound: what begins without one can always end.
        tail = Use(f"{name}_{most}")
        return self.put(
            name,
            [Way(begin), Way((*begin, tail)), *([Way((alone,))] if alone else []), *ways[1:]],
        )

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

    def value(
        self, need: str | Need, level: int, *, stored: bool = False, filled: bool = False
    ) -> Use:
        """A word, a quoted text or a reference, as an argument. One reference alone is the value itself, in quotes too.
        `filled`: not an empty text."""
        need = self.needs(need) if isinstance(need, str) else need
        first, letters = ("A-Za-z0-9_.*/?~", _GLOB) if self.place.free else ("A-Za-z0-9", _WORD)
        self.put("word", [Way((Chars(first), Chars(letters, 0, 40)))])
        one, inner = self.reference(need, level, stored=stored), Chars(_INNER, 1, 60)
        piece = self.reference("any", level)
        if self.place.free:
            pieces = [Way(word("\\\\")), Way(word('\\"')), *([Way((piece,))] if piece else [])]
            piece = self.share("piece", pieces)
        inside = self._mixed(f"inner_{level}", (inner,), inner, piece, None, 3)
        quote = Literal('"')
        ways = [Way((Use("word"),)), Way((quote, inside, quote))]
        ways += [Way((one,)), Way((quote, one, quote))] if one is not None else []
        embedded = self.reference("any", level, stored=stored)
        if embedded is not None:
            ways.append(Way((Use("word"), embedded)))
            if self.place.free:
                more = Chars(letters, 1, 40)
                ways += [
                    Way((embedded, more)),
                    Way((Use("word"), embedded, more, embedded)),
                    Way((embedded, more, embedded)),
                ]
                ways += [] if filled else [Way((quote, quote))]
        return self.put(f"value_{need.name}_{level}" + "_s" * stored + "_f" * filled, ways)

    def either_quoted(self, one: Use) -> Use:
        """A reference alone, which is the value itself, in quotes too."""
        quote = Literal('"')
        return self.put(f"{one.rule}_alone", [Way((one,)), Way((quote, one, quote))])

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
        named = [name for name in place.files if plain(name)]
        folders = sorted({name.rpartition("/")[0] for name in named} - {""})[:MOST_LITERAL]
        endings = sorted(
            {name.rpartition(".")[2] for name in named if "." in name.rpartition("/")[2]}
        )[:12]
        out = {}
        if place.files:
            out["read"] = self.put("file", [Way(word(spelled(name))) for name in place.files])
        if named:
            out["bare"] = self.put("barefile", [Way(word(name)) for name in named])
        globs = [f"**/*.{end}" for end in endings]
        globs += [name for folder in folders for name in (f"{folder}/*", folder)]
        globs += ["*"] if any("/" not in name for name in named) else []
        globs += sorted({f"{name.rpartition('/')[0]}/*.{name.rpartition('.')[2]}" for name in named
                         if "/" in name and "." in name.rpartition("/")[2]})[:MOST_LITERAL]  # fmt: skip
        out["glob"] = self.put(
            "glob", [Way(word(one)) for one in dict.fromkeys(globs)] or [Way(word("**/*"))]
        )
        fresh = (Chars("a-z"), Chars("a-z0-9_", 0, 30), Use("ending"))
        self.put("ending", [Way(word(f".{end}")) for end in ("md", "txt", "json", "csv")])
        run = (Literal("run"), Literal("}"), Literal("/"))
        out["new"] = self.put("newfile", [Way(word("out/", *fresh)), Way(word("{", *run, *fresh))])
        out["outside"] = self.put(
            "outsidefile", [Way(word("{", *run, Literal("outside/"), *fresh))]
        )
        return out

    def to_read(self, level: int) -> Need:
        """What may be read. What is given to a name for text of the workspace comes from a file that a loop found: any other
        path may be that of a file below `{run}/outside/`."""
        need = self.needs("text")
        return need if level == OUTSIDE else need._replace(name="file", made="file")

    def path(self, access: str, level: int) -> list[Item]:
        """What may stand for a path that a step reads or writes."""
        out: list[Item] = []
        one = self.reference(self.to_read(level), min(level, 1))
        if access == "read" and "read" in self.files:
            out.append(self.files["read"])
        if access in ("create", "write"):
            out += [self.files["new"]]
        if one is not None and access == "read":
            out.append(one)
        return out

    # ---- conditions --------------------------------------------------------------------

    def condition(
        self, level: int, *, only: bool = False, apart: str = ""
    ) -> tuple[Use, int] | None:
        """A condition over values of a level, and the slots of which one must be bound. `only`: it begins with one that has
        no better level; `apart`: its rules are of their own, because their parameter is not told by the text."""
        self.apart = apart
        mask = self.mask("any", level, only)
        if not mask:
            return None
        atom = self._atom(level, False)
        first = self._atom(level, only)
        joined = self.put("joint", [Way(word(" and ")), Way(word(" or "))])
        ways = [Way((first,)), Way((first, joined, atom)), Way((first, joined, atom, joined, atom))]
        self.apart = ""
        return self.put(f"condition_{level}" + "_only" * only + apart, ways), mask

    def _atom(self, level: int, only: bool) -> Use:
        """One comparison, or a value alone."""
        one = self.reference("any", level, braces=False, only=only)
        assert one is not None
        same = self.reference("compared", level, braces=False, only=only)
        ways = [Way((Literal("not "), one)), Way((one,))]
        ways += [] if same is None else [Way((same, Use("equals"), Use("fixed")))]
        self.put("equals", [Way(word(" == ")), Way(word(" != "))])
        self.put("order", [Way(word(f" {sign} ")) for sign in ("<", "<=", ">", ">=")])
        self.put("fixed", [Way((Literal('"'), Literal('"'))), Way((Literal('"'), Chars(_INNER, 1, 40), Literal('"'))),
                           Way((self.number(),))])  # fmt: skip
        compare = (Use("order"), Use("count"))
        self.put("count", [Way(word("0")), Way((self.number(),))])
        length = self.reference("length", level, braces=False, only=only)
        if length is not None:
            some = Guard(some=(self.mask("length", level, only),))
            ways.append(Way((Literal("len("), length, Literal(")"), *compare), some))
            equal = (Literal("len("), length, Literal(")"), Use("equals"), Use("count"))
            ways += [Way(equal)] if self.place.free else []
        number = self.reference("number", level, braces=False, only=only)
        if number is not None:
            ways += [Way((number, *compare)), Way((number, Use("equals"), Use("count")))]
            ways += [Way((number, Use("order"), number))] if self.place.free else []
        if self.place.free:
            ways.append(Way((one, Use("equals"), one)))
        ways += self._predicates(one)
        return self.put(f"atom_{level}" + "_only" * only + self.apart, ways)

    def _predicates(self, one: Use) -> Iterator[Way]:
        """Predicates of the catalogue; none looks at files where text from outside may stand in them."""
        for name, count in sorted(self.place.predicates.items()):
            if count > 0:
                items: list[Item] = [Literal(f"{name}("), one]
                for _ in range(count - 1):
                    items += [Literal(", "), one]
                yield Way((*items, Literal(")")), Guard(clear=STORES))
