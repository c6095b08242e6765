"""Pairs of plans: the second one is weaker, each in a way of its own (`WEAKER`), or no weaker (`HARMLESS`)."""

from __future__ import annotations


def plan(body: str, head: str = 'param a = "x"\n') -> str:
    """A plan with this body, which commits at its end."""
    start = f"# FSM: tooling/fdc_fsm.json\n{head}set_plan Tea\nplan_step_complete ready\n"
    return start + body.replace("'", '"') + "git_commit Tea\nclose_task\nsubmit\n"


def write(text: str, path: str = "out/tea.md") -> str:
    return f"overwrite_file_with_block {path}\n  {text}\n"


def inner(body: str) -> str:
    return "".join(f"  {line}\n" for line in body.splitlines())


ASK, IF_YES = "ok <- request_user_input Fine?\n", "require ok == 'yes' else 'no'\n"
READ, IF_GO = "t <- read_file docs/tea.md\n", "require t == 'go' else 'x'\n"
RUN = "r <- run_in_bash_session make tea\nrequire r.exit_code == 0 else 'x'\n"
LISTS = "l <- list_files docs\nm <- list_files *\n"
CALLED = {
    "two": plan(
        "for_each_file {g}\n  t <- read_file {file1}\n  message_user {t}\n",
        'param g = "docs/*.md"\n',
    ),
    "writes": write("go", "docs/tea.md"),
    "narrow": plan("list_files docs\n", "allow read docs/**\nallow run *\n"),
    "wide": plan("list_files docs\n", "allow read **\nallow run *\n"),
}
WEAKER = [
    (
        "weaker-gate",
        "own write before the read that a gate asks about",
        plan(READ + write("go", "docs/tea.md") + IF_GO),
        plan(write("go", "docs/tea.md") + READ + IF_GO),
    ),
    (
        "weaker-gate",
        "ungated copy of a write with other text",
        plan(ASK + IF_YES + write("Tea")),
        plan(write("Coffee") + ASK + IF_YES + write("Tea")),
    ),
    (
        "weaker-gate",
        "else writes other text",
        plan(ASK + "if ok == 'yes'\n" + inner(write("Tea"))),
        plan(ASK + "if ok == 'yes'\n" + inner(write("Tea")) + "else\n" + inner(write("Coffee"))),
    ),
    (
        "weaker-gate",
        "asked before the person is told",
        plan(READ + "message_user {t}\n" + ASK + IF_YES),
        plan(READ + ASK + IF_YES + "message_user {t}\n"),
    ),
    (
        "weaker-gate",
        "the person is not told",
        plan(READ + "message_user {t}\n" + ASK + IF_YES),
        plan(READ + ASK + IF_YES + "message_user it\n"),
    ),
    (
        "weaker-gate",
        "told something else",
        plan("message_user I delete all\n" + ASK + IF_YES),
        plan("message_user I look\n" + ASK + IF_YES),
    ),
    (
        "weaker-gate",
        "fewer rounds of a carried value",
        plan(
            "iterate max 5\n  state <- run_in_bash_session make tea\nrequire state.exit_code == 0 else 'x'\n"
        ),
        plan(
            "iterate max 2\n  state <- run_in_bash_session make tea\nrequire state.exit_code == 0 else 'x'\n"
        ),
    ),
    (
        "more-access",
        "order of writes around a command",
        plan(
            write("tea:", "Makefile")
            + "run_in_bash_session make tea\n"
            + write("evil:", "Makefile")
        ),
        plan(
            write("evil:", "Makefile")
            + "run_in_bash_session make tea\n"
            + write("tea:", "Makefile")
        ),
    ),
    (
        "more-access",
        "command before the write",
        plan(write("tea:", "Makefile") + "run_in_bash_session make tea\n"),
        plan("run_in_bash_session make tea\n" + write("tea:", "Makefile")),
    ),
    (
        "weaker-gate",
        "glob loop before a file is made",
        plan(
            write("x", "docs/z.md")
            + "for_each_file docs/*.md max 9\n  require file1 != 'docs/z.md' else 'x'\n"
        ),
        plan(
            "for_each_file docs/*.md max 9\n  require file1 != 'docs/z.md' else 'x'\n"
            + write("x", "docs/z.md")
        ),
    ),
    (
        "more-cost",
        "count grows through a parameter of a call",
        plan("call_plan two.plan g=docs/*.md\n"),
        plan("call_plan two.plan g=docs/**/*.md\n"),
    ),
    (
        "more-cost",
        "default of a parameter of a loop",
        plan("for_each_file {g}\n  hello_world\n", 'param g = "docs/*.md"\n'),
        plan("for_each_file {g}\n  hello_world\n", 'param g = "docs/**"\n'),
    ),
    (
        "more-access",
        "glob wider by a class",
        plan("", "allow write out/[ab].md\nallow read **\n"),
        plan("", "allow write out/[abc].md\nallow read **\n"),
    ),
    (
        "weaker-gate",
        "approval behind the act",
        plan(ASK + IF_YES + write("Tea")),
        plan(write("Tea") + ASK + IF_YES),
    ),
    (
        "weaker-gate",
        "constant condition through a name",
        plan("s <- hello_world\nrequire s == 'x' else 'n'\n"),
        plan("s <- hello_world x\nrequire s == 'x' else 'n'\n"),
    ),
    (
        "weaker-gate",
        "keep failures",
        plan("l <- list_files docs\nfork i in {l} max 5\n  t <- read_file {i}\n  " + IF_GO),
        plan(
            "l <- list_files docs\nfork i in {l} max 5 keep failures\n  t <- read_file {i}\n  "
            + IF_GO
        ),
    ),
    (
        "more-cost",
        "budget line of a sub plan through another sub",
        plan("call_plan two.plan\n"),
        plan("call_plan two.plan\ncall_plan two.plan\n"),
    ),
    (
        "weaker-gate",
        "input without default",
        plan("require a == 'x' else 'n'\n"),
        plan("require a == 'x' else 'n'\n", "param a\n"),
    ),
    (
        "weaker-gate",
        "other default makes it constant",
        plan("require a != 'x' else 'n'\n"),
        plan("require a != 'x' else 'n'\n", 'param a = "y"\n'),
    ),
    (
        "weaker-gate",
        "one answer for two questions",
        plan(ASK + IF_YES + write("Tea") + "ok <- request_user_input Fine?\n" + IF_YES),
        plan(ASK + IF_YES + write("Tea") + IF_YES),
    ),
    (
        "weaker-gate",
        "ask in the first round only",
        plan("iterate max 3\n" + inner(ASK + IF_YES + write("Tea"))),
        plan(ASK + IF_YES + "iterate max 3\n" + inner(write("Tea"))),
    ),
    (
        "weaker-gate",
        "call instead of gate",
        plan("call_plan sub.plan what=tea\n"),
        plan("call_plan other.plan what=tea\n"),
    ),
    (
        "weaker-gate",
        "or with itself negated",
        plan(ASK + IF_YES),
        plan(ASK + "require ok == 'yes' or not (ok == 'yes') else 'no'\n"),
    ),
    (
        "weaker-gate",
        "gate of a length of a text that is never empty",
        plan(ASK + "require len(ok) > 3 else 'no'\n"),
        plan(ASK + "require len(ok) > 0 else 'no'\n"),
    ),
    (
        "weaker-gate",
        "the test is run before the write, which another test follows",
        plan(
            write("Tea") + "r <- run_in_bash_session make tea\nrequire r.exit_code == 0 else 'x'\n"
        ),
        plan(
            "r <- run_in_bash_session make tea\nrequire r.exit_code == 0 else 'x'\n" + write("Tea")
        ),
    ),
    (
        "weaker-gate",
        "require inside of if constant",
        plan(ASK + IF_YES),
        plan(ASK + "if 1 > 2\n  " + IF_YES),
    ),
    (
        "more-access",
        "a read result replaced by a parameter",
        plan("l <- list_files docs\nfor i in {l} max 3\n  read_file {i}\n"),
        plan("l <- list_files docs\nfor i in {l} max 3\n  read_file {a}\n"),
    ),
    (
        "weaker-gate",
        "condition of an until became constant",
        plan("iterate max 3 until s == 'x'\n  s <- hello_world\n"),
        plan("iterate max 3 until s == s\n  s <- hello_world\n"),
    ),
    (
        "weaker-gate",
        "approval in one branch",
        plan(ASK + IF_YES + "if a == 'x'\n" + inner(write("Tea"))),
        plan("if a == 'x'\n" + inner(ASK + IF_YES + write("Tea")) + "else\n  hello_world\n"),
    ),
    (
        "weaker-gate",
        "message with a person's ok moved in front of a second message",
        plan(
            "message_user one\n"
            + ASK
            + IF_YES
            + "message_user two\nok <- request_user_input Sure?\n"
            + IF_YES
        ),
        plan(
            "message_user one\n"
            + ASK
            + IF_YES
            + "ok <- request_user_input Sure?\n"
            + IF_YES
            + "message_user two\n"
        ),
    ),
    (
        "weaker-gate",
        "test after the plan's own fix of the test file",
        plan(
            "r <- run_in_bash_session make tea\n"
            + write("tea:", "Makefile")
            + "require r.exit_code == 0 else 'x'\n"
        ),
        plan(
            write("tea:", "Makefile")
            + "r <- run_in_bash_session make tea\nrequire r.exit_code == 0 else 'x'\n"
        ),
    ),
    (
        "weaker-gate",
        "fewer rounds of gathered looks",
        plan(
            "iterate max 5\n  t <- read_file docs/tea.md\n  s <- append {t} to={s}\nrequire len(s) > 3 else 'x'\n".replace(
                "iterate", "s <- append\niterate"
            )
        ),
        plan(
            "s <- append\niterate max 4\n  t <- read_file docs/tea.md\n  s <- append {t} to={s}\nrequire len(s) > 3 else 'x'\n"
        ),
    ),
    (
        "weaker-gate",
        "told in a branch only",
        plan("message_user I delete\n" + ASK + IF_YES),
        plan("if a == 'zzz'\n  message_user I delete\n" + ASK + IF_YES),
    ),
    (
        "more-access",
        "safe write in a branch only",
        plan(write("tea:", "Makefile") + "run_in_bash_session make tea\n"),
        plan(
            "if a == 'zzz'\n" + inner(write("tea:", "Makefile")) + "run_in_bash_session make tea\n"
        ),
    ),
    (
        "weaker-gate",
        "act moves into the loop that looks",
        plan(
            "iterate max 5\n  t <- read_file docs/tea.md\n  if t == 'go'\n    overwrite_file_with_block out/x\n      y\n"
            + write("go", "docs/tea.md")
        ),
        plan(
            "iterate max 5\n  t <- read_file docs/tea.md\n  if t == 'go'\n    overwrite_file_with_block out/x\n      y\n"
            + inner(write("go", "docs/tea.md"))
        ),
    ),
    (
        "weaker-gate",
        "two writes swapped before a look",
        plan(write("a", "docs/tea.md") + write("go", "docs/tea.md") + READ + IF_GO),
        plan(write("go", "docs/tea.md") + write("a", "docs/tea.md") + READ + IF_GO),
    ),
    (
        "weaker-gate",
        "other text before a look",
        plan(write("a", "docs/tea.md") + READ + IF_GO),
        plan(write("go", "docs/tea.md") + READ + IF_GO),
    ),
    (
        "weaker-gate",
        "write once more",
        plan(write("a", "docs/tea.md") + READ + IF_GO + write("go", "docs/tea.md")),
        plan(
            write("a", "docs/tea.md")
            + write("go", "docs/tea.md")
            + READ
            + IF_GO
            + write("go", "docs/tea.md")
        ),
    ),
    (
        "weaker-gate",
        "delegated to a plan: the write comes first there",
        plan(READ + "call_plan writes.plan\n" + IF_GO),
        plan("call_plan writes.plan\n" + READ + IF_GO),
    ),
    (
        "weaker-gate",
        "two questions, the answers swapped",
        plan(
            "x <- request_user_input A?\ny <- request_user_input B?\nrequire x == 'yes' else 'n'\n"
            + write("t")
            + "require y == 'yes' else 'n'\n"
        ),
        plan(
            "x <- request_user_input A?\ny <- request_user_input B?\nrequire y == 'yes' else 'n'\n"
            + write("t")
            + "require x == 'yes' else 'n'\n"
        ),
    ),
    (
        "weaker-gate",
        "gate after a yield of a call",
        plan("call_plan sub.plan what=tea\n" + write("t")),
        plan(write("t") + "call_plan sub.plan what=tea\n"),
    ),
    (
        "weaker-gate",
        "approval recorded in a branch",
        plan("record_user_approval_for_plan Fine\n"),
        plan("if a == 'x'\n  record_user_approval_for_plan Fine\n"),
    ),
    (
        "weaker-gate",
        "condition with the wrong side",
        plan("l <- list_files docs\nrequire len(l) > 3 else 'x'\n"),
        plan("l <- list_files docs\nrequire 3 > len(l) else 'x'\n"),
    ),
    (
        "weaker-gate",
        "for over another list with the same gates",
        plan(
            "l <- list_files docs\nm <- list_files docs/inner\nfor i in {l} max 5\n  t <- read_file {i}\n  "
            + IF_GO
        ),
        plan(
            "l <- list_files docs\nm <- list_files docs/inner\nfor i in {m} max 5\n  t <- read_file {i}\n  "
            + IF_GO
        ),
    ),
    (
        "weaker-gate",
        "gate of one of two same looks",
        plan(
            "t <- read_file docs/tea.md\n"
            + IF_GO
            + write("x", "docs/tea.md")
            + "t <- read_file docs/tea.md\n"
            + IF_GO
        ),
        plan("t <- read_file docs/tea.md\n" + IF_GO + write("x", "docs/tea.md") + IF_GO),
    ),
    (
        "weaker-gate",
        "gate moves into a fork",
        plan("l <- list_files docs\n" + ASK + IF_YES + "fork i in {l} max 3\n  read_file {i}\n"),
        plan(
            "l <- list_files docs\nfork i in {l} max 3\n  read_file {i}\n  " + ASK + "  " + IF_YES
        ),
    ),
    (
        "weaker-gate",
        "nested loops swapped",
        plan(LISTS + "for i in {l} max 3\n  for j in {m} max 3\n    require i != j else 'x'\n"),
        plan(
            LISTS
            + "for i in {l} max 3\n  for j in {m} max 3\n    require j != j or i == i else 'x'\n"
        ),
    ),
    (
        "more-access",
        "a command in the loop sees its own writes",
        plan("iterate max 3\n  run_in_bash_session make tea\n" + write("tea:", "Makefile")),
        plan("iterate max 3\n  run_in_bash_session make tea\n" + inner(write("tea:", "Makefile"))),
    ),
    (
        "more-cost",
        "a loop moved into a loop",
        plan("iterate max 3\n  hello_world\niterate max 3\n  hello_world\n"),
        plan("iterate max 3\n  iterate max 3\n    hello_world\n"),
    ),
    (
        "more-cost",
        "files made before the loop",
        plan("for_each_file docs/*.md\n  hello_world\n"),
        plan("for_each_file docs/*.md\n  for_each_file docs/*.md\n    hello_world\n"),
    ),
    (
        "more-access",
        "allow on a sub plan dropped",
        plan("call_plan narrow.plan\n", "allow read **\nallow run *\n"),
        plan("call_plan wide.plan\n", "allow read **\nallow run *\n"),
    ),
    (
        "weaker-gate",
        "until reads another value",
        plan(
            "u <- hello_world\niterate max 3 until s == 'x'\n  s <- hello_world a\n  u <- hello_world b\n"
        ),
        plan(
            "u <- hello_world\niterate max 3 until u == 'x'\n  s <- hello_world a\n  u <- hello_world b\n"
        ),
    ),
    (
        "weaker-gate",
        "the other of two questions alike",
        plan(
            "x <- request_user_input A?\n"
            + write("t")
            + "x <- request_user_input A?\nrequire x == 'yes' else 'n'\n"
        ),
        plan(
            "x <- request_user_input A?\n"
            + write("t")
            + "y <- request_user_input A?\nrequire x == 'yes' else 'n'\n"
        ),
    ),
]
HARMLESS = [
    (
        "message at the end",
        plan(ASK + IF_YES + write("t")),
        plan(ASK + IF_YES + write("t") + "message_user done\n"),
    ),
    (
        "message before",
        plan(ASK + IF_YES + write("t")),
        plan("message_user hello\n" + ASK + IF_YES + write("t")),
    ),
    (
        "one more gate in front",
        plan(RUN + ASK + IF_YES + write("t")),
        plan(
            "l <- list_files docs\nrequire len(l) > 0 else 'x'\n" + RUN + ASK + IF_YES + write("t")
        ),
    ),
    ("a write left out", plan(write("t") + RUN), plan(RUN)),
    ("another ask", plan(write("t") + RUN), plan(ASK + IF_YES + write("t") + RUN)),
    (
        "a new write at the end",
        plan(write("t") + RUN),
        plan(write("t") + RUN + write("u", "out/new.md")),
    ),
    (
        "a new write in front",
        plan(write("t") + RUN),
        plan(write("u", "out/new.md") + write("t") + RUN),
    ),
    (
        "fewer rounds, nothing bound",
        plan("iterate max 5\n  hello_world\n"),
        plan("iterate max 3\n  hello_world\n"),
    ),
    (
        "more rounds",
        plan("iterate max 3 until s == 'x'\n  s <- hello_world\n"),
        plan("iterate max 5 until s == 'x'\n  s <- hello_world\n"),
    ),
]
