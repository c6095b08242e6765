"""P3 and P4: thousands of plans, cold on one CPU, and again with what was learned."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from .corpus import write, write_others, write_plans, write_workspace
from .measure import Command, Sample, milliseconds, ratio, spread
from .rows import Row, Session

SEED = 20_26
COUNT, SAMPLE = 5_000, 500
"""Plans; files given to the tools that are too slow for as many."""

TINY, TINY_SAMPLE = 20, 10


def git(folder: Path, *arguments: str) -> None:
    """Runs git in a folder; raises where it fails."""
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    subprocess.run(("git", *who, *arguments), cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    """Makes a repository of a folder, which also hides the configuration of the repository around it."""
    write(folder / ".gitignore", ".ruff_cache/\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "corpus")


class Corpora:
    """The plans and, in repositories of their own, as many Python and YAML files; clean, and with a finding each."""

    def __init__(self, home: Path, count: int, sample: int) -> None:
        shutil.rmtree(home, ignore_errors=True)
        self.home = home
        self.plans, self.others = home / "plans", home / "others"
        self.bad_plans, self.bad_others = home / "bad-plans", home / "bad-others"
        write_workspace(self.plans)
        texts = write_plans(self.plans, count, SEED)
        write_others(self.others, texts, SEED)
        write_workspace(self.bad_plans)
        write_others(
            self.bad_others,
            write_plans(self.bad_plans, count, SEED, finding=True),
            SEED,
            finding=True,
        )
        for folder in (self.others, self.bad_others):
            write(folder / "ruff.toml", "")
        for folder in (self.plans, self.others, self.bad_plans, self.bad_others):
            commit(folder)
        self.lines = sum(text.count("\n") for text in texts)
        self.sample_lines = sum(text.count("\n") for text in texts[:sample])
        self.python = [f"py/module_{number}.py" for number in range(sample)]
        self.yaml = [f"yaml/flow_{number}.yaml" for number in range(sample)]


def forget(cache: Path) -> Callable[[], None]:
    """Removes every verdict and leaves the compiled grammar, as after an update of all plans."""

    def now() -> None:
        for item in cache.iterdir() if cache.exists() else ():
            if not item.name.startswith("tables-"):
                shutil.rmtree(item) if item.is_dir() else item.unlink()

    return now


def measure(session: Session) -> None:
    """Adds the rows of P3 and P4."""
    count, sample = (TINY, TINY_SAMPLE) if session.quick else (COUNT, SAMPLE)
    corpora = Corpora(session.home / "bulk", count, sample)
    _cold(session, corpora, count)
    _warm(session, corpora, count)
    _same_bytes(session, corpora)


def _cold(session: Session, corpora: Corpora, count: int) -> None:
    tools, anchors = session.tools, session.tools.anchors
    commands = {
        "fdc": Command(
            (*tools.fdc, "lint"), corpora.plans, before=forget(session.home / "cache"), pinned=True
        ),
    }
    lines = {"fdc": corpora.lines}
    others = {
        "ruff": (("check", "--quiet", "--no-cache", "py"), corpora.lines),
        "pyflakes": (tuple(corpora.python), corpora.sample_lines),
        "yamllint": (tuple(corpora.yaml), corpora.sample_lines),
        "check-jsonschema": (
            ("--schemafile", "workflow.schema.json", *corpora.yaml),
            corpora.sample_lines,
        ),
    }
    for name, (arguments, much) in others.items():
        if name in anchors:
            commands[name] = Command((anchors[name], *arguments), corpora.others, pinned=True)
            lines[name] = much
    found = session.interleave(commands, 5, warm_up=False)

    def rate(name: str, kind: int) -> list[float]:
        return [lines[name] / 1000 / sample[kind] for sample in found[name]]

    wall, cpu = spread(rate("fdc", 0)), spread(rate("fdc", 1))
    rates = [f"{name} {spread(rate(name, 1)).median:.1f}" for name in others if name in found]
    beside = f"klines/s of CPU: {'; '.join(rates)}"
    figure = f"{milliseconds(found['fdc'], cpu=True).median / 1000:.2f} s of CPU for {corpora.lines / 1000:.0f} klines"
    what = f"cold lint of {count:,} plans, all checks, one CPU"
    session.rows.append(Row("P3", what, figure, beside, "klines/s", wall, cpu, 100, at_least=True))
    for name, goal in (("yamllint", 20.0), ("pyflakes", None), ("ruff", None)):
        if name in found:
            # lines a second of ours divided by theirs: their time over ours, for the same number of lines
            scale = lines["fdc"] / lines[name]
            pair = found[name], found["fdc"]
            both = ratio(*pair, scale=scale), ratio(*pair, cpu=True, scale=scale)
            what = f"the same, lines a second / {name}"
            session.rows.append(Row("P3", what, "", "", "x", *both, goal, at_least=True))


def _warm(session: Session, corpora: Corpora, count: int) -> None:
    cases: tuple[
        tuple[str, Callable[[Session, Corpora], Mapping[str, Command]], int, float | None], ...
    ] = (
        (f"warm lint of {count:,} unchanged plans", _unchanged, 25, 1.5),
        ("the same, one plan edited since", _edited, 9, 3.0),
        ("the same, in a fresh clone with the cache restored", _clone, 7, 1.5),
        (f"warm lint of {count:,} plans with one finding each", _findings, 9, 1.5),
    )
    for what, contenders, rounds, goal in cases:
        found = session.interleave(contenders(session, corpora), rounds)
        _warm_row(session, what, found, goal)


def _warm_row(
    session: Session, what: str, found: Mapping[str, list[Sample]], goal: float | None
) -> None:
    bare = ratio(found["fdc"], found["pass"])
    figure = f"{milliseconds(found['fdc']).median:.0f} ms ({bare.median:.1f} x pass)"
    if "ruff" in found:
        beside = f"ruff {milliseconds(found['ruff']).median:.0f} ms"
        both = ratio(found["fdc"], found["ruff"]), ratio(found["fdc"], found["ruff"], cpu=True)
        session.rows.append(
            Row("P4", f"{what} / ruff in the same case", figure, beside, "x", *both, goal)
        )
    else:
        both = bare, ratio(found["fdc"], found["pass"], cpu=True)
        session.rows.append(Row("P4", f"{what} / `python -c pass`", figure, "", "x", *both))


def _contenders(
    session: Session,
    plans: Path,
    others: Path,
    before_fdc: Callable[[], None] | None = None,
    before_ruff: Callable[[], None] | None = None,
    cache: str = "cache",
) -> dict[str, Command]:
    env = {"FDC_CACHE_DIR": str(session.home / cache)}
    tools = session.tools
    commands = {
        "pass": Command((tools.python, "-c", "pass"), session.home),
        "fdc": Command((*tools.fdc, "lint"), plans, before=before_fdc, env=env, exits=(0, 1)),
    }
    if "ruff" in tools.anchors:
        commands["ruff"] = Command(
            (tools.anchors["ruff"], "check", "py"), others, before=before_ruff, exits=(0, 1)
        )
    return commands


def _unchanged(session: Session, corpora: Corpora) -> Mapping[str, Command]:
    return _contenders(session, corpora.plans, corpora.others)


def _findings(session: Session, corpora: Corpora) -> Mapping[str, Command]:
    return _contenders(session, corpora.bad_plans, corpora.bad_others)


def _edited(session: Session, corpora: Corpora) -> Mapping[str, Command]:
    def edit(path: Path) -> Callable[[], None]:
        text, count = path.read_text("utf-8"), [0]

        def now() -> None:
            count[0] += 1
            path.write_text(f"{text}# edit {count[0]}\n", "utf-8")

        return now

    plan = sorted((corpora.plans / "plans").glob("task_*.plan"))[0]
    edits = edit(plan), edit(corpora.others / "py" / "module_0.py")
    return _contenders(session, corpora.plans, corpora.others, *edits)


def _clone(session: Session, corpora: Corpora) -> Mapping[str, Command]:
    """Each run gets a clone made for it, at the same place, and the caches that an earlier clone left."""
    home = session.home / "clones"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    caches = {"plans": session.home / "cache-clone", "others": home / "others" / ".ruff_cache"}
    commands = _contenders(session, home / "plans", home / "others", cache="cache-clone")

    def again(name: str) -> Callable[[], None]:
        def now() -> None:
            shutil.rmtree(home / name, ignore_errors=True)
            origin = corpora.plans if name == "plans" else corpora.others
            git(home, "clone", "--quiet", "--no-hardlinks", str(origin), name)
            shutil.rmtree(caches[name], ignore_errors=True)
            kept = home / f"{name}-cache"
            if kept.exists():
                shutil.copytree(kept, caches[name])

        return now

    out = dict(commands)
    for name, place in (("fdc", "plans"), ("ruff", "others")):
        if name in commands:
            again(place)()
            env = {**session.env(), **commands[name].env}
            one = commands[name]
            subprocess.run(
                [str(part) for part in one.argv],
                cwd=one.cwd,
                env=env,
                capture_output=True,
                check=False,
            )
            shutil.copytree(caches[place], home / f"{place}-cache")
            out[name] = Command(one.argv, one.cwd, one.exits, again(place), one.env)
    return out


def _same_bytes(session: Session, corpora: Corpora) -> None:
    """Compares what warm and cold runs print, in three formats, over clean plans and plans with findings."""
    compared = 0
    for folder in (corpora.plans, corpora.bad_plans):
        for form in ("text",) if session.quick else ("text", "json", "sarif"):
            argv = [*session.tools.fdc, "lint", "--format", form]
            runs = [
                subprocess.run(
                    [*argv, *more], cwd=folder, env=session.env(), capture_output=True, check=False
                )
                for more in ((), (), ("--no-cache",))
            ]
            one, two, cold = ((done.returncode, done.stdout, done.stderr) for done in runs)
            if not one == two == cold:
                where = f"{folder.name} with `--format {form}`"
                session.notes.append(f"**Warm output differs from cold output** in {where}.")
            compared += 1
    if not any("differs" in note for note in session.notes):
        session.notes.append(
            f"Warm output equalled cold output byte for byte in all {compared} comparisons."
        )
