"""Compare a run, and its exemplary answers, with another run of the same questions.

Compare the exemplary answers of a run with those of another run.

Only if they are the same do the scores of models in both runs compare the models alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q

from annotations.models import Response
from annotations.web.texts import EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.results.report.changes import (
    NAMED,
    UnpairedWorker,
    WorkerChange,
    compare_crowds,
)
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMScore, Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.about import (
    RunAbout,
    build_run_about,
    build_run_titles,
    load_referenced_names,
)
from evaluation.runs.reports.lists import LONG

# Dispersions that differ by less are of the same exemplary answers, but for rounding.
SAME = 1e-9
# What a model's score depends on beside the exemplary answers.
SCORED_BY = ("similarity", "aggregation", "unit_length", "camps")
EMBEDDING = ("model", "revision", "precision", "dimension", "max_length")


@dataclass(frozen=True)
class Exemplars:
    """Values that identify a run's exemplary answers, to check whether two runs share them.

    Attributes
    ----------
    version : key of the version of the question set.
    scored_by : values of the options that affect models' scores.
    questions : dispersion, nearest answer and its author, by the question's id in files.
    """

    version: int
    scored_by: tuple[Any, ...]
    embedding: Mapping[str, Any]
    questions: Mapping[str, Mapping[str, Any]]

    @classmethod
    def from_runs(cls, *runs: Run) -> list[Self]:
        """Return the identifying values of each finished run's exemplary answers; one query."""
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
        """Return the common questions whose nearest answer differs between the two runs.

        Another version of the set has other rows of answers, so there the workers are compared.
        """
        key = "nearest_response_id" if self.version == other.version else "worker"
        return [
            name
            for name in self.questions.keys() & other.questions.keys()
            if self.questions[name][key] != other.questions[name][key]
        ]

    def has_equal_scores(self, other: Exemplars) -> bool:
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
    """Return the embedding settings that two runs do not share, as (name, before, after)."""
    embedding, other = _read_embedding(before), _read_embedding(after)
    return [
        (name, embedding[name], other[name]) for name in EMBEDDING if embedding[name] != other[name]
    ]


def _read_scoring_options(run: Run) -> tuple[Any, ...]:
    """Return the values of the run options that affect models' scores."""
    parameters = AqerParameters.completed(run.parameters)
    return tuple(parameters[name] for name in SCORED_BY)


def _read_embedding(run: Run) -> dict[str, Any]:
    """Return model name and settings of a run's embedding."""
    embedding = asdict(read_summary(run).embedding)
    return {name: embedding[name] for name in EMBEDDING}


def _is_close(value: float | None, other: float | None) -> bool:
    """Return whether two dispersions are equal up to rounding; None equals only None."""
    if value is None or other is None:
        return value is other
    return abs(value - other) <= SAME


MOVERS_SHOWN = 20
EXEMPLARS_SHOWN = 12
RUNS_OFFERED = 50


@dataclass(frozen=True)
class OtherRun:
    """Another run of the question set, offered for comparison; `called` is its title."""

    run: UUID
    called: str
    version: int
    state: str
    created_at: datetime

    @property
    def is_done(self) -> bool:
        """Whether the run has results."""
        return self.state == Run.State.DONE


@dataclass(frozen=True)
class Change:
    """A count or setting that differs between two runs, with the value in each."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class DataChanges:
    """Differences between the answers that two compared runs read.

    Attributes
    ----------
    same_texts : whether both read the same texts of workers and models, by their hash.
    same_version : whether both are runs of one version of the question set; if not, the numbers of
        removed and added answers are None.
    counts : numbers of answers, workers, questions and models in both runs.
    removed, added : numbers of answers that only the earlier or only the later run read;
        `withdrawn` of the removed were deleted. edited : answers of both that were saved again
        after the earlier run began.
    """

    same_texts: bool
    same_version: bool
    counts: list[Change]
    removed: int | None
    added: int | None
    withdrawn: int
    edited: int | None


@dataclass(frozen=True)
class SettingChange:
    """An option that differs between two runs: label, and both values as text."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class ModelChange:
    """A language model's score and rank in two compared runs."""

    name: str
    score_before: float | None
    score_after: float | None
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True)
class ExemplarChange:
    """A question whose nearest answer (consensus) differs between two runs."""

    question: UUID
    name: str
    before: str
    after: str


@dataclass(frozen=True)
class RunComparison:
    """Comparison of two runs of a question set; the earlier run comes first.

    Attributes
    ----------
    parameters, embedding : values that differ. settings : differing parameters as label and text.
    workers : workers of both runs, largest change first. only_before, only_after : numbers of
        workers of one run only; left, came : the first 30 of them, by rank.
    n_compared : number of common workers with two grades. spearman : rank correlation of these.
    same_exemplars : whether models were compared with the same exemplary answers; otherwise their
        scores also differ because the exemplary answers do.
    n_common_questions : number of questions of both runs; n_other_nearest : number of these whose
        nearest answer differs. exemplars : some of these.
    """

    renamed_keys: ClassVar = {
        "left": "only_in_earlier",
        "came": "only_in_later",
    }

    before: RunAbout
    after: RunAbout
    data: DataChanges
    parameters: list[Change]
    settings: list[SettingChange]
    embedding: list[Change]
    workers: list[WorkerChange]
    only_before: int
    only_after: int
    left: list[UnpairedWorker]
    came: list[UnpairedWorker]
    n_compared: int
    spearman: float | None
    models: list[ModelChange]
    same_exemplars: bool
    n_common_questions: int
    n_other_nearest: int
    exemplars: list[ExemplarChange]

    @property
    def movers(self) -> list[WorkerChange]:
        """The 20 workers whose rank or grade changed most."""
        return [worker for worker in self.workers if worker.moved or worker.grade_change][
            :MOVERS_SHOWN
        ]


def read_other_runs(run: Run) -> list[OtherRun]:
    """Return the newest 50 other gradings of the run's question set; at most four queries."""
    of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=GRADING)
    rows = of_set.exclude(pk=run.pk).select_related("version").defer(*LONG).order_by("-pk")
    runs = list(rows[:RUNS_OFFERED])
    names = build_run_titles([(run, AqerParameters) for run in runs])
    return [
        OtherRun(one.public_id, name.title, one.version.number, one.state, one.created_at)
        for one, name in zip(runs, names, strict=True)
    ]


def build_run_comparison(run: Run, other: Run) -> RunComparison:
    """Return the comparison of two finished runs, earlier one first; at most nine queries."""
    before, after = (run, other) if run.pk < other.pk else (other, run)
    embedding = [Change(*change) for change in find_embedding_changes(before, after)]
    both_crowds = compare_crowds(before, after)
    grade_pairs = [
        (worker.grade_before, worker.grade_after)
        for worker in both_crowds.common
        if worker.grade_before is not None and worker.grade_after is not None
    ]
    exemplars = Exemplars.from_runs(before, after)
    common_questions = exemplars[0].questions.keys() & exemplars[1].questions.keys()
    other_nearest = exemplars[0].find_other_nearest(exemplars[1])
    return RunComparison(
        before=build_run_about(before),
        after=build_run_about(after),
        data=_compare_data(before, after),
        parameters=_compare_parameters(before, after),
        settings=_compare_settings(before, after),
        embedding=embedding,
        workers=both_crowds.common,
        only_before=len(both_crowds.left),
        only_after=len(both_crowds.came),
        left=both_crowds.left[:NAMED],
        came=both_crowds.came[:NAMED],
        n_compared=both_crowds.n_graded,
        spearman=spearman([a for a, _ in grade_pairs], [b for _, b in grade_pairs]),
        models=_compare_models(before, after),
        same_exemplars=exemplars[0].has_equal_scores(exemplars[1]),
        n_common_questions=len(common_questions),
        n_other_nearest=len(other_nearest),
        exemplars=_read_exemplar_changes(exemplars, sorted(other_nearest)[:EXEMPLARS_SHOWN]),
    )


def _compare_data(before: Run, after: Run) -> DataChanges:
    """Return how the answers that the two runs read differ."""
    counts = [count_crowd(run) for run in (before, after)]
    same_version = before.version_id == after.version_id
    n_scores = AnswerScore.objects.filter(run__in=(before, after)).aggregate(
        before=Count("pk", filter=Q(run=before)), after=Count("pk", filter=Q(run=after))
    )
    # Two runs without a hash are not known to be the same.
    same_texts = bool(before.input_hash) and before.input_hash == after.input_hash
    removed = added = edited = None
    withdrawn = max(0, read_summary(before).counts.answers - n_scores["before"])
    if same_texts:
        removed = added = edited = 0
    elif same_version:
        in_before = AnswerScore.objects.filter(run=before, response=OuterRef("response"))
        common = AnswerScore.objects.filter(Exists(in_before), run=after)
        n_common = common.count()
        # A withdrawn answer has lost its score as well: the rows alone would miss it.
        removed, added = n_scores["before"] - n_common + withdrawn, n_scores["after"] - n_common
        edited = Response.objects.filter(
            pk__in=common.values("response"), updated_at__gt=before.started_at
        ).count()
    return DataChanges(
        same_texts=same_texts,
        same_version=same_version,
        counts=[
            Change(what, counts[0][key], counts[1][key])
            for what, key in (
                ("answers of people", "answers"),
                ("workers", "workers"),
                ("questions", "questions"),
                ("language models", "models"),
                ("answers of models", "model_answers"),
            )
        ],
        removed=removed,
        added=added,
        withdrawn=withdrawn,
        edited=edited,
    )


def _compare_parameters(before: Run, after: Run) -> list[Change]:
    """Return the run parameters with different values; a missing one has its default value."""
    one, other = (AqerParameters.completed(run.parameters) for run in (before, after))
    return _find_changes(one, other, list(dict.fromkeys([*one, *other])))


def _compare_settings(before: Run, after: Run) -> list[SettingChange]:
    """Return the options with different values as labels and texts; ids are shown as names."""
    stored = before.parameters, after.parameters
    names = load_referenced_names(stored)
    one, other = (AqerParameters.completed(values) for values in stored)
    return [
        SettingChange(known.label, known.brief(one[name], names), known.brief(other[name], names))
        for name, known in AqerParameters.options().items()
        if one[name] != other[name]
    ]


def _find_changes(earlier: Mapping[str, Any], later: Mapping[str, Any], names: Any) -> list[Change]:
    """Return the names whose values differ between two mappings, with both values."""
    return [
        Change(name, earlier.get(name), later.get(name))
        for name in names
        if earlier.get(name) != later.get(name)
    ]


def _compare_models(before: Run, after: Run) -> list[ModelChange]:
    """Return score and rank of each model in both runs, best later score first."""
    scores = LLMScore.objects.filter(run__in=(before, after))
    rows = scores.order_by(F("score").desc(nulls_last=True), "model__name").values_list(
        "model_id", "model__name", "score", "rank", "run_id"
    )
    before_scores, after_scores = (
        {row[0]: row for row in rows if row[4] == run.pk} for run in (before, after)
    )
    return [
        ModelChange(row[1], before_scores[model][2], row[2], before_scores[model][3], row[3])
        for model, row in after_scores.items()
        if model in before_scores
    ]


def _read_exemplar_changes(exemplars: list[Exemplars], names: list[str]) -> list[ExemplarChange]:
    """Return the nearest answers (consensus) of the given questions in both runs."""
    before, after = (part.questions for part in exemplars)
    exemplar_keys = [part[name]["pk"] for part in (before, after) for name in names]
    texts = dict(
        ExemplaryAnswer.objects.filter(pk__in=exemplar_keys).values_list(
            "pk", select_beginning("nearest_response__text", EXCERPT_SHOWN)
        )
    )
    return [
        ExemplarChange(
            question=after[name]["public"],
            name=name,
            before=shorten_text(texts.get(before[name]["pk"])),
            after=shorten_text(texts.get(after[name]["pk"])),
        )
        for name in names
    ]
