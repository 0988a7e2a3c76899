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
    HELD_BACK,
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
from annotations.models import PanelFile, QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import contradicted, decided_people

BONUSES, PARTS = "prolific-bonus", "prolific-screen-out"
MONEY = {BONUSES: "bonus", PARTS: "part of the pay"}
"""Lists that are taken once, and what each of their lines is."""


class NoListError(ValueError):
    """Why there is no such list."""


class WhichBatchError(NoListError):
    """It is not known which batch is meant: `why`, and `there`, those that were imported."""

    def __init__(self, why: str, there: Sequence[PanelFile]) -> None:
        self.why = why
        self.there = ", ".join(f"{one.name} ({one.public_id})" for one in there) or "none"
        super().__init__(f"{why}: say which with --batch; there is: {self.there}")


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
        f"{len(ids):,} to approve, by the ids of {of}",
        *_past(lists, rejected=False),
        _rest(lists),
    ]
    return lines_chunks(ids), said


def _rejected(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    lists = _lists(version)
    table = lists.prolific_rejected()
    rows = list(table.rows)
    said = [f"{len(rows):,} to reject", *_past(lists, rejected=True), _rest(lists)]
    return panel_csv_chunks(table.header, rows), said


def _bonuses(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    """Claim what is confirmed when the first piece is asked for: the place can be written to."""
    if wanted.batch is not None:
        return _once_more(version, wanted.batch, "bonuses", of_parts=False)
    there = [one for one in payments_of(version) if one.round != PART]
    before = [one for one in there if one.state != "planned"]
    waiting = confirmed(before)
    n_held = len(waiting.held_back)
    held = f"left out: {n_held:,} {HELD_BACK}"
    if before and not waiting.sendable:
        why = f"; {held}" if n_held else ""
        raise NoListError(f"no confirmed bonus is left to be sent{why}{_again(before)}")
    chunks, said = _taken(version, wanted, BONUSES, expected=bool(waiting.sendable))
    if n_held:
        said.append(held)
    if planned := len(there) - len(before):
        said.append(f"in no list: {planned:,} planned that nobody confirmed (payments --confirm)")
    return chunks, said


def _parts(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    """Claim the parts of the pay that may be sent, as `_bonuses` does."""
    if wanted.batch is not None:
        return _once_more(version, wanted.batch, "parts of the pay", of_parts=True)
    if not parts.to_send(version):
        before = payments_of(version, round_=PART)
        raise NoListError(
            "no confirmed part of the pay is left to be sent: plan them with payments --parts, "
            f"confirm them with payments --parts --confirm{_again(before)}"
        )
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
            raise InputError.single(wanted.name, "somebody else took the list at the same moment")
        said.extend(_told(batch))
        yield from list_of(version, batch)

    return pieces(), said


def _once_more(version: QuestionSetVersion, key: str, noun: str, *, of_parts: bool) -> Made:
    batch = claimed(version, _batch_id(key))
    if not batch.payments or is_part(batch) != of_parts:
        raise NoListError(f"no list of {noun} {key} here")
    said = ["the same list once more: take it to the panel only if nobody has"]
    return list_of(version, batch), [*_told(batch), *said]


def _again(payments: Sequence[Payment]) -> str:
    last = next((one.batch for one in reversed(payments) if one.batch), None)
    return f"; write its list again with --batch {last}" if last else ""


def _told(batch: Batch) -> list[str]:
    currency = batch.payments[0].currency if batch.payments else ""
    noun = "parts of the pay" if is_part(batch) else "bonuses"
    told = [f"{len(batch.payments):,} {noun}, {batch.total} {currency}".rstrip()]
    if batch.payments:
        told.append(f"list {batch.id}")
    n_of_mturk = sum(one.panel == MTURK for one in batch.payments)
    if 0 < n_of_mturk < len(batch.payments):
        told.append(
            f"{n_of_mturk:,} of them are people of Mechanical Turk, whose ids Prolific does not "
            "know: take their lines out, and pay them there"
        )
    return told


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
    told = [f"{n:,} {how}" for how, n in sorted(lists.of_rows.items())]
    return panel_csv_chunks(table.header, rows), [
        f"{len(rows):,} rows: {what}",
        *told,
        _rest(lists),
    ]


def _log(version: QuestionSetVersion, wanted: ListWanted) -> Made:
    table: Table = log_table(version)
    rows = list(table.rows)
    return csv_chunks(table.header, rows), [f"{len(rows):,} decisions"]


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
    said = f"left out: {n:,} whom Prolific has approved or rejected, or who returned or ran out of"
    of_kind = [person for person in lists.decided if person.rejected == rejected]
    return [*([f"{said} time there"] if n else []), *contradicted(of_kind)]


def _rest(lists: PanelLists) -> str:
    n = len(lists.people) - len(lists.decided)
    return f"in no list: {n:,} of whom nothing is decided"


def _batch(lists: PanelLists, wanted: str | None) -> PanelFile | None:
    """Return the batch that is meant; None where none was kept."""
    if wanted is None and len(lists.batches) < 2:
        return next(iter(lists.batches), None)
    found = [one for one in lists.batches if wanted in (one.name, str(one.public_id))]
    if len(found) == 1:
        return found[0]
    why = "several batches were imported" if wanted is None else f"there is no one batch {wanted!r}"
    raise WhichBatchError(why, lists.batches)
