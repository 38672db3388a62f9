"""What a person meant when they changed or corrected one memory: which of a turn's candidates takes
its place, what takes it back where none does, and what ends in another slot."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.endings import is_named
from beliefledger.gate.keys import under_its_key
from beliefledger.gate.meant_memories import in_place
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import canonical_attribute, canonical_entity
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, SpeechAct
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.events.belief import MemoryRevoked
from beliefledger.ledger.events.choices import Meant
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.log import new_id
from beliefledger.ledger.lookalikes import undisguised
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros

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
        or _replaces(each, memory)
        for each in candidates
    ]
    if any(of_slot):
        return [
            each.model_copy(update={"act": SpeechAct.CORRECTION})
            if same and each.act is SpeechAct.STATEMENT
            else each
            for each, same in zip(candidates, of_slot, strict=True)
        ]
    # What puts another memory right, for all that it looks like, is not meant.
    candidates = [each for each in candidates if each.act is not SpeechAct.CORRECTION]
    over = _OVER.fullmatch(turn.content) is not None
    ends = Ends(
        attribute=memory.attribute, value=memory.value, denials=memory.negated, never=not over
    )
    takes_back = next((each for each in candidates if each.retracts), None)
    judged = over or _JUDGES.fullmatch(turn.content) is not None
    if judged:
        candidates = [each for each in candidates if each.looked_for() and each.type != NOTE]
    elif takes_back is not None:
        # It is about this memory, whatever "that" would mean elsewhere.
        more = takes_back.model_copy(update={"ends": (ends,), "spans": takes_back.spans[:1]})
        return [more if each is takes_back else each for each in candidates if not each.retracts]
    anew = None if judged else _with_value(turn, held)
    if anew is not None:
        return [anew.model_copy(update={"ends": (ends,)})]
    said = sentences(turn.content)
    stated = (each for each in said if not turn.content[slice(*each)].rstrip().endswith("?"))
    start, end = next(stated, (0, len(turn.content)))
    quote = turn.content[start:end].strip(" \n\t.!,;")
    category = category_of(undisguised(quote))
    first = quote.split()[0].strip(".,;:!") if quote else ""
    if category is not None and first.lower() in _DENIES:
        quote, category = first, None  # that it is taken back is all to keep
    begin = turn.content.index(quote, start)
    took_back = Candidate(
        claim=f"{SELF}: {quote}",
        spans=(Span(start=begin, end=begin + len(quote), quote=quote),),
        type="event",
        entity=memory.entity,
        attribute="event.retraction",
        value=quote,
        act=SpeechAct.CORRECTION,
        category=category or memory.category,
        importance=300_000,
        confidence=900_000,
        ends=(ends,),
        retracts=True,
    )
    return [*candidates, took_back] if quote else list(candidates)


def _replaces(candidate: Candidate, memory: Memory) -> bool:
    """Whether a repair is of this very memory, though it is of another slot: "no, it's a cat"."""
    return (
        candidate.act is SpeechAct.CORRECTION
        and not candidate.retracts
        and any(each.never and each.value and is_named(memory, each) for each in candidate.ends)
    )


_DENIES = frozenset("no nope nah wrong false incorrect sorry actually wait".split())
_JUDGES = compile_later(
    r"\W*(?:(?:no|nope|sorry|hey|well|actually|oh)\W+){0,2}"
    r"(?:(?:that|this|it)(?:['’]?s| is| was)? )?"
    r"(?:(?:just|simply|all|completely|totally|plain) ){0,2}(?:wrong|false|untrue|incorrect|"
    r"not (?:true|right|correct|so)|a (?:lie|joke|mistake)|nonsense|made up)\W*|"
    r"\W*(?:(?:no|nope|sorry|hey)\W+)?(?:(?:that|this|it) (?:isn['’]?t|wasn['’]?t) (?:true|right|"
    r"correct|so)|i (?:have )?never (?:said|told you|claimed) (?:that|this|it|so)|"
    r"i did(?:n['’]?t| not) say (?:that|this|it|so))\W*",
    re.I,
)
"""What says only that it is wrong."""
_OVER = compile_later(
    r"\W*(?:(?:no|nope|nah|sorry|hey|well|actually|oh)\W+){0,2}"
    r"(?:(?:that|this|it|which)(?:['’]?s| is| was)? )?"
    r"(?:not (?:so |true |right |the case )?(?:any ?more|any longer|now)|no longer(?: (?:so|true|"
    r"right|the case))?|over(?: now)?|(?:(?:isn['’]?t|is not|ain['’]?t) (?:so|true|right|the case)"
    r"|doesn['’]?t (?:hold|apply)) (?:any ?more|any longer|now)|outdated|out of date|"
    r"(?:in the |a thing of the )past|used to be(?: (?:so|true|right|the case))?)\W*",
    re.I,
)
"""What says only that it is no longer so."""
_ANOTHER = compile_later(
    r"\W*(?:(?:no|nope|nah|sorry|well|actually|wrong|oh|hey|that['’]?s wrong)\b[\s,.!;:–—-]+){0,3}"
    r"(?:(?:it|that|he|she|they|this|name)(?:['’]?s| is| are|['’]re| was)(?: (?:called|named|spelt|"
    r"spelled))?\s+|(?:his|her|its|their|the|my) (?:[\w’'-]{2,20} )?name (?:is|was) |"
    r"(?:it )?should be |i (?:said|meant) |make (?:it|that) )?"
    r"(?P<new>(?!not\b|no\b)[\w&'’+#-]{1,30}(?: [\w&'’+#-]{1,30}){0,2})\W*",
    re.I,
)


def _with_value(turn: TurnView, held: Held) -> Candidate | None:
    """The memory with the value that somebody says is right: "it's Hanna". None where the words are
    not of the kind that its value is."""
    memory = held.written.memory
    found = _ANOTHER.fullmatch(turn.content) if len(turn.content) <= _SHORT else None
    if found is None or memory.negated or memory.value not in memory.claim:
        return None
    new, old = found["new"], memory.value
    named = new[:1].isupper() and old[:1].isupper()
    figure = any(map(str.isdigit, new)) and any(map(str.isdigit, old))
    if not (named or figure) or new.lower() == old.lower():
        return None
    quote = found[0].strip(" \n\t.!,;")
    begin = turn.content.index(quote)
    here = Candidate(
        claim=quote,
        spans=(Span(start=begin, end=begin + len(quote), quote=quote),),
        type=held.type,
        attribute=memory.attribute,
        value=new,
        importance=held.importance,
        confidence=900_000,
    )
    claim = memory.claim.replace(old, new, 1)
    anew = in_place(here, held, claim, new, ())
    return anew.model_copy(update={"act": SpeechAct.CORRECTION})


_SHORT = 80


def check_held(draft: Draft, meant: Meant, now: Micros) -> None:
    """Raises `UnknownMemory` for a memory that is not believed any more: somebody else was
    first. What ends later is believed."""
    belief = draft.belief(meant.belief)
    held = belief.believed(meant.memory)
    lasts = held is not None and held.valid_to is not None and not held.ended(now)
    if held is None or not (held in belief.current or lasts):
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
