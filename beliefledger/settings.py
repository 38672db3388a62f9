"""The settings from the environment. No other module reads it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from beliefledger.gate import foreign_calls
from beliefledger.gate.deadline import DEFAULT_SECONDS
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn

LEDGER = "BELIEFLEDGER_LEDGER"
TENANTS = "BELIEFLEDGER_TENANTS"
TENANT = "BELIEFLEDGER_TENANT"
MASTER_KEY = "BELIEFLEDGER_MASTER_KEY"
MASTER_KEY_FILE = "BELIEFLEDGER_MASTER_KEY_FILE"
SIGNING_KEY_FILE = "BELIEFLEDGER_SIGNING_KEY_FILE"
VAULT = "BELIEFLEDGER_VAULT"
EXTRACTOR = "BELIEFLEDGER_EXTRACTOR"
MODEL = "BELIEFLEDGER_MODEL"
MODEL_URL = "BELIEFLEDGER_MODEL_URL"
MODEL_KEY = "BELIEFLEDGER_MODEL_KEY"
VENDOR_KEYS = {"claude": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""By the extractor's name. Each is sent to its own vendor's extractor and to no other one."""
EXTRACTION_SECONDS = "BELIEFLEDGER_EXTRACTION_SECONDS"
EXTRACTOR_TIMEOUT = "BELIEFLEDGER_EXTRACTOR_TIMEOUT"
EMBEDDER = "BELIEFLEDGER_EMBEDDER"
INDEXED_TEXTS = "BELIEFLEDGER_INDEXED_TEXTS"
CONSENT = "BELIEFLEDGER_CONSENT"
REDACTIONS = "BELIEFLEDGER_REDACTIONS"
TOKENIZER = "BELIEFLEDGER_TOKENIZER"
WITNESS = "BELIEFLEDGER_WITNESS"
WITNESS_KEY = "BELIEFLEDGER_WITNESS_KEY"
TOKEN = "BELIEFLEDGER_TOKEN"  # noqa: S105  (a variable's name)
SERVER_PREFIX = "BELIEFLEDGER_SERVER_"
"""Begins the variables of a server's settings."""
LIBRARY_WITHOUT_LOCK = "POSTGRES_ENABLE_DB_FUNCTIONS"
"""eventsourcing's own: tells it to append without its lock."""
DEFAULT_LEDGER = "./beliefledger-data"

DEFAULT_TEXTS = 3_000
"""About 12 MB; of whoever asks often, the index stays."""

_YES = {"y", "yes", "t", "true", "on", "1"}
"""What the library takes for yes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment, read once when a ledger is opened. Shown without what is secret: a URL may
    have a password in it."""

    ledger: str = field(repr=False)
    master_key: str | None = field(repr=False)
    master_key_file: Path | None
    vault: str | None = field(default=None, repr=False)
    library_without_lock: bool = False
    extractor: str = "rules"
    """`rules`, `claude`, `openai`, or one that another package registers."""
    model: str | None = None
    """Which model extracts; None: the client's default."""
    model_url: str | None = field(default=None, repr=False)
    """Where it is served, when not by its vendor."""
    model_key: str | None = field(default=None, repr=False)
    """The key for whichever extractor is chosen."""
    embedder: str | None = None
    """Which model search compares texts with, until one is adopted; None: the best installed."""
    indexed_texts: int = DEFAULT_TEXTS
    """So many texts of all people together stay in memory for searches, and whoever was asked about
    last, however many theirs are."""
    witness: str | None = field(default=None, repr=False)
    """The URL of the witness that every head of the log is shown to."""
    witness_key: str | None = None
    """The verifier key that its cosignatures are known by."""
    extraction_seconds: float = DEFAULT_SECONDS
    """CPU seconds that reading one turn may take."""
    extractor_timeout: float = foreign_calls.DEFAULT_SECONDS
    """Seconds on the wall that an extractor which is not ours is waited for."""
    signing_key_file: Path | None = None
    """Where the key lies that signs checkpoints; by default beside the master key."""
    vendor_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The keys that vendors' own variables hold, by the extractor's name."""
    consent: str | None = None
    """The lawful basis that is granted at each subject's first turn; None: somebody grants it."""

    redactions: tuple[str, ...] = ()
    """Redactions of other packages, by the names that they are registered under."""
    tokenizer: str | Callable[[str], int] = "estimate"
    """Who counts the tokens of a context, where its call does not say: by name, or as given."""
    tenants: Path | None = None
    """The table of tenants, which says where each one's ledger is."""
    tenant: str | None = None
    """Whose ledger of that table is meant, in the place of `ledger`."""

    @classmethod
    def read(cls) -> Settings:
        file = os.environ.get(MASTER_KEY_FILE)
        signing = os.environ.get(SIGNING_KEY_FILE)
        table = os.environ.get(TENANTS)
        return cls(
            os.environ.get(LEDGER) or DEFAULT_LEDGER,
            os.environ.get(MASTER_KEY) or None,
            Path(file) if file else None,
            os.environ.get(VAULT) or None,
            os.environ.get(LIBRARY_WITHOUT_LOCK, "").strip().lower() in _YES,
            os.environ.get(EXTRACTOR) or "rules",
            os.environ.get(MODEL) or None,
            os.environ.get(MODEL_URL) or None,
            os.environ.get(MODEL_KEY) or None,
            os.environ.get(EMBEDDER) or None,
            extraction_seconds=seconds_of(os.environ.get(EXTRACTION_SECONDS) or DEFAULT_SECONDS),
            extractor_timeout=timeout_of(
                os.environ.get(EXTRACTOR_TIMEOUT) or foreign_calls.DEFAULT_SECONDS
            ),
            indexed_texts=texts_of(os.environ.get(INDEXED_TEXTS) or DEFAULT_TEXTS),
            signing_key_file=Path(signing) if signing else None,
            witness=os.environ.get(WITNESS, "").strip() or None,
            witness_key=os.environ.get(WITNESS_KEY, "").strip() or None,
            vendor_keys={
                extractor: os.environ[name]
                for extractor, name in VENDOR_KEYS.items()
                if os.environ.get(name)
            },
            consent=os.environ.get(CONSENT, "").strip() or None,
            redactions=tuple(os.environ.get(REDACTIONS, "").replace(",", " ").split()),
            tokenizer=os.environ.get(TOKENIZER, "").strip() or "estimate",
            tenants=Path(table) if table else None,
            tenant=os.environ.get(TENANT, "").strip() or None,
        )

    def key_of(self, extractor: str) -> str | None:
        """The key for the model of an extractor. One vendor's key is never another's."""
        return self.model_key or self.vendor_keys.get(extractor)


def seconds_of(given: float | str) -> float:
    """The deadline for reading a turn in seconds. Raises `InvalidTurn` for an invalid one."""
    how = f"{EXTRACTION_SECONDS}, or extraction_seconds"
    return _seconds(given, "deadline for reading a turn", how)


def timeout_of(given: float | str) -> float:
    """How long to wait for an extractor in seconds. Raises `InvalidTurn` for an invalid one."""
    return _seconds(given, "timeout of an extractor", f"{EXTRACTOR_TIMEOUT}, or extractor_timeout")


def texts_of(given: int | str) -> int:
    """How many texts may stay in memory. Raises `InvalidQuery` for an invalid number."""
    try:
        texts = int(given)
    except ValueError:
        texts = -1
    if texts < 0:
        raise InvalidQuery(
            f"{given!r} is no number of texts: give 0 or more, about 4 kB of memory each"
            f" ({INDEXED_TEXTS})."
        )
    return texts


def _seconds(given: float | str, what: str, how: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise InvalidTurn(
            f"{given!r} is no {what}: give seconds above 0 and at most 86400 ({how})."
        )
    return seconds


def server_environment() -> dict[str, str]:
    """The settings of a server that the environment has, by their names in lower case."""
    return {
        name.removeprefix(SERVER_PREFIX).lower(): value
        for name, value in os.environ.items()
        if name.startswith(SERVER_PREFIX) and value
    }


@dataclass(frozen=True, slots=True)
class Tracing:
    """What OpenTelemetry's variables say of traces; its SDK reads the rest of them itself."""

    on: bool
    exporter: str
    protocol: str
    names_service: bool


def tracing() -> Tracing:
    """Traces are on where an exporter is named, or an address to send them to."""
    told = {name: each.strip() for name, each in os.environ.items() if name.startswith("OTEL_")}
    exporter = told.get("OTEL_TRACES_EXPORTER", "").lower()
    named = any(told.get(f"OTEL_EXPORTER_OTLP_{each}ENDPOINT") for each in ("", "TRACES_"))
    off = exporter == "none" or told.get("OTEL_SDK_DISABLED", "").lower() == "true"
    protocols = (told.get(f"OTEL_EXPORTER_OTLP_{each}PROTOCOL") for each in ("TRACES_", ""))
    return Tracing(
        on=bool(exporter or named) and not off,
        exporter=exporter or "otlp",
        protocol=next(filter(None, protocols), "http/protobuf"),
        names_service=bool(told.get("OTEL_SERVICE_NAME"))
        or "service.name=" in told.get("OTEL_RESOURCE_ATTRIBUTES", ""),
    )


def token() -> str | None:
    """The token of whoever runs the tools over standard input and output."""
    return os.environ.get(TOKEN, "").strip() or None


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """The keys to a store that speaks S3, as its own tools have them in the environment."""

    key_id: str
    secret: str = field(repr=False)
    session: str | None = field(repr=False)
    region: str


def store_keys() -> StoreKeys | None:
    """None where there are none."""
    told = {name: each.strip() for name, each in os.environ.items() if name.startswith("AWS_")}
    key_id, secret = told.get("AWS_ACCESS_KEY_ID"), told.get("AWS_SECRET_ACCESS_KEY")
    if not key_id or not secret:
        return None
    region = told.get("AWS_REGION") or told.get("AWS_DEFAULT_REGION") or "us-east-1"
    return StoreKeys(key_id, secret, told.get("AWS_SESSION_TOKEN") or None, region)


def completing() -> bool:
    """Whether a shell asks which words the command line could go on with."""
    return "_BELIEFLEDGER_COMPLETE" in os.environ


def model_cache() -> str | None:
    """Where sentence-transformers keeps its models, if it was told; it reads this itself, too."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME") or None


def one_thread_each() -> None:
    """Let libraries that compute start no threads: a server's calls come in several already, a
    command asks one question, and their own threads wait for more work busily, which costs more
    than a search. To be said before they are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def no_plugins() -> None:
    """Let pydantic look for no plugins of its own, for which it reads what every installed package
    says of itself. To be said before the first model is used; of a command alone, as somebody's
    program may have such plugins for its own models."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
