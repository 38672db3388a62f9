"""The document about one person as a page for a browser: no scripts, nothing loaded from elsewhere.

Every text goes through `_text`, which escapes it: what was said is shown, and is never markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape
from itertools import chain

from beliefledger.exports.person import (
    ExportedConsent,
    ExportedMemory,
    ExportedRecall,
    ExportedVersion,
)
from beliefledger.exports.record import PersonRecord
from beliefledger.ledger.events import BY_NAME

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that HTML forbids, or that turn the direction of what follows."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid #e5e5e5; overflow-wrap: anywhere }
th { font-weight: 600 } td.words { white-space: pre-wrap; unicode-bidi: isolate }
.quiet { color: #5a5a5a } summary { cursor: pointer }
@media print { details > * { display: block } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_PARTS = (
    ("memories", "What is remembered"),
    ("turns", "What was said"),
    ("decisions", "What was decided"),
    ("consents", "On what basis"),
    ("recalls", "Each time something was looked up"),
    ("told", "Who was told"),
    ("holds", "Holds, erasures and exports"),
    ("record", "What else is on record"),
    ("withheld", "What is not here, and why"),
)


def html_text(record: PersonRecord) -> Iterator[str]:
    """The page in pieces."""
    person, exported = record.person(), record.exported
    title = f"What is held about {person.subject}"
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_text(title)}</h1>\n"
        f"<p>Exported on {_when(exported.at)} UTC by {_text(exported.by)}, as of event"
        f" {exported.position} of the ledger. On record since"
        f" {_when(person.registered_at)} UTC.</p>\n"
    )
    if exported.note:
        yield f"<p>{_text(exported.note)}</p>\n"
    yield "<ul>\n"
    for name, heading in _PARTS:
        yield f'<li><a href="#{name}">{_text(heading)}</a></li>\n'
    yield "</ul>\n"
    yield from _section("memories", "Each statement with what it was before.")
    yield from _table(
        ("what", "since", "until", "how sure", "believed", "before"),
        (_memory_row(each) for each in record.memories()),
    )
    yield from _section("turns", "The words as they were recorded, in order.")
    yield from _table(
        ("when", "who", "words", "session"),
        (
            (
                _when(each.said_at or each.recorded_at),
                each.speaker or each.role,
                _Words("erased" if each.erased else each.content or ""),
                each.session,
            )
            for each in record.turns()
        ),
    )
    yield from _section(
        "decisions", "Each statement that was noticed, what was done with it, and why."
    )
    yield from _table(
        ("when", "statement", "outcome", "reason"),
        (
            (
                _when(each.recorded_at),
                _Words("erased" if each.claim is None else each.claim),
                each.outcome,
                each.says or each.reason,
            )
            for each in record.decisions()
        ),
    )
    yield from _basis(record)
    yield from _section("recalls", "What was asked, by whom, and how much was found.")
    yield from _table(
        ("when", "by", "for what", "question", "found", "shown"),
        map(_recall_row, record.recalls()),
    )
    yield from _section(
        "told", "Programs and people to whom something was shown, or may have been."
    )
    yield from _table(
        ("who", "how", "for what", "how often", "first", "last"),
        (
            (
                each.who,
                each.how.replace("_", " "),
                each.purpose,
                "not on record" if each.times is None else str(each.times),
                _when(each.first),
                _when(each.last),
            )
            for each in record.told()
        ),
    )
    yield from _kept(record)


class _Words(str):
    """Words of somebody, with their line breaks."""

    __slots__ = ()


def _memory_row(memory: ExportedMemory) -> tuple[object, ...]:
    *before, last = memory.versions
    return (
        _Words(last.text),
        _when(last.valid_from)[:10],
        _until(last),
        f"{last.confidence:.2f}",
        _standing(memory, last),
        "; ".join(dict.fromkeys(_version(each) for each in before)),
    )


def _standing(memory: ExportedMemory, last: ExportedVersion) -> str:
    if memory.holds:
        return "yes, and contested" if last.contested else "yes"
    if last.became is not None:
        return f"no: {last.became.text}"
    return "kept apart: not sure enough" if last.quarantined else "no"


def _version(version: ExportedVersion) -> str:
    became = f" ({version.became.text})" if version.became else ""
    return f"{version.text}, as of {_when(version.recorded_from)[:10]}{became}"


def _until(version: ExportedVersion) -> str:
    ends = [each for each in (version.valid_to, version.expires_at) if each is not None]
    return _when(min(ends))[:10] if ends else ""


def _recall_row(each: ExportedRecall) -> tuple[object, ...]:
    asked = each.asked or {}
    return (
        _when(each.at),
        each.by,
        each.purpose,
        _Words(asked.get("query") or ""),
        str(len(each.found)),
        str(len(each.shown)),
    )


def _basis(record: PersonRecord) -> Iterator[str]:
    yield from _section("consents", "The lawful bases on which something may be kept.")
    yield from _table(
        ("basis", "for", "purpose", "visible to", "recorded", "by", "in force", "note"),
        (
            (
                each.basis,
                ", ".join(each.categories),
                each.purpose,
                each.scope,
                _when(each.granted_at),
                each.by,
                _in_force(each),
                _Words(each.note or ""),
            )
            for each in record.consents()
        ),
    )
    yield "<h3>Withdrawn</h3>\n"
    yield from _table(
        ("when", "by", "memories taken back", "note"),
        (
            (_when(each.at), each.by, str(each.revoked), _Words(each.note or ""))
            for each in record.withdrawals()
        ),
    )


def _in_force(consent: ExportedConsent) -> str:
    if consent.in_force:
        return f"until {_when(consent.expires_at)}" if consent.expires_at else "yes"
    ended = consent.withdrawn_at or consent.expires_at
    return f"no, since {_when(ended)}" if ended else "no"


def _kept(record: PersonRecord) -> Iterator[str]:
    yield from _section("holds", "What may not be erased, what was, and who was given all of this.")
    yield from _table(
        ("hold", "reason", "placed", "by", "lifted"),
        (
            (
                each.hold,
                _Words(each.reason or ""),
                _when(each.placed_at),
                each.by,
                _when(each.lifted_at),
            )
            for each in record.holds()
        ),
    )
    yield from _table(
        ("erased", "on what basis", "asked for", "by", "done"),
        (
            (
                each.reach,
                each.legal_basis,
                _when(each.requested_at),
                each.by,
                _when(each.completed_at),
            )
            for each in record.erasures()
        ),
    )
    yield from _table(
        ("exported or imported", "when", "by", "note"),
        (
            (each.what, _when(each.at), each.by, _Words(each.note or ""))
            for each in record.exports()
        ),
    )
    yield from _section(
        "record",
        "How many events of each kind there are about the person. The JSON of this export has each"
        " of them with all that it says.",
    )
    yield from _table(
        ("kind", "how many", "it happens when"),
        ((name, str(number), _happens(name)) for name, number in record.counted().items()),
    )
    yield from _section("withheld", "")
    yield from _table(
        ("what", "why", "how many"),
        (
            (each.what, each.why, "" if each.count is None else str(each.count))
            for each in record.withheld()
        ),
    )
    yield "</body>\n</html>\n"


def _happens(name: str) -> str:
    said = " ".join((BY_NAME[name].__doc__ or "").split())
    return said.split(". ")[0].rstrip(".") + "."


def _section(name: str, what: str) -> Iterator[str]:
    yield f'<h2 id="{name}">{_text(dict(_PARTS)[name])}</h2>\n'
    if what:
        yield f'<p class="quiet">{_text(what)}</p>\n'


def _table(columns: Iterable[str], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    following = iter(rows)
    first = next(following, None)
    if first is None:
        yield '<p class="quiet">Nothing.</p>\n'
        return
    heads = "".join(f"<th>{_text(each)}</th>" for each in columns)
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n"
    yield "<tbody>\n"
    for row in chain([first], following):
        yield f"<tr>{''.join(map(_cell, row))}</tr>\n"
    yield "</tbody>\n</table>\n"


def _cell(value: object) -> str:
    shown = "" if value is None else _text(value)
    return f'<td class="words">{shown}</td>' if isinstance(value, _Words) else f"<td>{shown}</td>"


def _text(value: object) -> str:
    """Words as text of the page, whatever they are."""
    return escape(_UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def _when(at: datetime | None) -> str:
    return "" if at is None else at.strftime("%Y-%m-%d %H:%M")
