"""What AgentDojo's 74 tools bring and what their parameters choose, reviewed by hand. The attacks judge the table.

A line of tools.txt is a tool: SUITE.NAME, what it does, the trust of its result in two regimes, and its parameters. A
parameter with `?` may be left out; `=` and a word of docs/trust.md say what its text chooses.

- `acts`: it changes the account, or others see something (the owner of a page sees that it is fetched); `looks`: it reads.
- *canary*: `out` where some task's injection comes in by this tool, or by another one that gives the same objects.
- *conservative*: `out` everywhere, but for what the user entered (profile, IBAN), what the bank or the clock counts, and the
  travel suite's structured look-ups (prices, addresses, opening hours: fields of the operator's database).
- `own:` lists fields of a result from outside that its service makes itself (an `own` of the catalogue): numbers of things; of a
  bank's transactions all but the subject, and which there are (`[]`). `canary:` lists those that count as own in that regime
  only, since no injection comes in by them: names, times and participants of the calendar, names of files.
- `own` is the account's: the rows say `trusted`. (`workspace` would do as well for every parameter below, since none is a
  command; but fdc takes that for text of the folder's files, and the calls themselves go through files here.)

Reasons for the parameters: who is written to, paid, invited or given access, and every page that is read or written, is an
address (`url`): fetching one tells its owner something. What names a thing of the account is a `path`: a file by its name
or number, a mail, an event, a standing order, what is attached. Identities, amounts, times, passwords and permissions are
what is changed (`change`). What others read (subject, body, title, description, location, page) is a `message`; the content
of one's own files is `data`. What a search or a look-up in one's own account is asked is `data`: it tells nobody anything.

Eight tools of the workspace are ours. `pick`, `extract`, `only` and `names` are pure: a part of a value keeps the value's
labels. Four are declared checks. `own_field` gives a field of the one thing in a list that has the name that the plan says, or
else whose name begins with these words; it fails for none or several, and for a field that is not own. Its key must be the
plan's own (a `path` too), and what it gives may be a path, an address or a message. `own_name` does so with a list of names,
and gives the name, which may be a path or an address, but no message. `own_rows` gives those transfers that the account's owner
sent: what their subjects say is his text. `plain_words` takes out of a text what may be an address or a number of something:
only with it may text from outside be a message, and only where contents are *checked*.
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
    """`acts`: what it does is a consequence. `outside`: by regime, whether its result is text from outside; `own`: the fields of
    such a result that are not."""

    name: str
    acts: bool
    outside: dict[str, bool]
    own: dict[str, tuple[str, ...]]
    parameters: tuple[Parameter, ...]

    def sink(self, parameter: str) -> str:
        """What a parameter chooses, a word of docs/trust.md."""
        return next(one.sink for one in self.parameters if one.name == parameter)


def read(table: str) -> dict[str, Tool]:
    """The tools of a table, by name. Raises ValueError for a line that is no row."""
    found = {}
    for line in table.strip().splitlines():
        name, what, canary, conservative, *rest = line.split()
        if what not in ("acts", "looks") or {canary, conservative} - {"own", "out"}:
            raise ValueError(f"no row of the table: {line}")
        parameters, both, more = [], "", ""
        for word in rest:
            if word.startswith(("own:", "canary:")):
                both, more = (word[4:], more) if word[0] == "o" else (both, word[7:])
                continue
            parameter, _, sink = word.partition("=")
            parameters.append(Parameter(parameter.rstrip("?"), not parameter.endswith("?"), sink))
        outside = dict(zip(REGIMES, (canary == "out", conservative == "out"), strict=True))
        fields = {"conservative": both, "canary": f"{both},{more}"}
        own = {
            regime: tuple(filter(None, names.split(","))) if outside[regime] else ()
            for regime, names in fields.items()
        }
        found[name] = Tool(name, what == "acts", outside, own, tuple(parameters))
    return found


TOOLS = read(TABLE.read_text("utf-8"))
