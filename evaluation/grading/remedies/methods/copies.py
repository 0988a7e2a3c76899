"""Decide which groups of similar workers are copiers, to be collapsed to one voter each.

Where a crowd has camps, members of a camp look like copies of each other, honest ones too. A group
that equals a camp is collapsed only if its answers prove that it copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Integers
from evaluation.grading.alarms.methods import Group, Pairs, find_camps, find_copiers
from evaluation.grading.alarms.methods.findings import IDENTICAL, find_equal_camp
from evaluation.grading.remedies.methods.sources import Source

COPIES, PROVED, CAMP = "copies", "camp_proved_by_answers", "camp"
# Of a group that was not asked for.
LEFT = "not_asked_for"


@dataclass(frozen=True)
class NamedGroup:
    """A group of workers with similar answers, and the verdict whether it is collapsed.

    Attributes
    ----------
    members : codes. statistic : mean kappa of the named pairs. mean_cosine : of their answers.
    verdict : "copies" (no camp), "camp_proved_by_answers", or "camp" and "not_asked_for", which
        are not collapsed.
    source : who was first; None where times do not tell.
    """

    members: Integers
    statistic: float
    mean_cosine: float
    verdict: str
    source: Source | None = None

    @property
    def is_collapsed(self) -> bool:
        """Whether the group is collapsed to one voter."""
        return self.verdict in (COPIES, PROVED)

    @property
    def is_asked_for(self) -> bool:
        """Whether the group is among those that the caller asked to collapse."""
        return self.verdict != LEFT


def find_named_groups(
    pairs: Pairs,
    proved_by_texts: Callable[[Group], bool],
    seed: int = 0,
    of_workers: Integers | None = None,
) -> list[NamedGroup]:
    """Return groups of similar workers, each with a verdict whether it is collapsed.

    Parameters
    ----------
    proved_by_texts : is asked of groups that are camps and whose answers are not identical.
    of_workers : codes; of groups without any of these the verdict is "not_asked_for". None for all.
    """
    groups = find_copiers(pairs).groups
    alarm = find_camps(pairs, seed) if groups else None
    judged_groups = []
    for group in groups:
        verdict = COPIES
        if of_workers is not None and not np.isin(group.members, of_workers).any():
            verdict = LEFT
        elif alarm is not None and find_equal_camp(group, alarm) is not None:
            proved = group.mean_cosine >= IDENTICAL or proved_by_texts(group)
            verdict = PROVED if proved else CAMP
        judged_groups.append(NamedGroup(group.members, group.statistic, group.mean_cosine, verdict))
    return judged_groups
