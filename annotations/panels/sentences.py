"""Messages about panels by message code: REST API, import of states, decisions that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotations.sentences import Sentences

PANEL = Sentences(
    {
        "switched_off": "Prolific's interface is switched off here: the operator of this "
        "installation sets CROWDGRADE_PROLIFIC_API (to {address}) and {token} in the server's "
        "environment",
        "no_token": "there is no token of Prolific: set {token} in the environment",
        "bad_token": "the token in {token} holds a character that no token has",
        "bad_id": "{key!r} is no id of Prolific's",
        "address_refused": "{reason}",
        "not_reached": "Prolific cannot be reached at {address}",
        "no_answer": "Prolific did not answer within {seconds:g} s",
        "broken_off": "the connection to Prolific broke ({error})",
        "answer_too_long": "Prolific's answer has more than {most:,} bytes",
        "asked_too_often": lambda wait: (
            "Prolific is asked too often"
            + ("" if wait is None else f" and asks to wait {wait:.0f} s")
        ),
        "failed": "Prolific failed (status {status})",
        "other_status": "Prolific answered with the status {status}",
        "refused": "Prolific refused ({status}): {reason}",
        "other_answer": "Prolific answered with something else than was asked for",
        "no_list": "Prolific answered without a list of submissions",
        "list_changed": "Prolific reports {n:,} submissions and sent {n_given:,}: the list "
        "changed meanwhile; try again",
        "no_bonus_id": "Prolific noted the bonuses but returned no id",
        "no_group_id": "Prolific made the group but returned no id",
        "other_amount_each": "Prolific reports a payment of {amount} each, but {each} was "
        "requested",
        "other_sum_noted": "{panel} noted {noted} hundredths where {wanted} are to be paid; "
        "nothing was paid",
    }
)
"""Errors of a panel's REST API."""


def _format_counts(counts: Mapping[str, int]) -> str:
    """Return numbers of submissions by status as text; "nobody" without any."""
    return ", ".join(f"{n:,} {status}" for status, n in sorted(counts.items())) or "nobody"


def _format_contradiction(here: str, there: str, names: Sequence[str], n: int) -> str:
    """Return the sentence on workers whose status on the panel contradicts the decision."""
    others = f" and {n - len(names):,} more" if n > len(names) else ""
    return (
        f"{n:,} {here} here {'is' if n == 1 else 'are'} {there} on the panel: {', '.join(names)}"
        f"{others}. No list turns that round: change it there, or decide the same here."
    )


REPORTS = Sentences(
    {
        "submissions_in_file": "{n:,} submissions in the file = {n_new:,} new + {n_unchanged:,} "
        "unchanged + {n_strangers:,} of people who did not take part here",
        "took_part": lambda counts: f"Of who took part: {_format_counts(counts)}",
        "did_not_take_part": lambda counts: f"Of who did not: {_format_counts(counts)}",
        "missing": "{n:,} people took part here and are not in the file",
        "columns_left_out": lambda names: f"Columns that are not stored: {', '.join(names)}",
        "warning": "Warning: {warning}",
        "dry_run": "This was a dry run: nothing was stored.",
        "settled_before": "{n:,} people were settled on the panel before ({before} and now {now}, "
        "the first of them). Was this file exported earlier than the last one? Take in the newest "
        "once more then.",
        "contradicted": _format_contradiction,
    }
)
"""Results of imports from a panel, and contradictions between its states and our decisions."""
