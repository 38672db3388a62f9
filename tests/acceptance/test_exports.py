"""Everybody's data: who is known, all about one person, all events, and taking it in elsewhere; on
both backends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html.parser import HTMLParser

import pytest
from command_line import CliRunner
from jsonschema import Draft202012Validator

from beliefledger import Details, TurnInput, open_memory, open_memory_async
from beliefledger.answers import BeliefAnswer
from beliefledger.exports.export_file import read_export
from beliefledger.exports.person import FORMAT, PersonDocument
from beliefledger.exports.record import _TOLD
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.events.ops import LedgerExported
from beliefledger.ledger.events.subject import SubjectExported, SubjectImported
from beliefledger.ledger.times import to_datetime
from beliefledger.search.options import SearchOptions
from beliefledger.tools.cli import app

SCRIPT = "<script>alert('x')</script>"
SAID = (
    "I live in Porto.",
    "I moved to Lisbon.",
    "I always use dark mode.",
    "My sister Bea lives in Berlin.",
    "My password is hunter22 and I love hiking.",
    "I have diabetes.",
    "Maybe I'll become a pilot.",
    f"My favourite tag is {SCRIPT}.",
)


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        yield memory


@pytest.fixture
def other(new_place, clock):
    place = new_place()
    with open_memory(place, clock=clock) as memory:
        yield memory


def live(memory, clock, subject="ana"):
    """A subject to whom most things happened that can."""
    memory.consent.grant(subject, "consent", note="on paper", by="Dora")
    for number, words in enumerate(SAID):
        clock.ahead(60)
        memory.remember(subject, words, session="s1" if number < 4 else "s2")
    memory.store(subject, "pilot", attribute="job", confidence=0.3, by="Dora")  # kept apart
    memory.search(subject, "where does she live", by="bot")
    memory.search(
        subject, "illness", by="Otto", options=SearchOptions(standing="all", reason="case 3")
    )
    memory.recalls.record_shown(subject, memory.beliefs(subject)[:1], by="bot")
    revoked = memory.remember(subject, "I own a canoe.")[1][0]
    memory.revoke(revoked.memory_id, by="Dora", note="she asked")
    waiting = memory.decisions(subject, waits=True)[0]
    memory.conflicts.review(waiting.decision_id, approve=False, by="Rita", note="no need")
    hold = memory.erasure.holds.place(subject, "suing us", by="legal", hold="claim-17")
    memory.erasure.holds.lift(hold, by="legal")
    memory.erasure.holds.place(subject, "suing us again", by="legal", hold="claim-18")
    clock.ahead(60)


def text_of(export):
    return "".join(export.json())


def events_of(memory, subject="ana"):
    return list(memory._log.of_subject(memory._log.subject(subject)))


# Who is known


def test_people_are_listed_a_page_at_a_time_with_how_much_there_is_of_each(memory, clock):
    live(memory, clock)
    last = clock.now - 60_000_000
    for who in ("bruno", "carla", "dan"):
        memory.record_turn(who, "I use vim.")
    found, after, pages = {}, None, 0
    while True:
        page = memory.subjects(limit=3, after=after)
        found |= {each.subject: each for each in page.subjects}
        pages, after = pages + 1, page.next
        if after is None:
            break
    assert (sorted(found), pages) == (["ana", "bruno", "carla", "dan"], 2)
    ana, bruno = found["ana"], found["bruno"]
    assert ana.turns == len(SAID) + 2
    assert ana.decisions == len(memory.decisions("ana"))
    assert ana.memories == len(memory.beliefs("ana", min_confidence=0))
    both = memory.beliefs("ana", min_confidence=0, quarantined=True)
    assert ana.quarantined == len(both) - ana.memories > 0
    assert ana.waiting == len(memory.decisions("ana", waits=True))
    assert ana.events == len(events_of(memory))
    assert (ana.last_activity, ana.held, ana.pending) == (to_datetime(last), True, 0)
    assert ana.registered_at < ana.last_activity == last_recorded(memory, "ana")
    assert (bruno.turns, bruno.pending, bruno.decisions, bruno.held) == (1, 1, 0, False)
    assert len(memory.subjects().subjects) == 4


def last_recorded(memory, subject):
    return to_datetime(events_of(memory, subject)[-1].recorded_at)


def test_a_full_last_page_is_the_last_one(memory):
    assert memory.subjects() == memory.subjects(limit=1)
    memory.record_turn("ana", "I use vim.")
    assert memory.subjects(limit=1).next is None


def test_who_was_erased_is_not_listed_and_a_cursor_of_theirs_still_leads_on(memory):
    for who in ("ana", "bruno", "carla"):
        memory.record_turn(who, "I use vim.")
    first = memory.subjects(limit=1)
    rest = [each.subject for each in memory.subjects(after=first.next).subjects]
    memory.erase(first.subjects[0].subject, by="dpo")
    assert [each.subject for each in memory.subjects(after=first.next).subjects] == rest
    assert [each.subject for each in memory.subjects().subjects] == rest


@pytest.mark.parametrize("limit", [0, -1, 1_001, True])
def test_a_page_has_from_one_to_a_thousand_people(memory, limit):
    with pytest.raises(InvalidQuery, match="a page has 1 to 1,000 people"):
        memory.subjects(limit=limit)


@pytest.mark.parametrize("after", ["", "ana", "g" * 32])
def test_what_is_no_cursor_is_refused(memory, after):
    with pytest.raises(InvalidQuery, match="no cursor"):
        memory.subjects(after=after)


# All about one person


def test_everything_held_about_a_person_is_in_the_document(memory, clock):
    live(memory, clock)
    memory.remember("bruno", "I use vim.", consent="consent")
    export = memory.export("ana", by="Dora", note="request 17")
    text = text_of(export)
    document = PersonDocument.model_validate_json(text)
    assert document == export.document()
    assert document.format == FORMAT
    assert (document.person.subject, document.person.anew) == ("ana", False)
    assert (document.exported.by, document.exported.note) == ("Dora", "request 17")

    said = [turn.content for turn in document.turns]
    assert [each for each in said if "hunter22" in each] == []
    assert said[:4] == list(SAID[:4])
    assert document.turns[4].redacted == {"password": 1}
    assert {turn.session for turn in document.turns} == {"s1", "s2", None}

    own = [version for each in document.memories for version in each.versions]
    believed = {each.versions[-1].text for each in document.memories if each.holds}
    floor = {"min_confidence": 0}
    assert believed == {each.text for each in memory.beliefs("ana", **floor)}
    assert "User lives in Porto" in {each.text for each in own} - believed
    history = memory.history(own[0].memory_id)
    assert [each.memory_id for each in history if each.memory_id == own[0].memory_id] == [
        each.memory_id for each in document.memories[0].versions
    ]
    became = {each.became.what for each in own if each.became}
    assert {"superseded", "revoked"} <= became

    told = memory.decisions("ana")
    assert [each.decision_id for each in document.decisions] == [e.decision_id for e in told]
    assert [each.claim for each in document.decisions] == [each.claim for each in told]
    assert all(each.scores and each.trace for each in document.decisions)
    assert "User has diabetes" in {each.claim for each in document.decisions}

    [consent] = document.consents
    assert (consent.basis, consent.by, consent.note) == ("consent", "Dora", "on paper")
    assert (consent.in_force, consent.categories) == (True, ("ordinary",))
    searches = [each for each in document.recalls if each.asked]
    assert [(each.by, each.asked["query"]) for each in searches] == [
        ("bot", "where does she live"),
        ("Otto", "illness"),
    ]
    assert {(each.who, each.how, each.times) for each in document.told} == {
        ("bot", "search", 1),
        ("bot", "shown", 1),
        ("Otto", "audit", 1),
        ("Dora", "export", 1),
    }
    assert [(each.hold, each.reason, each.lifted_by) for each in document.holds] == [
        ("claim-17", "suing us", "legal"),
        ("claim-18", "suing us again", None),
    ]
    notes = {each.body.get("note") for each in document.record if each.body}
    assert {"she asked", "no need"} <= notes
    assert "bruno" not in text
    assert "vim" not in text


def test_no_event_of_the_person_is_left_out(memory, clock):
    live(memory, clock)
    memory.consent.withdraw("ana", by="Dora", note="over")
    document = memory.export("ana", by="Dora").document()
    events = events_of(memory)
    assert document.counts == {
        name: sum(each.type == name for each in events) for name in {e.type for e in events}
    }
    told = {each.position for each in document.record}
    for part in (document.turns, document.decisions, document.recalls, [document.exported]):
        told |= {each.position for each in part}
    ids = {each.grant_id for each in document.consents}
    ids |= {each.withdrawal_id for each in document.withdrawals}
    ids |= {each.event_id for each in document.exports}
    holds = [at for h in document.holds for at in (h.placed_at, h.lifted_at) if at]
    left = [each.type for each in events if each.position not in told and each.event_id not in ids]
    assert left.count("subject.registered.v1") == 1
    assert left.count("legal_hold.placed.v1") + left.count("legal_hold.lifted.v1") == len(holds)
    assert len(left) == 1 + len(holds)


def test_every_event_that_the_record_leaves_to_a_part_is_one_of_ours():
    assert BY_NAME.keys() >= _TOLD


def test_the_schema_names_every_part_of_the_document(memory, clock):
    live(memory, clock)
    document = json.loads(text_of(memory.export("ana", by="Dora")))
    schema = memory.exports.schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert schema["properties"].keys() == document.keys()
    assert set(schema["required"]) >= document.keys() - {"format"}
    assert schema["properties"]["format"]["const"] == document["format"]
    for name, part in document.items():
        if isinstance(part, list) and part:
            item = schema["properties"][name]["items"]["$ref"].rpartition("/")[2]
            assert schema["$defs"][item]["properties"].keys() == part[0].keys()
            assert schema["$defs"][item]["additionalProperties"] is False


def test_the_export_is_on_record_before_a_word_is_handed_out(memory, clock):
    live(memory, clock)
    export = memory.export("ana", by="Dora", note="request 17", withholding=["actors", "actors"])
    last = events_of(memory)[-1]
    assert last.type == SubjectExported.NAME
    assert last.facts == {"withholding": ["actors"]}
    assert last.event == SubjectExported(withholding=("actors",), note="request 17")
    assert memory.actor_name(last.actor) == "Dora"
    assert (last.event_id, last.position) == (export.exported.event_id, export.exported.position)
    document = memory.export("ana", by="Otto").document()
    assert [(each.what, each.by, each.note) for each in document.exports] == [
        ("exported", "Dora", "request 17"),
        ("exported", "Otto", None),
    ]


def test_what_comes_after_an_export_is_not_in_it(memory, clock):
    live(memory, clock)
    export = memory.export("ana", by="Dora")
    before = json.loads(text_of(export))
    clock.ahead(60)
    memory.remember("ana", "I moved to Madrid.")
    memory.search("ana", "Madrid", by="bot")
    after = json.loads(text_of(export))
    assert "Madrid" not in json.dumps(after)
    for part in ("turns", "recalls", "record", "counts", "told", "consents"):
        assert after[part] == before[part], part
    assert [len(each["versions"]) for each in after["memories"]] == [
        len(each["versions"]) for each in before["memories"]
    ]


def test_somebody_unknown_or_erased_cannot_be_exported_and_nobody_does_it_namelessly(memory):
    memory.record_turn("ana", "I use vim.")
    head = memory.status().position
    for by in ("", "  ", "system"):
        with pytest.raises(NotPermitted):
            memory.export("ana", by=by)
    with pytest.raises(UnknownMemory, match="Nothing is known about 'bruno'"):
        memory.export("bruno", by="Dora")
    with pytest.raises(InvalidQuery, match="withholding: 'words' is none of actors, hold_reasons"):
        memory.export("ana", by="Dora", withholding=["words"])
    assert memory.status().position <= head + 1  # who Dora is
    memory.erase("ana", by="dpo")
    head = memory.status().position
    with pytest.raises(NotPermitted, match="was erased"):
        memory.export("ana", by="Dora")
    assert memory.status().position == head


def test_names_and_reasons_can_be_withheld_and_the_document_says_so(memory, clock):
    live(memory, clock)
    export = memory.export("ana", by="Vera", withholding=["actors", "hold_reasons"])
    text = text_of(export)
    document = PersonDocument.model_validate_json(text)
    for hidden in ("Dora", "Rita", "legal", "suing us"):
        assert f'"{hidden}"' not in text
    assert {"bot", "Otto", "Vera"} == {each.who for each in document.told}
    told = {each.what: each for each in document.withheld}
    assert told["the reasons of legal holds"].count == 2
    assert "who recorded, decided or erased something" in told
    plain = memory.export("ana", by="Vera").document()
    assert len(plain.withheld) == len(document.withheld) - 2
    secrets = next(each for each in plain.withheld if each.what.startswith("secrets"))
    assert secrets.count == 1


def test_erased_words_are_told_as_erased_and_not_told(memory, clock):
    live(memory, clock)
    hiking = next(e for e in memory.decisions("ana") if "hiking" in (e.claim or ""))
    memory.erasure.holds.lift("claim-18", by="legal")
    memory.erase("ana", turn=hiking.turn_id, by="dpo")
    text = text_of(memory.export("ana", by="Dora"))
    document = PersonDocument.model_validate_json(text)
    assert "hiking" not in text
    gone = [turn for turn in document.turns if turn.erased]
    assert [(turn.turn_id, turn.content) for turn in gone] == [(hiking.turn_id, None)]
    [erasure] = document.erasures
    assert (erasure.reach, erasure.of, erasure.by) == ("turn", hiking.turn_id, "dpo")
    words = next(each for each in document.withheld if "erased" in each.what)
    assert words.count == sum(erasure.counts.values()) > 1
    assert any(each.erased and each.body is None for each in document.record)


def test_who_is_erased_meanwhile_ends_the_export_and_leaves_no_file(memory, clock, tmp_path):
    memory.consent.grant("ana", "consent")
    for number in range(3):
        memory.remember("ana", f"I use tool{number}.")
    export = memory.export("ana", by="Dora")
    pieces = export.json()
    begun = [next(pieces) for _ in range(5)]
    assert any("tool0" in each for each in begun)
    memory.erase("ana", by="dpo")
    with pytest.raises(NotPermitted, match="erased while they were exported"):
        list(pieces)
    with pytest.raises(NotPermitted):
        export.write(tmp_path / "ana.json")
    assert [each for each in tmp_path.iterdir() if "ana" in each.name] == []


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "src"]

    def handle_data(self, data):
        self.text += data


def test_the_page_shows_the_words_as_words_and_runs_nothing(memory, clock):
    live(memory, clock)
    memory.record_turn("ana", 'a <b>bold</b> & \u202edesrever\u0007 "quoted" line\nand another')
    export = memory.export("ana", by="<i>Dora</i>", note=SCRIPT)
    html = "".join(export.html())
    page = Page(html)
    for each in export.document().withheld:
        assert each.what in page.text
        assert each.why in page.text
    assert "script" not in page.tags
    assert not {"b", "i"} & set(page.tags)
    assert SCRIPT in page.text
    assert "<i>Dora</i>" in page.text
    assert 'a <b>bold</b> & \ufffddesrever\ufffd "quoted" line\nand another' in page.text
    for words in (*SAID[:4], "User has diabetes", "on paper", "suing us", "bot"):
        assert words in page.text
    assert "default-src 'none'" in html
    assert html.count("<tr>") == html.count("</tr>")
    assert html.rstrip().endswith("</html>")


def test_a_person_of_whom_hardly_anything_is_known_is_exported_too(memory):
    memory.record_turn("ana", "…")
    export = memory.export("ana", by="Dora")
    assert PersonDocument.model_validate_json(text_of(export)) == export.document()
    assert Page("".join(export.html())).text.count("Nothing.") > 5


def test_an_export_takes_no_more_memory_for_more_turns(tmp_path):
    with open_memory(tmp_path / "ledger") as memory:
        words = [f"turn {number} " + "x" * 2_000 for number in range(4_000)]
        for start in range(0, len(words), 1_000):
            memory.record_turns(
                [
                    TurnInput(subject="ana", content=each, role="assistant")
                    for each in words[start : start + 1_000]
                ]
            )
        memory.beliefs("ana")  # the views are caught up
        export = memory.export("ana", by="Dora")
        for read in (export.json, export.html, lambda: memory.exports.events(by="Dora")):
            tracemalloc.start()
            length = sum(map(len, read()))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert length > 8_000_000
            assert peak < 4_500_000, read


# All events


def test_all_events_are_lines_of_json_and_the_last_says_that_they_were_exported(memory, clock):
    live(memory, clock)
    memory.remember("bruno", "I use vim.", consent="consent")
    memory.erase("bruno", by="dpo")
    text = list(memory.exports.events(by="Dora"))
    assert all(each.endswith("\n") for each in text)
    lines = [json.loads(each) for each in text]
    recorded = list(memory._log.read())
    assert [each["event_id"] for each in lines] == [each.event_id for each in recorded]
    assert lines[-1]["type"] == "ledger.exported.v1"
    assert (lines[-1]["actor"], lines[-1]["facts"]) == ("Dora", {"after": 0})
    turns = [each for each in lines if each["type"] == "turn.recorded.v2"]
    assert next(each["body"]["content"] for each in turns if each["subject"] == "ana") == SAID[0]
    [erased] = [each for each in turns if each["subject"] is None]
    assert (erased["body"], erased["destroyed"]) == (None, True)
    assert "vim" not in "".join(text)
    after = len(lines) - 2
    again = [json.loads(each) for each in memory.exports.events(by="Dora", after=after)]
    assert [each["position"] for each in again] == list(range(after + 1, again[-1]["position"] + 1))
    assert again[-1]["facts"] == {"after": after}
    for wrong in (-1, 10**9, True):
        with pytest.raises(InvalidQuery, match="is not in the log"):
            memory.exports.events(by="Dora", after=wrong)
    with pytest.raises(NotPermitted):
        memory.exports.events(by="system")


def test_that_all_events_were_handed_out_is_told_to_who_was_among_them(memory):
    memory.record_turn("ana", "I use vim.")
    list(memory.exports.events(by="Wim"))
    memory.record_turn("bruno", "I use emacs.")
    told = {
        who: [(each.who, each.how) for each in memory.export(who, by="Dora").document().told]
        for who in ("ana", "bruno")
    }
    assert told["ana"] == [("Dora", "export"), ("Wim", "ledger_export")]
    assert told["bruno"] == [("Dora", "export")]


def test_programs_that_followed_the_log_are_among_those_who_may_have_been_told(memory):
    memory.record_turn("ana", "I use vim.")
    with memory.consumer("warehouse", follow=False) as events:
        for event in events:
            events.ack(event)
    told = memory.export("ana", by="Dora").document().told
    assert [(each.who, each.how, each.times) for each in told] == [
        ("Dora", "export", 1),
        ("warehouse", "consumer", None),
    ]


# Taking it in elsewhere

CARRIED = (
    *("type", "entity", "attribute", "value", "negated", "text", "context", "topic"),
    *("confidence", "importance", "valid_from", "valid_to", "expires_at", "quarantined"),
    *("event_from", "event_to", "event_precision", "visibility_scope", "consent_basis"),
    *("session", "agent"),
)


def carried(memory, subject="ana", **when):
    found = memory.beliefs(subject, min_confidence=0, quarantined=True, **when)
    return sorted([str(getattr(each, name)) for name in CARRIED] for each in found)


def test_an_import_gives_the_same_beliefs(memory, other, clock):
    live(memory, clock)
    began = clock.now
    store = {"attribute": "flat.rent", "by": "Dora"}
    memory.store("ana", "700 euros", valid_from=began - 10**12, valid_to=began, **store)
    memory.store("ana", "800 euros", valid_from=began, confidence=0.91, **store)
    memory.store(
        "ana",
        "tea",
        attribute="drink",
        type="preference",
        details=Details(context="in the morning", importance=0.9, session="s1", agent="bot"),
    )
    text = text_of(memory.export("ana", by="Dora"))
    answer = other.exports.import_person(text, by="Ops", note="moving")
    assert carried(other) == carried(memory)
    assert len(carried(other)) >= 6
    then = began - 5 * 10**11
    assert carried(other, valid_at=then) == carried(memory, valid_at=then)
    assert any("700 euros" in each for each in carried(other, valid_at=then))
    assert (answer.subject, answer.not_taken, answer.already) == ("ana", (), 0)
    assert answer.written == answer.memories
    assert {each.by for each in imported_by(other)} == {"Ops"}


def imported_by(memory):
    document = memory.export("ana", by="Otto").document()
    assert {turn.role for turn in document.turns if turn.channel == "store"} == {"system"}
    assert {turn.channel for turn in document.turns} == {"store", "imported"}
    return document.turns


def test_an_import_is_on_record_with_who_did_it_and_what_it_was(memory, other, clock):
    live(memory, clock)
    export = memory.export("ana", by="Dora")
    answer = other.exports.import_person(json.loads(text_of(export)), by="Ops", note="moving")
    [event] = [each for each in events_of(other) if each.type == SubjectImported.NAME]
    assert event.event_id == answer.event_id
    assert event.facts == {"memories": answer.memories, "grants": 1}
    told = event.event
    assert (told.export, told.note) == (export.exported.event_id, "moving")
    assert to_datetime(told.exported_at) == export.exported.at
    assert other.actor_name(event.actor) == "Ops"
    document = other.export("ana", by="Ops").document()
    assert [(each.what, each.by, each.note) for each in document.exports] == [
        ("imported", "Ops", "moving"),
        ("exported", "Ops", None),
    ]
    [consent] = document.consents
    assert (consent.note, consent.by) == ("imported", "Ops")


def test_an_import_again_adds_nothing_and_another_name_is_another_person(memory, other, clock):
    live(memory, clock)
    text = text_of(memory.export("ana", by="Dora")).encode()
    first = other.exports.import_person(text, by="Ops")
    before = carried(other)
    again = other.exports.import_person(text, by="Ops")
    assert (again.written, again.already) == (0, first.memories)
    assert carried(other) == before
    moved = other.exports.import_person(text, by="Ops", subject="ana-2")
    assert (moved.subject, moved.written) == ("ana-2", first.memories)
    assert carried(other, "ana-2") == before


def test_what_an_import_exports_again_is_believed_again(memory, other, clock, tmp_path):
    """A second move loses nothing more than the first."""
    live(memory, clock)
    other.exports.import_person(text_of(memory.export("ana", by="Dora")), by="Ops")
    with open_memory(tmp_path / "third", clock=clock) as third:
        third.exports.import_person(text_of(other.export("ana", by="Ops")), by="Ops")
        assert carried(third) == carried(memory)


def test_a_file_is_read_line_by_line_and_one_formatted_anew_at_once(
    memory, other, clock, tmp_path, monkeypatch
):
    live(memory, clock)
    file = tmp_path / "ana.json"
    memory.export("ana", by="Dora").write(file)
    anew = tmp_path / "anew.json"
    anew.write_text(json.dumps(json.loads(file.read_text("utf-8")), indent=2), "utf-8")
    short = tmp_path / "short.json"
    short.write_bytes(file.read_bytes()[:-20])
    assert read_export(file) == read_export(anew) == read_export(file.read_bytes())
    with pytest.raises(InvalidTurn, match="not JSON, or not whole"):
        other.exports.import_person(short, by="Ops")
    monkeypatch.setattr("beliefledger.exports.export_file._of_mapping", None)  # not at once
    other.exports.import_person(file, by="Ops")
    assert carried(other) == carried(memory)


def test_what_the_policy_there_refuses_is_named(memory, new_place, clock):
    memory.consent.grant("ana", "consent", categories=["ordinary", "health"])
    for words in ("I live in Porto.", "I have diabetes."):
        memory.remember("ana", words)
    assert len(memory.beliefs("ana")) == 2
    text = text_of(memory.export("ana", by="Dora"))
    policy = {"special_categories": {"health": "prohibit"}}
    with open_memory(new_place(), clock=clock, policy=policy) as other:
        with pytest.raises(NotPermitted, match="prohibits keeping anything about health"):
            other.exports.import_person(text, by="Ops")
        assert other.subjects().subjects == ()
        document = json.loads(text)
        document["consents"][0]["categories"] = ["ordinary"]
        answer = other.exports.import_person(document, by="Ops")
        [refused] = answer.not_taken
        assert (refused.text, refused.outcome) == ("User has diabetes", "reject")
        assert (answer.written, answer.memories) == (1, 2)
        assert other.decision(refused.decision_id).reason == refused.reason
        assert [each.text for each in other.beliefs("ana")] == ["User lives in Porto"]


def wrong_format(document):
    return document | {"format": "beliefledger.person.v9"}


def without_memories(document):
    return {name: each for name, each in document.items() if name != "memories"}


def with_a_strange_time(document):
    first = document["memories"][0]
    version = first["versions"][0] | {"valid_from": "yesterday"}
    return document | {"memories": [first | {"versions": [version]}]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (wrong_format, "this beliefledger reads 'beliefledger.person.v1'"),
        (without_memories, "has no list 'memories'"),
        (with_a_strange_time, r"memories\[0\].versions.0.valid_from"),
        (lambda _: "{", "The export is not JSON"),
        (lambda _: "[]", "not a JSON object"),
    ],
)
def test_what_is_no_export_is_refused_before_anything_is_written(memory, other, change, says):
    memory.remember("ana", "I live in Porto.", consent="consent")
    document = json.loads(text_of(memory.export("ana", by="Dora")))
    with pytest.raises(InvalidTurn, match=says) as refused:
        other.exports.import_person(change(document), by="Ops")
    assert "yesterday" not in str(refused.value)
    assert other.subjects().subjects == ()


def test_who_was_erased_there_is_not_imported(memory, other):
    memory.remember("ana", "I live in Porto.", consent="consent")
    text = text_of(memory.export("ana", by="Dora"))
    other.remember("ana", "I use vim.", consent="consent")
    other.erase("ana", by="dpo")
    with pytest.raises(NotPermitted, match="was erased"):
        other.exports.import_person(text, by="Ops")
    with pytest.raises(NotPermitted, match="named principal"):
        other.exports.import_person(text, by="system")


# In an event loop


def test_an_export_is_made_in_an_event_loop_too(place, tmp_path):
    async def exported():
        async with open_memory_async(place, consent="consent") as memory:
            await memory.remember("ana", "I live in Porto.")
            [ana] = (await memory.subjects()).subjects
            export = await memory.export("ana", by="Dora")
            assert export.exported.by == "Dora"
            await export.write(tmp_path / "ana.json")
            await export.write(tmp_path / "ana.html")
            document = await export.document()
            assert [turn.content for turn in document.turns] == ["I live in Porto."]
            assert "".join([each async for each in export.html()]) == read(tmp_path / "ana.html")
            assert "".join([each async for each in export.json()]) == read(tmp_path / "ana.json")
            lines = [each async for each in await memory.exports.events(by="Dora")]
            assert [json.loads(each)["position"] for each in lines] == list(
                range(1, len(lines) + 1)
            )
            return ana, document

    def read(path):
        return path.read_text("utf-8")

    ana, document = asyncio.run(exported())
    assert ana.memories == 1
    assert PersonDocument.model_validate_json(read(tmp_path / "ana.json")) == document


def test_who_stops_waiting_for_a_piece_of_an_export_loses_none(place):
    async def exported():
        async with open_memory_async(place, consent="consent") as memory:
            for number in range(150):
                await memory.record_turn("ana", f"I saw {number} of them.")
            pieces = (await memory.exports.events(by="Dora")).__aiter__()
            got = []
            while True:
                reading = asyncio.ensure_future(anext(pieces, None))
                await asyncio.sleep(0)
                reading.cancel()  # which it does not notice where the piece was there already
                with suppress(asyncio.CancelledError):
                    piece = await reading
                    if piece is None:
                        return got, (await memory.status()).position
                    got.append(json.loads(piece)["position"])

    got, head = asyncio.run(exported())
    assert got == list(range(1, head + 1))


# The command line


def run(place, *words, code=0, stdin=None):
    done = CliRunner().invoke(app, ["--ledger", place, *map(str, words)], input=stdin)
    assert done.exit_code == code, done.output
    return done


def test_people_are_listed_on_the_command_line(place):
    for who in ("ana", "bruno"):
        run(place, "remember", "--subject", who, "--consent", "consent", "I live in Porto.")
    page = json.loads(run(place, "subjects", "--limit", 1, "--json").stdout)
    rest = json.loads(run(place, "subjects", "--after", page["next"], "--json").stdout)
    names = [each["subject"] for each in (*page["subjects"], *rest["subjects"])]
    assert sorted(names) == ["ana", "bruno"]
    assert rest["next"] is None
    shown = run(place, "subjects", "--limit", 1).stdout
    assert f"beliefledger subjects --after {page['next']}" in shown
    assert "Nobody" in run(place, "subjects", "--after", "f" * 32).stdout
    assert "no cursor" in run(place, "subjects", "--after", "ana", code=2).stderr


def test_a_person_is_exported_and_imported_on_the_command_line(place, new_place, tmp_path):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    told = run(place, "export", "person", "ana", "--by", "Dora", "--note", "request 17").stdout
    assert PersonDocument.model_validate_json(told).exported.note == "request 17"
    files = {name: tmp_path / f"ana.{name}" for name in ("json", "html")}
    said = run(
        place, "export", "person", "ana", "--by", "Dora", "-o", files["json"], "--json"
    ).stdout
    assert json.loads(said)["file"] == str(files["json"])
    run(place, "export", "person", "ana", "--by", "Dora", "--html", "-o", files["html"])
    for file in files.values():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "I live in Porto." in Page(files["html"].read_text("utf-8")).text
    assert len(PersonDocument.model_validate_json(files["json"].read_bytes()).exports) == 2
    other = new_place()
    if "://" in other:
        run(other, "init")
    first = json.loads(run(other, "import", files["json"], "--by", "Ops", "--json").stdout)
    assert (first["written"], first["memories"]) == (1, 1)
    again = run(other, "import", "-", "--by", "Ops", stdin=files["json"].read_text("utf-8"))
    assert "1 there already" in again.stdout
    beliefs = json.loads(run(other, "beliefs", "--subject", "ana", "--json").stdout)
    assert [BeliefAnswer.model_validate(each).text for each in beliefs] == ["User lives in Porto"]


def test_what_cannot_be_exported_or_imported_says_why(place, tmp_path):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    no_one = run(place, "export", "person", "bruno", "--by", "Dora", code=3)
    assert (no_one.stdout, "Nothing is known about 'bruno'" in no_one.stderr) == ("", True)
    assert "--by NAME" in run(place, "export", "person", "ana", code=2).stderr
    both = run(place, "export", "person", "ana", "--by", "Dora", "--html", "--json", code=2)
    assert "a page is not JSON" in both.stderr
    odd = run(place, "export", "person", "ana", "--by", "Dora", "--withhold", "x", code=2)
    assert "none of actors, hold_reasons" in odd.stderr
    assert "is not a file" in run(place, "import", tmp_path / "no", "--by", "Ops", code=2).stderr
    (tmp_path / "no.json").write_text("{}")
    wrong = run(place, "import", tmp_path / "no.json", "--by", "Ops", code=2)
    assert "beliefledger.person.v1" in wrong.stderr


@pytest.mark.parametrize("what", [("person", "ana"), ("events",)], ids=["person", "events"])
def test_what_cannot_be_written_was_not_handed_out(place, tmp_path, what):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    file = tmp_path / "no" / "ana.json"
    said = run(place, "export", *what, "--by", "Dora", "-o", file, code=3).stderr
    assert f"{file} cannot be written: No such file or directory. Name a file" in said
    with open_memory(place) as memory:
        types = [each.type for each in memory._log.read()]
    assert not {SubjectExported.NAME, LedgerExported.NAME} & set(types)


def test_an_export_goes_through_a_pipe_and_a_link_and_replaces_neither(place, tmp_path):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    to = ["export", "person", "ana", "--by", "Dora", "-o"]
    link, file, pipe = (tmp_path / name for name in ("link", "ana.json", "pipe"))
    link.symlink_to(file)
    run(place, *to, link)
    assert link.is_symlink()
    assert PersonDocument.model_validate_json(file.read_bytes()).person.subject == "ana"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(pipe.read_text, "utf-8")
        assert "Only you" not in run(place, *to, pipe).stdout
        assert PersonDocument.model_validate_json(text.result()).person.subject == "ana"
    assert pipe.is_fifo()


def test_a_memory_that_is_not_taken_over_ends_with_one(place, new_place, tmp_path):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    text = run(place, "export", "person", "ana", "--by", "Dora").stdout
    document = json.loads(text)
    document["consents"] = []
    other = new_place()
    if "://" in other:
        run(other, "init")
    done = run(other, "import", "-", "--by", "Ops", "--json", code=1, stdin=json.dumps(document))
    assert json.loads(done.stdout)["not_taken"][0]["reason"] == "permission.no_consent"
    assert "Not taken over: User lives in Porto (reject" in done.stderr


def test_all_events_and_the_schema_are_told_on_the_command_line(place, tmp_path):
    run(place, "remember", "--subject", "ana", "--consent", "consent", "I live in Porto.")
    lines = run(place, "export", "events", "--by", "Dora").stdout.splitlines()
    assert json.loads(lines[-1])["type"] == "ledger.exported.v1"
    file = tmp_path / "events.jsonl"
    run(place, "export", "events", "--by", "Dora", "--after", len(lines), "-o", file)
    more = [json.loads(each) for each in file.read_text("utf-8").splitlines()]
    assert [each["position"] for each in more] == [
        len(lines) + number for number in range(1, len(more) + 1)
    ]
    assert more[-1]["facts"] == {"after": len(lines)}
    schema = json.loads(run(place, "export", "schema").stdout)
    assert schema["$id"] == "urn:beliefledger:person:v1"


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("confidence", 7, "is 7.0; it must be from 0 to 1."),
        ("importance", -1, "is -1.0; it must be from 0 to 1."),
        ("attribute", "", "is ''; it must not be empty."),
        ("event_precision", "about", "is 'about'; there are: exact, day, week, "),
        ("valid_from", "9999-01-01T00:00:00Z", "times go from the year 1684 to the year 2255."),
    ],
)
def test_a_value_that_no_memory_has_stops_an_import_before_it_begins(
    place, new_place, tmp_path, field, value, why
):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Lisbon. I use pytest.")
        exported = json.loads("".join(memory.export("ana", by="lea").json()))
    exported["memories"][1]["versions"][0][field] = value
    file, at = tmp_path / "ana.json", new_place()
    file.write_text(json.dumps(exported))
    with open_memory(at) as other, pytest.raises(InvalidTurn, match=re.escape(why)):
        other.exports.import_person(file, by="lea")
    with open_memory(at) as other:
        before = other.status().position
    answer = CliRunner().invoke(app, ["--ledger", at, "import", str(file), "--by", "lea"])
    assert answer.exit_code == 2
    told = " ".join(answer.stderr.split())
    assert f"memories[1].versions[0].{field}" in told
    assert why in told
    with open_memory(at) as other:
        assert other.status().position == before
        assert other.subjects().subjects == ()
