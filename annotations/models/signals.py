"""Writing signals: counts and times of how an answer was written, never what was typed."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Final

from django.db import models
from django.db.models import Q

COUNTERS: Final = (
    *("paste_count", "pasted_characters", "keystrokes", "typed_characters", "deleted_characters"),
    *("blur_count", "away_seconds", "active_seconds"),
)
"""The counters of an answer, in the order of every table; integers from 0."""

ACTIVE_SECONDS: Final = 30
"""Seconds that count as active after a key, a touch, a move or a scroll. The script of the
page has the same number."""

_NONE = reduce(and_, (Q(**{f"{name}__isnull": True}) for name in COUNTERS))
_ALL = reduce(and_, (Q(**{f"{name}__isnull": False}) for name in COUNTERS))


class Signals(models.Model):
    """Base class with the counts of how an answer was typed and pasted; None: not recorded.

    They are evidence for people, and columns of exports. Nothing that grades, ranks, pays, admits
    workers or raises alarms reads them.
    """

    class Counted(models.TextChoices):
        """Whether signals were counted: "" if not, as without a script or from a file."""

        COUNTED = "counted", "counted"
        OFF = "off", "switched off by the worker"

    signals = models.CharField(max_length=7, choices=Counted.choices, blank=True)
    paste_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="How often something was pasted or dropped into it."
    )
    pasted_characters = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many characters that were."
    )
    keystrokes = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Inputs that typed or deleted: a key, a suggested word, a dictated phrase.",
    )
    typed_characters = models.PositiveIntegerField(
        null=True, blank=True, help_text="Characters that came by them."
    )
    deleted_characters = models.PositiveIntegerField(
        null=True, blank=True, help_text="Characters that were taken away again."
    )
    blur_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="How often the page was left for another window or tab."
    )
    away_seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="Seconds until the return."
    )
    active_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text=f"Seconds on the page, each at most {ACTIVE_SECONDS} after something was done.",
    )
    # {page: {counter: number}}: each loaded page counts from 0 and always sends its total, so
    # that a repeated request counts nothing twice. Emptied when the answer is submitted.
    signal_pages = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=(Q(signals="counted") & _ALL) | (Q(signals__in=["", "off"]) & _NONE),
                name="%(class)s_signals_are_whole",
            ),
        ]
