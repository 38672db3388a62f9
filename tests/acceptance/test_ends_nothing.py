"""Who tells an assistant much at once goes on about the same things, and friends say of anything
that it brings them joy: that ends nothing that was told."""

from __future__ import annotations

import pytest

ASKS = (
    " Could you help me put together a plan for it, with a few options to choose from, and tell me"
    " what I should look out for? I have some time on Sunday and would like to be done by then,"
    " without spending too much on it."
)
STANDS = [
    (
        "I go to the gym on Tuesdays and Saturdays.",
        "My new sleep schedule works well. It's better now that it fits around my gym days.",
        "gym on Tuesdays",
    ),
    (
        "I've been experimenting with sourdough bread.",
        "I made cookies with bread flour yesterday, and they turned out chewier than usual.",
        "sourdough",
    ),
    (
        "I'm planning a trip to Peru.",
        "I'm super excited for my trip to Peru now, and I've been reading a lot about it.",
        "trip to Peru",
    ),
    (
        "I'm thinking of buying a cello.",
        "I recently found a folk band that has a cello player and started enjoying their songs.",
        "buying a cello",
    ),
    (
        "I'm planning a trip to the Atacama desert.",
        "I've been reading a lot about the Atacama desert, and I've finished five books so far.",
        "Atacama",
    ),
    (
        "I've been thinking about getting a new yoga mat.",
        "I've been using my yoga mat for a while now, and it's been great, but it is worn.",
        "yoga mat",
    ),
    (
        "I'm also thinking of asking the members to bring their own questions along.",
        "I just finished reading the latest thriller by Jo Nesbo and liked it a lot.",
        "bring their own questions",
    ),
    (
        "I'm thinking of going to another opening at the Blue Gallery.",
        "I ended up buying a print from one of the artists there, and I hung it above my desk.",
        "Blue Gallery",
    ),
    (
        "I've been having some trouble with the Wi-Fi of my laptop lately.",
        "By the way, I just started using my new laptop backpack and it's been great so far.",
        "Wi-Fi",
    ),
    (
        "I've been tracking my reading progress in a notebook.",
        "I actually finished three novels last weekend and loved all of them.",
        "reading progress",
    ),
]
"""What is believed, what is told at length some days later, and the words of what stands."""
OVER = [
    (
        "I've written four short stories so far.",
        "By the way, I've been writing for three months now, and I've completed 7 short stories"
        " since I started.",
        "four",
    ),
    (
        "I'm planning a trip to San Sebastian for next month.",
        "Speaking of trips, we took a short walk in the hills a week after returning from San"
        " Sebastian.",
        "planning a trip to San Sebastian",
    ),
    (
        "I'm thinking of getting a standing desk.",
        "I just got a standing desk from a shop downtown, and my back thanks me.",
        "thinking of getting",
    ),
    ("I live in Porto.", "I moved to Lisbon last week, and the flat is tiny.", "in Porto"),
    ("I have guitar lessons on Mondays.", "guitar lessons over already!", "on Mondays"),
]
"""The same, and the words of what is over."""


CHAT = [
    ("Hey Sofia, since we last spoke I've taken up archery.", "Bye, Sofia", "archery"),
    ("I love helping people in our community.", "People like you make me feel so good", "helping"),
    (
        "We had a lovely picnic with the family by the lake last week.",
        "My family brings me so much joy and love",
        "picnic",
    ),
    ("We all went bowling with Priya's team on Friday.", "We bond over stories", "bowling"),
    (
        "I'm hoping to get into the local choir, Tom.",
        "Yeah Tom, it's been great for me",
        "local choir",
    ),
    (
        "I felt so happy when I saw my brother's new baby last month.",
        "It's amazing how they bring us so much happiness",
        "new baby",
    ),
    (
        "My progress reports for the thesis are due on the 5th of each month.",
        "progress over perfection!",
        "progress reports",
    ),
    ("I take guitar classes on Mondays.", "we had our classes over zoom today", "guitar classes"),
    (
        "Omar, I'm really hoping to get on the school board next year.",
        "Hi Omar, since we last talked I've been teaching kids to swim",
        "school board",
    ),
    ("I usually watch films with my brother on Sundays.", "That's so moving!", "films"),
    (
        "We push each other to be our best in the team.",
        "It's been great having people push me",
        "push each other",
    ),
    (
        "Ruth, I'm moving my piano lessons to the school in Kiel.",
        "So sorry to hear that, Ruth",
        "piano lessons",
    ),
    (
        "We always look forward to our camping weekends in the hills.",
        "I love camping trips with my fam, 'cause the hills bring such peace and quiet, and the"
        " kids have so much fun with the tent, the fire and the stars",
        "camping weekends",
    ),
    (
        "I hate not being on the court because of my ankle.",
        "So much has happened in the last month, on and off the court, and I'm feeling pretty good"
        " about how the whole team is shaping up for the new season",
        "my ankle",
    ),
]
"""What people told each other, what they say later, and the words of what stands."""


@pytest.mark.parametrize(("before", "said", "words"), CHAT)
def test_what_friends_say_of_anything_ends_nothing(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    after = somebody.believed_after(said, besides=())
    assert any(words in each.text for each in after), [each.text for each in after]


@pytest.mark.parametrize(("before", "said", "words"), STANDS)
def test_what_is_told_at_length_ends_nothing(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    after = somebody.believed_after(said + ASKS, besides=())
    assert any(words in each.text for each in after), [each.text for each in after]


@pytest.mark.parametrize(("before", "said", "words"), OVER)
def test_what_is_told_at_length_to_be_otherwise_is(somebody, before, said, words):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    after = somebody.believed_after(said + ASKS, besides=())
    assert not any(words in each.text for each in after), [each.text for each in after]


def test_nothing_is_told_twice_for_having_ended_nothing(somebody):
    somebody.believed_after("I go to the gym on Tuesdays and Saturdays.")
    somebody.believed_after(STANDS[0][1] + ASKS, besides=())
    assert not any(each.attribute == "event.change" for each in somebody.beliefs())


@pytest.mark.parametrize(
    ("before", "said", "words"),
    [
        ("i live in york", "moved to proton", "york"),
        ("i live in york", "we've moved to bitwarden", "york"),
        ("i live in york", "moved to marketing", "york"),
        ("i live in york", "moved to keto", "york"),
        ("my gran is 88", "my friends gran died", "is 88"),
        ("my dog is 3", "my sisters dog died", "is 3"),
        ("i have piano lessons on thursdays", "no lesson this thursday", "piano"),
        ("i go to the gym on mondays", "no gym this monday, im sick", "gym"),
        ("i do pilates every tuesday", "pilates is cancelled today", "pilates"),
        (
            "i work at mcdonalds on mondays and tuesdays",
            "i dont work tuesdays anymore",
            "mcdonalds",
        ),
        ("leo learned to swim and ava's vegetarian", "leo's bike got stolen", "vegetarian"),
        ("my mum works at tesco", "my mum started yoga", "tesco"),
        ("we use react", "nah were staying with react", "uses react"),
        ("i live in york", "we moved to graphql", "york"),
        ("im married", "my brother got divorced", "married"),
        ("im married", "my best friend is getting divorced", "married"),
        ("im divorced", "my friend got divorced", "divorced"),
        ("i have a dog", "thought my dog died but he was just asleep", "dog"),
        ("i have a cat", "i thought my cat had died", "has a cat"),
        ("i have a dog", "my dog nearly died", "has a dog"),
    ],
)
def test_what_is_of_others_or_was_only_thought_ends_nothing(somebody, before, said, words):
    after = somebody.believed_after(before, said, besides=())
    standing = [each.text for each in after if not each.attribute.startswith("event.")]
    assert any(words in each for each in standing), standing


@pytest.mark.parametrize(
    ("before", "said", "words"),
    [
        ("I live with Tom and Sue.", "Tom left for work.", "lives with Tom and Sue"),
        ("I live with Tom and Sue.", "Tom is gone for the weekend.", "lives with Tom and Sue"),
        ("I live with Tom.", "Tom left his keys here.", "lives with Tom"),
        ("I live with Leo.", "Leo left town for the weekend.", "lives with Leo"),
        ("I live with Jess.", "Jess quit smoking.", "lives with Jess"),
        ("Our team is Sofia, Ben and Anna.", "Ben quit coffee.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben quit his gym.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben left for lunch.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben left us a cake.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben cut his finger.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben bailed on dinner.", "Sofia, Ben and Anna"),
        ("Our team is Sofia, Ben and Anna.", "Ben's gone home.", "Sofia, Ben and Anna"),
        ("I play in a band with Max and Zoe.", "Zoe quit caffeine.", "with Max and Zoe"),
        ("I have a dog, Rex.", "Rex left hair everywhere.", "dog is Rex"),
        ("I have a cat, Miso.", "miso left paw prints all over the sofa", "cat is Miso"),
        ("I have a cat, Miso.", "Miso has gone blind.", "cat is Miso"),
        ("Our dog Rex sleeps in my room.", "Rex is gone crazy.", "dog is Rex"),
        ("My tutor is Dr Okafor.", "Dr Okafor is gone on holiday.", "tutor is Dr Okafor"),
        ("My boss is Helen.", "Helen left the meeting early.", "boss is Helen"),
        ("My girlfriend is Ana.", "Ana left me a voicemail.", "girlfriend is Ana"),
    ],
)
def test_who_leaves_something_else_or_for_a_while_is_there_still(somebody, before, said, words):
    after = somebody.believed_after(before, said, besides=())
    assert any(words in each.text for each in after), [each.text for each in after]


@pytest.mark.parametrize(
    ("before", "said", "over"),
    [
        ("I live with Leo.", "Leo left.", "with Leo"),
        ("I live with Leo.", "Leo left for good.", "with Leo"),
        ("I live with Leo.", "Leo moved out.", "with Leo"),
        ("I have a cat, Miso.", "Miso is gone.", "cat is Miso"),
        ("My boss is Helen.", "Helen quit.", "boss is Helen"),
        ("My boss is Helen.", "Helen left the company.", "boss is Helen"),
        ("My boss is Helen.", "Helen left for Google.", "boss is Helen"),
        ("My boss is Helen.", "Helen left last week.", "boss is Helen"),
        ("My tutor is Ms Rao.", "Ms Rao left.", "tutor is Ms Rao"),
        ("Our team is Sofia, Ben and Anna.", "Ben left for a new job.", "Sofia, Ben"),
        ("Our team is Sofia, Ben and Anna.", "Ben left us.", "Sofia, Ben"),
        ("Our team is Sofia, Ben and Anna.", "Ben was let go.", "Sofia, Ben"),
        ("My friend Jess smokes.", "Jess quit smoking.", "smokes"),
        ("My girlfriend is Ana.", "Ana left me.", "girlfriend is Ana"),
    ],
)
def test_who_leaves_for_good_is_not(somebody, before, said, over):
    after = somebody.believed_after(before, said, besides=())
    assert not any(over in each.text for each in after), [each.text for each in after]
