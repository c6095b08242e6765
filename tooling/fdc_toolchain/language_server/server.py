"""The server: what editors ask, answered in one thread beside the one that reads their messages.

A question that was cancelled, or whose text has changed meanwhile, is not begun. Nothing that is asked ends the server.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.workspace import TextDocument

from .. import api
from ..upgraded import START_AGAIN, Installed
from . import completion, diagnostics, hover, navigation, shown
from .documents import Documents, Plan, is_plan, opened

DELAY = 0.05
"""Seconds without a keystroke until a plan is checked."""
DELAY_OTHERS = 0.3
"""Seconds until the other open plans are, which may call it."""

_OWN_FOLDERS = re.compile(r"/(?:\.git|\.fdc|\.fdc_cache|node_modules|__pycache__|\.venv)/")
_READ = (".plan", "plan.txt", ".json", ".toml", ".yaml", ".yml", ".md")

_Answer = TypeVar("_Answer")
_Work: TypeAlias = "Callable[[Documents, Plan, Any], object]"
_log = logging.getLogger("fdc.lsp")


class Protocol(LanguageServerProtocol):
    """Answers a request whose parameters are invalid with an error: pygls only logs it, and the editor would wait for ever."""

    def structure_message(self, data: dict[str, object]) -> object:
        """A message from its JSON. Raises JsonRpcException for an invalid one."""
        try:
            return super().structure_message(data)
        except JsonRpcException as wrong:
            asked = data.get("id") if "method" in data else None
            if isinstance(asked, int | str):
                self._send_response(asked, error=wrong.to_response_error())
            raise


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self, version: str) -> None:
        super().__init__(
            "fdc", version, text_document_sync_kind=types.TextDocumentSyncKind.Full, protocol_cls=Protocol
        )  # fmt: skip
        self.documents = Documents()
        self.installed = Installed()
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fdc")
        self.waiting: dict[str, asyncio.Task[None]] = {}

    def plan(self, uri: str) -> Plan | None:
        """The open plan of an address, as it stands now."""
        try:
            return self.documents.plan(self.workspace, uri)
        except api.FdcError as wrong:
            _log.warning("%s: %s", uri, wrong)
            return None

    async def ask(self, uri: str, work: Callable[[Plan], _Answer]) -> _Answer | None:
        """What `work` says of a plan; None where the plan does not exist, or fdc cannot say it."""
        plan = self.plan(uri)
        if plan is None:
            return None
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self.worker, work, plan)
        except (asyncio.CancelledError, navigation.Refused):
            raise
        except Exception as wrong:
            told = isinstance(wrong, api.FdcError) and not isinstance(wrong, api.InternalError)
            _log.warning("%s: %s", uri, wrong, exc_info=not told)
            return None

    def changed(self, uri: str, delay: float = DELAY) -> None:
        """Checks a plan when no one has typed for a moment, and then the others that are open."""
        before = self.waiting.pop(uri, None)
        if before is not None:
            before.cancel()
        document = opened(self.workspace, uri)
        if document is None or is_plan(document):
            self.waiting[uri] = asyncio.ensure_future(self.look(uri, delay))
        for other in self.others(document) if delay < DELAY_OTHERS else ():
            self.changed(other, DELAY_OTHERS)

    def others(self, document: TextDocument | None) -> list[str]:
        """The addresses of all open texts but one."""
        return [one.uri for one in self.workspace.text_documents.values() if one is not document]

    async def look(self, uri: str, delay: float) -> None:
        """Checks a plan and shows what was found, unless its text has changed meanwhile."""
        await asyncio.sleep(delay)

        def work(plan: Plan) -> tuple[int | None, list[types.Diagnostic]]:
            try:
                if self.installed.is_replaced():
                    raise api.WorldTrouble(START_AGAIN)
                return plan.version, diagnostics.diagnostics(plan, plan.check())
            except api.FdcError as wrong:
                _log.warning("%s: %s", uri, wrong)
                return plan.version, [diagnostics.trouble(wrong)]

        found = await self.ask(uri, work)
        document = opened(self.workspace, uri)
        if found is not None and document is not None and document.version == found[0]:
            self.show(uri, found[1], found[0])

    def show(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        """Sends findings to the editor."""
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )


def make(version: str) -> Server:
    """A server with all that it can do."""
    server = Server(version)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.changed(params.text_document.uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.changed(params.text_document.uri)  # what is on the disk counts for its callers again
        server.show(params.text_document.uri, [])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        if any(_counts(event) for event in params.changes):
            for uri in server.others(None):
                server.changed(uri, DELAY_OTHERS)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        known = server.client_capabilities.workspace
        files = None if known is None else known.did_change_watched_files
        if files is not None and files.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(glob_pattern="**/*")]
            )
            made = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await server.client_register_capability_async(types.RegistrationParams([made]))

    for feature, options, work in _ANSWERS:
        server.feature(feature, options)(_answering(server, work))
    return server


def _answering(server: Server, work: _Work) -> Callable[[Any], Awaitable[object]]:
    async def answer(params: Any) -> object:
        try:
            return await server.ask(
                params.text_document.uri, lambda plan: work(server.documents, plan, params)
            )
        except navigation.Refused as why:
            raise JsonRpcInvalidParams(str(why)) from None

    return answer


_ANSWERS: list[tuple[str, Any, _Work]] = [
    (types.TEXT_DOCUMENT_CODE_ACTION,
     types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
     lambda _, plan, given: diagnostics.actions(plan, plan.view().result, given.range)),
    (types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=completion.TRIGGERS),
     lambda _, plan, given: completion.complete(plan, given.position)),
    (types.TEXT_DOCUMENT_HOVER, None, lambda _, plan, given: hover.hover(plan, given.position)),
    (types.TEXT_DOCUMENT_DEFINITION, None, lambda _, plan, given: navigation.definition(plan, given.position)),
    (types.TEXT_DOCUMENT_REFERENCES, None,
     lambda all_, plan, given: navigation.references(
         all_, plan, given.position, declared=given.context.include_declaration)),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, None,
     lambda _, plan, given: navigation.prepare_rename(plan, given.position)),
    (types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True),
     lambda all_, plan, given: navigation.rename(all_, plan, given.position, given.new_name)),
    (types.TEXT_DOCUMENT_INLAY_HINT, None, lambda _, plan, given: shown.hints(plan, given.range)),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, shown.LEGEND, lambda _, plan, given: shown.tokens(plan)),
    (types.TEXT_DOCUMENT_FORMATTING, None, lambda _, plan, given: shown.formatted(plan)),
]  # fmt: skip
"""What is asked of a plan: the request, what the server says that it can do, and what answers."""


def _counts(event: types.FileEvent) -> bool:
    """Whether a file that came, went or changed may change a verdict: not what fdc, git and tools keep for themselves.

    What stands in a file counts where fdc reads it; of all others, only whether they are there.
    """
    path = unquote(event.uri)
    if _OWN_FOLDERS.search(path):
        return False
    return event.type != types.FileChangeType.Changed or path.endswith(_READ)


class OneLine(logging.Formatter):
    """A record in one line on standard error; the way to an exception only where FDC_DEBUG asks for it."""

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info and os.environ.get("FDC_DEBUG") != "1":
            raised = record.exc_info[1]
            record = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
            return f"fdc lsp: {record.getMessage()}: {type(raised).__name__}: {raised}"
        said = f"fdc lsp: {super().format(record)}"
        return said if os.environ.get("FDC_DEBUG") == "1" else said.split("\n", 1)[0]


def serve(version: str) -> None:
    """Talks to the editor over standard input and output until it says that it ends, or goes."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    gc.freeze()  # what is loaded now stays, and need not be looked at again for garbage
    server = make(version)
    try:
        server.start_io()
    finally:
        server.worker.shutdown(wait=False, cancel_futures=True)
