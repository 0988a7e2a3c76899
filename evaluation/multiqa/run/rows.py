"""Rows of the tables that a run stores, and the tables.

Result tables of MultiQ&A, each declared once for runs and downloads.

`metrics` and `items` are shown with other columns or more rows than are stored: the numbers of
each item are stored once, with the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotations.exchange.records import AnswerStatus
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.inference.comparison import Comparison, compare_models
from evaluation.core.text.items import MultiqaItem
from evaluation.multiqa.items import EMPTY, NO_REPLY, REFUSED
from evaluation.multiqa.methods.panel import ITEM_METRICS
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.evaluation import CrowdResult, CrowdRow, MultiqaEvaluation, SystemResult
from evaluation.multiqa.run.study import Reply, Wording
from evaluation.runs.flow.metrics import MetricRow, build_group_name
from evaluation.runs.flow.stored import ResultTable

# Metric by which systems are compared where workers answered.
CROWD_SCORE = "crowd_score"


class ItemRow(NamedTuple):
    """A row of items.csv: metrics of one system's replies to one item.

    `numbers` are the metrics of `ITEM_METRICS`; `reasons` are why some are undefined, by metric.
    """

    system: str
    item: str
    kind: str
    dataset: str
    matcher: str
    n_replies: int
    n_votes: int
    n_refused: int
    n_empty: int
    numbers: tuple[float | None, ...]
    original_reply: str | None
    modal_reply: str | None
    reasons: dict[str, str]

    def list_cells(self) -> tuple[object, ...]:
        """Return the cells of the row in items.csv."""
        return (*self[:9], *self.numbers, self.original_reply, self.modal_reply)

    def build_metric_rows(self) -> Iterator[MetricRow]:
        """Yield the rows of metrics.csv with this item's metrics."""
        group = build_group_name("item", self.item)
        for name, value in zip(ITEM_METRICS, self.numbers, strict=True):
            why = self.reasons.get(name)
            yield MetricRow(self.system, group, name, value, None, None, self.n_replies, why)


class ReplyRow(NamedTuple):
    """A stored reply of a system to one wording of an item, with its judgement.

    `right` is None if the reply was not judged. `says` is the text that represents all replies with
    the same answer; `modal` is whether this answer is the item's most frequent one. `crowd_score`
    is the similarity to the workers' exemplary answer. `error` is the reason for a missing reply.
    """

    system: str
    item: str
    variant: int
    variant_text: str
    reply: str
    status: AnswerStatus
    right: bool | None
    says: str | None
    modal: bool | None
    crowd_score: float | None
    error: str


class RewordingRow(NamedTuple):
    """A stored rewording of an item; without `variant` it was rejected for `reason`.

    `kind` is rewording, dialect or style for a typed wording, "" for the rewriter's. `attempt` is
    the number of the rewriter's call; 0 for a typed wording.
    """

    item: str
    variant: int | None
    variant_text: str
    kind: str
    attempt: int
    reason: str | None
    cosine: float | None
    entailment: float | None


@dataclass(frozen=True)
class SystemPair:
    """Comparison of two systems by one metric; `difference` is A minus B.

    `mid_p_value` is McNemar's mid-p, not adjusted; None by other tests, and in rows from before it.
    """

    metric: str
    system_a: str
    system_b: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    n: int
    reason: str | None
    test: str
    mid_p_value: float | None = None

    @classmethod
    def from_comparison(cls, metric: str, pair: Comparison) -> SystemPair:
        """Return the row of a comparison of two systems by the metric `metric`."""
        return cls(
            metric,
            pair.model_a,
            pair.model_b,
            pair.difference,
            pair.low,
            pair.high,
            pair.p_value,
            pair.adjusted_p_value,
            pair.smallest_detectable,
            pair.n,
            pair.reason,
            pair.test,
            pair.mid_p_value,
        )


def build_item_rows(evaluation: MultiqaEvaluation) -> Iterator[ItemRow]:
    """Yield the result row of each system and evaluated item, system by system."""
    for result in evaluation.systems:
        yield from _build_system_rows(evaluation, result)


def _build_system_rows(evaluation: MultiqaEvaluation, result: SystemResult) -> Iterator[ItemRow]:
    """Yield the result row of each evaluated item of one system."""
    replies, panel = result.judged.replies, result.judged.panel
    metrics, get_text = result.overall.profile_metrics, evaluation.judgement.get_text
    for row, (number, profile) in enumerate(
        zip(replies.items.tolist(), result.overall.profiles.tolist(), strict=True)
    ):
        item, statuses = evaluation.judgement.items[number], replies.statuses[row]
        mode = int(metrics.votes.mode[profile])
        modal_text = NO_REPLY
        if mode >= 0:
            modal_text = int(replies.texts[row, panel.representatives[row, mode]])
        reasons = {name: metrics.find_reason(name, profile) for name in ITEM_METRICS}
        yield ItemRow(
            replies.system,
            item.item,
            item.kind,
            item.dataset,
            item.matcher,
            int((statuses != NO_REPLY).sum()),
            int(metrics.votes.n_votes[profile]),
            int(np.isin(statuses, REFUSED).sum()),
            int((statuses == EMPTY).sum()),
            tuple(
                convert_nan_to_none(float(metrics.values[name][profile])) for name in ITEM_METRICS
            ),
            get_text(int(replies.texts[row, 0])),
            get_text(modal_text),
            {name: why for name, why in reasons.items() if why is not None},
        )


ReplyJudgement = tuple[bool, str | None, bool]
"""Whether a reply is right, its representative's text, and whether its answer is the modal one."""


def collect_reply_judgements(
    evaluation: MultiqaEvaluation,
) -> dict[tuple[str, str, int], ReplyJudgement]:
    """Return the judgement of each evaluated reply, by system, item and variant."""
    judgements: dict[tuple[str, str, int], ReplyJudgement] = {}
    for result in evaluation.systems:
        replies, panel = result.judged.replies, result.judged.panel
        mode = result.overall.profile_metrics.votes.mode[result.overall.profiles]
        for row, column in zip(*np.nonzero(replies.statuses != NO_REPLY), strict=True):
            answer = int(panel.answers[row, column])
            votes = answer >= 0
            text = NO_REPLY
            if votes:
                text = int(replies.texts[row, panel.representatives[row, column]])
            is_modal = votes and mode[row] >= 0 and answer == int(panel.answers[row, mode[row]])
            key = (
                replies.system,
                evaluation.judgement.items[int(replies.items[row])].item,
                int(replies.variants[row, column]),
            )
            judgements[key] = (
                bool(panel.right[row, column]),
                evaluation.judgement.get_text(text),
                bool(is_modal),
            )
    return judgements


def build_reply_rows(
    system: str,
    items: Sequence[MultiqaItem],
    wordings: Sequence[Wording],
    replies: Mapping[tuple[str, int], Reply],
    judgements: Mapping[tuple[str, str, int], ReplyJudgement],
    scores: Mapping[tuple[str, str, int], float],
) -> Iterator[ReplyRow]:
    """Yield the rows of one system's replies, in the order of the wordings.

    Parameters
    ----------
    replies : by the id of the conversation and the number of the sample, which is 0.
    judgements, scores : by system, item and variant; replies without an entry have empty cells.
    """
    for wording in wordings:
        item = items[wording.item].item
        reply = replies[wording.build_id(items), 0]
        key = (system, item, wording.variant)
        # Failed replies, and those to items that are left out, are not judged.
        right, says, modal = judgements.get(key, (None, None, None))
        yield ReplyRow(
            *(system, item, wording.variant, wording.text, reply.answer, reply.status),
            *(right, says, modal, scores.get(key)),
            # Only stored replies of a run have a message; rows of a journal do not.
            str(getattr(reply, "message", "")),
        )


def build_comparison_rows(
    evaluation: MultiqaEvaluation, crowd: CrowdResult | None, parameters: MultiqaParameters
) -> Iterator[SystemPair]:
    """Yield comparisons of each two systems, by each metric and by crowd score."""
    for name, pair in evaluation.comparisons:
        yield SystemPair.from_comparison(name, pair)
    if crowd is None:
        return
    systems = list(dict.fromkeys(row.system for row in crowd.items))
    item_ids = dict.fromkeys(row.item for row in crowd.items)
    columns = {item: column for column, item in enumerate(item_ids)}
    if len(systems) < 2:
        return
    # NaN where a system has no score: pairs are compared on their common items.
    scores = np.full((len(systems), len(columns)), np.nan)
    for row in crowd.items:
        if row.crowd_score is not None:
            scores[systems.index(row.system), columns[row.item]] = row.crowd_score
    for pair in compare_models(
        scores, systems, n_draws=parameters.bootstrap, seed=parameters.seed, test="permutation"
    ):
        yield SystemPair.from_comparison(CROWD_SCORE, pair)


METRICS = ResultTable("metrics", MetricRow, "metrics.csv")
ITEMS = ResultTable("items", ItemRow, "items.csv")
REPLIES = ResultTable("replies", ReplyRow)
REWORDINGS = ResultTable("rewordings", RewordingRow)
COMPARISONS = ResultTable("comparisons", SystemPair)
CROWD = ResultTable("crowd", CrowdRow, "crowd.csv")

ITEM_COLUMNS = (*ItemRow._fields[:9], *ITEM_METRICS, "original_reply", "modal_reply")
"""Columns of items.csv: a column for each number of an item."""
