"""What somebody takes back, asks to have forgotten, denies, or asks not to have kept at all."""

from __future__ import annotations

import pytest

from beliefledger import NotPermitted, SearchOptions

TAKEN_BACK = [
    ("I live in Porto", "I was lying when I said I live in Porto", "Porto"),
    ("I live in Porto", "im lying when i say i live in Porto", "Porto"),
    ("I live in Porto", "I lied when I told you I live in Porto", "Porto"),
    ("I live in Porto", "I lied about living in Porto", "Porto"),
    ("I live in Porto", "I was joking when I said that I live in Porto", "Porto"),
    ("I live in Porto", "Earlier I said I live in Porto, that was wrong", "Porto"),
    ("I live in Porto", "earlier i said i live in porto. that was wrong", "Porto"),
    ("I live in Porto", "yesterday I told you that I live in Porto but that isn't true", "Porto"),
    ("I live in Porto", "I said I live in Porto - that was a lie", "Porto"),
    ("I live in Porto", "it isnt true that i live in porto", "Porto"),
    ("I live in Porto", "I never said I live in Porto", "Porto"),
    ("I live in Porto", "What I told you about Porto isnt true", "Porto"),
    ("I live in Porto", "the thing about Porto was a joke", "Porto"),
    ("I have a dog called Rex", "sorry, I was lying when I said I have a dog", "Rex"),
    ("I'm a nurse at St Mary's", "confession: I was lying when I said I'm a nurse", "nurse"),
    ("My name is Tom", "I lied about my name", "Tom"),
    ("My favourite team is Benfica", "I was joking about Benfica", "Benfica"),
    ("I live in Rome", "I never lived in Rome", "User lives in Rome"),
    ("I live in Rome", "i've never lived in rome", "User lives in Rome"),
    ("I use unittest", "I never used unittest", "User uses unittest"),
    ("I work at Acme", "i never worked at acme", "User works at Acme"),
    ("My sister is called Anna", "my sister isnt called Anna", "sister is called Anna"),
    (
        "My sister is called Anna",
        "My sister isn't called Anna, it's Hanna",
        "sister is called Anna",
    ),
    (
        "My sister is called Anna",
        "my sister is not called anna, its Hanna",
        "sister is called Anna",
    ),
    ("I have a brother, Max", "i never had a brother", "Max"),
    ("My name is Tom", "my name is not Tom", "User's name is Tom"),
    ("My name is Tom", "That was a joke, my name is not Tom", "User's name is Tom"),
]
"""What is believed, what takes it back, and the words that are in no belief then or at any time."""

PAST_TAKEN_BACK = [
    ("I live in Rome", "I live in Oslo now", "I never lived in Rome", "lives in Rome"),
    ("I live in Rome", "I moved to Oslo", "I've never lived in Rome", "lives in Rome"),
    ("I live in Rome", "I don't live in Rome any more", "I never lived in Rome", "lives in Rome"),
    ("I work at Acme", "I work at Google now", "I never worked at Acme", "works at Acme"),
    ("I use vim", "I switched to emacs", "I never used vim", "uses vim"),
    ("I drive a Golf", "I drive a Polo now", "I never drove a Golf", "drives a Golf"),
    ("I used to live in Rome", "I live in Oslo", "I never lived in Rome", "used to live in Rome"),
    ("I used to work at Acme", "hello", "I never worked at Acme", "used to work at Acme"),
]
"""What was believed, what made it past, what takes it back, and words that are told at no time."""
PAST_STANDS = [
    ("I live in Rome", "I live in Oslo now", "I never lived in Paris"),
    ("I live in Rome", "I live in Oslo now", "I never liked Rome"),
    ("I live in Rome", "I live in Oslo now", "my sister never lived in Rome"),
    ("I live in Rome", "I live in Oslo now", "I never worked in Rome"),
]
JOKES = [
    ("My boss is Piotr", "Piotr isn't my boss", "just kidding", "boss is Piotr"),
    ("My boss is Piotr", "Piotr isn't my boss any more", "Just kidding!", "boss is Piotr"),
    ("I live in Porto", "I moved to Rome", "just kidding", "lives in Porto"),
    ("I live in Porto", "I don't live in Porto anymore", "lol jk", "lives in Porto"),
    ("I work at Acme", "I quit my job", "that was a joke", "works at Acme"),
    ("I work at Acme", "I quit my job", "haha just joking", "works at Acme"),
    ("My sister is called Anna", "my sister isn't called Anna", "kidding!", "called Anna"),
    ("I have a dog called Rex", "Rex died", "only kidding", "called Rex"),
]
"""What is believed, a joke, what says so, and the words that are believed again."""
NO_JOKES = [
    ("I work at Acme", "I quit my job", "I was just kidding around at work", "works at Acme"),
    ("I work at Acme", "I quit my job", "my boss is just kidding me", "works at Acme"),
    ("I work at Acme", "I quit my job", "no jokes please", "works at Acme"),
]
IN_ONE_BREATH = [
    ("My boss is Piotr", "Piotr isn't my boss … just kidding", "boss is Piotr"),
    ("My boss is Piotr", "Piotr isn't my boss anymore... just kidding", "boss is Piotr"),
    ("My boss is Piotr", "Piotr isn't my boss. just kidding, he is", "boss is Piotr"),
    ("I live in Porto", "I moved to Rome, just kidding", "lives in Porto"),
    ("I work at Acme", "I quit my job. Just kidding.", "works at Acme"),
]

FORGOTTEN = [
    ("I live in Porto", "Forget that I live in Porto", "Porto"),
    ("I live in Porto", "pls forget that i live in porto", "Porto"),
    ("I live in Porto", "can you forget I live in Porto?", "Porto"),
    ("I live in Porto", "you don't need to remember that I live in Porto", "Porto"),
    ("I live in Porto", "dont remember that i live in porto", "Porto"),
    ("I live in Porto", "forget what I said about Porto", "Porto"),
    ("I live in Porto", "delete everything you know about Porto", "Porto"),
    ("I live in Porto", "Forget that I live in Porto, I live in Faro now", "Porto"),
    ("I live in Porto", "Don't remember that about Porto", "Porto"),
    ("I work at Acme", "stop remembering that I work at Acme", "Acme"),
    ("I'm 34", "forget about my age", "34"),
    ("my dog is called Rex", "you can forget about my dog Rex", "Rex"),
    ("My sister is called Anna", "you can forget about Anna", "Anna"),
    ("I live in Porto", "Don't remember that.", "Porto"),
    ("I live in Porto", "dont save that", "Porto"),
    ("I live in Porto", "Please don't store this.", "Porto"),
    ("I live in Porto", "Forget what I just said.", "Porto"),
    ("I live in Porto", "delete my last message", "Porto"),
    ("I live in Porto", "Forget I said anything", "Porto"),
]
"""What is believed, the wish to have it forgotten, and the words that are in no belief then."""

STANDS = [
    ("I live in Porto", "I was lying on the beach when I said hello to Ana", "Porto"),
    ("I live in Porto", "My boss was lying when he said I live in Porto", "Porto"),
    ("I live in Porto", "I told my boss I live in Porto, which is true", "Porto"),
    ("I live in Porto", "I said I live in Porto, that was right", "Porto"),
    ("I live in Porto", "Earlier I said I live in Porto, and that was a good decision", "Porto"),
    ("I live in Porto", "I lied about my age", "Porto"),
    ("I live in Porto", "I was wrong about the weather in Porto", "Porto"),
    ("I live in Porto", "Don't forget that I live in Porto", "Porto"),
    ("I live in Porto", "never forget that i live in porto", "Porto"),
    ("I live in Porto", "I forget that I live in Porto sometimes", "Porto"),
    ("I live in Porto", "I can't forget about Porto", "Porto"),
    ("I live in Porto", "forget Porto, let's book Lisbon", "Porto"),
    ("I live in Porto", "I don't remember that about Porto", "Porto"),
    ("I live in Porto", "how do I forget about Porto?", "Porto"),
    ("I live in Porto", "my wife told me to forget that I live in Porto", "Porto"),
    ("I live in Porto", "I don't live in Lisbon any more", "Porto"),
    ("I use pytest", "I don't use unittest", "pytest"),
    ("I love Rome", "I never lived in Rome", "User loves Rome"),
    ("I have a brother, Max", "I don't have a sister", "Max"),
    ("my sister-in-law is Eva", "I don't have a sister", "Eva"),
    ("I have a dog called Rex", "I don't have a dog bed", "Rex"),
    ("I have a dog called Rex", "I don't have a dog with me today", "Rex"),
    ("My manager is Maria Lopez", "Maria isn't my sister", "Maria Lopez"),
    ("My sister is called Anna", "my sister is not well", "Anna"),
    ("My sister is called Anna", "my sister isn't Polish", "Anna"),
    ("I live in Rome", "I moved to Oslo", "Oslo"),
]
"""What is believed, what takes none of it back, and words of it."""

CALLED_OTHERWISE = [
    ("I have a brother, Max", "I don't have a brother", "Max"),
    ("I have a brother, Max", "i have no brother", "Max"),
    ("I have a dog called Rex", "I don't have a dog any more", "Rex"),
    ("I have a dog called Rex", "i dont have a dog anymore", "Rex"),
    ("My manager is Maria Lopez", "Maria isn't my manager any more", "Maria Lopez"),
    ("My manager is Maria Lopez", "maria is no longer my manager", "Maria Lopez"),
    ("I work night shifts", "I no longer work nights", "night"),
    ("I work night shifts", "i dont work nights anymore", "night"),
    ("I work nights", "I don't work night shifts any more", "night"),
    ("I live in New York City", "I don't live in NYC anymore", "New York"),
    ("I live in NYC", "I no longer live in New York", "NYC"),
    ("I use VS Code", "I don't use Visual Studio Code any more", "VS Code"),
    ("I use vscode", "i no longer use VS Code", "vscode"),
    ("I work at Acme Robotics", "I don't work at Acme any more", "Acme"),
    ("I use vim", "I no longer use vim or emacs", "User uses vim"),
    ("I use vim", "I no longer use vim or emacs", "uses emacs"),
    ("I use emacs", "I don't use vim or emacs anymore", "uses emacs"),
]
"""What is believed, that it is over in other words, and the words that are in no belief then."""

OFF_THE_RECORD = [
    "Don't remember this, but I live in Porto",
    "dont remember this but i live in Porto",
    "Off the record: I hate my boss Karl",
    "this is off the record, i hate my boss Karl",
    "please don't save it, I'm planning to quit Acme",
    "between us, don't note this down: I am in love with Ana",
    "Do not store this: I live in Porto",
    "I live in Porto, but please don't save that",
    "I live in Porto. Don't remember that.",
    "I'm leaving Acme in June (off the record)",
    "pls dont note this down, my sister is pregnant",
    "I live in Porto, don't write it down",
    "you don't have to remember this but my dog is Rex",
    "my salary is 40k, keep this off the record",
]
NOTHING_KEPT = [
    "I was lying when I said I live in Porto",
    "I told my boss I live in Leeds, which is not true",
    "i told my boss i live in leeds, but that's not true",
    "I told my landlord I have a cat. That was a lie.",
    "I told everyone I'm 25, which is a lie",
    *OFF_THE_RECORD,
]
KEPT = [
    "I don't remember this, but I live in Porto",
    "My band is signed to Off The Record Records",
    "don't save it for later, I live in Porto and eat now",
    "I can't note this down, I live in Porto",
    "Remember this: I live in Porto",
    "Don't forget this: I live in Porto",
    "I have a bike. Don't store it outside",
]


@pytest.mark.parametrize(("before", "said", "words"), TAKEN_BACK)
def test_what_was_no_truth_is_believed_at_no_time(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    assert not any(words in each.text for each in somebody.believed_after(said, besides=()))
    assert not any(words in each.text for each in somebody.beliefs(valid_at="2026-03-01T12:00Z"))


@pytest.mark.parametrize(("before", "said", "words"), [*FORGOTTEN, *CALLED_OTHERWISE])
def test_what_is_to_be_forgotten_or_denied_is_over(somebody, before, said, words):
    somebody.remember(before)
    assert not any(words in each.text for each in somebody.believed_after(said))


@pytest.mark.parametrize(("before", "said", "words"), STANDS)
def test_what_is_not_taken_back_stands(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, said))


@pytest.mark.parametrize(("before", "then", "said", "words"), PAST_TAKEN_BACK)
def test_what_is_past_and_never_was_so_is_told_at_no_time(somebody, before, then, said, words):
    somebody.believed_after(before, then, said)
    for at in ("2026-03-01T12:00Z", "2026-03-02T12:00Z", None):
        found = somebody.beliefs() if at is None else somebody.beliefs(valid_at=at)
        assert not any(words in each.text for each in found)


@pytest.mark.parametrize(("before", "then", "said"), PAST_STANDS)
def test_what_is_past_and_not_denied_is_told_of_then(somebody, before, then, said):
    somebody.believed_after(before, then, said)
    found = somebody.beliefs(valid_at="2026-03-01T12:00Z")
    assert "User lives in Rome" in [each.text for each in found]


@pytest.mark.parametrize(("before", "joke", "said", "words"), JOKES)
def test_what_a_joke_ended_is_believed_again(somebody, before, joke, said, words):
    somebody.believed_after(before, joke)
    assert any(words in each.text for each in somebody.believed_after(said))
    assert somebody.memory.audit.replay_all().different == 0


@pytest.mark.parametrize(("before", "news", "said", "words"), NO_JOKES)
def test_what_was_no_joke_is_over(somebody, before, news, said, words):
    assert not any(words in each.text for each in somebody.believed_after(before, news, said))


@pytest.mark.parametrize(("before", "said", "words"), IN_ONE_BREATH)
def test_a_joke_ends_nothing(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, said))


@pytest.mark.parametrize("said", NOTHING_KEPT)
def test_nothing_is_kept_of_what_is_not_to_be(somebody, said):
    assert somebody.believed_after(said, besides=()) == []


@pytest.mark.parametrize("said", OFF_THE_RECORD)
def test_no_search_finds_what_is_not_to_be_kept(somebody, said):
    somebody.remember(said)
    assert somebody.search("Porto Karl Acme Ana Rex sister salary", 10).results == ()


@pytest.mark.parametrize("said", KEPT)
def test_what_only_sounds_so_is_kept(somebody, said):
    assert somebody.believed_after(said, besides=())


def test_only_what_came_of_the_turn_before_is_over(somebody):
    left = somebody.believed_after("I live in Porto", "I work at Acme", "Don't remember that.")
    assert [each.value for each in left] == ["Porto"]


def test_a_denial_is_decided_again_as_it_was(somebody):
    somebody.believed_after("I live in Porto", "Forget that I live in Porto", "Off the record: hi")
    assert somebody.memory.audit.replay_all().different == 0


@pytest.mark.parametrize(
    "words",
    [
        "That is wrong.",
        "That's wrong.",
        "wrong",
        "I never said that.",
        "nope, that's not true",
        "this is incorrect",
        "it isnt true",
    ],
)
def test_only_the_memory_that_is_corrected_ends(somebody, words):
    somebody.believed_after("I use vim", "My sister is called Anna", "I live in Porto")
    porto = next(each for each in somebody.beliefs() if each.value == "Porto")
    somebody.memory.correct(porto.memory_id, words)
    assert {each.value for each in somebody.beliefs()} == {"vim", "Anna"}


@pytest.mark.parametrize("words", ["It's Hanna.", "Hanna", "no, Hanna", "her name is Hanna"])
def test_a_bare_value_takes_the_place_of_the_one_that_is_wrong(somebody, words):
    somebody.believed_after("I live in Porto", "My sister is called Anna")
    anna = next(each for each in somebody.beliefs() if each.value == "Anna")
    somebody.memory.correct(anna.memory_id, words)
    assert {each.text for each in somebody.beliefs()} == {
        "User lives in Porto",
        "User's sister is called Hanna",
    }


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("I live in Lisbon", "please forget where I live"),
        ("I live in Lisbon", "forget my address please"),
        ("I work as a nurse at Tesco", "forget my job"),
        ("I work at Tesco", "can you forget where i work"),
        ("My name is Tom", "forget my name"),
        ("I'm 34 years old", "please forget how old i am"),
        ("I was born in Oslo", "please forget where i was born"),
        ("My birthday is 3 May", "forget my birthday pls"),
        ("My phone number is 0171 5551234", "delete my phone number"),
        ("I earn 4000 a month", "forget what I earn"),
        ("My email is ana@example.org", "please forget my email"),
        ("My rent is 900", "forget my rent please"),
        ("My brother Sam lives in Oslo", "Forget about my brother."),
        ("I work at Acme as a welder", "Delete what you know about my job."),
        ("My cat's name is Momo", "Remove my cat from your memory."),
        ("I live in Leeds", "Please forget that."),
    ],
)
def test_what_is_named_by_its_slot_is_forgotten(somebody, told, asked):
    assert somebody.believed_after(told)
    assert somebody.believed_after(asked) == []


@pytest.mark.parametrize(
    "said",
    ["i forget where i live sometimes", "dont forget where i live", "did you forget where I live?"],
)
def test_who_forgets_asks_for_nothing(somebody, said):
    assert somebody.believed_after("I live in Lisbon", said)


def test_what_was_asked_to_be_forgotten_is_told_to_no_agent(somebody):
    somebody.believed_after("I live in Lisbon. My dog is called Rex.")
    somebody.believed_after("forget where i live pls")
    found = somebody.memory.search(somebody.who, "where do I live?").results
    assert not [each.text for each in found if "Lisbon" in each.text or "pls" in each.text]
    [forgotten] = [
        each
        for each in somebody.memory.decisions(somebody.who)
        if each.claim == "User lives in Lisbon"
    ]
    assert forgotten.became.what == "revoked"
    somebody.believed_after("I live in Porto")
    told = somebody.memory.context(somebody.who, "where do I live?").lines
    assert any("Porto" in each.text for each in told)
    assert not any("Lisbon" in each.text for each in told)


@pytest.mark.parametrize("asked", ["Please forget that.", "Forget where I live"])
def test_what_was_just_said_is_told_no_more_where_it_is_to_be_forgotten(somebody, asked):
    somebody.believed_after("I live in Lisbon")
    somebody.believed_after(asked)
    lines = somebody.memory.context(somebody.who, "where do I live?").lines
    assert not any("Lisbon" in each.text for each in lines)


def test_what_is_over_is_told_as_past_to_an_agent_still(somebody):
    somebody.believed_after("I live in Lisbon.")
    somebody.believed_after("I don't live in Lisbon anymore")
    found = somebody.memory.search(somebody.who, "where did I live before?").results
    assert any("Lisbon" in each.text for each in found)


@pytest.mark.parametrize(
    ("told", "asked", "refused"),
    [
        ("I have diabetes.", "Please forget that I have diabetes.", "diabetes"),
        ("I have asthma.", "Forget that.", "asthma"),
        ("I have asthma.", "just kidding", "asthma"),
        ("I have asthma.", "I was lying when I said I have asthma", "asthma"),
        ("I'm a Catholic.", "Please forget my religion.", "Catholic"),
        ("I'm allergic to penicillin.", "forget my allergies", "penicillin"),
        ("I have asthma and I live in Bern.", "forget my health stuff", "asthma"),
    ],
)
def test_what_waits_for_a_reviewer_is_refused(somebody, told, asked, refused):
    memory = somebody.memory
    before = somebody.believed_after(told)
    [waits] = [each for each in memory.decisions(somebody.who) if each.outcome == "queue"]
    assert somebody.believed_after(asked) == before
    decision = memory.decision(waits.decision_id)
    assert refused in decision.claim
    assert decision.became is not None
    assert decision.became.what == "refused"
    assert decision.became.text.endswith(", as the person asked")
    with pytest.raises(NotPermitted, match="reviewed already"):
        memory.conflicts.review(waits.decision_id, approve=True, by="lea")
    assert somebody.believed_after("I play the cello.")  # and it goes on


@pytest.mark.parametrize("asked", ["please forget my job", "I forget my inhaler all the time"])
def test_what_waits_and_is_not_meant_waits_on(somebody, asked):
    memory = somebody.memory
    somebody.believed_after("I have asthma.")
    somebody.believed_after(asked)
    [waits] = [each for each in memory.decisions(somebody.who) if each.outcome == "queue"][:1]
    assert memory.decision(waits.decision_id).became is None
    memory.conflicts.review(waits.decision_id, approve=True, by="lea")
    assert "User has asthma" in [each.text for each in memory.beliefs(somebody.who)]


@pytest.mark.parametrize(
    "words", ["Not any more.", "That is no longer true.", "it isnt true anymore", "That's over."]
)
def test_a_correction_that_says_it_is_over_leaves_it_as_past(somebody, words):
    somebody.believed_after("I live in Lisbon.")
    [home] = somebody.beliefs()
    somebody.memory.correct(home.memory_id, words)
    assert somebody.beliefs() == []
    told = somebody.search("where do I live?").results
    assert ("I live in Lisbon.", "outdated") in [(e.text, e.standing.state) for e in told], told


@pytest.mark.parametrize("words", ["That's wrong.", "it isn't true", "I never lived there."])
def test_what_was_never_so_is_told_to_no_agent(somebody, words):
    memory = somebody.memory
    somebody.believed_after("I live in Lisbon.")
    [home] = somebody.beliefs()
    memory.correct(home.memory_id, words)
    assert somebody.beliefs() == []
    results = memory.search(somebody.who, "where do I live?").results
    assert not [each.text for each in results if "Lisbon" in each.text]
    assert "Lisbon" not in memory.context(somebody.who, "where do I live?").content
    audit = SearchOptions(standing="all", reason="to see")
    found = somebody.search("do I live in Lisbon?", options=audit, by="lea").results
    [was] = [each for each in found if each.text == "I live in Lisbon."]
    assert was.standing.reasons == ("untrue",)


@pytest.mark.parametrize(
    ("told", "words", "believed"),
    [
        ("I have a dog called Rex.", "No, it's a cat.", "User's cat is called Rex"),
        ("I have a cat called Tom", "sorry, it's a dog", "User's dog is called Tom"),
    ],
)
def test_the_kind_of_an_animal_is_put_right(somebody, told, words, believed):
    somebody.ends_with([told, words], over=(), stands=[believed])
    somebody.who += " again"
    [pet] = somebody.believed_after(told)
    somebody.memory.correct(pet.memory_id, words)
    assert [each.text for each in somebody.beliefs()] == [believed]


@pytest.mark.parametrize(
    ("told", "words"),
    [("My sister is Ana.", "no wait she's a nurse"), ("my boss is called Tom", "he's a director")],
)
def test_what_somebody_is_is_no_name(somebody, told, words):
    [before] = somebody.believed_after(told)
    assert before.text in [each.text for each in somebody.believed_after(words)]


@pytest.mark.parametrize(
    ("asked", "left"), [("Ana", "Eva"), ("Eva", "Ana")], ids=["the first", "the second"]
)
def test_of_two_sisters_one_is_forgotten(somebody, asked, left):
    somebody.believed_after("My sister Ana is a nurse. My sister Eva is a chef.")
    found = [each.text for each in somebody.believed_after(f"forget about my sister {asked}")]
    assert len(found) == 2
    assert all(left in each for each in found)


@pytest.mark.parametrize(
    ("told", "words", "over", "stands"),
    [
        ("I work at Shell.", "That's not true, I made that up.", "Shell", None),
        ("I live in Minsk.", "I was lying about where I live.", "Minsk", None),
        ("I work at Shell.", "i lied about my job", "Shell", None),
        ("My name is Tom", "I lied about my name", "Tom", None),
        ("I have a dog called Rex.", "haha i made that up", "Rex", None),
        ("I'm a pilot.", "that was a lie, sorry", "pilot", None),
        ("I have three cats.", "Just kidding, I have two cats.", "three", None),
        ("I live in Oslo.", "jk, i live in Bergen", "Oslo", "Bergen"),
        ("I live in Lisbon.", "Actually I never lived in Lisbon, it was Lagos.", None, "Lagos"),
        ("I work at Acme.", "I never worked at Acme, it was Initech", "works at Acme", "Initech"),
    ],
)
def test_a_lie_is_taken_back_and_what_is_so_is_believed(somebody, told, words, over, stands):
    somebody.ends_with(
        [told, words], over=[over] if over else (), stands=[stands] if stands else ()
    )
    assert "User lives in Lisbon" not in [each.text for each in somebody.beliefs()]


@pytest.mark.parametrize(
    "words",
    [
        "that's not true of everyone",
        "that's a lie they tell kids",
        "I'm just kidding around at work",
    ],
)
def test_who_speaks_of_lies_takes_nothing_back(somebody, words):
    somebody.ends_with(["I live in Oslo.", words], over=(), stands=["Oslo"])
