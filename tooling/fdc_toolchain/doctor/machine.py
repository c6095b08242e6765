"""Checks what fdc can use on this machine, by reading and by cheap attempts (issue 4, "The model").

Checks never raise and never show a secret: of a key only whether it is set, of an address only its host.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata, util
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from ..engine.ports import WorldFailed
from ..exits import reason
from ..journal import user_key
from ..journal.sqlite import Store, refuse_links
from ..journal.tables import Empty, Older
from ..linking.project.protected import outside_path
from ..linking.project.quiet_git import in_its_own, refuse_pipes, top, why_not
from ..named_tuples import NamedTuple
from ..tools.model.wire import OPENAI
from ..workspace import run_folders
from ..workspace.operator import TIERS, Operator

if TYPE_CHECKING:
    from ..tools.model.http_model import HttpModel
    from ..tools.web.search import Ready

Grade = Literal["ok", "note", "bad"]

LITTLE = 100 * 1024 * 1024
"""Free bytes on disk below which a run may fail."""

OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""

PACKAGES = {
    "trafilatura": "reads pages of the web (`fdc-toolchain[web]`)",
    "pypdf": "reads PDFs (`fdc-toolchain[pdf]`)",
    "anthropic": "asks models (`fdc-toolchain[model]`)",
    "openai": "asks models of other servers (`fdc-toolchain[openai]`)",
    "httpx2": "asks models (`fdc-toolchain[model]`)",
    "mcp": "serves fdc's tools to agents (`fdc-toolchain[mcp]`)",
    "pygls": "serves plans to editors (`fdc-toolchain[lsp]`)",
    "dbos": "runs on many machines (`fdc-toolchain[distributed]`)",
    "psycopg": "runs on many machines (`fdc-toolchain[distributed]`)",
    "opentelemetry": "spans of runs (`fdc-toolchain[otel]`)",
}


class Found(NamedTuple):
    """One check. `bad`: something that is configured does not work; `note`: information."""

    name: str
    grade: Grade
    detail: str


def examine(
    root: str,
    operator: Operator,
    model: HttpModel | None,
    environment: Mapping[str, str],
    *,
    live: bool,
) -> list[Found]:
    """Runs all checks. Sends a real but tiny request to the model's server only if `live`."""
    found = [
        _python(),
        *_model(model, environment, live),
        *([] if model is None or not live else _asked_and_closed(model)),
    ]
    found += [
        *_sandbox(operator, root),
        *_web(operator, environment),
        _disk(root),
        _sqlite(),
        *_journal(root),
        _key(),
        _git(root),
    ]
    return found + [_package(name, use) for name, use in PACKAGES.items()]


def _python() -> Found:
    return Found("python", "ok", f"{sys.version.split()[0]} on {sys.platform}")


def _model(model: HttpModel | None, environment: Mapping[str, str], live: bool) -> list[Found]:
    own = model is not None and model.choice("doctor").model.startswith(OPENAI)
    keys = (
        ("OPENAI_API_KEY", "OPENAI_BASE_URL")
        if own
        else ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    )
    kinds = [name for name in keys if environment.get(name)]
    key = Found("key", "ok", f"{' and '.join(kinds)} set") if kinds else Found(
        "key", "bad" if model is not None else "note", f"neither {keys[0]} nor {keys[1]} is set"
    )  # fmt: skip
    if model is None:
        return [
            Found(
                "model",
                "note",
                "no model is selected (FDC_MODEL, --model): prompts use their `embedded` function, or fail",
            ),
            key,
        ]
    from ..tools.model.prices import most

    names = sorted({choice.model for choice in model.choices()})
    unknown = [name for name in names if most(name, 1) is None]
    priced = (
        f"; fdc does not know the price of {', '.join(unknown)}, so no budget of money is possible"
        if unknown
        else ""
    )
    host = _host(
        "OPENAI_BASE_URL" if own else "ANTHROPIC_BASE_URL",
        environment,
        "" if live else "; not asked (use --live)",
    )
    return [Found("model", "note" if unknown else "ok", ", ".join(names) + priced), key, host]


def _host(name: str, environment: Mapping[str, str], asked: str) -> Found:
    """The address without what may be secret in it: user, password, path and query."""
    address = environment.get(name, "")
    if not address:
        return Found("endpoint", "ok", f"the provider's own{asked}")
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        return Found("endpoint", "bad", f"{name} is not an http or https address")
    plain = parts.scheme == "http" and host not in ("localhost", "127.0.0.1", "::1")
    warning = "; the key would be sent unencrypted" if plain else ""
    return Found(
        "endpoint", "note" if plain else "ok", f"{parts.scheme}://{host}{port}{warning}{asked}"
    )


def _asked_and_closed(model: HttpModel) -> list[Found]:
    heard: list[str] = []
    tiny = type(model)(
        model.choice("doctor")._replace(attempts=1, repairs=0, max_tokens=200, seconds=60.0),
        hear=heard.append,
    )
    try:
        return _asked(tiny, heard)
    finally:
        tiny.close()


def _asked(tiny: HttpModel, heard: list[str]) -> list[Found]:
    """What the server supports, by requests: one count, one streamed question with a schema."""
    from ..engine.ports import WorldFailed
    from ..tools.model.question import Question
    from ..tools.model.wire import Request
    from ..workspace.failure import ToolFailure

    choice = tiny.choice("doctor")
    out: list[Found] = []
    try:
        counted = tiny.server(choice.model).count(choice, Request("", (), ("one two three",)))
    except WorldFailed as failed:
        return [Found("endpoint: answers", "bad", str(failed))]
    out.append(
        Found("endpoint: counts tokens", "note", "no; budgets count bytes instead")
        if counted is None
        else Found("endpoint: counts tokens", "ok", f"{counted} for three words")
    )
    schema = {
        "type": "object",
        "required": ["ok"],
        "properties": {"ok": {"const": True}},
        "additionalProperties": False,
    }
    try:
        reply = tiny.ask(
            Question(
                "doctor", "", 'Reply with the JSON object {"ok": true} and nothing else.', schema
            )
        )
    except WorldFailed as failed:
        return [*out, Found("endpoint: answers", "bad", str(failed))]
    except ToolFailure as failed:
        if failed.kind != "reply":
            return [*out, Found("endpoint: answers", "bad", str(failed))]
        out.append(Found("endpoint: answers", "ok", choice.model))
        out.append(
            Found("endpoint: follows a schema", "note", f"not at the first attempt: {failed}")
        )
    else:
        out.append(
            Found("endpoint: answers", "ok", f"{choice.model}, {reply.usage['tokens']:g} tokens")
        )
        out.append(Found("endpoint: follows a schema", "ok", "at the first attempt"))
    streams = "in parts" if len(heard) > 1 else "yes, in one part"
    out.append(
        Found(
            "endpoint: streams", "ok" if heard else "note", streams if heard else "no text arrived"
        )
    )
    return out


def _sandbox(operator: Operator, root: str) -> list[Found]:
    """The available sandbox tiers, and the tier in which commands will run."""
    from ..sandbox.attempts import look_again
    from ..sandbox.sandbox import lacking, outlook, reason

    look_again()
    out = []
    for tier in TIERS:
        if tier != "none":
            why = reason(tier) or "; ".join(lacking(tier))
            out.append(Found(f"sandbox: {tier}", "note" if why else "ok", why or "offered"))
    return [*out, Found("sandbox", *outlook(operator, root))]


def _web(operator: Operator, environment: Mapping[str, str]) -> list[Found]:
    """Whether fdc may use the web, and the search providers. Sends no request."""
    from ..tools.web.search import SET_UP, ready
    from ..workspace.failure import ToolFailure

    allowed = operator.web or operator.network
    private = (
        f"; of private networks also {', '.join(operator.private)}" if operator.private else ""
    )
    said = (
        f"may be searched and read{private}"
        if allowed
        else "is not allowed (--web, FDC_ALLOW_WEB=1)"
    )
    out = [Found("web", "ok" if allowed else "note", said)]
    try:
        found = ready(environment)
    except ToolFailure as wrong:
        return [*out, Found("web: search", "bad" if allowed else "note", str(wrong))]
    if not found:
        return [*out, Found("web: search", "note", f"no provider is set up: {SET_UP}")]
    return out + [_provider(one) for one in found]


def _provider(one: Ready) -> Found:
    from ..tools.web.http import target
    from ..tools.web.search import PROVIDERS
    from ..workspace.failure import ToolFailure

    name = f"web: search: {one.name}"
    module, extra = PROVIDERS[one.name].package
    there = not module or util.find_spec(module) is not None
    if not there or not one.address:
        return Found(
            name, "ok" if there else "bad", f"the package {module} (`fdc-toolchain[{extra}]`)"
        )
    try:
        where = target(one.address)
    except ToolFailure as wrong:
        return Found(name, "bad", f"its address: {wrong}")
    plain = (
        bool(one.key)
        and where.scheme == "http"
        and where.host not in ("localhost", "127.0.0.1", "::1")
    )
    warning = "; the key would be sent unencrypted" if plain else ""
    return Found(
        name,
        "note" if plain else "ok",
        f"{where.origin}{', its key is set' if one.key else ''}{warning}",
    )


def _disk(root: str) -> Found:
    try:
        with tempfile.NamedTemporaryFile(dir=root, prefix=".fdc-doctor-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(root).free
    except OSError as failed:
        return Found(
            "disk",
            "bad",
            f"the workspace cannot be written: {reason(failed)}",
        )
    return Found(
        "disk",
        "bad" if free < LITTLE else "ok",
        f"the workspace can be written; {free / 2**30:.1f} GiB free"
        + f", and a run may need more than {LITTLE >> 20} MiB" * (free < LITTLE),
    )


def _sqlite() -> Found:
    try:
        with tempfile.TemporaryDirectory(prefix="fdc-doctor-") as folder:
            base = sqlite3.connect(os.path.join(folder, "x.db"))
            try:
                [mode] = base.execute("PRAGMA journal_mode=WAL").fetchone()
                base.execute("CREATE TABLE t (x INTEGER) STRICT")
            finally:
                base.close()
    except (sqlite3.Error, OSError) as failed:
        return Found("sqlite", "bad", f"{sqlite3.sqlite_version}: {failed}")
    old = sqlite3.sqlite_version_info < OLDEST_SQLITE
    return Found("sqlite", "bad" if old else "ok", f"{sqlite3.sqlite_version}, journal mode {mode}")


def _journal(root: str) -> list[Found]:
    """Why runs cannot be recorded in this workspace; nothing where they can."""
    path = run_folders.journal_path(root)
    try:
        run_folders.refuse_link(os.path.dirname(path))
        refuse_links(path)
        os.stat(path)
        Store(path, readonly=True).close()
    except (Empty, Older, FileNotFoundError, NotADirectoryError):
        return []
    except OSError as failed:
        return [Found("runs", "bad", f"{path}: {reason(failed)}")]
    except WorldFailed as refused:
        return [Found("runs", "bad", str(refused))]
    return []


def _key() -> Found:
    """The key that seals the runs of this user: whether it is there and whether others can read it."""
    path = user_key.key_path()
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not user_key.can_be_made():
            lacks = "so fdc recognises no run as yours later, and `fdc trust` confirms nothing"
            return Found(
                "journal key", "note", f"{path} cannot be written, {lacks}; {user_key.ELSEWHERE}"
            )
        there = "does not exist yet; the first run creates it"
        return Found("journal key", "ok" if user_key.lasts() else "note", there)
    except OSError as failed:
        return Found("journal key", "bad", f"{path}: {reason(failed)}")
    if stat.S_IMODE(mode) & 0o077:
        return Found(
            "journal key",
            "bad",
            f"{path} can be read by others (mode {stat.S_IMODE(mode):o}); it should be 600",
        )
    return Found("journal key", "ok", path)


def _git(root: str) -> Found:
    program = shutil.which("git", path=outside_path())
    if program is None:
        return Found(
            "git", "note", "not installed: `fdc protocols diff` and `restore_file` need it"
        )
    try:
        version = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
        refuse_pipes(root)
        inside = subprocess.run(
            [program, "-C", root, "rev-parse", "--is-inside-work-tree"],
            capture_output=True, text=True, timeout=20, check=False, env=in_its_own(os.environ),
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as failed:
        why = getattr(failed, "strerror", None) or failed
        return Found("git", "note", f"cannot be run: {why}")
    made = version.stdout.strip().removeprefix("git version ")
    if inside.returncode and top(os.path.abspath(root)) is not None:
        return Found("git", "note", f"{made}; it refuses the repository: {why_not(inside.stderr)}")
    within = "in" if inside.stdout.strip() == "true" else "not in"
    return Found("git", "ok", f"{made}; the workspace is {within} a repository")


def _package(name: str, use: str) -> Found:
    if util.find_spec(name) is None:
        return Found(f"package: {name}", "note", f"not installed; {use}")
    try:
        version = metadata.version({"opentelemetry": "opentelemetry-api"}.get(name, name))
    except metadata.PackageNotFoundError:
        version = "installed"
    return Found(f"package: {name}", "ok", version)
