"""Options that many commands have: with one name everywhere, and older names that still work."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from click.decorators import FC

from ..exits import UsageError, WorldError, reason

if TYPE_CHECKING:
    from click.parser import _OptionParser
    from click.types import OptionHelpExtra

    class Attributes(TypedDict, total=False):
        type: click.ParamType
        required: bool
        metavar: str
        help: str


class Renamed(click.Option):
    """An option that had another name: the `old` names still work, but help and completion do not show them."""

    def __init__(
        self, names: Sequence[str], *, old: tuple[str, ...] = (), **attributes: Unpack[Attributes]
    ) -> None:
        super().__init__(names, **attributes)
        self.old = old

    def add_to_parser(self, parser: _OptionParser, ctx: click.Context) -> None:
        """Like `click.Option`, with the old names too."""
        shown = self.opts
        self.opts = [*shown, *self.old]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


class Ranged(click.Option):
    """An option that takes a number: its help says the range in words, where click writes `1<=x<=256` of no name in it."""

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Like `click.Option`, with the range in words."""
        extra = super().get_help_extra(ctx)
        kind = self.type
        if isinstance(kind, click.IntRange | click.FloatRange) and "range" in extra:
            least, most = kind.min, kind.max
            if least is not None and most is not None:
                extra["range"] = f"{least:g} to {most:g}"
            elif least is not None:
                extra["range"] = f"at least {least:g}"
            elif most is not None:
                extra["range"] = f"at most {most:g}"
            else:
                del extra["range"]
        return extra


def flag_option(names: str, help: str) -> Callable[[FC], FC]:
    """An option without a value. `names`, here and below: its spellings, and its parameter's name if that differs."""
    return click.option(*names.split(), is_flag=True, help=help)


def text_option(
    names: str,
    metavar: str,
    help: str,
    *,
    default: str | None = None,
    many: bool = False,
    required: bool = False,
) -> Callable[[FC], FC]:
    """An option that takes a text; `many`: it may be repeated. Help shows the default, unless it is empty."""
    if required:  # click 8.3 takes a stated default for a value, also None
        return click.option(*names.split(), metavar=metavar, help=help, required=True)
    return click.option(
        *names.split(),
        metavar=metavar,
        help=help,
        default=default,
        show_default=bool(default),
        multiple=many,
    )


def choice_option(
    names: str,
    words: Sequence[str],
    help: str | None = None,
    *,
    default: str | None = None,
    many: bool = False,
) -> Callable[[FC], FC]:
    """An option that takes one of some words."""
    kind = click.Choice(words)
    return click.option(
        *names.split(),
        type=kind,
        help=help,
        default=default,
        show_default=bool(default),
        multiple=many,
    )


class Number(click.FloatRange):
    """A number of a range; `nan`, which is in no range and which no limit is compared with, is none."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Like `click.FloatRange`."""
        number = float(super().convert(value, param, ctx))
        if number != number:
            self.fail(f"`{value}` is not a number", param, ctx)
        return number


def count_option(
    names: str, least: int | None, most: int | None, help: str, *, default: int | None = None
) -> Callable[[FC], FC]:
    """An option that takes a whole number from `least` to `most`; None: without that limit."""
    return _ranged(names, click.IntRange(least, most), help, default, "N")


def number_option(
    names: str,
    least: float,
    most: float | None,
    help: str,
    *,
    default: float | None = None,
    metavar: str = "SECONDS",
) -> Callable[[FC], FC]:
    """An option that takes a number from `least` to `most`."""
    return _ranged(names, Number(least, most), help, default, metavar)


def _ranged(
    names: str, kind: click.ParamType, help: str, default: float | None, metavar: str
) -> Callable[[FC], FC]:
    shown = default is not None
    return click.option(
        *names.split(),
        cls=Ranged,
        type=kind,
        metavar=metavar,
        help=help,
        default=default,
        show_default=shown,
    )


def port_option(help: str) -> Callable[[FC], FC]:
    """The option `--port` of a server; 0 takes a free port."""
    kind = click.IntRange(0, 65535)
    return click.option("--port", cls=Ranged, type=kind, default=0, metavar="N", help=help)


def port_refused(port: int, failed: OSError) -> WorldError:
    """Why a server cannot have its port."""
    if failed.errno == errno.EADDRINUSE:
        return WorldError(
            f"port {port} is in use; choose another with `--port`, or omit the option"
        )
    return WorldError(f"port {port}: {reason(failed)}")


def folder_named(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> str | None:
    """The DIR of a `--workspace`, as it is given. Raises UsageError where it is not a folder."""
    if given is not None and not os.path.isdir(given):
        raise UsageError(f"the workspace `{given}` is not a folder")
    return given


def there(path: str) -> None:
    """Raises UsageError where a path of the command line is no file: there is none, or it is a folder."""
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a folder; name a file")
    if not os.path.isfile(path):
        raise UsageError(f"Could not find file `{path}`")


def written(given: str, what: str) -> str:
    """A text of the command line as it can be stored. Raises UsageError for one that is not UTF-8."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{what} is not UTF-8 text") from None
    return given.replace("\0", " ")


def root_of(workspace: str | None) -> str:
    """The folder of the workspace that `--workspace` names, or of the one around. Raises UsageError if it is not a folder."""
    from ..linking.project.root import find_root

    if workspace is None:
        return find_root(os.getcwd())
    if not os.path.isdir(workspace):
        raise UsageError(f"the workspace `{workspace}` is not a folder")
    return os.path.abspath(workspace)


workspace_option = click.option(
    "--workspace",
    metavar="DIR",
    callback=folder_named,
    help="The workspace. [default: the nearest above the current folder]",
)

format_option = choice_option("--format form", ["text", "json"], "Lines, or JSON.", default="text")

quiet_option = flag_option("-q --quiet", "Print only the result and how the run ended.")

budget_option = text_option(
    "--budget budgets",
    "MEASURE=N",
    "A limit: steps, model_calls, tokens, money, seconds.",
    many=True,
)
