"""Plans over sources and sinks, made by seed, and what a run of one does: for the promise of the flow analysis."""

from __future__ import annotations

import json
import random
import re

from fdc_toolchain.check import Checked, program_of
from fdc_toolchain.linking.project.settings import Settings

from tests.support import flow_world
from tests.support.flow_world import THERE
from tests.support.linting import lint

KINDS = """web web list read write write write shell shell submit ask if if for fork iterate call call pick delete
    files each each gate create rename grep""".split()
PATHS = ("f1", "f2", "d/f3", "d/new", "{run}/x", "{run}/y", "{run}/outside/x", "{run}/outside/y")
SPELLED = (
    "d/.{u}/n", ".{u}/d/n", "d/{u}/{v}/n", "d/{u}{v}/n", "{run}/.{u}n", "{run}/{u}/{v}n", "d{u}n", "{u}d/n", "d/{u}n",
    "{u}{v}/d/n",
)  # fmt: skip
LED = ("/w/d/n", "../w/d/n", "d/../d/n", "x/{u}", "{run}/{v}n", "{run}/../../d/n", "{run}/../r/n")
EDIT = "replace_with_git_merge_diff {}\n{in_}  <<<<<<< SEARCH\n{in_}  a\n{in_}  =======\n{in_}  c\n{in_}  >>>>>>> REPLACE"
GLOBS = ("d/*", "f*", "{run}/*", "{run}/outside/*")


class _Maker:
    def __init__(self, rng: random.Random, callees: list[str], kept: bool) -> None:
        self.rng = rng
        self.kept = kept
        self.callees = callees
        self.count = 0
        self.alone = kept and bool(rng.random() < 0.5)
        self.written: list[str] = []

    def fresh(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def plan(self, params: list[str]) -> str:
        head = [
            "# FSM: any.json",
            *(f"param {name}" for name in params),
            "known <- plan_step_complete b",
        ]
        texts = list(params)
        lists: list[str] = []
        body = self.body(texts, lists, 0, self.rng.randint(3, 7))
        # results of plans that are read stand in files and names: most end with one
        if texts and self.rng.random() < 0.8:
            body.append(f"yield {{{self.rng.choice(texts)}}}")
        return "\n".join([*head, *body]) + "\n"

    def body(self, texts: list[str], lists: list[str], depth: int, size: int) -> list[str]:
        out: list[str] = []
        for _ in range(size):
            out += ["  " * depth + line for line in self.step(texts, lists, depth)]
        return out or ["  " * depth + "plan_step_complete"]

    def pick(self, texts: list[str]) -> str:
        """A text with something in it, or none."""
        return "{" + self.rng.choice(texts) + "}" if texts and self.rng.random() < 0.8 else "plain"

    def path(self) -> str:
        """A path to write, remembered."""
        self.written.append(self.rng.choice(PATHS))
        return self.written[-1]

    def step(self, texts: list[str], lists: list[str], depth: int) -> list[str]:
        rng = self.rng
        kind = rng.choice(KINDS)
        name = self.fresh()
        if kind == "web":
            texts.append(name)
            return [
                f"{name} <- view_text_website {self.pick(texts[:-1]) if rng.random() < 0.3 else 'https://e/'}"
            ]
        if kind == "list":
            lists.append(name)
            return [
                f"{name} <- google_search tea"
                if not self.kept or rng.random() < 0.3
                else f"{name} <- list_files d"
            ]
        if kind == "files":
            lists.append(name)
            return [f"{name} <- list_files {rng.choice(('d', '.', *GLOBS))}"]
        if kind == "grep":
            lists.append(name)
            return [f"{name} <- grep {self.pick(texts)} {rng.choice(('d', *GLOBS))}"]
        if kind == "gate" and texts and (self.kept and self.alone or rng.random() < 0.3):
            return [
                f'require {rng.choice(("", "not "))}"{rng.choice("ab")}" in {rng.choice(texts)} else "no"'
            ]
        if kind == "create":
            return [f"create_file_with_block {{run}}/{name}", f"  {self.pick(texts)}"]
        if kind == "rename":
            return [
                f"rename_file {rng.choice(self.written or THERE[:1])} {{run}}/{rng.choice(('', 'outside/'))}{name}"
            ]
        if kind == "read":
            path = rng.choice((*THERE[:3], *self.written, self.pick(texts)))
            texts.append(name)
            return [f"{name} <- read_file {path}"]
        if kind == "write":
            return [f"overwrite_file_with_block {self.path()}", f"  {self.pick(texts)}"]
        if kind == "shell":
            said = rng.choice(
                (
                    f"echo {self.pick(texts)}",
                    f"{self.pick(texts)} x",
                    "ls",
                    "ls",
                    "cat f1",
                    "wc d/f3 {run}/x",
                )
            )
            bind = rng.random() < 0.5
            if bind:
                texts.append(name)
            return [(f"{name} <- " if bind else "") + f"run_in_bash_session {said}"]
        if kind == "submit":
            return [f"submit {self.pick(texts)}"]
        if kind == "delete":
            bind = f"{name} <- " if rng.random() < 0.3 else ""
            texts += [name] if bind else []
            return [f"{bind}delete_file {rng.choice(('d/gone', 'd/gone', *PATHS))}"]
        if kind == "ask":
            texts.append(name)
            return [f"{name} <- request_user_input {self.pick(texts[:-1])}"]
        if kind == "pick" and depth and len(texts) > 2 and rng.random() < 0.5:
            carried = rng.choice([text for text in texts if text.startswith("n")] or [name])
            if carried != name:
                return [f"{carried} <- plan_step_complete {{{carried}}} and {self.pick(texts)}"]
        if kind == "pick":
            texts.append(name)
            return [
                f"{name} <- plan_step_complete {self.pick(texts[:-1])} and {self.pick(texts[:-1])}"
            ]
        if kind == "call" and self.callees:
            callee = rng.choice(self.callees)
            given = f"call_plan {callee} p={self.pick(texts)} q={self.pick(texts)}"
            texts.append(name)
            return [f"{name} <- {given}"]
        if depth >= 2:
            return ["plan_step_complete"]
        return self.nested(kind, name, texts, lists)

    def nested(self, kind: str, name: str, texts: list[str], lists: list[str]) -> list[str]:
        rng = self.rng
        if kind == "if" and texts:
            condition = (
                f'"a" in {rng.choice(texts)}'
                if rng.random() < 0.7
                else f'"{rng.choice("ab")}" in known'
            )
            # what only one branch binds is not bound afterwards: both bind it, or it was bound before
            before, other = rng.choice(texts), self.fresh()
            ways = ("plan_step_complete one", "plan_step_complete two", "request_user_input Which?")
            said = rng.sample(
                (f"plan_step_complete {{{before}}}", f"request_user_input {{{before}}}", *ways), 2
            )
            then = self.body(list(texts), list(lists), 1, rng.randint(1, 3)) + [
                f"  {other} <- {said[0]}"
            ]
            orelse = self.body(list(texts), list(lists), 1, rng.randint(0, 2)) + [
                f"  {other} <- {said[1]}"
            ]
            texts.append(other)
            return [f"if {condition}", *then, "else", *orelse]
        if kind == "each":
            glob = rng.choice(GLOBS)
            return [
                f"for_each_file {glob} as {name}",
                *self.body([*texts, name], list(lists), 1, rng.randint(1, 3)),
            ]
        if kind in ("for", "fork") and lists:
            inner = [*texts, name]
            keeps = self.kept and rng.random() < 0.8
            outer, self.alone = self.alone, self.alone or keeps
            body = self.body(inner, list(lists), 1, rng.randint(1, 3))
            self.alone = outer
            gathered = self.fresh()
            body.append(f"  yield {{{rng.choice(inner)}}}")
            lists.append(gathered)
            head = f"{kind} {name} in {{{rng.choice(lists[:-1])}}} max 9"
            if keeps:
                head = f"fork {name} in {{{rng.choice(lists[:-1])}}} max 9 keep failures"
            return [f"{gathered} <- {head}", *body]
        if kind == "iterate" and texts:
            inner = list(texts)
            carried = rng.choice(texts)
            body = self.body(inner, list(lists), 1, rng.randint(1, 3))
            body.append(
                f"  {name} <- {rng.choice((f'plan_step_complete {{{rng.choice(inner)}}}', 'request_user_input Go on?'))}"
            )
            texts.append(name)
            return [f'iterate max 3 until "a" in {rng.choice((carried, name))}', *body]
        return ["plan_step_complete"]


def made(seed: int, *, kept: bool = False) -> dict[str, str]:
    """A set of plans: `a.plan`, and plans that it may call. `kept`: its forks, over files that are there, keep failures."""
    rng = random.Random(seed)
    files = {"leaf.plan": _Maker(rng, [], kept).plan(["p", "q"])}
    files["middle.plan"] = _Maker(rng, ["leaf.plan"], kept).plan(["p", "q"])
    files["a.plan"] = _Maker(rng, ["leaf.plan", "middle.plan"], kept).plan([])
    return files


def checked(files: dict[str, str]) -> Checked:
    """The verdict on `a.plan`."""
    of_others = any("mail/" in text for text in files.values())
    settings = Settings(fsm="any.json", untrusted=("mail/*",) if of_others else ())
    return lint(files, "a.plan", there=(*THERE, "mail/m"), settings=settings)


def interferes(checked: Checked) -> bool:
    """True where text from outside makes a difference to what is done, or to what is chosen for it."""
    return flow_world.interferes(program_of(checked))


def accepted(checked: Checked) -> bool:
    """True where the flow analysis found nothing."""
    wrong = [
        item
        for item in checked.diagnostics
        if re.match("FDC[13]", item.code) and item.severity == "error"
    ]
    assert not wrong, wrong
    return not any(item.code.startswith("FDC47") for item in checked.diagnostics)


def concerns_outside(checked: Checked) -> bool:
    """True where the flow analysis found something that is from outside, and so something that the worlds can show."""
    return any(
        item.code.startswith("FDC47") and item.message.startswith("text from outside")
        for item in checked.diagnostics
    )


class _Aimed:
    """Small plans around one thing that an analysis can forget, with chance in everything that does not matter for it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def act(self, text: str = "done") -> str:
        """A step that may not be chosen."""
        return self.rng.choice(
            (f"submit {text}", f"run_in_bash_session cat f1 {text}", "delete_file f2")
        )

    def below(self, condition: str, steps: list[str]) -> list[str]:
        """Steps under a condition, or under its opposite, or in a loop that may have no round."""
        indented = [f"  {line}" for line in steps]
        way = self.rng.randrange(4)
        if way == 0:
            return [f"if {condition}", *indented]
        if way == 1:
            return [f"if {condition}", "  plan_step_complete", "else", *indented]
        if way == 2:
            nested = [f"  {line}" for line in ['if "a" in hit', *indented]]
            return ["hits <- google_search tea", "for hit in {hits} max 9", *nested]
        return ["call_plan leaf.plan p={w} q={w}"]

    def existence(self) -> dict[str, str]:
        """What is from outside decides whether a file is there, and that is looked at."""
        rng = self.rng
        path = rng.choice(("{run}/x", "{run}/d/x", "{run}/outside/x"))
        before = [f"overwrite_file_with_block {path}", "  text"] if rng.random() < 0.5 else []
        change = rng.choice(
            ([f"overwrite_file_with_block {path}", "  text"], [f"delete_file {path}"])
        )
        if before and rng.random() < 0.3:
            change = [f"rename_file {path} {{run}}/z"]
        if not before and rng.random() < 0.3:
            change = [f"create_file_with_block {path}", "  text"]
        glob = rng.choice(("{run}/*", path.replace("x", "*"), "{run}/**", path))
        look = rng.choice(
            (
                [f"for_each_file {glob} as found", f"  {self.act()}"],
                [f"found <- list_files {glob}", "for one in {found} max 9", f"  {self.act()}"],
                ["found <- list_files {run}/*", "if len(found) > 0", f"  {self.act()}"],
                [f"found <- delete_file {path}", 'if "was" in found', f"  {self.act()}"],
                [f"found <- grep text {glob}", "if len(found) > 0", f"  {self.act()}"],
                ["found <- list_files {run}/*", "submit {found}"],
            )
        )
        leaf = ["param p", "param q", *self.below_in_leaf('"a" in p', change)]
        changed = self.below('"a" in w', change)
        return self.plans([*before, "w <- view_text_website https://e/", *changed, *look], leaf)

    def below_in_leaf(self, condition: str, steps: list[str]) -> list[str]:
        return [f"if {condition}", *(f"  {line}" for line in steps)]

    def kept(self) -> dict[str, str]:
        """What is from outside decides whether a branch fails whose failure is kept, and something follows there, or sees it."""
        rng = self.rng
        fails = rng.choice(
            (
                ['require "a" in w else "no"'],
                ['require not "b" in w else "no"'],
                ["grep {w} d"],
                ["call_plan leaf.plan p={w} q={x}"],
                ["for one in {w} max 9", "  plan_step_complete"],
                ["hits <- google_search tea", "for one in {hits} max 1", "  plan_step_complete"],
                ["read_file {run}/x"],
                ["rename_file {run}/x {run}/y"],
            )
        )
        if rng.random() < 0.3:
            fails = ["if 1 == 1", *(f"  {line}" for line in fails)]
        after = rng.choice(
            (
                [self.act()],
                ["overwrite_file_with_block {run}/made", "  text"],
                [self.act("{x}")],
                ["call_plan acts.plan"],
                ["for_each_file d/* as z", f"  {self.act()}"],
            )
        )
        look = rng.choice(
            (
                ["for_each_file {run}/made as z", f"  {self.act()}"],
                ["for one in {r} max 9", "  if one.failed", f"    {self.act()}"],
                ["plan_step_complete"],
                ["submit {r}"],
            )
        )
        first = [
            "w <- view_text_website https://e/",
            'if "a" in w',
            "  overwrite_file_with_block {run}/x",
            "    text",
        ]
        branch = ["items <- list_files d", "r <- fork x in {items} max 9 keep failures"]
        body = [f"  {line}" for line in [*fails, *after, "yield {x}"]]
        ends = (
            'require "a" in p else "no"',
            "grep {p} d",
            'if "a" in p\n  require 1 == 2 else "no"',
        )
        return self.plans([*first, *branch, *body, *look], ["param p", "param q", rng.choice(ends)])

    def clears(self) -> dict[str, str]:
        """A person is asked under a condition from outside; the answer chooses, and whether there was one may not."""
        rng = self.rng
        ask = "n <- request_user_input Which? {w}"
        other = rng.choice(("n <- request_user_input Or?", "n <- plan_step_complete f1"))
        way = rng.randrange(4)
        if way == 0:
            steps = ['if "a" in w', f"  {ask}", "else", f"  {other}"]
        elif way == 1:
            steps = [other, "hits <- google_search tea", "for hit in {hits} max 9", f"  {ask}"]
        elif way == 2:
            steps = [other, 'iterate max 3 until "a" in w', f"  {ask}"]
        else:
            steps = [ask, 'if "a" in w', "  n <- request_user_input {n}"]
        inside = rng.random() < 0.3
        use = rng.choice(
            (
                "submit {n}",
                "run_in_bash_session cat {n}",
                "read_file {n}",
                "call_plan leaf.plan p={n} q=x",
            )
        )
        steps = (
            [*steps, use]
            if not inside
            else ['if "a" in w', f"  {ask}", f"  {'x <- view_text_website {n}'}"]
        )
        return self.plans(
            ["w <- view_text_website https://e/", *steps], ["param p", "param q", "submit {p}"]
        )

    def code(self) -> dict[str, str]:
        """Text from outside lies in a file that a command can see."""
        rng = self.rng
        path = rng.choice(("f1", "{run}/x", "{run}/outside/x", "d/new"))
        write = [f"overwrite_file_with_block {path}", f"  {rng.choice(('{w}', '{n}', 'text'))}"]
        if rng.random() < 0.4:
            write = ['if "a" in w', *(f"  {line}" for line in write)]
        move = (
            [f"rename_file {path} {{run}}/{rng.choice(('', 'outside/'))}moved"]
            if rng.random() < 0.3
            else []
        )
        command = [
            f"run_in_bash_session {rng.choice(('make', 'sh f1', 'cat f1', 'cat f1 | sh', 'wc d/f3'))}"
        ]
        if rng.random() < 0.3:
            command = ["call_plan acts.plan"]
        steps = [*command, *write, *move] if rng.random() < 0.2 else [*write, *move, *command]
        if rng.random() < 0.3:
            steps = ["iterate max 2", *(f"  {line}" for line in steps)]
        first = ["w <- view_text_website https://e/", "n <- request_user_input Good? {w}"]
        return self.plans([*first, *steps], ["param p", "param q"])

    def own(self) -> dict[str, str]:
        """Of a result from outside some fields are the service's own, and of a list how many items it has may be."""
        rng = self.rng
        given = [rng.choice((plain, plain, "{w}")) for plain in ("tea", "tea", "cups")]
        tool = rng.choice(("look_up", "look_up", "look_for"))
        field = rng.choice(("n", "n", "n", "t"))
        steps = ["w <- view_text_website https://e/", f"row <- look_at {given[0]}"]
        steps.append(f"rows <- {tool} {given[1]}")
        other = rng.choice((f"row <- look_at {given[2]}", "row <- view_text_website https://e/"))
        steps += rng.choice(
            (
                [],
                ['if "a" in w', f"  {other}"],
                ['if "a" in known', f"  {other}"],
                ["hits <- google_search tea", "for hit in {hits} max 9", f"  {other}"],
                ["for row in {rows} max 9", "  plan_step_complete {row.n}"],
            )
        )
        act = self.act(f"{{one.{field}}}")
        steps += rng.choice(
            (
                [self.act(f"{{row.{field}}}")],
                [f'if "0" in row.{field}', f"  {self.act()}"],
                ["for one in {rows} max 9", f"  {act}"],
                [
                    "for one in {rows} max 9",
                    f'  if "1" in one.{field}',
                    f"    {self.act('{one.n}')}",
                ],
                ["got <- for one in {rows} max 9", f"  yield {{one.{field}}}", "submit {got}"],
                ["for one in {rows} max 9", f"  row <- look_at {{one.{field}}}", "submit {row.n}"],
                [f"call_plan leaf.plan p={{row.{field}}} q={{{rng.choice(('row', 'w'))}}}"],
                [self.act("{row}")],
                ["for one in {row.n} max 9", f"  {self.act()}"],
            )
        )
        found = self.plans(
            ["known <- plan_step_complete b", *steps], ["param p", "param q", "submit {p}"]
        )
        rows = {"format": 1, "name": "service", "tools": flow_world.SERVICE}
        return {**found, "fdc_tools.json": json.dumps(rows)}

    def spelled(self) -> dict[str, str]:
        """What is from outside lies in a file whose path is made of values, which another path may name too."""
        rng = self.rng
        values = ("", "/", ".", "d", "/n", "./", "/d/", "x/.", "../d/", "../n")
        first = [f"{name} <- plan_step_complete {rng.choice(values)}" for name in ("u", "v")]
        made, read = (rng.choice((*SPELLED, "d/n", "{run}/n")) for _ in range(2))
        write = [f"overwrite_file_with_block {made}", "  {w}"]
        if rng.random() < 0.3:
            moved = rng.choice((*SPELLED, "d/n"))
            write = [*write, f"rename_file {made} {moved}"]
        look = rng.choice(
            (
                [f"r <- read_file {read}", self.act("{r}")],
                [f"r <- grep a {read}", "if len(r) > 0", f"  {self.act()}"],
                [f"r <- run_in_bash_session cat {rng.choice((read, *LED))}", "submit {r.output}"],
                [f"for_each_file {read} as r", f"  {self.act()}"],
            )
        )
        last = ["w <- view_text_website https://e/", *write, *look]
        return self.plans([*first, *last], ["param p", "param q"])

    def named(self) -> dict[str, str]:
        """The settings name a file that others wrote; steps move it, edit it and commit it."""
        rng, path = self.rng, self.rng.choice(("mail/m", "mail/m", "f1"))
        moved = rng.choice(("{run}/n", "d/n", "{run}/outside/n"))
        kept = rng.random() < 0.4
        edit = EDIT.replace("{in_}", "  " if kept else "").format
        steps, use = rng.choice(
            (
                ([f"rename_file {path} {moved}", f"w <- read_file {moved}"], "read_file {w}"),
                ([f"w <- {edit(path)}"], "run_in_bash_session cat f1 {w.bytes}"),
                ([f"rename_file {path} {moved}", edit(moved)], self.act()),
                ([f"git_add {path}", "w <- git_commit x"], self.act("{w.commit}")),
                ([f"rename_file {path} {moved}"], "run_in_bash_session make"),
            )
        )
        head = ["items <- list_files d", "fork x in {items} max 9 keep failures"] if kept else []
        lines = [f"{'  ' if kept else ''}{line}" for line in [*steps, use]]
        return self.plans([*head, *lines], ["param p", "param q"])

    def plans(self, steps: list[str], leaf: list[str]) -> dict[str, str]:
        head = "# FSM: any.json\n"
        return {
            "a.plan": head + "\n".join(steps) + "\n",
            "leaf.plan": head + "\n".join([*leaf, "plan_step_complete"]) + "\n",
            "acts.plan": head + "run_in_bash_session make\n",
        }


AIMS = ("existence", "kept", "clears", "code", "own", "spelled", "named")


def aimed(seed: int, aim: str) -> dict[str, str]:
    """A set of plans as `made` gives it, around one of `AIMS`."""
    plans: dict[str, str] = getattr(_Aimed(seed), aim)()
    return plans
