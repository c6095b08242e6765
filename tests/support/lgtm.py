"""A model that answers each prompt of the LGTM pack by what it is asked, and what a run folder holds."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fdc_packs.lgtm.synthesis import PIPELINE

from .explored import data, shop
from .inside import fdc
from .messages_api import Item, Server, messages_api, reply

QUESTION = "How should the stock be kept when an order is refused?"
Answer = Callable[[dict[str, Any]], Any]

KINDS = {
    "You plan what to look up": "queries", "You write up one find": "knowledge", "You propose one micro": "hypothesis",
    "You ask what must be": "questions", "You rewrite a micro": "refined", "You try to disprove": "falsification",
    "You write the synthesis": "narrative", "You list the steps": "base_plan", "You decide which one tool": "agent",
    "You divide a question": "areas", "You compare hypotheses": "conflicts", "You criticise": "critique",
    "You judge whether evidence": "evidence", "You look at validated": "synthesis", "You write one component": "component",
    "You choose up to three": "diagrams", "You draw one diagram": "diagram", "You write a pipeline": "pipeline",
    "You optimise a pipeline": "optimize",
}  # fmt: skip


def kind_of(body: dict[str, Any]) -> str:
    """Which prompt a request is."""
    system = body["system"][0]["text"]
    return next(kind for start, kind in KINDS.items() if system.startswith(start))


def knowledge(body: dict[str, Any]) -> str:
    stub = data(body)[0]
    return (
        f"# About {stub['path']}\n\n**Confidence:** 0.8\n\n**Sources:**\n\n- {stub['source']}\n\n"
        f"**Summary:**\nThe line says: {stub['quote']}"
    )


def hypothesis(body: dict[str, Any]) -> dict[str, Any]:
    _, area, proposal, results = data(body)
    mine = next(row for row in proposal["areas"] if row["areaID"] == area["areaID"])["evidence"]
    first = next(row for row in results if row["ok"] and row["entry"]["filePath"] == mine[0])
    return {
        "statement": f"Change `{first['stub']['subject'] or 'reserve'}` (`{first['stub']['source']}`).", "confidence": 0.6,
        "gapCharacterization": "It does not say so yet.", "rationale": "The line is the only one.",
        "keyAssumptions": [{"id": "A01", "statement": first["stub"]["quote"], "evidence": mine[:1]}],
        "validationCriteria": ["a test"], "critiquePoints": [], "questions": ["Who uses `reserve`?"],
        "alternativeApproaches": [],
    }  # fmt: skip


def refined(body: dict[str, Any]) -> dict[str, Any]:
    _, old, critiques, results = data(body)
    keep = (
        "statement",
        "gapCharacterization",
        "rationale",
        "validationCriteria",
        "alternativeApproaches",
    )
    new = [row["entry"]["filePath"] for row in results if row["ok"]][:1]
    more = [
        {
            "id": f"A{len(old['keyAssumptions']) + 1:02d}",
            "statement": "It is used.",
            "evidence": new,
        }
    ]
    return {
        **{key: old[key] for key in keep}, "confidence": 0.9, "keyAssumptions": [*old["keyAssumptions"], *more],
        "critiquePoints": critiques["points"], "questions": [],
    }  # fmt: skip


def areas(body: dict[str, Any]) -> dict[str, Any]:
    rows = [row["entry"]["filePath"] for row in data(body)[1] if row["ok"]]
    return {"areas": [
        {"areaID": "A_Stock", "description": "what is kept", "evidence": rows[:2]},
        {"areaID": "A_Orders", "description": "what is refused", "evidence": rows[2:4]},
    ]}  # fmt: skip


def component(body: dict[str, Any]) -> dict[str, Any]:
    _, hypothesis, code = data(body)
    return {
        "title": f"Change `{code['name']}`", "rationale": "As the hypothesis says.", "language": "python",
        "hypotheses": [hypothesis["microHypothesisID"]], "code": code["code"] + "\n# changed", "place": code["place"],
    }  # fmt: skip


ANSWERS: dict[str, Answer] = {
    "queries": lambda body: {"queries": ["order refused stock", "`reserve`"]},
    "knowledge": knowledge,
    "hypothesis": hypothesis,
    "questions": lambda body: {"questions": ["Who uses `reserve`?"]},
    "refined": refined,
    "falsification": lambda body: {
        "queries": [{"targetID": "T01", "queries": ["order without stock"]}]
    },
    "narrative": lambda body: (
        "Do " + " and ".join(row["microHypothesisID"] for row in data(body)[1]) + "."
    ),
    "base_plan": lambda body: {"steps": ["h: change it"]},
    "agent": lambda body: {
        "say": "look",
        "tool": "FileSearch",
        "args": {"queries": ["stock of an order", "reserve"]},
    },
    "areas": areas,
    "conflicts": lambda body: {"conflicts": []},
    "critique": lambda body: {"points": ["It rests on one line."]},
    "evidence": lambda body: {
        "disproved": False,
        "analysis": "Nothing says the contrary.",
        "decisive": [],
    },
    "synthesis": lambda body: {
        "implementationPrerequisites": ["the tests pass"],
        "keyDependencies": [],
    },
    "component": component,
    "diagrams": lambda body: {"diagrams": [{"name": "Parts", "prompt": "the parts"}]},
    "diagram": lambda body: "```\n[a] --> [b]\n```",
    "pipeline": lambda body: PIPELINE,
    "optimize": lambda body: data(body)[0]["text"].replace(
        "components <- for ", "components <- fork "
    ),
}


@contextmanager
def thinking(**answers: Answer) -> Iterator[tuple[Server, dict[str, str]]]:
    """A model over real HTTP; `answers` replace those of `ANSWERS`. Yields it and the environment that names it."""
    known = {**ANSWERS, **answers}

    def take(body: dict[str, Any], headers: dict[str, str]) -> Item:
        with server.lock:
            server.requests.append(body)
        said = known[kind_of(body)](body)
        return (
            said
            if isinstance(said, Item)
            else reply(said if isinstance(said, str) else json.dumps(said))
        )

    with messages_api([]) as server:
        server.take = take  # type: ignore[method-assign]
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "test",
            "FDC_MODEL": "claude-sonnet-5",
        }
        yield server, env


def asked(server: Server, kind: str) -> list[dict[str, Any]]:
    """The requests of one prompt."""
    return [body for body in server.requests if kind_of(body) == kind]


def plan_for(workspace: Path, *more: str, env: dict[str, str] | None = None) -> Any:
    """`fdc lgtm` on the shop, in a workspace that is made where it is not there."""
    if not (workspace / "shop").exists():
        shop(workspace)
    return fdc(
        "lgtm", QUESTION, *more, cwd=workspace, env=env
    )  # in this process: it saves most of the time


def folder_of(workspace: Path) -> Path:
    """The folder of the one run that has one."""
    [found] = (workspace / "runs").iterdir()
    return found


def tree(folder: Path) -> dict[str, str]:
    """Every file of a run folder, by path, with the run's name taken out."""
    name = folder.name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)).replace(name, "RUN"): path.read_text("utf-8").replace(
            name, "RUN"
        )
        for path in files
    }


def steps(workspace: Path, run: str) -> list[tuple[str, dict[str, Any], Any]]:
    """What a run did, in the order of its record: tool, arguments, result. Read without any of the product's code."""
    db = sqlite3.connect(f"file:{workspace}/.fdc/runs.sqlite?mode=ro", uri=True)
    try:
        [(number,)] = db.execute("SELECT id FROM run WHERE name=?", (run,)).fetchall()
        rows = db.execute(
            "SELECT tool, body, blob FROM record WHERE run=? AND kind='outcome' ORDER BY seq",
            (number,),
        )
        out = []
        for tool, body, blob in rows.fetchall():
            if blob is not None:
                [(body,)] = db.execute("SELECT bytes FROM blob WHERE hash=?", (blob,)).fetchall()
            found = json.loads(body)
            out.append((tool, found, found.get("value")))
        return out
    finally:
        db.close()


def worldview(workspace: Path) -> dict[str, Any]:
    """The state that the one run left."""
    return dict(json.loads((folder_of(workspace) / "worldview.json").read_text("utf-8")))


def log(worldview: dict[str, Any]) -> list[str]:
    """The messages of a worldview's log."""
    return [row["message"] for row in worldview["log"]]


WRITES = ("create_file_with_block", "overwrite_file_with_block", "create_directory")


def same_files(workspace: Path) -> None:
    """LGTM-32: the files and folders that the run left are those that its record says were written, and no other."""
    folder = folder_of(workspace)
    written = {value["path"] for tool, _, value in steps(workspace, folder.name) if tool in WRITES}
    below = {str(path.relative_to(workspace)) for path in folder.rglob("*")}
    made = {
        str(path.parent) for path in map(Path, written)
    }  # a folder that a file needed is made with it
    assert written <= below and below <= written | made, written ^ below


def same_log(workspace: Path) -> None:
    """LGTM-45: each LogMessage of the record is in the run's log, with its level, and the log has no other of its own; what
    the phases said comes in the order in which they said it."""
    said = [(value["level"], value["message"]) for tool, _, value in steps(workspace, folder_of(workspace).name)
            if tool == "log_message"]  # fmt: skip
    kept = [(row["level"], row["message"]) for row in worldview(workspace)["log"]]
    assert sorted(said) == sorted(kept), set(said) ^ set(kept)
    alone = [
        row
        for row in kept
        if kept.count(row) == 1 and "h_" not in row[1] and "A_" not in row[1] and row[0] != "Warn"
    ]
    assert alone == [row for row in said if row in alone]


def links(text: str) -> list[str]:
    """The links of a page, found without any of the product's code."""
    return re.findall(r"\]\(([^()\s]+)\)", text)
