"""What a turn tells that is not of its speaker, though it reads so: the world's news, games and
stories, what was pasted, what is only half remembered."""

from __future__ import annotations

import pytest

UNSURE = [
    "I half remember being good at chess in school but it may have been draughts",
    "I could have sworn I used to like olives, not sure now",
    "my gran was from Donegal or it could have been Derry",
    "We are seeing if possible some day to take parents for Europe tour, only thinking for now",
    "We are looking if some day we can show parents the Kerala backwaters, only an idea for now",
    "I am between two stools",
    "Boss is giving me the run around like anything",
    "yes I'm a professional tea drinker, thirty years in the trade, no pension",
    "certified overthinker since 1991",
]
"""Half remembered, thought of, or a manner of speaking."""

PASTED = [
    "tldr this pls >> FROM: Facilities. Level 3 kitchen is closed until 2 Feb. My "
    "new extension is 4471. Regards, Colm",
    "fwd from the school >> Dear parents, I am the new head teacher. I have moved "
    "here from Oslo. Yours, Mr Lund.",
    "translate >> My daughter Ines is starting at our nursery in May and we live on Elm Row",
    "what does my landlord mean — Dear tenants, I live abroad now and my son Karl "
    "has taken over. Best wishes, H. Berg",
]
"""Others' letters, in one line."""

GAMES = [
    "im playing as the astronaut who's been alone on the ship for 6 yrs, my wife left",
    "in my sims save i quit my job as a surgeon",
    "football manager 26: i manage Wrexham, sold my keeper, got sacked by christmas",
    "FM26 save, I got sacked at Porto and now I manage Braga",
    "on my career mode save im a left back from Lagos who signed for Ajax at 17",
    "playing bg3 as a tiefling bard, i sold my soul and left my party",
    "so in my ck3 playthrough my wife is my cousin and i have eight sons",
    "My Skyrim guy is a vegan khajiit, lives in Riften, never steals. builds?",
    "Our detective, Inspector Obi, doesn't drink and keeps parrots. Suggest a flaw",
    "okay so we're vampires now. i sleep in the cellar and i've given up garlic",
    "i'm level 40 and i sold my horse for a bigger sword lol",
]
"""What is so in a game or a story."""

PUBLIC = [
    "Rafael Nadal retired last year, explain his record on clay to my nan in two lines",
    "Jacinda Ardern quit as prime minister in 2023, right? who followed",
    "Wizkid moved to London and the fans moan, settle this for us",
    "Virat Kohli has retired from Test cricket, explain who will bat at number four",
    "MS Dhoni left the captaincy in 2017, who will open for Chennai",
    "Burna Boy is from Port Harcourt and people still argue it",
    "Marie Curie worked with radium until it killed her; explain to a 7 year old",
    "Nokia moved its headquarters to Espoo, when was that",
    "Angélique Kidjo is from Benin, list her best albums",
    "Bukayo Saka grew up in Ealing, right, which school",
    "Sarah Jessica Parker is a judge for the Booker this year",
    "Sachin quit as captain in 2000, settle this for my dad and me",
]
"""The world's news."""

ASKS = [
    "I'm married to my inbox, write us some vows",
    "my dog runs the company now, write a press release",
    "my fridge is on strike, i need a poem",
    "adele has moved to LA, what songs are good",
    "my cat quit his job as a pillow, draft a reference",
]
"""Jests with a request behind them."""

MEANT = [
    ("I vaguely remember my grandad, he was a tailor in Lodz", "tailor"),
    ("I'm a professional tea taster in Kolkata, thirty years in the trade", "tea taster"),
    ("I'm a licensed sleep coach in Leeds", "sleep coach"),
    ("I work at Siemens but it may be sold soon", "Siemens"),
    ("We moved to Hull in May, not sure which school yet", "Hull"),
    ("I live in Graz, not sure for how long", "Graz"),
    ("We are seeing if the flat in Graz is free because we move there in May", "Graz"),
    ("I like Postgres >> MySQL for everything", "Postgres"),
    ("hi there, I'm a nurse in Leeds and need a rota. thanks, Tom", "nurse"),
    ("Here is me: I live in Pune and I keep bees. Cheers, Gita", "Pune"),
    ("I'm playing as a striker for Wrexham reserves this season", "striker"),
    ("I'm playing as Nora at the theatre in Bergen this autumn", "Nora"),
    ("My Minecraft server has 40 players, most from my school", "40 players"),
    ("I work on the Sims team at EA as an animator", "animator"),
    ("In my save-the-date card I need our wedding date, 4 June 2027", "4 June 2027"),
    ("I've played Football Manager every night since 2009", "Football Manager"),
    ("I run a D&D group on Tuesdays at the library in Tartu", "D&D group"),
    ("I'm level 3 support at Vodafone in Newbury", "level 3"),
    ("my character reference for the visa is my old boss, Sanna", "Sanna"),
    ("We're vegans now. I cook tofu on Fridays", "tofu"),
    ("Our detective club meets on Fridays in Galway, we need a flyer", "Fridays"),
    ("Burcu retired last week, who will do the payroll now", "Burcu retired"),
    (
        "Priya Sharma retired on Friday, she was my boss for ten years, write her a card",
        "Priya Sharma retired",
    ),
    ("Ana Costa, our landlady, retired last year and lives in Faro now", "Ana Costa"),
    ("Tomasz moved to Gdansk in May, how does he register there?", "Gdansk"),
    ("Femi Ade is getting married on 4 May, what do I wear", "Femi Ade"),
    ("Lena Park left the company on Friday, can you reword her goodbye mail", "Lena Park"),
    ("Lena Park resigned as treasurer of the choir", "treasurer"),
    ("Sunita Rao teaches my son maths on Fridays", "Sunita Rao"),
    ("Rosa quit as captain of our netball team, who will lead us", "Rosa quit"),
    ("Mei Ling runs our book club on Thursdays", "Mei Ling"),
    ("I saw Rafael Nadal retire, I have followed tennis since 1995", "tennis since 1995"),
    ("my colleague Virat Sharma has retired from the bank, write a farewell card", "retired"),
    ("my landlord sold the flat, draft a letter to him", "sold the flat"),
    ("my son is obsessed with the Sims, he's 9, what limits are fair", "Sims"),
    (
        "grandad plays crown green bowls for the county at 83, i need a card that isnt about dying",
        "bowls",
    ),
    ("we live by the sea in Ostend, what paint is best", "Ostend"),
    ("wow, i live in Leeds and you know my street", "Leeds"),
]
"""What a person tells of themselves and those around them, in the same words."""


@pytest.mark.parametrize("said", [*UNSURE, *PASTED, *GAMES, *PUBLIC, *ASKS])
def test_nothing_is_believed(somebody, said):
    somebody.keeps_nothing_of(said)


@pytest.mark.parametrize(("said", "words"), MEANT)
def test_what_is_meant_is_believed(somebody, said, words):
    somebody.keeps(said, words)
