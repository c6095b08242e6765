"""Laws of the activity log: what is written is read back, and anything can be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from fdc_toolchain.tasks.activity import History, entry, faults, line, read, safe_id, task_fault
from hypothesis import given
from hypothesis import strategies as st

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
moments = st.datetimes(
    min_value=datetime(1000, 1, 2),
    timezones=st.integers(-14 * 60, 14 * 60).map(
        lambda minutes: timezone(timedelta(minutes=minutes))
    )
    | st.just(UTC),
)


@given(
    st.dictionaries(st.text(), json_values, max_size=3),
    st.text(min_size=1),
    st.integers(0, 8),
    moments,
    st.uuids(),
)
def test_an_entry_survives_its_line(
    details: dict[str, Any], task: str, phase: int, now: datetime, log_id: object
) -> None:
    """FDC-106, FDC-108: one line, whatever the texts hold, and the same object again."""
    item = entry(
        "INFO", details, task_id=task, phase=phase, session_id="s", log_id=str(log_id), now=now
    )
    assert [] == faults(item)
    data = line(item)
    assert data.isascii() and 1 == len(data.decode("ascii").splitlines()) and data.endswith(b"\n")
    assert (History((item,)), [item]) == (read(data), read(data).of(task))


pieces = st.sampled_from([b"{", b"}", b'"a"', b":", b"1", b"\n", b"[", b"]", b"null"])


@given(st.binary() | st.lists(pieces).map(b"".join))
def test_any_bytes_are_a_history(data: bytes) -> None:
    """FDC-108: damage is counted by line, and every other line that holds something is an entry."""
    history = read(data)
    held = sum(1 for raw in data.split(b"\n") if raw.strip())
    assert held == len(history.entries) + len(history.damaged)


@given(st.text(max_size=220) | st.text(alphabet="\U00020000a", min_size=150, max_size=200))
def test_a_task_id_that_is_allowed_has_a_name_for_its_file(task_id: str) -> None:
    """FDC-17."""
    if task_fault(task_id) is None:
        safe = safe_id(task_id)
        assert safe and all(c.isalnum() or c in "-_" for c in safe)
        assert len(f".2026-01-01-{safe}-01234567.md.4194304.9999999999999999.tmp".encode()) <= 255
