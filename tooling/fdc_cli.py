"""The command line of the Finite Development Cycle: `start`, `validate`, `analyze`, `lint`, `close`, and all of `fdc`.

    python3 tooling/fdc_cli.py start --task-id ID
    python3 tooling/fdc_cli.py lint plan.txt
    python3 tooling/fdc_cli.py close --task-id ID

`start` begins a task: it runs the orientation cascade and logs TASK_START. `lint` proves a plan
against its automaton before anything runs. `close` writes the post-mortem and logs TASK_END.
"""

from fdc_toolchain.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
