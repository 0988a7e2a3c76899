"""The lists that a person takes to a panel, in pieces, with what there is to say of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.exchange import InputError
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.writing.formats import (
    Table,
    csv_chunks,
    lines_chunks,
    panel_csv_chunks,
)
from annotations.ledger import parts
from annotations.ledger.bonuses import (
    PART,
    Batch,
    NothingToSendError,
    Payment,
    claim,
    claimed,
    confirmed,
    payments_of,
)
from annotations.ledger.handing_over import lines_of
from annotations.ledger.log import log_table
from annotations.ledger.sentences import LISTS
from annotations.models import PanelFile, QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import contradicted, decided_people
from annotations.sentences import CodedError

BONUSES, PARTS = "prolific-bonus", "prolific-screen-out"
MONEY = {BONUSES: "bonus", PARTS: "part of the pay"}
"""Lists that are taken once, and what each of their lines is."""


class NoListError(CodedError, ValueError):
    """Why there is no such list."""

    sentences = LISTS


class WhichBatchError(NoListError):
    """It is not known which batch is meant: `why`, and `there`, those that were imported.

    `reason` is the code of why.
    """

    def __init__(self, reason: str, there: Sequence[PanelFile], **values: Any) -> None:
        self.reason = reason
        self.why = LISTS.text(reason, **values)
        self.there = ", ".join(f"{one.name} ({one.public_id})" for one in there) or "none"
        super().__init__("which_batch", why=self.why, there=self.there)


@dataclass(frozen=True, slots=True)
class ListWanted:
    """Which list, of whom: `batch` is a batch of Mechanical Turk or a list of bonuses or parts.

    `user` is who takes a list of money to the panel; `name` what a refusal calls the file.
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
    said = [
        LISTS.text("to_approve", n=len(ids), ids=of),
        *_past(lists, rejected=False),
        _rest(lists),
    ]
    return lines_chunks(ids), said


def _rejected(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    table = lists.prolific_rejected()
    rows = list(table.rows)
    said = [LISTS.text("to_reject", n=len(rows)), *_past(lists, rejected=True), _rest(lists)]
    return panel_csv_chunks(table.header, rows), said


def _bonuses(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    """Claim what is confirmed when the first piece is asked for: the place can be written to."""
    if wanted.batch is not None:
        return _once_more(version, wanted.batch, "bonuses", of_parts=False)
    there = [one for one in payments_of(version) if one.round != PART]
    before = [one for one in there if one.state != "planned"]
    waiting = confirmed(before)
    n_held = len(waiting.held_back)
    if before and not waiting.sendable:
        raise NoListError("no_bonus_left", n_held=n_held, batch=_last_batch(before))
    chunks, said = _taken(version, wanted, BONUSES, expected=bool(waiting.sendable))
    if n_held:
        said.append(LISTS.text("held_back", n=n_held))
    if planned := len(there) - len(before):
        said.append(LISTS.text("not_confirmed", n=planned))
    return chunks, said


def _parts(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    """Claim the parts of the pay that may be sent, as `_bonuses` does."""
    if wanted.batch is not None:
        return _once_more(version, wanted.batch, "parts of the pay", of_parts=True)
    if not parts.to_send(version):
        before = payments_of(version, round_=PART)
        raise NoListError("no_part_left", batch=_last_batch(before))
    return _taken(version, wanted, PARTS, expected=True)


def take(version: QuestionSetVersion, user: Any, name: str) -> Batch:
    """Claim what a list of `MONEY` holds: nobody else gets any of it. Raises NothingToSendError."""
    batch = _claimed(version, user, name)
    if not batch.payments:
        raise NothingToSendError
    return batch


def list_of(version: QuestionSetVersion, batch: Batch) -> Iterator[bytes]:
    """Yield the lines of the list of a batch."""
    return lines_of(batch, parts.panel_ids(version, batch) if is_part(batch) else None)


def is_part(batch: Batch) -> bool:
    """Return whether a batch holds parts of the pay, and not bonuses."""
    return bool(batch.payments) and batch.payments[0].round == PART


def _claimed(version: QuestionSetVersion, user: Any, name: str) -> Batch:
    return parts.claim_parts(version, user) if name == PARTS else claim(version, user)


def _taken(version: QuestionSetVersion, wanted: ListWanted, name: str, *, expected: bool) -> Made:
    said: list[str] = []

    def pieces() -> Iterator[bytes]:
        batch = _claimed(version, wanted.user, name)
        if expected and not batch.payments:
            raise InputError.single(wanted.name, LISTS.text("taken_meanwhile"))
        said.extend(_told(batch))
        yield from list_of(version, batch)

    return pieces(), said


def _once_more(version: QuestionSetVersion, key: str, noun: str, *, of_parts: bool) -> Made:
    batch = claimed(version, _batch_id(key))
    if not batch.payments or is_part(batch) != of_parts:
        raise NoListError("no_such_list", noun=noun, key=key)
    return list_of(version, batch), [*_told(batch), LISTS.text("once_more")]


def _last_batch(payments: Sequence[Payment]) -> str:
    """Return the id of the list that was taken last, "" if none was."""
    return next((str(one.batch) for one in reversed(payments) if one.batch), "")


def _told(batch: Batch) -> list[str]:
    currency = batch.payments[0].currency if batch.payments else ""
    noun = "parts of the pay" if is_part(batch) else "bonuses"
    values = {"noun": noun, "total": batch.total, "currency": currency}
    told = [LISTS.text("payments", n=len(batch.payments), **values)]
    if batch.payments:
        told.append(LISTS.text("list_id", key=batch.id))
    n_of_mturk = sum(one.panel == MTURK for one in batch.payments)
    if 0 < n_of_mturk < len(batch.payments):
        told.append(LISTS.text("of_mturk", n=n_of_mturk))
    return told


def _batch_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NoListError("bad_list_id", key=text) from None


def _mturk(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    batch = _batch(lists, wanted.batch)
    table = lists.mturk() if batch is None else lists.batch(batch.public_id)
    assert table is not None
    rows = list(table.rows)
    what = f"the batch {batch.name}" if batch else "assignments or workers that are decided of"
    marked = (LISTS.text(f"rows_{how}", n=n) for how, n in lists.of_rows.items())
    told = sorted(marked, key=lambda said: said.partition(" ")[2])
    return panel_csv_chunks(table.header, rows), [
        LISTS.text("rows", n=len(rows), what=what),
        *told,
        _rest(lists),
    ]


def _log(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    table: Table = log_table(version)
    rows = list(table.rows)
    return csv_chunks(table.header, rows), [LISTS.text("decisions", n=len(rows))]


FORMATS: dict[str, Callable[[QuestionSetVersion, ListWanted], Made]] = {
    "prolific-approve": _approved,
    "prolific-reject": _rejected,
    BONUSES: _bonuses,
    PARTS: _parts,
    "mturk": _mturk,
    "log": _log,
}


def _lists(version: QuestionSetVersion) -> PanelLists:
    return PanelLists(version.pk, decided_people(version))


def _past(lists: PanelLists, *, rejected: bool) -> list[str]:
    """Say of how many of a list the panel takes nothing any more, and what stands otherwise."""
    n = lists.n_past(rejected=rejected)
    of_kind = [person for person in lists.decided if person.rejected == rejected]
    return [*([LISTS.text("settled_on_panel", n=n)] if n else []), *contradicted(of_kind)]


def _rest(lists: PanelLists) -> str:
    n = len(lists.people) - len(lists.decided)
    return LISTS.text("undecided", n=n)


def _batch(lists: PanelLists, wanted: str | None) -> PanelFile | None:
    """Return the batch that is meant; None where none was kept."""
    if wanted is None and len(lists.batches) < 2:
        return next(iter(lists.batches), None)
    found = [one for one in lists.batches if wanted in (one.name, str(one.public_id))]
    if len(found) == 1:
        return found[0]
    if wanted is None:
        raise WhichBatchError("several_batches", lists.batches)
    raise WhichBatchError("no_such_batch", lists.batches, name=wanted)
