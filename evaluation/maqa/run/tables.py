"""Rows of MAQA's result tables, and the numeric columns that they are computed from.

Each measure of confidence has a unit. First-token measures are compared over answers, verbalised
confidence over replies, consistency and semantic entropy over questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.comparison import compare_models
from evaluation.maqa.methods.calibration import (
    Calibration,
    compare_aurocs,
    compute_roc_curve,
    measure_calibration,
)
from evaluation.maqa.methods.set_scores import SetScore, is_right_score
from evaluation.maqa.methods.uncertainty import (
    compute_consistency,
    compute_discrete_entropy,
    compute_weighted_entropy,
)
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.judging import JudgedReply

SETS = ("precision", "recall", "f1", "exact_set")
TOKENS = ("max_softmax", "entropy", "margin")
VERBALISED, CONSISTENCY = "verbalised", "consistency"
SEMANTIC = ("semantic_entropy", "semantic_entropy_weighted")
SURENESS = (*TOKENS, VERBALISED, CONSISTENCY, *SEMANTIC)


@dataclass(frozen=True)
class ConfidenceCases:
    """The cases that have a value of one confidence measure, and whether each is right.

    Attributes
    ----------
    sureness : (n,) greater for more confident cases, so entropies have a minus sign.
    right : (n,) whether the case is right.
    items : (n,) index of the question.
    per_item : (items,) number of cases of each question, with or without a value.
    """

    sureness: Floats
    right: Booleans
    items: Integers
    per_item: Integers

    @property
    def n_cases(self) -> int:
        """Number of cases (replies or answers), with or without a confidence value."""
        return int(self.per_item.sum())


@dataclass(frozen=True)
class SystemColumns:
    """One system's scores of all questions, and its confidence cases by measure, as arrays.

    Attributes
    ----------
    scores : (4, n) precision, recall, F1 and exact set, means over the replies to each question;
        NaN for a question without a known right answer.
    cases : by the name of the measure.
    """

    scores: Floats
    cases: Mapping[str, ConfidenceCases]

    def select_items(self, chosen: Integers) -> SystemColumns:
        """Return the scores and cases of the questions with the indices `chosen`.

        The `items` of the cases stay indices in the original columns.
        """
        is_chosen = np.zeros(self.scores.shape[1], dtype=np.bool_)
        is_chosen[chosen] = True
        cases = {}
        for name, each in self.cases.items():
            mask = is_chosen[each.items]
            # `items` keep their numbers, because the bootstrap only needs to tell questions apart.
            parts = (each.sureness[mask], each.right[mask], each.items[mask], each.per_item[chosen])
            cases[name] = ConfidenceCases(*parts)
        return SystemColumns(self.scores[:, chosen], cases)


def compute_mean_score(replies: Sequence[JudgedReply]) -> SetScore | None:
    """Return the mean scores of the replies to a question; None without a known right answer."""
    scores = [reply.score for reply in replies if reply.score is not None]
    if not scores:
        return None
    return SetScore(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def compute_semantic_entropies(
    replies: Sequence[JudgedReply], clusters: Integers | None
) -> tuple[float | None, float | None]:
    """Return the plain and the weighted semantic entropy of a question's replies, in nats.

    Both are None for fewer than two replies. The weighted one is also None if the probability of a
    reply is unknown.
    """
    if clusters is None:
        return None, None
    logs = [reply.mean_logprob for reply in replies]
    known = [log for log in logs if log is not None]
    # A weight for some replies alone would leave the meanings of the others out.
    weighted = None
    if len(known) == len(logs):
        weighted = compute_weighted_entropy(
            clusters, known, [reply.reply.text for reply in replies]
        )
    return compute_discrete_entropy(clusters), weighted


def build_system_columns(
    replies: Sequence[Sequence[JudgedReply]],
    parameters: MaqaParameters,
    clusters: Sequence[Integers | None],
) -> SystemColumns:
    """Return one system's scores and confidence cases as numeric columns.

    Parameters
    ----------
    replies : for each question the replies to it.
    parameters : similarity of two replies, for the consistency, and label of what is right.
    clusters : for each question the clusters of its replies; None for fewer than two replies.
    """
    scores = np.full((len(SETS), len(replies)), np.nan)
    values: dict[str, list[tuple[float, bool, int]]] = {name: [] for name in SURENESS}
    n_answers, n_replies, n_items = np.zeros((3, len(replies)), dtype=np.int64)
    for item, item_replies in enumerate(replies):
        score = compute_mean_score(item_replies)
        # Without a known right answer confidence has nothing to be compared with.
        if score is None:
            continue
        scores[:, item] = score
        n_items[item] = 1
        n_replies[item] = len(item_replies)
        n_answers[item] = sum(len(reply.answers) for reply in item_replies)
        for reply in item_replies:
            _append_reply_cases(values, reply, item, parameters)
        agreement = compute_consistency(
            [reply.keys for reply in item_replies], parameters.similarity
        )
        right = is_right_score(getattr(score, parameters.label), parameters.label_above)
        if agreement is not None:
            values[CONSISTENCY].append((agreement, right, item))
        entropies = compute_semantic_entropies(item_replies, clusters[item])
        # A minus sign, because low entropy is high confidence.
        for name, entropy in zip(SEMANTIC, entropies, strict=True):
            if entropy is not None:
                values[name].append((-entropy, right, item))
    per_item = {
        **dict.fromkeys(TOKENS, n_answers),
        VERBALISED: n_replies,
        **dict.fromkeys((CONSISTENCY, *SEMANTIC), n_items),
    }
    return SystemColumns(
        scores, {name: _build_cases(rows, per_item[name]) for name, rows in values.items()}
    )


def _append_reply_cases(
    values: Mapping[str, list[tuple[float, bool, int]]],
    reply: JudgedReply,
    item: int,
    parameters: MaqaParameters,
) -> None:
    """Append (value, right, question index) of each confidence measure of a reply to `values`."""
    if reply.confidence is not None and reply.score is not None:
        right = is_right_score(getattr(reply.score, parameters.label), parameters.label_above)
        values[VERBALISED].append((reply.confidence, right, item))
    for answer in reply.answers:
        token = answer.token
        if token is None:
            continue
        values["max_softmax"].append((token.max_softmax, answer.right, item))
        values["entropy"].append((-token.entropy, answer.right, item))
        if token.margin is not None:
            values["margin"].append((token.margin, answer.right, item))


def _build_cases(rows: Sequence[tuple[float, bool, int]], per_item: Integers) -> ConfidenceCases:
    """Return (value, right, question index) rows of one confidence measure as arrays."""
    sureness, right, items = zip(*rows, strict=True) if rows else ((), (), ())
    return ConfidenceCases(
        np.array(sureness, dtype=np.float64),
        np.array(right, dtype=np.bool_),
        np.array(items, dtype=np.int64),
        per_item,
    )


class ItemRow(NamedTuple):
    """A row of items.csv: scores and confidence of one system's replies to one question.

    The scores and `verbalised` are means over the replies; `max_softmax`, `entropy` and `margin`
    are means over the answers. `meanings` is the number of clusters of replies, and
    `meanings_estimated` also counts unseen ones. `reason` is a code of why values are missing.
    """

    item: str
    system: str
    replies: int = 0
    answers: int = 0
    gold_answers: int = 0
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    exact_set: float | None = None
    max_softmax: float | None = None
    entropy: float | None = None
    margin: float | None = None
    verbalised: float | None = None
    consistency: float | None = None
    reason: str | None = None
    semantic_entropy: float | None = None
    semantic_entropy_weighted: float | None = None
    meanings: int | None = None
    semantic_entropy_coverage: float | None = None
    meanings_estimated: float | None = None
    kernel_entropy: float | None = None


class AnswerRow(NamedTuple):
    """A row of answers.csv: one answer of a reply; `position` is its number there, from 1."""

    item: str
    system: str
    sample: int
    position: int
    answer: str
    right: bool | None
    gold_answer: str | None
    max_softmax: float | None
    entropy: float | None
    entropy_high: float | None
    margin: float | None
    reason: str | None


class PositionRow(NamedTuple):
    """A row of positions.csv: a system's answers with the same position in their replies."""

    system: str
    position: int
    n: int
    accuracy: float
    n_distributions: int
    max_softmax: float | None
    entropy: float | None
    margin: float | None


class GoldCountRow(NamedTuple):
    """A row of gold_counts.csv: the questions with `gold_answers` right answers."""

    system: str
    gold_answers: int
    n: int
    precision: float
    recall: float
    f1: float
    exact_set: float


def build_answer_rows(
    system: str, item: str, judged: JudgedReply, gold: Sequence[object]
) -> Iterator[AnswerRow]:
    """Yield a row for each answer of a reply; `gold` has one spelling of each right answer."""
    for position, answer in enumerate(judged.answers, 1):
        token = answer.token
        yield AnswerRow(
            item,
            system,
            judged.reply.sample,
            position,
            answer.text,
            None if judged.score is None else answer.right,
            str(gold[answer.gold]) if gold and answer.gold is not None else None,
            token.max_softmax if token else None,
            token.entropy if token else None,
            token.entropy_high if token else None,
            token.margin if token else None,
            None if token else "no_distribution",
        )


def compute_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


# Measures on a scale from 0, with the upper end of the scale; calibration is defined for them.
SHARES: Mapping[str, float] = {"max_softmax": 1.0, VERBALISED: 100.0, CONSISTENCY: 1.0}
F1 = "f1"


class CurveRow(NamedTuple):
    """A row of curves.csv: one point of the ROC curve of a system and confidence measure.

    `false_alarms` is the false positive rate, `found` the true positive rate, both 0 to 1.
    """

    system: str
    measure: str
    false_alarms: float
    found: float
    low: float | None
    high: float | None


class BinRow(NamedTuple):
    """A row of calibration.csv: the cases with a confidence from `start` to `end`, 0 to 1."""

    system: str
    measure: str
    start: float
    end: float
    confidence: float
    accuracy: float
    low: float | None
    high: float | None
    n: int
    questions: int


class PairRow(NamedTuple):
    """A row of comparisons.csv: system A minus system B, over their `n` common questions.

    `measure` is f1, with p-values, or auroc_ and a measure of confidence, with an interval only.
    """

    system_a: str
    system_b: str
    measure: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    n: int
    reason: str | None


def build_curve_rows(
    system: str, columns: SystemColumns, parameters: MaqaParameters
) -> Iterator[CurveRow]:
    """Yield the points of a system's ROC curves, by confidence measure."""
    draws = (parameters.bootstrap, parameters.seed)
    for measure, cases in columns.cases.items():
        for point in compute_roc_curve(cases.sureness, cases.right, cases.items, *draws):
            yield CurveRow(system, measure, point.false_alarms, point.found, point.low, point.high)


def compute_calibration(
    cases: ConfidenceCases, measure: str, parameters: MaqaParameters
) -> Calibration:
    """Return the calibration of one confidence measure that is a share or percentage."""
    confidence = cases.sureness / SHARES[measure]
    return measure_calibration(
        confidence, cases.right, cases.items, parameters.bootstrap, parameters.seed
    )


def build_bin_rows(
    system: str, columns: SystemColumns, parameters: MaqaParameters
) -> Iterator[BinRow]:
    """Yield a system's calibration bins, for each measure that is a share or percentage."""
    for measure in SHARES:
        for each in compute_calibration(columns.cases[measure], measure, parameters).bins:
            yield BinRow(
                *(system, measure, each.start, each.end, each.confidence, each.accuracy),
                *(each.low, each.high, each.n, each.items),
            )


def build_pair_rows(
    systems: Mapping[str, tuple[SystemColumns, Sequence[str]]],
    items: Sequence[str],
    parameters: MaqaParameters,
) -> Iterator[PairRow]:
    """Yield the comparisons of every two systems: of F1, and of the AUROC of each measure.

    Parameters
    ----------
    systems : by name the columns and the ids of their questions.
    items : ids of all questions, in order.
    """
    numbers = {item: number for number, item in enumerate(items)}
    # Systems may lack questions, so each has its own indices; these lead to the common order.
    common: dict[str, Integers] = {
        name: np.array([numbers[item] for item in own], dtype=np.int64)
        for name, (_, own) in systems.items()
    }
    scores = np.full((len(systems), len(items)), np.nan)
    for row, (name, (columns, _)) in enumerate(systems.items()):
        scores[row, common[name]] = columns.scores[SETS.index(F1)]
    draws = (parameters.bootstrap, parameters.seed)
    for pair in compare_models(scores, list(systems), "holm", *draws):
        yield PairRow(
            *(pair.model_a, pair.model_b, F1, pair.difference, pair.low, pair.high),
            *(pair.p_value, pair.adjusted_p_value, pair.n, pair.reason),
        )
    for (system_a, (columns_a, _)), (system_b, (columns_b, _)) in combinations(systems.items(), 2):
        for measure in SURENESS:
            first, second = (
                (cases.sureness, cases.right, common[name][cases.items])
                for name, cases in (
                    (system_a, columns_a.cases[measure]),
                    (system_b, columns_b.cases[measure]),
                )
            )
            estimate = compare_aurocs(first, second, *draws)
            metric = f"auroc_{measure}"
            yield PairRow(
                *(system_a, system_b, metric, estimate.value, estimate.low, estimate.high),
                *(None, None, estimate.n, estimate.reason),
            )
