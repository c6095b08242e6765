"""The master controller: the automaton `tooling/fsm.json` takes one task from orientation to submission.

    python3 tooling/master_control.py "TASK"
    python3 tooling/master_control.py --resume TASK_ID

It waits for `plan.txt` in PLANNING, lints it, and executes a plan that was proved, one journaled step at a
time, sub-plans included. A killed controller goes on where it was. As a library: `MasterControlGraph` has a
handler for each state, which returns the automaton's trigger for what came of it.
"""

from fdc_toolchain.cli.scripts.master_control import (
    AgentState,
    Command,
    MasterControlGraph,
    PlanContext,
    StepResult,
    main,
)

__all__ = ["AgentState", "Command", "MasterControlGraph", "PlanContext", "StepResult", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
