"""A run against another one of the same set: what came out differently, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q

from annotations.models import Response
from annotations.web.texts import EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.exemplars import Exemplars, embedding_changes
from evaluation.grading.results.report.movers import NAMED, WorkerChange, WorkerOfOne, crowds
from evaluation.grading.results.report.run import crowd_counts
from evaluation.grading.summary import summary_of
from evaluation.methods.statistics.correlation import spearman
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMScore, Run
from evaluation.models.runs import GRADING
from evaluation.reports.about import RunAbout, about
from evaluation.reports.called import all_called, names_of
from evaluation.reports.lists import LONG

MOVERS_SHOWN = 20
EXEMPLARS_SHOWN = 12
RUNS_OFFERED = 50


@dataclass(frozen=True)
class OtherRun:
    """A run that can be compared with; `called` is its name, or what stands for one."""

    run: UUID
    called: str
    version: int
    state: str
    created_at: datetime

    @property
    def is_done(self) -> bool:
        """Whether it has results."""
        return self.state == Run.State.DONE


@dataclass(frozen=True)
class Change:
    """Something that is not the same in both runs."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class DataChanges:
    """What went into the two runs.

    Attributes
    ----------
    same_texts : both read exactly the same texts of people and models, by their hash.
    same_version : of the question set; answers of another version are other answers, so the
        counts of added and removed ones are None then.
    counts : answers, workers and questions of both.
    removed, added : answers that only the earlier, only the later run read; `withdrawn` of the
        removed were deleted. edited : answers of both, saved anew since the earlier run began.
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
    """A setting that is not the same in both runs: its label, and its values in words."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class ModelChange:
    """A model in both runs."""

    name: str
    score_before: float | None
    score_after: float | None
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True)
class ExemplarChange:
    """A question whose nearest answer is another one."""

    question: UUID
    name: str
    before: str
    after: str


@dataclass(frozen=True)
class AgainstReport:
    """Two runs of a set, the earlier one first.

    Attributes
    ----------
    parameters, embedding : what differs of them. settings : the parameters, in words.
    workers : those of both runs, greatest move first. only_before, only_after : how many workers
        are of one only; left, came : the first 30 of them, by rank.
    n_compared : common workers with two grades. spearman : rank correlation of these grades.
    same_exemplars : whether models were compared with the same exemplary answers; only then do
        their scores say something about the models alone.
    n_common_questions : questions of both, by their ids; n_other_nearest : those of them whose
        nearest answer is another. exemplars : some of these.
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
    left: list[WorkerOfOne]
    came: list[WorkerOfOne]
    n_compared: int
    spearman: float | None
    models: list[ModelChange]
    same_exemplars: bool
    n_common_questions: int
    n_other_nearest: int
    exemplars: list[ExemplarChange]

    @property
    def movers(self) -> list[WorkerChange]:
        """The workers that moved most."""
        return [worker for worker in self.workers if worker.moved or worker.grade_change][
            :MOVERS_SHOWN
        ]


def other_runs(run: Run) -> list[OtherRun]:
    """Return the newest 50 other gradings of the set, by four queries at most."""
    of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=GRADING)
    rows = of_set.exclude(pk=run.pk).select_related("version").defer(*LONG).order_by("-pk")
    runs = list(rows[:RUNS_OFFERED])
    names = all_called([(one, AqerParameters) for one in runs])
    return [
        OtherRun(one.public_id, name.title, one.version.number, one.state, one.created_at)
        for one, name in zip(runs, names, strict=True)
    ]


def against_report(run: Run, other: Run) -> AgainstReport:
    """Compare two runs that are done, by nine queries at most; the earlier one stands first."""
    before, after = (run, other) if run.pk < other.pk else (other, run)
    embedding = [Change(*change) for change in embedding_changes(before, after)]
    found = crowds(before, after)
    both = [
        (worker.grade_before, worker.grade_after)
        for worker in found.common
        if worker.grade_before is not None and worker.grade_after is not None
    ]
    exemplars = Exemplars.of(before, after)
    common = exemplars[0].questions.keys() & exemplars[1].questions.keys()
    other_nearest = exemplars[0].other_nearest(exemplars[1])
    return AgainstReport(
        before=about(before),
        after=about(after),
        data=_data(before, after),
        parameters=_parameters(before, after),
        settings=_settings(before, after),
        embedding=embedding,
        workers=found.common,
        only_before=len(found.left),
        only_after=len(found.came),
        left=found.left[:NAMED],
        came=found.came[:NAMED],
        n_compared=found.n_graded,
        spearman=spearman([a for a, _ in both], [b for _, b in both]),
        models=_models(before, after),
        same_exemplars=exemplars[0].same_as(exemplars[1]),
        n_common_questions=len(common),
        n_other_nearest=len(other_nearest),
        exemplars=_exemplars(exemplars, sorted(other_nearest)[:EXEMPLARS_SHOWN]),
    )


def _data(before: Run, after: Run) -> DataChanges:
    counts = [crowd_counts(run) for run in (before, after)]
    same_version = before.version_id == after.version_id
    kept = AnswerScore.objects.filter(run__in=(before, after)).aggregate(
        before=Count("pk", filter=Q(run=before)), after=Count("pk", filter=Q(run=after))
    )
    same_texts = bool(before.input_hash) and before.input_hash == after.input_hash
    removed = added = edited = None
    withdrawn = max(0, summary_of(before).counts.answers - kept["before"])
    if same_texts:
        removed = added = edited = 0
    elif same_version:
        in_before = AnswerScore.objects.filter(run=before, response=OuterRef("response"))
        common = AnswerScore.objects.filter(Exists(in_before), run=after)
        n_common = common.count()
        removed, added = kept["before"] - n_common + withdrawn, kept["after"] - n_common
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


def _parameters(before: Run, after: Run) -> list[Change]:
    """What a run does not name has its default."""
    one, other = (AqerParameters.completed(run.parameters) for run in (before, after))
    return _changes(one, other, list(dict.fromkeys([*one, *other])))


def _settings(before: Run, after: Run) -> list[SettingChange]:
    """Return parameters that differ by their labels, with names in place of ids."""
    stored = before.parameters, after.parameters
    names = names_of(stored)
    one, other = (AqerParameters.completed(values) for values in stored)
    return [
        SettingChange(known.label, known.brief(one[name], names), known.brief(other[name], names))
        for name, known in AqerParameters.options().items()
        if one[name] != other[name]
    ]


def _changes(one: Mapping[str, Any], other: Mapping[str, Any], names: Any) -> list[Change]:
    return [
        Change(name, one.get(name), other.get(name))
        for name in names
        if one.get(name) != other.get(name)
    ]


def _models(before: Run, after: Run) -> list[ModelChange]:
    scores = LLMScore.objects.filter(run__in=(before, after))
    rows = scores.order_by(F("score").desc(nulls_last=True), "model__name").values_list(
        "model_id", "model__name", "score", "rank", "run_id"
    )
    one, other = ({row[0]: row for row in rows if row[4] == run.pk} for run in (before, after))
    return [
        ModelChange(row[1], one[model][2], row[2], one[model][3], row[3])
        for model, row in other.items()
        if model in one
    ]


def _exemplars(exemplars: list[Exemplars], names: list[str]) -> list[ExemplarChange]:
    one, other = (part.questions for part in exemplars)
    wanted = [part[name]["pk"] for part in (one, other) for name in names]
    texts = dict(
        ExemplaryAnswer.objects.filter(pk__in=wanted).values_list(
            "pk", select_beginning("nearest_response__text", EXCERPT_SHOWN)
        )
    )
    return [
        ExemplarChange(
            question=other[name]["public"],
            name=name,
            before=shorten_text(texts.get(one[name]["pk"])),
            after=shorten_text(texts.get(other[name]["pk"])),
        )
        for name in names
    ]
