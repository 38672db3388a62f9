"""Parts of one's own, as objects and by name: extractor, embedder, tokenizer, redaction."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import programs
import pytest
from command_line import CliRunner

from beliefledger import (
    EmbedderMissing,
    EmbedderWrong,
    ExtractorMissing,
    RedactionMissing,
    TokenizerMissing,
    open_memory,
)
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger import canonical, own_secrets
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn, SecretGiven
from beliefledger.ledger.redact import Redaction, may_hold_secret, redact
from beliefledger.search import models
from beliefledger.tools.cli import app

BADGE = "AC-123459"
LONGEST = 10
"""Lines that a class on the page may have."""


def test_the_page_runs_with_the_package_that_it_shows(installed):
    page = "custom-parts.md"
    results = doctest.testfile(f"../../docs/{page}", package=None, encoding="utf-8")
    assert results.attempted > 8
    assert results.failed == 0


def test_each_part_is_a_short_class(acme):
    for path in acme.glob("acme_*.py"):
        [body] = re.findall(r"^class .*", path.read_text("utf-8"), re.M | re.S)
        assert len(body.strip().splitlines()) <= LONGEST, path.name


def test_they_are_given_as_objects(installed, place):
    def part(module, name):
        return getattr(importlib.import_module(module), name)()

    with open_memory(
        place,
        extractor=part("acme_tickets", "Tickets"),
        embedder=part("acme_vectors", "Words"),
        redactions=[part("acme_badges", "Badge")],
        consent="consent",
    ) as memory:
        receipt, [decision] = memory.remember("ana", f"I work on ACME-7. My badge is {BADGE}.")
        assert decision.claim == "User works on ACME-7"
        assert BADGE not in memory.turn(receipt.turn_id).content
        [found] = memory.search("ana", "who works on ACME-7?").results
        assert found.text == "I work on ACME-7. My badge is [redacted employee_number]."
        assert memory.vectors.status("ana").missing == 0
        words = part("acme_tokens", "Words")
        answer = memory.context("ana", "ACME-7?", tokenizer=words)
        assert answer.counted_by == "callable"
    with open_memory(place, tokenizer=words) as memory:
        assert memory.context("ana", "ACME-7?").tokens == answer.tokens
        assert memory.context("ana", "ACME-7?").counted_by == "callable"
        assert memory.context("ana", "ACME-7?", tokenizer="bytes").counted_by == "bytes"


def test_they_are_chosen_by_the_environment_on_the_command_line(installed, place, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "tickets")
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", "acme-words-1")
    monkeypatch.setenv("BELIEFLEDGER_REDACTIONS", "badges")
    told = ["--ledger", place, "remember", "--subject", "ana", "--consent", "consent"]
    done = CliRunner().invoke(app, [*told, f"I work on ACME-3. My badge is {BADGE}."])
    assert done.exit_code == 0, done.stderr
    asked = ["--ledger", place, "context", "--subject", "ana", "--tokenizer", "acme-words"]
    shown = CliRunner().invoke(app, [*asked, "which ticket?"])
    assert shown.exit_code == 0, shown.stderr
    assert "ACME-3" in shown.stdout
    asked = ["--ledger", place, "context", "--subject", "ana", "--json", "which ticket?"]
    for name, counts in (("", "estimate"), ("acme-words", "acme-words"), ("bytes", "bytes")):
        monkeypatch.setenv("BELIEFLEDGER_TOKENIZER", name)
        told = json.loads(CliRunner().invoke(app, asked).stdout)
        assert told["counted_by"] == counts
    monkeypatch.setenv("BELIEFLEDGER_TOKENIZER", "acme")
    refused = CliRunner().invoke(app, asked)
    assert refused.exit_code == 2
    assert "There is no tokenizer 'acme'; there are: estimate, bytes, acme-words" in refused.stderr
    monkeypatch.delenv("BELIEFLEDGER_TOKENIZER")
    kept = [sys.executable, "-m", "beliefledger", "--ledger", place, "vectors", "status", "--json"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), *filter(None, sys.path)]))
    vectors = programs.run(kept, capture_output=True, text=True, check=True).stdout
    assert '"acme-words-1"' in vectors
    with open_memory(place) as memory:
        assert all(BADGE not in str(event.event) for event in memory.subscribe(follow=False))


@pytest.mark.parametrize(
    ("given", "error", "there"),
    [
        ({"extractor": "ticket"}, InvalidTurn, "there are: rules, claude, openai, tickets"),
        ({"redactions": ["badge"]}, RedactionMissing, "there are: badges. Install the package"),
    ],
)
def test_a_name_that_is_not_there_tells_which_there_are(installed, tmp_path, given, error, there):
    with pytest.raises(error, match=there):
        open_memory(tmp_path / "ledger", **given)
    assert not (tmp_path / "ledger").exists() or "extractor" in given


def test_a_redaction_that_the_settings_name_stops_the_opening(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_REDACTIONS", "badges")
    with pytest.raises(RedactionMissing, match="BELIEFLEDGER_REDACTIONS"):
        open_memory(tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def test_a_tokenizer_that_is_not_there_tells_which_there_are(installed, tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        with pytest.raises(InvalidQuery, match="there are: estimate, bytes, acme-words"):
            memory.context("ana", "where?", tokenizer="acme")


def test_an_embedder_that_is_not_there_tells_which_there_are(installed, tmp_path, monkeypatch):
    there = "there are: words-3, words-2, words-1, hashed-1, .*acme-words-1"
    with pytest.raises(EmbedderMissing, match=there):
        open_memory(tmp_path / "ledger", embedder="acme-words-2")
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", "word-2")
    with pytest.raises(EmbedderMissing, match=there + r".*BELIEFLEDGER_EMBEDDER"):
        open_memory(tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
    with open_memory(tmp_path / "ledger", embedder="hashed-1") as memory:
        with pytest.raises(EmbedderMissing):
            memory.vectors.migrate("acme-words-2", by="ops")


def test_an_embedder_of_an_extra_tells_which_where_it_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "installed", lambda: False)
    with pytest.raises(EmbedderMissing, match=r"not installed: pip install .*\[embeddings\]"):
        open_memory(tmp_path / "ledger", embedder="all-minilm-l6-v2")
    monkeypatch.setattr(models, "has_library", lambda: False)
    with pytest.raises(EmbedderMissing, match=r"pip install 'beliefledger\[embeddings\]'"):
        open_memory(tmp_path / "ledger", embedder="intfloat/e5-small")
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmbedderMissing, match="holds no model"):
        open_memory(tmp_path / "ledger", embedder=str(tmp_path / "empty"))
    assert not (tmp_path / "ledger").exists()


def test_a_model_in_the_library_s_cache_is_an_embedder(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "models"))
    repository = tmp_path / "models" / "models--sentence-transformers--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("a" * 40)
    (repository / "snapshots" / ("a" * 40)).mkdir(parents=True)
    (repository / "snapshots" / ("a" * 40) / "modules.json").write_text("[]")
    for name in ("tiny", "sentence-transformers/tiny"):
        open_memory(tmp_path / "ledger", embedder=name).close()
    with pytest.raises(EmbedderMissing, match="named by its directory"):
        open_memory(tmp_path / "ledger", embedder="not/a/name")


def test_a_ledger_moves_to_an_embedder_of_a_package(installed, place):
    with open_memory(place, embedder="hashed-1", consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        memory.search("ana", "where?")
        moved = memory.vectors.migrate("acme-words-1", by="ops")
        assert (moved.adopted, moved.dimension) == (True, 256)
    with open_memory(place) as memory:
        status = memory.vectors.status()
        assert (status.model, status.used) == ("acme-words-1", "acme-words-1")


def _register(site, package, group, registers, source):
    (site / f"{package}.py").write_text(source, "utf-8")
    info = site / f"{package}-2.0.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n"
    (info / "METADATA").write_text(metadata, "utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{registers}\n", "utf-8")


@pytest.fixture
def broken(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def registered(group, registers, source):
        monkeypatch.delitem(sys.modules, "broken", raising=False)
        _register(site, "broken", group, registers, source)

    yield registered
    sys.modules.pop("broken", None)


def test_a_tokenizer_that_cannot_be_loaded_is_told_with_its_package(broken, tmp_path):
    broken("beliefledger.tokenizers", "acme = broken:Missing", "")
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        with pytest.raises(TokenizerMissing, match=r"of the package broken 2\.0 could not be"):
            memory.context("ana", "where?", tokenizer="acme")


WORDS = """
class Words:
    name, dimension, floor, weight = "acme-1", 4, 0.3, 0.5

    def embed(self, texts):
        return {}
"""


@pytest.mark.parametrize(
    ("returns", "told"),
    [
        ("[[1, 0, 0]] * len(texts)", r"shape \(\d, 3\), not \(\d, 4\)"),
        ("[[1, 0, 0, 0]] * (len(texts) + 1)", r"shape \(\d, 4\), not \(\d, 4\)"),
        ("[[1, 0, 0, float('nan')]] * len(texts)", "no number"),
        ("['a'] * len(texts)", "no rows of numbers"),
        ("None", "no rows of numbers|shape"),
    ],
)
def test_what_is_no_vectors_is_refused(broken, tmp_path, returns, told):
    broken("beliefledger.embedders", "acme-1 = broken:Words", WORDS.format(returns))
    with open_memory(tmp_path / "ledger", embedder="acme-1", consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        with pytest.raises(EmbedderWrong, match=told):
            memory.search("ana", "where?")


def test_an_embedder_has_the_name_of_its_entry_point(broken, tmp_path):
    broken("beliefledger.embedders", "acme-9 = broken:Words", WORDS.format("[]"))
    with (
        open_memory(tmp_path / "ledger") as memory,
        pytest.raises(EmbedderMissing, match="'acme-9' calls itself 'acme-1'"),
    ):
        memory.vectors.build(model="acme-9")


def test_what_an_extractor_lacks_is_told(broken, tmp_path):
    broken("beliefledger.extractors", "acme = broken:make", "def make(settings): return 3")
    with pytest.raises(ExtractorMissing, match="it has no name, no extract"):
        open_memory(tmp_path / "ledger", extractor="acme")


class Order:
    kind = "order_number"
    hint = "Order"
    pattern = r"(?i)\border (?P<secret>[0-9]{4,12})\b"


@pytest.fixture
def order():
    own_secrets.add(Order())
    yield
    own_secrets.remove("order_number")


def test_a_redaction_takes_out_its_group_and_only_once(order):
    found = redact("My ORDER 12345 and my card 4111 1111 1111 1111.")
    assert found.text == "My ORDER [redacted order_number] and my card [redacted card_number]."
    assert found.redactions[0] == Redaction("order_number", 9, 32)
    assert redact(found.text) == found
    assert redact("My order is late.").text == "My order is late."
    assert may_hold_secret("an order")
    assert redact("ｏｒｄｅｒ １２３４５").text == "ｏｒｄｅｒ [redacted order_number]"


def test_it_is_taken_out_of_names_and_questions_and_counted(order, place):
    with open_memory(place, consent="consent") as memory:
        memory.record_turns([TurnInput("ana", "I live in Porto, order 12345.")])
        memory.process()
        assert memory.search("ana", "order 12345?").query == "order [redacted order_number]?"
        with pytest.raises(SecretGiven, match="this looks like order_number"):
            memory.record_turn("order 12345", "hello")
        [turn] = memory.subscribe(types=["turn.recorded.v1"], follow=False)
        assert turn.event.redacted == {"order_number": 1}


def declared(memory):
    return [each.event for each in memory.subscribe(types=["redactions.declared.v1"], follow=False)]


def turns(memory):
    return list(memory.subscribe(types=["turn.recorded.*"], follow=False))


def test_the_log_tells_which_redactions_each_turn_went_through(order, place):
    own_secrets.remove("order_number")
    with open_memory(place, consent="consent") as memory:
        memory.record_turn("ana", "I live in Porto.")
        assert (declared(memory), "redactions" in turns(memory)[0].facts) == ([], False)
        own_secrets.add(Order())
        memory.record_turn("ana", "I moved to Faro.")
        memory.store("ana", "red", attribute="favourite colour")
        [first] = declared(memory)
        assert (first.kinds, first.sources) == (("order_number",), (f"{__name__}.Order",))
        said = {
            "kind": "order_number", "hint": "order", "pattern": Order.pattern, "checked": False,
        }  # fmt: skip
        assert first.digests == (hashlib.sha256(canonical.encode(said)).hexdigest(),)
    with open_memory(place) as memory:  # it is said once
        memory.record_turn("ana", "I moved to Braga.")
        assert declared(memory) == [first]
        own_secrets.add(type("Order", (Order,), {"pattern": "(?i)order [0-9]{4,20}"})())
        memory.record_turn("ana", "I moved to Aveiro.")
        own_secrets.add(Order())  # as it was before: that is on record
        memory.record_turn("ana", "I moved to Lagos.")
        both = declared(memory)
        assert (len(both), both[0].digests == both[1].digests) == (2, False)
        a, b = (each.digest for each in both)
        assert [each.facts.get("redactions") for each in turns(memory)] == [None, a, a, a, b, a]
        assert memory._log.read_stream(turns(memory)[0].stream)[0].position < min(
            each.position
            for each in memory.subscribe(types=["redactions.declared.v1"], follow=False)
        )


def test_one_by_name_is_on_record_with_its_package(broken, place):
    broken("beliefledger.redactions", "orders = broken:Order", ORDER)
    try:
        with open_memory(place, redactions=["orders"], consent="consent") as memory:
            memory.record_turn("ana", "My order 12345.")
            [event] = declared(memory)
            assert event.sources == ("orders of broken 2.0",)
            [turn] = turns(memory)
            assert turn.facts["redactions"] == event.digest
            memory.erase("ana", by="dpo")
            [turn] = turns(memory)
            assert (turn.event, turn.facts["redactions"]) == (None, event.digest)
    finally:
        own_secrets.remove("order_number")


def test_two_who_begin_at_once_declare_once(order, place):
    with open_memory(place, consent="consent") as one, open_memory(place) as other:
        each_says = [one._gate, other._gate]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda gate: gate._declare_redactions(), each_says))
        assert len(declared(one)) == 1


ORDER = r"""
class Order:
    kind, hint, pattern = "order_number", "order", r"order [0-9]{4,12}"
"""


def test_without_it_nothing_is_taken_out():
    assert redact("my order 12345").text == "my order 12345"
    assert redact("[redacted order_number]").redactions == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "Order Number"}, "has the kind 'Order Number'"),
        ({"hint": " "}, "has no hint"),
        ({"pattern": "(["}, "has a pattern that is none"),
        ({"pattern": "[0-9]*"}, "fits an empty text"),
    ],
)
def test_a_redaction_that_is_none_is_refused(change, told):
    with pytest.raises(RedactionMissing, match=told):
        own_secrets.add(type("Changed", (Order,), change)())
    assert own_secrets.added() == ()


def test_a_greedy_redaction_ends(order):
    own_secrets.add(type("All", (), {"kind": "all", "hint": "x", "pattern": ".{1,99}"})())
    try:
        once = redact("x order 12345 xx")
        assert redact(once.text) == once
        assert "12345" not in once.text
    finally:
        own_secrets.remove("all")
