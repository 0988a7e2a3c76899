"""What an attack is: a name, a sentence, and a function that returns what it met."""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attack.site import Site


@dataclass(frozen=True)
class Finding:
    """One thing that was counted or timed, and whether it is as it should be.

    `figure` is what was found and `claim` what must hold, both for people.
    """

    what: str
    figure: str
    claim: str
    met: bool


@dataclass(frozen=True)
class Scale:
    """How hard is tried: `quick` for every change, else an hour's worth; `random` is seeded."""

    quick: bool
    random: random.Random

    def of(self, quick: int, whole: int) -> int:
        """Return how many to try."""
        return quick if self.quick else whole


@dataclass(frozen=True)
class Attack:
    """What is tried on a site, and in `run` how.

    `about` is one sentence for the table. `alone` gives it an installation of its own, which it may
    kill and break; the others share one, and leave it answering. `environment` is set for the own
    one.
    """

    name: str
    about: str
    run: Callable[[Site, Scale], list[Finding]]
    alone: bool = False
    environment: tuple[tuple[str, str], ...] = ()


def at_most(what: str, value: float, most: float, unit: str = "") -> Finding:
    """Return the finding that a number is no larger than another."""
    return Finding(what, _said(value, unit), f"at most {_said(most, unit)}", value <= most)


def exactly(what: str, value: object, wanted: object) -> Finding:
    """Return the finding that something is what it should be."""
    return Finding(what, _plain(value), _plain(wanted), value == wanted)


def attacks() -> dict[str, Attack]:
    """Return all attacks by name: every module of `tests.attack.attacks` has one."""
    from tests.attack import attacks as folder

    found = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(folder.__path__)):
        attack = importlib.import_module(f"{folder.__name__}.{module}").ATTACK
        found[attack.name] = attack
    return found


def _said(value: float, unit: str) -> str:
    number = f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
    return f"{number} {unit}".strip()


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
