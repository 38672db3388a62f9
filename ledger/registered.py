"""What installed packages register by name: extractors, embedders, tokenizers, redactions.

A package registers one with an entry point: a group, a name, and what makes it. Nothing of a
package is loaded before its name is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, InvalidTurn, LedgerError


@dataclass(frozen=True, slots=True)
class Group:
    """A group of entry points."""

    name: str
    """`beliefledger.extractors`."""
    what: str
    """One of them, in words: `extractor`."""
    missing: type[CallerMistake]
    """Raised for one that cannot be made."""
    ours: tuple[str, ...] = ()
    """The names that we have ourselves. Nobody can take them."""
    unknown: type[CallerMistake] = InvalidTurn
    """Raised for a name that nobody registers."""

    def names(self) -> list[str]:
        """Every name that there is here: ours, then those of packages."""
        return [*self.ours, *self.registered()]

    def registered(self) -> list[str]:
        """The names that installed packages register."""
        return sorted(entry_points(group=self.name).names - set(self.ours))

    def made(self, name: str, given: Sequence[Any] = (), *, needs: Sequence[str] = ()) -> Any:
        """What the entry point of a name makes of what is `given`; a function of the package is
        taken as it is where nothing is given.

        Raises `unknown` for a name that nobody registers, and `missing` where it cannot be made,
        whatever went wrong in the package, or where what it makes lacks what it `needs`.
        """
        entry = self._entry(name)
        try:
            loaded = entry.load()
            made = loaded(*given) if given or isinstance(loaded, type) else loaded
        except LedgerError:
            raise  # it says by itself what to do
        except Exception as problem:  # code of other people, which may raise anything
            raise self.missing(
                f"The {self.what} {name!r} of the package {_package(entry)} could not be loaded:"
                f" {type(problem).__name__}: {problem}."
            ) from problem
        lacks = [each for each in needs if not hasattr(made, each)]
        if lacks:
            raise self.missing(
                f"What the package {_package(entry)} registers as the {self.what} {name!r} is none:"
                f" it has no {', no '.join(lacks)}."
            )
        return made

    def package(self, name: str) -> str:
        """The package that registers a name, and its version. Raises `unknown` as `made` does."""
        return _package(self._entry(name))

    def _entry(self, name: str) -> EntryPoint:
        named = list(entry_points(group=self.name).select(name=name))
        if not named:
            raise self.unknown(
                f"There is no {self.what} {name!r}; there are: {', '.join(self.names()) or 'none'}."
                f" Install the package that registers it (entry points of {self.name})."
            )
        if len(named) > 1:
            packages = ", ".join(sorted(map(_package, named)))
            raise self.unknown(
                f"More than one package registers an {self.what} {name!r}: {packages}. Uninstall"
                " all but the one that you mean."
            )
        return named[0]


def _package(entry: EntryPoint) -> str:
    found = entry.dist
    return "(unknown)" if found is None else f"{found.name} {found.version}"
