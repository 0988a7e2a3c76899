"""Writing signals of an answer (counts by the page's script): parse, store, sum and delete them.

Each loaded page counts from 0 under a random name, and sends its whole counts with each draft and
with the form. Of each page the largest counts are stored, so a request that arrives twice, late or
out of order does no harm. The pages of several windows and devices are summed. Counts can be
forged, like anything that a browser sends. Unreadable counts are ignored without an error, because
the answer that comes with them matters more.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from django.db import transaction
from django.db.models import Count, Sum

from annotations.models import COUNTERS, Response, Submission

FIELD: Final = "signals"
"""Name of the form field in a draft; in a form "-" and the question's id follow."""
MAX_LENGTH: Final = 4_000
MAX_COUNT: Final = 10_000_000
"""The largest count of one page; larger counts are stored as this."""
MAX_PAGES: Final = 200
"""Most pages stored for one answer; further ones are not counted."""
PAGE_NAME: Final = re.compile(r"[A-Za-z0-9-]{8,36}")

Counts = dict[str, int]
Pages = dict[str, Counts]


@dataclass(frozen=True, slots=True)
class SignalTotals:
    """Sums of a worker's writing signals (such as pastes), and the number of counted answers."""

    answers: int
    sums: Counts


def are_signals_counted(submission: Submission) -> bool:
    """Return whether writing signals are counted for a submission."""
    return submission.version.collection.signals and not submission.signals_off


def can_count_whole_answer(stored: Response) -> bool:
    """Return whether writing signals counted from now on would cover the whole answer.

    False if counting was off, or if a part of the text has no counts. A page without a script, for
    example, sends none, and later counts would cover only the rest.
    """
    if stored.signals == Response.Counted.COUNTED:
        return True
    return not stored.text and stored.signals != Response.Counted.OFF


def parse_signal_counts(sent: str) -> Pages:
    """Return posted counts of writing signals by id of the page load; {} if they are unreadable.

    A page with a count that is missing, negative or not a number is left out. Fractions are cut
    off.
    """
    if not sent or len(sent) > MAX_LENGTH:
        return {}
    try:
        data = json.loads(sent, parse_constant=_refuse_constant)
    # `RecursionError`: the JSON may be nested too deeply.
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    pages = {
        name: _parse_page_counts(value) for name, value in data.items() if PAGE_NAME.fullmatch(name)
    }
    return {name: counts for name, counts in pages.items() if counts is not None}


def merge_page_counts(stored: Pages, sent: Pages) -> Pages:
    """Return the counts of each page load: of each counter the larger of stored and sent value."""
    pages = dict(stored)
    for name, counts in sent.items():
        before = pages.get(name)
        if before is not None:
            pages[name] = {key: max(before.get(key, 0), counts[key]) for key in COUNTERS}
        elif len(pages) < MAX_PAGES:
            pages[name] = counts
    return pages


def store_signal_counts(submission: Submission, sent: Mapping[int, str]) -> None:
    """Merge posted writing signals (JSON by question key) into the worker's draft answers.

    Call it in a transaction. Missing and submitted answers are ignored, and so are answers for
    which counting is or was off: their counts would be incomplete.
    """
    pages = {
        question: counts for question, text in sent.items() if (counts := parse_signal_counts(text))
    }
    if not pages or not are_signals_counted(submission):
        return
    drafts = (
        Response.objects.select_for_update(of=("self",))
        .select_related("submission")
        .only("question", "signals", "signal_pages", "submission__signals_off")
        .filter(submission=submission, question__in=pages, state=Response.State.DRAFT)
        .order_by("pk")  # one lock order, so that two requests of a worker cannot deadlock
    )
    for stored in drafts:
        if stored.submission.signals_off or stored.signals == Response.Counted.OFF:
            continue
        merged = merge_page_counts(stored.signal_pages, pages[stored.question_id])
        if merged == stored.signal_pages:
            continue
        sums = {name: sum(counts[name] for counts in merged.values()) for name in COUNTERS}
        Response.objects.filter(pk=stored.pk).update(
            signals=Response.Counted.COUNTED, signal_pages=merged, **sums
        )


@transaction.atomic
def switch_signal_counting(submission: Submission, *, off: bool) -> None:
    """Count writing signals in later answers, or (`off`) stop counting and delete the counts."""
    Submission.objects.filter(pk=submission.pk).update(signals_off=off)
    submission.signals_off = off
    if off:
        submission.responses.update(
            signals=Response.Counted.OFF, signal_pages={}, **dict.fromkeys(COUNTERS)
        )


def load_signal_totals(submission: Submission) -> SignalTotals:
    """Return the sums of a submission's writing signals, which its worker can see."""
    sums: dict[str, Any] = submission.responses.filter(signals=Response.Counted.COUNTED).aggregate(
        answers=Count("pk"), **{name: Sum(name, default=0) for name in COUNTERS}
    )
    return SignalTotals(sums.pop("answers"), sums)


def _parse_page_counts(value: object) -> Counts | None:
    """Return the signal counts of one page load; None if a count is missing or invalid."""
    if not isinstance(value, dict):
        return None
    counts = {name: _parse_count(value.get(name)) for name in COUNTERS}
    valid = {name: count for name, count in counts.items() if count is not None}
    return valid if len(valid) == len(COUNTERS) else None


def _parse_count(value: object) -> int | None:
    """Return a JSON value as a count, cut off at an upper limit; None if it is not a count."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return int(min(value, MAX_COUNT)) if value >= 0 else None


def _refuse_constant(constant: str) -> NoReturn:
    """Raise `ValueError` for NaN and Infinity, which Python's JSON parser accepts."""
    raise ValueError(constant)
