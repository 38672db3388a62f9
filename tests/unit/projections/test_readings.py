"""What an index keeps of its texts for the network of two sentences."""

from __future__ import annotations

from beliefledger.networks import pairs
from beliefledger.projections.readings import Readings

TEXTS = ("User rents a studio in Ghent", "", "signed for a 2 bed in Antwerp!! " * 20)


def _told(readings):
    return [
        (list(readings[number].places), list(readings[number].stems))
        for number in range(len(readings))
    ]


def test_each_text_is_kept_as_the_network_reads_it():
    readings = Readings()
    for text in TEXTS:
        readings.add(text)
    network = pairs.small()
    read = [network.read(text, pairs.OF_SAID) for text in TEXTS]
    assert _told(readings) == [(list(each.places), list(each.stems)) for each in read]


def test_what_was_kept_is_restored_and_goes_on():
    readings, again = Readings(), Readings()
    for text in TEXTS:
        readings.add(text)
    again.restore(readings.state())
    for each in (readings, again):
        each.add("moved in with Dave")
    assert _told(again) == _told(readings)
