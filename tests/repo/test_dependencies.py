"""What is imported is declared, and what every user must install is imported."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.python_source import statements
from tests.support.repository import ROOT, files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MODULES = {"pyyaml": "yaml", "automata-lib": "automata", "markdown-it-py": "markdown_it", "pre-commit": "pre_commit",
           "pystemmer": "Stemmer", "pytest-lsp": "pytest_lsp", "tavily-python": "tavily"}  # fmt: skip
MODULES |= dict.fromkeys(
    ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"), "opentelemetry"
)
OURS = {"fdc_toolchain", "fdc_packs", "tests", "benchmarks", "__future__", *sys.stdlib_module_names}


def modules(requirements: Iterable[str]) -> set[str]:
    """The top modules that a list of requirements brings."""
    names = (re.split(r"[\[<>=!~; ]", requirement)[0].lower() for requirement in requirements)
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


@functools.cache
def imported(source: str) -> frozenset[str]:
    """The top modules that a file imports by absolute name, wherever in the file."""
    found: set[str] = set()
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return frozenset(found)


def all_imported(*folders: str) -> set[str]:
    names = (name for name in files() if name.endswith(".py") and name.startswith(folders))
    return set[str]().union(*(imported((ROOT / name).read_text("utf-8")) for name in names)) - OURS


BASE = modules(PROJECT["dependencies"])
EXTRAS = {name: modules(rows) for name, rows in PROJECT["optional-dependencies"].items()}


def test_the_package_imports_only_what_its_users_install() -> None:
    extras = (
        "model",
        "openai",
        "distributed",
        "charts",
        "otel",
        "web",
        "pdf",
        "search",
        "tavily",
        "exa",
        "semantic",
        "lsp",
        "mcp",
    )
    assert set() == all_imported("tooling/") - BASE.union(*(EXTRAS[name] for name in extras))


def test_its_users_install_only_what_the_package_imports() -> None:
    assert set() == BASE - all_imported("tooling/")


def test_the_tests_import_only_what_the_developers_install() -> None:
    assert (
        set()
        == all_imported("tests/") - BASE - EXTRAS["model"] - EXTRAS["dev"] - EXTRAS["distributed"]
    )


def test_the_benchmarks_import_only_what_they_declare() -> None:
    """AgentDojo, and pydantic's core, are in the environment that `make bench-agentdojo` makes for itself."""
    target = re.search(
        r"^bench-agentdojo:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text("utf-8"), re.M
    )
    assert target is not None and "agentdojo==" in target[0] and "pydantic[email]>=" in target[0]
    own = all_imported("benchmarks/agentdojo/") - BASE
    assert {"agentdojo", "pydantic_core"} == own
    others = all_imported("benchmarks/") - own
    assert set() == others - BASE - EXTRAS["dev"] - EXTRAS["bench"] - EXTRAS["bench-engines"]


def test_every_requirement_is_a_range_with_an_upper_end() -> None:
    rows = [
        *PROJECT["dependencies"],
        *(row for rows in PROJECT["optional-dependencies"].values() for row in rows),
    ]
    assert [] == [row for row in rows if not re.fullmatch(r"[a-z][a-z0-9-]*>=[\d.]+,<[\d.]+", row)]


def test_an_undeclared_import_is_found_wherever_it_stands() -> None:
    source = "import requests\ndef f():\n    from httpx import get\n    import yaml.x\n"
    assert {"requests", "httpx", "yaml"} == imported(source)


def test_the_lock_of_ci_pins_all_that_developers_install() -> None:
    """`make lock` writes it anew after a change of pyproject.toml."""
    rows = re.split(r"(?<!\\)\n", (ROOT / ".ci" / "requirements.lock").read_text("utf-8").strip())
    pins: dict[str, list[Version]] = {}
    for row in [one for one in rows if not one.startswith("#")]:
        pin = re.match(r"([a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==([^ ;]+)", row)
        assert pin and " --hash=sha256:" in row, row
        pins.setdefault(pin[1], []).append(Version(pin[2]))
    for line in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]):
        wanted = Requirement(line)
        found = pins.get(canonicalize_name(wanted.name), [])
        assert found and all(one in wanted.specifier for one in found), line
