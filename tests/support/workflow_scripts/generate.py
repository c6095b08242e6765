"""Workflow scripts by chance: lists, loops, functions and closures, as people and models write them."""

from __future__ import annotations

import random

from tests.support.workflow_scripts.runtime import Case

HEAD = "export const meta = { name: 'chance', description: 'made by chance' }\n"


class Writer:
    """Writes one script. `lists`: names of lists in scope; `depth` limits nesting."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []
        self.lists = ["args.files", "args.groups", "KINDS"]
        self.functions: list[str] = []
        self.count = 0
        self.indent = 0

    def name(self, start: str) -> str:
        self.count += 1
        return f"{start}{self.count}"

    def say(self, line: str) -> None:
        self.lines.append("  " * self.indent + line)

    def agent(self, words: str = "'go'") -> str:
        options = self.chance.choice(
            ["", "", ", { model: 'haiku' }", ", { label: 'x', schema: {} }", ", OPTIONS"]
        )
        return f"agent({words}{options})"

    def list_(self, depth: int = 0) -> str:
        pick = self.chance.randrange(12 if depth < 2 else 4)
        one = self.chance.choice(self.lists)
        if pick < 3:
            return one
        if pick == 3:
            return "[" + ", ".join("'abc'[0]" for _ in range(self.chance.randrange(4))) + "]"
        inner = self.list_(depth + 1)
        return self.chance.choice(
            [
                f"({inner}).slice(0, {self.chance.randrange(4)})",
                f"({inner}).filter(Boolean)",
                f"({inner}).map((x) => x)",
                f"({inner}).flatMap((x) => (x && x.items) || [])",
                f"[...{inner}, ...{one}]",
                f"({inner}).concat({one})",
                f"[...new Set({inner})]",
                f"({inner} || [])",
                f"Array.from({{ length: {self.chance.choice(['2', 'args.count', 'KINDS.length'])} }}, (_, i) => i)",
                f"({inner}).slice(1)",
                f"({inner}).slice(-2)",
                f"({inner}).sort()",
            ]
        )

    def thunk(self, depth: int) -> str:
        pick = self.chance.randrange(7)
        if self.functions and pick == 0:
            return f"() => {self.chance.choice(self.functions)}({self.list_()})"
        if pick == 1:
            return f"async () => {{ const r = await {self.agent()}; return r && r.ok ? {self.agent()} : r }}"
        if pick == 2:
            return (
                f"() => {self.agent()}.then((r) => (r ? {self.agent()} : null)).catch(() => null)"
            )
        if pick == 3 and depth < 3:
            return f"async () => ({self.work(depth + 1)})"
        return f"() => {self.agent()}"

    def work(self, depth: int) -> str:
        """An expression that starts agents, awaited."""
        pick = self.chance.randrange(10)
        if depth > 2 or pick == 0:
            return f"await {self.agent()}"
        if pick == 1:
            return f"await parallel([{', '.join(self.thunk(depth + 1) for _ in range(self.chance.randrange(1, 4)))}])"
        if pick in (2, 3):
            return f"await parallel(({self.list_()}).map((x, i) => {self.thunk(depth + 1)}))"
        if pick == 4:
            stage = f"(r, item) => parallel([{self.thunk(depth + 1)}, {self.thunk(depth + 1)}])"
            return f"await pipeline({self.list_()}, (x) => {self.agent()}, {stage})"
        if pick == 5:
            return f"await Promise.all(({self.list_()}).map(async (x) => {{ return {self.work(depth + 1)} }}))"
        if pick == 6 and self.functions:
            return f"await {self.chance.choice(self.functions)}({self.list_()})"
        if pick == 7:
            return f"await ({self.list_()}).reduce((p, x) => p.then(() => {self.agent()}), Promise.resolve())"
        if pick == 8:
            return f"await retry(() => {self.agent()}, {self.chance.randrange(1, 4)})"
        return f"({self.chance.choice(['args.deep', 'false'])} ? {self.work(depth + 1)} : {self.work(depth + 1)})"

    def block(self, depth: int) -> None:
        self.indent += 1
        saved = list(self.lists)
        for _ in range(self.chance.randrange(1, 3)):
            self.statement(depth)
        self.lists = saved
        self.indent -= 1

    def statement(self, depth: int) -> None:  # one long case distinction on purpose
        pick = self.chance.randrange(16)
        if depth > 2:
            pick = self.chance.choice([0, 1, 2])
        if pick in (0, 1):
            self.say(f"{self.work(depth)}")
        elif pick == 2:
            name = self.name("found")
            self.say(f"const {name} = (({self.work(depth)}) || {{}})")
            extra = self.name("list")
            self.say(f"const {extra} = Array.isArray({name}) ? {name} : ({name}.items || [])")
            self.lists.append(extra)
        elif pick == 3:
            name = self.name("i")
            limit = self.chance.choice(
                [
                    "3",
                    "args.count",
                    "KINDS.length",
                    f"({self.list_()}).length",
                    "Math.min(args.count, 2)",
                ]
            )
            step = self.chance.choice([f"{name}++", f"{name} += 2", f"{name} = {name} + 1"])
            operator = self.chance.choice(["<", "<="])
            self.say(
                f"for (let {name} = {self.chance.choice(['0', '1'])}; {name} {operator} {limit}; {step}) {{"
            )
            self.block(depth + 1)
            self.say("}")
        elif pick == 4:
            name = self.name("item")
            self.say(f"for (const {name} of {self.list_()}) {{")
            self.block(depth + 1)
            self.say("}")
        elif pick == 5:
            name = self.name("round")
            self.say(f"let {name} = 0")
            first = self.chance.random() < 0.5
            self.say(f"while ({name} < {self.chance.choice(['2', 'args.count'])} && !args.stop) {{")
            if first:
                self.say(f"  {name}++")
            self.block(depth + 1)
            if not first:
                self.say(f"  {name} += 1")
            self.say("}")
        elif pick == 6:
            name = self.name("thunks")
            self.say(f"const {name} = []")
            item = self.name("item")
            self.say(f"for (const {item} of {self.list_()}) {name}.push({self.thunk(depth + 1)})")
            if self.chance.random() < 0.4:
                self.say(
                    f"if (args.deep) {name}.push({self.thunk(depth + 1)}, {self.thunk(depth + 1)})"
                )
            way = self.chance.randrange(4)
            if way == 0:
                self.say(f"while ({name}.length) await parallel({name}.splice(0, 2))")
            elif way == 1:
                at = self.name("at")
                self.say(
                    f"for (let {at} = 0; {at} < {name}.length; {at} += 2) await parallel({name}.slice({at}, {at} + 2))"
                )
            else:
                self.say(f"await parallel({name})")
        elif pick == 7:
            self.say(f"if ({self.chance.choice(['args.deep', 'KINDS.length > 9'])}) {{")
            self.block(depth + 1)
            self.say("} else {")
            self.block(depth + 1)
            self.say("}")
        elif pick == 8 and depth == 0:
            name = self.name("work")
            self.say(f"async function {name}(given) {{")
            self.lists.append("given")
            self.block(depth + 1)
            self.say(f"  return await {self.agent()}")
            self.lists.remove("given")
            self.say("}")
            self.functions.append(name)
        elif pick == 9:
            name = self.name("grown")
            self.say(f"const {name} = ['a']")
            self.say(f"for (const x of {self.list_()}) {{ if (x) {name}.push(x) }}")
            self.lists.append(name)
        elif pick == 10:
            name = self.name("down")
            self.say(
                f"for (let {name} = {self.chance.choice(['3', 'args.count'])}; {name} > 0; {name}--) {{"
            )
            self.block(depth + 1)
            self.say("}")
        elif pick == 11:
            self.say("try {")
            self.block(depth + 1)
            self.say("} catch (error) {")
            self.block(depth + 1)
            self.say("}")
        elif pick == 12:
            name = self.name("current")
            self.say(f"let {name} = {self.list_()}")
            hop = f"await parallel({name}.map((x) => () => {self.agent()}))"
            self.say(f"for (let hop = 0; hop < 2; hop++) {{ {hop}; {name} = {self.list_()} }}")
        elif pick == 13:
            name = self.name("queue")
            self.say(f"const {name} = [...{self.list_()}]")
            take = self.chance.choice(["shift()", "pop()", "splice(0, 2)", "splice(0)"])
            self.say(f"while ({name}.length{self.chance.choice(['', ' > 0'])}) {{")
            self.say(f"  const next = {name}.{take}")
            self.block(depth + 1)
            self.say("}")
        else:
            name = self.name("seen")
            self.say(f"const {name} = new Set({self.list_()})")
            self.say(f"for (const value of {name}) {{ await {self.agent()} }}")


def script(seed: int) -> Case:
    """A script by chance, with arguments by chance."""
    chance = random.Random(seed)
    writer = Writer(chance)
    kinds = ", ".join(f"'k{number}'" for number in range(chance.randrange(1, 4)))
    writer.say(f"const KINDS = [{kinds}]")
    writer.say("const OPTIONS = { model: 'opus' }")
    writer.say("async function retry(call, times) {")
    writer.say(
        "  for (let attempt = 0; attempt < times; attempt++) { const r = await call(); if (r) return r }"
    )
    writer.say("  return null")
    writer.say("}")
    for _ in range(chance.randrange(2, 6)):
        writer.statement(0)
    writer.say("return { done: true }")
    given = {
        "files": ["f"] * chance.randrange(4),
        "groups": [{"items": ["g"] * chance.randrange(3)} for _ in range(chance.randrange(4))],
        "count": chance.randrange(4),
        "deep": chance.random() < 0.5,
        "stop": chance.random() < 0.2,
    }
    return Case(HEAD + "\n".join(writer.lines) + "\n", given, seed)
