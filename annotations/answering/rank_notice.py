"""Notice that workers of a collection get too few graded questions to be ranked."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.places import compute_questions_per_worker
from annotations.editing.checks import FEWEST_GRADED
from annotations.models import Collection

MESSAGES = {
    "few_graded": "No worker can be ranked: version {version} has {n_graded}, and a rank needs "
    "answers to {needed}. More people do not help. Add graded questions in a new version.",
    "few_each": "No worker can be ranked: each person is asked {n_each}, and a rank needs answers "
    "to {needed}. Change “Questions for each person”, “Answers to each question” or the number of "
    "places.",
}
"""Sentence of each notice, by its code."""


@dataclass(frozen=True, slots=True)
class RankNotice:
    """Reason why workers of a collection cannot be ranked: too few questions each.

    Attributes
    ----------
    code : few_graded, the version has too few graded questions; few_each, each worker is asked too
        few of them.
    n_graded : graded questions of the version. n_each : those that each worker is asked.
    """

    code: str
    version: int
    n_graded: int
    n_each: int

    @property
    def words(self) -> str:
        """Sentence for the requester on why no worker can be ranked."""
        return MESSAGES[self.code].format(
            version=self.version,
            n_graded=_format_count(self.n_graded),
            n_each=_format_count(self.n_each),
            needed=FEWEST_GRADED,
        )


def find_rank_notice(collection: Collection, n_graded: int | None = None) -> RankNotice | None:
    """Return the reason why no worker of a collection can be ranked; None if workers can be ranked.

    `n_graded` is the number of graded questions of the version, if it is known.
    """
    version = collection.version
    n = version.questions.graded().count() if n_graded is None else n_graded
    each = compute_questions_per_worker(collection)
    n_each = n if each is None else min(n, each)
    if n_each >= FEWEST_GRADED:
        return None
    code = "few_graded" if n < FEWEST_GRADED else "few_each"
    return RankNotice(code, version.number, n, n_each)


def _format_count(n: int) -> str:
    """Return a number of graded questions as text, such as "1 graded question"."""
    return "1 graded question" if n == 1 else f"{n} graded questions"
