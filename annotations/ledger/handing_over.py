"""Payments as a panel takes them, a line each, and the ledger as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from annotations.exchange.defusing import defused
from annotations.exchange.writing.formats import Table
from annotations.ledger.bonuses import Batch, Payment

COLUMNS = (
    *("payment", "worker", "panel", "amount", "currency", "round", "attempt", "state", "batch"),
    *("confirmed_by", "reason"),
)


def lines_of(batch: Batch, ids: Mapping[int, str] | None = None) -> Iterator[bytes]:
    """Yield "id,amount" a line, without a header: the participant's id, an amount like 1.50.

    `ids` are others to write, by the keys of submissions.
    """
    for one in batch.payments:
        name = one.name if ids is None else ids[one.submission]
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow([defused(name), f"{one.amount:.2f}"])
        yield line.getvalue().encode()


def ledger_table(payments: list[Payment]) -> Table:
    """Return the payments as a table; `settling.read_settled` takes it with other states."""
    return Table(
        COLUMNS,
        (
            (
                *(str(one.id), one.name, one.panel, str(one.amount), one.currency, one.round),
                *(one.attempt, one.state, str(one.batch or ""), one.by, one.reason),
            )
            for one in payments
        ),
    )
