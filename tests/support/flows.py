"""Plans over sources and sinks, made by seed, and what a run of one does: for the promise of the flow analysis."""

from __future__ import annotations

import random
import re
from typing import Any
from zlib import crc32

from fdc_toolchain.check import Checked, program_of
from fdc_toolchain.engine.events import Failure, Outcome
from fdc_toolchain.testing import FunctionTools, run

from tests.support.linting import lint

CRITICAL = {"run_in_bash_session": "command", "read_file": "path", "view_text_website": "url", "submit": "text", "grep": "path"}
ACTS = ("run_in_bash_session", "submit", "overwrite_file_with_block", "delete_file")


class _Maker:
    def __init__(self, rng: random.Random, callees: list[str], kept: bool) -> None:
        self.rng = rng
        self.kept = kept
        self.callees = callees
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def plan(self, params: list[str]) -> str:
        head = ["# FSM: any.json", *(f"param {name}" for name in params), "known <- plan_step_complete b"]
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

    def step(self, texts: list[str], lists: list[str], depth: int) -> list[str]:
        rng = self.rng
        kind = rng.choice("web web list read write write shell submit ask if if for fork iterate call call pick delete".split())
        name = self.fresh()
        if kind == "web":
            texts.append(name)
            return [f"{name} <- view_text_website {self.pick(texts[:-1]) if rng.random() < 0.3 else 'https://e/'}"]
        if kind == "list":
            lists.append(name)
            return [f"{name} <- list_files d" if self.kept else f"{name} <- google_search tea"]
        if kind == "read":
            path = rng.choice(("f1", "f2", "d/f3", self.pick(texts)))
            texts.append(name)
            return [f"{name} <- read_file {path}"]
        if kind == "write":
            return [f"overwrite_file_with_block {rng.choice(('f1', 'f2', 'd/f3'))}", f"  {self.pick(texts)}"]
        if kind == "shell":
            said = rng.choice((f"echo {self.pick(texts)}", f"{self.pick(texts)} x", "ls"))
            bind = rng.random() < 0.5
            if bind:
                texts.append(name)
            return [(f"{name} <- " if bind else "") + f"run_in_bash_session {said}"]
        if kind == "submit":
            return [f"submit {self.pick(texts)}"]
        if kind == "delete":
            return ["delete_file d/gone"]
        if kind == "ask":
            texts.append(name)
            return [f"{name} <- request_user_input {self.pick(texts[:-1])}"]
        if kind == "pick" and depth and len(texts) > 2 and rng.random() < 0.5:
            carried = rng.choice([text for text in texts if text.startswith("n")] or [name])
            if carried != name:
                return [f"{carried} <- plan_step_complete {{{carried}}} and {self.pick(texts)}"]
        if kind == "pick":
            texts.append(name)
            return [f"{name} <- plan_step_complete {self.pick(texts[:-1])} and {self.pick(texts[:-1])}"]
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
            condition = f'"a" in {rng.choice(texts)}' if rng.random() < 0.7 else f'"{rng.choice("ab")}" in known'
            # what only one branch binds is not bound afterwards: both bind it, or it was bound before
            before, other = rng.choice(texts), self.fresh()
            said = rng.sample((f"{{{before}}}", "one", "two"), 2)
            then = self.body(list(texts), list(lists), 1, rng.randint(1, 3)) + [f"  {other} <- plan_step_complete {said[0]}"]
            orelse = self.body(list(texts), list(lists), 1, rng.randint(0, 2)) + [f"  {other} <- plan_step_complete {said[1]}"]
            texts.append(other)
            return [f"if {condition}", *then, "else", *orelse]
        if kind in ("for", "fork") and lists:
            inner = [*texts, name]
            body = self.body(inner, list(lists), 1, rng.randint(1, 3))
            gathered = self.fresh()
            body.append(f"  yield {{{rng.choice(inner)}}}")
            lists.append(gathered)
            head = f"{kind} {name} in {{{rng.choice(lists[:-1])}}} max 9"
            if self.kept and rng.random() < 0.8:
                head = f"fork {name} in {{{rng.choice(lists[:-1])}}} max 9 keep failures"
            return [f"{gathered} <- {head}", *body]
        if kind == "iterate" and texts:
            inner = list(texts)
            carried = rng.choice(texts)
            body = self.body(inner, list(lists), 1, rng.randint(1, 3))
            body.append(f"  {name} <- plan_step_complete {{{rng.choice(inner)}}}")
            texts.append(name)
            return [f"iterate max 3 until \"a\" in {rng.choice((carried, name))}", *body]
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
    return lint(files, "a.plan", there=["f1", "f2", "d/f3", "d/gone"])


def done(checked: Checked, outside: str) -> dict[str, tuple[str, str]]:
    """What a run does where all text from outside is `outside`: by address the tool, and what was chosen for it.

    In branches whose failures are kept some steps fail, always the same, and say all that they know.
    """
    files: dict[str, str] = {}

    def shell(effect: Any) -> dict[str, Any]:
        return {"output": effect.args["command"] + "".join(files.values()), "exit_code": 0}

    def put(effect: Any) -> dict[str, Any]:
        files[str(effect.args["path"])] = str(effect.args["content"])
        return {"path": effect.args["path"], "bytes": 1}

    answers: dict[str, Any] = (
        {
            "view_text_website": lambda effect: outside,
            "google_search": lambda effect: list(outside),
            "list_files": lambda effect: ["f1", "f2", "d/f3"],
            "read_file": lambda effect: files.get(str(effect.args["path"]), "file"),
            "overwrite_file_with_block": put,
            "run_in_bash_session": shell,
            "request_user_input": lambda effect: "yes",
            "submit": lambda effect: "sent",
            "delete_file": lambda effect: "gone",
            "plan_step_complete": lambda effect: effect.args.get("text", ""),
        }
    )

    def act(effect: Any) -> Any:
        brought = answers[effect.tool](effect)
        if effect.alone and crc32(effect.address.encode()) % 3 == 0:
            return Outcome(failure=Failure("lost", f"{effect.args} {brought}"))
        return brought

    tools = FunctionTools(dict.fromkeys(answers, act))
    run(program_of(checked), tools, room=1)  # one after the other, so that only the texts differ
    return {effect.address: (effect.tool, str(effect.args.get(CRITICAL.get(effect.tool, "")))) for effect in tools.calls}


def interferes(checked: Checked) -> bool:
    """True where text from outside makes a difference to what is done, or to what is chosen for it."""
    runs = [done(checked, outside) for outside in ("a", "b", "ab")]
    first = runs[0]
    for other in runs[1:]:
        acts = [{at: act for at, act in one.items() if act[0] in ACTS} for one in (first, other)]
        if acts[0] != acts[1] or any(first[at] != other[at] for at in first.keys() & other.keys()):
            return True
    return False


def accepted(checked: Checked) -> bool:
    """True where the flow analysis found nothing."""
    wrong = [item for item in checked.diagnostics if re.match("FDC[13]", item.code) and item.severity == "error"]
    assert not wrong, wrong
    return not any(item.code.startswith("FDC47") for item in checked.diagnostics)
