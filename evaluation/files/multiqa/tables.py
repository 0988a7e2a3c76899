"""The tables of MultiQ&A: metrics.csv with every item, items.csv, what the summary adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange.writing.folder import csv_line
from evaluation.flow.metrics import group_name
from evaluation.flow.multiqa.evaluation import MultiqaEvaluation, SystemFound
from evaluation.flow.multiqa.replies import EMPTY, NO_REPLY, REFUSED
from evaluation.methods.multiqa.items import OF_ITEMS
from evaluation.methods.undefined import or_none

Ints = NDArray[np.int64]

ITEM_COLUMNS = (
    *("system", "item", "kind", "dataset", "matcher", "n_replies", "n_votes", "n_refused"),
    *("n_empty", *OF_ITEMS, "original_reply", "modal_reply"),
)


def item_metric_lines(found: MultiqaEvaluation) -> Iterator[str]:
    """Yield the lines of metrics.csv of every item: its numbers, n the replies they are of.

    There may be millions, of some thousand different kinds: what follows the id is made once for
    each kind.
    """
    items = found.judgement.items
    names = {
        number: csv_line((group_name("item", item.item),)) for number, item in enumerate(items)
    }
    for one in found.systems:
        system = csv_line((one.judged.laid.system,))
        ends = [_ends(one, profile) for profile in range(len(one.overall.numbers.votes.mode))]
        numbers = one.judged.laid.items.tolist()
        for number, profile in zip(numbers, one.overall.profiles.tolist(), strict=True):
            begin = f"{system},{names[number]},"
            yield "".join([f"{begin}{end}" for end in ends[profile]])


def _ends(one: SystemFound, profile: int) -> list[str]:
    """Return what follows system and group in the lines of a kind of items."""
    numbers = one.overall.numbers
    n = int(numbers.n_given[profile])
    return [
        csv_line((name, value, None, None, n, numbers.reason(name, profile))) + "\n"
        for name in OF_ITEMS
        for value in (or_none(float(numbers.values[name][profile])),)
    ]


def item_lines(found: MultiqaEvaluation) -> Iterator[str]:
    """Yield items.csv: its header, then system by system the items in their order."""
    yield csv_line(ITEM_COLUMNS) + "\n"
    items = found.judgement.items
    for one in found.systems:
        laid, panel = one.judged.laid, one.judged.panel
        counts = np.stack(
            [
                (laid.statuses != NO_REPLY).sum(axis=1),
                one.overall.numbers.votes.n_votes[one.overall.profiles],
                np.isin(laid.statuses, REFUSED).sum(axis=1),
                (laid.statuses == EMPTY).sum(axis=1),
            ],
            axis=1,
        ).tolist()
        cells = [csv_line(row) for row in _number_cells(one)]
        mode = one.overall.numbers.votes.mode[one.overall.profiles]
        at = np.arange(len(mode))
        modal = np.where(mode >= 0, laid.texts[at, panel.stands[at, np.maximum(mode, 0)]], NO_REPLY)
        system = csv_line((laid.system,))
        text = found.judgement.text
        for number, of_item, profile, first, most in zip(
            laid.items.tolist(),
            counts,
            one.overall.profiles.tolist(),
            laid.texts[:, 0].tolist(),
            modal.tolist(),
            strict=True,
        ):
            item = items[number]
            names = csv_line((item.item, item.kind, item.dataset, item.matcher))
            n = ",".join(map(str, of_item))
            said = csv_line((text(first), text(most)))
            yield f"{system},{names},{n},{cells[profile]},{said}\n"


def _number_cells(one: SystemFound) -> Sequence[tuple[float | None, ...]]:
    """Return the numbers of each profile of items."""
    values = one.overall.numbers.values
    table = np.stack([values[name] for name in OF_ITEMS], axis=1)
    return [tuple(or_none(value) for value in row) for row in table]


def comparisons(found: MultiqaEvaluation) -> list[dict[str, Any]]:
    """Return every two systems compared, for the summary."""
    return [
        {
            "metric": name,
            "system_a": pair.model_a,
            "system_b": pair.model_b,
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "p_value": pair.p_value,
            "adjusted_p_value": pair.adjusted_p_value,
            "smallest_detectable": pair.smallest_detectable,
            "n": pair.n,
            "reason": pair.reason,
            "test": pair.test,
        }
        for name, pair in found.comparisons
    ]
