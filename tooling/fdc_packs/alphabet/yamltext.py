"""The YAML of an alphabet's files. A long list of rows stands one row a line, in JSON, which is YAML too and is read fast.

    text = dump({"alphabet_state": {"version": "0.1.0", "primitives": [...]}}, rows=True)
    parse(text)

Times stay texts, and `yes`, `no`, `on` and `off` are words: a label may be any of them.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_OPEN = re.compile(r"  [a-z_]+:\n  - [{\[]", re.MULTILINE)
_ROWS = re.compile(r"^  (?P<key>[a-z_]+):\n(?P<rows>(?:  - [{\[].*\n)+)", re.MULTILINE)
MAX_TEXT = 1 << 20
"""Characters of a text from outside that are read."""

MAX_VALUES = 1 << 20
"""Values of a text with aliases, each as often as it is meant."""


class NotYaml(ValueError):
    """The text is not valid YAML that we read; the sentence says why."""


def dump(value: object, *, rows: bool = False) -> str:
    """A value as a YAML text. With `rows`, the lists two levels down stand one row a line."""
    import yaml

    lists: dict[str, list[Any]] = {}
    if rows and isinstance(value, dict):
        value = {
            top: dict(inner) if isinstance(inner, dict) else inner for top, inner in value.items()
        }
        for inner in value.values():
            for key, found in inner.items() if isinstance(inner, dict) else ():
                if isinstance(found, list) and found:
                    lists[key] = found
                    inner[key] = []
    text: str = yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=110)
    for key, found in lists.items():
        lines = "".join(f"  - {_line(row)}\n" for row in found)
        text = text.replace(f"  {key}: []\n", f"  {key}:\n{lines}", 1)
    return text


def _line(row: Any) -> str:
    text = json.dumps(row, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse(text: str) -> object:
    """The value of a YAML text of ours. Raises NotYaml."""
    if not _OPEN.search(text):
        return _load(text)
    lists: dict[str, Any] = {}

    def taken(found: re.Match[str]) -> str:
        lines = found["rows"].rstrip("\n").split("\n")
        lists[found["key"]] = json.loads(f"[{','.join(line[4:] for line in lines)}]")
        return f"  {found['key']}: []\n"

    try:
        rest = _load(_ROWS.sub(taken, text))
    except ValueError:  # somebody has written in it
        return _load(text)
    if isinstance(rest, dict):
        for inner in rest.values():
            for key in lists.keys() & inner.keys() if isinstance(inner, dict) else ():
                inner[key] = lists[key]
    return rest


def parse_foreign(text: str) -> object:
    """The first YAML value of a text that somebody else wrote. Raises NotYaml, for aliases and what is too long too."""
    _plain(text, first=True)
    return _load(text)


def documents_of(text: str) -> list[object]:
    """Every YAML value of such a text: a file may have several, with `---` between them. Raises NotYaml."""
    _plain(text, first=False)
    return list(_values(text))


def _plain(text: str, *, first: bool) -> None:
    """Raises NotYaml for a text that is not read, as far as its `first` value goes or as a whole."""
    import yaml

    if len(text) > MAX_TEXT:
        raise NotYaml(f"it has more than {MAX_TEXT} characters")
    try:
        depth = 0
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.events.AliasEvent):
                raise NotYaml("it has an alias")
            depth += isinstance(event, yaml.events.CollectionStartEvent) - isinstance(
                event, yaml.events.CollectionEndEvent
            )
            if depth > 40:
                raise NotYaml("it is nested too deeply")
            if first and isinstance(event, yaml.events.DocumentEndEvent):
                break
    except yaml.YAMLError as wrong:
        raise NotYaml(_said(wrong)) from None


def _load(text: str) -> Any:
    return next(_values(text), None)


def _values(text: str) -> Iterator[Any]:
    import yaml

    try:
        if "*" in text:
            _bounded(text)
        yield from yaml.load_all(text, Loader=_loader())
    except yaml.YAMLError as wrong:
        raise NotYaml(_said(wrong)) from None
    except (ValueError, RecursionError) as wrong:
        raise NotYaml(str(wrong)[:200]) from None


def _bounded(text: str) -> None:
    """Raises NotYaml where a text's aliases stand for more values than anybody reads: a few lines can mean billions."""
    import yaml

    sizes: dict[str, int] = {}
    total = 0
    above: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.events.CollectionStartEvent):
            above.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            anchor, before = above.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.events.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.events.AliasEvent):
            if event.anchor not in sizes:
                raise NotYaml("an alias is part of what it stands for")
            total += sizes[event.anchor]
            if total > MAX_VALUES:
                raise NotYaml(f"its aliases stand for more than {MAX_VALUES} values")


def _said(wrong: Exception) -> str:
    mark = getattr(wrong, "problem_mark", None)
    what = " ".join(str(getattr(wrong, "problem", None) or wrong).split())[:200]
    return f"line {mark.line + 1}: {what}" if mark is not None else what


@functools.cache
def _loader() -> Any:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """YAML 1.2's words: `true`, `false`, `null`, numbers; everything else is a text."""

    dropped = (
        "tag:yaml.org,2002:timestamp",
        "tag:yaml.org,2002:bool",
        "tag:yaml.org,2002:merge",
        "tag:yaml.org,2002:value",
    )
    kept = {
        first: [row for row in rows if row[0] not in dropped]
        for first, rows in Loader.yaml_implicit_resolvers.items()
    }
    Loader.yaml_implicit_resolvers = kept
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool",
        re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
        list("tTfF"),
    )
    return Loader


@functools.cache
def _dumper() -> Any:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Never an alias: each value stands where it is read."""

        def ignore_aliases(self, data: Any) -> bool:
            """True of everything."""
            return True

    return Dumper
