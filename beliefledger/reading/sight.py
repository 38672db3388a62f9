"""What one person may see of the memories of others, as far as their visibility goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from beliefledger.gate.visibility import SUBJECT, narrowest, seen
from beliefledger.ledger.dataclass import dataclass
from beliefledger.projections.beliefs import Version


@dataclass(frozen=True, slots=True)
class Sight:
    """What one person may see. `mates` are those with whom they share a team."""

    reader: str
    """Their reference."""
    mates: frozenset[str]
    scopes: tuple[str, ...]
    """The policy's, from narrow to wide."""
    _of_mates: frozenset[str] = field(init=False)
    _of_others: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        for name, shares in (("_of_mates", True), ("_of_others", False)):
            least = narrowest(self.scopes, shares_team=shares)
            found = () if least is None else seen(self.scopes, least, named=True)
            object.__setattr__(self, name, frozenset(found))

    def least(self, subject_ref: str, wanted: str | None) -> str | None:
        """The narrowest scope that is seen of somebody; None where nothing is. One's own memories
        are seen as widely as is wanted."""
        if subject_ref == self.reader:
            return wanted or SUBJECT
        return narrowest(self.scopes, shares_team=subject_ref in self.mates, wanted=wanted)

    def may_see(self, subject_ref: str, scope: str) -> bool:
        if subject_ref == self.reader:
            return True
        return scope in (self._of_mates if subject_ref in self.mates else self._of_others)

    def of(self, rows: Sequence[Version]) -> list[Version]:
        """Those of the versions that may be seen."""
        return [each for each in rows if self.may_see(each.subject_ref, each.visibility_scope)]
