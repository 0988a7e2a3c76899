"""Metrics of MultiQ&A by system and item group with chance levels; comparisons of systems.

Where workers answered the items, no accepted answer is needed: a reply's score is its similarity to
AQER's exemplary answer of the workers. The spread of a system's scores over rewordings is compared
with the spread of the workers' leave-one-out scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import (
    Answers,
    EmbedTexts,
    ModelAnswers,
    Progress,
    select_graded_answers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import Embedder, EmbedderInfo
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import convert_nan_to_none, divide_where_positive
from evaluation.core.stats.inference.clustered import compute_drawn_intervals, compute_means
from evaluation.core.stats.inference.comparison import Comparison, compare_models
from evaluation.core.stats.statistics.descriptive import ThresholdErrors
from evaluation.core.text.items import MultiqaItem
from evaluation.grading.run.fitting import compute_aqer_scores
from evaluation.multiqa.items import EMPTY, NO_REPLY, REFUSED, STATUS_CODES, STATUSES, TEXT, Replies
from evaluation.multiqa.methods.robustness import (
    METRIC_NAMES,
    Robustness,
    compute_robustness,
)
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.judging import (
    JudgedReplies,
    JudgedSystem,
    build_error_message,
    build_error_rows,
    find_recorded_errors,
    judge_replies,
)
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow, build_group_name

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Prefix of the names of chance levels.
CHANCE = "chance_"
COMPARED_METRICS = ("accuracy", "plurality", "worst_case", "best_case")
NO_ORIGINAL_TEXT = "no_text_to_the_original"
RATES = (
    *("accuracy_answered", "refusal_rate", "refused_prompt_rate", "refused_generation_rate"),
    "empty_rate",
)


@dataclass(frozen=True)
class SystemResult:
    """Judged replies and metrics of one system.

    Attributes
    ----------
    judged : its judged replies.
    overall : metrics over all items, and of each item.
    """

    judged: JudgedSystem
    overall: Robustness

    def select_item_values(self, name: str) -> Floats:
        """Return one metric of every item; NaN where it is undefined."""
        return self.overall.profile_metrics.values[name][self.overall.profiles]


@dataclass
class MultiqaEvaluation:
    """Result of an evaluation: judged replies, metric rows, and results by system.

    Attributes
    ----------
    judgement : judged replies.
    rows : metrics of all groups except single items, system by system.
    systems : results in the order of the systems.
    cosine_errors : of the cosine threshold on labelled pairs; None if not used or not known.
    """

    judgement: JudgedReplies
    parameters: MultiqaParameters
    rows: list[MetricRow]
    systems: tuple[SystemResult, ...]
    cosine_errors: ThresholdErrors | None = None

    @cached_property
    def comparisons(self) -> list[tuple[str, Comparison]]:
        """Comparisons of each two systems by each metric, as (metric, comparison).

        Yes-or-no metrics are compared by the exact McNemar test, item_difficulty by a permutation
        test; p-values have Holm's correction within a metric. The intervals are those of the
        difference.
        """
        if len(self.systems) < 2:
            return []
        names = [result.judged.replies.system for result in self.systems]
        comparisons = []
        for name in (*COMPARED_METRICS, "item_difficulty"):
            scores = np.full((len(names), len(self.judgement.items)), np.nan)
            for row, result in zip(scores, self.systems, strict=True):
                row[result.judged.replies.items] = result.select_item_values(name)
            pairs = compare_models(
                scores,
                names,
                n_draws=self.parameters.bootstrap,
                seed=self.parameters.seed,
                test="mcnemar" if name in COMPARED_METRICS else "permutation",
            )
            comparisons += [(name, pair) for pair in pairs]
        return comparisons

    def list_left_out_counts(self) -> list[dict[str, Any]]:
        """Return the counts of items left out of metrics, by system, metric and reason."""
        return [
            {
                "system": result.judged.replies.system,
                "metric": name,
                "reason": reason,
                "count": count,
            }
            for result in self.systems
            for name, reasons in result.overall.left_out.items()
            for reason, count in reasons.items()
        ]


def evaluate_replies(
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
    left_out: Exclusions | None = None,
    progress: Progress | None = None,
    cosine_errors: ThresholdErrors | None = None,
    embedder: Embedder | None = None,
) -> MultiqaEvaluation:
    """Judge the replies and compute every metric; raises `BackendError`.

    Items and replies that do not count are added to `left_out`. `cosine_errors` are those of the
    cosine threshold on labelled pairs; None for the recorded ones of the embedder. `embedder` is
    used in place of that of the parameters, such as one with stored vectors.
    """
    exclusions = Exclusions() if left_out is None else left_out
    judgement = judge_replies(items, replies, parameters, exclusions, progress, embedder)
    rows: list[MetricRow] = []
    results = []
    for done, judged in enumerate(judgement.systems):
        if progress is not None:
            progress("evaluating", done, len(judgement.systems))
        system_rows, overall = _evaluate_system(judged, items, parameters)
        rows += system_rows
        results.append(SystemResult(judged, overall))
    if progress is not None:
        progress("evaluating", len(judgement.systems), len(judgement.systems))
    evaluation = MultiqaEvaluation(judgement, parameters, rows, tuple(results))
    # Without an item that is judged by cosine the threshold plays no part.
    if judgement.info is not None:
        evaluation.cosine_errors = cosine_errors or find_recorded_errors(parameters)
    if evaluation.cosine_errors is not None:
        rows += build_error_rows(evaluation.cosine_errors)
        judgement.warnings.append(build_error_message(evaluation.cosine_errors))
    return evaluation


def _evaluate_system(
    judged: JudgedSystem, items: Sequence[MultiqaItem], parameters: MultiqaParameters
) -> tuple[list[MetricRow], Robustness]:
    """Return a system's metric rows for every item group, and its metrics over all items."""
    rows: list[MetricRow] = []
    n = len(judged.panel)
    # Often a group has all items, and its metrics are the overall ones.
    overall = compute_robustness(judged.panel, parameters.bootstrap, parameters.seed)
    for group, members in _split_into_groups(judged, items):
        metrics = overall
        if len(members) < n:
            panel = judged.panel.select_items(members)
            metrics = compute_robustness(panel, parameters.bootstrap, parameters.seed)
        rows += _build_metric_rows(judged.replies.system, group, metrics)
        rows += _compute_rates(judged, group, members, parameters)
    return rows, overall


def _split_into_groups(
    judged: JudgedSystem, items: Sequence[MultiqaItem]
) -> Iterator[tuple[str, Ints]]:
    """Yield the name and row indices of each item group: all, kinds, data sets."""
    numbers = judged.replies.items.tolist()
    yield OVERALL, np.arange(len(numbers))
    for key, names in (
        ("kind", [items[number].kind for number in numbers]),
        ("dataset", [items[number].dataset for number in numbers]),
    ):
        item_names = np.array(names, dtype=np.str_)
        for name in dict.fromkeys(names):
            if name:
                yield build_group_name(key, name), np.flatnonzero(item_names == name)


def _build_metric_rows(system: str, group: str, metrics: Robustness) -> Iterator[MetricRow]:
    """Yield the row of each metric of an item group, followed by its chance level."""
    for name in METRIC_NAMES:
        yield MetricRow.from_estimate(system, group, name, metrics.estimates[name])
        yield MetricRow.from_estimate(system, group, f"{CHANCE}{name}", metrics.chance[name])


def _compute_rates(
    judged: JudgedSystem, group: str, members: Ints, parameters: MultiqaParameters
) -> Iterator[MetricRow]:
    """Yield rates of refused and empty replies, and accuracy of answered original wordings."""
    statuses = judged.replies.statuses[members]
    n_replies = (statuses != NO_REPLY).sum(axis=1)
    shares = [
        # Every counted item has a reply to its original; the maximum only avoids a warning.
        np.isin(statuses, codes).sum(axis=1) / np.maximum(n_replies, 1)
        for codes in (
            REFUSED,
            (STATUS_CODES[AnswerStatus.REFUSED_PROMPT],),
            (STATUS_CODES[AnswerStatus.REFUSED_GENERATION],),
            (EMPTY,),
        )
    ]
    original = judged.panel.right[members, 0].astype(np.float64)
    answered = np.where(statuses[:, 0] == TEXT, original, np.nan)
    estimates = compute_means([answered, *shares], parameters.bootstrap, parameters.seed)
    for name, estimate in zip(RATES, estimates, strict=True):
        row = MetricRow.from_estimate(judged.replies.system, group, name, estimate)
        if name == RATES[0] and row.value is None and len(members):
            row = row._replace(reason=NO_ORIGINAL_TEXT)
        yield row


NO_CROWD = "no_crowd"
CROWD_METRICS = (
    *("crowd_score", "crowd_score_original", "crowd_worst", "crowd_best"),
    *("spread_rewordings", "spread_people"),
)
SPREAD_RATIO = "spread_ratio"


class CrowdRow(NamedTuple):
    """A row of crowd.csv: crowd scores of one system's replies to one item.

    Scores are similarities to the exemplary answer. Spreads are standard deviations over the
    wordings and over the workers; None for fewer than two.
    """

    system: str
    item: str
    n_replies: int
    n_workers: int
    crowd_score: float | None
    crowd_score_original: float | None
    crowd_worst: float | None
    crowd_best: float | None
    spread_rewordings: float | None
    spread_people: float | None


@dataclass(frozen=True)
class CrowdResult:
    """Crowd scores of every system: metric rows, item rows, and embedding.

    Attributes
    ----------
    rows : metrics of systems and groups.
    items : rows of single items.
    info, warnings : the embedder and its warnings.
    counts : number of workers' answers, of workers and of items.
    scores : score of each reply by system, item and variant.
    """

    rows: list[MetricRow]
    items: list[CrowdRow]
    info: EmbedderInfo
    warnings: list[Message]
    counts: dict[str, int]
    scores: dict[tuple[str, str, int], float] = field(default_factory=dict)


def score_replies_by_crowd(
    items: Sequence[MultiqaItem],
    replies: Replies,
    crowd: Answers,
    parameters: MultiqaParameters,
    progress: Progress | None = None,
    embed_texts: EmbedTexts | None = None,
) -> CrowdResult:
    """Score every reply by its similarity to the workers' exemplary answer of its item.

    An EMPTY or refused reply scores as no answer; ERROR and CUT_OFF are missing.

    Parameters
    ----------
    crowd : workers' answers; the questions are ids of items.
    embed_texts : embeds the texts with the options of `build_grading_parameters`; None for the
        default.

    Raises
    ------
    BackendError : texts cannot be embedded.
    """
    grading = build_grading_parameters(parameters)
    reply_systems, reply_items, variants, _, _ = replies.build_arrays()
    columns = zip(*(column.tolist() for column in replies.build_arrays()), strict=True)
    # AQER scores one answer for each model and question, so each wording is a model of its own.
    model_answers = ModelAnswers.from_rows(
        # System and variant in one integer, since AQER knows models by one key.
        (row, system << 32 | variant, items[item].item, replies.texts[text], STATUSES[status], 0)
        for row, (system, item, variant, text, status) in enumerate(columns)
    )
    grading_input = select_graded_answers(grading, crowd, model_answers)
    worker_scores, reply_scores, embedding = compute_aqer_scores(
        grading_input, embed_texts, progress
    )
    # Leave-one-out scores of the workers who answered each item.
    item_worker_scores: dict[str, list[float]] = {}
    for question, score in zip(
        grading_input.answered.questions, worker_scores.tolist(), strict=True
    ):
        item_worker_scores.setdefault(question, []).append(score)
    scores: dict[tuple[int, int], dict[int, float]] = {}
    assert grading_input.models is not None
    for row, score, status in zip(
        grading_input.models.keys,
        reply_scores.tolist(),
        grading_input.models.statuses,
        strict=True,
    ):
        item = int(reply_items[row])
        # Without workers' answers there is no exemplary answer to compare with.
        if items[item].item not in item_worker_scores or status.is_missing:
            continue
        wording_scores = scores.setdefault((int(reply_systems[row]), item), {})
        wording_scores[int(variants[row])] = score
    rows = [
        _build_crowd_row(
            replies.systems[system],
            items[item].item,
            wording_scores,
            item_worker_scores[items[item].item],
        )
        for (system, item), wording_scores in sorted(scores.items())
    ]
    counts = {
        "crowd_answers": len(grading_input.answered),
        "crowd_workers": len(set(grading_input.answered.workers)),
        "crowd_items": len(item_worker_scores.keys() & {item.item for item in items}),
    }
    metrics = list(_compute_crowd_metrics(replies.systems, items, rows, parameters))
    by_reply = {
        (replies.systems[system], items[item].item, variant): score
        for (system, item), wording_scores in scores.items()
        for variant, score in wording_scores.items()
    }
    return CrowdResult(metrics, rows, embedding.info, embedding.warnings, counts, by_reply)


def build_grading_parameters(parameters: MultiqaParameters) -> AqerParameters:
    """Return the AQER options for computing workers' exemplary answers."""
    return AqerParameters(
        embedder=parameters.embedder,
        precision=parameters.precision,
        bootstrap=0,
        seed=parameters.seed,
    )


def _build_crowd_row(
    system: str, item: str, wording_scores: dict[int, float], worker_scores: list[float]
) -> CrowdRow:
    """Return a row of crowd.csv from one item's scores by variant and its workers' scores."""
    scores = np.array(list(wording_scores.values()))
    # The only answer to a question has no leave-one-out score.
    known = np.array(worker_scores)
    known = known[~np.isnan(known)]
    return CrowdRow(
        system,
        item,
        len(scores),
        len(worker_scores),
        convert_nan_to_none(float(scores.mean())),
        wording_scores.get(0),
        float(scores.min()),
        float(scores.max()),
        # n - 1 in both spreads: their numbers of wordings and workers differ, and the divisor n
        # would make the smaller group look less spread.
        float(scores.std(ddof=1)) if len(scores) > 1 else None,
        float(known.std(ddof=1)) if len(known) > 1 else None,
    )


def _compute_crowd_metrics(
    systems: Sequence[str],
    items: Sequence[MultiqaItem],
    rows: Sequence[CrowdRow],
    parameters: MultiqaParameters,
) -> Iterator[MetricRow]:
    """Yield the crowd score metrics of every system and item group."""
    by_id = {item.item: item for item in items}
    for system in systems:
        system_rows = [row for row in rows if row.system == system]
        groups: dict[str, list[CrowdRow]] = {OVERALL: system_rows}
        for key in ("kind", "dataset"):
            for row in system_rows:
                name = getattr(by_id[row.item], key)
                if name:
                    groups.setdefault(build_group_name(key, name), []).append(row)
        for group, members in groups.items():
            yield from _compute_group_metrics(system, group, members, parameters)


def _compute_group_metrics(
    system: str, group: str, rows: Sequence[CrowdRow], parameters: MultiqaParameters
) -> Iterator[MetricRow]:
    """Yield mean crowd metrics over the items of a group, and the ratio of spreads."""
    table = np.array(
        [[getattr(row, name) for row in rows] for name in CROWD_METRICS], dtype=np.float64
    ).reshape(len(CROWD_METRICS), len(rows))
    draws, seed = parameters.bootstrap, parameters.seed
    for name, estimate in zip(CROWD_METRICS, compute_means(table, draws, seed), strict=True):
        row = MetricRow.from_estimate(system, group, name, estimate)
        yield row if row.value is not None else row._replace(reason=NO_CROWD)
    spreads = table[
        [CROWD_METRICS.index("spread_rewordings"), CROWD_METRICS.index("spread_people")]
    ]
    # The ratio needs both spreads of an item; its interval draws whole items.
    known = ~np.isnan(spreads).any(axis=0)
    spreads, n = spreads[:, known], int(known.sum())

    def compute_ratio(weights: Floats) -> Floats:
        """Return, per draw of item weights, the mean spread of rewordings over that of workers."""
        sums = spreads @ weights.T
        return divide_where_positive(sums[0], sums[1])[None]

    value = compute_ratio(np.ones((1, n)))[0] if n else [np.nan]
    (estimate,) = compute_drawn_intervals(value, n, compute_ratio, n, draws, seed)
    row = MetricRow.from_estimate(system, group, SPREAD_RATIO, estimate)
    yield row if row.value is not None else row._replace(reason=NO_CROWD)
