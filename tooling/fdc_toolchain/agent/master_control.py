"""The master controller: one task from its first line to its submission, governed by `tooling/fsm.json` (FDC-01 to 06).

    graph = MasterControlGraph(world=..., model=...)
    state = AgentState("make the tests pass")
    trigger = graph.do_planning(state, text, logger)

A handler does the work of one state and returns the trigger that the automaton has for what came of
it. A handler never raises: what fails is put in `state.error` and leads towards ERROR. It returns None where
somebody else has to act first (`graph.waiting` says who), and may simply be called again.
`run` goes through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..engine.ports import WorldFailed
from ..program.codec import digest
from ..program.model import Program
from . import coding, planning, provenance, research_cycle, retrospect
from .model_port import ModelPort, ModelWaiting, Why
from .orchestrator import Orchestrator, read
from .state import AgentState, Command, PlanContext
from .states.execution import Execution
from .states.orientation import Tools, orient
from .turn import Failed, Turn, reason
from .world import Logger, World

FSM = "tooling/fsm.json"
FORMAT = 1
_DETOUR = {
    "GENERATING_CODE": "RUNNING_TESTS",
    "RUNNING_TESTS": "DEBUGGING",
    "DEBUGGING": "EXECUTING",
}
"""The detour to ERROR if a direct transition is missing: the next state reads `given_up` and continues to ERROR."""

CALLER = "a caller of the library"
"""The author of a plan that did not come from a source of plans."""

_KEPT = ("patches", "research_number", "seen", "written")
"""Notes about a task that are kept when it starts again."""

PlanSource = Callable[[AgentState], str | None]
"""Returns a plan's text; its optional attribute `by` is the author."""


class MasterControlGraph:
    """The controller (FDC-86). `fsm` is the automaton's JSON, `current_state` where the task stands."""

    def __init__(self, fsm_path: str = FSM, *, world: World, model: ModelPort) -> None:
        """Raises FsmError, a ValueError with path and reason, for an automaton that is missing or wrong."""
        self._machine: Orchestrator = read(fsm_path, world.root)
        self.fsm: dict[str, object] = self._machine.data
        self.current_state: str = self._machine.initial
        self.waiting = ""
        self.why_waiting: Why = "answer"
        self._world = world
        self._model = model
        self._control: dict[str, dict[str, object]] = {}
        self._execution = Execution()

    # The automaton

    def get_trigger(self, source_state: str, dest_state: str) -> str:
        """The trigger from one state to another (FDC-87). Raises ValueError if there is none, or more than one."""
        return self._machine.trigger(source_state, dest_state)

    def advance(self, trigger: str) -> str:
        """Takes a trigger in the current state; returns the new one. Raises ValueError where the automaton refuses it."""
        self.current_state = self._machine.after(self.current_state, trigger)
        return self.current_state

    @property
    def finished(self) -> bool:
        """True in a final state; ERROR is one (C-12)."""
        return self.current_state in self._machine.final

    # The handlers

    def do_orientation(
        self, agent_state: AgentState, logger: Logger | None, tools: Tools | None = None
    ) -> str | None:
        """ORIENTING (FDC-88): the cascade, the workspace's files, the latest post-mortem, its documents."""
        return self._act("ORIENTING", agent_state, logger, lambda turn: orient(turn, tools))

    def do_planning(
        self, agent_state: AgentState, plan_content: str, logger: Logger | None
    ) -> str | None:
        """PLANNING (FDC-04, FDC-89): lints the plan, compiles it, pushes it; or takes it as a request for research.

        Where the planner may have been shown text from outside, it waits until `approve` was called for it.
        """
        return self._act(
            "PLANNING", agent_state, logger, lambda turn: self._plan(turn, plan_content, CALLER)
        )

    def do_researching(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """RESEARCHING (FDC-90): starts the research in the background."""
        return self._act("RESEARCHING", agent_state, logger, research_cycle.launch)

    def do_awaiting_result(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """AWAITING_RESULT (FDC-90): checks whether it has ended."""
        return self._act("AWAITING_RESULT", agent_state, logger, self._poll)

    def do_generating_code(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """GENERATING_CODE (FDC-92): requests and applies a patch."""
        return self._act("GENERATING_CODE", agent_state, logger, coding.generate)

    def do_running_tests(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """RUNNING_TESTS (FDC-92): runs the configured test command."""
        return self._act("RUNNING_TESTS", agent_state, logger, coding.run_tests)

    def do_debugging(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """DEBUGGING (FDC-92): prepares another attempt, or gives up after the configured number of them."""
        return self._act("DEBUGGING", agent_state, logger, coding.debug)

    def get_current_step(self, agent_state: AgentState) -> Command | None:
        """The step to perform next, or None where execution is complete (FDC-91). What fails is in `agent_state.error`."""
        try:
            return self._execution.current(self._turn(agent_state, None))
        except (Failed, WorldFailed, OSError, ValueError, LookupError) as failed:
            agent_state.error = str(failed)
            return None
        except Exception as failed:
            agent_state.error = f"{type(failed).__name__}: {failed}"
            return None

    def do_execution(
        self, agent_state: AgentState, step_result: object, logger: Logger | None
    ) -> str | None:
        """EXECUTING (FDC-05, FDC-91): records what became of the current step, and advances.

        `step_result`: a StepResult; an exception, or an object with an `error` or the status FAILURE, for
        a step that failed; anything else that JSON can say is what the step brought.
        """
        return self._act(
            "EXECUTING", agent_state, logger, lambda turn: self._execution.step(turn, step_result)
        )

    def execute(self, agent_state: AgentState, logger: Logger | None) -> str | None:
        """EXECUTING by the engine: drives the plan until somebody else must act."""
        return self._act("EXECUTING", agent_state, logger, self._execution.drive)

    def do_finalizing(
        self,
        agent_state: AgentState,
        analysis_content: str | Mapping[str, str] | None,
        logger: Logger | None,
    ) -> str | None:
        """FINALIZING (FDC-93): post-mortem, TASK_END, lessons, self-correction."""
        return self._act(
            "FINALIZING",
            agent_state,
            logger,
            lambda turn: retrospect.finalize(turn, analysis_content),
        )

    # A person

    def decide(
        self, agent_state: AgentState, name: str, by: str, logger: Logger | None, *, approved: bool
    ) -> dict[str, object]:
        """A person, `by`, approves the text that waits, or sends it back; `name` is how its sha256 begins (12 digits).

        Returns what that is, once the decision is saved. Raises ValueError where this is not what waits, and OSError.
        """
        decision = provenance.approve if approved else provenance.decline
        about = decision(self._turn(agent_state, logger), name, by)
        self.save(agent_state)
        return about

    # The whole loop

    def run(
        self,
        agent_state: AgentState,
        logger: Logger | None,
        tools: Tools | None = None,
        *,
        plan: PlanSource,
        analysis: Callable[[AgentState], str | Mapping[str, str] | None] = lambda state: None,
        moved: Callable[[str, str, str], None] = lambda source, trigger, dest: None,
    ) -> str:
        """Goes on until a final state, or until somebody else must act; returns the state (T-20).

        `plan` gives a plan's text, or None while there is none. `moved` hears of each transition. The state
        is saved with each, so that a killed controller goes on from there.
        """
        self.waiting = ""
        self.save(agent_state)
        while not self.finished:
            source = self.current_state
            if source == self._machine.initial and source not in _HANDLED:
                trigger: str | None = self.get_trigger(source, "ORIENTING")
            elif source == "ORIENTING":
                trigger = self.do_orientation(agent_state, logger, tools)
            elif source == "PLANNING":
                trigger = self._act(
                    "PLANNING", agent_state, logger, lambda turn: self._from_source(turn, plan)
                )
            elif source == "EXECUTING":
                trigger = self.execute(agent_state, logger)
            elif source == "FINALIZING":
                trigger = self._act(
                    source,
                    agent_state,
                    logger,
                    lambda turn: retrospect.finalize(turn, analysis(turn.state)),
                )
            elif source in _PLAIN:
                trigger = _PLAIN[source](self, agent_state, logger)
            else:
                agent_state.error = f"the controller has no handler for the state `{source}`"
                trigger = None
            if trigger is None:
                return self.current_state
            dest = self.advance(trigger)
            if dest != source:
                moved(source, trigger, dest)
            elif source == "AWAITING_RESULT":
                self._world.pause(self._world.policy().poll_seconds)
        self.close()
        return self.current_state

    def reorient(self, agent_state: AgentState) -> str:
        """Leaves ERROR by the automaton's own way (C-12). Raises ValueError where it has none."""
        self.advance(self.get_trigger("ERROR", "ORIENTING"))
        agent_state.error = None
        agent_state.orientation_complete = False
        agent_state.plan_stack = []
        kept = self.notes(agent_state)
        self._control[agent_state.task_id] = {key: kept[key] for key in _KEPT if key in kept}
        self.save(agent_state)
        return self.current_state

    # Saving

    def save(self, agent_state: AgentState, state: str | None = None) -> None:
        """Writes the state, where the task stands (or is about to), and the controller's notes. Raises OSError."""
        record = {
            "format": FORMAT, "task_id": agent_state.task_id, "state": state or self.current_state,
            "waiting": self.waiting, "agent": agent_state.to_json(), "control": self.notes(agent_state),
        }  # fmt: skip
        self._world.save(
            agent_state.task_id, {**record, "seal": provenance.seal_of(self._world, record)}
        )

    def load(self, task_id: str) -> AgentState | None:
        """The saved state of a task, with `current_state` where it stood. Raises ValueError where it is damaged."""
        record = self._world.load(task_id)
        if record is None:
            return None
        if record.get("format") != FORMAT or not isinstance(record.get("control"), dict):
            raise ValueError(
                f"the record of the task `{task_id}` was written by a different version of fdc, or is damaged"
            )
        state = AgentState.from_json(record.get("agent"), task_id)
        at = str(record.get("state"))
        if at not in self._machine.states:
            why = "which the automaton does not have"
            raise ValueError(f"the task `{task_id}` is in the state `{at}`, {why}")
        self.current_state = at
        self._control[task_id] = provenance.resumed(self._world, record)
        return state

    def close(self) -> None:
        """Releases the runs whose steps the caller performed."""
        self._execution.close()

    # What the handlers do

    def _from_source(self, turn: Turn, plan: PlanSource) -> str:
        text = plan(turn.state)
        if text is None:
            raise ModelWaiting(self.waiting or "waiting for a plan")
        return self._plan(turn, text, str(getattr(plan, "by", CALLER)))

    def _plan(self, turn: Turn, text: str, by: str) -> str:
        topic = planning.research_request(text)
        about: dict[str, object] = {"by": by, "labels": provenance.labels(turn)}
        if topic is not None:
            asking = provenance.Text("request", text, by)
            provenance.clear(
                turn, asking, free="" if turn.world.web() else "it only reads the workspace"
            )
            local = bool(provenance.seen(turn.control)) and not turn.world.web()
            turn.control.update(research_question=topic, request=None, research_web=not local)
            turn.log(
                2, "PLAN_UPDATE", {"research": topic, **about}, "SUCCESS", "research was requested"
            )
            return "RESEARCHING"
        path = turn.state.plan_path or planning.PLAN
        compiled = planning.compile_text(turn.world.root, path, text)
        if compiled.program is None:
            turn.log(2, "PLAN_UPDATE", {"plan": path}, "FAILURE", error=compiled.findings[:4000])
            raise Failed(compiled.findings.strip())
        turn.state.plan_path = path
        calls = sorted(key for key in compiled.program["plans"] if key != compiled.program["root"])
        written = provenance.Text("plan", text, by, digest(compiled.program), tuple(calls))
        free = "it only reads and tells" if provenance.harmless(compiled.program) else ""
        provenance.clear(turn, written, free=free)
        run = self._begin(turn, compiled.program, path)
        turn.control.update(run=run, answer={}, code=None, given_up=None)
        turn.state.plan_stack = [
            PlanContext(path, 0, len(compiled.program["plans"][compiled.program["root"]]["body"]))
        ]
        about |= {"plan": path, "run": run, "sha256": written.sha256, "text": text[:4000]}
        turn.log(2, "PLAN_UPDATE", about, "SUCCESS", compiled.warnings[:400])
        return "EXECUTING"

    def _poll(self, turn: Turn) -> str:
        came = research_cycle.poll(turn)
        if came == "PLANNING":
            provenance.of_research(turn, turn.control.pop("researched", None))
        return came

    def _begin(self, turn: Turn, program: Program, path: str) -> str:
        """A run on record for a program. After a crash it is the one that was put there before."""
        while True:
            run = turn.control.setdefault("next_run", turn.world.run_id())
            self.save(turn.state)
            made = turn.world.create(run, program, path, turn.task)
            if made:
                del turn.control["next_run"]
                return str(run)
            del turn.control["next_run"]  # it belongs to an earlier plan

    # How they are called

    def _act(
        self, source: str, state: AgentState, logger: Logger | None, action: Callable[[Turn], str]
    ) -> str | None:
        turn = self._turn(state, logger)
        self.waiting, self.why_waiting = "", "answer"
        trigger = None
        try:
            trigger = self._machine.trigger(source, action(turn))
        except ModelWaiting as waiting:
            self.waiting, self.why_waiting = str(waiting), waiting.why
        except (
            Exception
        ) as failed:  # a handler never raises (T-21); a bug of fdc is reported as one
            trigger = self._towards_error(source, turn, reason(failed))
        try:
            self.save(state, None if trigger is None else self._machine.after(source, trigger))
        except (OSError, WorldFailed, ValueError) as failed:
            state.error = f"the task's state cannot be saved: {reason(failed)}"
            self.waiting, self.why_waiting = state.error, "broken"
            return None
        return trigger

    def _towards_error(self, source: str, turn: Turn, why: str) -> str | None:
        turn.state.error = why
        try:
            turn.log(
                4 if source == "FINALIZING" else 3,
                "SYSTEM_FAILURE",
                {"state": source},
                "FAILURE",
                error=why[:4000],
            )
        except Exception as failed:  # the main reason is in the state already
            turn.state.error = f"{why}; and the activity log cannot be written: {failed}"
        dest = "ERROR"
        if not self._machine.leads(source, dest):
            turn.control["given_up"] = why
            dest = _DETOUR.get(source, dest)
        try:
            return self._machine.trigger(source, dest)
        except ValueError as wrong:
            turn.state.error = f"{why}; and {wrong}"
            return None

    def notes(self, state: AgentState) -> dict[str, object]:
        """The controller's notes about a task, a JSON object: those in hand, else those that were saved."""
        found = self._control.get(state.task_id)
        if found is None:
            saved = self._world.load(state.task_id)
            known = saved is not None and isinstance(saved.get("control"), dict)
            found = (
                provenance.resumed(self._world, saved)
                if saved and known
                else provenance.begun(state)
            )
            self._control[state.task_id] = found
        return found

    def _turn(self, state: AgentState, logger: Logger | None) -> Turn:
        return Turn(state.task_id, state, self.notes(state), self._world, self._model, logger)


_PLAIN: dict[str, Callable[[MasterControlGraph, AgentState, Logger | None], str | None]] = {
    "RESEARCHING": MasterControlGraph.do_researching,
    "AWAITING_RESULT": MasterControlGraph.do_awaiting_result,
    "GENERATING_CODE": MasterControlGraph.do_generating_code,
    "RUNNING_TESTS": MasterControlGraph.do_running_tests,
    "DEBUGGING": MasterControlGraph.do_debugging,
}
_HANDLED = {"ORIENTING", "PLANNING", "EXECUTING", "FINALIZING", *_PLAIN}
