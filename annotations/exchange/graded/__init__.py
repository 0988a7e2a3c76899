"""Answers that somebody graded, of any course or crowd, in the layouts that such data comes in.

`layouts` declares them: what a file of each looks like and which of its columns hold what. `tables`
reads those that are tables, `semeval` the one that is XML, `reading` any of them as a `MarkedFile`
(`records`); `labels` says what a label is worth.
"""

from annotations.exchange.graded.labels import Labels
from annotations.exchange.graded.layouts import LAYOUTS, Layout, layout_of
from annotations.exchange.graded.reading import ACCEPTED, read_marked
from annotations.exchange.graded.records import GradedAnswer, MarkedAnswer, MarkedFile
from annotations.exchange.graded.tables import NAMED

__all__ = [
    "ACCEPTED",
    "LAYOUTS",
    "NAMED",
    "GradedAnswer",
    "Labels",
    "Layout",
    "MarkedAnswer",
    "MarkedFile",
    "layout_of",
    "read_marked",
]
