"""What AgentDojo's 74 tools bring and what their parameters choose, reviewed by hand. The attacks judge the table.

A line of tools.txt is a tool: SUITE.NAME, what it does, the trust of its result in two regimes, and its parameters. A
parameter with `?` may be left out; `=` and a word of docs/trust.md say what its text chooses.

- `acts`: it changes the account, or others see something (the owner of a page sees that it is fetched); `looks`: it reads.
- *canary*: `out` where some task's injection comes in by this tool, or by another one that gives the same objects.
- *conservative*: `out` everywhere, but for what the user entered (profile, IBAN), what the bank or the clock counts, and the
  travel suite's structured look-ups (prices, addresses, opening hours: fields of the operator's database).
- `own` is the account's: the rows say `trusted`. (`workspace` would do as well for every parameter below, since none is a
  command; but fdc takes that for text of the folder's files, and the calls themselves go through files here.)

Reasons for the parameters: who is written to, paid, invited or given access, and every page that is read or written, is an
address (`url`): fetching one tells its owner something. What names a thing of the account is a `path`: a file by its name
or number, a mail, an event, a standing order, what is attached. Identities, amounts, times, passwords and permissions are
what is changed (`change`). What others read (subject, body, title, description, location, page) is a `message`; the content
of one's own files is `data`. What a search or a look-up in one's own account is asked is `data`: it tells nobody anything.

Two tools of the workspace are ours. `pick` and `extract` are pure: a part of a value keeps the value's labels. `one_id` gives
the number of the one thing in a list that has exactly the name that the plan says, and fails for none or several: what it
gives may be a `path`, and its key must be the plan's own (a `path` too).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

REGIMES = ("canary", "conservative")

TABLE = Path(__file__).with_name("tools.txt")


class Parameter(NamedTuple):
    """`sink`: what its text chooses, a word of docs/trust.md."""

    name: str
    required: bool
    sink: str


class Tool(NamedTuple):
    """`acts`: what it does is a consequence. `outside`: by regime, whether its result is text from outside."""

    name: str
    acts: bool
    outside: dict[str, bool]
    parameters: tuple[Parameter, ...]

    def sink(self, parameter: str, contents: bool) -> str:
        """What a parameter chooses; where `contents` are free, what others read chooses nothing."""
        found = next(one.sink for one in self.parameters if one.name == parameter)
        return "data" if contents and found == "message" else found


def read(table: str) -> dict[str, Tool]:
    """The tools of a table, by name. Raises ValueError for a line that is no row."""
    found = {}
    for line in table.strip().splitlines():
        name, what, canary, conservative, *rest = line.split()
        if what not in ("acts", "looks") or {canary, conservative} - {"own", "out"}:
            raise ValueError(f"no row of the table: {line}")
        parameters = []
        for word in rest:
            parameter, _, sink = word.partition("=")
            parameters.append(Parameter(parameter.rstrip("?"), not parameter.endswith("?"), sink))
        outside = dict(zip(REGIMES, (canary == "out", conservative == "out"), strict=True))
        found[name] = Tool(name, what == "acts", outside, tuple(parameters))
    return found


TOOLS = read(TABLE.read_text("utf-8"))
