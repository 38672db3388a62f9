"""Plain news after which something believed is over or has another value."""

from __future__ import annotations

import pytest

from beliefledger import open_memory

OVER = [
    ("My manager is Sanjay", "Sanjay left the company last week", "Sanjay"),
    ("My manager is Sanjay", "Sanjay has left our firm, sadly", "Sanjay"),
    ("my car is a corsa", "MOT failed, scrapped the corsa", "corsa"),
    ("I have two roommates, Kim and Dre", "moved to Astoria with my partner June", "Dre"),
    ("i have a dog called Rex", "poor Rex passed away last night", "dog called Rex"),
    ("i have a dog called Rex", "had to have Rex put down last week", "dog called Rex"),
    ("i have a dog called Rex", "we had to put Rex down on friday", "dog called Rex"),
    ("We have two dogs, Bess and Tinker", "We had to have Bess put down yesterday", "Bess"),
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
    ("my brother has a boat", "he sold it last year", "boat"),
    ("my sister has a horse", "she gave it away", "horse"),
    ("my sister works at Aldi", "she quit", "Aldi"),
    ("i keep 4 hens", "fox got two of them", "4 hens"),
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
    ("my cat is called Simba", "Simba lives with my sister now", "cat is called Simba"),
    ("my bike is a trek", "replaced it with a canyon grizl", "trek"),
    ("i play bass in a band called Lowtide", "Lowtide split up :(", "bass"),
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
    (
        "We're thinking of opening a second shop in Bruges",
        "the bank said no to Bruges so that plan is off the table",
        "Bruges",
    ),
    (
        "We're thinking of opening a second shop in Bruges",
        "the Bruges plan is dead",
        "opening a second shop",
    ),
    ("I'm thinking of getting a dog", "the dog idea is off the table", "thinking of getting a dog"),
    ("i'm thinking of getting a dog", "landlord said no to a dog", "thinking of getting a dog"),
    ("I'm thinking of moving to Berlin", "not moving to Berlin after all", "thinking of moving"),
    ("im thinking of doing an mba", "my boss vetoed the mba", "thinking of doing"),
    (
        "got a part time job at a bike shop, saturdays",
        "quit the bike shop, they never paid on time",
        "job at a bike shop",
    ),
    ("I live in a small flat in Leith", "we moved to Porto", "small flat"),
    ("I live with my parents in Leeds", "I moved to York", "parents in Leeds"),
    ("i play squash on mondays", "no squash since my knee went", "squash"),
    ("i drink coffee", "no coffee since january, feels great", "drinks coffee"),
    ("I have two monitors", "sold one monitor, just the 32 now", "monitors"),
    ("we use linear for tickets and notion for docs", "linear's out, we're back on jira", "linear"),
    ("my wife Jean is a baker", "my wife Jean passed in 2019", "wife is Jean"),
    ("i run 5k every morning", "no running since isla", "runs 5k"),
    ("i quit smoking in march", "smoking again, had a slip", "quit smoking"),
    ("gave up booze in january", "had a slip, drinking again", "gave up booze"),
    ("live in halls", "moved into a house with 4 mates on mutley plain", "halls"),
    ("I live alone in a 1K", "moved into a 2LDK in Toyonaka with Kenji", "alone"),
    ("i live alone", "Ryan moved in", "alone"),
    ("I live in a shared house in Leeds with 3 others", "moved to a studio in Leeds", "shared"),
    ("I don't drive", "got my license", "does not drive"),
    ("I work for Dunne Electrical", "I've set up on my own, Tomasz Electric", "Dunne"),
    ("Dating a man called Henrik. Henrik and I are engaged.", "The wedding was lovely", "engaged"),
    ("seeing someone, hes called Ryan", "ryan lied to me, kicked him out", "Ryan"),
    ("my mother-in-law Bev moved in with us", "bev passed sunday", "moved in with"),
    ("i drive a corsa", "corsa's knackered, got a juke", "corsa"),
    ("I have a boat, 5m tinny", "sold the tinny", "has a boat"),
    ("I'm Zain, PhD student in Leeds", "passed with minor corrections, Dr Zain now", "PhD"),
    ("I'm a 2nd year med student at Leiden", "I'm in 3rd year now", "is a 2nd year"),
    ("My assistant is Herr Vogel.", "I resigned today.", "assistant"),
    ("My best is 27:40 for 5k", "New parkrun PB, 26:58", "27:40"),
    ("I work at Acme as a nurse", "I no longer work", "Acme"),
    ("I work at Acme as a nurse", "I no longer work", "a nurse"),
    ("I work at Acme", "I've stopped working", "Acme"),
    ("I work at Acme", "I'm not working anymore", "Acme"),
    ("I work at Acme", "i dont work any more", "Acme"),
    ("I work at Acme", "I am no longer working, I look after the kids", "Acme"),
    ("I work at Acme", "I stopped working last year", "Acme"),
    ("I work at Acme", "I gave up working when the baby came", "Acme"),
    ("I work at Acme", "I've given up work", "Acme"),
    ("I work at Acme", "I'm no longer employed", "Acme"),
    ("I work from home", "I no longer work from home", "User works from home"),
    ("My girlfriend is Ana", "Ana is my fiancée", "girlfriend"),
    ("My girlfriend is Ana", "my fiancée Ana is a nurse", "girlfriend"),
    ("My girlfriend is Ana", "my fiancee is Ana", "girlfriend"),
    ("My boyfriend is Tom", "My husband Tom is a chef", "boyfriend"),
    ("My fiance is Tom", "my husband Tom is a chef", "fiance"),
    ("My wife is Ana", "my ex-wife Ana is a nurse", "User's wife"),
    ("i live in Leeds", "got a new place, not living in Leeds anymore", "lives in Leeds"),
    ("im single", "no longer single", "is single"),
    ("im a student", "not a student any more", "is a student"),
    ("im single", "quit the apps and no longer single", "is single"),
    ("i work at ikea", "not at ikea anymore", "works at ikea"),
    ("i play tennis", "hurt my knee, not playing tennis any more", "plays tennis"),
    ("im married", "turns out I'm not married after all", "is married"),
    ("im left-handed", "so turns out I am not left-handed after all", "is left-handed"),
    ("i like coffee", "turns out I don't like coffee after all", "User likes coffee"),
    ("I got an iphone 15", "returned the iphone, bought a pixel 9", "iphone 15"),
    ("I have a Kindle", "sent the kindle back", "has a Kindle"),
]
"""What is believed, the news, and the words that are in no belief then."""

ANEW = [
    ("im a cashier", "manager at greggs now!!", "work.role", "manager"),
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
    ("I drive a Renault Kangoo", "I got a Tesla", "vehicle.car", "Tesla"),
    ("I drive a Renault Kangoo", "we leased a Peugeot 208 instead", "vehicle.car", "Peugeot 208"),
    (
        "I drive a Renault Kangoo",
        "The Kangoo died. We leased an electric Peugeot e-Partner instead.",
        "vehicle.car",
        "Peugeot e-Partner",
    ),
    (
        "i drive a golf",
        "we got rid of the golf and bought a Dacia Spring",
        "vehicle.car",
        "Dacia Spring",
    ),
    (
        "my laptop is a thinkpad t480",
        "replaced the thinkpad, framework 13 now, still arch",
        "device.laptop",
        "framework 13",
    ),
    ("my phone is a pixel 6", "ditched the pixel, iphone 15 now", "device.phone", "iphone 15"),
    (
        "i live in a student house",
        "moved out of the student house, found a studio in Rijswijk",
        "home.location",
        "Rijswijk",
    ),
    ("I live in Delft", "moved out, found a room in Utrecht", "home.location", "Utrecht"),
    (
        "i work at a bike shop",
        "started internship at ASML this week, supervisor is Joost",
        "work.employer",
        "ASML",
    ),
    ("my boss is Dana", "Dana left, Ulli is in charge now", "relation.reports-to", "Ulli"),
    ("my boss is Dana", "Dana retired and Ulli took over", "relation.reports-to", "Ulli"),
    ("I live in Graz", "I've got my own flat in Linz now", "home.location", "Linz"),
    ("my phone is a Nokia", "work gave me an iphone", "device.phone", "iphone"),
    (
        "hiya, Priya here, product manager at a startup called Lumen",
        "first week at Monzo done, team's lovely",
        "work.employer",
        "Monzo",
    ),
    ("My best is 27:40 for 5k", "New parkrun PB, 26:58", "thing.best", "26:58 for 5k"),
    ("my deadlift max is 120kg", "new deadlift PR 130kg", "thing.deadlift-max", "130kg"),
    ("my deadlift pb is 160", "hit 180 on deadlift today", "thing.deadlift-pb", "180"),
    ("my best golf score is 92", "shot 88 today, new best", "thing.best-golf-score", "88"),
    ("email me at ana.b@mail.org", "my new email's ana.c@mail.org",
     "contact.email", "ana.c@mail.org"),
    ("ana.b@mail.org is my mail", "ive changed my email to ana.c@mail.org",
     "contact.email", "ana.c@mail.org"),
    ("email me at sanjay@patel.org", "actually use info@patel.org from now on",
     "contact.email", "info@patel.org"),
    ("my mail is ana.b@mail.org", "*ana.c@mail.org", "contact.email", "ana.c@mail.org"),
    ("seeing a guy called josh", "josh proposed!!", "relation.partner.name", "josh"),
    ("my boyfriend is Tom", "Tom popped the question last night", "relation.partner.name", "Tom"),
    ("my boyfriend is Tom", "we got married", "relation.partner.name", "Tom"),
    ("Dating a man called Henrik.", "Henrik and I are engaged.", "relation.partner.name", "Henrik"),
    ("we are moving to a bungalow in Scarborough",
     "We've been in the bungalow three weeks now and love it", "home.location",
     "a bungalow in Scarborough"),
    ("We are moving to Scarborough in june", "in Scarborough now, its lovely",
     "home.location", "Scarborough"),
    ("I'm 34", "I'm 35 now", "identity.age", "35"),
    ("I'm 34", "turned 35", "identity.age", "35"),
    ("I'm 34", "just turned 35 today", "identity.age", "35"),
    ("I'm 34", "Today I turn 35", "identity.age", "35"),
    ("I'm 34", "it's my birthday today, 35!", "identity.age", "35"),
    ("I'm 34", "I'm 35 as of yesterday", "identity.age", "35"),
    ("I'm 34", "I'm thirty-five now", "identity.age", "thirty-five"),
    ("I'm 34", "I had my 35th birthday yesterday", "identity.age", "35"),
    ("I'm Lena, 34, a nurse from Porto", "I'm 35 now", "identity.age", "35"),
    ("My seat is 14C", "no wait, 15C", "travel.seat", "15C"),
    ("My seat is 14C", "sorry, 15C", "travel.seat", "15C"),
    ("My seat is 14C", "make that 15C", "travel.seat", "15C"),
    ("My seat is 14C", "I mean 15C", "travel.seat", "15C"),
    ("My seat is 14C", "15C*", "travel.seat", "15C"),
    ("my postcode is SW1A 1AA", "sorry, SW1A 2AA", "thing.postcode", "SW1A 2AA"),
    ("my room is 4B", "no, 4D", "thing.room", "4D"),
    ("my licence plate is AB12 CDE", "no wait, AB12 CDF", "thing.licence-plate", "AB12 CDF"),
    ("My girlfriend is Ana", "my fiancee is Ana", "relation.partner.name", "Ana"),
    ("I drive a diesel Golf", "traded the Golf for an e-Niro", "vehicle.car", "e-Niro"),
    ("I drive an old red Golf", "swapped the Golf for a Tesla", "vehicle.car", "Tesla"),
    ("I drink oat milk", "swapped oat for soy", "eats.oat-milk", "soy milk"),
    ("my salary is 50k", "they upped it to 55k", "work.salary", "55k"),
    ("my rent is 900", "they raised it to 950", "home.rent", "950"),
    ("I earn 3000 euros a month", "they bumped it up to 3200", "work.salary", "3200 euros a month"),
    ("I run 40 km a week", "up to 50 now", "habit.run-40-km-a-week", "run 50 km a week"),
    ("I run 40 km a week", "I'm back to 30 km again", "habit.run-40-km-a-week", "run 30 km a week"),
]  # fmt: skip
"""What is believed, the news, and the slot with its new value."""

NO_CHANGE = [
    ("I have a son called Leo", "I put Leo down for a nap", "Leo"),
    ("I have two dogs, Bess and Tinker", "I put Bess to bed at nine", "Bess and Tinker"),
    ("My manager is Sanjay", "Sanjay left the company dinner last week", "Sanjay"),
    ("My manager is Sanjay", "Sanjay left the team meeting", "Sanjay"),
    ("My manager is Sanjay", "Sanjay might leave the company", "Sanjay"),
    ("my brother has a boat", "he almost sold it", "boat"),
    ("my sister works at Aldi", "she quit smoking", "Aldi"),
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
    ("i play bass in a band called Lowtide", "Oasis split up :(", "plays bass"),
    ("my sister is called Ana", "Ana lives with my mum now", "called Ana"),
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
    ("I'm thinking of moving to Berlin", "the wedding plan fell through", "moving to Berlin"),
    ("my brother lives in Oslo", "my brother went home on sunday", "Oslo"),
    ("I drive a Golf", "I got a Tesla for my son", "Golf"),
    ("I drive a Golf", "we rented a Fiat in Rome", "Golf"),
    ("I drive a Golf", "I got a Tesla sticker", "Golf"),
    ("I drive a Golf", "we also got a Fiat for the kids", "Golf"),
    ("my boss is Dana", "the kids took over the living room now", "Dana"),
    ("my boss is Dana", "Ulli is in charge of the kitchen now", "Dana"),
    ("my laptop is a thinkpad", "replaced the battery, works fine now", "thinkpad"),
    (
        "I run a small bakery in Ghent with my husband Pieter",
        "I've moved my own schedule, Pieter does the early shift now",
        "runs a small bakery",
    ),
    ("i work at ikea", "my brother started an internship at ASML", "ikea"),
    ("the cat is called Admiral", "Admiral went missing three days but he's back", "Admiral"),
    (
        "I run a two-person veterinary practice in Bath with my business partner Colin",
        "We changed the practice software to Provet, migration was hell",
        "veterinary practice",
    ),
    ("I live in a small flat in Leith", "we're going to Porto in May", "small flat in Leith"),
    ("my flat is in Leith", "no news since the flat viewing", "Leith"),
    ("my wife Ana is a nurse", "my wife Ana passed her exam", "wife is Ana"),
    ("my sister Karen lives in Canada", "Karen's coming home for good in june", "Canada"),
    ("my sister Karen lives in Canada", "my sister's moving back to Leeds next month", "Canada"),
    ("my sister Karen lives in Canada", "shes moving back to Leeds in two weeks", "Canada"),
    ("I support Arsenal", "Arsenal are rubbish now", "supports Arsenal"),
    ("my wife is Beth", "Tyler and Beth split up", "wife is Beth"),
    ("I live with my girlfriend", "mum and dad split up", "lives with"),
    ("i quit smoking in march", "my brother's smoking again", "quit smoking"),
    ("i quit smoking in march", "sarah says shes back on the fags", "quit smoking"),
    ("I live with my parents", "moved into a new role", "with their parents"),
    ("I work for Dunne Electrical", "my brother set up on his own", "Dunne"),
    ("my 5k pb is 24:10", "my brother ran 22:10, new pb", "24:10"),
    ("my 5k pb is 24:10", "new 10k pb 51:20", "24:10"),
    ("my 5k pb is 24:10", "new pb for my sister, 23:50", "24:10"),
    ("my 5k pb is 24:10", "ran 25:30 today, nowhere near my pb", "24:10"),
    ("my deadlift pb is 160kg", "hit 140 on bench today", "160kg"),
    ("my marathon pb is 3:58:12", "beat my pb by 4 minutes", "3:58:12"),
    ("my girlfriend is Ana", "Ana proposed a toast", "girlfriend is Ana"),
    ("my girlfriend is Ana", "Ana said yes to pizza", "girlfriend is Ana"),
    ("i live alone", "my mum moved in next door", "alone"),
    ("i dont drive", "got my fishing license", "does not drive"),
    ("I have a Shiba called Mochi", "Mochi is getting old, 13 now", "Shiba"),
    ("we have six hens", "dog got two walks today", "six hens"),
    ("My shop is open Mon-Sat 9-6", "we're closed on Mondays now", "Mon-Sat"),
    ("email me at a.b@mail.org", "email the landlord at l.l@mail.org", "a.b@mail.org"),
    ("my email is a.b@mail.org", "c.d@mail.org is my sister's email", "a.b@mail.org"),
    ("my partner is Ryan", "kicked the cat out", "Ryan"),
    ("I'm 34", "I turn 35 in June", "is 34"),
    ("I'm 34", "I'll be 35 next month", "is 34"),
    ("I'm 34", "my sister turned 35", "User is 34"),
    ("I'm 34", "I'm 35 minutes late", "is 34"),
    ("I'm 34", "I'm 35 weeks pregnant", "is 34"),
    ("I'm 34", "I turned 35 pages", "is 34"),
    ("I'm 34", "turned 35 people away today", "is 34"),
    ("I work at Acme", "I no longer work weekends", "at Acme"),
    ("I work at Acme", "I no longer work from home", "at Acme"),
    ("I work at Acme", "I no longer work with Piotr", "at Acme"),
    ("I work at Acme", "I no longer work so hard", "at Acme"),
    ("I work at Acme", "I no longer work and study at the same time", "at Acme"),
    ("I work at Acme", "my husband and I no longer work together", "at Acme"),
    ("I work at Acme", "not working anymore, the wifi", "at Acme"),
    ("I work at Acme", "I've stopped working because it's 5pm", "at Acme"),
    ("I work at Acme", "I stopped working on the report", "at Acme"),
    ("I work at Acme", "I'm not working today", "at Acme"),
    ("I work at Acme", "I'm not working on Fridays anymore", "at Acme"),
    ("I work at Acme", "my laptop stopped working", "at Acme"),
    ("I work at Acme", "I stopped working out", "at Acme"),
    ("I work at Acme", "my wife no longer works", "at Acme"),
    ("My seat is 14C", "no wait, 15 minutes", "14C"),
    ("My seat is 14C", "sorry, 2 questions", "14C"),
    ("My seat is 14C", "no wait, B14", "14C"),
    ("My seat is 14C", "no wait, 10am", "14C"),
    ("My seat is 14C", "sorry, I mean the meeting", "14C"),
    ("I live in Leeds", "moved in to the new office with the team", "Leeds"),
    ("I live with my mum", "moved in to the new office with the team", "their mum"),
    ("I live in Leeds", "moved into the new classroom", "Leeds"),
    ("My girlfriend is Ana", "my friend Ana is a nurse", "girlfriend is Ana"),
    ("My girlfriend is Ana", "my brother's fiancée Ana is a nurse", "girlfriend is Ana"),
    ("My girlfriend is Ana", "my fiancée Eva is a nurse", "girlfriend is Ana"),
    ("I live in Porto", "I'm in Lisbon this week", "in Porto"),
    ("I live in Porto", "in Lisbon this week", "in Porto"),
    ("I live in Porto", "staying in Lisbon until Sunday", "in Porto"),
    ("I live in Porto", "I'm based in Lisbon this month", "in Porto"),
    ("I live in Porto", "I'm living in Lisbon for a few weeks", "in Porto"),
    ("I work from home", "I'm working from the office this week", "from home"),
    ("im single", "my sister came over, no longer single", "is single"),
    ("im single", "Tom got a dog, not single any more", "is single"),
    ("im single", "is this no longer single?", "is single"),
    ("im single", "not sure any more", "is single"),
    ("i live in Leeds", "the app is not working any more", "lives in Leeds"),
    ("im left-handed", "not funny any more", "is left-handed"),
    ("im married", "if it turns out I'm not married, great", "is married"),
    ("I live in Lisbon", "returned to Lisbon", "lives in Lisbon"),
    ("I have a phone", "returned the call", "has a phone"),
    ("I have a Kindle", "returned the library book I told you about", "has a Kindle"),
    ("I have a Makita drill", "Tom returned the drill", "Makita drill"),
]
"""What is believed, what ends nothing, and the words of what is believed still."""


# Of what is only noted, planned or to come.
NOTED_OVER = [
    (
        "I remember finishing three issues and I'm currently on my fourth.",
        "I just finished my fifth issue",
        "on my fourth",
    ),
    ("I'm on my third chapter of the thesis", "finally started the fourth chapter", "my third"),
    ("I start at 6 and finish at 2.30", "hours changed, 7 to 3.30 now", "2.30"),
    ("doing long distance with luca", "luca and i broke up", "long distance"),
    ("on universal credit, looking 4 work", "got a job at greggs!!", "looking"),
    ("Priya and Dev are moving to Goa in December", "They've arrived, all well", "moving"),
    ("Rohan is moving to Galway in the new year", "rohan's gone to galway", "is moving"),
    ("my brother Tyler is with Beth", "Tyler and Beth split up", "with Beth"),
    ("got an offer from a berlin startup", "turned it down", "got an offer"),
    ("we're getting married in August in Leipzig", "married!!", "getting married"),
    ("ive quit snus", "fell off the wagon, snusing again", "quit snus"),
    ("we're planning a trip to Japan", "we scrapped the Japan plan", "planning a trip"),
    ("ola is coming to stay with me for a month", "ola went home on sunday", "coming to stay"),
    ("ola is coming to stay with me for a month", "ola's gone home", "coming to stay"),
    ("my parents are staying with us", "my parents flew back on sunday", "staying with us"),
    ("my brother is staying on my couch for now", "my brother finally left", "on my couch"),
    (
        "my cousin is over from Canada for two weeks",
        "my cousin's gone back to Canada",
        "over from Canada",
    ),
    ("my resit is in august", "passed the resit with a 7.5", "in august"),
    ("resit is in august", "passed the thermo resit with a 7.5!!", "in august"),
    ("my driving test is on the 12th", "failed the driving test again", "on the 12th"),
    (
        "I have an interview at Google on Friday",
        "the Google interview went well",
        "an interview at Google",
    ),
    ("my viva is in june", "the viva is done!", "is in june"),
    ("shifts are 5am to 1 mon to fri", "ive moved to lates, 2 til 10 now", "5am"),
    ("working 4 10s, off on fridays", "got laid off today", "4 10s"),
    ("wfh 3 days a week", "office 5 days from monday, hate it", "wfh"),
    ("I live above the shop", "moved to a house in Villeurbanne", "above the shop"),
    ("we live on a narrowboat at Hackney Wick", "sold the boat, renting in Leyton", "live on"),
    ("vegetarian since january", "eating fish again, nothing else here", "vegetarian"),
    ("I smoke a pack a day", "smoke free for 3 months now", "pack a day"),
    ("ride a honda pcx", "bike got nicked", "honda"),
    ("amber's getting married in june", "amber got married saturday", "getting married"),
    ("wedding is in may at a shrine in Nara", "we got married!", "is in may"),
    ("due 14 June", "our son Nico was born on the 10th", "due 14"),
    ("partner Lou is due in april", "baby came early, a boy, Wilf", "is due"),
    ("going full time at the library in feb", "full time now and knackered", "going full"),
    (
        "we open Wednesday to Sunday, 7 till 2",
        "we open thursday to sunday now, 8 till 2",
        "Wednesday",
    ),
    ("we open Wednesday to Sunday, 7 till 2", "sold! last day is 30 September", "Wednesday"),
    ("i work mon to fri 9-5", "i only work mondays and tuesdays now", "mon to fri"),
    ("parkrun best is 27:40", "ran 26:58 on saturday, new pb!", "27:40"),
    ("my brother Tyler's girlfriend is Beth", "Tyler and Beth split up", "girlfriend is Beth"),
    ("lacey starts nursery in september", "Lacey started at little acorns", "starts nursery"),
    ("brother Yusuf is applying to med school", "Yusuf got in to Manchester", "applying"),
    ("junior cert in june", "got 4 distinctions in the junior cert", "in june"),
    ("CDL test is on the 14th", "passed the cdl!!", "the 14th"),
    ("failed my driving test", "passed second time!!", "failed"),
    ("I'm thinking of leaving banking.", "I resigned today.", "thinking of leaving"),
    ("going vegan for january", "vegan didnt last lol", "going vegan"),
    ("I keep budgerigars, four of them", "so the budgies went to my neighbour", "budgerigars"),
    ("no surfing until june", "back surfing!!", "no surfing"),
    ("I bought a Kindle", "sent the Kindle back", "bought a Kindle"),
    ("I bought a drill", "took the drill back to the shop", "bought a drill"),
    ("I bought a Kindle", "I returned the Kindle to Amazon", "bought a Kindle"),
    ("I bought a jacket", "I sent my jacket back, too small", "bought a jacket"),
    ("I ordered a desk", "sent the desk back because it wobbled", "ordered a desk"),
]
NOTED_STILL = [
    (
        "I remember finishing three issues and I'm currently on my fourth.",
        "I just finished the second season",
        "on my fourth",
    ),
    ("we're getting married in August", "my sister got married", "getting married"),
    ("we're planning a trip to Japan", "the plan is to go in May", "Japan"),
    ("we're planning a trip to Japan", "is the Japan plan off the table?", "Japan"),
    ("we're planning a trip to Japan", "if the Japan plan is off the table tell me", "Japan"),
    ("we're planning a trip to Japan", "the bank said no to a loan", "Japan"),
    (
        "ola is coming to stay with me for a month",
        "ola left her bag on the train",
        "coming to stay",
    ),
    ("my parents are staying with us", "the kids went home early", "staying with us"),
    ("my parents are staying with us", "my brother flew back on sunday", "staying with us"),
    ("my test is on friday", "did a blood test today", "test is on friday"),
    ("my exam is in june", "my sister passed her exam", "exam is in june"),
    ("Isla, born on the 9th of march", "no running since isla, no time lol", "born on the 9th"),
    (
        "oat milk flat whites now, isla broke me",
        "wife went back to work so isla's in nursery mon-thu",
        "oat milk",
    ),
    ("we're open tuesday to saturday 9 to 6", "we close at 5 on saturdays now", "9 to 6"),
    ("we open Wednesday to Sunday, 7 till 2", "closed Sundays from June", "Wednesday"),
    ("we open Wednesday to Sunday, 7 till 2", "we've opened on Mondays too now", "Wednesday"),
    ("we open Wednesday to Sunday, 7 till 2", "sold out of croissants by 10", "Wednesday"),
    ("i work mon to fri 9-5", "fridays off now", "mon to fri"),
    ("i work mon to fri 9-5", "gym is open mon to fri now", "i work mon"),
    ("wfh 3 days a week", "my wife got laid off", "wfh"),
    ("wfh 3 days a week", "i'm in the office today", "wfh"),
    ("vegetarian since january", "the cat is eating fish again", "vegetarian"),
    ("ride a honda pcx", "my mates bike got nicked", "honda"),
    ("my wife is due in june", "my sister had her baby", "is due"),
    ("my wife is due in june", "the baby came with me to the shop", "is due"),
    ("i smoke a pack a day", "this bar is smoke free", "pack a day"),
    ("amber's getting married in june", "amber got married to the idea of cake", "married in june"),
    ("lacey starts nursery in september", "lacey started crying", "starts nursery"),
    ("studying for my CDL", "passed the gravy", "studying"),
    ("learning to drive", "my son passed his driving test", "learning"),
    ("ola is coming to stay with me for a month", "ola's team won, she is happy", "coming to stay"),
    ("Graham is coming to stay with us", "Graham went back to bed", "coming to stay"),
    ("Graham is staying with us", "Graham went back to work", "staying with us"),
    ("Graham is staying with us", "Graham went back to the kitchen", "staying with us"),
    ("Graham is staying with us", "Graham's gone to bed", "staying with us"),
    ("I bought a Kindle", "sent the Kindle back for repair", "bought a Kindle"),
    ("I bought a laptop", "my sister returned the laptop", "bought a laptop"),
    ("I bought a drill", "returned the drill bits", "bought a drill"),
]
FOR_A_WHILE = [
    ("I'm on holiday until Friday", "on holiday", 6),
    ("I'm in Lisbon this week", "in Lisbon", 9),
    ("in Lisbon this week", "in Lisbon", 9),
    ("I'm in Lisbon for a few days", "in Lisbon", 6),
    ("currently in Rome for a conference until Thursday", "in Rome", 6),
    ("I'm staying at my mum's until Sunday", "their mum's", 9),
    ("I'm away until the 5th", "away", 7),
    ("I'm working from home this week", "from home", 9),
    ("I'm in Berlin till Tuesday for work", "in Berlin", 4),
    ("we're on holiday in Crete until the 5th", "in Crete", 7),
]
"""What is so for a while from 2 March 2026 on; its words; and the day before which it is over."""
NOW = 6
"""The day of March 2026 on which the ledger of these tests is asked."""
NO_WHILE = [
    "I was in Lisbon this week",
    "I'm not in Lisbon this week",
    "I might be in Lisbon this week",
    "are you in Lisbon this week?",
    "in Lisbon this week it rained",
    "if I'm in Lisbon this week I'll call",
    "my boss is in Lisbon this week",
    "I'm on nights this month and next",
]


@pytest.mark.parametrize(("before", "news", "words"), OVER)
def test_what_news_ends_is_believed_no_longer(somebody, before, news, words):
    assert any(words in each.text for each in somebody.believed_after(before))
    assert not any(words in each.text for each in somebody.believed_after(news))


@pytest.mark.parametrize(("before", "news", "attribute", "value"), ANEW)
def test_what_news_tells_anew_takes_the_place(somebody, before, news, attribute, value):
    found = somebody.believed_after(before, news)
    assert [each.value for each in found if each.attribute == attribute] == [value]


@pytest.mark.parametrize(("before", "said", "words"), NO_CHANGE)
def test_what_is_no_such_news_ends_nothing(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, said))


@pytest.mark.parametrize(("before", "news", "words"), NOTED_OVER)
def test_what_was_noted_is_over_after_such_news(somebody, before, news, words):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    assert not any(words in each.text for each in somebody.believed_after(news, besides=()))


@pytest.mark.parametrize(("before", "said", "words"), NOTED_STILL)
def test_what_was_noted_stays_after_other_news(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, said, besides=()))


@pytest.mark.parametrize(
    ("before", "news", "text"),
    [
        ("we're a family of 4", "now we're 5", "User is a family of 5"),
        ("im in a team of 6", "we're 8 now", "User is in a team of 8"),
        ("my name is jon", "its spelled john btw", "User's name is john"),
        ("i use ubuntu 20.04", "upgraded to 24.04", "User uses ubuntu 24.04"),
        ("i drive a jazz", "part-exchanged the Jazz for a Yaris", "User drives a Yaris"),
        ("my landlord is Mr Khan", "new landlord, Mrs Osei", "User's landlord is Mrs Osei"),
        ("single", "Daz proposed and I said yes!", "User: Daz proposed and they said yes"),
        (
            "handover's on fridays",
            "handover's moved to Sundays at 5. Update the calendar?",
            "User: handover's moved to Sundays at 5",
        ),
    ],
)
def test_it_is_so_then(somebody, before, news, text):
    after = {each.attribute: each.text for each in somebody.believed_after(before, news)}
    assert text in after.values()
    assert "identity.age" not in after


def test_of_two_tools_the_one_of_that_version_has_another(somebody):
    said = ("i use ubuntu 20.04", "i use python 3.11", "bumped to 3.12")
    after = [each.text for each in somebody.believed_after(*said)]
    assert after == ["User uses ubuntu 20.04", "User uses python 3.12"]


@pytest.mark.parametrize(
    ("before", "news"),
    [
        ("my grandad is in hospital", "he passed away"),
        ("my nan has dementia", "she died yesterday"),
        ("im pregnant, due in june", "i lost the baby"),
        ("im pregnant, due in june", "we had a little girl called ivy!!"),
        ("i have breast cancer", "im cancer free!!"),
        ("i take sertraline", "my doctor took me off sertraline"),
        ("i run every morning", "havent run in months"),
        ("i play guitar", "i havent played in years"),
        ("we're buying a house in york", "the sale fell through"),
        ("i have a dentist appointment on monday", "it was cancelled"),
        ("i need to pay my taxes by friday", "paid my taxes"),
        ("i need to send the invoice by monday", "i sent the invoice"),
        ("always show the full code", "stop showing the full code"),
        ("i live on my own", "my boyfriend moved in"),
        ("i'm vegetarian", "started eating chicken"),
        ("my sister is vegan", "she eats fish now"),
        ("my daughter is in year 3", "she's in year 4 now"),
        ("my plan is to move to spain in may", "not moving to spain anymore"),
    ],
)
def test_what_such_news_is_about_is_over(somebody, before, news):
    somebody.memory.consent.grant(
        somebody.who, "explicit_consent", categories=("ordinary", "health")
    )
    there = {each.text for each in somebody.believed_after(before, besides=())}
    assert there
    assert there.isdisjoint(each.text for each in somebody.believed_after(news, besides=()))


OF_A_LIFE = (
    "I work as a plumber.",
    "My sister Nadia lives in Ghent.",
    "I drive a Skoda.",
    "We have a cat called Miso.",
    "I go swimming on Thursdays.",
    "I'm allergic to nuts.",
    "My phone is a Pixel 8.",
    "I like jazz.",
    "My gym is PureGym.",
    "My rent is 900 a month.",
)


@pytest.mark.parametrize(
    ("before", "news", "words"),
    [
        ("our childminder is Debbie", "Debbie's stopped childminding.", "childminder is"),
        ("my ielts is 6.5", "Result of IELTS: 7.5!!!", "6.5"),
    ],
)
def test_what_is_over_ends_behind_much_else(somebody, before, news, words):
    then = "2026-03-20T10:00Z"
    somebody.believed_after(before, *OF_A_LIFE)
    there = {each.text for each in somebody.beliefs(valid_at=then)}
    somebody.remember(news)
    over = there - {each.text for each in somebody.beliefs(valid_at=then)}
    assert len(over) == 1
    assert words in over.pop()


@pytest.mark.parametrize(("said", "words", "day"), FOR_A_WHILE)
def test_what_is_so_for_a_while_ends_by_itself(somebody, said, words, day):
    somebody.believed_after("I live in Porto", said)
    then = [each.text for each in somebody.beliefs(valid_at="2026-03-02T10:00Z")]
    assert any(words in each for each in then), then
    later = [each.text for each in somebody.beliefs(valid_at=f"2026-03-{day + 1:02}T10:00Z")]
    assert later == ["User lives in Porto"]
    told = somebody.memory.context(somebody.who, said).content.splitlines()
    until = "no longer" if day <= NOW else f"until 2026-03-{day:02}"
    assert all(until in each for each in told if f"User is {words}" in each)


@pytest.mark.parametrize("said", NO_WHILE)
def test_what_is_no_state_for_a_while_is_told_as_none(somebody, said):
    somebody.believed_after("I live in Porto", said)
    then = somebody.beliefs(valid_at="2026-03-02T10:00Z")
    assert not any(each.attribute.endswith((".now", ".away")) for each in then)
    assert any(each.value == "Porto" for each in then)


@pytest.mark.parametrize(
    ("before", "said", "over"),
    [
        ("I'm on holiday until Friday", "I'm back at work", True),
        ("I'm in Lisbon for a few days", "back home", True),
        ("I'm in Lisbon for a few days", "I'm back home tomorrow", False),
        ("I'm in Lisbon for a few days", "my sister is back home", False),
        ("I'm on holiday until Friday", "can't wait to be back at work", False),
    ],
)
def test_who_is_back_is_away_no_more(somebody, before, said, over):
    somebody.believed_after(before, said)
    then = somebody.beliefs(valid_at="2026-03-02T10:00Z")
    assert any(each.attribute.endswith((".now", ".away")) for each in then) is not over


@pytest.mark.parametrize(
    ("before", "news", "told"),
    [
        ("I weigh 92 kilos", "down to 88!", "User weighs 88 kilos"),
        ("I weigh 92 kilos", "I'm down to 88 kg now", "User weighs 88 kilos"),
        ("I weigh 92 kilos", "ugh, back up to 94 :(", "User weighs 94 kilos"),
        ("I take 10 mg of lisinopril", "they upped it to 20", "User takes 20 mg of lisinopril"),
        ("I take 10mg of lisinopril", "they cut it to 5mg", "User takes 5mg of lisinopril"),
        ("I weigh 92 kilos", "down to 2 cigarettes a day", "User weighs 92 kilos"),
        ("I weigh 92 kilos", "up to 5 in the morning again", "User weighs 92 kilos"),
        ("I weigh 92 kilos", "back to 1985 we go", "User weighs 92 kilos"),
        ("I weigh 92 kilos", "the fridge is down to 4 degrees", "User weighs 92 kilos"),
        ("I weigh 92 kilos", "my brother is down to 80", "User weighs 92 kilos"),
        ("I weigh 92 kilos", "down to 30% battery", "User weighs 92 kilos"),
    ],
)
def test_a_measure_that_nobody_names_is_the_one_of_its_size(place, before, news, told):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "explicit_consent", categories=["ordinary", "health"])
        memory.remember("ana", before)
        memory.remember("ana", news)
        held = [each.text for each in memory.beliefs("ana") if each.type == "fact"]
        assert [each for each in held if each.startswith(("User weighs", "User takes"))] == [told]


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (["I pay 950 euros rent", "I earn 3000 euros a month", "they raised it to 3200"], "3200"),
        (
            ["My standup is at 10", "My flight is at 7:40 on Friday", "they moved it to 9:15"],
            "9:15",
        ),
        (["I'm 41", "I have 2 kids", "my salary is 50k", "they upped it to 52k"], "52k"),
    ],
)
def test_it_is_what_was_said_last_and_may_be_as_much(somebody, turns, told):
    texts = [each.text for each in somebody.believed_after(*turns, besides=())]
    assert any(told in each and each.startswith("User") for each in texts)
    assert not any(old in each for each in texts for old in ("3000", "7:40", "50k"))


def test_the_profile_tells_the_new_age(somebody):
    somebody.believed_after("I'm 34", "I'm 35 now")
    profile = somebody.memory.context(somebody.who, "how old am I?").content
    assert "35" in profile
    assert "User is 34" not in profile


def test_two_things_given_up_in_one_breath_take_one_decision_for_each(somebody):
    somebody.remember("I use vim")
    _, decisions = somebody.remember("I no longer use vim or emacs")
    assert len(decisions) == 2


def test_who_was_met_is_called_by_the_name_of_the_next_sentence(somebody):
    found = somebody.believed_after("Met someone. His name is Matthias.")
    assert [each.value for each in found] == ["Matthias"]


@pytest.mark.parametrize(
    "said",
    [
        "My sister met someone. His name is Matthias.",
        "Met someone at the bar. His name is Matthias.",
        "Met someone who wants to buy the car. His name is Al.",
    ],
)
def test_whom_somebody_else_met_is_nobodys_partner(somebody, said):
    assert not any(each.type == "relation" for each in somebody.believed_after(said))


def test_a_wedding_that_was_is_to_come_no_longer(somebody):
    somebody.believed_after("our wedding is on 12 june", "we eloped!!")
    assert not any("12 june" in each.text for each in somebody.beliefs())


def test_what_was_told_of_the_old_employer_is_not_told_of_the_new_one(somebody):
    somebody.believed_after("i'm a barista at a little place called Beans", "i'm at Costa now")
    found = [each.text for each in somebody.beliefs() if "Costa" in each.text]
    assert found
    assert not any("little place" in each for each in found)


def test_a_day_takes_the_place_of_no_sport(somebody):
    somebody.remember("I play squash every thursday with a colleague")
    somebody.remember("the courts closed so we do padel on thursdays instead of squash")
    claims = [each.text.lower() for each in somebody.beliefs()]
    assert any("padel" in each for each in claims)
    assert not any("plays thursdays" in each for each in claims)


def test_what_ends_by_two_rules_is_ended_once(somebody):
    somebody.remember("I can't stand cilantro")
    _, decided = somebody.remember("cilantro is ok now")
    assert "confirm" not in [each.outcome for each in decided]


@pytest.mark.parametrize(
    "said", ["I'm living in Faro for the summer", "I'm in Faro for 3 months", "in Faro for a month"]
)
def test_who_is_elsewhere_for_a_season_lives_where_they_lived(somebody, said):
    somebody.remember("I live in Lisbon")
    somebody.remember(said)
    assert "User lives in Lisbon" in [each.text for each in somebody.beliefs()]


SO_NO_MORE = [
    (
        ("I don't drink coffee.", "I started drinking coffee."),
        ("not drink coffee",),
        ("drinking coffee",),
    ),
    (("I don't eat fish", "i've started eating fish"), ("not eat",), ()),
    (("i dont drink tea", "weve started drinking tea lol"), ("not drink",), ()),
    (("I don't eat eggs.", "I began eating eggs in May."), ("not eat",), ()),
    (("I don't drink milk", "I'm drinking milk again"), ("not drink",), ()),
    (
        ("David's mother does not eat pepper.", "David's mother has started eating pepper."),
        ("not eat pepper",),
        (),
    ),
    (
        ("Ana doesn't drink coffee.", "Ana has started drinking coffee."),
        ("not drink", "n't drink"),
        (),
    ),
    (("my mum doesn't eat meat", "my mum has started eating meat"), ("not eat", "n't eat"), ()),
    (("I've never been to Japan.", "I went to Japan in May."), ("never",), ("went to Japan",)),
    (("I've never been to Japan.", "I'm in Japan now!"), ("never",), ()),
    (("I've never been to Japan.", "I'm just back from Japan."), ("never",), ()),
    (("i've never been to spain", "got back from spain yesterday"), ("never",), ()),
    (("I've never been to Spain.", "We flew to Spain last week."), ("never",), ()),
    (("I've never been to Peru.", "I visited Peru in June."), ("never",), ()),
    (("I have never been to Iceland.", "We're in Iceland this week!"), ("never",), ()),
    (("I've never had a cat.", "We got a cat!"), ("never",), ()),
    (("I've never had a dog", "we adopted a dog"), ("never",), ()),
    (("I've never owned a car.", "I bought a car."), ("never",), ()),
    (("I've never run a marathon.", "I ran my first marathon yesterday!"), ("never",), ()),
    (("I've never baked a cake", "I baked my first cake today"), ("never",), ()),
    (("I've never climbed a mountain.", "We climbed our first mountain!"), ("never",), ()),
    (("My roommate is Thiago.", "My new roommate is Min-jun."), ("Thiago",), ("Min-jun",)),
    (("My best friend is Amira.", "My new best friend is Poppy."), ("Amira",), ("Poppy",)),
    (("My flatmate is Thiago.", "My new flatmate is called Min."), ("Thiago",), ("Min",)),
    (("My team lead is Hanna.", "Joost is taking over from Hanna."), ("Hanna",), ("Joost",)),
    (("My manager is Hanna.", "Joost took over from Hanna."), ("is Hanna",), ("Joost",)),
    (("My tutor is Hanna.", "Joost has taken over from Hanna."), ("is Hanna",), ("Joost",)),
    (("i hate running", "turns out i actually love running??"), ("hate",), ()),
    (("i hate sushi", "turns out i love sushi?!"), ("hate",), ()),
    (("I hate flying", "I don't mind flying any more"), ("hate",), ()),
    (("i hate olives", "i dont mind olives now"), ("hate",), ()),
    (("I hate flying", "I don't hate flying any more"), ("hates flying",), ()),
    (
        ("i can't stand typescript", "ok typescript is not that bad. don't tell anyone"),
        ("stand",),
        (),
    ),
    (("I hate olives", "olives aren't that bad actually"), ("hate",), ()),
    (("I hate olives", "olives are actually nice"), ("hate",), ()),
    (
        ("Our company is called Tidelane.", "We renamed the company to Berthly."),
        ("Tidelane",),
        ("Berthly",),
    ),
    (("My startup is called Foo.", "we renamed our startup to Barly"), ("Foo",), ("Barly",)),
    (
        ("I have a laptop with Windows 10.", "I upgraded to Windows 11."),
        ("Windows 10",),
        ("Windows 11",),
    ),
    (("I use github actions with node 18", "we upgraded to node 22"), ("node 18",), ("22",)),
    (("My laptop runs Ubuntu 22", "upgraded to Ubuntu 24 yesterday"), ("Ubuntu 22",), ("24",)),
    (("I use Python 3.11", "we moved to Python 3.12"), ("3.11",), ("3.12",)),
    (("I have a ps5.", "My ps5 broke and I threw it out."), ("has a",), ()),
    (("I have a toaster", "my toaster died and we binned it"), ("has a",), ()),
    (("i have a bike", "my bike broke so i got rid of it"), ("has a",), ()),
    (
        (
            "also i'm veggie so dont suggest chicken for meal prep",
            "i think i'm done being veggie tbh",
        ),
        ("so dont",),
        (),
    ),
    (("I'm vegan.", "I'm done being vegan"), ("is vegan",), ()),
    (("I'm a vegetarian", "i stopped being vegetarian"), ("is a veg",), ()),
    (("My exam is in October.", "I'll postpone the exam to next year."), ("October",), ()),
    (("My surgery is on 5 May.", "I've postponed the surgery."), ("5 May",), ()),
    (
        ("my driving test is on friday", "i'm pushing back the driving test to june"),
        ("friday",),
        (),
    ),
    (
        ("Margaret is having her hip done on the 20th.", "Margaret's had her hip done."),
        ("on the 20th",),
        (),
    ),
    (("Dad is getting his knee done in June.", "Dad has had his knee done."), ("in June",), ()),
    (("My sister lives in Rome.", "She moved back in with our parents."), ("Rome",), ()),
    (("I live in Rome.", "I moved back in with my parents."), ("Rome",), ()),
    (("no phone after 8 for two weeks", "im not grounded anymore yesss"), ("phone",), ()),
    (("I'm grounded until Sunday", "not grounded any more!!"), ("grounded until",), ()),
    (("i hate sushi", "so turns out i love sushi?"), ("hate",), ()),
    (("My dentist is Thiago.", "My new dentist is Bo"), ("Thiago",), ("Bo",)),
    (("I use postgres 15", "upgraded to postgres 16 last night"), ("postgres 15",), ("16",)),
    (("our ci runs on github actions with go 1.21", "we bumped to go 1.22"), ("1.21",), ()),
    (("my phone runs android 13", "updated to android 14"), ("13",), ()),
    (("I have an iphone 13", "I upgraded to iphone 15"), ("iphone 13",), ()),
    (("our site runs on Heroku", "we migrated from Heroku to Fly"), ("on Heroku",), ()),
    (("I've never been skiing.", "I went skiing last week"), ("never",), ()),
    (("I've never had sushi", "I tried sushi yesterday"), ("never",), ()),
    (("I've never tried sushi", "I had my first sushi yesterday"), ("never",), ()),
    (
        (
            "I have a dentist appointment on Friday",
            "I'll postpone the dentist appointment to Monday",
        ),
        ("Friday",),
        (),
    ),
    (("I'm having my hip done on the 20th.", "I've had my hip done."), ("20th",), ()),
    (
        ("My gran is having her cataracts removed in May", "My gran's had her cataracts removed"),
        ("in May",),
        (),
    ),
    (("I'm a nurse", "I stopped being a nurse last year"), ("is a nurse",), ()),
    (("My boss is Hanna.", "Joost is taking over from Hanna next week."), ("is Hanna",), ()),
    (
        ("my stack is Python and React on Heroku", "we moved from Heroku to AWS"),
        ("on Heroku",),
        ("Python and React on AWS",),
    ),
    (
        ("My dad lives in Stockport.", "He moved in with us yesterday."),
        ("Stockport", "moved to with"),
        (),
    ),
]
"""What was denied, never done, called or put on a day, and news after which it is otherwise."""


@pytest.mark.parametrize(("turns", "over", "stands"), SO_NO_MORE)
def test_what_was_so_is_otherwise(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


SO_STILL = [
    (("I don't drink coffee.", "I started drinking tea."), ("not drink coffee",)),
    (("I don't drink coffee.", "My wife started drinking coffee."), ("not drink coffee",)),
    (("I don't drink coffee.", "I never started drinking coffee."), ("not drink coffee",)),
    (("I don't drink coffee.", "I'm thinking of starting to drink coffee."), ("not drink coffee",)),
    (("Ana doesn't drink coffee.", "Tom has started drinking coffee."), ("coffee",)),
    (("my mum doesn't eat meat", "my dad has started eating meat"), ("mum",)),
    (
        ("David's mother does not eat pepper.", "David has started eating pepper."),
        ("David's mother does not eat",),
    ),
    (("I've never been to Japan.", "My sister went to Japan."), ("never",)),
    (("I've never been to Japan.", "I went to China."), ("never",)),
    (("I've never been to Japan.", "I'd love to go to Japan."), ("never",)),
    (("I've never been to Japan.", "I'm going to Japan in May."), ("never",)),
    (("I've never been to Japan.", "I almost went to Japan once."), ("never",)),
    (("I've never been to Japan.", "I had a date in Japan town?"), ("never",)),
    (("I've never had a cat.", "My sister got a cat!"), ("never",)),
    (("I've never had a cat.", "We got a dog!"), ("never",)),
    (("I've never run a marathon.", "I ran my first half today"), ("never",)),
    (("I've never run a marathon.", "Tom ran his first marathon"), ("never",)),
    (("My neighbour is Anna.", "my new neighbour is Bea."), ("Bea", "Anna")),
    (("My friend is Anna.", "my new friend is Bea."), ("Bea", "Anna")),
    (("My roommate is Thiago.", "I have two roommates now, my new roommate is Bo"), ("Thiago",)),
    (("My sister is Hanna.", "Joost took over from Hanna at the till."), ("is Hanna",)),
    (("i hate running", "do i actually love running??"), ("hate",)),
    (("I hate flying", "I don't mind driving any more"), ("hate",)),
    (("I hate flying", "Tom doesn't mind flying any more"), ("hate",)),
    (("I hate olives", "capers aren't that bad"), ("hate",)),
    (("I hate olives", "the olive harvest is not that bad"), ("hate",)),
    (("I work at Tidelane.", "We renamed the app to Berthly."), ("Tidelane",)),
    (("I use node 18", "Tom upgraded to node 22"), ("node 18",)),
    (("I have a laptop with Windows 10.", "I upgraded to Office 365."), ("Windows 10",)),
    (("I have a ps5.", "My ps5 broke and I fixed it."), ("has a",)),
    (("I have a ps5.", "My tv broke and I threw it out."), ("has a ps5",)),
    (("I have a ps5.", "Tom's ps5 broke and he threw it out."), ("has a ps5",)),
    (("I'm vegan", "my sister is done being vegan"), ("vegan",)),
    (("My exam is in October.", "I'll postpone the party to next year."), ("October",)),
    (("My exam is in October.", "Should I postpone the exam?"), ("October",)),
    (("Margaret is having her hip done on the 20th.", "Margaret's had her hair done."), ("20th",)),
    (("Margaret is having her hip done on the 20th.", "Anne's had her hip done."), ("20th",)),
    (("My brother lives in Leeds.", "He's moved in with his girlfriend."), ("Leeds",)),
    (("I live in Rome.", "My sister moved back in with my parents."), ("Rome",)),
    (("My sister lives in Rome.", "She checked in with our parents."), ("Rome",)),
    (("Ana doesn't drink coffee.", "Tom has started drinking coffee."), ("Ana",)),
    (("My best friend is Amira.", "My new best friend is called Amira"), ("Amira",)),
    (("My roommate is Thiago.", "My new roommate is called Thiago"), ("Thiago",)),
    (("I live in Rome.", "I moved out of my parents'"), ("Rome",)),
    (("I live in Rome.", "I'm thinking of moving back in with my parents."), ("Rome",)),
    (("I live in Rome.", "We might move back in with my parents."), ("Rome",)),
    (("I've never been to Japan.", "I'm in love with Japan"), ("never",)),
    (("I've never been to Japan.", "My flight back from Japan town"), ("never",)),
    (("I hate running", "running is actually bad for knees"), ("hate",)),
    (("I have a car", "My car broke down and I took it to the garage"), ("car",)),
    (("I have a car", "My car broke down and I took it away"), ("car",)),
    (("I have a dog", "I threw my dog a ball"), ("dog",)),
    (("I have a bike", "I threw out my bike helmet"), ("bike",)),
    (("My exam is in October.", "I won't postpone the exam"), ("October",)),
    (("My exam is in October.", "I should postpone the exam"), ("October",)),
    (("My exam is in October.", "They might postpone the exam"), ("October",)),
    (("My team lead is Hanna.", "Joost took over the project from Hanna"), ("Hanna",)),
    (("I'm a veggie", "I'm not done being a veggie"), ("veggie",)),
]


@pytest.mark.parametrize(("turns", "stands"), SO_STILL)
def test_what_was_so_is_so_after_news_of_something_else(somebody, turns, stands):
    somebody.ends_with(turns, (), stands)
