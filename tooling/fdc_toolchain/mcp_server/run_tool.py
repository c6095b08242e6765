"""`fdc_run`: starts runs, goes on with them, says how they stand, and has the person asked.

An answer is taken only from the response to a form that this server sent, each form once, and only while the run still asks
exactly what the form showed. In protocols before 2026-07-28 the form is a request of the server in the middle of the call; from
then on the call returns with the form, and the client repeats it with the answer and the name of the form.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from typing import Any, TypeAlias

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitRequest,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import is_version_at_least

from .. import api
from ..named_tuples import NamedTuple
from . import questions
from .results import Result, in_line
from .run_drives import Drive, Drives
from .run_words import ended, listed, state
from .tool_table import Arguments, Wrong, text
from .workspace_paths import plan_in

RequestContext: TypeAlias = "ServerRequestContext[Any, Any]"

_FORMS_IN_RESULTS = "2026-07-28"
_FORM = "person"
_MOST_FORMS = 256
_LOOK = 0.02  # seconds between looks at a drive


class _Asked(NamedTuple):
    """A form that was sent."""

    given: str  # the arguments of the call
    run: str
    question: api.Question


class RunTool:
    """The tool, for one workspace."""

    def __init__(self, drives: Drives, patience: float) -> None:
        """`patience`: the seconds after which a call returns, and the run goes on."""
        self.root = drives.root
        self.drives = drives
        self._patience = patience
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    async def call(
        self, context: RequestContext, params: CallToolRequestParams, given: Arguments
    ) -> Result | InputRequiredResult:
        """One call. Raises Wrong, FdcError."""
        if params.request_state is not None or params.input_responses is not None:
            run, drive = await self._answered(params, given, program_of(context))
            if drive is None:
                return await asyncio.to_thread(self._status, run)
        elif given["op"] == "status":
            return await asyncio.to_thread(self._status, text(given, "run"))
        else:
            drive = await asyncio.to_thread(self._started, given)
        while await self._followed(context, drive):
            asked = () if drive.result is None else drive.result.questions
            question = next((one for one in asked if questions.fillable(one)), None)
            form = None if question is None else questions.form(drive.run, question)
            later = is_version_at_least(context.protocol_version, _FORMS_IN_RESULTS)
            shows = has_forms(context.session.client_capabilities)
            if question is None or form is None or not shows:
                return ended(drive)
            if later:
                name = self._remember(_Asked(repr(sorted(given.items())), drive.run, question))
                request = ElicitRequest(params=form)
                return InputRequiredResult(input_requests={_FORM: request}, request_state=name)
            if not context.session.can_send_request:
                return ended(drive)
            try:
                response = await context.session.elicit_form(
                    form.message, form.requested_schema, context.request_id
                )
            except (MCPError, ValueError):  # the form failed, or its answer is none
                return ended(drive)
            program = program_of(context)
            going = await asyncio.to_thread(self._take, drive.run, question, response, program)
            if going is None:
                return ended(drive)
            drive = going
        asks = f"Ask for its status with op=status, run={drive.run}."
        return Result(words=f"Run {drive.run} goes on: {drive.steps} steps so far. {asks}")

    def _started(self, given: Arguments) -> Drive:
        if given["op"] == "resume":
            return self.drives.go(api.show(text(given, "run") or "last", workspace=self.root).run)
        plan = plan_in(self.root, text(given, "plan"))
        inputs = given.get("inputs", {})
        assert isinstance(inputs, dict)
        return self.drives.start(plan, {name: str(inputs[name]) for name in inputs})

    def _status(self, run: str) -> Result:
        if not run:
            return listed(api.runs(workspace=self.root))
        found = api.show(run, workspace=self.root)
        return state(found, self.drives.live(found.run))

    async def _followed(self, context: RequestContext, drive: Drive) -> bool:
        """Waits for the drive, and tells the client how it goes; False where it takes too long."""
        deadline = time.monotonic() + self._patience
        told, count, rest = "", 0, _LOOK
        while not drive.done.is_set():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(rest)
            rest = min(rest * 1.5, 0.25)
            now = f"{drive.steps} steps done; {in_line(drive.step, 200)}"
            if now != told:
                told, count = now, count + 1
                await context.session.report_progress(float(count), None, now)
        return True

    def _remember(self, asked: _Asked) -> str:
        name = secrets.token_urlsafe(24)
        self._asked[name] = asked
        while len(self._asked) > _MOST_FORMS:
            self._asked.popitem(last=False)
        return name

    async def _answered(
        self, params: CallToolRequestParams, given: Arguments, program: str
    ) -> tuple[str, Drive | None]:
        """The run that the answer to a form is for, and its new drive; None where the person gave no answer."""
        asked = self._asked.pop(params.request_state or "", None)
        if asked is None or asked.given != repr(sorted(given.items())):
            raise Wrong("this answers no open question of this server; begin with op=status")
        response = (params.input_responses or {}).get(_FORM)
        if not isinstance(response, ElicitResult):
            return asked.run, None
        drive = await asyncio.to_thread(self._take, asked.run, asked.question, response, program)
        return asked.run, drive

    def _take(
        self, run: str, question: api.Question, response: ElicitResult, program: str
    ) -> Drive | None:
        """Gives the run what the person said; the drive that goes on with it, or None."""
        answer = questions.answer_of(question, response)
        if answer is None:
            return None
        if question.how == "assume":
            now = api.show(run, workspace=self.root).questions
            if question not in now:
                raise api.RunRefused(f"the run {run} asks something else by now")
            return self.drives.go(run, {question.address: answer})  # type: ignore[dict-item]
        at, seen = question.address, question.seen
        api.answer(run, answer, workspace=self.root, address=at, seen=seen, through=program)
        return self.drives.go(run)


def program_of(context: RequestContext) -> str:
    """Where a form is answered, for the record: this server, and the agent's program as it names itself."""
    known = context.session.client_params
    if known is None:
        return "fdc mcp in a program without a name"
    return f"fdc mcp in {in_line(f'{known.client_info.name} {known.client_info.version}', 100)}"


def has_forms(known: ClientCapabilities | None) -> bool:
    """Whether a client says that it can show its person a form; one that names no kind means forms."""
    forms = None if known is None else known.elicitation
    return forms is not None and (forms.form is not None or forms.url is None)
