"""How an answer came about, counted where it was written: how much and how long, never what."""

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
"""What is counted of an answer, in the order of every table; whole numbers from 0."""

ACTIVE_SECONDS: Final = 30
"""How long somebody counts as active after a key, a touch, a move or a scroll. The script of the
page knows it too."""

_NONE = reduce(and_, (Q(**{f"{name}__isnull": True}) for name in COUNTERS))
_ALL = reduce(and_, (Q(**{f"{name}__isnull": False}) for name in COUNTERS))


class Signals(models.Model):
    """The counters of an answer; all None where nobody counted, which is never a zero.

    They are evidence for people and columns of exports. Nothing that grades, ranks, pays, admits
    or rings reads them.
    """

    class Counted(models.TextChoices):
        """Whether there are any: "" where nobody counted, as without a script or from a file."""

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
    # {page: {counter: number}}: a page that was loaded counts from 0 and sends its whole count
    # every time, so that nothing is counted twice. Emptied when the answer is handed in.
    signal_pages = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=(Q(signals="counted") & _ALL) | (Q(signals__in=["", "off"]) & _NONE),
                name="%(class)s_signals_are_whole",
            ),
        ]
