"""Settings: `fdc.toml`, or `[tool.fdc]` in pyproject.toml. An unknown key is an error, never ignored."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...diagnostics.source import Limits
from ...named_tuples import NamedTuple
from . import regular_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SettingsError(ValueError):
    """The settings file is wrong; the sentence says where and how."""


class AgentFiles(NamedTuple):
    """What `fdc protocols` writes: the table `agents`. Names of profiles and targets are checked where they are known."""

    output: str = "AGENTS.md"
    profile: str = "full"
    split: bool = False
    targets: tuple[str, ...] = ()
    max_bytes: int = 32_768


class Allowed(NamedTuple):
    """A safety error that the operator allows: its code, a glob of plans, and why."""

    code: str
    files: str
    reason: str


class Settings(NamedTuple):
    """What a workspace can decide.

    `fsm`: the automaton of root plans that name none. `profile`: `default`, or `fdc`, which
    refuses every call but `deep-research` and every stated recursion (C-01). `catalogues`: files
    of the workspace's own tools. `protocols`: the folder of the protocols whose checks every plan must
    keep; an empty text: none. `exclude`: globs that folders leave out. `ignore` and
    `per_file_ignores`: codes of warnings that are not reported. `allow`: safety errors that are allowed; `trusted` tells
    whether a person confirmed these rows on this machine. `assumptions`: `deny`, or the rules of assumptions that
    are errors. `strict`: warnings fail the lint too. `test_command`: the
    shell command that shows whether the workspace's code works; `test_seconds`, the most it may
    take; `debug_attempts`, how often the master controller has a failure repaired (FDC-92);
    `research_seconds`, the most that research may take which it runs in the background (FDC-90). `models`:
    by role, how the model is asked (its name, `max-tokens`, `effort`, `seconds`); whether one is
    asked at all, the operator decides. `untrusted`: globs of files that hold text from outside. `protect`: globs
    of more files and folders that a plan writes only where it names them (`linking.project.protected`). `secret`: globs of more
    files and folders that a plan reads only where it names them (`linking.project.secret_files`). `packs`: names of the packs
    whose tools every plan of the workspace may use; a plan names others itself (`use pack NAME`).
    """

    fsm: str = "tooling/fdc_fsm.json"
    profile: str = "default"
    catalogues: tuple[str, ...] = ("fdc_tools.json", "fdc_tools.lock.json")
    protocols: str = "protocols"
    exclude: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    strict: bool = False
    max_stack: int = 10
    limits: Limits = Limits()
    stated_catalogues: bool = False
    agents: AgentFiles = AgentFiles()
    test_command: str = ""
    test_seconds: int = 600
    debug_attempts: int = 3
    research_seconds: int = 600
    models: tuple[tuple[str, dict[str, Any]], ...] = ()
    untrusted: tuple[str, ...] = ()
    allow: tuple[Allowed, ...] = ()
    trusted: bool = False
    assumptions: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()


FILES = ("fdc.toml", "pyproject.toml")


def read_settings(root: str) -> Settings:
    """The settings of the workspace at `root`. Raises SettingsError for a file that is wrong."""
    for name in FILES:
        path = os.path.join(root, name)
        try:
            data = regular_file.read(path)
        except FileNotFoundError:
            if name == "fdc.toml" and os.path.islink(path):
                raise SettingsError(
                    "fdc.toml cannot be read: it is a link that leads nowhere"
                ) from None
            continue
        except OSError as failed:
            raise SettingsError(f"{name} cannot be read: {failed.strerror}") from failed
        if name == "pyproject.toml" and b"fdc" not in data:
            continue
        settings = _parse(data, name)
        if settings is not None:
            return settings
    return Settings()


def _parse(data: bytes, name: str) -> Settings | None:
    """The settings in a file; None where a pyproject.toml has none."""
    import tomllib

    from ...text.json_text import conflict

    try:
        table: Any = tomllib.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as wrong:
        if name == "pyproject.toml" and b"tool.fdc" not in data:
            return None  # the file has no settings of fdc, and its own tools report the fault
        said = str(wrong)
        if isinstance(wrong, RecursionError):
            said = "nested too deeply"
        elif not isinstance(wrong, (tomllib.TOMLDecodeError, UnicodeDecodeError)):
            said = "a number has too many digits"  # more than Python converts
        if advice := conflict(data.decode("utf-8", "replace")):
            said += f"; {advice}"
        raise SettingsError(f"{name}: {said}") from wrong
    if name != "pyproject.toml":
        return _settings(table, name)
    tools = table.get("tool")
    if not isinstance(tools, dict) or "fdc" not in tools:
        return None
    return _settings(tools["fdc"], f"{name}: [tool.fdc]")


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)[:80]


_KINDS = {
    str: "a text",
    list: "a list",
    dict: "a table",
    bool: "true or false",
    int: "a whole number",
}


_TAKES: dict[str, type | tuple[type, ...]] = {
    "fsm": str, "profile": str, "catalogues": list, "protocols": str, "exclude": list, "ignore": list,
    "per-file-ignores": dict, "strict": bool, "max-stack": int, "limits": dict,
    "agents": dict,
    "test-command": str, "test-seconds": int, "debug-attempts": int, "research-seconds": int,
    "models": dict, "untrusted": list, "protect": list, "secret": list, "packs": list, "allow": list, "assumptions": (str, list),
}  # fmt: skip
"""By setting, the types that its value may have."""


def _settings(table: Any, where: str) -> Settings:
    values = _typed(table, where)
    out = {
        key.replace("-", "_"): _READERS[key](value, where, key) if key in _READERS else value
        for key, value in values.items()
    }
    return Settings(**out, stated_catalogues="catalogues" in values)


def _typed(table: Any, where: str) -> dict[str, Any]:
    """The values by setting, each of a type that it may have."""
    from ...text.suggest import did_you_mean

    if not isinstance(table, dict):
        raise SettingsError(f"{where}: expected a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        key = "test-command" if key == "test_command" else key
        if key not in _TAKES:
            hint = did_you_mean(key, _TAKES)
            raise SettingsError(f"{where}: unknown key `{key}`" + (f"; {hint}" if hint else ""))
        takes = _TAKES[key]
        kinds = takes if isinstance(takes, tuple) else (takes,)
        if type(value) not in kinds:
            raise SettingsError(
                f"{where}: `{key}` takes {' or '.join(_KINDS[kind] for kind in kinds)}, found {_shown(value)}"
            )
        values[key] = value
    return values


def _profile(value: str, where: str, key: str) -> str:
    if value not in ("default", "fdc"):
        raise SettingsError(f"{where}: `profile` is `default` or `fdc`, found `{value}`")
    return value


def _texts(value: list[Any], where: str, key: str) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in value):
        raise SettingsError(f"{where}: `{key}` takes a list of texts")
    return tuple(value)


def _codes(items: list[Any], where: str, key: str) -> tuple[str, ...]:
    from ...diagnostics.codes import CODES, silenced_by_text

    for item in items:
        if not isinstance(item, str):
            raise SettingsError(
                f"{where}: `{key}` takes a list of codes, found {_shown(item)} in it"
            )
        if item not in CODES:
            raise SettingsError(f"{where}: `{key}` names `{item}`, which is not a code")
        if not silenced_by_text(item):
            kind = "an assumption" if CODES[item].severity == "assumption" else "an error"
            raise SettingsError(f"{where}: `{key}` names {item}, {kind}; {_instead(item)}")
    return tuple(items)


def _per_file(
    table: dict[str, Any], where: str, key: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    for glob, items in table.items():
        if not isinstance(items, list):
            message = f"`{key}` takes lists of codes, found {_shown(items)} for `{glob}`"
            raise SettingsError(f"{where}: {message}")
    return tuple((glob, _codes(items, where, key)) for glob, items in sorted(table.items()))


def _between(least: int, most: int) -> Callable[[int, str, str], int]:
    """A reader of whole numbers in a range, both ends included."""

    def read(value: int, where: str, key: str) -> int:
        if not least <= value <= most:
            raise SettingsError(f"{where}: `{key}` is {least} to {most}, found {value}")
        return value

    return read


def _limits(limits: dict[str, Any], where: str, key: str) -> Limits:
    from ...text.suggest import did_you_mean

    names = {name.replace("_", "-"): name for name in Limits._fields}
    for name, value in limits.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise SettingsError(f"{where}: unknown limit `{name}`" + (f"; {hint}" if hint else ""))
        if type(value) is not int or value < 1:
            raise SettingsError(
                f"{where}: limit `{name}` takes a whole number of 1 or more, found {_shown(value)}"
            )
    if limits.get("nesting", 0) > 200:
        raise SettingsError(f"{where}: limit `nesting` is at most 200")
    return Limits(**{names[name]: value for name, value in limits.items()})


def _instead(code: str) -> str:
    """What to do in place of an `ignore` that names an error."""
    from ...diagnostics.codes import CODES, SAFETY

    if CODES[code].severity == "assumption":
        return "it is not a finding and needs none: take it out; `fdc lint --assumptions` lists what a proof rests on"
    if code in SAFETY:
        return "a table `[[allow]]` with `code`, `files` and `reason` can allow it, once `fdc trust` confirmed that"
    return "only warnings can be ignored: take it out, and mend the plans, or leave them out with `exclude`"


def _allowed(row: Any, where: str) -> Allowed:
    from ...diagnostics.codes import SAFETY

    fields = ", ".join(f"`{name}`" for name in Allowed._fields)
    if not isinstance(row, dict) or set(row) != set(Allowed._fields):
        raise SettingsError(f"{where}: each `[[allow]]` has {fields}, found {_shown(row)}")
    if not all(isinstance(value, str) and value.strip() for value in row.values()):
        raise SettingsError(
            f"{where}: {fields} of `[[allow]]` take a text each, found {_shown(row)}"
        )
    if row["code"] not in SAFETY:
        raise SettingsError(
            f"{where}: `[[allow]]` takes {', '.join(sorted(SAFETY))}; no one can allow `{row['code']}`"
        )
    return Allowed(**row)


def _assumptions(value: Any, where: str, key: str) -> tuple[str, ...]:
    from ...diagnostics.codes import CODES

    known = sorted(row.name for row in CODES.values() if row.severity == "assumption")
    if value == "deny":
        return ("deny",)
    if isinstance(value, list) and all(item in known for item in value):
        return tuple(value)
    raise SettingsError(
        f"{where}: `assumptions` takes `deny` or a list of {', '.join(known)}, found {_shown(value)}"
    )


def _models(table: dict[str, Any], where: str, key: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    from ...text.suggest import did_you_mean

    known = {"model": str, "max-tokens": int, "effort": str, "seconds": int, "repairs": int}
    rows = []
    for role, row in sorted(table.items()):
        row = {"model": row} if isinstance(row, str) else row
        if not isinstance(row, dict):
            raise SettingsError(
                f"{where}: `models.{role}` takes a model's name or a table, found {_shown(row)}"
            )
        for name, value in row.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise SettingsError(
                    f"{where}: unknown key `{name}` in `models.{role}`"
                    + (f"; {hint}" if hint else "")
                )
            if type(value) is not known[name] or (
                isinstance(value, int) and not 0 <= value <= 1_000_000
            ):
                raise SettingsError(
                    f"{where}: `models.{role}.{name}` takes {_KINDS[known[name]]}, found {_shown(value)}"
                )
        rows.append((role, {name.replace("-", "_"): value for name, value in row.items()}))
    return tuple(rows)


def _agents(table: dict[str, Any], where: str, key: str) -> AgentFiles:
    from ...text.suggest import did_you_mean

    known: dict[str, type] = {
        "output": str,
        "profile": str,
        "split": bool,
        "targets": list,
        "max-bytes": int,
    }
    for name, value in table.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise SettingsError(
                f"{where}: unknown key `{name}` in `agents`" + (f"; {hint}" if hint else "")
            )
        if type(value) is not known[name] or (
            type(value) is list and not all(isinstance(item, str) for item in value)
        ):
            kind = "a list of texts" if name == "targets" else _KINDS[known[name]]
            raise SettingsError(f"{where}: `agents.{name}` takes {kind}, found {_shown(value)}")
    values: dict[str, Any] = {name.replace("-", "_"): value for name, value in table.items()}
    if "targets" in values:
        values["targets"] = tuple(values["targets"])
    if values.get("max_bytes", 1) < 1:
        raise SettingsError(
            f"{where}: `agents.max-bytes` is 1 or more, found {values['max_bytes']}"
        )
    return AgentFiles(**values)


def _allow(rows: list[Any], where: str, key: str) -> tuple[Allowed, ...]:
    return tuple(_allowed(row, where) for row in rows)


_READERS: dict[str, Callable[[Any, str, str], Any]] = {
    "profile": _profile,
    "catalogues": _texts,
    "exclude": _texts,
    "untrusted": _texts,
    "protect": _texts,
    "secret": _texts,
    "packs": _texts,
    "ignore": _codes,
    "per-file-ignores": _per_file,
    "max-stack": _between(1, 10),
    "test-seconds": _between(1, 86_400),
    "debug-attempts": _between(0, 20),
    "research-seconds": _between(1, 86_400),
    "limits": _limits,
    "agents": _agents,
    "allow": _allow,
    "assumptions": _assumptions,
    "models": _models,
}
"""By setting, what checks its value (value, file, setting) and gives what `Settings` holds; others stand as they are."""
