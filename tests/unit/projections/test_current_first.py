"""The order of results: what took a text's place before it, and one result for what is one."""

from beliefledger.projections.current_first import successor
from beliefledger.projections.settled import Line, settled


def order(lines, numbers, newer=()):
    by = dict(newer)
    return settled(numbers, lambda number: lines[number], lambda line: by.get(line.number))


def test_what_took_its_place_comes_before_what_was_superseded():
    lines = {0: Line(0), 1: Line(1), 2: Line(2, claim=7)}
    assert [number for number, _ in order(lines, [0, 1], {0: 2}.items())] == [2, 0, 1]


def test_a_memory_and_its_turn_are_one_result():
    lines = {0: Line(0, memories=(1,)), 1: Line(1, turn=0, claim=7)}
    assert order(lines, [0, 1]) == order(lines, [0, 1]) == [(1, (0,))]
    assert order(lines, [1, 0]) == [(1, (0,))]


def test_memories_that_say_the_same_are_one_result():
    lines = {
        0: Line(0, turn=2, claim=7),
        1: Line(1, turn=2, claim=7),
        2: Line(2, memories=(0, 1)),
        3: Line(3, turn=2, claim=8),
    }
    assert order(lines, [0, 1, 2, 3]) == [(0, (1, 2)), (3, ())]


def test_a_turn_that_says_more_than_its_memories_stands_for_them():
    lines = {
        0: Line(0, memories=(1, 2)),
        1: Line(1, turn=0, claim=7, most=False),
        2: Line(2, turn=0, claim=8, most=False),
        3: Line(3),
    }
    assert order(lines, [1, 3, 2, 0]) == [(0, (1, 2)), (3, ())]
    assert order(lines, [0, 3, 1, 2]) == [(0, (1, 2)), (3, ())]
    assert order(lines, [1, 3, 2]) == [(1, ()), (3, ()), (2, ())]


def test_a_memory_of_the_slot_that_is_asked_for_stands_beside_its_longer_turn():
    lines = {0: Line(0, memories=(1,)), 1: Line(1, turn=0, claim=7, most=False, asked=True)}
    assert order(lines, [1, 0]) == [(1, ()), (0, ())]
    assert order(lines, [0, 1]) == [(0, ()), (1, ())]


def test_the_last_successor_counts_where_it_may_be_found():
    by = {0: 1, 1: 2}
    assert successor(0, by, [True, True, True]) == 2
    assert successor(0, by, [True, True, False]) is None
    assert successor(2, by, [True, True, True]) is None
    assert successor(0, {0: 1, 1: 0}, [True, True]) == 1
