"""Words of statements, and when one statement speaks against another. Pure rules, no model; they err on the careful side."""

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
_CODE = re.compile(
    r"^\s*(?:async|def|class|if|elif|else|for|while|return|yield|import|from|raise|with|try|assert|@)\b.*[:()=.]|->|\w\(.*\)|[;{}]$"
    r"|[^=!<>]=[^=]"
)
_MEASURE = re.compile(r"\b(\d+(?:\.\d+)?)\s*(?:%|([A-Za-z]{2,}))")
_FILE = re.compile(
    r"\.(?:py|pyi|md|rst|txt|js|ts|tsx|go|rs|java|c|h|toml|json|ya?ml|cfg|ini|plan|html|css|sh)$"
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


def is_code(text: str) -> bool:
    """Whether a line looks like code and not like a sentence."""
    return _CODE.search(text) is not None


def against(statement: str, quote: str) -> str:
    """Why a quotation speaks against a statement, or nothing.

    Both must be prose about the same (three fifths of all their words are shared, three at least). Then a negation that only
    one has, a sign that it is out of use, or another number of the same thing count.
    """
    one, other = content(statement), content(quote)
    shared = one & other
    if (
        _CODE.search(statement)
        or _CODE.search(quote)
        or len(shared) < 3
        or 5 * len(shared) < 3 * len(one | other)
    ):
        return ""
    if bool(OBSOLETE.search(quote)) and not OBSOLETE.search(statement):
        return f"it is about the same ({_some(shared)}) and says that it is out of use"
    if len(NEGATION.findall(statement)) % 2 != len(NEGATION.findall(quote)) % 2:
        return f"it is about the same ({_some(shared)}) and only one of the two negates it"
    mine, theirs = _measures(statement), _measures(quote)
    for thing in sorted(mine.keys() & theirs.keys()):
        if mine[thing] != theirs[thing]:
            return f"it says {'/'.join(sorted(theirs[thing]))} {thing}, the statement {'/'.join(sorted(mine[thing]))}"
    return ""


def quoted(statement: str) -> str:
    """What a statement quotes: the part after its place; all of it where it names none."""
    head, mark, said = statement.partition("): ")
    return said if mark and "`" in head else statement


def names(text: str) -> list[str]:
    """The names in backticks that code could define, in order, each once."""
    found = re.findall(r"`([A-Za-z_][\w.]*)(?:\(\))?`", text)
    return list(dict.fromkeys(one for one in found if not _FILE.search(one)))


def _some(words: frozenset[str]) -> str:
    return ", ".join(sorted(words)[:4])


def _measures(text: str) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for number, thing in _MEASURE.findall(text):
        out.setdefault(stem(thing) if thing else "percent", set()).add(number)
    return out
