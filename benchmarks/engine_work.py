"""One contender's share of one round of `benchmarks.engine`: does the work, prints seconds and bytes as JSON.

Runs in the environment that has the other engines. `python engine_work.py CASE CONTENDER NUMBER FOLDER`.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tooling"))
VALUE = "x" * 40
NAP = 0.01
JOBS = 256
"""As many as `fdc run --jobs` takes."""


def timed(work: Callable[[], Any]) -> dict[str, float]:
    """Wall and CPU seconds of some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def size(folder: Path) -> int:
    """Bytes that stay, once each log is folded into its file."""
    for path in folder.glob("*.sqlite"):
        sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# The bare commit


def raw_steps(number: int, folder: Path) -> dict[str, float]:
    db = _bare(folder)

    def work() -> None:
        for at in range(number):
            db.execute(
                "INSERT INTO step VALUES(?,?)", (f"main/2[{at}]/1", json.dumps({"value": VALUE}))
            )

    return timed(work)


def raw_resume(number: int, folder: Path) -> dict[str, float]:
    raw_steps(number, folder)
    db = sqlite3.connect(folder / "raw.sqlite")
    return timed(
        lambda: [json.loads(body) for _, body in db.execute("SELECT * FROM step").fetchall()]
    )


def _bare(folder: Path) -> sqlite3.Connection:
    db = sqlite3.connect(folder / "raw.sqlite", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE step(address TEXT PRIMARY KEY, body TEXT)")
    return db


def gather_branches(number: int, folder: Path) -> dict[str, float]:
    async def work() -> None:
        await asyncio.gather(*(asyncio.sleep(NAP) for _ in range(number)))

    return timed(lambda: asyncio.run(work()))


# fdc


class _Tools:
    def __init__(self, nap: float = 0.0) -> None:
        from fdc_toolchain.engine.events import Outcome

        self.nap, self.outcome = nap, Outcome

    def perform(self, effect: Any) -> Any:
        if self.nap and effect.args["text"] == "branch":
            time.sleep(self.nap)
        return self.outcome(list(map(str, range(1000))) if effect.args["text"] == "list" else VALUE)

    def probe(self, effect: Any) -> Any:
        return "unknown"

    def cancel(self) -> None:
        pass


def _program(*body: dict[str, Any]) -> dict[str, Any]:
    main = {
        "path": "main.plan",
        "name": "main",
        "automaton": None,
        "params": [],
        "body": list(body),
    }
    tools = {"read": {"effect": "read", "parameters": []}}
    rest: dict[str, Any] = {
        "automata": {},
        "tools": tools,
        "budget": {},
        "allow": {},
        "sources": {},
    }
    return {"format": 1, "root": "main", "plans": {"main": main}, **rest}


def _step(text: str, bind: str | None = None) -> dict[str, Any]:
    return {
        "op": "step",
        "line": 1,
        "tool": "read",
        "action": None,
        "bind": bind,
        "args": {"text": [text]},
    }


def _fdc(program: dict[str, Any], folder: Path, room: int, nap: float = 0.0) -> dict[str, float]:
    from fdc_toolchain.engine.drive import Ports, drive
    from fdc_toolchain.engine.fold import fold
    from fdc_toolchain.journal.sqlite import Store
    from fdc_toolchain.testing import Silence

    class Clock:
        def seconds(self) -> float:
            return time.monotonic()

    store = Store(str(folder / "runs.sqlite"), b"k" * 32)
    store.create("r", "p", program, {}, 1.0)
    row = store.run("r")
    assert row is not None
    journal = store.claim(row)
    state = fold(program, {}, [])
    ended = []
    ports = Ports(journal, _Tools(nap), Clock(), Silence())
    took = timed(lambda: ended.append(drive(program, state, ports, room=room)))
    assert ended[0].status == "finished", ended
    journal.close_run(
        "finished", {"stop": None, "steps": state.steps, "seconds": 0.0, "spent": {"steps": 1}}, 2.0
    )
    store.close()
    return took


def _loop(number: int) -> dict[str, Any]:
    return _program(
        {"op": "iterate", "line": 1, "max": number, "until": None, "body": [_step("a")]}
    )


def fdc_steps(number: int, folder: Path) -> dict[str, float]:
    return _fdc(_loop(number), folder, 1)


def fdc_branches(number: int, folder: Path) -> dict[str, float]:
    fork = {
        "op": "fork", "line": 1, "name": "x", "in": [{"ref": ["items"]}], "max": number, "bind": None,
        "body": [_step("branch")],
    }  # fmt: skip
    return _fdc(_program(_step("list", "items"), fork), folder, JOBS, NAP)


def fdc_resume(number: int, folder: Path) -> dict[str, float]:
    """From the open file to a state that can go on: the whole chain is checked on the way."""
    from fdc_toolchain.engine.fold import fold
    from fdc_toolchain.journal.sqlite import Store

    _fdc(_loop(number), folder, 1)
    store = Store(str(folder / "runs.sqlite"), b"k" * 32)
    row = store.run("r")
    assert row is not None
    return timed(lambda: fold(store.program(row), {}, store.claim(row).records))


def fdc_fold(number: int, folder: Path) -> dict[str, float]:
    """The same without the chain: reading the rows and folding them."""
    from fdc_toolchain.engine.fold import fold
    from fdc_toolchain.journal.sqlite import Store

    _fdc(_loop(number), folder, 1)
    store = Store(str(folder / "runs.sqlite"), b"k" * 32)
    row = store.run("r")
    assert row is not None
    return timed(lambda: fold(store.program(row), {}, store.records(row)))


def fdc_replay(number: int, folder: Path) -> dict[str, float]:
    from fdc_toolchain.engine.replay import replay
    from fdc_toolchain.journal.sqlite import Store

    _fdc(_loop(number), folder, 1)
    store = Store(str(folder / "runs.sqlite"), b"k" * 32)
    row = store.run("r")
    assert row is not None
    return timed(lambda: replay(store.program(row), {}, store.records(row), "running", None))


# LangGraph


def _graph(branches: bool) -> Any:
    import operator
    from typing import Annotated, TypedDict

    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    class State(TypedDict):
        at: int
        most: int
        last: str
        out: Annotated[list, operator.add]

    graph = StateGraph(State)
    if branches:

        async def branch(state: Any) -> Any:
            await asyncio.sleep(NAP)
            return {"out": [VALUE]}

        graph.add_node("branch", branch)
        graph.add_conditional_edges(
            START, lambda state: [Send("branch", {}) for _ in range(state["most"])], ["branch"]
        )
        graph.add_edge("branch", END)
    else:
        graph.add_node("step", lambda state: {"at": state["at"] + 1, "last": VALUE})
        graph.add_edge(START, "step")
        graph.add_conditional_edges(
            "step", lambda state: END if state["at"] >= state["most"] else "step"
        )
    return graph


def langgraph_steps(number: int, folder: Path) -> dict[str, float]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    db = sqlite3.connect(folder / "lg.sqlite", check_same_thread=False)
    saver = SqliteSaver(db)
    saver.setup()
    graph = _graph(False).compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": number + 10}
    begin = {"at": 0, "most": number, "last": "", "out": []}
    return timed(lambda: graph.invoke(begin, config, durability="sync"))


def langgraph_branches(number: int, folder: Path) -> dict[str, float]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async def work() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "lg.sqlite")) as saver:
            graph = _graph(True).compile(checkpointer=saver)
            config = {"configurable": {"thread_id": "1"}, "recursion_limit": 10}
            found = await graph.ainvoke({"at": 0, "most": number, "last": "", "out": []}, config)
            assert len(found["out"]) == number

    return timed(lambda: asyncio.run(work()))


def langgraph_resume(number: int, folder: Path) -> dict[str, float]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    langgraph_steps(number, folder)
    db = sqlite3.connect(folder / "lg.sqlite", check_same_thread=False)
    graph = _graph(False).compile(checkpointer=SqliteSaver(db))
    return timed(lambda: graph.get_state({"configurable": {"thread_id": "1"}}))


# DBOS


def dbos_steps(number: int, folder: Path) -> dict[str, float]:
    from dbos import DBOS

    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{folder}/dbos.sqlite",
            "log_level": "ERROR",
        }
    )

    @DBOS.step()
    def one(at: int) -> str:
        return VALUE

    @DBOS.workflow()
    def loop(most: int) -> int:
        for at in range(most):
            one(at)
        return most

    sqlite3.connect(folder / "dbos.sqlite").execute(
        "PRAGMA journal_mode=WAL"
    )  # which DBOS does not set itself
    DBOS.launch()
    try:
        return timed(lambda: loop(number))
    finally:
        DBOS.destroy()


def main(case: str, contender: str, number: int, folder: Path) -> None:
    found = globals()[f"{contender}_{case}"](number, folder)
    print(json.dumps({**found, "bytes": size(folder)}))


if __name__ == "__main__":
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
