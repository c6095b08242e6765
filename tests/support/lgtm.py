"""A model that answers each prompt of the LGTM pack by what it is asked, and what a run folder holds."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .explored import data, shop
from .inside import fdc
from .messages_api import Item, Server, messages_api, reply

QUESTION = "How should the stock be kept when an order is refused?"
Answer = Callable[[dict[str, Any]], Any]

KINDS = {
    "You propose one hypothesis": "hypothesis", "You rewrite one hypothesis": "refined", "You try to disprove": "falsification",
    "You write the synthesis": "narrative", "You decide which one search": "agent", "You divide a question": "areas",
    "You compare hypotheses": "conflicts", "You criticise": "critique", "You are the judge": "evidence",
    "You look at hypotheses": "synthesis", "You write one component": "component", "You write a pipeline": "pipeline",
}  # fmt: skip
PIPELINE = """\
# FSM: tooling/lgtm_pipeline_fsm.json
# The components of the implementation, one for each validated micro-hypothesis.

use pack lgtm
param question
param synthesis
param hypotheses
param map
budget model_calls 12
allow read **

set_plan The components of: {question}
components <- for hypothesis in {hypotheses} max 6
  code <- use_tool.read_code hypothesis={hypothesis} map={map}
  component <- gen_text.component question={question} hypothesis={hypothesis} code={code}
  yield {component}
ordered <- join.components components={components} synthesis={synthesis}
yield {ordered}
close_task
"""
BLOCK = re.compile(
    r"^\[(?P<id>\w+)\] (?P<source>.*?) -- (?P<note>.*)\n(?P<lines>(?:(?!\[\w+\] ).*\n?)*)",
    re.MULTILINE,
)
PARTS = {
    "Statement": "statement",
    "What is missing today": "gapCharacterization",
    "Why": "rationale",
}
LISTS = {"It is right if": "validationCriteria", "Held against it": "critiquePoints", "Open question": "questions",
         "Another way": "alternativeApproaches"}  # fmt: skip


def kind_of(body: dict[str, Any]) -> str:
    """Which prompt a request is."""
    system = body["system"][0]["text"]
    return next(kind for start, kind in KINDS.items() if system.startswith(start))


def evidence_of(text: str) -> list[dict[str, str]]:
    """The pieces of evidence that a prompt shows."""
    return [found.groupdict() for found in BLOCK.finditer(text)]


def targets_of(text: str) -> list[tuple[str, str]]:
    """The targets that a prompt lists: id and what is said."""
    return [(line[:3], line[3:].strip()) for line in text.split("\n") if re.match(r"T\d\d ", line)]


def noted(text: str) -> dict[str, Any]:
    """A hypothesis that a prompt shows, as the reply would have it."""
    out: dict[str, Any] = {"keyAssumptions": [], **{key: [] for key in LISTS.values()}}
    first, *lines = text.split("\n")
    out["confidence"] = float(first.rpartition("confidence ")[2])
    for line in lines:
        name, _, said = line.partition(": ")
        if name in PARTS:
            out[PARTS[name]] = said
        elif name in LISTS:
            out[LISTS[name]].append(said)
        elif name.startswith("Assumption "):
            what, _, ids = said.removesuffix("]").rpartition(" [")
            row = {
                "id": name.removeprefix("Assumption "),
                "statement": what,
                "evidence": [one for one in ids.split(", ") if one != "no evidence"],
            }
            out["keyAssumptions"].append(row)
    return out


def hypothesis(body: dict[str, Any]) -> dict[str, Any]:
    _, area, text = data(body)
    found = evidence_of(text)[0 if "kept" in area else 2]
    name = re.findall(r"`(\w+)`", found["note"])
    return {
        "statement": f"Change `{name[0] if name else 'reserve'}` (`{found['source']}`).", "confidence": 0.6,
        "gapCharacterization": "It does not say so yet.", "rationale": "The line is the only one.",
        "keyAssumptions": [{"id": "A01", "statement": "The line is there.", "evidence": [found["id"]]}],
        "validationCriteria": ["a test"], "critiquePoints": [], "questions": ["Who uses `reserve`?"],
        "alternativeApproaches": [],
    }  # fmt: skip


def refined(body: dict[str, Any]) -> dict[str, Any]:
    shown = data(body)
    old, critiques, new = noted(shown[1]), shown[-2], evidence_of(shown[-1])
    more = [{"id": f"A{len(old['keyAssumptions']) + 1:02d}", "statement": "It is used.",
             "evidence": [row["id"] for row in new[:1]]}]  # fmt: skip
    return {**old, "confidence": 0.9, "keyAssumptions": [*old["keyAssumptions"], *more],
            "critiquePoints": critiques["points"], "questions": []}  # fmt: skip


def unchanged(body: dict[str, Any]) -> dict[str, Any]:
    """The reply of an obedient model to which nothing new was shown."""
    return noted(data(body)[1])


def judged(verdict: str, *, by: Callable[[str], bool] = lambda said: True) -> Answer:
    """A judge that says one thing of each target that `by` takes, by the first piece of evidence; `undecided` of others."""

    def answer(body: dict[str, Any]) -> Any:
        targets, evidence = data(body)[:2]
        ids = [row["id"] for row in evidence_of(evidence)][:1]
        return {"verdicts": [
            {"target": ident, "verdict": verdict if by(said) else "undecided", "analysis": "The lines say so.", "decisive": ids}
            for ident, said in targets_of(targets)
        ]}  # fmt: skip

    return answer


def component(body: dict[str, Any]) -> dict[str, Any]:
    _, text, code = data(body)
    place, _, shown = code.partition("\n")
    stands = re.split(r"^(?:used|test): ", shown, maxsplit=1, flags=re.MULTILINE)[0].rstrip("\n")
    return {
        "title": "Change it", "rationale": "As the hypothesis says.", "language": "python",
        "hypotheses": [text.partition(":")[0]], "code": stands + "\n# changed", "place": place.split(" ")[0],
    }  # fmt: skip


ANSWERS: dict[str, Answer] = {
    "hypothesis": hypothesis,
    "refined": refined,
    "falsification": lambda body: {
        "queries": [{"targetID": "T01", "queries": ["order without stock"]}]
    },
    "narrative": lambda body: (
        "Do " + " and ".join(dict.fromkeys(re.findall(r"\bh_\w+_\d{3}\b", data(body)[1]))) + "."
    ),
    "agent": lambda body: {
        "say": "look",
        "tool": "FileSearch",
        "args": {"queries": ["stock of an order", "reserve"]},
    },
    "areas": lambda body: {
        "areas": [
            {"areaID": "A_Stock", "description": "what is kept"},
            {"areaID": "A_Orders", "description": "what is refused"},
        ]
    },
    "conflicts": lambda body: {"conflicts": []},
    "critique": lambda body: {
        "points": ["It rests on one line."],
        "questions": ["Who uses `reserve`?"],
    },
    "evidence": judged("supported"),
    "synthesis": lambda body: {
        "implementationPrerequisites": ["the tests pass"],
        "keyDependencies": [],
    },
    "component": component,
    "pipeline": lambda body: PIPELINE,
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
    # A folder that a file needed is made with it, and that for text from outside before the first step.
    made = {str(path.parent) for path in map(Path, written)} | {f"runs/{folder.name}/outside"}
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
