"""Define a chart that is drawn for wide and for narrow screens, and as a file to download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from evaluation.core.charts.svg import Drawing

WIDE = 960.0
NARROW = 340.0
Draw = Callable[[float], Drawing]


@dataclass(frozen=True)
class Chart:
    """A chart: title, explanation, and a function that draws it at a given width.

    Attributes
    ----------
    name : part of addresses and file names. title : what it shows, in a few words.
    explanation : how to read it, for people who do not know statistics.
    draw : from a width to the picture.
    note : what it leaves out, such as workers beyond the first 200; "" if nothing.
    """

    name: str
    title: str
    explanation: str
    draw: Draw
    note: str = ""

    @property
    def wide(self) -> SafeString:
        """The chart as SVG for desktop screens."""
        return self._inline(WIDE)

    @property
    def narrow(self) -> SafeString:
        """The chart as SVG for phones."""
        return self._inline(NARROW)

    def standalone(self, captions: Sequence[str] = ()) -> str:
        """Return the wide drawing as an SVG file on white, without workers' texts.

        Its title stands above; the note and `captions`, which say what it is of, below.
        """
        drawing = self.draw(WIDE)
        drawing.taken_away(self.title, [*filter(None, [self.note]), *captions])
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawing.markup()}\n'

    def _inline(self, width: float) -> SafeString:
        """Return the chart drawn at a width in pixels, as safe HTML."""
        # `Drawing` escapes every text and attribute; nothing else is in its markup.
        return mark_safe(self.draw(width).markup())  # noqa: S308
