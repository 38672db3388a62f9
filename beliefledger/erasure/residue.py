"""In plain words: what an erasure leaves behind, how long backups tell, and what nobody can prove.

The words of every certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beliefledger.ledger.events.turn import GateDecided

Remainder = dict[str, Any]
"""`what` remains, `why`, and how much of it (`count`; None where it cannot be counted)."""


def remains(
    *,
    whole: bool,
    envelopes: Mapping[str, int],
    relations: int,
    holds: int,
    older: int,
    server: bool,
) -> list[Remainder]:
    """What is still there, by design. `envelopes` counts the events that were reached, in all and
    by type, `older` those of them that an older version wrote; `relations` how many other people
    had relations to the person; `holds` are in force on somebody living."""
    found = [
        _remainder(
            "envelopes of the events",
            "They are the history that proofs are made of: ids, times, types, digests and codes,"
            " and no words. The reference in them is random, and leads to nobody without the key."
            if whole
            else "They are the history that proofs are made of: ids, times, types, digests and"
            " codes, and no words.",
            envelopes.get("envelopes", 0),
        ),
        _remainder(
            "facts of decisions",
            "Outcome, reason, policy and time of each decision stay in its envelope, so that audit"
            " counts still add up. Of a special category they say no more than that it was one.",
            envelopes.get(GateDecided.NAME, 0),
        ),
        _remainder(
            "times, counts and lengths",
            "When something was said or asked, how many statements and secrets were in it, what a"
            " model read and wrote of it in tokens, how many it found and with which scores.",
            None,
        ),
    ]
    if older:
        found.append(
            _remainder(
                "what older versions wrote into envelopes",
                "The type and the category of a statement, the kinds of secrets, the tag of a"
                " session and the scores stand in these, and nobody can change them.",
                older,
            )
        )
    if whole:
        found += [
            _remainder(
                "tombstone in the vault",
                "An HMAC of the person's id under a secret of the vault: by it the id is known"
                " again and refused.",
                1,
            ),
            _remainder(
                "relations in other people's memories",
                "A relation of somebody else to the person keeps its envelope, and has lost its"
                " words. So many other people had some. One that was under a legal hold then, or"
                " calls the person by a name that nobody told, still has its words.",
                relations,
            ),
        ]
    else:
        found += [
            _remainder(
                "ids that are the same again",
                "The id of a belief, an entity, a turn or an erased session is an HMAC of words"
                " under the person's key, which lives. Said again, the same slot has the same id:"
                " whoever compares ids, or has the key, can confirm a guess at it.",
                None,
            ),
            _remainder(
                "that nothing comes of it",
                "An erased turn that is told again is answered like an unknown one and stays"
                " erased: whoever may also read what became of it, or goes on writing, sees that"
                " nothing did.",
                None,
            ),
            _remainder(
                "ciphertext in older backups",
                "The person's key lives, so a backup from before opens with the vault. Restored"
                " through `beliefledger ops restore`, what is erased here is deleted again before"
                " anything is served.",
                None,
            ),
        ]
    found.append(
        _remainder(
            "words of other people",
            "What others said is theirs, and may name the person. It is not searched for names.",
            None,
        )
    )
    if holds:
        found.append(
            _remainder(
                "bodies under legal hold",
                "A hold was placed on this person since: nothing more of theirs is erased until it"
                " is lifted.",
                holds,
            )
        )
    found.append(
        _remainder(
            "names of those who act",
            "Who asked for it, or settled or reviewed something, is a reference here. Their name is"
            " in the vault, under the master key, also where it is the erased person's own.",
            None,
        )
    )
    if server:
        found.append(
            _remainder(
                "dead rows and write-ahead log of the database server",
                "The server keeps deleted ciphertext until it vacuums and recycles its segments;"
                + (
                    " without the key it is noise."
                    if whole
                    else " the key lives, so vacuum (FULL) the bodies and archive no older segment."
                ),
                None,
            )
        )
    return found


def _remainder(what: str, why: str, count: int | None) -> Remainder:
    return {"what": what, "why": why, "count": count}


def horizon(*, whole: bool, key: str, completed: str, rotated: str | None, in_force: bool) -> str:
    """What a backup can still open."""
    if not whole:
        return (
            "Less than a whole person was erased, so no key was destroyed: a backup of the history"
            f" from before {completed} still has the ciphertext, and the person's key opens it. It"
            " is forgotten by deleting it again after a restore, and for good when the last such"
            " backup is gone."
        )
    told = (
        f"A backup of the vault from before {completed} holds the destroyed key, wrapped under the"
        f" master key {key or '(not recorded)'}."
    )
    if rotated is None and not in_force:
        return (
            f"{told} That is not the one in force now, and the history does not tell that it was"
            " replaced after the erasure: one that was replaced before may have passed the"
            " destroyed key on to its successor. Until such backups are gone, or"
            " `beliefledger ops vault rotate` was run and all older master keys destroyed,"
            " whoever has both can read backups of the history from before."
        )
    if rotated is None:
        return (
            f"{told} That master key is still in force: until such backups are gone, or"
            " `beliefledger ops vault rotate` was run and the old master key destroyed,"
            " whoever has both can read backups of the history from before."
        )
    return (
        f"{told} It was replaced at {rotated}: where the old master key is destroyed, no backup of"
        " the vault from before opens anything."
    )


def cannot_prove(*, whole: bool, receipts: bool, before: bool) -> list[str]:
    """What this certificate says nothing about, in plain sentences."""
    found = [
        "That no copy was made outside of this ledger: exports, screenshots, printed pages, the"
        " context or the training data of a model, logs of other systems.",
        "That a consumer which acknowledged did delete what it had: the acknowledgement is its own"
        " word. That nobody else had copies: who follows the log without a name is not known.",
        "That the memory of running processes, swap space and core dumps hold nothing, nor blocks"
        " that a disk or a file system keeps of deleted files.",
    ]
    if whole:
        found.append(
            "That no backup of the vault exists together with the master key of its time: who has"
            " both has the destroyed key."
        )
    else:
        found.append(
            "That no backup of the history from before the erasure exists: the person's key still"
            " opens it."
        )
    found.append(
        "That the receipts and probes are true: they are this ledger's word, given at the time and"
        " unchangeable since."
    )
    if not receipts:
        found.append(
            "What was deleted, one by one: this erasure was recorded by a version of beliefledger"
            " that wrote no receipts, so counts, commitment, views and probes are missing here."
        )
    if not before:
        found.append(
            "That the history before the erasure is unchanged: no checkpoint from before it was"
            " kept."
        )
    return found
