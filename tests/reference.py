"""The reference: pages made of the docstrings of every public name, for the site of the documents.

Public are the names of `beliefledger`, the verbs of an open ledger and of its parts, and what these
return. The code is read, not run (griffe).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import griffe

import beliefledger

ROOT = Path(__file__).parent.parent
LEDGER = "beliefledger.memory.MemoryLedger"
ERRORS = "beliefledger.ledger.errors."
_TWINS = ("AsyncMemoryLedger", "open_memory_async")
"""The awaitable door has the verbs of the other one: see docs/async.md."""


@cache
def found(path: str) -> griffe.Object:
    """What has this path in our package. Raises `KeyError`."""
    if path == "beliefledger":
        return griffe.load(path, search_paths=[str(ROOT)])
    owner, _, name = path.rpartition(".")
    if not owner:
        raise KeyError(path)
    member = found(owner).members[name]
    return found(member.target_path) if isinstance(member, griffe.Alias) else member


def class_of(given: object) -> griffe.Class | None:
    """The class of ours that an annotation is, if it is one and nothing more."""
    if not isinstance(given, griffe.ExprName):
        return None
    try:
        thing = found(given.canonical_path)
    except KeyError:
        return None
    return thing if isinstance(thing, griffe.Class) else None


@cache
def exported() -> dict[str, griffe.Object]:
    """The names of `beliefledger`, each with what it is."""
    return {name: found(f"beliefledger.{name}") for name in sorted(beliefledger.__all__)}


@cache
def parts() -> dict[str, griffe.Class]:
    """The parts of an open ledger and their parts, by the name that it has them under."""
    made = _held(_class(LEDGER))
    shown = {each.path for each in exported().values()}
    for owner, part in list(made.items()):
        for name, each in _held(part).items():
            if each.path not in shown and not _is_inner(each):
                made[f"{owner}.{name}"] = each
    return dict(sorted(made.items()))


@cache
def values() -> dict[str, griffe.Class]:
    """What the verbs take and return, and what is in that, by name: those that have no page yet."""
    shown = {each.path for each in (*exported().values(), *parts().values())}
    known: dict[str, griffe.Class] = {}
    todo = list(_mentioned(each for _, each in names()))
    while todo:
        each = todo.pop()
        if each.path not in shown and not _is_inner(each):
            shown.add(each.path)
            known[each.name] = each
            todo += _mentioned(public(each).values())
    return dict(sorted(known.items()))


def public(owner: griffe.Class) -> dict[str, griffe.Function | griffe.Attribute]:
    """What a class has for others, those of its bases first."""
    members: dict[str, griffe.Function | griffe.Attribute] = {}
    for each in filter(None, map(class_of, owner.bases)):
        members |= public(each)
    for name, member in owner.members.items():
        if name.startswith(("_", "model_")):
            continue
        if isinstance(member, griffe.Function | griffe.Attribute):
            members[name] = member
    return members


def documented(thing: griffe.Object) -> str:
    """The docstring without its margin; "" where there is none."""
    return "" if thing.docstring is None else thing.docstring.value.strip()


def names() -> Iterator[tuple[str, griffe.Object]]:
    """Every public name and what it is: `open_memory`, `MemoryLedger.search`, `consent.grant`."""
    owners = {**exported(), **parts()}
    for owner, thing in owners.items():
        yield owner, thing
        if isinstance(thing, griffe.Class) and not _is_error(thing) and owner not in _TWINS:
            for name, member in _verbs(thing).items():
                yield f"{owner}.{name}", member


def is_read(member: griffe.Object) -> bool:
    """Whether a method is read like an attribute."""
    told = [str(each.value) for each in getattr(member, "decorators", ())]
    return "property" in member.labels or any("made_once" in each for each in told)


def _class(path: str) -> griffe.Class:
    thing = found(path)
    assert isinstance(thing, griffe.Class)
    return thing


def _is_error(thing: griffe.Object) -> bool:
    return thing.path.startswith(ERRORS)


def _is_inner(thing: griffe.Class) -> bool:
    """Whether it is of the log's own works, and not something that is handed out."""
    handed_out = thing.name in {"Subscription", "Consumer"}
    return thing.path.startswith("beliefledger.ledger.") and bool(_verbs(thing)) and not handed_out


def _verbs(owner: griffe.Class) -> dict[str, griffe.Function]:
    return {
        name: member
        for name, member in public(owner).items()
        if isinstance(member, griffe.Function) and not is_read(member)
    }


def _held(owner: griffe.Class) -> dict[str, griffe.Class]:
    """The objects of ours that an object has: made once, or given when it was made."""
    made = {}
    for name, member in public(owner).items():
        given = getattr(member, "annotation", None) or getattr(member, "returns", None)
        value = getattr(member, "value", None)
        if given is None and isinstance(value, griffe.ExprName):  # self.jobs = jobs
            given = next(
                (each.annotation for each in _made_with(owner) if each.name == value.name), None
            )
        if given is None and isinstance(value, griffe.ExprCall):  # self.holds = LegalHolds(core)
            given = value.function
        each = class_of(given)
        if each is not None and (is_read(member) or isinstance(member, griffe.Attribute)):
            made[name] = each
    return made


def _made_with(owner: griffe.Class) -> Iterable[griffe.Parameter]:
    made = owner.members.get("__init__")
    return made.parameters if isinstance(made, griffe.Function) else ()


def _mentioned(members: Iterable[griffe.Object]) -> Iterator[griffe.Class]:
    """The classes of ours in the annotations of methods and attributes."""
    for member in members:
        given = [getattr(member, "annotation", None)]
        if isinstance(member, griffe.Function):
            given = [member.returns, *(each.annotation for each in member.parameters)]
        elif isinstance(member, griffe.Class):
            yield from _mentioned(public(member).values())
            continue
        for annotation in given:
            if isinstance(annotation, griffe.Expr):
                for each in annotation.iterate(flat=True):
                    thing = class_of(each)
                    if thing is not None and not thing.name.startswith("_"):
                        yield thing


# --- Pages ---------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """The pages of the reference, by the names of their files."""
    made = {
        "ledger.md": _page("An open ledger", ["open_memory", "open_memory_async"], exported())
        + _verbs_of("MemoryLedger", exported()["MemoryLedger"])
        + _entry("AsyncMemoryLedger", exported()["AsyncMemoryLedger"]),
        "given.md": _page("What is given", _given(), exported()),
        "values.md": _page("What is returned", values(), values()),
        "errors.md": _page("Errors", _by_depth(), exported()),
    }
    for name, part in parts().items():
        if "." not in name:
            inner = {each: thing for each, thing in parts().items() if each.startswith(f"{name}.")}
            made[f"{name}.md"] = f"# memory.{name}\n\n" + "".join(
                _verbs_of(f"memory.{each}", thing) for each, thing in {name: part, **inner}.items()
            )
    return {"index.md": _index(), **made}


def page_of(name: str) -> str:
    """The page that a public name is on."""
    top = name.partition(".")[0]
    if top in parts():
        return f"{top}.md"
    thing = exported()[top]
    if _is_error(thing):
        return "errors.md"
    return "ledger.md" if top == "MemoryLedger" or top in (*_TWINS, "open_memory") else "given.md"


def _given() -> list[str]:
    return [name for name in exported() if page_of(name) == "given.md"]


def _by_depth() -> list[str]:
    """The errors, each after the one that it is a kind of."""

    def lineage(name: str) -> list[str]:
        thing = exported().get(name)
        bases = [str(each) for each in getattr(thing, "bases", ())]
        return [*(lineage(bases[0]) if bases and bases[0] in exported() else []), name]

    return sorted((name for name in exported() if page_of(name) == "errors.md"), key=lineage)


def _index() -> str:
    lines = [
        "# Python reference",
        "",
        "Made of the docstrings. Everything here is imported from `beliefledger`; a part is an"
        " attribute of an open ledger.",
        "",
        "| name | what it is |",
        "|---|---|",
    ]
    for name, thing in names():
        owner = name.partition(".")[0]
        shown = f"memory.{name}" if owner in parts() else name
        first = re.split(r"(?<=[.;])\s|\n\n", documented(thing), maxsplit=1)[0].replace("\n", " ")
        lines.append(f"| [`{shown}`]({page_of(name)}) | {first.replace('|', '&#124;')} |")
    lines += ["", "[What is returned](values.md) has the fields of every answer.", ""]
    return "\n".join(lines)


def _page(title: str, wanted: Iterable[str], among: dict[str, griffe.Object]) -> str:
    return f"# {title}\n\n" + "".join(_entry(name, among[name]) for name in wanted)


def _verbs_of(title: str, owner: griffe.Object) -> str:
    assert isinstance(owner, griffe.Class)
    text = f"## {title}\n\n{_prose(owner)}"
    called = owner.members.get("__call__")  # memory.types.backfill(…)
    if isinstance(called, griffe.Function):
        text += f"{_signature(called)}{_prose(called)}"
    for name, member in public(owner).items():
        if isinstance(member, griffe.Function) and not is_read(member):
            text += f"### {title}.{name}\n\n{_signature(member)}{_prose(member)}"
    return text


def _entry(name: str, thing: griffe.Object) -> str:
    text = f"## {name}\n\n"
    if isinstance(thing, griffe.Function):
        return text + _signature(thing) + _prose(thing)
    assert isinstance(thing, griffe.Class)
    if _is_error(thing):
        text += f"A kind of `{thing.bases[0]}`.\n\n" if thing.bases else ""
        return text + _prose(thing)
    text += _prose(thing)
    if name in _TWINS:
        return f"{text}As `MemoryLedger`, each verb awaited: see [async](../async.md).\n\n"
    rows = []
    for field, member in public(thing).items():
        if isinstance(member, griffe.Attribute) or is_read(member):
            kind = getattr(member, "annotation", None) or getattr(member, "returns", None) or ""
            said = documented(member).replace("\n", " ").replace("|", "&#124;")
            rows.append(f"| `{field}` | {_code(str(kind))} | {said} |\n")
    if rows:
        text += "| field | type | what it is |\n|---|---|---|\n" + "".join(rows) + "\n"
    for verb, member in _verbs(thing).items():
        text += f"### {name}.{verb}\n\n{_signature(member)}{_prose(member)}"
    return text


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "&#124;") if text and "|" not in text else _escaped(text)


def _escaped(text: str) -> str:
    return f"<code>{text}</code>".replace("|", "&#124;") if text else ""


def _signature(function: griffe.Function) -> str:
    given = []
    marked = False
    for each in function.parameters:
        if each.name in {"self", "cls"}:
            continue
        if each.kind is griffe.ParameterKind.keyword_only and not marked:
            marked = True
            given.append("*")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(str(each.kind.value), "")
        marked = marked or stars == "*"
        kind = "" if each.annotation is None else f": {each.annotation}"
        default = "" if each.default is None or stars else f" = {each.default}"
        given.append(f"{stars}{each.name}{kind}{default}")
    lines = "".join(f"    {each},\n" for each in given)
    inside = f"\n{lines}" if lines else ""
    return f"```python\n{function.name}({inside}) -> {function.returns}\n```\n\n"


def _prose(thing: griffe.Object) -> str:
    """The docstring as Markdown: its sessions are code."""
    blocks = []
    for block in re.split(r"\n\s*\n", documented(thing)):
        fenced = block.startswith(">>> ")
        blocks.append(f"```python\n{block}\n```" if fenced else block.replace("<", "&lt;"))
    return "\n\n".join(filter(None, blocks)) + "\n\n"
