"""What a turn tells of the world, by hearsay or as a guess, though it reads as somebody's life:
prices and weather, clubs and shows, whole countries, rumours, what is undecided or nearly was."""

from __future__ import annotations

import pytest

WORLD = [
    "the new season of severance is 10 episodes, one every friday",
    "Liverpool sold Diaz to Bayern and I still cant believe the price",
    "celtic play rangers on the 2nd at half twelve",
    "Beethoven moved to vienna at 21 and never went back to Bonn",
    "Eurovision is in Vienna next year, on the 16th of May",
    "Philips moved its headquarters to Amsterdam in the nineties",
    "tesco is bringing back double points in november",
    "PS5 is 50 quid more since april",
    "Disney plus went up to 12.99 in october",
    "Kolkata has a book fair with a million people, every january",
    "the library on Elm street opens at 10 on thursdays",
    "the council wants to charge 2 pounds for every car that comes into town",
    "The mayor of our city is 29 years old",
    "childcare in london is 2k a month per child",
    "-12 last night in Tampere",
    "two in five teenagers read no books at all",
    "hedgehogs go to sleep in november and wake up in march",
    "kids in Finland start school at 7",
]
"""News and knowledge."""

EVERYBODY = [
    "we in the west throw away a third of our food, it's a disgrace",
    "we as a species will watch a dancing cat for an hour and not read one book",
    "in Poland we eat carp at christmas, every family",
    "back home in Kerala we eat with the hand, no spoon",
    "us northerners don't wear coats",
    "as a teacher here you're a civil servant for life",
]
"""What "we" and "you" are as such."""

OTHERS = [
    "one of the girls at work is getting married in Bali in june",
    "bumped into my old maths teacher in tesco, he's retired and keeps bees",
    "talked to a couple from Ohio at breakfast, they've got an rv",
    "the family opposite have gone to Florida for two weeks",
    "the neighbour's lad passed his test first time",
]
"""People of whom nobody would want to know next month."""

HEARSAY = [
    "there's talk of a four day week from january",
    "word from the top floor is no bonus this year",
    "not confirmed yet but it looks like my role is going to Krakow",
    "i heard from Priya that my team gets merged with hers maybe",
    "i hear Tim's band is splitting up",
    "my aunt has me married off to a dentist",
]
"""What is only said."""

UNDECIDED = [
    "im weighing up a job in Oslo",
    "in two minds about going back to nursing",
    "not decided yet whether i do the phd",
    "still debating between the Yaris and the Jazz",
    "not ruling out a third baby but not this year",
    "either we stay in Graz or we go back to my parents place in Linz, undecided",
    "I think the boiler might be a Vaillant, it is in the loft",
    "my sister must be earning 70k by now",
]
"""What is not settled, or not known."""

NEARLY = [
    "almost moved to Cork in the summer, then the rent went up",
    "we had planned to marry in june but the venue went bust",
    "I was supposed to start at Zalando in June and then came the hiring freeze",
    "Our trip to Japan fell through",
    "got offered a job at Spotify and turned it down",
]
"""What came to nothing."""

PASSING = [
    "am at my sisters for the night, her wifi is terrible",
    "im behind a tractor, doing 20",
    "have to get a card for Denise who is leaving",
    "dropping my sister at the station at 5",
]
"""The hour and its errands."""

MEANT = [
    ("netflix is shared with my sister in Cork", "netflix"),
    ("been a Liverpool fan since i was six, still cant believe they sold Diaz", "Liverpool"),
    ("i play for Celtic women's under 19s", "Celtic"),
    ("i live in Kolkata, near the book fair", "Kolkata"),
    ("Siemens moved us to four days in march", "four days"),
    ("Infosys, Pune campus, third year", "Infosys"),
    ("elvis is on a diet, he's 7 kilos now, our cat", "elvis"),
    ("Kerry and Salah from work are getting married in Bali", "Kerry"),
    ("we work for the council", "council"),
    ("i work at the post office in Hebden", "post office"),
    ("the party is on the 5th", "5th"),
    ("parking is 60 a month at work", "60"),
    ("rent in Leeds is 950 for us, bills in", "950"),
    ("childcare is 900 a month", "900"),
    ("my bedroom is 17 degrees at night, i like it cold", "17"),
    ("half of my salary goes on rent", "half of my salary"),
    ("most of the team is in Krakow", "Krakow"),
    ("bees, four hives, end of the garden", "four hives"),
    ("we eat carp at christmas, my mum's recipe", "carp"),
    ("in Spain we have a house with a pool near Alicante", "Alicante"),
    ("in India we stay with the in-laws every winter", "in-laws"),
    ("I teach kids in Finland via zoom", "Finland"),
    ("one of my brothers is a vet in Turin", "vet"),
    ("my new neighbour Petra has a key to our flat", "Petra"),
    ("Hiro from judo is moving to Leeds", "Leeds"),
    ("my mum is off to Spain for two weeks on the 4th", "Spain"),
    ("we have a four day week since january", "four day week"),
    ("not confirmed on any social media, i just dont use it", "social media"),
    ("took the job in Oslo, i start on 2 May", "Oslo"),
    ("we decided on Greece", "Greece"),
    ("half thinking of selling the boat", "selling the boat"),
    ("nearly 12 years at Tesco now", "Tesco"),
    ("i have to pick up the kids at 3 every day", "pick up the kids"),
    ("our trip to Rome is on the 4th of May", "trip to Rome"),
]
"""What somebody tells of their own life, in the same words."""


@pytest.mark.parametrize(
    "said", [*WORLD, *EVERYBODY, *OTHERS, *HEARSAY, *UNDECIDED, *NEARLY, *PASSING]
)
def test_nothing_is_believed(somebody, said):
    somebody.keeps_nothing_of(said)


@pytest.mark.parametrize(("said", "words"), MEANT)
def test_what_is_meant_is_believed(somebody, said, words):
    somebody.keeps(said, words)
