"""Uses of values by type: what no value of a type survives is wrong, what some survive rests on an assumption."""

from __future__ import annotations

from ....diagnostics.diagnostic import Label
from ....diagnostics.span import Span
from ....linking import types
from ....linking.catalogue import Parameter
from ....linking.constants import fold
from ....linking.model import Act, Unit
from ....linking.types import ANY, DIGITS, KINDS, LIST, NULL, NUMBER, OBJECT, OPEN, TEXTS, WORDS
from ....named_tuples import NamedTuple
from ....program.operators import as_number, is_number
from ....syntax.values import Condition, Value
from ....text.patterns import no_pattern
from .known import Known, Operand, Origin, at_fault, pairs, wanted, written
from .names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ....certificate.forms import Value as OperandTree
    from ....syntax.conditions import ConditionTree
    from ....syntax.tree import Statement

_HAS_LENGTH = NULL | TEXTS | LIST | OBJECT


CONTENT = {
    "pattern": "a regular expression",
    "filled": "more than white space",
    "count": "a number from 1",
}
"""By form of a parameter: what a text of a run has to be, which its type does not tell."""

MADE = {"list": (LIST, "a list"), "object": (OBJECT, "an object")}
"""By form of a parameter that takes no text: the kind of its values, and its name."""


class Wrong(NamedTuple):
    """A use that no value survives; `at` is where, in whatever plan."""

    span: Span
    message: str
    labels: tuple[Label, ...]
    at: Span


class Need(NamedTuple):
    """What a value must be. `form`: the key of `CONTENT` by which a text is judged where a call gives it; `sure`: every
    run that is given such a text comes to the use, or stops before it."""

    phrase: str
    form: str | None = None
    sure: bool = False


Needs = dict[Origin, dict[Need, dict[Span, None]]]
"""By origin of a value: what it must be, and where it is used as that."""


def refused(form: str, text: str) -> str | None:
    """Why a text does not have a form of `CONTENT`; None where it does."""
    if form == "pattern":
        said = no_pattern(text)
        return said and f"`{text[:80]}` is not a regular expression: {said}"
    if form == "count":
        number = as_number(text)
        return None if is_number(number) and number >= 1 else f"`{text[:80]}` is none"
    return None if text.strip() else "the text is empty"


class Uses:
    """The uses in one plan. `wrong`, `needs`: what was found; `keeping`: how many forks around keep their failures;
    `some`: how many conditions and loops around may leave a step out."""

    def __init__(self, unit: Unit, here: Names) -> None:
        self.unit = unit
        self.here = here
        self.wrong: dict[Span, Wrong] = {}
        self.needs: Needs = {}
        self.keeping = 0
        self.some = 0

    def error(self, span: Span, message: str) -> None:
        self.wrong.setdefault(span, Wrong(span, message, (), span))

    def need(self, origins: tuple[Origin, ...], span: Span, need: Need | str) -> None:
        """An assumption about each origin; none where a failure is kept, because the run goes on after it."""
        if self.keeping:
            return
        need = Need(need) if isinstance(need, str) else need
        for origin in origins or (Origin(span, "what is compared here"),):
            self.needs.setdefault(origin, {}).setdefault(need, {}).setdefault(span)

    def use(self, known: Known, fits: int, span: Span, name: str, expected: str, why: str) -> None:
        """A value used where only the kinds in `fits` survive. `expected`: what it has to be; `why`: who
        wants that."""
        kinds = known.type.kinds
        if kinds & KINDS & ~fits or not kinds & KINDS and kinds & OPEN:
            if kinds & fits or kinds & OPEN:
                self.need(known.blamed(KINDS & ~fits), span, f"`{name}` is {expected}")
            else:
                fields = ", ".join(f"`{name}.{field}`" for field, _ in known.type.fields or ())
                has = f", with {fields}" if fields else ""
                self.error(span, f"{why}, and `{name}` is {types.shown(known.type)}{has}")

    def argument(self, node: Act, parameter: Parameter, value: Value) -> None:
        """An argument that is one reference: what is not text may be refused by the tool before it begins."""
        ref = self.here.single(value)
        known = None if ref is None else self.here.look(ref.path)
        tool = node.bound.tool
        if parameter.form in CONTENT and value.literal is None:
            self.content(node, parameter, value, known)
        if ref is None:
            if parameter.form in MADE and value.literal is None:
                place = self.unit.at(node.step, value.start, value.end)
                what = MADE[parameter.form][1]
                self.error(
                    place, f"`{parameter.name}` of `{tool.name}` takes {what}, and this is text"
                )
            return
        texts = known is not None and known.type.kinds & ~TEXTS == 0
        if known is None or texts and parameter.kind != "number" and parameter.form not in MADE:
            return
        name, span = ".".join(ref.path), self.unit.at(node.step, ref.start, ref.end)
        fits, expected, why = (
            KINDS,
            "not null",
            f"`{parameter.name}` of `{tool.name}` needs a value",
        )
        if parameter.text:
            fits, expected, why = (
                TEXTS | NULL,
                "text",
                f"`{parameter.name}` of `{tool.name}` takes text",
            )
        if parameter.form in MADE:
            kind, expected = MADE[parameter.form]
            fits, why = kind | NULL, f"`{parameter.name}` of `{tool.name}` takes {expected}"
        if parameter.required:
            fits &= ~NULL
        if (
            parameter.kind == "number"
            and parameter.form not in CONTENT
            and known.type.kinds & KINDS & ~(NUMBER | DIGITS | NULL)
        ):
            bad = KINDS & ~(NUMBER | DIGITS | NULL)
            self.need(
                known.blamed(bad), span, f"`{name}` is a number"
            )  # what is none may be refused, or not
        self.use(
            known, fits, span, name, "a number" if parameter.kind == "number" else expected, why
        )

    def some_given(self, node: Act) -> None:
        """A tool that needs one of several arguments, where each that it is given may be null."""
        tool, null = node.bound.tool, []
        for name in tool.need_one_of:
            value = node.bound.arguments.get(name)
            ref = None if value is None else self.here.single(value)
            known = None if ref is None else self.here.look(ref.path)
            if value is not None and (known is None or not known.type.kinds & (NULL | OPEN)):
                return
            if ref is not None and known is not None:
                null.append((known.type.kinds & ~NULL != 0, known, ref))
        if null:
            _, known, ref = max(null, key=lambda given: given[0])
            why = f"`{tool.name}` needs {' or '.join(f'`{name}`' for name in tool.need_one_of)}"
            span = self.unit.at(node.step, ref.start, ref.end)
            self.use(known, KINDS & ~NULL, span, ".".join(ref.path), "not null", why)

    def content(self, node: Act, parameter: Parameter, value: Value, known: Known | None) -> None:
        """A text whose content the tool refuses or not, which no type says."""
        if parameter.form == "filled" and any(
            isinstance(part, str) and part.strip() for part in value.parts
        ):
            return
        bad = KINDS & ~NULL if parameter.form == "count" else WORDS
        if known is not None and not known.type.kinds & (bad | OPEN):
            return
        place = self.unit.at(node.step, value.start, value.end)
        shown = value.text if known is None else value.text[1:-1]
        here = Origin(place, f"`{parameter.name}` of `{node.bound.tool.name}`")
        origins = (here,) if known is None else known.blamed(bad)
        form = str(parameter.form)
        own = known is not None and not known.parts and shown == known.origin.param
        need = Need(f"`{shown}` is {CONTENT[form]}", form if own else None, own and not self.some)
        self.need(origins, place, need)

    # ---- conditions --------------------------------------------------------------------

    def condition(self, node: Statement, condition: Condition | None) -> None:
        if condition is not None:
            self.holds(node, condition, condition.tree)

    def holds(self, node: Statement, whole: Condition, tree: ConditionTree) -> None:
        """The uses in a condition, as far as it is read."""
        if "test" in tree:
            self.compare(node, whole, tree)
        elif "value" in tree:
            self.operand(node, whole, tree["value"])
        elif "not" in tree:
            self.holds(node, whole, tree["not"])
        else:
            ends = "or" in tree
            for part in tree["or" if ends else "and"]:
                self.holds(node, whole, part)
                if fold(part) is ends:
                    break

    def operand(self, node: Statement, whole: Condition, tree: OperandTree) -> Operand:
        """What is known of an operand."""
        span = self.unit.span(node)
        if "ref" in tree:
            path = tuple(tree["ref"])
            ref = next((ref for ref in whole.refs if ref.path == path), None)
            known = self.here.look(path)
            return (
                known,
                ANY if known is None else known.type,
                ".".join(path),
                self.unit.at(node, *ref[1:]) if ref else span,
            )
        if "const" in tree:
            return None, types.of_constant(tree["const"]), written(tree["const"]), span
        if "len" in tree:
            inner, kind, name, place = self.operand(node, whole, tree["len"])
            if inner is not None and inner.type is not kind:
                inner = Known(kind, inner.origin)
            self.use(inner or Known(kind, Origin(place, "the value")), _HAS_LENGTH, place, name,
                     "a text, a list or an object", "`len` counts items, characters or fields")  # fmt: skip
            return inner, types.COUNT, f"len({name})", place
        for one in tree["args"]:
            self.operand(node, whole, one)
        return (
            Known(ANY, Origin(span, f"the answer of `{tree['call']}`")),
            ANY,
            f"{tree['call']}(...)",
            span,
        )

    def compare(self, node: Statement, whole: Condition, tree: ConditionTree) -> None:
        operator = tree["test"]
        left, right = (
            self.operand(node, whole, tree["left"]),
            self.operand(node, whole, tree["right"]),
        )
        if operator in ("==", "!="):
            return
        beside = pairs(operator, left[1], right[1])
        opened = (left[1].kinds | right[1].kinds) & OPEN
        if all(fine for *_, fine in beside) and (beside or not opened):
            return
        if opened or any(fine for *_, fine in beside):
            fault, other = at_fault(left, right, beside, first=right if operator == "in" else left)
            bad = sum({(two if fault is right else one) for one, two, fine in beside if not fine})
            origins = fault[0].blamed(bad) if fault[0] else ()
            self.need(
                origins, fault[3], f"`{fault[2]}` is {wanted(operator, fault is right, other)}"
            )
            return
        said = f"`{left[2]}` is {types.shown(left[1])} and `{right[2]}` is {types.shown(right[1])}"
        what = "that cannot contain anything" if operator == "in" else "these have no order"
        self.error((left if left[0] else right)[3], f"{said}: {what}")
