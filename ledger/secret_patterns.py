"""What secrets look like: the tables that redaction searches by.

Issuers of cards, numbers that identify a person, keys that announce themselves, and the ways in
which people announce a secret. They are data: `ledger.redact` compiles them, once.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module

from beliefledger.ledger import seeds
from beliefledger.ledger.lookalikes import fold


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


# --- Numbers -----------------------------------------------------------------------------------

# First and last issuer prefix, and the lengths that issuer prints. Prefixes of 1 are left out:
# Unix times in milliseconds and microseconds begin with 1.
ISSUERS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
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
CARD_WORDS = ("card", "visa", "amex", "master", "credit", "debit", "cvv", "tarjeta", "karte")

# What stands for a placeholder while the rest is searched; no folded text has this character.
MASK = seeds.MASK
# Characters that people put between the groups of a number.
GAP = r"[ \t.\-_]"


def checked_by(name: str) -> Callable[[str], bool]:
    """Whether a number's checksum is right, as that module of stdnum knows it: `br.cpf`. It is
    loaded when such a number is first seen."""

    def is_valid(number: str) -> bool:
        return bool(import_module(f"stdnum.{name}").is_valid(number))

    return is_valid


# Numbers that identify a person, taken only near a word that says so: the word, shape, checksum.
# A social security number has no checksum: its shape and its word are enough.
NATIONAL_IDS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    (r"ssn|social security", r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}", bool),
    (r"sin|social insurance", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}", checked_by("ca.sin")),
    (r"cpf", r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}", checked_by("br.cpf")),
    (r"dni|nif", r"[0-9]{8}[ -]?[A-Za-z]", checked_by("es.dni")),
    (r"nir|s[eé]curit[eé] sociale", r"[12](?: ?[0-9AB]){14}", checked_by("fr.nir")),
    (r"aadhaar|aadhar", r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}", checked_by("in_.aadhaar")),
    (r"codice fiscale", r"[A-Za-z]{6}[0-9A-Za-z]{10}", checked_by("it.codicefiscale")),
    (r"bsn|burgerservicenummer", r"[0-9]{9}", checked_by("nl.bsn")),
    (r"pesel", r"[0-9]{11}", checked_by("pl.pesel")),
    (r"steuer-?id\w*|idnr", r"[0-9]{2}(?: ?[0-9]{3}){3}", checked_by("de.idnr")),
    (r"itin", r"9[0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{4}", checked_by("us.itin")),
    (
        r"(?:chinese|china|resident|national) id\w*|id card|身份证|身份證|shenfenzheng",
        r"[0-9]{6}[ -]?[0-9]{8}[ -]?[0-9]{3}[0-9Xx]",
        checked_by("cn.ric"),
    ),
    (r"pan", r"[A-Za-z]{5}[0-9]{4}[A-Za-z]", checked_by("in_.pan")),
    (r"nik|ktp|e-ktp", r"[0-9]{16}", checked_by("id.nik")),
    (r"cnic|nicop", r"[0-9]{5}-?[0-9]{7}-?[0-9]", checked_by("pk.cnic")),
    (rf"inn|{fold('инн').text}", r"[0-9]{12}|[0-9]{10}", checked_by("ru.inn")),
    (r"curp", r"[A-Za-z]{4}[0-9]{6}[A-Za-z]{6}[0-9A-Za-z]{2}", checked_by("mx.curp")),
    (
        r"my ?number|individual number|マイナンバー|個人番号",
        r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}",
        checked_by("jp.in_"),
    ),
    (r"t\.?c\.? ?kimlik|tckn|kimlik no\w*|turkish id", r"[0-9]{11}", checked_by("tr.tckimlik")),
    (r"rrn|resident registration|주민등록번호", r"[0-9]{6}-?[0-9]{7}", checked_by("kr.rrn")),
    (r"thai id\w*|thai national id\w*", r"[0-9](?:[ -]?[0-9]){12}", checked_by("th.pin")),
    (r"south african id|sa id|rsa id", r"[0-9]{6} ?[0-9]{4} ?[0-9]{3}", checked_by("za.idnr")),
    (r"nhs", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", checked_by("gb.nhs")),
)
# An ASCII text with a word from above has one of these, in lower case: to look for them takes a
# tenth of the time of a search that ignores case.
NATIONAL_HINTS = (
    "aadha", "bsn", "burger", "cnic", "codice", "cpf", "curit", "curp", "dni", "id card", "idnr",
    "inn", "itin", "kimlik", "ktp", "nhs", "nicop", "nif", "nik", "nir", "number", "pan", "pesel",
    "registration", "rrn", "shenfen", "sin", "social", "ssn", "steuer", "tckn", " id",
)  # fmt: skip
# Identity numbers that have fewer than eight digits in a row: looked for wherever their word is.
LETTERED_IDS = ("codice fiscale", "curp", "pan ", "pan:")
# Cards in groups that something else than a gap parts: taken where the text speaks of a card.
SPLIT_CARD = (
    r"(?<![0-9])[0-9]{4}(?P<by>[ \t]{0,2}[/,|\n][ \t\n]{0,2})"
    r"(?:[0-9]{4}(?P=by)[0-9]{4}(?P=by)[0-9]{4}|[0-9]{6}(?P=by)[0-9]{5})(?![0-9])"
)

# --- Keys that announce themselves: a lower-case hint, and the shape ---------------------------

SHAPES: tuple[tuple[SecretKind, str, str], ...] = (
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
    (SecretKind.TOKEN, "blt_", r"\bblt_[\w-]{40,}"),  # our own
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
        r"(?is)-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY.*?"
        r"(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?(?:-{1,5}|\Z)|\Z)",
    ),
    (SecretKind.PRIVATE_KEY, "private", r"(?is)Private-Lines:.*"),  # PuTTY
    (SecretKind.TOKEN, "sig=", r"[?&;]sig=(?P<secret>[\w%+/=-]{16,256})"),  # Azure
    (SecretKind.TOKEN, "signature=", r"(?i)[?&]X-(?:Amz|Goog)-Signature=(?P<secret>\w{16,600})"),
    (  # the secret of AWS beside its id
        SecretKind.API_KEY,
        "akia asia",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{12,20}(?s:.){1,80}?"
        r"(?<![\w/+=])(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=])",
    ),
    (
        SecretKind.PASSWORD,
        "://",
        rf"://[^\s/:@{MASK}]{{0,128}}:(?P<secret>[^\s/{MASK}]{{1,256}})@",
    ),
)

# --- Secrets that someone announces ------------------------------------------------------------

_TOKEN = rf"[^\s{MASK}]{{1,256}}"
_QUOTED = "|".join(rf"{q}(?:\\[^\n]|[^{q}\\\n{MASK}]){{1,200}}{q}" for q in "\"'`")
ANGLED = r"<[\w .-]{1,60}>"
_ONE = (
    rf"(?P<secret>{_QUOTED}|{ANGLED}|"
    rf"(?:(?![;&][A-Za-z][\w ]{{0,30}}=)[^\s{MASK}]){{1,256}})"
)
_SAID = rf"(?P<secret>{_QUOTED}|{ANGLED}|{_TOKEN}(?:[ \t]{{1,3}}[\w'-]{{1,40}}){{0,11}})"
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
    r"unlock|lock|safe|verification|one[ -]time|2fa|garage|keypad|login|authentication|sms|mfa|"
    r"totp|two[ -]factor|confirmation|sign[ -]?in|google|whatsapp|backup|reset|otp)[ -]codes?)"
)
_LOCKED = (
    r"(?:safe|door|gate|alarm|locker|vault|lock|padlock|house|garage|apartment|flat|building|"
    r"office|phone|suitcase|keypad|entrance|lockbox|shed|car|bike|laptop|tablet)"
)
_OPENS = (
    r"(?:puk|pass[ _-]?code|screen[ -]?lock|lock[ -]?screen|"
    r"(?:unlock(?:ing)?|swipe|lock|(?:lock[ -]?)?screen|phone|draw)[ -]pattern|"
    r"(?:safe|(?:pad)?lock|locker|vault|suitcase|luggage|bike|shed)(?:'?s)?[ -]comb(?:o|ination))"
)
_NETWORK_KEY = (
    r"(?:wi-?fi|wlan|wpa[23]?|network|router|hotspot)[ _-](?:security[ _-])?(?:key|code|phrase)"
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
    rf"(?:[ \t](?!(?:and|but|because|so|is|was|or)\b)[^\s:=,;!?{MASK}]{{1,40}}){{1,7}}?)?"
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

_ANY = f"(?:{_IS}|{_COLON}|{_EQUALS})"
_PASS_HINTS = "pass pwd"  # noqa: S105 (a label, no password)
_ABROAD_HINTS = (
    "contrase clave passe passwort kennwort senha wachtwoord "
    f"{fold('пароль').text} 密码 密碼 パスワード"
)
_NEXT = r"(?:,?\s(?:and|or)|,)\s"
# What stands between a label and its value in a tag, a cell of a table, a block of YAML.
_TAG = r"[\w-]{0,20}>\s{0,3}"
_CELL = r"[\w ()*`]{0,20}\|[ \t*`]{0,20}"
_BLOCK = r"['\"]?:[ \t]{0,3}[|>][-+]?[ \t]{0,3}\n[ \t]{1,12}"
_TAGGED = rf"(?P<secret>[^\s<{MASK}]{{1,256}})"
_CELLED = rf"(?P<secret>[^\s|{MASK}]{{1,256}})"
# Programs that are handed a password as an argument.
_ARGUMENT = rf"(?P<secret>{_QUOTED}|[^\s\"'{MASK}]{{1,128}})"
_CURL = (
    r"(?i)\b(?:curl|wget)\s[^\n]{0,200}?(?<!\S)(?:-u|--user|-a|--auth)[ =]{0,3}"
    rf"[\"']?[^\s:\"'{MASK}]{{1,64}}:(?P<secret>[^\s\"'{MASK}]{{1,128}})"
)
_MYSQL = (
    r"(?i)\b(?:mysql(?:dump|admin|import|sh)?|mariadb)\s[^\n]{0,200}?(?<!\S)(?-i:-p)"
    rf"{_ARGUMENT}"
)
_SSHPASS = rf"(?i)\bsshpass\s{{1,3}}-p\s{{0,3}}{_ARGUMENT}"
_REDIS = rf"(?i)\bredis-cli\s[^\n]{{0,200}}?(?<!\S)(?:-a|--pass)\s{{1,3}}{_ARGUMENT}"
_LOGIN_BESIDE = (
    r"(?i)\b(?:log[ -]?(?:in|on)|sign[ -]?in|account|creds?|credentials?|user(?:name)?|netflix|vpn|"
    rf"wi-?fi)\b[^\n]{{0,60}}?[\w.+-]{{1,64}}@[\w-]{{1,60}}(?:\.[\w-]{{1,20}}){{1,3}}"
    rf"[ \t]{{0,2}}(?:[/|:,;]|and|with|pw|pass)[ \t]{{0,2}}(?P<secret>[^\s{MASK}]{{1,128}})"
)
_USER_SLASH = (
    r"(?i)\b(?:user(?:name)?|login|log[ -]?in|creds?|credentials?)(?:\s?[:=]|\s(?:is|are|with|as))?"
    rf"\s{{1,2}}[\w.@-]{{2,64}}\s{{0,2}}(?:/|\||,\s?pw|,?\spw:?|,?\spass:?)\s{{0,2}}(?P<secret>[^\s{MASK}]{{1,128}})"
)
# "Your code is 482 913": six digits, and no code of a place or a product.
_OTP = (
    r"(?i)\b(?:your|my|the)\s(?:(?!(?:zip|post|postal|area|country|dial\w*|product|discount|promo|"
    r"error|status|exit|order|item|colou?r|hex|qr|bar|tax|source|sort|bank|branch|voucher|coupon)\b)"
    r"[\w-]{1,20}\s){0,2}code(?:\sis)?:?\s{1,2}(?P<secret>[0-9]{3}[ -]?[0-9]{3})(?![0-9,.]?[0-9])"
)
# "… is my password": where a sentence turned round goes on behind its secret.
REVERSED = (
    r"\s(?:is|was|=|as)\s(?:my|our|the|his|her|their|your)\s"
    r"(?:(?!(?:of|in|for|that|who|which)\s)[\w'-]{1,30}\s){0,4}?"
    rf"(?:{_PASS}|pw|{_PIN}|(?:(?<=my )|(?<=your ))code)\b"
    r"(?! (?:is|was|manager|policy|that|i|we|for)\b)"
)
REVERSED_HINTS = ("pass", "pwd", "pw", "pin", "code", "cvv", "cvc", "otp")
# Numbers of a bank account that are no IBAN: only where their own words stand before them.
_NUMBER_IS = r"(?:\s?(?:number|no\.?|num|#))?(?:\s(?:is|was)|\s?[:=#])?\s{0,3}"
_SORT_CODE = (
    rf"(?i)\b(?:sort|bank|branch|bsb)[ -]?code{_NUMBER_IS}"
    r"(?P<secret>[0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{2})(?![0-9])"
)
_ROUTING = rf"(?i)\brouting{_NUMBER_IS}(?P<secret>[0-9]{{9}})(?![0-9])"
_BANK_ACCOUNT = (
    rf"(?i)\b(?:bank|current|checking|savings?)[ -](?:account|acct|a/c){_NUMBER_IS}"
    r"(?P<secret>[0-9]{3,4}[ -]?[0-9]{4}[ -]?[0-9]{0,5})(?![0-9])"
)
_ACCOUNT_BESIDE = (
    rf"(?i)\b(?:account|acct|acc|a/c){_NUMBER_IS}(?P<secret>[0-9]{{6,12}})(?![0-9])"
    r"(?=[^\n]{0,40}?\b(?:sort[ -]?code|routing)\b)"
)
_ACCOUNT_AFTER = (
    r"(?i)\b(?:sort[ -]?code|routing)\b[^\n]{0,40}?\b(?:account|acct|acc|a/c)"
    rf"{_NUMBER_IS}(?P<secret>[0-9]{{6,12}})(?![0-9])"
)
# "The safe opens with 4-8-15-16", "the gate code's 4471" told the other way round.
_OPENED = (
    rf"(?i)\b{_LOCKED}(?:\slock)?\s(?:opens?|unlocks?|is\sopened|can\sbe\sopened)\s"
    r"(?:with|by|using)\s(?:the\s)?(?:code\s|combination\s|combo\s|number\s)?"
    r"(?P<secret>[0-9](?:[ -]?[0-9]){2,11}|(?:[0-9]{1,2}-){2,5}[0-9]{1,2})(?![0-9])"
)
_PASSPORT = (
    r"(?i)\b(?:passport|driv(?:ing|er'?s)\slicen[cs]e|id[ -]card|residence\spermit)"
    r"(?:'s)?\s(?:number|no\.?|num|#)(?:\s(?:is|was)|\s?[:=#])?\s{0,3}"
    r"(?P<secret>(?!(?:on|in|at|the|by|not)\s)(?=[A-Z]{0,5} ?[0-9])"
    r"[A-Z0-9][A-Z0-9 -]{4,18}[A-Z0-9])(?![A-Z0-9])"
)
_LIST = rf"{MASK}{{1,40}}(?:{_NEXT}{MASK}{{1,40}}){{0,9}}{_NEXT}"
# A kind, the hints without which it cannot match, the pattern, and who judges the value: see
# `ledger.secret_values`.
ANNOUNCED: tuple[tuple[SecretKind, str, str, str], ...] = (
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_FOR}(?:{_IS}|{_COLON}){_SAID}", "said"),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_EQUALS}{_ONE}", "whole"),
    (SecretKind.PASSWORD, _PASS_HINTS, rf"{_START}{_PASS}\s{_DIGIT_AHEAD}{_ONE}", "strong"),
    (SecretKind.PASSWORD, "pw", f"{_START}pw{_FOR}{_ANY}{_ONE}", "strong"),
    (SecretKind.PASSWORD, "pass", f"{_START}pass(?:{_COLON}|{_EQUALS}){_ONE}", "strong"),
    (SecretKind.PASSWORD, "pass", f"{_START}pass{_FOR}{_IS}{_DIGIT_AHEAD}{_ONE}", "strong"),
    (SecretKind.PASSWORD, "pass", f"{_USER_AND_LABEL}(?:{_ANY}|\\s){_DIGIT_AHEAD}{_ONE}", "strong"),
    (SecretKind.PASSWORD, MASK, f"{_START}{_PASS}{_FOR}{_ANY}{_LIST}{_ONE}", "strong"),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_CHANGED}{_PASS}{_FOR}{_TO}{_SAID}", "said_to"),
    (SecretKind.PASSWORD, "phrase mnemonic", f"{_START}{_SEED}{_ANY}{_SEEDS}", "said"),
    (SecretKind.PASSWORD, _ABROAD_HINTS, f"(?i){_ABROAD}{_FOR}{_ABROAD_IS}{_ONE}", "strong"),
    (SecretKind.PASSWORD, "cred login", f"{_START}{_LOGIN}{_FOR}{_ANY}{_ONE}", "pair"),
    (SecretKind.PIN, _PIN_HINTS, rf"{_START}{_PIN}{_FOR}(?:{_ANY}|\s){_CODE}", "all"),
    (SecretKind.PIN, _PIN_HINTS, f"{_START}{_PIN}{_FOR}{_ANY}{_ONE}", "strong"),
    (SecretKind.PIN, "code comb", f"{_UNLOCKS}{_FOR}{_ANY}{_CODE}", "all"),
    (
        SecretKind.PIN,
        "puk pass screen pattern comb",
        rf"{_START}{_OPENS}{_FOR}(?:{_ANY}|\s){_CODE}",
        "all",
    ),
    (SecretKind.PASSWORD, "key code phrase", f"{_START}{_NETWORK_KEY}{_FOR}{_ANY}{_SAID}", "said"),
    (SecretKind.TOKEN, "token", f"{_START}{_BEARER}{_FOR}{_ANY}{_ONE}", "random"),
    (SecretKind.TOKEN, "bearer", rf"(?i)\bbearer\s{_ONE}", "random"),
    (SecretKind.TOKEN, "authorization", f"(?i){_HEADER}{_ONE}", "whole"),
    (SecretKind.PRIVATE_KEY, "private", f"{_START}private[ _-]?key{_FOR}{_ANY}{_ONE}", "random"),
    (SecretKind.API_KEY, "key secret", f"{_START}{_KEY}{_FOR}{_ANY}{_ONE}", "random"),
    (SecretKind.PIN, "code", _OTP, "all"),
    (SecretKind.PIN, "open unlock", _OPENED, "all"),
    (SecretKind.NATIONAL_ID, "passport licen id permit", _PASSPORT, "all"),
    (SecretKind.IBAN, "code", _SORT_CODE, "all"),
    (SecretKind.IBAN, "routing", _ROUTING, "all"),
    (SecretKind.IBAN, "account acct a/c", _BANK_ACCOUNT, "all"),
    (SecretKind.IBAN, "sort routing", _ACCOUNT_BESIDE, "all"),
    (SecretKind.IBAN, "sort routing", _ACCOUNT_AFTER, "all"),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_TAG}{_TAGGED}", "whole"),
    (SecretKind.API_KEY, "key secret", f"{_START}{_KEY}{_TAG}{_TAGGED}", "random"),
    (SecretKind.TOKEN, "token", f"{_START}{_BEARER}{_TAG}{_TAGGED}", "random"),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_CELL}{_CELLED}", "cell"),
    (SecretKind.PASSWORD, _PASS_HINTS, f"{_START}{_PASS}{_BLOCK}{_ONE}", "whole"),
    (SecretKind.API_KEY, "key secret", f"{_START}{_KEY}{_BLOCK}{_ONE}", "random"),
    (SecretKind.PASSWORD, "curl wget", _CURL, "argument"),
    (SecretKind.PASSWORD, "mysql mariadb", _MYSQL, "argument"),
    (SecretKind.PASSWORD, "sshpass", _SSHPASS, "whole"),
    (SecretKind.PASSWORD, "redis-cli", _REDIS, "whole"),
    (SecretKind.PASSWORD, "@", _LOGIN_BESIDE, "strong"),
    (SecretKind.PASSWORD, "/ | pw pass", _USER_SLASH, "strong"),
    # In a shell's or an .env file's assignment even a short value is the secret.
    (SecretKind.API_KEY, "key secret token pass", f"{_ENV}={_ONE}", "whole"),
)
