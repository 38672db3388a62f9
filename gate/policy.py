"""A policy: what may be believed, as data. It lives in the log; each decision names its digest."""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from beliefledger.gate.consent import DEFAULT_GRANT, ORDINARY, Grant
from beliefledger.gate.policy_fields import completed, problems
from beliefledger.gate.registry import default_types
from beliefledger.ledger import canonical
from beliefledger.ledger.candidate import MILLION, Frozen, Source, unset
from beliefledger.ledger.data_files import data
from beliefledger.ledger.errors import NotPermitted, PolicyInvalid
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.times import DAY, Micros

MAX_TURN_BYTES = 100_000


def _usual(size: int) -> bool:
    return size == MAX_TURN_BYTES


Score = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1)]


def millionths(score: float) -> int:
    return round(score * MILLION)


class Thresholds(Frozen):
    """The confidence below which a statement is quarantined."""

    default: Score
    categories: dict[str, Score] = Field(default_factory=dict)
    """Of special categories."""
    types: dict[str, Score] = Field(default_factory=dict, exclude_if=unset)
    """Of types of memory; of one that is also of a special category, the higher one counts."""

    @property
    def least(self) -> float:
        return min(self.default, *self.categories.values(), *self.types.values(), 1.0)


class Loops(Frozen):
    """When a belief that keeps changing is contested."""

    supersessions: int = Field(ge=2)
    window_days: int = Field(ge=1)


class EntityRules(Frozen):
    """What to do with a name that is nearly a known one."""

    near: Literal["ask", "link", "new"] = "ask"
    similarity: Score = 0.85


class DefaultBasis(Frozen):
    """The lawful basis of ordinary memories of everybody for whom none was recorded."""

    basis: str
    purpose: str
    scope: str = "subject"


class DecayRules(Frozen):
    """How memories age, and which of those that faded are worth asking about again."""

    profile: Literal["freshness", "decay"] = "freshness"
    rate: float = Field(default=0.02, gt=0, le=10)
    cap: int = Field(default=10, ge=1)
    reconfirm_below: Score = 0.3
    reconfirm_importance: Score = 0.6
    reconfirm_confidence: Score = 0.6


class Policy(Frozen):
    """The rules in force. `gate/policy.yaml` explains each field."""

    name: str
    purpose: str
    thresholds: Thresholds
    recall_floor: Score
    cap: Score
    importance_floor: Score
    sources: dict[Source, Score]
    inference_factor: Score
    transient: Literal["drop", "keep"]
    transient_ttl_days: int = Field(ge=1)
    ttl_days: dict[str, int] = Field(default_factory=dict)
    topics: tuple[str, ...] = Field(min_length=1)
    special_categories: dict[str, Literal["queue", "prohibit"]]
    lawful_bases: tuple[str, ...] = Field(min_length=1)
    erasure_bases: tuple[str, ...] = Field(min_length=1)
    scopes: tuple[str, ...] = Field(min_length=1)
    default_scope: str
    loops: Loops
    resolution_importance: Score
    entities: EntityRules = EntityRules()
    decay: DecayRules = DecayRules()
    quarantine_days: int = Field(default=180, ge=1)
    extraction_tries: int = Field(ge=1)
    max_turn_bytes: int = Field(default=MAX_TURN_BYTES, ge=1, le=1_000_000, exclude_if=_usual)
    calibration: tuple[tuple[Score, Score], ...] = Field(default=(), exclude_if=unset)
    retention_days: dict[str, Days] = Field(default_factory=dict, exclude_if=unset)
    revoked_grace_days: Days | None = Field(default=None, exclude_if=unset)
    erase_on_withdrawal: bool = Field(default=False, exclude_if=unset)
    default_basis: DefaultBasis | None = Field(default=None, exclude_if=unset)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if "subject" not in self.scopes:
            raise ValueError("scopes must include 'subject'")
        if self.default_scope not in self.scopes:
            raise ValueError(f"default_scope {self.default_scope!r} is not one of scopes")
        if self.is_wider(self.default_scope, "subject"):
            raise ValueError("default_scope must not be wider than 'subject'")
        missing = [source.value for source in Source if source not in self.sources]
        if missing:
            raise ValueError(f"sources lacks {', '.join(missing)}")
        if self.cap >= min(self.thresholds.default, *self.thresholds.types.values(), 1.0):
            raise ValueError(
                "cap must lie below the default threshold and those of types, or it"
                " would cap nothing"
            )
        known = {ORDINARY, *self.special_categories}
        for category in self.retention_days:
            if category not in known:
                raise ValueError(
                    f"retention_days: {category!r} is no category; there are"
                    f" {', '.join(sorted(known))}"
                )
        self._rising()
        self._known_default()
        return self

    def _known_default(self) -> None:
        """Raises `ValueError` for a default basis that could not be granted either."""
        default = self.default_basis
        if default is None:
            return
        for what, given, known in (
            ("basis", default.basis, self.lawful_bases),
            ("purpose", default.purpose, (self.purpose,)),
            ("scope", default.scope, self.scopes),
        ):
            if given not in known:
                raise ValueError(
                    f"default_basis: the {what} {given!r} is none of {', '.join(known)}"
                )
        if self.is_wider(default.scope, "subject"):
            raise ValueError("default_basis: its scope must not be wider than 'subject'")

    def _rising(self) -> None:
        """Raises `ValueError` for a calibration that is not a map which never falls."""
        if len(self.calibration) == 1:
            raise ValueError("calibration needs two pairs of [stated, observed], or none")
        for (low, below), (high, above) in pairwise(self.knots):
            if low >= high:
                raise ValueError("calibration: the stated confidences must rise from pair to pair")
            if below > above:
                raise ValueError("calibration: the observed frequencies must never fall")

    @property
    def default_grant(self) -> Grant | None:
        """The default basis as a grant that is in force for everybody."""
        default = self.default_basis
        if default is None:
            return None
        categories = frozenset({ORDINARY})
        return Grant(DEFAULT_GRANT, default.basis, categories, default.purpose, default.scope, None)

    @property
    def knots(self) -> tuple[tuple[int, int], ...]:
        """The calibration in millionths."""
        return tuple((millionths(x), millionths(y)) for x, y in self.calibration)

    def digest(self) -> str:
        """SHA-256 of the canonical form, in which scores are millionths."""
        return canonical.digest(canonical.encode(_without_floats(self.model_dump(mode="json"))))

    def threshold(self, category: str | None, type_: str | None = None) -> int:
        """Millionths, of statements of a special category (or of none) and of a type."""
        given = self.thresholds
        own = [given.categories[category]] if category in given.categories else []
        own += [given.types[type_]] if type_ in given.types else []
        return millionths(max(own, default=given.default))

    def check_basis(self, basis: str) -> None:
        """Raises `NotPermitted` for what is no lawful basis of this policy."""
        known = self.lawful_bases
        if basis not in known:
            raise NotPermitted(
                f"{basis!r} is not a lawful basis of the policy: {', '.join(known)}."
            )

    def is_wider(self, scope: str, than: str) -> bool:
        """Whether a scope is wider than a limit. A scope or limit that is not in the policy counts
        as too wide."""
        if than not in self.scopes or scope not in self.scopes:
            return True
        return self.scopes.index(scope) > self.scopes.index(than)

    @property
    def retention(self) -> dict[str, Micros]:
        """How long memories of each category are kept; a category that is not listed is kept for
        ever."""
        return {category: days * DAY for category, days in self.retention_days.items()}

    @property
    def revoked_grace(self) -> Micros | None:
        """How long the words of a revoked memory are kept; None for ever."""
        return None if self.revoked_grace_days is None else self.revoked_grace_days * DAY

    def ttl(self, type_: str) -> Micros | None:
        """How long a memory of this type is kept, in microseconds; None: until something ends
        it."""
        days = self.ttl_days.get(type_)
        return None if days is None else days * DAY


def _without_floats(value: Any) -> Any:
    if isinstance(value, float):
        return millionths(value)
    if isinstance(value, dict):
        return {key: _without_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_floats(each) for each in value]
    return value


def load(source: Policy | Path | str | Mapping[str, Any]) -> Policy:
    """A policy from a YAML file, or from fields; what is left out, at any depth, is as in the
    default policy.

    Raises `PolicyInvalid` saying which field is wrong and why, and of a name that there is none of,
    the nearest.
    """
    if isinstance(source, Policy):
        return source
    if isinstance(source, Mapping):
        fields: Any = source
    else:
        import yaml  # noqa: PLC0415  (who gives no file need not wait for it)

        try:
            fields = yaml.safe_load(Path(source).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            raise PolicyInvalid(f"{source} cannot be read: {problem}.") from problem
        except yaml.YAMLError as problem:
            raise PolicyInvalid(f"{source} is not YAML: {problem}.") from problem
    if not isinstance(fields, Mapping):
        raise PolicyInvalid("A policy is a mapping of field names to values.")
    types = [kind.name for kind in default_types()]
    try:
        default = default_policy().model_dump(mode="json")
        return Policy.model_validate(completed(fields, default, types))
    except ValidationError as problem:
        raise PolicyInvalid(f"{problems(problem, Policy, types)}.") from problem


@cache
def default_policy() -> Policy:
    return Policy.model_validate(data("beliefledger.gate", "policy.yaml"))


def folded(events: Iterable[Event | None]) -> tuple[Policy, str] | None:
    """The policy in force after these events of the policy stream, and the digest that it was
    adopted under: fields that came later have their defaults and are not part of that."""
    adopted = None
    for event in events:
        if isinstance(event, PolicyAdopted):
            adopted = event
    return None if adopted is None else (Policy.model_validate(adopted.policy), adopted.digest)
