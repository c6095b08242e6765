"""Records have the constructors that their lists of fields describe (`text.slots`)."""

from __future__ import annotations

import copy
import pickle
import sys
import types

import pytest
from fdc_toolchain.text.slots import Fields, Record, own


class Cup(Record):
    """A record with every kind of field."""

    material = "clay"

    size: int
    tea: str | None = None
    sips: list[int] = own(list)
    left: float = 1.0
    owner: str = own(lambda: "nobody")

    @property
    def empty(self) -> bool:
        """A property beside the fields."""
        return not self.left


class Same(Fields):
    """A record that equals only itself."""

    size: int


def test_a_record_takes_its_fields_by_place_and_by_name() -> None:
    one = Cup(3, left=0.0)
    assert (3, None, [], 0.0, "nobody") == (one.size, one.tea, one.sips, one.left, one.owner)
    assert one.empty and "clay" == one.material
    assert Cup(3, "mint", 0.5) == Cup(size=3, tea="mint", left=0.5) != one
    assert repr(Same) and "Cup(size=3, tea=None, sips=[], left=0.0, owner='nobody')" == repr(one)


def test_each_record_has_own_values_and_no_other_attributes() -> None:
    one, other = Cup(1), Cup(1)
    one.sips.append(2)
    assert [] == other.sips and one != other
    with pytest.raises(AttributeError):
        one.sugar = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", [{}, {"size": 1, "sips": []}, {"size": 1, "sugar": 1}])
def test_what_is_no_field_and_what_is_missing_is_refused_by_name(given: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"^Cup\.__init__\(\) "):
        Cup(**given)  # type: ignore[arg-type]


def test_a_record_with_equality_is_no_key_and_one_without_is() -> None:
    with pytest.raises(TypeError):
        hash(Cup(1))
    assert Same(1) != Same(1) and 2 == len({Same(1), Same(1)})


def test_records_can_be_copied_and_sent() -> None:
    one = Cup(3, "mint")
    one.sips.append(1)
    sys.modules.setdefault(Cup.__module__, types.ModuleType(Cup.__module__)).Cup = Cup  # type: ignore[attr-defined]
    assert one == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))


def test_a_field_without_a_default_after_one_with_a_default_is_an_error() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(Record):
            tea: str = ""
            size: int  # type: ignore[misc]
