"""Values: where they stand in what steps brought, what a prompt says of them, and how a plan spells them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

FORMS = {
    "url": r"(?:https?://)?www\.[\w.-]+\w(?:/[\w./-]*\w)?",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "iban": r"\b[A-Z]{2}\d{14,30}\b",
}
"""What a pure function finds in a text."""

_MONTHS = (
    "january february march april may june july august september october november december".split()
)


class Place(NamedTuple):
    """Where a value stands in what the step `number` brought; `alone`: nothing else there could have been taken."""

    number: int
    path: str
    alone: bool


def lone(value: Any) -> Any:
    """The one item of a list that has one; else the value, of a longer list nothing."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 and isinstance(value[0], str) else None
    return value if isinstance(value, str) else None


def names(text: str) -> list[str]:
    """The names that a text lists after its heading, one in a line."""
    return text.partition(": ")[2].strip().split("\n")


def said(value: Any, prompt: str) -> bool:
    """Whether the prompt says a value: as words, as a number, as a day (and a time) that it names."""
    if isinstance(value, list):
        return bool(value) and all(said(one, prompt) for one in value)
    if isinstance(value, dict):
        return False
    text, low = str(value).casefold().strip(), " ".join(prompt.casefold().split())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) in {float(one) for one in re.findall(r"\d+(?:\.\d+)?", low)}
    if re.search(rf"(?<!\w){re.escape(' '.join(text.split()))}(?!\w)", low):
        return True
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d:\d\d))?", text)
    if found is None:
        return False
    year, month, day, time = found.groups()
    named = f"{year}-{month}-{day}" in low or _names(low, _MONTHS[int(month) - 1], int(day))
    open_ = (
        re.search(r"\d:\d\d|\d ?[ap]m\b", low) is None
    )  # the prompt leaves the hour to the planner
    return named and (time is None or open_ or _hour(low, time))


def beginning(name: str, names_: Collection[str], prompt: str) -> str:
    """A name that the prompt says; else the most words, from its first on, that the prompt says. "" where another name of the
    list is, or begins with, the same. A beginning has four letters or more: `the` names nothing."""
    if said(name, prompt) and [one.casefold() for one in names_].count(name.casefold()) == 1:
        return name
    low, parts = " ".join(_parts(prompt)), _parts(name)
    for count in range(len(parts), 0, -1):
        key = " ".join(parts[:count])
        if len(key) > 3 and re.search(rf"(?<!\w){re.escape(key)}(?!\w)", low):
            same = [one for one in names_ if _parts(one)[:count] == parts[:count]]
            return key if len(same) == 1 else ""
    return ""


def _parts(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _names(low: str, month: str, day: int) -> bool:
    ordinal = rf"0?{day}(?:st|nd|rd|th)?"
    return (
        re.search(
            rf"(?:{month}|{month[:3]}) {ordinal}\b|\b{ordinal}(?: of)? (?:{month}|{month[:3]})\b",
            low,
        )
        is not None
    )


def _hour(low: str, time: str) -> bool:
    hour, minute = time.split(":")
    clock = f"{(int(hour) - 1) % 12 + 1}{'' if minute == '00' else ':' + minute}"
    half = "pm" if int(hour) >= 12 else "am"
    return time in low or re.search(rf"\b{clock} ?{half}\b", low) is not None


def counted(value: Any, args: Mapping[str, Any], prompt: str) -> bool:
    """An end that the planner counts itself: the prompt says the beginning, and how many hours it takes."""
    start = args.get("start_time") or args.get("new_start_time")
    if value not in (args.get("end_time"), args.get("new_end_time")) or not said(start, prompt):
        return False
    hours = int(value[11:13]) - int(start[11:13])
    words = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
    said_hours = rf"\b(?:{hours}|{words.get(hours, hours)})[ -]hours?\b"
    return (
        value[:10] == start[:10]
        and value[14:] == start[14:]
        and re.search(said_hours, prompt.casefold()) is not None
    )


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(_parts(text))


def find(value: Any, results: Collection[Any]) -> Place | None:
    """Where a value stands, as it is, in what was brought: the latest place where it is alone, else the latest."""
    places = [
        Place(number, path, alone)
        for number, one in enumerate(results, 1)
        for path, alone in _walk(one, value, "", True)
    ]
    alone = [place for place in places if place.alone]
    return (alone or places or [None])[-1]


def extracted(value: Any, results: Collection[Any], used: Collection[str] = ()) -> Place | None:
    """Where a text of one of FORMS stands; `path` is the rest of an `extract`. Where the plan uses each text of this form
    that stands there, nothing was chosen."""
    (text,) = value if isinstance(value, list) and len(value) == 1 else (value,)
    form = next(
        (
            name
            for name, pattern in FORMS.items()
            if isinstance(text, str) and re.fullmatch(pattern, text)
        ),
        None,
    )
    for number, one in enumerate(results, 1) if form else ():
        parts = re.findall(
            FORMS[form], one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        )
        if text in parts:
            return Place(
                number,
                f"form={form} place={parts.index(text)}",
                len(parts) == 1 or set(parts) <= set(used),
            )
    return None


def _walk(here: Any, value: Any, path: str, alone: bool) -> Iterator[tuple[str, bool]]:
    if is_same(here, value):
        yield path, alone
    elif isinstance(here, list):
        for number, one in enumerate(here):
            yield from _walk(one, value, f"{path}/{number}", alone and len(here) == 1)
    elif isinstance(here, dict):
        record = all(re.fullmatch(r"[a-z_]+", key) for key in here)
        for key, one in here.items():
            yield from _walk(one, value, f"{path}/{key}", alone and (record or len(here) == 1))


def is_same(here: Any, value: Any) -> bool:
    if isinstance(here, bool) or isinstance(value, (bool, dict)) or here in (None, "", []):
        return False
    if isinstance(here, list) and isinstance(value, list):
        return sorted(map(str, here)) == sorted(map(str, value))
    if isinstance(value, list) and len(value) == 1:
        return bool(here == value[0])
    return type(here) is type(value) and bool(here == value)


def within(value: Any, results: Collection[Any]) -> bool:
    """Whether an argument, or an item of it, stands anywhere in what was brought."""
    items = value if isinstance(value, list) else [value]
    text = json.dumps(list(results), ensure_ascii=False)
    return any(len(str(item)) > 2 and str(item) in text for item in items)


def plain(value: Any) -> str:
    """A value as the text that a tool takes: the items of a list in lines of their own."""
    if isinstance(value, list):
        return "\n".join(json.dumps(one) if isinstance(one, dict) else str(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(text: str) -> str:
    """A text as a word of a plan."""
    for one, other in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", " ")):
        text = text.replace(one, other)
    return '"' + re.sub(r"\{([A-Za-z_][\w.]*)\}", r"{{\1}}", text) + '"'
