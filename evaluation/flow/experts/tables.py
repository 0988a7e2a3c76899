"""The tables of what experts say, alike in files and in runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, fields

from evaluation.flow.experts.findings import Coefficient, Difficulty, ExpertFindings, TrueMean

AGREEMENT, DIFFICULTY, ESTIMATES = (
    tuple(field.name for field in fields(row)) for row in (Coefficient, Difficulty, TrueMean)
)
# How the scores go with the grades stands below the coefficients of agreement.
CORRELATIONS = ("score_correlation_people", "score_correlation_models")

Rows = Iterator[tuple[object, ...]]


def agreement_rows(found: ExpertFindings) -> Rows:
    """Yield the rows of `AGREEMENT`."""
    yield from map(astuple, found.agreement)
    for name, one in zip(CORRELATIONS, (found.people, found.models), strict=True):
        if one.n:
            yield (name, one.value, one.low, one.high, one.n, one.n_clusters, one.reason)


def difficulty_rows(found: ExpertFindings) -> Rows:
    """Yield the rows of `DIFFICULTY`."""
    yield from map(astuple, found.difficulty)


def estimate_rows(found: ExpertFindings) -> Rows:
    """Yield the rows of `ESTIMATES`."""
    yield from map(astuple, found.means)
