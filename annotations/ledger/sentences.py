"""Messages about decisions and payments by message code: refusals, reports and lists."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from annotations.sentences import Sentences

_HELD_BACK = (
    "whose work was rejected after the bonus was planned: it is in no list. Approve or open "
    "that work again; or take the list of the others first, and then cancel what is left"
)
WHY_PART = {
    "screened_out": "did not pass the practice",
    "failed_checks": "failed the attention checks",
}
"""Why a worker gets a partial payment, by its kind."""


def _format_amount(amount: Decimal, currency: str) -> str:
    """Return an amount with its currency as text, such as "1.50 GBP"."""
    return f"{amount} {currency}".rstrip()


def _format_counts(kinds: Mapping[str, int]) -> str:
    """Return numbers by kind as text, such as "2 reject, 14 approve"."""
    return ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items()))


def _explain_no_bonus_left(n_held: int, batch: str) -> str:
    """Return the message that no confirmed bonus can be sent."""
    held = f"; left out: {n_held:,} {_HELD_BACK}" if n_held else ""
    return f"no confirmed bonus is left to be sent{held}{_suggest_repeating_list(batch)}"


def _suggest_repeating_list(batch: str) -> str:
    """Return the hint that the list of a batch can be written again; "" without a batch."""
    return f"; write its list again with --batch {batch}" if batch else ""


PAYMENTS = Sentences(
    {
        "other_amount": "{name} has a bonus of {amount} in the round {round} already, which is "
        "{state}",
        "other_currency": "the round {round} has payments in {there}, and the collection pays in "
        "{now}: take another round, or cancel those first",
        "several_currencies": "the payments are in several currencies ({currencies}), and have no "
        "common sum: name a round, or cancel those of one currency",
        "round_too_long": "a round's name has 1 to {most} characters",
        "round_of_parts": "{name!r} is the name of parts of the pay: choose another name",
        "no_payment": "there is no payment {payment} here",
        "settled_otherwise": "the payment {payment} is {state}, and cannot be {event}",
        "other_total": "you entered {said}, but the total is {total}: check it again",
        "several_amounts": "the parts differ, and one request pays one amount",
        "refused_by_panel": "{reason}",
        "withdrawn": "{worker} withdrew what they wrote",
        "decided_meanwhile": "{by} decided meanwhile",
        "which_study": lambda studies: (
            "name the panel's study ("
            + (
                f"people came from several: {', '.join(studies[:5])}"
                if studies
                else "no study is known"
            )
            + ")"
        ),
    }
)
"""Errors about payments and decisions."""

LISTS = Sentences(
    {
        "no_bonus_left": _explain_no_bonus_left,
        "no_part_left": lambda batch: (
            "no confirmed part of the pay is left to be sent: plan them with payments --parts, "
            f"confirm them with payments --parts --confirm{_suggest_repeating_list(batch)}"
        ),
        "taken_meanwhile": "another user took the list at the same moment",
        "no_such_list": "no list of {noun} {key} here",
        "bad_list_id": "{key!r} is no id of a list",
        "which_batch": "{why}: choose one with --batch: {there}",
        "several_batches": "several batches were imported",
        "no_such_batch": "there is no one batch {name!r}",
        "to_approve": "{n:,} to approve, by the ids of {ids}",
        "to_reject": "{n:,} to reject",
        "settled_on_panel": "left out: {n:,} that Prolific has approved or rejected, or that "
        "returned or ran out of time there",
        "undecided": "in no list: {n:,} without a decision",
        "held_back": f"left out: {{n:,}} {_HELD_BACK}",
        "not_confirmed": "in no list: {n:,} planned but not confirmed (payments --confirm)",
        "payments": lambda n, noun, total, currency: (
            f"{n:,} {noun}, {_format_amount(total, currency)}"
        ),
        "list_id": "list {key}",
        "of_mturk": "{n:,} of them are people of Mechanical Turk, whose ids Prolific does not "
        "know: take their lines out, and pay them there",
        "once_more": "the same list once more: take it to the panel only if this has not "
        "happened yet",
        "rows": "{n:,} rows: {what}",
        "rows_settled": "{n:,} approved or rejected there before: both cells are empty",
        "rows_rejected": "{n:,} rejected here",
        "rows_approved": "{n:,} approved here",
        "rows_marked_in_file": "{n:,} undecided here, with the mark that the file came with",
        "rows_undecided": "{n:,} undecided",
        "decisions": "{n:,} decisions",
    }
)
"""Errors and notes about lists for a panel."""

DECISIONS = Sentences(
    {
        "decisions_in_file": lambda n, kinds, n_new, n_unchanged: (
            f"{n:,} decisions in the file ({_format_counts(kinds)}) = {n_new:,} new + "
            f"{n_unchanged:,} unchanged"
        ),
        "bonuses_in_file": "{n:,} bonuses in the file, {total} in all = {n_new:,} new and "
        "confirmed + {n_known:,} that were there already",
        "bonus_of_rejected": "of who is rejected, {n:,} have a bonus all the same, which is "
        "confirmed: if it is a slip, cancel the round before its list is taken (payments --cancel)",
        "held_bonus_of_rejected": "of who is rejected, {n:,} have a confirmed bonus, " + _HELD_BACK,
    }
)
"""Results of an import of decisions."""

SENDING = Sentences(
    {
        "held_back": f"{{n:,}} {_HELD_BACK}",
        "of_mturk": "{n:,} people of Mechanical Turk, whose ids it does not know: pay them there",
        "left_out": "left out: {said}",
        "no_bonus_left": "no confirmed bonus is left to be sent",
        "no_part_left": "no confirmed part of the pay is left to be sent",
        "nothing_left": "nothing was left",
        "bonuses_would_be_paid": lambda n, total, currency, study: (
            f"{n:,} bonuses, {_format_amount(total, currency)}, and the panel's fee, would be paid "
            f"to people of the study {study}. Nothing was sent. To pay, repeat the command with "
            f"--total "
            f"{total}"
        ),
        "bonuses_paid": lambda n, total, currency: (
            f"{n:,} bonuses, {_format_amount(total, currency)}: the panel has taken them on"
        ),
        "parts_would_be_paid": lambda n, kind, total, currency, study: (
            f"{n:,} who {WHY_PART[kind]}, {_format_amount(total, currency)}, and the panel's fee, "
            f"would be {'screened out and paid' if kind == 'screened_out' else 'paid as a bonus'} "
            f"in the study {study}. Nothing was sent. To pay, repeat the command with --total "
            f"{total}"
        ),
        "parts_paid": lambda n, kind, total, currency: (
            f"{n:,} who {WHY_PART[kind]}, {_format_amount(total, currency)}: the panel has taken "
            "them on"
        ),
        "parts_without_id": "left out: {n:,} whose submission's id is not known here: import "
        "the statuses of submissions first, or use a list",
        "nothing_paid": "nothing was paid: {reason}",
        "not_known": lambda reference, reason: (
            f"whether it was paid is not known{f' (list {reference})' if reference else ''}: "
            f"{reason}. It is not sent again automatically: check the panel, then enter the "
            f"result with --settle"
        ),
        "decisions_to_bring": "{n_approved:,} approvals and {n_rejected:,} rejections to bring to "
        "the panel",
        "decisions_brought": "{n_approved:,} approvals and {n_rejected:,} rejections brought to "
        "the panel",
        "decisions_without_id": "left out: {n:,} whose submission's id is not known here: "
        "import the statuses of submissions first",
        "decisions_past": "left out: {n:,} that the panel no longer accepts",
        "rejections_failed": "{n:,} rejections did not get there",
    }
)
"""Results of sending payments and decisions through a panel's REST API."""

PARTS = Sentences(
    {
        "owed": lambda n, kind, amount, currency: (
            f"{n:,} who {WHY_PART[kind]}: {_format_amount(amount, currency)} each"
        ),
        "nobody_owed": "no worker is left to plan a part of the pay for",
        "without_amount": "left out: {n:,} without a part of the pay in the settings",
        "decided": "left out: {n:,} already approved or rejected",
        "settled": "left out: {n:,} settled by the panel",
        "there": "left out: {n:,} who have one already",
        "status_unknown": "Warning: of {n:,} of them the status on the panel is not known. If "
        "your study there pays by the code itself, first import the statuses (import_statuses).",
        "planned": lambda n, total, currency: (
            f"{n:,} planned, {_format_amount(total, currency)} in all; a person confirms them with "
            "--parts --confirm"
        ),
        "rule_or_round": "parts of the pay have neither rule nor round",
        "increase_places": "--increase-places goes with --parts --send",
    }
)
"""Results of planning partial payments."""
