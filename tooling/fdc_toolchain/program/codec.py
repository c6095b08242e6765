"""A program as bytes: canonical JSON, the digest that names it, and loading with checks.

Canonical means: keys sorted, no spaces, ASCII only, no NaN. Equal programs have equal bytes, so
the digest names the content and nothing else. Disks hold no other form, and no pickle.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NoReturn

from .model import Program
from .shape import problems

_ENCODER = json.JSONEncoder(
    ensure_ascii=True, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def _prepared() -> Callable[[Any], str]:
    """The C encoder, made once: `JSONEncoder.encode` makes a new one for every value, which is slower."""
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _ENCODER.encode
    quoted = json.encoder.encode_basestring_ascii
    run = make(None, _ENCODER.default, quoted, None, ":", ",", True, False, False)

    def text(value: Any) -> str:
        return quoted(value) if type(value) is str else "".join(run(value, 0))

    return text


canonical: Callable[[Any], str] = _prepared()
"""The canonical JSON of any JSON value as ASCII text. Raises as `encode` does."""

MAX_BYTES = 256 * 1024 * 1024
"""A program text beyond this is refused before it is parsed."""


class ProgramError(ValueError):
    """Bytes that are not a program which this fdc can run; the message says why, in one sentence."""


def encode(value: object) -> bytes:
    """The canonical JSON of any JSON value.

    Raises ValueError (TypeError, RecursionError) for what JSON cannot say: NaN, objects, cycles.
    """
    return canonical(value).encode("ascii")


def digest(program: Mapping[str, object]) -> str:
    """The digest of a program: blake2b-256 of the canonical JSON, in hexadecimal."""
    return blake2b(encode(program), digest_size=32).hexdigest()


_PROVED_WITH = ("stored", "chosen")


def identity(program: Mapping[str, object]) -> str:
    """The digest of what is run: without the files of earlier runs from outside that it was proved with."""
    return digest({key: value for key, value in program.items() if key not in _PROVED_WITH})


def load(data: bytes) -> Program:
    """The program in `data`. Raises ProgramError: not JSON, a key twice, or not of the model's form.

    The arguments of a step come in the order of its tool's parameters, for those who read them; the bytes have them by name.
    """
    if len(data) > MAX_BYTES:
        raise ProgramError(f"the program has {len(data)} bytes, more than {MAX_BYTES}")
    steps: list[dict[str, Any]] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = _once(pairs)
        if (
            out.get("op") == "step"
            and isinstance(out.get("tool"), str)
            and isinstance(out.get("args"), dict)
        ):
            steps.append(out)
        return out

    try:
        program = json.loads(
            data.decode("ascii"), object_pairs_hook=made, parse_constant=_no_constant
        )
    except ProgramError:
        raise
    except RecursionError:
        raise ProgramError("the program is nested too deeply") from None
    except ValueError as wrong:
        raise ProgramError(f"the program is not JSON: {wrong}") from None
    faults = problems(program)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ProgramError(f"the program is malformed: {faults[0]}{more}")
    for step in steps:
        step["args"] = _as_declared(step["args"], program["tools"].get(step["tool"], {}))
    loaded: Program = program
    return loaded


def _as_declared(args: dict[str, Any], tool: dict[str, Any]) -> dict[str, Any]:
    rows = tool.get("parameters")
    declared = rows if isinstance(rows, list) else []
    names = [row.get("name") for row in declared if isinstance(row, dict)]
    return {name: args[name] for name in names if isinstance(name, str) and name in args} | args


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ProgramError(f"the key `{key}` stands twice in one object")
            seen.add(key)
    return out


def _no_constant(name: str) -> NoReturn:
    raise ProgramError(f"`{name}` is not a JSON number")
