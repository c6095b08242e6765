"""What the language and the runtime of workflow scripts bring, as far as it is followed."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


STARTERS = frozenset(("agent", "parallel", "pipeline", "workflow"))
"""The runtime's names that start agents, or call what does."""
READS = words(
    "at concat entries every filter find findIndex findLast findLastIndex flat flatMap forEach get has includes indexOf "
    "join keys lastIndexOf length map reduce reduceRight reverse size slice some sort toReversed toSorted toString values"
)
"""Members of lists, sets and maps that make none of them longer."""
CALLING = words(
    "every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight reverse some sort toSorted"
)
"""Of these, those that call what they are given, or return the list itself."""
HARMLESS = words(
    "Array BigInt Boolean Error JSON Map Math Number Object Promise RangeError Set String TypeError agent console "
    "decodeURIComponent encodeURIComponent isFinite isNaN log parallel parseFloat parseInt phase pipeline structuredClone "
    "workflow"
)
"""What is given to these is only read (of `Object`, by some of its functions)."""
OBJECT_READS = frozenset(("entries", "freeze", "fromEntries", "keys", "values"))
HIDING = words(
    "AsyncFunction Function Proxy Reflect arguments eval global globalThis require self window"
)
"""Names with which a script can do what cannot be followed."""
VALUES = words(
    "Date Infinity Intl NaN RegExp Symbol URL WeakMap WeakSet args budget clearTimeout setTimeout undefined"
)
METHODS = words(
    "concat entries every filter find findIndex findLast findLastIndex flat flatMap forEach keys length map push reduce "
    "reduceRight reverse size slice some sort toReversed toSorted values then catch finally at pop shift"
)
"""Methods that are followed as those of lists and promises."""
GROWS = words("push unshift splice add set append concat length")
"""Members by which a list, a set or a map may become longer."""
SESSION = "the session's model"
CHOSEN = "a model chosen at run time"
