"""`fdc alphabet`: a persistent alphabet of primitive concepts: made, looked at, checked, calculated with."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from fdc_toolchain.api.commands import (
    CLEAN,
    FINDINGS,
    PERSON,
    Refused,
    UsageError,
    WorldError,
    count_option,
    flag_option,
    format_option,
    reason,
    say_json,
    text_option,
)
from fdc_toolchain.api.text import visible

from .folder import base_here, root_here, store_of

if TYPE_CHECKING:
    from ..state import Base


class _InOrder(click.Group):
    """Subcommands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder)
def command() -> int:
    """Build an alphabet of primitive concepts, iteration by iteration, and calculate with it.

    `init DIR` makes one; the others work in DIR.
    """
    return CLEAN


QUERIES = (
    "find-breakthroughs", "trace-concept-evolution", "find-meta-insights", "rejection-analysis", "confidence-trajectory",
    "paradox-inventory", "blog-content-queue",
)  # fmt: skip
_FORMAT = format_option


@command.command(short_help="Create a new alphabet in DIR.")
@click.argument("directory", metavar="DIR")
@text_option(
    "--model",
    "NAME",
    "The model to write to config.yaml. [default: none, embedded functions]",
    default="",
)
def init(directory: str, model: str) -> int:
    """Make a new alphabet in DIR, which must not be there or be empty."""
    from fdc_toolchain.api.files import durable

    from .. import layout
    from ..iteration.scaffold import new_files
    from ..store import Store
    from ..tools import now

    root = os.path.abspath(directory)
    if os.path.lexists(root) and (not os.path.isdir(root) or os.listdir(root)):
        raise UsageError(f"`{directory}` exists and is not an empty folder")
    files = new_files(now(), _shipped(), model)
    try:
        os.makedirs(os.path.dirname(root), exist_ok=True)
        durable.new_folder(root, {path: text.encode("utf-8") for path, text in files.items()})
        store = Store(root)
        store.keep(store.texts([{"glob": glob} for glob in layout.RESTORABLE]))
    except OSError as failed:
        raise WorldError(f"`{directory}` cannot be made: {reason(failed)}") from failed
    click.echo(
        f"{directory}: {len(files)} files; `cd {shlex.quote(directory)}` and `fdc alphabet run`"
    )
    return CLEAN


def _shipped() -> dict[str, str]:
    """What is laid down as it is: documents, tools, the calculus, the test concepts."""
    from .. import layout
    from ..schemas import DATA

    out = {}
    for source, goal in (("init", ""), ("calculus", "calculus/")):
        base = os.path.join(DATA, source)
        for folder, folders, names in os.walk(base):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    out[goal + os.path.relpath(path, base).replace(os.sep, "/")] = file.read()
    for goal in (layout.CONCEPTS, layout.PRACTICE):
        with open(os.path.join(DATA, os.path.basename(goal)), encoding="utf-8") as file:
            out[goal] = file.read()
    return out


@command.command(
    short_help="Run N iterations, or until the work ends. Continues an interrupted iteration."
)
@count_option(
    "--iterations",
    1,
    None,
    "Maximum number of iterations. [default: until the work ends; 1 with a model]",
)
@text_option(
    "--model", "NAME", "The model that answers (else FDC_MODEL; `config`: that of config.yaml)."
)
@flag_option("--again", "Continue an alphabet whose work has ended.")
@text_option(
    "--budget budgets", "MEASURE=N", "A limit for each iteration, as in `fdc run`.", many=True
)
@_FORMAT
def run(
    iterations: int | None, model: str | None, again: bool, budgets: tuple[str, ...], form: str
) -> int:
    """Go on where the last complete iteration ended, or in the middle of one that was interrupted.

    Without a model it works until one of the stopping conditions of config.yaml holds; with one, which costs, one iteration.

    Exit codes: 0 done or ended, 1 an iteration was given up, 2 wrong usage, 3 the environment failed (go on with the
    same command), 5 a consistency violation that a person must look at.
    """
    from fdc_toolchain.api.commands import budget_of

    from .run import Asked, work

    return work(root_here(), Asked(iterations, model, again, budget_of(budgets), form))


@command.command()
@_FORMAT
def status(form: str) -> int:
    """Show where the work is."""
    from .status import shown

    return shown(root_here(), form)


@command.command("import", short_help="Import an alphabet of another program.")
@click.argument("directory", metavar="DIR")
@text_option(
    "--into", "FOLDER", "The new folder. [default: DIR's name with `.imported`]", default=""
)
def import_(directory: str, into: str) -> int:
    """Make a new alphabet of an ALPHABETUM folder that another program wrote: ids like P001, other keys, phases and domains.

    Everything of DIR is kept in sources/imported/; what fdc does not know is named, also in sources/imported.yaml.
    """
    from .foreign import opened

    return opened(directory, into, _shipped())


@command.command(short_help="Compute metrics of a corpus of decomposed concepts.")
@click.argument("corpus", metavar="CORPUS", type=click.Path(exists=True, dir_okay=False))
@_FORMAT
def measure(corpus: str, form: str) -> int:
    """Compute coverage, weighted coverage, entropy, bits a concept and MDL of a YAML file whose concepts have a decomposition.

    In an alphabet's folder a label that no primitive has is named, and its concepts are not expressible. Each figure is
    printed with its formula.
    """
    from .foreign import measure as measured

    try:
        alphabet = base_here(store_of(root_here())).alphabet
    except UsageError:
        alphabet = None  # no alphabet here: the corpus alone
    return measured(corpus, alphabet, form)


@command.command(short_help="Check the alphabet's files for consistency.")
@_FORMAT
def check(form: str) -> int:
    """Check everything: names, counts, ids, relations, logs, the six rules of consistency."""
    from ..iteration.audit import audit
    from ..store import walk

    root = root_here()
    store = store_of(root)
    paths = list(walk(root)) + [f"{folder}/.gitkeep" for folder in _empty(root)]
    files: dict[str, str] = {}
    try:
        for path in paths:
            if path.endswith(".yaml") or "/raw/" in path:
                files |= store.text(path)
        base, found = audit(files, paths)
        found += [
            ("error", f"{name} is missing")
            for name in store.damaged()
            if not os.path.lexists(store.path(name))
        ]
    except ValueError as wrong:
        base, found = None, [("error", str(wrong))]
    code = PERSON if any(kind == "violation" for kind, _ in found) else CLEAN
    code = FINDINGS if any(kind == "error" for kind, _ in found) else code
    if form == "json":
        said = [{"kind": kind, "message": text} for kind, text in found]
        number = len(base.alphabet) if base else None
        say_json({"ok": code == CLEAN, "primitives": number, "findings": said})
        return code
    for kind, text in found:
        click.echo(f"{kind}: {visible(text)}")
    if base is not None and code == CLEAN:
        number = base.state["current_iteration"]
        plural = "s" * (number != 1)
        click.echo(
            f"{len(base.alphabet)} primitives, {number} iteration{plural}: everything fits together"
        )
    return code


def _empty(root: str) -> list[str]:
    from .. import layout

    return [folder for folder in layout.FOLDERS if os.path.isdir(os.path.join(root, folder))]


@command.command(short_help="Check files against their schema: keys, ids, times.")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@_FORMAT
def schema(files: tuple[str, ...], form: str) -> int:
    """Hold files that fdc writes against their form: keys, ids, times, enumerations. Without FILES: all of them."""
    from .schema import held

    return held(root_here(), files, form)


@command.command(short_help="Compare two concepts: contains, common, kind of.")
@click.argument("first")
@click.argument("second")
@_FORMAT
def compare(first: str, second: str, form: str) -> int:
    """Compare two expressions of one alternative each: whether one contains the other or is a kind of it, what is common."""
    from .. import calculus

    found = _computed(lambda base: calculus.compare(base.alphabet, first, second))
    if form == "json":
        say_json(found)
        return CLEAN
    one, two, common = found["first"], found["second"], found["common"]
    for word, said in (("contains", "contains"), ("is_kind_of", "is a kind of")):
        click.echo(visible(f"{one} {said} {two}: {'yes' if found[word] else 'no'}"))
    for word, said in (("is_contained", "contains"), ("has_kind", "is a kind of")):
        click.echo(visible(f"{two} {said} {one}: {'yes' if found[word] else 'no'}"))
    labels = [*common["positive"], *(f"not {label}" for label in common["negative"])]
    click.echo(visible(f"common: {', '.join(labels) or 'nothing'} ({common['number']})"))
    click.echo(f"consistent together: {'yes' if found['together_consistent'] else 'no'}")
    return CLEAN


@command.command(short_help="Compose primitives: `time and not space`.")
@click.argument("expression", nargs=-1, required=True)
@_FORMAT
def compose(expression: tuple[str, ...], form: str) -> int:
    """Compose primitives: labels with commas, or `time and not (space or cause)`; of subjects, `time(x)`, `cause(a, b)`; with
    rules, `time, space; time and space -> cause`."""
    from .. import calculus

    return _calculated(lambda base: calculus.compose(base.alphabet, " ".join(expression)), form)


@command.command(short_help="Decompose a number or an expression into primitives.")
@click.argument("expression", nargs=-1, required=True)
@count_option("--denied", 1, None, "The number of the negated part.", default=1)
@_FORMAT
def decompose(expression: tuple[str, ...], denied: int, form: str) -> int:
    """Decompose a number or an expression into primitives."""
    from .. import calculus

    return _calculated(
        lambda base: calculus.decompose(base.alphabet, " ".join(expression), denied), form
    )


def _computed(function: Callable[[Base], dict[str, Any]]) -> dict[str, Any]:
    store = store_of(root_here())
    try:
        return function(base_here(store))
    except ValueError as wrong:
        raise Refused(str(wrong)) from wrong


def _calculated(function: Callable[[Base], dict[str, Any]], form: str) -> int:
    found = _computed(function)
    if form == "json":
        say_json(found)
    broken = any(one["violations"] for one in found["alternatives"])
    for rule in found["rules"] if form == "text" else ():
        click.echo(visible(f"rule: {rule}"))
    for one in found["alternatives"] if form == "text" else ():
        positive, negative = ", ".join(one["positive"]) or "nothing", ", ".join(one["negative"])
        denied = f"; not {negative} ({one['denied_number']})" if negative else ""
        subjects = f" ({', '.join(one['subjects'])})" if one["subjects"] else ""
        click.echo(visible(f"{one['number']}: {positive}{denied}{subjects}"))
        for sentence in one["follows"]:
            click.echo(visible(f"  follows: {sentence}"))
        for row in one["violations"]:
            click.echo(visible(f"  {row['kind']}: {row['reason']}"))
    return FINDINGS if broken else CLEAN


@command.command(short_help="Compute the grounding set of the dictionary: ranked candidates.")
@count_option(
    "--roots",
    1,
    200_000,
    "Ground the N most used words, and the words in their definitions.",
    default=3000,
)
@count_option(
    "--rounds", 0, 10_000, "Rounds of local search. More rounds give a smaller set.", default=50
)
@_FORMAT
def ground(roots: int, rounds: int, form: str) -> int:
    """Compute a near-smallest set of words from which the dictionary defines all others, with a proved lower bound.

    It works in any folder. The same words, in this order, are what the iterations judge without a model.
    """
    from .ground import ground as grounded

    return grounded(roots, rounds, form)


@command.command(short_help="Draw charts of the work: SVG, PNG and one HTML page.")
@text_option("--output", "FOLDER", "The output folder, inside DIR.", default="validation/report")
def report(output: str) -> int:
    """Draw how the work went: growth, acceptance, coverage, relations; as SVG, PNG, and one HTML page that needs nothing else."""
    from .report import draw

    return draw(root_here(), output)


@command.command(short_help="Query the logs: breakthroughs, a concept's evolution, rejections, ...")
@click.argument("query", type=click.Choice(QUERIES))
@click.argument("label", default="")
def introspect(query: str, label: str) -> int:
    """Ask the logs of all iterations a question; the answer is JSON. `trace-concept-evolution` takes a LABEL."""
    from .introspect import answer

    click.echo(json.dumps(answer(root_here(), query, label), indent=2))
    return CLEAN
