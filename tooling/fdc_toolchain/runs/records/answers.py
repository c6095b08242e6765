"""Stored answers to a waiting run's questions, which the run uses when it continues.

They are in `.fdc/runs/RUN/answers.json`, written atomically. An answer is for one question only: it names the program,
the step's address, the hash of its arguments, the step's number of outcomes at that time, and for an approval what
was shown. If any of these differs now, the answer is not used. So an approval applies only to exactly what was shown, and
an answer is used once. It is sealed with the user's key (`journal.user_key`), so that answers in a cloned repository
are not used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...journal import hash_chain
from ...named_tuples import NamedTuple
from ...program.codec import canonical
from ...report.changes import OPENED
from ...workspace import run_folders

if TYPE_CHECKING:
    from ...engine.events import Perform, Record
    from ...engine.state import RunState
    from ...journal.sqlite import RunRow

FILE = "answers.json"
MOST = 1024 * 1024
"""Maximum bytes of one answer."""


class Open(NamedTuple):
    """A question of a waiting run: what the step asks, where, and with which arguments.

    `given`: the stored answer, if any; `shows`: for an approval, what will change (`workspace.preview`).
    """

    effect: Perform
    text: str
    outcomes: int
    given: str | None = None
    shows: dict[str, Any] | None = None

    @property
    def approval(self) -> bool:
        """Whether it is answered with yes or no."""
        return self.effect.tool == "record_user_approval_for_plan" or OPENED in (self.shows or ())


class Answer(NamedTuple):
    """A stored answer: for which question, its text, by whom and when (seconds since 1970)."""

    run: str
    program: str
    address: str
    request: str
    outcomes: int
    shown: str
    text: str
    by: str
    at: float

    def note(self) -> dict[str, object]:
        """The note for the journal."""
        return {"by": self.by, "at": self.at}


class Given(NamedTuple):
    """What became of an answer: whether it is stored, and the other answer to this question that was there before."""

    stored: bool
    before: str | None = None


def shown(row: RunRow) -> dict[str, dict[str, object]]:
    """What the approvals of a waiting run show, by address."""
    asked = (row.ending or {}).get("questions", ()) if row.status == "waiting" else ()
    return {one["address"]: one["shows"] for one in asked if isinstance(one.get("shows"), dict)}


def digest(shows: Mapping[str, object] | None) -> str:
    """A digest of what an approval shows; empty if it shows nothing."""
    return (
        ""
        if shows is None
        else blake2b(canonical(shows).encode("ascii"), digest_size=16).hexdigest()
    )


def wanted(state: RunState, address: str) -> Perform | None:
    """The pending effect of a folded run at an address."""
    for place in (state.dangling, state.pending, state.parked):
        if address in place:
            return place[address].effect
    return None


def outcomes(records: Iterable[Record]) -> dict[str, int]:
    """The number of outcomes at each address."""
    found: dict[str, int] = {}
    for record in records:
        if record.kind == "outcome":
            found[record.address] = found.get(record.address, 0) + 1
    return found


def questions(
    row: RunRow, state: RunState, records: Iterable[Record], ready: Mapping[str, Answer]
) -> list[Open]:
    """The questions of a waiting run: their texts as asked, their arguments from its program.

    `state` is the fold of its `records`, `ready` what `taken` found.
    """
    count = outcomes(records)
    found = []
    for one in (row.ending or {}).get("questions", ()) if row.status == "waiting" else ():
        effect = wanted(state, one["address"])
        if one["how"] == "answer" and effect is not None:
            given = ready.get(effect.address)
            text = None if given is None else given.text
            found.append(
                Open(
                    effect,
                    str(one["text"]),
                    count.get(effect.address, 0),
                    text,
                    shown(row).get(effect.address),
                )
            )
    return found


def give(
    root: str,
    row: RunRow,
    question: Open,
    text: str,
    by: str,
    now: float,
    key: bytes | None,
    still: Callable[[], bool],
    over: tuple[str, ...] | None = None,
) -> Given:
    """Stores an answer to an open question in place of an earlier one that was not used. Raises WorldFailed.

    `over`: the texts of earlier answers that it may replace (None: any). If there is another one, nothing is stored.
    `still` says whether the question is still open. It is asked once no one can take answers up who has not taken
    the run over before; where it is not, nothing is stored.
    """
    path = os.path.join(run_folders.run_folder(root, row.name), FILE)
    effect = question.effect
    made = Answer(
        row.name, row.digest, effect.address, effect.request, question.outcomes, digest(question.shows), text, by,
        round(float(now), 3),
    )  # fmt: skip
    try:
        with durable.exclusive(path):
            if not still():
                return Given(False)
            durable.sweep(path)
            ready = _read(path)
            before = [
                one.text
                for one, seal in ready
                if one[:6] == made[:6] and key is not None and compare_digest(seal, _seal(one, key))
            ]
            if over is not None and not set(before) <= set(over):
                return Given(False, before[-1])
            kept = [one for one in ready if one[0].address != effect.address]
            _write(path, [*kept, (made, _seal(made, key))])
            return Given(True, next((one for one in before if one != text), None))
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed


def taken(
    root: str,
    row: RunRow,
    state: RunState,
    records: Iterable[Record],
    key: bytes | None,
    *,
    alone: bool = False,
) -> dict[str, Answer]:
    """The stored answers that are for exactly the run's current questions, by address. Raises WorldFailed.

    `alone`: the caller has taken the run over; a process that is just giving an answer is waited for, and who comes later
    finds the run taken (`give`).
    """
    path = os.path.join(root, run_folders.FOLDER, "runs", row.name, FILE)
    try:
        with durable.exclusive(path) if alone else nullcontext():
            kept = _read(path)
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed
    if not kept:
        return {}
    count = outcomes(records)
    seen = {address: digest(shows) for address, shows in shown(row).items()}
    good = {}
    for answer, seal in kept:
        effect = wanted(state, answer.address)
        ours = key is not None and compare_digest(seal, _seal(answer, key))
        asked = (
            effect is not None
            and effect.request == answer.request
            and count.get(answer.address, 0) == answer.outcomes
        )
        asked = asked and answer.shown == seen.get(answer.address, "")
        if ours and asked and (answer.run, answer.program) == (row.name, row.digest):
            good[answer.address] = answer
    return good


def forget(root: str, row: RunRow, addresses: Iterable[str]) -> None:
    """Deletes answers that a run has used. If that fails, they are still not used again."""
    path = os.path.join(root, run_folders.FOLDER, "runs", row.name, FILE)
    gone = set(addresses)
    if not gone or not os.path.exists(path):
        return
    try:
        with durable.exclusive(path):
            kept = [one for one in _read(path) if one[0].address not in gone]
            if kept:
                _write(path, kept)
            else:
                os.unlink(path)
    except OSError:
        return


def drop(root: str, row: RunRow) -> None:
    """Deletes all stored answers of a run. Raises WorldFailed."""
    path = os.path.join(root, run_folders.FOLDER, "runs", row.name, FILE)
    try:
        if os.path.lexists(path):
            with durable.exclusive(path):
                os.unlink(path)
                durable.sync_folder(os.path.dirname(path))
    except OSError as failed:
        raise WorldFailed(f"{path}: {reason(failed)}") from failed


def _write(path: str, kept: list[tuple[Answer, str]]) -> None:
    rows = [{**answer._asdict(), "seal": seal} for answer, seal in kept]
    durable.replace(
        path, (json.dumps({"format": 1, "answers": rows}, indent=1) + "\n").encode("ascii")
    )


def _read(path: str) -> list[tuple[Answer, str]]:
    """Reads the stored answers; ignores invalid rows."""
    data = durable.read(path, limit=64 * MOST)
    try:
        rows = [] if data is None else json.loads(data)["answers"]
        return [(Answer(*(row[name] for name in Answer._fields)), str(row["seal"])) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _seal(answer: Answer, key: bytes | None) -> str:
    plain = blake2b(
        b"answer\0" + canonical(list(answer)).encode("ascii"), digest_size=hash_chain.SIZE
    ).digest()
    return hash_chain.seal(plain, key).hex()
