"""`native.py DATABASE SEED...`: programs by chance on DBOS alone; prints what they came to as JSON, by seed.

The reference interpreter is a DBOS workflow, its effects are DBOS steps, and branches of a fork are child workflows:
what a user would write who has DBOS and not fdc.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def main(database: str, seeds: list[int]) -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "tooling")]
    from dbos import DBOS
    from fdc_toolchain.runs.workers.dispatch import _json, _quiet

    from tests.support.reference import Branch, Reference, Stopped, answer, made

    _quiet()
    DBOS(config={
        "name": "native", "system_database_url": f"sqlite:///{database}", "log_level": "CRITICAL", "enable_otlp": False,
        "serializer": _json(), "run_admin_server": False, "application_version": "1",
    })  # fmt: skip
    outcomes: dict[int, dict[str, Any]] = {seed: {} for seed in seeds}

    @DBOS.step()
    async def effect(seed: int, address: str, kind: str, tool: str, args: dict[str, Any]) -> Any:
        found = answer(kind, tool, args, address)
        assert address not in outcomes[seed], f"{address} is asked twice"
        outcomes[seed][address] = found.value
        return (
            {"failed": found.failure.message}
            if found.failure is not None
            else {"value": found.value}
        )

    def reference(seed: int) -> Reference:
        async def perform(address: str, kind: str, tool: str, args: dict[str, Any]) -> Any:
            found = await effect(seed, address, kind, tool, args)
            if "failed" in found:
                raise Stopped("failure", f"`{tool}`: {found['failed']}", address)
            return found["value"]

        async def branches(several: list[Branch]) -> list[list[Any] | Stopped]:
            handles = [await DBOS.start_workflow_async(branch, seed, list(one)) for one in several]
            ended = [await handle.get_result() for handle in handles]
            return [
                one["yielded"] if "yielded" in one else Stopped(*one["stopped"]) for one in ended
            ]

        return Reference(made(seed)[0], perform, branches)

    @DBOS.workflow()
    async def branch(seed: int, one: list[Any]) -> dict[str, Any]:
        name, way, prefix, names = one
        try:
            return {"yielded": await reference(seed).branch((name, way, prefix, names))}
        except Stopped as stopped:
            return {"stopped": list(stopped.args)}

    @DBOS.workflow()
    async def whole(seed: int) -> list[Any]:
        return list(await reference(seed).run(made(seed)[1]))

    DBOS.launch()

    async def every() -> dict[int, Any]:
        found = {}
        for seed in seeds:
            handle = await DBOS.start_workflow_async(whole, seed)
            stop, result = await handle.get_result()
            found[seed] = [stop, result, outcomes[seed]]
        return found

    print(json.dumps(asyncio.run(every())))
    sys.stdout.flush()
    DBOS.destroy()


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]])
