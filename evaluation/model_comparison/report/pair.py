"""Comparison of two models of a run: questions in pages, correctness, and question groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import F

from annotations.exchange import AnswerStatus
from annotations.exchange.records import MISSING
from annotations.models import Question
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.estimates import HOLM
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.inference.comparison import compare_by_group, compute_group_means
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.paired import compute_mcnemar_test
from evaluation.core.stats.inference.significance import Correction
from evaluation.core.text.items import CHOICE, Choices, MultiqaItem, find_accepted_choices
from evaluation.core.text.matching import normalise_for_matching
from evaluation.grading.results.report.comparisons import (
    SIGNIFICANT,
    ModelPair,
    QuestionDifference,
    find_pair,
)
from evaluation.grading.results.report.models import build_pair_verdict
from evaluation.model_comparison.report.scores import (
    GROUPED_BY,
    ComparedQuestion,
    ScoreTable,
    find_relation,
    list_group_names,
)
from evaluation.models import ExemplaryAnswer, LanguageModel, LLMAnswerScore, LLMResponse, Run
from evaluation.runs.reports.about import RunAbout, build_run_about

MAX_SHOWN = 20
# Scores that differ by less are the same, but for rounding.
SAME = 1e-9
ORDERS = {
    "largest": "the largest differences",
    "first": "where the first is better",
    "second": "where the second is better",
}
"""Orders of the questions, and what people call them."""


@dataclass(frozen=True)
class DifferencesPage:
    """A page of the questions that two models were scored on, largest difference first.

    Attributes
    ----------
    order : "largest" for all questions; "first" or "second" for those on which that one scores
        higher. start : place of the first of `questions` among `total`.
    """

    order: str
    start: int
    total: int
    questions: list[QuestionDifference]

    @property
    def end(self) -> int:
        """Position of the last question on this page, counted from 1."""
        return self.start + len(self.questions)

    @property
    def next(self) -> int | None:
        """Start of the next page; None on the last one."""
        return self.end if self.end < self.total else None


def load_differences_page(
    run: Run,
    table: ScoreTable,
    first: UUID,
    second: UUID,
    order: str = "largest",
    start: int = 0,
    size: int = MAX_SHOWN,
) -> DifferencesPage:
    """Return a page of questions with both models' answers and scores, and the consensus answer.

    Makes three queries; `table` holds the scores of both. Raises KeyError for an unknown order or
    model.
    """
    one, other = table.get_model_scores(first), table.get_model_scores(second)
    ordered = _order_questions(one - other, order)
    rows = ordered[start : start + size]
    keys = [table.questions[column].key for column in rows]
    # By way of the run's scores: a model may have answered the question again since.
    texts = {
        (row["llm_response__question_id"], row["model"]): row["text"]
        for row in LLMAnswerScore.objects.filter(
            run=run,
            llm_response__question__in=keys,
            llm_response__model__public_id__in=(first, second),
        ).values(
            "llm_response__question_id",
            model=F("llm_response__model__public_id"),
            text=select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    }
    nearest = dict(
        ExemplaryAnswer.objects.filter(run=run, question__in=keys).values_list(
            "question_id", select_beginning("nearest_response__text", ANSWER_SHOWN)
        )
    )
    questions = dict(
        Question.objects.filter(pk__in=keys).values_list("pk", select_beginning("text"))
    )
    differences = [
        QuestionDifference(
            question=table.questions[column].question,
            name=table.questions[column].name,
            text=shorten_text(questions.get(key)),
            first_score=float(one[column]),
            first_text=shorten_text(texts.get((key, first)), ANSWER_SHOWN),
            second_score=float(other[column]),
            second_text=shorten_text(texts.get((key, second)), ANSWER_SHOWN),
            nearest=shorten_text(nearest.get(key), ANSWER_SHOWN),
        )
        for column, key in zip(rows.tolist(), keys, strict=True)
    ]
    return DifferencesPage(order, start, len(ordered), differences)


def _order_questions(gaps: Floats, order: str) -> Integers:
    """Return the indices of the questions that `order` selects, largest difference first."""
    wanted = {
        "largest": ~np.isnan(gaps),
        "first": gaps > SAME,
        "second": gaps < -SAME,
    }[order]
    columns = np.flatnonzero(wanted)
    return np.asarray(columns[np.argsort(-np.abs(gaps[columns]), kind="stable")], dtype=np.int64)


# Kinds of question that a key settles; a free answer may be right in other words.
KEYED = (Question.Kind.CHOICE, Question.Kind.EXTRACTIVE)
NAMED = 50


@dataclass(frozen=True)
class CorrectnessComparison(RecordWithReason):
    """Correctness of two models on the questions with an answer key that both answered.

    Attributes
    ----------
    first_right, second_right : numbers of questions that each answered correctly.
    only_first, only_second : ids in files of the questions that only one answered correctly, at
        most 50 of `n_only_first` and `n_only_second`.
    p_value, mid_p_value : of the exact McNemar test, and its mid-p; None without a common question.
    """

    n: int
    first_right: int
    second_right: int
    n_only_first: int
    n_only_second: int
    only_first: list[str]
    only_second: list[str]
    p_value: float | None
    reason: str
    mid_p_value: float | None


def load_correctness(run: Run, first: UUID, second: UUID) -> CorrectnessComparison | None:
    """Return both models' correctness; None if no question has an answer key.

    A choice is read by its text, else by its letter, and has to name all accepted ones; a span of
    the passage is compared without case, punctuation and articles. An empty or refused answer is
    wrong; one that could not be fetched is left out.
    """
    keyed = {
        question.pk: question
        for question in Question.objects.filter(version=run.version_id, kind__in=KEYED)
        .exclude(accepted_answers=[])
        .only("pk", "external_id", "position", "kind", "choices", "accepted_answers")
        .order_by("position", "pk")
    }
    if not keyed:
        return None
    place = {key: index for index, key in enumerate(keyed)}
    right = np.full((2, len(keyed)), np.nan)
    rows = LLMResponse.objects.filter(
        scores__run=run, question__in=list(keyed), model__public_id__in=(first, second)
    ).values_list("model__public_id", "question_id", "text", "status")
    for model, question, text, status in rows:
        if status not in MISSING:
            # A refused reply may have a text, which is no answer.
            answer = text if status == AnswerStatus.TEXT else ""
            verdict = is_answer_correct(keyed[question], answer)
            right[int(model == second), place[question]] = np.nan if verdict is None else verdict
    return compare_correctness(
        [question.external_id for question in keyed.values()], right[0], right[1]
    )


def compare_correctness(
    names: Sequence[str], first: Floats, second: Floats
) -> CorrectnessComparison:
    """Return the comparison of two models' correct (1) and wrong (0) answers; NaN if unknown."""
    test = compute_mcnemar_test(first, second)
    both = ~np.isnan(first - second)
    only_first = [name for name, gap in zip(names, first - second, strict=True) if gap == 1]
    only_second = [name for name, gap in zip(names, first - second, strict=True) if gap == -1]
    return CorrectnessComparison(
        n=test.n,
        first_right=int(first[both].sum()),
        second_right=int(second[both].sum()),
        n_only_first=test.only_a,
        n_only_second=test.only_b,
        only_first=only_first[:NAMED],
        only_second=only_second[:NAMED],
        p_value=test.p_value,
        reason=test.reason or "",
        mid_p_value=test.mid_p_value,
    )


def is_answer_correct(question: Question, text: str) -> bool | None:
    """Return whether an answer is correct by the key; None for a key that cannot be parsed."""
    accepted = [str(answer) for answer in question.accepted_answers]
    if question.kind != Question.Kind.CHOICE:
        return bool(text) and normalise_for_matching(text) in set(
            map(normalise_for_matching, accepted)
        )
    reader = Choices([str(choice) for choice in question.choices])
    item = MultiqaItem("", CHOICE, "", "", "", reader.texts, tuple(accepted), CHOICE)
    try:
        wanted = find_accepted_choices(item, reader)
    except ValueError:  # an accepted answer is none of the choices
        return None
    return bool(text) and reader.parse_reply(text).choices == wanted


GROUPS_SHOWN = 60


@dataclass(frozen=True)
class PairGroup(RecordWithReason):
    """A question group with both models' mean scores and their difference.

    Attributes
    ----------
    name : "" for questions without the property. n : questions that both were scored on.
    is_small : whether these are fewer than 10. adjusted_p_value : Holm's, over the groups.
    """

    name: str
    n: int
    is_small: bool
    first: Estimate
    second: Estimate
    difference: Estimate
    adjusted_p_value: float | None
    smallest_detectable: float | None
    reason: str

    @property
    def better(self) -> int:
        """Number (1 or 2) of the significantly better model; 0 if neither."""
        p, value = self.adjusted_p_value, self.difference.value
        if p is None or not value or p >= SIGNIFICANT:
            return 0
        return 1 if value > 0 else 2


@dataclass(frozen=True)
class PairGrouping:
    """Question groups by one property, largest first, at most 60 of `n_groups`."""

    by: str
    n_groups: int
    groups: list[PairGroup]

    @property
    def n_small(self) -> int:
        """Number of groups with fewer than 10 questions."""
        return sum(group.is_small for group in self.groups)


@dataclass(frozen=True)
class PairDetail:
    """Comparison of two models of a run, overall and by question group.

    Attributes
    ----------
    pair : the first one less the second one, on the questions that both were scored on.
    verdict : which one is better, as a message.
    relation : "version" or "strategy" if the models differ in this only; else "".
    newer_first : whether the first one is the later version.
    n_first, n_second, n_equal : number of questions on which the first one scores higher, the
        second one, and neither. right : correctness; None if no question has an answer key.
    groupings : by category, passage and language, if known.
    """

    about: RunAbout
    pair: ModelPair
    correction: str
    verdict: Message
    relation: str
    newer_first: bool
    n_first: int
    n_second: int
    n_equal: int
    right: CorrectnessComparison | None
    groupings: list[PairGrouping]
    notices: list[str]


def build_pair_detail(
    run: Run, first: UUID, second: UUID, correction: Correction = HOLM
) -> tuple[PairDetail, ScoreTable] | None:
    """Return the comparison of two models and their score table; None if the run lacks a model.

    By seven queries.
    """
    pair = find_pair(run, first, second, correction)
    if pair is None:
        return None
    table = ScoreTable.from_run(run, [first, second])
    if len(table.models) < 2:  # what is left of a run whose model is gone
        return None
    one, other = table.get_model_scores(first), table.get_model_scores(second)
    models = {model.public_id: model for model in table.models}
    belonging = find_relation(models[first], models[second])
    gaps = one - other
    detail = PairDetail(
        about=build_run_about(run),
        pair=pair,
        correction=correction,
        verdict=build_pair_verdict(pair),
        relation=belonging.by if belonging else "",
        newer_first=belonging is not None and belonging.newer.public_id == first,
        n_first=int(np.count_nonzero(gaps > SAME)),
        n_second=int(np.count_nonzero(gaps < -SAME)),
        n_equal=int(np.count_nonzero(np.abs(gaps) <= SAME)),
        right=load_correctness(run, first, second),
        groupings=build_groupings(table.questions, one, other, _get_bootstrap_seed(run)),
        notices=_list_model_notices(list(models.values())),
    )
    return detail, table


def build_groupings(
    questions: list[ComparedQuestion], first: Floats, second: Floats, seed: int = 0
) -> list[PairGrouping]:
    """Return the comparison of two models by question group, one grouping for each property.

    Only questions that both were scored on count. A property with one value for all of them, or
    another value for each, makes no groups and is left out.
    """
    common = np.flatnonzero(~np.isnan(first - second))
    result = []
    for by in GROUPED_BY:
        names = list_group_names([questions[index] for index in common.tolist()], by)
        if names is None:
            continue
        groups = _build_pair_groups(names, first[common], second[common], seed)
        groups.sort(key=lambda group: -group.n)
        result.append(PairGrouping(by, len(groups), groups[:GROUPS_SHOWN]))
    return result


def _build_pair_groups(
    names: list[str], first: Floats, second: Floats, seed: int
) -> list[PairGroup]:
    """Return both models' means and difference in each question group."""
    return [
        PairGroup(
            name=apart.group,
            n=apart.n,
            is_small=apart.is_small,
            first=Estimate(group_mean.mean, group_mean.low, group_mean.high),
            second=Estimate(other.mean, other.low, other.high),
            difference=Estimate(apart.difference, apart.low, apart.high),
            adjusted_p_value=apart.adjusted_p_value,
            smallest_detectable=apart.smallest_detectable,
            reason=apart.reason or "",
        )
        for apart, group_mean, other in zip(
            compare_by_group(first, second, names, seed=seed),
            compute_group_means(first, names),
            compute_group_means(second, names),
            strict=True,
        )
    ]


def _get_bootstrap_seed(run: Run) -> int:
    """Return the seed of a run's bootstrap; 0 for a run that stored none."""
    return int(run.parameters.get("seed", 0))


def _list_model_notices(models: list[LanguageModel]) -> list[str]:
    """Return the models' notices without duplicates."""
    return list(dict.fromkeys(model.notice for model in models if model.notice))
