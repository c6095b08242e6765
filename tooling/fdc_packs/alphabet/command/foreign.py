"""`fdc alphabet import` and `measure`: folders and corpora of other programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import CLEAN, Refused, UsageError, say_json
from fdc_toolchain.api.files import durable
from fdc_toolchain.api.text import narrow, visible

from .folder import world_failure

if TYPE_CHECKING:
    from ..model import Alphabet

MOST_FILES = 5000
MOST_BYTES = 1 << 20
"""A larger file is not read."""
SHOWN = 40


def opened(directory: str, into: str, shipped: Mapping[str, str]) -> int:
    """Imports a folder; the exit code. Raises UsageError, Refused, WorldError."""
    from .. import layout
    from ..foreign.importing import NOTES, imported
    from ..iteration.scaffold import imported_files
    from ..store import Store
    from ..tools import now

    source = os.path.abspath(directory)
    goal = os.path.abspath(into or f"{os.path.basename(source)}.imported")
    if not os.path.isdir(source):
        raise UsageError(f"`{directory}` is not a folder")
    if os.path.lexists(goal) and (not os.path.isdir(goal) or os.listdir(goal)):
        raise UsageError(
            f"`{os.path.relpath(goal)}` exists and is not an empty folder; choose another with --into"
        )
    try:
        files, left = _read(source)
        found = imported(files, now())
        found.notes.extend(left)
        texts = imported_files(found, files, now(), shipped)
    except ValueError as wrong:
        raise Refused(f"{directory}: {wrong}") from wrong
    except OSError as failed:
        raise world_failure(failed, directory) from failed
    try:
        os.makedirs(os.path.dirname(goal), exist_ok=True)
        durable.new_folder(goal, {path: text.encode("utf-8") for path, text in texts.items()})
        store = Store(goal)
        store.keep(store.texts([{"glob": glob} for glob in layout.RESTORABLE]))
    except OSError as failed:
        raise world_failure(failed, goal) from failed
    number, gone = len(found.alphabet), len(found.rejected)
    said = f"{number} primitive{'s' * (number != 1)}, iteration {found.iteration}, {gone} rejected candidate{'s' * (gone != 1)}"
    click.echo(f"{visible(os.path.relpath(goal))}: {said}")
    for note in found.notes[:SHOWN]:
        click.echo(f"  {visible(note)}")
    if len(found.notes) > SHOWN:
        click.echo(f"  and {len(found.notes) - SHOWN} more, in {NOTES}")
    return CLEAN


def _read(root: str) -> tuple[dict[str, str], list[str]]:
    """The texts of a folder by path, and a sentence on each file that is not taken. Links lead nowhere."""
    from ..store import walk

    texts: dict[str, str] = {}
    left: list[str] = []
    for above, folders, _ in os.walk(root):
        for name in sorted(folders):
            path = os.path.relpath(os.path.join(above, name), root)
            if os.path.islink(os.path.join(above, name)):
                left.append(f"{path}: skipped, because it is a link to a folder")
    for path in walk(root):
        whole = os.path.join(root, path)
        if os.path.islink(whole) or not os.path.isfile(whole):
            left.append(f"{path}: skipped, because it is not a regular file")
        elif os.path.getsize(whole) > MOST_BYTES:
            left.append(f"{path}: is larger than {MOST_BYTES} bytes: skipped")
        elif len(texts) == MOST_FILES:
            raise ValueError(f"it has more than {MOST_FILES} files")
        else:
            with open(whole, "rb") as file:
                data = file.read()
            try:
                texts[path] = data.decode("utf-8")
            except UnicodeDecodeError:
                left.append(f"{path}: skipped, because it is not UTF-8")
    return texts, left


def measure(file: str, alphabet: Alphabet | None, form: str) -> int:
    """Prints the figures of a corpus; the exit code. Raises Refused, WorldError."""
    from ..foreign.corpus import measured, rows_of
    from ..yamltext import NotYaml, documents_of

    if not os.path.isfile(file):
        raise UsageError(f"`{file}` is not a regular file")
    try:
        with open(file, encoding="utf-8") as opened_file:
            text = opened_file.read(MOST_BYTES + 1)
        found = measured(rows_of(documents_of(text)), alphabet)
    except OSError as failed:
        raise world_failure(failed, file) from failed
    except NotYaml as wrong:
        raise Refused(f"{file}: is not valid YAML: {wrong}") from wrong
    except UnicodeDecodeError as wrong:
        raise Refused(f"{file}: is not UTF-8") from wrong
    except ValueError as wrong:
        raise Refused(f"{file}: {wrong}") from wrong
    if form == "json":
        say_json(found)
        return CLEAN
    for key, value in _figures(found):
        click.echo(
            visible(f"{key.replace('_', ' ')}: {value}  [{narrow(found['formulas'], dict)[key]}]")
        )
    for row in narrow(found["unknown"], list):
        click.echo(
            visible(
                f"no primitive in use is called `{row['label']}`: {row['concepts']} concepts need it"
            )
        )
    return CLEAN


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("coverage", f"{found['coverage']:.1%} ({found['expressible']} of {found['concepts']})"),
        ("weighted_coverage", f"{found['weighted_coverage']:.1%}"),
        ("entropy", f"{found['entropy']:.4f} bits"),
        ("normalised_entropy", f"{found['normalised_entropy']:.4f}"),
        ("bits_per_concept", f"{found['bits_per_concept']:.4f}"),
        ("mdl", f"{found['mdl']['total_bits']:.2f} bits"),
        ("model_bits", f"{found['mdl']['model_bits']:.2f}"),
        ("data_bits", f"{found['mdl']['data_bits']:.2f}"),
        (
            "importance",
            ", ".join(
                f"{row['label']} {row['importance']:.3f}" for row in found["importance"][:10]
            ),
        ),
    ]
