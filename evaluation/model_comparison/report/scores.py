"""Scores of a run's models by question and group, their costs, and related models.

Costs are money, time and tokens of models' answers, where recorded. Related models are versions of
one family, or one model with two prompting strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Literal, Self
from uuid import UUID

import numpy as np
from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from annotations.models import Question
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.inference.comparison import SMALL, compute_group_means
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.models import LanguageModel, LLMAnswerScore, LLMResponse, LLMScore, Run

# As `ask` calls them, beside an answer.
SECONDS, COST = "seconds", "cost"
# Copied from an earlier request: its cost of 0 says nothing about the model.
COPIED = "copied"
TOKENS = ("prompt_tokens", "completion_tokens")
NOT_TOLD = "cost_not_told"


@dataclass(frozen=True)
class Costs(RecordWithReason):
    """Cost, time and tokens of one model's answers in a run.

    Attributes
    ----------
    seconds, cost, tokens : means over the `n_timed`, `n_priced` and `n_counted` answers that have
        the number; None without any. Tokens are those of prompt and reply together.
    total_cost : sum over the answers with a cost, in the currency of the model's price.
    reason : code of why one of the numbers is None; "" if none is.
    """

    seconds: float | None
    cost: float | None
    total_cost: float | None
    tokens: float | None
    n_timed: int
    n_priced: int
    n_counted: int
    reason: str

    @classmethod
    def from_answers(cls, answers: Iterable[tuple[Any, ...]]) -> Self:
        """Return the costs of answers, each with seconds, cost, prompt tokens and reply tokens."""
        seconds: list[float] = []
        costs: list[float] = []
        tokens: list[float] = []
        for taken, paid, *counted in answers:
            seconds += _select_numbers(taken)
            costs += _select_numbers(paid)
            known = _select_numbers(*counted)
            tokens += [sum(known)] if known else []
        numbers = (
            _compute_mean(seconds),
            _compute_mean(costs),
            sum(costs) if costs else None,
            _compute_mean(tokens),
        )
        reason = NOT_TOLD if None in numbers else ""
        return cls(*numbers, len(seconds), len(costs), len(tokens), reason)


def load_costs(run: Run) -> Mapping[int, Costs]:
    """Return the costs of the answers that a run scored, by the model's primary key."""
    rows = LLMResponse.objects.filter(scores__run=run).values_list(
        "model_id", *build_cost_columns("extra")
    )
    return sum_costs_by_model(rows.iterator(5000))


def build_cost_columns(extra: str) -> list[KeyTextTransform]:
    """Return the query columns of an answer's cost in the JSON field at the query path `extra`."""
    return [KeyTextTransform(key, extra) for key in (COPIED, SECONDS, COST, *TOKENS)]


def sum_costs_by_model(rows: Iterable[Sequence[Any]]) -> Mapping[int, Costs]:
    """Return the costs by model, from rows of the model's key and `build_cost_columns`."""
    scores: dict[int, list[tuple[Any, ...]]] = {}
    for model, copied, *values in rows:
        if copied is None:
            scores.setdefault(model, []).append(tuple(values))
    return {model: Costs.from_answers(values) for model, values in scores.items()}


def _select_numbers(*values: Any) -> list[float]:
    """Return the values that are numbers, or texts of numbers, as floats."""
    return [number for number in map(_parse_number, values) if number is not None]


def _parse_number(value: Any) -> float | None:
    """Return a number stored as a number or text, 0 or more; None for any other value."""
    # float(True) would be 1.
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _compute_mean(values: list[float]) -> float | None:
    """Return the mean of the values; None without any."""
    return sum(values) / len(values) if values else None


NOTHING = Costs.from_answers([])


Relation = Literal["version", "strategy"]


@dataclass(frozen=True)
class RelatedModels:
    """Two models that differ in their version only, or in their prompting strategy only.

    Attributes
    ----------
    by : "version" or "strategy"; family, size, tuning and the other of the two are equal.
    newer, older : the later and the earlier version, by registration; for strategies, those with
        and without the passage, or else in the order of their names.
    """

    by: Relation
    newer: LanguageModel
    older: LanguageModel


def iterate_related_models(models: Iterable[LanguageModel]) -> Iterator[RelatedModels]:
    """Yield pairs of related models: consecutive versions, then strategies of one version.

    Models without a registered family have no related models.
    """
    known = [model for model in models if model.family]
    for versions in _group_equal(known, ("family", "size", "tuning", "strategy")):
        ordered = sorted(versions, key=lambda model: model.pk)
        for older, newer in pairwise(ordered):
            if older.version != newer.version:
                yield RelatedModels("version", newer, older)
    for property_name in _group_equal(known, ("family", "size", "tuning", "version")):
        ordered = sorted(
            property_name, key=lambda model: ("passage" not in model.strategy, model.strategy)
        )
        for language_model, other in combinations(ordered, 2):
            if language_model.strategy != other.strategy:
                yield RelatedModels("strategy", language_model, other)


def find_relation(language_model: LanguageModel, other: LanguageModel) -> RelatedModels | None:
    """Return how two models are related, by version or by strategy; None if they are not."""
    return next(iterate_related_models((language_model, other)), None)


def _group_equal(
    models: Iterable[LanguageModel], fields: tuple[str, ...]
) -> Iterable[list[LanguageModel]]:
    """Return the models in groups with equal values in these fields."""
    groups: dict[tuple[str, ...], list[LanguageModel]] = {}
    for model in models:
        key = tuple(getattr(model, field).strip().casefold() for field in fields)
        groups.setdefault(key, []).append(model)
    return groups.values()


AT_ONCE = 5000


@dataclass(frozen=True)
class ComparedQuestion:
    """A question of a version, with its group properties; "" for an unknown one."""

    key: int
    question: UUID
    name: str
    category: str
    passage: str
    language: str


@dataclass(frozen=True)
class ScoreTable:
    """Scores with one row per model (highest mean first) and one column per question.

    Attributes
    ----------
    scores : (K, Q) scores; NaN if a model has none.
    """

    models: list[LanguageModel]
    questions: list[ComparedQuestion]
    scores: Floats
    standings: list[LLMScore]
    """How the models stand in the run, in the order of the rows."""

    @classmethod
    def from_run(cls, run: Run, models: list[UUID] | None = None) -> Self:
        """Return the table of some models' scores in a run (default: all); three queries."""
        return cls._load_table(run, models, ())[0]

    @classmethod
    def from_run_with_costs(cls, run: Run) -> tuple[Self, Mapping[int, Costs]]:
        """Return the table of all models' scores in a run, and the costs of their answers."""
        return cls._load_table(run, None, build_cost_columns("llm_response__extra"))

    @classmethod
    def _load_table(
        cls, run: Run, models: list[UUID] | None, cost_columns: Sequence[KeyTextTransform]
    ) -> tuple[Self, Mapping[int, Costs]]:
        """Return models' scores, and answers' costs from `cost_columns`, if any; three queries."""
        # nulls_last, because PostgreSQL sorts NULL first in descending order and SQLite last.
        listed = LLMScore.objects.filter(run=run).order_by(
            F("score").desc(nulls_last=True), "model__name"
        )
        if models is not None:
            listed = listed.filter(model__public_id__in=models)
        standings = list(listed.select_related("model"))
        language_models = [row.model for row in standings]
        questions = [
            ComparedQuestion(*row)
            for row in Question.objects.filter(version=run.version_id)
            .order_by("position", "pk")
            .values_list(
                *("pk", "public_id", "external_id", "category"),
                *("passage__external_id", "language"),
            )
        ]
        place = {question.key: index for index, question in enumerate(questions)}
        row_of = {model.pk: index for index, model in enumerate(language_models)}
        scores = np.full((len(language_models), len(questions)), np.nan)
        rows = LLMAnswerScore.objects.filter(run=run, llm_response__model__in=list(row_of))
        if not cost_columns:
            # Answers without a score matter for their costs only.
            rows = rows.filter(score__isnull=False)
        columns = ("llm_response__model_id", "llm_response__question_id", "score")
        costs = []
        # iterator() keeps no rows: a large run has one for each model and question.
        for model, question, score, *cost in rows.values_list(*columns, *cost_columns).iterator(
            AT_ONCE
        ):
            if score is not None:
                scores[row_of[model], place[question]] = score
            if cost_columns:
                costs.append((model, *cost))
        return cls(language_models, questions, scores, standings), sum_costs_by_model(costs)

    @cached_property
    def _row_of(self) -> dict[UUID, int]:
        """Row index of each model, by public id."""
        return {model.public_id: index for index, model in enumerate(self.models)}

    def get_model_scores(self, model: UUID) -> Floats:
        """Return a model's score on each question; KeyError for a model not in the table."""
        return np.asarray(self.scores[self._row_of[model]], dtype=np.float64)


GROUPED_BY: dict[str, Callable[[ComparedQuestion], str]] = {
    "category": lambda question: question.category,
    "passage": lambda question: question.passage,
    "language": lambda question: question.language,
}
"""By what questions are grouped."""


@dataclass(frozen=True)
class ModelGroupMean:
    """Mean score of a model in a question group, over `n` questions."""

    model: UUID
    name: str
    score: Estimate
    n: int


@dataclass(frozen=True)
class QuestionGroup:
    """Group of questions with equal category, passage or language.

    Attributes
    ----------
    name : "" for questions without the property. n_questions : with a score of a model.
    is_small : whether these are fewer than 10. models : in the order of the table.
    """

    name: str
    n_questions: int
    is_small: bool
    models: list[ModelGroupMean]

    @property
    def best(self) -> float | None:
        """The highest mean score in the group."""
        known = [model.score.value for model in self.models if model.score.value is not None]
        return max(known, default=None)


@dataclass(frozen=True)
class GroupTable:
    """Models' mean scores by question group of one property, the largest group first."""

    by: str
    groups: list[QuestionGroup]

    @property
    def n_small(self) -> int:
        """Number of groups with fewer than 10 questions."""
        return sum(group.is_small for group in self.groups)


def list_group_names(questions: list[ComparedQuestion], by: str) -> list[str] | None:
    """Return each question's group by one property; None if all or no two share a group."""
    names = [GROUPED_BY[by](question) for question in questions]
    return names if 1 < len(set(names)) < len(names) else None


def build_group_tables(table: ScoreTable) -> list[GroupTable]:
    """Return the models' means by category, by passage and by language of the questions."""
    if not table.models:
        return []
    scored = np.flatnonzero(~np.isnan(table.scores).all(axis=0))
    questions = [table.questions[index] for index in scored.tolist()]
    tables = []
    for by in GROUPED_BY:
        names = list_group_names(questions, by)
        if names is not None:
            tables.append(GroupTable(by, _build_score_groups(table, scored, names)))
    return tables


def _build_score_groups(
    table: ScoreTable, columns: Integers, names: list[str]
) -> list[QuestionGroup]:
    """Return the question groups by one property, with each model's mean score."""
    sizes = {name: names.count(name) for name in dict.fromkeys(names)}
    means = [compute_group_means(scores[columns], names) for scores in table.scores]
    groups = [
        QuestionGroup(
            name=name,
            n_questions=size,
            is_small=size < SMALL,
            models=[
                ModelGroupMean(
                    model.public_id,
                    model.name,
                    Estimate(mean[index].mean, mean[index].low, mean[index].high),
                    mean[index].n,
                )
                for model, mean in zip(table.models, means, strict=True)
            ],
        )
        for index, (name, size) in enumerate(sizes.items())
    ]
    return sorted(groups, key=lambda group: -group.n_questions)
