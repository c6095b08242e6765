"""A model behind a server of the OpenAI API that writes plans: held to the grammar of the workspace where the server can."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from ..exits import UsageError
from ..named_tuples import NamedTuple
from ..tools.model.chat_api import ChatServer
from ..tools.model.deadline import in_time
from ..tools.model.http_model import HttpModel
from ..tools.model.question import Choice, Question, Reply
from ..tools.model.wire import Passing
from ..workspace.failure import ToolFailure


class Way(NamedTuple):
    """How a server is made to keep to a grammar: its name for people, and what it adds to a request."""

    name: str
    more: Callable[[], dict[str, object]]


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
        while self._ways:
            way = self._ways[0]
            chat.more = way.more()
            try:
                reply = super().ask(question._replace(schema=None))
            except ToolFailure as failed:
                if (failed.notes or {}).get("status") not in (400, 422):
                    raise
                del self._ways[0]  # the server does not know this one
                continue
            return reply._replace(
                value={"plan": reply.value}, notes={**reply.notes, "form": way.name}
            )
        chat.more = {}
        reply = super().ask(question)
        return reply._replace(notes={**reply.notes, "form": schema_form(self, question)})

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
            return [
                Way("llama.cpp, llguidance", lambda: {"grammar": _PARAMETRIC + self._grammar("llguidance")}),
                Way("llama.cpp, GBNF", lambda: {"grammar": self._grammar("gbnf")}),
            ]  # fmt: skip
        if not isinstance(number := version.get("version"), str):
            return []
        old = tuple(int(part) for part in number.split(".")[:2] if part.isdigit()) < (0, 11)

        def more(form: str) -> dict[str, object]:
            text = self._grammar(form)
            return {"guided_grammar": text} if old else {"structured_outputs": {"grammar": text}}

        return [
            Way("vLLM, llguidance", lambda: more("llguidance")),
            Way("vLLM, GBNF", lambda: more("gbnf")),
        ]


def schema_form(model: HttpModel, question: Question) -> str:
    """What held the model where no grammar did, for people."""
    if question.schema is None:
        return "no form"
    asked = model.choice(question.role).model, json.dumps(question.schema, sort_keys=True)
    return "a schema in words" if asked in model.without else "a strict schema"


_PARAMETRIC = "%llguidance {}\n"


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
