"""The exemplary answers of a run, and whether those of another run are the same.

Only then do the scores of models in both say something about the models alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from django.db.models import F

from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.summary import summary_of
from evaluation.models import ExemplaryAnswer, Run

# Dispersions that differ by less are of the same exemplary answers, but for rounding.
SAME = 1e-9
# What a model's score depends on beside the exemplary answers.
SCORED_BY = ("similarity", "aggregation", "unit_length", "camps")
EMBEDDING = ("model", "revision", "precision", "dimension", "max_length")


@dataclass(frozen=True)
class Exemplars:
    """What tells the exemplary answers of a run apart from others, without their vectors.

    Attributes
    ----------
    version : key of the version of the question set.
    scored_by : how models' answers are compared with them.
    questions : by their ids in files: dispersion, nearest answer and who gave it.
    """

    version: int
    scored_by: tuple[Any, ...]
    embedding: Mapping[str, Any]
    questions: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, *runs: Run) -> list[Self]:
        """Return those of each of some runs that are done, by one query."""
        rows = ExemplaryAnswer.objects.filter(run__in=runs).values(
            "pk",
            "run_id",
            "dispersion",
            "nearest_response_id",
            name=F("question__external_id"),
            public=F("question__public_id"),
            worker=F("nearest_response__submission__worker_id"),
        )
        questions: dict[int, dict[str, Any]] = {run.pk: {} for run in runs}
        for row in rows:
            questions[row["run_id"]][row["name"]] = row
        return [
            cls(run.version_id, _scored_by(run), _embedding(run), questions[run.pk]) for run in runs
        ]

    def other_nearest(self, other: Exemplars) -> list[str]:
        """Return the common questions whose nearest answer is another.

        In another version of the set, which has other rows of answers: that of another worker.
        """
        key = "nearest_response_id" if self.version == other.version else "worker"
        return [
            name
            for name in self.questions.keys() & other.questions.keys()
            if self.questions[name][key] != other.questions[name][key]
        ]

    def same_as(self, other: Exemplars) -> bool:
        """Whether a model's answer has the same score against either."""
        return (
            self.scored_by == other.scored_by
            and self.embedding == other.embedding
            and self.questions.keys() == other.questions.keys()
            and not self.other_nearest(other)
            and all(
                _close(self.questions[name]["dispersion"], other.questions[name]["dispersion"])
                for name in self.questions
            )
        )


def embedding_changes(before: Run, after: Run) -> list[tuple[str, Any, Any]]:
    """Return what differs in how the vectors were made: its name, before, after."""
    one, other = _embedding(before), _embedding(after)
    return [(name, one[name], other[name]) for name in EMBEDDING if one[name] != other[name]]


def _scored_by(run: Run) -> tuple[Any, ...]:
    parameters = AqerParameters.completed(run.parameters)
    return tuple(parameters[name] for name in SCORED_BY)


def _embedding(run: Run) -> dict[str, Any]:
    found = asdict(summary_of(run).embedding)
    return {name: found[name] for name in EMBEDDING}


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= SAME
