"""Lists of bonuses as Prolific takes them, the ledger as a table, and what came of payments."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from uuid import UUID

from annotations.exchange.defusing import defused
from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.exchange.writing.formats import Table
from annotations.ledger.bonuses import Batch, Payment
from annotations.models import BonusPayment

Event = BonusPayment.Event
COLUMNS = (
    *("payment", "worker", "panel", "amount", "currency", "round", "attempt", "state", "batch"),
    *("confirmed_by", "reason"),
)
SAID = {"paid": Event.PAID, "settled": Event.PAID, "failed": Event.FAILED}
OPEN = frozenset({"planned", "confirmed", "sent", "unknown", "cancelled", ""})
WANTED = (
    *(Column(name, (name,), renamed_by="") for name in ("payment", "state")),
    Column("reference", ("reference",), required=False, renamed_by=""),
)


def lines_of(batch: Batch) -> Iterator[bytes]:
    """Yield "id,amount" a line, without a header: the participant's id, an amount like 1.50."""
    for one in batch.payments:
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow([defused(one.name), f"{one.amount:.2f}"])
        yield line.getvalue().encode()


def ledger_table(payments: list[Payment]) -> Table:
    """Return the payments as a table; with other states it is what `read_settled` takes."""
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


def read_settled(given: Readable) -> dict[UUID, tuple[Event, str]]:
    """Read what the panel said of payments: payment, state (paid or failed), perhaps reference.

    Rows in the states of who has not heard yet are read over, so that the ledger's own table, with
    some states changed, is such a file. Raises `InputError`: an unknown state, an id that is
    none, a payment that stands there twice.
    """
    problems = Problems(source_of(given).name)
    table = open_table(given, WANTED, problems)
    found: dict[UUID, tuple[Event, str]] = {}
    for line, (payment, state, reference), _ in table.rows:
        word = cleaned(state).casefold()
        if word in OPEN:
            continue
        if word not in SAID:
            problems.add(line, "state", f"{word[:40]!r} is unknown", "Write paid or failed.")
            continue
        try:
            key = UUID(cleaned(payment))
        except ValueError:
            problems.add(
                line, "payment", f"{payment[:40]!r} is no id of a payment", "Take the table's."
            )
            continue
        if key in found:
            problems.add(line, "payment", "it stands there already", "Say once what came of it.")
        found[key] = (SAID[word], cleaned(reference)[:200])
    problems.raise_if_any()
    return found
