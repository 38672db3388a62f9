"""Our `dataclass` makes what the library's makes."""

import dataclasses
import inspect
import pickle
from dataclasses import field, replace

import pytest

from beliefledger.ledger import dataclass as ours
from beliefledger.ledger.dataclass import dataclass


def twins(**options):
    """The same class, made by us and by the library."""

    def make(decorator):
        class Point:
            """A point."""

            x: int
            y: list[int] = field(default_factory=list)
            note: str = field(default="n", repr=False)
            at: int = field(default=0, compare=False)

            def sum(self):
                return self.x + sum(self.y)

        Point.__annotations__ = {"x": int, "y": list[int], "note": str, "at": int}
        return decorator(**options)(Point)

    return make(dataclass), make(dataclasses.dataclass)


OPTIONS = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True},
    {"eq": False},
    {"repr": False},
    {"kw_only": True},
    {"order": True},
    {"unsafe_hash": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_told_compared_hashed_and_called_alike(options):
    mine, theirs = twins(**options)
    assert inspect.signature(mine) == inspect.signature(theirs)
    assert mine.__match_args__ == theirs.__match_args__
    assert (mine.__hash__ is None) == (theirs.__hash__ is None)

    def told(kind):
        one, same, other, near = (
            kind(x=1, y=()), kind(x=1, y=()), kind(x=2, y=()), kind(x=1, y=(), at=9),
        )  # fmt: skip
        hashed = None
        if kind.__hash__ is not None:
            hashed = (hash(one) == hash(same), hash(one) == hash(near), len({one, same, other}))
        return (
            (one == same, one == other, one == near, one != same, one == (1, ())),
            hashed,
            repr(one) if options.get("repr", True) else None,
            replace(one, x=5).sum(),
            dataclasses.asdict(one),
        )

    assert told(mine) == told(theirs)


@dataclass(frozen=True, slots=True)
class Kept:
    x: int
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Longer(Kept):
    more: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs(Kept):
    more: int = 0


def test_it_is_kept_made_more_of_and_cannot_be_changed():
    one = Kept(1, "pass")
    assert repr(one) == "Kept(x=1)"
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    for kind in (Longer, Theirs):
        longer = kind(1, "pass", 2)
        assert repr(longer) == f"{kind.__name__}(x=1, more=2)"
        assert longer != one
        assert len({longer, kind(1, "pass", 2), kind(1, "pass", 3)}) == 2


def test_what_a_class_says_itself_stays():
    @dataclass(frozen=True)
    class Own:
        x: int

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

    assert (repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == ("own", True, 7)


def test_one_that_holds_itself_can_be_told():
    @dataclass
    class Node:
        next: object = None

    node = Node()
    node.next = node
    assert repr(node).endswith("Node(next=...)")


def test_one_without_fields_is_equal_to_its_like():
    @dataclass(frozen=True)
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_the_library_writes_what_has_an_order(monkeypatch):
    written = []
    library = dataclasses.dataclass
    monkeypatch.setattr(
        ours.dataclasses, "dataclass", lambda *a, **k: written.append(k) or library(*a, **k)
    )

    @dataclass(order=True)
    class Ordered:
        x: int

    assert Ordered(1) < Ordered(2)
    assert written == [{"order": True}]
