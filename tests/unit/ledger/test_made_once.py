"""What is made when it is first asked for is made once, whoever asks."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

from beliefledger.ledger.made_once import made_once

THREADS = 8


class Whole:
    def __init__(self) -> None:
        self.made: list[str] = []

    @made_once
    def part(self) -> object:
        """Slow to make."""
        self.made.append("part")
        sleep(0.01)
        return object()

    @made_once
    def other(self) -> tuple[object, str]:
        return self.part, "other"


def test_many_threads_get_the_same_part():
    whole, together = Whole(), Barrier(THREADS)

    def ask(_number: int) -> object:
        together.wait()
        return whole.part

    with ThreadPoolExecutor(THREADS) as threads:
        parts = list(threads.map(ask, range(THREADS)))
    assert whole.made == ["part"]
    assert len(set(map(id, parts))) == 1


def test_a_part_may_need_another():
    whole = Whole()
    assert whole.other == (whole.part, "other")
    assert whole.made == ["part"]


def test_each_whole_has_its_own_parts_and_the_class_tells_of_them():
    assert Whole().part is not Whole().part
    assert Whole.part.__doc__ == "Slow to make."
