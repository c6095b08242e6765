"""What the finds for a question tell: which of its words, of which definition or file, and as which statements. Pure."""

from __future__ import annotations

from typing import Any

from .statements import content, stem

ASSUMPTIONS = 10
_SMALL = frozenset(
    "between within during before after each every another other how when where which while than take takes make makes get gets"
    " give gives let lets want wants need needs use uses using own".split()
)
"""Words of a question of which nothing needs to speak."""


def speaks(name: str, rows: list[dict[str, Any]], question: str) -> bool:
    """Whether a definition's name has a word of the question, or anything but its head is a find."""
    return bool(content(name) & content(question)) or any(
        row["stub"].get("kind") != "definition" for row in rows
    )


def bears(stub: dict[str, Any], known: set[str], question: str) -> bool:
    """Whether a find bears on a hypothesis: it names what that is about, or says two words of the question."""
    said = f"{stub['quote']} {stub.get('subject') or ''}"
    return (
        any(name.rpartition(".")[2] in said for name in known)
        or len(content(question) & content(said)) >= 2
    )


def kept(results: Any) -> list[dict[str, Any]]:
    """The finds that were written as knowledge."""
    return (
        [row for row in results if isinstance(row, dict) and row.get("ok")]
        if isinstance(results, list)
        else []
    )


def about_what(stub: dict[str, Any]) -> tuple[str, str]:
    """What a find tells of: a definition and its file, or the file."""
    subject, home = str(stub.get("subject") or ""), str(stub.get("home") or "")
    path = home.rpartition(":")[0] or str(stub["path"])
    return (subject.split(".")[0] or path.rpartition("/")[2], f"`{path}`")


def statement_of(stub: dict[str, Any]) -> str:
    """What a find says, with its place, as the statement of a hypothesis."""
    subject = str(stub.get("subject") or "")
    name = f"`{subject}`" if subject else str(stub.get("title") or "It")
    return f"{name} (`{stub['source']}`): {' '.join(str(stub['quote']).split())}"


def assumptions_of(
    rows: list[dict[str, Any]], before: list[Any], mark: str
) -> list[dict[str, Any]]:
    """Finds as assumptions, numbered on from those that were there before."""
    start = len(before) + 1
    return [
        {
            "id": f"{mark}{start + number:02d}",
            "statement": statement_of(row["stub"]),
            "evidence": [row["entry"]["filePath"]],
        }
        for number, row in enumerate(rows)
    ]


def words_told(row: dict[str, Any], question: str) -> frozenset[str]:
    """The words of the question that a find tells of: those of its definition where the search says so, else its own."""
    stub = row["stub"]
    known = stub.get("tells")
    own = content(f"{stub['quote']} {stub.get('subject') or ''} {stub.get('title') or ''}")
    return content(question) & (
        own | (frozenset(map(str, known)) if isinstance(known, list) else frozenset())
    )


def counted(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def words_missing(question: str, told: frozenset[str]) -> list[str]:
    """The words of a question, as it has them, that are not told."""
    asked = {
        stem(word.strip(".,;:!?()\"'")): word.strip(".,;:!?()\"'")
        for word in question.replace("`", " ").split()
    }
    wanted = content(question) - told
    return [word for key, word in asked.items() if key in wanted and word.lower() not in _SMALL]


def named(words: list[str]) -> str:
    """Words in quotation marks, as a list in a sentence."""
    quoted = [f"“{word}”" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
