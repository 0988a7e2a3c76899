"""Compare a run with a run of an earlier wave: scores, moved answers, changed facts.

Questions are matched by their ids. Workers and models match if they are the same database rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from annotations.answering.waves import list_earlier_waves
from annotations.web.scope import UserRequest, select_visible
from annotations.web.texts import EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.statistics.descriptive import (
    compute_cosine_distances,
    estimate_chance_distances,
)
from evaluation.grading.results.report.against import (
    SCORED_BY,
    Change,
    find_embedding_changes,
)
from evaluation.grading.storage.running import NotAtOnceError
from evaluation.grading.summary import read_summary
from evaluation.models import CrowdFact, ExemplaryAnswer, Run
from evaluation.models.runs import GRADING, choose_official_or_newest
from evaluation.runs.reports.about import RunAbout, build_run_about, build_run_titles
from evaluation.runs.reports.lists import LONG, Table
from evaluation.waves.report.scores import (
    ModelComparison,
    WorkerComparison,
    compare_models,
    compare_workers,
)
from evaluation.waves.storage import Shift, compute_shifts

FAR = 2.0
"""Ratio of distance to chance distance from which a question has moved: a rule of thumb.

It is used where there is no test, for example because the vectors of a run were deleted.
"""


@dataclass(frozen=True)
class FactChange:
    """Values on which workers agree for one kind of fact, in each wave; empty if none.

    Attributes
    ----------
    slot : kind of fact, as "year". before, after : sorted values on which workers agree.
    """

    slot: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class QuestionDrift:
    """A question of both waves, with the distance between its answers and the changed facts.

    Attributes
    ----------
    distance : 1 - cosine of the exemplary answers, from 0 to 2; None if they cannot be compared.
    by_chance : expected distance for two samples of one crowd with these sizes and dispersions.
    n_before, n_after : numbers of answers. before, after : the answer nearest to the exemplary
        answer; "" if it was withdrawn.
    facts : kinds of facts on whose value workers agree differently than before.
    shift : result of the permutation test; None if it was not made.
    """

    question: UUID
    name: str
    distance: float | None
    by_chance: float | None
    n_before: int
    n_after: int
    before: str
    after: str
    facts: tuple[FactChange, ...]
    shift: Shift | None = None

    @property
    def times(self) -> float | None:
        """Distance divided by the one expected by chance; None if unknown or if that is 0."""
        if self.distance is None or not self.by_chance:
            return None
        return self.distance / self.by_chance

    @property
    def moved(self) -> bool:
        """Whether the consensus moved at least twice the distance expected by chance."""
        return self.times is not None and self.times >= FAR

    @property
    def moved_beyond_chance(self) -> bool | None:
        """Whether the permutation test is significant; None if not tested."""
        return None if self.shift is None else self.shift.moved

    @property
    def marked(self) -> bool:
        """Whether the question counts as moved: by the test, else by the rule of thumb."""
        return self.moved if self.shift is None else self.shift.moved

    @property
    def apart(self) -> float | None:
        """Distance between exemplary answers, else between mean answers; None without either."""
        if self.distance is None and self.shift is not None:
            return self.shift.distance
        return self.distance


def load_question_drifts(
    before: Run, after: Run, shifts: Mapping[str, Shift], *, comparable: bool
) -> list[QuestionDrift]:
    """Return how the answers to each question of both runs drifted; six queries.

    Questions that count as moved come first, then the largest distance beyond chance. `comparable`
    : whether scores are on one scale; otherwise there are no distances of exemplary answers.
    """
    rows_before, rows_after = _load_exemplars(before), _load_exemplars(after)
    common = sorted(rows_before.keys() & rows_after.keys())
    distances = _compute_distances(
        [rows_before[name] for name in common], [rows_after[name] for name in common]
    )
    chance = estimate_chance_distances(
        *(
            np.array([part[name][column] for name in common], dtype=np.float64)
            for part in (rows_before, rows_after)
            for column in ("dispersion", "n_answers")
        )
    )
    facts = _load_agreed_facts(before), _load_agreed_facts(after)
    questions = []
    for index, name in enumerate(common):
        distance, by_chance = distances[index], float(chance[index])
        questions.append(
            QuestionDrift(
                question=rows_after[name]["public"],
                name=name,
                distance=distance if comparable else None,
                by_chance=by_chance if comparable and not np.isnan(by_chance) else None,
                n_before=rows_before[name]["n_answers"],
                n_after=rows_after[name]["n_answers"],
                before=shorten_text(rows_before[name]["nearest"]),
                after=shorten_text(rows_after[name]["nearest"]),
                facts=_find_fact_changes(facts[0].get(name, {}), facts[1].get(name, {})),
                shift=shifts.get(name),
            )
        )
    return sorted(questions, key=_build_drift_sort_key, reverse=True)


def _load_exemplars(run: Run) -> dict[str, dict[str, Any]]:
    """Return each question's exemplary answer, number of answers and dispersion, by question id."""
    rows = ExemplaryAnswer.objects.filter(run=run).values(
        *("n_answers", "dispersion", "dimension", "vector"),
        name=F("question__external_id"),
        public=F("question__public_id"),
        nearest=select_beginning("nearest_response__text", EXCERPT_SHOWN),
    )
    return {row["name"]: dict(row) for row in rows}


def _compute_distances(
    rows_before: list[dict[str, Any]], rows_after: list[dict[str, Any]]
) -> list[float | None]:
    """Return the distance of each question's two exemplary answers; None if not comparable."""
    distances: list[float | None] = [None] * len(rows_before)
    comparable = [
        index
        for index, (a, b) in enumerate(zip(rows_before, rows_after, strict=True))
        if a["vector"] and b["vector"] and a["dimension"] == b["dimension"]
    ]
    # Questions may have different dimensions; each dimension is one matrix product.
    for dimension in {rows_before[index]["dimension"] for index in comparable}:
        indexes = [index for index in comparable if rows_before[index]["dimension"] == dimension]
        computed = compute_cosine_distances(
            *(
                np.stack(
                    [np.frombuffer(rows_of_wave[index]["vector"], dtype="<f4") for index in indexes]
                )
                for rows_of_wave in (rows_before, rows_after)
            )
        )
        for index, distance in zip(indexes, computed, strict=True):
            # NaN: a vector of length 0 has no direction.
            distances[index] = None if np.isnan(distance) else float(distance)
    return distances


def _load_agreed_facts(run: Run) -> dict[str, dict[str, set[str]]]:
    """Return the values on which workers agree, by question id and slot; one query."""
    rows = CrowdFact.objects.filter(run=run, state=CrowdFact.State.AGREED).order_by("place")
    facts: dict[str, dict[str, set[str]]] = {}
    for name, slot, value in rows.values_list("question__external_id", "slot", "value"):
        facts.setdefault(name, {}).setdefault(slot, set()).add(value)
    return facts


def _find_fact_changes(
    before: dict[str, set[str]], after: dict[str, set[str]]
) -> tuple[FactChange, ...]:
    """Return the changes of the agreed values of a question's facts, sorted by slot."""
    return tuple(
        FactChange(slot, tuple(sorted(old_values)), tuple(sorted(new_values)))
        for slot in sorted(before.keys() | after.keys())
        if (old_values := before.get(slot, set())) != (new_values := after.get(slot, set()))
    )


def _build_drift_sort_key(drift: QuestionDrift) -> tuple[bool, bool, float, int]:
    """Return the ascending sort key of a drift: moved first, then distance and changed facts.

    Questions without a distance come before those with one; the caller sorts in reverse.
    """
    has_distance = drift.apart is not None
    excess = (drift.apart or 0.0) - (drift.by_chance or 0.0)
    return drift.marked, has_distance, excess if has_distance else 0.0, len(drift.facts)


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
    people: WorkerComparison
    questions: list[QuestionDrift]
    only_before: int
    only_after: int
    models: ModelComparison
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
        """Sentence that states why no test was made; "" if it was made."""
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
        official = choose_official_or_newest(rows.filter(version__question_set=earlier))
        if official is not None:
            # A stable sort: the others stay in order, newest first.
            return sorted(runs, key=lambda candidate: candidate.pk != official.pk)
    return runs


def describe_earlier_runs(runs: list[Run]) -> list[EarlierRun]:
    """Return earlier runs with the names that a page offers."""
    labels = build_run_titles([(run, AqerParameters) for run in runs])
    return [
        EarlierRun(run.public_id, run.version.question_set.name, label.title)
        for run, label in zip(runs, labels, strict=True)
    ]


def build_waves_report(before: Run, after: Run) -> WavesReport:
    """Return the comparison of two finished gradings of two waves.

    The permutation test takes the longest; its result is cached.
    """
    # Scores of different embeddings or scorings are on different scales.
    embedding = [Change(*change) for change in find_embedding_changes(before, after)]
    old_options, new_options = (
        AqerParameters.add_defaults(run.parameters) for run in (before, after)
    )
    scoring = [
        Change(AqerParameters.get_options()[name].label, old_options[name], new_options[name])
        for name in SCORED_BY
        if old_options[name] != new_options[name]
    ]
    by_spelling = _is_counting_words(before) and _is_counting_words(after)
    # Word counters may differ in vocabulary: the test embeds both waves anew.
    question_shifts, untested = _compute_shifts_or_reason(
        before, after, is_same_embedding=by_spelling or not embedding
    )
    questions = load_question_drifts(
        before, after, question_shifts, comparable=not embedding and not scoring
    )
    common_ids = [question.name for question in questions]
    n_questions = [run.exemplary_answers.count() for run in (before, after)]
    return WavesReport(
        before=build_run_about(before),
        after=build_run_about(after),
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


def _compute_shifts_or_reason(
    before: Run, after: Run, *, is_same_embedding: bool
) -> tuple[Mapping[str, Shift], str]:
    """Return (shift by question id, ""), or ({}, code of the reason) if untested."""
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
