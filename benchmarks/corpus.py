"""Corpora from a seed: plans that lint clean, and Python and YAML files of the same number of lines for other linters.

A plan is what agents write for one task: about fifty lines with steps, loops, branches, calls,
text blocks and comments. No two plans share their arguments, so that remembering them is no help.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

NOUNS = (
    "parser lexer token report engine journal ledger cache index router queue worker budget account invoice session "
    "gateway schema registry planner resolver encoder bundle archive mirror snapshot digest cursor buffer channel"
).split()
VERBS = "add split rename harden measure document simplify port retire extract guard trace merge pin".split()
WORDS = (
    "the first call must not wait for a lock that another worker holds because both would stop and no one "
    "could tell which of them was late so we keep the order of entries write before we read and say what failed"
).split()
SOURCES = 400
FOLDERS = 20


def source(number: int) -> str:
    """The path of one of the files that plans read."""
    return f"src/{NOUNS[number % FOLDERS]}/part_{number}.py"


def first_line(number: int) -> str:
    """What that file begins with: the text that diffs look for."""
    return f'"""Part {number}."""'


class PlanWriter:
    """Writes one plan; every random choice is the generator's."""

    def __init__(self, rng: Random, number: int, fragments: int) -> None:
        self.rng = rng
        self.number = number
        self.fragments = fragments
        self.lines: list[str] = []
        self.creates = "create_file_with_block"
        self.shapes = (
            (14, self.read), (12, self.search), (14, self.shell), (8, self.done), (11, self.block), (7, self.each),
            (6, self.branch), (4, self.items), (3, self.fork), (3, self.iterate), (4, self.require), (6, self.edit),
            (5, self.comment), (5, self.say), (6 if fragments else 0, self.call), (4, self.gap),
        )  # fmt: skip

    def words(self, least: int, most: int) -> str:
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(least, most)))

    def name(self) -> str:
        return f"{self.rng.choice(NOUNS)}_{self.rng.randrange(10_000)}"

    def fresh(self) -> str:
        """A name that no other line of this plan binds."""
        return f"{self.rng.choice(NOUNS)}{len(self.lines)}"

    def source(self) -> str:
        return source(self.rng.randrange(SOURCES))

    def add(self, *lines: str) -> None:
        self.lines += lines

    def read(self) -> None:
        self.add(f"read_file {self.source()}")

    def search(self) -> None:
        self.add(f"grep {self.name()} src/{self.rng.choice(NOUNS[:FOLDERS])}")

    def shell(self) -> None:
        noun = self.rng.choice(NOUNS)
        self.add(
            self.rng.choice(
                (
                    f"run_in_bash_session python3 -m pytest -q tests/test_{noun}.py -k {self.name()}",
                    f'run_in_bash_session git log --oneline -n {self.rng.randrange(5, 50)} -- "{self.source()}"',
                    f"run_in_bash_session make -C src/{noun} {self.name()} && git diff --stat",
                )
            )
        )

    def done(self) -> None:
        self.add(f"plan_step_complete {self.words(4, 9)}")

    def comment(self) -> None:
        self.add(f"# {self.words(5, 11)}")

    def gap(self) -> None:
        self.add("", f"# {len(self.lines)}. {self.words(3, 6)}")

    def say(self) -> None:
        self.add(f"message_user {self.rng.choice(VERBS)} {self.name()}: {self.words(3, 8)}")

    def path(self, suffix: str) -> str:
        return f"notes/{self.number}/{self.name()}_{len(self.lines)}.{suffix}"

    def block(self) -> None:
        path = self.path("md")
        text = [f"    {self.words(5, 10)}" for _ in range(self.rng.randint(2, 6))]
        self.add(f"{self.creates} {path}", f"    # {self.name()}", "", *text, f"read_file {path}")

    def edit(self) -> None:
        number = self.rng.randrange(SOURCES)
        path = source(number)
        self.add(
            f"replace_with_git_merge_diff {path}",
            "    <<<<<<< SEARCH",
            f"    {first_line(number)}",
            "    =======",
            f"    {first_line(number)}",  # stays, for the next diff of the same file
            f"    {self.name()} = {self.rng.randrange(100)}",
            "    >>>>>>> REPLACE",
            f"read_file {path}",
        )

    def each(self) -> None:
        self.add(
            f"for_each_file src/{self.rng.choice(NOUNS[:FOLDERS])}/*.py max {self.rng.randrange(10, 60)}",
            "    read_file {file1}",
            f"    grep {self.name()} {{file1}}",
        )

    def branch(self) -> None:
        name = self.fresh()
        self.add(
            f"{name} <- grep {self.name()} src/{self.rng.choice(NOUNS[:FOLDERS])}",
            f"if len({name}) > {self.rng.randrange(9)}",
            f"    message_user {self.name()} is used in {{{name}}}",
            "else",
            f"    run_in_bash_session python3 -m pytest -q tests/{self.name()}.py",
            f"    plan_step_complete {self.words(3, 6)}",
        )

    def items(self) -> None:
        name = self.fresh()
        self.add(
            f"{name} <- list_files src/{self.rng.choice(NOUNS[:FOLDERS])}/{self.name()[:3]}*.py",
            f"for item{len(self.lines)} in {{{name}}} max {self.rng.randrange(5, 40)}",
            f"    read_file {{item{len(self.lines)}}}",
            f"    run_in_bash_session python3 -m pyflakes src/{self.name()}.py",
        )

    def fork(self) -> None:
        names, found, side = self.fresh(), f"found{len(self.lines)}", f"side{len(self.lines)}"
        self.add(
            f"{names} <- grep {self.name()} src/{self.rng.choice(NOUNS[:FOLDERS])}",
            f"{found} <- fork {side} in {{{names}}} max {self.rng.randrange(2, 7)}",
            f"    text{len(self.lines)} <- read_file {{{side}.path}}",
            f"    yield {{text{len(self.lines)}}}",
            f"message_user {self.name()}: {{{found}}}",
        )

    def iterate(self) -> None:
        name = self.fresh()
        self.add(
            f"iterate max {self.rng.randrange(2, 6)} until {name}.exit_code == 0",
            f"    {name} <- run_in_bash_session make {self.name()}",
            f"    plan_step_complete {self.words(3, 6)}",
        )

    def require(self) -> None:
        name = self.fresh()
        self.add(
            f"{name} <- run_in_bash_session python3 -m pytest -q tests/{self.name()}.py",
            f'require {name}.exit_code == 0 else "{self.name()} fails"',
        )

    def call(self) -> None:
        self.add(
            f"call_plan plans/fragment_{self.rng.randrange(self.fragments)}.plan subject={self.name()}"
        )

    def call_own(self) -> None:
        """Calls the fragment of this plan's number, so that none is left without a caller."""
        self.add(
            f"call_plan plans/fragment_{self.number % self.fragments}.plan subject={self.name()}"
        )

    def plan(self, length: int) -> str:
        """The text of a root plan of about `length` lines."""
        task = f"{self.rng.choice(VERBS)}-{self.rng.choice(NOUNS)}-{self.number}"
        self.add("# FSM: tooling/fdc_fsm.json", f"# {self.words(8, 12)}", "")
        self.add(f"set_plan {task}: {self.words(4, 9)}", f"plan_step_complete {self.words(3, 6)}")
        if self.number < 2 * self.fragments:
            self.call_own()
        self._fill(length - 3)
        self.add(
            "", f"run_in_bash_session python3 tooling/fdc_cli.py close --task-id {task}", "submit"
        )
        return "\n".join(self.lines) + "\n"

    def fragment(self, length: int) -> str:
        """The text of a plan that others call; it calls none."""
        self.creates = "overwrite_file_with_block"  # it may be called twice
        self.shapes = tuple(row for row in self.shapes if row[1] != self.call)
        self.add(f"# {self.words(6, 10)}", "param subject", "", "grep {subject} src")
        self._fill(length)
        return "\n".join(self.lines) + "\n"

    def _fill(self, length: int) -> None:
        weights = [weight for weight, _ in self.shapes]
        while len(self.lines) < length:
            self.rng.choices(self.shapes, weights)[0][1]()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_workspace(folder: Path) -> None:
    """The files that make a folder a workspace whose plans find what they read."""
    write(folder / "knowledge_core" / "plan_registry.json", "{}\n")
    for number in range(SOURCES):
        write(folder / source(number), f"{first_line(number)}\n")


def write_plans(
    folder: Path, count: int, seed: int, lines: int = 50, *, finding: bool = False
) -> list[str]:
    """`count` plans below `folder`/plans, a tenth of them fragments that the others call. Returns their texts.

    `finding` gives each plan one warning: a name that is bound and never used.
    """
    fragments = max(1, count // 10)
    texts = []
    for number in range(count):
        writer = PlanWriter(Random(f"{seed}/{number}"), number, fragments)
        if number < fragments:
            name, text = f"fragment_{number}", writer.fragment(max(8, lines * 2 // 5))
        else:
            name, text = f"task_{number}", writer.plan(lines)
        if finding:
            first, rest = (
                text.split("grep", 1) if number < fragments else text.split("plan_step_complete", 1)
            )
            at = "grep" if number < fragments else "plan_step_complete"
            text = f"{first}unused <- {at}{rest}"
        write(folder / "plans" / f"{name}.plan", text)
        texts.append(text)
    return texts


def python_file(rng: Random, lines: int, *, finding: bool = False) -> str:
    """A module of exactly `lines` lines that ruff and pyflakes accept; `finding` adds one unused import."""
    title = " ".join(rng.choices(WORDS, k=6)).capitalize()
    out = [f'"""{title}."""', "import json" if finding else "", "import os"]
    number = 0
    while len(out) + 10 <= lines:
        name, other = f"{rng.choice(NOUNS)}_{number}", rng.choice(NOUNS)
        number += 1
        out += [
            "",
            "",
            f"def {name}({other}: list[str], limit: int = {rng.randrange(100)}) -> list[str]:",
            f'    """{" ".join(rng.choices(WORDS, k=7)).capitalize()}."""',
            "    found = []",
            f"    for item in {other}[:limit]:  # {' '.join(rng.choices(WORDS, k=4))}",
            f'        if item.startswith("{rng.choice(NOUNS)}_{rng.randrange(10_000)}"):',
            f'            found.append(os.path.join("{rng.choice(NOUNS)}", item))',
            "    return found",
        ]
    out += [f"# {' '.join(rng.choices(WORDS, k=8))}" for _ in range(lines - len(out))]
    return "\n".join(out) + "\n"


def yaml_file(rng: Random, lines: int) -> str:
    """A workflow of exactly `lines` lines that yamllint and `WORKFLOW_SCHEMA` accept."""
    out = ["---", f"name: {rng.choice(NOUNS)} {rng.randrange(10_000)}", "jobs:"]
    number = 0
    while len(out) + 10 <= lines:
        out += [
            f"  {rng.choice(NOUNS)}-{number}:",
            "    runs-on: ubuntu-latest",
            f"    timeout: {rng.randrange(1, 60)}",
            "    steps:",
            f"      - name: {rng.choice(VERBS)} {rng.choice(NOUNS)} {rng.randrange(10_000)}",
            f"        run: make {rng.choice(NOUNS)}-{rng.randrange(10_000)}",
            f"      - name: {rng.choice(VERBS)} again",
            f'        run: "python3 -m pytest -q tests/{rng.choice(NOUNS)}_{rng.randrange(10_000)}.py"',
        ]
        number += 1
    out += [f"# {' '.join(rng.choices(WORDS, k=8))}" for _ in range(lines - len(out))]
    return "\n".join(out) + "\n"


WORKFLOW_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["name", "jobs"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "jobs": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["runs-on", "steps"],
                "properties": {
                    "runs-on": {"type": "string"},
                    "timeout": {"type": "integer", "minimum": 1},
                    "steps": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["name", "run"],
                            "properties": {"name": {"type": "string"}, "run": {"type": "string"}},
                        },
                    },
                },
            },
        },
    },
}


def write_others(folder: Path, texts: list[str], seed: int, *, finding: bool = False) -> None:
    """Beside each plan of `texts` a Python and a YAML file with as many lines, below `folder`/py and `folder`/yaml."""
    for number, text in enumerate(texts):
        rng = Random(f"{seed}/other/{number}")
        lines = text.count("\n")
        write(folder / "py" / f"module_{number}.py", python_file(rng, lines, finding=finding))
        write(folder / "yaml" / f"flow_{number}.yaml", yaml_file(rng, lines))
    write(folder / "workflow.schema.json", json.dumps(WORKFLOW_SCHEMA))
