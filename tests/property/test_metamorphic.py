"""What may be done to a plan without changing its verdict (formal core, C 4), and what must never matter."""

from __future__ import annotations

import copy
import functools
import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_toolchain import check as check_module
from fdc_toolchain.check import check
from fdc_toolchain.diagnostics.diagnostic import Diagnostic
from fdc_toolchain.diagnostics.span import Span
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings

from tests.support import filesets, plansets
from tests.support.plansets import PlanSet, plan_set
from tests.support.process import fdc
from tests.support.profiles import quick_and_whole

VERDICT = ("FDC401", "FDC402")
Change = Callable[[PlanSet], PlanSet | None]


def judged(
    files: dict[str, bytes], key: str, there: frozenset[str] = frozenset()
) -> list[Diagnostic]:
    class World(Files):
        def exists(self, path: str) -> bool:
            return path in there

    world = World("/nonexistent")
    world.seen |= files
    return check(Linker("/nonexistent", Settings(), world), [key]).diagnostics


def verdict(made: PlanSet, key: str = "p0.plan") -> set[str]:
    found = judged(made.files | {"fdc_tools.json": plansets.CATALOGUE}, key)
    return {item.code for item in found if item.code in VERDICT and item.span.path == key}


def written(made: PlanSet) -> PlanSet:
    """With the text of its plans written anew from the tree."""
    for number, body in enumerate(made.bodies):
        lines = [f"use fsm m{number}.json"] if made.machines[number] else []
        plansets._write(body, 0, lines)
        made.files[f"p{number}.plan"] = ("\n".join(lines) + "\n").encode()
    return made


def everywhere(body: list, change: Callable[[tuple], list | None]) -> tuple[list, int]:
    """The body with every item replaced by what `change` makes of it (None: itself), inner ones first; how many were."""
    out: list = []
    count = 0
    for item in body:
        parts = []
        for part in item:
            if isinstance(part, list):
                part, more = everywhere(part, change)
                count += more
            parts.append(part)
        made = change(tuple(parts))
        count += made is not None
        out += [tuple(parts)] if made is None else made
    return out, count


def changed(made: PlanSet, change: Callable[[tuple], list | None]) -> PlanSet | None:
    copied = copy.deepcopy(made)
    count = 0
    for number, body in enumerate(copied.bodies):
        copied.bodies[number], more = everywhere(body, change)
        count += more
    return written(copied) if count else None


def inlined(made: PlanSet) -> PlanSet | None:
    """Every call of a fragment replaced by its steps. Callees have higher numbers, so the last ones go first."""
    copied = copy.deepcopy(made)
    count = 0
    for number in reversed(range(len(copied.bodies))):

        def change(item: tuple) -> list | None:
            fragment = item[0] == "call" and copied.machines[item[1]] is None
            return copied.bodies[item[1]] if fragment else None

        copied.bodies[number], more = everywhere(copied.bodies[number], change)
        count += more
    return written(copied) if count else None


def unrolled(made: PlanSet) -> PlanSet | None:
    """`iterate max N until ...` is the body, and then at most N - 1 times more; without `until` it is N times the body."""

    def change(item: tuple) -> list | None:
        if item[0] == "exact":
            return item[2] * item[1]
        if item[0] != "iterate":
            return None
        return item[2] + ([("for", item[1] - 1, item[2])] if item[1] > 1 else [])

    return changed(made, change)


def swapped(made: PlanSet) -> PlanSet | None:
    return changed(
        made, lambda item: [("if", item[2], item[1])] if item[0] == "if" and item[2] else None
    )


def wrapped(made: PlanSet) -> PlanSet | None:
    """A loop that runs exactly once is its body."""
    return changed(made, lambda item: [("iterate", 1, [item])] if item[0] == "step" else None)


def doubled(made: PlanSet) -> PlanSet | None:
    """A choice between the same is none."""
    return changed(
        made, lambda item: [("if", [item], [item])] if item[0] in ("step", "call") else None
    )


def extracted(made: PlanSet) -> PlanSet | None:
    """Each step in a plan of its own that names no automaton."""
    copied = copy.deepcopy(made)
    for tool in plansets.TOOLS:
        copied.files[f"{tool}.plan"] = f"{tool}\n".encode()
    for name, data in copied.files.items():
        if name.startswith("p"):
            lines = data.decode().split("\n")
            for number, line in enumerate(lines):
                if line.strip() in plansets.TOOLS:
                    lines[number] = line.replace(line.strip(), f"call_plan {line.strip()}.plan")
            copied.files[name] = "\n".join(lines).encode()
    return copied


@functools.cache
def original(seed: int) -> tuple[PlanSet, set[str]]:
    """A plan set, which no test changes, and its verdict."""
    made = plan_set(seed)
    return made, verdict(made)


@pytest.mark.parametrize("sets", quick_and_whole(50, 200))
@pytest.mark.parametrize(
    "change",
    [inlined, unrolled, swapped, wrapped, doubled, extracted],
    ids=lambda change: change.__name__,
)
def test_a_plan_that_means_the_same_has_the_same_verdict(change: Change, sets: int):
    compared = 0
    for seed in range(sets):
        made, expected = original(seed)
        other = change(made)
        if other is None:
            continue
        assert verdict(other) == expected, f"seed {seed}\n" + "".join(
            f"-- {name}\n{data.decode()}"
            for name, data in other.files.items()
            if name.endswith(".plan")
        )
        compared += 1
    assert compared > sets // 5


@pytest.mark.parametrize("sets", quick_and_whole(30, 120))
def test_names_of_plans_and_states_do_not_matter(sets: int):
    for seed in range(sets):
        made, expected = original(seed)
        other = copy.deepcopy(made)
        for name in list(other.files):
            data = other.files.pop(name)
            for number in reversed(range(8)):
                data = data.replace(b"p%d.plan" % number, b"z%d/other.plan" % (9 - number))
                data = data.replace(b'"S%d"' % number, b'"Q%d"' % (9 - number))
            new = f"z{9 - int(name[1])}/other.plan" if name.endswith(".plan") else name
            other.files[new] = data
        assert verdict(other, "z9/other.plan") == expected, f"seed {seed}"


def told(files: dict[str, bytes], moved: dict[tuple[str, int], int]) -> set[tuple]:
    """What is found, with its trace, at the lines where `moved` has put them."""

    def place(span: Span) -> tuple[str, int]:
        return span.path, moved.get((span.path, span.line), span.line)

    return {
        (item.code, place(item.span), item.message.split(" (reached")[0],
         tuple((place(label.span), label.message) for label in item.trace))
        for item in judged(files | {"fdc_tools.json": plansets.CATALOGUE}, "p0.plan")
    }  # fmt: skip


@pytest.mark.parametrize("sets", quick_and_whole(40, 150))
def test_comments_and_blank_lines_move_findings_and_change_nothing_else(sets: int):
    """Every finding is where its line went, with the same words."""
    for seed in range(sets):
        rng = random.Random(seed)
        made = plan_set(seed)
        moved: dict[tuple[str, int], int] = {}
        other = dict(made.files)
        for name, data in made.files.items():
            if not name.endswith(".plan"):
                continue
            out: list[str] = []
            for number, line in enumerate(data.decode().splitlines(), 1):
                if number > 1 and rng.random() < 0.4:
                    indent = " " * (len(line) - len(line.lstrip()))
                    out += [rng.choice(("", "# a remark", indent + "# a remark", "   "))]
                out.append(line)
                moved[(name, number)] = len(out)
            other[name] = ("\n".join(out) + "\n").encode()

        assert told(other, {}) == told(made.files, moved), f"seed {seed}"


def files_told(made: filesets.FileSet) -> set[tuple[str, str]]:
    files = made.files | {"fdc_tools.json": filesets.CATALOGUE, "any.json": filesets.AUTOMATON}
    return {
        (item.code, item.message)
        for item in judged(files, "p0.plan", made.there)
        if item.code in ("FDC411", "FDC412")
    }


@pytest.mark.long
def test_what_is_said_of_files_does_not_change_with_the_way_it_is_written():
    """`iterate` unrolled once, branches swapped, a loop that runs once around it."""
    compared = 0
    for seed in range(1000):
        made = filesets.file_set(seed)
        other = copy.deepcopy(made)
        count = 0

        def rewrite(body: list) -> list:
            nonlocal count
            out: list = []
            for item in body:
                if item[0] == "if":
                    item[3], item[4] = rewrite(item[3]), rewrite(item[4])
                    if item[4] and item[2] is None:
                        item[3], item[4] = item[4], item[3]
                        count += 1
                elif item[0] in ("each", "for", "iterate"):
                    item[4] = rewrite(item[4])
                    if item[0] == "iterate":
                        count += 1
                        more = (
                            [["for", 0, item[2] - 1, "_again", copy.deepcopy(item[4])]]
                            if item[2] > 1
                            else []
                        )
                        out += [*item[4], *more]
                        continue
                out.append(item)
            return out

        for number, body in enumerate(other.bodies):
            other.bodies[number] = rewrite(body)
            head = [
                line
                for line in other.files[f"p{number}.plan"].decode().split("\n")
                if line.startswith(("use", "param"))
            ]
            filesets._write(other.bodies[number], 0, head)
            other.files[f"p{number}.plan"] = ("\n".join(head) + "\n").encode()
        if not count:
            continue
        if any(b" depth " in data for data in made.files.values()):
            continue  # a call that counts its turns is another one where it is written twice
        assert files_told(other) == files_told(made), (
            f"seed {seed}\n{other.files['p0.plan'].decode()}"
        )
        compared += 1
    assert compared > 150


# ---- what must never matter ---------------------------------------------------------------------


def workspace_files() -> dict[str, bytes]:
    """Plans with findings of every kind, some of which say the same in several ways."""
    files: dict[str, bytes] = {"fdc_tools.json": plansets.CATALOGUE}
    for number, seed in enumerate((2, 5, 11, 17, 23)):
        for name, data in plan_set(seed).files.items():
            data = data.replace(b"call_plan p", b"call_plan w%d/p" % number).replace(
                b"fsm m", b"fsm w%d/m" % number
            )
            files[f"w{number}/{name}"] = data
    files["x.plan"] = (
        b"use fsm w0/m0.json\nread_file a\ndelete_file a\nread_file a\ncall_plan y.plan\ncall_plan y.plan\n"
        b"r <- ta\nr <- tb\nfork z in {r} max 3\n  ta\n  create_file_with_block out.md\nnonsense {r.q} {s}\n"
    )
    files["y.plan"] = (
        b"read_file b\ndelete_file b\ndelete_file b\nread_file b\ncall_plan x.plan\ncall_plan z.plan\n"
    )
    files["z.plan"] = b"call_plan y.plan\nread_file b\nmessage_user {nobody}\n"
    return files


def test_the_order_of_arguments_and_of_rules_does_not_matter(monkeypatch: pytest.MonkeyPatch):
    files = workspace_files()
    keys = [name for name in files if name.endswith(".plan")]
    rng = random.Random(1)
    rules = list(check_module.RULES)

    def found() -> list[Diagnostic]:
        world = Files("/nonexistent")
        world.seen |= files
        return check(Linker("/nonexistent", Settings(), world), keys).diagnostics

    first = found()
    assert len({item.code for item in first}) > 8
    for _ in range(12):
        rng.shuffle(keys)
        rng.shuffle(rules)
        monkeypatch.setattr(check_module, "RULES", tuple(rules))
        assert found() == first


@pytest.mark.slow
def test_the_seed_of_hashes_does_not_matter(workspace: Path):
    for name, data in workspace_files().items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_bytes(data)
    outputs = {
        fdc(
            "lint", "--no-cache", "--format", form, cwd=workspace, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed, form in itertools.product(("0", "1", "2", "77"), ("json",))
    }
    assert len(outputs) == 1
