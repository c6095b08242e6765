"""The protocol compiler as functions: sources, tool documentation, compiled text, drift."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fdc_toolchain.protocols.compile import Build, BuildOptions, compile_agents
from fdc_toolchain.protocols.drift import drift
from fdc_toolchain.protocols.load import load
from fdc_toolchain.protocols.reader import read_protocols
from fdc_toolchain.protocols.tool_docs.tooldoc import document

RULE = {"rule_id": "r", "description": "d", "enforcement": "e"}
SCRIPT = {
    "tooling/t.py": '"""A tool.\n\nIt helps.\n\n    t.py GO\n"""\nfrom pack.cli.t import main\n__all__ = ["main", "Kind"]\n'
    "from pack.kinds import Kind\n",
    "tooling/pack/cli/t.py": "from ..work import run as main\n",
    "tooling/pack/work.py": 'def run(argv: list[str] | None = None) -> int:\n    """Works.\n\n    Always.\n    """\n',
    "tooling/pack/kinds/__init__.py": "from .deep import Kind\n",
    "tooling/pack/kinds/deep.py": (
        'class Kind(str):\n    """A kind."""\n    def __init__(self):\n        pass\n'
        "    async def go(self, *, x=1): ...\n    def _hidden(self): ...\n"
    ),
}


def protocol(**more: Any) -> bytes:
    return json.dumps(
        {"protocol_id": "p", "description": "About p.", "rules": [RULE], **more}, indent=1
    ).encode()


def built(files: dict[str, bytes], version: bytes | None = b"1.0.0\n", **options: Any) -> Build:
    return compile_agents(files, version, SCRIPT.get, BuildOptions(**options))


def blocks(text: str) -> list[dict[str, Any]]:
    """The protocols in a compiled text: what stands between a line ```json and the next line ```."""
    lines, found, start = text.split("\n"), [], None
    for number, line in enumerate(lines):
        if line == "```json" and start is None:
            start = number
        elif line == "```" and start is not None:
            found.append(json.loads("\n".join(lines[start + 1 : number])))
            start = None
    return found


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"protocol_id": "Not Ok"}, "2:17", "$.protocol_id: `Not Ok` has other characters"),
        ({"protocol_id": 7}, "2:17", "$.protocol_id: expected a string, found a number"),
        ({"description": ""}, "3:17", "$.description: is empty"),
        ({"rules": []}, "4:11", "$.rules: is empty"),
        ({"rules": {}}, "4:11", "$.rules: expected an array, found an object"),
        ({"rules": [RULE, {"rule_id": "x"}]}, "10:3", "$.rules[1]: missing `description`, `enforcement`"),
        ({"rules": [{**RULE, "enforcement": None}]}, "8:19", "$.rules[0].enforcement: expected a string, found null"),
        ({"associated_tools": ["a", 1]}, "13:3", "$.associated_tools[1]: expected a string"),
        ({"associated_tools": ["a", "a"]}, "11:22", "$.associated_tools: names something twice"),
        ({"rules": [{**RULE, "tags": "x"}]}, "9:12", "$.rules[0].tags: expected an array"),
    ],
)  # fmt: skip
def test_what_breaks_the_schema_has_its_place_and_path(
    change: dict[str, Any], where: str, words: str
) -> None:
    """FDC-96."""
    _, findings = load({"a.protocol.json": protocol(**change)})
    assert [("FDC501", f"a.protocol.json:{where}")] == [
        (item.code, str(item.span)) for item in findings
    ]
    assert findings[0].message.startswith(words), findings[0].message


@pytest.mark.parametrize("text", ["null", "[]", '"tea"', "5"])
def test_a_source_that_is_no_object_is_a_finding(text: str) -> None:
    sources, findings = load({"a.protocol.json": text.encode()})
    assert [(item.code, str(item.span)) for item in findings] == [("FDC501", "a.protocol.json:1:1")]
    assert not sources.protocols


@pytest.mark.parametrize("name", ["a\n", "a\udcff", "a\x1b[2J"])
def test_a_name_that_cannot_be_shown_is_a_finding(name: str) -> None:
    """AGENTS.md names each source, and is UTF-8."""
    _, findings = load({f"{name}.protocol.json": protocol()})
    assert [item.code for item in findings] == ["FDC501"]


def test_extra_keys_are_allowed_and_kept() -> None:
    """FDC-96."""
    extra = {"protocol_name": "P", "associated_artifacts": ["x"], "owner": {"team": 1}}
    rule = {**RULE, "associated_tools": ["t"], "tags": ["a"], "version": "1", "severity": "high"}
    made = built({"a.protocol.json": protocol(**extra, rules=[rule])})
    rule["enforcement"] = "advice: e"
    assert ([], {**extra, "rules": [rule]}) == (
        made.findings, {key: value for key, value in blocks(made.text or "")[0].items() if key in (*extra, "rules")}
    )  # fmt: skip


def test_every_fault_of_every_source_is_found_in_one_go() -> None:
    files = {
        "a.protocol.json": b"{",
        "b.protocol.json": protocol(protocol_id="B!", rules=[]),
        "c.protocol.md": b"# C\n\n```sh\nnever closed\n",
        "d.protocol.md": b" \n",
        "e.protocol.md": b"x\xff",
    }
    made = built(files, b"1.0")
    assert made.text is None
    assert [
        ("VERSION", "FDC503"), ("a.protocol.json", "FDC501"), ("b.protocol.json", "FDC501"),
        ("b.protocol.json", "FDC501"), ("c.protocol.md", "FDC501"), ("d.protocol.md", "FDC501"),
        ("e.protocol.md", "FDC501"),
    ] == [(item.span.path, item.code) for item in made.findings]  # fmt: skip
    assert 3 == next(item.span.line for item in made.findings if item.span.path == "c.protocol.md")


def test_one_id_belongs_to_one_protocol_and_one_rule() -> None:
    """FDC-80: the second use is the finding, and it points at the first."""
    _, findings = load({
        "a.protocol.json": protocol(rules=[RULE, RULE]),
        "b.protocol.json": protocol(),
    })  # fmt: skip
    assert [
        ("a.protocol.json", "another rule has the id `r`", "a.protocol.json:6:15"),
        ("b.protocol.json", "another protocol has the id `p`", "a.protocol.json:2:17"),
    ] == [(item.span.path, item.message, str(item.labels[0].span)) for item in findings]


def test_prose_comes_first_then_rules_each_in_the_order_of_paths() -> None:
    """FDC-97."""
    made = built({
        "p/20.protocol.json": protocol(protocol_id="second"),
        "p/sub/00.protocol.md": b"PROSE TWO\r\n\r\n",
        "p/10.protocol.json": b"\xef\xbb\xbf" + protocol(protocol_id="first"),
        "p/10.protocol.md": b"\n\nPROSE ONE",
        "p/README.md": b"not a source",
        "p/protocol.schema.json": b"{}",
    })  # fmt: skip
    assert made.text is not None and 4 == made.sources
    assert ["first", "second"] == [block["protocol_id"] for block in blocks(made.text)]
    assert made.text.index("PROSE ONE\n\n---\n\nPROSE TWO\n\n---\n\n```json\n") > 0
    assert "not a source" not in made.text and "\r" not in made.text


def test_without_sources_there_is_only_the_disclaimer() -> None:
    """FDC-97."""
    text = built({}).text
    assert text is not None and text.startswith("<!-- GENERATED, DO NOT EDIT")
    assert [] == blocks(text) and len(text.splitlines()) < 15


@pytest.mark.parametrize(
    "version",
    [
        None,
        b"",
        b"1.0",
        b"v1.0.0",
        b"1.0.0.0",
        b"01.0.0",
        b"1.0.0-",
        b"1.0.0\n2.0.0",
        "١.0.0".encode(),
    ],
)
def test_a_version_that_is_not_semantic_stops_the_build(version: bytes | None) -> None:
    """FDC-95."""
    made = built({"a.protocol.json": protocol()}, version)
    assert (None, ["FDC503"]) == (made.text, [item.code for item in made.findings])


@pytest.mark.parametrize("version", [b"0.1.0", b"10.20.30\n", b"1.0.0-alpha.1+build.5"])
def test_a_semantic_version_is_in_the_compiled_text(version: bytes) -> None:
    """FDC-95, C-15."""
    text = built({}, version).text
    assert text is not None and f"\nProtocol version: {version.decode().strip()}\n" in text


def test_a_tools_documentation_follows_what_it_exports() -> None:
    """FDC-98: from the thin script through its imports to the definitions. The commands stand for `main`, where there are any."""
    classes = [
        "- `class Kind(str)`",
        "  A kind.",
        "  - `def __init__(self)`",
        "  - `async def go(self, *, x=1)`",
    ]
    shown = "\n".join(["A tool.", "", "    t.py GO", "", "**Public Classes:**", "", *classes])
    assert document("tooling/t.py", SCRIPT.get) == shown
    bare = {**SCRIPT, "tooling/t.py": SCRIPT["tooling/t.py"].replace("    t.py GO\n", "")}
    functions = [
        "**Public Functions:**",
        "",
        "- `def main(argv: list[str] | None=None) -> int`",
        "  Works.",
    ]
    assert document("tooling/t.py", bare.get) == "\n".join(
        ["A tool.", "", *functions, "", "**Public Classes:**", "", *classes]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (
            "def f(): ...\ndef _g(): ...\nclass A: ...\nx = 1",
            "**Public Functions:**\n\n- `def f()`\n\n**Public Classes:**\n\n- `class A`",
        ),
        ("__all__ = ['x', 'gone', 'os']\nfrom os import path as os\nx = 1", ""),
        ("__all__ = names()\ndef f(): ...", ""),
        ("def broken(:", ""),
        ("\0", ""),
        ("__all__ = ['a']\nfrom t import a", ""),
    ],
)
def test_a_module_of_any_shape_has_a_documentation(text: str, expected: str) -> None:
    assert expected == document("t.py", {"t.py": text}.get)


def test_documentation_is_injected_and_replaced_never_doubled() -> None:
    """FDC-98: sources that come from a compiled file, with old documentation in them, give the same text again."""
    tools = ["tooling/t.py", "google_search", "tooling/fsm.json"]
    first = built({"a.protocol.json": protocol(associated_tools=tools)})
    body = blocks(first.text or "")[0]
    assert body["description"].startswith(
        "About p.\n\n**Associated Tool Documentation (`tooling/t.py`):**\n\nA tool."
    )
    assert 1 == body["description"].count("**Associated Tool Documentation")
    stale = {**body, "description": body["description"].replace("It helps", "It helped")}
    for description in (body["description"], stale["description"]):
        again = built(
            {"a.protocol.json": json.dumps({**body, "description": description}).encode()}
        )
        assert body == blocks(again.text or "")[0]


def test_a_tool_whose_file_is_gone_is_a_warning_in_the_text() -> None:
    """FDC-98."""
    made = built({"a.protocol.json": protocol(associated_tools=["x", "tooling/gone.py"])})
    assert [("FDC506", "a.protocol.json:13:3", "warning")] == [
        (f.code, str(f.span), f.severity) for f in made.findings
    ]
    assert "Warning: no documentation exists, because `tooling/gone.py` does not exist." in (
        made.text or ""
    )


def test_a_text_beyond_what_agents_read_is_refused() -> None:
    files = {"a.protocol.md": b"x" * 5000}
    whole = built(files)
    assert whole.text is not None
    size = len(whole.text.encode())
    assert built(files, max_bytes=size).text == whole.text
    made = built(files, max_bytes=size - 1)
    assert (None, ["FDC505"]) == (made.text, [item.code for item in made.findings])


FILES = {
    "p/a.protocol.json": protocol(associated_tools=["tooling/t.py"]),
    "p/b.protocol.md": b"prose",
}


def said(expected: str, actual: str | None) -> list[str]:
    found = drift(expected, None if actual is None else actual.encode(), "AGENTS.md")
    assert all(item.code == "FDC504" for item in found)
    return [f"{item.span.line}: {item.message.removeprefix('`AGENTS.md` ')}" for item in found]


def test_drift_says_what_happened() -> None:
    """FDC-102: absent, edited or stale, and by which source."""
    old = built(FILES).text
    assert old is not None
    assert [] == said(old, old)
    assert ["1: does not exist"] == said(old, None)
    line = old.split("\n").index("prose") + 1
    assert [f"{line}: was edited by hand, first in line {line}"] == said(
        old, old.replace("prose", "poetry")
    )
    assert ["1: was edited by hand, first in line 1"] == said(old, "")
    assert [] == said(old, old.replace("\n", "\r\n")), "git's `core.autocrlf`"
    last = len(old.splitlines())
    assert [f"{last}: was edited by hand, first in line {last}"] == said(old, old[:-3])
    changed = built(
        {**FILES, "p/b.protocol.md": b"new prose", "p/c.protocol.md": b"more"}, b"1.0.1"
    ).text
    assert changed is not None
    stale = [
        "1: is stale: `VERSION` is newer, it has changed since it was built",
        "1: is stale: `p/b.protocol.md` is newer, it has changed since it was built",
        "1: is stale: `p/c.protocol.md` is new since it was built",
    ]
    assert stale == said(changed, old)
    assert sorted(["1: was edited by hand", *stale]) == sorted(
        said(changed, old.replace("prose", "poetry"))
    )
    assert ["1: is stale: `p/c.protocol.md` is gone since it was built"] == said(old, changed)[2:]


def test_drift_by_a_docstring_names_the_tool() -> None:
    """FDC-98, FDC-102: documentation is a source too; code that documents the same is not."""
    old = built(FILES).text
    comment = {**SCRIPT, "tooling/pack/work.py": SCRIPT["tooling/pack/work.py"] + "    return 0\n"}
    assert old == compile_agents(FILES, b"1.0.0", comment.get).text
    other = {**SCRIPT, "tooling/t.py": SCRIPT["tooling/t.py"].replace("A tool", "A fool")}
    new = compile_agents(FILES, b"1.0.0", other.get).text
    assert new is not None
    assert ["1: is stale: `tooling/t.py` is newer, it has changed since it was built"] == said(
        new, old
    )


def test_prose_belongs_to_the_rules_of_its_whole_name_and_not_of_its_number() -> None:
    """T-37: `03_layer` is not the prose of `03_orientation`; and a source that is wrong stops the build."""
    rules = {"protocol_id": "o", "description": "D", "scope": "src", "rules": [RULE]}
    files = {
        "protocols/03_layer.protocol.md": b"# Layer\n", "protocols/03_orientation.protocol.md": b"# Orientation\n",
        "protocols/03_orientation.protocol.json": json.dumps(rules).encode(),
    }  # fmt: skip
    sources, found = load(files)
    assert [] == found
    assert {"# Layer": "", "# Orientation": "src"} == {
        item.text: item.scope for item in sources.prose
    }
    broken = {
        **files,
        "protocols/04_x.protocol.json": b'{"protocol_id": "x", "description": "D", "rules": []}',
    }
    made = compile_agents(broken, b"1.0.0", lambda path: None)
    assert made.text is None and ["FDC501"] == [item.code for item in made.findings]


def test_an_indented_example_before_the_protocols_hides_none_of_them() -> None:
    """T-35: prose may show a block of JSON, indented or longer fenced, and a reader still finds every protocol."""
    files = {
        "protocols/00_x.protocol.md": b"# X\n\n1. Like this:\n\n    ```json\n    {}\n    ```\n\n````md\n```json\n[]\n```\n````\n",
        **{
            f"protocols/{n}.protocol.json": json.dumps(
                {"protocol_id": f"p{n}", "description": "D", "rules": [RULE]}
            ).encode()
            for n in range(3)
        },
    }
    made = compile_agents(files, b"1.0.0", lambda path: None)
    assert made.text is not None
    assert ["p0", "p1", "p2"] == [protocol["protocol_id"] for protocol in read_protocols(made.text)]
