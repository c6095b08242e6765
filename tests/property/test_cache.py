"""A verdict from the cache is the verdict: after any edit, warm output equals cold output byte for byte (issue 2, Speed)."""

from __future__ import annotations

import difflib
import io
import json
import os
import random
import shutil
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from fdc_toolchain.cache import table
from fdc_toolchain.cache.blob_ids import Contents
from fdc_toolchain.cli.linting import fast_lint, incremental
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings

from tests.support.plans import CLEAN

SESSIONS = 8
EDITS = 16


class Stdout(io.StringIO):
    """A stream that says, as a terminal's does, in what encoding it is."""

    encoding = "utf-8"  # type: ignore[assignment]


def lint(*arguments: str) -> tuple[int | None, str, str]:
    """`fdc lint ARGUMENTS` in this process: exit code, stdout, stderr."""
    out, err = Stdout(), Stdout()
    with redirect_stdout(out), redirect_stderr(err):
        code = fast_lint.main(list(arguments))
    return code, out.getvalue(), err.getvalue()


AUTOMATA = {
    "m.json": {
        "S": {
            "read_op": "S",
            "write_op": "S",
            "delete_op": "S",
            "plan_op": "S",
            "tool_exec": "S",
            "step_op": "S",
        }
    },
    "n.json": {
        "S": {"read_op": "T", "plan_op": "S"},
        "T": {"read_op": "T", "step_op": "S", "write_op": "T"},
    },
}


def automaton(rng: random.Random, name: str) -> str:
    rows = AUTOMATA[name]
    if rng.random() < 0.3:
        rows = {
            state: {k: v for k, v in row.items() if rng.random() < 0.8}
            for state, row in rows.items()
        }
    symbols = sorted({symbol for row in AUTOMATA["m.json"] for symbol in AUTOMATA["m.json"]["S"]})
    return json.dumps(
        {
            "states": sorted(rows),
            "alphabet": symbols,
            "transitions": rows,
            "start_state": "S",
            "accept_states": ["S"],
        }
    )


PLANS = ("main.plan", "other.plan", "lib/sub.plan", "lib/deep.plan", "lib/own.plan")


def plan(rng: random.Random) -> str:
    """A plan text; most have something wrong with them in some state of the workspace."""
    lines = rng.choice(
        ([], [], ["use fsm m.json"], ["use fsm n.json"], ["use fsm gone.json"], ["# FSM: m.json"])
    )[:]
    lines += rng.choice(([], [], [], ["param p"], ["param p = a.txt"]))
    if rng.random() < 0.2:
        lines.append(f"# fdc: ignore[{rng.choice(('FDC411', 'FDC441', 'FDC313'))}] on purpose")
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.35:
            name = rng.choice((*PLANS, "sub", "./lib/deep.plan", "deep-research", "nowhere"))
            given = " p=b.txt" if rng.random() < 0.4 else ""
            depth = " depth 1" if rng.random() < 0.15 else ""
            lines.append(f"call_plan {name}{given}{depth}")
        elif kind < 0.6:
            lines.append(
                f"read_file {rng.choice(('a.txt', 'b.txt', 'lib/c.txt', 'd/e/f.txt', '{p}', 'd/{p}', 'd/e/{p}.txt'))}"
            )
        elif kind < 0.75:
            lines.append(
                rng.choice(
                    (
                        "delete_file a.txt", "create_file_with_block b.txt", "special x", "set_plan x",
                        "overwrite_file_with_block d/e/f.txt", "overwrite_file_with_block d/g.txt", "list_files d",
                        "create_file_with_block d/e/{p}",
                    )
                )
            )  # fmt: skip
        elif kind < 0.9:
            lines.append("for_each_file *.txt")
            lines.append(
                "  "
                + rng.choice(("read_file {file1}", "call_plan sub p={file1}", "plan_step_complete"))
            )
        else:
            lines.append(
                rng.choice(("nonsense", "x <- read_file a.txt", "run_in_bash_session true"))
            )
    return "\n".join(lines) + "\n"


CATALOGUE = {
    "format": 1,
    "name": "own",
    "tools": {
        "special": {
            "summary": "x", "action": "read_op", "effect": "pure", "trust": "trusted",
            "parameters": [{"name": "p", "kind": "word"}],
        }
    },
}  # fmt: skip


class World:
    """A small workspace and random edits to it."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.write("fdc.toml", 'fsm = "m.json"\n')
        for name in AUTOMATA:
            self.write(name, automaton(rng, name))
        for name in PLANS:
            self.write(name, plan(rng))
        self.write("knowledge_core/plan_registry.json", '{"sub": "lib/sub.plan"}')
        self.write("a.txt", "a")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self) -> str:
        """Changes something; says what."""
        return self.rng.choice(
            (
                self.edit_plan, self.edit_plan, self.edit_plan, self.same_times, self.delete_plan, self.files, self.files,
                self.settings, self.registry, self.catalogue, self.automata, self.touch, self.move,
                self.protocols, self.protocols, self.protocols, self.kinds, self.kinds,
            )
        )()  # fmt: skip

    def edit_plan(self) -> str:
        name = self.rng.choice(PLANS)
        self.write(name, plan(self.rng))
        return f"edited {name}"

    def same_times(self) -> str:
        """Another text of the same size, with the times that the file had."""
        name = self.rng.choice(PLANS)
        path = self.folder / name
        if not path.exists():
            return "nothing"
        info, text = path.stat(), path.read_text()
        other = (
            text.replace("a.txt", "b.txt") if "a.txt" in text else text.replace("b.txt", "a.txt")
        )
        path.write_text(other)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        return f"edited {name} and put its times back"

    def delete_plan(self) -> str:
        name = self.rng.choice(PLANS[1:])
        (self.folder / name).unlink(missing_ok=True)
        return f"deleted {name}"

    def files(self) -> str:
        name = self.rng.choice(("a.txt", "b.txt", "lib/c.txt", "d/e/f.txt"))
        path = self.folder / name
        if path.exists():
            path.unlink()
            return f"deleted {name}"
        try:
            self.write(name, "x")
        except (FileExistsError, NotADirectoryError):
            return "nothing"
        return f"created {name}"

    def kinds(self) -> str:
        """Something else where a folder was, or nothing; something where nothing was."""
        name = self.rng.choice(("d", "d", "d/e", "d/e/f.txt"))
        path = self.folder / name
        if os.path.lexists(path):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            if self.rng.random() < 0.3:
                return f"removed {name}"
        kind = self.rng.choice(("file", "folder", "link to a folder", "link to a file", "link"))
        if not path.parent.is_dir():
            return "nothing"
        if kind == "file":
            path.write_text("x")
        elif kind == "folder":
            path.mkdir()
        else:
            to = {"link to a folder": "lib", "link to a file": "a.txt", "link": "nowhere"}[kind]
            path.symlink_to(self.folder / to)
        return f"made {name} a {kind}"

    def settings(self) -> str:
        text = self.rng.choice(
            (
                'fsm = "m.json"\n', 'fsm = "n.json"\n', 'fsm = "m.json"\nstrict = true\n',
                'fsm = "m.json"\nignore = ["FDC411"]\n', 'fsm = "m.json"\nexclude = ["lib/deep.plan"]\n',
                'fsm = "m.json"\nprofile = "fdc"\n', 'fsm = "m.json"\nmax-stack = 2\n', "nonsense\n",
                'fsm = "m.json"\nprotocols = "lib"\n', 'fsm = "m.json"\nprotocols = ""\n',
                'fsm = "m.json"\n[per-file-ignores]\n"lib/*" = ["FDC411", "FDC321"]\n',
            )
        )  # fmt: skip
        self.write("fdc.toml", text)
        return f"settings: {text!r}"

    def registry(self) -> str:
        text = self.rng.choice(
            ('{"sub": "lib/sub.plan"}', '{"sub": "lib/deep.plan"}', "{}", '{"sub": "gone.plan"}', "damaged",
             '{"sub": "lib/sub.plan", "main": "main.plan", "other.plan": "lib/deep.plan"}')
        )  # fmt: skip
        self.write("knowledge_core/plan_registry.json", text)
        return f"registry: {text}"

    def catalogue(self) -> str:
        path = self.folder / "fdc_tools.json"
        if path.exists() and self.rng.random() < 0.5:
            path.unlink()
            return "no catalogue"
        path.write_text(json.dumps(CATALOGUE) if self.rng.random() < 0.7 else "{")
        return "another catalogue"

    def automata(self) -> str:
        name = self.rng.choice(sorted(AUTOMATA))
        if self.rng.random() < 0.2:
            (self.folder / name).unlink(missing_ok=True)
            return f"deleted {name}"
        self.write(name, automaton(self.rng, name))
        return f"edited {name}"

    def protocols(self) -> str:
        """Adds, edits, damages or deletes a source of protocols; some lie deeper, some where only some settings look."""
        rng = self.rng
        name = (
            rng.choice(("protocols/a", "protocols/a", "protocols/b", "protocols/deep/c", "lib/d"))
            + ".protocol.json"
        )
        path = self.folder / name
        if path.exists() and rng.random() < 0.35:
            path.unlink()
            return f"deleted {name}"
        check = {
            "template": rng.choice(
                ("absence", "existence", "last", "precedence", "response", "responce")
            ),
            "a": rng.choice(
                (
                    "read_op",
                    "read_file",
                    "special",
                    {"action": "read_op", "arguments": {"path": "lib/*"}},
                )
            ),
        }
        if check["template"] in ("precedence", "response"):
            check["b"] = rng.choice(("step_op", "tool_exec"))
        if rng.random() < 0.3:
            check["same"] = "path"
        if rng.random() < 0.2:
            check["where"] = {"automata": [rng.choice(("m.json", "n.json", "gone.json"))]}
        rule = {"rule_id": "r", "description": "Tea.", "enforcement": "Tea.", "check": check}
        text = json.dumps(
            {"protocol_id": path.name[0], "description": "Tea.", "rules": [rule]}, indent=1
        )
        self.write(name, text if rng.random() < 0.9 else text[:-9])
        return f"{name}: {json.dumps(check)}"

    def touch(self) -> str:
        for name in PLANS:
            if (self.folder / name).exists():
                os.utime(self.folder / name)
        return "touched"

    def move(self) -> str:
        one, two = self.rng.sample(PLANS, 2)
        if (self.folder / one).exists():
            os.replace(self.folder / one, self.folder / two)
        return f"moved {one} to {two}"

    def arguments(self) -> list[str]:
        present = [name for name in PLANS if (self.folder / name).exists()]
        rng = self.rng
        paths: list[str] = rng.choice(
            ([], [], ["lib"], [rng.choice(present)] if present else [], present[:2])
        )
        options: list[str] = rng.choice(
            ([], [], [], ["--strict"], ["--format", "json"], ["--fsm", "n.json"], ["--profile", "fdc"], ["-q"],
             ["--format", "concise"], ["--model", "A"], ["--exit-zero"])
        )  # fmt: skip
        return [*options, *paths]


def difference(what: str, warm: tuple[object, ...], cold: tuple[object, ...]) -> str:
    """The two outcomes side by side, as a failing test shows them."""
    lines = difflib.unified_diff(
        str(warm[1]).split("\n"), str(cold[1]).split("\n"), "warm", "cold", n=2, lineterm=""
    )
    return "\n".join((what, f"exit {warm[0]} and {cold[0]}, {warm[2]!r} and {cold[2]!r}", *lines))


@pytest.mark.long
def test_warm_output_equals_cold_output_after_any_edit(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Every session edits one workspace; after each edit two warm runs are compared with one that uses no cache.

    In every other session all edits are long ago, so that what was seen is remembered at once. In every other pair of
    sessions what is new in a table is stored beside it, however much it is.
    """
    codes: set[int | None] = set()
    now = time.time_ns
    for seed in range(SESSIONS):
        monkeypatch.setattr(time, "time_ns", now if seed % 2 else lambda: now() + 10_000_000_000)
        monkeypatch.setattr(table, "FEW", 0 if seed & 2 else 16)
        monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / f"cache{seed}"))
        folder = tmp_path / f"w{seed}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        world = World(folder, random.Random(seed))
        history = []
        for _ in range(EDITS):
            arguments = world.arguments()
            for _ in range(2):
                warm = lint(*arguments)
                cold = lint("--no-cache", *arguments)
                if warm != cold:
                    pytest.fail(
                        difference(f"seed {seed}, {arguments} after {history}", warm, cold),
                        pytrace=False,
                    )
            codes.add(warm[0])
            tick(folder)
            history.append(world.edit())
    assert codes == {0, 1, 2}, "the sessions must see clean, dirty and broken workspaces"


@pytest.mark.parametrize(
    "form", ["text", "concise", "llm", "json", "jsonl", "sarif", "github", "gitlab", "junit"]
)
@pytest.mark.parametrize(
    "text", ["use fsm tooling/fdc_fsm.json\nset_plan x\n", CLEAN.replace("read_file", "list_files")]
)
def test_warm_output_equals_cold_output_in_every_format(workspace: Path, form: str, text: str):
    (workspace / "a.plan").write_text(text)
    for options in ([], ["--quiet"], ["--strict"], ["--color", "always"]):
        arguments = ["--format", form, *options, "a.plan"]
        cold = lint("--no-cache", *arguments)
        assert lint(*arguments) == cold, "the first time"
        assert lint(*arguments) == cold, "the second time"


def test_a_file_changed_while_it_is_judged_is_judged_again(workspace: Path):
    """The id that a verdict rests on is that of the bytes that were read, not of those on disk a moment later."""
    (workspace / "main.plan").write_text("use fsm tooling/fdc_fsm.json\ncall_plan sub.plan\n")
    (workspace / "sub.plan").write_text("read_file a.txt\n")

    class Busy(Files):
        """Somebody saves the callee just after it was read."""

        def read(self, key: str) -> bytes | None:
            data = super().read(key)
            if key == "sub.plan" and data == b"read_file a.txt\n":
                (workspace / key).write_text("nonsense\n")
            return data

    root = str(workspace)
    linker = Linker(root, Settings(), Busy(root))
    outcome = incremental.findings(linker, ["main.plan"], Contents(root), "")
    assert "FDC301" not in {item.code for item in outcome.found}
    again = incremental.findings(Linker(root, Settings()), ["main.plan"], Contents(root), "")
    assert "FDC301" in {item.code for item in again.found}
    assert outcome.files["sub.plan"] != again.files["sub.plan"]


def test_a_plan_that_was_sought_in_a_missing_folder_counts_once_it_is_there(workspace: Path):
    (workspace / "main.plan").write_text("".join(f"call_plan parts/p{n}.plan\n" for n in range(3)))
    before = lint("main.plan")
    assert before[1].count("FDC321") == 3
    assert before == lint("main.plan")
    for number in range(3):
        path = workspace / "parts" / f"p{number}.plan"
        path.parent.mkdir(exist_ok=True)
        path.write_text("plan_step_complete x\n")
        after = lint("main.plan")
        assert after[1].count("FDC321") == 2 - number
        assert after == lint("--no-cache", "main.plan")


def test_of_many_plans_only_what_is_new_is_judged_and_stored(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """An edit adds an assumption, with which the pack of assumptions begins; then another one is taken back."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    for number in range(40):
        (workspace / f"p{number}.plan").write_text(f"message_user hello {number}\n")
    (workspace / "p40.plan").write_text("call_plan p0.plan\n")
    (workspace / "docs").mkdir()
    (workspace / "docs/tea.md").write_text("Green tea.\n")
    commanded = CLEAN.replace(
        "submit", "run_in_bash_session make all\nread_file docs/tea.md\nsubmit"
    )
    judged: list[list[str]] = []
    judge = incremental.judge

    def counted(linker: Linker, keys: list[str], *rest: list[str]) -> object:
        judged.append(sorted(keys))
        return judge(linker, keys, *rest)

    monkeypatch.setattr(incremental, "judge", counted)
    lint()
    assert len(judged.pop()) == 41
    for text, stored in (
        (commanded, "plans"),
        ("message_user again\n", "edits"),
        (f"{commanded}# changed\n", "edits"),
        ("read_file p1.plan\n", "edits"),
    ):
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*")}
        tick(workspace)
        (workspace / "p0.plan").write_text(text)
        warm = lint()
        assert [["p0.plan", "p40.plan"]] == judged
        judged.clear()
        assert warm == lint("--no-cache")
        new = {
            path.parent.name
            for path in (tmp_path / "cache").rglob("*")
            if path.is_file() and before.get(path) != path.stat().st_mtime_ns
        }
        assert stored in new and (stored == "plans") == ("plans" in new), text


def tick(folder: Path) -> None:
    """Returns when the clock of the file system has moved on: a write from now on leaves other times."""
    probe = folder.parent / "tick"
    probe.write_bytes(b"")
    first = probe.stat().st_mtime_ns
    while probe.stat().st_mtime_ns == first:
        probe.write_bytes(b"x")
