"""Who may see a memory, by its visibility scope."""

from __future__ import annotations

import pytest

from beliefledger.gate.visibility import covers_team, narrowest, seen

USUAL = ("session", "subject", "team", "tenant", "public")
WITHOUT = ("session", "subject", "public")
NARROW = ("session", "subject")
TEAMS_ONLY = ("subject", "team")
MORE = ("subject", "department", "team", "tenant", "public")


@pytest.mark.parametrize(
    ("scopes", "shares", "wanted", "least", "all_seen"),
    [
        (USUAL, True, None, "team", ("team", "tenant", "public")),
        (USUAL, True, "session", "team", ("team", "tenant", "public")),
        (USUAL, True, "public", "public", ("public",)),
        (USUAL, False, None, "tenant", ("tenant", "public")),
        (USUAL, False, "team", "tenant", ("tenant", "public")),
        (USUAL, False, "subject", "tenant", ("tenant", "public")),
        (WITHOUT, True, None, "public", ("public",)),
        (NARROW, True, None, None, ()),
        (TEAMS_ONLY, True, None, "team", ("team",)),
        (TEAMS_ONLY, False, None, None, ()),
        (MORE, False, None, "tenant", ("tenant", "public")),
        (MORE, False, "department", "tenant", ("tenant", "public")),
        (MORE, True, None, "team", ("team", "tenant", "public")),
    ],
)
def test_others_see_no_more_than_is_meant_for_them(scopes, shares, wanted, least, all_seen):
    assert narrowest(scopes, shares_team=shares, wanted=wanted) == least
    if least is not None:
        assert seen(scopes, least, named=True) == all_seen
        assert "subject" not in all_seen
        assert shares or "team" not in all_seen


def test_without_a_name_a_search_is_on_behalf_of_a_scope():
    assert seen(USUAL, "tenant", named=False) == ("tenant", "public")
    assert seen(("subject", "tenant", "team"), "tenant", named=True) == ("tenant",)
    assert [each for each in MORE if covers_team(MORE, each)] == ["department", "team"]
    assert not any(covers_team(WITHOUT, each) for each in WITHOUT)
