"""Import of the panel's report on sent payments: all rows of a file or none."""

from __future__ import annotations

from collections.abc import Container
from typing import Any
from uuid import UUID

from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.ledger.bonuses import load_payments, store_panel_reports
from annotations.models import BonusPayment, QuestionSetVersion

Event = BonusPayment.Event
EVENTS = {"paid": Event.PAID, "settled": Event.PAID, "failed": Event.FAILED}
"""The event that each state in a file stands for."""
IGNORED_STATES = frozenset({"planned", "confirmed", "sent", "unknown", "cancelled", ""})
"""States of payments without a report; their rows are skipped."""
FILE_COLUMNS = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("payment", "state")),
    Column("reference", ("reference",), required=False, renamed_by="", any_case=True),
)


def import_panel_reports(
    version: QuestionSetVersion, user: Any, source: Readable
) -> tuple[int, int]:
    """Import a panel's report on sent payments; return the numbers of new and known rows.

    Raises `InputError` as `read_panel_reports` does, also for a payment of another version.
    """
    problems = Problems(make_source(source).name)
    reports = read_panel_reports(
        source, problems, {payment.id for payment in load_payments(version)}
    )
    return store_panel_reports(version, user, reports)


def read_panel_reports(
    source: Readable, problems: Problems, known: Container[UUID]
) -> dict[UUID, tuple[Event, str]]:
    """Read a file of a panel's reports on payments; return (event, reference) by payment id.

    The columns are payment, state and reference.

    Rows in `IGNORED_STATES` are skipped. The ledger's own table, with some states changed, is
    therefore a valid file. Raises `InputError` for an unknown state, an id outside `known`, a
    repeated payment, or a file without rows.
    """
    table = open_table(source, FILE_COLUMNS, problems)
    reports: dict[UUID, tuple[Event, str]] = {}
    n_rows = 0
    for line, (payment, state, reference), _ in table.rows:
        n_rows += 1
        state_name = normalise_text(state).casefold()
        # Before the id is read: a row without a report may hold anything else.
        if state_name in IGNORED_STATES:
            continue
        if state_name not in EVENTS:
            problems.add_code(line, "state", "payment_state_unknown", state=state_name[:40])
            continue
        try:
            key = UUID(normalise_text(payment))
        except ValueError:
            problems.add_code(line, "payment", "payment_id_unreadable", cell=payment[:40])
            continue
        if key in reports:
            problems.add_code(line, "payment", "payment_twice")
        elif key not in known:
            problems.add_code(line, "payment", "payment_unknown", payment=str(key))
        # Stored after an error, too: a second row of the payment is then reported as well. The
        # reference is cut to the length of the column.
        reports[key] = (EVENTS[state_name], normalise_text(reference)[:200])
    if not n_rows and not problems.total:
        problems.add_code(None, None, "no_payment_in_file")
    problems.raise_if_any()
    return reports
