"""Lists that a user uploads to a panel, written in chunks, with notes about each list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.exchange import InputError
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.writing.formats import Table, write_csv, write_lines, write_panel_csv
from annotations.ledger import parts
from annotations.ledger.bonuses import (
    PART,
    Payment,
    PaymentBatch,
    claim_payments,
    load_claimed_batch,
    load_payments,
    split_confirmed_payments,
)
from annotations.ledger.decision_log import build_decision_log_table
from annotations.ledger.errors import NothingToSendError
from annotations.ledger.payment_lists import format_payment_lines
from annotations.ledger.sentences import LISTS
from annotations.models import PanelFile, QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import describe_contradictions, load_submissions_with_decisions
from annotations.sentences import CodedError
from annotations.web.downloads import build_file_name

BONUSES, PARTS = "prolific-bonus", "prolific-screen-out"
PAYMENT_LISTS = {BONUSES: "bonus", PARTS: "part of the pay"}
"""Lists of payments, each written once, and the noun for one of their lines."""


class NoListError(CodedError, ValueError):
    """Error: the requested list does not exist; the message gives the reason."""

    sentences = LISTS


class WhichBatchError(NoListError):
    """Error: several batches or none match; `why` is the reason, `there` lists all batches.

    `reason` is the message code of `why`.
    """

    def __init__(self, reason: str, there: Sequence[PanelFile], **values: Any) -> None:
        self.reason = reason
        self.why = LISTS.text(reason, **values)
        self.there = ", ".join(f"{file.name} ({file.public_id})" for file in there) or "none"
        super().__init__("which_batch", why=self.why, there=self.there)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Parameters of a requested list: which batch, acting user, name in error messages.

    `batch` is a batch of Mechanical Turk, or the id of a list of payments. `user` takes a list of
    payments to the panel; `name` is the file's name in error messages.
    """

    batch: str | None = None
    user: Any = None
    name: str = "the list"


ListOutput = tuple[Iterator[bytes], list[str]]
"""The chunks of a list, and notes about it; the notes are complete after the last chunk."""


def _build_approval_list(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return the list of ids to approve on Prolific, one per line, and notes about it."""
    lists = _load_lists(version)
    ids = list(lists.list_prolific_approvals())
    noun = "submissions" if lists.by_submission else "participants"
    notes = [
        LISTS.text("to_approve", n=len(ids), ids=noun),
        *_describe_settled(lists, rejected=False),
        _describe_undecided(lists),
    ]
    return write_lines(ids), notes


def _build_rejection_list(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return the list of rejections for Prolific, with category and message, and notes about it."""
    lists = _load_lists(version)
    table = lists.build_prolific_rejections()
    rows = list(table.rows)
    notes = [
        LISTS.text("to_reject", n=len(rows)),
        *_describe_settled(lists, rejected=True),
        _describe_undecided(lists),
    ]
    return write_panel_csv(table.header, rows), notes


def _build_bonus_list(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return the list of confirmed bonuses and notes; reading the list reserves the payments.

    A file that cannot be opened for writing thus claims nothing.
    """
    if request.batch is not None:
        return _build_earlier_payment_list(version, request.batch, "bonuses", of_parts=False)
    bonuses = [payment for payment in load_payments(version) if payment.round != PART]
    past_planning = [payment for payment in bonuses if payment.state != "planned"]
    sendable, held_back = split_confirmed_payments(past_planning)
    n_held = len(held_back)
    if past_planning and not sendable:
        raise NoListError("no_bonus_left", n_held=n_held, batch=_find_last_batch_id(past_planning))
    chunks, notes = _build_new_payment_list(version, request, BONUSES, expected=bool(sendable))
    if n_held:
        notes.append(LISTS.text("held_back", n=n_held))
    if planned := len(bonuses) - len(past_planning):
        notes.append(LISTS.text("not_confirmed", n=planned))
    return chunks, notes


def _build_part_list(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return the list of partial payments and notes; reading the list reserves the payments."""
    if request.batch is not None:
        return _build_earlier_payment_list(
            version, request.batch, "parts of the pay", of_parts=True
        )
    if not parts.select_sendable_parts(version):
        payments = load_payments(version, round_=PART)
        raise NoListError("no_part_left", batch=_find_last_batch_id(payments))
    return _build_new_payment_list(version, request, PARTS, expected=True)


def claim_payments_of_list(version: QuestionSetVersion, user: Any, name: str) -> PaymentBatch:
    """Reserve the payments of a list (bonuses or partial payments), each only once; return them.

    Raises NothingToSendError.
    """
    batch = _claim_batch(version, user, name)
    if not batch.payments:
        raise NothingToSendError
    return batch


def format_payment_list(version: QuestionSetVersion, batch: PaymentBatch) -> Iterator[bytes]:
    """Yield the lines of a panel's payment list for the payments of a batch."""
    return format_payment_lines(
        batch, parts.load_panel_ids(version, batch) if has_parts(batch) else None
    )


def has_parts(batch: PaymentBatch) -> bool:
    """Return whether a batch has partial payments, not bonuses; False for an empty batch."""
    return bool(batch.payments) and batch.payments[0].round == PART


def _claim_batch(version: QuestionSetVersion, user: Any, name: str) -> PaymentBatch:
    """Reserve the payments of the list `name` for sending; return them as a batch."""
    return parts.claim_parts(version, user) if name == PARTS else claim_payments(version, user)


def _build_new_payment_list(
    version: QuestionSetVersion, request: ListRequest, name: str, *, expected: bool
) -> ListOutput:
    """Return a list of payments and notes; reading its first chunk reserves the payments.

    With `expected`, raises InputError then if another person has claimed them all meanwhile.
    """
    notes: list[str] = []

    def read_chunks() -> Iterator[bytes]:
        """Reserve the payments, then yield the lines of the list."""
        # Runs at the first chunk, when the caller has opened the file it writes to.
        batch = _claim_batch(version, request.user, name)
        if expected and not batch.payments:
            raise InputError.single(request.name, LISTS.text("taken_meanwhile"))
        notes.extend(_describe_batch(batch))
        yield from format_payment_list(version, batch)

    return read_chunks(), notes


def _build_earlier_payment_list(
    version: QuestionSetVersion, key: str, noun: str, *, of_parts: bool
) -> ListOutput:
    """Return the list of an earlier batch again, and notes; `NoListError` if unknown."""
    # Writing a list again claims nothing: the payments were claimed when it was first written.
    batch = load_claimed_batch(version, _parse_batch_id(key))
    if not batch.payments or has_parts(batch) != of_parts:
        raise NoListError("no_such_list", noun=noun, key=key)
    return format_payment_list(version, batch), [*_describe_batch(batch), LISTS.text("once_more")]


def _find_last_batch_id(payments: Sequence[Payment]) -> str:
    """Return the id of the batch of the newest sent payment; "" if none was sent."""
    return next((str(payment.batch) for payment in reversed(payments) if payment.batch), "")


def _describe_batch(batch: PaymentBatch) -> list[str]:
    """Return notes about a batch: number and sum, id, and workers unknown to Prolific."""
    currency = batch.payments[0].currency if batch.payments else ""
    noun = "parts of the pay" if has_parts(batch) else "bonuses"
    values = {"noun": noun, "total": batch.total, "currency": currency}
    notes = [LISTS.text("payments", n=len(batch.payments), **values)]
    if batch.payments:
        notes.append(LISTS.text("list_id", key=batch.id))
    n_mturk = sum(payment.panel == MTURK for payment in batch.payments)
    if 0 < n_mturk < len(batch.payments):
        notes.append(LISTS.text("of_mturk", n=n_mturk))
    return notes


def _parse_batch_id(text: str) -> UUID:
    """Return a text as the id of a list; raise `NoListError` if it is not an id."""
    try:
        return UUID(text)
    except ValueError:
        raise NoListError("bad_list_id", key=text) from None


def _build_mturk_list(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return a Mechanical Turk batch file with its decisions filled in, and notes about it."""
    lists = _load_lists(version)
    batch = _find_mturk_batch(lists, request.batch)
    table = lists.build_mturk_table() if batch is None else lists.build_batch_table(batch.public_id)
    assert table is not None
    rows = list(table.rows)
    content = f"the batch {batch.name}" if batch else "assignments or workers that are decided of"
    counted = (LISTS.text(f"rows_{outcome}", n=n) for outcome, n in lists.of_rows.items())
    notes = sorted(counted, key=lambda note: note.partition(" ")[2])
    return write_panel_csv(table.header, rows), [
        LISTS.text("rows", n=len(rows), what=content),
        *notes,
        _describe_undecided(lists),
    ]


def _build_decision_log(version: QuestionSetVersion, request: ListRequest) -> ListOutput:
    """Return all decisions about a version's workers as CSV, and a note about them."""
    table: Table = build_decision_log_table(version)
    rows = list(table.rows)
    return write_csv(table.header, rows), [LISTS.text("decisions", n=len(rows))]


FORMATS: dict[str, Callable[[QuestionSetVersion, ListRequest], ListOutput]] = {
    "prolific-approve": _build_approval_list,
    "prolific-reject": _build_rejection_list,
    BONUSES: _build_bonus_list,
    PARTS: _build_part_list,
    "mturk": _build_mturk_list,
    "log": _build_decision_log,
}
"""The function that builds each list, by the name of its format."""

EXTENSIONS = {"prolific-approve": "txt"}
"""The extension of a list's file; of all others it is csv."""


def build_list_name(version: QuestionSetVersion, name: str) -> str:
    """Return the file name of a downloaded list, without its extension."""
    return build_file_name(version.question_set.name, f"version {version.number}", name)


def _load_lists(version: QuestionSetVersion) -> PanelLists:
    """Return the decisions on a version's workers as files for panels."""
    return PanelLists(version.pk, load_submissions_with_decisions(version))


def _describe_settled(lists: PanelLists, *, rejected: bool) -> list[str]:
    """Return notes on submissions that the panel settled, and on contradictory decisions."""
    n = lists.count_settled_workers(rejected=rejected)
    same_decision = [person for person in lists.decided if person.rejected == rejected]
    return [
        *([LISTS.text("settled_on_panel", n=n)] if n else []),
        *describe_contradictions(same_decision),
    ]


def _describe_undecided(lists: PanelLists) -> str:
    """Return a note with the number of workers without a decision."""
    n = len(lists.people) - len(lists.decided)
    return LISTS.text("undecided", n=n)


def _find_mturk_batch(lists: PanelLists, name: str | None) -> PanelFile | None:
    """Return the batch file with this name or id, by default the only one; None without any.

    Raises WhichBatchError if there are several or none matches.
    """
    if name is None and len(lists.batches) < 2:
        return next(iter(lists.batches), None)
    # By id as well, because names are not unique.
    matches = [file for file in lists.batches if name in (file.name, str(file.public_id))]
    if len(matches) == 1:
        return matches[0]
    if name is None:
        raise WhichBatchError("several_batches", lists.batches)
    raise WhichBatchError("no_such_batch", lists.batches, name=name)
