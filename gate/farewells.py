"""Which memories are meant by words that take leave of something: "so long Swansea".

An extractor finds such words without knowing what is believed. Here the memories are looked up that
say what the words name; their slots and values then stand in the candidate, so that the decision
about it is as pure as any. What names none is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate import lapses, plain_changes, retorts, schooling, unchanged
from beliefledger.gate.additions import BESIDE, beside_old
from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import NAMES
from beliefledger.gate.callings import with_what_calls
from beliefledger.gate.claims import CHECK, beyond
from beliefledger.gate.decision import TurnView
from beliefledger.gate.dependents import KIND, with_what_depends
from beliefledger.gate.draft import Draft
from beliefledger.gate.dropped_items import dropped
from beliefledger.gate.entity_names import of_speaker
from beliefledger.gate.exchanges import exchanged_for
from beliefledger.gate.figure_changes import refigured, says_less
from beliefledger.gate.happenings import happening
from beliefledger.gate.homonyms import only_share_a_stem
from beliefledger.gate.meant_memories import (
    LASTING,
    PLANNED,
    WORD,
    Standing,
    ends_by_entity,
    look_up,
    quoting,
    stems,
)
from beliefledger.gate.negations import is_denied
from beliefledger.gate.note_parts import exchanged, moved_notes, parts_left, says_anew
from beliefledger.gate.overtaken import BRIEF, POSTS, is_kin_still, overtaken, without_sure_to_stand
from beliefledger.gate.parallels import otherwise
from beliefledger.gate.persons import known
from beliefledger.gate.plans import fulfils, is_off_this_once, plans
from beliefledger.gate.registry import NOTE
from beliefledger.gate.renewals import Renewal, older_of_slot, renewals, renewed
from beliefledger.gate.restatements import at_another
from beliefledger.gate.rules import distinctions, farewells, new_figures, passing_states
from beliefledger.gate.rules import lapses as rules_lapses
from beliefledger.gate.rules import plain_changes as rules_plain_changes
from beliefledger.gate.rules import renewals as rules_renewals
from beliefledger.gate.rules import retorts as rules_retorts
from beliefledger.gate.rules import successions as rules_successions
from beliefledger.gate.rules.farewells import SAME
from beliefledger.gate.rules.last_days import last_day
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.said_once import each_claim_once, each_end_once, meets
from beliefledger.gate.sentences import before
from beliefledger.gate.spoken_of import did_for_user, goes_on_of, outlasts, spoken_of
from beliefledger.ledger.candidate import SELF, Candidate, Ends
from beliefledger.networks.stems import stem

_STAYING = ("identity.name", "identity.birth", "identity.age", "event.", "record.", "language.")
"""What nobody takes leave of."""
_ANEW = (rules_renewals.ATTRIBUTE, rules_successions.ATTRIBUTE)
MOST = 3
"""Words that fit more memories than this say too little to end any."""


def mean(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate]
) -> tuple[TurnView, list[Candidate]]:
    """The candidates with the memories named that their words end, and the turn with what they
    cite."""
    kept = [each for each in candidates if not each.looked_for()]
    standing = Standing(draft, subject_ref, turn)
    kept = [_renewing_its_slot(standing, schooling.placed(standing, each)) for each in kept]
    if len(kept) == len(candidates) and not BESIDE.search(turn.content):
        return turn, with_what_calls(standing, kept)
    meant: list[Candidate] = []
    stood: list[Candidate] = []
    if BESIDE.search(turn.content):
        joined = [(each, beside_old(standing, each, turn)) for each in kept]
        kept = [each for each, both in joined if both is None]
        meant = [both for _, both in joined if both is not None]
    fewer: list[Candidate] = []
    parted: list[Candidate] = []
    for candidate in candidates:
        if candidate.attribute == rules_lapses.ATTRIBUTE:
            unchanged.spare(standing, candidate)
            left = list(_fewer(_Anew(draft, subject_ref, turn, standing, candidate)))
            if left:
                fewer += left
                parted.append(candidate)
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
    for candidate in _of_each_sentence(candidates):
        if of_speaker(draft, subject_ref, turn, candidate) is not candidate:
            continue
        unchanged.spare(standing, candidate)
        sentence = _Anew(draft, subject_ref, turn, standing, candidate)
        fewer += sentence.left_of(dropped(standing, candidate))
        again = list(sentence.left_of(otherwise(standing, candidate)))
        if again:
            fewer += again
            kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
    for candidate in [each for each in candidates if each.looked_for()]:
        if of_speaker(draft, subject_ref, turn, candidate) is not candidate:
            continue  # the words of somebody else end nothing of the subject's
        if standing.without_employer(goes_on_of(turn.content, candidate.spans[0])):
            continue  # "Tom quit his job. Moved to Oslo"
        if candidate.attribute in _ANEW and any(
            each.attribute.endswith(passing_states.SLOTS) and meets(each, candidate)
            for each in kept
        ):
            continue  # "based in Lisbon this month" tells of no new home
        unchanged.spare(standing, candidate)
        if candidate.attribute == new_figures.ATTRIBUTE:
            others = [
                each
                for each in candidates
                if each.attribute == candidate.attribute and each.spans == candidate.spans
            ]
            if candidate == others[0]:
                typed = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
                sentence = _Anew(draft, subject_ref, turn, standing, candidate)
                figured = refigured(standing, others, turn, [*typed, *meant])
                anew = [sentence.or_over(each) for each in figured]
                kept = [each for each in typed if not says_less(each, anew)] if anew else kept
                meant += anew
            continue
        if candidate.attribute == rules_renewals.ATTRIBUTE:
            found = renewals(standing, candidate)
            if found:
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
                sentence = _Anew(draft, subject_ref, turn, standing, candidate)
                meant += sentence.candidates(found, [*kept, *meant])
            continue
        if candidate.attribute == rules_plain_changes.ATTRIBUTE:
            sentence = _Anew(draft, subject_ref, turn, standing, candidate)
            told = sentence.news([*kept, *meant])
            stood += [candidate] if told.stands else []
            if told.over or told.anew or told.stands:
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
                kept = [each for each in kept if not _is_said_by(told.anew, each)]
                meant = [each for each in meant if not _is_said_by(told.anew, each)]
                meant += [_renewing_its_slot(standing, each) for each in told.anew]
                ends = _meant(standing, candidate, told.over, [*kept, *meant], turn)
                meant += [each for each in ends if each.retracts or not told.quiet]
            continue
        if candidate.attribute == rules_retorts.ATTRIBUTE:
            if not any(_is_an_answer(each, candidate) for each in [*kept, *meant]):
                sentence = _Anew(draft, subject_ref, turn, standing, candidate)
                kept, right = sentence.set_right(kept, meant)
                meant += right
            continue
        if candidate.attribute == rules_lapses.ATTRIBUTE:
            held = lapses.over(standing, candidate, turn)
            if held:
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
                # "Ana left Siemens" says where she worked, and is news all the same.
                beside = [each for each in [*kept, *meant] if not lapses.was_so(each)]
                meant += _meant(standing, candidate, held, beside, turn)
            continue
        if candidate.attribute == rules_successions.ATTRIBUTE:
            if any(meets(each, candidate) for each in [*meant, *stood]):
                continue  # it has its answer
            held = overtaken(standing, candidate, kept, brief=len(turn.content) <= BRIEF)
            held = [each for each in held if not outlasts(each, candidate.spans[0].quote)]
            fewer += parts_left(candidate, held) or moved_notes(candidate, held)
            noted = any(each.type == NOTE and meets(each, candidate) for each in kept)
            if noted and all(each.written.memory.entity == SELF for each in held):
                kept = _renewing(kept, candidate, held)
            elif held:
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
                meant += _meant(standing, candidate, held, [*kept, *meant], turn)
            continue
        kind = candidate.ends[0].attribute
        said = candidate.spans[0].quote
        types = _TYPES.get(kind, LASTING)
        if kind == SAME:
            standing.spare(frozenset())
            held = look_up(standing, candidate, at_another(said), types)
        else:
            fits = {"event.*": plans(turn), "plan.*": fulfils, "note.*": says_anew}.get(kind, names)
            lead = before(turn.content, candidate.spans[0].start)
            held = spoken_of(lead, said, look_up(standing, candidate, fits, types), standing)
        if held and kind not in _SAID_ANEW:
            held = lapses.without_only_theirs(held, candidate, known(standing))
        if kind == "*":
            held = [
                each
                for each in held
                if not (_outlives(candidate, each) or is_kin_still(each, said))
                and not (each.type in LASTING and is_off_this_once(said))
            ]
            held = without_sure_to_stand(said, held)
        if kind == "note.*" or (kind == SAME and any(meets(each, candidate) for each in kept)):
            kept = _renewing(kept, candidate, held[: MOST + 1])
            continue
        if 0 < len(held) <= MOST:
            held = with_what_depends(standing, held) if kind == "*" else held
            noted = any(each.type == NOTE and meets(each, candidate) for each in kept)
            mine = all(each.written.memory.entity == SELF for each in held)
            if kind == "plan.*" and noted and mine:
                kept = _renewing(kept, candidate, held)
                continue
            if kind != "plan.*":
                # What ended something is told as what happened, and not as a note that stands.
                kept = [each for each in kept if each.type != NOTE or not meets(each, candidate)]
            fewer += exchanged(candidate, held)
            meant += list(_meant(standing, candidate, held, [*kept, *meant], turn))
    standing.spare(frozenset())
    kept, meant = each_claim_once(kept, list(each_end_once(meant)))
    kept, fewer = each_claim_once(kept, fewer)
    kept = with_what_calls(standing, kept)
    meant = with_what_calls(standing, meant)
    meant += [each for some in parted for each in happening(some, turn, [*kept, *meant])]
    if not meant and not fewer:
        return turn, kept
    cites = draft.cited(subject_ref, [*fewer, *meant])
    turn = turn.citing(cites)
    # First what is left of several, so that nothing ends all of them.
    return turn, [quoting(each, cites) for each in fewer] + kept + [
        quoting(each, cites) for each in meant
    ]


def _fewer(sentence: _Anew) -> Iterator[Candidate]:
    """What is left of memories that list several things, of which a candidate ends one, and of
    those that tell with whom something was so."""
    draft, subject_ref, turn, standing, candidate = sentence
    doing = standing.without_employer(goes_on_of(turn.content, candidate.spans[0]))
    if doing or of_speaker(draft, subject_ref, turn, candidate) is not candidate:
        return
    yield from sentence.left_of(lapses.of_several(standing, candidate, turn))
    yield from sentence.alone(lapses.bereft(standing, candidate))


def _of_each_sentence(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """One candidate of each sentence in which memories are looked for."""
    seen: set[tuple[int, int]] = set()
    for each in candidates:
        where = (each.spans[0].start, each.spans[0].end)
        if each.looked_for() and where not in seen:
            seen.add(where)
            yield each


def _is_an_answer(said: Candidate, candidate: Candidate) -> bool:
    """Whether a sentence is known already to change something that lasts."""
    return said.type not in (NOTE, "event") and meets(said, candidate)


def _is_said_by(anew: Sequence[Candidate], candidate: Candidate) -> bool:
    """Whether a candidate is what news tells better: in its slot, or an order that it answers with
    another value ("don't call me Sam, it's Samuel")."""
    return any(
        meets(candidate, each)
        and (
            (candidate.entity, candidate.attribute) == (each.entity, each.attribute)
            or candidate.attribute.startswith("constraint.")
            # "we moved from Heroku to Fly"
            or (candidate.attribute == "home.location" and each.attribute.startswith("thing."))
        )
        for each in anew
    )


def _renewing_its_slot(standing: Standing, candidate: Candidate) -> Candidate:
    """A typed candidate, which ends what tells an older value of its slot."""
    older = older_of_slot(standing, candidate)
    if not 0 < len(older) <= MOST:
        return candidate
    return candidate.model_copy(update={"ends": (*candidate.ends, *_ends_of(older))})


def _ends_of(held: Sequence[Held]) -> tuple[Ends, ...]:
    """What names these memories as over."""
    return tuple(
        Ends(attribute=each.written.memory.attribute, value=each.written.memory.value)
        for each in held
    )


class _News(NamedTuple):
    """What plain news does: the memories that are over, and those with another value."""

    over: list[Held]
    anew: list[Candidate]
    quiet: bool
    stands: bool


class _Anew(NamedTuple):
    """A sentence that gives a new value of something."""

    draft: Draft
    subject_ref: str
    turn: TurnView
    standing: Standing
    candidate: Candidate

    def candidates(
        self, found: Sequence[Renewal], beside: Sequence[Candidate]
    ) -> Iterator[Candidate]:
        """What becomes of the memories of which it gives a new value: that value in their slot; or
        else an end, and the sentence as what happened."""
        mine = [
            each
            for each in beside
            if each.type not in (NOTE, "event")
            and not each.retracts
            and meets(each, self.candidate)
        ]
        over: list[Held] = []
        for each in found:
            attribute = each.held.written.memory.attribute
            if any(other.attribute == attribute for other in mine):
                continue  # a rule has found it in this slot itself
            anew = renewed(self.candidate, each, self.standing)
            if anew is None or not self.is_within(anew):
                over.append(each.held)
            else:
                mine.append(anew)
                yield anew
        if 0 < len(over) <= MOST:
            yield from _meant(self.standing, self.candidate, over, [*beside, *mine], self.turn)

    def news(self, beside: Sequence[Candidate]) -> _News:
        """What it does as plain news. A memory whose new value would say more than the words do is
        over."""
        before = self.turn.content[: self.candidate.spans[0].start]
        over, slots, quiet, stands = plain_changes.meant(
            self.standing, self.candidate, beside, before
        )
        anew: list[Candidate] = []
        for held, ways in slots:
            new = next(filter(self.is_within, ways), None)
            if new is not None:
                anew.append(new)
            elif ways[0].attribute == held.written.memory.attribute:
                over.append(held)
            else:  # whose slot is another then is so still: a fiance, married
                stands = True
        return _News(over, anew, quiet, stands)

    def set_right(
        self, kept: Sequence[Candidate], meant: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[Candidate]]:
        """What becomes of what the assistant took for so: another value in its slot, or an end. The
        first are those that are kept beside it: without the note that says the same, or with the
        answer as one."""
        self.standing.spare(frozenset())  # the assistant has said which is meant
        told = retorts.meant(self.standing, self.candidate)
        beside = [each for each in kept if each.type != NOTE or not meets(each, self.candidate)]
        anew = [each for _, each in told.anew if self.is_within(each)]
        over = [*told.over, *([] if anew else (held for held, _ in told.anew))]
        if not 0 < len(over) <= MOST:
            return (beside if anew else list(kept)), anew
        if self.candidate.replaces is not None:
            answer = retorts.noted(self.candidate)
            if all(each.written.memory.entity == SELF for each in over):
                ends = {"ends": _ends_of(over)}
                return [*beside, answer.model_copy(update=ends)], anew
            beside.append(answer)
        spans = self.candidate.spans[:1]
        plain = self.candidate.model_copy(update={"replaces": None, "spans": spans})
        return beside, [
            *anew,
            *_meant(self.standing, plain, over, [*beside, *anew, *meant], self.turn),
        ]

    def or_over(self, figured: Candidate) -> Candidate:
        """A memory with another figure, or the sentence as what ended it, where the claim would say
        more than the words do."""
        if not figured.replaces or self.is_within(figured):
            return figured
        said = {"replaces": None, "value": self.candidate.spans[0].quote, "ends": figured.ends}
        return self.candidate.model_copy(update=said | {"retracts": False})

    def left_of(self, several: Iterable[tuple[Held, list[Candidate]]]) -> Iterator[Candidate]:
        """What is left of memories that list several things, by the fullest of the ways to say so
        that say no more than the words; nothing else is asked about these."""
        for held, ways in list(several):
            left = next(filter(self.is_within, ways), None)
            if left is not None:
                self.standing.answered([held])
                yield left

    def alone(self, bereft: Iterable[tuple[Held, Candidate]]) -> Iterator[Candidate]:
        """Memories without those who are gone; ended first where the value stays the same, which
        would only be a repetition."""
        for held, left in list(bereft):
            if self.is_within(left):
                self.standing.answered([held])
                if left.value == held.written.memory.value:
                    yield from _meant(self.standing, self.candidate, [held], [left], self.turn)
                yield left

    def is_within(self, candidate: Candidate) -> bool:
        """Whether a claim says no more than these words and those of the memory before."""
        quoted = quoting(candidate, self.draft.cited(self.subject_ref, [candidate]))
        return beyond(quoted.model_copy(update={"check": CHECK})) is None


def _outlives(candidate: Candidate, held: Held) -> bool:
    """Whether what words name stays: they are of something else of that name."""
    memory = held.written.memory
    words = " ".join(ends.value for ends in candidate.ends if ends.among)
    said = candidate.spans[0].quote
    if only_share_a_stem(said, memory.claim) or did_for_user(memory.claim, words):
        return True
    new = None if candidate.replaces is None else candidate.value
    return distinctions.outlives(said, words, memory.attribute, memory.value, memory.claim, new)


_TYPES = {"event.*": PLANNED, "plan.*": PLANNED, "note.*": frozenset({NOTE}), SAME: PLANNED}
_TYPES["*"] = LASTING | {"entity"}
_SAID_ANEW = ("note.*", SAME)
"""What is ended by the memory that says it anew."""


def _renewing(
    kept: Sequence[Candidate], sentence: Candidate, held: Sequence[Held]
) -> list[Candidate]:
    """The candidates, of which the first of a sentence ends the notes that it says anew."""
    if not held or len(held) > MOST:
        return list(kept)
    ends = _ends_of(held)
    first = next((each for each in kept if meets(each, sentence) and not each.retracts), None)
    return [
        each.model_copy(update={"ends": (*each.ends, *ends)}) if each is first else each
        for each in kept
    ]


def names(held: Held, words: str) -> bool:
    """Whether words name what a memory says: all of them are its words, and one is of its value."""
    memory = held.written.memory
    if memory.attribute.startswith(_STAYING):
        return False
    told = f"{memory.value} {memory.attribute} {memory.entity}".lower()
    if not any(stem(word) in told for word in words.split()):
        return False  # as of most memories, and soon known
    if held.type == NOTE and GIVEN.issuperset(words.split()):
        return False  # "bye, Caroline", who is spoken to in many notes
    if all(word.removesuffix("s") in NAMES for word in words.split()):
        return False  # "sunday was dead"
    said = {stem(word) for word in words.split()}
    value = stems(memory.entity if memory.attribute == KIND else memory.value)
    whole = value | stems(memory.claim) | stems(memory.attribute.replace(".", " "))
    if said.isdisjoint(value | stems(memory.attribute.partition(".")[2])):
        return False
    if said <= whole:
        return True
    # "my lovely Octavia estate": the name is enough, where nobody else's is meant.
    proper = {
        stem(word.lower())
        for word in WORD.findall(memory.value)
        if word[:1].isupper() and word.lower() not in farewells.SHARED
    }
    return not said.isdisjoint(proper) and 2 * len(said & whole) >= len(said)


def _meant(
    standing: Standing,
    candidate: Candidate,
    held: Sequence[Held],
    beside: Sequence[Candidate],
    turn: TurnView,
) -> Iterator[Candidate]:
    """What becomes of these memories: another value in their slot, or an end."""
    span = candidate.spans[0]
    at = next((ends.at for ends in candidate.ends if ends.among), None)
    if at is None and any(each.written.memory.attribute in POSTS for each in held):
        at = last_day(turn.content[span.start :], turn.said_at)
    there, held = held, [each for each in held if not is_denied(each, candidate, beside)]
    if there and not held:
        return
    attributes = {each.attribute for each in beside}
    changed = False
    for each in held:
        memory = each.written.memory
        if candidate.replaces is None or memory.attribute in attributes or each.type == NOTE:
            continue
        turned = exchanged_for(candidate, each)
        if turned is not None:
            changed = True
            yield turned
    for entity, ends in ends_by_entity(standing, held, at=at):
        yield candidate.model_copy(
            update={
                "entity": entity,
                "replaces": None,
                "value": span.quote,
                "ends": ends,
            }
        )
    if not changed:
        yield from happening(candidate, turn, beside)
