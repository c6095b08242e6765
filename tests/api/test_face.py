"""The API from outside: what it exports, what importing it loads, its types, and a program that uses it."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain import api

from tests.repo.test_imports import imported
from tests.support import process
from tests.support.repository import PACKAGE, ROOT

HEAVY = (
    "click", "lark", "networkx", "jsonschema", "jinja2", "yaml", "pathspec", "markdown_it", "coverage", "anthropic",
    "json", "sqlite3", "hashlib", "logging", "tomllib", "subprocess", "tempfile", "asyncio",
    "fdc_toolchain.cli", "fdc_toolchain.server", "fdc_toolchain.runs", "fdc_toolchain.check", "fdc_toolchain.engine",
    "fdc_toolchain.tools", "fdc_toolchain.journal", "fdc_packs",
)  # fmt: skip
CONSUMER = ROOT / "tests" / "api" / "consumer.py"
TOLD = [
    "error [('FDC301', 4, 1)]",
    "proved ['write `create_file_with_block`']",
    "waiting Sugar?",
    "finished True ['set_plan', 'plan_step_complete', 'request_user_input', 'create_file_with_block', 'close_task', 'submit']",
]


def of_ours(name: str, modules: frozenset[str]) -> list[str]:
    return sorted(one for one in modules if one == name or one.startswith(name + "."))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """What `import fdc_toolchain.api` loads beyond bare Python."""
    folder = tmp_path_factory.mktemp("import")
    return imported(["-c", "import fdc_toolchain.api"], folder) - imported(["-c", "pass"], folder)


@pytest.mark.parametrize("module", HEAVY)
def test_importing_the_api_loads_none_of(module: str, loaded: frozenset[str]) -> None:
    assert [] == of_ours(module, loaded)


def test_importing_the_api_loads_few_modules_of_fdc(loaded: frozenset[str]) -> None:
    ours = of_ours("fdc_toolchain", loaded)
    assert 8 <= len(ours) <= 12, ours


def test_no_call_of_the_api_loads_click_or_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "knowledge_core").mkdir()
    program = f"""
import sys
sys.argv = ["consumer", {str(tmp_path)!r}]
exec(open({str(CONSUMER)!r}).read())
folder = {str(tmp_path)!r}
(Path(folder) / "order.txt").unlink()
api.bounds("order.plan", workspace=folder)
api.catalogue(workspace=api.find_workspace(folder))
api.explain("FDC301")
api.cancel(api.begin("order.plan", workspace=folder), workspace=folder)
assert 2 == len(api.runs(workspace=folder))
wrong = [name for name in sys.modules if name.split(".")[0] in ("click", "jinja2") or name.startswith("fdc_toolchain.cli")]
assert not wrong, wrong
"""
    done = process.run([sys.executable, "-c", program], cwd=tmp_path)
    assert (0, TOLD, "") == (done.returncode, done.stdout.splitlines(), done.stderr)


def test_all_names_what_there_is_and_is_sorted() -> None:
    assert sorted({*api.__all__}) == api.__all__
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = api.nothing  # type: ignore[attr-defined]


def public() -> Iterator[tuple[str, dict[str, object]]]:
    """Every function, method and field of the API, with its types."""
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isfunction(value):
            yield name, typing.get_type_hints(value)
        elif inspect.isclass(value) and value.__module__.startswith("fdc_toolchain.api"):
            if dataclasses.is_dataclass(value):
                yield name, typing.get_type_hints(value)
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_"):
                    yield f"{name}.{method}", typing.get_type_hints(function)


def mentions_any(hint: object) -> bool:
    return hint is typing.Any or any(mentions_any(part) for part in typing.get_args(hint))


HINTS = dict(public())


@pytest.mark.parametrize("name", HINTS)
def test_no_signature_mentions_any(name: str) -> None:
    assert HINTS[name], f"{name} has no types"
    assert [] == [what for what, hint in HINTS[name].items() if mentions_any(hint)]


def test_a_planted_any_is_found() -> None:
    assert mentions_any(dict[str, tuple[typing.Any, ...]]) and not mentions_any(dict[str, api.Step])


@pytest.mark.parametrize(
    "kind", [value for name in api.__all__ if dataclasses.is_dataclass(value := getattr(api, name)) and name != "Context"]
)  # fmt: skip
def test_results_are_frozen_and_have_a_docstring(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert {inspect.Parameter.KEYWORD_ONLY} == {
        one.kind for one in inspect.signature(kind).parameters.values()
    }
    assert kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}(")


def test_every_function_and_exception_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isfunction(value):
            assert value.__doc__ and f"api.{name}(" in page, name
        elif inspect.isclass(value) and issubclass(value, api.FdcError):
            assert value.__doc__ and f"`{name}`" in page, name


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").read_bytes() == b""


def mypy(text: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    cache = text.parent / "mypy"
    return process.run(
        [sys.executable, "-m", "mypy", "--strict", "--disallow-any-expr", "--config-file=", "--cache-dir", cache, *options, text],
        cwd=text.parent,
    )  # fmt: skip


@pytest.mark.long
def test_a_consumer_passes_mypy_strict_against_the_installed_package(tmp_path: Path) -> None:
    text = tmp_path / "consumer.py"
    text.write_text(CONSUMER.read_text("utf-8"), "utf-8")
    assert 25 <= len(text.read_text("utf-8").splitlines()) <= 45
    done = mypy(text)
    assert done.returncode == 0, done.stdout + done.stderr
    text.write_text(
        text.read_text("utf-8").replace("budget={", 'budget={"steps": "many", '), "utf-8"
    )
    done = mypy(text)
    assert done.returncode == 1 and 'expected "str": "float"' in done.stdout, (
        done.stdout + done.stderr
    )


TOOL = """from fdc_toolchain.api import JSON, Context, Tool, ToolFailure

def count(args: dict[str, JSON], context: Context) -> JSON:
    text = args.get("text")
    if not isinstance(text, str):
        raise ToolFailure("argument", "`text` must be text")
    answer: str = context.ask("Go on?", lambda given: "" if given else "say something")
    context.say(f"{context.run}: {answer}")
    return {"words": len(text.split())}

TOOLS: dict[str, Tool] = {"count": count}
"""


@pytest.mark.long
def test_a_tool_of_a_pack_passes_mypy_strict(tmp_path: Path) -> None:
    text = tmp_path / "tools.py"
    text.write_text(TOOL, "utf-8")
    done = mypy(text)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_consumer_checks_repairs_runs_and_answers(tmp_path: Path) -> None:
    (tmp_path / "knowledge_core").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = process.run([sys.executable, CONSUMER, tmp_path], cwd=elsewhere)
    assert (0, TOLD, "") == (done.returncode, done.stdout.splitlines(), done.stderr)
    assert "sugar: two lumps\n" == (tmp_path / "order.txt").read_text("utf-8")
    assert [] == list(elsewhere.iterdir())
