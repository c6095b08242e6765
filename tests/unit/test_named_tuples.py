"""Our `NamedTuple` makes the classes that `typing.NamedTuple` makes."""

from __future__ import annotations

import inspect
import pickle
import typing

import pytest
from fdc_toolchain import named_tuples


class Ours(named_tuples.NamedTuple):
    """A class with all that is used of named tuples."""

    first: int
    second: tuple[str, ...] = ()
    third: str | None = None

    LIMIT = 3

    @property
    def whole(self) -> str:
        return f"{self.first}{self.third}"

    @classmethod
    def of(cls, text: str) -> Ours:
        return cls(int(text))

    def __str__(self) -> str:
        return f"<{self.whole}>"


class Theirs(typing.NamedTuple):
    """A class with all that is used of named tuples."""

    first: int
    second: tuple[str, ...] = ()
    third: str | None = None


class Derived(Ours):
    def doubled(self) -> int:
        return super().__len__() * 2


@pytest.mark.parametrize(
    "name", ["_fields", "_field_defaults", "__doc__", "__module__", "__bases__"]
)
def test_a_class_is_as_typing_makes_it(name: str) -> None:
    assert getattr(Theirs, name) == getattr(Ours, name)


def test_it_is_called_compared_and_shown_as_typing_does_it() -> None:
    # `typing` shows `ForwardRef('int')` until Python 3.13, and `int` since
    theirs = str(inspect.signature(Theirs)).replace("ForwardRef(", "").replace("')", "'")
    assert theirs.replace("'", "") == str(inspect.signature(Ours)).replace("'", "")
    assert (1, (), None) == Ours(1) == Theirs(1)
    assert repr(Theirs(1, third="x")).replace("Theirs", "Ours") == repr(Ours(1, third="x"))
    assert typing.get_type_hints(Theirs) == typing.get_type_hints(Ours)
    assert Ours(2) == Ours(1)._replace(first=2) == Ours.of("2")
    for wrong in ({}, {"first": 1, "fourth": 2}):
        with pytest.raises(TypeError, match=r"^Ours\.__new__"):
            Ours(**wrong)  # type: ignore[arg-type]
    for few in ((1,), (1, (), None, 4)):
        for maker in (Ours._make, Theirs._make):
            with pytest.raises(TypeError, match=f"^Expected 3 arguments, got {len(few)}$"):
                maker(few)
    for made in (Ours(1), Theirs(1)):
        # `typing` raises TypeError since Python 3.13
        with pytest.raises((TypeError, ValueError), match=r"unexpected field names: \['fourth'\]"):
            made._replace(fourth=2)  # type: ignore[call-arg]
    assert Theirs(1)._asdict() == Ours(1)._asdict()


def test_a_field_without_a_default_cannot_follow_one_with_a_default() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(named_tuples.NamedTuple):  # type: ignore[misc, unused-ignore]
            first: int = 1
            second: str


def test_methods_constants_and_derived_classes_stay() -> None:
    assert ("<1x>", "1x", 3, 6) == (
        str(Ours(1, third="x")), Ours(1, third="x").whole, Ours.LIMIT, Derived(1).doubled(),
    )  # fmt: skip
    assert Ours(1, ("a",)) == pickle.loads(pickle.dumps(Ours(1, ("a",))))
    assert "tests.unit.test_named_tuples" == Ours.__module__ and Ours.__qualname__ == "Ours"
