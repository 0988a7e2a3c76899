"""Lists of bonuses as Prolific takes them, the ledger as a table, and what came of payments."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterator, Mapping
from typing import Any
from uuid import UUID

from annotations.exchange.defusing import defused
from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.exchange.writing.formats import Table
from annotations.ledger.bonuses import Batch, Payment, payments_of, settle
from annotations.models import BonusPayment, QuestionSetVersion

Event = BonusPayment.Event
COLUMNS = (
    *("payment", "worker", "panel", "amount", "currency", "round", "attempt", "state", "batch"),
    *("confirmed_by", "reason"),
)
SAID = {"paid": Event.PAID, "settled": Event.PAID, "failed": Event.FAILED}
OPEN = frozenset({"planned", "confirmed", "sent", "unknown", "cancelled", ""})
WANTED = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("payment", "state")),
    Column("reference", ("reference",), required=False, renamed_by="", any_case=True),
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


def settle_by_file(version: QuestionSetVersion, user: Any, given: Readable) -> tuple[int, int]:
    """Keep what the panel said of payments that were sent: every row of a file or none.

    Returns how many are new and how many stood there so already. Raises `InputError` as
    `read_settled` does, and for a payment that is none of the version's.
    """
    problems = Problems(source_of(given).name)
    told = read_settled(given, problems, {one.id for one in payments_of(version)})
    return settle(version, user, told)


def read_settled(
    given: Readable, problems: Problems, known: Container[UUID]
) -> dict[UUID, tuple[Event, str]]:
    """Read what the panel said of payments: payment, state (paid or failed), perhaps reference.

    Rows in the states of who has not heard yet are read over, so that the ledger's own table, with
    some states changed, is such a file. Raises `InputError`: an unknown state, an id that is
    none of the `known`, a payment that stands there twice, no row at all.
    """
    table = open_table(given, WANTED, problems)
    found: dict[UUID, tuple[Event, str]] = {}
    n_rows = 0
    for line, (payment, state, reference), _ in table.rows:
        n_rows += 1
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
        elif key not in known:
            problems.add(
                line,
                "payment",
                f"there is no payment {key} here",
                "Take the table of --output, and check which question set it belongs to.",
            )
        found[key] = (SAID[word], cleaned(reference)[:200])
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no payment in it", "Check that it was saved.")
    problems.raise_if_any()
    return found
