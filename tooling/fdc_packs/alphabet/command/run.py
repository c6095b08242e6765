"""`fdc alphabet run`: recovers what was interrupted, then drives the plan `alphabet` once for each iteration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from fdc_toolchain.api import commands
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    PERSON,
    Aside,
    Exit,
    Refused,
    UsageError,
    WorldError,
    say,
    say_json,
)
from fdc_toolchain.api.text import narrow, visible

from .folder import base_of, dictionary, measurable, world_failure

if TYPE_CHECKING:
    from fdc_toolchain.api.tools import Outcome, Perform

    from ..state import Base
    from ..store import Store

PLAN = "alphabet"


class Inconsistent(Exit):
    """A rule of consistency is broken, and a person must look (5)."""

    code = PERSON


class Asked(NamedTuple):
    """What the command line asks for. `iterations`: None for as many as it takes, of which each may cost money with a model."""

    iterations: int | None
    model: str | None
    again: bool
    budget: dict[str, float]
    form: str


def work(root: str, asked: Asked) -> int:
    """Up to `iterations` iterations; the exit code."""
    from fdc_toolchain.api.files import durable, run_folders

    from ..store import Busy, Store

    store = Store(root)
    try:
        with durable.exclusive(f"{run_folders.folder(root)}/alphabet", timeout=0.2):
            return _work(root, store, asked)
    except TimeoutError as busy:
        raise WorldError(f"another process works on this alphabet: {busy.strerror}") from busy
    except Busy as busy:
        raise WorldError(str(busy)) from busy
    except OSError as failed:
        raise world_failure(failed, root) from failed


def _work(root: str, store: Store, asked: Asked) -> int:
    interrupted = _recovered(root, store)
    base = _sound(store)
    measurable(base)
    operator = _operator(root, base, asked.model)
    ended = base.state["history"]["stopped"]
    if ended and not asked.again and not interrupted:
        say(
            f"the work has ended: {ended}; see FINAL_REPORT.md; continue with --again",
            err=True,
        )
        _drawn(root)
        return CLEAN
    if base.state["current_iteration"] and not interrupted:
        say(visible(_handed_on(base)), err=True)
    program = commands.compile_or_refuse(PLAN, root)
    if program is None:
        return FINDINGS
    outcomes: list[dict[str, Any]] = []
    code = CLEAN
    for _ in range(
        asked.iterations or (1 if operator.model else base.config["stopping"]["max_iterations"])
    ):
        show = _Watching(base.config["logging"]["level"], bool(operator.model))
        name = interrupted or commands.begin(root, program, PLAN, {}, asked.budget, None, operator)
        interrupted = ""
        code, outcome = _driven(root, store, name, show, operator)
        outcomes.append(outcome)
        if asked.form == "text":
            _tell(outcome)
        if outcome["stop"] and code == CLEAN:
            _drawn(root)
        if code != CLEAN or outcome["stop"]:
            break
        base = base_of(store)
    if asked.form == "json":
        say_json({"iterations": outcomes})
    return code


def _drawn(root: str) -> None:
    """The drawings of the end as pictures too, and the comparisons, where they are not there yet; no reason not to end."""
    from ..drawing import drawn
    from .report import written

    if all(os.path.exists(os.path.join(root, drawn.FOLDER, name)) for name in drawn.PICTURES):
        return
    try:
        written(root)
    except (Refused, UsageError, WorldError) as wrong:
        say(f"{wrong}; `fdc alphabet report` draws", err=True)


def _handed_on(base: Base) -> str:
    """Where the last session stopped, from what it left for this one (ALPH-88)."""
    from .. import layout
    from ..yamltext import NotYaml, parse

    try:
        left = narrow(parse(base.files[layout.HANDOFF]), dict)["session_handoff"]
        waiting = {key: int(number) for key, number in left["pending"].items() if number}
        said = f"after iteration {int(left['after_iteration'])} of {left['written']}"
    except (NotYaml, KeyError, TypeError, ValueError, AttributeError):
        return f"after iteration {base.state['current_iteration']}; {layout.HANDOFF} says nothing that can be read"
    return said + "".join(f"; {number} {key.replace('_', ' ')}" for key, number in waiting.items())


def _recovered(root: str, store: Store) -> str:
    """The run to go on with; empty where the next iteration begins anew (ALPH-47)."""

    try:
        lock = store.held()
    except ValueError:
        lock = None
    resumable = False
    if lock is not None:
        from fdc_toolchain.api.records import reading

        with reading(root) as records:
            found = records.runs(lock.run) if records is not None else []
            states = [row.status for row in found if row.name == lock.run]
            resumable = bool(states) and states[0] not in ("finished", "stopped", "cancelled")
    what, run = store.recover(resumable)
    if what == "resume":
        say(f"continuing an interrupted iteration (run {run})", err=True)
        return run
    if what == "finished":
        say("completed an iteration that was interrupted during writing", err=True)
    elif what == "rolled back":
        say("discarded an interrupted iteration that cannot be continued", err=True)
    return ""


def _sound(store: Store) -> Base:
    """What the files say; where they are damaged, what the last commit said (ALPH-70). Raises Refused."""
    _mended(store, _unfit(store))
    try:
        return base_of(store)
    except Refused as wrong:
        if not _mended(store, dict.fromkeys(store.damaged(), str(wrong))):
            raise
        return base_of(store)


def _unfit(store: Store) -> dict[str, str]:
    """Files that are neither as the last commit left them nor in the form that such a file has, and why: damage, no edit."""
    from .. import schemas

    found = {}
    for name in store.damaged():
        try:
            texts = store.text(name)
        except ValueError as wrong:
            found[name] = str(wrong)
            continue
        sentences = schemas.unfit(name, texts[name]) if texts else [f"{name} is gone"]
        if sentences:
            found[name] = sentences[0]
    return found


def _mended(store: Store, wrong: dict[str, str]) -> bool:
    """Puts files back as the last commit left them, and says so; whether there was anything. Raises Refused without a copy."""
    if not wrong:
        return False
    try:
        back = store.restore(wrong)
    except ValueError as refused:
        raise Refused(str(refused)) from refused
    for sentence in dict.fromkeys(wrong.values()):
        say(visible(sentence), err=True)
    if len(back) < len(wrong):
        left = [name for name in wrong if name not in back]
        raise Refused(
            f"{', '.join(left)}: the copy of the last complete iteration is damaged too; repair it by hand"
        )
    kept = "what was there: .fdc/alphabet/damaged/"
    say(f"as the last complete iteration left them: {', '.join(back)}; {kept}", err=True)
    return True


def _operator(root: str, base: Base, model: str | None) -> commands.Operator:
    """Who answers (ALPH-56): config.yaml may name a model, but only the operator has one asked.

    Raises before anything has begun.
    """
    from fdc_toolchain.api.models import model_for
    from fdc_toolchain.api.tools import WorldFailed

    llm = base.config["llm"]
    named = llm["model"] if llm["provider"] != "local" else ""
    if named and llm["provider"] == "openai":
        named = f"openai:{named}"
    if model == CONFIGURED and not named:
        raise UsageError("config.yaml names no model (`llm: {provider: anthropic, model: NAME}`)")
    operator = commands.Operator.of_environment(model=named if model == CONFIGURED else model)
    if named and not operator.model:
        why = f"config.yaml names the model `{visible(named)}`, and who starts fdc says whether it is asked"
        raise UsageError(
            f"{why}: `--model {CONFIGURED}` does; with `provider: local` a dictionary answers"
        )
    asks = (
        ("max_tokens", llm["max_tokens"]), ("seconds", llm["timeout_seconds"]), ("attempts", llm["retry_attempts"]),
        ("delay", llm["retry_delay_seconds"]),
    )  # fmt: skip
    operator = operator._replace(asks=asks)
    if not operator.model:
        say("no model is used: proposer and critic compute from a dictionary", err=True)
        dictionary(root)
        return operator
    asked = model_for(root, operator.model, asks)
    assert asked is not None
    try:
        asked.server(operator.model)
        asked.close()
    except WorldFailed as missing:
        raise UsageError(str(missing)) from missing
    say(f"model: {visible(operator.model)}", err=True)
    return operator


def _driven(
    root: str, store: Store, name: str, show: _Watching, operator: commands.Operator
) -> tuple[int, dict[str, Any]]:

    from ..iteration.phases import INCONSISTENCY, failing

    ended = commands.drive_run(root, name, show, operator=operator)
    if ended.status == "interrupted":
        raise KeyboardInterrupt
    if ended.status == "finished" and isinstance(ended.result, dict):
        outcome: dict[str, Any] = {"run": name, **ended.result}
        if not outcome["ok"]:
            raise Inconsistent(
                f"{INCONSISTENCY}: {outcome['why']}; nothing of iteration {outcome['iteration']} was written"
            )
        return CLEAN, outcome
    if ended.status == "broken":
        raise WorldError(
            f"{ended.message}; all steps are recorded; continue with `fdc alphabet run`"
        )
    stop = ended.stop or {"kind": "", "message": ended.message or ended.status}
    store.roll_back()
    reason = failing(stop["kind"], stop["message"])
    say(
        visible(
            f"{reason.code}: {reason.why}; the iteration was given up, `fdc show {name}` shows every step"
        ),
        err=True,
    )
    return {CLEAN: FINDINGS, PERSON: FINDINGS}.get(
        commands.exit_code(ended), commands.exit_code(ended)
    ), {
        "run": name,
        "ok": False,
        "why": reason.why,
        "stop": reason.code,
        "summary": {},
    }


def _tell(outcome: dict[str, Any]) -> None:
    summary = outcome["summary"]
    if not summary:
        return
    counted = summary["candidates"]
    words = ", ".join(
        f"{counted[kind]} {kind}" for kind in _KINDS if counted[kind] or kind in _KINDS[:2]
    )
    total = f"{summary['total_primitives']} primitives, version {outcome['version']}"
    click.echo(f"iteration {outcome['iteration']}: {words}; {total}")
    if summary.get("unread"):
        click.echo(
            f"no candidate was judged: the answers could not be read; `fdc show {outcome['run']}` shows them"
        )
    if outcome["stop"]:
        click.echo(
            f"the work has ended, {outcome['stop']}: {visible(outcome['stop_why'])}; see FINAL_REPORT.md"
        )
    elif outcome.get("unchanged", 0) > 1 and not summary.get("unread"):
        click.echo(
            f"nothing was added or changed in {outcome['unchanged']} iterations: the work ends after "
            f"{outcome['stability_window']} (`stopping.stability_window` in config.yaml)"
        )


CONFIGURED = "config"
"""What `--model` says for the model that config.yaml names."""

_KINDS = ("proposed", "accepted", "rejected", "refined", "deferred", "unparsed")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class _Watching(Aside):
    """What is under way, on stderr, as far as `logging.level` wants to hear of it (ALPH-60)."""

    def __init__(self, level: str, asked: bool) -> None:
        super().__init__()
        self._level = _LEVELS.index(level)
        self._asked = asked

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        super().done(effect, outcome, took)
        value = outcome.value
        if not isinstance(value, dict):
            return
        if effect.tool in ("compose_context", "consult_lexicon") and not self._asked:
            return  # no model is sent these tokens
        for level, text in _said(effect.tool, value):
            if _LEVELS.index(level) >= self._level:
                say(visible(text), err=True)


def _short(text: str) -> str:
    """The first two sentences, without what is said of every answer that was computed."""
    sentences = [one for one in text.split(". ") if not one.startswith("Computed from")]
    return ". ".join(sentences[:2])[:140].rstrip(". ")


def _said(tool: str, value: dict[str, Any]) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    if value.get("wrong"):
        out.append(("WARNING", f"  {tool}: {value['wrong']}"))
    if tool == "hear_proposer":
        labels = ", ".join(row["label"] for row in value["candidates"]) or "nothing"
        out.append(("INFO", f"  {value['strategy']}: {labels}"))
        out += [("WARNING", f"  {text}") for text in value["warnings"]]
    if tool == "hear_critic":
        for row in value["evaluations"]:
            why = "" if row["verdict"] == "ACCEPT" else f": {_short(row['summary'])}"
            out.append(("INFO", f"    {row['verdict']} {row['label']}{why}"))
            out += [("WARNING", f"    {row['label']}: {note}") for note in row["notes"]]
    if tool == "consolidate_alphabet":
        out += [("WARNING", f"    {why}") for why in value["conflicts_left"]]
    if tool == "measure_composition" and value["work"] == "coverage":
        found = value["result"]
        said = f"{len(found['expressible'])} of {found['total']} test concepts can be expressed ({found['coverage']:.1%})"
        out.append(("INFO", f"  {said}"))
    if tool == "hear_reflection" and value["output"]:
        out.append(("INFO", f"  reflection: {value['output']['decision']}"))
        out += [("WARNING", f"    {text}") for text in value["mismatches"]]
    if tool == "compose_context":
        out.append(("DEBUG", f"  {value['role']}: {sum(value['sizes'].values())} tokens"))
    if tool == "consult_lexicon":
        out.append(("DEBUG", f"  and {value['tokens']} tokens of the dictionary"))
    return out
