"""The statements of the plan language: one row each, from which lexer, parser, formatter and messages follow.

To add a statement, give it a row here, its rule, first word and tail in `grammar/plan.lark`, a class
in `syntax/tree.py`, a method that builds its tail in `syntax/tail_values.py`, and a meaning in
`linking/link.py`. Each of these places is checked against this table when it is imported.
"""

from __future__ import annotations

from collections.abc import Collection

from ..named_tuples import NamedTuple


class Construct(NamedTuple):
    """`word` starts the line; `rule` is the grammar's name; `form` says what stands on the line.

    `header`: stands before the first step. `body`: indented lines below belong to it. `binds`: `NAME <-` may stand
    before it. `part`: belongs to the statement above it and is not a statement itself.
    """

    word: str
    rule: str
    form: str
    header: bool = False
    body: bool = False
    binds: bool = False
    part: bool = False

    @property
    def token(self) -> str:
        """The grammar's terminal for the first word."""
        return self.rule.upper()

    @property
    def tail(self) -> str:
        """The grammar's rule for what follows the first word."""
        return f"{self.rule}_tail"


CONSTRUCTS = (
    Construct("use", "use", "the form is `use fsm NAME`", header=True),
    Construct("param", "param", "the form is `param NAME` or `param NAME = DEFAULT`", header=True),
    Construct("budget", "budget", "the form is `budget MEASURE NUMBER`", header=True),
    Construct("allow", "allow", "the form is `allow ACCESS PATTERN ...`", header=True),
    Construct("call_plan", "call", "the form is `call_plan NAME key=value ...`", binds=True),
    Construct(
        "for_each_file",
        "for_each",
        "the form is `for_each_file GLOB [as NAME] [max N]`",
        body=True,
    ),
    Construct("for", "for", "the form is `for NAME in VALUE max N`", body=True, binds=True),
    Construct(
        "fork",
        "fork",
        "the form is `fork NAME in VALUE max N`, and `keep failures` behind it where a branch may fail alone",
        body=True,
        binds=True,
    ),
    Construct("iterate", "iterate", "the form is `iterate max N until CONDITION`", body=True),
    Construct("if", "if", "the form is `if CONDITION`", body=True),
    Construct("else", "else", "the form is `else`", body=True, part=True),
    Construct("require", "require", 'the form is `require CONDITION else "why"`'),
    Construct("yield", "yield", "the form is `yield VALUE`"),
)

WORDS = tuple(row.word for row in CONSTRUCTS)
"""The words that start a line and are not tools."""

STATEMENTS = {row.word: row for row in CONSTRUCTS if not row.part}
"""Rows of what is a statement of its own, by first word."""


def complete(words: Collection[str], what: str, *, header: bool | None = None) -> None:
    """Raises ImportError, with the word's name, where a table by first word lacks one or has one too many.

    `header`: the table holds the headers only (True), or all others only (False).
    """
    expected = {word for word, row in STATEMENTS.items() if header in (None, row.header)}
    for word in sorted(expected - set(words)):
        raise ImportError(f"the statement `{word}` of syntax/language.py has no {what}")
    for word in sorted(set(words) - expected):
        raise ImportError(f"{what}: syntax/language.py has no row for `{word}`")
