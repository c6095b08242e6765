"""Whether everything of an alphabet fits together: names, forms, counts, logs, derived files (ALPH-38, 41 to 43, 72, 90, 91)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fdc_toolchain.api.text import narrow

from .. import layout, schemas
from ..calculus.consistency import violations
from ..calculus.inputs import input_faults
from ..config import ConfigError
from ..markers import unknown
from ..state import Base, StateError, read
from ..state_files import relation_files
from ..yamltext import NotYaml, parse
from . import archive
from .closing import entry_path


def audit(
    files: Mapping[str, str], paths: Iterable[str]
) -> tuple[Base | None, list[tuple[str, str]]]:
    """The alphabet, where it can be read, and every finding. `files`: all YAML files' texts; `paths`: all paths there are."""
    paths = set(paths)
    found = [("error", sentence) for sentence in layout.misnamed(paths)]
    try:
        base = read(files)
    except (StateError, ConfigError) as wrong:
        sentences = [str(wrong), *_forms(files, without=str(wrong).partition(":")[0])]
        return None, [*found, *(("error", one) for one in sentences)]
    found += [("violation", f"{one.rule}: {one.why}") for one in violations(base.alphabet)]
    found += [
        ("error", sentence)
        for sentence in [
            *_entries(base, files),
            *_derived(base, files),
            *_logs(files),
            *_forms(files),
        ]
    ]
    found += [("error", sentence) for sentence in input_faults(base)]
    found += [("warning", sentence) for sentence in _marks(files)]
    missing = [
        folder
        for folder in layout.FOLDERS
        if not any(one.startswith(f"{folder}/") for one in paths)
    ]
    found += [("error", f"{folder}/ does not exist") for folder in missing]
    return base, found


def _entries(base: Base, files: Mapping[str, str]) -> Iterable[str]:
    """T-50: the detailed file of every primitive is there, and says of it what the index says."""
    expected = {entry_path(one): one for one in base.alphabet.primitives.values()}
    for path in sorted(files):
        if (
            path.startswith(f"{layout.DETAILED}/")
            and path.endswith(".yaml")
            and path not in expected
        ):
            yield f"{path} belongs to no primitive of the index"
    for path, one in expected.items():
        if path not in files:
            yield f"{path} does not exist"
            continue
        try:
            body = narrow(parse(files[path]), dict)["primitive"]
            said = (body["id"], body["label"], body["prime"], body["domain"])
        except (NotYaml, KeyError, TypeError):
            yield f"{path} cannot be read"
            continue
        if said != (one.id, one.label, one.prime, one.domain):
            yield f"{path} says {said!r}, the index {(one.id, one.label, one.prime, one.domain)!r}"


def _derived(base: Base, files: Mapping[str, str]) -> Iterable[str]:
    """ALPH-43: contrasts, presuppositions and affinities follow from the graph."""
    wanted = relation_files(base.alphabet, "")
    for path in (layout.CONTRASTS, layout.PRESUPPOSITIONS, layout.AFFINITIES):
        if path not in files:
            yield f"{path} does not exist"
            continue
        mine, theirs = (_rows(text) for text in (wanted[path], files[path]))
        if mine != theirs:
            yield f"{path} is not what follows from {layout.GRAPH}"


def _rows(text: str) -> Any:
    try:
        value = parse(text)
    except NotYaml:
        return None
    inner: Any = next(iter(value.values()), {}) if isinstance(value, dict) else {}
    return (
        [rows for key, rows in inner.items() if key != "last_updated"]
        if isinstance(inner, dict)
        else None
    )


def _logs(files: Mapping[str, str]) -> Iterable[str]:
    """ALPH-90, 41: what summaries count is what the logs hold."""
    for path in sorted(files):
        if not path.startswith(f"{layout.LOGS}/") or not path.endswith("/summary.yaml"):
            continue
        folder = path.rsplit("/", 1)[0]
        try:
            parts = [
                narrow(parse(files[f"{folder}/{name}.yaml"]), dict)[key] for name, key in _PARTS
            ]
        except (NotYaml, KeyError, TypeError):
            yield f"{folder} has no logs that can be read"
            continue
        for sentence in archive.recount(*parts):
            yield f"{path}: {sentence}"


_PARTS = (("summary", "summary"), ("proposer", "proposer_log"), ("critic", "critic_log"))


def _forms(files: Mapping[str, str], without: str = "") -> Iterable[str]:
    """ALPH-91: keys, ids, times and enumerations of every file that fdc writes."""
    for path in sorted(files):
        if path != without:
            yield from schemas.unfit(path, files[path])


def _marks(files: Mapping[str, str]) -> Iterable[str]:
    """ALPH-89."""
    for path in sorted(files):
        if "/raw/" in path:
            for category in unknown(files[path]):
                yield f"{path}: `{category[:40]}` is not a category of blog markers"
