"""Opening a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beliefledger.gate.policy import Policy, load
from beliefledger.ledger import own_secrets
from beliefledger.ledger.own_secrets import Redaction
from beliefledger.ledger.times import Clock, system_clock
from beliefledger.memory import MemoryLedger
from beliefledger.opening.build import build
from beliefledger.opening.place import place_of
from beliefledger.projections.embedding import Embedder
from beliefledger.settings import Settings, seconds_of, timeout_of

if TYPE_CHECKING:
    from beliefledger.gate.extractor import Extractor


def open_memory(
    path_or_url: str | Path,
    *,
    policy: Policy | Path | str | Mapping[str, Any] | None = None,
    extractor: Extractor | str | None = None,
    embedder: Embedder | str | None = None,
    redactions: Iterable[Redaction | str] = (),
    tokenizer: str | Callable[[str], int] | None = None,
    extraction_seconds: float | None = None,
    extractor_timeout: float | None = None,
    consent: str | None = None,
    clock: Clock = system_clock,
    create: bool = True,
    witnessed: bool = True,
) -> MemoryLedger:
    """Open a ledger, making it when it is not there.

    `path_or_url` is a directory, or `postgresql://user@host/database`, where `?schema=` and
    `&tenant=` say more if they are not the default. `policy` is adopted if another one is in
    force: a `Policy`, a YAML file, or fields that differ from the default. `extractor` notices
    statements in turns: "rules", offline, "claude", "openai", one that an installed package
    registers, or one of your own; without one, what `BELIEFLEDGER_EXTRACTOR` says, else rules.
    `embedder` makes the vectors that search compares meanings with, until another one is adopted:
    "words-3", "all-minilm-l6-v2", a model of sentence-transformers, one that an installed package
    registers, or one of your own; without one, what `BELIEFLEDGER_EMBEDDER` says, else the best
    that is installed. `redactions` are kinds of secrets of your own, as objects or by the names
    that packages register, besides those that `BELIEFLEDGER_REDACTIONS` names: in the whole
    process, what they find is taken out of everything that is recorded. `tokenizer` counts the
    tokens of contexts that name no other: "estimate", "bytes", one that an installed package
    registers, or a function of a text; without one, what `BELIEFLEDGER_TOKENIZER` says, else
    "estimate".
    `clock` tells microseconds since 1970 UTC.
    `extraction_seconds` is how much CPU time reading one turn may take, else
    `BELIEFLEDGER_EXTRACTION_SECONDS`, else 10; a turn that takes more is parked.
    `extractor_timeout` is how many seconds an extractor that is not ours is waited for, else
    `BELIEFLEDGER_EXTRACTOR_TIMEOUT`, else 120; a turn for which it did not return stays pending.
    `consent` is a lawful basis that is granted at each subject's first turn, on record: for
    ordinary memories, the policy's purpose and the subject alone, and never again to somebody who
    withdrew it; without it, what `BELIEFLEDGER_CONSENT` says, else somebody has to grant one.
    A ledger with a witness (`BELIEFLEDGER_WITNESS`) is opened when that has cosigned its head; with
    `witnessed=False`, to look what is wrong with it, at once.

    Raises `ExtractorMissing`, `EmbedderMissing` and `RedactionMissing` for what is not installed
    or has no such name,
    `KeyMissing` for a wrong master key, `PolicyInvalid`, `NotPermitted`,
    `BackendUnavailable`, `BehindWitness`, `SplitView`.

    >>> import tempfile
    >>> with open_memory(tempfile.mkdtemp(), consent="consent") as memory:
    ...     _ = memory.record_turn("ana", "I always use dark mode.")
    ...     _ = memory.process()
    ...     [belief.text for belief in memory.beliefs("ana")]
    ['User always uses dark mode']
    """
    place = place_of(path_or_url)
    chosen = None if policy is None else load(policy)
    settings = Settings.read()
    given_embedder = None if isinstance(embedder, str) else embedder
    if embedder is not None:
        name = embedder if isinstance(embedder, str) else embedder.name
        settings = replace(settings, embedder=name)
    if given_embedder is None and settings.embedder is not None:
        from beliefledger.search.models import check_named  # noqa: PLC0415  (most name none)

        check_named(settings.embedder)
    for redaction in redactions:
        own_secrets.add(redaction)
    if tokenizer is not None:
        settings = replace(settings, tokenizer=tokenizer)
    if extraction_seconds is not None:
        settings = replace(settings, extraction_seconds=seconds_of(extraction_seconds))
    if extractor_timeout is not None:
        settings = replace(settings, extractor_timeout=timeout_of(extractor_timeout))
    if consent is not None:
        settings = replace(settings, consent=consent)
    core = build(
        place,
        policy=chosen,
        extractor=extractor,
        clock=clock,
        settings=settings,
        create=create,
        witnessed=witnessed,
        embedder=given_embedder,
    )
    return MemoryLedger(core)
