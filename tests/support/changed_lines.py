"""Plans with one line changed by chance."""

from __future__ import annotations

import random
import re


def mutated(text: str, chance: random.Random) -> str:
    """A text with one line changed, gone, doubled or elsewhere."""
    lines = text.split("\n")
    at = chance.choice([number for number, line in enumerate(lines) if line.strip()] or [0])
    line = lines[at]
    way = chance.randrange(7)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines[at : at + 2] = reversed(lines[at : at + 2])
    elif way == 2:
        lines[at] = re.sub(
            r"\d+", lambda found: str(abs(int(found[0]) - chance.choice((-1, 1)))), line
        )
    elif way == 3:
        old, new = chance.choice((("==", "!="), (" and ", " or "), ("not ", ""), (" < ", " <= ")))
        lines[at] = line.replace(old, new)
    elif way == 4:
        lines.insert(at, line)
    elif way == 5:
        lines[at] = line.removeprefix("  ") if line.startswith("  ") else f"  {line}"
    else:
        other = chance.choice(lines)
        lines[at] = line[: len(line) - len(line.lstrip())] + other.lstrip()
    return "\n".join(lines)
