"""Compare workers and models across question sets.

Only raw leave-one-out scores, percentiles and model scores are compared here, never grades: a grade
is min-max scaled within its own run.

List the notes on a worker or a model. Select the run that represents each question set in reports
across sets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from annotations.models import QuestionSetVersion, Submission
from annotations.models.access import AnyUser
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.lists import filter_unarchived_runs


@dataclass(frozen=True)
class NoteEntry:
    """A note on a worker or model, with its author; `mine` if the reader wrote it."""

    id: UUID
    text: str
    author: str
    written_at: datetime
    mine: bool


def list_notes(thing: Any, user: AnyUser) -> list[NoteEntry]:
    """Return the notes on a worker or model that the user may read, newest first."""
    rows = thing.notes.visible_to(user).select_related("author").order_by("-pk")
    return [
        NoteEntry(
            id=note.public_id,
            text=note.text,
            author=note.author.get_username(),
            written_at=note.created_at,
            mine=note.author_id == user.pk,
        )
        for note in rows
    ]


# What two runs must have in common for their scores to be on one scale.
SCALE = ("embedder", "similarity", "aggregation", "unit_length", "spelling")
Scale = tuple[str, ...]


def select_official_runs(user: AnyUser) -> QuerySet[Run]:
    """Return one grading run for each visible set: the official one, else the newest.

    Chosen as by `choose_official_or_newest` for one set. A set without a finished grading run has
    none.
    """
    done = filter_unarchived_runs(Run.objects.filter(kind=GRADING, state=Run.State.DONE))
    of_set = done.filter(version__question_set=OuterRef("version__question_set"))
    # nulls_last: PostgreSQL puts NULL first in a descending order, so runs that are not official.
    chosen = of_set.order_by(F("of_record__pk").desc(nulls_last=True), "-pk").values("pk")[:1]
    return Run.objects.visible_to(user).filter(
        kind=GRADING, state=Run.State.DONE, pk=Subquery(chosen)
    )


@dataclass(frozen=True)
class RepresentingRun:
    """The grading run whose results represent its question set in reports across sets.

    Attributes
    ----------
    key, version, question_set : primary keys. scale : values of the options that determine the
        scale of its scores, the embedder first. excluded : ids of the workers without a vote, as
        the options name them.
    """

    key: int
    public_id: UUID
    version: int
    version_number: int
    question_set: int
    set_id: UUID
    set_name: str
    finished_at: datetime
    scale: Scale
    excluded: tuple[str, ...]

    @property
    def embedder(self) -> str:
        """SPEC of the embedder by which the run compared answers."""
        return self.scale[0]


@dataclass(frozen=True)
class RepresentingRuns:
    """The grading run that represents each question set, by key, and the most common scale.

    If sets were graded with different embedders or similarities, means, trends and orders only use
    the scale of the most runs (of two equally frequent scales that of the newest run).
    """

    runs: dict[int, RepresentingRun]
    scale: Scale

    @property
    def comparable(self) -> list[int]:
        """Keys of the runs whose scores are on the most common scale."""
        return [key for key, run in self.runs.items() if run.scale == self.scale]

    @property
    def n_other(self) -> int:
        """Number of runs whose scores are on another scale."""
        return len(self.runs) - len(self.comparable)


def load_representing_runs(user: AnyUser) -> RepresentingRuns:
    """Return the grading runs that represent the sets the user may see, by one query."""
    rows = select_official_runs(user).values(
        *("pk", "public_id", "version_id", "version__number", "finished_at"),
        *("version__question_set_id", "version__question_set__public_id"),
        *("version__question_set__name", "parameters__exclude_workers"),
        *(f"parameters__{name}" for name in SCALE),
    )
    runs = {row["pk"]: _build_representing_run(row) for row in rows.order_by("finished_at", "pk")}
    # Newest first: of equal counts `most_common` returns the one that was counted first.
    often = Counter(run.scale for run in reversed(runs.values()))
    scale = often.most_common(1)[0][0] if often else ()
    return RepresentingRuns(runs, scale)


def _build_representing_run(row: dict[str, Any]) -> RepresentingRun:
    """Return a representing run from its database row; missing options have their defaults."""
    defaults = AqerParameters()
    scale = tuple(
        str(getattr(defaults, name) if (value := row[f"parameters__{name}"]) is None else value)
        for name in SCALE
    )
    return RepresentingRun(
        key=row["pk"],
        public_id=row["public_id"],
        version=row["version_id"],
        version_number=row["version__number"],
        question_set=row["version__question_set_id"],
        set_id=row["version__question_set__public_id"],
        set_name=row["version__question_set__name"],
        finished_at=row["finished_at"],
        scale=scale,
        excluded=tuple(row["parameters__exclude_workers"] or ()),
    )


def list_answered_versions(user: AnyUser) -> list[tuple[int, UUID, str]]:
    """Return (version, set id, set name) of versions whose answers the user may see."""
    seen = Submission.objects.visible_to(user).filter(version=OuterRef("pk"))
    versions = QuestionSetVersion.objects.filter(Exists(seen)).order_by("question_set__name", "pk")
    return list(versions.values_list("pk", "question_set__public_id", "question_set__name"))
