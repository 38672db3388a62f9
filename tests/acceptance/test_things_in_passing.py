"""News of things, tools, habits and appointments that is told in passing, in few words or beside a
question, and what is so still after news of something else."""

from __future__ import annotations

import pytest

NEWS = [
    # What is told before a question is asked.
    (
        ("I drive a Ford Fiesta", "wrote off the fiesta, what does the insurer pay?"),
        ("Fiesta",),
        (),
    ),
    (
        ("I drive a Skoda Fabia", "traded it in for a Duster, how do i pair my phone with it?"),
        ("Fabia",),
        ("Duster",),
    ),
    # How one gets to work or school.
    (
        (
            "I cycle to work, 9 km each way, so I need something that dries fast",
            "i take the train to work these days, the bike is only for weekends",
        ),
        ("I cycle to work",),
        ("takes the train",),
    ),
    (
        (
            "i commute on a single speed",
            "i sit in the cold longer now that i take the bus, the bike was stolen",
        ),
        ("single speed",),
        ("take the bus",),
    ),
    (("i cycle to uni most days", "I take the tram to uni now"), ("cycle",), ("tram",)),
    (
        ("i take the bus to school", "my moped licence came so i ride to school now"),
        ("bus",),
        ("ride",),
    ),
    (("I commute by bike", "i get the metro these days, sold the car"), ("by bike",), ("metro",)),
    (
        ("i walk to the office, 20 min", "since we moved I drive to the office now"),
        ("walk",),
        ("drive",),
    ),
    (("I cycle to work", "now i take the bus and read"), ("cycles",), ("bus",)),
    # Networks and phones.
    (("I'm on Jio", "moved to Airtel in march, why no signal"), ("Jio",), ("Airtel",)),
    (("using a Pixel 6", "I use a Fairphone 5 now"), ("Pixel",), ("Fairphone",)),
    # A figure, a day or a count that is another now.
    (
        ("im making the cake for 30 people", "wait no 40", "ugh ok final count is 36"),
        ("30", "40"),
        ("36",),
    ),
    (("im cooking for 12 people on saturday", "final headcount: 15"), ("12",), ("15",)),
    (("our rent is 890 warm", "from this month it is 940"), ("890",), ("940",)),
    (
        (
            "Piano lesson for Sakura is every Thursday 16:30",
            "Teacher changed it. Tuesday, same time",
        ),
        ("Thursday",),
        ("Tuesday",),
    ),
    (
        ("my piano lesson is thursdays at 4", "wednesday, same time from now on"),
        ("thursday",),
        ("wednesday",),
    ),
    (("choir is mondays at 7", "they moved it. tuesdays, same place"), ("monday",), ("uesday",)),
    (
        ("my piano lesson is thursdays at 4", "just this week its on tuesday"),
        ("tuesday",),
        ("thursday",),
    ),
    (("bin day is tuesday", "its wednesday now"), ("tuesday",), ("ednesday",)),
    (("our rent is 890", "as of january it's 930"), ("890",), ("930",)),
    (("our rent is 890", "as of this month it's 930"), ("890",), ("930",)),
    (("our rent is 890", "since january it's 930"), ("890",), ("930",)),
    (
        ("our rent is 890 warm", "from this month it is 940", "The rent is 985"),
        ("890", "940"),
        ("985",),
    ),
    # The tool or network that everything is in by now.
    (
        (
            "I use MTN for data, 20GB monthly",
            "since I ported to Glo last month the laptop no wan see it",
        ),
        ("MTN",),
        ("Glo",),
    ),
    (
        ("my data is with Vodacom", "ported to MTN in june, hotspot drops every hour"),
        ("Vodacom",),
        ("MTN",),
    ),
    (("I'm on Vodafone", "since i moved over to O2 my calls drop"), ("Vodafone",), ("O2",)),
    (
        ("we use slack at our company", "ever since the merger everything's in teams"),
        ("slack",),
        ("eams",),
    ),
    (
        ("we use slack at our company", "its all in teams now, how do i mute a channel"),
        ("slack",),
        ("eams",),
    ),
    (
        ("I code mostly in PHP at work", "in Go, everything we do at work is Go since the rewrite"),
        ("PHP",),
        ("Go",),
    ),
    (("I code mostly in PHP at work", "we do everything in Go now"), ("PHP",), ("Go",)),
    (
        ("I code mostly in java at work", "all our new services are kotlin now"),
        ("java",),
        ("otlin",),
    ),
    (("we use trello at the studio", "everything's in asana since march"), ("trello",), ("sana",)),
    (("I keep my files in Dropbox", "it's all on nextcloud now"), ("ropbox",), ("extcloud",)),
    # What one plays, reads, trains for, bakes and writes about.
    (("I main Jinx in league", "ive been maining Kai'Sa since the rework"), ("Jinx",), ("Kai",)),
    (("I run every morning", "haven't run since we moved"), ("every morning",), ()),
    (("I'm playing Elden Ring", "i'm playing Hades now"), ("Elden",), ("Hades",)),
    (("I'm reading Dune", "I'm reading Emma now"), ("Dune",), ("Emma",)),
    (("I'm reading Dune", "done with dune, onto Emma now"), ("reading Dune",), ("Emma",)),
    (("I'm reading Dune", "finished Dune, on to Emma"), ("reading Dune",), ("Emma",)),
    (("I'm reading Dune", "finished Dune, on to Emma"), ("reading Dune",), ("reading Emma",)),
    (("I'm watching Severance", "we're watching Fargo now"), ("Severance",), ("Fargo",)),
    (("My dissertation is on Keats", "it's on Shelley now, long story"), ("Keats",), ("Shelley",)),
    (
        ("i bake my own bread every weekend", "i havent baked since the oven died and wont again"),
        ("every weekend",),
        (),
    ),
    (("i bake sourdough every sunday", "binned the starter, no time"), ("every sunday",), ()),
    (
        ("i bake sourdough every sunday", "my starter went in the bin in spring, couldn't keep up"),
        ("every sunday",),
        (),
    ),
    (
        ("i main a hunter in our raid group", "switched to mage last patch, what stats do i want"),
        ("hunter",),
        ("mage",),
    ),
    (
        ("i play goalkeeper for our sunday team", "been playing left back since christmas"),
        ("goalkeeper",),
        ("left back",),
    ),
    (
        ("i play tank in our guild, prot warrior", "been maining resto druid since the new season"),
        ("tank",),
        ("druid",),
    ),
    (
        (
            "im training for the half marathon in october",
            "my half marathon medal is hanging on the fridge",
        ),
        ("training for the half",),
        (),
    ),
    (
        (
            "my bachelor thesis is about urban beekeeping",
            "prof talked me out of it, its about green roofs now",
        ),
        ("beekeeping",),
        ("green roofs",),
    ),
    (
        (
            "my masters thesis is about salt marshes",
            "supervisor made me change it, its about mangroves now",
        ),
        ("salt marsh",),
        ("mangrove",),
    ),
    (
        ("our band is called Paper Tigers", "new band name: Glass Otters"),
        ("Paper",),
        ("Glass Otters",),
    ),
    (
        (
            "our band is called Paper Tigers",
            "we renamed the band, its Glass Otters now. logo ideas?",
        ),
        ("Paper",),
        ("Glass Otters",),
    ),
    (
        ("our pub quiz team is Quizzy Rascal", "New name since the reshuffle: Agatha Quiztie"),
        ("Quizzy",),
        ("Agatha Quiztie",),
    ),
    (
        (
            "training for the Manchester marathon in April",
            "dropped down to the half in May, the full one was breaking me",
        ),
        ("Manchester marathon",),
        ("half",),
    ),
    (
        ("we're watching The Wire", "done with the wire, were on season 1 of Fargo"),
        ("The Wire",),
        ("Fargo",),
    ),
    (("we're watching The Wire", "finished the wire, now watching Fargo"), ("Wire",), ("Fargo",)),
    # Things of a question before, and what is gone (th).
    (
        (
            "we use slack at our company",
            "why does teams keep logging me out. ever since the merger everything's in there",
        ),
        ("slack",),
        ("teams",),
    ),
    (
        (
            "we use trello at the studio",
            "why does Asana keep eating my columns? we moved everything there in march",
        ),
        ("trello",),
        ("everything there",),
    ),
    (
        ("I use Chrome", "how do i sync firefox? moved everything over to it"),
        ("hrome",),
        ("everything over",),
    ),
    # Things of a question before, and what is gone (lap).
    (
        (
            "My laptop is a Thinkpad T480 with Ubuntu",
            "on fedora since the weekend, how do i get codecs",
        ),
        ("Ubuntu", "laptop is a fedora"),
        ("Thinkpad T480 with fedora",),
    ),
    (
        ("My laptop is a Dell XPS running Ubuntu", "switched to fedora last week"),
        ("Ubuntu", "is a fedora"),
        ("Dell",),
    ),
    (
        ("My laptop is a Thinkpad T480 with Ubuntu", "got a macbook now"),
        ("Thinkpad",),
        ("macbook",),
    ),
    (("I have a pixel with giffgaff", "switched to voxi last week"), ("giffgaff",), ("voxi",)),
    # Things of a question before, and what is gone (al).
    (
        ("I've an allotment, plot 14", "The plot went to the next on the waiting list last month"),
        ("allotment",),
        (),
    ),
    (
        ("we have an allotment", "gave up the plot in autumn, too far to cycle"),
        ("has an allotment",),
        (),
    ),
    (("we have an allotment", "gave the plot back to the council"), ("has an allotment",), ()),
    (("I have an allotment", "our plot went to someone new in spring"), ("has an allotment",), ()),
    # More of the same in other words.
    (
        ("I bike to the office most days", "got sick of the rain so its the tram now"),
        ("bike",),
        ("tram",),
    ),
    (
        (
            "i drive to uni, parking is hell",
            "started taking the bus to uni, the parking permit ran out",
        ),
        ("drive",),
        ("bus",),
    ),
    (
        ("my bank is with Barclays", "moved over to Monzo when i opened the joint account"),
        ("Barclays",),
        ("Monzo",),
    ),
    (
        ("I use Spotify", "since we got the family plan it's all apple music"),
        ("Spotify",),
        ("pple",),
    ),
    (
        ("i study on Duolingo every day", "uninstalled duolingo, its anki for me now"),
        ("Duolingo every",),
        ("nki",),
    ),
    (
        ("My daughter has ballet on saturdays at 10", "ballet got moved to fridays, same hour"),
        ("aturday",),
        ("riday",),
    ),
    (("dentist is on the 14th at 9", "they rang, its the 21st now"), ("14th",), ("21st",)),
    (("my flight is at 6:50", "airline put us on the 9:15 instead"), ("6:50",), ("9:15",)),
    (("my exam is on 12 june", "exam board shifted it to the 19th"), ("12 june",), ("19",)),
    (("deadline for the grant is friday", "got it extended to monday"), ("friday",), ("onday",)),
    (("i pay 45 euros for the gym", "gym's 52 since new year"), ("45",), ("52",)),
    (("we are 8 for dinner", "make it 10, the neighbours are joining"), ("8",), ("10",)),
    (
        ("my phone is a Nokia 3310", "dropped it in the lake, got a Galaxy A15 now"),
        ("Nokia",),
        ("Galaxy",),
    ),
    (
        ("we have a Renault Clio", "clio got stolen, driving my mums old polo now"),
        ("Clio",),
        ("polo",),
    ),
    (("I knit every evening", "had to stop knitting, carpal tunnel"), ("knits",), ()),
    (("I go to choir on mondays", "quit the choir, no time since the baby"), ("choir on",), ()),
    (("we've got sky tv", "binned sky, its all netflix now"), ("sky tv",), ("etflix",)),
    (
        ("my kindle is always with me", "the kindle died in june, im on paper again"),
        ("always with me",),
        (),
    ),
    (("i wear glasses", "had them lasered, no more glasses"), ("wears glasses",), ()),
    (
        ("I do pilates with Carla on thursdays", "Carla moved to Spain so i do it with Bea now"),
        ("Carla on",),
        ("Bea",),
    ),
    (("my essay is on Hamlet", "changed it to Macbeth"), ("Hamlet",), ("Macbeth",)),
    (("I play the trumpet in a brass band", "left the band last month"), ("in a brass band",), ()),
    # Asked in two words.
    (
        (
            "im training for the half marathon in october",
            "my half marathon medal is hanging on the fridge, what next?",
        ),
        ("training for the half",),
        (),
    ),
    (("I drive a Skoda Fabia", "sold the fabia, what now?"), ("drives",), ()),
]

SO_STILL = [
    (("I drive a Ford Fiesta", "nearly wrote off the fiesta today"), ("Fiesta",)),
    (("I drive a Ford Fiesta", "my son wrote off his fiesta, can he claim?"), ("Fiesta",)),
    (("I drive a Ford Fiesta", "if i sold the fiesta, what would i get?"), ("Fiesta",)),
    (("I drive to work", "I drive to work these days but hate it"), ("drive",)),
    (("I cycle to work", "my sister takes the train to work these days"), ("User cycles",)),
    (("I cycle to work", "I take the bus to work this week, puncture"), ("User cycles",)),
    (("I cycle to work", "I take the bus to the gym now"), ("User cycles",)),
    (("I cycle to work", "i take the train on mondays now"), ("User cycles",)),
    (("I walk to campus", "been offered a lift, but i walk to campus these days"), ("walk",)),
    (("I cycle to work", "do you think i should take the bus now"), ("User cycles",)),
    (("I take the bus to work", "my boss drives to work now"), ("takes the bus",)),
    (("I'm on MTN", "my brother says Glo is better"), ("MTN",)),
    (("my mum is using a Pixel 6", "using a hammer"), ("mum",)),
    (("my piano lesson is thursdays at 4", "see you tuesday, same time!"), ("thursday",)),
    (("im making the cake for 30 people", "final count of the votes is 36"), ("30",)),
    (("im making the cake for 30 people", "we did a final count of the tills"), ("30",)),
    (("our rent is 890 warm", "from this week it is 30 degrees"), ("890",)),
    (("our rent is 890", "as of today its 3 weeks without rain"), ("890",)),
    (("I'm on Vodafone", "thinking of porting to O2"), ("Vodafone",)),
    (("I'm on Vodafone", "since my mum ported to O2 she has no signal"), ("Vodafone",)),
    (
        ("we use slack at our company", "everything at my new client is in teams, also fine"),
        ("slack",),
    ),
    (("we use trello at the studio", "all our boards live in notion these days"), ("otion",)),
    (("I code mostly in PHP at work", "the frontend is all in react now"), ("PHP",)),
    (("I main Jinx in league", "my duo has been maining Kai'Sa since the rework"), ("Jinx",)),
    (("I main Jinx in league", "tried Kai'Sa yesterday, fun"), ("Jinx",)),
    (("I work 9 to 5", "the gym hours changed to 8 to 4"), ("9 to 5",)),
    (("I'm playing Elden Ring", "i'm playing the final boss now"), ("Elden",)),
    (("I'm reading Dune", "I'm also reading Emma now"), ("Dune",)),
    (("I'm reading Dune", "I'm reading the last chapter now"), ("Dune",)),
    (("I'm reading Dune", "finished chapter 4, on to chapter 5"), ("Dune",)),
    (("I'm reading Dune", "finished my tea, on to the beers"), ("Dune",)),
    (("I'm reading Dune", "my wife is reading Emma now"), ("Dune",)),
    (("Im training for the Seville marathon", "dropped down to 70 kg"), ("Seville",)),
    (("Im training for the Seville marathon", "my brother dropped down to the half"), ("Seville",)),
    (("Im training for the Seville marathon", "should i drop to the half?"), ("Seville",)),
    (("i bake sourdough every sunday", "my starter is bubbling over the bin"), ("every sunday",)),
    (("i bake sourdough every sunday", "the starter motor died in the car"), ("every sunday",)),
    (
        (
            "im training for the half marathon in october",
            "hanging my old marathon medal on the fridge for motivation",
        ),
        ("training for the half",),
    ),
    (
        (
            "im training for the half marathon in october",
            "my sister's half marathon medal is hanging on her fridge",
        ),
        ("training for the half",),
    ),
    (("my masters thesis is about salt marshes", "its about time now"), ("salt marsh",)),
    (
        ("my masters thesis is about salt marshes", "my sisters is about mangroves now"),
        ("salt marsh",),
    ),
    (("our band is called Paper Tigers", "new name for the dog: Rex"), ("Paper Tigers",)),
    (
        ("our band is called Paper Tigers", "their band has a new name: Glass Otters"),
        ("Paper Tigers",),
    ),
    (
        (
            "we use trello at the studio for everything",
            "why does notion keep eating my columns, we moved everything there in march",
        ),
        ("notion",),
    ),
    (
        ("we use slack at our company", "is teams any good? our supplier has everything in there"),
        ("slack",),
    ),
    (
        ("we use slack at our company", "is teams any good? thinking of moving everything there"),
        ("slack",),
    ),
    (("we use slack at our company", "why is slack down? everything's in there"), ("slack",)),
    (
        ("I keep photos in Dropbox", "is it raining in paris? we moved everything there"),
        ("ropbox",),
    ),
    (
        ("My laptop is a Thinkpad T480 with Ubuntu", "my work machine is on windows now"),
        ("Ubuntu",),
    ),
    (
        ("we have an allotment, plot 3", "the plot next to ours went to a lady from Ghana"),
        ("allotment",),
    ),
    (("I have an allotment", "plot of the film went to pieces"), ("allotment",)),
    (("I have an allotment", "the plot was full of slugs"), ("allotment",)),
    (("i work in excel all day", "our team went over to airtable in may"), ("airtable",)),
    (("we rent our car from europcar", "europcar was rubbish so we're with sixt"), ("sixt",)),
    (
        ("My daughter has ballet on saturdays at 10", "ballet is on friday this week only"),
        ("aturday",),
    ),
    (("my exam is on 12 june", "my brothers exam got shifted to the 19th"), ("12 june",)),
    (("we have a Renault Clio", "driving my mums polo while the clio is at the garage"), ("Clio",)),
    (("my flight is at 6:50", "the 9:15 would have been cheaper"), ("6:50",)),
    (("I'm reading Dune", "finished the first part of Dune"), ("Dune",)),
    (
        ("I bake sourdough every sunday", "threw out some of the starter, it was huge"),
        ("every sunday",),
    ),
    (("I play the trumpet in a brass band", "left the band room open"), ("in a brass band",)),
    (("I knit every evening", "had to stop knitting for the bus"), ("knits",)),
    (("I use Spotify", "my flatmate has everything in apple music now"), ("Spotify",)),
    (("I drive a Skoda Fabia", "i know what next year's fabia looks like"), ("Fabia",)),
]


@pytest.mark.parametrize(("turns", "over", "stands"), NEWS)
def test_news_told_in_passing_is_read(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


@pytest.mark.parametrize(("turns", "stands"), SO_STILL)
def test_what_is_so_still_after_news_of_something_else(somebody, turns, stands):
    somebody.ends_with(turns, (), stands)
