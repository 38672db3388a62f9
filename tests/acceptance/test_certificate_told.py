"""What the stand-alone verifier tells of a certificate, to the letter, and what it does not take
from whoever has the ledger's key."""

from __future__ import annotations

import json

import pytest

from beliefledger import open_memory
from beliefledger.erasure.certificate import signed_text, text_of
from beliefledger.ledger.proofs.notes import Signer
from beliefledger.tools import verifier


class Erased:
    """A ledger with an erasure of a person, and one of a belief before it."""

    def __init__(self, memory):
        self.memory = memory
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I live in Porto.")
        memory.remember("ana", "I use pytest.")
        for name in ("warehouse", "search", "mailing"):
            with memory.consumer(name) as events:
                next(events)
        memory.proofs.tree.extend(keep=True)
        belief = memory.beliefs("ana")[0].memory_id
        self.part = memory.erasure.certificates.issue(
            memory.erase("ana", memory=belief, by="dpo").erasure
        )
        erasure = memory.erase("ana", by="dpo").erasure
        self.open = memory.erasure.certificates.issue(erasure)
        memory.erasure.certificates.write_off("search", by="ops")
        for name in ("warehouse", "mailing"):
            memory.erasure.certificates.acknowledge(name, erasure)
        self.whole = memory.erasure.certificates.issue(erasure)

    def signed(self, told, **changed):
        """The certificate with other fields, signed again by the ledger's own operator."""
        made = {**told, **changed}
        return made | {"signature": self.memory.proofs.tree.sign(signed_text(made))}


@pytest.fixture(scope="module")
def erased(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
        with open_memory(tmp_path_factory.mktemp("erased") / "ledger") as memory:
            yield Erased(memory)


def verdict(certificate, *keys):
    checked = verifier.Checked(tuple(map(verifier.Key.parse, keys)))
    try:
        verifier.check(text_of(certificate).encode(), checked)
    except (verifier.Refuted, verifier.Unusable) as problem:
        return str(problem)
    return True


def expected(told, consumers, *, state="closed", kind="subject.erased.v2"):
    """The lines that are printed of a certificate that holds."""
    [key] = told["verifier_keys"]
    origin, number = told["origin"], key.split("+")[1]
    before, after = (f"{int(told[name].split()[1]):,}" for name in ("before", "after"))
    at = {}
    for name in ("request", "completion"):
        moment = json.loads(told[name]["envelope"])["recorded_at"]
        at[name] = f"{told[name]['position']:,} of the log, recorded {verifier.moment(moment)}"
    horizon = told["backup_horizon"]
    return [
        f"  ?   the file says that its key is {key}",
        f"  ok  the certificate: signed as a whole by key {number}",
        f"  ok  the checkpoint after: {after} events of {origin}, signed by key {number}",
        f"  ok  the request: erasure.requested.v2 is at position {at['request']}",
        f"  ok  the completion: {kind} is at position {at['completion']}",
        f"  ok  the checkpoint before: {before} events of {origin}, signed by key {number}",
        "  ok  the history before the erasure is still there, unchanged, after it",
        "  ok  the completion is that of this request",
        "  ok  as the log recorded them: basis, because, bodies, commitment, completed_at, counts,"
        " erasure, key_fingerprints, of, probes, reach, requested_at, requested_by, subject_ref,"
        " views",
        "  ok  the probes that the completion records found nothing",
        f"  ?   the ledger says that it is {state}; {consumers}",
        f"  ?   it says what remains: {', '.join(each['what'] for each in told['remains'])}",
        f"  ?   it says of backups, under master key {horizon['master_key']}:"
        f" {horizon['text'].removesuffix('.')}",
        f"  ?   it says that this certificate was made at {told['issued_at']}",
    ]


HISTORY = (
    "that everybody is shown this same history: that takes a witness (--witness-key), or comparing"
    " checkpoints with others"
)
KEY = (
    "whose key it is: it stands in the file itself; compare it with one that you got elsewhere, or"
    " give that as --key"
)
ALWAYS = [
    "that no copy was made outside of the ledger: exports, printed pages, what a model was shown,"
    " logs of other systems",
    "that receipts and probes are true, and what the lines with a question mark say: that is the"
    " ledger's own word",
    "that a consumer which acknowledged did delete what it had, or that all who had copies are"
    " listed",
    "that memory of processes, swap, core dumps and spare blocks of a disk hold nothing",
]
VAULT = "that no backup of the vault exists together with a master key that opens it"
PERSON = "that no backup of the history from before exists: the person's key, which lives, opens it"


@pytest.mark.parametrize(
    ("which", "last", "consumers", "how"),
    [
        (
            "whole",
            VAULT,
            "acknowledged by mailing, warehouse, written off without that: search, waiting for"
            " nobody",
            {},
        ),
        (
            "open",
            VAULT,
            "acknowledged by nobody, waiting for mailing, search, warehouse",
            {"state": "open"},
        ),
        (
            "part",
            PERSON,
            "acknowledged by nobody, waiting for mailing, search, warehouse",
            {"state": "open", "kind": "content.erased.v2"},
        ),
    ],
)
def test_a_certificate_is_told_to_the_letter(erased, which, last, consumers, how):
    told = getattr(erased, which)
    checked = verifier.Checked(())
    verifier.check(text_of(told).encode(), checked)
    assert checked.lines == expected(told, consumers, **how)
    assert checked.unproven == [*ALWAYS, last, HISTORY, KEY]
    checked = verifier.Checked(tuple(map(verifier.Key.parse, told["verifier_keys"])))
    verifier.check(text_of(told).encode(), checked)
    assert checked.lines == expected(told, consumers, **how)[1:]
    assert checked.unproven == [*ALWAYS, last, HISTORY]


def test_without_a_checkpoint_from_before_that_is_told(erased):
    made = erased.signed(erased.whole, before=None, consistency=None)
    checked = verifier.Checked(())
    verifier.check(text_of(made).encode(), checked)
    assert checked.lines[5] == "  ?   no checkpoint from before the request was kept"
    assert checked.unproven[0] == (
        "that the history before the erasure is unchanged: there is no earlier checkpoint"
    )
    for less in ({"before": None}, {"consistency": None}):
        assert verdict(erased.signed(erased.whole, **less)) is not True


def inside(name, **changed):
    """One field with parts of it changed."""
    return lambda told: {name: told[name] | changed}


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (lambda told: {"state": "open"}, "its state is 'open', and 0 consumers are open"),
        (inside("consumers", open=["a"]), "its state is 'closed', and 1 consumers are open"),
        (inside("consumers", open=None), "there is no open as it has to be"),
        (inside("consumers", acknowledged=[{}]), "one of acknowledged has other fields"),
        (inside("consumers", written_off=[{}]), "one of written_off has other fields"),
        (inside("consumers", acknowledged=None), "there is no acknowledged as it has to be"),
        (inside("consumers", written_off=None), "there is no written_off as it has to be"),
        (lambda told: {"consumers": []}, "its consumers is not an object"),
        (lambda told: {"state": None}, "there is no state as it has to be"),
        (lambda told: {"remains": {}}, "there is no remains as it has to be"),
        (lambda told: {"remains": [{"what": "x", "why": "y"}]}, "what remains has other fields"),
        (lambda told: {"cannot_prove": ["x", 5]}, "cannot_prove has something that is no sentence"),
        (lambda told: {"cannot_prove": None}, "there is no cannot_prove as it has to be"),
        (lambda told: {"issued_at": 5}, "there is no issued_at as it has to be"),
        (lambda told: {"backup_horizon": None}, "its backup_horizon is not an object"),
        (inside("backup_horizon", master_key="x"), "another master key than the request"),
        (inside("backup_horizon", in_force_since=None), "there is no in_force_since"),
        (inside("backup_horizon", rotated_since=None), "there is no rotated_since"),
        (inside("backup_horizon", rotated_since=True), "its backup_horizon contradicts itself"),
        (inside("backup_horizon", rotated_at="x"), "its backup_horizon contradicts itself"),
        (inside("backup_horizon", text=None), "there is no text as it has to be"),
        (
            lambda told: {"request": told["completion"], "completion": told["request"]},
            "the events are not in the order of an erasure",
        ),
        (
            lambda told: {"completion": told["request"]},
            "the events are not in the order of an erasure",
        ),
        (lambda told: {"request": None}, "the request is not an object"),
        (lambda told: {"completion": None}, "the completion is not an object"),
        *(
            ((lambda told, name=name: {name: ["x"]}), f"its {name} is not what the log recorded")
            for name in (
                "basis because bodies commitment completed_at counts erasure key_fingerprints of"
                " probes reach requested_at requested_by subject_ref views"
            ).split()
        ),
    ],
)
def test_what_its_operator_signs_has_to_be_what_the_log_recorded_and_well_formed(erased, how, why):
    assert why in verdict(erased.signed(erased.whole, **how(erased.whole)))


def test_a_rotation_since_is_told_with_its_time(erased):
    horizon = erased.whole["backup_horizon"] | {"rotated_since": True, "rotated_at": "x"}
    assert verdict(erased.signed(erased.whole, backup_horizon=horizon)) is True


def test_the_signature_of_the_whole_is_by_a_key_that_is_known(erased):
    told = erased.whole
    stranger = Signer.generate(told["origin"])
    made = told | {"signature": stranger.sign(signed_text(told))}
    assert verdict(made) == (
        f"the certificate is signed by {told['origin']}, whose key is not known"
    )
    assert verdict(made, stranger.verifier.vkey).endswith(
        "is not signed by a key that is trusted, but by"
        f" {told['origin']}+{told['verifier_keys'][0].split('+')[1]}"
    )
    elsewhere = Signer.generate("elsewhere.example")
    made = told | {"signature": elsewhere.sign(signed_text(told))}
    assert verdict(made, *told["verifier_keys"], elsewhere.verifier.vkey) == (
        "the certificate is signed by elsewhere.example, whose key is not known"
    )
    assert verdict(told | {"issued_at": "x"}) == (
        "the signature of the certificate is not good: something was changed"
    )
