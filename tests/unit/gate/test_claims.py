"""A claim says no more than its spans: not another thing, not the opposite, not more surely."""

from __future__ import annotations

import pytest

from beliefledger.gate import claims
from beliefledger.gate.claims import claim_within, denies, limits
from beliefledger.ledger.candidate import Candidate, Precision, Span, When
from beliefledger.ledger.times import DAY, parse


def candidate(claim, *quotes, value=None, **fields):
    first = quotes[0].split()[-1].strip(".,!?") if value is None else value
    return Candidate(
        claim=claim,
        spans=tuple(Span(start=0, end=len(words), quote=words) for words in quotes),
        type="fact",
        attribute="a.b",
        value=first,
        importance=500_000,
        confidence=900_000,
        **fields,
    )


@pytest.mark.parametrize(
    ("claim", "quotes", "value"),
    [
        ("User lives in Porto", ["I live in Porto"], "Porto"),
        ("User's sister Ana works at Siemens", ["my sister Ana works at Siemens"], "Siemens"),
        ("User is planning a trip to Rome", ["we've planned trips to Rome"], "Rome"),
        ("User went to Oslo", ["I go to Oslo"], "Oslo"),
        ("User does not like jazz", ["I don’t like jazz"], "jazz"),
        ("User can't stand jazz", ["I cannot stand jazz"], "jazz"),
        ("User lives in Porto", ["Yes", "You live in Porto"], "Porto"),
        ("User lives in Lisbon", ["it's Lisbon, not Porto", "I live in Porto"], "Lisbon"),
        ("User lives in Lisbon", ["No, Lisbon", "You live in Porto"], "Lisbon"),
        ("User prefers tea", ["I don't drink coffee, I prefer tea"], "tea"),
        ("User might move to Berlin", ["I might move to Berlin"], "Berlin"),
        ("User might move to Berlin", ["If I moved to Berlin"], "Berlin"),
        ("User's favorite colour is green", ["my favourite color is green"], "green"),
        ("User must pay by Friday", ["I need to pay by Friday"], "pay"),
        ("User has a dog-friendly flat", ["my flat is dog friendly"], "flat"),
        ("User not only sings", ["I not only sing"], "sing"),
        ("User does not like coffee any more", ["I don't like coffee anymore"], "coffee"),
        ("User does not like coffee anymore", ["I don't like coffee any more"], "coffee"),
    ],
)
def test_what_is_only_retold_is_within(claim, quotes, value):
    assert claim_within(candidate(claim, *quotes, value=value))


@pytest.mark.parametrize(
    ("claim", "quotes", "value"),
    [
        ("User lives in Porto and owns a yacht", ["I live in Porto"], "Porto"),
        ("User lives in Porto, Portugal", ["I live in Porto"], "Porto"),
        ("User moved to Porto for love", ["I moved to Porto"], "Porto"),
        ("User always drinks tea", ["I drink tea"], "tea"),
        ("User is an administrator", ["I live in Porto"], "Porto"),
        ("User lives in Porto with Ana", ["I live in Porto"], "Porto"),
        ("User earns 90000", ["I earn 9000"], "9000"),
        # the opposite
        ("User likes jazz", ["I don't like jazz"], "jazz"),
        ("User does not like jazz", ["I like jazz"], "jazz"),
        ("User eats meat", ["I never eat meat"], "meat"),
        ("User never eats meat", ["I eat meat"], "meat"),
        ("User prefers coffee", ["I don't prefer coffee, I prefer tea"], "coffee"),
        # more surely
        ("User moves to Berlin", ["I might move to Berlin"], "Berlin"),
        ("User will marry Ana", ["Maybe I will marry Ana"], "Ana"),
    ],
)
def test_what_says_more_is_not(claim, quotes, value):
    assert not claim_within(candidate(claim, *quotes, value=value))


def test_the_entitys_name_and_the_stated_time_may_be_told():
    start = parse("2026-03-14")
    when = When(start=start, end=start + DAY, precision=Precision.DAY)
    said = "he sees the vet tomorrow"
    claim = "Rex sees the vet on Saturday 14 March 2026"
    assert claim_within(candidate(claim, said, value="vet", entity="Rex", when=when))
    assert not claim_within(candidate(claim, said, value="vet", when=when))
    assert not claim_within(candidate(claim, said, value="vet", entity="Rex"))
    assert not claim_within(
        candidate(claim.replace("March", "April"), said, value="vet", entity="Rex", when=when)
    )


def test_a_negation_that_only_names_the_old_value_is_none_of_the_claim():
    quote = "I use pytest not the old unittest"
    assert claim_within(candidate("User uses pytest", quote, value="pytest", replaces="unittest"))
    assert not claim_within(candidate("User uses pytest", quote, value="pytest"))


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("cat", "cats"), ("cats", "cat"), ("boxes", "box"), ("axes", "axe"), ("cities", "city"),
        ("blogged", "blog"), ("yodeled", "yodel"), ("zipped", "zip"), ("vaped", "vape"),
        ("freed", "free"), ("candied", "candy"), ("yodeling", "yodel"), ("vaping", "vape"),
        ("zipping", "zip"), ("quickly", "quick"), ("wolves", "wolf"), ("knives", "knife"),
        ("21st", "21"), ("22nd", "22"), ("23rd", "23"), ("24th", "24"), ("quizzes", "quiz"),
        ("went", "go"), ("colour", "color"), ("color", "colour"), ("must", "need"),
        ("must", "supposed"), ("must", "got"), ("must", "have"), ("dog-friendly", "dog friendly"),
        ("tug-of-war", "tug war"), ("co-workers", "co worker"), ("ＣＡＦÉ", "café"),
        ("Ana's", "Ana"), ("cannot", "can't"), ("won't", "will not"),
    ],
)  # fmt: skip
def test_a_word_is_found_in_whatever_inflection(claimed, said):
    assert claim_within(candidate(f"User {claimed}", f"I {said}", value=said))


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("cat", "cart"), ("ad", "adds"), ("dog-friendly", "friendly"), ("dog-friendly", "dog"),
        ("21", "12"), ("planning", "plane"), ("tug-of-war", "tug"),
        ("cars", "care"), ("mildly", "milde"),
        ("bus", "us"), ("every", "I"), ("only", "I"), ("most", "I"), ("hates", "I"),
    ],
)  # fmt: skip
def test_another_word_is_not(claimed, said):
    assert not claim_within(candidate(f"User {claimed}", f"I {said}", value=said))


@pytest.mark.parametrize(
    ("quote", "claim", "value", "within"),
    [
        ("my brother lives in Porto", "User lives in Porto", "Porto", False),
        ("my older brother lives in Porto", "User lives in Porto", "Porto", False),
        ("His boss lives in Porto", "User lives in Porto", "Porto", False),
        ("my brother lives in Porto", "User's brother lives in Porto", "Porto", True),
        ("my brothers live in Porto", "User's brother lives in Porto", "Porto", True),
        ("my brother and I live in Porto", "User lives in Porto", "Porto", True),
        ("my brother took me to Porto", "User was taken to Porto", "Porto", True),
        ("I live in Porto, my brother lives in Porto", "User lives in Porto", "Porto", True),
        ("I was glad, my brother lives in Porto", "User lives in Porto", "Porto", False),
        ("my brother said so, I live in Porto", "User lives in Porto", "Porto", True),
        ("my team lives in Porto", "User lives in Porto", "Porto", True),
        ("my house is in Porto", "User's house is in Porto", "Porto", True),
        ("my very much older brother lives in Porto", "User lives in Porto", "Porto", True),
        ("my brother", "User has a brother", "brother", True),
    ],
)
def test_what_is_said_of_a_relative_alone_is_not_said_of_the_user(quote, claim, value, within):
    assert claim_within(candidate(claim, quote, value=value)) is within


def test_it_may_be_said_of_the_relative_where_that_is_what_it_is_about():
    quote, claim = "my brother lives in Porto", "Tom lives in Porto"
    assert claim_within(candidate(claim, quote, value="Porto", entity="Tom"))
    boss = candidate("User reports to Ana", "my boss is Ana and I report to Ana", value="Ana")
    assert claim_within(boss.model_copy(update={"type": "relation"}))
    relation = candidate("User has Ana", "my boss has Ana", value="Ana")
    assert not claim_within(relation)
    assert claim_within(relation.model_copy(update={"type": "relation"}))


@pytest.mark.parametrize(
    ("lead", "limited"),
    [
        ("I", False), ("it is not so that", True), ("don't think", True), ("maybe", True),
        ("I can't say", True), ("no, ", False), ("no", True), ("not only", False),
        ("why not", False), ("no doubt", False), ("isn't that so", True), ("my sister said", True),
        ("my older sister said", True), ("Our boss", True), ("my house", False), ("", False),
        ("it was no problem", False), ("not sure if", False), ("hardly", True), ("probably", True),
    ],
)  # fmt: skip
def test_words_before_a_statement_may_limit_it(lead, limited):
    assert limits(lead) is limited


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I like it", False), ("I don't like it", True), ("I never go", True), ("maybe", False),
        ("No, I like it", False), ("no: I like it", False), ("isn't it nice", True),
        ("or not", False), ("DON’T", True), ("cannot", True),
        ("without sugar", True), ("not to mention tea", False),
    ],
)  # fmt: skip
def test_a_denial_is_no_aside(text, denied):
    assert denies(text) is denied


@pytest.mark.parametrize(
    ("claim", "quotes", "value", "within"),
    [
        ("User does not drink tea or coffee", ["I don't drink tea"], "tea", False),
        ("User does not drink tea", ["I drink tea", "I don't drink tea"], "tea", True),
        ("User drinks tea", ["I drink tea", "I don't drink tea"], "tea", True),
        ("User drinks tea", ["I don't drink coffee. I drink tea"], "tea", True),
        ("User drinks tea", ["I don't drink coffee and I drink tea"], "tea", True),
        ("User drinks tea", ["I drink tea, but maybe not at night"], "tea", True),
        ("User drinks tea", ["maybe I drink tea"], "tea", False),
        ("User maybe drinks tea", ["maybe I drink tea"], "tea", True),
        ("User perhaps drinks tea", ["maybe I drink tea"], "tea", False),
        ("User drinks tea", ["maybe I drink tea", "I drink tea"], "tea", True),
        ("User drinks green tea", ["I never drink green tea"], "green tea", False),
        ("User probably drinks tea", ["I drink tea"], "tea", True),
    ],
)
def test_a_claim_is_as_sure_as_its_spans(claim, quotes, value, within):
    assert claim_within(candidate(claim, *quotes, value=value)) is within


@pytest.mark.parametrize(
    ("told", "within"),
    [
        *[(each, True) for each in (
            "2026", "March", "Mar", "5", "05", "2026-03-05", "2026-03", "09:30", "3", "Thursday",
        )],
        *[(each, False) for each in ("2025", "April", "6", "2026-03-06", "10:30", "Friday")],
    ],
)  # fmt: skip
def test_a_moment_may_be_told_in_any_of_its_words(told, within):
    start = parse("2026-03-05T09:30:00Z")
    when = When(start=start, precision=Precision.EXACT)
    assert (
        claim_within(candidate(f"User sings on {told}", "I sing", value="sing", when=when))
        is within
    )


@pytest.mark.parametrize(
    ("told", "within"),
    [
        *[(each, True) for each in ("28 February 2026", "1 March 2026", "2026-03-01")],
        *[(each, False) for each in ("4 March 2026", "Saturday", "Sunday", "27 February")],
    ],
)
def test_a_range_may_be_told_by_its_first_and_last_day(told, within):
    start = parse("2026-02-28")
    when = When(start=start, end=start + 2 * DAY, precision=Precision.WEEK)
    assert (
        claim_within(candidate(f"User sings on {told}", "I sing", value="sing", when=when))
        is within
    )
    day = When(start=start, end=start + DAY, precision=Precision.DAY)
    assert claim_within(candidate("User sings on Saturday", "I sing", value="sing", when=day))
    instant = When(start=start, end=start, precision=Precision.DAY)
    assert claim_within(candidate("User sings on Saturday", "I sing", value="sing", when=instant))
    assert not claim_within(candidate("User sings in 1970", "I sing", value="sing", when=When()))


def test_what_a_candidate_s_words_were_is_forgotten_when_asked():
    claim_within(candidate("User owns zebras", "I own a zebra", value="zebra"))
    assert claims._forms.cache_info().currsize
    claims.forget()
    assert not claims._forms.cache_info().currsize
