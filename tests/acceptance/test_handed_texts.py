"""Texts that a turn hands over to be worked on: others' mail, adverts, exercises, songs. What they
say as "I" is not told of the speaker, who may tell of themselves before and after."""

from __future__ import annotations

import pytest

ASKED_FIRST = [
    "can you shorten this Hi Bo, I moved to Derby in May and wait for my deposit, thanks Una",
    "score this cover letter out of 10. I have been a baker for 9 years and I live near Hove",
    "Make this more concise please. I write to say that I now live in Antwerp with my wife.",
    "tidy up this CV pls\n\nANA REIS\nI speak Polish and German. I hold a hygiene certificate.",
    "third person pls: I am a ceramicist living in Kyoto. I exhibit in Paris each spring.",
    "tag the entities in: I work for Siemens in Erlangen and my boss is Frau Adler.",
    "mark this out of 20 as an examiner. I live in a small town. My best friend is called Jess.",
    "sort out the spelling in my lads letter to santa. i am 7 and i want a drone",
    "is this email ok to send? Dear Ms Vogel, I am 34, I live in Kassel and I can drive.",
    "what would a native speaker change here? Since two weeks I work in a new office in Munich",
    "Ad text, check pls. I am since 2016 a carpenter and I have my own tools",
    "Extract the dates. I moved to Cork on 3 May 2010 and I started at Apple in June.",
]
ASKED_LAST = [
    "hi its Mandy from bookings, i start my leave on friday so Kev has your account\n\nwhat do i "
    "reply to this",
    "I have been a guest of yours since 2009. My wife was in tears. -- does that come across too "
    "harsh?",
    "We run a hotel in Cusco. I employ forty people and I have two daughters. count the words",
    "Sam said I am leaving in June, Ola said i take over the Nordics. bullet points pls",
    "36, single, two cats, I own a flat in Bremen and I hate apps. Does it sound desperate",
]
LABELLED = [
    "Posted by u/breadhead: I've been baking for eleven years. My starter is called Gerald.",
    "found this on mumsnet what do u think: I am 41 and I work offshore on my own",
    "GCSE french model answer: I live in the north with my stepdad. I don't like maths.",
    "he put on hinge: i'm competitive about scrabble, i have a twin, i live in a boat. opener?",
    "My neighbour's complaint as she typed it: I am 78, I live at 3 Dell Close",
    "An applicant for the flat sent the following. I work at Shell, I have a quiet dog.",
    "transcribed this from a letter in the attic. My dear Nell, I earn eleven shillings a week.",
    "my grandfather's postcard reads Arrived in Cairo. I share a tent with Bill.",
    "who sings i was born in a small town and i live in a small town",
    "Name the literary device: my heart is a house in Leeds with nobody home",
]
BY_FORM = [
    "Hi Tom,\n\nI've just got back from Madeira and I'm now working from the Bristol office.\n\n"
    "Best,\nJoanna",
    "Good afternoon Mrs Healy, I teach Year 4 at St Brigid's and I would like to meet you.",
    "Hiya, it's Sue from number 9! I've had a baby boy, so no more babysitting. Love Sue x",
    "Fill in the gaps: I ___ (live) in Madrid. I have a dog called Toby.",
    "name,age,city\nLena,34,Graz\nOmar,29,Tunis\n\nsort by age",
    "I'm a heavy sleeper and I bought the firm one. Five stars. My back loves it.",
]
OWN = [
    ("write a cover letter for me, im a nurse with 8 years at the Royal Infirmary", "nurse"),
    ("Write a letter of complaint. I bought a Bosch dryer in March and I live in Trier", "Trier"),
    ("I teach English in Hanoi. Can you correct this: 'Yesterday I go to market'", "Hanoi"),
    ('make it shorter: "Thank you all." its for my mum, i live in Bogota', "Bogota"),
    ('This is the text of my pupil: "The dog it barks". I teach 5th grade in Graz.', "Graz"),
    ("I'm a translator, polish to english, and I need a rate calculator", "translator"),
    ("rewrite my cv? i just got my forklift licence and live in Corby", "Corby"),
    ("is my english ok? i live in Ireland since 4 years and people still laugh", "Ireland"),
    ("Give me feedback on my diet. I don't eat dairy and I train for triathlons", "dairy"),
    ("Good morning! I live in Crete with my two kids, what grows here?", "Crete"),
    ("new rota: I'm on call every first Sunday of the month.", "first Sunday"),
    ("how formal are weddings in Zagreb? my cousin Iva gets married there in June", "Iva"),
    ("any dentist in Ghent? I live in Ghent and want one that you would recommend", "Ghent"),
    ("My landlord wrote to us :( we live in Turku since May", "Turku"),
    ("Who wrote Wuthering Heights? My daughter Nell has it for her A levels", "Nell"),
    ("I teach in Pune. The 1 star reviews of my school hurt", "Pune"),
    ("Hey Sam, hope you're well. Wanted to share some news - my sister works in Bonn!", "Bonn"),
    ("I want to get something nice for Nell, but not too expensive. Nell collects owls.", "owls"),
    ("It took me 5 minutes. I live in Bonn now.", "Bonn"),
    ("Same with me on the court. I play tennis every Tuesday.", "tennis"),
    ('I got her a spa voucher last time. Draft a note: "Dear [Your Name], enjoy!"', "voucher"),
    ("always answer me in bullet points please", "bullet points"),
]
"""What the speaker tells in the same words, before, after or without a text."""


@pytest.mark.parametrize("said", [*ASKED_FIRST, *ASKED_LAST, *LABELLED, *BY_FORM])
def test_nothing_of_a_text_is_believed(somebody, said):
    somebody.keeps_nothing_of(said)


@pytest.mark.parametrize(("said", "words"), OWN)
def test_what_the_speaker_tells_is_believed(somebody, said, words):
    somebody.keeps(said, words)
