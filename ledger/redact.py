"""Redaction of secrets from a turn, before it is appended: what the log never held cannot leak.

`redact` replaces card numbers, passwords, keys and the like by placeholders such as
`[redacted card_number]`. No part of a secret is kept, and redacting twice gives what redacting
once gives. When in doubt it removes: a lost word costs a little recall, a stored password stays.
What it looks for is data: the tables of issuers, key shapes, identity numbers and rules below.

Time is linear in the length of the text: every pattern is bounded, and a rule runs only where
one of its hints, a plain substring, occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from stdnum import iban, numdb
from stdnum.br import cpf as br_cpf
from stdnum.ca import sin as ca_sin
from stdnum.de import idnr as de_idnr
from stdnum.es import dni as es_dni
from stdnum.fr import nir as fr_nir
from stdnum.in_ import aadhaar as in_aadhaar
from stdnum.it import codicefiscale as it_codicefiscale
from stdnum.nl import bsn as nl_bsn
from stdnum.pl import pesel as pl_pesel

from beliefledger.ledger import seeds
from beliefledger.ledger.folding import fold


class SecretKind(StrEnum):
    """What was removed. The value is the word in the placeholder."""

    CARD = "card_number"
    IBAN = "iban"
    PASSWORD = "password"  # noqa: S105 (the name of a kind)
    PIN = "pin"
    API_KEY = "api_key"
    TOKEN = "token"  # noqa: S105 (the name of a kind)
    PRIVATE_KEY = "private_key"
    NATIONAL_ID = "national_id"


@dataclass(frozen=True, slots=True)
class Redaction:
    """One placeholder: what it stands for, and its offsets in the redacted text."""

    kind: SecretKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and its placeholders in order of position.

    A placeholder that the text already had is listed too, so redacting again changes nothing.
    """

    text: str
    redactions: tuple[Redaction, ...]


# --- Numbers -----------------------------------------------------------------------------------

# First and last issuer prefix, and the lengths that issuer prints. Prefixes of 1 are left out:
# Unix times in milliseconds and microseconds begin with 1.
_ISSUERS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),  # Mastercard
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),  # American Express
    ("300", "305", (14, 16)),  # Diners Club
    ("3095", "3095", (14, 16)),  # Diners Club
    ("36", "36", (14, 16)),  # Diners Club
    ("38", "39", (14, 16)),  # Diners Club
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("6011", "6011", (16, 17, 18, 19)),  # Discover
    ("644", "659", (16, 17, 18, 19)),  # Discover, Verve
    ("62", "62", (16, 17, 18, 19)),  # UnionPay, Discover
    ("81", "82", (16,)),  # RuPay, UnionPay
    ("60", "60", (16,)),  # RuPay, Hipercard
    ("508", "509", (16,)),  # RuPay, Elo
    ("5018", "5018", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("5019", "5019", (16,)),  # Dankort
    ("5020", "5038", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("5060", "5067", (16, 18, 19)),  # Verve, Elo
    ("56", "58", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("6304", "6304", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("67", "67", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("2200", "2204", (16, 17, 18, 19)),  # Mir
    ("9792", "9792", (16,)),  # Troy
)
_CARD_WORDS = ("card", "visa", "amex", "master", "credit", "debit", "cvv", "tarjeta", "karte")

# What stands for a placeholder while the rest is searched; no folded text has this character.
_MASK = seeds.MASK
# Characters that people put between the groups of a number.
_GAP = r"[ \t.\-_]"
_LONG_NUMBER = re.compile(rf"[0-9](?:{_GAP}{{0,3}}[0-9]){{7}}")
_CARD_RUN = re.compile(rf"(?<![0-9])[0-9](?:{_GAP}{{0,3}}[0-9]){{12,}}")
_GROUP = re.compile(r"[0-9]+")
_IBAN = re.compile(
    rf"(?<![A-Za-z0-9])(?=([A-Za-z]{{2}}[0-9]{{2}}(?:{_GAP}{{0,2}}[A-Za-z0-9]){{11,30}}))"
)

# Numbers that identify a person, taken only near a word that says so: the word, shape, checksum.
# A social security number has no checksum: its shape and its word are enough.
_NATIONAL_IDS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    (r"ssn|social security", r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}", bool),
    (r"sin|social insurance", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}", ca_sin.is_valid),
    (r"cpf", r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}", br_cpf.is_valid),
    (r"dni|nif", r"[0-9]{8}[ -]?[A-Za-z]", es_dni.is_valid),
    (r"nir|s[eé]curit[eé] sociale", r"[12](?: ?[0-9AB]){14}", fr_nir.is_valid),
    (r"aadhaar|aadhar", r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}", in_aadhaar.is_valid),
    (r"codice fiscale", r"[A-Za-z]{6}[0-9A-Za-z]{10}", it_codicefiscale.is_valid),
    (r"bsn|burgerservicenummer", r"[0-9]{9}", nl_bsn.is_valid),
    (r"pesel", r"[0-9]{11}", pl_pesel.is_valid),
    (r"steuer-?id\w*|idnr", r"[0-9]{2}(?: ?[0-9]{3}){3}", de_idnr.is_valid),
)
_NEAR = 60  # characters before and after a number in which its word may stand
_NATIONAL = tuple(
    (
        re.compile(rf"(?i)\b(?:{words})\b"),
        re.compile(rf"(?<![0-9A-Za-z]){shape}(?![0-9A-Za-z])"),
        is_valid,
    )
    for words, shape, is_valid in _NATIONAL_IDS
)

# --- Keys that announce themselves: a lower-case hint, and the shape ---------------------------

_SHAPES: tuple[tuple[SecretKind, str, str], ...] = (
    (SecretKind.API_KEY, "sk-", r"\bsk-[\w-]{16,}"),  # Anthropic, OpenAI, OpenRouter
    (SecretKind.API_KEY, "k_live_ k_test_", r"\b[srp]k_(?:live|test)_\w{8,}"),  # Stripe
    (SecretKind.API_KEY, "whsec_", r"\bwhsec_[\w+/=]{8,}"),
    (SecretKind.API_KEY, "akia", r"\bAKIA[0-9A-Z]{12,}"),  # AWS
    (SecretKind.API_KEY, "asia", r"\bASIA[0-9A-Z]{16}\b"),
    (SecretKind.API_KEY, "aiza", r"\bAIza[\w-]{20,}"),  # Google
    (SecretKind.API_KEY, "gocspx-", r"\bGOCSPX-[\w-]{10,}"),
    (SecretKind.API_KEY, "sg.", r"\bSG\.[\w-]{10,}\.[\w-]{10,}"),  # SendGrid
    (SecretKind.API_KEY, "key", r"\bkey-[0-9a-f]{32}\b"),  # Mailgun
    (SecretKind.API_KEY, "gsk_", r"\bgsk_\w{20,}"),  # Groq
    (SecretKind.API_KEY, "xai-", r"\bxai-\w{20,}"),
    (
        SecretKind.TOKEN,
        "ghp_ gho_ ghu_ ghs_ ghr_ github_",
        r"\b(?:gh[pousr]|github_pat)_\w{16,}",
    ),  # GitHub
    (SecretKind.TOKEN, "glpat-", r"\bglpat-[\w.-]{10,}"),  # GitLab
    (SecretKind.TOKEN, "xox", r"\bxox[a-z]-[\w-]{10,}"),  # Slack
    (SecretKind.TOKEN, "xapp-", r"\bxapp-[\w-]{10,}"),
    (SecretKind.TOKEN, "slack.com", r"hooks\.slack\.com/[\w/-]{8,}"),
    (SecretKind.TOKEN, "/webhooks/", r"/api/webhooks/[0-9]+/[\w-]{8,}"),  # Discord
    (SecretKind.TOKEN, "hf_", r"\bhf_[A-Za-z0-9]{16,}"),  # Hugging Face
    (SecretKind.TOKEN, "npm_", r"\bnpm_[A-Za-z0-9]{20,}"),
    (SecretKind.TOKEN, "pypi-", r"\bpypi-[\w-]{20,}"),
    (SecretKind.TOKEN, "dop_v1_", r"\bdop_v1_\w{16,}"),  # DigitalOcean
    (SecretKind.TOKEN, "ya29.", r"\bya29\.[\w.-]{8,}"),  # Google OAuth
    (SecretKind.TOKEN, "eyj", r"\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)*"),  # JWT
    (SecretKind.TOKEN, ":aa", r"\b[0-9]{8,10}:AA[\w-]{30,}"),  # Telegram
    (SecretKind.PRIVATE_KEY, "secret", r"(?i)\bAGE-SECRET-KEY-1\w{10,}"),
    # A block without its end is redacted to the end of the text.
    (
        SecretKind.PRIVATE_KEY,
        "private",
        r"(?s)-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY.*?"
        r"(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?(?:-{1,5}|\Z)|\Z)",
    ),
    (SecretKind.PRIVATE_KEY, "private", r"(?s)Private-Lines:.*"),  # PuTTY
    (
        SecretKind.PASSWORD,
        "://",
        rf"://[^\s/:@{_MASK}]{{0,128}}:(?P<secret>[^\s/{_MASK}]{{1,256}})@",
    ),
)

# --- Secrets that someone announces ------------------------------------------------------------

# Words that say something about a secret instead of being one, or that end what was said of it.
_PROSE = frozenset(
    """
    a an the this that these those it its it's i i'm i'll i've we we're you you're he she they my
    your his her our their one ones someone anyone everyone me us him them
    and or but nor so then than as if when while whenever because since until unless before after
    once though although which who whose what where why how whether
    for to from of on in at by with without via per about into onto over under between across
    through up out off down back again away here there
    is are was were be been being am has have had having do does did don't doesn't didn't isn't
    wasn't aren't won't can can't cannot could should would will may might must shall let let's
    not no never none nothing something anything everything always often usually still already
    also too very really quite just only even almost nearly pretty rather somewhat extremely now
    currently soon later today tomorrow yesterday tonight recently maybe perhaps probably
    apparently actually basically literally simply likely possibly automatically manually
    please thanks thank ok okay yes yeah lol btw
    weak weaker strong stronger short shorter long longer good better best bad worse simple complex
    complicated easy easier hard harder difficult secure insecure safe unsafe old older outdated
    new newer unique different same similar identical random common predictable guessable
    wrong incorrect correct right invalid valid fine okay great working broken blank empty
    expired expiring lost forgotten missing gone known unknown required needed necessary optional
    mandatory important essential critical crucial enough sufficient available unavailable
    stored saved kept hidden written encrypted hashed salted protected shared reused used set
    reset changed updated changing locked unlocked disabled enabled compromised leaked stolen
    hacked exposed breached cracked guessed public private confidential sensitive secret personal
    case-sensitive case default temporary permanent visible autofilled remembered managed
    generated sent emailed asked entered typed accepted rejected denied supposed considered made
    going getting causing showing stuck due ready based called named mentioned given part key
    such like similarly example e.g e.g. i.e etc first second last next least most more less many
    much some any all each every both several few half
    use using make making choose choosing ensure create creating enter entering keep keeping avoid
    consider change update check enable add set try remember recover regain gain get access prevent
    protect login log sign continue unlock verify confirm provide store save write share ask
    string str text varchar char bytes int none null nil undefined true false
    """.split()
)
# "Changed my password to …": what begins a purpose, not a passphrase.
_PURPOSES = frozenset(
    """
    regain gain get fix stop help avoid match meet satisfy comply improve strengthen secure protect
    prevent restore resolve solve remove reduce test see be make keep let allow log sign unlock
    increase follow reflect include contain use have find open block deal
    """.split()
)
_UNITS = frozenset(
    "characters chars letters digits words numbers symbols bits bytes times days weeks months "
    "years hours minutes seconds attempts things percent".split()
)
# Values that name where the secret is, or that blank it out already.
_STAND_IN = re.compile(
    r"<[\w .-]*>|\$\{[^}]*\}|\$\([^)]*\)|\$[A-Z_]+|\{+[\w .]*\}+|[0-9]+%|"
    r"(?:os|process|self|args|config|settings|env|request|req|form|user|ctx|params|options|this)"
    r"[.\[(].*|(?:get|load|read|prompt|fetch|hash|input)[A-Za-z_.]*\(.*|"
    r"none|null|nil|undefined|true|false|str|string|x{3,}|your[-_]\w+"
)
_STOPS = ".,;:"
_CLOSERS = ")]}>\"'`*"

_TOKEN = rf"[^\s{_MASK}]{{1,256}}"
_QUOTED = "|".join(rf"{q}(?:\\[^\n]|[^{q}\\\n{_MASK}]){{1,200}}{q}" for q in "\"'`")
_ANGLED = r"<[\w .-]{1,60}>"
_ANGLED_ALL = re.compile(_ANGLED)
_REST = re.compile(rf"[^\s{_MASK}]*")
_ONE = (
    rf"(?P<secret>{_QUOTED}|{_ANGLED}|"
    rf"(?:(?![;&][A-Za-z][\w ]{{0,30}}=)[^\s{_MASK}]){{1,256}})"
)
_SAID = rf"(?P<secret>{_QUOTED}|{_ANGLED}|{_TOKEN}(?:[ \t]{{1,3}}[\w'-]{{1,40}}){{0,11}})"
_SEEDS = rf"(?P<secret>{_QUOTED}|{_TOKEN}(?:[ \t\n]{{1,3}}[\w'-]{{1,40}}){{0,29}})"
_DIGIT_NAME = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_CODE = (
    r"(?P<secret>[#*]?[0-9](?:[ -]?[0-9]){2,11}[#*]?(?![0-9%])|"
    rf"{_DIGIT_NAME}(?:[ ,-]{{1,2}}{_DIGIT_NAME}){{2,11}}\b)"
)

# A label may follow `_`, as in DB_PASSWORD, or be the second hump of dbPassword; 1Password is not.
_START = r"(?i)(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"
_PASS = r"(?:pass[ _-]?(?:words?|phrase|code)|passwd|pwd)"  # noqa: S105 (a label, no password)
_SEED = r"(?:(?:seed|recovery|secret|backup)[ -]?phrase|mnemonic(?: phrase)?)"
# What is Cyrillic here is written as folding leaves it.
_ABROAD = (
    r"(?:contrase[nñ]a|clave|mot de passe|passwort|kennwort|senha|wachtwoord|"
    rf"{fold('пароль').text}|密码|密碼|パスワード)"
)
_PIN = (
    r"(?:pin(?:[ -]?(?:code|number|no\.?))?|cvv2?|cvc|otp|(?:security|access|door|gate|alarm|entry|"
    r"unlock|lock|safe|verification|one[ -]time|2fa|garage|keypad|login|authentication)[ -]code)"
)
_LOCKED = (
    r"(?:safe|door|gate|alarm|locker|vault|lock|padlock|house|garage|apartment|flat|building|"
    r"office|phone|suitcase|keypad|entrance|lockbox|shed|car|bike|laptop|tablet)"
)
_UNLOCKS = (
    r"(?i)\b(?:code|combination|combo)\s(?:to|for|of|on)\s(?:my|the|our|his|her|their|your)\s"
    rf"(?:[\w'-]{{1,30}}\s){{0,3}}?{_LOCKED}"
)
_USER_AND_LABEL = (
    r"(?i)\b(?:user(?:[ _-]?(?:name|id))?|login|account|admin|e-?mail)\b[^\n]{1,60}?\bpass"
)
_KEY = (
    r"(?:(?:api|access|secret|auth|client|encryption|signing|service|account|license|webhook|"
    r"master|deploy|shared[ _-]?access|app)[ _-]?(?:key|secret)|apikey|secret)"
)
_BEARER = r"(?:(?:api|access|auth|session|refresh|bearer|bot|id|security)?[ _-]?token)"
# "for the wifi", "to my laptop", "I use at home": a few words between the label and its verb.
_FOR = (
    r"(?:[ \t]\(.{1,40}\))?(?:[ \t](?:for|to|on|of|at|in|from|i|we|you|that)"
    rf"(?:[ \t](?!(?:and|but|because|so|is|was|or)\b)[^\s:=,;!?{_MASK}]{{1,40}}){{1,7}}?)?"
)
_FILLER = (
    r"(?:\s(?:actually|still|just|now|currently|basically|literally|simply|always|set to|"
    r"going to be|called|the word|the phrase)\b){0,3}"
)
_IS = (
    r"(?:'s|['\"*`]{0,3}\s{1,3}"
    r"(?:is|are|was|were|will be|should be|has been|equals|became|es|est|ist|lautet|é)\b)"
    rf"{_FILLER}\s?[:*_-]{{0,3}}\s{{1,3}}"
)
_EQUALS = r"['\"*`\]]{0,3}\s{0,3}(?::=|=>|->|={1,2})\s{0,3}"
_COLON = r"['\"*`\]]{0,3}\s?:\s{0,3}[*_]{0,3}\s{0,3}"
_TO = r"\s(?:back\s)?(?:to|as)\s"
_ABROAD_IS = rf"(?:{_IS}|\s?[:=是は]\s?|\s)"
_LOGIN = r"(?:credentials?|creds|login(?:\s(?:details|info))?)"
_HEADER = r"\bauthorization['\"]?\s?[:=]\s?['\"]?(?:bearer|basic|token)\s"
_ENV = (
    r"(?:SECRET|TOKEN|PASS|(?:API|SECRET|ACCESS|PRIVATE|SIGNING|ENCRYPTION)_?KEY)"
    r"(?:_[A-Z0-9_]{1,30})?"
)
_DIGIT_AHEAD = "(?=[\"'`]|\\S{0,60}[0-9])"
_PIN_HINTS = "pin cvv cvc otp code"
_CHANGED = r"(?i)\b(?:chang|reset|set|updat|switch|mak|made)\w{0,4}(?:\s[\w'-]{1,30}){0,5}?\s"


def _bare(value: str) -> str:
    """Strip the punctuation of the sentence around the value."""
    return value.rstrip(_STOPS + _CLOSERS)


def _spelled(value: str) -> bool:
    """Whether it is written like a word, in letters only."""
    return value.replace("'", "").replace("-", "").isalpha()


def _whole(value: str) -> int:
    """Take all of the value, less the sentence's punctuation; nothing if it only stands in."""
    if _quoted(value):
        return len(value) if _has_content(value[1:-1]) else 0
    bare = _bare(value)
    return len(bare) if _has_content(value) and _has_content(bare) else 0


def _quoted(value: str) -> bool:
    return len(value) > 1 and value[0] in "\"'`" and value[-1] == value[0]


def _has_content(value: str) -> bool:
    """Whether there is anything to hide: not dots or stars, nor a name for where it is kept."""
    stands_in = _STAND_IN.fullmatch(value) or _STAND_IN.fullmatch(value.lower())
    return not stands_in and any(c.isalnum() for c in value)


def _said(value: str) -> int:
    """Take what was said as a password, unless it only describes one.

    A spelled word may begin a passphrase, which lasts until a word that ends it.
    """
    if _quoted(value) or _ANGLED_ALL.fullmatch(value):
        return _whole(value)
    words = list(re.finditer(r"\S+", value))
    first = words[0].group()
    bare = _bare(first)
    if not _has_content(bare):
        return 0
    if not _spelled(bare):
        unit = words[1].group().lower() if len(words) > 1 else ""
        return 0 if bare.rstrip("+").isdigit() and unit in _UNITS else len(bare)
    run = 0 if first[-1] in _STOPS else _spelled_run(words[1:])
    # "correct horse battery staple" begins with a word of prose, "wrong again" only looks like it.
    if bare.lower() in _PROSE and run < 3:
        return 0
    return words[run].end() if run else len(bare)


def _said_to(value: str) -> int:
    """As `_said`, after "changed my password to", where a verb may follow: "to regain entry"."""
    taken = _said(value) or _said_before_time(value)
    words = value[:taken].split()
    count = len(words)
    return 0 if 1 < count < 4 and words[0].lower() in _PURPOSES else taken


def _said_before_time(value: str) -> int:
    """Take "correct horse battery" before "yesterday", though it begins with a word of prose."""
    words = list(re.finditer(r"\S+", value))
    for n, word in enumerate(words[:7]):
        low = _bare(word.group()).lower()
        if low in ("yesterday", "today", "tonight", "recently"):
            return words[n - 1].end() if n > 1 else 0
        if n and (low in _PROSE or not _spelled(low)):
            return 0
    return 0


def _spelled_run(words: list[re.Match[str]]) -> int:
    """How many of the words go on as a passphrase would."""
    for n, word in enumerate(words):
        if word.group().lower() in _PROSE or not _spelled(word.group()):
            return n
    return len(words)


def _strong(value: str) -> int:
    """Take one token that looks made to be secret: letters with digits, or a long number."""
    taken = _whole(value)
    token = value[:taken].strip("\"'`")
    digits = sum(c.isdigit() for c in token)
    letters = sum(c.isalpha() for c in token)
    measured = re.fullmatch(r"[0-9]+(?:[-/.,:][0-9]+)*[-/]?[A-Za-z%°]*", token) and letters
    if not digits or measured or "://" in token:
        return 0
    return taken if len(token) >= 5 and (letters or digits >= 5) else 0


def _random(value: str) -> int:
    """Take one token that looks drawn at random: long, and mixed in its characters."""
    taken = _whole(value)
    token = value[:taken].strip("\"'`")
    if len(token) < 8 or re.search(r"[\s(]|://", token):
        return 0
    digits = sum(c.isdigit() for c in token)
    cased = token != token.upper() and token[1:] != token[1:].lower()
    if re.fullmatch(r"[0-9/.]+(?:-[A-Za-z]+)+", token):  # "30-minute", "1/2-cup"
        return 0
    return (
        taken
        if (digits and len(token) > digits) or digits >= 8 or (len(token) >= 16 and cased)
        else 0
    )


def _pair(value: str) -> int:
    """Take `name:password` and `name/password`."""
    taken = _whole(value)
    token = value[:taken]
    name, mark, secret = re.sub("[/:]", "\n", token, count=1).partition("\n")
    return taken if name and mark and _strong(secret or " ") and "://" not in token else 0


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind, the hints without which it cannot match, its pattern, and who judges the value.

    The value is the group `secret`, or the whole match. The judge answers how many of its
    characters are the secret: 0 for none.
    """

    kind: SecretKind
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[str], int] = len


_ANY = f"(?:{_IS}|{_COLON}|{_EQUALS})"
_PASS_HINTS = "pass pwd"  # noqa: S105 (a label, no password)
_ABROAD_HINTS = (
    "contrase clave passe passwort kennwort senha wachtwoord "
    f"{fold('пароль').text} 密码 密碼 パスワード"
)
_NEXT = r"(?:,?\s(?:and|or)|,)\s"
_LIST = rf"{_MASK}{{1,40}}(?:{_NEXT}{_MASK}{{1,40}}){{0,9}}{_NEXT}"
_ANNOUNCED: tuple[tuple[SecretKind, str, str, Callable[[str], int]], ...] = (
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_FOR}(?:{_IS}|{_COLON}){_SAID}", _said),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_EQUALS}{_ONE}", _whole),
    (SecretKind.PASSWORD, _PASS_HINTS, rf"{_START}{_PASS}\s{_DIGIT_AHEAD}{_ONE}", _strong),
    (SecretKind.PASSWORD, "pw", f"{_START}pw{_FOR}{_ANY}{_ONE}", _strong),
    (SecretKind.PASSWORD, "pass", f"{_START}pass(?:{_COLON}|{_EQUALS}){_ONE}", _strong),
    (SecretKind.PASSWORD, "pass", f"{_USER_AND_LABEL}(?:{_ANY}|\\s){_DIGIT_AHEAD}{_ONE}", _strong),
    (SecretKind.PASSWORD, _MASK, f"{_START}{_PASS}{_FOR}{_ANY}{_LIST}{_ONE}", _strong),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_CHANGED}{_PASS}{_FOR}{_TO}{_SAID}", _said_to),
    (SecretKind.PASSWORD, "phrase mnemonic", f"{_START}{_SEED}{_ANY}{_SEEDS}", _said),
    (SecretKind.PASSWORD, _ABROAD_HINTS, f"(?i){_ABROAD}{_FOR}{_ABROAD_IS}{_ONE}", _strong),
    (SecretKind.PASSWORD, "cred login", f"{_START}{_LOGIN}{_FOR}{_ANY}{_ONE}", _pair),
    (SecretKind.PIN, _PIN_HINTS, rf"{_START}{_PIN}{_FOR}(?:{_ANY}|\s){_CODE}", len),
    (SecretKind.PIN, _PIN_HINTS, f"{_START}{_PIN}{_FOR}{_ANY}{_ONE}", _strong),
    (SecretKind.PIN, "code comb", f"{_UNLOCKS}{_FOR}{_ANY}{_CODE}", len),
    (SecretKind.TOKEN, "token", f"{_START}{_BEARER}{_FOR}{_ANY}{_ONE}", _random),
    (SecretKind.TOKEN, "bearer", rf"(?i)\bbearer\s{_ONE}", _random),
    (SecretKind.TOKEN, "authorization", f"(?i){_HEADER}{_ONE}", _whole),
    (SecretKind.PRIVATE_KEY, "private", f"{_START}private[ _-]?key{_FOR}{_ANY}{_ONE}", _random),
    (SecretKind.API_KEY, "key secret", f"{_START}{_KEY}{_FOR}{_ANY}{_ONE}", _random),
    # In a shell's or an .env file's assignment even a short value is the secret.
    (SecretKind.API_KEY, "key secret token pass", f"{_ENV}={_ONE}", _whole),
)
_RULES = tuple(
    _Rule(kind, tuple(hints.split()), re.compile(pattern), judge)
    for kind, hints, pattern, judge in (
        *((kind, hint, shape, len) for kind, hint, shape in _SHAPES),
        *_ANNOUNCED,
    )
)
_BY_HINT = {
    hint: tuple(n for n, rule in enumerate(_RULES) if hint in rule.hints)
    for hint in sorted({hint for rule in _RULES for hint in rule.hints})
}
_HINTS = tuple(_BY_HINT)
_PLACEHOLDER = re.compile(rf"\[redacted ({'|'.join(SecretKind)})\]")

# --- Finding -----------------------------------------------------------------------------------

_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_VALUES = bytes.maketrans(b"0123456789", bytes(range(10)))


@lru_cache(maxsize=4096)
def _issued_lengths(prefix: str) -> frozenset[int]:
    """Look up how long the cards are whose number begins with these four digits."""
    return frozenset(
        length
        for first, last, lengths in _ISSUERS
        if first <= prefix[: len(first)] <= last
        for length in lengths
    )


def _luhn(number: str) -> bool:
    """Check as `stdnum.luhn` does, in a fifth of the time: a page of digits has many windows."""
    backwards = number.encode("ascii")[::-1]
    singles = sum(backwards[::2].translate(_VALUES))
    return (singles + sum(backwards[1::2].translate(_DOUBLED))) % 10 == 0


def _cards(folded: str, lowered: str) -> Iterator[tuple[int, int]]:
    spoken_of = any(word in lowered for word in _CARD_WORDS)
    for run in _CARD_RUN.finditer(folded):
        groups = [
            (m.start(), m.end(), m.group()) for m in _GROUP.finditer(folded, run.start(), run.end())
        ]
        for first, (start, _, _) in enumerate(groups):
            # The digits behind the point of a number are no card.
            if first and folded[start - 1] == "." and len(groups[first][2]) > 12:
                continue
            number = ""
            for _, end, digits in groups[first : first + 6]:
                number += digits
                if len(number) > 19:
                    break
                if len(number) >= 13 and _is_card(number):
                    yield start, end
                if len(digits) < 3:  # only the last group of a card is shorter
                    break
        # Read out digit by digit, or in pairs where the text speaks of a card.
        together = "".join(digits for _, _, digits in groups)
        one_by_one = len(together) == len(groups)
        if len(together) <= 19 and (one_by_one or spoken_of) and _is_card(together):
            yield run.span()


def _is_card(number: str) -> bool:
    return len(number) in _issued_lengths(number[:4]) and _luhn(number)


@lru_cache(maxsize=4096)
def _iban_length(country: str) -> int:
    """Look up the length of that country's IBAN, 0 if it has none."""
    structure = numdb.get("iban").info(country)[0][1].get("bban", "")
    lengths = [int(n) for n in re.findall(r"([0-9]{1,4})!", structure)]
    return 4 + sum(lengths) if lengths else 0


def _ibans(folded: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(folded):
        wanted = _iban_length(match.group(1)[:2].upper())
        places = [n for n, char in enumerate(match.group(1)) if char.isalnum()][:wanted]
        number = "".join(match.group(1)[n] for n in places)
        if wanted and len(number) == wanted and iban.is_valid(number, check_country=False):
            yield match.start(), match.start() + places[-1] + 1


def _national_ids(folded: str) -> Iterator[tuple[int, int]]:
    for words, shape, is_valid in _NATIONAL:
        if not words.search(folded):
            continue
        for match in shape.finditer(folded):
            start, end = match.span()
            near = words.search(folded, max(0, start - _NEAR), end + _NEAR)
            if near and is_valid(match.group()):
                yield start, end


def _announced(rule: _Rule, folded: str) -> Iterator[tuple[int, int]]:
    at = 0
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    while match := rule.pattern.search(folded, at):
        start = match.start(group)
        taken = rule.judge(match.group(group))
        at = start + max(taken, 1)
        if taken:
            # The bound of a pattern must not cut a long secret in two.
            if match.end(group) == at and at - start >= 256:
                at = next(_REST.finditer(folded, at)).end()
            yield start, at


def _find(folded: str) -> list[tuple[int, int, SecretKind]]:
    lowered = folded.lower()
    hints = [hint for hint in _HINTS if hint in lowered]
    found = [(s, e, SecretKind.PASSWORD) for s, e in seeds.phrases(lowered)]
    long = _LONG_NUMBER.search(folded)
    if long:
        found += ((s, e, SecretKind.CARD) for s, e in _cards(folded, lowered))
        found += ((s, e, SecretKind.IBAN) for s, e in _ibans(folded))
    if long or "codice fiscale" in lowered:  # this one has letters between its digits
        found += ((s, e, SecretKind.NATIONAL_ID) for s, e in _national_ids(folded))
    if hints:
        for n in sorted({n for hint in hints for n in _BY_HINT[hint]}):
            found += ((s, e, _RULES[n].kind) for s, e in _announced(_RULES[n], folded))
    return found


def secrets_in(text: str) -> list[tuple[int, int, SecretKind]]:
    """The offsets of every secret that is found at first sight; those may overlap."""
    folded = fold(text)
    masked = folded.text
    if "[redacted " in masked:
        masked = _PLACEHOLDER.sub(lambda m: _MASK * len(m.group()), masked)
    return [(*folded.span(start, end), kind) for start, end, kind in _find(masked)]


def redact(text: str) -> Redacted:
    """Replace every secret in `text` by a placeholder that names its kind.

    `redact(redact(text).text) == redact(text)`: it searches until nothing more is found, and a
    placeholder is never a label or a part of a secret.
    """
    while found := secrets_in(text):
        text = _replace(text, found)
    return Redacted(
        text,
        tuple(Redaction(SecretKind(m[1]), m.start(), m.end()) for m in _PLACEHOLDER.finditer(text)),
    )


def _replace(text: str, found: list[tuple[int, int, SecretKind]]) -> str:
    """Put one placeholder for each stretch of overlapping finds, named after the longest."""
    parts: list[str] = []
    at = 0
    found.sort(key=lambda find: (find[0], -find[1]))
    start, end, kind = found[0]
    for next_start, next_end, next_kind in [*found[1:], (len(text) + 1, 0, kind)]:
        if next_start < end:
            end = max(end, next_end)
            continue
        parts += (text[at:start], f"[redacted {kind}]")
        at = end
        start, end, kind = next_start, next_end, next_kind
    parts.append(text[at:])
    return "".join(parts)
