"""Dataclasses whose methods are made late are what the library's are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, replace
from typing import ClassVar

import orjson
import pytest

from beliefledger.ledger.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    tags: dict[str, int] = field(default_factory=dict)
    note: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class City(Place):
    people: int = 0
    size: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", "large" if self.people > 1_000_000 else "small")


@dataclass(slots=True)
class Tally:
    """It may be changed."""

    most: ClassVar[int] = 9
    count: int = 0
    seen: list[int] = field(default_factory=list)
    made: str = field(default="here", init=False)


class Louder(Tally):
    def shout(self) -> str:
        return f"{self.count}!"


@dataclass(slots=True)
class Nothing:
    pass


def theirs(kind):
    """The same class, made by the library."""
    names = {"__annotations__": dict(kind.__annotations__)}
    for name, each in kind.__dataclass_fields__.items():
        if name in names["__annotations__"]:
            given = {"init": each.init, "compare": each.compare, "repr": each.repr}
            if each.default is not dataclasses.MISSING:
                given["default"] = each.default
            if each.default_factory is not dataclasses.MISSING:
                given["default_factory"] = each.default_factory
            names[name] = field(**given)
    return dataclasses.dataclass(frozen=True, slots=True)(type(kind.__name__, (), names))


def test_they_are_made_compared_and_shown_as_the_librarys():
    ours, other = Place, theirs(Place)
    for given, named in (
        (("Oslo",), {}),
        (("Oslo", {"far": 1}), {}),
        (("Oslo",), {"note": "cold"}),
        ((), {"name": "Oslo", "tags": {}, "note": None}),
    ):
        one, two = ours(*given, **named), other(*given, **named)
        assert repr(one) == repr(two)
        assert dataclasses.asdict(one) == dataclasses.asdict(two)
        assert orjson.dumps(one) == orjson.dumps(two)
        assert one == ours(*given, **named)
    assert ours("Oslo") != ours("Bergen")
    assert ours("Oslo", note="a") == ours("Oslo", note="b")
    assert ours("Oslo") != other("Oslo")
    assert ours.__match_args__ == other.__match_args__
    assert ours.__slots__ == other.__slots__


@pytest.mark.parametrize("given", [(), ("Oslo", {}, None, 4)])
def test_wrong_arguments_are_told_as_the_library_tells_them(given):
    messages = []
    for kind in (Place, theirs(Place)):
        with pytest.raises(TypeError) as raised:
            kind(*given)
        messages.append(str(raised.value).replace("theirs.<locals>.", ""))
    assert messages[0] == messages[1]


def test_no_two_share_what_a_factory_made():
    assert Tally().seen is not Tally().seen
    assert Tally(3, [1]) == Tally(count=3, seen=[1])


def test_what_is_frozen_is_not_changed():
    place = Place("Oslo")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        place.name = "Bergen"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del place.name  # type: ignore[misc]
    assert replace(place, name="Bergen") == Place("Bergen")


def test_what_is_open_is_changed_and_has_no_hash():
    tally = Tally()
    tally.count += 2
    assert (tally, tally.most) == (Tally(2), 9)
    with pytest.raises(TypeError, match="unhashable"):
        hash(tally)
    with pytest.raises(AttributeError):
        tally.other = 1  # type: ignore[attr-defined]


def test_one_that_is_frozen_has_the_hash_of_its_values():
    @dataclass(frozen=True, slots=True)
    class Pair:
        one: int
        two: str

    @dataclass(frozen=True, slots=True)
    class Single:
        one: int

    assert hash(Pair(1, "a")) == hash((1, "a"))
    assert hash(Single(1)) == hash((1,))
    assert len({Pair(1, "a"), Pair(1, "a"), Pair(2, "a")}) == 2


def test_fields_are_inherited_and_completed():
    city = City("Oslo", people=700_000)
    assert (city.size, city.tags, city.people) == ("small", {}, 700_000)
    assert [each.name for each in dataclasses.fields(City)] == [
        "name", "tags", "note", "people", "size",
    ]  # fmt: skip
    assert City.__slots__ == ("people", "size")
    assert Louder(4).shout() == "4!"
    assert Louder(4) == Louder(4)
    assert Louder(4) != Tally(4)


def test_they_are_copied_and_sent():
    for each in (Place("Oslo", {"far": 1}), Tally(3, [1])):
        assert copy.copy(each) == each
        assert copy.deepcopy(each) == each
        assert pickle.loads(pickle.dumps(each)) == each


def test_nothing_but_a_class_with_slots_is_another_than_the_librarys():
    @dataclass(frozen=True)
    class Plain:
        one: int

    @dataclass(eq=False, slots=True)
    class Apart:
        one: int

    assert Plain(1) == Plain(1)
    assert Apart(1) != Apart(1)
    assert Nothing() == Nothing()
