"""The replies of each system in rows of items and columns of wordings, and who is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.flow.metrics import NAMED, Exclusions
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.replies import MISSING, NO_REPLY, STATUSES, Replies

Ints = NDArray[np.int64]

NO_ACCEPTED = "no_accepted_answer"
NO_REPLIES = "no_replies"
NO_ORIGINAL = "no_reply_to_the_original"


@dataclass(frozen=True)
class Laid:
    """The replies of one system.

    Attributes
    ----------
    items : (n,) numbers of the items that count, in their order.
    statuses, texts : (n, R) numbers of `STATUSES` and of the texts, `NO_REPLY` where there is none.
        Column 0 is the original; further ones are the item's variants, in their order. An ERROR
        is no reply, and neither is one that was CUT_OFF.
    variants : (n, R) the variant of each column.
    """

    system: str
    items: Ints
    statuses: Ints
    texts: Ints
    variants: Ints


def lay_out(
    items: Sequence[MultiqaItem], replies: Replies, left_out: Exclusions
) -> tuple[Laid, ...]:
    """Return the systems' replies, in the order of the systems.

    Left out and noted: items without an accepted answer, whatever they were replied; for a system
    items without a reply, and without one to the original wording; replies that are an ERROR.
    """
    n = len(items)
    usable = np.array([bool(item.answers) for item in items], dtype=np.bool_)
    left_out_items(NO_ACCEPTED, items, np.flatnonzero(~usable), left_out)
    of_system, of_item, variants, of_text, statuses = replies.columns()
    columns, variant_of = _columns(of_item, variants, n)
    width = variant_of.shape[1]
    laid = []
    for number, system in enumerate(replies.systems):
        rows = of_system == number
        cells = (of_item[rows], columns[rows])
        status = np.full((n, width), NO_REPLY, dtype=np.int64)
        text = np.full((n, width), NO_REPLY, dtype=np.int64)
        status[cells] = statuses[rows]
        text[cells] = of_text[rows]
        failed = np.isin(status, MISSING) & usable[:, None]
        for code in MISSING:
            lacking = (status == code) & usable[:, None]
            _note_errors(STATUSES[code].value, system, items, lacking, variant_of, left_out)
        status[np.isin(status, MISSING)] = NO_REPLY
        text[status == NO_REPLY] = NO_REPLY
        # Column 0 belongs to another variant where nobody was asked the original.
        original = (status[:, 0] != NO_REPLY) & (variant_of[:, 0] == 0)
        some = (status != NO_REPLY).any(axis=1) | failed.any(axis=1)
        left_out_items(NO_REPLIES, items, np.flatnonzero(usable & ~some), left_out, system)
        missing = np.flatnonzero(usable & some & ~original)
        left_out_items(NO_ORIGINAL, items, missing, left_out, system)
        kept = np.flatnonzero(usable & original)
        laid.append(Laid(system, kept, status[kept], text[kept], variant_of[kept]))
    return tuple(laid)


def left_out_items(
    reason: str,
    items: Sequence[MultiqaItem],
    numbers: Ints,
    left_out: Exclusions,
    system: str | None = None,
) -> None:
    """Note items that do not count, for a system or for all."""
    if not len(numbers):
        return
    of = {} if system is None else {"system": system}
    named = [{**of, "item": items[number].item} for number in numbers[:NAMED].tolist()]
    left_out.add_all(reason, named, len(numbers))


def _note_errors(
    why: str,
    system: str,
    items: Sequence[MultiqaItem],
    failed: NDArray[np.bool_],
    variants: Ints,
    left_out: Exclusions,
) -> None:
    rows, columns = np.nonzero(failed)
    if len(rows):
        named = [
            {"system": system, "item": items[row].item, "variant": int(variants[row, column])}
            for row, column in zip(rows[:NAMED].tolist(), columns[:NAMED].tolist(), strict=True)
        ]
        left_out.add_all(why, named, len(rows))


def _columns(of_item: Ints, variants: Ints, n: int) -> tuple[Ints, Ints]:
    """Return each reply's column, the rank of its variant among its item's, and (n, R) variants."""
    if not len(of_item):
        return np.empty(0, dtype=np.int64), np.full((n, 1), NO_REPLY, dtype=np.int64)
    pairs, place = np.unique(of_item << 32 | variants, return_inverse=True)
    item, variant = pairs >> 32, pairs & 0xFFFFFFFF
    start = np.searchsorted(item, np.arange(n))
    rank = np.arange(len(pairs)) - start[item]
    of_column = np.full((n, int(rank.max()) + 1), NO_REPLY, dtype=np.int64)
    of_column[item, rank] = variant
    return rank[place], of_column
