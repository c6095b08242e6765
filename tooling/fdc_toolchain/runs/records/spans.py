"""OpenTelemetry spans of a run: one for the run, below it one for each step, below a prompt's one for the model.

`traced` returns its argument unless the `otel` extra is installed and OTEL_TRACES_EXPORTER is
`otlp` or `console`, as the standard defines; so are the address and the headers (OTEL_EXPORTER_OTLP_ENDPOINT
and so on). Names of attributes are data: `grammar/span_attributes.json`.
"""

from __future__ import annotations

import functools
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from ... import resources
from ...engine.events import Outcome, Perform
from ...engine.ports import Progress

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

NAMES = "grammar/span_attributes.json"
PATIENCE = 5000
"""Time limit in milliseconds for sending the last spans at the end of a run."""


class Spans:
    """A `Progress` that has spans made as well; `tracer` is OpenTelemetry's."""

    def __init__(self, show: Progress, tracer: Tracer, about: Mapping[str, object]) -> None:
        self._show = show
        self._tracer = tracer
        self._run = tracer.start_span(f"run {about['plan']}", attributes=_named("run", about))
        self._open: dict[str, tuple[Span, int]] = {}
        self.say: Callable[[str], None] = show.say

    def begun(self, effect: Perform) -> None:
        """Port `Progress`."""
        self._show.begun(effect)
        about = {
            "tool": effect.tool, "address": effect.address, "effect": effect.effect, "path": effect.path,
            "line": effect.line, "turn": effect.turn,
        }  # fmt: skip
        start = time.time_ns()
        span = self._tracer.start_span(
            f"{effect.kind} {effect.tool}",
            context=_below(self._run),
            attributes=_named("step", about),
            start_time=start,
        )
        self._open[effect.address] = span, start

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        self._show.done(effect, outcome, took)
        if effect.address not in self._open:  # settled without performing it: it took no time
            return
        span, start = self._open.pop(effect.address)
        end = start + int(took * 1e9)
        notes = outcome.notes or {}
        if "model" in notes:
            about = {"operation": "chat", **notes, **(outcome.usage or {})}
            inner = self._tracer.start_span(
                f"chat {notes['model']}",
                context=_below(span),
                attributes=_named("model", about),
                start_time=start,
            )
            inner.end(end)
        failed = None if outcome.failure is None else outcome.failure.kind
        span.set_attributes(_named("step", {**notes, "failed": failed}))
        if failed is not None:
            _fail(span, failed)
        span.end(end)

    def over(self, status: str, stop: str | None, steps: int) -> None:
        """Called when driving ends, at the run's end or before; ends the open spans."""
        for span, _ in self._open.values():
            span.end()
        self._open.clear()
        self._run.set_attributes(_named("run", {"status": status, "stop": stop, "steps": steps}))
        if stop is not None:
            _fail(self._run, stop)
        self._run.end()


def tracer(
    environment: Mapping[str, str], console: TextIO
) -> tuple[Tracer, Callable[[], None]] | None:
    """A tracer and its exporter (to a collector, or `console`); None if not requested, or without the extra."""
    wanted = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if (
        wanted not in ("otlp", "console")
        or environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    ):
        return None
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        exporter = _otlp() if wanted == "otlp" else _console(console)
    except ImportError:
        return None
    logging.getLogger("opentelemetry").setLevel(
        logging.CRITICAL
    )  # do not report an unreachable collector to the user
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": "fdc"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(exporter))

    def close() -> None:
        provider.force_flush(PATIENCE)
        provider.shutdown()

    return provider.get_tracer("fdc"), close


def _otlp() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(timeout=PATIENCE / 1000)


def _console(console: TextIO) -> Any:
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    return ConsoleSpanExporter(out=console)


def _below(span: Any) -> Any:
    from opentelemetry.trace import set_span_in_context

    return set_span_in_context(span)


def _fail(span: Any, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, why))


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(resources.read(NAMES))
    return found


def _named(part: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a part of the table that something is said of."""
    names = _table()[part]
    plain = (str, int, float, bool)
    return {
        names[key]: value
        for key, value in about.items()
        if key in names and isinstance(value, plain)
    }
