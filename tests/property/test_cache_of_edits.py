"""A lint after a few edits says what a lint without a cache says, and judges only what the edits are about (issue 2, Speed)."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from fdc_toolchain.cache import edited
from fdc_toolchain.cache.edited import Edited
from fdc_toolchain.cli.linting import incremental
from fdc_toolchain.linking.link import Linker

from tests.property.test_cache import AUTOMATA, PLANS, World, difference, lint, plan, tick
from tests.support.foreign_pack import HEAD, install
from tests.support.plans import CLEAN
from tests.support.process import fdc

SESSIONS = 12
EDITS = 40
BASE = {"alphabet": sorted(AUTOMATA["m.json"]["S"]), "start_state": "S", "accept_states": ["S"]}
MORE = tuple(f"more/p{number}.plan" for number in range(6))
ASSUMING = CLEAN.replace("submit", "run_in_bash_session make all\nread_file a.txt\nsubmit")


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited, "FEWEST", 0)


class Edits(World):
    """A workspace in which mostly texts of plans change, in every way in which a program may save a file."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        super().__init__(folder, rng)
        self.texts: dict[str, list[str]] = {}
        for name in MORE:
            self.write(name, self.text())

    def text(self) -> str:
        """A plan; some call, read or change other plans, and some rest on assumptions."""
        rng = self.rng
        name = rng.choice((*PLANS, *MORE))
        return rng.choice(
            (
                plan(rng), plan(rng), CLEAN, ASSUMING, f"call_plan {name}\n", f"read_file {name}\n",
                f"{ASSUMING}# fdc: ignore[FDC441] on purpose\n", f"call_plan {name}\ncall_plan sub\n",
                f"overwrite_file_with_block {name}\n    x\nread_file {name}\n", "for_each_file *.plan\n  read_file {file1}\n",
                f"use fsm {name}\nset_plan x\n", "call_plan deep-research question=x\n",
                f"overwrite_file_with_block more/{rng.randint(0, 9)}.txt\n    x\n",
            )
        )  # fmt: skip

    def edit(self) -> str:
        if self.rng.random() < 0.1:
            return super().edit()
        if self.rng.random() < 0.1:
            return self.mended()
        count = self.rng.choice((1, 1, 1, 2, 3))
        kinds = (
            *[self.saved] * 4, self.renamed_over, self.renamed_over, self.touched, self.mode, self.back, self.back, self.linked
        )  # fmt: skip
        return ", ".join(self.rng.choice(kinds)() for _ in range(count))

    def mended(self) -> str:
        """What keeps lints from being remembered is gone."""
        self.write("fdc.toml", 'fsm = "m.json"\n')
        for name in AUTOMATA:
            self.write(
                name,
                json.dumps({**BASE, "states": [*AUTOMATA[name]], "transitions": AUTOMATA[name]}),
            )
        for name in (*PLANS, *MORE):
            path = self.folder / name
            if path.is_symlink() or not path.exists():
                path.unlink(missing_ok=True)
                self.write(name, self.text())
        return "mended all"

    def _path(self) -> tuple[str, Path]:
        name = self.rng.choice((*PLANS, *MORE))
        path = self.folder / name
        if path.is_symlink():
            path.unlink()
        return name, path

    def saved(self) -> str:
        name, path = self._path()
        if path.exists():
            self.texts.setdefault(name, []).append(path.read_text())
        self.write(name, self.text())
        return f"saved {name}"

    def renamed_over(self) -> str:
        """As an editor saves that writes another file first."""
        name, path = self._path()
        beside = path.with_name("new~")
        beside.write_text(self.text())
        os.replace(beside, path)
        return f"renamed over {name}"

    def touched(self) -> str:
        name, path = self._path()
        path.touch()
        return f"touched {name}"

    def mode(self) -> str:
        name, path = self._path()
        if path.exists():
            path.chmod(self.rng.choice((0o600, 0o640, 0o644)))
        return f"mode of {name}"

    def back(self) -> str:
        """A text that the plan had before."""
        name, _ = self._path()
        if self.texts.get(name):
            self.write(name, self.rng.choice(self.texts[name]))
        return f"put {name} back"

    def linked(self) -> str:
        name, path = self._path()
        to = self.rng.choice((self.folder / "main.plan", self.folder.parent / "outside.plan"))
        if path == to:
            return "nothing"
        path.unlink(missing_ok=True)
        path.symlink_to(to)
        return f"made {name} a link to {to.name}"


@pytest.mark.long
def test_warm_output_equals_cold_output_after_edits_of_every_kind(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Before some edits everything is long ago, so that the lint is remembered; then it answers, as it was or renewed."""
    used: Counter[str] = Counter()
    for name in ("replaced", "known", "renew"):
        _counted(monkeypatch, name, used)
    (tmp_path / "outside.plan").write_text(CLEAN)
    now = time.time_ns
    for seed in range(SESSIONS):
        rng = random.Random(seed)
        monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / f"cache{seed}"))
        folder = tmp_path / f"w{seed}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        world = Edits(folder, rng)
        paths: list[str] = rng.choice(([], [], ["more"], ["main.plan", "more/p1.plan"]))
        history = []
        for _ in range(EDITS):
            present = [path for path in paths if (folder / path).exists()]
            for _ in range(rng.choice((1, 1, 2, 3))):
                ahead = rng.choice((0, 10_000_000_000))
                monkeypatch.setattr(time, "time_ns", lambda ahead=ahead: now() + ahead)
                options = rng.choice(
                    ([], [], ["--strict"], ["--format", "json"], ["--assumptions"], ["-q"])
                )
                warm = lint(*options, *present)
                cold = lint("--no-cache", *options, *present)
                if warm != cold:
                    what = f"seed {seed}, {options} {present} after {history}"
                    pytest.fail(difference(what, warm, cold), pytrace=False)
            tick(folder)
            history.append(world.edit())
    assert used["replaced"] > 50 and used["known"] > 30 and used["renew"] > 10, used


def _counted(monkeypatch: pytest.MonkeyPatch, name: str, used: Counter[str]) -> None:
    method = getattr(Edited, name)

    def counted(self: Edited, *arguments: object) -> object:
        found = method(self, *arguments)
        used[name] += found is not None or name == "renew"
        return found

    monkeypatch.setattr(Edited, name, counted)


def test_a_place_in_plans_that_call_each_other_is_the_same_whichever_plans_are_judged(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Two plans of a circle may show the flow: which of them is named must not depend on what else is judged."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    for one, two in (("a", "b"), ("b", "a")):
        (workspace / f"{one}.plan").write_text(f"call_plan {two}.plan\nrun_in_bash_session true\n")
    (workspace / "c.plan").write_text("message_user hello\n")
    lint()
    tick(workspace)
    (workspace / "c.plan").write_text("call_plan deep-research question=x\ncall_plan b.plan\n")
    warm = lint()
    assert "FDC47" in warm[1]
    assert warm == lint("--no-cache")


MERGE = (
    "replace_with_git_merge_diff {0}\n    <<<<<<< SEARCH\n    message_user hello\n    =======\n"
    "    message_user bye\n    >>>>>>> REPLACE\nread_file {0}\n"
)
LATER = {
    "a plan that it calls": ("call_plan b.plan\n", "b.plan", "set_plan x\nset_plan y\n"),
    "a plan whose text it depends on": (MERGE.format("b.plan"), "b.plan", "message_user again\n"),
    "a file whose text it depends on": (MERGE.format("notes/n.md"), "notes/n.md", "again\n"),
    "a file that it reads": ("read_file notes/new.md\n", "notes/new.md", "hello\n"),
    "a folder that it lists": ("list_files more\n", "more/n.md", "hello\n"),
}


@pytest.mark.parametrize("renewed", [False, True])
@pytest.mark.parametrize("what", LATER)
def test_what_an_edited_plan_depends_on_now_counts(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, renewed: bool
):
    """The lint was remembered before the plan depended on that; `renewed`: it was remembered once more since."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10_000_000_000)
    used: Counter[str] = Counter()
    for name in ("replaced", "renew"):
        _counted(monkeypatch, name, used)
    step, path, text = LATER[what]
    (workspace / "notes").mkdir()
    (workspace / "notes/n.md").write_text("message_user hello\n")
    (workspace / "a.plan").write_text("message_user hello\n")
    (workspace / "b.plan").write_text("message_user hello\n")
    lint()
    lint()
    tick(workspace)
    (workspace / "a.plan").write_text(CLEAN.replace("close_task", f"{step}close_task"))
    before = lint()
    assert used["replaced"] == 1
    if renewed:
        assert before == lint() == lint()
        assert used["renew"] == 1
    tick(workspace)
    (workspace / path).parent.mkdir(exist_ok=True)
    (workspace / path).write_text(text)
    after = lint()
    assert lint("--no-cache") == after != before
    assert after == lint()


@pytest.mark.parametrize("renewed", [False, True])
def test_a_caller_is_judged_again_through_calls_that_edits_brought(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, renewed: bool
):
    """Two edits make a chain of calls; a third one, at its end, concerns its beginning. Edits that took calls away do not."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10_000_000_000)
    judged: list[list[str]] = []
    judge = incremental.judge

    def counted(linker: Linker, keys: list[str], *rest: list[str]) -> object:
        judged.append(sorted(keys))
        return judge(linker, keys, *rest)

    monkeypatch.setattr(incremental, "judge", counted)
    for name in "abcd":
        (workspace / f"{name}.plan").write_text("message_user hello\n")
    (workspace / "d.plan").write_text("call_plan c.plan\n")
    for number in range(30):
        (workspace / f"p{number}.plan").write_text("message_user hello\n")
    lint()
    lint()
    for name, text, concerned in (
        ("a", CLEAN.replace("close_task", "call_plan b.plan\nclose_task"), "a"),
        ("b", "call_plan c.plan\n", "ab"),
        ("d", "message_user bye\n", "d"),
        ("c", "set_plan x\nset_plan y\n", "abc"),
        ("c", "message_user hello\n", "abc"),
        ("b", "message_user hello\n", "ab"),
        ("c", "message_user bye\n", "c"),
    ):
        tick(workspace)
        judged.clear()
        (workspace / f"{name}.plan").write_text(text)
        warm = lint()
        assert judged == [[f"{one}.plan" for one in concerned]], (name, text)
        assert warm == lint("--no-cache")
        if renewed:
            assert warm == lint()


def test_a_plan_of_few_that_is_again_as_it_was_is_not_judged_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As hooks do that put away what is not staged, and after a change of the branch."""
    monkeypatch.setattr(edited, "FEWEST", 200)
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(workspace)
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10_000_000_000)
    used = Counter[str]()
    judge = incremental.judge
    monkeypatch.setattr(
        incremental,
        "judge",
        lambda *given, **more: (used.update(["judge"]), judge(*given, **more))[1],
    )
    for number, text in enumerate((CLEAN, f"{CLEAN}# more\n", CLEAN, f"{CLEAN}# more\n")):
        (workspace / "a.plan").write_text(text)
        tick(workspace)
        assert lint()[0] in (0, 1)
        assert used["judge"] == min(number, 1) + 1


BREW = {
    "summary": "s", "action": "step_op", "effect": "pure", "trust": "trusted", "parameters": [], "result": "text",
}  # fmt: skip
PACK = f'{HEAD}catalogues = ["tools.json"]\n[tools]\nbrew = "deeds:brew"\n'


def test_a_pack_that_is_installed_between_two_edits_counts_for_plans_that_nobody_edited(
    workspace: Path, tmp_path: Path
) -> None:
    site, env = tmp_path / "site", {"FDC_CACHE_DIR": str(tmp_path / "cache")}
    site.mkdir()
    env["PYTHONPATH"] = str(site)
    brews = "use pack tea\nset_plan x\nbrew\nplan_step_complete y\nclose_task\nsubmit\n"
    (workspace / "brews.plan").write_text(brews)
    for number in range(200):
        (workspace / f"p{number}.plan").write_text("message_user hello\n")
    time.sleep(0.3)  # a file of just now may change behind its times

    def said(*options: str) -> tuple[int, str]:
        done = fdc("lint", *options, cwd=workspace, env=env, fresh=True)
        return done.returncode, done.stdout

    assert said() == said()
    (workspace / "p0.plan").write_text("message_user again\n")
    assert "brews.plan" in said()[1]
    pack = install(site, "tea", PACK)
    (pack / "tools.json").write_text(
        json.dumps({"format": 1, "name": "tea", "tools": {"brew": BREW}})
    )
    (pack / "deeds.py").write_text("def brew(args, context):\n    return ''\n")
    (workspace / "p0.plan").write_text("message_user once more\n")
    after = said()
    assert after == said("--no-cache")
    assert "brews.plan" not in after[1]
