"""What a panel said of payments that were sent, from a file: every row or none."""

from __future__ import annotations

from collections.abc import Container
from typing import Any
from uuid import UUID

from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.ledger.bonuses import payments_of, settle
from annotations.models import BonusPayment, QuestionSetVersion

Event = BonusPayment.Event
SAID = {"paid": Event.PAID, "settled": Event.PAID, "failed": Event.FAILED}
OPEN = frozenset({"planned", "confirmed", "sent", "unknown", "cancelled", ""})
WANTED = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("payment", "state")),
    Column("reference", ("reference",), required=False, renamed_by="", any_case=True),
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
            problems.add_code(line, "state", "payment_state_unknown", state=word[:40])
            continue
        try:
            key = UUID(cleaned(payment))
        except ValueError:
            problems.add_code(line, "payment", "payment_id_unreadable", cell=payment[:40])
            continue
        if key in found:
            problems.add_code(line, "payment", "payment_twice")
        elif key not in known:
            problems.add_code(line, "payment", "payment_unknown", payment=str(key))
        found[key] = (SAID[word], cleaned(reference)[:200])
    if not n_rows and not problems.total:
        problems.add_code(None, None, "no_payment_in_file")
    problems.raise_if_any()
    return found
