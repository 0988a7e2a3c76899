"""What the remedies of a run did and changed, against the plain run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.models import Worker
from evaluation.flow import aqer_summary
from evaluation.flow.aqer_summary import summary_of
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.steps.checkpoints import RunInputError
from evaluation.steps.grading import parameters_of

# Runs among which the plain one is looked for.
LOOKED_AT = 50
NAMES = {
    "exclude_workers": "workers excluded",
    "collapse_copies": "copies collapsed",
    "weight_cap": "votes capped",
    "anchors": "experts' grades used",
    "suggest_anchors": "answers suggested for experts",
    "camps": "several right answers",
    "unit_length": "vectors of unit length",
    "spelling": "spelling corrected",
}


@dataclass(frozen=True)
class Mover:
    """A worker whose rank changed; None for no rank."""

    worker: UUID
    name: str
    plain_rank: int | None
    rank: int | None


@dataclass(frozen=True)
class First:
    """Who of a group was first on `n_first` of the `n_timed` questions whose times tell."""

    worker: UUID
    name: str
    n_first: int
    n_timed: int


@dataclass(frozen=True)
class RemediesReport:
    """What was asked for, and the ranking against the plain one.

    Attributes
    ----------
    names : the remedies, in words. spearman : rank correlation of the raw scores of `n` workers
        with the plain run's, None where undefined.
    first : of each group whose times tell, who was first and keeps its vote.
    collapsed, kept : groups of copies that vote as one, and those left alone as camps.
    plain : a run of the same version that differs by the remedies only, None if there is none.
    """

    names: list[str]
    spearman: float | None
    n: int
    movers: list[Mover]
    collapsed: int
    kept: int
    plain: UUID | None
    first: list[First]


def remedies_report(run: Run) -> RemediesReport | None:
    """Return the report of a run, by three queries; None if it used no remedy."""
    done = summary_of(run).remedies
    if done is None:
        return None
    compared = done.compared_with_plain
    n_collapsed = sum(group.collapsed for group in done.groups)
    return RemediesReport(
        names=[NAMES.get(name, name) for name in done.asked_for],
        spearman=compared.spearman,
        n=compared.n,
        movers=_movers(compared.movers),
        collapsed=n_collapsed,
        kept=len(done.groups) - n_collapsed,
        plain=_plain(run),
        first=_first(done.groups),
    )


def _first(groups: Sequence[aqer_summary.CopyGroup]) -> list[First]:
    known = [group for group in groups if group.collapsed and group.first is not None]
    ids = [UUID(group.first or "") for group in known]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        First(worker, names[worker], group.n_first or 0, group.n_timed or 0)
        for worker, group in zip(ids, known, strict=True)
        if worker in names
    ]


def _movers(stored: Sequence[aqer_summary.Mover]) -> list[Mover]:
    ids = [UUID(row.worker) for row in stored]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        Mover(worker, names[worker], row.plain_rank, row.rank)
        for worker, row in zip(ids, stored, strict=True)
        if worker in names
    ]


def _plain(run: Run) -> UUID | None:
    try:
        wanted = parameters_of(run.parameters).without_remedies()
    except RunInputError:  # it is of another version of the platform
        return None
    others = (
        Run.objects.filter(version=run.version_id, state=Run.State.DONE)
        .exclude(pk=run.pk)
        .order_by("-id")
        .values_list("public_id", "parameters")[:LOOKED_AT]
    )
    return next((other for other, stored in others if _is(wanted, stored)), None)


def _is(wanted: AqerParameters, stored: dict[str, Any]) -> bool:
    try:
        return parameters_of(stored) == wanted
    except RunInputError:
        return False
