"""The table of codes: each with its rule's name, its severity and one line.

A code is never reused. Its first digit is the stage: 1 text and syntax, 2 automata, 3 names,
tools and calls, 4 analyses, 5 protocols, 6 runs,
7 assumptions (not findings, but what a proof depends on), 8 plans of other tools. The long explanation of a rule is
`explain/<rule name>.md` in the package, printed by `fdc explain` and run as a test.
"""

from __future__ import annotations

from ..named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class Code(NamedTuple):
    """One row: the rule's name, the severity of its findings, one line about it."""

    name: str
    severity: Literal["error", "warning", "info", "assumption", "fragment"]
    summary: str


CODES: dict[str, Code] = {
    # 1: text and syntax
    "FDC101": Code("invalid-encoding", "error", "bytes that are not UTF-8, or a control character"),
    "FDC102": Code("byte-order-mark", "error", "a byte order mark inside the text"),
    "FDC103": Code(
        "hidden-character",
        "error",
        "a character that changes how the text looks but cannot be seen",
    ),
    "FDC104": Code("line-ending", "error", "a line separator other than LF or CRLF"),
    "FDC105": Code("tab-indentation", "error", "a tab where indentation counts"),
    "FDC106": Code("over-limit", "error", "a text over a limit, which is not checked"),
    "FDC107": Code(
        "unexpected-indentation", "error", "an indented line below a line that does not take a body"
    ),
    "FDC108": Code("empty-body", "error", "a loop or branch without steps"),
    "FDC109": Code("syntax-error", "error", "a line with invalid syntax"),
    "FDC110": Code("stray-else", "error", "`else` without an `if` above it"),
    "FDC111": Code(
        "misplaced-header",
        "error",
        "a header line below the first step, or a duplicate header line",
    ),
    "FDC112": Code("misplaced-directive", "error", "`# FSM:` below the first line"),
    "FDC113": Code("non-ascii-name", "error", "a name with characters outside ASCII"),
    "FDC114": Code("unused-suppression", "warning", "a suppression without an effect"),
    "FDC115": Code(
        "malformed-suppression", "error", "a suppression without a known code or without a reason"
    ),
    "FDC116": Code("unbounded-loop", "error", "a loop without a maximum number of rounds"),
    "FDC117": Code("computed-call-target", "error", "a sub-plan chosen at run time"),
    "FDC118": Code("empty-plan", "error", "a plan without a step"),
    "FDC119": Code("older-dialect", "error", "a plan in one of the older notations"),
    "FDC121": Code("leading-byte-order-mark", "info", "a byte order mark at the start is accepted"),
    # 2: automata
    "FDC201": Code("missing-automaton", "error", "the automaton's file does not exist"),
    "FDC202": Code("malformed-automaton", "error", "a file in neither form of automata"),
    "FDC203": Code("undeclared-state", "error", "a state that the automaton does not declare"),
    "FDC204": Code("undeclared-symbol", "error", "a symbol outside the automaton's alphabet"),
    "FDC205": Code(
        "nondeterministic-automaton", "error", "two transitions for one state and symbol"
    ),
    "FDC206": Code("unreachable-state", "warning", "a state that no run reaches"),
    "FDC207": Code("dead-state", "warning", "a state from which no run is accepted"),
    "FDC208": Code("duplicate-transition", "warning", "the same transition twice"),
    # 3: names, tools and calls
    "FDC301": Code("unknown-tool", "error", "a tool that no catalogue declares"),
    "FDC302": Code("missing-argument", "error", "a step without an argument that its tool needs"),
    "FDC303": Code("unknown-argument", "error", "an argument that the tool or plan does not take"),
    "FDC304": Code("malformed-argument", "error", "an argument of the wrong kind"),
    "FDC305": Code(
        "missing-text-block", "error", "a step without the text block that its tool needs"
    ),
    "FDC306": Code("forbidden-tool", "error", "a tool that plans must not use"),
    "FDC307": Code("reentrant-command", "error", "a plan that starts fdc in a command"),
    "FDC308": Code("malformed-catalogue", "error", "a catalogue that does not follow its schema"),
    "FDC309": Code(
        "missing-prompt",
        "error",
        "a tool's prompt, or the schema of its reply, that does not exist",
    ),
    "FDC311": Code("unbound-name", "error", "a name that is not bound"),
    "FDC312": Code("possibly-unbound-name", "error", "a name that is not bound on some runs"),
    "FDC313": Code("unused-name", "warning", "a name that is bound and never used"),
    "FDC314": Code("shadowed-name", "warning", "a name bound over another of the same name"),
    "FDC315": Code("unknown-field", "error", "a field that the result does not have"),
    "FDC316": Code(
        "unbound-text-name", "warning", "a placeholder in a text block whose name is not bound"
    ),
    "FDC317": Code("reserved-name", "error", "a name bound that fdc itself binds"),
    "FDC321": Code("missing-plan", "error", "a call of a plan that does not exist"),
    "FDC322": Code("call-cycle", "error", "plans that call each other in a cycle"),
    "FDC323": Code("stack-depth", "error", "a chain of calls deeper than the stack may be"),
    "FDC324": Code(
        "shadowed-plan", "warning", "a registered name that hides a file of the same name"
    ),
    "FDC325": Code("damaged-registry", "error", "a plan registry that cannot be read"),
    "FDC326": Code("refused-call", "error", "a call that the current profile refuses"),
    "FDC327": Code("yield-outside", "error", "a `yield` whose value is not collected"),
    "FDC328": Code("dead-entry", "error", "a registry entry that calls cannot use"),
    "FDC329": Code("missing-registry", "warning", "a workspace without a plan registry"),
    "FDC331": Code(
        "unused-pack", "error", "a tool of a pack that the plan does not name with `use pack`"
    ),
    "FDC332": Code("missing-pack", "error", "a pack that does not exist, or cannot be used"),
    # 4: analyses
    "FDC401": Code(
        "automaton-refuses", "error", "a run makes a step that the automaton does not allow"
    ),
    "FDC402": Code(
        "automaton-unfinished", "error", "a run ends where the automaton does not accept"
    ),
    "FDC403": Code(
        "unclosed-plan",
        "error",
        "a run does not end by closing the task, or continues after its submit",
    ),
    "FDC404": Code(
        "off-alphabet", "error", "a step whose action is not in the automaton's alphabet"
    ),
    "FDC405": Code(
        "fork-interleaving", "error", "parallel branches that the automaton refuses in some order"
    ),
    "FDC411": Code("missing-file", "error", "a run uses a file that does not exist at that point"),
    "FDC412": Code("existing-file", "error", "a run creates a file that exists already"),
    "FDC413": Code("fork-conflict", "error", "parallel branches that write the same file"),
    "FDC414": Code(
        "unproved-file", "assumption", "a command creates a file that a later step uses"
    ),
    "FDC415": Code(
        "not-a-file",
        "error",
        "a path of a file that is, or goes through, something else",
    ),
    "FDC416": Code("outside-path", "error", "a path that leads out of the workspace"),
    "FDC417": Code(
        "protected-file", "error", "a step that changes settings or records of fdc, git or agents"
    ),
    "FDC418": Code(
        "secret-file",
        "error",
        "a step that reads a file with secrets that the plan does not allow by name",
    ),
    "FDC419": Code("unfollowed-calls", "error", "calls that name more files than fdc compares"),
    "FDC421": Code("over-budget", "error", "the worst run costs more than the stated budget"),
    "FDC422": Code("unbudgeted", "error", "a plan without a budget whose worst run is large"),
    "FDC431": Code("model-mismatch", "error", "a tool that the chosen model forbids"),
    "FDC432": Code(
        "complexity-mismatch", "error", "the plan's complexity class differs from the expected one"
    ),
    "FDC441": Code("unverified-write", "warning", "a write that no later step checks"),
    "FDC451": Code("capability", "error", "a step accesses something that `allow` does not name"),
    "FDC461": Code("broken-rule", "error", "a run that breaks a rule of the workspace's protocols"),
    "FDC462": Code("malformed-check", "error", "a check of a protocol's rule that is invalid"),
    "FDC463": Code(
        "unproved-rule",
        "warning",
        "a rule that runs may break: fdc cannot prove that they keep it",
    ),
    "FDC471": Code(
        "untrusted-flow",
        "error",
        "text from outside chooses a command, a path, an address or words to send",
    ),
    "FDC472": Code("untrusted-choice", "error", "text from outside chooses which steps run"),
    "FDC473": Code("unquoted-data", "error", "data in a position where the shell reads code"),
    "FDC474": Code(
        "untrusted-code",
        "error",
        "a command that can see, and so may execute, files with text from outside",
    ),
    "FDC481": Code("wrong-type", "error", "a value whose type does not fit where it is used"),
    "FDC482": Code("failing-gate", "error", "a gate that stops every run that comes to it"),
    "FDC483": Code("idle-gate", "warning", "a gate that never stops a run"),
    "FDC484": Code("failing-argument", "error", "an argument with which the step always fails"),
    "FDC485": Code(
        "missing-script", "error", "a command that runs a file of the workspace that does not exist"
    ),
    # 5: protocols
    "FDC501": Code(
        "malformed-protocol", "error", "a protocol source that does not follow its schema"
    ),
    "FDC502": Code("duplicate-protocol", "error", "an id that two protocols or two rules have"),
    "FDC503": Code(
        "malformed-version", "error", "a `VERSION` that is absent or is not a semantic version"
    ),
    "FDC504": Code(
        "stale-agents-file", "error", "an AGENTS.md that is not what the protocols compile to"
    ),
    "FDC505": Code("oversized-agents-file", "error", "an AGENTS.md that agents would cut off"),
    "FDC506": Code(
        "missing-tool-file",
        "warning",
        "a tool's file that a protocol names and that does not exist",
    ),
    "FDC507": Code(
        "damaged-region", "error", "marks of a hand-written region that do not fit together"
    ),
    "FDC508": Code(
        "foreign-agents-file", "error", "a file in the way of a build that fdc did not write"
    ),
    "FDC509": Code("missing-scope", "error", "a protocol for a folder that does not exist"),
    "FDC510": Code(
        "hidden-agents-file", "warning", "a file that agents read in place of a compiled one"
    ),
    "FDC511": Code(
        "leftover-agents-file",
        "warning",
        "a changed file of an earlier build that has no source any more",
    ),
    "FDC520": Code("undecodable-agents-file", "error", "an AGENTS.md to import that is not UTF-8"),
    "FDC521": Code(
        "unimported-block",
        "warning",
        "a block of an imported file that names a protocol and is not a valid one",
    ),
    "FDC522": Code("malformed-layout", "error", "an invalid `layout.json` beside imported sources"),
    "FDC523": Code(
        "hidden-protocol", "error", "a protocol that readers of the compiled file would not find"
    ),
    "FDC524": Code(
        "active-html", "warning", "HTML in an imported file that a viewer would execute"
    ),
    "FDC530": Code("unreferenced-tool", "warning", "a tool that no protocol names"),
    "FDC531": Code(
        "unowned-rule", "warning", "a rule whose check names a tool that its protocol does not"
    ),
    "FDC532": Code("unresolved-tool", "warning", "the name of a tool that does not exist"),
    "FDC535": Code(
        "unenforced-rule", "error", "a rule that calls itself enforced without a check that works"
    ),
    "FDC536": Code(
        "silenced-rule", "error", "a rule whose check reports codes that the settings ignore"
    ),
    "FDC537": Code("unowned-tool", "warning", "a tool that was used and that no protocol names"),
    "FDC538": Code(
        "unused-tool", "info", "a tool that a protocol names and that no step on record used"
    ),
    "FDC539": Code("vacuous-rule", "info", "a rule that applies to no plan of the workspace"),
    "FDC540": Code(
        "damaged-log-line", "warning", "a line of the activity log that is not an entry"
    ),
    "FDC541": Code("open-task", "info", "a task that was started and never closed"),
    # 7: what a proof rests on, and what is not proved
    "FDC700": Code("fragment", "fragment", "a plan that runs only as a part of others"),
    "FDC702": Code(
        "kept-file", "assumption", "a command does not change the files that the plan uses after it"
    ),
    "FDC703": Code(
        "inside-workspace",
        "assumption",
        "a computed path names a file of the workspace that the step can use",
    ),
    "FDC704": Code("distinct-items", "assumption", "values that are unknown name different files"),
    "FDC706": Code("result-shape", "assumption", "a value has the form in which the plan uses it"),
    "FDC707": Code(
        "program-present", "assumption", "a program that a command needs is on this machine"
    ),
    "FDC711": Code(
        "shipped-automaton",
        "assumption",
        "an automaton of fdc, since the workspace has none of that path",
    ),
    "FDC712": Code("allowed-error", "assumption", "a safety error that the operator allowed"),
    "FDC713": Code("fitting-diff", "assumption", "a diff fits the file when its step comes to it"),
    "FDC715": Code(
        "absent-closer",
        "assumption",
        "a script with which a command closes the task, and that does not exist now",
    ),
    "FDC716": Code(
        "opened-file",
        "assumption",
        "a person approves a change of a protected file that the plan names",
    ),
    # 8: plans of other tools
    "FDC801": Code(
        "unreadable-plan", "error", "a plan of another tool that cannot be read in its form"
    ),
    "FDC802": Code("endless-agents", "error", "a loop that starts agents without a limit"),
    "FDC803": Code(
        "unbounded-workflow", "warning", "a script whose number of agents cannot be bounded"
    ),
    "FDC804": Code("uncapped-agents", "warning", "an agent for each item of a list without a cap"),
    "FDC805": Code("session-model", "warning", "agents for which the script names no model"),
    "FDC811": Code(
        "unknown-dependency", "error", "a task or step that depends on one that does not exist"
    ),
    "FDC812": Code("dependency-cycle", "error", "tasks or steps that depend on each other"),
    "FDC813": Code("duplicate-id", "error", "an id that two tasks or steps have"),
    "FDC814": Code("done-too-early", "error", "a task that is done before what it depends on"),
    "FDC815": Code("finished-plan", "warning", "a finished plan in the folder of open ones"),
    "FDC816": Code("missing-path", "warning", "a path that a plan needs and that does not exist"),
    "FDC817": Code("ungated-effect", "warning", "a step with side effects and no gate before it"),
    "FDC818": Code("text-in-command", "error", "text of another step inside a shell command"),
}

SAFETY = frozenset(("FDC451", "FDC471", "FDC472", "FDC473", "FDC474"))
"""Errors that the operator may allow, in the settings and after a confirmation. No one allows any other error."""

GRADED = frozenset(("FDC461",))
"""Errors whose rule may grade its findings down to warnings."""


def silenced_by_text(code: str) -> bool:
    """True where a comment or `ignore` may silence findings of this code: warnings and notes, never an error."""
    return CODES[code].severity in ("warning", "info") or code in GRADED


BY_NAME: dict[str, str] = {row.name: code for code, row in CODES.items()}
