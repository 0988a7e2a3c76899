"""The lists that a person takes to a panel, in pieces, with what there is to say of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.exchange import InputError
from annotations.exchange.writing.formats import (
    Table,
    csv_chunks,
    lines_chunks,
    panel_csv_chunks,
)
from annotations.ledger.bonuses import Batch, claim, claimed, payments_of
from annotations.ledger.handing_over import lines_of
from annotations.ledger.log import log_table
from annotations.models import PanelFile, QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import decided_people


class NoListError(ValueError):
    """Why there is no such list."""


@dataclass(frozen=True, slots=True)
class ListWanted:
    """Which list, of whom: `batch` is a batch of Mechanical Turk or a list of bonuses.

    `user` is who takes a list of bonuses to the panel; `name` what a refusal calls the file.
    """

    batch: str | None = None
    user: Any = None
    name: str = "the list"


Made = tuple[Iterator[bytes], list[str]]
"""The pieces of a list, and what there is to say of it once all of them were taken."""


def _approved(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    ids = list(lists.prolific_approved())
    of = "submissions" if lists.by_submission else "participants"
    said = [f"{len(ids):,} to approve, by the ids of {of}", *_past(lists), _rest(lists)]
    return lines_chunks(ids), said


def _rejected(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    table = lists.prolific_rejected()
    rows = list(table.rows)
    said = [f"{len(rows):,} to reject", *_past(lists), _rest(lists)]
    return panel_csv_chunks(table.header, rows), said


def _bonuses(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    """Claim what is confirmed when the first piece is asked for: the place can be written to."""
    if wanted.batch is not None:
        batch = claimed(version, _batch_id(wanted.batch))
        if not batch.payments:
            raise NoListError(f"no list of bonuses {wanted.batch} here")
        said = ["the same list once more: take it to the panel only if nobody has"]
        return lines_of(batch), [*_told(batch), *said]
    before = [one for one in payments_of(version) if one.state != "planned"]
    waiting = [one for one in before if one.state == "confirmed"]
    if before and not waiting:
        last = next((one.batch for one in reversed(before) if one.batch), None)
        again = f"; write its list again with --batch {last}" if last else ""
        raise NoListError(f"no confirmed bonus is left to be sent{again}")
    said = []

    def pieces() -> Iterator[bytes]:
        batch = claim(version, wanted.user)
        if waiting and not batch.payments:
            raise InputError.single(wanted.name, "somebody else took the list at the same moment")
        said.extend(_told(batch))
        yield from lines_of(batch)

    return pieces(), said


def _told(batch: Batch) -> list[str]:
    currency = batch.payments[0].currency if batch.payments else ""
    told = f"{len(batch.payments):,} bonuses, {batch.total} {currency}".rstrip()
    return [told, f"list {batch.id}"] if batch.payments else [told]


def _batch_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NoListError(f"{text!r} is no id of a list") from None


def _mturk(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    batch = _batch(lists, wanted.batch)
    table = lists.mturk() if batch is None else lists.batch(batch.public_id)
    assert table is not None
    rows = list(table.rows)
    what = f"the batch {batch.name}" if batch else "assignments or workers that are decided of"
    return panel_csv_chunks(table.header, rows), [f"{len(rows):,} rows: {what}", _rest(lists)]


def _log(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    table: Table = log_table(version)
    rows = list(table.rows)
    return csv_chunks(table.header, rows), [f"{len(rows):,} decisions"]


FORMATS: dict[str, Callable[[QuestionSetVersion, ListWanted], Made]] = {
    "prolific-approve": _approved,
    "prolific-reject": _rejected,
    "prolific-bonus": _bonuses,
    "mturk": _mturk,
    "log": _log,
}


def _lists(version: QuestionSetVersion) -> PanelLists:
    return PanelLists(version.pk, decided_people(version))


def _past(lists: PanelLists) -> list[str]:
    """Say of how many who are decided of the panel takes nothing any more."""
    if not lists.n_past:
        return []
    return [
        f"left out: {lists.n_past:,} whom Prolific has approved or rejected, or who returned or "
        "ran out of time there"
    ]


def _rest(lists: PanelLists) -> str:
    n = len(lists.people) - len(lists.settled)
    return f"in no list: {n:,} of whom nothing is decided"


def _batch(lists: PanelLists, wanted: str | None) -> PanelFile | None:
    """Return the batch that is meant; None where none was kept."""
    if wanted is None and len(lists.batches) < 2:
        return next(iter(lists.batches), None)
    found = [one for one in lists.batches if wanted in (one.name, str(one.public_id))]
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{one.name} ({one.public_id})" for one in lists.batches) or "none"
    why = "several batches were imported" if wanted is None else f"there is no one batch {wanted!r}"
    raise NoListError(f"{why}: say which with --batch; there is: {named}")
