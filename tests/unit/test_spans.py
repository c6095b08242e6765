"""OpenTelemetry spans of runs, by the SDK's own in-memory exporter and a collector on loopback (issue 4, "Seen")."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.engine.drive import Ports, drive
from fdc_toolchain.engine.events import Failure, Outcome
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.runs.records import spans
from fdc_toolchain.testing import FakeClock, FunctionTools, MemoryJournal, Silence

from tests.support.process import fdc
from tests.support.programs import give, loop, program, step

pytestmark = pytest.mark.skipif(
    not find_spec("opentelemetry.sdk"), reason="the extra `otel` is not installed"
)


def traced(made: dict[str, Any], works: FunctionTools) -> list[Any]:
    """The spans of a run, as the SDK exports them."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    watch = spans.Spans(
        Silence(), provider.get_tracer("t"), {"name": "r", "plan": "a.plan", "simulated": False}
    )
    state = fold(made, {"given": {"list": ["a", "b"]}}, [])
    ending = drive(made, state, Ports(MemoryJournal(), works, FakeClock(tick=1.0), watch))
    watch.over(ending.status, ending.stop and ending.stop.kind, state.steps)
    return list(kept.get_finished_spans())


ASK = {"effect": "read", "parameters": [], "cost": {"tokens": 10}}


def test_a_run_its_steps_and_its_model_calls_are_a_tree() -> None:
    notes = {"model": "m-1", "role": "critic", "requests": ["x"]}
    answer = Outcome("v", None, {"model_calls": 1, "tokens": 7, "money": 0.5}, notes)
    made = program(
        loop("fork", "x", "{list}", step("note", of="{x}"), step("ask", of="{x}", secret="s3cret"), give("{x}"), bind="all"),
        tools={"ask": ASK, "note": "pure"}, params={"list": None},
    )  # fmt: skip
    found = traced(made, FunctionTools({"note": lambda effect: "n", "ask": lambda effect: answer}))
    by_name = {
        name: [one for one in found if one.name == name]
        for name in ("run a.plan", "tool note", "tool ask", "chat m-1")
    }
    assert {name: len(rows) for name, rows in by_name.items()} == {
        "run a.plan": 1,
        "tool note": 2,
        "tool ask": 2,
        "chat m-1": 2,
    }
    [run] = by_name["run a.plan"]
    assert all(
        one.parent.span_id == run.context.span_id
        for one in by_name["tool ask"] + by_name["tool note"]
    )
    assert {one.parent.span_id for one in by_name["chat m-1"]} == {
        one.context.span_id for one in by_name["tool ask"]
    }
    assert {one.attributes["fdc.step.address"] for one in by_name["tool ask"]} == {
        "main/1#1/2",
        "main/1#2/2",
    }
    chat = by_name["chat m-1"][0]
    assert dict(chat.attributes) == {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "fdc.model.role": "critic",
        "fdc.model.calls": 1, "fdc.model.tokens": 7, "fdc.model.usd": 0.5,
    }  # fmt: skip
    assert run.attributes["fdc.run.status"] == "finished" and run.attributes["fdc.run.steps"] == 4
    assert all(one.end_time >= one.start_time for one in found)
    assert "s3cret" not in "".join(one.to_json() for one in found)


def test_a_failure_is_the_status_of_its_step_and_of_the_run() -> None:
    failed = Outcome(None, Failure("net", "with a secret in it"))
    found = traced(program(step("note")), FunctionTools({"note": lambda effect: failed}))
    one, run = found
    assert one.attributes["error.type"] == "net" and one.status.status_code.name == "ERROR"
    assert run.attributes["fdc.run.stop"] == "failure" and run.status.status_code.name == "ERROR"
    assert "secret" not in one.to_json() + run.to_json()


def test_every_attribute_is_named_in_the_table_and_no_name_is_there_twice() -> None:
    table = json.loads(resources.read(spans.NAMES))
    names = [name for part in ("run", "step", "model") for name in table[part].values()]
    assert len(names) == len(set(names)) and all("." in name for name in names)


def test_nothing_is_made_where_nobody_asks() -> None:
    assert spans.tracer({}, sys.stderr) is None
    assert spans.tracer({"OTEL_TRACES_EXPORTER": "none"}, sys.stderr) is None
    assert (
        spans.tracer({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, sys.stderr)
        is None
    )


PLAN = "set_plan x\nplan_step_complete y\nmessage_user hello\nclose_task\nsubmit\n"


def test_a_real_run_sends_its_spans_to_a_collector(workspace: Path) -> None:
    came: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    (workspace / "a.plan").write_text(PLAN)
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        env = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": address}
        done = fdc("run", "a.plan", cwd=workspace, env=env)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
    assert (0, "") == (done.returncode, done.stderr)
    assert came and {path for path, _ in came} == {"/v1/traces"}
    body = b"".join(data for _, data in came)
    assert b"run a.plan" in body and b"tool message_user" in body and b"fdc.step.address" in body


@pytest.mark.long
def test_a_collector_that_is_not_there_costs_no_run(workspace: Path) -> None:
    (workspace / "a.plan").write_text(PLAN)
    env = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    done = fdc("run", "a.plan", cwd=workspace, env=env)
    assert (0, "") == (done.returncode, done.stderr) and "finished: 5 steps" in done.stdout
