"""What must never reach the log, and what must survive because it only looks like that."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn

from beliefledger.ledger.redact import Redacted, Redaction, SecretKind, redact

# Keys are put together here, so that no scanner takes this file for a leak.
FILL = "a1B2c3D4e5F6g7H8i9J0"
CARD = "4111111111111111"
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIabc\nDEF=\n"

SAID_SECRETS = [
    # the text, the secret in it, and what it is
    ("my password is hunter2", "hunter2", SecretKind.PASSWORD),
    ("My  password  is  hunter2.", "hunter2", SecretKind.PASSWORD),
    ("my password's hunter2!", "hunter2!", SecretKind.PASSWORD),
    ("my password is actually just swordfish, ok", "swordfish", SecretKind.PASSWORD),
    ("pwd: x", " x", SecretKind.PASSWORD),
    ("passwd=letmein99", "letmein99", SecretKind.PASSWORD),
    ("PASSWORD=foo", "foo", SecretKind.PASSWORD),
    ("DB_PASSWORD=foo", "foo", SecretKind.PASSWORD),
    ('dbPassword = "a b"', "a b", SecretKind.PASSWORD),
    ('{"password": "a b c", "user": "bob"}', "a b c", SecretKind.PASSWORD),
    ("**Password:** `hunter2`", "hunter2", SecretKind.PASSWORD),
    ("Server=a;Pwd=abc;Database=y", "abc", SecretKind.PASSWORD),
    ("username bob password hunter22", "hunter22", SecretKind.PASSWORD),
    ("login: bob/hunter2", "hunter2", SecretKind.PASSWORD),
    ("password: password=hunter2", "hunter2", SecretKind.PASSWORD),
    ("the passphrase is correct horse battery staple", "staple", SecretKind.PASSWORD),
    ("the passphrase is correct horse battery staple", "correct", SecretKind.PASSWORD),
    ("password for the wifi is Sunshine", "Sunshine", SecretKind.PASSWORD),
    ("the wifi password at home is still swordfish", "swordfish", SecretKind.PASSWORD),
    ("the password I use for gmail is kitty", "kitty", SecretKind.PASSWORD),
    ("I changed my password to swordfish", "swordfish", SecretKind.PASSWORD),
    ("I reset my netflix password to Blue42 yesterday", "Blue42", SecretKind.PASSWORD),
    ("I changed my password to correct horse battery yesterday", "correct", SecretKind.PASSWORD),
    ("I changed my password to correct horse battery yesterday", "battery", SecretKind.PASSWORD),
    ("I changed my password to Blue!Fox77 yesterday", "Fox77", SecretKind.PASSWORD),
    ("pw: S3cr3t!pass", "S3cr3t", SecretKind.PASSWORD),
    ("my pw is hunter2", "hunter2", SecretKind.PASSWORD),
    ("user bob and pass Tr0ub4dor&3", "Tr0ub4dor&3", SecretKind.PASSWORD),
    ("user: bob, pass: Tr0ub4dor&3", "Tr0ub4dor&3", SecretKind.PASSWORD),
    ("my passwort ist geheim77", "geheim77", SecretKind.PASSWORD),
    ("mein Passwort lautet geheim77", "geheim77", SecretKind.PASSWORD),
    ("my SSN is 078-05-1120", "078-05-1120", SecretKind.NATIONAL_ID),
    ("my social security number is 078 05 1120", "1120", SecretKind.NATIONAL_ID),
    ("the code to my safe is 55-12-34", "55-12-34", SecretKind.PIN),
    ("the combination for our bike lock: 4821", "4821", SecretKind.PIN),
    ("my passwords are hunter2 and hunter3", "hunter3", SecretKind.PASSWORD),
    ("mi contraseña es gato123", "gato123", SecretKind.PASSWORD),
    ("密码是abc12345", "abc12345", SecretKind.PASSWORD),
    ("seed phrase: apple banana cherry dog egg fish goat", "goat", SecretKind.PASSWORD),
    ("see https://bob:s3cr3t@host.example/x", "s3cr3t", SecretKind.PASSWORD),
    ("postgres://u:pw@db:5432/x", ":pw@", SecretKind.PASSWORD),
    ("my password is " + "x9" * 400 + " ok", "x9", SecretKind.PASSWORD),
    ("my PIN is 4821", "4821", SecretKind.PIN),
    ("my pin is 4 8 2 1", "2 1", SecretKind.PIN),
    ("the pin is four eight two one", "eight", SecretKind.PIN),
    ("the door code is 4821#", "4821", SecretKind.PIN),
    ("cvv 123", "123", SecretKind.PIN),
    ("Your verification code is: 123456", "123456", SecretKind.PIN),
    ("the api key is abcd1234efgh", "abcd1234efgh", SecretKind.API_KEY),
    ("API_KEY: 'aZ9kLmPqRs'", "aZ9kLmPqRs", SecretKind.API_KEY),
    ("SECRET_KEY=dev", "dev", SecretKind.API_KEY),
    ("export AWS_SECRET_ACCESS_KEY=ab+/cd", "ab+/cd", SecretKind.API_KEY),
    ("token: 9f8e7d6c5b4a", "9f8e7d6c5b4a", SecretKind.TOKEN),
    ("Authorization: Bearer abcdef123456", "abcdef123456", SecretKind.TOKEN),
    ("Authorization: Basic Ym9iOmh1bnRlcg==", "Ym9i", SecretKind.TOKEN),
    ("SSN 536-22-1234", "536", SecretKind.NATIONAL_ID),
    ("536221234 is my social security number", "1234", SecretKind.NATIONAL_ID),
    ("CPF 390.533.447-05", "447", SecretKind.NATIONAL_ID),
    ("IBAN gb82 west 1234 5698 7654 32 please", "5698", SecretKind.IBAN),
    ("pay NL91ABNA0417164300.", "0417", SecretKind.IBAN),
]

SHAPED_SECRETS = [
    (SecretKind.API_KEY, "sk-" + FILL),
    (SecretKind.API_KEY, "sk-" + "ant-api03-" + FILL),
    (SecretKind.API_KEY, "sk_" + "live_" + FILL),
    (SecretKind.API_KEY, "rk_" + "live_" + FILL),
    (SecretKind.API_KEY, "AK" + "IAIOSFODNN7EXAMPLE"),
    (SecretKind.API_KEY, "AI" + "za" + FILL + FILL),
    (SecretKind.API_KEY, "S" + "G." + FILL + "." + FILL),
    (SecretKind.TOKEN, "gh" + "p_" + FILL),
    (SecretKind.TOKEN, "github" + "_pat_" + FILL),
    (SecretKind.TOKEN, "gl" + "pat-" + FILL),
    (SecretKind.TOKEN, "xo" + "xb-" + FILL),
    (SecretKind.TOKEN, "xo" + "xp-" + FILL),
    (SecretKind.TOKEN, "h" + "f_" + FILL),
    (SecretKind.TOKEN, "np" + "m_" + FILL),
    (SecretKind.TOKEN, "ya" + "29." + FILL),
    (SecretKind.TOKEN, "ey" + "J" + FILL + ".ey" + "J" + FILL + "." + FILL),
    (SecretKind.TOKEN, "hooks.slack.com" + "/services/T0/B0/" + FILL),
    (SecretKind.PRIVATE_KEY, PEM.format("") + "-----END PRIVATE KEY-----"),
    (SecretKind.PRIVATE_KEY, PEM.format("OPENSSH ") + "-----END OPENSSH PRIVATE KEY-----"),
    (SecretKind.PRIVATE_KEY, PEM.format("RSA ")),  # unfinished
]

CARDS = [
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "4111.1111.1111.1111",
    "4111 - 1111 1111 1111",
    "4222222222222",
    "3782 822463 10005",
    "5555 5555 5555 4444",
    "2223 0031 2200 3222",
    "6011 1111 1111 1117",
    "3056 930902 5904",
    "3530 1113 3330 0000",
    "6200 0000 0000 0005",
    "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "card 41 11 11 11 11 11 11 11",
    "４１１１ １１１１ １１１１ １１１１",
    "4111\u00a01111\u202f1111\u20071111",
    "4111\u200b1111\u200d1111\u20101111",
    "٤١١١ ١١١١ ١١١١ ١١١١",
    "④①①① ①①①① ①①①① ①①①①",
    "4\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e31 1111 1111 1111",
]

INNOCENT = [
    "I forgot my password",
    "password reset",
    "a password manager is a good idea",
    "my password is too weak",
    "my password is expired",
    "my password is the same",
    "my password is the same as before",
    "my password is wrong again",
    "Strong password: Use a mix of letters",
    "1Password is great",
    "I changed my password to something stronger",
    "I changed my password to something stronger yesterday",
    "I have a boarding pass B12345",
    "user bob and pass him the ball",
    "order 123-45-6789 shipped",
    "error code 55-12-34",
    "the code to fix is 404",
    "Reset your password to regain access to your account",
    "The password must be at least 12 characters",
    "the password is 12 characters long",
    "passwords are hard to remember",
    "What is my password?",
    'password=os.environ["PASSWORD"]',
    "password = getpass.getpass()",
    "password: <your password>",
    "password: ********",
    "password=${DB_PASSWORD}",
    "passport number",
    "I need a new PIN for my card",
    "the PIN is 4 digits",
    "pin 12 photos to the board",
    "the key is to find a balance",
    "a small token of appreciation",
    "tokens = [token for token in tokens]",
    "MAX_TOKENS=1000",
    "the secret is a 30-minute rest",
    "secret: 350°F",
    "a bearer of good news",
    "my SSN is private",
    "ticket 536-22-1234",
    "order 4111111111111112 shipped",
    "order 1234567812345670 shipped",
    "call +1 415 555 2671 or 020 7946 0958",
    "it happened at 1700000000000 and at 1700000000000000",
    "scores 45 32 67 81 92 34 56 71 55 10",
    "pi is 3.14159265358979, e is 2.718281828459045",
    "serial 41111111111111111111111111111111",
    "GB82 WEST 1234 5698 7654 33",
    "https://example.com:8080/path",
    "'client_secret' => APPLE_CLIENT_SECRET,",
    "Hand over each password to\nthe new admin\n5. **Say goodbye**: Hold a farewell lunch",
    "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
    "“Quoted” – and déjà vu… 日本語",
    "",
]


@pytest.mark.parametrize(("text", "secret", "kind"), SAID_SECRETS)
def test_a_secret_that_is_announced_is_removed(text: str, secret: str, kind: SecretKind) -> None:
    assert secret in text
    redacted = redact(text)
    assert secret not in redacted.text.replace(f" [redacted {kind}]", "")
    assert kind in {r.kind for r in redacted.redactions}
    assert redact(redacted.text) == redacted


@pytest.mark.parametrize(("kind", "secret"), SHAPED_SECRETS)
def test_a_key_is_known_by_its_shape(kind: SecretKind, secret: str) -> None:
    assert redact(f"here: {secret}").text == f"here: [redacted {kind}]"


@pytest.mark.parametrize("card", CARDS)
def test_a_card_is_found_however_it_is_written(card: str) -> None:
    redacted = redact(f"pay with {card}, please")
    assert [r.kind for r in redacted.redactions] == [SecretKind.CARD]
    assert not any(c.isdigit() for c in redacted.text)


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_survives(text: str) -> None:
    assert redact(text) == Redacted(text, ())


def test_only_the_secret_is_lost() -> None:
    text = "my card 4111 1111 1111 1111 exp 12/25, and my password is hunter2. Bye"
    wanted = "my card [redacted card_number] exp 12/25, and my password is [redacted password]. Bye"
    assert redact(text).text == wanted


def test_redactions_are_offsets_in_the_redacted_text() -> None:
    redacted = redact(f"PIN: 4821 and {CARD}")
    assert redacted.redactions == (
        Redaction(SecretKind.PIN, 5, 19),
        Redaction(SecretKind.CARD, 24, 46),
    )
    assert redacted.text[5:19] == "[redacted pin]"


def test_an_unfinished_private_key_is_redacted_to_the_end() -> None:
    text = "key:\n" + PEM.format("EC ") + "more\nand more"
    assert redact(text).text == "key:\n[redacted private_key]"


def test_a_placeholder_is_no_label() -> None:
    text = "[redacted password] is what it says, [redacted pin] 1234"
    assert redact(text).text == text


BITS = ["password", " is ", ": ", "=", "[redacted password]", "[redacted ", "]", '"', "://", "@"]
FRAGMENTS = st.sampled_from(
    [
        *(text for text, _, _ in SAID_SECRETS),
        *(text for _, text in SHAPED_SECRETS),
        *INNOCENT,
        *CARDS,
        *BITS,
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(FRAGMENTS, st.text(max_size=5))).map("".join))


@given(TEXTS)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == once
    for redaction in once.redactions:
        assert once.text[redaction.start : redaction.end] == f"[redacted {redaction.kind}]"
    assert all(a.end <= b.start for a, b in pairwise(once.redactions))


@st.composite
def cards(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a valid number of a known issuer, and a way to write it."""
    issuers = [("4", 16), ("4", 13), ("4", 19), ("53", 16), ("37", 15), ("6011", 16)]
    prefix, length = draw(st.sampled_from(issuers))
    size = length - len(prefix) - 1
    body = prefix + draw(st.text("0123456789", min_size=size, max_size=size))
    number = body + luhn.calc_check_digit(body)
    gap = draw(st.sampled_from(["", " ", "-", ".", "\u00a0", " - "]))
    cuts = (4, 10) if length == 15 else tuple(range(4, length, 4))
    written = gap.join(number[a:b] for a, b in pairwise((0, *cuts, length)))
    zero = ord(draw(st.sampled_from("0٠０𝟎")))
    return number, "".join(chr(zero + int(c)) if c.isdecimal() else c for c in written)


# A digit that touches the card would make another number of it.
AROUND = st.text().filter(lambda s: not any(c.isnumeric() for c in s))


@given(AROUND, cards(), AROUND)
def test_a_valid_card_never_survives(before: str, card: tuple[str, str], after: str) -> None:
    _, written = card
    redacted = redact(before + written + after)
    assert not any(c.isdecimal() for c in redacted.text)


@given(st.integers(min_value=10**12, max_value=10**19 - 1))
def test_a_number_is_taken_only_if_it_passes_the_check(number: int) -> None:
    text = f"order {number}"
    assert redact(text).text == text or luhn.is_valid(str(number))


@pytest.mark.parametrize(
    "unit",
    [
        *("1", "4", "4111 ", "4 ", "４", "GB82", "-----", "-----BEGIN PRIVATE KEY", "eyJaaaaaa."),
        *("password ", "password for ", "password is ", "password=", "password: ", "key="),
        *("password is weak ", "changed password to ", "pin is ", "://a:", 'secret="'),
        *("my password is hunter2. ", "password's ", "ssn 123-45-678 "),
    ],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    began = time.process_time()
    redact(text)
    # Linear work takes well under a second; the bound is wide for slow and busy machines.
    assert time.process_time() - began < 4
