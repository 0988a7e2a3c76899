"""Lines of a payment list for a panel, and a table of all payments."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from annotations.exchange.defusing import defuse_text
from annotations.exchange.writing.formats import Table
from annotations.ledger.bonuses import Payment, PaymentBatch

COLUMNS = (
    *("payment", "worker", "panel", "amount", "currency", "round", "attempt", "state", "batch"),
    *("confirmed_by", "reason"),
)
"""The columns of the ledger's table."""


def format_payment_lines(
    batch: PaymentBatch, ids: Mapping[int, str] | None = None
) -> Iterator[bytes]:
    """Yield a line "id,amount" for each payment of a batch, such as "5f1a,1.50".

    The id is the worker's or submission's id on the panel.

    There is no header. `ids` replaces the participants' ids, by the keys of submissions.
    """
    for payment in batch.payments:
        worker_id = payment.name if ids is None else ids[payment.submission]
        # Ids come from links and imported files: they may hold commas, quotes or a formula.
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow(
            [defuse_text(worker_id), f"{payment.amount:.2f}"]
        )
        yield line.getvalue().encode()


def build_ledger_table(payments: list[Payment]) -> Table:
    """Return the table of a version's payments, one row for each.

    `settlement.read_panel_reports` reads the same table back, with other states.
    """
    return Table(
        COLUMNS,
        (
            (
                *(
                    str(payment.id),
                    payment.name,
                    payment.panel,
                    str(payment.amount),
                    payment.currency,
                    payment.round,
                ),
                *(
                    payment.attempt,
                    payment.state,
                    str(payment.batch or ""),
                    payment.by,
                    payment.reason,
                ),
            )
            for payment in payments
        ),
    )
