"""Keeps secrets out of what a run writes down, shows, asks models and sends out (design 6: never journaled).

Secrets are the values of variables of fdc's own environment that are named like secrets and the passwords in those that are
addresses (`linking.project.secret_files.variable`), what the workspace's files of secrets hold (`values.py`), and what
has one of a few well-known forms (`FORMS`). A value counts as it is, and as base64 (also of URLs, at each of its three
alignments), hex, percent-encoding (of forms, too) and JSON write it, line breaks in it or not.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping

from ...engine.ports import WorldFailed
from ...linking.project.secret_files import variable

LEAST = 8
"""Characters of a value that is searched for: a shorter one would be found in innocent text."""

_FORMS = {
    "sk-": r"[A-Za-z0-9_-]{32,}",
    **dict.fromkeys(("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), r"[A-Za-z0-9]{36,}"),
    "github_pat_": r"[A-Za-z0-9_]{22,}",
    "glpat-": r"[A-Za-z0-9_-]{20,}",
    **dict.fromkeys(("AKIA", "ASIA"), r"[0-9A-Z]{16}\b"),
    "xox": r"[abeprs]-[A-Za-z0-9-]{20,}",
    "AIza": r"[0-9A-Za-z_-]{35}",
    **dict.fromkeys(("sk_live_", "rk_live_"), r"[0-9A-Za-z]{20,}"),
    "npm_": r"[A-Za-z0-9]{36}\b",
    "pypi-AgEI": r"[A-Za-z0-9_-]{50,}",
}
FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # the beginning is plain text, which is found quickly; then that no letter or digit stands before it; then the rest
    *(
        (start, re.compile(f"{start}(?<![A-Za-z0-9]{start}){rest}"))
        for start, rest in _FORMS.items()
    ),
    (
        "-----BEGIN ",
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
    ),
)
"""What looks like a secret, independent of its owner: how it begins, and its form."""

_PERCENT = re.compile("%[0-9A-Fa-f]{2}")


class Scrubber:
    """Replaces secrets by `[secret NAME]` in texts, wherever they stand in a JSON value.

    `more`: called once, when the first text is looked at; it returns further values with their names.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        more: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        found = os.environ if environment is None else environment
        self._names = {
            value: name
            for name, value in found.items()
            if variable(name) == "value" and len(value) >= LEAST and not os.path.isabs(value)
        }
        for name, value in found.items():
            if "@" in value and variable(name) == "part":
                self._names.update(dict.fromkeys(_passwords(value), name))
        self._more = more
        self._written: list[tuple[str, str, str]] | None = None

    def value(self, value: object) -> object:
        """The value, itself where there is nothing to replace."""
        if isinstance(value, (list, dict)) and not self._suspect("\0".join(_texts(value))):
            return value
        return self._replaced(value)

    def _suspect(self, texts: str) -> bool:
        """Whether one of several texts, with a character between them that no secret has, may have a secret: they are searched
        once for each way to write one, and not once for each way and text."""
        if self._written is None:
            self._written = self._ready()
        seen = _Seen(texts, self._written) if self._written else None
        return (
            any(start in texts and form.search(texts) for start, form in FORMS)
            or seen is not None
            and any(seen.has(kind, one) for kind, one, _ in self._written)
        )

    def _replaced(self, value: object) -> object:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            made = [self._replaced(one) for one in value]
            return value if all(one is two for one, two in zip(made, value, strict=True)) else made
        if isinstance(value, dict):
            rows = {self.text(key): self._replaced(one) for key, one in value.items()}
            same = all(
                one is two
                for one, two in zip(
                    (*rows, *rows.values()), (*value, *value.values()), strict=False
                )
            )
            return value if same and len(rows) == len(value) else rows
        return value

    def text(self, text: str) -> str:
        """The text without secrets."""
        if len(text) < LEAST:
            return text
        if self._written is None:
            self._written = self._ready()
        if self._written:
            text = self._known(text, self._written)
        for start, form in FORMS:
            if start in text:
                text = form.sub("[secret]", text)
        return text

    def _ready(self) -> list[tuple[str, str, str]]:
        """How each value may be written: kind, text, name; the longest first."""
        if self._more is not None:
            self._names = {**self._more(), **self._names}
        rows = [
            (kind, text, name) for value, name in self._names.items() for kind, text in _ways(value)
        ]
        return sorted(rows, key=lambda row: -len(row[1]))

    def _known(self, text: str, written: list[tuple[str, str, str]]) -> str:
        seen = _Seen(text, written)
        for kind, one, name in written:
            mark = f"[secret {name}]"
            if kind in ("plain", "text") and one in text:
                text = text.replace(one, mark)
            if kind == "plain" and seen.quoted(one):
                text = _put(mark, "".join(f"(?:{re.escape(c)}|{_percent(c)})" for c in one), text)
            elif kind == "hex" and one in seen.digits:
                text = _put(mark, "(?i:" + r"[\s:]*".join(one) + ")", text)
            elif kind == "base64" and one in seen.whole:
                text = _put(mark, r"[\r\n]*".join(map(re.escape, one)), text)
        return text


class _Seen:
    """A text as the ways to write a secret see it: without line breaks, as digits, without percent-encoding."""

    def __init__(self, text: str, written: list[tuple[str, str, str]]) -> None:
        self.text = text
        self.whole = _joined(text, "\r\n")
        self.digits = _joined(self.whole, "\t :").lower()
        self.plain = _unquoted(text) if "%" in text else ""
        self.form = ""
        if "+" in text and any(" " in one for _, one, _ in written):
            spaced = text.replace("+", " ")
            self.form = _unquoted(spaced) or spaced

    def quoted(self, one: str) -> bool:
        """Whether a value stands there in percent-encoding."""
        return one in self.plain or " " in one and one in self.form

    def has(self, kind: str, one: str) -> bool:
        """Whether a value stands there, written in a way."""
        if kind == "plain":
            return one in self.text or self.quoted(one)
        return one in {"hex": self.digits, "text": self.text, "base64": self.whole}[kind]


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _texts(one)


def without(scrub: Scrubber, failed: WorldFailed) -> WorldFailed:
    """A failure of the world, of the same kind, with no secret in what it says."""
    said = scrub.text(str(failed))
    if said != str(failed):
        failed.args = (said, *failed.args[1:])
    return failed


def _passwords(address: str) -> list[str]:
    """The password in an address, as it is written and as it is meant; none where it holds none."""
    from urllib.parse import unquote, urlsplit

    try:
        written = urlsplit(address).password or ""
    except ValueError:
        return []
    return [one for one in (written, unquote(written)) if len(one) >= LEAST]


def _ways(value: str) -> Iterator[tuple[str, str]]:
    """The ways in which a value may be written, each with its kind."""
    import json

    yield "plain", value
    for quoted in {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]} - {value}:
        yield "text", quoted
    data = value.encode("utf-8", "replace")
    yield "hex", data.hex()
    seen = set()
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            made = encode(b"\0" * before + data).decode("ascii")
            # the characters that no byte before or after has a part in
            text = made[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
            if text not in seen and len(text) >= LEAST:
                seen.add(text)
                yield "base64", text


def _put(mark: str, pattern: str, text: str) -> str:
    """The text with a mark wherever the pattern matches."""
    return re.sub(pattern, mark.replace("\\", r"\\"), text)


def _joined(text: str, between: str) -> str:
    """The text without some characters."""
    for character in between:
        if character in text:
            text = text.replace(character, "")
    return text


def _percent(character: str) -> str:
    """How percent-encoding writes a character; forms write a space as a plus sign."""
    if character == " ":
        return r"%20|\+"
    return "".join(f"%(?i:{byte:02x})" for byte in character.encode("utf-8", "replace"))


def _unquoted(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text, errors="replace") if _PERCENT.search(text) else ""
