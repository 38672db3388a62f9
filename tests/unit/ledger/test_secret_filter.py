"""No field of an event takes a secret into the log: found by looking at every field there is."""

from __future__ import annotations

import types
import typing
import uuid
from enum import Enum

import pytest
from pydantic import BaseModel

from beliefledger.ledger import canonical
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import SecretGiven
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.fields import A_NAME, CLEAN
from beliefledger.ledger.redact import SecretKind
from beliefledger.ledger.secret_filter import cleaned, refuse, secret_in_name, session_name

# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
SECRET = f"my token is {TOKEN}"

MADE = {  # facts that are strings and that no caller writes, and who does
    "an id of the ledger's": """move memory_id decision grant promotes supersedes to into moved_by
        moved_from originals beliefs settles memories closes entity_id absorbed_id like_id other_id
        shown candidate belief memory grants request because ranked erasure principal session_tag
        reconsiders agent subjects team turn decisions webhook of""",
    "a digest": """policy registry digest commitment key_fingerprint master_key query_digest
        token_digest positions inputs source salt conversation redactions digests
        fingerprint root""",
    "one of a list of ours": """role channel cause reason kind how outcome act reach job error
        skipped trace merger index withholding""",
    "the verifier key or its id": "previous key embedder",
    "ids, counts and codes of an answer, as JSON": "answer",
    "counted": "redacted counts views probes",
    "the type of a candidate, which is cleaned before the gate": "type",
}
KNOWN = {name for names in MADE.values() for name in names.split()}


def filled(kind, words):
    """A value of an annotation, with these words wherever there can be any."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return filled(parts[0], words)
    if origin in {typing.Union, types.UnionType}:
        return filled(next(each for each in parts if each is not type(None)), words)
    if origin is tuple:
        some = parts[:1] if parts[-1] is Ellipsis else parts
        return tuple(filled(each, words) for each in some)
    if origin is dict:
        return {filled(parts[0], "a word"): filled(parts[1], words)}
    if kind in {str, typing.Any}:
        return words
    if kind is bool:
        return False
    if kind is int:
        return 1
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    assert issubclass(kind, BaseModel), f"a field of {kind} is new here: say how it is filled"
    return kind(
        **{name: filled(field.annotation, words) for name, field in kind.model_fields.items()}
    )


def made(kind, names=frozenset(), words="a word"):
    """An event, with a secret in the fields of these names."""
    return kind(
        **{
            name: filled(field.annotation, SECRET if name in names else words)
            for name, field in kind.model_fields.items()
        }
    )


def body_of(event):
    return canonical.encode(New(event, "e", "s", None).event.split()[1]).decode()


FIELDS = [
    pytest.param(kind, name, id=f"{kind.NAME}-{name}")
    for kind in BY_NAME.values()
    for name in kind.model_fields
]


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_no_field_takes_a_secret_into_the_log(kind, field):
    """A field that is added and fails here is a `Name`, or its words are cleaned, or it is `MADE`
    by us alone."""
    event = made(kind, {field})
    if event == made(kind):
        return  # it holds no words
    marks = kind.model_fields[field].metadata
    if CLEAN in marks:
        assert (kind.NAME, field) == ("turn.recorded.v2", "content")  # see gate.intake
    elif field in kind.FACTS and A_NAME not in marks:
        assert field in KNOWN, "a fact outlives an erasure: who writes this one?"
    elif field in kind.FACTS or kind.CLEAR:
        with pytest.raises(SecretGiven) as refused:
            New(event, "e", "s", None)
        assert TOKEN not in str(refused.value)
    else:
        assert TOKEN in str(event)
        assert TOKEN not in body_of(event)
        assert "[redacted token]" in body_of(event)


@pytest.mark.parametrize("kind", BY_NAME.values(), ids=lambda kind: kind.NAME)
def test_an_event_without_secrets_stays_the_one_it_is(kind):
    event = made(kind)
    assert New(event, "e", "s", None).event is event


def test_a_secret_at_any_depth_is_taken_out_and_nothing_else():
    class Inner(BaseModel):
        words: str
        ids: tuple[str, ...]

    class Outer(BaseModel):
        inner: tuple[Inner, ...]
        more: dict[str, str]

    one = Outer(
        inner=(Inner(words=SECRET, ids=("a" * 32, "I ski")),), more={SECRET: "x", "y": SECRET}
    )
    gone = "my token is [redacted token]"
    assert cleaned(one) == Outer(
        inner=(Inner(words=gone, ids=("a" * 32, "I ski")),), more={gone: "x", "y": gone}
    )
    assert cleaned(cleaned(one)) == cleaned(one)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("password", "hunter2", "[redacted password]"),
        ("db_password", "s3cr3t!x", "[redacted password]"),
        ("PASSWD", "tr0ub4dor", "[redacted password]"),
        ("pin", "4471", "[redacted pin]"),
        ("user_pin", 4471, "[redacted pin]"),
        ("cvv", 123, "[redacted pin]"),
        ("api_key", "abcd1234abcd", "[redacted api_key]"),
        ("unlock pattern", "2580", "[redacted pin]"),
        ("card", 4111111111111111, "[redacted card_number]"),
        ("page", 4471, 4471),
        ("message", 4111111111111111, 4111111111111111),
        ("password_changed", True, True),
        ("pinned", "yes", "yes"),
        ("passenger", "Ana", "Ana"),
        ("key", "theme", "theme"),
        ("score", 0.25, 0.25),
        ("password", None, None),
    ],
)
def test_a_value_is_a_secret_for_the_name_that_it_stands_under(name, value, kept):
    class Said(BaseModel):
        beside: dict[str, typing.Any]

    for into in (lambda each: each, lambda each: {"of": [{"more": each}]}):
        once = cleaned(Said(beside=into({name: value})))
        assert once == Said(beside=into({name: kept})) == cleaned(once)


def test_words_of_two_fields_are_not_read_as_one():
    class Two(BaseModel):
        first: str
        second: str

    two = Two(first="my password is", second="hunter22")
    assert cleaned(two) is two


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (TOKEN, SecretKind.TOKEN),
        (f"deploy {TOKEN}", SecretKind.TOKEN),
        ("sk-" + "ant-api03-a1B2c3D4e5F6g7H8i9J0", SecretKind.API_KEY),
        ("4111 1111 1111 1111", SecretKind.CARD),
        ("4111-1111-1111-1111", SecretKind.CARD),
        ("GB82 WEST 1234 5698 7654 32", SecretKind.IBAN),
        ("password: hunter22", SecretKind.PASSWORD),
        ("gh\u200bp_" + "a1B2c3D4e5F6g7H8i9J0", SecretKind.TOKEN),
    ],
)
def test_a_name_with_a_secret_is_refused(name, kind):
    assert secret_in_name(name) is kind
    with pytest.raises(SecretGiven, match="looks like"):
        refuse(name, "by", numbers=False)


@pytest.mark.parametrize(
    "name",
    [
        *("ana", "ana@example.org", "Ben the reviewer", "+4915112345678", "+1 415 555 2671"),
        *("628318530717958647", "user:507f1f77bcf86cd799439011", "auth0|5f7c8ec7c33c6c004bbafe82"),
        *("arn:aws:iam::123456789012:user/ana", "0x52908400098527886E0F7030069857D2E4169EE7"),
        *(
            "session-2026-03-01T09:00:00Z",
            "org/4711/team/42",
            "Müller, Jürgen",
            "陈伟",
            "1700000000000",
        ),
        *("01ARZ3NDEKTSV4RRFFQ69G5FAV", "sub_1NXWPnLkdIwHu7ixQmWhBCHF", "U02A1B3C4D5"),
    ],
)
def test_an_ordinary_id_is_a_name(name):
    assert secret_in_name(name) is None


def test_no_uuid_and_no_digest_is_taken_for_a_secret():
    for number in range(3_000):
        each = uuid.uuid5(uuid.NAMESPACE_DNS, str(number))
        assert secret_in_name(str(each)) is None
        assert secret_in_name(f"user-{each.hex}") is None


def test_a_bare_number_of_a_card_s_length_names_a_subject_and_nobody_who_acts():
    refuse("4111111111111111", "subject", numbers=False)
    with pytest.raises(SecretGiven, match="by: this looks like a card number"):
        refuse("4111111111111111", "by")


def test_a_session_with_a_secret_in_its_name_stays_one_and_apart_from_others():
    key = b"k" * 32
    kept = session_name(key, f"with {TOKEN}")
    assert kept.startswith("with [redacted token] ~")
    assert session_name(key, f"with {TOKEN}") == kept == session_name(key, kept)
    assert session_name(key, f"with {TOKEN}9") != kept
    assert session_name(b"l" * 32, f"with {TOKEN}") != kept
    assert session_name(key, "s-42") == "s-42"
    assert session_name(key, None) is None
