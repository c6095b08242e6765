"""A program: what a plan compiles to, and the only thing that the engine runs.

A program is JSON (dicts, lists, strings, numbers, booleans, null) with nothing left to look
up: every plan that can be reached, the automata, the tools' declarations and the budget are
in it, and its hash (`program.codec.digest`) names exactly this content.

    program = {
      "format": 1,                            # 2 where a fork keeps failures, which format 1 does not know
      "root": PLAN_ID,
      "plans": {PLAN_ID: plan, ...},
      "automata": {AUTOMATON_ID: {"states": [...], "start": s, "accept": [...],
                                  "transitions": {state: {symbol: state}}}},
      "tools": {NAME: declaration as in the catalogue},
      "predicates": {NAME: declaration},      # those that conditions ask; absent key: none
      "assumptions": [assumption, ...],       # what its proof rests on; absent in programs of 0.1.0
      "stored": [PATH, ...],                  # files that held text from outside when it was proved; absent key: none
      "chosen": [PATH, ...],                  # files that text from outside made or deleted by then; absent key: none
      "rules": [rule, ...],                   # of protocols, which every run of the root keeps; absent key: none
      "untrusted": [GLOB, ...],               # files that hold text from outside, of the settings; absent key: none
      "modules": {PATH: blake2b-256 hex},     # the workspace's Python files that its tools are made of; absent key: none
      "budget": {MEASURE: number},            # steps, model_calls, tokens, money, seconds
      "allow": {"read": [GLOB], "write": [GLOB], "run": [...]},   # absent key: nothing stated
      "sources": {PATH: blake2b-256 hex of the bytes}             # the texts, automata and prompts that it was made of
    }
    assumption = {"rule": NAME, "code": CODE, "text": SENTENCE, "help": TEXT or null, "path": PATH, "line": N,
                  "uses": [[PATH, N], ...]}   # the lines that stop the run where the sentence is false
    rule = {
      "protocol": ID, "rule": ID, "description": TEXT,
      "events": [[event], [event], [event]],  # what `a`, `b` and `c` are; each may be several, or none
      "same": PARAMETER or null,              # one state for each value of this parameter
      "states": [TEXT], "accept": [N],        # it starts in state 0
      "table": [[N or -1]]                    # by letter (a 1, b 2, c 4, added up), by state; -1 breaks the rule
    }
    event = {"name"?, "tool"?, "action"?, "arguments"?: {PARAMETER: GLOB}}   # `name`: of a tool or an action
    plan = {
      "path": PATH, "name": NAME,             # NAME is how messages call it
      "automaton": AUTOMATON_ID or null,      # null: a fragment, runs in the caller's automaton
      "params": [{"name": N, "default": TEXT or null}],
      "allow": {KIND: [GLOB, ...]},           # what it grants, itself and its callees; absent or {}: everything
      "budget": {MEASURE: number},            # of a plan that is called: what each call of it may use; absent: no more is stated
      "body": [instruction, ...]
    }

A PLAN_ID is unique per plan and, where a call states a `depth`, per remaining depth: the call
graph of a program has no cycle. Instructions are dicts with "op" and "line":

    {"op": "step", "tool": N, "action": SYMBOL or null, "bind": NAME or null,
     "args": {PARAMETER: template},           # a text block is the argument of the block parameter
     "evidence": TEXT,                        # what the step rests on; absent where the plan does not say
     "outside": "text" | "choice"}            # it writes text from outside; that text chooses whether it does; absent: neither
    {"op": "call", "plan": PLAN_ID, "name": N, "args": {PARAM: template}, "bind": NAME or null}
    {"op": "skip", "bind": NAME or null}      # a call whose stated depth is used up: binds null
    {"op": "each", "glob": template, "name": NAME, "alias": "file1", "max": N or null, "body": [...]}
    {"op": "for" | "fork", "name": NAME, "in": template, "max": N, "bind": NAME or null, "body": [...],
     "keep": "failures"}                      # of a fork; absent where a branch that stops stops the run
    {"op": "iterate", "max": N, "until": condition or null, "body": [...]}
    {"op": "if", "cond": condition, "then": [...], "else": [...]}
    {"op": "require", "cond": condition, "why": TEXT}
    {"op": "yield", "value": template}

A template is a list of parts: a string stands for itself, {"ref": [NAME, FIELD, ...]} for a
value. A template that is one ref has that value (any JSON); otherwise it is text, with values
that are not strings written as compact JSON. In a command a ref has "quote" too: word, double or
single, where the shell's text has it; its value is written there as (a part of) one word; and "code": true where
that word names the program, or may be read as code. Conditions are

    {"not": c} {"and": [c, ...]} {"or": [c, ...]} {"test": OPERATOR, "left": v, "right": v}
    {"value": v}                              # true when the value is true, non-empty, non-zero
    with values {"ref": [...]}, {"const": JSON}, {"len": v}, {"call": PREDICATE, "args": [v, ...]}

and OPERATOR one of == != < <= > >= in. A number beside a text that spells one is compared as a
number (plan parameters are text). `and` and `or` stop as soon as they know; a predicate that is
reached is an effect, asked once and journaled.

What runs mean. A name belongs to its call of a plan; `run` is bound in every plan, to the run's own folder
as a path of the workspace. Reading a name that no step on this run has bound gives null, and so does a field that is
not there. The names of a loop mean afterwards what they meant before it. A fork's branches
start with the names that the fork sees, and keep theirs to themselves. A `yield` goes to the
nearest `for` or `fork` of its plan, and outside of one is the plan's result (the last one
counts), which the call binds. `each` lists its files once, on entry.

A run stops, and says where, at a `require` that does not hold, a tool that fails, a value that
cannot be used where it stands (an order between a list and a number, a `for` over a text), a loop
with more items than its `max`, and before a step, or at its end, that breaks a rule. A branch of a
fork that stops lets the others end; then the run stops for the first of them in input order. A fork
that keeps failures goes on instead: for a branch that stopped for one of `KEPT`, the list that it binds
has one record, whatever the branch had yielded before:

    {"failed": KIND, "why": TEXT, "item": the branch's item, "at": ADDRESS, "path": PATH, "line": N}
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..certificate.forms import (
        Automaton,
        Condition,
        Instruction,
        Program,
        Ref,
        RuleRow,
        Template,
        Value,
    )
    from ..certificate.forms import Plan as PlanBody
    from ..certificate.forms import Tool as ToolRow
    from ..certificate.forms.rows import Parameter
else:  # what they are at run time, without the time that making the forms takes
    Program = PlanBody = Instruction = Automaton = Condition = dict
    Parameter = Ref = RuleRow = ToolRow = Value = dict
    Template = list

Grant = dict[str, tuple[tuple[tuple[bool, str], ...], ...]]
"""What a plan allows, as the engine asks it: kind to globs, a glob being stretches of (is a value, text); values match
themselves only."""

FORMAT = 1
"""The version of this form. A controller refuses programs of a format it does not know."""

KEEPING = 2
"""The version of programs with a fork that keeps failures."""

LEFT = "left"
"""In a tool's `cost`: a step may use all that is left of that measure's budget, and says itself what it used."""

KEPT = ("failure", "require", "value", "bound", "stalled")
"""Why a branch can stop and be kept. A bug of fdc, a budget and a rule stop the run wherever they are met."""

QUOTES = ("word", "double", "single")
"""Where in a command a reference can stand."""

MAX_STACK = 10
"""MAX_RECURSION_DEPTH of the seeds (FDC-33): plans on the stack, the root counted."""
