"""What an editor is told of a plan stands where the text has it, whatever the text."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fdc_toolchain import api

from tests.support import profiles

TEXT = """\
# FSM: tooling/fdc_fsm.json
param name = "a b"
set_plan Order
plan_step_complete r
x <- read_file "a \\\\ \\"{name}\\" {name}"
for_each_file docs/*.md as page max 3
  y <-   read_file {page}
  if x.status == 0 and len(y) > 1
    message_user "{x.stdout} {y}"
  else
    z <-  call_plan other.plan  who={y} depth 3
close_task
submit
"""
OTHERS = {"other.plan": "param who\nmessage_user {who}\n"}


def damaged(rng: Random, text: str) -> str:
    """The text with some characters taken out and others put in."""
    for _ in range(rng.randrange(12)):
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice('{}"\\=<-# \n\t𝒳é.x0') + text[at + rng.randrange(2) :]
    return text


def test_names_and_tokens_are_where_they_are_said_to_be(tmp_path: Path) -> None:
    session, rng = api.Session(workspace=tmp_path), Random(profiles.seed())
    for number in range(profiles.share(60)):
        text = damaged(rng, TEXT) if number else TEXT
        view = session.view("a.plan", text=text, unsaved=OTHERS)
        session.bounds("a.plan", text=text, unsaved=OTHERS)
        lines = view.result.text.split("\n")

        def under(line: int, start: int, end: int, rows: list[str] = lines) -> str:
            return rows[line - 1][start - 1 : end - 1]

        for symbol in view.symbols:
            for span in (*symbol.bound, *symbol.read):
                assert symbol.name == under(span.line, span.column, span.end_column), text
        for token in view.tokens:
            word = under(token.line, token.column, token.column + token.length)
            assert token.length == len(word) and (token.kind == "comment" or " " not in word), text
        for site in view.calls:
            for key, span in site.keys.items():
                assert key == under(span.line, span.column, span.end_column), text


def test_every_place_of_a_name_is_found(tmp_path: Path) -> None:
    view = api.Session(workspace=tmp_path).view("a.plan", text=TEXT, unsaved=OTHERS)
    found = {
        symbol.name: (len(symbol.bound), [span.line for span in symbol.read])
        for symbol in view.symbols
    }
    assert {
        "name": (1, [5, 5]), "x": (1, [8, 9]), "page": (1, [7]), "file1": (0, []), "y": (1, [8, 9, 11]), "z": (1, []),
    } == found  # fmt: skip
