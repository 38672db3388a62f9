"""How somebody gets to work or school: whether two texts tell of two ways to one place."""

from __future__ import annotations

import re

from beliefledger.ledger.late_patterns import compile_later

_WORDS = {
    "bike": "cycle cycles cycling bike bikes biking bicycle ebike e-bike fixie pedal pedalling",
    "ride": "ride rides riding",
    "scooter": "scooter moped motorbike motorcycle vespa",
    "car": "drive drives driving car carpool lift",
    "foot": "walk walks walking foot",
    "run": "run runs running jog jogs jogging",
    "bus": "bus buses matatu jeepney danfo trotro minibus shuttle",
    "train": "train trains rail s-bahn",
    "tram": "tram trams streetcar",
    "metro": "metro tube subway underground u-bahn mrt",
    "ferry": "ferry",
    "taxi": "taxi uber cab bolt grab okada boda",
}
_WAY_OF = {word: way for way, words in _WORDS.items() for word in words.split()}
_PLACES = {
    "work": "work office job",
    "school": "school",
    "uni": "uni university college campus",
}
_PLACE_OF = {word: place for place, words in _PLACES.items() for word in words.split()}
_WAYS = "|".join(sorted(map(re.escape, _WAY_OF), key=len, reverse=True))
_THERE = compile_later(
    rf"(?<![\w-])(?P<way>{_WAYS}|single[- ]speed)(?![\w-])(?P<between>[^,.;:!?]{{0,40}}?) "
    rf"(?:to|into) (?:the |my |our |their )?(?P<place>{'|'.join(_PLACE_OF)})\b",
    re.I,
)
_COMMUTES = compile_later(
    rf"\bcommut\w*\b[^,.;:!?]{{0,40}}?(?<![\w-])(?P<way>{_WAYS}|single[- ]speed)(?![\w-])", re.I
)
_TAKEN = compile_later(
    r"\b(?:kids?|children|sons?|daughters?|him|her|them|it|dogs?|wife|husband|girls|boys|mum|mom|dad)\b",
    re.I,
)
"""Who is brought there: "drives the kids to school" is no way of one's own."""
_ANY = compile_later(rf"(?<![\w-])(?:{_WAYS})(?![\w-])", re.I)
_RIDDEN = frozenset({"bike", "scooter", "ride"})


def is_another_way(said: str, claim: str) -> bool:
    """Whether a claim tells how somebody gets to a place, and words tell another way there. Words
    that name no place are of whichever it is."""
    old = _there(claim)
    if old is None:
        return False
    new = _there(said) or (_way(_ANY.search(said)), None)
    if new[0] is None or (new[1] is not None and new[1] != old[1]):
        return False
    return new[0] != old[0] and not {"ride"} <= {new[0], old[0]} <= _RIDDEN


def _there(text: str) -> tuple[str | None, str] | None:
    """The way and the place that a text tells; none where it tells no way there."""
    found = _THERE.search(text)
    if found is not None:
        if _TAKEN.search(found["between"]):
            return None
        return _way(found), _PLACE_OF[found["place"].lower()]
    found = _COMMUTES.search(text)
    return None if found is None else (_way(found), "work")


def _way(found: re.Match[str] | None) -> str | None:
    if found is None:
        return None
    word = (found["way"] if "way" in found.groupdict() else found[0]).lower()
    return _WAY_OF.get(word, "bike")
