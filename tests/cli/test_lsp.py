"""`fdc lsp` as an editor meets it: a process, and messages on its standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.support import process

talks = pytest.mark.asyncio(loop_scope="module")

CALLEE = "param who\nparam mood = well\nmessage_user {who} is {mood}\n"
CALLER = """\
# FSM: tooling/fdc_fsm.json
param name
set_plan Order tea 𝒳 {name}
plan_step_complete ready
sugar <- request_user_input How much for {name}?
call_plan part.plan who={name}
create_file_with_block 𝒳-{name}.txt
  {name}: {sugar}
read_file 𝒳-{name}.txt
close_task
submit
"""
ROOT: list[Path] = []
WATCHED: list[str] = []


@pytest_lsp.fixture(
    scope="module",
    config=ClientServerConfig(server_command=[sys.executable, "-m", "fdc_toolchain", "lsp"]),
)
async def client(
    lsp_client: LanguageClient, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    root = tmp_path_factory.mktemp("work")
    (root / "knowledge_core").mkdir()
    (root / "part.plan").write_text(CALLEE, "utf-8")
    (root / "order.plan").write_text(CALLER, "utf-8")
    ROOT[:] = [root]
    capabilities = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=["utf-16"]),
        workspace=types.WorkspaceClientCapabilities(
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True
            )
        ),
    )

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(params: types.RegistrationParams) -> None:
        WATCHED.extend(one.method for one in params.registrations)

    made = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, root_uri=root.as_uri())
    )
    assert made.server_info is not None and "fdc" == made.server_info.name
    yield
    await lsp_client.shutdown_session()
    assert lsp_client._server is not None and 0 == lsp_client._server.returncode


class Document:
    """A text in the editor, with places by what stands there."""

    def __init__(self, client: LanguageClient, name: str, text: str) -> None:
        self.client, self.text = client, text
        self.uri = (ROOT[0] / name).as_uri()
        self.id = types.TextDocumentIdentifier(self.uri)
        client.diagnostics.pop(self.uri, None)
        item = types.TextDocumentItem(self.uri, "fdc-plan", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self.version = 1

    def change(self, text: str) -> None:
        self.text, self.version = text, self.version + 1
        self.client.diagnostics.pop(self.uri, None)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def close(self) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.id))

    def at(self, text: str, shift: int = 0) -> types.Position:
        """The place of a text's first occurrence, in UTF-16 units, and some units further."""
        before = self.text[: self.text.index(text)]
        line = before.rpartition("\n")[2]
        return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2 + shift)

    def under(self, at: types.Range) -> str:
        """The text of a stretch of one line."""
        units = self.text.split("\n")[at.start.line].encode("utf-16-le")
        return units[2 * at.start.character : 2 * at.end.character].decode("utf-16-le")

    async def found(
        self, wanted: Callable[[list[types.Diagnostic]], bool] = lambda found: True
    ) -> list[types.Diagnostic]:
        """The findings, once the server has sent such as are wanted."""

        async def wait() -> list[types.Diagnostic]:
            while True:
                found = self.client.diagnostics.get(self.uri)
                if found is not None and wanted(list(found)):
                    return list(found)
                await asyncio.sleep(0.005)

        return await asyncio.wait_for(wait(), 30)

    async def complete(self, at: types.Position) -> list[types.CompletionItem]:
        params = types.CompletionParams(self.id, at)
        made = await self.client.text_document_completion_async(params)
        assert isinstance(made, list)
        return made


@talks
async def test_findings_come_with_fixes_at_the_right_places(client: LanguageClient) -> None:
    text = CALLER.replace("create_file_with_block", "creat_file_with_block")
    order = Document(client, "order.plan", text)
    (finding,) = [item for item in await order.found() if "FDC301" == item.code]
    assert "creat_file_with_block" == order.under(finding.range)
    params = types.CodeActionParams(order.id, finding.range, types.CodeActionContext([finding]))
    actions = await client.text_document_code_action_async(params)
    (action,) = [one for one in actions or [] if isinstance(one, types.CodeAction)]
    assert action.edit is not None and action.edit.changes is not None
    (edit,) = action.edit.changes[order.uri]
    assert "create_file_with_block" == edit.new_text and finding.range == edit.range
    order.change(CALLER)
    assert [] == await order.found(lambda found: not found)  # a late answer may come first
    order.close()


@talks
async def test_columns_are_utf_16_units(client: LanguageClient) -> None:
    order = Document(client, "order.plan", CALLER.replace("𝒳 {name}", "𝒳 {nobody}"))
    (finding,) = await order.found(lambda found: bool(found))
    assert "FDC311" == finding.code and "{nobody}" == order.under(finding.range)
    order.change(CALLER)
    params = types.DefinitionParams(order.id, order.at("𝒳 {name}", 5))
    (place,) = await client.text_document_definition_async(params)
    assert "name" == order.under(place.range) and 1 == place.range.start.line
    order.close()


@talks
async def test_an_unsaved_callee_counts_for_its_caller(client: LanguageClient) -> None:
    order = Document(client, "order.plan", CALLER)
    assert [] == await order.found()
    part = Document(client, "part.plan", CALLEE + "read_file none.md\n")
    (finding,) = await order.found(lambda found: bool(found))
    assert "FDC411" == finding.code and order.text.split("\n")[5] == order.under(finding.range)
    client.diagnostics.pop(order.uri)
    part.close()
    assert [] == await order.found(lambda found: not found)
    order.close()


@talks
async def test_completion_knows_tools_states_plans_arguments_and_names(
    client: LanguageClient,
) -> None:
    order = Document(client, "order.plan", CALLER + "\n")
    tools = {item.label: item for item in await order.complete(types.Position(11, 0))}
    refused = tools["read_file"]
    assert refused.tags and "refused in DONE" in (refused.detail or "")
    tools = {item.label: item for item in await order.complete(order.at("sugar <-"))}
    assert tools["read_file"].detail == "read_file PATH" and not tools["read_file"].tags
    assert types.CompletionItemKind.Keyword == tools["for_each_file"].kind
    plans = {item.label for item in await order.complete(order.at("part.plan who"))}
    assert {"part.plan", "deep-research"} <= plans
    order.change(CALLER.replace("who={name}", "who={name} "))
    keys = {item.label for item in await order.complete(order.at("who={name}", 11))}
    assert "mood=" in keys and "who=" not in keys
    order.change(CALLER.replace("{sugar}", "{"))
    names = {item.label for item in await order.complete(order.at(": {", 3))}
    assert {"name", "sugar", "run"} == names
    order.close()


@talks
async def test_references_and_rename_reach_callers(client: LanguageClient) -> None:
    part = Document(client, "part.plan", CALLEE)
    order = Document(client, "order.plan", CALLER)
    at = part.at("who")
    params = types.ReferenceParams(types.ReferenceContext(True), part.id, at)
    places = await client.text_document_references_async(params)
    assert {(part.uri, 0), (part.uri, 2), (order.uri, 5)} == {
        (place.uri, place.range.start.line) for place in places or []
    }
    edit = await client.text_document_rename_async(types.RenameParams(part.id, at, "guest"))
    assert edit is not None and edit.changes is not None
    assert {part.uri: 2, order.uri: 1} == {uri: len(edits) for uri, edits in edit.changes.items()}
    assert "who" == order.under(edit.changes[order.uri][0].range)
    with pytest.raises(JsonRpcException, match="`mood` is bound already"):
        await client.text_document_rename_async(types.RenameParams(part.id, at, "mood"))
    params_ = types.DefinitionParams(order.id, order.at("part.plan", 2))
    (place,) = await client.text_document_definition_async(params_)
    assert part.uri == place.uri
    part.close()
    order.close()


@talks
async def test_hover_says_effects_states_and_bounds(client: LanguageClient) -> None:
    order = Document(client, "order.plan", CALLER)

    async def card(text: str, shift: int = 1) -> str:
        params = types.HoverParams(order.id, order.at(text, shift))
        found = await client.text_document_hover_async(params)
        assert found is not None and isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    assert "POST_MORTEM → DONE" in await card("submit")
    assert "Effect: " in await card("create_file")
    assert "Worst case: 1 steps" in await card("part.plan")
    assert "result, bound in line 5; read 1 times" in await card("sugar")
    order.close()


@talks
async def test_hints_tokens_and_form(client: LanguageClient) -> None:
    order = Document(client, "order.plan", CALLER.replace("set_plan ", "set_plan   "))
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(order.id, whole))
    said = {hint.position.line: hint.label for hint in hints or []}
    assert str(said.pop(0)).startswith("Worst case: 8 steps")
    assert {2: "→ PLANNING", 3: "→ EXECUTING", 9: "→ POST_MORTEM", 10: "→ DONE"} == said
    made = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(order.id)
    )
    assert made is not None
    line = start = 0
    words = []
    for down, right, length, kind, _ in zip(*[iter(made.data)] * 5, strict=True):
        line, start = line + down, right if down else start + right
        place = types.Range(types.Position(line, start), types.Position(line, start + length))
        words.append((order.under(place), kind))
    assert ("name", 2) in words and ("call_plan", 0) in words and ("part.plan", 4) in words
    assert words[0][1] == 3 and ("create_file_with_block", 1) in words
    params = types.DocumentFormattingParams(order.id, types.FormattingOptions(4, True))
    (edit,) = await client.text_document_formatting_async(params) or []
    assert CALLER == edit.new_text
    order.close()


BROKEN = (
    "\x00\ufeff\u2028if\n\r else\n\t{", "{" * 1_000, "if " * 300 + "\n", "call_plan order.plan\n", "call_plan ../../etc/passwd\n",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"), "", "\n" * 9_000, "for_each_file {{}} as\n" * 50,
    "".join(" " * depth + "if 1 > 0\n" for depth in range(300)), "param " + "x" * 70_000, "# fdc: ignore[\n", "x <- " * 40,
)  # fmt: skip


@pytest.mark.slow
@talks
async def test_no_text_ends_the_server(client: LanguageClient) -> None:
    order = Document(client, "order.plan", CALLER)
    far = types.Position(2**31 - 1, 2**31 - 1)
    whole = types.Range(types.Position(0, 0), far)
    for text in BROKEN:
        order.change(text)
        for at in (types.Position(0, 7), far):
            await client.text_document_completion_async(types.CompletionParams(order.id, at))
            await client.text_document_hover_async(types.HoverParams(order.id, at))
            await client.text_document_definition_async(types.DefinitionParams(order.id, at))
        await client.text_document_inlay_hint_async(types.InlayHintParams(order.id, whole))
        await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(order.id))
        await client.text_document_code_action_async(
            types.CodeActionParams(order.id, whole, types.CodeActionContext([]))
        )
        await client.text_document_formatting_async(
            types.DocumentFormattingParams(order.id, types.FormattingOptions(4, True))
        )
    order.change(CALLER)
    assert [] == await order.found(lambda found: not found)  # a late answer may come first
    order.close()


@talks
@pytest.mark.parametrize(
    "name", ["green tea.plan", "grün 茶.plan", "a[1]%20+b@c.plan", "not/there/yet.plan"]
)
async def test_names_of_files_need_no_escapes_to_be_known(
    client: LanguageClient, name: str
) -> None:
    """pygls keeps texts by addresses without their escapes: in a folder with a blank in its name nothing was found."""
    text = CALLER.replace("read_file", "raed_file").replace("call_plan part.plan who={name}\n", "")
    order = Document(client, name, text)
    (finding,) = [item for item in await order.found() if "FDC301" == item.code]
    params = types.CodeActionParams(order.id, finding.range, types.CodeActionContext([finding]))
    (action,) = await client.text_document_code_action_async(params) or ()
    assert isinstance(action, types.CodeAction) and action.edit is not None
    assert [order.uri] == list(action.edit.changes or ())
    order.close()


@talks
async def test_files_that_come_and_go_are_noticed(client: LanguageClient) -> None:
    assert ["workspace/didChangeWatchedFiles"] == WATCHED
    order = Document(client, "order.plan", CALLER)
    assert [] == await order.found()

    def happened(name: str, kind: types.FileChangeType) -> None:
        client.diagnostics.pop(order.uri, None)
        event = types.FileEvent((ROOT[0] / name).as_uri(), kind)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    part, settings = ROOT[0] / "part.plan", ROOT[0] / "fdc.toml"
    part.unlink()
    happened("part.plan", types.FileChangeType.Deleted)
    assert ["FDC321"] == [item.code for item in await order.found()]
    part.write_text(CALLEE, "utf-8")
    happened("part.plan", types.FileChangeType.Created)
    assert [] == await order.found()
    settings.write_text("max-stack = [", "utf-8")
    happened("fdc.toml", types.FileChangeType.Created)
    (told,) = await order.found()
    assert told.message.startswith("fdc cannot check this plan: fdc.toml: ")
    settings.unlink()
    happened("fdc.toml", types.FileChangeType.Deleted)
    assert [] == await order.found()
    order.close()


@talks
async def test_a_rename_to_a_word_that_means_something_else_is_refused(
    client: LanguageClient,
) -> None:
    text = CALLER.replace("read_file", 'if sugar == "none"\n  message_user no\nread_file')
    order = Document(client, "order.plan", text)
    for name in ("not", "len", "true", "run", "name"):
        params = types.RenameParams(order.id, order.at("sugar"), name)
        with pytest.raises(JsonRpcException, match=f"`{name}` "):
            await client.text_document_rename_async(params)
    made = await client.text_document_rename_async(
        types.RenameParams(order.id, order.at("sugar"), "until")
    )
    assert made is not None and 3 == len((made.changes or {})[order.uri])
    order.close()


@talks
async def test_what_is_cancelled_is_answered_and_what_is_no_plan_is_left_alone(
    client: LanguageClient,
) -> None:
    order = Document(client, "order.plan", CALLER)
    params = types.HoverParams(order.id, order.at("submit"))
    asked = [
        client.protocol.send_request_async(types.TEXT_DOCUMENT_HOVER, params) for _ in range(20)
    ]
    tasks = [asyncio.ensure_future(one) for one in asked]
    await asyncio.sleep(0)
    for id_ in list(client.protocol._request_futures):
        client.cancel_request(types.CancelParams(id_))
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert 20 == len(answers)  # each is answered, or was cancelled in time; none is waited for
    assert all(isinstance(one, types.Hover | BaseException) for one in answers)
    notes = (ROOT[0] / "notes.md").as_uri()
    item = types.TextDocumentItem(notes, "markdown", 1, "submit\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    at = types.HoverParams(types.TextDocumentIdentifier(notes), types.Position(0, 1))
    assert None is await client.text_document_hover_async(at)
    assert None is not await client.text_document_hover_async(params)
    order.close()


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pygls'] = None; from fdc_toolchain.cli.fast_path import entry; entry()"
    done = process.run([sys.executable, "-c", code, "lsp"], cwd=tmp_path)
    assert 3 == done.returncode and "" == done.stdout
    assert "pip install 'fdc-toolchain[lsp]'" in done.stderr and 1 == done.stderr.count("\n")


@pytest.mark.parametrize(
    ("sent", "code"),
    [('garbage\r\n\r\nContent-Length: 5\r\n\r\n{"a"}', 0), (f"Content-Length: {10**14}\r\n\r\nx", 3)],
)  # fmt: skip
def test_an_editor_that_goes_or_sends_anything_ends_it_in_order(
    sent: str, code: int, tmp_path: Path
) -> None:
    done = process.run([sys.executable, "-m", "fdc_toolchain", "lsp"], cwd=tmp_path, stdin=sent)
    assert code == done.returncode, done.stderr
    assert "Traceback" not in done.stderr and 1 >= done.stderr.count("\n")


def test_a_request_with_invalid_parameters_is_answered_with_an_error(tmp_path: Path) -> None:
    """It had no answer, so an editor waited for it as long as it ran."""
    here = {"textDocument": {"uri": (tmp_path / "a.plan").as_uri()}}
    wrong = [{}, None, [1], {**here, "position": {"line": -1, "character": 0}}, here]
    asked = [
        ("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}}),
        *(("textDocument/hover", given) for given in wrong),
        ("shutdown", None),
    ]
    bodies = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
        for number, (method, given) in enumerate(asked)
    ]
    bodies.append('{"jsonrpc": "2.0", "method": "exit"}')
    sent = "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)
    done = process.run([sys.executable, "-m", "fdc_toolchain", "lsp"], cwd=tmp_path, stdin=sent)
    assert 0 == done.returncode, done
    told = [json.loads(line) for line in re.findall(r"\{.*?\}(?=Content-Length|$)", done.stdout)]
    answers = {one["id"]: one.get("error", {}).get("code") for one in told if "id" in one}
    assert answers == {0: None, **dict.fromkeys(range(1, 6), -32602), 6: None}
