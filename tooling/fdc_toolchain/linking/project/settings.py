"""Settings: `fdc.toml`, or `[tool.fdc]` in pyproject.toml. An unknown key is an error, never ignored."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ...diagnostics.source import Limits
from . import regular_file


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
    files and folders that a plan reads only where it names them (`linking.project.secret_files`).
    """

    fsm: str = "tooling/fdc_fsm.json"
    profile: str = "default"
    catalogues: tuple[str, ...] = ("fdc_tools.json",)
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


FILES = ("fdc.toml", "pyproject.toml")


def read_settings(root: str) -> Settings:
    """The settings of the workspace at `root`. Raises SettingsError for a file that is wrong."""
    for name in FILES:
        try:
            data = regular_file.read(os.path.join(root, name))
        except FileNotFoundError:
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

    try:
        table: Any = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        if name == "pyproject.toml" and b"tool.fdc" not in data:
            return None  # somebody else's to repair
        raise SettingsError(f"{name}: {wrong}") from wrong
    except RecursionError as wrong:
        raise SettingsError(f"{name}: nested too deeply") from wrong
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


def _settings(table: Any, where: str) -> Settings:
    from ...diagnostics.codes import CODES, silenced_by_text
    from ...text.suggest import did_you_mean

    known: dict[str, Any] = {
        "fsm": str, "profile": str, "catalogues": list, "protocols": str, "exclude": list, "ignore": list,
        "per-file-ignores": dict, "strict": bool, "max-stack": int, "limits": dict,
        "agents": dict,
        "test-command": str, "test-seconds": int, "debug-attempts": int, "research-seconds": int,
        "models": dict, "untrusted": list, "protect": list, "secret": list, "allow": list, "assumptions": (str, list),
    }  # fmt: skip
    if not isinstance(table, dict):
        raise SettingsError(f"{where}: expected a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        key = "test-command" if key == "test_command" else key
        if key not in known:
            hint = did_you_mean(key, known)
            raise SettingsError(f"{where}: unknown key `{key}`" + (f"; {hint}" if hint else ""))
        kinds: tuple[type, ...] = known[key] if isinstance(known[key], tuple) else (known[key],)
        if type(value) not in kinds:
            raise SettingsError(
                f"{where}: `{key}` takes {' or '.join(_KINDS[kind] for kind in kinds)}, found {_shown(value)}"
            )
        values[key.replace("-", "_")] = value

    def codes(items: Any, key: str) -> tuple[str, ...]:
        for item in items:
            if not isinstance(item, str):
                raise SettingsError(
                    f"{where}: `{key}` takes a list of codes, found {_shown(item)} in it"
                )
            if item not in CODES:
                raise SettingsError(f"{where}: `{key}` names `{item}`, which is no code")
            if not silenced_by_text(item):
                what = "an assumption" if CODES[item].severity == "assumption" else "an error"
                raise SettingsError(f"{where}: `{key}` names {item}, {what}; {_instead(item)}")
        return tuple(items)

    if values.get("profile", "default") not in ("default", "fdc"):
        raise SettingsError(
            f"{where}: `profile` is `default` or `fdc`, found `{values['profile']}`"
        )
    for key in ("catalogues", "exclude", "untrusted", "protect", "secret"):
        if key in values:
            if not all(isinstance(item, str) for item in values[key]):
                raise SettingsError(f"{where}: `{key}` takes a list of texts")
            values[key] = tuple(values[key])
    if "catalogues" in values:
        values["stated_catalogues"] = True
    if "ignore" in values:
        values["ignore"] = codes(values["ignore"], "ignore")
    if "per_file_ignores" in values:
        for glob, items in values["per_file_ignores"].items():
            if not isinstance(items, list):
                message = (
                    f"`per-file-ignores` takes lists of codes, found {_shown(items)} for `{glob}`"
                )
                raise SettingsError(f"{where}: {message}")
        values["per_file_ignores"] = tuple(
            (glob, codes(items, "per-file-ignores"))
            for glob, items in sorted(values["per_file_ignores"].items())
        )
    if "max_stack" in values and not 1 <= values["max_stack"] <= 10:
        raise SettingsError(f"{where}: `max-stack` is 1 to 10, found {values['max_stack']}")
    for key, least, most in (
        ("test_seconds", 1, 86_400),
        ("debug_attempts", 0, 20),
        ("research_seconds", 1, 86_400),
    ):
        if key in values and not least <= values[key] <= most:
            message = f"`{key.replace('_', '-')}` is {least} to {most}, found {values[key]}"
            raise SettingsError(f"{where}: {message}")
    if "limits" in values:
        limits = values["limits"]
        names = {name.replace("_", "-"): name for name in Limits._fields}
        for key, value in limits.items():
            if key not in names:
                hint = did_you_mean(key, names)
                raise SettingsError(
                    f"{where}: unknown limit `{key}`" + (f"; {hint}" if hint else "")
                )
            if type(value) is not int or value < 1:
                raise SettingsError(
                    f"{where}: limit `{key}` takes a whole number of 1 or more, found {_shown(value)}"
                )
        if limits.get("nesting", 0) > 200:
            raise SettingsError(f"{where}: limit `nesting` is at most 200")
        values["limits"] = Limits(**{names[key]: value for key, value in limits.items()})
    if "agents" in values:
        values["agents"] = _agents(values["agents"], where)
    if "allow" in values:
        values["allow"] = tuple(_allow(row, where) for row in values["allow"])
    if "assumptions" in values:
        values["assumptions"] = _assumptions(values["assumptions"], where)
    if "models" in values:
        values["models"] = _models(values["models"], where)
    return Settings(**values)


def _instead(code: str) -> str:
    """What to do in place of an `ignore` that names an error."""
    from ...diagnostics.codes import CODES, SAFETY

    if CODES[code].severity == "assumption":
        return "it is no finding and needs none: take it out; `fdc lint --assumptions` lists what a proof rests on"
    if code in SAFETY:
        return "a table `[[allow]]` with `code`, `files` and `reason` can allow it, once `fdc trust` confirmed that"
    return "only warnings can be ignored: take it out, and mend the plans, or leave them out with `exclude`"


def _allow(row: Any, where: str) -> Allowed:
    from ...diagnostics.codes import SAFETY

    wanted = ", ".join(f"`{name}`" for name in Allowed._fields)
    if not isinstance(row, dict) or set(row) != set(Allowed._fields):
        raise SettingsError(f"{where}: each `[[allow]]` has {wanted}, found {_shown(row)}")
    if not all(isinstance(value, str) and value.strip() for value in row.values()):
        raise SettingsError(
            f"{where}: {wanted} of `[[allow]]` take a text each, found {_shown(row)}"
        )
    if row["code"] not in SAFETY:
        raise SettingsError(
            f"{where}: `[[allow]]` takes {', '.join(sorted(SAFETY))}; nobody can allow `{row['code']}`"
        )
    return Allowed(**row)


def _assumptions(value: Any, where: str) -> tuple[str, ...]:
    from ...diagnostics.codes import CODES

    known = sorted(row.name for row in CODES.values() if row.severity == "assumption")
    if value == "deny":
        return ("deny",)
    if isinstance(value, list) and all(item in known for item in value):
        return tuple(value)
    raise SettingsError(
        f"{where}: `assumptions` takes `deny` or a list of {', '.join(known)}, found {_shown(value)}"
    )


def _models(table: dict[str, Any], where: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    from ...text.suggest import did_you_mean

    known = {"model": str, "max-tokens": int, "effort": str, "seconds": int, "repairs": int}
    rows = []
    for role, row in sorted(table.items()):
        row = {"model": row} if isinstance(row, str) else row
        if not isinstance(row, dict):
            raise SettingsError(
                f"{where}: `models.{role}` takes a model's name or a table, found {_shown(row)}"
            )
        for key, value in row.items():
            if key not in known:
                hint = did_you_mean(key, known)
                raise SettingsError(
                    f"{where}: unknown key `{key}` in `models.{role}`"
                    + (f"; {hint}" if hint else "")
                )
            if type(value) is not known[key] or (
                isinstance(value, int) and not 0 <= value <= 1_000_000
            ):
                raise SettingsError(
                    f"{where}: `models.{role}.{key}` takes {_KINDS[known[key]]}, found {_shown(value)}"
                )
        rows.append((role, {key.replace("-", "_"): value for key, value in row.items()}))
    return tuple(rows)


def _agents(table: dict[str, Any], where: str) -> AgentFiles:
    from ...text.suggest import did_you_mean

    known: dict[str, type] = {
        "output": str,
        "profile": str,
        "split": bool,
        "targets": list,
        "max-bytes": int,
    }
    for key, value in table.items():
        if key not in known:
            hint = did_you_mean(key, known)
            raise SettingsError(
                f"{where}: unknown key `{key}` in `agents`" + (f"; {hint}" if hint else "")
            )
        if type(value) is not known[key] or (
            type(value) is list and not all(isinstance(item, str) for item in value)
        ):
            kind = "a list of texts" if key == "targets" else _KINDS[known[key]]
            raise SettingsError(f"{where}: `agents.{key}` takes {kind}, found {_shown(value)}")
    values: dict[str, Any] = {key.replace("-", "_"): value for key, value in table.items()}
    if "targets" in values:
        values["targets"] = tuple(values["targets"])
    if values.get("max_bytes", 1) < 1:
        raise SettingsError(
            f"{where}: `agents.max-bytes` is 1 or more, found {values['max_bytes']}"
        )
    return AgentFiles(**values)
