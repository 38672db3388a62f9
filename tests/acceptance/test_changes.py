"""What changes in a talk: endings, repairs, figures, contexts, and one key for one fact."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from hearing import Somebody

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime

TALKS = Path(__file__).parent.parent / "data" / "changes"
LATER = timedelta(hours=6)


def said(talk, number):
    day, words, *session = talk["turns"][number]
    at = datetime.combine(day, time(12, number), UTC)
    return TurnInput(
        subject=talk["name"],
        content=words,
        session=session[0] if session else "a",
        said_at=from_datetime(at),
        ordinal=number,
    )


def read(name):
    return parsed((TALKS / f"{name}.yaml").read_bytes())


def wrong_ones(memory, talks):
    """The talks at whose end something is missing, or believed that must not be."""
    for number in range(max(len(talk["turns"]) for talk in talks)):
        memory.record_turns(said(talk, number) for talk in talks if number < len(talk["turns"]))
        assert not memory.process().failed
    wrong = {}
    for talk in talks:
        day, *_ = talk["turns"][-1]
        at = datetime.combine(day, time(12), UTC) + LATER
        texts = [each.text for each in memory.beliefs(talk["name"], valid_at=at)]

        def told(pattern, texts=texts):
            return any(re.search(pattern, text, re.IGNORECASE) for text in texts)

        if not all(map(told, talk["holds"])) or any(map(told, talk["lacks"])):
            wrong[talk["name"]] = texts
    return wrong


@pytest.fixture(scope="module")
def opened_with():
    return {"extractor": "rules", "consent": "explicit_consent"}


@pytest.fixture
def memory(place, opened_with):
    with open_memory(place, **opened_with) as opened:
        yield opened


@pytest.mark.parametrize(("half", "most"), [("tune", 2), ("held_out", 2)])
def test_what_is_believed_at_the_end_of_a_talk(memory, half, most):
    talks = read(half)
    wrong = wrong_ones(memory, talks)
    assert len(wrong) <= most, wrong
    assert memory.audit.replay_all().different == 0


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """What is believed before and after the second sentence of each pair."""
    with open_memory(tmp_path_factory.mktemp("lookalikes"), consent="explicit_consent") as opened:
        found = {}
        for first, second in read("lookalikes"):
            opened.remember(second, first)
            before = {each.text for each in opened.beliefs(second)}
            opened.remember(second, second)
            found[second] = before, {each.text for each in opened.beliefs(second)}
        yield found


@pytest.mark.parametrize(("first", "second"), read("lookalikes"))
def test_what_only_resembles_a_new_value_ends_nothing(after, first, second):
    before, now = after[second]
    assert before
    assert before <= now


def test_no_claim_is_made_of_two_things(after):
    claims = set().union(*(now for _, now in after.values()))
    assert not claims & {
        "User's dog Rex is 7",
        "User's brother Sam lives in Milan",
        "User's manager is based",
        "User works as a day shifts",
        "User likes Kotlin coffee",
        "User has 2 kids",
        "User's work phone is an iPhone",
    }


@pytest.mark.parametrize("words", ["Tom and I split up", "Tom and I broke up last week"])
@pytest.mark.parametrize("kin", ["boyfriend", "bf", "partner"])
def test_a_couple_that_parts_is_none(somebody, kin, words):
    tell(somebody, (0, f"My {kin} is Tom."), (9, words))
    assert not any("is Tom" in each for each in believed(somebody, 9))
    assert any("split up" in each or "broke up" in each for each in believed(somebody, 9))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("my gf is Mia", "my girlfriend is Ana now"),
        ("My boyfriend is Tom.", "my bf is Leo, we met in June"),
        ("my wife is Mia", "my new wife is Ana"),
        ("my hubby is Tom", "my husband is called Leo"),
    ],
)
def test_another_partner_takes_the_place_of_one(somebody, first, then):
    tell(somebody, (0, first), (9, then))
    partners = [each for each in somebody.beliefs() if each.attribute.startswith("relation.")]
    assert [each.value for each in partners] == [re.search("Ana|Leo", then)[0]]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("my girlfriend is Mia", "my gf is Mia Larsen"),  # the same, more fully
        ("my brother is Dan", "my bro is Tom"),
        ("my wife is Mia", "my best friend is Ana"),
        ("my girlfriend is Mia", "my sister's girlfriend is Ana"),
        ("my girlfriend is Mia", "my business partner is Ana"),
    ],
)
def test_who_is_near_takes_nobodys_place(somebody, first, then):
    tell(somebody, (0, first), (9, then))
    named = re.search("Mia|Dan", first)[0]
    assert any(named in each for each in believed(somebody, 9))


@pytest.mark.parametrize(
    ("then", "home"),
    [
        ("my brother quit his job, moved to Oslo", "Porto"),
        ("my sister sold the house, moved to Oslo", "Porto"),
        ("mum retired, moved to Spain", "Porto"),
        ("my parents retired, moved to Leeds", "Porto"),
        ("my in-laws retired, moved to Leeds", "Porto"),
        ("my dentist retired, moved to Oslo", "Porto"),
        ("Tom quit his job, moved to Oslo", "Porto"),
        ("tom quit his job, moved to oslo", "Porto"),
        ("Mark left his job, moved to Oslo", "Porto"),
        ("Dr Lee retired, moved to Oslo", "Porto"),
        ("Henrik from sales got a Dell, moved to Oslo", "Porto"),
        ("Anna and Tom split up, moved to Oslo", "Porto"),
        ("The Smiths sold up, moved to Oslo", "Porto"),
        ("Big news, Tom quit, sold his flat, moved to Oslo", "Porto"),
        ("my mate Dave sold up, bought a house in Oslo", "Porto"),
        ("work is mad, moved to Leeds", "Leeds"),
        ("Tom and I split up, moved to Oslo", "Oslo"),
        ("Tom quit his job, I moved to Oslo", "Oslo"),
        ("Big news, moved to Oslo", "Oslo"),
        ("Packed up, moved to Oslo", "Oslo"),
        ("New job started, moved to Oslo", "Oslo"),
        ("Uni finished, moved to Oslo", "Oslo"),
    ],
)
def test_a_clause_without_subject_is_of_whom_the_one_before_is(somebody, then, home):
    tell(somebody, (0, "I live in Porto."), (9, then))
    homes = [each for each in somebody.beliefs() if each.attribute == "home.location"]
    assert [each.value for each in homes] == [home]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I work at Siemens.", "Tom quit, started at Bosch"),
        ("I work at Siemens.", "Tom had enough, left Siemens"),
        ("I work as a nurse.", "Tom finished his course, working as a teacher now"),
        ("I drive a Fiesta.", "Marek crashed his, switched to a Golf"),
        ("I have a Netflix subscription.", "Tom got fed up, cancelled Netflix"),
        ("I play guitar.", "Tom got fed up, quit guitar"),
        ("I have a dog.", "my parents moved, gave the dog away"),
        ("I have a girlfriend.", "Anna and Tom broke up"),
        ("I have 5 fish.", "one escaped me last time I fished"),
        ("My phone is a Pixel 6.", "Ben got the new iPhone"),
        ("My phone is a Pixel 6.", "ben just got the new iphone"),
        ("I'm on the search team.", "Priya joined the ads team"),
        ("I work at Siemens.", "Tom had enough. Left Siemens on Friday"),
    ],
)
def test_what_others_did_ends_nothing(somebody, first, then):
    tell(somebody, (0, first))
    before = believed(somebody, 0)
    tell(somebody, (9, then))
    assert before <= believed(somebody, 9)


def test_who_parted_is_told_by_name(somebody):
    tell(somebody, (0, "Tom and I split up."))
    assert believed(somebody, 0) == {"User and Tom split up"}


def test_a_list_is_not_cut_after_the_first_of_it(somebody):
    tell(somebody, (0, "I have two kids, Anu (5) and Dev (3)."))
    assert believed(somebody, 0) == {
        "User has two kids, Anu (5) and Dev (3)",
        "User's kid is Anu",
        "User's kid Anu is 5",
        "User's kid is Dev",
        "User's kid Dev is 3",
    }


def test_what_a_person_is_is_told_once(somebody):
    tell(somebody, (0, "My bf Tom is a chef."))
    assert [each.text for each in somebody.beliefs()].count("User's bf Tom is a chef") == 1


def tell(somebody, *turns):
    for number, (day, words) in enumerate(turns):
        at = datetime(2026, 1, 1, 12, number, tzinfo=UTC) + timedelta(days=day)
        somebody.memory.record_turn(somebody.who, words, said_at=at, session="s")
        somebody.memory.process()


def believed(somebody, day):
    at = datetime(2026, 1, 1, 18, tzinfo=UTC) + timedelta(days=day)
    return {each.text for each in somebody.beliefs(valid_at=at)}


def test_an_ending_has_the_date_that_was_said(somebody):
    tell(somebody, (0, "I work at Initech."), (60, "I lost my job on February 20."))
    assert "User works at Initech" in believed(somebody, 40)
    assert "User works at Initech" not in believed(somebody, 55)


def test_it_ends_only_what_it_is_about_and_only_of_whom(somebody):
    tell(somebody, (0, "I work at Initech. I live in Leeds."))
    ben = Somebody(somebody.memory, f"{somebody.who}-ben")
    tell(ben, (0, "I work at Initech."))
    tell(somebody, (9, "I lost my job."))
    assert believed(somebody, 9) == {"User lives in Leeds", "User lost their job"}
    assert believed(ben, 9) == {"User works at Initech"}


@pytest.mark.parametrize(
    "words",
    [
        "I almost lost my job.",
        "If I lost my job, I would move.",
        "I didn't lose my job.",
        "Did I say that I lost my job?",
        "I dreamt that I lost my job.",
        "My brother lost his job.",
    ],
)
def test_what_did_not_happen_ends_nothing(somebody, words):
    tell(somebody, (0, "I work at Initech."), (9, words))
    assert "User works at Initech" in believed(somebody, 9)


def test_what_is_until_a_date_is_over_then(somebody):
    tell(somebody, (0, "I live in Leeds until March."))
    assert any("Leeds" in text for text in believed(somebody, 30))
    assert not any("Leeds" in text for text in believed(somebody, 70))


def test_words_taken_back_were_never_so(memory):
    ana = Somebody(memory, "ana")
    tell(ana, (0, "My favorite color is green."), (0, "Actually scratch that."))
    assert believed(ana, 0) == set()
    assert memory.audit.replay_all().different == 0


@pytest.mark.parametrize("words", ["actually switched to day shifts", "oh wait, sold the Polo"])
def test_what_was_done_is_no_value_of_the_statement_before(somebody, words):
    tell(somebody, (0, "I can't stand heavy metal."), (0, words))
    assert believed(somebody, 0) >= {"User cannot stand heavy metal"}
    assert not any("cannot" in each and words[-6:] in each for each in believed(somebody, 0))


@pytest.mark.parametrize("said", ["my friend Rui lives in Faro", "I have a dog called Rex"])
@pytest.mark.parametrize(
    "words",
    [
        "sry, the week before last",
        "oops, last month",
        "no wait, next year",
        "sorry, at the weekend",
        "oops a while ago",
        "actually for the summer",
    ],
)
def test_a_time_takes_the_place_of_no_town_and_no_name(somebody, said, words):
    somebody.remember(said)
    before = {each.text for each in somebody.beliefs()}
    somebody.remember(words)
    assert before <= {each.text for each in somebody.beliefs()}


def test_a_new_employer_is_told_though_the_old_one_was_told_with_a_trade(somebody):
    tell(somebody, (0, "I work at Initech as a baker."), (9, "first day at Globex went well!"))
    assert "User works at Globex" in believed(somebody, 9)
    assert not any("Initech" in each for each in believed(somebody, 9))


def test_new_shifts_are_no_new_trade(somebody):
    tell(somebody, (0, "I work as a nurse at Saint James."), (9, "actually switched to day shifts"))
    assert any("nurse" in each for each in believed(somebody, 9))


def test_a_later_figure_takes_the_place_of_the_earlier(somebody):
    tell(somebody, (0, "I have five shirts."), (5, "I have 7 shirts now."))
    assert believed(somebody, 4) == {"User has five shirts"}
    assert believed(somebody, 6) == {"User has 7 shirts now"}


def test_what_goes_on_for_so_long_began_so_long_ago(somebody):
    tell(somebody, (0, "I've had my cat for 6 months."))
    assert believed(somebody, -90) == {"User has had their cat for 6 months"}
    assert believed(somebody, -240) == set()


def test_a_new_employer_is_told_by_switching_where_nothing_else_could_be_switched(somebody):
    tell(somebody, (0, "I work at Initech in accounting"), (9, "switched to Globex last month"))
    assert not any("Initech" in each for each in believed(somebody, 9))


def test_who_switches_something_else_keeps_the_employer(somebody):
    tell(somebody, (0, "I work at Initech"), (1, "we're with Virgin for broadband"))
    tell(somebody, (9, "switched to Hyperoptic last week"))
    assert any("Initech" in each for each in believed(somebody, 9))


@pytest.mark.parametrize("more", ["gym thursdays as well now", "gym on thursdays too now"])
def test_another_day_as_well_takes_no_days_place(somebody, more):
    tell(somebody, (0, "i go to the gym on mondays"), (9, more))
    assert any("mondays" in each for each in believed(somebody, 9))


def test_a_move_to_the_moon_is_a_joke(somebody):
    tell(somebody, (0, "I live in Bonn"), (9, "moved to the moon lol"))
    assert any("Bonn" in each for each in believed(somebody, 9))


@pytest.mark.parametrize("kin", ["mum", "my dad"])
def test_what_kin_got_rid_of_is_no_thing_of_the_speaker(somebody, kin):
    tell(somebody, (0, f"{kin} got rid of her cats, allergies"))
    assert not any("has" in each for each in believed(somebody, 0))


@pytest.mark.parametrize("job", ["I'm a nurse", "I work at St. Mary's as a nurse"])
def test_what_somebody_is_beside_the_job_takes_not_its_place(somebody, job):
    tell(somebody, (0, job))
    before = believed(somebody, 0)
    besides = [
        "im a vegan now", "I'm a vegetarian these days", "I'm a pescatarian nowadays",
        "I'm a Buddhist these days", "I'm a mother now", "I'm a dad of two these days",
        "I'm a widower now", "I am a homeowner now", "I'm a runner these days",
        "I'm a Londoner now", "I'm a Mac user now", "I'm a Brit now", "I'm a tea drinker now",
        "I'm a bit tired now", "I'm a big fan of jazz these days", "I became a father last week",
    ]  # fmt: skip
    for day, words in enumerate(besides, 1):
        tell(somebody, (day, words))
        assert before <= believed(somebody, day), words
    assert not any("works as" in each for each in believed(somebody, 99) - before)


@pytest.mark.parametrize("told", ["I'm a welder now", "im a barista these days"])
def test_another_job_takes_its_place(somebody, told):
    tell(somebody, (0, "I'm a nurse"), (9, told))
    assert not any("nurse" in each for each in believed(somebody, 9))


def test_a_new_value_of_a_special_category_waits_for_its_consent(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I'm a nurse")
        memory.remember("ana", "became a Buddhist last year")
        assert [each.value for each in memory.beliefs("ana")] == ["nurse"]
