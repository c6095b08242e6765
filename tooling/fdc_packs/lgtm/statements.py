"""Words and names of statements. Pure."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z][A-Za-z]{2,}")
_STOP = frozenset(
    "the and for that with this from are was were has have had which what when where who how why can could should would may "
    "might must will shall its their there then than them they you your our out any all each every one two into onto over "
    "under does did done also only such more most some other same both but because while after before about".split()
)
NEGATION = re.compile(
    r"\b(?:not?|never|cannot|can't|doesn't|don't|isn't|won't|without|nothing|neither|nor|fails? to|refuses?)\b",
    re.IGNORECASE,
)
OBSOLETE = re.compile(
    r"\b(?:deprecated|obsolete|removed in|superseded|no longer|unsupported|not implemented|unmaintained)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\.(?:py|pyi|md|rst|txt|js|ts|tsx|go|rs|java|c|h|toml|json|ya?ml|cfg|ini|plan|html|css|sh)$"
)

_NAME = re.compile(
    r"(?<![\w/.`])((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?=[\s,;:()`'\"]|\.?$|\.\s)|_?[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|"
    r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)

_IRREGULAR = dict(
    pair.split(":") for pair in (
        "broken:break broke:break written:write wrote:write left:leave kept:keep sent:send found:find lost:lose held:hold "
        "built:build made:make taken:take took:take given:give gave:give chosen:choose chose:choose said:say told:tell "
        "thrown:throw threw:throw known:know knew:know begun:begin began:begin hidden:hide shown:show bound:bind caught:catch "
        "paid:pay bought:buy sold:sell drawn:draw drew:draw grown:grow grew:grow forgotten:forget got:get fallen:fall fell:fall"
    ).split()
)  # fmt: skip


def content(text: str) -> frozenset[str]:
    """The words that tell something, without their endings."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ")
    return frozenset(stem(word) for word in _WORD.findall(parts) if word.lower() not in _STOP)


def stem(word: str) -> str:
    """A word without its usual English endings; a common irregular form is that of its verb."""
    low = _IRREGULAR.get(word.lower(), word.lower())
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s"):
        if (
            low.endswith(ending)
            and len(low) - len(ending) >= 3
            and not (ending == "s" and low.endswith("ss"))
        ):
            base = low[: -len(ending)]
            if ending in ("ings", "ing", "ed") and base[-1] == base[-2] and base[-1] in "bgmnprt":
                return base[:-1]
            return base + ("y" if ending in ("ies", "ied") else "")
    return low.removesuffix("e") if len(low) > 4 else low


def names(text: str) -> list[str]:
    """The names in backticks that code could define, in order, each once."""
    found = re.findall(r"`([A-Za-z_][\w.]*)(?:\(\))?`", text)
    return list(dict.fromkeys(one for one in found if not _FILE.search(one)))


def identifiers(text: str) -> list[str]:
    """The names in a text that code could define, in backticks or by their form (`a_b`, `aB`, `a.b`, `a()`), each once."""
    plain = [
        one for one in _NAME.findall(re.sub(r"[\w./-]+:\d+", " ", text)) if not _FILE.search(one)
    ]
    return list(dict.fromkeys([*names(text), *plain]))
