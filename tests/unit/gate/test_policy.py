"""Policies are data: what is wrong in one is named, and what is left out is the default."""

import pytest

from beliefledger.gate.policy import default_policy, folded, load
from beliefledger.gate.registry import MemoryType, Registry, default_types
from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.errors import PolicyInvalid
from beliefledger.ledger.events.policy import PolicyAdopted, TypeRegistered, TypeRetired


def test_what_a_policy_leaves_out_is_as_in_the_default():
    policy = load({"name": "strict", "thresholds": {"default": 0.7}})
    assert policy.threshold(None) == 700_000
    assert policy.topics == default_policy().topics


def test_a_category_may_ask_for_more():
    policy = load({"thresholds": {"default": 0.5, "categories": {"health": 0.8}}})
    assert (policy.threshold("health"), policy.threshold("politics")) == (800_000, 500_000)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"thresholds": {"default": 2}}, "thresholds.default"),
        ({"recal_floor": 0.4}, "recal_floor: .*did you mean recall_floor"),
        ({"default_scope": "public"}, "default_scope"),
        ({"scopes": ["team"]}, "subject"),
        ({"cap": 0.6}, "cap"),
        ({"sources": {"stated": None}}, "sources lacks stated"),
        ({"sources": {"statd": 0.9}}, "sources.statd.*'stated'"),
        ({"thresholds": {"fcat": 0.8}}, "thresholds.fcat: .*did you mean fact"),
        ({"thresholds": {"defualt": 0.8}}, "thresholds.defualt: .*did you mean default"),
        ({"loops": {"window": 3}}, "loops.window: .*did you mean window_days"),
        ({"default_basis": {"bases": "x"}}, "default_basis.bases: .*did you mean basis"),
        ({"thresholds": {"fact": 0.2}}, "cap"),
        ({"zzz": 1}, "zzz: there is no such field; there are: name, purpose"),
        ({"transient": "maybe"}, "transient"),
    ],
)
def test_what_is_wrong_is_named(fields, named):
    with pytest.raises(PolicyInvalid, match=named):
        load(fields)


def test_files_that_are_no_policies_are_refused(tmp_path):
    path = tmp_path / "policy.yaml"
    for text, named in (("[1, 2]", "mapping"), ("a: [", "not YAML")):
        path.write_text(text)
        with pytest.raises(PolicyInvalid, match=named):
            load(path)
    with pytest.raises(PolicyInvalid, match="cannot be read"):
        load(tmp_path / "absent.yaml")


def test_the_digest_is_of_the_content():
    assert load({}).digest() == default_policy().digest()
    assert load({"recall_floor": 0.41}).digest() != default_policy().digest()
    again = load(default_policy().model_dump(mode="json"))
    assert again.digest() == default_policy().digest()


def test_rules_are_folded_from_events():
    strict = load({"name": "strict"})
    kinds = default_types()
    events = [
        *[TypeRegistered(type=kind.name, definition=kind.definition()) for kind in kinds],
        PolicyAdopted(digest="", policy=default_policy().model_dump(mode="json")),
        TypeRetired(type="event"),
        PolicyAdopted(digest="", policy=strict.model_dump(mode="json")),
    ]
    rules = Rules.folded(len(events), events)
    assert rules.policy.name == "strict"
    assert "event" not in rules.registry.types
    assert rules.registry_digest != Registry(types={k.name: k for k in kinds}).digest()
    assert folded([]) is None


def test_a_default_basis_holds_only_where_a_named_person_adopted_it():
    chosen = load({"default_basis": {"basis": "contract", "purpose": "assistance"}})
    assert chosen.default_grant.basis == "contract"
    events = [PolicyAdopted(digest="d", policy=chosen.model_dump(mode="json"))]
    assert Rules.folded(1, events).policy.default_grant == chosen.default_grant
    unnamed = Rules.folded(1, events, named=False)
    assert (unnamed.policy.default_grant, unnamed.policy_digest) == (None, "d")


def test_a_type_survives_its_definition():
    for kind in default_types():
        assert MemoryType.of(kind.definition()) == kind


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_left_out_at_any_depth_is_as_in_the_default(whole):
    default = default_policy().model_dump(mode="json")
    policy = load(
        {
            **(default if whole else {}),
            "thresholds": {"fact": 0.8, "health": 0.9},
            "sources": {"stated": 0.95},
            "loops": {"supersessions": 5},
            "decay": {"rate": 0.1},
        }
    )
    assert policy.thresholds.default == default_policy().thresholds.default
    assert policy.thresholds.types == {"fact": 0.8}
    assert policy.threshold(None, "fact") == 800_000
    assert policy.threshold(None, "event") == 500_000
    assert policy.threshold("health", "fact") == 900_000
    assert policy.threshold("religion", "fact") == 800_000
    assert policy.sources == {**default_policy().sources, "stated": 0.95}
    assert policy.loops.window_days == default_policy().loops.window_days
    assert policy.decay.cap == default_policy().decay.cap
    assert load(policy.model_dump(mode="json")) == policy


def test_an_entry_of_a_map_is_named_taken_away_or_kept():
    stricter = load({"special_categories": {"health": "prohibit"}})
    assert stricter.special_categories == {
        **default_policy().special_categories,
        "health": "prohibit",
    }
    fewer = load({"special_categories": {"union": None}})
    assert "union" not in fewer.special_categories
    assert load(fewer.model_dump(mode="json")) == fewer
    assert load({"topics": ["work"]}).topics == ("work",)


def test_a_policy_without_thresholds_of_types_is_written_as_before():
    assert "types" not in default_policy().model_dump(mode="json")["thresholds"]
