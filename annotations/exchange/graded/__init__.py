"""Read graded answers of courses and crowds, in the layouts of published data sets.

`layouts` declares the layouts: how a file of each is recognised and what its columns hold. `tables`
reads those that are tables, `semeval` the one that is XML, `reading` any of them as a `MarkedFile`
(`records`); `labels` converts labels to grades.
"""

from annotations.exchange.graded.labels import LabelGrades
from annotations.exchange.graded.layouts import LAYOUTS, GradedLayout, get_graded_layout
from annotations.exchange.graded.reading import ACCEPTED, read_marked_answers
from annotations.exchange.graded.records import GradedAnswer, MarkedAnswer, MarkedFile
from annotations.exchange.graded.tables import NAMED

__all__ = [
    "ACCEPTED",
    "LAYOUTS",
    "NAMED",
    "GradedAnswer",
    "GradedLayout",
    "LabelGrades",
    "MarkedAnswer",
    "MarkedFile",
    "get_graded_layout",
    "read_marked_answers",
]
