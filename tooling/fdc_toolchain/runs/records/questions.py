"""Finds and shows the questions of a run, and stores answers. For `fdc answer` and the web page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...exits import Refused, UsageError, WorldError

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store
    from .answers import Answer, Open


def questions(root: str, store: Store, row: RunRow) -> list[Open]:
    """The open questions of a run, with stored answers. Raises WorldError for a damaged run."""
    from ...engine.events import Mismatch
    from ...engine.fold import fold
    from ...engine.ports import WorldFailed
    from ...journal import counter
    from ...program.codec import ProgramError
    from . import answers

    if row.status != "waiting":
        return []
    try:
        checked = store.check(row.id)
        if checked.faults:
            raise WorldError(f"the record of the run {row.name} is damaged: {checked.faults[0]}")
        if checked.older:
            raise WorldError(counter.outdated(row.name, checked.older))
        records = store.records(row)
        state = fold(store.program(row), row.inputs, records)
        ready = answers.taken(root, row, state, records, store.key) if store.keeps_answers else {}
        return answers.questions(row, state, records, ready)
    except (WorldFailed, Mismatch, ProgramError) as wrong:
        raise WorldError(f"the run {row.name} cannot be read: {wrong}") from wrong


def none_open(row: RunRow, status: str) -> Refused:
    """The message for a run without an open question; `status` is from `open_journal.status_of`."""
    why = f"see `fdc show {row.name}`"
    if status == "running":
        why = "it is being driven"
    elif row.status == "waiting":
        why = f"find out what happened to its step, then use `fdc resume {row.name} --assume`"
    return Refused(f"the run {row.name} has no question; {why}")


def chosen(row: RunRow, found: list[Open], address: str | None, text: str) -> Open:
    """The question for an answer: the one at `address`, or the only one.

    Raises UsageError if the question is ambiguous or missing, or if the text cannot be its answer.
    """
    by_address = {one.effect.address: one for one in found}
    known = ", ".join(by_address)
    if address is not None and address not in by_address:
        raise UsageError(
            f"the run {row.name} has no question at `{address}`; it has questions at {known}"
        )
    if address is None and len(found) > 1:
        raise UsageError(
            f"the run {row.name} asks {len(found)} questions; give the address of one first: {known}"
        )
    question = found[0] if address is None else by_address[address]
    wrong = unfit(question, text)
    if wrong:
        raise UsageError(wrong)
    return question


def give(
    root: str,
    row: RunRow,
    question: Open,
    text: str,
    how: str,
    now: float,
    *,
    over: tuple[str, ...] | None = None,
) -> str:
    """Stores an answer that `unfit` accepts; `how` is its origin. Returns a sentence about it, without a full stop.

    An answer that was not used yet is replaced, and the sentence says so. `over`: only one of these texts may be
    replaced (None: any); the person was not shown others. Raises Refused if there is another one, or if the run has continued
    since; and WorldError.
    """
    from ...journal import user_key
    from . import answers
    from .open_journal import reading

    def still() -> bool:
        with reading(root) as store:
            found = None if store is None else store.run(row.name)
            return found is not None and (found.status, found.epoch) == (row.status, row.epoch)

    key = user_key.key(root, make=True)
    if not user_key.lasts():
        raise WorldError(
            f"{user_key.key_path()} cannot be written, so the answer cannot be sealed; {user_key.ELSEWHERE}"
        )
    address = question.effect.address
    given = answers.give(root, row, question, text, f"{user()}, {how}", now, key, still, over)
    if given.stored:
        return f"the answer for {address} is stored" + replaced(given.before)
    if given.before is not None:
        raise Refused(
            f"the question at {address} of the run {row.name} was answered meanwhile, so this answer is not stored; "
            f"`fdc answer {row.name}` shows that answer"
        )
    raise Refused(
        f"the run {row.name} has continued since, so its question is closed; see `fdc show {row.name}`"
    )


def seen(question: Open) -> tuple[str, ...]:
    """The unused answers that a person saw who was shown the question (`over`)."""
    return () if question.given is None else (question.given,)


def replaced(before: str | None) -> str:
    """What is said of an unused answer that another one replaces, at the end of a sentence."""
    from ...report.terminal.terminal_text import cut, visible

    return (
        "" if before is None else f"; it replaces the unused answer `{cut(visible(before), 200)}`"
    )


def name_of(row: RunRow, question: Open) -> str:
    """A digest of this question of this run: step, arguments, and what it shows."""
    from hashlib import blake2b

    from ...program.codec import canonical
    from .answers import digest

    effect = question.effect
    said = [
        row.name, row.digest, effect.address, effect.request, question.outcomes, question.text, digest(question.shows),
    ]  # fmt: skip
    return blake2b(canonical(said).encode("ascii"), digest_size=16).hexdigest()


def screen(question: Open) -> list[str]:
    """A question in full, with hidden characters escaped, as a person must see it before the answer."""
    from ...report import changes
    from ...report.terminal.terminal_text import visible

    effect = question.effect
    kind = "approval" if question.approval else "question"
    first, *more = question.text.rstrip("\n").split("\n")
    lines = [f"{kind} at {visible(effect.path)}:{effect.line} ({effect.address}): {visible(first)}"]
    lines += [f"  | {visible(line)}".rstrip() for line in more]
    for name, size, digest, shown in about(question):
        lines.append(f"  {name}, {size} bytes, sha256 {digest}:")
        lines += [f"    | {line}" for line in shown]
    if question.shows is not None and not in_doubt(question.shows):
        lines.append("  steps after the approval, as far as known now:")
        lines += [f"    {line.text}" for line in changes.lines(question.shows)]
    if question.given is not None:
        lines.append(f"  answered, not used yet: {visible(question.given)}")
    return lines


def about(question: Open) -> list[tuple[str, int, str, list[str]]]:
    """The arguments of a question: name, size in bytes, sha256, and lines with hidden characters escaped."""
    from hashlib import sha256

    from ...engine.values import text as written
    from ...report.terminal.terminal_text import visible

    out = []
    for name, value in question.effect.args.items():
        if value is not None:
            text = written(value)
            data = text.encode("utf-8", "surrogatepass")
            out.append(
                (
                    visible(name),
                    len(data),
                    sha256(data).hexdigest(),
                    [visible(line) for line in text.split("\n")],
                )
            )
    return out


def unfit(question: Open, text: str) -> str:
    """Why a text cannot be the answer to a question; empty if it can."""
    from ...tools.talk_tools import neither

    if in_doubt(question.shows):
        return f"no answer settles this: {question.text}"
    return unkept(text) or (neither(text) if question.approval else "")


def in_doubt(shows: Mapping[str, object] | None) -> bool:
    """Whether a question, by what it shows, is what happened to a step of a nested run: no text is an answer to it."""
    within = (shows or {}).get("within")
    return isinstance(within, dict) and "address" not in within


def unkept(text: str) -> str:
    """Why no record can keep a text as an answer; empty where one can."""
    from .answers import MOST

    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return "the answer is not UTF-8 text"
    return f"the answer has {size} bytes, more than {MOST}" if size > MOST else ""


def tell_replaced(answers: Mapping[str, str], ready: Mapping[str, Answer]) -> None:
    """Says which stored answers are not used, because others are given now."""
    from ..notices import notice

    for address, text in answers.items():
        if address in ready and ready[address].text != text:
            notice(f"fdc: the answer for {address} is used{replaced(ready[address].text)}")


def user() -> str:
    """The name of the user of this process."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"
