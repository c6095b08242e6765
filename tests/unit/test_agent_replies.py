"""What the author of a reply reads while the controller waits for it: a file without JSON is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fdc_toolchain.agent.host.people import PersonModel
from fdc_toolchain.agent.model_port import ModelFailed, ModelWaiting

SCHEMA = {"type": "object", "required": ["edits"], "properties": {"edits": {"type": "array"}}}


def test_a_reply_that_is_no_json_waits_and_is_named(workspace: Path) -> None:
    model = PersonModel(str(workspace), "T-1")

    def asked() -> object:
        return model.complete("coder", [], SCHEMA)

    with pytest.raises(ModelWaiting, match=r"\.reply\.json; the request") as waiting:
        asked()
    found = re.search(r"in (\S+\.reply\.json);", str(waiting.value))
    assert found is not None
    reply = workspace / found[1]
    for text in ("I am sorry {{{", '{"edits": [', "[]", ""):
        reply.write_text(text, "utf-8")
        with pytest.raises(ModelWaiting, match=r"\.reply\.json, which is not a JSON object yet"):
            asked()
    reply.write_text('{"edits": "none"}', "utf-8")
    with pytest.raises(ModelFailed, match="does not follow its schema"):
        asked()
    reply.write_text('{"edits": []}', "utf-8")
    assert asked() == {"edits": []}
