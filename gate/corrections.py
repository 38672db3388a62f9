"""What a person meant when they changed or corrected one memory: which of a turn's candidates takes
its place, what takes it back where none does, and what ends in another slot."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.keys import under_its_key
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import canonical_attribute, canonical_entity
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, SpeechAct
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.events.belief import MemoryRevoked
from beliefledger.ledger.events.choices import Meant
from beliefledger.ledger.log import new_id
from beliefledger.ledger.lookalikes import undisguised

_BELIEVED = frozenset({Outcome.ADMIT, Outcome.CONFIRM, Outcome.SUPERSEDE})


def corrected(draft: Draft, turn: TurnView, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of a turn that corrects a memory. One of its slot is a correction; without
    such a one, the first words of the turn take the memory back."""
    meant = turn.corrects
    held = None if meant is None else draft.belief(meant.belief).find(meant.memory)
    if held is None:
        return list(candidates)
    memory = held.written.memory
    slot = (canonical_entity(memory.entity), canonical_attribute(memory.attribute))
    of_slot = [
        slot == (canonical_entity(each.entity), canonical_attribute(under_its_key(each).attribute))
        for each in candidates
    ]
    if any(of_slot):
        return [
            each.model_copy(update={"act": SpeechAct.CORRECTION})
            if same and each.act is SpeechAct.STATEMENT
            else each
            for each, same in zip(candidates, of_slot, strict=True)
        ]
    ends = Ends(attribute=memory.attribute, value=memory.value, denials=memory.negated, never=True)
    takes_back = next((each for each in candidates if each.retracts), None)
    if takes_back is not None:
        more = takes_back.model_copy(update={"ends": (*takes_back.ends, ends)})
        return [more if each is takes_back else each for each in candidates]
    said = sentences(turn.content)
    stated = (each for each in said if not turn.content[slice(*each)].rstrip().endswith("?"))
    start, end = next(stated, (0, len(turn.content)))
    quote = turn.content[start:end].strip(" \n\t.!,;")
    if category_of(undisguised(quote)) is not None:  # then that it is taken back is all to keep
        quote = quote.split()[0].strip(".,;:!")
    begin = turn.content.index(quote, start)
    took_back = Candidate(
        claim=f"{SELF}: {quote}",
        spans=(Span(start=begin, end=begin + len(quote), quote=quote),),
        type="event",
        entity=memory.entity,
        attribute="event.retraction",
        value=quote,
        act=SpeechAct.CORRECTION,
        category=memory.category,
        importance=300_000,
        confidence=900_000,
        ends=(ends,),
        retracts=True,
    )
    return [*candidates, took_back] if quote else list(candidates)


def check_held(draft: Draft, meant: Meant) -> None:
    """Raises `UnknownMemory` for a memory that is not believed any more: somebody else was
    first."""
    if not any(each.memory_id == meant.memory for each in draft.belief(meant.belief).current):
        raise UnknownMemory(
            f"The memory {meant.memory} does not hold any more: see what does with history."
        )


def end_elsewhere(
    draft: Draft, meant: Meant, stream: str, decision: Decision, decided: New
) -> None:
    """End the memory that was changed into one of another slot: in its own there is nothing to
    supersede it. `decided` is the decision's event."""
    if stream == meant.belief or decision.outcome not in _BELIEVED:
        return
    event = MemoryRevoked(memory_id=meant.memory, cause="actor")
    draft.write_belief(
        New(
            event, new_id(), meant.belief, decided.subject_ref, decided.actor, decided.event_id,
            decided.correlation,
        )
    )  # fmt: skip
