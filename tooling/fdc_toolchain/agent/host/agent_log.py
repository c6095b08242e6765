"""The controller's own lines in the activity log (FDC-106): what `Logger.log` is told, as a checked entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from ...tasks.activity import Entry, ValidationError, entry


class ActivityLogger:
    """A logger over `append`, which writes entries durably. One session, named by `session_id`."""

    def __init__(
        self,
        append: Callable[[Entry], None],
        session_id: str,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        self._append = append
        self.session_id = session_id
        self._new_id = new_id
        self._now = now

    def log(
        self,
        phase: str,
        task_id: str,
        plan_step: int | str | None,
        action_type: str,
        action_details: Mapping[str, object],
        outcome_status: str,
        outcome_message: str = "",
        error_details: str | Mapping[str, object] | None = None,
        evidence: str = "",
        context: Mapping[str, object] | None = None,
    ) -> None:
        """Writes one line. Raises ValidationError for what the schema does not know (FDC-107, T-22), OSError."""
        name, _, number = phase.partition(" ")
        if name != "Phase" or not number.isdecimal():
            raise ValidationError([f"$.phase: `{phase}` is not `Phase 0` to `Phase 8`"])
        self._append(
            entry(
                action_type, action_details, task_id=task_id, phase=int(number), session_id=self.session_id,
                log_id=self._new_id(), now=self._now(), status=outcome_status,  # type: ignore[arg-type]
                plan_step=plan_step, message=outcome_message or None, error=error_details,
                evidence_citation=evidence or None, context=context,
            )
        )  # fmt: skip
