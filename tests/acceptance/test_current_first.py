"""The present value of what changed comes first; through the front door, on both backends."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hearing import Somebody

from beliefledger import open_memory
from beliefledger.ledger.data_files import parsed
from beliefledger.projections.slot_routing import built_in
from beliefledger.search.options import SearchOptions
from beliefledger.tools.bench.stories import FILES, STORIES, TOGETHER, mixed, written


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        yield memory


def say(somebody, *turns):
    for day, words in turns:
        somebody.memory.record_turn(somebody.who, words, said_at=f"{day}T12:00:00Z")
    somebody.memory.process()


def found(somebody, query, **asked):
    answer = somebody.search(query, **{"valid_at": "2025-12-01", **asked})
    return [each.text for each in answer.results]


MOVED = (("2025-01-12", "I live in Lisbon."), ("2025-06-20", "I moved to Porto."))


@pytest.mark.parametrize(
    "question", ["where do I live?", "what city am I in?", "where am i based these days"]
)
def test_the_present_value_comes_first_whatever_the_words(somebody, question):
    say(somebody, *MOVED)
    assert found(somebody, question)[:2] == ["User moved to Porto", "I live in Lisbon."]


def test_who_names_nobody_asks_of_the_subject(somebody):
    say(
        somebody,
        ("2025-01-12", "I use unittest."),
        ("2025-06-20", "No, I use pytest, not unittest."),
    )
    for question in ("which test runner?", "which test runner do I use?"):
        assert found(somebody, question)[0] == "User uses pytest"


def test_it_comes_first_among_turns_too(somebody):
    say(somebody, *MOVED)
    only = SearchOptions(include=["episodes"])
    assert found(somebody, "where do I live?", options=only) == ["I moved to Porto.", MOVED[0][1]]


def test_at_an_earlier_time_the_value_of_then_comes_first(somebody):
    say(somebody, *MOVED)
    assert found(somebody, "where do I live?", valid_at="2025-03-01")[0] == "User lives in Lisbon"


def test_a_question_about_the_past_brings_the_old_value_with_its_dates(somebody):
    say(somebody, *MOVED)
    best = somebody.search("where did I live before?", valid_at="2025-12-01").results[0]
    assert best.text == "User lives in Lisbon"
    assert best.memory.valid_to.isoformat() == "2025-06-20T12:00:00+00:00"


def test_what_a_later_turn_takes_up_comes_after_it_and_says_so(somebody):
    say(
        somebody,
        ("2025-01-12", "My locker at the pool is number 17."),
        ("2025-06-20", "They moved me, my locker is number 52 now."),
    )
    answer = somebody.search("which locker is mine?", valid_at="2025-12-01")
    texts = [each.text for each in answer.results]
    assert "52" in texts[0]
    old = next(each for each in answer.results if "17" in each.text)
    assert old.taken_up_by is not None or old.standing.state == "outdated"


def test_two_memories_that_say_the_same_are_one_result(somebody):
    say(somebody, ("2025-01-12", "I work at Siemens as a data engineer."))
    held = [each.text for each in somebody.beliefs(valid_at="2025-12-01")]
    assert len(held) == 2
    assert found(somebody, "where do I work?") == [held[0]]


@pytest.mark.parametrize(
    "question", ["where do I work?", "what is my role?", "who is my employer and what is my job?"]
)
def test_a_memory_and_its_turn_and_one_that_says_the_same_are_one_line(somebody, question):
    """Employer and role both came of the sentence, with one claim; the turn is their evidence."""
    said = "I work at Siemens as a data engineer."
    say(somebody, ("2025-01-12", said))
    [only] = somebody.search(question, valid_at="2025-12-01").results
    assert only.text == "User works at Siemens as a data engineer"
    assert [said[each.start : each.end] for each in only.memory.evidence] == [said.rstrip(".")]
    context = somebody.memory.context(somebody.who, question)
    assert context.content.count("Siemens") == 1


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I drive a Skoda Fabia, it's grey.", "what set of wheels have i got"),
        ("My bank is Monzo.", "whose card do i pay with"),
        ("My dentist is Dr. Alvarez.", "who looks after my teeth?"),
        ("I get up at 7.", "when do i crawl out of bed"),
        ("I train at FitZone.", "where do I pump iron?"),
        ("I bought a Fairphone today, my phone is a Fairphone 5.", "what do I make calls on?"),
    ],
)
def test_a_question_finds_the_slot_whatever_key_the_gate_gave_it(somebody, said, question):
    say(somebody, ("2025-01-12", "We painted the hallway green."), ("2025-02-01", said))
    best = somebody.search(question, valid_at="2025-12-01").results[0]
    assert best.memory is not None
    assert "slot" in best.arms


def test_every_key_of_a_fact_has_a_slot():
    """Else a question is not routed to what the gate keeps under it."""
    keys = parsed(files("beliefledger.gate").joinpath("keys.yaml").read_bytes())
    attributes = [each for slot in built_in() for each in slot.attributes]
    without = [
        key
        for key in keys
        if not any(key == each or key.startswith((f"{each}.", f"{each}-")) for each in attributes)
    ]
    assert without == []


def test_a_question_near_to_the_words_for_a_slot_asks_for_it(somebody):
    """“Outlet for my wages” is no entry of the table, and shares no word with what was said."""
    say(
        somebody, ("2025-01-12", "I joined Ericsson last week."), ("2025-02-01", "I work at Nokia.")
    )
    texts = found(somebody, "which corporation is paying me my salary?")
    assert texts[0] == "User works at Nokia"


def test_a_memory_without_the_name_does_not_stand_for_a_turn_that_has_it(somebody):
    say(
        somebody,
        ("2025-01-12", "My girlfriend is called Ines."),
        ("2025-06-20", "Ines and I got married on Saturday!"),
    )
    assert "Ines" in found(somebody, "what is my wife's name?")[0]


def test_a_type_brings_words_for_its_questions(memory):
    memory.types.add(
        {
            "name": "berth",
            "attribute": "berth.{value}",
            "patterns": ["moor at {value}"],
            "asks": ["where boat"],
            "says": ["moor"],
        },
        by="system",
    )
    ana = Somebody(memory, "ana")
    say(ana, ("2025-01-12", "I moor at Gosport."))
    assert "Gosport" in found(ana, "where is my boat?")[0]


def test_a_search_is_made_again_with_the_same_order(somebody):
    say(somebody, *MOVED)
    answer = somebody.search("where do I live?", valid_at="2025-12-01")
    assert somebody.memory.audit.replay_recall(answer.recall_id).verdict == "same"


def test_a_question_whose_slot_nobody_spoke_of_is_asked_as_one_without(somebody):
    """ "lunch" asks for what somebody eats; nobody said that, but where they get it."""
    say(
        somebody,
        ("2024-10-02", "I always get lunch at Pret"),
        ("2025-03-12", "Pret closed so I get my lunch at Itsu these days"),
    )
    assert "Itsu" in found(somebody, "what's my usual lunch place?")[0]


def test_what_somebody_else_is_asked_about_is_taken_up_too(somebody):
    say(
        somebody,
        ("2024-04-02", "Mia has to be home by 9"),
        ("2025-04-02", "Mia may stay out until 10:30 now"),
    )
    assert "10:30" in found(somebody, "when does Mia have to be home?")[0]


def test_a_later_turn_that_lacks_the_question_s_words_comes_first_even_so(somebody):
    say(
        somebody,
        ("2024-01-10", "I use Robinhood for my stocks"),
        ("2025-03-09", "moved everything from Robinhood to Fidelity"),
    )
    first, second = found(somebody, "which app do I use?")
    assert "Fidelity" in first
    assert "Robinhood" in second


def test_another_word_for_the_same_thing_finds_it(somebody):
    say(somebody, ("2025-03-09", "My piano teacher is Elena."))
    assert "Elena" in found(somebody, "whos my music tutor")[0]


def test_whoever_is_called_by_a_name_is_asked_for_by_both(somebody):
    say(
        somebody,
        ("2024-08-01", "My son Emil works at IKEA."),
        ("2025-03-15", "Emil quit IKEA, he's at Lidl now"),
    )
    for question in ("where does Emil work?", "what is my son's employer?", "wheres emil working"):
        assert "Lidl" in found(somebody, question)[0], question


def test_what_is_said_of_somebody_else_takes_up_nothing(somebody):
    say(
        somebody,
        ("2024-08-26", "I live in Ghent."),
        ("2025-02-22", "my sister moved to Antwerp, we help her paint"),
    )
    for question in ("where do I live?", "in which city is my home?", "where am i based atm"):
        assert "Ghent" in found(somebody, question)[0], question


def test_what_is_said_of_somebody_by_their_name_is_not_of_the_speaker(somebody):
    say(
        somebody,
        ("2025-01-12", "I work as a nurse at Saint James, nights mostly."),
        ("2025-02-01", "My brother Tom is a chef."),
        ("2025-06-20", "Tom got a new job at The Ivy."),
        ("2025-07-01", "Got the dog!! She's called Biscuit."),
    )
    assert "Saint James" in found(somebody, "where do I work?")[0]
    assert "Ivy" in found(somebody, "where does Tom work?")[0]


def test_two_texts_that_only_say_that_something_is_new_do_not_take_each_other_up(somebody):
    say(
        somebody,
        ("2025-01-12", "My plumber got a new van from Ford."),
        ("2025-06-20", "Just got the tickets for Rome."),
    )
    answer = somebody.search("which van does my plumber drive?", valid_at="2025-12-01")
    assert "Ford" in answer.results[0].text
    assert answer.results[0].taken_up_by is None


def test_what_is_said_anew_comes_first_though_nothing_says_that_it_changed(somebody):
    say(
        somebody,
        ("2024-05-31", "I prefer the window seat on flights."),
        ("2025-02-06", "I prefer an aisle seat these days, my legs need the space."),
    )
    assert "aisle" in found(somebody, "which seat do I prefer on a plane?")[0]


def test_what_is_said_anew_takes_up_the_old_without_a_word_of_change(somebody):
    say(
        somebody,
        ("2025-01-14", "The cleaner comes on Mondays at nine."),
        ("2025-06-03", "from this week the cleaner comes on Fridays, mondays are full for her"),
    )
    first, second = somebody.search("on which day does the cleaner come?").results[:2]
    assert "Fridays" in first.text
    assert "Mondays (no longer so since 2025-06-03) at nine" in second.text


def test_what_is_said_anew_may_name_somebody_else(somebody):
    """What somebody else did takes up nothing, but this is the same thing with them in it."""
    say(
        somebody,
        ("2024-07-01", "When we travel the dog stays at the Waldhof kennel."),
        ("2025-07-12", "When we travel the dog stays with my neighbour Ruth now, Waldhof closed."),
    )
    for question in ("where does the dog stay when we travel?", "who minds the dog on holidays?"):
        assert "Ruth" in found(somebody, question)[0], question


def test_what_somebody_else_has_takes_up_nothing(somebody):
    say(
        somebody,
        ("2024-05-05", "I keep my bees in the orchard behind the mill."),
        ("2025-04-20", "my brother keeps his bees on the roof of the fire station"),
    )
    assert "orchard" in found(somebody, "where do I keep my bees?")[0]


def test_a_number_that_is_so_now_is_asked_for_by_how_many(somebody):
    say(
        somebody,
        ("2025-01-02", "my instagram has 1200 followers"),
        ("2025-06-02", "just hit 3000 followers on instagram"),
    )
    assert "3000" in found(somebody, "how many followers do I have?")[0]


def test_what_only_asks_is_no_answer(somebody):
    say(
        somebody,
        ("2025-01-05", "500 hrs of factorio. i dream in conveyor belts"),
        ("2025-02-02", "what game is in season in scotland"),
        ("2025-03-01", "evenings are stardew now with my girlfriend, we grow parsnips"),
        ("2025-03-09", "which board game for five people who all hate losing"),
    )
    texts = found(somebody, "what game am I playing in the evenings?")
    assert "stardew" in texts[0]


@pytest.mark.parametrize(
    ("who", "own", "theirs", "question", "answer"),
    [
        (
            "my girlfriend is Jana",
            "im freelance since march, mostly logos",
            "Jana got the job at Zalando!",
            "what's my job?",
            "freelance",
        ),
        (
            "my wife is Lena",
            "i bank with the co-op, have for years",
            "Lena switched to Monzo",
            "which bank am I with?",
            "co-op",
        ),
        (
            "my son is Ben",
            "my phone is a battered pixel 6",
            "Ben got the new iPhone",
            "what phone do I have?",
            "pixel",
        ),
    ],
)
def test_who_asks_of_themselves_is_told_nothing_of_others_first(
    somebody, who, own, theirs, question, answer
):
    say(somebody, ("2025-01-05", who), ("2025-02-05", own), ("2025-03-05", theirs))
    assert answer in found(somebody, question)[0]


def test_news_is_shown_beside_what_it_may_have_changed(somebody):
    say(
        somebody,
        ("2025-01-05", "home contents cover is up for renewal, Aviva want 198 this time"),
        ("2025-01-19", "they wouldnt budge so we switched to LV= last week"),
    )
    assert any("LV=" in each for each in found(somebody, "who is my home insurance with?"))


def test_a_long_turn_and_its_memories_are_one_result(somebody):
    """Else they take the places of other turns that answer."""
    said = (
        "I bought a red bike last week at the shop near the station, and I sold my old scooter to"
        " a neighbour, who wants to repair it with his daughter over the winter holidays. The bike"
        " came with a helmet and two lamps, which I did not expect at all for that price."
    )
    say(somebody, ("2025-01-02", said), ("2025-01-09", "The bike shop near the station is closed."))
    assert len(somebody.beliefs()) > 2
    texts = found(somebody, "what did I buy at the bike shop near the station?")
    assert texts.count(said) == 1
    assert not [each for each in texts if each != said and each.removeprefix("User ") in said]


def test_the_stories_are_as_many_as_described_and_ask_three_times():
    for half in FILES:
        some = written(STORIES / f"{half}.yaml")
        assert len({story.name for story in some}) == len(some)
        assert len(some) == {
            "tune": 497, "tune_2": 20, "tune_3": 100, "test_2": 62, "test_5": 20, "test_6": 80,
            "test_7": 80,
        }.get(half, len(some))  # fmt: skip
        for story in some:
            assert len(story.now) == 3
            assert "current" in [story.told(words) for _, words in story.turns]


def test_people_who_tell_several_stories_tell_none_that_are_about_the_same():
    some = written(STORIES / "tune.yaml")[:80]
    people = mixed(some)
    assert sorted(story.name for each in people for story in each) == sorted(
        story.name for story in some
    )
    assert people == mixed(some)
    for each in people:
        assert len(each) <= TOGETHER
        for one in each:
            others = [said for other in each if other is not one for _, said in other.turns]
            assert not any(one.told(said) for said in others)


@pytest.mark.parametrize(
    ("held", "beside", "question", "first"),
    [
        # What could be, and what others do, is no later value.
        (
            "I live in Bergen, right by the fish market.",
            "We spent ten days in Lisbon, I could move there tomorrow",
            "what city am I in?",
            "Bergen",
        ),
        (
            "I'm working on the invoice parser.",
            "Priya is working on the login page, looks great.",
            "what am I working on?",
            "invoice",
        ),
        # Nor is what was only mentioned, and what nothing was kept of.
        (
            "I write my code in Neovim.",
            "Everybody on that forum raves about Cursor, I don't get it",
            "which editor do I use?",
            "Neovim",
        ),
        # Nor a plan, an offer that was declined, and what somebody else has got.
        (
            "I work at a nursery called Tannenhof.",
            "a garden centre offered me a job, i told them no",
            "where do I work?",
            "Tannenhof",
        ),
        (
            "our kitchen tiles are white",
            "we are considering green tiles but cant agree",
            "what colour are our kitchen tiles?",
            "white",
        ),
        (
            "I have a Lenovo laptop from 2022.",
            "Henrik from sales got a brand-new Dell today, everybody admired it.",
            "which laptop do I have?",
            "Lenovo",
        ),
    ],
)
def test_what_is_only_near_comes_after_what_is_so(somebody, held, beside, question, first):
    say(somebody, ("2025-01-02", held), ("2025-06-02", beside))
    assert first in found(somebody, question)[0]


@pytest.mark.parametrize(
    ("turns", "question", "answer"),
    [
        (
            (
                ("2025-02-01", "our standup is at 9:45"),
                ("2025-03-01", "standup got moved to 10:15"),
                ("2025-05-01", "bought a Brompton, cycling to work now"),
            ),
            "when's standup?",
            "10:15",
        ),
        (
            (
                ("2025-02-01", "the oven is a Rational, bought it second hand in 2021"),
                ("2025-03-01", "our rent's gone up to 1450 a month"),
                ("2025-05-01", "I hate coriander, never put it in any recipe"),
            ),
            "what oven do I have?",
            "Rational",
        ),
        (
            (
                ("2025-02-01", "my main supplier for flour is Marriage's"),
                ("2025-03-01", "We've switched flour supplier to Shipton Mill, much better"),
                ("2025-05-01", "sold the berlingo, got an electric Vivaro"),
            ),
            "who supplies our flour?",
            "Shipton",
        ),
        (
            (
                ("2025-02-01", "Joana postponed the wedding to september 12"),
                ("2025-05-01", "We adopted a second cat, Nori"),
            ),
            "when is Joana's wedding?",
            "september",
        ),
    ],
)
def test_a_later_event_or_note_of_something_else_takes_up_nothing(
    somebody, turns, question, answer
):
    say(somebody, *turns)
    assert answer in found(somebody, question)[0]


@pytest.mark.parametrize(
    ("before", "after", "question", "answer"),
    [
        (
            "the rehearsal room is room 4",
            "room 4 is a storage now so we rehearse in the attic",
            "where do we rehearse?",
            "attic",
        ),
        (
            "my locker at the pool is 88",
            "they gave me a better locker, 12",
            "which locker do i have at the pool?",
            "12",
        ),
        (
            "my bin day is tuesday",
            "council changed the bin day, friday from march",
            "when is my bin day?",
            "friday",
        ),
        (
            "my guest wifi is called Teapot",
            "had to rename the guest wifi, its Kettle",
            "what is the guest wifi called?",
            "Kettle",
        ),
    ],
)
def test_what_is_told_anew_in_other_words_comes_first(somebody, before, after, question, answer):
    say(somebody, ("2025-01-02", before), ("2025-06-02", after))
    assert answer in found(somebody, question)[0]


def test_who_asked_for_something_told_nothing_of_it(somebody):
    say(
        somebody,
        ("2025-02-01", "releases are on wednesdays only, at 14:00"),
        ("2025-05-01", "write me a haiku about releases that go out late"),
    )
    assert "wednesdays" in found(somebody, "what day do releases go out?")[0]


def test_what_has_the_time_that_is_asked_for_comes_first(somebody):
    say(
        somebody,
        ("2025-02-01", "we open at 6:30 every day except mondays"),
        ("2025-05-01", "the new sign says that we open early, looks lovely"),
    )
    assert "6:30" in found(somebody, "what time do we open?")[0]


def test_so_of_late_says_that_something_changed(somebody):
    say(
        somebody,
        ("2025-01-02", "I mostly code in Java"),
        ("2025-06-02", "these days I write Kotlin at work"),
    )
    assert "Kotlin" in found(somebody, "which programming language do I use?")[0]


def test_what_ended_comes_after_what_tells_of_the_end(somebody):
    say(
        somebody,
        ("2025-01-25", "i drive an old Volvo estate, runs like a tank"),
        ("2025-02-28", "The Volvo died. I bought a Skoda Octavia yesterday."),
    )
    for question in ("which car do I have?", "what tank do I roll around in?"):
        texts = found(somebody, question)
        assert "Skoda" in texts[0]
        assert any(each.startswith("i drive an old Volvo estate") for each in texts[1:])


def test_where_something_was_put_asks_where_it_is(somebody):
    say(
        somebody,
        ("2025-01-02", "My locker code is on the yellow note in my drawer."),
        ("2025-06-02", "The locker code is on the inside of my diary now."),
    )
    assert "diary" in found(somebody, "where did I put the code for the locker?")[0]


@pytest.mark.parametrize(
    "question", ["when should i be there for the daily thing", "by what time is the daily on?"]
)
def test_a_note_that_names_a_slot_answers_a_question_that_is_near_to_it(somebody, question):
    say(
        somebody,
        ("2025-01-02", "The printer on floor 3 is broken again"),
        ("2025-06-02", "Our standup is at 11 now"),
    )
    assert "standup" in found(somebody, question)[0]


def test_words_of_a_name_are_no_words_of_going_or_calling(somebody):
    """ "Go by Sam" and "call me Sam" had made every turn with "go" or "call" one about the name."""
    say(
        somebody,
        (
            "2025-01-12",
            "hey! I'm Marta, I just moved to Leeds for a job at a firm called Kite & Co",
        ),
        ("2025-06-20", "I quit Kite & Co today. Going freelance"),
        ("2025-07-20", "call the plumber tomorrow"),
    )
    for question in ("what's my name?", "who am I?", "what do you call me?"):
        assert found(somebody, question)[0] == "User is Marta"


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        # "in charge" is "charge" in an index, and "old" and "use" link no two texts.
        (
            (
                "I'm a nurse on the children's ward, mostly nights",
                "argenta started charging so i moved everything to Triodos",
                "use studio@brassheron.be for everything from now on, the other is full",
            ),
            "what's my job?",
            "nurse",
        ),
        (
            (
                "drove the old Golf to Liege and back, heater is broken",
                "we have an electric one now! a used Zoe, the golf went to a student",
                "new sim: 0488 31 07 66, the old one is dead",
            ),
            "what car do I drive?",
            "Zoe",
        ),
        # A value that may be one of what is asked, told in passing.
        (
            (
                "I'm a nurse on the children's ward, mostly nights",
                "we have an electric one now! a used Zoe, the golf went to a student",
            ),
            "what do I do for work?",
            "nurse",
        ),
    ],
)
def test_news_of_something_else_come_after_what_is_believed(somebody, told, question, answer):
    days = ("2025-01-22", "2025-04-04", "2025-07-28")
    say(somebody, *zip(days, told, strict=False))
    assert answer in found(somebody, question)[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who is my husband?", "Alan"),
        ("what is my husband's name?", "Alan"),
        ("what's my husband called?", "Alan"),
        ("what is my cat called?", "Tabitha"),
        ("what's the name of our dog?", "Wilf"),
        ("what is my kitten's name?", "Tabitha"),
        ("am I married?", "Alan"),
        ("who is my boss?", "Ruth"),
        ("what's my name?", "Maggie"),
    ],
)
def test_who_is_asked_for_by_a_word_is_nobody_else(somebody, question, answer):
    """What Alan does later, and what the dog is called, had come before them."""
    say(
        somebody,
        ("2025-01-03", "My name is Margaret and I live in Harrogate with my husband Alan."),
        ("2025-01-13", "My boss is called Ruth."),
        ("2025-02-01", "Alan has taken up bowls at his age! He plays on Thursdays."),
        ("2025-04-15", "Our cat is called Tabitha."),
        ("2025-05-15", "Our dog is called Wilf."),
        ("2025-06-15", "Ruth has moved to the big office upstairs."),
        ("2025-09-15", "Please call me Maggie, everybody does."),
    )
    assert answer in found(somebody, question)[0]


def test_a_husband_is_another_where_that_is_told(somebody):
    say(
        somebody,
        ("2025-01-03", "My husband is Alan."),
        ("2025-02-03", "Alan and I got divorced."),
        ("2025-08-03", "My new husband is called Tom."),
    )
    assert "Tom" in found(somebody, "who is my husband?")[0]


@pytest.mark.parametrize(
    ("told", "world", "question"),
    [
        (
            "did 8 miles today in my new shoes, the hokas, clouds for feet",
            "why do horses need shoes for running but zebras dont",
            "what shoes do I run in?",
        ),
        (
            "worktops in our kitchen are plain old laminate, bit chipped by the sink",
            "is a kitchen sink a fixture or a fitting",
            "what are my kitchen worktops made of?",
        ),
        (
            "4 mins in the french press and the coffee is perfect, no notes",
            "how did people make coffee in ethiopia before grinders existed",
            "how do I make my coffee?",
        ),
    ],
)
def test_what_only_asks_of_the_world_comes_after_what_is_told(somebody, told, world, question):
    say(somebody, ("2025-01-12", told), ("2025-06-20", world))
    assert found(somebody, question)[0] != world


def test_what_only_asks_of_the_world_is_found_all_the_same(somebody):
    say(somebody, ("2025-06-20", "why do horses need shoes for running but zebras dont"))
    assert "zebras" in found(somebody, "what did I ask about horses and shoes?")[0]
