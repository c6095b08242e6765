"""A file has one name: a path with a slash at its end is refused, or rules about `docs/*.md` would not see `docs/a.md/`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.sandbox.own_access import access_of
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.support.linting import lint, places

NO_WRITE = {"template": "absence", "a": {"tool": "overwrite_file_with_block", "arguments": {"path": "docs/*.md"}}}  # fmt: skip
RULE = json.dumps(
    {
        "protocol_id": "p",
        "description": "Tea.",
        "rules": [
            {"rule_id": "r", "description": "Tea.", "enforcement": "Tea.", "check": NO_WRITE}
        ],
    }
)


@pytest.mark.parametrize("path", ["docs/a.md/", "docs/a.md/.", "docs/a.md//", "docs/{p}/", "{p}/"])
def test_a_path_with_a_slash_at_its_end_is_refused_by_lint(path: str) -> None:
    text = f"param p\noverwrite_file_with_block {path}\n  x\nmessage_user {{p}}\n"
    files = {"a.plan": text, "protocols/p.protocol.json": RULE, "protocols/": "p.protocol.json"}
    assert [("a.plan", 2, "FDC416")] == places(lint(files, "a.plan"), "FDC416")


@pytest.mark.parametrize("path", ["a.md/", "a.md/.", "new/"])
def test_a_value_with_a_slash_at_its_end_is_refused_by_the_step(path: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tea")
    root = Root(str(tmp_path))
    for use in (
        lambda: root.read(path),
        lambda: root.write(path, b"x", "write", "k"),
        lambda: root.delete(path),
        lambda: root.rename("a.md", path),
        lambda: access_of({"parameters": [{"name": "p", "access": "write"}]}, {"p": path}),
    ):
        with pytest.raises(ToolFailure, match="ends with a slash") as failed:
            use()
        assert failed.value.kind == "path"
    root.close()
    assert ["a.md"] == [found.name for found in tmp_path.iterdir()]
    assert "tea" == (tmp_path / "a.md").read_text()
