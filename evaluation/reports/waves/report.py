"""The report of two waves, and which runs of earlier waves there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.answering.waves import earlier_waves
from annotations.web.scope import Asked, visible
from evaluation.flow.aqer_summary import summary_of
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.models.runs_of_record import run_that_counts
from evaluation.reports.about import RunAbout, about
from evaluation.reports.called import all_called
from evaluation.reports.exemplars import SCORED_BY, embedding_changes
from evaluation.reports.lists import LONG
from evaluation.reports.waves.models import Models, models
from evaluation.reports.waves.people import People, people
from evaluation.reports.waves.questions import QuestionDrift, drifts
from evaluation.steps.as_graded import NotAtOnceError
from evaluation.steps.waves import Shift, shifts
from evaluation.words.waves import NOT_TESTED

RUNS_OFFERED = 50
COUNTING = frozenset({"tfidf-word", "tfidf-char", "bow"})
"""Embedders that learn what they count from the answers of their own run."""


@dataclass(frozen=True)
class EarlierRun:
    """A grading of an earlier wave: `called` is its name, `name` that of its set."""

    run: UUID
    name: str
    called: str


@dataclass(frozen=True)
class Difference:
    """A way in which the two runs were made otherwise."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class WavesReport:
    """Two waves, the earlier one first.

    Attributes
    ----------
    embedding, scoring : what was otherwise in how texts became vectors, in how answers are
        compared. Where anything was, scores do not stand on one scale and there are no distances.
    by_spelling : both count words or letters, which each run learns from its own answers.
    questions : those of both, first those that moved, then the furthest beyond chance. only_before,
        only_after : how many were asked in one wave only.
    untested : code of why it is not tested which answers moved, "" where it is.
    """

    before: RunAbout
    after: RunAbout
    embedding: list[Difference]
    scoring: list[Difference]
    by_spelling: bool
    people: People
    questions: list[QuestionDrift]
    only_before: int
    only_after: int
    models: Models
    untested: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the scores of both waves stand on one scale."""
        return not self.embedding and not self.scoring

    @property
    def n_moved(self) -> int:
        """Questions on which the consensus moved twice as far as chance tends to bring."""
        return sum(one.moved for one in self.questions)

    @property
    def n_measured(self) -> int:
        """Questions of which it is known how far they moved."""
        return sum(one.times is not None for one in self.questions)

    @property
    def n_tested(self) -> int:
        """Questions of which it is tested whether they moved."""
        return sum(one.shift is not None for one in self.questions)

    @property
    def n_moved_beyond_chance(self) -> int:
        """Those of them that moved beyond what chance brings."""
        return sum(bool(one.moved_beyond_chance) for one in self.questions)

    @property
    def why_untested(self) -> str:
        """Why it is not tested, in words; "" where it is."""
        return NOT_TESTED.get(self.untested, "")

    @property
    def n_facts(self) -> int:
        """Questions on which people agree on another fact than before."""
        return sum(bool(one.facts) for one in self.questions)


def earlier_runs(request: Asked, run: Run) -> list[Run]:
    """Return the gradings of earlier waves that the one who asks may see.

    That which counts for the wave just before stands first, then the newest.
    """
    sets = earlier_waves(run.version.question_set)
    rows = visible(request, Run.objects.all()).filter(
        version__question_set__in=sets, kind=GRADING, state=Run.State.DONE, archived_at=None
    )
    found = list(
        rows.select_related("version__question_set").defer(*LONG).order_by("-pk")[:RUNS_OFFERED]
    )
    if not found:
        return []
    for earlier in sets:
        counts = run_that_counts(rows.filter(version__question_set=earlier))
        if counts is not None:
            return sorted(found, key=lambda one: one.pk != counts.pk)
    return found


def offered(runs: list[Run]) -> list[EarlierRun]:
    """Return runs as a page offers them."""
    names = all_called([(one, AqerParameters) for one in runs])
    return [
        EarlierRun(one.public_id, one.version.question_set.name, name.title)
        for one, name in zip(runs, names, strict=True)
    ]


def waves_report(before: Run, after: Run) -> WavesReport:
    """Compare two gradings that are done.

    What hangs on how much there is, the test of which answers moved, is kept from one time to the
    next.
    """
    embedding = [Difference(*change) for change in embedding_changes(before, after)]
    one, other = (AqerParameters.completed(run.parameters) for run in (before, after))
    scoring = [
        Difference(AqerParameters.options()[name].label, one[name], other[name])
        for name in SCORED_BY
        if one[name] != other[name]
    ]
    by_spelling = _by_spelling(before) and _by_spelling(after)
    found_shifts, untested = _shifts(before, after, same=by_spelling or not embedding)
    questions = drifts(before, after, found_shifts, comparable=not embedding and not scoring)
    common = [question.name for question in questions]
    asked = [run.exemplary_answers.count() for run in (before, after)]
    return WavesReport(
        before=about(before),
        after=about(after),
        embedding=embedding,
        scoring=scoring,
        by_spelling=by_spelling,
        people=people(before, after, common),
        questions=questions,
        only_before=asked[0] - len(common),
        only_after=asked[1] - len(common),
        models=models(before, after, set(common), whole=asked == [len(common)] * 2),
        untested=untested,
    )


def _shifts(before: Run, after: Run, *, same: bool) -> tuple[Mapping[str, Shift], str]:
    """Return what a test of two runs found, and the code of why there is none."""
    if not same:
        return {}, "otherwise"
    try:
        return shifts(before, after), ""
    except NotAtOnceError as error:
        return {}, error.code


def _by_spelling(run: Run) -> bool:
    return summary_of(run).embedding.spec in COUNTING
