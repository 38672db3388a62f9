"""Where somebody works, as what, when and for how much: told to open a chat, and told anew in
passing."""

import pytest

OPENINGS = [
    ("I am a delivery rider with Swiggy, please tell which mobile holder is good",
     {"work.role": "delivery rider", "work.employer": "Swiggy"}),
    ("I'm a delivery rider for Deliveroo in Bristol", {"work.employer": "Deliveroo"}),
    ("scrum master at Infosys here", {"work.role": "scrum master", "work.employer": "Infosys"}),
    ("receptionist at a dental clinic in Lagos here", {"work.role": "receptionist"}),
    ("cabin crew with Emirates here, pls help", {"work.role": "cabin crew"}),
    ("I am working as a cashier with Shoprite", {"work.employer": "Shoprite"}),
    ("I'm on the tills at Co-op in Wick, five years in May",
     {"work.post": "tills", "work.employer": "Co-op"}),
    ("I sell insurance for Allianz, mostly to farmers", {"work.employer": "Allianz"}),
    ("I drive a bus for Arriva in Luton", {"work.employer": "Arriva"}),
    ("self employed plumber, just me and a Transit", {"work.role": "self employed plumber"}),
    ("I'm with Siemens, in the Erlangen office",
     {"work.employer": "Siemens", "work.location": "Erlangen"}),
    ("Hello, new starter here, I am in team 4B on the second floor", {"work.team": "4B"}),
    ("hi, they put me in group 2A", {"group.group": "2A"}),
    ("I've got Reception this year, 28 of them", {"teaches.class": "Reception"}),
    ("Second-year PhD student in soil science at Wageningen, I need help to plan my fieldwork",
     {"work.role": "Second-year PhD student"}),
    ("I work full time as a nurse", {"work.role": "nurse"}),
    ("I work part-time at Lidl as a cashier", {"work.employer": "Lidl", "work.role": "cashier"}),
    ("I'm part time at Aldi", {"work.employer": "Aldi"}),
    ("I work part time.", {"work.mode": "part time"}),
    ("im full time", {"work.mode": "full time"}),
    ("im a nurse on permanent nights", {"work.role": "nurse", "work.hours": "permanent nights"}),
]  # fmt: skip

NO_OPENINGS = [
    "I'm a customer at Vodafone, please help me write a complaint",
    "I am a patient at St Mary's, what do I ask",
    "I'm a guest at the Hilton, how do I order breakfast",
    "I am a runner with Harriers",
    "I'm a beginner at Python",
    "table for two at Nando's here",
    "I'm with Anna in the Berlin office today",
    "I'm on the tills at Aldi today, covering for Sue",
    "I'm in House of Fraser",
    "I drive the kids for Mum",
    "plumber in Leeds needed here",
    "any driver at the depot here",
    "freelance translators, how do they find clients",
    "junior developer, senior pay",
    "She is a nurse at Leeds General",
    "if I am a security guard with G4S do I need a licence",
]

NEWS = [
    ("I am a delivery rider with Swiggy",
     "from when I joined the Bajaj service centre as mechanic all my shirts are spoiled",
     ("rider", "Swiggy"), "mechanic"),
    ("I work part time.", "im full time again", ("part time",), "full time"),
    ("I am a security guard with G4S", "my back is paining since I have become cab driver",
     ("guard",), "cab driver"),
    ("product owner at Zalando here", "need a farewell line for my old team, at N26 since monday",
     ("Zalando",), "N26"),
    ("I'm a data engineer at Acme", "They made me team lead in May",
     ("data engineer",), "team lead"),
    ("I'm on the tills at Co-op", "They moved me on to the bakery in June", ("tills",), "bakery"),
    ("im on reception at the Ibis", "they got me on the night desk now", ("reception",),
     "night desk"),
    ("I'm with Siemens, in the Erlangen office", "I'm in the Ghent plant since March",
     ("Erlangen",), "Ghent"),
    ("Our office is in Munich", "our new office is in Berlin, where can one eat there",
     ("Munich",), "Berlin"),
    ("I am in team 4B", "And I misread my letter, sorry, I am in team 4D", ("4B",), "4D"),
    ("I am in group 2A", "they moved me into group 2C, is that the harder one", ("2A",), "2C"),
    ("I've got Reception this year, 28 of them",
     "im in year 4 this time round after all those phonics", ("Reception",), "year 4"),
    ("Second-year PhD student in soil science at Wageningen, I need a plan",
     "Defended in September and they kept me on as a postdoc", ("PhD student",), "postdoc"),
    ("final year PhD student in chemistry at Bath, i need a template",
     "Passed my viva on Tuesday!! what do I call myself now", ("PhD student",), "viva"),
    ("I drive a bus for Arriva",
     "The pension papers are done and I gave back my badge in July", ("Arriva",), "pension"),
    ("self employed plumber, just me and a van", "took a job with British Gas in April",
     ("self employed",), "British Gas"),
    ("I'm a chef at the Hilton", "my knives rust since I switched to teaching at the hotel school",
     ("a chef",), "teaching"),
    ("im on mat leave til september", "second week back at my desk", ("mat leave",), "back"),
    ("I'm on sabbatical until January", "first week back in the lab, what did I miss",
     ("sabbatical",), "lab"),
    ("im a nurse on permanent nights", "moved to days finally!!", ("nights",), "nurse"),
    ("im a nurse on permanent nights", "moved to days finally!!", ("nights",), "days"),
    ("I work 9 to 5", "they moved us to 8 to 4", ("9 to 5",), "8 to 4"),
    ("I work nights", "they put me on days starting this week", ("nights",), "days"),
    ("I work nights", "back on earlies from today, 5 til 1", ("nights",), "earlies"),
    ("we work 6 to 2", "hours changed to 7 to 3", ("6 to 2",), "7 to 3"),
    ("I'm on £20 an hour", "they bumped me to £22 an hour", ("£20",), "£22"),
    ("I childmind four under-fives at home", "I'm up to six weans now", ("four",), "six under"),
    ("I teach piano to nine pupils", "I've fifteen at the moment", ("nine",), "fifteen pupils"),
    ("i walk four dogs a day", "im up to nine now", ("four",), "nine dogs"),
]  # fmt: skip
"""What is told first, what is told later, what nobody believes then, and what is believed."""

NO_NEWS = [
    ("I am a security guard with G4S", "my brother has become cab driver", "security guard"),
    ("I'm on the tills at Aldi", "they might put me on the bakery next month", "tills"),
    ("I'm with Siemens, in the Erlangen office", "visiting the Berlin office this week",
     "Erlangen"),
    ("our office is in Hamburg", "the client's new office is in Bremen", "Hamburg"),
    ("I'm in team Blue", "my son is in team Red at camp", "team Blue"),
    ("I teach Year 3", "my daughter is in year 6 now", "Year 3"),
    ("I'm a PhD student in law at Ghent", "my supervisor defended her budget in May", "PhD"),
    ("im on mat leave til september", "popping back to the office for a day to show the baby",
     "mat leave"),
    ("im a nurse on permanent nights", "did a day shift yesterday", "nights"),
    ("im a nurse on nights", "swapped to days for this week", "on nights"),
    ("I work 8 to 4", "tomorrow I work 12 to 8 because Ines is ill", "works 8 to 4"),
    ("I work nights", "next week i'm on lates", "works nights"),
    ("I work 9 to 5", "they moved the meeting to 10 to 11", "9 to 5"),
    ("I work 9 to 5", "they moved us to 7 to 8 tables", "9 to 5"),
    ("I get £12 an hour", "they'd have put me up to £15 an hour if I stayed", "£12"),
    ("I teach piano to nine pupils", "I've two dogs at the moment", "nine pupils"),
    ("I teach piano to nine pupils", "I've twelve euros at the moment", "nine pupils"),
    ("I teach piano to nine pupils", "I'm 34 now", "nine pupils"),
]  # fmt: skip


def told(somebody, *turns):
    return somebody.believed_after(*turns, besides=())


@pytest.mark.parametrize(("said", "slots"), OPENINGS)
def test_an_opening_is_read_into_its_slots(somebody, said, slots):
    found = {each.attribute: each.value for each in told(somebody, said)}
    assert {key: found.get(key) for key in slots} == slots


@pytest.mark.parametrize("said", NO_OPENINGS)
def test_what_tells_no_work_is_none(somebody, said):
    assert not [each for each in told(somebody, said) if each.attribute.startswith("work.")]


@pytest.mark.parametrize(("first", "later", "over", "now"), NEWS)
def test_news_in_passing_takes_the_place_of_the_old(somebody, first, later, over, now):
    claims = [each.text for each in told(somebody, first, later)]
    assert any(now.lower() in each.lower() for each in claims), claims
    assert not [each for each in claims if any(old in each for old in over)]


@pytest.mark.parametrize(("first", "later", "so"), NO_NEWS)
def test_what_is_no_news_of_it_leaves_it(somebody, first, later, so):
    claims = [each.text for each in told(somebody, first, later)]
    assert any(so in each for each in claims), claims


def test_where_one_works_now_is_told_in_few_words_to_who_asks(somebody):
    somebody.believed_after("I'm with Siemens, in the Erlangen office")
    claims = [each.text for each in told(somebody, "Berlin, but same team")]
    assert "User is in the Berlin office" in claims
    assert not [each for each in claims if "Erlangen" in each]


def test_a_raise_is_told_once(somebody):
    found = told(somebody, "I'm on £20 an hour", "they bumped me to £22 an hour")
    assert [each.attribute for each in found] == ["work.salary"]


LEFT = [
    (("Barman at the Crown here", "I quit the Crown"), ("Barman",)),
    (("I am a cashier at Lidl", "I don't work at Lidl anymore"), ("cashier",)),
    (("barista at Costa", "not at Costa anymore, got a job in a library"), ("is a barista",)),
]


@pytest.mark.parametrize(("turns", "over"), LEFT)
def test_what_somebody_was_at_an_employer_is_over_with_it(somebody, turns, over):
    somebody.ends_with(turns, over, ())


LEARNED = [
    (("I'm a nurse at Saint James", "I left Saint James"), ("nurse",)),
    (("im a plumber with Pimlico", "I quit Pimlico"), ("plumber",)),
    (("I am a cashier at Lidl", "my sister quit Lidl"), ("cashier",)),
    (("I am a cashier", "I work at Lidl", "I quit Aldi"), ("cashier",)),
]


@pytest.mark.parametrize(("turns", "stands"), LEARNED)
def test_what_somebody_has_learned_stays(somebody, turns, stands):
    somebody.ends_with(turns, (), stands)
