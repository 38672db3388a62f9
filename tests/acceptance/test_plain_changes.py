"""Plain news after which something believed is over or has another value."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.ledger.times import DAY

OVER = [
    ("i have a dog called Rex", "poor Rex passed away last night", "dog called Rex"),
    ("i live with a flatmate", "my flatmate moved out", "lives with a flatmate"),
    ("i dont have kids", "our son was born on sunday", "does not have kids"),
    ("i dont have a car", "bought a fiat 500 yesterday", "does not have a car"),
    ("i have no dog", "we got a dog!!", "has no dog"),
    ("i have no pets", "got a hamster", "has no pets"),
    ("i dont have a bike", "my dad gave me his bike", "does not have a bike"),
    ("i dont have a job", "got a job", "does not have a job"),
    ("i dont own a house", "we bought our first house", "does not own a house"),
    ("im single", "got a boyfriend now", "single"),
    ("im not married", "got married last weekend", "is not married"),
    ("i dont have a girlfriend", "me and lucy are official now", "does not have"),
    ("i have a girlfriend", "she dumped me", "has a girlfriend"),
    ("i have a girlfriend", "we broke up", "has a girlfriend"),
    ("i have a girlfriend", "im single now", "has a girlfriend"),
    ("i have a boyfriend", "my boyfriend and i split", "has a boyfriend"),
    ("im unemployed", "i work at ikea", "unemployed"),
    ("i work at ikea", "im unemployed", "ikea"),
    ("i work at ikea", "im retired now", "ikea"),
    ("i work at ikea", "im between jobs", "ikea"),
    ("im retired", "went back to work part time at b&q", "retired"),
    ("i drive a fiesta", "ive sold it", "fiesta"),
    ("i live alone", "my mum lives with me now", "alone"),
    ("i live alone", "my girlfriend moved in", "alone"),
    ("i live alone", "got a flatmate", "alone"),
    ("i live with my mum", "mum kicked me out", "lives with their mum"),
    ("dont use emojis", "use emojis please", "emojis"),
    ("dont use emojis", "emojis are fine again", "emojis"),
    ("my gran lives in hove", "my gran passed away", "hove"),
    ("my mum lives in hull", "my mum moved into a flat near us", "hull"),
    ("i have 2 cats", "got a third cat yesterday", "has 2 cats"),
    ("i have a ps5", "flogged the ps5", "has a ps5"),
    ("i have a job at subway", "they let me go", "subway"),
    ("i dont drink coffee", "im back on the coffee", "does not drink"),
    ("i have no kids", "gave birth to a little girl yesterday", "has no kids"),
    ("i have no pets", "we rescued a greyhound", "has no pets"),
    ("i dont have a laptop", "work gave me a laptop", "does not have a laptop"),
    ("i dont have a licence", "passed my driving test", "does not have a licence"),
    ("im divorced", "got remarried in june", "divorced"),
    ("i have a wife", "we got divorced", "has a wife"),
    ("i have a boyfriend", "he broke up with me last night", "has a boyfriend"),
    ("im unemployed", "im a barista now", "unemployed"),
    ("im unemployed", "got hired at tesco", "unemployed"),
    ("i work at ikea", "ikea fired me", "works at ikea"),
    ("i live with my girlfriend", "she moved out", "lives with"),
    ("i have a cat", "she died", "has a cat"),
    ("my mum works at tesco", "she retired", "works at tesco"),
    ("i have one dog", "got a second dog", "one dog"),
    ("dont use bullet points", "bullet points are ok now", "bullet points"),
    ("i study law", "switched to history", "studies law"),
    ("i study biology at leeds", "dropped out", "studies biology"),
    ("im training for a marathon", "did the marathon on sunday!!", "training"),
    ("i use android", "got an iphone now", "android"),
    ("i have a motorbike", "passed the bike on to my brother", "has a motorbike"),
    ("i have 3 fish", "one died", "3 fish"),
    ("i live with my girlfriend", "we broke up", "lives with"),
    ("i commute by train", "i cycle in now", "by train"),
    ("i have two kids", "baby number three arrived yesterday", "two kids"),
    ("i rent in bristol", "bought a place in bristol", "rents"),
    ("i work remotely", "back in the office full time", "remotely"),
    ("im saving for a car", "bought the car!!", "saving"),
    ("i run every morning", "stopped running after my injury", "runs every morning"),
    ("i owe my dad 500", "paid my dad back", "owes"),
    ("i hate olives", "olives have grown on me", "hates olives"),
    ("my mortgage is 1200", "remortgaged, its less now", "1200"),
    ("i sing alto in the Choral Society", "left the choir", "sings alto"),
    ("i play bass in a band", "left the band", "in a band"),
    ("i ride a vespa", "vespa got nicked", "vespa"),
    ("i work mornings", "they swapped me to evenings", "mornings"),
    ("i live with my sister", "my sister got her own flat", "lives with"),
    ("my dog is called biscuit", "we renamed him toast", "biscuit"),
    ("im learning to drive", "passed my test!", "learning"),
    ("im learning to swim", "can swim now!", "learning"),
    ("im on sabbatical", "back at work since monday", "sabbatical"),
    ("i have a mortgage", "mortgage free!!", "mortgage"),
    ("i have a cat called luna", "luna went to live with my mum", "Luna"),
    ("im single", "met someone on hinge", "single"),
    ("im single", "we moved in together", "single"),
    ("i dont have a car", "finally bought one, a yaris", "does not have a car"),
    ("i own a cafe", "closed the cafe down", "cafe"),
    ("i drink red wine", "im off wine", "red wine"),
    ("i hate coriander", "coriander is ok now", "coriander"),
    ("my daughter lives in york", "she moved back home", "york"),
    ("my dad works at ford", "dad retired", "ford"),
    ("im on the night shift", "finally off nights", "night shift"),
    ("i have a piano", "piano's gone to my nephew", "piano"),
    ("i have an offer from google", "turned google down", "offer"),
    ("i drive a company car", "gave back the company car", "company car"),
]
"""What is believed, the news, and the words that are in no belief then."""

ANEW = [
    ("my budget is 2000", "budget went up to 2500", "finance.budget", "2500"),
    ("my salary is 40k", "my pay went up to 44k", "work.salary", "44k"),
    ("i live in rome", "milan is home now", "home.location", "milan"),
    ("i live in rome", "greetings from milan, my new home", "home.location", "milan"),
    ("i live in rome", "got a place in milan", "home.location", "milan"),
    ("i live in rome", "we found a flat in milan", "home.location", "milan"),
    ("my brother lives in leeds", "he moved to york", "home.location", "york"),
    ("my wife is a nurse", "shes a teacher now", "work.role", "teacher"),
    ("call me sam", "call me samuel", "identity.preferred-name", "Samuel"),
    ("keep answers short", "longer answers please", "answers.length", "longer"),
    ("i drive a golf", "my new car is an audi a3", "vehicle.car", "audi a3"),
    ("i use chrome", "went back to firefox", "tool.browser", "firefox"),
    ("i drive a golf", "my new car is a polo", "vehicle.car", "polo"),
    ("i drive a golf", "bought a polo", "vehicle.car", "polo"),
    ("keep answers short", "actually give me longer detailed answers from now on",
     "answers.length", "longer detailed"),
    ("call me sam", "dont call me sam anymore, its samuel", "identity.preferred-name", "Samuel"),
    ("my husband works at bt", "hes at sky now", "work.employer", "sky"),
    ("im a manager", "got demoted to supervisor lol", "work.role", "supervisor"),
    ("i prefer dark mode", "light mode is better on my eyes", "display.theme", "light"),
    ("i use pytest", "went back to unittest", "tool.test_framework", "unittest"),
    ("my office is in reading", "office moved to slough", "relation.located-at", "slough"),
    ("im training for a 10k", "actually going for a half marathon instead",
     "trains-for.10k", "a half marathon"),
    ("i code in java", "nowadays its all kotlin", "tool.programming_language", "kotlin"),
    ("my flat is 2 bed", "we upsized to a 3 bed house", "home.type", "3 bed house"),
    ("keep replies short", "you can go longer now", "answers.length", "longer"),
    ("use metric", "imperial please", "answers.units", "imperial"),
    ("use british english", "american english please", "answers.units", "american english"),
    ("speak to me in french", "lets go back to english", "answers.language", "english"),
    ("i drive a 2015 golf", "traded it in for a kia ev6", "vehicle.car", "kia ev6"),
    ("i prefer morning meetings", "afternoons work better for me now",
     "meeting.time", "afternoons"),
    ("i teach year 4", "got moved to year 6", "teaches.year-4", "year 6"),
    ("im a nurse", "retrained as a teacher", "work.role", "teacher"),
    ("my favourite song is creep", "new fave song is houdini", "favorite.song", "houdini"),
    ("my budget is 50 a week", "its more like 70 now", "finance.budget", "70"),
    ("i play tennis on saturdays", "switched to padel", "plays.padel", "padel"),
    ("my gym is puregym", "joined the leisure centre instead", "fitness.gym", "leisure centre"),
    ("my hair is brown", "went blonde", "thing.hair", "blonde"),
    ("my car insurance is with aviva", "gone with admiral", "thing.car-insurance", "admiral"),
    ("i use vscode", "zed is my editor now", "tool.editor", "zed"),
    ("my boss is anna", "anna's been replaced by bob", "relation.reports-to", "bob"),
    ("my son is 4", "hes 5 now", "identity.age", "5"),
    ("my pb is 25 min for 5k", "new pb 24:10!", "thing.pb", "24:10"),
    ("i prefer dark mode", "actually light mode", "display.theme", "light mode"),
    ("my number is 07700 900123", "new phone number 07700 900456",
     "contact.phone", "07700 900456"),
]  # fmt: skip
"""What is believed, the news, and the slot with its new value."""

NO_CHANGE = [
    ("i dont have a car", "my brother got a car", "does not have a car"),
    ("i dont have a car", "i want to buy a car", "does not have a car"),
    ("i dont have a car", "should i get a car?", "does not have a car"),
    ("i dont have a car", "my dad gave me a lift in his car", "does not have a car"),
    ("i dont have a dog", "got a dog bed for my sister", "does not have a dog"),
    ("i dont have kids", "my sister had a baby", "does not have kids"),
    ("i have no pets", "got a new phone", "has no pets"),
    ("im single", "my brother got married", "User is single"),
    ("i have a girlfriend", "she left for work", "has a girlfriend"),
    ("i have a girlfriend", "we split the bill", "has a girlfriend"),
    ("i have a boyfriend", "he left me a note", "has a boyfriend"),
    ("im unemployed", "got a job interview", "unemployed"),
    ("im unemployed", "my brother works at ikea", "User is unemployed"),
    ("i work at ikea", "my dad is retired", "works at ikea"),
    ("i live in rome", "my sister got a place in milan", "lives in rome"),
    ("i live in rome", "greetings from milan", "lives in rome"),
    ("i drive a golf", "my mum bought a polo", "drives a golf"),
    ("i drive a golf", "got a polo shirt", "drives a golf"),
    ("i drive a golf", "also bought a polo", "drives a golf"),
    ("i drive a fiesta", "my dad sold his", "drives a fiesta"),
    ("i live alone", "my neighbour moved in next door", "lives alone"),
    ("i live alone", "my sister moved in with her boyfriend", "lives alone"),
    ("dont use emojis", "my mum uses emojis", "dont use emojis"),
    ("keep answers short", "why are long answers better?", "keep answers short"),
    ("call me sam", "dont call me late", "called Sam"),
    ("my gran lives in hove", "my grandad passed away", "lives in hove"),
    ("my husband works at bt", "hes at the gym now", "works at bt"),
    ("i have 2 cats", "my sister got a third cat", "has 2 cats"),
    ("i have a ps5", "my brother flogged his ps5", "has a ps5"),
    ("i have a job at subway", "they let me go home early", "job at subway"),
    ("im a manager", "my boss got demoted to supervisor", "is a manager"),
    ("i prefer dark mode", "my wife prefers light mode", "dark mode"),
    ("i use pytest", "went back to bed", "uses pytest"),
    ("i dont drink coffee", "im back on the road", "does not drink coffee"),
    ("i have a wife", "my parents got divorced", "has a wife"),
    ("im unemployed", "im a vegan now", "unemployed"),
    ("i live in rome", "milan is home to the duomo", "lives in rome"),
    ("i live in rome", "got a flat in milan for the weekend", "lives in rome"),
    ("i drive a golf", "bought a polo for my son", "drives a golf"),
    ("i live with my mum", "mum kicked me out of the kitchen", "lives with their mum"),
    ("dont use emojis", "use emojis in this tweet", "dont use emojis"),
    ("call me sam", "call me tomorrow", "called Sam"),
    ("my mum lives in hull", "my mum moved into a new role", "lives in hull"),
    ("my wife is a nurse", "shes a star now", "is a nurse"),
    ("i use pytest", "went back to jest for the js project", "uses pytest"),
    ("i dont have kids", "we had a baby shower for my sister", "does not have kids"),
    ("i dont have kids", "our neighbours son was born on sunday", "does not have kids"),
    ("i prefer dark mode", "light mode is better for printing", "dark mode"),
    ("i have a dog called Rex", "my neighbours dog died", "dog called Rex"),
    ("i live with my girlfriend", "my flatmate moved out", "lives with their girlfriend"),
    ("i study law", "switched to tea", "studies law"),
    ("i study law", "my sister switched to history", "studies law"),
    ("i commute by train", "my boss cycles in now", "by train"),
    ("my office is in reading", "our church moved to slough", "in reading"),
    ("i use android", "got an iphone for my mum", "uses android"),
    ("i drive a golf", "i love the new polo", "drives a golf"),
    ("i have a bike", "passed the bike to my son to hold", "has a bike"),
    ("i live with my gran in hull", "my gran passed the phone to me", "lives with"),
    ("use metric", "can you translate this to english please", "use metric"),
    ("i work remotely", "in the office today", "works remotely"),
    ("im saving for a car", "bought the bread", "saving for a car"),
    ("i have two kids", "my sister's baby was born last night", "has two kids"),
    ("i owe my dad 500", "paid my sister back", "owes their dad"),
    ("i work at tesco", "how can i quit tesco", "works at tesco"),
    ("i drive a golf", "my car is 5 years old", "drives a golf"),
    ("i work mornings", "they swapped me to a new desk", "works mornings"),
    ("i live with my sister", "my brother got his own flat", "lives with their sister"),
    ("i live with my sister", "my sister got her own car", "lives with their sister"),
    ("my favourite song is creep", "new fave film is dune", "creep"),
    ("im learning to swim", "my son can swim now", "learning to swim"),
    ("i dont have a car", "bought one for my son", "does not have a car"),
    ("i dont have a car", "borrowed my mums car for the week", "does not have a car"),
    ("im single", "my sister met someone on hinge", "single"),
    ("my hair is brown", "went red in the face", "brown"),
    ("my boss is tina", "tina is on leave, al covers for her", "boss is tina"),
    ("i drive a golf", "my car is called betsy", "drives a golf"),
    ("i train at puregym", "my gym is 10 mins away", "at puregym"),
    ("my son is 4", "he is 5 mins away", "son is 4"),
    ("my dad works at ford", "dads friend retired", "works at ford"),
    ("i drink red wine", "im off work", "red wine"),
    ("i hate coriander", "my wifi is ok now", "coriander"),
    ("i have a son", "my son's gone to my mums", "has a son"),
    ("i use vscode", "python is my language now", "uses vscode"),
    ("i live in york", "moved to octopus", "lives in york"),
]
"""What is believed, what ends nothing, and the words of what is believed still."""


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock, consent="consent") as opened:
        yield opened


def told(memory, clock, *turns):
    for each in turns:
        memory.remember("ana", each)
        clock.now += DAY
    return [each for each in memory.beliefs("ana") if each.type not in ("note", "event")]


@pytest.mark.parametrize(("before", "news", "words"), OVER)
def test_what_news_ends_is_believed_no_longer(memory, clock, before, news, words):
    assert any(words in each.text for each in told(memory, clock, before))
    assert not any(words in each.text for each in told(memory, clock, news))


@pytest.mark.parametrize(("before", "news", "attribute", "value"), ANEW)
def test_what_news_tells_anew_takes_the_place(memory, clock, before, news, attribute, value):
    found = told(memory, clock, before, news)
    assert [each.value for each in found if each.attribute == attribute] == [value]


@pytest.mark.parametrize(("before", "said", "words"), NO_CHANGE)
def test_what_is_no_such_news_ends_nothing(memory, clock, before, said, words):
    assert any(words in each.text for each in told(memory, clock, before, said))


def test_a_wedding_that_was_is_to_come_no_longer(memory, clock):
    told(memory, clock, "our wedding is on 12 june", "we eloped!!")
    assert not any("12 june" in each.text for each in memory.beliefs("ana"))
