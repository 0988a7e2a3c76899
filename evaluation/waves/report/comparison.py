"""Compare a run with a run of an earlier wave: report, tables, and the earlier runs on offer.

Questions are matched by their ids. Workers and models match if they are the same database rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from annotations.answering.waves import list_earlier_waves
from annotations.web.scope import UserRequest, select_visible
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.against import (
    SCORED_BY,
    Change,
    find_embedding_changes,
)
from evaluation.grading.storage.running import NotAtOnceError
from evaluation.grading.summary import read_summary
from evaluation.models import Run
from evaluation.models.runs import GRADING, run_that_counts
from evaluation.runs.reports.about import RunAbout, build_about, build_titles
from evaluation.runs.reports.lists import LONG, Table
from evaluation.waves.report.questions import QuestionDrift, load_drifts
from evaluation.waves.report.scores import Models, People, compare_models, compare_workers
from evaluation.waves.storage import Shift, compute_shifts

RUNS_OFFERED = 50
COUNTING = frozenset({"tfidf-word", "tfidf-char", "bow"})
"""Embedders that learn their vocabulary from the answers of one run."""
NOT_TESTED: Mapping[str, str] = {
    "large": "There are too many answers to test it while a page loads.",
    "changed": "People's answers were added, changed or withdrawn since one of the two was "
    "graded: grade it again.",
    "slow_settings": "One of the two was graded with corrected spelling, whose vectors are not "
    "stored.",
    "no_vectors": "The vectors of one of the two are not stored: grade it again.",
    "otherwise": "The two were not graded with the same model of meaning.",
}
"""Why the drift of answers between two waves was not tested, by code."""


@dataclass(frozen=True)
class EarlierRun:
    """A grading of an earlier wave: `called` is the run's title, `name` its question set's."""

    run: UUID
    name: str
    called: str


@dataclass(frozen=True)
class WavesReport:
    """Comparison of a run with a run of an earlier wave.

    Attributes
    ----------
    embedding, scoring : settings that differ, of the embedding and of the scoring. Where any
        differs, scores are not on one scale and there are no distances.
    by_spelling : whether both runs count words or letters, which each run learns from its answers.
    questions : questions of both waves: those that moved first, then by distance beyond chance.
    only_before, only_after : number of questions of one wave only.
    untested : code of the reason why no test was made; "" if it was made.
    """

    before: RunAbout
    after: RunAbout
    embedding: list[Change]
    scoring: list[Change]
    by_spelling: bool
    people: People
    questions: list[QuestionDrift]
    only_before: int
    only_after: int
    models: Models
    untested: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the scores of both waves are on one scale."""
        return not self.embedding and not self.scoring

    @property
    def n_moved(self) -> int:
        """Number of questions that moved at least twice the distance expected by chance."""
        return sum(question.moved for question in self.questions)

    @property
    def n_measured(self) -> int:
        """Number of questions with a measured distance and a distance expected by chance."""
        return sum(question.times is not None for question in self.questions)

    @property
    def n_tested(self) -> int:
        """Number of questions with a permutation test."""
        return sum(question.shift is not None for question in self.questions)

    @property
    def n_moved_beyond_chance(self) -> int:
        """Number of tested questions whose answers moved significantly."""
        return sum(bool(question.moved_beyond_chance) for question in self.questions)

    @property
    def why_untested(self) -> str:
        """Sentence that says why no test was made; "" if it was made."""
        return NOT_TESTED.get(self.untested, "")

    @property
    def n_facts(self) -> int:
        """Number of questions whose agreed facts changed between the waves."""
        return sum(bool(question.facts) for question in self.questions)


def list_earlier_runs(request: UserRequest, run: Run) -> list[Run]:
    """Return the finished gradings of earlier waves that the user may see.

    The official run of the wave just before comes first, then the newest; at most 50.
    """
    sets = list_earlier_waves(run.version.question_set)
    rows = select_visible(request, Run.objects.all()).filter(
        version__question_set__in=sets, kind=GRADING, state=Run.State.DONE, archived_at=None
    )
    runs = list(
        rows.select_related("version__question_set").defer(*LONG).order_by("-pk")[:RUNS_OFFERED]
    )
    if not runs:
        return []
    # The nearest earlier wave with an official run decides which run comes first.
    for earlier in sets:
        official = run_that_counts(rows.filter(version__question_set=earlier))
        if official is not None:
            # A stable sort: the others stay in order, newest first.
            return sorted(runs, key=lambda candidate: candidate.pk != official.pk)
    return runs


def describe_earlier_runs(runs: list[Run]) -> list[EarlierRun]:
    """Return earlier runs with the names that a page offers."""
    labels = build_titles([(run, AqerParameters) for run in runs])
    return [
        EarlierRun(run.public_id, run.version.question_set.name, label.title)
        for run, label in zip(runs, labels, strict=True)
    ]


def build_report(before: Run, after: Run) -> WavesReport:
    """Return the comparison of two finished gradings of two waves.

    The permutation test takes the longest; its result is cached.
    """
    # Scores of different embeddings or scorings are on different scales.
    embedding = [Change(*change) for change in find_embedding_changes(before, after)]
    old_options, new_options = (AqerParameters.completed(run.parameters) for run in (before, after))
    scoring = [
        Change(AqerParameters.options()[name].label, old_options[name], new_options[name])
        for name in SCORED_BY
        if old_options[name] != new_options[name]
    ]
    by_spelling = _is_counting_words(before) and _is_counting_words(after)
    # Word counters may differ in vocabulary: the test embeds both waves anew.
    question_shifts, untested = _try_shifts(
        before, after, is_same_embedding=by_spelling or not embedding
    )
    questions = load_drifts(
        before, after, question_shifts, comparable=not embedding and not scoring
    )
    common_ids = [question.name for question in questions]
    n_questions = [run.exemplary_answers.count() for run in (before, after)]
    return WavesReport(
        before=build_about(before),
        after=build_about(after),
        embedding=embedding,
        scoring=scoring,
        by_spelling=by_spelling,
        people=compare_workers(before, after, common_ids),
        questions=questions,
        only_before=n_questions[0] - len(common_ids),
        only_after=n_questions[1] - len(common_ids),
        models=compare_models(
            before, after, set(common_ids), whole=n_questions == [len(common_ids)] * 2
        ),
        untested=untested,
    )


def _try_shifts(
    before: Run, after: Run, *, is_same_embedding: bool
) -> tuple[Mapping[str, Shift], str]:
    """Return each question's shift and ""; if untested, no shifts and the reason's code."""
    if not is_same_embedding:
        return {}, "otherwise"
    try:
        return compute_shifts(before, after), ""
    except NotAtOnceError as error:
        return {}, error.code


def _is_counting_words(run: Run) -> bool:
    """Return whether a run's embedder learned its vocabulary from the run's answers."""
    return read_summary(run).embedding.spec in COUNTING


def build_worker_table(report: WavesReport) -> Table:
    """Return the table of workers of both waves, greatest change first."""
    header = (
        *("worker", "score_before", "score_after", "change", "n_before", "n_after", "support"),
    )
    return Table(
        header,
        (
            (
                *(row.name, row.before, row.after, row.change, row.n_before, row.n_after),
                "ok" if row.supported else "too_few",
            )
            for row in report.people.workers
        ),
    )


def build_question_table(report: WavesReport) -> Table:
    """Return the table of questions of both waves, in the order of the report.

    Facts are written as "slot: value, value"; semicolons separate several slots.
    """
    header = (
        *("question", "distance", "by_chance", "times", "moved", "n_before", "n_after"),
        *("consensus_before", "consensus_after", "facts_before", "facts_after"),
        *("moved_beyond_chance", "p_value", "adjusted_p_value", "mean_distance", "n_both"),
    )
    return Table(
        header,
        (
            (
                *(row.name, row.distance, row.by_chance, row.times),
                "" if row.times is None else str(row.moved).lower(),
                *(row.n_before, row.n_after, row.before, row.after),
                "; ".join(f"{fact.slot}: {', '.join(fact.before)}" for fact in row.facts),
                "; ".join(f"{fact.slot}: {', '.join(fact.after)}" for fact in row.facts),
                *_build_shift_cells(row),
            )
            for row in report.questions
        ),
    )


def _build_shift_cells(row: QuestionDrift) -> tuple[object, ...]:
    """Return the five table cells of a permutation test; empty if the question was not tested."""
    shift = row.shift
    if shift is None:
        return ("", None, None, None, None)
    return (
        *(str(shift.moved).lower(), shift.p_value, shift.adjusted),
        *(shift.distance, shift.n_both),
    )


def build_model_table(report: WavesReport) -> Table:
    """Return the table of models of the later wave, best first."""
    header = (
        *("model", "score_before", "low_before", "high_before", "rank_before"),
        *("score_after", "low_after", "high_after", "rank_after"),
        *("change", "n_same_answers", "n_answers"),
    )
    return Table(
        header,
        (
            (
                row.name,
                *(
                    (row.before.value, row.before.low, row.before.high)
                    if row.before
                    else (None,) * 3
                ),
                row.rank_before,
                *(row.after.value, row.after.low, row.after.high, row.rank_after),
                *(row.change, row.n_same, row.n_answers),
            )
            for row in report.models.rows
        ),
    )
