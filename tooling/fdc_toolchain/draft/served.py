"""A model behind a server of the OpenAI API that writes plans: held to the grammar of the workspace where the server can."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping

from ..exits import UsageError
from ..named_tuples import NamedTuple
from ..syntax.parse import parse
from ..tools.model.chat_api import ChatServer
from ..tools.model.deadline import in_time
from ..tools.model.http_model import HttpModel
from ..tools.model.question import Choice, Question, Reply
from ..tools.model.wire import Passing
from ..workspace.failure import ToolFailure

_PARAMETRIC = "%llguidance {}\n"
_FORMS = (("llguidance", "llguidance"), ("GBNF", "gbnf"))
_NEW, _OLD = "structured_outputs", "guided_grammar"
"""vLLM's parameter: the first since 0.11, the second before 0.12."""


class Way(NamedTuple):
    """How a server is made to keep to a grammar: its name for people, the parameter of a request, the grammar's notation."""

    name: str
    parameter: str
    form: str

    def more(self, grammar: Callable[[str], str]) -> dict[str, object]:
        """What a request has for it."""
        text = grammar(self.form)
        if self.parameter == _NEW:
            return {_NEW: {"grammar": text}}
        head = _PARAMETRIC * (self.parameter == "grammar" and self.form == "llguidance")
        return {self.parameter: head + text}


class Served(HttpModel):
    """The model port, over one server. `grammar` gives the grammar in a notation; replies to it are plans, `{"plan": TEXT}`.

    Where the server knows no grammar, the question's schema holds the model, or its words.
    """

    def __init__(self, choice: Choice, grammar: Callable[[str], str]) -> None:
        super().__init__(choice)
        self._grammar = grammar
        self._chat: ChatServer | None = None
        self._ways: list[Way] = []

    def server(self, model: str) -> ChatServer:
        """The server, which is asked once what it is. Raises WorldFailed where the SDK is missing."""
        with self._making:
            if self._chat is None:
                self._chat = chat = ChatServer()
                chat.strict = True
                self._ways = self._known(chat)
            return self._chat

    def ask(self, question: Question) -> Reply:
        """The answer. A form that the server refuses is followed by the next one."""
        chat = self.server("")
        spent: dict[str, float] = {}
        while self._ways:
            way = self._ways[0]
            chat.more = way.more(self._grammar)
            try:
                reply = super().ask(question._replace(schema=None))
            except ToolFailure as failed:
                if (failed.notes or {}).get("status") not in (400, 422):
                    raise
                del self._ways[0]  # the server does not know this one
                continue
            add(spent, reply.usage)
            if not _held(str(reply.value)):  # vLLM passes over parameters that it does not know
                self._ways = [one for one in self._ways if one.parameter != way.parameter]
                continue
            notes = {**reply.notes, "form": way.name}
            return reply._replace(value={"plan": reply.value}, usage=spent, notes=notes)
        chat.more = {}
        reply = super().ask(question)
        add(spent, reply.usage)
        notes = {**reply.notes, "form": schema_form(self, question)}
        return reply._replace(usage=spent, notes=notes)

    def close(self) -> None:
        """Closes the connections."""
        if self._chat is not None:
            self._chat.close()

    def _known(self, chat: ChatServer) -> list[Way]:
        """What the server can be asked for, the strictest first."""
        try:
            props, version = in_time(
                20, None, lambda _: (chat.found("props"), chat.found("version"))
            )
        except Passing:
            return []
        if "default_generation_settings" in props:
            return [Way(f"llama.cpp, {name}", "grammar", form) for name, form in _FORMS]
        if not isinstance(number := version.get("version"), str):
            return []
        old = re.match(r"0\.(\d|10)\.\d", number) is not None
        return [
            Way(f"vLLM, {name}", parameter, form)
            for parameter in ((_OLD, _NEW) if old else (_NEW, _OLD))
            for name, form in _FORMS
        ]


def _held(text: str) -> bool:
    """Whether a text can be one of a grammar: each of these names its automaton first, and has no error of syntax."""
    if not text.startswith("# FSM: "):
        return False
    found = parse(text.encode("utf-8", "surrogateescape"), "draft.plan")
    return not any(one.severity == "error" for one in found.diagnostics)


def add(usage: dict[str, float], more: Mapping[str, float]) -> None:
    """Adds what a question cost."""
    for measure, amount in more.items():
        usage[measure] = usage.get(measure, 0) + amount


def schema_form(model: HttpModel, question: Question) -> str:
    """What held the model where no grammar did, for people."""
    if question.schema is None:
        return "no form"
    asked = model.choice(question.role).model, json.dumps(question.schema, sort_keys=True)
    return "a schema in words" if asked in model.without else "a strict schema"


def served(root: str, name: str, grammar: Callable[[str], str]) -> Served | None:
    """The model behind OPENAI_BASE_URL; None where that is not set. Raises UsageError for an address that is none."""
    address = os.environ.get("OPENAI_BASE_URL", "")
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        raise UsageError("OPENAI_BASE_URL is not an address that begins with http:// or https://")
    from ..runs.cost.models import model_for

    asked = model_for(root, name or "default")
    assert asked is not None
    made = Served(asked.choice("planner"), grammar)
    made.secrets = asked.secrets
    return made
