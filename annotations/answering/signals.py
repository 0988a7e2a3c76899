"""Signals of an answer: what the script of its page counted, stored, summed and emptied.

A page that was loaded counts from 0, under a random name of its own, and sends its whole count
with each draft and with the form. So a request that comes twice, late or out of order changes
nothing: of one page the largest counts stay, and the pages of several windows and devices are
added up. What is sent can be made up, as anything that a browser sends; what cannot be read is
left out without a word, for the answer that it came with matters more.
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
"""The name of the field in a draft; in a form the question's id stands behind it."""
LONGEST: Final = 4_000
MOST: Final = 10_000_000
"""The largest count of one page; what is larger is stored as this."""
MOST_PAGES: Final = 200
"""Pages that are told apart for one answer; further ones are not counted."""
PAGE: Final = re.compile(r"[A-Za-z0-9-]{8,36}")

Counts = dict[str, int]
Pages = dict[str, Counts]


@dataclass(frozen=True, slots=True)
class Counted:
    """What is stored of one worker: of how many answers, and the sums over these."""

    answers: int
    sums: Counts


def are_counted(submission: Submission) -> bool:
    """Whether anything is counted of a worker."""
    return submission.version.collection.signals and not submission.signals_off


def can_go_on(stored: Response) -> bool:
    """Whether a page that is loaded now would know all of an answer.

    Not where it was off, and not where some of the text is there without counts, as by a page
    without a script: what is typed after that is a part of it.
    """
    if stored.signals == Response.Counted.COUNTED:
        return True
    return not stored.text and stored.signals != Response.Counted.OFF


def read(sent: str) -> Pages:
    """Return the counts in what a page sent, by the names of pages.

    A page with a count that is missing, no number, or below 0 is left out; fractions are cut off.
    """
    if not sent or len(sent) > LONGEST:
        return {}
    try:
        found = json.loads(sent, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    pages = {name: _counts(value) for name, value in found.items() if PAGE.fullmatch(name)}
    return {name: counts for name, counts in pages.items() if counts is not None}


def merged(stored: Pages, sent: Pages) -> Pages:
    """Return what is known of each page: the largest counts, for they only grow."""
    pages = dict(stored)
    for name, counts in sent.items():
        before = pages.get(name)
        if before is not None:
            pages[name] = {key: max(before.get(key, 0), counts[key]) for key in COUNTERS}
        elif len(pages) < MOST_PAGES:
            pages[name] = counts
    return pages


def note(submission: Submission, sent: Mapping[int, str]) -> None:
    """Add what a page sent, by the key of the question, to the signals of drafts.

    The caller holds a transaction. Nothing is stored of an answer that is not there or was handed
    in, where counting is off, and of one of which it was off before: its counts would lack a part.
    """
    pages = {question: found for question, text in sent.items() if (found := read(text))}
    if not pages or not are_counted(submission):
        return
    drafts = (
        Response.objects.select_for_update(of=("self",))
        .select_related("submission")
        .only("question", "signals", "signal_pages", "submission__signals_off")
        .filter(submission=submission, question__in=pages, state=Response.State.DRAFT)
        .order_by("pk")
    )
    for stored in drafts:
        if stored.submission.signals_off or stored.signals == Response.Counted.OFF:
            continue
        known = merged(stored.signal_pages, pages[stored.question_id])
        if known == stored.signal_pages:
            continue
        sums = {name: sum(counts[name] for counts in known.values()) for name in COUNTERS}
        Response.objects.filter(pk=stored.pk).update(
            signals=Response.Counted.COUNTED, signal_pages=known, **sums
        )


@transaction.atomic
def switch(submission: Submission, *, off: bool) -> None:
    """Stop counting a worker and empty what was counted; or count what they begin from now on."""
    Submission.objects.filter(pk=submission.pk).update(signals_off=off)
    submission.signals_off = off
    if off:
        submission.responses.update(
            signals=Response.Counted.OFF, signal_pages={}, **dict.fromkeys(COUNTERS)
        )


def counted(submission: Submission) -> Counted:
    """Return what is stored of a worker, for their own eyes."""
    found: dict[str, Any] = submission.responses.filter(signals=Response.Counted.COUNTED).aggregate(
        answers=Count("pk"), **{name: Sum(name, default=0) for name in COUNTERS}
    )
    return Counted(found.pop("answers"), found)


def _counts(value: object) -> Counts | None:
    if not isinstance(value, dict):
        return None
    counts = {name: _count(value.get(name)) for name in COUNTERS}
    whole = {name: one for name, one in counts.items() if one is not None}
    return whole if len(whole) == len(COUNTERS) else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return int(min(value, MOST)) if value >= 0 else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
