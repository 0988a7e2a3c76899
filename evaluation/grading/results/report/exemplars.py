"""Compare the exemplary answers of a run with those of another run.

Only if they are the same do the scores of models in both runs compare the models alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from django.db.models import F

from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.summary import read_summary
from evaluation.models import ExemplaryAnswer, Run

# Dispersions that differ by less are of the same exemplary answers, but for rounding.
SAME = 1e-9
# What a model's score depends on beside the exemplary answers.
SCORED_BY = ("similarity", "aggregation", "unit_length", "camps")
EMBEDDING = ("model", "revision", "precision", "dimension", "max_length")


@dataclass(frozen=True)
class Exemplars:
    """Values that identify the exemplary answers of a run, without their vectors.

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
        """Read what identifies the exemplary answers of each finished run; one query."""
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
            cls(run.version_id, _read_scoring_options(run), _read_embedding(run), questions[run.pk])
            for run in runs
        ]

    def find_other_nearest(self, other: Exemplars) -> list[str]:
        """Return the common questions whose nearest answer differs between two runs.

        Another version of the set has other rows of answers, so there the workers are compared.
        """
        key = "nearest_response_id" if self.version == other.version else "worker"
        return [
            name
            for name in self.questions.keys() & other.questions.keys()
            if self.questions[name][key] != other.questions[name][key]
        ]

    def same_as(self, other: Exemplars) -> bool:
        """Return whether a model's answer would get the same score in both runs."""
        return (
            self.scored_by == other.scored_by
            and self.embedding == other.embedding
            and self.questions.keys() == other.questions.keys()
            and not self.find_other_nearest(other)
            and all(
                _is_close(self.questions[name]["dispersion"], other.questions[name]["dispersion"])
                for name in self.questions
            )
        )


def find_embedding_changes(before: Run, after: Run) -> list[tuple[str, Any, Any]]:
    """Return the embedding settings that differ between two runs, as (name, before, after)."""
    one, other = _read_embedding(before), _read_embedding(after)
    return [(name, one[name], other[name]) for name in EMBEDDING if one[name] != other[name]]


def _read_scoring_options(run: Run) -> tuple[Any, ...]:
    """Return the run options on which a model's score depends."""
    parameters = AqerParameters.completed(run.parameters)
    return tuple(parameters[name] for name in SCORED_BY)


def _read_embedding(run: Run) -> dict[str, Any]:
    """Return model name and settings of a run's embedding."""
    embedding = asdict(read_summary(run).embedding)
    return {name: embedding[name] for name in EMBEDDING}


def _is_close(one: float | None, other: float | None) -> bool:
    """Return whether two dispersions are equal up to rounding; None equals None only."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= SAME
