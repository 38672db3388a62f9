"""The awaitable front door: the same verbs, and an event loop that goes on."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import threading
from functools import cached_property

import pytest

from beliefledger import CallerMistake, LedgerError, MemoryLedger, open_memory, open_memory_async
from beliefledger.awaitable import exports, parts
from beliefledger.awaitable.calls import Part
from beliefledger.awaitable.memory import AsyncMemoryLedger
from beliefledger.exports.exports import PersonExport
from beliefledger.gate.extractor import Extractor, ExtractorSettings
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.belief import MemoryAdmitted
from beliefledger.ledger.events.turn import TurnRecorded

BUSY = {("Jobs", "schedule"), ("Operations", "keep_views"), ("Operations", "keep_processing")}
"""What keeps a process busy until it is stopped, and is run in one of its own."""
FOLLOWED = {"subscribe", "consumer", "json", "html"}
"""What answers at once, and is iterated with `async for`."""
OTHERS = {
    ("MemoryLedger", "export"): "AsyncPersonExport",
    ("Exports", "person"): "AsyncPersonExport",
    ("Exports", "events"): "AsyncPieces",
}
"""What is awaited, and answers with what is awaited or iterated again."""
INNER = {("Extractions", "state_of"), ("Proofs", "tree"), ("MemoryLedger", "wait")}


def publics(kind):
    """Names and functions of a class, what is called itself included, without its parts."""
    return {
        name: made
        for each in kind.__mro__
        for name, made in vars(each).items()
        if (not name.startswith("_") or name == "__call__")
        and (inspect.isfunction(made) or isinstance(made, property))
        and not isinstance(made, cached_property)
    }


def pairs(synchronous, awaitable):
    """A part and its awaitable one, and theirs."""
    yield type(synchronous), type(awaitable)
    made = {
        name: getattr(awaitable, name)
        for name in dir(type(awaitable))
        if isinstance(getattr(type(awaitable), name), cached_property)
    }
    for name, part in (made | vars(awaitable)).items():
        if not name.startswith("_") and isinstance(part, Part):
            yield from pairs(getattr(synchronous, name), part)


def test_every_verb_and_part_is_there_with_its_signature_and_words(tmp_path):
    async def compared():
        with open_memory(tmp_path / "one") as memory:
            async with open_memory_async(tmp_path / "two") as awaitable:
                assert attributes(memory) == attributes(awaitable)
                return list(pairs(memory, awaitable))

    def attributes(door):
        return {
            name
            for name in dir(door)
            if not name.startswith("_") and not callable(getattr(door, name))
        }

    found = asyncio.run(compared())
    assert len(found) == 24
    found.append((PersonExport, exports.AsyncPersonExport))
    told = {
        kind
        for kind in (*vars(parts).values(), *vars(exports).values())
        if inspect.isclass(kind) and kind is not Part
    }
    assert {made for _, made in found} == {each for each in told if issubclass(each, Part)} | {
        AsyncMemoryLedger
    }
    for kind, made in found:
        theirs = publics(kind)
        left_out = {name for of, name in BUSY | INNER if of == kind.__name__}
        assert left_out <= set(theirs)
        assert set(publics(made)) == set(theirs) - left_out, made
        for name in set(theirs) - left_out:
            one, other = theirs[name], getattr(made, name)
            if isinstance(one, property):
                one = one.fget
            signature = inspect.signature(one)
            if name in FOLLOWED:
                assert inspect.signature(other).parameters == signature.parameters
                continue
            assert inspect.iscoroutinefunction(other), (made, name)
            assert inspect.signature(other).parameters == signature.parameters, (made, name)
            answer = OTHERS.get((kind.__name__, name), signature.return_annotation)
            assert inspect.signature(other).return_annotation == answer
            if (kind, name) != (MemoryLedger, "close") and answer == signature.return_annotation:
                assert other.__doc__ == one.__doc__


def test_opening_takes_what_open_memory_takes():
    one = inspect.signature(open_memory).parameters
    other = dict(inspect.signature(open_memory_async).parameters)
    threads = other.pop("threads")
    assert dict(one) == other
    assert threads.default == 4


def test_a_talk(place):
    async def talk():
        async with open_memory_async(place, consent="consent") as memory:
            receipt, decisions = await memory.remember("ana", "I live in Lisbon.")
            assert [each.outcome for each in decisions] == ["admit"]
            await memory.record_turn("ana", "I moved to Porto.")
            assert (await memory.process(subject="ana")).turns == 1
            assert [each.text for each in await memory.beliefs("ana")] == ["User moved to Porto"]
            found = await memory.search("ana", "where do I live?")
            assert "Porto" in found.results[0].text
            context = await memory.context("ana", "where do I live?")
            assert "Porto" in str(context.content)
            assert (await memory.turn(receipt.turn_id)).content == "I live in Lisbon."
            policy = await memory.policy.current()
            assert policy.purpose == "assistance"
            assert (await memory.consent.list("ana"))[0].basis == "consent"
            assert (await memory.operations.jobs.list()) == []
            await memory.erasure.holds.place("ana", "dispute", by="lea")
            with pytest.raises(InvalidQuery):
                await memory.search("ana", "")
        with pytest.raises(CallerMistake, match="closed: open it again"):
            await memory.beliefs("ana")
        await memory.close()

    asyncio.run(talk())


def test_it_can_be_awaited_and_refuses_as_open_memory_does(place, tmp_path):
    async def opened():
        memory = await open_memory_async(place)
        try:
            return (await memory.status()).position
        finally:
            await memory.close()

    assert asyncio.run(opened()) >= 0
    with pytest.raises(CallerMistake, match="threads is a whole number"):
        open_memory_async(place, threads=0)

    async def refused():
        async with open_memory_async(tmp_path / "nowhere", create=False):
            pass

    with pytest.raises(LedgerError, match="There is no ledger"):
        asyncio.run(refused())
    assert ours() == []


def ours():
    """The threads in which calls are made."""
    return [each for each in threading.enumerate() if each.name.startswith("beliefledger_")]


def test_five_hundred_tasks_at_once(place):
    """None fails and nothing is lost; the loop itself is never held up for long (the figure is a
    budget of `make bench`)."""

    async def crowd():
        async with open_memory_async(place, consent="consent") as memory:
            most = 0

            async def one(number):
                nonlocal most
                subject = f"person {number % 25}"
                await memory.record_turn(subject, f"I like tea number {number}.")
                most = max(
                    most, sum(t.name.startswith("beliefledger_") for t in threading.enumerate())
                )
                if number % 5 == 0:
                    return await memory.beliefs(subject)
                return await memory.search(subject, "tea", record=False)

            await asyncio.gather(*(one(number) for number in range(500)))
            assert most <= 4
            while (await memory.process(limit=100)).pending:
                pass
            turns = 0
            async for _ in memory.subscribe(types=[TurnRecorded.NAME], follow=False):
                turns += 1
            return turns

    assert asyncio.run(crowd()) == 500


class Held(Extractor):
    """Reads nothing, and waits to be let go on."""

    name, version = "held", "1"

    def __init__(self):
        self.began, self.go = threading.Event(), threading.Event()

    def extract(self, turn, settings: ExtractorSettings):
        self.began.set()
        assert self.go.wait(30)
        return []


def test_a_task_that_is_cancelled_leaves_nothing_half_done(place):
    held = Held()

    async def cancelled():
        async with open_memory_async(place, consent="consent", extractor=held, threads=1) as memory:
            first = asyncio.ensure_future(memory.remember("ana", "I live in Lisbon."))
            await asyncio.to_thread(held.began.wait, 30)
            second = asyncio.ensure_future(memory.record_turn("ana", "I like olives."))
            await asyncio.sleep(0.05)
            for each in (first, second):
                each.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await each
            held.go.set()
            assert (await memory.process()).pending == 0
            # the first went on to its end, alone
            return [each.content async for each in turns(memory)]

    async def turns(memory):
        async for event in memory.subscribe(types=[TurnRecorded.NAME], follow=False):
            yield event.event

    assert len(asyncio.run(cancelled())) == 1


def test_closing_waits_for_what_was_begun(place):
    held = Held()

    async def closed():
        memory = await open_memory_async(place, consent="consent", extractor=held)
        waits = asyncio.ensure_future(memory.remember("ana", "I live in Lisbon."))
        await asyncio.to_thread(held.began.wait, 30)
        closing = asyncio.ensure_future(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        held.go.set()
        await closing
        return (await waits)[0].position

    assert asyncio.run(closed()) > 0


def test_events_come_as_they_are_recorded(place):
    async def followed():
        async with open_memory_async(place, consent="consent") as memory:
            got = []

            async def follow():
                async with memory.subscribe(types=[MemoryAdmitted.NAME]) as events:
                    async for event in events:
                        got.append(event.position)
                        if len(got) == 3:
                            break
                    return events.position

            following = asyncio.ensure_future(follow())
            for text in ("I live in Lisbon.", "I like olives.", "My name is Ana."):
                await memory.remember("ana", text)
                await asyncio.sleep(0.01)
            position = await asyncio.wait_for(following, 20)
            assert got == sorted(got)
            assert position == got[-1]
            begun = memory.subscribe(got[0], types=[MemoryAdmitted.NAME], follow=False)
            return got[1:], [event.position async for event in begun]

    one, other = asyncio.run(followed())
    assert one == other


def test_a_hundred_followers_need_no_thread_each(place):
    async def followed():
        async with open_memory_async(place) as memory:
            streams = [memory.subscribe(types=[TurnRecorded.NAME]) for _ in range(100)]
            waiting = [asyncio.ensure_future(anext(each)) for each in streams]
            await asyncio.sleep(0.5)
            before = threading.active_count()
            await memory.record_turn("ana", "I live in Lisbon.")
            got = await asyncio.wait_for(asyncio.gather(*waiting), 20)
            return before, {event.position for event in got}

    threads = threading.active_count()
    before, positions = asyncio.run(followed())
    assert len(positions) == 1
    assert before - threads < 15


def test_who_stops_waiting_for_an_event_loses_none(place):
    async def followed():
        async with open_memory_async(place) as memory, memory.subscribe() as events:
            seen = []
            for number in itertools.count():
                try:
                    seen.append((await asyncio.wait_for(anext(events), 0.0005)).position)
                except TimeoutError:
                    await memory.record_turn("ana", f"I saw {number} of them.")
                if len(seen) == 20:
                    break
            return seen

    assert asyncio.run(followed()) == list(range(1, 21))


def test_closing_a_stream_ends_who_iterates_it(place):
    async def followed():
        async with open_memory_async(place) as memory:
            events = memory.subscribe((await memory.status()).position)
            consumer = memory.consumer("mine", types=[MemoryAdmitted.NAME])
            waiting = [asyncio.ensure_future(listed(each)) for each in (events, consumer)]
            await asyncio.sleep(0.3)
            for each in (events, consumer):
                await each.close()
                await each.close()
            return await asyncio.wait_for(asyncio.gather(*waiting), 30)

    async def listed(stream):
        return [event async for event in stream]

    assert asyncio.run(followed()) == [[], []]


def test_leaving_the_ledger_ends_its_streams(place):
    async def followed():
        async with open_memory_async(place) as memory:
            stream = memory.subscribe((await memory.status()).position)
            waiting = asyncio.ensure_future(anext(stream, None))
            await asyncio.sleep(0.3)
        return await asyncio.wait_for(waiting, 30)

    assert asyncio.run(followed()) is None


def test_a_consumer_goes_on_where_it_acknowledged(place):
    async def consumed():
        async with open_memory_async(place, consent="consent") as memory:
            await memory.remember("ana", "I live in Lisbon.")
            await memory.remember("ana", "I like olives.")
            async with memory.consumer("mine", [MemoryAdmitted.NAME], follow=False) as events:
                first = await anext(events)
                second = await anext(events)
                await events.ack(first)
                assert await events.position() == first.position
                assert events.epoch == 1
            async with memory.consumer("mine", [MemoryAdmitted.NAME], follow=False) as events:
                again = [event.position async for event in events]
                assert again == [second.position]
                await events.ack(second.position)
            async with memory.consumer("mine", [MemoryAdmitted.NAME]) as events:
                waiting = asyncio.ensure_future(anext(events))
                for _ in range(200):
                    # It has the cursor, and moved it over what is filtered out.
                    if events.epoch and await events.lag() == 0:
                        break
                    await asyncio.sleep(0.05)
                assert events.epoch
                assert await events.lag() == 0
                async with memory.consumer("mine", [MemoryAdmitted.NAME]) as other:
                    late = asyncio.ensure_future(anext(other))
                    await memory.remember("ana", "My name is Ana.")
                    third = await asyncio.wait_for(waiting, 10)
                    await events.close()
                    assert (await asyncio.wait_for(late, 10)).position == third.position

    asyncio.run(consumed())
