"""Linear temporal logic on finite traces by its definition: slow, short, and nothing of the product in it.

A word is a tuple of letters, a letter a set of the atoms `a`, `b`, `c` that hold at that step. There is no
empty trace in this logic: what a template says of it is in `EMPTY`.
"""

from __future__ import annotations

import functools
import re

Letter = frozenset[str]
Word = tuple[Letter, ...]

_UNTIL = "(((!b) U a) | G(!b))"

FORMULAS = {
    "init": "a",
    "last": "F(a & !(X(true)))",
    "choice": "F(a) | F(b)",
    "exclusive_choice": "(F(a) | F(b)) & !(F(a) & F(b))",
    "responded_existence": "F(a) -> F(b)",
    "coexistence": "(F(a) -> F(b)) & (F(b) -> F(a))",
    "response": "G(a -> F(b))",
    "precedence": _UNTIL,
    "succession": f"G(a -> F(b)) & {_UNTIL}",
    "alternate_response": "G(a -> X((!a) U b))",
    "alternate_precedence": f"{_UNTIL} & G(b -> (!(X(true)) | X{_UNTIL}))",
    "alternate_succession": f"G(a -> X((!a) U b)) & {_UNTIL} & G(b -> (!(X(true)) | X{_UNTIL}))",
    "chain_response": "G(a -> X(b))",
    "chain_precedence": "(!b) & G((!(X(true))) | (X(b) -> a))",
    "chain_succession": "G(a -> X(b)) & (!b) & G((!(X(true))) | (X(b) -> a))",
    "not_coexistence": "!(F(a) & F(b))",
    "not_succession": "G(a -> !(F(b)))",
    "not_chain_succession": "G(a -> !(X(b)))",
}
"""The templates as the literature has them."""

EMPTY = {
    "init": False, "last": False, "choice": False, "exclusive_choice": False, "existence": False, "exactly": False,
}  # fmt: skip
"""Templates that the empty run does not keep; it keeps all others."""

REGEXES = {
    "existence": "[bo]*a[abo]*",
    "absence": "[bo]*",
    "exactly": "[bo]*a[bo]*",
    "init": "a[abo]*",
    "last": "[abo]*a",
    "choice": "o*[ab][abo]*",
    "exclusive_choice": "o*(a[ao]*|b[bo]*)",
    "responded_existence": "[bo]*|[bo]*a[ao]*b[abo]*|[bo]*b[abo]*",
    "coexistence": "o*|[ao]*a[ao]*b[abo]*|[bo]*b[bo]*a[abo]*",
    "response": "[bo]*(a[ao]*b[bo]*)*",
    "precedence": "[ao]*|o*a[abo]*",
    "succession": "o*(a[ao]*b[bo]*)*",
    "alternate_response": "[bo]*(a[o]*b[bo]*)*",
    "alternate_precedence": "[ao]*([ao]*a[ao]*b[ao]*)*",
    "alternate_succession": "o*(ao*bo*)*",
    "chain_response": "[bo]*(ab[bo]*)*",
    "chain_precedence": "[ao]*([ao]*ab[ao]*)*",
    "chain_succession": "o*(abo*)*",
    "not_coexistence": "o*|o*a[ao]*|o*b[bo]*",
    "not_succession": "[bo]*[ao]*",
    "not_chain_succession": "[bo]*(a+(o[bo]*)?)*",
}
"""The same over words whose steps are one of a, b and anything else (o): a second statement of what they mean."""

Tree = tuple[object, ...]


@functools.cache
def parsed(text: str) -> Tree:
    """The tree of a formula; `->` binds weakest, then `|`, `&`, `U`, and what stands before one thing."""
    tokens = re.findall(r"->|[!&|()]|\w+", text)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def take() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1]

    def binary(level: int) -> Tree:
        if level == 4:
            return unary()
        left = binary(level + 1)
        while peek() == ("->", "|", "&", "U")[level]:
            left = (take(), left, binary(level + 1))
        return left

    def unary() -> Tree:
        token = take()
        if token == "(":
            inner = binary(0)
            assert take() == ")"
            return inner
        return (token, unary()) if token in ("!", "X", "F", "G") else (token,)

    tree = binary(0)
    assert at == len(tokens), text
    return tree


def holds(tree: Tree, word: Word, at: int = 0) -> bool:
    """Whether a formula holds at a position of a word."""
    op = tree[0]
    rest = range(at, len(word))
    if op == "true":
        return True
    if op == "!":
        return not holds(tree[1], word, at)  # type: ignore[arg-type]
    if op == "X":
        return at + 1 < len(word) and holds(tree[1], word, at + 1)  # type: ignore[arg-type]
    if op == "F":
        return any(holds(tree[1], word, then) for then in rest)  # type: ignore[arg-type]
    if op == "G":
        return all(holds(tree[1], word, then) for then in rest)  # type: ignore[arg-type]
    if op == "U":
        return any(
            holds(tree[2], word, then)
            and all(holds(tree[1], word, before) for before in range(at, then))  # type: ignore[arg-type]
            for then in rest
        )
    if op in ("&", "|", "->"):
        left = holds(tree[1], word, at)  # type: ignore[arg-type]
        if op == "&":
            return left and holds(tree[2], word, at)  # type: ignore[arg-type]
        if op == "|":
            return left or holds(tree[2], word, at)  # type: ignore[arg-type]
        return not left or holds(tree[2], word, at)  # type: ignore[arg-type]
    return op in word[at]


@functools.lru_cache(maxsize=1 << 18)
def keeps(template: str, n: int, word: Word) -> bool:
    """Whether a run with this word keeps a template, said directly."""
    if template in ("existence", "absence", "exactly"):
        count = sum("a" in letter for letter in word)
        return {"existence": count >= n, "absence": count < n, "exactly": count == n}[template]
    if (
        template == "fresh"
    ):  # before each c, or with it, an a since the last b before; without any b, all is fresh
        for at, letter in enumerate(word):
            if "c" in letter:
                last = max((then for then in range(at) if "b" in word[then]), default=None)
                if last is not None and not any(
                    "a" in word[then] for then in range(last + 1, at + 1)
                ):
                    return False
        return True
    if template == "held":  # each a after a b, or with it, with no c after that b and before the a
        for at, letter in enumerate(word):
            if "a" in letter:
                last = max((then for then in range(at + 1) if "b" in word[then]), default=None)
                if last is None or any("c" in word[then] for then in range(last, at)):
                    return False
        return True
    if not word:
        return EMPTY.get(template, True)
    return holds(parsed(FORMULAS[template]), word)
