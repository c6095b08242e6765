"""A source and what it knows, counted once: what could stand elsewhere in it."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import re
from collections import Counter
from difflib import SequenceMatcher

from . import expected
from .ranking import stores
from .ranking.lines import Lines
from .source import OWN, Function, Piece, Source, name_of

BUILTINS = frozenset(dir(builtins))
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
NEAR = 3
"""How deep in a value a name still speaks of it."""
OF_ORDER = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}  # fmt: skip
"""What special methods compare by."""
OWED = {
    "__str__": "str", "__repr__": "repr", "__len__": "len", "__iter__": "iter", "__bool__": "bool", "__hash__": "hash",
    "__int__": "int", "__float__": "float", "__next__": "next", "__reversed__": "reversed",
}  # fmt: skip
"""What most often makes the value of a special method."""


class Known(Source):
    """What a file does elsewhere is likelier than what it does nowhere (Hindle and others, 2012)."""

    def __init__(self, text: str, message: str = "", told: str = "") -> None:
        super().__init__(text)
        self.lines = Lines(text)
        self.overwritten = stores.overwritten(self.nodes)
        self.message = message
        self.told = expected.Told(f"{message}\n{told}")
        self.members: dict[str, Counter[str]] = {}
        self.with_member: dict[str, set[str]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.called: Counter[str] = Counter()
        self.methods_called: set[str] = set()
        self.numbers: Counter[int] = Counter()
        self.texts: set[str] = set()
        self.words: set[str] = set()
        self.top: set[str] = set()
        self.raised: Counter[str] = Counter()
        self.defined: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.classes = [one.name for one in self.nodes if isinstance(one, ast.ClassDef)]
        self.donors: dict[tuple[object, ...], list[tuple[str, float]]] = {}
        """Statements that could stand in a place (`forgotten.statement.donors`), by what they depend on of it."""
        self._given: dict[ast.AST, str] = {}
        self._strange: dict[ast.AST, frozenset[str]] = {}
        self._reads: dict[ast.AST, Counter[str]] = {}
        self._owned: dict[ast.ClassDef, tuple[set[str], set[str], set[str]]] = {}
        for node in self.nodes:
            self._count(node)
        for one in self.nodes:
            outside = self.scope(one) is None and self.owner(one) is None
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and outside:
                self.top.add(one.id)
            self.top.update(one.names if isinstance(one, ast.Global) else ())
        self.everywhere = self.top | BUILTINS

    def _count(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            self.members.setdefault(self.segment(node.value), Counter())[node.attr] += 1
            self.words.add(node.attr)
            if isinstance(node.value, ast.Name):
                self.with_member.setdefault(node.attr, set()).add(node.value.id)
        elif isinstance(node, ast.Call):
            self.calls.setdefault(self.segment(node.func), []).append(node)
            if isinstance(node.func, ast.Name):
                self.called[node.func.id] += 1
                self._count_asked(node.func.id, node.args)
            self.methods_called |= (
                {node.func.attr} if isinstance(node.func, ast.Attribute) else set()
            )
        elif isinstance(node, ast.Constant):
            if type(node.value) is int:
                self.numbers[node.value] += 1
            elif isinstance(node.value, str):
                self.texts.add(node.value)
                self.words.update(_WORD.findall(node.value) if len(node.value) < 400 else ())
        elif isinstance(node, ast.Name):
            self.words.add(node.id)
        elif isinstance(node, ast.arg):
            self.words.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.top |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            self.raised[name_of(node.exc.func)] += 1
        elif isinstance(node, Function | ast.ClassDef):
            self.words.add(node.name)
            if isinstance(self.parents.get(node), ast.Module | ast.If | ast.Try):
                self.top.add(node.name)
            if isinstance(node, Function):
                self.defined[node.name] = node

    def _count_asked(self, called: str, given: list[ast.expr]) -> None:
        """A member that a call asks for by its name."""
        asked = given[1] if called in ("hasattr", "getattr") and len(given) > 1 else None
        if isinstance(asked, ast.Constant) and str(asked.value).isidentifier():
            self.members.setdefault(self.segment(given[0]), Counter())[str(asked.value)] += 1

    @functools.cached_property
    def imported(self) -> dict[str, str]:
        """What the names stand for that the file imports: a module, or a module, a colon and a member."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue  # these are of the compiler, and nothing reads them
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                if isinstance(node, ast.ImportFrom):
                    whole = f"{node.module}:{alias.name}"
                found[alias.asname or whole.rpartition(":")[2]] = whole
        return found

    @functools.cached_property
    def members_imported(self) -> list[str]:
        """The names that the file imports from modules: a module cannot be called, what is in it may be."""
        return [name for name, whole in self.imported.items() if ":" in whole]

    @functools.cached_property
    def ors(self) -> list[ast.BoolOp]:
        """The values of the file that have a default."""
        return [one for one in self.nodes if isinstance(one, ast.BoolOp) and isinstance(one.op, ast.Or)]  # fmt: skip

    @functools.cached_property
    def idle_imports(self) -> list[str]:
        """The members of modules that the file imports and that nothing in it reads or exports: most 4."""
        read = {one.id for one in self.nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}  # fmt: skip
        return [one for one in self.members_imported if one not in read | self.texts][:4]

    @functools.cached_property
    def taking_one(self) -> list[str]:
        """The functions of the module that can be called with one argument."""
        return self.taking(1)

    def taking(self, count: int) -> list[str]:
        """The functions of the module that can be called with so many arguments."""
        found = []
        for name, one in self.defined.items():
            placed = one.args.posonlyargs + one.args.args
            needed = len(placed) - len(one.args.defaults)
            named = any(default is None for default in one.args.kw_defaults)
            fits = needed <= count <= len(placed) or (
                one.args.vararg is not None and needed <= count
            )
            if self.parents.get(one) is self.tree and fits and not named and placed:
                found.append(name)
        return found

    @functools.cached_property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters of the functions and classes of the file, without `self`, by their names."""
        found: dict[str, list[str]] = {}
        for node in (one for one in self.nodes if isinstance(one, Function)):
            owner = self.owner(node) if node.name == "__init__" else None
            taken = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found[owner.name if owner else node.name] = [one.arg for one in taken if one.arg not in OWN]  # fmt: skip
        return found

    @functools.cached_property
    def moduli(self) -> set[int]:
        """The numbers that the file takes a rest by, most 8."""
        found = {
            one.right.value for one in self.nodes
            if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) and isinstance(one.right, ast.Constant)
            and type(one.right.value) is int and one.right.value > 2
        }  # fmt: skip
        return set(sorted(found)[:8])

    @functools.cached_property
    def data(self) -> set[str]:
        """The names that the module itself gives a value."""
        stored = {
            one.id for part in getattr(self.tree, "body", ()) if isinstance(part, ast.Assign | ast.AnnAssign)
            for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }  # fmt: skip
        return stored & self.top

    @functools.cached_property
    def given_calls(self) -> list[str]:
        """The calls, as they are written, that other calls of the file are given most often."""
        given = (one for calls in self.calls.values() for call in calls for one in call.args)
        texts = (self.segment(one) for one in given if isinstance(one, ast.Call))
        count = Counter(text for text in texts if "\n" not in text and len(text) <= 30)
        return [text for text, _ in count.most_common(12)]

    @functools.cached_property
    def calls_of_one(self) -> list[tuple[str, list[ast.Call]]]:
        """What the file calls with one argument, as it is written on one line, with these calls."""
        given = (
            (text, [call for call in calls if len(call.args) == 1 and not call.keywords])
            for text, calls in self.calls.items()
            if not set(text) & set("\n({[")
        )
        return [(text, calls) for text, calls in given if calls]

    @functools.cached_property
    def calls_of_members(self) -> dict[str, list[str]]:
        """What the file calls of a name that has no dot: by that name."""
        found: dict[str, list[str]] = {}
        for called in self.calls:
            if called.count(".") == 1:
                found.setdefault(called.partition(".")[0], []).append(called)
        return found

    def yields(self, name: str) -> bool:
        """True for a function of the file that yields."""
        inside = ast.walk(self.defined[name]) if name in self.defined else ()
        return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside)

    @functools.cached_property
    def named(self) -> dict[str, list[ast.Call]]:
        """The calls of the file by the last name of what they call."""
        found: dict[str, list[ast.Call]] = {}
        for one in (call for calls in self.calls.values() for call in calls):
            found.setdefault(name_of(one.func), []).append(one)
        return found

    @functools.cached_property
    def texts_given(self) -> list[str]:
        """The texts, as they are written, that calls of the file are given most often."""
        given = (one for calls in self.calls.values() for call in calls for one in call.args)
        texts = (
            one for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)
        )
        count = Counter(
            text for one in texts if "\n" not in (text := self.segment(one)) and len(text) < 16
        )
        return [text for text, _ in count.most_common(8)]

    def owed(self, node: ast.AST) -> str:
        """What makes the value that Python asks of a special method; empty where it asks for none."""
        function = self.function(node)
        return OWED.get(function.name, "") if function is not None else ""

    @functools.cached_property
    def asked(self) -> list[tuple[ast.AST, str, set[str]]]:
        """The conditions of the file, with their text and names."""
        within = ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.comprehension
        return [
            (one, said, {part.id for part in ast.walk(one) if isinstance(part, ast.Name)})
            for one in self.nodes
            if isinstance(one, ast.Compare | ast.UnaryOp | ast.Call) and isinstance(self.parents.get(one), within)
            and "\n" not in (said := self.segment(one)) and len(said) <= 80
        ]  # fmt: skip

    def owned(self, owner: ast.ClassDef) -> tuple[set[str], set[str], set[str]]:
        """A class's methods, and the members of `self` that it reads and that it stores, it or its bases in the file."""
        if owner not in self._owned:
            found = [one for one in owner.body if isinstance(one, Function)]
            data = {one.name for one in found if any("property" in name_of(by) for by in one.decorator_list)}  # fmt: skip
            methods = {one.name for one in found} - data
            bound = (part for part in owner.body if isinstance(part, ast.Assign | ast.AnnAssign))
            named = (one for part in bound for one in ast.walk(part) if isinstance(one, ast.Name))
            stored = data | {one.id for one in named if isinstance(one.ctx, ast.Store)}
            read: set[str] = set()
            inside: list[ast.AST] = [*owner.body]
            while inside:
                one = inside.pop()
                if isinstance(one, ast.ClassDef):
                    continue  # a class in it has members of its own
                inside += ast.iter_child_nodes(one)
                if (
                    isinstance(one, ast.Attribute)
                    and isinstance(one.value, ast.Name)
                    and one.value.id in OWN
                ):
                    (read if isinstance(one.ctx, ast.Load) else stored).add(one.attr)
            self._owned[owner] = methods, read, stored
            bases = {name_of(one) for one in owner.bases}
            for base in (one for one in self.nodes if isinstance(one, ast.ClassDef) and one.name in bases):  # fmt: skip
                for own, more in zip((methods, read, stored), self.owned(base), strict=True):
                    own |= more
        return self._owned[owner]

    def bound_beside(self, node: ast.stmt) -> set[str]:
        """The names that the other branch of a statement's `if` or `try` binds, and its own does not."""
        up = self.parents.get(node)
        own: list[ast.stmt] = [node]
        other: list[ast.stmt] = []
        if isinstance(up, ast.ExceptHandler):
            own, other = up.body, getattr(self.parents[up], "body", [])
        elif isinstance(up, ast.If):
            own, other = (up.body, up.orelse) if node in up.body else (up.orelse, up.body)
        here, there = ({name for one in block for name in self.names_stored(one)} for block in (own, other))  # fmt: skip
        return there - here

    def names_stored(self, function: ast.AST) -> set[str]:
        """The names that a function binds in its statements."""
        found = (one for one in ast.walk(function) if isinstance(one, ast.Name))
        return {one.id for one in found if isinstance(one.ctx, ast.Store)}

    def reads(self, function: ast.AST) -> Counter[str]:
        """The names that a function reads, in the order of the text, and how often."""
        if function not in self._reads:
            names = [one for one in ast.walk(function) if isinstance(one, ast.Name)]
            names.sort(key=lambda one: (one.lineno, one.col_offset))
            self._reads[function] = Counter(
                one.id for one in names if isinstance(one.ctx, ast.Load)
            )
        return self._reads[function]

    def copies(self, node: ast.AST, pieces: tuple[Piece, ...]) -> int:
        """2 where an edit makes a long line that is like no other the same as another one of its function, in a statement
        that is not the same: what was written by copying a line and exchanging words has most often such a twin. 1 where it makes
        it the same as one of another function. 0 for neither."""
        was, twins = self.lines.twins(pieces)
        function, at = self.function(node), self.statement(node)
        if not twins or function is None or at is None:
            return 0
        within = [function.lineno <= one <= (function.end_lineno or 0) for one in twins]
        if any(within):  # the same statement twice says nothing
            return 2 if self.segment(at).strip() != was else 0
        return 1

    def is_asked(self, node: ast.AST) -> bool:
        """True where nothing but the truth of a value counts."""
        up = self.parents.get(node)
        if isinstance(up, ast.BoolOp) or (
            isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not)
        ):
            return self.is_asked(up)
        return isinstance(up, ast.If | ast.While | ast.IfExp) and up.test is node

    def given_to(self, node: ast.AST) -> str:
        """The name that a value is given to: of a keyword, a variable or a member; of the function, where it is returned."""
        if node not in self._given:
            self._given[node] = self._receiver(node)
        return self._given[node]

    def _receiver(self, node: ast.AST) -> str:
        at = node
        for up in itertools.islice(self.around(node), NEAR):
            if isinstance(up, ast.keyword):
                return up.arg or ""
            if isinstance(up, ast.Assign) and at is up.value and len(up.targets) == 1:
                return name_of(up.targets[0])
            if isinstance(up, ast.Return):
                return getattr(self.function(up), "name", "")
            at = up
        return ""

    def across(self, node: ast.AST) -> str:
        """The name on the other side of an assignment between a name and a member, which mostly say the same; else nothing."""
        up = self.parents.get(node)
        if isinstance(up, ast.Assign) and len(up.targets) == 1:
            other = up.targets[0] if node is up.value else up.value
            asked = (
                other.args[1:2]
                if isinstance(other, ast.Call) and name_of(other.func) == "getattr"
                else []
            )
            if asked and isinstance(asked[0], ast.Constant):
                return str(asked[0].value) if str(asked[0].value).isidentifier() else ""
            return name_of(other) if isinstance(other, ast.Attribute) or isinstance(node, ast.Attribute) else ""  # fmt: skip
        return (up.arg or "") if isinstance(up, ast.keyword) else ""

    def is_flag(self, node: ast.AST) -> bool:
        """True for the value of a name or member that gets a truth value elsewhere in the file."""
        up = self.parents.get(node)
        name = name_of(up.targets[0]) if isinstance(up, ast.Assign) else ""
        given = (one.value for one in self.nodes if isinstance(one, ast.Assign) and name_of(one.targets[0]) == name)  # fmt: skip
        return bool(name) and any(isinstance(getattr(one, "value", None), bool) for one in given)

    def unknown(self, node: ast.AST) -> list[str]:
        """Names that the function around a node reads, and that nothing binds."""
        function = self.function(node)
        if function is None:
            return []
        bound = (
            {name for one in ast.walk(function) for name in stores.bound(one)}
            | self.names(node).keys()
            | self.everywhere
        )
        return [name for name in self.reads(function) if name not in bound]

    def fits(self, node: ast.AST, place: ast.AST) -> bool:
        """True where all names that a node reads are known in another place, or it binds them itself."""
        strange = self._strange.get(node)
        if strange is None:
            strange = frozenset(self.needs(node)) - self.everywhere
            self._strange[node] = strange
        if not strange or not (strange := strange - self.names(place).keys()):
            return True
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        return strange <= {one.id for one in names if not isinstance(one.ctx, ast.Load)}


@functools.lru_cache(maxsize=1 << 14)
def alike(one: str, other: str) -> float:
    """How alike two words are, 0 to 1."""
    return SequenceMatcher(None, one, other).ratio()
