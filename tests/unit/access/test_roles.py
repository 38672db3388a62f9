"""The table of who may call what: complete, and as it is meant."""

from __future__ import annotations

import inspect

import pytest

from beliefledger import MemoryLedger, open_memory
from beliefledger.access.principal import Principal
from beliefledger.access.roles import check_role, check_scopes, may, part_of, roles
from beliefledger.ledger.errors import InvalidTurn, NotPermitted

ROLES = ("agent", "reviewer", "auditor", "operator", "admin")
CHANGES = """record_turn record_turns remember store store_many correct update process
    revoke erase export consent.grant consent.grant_first consent.withdraw consent.reconsider
    conflicts.resolve conflicts.review
    entities.add_alias entities.keep_apart entities.merge entities.split types.add types.backfill
    types.retire policy.adopt recalls.record_shown vectors.build vectors.complete vectors.drop
    vectors.migrate vectors.repair vectors.rollback erasure.erase erasure.erase_due
    erasure.erase_withdrawn erasure.finish erasure.register_anew erasure.certificates.acknowledge
    erasure.certificates.write_off erasure.holds.lift erasure.holds.place exports.import_person
    proofs.record_vault_restored proofs.rotate_signing_key operations.rebuild
    operations.record_backup operations.tidy operations.ageing.expire operations.ageing.refresh
    operations.ageing.revoke_outdated operations.consolidation.consolidate
    operations.consolidation.everyone operations.consolidation.undo
    operations.extraction.extract operations.extraction.process operations.extraction.retry
    operations.extraction.use_model operations.jobs.run tokens.create tokens.revoke
    webhooks.redeliver webhooks.register webhooks.remove webhooks.replay
    webhooks.rotate_secret""".split()
WORDS = """beliefs history decisions decision explain turn diff why_not related events typed search
    context recalls.get recalls.words recalls.showable entities.get entities.list conflicts.list
    conflicts.loops""".split()
"""What tells the words of people."""
NOBODY = """close wait operations.keep_processing operations.keep_views operations.jobs.schedule
    tokens.at_hand tokens.begin_request tokens.end_request tokens.in_force tokens.principal
    tokens.ready tokens.record_call tokens.record_refusals tokens.subject tokens.vouched
    webhooks.endpoint webhooks.endpoints webhooks.event webhooks.gone webhooks.secrets
    webhooks.settle webhooks.version webhooks.failing webhooks.with_problems
    tasks.answer tasks.end tasks.find tasks.get tasks.list tasks.pause
    tasks.steps tasks.submit tasks.under_way""".split()


def verbs_of(part, prefix=""):
    """The methods of the front door and of its parts, by their names there."""
    for name in dir(part):
        found = inspect.getattr_static(type(part), name, None)
        if name.startswith("_") or isinstance(found, property):
            continue
        member = getattr(part, name)
        if inspect.isroutine(member):
            yield f"{prefix}{name}"
        elif type(member).__module__.startswith("beliefledger.") and not hasattr(
            member, "model_dump"
        ):
            if callable(member):
                yield f"{prefix}{name}"
            yield from verbs_of(member, f"{prefix}{name}.")


@pytest.fixture(scope="module")
def verbs(tmp_path_factory):
    with open_memory(tmp_path_factory.mktemp("ledger")) as memory:
        assert isinstance(memory, MemoryLedger)
        return set(verbs_of(memory))


def test_the_table_has_every_verb_of_the_front_door_and_no_other(verbs):
    listed = set(roles().verbs)
    assert verbs - listed == set(), "say in roles.yaml who may call it"
    assert listed - verbs == set(), "there is no such verb any more"


def test_the_roles_are_these_and_each_verb_names_only_them():
    assert tuple(roles().meanings) == ROLES
    for verb, whose in roles().verbs.items():
        assert whose <= set(ROLES), verb
        assert bool(whose) != (verb in NOBODY), verb
        assert "admin" in whose or verb in NOBODY, verb


def test_an_auditor_changes_nothing():
    assert set(CHANGES) <= set(roles().verbs)
    assert [verb for verb in CHANGES if may("auditor", (), verb)] == []


def test_an_operator_sees_no_words_of_anybody():
    assert [verb for verb in WORDS if may("operator", (), verb)] == []


def test_an_agent_grants_erases_and_administers_nothing():
    allowed = {verb for verb in roles().verbs if may("agent", (), verb)}
    parts = {part_of(verb) for verb in allowed}
    assert parts.isdisjoint({"tokens", "policy", "erasure", "vectors"})
    assert allowed.isdisjoint({"consent.grant", "erase", "export", "subjects", "conflicts.review"})
    assert {"record_turn", "search", "context", "conflicts.resolve", "revoke"} <= allowed


@pytest.mark.parametrize("role", ROLES)
def test_scopes_only_take_away(role):
    every = {verb for verb in roles().verbs if may(role, (), verb)}
    for scope in {part_of(verb) for verb in roles().verbs} | set(roles().verbs):
        narrowed = {verb for verb in roles().verbs if may(role, (scope,), verb)}
        assert narrowed == {verb for verb in every if scope in {verb, part_of(verb)}}


def test_a_verb_that_nobody_listed_is_for_nobody():
    assert not any(may(role, (), "erase_the_world") for role in ROLES)
    assert not may("superuser", (), "search")


def test_names_that_are_none_are_refused_without_being_quoted():
    for check, given in ((check_role, "boss-8814"), (check_scopes, ["boss-8814"])):
        with pytest.raises(InvalidTurn) as refused:
            check(given)
        assert "8814" not in str(refused.value)


def test_a_refusal_says_who_may():
    who = Principal("bot", "r", "bot", "agent", (), "default", "d" * 64, None, None, None)
    who.require("search")
    with pytest.raises(NotPermitted, match=r"agent may not call erase. These may: operator, admin"):
        who.require("erase")
    narrow = Principal("bot", "r", "bot", "agent", ("memory",), "t", "d", None, None, None)
    with pytest.raises(NotPermitted, match=r"scopes of this token leave out conflicts.resolve"):
        narrow.require("conflicts.resolve")
    with pytest.raises(NotPermitted, match="nobody"):
        who.require("close")
