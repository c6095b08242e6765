"""Laws of the protocol compiler: any sources give findings or a text, and the text holds the sources."""

from __future__ import annotations

import json
from typing import Any

from fdc_toolchain.protocols.compile import BuildOptions, compile_agents
from fdc_toolchain.protocols.drift import drift
from fdc_toolchain.protocols.load import load
from fdc_toolchain.protocols.render import unmarked
from fdc_toolchain.protocols.tool_docs.tooldoc import document
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.characters(codec="utf-8"), min_size=1)
ids = st.text(alphabet="abc-01", min_size=1, max_size=6)
rules = st.fixed_dictionaries(
    {"rule_id": ids, "description": texts, "enforcement": texts}, optional={"owner": texts}
)
protocols = st.fixed_dictionaries(
    {
        "description": texts,
        "rules": st.lists(rules, min_size=1, max_size=3, unique_by=lambda rule: rule["rule_id"]),
    },
    optional={"protocol_name": texts, "extra": st.dictionaries(texts, texts, max_size=2)},
)
sources = st.dictionaries(ids, protocols, max_size=4)
pieces = st.sampled_from(
    ["# A\n\ntext", "```sh\nx\n```", "---\n\n---", "````\n```json\n````", "é\u2028"]
)
prose = st.dictionaries(ids, pieces, max_size=3)


def files(bodies: dict[str, Any], pages: dict[str, str]) -> dict[str, bytes]:
    whole = {
        f"{name}.protocol.json": json.dumps({"protocol_id": name, **body})
        for name, body in bodies.items()
    }
    whole.update({f"{name}.protocol.md": text for name, text in pages.items()})
    return {path: text.encode() for path, text in whole.items()}


def no_tool(path: str) -> None:
    return None


@given(sources, prose, st.randoms())
def test_the_compiled_text_holds_every_source_and_nothing_depends_on_order(
    bodies: dict[str, Any], pages: dict[str, str], random: Any
) -> None:
    """FDC-97: the same sources in any order give the same bytes, and the JSON in them is the sources'."""
    given_files = files(bodies, pages)
    shuffled = list(given_files.items())
    random.shuffle(shuffled)
    made = compile_agents(given_files, b"1.0.0", no_tool, BuildOptions(max_bytes=10**9))
    assert made.text is not None and made == compile_agents(
        dict(shuffled), b"1.0.0", no_tool, BuildOptions(max_bytes=10**9)
    )
    found = [
        json.loads(part.split("\n```\n")[0]) for part in made.text.split("\n---\n\n```json\n")[1:]
    ]
    for body in found:
        for rule in body["rules"]:
            assert rule["enforcement"].startswith("advice: ")
            rule["enforcement"] = unmarked(rule["enforcement"])
    in_order = sorted(bodies, key=lambda name: f"{name}.protocol.json")
    assert [{"protocol_id": name, **bodies[name]} for name in in_order] == found
    assert [] == drift(made.text, made.text.encode(), "AGENTS.md")


@given(st.dictionaries(ids, st.binary(max_size=40)), st.binary(max_size=12))
def test_any_bytes_give_findings_or_a_text(raw: dict[str, bytes], version: bytes) -> None:
    """FDC-95, FDC-96: never an exception, and no text beside an error."""
    for suffix in (".protocol.json", ".protocol.md"):
        made = compile_agents({name + suffix: data for name, data in raw.items()}, version, no_tool)
        assert (made.text is None) == any(item.severity == "error" for item in made.findings)


@given(st.text(), st.text())
def test_drift_never_fails_and_is_silent_only_for_the_same_bytes(left: str, right: str) -> None:
    """FDC-102."""
    found = drift(left, right.encode("utf-8", "replace"), "AGENTS.md")
    assert (not found) == (left.encode("utf-8", "replace") == right.encode("utf-8", "replace"))
    assert all(item.span.line >= 1 for item in found)


@given(st.text(alphabet="abdefclsimportfrom._*()[]:='\" \n\t,@", max_size=80))
def test_any_source_of_a_tool_has_a_documentation(text: str) -> None:
    """FDC-98: the file is read as text and never run."""
    assert isinstance(document("tooling/t.py", lambda path: text), str)


@given(sources)
def test_the_schema_and_the_loader_take_the_same_protocols(bodies: dict[str, Any]) -> None:
    loaded, findings = load(files(bodies, {}))
    assert ([], len(bodies)) == (findings, len(loaded.protocols))
