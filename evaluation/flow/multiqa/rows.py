"""What an evaluation found, as rows that a run keeps: items, replies, rewordings, comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotations.exchange.records import AnswerStatus
from evaluation.flow.metrics import MetricRow, group_name
from evaluation.flow.multiqa.crowd import CrowdFound
from evaluation.flow.multiqa.evaluation import MultiqaEvaluation, SystemFound
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import EMPTY, NO_REPLY, REFUSED
from evaluation.flow.multiqa.study import Said, Wording
from evaluation.methods.inference.comparison import Comparison, compare_models
from evaluation.methods.multiqa.items import OF_ITEMS
from evaluation.methods.undefined import or_none

CROWD_COMPARED = "crowd_score"


class ItemRow(NamedTuple):
    """What the replies of a system to an item come to; the columns are those of items.csv.

    `numbers` are those of `OF_ITEMS`, `reasons` why some of them are undefined, by name.
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

    def number(self, name: str) -> float | None:
        """Return one of the numbers."""
        return self.numbers[OF_ITEMS.index(name)]

    def cells(self) -> tuple[object, ...]:
        """Return the cells of items.csv."""
        return (*self[:9], *self.numbers, self.original_reply, self.modal_reply)

    def metrics(self) -> Iterator[MetricRow]:
        """Yield the rows of metrics.csv of this item."""
        group = group_name("item", self.item)
        for name, value in zip(OF_ITEMS, self.numbers, strict=True):
            why = self.reasons.get(name)
            yield MetricRow(self.system, group, name, value, None, None, self.n_replies, why)


class ReplyRow(NamedTuple):
    """A reply to a wording of an item; the first six columns are those that files have.

    `right` is None where nothing says it. `says` is the reply that stands for all that say the
    same, `modal` whether that is what most of the item's replies say. `crowd_score` is the reply's
    similarity to people's consensus. `error` says why there is no reply.
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
    """A wording beside the original; one without a `variant` was dropped, for `reason`.

    `kind` is rewording, dialect or style of typed ones, "" of a rewriter's; `attempt` the
    rewriter's call, 0 for typed ones.
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
    """Two systems compared by one number, A minus B."""

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

    @classmethod
    def of(cls, metric: str, pair: Comparison) -> SystemPair:
        """Return the row of a comparison."""
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
        )


def item_rows(found: MultiqaEvaluation) -> Iterator[ItemRow]:
    """Yield a row for each system and item that counts, system by system."""
    for one in found.systems:
        yield from _of_system(found, one)


def _of_system(found: MultiqaEvaluation, one: SystemFound) -> Iterator[ItemRow]:
    laid, numbers, text = one.judged.laid, one.overall.numbers, found.judgement.text
    for row, (number, profile) in enumerate(
        zip(laid.items.tolist(), one.overall.profiles.tolist(), strict=True)
    ):
        item, statuses = found.judgement.items[number], laid.statuses[row]
        mode = int(numbers.votes.mode[profile])
        modal = NO_REPLY
        if mode >= 0:
            modal = int(laid.texts[row, one.judged.panel.stands[row, mode]])
        reasons = {name: numbers.reason(name, profile) for name in OF_ITEMS}
        yield ItemRow(
            laid.system,
            item.item,
            item.kind,
            item.dataset,
            item.matcher,
            int((statuses != NO_REPLY).sum()),
            int(numbers.votes.n_votes[profile]),
            int(np.isin(statuses, REFUSED).sum()),
            int((statuses == EMPTY).sum()),
            tuple(or_none(float(numbers.values[name][profile])) for name in OF_ITEMS),
            text(int(laid.texts[row, 0])),
            text(modal),
            {name: why for name, why in reasons.items() if why is not None},
        )


Judged = tuple[bool, str | None, bool]
"""Whether a reply is right, the reply that stands for it, and whether that is the modal one."""


def judged_replies(found: MultiqaEvaluation) -> dict[tuple[str, str, int], Judged]:
    """Return what became of each reply that counts, by system, item and variant."""
    judged: dict[tuple[str, str, int], Judged] = {}
    for one in found.systems:
        laid, panel = one.judged.laid, one.judged.panel
        mode = one.overall.numbers.votes.mode[one.overall.profiles]
        for row, column in zip(*np.nonzero(laid.statuses != NO_REPLY), strict=True):
            said = int(panel.answers[row, column])
            votes = said >= 0
            stands = int(laid.texts[row, panel.stands[row, column]]) if votes else NO_REPLY
            most = votes and mode[row] >= 0 and said == int(panel.answers[row, mode[row]])
            judged[
                laid.system,
                found.judgement.items[int(laid.items[row])].item,
                int(laid.variants[row, column]),
            ] = (bool(panel.right[row, column]), found.judgement.text(stands), bool(most))
    return judged


def reply_rows(
    system: str,
    items: Sequence[MultiqaItem],
    wordings: Sequence[Wording],
    said: Mapping[tuple[str, int], Said],
    judged: Mapping[tuple[str, str, int], Judged],
    scores: Mapping[tuple[str, str, int], float],
) -> Iterator[ReplyRow]:
    """Yield the replies of a system in the order of the wordings; `said` is by conversation."""
    for wording in wordings:
        item, reply = items[wording.item].item, said[wording.name(items), 0]
        which = (system, item, wording.variant)
        right, says, modal = judged.get(which, (None, None, None))
        yield ReplyRow(
            *(system, item, wording.variant, wording.text, reply.answer, reply.status),
            *(right, says, modal, scores.get(which)),
            str(getattr(reply, "message", "")),
        )


def comparison_rows(
    found: MultiqaEvaluation, measured: CrowdFound | None, parameters: MultiqaParameters
) -> Iterator[SystemPair]:
    """Yield every two systems compared by each number; by the crowd's score as well."""
    for name, pair in found.comparisons:
        yield SystemPair.of(name, pair)
    if measured is None:
        return
    systems = list(dict.fromkeys(row.system for row in measured.items))
    items = {name: at for at, name in enumerate(dict.fromkeys(r.item for r in measured.items))}
    if len(systems) < 2:
        return
    scores = np.full((len(systems), len(items)), np.nan)
    for row in measured.items:
        if row.crowd_score is not None:
            scores[systems.index(row.system), items[row.item]] = row.crowd_score
    for pair in compare_models(
        scores, systems, n_draws=parameters.bootstrap, seed=parameters.seed, test="permutation"
    ):
        yield SystemPair.of(CROWD_COMPARED, pair)
