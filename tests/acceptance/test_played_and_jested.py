"""Games, parts, jokes and lines of songs told as one's own, without a word that says so: nothing of
them is believed. The same words are where they are meant."""

from __future__ import annotations

import pytest

from beliefledger.gate.played_turns import LONGEST, played

PLAYED = [
    "i have 40 turnips and a broken sprinkler, winter starts in 2 days, what do i plant",
    "my base got raided last night, lost all the sulfur and two furnaces",
    "i have 3 wood and need a brick, my brother has the longest road",
    "im in jail and own both blue ones, dad has a hotel on mayfair",
    "ive got mahomes and a bye week at rb, do i trade kelce",
    "I'm the Duke of Brittany and my heir is an idiot with the plague",
    "my village has 20 villagers and no beds, the iron golem keeps despawning",
    "we have 3 beacons and the nether star, my brother fell in lava",
    "ive got a triple word score and a q without u",
    "just adopted a wolf pup in the game, called him ghost",
    "i sacked my assistant manager and signed a 16 year old regen from Recife",
    "im at 780 lp diamond and my jungler left",
]
"""What is so in a game that nobody names."""

PARTS = [
    "today im a grumpy pharmacist for the nursing osces, how do i act it",
    "this halloween im a sexy tax auditor",
    "im the back half of the donkey this year",
    "my vtuber self is 400 years old and comes from the moon",
    "opening: My name is Ruth and I have been dead for six years.",
    "be my grandma from naples, i just brought home a vegan fiance",
    "lets do a mock interview, i'm a forklift driver from Hull with 6 years in cold storage",
    "You're Poirot and I'm the colonel's cook, I was in the pantry all evening",
    "for the demo my company is called acme and has 12 staff",
]
"""Parts to play and made-up selves."""

LINES = [
    "i am iron man",
    "my name is Inigo Montoya, you killed my father, prepare to die",
    "we all live in a yellow submarine, thats been in my head since 6",
    "i am once again asking for the wifi password",
]
"""Lines that everybody knows."""

JESTS = [
    "my salary is three peanuts and a firm handshake",
    "i owe my mum like 80 trillion euros for that haircut",
    "i own half of ikea by now",
    "half of berlin was in my kitchen last night",
    "I eat deadlines for breakfast",
    "my bench press record is one toddler",
    "My boss lives in 1987 and has no plan to leave",
    "quit my job, bought a boat, sailing off tomorrow… in my head, during the 3pm standup",
    "grew up on a farm, haha no, i mean in farmville",
    "my hair has joined a punk band",
    "our hamster is a day trader, mostly sunflower futures",
    "our dog has a degree in food science",
    "our boss is great but the microwave is my private chef",
    "i got engaged to a lasagne on saturday",
    "ive been promoted to senior bin person of our street",
    "i got an A level in eavesdropping",
    "ive swapped my husband for a slow cooker, no returns",
    "my dad is 40% cardigan",
    "we've got an au pair, its called the ipad",
    "my sister is a walking dictionary and my brother a walking bin",
    "my first pet was a triceratops",
    "my in laws eloped to the big Sainsburys and honeymooned in world foods",
]
"""What cannot be so, said with a straight face."""

SARCASM = [
    "love that for me, third flat tyre since may",
    "obviously my favourite colleague is the one who microwaves fish",
    "oh i do so enjoy sharing a wall with a trombonist",
    "thrilled to report the lift is out again, i get to be fit",
]
"""The opposite of what is meant."""

MEANT = [
    ("I play D&D on Thursdays so that evening is out", "Thursdays"),
    ("My farm is 40 acres of beef and sheep outside Ballina", "Ballina"),
    ("we have 40 sheep and 6 goats, lambing starts in march", "40 sheep"),
    ("my base is RAF Lossiemouth, posted there in march", "Lossiemouth"),
    ("my town has 14 000 people, i sit on the council", "council"),
    ("my island has 300 people and a ferry twice a day, i teach there", "300 people"),
    ("I run a zoo in Jutland, two tapirs just arrived", "zoo"),
    ("i have a cat called Pikachu and a dog called Bowser", "Pikachu"),
    ("im captain of our chess team, we play second division", "chess"),
    ("im a level 2 teaching assistant in Stoke", "Stoke"),
    ("my starter is 6 years old, rye, i bake on sundays", "starter"),
    ("I play the donkey in our nativity every year, St Annes in Bude", "nativity"),
    ("i run a halloween shop in Salem", "Salem"),
    ("I am in a sea shanty choir, we rehearse wednesdays 🎶", "wednesdays"),
    ("im learning the cello, bach is stuck in my head all day", "cello"),
    ("my mother was a tailor in Lagos", "tailor"),
    ("i got a brand new pair of roller skates for my birthday", "roller skates"),
    ("im not a cat person, dogs all the way", "cat person"),
    ("i am the night manager at the Ibis in Ghent", "night manager"),
    ("im working as a waitress in a cocktail bar in Leeds now", "waitress"),
    ("I'm doing kickboxing on Mondays and it's giving me energy", "kickboxing"),
    ("My dog ate a sock, shes called Poppy", "Poppy"),
    ("I live in the annexe at this point, my daughter has the main house", "annexe"),
    ("I live in Leeds at this point, was in York before", "Leeds"),
    ("my salary is 3 lakh a month", "3 lakh"),
    ("my other car is a 1998 Volvo", "Volvo"),
    ("I work at IKEA in Malmo, half of my flat is from there", "IKEA"),
    ("I look after two yachts, deckhand in Antibes", "Antibes"),
    ("i told my niece i'm moving to Perth in june, she cried", "Perth"),
    ("we sold our kids bunk bed and got a trundle from a neighbour", "bunk bed"),
    ("im relocating to the Arctic for a research post, Tromsø base", "Arctic"),
    ("my girlfriend is called Siri", "Siri"),
    ("our dog starts at guide school on monday", "guide school"),
    ("I got a first for my dissertation.", "dissertation"),
    ("My middle name is Danger, legally, since 2014.", "Danger"),
    ("our house was built in 1934, still has the bells for servants", "1934"),
]
"""The same words of one's own life."""


@pytest.mark.parametrize("said", [*PLAYED, *PARTS, *LINES, *JESTS, *SARCASM])
def test_nothing_is_believed(somebody, said):
    somebody.keeps_nothing_of(said)


@pytest.mark.parametrize(("said", "words"), MEANT)
def test_what_is_meant_is_believed(somebody, said, words):
    somebody.keeps(said, words)


def test_a_hobby_takes_more_to_be_a_game():
    assert played("im the tank, our healer keeps pulling, we wiped on the third boss")
    assert not played("I play every night, we wiped on the third boss last week")


def test_a_document_is_no_game():
    assert not played("we wiped on the third boss. " + "x" * LONGEST)


def test_only_the_sentences_of_a_game_are_of_it(somebody):
    told = "My castle in Minecraft has 40 rooms. Any other games? I live in Ghent. I have two cats."
    claims = [each.text for each in somebody.believed_after(told, besides=())]
    assert "User lives in Ghent" in claims
    assert not [each for each in claims if "castle" in each]
