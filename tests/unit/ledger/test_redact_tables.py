"""Each row of the tables that redaction stands on: issuers, identity numbers, shapes, labels, and
what only looks like a secret."""

from __future__ import annotations

import re

import pytest
from stdnum import luhn

from beliefledger.ledger.redact import SecretKind, redact
from beliefledger.ledger.secret_patterns import NATIONAL_HINTS, NATIONAL_IDS


def exactly(text: str) -> tuple[str, list[SecretKind]]:
    """The text as it is redacted, with short placeholders, and the kinds."""
    found = redact(text)
    said = found.text
    for kind in SecretKind:
        said = said.replace(f"[redacted {kind}]", "#")
    return said, [each.kind for each in found.redactions]


# Cards: the first four digits at both ends of what an issuer has, and the lengths it prints.
ISSUED = {
    "4000 4999": {13, 16, 19},
    "5100 5599 2221 2720 8100 8299 6000 6099 5080 5099 5019 9792": {16},
    "3400 3499 3700 3799": {15},
    "3000 3059 3095 3600 3699 3800 3999": {14, 16},
    "3528 3589 6011 6440 6599 6200 6299 2200 2204": {16, 17, 18, 19},
    "5018 5020 5038 5600 5899 6304 6700 6799": {13, 14, 15, 16, 17, 18, 19},
    "5060 5067": {16, 18, 19},
    "1000 2199 2205 2220 2721 2999 3060 3094 3096 3399 3500 3527 3590 5017 5039 5059 5068 5079 5900"
    " 6303 6305 6439 6600 6800 7000 8099 8300 9791 9793": set(),
}


@pytest.mark.parametrize(
    ("prefix", "lengths"),
    [(prefix, lengths) for listed, lengths in ISSUED.items() for prefix in listed.split()],
)
def test_a_number_is_a_card_at_the_lengths_of_its_issuer(prefix: str, lengths: set[int]) -> None:
    found = set()
    for length in range(12, 21):
        body = (prefix + "83719264583719264")[: length - 1]
        number = body + luhn.calc_check_digit(body)
        said, kinds = exactly(f"it is {number} here")
        if kinds:
            assert (said, kinds) == ("it is # here", [SecretKind.CARD])
            found.add(length)
        else:
            assert number in said
    assert found == lengths


@pytest.mark.parametrize(
    "word", ["card", "Visa", "AMEX", "Mastercard", "credit", "debit", "cvv", "tarjeta", "Karte"]
)
def test_a_number_in_pairs_is_a_card_where_the_text_speaks_of_one(word: str) -> None:
    pairs = "41 11 11 11 11 11 11 11"
    assert exactly(f"my {word}: {pairs}!")[0] == f"my {word}: #!"
    assert redact(f"my scores: {pairs}!").text == f"my scores: {pairs}!"


def test_a_number_in_pairs_is_a_card_up_to_nineteen_digits() -> None:
    for length in (16, 17, 18, 19, 20):
        body = "6237192645837192648"[: length - 1]
        number = body + luhn.calc_check_digit(body)
        pairs = " ".join(number[at : at + 2] for at in range(0, length, 2))
        said = exactly(f"my card: {pairs}!")[0]
        assert (said == "my card: #!") is (length < 20), length


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("411 111 111 111 111 1", "#"),
        ("12 4111 1111 1111 1111 12", "12 # 12"),
        ("4111 1111 1111 1111 2222 2222", "# 2222 2222"),
        ("it is 4111111111111111 4222222222222 now", "it is # # now"),
        ("worth 3.4111111111111111 each", "worth 3.4111111111111111 each"),
        ("worth 1.4222222222222 each", "worth 1.4222222222222 each"),
        ("no. 4111.1111.1111.1111", "no. #"),
        ("41 11 1111 1111 1111 11", "41 11 1111 1111 1111 11"),
        ("4111    1111 1111 1111", "4111    1111 1111 1111"),
        ("4111   1111_1111\t1111", "#"),
    ],
)
def test_only_the_digits_of_the_card_are_lost(text: str, wanted: str) -> None:
    assert exactly(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("NO9386011117947", "#"),
        ("no 93 8601 1117 947", "no 93 8601 1117 947"),
        ("no93 8601 1117 947 thanks", "# thanks"),
        ("MT84MALT011000012345MTLCAST001S", "#"),
        ("DE89 3704 0044 0532 0130 00 and 12 more", "# and 12 more"),
        ("DE89-3704-0044-0532-0130-00.", "#."),
        ("XDE89370400440532013000", "XDE89370400440532013000"),
        ("DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
        ("DE89 3704 0044 0532 0130", "DE89 3704 0044 0532 0130"),
        ("XX89 3704 0044 0532 0130 00", "XX89 3704 0044 0532 0130 00"),
        ("from DE89370400440532013000 to GB82WEST12345698765432", "from # to #"),
    ],
)
def test_an_account_ends_where_its_country_says(text: str, wanted: str) -> None:
    said, kinds = exactly(text)
    assert said == wanted
    assert set(kinds) <= {SecretKind.IBAN}


NATIONAL = [
    ("SSN", "536-22-1234", None),
    ("social security", "536221234", None),
    ("SIN", "123 456 782", "123 456 783"),
    ("social insurance", "123456782", "123456780"),
    ("CPF", "390.533.447-05", "390.533.447-06"),
    ("cpf", "39053344705", "39053344706"),
    ("DNI", "54362315K", "54362315L"),
    ("NIF", "54362315-K", "54362315-A"),
    ("NIR", "295109912611193", "295109912611194"),
    ("sécurité sociale", "295109912611193", "295109912611190"),
    ("securite sociale", "295109912611193", "295109912611190"),
    ("Aadhaar", "2341 2341 2346", "2341 2341 2347"),
    ("aadhar", "234123412346", "234123412347"),
    ("codice fiscale", "RCCMNL83S18D969H", "RCCMNL83S18D969I"),
    ("BSN", "111222333", "111222334"),
    ("burgerservicenummer", "111222333", "111222334"),
    ("PESEL", "44051401359", "44051401358"),
    ("Steuer-ID", "36574261809", "36574261890"),
    ("Steueridentifikation", "36 574 261 809", None),
    ("IdNr", "36574261809", "36574261890"),
]


@pytest.mark.parametrize(("word", "number", "wrong"), NATIONAL)
def test_an_identity_number_is_taken_near_its_word_alone(
    word: str, number: str, wrong: str | None
) -> None:
    for text in (f"my {word} is {number}, keep it", f"{number} is my {word}"):
        said, kinds = exactly(text)
        assert said == text.replace(number, "#")
        assert kinds == [SecretKind.NATIONAL_ID]
    others = [
        f"my order is {number}, keep it",
        f"my x{word}x is {number}, keep it",
        f"my {word} is {number}7, keep it",
        f"my {word} is B{number}, keep it",
    ]
    if wrong is not None:
        others.append(f"my {word} is {wrong}, keep it")
    for text in others:
        assert SecretKind.NATIONAL_ID not in exactly(text)[1], text


def test_near_is_sixty_characters_before_and_after() -> None:
    for gap, found in ((57, True), (58, False)):
        before = "ssn" + " " * gap + "536-22-1234"
        after = "536-22-1234" + " " * gap + "ssn"
        for text in (before, after):
            assert (exactly(text)[1] == [SecretKind.NATIONAL_ID]) is found, gap


# Keys by their shape: the shortest that counts, and one character less.

A = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
SHAPES = [
    (SecretKind.API_KEY, "sk" + "-" + A[:16], 1),
    (SecretKind.API_KEY, "sk_" + "live_" + A[:8], 1),
    (SecretKind.API_KEY, "sk_" + "test_" + A[:8], 1),
    (SecretKind.API_KEY, "rk_" + "test_" + A[:8], 1),
    (SecretKind.API_KEY, "pk_" + "live_" + A[:8], 1),
    (SecretKind.API_KEY, "wh" + "sec_" + A[:8], 1),
    (SecretKind.API_KEY, "AK" + "IAIOSFODNN7EXA", 1),
    (SecretKind.API_KEY, "AS" + "IAIOSFODNN7EXAMPLE", 1),
    (SecretKind.API_KEY, "AI" + "za" + A[:20], 1),
    (SecretKind.API_KEY, "GOC" + "SPX-" + A[:10], 1),
    (SecretKind.API_KEY, "S" + "G." + A[:10] + "." + A[:10], 1),
    (SecretKind.API_KEY, "key" + "-" + "0123456789abcdef" * 2, 1),
    (SecretKind.API_KEY, "gs" + "k_" + A[:20], 1),
    (SecretKind.API_KEY, "xa" + "i-" + A[:20], 1),
    *((SecretKind.TOKEN, f"gh{each}_" + A[:16], 1) for each in "pousr"),
    (SecretKind.TOKEN, "github" + "_pat_" + A[:16], 1),
    (SecretKind.TOKEN, "glp" + "at-" + A[:10], 1),
    (SecretKind.TOKEN, "xox" + "b-" + A[:10], 1),
    (SecretKind.TOKEN, "xap" + "p-" + A[:10], 1),
    (SecretKind.TOKEN, "hooks.slack.com" + "/" + A[:8], 1),
    (SecretKind.TOKEN, "/api/webhooks/" + "1/" + A[:8], 1),
    (SecretKind.TOKEN, "h" + "f_" + A[:16], 1),
    (SecretKind.TOKEN, "np" + "m_" + A[:20], 1),
    (SecretKind.TOKEN, "py" + "pi-" + A[:20], 1),
    (SecretKind.TOKEN, "dop" + "_v1_" + A[:16], 1),
    (SecretKind.TOKEN, "ya" + "29." + A[:8], 1),
    (SecretKind.TOKEN, "ey" + "J" + A[:6] + "." + A[:6], 1),
    (SecretKind.TOKEN, "12345678:" + "AA" + A[:30], 1),
    (SecretKind.TOKEN, "1234567890:" + "AA" + A[:30], 1),
    (SecretKind.PRIVATE_KEY, "AGE-SECRET-KEY" + "-1" + A[:10], 1),
    (SecretKind.PRIVATE_KEY, "Private-Lines" + ": 8\nAAA", 9),
    (SecretKind.PRIVATE_KEY, "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAA", 25),
    (SecretKind.PRIVATE_KEY, "-----BEGIN PGP PRIVATE KEY BLOCK-----\nA", 25),
]


@pytest.mark.parametrize(("kind", "secret", "less"), SHAPES)
def test_a_key_is_known_by_its_shape_and_length(kind: SecretKind, secret: str, less: int) -> None:
    assert exactly(f"here: {secret}") == ("here: #", [kind])
    assert redact(f"here: {secret[:-less]}").text == f"here: {secret[:-less]}"


def test_after_the_end_of_a_private_key_the_text_goes_on() -> None:
    for block in ("", " BLOCK"):
        key = f"-----BEGIN PGP PRIVATE KEY{block}-----\nA\n-----END PGP PRIVATE KEY{block}-----"
        assert exactly(f"{key}\nthanks") == ("#\nthanks", [SecretKind.PRIVATE_KEY])


# What is announced: exactly this is lost.

PASSWORD, PIN, TOKEN = SecretKind.PASSWORD, SecretKind.PIN, SecretKind.TOKEN
ANNOUNCED = [
    (PASSWORD, "my pass word is hunter2, ok", "my pass word is #, ok"),
    (PASSWORD, "the pass-phrase: hunter2", "the pass-phrase: #"),
    (PASSWORD, "the pass_code: hunter2", "the pass_code: #"),
    (PASSWORD, "passcode = hunter2", "passcode = #"),
    (PASSWORD, "passwd := hunter2", "passwd := #"),
    (PASSWORD, "pwd => hunter2", "pwd => #"),
    (PASSWORD, "pwd -> hunter2", "pwd -> #"),
    (PASSWORD, "dbPassword == hunter2", "dbPassword == #"),
    (PASSWORD, "passwords were hunter2 then", "passwords were # then"),
    (PASSWORD, "password will be hunter2 then", "password will be # then"),
    (PASSWORD, "password should be hunter2 then", "password should be # then"),
    (PASSWORD, "password has been hunter2 then", "password has been # then"),
    (PASSWORD, "password equals hunter2 then", "password equals # then"),
    (PASSWORD, "password became hunter2 then", "password became # then"),
    (PASSWORD, "password is now set to swordfish", "password is now set to #"),
    (PASSWORD, "password is the word swordfish", "password is the word #"),
    (PASSWORD, "my password (for the wifi) is swordfish", "my password (for the wifi) is #"),
    (PASSWORD, "the password that we all use is swordfish", "the password that we all use is #"),
    (PASSWORD, "my password is 'a b c' now", "my password is # now"),
    (PASSWORD, "my password is `a b c` now", "my password is # now"),
    (PASSWORD, "my password is <a b> now", None),
    (PASSWORD, "my password is sword-fish", "my password is #"),
    (PASSWORD, "my password is o'hara", "my password is #"),
    (PASSWORD, "my password is swordfish. Bye now", "my password is #. Bye now"),
    (PASSWORD, "my password is swordfish, blue moon", "my password is #, blue moon"),
    (PASSWORD, "my password is swordfish; blue moon", "my password is #; blue moon"),
    (PASSWORD, "my password is swordfish: blue moon", "my password is #: blue moon"),
    (PASSWORD, "my password is (swordfish)", "my password is #)"),
    (PASSWORD, "my password is swordfish blue and then", "my password is # and then"),
    (PASSWORD, "my password is swordfish k9 then", "my password is # k9 then"),
    (PASSWORD, "my password is correct horse battery staple", "my password is #"),
    (PASSWORD, "my password is correct horse battery stap1e", None),
    (PASSWORD, "my password is 1234 characters", None),
    (PASSWORD, "my password is 12+ digits", None),
    (PASSWORD, "my password is 1234 folks", "my password is # folks"),
    (PASSWORD, "my password is ****", None),
    (PASSWORD, "my password is 'none'", None),
    (PASSWORD, "my password is '****'", None),
    (PASSWORD, "password='' now", None),
    (PASSWORD, "password=hunter2.", "password=#."),
    (PASSWORD, "password=YOUR_PASSWORD", None),
    (PASSWORD, "password=xxx", None),
    (PASSWORD, "password=XXXX", None),
    (PASSWORD, "password=None", None),
    (PASSWORD, "password=$SECRET", None),
    (PASSWORD, "password=$(pass)", None),
    (PASSWORD, "password={{ vault }}", None),
    (PASSWORD, "password=config.password", None),
    (PASSWORD, "password=request.form['x']", None),
    (PASSWORD, "password=readPassword()", None),
    (PASSWORD, "password=100%", None),
    (PASSWORD, "the password hunter2 works", "the password # works"),
    (PASSWORD, "the password hunt2 works", "the password # works"),
    (PASSWORD, "the password hun2 works", None),
    (PASSWORD, "the password 12345 works", "the password # works"),
    (PASSWORD, "the password 1234 works", None),
    (PASSWORD, "the password 'blue moon7' works", "the password # works"),
    (PASSWORD, "the password https://a.example/1 works", None),
    (PASSWORD, "password 100GB free", None),
    (PASSWORD, "password 10-20-30cm long", None),
    (PASSWORD, "pw for the wifi: S3cret", "pw for the wifi: #"),
    (PASSWORD, "pw: secret", None),
    (PASSWORD, "pass: s3cret", "pass: #"),
    (PASSWORD, "pass= s3cret", "pass= #"),
    (PASSWORD, "login bob, pass s3cret", "login bob, pass #"),
    (PASSWORD, "e-mail bob@example.com pass s3cret", "e-mail bob@example.com pass #"),
    (PASSWORD, "admin x password is s3cret", "admin x password is #"),
    (PASSWORD, "my passwords are s3cret, m00nlight", "my passwords are #, #"),
    (PASSWORD, "my passwords are s3cret, and m00nlight", "my passwords are #, and #"),
    (PASSWORD, "my passwords are s3cret or m00nlight", "my passwords are # or #"),
    (PASSWORD, "I made my password to swordfish", "I made my password to #"),
    (PASSWORD, "I set the password as swordfish", "I set the password as #"),
    (PASSWORD, "I switched my password back to swordfish", "I switched my password back to #"),
    (PASSWORD, "updating your wifi password to swordfish", "updating your wifi password to #"),
    (PASSWORD, "change the password to regain entry", None),
    (PASSWORD, "change the password to stop others", None),
    (PASSWORD, "change the password to stop", "change the password to #"),
    (PASSWORD, "change the password to blue stop", "change the password to #"),
    (PASSWORD, "change the password to secure blue moon", None),
    (PASSWORD, "change the password to test blue moon light", "change the password to #"),
    (PASSWORD, "I changed my password to good horse today", "I changed my password to # today"),
    (PASSWORD, "I changed my password to new today", None),
    (PASSWORD, "I changed my password to red fox tonight", "I changed my password to # tonight"),
    (PASSWORD, "I changed my password to dark fox recently", "I changed my password to # recently"),
    (PASSWORD, "I changed my password to good the horse tonight", None),
    (PASSWORD, "recovery phrase: abandon ability", "recovery phrase: #"),
    (PASSWORD, "backup-phrase = abandon ability", "backup-phrase = #"),
    (PASSWORD, "my mnemonic is abandon ability", "my mnemonic is #"),
    (PASSWORD, "my clave es gato123", "my clave es #"),
    (PASSWORD, "le mot de passe est chat123", "le mot de passe est #"),
    (PASSWORD, "das Kennwort lautet hund123", "das Kennwort lautet #"),
    (PASSWORD, "a senha é gato123", "a senha é #"),
    (PASSWORD, "het wachtwoord hond123", "het wachtwoord #"),
    (PASSWORD, "мой пароль: kot12345", "мой пароль: #"),
    (PASSWORD, "密碼 abc12345", "密碼 #"),
    (PASSWORD, "パスワードはabc12345", "パスワードは#"),
    (PASSWORD, "credentials: bob:hunter2", "credentials: #"),
    (PASSWORD, "creds are bob/hunter2", "creds are #"),
    (PASSWORD, "login details: bob:hunter2", "login details: #"),
    (PASSWORD, "login info: bob", None),
    (PASSWORD, "login: bob:hunter", None),
    (PASSWORD, "login: https://a.example/x1234", None),
    (PASSWORD, "login: :hunter2", None),
    (PASSWORD, "see ftp://bob:a/b@host", None),
    (PASSWORD, "see ftp://:hunter2@host now", "see ftp://:#@host now"),
    (PIN, "pin code: 4821", "pin code: #"),
    (PIN, "the pin number is 48 21", "the pin number is #"),
    (PIN, "pin no. 4821", "pin no. #"),
    (PIN, "pin 482", "pin #"),
    (PIN, "pin 48", None),
    (PIN, "pin 482%", None),
    (PIN, "cvv2: 123", "cvv2: #"),
    (PIN, "cvc 123", "cvc #"),
    (PIN, "otp 123456", "otp #"),
    (PIN, "my pin is a4821", "my pin is #"),
    (PIN, "my pin is oh-one, two", "my pin is #"),
    (PIN, "my pin is six nine", None),
    (PIN, "the code for the front door is 4821", "the code for the front door is #"),
    (PIN, "the combo of his old bike: 12-34-56", "the combo of his old bike: #"),
    (PIN, "my phone's unlock pattern is 2580", "my phone's unlock pattern is #"),
    (PIN, "swipe pattern: 1-5-9-6-3", "swipe pattern: #"),
    (PIN, "lock screen pattern 14789", "lock screen pattern #"),
    (PIN, "phone passcode 2580", "phone passcode #"),
    (PIN, "screen lock 2580", "screen lock #"),
    (PIN, "SIM PUK 12345678", "SIM PUK #"),
    (PIN, "the safe's combination is 12-34-56", "the safe's combination is #"),
    (PIN, "padlock combo: 7-22-15", "padlock combo: #"),
    (PIN, "the screen lock comes after 300 seconds", None),
    (PIN, "a screen lock of 5 minutes", None),
    (PIN, "knitting pattern 2580", None),
    (PIN, "my bike combo has 4 digits", None),
    (PIN, "I forgot my passcode 3 times", None),
    (PIN, "the unlock pattern is L-shaped", None),
    (PASSWORD, "the wifi key is sunflower-blue", "the wifi key is #"),
    (PASSWORD, "WPA2 key: hunter2hunter2", "WPA2 key: #"),
    (PASSWORD, "network security key = hunter2!", "network security key = #"),
    (PASSWORD, "the wifi code is in the drawer", None),
    (PASSWORD, "the network key is fine", None),
    *((PIN, f"the {each} code is *4821#", f"the {each} code is #") for each in (
        "security access door gate alarm entry unlock lock safe verification one-time 2fa garage"
        " keypad login authentication".split()
    )),
    *((PIN, f"the combination to our {each} is 4821", f"the combination to our {each} is #")
      for each in (
        "safe door gate alarm locker vault lock padlock house garage apartment flat building"
        " office phone suitcase keypad entrance lockbox shed car bike laptop tablet".split()
    )),
    *((TOKEN, f"the {each}token is abcd1234", f"the {each}token is #") for each in (
        "", "api ", "access_", "auth-", "session ", "refresh ", "bearer ", "bot ", "id ",
        "security ",
    )),
    (TOKEN, "token: abcd123", None),
    (TOKEN, "token: abcdefgh", None),
    (TOKEN, "token: 1234567", None),
    (TOKEN, "token: 12345678", "token: #"),
    (TOKEN, "token: abcdefgHijklmnop", "token: #"),
    (TOKEN, "token: Abcdefghijklmnop", None),
    (TOKEN, "token: abcdefghijklmnop", None),
    (TOKEN, "token: ABCDEFGHIJKLMNOP", None),
    (TOKEN, "token: abcdefgHijklmno", None),
    (TOKEN, "token: http://a.example/12", None),
    (TOKEN, "token: len(abc12345)", None),
    (TOKEN, "token: 1/2-cup-measure", None),
    (TOKEN, "use bearer abcd1234 now", "use bearer # now"),
    (TOKEN, "authorization: token abc", "authorization: token #"),
    (TOKEN, "'Authorization': 'Basic abc", "'Authorization': 'Basic #"),
    (SecretKind.PRIVATE_KEY, "private_key: 0xabcd1234", "private_key: #"),
    (SecretKind.PRIVATE_KEY, "my private key is abcd1234", "my private key is #"),
    *((SecretKind.API_KEY, f"the {each} is abcd1234", f"the {each} is #") for each in (
        "api key", "access_key", "secret-key", "authkey", "client secret", "encryption key",
        "signing key", "service key", "account key", "license key", "webhook secret",
        "master key", "deploy key", "shared access key", "app secret", "apikey", "secret",
    )),
    (SecretKind.API_KEY, "MY_SECRET=a", "MY_SECRET=#"),
    (SecretKind.API_KEY, "MY_TOKEN_V2=a", "MY_TOKEN_V2=#"),
    (SecretKind.API_KEY, "MYSQL_PASS=a", "MYSQL_PASS=#"),
    (SecretKind.API_KEY, "SIGNING_KEY=a", "SIGNING_KEY=#"),
    (SecretKind.API_KEY, "PRIVATEKEY=a", "PRIVATEKEY=#"),
    *((SecretKind.IBAN, text, wanted) for text, wanted in (
        ("My bank account is 12345678, sort code 12-34-56", "My bank account is #, sort code #"),
        ("sort code: 123456 account number: 12345678", "sort code: # account number: #"),
        ("account no 00998877 and sort code is 20 00 00", "account no # and sort code is #"),
        ("routing number 021000021, account 123456789", "routing number #, account #"),
        ("my savings account number 1234 5678", "my savings account number #"),
        ("my gas account number is 850012345", None),
        ("my bank account is 3 years old", None),
        ("my savings account is 12000 euros", None),
        ("the sort code was wrong", None),
    )),
    (SecretKind.PIN, "the safe opens with 4-8-15-16", "the safe opens with #"),
    (SecretKind.PIN, "the gate opens with the code 4471", "the gate opens with the code #"),
    (SecretKind.NATIONAL_ID, "My passport number is X1234567.", "My passport number is #."),
    (SecretKind.NATIONAL_ID, "my driving licence no: SMITH 910120 A99", "my driving licence no: #"),
    (SecretKind.PIN, "the office opens at 8", None),
    (SecretKind.PIN, "the shop opens with 300 staff", None),
    (SecretKind.PIN, "my passport expires in 2027", None),
    (SecretKind.PIN, "my passport number is on page 2", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "wanted"), ANNOUNCED)
def test_of_what_is_announced_the_secret_alone_is_lost(
    kind: SecretKind, text: str, wanted: str | None
) -> None:
    said, kinds = exactly(text)
    assert said == (text if wanted is None else wanted)
    assert set(kinds) == (set() if wanted is None else {kind})


# Secrets as tables, tags, programs' arguments and turned sentences hold them


@pytest.mark.parametrize(
    "text",
    [
        "-----begin rsa private key-----\nMIIEabc\n-----end rsa private key-----",
        "<password>hunter2</password>",
        "<db><dbPassword>S3cr3t!</dbPassword></db>",
        "| user | password |\n|---|---|\n| bob | hunter2 |\n| ann | swordfish |",
        "| password | hunter2 |",
        "password: |\n  hunter2",
        "db:\n  password: >-\n    Tr0ub4dor",
        "curl -u bob:hunter2 https://api.example.com",
        "curl https://x.org -s --user 'bob:hunter2'",
        "mysql -u root -phunter2 shop",
        "mysqldump --host=x -u root -p'hunter 2' shop",
        "sshpass -p hunter2 ssh bob@host",
        "redis-cli -h x -a hunter2 ping",
        "https://acct.blob.core.windows.net/c/f?sv=2020&sig=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6%3D&se=2026",
        "hunter2 is my password",
        "use hunter2 as my password",
        "my netflix pass is hunter2",
        "the wifi pass is hunter2",
        '"correct horse battery" is my wifi password',
        "Swordfish is my password",
        "4711 is my pin",
        "482913 is your verification code",
        "G-482913 is your Google verification code",
        "your code is 482913",
        "my netflix login is bob@x.com / Hunter2!",
        "log in with bob@example.com and hunter22",
        "login: bob / hunter22",
        "username bob, pw hunter22",
        "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "card 4111/1111/1111/1111",
        "my card: 4111, 1111, 1111, 1111",
        "my visa\n4111\n1111\n1111\n1111",
        "iban D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0",
        "iban: D-E-8-9-3-7-0-4-0-0-4-4-0-5-3-2-0-1-3-0-0-0",
        "the sms code is 482913",
        "confirmation code: 482 913",
        "my chinese id card is 11010519491231002X",
        "my PAN: ABMPA3211G",
        "my cnic is 34201-0891231-8",
        "my inn is 500100732259",
        "CURP BOXW310820HNERXN09",
        "my number 6214 9832 0257",
        "tc kimlik 17291716060",
        "my ktp nik 3171011708450001",
    ],
)
def test_a_secret_is_found_however_it_is_set_out(text: str) -> None:
    found = redact(text)
    assert found.redactions, text
    for secret in ("hunter2", "S3cr3t", "482913", "482 913", "4711", "wordfish", "1111", "horse"):
        assert secret not in found.text
    assert redact(found.text) == found


@pytest.mark.parametrize(
    "text",
    [
        "What is my password policy?",
        "my gym pass is 45 a month",
        "my bus pass is 60 euros",
        "my pass is valid till 2027",
        "the mountain pass is at 2300m",
        "I use 1Password as my password manager",
        "treat 42 as the pass mark",
        "The problem is my password",
        "This is the code I wrote",
        "security is the password for success",
        "my zip code is 123456",
        "| password | strength |",
        "I forgot; 2024 was the year of my code",
        "chapters 1/2, 3/4 of the card",
        "user login/signup flow2",
        "mysql -p 3306",
        "the pan is 12 inches",
        "Map<password>",
        "the login page is at foo/bar2 ok",
        "That's what 1234 was my code for",
        "python is the code I write",
        "the scores are 4111, 1111, 1111, 1111",
        "a | b\n1 | 2",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("words", [words for words, _, _ in NATIONAL_IDS])
def test_a_word_of_an_identity_number_has_a_hint(words: str) -> None:
    for each in _alternatives(words):
        letters = re.sub(r"\[[^]]*\]", "", each)  # an ASCII text may have one of a class
        if letters.isascii():
            assert any(hint in each for hint in NATIONAL_HINTS), each


def _alternatives(words: str) -> list[str]:
    """What a pattern allows at its top level."""
    found, depth = [""], 0
    for char in words:
        depth += (char == "(") - (char == ")")
        if char == "|" and not depth:
            found.append("")
        else:
            found[-1] += char
    return found
