"""The kinds of edits that the proposer knows, and what each says: the relation that it alters, its claim, its effect (HYP-20)."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """`relation`: one of HYP-20's; `operation`: what is done to it; the rest are sentences, `{old}` and `{new}` are code."""

    relation: str
    operation: str
    claim: str
    effect: str
    intent: str


KINDS = {
    "comparison": Kind("ordering", "rebind_operator", "`{old}` compares with the wrong operator, `{new}` is meant",
                       "operands that `{old}` and `{new}` judge differently take the other branch",
                       "Rebind the operator of a comparison, so that its operands are ordered otherwise."),
    "boolean": Kind("grouping", "rebind_operator", "`{old}` groups its conditions wrongly, `{new}` is meant",
                    "the condition holds where `{new}` does", "Rebind the operator that groups two conditions."),
    "arithmetic": Kind("grouping", "rebind_operator", "`{old}` computes with the wrong operator, `{new}` is meant",
                       "the value is that of `{new}`", "Rebind the operator between two operands."),
    "operand": Kind("nesting", "remove_operand", "`{old}` has an operand too many, `{new}` is meant",
                    "the value is that of `{new}`", "Take the nested operand out of its expression."),
    "bound": Kind("ordering", "shift_bound", "`{old}` is off by one, `{new}` is meant",
                  "the element or count at the boundary is that of `{new}`", "Shift the bound by one position in the order."),
    "constant": Kind("ownership", "rebind_constant", "the constant `{old}` is the wrong one, `{new}` is meant",
                     "what depends on the constant follows `{new}`", "Rebind the value that the place owns to another constant."),
    "negation": Kind("nesting", "invert_condition", "`{old}` is the opposite of the condition, `{new}` is meant",
                     "the branches under the condition change places", "Invert the condition that branches are nested under."),
    "condition": Kind("nesting", "rebind_condition", "`{old}` asks the wrong question, `{new}` is meant",
                      "empty values and None take different branches", "Rebind the condition that the branch is nested under."),
    "name": Kind("scope", "rebind_name", "`{old}` is the wrong name of its scope, `{new}` is meant",
                 "the value of `{new}` is used there", "Rebind the reference to another name of the same scope."),
    "attribute": Kind("ownership", "rebind_attribute", "`{old}` asks for the wrong member of its owner, `{new}` is meant",
                      "the member `{new}` answers", "Rebind the member that the owner is asked for."),
    "callee": Kind("ownership", "rebind_callee", "`{old}` is the wrong function, `{new}` is meant",
                   "the result is that of `{new}`", "Rebind the callee; its arguments stay."),
    "arguments": Kind("ordering", "swap_arguments", "the order in `{old}` is wrong, `{new}` is meant",
                      "each receives the value that the other one had", "Exchange the order of two neighbours."),
    "argument": Kind("nesting", "remove_argument", "`{old}` passes an argument too many, `{new}` is meant",
                     "the callee's own default holds", "Take one argument out of the call."),
    "added": Kind("nesting", "add_argument", "`{old}` passes an argument too few, `{new}` is meant",
                  "the callee follows `{new}`", "Nest one more argument in the call."),
    "unwrapped": Kind("nesting", "unwrap_call", "the call in `{old}` is one too many, `{new}` is meant",
                      "the value is used as it is", "Take the expression out of the call that encloses it."),
    "branches": Kind("ordering", "swap_branches", "the branches of `{old}` are in the wrong order, `{new}` is meant",
                     "each case receives the other one's value", "Exchange the order of the two branches."),
    "regroup": Kind("grouping", "introduce_parentheses", "`{old}` groups its operands wrongly, `{new}` is meant",
                    "the inner operation is done first", "Regroup the operands, so that another operation binds first."),
    "sign": Kind("ordering", "turn_sign", "`{old}` has the wrong sign, `{new}` is meant",
                 "the value counts in the other direction", "Turn the direction in which the value counts."),
    "slice": Kind("ordering", "drop_bound", "a bound of `{old}` is one too many, `{new}` is meant",
                  "the slice reaches to the end of the order", "Let the slice go to the end of the ordered elements."),
    "assignment": Kind("ownership", "rebind_assignment", "`{old}` updates its target wrongly, `{new}` is meant",
                       "the target owns the value of `{new}`", "Rebind how the target comes to its value."),
    "exception": Kind("scope", "rebind_handler", "`{old}` is the wrong exception, `{new}` is meant",
                      "the other exception is the one within scope", "Change which exception the handler's scope is about."),
    "flow": Kind("nesting", "rebind_jump", "`{old}` leaves the wrong block, `{new}` is meant",
                 "the enclosing loop goes on otherwise", "Change which enclosing block is left."),
    "return": Kind("scope", "return_value", "`{old}` keeps its value in its own scope, `{new}` is meant",
                   "the caller receives the value", "Hand the value out of the function's scope with a return."),
    "removed": Kind("nesting", "remove_statement", "`{old}` is one statement too many",
                    "what follows happens without `{old}`", "Take one statement out of its block."),
    "restored": Kind("nesting", "restore_statement", "in place of `{old}` a statement is missing, `{new}` is meant",
                     "`{new}` happens there", "Put a statement back into the block that was left empty."),
    "wrapped": Kind("nesting", "wrap_in_call", "`{old}` is used as it is, `{new}` is meant",
                    "the value is that of `{new}`", "Nest the expression in a call."),
    "narrowed": Kind("grouping", "add_condition", "`{old}` leaves a condition out, `{new}` is meant",
                     "the branch is taken where `{new}` holds", "Group the condition with another one of the same function."),
    "order": Kind("ordering", "swap_statements", "`{old}` comes too early, after `{new}` is meant",
                  "`{new}` happens first", "Exchange the order of two statements."),
    "nesting": Kind("nesting", "move_out_of_block", "`{old}` is nested one block too deep",
                    "`{old}` happens once the block is done", "Move the last statement of a block behind the block."),
    "nested": Kind("nesting", "move_into_block", "`{old}` belongs into the block before it",
                   "`{old}` happens only where the block does", "Move a statement into the block before it."),
    "import": Kind("scope", "import_name", "a name is used and never imported; `{new}` is missing",
                   "the name of `{new}` is known in the module", "Bring the name into the scope of the module."),
    "pattern": Kind("grouping", "rebind_pattern", "the pattern `{old}` matches the wrong texts, `{new}` is meant",
                    "texts that only `{new}` matches are taken otherwise", "Regroup what a part of the pattern stands for."),
    "widened": Kind("grouping", "add_alternative", "`{old}` leaves an alternative out, `{new}` is meant",
                    "what `{new}` allows is taken as well", "Group the value with another one that is treated alike."),
    "lookup": Kind("ownership", "default_lookup", "`{old}` fails where nothing is stored, `{new}` is meant",
                   "what is not stored gives None", "Ask the owner for a member that it may not have."),
    "guarded": Kind("nesting", "leave_early", "a case that ends it is missing; `{new}` is meant",
                    "the block is left where `{new}` holds", "Guard what follows with a case that leaves the block."),
    "inserted": Kind("nesting", "insert_statement", "a statement is missing before it; `{new}` is meant",
                     "`{new}` happens first", "Nest one more statement in the block."),
    "lost": Kind("nesting", "insert_statement", "a statement is missing; `{new}` is meant",
                 "`{new}` happens there", "Put a statement back that the function lacks."),
    "base": Kind("nesting", "add_base_case", "no case ends the recursion; `{new}` is missing",
                 "the recursion ends where `{new}` holds", "Guard the recursion with a case that returns at once."),
}  # fmt: skip

_OTHERS = """
<  <= .9, > .55, >= .45, != .2, == .2
<= < .9, >= .55, > .45, == .25, != .15
>  >= .9, < .55, <= .45, != .2, == .2
>= > .9, <= .55, < .45, == .25, != .15
== != .8, >= .3, <= .3, > .2, < .2, in .1, is .08
!= == .8, < .25, > .25, <= .2, >= .2, not in .08
is is not .8, == .15
is not is .8, != .15
in not in .8, == .12
not in in .8, != .12
and or .7
or and .7
+  - .6, * .3, // .15, / .15, % .15
-  + .6, % .15, * .15, // .15, / .15
*  / .3, + .3, // .25, - .2, % .2, ** .15
/  // .45, * .35, + .3, - .25, % .2
// / .45, % .45, + .3, - .25, * .25
%  // .45, + .3, / .25, * .25, - .25
** * .4
<< >> .6
>> << .6
&  | .6, ^ .25
|  & .6, ^ .25
^  | .3, & .3
+= -= .6, = .35, *= .12, //= .12, /= .12, %= .12
-= += .6, = .35, *= .12, //= .12, /= .12, %= .12
*= /= .6, += .6, -= .3, //= .12, %= .12
/= *= .6, //= .6, += .3, -= .3
//= /= .6, %= .6, += .3, -= .3, *= .12
%= //= .6, += .3, -= .3
|= &= .6, = .35, += .3
&= |= .6, = .35
<<= >>= .6
>>= <<= .6
^= |= .6
**= *= .6
"""


def _read(line: str) -> tuple[str, tuple[tuple[str, float], ...]]:
    head, *rest = line.split(", ")
    words = head.split()
    two = words[:2] in (["is", "not"], ["not", "in"]) and len(words) > 3
    token, first = (words[:2], words[2:]) if two else (words[:1], words[1:])
    rows = [first, *(one.split() for one in rest)]
    return " ".join(token), tuple((" ".join(row[:-1]), float(row[-1])) for row in rows)


OTHERS = dict(_read(line) for line in _OTHERS.strip().splitlines())
"""By operator: those that it is mistaken for, with how often."""

_ALIKE = (
    "append extend insert add", "lower upper casefold title capitalize swapcase", "strip lstrip rstrip",
    "find rfind index rindex", "split rsplit partition rpartition splitlines", "startswith endswith",
    "keys values items", "add discard remove update", "pop popleft", "append appendleft", "get pop setdefault",
    "union intersection difference symmetric_difference", "issubset issuperset isdisjoint", "read readline readlines",
    "encode decode", "isdigit isnumeric isdecimal isalpha isalnum", "ljust rjust center zfill",
    "removeprefix removesuffix", "match search fullmatch findall", "group groups", "start end", "ceil floor trunc",
    "min max", "any all", "sorted reversed list", "int float round", "isinstance issubclass",
    "set list tuple", "str repr", "hasattr getattr", "bisect_left bisect_right", "heappush heappop",
    "islice takewhile dropwhile", "hour minute second", "year month day", "days seconds", "imag real",
    "lineno end_lineno", "popitem pop", "sub subn", "copy deepcopy", "chr ord", "hex oct bin",
)  # fmt: skip
PEERS: dict[str, list[str]] = {}
"""Members that often stand for each other."""
for _row in _ALIKE:
    for _word in _row.split():
        PEERS.setdefault(_word, []).extend(other for other in _row.split() if other != _word)
