"""Answers and history of language models as plain records; the terminal report of a run.

Tables of a run that asked models: models, their replies, and errors. History of a language model
over the sets that a user may see, with related models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet

from annotations.models.access import AnyUser
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.message import Message, format_count
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.messages.run_sentences import build_trend_messages
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.significance import Trend, estimate_trend
from evaluation.models import LanguageModel, LLMResponse, LLMScore, Run
from evaluation.runs.flow.asking.summary import ENDS, AskSummary, ModelOutcome
from evaluation.runs.reports.across import RepresentingRuns, load_representing_runs
from evaluation.runs.reports.lists import Table
from evaluation.runs.steps.asking.replies import ERROR

AT_ONCE = 500
OF_MODELS = (
    *("model", "prompt", "prompt_hash", "strategy", "end", "reason", "replies", "answered"),
    *("empty", "refused", "errors", "not_asked", "stored_before", "asked", "prompt_tokens"),
    *("completion_tokens", "cost", "seconds", "seconds_per_reply"),
    *("cut_off", "cut_short", "with_thinking"),
)
OF_REPLIES = ("model", "question", "sample", "status", "answer", "finish_reason")
REQUEST_COLUMNS = (
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "attempts",
    "seed",
    "cost",
    "error",
)
OF_ANSWERS = (*OF_REPLIES, *REQUEST_COLUMNS, "prompt_hash")
OF_ERRORS = ("model", "question", "sample", "error", "message", "attempts")


def build_models_table(run: Run) -> Table:
    """Return the table of asked models, one row each, in the order of the run's options."""
    return Table(
        OF_MODELS,
        [
            (
                *(
                    model.name,
                    model.prompt_name,
                    model.prompt_hash,
                    model.strategy,
                    model.end,
                    model.reason,
                ),
                *(model.planned, model.answered, model.empty, model.refused, model.failures),
                *(model.not_asked, model.stored, model.asked, model.prompt_tokens),
                *(model.completion_tokens, model.cost, model.seconds, model.seconds_per_reply),
                *(model.cut_off, model.cut_short, model.with_thinking),
            )
            for model in AskSummary.from_json(run.summary).models
        ],
    )


def build_answers_table(run: Run) -> Table:
    """Return the table of the run's replies, one row per model, question and sample."""
    return Table(
        OF_ANSWERS,
        (
            (*cells, *(extra.get(name) for name in OF_ANSWERS[len(OF_REPLIES) :]))
            for *cells, extra in _iterate_reply_rows(select_replies(run))
        ),
    )


def build_errors_table(run: Run) -> Table:
    """Return the table of the run's failed replies, with the error of each."""
    return Table(
        OF_ERRORS,
        (
            (*cells[:3], *(extra.get(name) for name in OF_ERRORS[3:]))
            for *cells, extra in _iterate_reply_rows(select_replies(run).filter(status=ERROR))
        ),
    )


def select_replies(run: Run) -> QuerySet[LLMResponse]:
    """Return a queryset of all replies of a finished run, also those stored before the run."""
    summary = AskSummary.from_json(run.summary)
    # Matches nothing: an empty Q() would match every reply where a run asked no model.
    condition = Q(pk__in=())
    for model in summary.models:
        condition |= Q(model__public_id=model.id, asking=model.asking)
    return LLMResponse.objects.filter(
        condition, question__version=run.version_id, sample__lt=summary.samples
    )


def _iterate_reply_rows(replies: QuerySet[LLMResponse]) -> Iterator[Sequence[Any]]:
    """Yield the cells of each reply's table row: model, question, sample, ..., extra."""
    columns = ("model__name", "question__external_id", "sample", "status", "text")
    rows = replies.order_by("model__name", "question__position", "question_id", "sample")
    yield from rows.values_list(*columns, "finish_reason", "extra").iterator(AT_ONCE)


MOST_RELATED = 50
"""Versions of one family that stand beside each other."""


@dataclass(frozen=True)
class ModelEntry(RecordWithReason):
    """Score, rank and percentile of a model in the official run of one question set.

    Attributes
    ----------
    score : mean similarity of its answers to the exemplary answers; n : number of these questions.
    percentile : share of workers who score lower, 0 to 100. rank : rank among the run's models.
    on_scale : whether the score is comparable with those of other sets.
    """

    set_id: UUID
    set_name: str
    version: int
    run: UUID
    when: datetime
    score: Estimate
    n: int
    percentile: float | None
    rank: int | None
    reason: str
    on_scale: bool


@dataclass(frozen=True)
class RelatedModel:
    """Another version of the model's family, compared on the sets that scored both.

    Attributes
    ----------
    difference : mean over these sets of its score less that of the page's model, which was compared
        with the same exemplary answers. better : number of sets in which its score is higher.
    """

    model: UUID
    name: str
    version: str
    n_sets: int
    difference: float
    better: int


@dataclass(frozen=True)
class ModelHistory:
    """A model's history over the sets the user may see, oldest first, with its trend."""

    renamed_keys: ClassVar = {"told": "trend_messages"}

    sets: tuple[ModelEntry, ...]
    scores: Trend
    standing: Trend
    told: tuple[Message, ...]
    related: tuple[RelatedModel, ...]
    n_other_scale: int


def build_model_history(user: AnyUser, model: LanguageModel) -> ModelHistory:
    """Return the history of a model that the user may see; at most three queries."""
    runs = load_representing_runs(user)
    sets = _build_model_entries(runs, model)
    comparable = [entry for entry in sets if entry.on_scale and entry.score.value is not None]
    scores = estimate_trend([entry.score.value or 0.0 for entry in comparable])
    standing = estimate_trend([entry.percentile for entry in sets if entry.percentile is not None])
    return ModelHistory(
        sets=tuple(sets),
        scores=scores,
        standing=standing,
        told=build_trend_messages(scores, standing),
        related=tuple(_compare_related_models(user, runs, model)),
        n_other_scale=sum(entry.score.value is not None and not entry.on_scale for entry in sets),
    )


def _build_model_entries(runs: RepresentingRuns, model: LanguageModel) -> list[ModelEntry]:
    """Return the model's results in the official runs, one per question set, oldest first."""
    rows = LLMScore.objects.filter(model=model, run__in=list(runs.runs)).values(
        *("run_id", "score", "score_low", "score_high", "n", "percentile", "rank", "reason")
    )
    return sorted((_build_model_entry(runs, row) for row in rows), key=lambda entry: entry.when)


def _build_model_entry(runs: RepresentingRuns, row: dict[str, Any]) -> ModelEntry:
    """Return the model's result in one question set, from a row of the query."""
    run = runs.runs[row["run_id"]]
    return ModelEntry(
        set_id=run.set_id,
        set_name=run.set_name,
        version=run.version_number,
        run=run.public_id,
        when=run.finished_at,
        score=Estimate(row["score"], row["score_low"], row["score_high"]),
        n=row["n"],
        percentile=row["percentile"],
        rank=row["rank"],
        reason=row["reason"],
        on_scale=run.scale == runs.scale,
    )


def _compare_related_models(
    user: AnyUser, runs: RepresentingRuns, model: LanguageModel
) -> list[RelatedModel]:
    """Return the other versions of the model's family, at most 50, compared on common sets."""
    if not model.family:
        return []
    family = LanguageModel.objects.visible_to(user).filter(
        owner=model.owner_id, family=model.family
    )
    rows = LLMScore.objects.filter(
        model__in=family.values("pk"), run__in=list(runs.runs), score__isnull=False
    ).values_list(
        *("model_id", "model__public_id", "model__name", "model__version", "run_id", "score")
    )
    own: dict[int, float] = {}
    others: dict[tuple[Any, ...], dict[int, float]] = {}
    for key, public_id, name, version, run, score in rows.order_by("model_id"):
        if score is None:
            continue
        if key == model.pk:
            own[run] = score
        else:
            others.setdefault((public_id, name, version), {})[run] = score
    made = []
    for (public_id, name, version), scores in others.items():
        # Within a run only: its exemplary answers are the same for both models.
        differences = [scores[run] - own[run] for run in scores if run in own]
        if differences:
            n = len(differences)
            better = sum(difference > 0 for difference in differences)
            made.append(RelatedModel(public_id, name, version, n, sum(differences) / n, better))
    return made[:MOST_RELATED]


HEADER = (
    *("model", "answered", "empty", "refused", "cut off", "errors", "not asked", "asked"),
    *("cost", "s each"),
)


def format_run(run: Run) -> str:
    """Return a run's terminal report: each model's numbers of replies, and why some are missing."""
    summary = AskSummary.from_json(run.summary)
    rows = [
        (
            *(
                model.name,
                model.answered,
                model.empty,
                model.refused,
                model.cut_off,
                model.failures,
            ),
            *(model.not_asked, model.asked, round(model.cost, 6), model.seconds_per_reply),
        )
        for model in summary.models
    ]
    n_models = format_count(len(summary.models), "model")
    head = f"{format_count(summary.questions, 'question')}, {n_models}"
    if summary.samples > 1:
        head += f", {summary.samples} samples of each"
    lines = [line for model in summary.models for line in _format_model_outcome(model)]
    return "\n\n".join([head, format_table(HEADER, rows), *(["\n".join(lines)] if lines else [])])


def _format_model_outcome(one: ModelOutcome) -> list[str]:
    """Return lines on one model: why it stopped, its errors, and replies that were cut."""
    lines = []
    if one.reason:
        lines.append(f"{one.name}: {ENDS.get(one.end, one.end)}: {one.reason}")
    for code, count in one.errors.items():
        lines.append(f"{one.name}: {count:,} {code}: {one.error_messages.get(code, '')}")
    limit = f" of {one.max_tokens:,} tokens" if one.max_tokens else ""
    if one.cut_off:
        lines.append(
            f"{one.name}: {one.cut_off:,} cut off: the length{limit} was used up before an answer "
            "came: raise --max-tokens"
        )
    if one.cut_short:
        lines.append(
            f"{one.name}: {one.cut_short:,} answers end at the length{limit}: raise --max-tokens "
            "to have them whole"
        )
    if one.with_thinking:
        lines.append(f"{one.name}: the thinking in {one.with_thinking:,} replies was put aside")
    if one.adapted:
        lines.append(f"{one.name}: request adapted to the server: {'; '.join(one.adapted)}")
    return [remove_control_characters(line) for line in lines]
