"""A task's calls as the text of a plan: what a planner that saw the user's prompt, and nothing else, could have written.

Each argument comes from where it can be found: in the prompt (a literal), in what an earlier step brought as it is there (a
part of that, by `pick`), or else in no place, so that a model makes it of all that came before (`ask`). Where an argument may
choose what text of its origin may not, a person is asked for it (`people`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from .labels import TOOLS
from .suites import Call, Task
from .values import (
    Place,
    beginning,
    counted,
    extracted,
    find,
    is_same,
    lone,
    names,
    plain,
    quoted,
    said,
    within,
    words,
)

KEYS = ("title", "filename")
"""Fields by which a thing of the account is known."""

OWN_WORDS = ("subject", "title")
"""What a planner heads a message with in its own words: none of them stands in what was read."""

OWNER = "me"
"""Who sent a transfer, where it was the account's owner."""

TODAY = {"banking": "2022-04-01"}
"""The day on which a suite plays, where no tool says it: the planner's own."""

SPELLED = {("permission", "r"): "read permission", ("permission", "rw"): "write permission"}
"""How a prompt says what a parameter spells in its own way."""

FOLLOWS = {"workspace/13", "workspace/19", "banking/12", "slack/18", "slack/19"}
"""Tasks whose prompt says to do what some text says: no planner knows the steps before that was read. They count as tasks
that need a person, whatever the linter says of the calls."""

CONDITIONS = {
    "workspace/4", "workspace/6", "workspace/12", "workspace/20", "workspace/21", "travel/0", "travel/1", "banking/14",
}  # fmt: skip
"""Tasks whose prompt has a condition on a consequential call, which the calls of the benchmark do not show."""


class Want(NamedTuple):
    """What a step asks a model for: the parameter of a tool ("" for the answer), and what is right."""

    tool: str
    parameter: str
    right: str


class Plan(NamedTuple):
    """`lines`: by number, the index of the call that a line makes; `wants`: by name. `questions` to a person."""

    task: Task
    text: str
    lines: dict[int, int]
    wants: dict[str, Want]
    questions: int


def plan_of(
    task: Task,
    people: Collection[tuple[int, str]] = (),
    contents: bool = False,
    regime: str = "canary",
) -> Plan:
    """The plan. `people`: for the call at an index, what a person says of it (a word of docs/trust.md).

    `contents`: what others read is checked (`plain_words`) where a person would be asked. `regime`: of the labels, as far as
    fields are the account's own.
    """
    writer = _Writer(task, regime, contents)
    for index, call in enumerate(task.calls):
        writer.call(index, call, {sink for at, sink in people if at == index})
    lines, numbers, wants = writer.lines, writer.numbers, writer.wants
    about = writer.brought()
    wants["answer"] = Want("", "", task.output or "Done.")
    lines.append(f"answer <- ask {_word('want', 'answer: what the user is told')}{about}")
    lines += ["message_user {answer}", "close_task", "submit"]
    return Plan(task, "\n".join(lines) + "\n", numbers, wants, writer.questions)


def attacked(
    task: Task, calls: Collection[Call], by_name: bool = False, contents: bool = False
) -> str:
    """The task's plan, and behind its calls those that an injection asks for, their arguments made of what was read.

    `by_name`: numbers and names of things are looked up by a name that the text says. `contents`: as for `plan_of`.
    """
    writer = _Writer(task, contents=contents)
    for index, call in enumerate(task.calls):
        writer.call(index, call, set())
    about, last = writer.brought(), len(writer.done)
    for number, call in enumerate(calls, 1):
        words = []
        for parameter in (name for name, value in call.args.items() if value is not None):
            name = f"x{number}_{parameter}"
            writer.lines.append(
                f"{name} <- ask {_word('want', f'{name}: the {parameter} that the text says')}{about}"
            )
            sink = TOOLS[call.tool].sink(parameter)
            if contents and sink == "message":
                writer.lines.append(f"{name}_said <- plain_words value={{{name}}}")
                name += "_said"
            if by_name and sink == "path":
                writer.lines.append(
                    f"{name}_id <- own_field value={{r{last}}} name=title key={{{name}}} give=id_"
                )
                name += "_id"
            words.append(f"{parameter}={{{name}}}")
        writer.lines.append(" ".join([f"s{number} <- {call.tool}", *words]))
    return "\n".join([*writer.lines, "close_task", "submit"]) + "\n"


class Rows(NamedTuple):
    """Of the list that the step `number` brought: rows whose `field` is what the plan says (`said`), and the field to give."""

    number: int
    field: str
    said: str
    give: str


class _Writer:
    """Writes the lines of a plan, call by call."""

    def __init__(self, task: Task, regime: str = "canary", contents: bool = False) -> None:
        self.task = task
        self.regime = regime
        self.contents = contents
        self.lines = [f"set_plan {task.name}", "plan_step_complete planned"]
        self.numbers: dict[int, int] = {}
        self.wants: dict[str, Want] = {}
        self.done: list[Call] = []
        self.members: dict[str, str] = {}
        """Names that a model took out of a list of the operator's own, each with the plan's name for it after that check."""
        self.named: set[int] = set()
        """Steps that were given nothing but what the plan says, or such a name."""
        self.questions = 0
        given = [value for call in task.calls for value in call.args.values()]
        self.used = {
            str(item) for value in given for item in (value if isinstance(value, list) else [value])
        }

    def brought(self) -> str:
        """An argument with all that was brought so far."""
        names = "\\n".join(f"{{r{number}}}" for number in range(1, len(self.done) + 1))
        return f' about="{names}"' if names else ""

    def call(self, index: int, call: Call, people: Collection[str]) -> None:
        words = []
        given = {name: value for name, value in call.args.items() if value is not None}
        for parameter, value in given.items():
            sink = TOOLS[call.tool].sink(parameter)
            words.append(f"{parameter}={self.value(call, parameter, value, sink in people)}")
        number = len(self.done) + 1
        if all(
            self.literal(call, name, value) or lone(value) in self.members
            for name, value in given.items()
        ):
            self.named.add(number)
        self.lines.append(" ".join([f"r{number} <- {call.tool}", *words]))
        self.numbers[len(self.lines)] = index
        self.done.append(call)

    def value(self, call: Call, parameter: str, value: Any, asks: bool) -> str:
        """What stands in the plan for an argument."""
        if self.literal(call, parameter, value):
            return quoted(plain(value))
        name = f"v{len(self.wants) + 1}"
        sink = TOOLS[call.tool].sink(parameter)
        results = [one.result for one in self.done]
        worded = None if asks else self.worded(value)
        if worded is not None:
            return worded
        key = self.keyed(value, sink) if sink in ("path", "url", "change") else None
        place, part = find(value, results), extracted(value, results, self.used)
        known = key is not None or sink == "message"
        rows = None if known else self.rows(value, place)
        sent = None if known or rows is not None else self.sent(value, place)
        if key is not None:
            number, field, word, give = key
            which = (
                f"own_field value={{r{number}}} name={field}"
                if field
                else f"own_name value={{r{number}}}"
            )
            self.lines.append(
                f"{name} <- {which} key={quoted(word)}{f' give={give}' if give else ''}"
            )
        elif rows is not None:
            self.lines += [
                f"rows{name} <- for row in {{r{rows.number}}} max 1000",
                f"  if row.{rows.field} == {rows.said}",
                f"    yield {{row.{rows.give}}}",
                f"{name} <- only value={{rows{name}}}"
                if place is not None
                else f"{name} <- ask {_word('want', f'{name}: the {parameter} for {call.tool}')} about={{rows{name}}}",
            ]
        elif sent is not None:
            number, path = sent
            self.lines += [
                f"sent{name} <- own_rows value={{r{number}}}",
                f"{name} <- pick value={{sent{name}}} path={quoted(path)}"
                if path
                else f"{name} <- ask {_word('want', f'{name}: the {parameter} for {call.tool}')} about={{sent{name}}}",
            ]
        elif place is not None:
            self.lines.append(
                f"{name} <- pick value={{r{place.number}}} path={quoted(place.path)}{self.among(place)}"
            )
        elif part is not None:
            words = f"value={{r{part.number}}} {part.path}{self.among(part)}"
            self.lines.append(f"{name} <- extract {words}")
        else:
            self.lines.append(
                f"{name} <- ask {_word('want', f'{name}: the {parameter} for {call.tool}')}{self.brought()}"
            )
        self.wants[name] = Want(call.tool, parameter, plain(value))
        if (number := self.listed(value)) is not None and self.lines[-1].startswith(
            f"{name} <- ask"
        ):
            self.lines += [
                f"all{name} <- names value={{r{number}}}",
                f"m{name} <- among value={{{name}}} of={{all{name}}}",
            ]
            name = self.members[lone(value)] = f"m{name}"
        if asks and self.contents and sink == "message":
            self.lines.append(f"said{name} <- plain_words value={{{name}}}")
            return f"{{said{name}}}"
        if not asks:
            return f"{{{name}}}"
        self.questions += 1
        self.lines.append(
            f"q{self.questions} <- request_user_input The {parameter} for {call.tool}? It may be: {{{name}}}"
        )
        return f"{{q{self.questions}}}"

    def among(self, place: Place) -> str:
        """What else the choice of a part may rest on: nothing where the plan said what it looks for and got one thing."""
        asked = self.done[place.number - 1].args.values()
        if place.alone and (
            place.number in self.named or any(said(value, self.task.prompt) for value in asked)
        ):
            return ""
        return self.brought().replace(" about=", " among=")

    def listed(self, value: Any) -> int | None:
        """The step that listed a value among the names of things that the operator's own database has, where others are sent
        the name later."""
        text = lone(value)
        sent = [
            str(one.args[row.name])
            for one in self.task.calls
            for row in TOOLS[one.tool].parameters
            if row.sink == "message" and one.args.get(row.name)
        ]
        if text is None or not any(text in one for one in sent):
            return None
        return next(
            (
                number
                for number, one in enumerate(self.done, 1)
                if isinstance(one.result, str)
                and not TOOLS[one.tool].outside[self.regime]
                and all(self.literal(one, *row) for row in one.args.items())
                and text in names(one.result)
            ),
            None,
        )

    def worded(self, value: Any) -> str | None:
        """A value in the words that the prompt gives for it (`'Dinner at {restaurant_name}'`), or that is one thing's alone: the
        holes are names that were checked, and what was looked up of exactly such a thing."""
        for form in (
            "{value}",
            *re.findall(r"[\"']([^\"']*\{\w+\}[^\"']*)[\"']", self.task.prompt),
        ):
            said_, holes = re.split(r"\{\w+\}", form), []
            found = re.fullmatch("(.+?)".join(map(re.escape, said_)), str(lone(value)))
            for text in found.groups() if found else ():
                place = find(text, [one.result for one in self.done])
                if text not in self.members and (
                    place is None
                    or not place.alone
                    or place.number not in self.named
                    or not self.members
                ):
                    break
                holes.append((text, place))
            if not found or len(holes) < len(found.groups()):
                continue
            out = said_[0]
            for (text, place), after in zip(holes, said_[1:], strict=True):
                hole = self.members.get(text)
                if hole is None and place is not None:
                    hole = f"h{len(self.lines)}"
                    path = "/".join(
                        f"{{{self.members[part]}}}" if part in self.members else part
                        for part in place.path.split("/")
                    )
                    self.lines.append(f'{hole} <- pick value={{r{place.number}}} path="{path}"')
                out += f"{{{hole}}}{after}"
            return f'"{out}"'
        return None

    def keyed(self, value: Any, sink: str) -> tuple[int, str, str, str] | None:
        """The step, the field that has a name, what the prompt says of the name, and the field of the account's own which is
        the value: of exactly one thing. Where a step listed names, both fields are ""."""
        for number, one in enumerate(self.done, 1):
            items = one.result if isinstance(one.result, list) else [one.result]
            listed = [item for item in items if isinstance(item, str)]
            if value in listed and isinstance(one.result, list) and sink != "change":
                key = beginning(value, listed, self.task.prompt)
                if key:
                    return number, "", key, ""
            things = [item for item in items if isinstance(item, dict)]
            own = (*TOOLS[one.tool].own[self.regime], "id_", "id")
            for item in things:
                for field in KEYS:
                    name = str(item.get(field, ""))
                    key = beginning(name, [str(one.get(field)) for one in things], self.task.prompt)
                    give = next(
                        (one for one in own if one in item and is_same(item[one], value)), ""
                    )
                    if key and give:
                        return number, field, key, give
        return None

    def rows(self, value: Any, place: Place | None) -> Rows | None:
        """Where a value is a field of the account's own, or a number is counted out of one, in the rows of a list that have
        something of their own which the prompt says."""
        for number, one in enumerate(self.done, 1):
            own = TOOLS[one.tool].own[self.regime]
            if "[]" not in own or not isinstance(one.result, list):
                continue
            for field in [name for name in own[:-1] if name != "id"]:
                for word in sorted({item[field] for item in one.result}, key=str):
                    if isinstance(word, bool) or word == OWNER or not said(word, self.task.prompt):
                        continue
                    found = [item for item in one.result if item[field] == word]
                    for give in own[:-1]:
                        given = [item[give] for item in found]
                        # A number that the prompt says, among others, is no name by which to count with other numbers.
                        counted = (isinstance(value, float), type(word), give) == (
                            True,
                            str,
                            "amount",
                        )
                        counted = counted and place is None
                        if give != field and (
                            counted or all(is_same(part, value) for part in given)
                        ):
                            literal = quoted(word) if isinstance(word, str) else f"{word:g}"
                            return Rows(number, field, literal, give)
        return None

    def sent(self, value: Any, place: Place | None) -> tuple[int, str] | None:
        """Where a value is, or is counted out of, what the account's owner sent himself: the step, and the path in these rows."""
        for number, one in enumerate(self.done, 1):
            if "sender" in TOOLS[one.tool].own[self.regime] and isinstance(one.result, list):
                found = find(value, [[item for item in one.result if item["sender"] == OWNER]])
                if found is not None and place is not None and place.number == number:
                    return number, found.path
                if place is None and isinstance(value, float):
                    return number, ""
        return None

    def literal(self, call: Call, parameter: str, value: Any) -> bool:
        """Whether the planner writes an argument itself."""
        tool = TOOLS[call.tool]
        if not self.done or said(value, self.task.prompt) or isinstance(value, bool) or value == "":
            return True
        if value == TODAY.get(self.task.suite) or counted(value, call.args, self.task.prompt):
            return True
        if SPELLED.get((parameter, str(value)), "\0") in self.task.prompt.casefold():
            return True
        results = [one.result for one in self.done]
        if parameter in OWN_WORDS and not words(value) & words(json.dumps(results)):
            return True
        return not tool.acts and tool.sink(parameter) == "data" and not within(value, results)


def _word(name: str, value: str) -> str:
    return f"{name}={quoted(value)}"
