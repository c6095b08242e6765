"""What is secret goes into no record, prompt, address or message, however it is written (findings B8, B13). Real runs."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from fdc_toolchain.workspace.secrets.scrubber import Scrubber
from fdc_toolchain.workspace.secrets.values import values_of

from tests.support.linting import ANY
from tests.support.messages_api import messages_api, reply
from tests.support.process import fdc

VALUE = "tok/From+the.workspace7"
FORM = "ghp_" + "a1B2" * 9
WRITTEN = [
    VALUE, base64.b64encode(b"user:" + VALUE.encode() + b"\n").decode(), VALUE.encode().hex().upper(), FORM,
    base64.urlsafe_b64encode(b"?" + VALUE.encode()).decode(), VALUE.replace("/", "%2F").replace("+", "%2b"),
]  # fmt: skip
PYTHON = f"""
WRITTEN = {WRITTEN!r}

def leak():
    return {{"all": " ".join(WRITTEN), "list": WRITTEN}}

def fail():
    raise ValueError("refused: " + " ".join(WRITTEN))
"""


def declared(function: str, **more: object) -> dict[str, object]:
    row = {
        "summary": "a deed",
        "action": "read_op",
        "effect": "read",
        "trust": "workspace",
        "parameters": [],
        **more,
    }
    return row if "run" in more else {**row, "run": {"python": f"deeds_of_the_test:{function}"}}


ASK = declared(
    "", trust="model", result="text", run={"prompt": "ask.jinja", "role": "x"},
    parameters=[{"name": "what", "kind": "word", "sink": "data"}], cost={"model_calls": 1, "tokens": 2000},
)  # fmt: skip
TOOLS = {"leak": declared("leak"), "fail": declared("fail"), "think": ASK}


@pytest.fixture
def place(workspace: Path) -> Path:
    (workspace / ".env").write_text(f"SERVICE_TOKEN={VALUE}\n")
    (workspace / "any.json").write_text(ANY)
    (workspace / "deeds_of_the_test.py").write_text(PYTHON)
    (workspace / "ask.jinja").write_text("What is {{ what }}?\n")
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "test", "tools": TOOLS})
    )
    return workspace


def ran(place: Path, plan: str, **environment: str) -> str:
    """Runs a plan; returns what it said."""
    (place / "a.plan").write_text(f"# FSM: any.json\n{plan}\n")
    done = fdc("run", "a.plan", cwd=place, env={"FDC_ALLOW_WEB": "1", **environment})
    return done.stdout + done.stderr


def clean(text: str | bytes) -> bool:
    data = text.encode() if isinstance(text, str) else text
    return not any(one.encode()[2:-4] in data for one in WRITTEN)


def records(place: Path) -> bytes:
    """All that fdc wrote below `.fdc` and `runs`, and the pages that it makes of it."""
    name = re.search(r"\d{8}-\d{6}-\w{4}", fdc("runs", cwd=place).stdout)
    assert name is not None
    made = fdc("show", name.group(), "--format", "json", cwd=place).stdout
    made += fdc("report", name.group(), "--output", "page.html", cwd=place).stderr
    page = place / "page.html"
    found = [
        path.read_bytes()
        for folder in (".fdc", "runs")
        for path in (place / folder).rglob("*")
        if path.is_file()
    ]
    return b"".join([*found, made.encode(), page.read_bytes() if page.exists() else b""])


def test_the_result_of_a_tool_is_recorded_and_shown_without_it(place: Path) -> None:
    said = ran(place, "got <- leak\nmessage_user {got.all}\nmessage_user {got.list}")
    assert (
        "finished" in said and said.count("[secret .env SERVICE_TOKEN]") >= 5 and "[secret]" in said
    ), said
    assert clean(said) and clean(records(place))
    assert (place / ".fdc/runs.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_password_in_the_settings_of_git_is_one(workspace: Path) -> None:
    """Commands see them: an address of a remote, and the header that the CI's checkout puts there."""
    (workspace / "lib/.git").mkdir(parents=True)
    (workspace / "lib/.git/config").write_text(
        '[remote "origin"]\n\turl = https://bob:hunter2hunter2@example.org/some-project-1234567890.git\n'
        '[http "https://example.org/"]\n\textraheader = AUTHORIZATION: basic eDpzd29yZGZpc2g5OQ==\n'
    )
    assert {"hunter2hunter2", "eDpzd29yZGZpc2g5OQ=="} == set(values_of(str(workspace)))


def test_a_failure_says_nothing_of_it(place: Path) -> None:
    said = ran(place, "fail")
    assert (
        "refused: [secret .env SERVICE_TOKEN]" in said and clean(said) and clean(records(place))
    ), said


@pytest.mark.parametrize("written", WRITTEN)
def test_it_goes_into_no_address(place: Path, written: str) -> None:
    said = ran(place, f"view_text_website http://127.0.0.1:9/?q={written.replace(' ', '')}")
    assert "the request would contain a secret" in said, said
    provider = {"BRAVE_API_KEY": "k", "FDC_BRAVE_URL": "http://127.0.0.1:9"}
    assert "the request would contain" in ran(place, f"google_search what is {written}", **provider)


def test_it_goes_into_no_prompt(place: Path) -> None:
    """What a plan itself says of it, which no result of a step brought."""
    with messages_api([reply("an answer of the model")]) as server:
        keys = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "k",
            "FDC_MODEL": "claude-sonnet-5",
        }
        said = ran(place, f't <- think "{WRITTEN[1]}"\nmessage_user {{t}}', **keys)
        assert "an answer of the model" in said, said
        asked = json.dumps(server.requests)
    assert "[secret .env SERVICE_TOKEN]" in asked and clean(asked)


def test_a_journal_that_others_could_read_is_closed_to_them(place: Path) -> None:
    ran(place, "message_user one")
    journal = place / ".fdc/runs.sqlite"
    os.chmod(journal, 0o644)
    ran(place, "message_user two")
    assert journal.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_a_file_of_secrets_may_have_any_encoding(tmp_path: Path, encoding: str) -> None:
    """Some editors and shells write UTF-16 (`echo KEY=... > .env` in PowerShell 5)."""
    text = (
        "# caf\u00e9\r\nSERVICE_TOKEN=tok/From+the.workspace7\r\nOTHER_KEY='gr\u00fcner-Tee-7'\r\n"
    )
    (tmp_path / ".env").write_bytes(text.encode(encoding))
    scrub = Scrubber({}, lambda: values_of(str(tmp_path)))
    said = scrub.text(f"one {VALUE}, two gr\u00fcner-Tee-7, three {VALUE.encode().hex()}.")
    one = "[secret .env SERVICE_TOKEN]"
    assert f"one {one}, two [secret .env OTHER_KEY], three {one}." == said


def test_a_value_with_spaces_and_quotes_is_found_as_forms_and_json_write_it() -> None:
    value = 'correct horse "battery" stäple'
    scrub = Scrubber({}, lambda: {value: "PASSPHRASE"})
    for written in (
        quote_plus(value),
        quote(value, safe=""),
        value.replace(" ", "+"),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    ):
        assert scrub.text(f"https://example.org/?q={written}&r=1+1") == (
            "https://example.org/?q=[secret PASSPHRASE]&r=1+1"
        )
